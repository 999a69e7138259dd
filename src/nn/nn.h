/* nn.h (room) - the module tree's private part. Sees the public chapters alone. */
#ifndef TNI_NN_NN_H
#define TNI_NN_NN_H

#include "../api/modules.h"
#include "parts.h"

#include <stdio.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------------------- */

/* A built-in module; stands below its functions. The generator reads these lines. */
#define TN_MODULE(name_, schema_, doc, ...)                                              \
    TNI_ROW_BEGIN                                                                        \
    TN_PRIV_DECLARE(tn_mgen, tni_mgen_##name_);                                          \
    TN_PRIV_DECLARE(tn_mrow, tni_module_##name_);                                        \
    TNI_PRIVATE_BEGIN                                                                    \
    TN_PRIV_DEFINE(tn_mrow, tni_module_##name_) = {.name = #name_,                       \
                                                   .schema = schema_,                    \
                                                   .gen = &tni_mgen_##name_,             \
                                                   .size = sizeof(tn_nn_##name_##_self), \
                                                   TNI_WITHOUT_##doc __VA_ARGS__};       \
    TNI_PRIVATE_END TNI_ROW_END

/* All built-in rows, NULL at the end (generated). */
TN_PRIV const tn_mrow *const *tni_mrows(void);

/* --- memory ----------------------------------------------------------------------------------- */

/* tn_alloc of n times `each` bytes, refused where no size_t counts them. */
TN_PRIV void *tni_alloc_each(int64_t n, size_t each);

/* Bytes that grow. All functions do nothing once `failed` (an error is set then). */
typedef struct tni_buffer {
    char *at;
    int64_t n, room;
    bool failed;
} tni_buffer;
TN_PRIV void *tni_buffer_add(tni_buffer *b, const void *from,
                             int64_t bytes); /* where they lie now; NULL on failure */
TN_PRIV void tni_buffer_text(tni_buffer *b, const char *format, ...)
    TNI_PRINTF(2, 3); /* without the NUL */
TN_PRIV void tni_buffer_free(tni_buffer *b);
/* A copy of n characters with a NUL; freed with its strlen + 1. */
TN_PRIV char *tni_text_copy(const char *text, size_t n);
TN_PRIV void tni_text_free(char *text);

/* Pointers with a pointer each. */
typedef struct tni_map {
    const void **key;
    void **value;
    int64_t n, room; /* room: a power of two, or 0 */
} tni_map;
TN_PRIV void **tni_map_at(tni_map *m, const void *key,
                          bool *fresh); /* place of its value; NULL without memory */
TN_PRIV void **tni_map_find(const tni_map *m, const void *key); /* NULL when there is none */
TN_PRIV void tni_map_free(tni_map *m);

/* --- making ----------------------------------------------------------------------------------- */

/* Sets an error at the place of the outermost call in progress; returns false. */
TN_PRIV bool tni_nn_error(tn_code code, const char *format, ...) TNI_PRINTF(2, 3);
/* tn_item, and NaN of a tensor without data, as a plan of memory has. */
TN_PRIV double tni_nn_item(const tn_tensor *t);

/* A link of the chain whose text is a class name: constructors, load, to. */
typedef struct tni_step {
    tn_path path;
    const char *type;
} tni_step;
TN_PRIV void tni_step_begin(tni_step *s, const char *file, int line, const char *type);
/* The place alone, for what is no link of the chain: nothing where a call is in progress. */
TN_PRIV void tni_place_begin(tni_step *s, const char *file, int line);
TN_PRIV void tni_step_end(tni_step *s); /* of either */

TN_PRIV const tn_mgen *
tni_mgen_of(const tn_mrow *row); /* its own, or the registry's; NULL: made by calls only */
TN_PRIV const tn_gen *tni_call_of(const tn_module *m); /* never NULL */
TN_PRIV void *tni_options(const tn_module *m);         /* the struct `o`; NULL when there is none */
TN_PRIV const tn_param *tni_option(const tn_module *m, const char *name);
TN_PRIV bool tni_option_number(void *module, tni_span name, int64_t index,
                               tni_figure *to); /* a tni_lookup */
/* The list of an int-list option, by name; false when it is not one. */
TN_PRIV bool tni_option_ints(const tn_module *m, tni_span name, tn_ints *to);
/* The error of a row's text, at the piece that does not fit; false. */
TN_PRIV bool tni_row_text_error(const char *what, tni_span at, const char *why);
/* Sizes of a list of items; -1 for _; *star: before which size * or ? stands, -1: nowhere; *most:
 * how many sizes it stands for at most. false with an error that quotes `what`. */
TN_PRIV bool tni_sizes_of(tn_module *m, const char *what, tni_span items, int64_t *size, int *n,
                          int *star, int *most);
/* Makes the parts of row->parts. */
TN_PRIV bool tni_parts_make(tn_module *m);
/* Compiles row->takes into m->expect. */
TN_PRIV bool tni_expect_make(tn_module *m);
TN_PRIV bool tni_expect_copy(tn_module *to, const tn_module *from);
TN_PRIV void tni_expect_free(tn_module *m);
TN_PRIV void tni_hooks_free(tn_module *m);
TN_PRIV tn_dtype tni_dtype_option(const tn_module *m);
TN_PRIV tn_device_id tni_device_option(const tn_module *m);
/* An argument struct of any row. */
typedef union tni_args {
    double align;
    void *align_pointer;
    int64_t align_int;
    char at[TNI_ARGS_BYTES];
} tni_args;
/* A part without a value, registered; `field` as in tn_part_tensor. NULL with an error set. */
TN_PRIV tn_part *tni_part_new(tn_module *m, tn_part_kind kind, const char *name, void **field);

/* --- loading ---------------------------------------------------------------------------------- */

/* New data for tensors of a tree, prepared (all that can fail) and then exchanged, or dropped. Zero
 * at first. */
typedef struct tni_plan {
    tni_buffer swaps;
} tni_plan;
/* take: the tensors given are nobody else's, as those of a file just read: those of the dtype and
 * device wanted are exchanged themselves, so that loading takes the file's bytes once. */
TN_PRIV bool tni_plan_load(tni_plan *plan, tn_module *m, const tn_named *at, int64_t n, bool strict,
                           bool take);
TN_PRIV void tni_plan_end(tni_plan *plan, bool commit);

/* --- tree ------------------------------------------------------------------------------------- */

TN_PRIV void **tni_part_place(const tn_module *m, int i); /* where the pointer of part i lives */
/* All tensors of the tree, each once, under its first name. */
TN_PRIV tn_named_list tni_module_tensors(const tn_module *m);
TN_PRIV bool tni_tree_contains(const tn_module *root, const tn_module *m);
/* Path of m below root, "" for root itself; false when it is not there. */
TN_PRIV bool tni_tree_path(const tn_module *root, const tn_module *m, char *to, size_t room);

/* Calls a child in a forward: as tn_forward, in f's chain. */
TNI_INLINE tn_tensor *tni_forward_child(tn_mframe *f, tn_module *child, tn_tensor *x) {
    return tn_forward_at(f->path.file, f->path.line, child, x);
}

/* "(*, 4)" / "float32 (2, 3)" into text; returns text. */
TN_PRIV const char *tni_nn_shape_text(char *text, size_t room, const tn_tensor *t);

/* A ModuleList without children, for a row's build; NULL with an error. */
TN_PRIV tn_module *tni_module_list(void);

/* Initial values of Linear and the convolutions; bias may be NULL. */
TN_PRIV bool tni_init_affine(tn_tensor *weight, tn_tensor *bias);

#endif
