/* nn.h - modules: a tree of parameters, buffers and children with a forward function.
 *
 *     tn_module *net = tn_sequential(tn_nn_linear(784, 128), tn_nn_relu(), tn_nn_linear(128, 10));
 *     tn_tensor *y = tn_forward(net, x);
 *     tn_module_free(net);
 *
 * A built-in module is a row (TN_MODULE below its functions, in src/nn/); a user's own is a struct,
 * a row of name, size and forward, and calls. The tree knows neither from the other. A seed gives
 * torch's initial weights; names, order and layouts in the state dict are torch's.
 * A module belongs to one thread at a time; several threads may run forward of one module that does
 * not train. */
#ifndef TNI_API_NN_H
#define TNI_API_NN_H

#include "io.h"
#include "ops.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_module tn_module;
typedef struct tn_mrow tn_mrow;     /* a kind of module */
typedef struct tn_mframe tn_mframe; /* a forward in progress */
typedef struct tn_mgen tn_mgen;     /* tables made from a row's texts */

/* A list of modules, borrowed for the time of the call; a NULL in it is an error. */
typedef struct tn_modules {
    tn_module *const *at;
    int64_t n;
} tn_modules;
TNI_INLINE tn_modules tn_modules_of(tn_module *const *at, int64_t n) {
    tn_modules l = {at, n};
    return l;
}
#ifndef __cplusplus
#define TN_MODULES(...)                              \
    ((tn_modules){(tn_module *const[]){__VA_ARGS__}, \
                  (int64_t)(sizeof((tn_module *const[]){__VA_ARGS__}) / sizeof(tn_module *))})
#define tn_sequential(...) tn_nn_sequential(TN_MODULES(__VA_ARGS__))
#endif

/* --- the row ---------------------------------------------------------------------------------- */

/* A kind of module. Texts (see docs/modules.md for their grammars):
 *   schema  torch's constructor: "Linear(int in_features, int out_features, bool bias=True)"; the
 *           options dtype and device are added to every row
 *   parts   "weight(out_features, in_features); bias(out_features) if bias; child out_proj =
 *           Linear(a, b)" [param|buffer|transient] name[:dtype](sizes) [if condition]; a buffer
 *           that is transient is not saved
 *   call    "(Tensor input) -> Tensor" when NULL
 *   takes   shapes of inputs: "input(*, in_features)": * any number of sizes, ? one that may be
 *           missing, _ any size
 *   repr    "in_features=, ?bias=": `x` value, `x=` named, `?` only when not its default, `x[2]` as
 *           a pair; "[]": equal neighbours among the children are printed once
 * Functions return false with an error set. */
struct tn_mrow {
    const char *name;   /* C's name of a built-in row, the class name of a user's row */
    const char *schema; /* NULL: made by calls only */
    const tn_mgen *gen; /* NULL in a user's row */
    size_t size;        /* of the struct that begins with a tn_module */
    /* the fields of TN_MODULE, in this order */
    const char *parts, *call, *takes;
    const char *unlike; /* what torch says of two first tensors of two shapes: "warns", .. */
    const char *draws;  /* the option that is a probability: above 0, training draws numbers */
    const char *repr;
    bool (*build)(tn_module *m); /* after parts: what depends on counts; checks options */
    bool (*reset)(tn_module *m); /* initial values; runs without recording */
    bool (*forward)(
        tn_mframe *f); /* sets f->out[0..nout-1]: new tensors, NULL for an absent optional one */
    void (*destroy)(tn_module *m); /* releases m->user and the like; not the parts */
    const char *sample;            /* for tests: "options: inputs", as an operator's samples */
};

/* What the generator (or tn_module_register) makes of the texts. */
typedef struct tn_mfield { /* a typed pointer in the struct */
    const char *name;      /* of the part */
    uint32_t offset;
} tn_mfield;
typedef struct tn_mgroup { /* a tuple in .call: its members are flat in C */
    const char *name;      /* "hx" of "(Tensor h, Tensor c)? hx=None"; "" of a nested result */
    int16_t first, count;  /* parameters, or results counted from nparam on */
} tn_mgroup;
struct tn_mgen {
    const char *type; /* class name: "Linear" */
    const tn_gen
        *make; /* parameters of the constructor in tn_nn_<name>_args, dtype and device last */
    const tn_gen *call;      /* parameters of forward in tn_nn_<name>_forward_args; its results */
    const tn_mfield *fields; /* nfields, in the order of the parts */
    const tn_mgroup *groups;
    uint32_t nfields, ngroups;
    uint32_t options; /* offset of `o`, the copy of the constructor's arguments, in the struct */
};

/* --- the tree --------------------------------------------------------------------------------- */

typedef enum tn_part_kind { TN_PARAM = 1, TN_BUFFER, TN_TRANSIENT, TN_CHILD } tn_part_kind;

typedef struct tn_part {
    char *name;
    void *at;       /* tn_tensor * or tn_module * where field is 0; NULL: absent (torch's None) */
    uint32_t field; /* offset of the typed pointer in the struct that holds it instead; 0: none */
    uint8_t kind;
} tn_part;

enum { TN_MODULE_DEPTH = 100 }; /* levels of modules, at most: forward and walks are recursions */

/* Head of every module's struct. Read what you like; change `user`, and `type` while it is being
 * made. */
struct tn_module {
    const tn_mrow *row;
    const char *type;   /* class name, in messages and when printed */
    const tn_mgen *gen; /* NULL: no options, call is (Tensor input) -> Tensor */
    tn_part *part;      /* in the order of registration */
    int32_t nparts, room;
    int32_t count; /* owners */
    bool training; /* true at first */
    bool broken;   /* a step of the making failed: finish frees it */
    uint8_t level; /* levels of modules above, the most there have been; 0: was never a child */
    uint8_t finished : 1;
    uint8_t lends : 1; /* for bindings: a result that is an input is that very tensor, no view */
    int64_t bytes;     /* of the struct's block */
    struct tni_expect *expect; /* compiled `takes` */
    struct tn_mhook *hooks;
    int64_t last_hook;      /* number given last: none comes again */
    tn_tensor **parameters; /* list that tn_parameters lends */
    int64_t nparameters;
    void *user;
};

/* Making. A module is counted: the maker has one count. Constructors and add_child TAKE the modules
 * that they are given, also when they fail, so nested constructors leak nothing; who shares a
 * module says tn_module_hold(m).
 * Parameters and buffers are held by the tree, never by a scope. dtype and device of what is made:
 * the options of the same name, else the default dtype on the CPU.
 *
 * A module of one's own needs no check a line: steps on NULL or on a broken module only free what
 * they are given.
 *     block *s = (block *)tn_module_new(&block_row);
 *     TN_ADD_CHILD(s, linear1, tn_nn_linear(d, 4 * d));
 *     TN_ADD_PARAM(s, scale, TN_DIMS(d));
 *     return tn_module_finish(&s->base);          NULL, all freed, and the first error set, when a
 *         step failed */
TN_API void *tn_module_new_at(const char *file, int line, const tn_mrow *row);
#define tn_module_new(row) tn_module_new_at(__FILE__, __LINE__, row)
TN_API tn_module *tn_module_finish_at(const char *file, int line, tn_module *m);
#define tn_module_finish(m) tn_module_finish_at(__FILE__, __LINE__, m)
#define TN_ADD_PARAM(s, name, shape) TNI_ADD_TENSOR(s, TN_PARAM, name, TN_NO_DTYPE, shape)
#define TN_ADD_BUFFER(s, name, dtype, shape) TNI_ADD_TENSOR(s, TN_BUFFER, name, dtype, shape)
#define TN_ADD_TRANSIENT(s, name, dtype, shape) TNI_ADD_TENSOR(s, TN_TRANSIENT, name, dtype, shape)
#define TN_ADD_CHILD(s, name, child)                              \
    tn_part_child_at(__FILE__, __LINE__, (tn_module *)(s), #name, \
                     (s) ? &(s)->name : (tn_module **)NULL, child)
#define TNI_ADD_TENSOR(s, kind, name, dtype, shape)                      \
    tn_part_tensor_at(__FILE__, __LINE__, (tn_module *)(s), kind, #name, \
                      (s) ? &(s)->name : (tn_tensor **)NULL, dtype, shape)

/* The same as calls, for names and counts known at run time. `field`: where the typed pointer
 * lives, inside m's struct, or NULL. A new tensor is zero; a parameter requires a gradient when its
 * dtype can. tn_part_give registers a tensor that exists, as one more owner; t NULL registers an
 * absent part. */
TN_API bool tn_part_tensor_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                              const char *name, tn_tensor **field, tn_dtype dtype, tn_ints shape);
#define tn_part_tensor(m, kind, name, field, dtype, shape) \
    tn_part_tensor_at(__FILE__, __LINE__, m, kind, name, field, dtype, shape)
TN_API bool tn_part_give_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                            const char *name, tn_tensor **field, tn_tensor *t);
#define tn_part_give(m, kind, name, field, t) \
    tn_part_give_at(__FILE__, __LINE__, m, kind, name, field, t)
TN_API bool tn_part_child_at(const char *file, int line, tn_module *m, const char *name,
                             tn_module **field, tn_module *child);
#define tn_part_child(m, name, field, child) \
    tn_part_child_at(__FILE__, __LINE__, m, name, field, child)
/* Under the next number, in a list or Sequential. */
TN_API bool tn_module_append_at(const char *file, int line, tn_module *m, tn_module *child);
#define tn_module_append(m, child) tn_module_append_at(__FILE__, __LINE__, m, child)

TN_API tn_module *tn_module_hold(tn_module *m); /* one more owner; returns m */
TN_API void tn_module_free(tn_module *m);       /* drops one owner; NULL is fine */

/* Constructors of rows: what the generated functions call. `args`: the row's argument struct; the
 * modules in it are taken. By class name: of built-in rows and those that tn_module_register has
 * made known. */
TN_API tn_module *tn_module_make(const char *file, int line, const tn_mrow *row, const void *args);
TN_API tn_module *tn_module_named_at(const char *file, int line, const char *type,
                                     const tn_value *values, int nvalues);
#define tn_module_named(type, values, nvalues) \
    tn_module_named_at(__FILE__, __LINE__, type, values, nvalues)
/* Makes a row with a schema known by its class name in this process, until tn_module_forget or the
 * end of the context. Its struct holds the options (as the schema's argument struct: options first,
 * required ones last) right after the tn_module. Refuses a name that is taken and texts that do not
 * parse. Not while other threads make modules. */
TN_API bool tn_module_register_at(const char *file, int line, const tn_mrow *row);
#define tn_module_register(row) tn_module_register_at(__FILE__, __LINE__, row)
TN_API void tn_module_forget(const tn_mrow *row);
TN_API const tn_mrow *
tn_mrow_named(const char *type);    /* NULL, without an error, when there is none */
TN_API int64_t tn_mrow_count(void); /* built-in rows */
TN_API const tn_mrow *tn_mrow_at(int64_t i);

/* --- calling ---------------------------------------------------------------------------------- */

struct tn_mframe {
    tn_path path; /* the chain of forwards */
    tn_module *m;
    const tn_gen *call; /* parameters and results */
    const void *args;   /* the row's forward arguments; TN_FORWARD gives them typed */
    tn_tensor **out;
    int nout;
    struct tn_mhook *hook; /* that runs; private */
    bool hook_removed;
};
/* Typed views, in a row's functions. */
#define TN_SELF(name, s, m) tn_nn_##name##_self *s = (tn_nn_##name##_self *)(void *)(m)
#define TN_FORWARD(name, s, a, f)                                   \
    tn_nn_##name##_self *s = (tn_nn_##name##_self *)(void *)(f)->m; \
    const tn_nn_##name##_forward_args *a = (const tn_nn_##name##_forward_args *)(f)->args

/* Input tensor k of a forward (the k-th Tensor of its call), NULL when absent. */
TN_API tn_tensor *tn_input(const tn_mframe *f, int k);

/* Runs the forward of a module with one required tensor and one required result. What it makes on
 * the way is released; the result is a new tensor (a view, where forward gave back an input). Basic
 * guarantee: a forward that fails may have moved running statistics, but leaks nothing. */
TN_API tn_tensor *tn_forward_at(const char *file, int line, tn_module *m, tn_tensor *input);
#define tn_forward(m, input) tn_forward_at(__FILE__, __LINE__, m, input)
/* Any forward: args is the forward argument struct of m's row, or, where row is not NULL, of that
 * row, which m must have. out: as many as the call has results. */
TN_API bool tn_module_call(const char *file, int line, tn_module *m, const tn_mrow *row,
                           const void *args, tn_tensor **out, int nout);
TN_API bool tn_module_call_values(const char *file, int line, tn_module *m, const tn_value *values,
                                  int nvalues, tn_tensor **out, int nout);

/* A hook runs before or after forward; after, it may replace f->out[k] by a new tensor. It may
 * remove itself and others, add others, which run from the next forward on, and run forward and
 * backward; one that runs is released when it returns. What it leaves open or changed in its
 * thread, scopes, modes, the current context, is then as it was before. It must not free the last
 * owner of f->m. */
enum { TN_BEFORE_FORWARD = 1, TN_AFTER_FORWARD = 2 };
typedef bool (*tn_module_hook_fn)(tn_mframe *f, void *user);
TN_API int64_t tn_module_hook_at(
    const char *file, int line, tn_module *m, int when, tn_module_hook_fn hook, void *user,
    void (*release)(void *user)); /* a number for _hook_remove; 0 on error */
#define tn_module_hook(m, when, hook, user, release) \
    tn_module_hook_at(__FILE__, __LINE__, m, when, hook, user, release)
TN_API bool tn_module_hook_remove_at(const char *file, int line, tn_module *m, int64_t number);
#define tn_module_hook_remove(m, number) tn_module_hook_remove_at(__FILE__, __LINE__, m, number)

/* --- asking ----------------------------------------------------------------------------------- */

/* Part i, 0 <= i < m->nparts: the accessor hides where the pointer lives. NULL: absent, or of the
 * other kind. */
TN_API tn_tensor *tn_part_tensor_of(const tn_module *m, int i);
TN_API tn_module *tn_part_child_of(const tn_module *m, int i);
/* By path, "layers.0.weight" and "layers.0" ("": m itself), borrowed; NULL and INVALID when there
 * is none. */
TN_API tn_tensor *tn_module_tensor_at(const char *file, int line, const tn_module *m,
                                      const char *path);
TN_API tn_module *tn_module_child_at(const char *file, int line, const tn_module *m,
                                     const char *path);
/* Puts another tensor in a named place (tied weights: the same tensor in two places), as one more
 * owner. NULL: absent. */
TN_API bool tn_module_set_at(const char *file, int line, tn_module *m, const char *path,
                             tn_tensor *t);
#define tn_module_tensor(m, path) tn_module_tensor_at(__FILE__, __LINE__, m, path)
#define tn_module_child(m, path) tn_module_child_at(__FILE__, __LINE__, m, path)
#define tn_module_set(m, path, t) tn_module_set_at(__FILE__, __LINE__, m, path, t)

/* Visits m and all below, parents first, each module once; false from visit stops and is returned.
 */
typedef bool (*tn_module_visit)(tn_module *m, const char *path, void *user);
TN_API bool tn_module_walk_at(const char *file, int line, tn_module *m, tn_module_visit visit,
                              void *user);
#define tn_module_walk(m, visit, user) tn_module_walk_at(__FILE__, __LINE__, m, visit, user)

/* Named tensors below m, borrowed. parameters: each tensor once, under its first name. buffers: the
 * same. state_dict: parameters and saved buffers of each module, then its children: torch's order;
 * a shared tensor stands under each of its names. */
TN_API tn_named_list tn_module_parameters_at(const char *file, int line, const tn_module *m);
#define tn_module_parameters(m) tn_module_parameters_at(__FILE__, __LINE__, m)
TN_API tn_named_list tn_module_buffers_at(const char *file, int line, const tn_module *m);
#define tn_module_buffers(m) tn_module_buffers_at(__FILE__, __LINE__, m)
TN_API tn_named_list tn_module_state_dict_at(const char *file, int line, const tn_module *m);
#define tn_module_state_dict(m) tn_module_state_dict_at(__FILE__, __LINE__, m)

/* --- changing --------------------------------------------------------------------------------- */

TN_API void tn_module_train(tn_module *m, bool training); /* m and all below */
TN_API bool tn_module_requires_grad_at(const char *file, int line, tn_module *m,
                                       bool requires_grad);
#define tn_module_requires_grad(m, requires_grad) \
    tn_module_requires_grad_at(__FILE__, __LINE__, m, requires_grad)
TN_API void tn_module_zero_grad(tn_module *m);
/* Sets the tensors' data from named ones, converted to the present dtype and device. All or
 * nothing: missing and unexpected names (when strict) and shapes that differ are one error that
 * lists them. The tensors stay the same objects: optimizers and ties stay valid. */
TN_API bool tn_module_load_at(const char *file, int line, tn_module *m, const tn_named *at,
                              int64_t n, bool strict);
#define tn_module_load(m, list) tn_module_load_at(__FILE__, __LINE__, m, (list).at, (list).n, true)
/* Converts floating parameters and buffers (and their .grad) to dtype, all to device; TN_NO_DTYPE,
 * TN_NO_DEVICE leave as it is. All or nothing; the tensors stay the same objects. */
TN_API bool tn_module_to_at(const char *file, int line, tn_module *m, tn_dtype dtype,
                            tn_device_id device);
#define tn_module_to(m, dtype, device) tn_module_to_at(__FILE__, __LINE__, m, dtype, device)
/* A deep copy: new tensors and modules, sharing inside kept, hooks not copied. A row with `destroy`
 * cannot be copied. */
TN_API tn_module *tn_module_copy_at(const char *file, int line, const tn_module *m);
#define tn_module_copy(m) tn_module_copy_at(__FILE__, __LINE__, m)
/* Draws initial values again: children first, as they are made. */
TN_API bool tn_module_reset_at(const char *file, int line, tn_module *m);
#define tn_module_reset(m) tn_module_reset_at(__FILE__, __LINE__, m)

/* Files (safetensors): the state dict, saved atomically; loading is strict, and all or nothing: it
 * needs the memory of the parts once more. */
TN_API bool tn_module_save_file_at(const char *file, int line, const tn_module *m,
                                   const char *path);
TN_API bool tn_module_load_file_at(const char *file, int line, tn_module *m, const char *path);
#define tn_module_save_file(m, path) tn_module_save_file_at(__FILE__, __LINE__, m, path)
#define tn_module_load_file(m, path) tn_module_load_file_at(__FILE__, __LINE__, m, path)

/* The text torch prints, NUL-terminated; free it with tn_alloc_free(text, strlen(text) + 1). */
TN_API char *tn_module_text_at(const char *file, int line, const tn_module *m);
#define tn_module_text(m) tn_module_text_at(__FILE__, __LINE__, m)
TN_API bool tn_module_print_at(const char *file, int line,
                               const tn_module *m); /* and a newline, to stdout */
#define tn_module_print(m) tn_module_print_at(__FILE__, __LINE__, m)

/* --- initial values (torch.nn.init) ----------------------------------------------------------- */

/* Each writes into t without recording, draws from the default generator as torch does, and returns
 * t; NULL and an error when it fails. A NULL t with no error pending is left out: it is a part that
 * is absent. */
typedef enum tn_fan { TN_FAN_IN = 1, TN_FAN_OUT } tn_fan;
typedef enum tn_init_for {
    TN_INIT_LINEAR = 1,
    TN_INIT_SIGMOID,
    TN_INIT_TANH,
    TN_INIT_RELU,
    TN_INIT_LEAKY_RELU,
    TN_INIT_SELU
} tn_init_for;
TN_API double tn_init_gain_at(const char *file, int line, tn_init_for nonlinearity, double param);
#define tn_init_gain(nonlinearity, param) tn_init_gain_at(__FILE__, __LINE__, nonlinearity, param)
TN_API tn_tensor *tn_init_constant_at(const char *file, int line, tn_tensor *t, double value);
#define tn_init_constant_(t, value) tn_init_constant_at(__FILE__, __LINE__, t, value)
TN_API tn_tensor *tn_init_uniform_at(const char *file, int line, tn_tensor *t, double from,
                                     double to);
#define tn_init_uniform_(t, from, to) tn_init_uniform_at(__FILE__, __LINE__, t, from, to)
TN_API tn_tensor *tn_init_normal_at(const char *file, int line, tn_tensor *t, double mean,
                                    double std);
#define tn_init_normal_(t, mean, std) tn_init_normal_at(__FILE__, __LINE__, t, mean, std)
TN_API tn_tensor *tn_init_xavier_uniform_at(const char *file, int line, tn_tensor *t, double gain);
#define tn_init_xavier_uniform_(t, gain) tn_init_xavier_uniform_at(__FILE__, __LINE__, t, gain)
TN_API tn_tensor *tn_init_xavier_normal_at(const char *file, int line, tn_tensor *t, double gain);
#define tn_init_xavier_normal_(t, gain) tn_init_xavier_normal_at(__FILE__, __LINE__, t, gain)
TN_API tn_tensor *tn_init_kaiming_uniform_at(const char *file, int line, tn_tensor *t, double a,
                                             tn_fan mode, tn_init_for nonlinearity);
#define tn_init_kaiming_uniform_(t, a, mode, nonlinearity) \
    tn_init_kaiming_uniform_at(__FILE__, __LINE__, t, a, mode, nonlinearity)
TN_API tn_tensor *tn_init_kaiming_normal_at(const char *file, int line, tn_tensor *t, double a,
                                            tn_fan mode, tn_init_for nonlinearity);
#define tn_init_kaiming_normal_(t, a, mode, nonlinearity) \
    tn_init_kaiming_normal_at(__FILE__, __LINE__, t, a, mode, nonlinearity)

TNI_EXTERN_C_END
#endif
