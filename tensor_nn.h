/* tensor_nn.h - modules, losses, optimizers, data loading and training, on top of tensor.h.
 *
 * Do this: in ONE C or C++ file write
 *     #define TENSOR_IMPLEMENTATION
 *     #define TENSOR_NN_IMPLEMENTATION
 *     #include "tensor_nn.h"
 * and in all others a plain #include "tensor_nn.h". It includes tensor.h. Names, state dicts and
 * initial weights are PyTorch's. Licence: MIT or public domain, at your choice (file LICENSE). */

/* Contents. A chapter begins with its tag: search for "== [3]".
 *
 *   tag  chapter      lines
 *   [1]  nn             410  modules: trees of parameters and buffers with a forward function
 *   [2]  optim          147  optimizers, learning-rate schedules, clipping of gradients
 *   [3]  modules       3086  the built-in modules and optimizers: constructor, struct, forward
 *   [4]  data           115  data sets, and loaders that shuffle, batch and read ahead
 *   [5]  train          124  checkpoints; a training loop that reports to a callback
 *   [6]  parallel        68  training on several ranks: each computes the gradients of its part of
 *                            a batch, and backward leaves their mean on all
 *   [7]  cxx_nn         634  C++ only: modules that own themselves, and modules of your own by
 *                            inheritance
 *   [8]  cxx_optim      243  C++ only: optimizers, schedules, clipping
 *   [9]  overloads_nn  3517  C++: every module and optimizer as a class
 *   [10] cxx_data       428  C++ only: data sets, loaders as ranges, training
 *
 * The implementation follows the chapters; only the file that defines
 * TENSOR_NN_IMPLEMENTATION compiles it. */
#ifndef TNI_NN_SECTION
#ifndef TN_TENSOR_NN_H
#define TN_TENSOR_NN_H

#ifndef TN_NN_HEADER_NAME
#define TN_NN_HEADER_NAME "tensor_nn.h"
#endif
#ifndef TN_HEADER_NAME
#define TN_HEADER_NAME "tensor.h"
#endif
/* Not read a second time for nothing. */
#if !defined(TN_TENSOR_H) || \
    (defined(TENSOR_IMPLEMENTATION) && !defined(TNI_IMPLEMENTED))
#include TN_HEADER_NAME
#endif

#if defined(TN_PREFIX) || defined(TN_IMPORT)
#define TNI_NN_SECTION 1 /* renames of all symbols, at the end of this file */
#include TN_NN_HEADER_NAME
#endif

/* ================================================================================================
 * == [1] nn.h
 *
 * Modules: trees of parameters and buffers with a forward function.
 *
 *     tn_module *net = tn_sequential(tn_nn_linear(784, 128), tn_nn_relu(), tn_nn_linear(128, 10));
 *     tn_tensor *y = tn_forward(net, x);
 *     tn_module_free(net);
 *
 * A built-in module is a row; yours is a struct, a row of name, size and forward, and a constructor
 * (docs/modules.md). The tree treats both alike. A seed gives torch's initial weights, and the
 * state dict has torch's names, order and layouts.
 *
 * One thread at a time may use a module, except that several may run forward of a module that
 * does not train. */

TNI_EXTERN_C_BEGIN

typedef struct tn_module tn_module;
TNI_RESULT_OF(tn_module)
typedef struct tn_mrow tn_mrow;     /* a kind of module */
typedef struct tn_mframe tn_mframe; /* a forward in progress */
typedef struct tn_mgen tn_mgen;     /* tables made from a row's texts */

/* A list of modules, borrowed during the call; a NULL in it is an error. */
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

/* A kind of module. docs/modules.md has the grammar of its texts:
 *   schema  torch's constructor: "Linear(int in_features, int out_features, bool bias=True)";
 *           built-in rows also get the options dtype and device
 *   parts   parameters, buffers and children:
 *           "weight(out_features, in_features); bias(out_features) if bias"
 *   call    parameters and results of forward; NULL: "(Tensor input) -> Tensor"
 *   takes   shapes of inputs: "input(*, in_features)"; * any number of sizes, ? an optional size,
 *           _ any size
 *   repr    the printed options: "in_features=, ?bias="; `x` the value, `x=` with its name, `?`
 *           only if it is not the default, `x[2]` as a pair; "[]" prints equal neighbours once
 * Functions return false with an error. */
struct tn_mrow {
    const char *name;   /* C's name of a built-in row, the class name of a user's row */
    const char *schema; /* NULL: constructed by calls only */
    const tn_mgen *gen; /* NULL in a user's row */
    size_t size;        /* of the struct that begins with a tn_module */
    /* the fields of TN_MODULE, in this order */
    const char *parts, *call, *takes;
    const char *unlike; /* Python's answer if two inputs of a loss differ in shape: "warns", .. */
    const char *draws;  /* the option that is a probability; above 0 training draws numbers */
    const char *repr;
    bool (*build)(tn_module *m); /* after the parts: checks options, makes further parts */
    bool (*reset)(tn_module *m); /* sets initial values; runs without recording */
    /* Sets f->out[0..nout-1] to new tensors; NULL: an optional result that is absent. */
    bool (*forward)(tn_mframe *f);
    void (*destroy)(tn_module *m); /* releases m->user and the like, not the parts */
    const char *sample;            /* for tests: "options: inputs", as in an operator's samples */
};

/* Tables that the generator, or tn_module_register, makes from the texts. */
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
    /* parameters of the constructor in tn_nn_<name>_args, dtype and device last */
    const tn_gen *make;
    const tn_gen *call;      /* parameters of forward in tn_nn_<name>_forward_args; its results */
    const tn_mfield *fields; /* nfields, in the order of the parts */
    const tn_mgroup *groups;
    uint32_t nfields, ngroups;
    uint32_t options; /* offset of `o`, the struct's copy of the constructor's arguments */
};

/* --- the tree --------------------------------------------------------------------------------- */

typedef enum tn_part_kind { TN_PARAM = 1, TN_BUFFER, TN_TRANSIENT, TN_CHILD } tn_part_kind;

typedef struct tn_part {
    char *name;
    void *at;       /* if field is 0: tn_tensor * or tn_module *; NULL: absent (torch's None) */
    uint32_t field; /* offset of the struct's typed pointer, which is used instead; 0: none */
    uint8_t kind;
} tn_part;

enum { TN_MODULE_DEPTH = 100 }; /* most levels of modules: forward and walks recurse */

/* The head of every module's struct. Any member may be read; change only `user`, and
 * `type` before tn_module_finish. */
struct tn_module {
    const tn_mrow *row;
    const char *type;   /* class name in messages and printed text */
    const tn_mgen *gen; /* NULL: no options, call is (Tensor input) -> Tensor */
    tn_part *part;      /* in the order of registration */
    int32_t nparts, room;
    int32_t count; /* owners */
    bool training; /* true at the start */
    bool broken;   /* a step of the constructor failed: finish frees the module */
    uint8_t level; /* most levels of modules above it so far; 0: was never a child */
    uint8_t finished : 1;
    uint8_t lends : 1; /* for bindings: a result that is an input is that tensor, not a view */
    int64_t bytes;     /* of the struct's block */
    struct tni_expect *expect; /* compiled `takes` */
    struct tn_mhook *hooks;
    int64_t last_hook;      /* the last number given; no number is given twice */
    tn_tensor **parameters; /* the list that tn_parameters lends */
    int64_t nparameters;
    void *user;
};

/* How to construct a module. It counts its owners; the constructor's caller is the first.
 * Constructors and tn_part_child take over the modules that they are given, even if they fail, so
 * nested constructors leak nothing; call tn_module_hold to share a module. The tree holds
 * parameters and buffers, never a scope. Their dtype and device are the options of these names,
 * else the default dtype on the CPU.
 *
 * A constructor need not check each line: a step on NULL or on a broken module only frees what it
 * is given, and tn_module_finish then frees the rest and returns NULL with the first error.
 *     block *s = (block *)tn_module_new(&block_row);
 *     TN_ADD_CHILD(s, linear1, tn_nn_linear(d, 4 * d));
 *     TN_ADD_PARAM(s, scale, TN_DIMS(d));
 *     return tn_module_finish(&s->base); */
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

/* The same steps as calls, for names and counts known at run time. field is the typed pointer
 * inside m's struct, or NULL. A new tensor is zero; a parameter requires grad if its dtype can.
 * tn_part_give registers an existing tensor, as one more owner; t NULL registers an absent part. */
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
/* Adds child under the next number to a ModuleList or Sequential. */
TN_API bool tn_module_append_at(const char *file, int line, tn_module *m, tn_module *child);
#define tn_module_append(m, child) tn_module_append_at(__FILE__, __LINE__, m, child)

TN_API tn_module *tn_module_hold(tn_module *m); /* one more owner; returns m */
TN_API void tn_module_free(tn_module *m);       /* drops one owner; NULL is allowed */

/* The constructor that generated functions call. args is the row's argument struct; the modules in
 * it are taken over. tn_module_named finds the row by class name, built-in or registered. */
TN_API tn_module *tn_module_make(const char *file, int line, const tn_mrow *row, const void *args);
TN_API tn_module *tn_module_named_at(const char *file, int line, const char *type,
                                     const tn_value *values, int nvalues);
#define tn_module_named(type, values, nvalues) \
    tn_module_named_at(__FILE__, __LINE__, type, values, nvalues)
/* Registers a row with a schema under its class name for this process, until tn_module_forget or
 * the end of the context. Its struct holds the options right after the tn_module, laid out as the
 * schema's argument struct: options first, required ones last. False with an error for a taken name
 * and for texts that do not parse. No other thread may construct modules meanwhile. */
TN_API bool tn_module_register_at(const char *file, int line, const tn_mrow *row);
#define tn_module_register(row) tn_module_register_at(__FILE__, __LINE__, row)
TN_API void tn_module_forget(const tn_mrow *row);
/* NULL without an error if there is none. */
TN_API const tn_mrow *tn_mrow_named(const char *type);
TN_API int64_t tn_mrow_count(void); /* built-in rows */
TN_API const tn_mrow *tn_mrow_at(int64_t i);

/* --- calling ---------------------------------------------------------------------------------- */

struct tn_mframe {
    tn_path path; /* the chain of forwards */
    tn_module *m;
    const tn_gen *call; /* parameters and results */
    const void *args;   /* the forward's argument struct; TN_FORWARD gives it typed */
    tn_tensor **out;
    int nout;
    struct tn_mhook *hook; /* the running one; private */
    bool hook_removed;
};
/* Typed pointers for a row's functions: s to the module's struct, a to the forward's arguments. */
#define TN_SELF(name, s, m) tn_nn_##name##_self *s = (tn_nn_##name##_self *)(void *)(m)
#define TN_FORWARD(name, s, a, f)                                   \
    tn_nn_##name##_self *s = (tn_nn_##name##_self *)(void *)(f)->m; \
    const tn_nn_##name##_forward_args *a = (const tn_nn_##name##_forward_args *)(f)->args

/* Input tensor k of a forward, counted among the Tensor parameters of its call; NULL if absent. */
TN_API tn_tensor *tn_input(const tn_mframe *f, int k);

/* Runs the forward of a module with one required tensor and one required result, which is new (a
 * view if forward returned an input). Everything else that forward made is freed. NULL with an
 * error; a forward that fails may have changed running statistics, but leaks nothing. */
TN_API tn_tensor *tn_forward_at(const char *file, int line, tn_module *m, tn_tensor *input);
#define tn_forward(m, input) tn_forward_at(__FILE__, __LINE__, m, input)
/* Runs any forward. args is the forward's argument struct of m's row (or of `row`, if that is not
 * NULL; m must have it). out has room for all results of the call. */
TN_API bool tn_module_call(const char *file, int line, tn_module *m, const tn_mrow *row,
                           const void *args, tn_tensor **out, int nout);
TN_API bool tn_module_call_values(const char *file, int line, tn_module *m, const tn_value *values,
                                  int nvalues, tn_tensor **out, int nout);

/* Adds a hook that runs before or after forward; after forward it may replace f->out[k] by a new
 * tensor. A hook may remove itself and others, add others (they run from the next forward on), and
 * run forward and backward. A hook that is removed while it runs is released when it returns.
 * Scopes, modes and the current context that it changed are restored then. It must not free the
 * last owner of f->m. Returns a number for tn_module_hook_remove; 0 with an error. */
enum { TN_BEFORE_FORWARD = 1, TN_AFTER_FORWARD = 2 };
typedef bool (*tn_module_hook_fn)(tn_mframe *f, void *user);
TN_API int64_t tn_module_hook_at(const char *file, int line, tn_module *m, int when,
                                 tn_module_hook_fn hook, void *user, void (*release)(void *user));
#define tn_module_hook(m, when, hook, user, release) \
    tn_module_hook_at(__FILE__, __LINE__, m, when, hook, user, release)
TN_API bool tn_module_hook_remove_at(const char *file, int line, tn_module *m, int64_t number);
#define tn_module_hook_remove(m, number) tn_module_hook_remove_at(__FILE__, __LINE__, m, number)

/* --- reading a module ------------------------------------------------------------------------- */

/* Part i, 0 <= i < m->nparts, borrowed; NULL if it is absent or of the other kind. */
TN_API tn_tensor *tn_part_tensor_of(const tn_module *m, int i);
TN_API tn_module *tn_part_child_of(const tn_module *m, int i);
/* A part by its path, "layers.0.weight" or "layers.0" ("" is m itself), borrowed; NULL and INVALID
 * if there is none. */
TN_API tn_tensor *tn_module_tensor_at(const char *file, int line, const tn_module *m,
                                      const char *path);
TN_API tn_module *tn_module_child_at(const char *file, int line, const tn_module *m,
                                     const char *path);
/* Replaces the tensor at a path, as one more owner of t; NULL makes the part absent. The same
 * tensor at two paths ties weights. */
TN_API bool tn_module_set_tensor_at(const char *file, int line, tn_module *m, const char *path,
                                    tn_tensor *t);
#define tn_module_tensor(m, path) tn_module_tensor_at(__FILE__, __LINE__, m, path)
#define tn_module_child(m, path) tn_module_child_at(__FILE__, __LINE__, m, path)
#define tn_module_set_tensor(m, path, t) tn_module_set_tensor_at(__FILE__, __LINE__, m, path, t)

/* Calls visit for m and all modules below, parents first, each once. If visit returns false, the
 * walk ends and returns false. */
typedef bool (*tn_module_visit)(tn_module *m, const char *path, void *user);
TN_API bool tn_module_walk_at(const char *file, int line, tn_module *m, tn_module_visit visit,
                              void *user);
#define tn_module_walk(m, visit, user) tn_module_walk_at(__FILE__, __LINE__, m, visit, user)

/* The parameters that require grad, each once, in torch's order. The list is borrowed until the
 * module's next call of this function, or its end. n = -1 with an error, which an optimizer's
 * constructor passes on. */
TN_API tn_tensors tn_parameters_at(const char *file, int line, tn_module *m);
#define tn_parameters(m) tn_parameters_at(__FILE__, __LINE__, m)

/* Named tensors of m and below, borrowed; free the lists with tn_named_free. parameters and buffers
 * have each tensor once, under its first name. state_dict has parameters and saved buffers of each
 * module, then of its children, in torch's order, and a shared tensor under each of its names. */
TN_API tn_named_list tn_module_parameters_at(const char *file, int line, const tn_module *m);
#define tn_module_parameters(m) tn_module_parameters_at(__FILE__, __LINE__, m)
TN_API tn_named_list tn_module_buffers_at(const char *file, int line, const tn_module *m);
#define tn_module_buffers(m) tn_module_buffers_at(__FILE__, __LINE__, m)
TN_API tn_named_list tn_module_state_dict_at(const char *file, int line, const tn_module *m);
#define tn_module_state_dict(m) tn_module_state_dict_at(__FILE__, __LINE__, m)

/* --- changing a module ------------------------------------------------------------------------ */

TN_API void tn_module_train(tn_module *m, bool training); /* m and all below */
TN_API bool tn_module_requires_grad_at(const char *file, int line, tn_module *m,
                                       bool requires_grad);
#define tn_module_requires_grad(m, requires_grad) \
    tn_module_requires_grad_at(__FILE__, __LINE__, m, requires_grad)
TN_API void tn_module_zero_grad(tn_module *m);
/* Replaces the data of m's tensors by that of named ones, converted to m's dtypes and devices. All
 * or nothing: one error lists shapes that differ, missing and unexpected names. The tensors stay
 * the same objects, so optimizers and tied weights stay valid. With strict = false missing and
 * unexpected names are no error (torch's strict=False):
 *     tn_module_load_at(__FILE__, __LINE__, net, list.at, list.n, false) */
TN_API bool tn_module_load_at(const char *file, int line, tn_module *m, const tn_named *at,
                              int64_t n, bool strict);
#define tn_module_load(m, list) tn_module_load_at(__FILE__, __LINE__, m, (list).at, (list).n, true)
/* Converts floating parameters and buffers, and their .grad, to dtype, and moves all to
 * device; TN_NO_DTYPE and TN_NO_DEVICE change nothing. All or nothing; the tensors stay
 * the same objects. */
TN_API bool tn_module_to_at(const char *file, int line, tn_module *m, tn_dtype dtype,
                            tn_device_id device);
#define tn_module_to(m, dtype, device) tn_module_to_at(__FILE__, __LINE__, m, dtype, device)
/* A deep copy, which the caller frees: tensors shared inside m are shared inside the copy, hooks
 * are not copied. NULL with an error, also if a row has `destroy`. */
TN_API tn_module *tn_module_copy_at(const char *file, int line, const tn_module *m);
#define tn_module_copy(m) tn_module_copy_at(__FILE__, __LINE__, m)
/* dst = (1 - tau) dst + tau src, for every parameter and buffer of two modules of the same
 * structure, 0 <= tau <= 1: 1 copies, a small tau moves a target network (Lillicrap et al. 2015,
 * arXiv:1509.02971, algorithm 1). Integers and bools are copied for any tau. Nothing is recorded;
 * the tensors of dst stay the same objects. All or nothing: the error names the first tensor whose
 * name, shape or dtype differs. Needs the memory of dst's tensors once more.
 *     tn_module_copy_from(target, net, 0.005) */
TN_API bool tn_module_copy_from_at(const char *file, int line, tn_module *dst, const tn_module *src,
                                   double tau);
#define tn_module_copy_from(dst, src, tau) tn_module_copy_from_at(__FILE__, __LINE__, dst, src, tau)
/* Draws initial values again, children first, as the constructors do. */
TN_API bool tn_module_reset_at(const char *file, int line, tn_module *m);
#define tn_module_reset(m) tn_module_reset_at(__FILE__, __LINE__, m)

/* Saves the state dict as a safetensors file, atomically; loads it, strictly and all or nothing.
 * Loading needs the memory of the parts once more. */
TN_API bool tn_module_save_file_at(const char *file, int line, const tn_module *m,
                                   const char *path);
TN_API bool tn_module_load_file_at(const char *file, int line, tn_module *m, const char *path);
#define tn_module_save_file(m, path) tn_module_save_file_at(__FILE__, __LINE__, m, path)
#define tn_module_load_file(m, path) tn_module_load_file_at(__FILE__, __LINE__, m, path)

/* The bytes of such a file in memory, and loading them, with tn_load_memory's options. With
 * .borrow, parameters and buffers lie in the caller's memory where alignment and dtype allow: they
 * are read-only, so m computes but does not train, and views taken of its tensors before keep the
 * old data. *borrowed counts those of m; .writable is refused. Loading is strict, and all or
 * nothing.
 *     tn_module_load_memory(net, model, model_size, .borrow = true) */
TN_API tn_bytes tn_module_save_memory_at(const char *file, int line, const tn_module *m);
TN_API bool tn_module_load_memory_at(const char *file, int line, tn_module *m,
                                     const tn_load_args *args);
#define tn_module_save_memory(m) tn_module_save_memory_at(__FILE__, __LINE__, m)
#ifndef __cplusplus
#define tn_module_load_memory(m, data_, ...)        \
    tn_module_load_memory_at(__FILE__, __LINE__, m, \
                             &(tn_load_args){.data = data_, .bytes = __VA_ARGS__})
#else
TNI_EXTERN_C_END
TNI_NAMESPACE_BEGIN
inline bool tn_module_load_memory(tn_module *m, const void *data, size_t bytes,
                                  tn_load_args options = tn_load_args(),
                                  tn::site at = tn::site::here()) {
    options.data = data;
    options.bytes = bytes;
    return tn_module_load_memory_at(at.file, at.line, m, &options);
}
TNI_NAMESPACE_END
TNI_EXTERN_C_BEGIN
#endif

/* The text that torch prints, NUL-terminated; free it with tn_alloc_free(text,
 * strlen(text) + 1). */
TN_API char *tn_module_text_at(const char *file, int line, const tn_module *m);
#define tn_module_text(m) tn_module_text_at(__FILE__, __LINE__, m)
/* Writes that text and a newline to stdout. */
TN_API bool tn_module_print_at(const char *file, int line, const tn_module *m);
#define tn_module_print(m) tn_module_print_at(__FILE__, __LINE__, m)

/* --- initial values (torch.nn.init) ----------------------------------------------------------- */

/* Each writes into t without recording, draws from the default generator as torch does, and
 * returns t; NULL with an error. A NULL t, which stands for an absent part, is skipped if no
 * error is pending. */
typedef enum tn_fan { TN_FAN_IN = 1, TN_FAN_OUT } tn_fan;
typedef enum tn_nn_init_for {
    TN_INIT_LINEAR = 1,
    TN_INIT_SIGMOID,
    TN_INIT_TANH,
    TN_INIT_RELU,
    TN_INIT_LEAKY_RELU,
    TN_INIT_SELU
} tn_nn_init_for;
TN_API double tn_nn_init_gain_at(const char *file, int line, tn_nn_init_for nonlinearity,
                                 double param);
#define tn_nn_init_gain(nonlinearity, param) \
    tn_nn_init_gain_at(__FILE__, __LINE__, nonlinearity, param)
TN_API tn_tensor *tn_nn_init_constant_at(const char *file, int line, tn_tensor *t, double value);
#define tn_nn_init_constant_(t, value) tn_nn_init_constant_at(__FILE__, __LINE__, t, value)
TN_API tn_tensor *tn_nn_init_uniform_at(const char *file, int line, tn_tensor *t, double from,
                                        double to);
#define tn_nn_init_uniform_(t, from, to) tn_nn_init_uniform_at(__FILE__, __LINE__, t, from, to)
TN_API tn_tensor *tn_nn_init_normal_at(const char *file, int line, tn_tensor *t, double mean,
                                       double std);
#define tn_nn_init_normal_(t, mean, std) tn_nn_init_normal_at(__FILE__, __LINE__, t, mean, std)
TN_API tn_tensor *tn_nn_init_xavier_uniform_at(const char *file, int line, tn_tensor *t,
                                               double gain);
#define tn_nn_init_xavier_uniform_(t, gain) \
    tn_nn_init_xavier_uniform_at(__FILE__, __LINE__, t, gain)
TN_API tn_tensor *tn_nn_init_xavier_normal_at(const char *file, int line, tn_tensor *t,
                                              double gain);
#define tn_nn_init_xavier_normal_(t, gain) tn_nn_init_xavier_normal_at(__FILE__, __LINE__, t, gain)
TN_API tn_tensor *tn_nn_init_kaiming_uniform_at(const char *file, int line, tn_tensor *t, double a,
                                                tn_fan mode, tn_nn_init_for nonlinearity);
#define tn_nn_init_kaiming_uniform_(t, a, mode, nonlinearity) \
    tn_nn_init_kaiming_uniform_at(__FILE__, __LINE__, t, a, mode, nonlinearity)
TN_API tn_tensor *tn_nn_init_kaiming_normal_at(const char *file, int line, tn_tensor *t, double a,
                                               tn_fan mode, tn_nn_init_for nonlinearity);
#define tn_nn_init_kaiming_normal_(t, a, mode, nonlinearity) \
    tn_nn_init_kaiming_normal_at(__FILE__, __LINE__, t, a, mode, nonlinearity)

TNI_EXTERN_C_END

/* ================================================================================================
 * == [2] optim.h
 *
 * Optimizers, learning-rate schedules, clipping of gradients.
 *
 *     tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 1e-3);
 *     for (...) { tn_optimizer_zero_grad(opt); TN_SCOPE { tn_backward(loss(net)); }
 *         tn_optimizer_step(opt); }
 *
 * An optimizer is a row: options, names of its state tensors, and a step that makes one operator
 * call over all parameters of all groups. Formulas, defaults and state are torch's. One thread at a
 * time may use an optimizer. */

TNI_EXTERN_C_BEGIN

typedef struct tn_optimizer tn_optimizer;
TNI_RESULT_OF(tn_optimizer)
typedef struct tn_orow tn_orow;
typedef struct tn_ostep tn_ostep; /* a step in progress */

/* --- the row ---------------------------------------------------------------------------------- */

enum { TN_OPTIM_STATES = 4, TN_OPTIM_KEPT = 2 };

/* A kind of optimizer. Its first parameter is `Tensor[] params`; all others have defaults and may
 * differ between groups. */
struct tn_orow {
    const char *name, *schema; /* "SGD(Tensor[] params, float lr=0.001, float momentum=0, ...)" */
    const tn_gen *gen;         /* of tn_optim_<name>_args */
    /* the fields of TN_OPTIMIZER, in this order */
    /* names of the state tensors, each of its parameter's dtype: "exp_avg, exp_avg_sq" */
    const char *state;
    /* names of numbers kept for a parameter, 0-dim f32 tensors like torch's: "mu_product" */
    const char *numbers;
    bool (*check)(const void *options);    /* of a group's options; false with an error */
    uint32_t (*uses)(const void *options); /* bit k: these options need state k; NULL: all */
    /* A new state k of param; NULL without an error if this param has none. The field is NULL for
     * zeros like the parameter. */
    tn_tensor *(*begin)(const void *options, const tn_tensor *param, int k);
    bool (*step)(tn_ostep *s); /* one operator call: all parameters change, or none */
    bool counts;               /* counts steps, in `step`, a 0-dim f32 tensor like torch's */
};

/* The library's rows, in the order of their names. */
TN_API int64_t tn_orow_count(void);
TN_API const tn_orow *tn_orow_at(int64_t i); /* NULL out of range */

/* What a row's step sees: the n parameters that have a gradient. */
struct tn_ostep {
    tn_optimizer *optimizer; /* NULL: the caller keeps groups and states itself */
    int64_t n;
    tn_tensor **param, **grad;
    /* state[k][i], as begin makes it before the first step; NULL if parameter i does not use it */
    tn_tensor **state[TN_OPTIM_STATES];
    /* kept[j][i], NaN before the first step; the step sets the values that are kept after it */
    double *kept[TN_OPTIM_KEPT];
    const double *count; /* steps of parameter i, with this one; NULL unless the row counts */
    const bool *first;   /* true if the state of parameter i was made for this step */
    const void *const *options; /* the argument struct of parameter i's group */
    double *number;             /* TN_OPTIM_NUMBERS * n numbers of scratch, for option lists */
};
enum { TN_OPTIM_NUMBERS = 12 };

/* --- optimizers ------------------------------------------------------------------------------- */

/* The constructor that generated functions call; args is the row's argument struct. The optimizer
 * holds the parameters, which are leaves and each in one group only. NULL with an error. */
TN_API tn_optimizer *tn_optimizer_make(const char *file, int line, const tn_orow *row,
                                       const void *args);
TN_API void tn_optimizer_free(tn_optimizer *o);
/* Adds a group; values are the options, by name, that differ from those of group 0. Returns its
 * number; -1 with an error. */
TN_API int tn_optimizer_group_at(const char *file, int line, tn_optimizer *o, tn_tensors params,
                                 const tn_value *values, int nvalues);
#define tn_optimizer_group(o, params, values, nvalues) \
    tn_optimizer_group_at(__FILE__, __LINE__, o, params, values, nvalues)
TN_API int tn_optimizer_groups(const tn_optimizer *o);
/* An option of a group that is a number ("lr"), or a boolean as 0 or 1. get returns NaN with an
 * error if there is none. tn_optimizer_set(opt, 0, "lr", 1e-4) */
TN_API bool tn_optimizer_set_at(const char *file, int line, tn_optimizer *o, int group,
                                const char *option, double value);
#define tn_optimizer_set(o, group, option, value) \
    tn_optimizer_set_at(__FILE__, __LINE__, o, group, option, value)
TN_API double tn_optimizer_get_at(const char *file, int line, const tn_optimizer *o, int group,
                                  const char *option);
#define tn_optimizer_get(o, group, option) tn_optimizer_get_at(__FILE__, __LINE__, o, group, option)

/* Makes a step with the parameters' .grad; parameters without .grad stay as they are. False with an
 * error, and then no parameter and no state has changed. */
TN_API bool tn_optimizer_step_at(const char *file, int line, tn_optimizer *o);
#define tn_optimizer_step(o) tn_optimizer_step_at(__FILE__, __LINE__, o)
TN_API void tn_optimizer_zero_grad(tn_optimizer *o);

/* The state: state.<i>.<name> of parameter i, counted through the groups, and group.<g>.<option> as
 * 0-dim f64 or i64. The list owns its tensors, which share their memory with the optimizer. Loading
 * is all or nothing. */
TN_API tn_named_list tn_optimizer_state_dict_at(const char *file, int line, const tn_optimizer *o);
#define tn_optimizer_state_dict(o) tn_optimizer_state_dict_at(__FILE__, __LINE__, o)
TN_API bool tn_optimizer_load_at(const char *file, int line, tn_optimizer *o, const tn_named *at,
                                 int64_t n);
#define tn_optimizer_load(o, at, n) tn_optimizer_load_at(__FILE__, __LINE__, o, at, n)

/* --- clipping --------------------------------------------------------------------------------- */

/* Scales the gradients so that their common norm of order norm_type (HUGE_VAL: the maximum) is at
 * most max_norm. Returns the norm before, 0 without gradients; NaN with an error. */
TN_API double tn_nn_clip_grad_norm_at(const char *file, int line, tn_tensors params,
                                      double max_norm, double norm_type);
#define tn_nn_clip_grad_norm_(params, max_norm) \
    tn_nn_clip_grad_norm_at(__FILE__, __LINE__, params, max_norm, 2.0)

/* --- learning rates --------------------------------------------------------------------------- */

/* A schedule changes the "lr" of every group at each tn_schedule_step, usually once an epoch, by
 * torch's recursive formulas. If the optimizer refuses a rate, such as a negative one, the step
 * fails and changes neither groups nor count. */
typedef struct tn_schedule tn_schedule;
/* Multiplies lr by gamma at every `every`-th step (torch.optim.lr_scheduler.StepLR). */
TN_USE_RESULT TN_API tn_schedule *tn_optim_step_lr_at(const char *file, int line, tn_optimizer *o,
                                                      int64_t every, double gamma);
#define tn_optim_step_lr(o, every, gamma) tn_optim_step_lr_at(__FILE__, __LINE__, o, every, gamma)
/* Moves lr from its initial value down to eta_min along half a cosine in t_max steps, then
 * up again (CosineAnnealingLR). */
TN_USE_RESULT TN_API tn_schedule *tn_optim_cosine_lr_at(const char *file, int line, tn_optimizer *o,
                                                        int64_t t_max, double eta_min);
#define tn_optim_cosine_lr(o, t_max, eta_min) \
    tn_optim_cosine_lr_at(__FILE__, __LINE__, o, t_max, eta_min)
/* Sets lr to its initial value times factor(step, user) (LambdaLR): any other schedule. */
TN_USE_RESULT TN_API tn_schedule *tn_optim_lambda_lr_at(const char *file, int line, tn_optimizer *o,
                                                        double (*factor)(int64_t step, void *user),
                                                        void *user);
#define tn_optim_lambda_lr(o, factor, user) \
    tn_optim_lambda_lr_at(__FILE__, __LINE__, o, factor, user)
TN_API bool tn_schedule_step_at(const char *file, int line, tn_schedule *s);
#define tn_schedule_step(s) tn_schedule_step_at(__FILE__, __LINE__, s)
TN_API void tn_schedule_free(tn_schedule *s); /* free it before its optimizer */
/* The number of steps made. tn_schedule_resume sets it and the initial lr of each group; the
 * current lr is part of the optimizer's state. */
TN_API int64_t tn_schedule_count(const tn_schedule *s);
TN_API bool tn_schedule_resume_at(const char *file, int line, tn_schedule *s, int64_t count,
                                  const double *initial, int ngroups);
#define tn_schedule_resume(s, count, initial, ngroups) \
    tn_schedule_resume_at(__FILE__, __LINE__, s, count, initial, ngroups)
TN_API double tn_schedule_initial(const tn_schedule *s, int group);

TNI_EXTERN_C_END

/* ================================================================================================
 * == [3] modules.h
 *
 * The built-in modules and optimizers: constructor, struct, forward.
 *
 *     tn_module *m = tn_nn_linear(784, 10, .bias = false);
 *     tn_nn_linear_self *s = (tn_nn_linear_self *)m;
 *     tn_optimizer *o = tn_optim_sgd(tn_parameters(m), .lr = 0.1);
 *
 * tnp_nn_linear takes all arguments in order, tn_nn_linear_at a struct. Modules given to a
 * constructor are taken by it, on failure too.
 * Generated by tools/optable from src/nn and src/optim; `make headers` writes it again. */

TNI_EXTERN_C_BEGIN

/* --- pointwise functions and softmax as modules: one operator each, and PReLU's slopes as
 * the only part --- */

/* max(x, 0).
 *   schema  ReLU(bool inplace=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_relu() */
typedef struct tn_nn_relu_args {
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_relu_args;
TN_USE_RESULT TN_API tn_module *tn_nn_relu_at(const char *file, int line,
    const tn_nn_relu_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_relu(bool inplace, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_relu(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_relu, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_relu_self {
    tn_module base;
    tn_nn_relu_args o;
} tn_nn_relu_self;
typedef struct tn_nn_relu_forward_args {
    tn_tensor *input;
} tn_nn_relu_forward_args;
#define tn_nn_relu_forward(module, input) tn_forward(module, input)

/* x where x > 0, else negative_slope * x.
 *   schema  LeakyReLU(float negative_slope=0.01, bool inplace=False, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_leaky_relu(.negative_slope = 0.2) */
typedef struct tn_nn_leaky_relu_args {
    double negative_slope;
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_leaky_relu_args;
TN_USE_RESULT TN_API tn_module *tn_nn_leaky_relu_at(const char *file, int line,
    const tn_nn_leaky_relu_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_leaky_relu(double negative_slope, bool inplace,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_leaky_relu(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_leaky_relu, \
    .negative_slope = 0.01, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_leaky_relu_self {
    tn_module base;
    tn_nn_leaky_relu_args o;
} tn_nn_leaky_relu_self;
typedef struct tn_nn_leaky_relu_forward_args {
    tn_tensor *input;
} tn_nn_leaky_relu_forward_args;
#define tn_nn_leaky_relu_forward(module, input) tn_forward(module, input)

/* x where x > 0, else weight * x, with one learned weight or one for each channel (dimension 1).
 *   schema  PReLU(int num_parameters=1, float init=0.25, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, num_parameters, *) -> the same, or (*) -> (*)
 *   example tn_nn_prelu(.num_parameters = 8) */
typedef struct tn_nn_prelu_args {
    int64_t num_parameters;
    double init;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_prelu_args;
TN_USE_RESULT TN_API tn_module *tn_nn_prelu_at(const char *file, int line,
    const tn_nn_prelu_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_prelu(int64_t num_parameters, double init, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_prelu(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_prelu, .num_parameters = 1, \
    .init = 0.25, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_prelu_self {
    tn_module base;
    tn_nn_prelu_args o;
    tn_tensor *weight;
} tn_nn_prelu_self;
typedef struct tn_nn_prelu_forward_args {
    tn_tensor *input;
} tn_nn_prelu_forward_args;
#define tn_nn_prelu_forward(module, input) tn_forward(module, input)

/* x * P(X <= x) for a standard normal X; approximate tanh: its usual approximation.
 *   schema  GELU(Approximate approximate=none, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_gelu() */
typedef struct tn_nn_gelu_args {
    tn_approximate approximate;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_gelu_args;
TN_USE_RESULT TN_API tn_module *tn_nn_gelu_at(const char *file, int line,
    const tn_nn_gelu_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_gelu(tn_approximate approximate, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_gelu(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_gelu, \
    .approximate = TN_APPROXIMATE_NONE, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_gelu_self {
    tn_module base;
    tn_nn_gelu_args o;
} tn_nn_gelu_self;
typedef struct tn_nn_gelu_forward_args {
    tn_tensor *input;
} tn_nn_gelu_forward_args;
#define tn_nn_gelu_forward(module, input) tn_forward(module, input)

/* x * sigmoid(x).
 *   schema  SiLU(bool inplace=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_silu() */
typedef struct tn_nn_silu_args {
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_silu_args;
TN_USE_RESULT TN_API tn_module *tn_nn_silu_at(const char *file, int line,
    const tn_nn_silu_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_silu(bool inplace, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_silu(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_silu, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_silu_self {
    tn_module base;
    tn_nn_silu_args o;
} tn_nn_silu_self;
typedef struct tn_nn_silu_forward_args {
    tn_tensor *input;
} tn_nn_silu_forward_args;
#define tn_nn_silu_forward(module, input) tn_forward(module, input)

/* 1 / (1 + exp(-x)).
 *   schema  Sigmoid(ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_sigmoid() */
typedef struct tn_nn_sigmoid_args {
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_sigmoid_args;
TN_USE_RESULT TN_API tn_module *tn_nn_sigmoid_at(const char *file, int line,
    const tn_nn_sigmoid_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_sigmoid(tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_sigmoid(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_sigmoid, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_sigmoid_self {
    tn_module base;
    tn_nn_sigmoid_args o;
} tn_nn_sigmoid_self;
typedef struct tn_nn_sigmoid_forward_args {
    tn_tensor *input;
} tn_nn_sigmoid_forward_args;
#define tn_nn_sigmoid_forward(module, input) tn_forward(module, input)

/* The hyperbolic tangent.
 *   schema  Tanh(ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_tanh() */
typedef struct tn_nn_tanh_args {
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_tanh_args;
TN_USE_RESULT TN_API tn_module *tn_nn_tanh_at(const char *file, int line,
    const tn_nn_tanh_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_tanh(tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_tanh(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_tanh, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_tanh_self {
    tn_module base;
    tn_nn_tanh_args o;
} tn_nn_tanh_self;
typedef struct tn_nn_tanh_forward_args {
    tn_tensor *input;
} tn_nn_tanh_forward_args;
#define tn_nn_tanh_forward(module, input) tn_forward(module, input)

/* log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
 *   schema  Softplus(float beta=1.0, float threshold=20.0, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_softplus() */
typedef struct tn_nn_softplus_args {
    double beta, threshold;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_softplus_args;
TN_USE_RESULT TN_API tn_module *tn_nn_softplus_at(const char *file, int line,
    const tn_nn_softplus_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_softplus(double beta, double threshold, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_softplus(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_softplus, .beta = 1, \
    .threshold = 20, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_softplus_self {
    tn_module base;
    tn_nn_softplus_args o;
} tn_nn_softplus_self;
typedef struct tn_nn_softplus_forward_args {
    tn_tensor *input;
} tn_nn_softplus_forward_args;
#define tn_nn_softplus_forward(module, input) tn_forward(module, input)

/* x / (1 + |x|).
 *   schema  Softsign(ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_softsign() */
typedef struct tn_nn_softsign_args {
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_softsign_args;
TN_USE_RESULT TN_API tn_module *tn_nn_softsign_at(const char *file, int line,
    const tn_nn_softsign_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_softsign(tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_softsign(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_softsign, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_softsign_self {
    tn_module base;
    tn_nn_softsign_args o;
} tn_nn_softsign_self;
typedef struct tn_nn_softsign_forward_args {
    tn_tensor *input;
} tn_nn_softsign_forward_args;
#define tn_nn_softsign_forward(module, input) tn_forward(module, input)

/* exp(x_i) / sum exp(x_j) along dim.
 *   schema  Softmax(int? dim=None, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_softmax(.dim = 1) */
typedef struct tn_nn_softmax_args {
    int64_t dim;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_softmax_args;
TN_USE_RESULT TN_API tn_module *tn_nn_softmax_at(const char *file, int line,
    const tn_nn_softmax_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_softmax(int64_t dim, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_softmax(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_softmax, .dim = TN_NONE, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_softmax_self {
    tn_module base;
    tn_nn_softmax_args o;
} tn_nn_softmax_self;
typedef struct tn_nn_softmax_forward_args {
    tn_tensor *input;
} tn_nn_softmax_forward_args;
#define tn_nn_softmax_forward(module, input) tn_forward(module, input)

/* The logarithm of softmax.
 *   schema  LogSoftmax(int? dim=None, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_log_softmax(.dim = 1) */
typedef struct tn_nn_log_softmax_args {
    int64_t dim;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_log_softmax_args;
TN_USE_RESULT TN_API tn_module *tn_nn_log_softmax_at(const char *file, int line,
    const tn_nn_log_softmax_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_log_softmax(int64_t dim, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_log_softmax(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_log_softmax, .dim = TN_NONE, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_log_softmax_self {
    tn_module base;
    tn_nn_log_softmax_args o;
} tn_nn_log_softmax_self;
typedef struct tn_nn_log_softmax_forward_args {
    tn_tensor *input;
} tn_nn_log_softmax_forward_args;
#define tn_nn_log_softmax_forward(module, input) tn_forward(module, input)

/* --- MultiheadAttention, composed of products and a softmax as torch's own --- */

/* Attention of num_heads heads. A mask is added to the scores, or bool: true is not seen. is_causal
 * says that attn_mask is the causal one, which is then made here where no weights are asked for.
 * attn_output_weights is NULL without need_weights.
 *   schema  MultiheadAttention(int embed_dim, int num_heads, float dropout=0.0, bool bias=True,
 *           bool batch_first=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  query (L, N, E), key, value (S, N, E) -> (L, N, E), (N, L, S); with batch_first (N,
 *           L, E), (N, S, E) -> (N, L, E), (N, L, S)
 *   example tn_nn_multihead_attention(64, 4) */
typedef struct tn_nn_multihead_attention_args {
    double dropout;
    bool bias, batch_first;
    tn_dtype dtype;
    tn_device_id device;
    int64_t embed_dim, num_heads;
    TNI_NAMED_OPTIONS
} tn_nn_multihead_attention_args;
TN_USE_RESULT TN_API tn_module *tn_nn_multihead_attention_at(const char *file, int line,
    const tn_nn_multihead_attention_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_multihead_attention(int64_t embed_dim, int64_t num_heads,
    double dropout, bool bias, bool batch_first, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_multihead_attention(embed_dim_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_multihead_attention, .bias = true, .embed_dim = embed_dim_, \
    .num_heads = __VA_ARGS__))
#endif
typedef struct tn_nn_multihead_attention_self {
    tn_module base;
    tn_nn_multihead_attention_args o;
    tn_tensor *in_proj_weight;
    tn_tensor *in_proj_bias;
    tn_module *out_proj;
} tn_nn_multihead_attention_self;

typedef struct tn_attn_output_attn_output_weights {
    tn_tensor *attn_output, *attn_output_weights;
} tn_attn_output_attn_output_weights;
typedef struct tn_nn_multihead_attention_forward_args {
    tn_tensor *key_padding_mask;
    bool need_weights;
    tn_tensor *attn_mask;
    bool average_attn_weights, is_causal;
    tn_module *module;
    tn_tensor *query, *key, *value;
    TNI_NAMED_OPTIONS
} tn_nn_multihead_attention_forward_args;
TN_API tn_attn_output_attn_output_weights tn_nn_multihead_attention_forward_at(const char *file,
    int line, const tn_nn_multihead_attention_forward_args *args);
TN_API tn_attn_output_attn_output_weights tnp_nn_multihead_attention_forward(tn_module *module,
    tn_tensor *query, tn_tensor *key, tn_tensor *value, tn_tensor *key_padding_mask,
    bool need_weights, tn_tensor *attn_mask, bool average_attn_weights, bool is_causal);
#ifndef __cplusplus
#define tn_nn_multihead_attention_forward(module_, query_, key_, ...) \
    TNI_CALL(tn_nn_multihead_attention_forward, .need_weights = true, \
    .average_attn_weights = true, .module = module_, .query = query_, .key = key_, \
    .value = __VA_ARGS__)
#endif

/* --- modules made of modules: Sequential, ModuleList --- */

/* Calls its children one after the other; takes them.
 *   schema  Sequential(Module[] modules, ScalarType? dtype=None, Device? device=None)
 *   shapes  input -> as the last child gives it
 *   example tn_module *m = tn_sequential(tn_nn_linear(4, 8), tn_nn_relu()); */
typedef struct tn_nn_sequential_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_modules modules;
    TNI_NAMED_OPTIONS
} tn_nn_sequential_args;
TN_USE_RESULT TN_API tn_module *tn_nn_sequential_at(const char *file, int line,
    const tn_nn_sequential_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_sequential(tn_modules modules, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_sequential(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_sequential, \
    .modules = __VA_ARGS__))
#endif
typedef struct tn_nn_sequential_self {
    tn_module base;
    tn_nn_sequential_args o;
} tn_nn_sequential_self;
typedef struct tn_nn_sequential_forward_args {
    tn_tensor *input;
} tn_nn_sequential_forward_args;
#define tn_nn_sequential_forward(module, input) tn_forward(module, input)

/* A list of children under the names 0, 1, ..; no forward. tn_module_append adds one.
 *   schema  ModuleList(Module[] modules, ScalarType? dtype=None, Device? device=None)
 *   example tn_nn_module_list(TN_MODULES(one, two)) */
typedef struct tn_nn_module_list_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_modules modules;
    TNI_NAMED_OPTIONS
} tn_nn_module_list_args;
TN_USE_RESULT TN_API tn_module *tn_nn_module_list_at(const char *file, int line,
    const tn_nn_module_list_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_module_list(tn_modules modules, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_module_list(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_module_list, \
    .modules = __VA_ARGS__))
#endif
typedef struct tn_nn_module_list_self {
    tn_module base;
    tn_nn_module_list_args o;
} tn_nn_module_list_self;
typedef struct tn_nn_module_list_forward_args {
    tn_tensor *input;
} tn_nn_module_list_forward_args;
#define tn_nn_module_list_forward(module, input) tn_forward(module, input)

/* --- convolution and pooling over images (N, C, H, W) --- */

/* Cross-correlation of lines with out_channels filters.
 *   schema  Conv1d(int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1,
 *           int[1] padding=0, int[1] dilation=1, int groups=1, bool bias=True, PaddingMode
 *           padding_mode=zeros, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, in_channels, L) -> (N, out_channels, L')
 *   example tn_nn_conv1d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2)) */
typedef struct tn_nn_conv1d_args {
    tn_ints stride, padding, dilation;
    int64_t groups;
    bool bias;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv1d_at(const char *file, int line,
    const tn_nn_conv1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv1d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups,
    bool bias, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv1d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv1d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), .dilation = TN_DIMS(1), \
    .groups = 1, .bias = true, .padding_mode = TN_PADDING_MODE_ZEROS, \
    .in_channels = in_channels_, .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv1d_self {
    tn_module base;
    tn_nn_conv1d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv1d_self;
typedef struct tn_nn_conv1d_forward_args {
    tn_tensor *input;
} tn_nn_conv1d_forward_args;
#define tn_nn_conv1d_forward(module, input) tn_forward(module, input)

/* Cross-correlation with out_channels filters.
 *   schema  Conv2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1,
 *           int[2] padding=0, int[2] dilation=1, int groups=1, bool bias=True, PaddingMode
 *           padding_mode=zeros, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, in_channels, H, W) -> (N, out_channels, H', W')
 *   example tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1)) */
typedef struct tn_nn_conv2d_args {
    tn_ints stride, padding, dilation;
    int64_t groups;
    bool bias;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv2d_at(const char *file, int line,
    const tn_nn_conv2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv2d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups,
    bool bias, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv2d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv2d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), .dilation = TN_DIMS(1), \
    .groups = 1, .bias = true, .padding_mode = TN_PADDING_MODE_ZEROS, \
    .in_channels = in_channels_, .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv2d_self {
    tn_module base;
    tn_nn_conv2d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv2d_self;
typedef struct tn_nn_conv2d_forward_args {
    tn_tensor *input;
} tn_nn_conv2d_forward_args;
#define tn_nn_conv2d_forward(module, input) tn_forward(module, input)

/* Cross-correlation of volumes with out_channels filters.
 *   schema  Conv3d(int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1,
 *           int[3] padding=0, int[3] dilation=1, int groups=1, bool bias=True, PaddingMode
 *           padding_mode=zeros, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')
 *   example tn_nn_conv3d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2)) */
typedef struct tn_nn_conv3d_args {
    tn_ints stride, padding, dilation;
    int64_t groups;
    bool bias;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv3d_at(const char *file, int line,
    const tn_nn_conv3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv3d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups,
    bool bias, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv3d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv3d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), .dilation = TN_DIMS(1), \
    .groups = 1, .bias = true, .padding_mode = TN_PADDING_MODE_ZEROS, \
    .in_channels = in_channels_, .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv3d_self {
    tn_module base;
    tn_nn_conv3d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv3d_self;
typedef struct tn_nn_conv3d_forward_args {
    tn_tensor *input;
} tn_nn_conv3d_forward_args;
#define tn_nn_conv3d_forward(module, input) tn_forward(module, input)

/* The transposed map of Conv1d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding.
 *   schema  ConvTranspose1d(int in_channels, int out_channels, int[1] kernel_size, int[1]
 *           stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, bool bias=True,
 *           int[1] dilation=1, PaddingMode padding_mode=zeros, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, in_channels, L) -> (N, out_channels, L')
 *   example tn_nn_conv_transpose1d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2)) */
typedef struct tn_nn_conv_transpose1d_args {
    tn_ints stride, padding, output_padding;
    int64_t groups;
    bool bias;
    tn_ints dilation;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv_transpose1d_at(const char *file, int line,
    const tn_nn_conv_transpose1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv_transpose1d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv_transpose1d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv_transpose1d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), \
    .output_padding = TN_DIMS(0), .groups = 1, .bias = true, .dilation = TN_DIMS(1), \
    .padding_mode = TN_PADDING_MODE_ZEROS, .in_channels = in_channels_, \
    .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv_transpose1d_self {
    tn_module base;
    tn_nn_conv_transpose1d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv_transpose1d_self;

typedef struct tn_nn_conv_transpose1d_forward_args {
    tn_ints output_size;
    tn_module *module;
    tn_tensor *input;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose1d_forward_args;
TN_API tn_tensor *tn_nn_conv_transpose1d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose1d_forward_args *args);
TN_API tn_tensor *tnp_nn_conv_transpose1d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size);
#ifndef __cplusplus
#define tn_nn_conv_transpose1d_forward(module_, ...) TNI_CALL(tn_nn_conv_transpose1d_forward, \
    .output_size = TN_NO_DIMS, .module = module_, .input = __VA_ARGS__)
#endif

/* The transposed map of Conv2d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding.
 *   schema  ConvTranspose2d(int in_channels, int out_channels, int[2] kernel_size, int[2]
 *           stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, bool bias=True,
 *           int[2] dilation=1, PaddingMode padding_mode=zeros, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, in_channels, H, W) -> (N, out_channels, H', W')
 *   example tn_nn_conv_transpose2d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2)) */
typedef struct tn_nn_conv_transpose2d_args {
    tn_ints stride, padding, output_padding;
    int64_t groups;
    bool bias;
    tn_ints dilation;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv_transpose2d_at(const char *file, int line,
    const tn_nn_conv_transpose2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv_transpose2d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv_transpose2d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv_transpose2d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), \
    .output_padding = TN_DIMS(0), .groups = 1, .bias = true, .dilation = TN_DIMS(1), \
    .padding_mode = TN_PADDING_MODE_ZEROS, .in_channels = in_channels_, \
    .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv_transpose2d_self {
    tn_module base;
    tn_nn_conv_transpose2d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv_transpose2d_self;

typedef struct tn_nn_conv_transpose2d_forward_args {
    tn_ints output_size;
    tn_module *module;
    tn_tensor *input;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose2d_forward_args;
TN_API tn_tensor *tn_nn_conv_transpose2d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose2d_forward_args *args);
TN_API tn_tensor *tnp_nn_conv_transpose2d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size);
#ifndef __cplusplus
#define tn_nn_conv_transpose2d_forward(module_, ...) TNI_CALL(tn_nn_conv_transpose2d_forward, \
    .output_size = TN_NO_DIMS, .module = module_, .input = __VA_ARGS__)
#endif

/* The transposed map of Conv3d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding.
 *   schema  ConvTranspose3d(int in_channels, int out_channels, int[3] kernel_size, int[3]
 *           stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, bool bias=True,
 *           int[3] dilation=1, PaddingMode padding_mode=zeros, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')
 *   example tn_nn_conv_transpose3d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2)) */
typedef struct tn_nn_conv_transpose3d_args {
    tn_ints stride, padding, output_padding;
    int64_t groups;
    bool bias;
    tn_ints dilation;
    tn_padding_mode padding_mode;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_channels, out_channels;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_conv_transpose3d_at(const char *file, int line,
    const tn_nn_conv_transpose3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_conv_transpose3d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_conv_transpose3d(in_channels_, out_channels_, ...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_conv_transpose3d, .stride = TN_DIMS(1), .padding = TN_DIMS(0), \
    .output_padding = TN_DIMS(0), .groups = 1, .bias = true, .dilation = TN_DIMS(1), \
    .padding_mode = TN_PADDING_MODE_ZEROS, .in_channels = in_channels_, \
    .out_channels = out_channels_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_conv_transpose3d_self {
    tn_module base;
    tn_nn_conv_transpose3d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_conv_transpose3d_self;

typedef struct tn_nn_conv_transpose3d_forward_args {
    tn_ints output_size;
    tn_module *module;
    tn_tensor *input;
    TNI_NAMED_OPTIONS
} tn_nn_conv_transpose3d_forward_args;
TN_API tn_tensor *tn_nn_conv_transpose3d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose3d_forward_args *args);
TN_API tn_tensor *tnp_nn_conv_transpose3d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size);
#ifndef __cplusplus
#define tn_nn_conv_transpose3d_forward(module_, ...) TNI_CALL(tn_nn_conv_transpose3d_forward, \
    .output_size = TN_NO_DIMS, .module = module_, .input = __VA_ARGS__)
#endif

/* Largest element of each window; stride is kernel_size when not given.
 *   schema  MaxPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2]
 *           dilation=1, bool return_indices=False, bool ceil_mode=False, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input (N, C, H, W) -> (N, C, H', W')
 *   example tn_nn_max_pool2d(TN_DIMS(2)) */
typedef struct tn_nn_max_pool2d_args {
    tn_ints stride, padding, dilation;
    bool return_indices, ceil_mode;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_max_pool2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_max_pool2d_at(const char *file, int line,
    const tn_nn_max_pool2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_max_pool2d(tn_ints kernel_size, tn_ints stride,
    tn_ints padding, tn_ints dilation, bool return_indices, bool ceil_mode, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_max_pool2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_max_pool2d, \
    .stride = TN_NO_DIMS, .padding = TN_DIMS(0), .dilation = TN_DIMS(1), \
    .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_max_pool2d_self {
    tn_module base;
    tn_nn_max_pool2d_args o;
} tn_nn_max_pool2d_self;
typedef struct tn_nn_max_pool2d_forward_args {
    tn_tensor *input;
} tn_nn_max_pool2d_forward_args;
#define tn_nn_max_pool2d_forward(module, input) tn_forward(module, input)

/* Mean of each window.
 *   schema  AvgPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool
 *           ceil_mode=False, bool count_include_pad=True, int? divisor_override=None,
 *           ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) -> (N, C, H', W')
 *   example tn_nn_avg_pool2d(TN_DIMS(2)) */
typedef struct tn_nn_avg_pool2d_args {
    tn_ints stride, padding;
    bool ceil_mode, count_include_pad;
    int64_t divisor_override;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_avg_pool2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_avg_pool2d_at(const char *file, int line,
    const tn_nn_avg_pool2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_avg_pool2d(tn_ints kernel_size, tn_ints stride,
    tn_ints padding, bool ceil_mode, bool count_include_pad, int64_t divisor_override,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_avg_pool2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_avg_pool2d, \
    .stride = TN_NO_DIMS, .padding = TN_DIMS(0), .count_include_pad = true, \
    .divisor_override = TN_NONE, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_avg_pool2d_self {
    tn_module base;
    tn_nn_avg_pool2d_args o;
} tn_nn_avg_pool2d_self;
typedef struct tn_nn_avg_pool2d_forward_args {
    tn_tensor *input;
} tn_nn_avg_pool2d_forward_args;
#define tn_nn_avg_pool2d_forward(module, input) tn_forward(module, input)

/* Mean over windows that divide the image into output_size parts.
 *   schema  AdaptiveAvgPool2d(int[2] output_size, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) -> (N, C, output_size)
 *   example tn_nn_adaptive_avg_pool2d(TN_DIMS(1)) */
typedef struct tn_nn_adaptive_avg_pool2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints output_size;
    TNI_NAMED_OPTIONS
} tn_nn_adaptive_avg_pool2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_adaptive_avg_pool2d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_adaptive_avg_pool2d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_adaptive_avg_pool2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_adaptive_avg_pool2d, \
    .output_size = __VA_ARGS__))
#endif
typedef struct tn_nn_adaptive_avg_pool2d_self {
    tn_module base;
    tn_nn_adaptive_avg_pool2d_args o;
} tn_nn_adaptive_avg_pool2d_self;
typedef struct tn_nn_adaptive_avg_pool2d_forward_args {
    tn_tensor *input;
} tn_nn_adaptive_avg_pool2d_forward_args;
#define tn_nn_adaptive_avg_pool2d_forward(module, input) tn_forward(module, input)

/* Largest element of each window of a line; stride is kernel_size when not given.
 *   schema  MaxPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1]
 *           dilation=1, bool return_indices=False, bool ceil_mode=False, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input (N, C, L) -> (N, C, L')
 *   example tn_nn_max_pool1d(TN_DIMS(2)) */
typedef struct tn_nn_max_pool1d_args {
    tn_ints stride, padding, dilation;
    bool return_indices, ceil_mode;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_max_pool1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_max_pool1d_at(const char *file, int line,
    const tn_nn_max_pool1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_max_pool1d(tn_ints kernel_size, tn_ints stride,
    tn_ints padding, tn_ints dilation, bool return_indices, bool ceil_mode, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_max_pool1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_max_pool1d, \
    .stride = TN_NO_DIMS, .padding = TN_DIMS(0), .dilation = TN_DIMS(1), \
    .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_max_pool1d_self {
    tn_module base;
    tn_nn_max_pool1d_args o;
} tn_nn_max_pool1d_self;
typedef struct tn_nn_max_pool1d_forward_args {
    tn_tensor *input;
} tn_nn_max_pool1d_forward_args;
#define tn_nn_max_pool1d_forward(module, input) tn_forward(module, input)

/* Mean of each window of a line.
 *   schema  AvgPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool
 *           ceil_mode=False, bool count_include_pad=True, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, C, L) -> (N, C, L')
 *   example tn_nn_avg_pool1d(TN_DIMS(2)) */
typedef struct tn_nn_avg_pool1d_args {
    tn_ints stride, padding;
    bool ceil_mode, count_include_pad;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_avg_pool1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_avg_pool1d_at(const char *file, int line,
    const tn_nn_avg_pool1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_avg_pool1d(tn_ints kernel_size, tn_ints stride,
    tn_ints padding, bool ceil_mode, bool count_include_pad, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_avg_pool1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_avg_pool1d, \
    .stride = TN_NO_DIMS, .padding = TN_DIMS(0), .count_include_pad = true, \
    .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_avg_pool1d_self {
    tn_module base;
    tn_nn_avg_pool1d_args o;
} tn_nn_avg_pool1d_self;
typedef struct tn_nn_avg_pool1d_forward_args {
    tn_tensor *input;
} tn_nn_avg_pool1d_forward_args;
#define tn_nn_avg_pool1d_forward(module, input) tn_forward(module, input)

/* Mean over windows that divide a line into output_size parts.
 *   schema  AdaptiveAvgPool1d(int[1] output_size, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, L) -> (N, C, output_size)
 *   example tn_nn_adaptive_avg_pool1d(TN_DIMS(4)) */
typedef struct tn_nn_adaptive_avg_pool1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints output_size;
    TNI_NAMED_OPTIONS
} tn_nn_adaptive_avg_pool1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_adaptive_avg_pool1d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_adaptive_avg_pool1d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_adaptive_avg_pool1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_adaptive_avg_pool1d, \
    .output_size = __VA_ARGS__))
#endif
typedef struct tn_nn_adaptive_avg_pool1d_self {
    tn_module base;
    tn_nn_adaptive_avg_pool1d_args o;
} tn_nn_adaptive_avg_pool1d_self;
typedef struct tn_nn_adaptive_avg_pool1d_forward_args {
    tn_tensor *input;
} tn_nn_adaptive_avg_pool1d_forward_args;
#define tn_nn_adaptive_avg_pool1d_forward(module, input) tn_forward(module, input)

/* Mean over windows that divide a volume into output_size parts.
 *   schema  AdaptiveAvgPool3d(int[3] output_size, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, D, H, W) -> (N, C, output_size)
 *   example tn_nn_adaptive_avg_pool3d(TN_DIMS(1)) */
typedef struct tn_nn_adaptive_avg_pool3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints output_size;
    TNI_NAMED_OPTIONS
} tn_nn_adaptive_avg_pool3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_adaptive_avg_pool3d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_adaptive_avg_pool3d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_adaptive_avg_pool3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_adaptive_avg_pool3d, \
    .output_size = __VA_ARGS__))
#endif
typedef struct tn_nn_adaptive_avg_pool3d_self {
    tn_module base;
    tn_nn_adaptive_avg_pool3d_args o;
} tn_nn_adaptive_avg_pool3d_self;
typedef struct tn_nn_adaptive_avg_pool3d_forward_args {
    tn_tensor *input;
} tn_nn_adaptive_avg_pool3d_forward_args;
#define tn_nn_adaptive_avg_pool3d_forward(module, input) tn_forward(module, input)

/* The norm_type-norm of each window of a line.
 *   schema  LPPool1d(float norm_type, int[1] kernel_size, int[1]? stride=None, bool
 *           ceil_mode=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, L) -> (N, C, L')
 *   example tn_nn_lp_pool1d(2, TN_DIMS(3)) */
typedef struct tn_nn_lp_pool1d_args {
    tn_ints stride;
    bool ceil_mode;
    tn_dtype dtype;
    tn_device_id device;
    double norm_type;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_lp_pool1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_lp_pool1d_at(const char *file, int line,
    const tn_nn_lp_pool1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_lp_pool1d(double norm_type, tn_ints kernel_size,
    tn_ints stride, bool ceil_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_lp_pool1d(norm_type_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_lp_pool1d, \
    .stride = TN_NO_DIMS, .norm_type = norm_type_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_lp_pool1d_self {
    tn_module base;
    tn_nn_lp_pool1d_args o;
} tn_nn_lp_pool1d_self;
typedef struct tn_nn_lp_pool1d_forward_args {
    tn_tensor *input;
} tn_nn_lp_pool1d_forward_args;
#define tn_nn_lp_pool1d_forward(module, input) tn_forward(module, input)

/* The norm_type-norm of each window.
 *   schema  LPPool2d(float norm_type, int[2] kernel_size, int[2]? stride=None, bool
 *           ceil_mode=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) -> (N, C, H', W')
 *   example tn_nn_lp_pool2d(2, TN_DIMS(3)) */
typedef struct tn_nn_lp_pool2d_args {
    tn_ints stride;
    bool ceil_mode;
    tn_dtype dtype;
    tn_device_id device;
    double norm_type;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_lp_pool2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_lp_pool2d_at(const char *file, int line,
    const tn_nn_lp_pool2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_lp_pool2d(double norm_type, tn_ints kernel_size,
    tn_ints stride, bool ceil_mode, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_lp_pool2d(norm_type_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_lp_pool2d, \
    .stride = TN_NO_DIMS, .norm_type = norm_type_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_lp_pool2d_self {
    tn_module base;
    tn_nn_lp_pool2d_args o;
} tn_nn_lp_pool2d_self;
typedef struct tn_nn_lp_pool2d_forward_args {
    tn_tensor *input;
} tn_nn_lp_pool2d_forward_args;
#define tn_nn_lp_pool2d_forward(module, input) tn_forward(module, input)

/* --- distances and angles of pairs of vectors as modules --- */

/* x1 . x2 / (|x1| |x2|) along dim, where each length counts as at least eps.
 *   schema  CosineSimilarity(int dim=1, float eps=1e-08, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  x1, x2 (*), broadcast together -> (*) without dim
 *   example tn_nn_cosine_similarity(.dim = -1) */
typedef struct tn_nn_cosine_similarity_args {
    int64_t dim;
    double eps;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_cosine_similarity_args;
TN_USE_RESULT TN_API tn_module *tn_nn_cosine_similarity_at(const char *file, int line,
    const tn_nn_cosine_similarity_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_cosine_similarity(int64_t dim, double eps, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_cosine_similarity(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_cosine_similarity, \
    .dim = 1, .eps = 1e-08, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_cosine_similarity_self {
    tn_module base;
    tn_nn_cosine_similarity_args o;
} tn_nn_cosine_similarity_self;

typedef struct tn_nn_cosine_similarity_forward_args {
    tn_module *module;
    tn_tensor *x1, *x2;
    TNI_NAMED_OPTIONS
} tn_nn_cosine_similarity_forward_args;
TN_API tn_tensor *tn_nn_cosine_similarity_forward_at(const char *file, int line,
    const tn_nn_cosine_similarity_forward_args *args);
TN_API tn_tensor *tnp_nn_cosine_similarity_forward(tn_module *module, tn_tensor *x1, tn_tensor *x2);
#ifndef __cplusplus
#define tn_nn_cosine_similarity_forward(module_, x1_, ...) \
    TNI_CALL(tn_nn_cosine_similarity_forward, .module = module_, .x1 = x1_, .x2 = __VA_ARGS__)
#endif

/* The p-norm of x1 - x2 + eps along the last dimension.
 *   schema  PairwiseDistance(float p=2.0, float eps=1e-06, bool keepdim=False, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  x1, x2 (*, D), broadcast together -> (*), or (*, 1) with keepdim
 *   example tn_nn_pairwise_distance(.p = 1) */
typedef struct tn_nn_pairwise_distance_args {
    double p, eps;
    bool keepdim;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_pairwise_distance_args;
TN_USE_RESULT TN_API tn_module *tn_nn_pairwise_distance_at(const char *file, int line,
    const tn_nn_pairwise_distance_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_pairwise_distance(double p, double eps, bool keepdim,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_pairwise_distance(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_pairwise_distance, \
    .p = 2, .eps = 1e-06, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_pairwise_distance_self {
    tn_module base;
    tn_nn_pairwise_distance_args o;
} tn_nn_pairwise_distance_self;

typedef struct tn_nn_pairwise_distance_forward_args {
    tn_module *module;
    tn_tensor *x1, *x2;
    TNI_NAMED_OPTIONS
} tn_nn_pairwise_distance_forward_args;
TN_API tn_tensor *tn_nn_pairwise_distance_forward_at(const char *file, int line,
    const tn_nn_pairwise_distance_forward_args *args);
TN_API tn_tensor *tnp_nn_pairwise_distance_forward(tn_module *module, tn_tensor *x1, tn_tensor *x2);
#ifndef __cplusplus
#define tn_nn_pairwise_distance_forward(module_, x1_, ...) \
    TNI_CALL(tn_nn_pairwise_distance_forward, .module = module_, .x1 = x1_, .x2 = __VA_ARGS__)
#endif

/* --- windows of images as columns, and columns as images --- */

/* The windows of an image as columns: row (c, i, j) has the elements at place (i, j) of channel c's
 * windows.
 *   schema  Unfold(int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1,
 *           ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) -> (N, C kH kW, L), L windows
 *   example tn_nn_unfold(TN_DIMS(3), .padding = TN_DIMS(1)) */
typedef struct tn_nn_unfold_args {
    tn_ints dilation, padding, stride;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_unfold_args;
TN_USE_RESULT TN_API tn_module *tn_nn_unfold_at(const char *file, int line,
    const tn_nn_unfold_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_unfold(tn_ints kernel_size, tn_ints dilation,
    tn_ints padding, tn_ints stride, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_unfold(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_unfold, .dilation = TN_DIMS(1), \
    .padding = TN_DIMS(0), .stride = TN_DIMS(1), .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_unfold_self {
    tn_module base;
    tn_nn_unfold_args o;
} tn_nn_unfold_self;
typedef struct tn_nn_unfold_forward_args {
    tn_tensor *input;
} tn_nn_unfold_forward_args;
#define tn_nn_unfold_forward(module, input) tn_forward(module, input)

/* Columns added into the windows of an image of output_size: what overlaps is summed.
 *   schema  Fold(int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0,
 *           int[2] stride=1, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C kH kW, L), L windows -> (N, C, output_size)
 *   example tn_nn_fold(TN_DIMS(4, 5), TN_DIMS(2)) */
typedef struct tn_nn_fold_args {
    tn_ints dilation, padding, stride;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints output_size, kernel_size;
    TNI_NAMED_OPTIONS
} tn_nn_fold_args;
TN_USE_RESULT TN_API tn_module *tn_nn_fold_at(const char *file, int line,
    const tn_nn_fold_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_fold(tn_ints output_size, tn_ints kernel_size,
    tn_ints dilation, tn_ints padding, tn_ints stride, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_fold(output_size_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_fold, \
    .dilation = TN_DIMS(1), .padding = TN_DIMS(0), .stride = TN_DIMS(1), \
    .output_size = output_size_, .kernel_size = __VA_ARGS__))
#endif
typedef struct tn_nn_fold_self {
    tn_module base;
    tn_nn_fold_args o;
} tn_nn_fold_self;
typedef struct tn_nn_fold_forward_args {
    tn_tensor *input;
} tn_nn_fold_forward_args;
#define tn_nn_fold_forward(module, input) tn_forward(module, input)

/* --- modules that are one operator on parameters or on nothing: Linear, Embedding,
 * Dropout, Identity, Flatten --- */

/* y = x W^T + b.
 *   schema  Linear(int in_features, int out_features, bool bias=True, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input (*, in_features) -> (*, out_features)
 *   example tn_module *m = tn_nn_linear(784, 10, .bias = false); */
typedef struct tn_nn_linear_args {
    bool bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t in_features, out_features;
    TNI_NAMED_OPTIONS
} tn_nn_linear_args;
TN_USE_RESULT TN_API tn_module *tn_nn_linear_at(const char *file, int line,
    const tn_nn_linear_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_linear(int64_t in_features, int64_t out_features, bool bias,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_linear(in_features_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_linear, \
    .bias = true, .in_features = in_features_, .out_features = __VA_ARGS__))
#endif
typedef struct tn_nn_linear_self {
    tn_module base;
    tn_nn_linear_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_linear_self;
typedef struct tn_nn_linear_forward_args {
    tn_tensor *input;
} tn_nn_linear_forward_args;
#define tn_nn_linear_forward(module, input) tn_forward(module, input)

/* A table of vectors by number. The row padding_idx is zero at first and gets no gradient.
 *   schema  Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, bool
 *           scale_grad_by_freq=False, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) integers -> (*, embedding_dim)
 *   example tn_nn_embedding(1000, 64, .padding_idx = 0) */
typedef struct tn_nn_embedding_args {
    int64_t padding_idx;
    bool scale_grad_by_freq;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_embeddings, embedding_dim;
    TNI_NAMED_OPTIONS
} tn_nn_embedding_args;
TN_USE_RESULT TN_API tn_module *tn_nn_embedding_at(const char *file, int line,
    const tn_nn_embedding_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_embedding(int64_t num_embeddings, int64_t embedding_dim,
    int64_t padding_idx, bool scale_grad_by_freq, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_embedding(num_embeddings_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_embedding, \
    .padding_idx = TN_NONE, .num_embeddings = num_embeddings_, .embedding_dim = __VA_ARGS__))
#endif
typedef struct tn_nn_embedding_self {
    tn_module base;
    tn_nn_embedding_args o;
    tn_tensor *weight;
} tn_nn_embedding_self;
typedef struct tn_nn_embedding_forward_args {
    tn_tensor *input;
} tn_nn_embedding_forward_args;
#define tn_nn_embedding_forward(module, input) tn_forward(module, input)

/* In training, zeroes each element with probability p and scales the others by 1 / (1
 * - p); else a view of its input.
 *   schema  Dropout(float p=0.5, bool inplace=False, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_dropout(.p = 0.1) */
typedef struct tn_nn_dropout_args {
    double p;
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_dropout_args;
TN_USE_RESULT TN_API tn_module *tn_nn_dropout_at(const char *file, int line,
    const tn_nn_dropout_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_dropout(double p, bool inplace, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_dropout(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_dropout, .p = 0.5, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_dropout_self {
    tn_module base;
    tn_nn_dropout_args o;
} tn_nn_dropout_self;
typedef struct tn_nn_dropout_forward_args {
    tn_tensor *input;
} tn_nn_dropout_forward_args;
#define tn_nn_dropout_forward(module, input) tn_forward(module, input)

/* In training, zeroes each channel with probability p and scales the others by 1 / (1 - p).
 *   schema  Dropout1d(float p=0.5, bool inplace=False, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, C, L) or (C, L) -> the same
 *   example tn_nn_dropout1d(.p = 0.1) */
typedef struct tn_nn_dropout1d_args {
    double p;
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_dropout1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_dropout1d_at(const char *file, int line,
    const tn_nn_dropout1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_dropout1d(double p, bool inplace, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_dropout1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_dropout1d, .p = 0.5, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_dropout1d_self {
    tn_module base;
    tn_nn_dropout1d_args o;
} tn_nn_dropout1d_self;
typedef struct tn_nn_dropout1d_forward_args {
    tn_tensor *input;
} tn_nn_dropout1d_forward_args;
#define tn_nn_dropout1d_forward(module, input) tn_forward(module, input)

/* As Dropout1d, of images; the first dimension is always the batch.
 *   schema  Dropout2d(float p=0.5, bool inplace=False, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, C, H, W) -> the same
 *   example tn_nn_dropout2d(.p = 0.1) */
typedef struct tn_nn_dropout2d_args {
    double p;
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_dropout2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_dropout2d_at(const char *file, int line,
    const tn_nn_dropout2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_dropout2d(double p, bool inplace, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_dropout2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_dropout2d, .p = 0.5, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_dropout2d_self {
    tn_module base;
    tn_nn_dropout2d_args o;
} tn_nn_dropout2d_self;
typedef struct tn_nn_dropout2d_forward_args {
    tn_tensor *input;
} tn_nn_dropout2d_forward_args;
#define tn_nn_dropout2d_forward(module, input) tn_forward(module, input)

/* As Dropout1d, of volumes.
 *   schema  Dropout3d(float p=0.5, bool inplace=False, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, C, D, H, W) or (C, D, H, W) -> the same
 *   example tn_nn_dropout3d(.p = 0.1) */
typedef struct tn_nn_dropout3d_args {
    double p;
    bool inplace;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_dropout3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_dropout3d_at(const char *file, int line,
    const tn_nn_dropout3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_dropout3d(double p, bool inplace, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_dropout3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_dropout3d, .p = 0.5, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_dropout3d_self {
    tn_module base;
    tn_nn_dropout3d_args o;
} tn_nn_dropout3d_self;
typedef struct tn_nn_dropout3d_forward_args {
    tn_tensor *input;
} tn_nn_dropout3d_forward_args;
#define tn_nn_dropout3d_forward(module, input) tn_forward(module, input)

/* Gives back a view of its input.
 *   schema  Identity(ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*) -> (*)
 *   example tn_nn_identity() */
typedef struct tn_nn_identity_args {
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_identity_args;
TN_USE_RESULT TN_API tn_module *tn_nn_identity_at(const char *file, int line,
    const tn_nn_identity_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_identity(tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_identity(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_identity, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_identity_self {
    tn_module base;
    tn_nn_identity_args o;
} tn_nn_identity_self;
typedef struct tn_nn_identity_forward_args {
    tn_tensor *input;
} tn_nn_identity_forward_args;
#define tn_nn_identity_forward(module, input) tn_forward(module, input)

/* Merges the dimensions start_dim..end_dim into one.
 *   schema  Flatten(int start_dim=1, int end_dim=-1, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, *) -> (N, product)
 *   example tn_nn_flatten() */
typedef struct tn_nn_flatten_args {
    int64_t start_dim, end_dim;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_flatten_args;
TN_USE_RESULT TN_API tn_module *tn_nn_flatten_at(const char *file, int line,
    const tn_nn_flatten_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_flatten(int64_t start_dim, int64_t end_dim, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_flatten(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_flatten, .start_dim = 1, \
    .end_dim = -1, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_flatten_self {
    tn_module base;
    tn_nn_flatten_args o;
} tn_nn_flatten_self;
typedef struct tn_nn_flatten_forward_args {
    tn_tensor *input;
} tn_nn_flatten_forward_args;
#define tn_nn_flatten_forward(module, input) tn_forward(module, input)

/* --- losses as modules: one operator call on input and target --- */

/* -log softmax(input)[target], the mean over the batch.
 *   schema  CrossEntropyLoss(Tensor? weight=None, int ignore_index=-100, Reduction
 *           reduction=mean, float label_smoothing=0.0, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, C, *), target (N, *) class numbers or (N, C, *) probabilities -> () or (N,
 *           *)
 *   example tn_nn_cross_entropy_loss() */
typedef struct tn_nn_cross_entropy_loss_args {
    tn_tensor *weight;
    int64_t ignore_index;
    tn_reduction reduction;
    double label_smoothing;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_cross_entropy_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_cross_entropy_loss_at(const char *file, int line,
    const tn_nn_cross_entropy_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_cross_entropy_loss(tn_tensor *weight, int64_t ignore_index,
    tn_reduction reduction, double label_smoothing, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_cross_entropy_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_cross_entropy_loss, \
    .ignore_index = -100, .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_cross_entropy_loss_self {
    tn_module base;
    tn_nn_cross_entropy_loss_args o;
    tn_tensor *weight;
} tn_nn_cross_entropy_loss_self;

typedef struct tn_nn_cross_entropy_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_cross_entropy_loss_forward_args;
TN_API tn_tensor *tn_nn_cross_entropy_loss_forward_at(const char *file, int line,
    const tn_nn_cross_entropy_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_cross_entropy_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_cross_entropy_loss_forward(module_, input_, ...) \
    TNI_CALL(tn_nn_cross_entropy_loss_forward, .module = module_, .input = input_, \
    .target = __VA_ARGS__)
#endif

/* -input[target], of log-probabilities.
 *   schema  NLLLoss(Tensor? weight=None, int ignore_index=-100, Reduction reduction=mean,
 *           ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, *), target (N, *) -> () or (N, *)
 *   example tn_nn_nll_loss() */
typedef struct tn_nn_nll_loss_args {
    tn_tensor *weight;
    int64_t ignore_index;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_nll_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_nll_loss_at(const char *file, int line,
    const tn_nn_nll_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_nll_loss(tn_tensor *weight, int64_t ignore_index,
    tn_reduction reduction, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_nll_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_nll_loss, .ignore_index = -100, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_nll_loss_self {
    tn_module base;
    tn_nn_nll_loss_args o;
    tn_tensor *weight;
} tn_nn_nll_loss_self;

typedef struct tn_nn_nll_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_nll_loss_forward_args;
TN_API tn_tensor *tn_nn_nll_loss_forward_at(const char *file, int line,
    const tn_nn_nll_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_nll_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_nll_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_nll_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* (input - target)^2.
 *   schema  MSELoss(Reduction reduction=mean, ScalarType? dtype=None, Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_mse_loss() */
typedef struct tn_nn_mse_loss_args {
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_mse_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_mse_loss_at(const char *file, int line,
    const tn_nn_mse_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_mse_loss(tn_reduction reduction, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_mse_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_mse_loss, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_mse_loss_self {
    tn_module base;
    tn_nn_mse_loss_args o;
} tn_nn_mse_loss_self;

typedef struct tn_nn_mse_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_mse_loss_forward_args;
TN_API tn_tensor *tn_nn_mse_loss_forward_at(const char *file, int line,
    const tn_nn_mse_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_mse_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_mse_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_mse_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* |input - target|.
 *   schema  L1Loss(Reduction reduction=mean, ScalarType? dtype=None, Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_l1_loss() */
typedef struct tn_nn_l1_loss_args {
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_l1_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_l1_loss_at(const char *file, int line,
    const tn_nn_l1_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_l1_loss(tn_reduction reduction, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_l1_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_l1_loss, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_l1_loss_self {
    tn_module base;
    tn_nn_l1_loss_args o;
} tn_nn_l1_loss_self;

typedef struct tn_nn_l1_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_l1_loss_forward_args;
TN_API tn_tensor *tn_nn_l1_loss_forward_at(const char *file, int line,
    const tn_nn_l1_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_l1_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_l1_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_l1_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target.
 *   schema  SmoothL1Loss(Reduction reduction=mean, float beta=1.0, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_smooth_l1_loss() */
typedef struct tn_nn_smooth_l1_loss_args {
    tn_reduction reduction;
    double beta;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_smooth_l1_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_smooth_l1_loss_at(const char *file, int line,
    const tn_nn_smooth_l1_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_smooth_l1_loss(tn_reduction reduction, double beta,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_smooth_l1_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_smooth_l1_loss, \
    .reduction = TN_REDUCTION_MEAN, .beta = 1, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_smooth_l1_loss_self {
    tn_module base;
    tn_nn_smooth_l1_loss_args o;
} tn_nn_smooth_l1_loss_self;

typedef struct tn_nn_smooth_l1_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_smooth_l1_loss_forward_args;
TN_API tn_tensor *tn_nn_smooth_l1_loss_forward_at(const char *file, int line,
    const tn_nn_smooth_l1_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_smooth_l1_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_smooth_l1_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_smooth_l1_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), with d = input - target.
 *   schema  HuberLoss(Reduction reduction=mean, float delta=1.0, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_huber_loss() */
typedef struct tn_nn_huber_loss_args {
    tn_reduction reduction;
    double delta;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_huber_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_huber_loss_at(const char *file, int line,
    const tn_nn_huber_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_huber_loss(tn_reduction reduction, double delta,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_huber_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_huber_loss, \
    .reduction = TN_REDUCTION_MEAN, .delta = 1, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_huber_loss_self {
    tn_module base;
    tn_nn_huber_loss_args o;
} tn_nn_huber_loss_self;

typedef struct tn_nn_huber_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_huber_loss_forward_args;
TN_API tn_tensor *tn_nn_huber_loss_forward_at(const char *file, int line,
    const tn_nn_huber_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_huber_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_huber_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_huber_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* target (log target - input), where input holds logarithms, and target too with log_target.
 *   schema  KLDivLoss(BatchReduction reduction=mean, bool log_target=False, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_kl_div_loss(.reduction = TN_BATCH_REDUCTION_BATCHMEAN) */
typedef struct tn_nn_kl_div_loss_args {
    tn_batch_reduction reduction;
    bool log_target;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_kl_div_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_kl_div_loss_at(const char *file, int line,
    const tn_nn_kl_div_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_kl_div_loss(tn_batch_reduction reduction, bool log_target,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_kl_div_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_kl_div_loss, \
    .reduction = TN_BATCH_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_kl_div_loss_self {
    tn_module base;
    tn_nn_kl_div_loss_args o;
} tn_nn_kl_div_loss_self;

typedef struct tn_nn_kl_div_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_kl_div_loss_forward_args;
TN_API tn_tensor *tn_nn_kl_div_loss_forward_at(const char *file, int line,
    const tn_nn_kl_div_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_kl_div_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_kl_div_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_kl_div_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* -(t log x + (1 - t) log(1 - x)), of probabilities.
 *   schema  BCELoss(Tensor? weight=None, Reduction reduction=mean, ScalarType? dtype=None,
 *           Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_bce_loss() */
typedef struct tn_nn_bce_loss_args {
    tn_tensor *weight;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_bce_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_bce_loss_at(const char *file, int line,
    const tn_nn_bce_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_bce_loss(tn_tensor *weight, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_bce_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_bce_loss, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_bce_loss_self {
    tn_module base;
    tn_nn_bce_loss_args o;
    tn_tensor *weight;
} tn_nn_bce_loss_self;

typedef struct tn_nn_bce_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_bce_loss_forward_args;
TN_API tn_tensor *tn_nn_bce_loss_forward_at(const char *file, int line,
    const tn_nn_bce_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_bce_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_bce_loss_forward(module_, input_, ...) TNI_CALL(tn_nn_bce_loss_forward, \
    .module = module_, .input = input_, .target = __VA_ARGS__)
#endif

/* BCELoss of sigmoid(input), without overflow.
 *   schema  BCEWithLogitsLoss(Tensor? weight=None, Reduction reduction=mean, Tensor?
 *           pos_weight=None, ScalarType? dtype=None, Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_bce_with_logits_loss() */
typedef struct tn_nn_bce_with_logits_loss_args {
    tn_tensor *weight;
    tn_reduction reduction;
    tn_tensor *pos_weight;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_bce_with_logits_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_bce_with_logits_loss_at(const char *file, int line,
    const tn_nn_bce_with_logits_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_bce_with_logits_loss(tn_tensor *weight,
    tn_reduction reduction, tn_tensor *pos_weight, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_bce_with_logits_loss(...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_bce_with_logits_loss, .reduction = TN_REDUCTION_MEAN, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_bce_with_logits_loss_self {
    tn_module base;
    tn_nn_bce_with_logits_loss_args o;
    tn_tensor *weight;
    tn_tensor *pos_weight;
} tn_nn_bce_with_logits_loss_self;

typedef struct tn_nn_bce_with_logits_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_bce_with_logits_loss_forward_args;
TN_API tn_tensor *tn_nn_bce_with_logits_loss_forward_at(const char *file, int line,
    const tn_nn_bce_with_logits_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_bce_with_logits_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_bce_with_logits_loss_forward(module_, input_, ...) \
    TNI_CALL(tn_nn_bce_with_logits_loss_forward, .module = module_, .input = input_, \
    .target = __VA_ARGS__)
#endif

/* max(0, -target (input1 - input2) + margin), with target 1 if input1 should rank higher, else -1.

 *   schema  MarginRankingLoss(float margin=0.0, Reduction reduction=mean, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input1, input2, target (*) -> () or (*)
 *   example tn_nn_margin_ranking_loss(.margin = 0.5) */
typedef struct tn_nn_margin_ranking_loss_args {
    double margin;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_margin_ranking_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_margin_ranking_loss_at(const char *file, int line,
    const tn_nn_margin_ranking_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_margin_ranking_loss(double margin, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_margin_ranking_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_margin_ranking_loss, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_margin_ranking_loss_self {
    tn_module base;
    tn_nn_margin_ranking_loss_args o;
} tn_nn_margin_ranking_loss_self;

typedef struct tn_nn_margin_ranking_loss_forward_args {
    tn_module *module;
    tn_tensor *input1, *input2, *target;
    TNI_NAMED_OPTIONS
} tn_nn_margin_ranking_loss_forward_args;
TN_API tn_tensor *tn_nn_margin_ranking_loss_forward_at(const char *file, int line,
    const tn_nn_margin_ranking_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_margin_ranking_loss_forward(tn_module *module, tn_tensor *input1,
    tn_tensor *input2, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_margin_ranking_loss_forward(module_, input1_, input2_, ...) \
    TNI_CALL(tn_nn_margin_ranking_loss_forward, .module = module_, .input1 = input1_, \
    .input2 = input2_, .target = __VA_ARGS__)
#endif

/* input where target is 1, max(0, margin - input) where it is -1.
 *   schema  HingeEmbeddingLoss(float margin=1.0, Reduction reduction=mean, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_hinge_embedding_loss() */
typedef struct tn_nn_hinge_embedding_loss_args {
    double margin;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_hinge_embedding_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_hinge_embedding_loss_at(const char *file, int line,
    const tn_nn_hinge_embedding_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_hinge_embedding_loss(double margin, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_hinge_embedding_loss(...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_hinge_embedding_loss, .margin = 1, .reduction = TN_REDUCTION_MEAN, \
    .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_hinge_embedding_loss_self {
    tn_module base;
    tn_nn_hinge_embedding_loss_args o;
} tn_nn_hinge_embedding_loss_self;

typedef struct tn_nn_hinge_embedding_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_hinge_embedding_loss_forward_args;
TN_API tn_tensor *tn_nn_hinge_embedding_loss_forward_at(const char *file, int line,
    const tn_nn_hinge_embedding_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_hinge_embedding_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_hinge_embedding_loss_forward(module_, input_, ...) \
    TNI_CALL(tn_nn_hinge_embedding_loss_forward, .module = module_, .input = input_, \
    .target = __VA_ARGS__)
#endif

/* log(1 + exp(-target input)), with target 1 or -1.
 *   schema  SoftMarginLoss(Reduction reduction=mean, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input, target (*) -> () or (*)
 *   example tn_nn_soft_margin_loss() */
typedef struct tn_nn_soft_margin_loss_args {
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_soft_margin_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_soft_margin_loss_at(const char *file, int line,
    const tn_nn_soft_margin_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_soft_margin_loss(tn_reduction reduction, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_soft_margin_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_soft_margin_loss, \
    .reduction = TN_REDUCTION_MEAN, .tni_last = 0, __VA_ARGS__))
#endif
typedef struct tn_nn_soft_margin_loss_self {
    tn_module base;
    tn_nn_soft_margin_loss_args o;
} tn_nn_soft_margin_loss_self;

typedef struct tn_nn_soft_margin_loss_forward_args {
    tn_module *module;
    tn_tensor *input, *target;
    TNI_NAMED_OPTIONS
} tn_nn_soft_margin_loss_forward_args;
TN_API tn_tensor *tn_nn_soft_margin_loss_forward_at(const char *file, int line,
    const tn_nn_soft_margin_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_soft_margin_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_soft_margin_loss_forward(module_, input_, ...) \
    TNI_CALL(tn_nn_soft_margin_loss_forward, .module = module_, .input = input_, \
    .target = __VA_ARGS__)
#endif

/* 1 - c where target is 1, max(0, c - margin) where it is -1, with c the cosine of the angle.
 *   schema  CosineEmbeddingLoss(float margin=0.0, Reduction reduction=mean, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input1, input2 (N, D), target (N), or (D) and () -> () or (N)
 *   example tn_nn_cosine_embedding_loss() */
typedef struct tn_nn_cosine_embedding_loss_args {
    double margin;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_cosine_embedding_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_cosine_embedding_loss_at(const char *file, int line,
    const tn_nn_cosine_embedding_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_cosine_embedding_loss(double margin, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_cosine_embedding_loss(...) TNI_RESULT(tn_module, \
    TNI_CALL(tn_nn_cosine_embedding_loss, .reduction = TN_REDUCTION_MEAN, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_cosine_embedding_loss_self {
    tn_module base;
    tn_nn_cosine_embedding_loss_args o;
} tn_nn_cosine_embedding_loss_self;

typedef struct tn_nn_cosine_embedding_loss_forward_args {
    tn_module *module;
    tn_tensor *input1, *input2, *target;
    TNI_NAMED_OPTIONS
} tn_nn_cosine_embedding_loss_forward_args;
TN_API tn_tensor *tn_nn_cosine_embedding_loss_forward_at(const char *file, int line,
    const tn_nn_cosine_embedding_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_cosine_embedding_loss_forward(tn_module *module, tn_tensor *input1,
    tn_tensor *input2, tn_tensor *target);
#ifndef __cplusplus
#define tn_nn_cosine_embedding_loss_forward(module_, input1_, input2_, ...) \
    TNI_CALL(tn_nn_cosine_embedding_loss_forward, .module = module_, .input1 = input1_, \
    .input2 = input2_, .target = __VA_ARGS__)
#endif

/* max(0, margin + d(anchor, positive) - d(anchor, negative)), with d the p-norm of the difference.

 *   schema  TripletMarginLoss(float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False,
 *           Reduction reduction=mean, ScalarType? dtype=None, Device? device=None)
 *   shapes  anchor, positive, negative (*, D) -> () or (*)
 *   example tn_nn_triplet_margin_loss(.p = 1) */
typedef struct tn_nn_triplet_margin_loss_args {
    double margin, p, eps;
    bool swap;
    tn_reduction reduction;
    tn_dtype dtype;
    tn_device_id device;
    int32_t tni_last;
    TNI_NAMED_OPTIONS
} tn_nn_triplet_margin_loss_args;
TN_USE_RESULT TN_API tn_module *tn_nn_triplet_margin_loss_at(const char *file, int line,
    const tn_nn_triplet_margin_loss_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_triplet_margin_loss(double margin, double p, double eps,
    bool swap, tn_reduction reduction, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_triplet_margin_loss(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_triplet_margin_loss, \
    .margin = 1, .p = 2, .eps = 1e-06, .reduction = TN_REDUCTION_MEAN, .tni_last = 0, \
    __VA_ARGS__))
#endif
typedef struct tn_nn_triplet_margin_loss_self {
    tn_module base;
    tn_nn_triplet_margin_loss_args o;
} tn_nn_triplet_margin_loss_self;

typedef struct tn_nn_triplet_margin_loss_forward_args {
    tn_module *module;
    tn_tensor *anchor, *positive, *negative;
    TNI_NAMED_OPTIONS
} tn_nn_triplet_margin_loss_forward_args;
TN_API tn_tensor *tn_nn_triplet_margin_loss_forward_at(const char *file, int line,
    const tn_nn_triplet_margin_loss_forward_args *args);
TN_API tn_tensor *tnp_nn_triplet_margin_loss_forward(tn_module *module, tn_tensor *anchor,
    tn_tensor *positive, tn_tensor *negative);
#ifndef __cplusplus
#define tn_nn_triplet_margin_loss_forward(module_, anchor_, positive_, ...) \
    TNI_CALL(tn_nn_triplet_margin_loss_forward, .module = module_, .anchor = anchor_, \
    .positive = positive_, .negative = __VA_ARGS__)
#endif

/* --- normalisation: over the batch, over the last dimensions --- */

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel.
 *   schema  BatchNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=True, bool track_running_stats=True, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C) or (N, C, L) -> the same
 *   example tn_nn_batch_norm1d(64) */
typedef struct tn_nn_batch_norm1d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_batch_norm1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_batch_norm1d_at(const char *file, int line,
    const tn_nn_batch_norm1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_batch_norm1d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_batch_norm1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_batch_norm1d, .eps = 1e-05, \
    .momentum = TN_SOME(0.1), .affine = true, .track_running_stats = true, .bias = true, \
    .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_batch_norm1d_self {
    tn_module base;
    tn_nn_batch_norm1d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_batch_norm1d_self;
typedef struct tn_nn_batch_norm1d_forward_args {
    tn_tensor *input;
} tn_nn_batch_norm1d_forward_args;
#define tn_nn_batch_norm1d_forward(module, input) tn_forward(module, input)

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel, over a batch of images.
 *   schema  BatchNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=True, bool track_running_stats=True, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) -> the same
 *   example tn_nn_batch_norm2d(64, .momentum = TN_SOME(0.01)) */
typedef struct tn_nn_batch_norm2d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_batch_norm2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_batch_norm2d_at(const char *file, int line,
    const tn_nn_batch_norm2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_batch_norm2d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_batch_norm2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_batch_norm2d, .eps = 1e-05, \
    .momentum = TN_SOME(0.1), .affine = true, .track_running_stats = true, .bias = true, \
    .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_batch_norm2d_self {
    tn_module base;
    tn_nn_batch_norm2d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_batch_norm2d_self;
typedef struct tn_nn_batch_norm2d_forward_args {
    tn_tensor *input;
} tn_nn_batch_norm2d_forward_args;
#define tn_nn_batch_norm2d_forward(module, input) tn_forward(module, input)

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel, over a batch of volumes.
 *   schema  BatchNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=True, bool track_running_stats=True, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C, D, H, W) -> the same
 *   example tn_nn_batch_norm3d(64) */
typedef struct tn_nn_batch_norm3d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_batch_norm3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_batch_norm3d_at(const char *file, int line,
    const tn_nn_batch_norm3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_batch_norm3d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_batch_norm3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_batch_norm3d, .eps = 1e-05, \
    .momentum = TN_SOME(0.1), .affine = true, .track_running_stats = true, .bias = true, \
    .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_batch_norm3d_self {
    tn_module base;
    tn_nn_batch_norm3d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_batch_norm3d_self;
typedef struct tn_nn_batch_norm3d_forward_args {
    tn_tensor *input;
} tn_nn_batch_norm3d_forward_args;
#define tn_nn_batch_norm3d_forward(module, input) tn_forward(module, input)

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of lines.
 *   schema  InstanceNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=False, bool track_running_stats=False, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C, L) or (C, L) -> the same
 *   example tn_nn_instance_norm1d(64) */
typedef struct tn_nn_instance_norm1d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_instance_norm1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_instance_norm1d_at(const char *file, int line,
    const tn_nn_instance_norm1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_instance_norm1d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_instance_norm1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_instance_norm1d, \
    .eps = 1e-05, .momentum = TN_SOME(0.1), .bias = true, .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_instance_norm1d_self {
    tn_module base;
    tn_nn_instance_norm1d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_instance_norm1d_self;
typedef struct tn_nn_instance_norm1d_forward_args {
    tn_tensor *input;
} tn_nn_instance_norm1d_forward_args;
#define tn_nn_instance_norm1d_forward(module, input) tn_forward(module, input)

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of images.
 *   schema  InstanceNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=False, bool track_running_stats=False, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C, H, W) or (C, H, W) -> the same
 *   example tn_nn_instance_norm2d(64, .affine = true) */
typedef struct tn_nn_instance_norm2d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_instance_norm2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_instance_norm2d_at(const char *file, int line,
    const tn_nn_instance_norm2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_instance_norm2d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_instance_norm2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_instance_norm2d, \
    .eps = 1e-05, .momentum = TN_SOME(0.1), .bias = true, .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_instance_norm2d_self {
    tn_module base;
    tn_nn_instance_norm2d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_instance_norm2d_self;
typedef struct tn_nn_instance_norm2d_forward_args {
    tn_tensor *input;
} tn_nn_instance_norm2d_forward_args;
#define tn_nn_instance_norm2d_forward(module, input) tn_forward(module, input)

/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of volumes.
 *   schema  InstanceNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool
 *           affine=False, bool track_running_stats=False, *, bool bias=True, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (N, C, D, H, W) or (C, D, H, W) -> the same
 *   example tn_nn_instance_norm3d(64) */
typedef struct tn_nn_instance_norm3d_args {
    double eps;
    tn_maybe momentum;
    bool affine, track_running_stats, bias;
    tn_dtype dtype;
    tn_device_id device;
    int64_t num_features;
    TNI_NAMED_OPTIONS
} tn_nn_instance_norm3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_instance_norm3d_at(const char *file, int line,
    const tn_nn_instance_norm3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_instance_norm3d(int64_t num_features, double eps,
    tn_maybe momentum, bool affine, bool track_running_stats, bool bias, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_instance_norm3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_instance_norm3d, \
    .eps = 1e-05, .momentum = TN_SOME(0.1), .bias = true, .num_features = __VA_ARGS__))
#endif
typedef struct tn_nn_instance_norm3d_self {
    tn_module base;
    tn_nn_instance_norm3d_args o;
    tn_tensor *weight;
    tn_tensor *bias;
    tn_tensor *running_mean;
    tn_tensor *running_var;
    tn_tensor *num_batches_tracked;
} tn_nn_instance_norm3d_self;
typedef struct tn_nn_instance_norm3d_forward_args {
    tn_tensor *input;
} tn_nn_instance_norm3d_forward_args;
#define tn_nn_instance_norm3d_forward(module, input) tn_forward(module, input)

/* Normalises each sample over its last dimensions.
 *   schema  LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True,
 *           bool bias=True, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, normalized_shape) -> the same
 *   example tn_nn_layer_norm(TN_DIMS(64)) */
typedef struct tn_nn_layer_norm_args {
    double eps;
    bool elementwise_affine, bias;
    tn_dtype dtype;
    tn_device_id device;
    tn_ints normalized_shape;
    TNI_NAMED_OPTIONS
} tn_nn_layer_norm_args;
TN_USE_RESULT TN_API tn_module *tn_nn_layer_norm_at(const char *file, int line,
    const tn_nn_layer_norm_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_layer_norm(tn_ints normalized_shape, double eps,
    bool elementwise_affine, bool bias, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_layer_norm(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_layer_norm, .eps = 1e-05, \
    .elementwise_affine = true, .bias = true, .normalized_shape = __VA_ARGS__))
#endif
typedef struct tn_nn_layer_norm_self {
    tn_module base;
    tn_nn_layer_norm_args o;
    tn_tensor *weight;
    tn_tensor *bias;
} tn_nn_layer_norm_self;
typedef struct tn_nn_layer_norm_forward_args {
    tn_tensor *input;
} tn_nn_layer_norm_forward_args;
#define tn_nn_layer_norm_forward(module, input) tn_forward(module, input)

/* Divides by a power of the mean square of `size` channels around each.
 *   schema  LocalResponseNorm(int size, float alpha=0.0001, float beta=0.75, float k=1.0,
 *           ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, *) -> the same
 *   example tn_nn_local_response_norm(2) */
typedef struct tn_nn_local_response_norm_args {
    double alpha, beta, k;
    tn_dtype dtype;
    tn_device_id device;
    int64_t size;
    TNI_NAMED_OPTIONS
} tn_nn_local_response_norm_args;
TN_USE_RESULT TN_API tn_module *tn_nn_local_response_norm_at(const char *file, int line,
    const tn_nn_local_response_norm_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_local_response_norm(int64_t size, double alpha, double beta,
    double k, tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_local_response_norm(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_local_response_norm, \
    .alpha = 0.0001, .beta = 0.75, .k = 1, .size = __VA_ARGS__))
#endif
typedef struct tn_nn_local_response_norm_self {
    tn_module base;
    tn_nn_local_response_norm_args o;
} tn_nn_local_response_norm_self;
typedef struct tn_nn_local_response_norm_forward_args {
    tn_tensor *input;
} tn_nn_local_response_norm_forward_args;
#define tn_nn_local_response_norm_forward(module, input) tn_forward(module, input)

/* --- borders around lines, images and volumes --- */

/* Elements of value around the last dimension; one number stands for all sides, negative ones
 * leave elements out.
 *   schema  ConstantPad1d(int[2] padding, float value, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (*, L) -> (*, padding[0] + L + padding[1])
 *   example tn_nn_constant_pad1d(TN_DIMS(1), 2) */
typedef struct tn_nn_constant_pad1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    double value;
    TNI_NAMED_OPTIONS
} tn_nn_constant_pad1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_constant_pad1d_at(const char *file, int line,
    const tn_nn_constant_pad1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_constant_pad1d(tn_ints padding, double value,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_constant_pad1d(padding_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_constant_pad1d, \
    .padding = padding_, .value = __VA_ARGS__))
#endif
typedef struct tn_nn_constant_pad1d_self {
    tn_module base;
    tn_nn_constant_pad1d_args o;
} tn_nn_constant_pad1d_self;
typedef struct tn_nn_constant_pad1d_forward_args {
    tn_tensor *input;
} tn_nn_constant_pad1d_forward_args;
#define tn_nn_constant_pad1d_forward(module, input) tn_forward(module, input)

/* Elements of value around the last 2 dimensions; one number stands for all sides, negative ones
 * leave elements out.
 *   schema  ConstantPad2d(int[4] padding, float value, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])
 *   example tn_nn_constant_pad2d(TN_DIMS(1, 1, 2, 2), 2) */
typedef struct tn_nn_constant_pad2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    double value;
    TNI_NAMED_OPTIONS
} tn_nn_constant_pad2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_constant_pad2d_at(const char *file, int line,
    const tn_nn_constant_pad2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_constant_pad2d(tn_ints padding, double value,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_constant_pad2d(padding_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_constant_pad2d, \
    .padding = padding_, .value = __VA_ARGS__))
#endif
typedef struct tn_nn_constant_pad2d_self {
    tn_module base;
    tn_nn_constant_pad2d_args o;
} tn_nn_constant_pad2d_self;
typedef struct tn_nn_constant_pad2d_forward_args {
    tn_tensor *input;
} tn_nn_constant_pad2d_forward_args;
#define tn_nn_constant_pad2d_forward(module, input) tn_forward(module, input)

/* Elements of value around the last 3 dimensions; one number stands for all sides, negative ones
 * leave elements out.
 *   schema  ConstantPad3d(int[6] padding, float value, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] + W +
 *           padding[1])
 *   example tn_nn_constant_pad3d(TN_DIMS(1), 2) */
typedef struct tn_nn_constant_pad3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    double value;
    TNI_NAMED_OPTIONS
} tn_nn_constant_pad3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_constant_pad3d_at(const char *file, int line,
    const tn_nn_constant_pad3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_constant_pad3d(tn_ints padding, double value,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_constant_pad3d(padding_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_constant_pad3d, \
    .padding = padding_, .value = __VA_ARGS__))
#endif
typedef struct tn_nn_constant_pad3d_self {
    tn_module base;
    tn_nn_constant_pad3d_args o;
} tn_nn_constant_pad3d_self;
typedef struct tn_nn_constant_pad3d_forward_args {
    tn_tensor *input;
} tn_nn_constant_pad3d_forward_args;
#define tn_nn_constant_pad3d_forward(module, input) tn_forward(module, input)

/* Zeros around the last dimension; one number stands for all sides, negative ones leave elements
 * out.
 *   schema  ZeroPad1d(int[2] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, L) -> (*, padding[0] + L + padding[1])
 *   example tn_nn_zero_pad1d(TN_DIMS(1)) */
typedef struct tn_nn_zero_pad1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_zero_pad1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_zero_pad1d_at(const char *file, int line,
    const tn_nn_zero_pad1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_zero_pad1d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_zero_pad1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_zero_pad1d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_zero_pad1d_self {
    tn_module base;
    tn_nn_zero_pad1d_args o;
} tn_nn_zero_pad1d_self;
typedef struct tn_nn_zero_pad1d_forward_args {
    tn_tensor *input;
} tn_nn_zero_pad1d_forward_args;
#define tn_nn_zero_pad1d_forward(module, input) tn_forward(module, input)

/* Zeros around the last 2 dimensions; one number stands for all sides, negative ones leave
 * elements out.
 *   schema  ZeroPad2d(int[4] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])
 *   example tn_nn_zero_pad2d(TN_DIMS(1, 1, 2, 2)) */
typedef struct tn_nn_zero_pad2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_zero_pad2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_zero_pad2d_at(const char *file, int line,
    const tn_nn_zero_pad2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_zero_pad2d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_zero_pad2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_zero_pad2d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_zero_pad2d_self {
    tn_module base;
    tn_nn_zero_pad2d_args o;
} tn_nn_zero_pad2d_self;
typedef struct tn_nn_zero_pad2d_forward_args {
    tn_tensor *input;
} tn_nn_zero_pad2d_forward_args;
#define tn_nn_zero_pad2d_forward(module, input) tn_forward(module, input)

/* Zeros around the last 3 dimensions; one number stands for all sides, negative ones leave
 * elements out.
 *   schema  ZeroPad3d(int[6] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] + W +
 *           padding[1])
 *   example tn_nn_zero_pad3d(TN_DIMS(1)) */
typedef struct tn_nn_zero_pad3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_zero_pad3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_zero_pad3d_at(const char *file, int line,
    const tn_nn_zero_pad3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_zero_pad3d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_zero_pad3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_zero_pad3d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_zero_pad3d_self {
    tn_module base;
    tn_nn_zero_pad3d_args o;
} tn_nn_zero_pad3d_self;
typedef struct tn_nn_zero_pad3d_forward_args {
    tn_tensor *input;
} tn_nn_zero_pad3d_forward_args;
#define tn_nn_zero_pad3d_forward(module, input) tn_forward(module, input)

/* The elements of lines around them, mirrored at the first and last one; one number stands for all
 * sides, negative ones leave elements out.
 *   schema  ReflectionPad1d(int[2] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, L) -> (*, padding[0] + L + padding[1])
 *   example tn_nn_reflection_pad1d(TN_DIMS(1)) */
typedef struct tn_nn_reflection_pad1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_reflection_pad1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_reflection_pad1d_at(const char *file, int line,
    const tn_nn_reflection_pad1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_reflection_pad1d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_reflection_pad1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_reflection_pad1d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_reflection_pad1d_self {
    tn_module base;
    tn_nn_reflection_pad1d_args o;
} tn_nn_reflection_pad1d_self;
typedef struct tn_nn_reflection_pad1d_forward_args {
    tn_tensor *input;
} tn_nn_reflection_pad1d_forward_args;
#define tn_nn_reflection_pad1d_forward(module, input) tn_forward(module, input)

/* The elements of images around them, mirrored at the first and last one; one number stands for
 * all sides, negative ones leave elements out.
 *   schema  ReflectionPad2d(int[4] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])
 *   example tn_nn_reflection_pad2d(TN_DIMS(1, 1, 2, 2)) */
typedef struct tn_nn_reflection_pad2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_reflection_pad2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_reflection_pad2d_at(const char *file, int line,
    const tn_nn_reflection_pad2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_reflection_pad2d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_reflection_pad2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_reflection_pad2d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_reflection_pad2d_self {
    tn_module base;
    tn_nn_reflection_pad2d_args o;
} tn_nn_reflection_pad2d_self;
typedef struct tn_nn_reflection_pad2d_forward_args {
    tn_tensor *input;
} tn_nn_reflection_pad2d_forward_args;
#define tn_nn_reflection_pad2d_forward(module, input) tn_forward(module, input)

/* The elements of volumes around them, mirrored at the first and last one; one number stands for
 * all sides, negative ones leave elements out.
 *   schema  ReflectionPad3d(int[6] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] + W +
 *           padding[1])
 *   example tn_nn_reflection_pad3d(TN_DIMS(1)) */
typedef struct tn_nn_reflection_pad3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_reflection_pad3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_reflection_pad3d_at(const char *file, int line,
    const tn_nn_reflection_pad3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_reflection_pad3d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_reflection_pad3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_reflection_pad3d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_reflection_pad3d_self {
    tn_module base;
    tn_nn_reflection_pad3d_args o;
} tn_nn_reflection_pad3d_self;
typedef struct tn_nn_reflection_pad3d_forward_args {
    tn_tensor *input;
} tn_nn_reflection_pad3d_forward_args;
#define tn_nn_reflection_pad3d_forward(module, input) tn_forward(module, input)

/* The first and last elements of lines repeated around them; one number stands for all sides,
 * negative ones leave elements out.
 *   schema  ReplicationPad1d(int[2] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, L) -> (*, padding[0] + L + padding[1])
 *   example tn_nn_replication_pad1d(TN_DIMS(1)) */
typedef struct tn_nn_replication_pad1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_replication_pad1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_replication_pad1d_at(const char *file, int line,
    const tn_nn_replication_pad1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_replication_pad1d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_replication_pad1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_replication_pad1d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_replication_pad1d_self {
    tn_module base;
    tn_nn_replication_pad1d_args o;
} tn_nn_replication_pad1d_self;
typedef struct tn_nn_replication_pad1d_forward_args {
    tn_tensor *input;
} tn_nn_replication_pad1d_forward_args;
#define tn_nn_replication_pad1d_forward(module, input) tn_forward(module, input)

/* The first and last elements of images repeated around them; one number stands for all sides,
 * negative ones leave elements out.
 *   schema  ReplicationPad2d(int[4] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])
 *   example tn_nn_replication_pad2d(TN_DIMS(1, 1, 2, 2)) */
typedef struct tn_nn_replication_pad2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_replication_pad2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_replication_pad2d_at(const char *file, int line,
    const tn_nn_replication_pad2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_replication_pad2d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_replication_pad2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_replication_pad2d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_replication_pad2d_self {
    tn_module base;
    tn_nn_replication_pad2d_args o;
} tn_nn_replication_pad2d_self;
typedef struct tn_nn_replication_pad2d_forward_args {
    tn_tensor *input;
} tn_nn_replication_pad2d_forward_args;
#define tn_nn_replication_pad2d_forward(module, input) tn_forward(module, input)

/* The first and last elements of volumes repeated around them; one number stands for all sides,
 * negative ones leave elements out.
 *   schema  ReplicationPad3d(int[6] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] + W +
 *           padding[1])
 *   example tn_nn_replication_pad3d(TN_DIMS(1)) */
typedef struct tn_nn_replication_pad3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_replication_pad3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_replication_pad3d_at(const char *file, int line,
    const tn_nn_replication_pad3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_replication_pad3d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_replication_pad3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_replication_pad3d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_replication_pad3d_self {
    tn_module base;
    tn_nn_replication_pad3d_args o;
} tn_nn_replication_pad3d_self;
typedef struct tn_nn_replication_pad3d_forward_args {
    tn_tensor *input;
} tn_nn_replication_pad3d_forward_args;
#define tn_nn_replication_pad3d_forward(module, input) tn_forward(module, input)

/* The elements of lines around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out.
 *   schema  CircularPad1d(int[2] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, L) -> (*, padding[0] + L + padding[1])
 *   example tn_nn_circular_pad1d(TN_DIMS(1)) */
typedef struct tn_nn_circular_pad1d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_circular_pad1d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_circular_pad1d_at(const char *file, int line,
    const tn_nn_circular_pad1d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_circular_pad1d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_circular_pad1d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_circular_pad1d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_circular_pad1d_self {
    tn_module base;
    tn_nn_circular_pad1d_args o;
} tn_nn_circular_pad1d_self;
typedef struct tn_nn_circular_pad1d_forward_args {
    tn_tensor *input;
} tn_nn_circular_pad1d_forward_args;
#define tn_nn_circular_pad1d_forward(module, input) tn_forward(module, input)

/* The elements of images around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out.
 *   schema  CircularPad2d(int[4] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])
 *   example tn_nn_circular_pad2d(TN_DIMS(1, 1, 2, 2)) */
typedef struct tn_nn_circular_pad2d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_circular_pad2d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_circular_pad2d_at(const char *file, int line,
    const tn_nn_circular_pad2d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_circular_pad2d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_circular_pad2d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_circular_pad2d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_circular_pad2d_self {
    tn_module base;
    tn_nn_circular_pad2d_args o;
} tn_nn_circular_pad2d_self;
typedef struct tn_nn_circular_pad2d_forward_args {
    tn_tensor *input;
} tn_nn_circular_pad2d_forward_args;
#define tn_nn_circular_pad2d_forward(module, input) tn_forward(module, input)

/* The elements of volumes around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out.
 *   schema  CircularPad3d(int[6] padding, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] + W +
 *           padding[1])
 *   example tn_nn_circular_pad3d(TN_DIMS(1)) */
typedef struct tn_nn_circular_pad3d_args {
    tn_dtype dtype;
    tn_device_id device;
    tn_ints padding;
    TNI_NAMED_OPTIONS
} tn_nn_circular_pad3d_args;
TN_USE_RESULT TN_API tn_module *tn_nn_circular_pad3d_at(const char *file, int line,
    const tn_nn_circular_pad3d_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_circular_pad3d(tn_ints padding, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_circular_pad3d(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_circular_pad3d, \
    .padding = __VA_ARGS__))
#endif
typedef struct tn_nn_circular_pad3d_self {
    tn_module base;
    tn_nn_circular_pad3d_args o;
} tn_nn_circular_pad3d_self;
typedef struct tn_nn_circular_pad3d_forward_args {
    tn_tensor *input;
} tn_nn_circular_pad3d_forward_args;
#define tn_nn_circular_pad3d_forward(module, input) tn_forward(module, input)

/* --- LSTM --- */

/* Long short-term memory, num_layers deep.
 *   schema  LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool
 *           batch_first=False, float dropout=0.0, bool bidirectional=False, ScalarType?
 *           dtype=None, Device? device=None)
 *   shapes  input (T, N, input_size), or (N, T, input_size) with batch_first; h, c (layers *
 *           directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n, c_n
 *   example tn_nn_lstm(10, 20, .num_layers = 2) */
typedef struct tn_nn_lstm_args {
    int64_t num_layers;
    bool bias, batch_first;
    double dropout;
    bool bidirectional;
    tn_dtype dtype;
    tn_device_id device;
    int64_t input_size, hidden_size;
    TNI_NAMED_OPTIONS
} tn_nn_lstm_args;
TN_USE_RESULT TN_API tn_module *tn_nn_lstm_at(const char *file, int line,
    const tn_nn_lstm_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_lstm(int64_t input_size, int64_t hidden_size,
    int64_t num_layers, bool bias, bool batch_first, double dropout, bool bidirectional,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_lstm(input_size_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_lstm, .num_layers = 1, \
    .bias = true, .input_size = input_size_, .hidden_size = __VA_ARGS__))
#endif
typedef struct tn_nn_lstm_self {
    tn_module base;
    tn_nn_lstm_args o;
} tn_nn_lstm_self;

typedef struct tn_output_h_n_c_n {
    tn_tensor *output, *h_n, *c_n;
} tn_output_h_n_c_n;
typedef struct tn_nn_lstm_forward_args {
    tn_tensor *h, *c;
    tn_module *module;
    tn_tensor *input;
    TNI_NAMED_OPTIONS
} tn_nn_lstm_forward_args;
TN_API tn_output_h_n_c_n tn_nn_lstm_forward_at(const char *file, int line,
    const tn_nn_lstm_forward_args *args);
TN_API tn_output_h_n_c_n tnp_nn_lstm_forward(tn_module *module, tn_tensor *input, tn_tensor *h,
    tn_tensor *c);
#ifndef __cplusplus
#define tn_nn_lstm_forward(module_, ...) TNI_CALL(tn_nn_lstm_forward, .module = module_, \
    .input = __VA_ARGS__)
#endif

/* --- modules that move elements: pixels and channels, one dimension as several --- */

/* Images enlarged by r = upscale_factor: r * r channels become the pixels in the place of one.
 *   schema  PixelShuffle(int upscale_factor, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, C * r * r, H, W) -> (*, C, H * r, W * r)
 *   example tn_nn_pixel_shuffle(2) */
typedef struct tn_nn_pixel_shuffle_args {
    tn_dtype dtype;
    tn_device_id device;
    int64_t upscale_factor;
    TNI_NAMED_OPTIONS
} tn_nn_pixel_shuffle_args;
TN_USE_RESULT TN_API tn_module *tn_nn_pixel_shuffle_at(const char *file, int line,
    const tn_nn_pixel_shuffle_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_pixel_shuffle(int64_t upscale_factor, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_pixel_shuffle(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_pixel_shuffle, \
    .upscale_factor = __VA_ARGS__))
#endif
typedef struct tn_nn_pixel_shuffle_self {
    tn_module base;
    tn_nn_pixel_shuffle_args o;
} tn_nn_pixel_shuffle_self;
typedef struct tn_nn_pixel_shuffle_forward_args {
    tn_tensor *input;
} tn_nn_pixel_shuffle_forward_args;
#define tn_nn_pixel_shuffle_forward(module, input) tn_forward(module, input)

/* Images reduced by r = downscale_factor: their r x r pixels become channels.
 *   schema  PixelUnshuffle(int downscale_factor, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (*, C, H * r, W * r) -> (*, C * r * r, H, W)
 *   example tn_nn_pixel_unshuffle(2) */
typedef struct tn_nn_pixel_unshuffle_args {
    tn_dtype dtype;
    tn_device_id device;
    int64_t downscale_factor;
    TNI_NAMED_OPTIONS
} tn_nn_pixel_unshuffle_args;
TN_USE_RESULT TN_API tn_module *tn_nn_pixel_unshuffle_at(const char *file, int line,
    const tn_nn_pixel_unshuffle_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_pixel_unshuffle(int64_t downscale_factor, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_pixel_unshuffle(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_pixel_unshuffle, \
    .downscale_factor = __VA_ARGS__))
#endif
typedef struct tn_nn_pixel_unshuffle_self {
    tn_module base;
    tn_nn_pixel_unshuffle_args o;
} tn_nn_pixel_unshuffle_self;
typedef struct tn_nn_pixel_unshuffle_forward_args {
    tn_tensor *input;
} tn_nn_pixel_unshuffle_forward_args;
#define tn_nn_pixel_unshuffle_forward(module, input) tn_forward(module, input)

/* The channels in another order: the first of each group, then the second of each, and so on.
 *   schema  ChannelShuffle(int groups, ScalarType? dtype=None, Device? device=None)
 *   shapes  input (N, C, *) -> (N, C, *)
 *   example tn_nn_channel_shuffle(2) */
typedef struct tn_nn_channel_shuffle_args {
    tn_dtype dtype;
    tn_device_id device;
    int64_t groups;
    TNI_NAMED_OPTIONS
} tn_nn_channel_shuffle_args;
TN_USE_RESULT TN_API tn_module *tn_nn_channel_shuffle_at(const char *file, int line,
    const tn_nn_channel_shuffle_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_channel_shuffle(int64_t groups, tn_dtype dtype,
    tn_device_id device);
#ifndef __cplusplus
#define tn_nn_channel_shuffle(...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_channel_shuffle, \
    .groups = __VA_ARGS__))
#endif
typedef struct tn_nn_channel_shuffle_self {
    tn_module base;
    tn_nn_channel_shuffle_args o;
} tn_nn_channel_shuffle_self;
typedef struct tn_nn_channel_shuffle_forward_args {
    tn_tensor *input;
} tn_nn_channel_shuffle_forward_args;
#define tn_nn_channel_shuffle_forward(module, input) tn_forward(module, input)

/* One dimension as several, of the given sizes; one of them may be -1.
 *   schema  Unflatten(int dim, int[] unflattened_size, ScalarType? dtype=None, Device?
 *           device=None)
 *   shapes  input (N, a * b, *) -> (N, a, b, *)
 *   example tn_nn_unflatten(1, TN_DIMS(2, 5)) */
typedef struct tn_nn_unflatten_args {
    tn_dtype dtype;
    tn_device_id device;
    int64_t dim;
    tn_ints unflattened_size;
    TNI_NAMED_OPTIONS
} tn_nn_unflatten_args;
TN_USE_RESULT TN_API tn_module *tn_nn_unflatten_at(const char *file, int line,
    const tn_nn_unflatten_args *args);
TN_USE_RESULT TN_API tn_module *tnp_nn_unflatten(int64_t dim, tn_ints unflattened_size,
    tn_dtype dtype, tn_device_id device);
#ifndef __cplusplus
#define tn_nn_unflatten(dim_, ...) TNI_RESULT(tn_module, TNI_CALL(tn_nn_unflatten, .dim = dim_, \
    .unflattened_size = __VA_ARGS__))
#endif
typedef struct tn_nn_unflatten_self {
    tn_module base;
    tn_nn_unflatten_args o;
} tn_nn_unflatten_self;
typedef struct tn_nn_unflatten_forward_args {
    tn_tensor *input;
} tn_nn_unflatten_forward_args;
#define tn_nn_unflatten_forward(module, input) tn_forward(module, input)

/* --- Adam (Kingma, Ba, 2015) and AdamW (Loshchilov, Hutter, 2019), as torch.optim --- */

/* m = lerp(m, g, 1 - beta1); v = beta2 v + (1 - beta2) g^2; p -= lr / (1 - beta1^t) * m / (sqrt(v)
 * / sqrt(1 - beta2^t) + eps); weight_decay is added to g. amsgrad: the largest v so far.
 *   schema  Adam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08,
 *           float weight_decay=0.0, bool amsgrad=False, *, bool maximize=False)
 *   example tn_optim_adam(tn_parameters(net), .lr = 1e-3) */
typedef struct tn_optim_adam_args {
    double lr;
    tn_floats betas;
    double eps, weight_decay;
    bool amsgrad, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_adam_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_adam_at(const char *file, int line,
    const tn_optim_adam_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_adam(tn_tensors params, double lr, tn_floats betas,
    double eps, double weight_decay, bool amsgrad, bool maximize);
#ifndef __cplusplus
#define tn_optim_adam(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_adam, .lr = 0.001, \
    .betas = TN_FLOATS(0.9, 0.999), .eps = 1e-08, .params = __VA_ARGS__))
#endif

/* Adam, with the weights decayed by themselves: p *= 1 - lr * weight_decay.
 *   schema  AdamW(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08,
 *           float weight_decay=0.01, bool amsgrad=False, *, bool maximize=False)
 *   example tn_optim_adamw(tn_parameters(net), .lr = 1e-3, .weight_decay = 0.1) */
typedef struct tn_optim_adamw_args {
    double lr;
    tn_floats betas;
    double eps, weight_decay;
    bool amsgrad, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_adamw_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_adamw_at(const char *file, int line,
    const tn_optim_adamw_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_adamw(tn_tensors params, double lr, tn_floats betas,
    double eps, double weight_decay, bool amsgrad, bool maximize);
#ifndef __cplusplus
#define tn_optim_adamw(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_adamw, .lr = 0.001, \
    .betas = TN_FLOATS(0.9, 0.999), .eps = 1e-08, .weight_decay = 0.01, .params = __VA_ARGS__))
#endif

/* --- ASGD, stochastic gradient descent whose parameters are averaged (B --- */

/* g += weight_decay p; p = (1 - lambd eta) p - eta g; ax += mu (p - ax); then eta = lr / (1 + lambd
 * lr t)^alpha, mu = 1 / max(1, t - t0).
 *   schema  ASGD(Tensor[] params, float lr=0.01, float lambd=0.0001, float alpha=0.75, float
 *           t0=1000000.0, float weight_decay=0.0, bool maximize=False)
 *   example tn_optim_asgd(tn_parameters(net), .lr = 0.05) */
typedef struct tn_optim_asgd_args {
    double lr, lambd, alpha, t0, weight_decay;
    bool maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_asgd_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_asgd_at(const char *file, int line,
    const tn_optim_asgd_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_asgd(tn_tensors params, double lr, double lambd,
    double alpha, double t0, double weight_decay, bool maximize);
#ifndef __cplusplus
#define tn_optim_asgd(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_asgd, .lr = 0.01, \
    .lambd = 0.0001, .alpha = 0.75, .t0 = 1000000, .params = __VA_ARGS__))
#endif

/* size *= etas[1] where g has the sign of the gradient before, etas[0] where it has the other one,
 * and stays within step_sizes; where the sign has turned, g = 0; p -= sign(g) size.
 *   schema  Rprop(Tensor[] params, float lr=0.01, float[2] etas=[0.5, 1.2], float[2]
 *           step_sizes=[1e-06, 50.0], *, bool maximize=False)
 *   example tn_optim_rprop(tn_parameters(net)) */
typedef struct tn_optim_rprop_args {
    double lr;
    tn_floats etas, step_sizes;
    bool maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_rprop_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_rprop_at(const char *file, int line,
    const tn_optim_rprop_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_rprop(tn_tensors params, double lr, tn_floats etas,
    tn_floats step_sizes, bool maximize);
#ifndef __cplusplus
#define tn_optim_rprop(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_rprop, .lr = 0.01, \
    .etas = TN_FLOATS(0.5, 1.2), .step_sizes = TN_FLOATS(1e-06, 50), .params = __VA_ARGS__))
#endif

/* --- relatives of Adam: Adamax (D --- */

/* g += weight_decay p; m = lerp(m, g, 1 - beta1); u = max(beta2 u, |g| + eps); p -= lr / (1 -
 * beta1^t) m / u.
 *   schema  Adamax(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float
 *           eps=1e-08, float weight_decay=0.0, *, bool maximize=False)
 *   example tn_optim_adamax(tn_parameters(net), .lr = 1e-3) */
typedef struct tn_optim_adamax_args {
    double lr;
    tn_floats betas;
    double eps, weight_decay;
    bool maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_adamax_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_adamax_at(const char *file, int line,
    const tn_optim_adamax_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_adamax(tn_tensors params, double lr, tn_floats betas,
    double eps, double weight_decay, bool maximize);
#ifndef __cplusplus
#define tn_optim_adamax(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_adamax, .lr = 0.002, \
    .betas = TN_FLOATS(0.9, 0.999), .eps = 1e-08, .params = __VA_ARGS__))
#endif

/* g and p are decayed as in Adam or, decoupled_weight_decay, AdamW; u = beta1 (1 - 0.96^(t
 * momentum_decay) / 2), w = the same of t + 1, U = the product of all u; m and v as in Adam; d =
 * sqrt(v / (1 - beta2^t)) + eps; p -= lr (1 - u) / (1 - U) g / d + lr w / (1 - U w) m / d.
 *   schema  NAdam(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float eps=1e-08,
 *           float weight_decay=0.0, float momentum_decay=0.004, bool
 *           decoupled_weight_decay=False, *, bool maximize=False)
 *   example tn_optim_nadam(tn_parameters(net), .lr = 1e-3) */
typedef struct tn_optim_nadam_args {
    double lr;
    tn_floats betas;
    double eps, weight_decay, momentum_decay;
    bool decoupled_weight_decay, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_nadam_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_nadam_at(const char *file, int line,
    const tn_optim_nadam_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_nadam(tn_tensors params, double lr, tn_floats betas,
    double eps, double weight_decay, double momentum_decay, bool decoupled_weight_decay,
    bool maximize);
#ifndef __cplusplus
#define tn_optim_nadam(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_nadam, .lr = 0.002, \
    .betas = TN_FLOATS(0.9, 0.999), .eps = 1e-08, .momentum_decay = 0.004, .params = __VA_ARGS__))
#endif

/* g, p, m and v as in NAdam; s = m / (1 - beta1^t) lr; r = 2 / (1 - beta2) - 1, q = r - 2 t beta2^t
 * / (1 - beta2^t); where q > 5, s *= sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((q - 4) (q - 2) r /
 * ((r - 4) (r - 2) q)); p -= s.
 *   schema  RAdam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08,
 *           float weight_decay=0.0, bool decoupled_weight_decay=False, *, bool maximize=False)
 *   example tn_optim_radam(tn_parameters(net), .lr = 1e-3) */
typedef struct tn_optim_radam_args {
    double lr;
    tn_floats betas;
    double eps, weight_decay;
    bool decoupled_weight_decay, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_radam_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_radam_at(const char *file, int line,
    const tn_optim_radam_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_radam(tn_tensors params, double lr, tn_floats betas,
    double eps, double weight_decay, bool decoupled_weight_decay, bool maximize);
#ifndef __cplusplus
#define tn_optim_radam(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_radam, .lr = 0.001, \
    .betas = TN_FLOATS(0.9, 0.999), .eps = 1e-08, .params = __VA_ARGS__))
#endif

/* --- stochastic gradient descent with momentum (torch.optim.SGD) --- */

/* g += weight_decay * p; b = momentum * b + (1 - dampening) * g (b = g at first); p -= lr *
 * (nesterov ? g + momentum * b : b).
 *   schema  SGD(Tensor[] params, float lr=0.001, float momentum=0.0, float dampening=0.0, float
 *           weight_decay=0.0, bool nesterov=False, *, bool maximize=False)
 *   example tn_optim_sgd(tn_parameters(net), .lr = 0.1, .momentum = 0.9) */
typedef struct tn_optim_sgd_args {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_sgd_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_sgd_at(const char *file, int line,
    const tn_optim_sgd_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_sgd(tn_tensors params, double lr, double momentum,
    double dampening, double weight_decay, bool nesterov, bool maximize);
#ifndef __cplusplus
#define tn_optim_sgd(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_sgd, .lr = 0.001, \
    .params = __VA_ARGS__))
#endif

/* --- Adagrad (J --- */

/* g += weight_decay p; sum += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps).
 *   schema  Adagrad(Tensor[] params, float lr=0.01, float lr_decay=0.0, float weight_decay=0.0,
 *           float initial_accumulator_value=0.0, float eps=1e-10, *, bool maximize=False)
 *   example tn_optim_adagrad(tn_parameters(net), .lr = 0.05) */
typedef struct tn_optim_adagrad_args {
    double lr, lr_decay, weight_decay, initial_accumulator_value, eps;
    bool maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_adagrad_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_adagrad_at(const char *file, int line,
    const tn_optim_adagrad_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_adagrad(tn_tensors params, double lr, double lr_decay,
    double weight_decay, double initial_accumulator_value, double eps, bool maximize);
#ifndef __cplusplus
#define tn_optim_adagrad(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_adagrad, .lr = 0.01, \
    .eps = 1e-10, .params = __VA_ARGS__))
#endif

/* g += weight_decay p; v = alpha v + (1 - alpha) g^2; centered: m = lerp(m, g, 1 - alpha), which is
 * subtracted: w = v - m^2, else w = v; d = g / (sqrt(w) + eps); b = momentum b + d; p -= lr b, or
 * lr d without momentum.
 *   schema  RMSprop(Tensor[] params, float lr=0.01, float alpha=0.99, float eps=1e-08, float
 *           weight_decay=0.0, float momentum=0.0, bool centered=False, bool maximize=False)
 *   example tn_optim_rmsprop(tn_parameters(net), .lr = 1e-3, .centered = true) */
typedef struct tn_optim_rmsprop_args {
    double lr, alpha, eps, weight_decay, momentum;
    bool centered, maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_rmsprop_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_rmsprop_at(const char *file, int line,
    const tn_optim_rmsprop_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_rmsprop(tn_tensors params, double lr, double alpha,
    double eps, double weight_decay, double momentum, bool centered, bool maximize);
#ifndef __cplusplus
#define tn_optim_rmsprop(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_rmsprop, .lr = 0.01, \
    .alpha = 0.99, .eps = 1e-08, .params = __VA_ARGS__))
#endif

/* g += weight_decay p; v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps) g; u = rho u +
 * (1 - rho) d^2; p -= lr d.
 *   schema  Adadelta(Tensor[] params, float lr=1.0, float rho=0.9, float eps=1e-06, float
 *           weight_decay=0.0, *, bool maximize=False)
 *   example tn_optim_adadelta(tn_parameters(net)) */
typedef struct tn_optim_adadelta_args {
    double lr, rho, eps, weight_decay;
    bool maximize;
    tn_tensors params;
    TNI_NAMED_OPTIONS
} tn_optim_adadelta_args;
TN_USE_RESULT TN_API tn_optimizer *tn_optim_adadelta_at(const char *file, int line,
    const tn_optim_adadelta_args *args);
TN_USE_RESULT TN_API tn_optimizer *tnp_optim_adadelta(tn_tensors params, double lr, double rho,
    double eps, double weight_decay, bool maximize);
#ifndef __cplusplus
#define tn_optim_adadelta(...) TNI_RESULT(tn_optimizer, TNI_CALL(tn_optim_adadelta, .lr = 1, \
    .rho = 0.9, .eps = 1e-06, .params = __VA_ARGS__))
#endif

TNI_EXTERN_C_END

/* ================================================================================================
 * == [4] data.h
 *
 * Data sets, and loaders that shuffle, batch and read ahead.
 *
 *     tn_loader *loader = tn_loader_new(dataset, .batch_size = 64, .shuffle = true, .workers = 2);
 *     tn_batch b;
 *     for (int epoch = 0; epoch < 5; epoch++)
 *         while (tn_loader_next(loader, &b)) { ... b.field[0], b.field[1] ... }
 *
 * Sets lie in memory or in IDX files; threads read ahead. A seed gives the order of
 * torch.utils.data.DataLoader and leaves the generator as torch does, for any number of workers.
 * One thread at a time may use a loader. */

TNI_EXTERN_C_BEGIN

/* --- data sets -------------------------------------------------------------------------------- */

enum { TN_MAX_FIELDS = 4 };

/* One field of an item: an image, a label. */
typedef struct tn_field {
    tn_dtype dtype;
    int ndim;
    int64_t size[TN_MAX_DIMS];
} tn_field;

/* A set of `size` items. get writes item `index` to to[0..nfields-1], the elements of each field
 * row-major. Several threads call it at the same time, so it must not change the set. It returns
 * false with an error. */
typedef struct tn_dataset tn_dataset;
struct tn_dataset {
    int64_t size;
    int nfields;
    tn_field field[TN_MAX_FIELDS];
    bool (*get)(const tn_dataset *d, int64_t index, void *const *to);
    void (*destroy)(tn_dataset *d); /* releases user, not d; may be NULL */
    void *user;
    int32_t count; /* owners */
};

/* Your own set: a copy of *like, with one owner. If it fails it calls like->destroy and returns
 * NULL with an error. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_new_at(const char *file, int line,
                                                   const tn_dataset *like);
#define tn_dataset_new(...) tn_dataset_new_at(__FILE__, __LINE__, __VA_ARGS__)
TN_API tn_dataset *tn_dataset_hold(tn_dataset *d); /* one more owner; returns d */
TN_API void tn_dataset_free(tn_dataset *d);        /* drops one owner; NULL is allowed */

/* Item i is row i of each tensor (torch's TensorDataset). Holds the tensors, which must be on the
 * CPU. NULL with an error. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_tensors_at(const char *file, int line,
                                                       tn_tensors tensors);
#define tn_dataset_tensors(...) tn_dataset_tensors_at(__FILE__, __LINE__, __VA_ARGS__)
/* Images u8 (N, H, W) or (N, C, H, W) become f32 (C, H, W), (v / 255 - mean) / std, as by
 * torchvision's ToTensor and Normalize; labels, integers (N), become i64. Holds the tensors. NULL
 * with an error, also if std is 0. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_images_at(const char *file, int line, tn_tensor *images,
                                                      tn_tensor *labels, double mean, double std);
#define tn_dataset_images(images, labels, mean, std) \
    tn_dataset_images_at(__FILE__, __LINE__, images, labels, mean, std)
/* The same from two IDX files. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_idx_at(const char *file, int line,
                                                   const char *images_path, const char *labels_path,
                                                   double mean, double std);
#define tn_dataset_idx(images_path, labels_path, mean, std) \
    tn_dataset_idx_at(__FILE__, __LINE__, images_path, labels_path, mean, std)
/* Items from..to-1 of d, which it takes over, even if it fails. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_slice_at(const char *file, int line, tn_dataset *d,
                                                     int64_t from, int64_t to);
#define tn_dataset_slice(d, from, to) tn_dataset_slice_at(__FILE__, __LINE__, d, from, to)

/* --- the loader ------------------------------------------------------------------------------- */

typedef struct tn_loader tn_loader;
TNI_RESULT_OF(tn_loader)
typedef struct tn_loader_args {
    int64_t batch_size;
    bool shuffle, drop_last;
    int32_t workers;         /* threads that read ahead; 0: none */
    int32_t prefetch;        /* batches that each worker reads ahead */
    tn_generator *generator; /* NULL: the default one, as torch */
    tn_dataset *dataset;     /* required; the loader takes it over, even if it fails */
    TNI_NAMED_OPTIONS
} tn_loader_args;
/* A new loader; NULL with an error. tn_context_free frees loaders that are left. */
TN_USE_RESULT TN_API tn_loader *tn_loader_new_at(const char *file, int line,
                                                 const tn_loader_args *args);
#ifndef __cplusplus
#define tn_loader_new(...)                                                               \
    TNI_RESULT(tn_loader, TNI_CALL_AS(tn_loader_new_at, tn_loader_args, .batch_size = 1, \
                                      .prefetch = 2, .dataset = __VA_ARGS__))
#endif
TN_API void tn_loader_free(tn_loader *l);
TN_API int64_t tn_loader_batches(const tn_loader *l); /* in an epoch */
TN_API tn_dataset *tn_loader_dataset(const tn_loader *l);
TN_API tn_generator *tn_loader_generator(const tn_loader *l); /* NULL: it uses the default one */

/* A batch: tensors of the current scope, of shape (n, sizes of the field). The loader reuses their
 * memory once they are freed. */
typedef struct tn_batch {
    tn_tensor *field[TN_MAX_FIELDS];
    int nfields;
    int64_t n;     /* items */
    int64_t index; /* of the batch in the epoch */
} tn_batch;
/* Fetches the next batch; the first call begins an epoch and draws its order. False at the end of
 * the epoch, after which the next call begins another, and with an error: ask tn_ok(). */
TN_API bool tn_loader_next_at(const char *file, int line, tn_loader *l, tn_batch *batch);
#define tn_loader_next(l, batch) tn_loader_next_at(__FILE__, __LINE__, l, batch)
/* Ends the epoch early; the next call of tn_loader_next begins another. */
TN_API void tn_loader_stop(tn_loader *l);

TNI_EXTERN_C_END

/* ================================================================================================
 * == [5] train.h
 *
 * Checkpoints; a training loop that reports to a callback.
 *
 * A checkpoint is one safetensors file (docs/formats.md). All later versions load version 1:
 *   model.<name>                  the state dict
 *   optimizer.state.<i>.<name>, optimizer.group.<g>.<option>     see tn_optimizer_state_dict
 *   schedule.count (i64), schedule.initial (f64, groups)
 *   rng.cpu                       u8 (5056): torch.get_rng_state's bytes
 *   rng.loader                    the same of the loader's own generator, if it has one
 *   train.<name>                  numbers of the program: 0-dim f64 (train.epoch: epochs done)
 * and the notes "format" = "tensor.h checkpoint" and "version" = "1". */

TNI_EXTERN_C_BEGIN

/* --- checkpoints ------------------------------------------------------------------------------ */

typedef struct tn_named_number {
    const char *name;
    double value;
} tn_named_number;

/* The parts of a checkpoint. A NULL member is not saved; loading leaves that part as it is. */
typedef struct tn_state {
    tn_module *model;
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_generator *generator;
    tn_named_number *numbers; /* train.<name>; loading sets the values, NaN if the file has none */
    int64_t nnumbers;
    tn_generator *loader_generator; /* a loader's own; unchanged if the file has none */
} tn_state;
/* Saving is atomic. Loading is all or nothing: if the file lacks a part or does not fit, it changes
 * nothing and returns false with an error. A resumed run has the bits of an unbroken one.
 *     tn_checkpoint_save("run.safetensors", &(tn_state){.model = net, .optimizer = opt}) */
TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state);
TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state);
#define tn_checkpoint_save(path, ...) tn_checkpoint_save_at(__FILE__, __LINE__, path, __VA_ARGS__)
#define tn_checkpoint_load(path, ...) tn_checkpoint_load_at(__FILE__, __LINE__, path, __VA_ARGS__)
/* The bytes of such a file in memory, freed with tn_bytes_free, and loading them: all is copied. */
TN_API tn_bytes tn_checkpoint_save_memory_at(const char *file, int line, const tn_state *state);
TN_API bool tn_checkpoint_load_memory_at(const char *file, int line, const void *data, size_t bytes,
                                         const tn_state *state);
#define tn_checkpoint_save_memory(...) tn_checkpoint_save_memory_at(__FILE__, __LINE__, __VA_ARGS__)
#define tn_checkpoint_load_memory(data, bytes, ...) \
    tn_checkpoint_load_memory_at(__FILE__, __LINE__, data, bytes, __VA_ARGS__)

/* --- training --------------------------------------------------------------------------------- */

typedef enum tn_event {
    TN_EVENT_BEGIN = 1, /* training begins; `epoch` is its first */
    TN_EVENT_EPOCH,     /* an epoch begins */
    TN_EVENT_STEP,      /* a step was made */
    TN_EVENT_TRAINED,   /* the epoch's last step was made */
    TN_EVENT_EVALUATE,  /* a batch of the test set was evaluated */
    TN_EVENT_EPOCH_END, /* the epoch was evaluated, the schedule has stepped */
    TN_EVENT_SAVED,     /* the checkpoint was written */
    TN_EVENT_END        /* training ends */
} tn_event;

/* What a callback sees. loss and accuracy are means over this epoch's items so far, test_loss and
 * test_accuracy over those of the test set (EVALUATE, EPOCH_END). Accuracies are NaN if the target
 * is not a class. */
typedef struct tn_progress {
    tn_event event;
    int64_t epoch, epochs; /* current, from 0; all */
    int64_t step, steps;   /* of this epoch: made; all */
    int64_t items;         /* of this epoch, so far */
    double batch_loss;     /* of the last step */
    double loss, accuracy; /* training */
    double test_loss, test_accuracy;
    double seconds, rate; /* since the epoch began; items a second */
    double remaining;     /* estimated seconds to the end of the epoch */
    double lr;
} tn_progress;

/* Computes the loss of a batch, a 0-dim tensor that requires grad. It may set *output,
 * (n, classes), from which the accuracy is counted against field[1] of the batch. NULL
 * with an error. */
typedef tn_tensor *(*tn_batch_loss)(tn_module *model, const tn_batch *batch, tn_tensor **output,
                                    void *user);

typedef struct tn_train_args {
    tn_module *loss;          /* (input, target) -> loss; NULL: CrossEntropyLoss */
    tn_batch_loss batch_loss; /* instead of `loss`, for anything else */
    tn_schedule *schedule;    /* steps once an epoch */
    tn_loader *test;          /* evaluated after each epoch */
    int64_t epochs;
    double clip_norm;       /* 0: no clipping of gradients */
    const char *checkpoint; /* saved after each epoch */
    bool resume;            /* begin from `checkpoint`, or from 0 if the file does not exist */
    /* false: training stops at this event, without an error and without later events: at EPOCH_END
     * the epoch is not saved any more, at SAVED it is */
    bool (*on)(const tn_progress *progress, void *user);
    void *user;
    tn_module *model; /* these three are required; everything is borrowed */
    tn_optimizer *optimizer;
    tn_loader *loader;
    TNI_NAMED_OPTIONS
} tn_train_args;
/* Trains for args->epochs epochs, beginning a new epoch of the loader, and leaves the model in
 * training mode. Batches go to the device of the model's first parameter. False with an error, also
 * if a loader has no batches. A loss of NaN is none: the callback sees it (tn_set_anomaly_mode
 * makes it one).
 *     tn_train(model, optimizer, loader, .epochs = 5, .checkpoint = "run.safetensors") */
TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args);
#ifndef __cplusplus
#define tn_train(model_, optimizer_, ...)                                                          \
    TNI_CALL_AS(tn_train_at, tn_train_args, .epochs = 1, .model = model_, .optimizer = optimizer_, \
                .loader = __VA_ARGS__)
#endif
/* The mean loss and accuracy over one epoch of a loader, in eval mode and without recording, on the
 * device of the model's first parameter; either pointer may be NULL. Afterwards each module is in
 * its former mode. False with an error. */
TN_API bool tn_evaluate_at(const char *file, int line, tn_module *model, tn_module *loss,
                           tn_loader *loader, double *mean_loss, double *accuracy);
#define tn_evaluate(model, loss, loader, mean_loss, accuracy) \
    tn_evaluate_at(__FILE__, __LINE__, model, loss, loader, mean_loss, accuracy)

TNI_EXTERN_C_END

/* ================================================================================================
 * == [6] parallel.h
 *
 * Training on several ranks: each computes the gradients of its part of a batch, and
 * backward leaves their mean on all.
 *
 *     static bool rank(int32_t r, void *user) {               // in tn_group_spawn(4, rank, ..)
 *         tn_module *net = tn_nn_linear(8, 1);
 *         tn_parallel *all = tn_data_parallel(net);            // all ranks begin with rank 0's
 *         tn_optimizer *opt = tn_optim_sgd(tn_parameters(net), .lr = 0.1);
 *         ..                                                   // a loop as for one rank
 *         tn_parallel_free(all);
 *
 * A mean over n ranks of a mean over equal parts is the mean over the whole batch; in floats it
 * differs from it by rounding alone. All ranks get the same bits, so weights that begin equal stay
 * equal, whatever their order of arrival. */

TNI_EXTERN_C_BEGIN

typedef struct tn_parallel tn_parallel;

typedef struct tn_data_parallel_args {
    tn_group *group; /* NULL: the calling thread's. It must live as long as the result */
    /* gradients are averaged in pieces of about so many bytes; 0: 25 MiB, as torch */
    int64_t bucket_bytes;
    bool keep_buffers;     /* buffers stay each rank's own */
    tn_tensors parameters; /* if module is NULL: these, and buffers */
    tn_tensors buffers;
    tn_module *module;
    TNI_NAMED_OPTIONS
} tn_data_parallel_args;
/* Makes a module of each rank one model; all ranks call it. It copies rank 0's parameters and
 * buffers to the others, and from then on a backward of this rank that changes .grad of some
 * parameter waits for the same of all others. Then .grad of every parameter that has one on some
 * rank is the mean over all ranks, zeros where a rank has none. Running statistics and other
 * buffers are copied from rank 0 before each forward of a module that trains.
 *
 * The result is the caller's, who frees it; the module is held till then. NULL with an error, on
 * all ranks, if their models differ. Errors of the ranks' exchange come out of backward and
 * forward; a backward that fails in it leaves .grad as this rank has computed it. */
TN_API tn_parallel *tn_data_parallel_at(const char *file, int line,
                                        const tn_data_parallel_args *args);
#ifndef __cplusplus
#define tn_data_parallel(...) TNI_CALL(tn_data_parallel, .module = __VA_ARGS__)
#else
TNI_EXTERN_C_END
TNI_NAMESPACE_BEGIN
inline tn_parallel *tn_data_parallel(tn_module *module,
                                     tn_data_parallel_args options = tn_data_parallel_args(),
                                     tn::site at = tn::site::here()) {
    options.module = module;
    return tn_data_parallel_at(at.file, at.line, &options);
}
TNI_NAMESPACE_END
TNI_EXTERN_C_BEGIN
#endif
TN_API void tn_parallel_free(tn_parallel *p); /* NULL is allowed */

/* Whether backward exchanges gradients, and forward buffers: true at the start. Returns what was
 * set before. With false, gradients add up on each rank; the next exchange averages the sums:
 *     tn_parallel_set_sync(all, i % 4 == 3); // a step for every 4 batches */
TN_API bool tn_parallel_set_sync(tn_parallel *p, bool sync);
/* Copies rank 0's buffers to the other ranks now, as forward does. All ranks call it. */
TN_API bool tn_parallel_share_at(const char *file, int line, tn_parallel *p);
#define tn_parallel_share(p) tn_parallel_share_at(__FILE__, __LINE__, p)

TNI_EXTERN_C_END

/* ================================================================================================
 * == [7] cxx_nn.h
 *
 * C++ only: modules that own themselves, and modules of your own by inheritance.
 *
 *     tn::nn::sequential net{tn::nn::linear(784, 128), tn::nn::relu(), tn::nn::linear(128, 10)};
 *     tn::tensor y = net(x);     net.save("net.safetensors");     std::cout << net;
 *
 * A tn::nn::module counts as one owner of a tn_module; copies share it, and module.copy() makes
 * another. Each built-in module has a class with its constructor, call and parts:
 *     tn::nn::linear fc(784, 10, {.bias = false});     fc.weight()     fc.options().in_features
 * Errors are as in cxx_tensor.h. One thread at a time may use a module (nn.h). */

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN

/* --- named tensors ---------------------------------------------------------------------------- */

struct named_tensor {
    const char *name; /* borrowed from the list */
    tensor value;
};

/* Tensors with names, as in a state dict. Owns its names; moves, but does not copy.
 *     for (tn::named_tensor each : net.named_parameters()) std::cout << each.name;
 *     C++17: for (auto [name, value] : net.named_parameters()) ... */
class named_tensors {
    tn_named_list list_;

  public:
    /* Takes what a function of C returned. */
    explicit named_tensors(tn_named_list l) : list_(l) {
        if (l.n < 0) detail::check();
    }
    named_tensors(named_tensors &&o) noexcept : list_(o.list_) { o.list_ = tn_named_list(); }
    named_tensors &operator=(named_tensors &&o) noexcept {
        const tn_named_list l = list_;
        list_ = o.list_;
        o.list_ = l;
        return *this;
    }
    ~named_tensors() { (tn_named_free)(list_); }
    named_tensors(const named_tensors &) = delete;

    size_t size() const noexcept { return list_.n > 0 ? static_cast<size_t>(list_.n) : 0; }
    const tn_named *data() const noexcept { return list_.at; }
    named_tensor operator[](size_t i) const {
        const named_tensor each = {list_.at[i].name, tensor(list_.at[i].tensor)};
        return each;
    }
    /* The tensor of that name, undefined if there is none. */
    tensor find(const char *name) const { return tensor((tn_named_find)(list_, name)); }

    class iterator {
        const tn_named *at_;

      public:
        explicit iterator(const tn_named *at) : at_(at) {}
        named_tensor operator*() const {
            const named_tensor each = {at_->name, tensor(at_->tensor)};
            return each;
        }
        iterator &operator++() {
            at_++;
            return *this;
        }
        bool operator!=(const iterator &o) const { return at_ != o.at_; }
        bool operator==(const iterator &o) const { return at_ == o.at_; }
    };
    iterator begin() const { return iterator(list_.at); }
    iterator end() const { return iterator(list_.at + size()); }
};

namespace nn {

/* --- module ----------------------------------------------------------------------------------- */

class named_modules;

class module {
  protected:
    tn_module *p_;
    void made(tn_module *fresh) { /* of a constructor of C */
        p_ = fresh;
        if (!fresh) detail::check();
    }
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }

  public:
    typedef tn_module c_type;
    /* Undefined: every call of it is an error. */
    module() noexcept :p_(nullptr) {}
    /* One more owner of m, which may be NULL. */
    explicit module(tn_module *m) : p_(tn_module_hold(m)) {}
    /* Owns what a function of C returned as new. */
    static nn::module take(tn_module *fresh) {
        nn::module m;
        m.made(fresh);
        return m;
    }
    module(const nn::module &o) :p_(tn_module_hold(o.p_)) {}
    module(nn::module &&o) noexcept :p_(o.p_) { o.p_ = nullptr; }
    ~module() { (tn_module_free)(p_); }
    nn::module &operator=(nn::module o) noexcept {
        tn_module *m = p_;
        p_ = o.p_;
        o.p_ = m;
        return *this;
    }

    /* For functions of C: the pointer, borrowed from this object, or with its ownership. */
    tn_module *get() const noexcept { return p_; }
    tn_module *release() noexcept {
        tn_module *m = p_;
        p_ = nullptr;
        return m;
    }
    bool defined() const noexcept { return p_ != nullptr; }
    bool is_same(const nn::module &o) const noexcept { return p_ == o.p_; }
    const char *type() const { return p_ ? p_->type : ""; } /* the class's name: "Linear" */

    /* Runs forward of one tensor; see tn_forward. */
    tn::tensor operator()(tensor_ref x, site at = site::here()) const {
        return tn::tensor::take(tn_forward_at(at.file, at.line, p_, x.value));
    }

    /* The parameters, each once, in torch's order. */
    tn::tensors parameters(site at = site::here()) const {
        const tn_tensors l = tn_parameters_at(at.file, at.line, p_);
        if (l.n < 0) detail::check();
        tn::tensors all(l.n > 0 ? static_cast<size_t>(l.n) : 0);
        for (size_t i = 0; i < all.size(); i++) all[i] = tn::tensor(l.at[i]);
        return all;
    }
    named_tensors named_parameters(site at = site::here()) const {
        return named_tensors(tn_module_parameters_at(at.file, at.line, p_));
    }
    named_tensors named_buffers(site at = site::here()) const {
        return named_tensors(tn_module_buffers_at(at.file, at.line, p_));
    }
    named_tensors state_dict(site at = site::here()) const {
        return named_tensors(tn_module_state_dict_at(at.file, at.line, p_));
    }
    /* A parameter or buffer, and a module, by path: net.part("fc1.weight"), net.child("fc1"). */
    tn::tensor part(const char *path, site at = site::here()) const {
        tn_tensor *t = tn_module_tensor_at(at.file, at.line, p_, path);
        if (!t) detail::check();
        return tn::tensor(t);
    }
    bool set_part(const char *path, tensor_ref t, site at = site::here()) const {
        return told(tn_module_set_tensor_at(at.file, at.line, p_, path, t.value));
    }
    nn::module child(const char *path, site at = site::here()) const {
        tn_module *m = tn_module_child_at(at.file, at.line, p_, path);
        if (!m) detail::check();
        return nn::module(m);
    }
    /* The modules directly below:     for (tn::nn::named_module each : net.children()) ... */
    named_modules children() const;
    /* Calls f(module, path) for this and all modules below, parents first. */
    template <class F>
    bool apply(F f, site at = site::here()) const;

    const nn::module &train(bool training = true) const {
        tn_module_train(p_, training);
        return *this;
    }
    const nn::module &eval() const { return train(false); }
    bool is_training() const { return p_ && p_->training; }
    const nn::module &requires_grad_(bool wanted = true, site at = site::here()) const {
        told(tn_module_requires_grad_at(at.file, at.line, p_, wanted));
        return *this;
    }
    void zero_grad() const { tn_module_zero_grad(p_); }
    /* Converts in place, so that optimizers stay valid. */
    const nn::module &to(tn_dtype dtype, tn_device_id device = TN_NO_DEVICE,
                         site at = site::here()) const {
        told(tn_module_to_at(at.file, at.line, p_, dtype, device));
        return *this;
    }
    nn::module copy(site at = site::here()) const { /* deep, without hooks */
        return take(tn_module_copy_at(at.file, at.line, p_));
    }
    /* this = (1 - tau) this + tau from; see tn_module_copy_from. */
    bool copy_from(const nn::module &from, double tau = 1, site at = site::here()) const {
        return told(tn_module_copy_from_at(at.file, at.line, p_, from.p_, tau));
    }
    bool reset(site at = site::here()) const { /* draws initial values again */
        return told(tn_module_reset_at(at.file, at.line, p_));
    }
    /* The state dict as a safetensors file; loading is strict, and all or nothing. */
    bool save(const char *path, site at = site::here()) const {
        return told(tn_module_save_file_at(at.file, at.line, p_, path));
    }
    bool load(const char *path, site at = site::here()) const {
        return told(tn_module_load_file_at(at.file, at.line, p_, path));
    }
    bool load(const named_tensors &l, bool strict = true, site at = site::here()) const {
        return told(tn_module_load_at(at.file, at.line, p_, l.data(),
                                      static_cast<int64_t>(l.size()), strict));
    }

    /* Adds f(module, input), which runs before forward, or f(module, input, output), which runs
     * after it and may return a tensor in the output's place. Returns a number for remove_hook; 0
     * with an error.     net.hook_after([](tn::nn::module, tn::tensor, tn::tensor y) { ... }); */
    template <class F>
    int64_t hook_before(F f, site at = site::here()) const;
    template <class F>
    int64_t hook_after(F f, site at = site::here()) const;
    bool remove_hook(int64_t number, site at = site::here()) const {
        return told(tn_module_hook_remove_at(at.file, at.line, p_, number));
    }
};

struct named_module {
    const char *name; /* borrowed from the module above */
    module value;
};
class named_modules {
    nn::module of_;

  public:
    explicit named_modules(const nn::module &of) : of_(of) {}
    class iterator {
        tn_module *m_;
        int i_;
        void find() { /* from i_ on */
            while (m_ && i_ < m_->nparts && !tn_part_child_of(m_, i_)) i_++;
        }

      public:
        iterator(tn_module *m, int i) : m_(m), i_(i) { find(); }
        named_module operator*() const {
            const named_module each = {m_->part[i_].name, nn::module(tn_part_child_of(m_, i_))};
            return each;
        }
        iterator &operator++() {
            i_++;
            find();
            return *this;
        }
        bool operator!=(const iterator &o) const { return i_ != o.i_; }
        bool operator==(const iterator &o) const { return i_ == o.i_; }
    };
    iterator begin() const { return iterator(of_.get(), 0); }
    iterator end() const { return iterator(of_.get(), of_.defined() ? of_.get()->nparts : 0); }
};
inline named_modules module::children() const { return named_modules(*this); }

/* The text that torch prints. */
template <class T>
inline std::basic_ostream<char, T> &operator<<(std::basic_ostream<char, T> &s, const module &m) {
    char *text = m.defined() ? tn_module_text_at(nullptr, 0, m.get()) : nullptr;
    s << (text ? text : "module()");
    if (text) tn_alloc_free(text, detail::length(text) + 1);
    if (!text && m.defined()) detail::check();
    return s;
}

/* --- the user's functions, as C calls them ---------------------------------------------------- */

namespace calls { /* private */
using tn::detail::call;
template <class F>
struct visit_call {
    F &f;
    tn_module *m;
    const char *path;
    void operator()() { f(nn::module(m), path); }
};
template <class F>
inline bool visit(tn_module *m, const char *path, void *user) {
    visit_call<F> run = {*static_cast<F *>(user), m, path};
    return call(run);
}
template <class F>
struct before_call {
    F &f;
    tn_mframe *frame;
    void operator()() { f(nn::module(frame->m), tensor(tn_input(frame, 0))); }
};
template <class F>
inline bool before(tn_mframe *frame, void *user) {
    before_call<F> run = {*static_cast<F *>(user), frame};
    return call(run) && tn_ok();
}
/* Hands the tensor in a user's object to the innermost scope. */
inline tn_tensor *lent(tensor &t) { return t.defined() ? tn_lend(t.release()) : nullptr; }
template <class F, class R>
struct after_call {
    F &f;
    tn_mframe *frame;
    tensor out;
    void operator()() {
        out = f(nn::module(frame->m), tensor(tn_input(frame, 0)), tensor(frame->out[0]));
    }
};
template <class F>
struct after_call<F, void> {
    F &f;
    tn_mframe *frame;
    tensor out;
    void operator()() {
        f(nn::module(frame->m), tensor(tn_input(frame, 0)), tensor(frame->out[0]));
    }
};
template <class F>
inline bool after(tn_mframe *frame, void *user) {
    typedef decltype(detail::some<F>()(nn::module(), tensor(), tensor())) result;
    after_call<F, result> run = {*static_cast<F *>(user), frame, tensor()};
    if (!call(run) || !tn_ok()) return false;
    if (run.out.defined() && run.out.get() != frame->out[0]) frame->out[0] = lent(run.out);
    return tn_ok();
}
template <class F>
inline int64_t add_hook(tn_module *m, int when, tn_module_hook_fn run, const F &f, site at) {
    F *copy = detail::copied(f);
    const int64_t n =
        copy ? tn_module_hook_at(at.file, at.line, m, when, run, copy, &detail::drop<F>) : 0;
    if (!n) {
        delete copy;
        detail::check();
    }
    return n;
}
} // namespace calls

template <class F>
inline bool module::apply(F f, site at) const {
    return told(tn_module_walk_at(at.file, at.line, p_, &calls::visit<F>, &f));
}
template <class F>
inline int64_t module::hook_before(F f, site at) const {
    return calls::add_hook(p_, TN_BEFORE_FORWARD, &calls::before<F>, f, at);
}
template <class F>
inline int64_t module::hook_after(F f, site at) const {
    return calls::add_hook(p_, TN_AFTER_FORWARD, &calls::after<F>, f, at);
}

/* --- the classes of rows ---------------------------------------------------------------------- */

/* Modules as an argument, which the constructor that gets them takes: {a, b} of objects, each of
 * which is held once more for it, or of pointers of C. */
} // namespace nn
struct modules_ref {
    /* Turned into C's list where the constructor of C is called, no earlier: until then nothing is
     * held, so an exception leaves nothing behind. */
    struct list {
        tn_modules at;
        bool objects;
        operator tn_modules() const {
            for (int64_t i = 0; objects && i < at.n; i++) tn_module_hold(at.at[i]);
            return at;
        }
    } value;
    modules_ref() { borrow(nullptr, 0); }
    modules_ref(const list &l) : value(l) {}
    modules_ref(tn_modules l) { give(l); }
    modules_ref(std::initializer_list<tn_module *> l) {
        give(tn_modules_of(l.begin(), static_cast<int64_t>(l.size())));
    }
    modules_ref(std::initializer_list<nn::module> l) { borrow(l.begin(), l.size()); }
    template <class C>
    modules_ref(const C &c, typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                  nn::module>::type * = nullptr) {
        borrow(c.data(), c.size());
    }

  private:
    void give(tn_modules l) {
        value.at = l;
        value.objects = false;
    }
    /* A module has one member, so an array of them is an array of pointers. */
    void borrow(const nn::module *at, size_t n) {
        static_assert(sizeof(nn::module) == sizeof(tn_module *), "a module is a pointer");
        give(
            tn_modules_of(static_cast<tn_module *const *>(n ? static_cast<const void *>(at) : this),
                          static_cast<int64_t>(n)));
        value.objects = true;
    }
};

namespace detail {
/* What a class of a row is made of: an object, or for C's names the pointer. */
template <class T>
struct made_in_c {
    T *p_;
    void made(T *fresh) { p_ = fresh; }
    TN_USE_RESULT T *give() const { return p_; }
};
template <class K, class H>
struct kept {
    typedef H type;
};
template <class H>
struct kept<as_c, H> {
    typedef made_in_c<typename H::c_type> type;
};
template <class K, class S>
class module_of : public kept<K, nn::module>::type {
  protected:
    S *self() const { return static_cast<S *>(static_cast<void *>(this->p_)); }
    tensor part_at(tn_tensor *S::*part) const { return tensor(this->p_ ? self()->*part : nullptr); }
    nn::module part_at(tn_module *S::*part) const {
        return nn::module(this->p_ ? self()->*part : nullptr);
    }
    void same(const nn::module &m, const char *row, site at) {
        if (m.defined() && detail::is_text(m.get()->row->name, row))
            this->p_ = tn_module_hold(m.get());
        else if (!tn_error_set(TN_TYPE, at.file, at.line, "the module is %s, not of the row %s",
                               m.defined() ? m.type() : "undefined", row))
            detail::check();
    }

  public:
    /* The arguments of the constructor. */
    TNI_OWN_COPY const decltype(S::o) &options() const {
        static const S none = S();
        return this->p_ ? self()->o : none.o;
    }
};
} // namespace detail

/* Of a class whose constructor takes a list: sequential net{a, b}; net.append(c); net[0]. */
#define TNI_MODULE_LIST(name)                                                                \
    name(std::initializer_list<nn::module> l, site at = site::here()) {                      \
        const tn_nn_##name##_args a = {TN_NO_DTYPE, TN_NO_DEVICE, modules_ref(l).value};     \
        this->made(tn_nn_##name##_at(at.file, at.line, &a));                                 \
    }                                                                                        \
    explicit name(site at = site::here()) : name(std::initializer_list<nn::module>(), at) {} \
    bool append(const nn::module &m, site at = site::here()) const {                         \
        return this->told(                                                                   \
            tn_module_append_at(at.file, at.line, this->p_, tn_module_hold(m.get())));       \
    }                                                                                        \
    size_t size() const { return this->p_ ? static_cast<size_t>(this->p_->nparts) : 0; }     \
    nn::module operator[](int i) const { /* undefined if there is none */                    \
        const bool in = this->p_ && i >= 0 && i < this->p_->nparts;                          \
        return nn::module(in ? tn_part_child_of(this->p_, i) : nullptr);                     \
    }

namespace nn {

/* --- modules of your own ---------------------------------------------------------------------- */

/* Your own module. It has a name for messages, parts, and a forward:
 *
 *     struct net : tn::nn::custom {
 *         tn::nn::linear fc1 = add("fc1", tn::nn::linear(784, 128));
 *         tn::nn::linear fc2 = add("fc2", tn::nn::linear(128, 10));
 *         tn::tensor scale = add_parameter("scale", tn::ones({10}));
 *         net() : custom("Net") {}
 *         tn::tensor forward(const tn::tensor &x) override { return fc2(fc1(x).relu()) * scale; }
 *     };
 *     net n;     n(x);     n.parameters();     n.save("net.safetensors");
 *
 * The object must live as long as its module is called. A module that outlives it, say in a
 * Sequential, keeps its parts, but its forward is an error. make<net>() puts the object on the heap
 * and gives a module that owns it:
 *     tn::nn::sequential both{tn::nn::make<net>(), tn::nn::relu()}; */
class custom : public module {
    bool on_heap_;   /* the tn_module owns this object, and not the other way round */
    tn_module *own_; /* held here, whatever becomes of p_; NULL on the heap */

    static custom *object_of(tn_module *m) { return static_cast<custom *>(m->user); }
    struct forward_call {
        custom *object;
        tn::tensor in, out;
        void operator()() { out = object->forward(in); }
    };
    static bool run_forward(tn_mframe *f) {
        if (!f->m->user)
            return tn_error_set(TN_INVALID, nullptr, 0,
                                "its C++ object has ended before the module: make it by "
                                "tn::nn::make<...>(), whose module owns the object");
        forward_call run = {object_of(f->m), tn::tensor(tn_input(f, 0)), tn::tensor()};
        if (!detail::call(run) || !tn_ok()) return false;
        if (!run.out.defined())
            return tn_error_set(TN_INVALID, nullptr, 0, "forward returned an undefined tensor");
        f->out[0] = run.out.get() == run.in.get() ? run.in.get() : calls::lent(run.out);
        return f->out[0] != nullptr;
    }
    struct reset_call {
        custom *object;
        void operator()() { object->reset_parameters(); }
    };
    static bool run_reset(tn_module *m) {
        reset_call run = {object_of(m)};
        return !run.object || (detail::call(run) && tn_ok());
    }
    static void run_destroy(tn_module *m) {
        custom *object = object_of(m);
        m->user = nullptr;
        if (object && object->on_heap_) delete object;
    }
    void give_child(const char *name, const nn::module &child, site at) {
        tn_module *m = tn_module_hold(child.get());
        told(tn_part_child_at(at.file, at.line, p_, name, nullptr, m));
    }
    template <class T>
    friend class holder;

  protected:
    /* type: the name in messages and printed text, borrowed for as long as the module lives. */
    TNI_OWN_COPY explicit custom(const char *type = "Module", site at = site::here())
        : on_heap_(false), own_(nullptr) {
        static const tn_mrow row = {"Module", nullptr,    nullptr,      sizeof(tn_module), nullptr,
                                    nullptr,  nullptr,    nullptr,      nullptr,           nullptr,
                                    nullptr,  &run_reset, &run_forward, &run_destroy,      nullptr};
        tn_module *m = static_cast<tn_module *>(tn_module_new_at(at.file, at.line, &row));
        if (m) {
            m->user = this;
            m->type = type;
        }
        made(tn_module_finish_at(at.file, at.line, m));
        own_ = tn_module_hold(p_);
    }

  public:
    custom(const custom &) = delete;
    custom &operator=(const custom &) = delete;
    virtual ~custom() {
        if (own_ && tn_context_exists() && own_->user == this) own_->user = nullptr;
        tn_module_free(own_);
        if (on_heap_) p_ = nullptr;
    }

    /* What a call of the module computes. */
    virtual tn::tensor forward(const tn::tensor &x) {
        (void)x;
        tn_error_set(TN_UNSUPPORTED, nullptr, 0, "has no forward of one tensor");
        detail::check();
        return tn::tensor();
    }
    /* What reset() does here, after it has reset the children. */
    virtual void reset_parameters() {}

    /* Adds a module under a name without a dot, and returns it. */
    template <class M>
    M &add(const char *name, M &child, site at = site::here()) {
        give_child(name, child, at);
        return child;
    }
    template <class M>
    M add(const char *name, M &&child, site at = site::here()) {
        give_child(name, child, at);
        return static_cast<M &&>(child);
    }
    /* Adds a tensor, which the module shares: to() and load() change the tensor returned. */
    tn::tensor add_parameter(const char *name, const tn::tensor &t, bool requires_grad = true,
                             site at = site::here()) {
        if (requires_grad && t.defined()) t.requires_grad_(true, at);
        told(tn_part_give_at(at.file, at.line, p_, TN_PARAM, name, nullptr, t.get()));
        return t;
    }
    tn::tensor add_buffer(const char *name, const tn::tensor &t, bool saved = true,
                          site at = site::here()) {
        const tn_part_kind kind = saved ? TN_BUFFER : TN_TRANSIENT;
        told(tn_part_give_at(at.file, at.line, p_, kind, name, nullptr, t.get()));
        return t;
    }
};

/* A module that owns an object of yours: auto n = tn::nn::make<net>(); n(x); n->fc1 */
template <class T>
class holder : public module {
  public:
    /* Takes an object that new made. */
    explicit holder(T *object) {
        custom *c = object;
        if (!c || !c->p_) {
            delete object;
            return;
        }
        p_ = c->p_;
        c->on_heap_ = true;
        tn_module_free(c->own_);
        c->own_ = nullptr;
    }
    T *operator->() const { return static_cast<T *>(static_cast<custom *>(p_->user)); }
    T &operator*() const { return *operator->(); }
};
template <class T, class... A>
inline holder<T> make(A &&...args) {
    T *object = new (std::nothrow) T(static_cast<A &&>(args)...);
    if (!object && !tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a module"))
        detail::check();
    return holder<T>(object);
}

/* --- initial values --------------------------------------------------------------------------- */

/* torch.nn.init; see nn.h. Each writes into t without recording and returns it. */
namespace init {
inline tn::tensor constant_(tensor_ref t, double value, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_constant_at(at.file, at.line, t.value, value));
}
inline tn::tensor uniform_(tensor_ref t, double from = 0, double to = 1, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_uniform_at(at.file, at.line, t.value, from, to));
}
inline tn::tensor normal_(tensor_ref t, double mean = 0, double std = 1, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_normal_at(at.file, at.line, t.value, mean, std));
}
inline tn::tensor xavier_uniform_(tensor_ref t, double gain = 1, site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_xavier_uniform_at(at.file, at.line, t.value, gain));
}
inline tn::tensor xavier_normal_(tensor_ref t, double gain = 1, site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_xavier_normal_at(at.file, at.line, t.value, gain));
}
inline tn::tensor kaiming_uniform_(tensor_ref t, double a = 0, tn_fan mode = TN_FAN_IN,
                                   tn_nn_init_for nonlinearity = TN_INIT_LEAKY_RELU,
                                   site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_kaiming_uniform_at(at.file, at.line, t.value, a, mode, nonlinearity));
}
inline tn::tensor kaiming_normal_(tensor_ref t, double a = 0, tn_fan mode = TN_FAN_IN,
                                  tn_nn_init_for nonlinearity = TN_INIT_LEAKY_RELU,
                                  site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_kaiming_normal_at(at.file, at.line, t.value, a, mode, nonlinearity));
}
} // namespace init

} // namespace nn
TNI_TN_END
#endif


/* ================================================================================================
 * == [8] cxx_optim.h
 *
 * C++ only: optimizers, schedules, clipping.
 *
 *     tn::optim::adam opt(net.parameters(), {.lr = 1e-3});     (C++20)
 *     tn::optim::step_lr schedule(opt, 30, 0.1);
 *     opt.zero_grad();     loss.backward();     opt.step();     schedule.step();
 *
 * An optimizer owns a tn_optimizer and moves, but does not copy; a schedule likewise. A schedule
 * must end before its optimizer, as it does if it is declared after it. */

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN
namespace detail {
inline double not_a_number() { /* <math.h> of C++ would double the cost of this file */
    volatile double zero = 0;
    return zero / zero;
}
} // namespace detail

namespace optim {

/* An option of a group that is a number, for add_group. */
struct option {
    const char *name;
    double value;
};

class optimizer {
  protected:
    tn_optimizer *p_;
    void made(tn_optimizer *fresh) {
        p_ = fresh;
        if (!fresh) detail::check();
    }
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }

  public:
    typedef tn_optimizer c_type;
    optimizer() noexcept : p_(nullptr) {}
    /* Owns what a function of C returned. */
    static optimizer take(tn_optimizer *fresh) {
        optimizer o;
        o.made(fresh);
        return o;
    }
    optimizer(optimizer &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    optimizer &operator=(optimizer &&o) noexcept {
        tn_optimizer *p = p_;
        p_ = o.p_;
        o.p_ = p;
        return *this;
    }
    optimizer(const optimizer &) = delete;
    ~optimizer() { tn_optimizer_free(p_); }

    tn_optimizer *get() const noexcept { return p_; }
    tn_optimizer *release() noexcept {
        tn_optimizer *p = p_;
        p_ = nullptr;
        return p;
    }
    bool defined() const noexcept { return p_ != nullptr; }

    /* Makes a step with the parameters' .grad; all change, or none. */
    bool step(site at = site::here()) { return told(tn_optimizer_step_at(at.file, at.line, p_)); }
    /* Calls f, which computes the loss and runs backward, records meanwhile, makes a step, and
     * returns the loss.
     *     opt.step([&] { opt.zero_grad(); tn::tensor l = loss(net(x), y); l.backward(); return l;
     *     }); */
    template <class F>
    auto step(F f, site at = site::here()) -> decltype(tensor(f())) {
        tensor loss;
        {
            enable_grad recorded;
            loss = f();
        }
        step(at);
        return loss;
    }
    void zero_grad() { tn_optimizer_zero_grad(p_); }

    int groups() const { return tn_optimizer_groups(p_); }
    /* Adds a group of parameters with options of its own. Returns its number; -1 with an error.
     *     opt.add_group(head.parameters(), {{"lr", 1e-2}}); */
    int add_group(tensor_list params, std::initializer_list<option> options = {},
                  site at = site::here());
    /* An option of a group by name: a number, or a bool as 0 or 1. NaN with an error. */
    double get(const char *name, int group = 0, site at = site::here()) const {
        const double v = tn_optimizer_get_at(at.file, at.line, p_, group, name);
        if (v != v) detail::check();
        return v;
    }
    bool set(const char *name, double value, int group = 0, site at = site::here()) {
        return told(tn_optimizer_set_at(at.file, at.line, p_, group, name, value));
    }
    double lr(int group = 0, site at = site::here()) const { return get("lr", group, at); }
    bool set_lr(double lr, site at = site::here()) { /* of all groups */
        bool ok = true;
        for (int g = 0; ok && g < groups(); g++) ok = set("lr", lr, g, at);
        return ok;
    }

    named_tensors state_dict(site at = site::here()) const {
        return named_tensors(tn_optimizer_state_dict_at(at.file, at.line, p_));
    }
    bool load(const named_tensors &l, site at = site::here()) {
        return told(
            tn_optimizer_load_at(at.file, at.line, p_, l.data(), static_cast<int64_t>(l.size())));
    }
    /* The state dict as a safetensors file. */
    bool save(const char *path, site at = site::here()) const {
        const named_tensors l = state_dict(at);
        return told(tn_safetensors_save_at(at.file, at.line, path, l.data(),
                                           static_cast<int64_t>(l.size()), nullptr, 0));
    }
    bool load(const char *path, site at = site::here()) {
        return load(named_tensors(tn_safetensors_load_at(at.file, at.line, path)), at);
    }
};
inline int optimizer::add_group(tensor_list params, std::initializer_list<option> options,
                                site at) {
    enum { MOST = 16 };
    tn_value values[MOST];
    int n = 0;
    if (options.size() > static_cast<size_t>(MOST)) {
        told(tn_error_set(TN_INVALID, at.file, at.line, "add_group: more than %d options",
                          static_cast<int>(MOST)));
        return -1;
    }
    for (const option &each : options) {
        values[n] = tn_value();
        values[n].type = TN_T_FLOAT;
        values[n].name = each.name;
        values[n++].as.real = each.value;
    }
    const int group = tn_optimizer_group_at(at.file, at.line, p_, params.value, values, n);
    if (group < 0) detail::check();
    return group;
}

/* --- schedules -------------------------------------------------------------------------------- */

class schedule {
  protected:
    tn_schedule *p_;
    void *f_; /* a function that this owns, and what drops it */
    void (*drop_)(void *);
    schedule() noexcept : p_(nullptr), f_(nullptr), drop_(nullptr) {}
    void made(tn_schedule *fresh) {
        p_ = fresh;
        if (!fresh) detail::check();
    }

  public:
    schedule(schedule &&o) noexcept : p_(o.p_), f_(o.f_), drop_(o.drop_) {
        o.p_ = nullptr;
        o.f_ = nullptr;
    }
    schedule(const schedule &) = delete;
    schedule &operator=(const schedule &) = delete;
    ~schedule() {
        tn_schedule_free(p_);
        if (f_) drop_(f_);
    }
    tn_schedule *get() const noexcept { return p_; }
    bool step(site at = site::here()) {
        const bool ok = tn_schedule_step_at(at.file, at.line, p_);
        if (!ok) detail::check();
        return ok;
    }
    int64_t count() const { return p_ ? tn_schedule_count(p_) : 0; } /* of steps */
    double initial(int group = 0) const { return tn_schedule_initial(p_, group); }
    /* Goes on after `count` steps from these initial rates, one a group. */
    bool resume(int64_t count, float_list initial_rates, site at = site::here()) {
        const bool ok = tn_schedule_resume_at(at.file, at.line, p_, count, initial_rates.value.at,
                                              static_cast<int>(initial_rates.value.n));
        if (!ok) detail::check();
        return ok;
    }
};

/* StepLR, CosineAnnealingLR, LambdaLR of torch; see optim.h. */
class step_lr : public schedule {
  public:
    step_lr(const optimizer &o, int64_t every, double gamma = 0.1, site at = site::here()) {
        made(tn_optim_step_lr_at(at.file, at.line, o.get(), every, gamma));
    }
};
class cosine_lr : public schedule {
  public:
    cosine_lr(const optimizer &o, int64_t t_max, double eta_min = 0, site at = site::here()) {
        made(tn_optim_cosine_lr_at(at.file, at.line, o.get(), t_max, eta_min));
    }
};
/* lr is its initial value times f(step).
 *     tn::optim::lambda_lr warm(opt, [](int64_t step) { return step < 99 ? 0.1 : 1.0; }); */
class lambda_lr : public schedule {
    template <class F>
    struct factor_call {
        F &f;
        int64_t step;
        double result;
        void operator()() { result = static_cast<double>(f(step)); }
    };
    template <class F>
    static double factor(int64_t step, void *user) {
        factor_call<F> run = {*static_cast<F *>(user), step, 0};
        return detail::call(run) ? run.result : detail::not_a_number();
    }

  public:
    template <class F>
    lambda_lr(const optimizer &o, F f, site at = site::here()) {
        f_ = detail::copied(f);
        drop_ = &detail::drop<F>;
        p_ = f_ ? tn_optim_lambda_lr_at(at.file, at.line, o.get(), &factor<F>, f_) : nullptr;
        if (p_) return;
        if (f_) drop_(f_);
        f_ = nullptr;
        detail::check();
    }
};
} // namespace optim

namespace nn {
/* Scales the gradients so that their common norm is at most max_norm; returns the norm before. */
inline double clip_grad_norm_(tensor_list params, double max_norm, double norm_type = 2,
                              site at = site::here()) {
    const double norm =
        tn_nn_clip_grad_norm_at(at.file, at.line, params.value, max_norm, norm_type);
    if (norm != norm) detail::check();
    return norm;
}
} // namespace nn
TNI_TN_END
#endif


/* ================================================================================================
 * == [9] overloads_nn.h
 *
 * C++: every module and optimizer as a class.
 *
 * Generated by tools/optable from src/nn and src/optim; `make headers` writes it again. */

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN
namespace nn {
struct relu_options {
    typedef relu_options self_;
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class relu : public detail::module_of<K, tn_nn_relu_self> {
  public:
    explicit relu(flag inplace = false, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_relu_args a = {inplace.value, dtype, device, 0};
        this->made(tn_nn_relu_at(at.file, at.line, &a));
    }
    explicit relu(relu_options o, site at = site::here()) {
        const tn_nn_relu_args a = {o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_relu_at(at.file, at.line, &a));
    }
    explicit relu(const nn::module &m, site at = site::here()) {
        this->same(m, "relu", at);
    }
};
}
typedef rows::relu<detail::as_objects> relu;
}
namespace nn {
struct leaky_relu_options {
    typedef leaky_relu_options self_;
    TNI_OPTION(double, negative_slope, 0.01)
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class leaky_relu : public detail::module_of<K, tn_nn_leaky_relu_self> {
  public:
    explicit leaky_relu(first_option<double> negative_slope = 0.01, flag inplace = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_leaky_relu_args a = {negative_slope.value, inplace.value, dtype, device, 0};
        this->made(tn_nn_leaky_relu_at(at.file, at.line, &a));
    }
    explicit leaky_relu(leaky_relu_options o, site at = site::here()) {
        const tn_nn_leaky_relu_args a = {o.negative_slope, o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_leaky_relu_at(at.file, at.line, &a));
    }
    explicit leaky_relu(const nn::module &m, site at = site::here()) {
        this->same(m, "leaky_relu", at);
    }
};
}
typedef rows::leaky_relu<detail::as_objects> leaky_relu;
}
namespace nn {
struct prelu_options {
    typedef prelu_options self_;
    TNI_OPTION(integer, num_parameters, 1)
    TNI_OPTION(double, init, 0.25)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class prelu : public detail::module_of<K, tn_nn_prelu_self> {
  public:
    explicit prelu(integer num_parameters = 1, double init = 0.25, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_prelu_args a = {num_parameters.value, init, dtype, device, 0};
        this->made(tn_nn_prelu_at(at.file, at.line, &a));
    }
    explicit prelu(prelu_options o, site at = site::here()) {
        const tn_nn_prelu_args a = {o.num_parameters.value, o.init, o.dtype, o.device, 0};
        this->made(tn_nn_prelu_at(at.file, at.line, &a));
    }
    explicit prelu(const nn::module &m, site at = site::here()) {
        this->same(m, "prelu", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_prelu_self::weight); }
};
}
typedef rows::prelu<detail::as_objects> prelu;
}
namespace nn {
struct gelu_options {
    typedef gelu_options self_;
    TNI_OPTION(tn_approximate, approximate, TN_APPROXIMATE_NONE)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class gelu : public detail::module_of<K, tn_nn_gelu_self> {
  public:
    explicit gelu(tn_approximate approximate = TN_APPROXIMATE_NONE, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_gelu_args a = {approximate, dtype, device, 0};
        this->made(tn_nn_gelu_at(at.file, at.line, &a));
    }
    explicit gelu(gelu_options o, site at = site::here()) {
        const tn_nn_gelu_args a = {o.approximate, o.dtype, o.device, 0};
        this->made(tn_nn_gelu_at(at.file, at.line, &a));
    }
    explicit gelu(const nn::module &m, site at = site::here()) {
        this->same(m, "gelu", at);
    }
};
}
typedef rows::gelu<detail::as_objects> gelu;
}
namespace nn {
struct silu_options {
    typedef silu_options self_;
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class silu : public detail::module_of<K, tn_nn_silu_self> {
  public:
    explicit silu(flag inplace = false, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_silu_args a = {inplace.value, dtype, device, 0};
        this->made(tn_nn_silu_at(at.file, at.line, &a));
    }
    explicit silu(silu_options o, site at = site::here()) {
        const tn_nn_silu_args a = {o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_silu_at(at.file, at.line, &a));
    }
    explicit silu(const nn::module &m, site at = site::here()) {
        this->same(m, "silu", at);
    }
};
}
typedef rows::silu<detail::as_objects> silu;
}
namespace nn {
struct sigmoid_options {
    typedef sigmoid_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class sigmoid : public detail::module_of<K, tn_nn_sigmoid_self> {
  public:
    explicit sigmoid(tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_sigmoid_args a = {dtype, device, 0};
        this->made(tn_nn_sigmoid_at(at.file, at.line, &a));
    }
    explicit sigmoid(sigmoid_options o, site at = site::here()) {
        const tn_nn_sigmoid_args a = {o.dtype, o.device, 0};
        this->made(tn_nn_sigmoid_at(at.file, at.line, &a));
    }
    explicit sigmoid(const nn::module &m, site at = site::here()) {
        this->same(m, "sigmoid", at);
    }
};
}
typedef rows::sigmoid<detail::as_objects> sigmoid;
}
namespace nn {
struct tanh_options {
    typedef tanh_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class tanh : public detail::module_of<K, tn_nn_tanh_self> {
  public:
    explicit tanh(tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_tanh_args a = {dtype, device, 0};
        this->made(tn_nn_tanh_at(at.file, at.line, &a));
    }
    explicit tanh(tanh_options o, site at = site::here()) {
        const tn_nn_tanh_args a = {o.dtype, o.device, 0};
        this->made(tn_nn_tanh_at(at.file, at.line, &a));
    }
    explicit tanh(const nn::module &m, site at = site::here()) {
        this->same(m, "tanh", at);
    }
};
}
typedef rows::tanh<detail::as_objects> tanh;
}
namespace nn {
struct softplus_options {
    typedef softplus_options self_;
    TNI_OPTION(double, beta, 1)
    TNI_OPTION(double, threshold, 20)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class softplus : public detail::module_of<K, tn_nn_softplus_self> {
  public:
    explicit softplus(first_option<double> beta = 1, double threshold = 20,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_softplus_args a = {beta.value, threshold, dtype, device, 0};
        this->made(tn_nn_softplus_at(at.file, at.line, &a));
    }
    explicit softplus(softplus_options o, site at = site::here()) {
        const tn_nn_softplus_args a = {o.beta, o.threshold, o.dtype, o.device, 0};
        this->made(tn_nn_softplus_at(at.file, at.line, &a));
    }
    explicit softplus(const nn::module &m, site at = site::here()) {
        this->same(m, "softplus", at);
    }
};
}
typedef rows::softplus<detail::as_objects> softplus;
}
namespace nn {
struct softsign_options {
    typedef softsign_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class softsign : public detail::module_of<K, tn_nn_softsign_self> {
  public:
    explicit softsign(tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_softsign_args a = {dtype, device, 0};
        this->made(tn_nn_softsign_at(at.file, at.line, &a));
    }
    explicit softsign(softsign_options o, site at = site::here()) {
        const tn_nn_softsign_args a = {o.dtype, o.device, 0};
        this->made(tn_nn_softsign_at(at.file, at.line, &a));
    }
    explicit softsign(const nn::module &m, site at = site::here()) {
        this->same(m, "softsign", at);
    }
};
}
typedef rows::softsign<detail::as_objects> softsign;
}
namespace nn {
struct softmax_options {
    typedef softmax_options self_;
    TNI_OPTION(integer, dim, TN_NONE)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class softmax : public detail::module_of<K, tn_nn_softmax_self> {
  public:
    explicit softmax(integer dim = TN_NONE, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_softmax_args a = {dim.value, dtype, device, 0};
        this->made(tn_nn_softmax_at(at.file, at.line, &a));
    }
    explicit softmax(softmax_options o, site at = site::here()) {
        const tn_nn_softmax_args a = {o.dim.value, o.dtype, o.device, 0};
        this->made(tn_nn_softmax_at(at.file, at.line, &a));
    }
    explicit softmax(const nn::module &m, site at = site::here()) {
        this->same(m, "softmax", at);
    }
};
}
typedef rows::softmax<detail::as_objects> softmax;
}
namespace nn {
struct log_softmax_options {
    typedef log_softmax_options self_;
    TNI_OPTION(integer, dim, TN_NONE)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class log_softmax : public detail::module_of<K, tn_nn_log_softmax_self> {
  public:
    explicit log_softmax(integer dim = TN_NONE, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_log_softmax_args a = {dim.value, dtype, device, 0};
        this->made(tn_nn_log_softmax_at(at.file, at.line, &a));
    }
    explicit log_softmax(log_softmax_options o, site at = site::here()) {
        const tn_nn_log_softmax_args a = {o.dim.value, o.dtype, o.device, 0};
        this->made(tn_nn_log_softmax_at(at.file, at.line, &a));
    }
    explicit log_softmax(const nn::module &m, site at = site::here()) {
        this->same(m, "log_softmax", at);
    }
};
}
typedef rows::log_softmax<detail::as_objects> log_softmax;
}
namespace nn {
struct multihead_attention_options {
    typedef multihead_attention_options self_;
    TNI_OPTION(double, dropout, 0)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(flag, batch_first, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
struct attn_output_attn_output_weights {
    tensor attn_output, attn_output_weights;
};
template <>
struct detail::in_objects<tn_attn_output_attn_output_weights> {
    typedef attn_output_attn_output_weights type;
    static type made(const tn_attn_output_attn_output_weights &c) {
        type r = {tensor::take(c.attn_output), tensor::take(c.attn_output_weights)};
        return r;
    }
    static type borrowed(const tn_attn_output_attn_output_weights &c) {
        type r = {tensor(c.attn_output), tensor(c.attn_output_weights)};
        return r;
    }
};
namespace nn {
struct multihead_attention_forward_options {
    typedef multihead_attention_forward_options self_;
    TNI_OPTION(tensor_ref, key_padding_mask, tensor_ref())
    TNI_OPTION(flag, need_weights, true)
    TNI_OPTION(tensor_ref, attn_mask, tensor_ref())
    TNI_OPTION(flag, average_attn_weights, true)
    TNI_OPTION(flag, is_causal, false)
};
template <class K = as_objects> inline typename K::template many<tn_attn_output_attn_output_weights>::type multihead_attention_forward(tn_module *module, tensor_ref query, tensor_ref key, tensor_ref value, tensor_ref key_padding_mask = tensor_ref(), flag need_weights = true, tensor_ref attn_mask = tensor_ref(), flag average_attn_weights = true, flag is_causal = false, site at = site()) {
    return K::call(tn_nn_multihead_attention_forward_at, at, {key_padding_mask.value,
        need_weights.value, attn_mask.value, average_attn_weights.value, is_causal.value, module,
        query.value, key.value, value.value});
}
template <class K = as_objects> inline typename K::template many<tn_attn_output_attn_output_weights>::type multihead_attention_forward(tn_module *module, tensor_ref query, tensor_ref key, tensor_ref value, multihead_attention_forward_options o, site at = site()) {
    return K::call(tn_nn_multihead_attention_forward_at, at, {o.key_padding_mask.value,
        o.need_weights.value, o.attn_mask.value, o.average_attn_weights.value, o.is_causal.value,
        module, query.value, key.value, value.value});
}
}
namespace nn {
namespace rows {
template <class K> class multihead_attention : public detail::module_of<K,
    tn_nn_multihead_attention_self> {
  public:
    explicit multihead_attention(integer embed_dim, integer num_heads,
        first_option<double> dropout = 0, flag bias = true, flag batch_first = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_multihead_attention_args a = {dropout.value, bias.value, batch_first.value,
            dtype, device, embed_dim.value, num_heads.value};
        this->made(tn_nn_multihead_attention_at(at.file, at.line, &a));
    }
    explicit multihead_attention(integer embed_dim, integer num_heads,
        multihead_attention_options o, site at = site::here()) {
        const tn_nn_multihead_attention_args a = {o.dropout, o.bias.value, o.batch_first.value,
            o.dtype, o.device, embed_dim.value, num_heads.value};
        this->made(tn_nn_multihead_attention_at(at.file, at.line, &a));
    }
    explicit multihead_attention(const nn::module &m, site at = site::here()) {
        this->same(m, "multihead_attention", at);
    }
    tensor in_proj_weight() const {
        return this->part_at(&tn_nn_multihead_attention_self::in_proj_weight); }
    tensor in_proj_bias() const {
        return this->part_at(&tn_nn_multihead_attention_self::in_proj_bias); }
    nn::module out_proj() const { return this->part_at(&tn_nn_multihead_attention_self::out_proj); }
    typename K::template many<tn_attn_output_attn_output_weights>::type operator()(tensor_ref query, tensor_ref key, tensor_ref value, tensor_ref key_padding_mask = tensor_ref(), flag need_weights = true, tensor_ref attn_mask = tensor_ref(), flag average_attn_weights = true, flag is_causal = false, site at = site::here()) const {
        return K::call(tn_nn_multihead_attention_forward_at, at, {key_padding_mask.value,
            need_weights.value, attn_mask.value, average_attn_weights.value, is_causal.value, this->p_,
            query.value, key.value, value.value});
    }
    typename K::template many<tn_attn_output_attn_output_weights>::type operator()(tensor_ref query, tensor_ref key, tensor_ref value, multihead_attention_forward_options o, site at = site::here()) const {
        return K::call(tn_nn_multihead_attention_forward_at, at, {o.key_padding_mask.value,
            o.need_weights.value, o.attn_mask.value, o.average_attn_weights.value, o.is_causal.value,
            this->p_, query.value, key.value, value.value});
    }
};
}
typedef rows::multihead_attention<detail::as_objects> multihead_attention;
}
namespace nn {
struct sequential_options {
    typedef sequential_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class sequential : public detail::module_of<K, tn_nn_sequential_self> {
  public:
    explicit sequential(modules_ref modules, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_sequential_args a = {dtype, device, modules.value};
        this->made(tn_nn_sequential_at(at.file, at.line, &a));
    }
    explicit sequential(modules_ref modules, sequential_options o, site at = site::here()) {
        const tn_nn_sequential_args a = {o.dtype, o.device, modules.value};
        this->made(tn_nn_sequential_at(at.file, at.line, &a));
    }
    TNI_MODULE_LIST(sequential)
    explicit sequential(const nn::module &m, site at = site::here()) {
        this->same(m, "sequential", at);
    }
};
}
typedef rows::sequential<detail::as_objects> sequential;
}
namespace nn {
struct module_list_options {
    typedef module_list_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class module_list : public detail::module_of<K, tn_nn_module_list_self> {
  public:
    explicit module_list(modules_ref modules, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_module_list_args a = {dtype, device, modules.value};
        this->made(tn_nn_module_list_at(at.file, at.line, &a));
    }
    explicit module_list(modules_ref modules, module_list_options o, site at = site::here()) {
        const tn_nn_module_list_args a = {o.dtype, o.device, modules.value};
        this->made(tn_nn_module_list_at(at.file, at.line, &a));
    }
    TNI_MODULE_LIST(module_list)
    explicit module_list(const nn::module &m, site at = site::here()) {
        this->same(m, "module_list", at);
    }
};
}
typedef rows::module_list<detail::as_objects> module_list;
}
namespace nn {
struct conv1d_options {
    typedef conv1d_options self_;
    TNI_OPTION(kept_int_list, stride, {1})
    TNI_OPTION(kept_int_list, padding, {0})
    TNI_OPTION(kept_int_list, dilation, {1})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class conv1d : public detail::module_of<K, tn_nn_conv1d_self> {
  public:
    explicit conv1d(integer in_channels, integer out_channels, int_list kernel_size,
        int_list stride = {1}, int_list padding = {0}, int_list dilation = {1}, integer groups = 1,
        flag bias = true, tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv1d_args a = {stride.value, padding.value, dilation.value, groups.value,
            bias.value, padding_mode, dtype, device, in_channels.value, out_channels.value,
            kernel_size.value};
        this->made(tn_nn_conv1d_at(at.file, at.line, &a));
    }
    explicit conv1d(integer in_channels, integer out_channels, int_list kernel_size,
        conv1d_options o, site at = site::here()) {
        const tn_nn_conv1d_args a = {o.stride.value, o.padding.value, o.dilation.value,
            o.groups.value, o.bias.value, o.padding_mode, o.dtype, o.device, in_channels.value,
            out_channels.value, kernel_size.value};
        this->made(tn_nn_conv1d_at(at.file, at.line, &a));
    }
    explicit conv1d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv1d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv1d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv1d_self::bias); }
};
}
typedef rows::conv1d<detail::as_objects> conv1d;
}
namespace nn {
struct conv2d_options {
    typedef conv2d_options self_;
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class conv2d : public detail::module_of<K, tn_nn_conv2d_self> {
  public:
    explicit conv2d(integer in_channels, integer out_channels, size_list kernel_size,
        size_list stride = {1}, size_list padding = {0}, size_list dilation = {1},
        integer groups = 1, flag bias = true, tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv2d_args a = {stride.value, padding.value, dilation.value, groups.value,
            bias.value, padding_mode, dtype, device, in_channels.value, out_channels.value,
            kernel_size.value};
        this->made(tn_nn_conv2d_at(at.file, at.line, &a));
    }
    explicit conv2d(integer in_channels, integer out_channels, size_list kernel_size,
        conv2d_options o, site at = site::here()) {
        const tn_nn_conv2d_args a = {o.stride.value, o.padding.value, o.dilation.value,
            o.groups.value, o.bias.value, o.padding_mode, o.dtype, o.device, in_channels.value,
            out_channels.value, kernel_size.value};
        this->made(tn_nn_conv2d_at(at.file, at.line, &a));
    }
    explicit conv2d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv2d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv2d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv2d_self::bias); }
};
}
typedef rows::conv2d<detail::as_objects> conv2d;
}
namespace nn {
struct conv3d_options {
    typedef conv3d_options self_;
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class conv3d : public detail::module_of<K, tn_nn_conv3d_self> {
  public:
    explicit conv3d(integer in_channels, integer out_channels, size_list kernel_size,
        size_list stride = {1}, size_list padding = {0}, size_list dilation = {1},
        integer groups = 1, flag bias = true, tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv3d_args a = {stride.value, padding.value, dilation.value, groups.value,
            bias.value, padding_mode, dtype, device, in_channels.value, out_channels.value,
            kernel_size.value};
        this->made(tn_nn_conv3d_at(at.file, at.line, &a));
    }
    explicit conv3d(integer in_channels, integer out_channels, size_list kernel_size,
        conv3d_options o, site at = site::here()) {
        const tn_nn_conv3d_args a = {o.stride.value, o.padding.value, o.dilation.value,
            o.groups.value, o.bias.value, o.padding_mode, o.dtype, o.device, in_channels.value,
            out_channels.value, kernel_size.value};
        this->made(tn_nn_conv3d_at(at.file, at.line, &a));
    }
    explicit conv3d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv3d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv3d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv3d_self::bias); }
};
}
typedef rows::conv3d<detail::as_objects> conv3d;
}
namespace nn {
struct conv_transpose1d_options {
    typedef conv_transpose1d_options self_;
    TNI_OPTION(kept_int_list, stride, {1})
    TNI_OPTION(kept_int_list, padding, {0})
    TNI_OPTION(kept_int_list, output_padding, {0})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(kept_int_list, dilation, {1})
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
struct conv_transpose1d_forward_options {
    typedef conv_transpose1d_forward_options self_;
    TNI_OPTION(kept_int_list, output_size, int_list(tn_no_dims()))
};
template <class K = as_objects> inline typename K::one conv_transpose1d_forward(tn_module *module,
    tensor_ref input, int_list output_size = int_list(tn_no_dims()), site at = site()) {
    return K::call(tn_nn_conv_transpose1d_forward_at, at, {output_size.value, module, input.value});
}
template <class K = as_objects> inline typename K::one conv_transpose1d_forward(tn_module *module,
    tensor_ref input, conv_transpose1d_forward_options o, site at = site()) {
    return K::call(tn_nn_conv_transpose1d_forward_at, at, {o.output_size.value, module,
        input.value});
}
}
namespace nn {
namespace rows {
template <class K> class conv_transpose1d : public detail::module_of<K,
    tn_nn_conv_transpose1d_self> {
  public:
    explicit conv_transpose1d(integer in_channels, integer out_channels, int_list kernel_size,
        int_list stride = {1}, int_list padding = {0}, int_list output_padding = {0},
        integer groups = 1, flag bias = true, int_list dilation = {1},
        tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv_transpose1d_args a = {stride.value, padding.value, output_padding.value,
            groups.value, bias.value, dilation.value, padding_mode, dtype, device,
            in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose1d_at(at.file, at.line, &a));
    }
    explicit conv_transpose1d(integer in_channels, integer out_channels, int_list kernel_size,
        conv_transpose1d_options o, site at = site::here()) {
        const tn_nn_conv_transpose1d_args a = {o.stride.value, o.padding.value,
            o.output_padding.value, o.groups.value, o.bias.value, o.dilation.value, o.padding_mode,
            o.dtype, o.device, in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose1d_at(at.file, at.line, &a));
    }
    explicit conv_transpose1d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv_transpose1d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv_transpose1d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv_transpose1d_self::bias); }
    typename K::one operator()(tensor_ref input, int_list output_size = int_list(tn_no_dims()),
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose1d_forward_at, at, {output_size.value, this->p_,
            input.value});
    }
    typename K::one operator()(tensor_ref input, conv_transpose1d_forward_options o,
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose1d_forward_at, at, {o.output_size.value, this->p_,
            input.value});
    }
};
}
typedef rows::conv_transpose1d<detail::as_objects> conv_transpose1d;
}
namespace nn {
struct conv_transpose2d_options {
    typedef conv_transpose2d_options self_;
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, output_padding, {0})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
struct conv_transpose2d_forward_options {
    typedef conv_transpose2d_forward_options self_;
    TNI_OPTION(kept_int_list, output_size, int_list(tn_no_dims()))
};
template <class K = as_objects> inline typename K::one conv_transpose2d_forward(tn_module *module,
    tensor_ref input, int_list output_size = int_list(tn_no_dims()), site at = site()) {
    return K::call(tn_nn_conv_transpose2d_forward_at, at, {output_size.value, module, input.value});
}
template <class K = as_objects> inline typename K::one conv_transpose2d_forward(tn_module *module,
    tensor_ref input, conv_transpose2d_forward_options o, site at = site()) {
    return K::call(tn_nn_conv_transpose2d_forward_at, at, {o.output_size.value, module,
        input.value});
}
}
namespace nn {
namespace rows {
template <class K> class conv_transpose2d : public detail::module_of<K,
    tn_nn_conv_transpose2d_self> {
  public:
    explicit conv_transpose2d(integer in_channels, integer out_channels, size_list kernel_size,
        size_list stride = {1}, size_list padding = {0}, size_list output_padding = {0},
        integer groups = 1, flag bias = true, size_list dilation = {1},
        tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv_transpose2d_args a = {stride.value, padding.value, output_padding.value,
            groups.value, bias.value, dilation.value, padding_mode, dtype, device,
            in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose2d_at(at.file, at.line, &a));
    }
    explicit conv_transpose2d(integer in_channels, integer out_channels, size_list kernel_size,
        conv_transpose2d_options o, site at = site::here()) {
        const tn_nn_conv_transpose2d_args a = {o.stride.value, o.padding.value,
            o.output_padding.value, o.groups.value, o.bias.value, o.dilation.value, o.padding_mode,
            o.dtype, o.device, in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose2d_at(at.file, at.line, &a));
    }
    explicit conv_transpose2d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv_transpose2d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv_transpose2d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv_transpose2d_self::bias); }
    typename K::one operator()(tensor_ref input, int_list output_size = int_list(tn_no_dims()),
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose2d_forward_at, at, {output_size.value, this->p_,
            input.value});
    }
    typename K::one operator()(tensor_ref input, conv_transpose2d_forward_options o,
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose2d_forward_at, at, {o.output_size.value, this->p_,
            input.value});
    }
};
}
typedef rows::conv_transpose2d<detail::as_objects> conv_transpose2d;
}
namespace nn {
struct conv_transpose3d_options {
    typedef conv_transpose3d_options self_;
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, output_padding, {0})
    TNI_OPTION(integer, groups, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(tn_padding_mode, padding_mode, TN_PADDING_MODE_ZEROS)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
struct conv_transpose3d_forward_options {
    typedef conv_transpose3d_forward_options self_;
    TNI_OPTION(kept_int_list, output_size, int_list(tn_no_dims()))
};
template <class K = as_objects> inline typename K::one conv_transpose3d_forward(tn_module *module,
    tensor_ref input, int_list output_size = int_list(tn_no_dims()), site at = site()) {
    return K::call(tn_nn_conv_transpose3d_forward_at, at, {output_size.value, module, input.value});
}
template <class K = as_objects> inline typename K::one conv_transpose3d_forward(tn_module *module,
    tensor_ref input, conv_transpose3d_forward_options o, site at = site()) {
    return K::call(tn_nn_conv_transpose3d_forward_at, at, {o.output_size.value, module,
        input.value});
}
}
namespace nn {
namespace rows {
template <class K> class conv_transpose3d : public detail::module_of<K,
    tn_nn_conv_transpose3d_self> {
  public:
    explicit conv_transpose3d(integer in_channels, integer out_channels, size_list kernel_size,
        size_list stride = {1}, size_list padding = {0}, size_list output_padding = {0},
        integer groups = 1, flag bias = true, size_list dilation = {1},
        tn_padding_mode padding_mode = TN_PADDING_MODE_ZEROS, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_conv_transpose3d_args a = {stride.value, padding.value, output_padding.value,
            groups.value, bias.value, dilation.value, padding_mode, dtype, device,
            in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose3d_at(at.file, at.line, &a));
    }
    explicit conv_transpose3d(integer in_channels, integer out_channels, size_list kernel_size,
        conv_transpose3d_options o, site at = site::here()) {
        const tn_nn_conv_transpose3d_args a = {o.stride.value, o.padding.value,
            o.output_padding.value, o.groups.value, o.bias.value, o.dilation.value, o.padding_mode,
            o.dtype, o.device, in_channels.value, out_channels.value, kernel_size.value};
        this->made(tn_nn_conv_transpose3d_at(at.file, at.line, &a));
    }
    explicit conv_transpose3d(const nn::module &m, site at = site::here()) {
        this->same(m, "conv_transpose3d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_conv_transpose3d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_conv_transpose3d_self::bias); }
    typename K::one operator()(tensor_ref input, int_list output_size = int_list(tn_no_dims()),
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose3d_forward_at, at, {output_size.value, this->p_,
            input.value});
    }
    typename K::one operator()(tensor_ref input, conv_transpose3d_forward_options o,
        site at = site::here()) const {
        return K::call(tn_nn_conv_transpose3d_forward_at, at, {o.output_size.value, this->p_,
            input.value});
    }
};
}
typedef rows::conv_transpose3d<detail::as_objects> conv_transpose3d;
}
namespace nn {
struct max_pool2d_options {
    typedef max_pool2d_options self_;
    TNI_OPTION(kept_size_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(flag, return_indices, false)
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class max_pool2d : public detail::module_of<K, tn_nn_max_pool2d_self> {
  public:
    explicit max_pool2d(size_list kernel_size, size_list stride = int_list(tn_no_dims()),
        size_list padding = {0}, size_list dilation = {1}, flag return_indices = false,
        flag ceil_mode = false, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_max_pool2d_args a = {stride.value, padding.value, dilation.value,
            return_indices.value, ceil_mode.value, dtype, device, kernel_size.value};
        this->made(tn_nn_max_pool2d_at(at.file, at.line, &a));
    }
    explicit max_pool2d(size_list kernel_size, max_pool2d_options o, site at = site::here()) {
        const tn_nn_max_pool2d_args a = {o.stride.value, o.padding.value, o.dilation.value,
            o.return_indices.value, o.ceil_mode.value, o.dtype, o.device, kernel_size.value};
        this->made(tn_nn_max_pool2d_at(at.file, at.line, &a));
    }
    explicit max_pool2d(std::initializer_list<int64_t> l, site at = site::here())
        : max_pool2d(size_list(l), max_pool2d_options(), at) {}
    explicit max_pool2d(const nn::module &m, site at = site::here()) {
        this->same(m, "max_pool2d", at);
    }
};
}
typedef rows::max_pool2d<detail::as_objects> max_pool2d;
}
namespace nn {
struct avg_pool2d_options {
    typedef avg_pool2d_options self_;
    TNI_OPTION(kept_size_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(flag, count_include_pad, true)
    TNI_OPTION(integer, divisor_override, TN_NONE)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class avg_pool2d : public detail::module_of<K, tn_nn_avg_pool2d_self> {
  public:
    explicit avg_pool2d(size_list kernel_size, size_list stride = int_list(tn_no_dims()),
        size_list padding = {0}, flag ceil_mode = false, flag count_include_pad = true,
        integer divisor_override = TN_NONE, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_avg_pool2d_args a = {stride.value, padding.value, ceil_mode.value,
            count_include_pad.value, divisor_override.value, dtype, device, kernel_size.value};
        this->made(tn_nn_avg_pool2d_at(at.file, at.line, &a));
    }
    explicit avg_pool2d(size_list kernel_size, avg_pool2d_options o, site at = site::here()) {
        const tn_nn_avg_pool2d_args a = {o.stride.value, o.padding.value, o.ceil_mode.value,
            o.count_include_pad.value, o.divisor_override.value, o.dtype, o.device,
            kernel_size.value};
        this->made(tn_nn_avg_pool2d_at(at.file, at.line, &a));
    }
    explicit avg_pool2d(std::initializer_list<int64_t> l, site at = site::here())
        : avg_pool2d(size_list(l), avg_pool2d_options(), at) {}
    explicit avg_pool2d(const nn::module &m, site at = site::here()) {
        this->same(m, "avg_pool2d", at);
    }
};
}
typedef rows::avg_pool2d<detail::as_objects> avg_pool2d;
}
namespace nn {
struct adaptive_avg_pool2d_options {
    typedef adaptive_avg_pool2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class adaptive_avg_pool2d : public detail::module_of<K,
    tn_nn_adaptive_avg_pool2d_self> {
  public:
    explicit adaptive_avg_pool2d(size_list output_size, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_adaptive_avg_pool2d_args a = {dtype, device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool2d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool2d(size_list output_size, adaptive_avg_pool2d_options o,
        site at = site::here()) {
        const tn_nn_adaptive_avg_pool2d_args a = {o.dtype, o.device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool2d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool2d(std::initializer_list<int64_t> l, site at = site::here())
        : adaptive_avg_pool2d(size_list(l), adaptive_avg_pool2d_options(), at) {}
    explicit adaptive_avg_pool2d(const nn::module &m, site at = site::here()) {
        this->same(m, "adaptive_avg_pool2d", at);
    }
};
}
typedef rows::adaptive_avg_pool2d<detail::as_objects> adaptive_avg_pool2d;
}
namespace nn {
struct max_pool1d_options {
    typedef max_pool1d_options self_;
    TNI_OPTION(kept_int_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(kept_int_list, padding, {0})
    TNI_OPTION(kept_int_list, dilation, {1})
    TNI_OPTION(flag, return_indices, false)
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class max_pool1d : public detail::module_of<K, tn_nn_max_pool1d_self> {
  public:
    explicit max_pool1d(int_list kernel_size, int_list stride = int_list(tn_no_dims()),
        int_list padding = {0}, int_list dilation = {1}, flag return_indices = false,
        flag ceil_mode = false, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_max_pool1d_args a = {stride.value, padding.value, dilation.value,
            return_indices.value, ceil_mode.value, dtype, device, kernel_size.value};
        this->made(tn_nn_max_pool1d_at(at.file, at.line, &a));
    }
    explicit max_pool1d(int_list kernel_size, max_pool1d_options o, site at = site::here()) {
        const tn_nn_max_pool1d_args a = {o.stride.value, o.padding.value, o.dilation.value,
            o.return_indices.value, o.ceil_mode.value, o.dtype, o.device, kernel_size.value};
        this->made(tn_nn_max_pool1d_at(at.file, at.line, &a));
    }
    explicit max_pool1d(const nn::module &m, site at = site::here()) {
        this->same(m, "max_pool1d", at);
    }
};
}
typedef rows::max_pool1d<detail::as_objects> max_pool1d;
}
namespace nn {
struct avg_pool1d_options {
    typedef avg_pool1d_options self_;
    TNI_OPTION(kept_int_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(kept_int_list, padding, {0})
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(flag, count_include_pad, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class avg_pool1d : public detail::module_of<K, tn_nn_avg_pool1d_self> {
  public:
    explicit avg_pool1d(int_list kernel_size, int_list stride = int_list(tn_no_dims()),
        int_list padding = {0}, flag ceil_mode = false, flag count_include_pad = true,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_avg_pool1d_args a = {stride.value, padding.value, ceil_mode.value,
            count_include_pad.value, dtype, device, kernel_size.value};
        this->made(tn_nn_avg_pool1d_at(at.file, at.line, &a));
    }
    explicit avg_pool1d(int_list kernel_size, avg_pool1d_options o, site at = site::here()) {
        const tn_nn_avg_pool1d_args a = {o.stride.value, o.padding.value, o.ceil_mode.value,
            o.count_include_pad.value, o.dtype, o.device, kernel_size.value};
        this->made(tn_nn_avg_pool1d_at(at.file, at.line, &a));
    }
    explicit avg_pool1d(const nn::module &m, site at = site::here()) {
        this->same(m, "avg_pool1d", at);
    }
};
}
typedef rows::avg_pool1d<detail::as_objects> avg_pool1d;
}
namespace nn {
struct adaptive_avg_pool1d_options {
    typedef adaptive_avg_pool1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class adaptive_avg_pool1d : public detail::module_of<K,
    tn_nn_adaptive_avg_pool1d_self> {
  public:
    explicit adaptive_avg_pool1d(int_list output_size, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_adaptive_avg_pool1d_args a = {dtype, device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool1d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool1d(int_list output_size, adaptive_avg_pool1d_options o,
        site at = site::here()) {
        const tn_nn_adaptive_avg_pool1d_args a = {o.dtype, o.device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool1d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool1d(const nn::module &m, site at = site::here()) {
        this->same(m, "adaptive_avg_pool1d", at);
    }
};
}
typedef rows::adaptive_avg_pool1d<detail::as_objects> adaptive_avg_pool1d;
}
namespace nn {
struct adaptive_avg_pool3d_options {
    typedef adaptive_avg_pool3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class adaptive_avg_pool3d : public detail::module_of<K,
    tn_nn_adaptive_avg_pool3d_self> {
  public:
    explicit adaptive_avg_pool3d(size_list output_size, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_adaptive_avg_pool3d_args a = {dtype, device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool3d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool3d(size_list output_size, adaptive_avg_pool3d_options o,
        site at = site::here()) {
        const tn_nn_adaptive_avg_pool3d_args a = {o.dtype, o.device, output_size.value};
        this->made(tn_nn_adaptive_avg_pool3d_at(at.file, at.line, &a));
    }
    explicit adaptive_avg_pool3d(std::initializer_list<int64_t> l, site at = site::here())
        : adaptive_avg_pool3d(size_list(l), adaptive_avg_pool3d_options(), at) {}
    explicit adaptive_avg_pool3d(const nn::module &m, site at = site::here()) {
        this->same(m, "adaptive_avg_pool3d", at);
    }
};
}
typedef rows::adaptive_avg_pool3d<detail::as_objects> adaptive_avg_pool3d;
}
namespace nn {
struct lp_pool1d_options {
    typedef lp_pool1d_options self_;
    TNI_OPTION(kept_int_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class lp_pool1d : public detail::module_of<K, tn_nn_lp_pool1d_self> {
  public:
    explicit lp_pool1d(double norm_type, int_list kernel_size,
        int_list stride = int_list(tn_no_dims()), flag ceil_mode = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_lp_pool1d_args a = {stride.value, ceil_mode.value, dtype, device, norm_type,
            kernel_size.value};
        this->made(tn_nn_lp_pool1d_at(at.file, at.line, &a));
    }
    explicit lp_pool1d(double norm_type, int_list kernel_size, lp_pool1d_options o,
        site at = site::here()) {
        const tn_nn_lp_pool1d_args a = {o.stride.value, o.ceil_mode.value, o.dtype, o.device,
            norm_type, kernel_size.value};
        this->made(tn_nn_lp_pool1d_at(at.file, at.line, &a));
    }
    explicit lp_pool1d(const nn::module &m, site at = site::here()) {
        this->same(m, "lp_pool1d", at);
    }
};
}
typedef rows::lp_pool1d<detail::as_objects> lp_pool1d;
}
namespace nn {
struct lp_pool2d_options {
    typedef lp_pool2d_options self_;
    TNI_OPTION(kept_size_list, stride, int_list(tn_no_dims()))
    TNI_OPTION(flag, ceil_mode, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class lp_pool2d : public detail::module_of<K, tn_nn_lp_pool2d_self> {
  public:
    explicit lp_pool2d(double norm_type, size_list kernel_size,
        size_list stride = int_list(tn_no_dims()), flag ceil_mode = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_lp_pool2d_args a = {stride.value, ceil_mode.value, dtype, device, norm_type,
            kernel_size.value};
        this->made(tn_nn_lp_pool2d_at(at.file, at.line, &a));
    }
    explicit lp_pool2d(double norm_type, size_list kernel_size, lp_pool2d_options o,
        site at = site::here()) {
        const tn_nn_lp_pool2d_args a = {o.stride.value, o.ceil_mode.value, o.dtype, o.device,
            norm_type, kernel_size.value};
        this->made(tn_nn_lp_pool2d_at(at.file, at.line, &a));
    }
    explicit lp_pool2d(const nn::module &m, site at = site::here()) {
        this->same(m, "lp_pool2d", at);
    }
};
}
typedef rows::lp_pool2d<detail::as_objects> lp_pool2d;
}
namespace nn {
struct cosine_similarity_options {
    typedef cosine_similarity_options self_;
    TNI_OPTION(integer, dim, 1)
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one cosine_similarity_forward(tn_module *module,
    tensor_ref x1, tensor_ref x2, site at = site()) {
    return K::call(tn_nn_cosine_similarity_forward_at, at, {module, x1.value, x2.value});
}
}
namespace nn {
namespace rows {
template <class K> class cosine_similarity : public detail::module_of<K,
    tn_nn_cosine_similarity_self> {
  public:
    explicit cosine_similarity(integer dim = 1, double eps = 1e-08, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_cosine_similarity_args a = {dim.value, eps, dtype, device, 0};
        this->made(tn_nn_cosine_similarity_at(at.file, at.line, &a));
    }
    explicit cosine_similarity(cosine_similarity_options o, site at = site::here()) {
        const tn_nn_cosine_similarity_args a = {o.dim.value, o.eps, o.dtype, o.device, 0};
        this->made(tn_nn_cosine_similarity_at(at.file, at.line, &a));
    }
    explicit cosine_similarity(const nn::module &m, site at = site::here()) {
        this->same(m, "cosine_similarity", at);
    }
    typename K::one operator()(tensor_ref x1, tensor_ref x2, site at = site::here()) const {
        return K::call(tn_nn_cosine_similarity_forward_at, at, {this->p_, x1.value, x2.value});
    }
};
}
typedef rows::cosine_similarity<detail::as_objects> cosine_similarity;
}
namespace nn {
struct pairwise_distance_options {
    typedef pairwise_distance_options self_;
    TNI_OPTION(double, p, 2)
    TNI_OPTION(double, eps, 1e-06)
    TNI_OPTION(flag, keepdim, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one pairwise_distance_forward(tn_module *module,
    tensor_ref x1, tensor_ref x2, site at = site()) {
    return K::call(tn_nn_pairwise_distance_forward_at, at, {module, x1.value, x2.value});
}
}
namespace nn {
namespace rows {
template <class K> class pairwise_distance : public detail::module_of<K,
    tn_nn_pairwise_distance_self> {
  public:
    explicit pairwise_distance(first_option<double> p = 2, double eps = 1e-06,
        flag keepdim = false, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_pairwise_distance_args a = {p.value, eps, keepdim.value, dtype, device, 0};
        this->made(tn_nn_pairwise_distance_at(at.file, at.line, &a));
    }
    explicit pairwise_distance(pairwise_distance_options o, site at = site::here()) {
        const tn_nn_pairwise_distance_args a = {o.p, o.eps, o.keepdim.value, o.dtype, o.device, 0};
        this->made(tn_nn_pairwise_distance_at(at.file, at.line, &a));
    }
    explicit pairwise_distance(const nn::module &m, site at = site::here()) {
        this->same(m, "pairwise_distance", at);
    }
    typename K::one operator()(tensor_ref x1, tensor_ref x2, site at = site::here()) const {
        return K::call(tn_nn_pairwise_distance_forward_at, at, {this->p_, x1.value, x2.value});
    }
};
}
typedef rows::pairwise_distance<detail::as_objects> pairwise_distance;
}
namespace nn {
struct unfold_options {
    typedef unfold_options self_;
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class unfold : public detail::module_of<K, tn_nn_unfold_self> {
  public:
    explicit unfold(size_list kernel_size, size_list dilation = {1}, size_list padding = {0},
        size_list stride = {1}, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_unfold_args a = {dilation.value, padding.value, stride.value, dtype, device,
            kernel_size.value};
        this->made(tn_nn_unfold_at(at.file, at.line, &a));
    }
    explicit unfold(size_list kernel_size, unfold_options o, site at = site::here()) {
        const tn_nn_unfold_args a = {o.dilation.value, o.padding.value, o.stride.value, o.dtype,
            o.device, kernel_size.value};
        this->made(tn_nn_unfold_at(at.file, at.line, &a));
    }
    explicit unfold(std::initializer_list<int64_t> l, site at = site::here())
        : unfold(size_list(l), unfold_options(), at) {}
    explicit unfold(const nn::module &m, site at = site::here()) {
        this->same(m, "unfold", at);
    }
};
}
typedef rows::unfold<detail::as_objects> unfold;
}
namespace nn {
struct fold_options {
    typedef fold_options self_;
    TNI_OPTION(kept_size_list, dilation, {1})
    TNI_OPTION(kept_size_list, padding, {0})
    TNI_OPTION(kept_size_list, stride, {1})
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class fold : public detail::module_of<K, tn_nn_fold_self> {
  public:
    explicit fold(size_list output_size, size_list kernel_size, size_list dilation = {1},
        size_list padding = {0}, size_list stride = {1}, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_fold_args a = {dilation.value, padding.value, stride.value, dtype, device,
            output_size.value, kernel_size.value};
        this->made(tn_nn_fold_at(at.file, at.line, &a));
    }
    explicit fold(size_list output_size, size_list kernel_size, fold_options o,
        site at = site::here()) {
        const tn_nn_fold_args a = {o.dilation.value, o.padding.value, o.stride.value, o.dtype,
            o.device, output_size.value, kernel_size.value};
        this->made(tn_nn_fold_at(at.file, at.line, &a));
    }
    explicit fold(const nn::module &m, site at = site::here()) {
        this->same(m, "fold", at);
    }
};
}
typedef rows::fold<detail::as_objects> fold;
}
namespace nn {
struct linear_options {
    typedef linear_options self_;
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class linear : public detail::module_of<K, tn_nn_linear_self> {
  public:
    explicit linear(integer in_features, integer out_features, flag bias = true,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_linear_args a = {bias.value, dtype, device, in_features.value,
            out_features.value};
        this->made(tn_nn_linear_at(at.file, at.line, &a));
    }
    explicit linear(integer in_features, integer out_features, linear_options o,
        site at = site::here()) {
        const tn_nn_linear_args a = {o.bias.value, o.dtype, o.device, in_features.value,
            out_features.value};
        this->made(tn_nn_linear_at(at.file, at.line, &a));
    }
    explicit linear(const nn::module &m, site at = site::here()) {
        this->same(m, "linear", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_linear_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_linear_self::bias); }
};
}
typedef rows::linear<detail::as_objects> linear;
}
namespace nn {
struct embedding_options {
    typedef embedding_options self_;
    TNI_OPTION(integer, padding_idx, TN_NONE)
    TNI_OPTION(flag, scale_grad_by_freq, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class embedding : public detail::module_of<K, tn_nn_embedding_self> {
  public:
    explicit embedding(integer num_embeddings, integer embedding_dim,
        integer padding_idx = TN_NONE, flag scale_grad_by_freq = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_embedding_args a = {padding_idx.value, scale_grad_by_freq.value, dtype, device,
            num_embeddings.value, embedding_dim.value};
        this->made(tn_nn_embedding_at(at.file, at.line, &a));
    }
    explicit embedding(integer num_embeddings, integer embedding_dim, embedding_options o,
        site at = site::here()) {
        const tn_nn_embedding_args a = {o.padding_idx.value, o.scale_grad_by_freq.value, o.dtype,
            o.device, num_embeddings.value, embedding_dim.value};
        this->made(tn_nn_embedding_at(at.file, at.line, &a));
    }
    explicit embedding(const nn::module &m, site at = site::here()) {
        this->same(m, "embedding", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_embedding_self::weight); }
};
}
typedef rows::embedding<detail::as_objects> embedding;
}
namespace nn {
struct dropout_options {
    typedef dropout_options self_;
    TNI_OPTION(double, p, 0.5)
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class dropout : public detail::module_of<K, tn_nn_dropout_self> {
  public:
    explicit dropout(first_option<double> p = 0.5, flag inplace = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_dropout_args a = {p.value, inplace.value, dtype, device, 0};
        this->made(tn_nn_dropout_at(at.file, at.line, &a));
    }
    explicit dropout(dropout_options o, site at = site::here()) {
        const tn_nn_dropout_args a = {o.p, o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_dropout_at(at.file, at.line, &a));
    }
    explicit dropout(const nn::module &m, site at = site::here()) {
        this->same(m, "dropout", at);
    }
};
}
typedef rows::dropout<detail::as_objects> dropout;
}
namespace nn {
struct dropout1d_options {
    typedef dropout1d_options self_;
    TNI_OPTION(double, p, 0.5)
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class dropout1d : public detail::module_of<K, tn_nn_dropout1d_self> {
  public:
    explicit dropout1d(first_option<double> p = 0.5, flag inplace = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_dropout1d_args a = {p.value, inplace.value, dtype, device, 0};
        this->made(tn_nn_dropout1d_at(at.file, at.line, &a));
    }
    explicit dropout1d(dropout1d_options o, site at = site::here()) {
        const tn_nn_dropout1d_args a = {o.p, o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_dropout1d_at(at.file, at.line, &a));
    }
    explicit dropout1d(const nn::module &m, site at = site::here()) {
        this->same(m, "dropout1d", at);
    }
};
}
typedef rows::dropout1d<detail::as_objects> dropout1d;
}
namespace nn {
struct dropout2d_options {
    typedef dropout2d_options self_;
    TNI_OPTION(double, p, 0.5)
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class dropout2d : public detail::module_of<K, tn_nn_dropout2d_self> {
  public:
    explicit dropout2d(first_option<double> p = 0.5, flag inplace = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_dropout2d_args a = {p.value, inplace.value, dtype, device, 0};
        this->made(tn_nn_dropout2d_at(at.file, at.line, &a));
    }
    explicit dropout2d(dropout2d_options o, site at = site::here()) {
        const tn_nn_dropout2d_args a = {o.p, o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_dropout2d_at(at.file, at.line, &a));
    }
    explicit dropout2d(const nn::module &m, site at = site::here()) {
        this->same(m, "dropout2d", at);
    }
};
}
typedef rows::dropout2d<detail::as_objects> dropout2d;
}
namespace nn {
struct dropout3d_options {
    typedef dropout3d_options self_;
    TNI_OPTION(double, p, 0.5)
    TNI_OPTION(flag, inplace, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class dropout3d : public detail::module_of<K, tn_nn_dropout3d_self> {
  public:
    explicit dropout3d(first_option<double> p = 0.5, flag inplace = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_dropout3d_args a = {p.value, inplace.value, dtype, device, 0};
        this->made(tn_nn_dropout3d_at(at.file, at.line, &a));
    }
    explicit dropout3d(dropout3d_options o, site at = site::here()) {
        const tn_nn_dropout3d_args a = {o.p, o.inplace.value, o.dtype, o.device, 0};
        this->made(tn_nn_dropout3d_at(at.file, at.line, &a));
    }
    explicit dropout3d(const nn::module &m, site at = site::here()) {
        this->same(m, "dropout3d", at);
    }
};
}
typedef rows::dropout3d<detail::as_objects> dropout3d;
}
namespace nn {
struct identity_options {
    typedef identity_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class identity : public detail::module_of<K, tn_nn_identity_self> {
  public:
    explicit identity(tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_identity_args a = {dtype, device, 0};
        this->made(tn_nn_identity_at(at.file, at.line, &a));
    }
    explicit identity(identity_options o, site at = site::here()) {
        const tn_nn_identity_args a = {o.dtype, o.device, 0};
        this->made(tn_nn_identity_at(at.file, at.line, &a));
    }
    explicit identity(const nn::module &m, site at = site::here()) {
        this->same(m, "identity", at);
    }
};
}
typedef rows::identity<detail::as_objects> identity;
}
namespace nn {
struct flatten_options {
    typedef flatten_options self_;
    TNI_OPTION(integer, start_dim, 1)
    TNI_OPTION(integer, end_dim, -1)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class flatten : public detail::module_of<K, tn_nn_flatten_self> {
  public:
    explicit flatten(integer start_dim = 1, integer end_dim = -1, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_flatten_args a = {start_dim.value, end_dim.value, dtype, device, 0};
        this->made(tn_nn_flatten_at(at.file, at.line, &a));
    }
    explicit flatten(flatten_options o, site at = site::here()) {
        const tn_nn_flatten_args a = {o.start_dim.value, o.end_dim.value, o.dtype, o.device, 0};
        this->made(tn_nn_flatten_at(at.file, at.line, &a));
    }
    explicit flatten(const nn::module &m, site at = site::here()) {
        this->same(m, "flatten", at);
    }
};
}
typedef rows::flatten<detail::as_objects> flatten;
}
namespace nn {
struct cross_entropy_loss_options {
    typedef cross_entropy_loss_options self_;
    TNI_OPTION(tensor_ref, weight, tensor_ref())
    TNI_OPTION(integer, ignore_index, -100)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(double, label_smoothing, 0)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one cross_entropy_loss_forward(tn_module *module, tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_cross_entropy_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class cross_entropy_loss : public detail::module_of<K,
    tn_nn_cross_entropy_loss_self> {
  public:
    explicit cross_entropy_loss(tensor_ref weight = tensor_ref(), integer ignore_index = -100,
        tn_reduction reduction = TN_REDUCTION_MEAN, double label_smoothing = 0,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_cross_entropy_loss_args a = {weight.value, ignore_index.value, reduction,
            label_smoothing, dtype, device, 0};
        this->made(tn_nn_cross_entropy_loss_at(at.file, at.line, &a));
    }
    explicit cross_entropy_loss(cross_entropy_loss_options o, site at = site::here()) {
        const tn_nn_cross_entropy_loss_args a = {o.weight.value, o.ignore_index.value, o.reduction,
            o.label_smoothing, o.dtype, o.device, 0};
        this->made(tn_nn_cross_entropy_loss_at(at.file, at.line, &a));
    }
    explicit cross_entropy_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "cross_entropy_loss", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_cross_entropy_loss_self::weight); }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_cross_entropy_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::cross_entropy_loss<detail::as_objects> cross_entropy_loss;
}
namespace nn {
struct nll_loss_options {
    typedef nll_loss_options self_;
    TNI_OPTION(tensor_ref, weight, tensor_ref())
    TNI_OPTION(integer, ignore_index, -100)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one nll_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_nll_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class nll_loss : public detail::module_of<K, tn_nn_nll_loss_self> {
  public:
    explicit nll_loss(tensor_ref weight = tensor_ref(), integer ignore_index = -100,
        tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_nll_loss_args a = {weight.value, ignore_index.value, reduction, dtype, device,
            0};
        this->made(tn_nn_nll_loss_at(at.file, at.line, &a));
    }
    explicit nll_loss(nll_loss_options o, site at = site::here()) {
        const tn_nn_nll_loss_args a = {o.weight.value, o.ignore_index.value, o.reduction, o.dtype,
            o.device, 0};
        this->made(tn_nn_nll_loss_at(at.file, at.line, &a));
    }
    explicit nll_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "nll_loss", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_nll_loss_self::weight); }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_nll_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::nll_loss<detail::as_objects> nll_loss;
}
namespace nn {
struct mse_loss_options {
    typedef mse_loss_options self_;
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one mse_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_mse_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class mse_loss : public detail::module_of<K, tn_nn_mse_loss_self> {
  public:
    explicit mse_loss(tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_mse_loss_args a = {reduction, dtype, device, 0};
        this->made(tn_nn_mse_loss_at(at.file, at.line, &a));
    }
    explicit mse_loss(mse_loss_options o, site at = site::here()) {
        const tn_nn_mse_loss_args a = {o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_mse_loss_at(at.file, at.line, &a));
    }
    explicit mse_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "mse_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_mse_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::mse_loss<detail::as_objects> mse_loss;
}
namespace nn {
struct l1_loss_options {
    typedef l1_loss_options self_;
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one l1_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_l1_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class l1_loss : public detail::module_of<K, tn_nn_l1_loss_self> {
  public:
    explicit l1_loss(tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_l1_loss_args a = {reduction, dtype, device, 0};
        this->made(tn_nn_l1_loss_at(at.file, at.line, &a));
    }
    explicit l1_loss(l1_loss_options o, site at = site::here()) {
        const tn_nn_l1_loss_args a = {o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_l1_loss_at(at.file, at.line, &a));
    }
    explicit l1_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "l1_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_l1_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::l1_loss<detail::as_objects> l1_loss;
}
namespace nn {
struct smooth_l1_loss_options {
    typedef smooth_l1_loss_options self_;
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(double, beta, 1)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one smooth_l1_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_smooth_l1_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class smooth_l1_loss : public detail::module_of<K, tn_nn_smooth_l1_loss_self> {
  public:
    explicit smooth_l1_loss(tn_reduction reduction = TN_REDUCTION_MEAN, double beta = 1,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_smooth_l1_loss_args a = {reduction, beta, dtype, device, 0};
        this->made(tn_nn_smooth_l1_loss_at(at.file, at.line, &a));
    }
    explicit smooth_l1_loss(smooth_l1_loss_options o, site at = site::here()) {
        const tn_nn_smooth_l1_loss_args a = {o.reduction, o.beta, o.dtype, o.device, 0};
        this->made(tn_nn_smooth_l1_loss_at(at.file, at.line, &a));
    }
    explicit smooth_l1_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "smooth_l1_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_smooth_l1_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::smooth_l1_loss<detail::as_objects> smooth_l1_loss;
}
namespace nn {
struct huber_loss_options {
    typedef huber_loss_options self_;
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(double, delta, 1)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one huber_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_huber_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class huber_loss : public detail::module_of<K, tn_nn_huber_loss_self> {
  public:
    explicit huber_loss(tn_reduction reduction = TN_REDUCTION_MEAN, double delta = 1,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_huber_loss_args a = {reduction, delta, dtype, device, 0};
        this->made(tn_nn_huber_loss_at(at.file, at.line, &a));
    }
    explicit huber_loss(huber_loss_options o, site at = site::here()) {
        const tn_nn_huber_loss_args a = {o.reduction, o.delta, o.dtype, o.device, 0};
        this->made(tn_nn_huber_loss_at(at.file, at.line, &a));
    }
    explicit huber_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "huber_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_huber_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::huber_loss<detail::as_objects> huber_loss;
}
namespace nn {
struct kl_div_loss_options {
    typedef kl_div_loss_options self_;
    TNI_OPTION(tn_batch_reduction, reduction, TN_BATCH_REDUCTION_MEAN)
    TNI_OPTION(flag, log_target, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one kl_div_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_kl_div_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class kl_div_loss : public detail::module_of<K, tn_nn_kl_div_loss_self> {
  public:
    explicit kl_div_loss(tn_batch_reduction reduction = TN_BATCH_REDUCTION_MEAN,
        flag log_target = false, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_kl_div_loss_args a = {reduction, log_target.value, dtype, device, 0};
        this->made(tn_nn_kl_div_loss_at(at.file, at.line, &a));
    }
    explicit kl_div_loss(kl_div_loss_options o, site at = site::here()) {
        const tn_nn_kl_div_loss_args a = {o.reduction, o.log_target.value, o.dtype, o.device, 0};
        this->made(tn_nn_kl_div_loss_at(at.file, at.line, &a));
    }
    explicit kl_div_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "kl_div_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_kl_div_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::kl_div_loss<detail::as_objects> kl_div_loss;
}
namespace nn {
struct bce_loss_options {
    typedef bce_loss_options self_;
    TNI_OPTION(tensor_ref, weight, tensor_ref())
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one bce_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_bce_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class bce_loss : public detail::module_of<K, tn_nn_bce_loss_self> {
  public:
    explicit bce_loss(tensor_ref weight = tensor_ref(), tn_reduction reduction = TN_REDUCTION_MEAN,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_bce_loss_args a = {weight.value, reduction, dtype, device, 0};
        this->made(tn_nn_bce_loss_at(at.file, at.line, &a));
    }
    explicit bce_loss(bce_loss_options o, site at = site::here()) {
        const tn_nn_bce_loss_args a = {o.weight.value, o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_bce_loss_at(at.file, at.line, &a));
    }
    explicit bce_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "bce_loss", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_bce_loss_self::weight); }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_bce_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::bce_loss<detail::as_objects> bce_loss;
}
namespace nn {
struct bce_with_logits_loss_options {
    typedef bce_with_logits_loss_options self_;
    TNI_OPTION(tensor_ref, weight, tensor_ref())
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tensor_ref, pos_weight, tensor_ref())
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one bce_with_logits_loss_forward(tn_module *module, tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_bce_with_logits_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class bce_with_logits_loss : public detail::module_of<K,
    tn_nn_bce_with_logits_loss_self> {
  public:
    explicit bce_with_logits_loss(tensor_ref weight = tensor_ref(),
        tn_reduction reduction = TN_REDUCTION_MEAN, tensor_ref pos_weight = tensor_ref(),
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_bce_with_logits_loss_args a = {weight.value, reduction, pos_weight.value,
            dtype, device, 0};
        this->made(tn_nn_bce_with_logits_loss_at(at.file, at.line, &a));
    }
    explicit bce_with_logits_loss(bce_with_logits_loss_options o, site at = site::here()) {
        const tn_nn_bce_with_logits_loss_args a = {o.weight.value, o.reduction, o.pos_weight.value,
            o.dtype, o.device, 0};
        this->made(tn_nn_bce_with_logits_loss_at(at.file, at.line, &a));
    }
    explicit bce_with_logits_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "bce_with_logits_loss", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_bce_with_logits_loss_self::weight); }
    tensor pos_weight() const {
        return this->part_at(&tn_nn_bce_with_logits_loss_self::pos_weight); }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_bce_with_logits_loss_forward_at, at, {this->p_, input.value,
            target.value});
    }
};
}
typedef rows::bce_with_logits_loss<detail::as_objects> bce_with_logits_loss;
}
namespace nn {
struct margin_ranking_loss_options {
    typedef margin_ranking_loss_options self_;
    TNI_OPTION(double, margin, 0)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one margin_ranking_loss_forward(tn_module *module, tensor_ref input1, tensor_ref input2, tensor_ref target, site at = site()) {
    return K::call(tn_nn_margin_ranking_loss_forward_at, at, {module, input1.value, input2.value,
        target.value});
}
}
namespace nn {
namespace rows {
template <class K> class margin_ranking_loss : public detail::module_of<K,
    tn_nn_margin_ranking_loss_self> {
  public:
    explicit margin_ranking_loss(first_option<double> margin = 0,
        tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_margin_ranking_loss_args a = {margin.value, reduction, dtype, device, 0};
        this->made(tn_nn_margin_ranking_loss_at(at.file, at.line, &a));
    }
    explicit margin_ranking_loss(margin_ranking_loss_options o, site at = site::here()) {
        const tn_nn_margin_ranking_loss_args a = {o.margin, o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_margin_ranking_loss_at(at.file, at.line, &a));
    }
    explicit margin_ranking_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "margin_ranking_loss", at);
    }
    typename K::one operator()(tensor_ref input1, tensor_ref input2, tensor_ref target,
        site at = site::here()) const {
        return K::call(tn_nn_margin_ranking_loss_forward_at, at, {this->p_, input1.value, input2.value,
            target.value});
    }
};
}
typedef rows::margin_ranking_loss<detail::as_objects> margin_ranking_loss;
}
namespace nn {
struct hinge_embedding_loss_options {
    typedef hinge_embedding_loss_options self_;
    TNI_OPTION(double, margin, 1)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one hinge_embedding_loss_forward(tn_module *module, tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_hinge_embedding_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class hinge_embedding_loss : public detail::module_of<K,
    tn_nn_hinge_embedding_loss_self> {
  public:
    explicit hinge_embedding_loss(first_option<double> margin = 1,
        tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_hinge_embedding_loss_args a = {margin.value, reduction, dtype, device, 0};
        this->made(tn_nn_hinge_embedding_loss_at(at.file, at.line, &a));
    }
    explicit hinge_embedding_loss(hinge_embedding_loss_options o, site at = site::here()) {
        const tn_nn_hinge_embedding_loss_args a = {o.margin, o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_hinge_embedding_loss_at(at.file, at.line, &a));
    }
    explicit hinge_embedding_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "hinge_embedding_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_hinge_embedding_loss_forward_at, at, {this->p_, input.value,
            target.value});
    }
};
}
typedef rows::hinge_embedding_loss<detail::as_objects> hinge_embedding_loss;
}
namespace nn {
struct soft_margin_loss_options {
    typedef soft_margin_loss_options self_;
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one soft_margin_loss_forward(tn_module *module,
    tensor_ref input, tensor_ref target, site at = site()) {
    return K::call(tn_nn_soft_margin_loss_forward_at, at, {module, input.value, target.value});
}
}
namespace nn {
namespace rows {
template <class K> class soft_margin_loss : public detail::module_of<K,
    tn_nn_soft_margin_loss_self> {
  public:
    explicit soft_margin_loss(tn_reduction reduction = TN_REDUCTION_MEAN,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_soft_margin_loss_args a = {reduction, dtype, device, 0};
        this->made(tn_nn_soft_margin_loss_at(at.file, at.line, &a));
    }
    explicit soft_margin_loss(soft_margin_loss_options o, site at = site::here()) {
        const tn_nn_soft_margin_loss_args a = {o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_soft_margin_loss_at(at.file, at.line, &a));
    }
    explicit soft_margin_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "soft_margin_loss", at);
    }
    typename K::one operator()(tensor_ref input, tensor_ref target, site at = site::here()) const {
        return K::call(tn_nn_soft_margin_loss_forward_at, at, {this->p_, input.value, target.value});
    }
};
}
typedef rows::soft_margin_loss<detail::as_objects> soft_margin_loss;
}
namespace nn {
struct cosine_embedding_loss_options {
    typedef cosine_embedding_loss_options self_;
    TNI_OPTION(double, margin, 0)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one cosine_embedding_loss_forward(tn_module *module, tensor_ref input1, tensor_ref input2, tensor_ref target, site at = site()) {
    return K::call(tn_nn_cosine_embedding_loss_forward_at, at, {module, input1.value, input2.value,
        target.value});
}
}
namespace nn {
namespace rows {
template <class K> class cosine_embedding_loss : public detail::module_of<K,
    tn_nn_cosine_embedding_loss_self> {
  public:
    explicit cosine_embedding_loss(first_option<double> margin = 0,
        tn_reduction reduction = TN_REDUCTION_MEAN, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_cosine_embedding_loss_args a = {margin.value, reduction, dtype, device, 0};
        this->made(tn_nn_cosine_embedding_loss_at(at.file, at.line, &a));
    }
    explicit cosine_embedding_loss(cosine_embedding_loss_options o, site at = site::here()) {
        const tn_nn_cosine_embedding_loss_args a = {o.margin, o.reduction, o.dtype, o.device, 0};
        this->made(tn_nn_cosine_embedding_loss_at(at.file, at.line, &a));
    }
    explicit cosine_embedding_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "cosine_embedding_loss", at);
    }
    typename K::one operator()(tensor_ref input1, tensor_ref input2, tensor_ref target,
        site at = site::here()) const {
        return K::call(tn_nn_cosine_embedding_loss_forward_at, at, {this->p_, input1.value,
            input2.value, target.value});
    }
};
}
typedef rows::cosine_embedding_loss<detail::as_objects> cosine_embedding_loss;
}
namespace nn {
struct triplet_margin_loss_options {
    typedef triplet_margin_loss_options self_;
    TNI_OPTION(double, margin, 1)
    TNI_OPTION(double, p, 2)
    TNI_OPTION(double, eps, 1e-06)
    TNI_OPTION(flag, swap, false)
    TNI_OPTION(tn_reduction, reduction, TN_REDUCTION_MEAN)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
template <class K = as_objects> inline typename K::one triplet_margin_loss_forward(tn_module *module, tensor_ref anchor, tensor_ref positive, tensor_ref negative, site at = site()) {
    return K::call(tn_nn_triplet_margin_loss_forward_at, at, {module, anchor.value, positive.value,
        negative.value});
}
}
namespace nn {
namespace rows {
template <class K> class triplet_margin_loss : public detail::module_of<K,
    tn_nn_triplet_margin_loss_self> {
  public:
    explicit triplet_margin_loss(first_option<double> margin = 1, double p = 2, double eps = 1e-06,
        flag swap = false, tn_reduction reduction = TN_REDUCTION_MEAN,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_triplet_margin_loss_args a = {margin.value, p, eps, swap.value, reduction,
            dtype, device, 0};
        this->made(tn_nn_triplet_margin_loss_at(at.file, at.line, &a));
    }
    explicit triplet_margin_loss(triplet_margin_loss_options o, site at = site::here()) {
        const tn_nn_triplet_margin_loss_args a = {o.margin, o.p, o.eps, o.swap.value, o.reduction,
            o.dtype, o.device, 0};
        this->made(tn_nn_triplet_margin_loss_at(at.file, at.line, &a));
    }
    explicit triplet_margin_loss(const nn::module &m, site at = site::here()) {
        this->same(m, "triplet_margin_loss", at);
    }
    typename K::one operator()(tensor_ref anchor, tensor_ref positive, tensor_ref negative,
        site at = site::here()) const {
        return K::call(tn_nn_triplet_margin_loss_forward_at, at, {this->p_, anchor.value,
            positive.value, negative.value});
    }
};
}
typedef rows::triplet_margin_loss<detail::as_objects> triplet_margin_loss;
}
namespace nn {
struct batch_norm1d_options {
    typedef batch_norm1d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, true)
    TNI_OPTION(flag, track_running_stats, true)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class batch_norm1d : public detail::module_of<K, tn_nn_batch_norm1d_self> {
  public:
    explicit batch_norm1d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = true, flag track_running_stats = true,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_batch_norm1d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_batch_norm1d_at(at.file, at.line, &a));
    }
    explicit batch_norm1d(integer num_features, batch_norm1d_options o, site at = site::here()) {
        const tn_nn_batch_norm1d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_batch_norm1d_at(at.file, at.line, &a));
    }
    explicit batch_norm1d(const nn::module &m, site at = site::here()) {
        this->same(m, "batch_norm1d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_batch_norm1d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_batch_norm1d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_batch_norm1d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_batch_norm1d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_batch_norm1d_self::num_batches_tracked); }
};
}
typedef rows::batch_norm1d<detail::as_objects> batch_norm1d;
}
namespace nn {
struct batch_norm2d_options {
    typedef batch_norm2d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, true)
    TNI_OPTION(flag, track_running_stats, true)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class batch_norm2d : public detail::module_of<K, tn_nn_batch_norm2d_self> {
  public:
    explicit batch_norm2d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = true, flag track_running_stats = true,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_batch_norm2d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_batch_norm2d_at(at.file, at.line, &a));
    }
    explicit batch_norm2d(integer num_features, batch_norm2d_options o, site at = site::here()) {
        const tn_nn_batch_norm2d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_batch_norm2d_at(at.file, at.line, &a));
    }
    explicit batch_norm2d(const nn::module &m, site at = site::here()) {
        this->same(m, "batch_norm2d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_batch_norm2d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_batch_norm2d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_batch_norm2d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_batch_norm2d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_batch_norm2d_self::num_batches_tracked); }
};
}
typedef rows::batch_norm2d<detail::as_objects> batch_norm2d;
}
namespace nn {
struct batch_norm3d_options {
    typedef batch_norm3d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, true)
    TNI_OPTION(flag, track_running_stats, true)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class batch_norm3d : public detail::module_of<K, tn_nn_batch_norm3d_self> {
  public:
    explicit batch_norm3d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = true, flag track_running_stats = true,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_batch_norm3d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_batch_norm3d_at(at.file, at.line, &a));
    }
    explicit batch_norm3d(integer num_features, batch_norm3d_options o, site at = site::here()) {
        const tn_nn_batch_norm3d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_batch_norm3d_at(at.file, at.line, &a));
    }
    explicit batch_norm3d(const nn::module &m, site at = site::here()) {
        this->same(m, "batch_norm3d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_batch_norm3d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_batch_norm3d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_batch_norm3d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_batch_norm3d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_batch_norm3d_self::num_batches_tracked); }
};
}
typedef rows::batch_norm3d<detail::as_objects> batch_norm3d;
}
namespace nn {
struct instance_norm1d_options {
    typedef instance_norm1d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, false)
    TNI_OPTION(flag, track_running_stats, false)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class instance_norm1d : public detail::module_of<K, tn_nn_instance_norm1d_self> {
  public:
    explicit instance_norm1d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = false, flag track_running_stats = false,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_instance_norm1d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_instance_norm1d_at(at.file, at.line, &a));
    }
    explicit instance_norm1d(integer num_features, instance_norm1d_options o,
        site at = site::here()) {
        const tn_nn_instance_norm1d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_instance_norm1d_at(at.file, at.line, &a));
    }
    explicit instance_norm1d(const nn::module &m, site at = site::here()) {
        this->same(m, "instance_norm1d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_instance_norm1d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_instance_norm1d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_instance_norm1d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_instance_norm1d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_instance_norm1d_self::num_batches_tracked); }
};
}
typedef rows::instance_norm1d<detail::as_objects> instance_norm1d;
}
namespace nn {
struct instance_norm2d_options {
    typedef instance_norm2d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, false)
    TNI_OPTION(flag, track_running_stats, false)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class instance_norm2d : public detail::module_of<K, tn_nn_instance_norm2d_self> {
  public:
    explicit instance_norm2d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = false, flag track_running_stats = false,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_instance_norm2d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_instance_norm2d_at(at.file, at.line, &a));
    }
    explicit instance_norm2d(integer num_features, instance_norm2d_options o,
        site at = site::here()) {
        const tn_nn_instance_norm2d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_instance_norm2d_at(at.file, at.line, &a));
    }
    explicit instance_norm2d(const nn::module &m, site at = site::here()) {
        this->same(m, "instance_norm2d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_instance_norm2d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_instance_norm2d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_instance_norm2d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_instance_norm2d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_instance_norm2d_self::num_batches_tracked); }
};
}
typedef rows::instance_norm2d<detail::as_objects> instance_norm2d;
}
namespace nn {
struct instance_norm3d_options {
    typedef instance_norm3d_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(tn_maybe, momentum, TN_SOME(0.1))
    TNI_OPTION(flag, affine, false)
    TNI_OPTION(flag, track_running_stats, false)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class instance_norm3d : public detail::module_of<K, tn_nn_instance_norm3d_self> {
  public:
    explicit instance_norm3d(integer num_features, first_option<double> eps = 1e-05,
        tn_maybe momentum = TN_SOME(0.1), flag affine = false, flag track_running_stats = false,
        flag bias = true, tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE,
        site at = site::here()) {
        const tn_nn_instance_norm3d_args a = {eps.value, momentum, affine.value,
            track_running_stats.value, bias.value, dtype, device, num_features.value};
        this->made(tn_nn_instance_norm3d_at(at.file, at.line, &a));
    }
    explicit instance_norm3d(integer num_features, instance_norm3d_options o,
        site at = site::here()) {
        const tn_nn_instance_norm3d_args a = {o.eps, o.momentum, o.affine.value,
            o.track_running_stats.value, o.bias.value, o.dtype, o.device, num_features.value};
        this->made(tn_nn_instance_norm3d_at(at.file, at.line, &a));
    }
    explicit instance_norm3d(const nn::module &m, site at = site::here()) {
        this->same(m, "instance_norm3d", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_instance_norm3d_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_instance_norm3d_self::bias); }
    tensor running_mean() const { return this->part_at(&tn_nn_instance_norm3d_self::running_mean); }
    tensor running_var() const { return this->part_at(&tn_nn_instance_norm3d_self::running_var); }
    tensor num_batches_tracked() const {
        return this->part_at(&tn_nn_instance_norm3d_self::num_batches_tracked); }
};
}
typedef rows::instance_norm3d<detail::as_objects> instance_norm3d;
}
namespace nn {
struct layer_norm_options {
    typedef layer_norm_options self_;
    TNI_OPTION(double, eps, 1e-05)
    TNI_OPTION(flag, elementwise_affine, true)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class layer_norm : public detail::module_of<K, tn_nn_layer_norm_self> {
  public:
    explicit layer_norm(int_list normalized_shape, first_option<double> eps = 1e-05,
        flag elementwise_affine = true, flag bias = true, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_layer_norm_args a = {eps.value, elementwise_affine.value, bias.value, dtype,
            device, normalized_shape.value};
        this->made(tn_nn_layer_norm_at(at.file, at.line, &a));
    }
    explicit layer_norm(int_list normalized_shape, layer_norm_options o, site at = site::here()) {
        const tn_nn_layer_norm_args a = {o.eps, o.elementwise_affine.value, o.bias.value, o.dtype,
            o.device, normalized_shape.value};
        this->made(tn_nn_layer_norm_at(at.file, at.line, &a));
    }
    explicit layer_norm(const nn::module &m, site at = site::here()) {
        this->same(m, "layer_norm", at);
    }
    tensor weight() const { return this->part_at(&tn_nn_layer_norm_self::weight); }
    tensor bias() const { return this->part_at(&tn_nn_layer_norm_self::bias); }
};
}
typedef rows::layer_norm<detail::as_objects> layer_norm;
}
namespace nn {
struct local_response_norm_options {
    typedef local_response_norm_options self_;
    TNI_OPTION(double, alpha, 0.0001)
    TNI_OPTION(double, beta, 0.75)
    TNI_OPTION(double, k, 1)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class local_response_norm : public detail::module_of<K,
    tn_nn_local_response_norm_self> {
  public:
    explicit local_response_norm(integer size, first_option<double> alpha = 0.0001,
        double beta = 0.75, double k = 1, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_local_response_norm_args a = {alpha.value, beta, k, dtype, device, size.value};
        this->made(tn_nn_local_response_norm_at(at.file, at.line, &a));
    }
    explicit local_response_norm(integer size, local_response_norm_options o,
        site at = site::here()) {
        const tn_nn_local_response_norm_args a = {o.alpha, o.beta, o.k, o.dtype, o.device,
            size.value};
        this->made(tn_nn_local_response_norm_at(at.file, at.line, &a));
    }
    explicit local_response_norm(const nn::module &m, site at = site::here()) {
        this->same(m, "local_response_norm", at);
    }
};
}
typedef rows::local_response_norm<detail::as_objects> local_response_norm;
}
namespace nn {
struct constant_pad1d_options {
    typedef constant_pad1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class constant_pad1d : public detail::module_of<K, tn_nn_constant_pad1d_self> {
  public:
    explicit constant_pad1d(size_list padding, double value, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_constant_pad1d_args a = {dtype, device, padding.value, value};
        this->made(tn_nn_constant_pad1d_at(at.file, at.line, &a));
    }
    explicit constant_pad1d(size_list padding, double value, constant_pad1d_options o,
        site at = site::here()) {
        const tn_nn_constant_pad1d_args a = {o.dtype, o.device, padding.value, value};
        this->made(tn_nn_constant_pad1d_at(at.file, at.line, &a));
    }
    explicit constant_pad1d(const nn::module &m, site at = site::here()) {
        this->same(m, "constant_pad1d", at);
    }
};
}
typedef rows::constant_pad1d<detail::as_objects> constant_pad1d;
}
namespace nn {
struct constant_pad2d_options {
    typedef constant_pad2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class constant_pad2d : public detail::module_of<K, tn_nn_constant_pad2d_self> {
  public:
    explicit constant_pad2d(size_list padding, double value, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_constant_pad2d_args a = {dtype, device, padding.value, value};
        this->made(tn_nn_constant_pad2d_at(at.file, at.line, &a));
    }
    explicit constant_pad2d(size_list padding, double value, constant_pad2d_options o,
        site at = site::here()) {
        const tn_nn_constant_pad2d_args a = {o.dtype, o.device, padding.value, value};
        this->made(tn_nn_constant_pad2d_at(at.file, at.line, &a));
    }
    explicit constant_pad2d(const nn::module &m, site at = site::here()) {
        this->same(m, "constant_pad2d", at);
    }
};
}
typedef rows::constant_pad2d<detail::as_objects> constant_pad2d;
}
namespace nn {
struct constant_pad3d_options {
    typedef constant_pad3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class constant_pad3d : public detail::module_of<K, tn_nn_constant_pad3d_self> {
  public:
    explicit constant_pad3d(size_list padding, double value, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_constant_pad3d_args a = {dtype, device, padding.value, value};
        this->made(tn_nn_constant_pad3d_at(at.file, at.line, &a));
    }
    explicit constant_pad3d(size_list padding, double value, constant_pad3d_options o,
        site at = site::here()) {
        const tn_nn_constant_pad3d_args a = {o.dtype, o.device, padding.value, value};
        this->made(tn_nn_constant_pad3d_at(at.file, at.line, &a));
    }
    explicit constant_pad3d(const nn::module &m, site at = site::here()) {
        this->same(m, "constant_pad3d", at);
    }
};
}
typedef rows::constant_pad3d<detail::as_objects> constant_pad3d;
}
namespace nn {
struct zero_pad1d_options {
    typedef zero_pad1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class zero_pad1d : public detail::module_of<K, tn_nn_zero_pad1d_self> {
  public:
    explicit zero_pad1d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_zero_pad1d_args a = {dtype, device, padding.value};
        this->made(tn_nn_zero_pad1d_at(at.file, at.line, &a));
    }
    explicit zero_pad1d(size_list padding, zero_pad1d_options o, site at = site::here()) {
        const tn_nn_zero_pad1d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_zero_pad1d_at(at.file, at.line, &a));
    }
    explicit zero_pad1d(std::initializer_list<int64_t> l, site at = site::here())
        : zero_pad1d(size_list(l), zero_pad1d_options(), at) {}
    explicit zero_pad1d(const nn::module &m, site at = site::here()) {
        this->same(m, "zero_pad1d", at);
    }
};
}
typedef rows::zero_pad1d<detail::as_objects> zero_pad1d;
}
namespace nn {
struct zero_pad2d_options {
    typedef zero_pad2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class zero_pad2d : public detail::module_of<K, tn_nn_zero_pad2d_self> {
  public:
    explicit zero_pad2d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_zero_pad2d_args a = {dtype, device, padding.value};
        this->made(tn_nn_zero_pad2d_at(at.file, at.line, &a));
    }
    explicit zero_pad2d(size_list padding, zero_pad2d_options o, site at = site::here()) {
        const tn_nn_zero_pad2d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_zero_pad2d_at(at.file, at.line, &a));
    }
    explicit zero_pad2d(std::initializer_list<int64_t> l, site at = site::here())
        : zero_pad2d(size_list(l), zero_pad2d_options(), at) {}
    explicit zero_pad2d(const nn::module &m, site at = site::here()) {
        this->same(m, "zero_pad2d", at);
    }
};
}
typedef rows::zero_pad2d<detail::as_objects> zero_pad2d;
}
namespace nn {
struct zero_pad3d_options {
    typedef zero_pad3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class zero_pad3d : public detail::module_of<K, tn_nn_zero_pad3d_self> {
  public:
    explicit zero_pad3d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_zero_pad3d_args a = {dtype, device, padding.value};
        this->made(tn_nn_zero_pad3d_at(at.file, at.line, &a));
    }
    explicit zero_pad3d(size_list padding, zero_pad3d_options o, site at = site::here()) {
        const tn_nn_zero_pad3d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_zero_pad3d_at(at.file, at.line, &a));
    }
    explicit zero_pad3d(std::initializer_list<int64_t> l, site at = site::here())
        : zero_pad3d(size_list(l), zero_pad3d_options(), at) {}
    explicit zero_pad3d(const nn::module &m, site at = site::here()) {
        this->same(m, "zero_pad3d", at);
    }
};
}
typedef rows::zero_pad3d<detail::as_objects> zero_pad3d;
}
namespace nn {
struct reflection_pad1d_options {
    typedef reflection_pad1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class reflection_pad1d : public detail::module_of<K,
    tn_nn_reflection_pad1d_self> {
  public:
    explicit reflection_pad1d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_reflection_pad1d_args a = {dtype, device, padding.value};
        this->made(tn_nn_reflection_pad1d_at(at.file, at.line, &a));
    }
    explicit reflection_pad1d(size_list padding, reflection_pad1d_options o,
        site at = site::here()) {
        const tn_nn_reflection_pad1d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_reflection_pad1d_at(at.file, at.line, &a));
    }
    explicit reflection_pad1d(std::initializer_list<int64_t> l, site at = site::here())
        : reflection_pad1d(size_list(l), reflection_pad1d_options(), at) {}
    explicit reflection_pad1d(const nn::module &m, site at = site::here()) {
        this->same(m, "reflection_pad1d", at);
    }
};
}
typedef rows::reflection_pad1d<detail::as_objects> reflection_pad1d;
}
namespace nn {
struct reflection_pad2d_options {
    typedef reflection_pad2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class reflection_pad2d : public detail::module_of<K,
    tn_nn_reflection_pad2d_self> {
  public:
    explicit reflection_pad2d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_reflection_pad2d_args a = {dtype, device, padding.value};
        this->made(tn_nn_reflection_pad2d_at(at.file, at.line, &a));
    }
    explicit reflection_pad2d(size_list padding, reflection_pad2d_options o,
        site at = site::here()) {
        const tn_nn_reflection_pad2d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_reflection_pad2d_at(at.file, at.line, &a));
    }
    explicit reflection_pad2d(std::initializer_list<int64_t> l, site at = site::here())
        : reflection_pad2d(size_list(l), reflection_pad2d_options(), at) {}
    explicit reflection_pad2d(const nn::module &m, site at = site::here()) {
        this->same(m, "reflection_pad2d", at);
    }
};
}
typedef rows::reflection_pad2d<detail::as_objects> reflection_pad2d;
}
namespace nn {
struct reflection_pad3d_options {
    typedef reflection_pad3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class reflection_pad3d : public detail::module_of<K,
    tn_nn_reflection_pad3d_self> {
  public:
    explicit reflection_pad3d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_reflection_pad3d_args a = {dtype, device, padding.value};
        this->made(tn_nn_reflection_pad3d_at(at.file, at.line, &a));
    }
    explicit reflection_pad3d(size_list padding, reflection_pad3d_options o,
        site at = site::here()) {
        const tn_nn_reflection_pad3d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_reflection_pad3d_at(at.file, at.line, &a));
    }
    explicit reflection_pad3d(std::initializer_list<int64_t> l, site at = site::here())
        : reflection_pad3d(size_list(l), reflection_pad3d_options(), at) {}
    explicit reflection_pad3d(const nn::module &m, site at = site::here()) {
        this->same(m, "reflection_pad3d", at);
    }
};
}
typedef rows::reflection_pad3d<detail::as_objects> reflection_pad3d;
}
namespace nn {
struct replication_pad1d_options {
    typedef replication_pad1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class replication_pad1d : public detail::module_of<K,
    tn_nn_replication_pad1d_self> {
  public:
    explicit replication_pad1d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_replication_pad1d_args a = {dtype, device, padding.value};
        this->made(tn_nn_replication_pad1d_at(at.file, at.line, &a));
    }
    explicit replication_pad1d(size_list padding, replication_pad1d_options o,
        site at = site::here()) {
        const tn_nn_replication_pad1d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_replication_pad1d_at(at.file, at.line, &a));
    }
    explicit replication_pad1d(std::initializer_list<int64_t> l, site at = site::here())
        : replication_pad1d(size_list(l), replication_pad1d_options(), at) {}
    explicit replication_pad1d(const nn::module &m, site at = site::here()) {
        this->same(m, "replication_pad1d", at);
    }
};
}
typedef rows::replication_pad1d<detail::as_objects> replication_pad1d;
}
namespace nn {
struct replication_pad2d_options {
    typedef replication_pad2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class replication_pad2d : public detail::module_of<K,
    tn_nn_replication_pad2d_self> {
  public:
    explicit replication_pad2d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_replication_pad2d_args a = {dtype, device, padding.value};
        this->made(tn_nn_replication_pad2d_at(at.file, at.line, &a));
    }
    explicit replication_pad2d(size_list padding, replication_pad2d_options o,
        site at = site::here()) {
        const tn_nn_replication_pad2d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_replication_pad2d_at(at.file, at.line, &a));
    }
    explicit replication_pad2d(std::initializer_list<int64_t> l, site at = site::here())
        : replication_pad2d(size_list(l), replication_pad2d_options(), at) {}
    explicit replication_pad2d(const nn::module &m, site at = site::here()) {
        this->same(m, "replication_pad2d", at);
    }
};
}
typedef rows::replication_pad2d<detail::as_objects> replication_pad2d;
}
namespace nn {
struct replication_pad3d_options {
    typedef replication_pad3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class replication_pad3d : public detail::module_of<K,
    tn_nn_replication_pad3d_self> {
  public:
    explicit replication_pad3d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_replication_pad3d_args a = {dtype, device, padding.value};
        this->made(tn_nn_replication_pad3d_at(at.file, at.line, &a));
    }
    explicit replication_pad3d(size_list padding, replication_pad3d_options o,
        site at = site::here()) {
        const tn_nn_replication_pad3d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_replication_pad3d_at(at.file, at.line, &a));
    }
    explicit replication_pad3d(std::initializer_list<int64_t> l, site at = site::here())
        : replication_pad3d(size_list(l), replication_pad3d_options(), at) {}
    explicit replication_pad3d(const nn::module &m, site at = site::here()) {
        this->same(m, "replication_pad3d", at);
    }
};
}
typedef rows::replication_pad3d<detail::as_objects> replication_pad3d;
}
namespace nn {
struct circular_pad1d_options {
    typedef circular_pad1d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class circular_pad1d : public detail::module_of<K, tn_nn_circular_pad1d_self> {
  public:
    explicit circular_pad1d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_circular_pad1d_args a = {dtype, device, padding.value};
        this->made(tn_nn_circular_pad1d_at(at.file, at.line, &a));
    }
    explicit circular_pad1d(size_list padding, circular_pad1d_options o, site at = site::here()) {
        const tn_nn_circular_pad1d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_circular_pad1d_at(at.file, at.line, &a));
    }
    explicit circular_pad1d(std::initializer_list<int64_t> l, site at = site::here())
        : circular_pad1d(size_list(l), circular_pad1d_options(), at) {}
    explicit circular_pad1d(const nn::module &m, site at = site::here()) {
        this->same(m, "circular_pad1d", at);
    }
};
}
typedef rows::circular_pad1d<detail::as_objects> circular_pad1d;
}
namespace nn {
struct circular_pad2d_options {
    typedef circular_pad2d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class circular_pad2d : public detail::module_of<K, tn_nn_circular_pad2d_self> {
  public:
    explicit circular_pad2d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_circular_pad2d_args a = {dtype, device, padding.value};
        this->made(tn_nn_circular_pad2d_at(at.file, at.line, &a));
    }
    explicit circular_pad2d(size_list padding, circular_pad2d_options o, site at = site::here()) {
        const tn_nn_circular_pad2d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_circular_pad2d_at(at.file, at.line, &a));
    }
    explicit circular_pad2d(std::initializer_list<int64_t> l, site at = site::here())
        : circular_pad2d(size_list(l), circular_pad2d_options(), at) {}
    explicit circular_pad2d(const nn::module &m, site at = site::here()) {
        this->same(m, "circular_pad2d", at);
    }
};
}
typedef rows::circular_pad2d<detail::as_objects> circular_pad2d;
}
namespace nn {
struct circular_pad3d_options {
    typedef circular_pad3d_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class circular_pad3d : public detail::module_of<K, tn_nn_circular_pad3d_self> {
  public:
    explicit circular_pad3d(size_list padding, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_circular_pad3d_args a = {dtype, device, padding.value};
        this->made(tn_nn_circular_pad3d_at(at.file, at.line, &a));
    }
    explicit circular_pad3d(size_list padding, circular_pad3d_options o, site at = site::here()) {
        const tn_nn_circular_pad3d_args a = {o.dtype, o.device, padding.value};
        this->made(tn_nn_circular_pad3d_at(at.file, at.line, &a));
    }
    explicit circular_pad3d(std::initializer_list<int64_t> l, site at = site::here())
        : circular_pad3d(size_list(l), circular_pad3d_options(), at) {}
    explicit circular_pad3d(const nn::module &m, site at = site::here()) {
        this->same(m, "circular_pad3d", at);
    }
};
}
typedef rows::circular_pad3d<detail::as_objects> circular_pad3d;
}
namespace nn {
struct lstm_options {
    typedef lstm_options self_;
    TNI_OPTION(integer, num_layers, 1)
    TNI_OPTION(flag, bias, true)
    TNI_OPTION(flag, batch_first, false)
    TNI_OPTION(double, dropout, 0)
    TNI_OPTION(flag, bidirectional, false)
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
struct output_h_n_c_n {
    tensor output, h_n, c_n;
};
template <>
struct detail::in_objects<tn_output_h_n_c_n> {
    typedef output_h_n_c_n type;
    static type made(const tn_output_h_n_c_n &c) {
        type r = {tensor::take(c.output), tensor::take(c.h_n), tensor::take(c.c_n)};
        return r;
    }
    static type borrowed(const tn_output_h_n_c_n &c) {
        type r = {tensor(c.output), tensor(c.h_n), tensor(c.c_n)};
        return r;
    }
};
namespace nn {
struct lstm_forward_options {
    typedef lstm_forward_options self_;
    TNI_OPTION(tensor_ref, h, tensor_ref())
    TNI_OPTION(tensor_ref, c, tensor_ref())
};
template <class K = as_objects> inline typename K::template many<tn_output_h_n_c_n>::type lstm_forward(tn_module *module, tensor_ref input, tensor_ref h = tensor_ref(), tensor_ref c = tensor_ref(), site at = site()) {
    return K::call(tn_nn_lstm_forward_at, at, {h.value, c.value, module, input.value});
}
template <class K = as_objects> inline typename K::template many<tn_output_h_n_c_n>::type lstm_forward(tn_module *module, tensor_ref input, lstm_forward_options o, site at = site()) {
    return K::call(tn_nn_lstm_forward_at, at, {o.h.value, o.c.value, module, input.value});
}
}
namespace nn {
namespace rows {
template <class K> class lstm : public detail::module_of<K, tn_nn_lstm_self> {
  public:
    explicit lstm(integer input_size, integer hidden_size, integer num_layers = 1,
        flag bias = true, flag batch_first = false, double dropout = 0, flag bidirectional = false,
        tn_dtype dtype = TN_NO_DTYPE, tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_lstm_args a = {num_layers.value, bias.value, batch_first.value, dropout,
            bidirectional.value, dtype, device, input_size.value, hidden_size.value};
        this->made(tn_nn_lstm_at(at.file, at.line, &a));
    }
    explicit lstm(integer input_size, integer hidden_size, lstm_options o, site at = site::here()) {
        const tn_nn_lstm_args a = {o.num_layers.value, o.bias.value, o.batch_first.value,
            o.dropout, o.bidirectional.value, o.dtype, o.device, input_size.value,
            hidden_size.value};
        this->made(tn_nn_lstm_at(at.file, at.line, &a));
    }
    explicit lstm(const nn::module &m, site at = site::here()) {
        this->same(m, "lstm", at);
    }
    typename K::template many<tn_output_h_n_c_n>::type operator()(tensor_ref input,
        tensor_ref h = tensor_ref(), tensor_ref c = tensor_ref(), site at = site::here()) const {
        return K::call(tn_nn_lstm_forward_at, at, {h.value, c.value, this->p_, input.value});
    }
    typename K::template many<tn_output_h_n_c_n>::type operator()(tensor_ref input,
        lstm_forward_options o, site at = site::here()) const {
        return K::call(tn_nn_lstm_forward_at, at, {o.h.value, o.c.value, this->p_, input.value});
    }
};
}
typedef rows::lstm<detail::as_objects> lstm;
}
namespace nn {
struct pixel_shuffle_options {
    typedef pixel_shuffle_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class pixel_shuffle : public detail::module_of<K, tn_nn_pixel_shuffle_self> {
  public:
    explicit pixel_shuffle(integer upscale_factor, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_pixel_shuffle_args a = {dtype, device, upscale_factor.value};
        this->made(tn_nn_pixel_shuffle_at(at.file, at.line, &a));
    }
    explicit pixel_shuffle(integer upscale_factor, pixel_shuffle_options o, site at = site::here())
        {
        const tn_nn_pixel_shuffle_args a = {o.dtype, o.device, upscale_factor.value};
        this->made(tn_nn_pixel_shuffle_at(at.file, at.line, &a));
    }
    explicit pixel_shuffle(const nn::module &m, site at = site::here()) {
        this->same(m, "pixel_shuffle", at);
    }
};
}
typedef rows::pixel_shuffle<detail::as_objects> pixel_shuffle;
}
namespace nn {
struct pixel_unshuffle_options {
    typedef pixel_unshuffle_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class pixel_unshuffle : public detail::module_of<K, tn_nn_pixel_unshuffle_self> {
  public:
    explicit pixel_unshuffle(integer downscale_factor, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_pixel_unshuffle_args a = {dtype, device, downscale_factor.value};
        this->made(tn_nn_pixel_unshuffle_at(at.file, at.line, &a));
    }
    explicit pixel_unshuffle(integer downscale_factor, pixel_unshuffle_options o,
        site at = site::here()) {
        const tn_nn_pixel_unshuffle_args a = {o.dtype, o.device, downscale_factor.value};
        this->made(tn_nn_pixel_unshuffle_at(at.file, at.line, &a));
    }
    explicit pixel_unshuffle(const nn::module &m, site at = site::here()) {
        this->same(m, "pixel_unshuffle", at);
    }
};
}
typedef rows::pixel_unshuffle<detail::as_objects> pixel_unshuffle;
}
namespace nn {
struct channel_shuffle_options {
    typedef channel_shuffle_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class channel_shuffle : public detail::module_of<K, tn_nn_channel_shuffle_self> {
  public:
    explicit channel_shuffle(integer groups, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_channel_shuffle_args a = {dtype, device, groups.value};
        this->made(tn_nn_channel_shuffle_at(at.file, at.line, &a));
    }
    explicit channel_shuffle(integer groups, channel_shuffle_options o, site at = site::here()) {
        const tn_nn_channel_shuffle_args a = {o.dtype, o.device, groups.value};
        this->made(tn_nn_channel_shuffle_at(at.file, at.line, &a));
    }
    explicit channel_shuffle(const nn::module &m, site at = site::here()) {
        this->same(m, "channel_shuffle", at);
    }
};
}
typedef rows::channel_shuffle<detail::as_objects> channel_shuffle;
}
namespace nn {
struct unflatten_options {
    typedef unflatten_options self_;
    TNI_OPTION(tn_dtype, dtype, TN_NO_DTYPE)
    TNI_OPTION(tn_device_id, device, TN_NO_DEVICE)
};
}
namespace nn {
namespace rows {
template <class K> class unflatten : public detail::module_of<K, tn_nn_unflatten_self> {
  public:
    explicit unflatten(integer dim, int_list unflattened_size, tn_dtype dtype = TN_NO_DTYPE,
        tn_device_id device = TN_NO_DEVICE, site at = site::here()) {
        const tn_nn_unflatten_args a = {dtype, device, dim.value, unflattened_size.value};
        this->made(tn_nn_unflatten_at(at.file, at.line, &a));
    }
    explicit unflatten(integer dim, int_list unflattened_size, unflatten_options o,
        site at = site::here()) {
        const tn_nn_unflatten_args a = {o.dtype, o.device, dim.value, unflattened_size.value};
        this->made(tn_nn_unflatten_at(at.file, at.line, &a));
    }
    explicit unflatten(const nn::module &m, site at = site::here()) {
        this->same(m, "unflatten", at);
    }
};
}
typedef rows::unflatten<detail::as_objects> unflatten;
}
namespace optim {
struct adam_options {
    typedef adam_options self_;
    TNI_OPTION(double, lr, 0.001)
    TNI_OPTION(kept_float_list, betas, {0.9, 0.999})
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, amsgrad, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class adam : public detail::kept<K, optimizer>::type {
  public:
    explicit adam(tensor_list params, first_option<double> lr = 0.001, float_list betas = {0.9,
        0.999}, double eps = 1e-08, double weight_decay = 0, flag amsgrad = false,
        flag maximize = false, site at = site::here()) {
        const tn_optim_adam_args a = {lr.value, betas.value, eps, weight_decay, amsgrad.value,
            maximize.value, params.value};
        this->made(tn_optim_adam_at(at.file, at.line, &a));
    }
    explicit adam(tensor_list params, adam_options o, site at = site::here()) {
        const tn_optim_adam_args a = {o.lr, o.betas.value, o.eps, o.weight_decay, o.amsgrad.value,
            o.maximize.value, params.value};
        this->made(tn_optim_adam_at(at.file, at.line, &a));
    }
};
}
typedef rows::adam<detail::as_objects> adam;
}
namespace optim {
struct adamw_options {
    typedef adamw_options self_;
    TNI_OPTION(double, lr, 0.001)
    TNI_OPTION(kept_float_list, betas, {0.9, 0.999})
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0.01)
    TNI_OPTION(flag, amsgrad, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class adamw : public detail::kept<K, optimizer>::type {
  public:
    explicit adamw(tensor_list params, first_option<double> lr = 0.001, float_list betas = {0.9,
        0.999}, double eps = 1e-08, double weight_decay = 0.01, flag amsgrad = false,
        flag maximize = false, site at = site::here()) {
        const tn_optim_adamw_args a = {lr.value, betas.value, eps, weight_decay, amsgrad.value,
            maximize.value, params.value};
        this->made(tn_optim_adamw_at(at.file, at.line, &a));
    }
    explicit adamw(tensor_list params, adamw_options o, site at = site::here()) {
        const tn_optim_adamw_args a = {o.lr, o.betas.value, o.eps, o.weight_decay, o.amsgrad.value,
            o.maximize.value, params.value};
        this->made(tn_optim_adamw_at(at.file, at.line, &a));
    }
};
}
typedef rows::adamw<detail::as_objects> adamw;
}
namespace optim {
struct asgd_options {
    typedef asgd_options self_;
    TNI_OPTION(double, lr, 0.01)
    TNI_OPTION(double, lambd, 0.0001)
    TNI_OPTION(double, alpha, 0.75)
    TNI_OPTION(double, t0, 1000000)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class asgd : public detail::kept<K, optimizer>::type {
  public:
    explicit asgd(tensor_list params, first_option<double> lr = 0.01, double lambd = 0.0001,
        double alpha = 0.75, double t0 = 1000000, double weight_decay = 0, flag maximize = false,
        site at = site::here()) {
        const tn_optim_asgd_args a = {lr.value, lambd, alpha, t0, weight_decay, maximize.value,
            params.value};
        this->made(tn_optim_asgd_at(at.file, at.line, &a));
    }
    explicit asgd(tensor_list params, asgd_options o, site at = site::here()) {
        const tn_optim_asgd_args a = {o.lr, o.lambd, o.alpha, o.t0, o.weight_decay,
            o.maximize.value, params.value};
        this->made(tn_optim_asgd_at(at.file, at.line, &a));
    }
};
}
typedef rows::asgd<detail::as_objects> asgd;
}
namespace optim {
struct rprop_options {
    typedef rprop_options self_;
    TNI_OPTION(double, lr, 0.01)
    TNI_OPTION(kept_float_list, etas, {0.5, 1.2})
    TNI_OPTION(kept_float_list, step_sizes, {1e-06, 50})
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class rprop : public detail::kept<K, optimizer>::type {
  public:
    explicit rprop(tensor_list params, first_option<double> lr = 0.01, float_list etas = {0.5,
        1.2}, float_list step_sizes = {1e-06, 50}, flag maximize = false, site at = site::here()) {
        const tn_optim_rprop_args a = {lr.value, etas.value, step_sizes.value, maximize.value,
            params.value};
        this->made(tn_optim_rprop_at(at.file, at.line, &a));
    }
    explicit rprop(tensor_list params, rprop_options o, site at = site::here()) {
        const tn_optim_rprop_args a = {o.lr, o.etas.value, o.step_sizes.value, o.maximize.value,
            params.value};
        this->made(tn_optim_rprop_at(at.file, at.line, &a));
    }
};
}
typedef rows::rprop<detail::as_objects> rprop;
}
namespace optim {
struct adamax_options {
    typedef adamax_options self_;
    TNI_OPTION(double, lr, 0.002)
    TNI_OPTION(kept_float_list, betas, {0.9, 0.999})
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class adamax : public detail::kept<K, optimizer>::type {
  public:
    explicit adamax(tensor_list params, first_option<double> lr = 0.002, float_list betas = {0.9,
        0.999}, double eps = 1e-08, double weight_decay = 0, flag maximize = false,
        site at = site::here()) {
        const tn_optim_adamax_args a = {lr.value, betas.value, eps, weight_decay, maximize.value,
            params.value};
        this->made(tn_optim_adamax_at(at.file, at.line, &a));
    }
    explicit adamax(tensor_list params, adamax_options o, site at = site::here()) {
        const tn_optim_adamax_args a = {o.lr, o.betas.value, o.eps, o.weight_decay,
            o.maximize.value, params.value};
        this->made(tn_optim_adamax_at(at.file, at.line, &a));
    }
};
}
typedef rows::adamax<detail::as_objects> adamax;
}
namespace optim {
struct nadam_options {
    typedef nadam_options self_;
    TNI_OPTION(double, lr, 0.002)
    TNI_OPTION(kept_float_list, betas, {0.9, 0.999})
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(double, momentum_decay, 0.004)
    TNI_OPTION(flag, decoupled_weight_decay, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class nadam : public detail::kept<K, optimizer>::type {
  public:
    explicit nadam(tensor_list params, first_option<double> lr = 0.002, float_list betas = {0.9,
        0.999}, double eps = 1e-08, double weight_decay = 0, double momentum_decay = 0.004,
        flag decoupled_weight_decay = false, flag maximize = false, site at = site::here()) {
        const tn_optim_nadam_args a = {lr.value, betas.value, eps, weight_decay, momentum_decay,
            decoupled_weight_decay.value, maximize.value, params.value};
        this->made(tn_optim_nadam_at(at.file, at.line, &a));
    }
    explicit nadam(tensor_list params, nadam_options o, site at = site::here()) {
        const tn_optim_nadam_args a = {o.lr, o.betas.value, o.eps, o.weight_decay,
            o.momentum_decay, o.decoupled_weight_decay.value, o.maximize.value, params.value};
        this->made(tn_optim_nadam_at(at.file, at.line, &a));
    }
};
}
typedef rows::nadam<detail::as_objects> nadam;
}
namespace optim {
struct radam_options {
    typedef radam_options self_;
    TNI_OPTION(double, lr, 0.001)
    TNI_OPTION(kept_float_list, betas, {0.9, 0.999})
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, decoupled_weight_decay, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class radam : public detail::kept<K, optimizer>::type {
  public:
    explicit radam(tensor_list params, first_option<double> lr = 0.001, float_list betas = {0.9,
        0.999}, double eps = 1e-08, double weight_decay = 0, flag decoupled_weight_decay = false,
        flag maximize = false, site at = site::here()) {
        const tn_optim_radam_args a = {lr.value, betas.value, eps, weight_decay,
            decoupled_weight_decay.value, maximize.value, params.value};
        this->made(tn_optim_radam_at(at.file, at.line, &a));
    }
    explicit radam(tensor_list params, radam_options o, site at = site::here()) {
        const tn_optim_radam_args a = {o.lr, o.betas.value, o.eps, o.weight_decay,
            o.decoupled_weight_decay.value, o.maximize.value, params.value};
        this->made(tn_optim_radam_at(at.file, at.line, &a));
    }
};
}
typedef rows::radam<detail::as_objects> radam;
}
namespace optim {
struct sgd_options {
    typedef sgd_options self_;
    TNI_OPTION(double, lr, 0.001)
    TNI_OPTION(double, momentum, 0)
    TNI_OPTION(double, dampening, 0)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, nesterov, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class sgd : public detail::kept<K, optimizer>::type {
  public:
    explicit sgd(tensor_list params, first_option<double> lr = 0.001, double momentum = 0,
        double dampening = 0, double weight_decay = 0, flag nesterov = false,
        flag maximize = false, site at = site::here()) {
        const tn_optim_sgd_args a = {lr.value, momentum, dampening, weight_decay, nesterov.value,
            maximize.value, params.value};
        this->made(tn_optim_sgd_at(at.file, at.line, &a));
    }
    explicit sgd(tensor_list params, sgd_options o, site at = site::here()) {
        const tn_optim_sgd_args a = {o.lr, o.momentum, o.dampening, o.weight_decay,
            o.nesterov.value, o.maximize.value, params.value};
        this->made(tn_optim_sgd_at(at.file, at.line, &a));
    }
};
}
typedef rows::sgd<detail::as_objects> sgd;
}
namespace optim {
struct adagrad_options {
    typedef adagrad_options self_;
    TNI_OPTION(double, lr, 0.01)
    TNI_OPTION(double, lr_decay, 0)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(double, initial_accumulator_value, 0)
    TNI_OPTION(double, eps, 1e-10)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class adagrad : public detail::kept<K, optimizer>::type {
  public:
    explicit adagrad(tensor_list params, first_option<double> lr = 0.01, double lr_decay = 0,
        double weight_decay = 0, double initial_accumulator_value = 0, double eps = 1e-10,
        flag maximize = false, site at = site::here()) {
        const tn_optim_adagrad_args a = {lr.value, lr_decay, weight_decay,
            initial_accumulator_value, eps, maximize.value, params.value};
        this->made(tn_optim_adagrad_at(at.file, at.line, &a));
    }
    explicit adagrad(tensor_list params, adagrad_options o, site at = site::here()) {
        const tn_optim_adagrad_args a = {o.lr, o.lr_decay, o.weight_decay,
            o.initial_accumulator_value, o.eps, o.maximize.value, params.value};
        this->made(tn_optim_adagrad_at(at.file, at.line, &a));
    }
};
}
typedef rows::adagrad<detail::as_objects> adagrad;
}
namespace optim {
struct rmsprop_options {
    typedef rmsprop_options self_;
    TNI_OPTION(double, lr, 0.01)
    TNI_OPTION(double, alpha, 0.99)
    TNI_OPTION(double, eps, 1e-08)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(double, momentum, 0)
    TNI_OPTION(flag, centered, false)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class rmsprop : public detail::kept<K, optimizer>::type {
  public:
    explicit rmsprop(tensor_list params, first_option<double> lr = 0.01, double alpha = 0.99,
        double eps = 1e-08, double weight_decay = 0, double momentum = 0, flag centered = false,
        flag maximize = false, site at = site::here()) {
        const tn_optim_rmsprop_args a = {lr.value, alpha, eps, weight_decay, momentum,
            centered.value, maximize.value, params.value};
        this->made(tn_optim_rmsprop_at(at.file, at.line, &a));
    }
    explicit rmsprop(tensor_list params, rmsprop_options o, site at = site::here()) {
        const tn_optim_rmsprop_args a = {o.lr, o.alpha, o.eps, o.weight_decay, o.momentum,
            o.centered.value, o.maximize.value, params.value};
        this->made(tn_optim_rmsprop_at(at.file, at.line, &a));
    }
};
}
typedef rows::rmsprop<detail::as_objects> rmsprop;
}
namespace optim {
struct adadelta_options {
    typedef adadelta_options self_;
    TNI_OPTION(double, lr, 1)
    TNI_OPTION(double, rho, 0.9)
    TNI_OPTION(double, eps, 1e-06)
    TNI_OPTION(double, weight_decay, 0)
    TNI_OPTION(flag, maximize, false)
};
}
namespace optim {
namespace rows {
template <class K> class adadelta : public detail::kept<K, optimizer>::type {
  public:
    explicit adadelta(tensor_list params, first_option<double> lr = 1, double rho = 0.9,
        double eps = 1e-06, double weight_decay = 0, flag maximize = false, site at = site::here())
        {
        const tn_optim_adadelta_args a = {lr.value, rho, eps, weight_decay, maximize.value,
            params.value};
        this->made(tn_optim_adadelta_at(at.file, at.line, &a));
    }
    explicit adadelta(tensor_list params, adadelta_options o, site at = site::here()) {
        const tn_optim_adadelta_args a = {o.lr, o.rho, o.eps, o.weight_decay, o.maximize.value,
            params.value};
        this->made(tn_optim_adadelta_at(at.file, at.line, &a));
    }
};
}
typedef rows::adadelta<detail::as_objects> adadelta;
}
TNI_TN_END

/* C's names: results are as in C. */
#define TN_MODULES(...) (tn::modules_ref({__VA_ARGS__}).value)
#define tn_sequential(...) tn_nn_sequential(TN_MODULES(__VA_ARGS__))
#define tn_nn_relu(...) tn::nn::rows::relu<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_leaky_relu(...) tn::nn::rows::leaky_relu<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_prelu(...) tn::nn::rows::prelu<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_gelu(...) tn::nn::rows::gelu<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_silu(...) tn::nn::rows::silu<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_sigmoid(...) tn::nn::rows::sigmoid<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_tanh(...) tn::nn::rows::tanh<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_softplus(...) tn::nn::rows::softplus<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_softsign(...) tn::nn::rows::softsign<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_softmax(...) tn::nn::rows::softmax<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_log_softmax(...) tn::nn::rows::log_softmax<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_multihead_attention(...) \
    tn::nn::rows::multihead_attention<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_multihead_attention_forward(...) \
    tn::nn::multihead_attention_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_sequential(...) tn::nn::rows::sequential<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_module_list(...) tn::nn::rows::module_list<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv1d(...) tn::nn::rows::conv1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv2d(...) tn::nn::rows::conv2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv3d(...) tn::nn::rows::conv3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv_transpose1d(...) \
    tn::nn::rows::conv_transpose1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv_transpose1d_forward(...) \
    tn::nn::conv_transpose1d_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_conv_transpose2d(...) \
    tn::nn::rows::conv_transpose2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv_transpose2d_forward(...) \
    tn::nn::conv_transpose2d_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_conv_transpose3d(...) \
    tn::nn::rows::conv_transpose3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_conv_transpose3d_forward(...) \
    tn::nn::conv_transpose3d_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_max_pool2d(...) tn::nn::rows::max_pool2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_avg_pool2d(...) tn::nn::rows::avg_pool2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_adaptive_avg_pool2d(...) \
    tn::nn::rows::adaptive_avg_pool2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_max_pool1d(...) tn::nn::rows::max_pool1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_avg_pool1d(...) tn::nn::rows::avg_pool1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_adaptive_avg_pool1d(...) \
    tn::nn::rows::adaptive_avg_pool1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_adaptive_avg_pool3d(...) \
    tn::nn::rows::adaptive_avg_pool3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_lp_pool1d(...) tn::nn::rows::lp_pool1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_lp_pool2d(...) tn::nn::rows::lp_pool2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_cosine_similarity(...) \
    tn::nn::rows::cosine_similarity<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_cosine_similarity_forward(...) \
    tn::nn::cosine_similarity_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_pairwise_distance(...) \
    tn::nn::rows::pairwise_distance<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_pairwise_distance_forward(...) \
    tn::nn::pairwise_distance_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_unfold(...) tn::nn::rows::unfold<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_fold(...) tn::nn::rows::fold<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_linear(...) tn::nn::rows::linear<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_embedding(...) tn::nn::rows::embedding<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_dropout(...) tn::nn::rows::dropout<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_dropout1d(...) tn::nn::rows::dropout1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_dropout2d(...) tn::nn::rows::dropout2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_dropout3d(...) tn::nn::rows::dropout3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_identity(...) tn::nn::rows::identity<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_flatten(...) tn::nn::rows::flatten<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_cross_entropy_loss(...) \
    tn::nn::rows::cross_entropy_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_cross_entropy_loss_forward(...) \
    tn::nn::cross_entropy_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_nll_loss(...) tn::nn::rows::nll_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_nll_loss_forward(...) tn::nn::nll_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_mse_loss(...) tn::nn::rows::mse_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_mse_loss_forward(...) tn::nn::mse_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_l1_loss(...) tn::nn::rows::l1_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_l1_loss_forward(...) tn::nn::l1_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_smooth_l1_loss(...) \
    tn::nn::rows::smooth_l1_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_smooth_l1_loss_forward(...) \
    tn::nn::smooth_l1_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_huber_loss(...) tn::nn::rows::huber_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_huber_loss_forward(...) tn::nn::huber_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_kl_div_loss(...) tn::nn::rows::kl_div_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_kl_div_loss_forward(...) tn::nn::kl_div_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_bce_loss(...) tn::nn::rows::bce_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_bce_loss_forward(...) tn::nn::bce_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_bce_with_logits_loss(...) \
    tn::nn::rows::bce_with_logits_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_bce_with_logits_loss_forward(...) \
    tn::nn::bce_with_logits_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_margin_ranking_loss(...) \
    tn::nn::rows::margin_ranking_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_margin_ranking_loss_forward(...) \
    tn::nn::margin_ranking_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_hinge_embedding_loss(...) \
    tn::nn::rows::hinge_embedding_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_hinge_embedding_loss_forward(...) \
    tn::nn::hinge_embedding_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_soft_margin_loss(...) \
    tn::nn::rows::soft_margin_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_soft_margin_loss_forward(...) \
    tn::nn::soft_margin_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_cosine_embedding_loss(...) \
    tn::nn::rows::cosine_embedding_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_cosine_embedding_loss_forward(...) \
    tn::nn::cosine_embedding_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_triplet_margin_loss(...) \
    tn::nn::rows::triplet_margin_loss<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_triplet_margin_loss_forward(...) \
    tn::nn::triplet_margin_loss_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_batch_norm1d(...) tn::nn::rows::batch_norm1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_batch_norm2d(...) tn::nn::rows::batch_norm2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_batch_norm3d(...) tn::nn::rows::batch_norm3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_instance_norm1d(...) \
    tn::nn::rows::instance_norm1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_instance_norm2d(...) \
    tn::nn::rows::instance_norm2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_instance_norm3d(...) \
    tn::nn::rows::instance_norm3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_layer_norm(...) tn::nn::rows::layer_norm<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_local_response_norm(...) \
    tn::nn::rows::local_response_norm<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_constant_pad1d(...) \
    tn::nn::rows::constant_pad1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_constant_pad2d(...) \
    tn::nn::rows::constant_pad2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_constant_pad3d(...) \
    tn::nn::rows::constant_pad3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_zero_pad1d(...) tn::nn::rows::zero_pad1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_zero_pad2d(...) tn::nn::rows::zero_pad2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_zero_pad3d(...) tn::nn::rows::zero_pad3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_reflection_pad1d(...) \
    tn::nn::rows::reflection_pad1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_reflection_pad2d(...) \
    tn::nn::rows::reflection_pad2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_reflection_pad3d(...) \
    tn::nn::rows::reflection_pad3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_replication_pad1d(...) \
    tn::nn::rows::replication_pad1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_replication_pad2d(...) \
    tn::nn::rows::replication_pad2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_replication_pad3d(...) \
    tn::nn::rows::replication_pad3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_circular_pad1d(...) \
    tn::nn::rows::circular_pad1d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_circular_pad2d(...) \
    tn::nn::rows::circular_pad2d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_circular_pad3d(...) \
    tn::nn::rows::circular_pad3d<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_lstm(...) tn::nn::rows::lstm<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_lstm_forward(...) tn::nn::lstm_forward<tn::detail::as_c>(__VA_ARGS__)
#define tn_nn_pixel_shuffle(...) tn::nn::rows::pixel_shuffle<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_pixel_unshuffle(...) \
    tn::nn::rows::pixel_unshuffle<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_channel_shuffle(...) \
    tn::nn::rows::channel_shuffle<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_nn_unflatten(...) tn::nn::rows::unflatten<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_adam(...) tn::optim::rows::adam<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_adamw(...) tn::optim::rows::adamw<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_asgd(...) tn::optim::rows::asgd<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_rprop(...) tn::optim::rows::rprop<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_adamax(...) tn::optim::rows::adamax<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_nadam(...) tn::optim::rows::nadam<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_radam(...) tn::optim::rows::radam<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_sgd(...) tn::optim::rows::sgd<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_adagrad(...) tn::optim::rows::adagrad<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_rmsprop(...) tn::optim::rows::rmsprop<tn::detail::as_c>(__VA_ARGS__).give()
#define tn_optim_adadelta(...) tn::optim::rows::adadelta<tn::detail::as_c>(__VA_ARGS__).give()
#endif

/* ================================================================================================
 * == [10] cxx_data.h
 *
 * C++ only: data sets, loaders as ranges, training.
 *
 *     tn::data::loader loader(tn::data::tensors({x, y}), {.batch_size = 64, .shuffle = true});
 *     for (auto &batch : loader) loss(net(batch[0]), batch[1]).backward();
 *     tn::train(net, opt, loader, {.epochs = 5});
 * (C++20; before: tn::train_options().set_epochs(5))
 *
 * Each `for` is an epoch. It ends early if a batch cannot be read: with TN_EXCEPTIONS it throws,
 * else ask tn_ok() after it. One thread at a time may use a loader. */

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN
namespace data {

/* --- data sets -------------------------------------------------------------------------------- */

/* One owner of a tn_dataset; copies share it. */
class dataset {
  protected:
    tn_dataset *p_;

  public:
    dataset() noexcept : p_(nullptr) {}
    explicit dataset(tn_dataset *d) : p_(d ? tn_dataset_hold(d) : nullptr) {}
    static dataset take(tn_dataset *fresh) {
        dataset d;
        d.p_ = fresh;
        if (!fresh) detail::check();
        return d;
    }
    dataset(const dataset &o) : p_(o.p_ ? tn_dataset_hold(o.p_) : nullptr) {}
    dataset(dataset &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    dataset &operator=(dataset o) noexcept {
        tn_dataset *d = p_;
        p_ = o.p_;
        o.p_ = d;
        return *this;
    }
    ~dataset() { tn_dataset_free(p_); }
    tn_dataset *get() const noexcept { return p_; }
    tn_dataset *release() noexcept {
        tn_dataset *d = p_;
        p_ = nullptr;
        return d;
    }
    bool defined() const noexcept { return p_ != nullptr; }
    int64_t size() const noexcept { return p_ ? p_->size : 0; }
    /* Items from..to-1. */
    dataset slice(int64_t from, int64_t to, site at = site::here()) const {
        return take(tn_dataset_slice_at(at.file, at.line, dataset(*this).release(), from, to));
    }
};

/* Item i is row i of each tensor. */
inline dataset tensors(tensor_list l, site at = site::here()) {
    return dataset::take(tn_dataset_tensors_at(at.file, at.line, l.value));
}
/* Pictures u8 and labels, as float32 (v / 255 - mean) / std and int64; see data.h. */
inline dataset images(tensor_ref pictures, tensor_ref labels, double mean = 0, double std = 1,
                      site at = site::here()) {
    return dataset::take(
        tn_dataset_images_at(at.file, at.line, pictures.value, labels.value, mean, std));
}
inline dataset idx(const char *images_path, const char *labels_path, double mean = 0,
                   double std = 1, site at = site::here()) {
    return dataset::take(tn_dataset_idx_at(at.file, at.line, images_path, labels_path, mean, std));
}

/* --- data sets of your own -------------------------------------------------------------------- */

/* One field of an item: dtype and sizes. */
struct field {
    tn_dtype dtype;
    int_list sizes;
};

/* Where an item is to be written. */
class item {
    const tn_dataset *set_;
    void *const *to_;

  public:
    item(const tn_dataset *set, void *const *to) : set_(set), to_(to) {}
    /* The elements of a field, row-major; NULL with TYPE if they are not of type T, and with
     * INVALID if there is no such field. */
    template <class T>
    T *data(int field) const {
        if (field < 0 || field >= set_->nfields) {
            if (!tn_error_set(TN_INVALID, nullptr, 0, "item: field %d of %d", field, set_->nfields))
                detail::check();
            return nullptr;
        }
        if (set_->field[field].dtype != detail::element<T>::dtype()) {
            if (!tn_error_set(TN_TYPE, nullptr, 0, "item: field %d is %s, not %s", field,
                              tn_dtype_name(set_->field[field].dtype),
                              tn_dtype_name(detail::element<T>::dtype())))
                detail::check();
            return nullptr;
        }
        return static_cast<T *>(to_[field]);
    }
};

/* Your own set. Several threads call get at the same time.
 *
 *     struct squares : tn::data::source {
 *         squares() : source(100, {{TN_F32, {1}}, {TN_F32, {1}}}) {}
 *         void get(int64_t i, const tn::data::item &to) const override {
 *             to.data<float>(0)[0] = (float)i;
 *             to.data<float>(1)[0] = (float)(i * i);
 *         }
 *     };
 *     tn::data::loader loader(tn::data::make<squares>(), {.batch_size = 10}); */
class source {
    tn_dataset like_;
    site at_;

    struct get_call {
        const source *object;
        int64_t index;
        item to;
        void operator()() { object->get(index, to); }
    };
    static bool run_get(const tn_dataset *d, int64_t index, void *const *to) {
        get_call run = {static_cast<const source *>(d->user), index, item(d, to)};
        return detail::call(run) && tn_ok();
    }
    static void run_destroy(tn_dataset *d) { delete static_cast<source *>(d->user); }
    template <class T, class... A>
    friend dataset make(A &&...args);

  protected:
    /* fields: dtype and sizes of each, none for a number. */
    source(int64_t size, std::initializer_list<field> fields, site at = site::here())
        : like_(), at_(at) {
        like_.size = size;
        like_.get = &run_get;
        like_.destroy = &run_destroy;
        like_.nfields = static_cast<int>(fields.size());
        for (size_t i = 0; i < fields.size() && i < TN_MAX_FIELDS; i++) {
            const field &f = fields.begin()[i];
            like_.field[i].dtype = f.dtype;
            like_.field[i].ndim = static_cast<int>(f.sizes.value.n > 0 ? f.sizes.value.n : 0);
            for (int64_t d = 0; d < f.sizes.value.n && d < TN_MAX_DIMS; d++)
                like_.field[i].size[d] = f.sizes.value.at[d];
        }
    }

  public:
    source(const source &) = delete;
    source &operator=(const source &) = delete;
    virtual ~source() {}
    /* Writes item `index` to all fields. An error, or an exception, ends the epoch. */
    virtual void get(int64_t index, const item &to) const = 0;
    int64_t size() const { return like_.size; }
};
/* A data set that owns a new object of T. */
template <class T, class... A>
inline dataset make(A &&...args) {
    source *object = new (std::nothrow) T(static_cast<A &&>(args)...);
    if (!object) {
        tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a data set");
        return dataset::take(nullptr);
    }
    object->like_.user = object;
    return dataset::take(tn_dataset_new_at(object->at_.file, object->at_.line, &object->like_));
}

/* --- the loader ------------------------------------------------------------------------------- */

struct loader_options {
    typedef loader_options self_;
    TNI_OPTION(integer, batch_size, 1)
    TNI_OPTION(flag, shuffle, false)
    TNI_OPTION(flag, drop_last, false)
    TNI_OPTION(int32_t, workers, 0)  /* threads that read ahead */
    TNI_OPTION(int32_t, prefetch, 2) /* batches that each of them reads ahead */
    TNI_OPTION(tn_generator *, generator, nullptr)
};

/* The tensors of a batch, of shape (items, sizes of the field). */
class batch {
    tensor field_[TN_MAX_FIELDS];
    tn_batch c_;

  public:
    batch() : c_() {}
    explicit batch(const tn_batch &b) : c_(b) { /* one more owner of the tensors */
        for (int i = 0; i < b.nfields; i++) field_[i] = tensor(b.field[i]);
    }
    static batch take(const tn_batch &fresh) {
        batch b;
        b.c_ = fresh;
        for (int i = 0; i < fresh.nfields; i++) b.field_[i] = tensor::take(fresh.field[i]);
        return b;
    }
    /* Undefined if there is no such field. */
    const tensor &operator[](int i) const {
        static const tensor none;
        return i >= 0 && i < c_.nfields ? field_[i] : none;
    }
    int fields() const { return c_.nfields; }
    int64_t size() const { return c_.n; }      /* items */
    int64_t index() const { return c_.index; } /* of the batch in the epoch */
};

class loader {
    tn_loader *p_;
    site at_;

  public:
    loader(const dataset &d, loader_options o = loader_options(), site at = site::here())
        : at_(at) {
        const tn_loader_args a = {o.batch_size.value, o.shuffle.value, o.drop_last.value,
                                  o.workers,          o.prefetch,      o.generator,
                                  dataset(d).release()};
        p_ = tn_loader_new_at(at.file, at.line, &a);
        if (!p_) detail::check();
    }
    loader(loader &&o) noexcept : p_(o.p_), at_(o.at_) { o.p_ = nullptr; }
    loader(const loader &) = delete;
    loader &operator=(const loader &) = delete;
    ~loader() { tn_loader_free(p_); }
    tn_loader *get() const noexcept { return p_; }
    int64_t batches() const { return tn_loader_batches(p_); } /* in an epoch */
    dataset set() const { return dataset(tn_loader_dataset(p_)); }
    /* The next batch into b, for loops that are no range; false as tn_loader_next. */
    bool next(batch &b, site at = site::here()) {
        tn_batch fresh;
        b = batch();
        if (!tn_loader_next_at(at.file, at.line, p_, &fresh)) {
            detail::check();
            return false;
        }
        b = batch::take(fresh);
        return true;
    }

    class iterator {
        loader *of_; /* NULL: the end */
        batch batch_;

      public:
        explicit iterator(loader *of) : of_(of) {
            if (of_) ++*this;
        }
        batch &operator*() { return batch_; }
        batch *operator->() { return &batch_; }
        iterator &operator++() {
            if (!of_->next(batch_, of_->at_)) of_ = nullptr;
            return *this;
        }
        bool operator!=(const iterator &o) const { return of_ != o.of_; }
        bool operator==(const iterator &o) const { return of_ == o.of_; }
    };
    /* Begins an epoch; one that a `break` left is given up. */
    iterator begin() {
        tn_loader_stop(p_);
        return iterator(this);
    }
    iterator end() { return iterator(nullptr); }
};
} // namespace data

/* --- training --------------------------------------------------------------------------------- */

struct train_options {
    typedef train_options self_;
    TNI_OPTION(integer, epochs, 1)
    TNI_OPTION(nn::module, loss, nn::module()) /* undefined: CrossEntropyLoss */
    TNI_OPTION(optim::schedule *, schedule, nullptr)
    TNI_OPTION(data::loader *, test, nullptr) /* evaluated after each epoch */
    TNI_OPTION(double, clip_norm, 0)
    TNI_OPTION(const char *, checkpoint, nullptr)
    TNI_OPTION(flag, resume, false)
};

namespace detail {
/* What training calls: the user's functions, and C's structs of them. */
template <class F, class R>
struct progress_call {
    F &f;
    const tn_progress *progress;
    bool go_on;
    void operator()() { go_on = f(*progress); }
};
template <class F>
struct progress_call<F, void> {
    F &f;
    const tn_progress *progress;
    bool go_on;
    void operator()() {
        f(*progress);
        go_on = true;
    }
};
struct no_function {
    void operator()(const tn_progress &) const {}
    tensor operator()(const nn::module &, const data::batch &) const { return tensor(); }
};
template <class L>
struct loss_call {
    L &f;
    tn_module *model;
    const tn_batch *b;
    tensor loss;
    void operator()() { loss = f(nn::module(model), data::batch(*b)); }
};
template <class F, class L>
struct training {
    F on;
    L loss;
    static bool run_on(const tn_progress *p, void *user) {
        typedef decltype(some<F>()(*p)) result;
        progress_call<F, result> run = {static_cast<training *>(user)->on, p, false};
        return call(run) && run.go_on;
    }
    static tn_tensor *run_loss(tn_module *model, const tn_batch *b, tn_tensor **output,
                               void *user) {
        loss_call<L> run = {static_cast<training *>(user)->loss, model, b, tensor()};
        (void)output;
        if (!call(run) || !tn_ok()) return nullptr;
        if (!run.loss.defined())
            tn_error_set(TN_INVALID, nullptr, 0, "train: the loss is undefined");
        return nn::calls::lent(run.loss);
    }
};
template <class F, class L>
inline bool train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, const F &on, const L &loss, bool own_loss, site at) {
    training<F, L> run = {on, loss};
    tn_train_args a = tn_train_args();
    a.loss = o.loss.get();
    a.batch_loss = own_loss ? &training<F, L>::run_loss : nullptr;
    a.schedule = o.schedule ? o.schedule->get() : nullptr;
    a.test = o.test ? o.test->get() : nullptr;
    a.epochs = o.epochs.value;
    a.clip_norm = o.clip_norm;
    a.checkpoint = o.checkpoint;
    a.resume = o.resume.value;
    a.on = &training<F, L>::run_on;
    a.user = &run;
    a.model = model.get();
    a.optimizer = optimizer.get();
    a.loader = loader.get();
    const bool ok = tn_train_at(at.file, at.line, &a);
    check();
    return ok;
}
} // namespace detail

/* Trains; see tn_train. on(progress) sees each tn_progress; if it returns false, training stops
 * without an error. loss(model, batch) computes the loss of a batch, in place of options.loss.
 *     tn::train(net, opt, loader, {.epochs = 5, .test = &test});
 *     tn::train(net, opt, loader, {}, [](const tn_progress &p) { return p.loss > 0.1; });
 *     tn::train(net, opt, loader, {}, on, [](tn::nn::module m, const tn::data::batch &b) {..}); */
inline bool train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o = train_options(), site at = site::here()) {
    const detail::no_function none = detail::no_function();
    return detail::train(model, optimizer, loader, o, none, none, false, at);
}
template <class F>
inline auto train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, F on, site at = site::here())
    -> decltype(on(tn_progress()), bool()) {
    return detail::train(model, optimizer, loader, o, on, detail::no_function(), false, at);
}
template <class F, class L>
inline auto train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, F on, L loss, site at = site::here())
    -> decltype(on(tn_progress()), loss(model, data::batch()), bool()) {
    return detail::train(model, optimizer, loader, o, on, loss, true, at);
}

/* Means over an epoch of a loader, in eval mode and without recording; see tn_evaluate. */
struct evaluation {
    double loss, accuracy; /* NaN with an error */
};
inline evaluation evaluate(const nn::module &model, const nn::module &loss, data::loader &loader,
                           site at = site::here()) {
    evaluation e = {0, 0};
    if (!tn_evaluate_at(at.file, at.line, model.get(), loss.get(), loader.get(), &e.loss,
                        &e.accuracy)) {
        e.loss = e.accuracy = detail::not_a_number();
        detail::check();
    }
    return e;
}

/* Checkpoints of all that a training needs; a NULL member is left out. See train.h. */
struct checkpoint {
    typedef checkpoint self_;
    TNI_OPTION(nn::module, model, nn::module())
    TNI_OPTION(optim::optimizer *, optimizer, nullptr)
    TNI_OPTION(optim::schedule *, schedule, nullptr)
    TNI_OPTION(tn_generator *, generator, nullptr)

    /*     tn::checkpoint().set_model(net).set_optimizer(&opt).save("run.safetensors"); */
    bool save(const char *path, site at = site::here()) const {
        const tn_state s = state();
        const bool ok = tn_checkpoint_save_at(at.file, at.line, path, &s);
        if (!ok) detail::check();
        return ok;
    }
    bool load(const char *path, site at = site::here()) const {
        const tn_state s = state();
        const bool ok = tn_checkpoint_load_at(at.file, at.line, path, &s);
        if (!ok) detail::check();
        return ok;
    }

  private:
    tn_state state() const {
        tn_state s = tn_state();
        s.model = model.get();
        s.optimizer = optimizer ? optimizer->get() : nullptr;
        s.schedule = schedule ? schedule->get() : nullptr;
        s.generator = generator;
        return s;
    }
};
TNI_TN_END
#endif


#if defined(TN_EXPORT) || defined(TN_IMPORT)
#define TNI_NN_SECTION 2 /* table of all functions, at the end of this file */
#include TN_NN_HEADER_NAME
#endif

/* 77bc7b16d381 is the hash of the chapters above: who includes this refers to a symbol of
 * that name, which the implementation has. What does not fit does not link. */
#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && !defined(TN_IMPORT)
TNI_EXTERN_C_BEGIN
TN_API const char tn_nn_layout_77bc7b16d381;
#if defined(__GNUC__)
static const char *const tni_nn_layout __attribute__((used)) = &tn_nn_layout_77bc7b16d381;
#endif
TNI_EXTERN_C_END
#endif

#endif /* TN_TENSOR_NN_H */

#if defined(TENSOR_NN_IMPLEMENTATION) && !defined(TNI_NN_IMPLEMENTED)
#define TNI_NN_IMPLEMENTED
#ifndef TN_NN_HEADER_NAME
#define TN_NN_HEADER_NAME "tensor_nn.h"
#endif
#ifdef __has_include
#if !__has_include(TN_NN_HEADER_NAME)
#error "this file has another name: #define TN_NN_HEADER_NAME to it before the include"
#endif
#endif
#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && TNI_PART(4)
const char tn_nn_layout_77bc7b16d381 = 1;
#endif

/* src/nn/nn.h - the module tree's private part */

/* src/nn/parts.h - the small texts of a module row: parts, shapes that are taken, printed options */

typedef struct tni_span {
    const char *at;
    int n;
} tni_span;

enum {
    TNI_SPAN_PARAM = 1,
    TNI_SPAN_BUFFER,
    TNI_SPAN_TRANSIENT,
    TNI_SPAN_CHILD
};

typedef struct tni_part_text {
    int kind;
    tni_span name, dtype, type;
    tni_span items;
    tni_span condition;
    tni_span given;
} tni_part_text;

TN_PRIV int tni_part_next(const char **at, tni_part_text *p, const char **error);
TN_PRIV bool tni_item_next(tni_span *list, tni_span *item);
TN_PRIV void tni_item_split(tni_span item, tni_span *name, tni_span *value);
TN_PRIV bool tni_span_is(tni_span s, const char *text);
TN_PRIV bool tni_span_is_name(tni_span s);

enum { TNI_FIGURE_NONE = 0, TNI_FIGURE_INT, TNI_FIGURE_FLOAT };
typedef struct tni_figure {
    int kind;
    int64_t value;
    double real;
} tni_figure;
typedef bool (*tni_lookup)(void *user, tni_span name, int64_t index, tni_figure *to);
TN_PRIV bool tni_expression(tni_span text, tni_lookup lookup, void *user, tni_figure *to,
                            const char **error);
TN_PRIV bool tni_figure_true(tni_figure v);

#include <stdio.h>
#include <string.h>

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

TN_PRIV const tn_mrow *const *tni_mrows(void);

TN_PRIV void *tni_alloc_each(int64_t n, size_t each);

typedef struct tni_buffer {
    char *at;
    int64_t n, room;
    bool failed;
} tni_buffer;
TN_PRIV void *tni_buffer_add(tni_buffer *b, const void *from,
                             int64_t bytes);
TN_PRIV void tni_buffer_text(tni_buffer *b, const char *format, ...)
    TNI_PRINTF(2, 3);
TN_PRIV void tni_buffer_free(tni_buffer *b);
TN_PRIV char *tni_text_copy(const char *text, size_t n);
TN_PRIV void tni_text_free(char *text);

typedef struct tni_map {
    const void **key;
    void **value;
    int64_t n, room;
} tni_map;
TN_PRIV void **tni_map_at(tni_map *m, const void *key,
                          bool *fresh);
TN_PRIV void **tni_map_find(const tni_map *m, const void *key);
TN_PRIV void tni_map_free(tni_map *m);

TN_PRIV bool tni_nn_error(tn_code code, const char *format, ...) TNI_PRINTF(2, 3);

typedef struct tni_step {
    tn_path path;
    const char *type;
} tni_step;
TN_PRIV void tni_step_begin(tni_step *s, const char *file, int line, const char *type);
TN_PRIV void tni_place_begin(tni_step *s, const char *file, int line);
TN_PRIV void tni_step_end(tni_step *s);

TN_PRIV const tn_mgen *
tni_mgen_of(const tn_mrow *row);
TN_PRIV const tn_gen *tni_call_of(const tn_module *m);
TN_PRIV void *tni_options(const tn_module *m);
TN_PRIV const tn_param *tni_option(const tn_module *m, const char *name);
TN_PRIV bool tni_option_number(void *module, tni_span name, int64_t index,
                               tni_figure *to);
TN_PRIV bool tni_option_ints(const tn_module *m, tni_span name, tn_ints *to);
TN_PRIV bool tni_row_text_error(const char *what, tni_span at, const char *why);
TN_PRIV bool tni_sizes_of(tn_module *m, const char *what, tni_span items, int64_t *size, int *n,
                          int *star, int *most);
TN_PRIV bool tni_parts_make(tn_module *m);
TN_PRIV bool tni_expect_make(tn_module *m);
TN_PRIV bool tni_expect_copy(tn_module *to, const tn_module *from);
TN_PRIV void tni_expect_free(tn_module *m);
TN_PRIV void tni_hooks_free(tn_module *m);
TN_PRIV tn_dtype tni_dtype_option(const tn_module *m);
TN_PRIV tn_device_id tni_device_option(const tn_module *m);
typedef union tni_args {
    double align;
    void *align_pointer;
    int64_t align_int;
    char at[TNI_ARGS_BYTES];
} tni_args;
TN_PRIV tn_part *tni_part_new(tn_module *m, tn_part_kind kind, const char *name, void **field);

typedef struct tni_plan {
    tni_buffer swaps;
} tni_plan;
TN_PRIV bool tni_plan_load(tni_plan *plan, tn_module *m, const tn_named *at, int64_t n, bool strict,
                           bool take);
TN_PRIV void tni_plan_end(tni_plan *plan, bool commit);

TN_PRIV void **tni_part_place(const tn_module *m, int i);
TN_PRIV tn_named_list tni_module_tensors(const tn_module *m);
TN_PRIV bool tni_tree_contains(const tn_module *root, const tn_module *m);
TN_PRIV bool tni_tree_path(const tn_module *root, const tn_module *m, char *to, size_t room);

TNI_INLINE tn_tensor *tni_forward_child(tn_mframe *f, tn_module *child, tn_tensor *x) {
    return tn_forward_at(f->path.file, f->path.line, child, x);
}

TN_PRIV const char *tni_nn_shape_text(char *text, size_t room, const tn_tensor *t);

TN_PRIV bool tni_init_affine(tn_tensor *weight, tn_tensor *bias);

/* src/optim/optim.h - optimizers and schedules: private part */

#define TN_OPTIMIZER(name_, schema_, doc, ...)                                        \
    TNI_ROW_BEGIN                                                                     \
    TN_PRIV_DECLARE(tn_gen, tni_ogen_##name_);                                        \
    TN_PRIV_DECLARE(tn_orow, tni_optimizer_##name_);                                  \
    TNI_PRIVATE_BEGIN                                                                 \
    TN_PRIV_DEFINE(tn_orow, tni_optimizer_##name_) = {.name = #name_,                 \
                                                      .schema = schema_,              \
                                                      .gen = &tni_ogen_##name_,       \
                                                      TNI_WITHOUT_##doc __VA_ARGS__}; \
    TNI_PRIVATE_END TNI_ROW_END

TN_PRIV const tn_orow *const *tni_orows(void);

TNI_INLINE tn_floats tni_numbers(const double *at, int64_t n) {
    tn_floats l = {at, n};
    return l;
}

TN_PRIV bool tni_option_bound(double value, const char *name);
TN_PRIV double *tni_step_factors(const tn_ostep *s, int64_t i, int factors, bool maximize,
                                 double decay);
TN_PRIV bool tni_step_by_rule(const tn_ostep *s, tn_optimizer_rule rule, int factors);
typedef struct tni_group {
    char *options;
    int64_t bytes;
    int64_t first, count;
} tni_group;

struct tn_optimizer {
    const tn_orow *row;
    int nstates, nkept, ngroups, groups_room;
    tni_group *group;
    int64_t n;
    tn_tensor **param;
    tn_tensor **state;
    double *count;
    double *kept;
    int64_t bytes;
    void *step_room;
};
TN_PRIV bool tni_group_check(const tn_optimizer *o, const void *options);
TN_PRIV bool tni_option_put(const tn_param *p, char *options, double value);
TN_PRIV bool tni_option_take(const tn_param *p, const char *options, double *value);

TN_PRIV int tni_schedule_groups(const tn_schedule *s);

TN_PRIV bool tni_is_count(double value);

typedef struct tni_optimizer_plan {
    tn_optimizer *o;
    tn_tensor **state;
    double *count, *kept;
    char **options;
    size_t bytes;
    bool take;
} tni_optimizer_plan;
TN_PRIV bool tni_optimizer_plan_load(tni_optimizer_plan *l, tn_optimizer *o, const tn_named *at,
                                     int64_t n, bool take);
TN_PRIV void tni_optimizer_plan_end(tni_optimizer_plan *l,
                                    bool commit);

/* src/data/data.h - data sets and loaders: private part */

TN_PRIV int64_t tni_field_bytes(const tn_field *f);
TN_PRIV bool tni_checkpoint_number(const char *path, const char *name, double *value);


/* src/tensor_nn.c - the root of tensor_nn.h: modules, optimizers, data, training on the public part of tensor.h */

/* src/base/exact.inl - refuses to compile the library with options that change bits */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "the library gives the same bits everywhere: compile it without -ffast-math; programs may"
#endif

#if TNI_PART(4)

/* src/nn/step.c - a public call of modules or optimizers in progress: its place, its name in messages, its errors */

TN_PRIV bool tni_nn_error(tn_code code, const char *format, ...) {
    tn_path *p = tn_path_current();
    va_list list;
    while (p && p->caller) p = p->caller;
    va_start(list, format);
    tn_error_set_list(code, p ? p->file : NULL, p ? p->line : 0, format, list);
    va_end(list);
    return false;
}

static void step_text(const tn_path *path, char *to, size_t room) {
    snprintf(to, room, "%s", ((const tni_step *)(const void *)path)->type);
}

TN_PRIV void tni_step_begin(tni_step *s, const char *file, int line, const char *type) {
    s->path.text = step_text;
    s->path.file = file;
    s->path.line = line;
    s->type = type ? type : "module";
    tn_path_push(&s->path);
}
TN_PRIV void tni_place_begin(tni_step *s, const char *file, int line) {
    if (!tn_path_current()) tni_step_begin(s, file, line, "");
}
TN_PRIV void tni_step_end(tni_step *s) { tn_path_pop(&s->path); }

/* src/nn/option.c - a module's options as values of expressions: numbers, lists, and sizes written with them */

TN_PRIV void *tni_options(const tn_module *m) {
    return m->gen && m->gen->make ? (char *)(uintptr_t)m + m->gen->options : NULL;
}

static const tn_param *option_find(const tn_module *m, tni_span name) {
    return tn_param_named(m->gen ? m->gen->make : NULL, name.at, (size_t)name.n);
}
TN_PRIV const tn_param *tni_option(const tn_module *m, const char *name) {
    return tn_param_named(m->gen ? m->gen->make : NULL, name, SIZE_MAX);
}

TN_PRIV bool tni_option_ints(const tn_module *m, tni_span name, tn_ints *to) {
    const tn_param *p = option_find(m, name);
    if (!p || p->type != TN_T_INTS) return false;
    memcpy(to, (char *)tni_options(m) + p->offset, sizeof *to);
    return true;
}

static tni_figure option_int(int64_t v) {
    tni_figure f = {v == TN_NONE ? TNI_FIGURE_NONE : TNI_FIGURE_INT, v, 0};
    return f;
}
static bool option_of_list(tn_ints list, int64_t index, tni_figure *to) {
    *to = option_int(TN_NONE);
    if (list.n < 0) return true;
    if (list.n != 1 && (index < 0 || index >= list.n)) return false;
    *to = option_int(list.at[list.n == 1 ? 0 : index]);
    return true;
}

TN_PRIV bool tni_option_number(void *module, tni_span name, int64_t index, tni_figure *to) {
    const tn_module *m = (const tn_module *)module;
    const tn_param *p = option_find(m, name);
    tn_scalar v;
    tn_ints list;
    const void *at;
    if (tni_option_ints(m, name, &list)) return option_of_list(list, index, to);
    if (!p || index >= 0) return false;
    if (tn_param_number(p, tni_options(m), &v)) {
        *to = option_int(v.kind == TN_KIND_NONE ? TN_NONE : v.integer);
        if (v.kind == TN_KIND_FLOAT) to->kind = TNI_FIGURE_FLOAT;
        to->real = v.real;
        return v.kind != TN_KIND_COMPLEX;
    }
    if (TN_TYPES_LIST >> p->type & 1) return false;
    memcpy(&at, (const char *)tni_options(m) + p->offset, sizeof at);
    *to = option_int(at ? 1 : TN_NONE);
    return true;
}

static int32_t option_word(const tn_module *m, const char *name, int type) {
    const tn_param *p = tni_option(m, name);
    int32_t v = 0;
    if (p && p->type == type) memcpy(&v, (char *)tni_options(m) + p->offset, sizeof v);
    return v;
}
TN_PRIV tn_dtype tni_dtype_option(const tn_module *m) {
    int32_t v = option_word(m, "dtype", TN_T_DTYPE);
    return v ? (tn_dtype)v : tn_default_dtype();
}
TN_PRIV tn_device_id tni_device_option(const tn_module *m) {
    int32_t v = option_word(m, "device", TN_T_DEVICE);
    return v ? v : tn_default_device();
}

TN_PRIV bool tni_row_text_error(const char *what, tni_span at, const char *why) {
    return tni_nn_error(TN_INVALID, "in the row's text \"%s\" at \"%.*s\": %s", what, at.n, at.at,
                        why);
}

static bool option_size(tn_module *m, const char *what, tni_span item, int64_t *size, int *n) {
    tni_figure v;
    tn_ints list;
    const char *why = NULL;
    /* A list that is absent has n = -1: it falls through to the expression, where it is None. */
    if (tni_option_ints(m, item, &list) && list.n >= 0) {
        if (list.n > TN_MAX_DIMS - *n) return tni_row_text_error(what, item, "too many dimensions");
        for (int64_t i = 0; i < list.n; i++) size[(*n)++] = list.at[i];
        return true;
    }
    if (*n == TN_MAX_DIMS) return tni_row_text_error(what, item, "too many dimensions");
    if (tni_span_is(item, "_")) {
        size[(*n)++] = -1;
        return true;
    }
    if (!tni_expression(item, tni_option_number, m, &v, &why))
        return tni_row_text_error(what, item, why);
    if (v.kind != TNI_FIGURE_INT) return tni_row_text_error(what, item, "expected an integer");
    if (v.value < 0)
        return tni_nn_error(TN_INVALID, "%.*s is %lld, but a size must not be negative", item.n,
                            item.at, (long long)v.value);
    size[(*n)++] = v.value;
    return true;
}

TN_PRIV bool tni_sizes_of(tn_module *m, const char *what, tni_span items, int64_t *size, int *n,
                          int *star, int *most) {
    tni_span item;
    *n = *most = 0;
    *star = -1;
    while (tni_item_next(&items, &item)) {
        const bool any = tni_span_is(item, "*");
        if (*star < 0 && (any || tni_span_is(item, "?")))
            *star = *n, *most = any ? TN_MAX_DIMS : 1;
        else if (!option_size(m, what, item, size, n))
            return false;
    }
    return true;
}

/* src/nn/rows.c - module rows by class name: those of the library, and those registered at run time with tables made of their schemas */

static const tn_param rows_call_param[] = {{"input", TN_T_TENSOR, 0, 0, 0, 0, NULL}};
static tn_tensor *const rows_call_defaults[1] = {NULL};
static const char *const rows_call_result[] = {"output"};
static const tn_gen rows_call = {rows_call_param,
                                 rows_call_defaults,
                                 rows_call_result,
                                 NULL,
                                 1,
                                 1,
                                 1,
                                 0,
                                 sizeof(tn_tensor *),
                                 UINT16_MAX,
                                 0,
                                 0,
                                 {0},
                                 0};

TN_PRIV const tn_gen *tni_call_of(const tn_module *m) {
    return m->gen && m->gen->call ? m->gen->call : &rows_call;
}

typedef struct rows_entry {
    tn_ending ending;
    tn_mgen gen;
    const tn_mrow *row;
    struct rows_entry *next;
    char type[64];
} rows_entry;
static rows_entry *rows_registered;

TN_PRIV const tn_mgen *tni_mgen_of(const tn_mrow *row) {
    if (row->gen) return row->gen;
    for (rows_entry *e = rows_registered; e; e = e->next)
        if (e->row == row) return &e->gen;
    return NULL;
}

TN_API int64_t tn_mrow_count(void) {
    int64_t n = 0;
    while (tni_mrows()[n]) n++;
    return n;
}
TN_API const tn_mrow *tn_mrow_at(int64_t i) {
    return i >= 0 && i < tn_mrow_count() ? tni_mrows()[i] : NULL;
}

TN_API const tn_mrow *tn_mrow_named(const char *type) {
    if (!type) return NULL;
    for (const tn_mrow *const *r = tni_mrows(); *r; r++)
        if (strcmp((*r)->gen->type, type) == 0) return *r;
    for (rows_entry *e = rows_registered; e; e = e->next)
        if (strcmp(e->type, type) == 0) return e->row;
    return NULL;
}

static void rows_entry_end(tn_ending *e) { tn_module_forget(((rows_entry *)(void *)e)->row); }
static void rows_entry_free(rows_entry *e) {
    tn_ending_remove(&e->ending);
    if (e->gen.make) tn_schema_free((tn_gen *)(uintptr_t)e->gen.make);
    if (e->gen.call) tn_schema_free((tn_gen *)(uintptr_t)e->gen.call);
    tn_alloc_free(e, sizeof *e);
}

static tn_gen *rows_schema(const char *first, const char *rest) {
    char text[800];
    if (snprintf(text, sizeof text, "%s%s", first, rest) >= (int)sizeof text) {
        tni_nn_error(TN_INVALID, "the row's schema is too long");
        return NULL;
    }
    return tn_schema_new(text);
}

typedef char rows_module_is_of_eights[sizeof(tn_module) % 8 ? -1 : 1];

static rows_entry *rows_entry_new(const tn_mrow *row) {
    size_t n = strcspn(row->schema, "(");
    rows_entry *e = (rows_entry *)tn_alloc(sizeof *e);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    snprintf(e->type, sizeof e->type, "%.*s", (int)n, row->schema);
    e->row = row;
    e->gen.type = e->type;
    e->gen.options = (uint32_t)((sizeof(tn_module) + 7) / 8 * 8);
    e->gen.make = rows_schema(row->schema, " -> ()");
    if (e->gen.make && row->call) e->gen.call = rows_schema("forward", row->call);
    if (e->gen.make && (!row->call || e->gen.call)) return e;
    rows_entry_free(e);
    return NULL;
}

static bool rows_parts_parse(const char *text) {
    const char *at = text, *why = NULL;
    tni_part_text t;
    int more = 1;
    while (at && (more = tni_part_next(&at, &t, &why)) > 0) continue;
    if (more >= 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return tni_row_text_error(text, rest, why);
}

static bool rows_register(const tn_mrow *row) {
    rows_entry *e;
    if (!row || !row->name || !row->schema)
        return tni_nn_error(TN_INVALID, "expected a row with a schema");
    if (strcspn(row->schema, "(") >= sizeof e->type)
        return tni_nn_error(TN_INVALID, "the class name is too long");
    if (row->gen || tni_mgen_of(row))
        return tni_nn_error(TN_INVALID, "the row is already registered");
    if (!rows_parts_parse(row->parts)) return false;
    e = rows_entry_new(row);
    if (!e) return false;
    if (tn_mrow_named(e->type)) {
        tni_nn_error(TN_INVALID, "class \"%s\" already exists", e->type);
        rows_entry_free(e);
        return false;
    }
    e->next = rows_registered;
    rows_registered = e;
    e->ending.end = rows_entry_end;
    tn_ending_add(&e->ending);
    return true;
}

TN_API bool tn_module_register_at(const char *file, int line, const tn_mrow *row) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, row && row->name ? row->name : NULL);
    ok = rows_register(row);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_module_forget(const tn_mrow *row) {
    for (rows_entry **at = &rows_registered; *at; at = &(*at)->next) {
        rows_entry *e = *at;
        if (e->row != row) continue;
        *at = e->next;
        rows_entry_free(e);
        return;
    }
}

/* src/nn/make.c - making and freeing modules: options, parts by call, parts by text, ownership */

static tn_module *make_new(const tn_mrow *row, const tn_mgen *gen, int64_t behind) {
    tn_module *m;
    size_t bytes = (row->size + 7) / 8 * 8 + (size_t)behind;
    if (row->size < sizeof(tn_module) ||
        (gen && gen->make && row->size < (size_t)gen->options + gen->make->args_size)) {
        tni_nn_error(TN_INVALID, "the row's size (%lld) is too small for its struct",
                     (long long)row->size);
        return NULL;
    }
    if (row->size > PTRDIFF_MAX / 2) {
        tni_nn_error(TN_MEMORY, "the row's size (%llu) is too large",
                     (unsigned long long)row->size);
        return NULL;
    }
    m = (tn_module *)tn_alloc(bytes);
    if (!m) return NULL;
    memset(m, 0, bytes);
    m->row = row;
    m->gen = gen;
    m->type = gen ? gen->type : row->name;
    m->count = 1;
    m->training = true;
    m->bytes = (int64_t)bytes;
    return m;
}

TN_API void *tn_module_new_at(const char *file, int line, const tn_mrow *row) {
    tn_module *m = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, row ? row->name : NULL);
    if (!row || !row->name)
        tni_nn_error(TN_INVALID, "expected a row with a name");
    else
        m = make_new(row, tni_mgen_of(row), 0);
    tni_step_end(&step);
    return m;
}

static bool make_end(tn_module *m) {
    bool mode;
    int64_t mark;
    if (!tni_expect_make(m)) return false;
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    m->finished = !m->row->reset || m->row->reset(m);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    if (!m->finished && tn_ok()) tni_nn_error(TN_INTERNAL, "reset failed without setting an error");
    return m->finished && tn_ok();
}

TN_API tn_module *tn_module_finish_at(const char *file, int line, tn_module *m) {
    tni_step step;
    bool ok;
    if (!m || m->finished) return m;
    tni_step_begin(&step, file, line, m->type);
    if (m->broken && tn_ok())
        tni_nn_error(TN_INVALID, "a step of its construction failed and its error was cleared");
    ok = !m->broken && tn_ok() && make_end(m);
    if (!ok) tn_module_free(m);
    tni_step_end(&step);
    return ok ? m : NULL;
}

static tn_module *make_build(const tn_mrow *row, const void *args) {
    const tn_mgen *gen = tni_mgen_of(row);
    int64_t mark;
    tn_module *m;
    char why[200], *behind;
    bool ok;
    if (!gen || !gen->make) {
        tni_nn_error(TN_INVALID,
                     "the row has no schema or is not registered; make the module by calls");
        return NULL;
    }
    if (!args || !tn_args_check(gen->make, args, why, sizeof why)) {
        tni_nn_error(TN_INVALID, "%s", args ? why : "the arguments are NULL");
        return NULL;
    }
    m = make_new(row, gen, 8 * tn_args_words(gen->make, args));
    if (!m) return NULL;
    memcpy(tni_options(m), args, gen->make->args_size);
    behind = (char *)m + (row->size + 7) / 8 * 8;
    tn_args_copy(gen->make, tni_options(m), (int64_t *)(void *)behind);
    mark = tn_scope_begin();
    ok = tni_parts_make(m) && (!row->build || row->build(m)) && !m->broken;
    tn_scope_end(mark);
    if (!ok && tn_ok()) tni_nn_error(TN_INTERNAL, "build failed without setting an error");
    tn_args_forget(gen->make, tni_options(m));
    if (ok && tn_ok() && make_end(m)) return m;
    tn_module_free(m);
    return NULL;
}

static void make_release_given(const tn_gen *gen, const char *args) {
    for (int i = 0; gen && args && i < gen->nparam; i++) {
        const char *at = args + gen->param[i].offset;
        tn_module *one = NULL;
        tn_modules list = {NULL, 0};
        if (gen->param[i].type == TN_T_MODULE) memcpy(&one, at, sizeof one);
        if (gen->param[i].type == TN_T_MODULES) memcpy(&list, at, sizeof list);
        tn_module_free(one);
        for (int64_t k = 0; list.at && k < list.n; k++) tn_module_free(list.at[k]);
    }
}

TN_API tn_module *tn_module_make(const char *file, int line, const tn_mrow *row, const void *args) {
    const tn_mgen *gen = row ? tni_mgen_of(row) : NULL;
    tn_module *m = NULL;
    tni_step step;
    tni_step_begin(&step, file, line, gen ? gen->type : row ? row->name : NULL);
    if (!row)
        tni_nn_error(TN_INVALID, "the row is NULL");
    else if (tn_ok())
        m = make_build(row, args);
    make_release_given(gen ? gen->make : NULL, (const char *)args);
    tni_step_end(&step);
    return m;
}

TN_API tn_module *tn_module_hold(tn_module *m) {
    if (m) m->count++;
    return m;
}

TN_API void tn_module_free(tn_module *m) {
    if (!m || !tn_context_exists() || --m->count > 0) return;
    if (m->row->destroy) m->row->destroy(m);
    tni_hooks_free(m);
    for (int i = 0; i < m->nparts; i++) {
        void *at = *tni_part_place(m, i);
        if (m->part[i].kind == TN_CHILD)
            tn_module_free((tn_module *)at);
        else
            tn_release((tn_tensor *)at);
        tni_text_free(m->part[i].name);
    }
    if (m->part) tn_alloc_free(m->part, (size_t)m->room * sizeof *m->part);
    tni_expect_free(m);
    if (m->parameters)
        tn_alloc_free(m->parameters, (size_t)(m->nparameters + 1) * sizeof *m->parameters);
    tn_alloc_free(m, (size_t)m->bytes);
}

static bool make_broken(tn_module *m) {
    if (!m->finished) m->broken = true;
    return false;
}

static bool make_name_fits(const tn_module *m, const char *name) {
    if (!name || !*name || strchr(name, '.'))
        return tni_nn_error(TN_INVALID, "a part's name must not be empty or contain a dot: \"%s\"",
                            name ? name : "NULL");
    for (int i = 0; i < m->nparts; i++)
        if (strcmp(m->part[i].name, name) == 0)
            return tni_nn_error(TN_INVALID, "part \"%s\" already exists", name);
    return true;
}

static bool make_field_fits(const tn_module *m, const char *name, const void *field) {
    uintptr_t at = (uintptr_t)field, from = (uintptr_t)m;
    if (!field || (at >= from + sizeof *m && at <= from + (uintptr_t)m->bytes - sizeof(void *)))
        return true;
    return tni_nn_error(TN_INVALID, "the field of part \"%s\" lies outside the module's struct",
                        name);
}

static bool make_more_parts(tn_module *m) {
    int32_t room = m->room ? 2 * m->room : 4;
    tn_part *part;
    if (m->nparts < m->room) return true;
    if (m->room > INT32_MAX / 4) return tni_nn_error(TN_INVALID, "too many parts");
    part = (tn_part *)tn_alloc((size_t)room * sizeof *part);
    if (!part) return false;
    if (m->nparts) memcpy(part, m->part, (size_t)m->nparts * sizeof *part);
    if (m->part) tn_alloc_free(m->part, (size_t)m->room * sizeof *m->part);
    m->part = part;
    m->room = room;
    return true;
}

TN_PRIV tn_part *tni_part_new(tn_module *m, tn_part_kind kind, const char *name, void **field) {
    tn_part *p;
    if (!make_name_fits(m, name) || !make_field_fits(m, name, field) || !make_more_parts(m))
        return NULL;
    p = &m->part[m->nparts];
    memset(p, 0, sizeof *p);
    p->name = tni_text_copy(name, strlen(name));
    if (!p->name) return NULL;
    p->kind = (uint8_t)kind;
    p->field = field ? (uint32_t)((char *)field - (char *)m) : 0;
    m->nparts++;
    *tni_part_place(m, m->nparts - 1) = NULL;
    return p;
}

static tn_tensor *make_tensor(const tn_module *m, tn_part_kind kind, tn_dtype dtype,
                              tn_ints shape) {
    tn_dtype type = dtype == TN_NO_DTYPE ? tni_dtype_option(m) : dtype;
    tn_tensor *t = tnp_zeros(shape, type, tni_device_option(m));
    bool records = tni_dtype_kind(type) == 'f' || tni_dtype_kind(type) == 'c';
    return t && kind == TN_PARAM && records ? tn_requires_grad_at(NULL, 0, t, true) : t;
}

static bool make_part_tensor(tn_module *m, tn_part_kind kind, const char *name, void **field,
                             tn_dtype dtype, tn_ints shape) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = make_tensor(m, kind, dtype, shape);
    bool ok = t && tni_part_new(m, kind, name, field);
    if (ok) *tni_part_place(m, m->nparts - 1) = tn_retain(t);
    tn_scope_end(mark);
    return ok;
}

static bool make_kind_fits(tn_part_kind kind) {
    return kind == TN_PARAM || kind == TN_BUFFER || kind == TN_TRANSIENT ||
           tni_nn_error(TN_INVALID, "a part's kind must be TN_PARAM, TN_BUFFER or TN_TRANSIENT");
}

TN_API bool tn_part_tensor_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                              const char *name, tn_tensor **field, tn_dtype dtype, tn_ints shape) {
    tni_step step;
    bool ok;
    if (!m || m->broken) return false;
    if (!tn_ok()) return make_broken(m);
    tni_step_begin(&step, file, line, m->type);
    ok = make_kind_fits(kind) &&
         make_part_tensor(m, kind, name, (void **)(void *)field, dtype, shape);
    tni_step_end(&step);
    return ok || make_broken(m);
}

TN_API bool tn_part_give_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                            const char *name, tn_tensor **field, tn_tensor *t) {
    tni_step step;
    bool ok;
    if (!m || m->broken) return false;
    if (!tn_ok()) return make_broken(m);
    tni_step_begin(&step, file, line, m->type);
    ok = make_kind_fits(kind) && tni_part_new(m, kind, name, (void **)(void *)field);
    if (ok && t) ok = (*tni_part_place(m, m->nparts - 1) = tn_retain(t)) != NULL;
    tni_step_end(&step);
    return ok || make_broken(m);
}

static bool make_child_fits(const tn_module *m, const char *name, const tn_module *child) {
    if (!child) return tni_nn_error(TN_INVALID, "child \"%s\" is NULL", name ? name : "");
    if (!child->finished)
        return tni_nn_error(TN_INVALID, "child \"%s\" is not finished", name ? name : "");
    if (child == m || (m->level && tni_tree_contains(child, m)))
        return tni_nn_error(TN_INVALID, "child \"%s\" would make a cycle", name ? name : "");
    return true;
}

typedef struct make_level {
    tn_module *m;
    uint8_t before;
} make_level;

static bool make_lower(tni_buffer *changed, tn_module *m, int level) {
    make_level was = {m, m->level};
    if (level <= m->level) return true;
    if (level >= TN_MODULE_DEPTH)
        return tni_nn_error(TN_INVALID, "modules are nested deeper than %d levels",
                            (int)TN_MODULE_DEPTH);
    if (!tni_buffer_add(changed, &was, sizeof was)) return false;
    m->level = (uint8_t)level;
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (child && !make_lower(changed, child, level + 1)) return false;
    }
    return true;
}

static bool make_child(tn_module *m, const char *name, tn_module **field, tn_module *child) {
    tni_buffer changed = {NULL, 0, 0, false};
    bool ok = make_child_fits(m, name, child) && make_lower(&changed, child, m->level + 1) &&
              tni_part_new(m, TN_CHILD, name, (void **)(void *)field);
    make_level *was = (make_level *)(void *)changed.at;
    for (int64_t i = changed.n / (int64_t)sizeof *was; !ok && i-- > 0;)
        was[i].m->level = was[i].before;
    tni_buffer_free(&changed);
    if (ok) *tni_part_place(m, m->nparts - 1) = child;
    return ok;
}

TN_API bool tn_part_child_at(const char *file, int line, tn_module *m, const char *name,
                             tn_module **field, tn_module *child) {
    tni_step step;
    bool ok = m && !m->broken;
    if (ok && tn_ok()) {
        tni_step_begin(&step, file, line, m->type);
        ok = make_child(m, name, field, child);
        if (!ok) tn_module_free(child);
        tni_step_end(&step);
        return ok || make_broken(m);
    }
    tn_module_free(child);
    return ok ? make_broken(m) : false;
}

TN_API bool tn_module_append_at(const char *file, int line, tn_module *m, tn_module *child) {
    char name[16];
    snprintf(name, sizeof name, "%d", m ? (int)m->nparts : 0);
    return tn_part_child_at(file, line, m, name, NULL, child);
}

static bool made_put(const tn_param *p, char *args, tni_figure v) {
    return tn_param_set_number(p, args,
                               v.kind == TNI_FIGURE_NONE    ? tn_none()
                               : v.kind == TNI_FIGURE_FLOAT ? tn_float(v.real)
                                                            : tn_int(v.value));
}

static void made_inherit(const tn_module *m, const tn_gen *gen, char *args) {
    const tn_param *dtype = tn_param_named(gen, "dtype", SIZE_MAX),
                   *device = tn_param_named(gen, "device", SIZE_MAX);
    if (dtype) tn_param_set_number(dtype, args, tn_int(tni_dtype_option(m)));
    if (device) tn_param_set_number(device, args, tn_int(tni_device_option(m)));
}

static bool made_args(tn_module *m, const char *what, tni_span items, const tn_gen *gen,
                      char *args) {
    tni_span item, name, value;
    const char *why = NULL;
    for (int k = 0; tni_item_next(&items, &item); k++) {
        const tn_param *p;
        tni_figure v;
        tni_item_split(item, &name, &value);
        p = tn_param_named(gen, name.at, (size_t)name.n);
        if (!name.n && k < gen->nparam) p = &gen->param[k];
        if (!p) return tni_row_text_error(what, item, "this option does not exist");
        if (!tni_expression(value, tni_option_number, m, &v, &why))
            return tni_row_text_error(what, item, why);
        if (!made_put(p, args, v))
            return tni_row_text_error(what, item, "the value has the wrong type");
    }
    return true;
}

static bool made_deep(void) {
    const tn_path *p = tn_path_current(), *last = p;
    int depth = 0;
    for (; p && p->text == last->text && depth < TN_MODULE_DEPTH; p = p->caller) depth++;
    return depth == TN_MODULE_DEPTH;
}

static tn_module *made_child(tn_module *m, const tni_part_text *t) {
    char type[64];
    tni_args args;
    const tn_mrow *row;
    const tn_mgen *gen;
    if (made_deep()) {
        tni_row_text_error(m->row->parts, t->type, "children are nested too deeply");
        return NULL;
    }
    snprintf(type, sizeof type, "%.*s", t->type.n, t->type.at);
    row = tn_mrow_named(type);
    gen = row ? tni_mgen_of(row) : NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        tni_row_text_error(m->row->parts, t->type, "this class does not exist" TNI_OR_NOT_BUILT);
        return NULL;
    }
    memcpy(args.at, gen->make->defaults, gen->make->args_size);
    made_inherit(m, gen->make, args.at);
    if (!made_args(m, m->row->parts, t->items, gen->make, args.at)) return NULL;
    return tn_module_make(NULL, 0, row, args.at);
}

static void **made_field(tn_module *m, const char *name) {
    for (uint32_t i = 0; m->gen && i < m->gen->nfields; i++)
        if (strcmp(m->gen->fields[i].name, name) == 0)
            return (void **)(void *)((char *)m + m->gen->fields[i].offset);
    return NULL;
}

static bool made_given(tn_module *m, const tni_part_text *t, const char *name, void **field) {
    char option[64];
    const tn_param *p;
    tn_tensor *given;
    snprintf(option, sizeof option, "%.*s", t->given.n, t->given.at);
    p = tni_option(m, option);
    if (!p || p->type != TN_T_TENSOR)
        return tni_row_text_error(m->row->parts, t->given, "expected an option that is a tensor");
    memcpy(&given, (char *)tni_options(m) + p->offset, sizeof given);
    if (given) {
        given = tnp_clone(tnp_detach(given), (tn_memory_format)0);
        if (!given) return false;
    }
    return tn_part_give_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                           given);
}

static bool made_part(tn_module *m, const tni_part_text *t) {
    char name[64], dtype[24];
    int64_t size[TN_MAX_DIMS];
    tni_figure wanted = {TNI_FIGURE_INT, 1, 0};
    tn_dtype type = TN_NO_DTYPE;
    const char *why = NULL;
    int n, star, most;
    void **field;
    snprintf(name, sizeof name, "%.*s", t->name.n, t->name.at);
    snprintf(dtype, sizeof dtype, "%.*s", t->dtype.n, t->dtype.at);
    field = made_field(m, name);
    if (t->given.n) return made_given(m, t, name, field);
    if (t->condition.n && !tni_expression(t->condition, tni_option_number, m, &wanted, &why))
        return tni_row_text_error(m->row->parts, t->condition, why);
    if (!tni_figure_true(wanted))
        return tni_part_new(m, (tn_part_kind)t->kind, name, field) != NULL;
    if (t->kind == TNI_SPAN_CHILD)
        return tn_part_child_at(NULL, 0, m, name, (tn_module **)(void *)field, made_child(m, t));
    if (t->dtype.n && (type = tn_dtype_named(dtype)) == TN_NO_DTYPE)
        return tni_row_text_error(m->row->parts, t->dtype, "this dtype does not exist");
    if (!tni_sizes_of(m, m->row->parts, t->items, size, &n, &star, &most)) return false;
    if (star >= 0)
        return tni_row_text_error(m->row->parts, t->items, "a part must not have * or ?");
    return tn_part_tensor_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                             type, tn_ints_of(size, n));
}

TN_PRIV bool tni_parts_make(tn_module *m) {
    const char *at = m->row->parts, *why = NULL;
    tni_part_text t;
    int more = 0;
    if (!at) return true;
    while ((more = tni_part_next(&at, &t, &why)) > 0)
        if (!made_part(m, &t)) return false;
    if (more == 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return tni_row_text_error(m->row->parts, rest, why);
}

TN_API tn_module *tn_module_named_at(const char *file, int line, const char *type,
                                     const tn_value *values, int nvalues) {
    const tn_mrow *row = tn_mrow_named(type);
    const tn_mgen *gen = row ? tni_mgen_of(row) : NULL;
    tni_args args;
    if (!tn_ok()) return NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        tn_error_set(TN_INVALID, file, line, "module class \"%s\" does not exist%s",
                     type ? type : "NULL", TNI_OR_NOT_BUILT);
        return NULL;
    }
    if (!tn_bind(file, line, gen->type, gen->make, values, nvalues, true, args.at)) return NULL;
    return tn_module_make(file, line, row, args.at);
}

/* src/nn/forward.c - the door of modules: the chain of calls, hooks, shapes that are taken, ownership of results */

typedef struct expect_input {
    const char *name;
    uint32_t offset;
    int n, star, most;
    int64_t size[TN_MAX_DIMS];
} expect_input;
struct tni_expect {
    int n;
    int64_t bytes;
    expect_input input[1];
};

static bool expect_next(const char **at, tni_span *name, tni_span *items, const char **why) {
    tni_part_text t;
    int more = tni_part_next(at, &t, why);
    *name = t.name;
    *items = t.items;
    return more > 0;
}

static const tn_param *expect_param(const tn_module *m, tni_span name) {
    const tn_gen *call = tni_call_of(m);
    for (int i = 0; i < call->nfixed; i++)
        if (tni_span_is(name, tn_gen_tensor(call, i)->name)) return tn_gen_tensor(call, i);
    return NULL;
}

static bool expect_fill(tn_module *m, const char *text) {
    tni_span name, items;
    const char *why = NULL;
    while (expect_next(&text, &name, &items, &why)) {
        const tn_param *p = expect_param(m, name);
        expect_input *e = &m->expect->input[m->expect->n];
        if (!p)
            return tni_nn_error(TN_INVALID, "takes: forward has no tensor \"%.*s\"", name.n,
                                name.at);
        e->name = p->name;
        e->offset = p->offset;
        if (!tni_sizes_of(m, m->row->takes, items, e->size, &e->n, &e->star, &e->most))
            return false;
        m->expect->n++;
    }
    return !why || tni_nn_error(TN_INVALID, "takes: %s at \"%s\"", why, text);
}

TN_PRIV bool tni_expect_make(tn_module *m) {
    int64_t n = 1, bytes;
    if (!m->row->takes) return true;
    for (const char *c = m->row->takes; *c; c++) n += *c == ';';
    bytes = (int64_t)sizeof(struct tni_expect) + n * (int64_t)sizeof(expect_input);
    m->expect = (struct tni_expect *)tn_alloc((size_t)bytes);
    if (!m->expect) return false;
    memset(m->expect, 0, (size_t)bytes);
    m->expect->bytes = bytes;
    return expect_fill(m, m->row->takes);
}

TN_PRIV bool tni_expect_copy(tn_module *to, const tn_module *from) {
    to->expect = NULL;
    if (!from->expect) return true;
    to->expect = (struct tni_expect *)tn_alloc((size_t)from->expect->bytes);
    if (!to->expect) return false;
    memcpy(to->expect, from->expect, (size_t)from->expect->bytes);
    return true;
}

TN_PRIV void tni_expect_free(tn_module *m) {
    if (m->expect) tn_alloc_free(m->expect, (size_t)m->expect->bytes);
    m->expect = NULL;
}

static bool expect_fits(const expect_input *e, const tn_tensor *t) {
    tn_ints shape = tn_shape(t);
    int64_t skip = shape.n - e->n;
    if (skip < 0 || skip > e->most) return false;
    for (int i = 0; i < e->n; i++)
        if (e->size[i] >= 0 && e->size[i] != shape.at[e->star >= 0 && i >= e->star ? skip + i : i])
            return false;
    return true;
}

static bool expect_error(const expect_input *e, const tn_tensor *t) {
    char wanted[TN_MAX_DIMS * 22 + 16], got[TN_MAX_DIMS * 22 + 40];
    size_t at = (size_t)snprintf(wanted, sizeof wanted, "(");
    for (int i = 0; i <= e->n; i++) {
        const char *comma = at > 1 ? ", " : "";
        if (i == e->star)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s%c", comma,
                                   e->most > 1 ? '*' : '?');
        comma = at > 1 ? ", " : "";
        if (i == e->n) break;
        if (e->size[i] < 0)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s_", comma);
        else
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s%lld", comma,
                                   (long long)e->size[i]);
    }
    snprintf(wanted + at, sizeof wanted - at, ")");
    return tni_nn_error(TN_INVALID, "%s: expected %s, got %s", e->name, wanted,
                        tni_nn_shape_text(got, sizeof got, t));
}

TN_PRIV const char *tni_nn_shape_text(char *text, size_t room, const tn_tensor *t) {
    tn_ints shape = tn_shape(t);
    size_t at = (size_t)snprintf(text, room, "%s (", tn_dtype_name(tn_dtype_of(t)));
    for (int64_t i = 0; i < shape.n && at < room; i++)
        at +=
            (size_t)snprintf(text + at, room - at, "%s%lld", i ? ", " : "", (long long)shape.at[i]);
    if (at < room) snprintf(text + at, room - at, "%s", shape.n == 1 ? ",)" : ")");
    return text;
}

static tn_tensor *forward_tensor(const void *args, uint32_t offset) {
    tn_tensor *t;
    memcpy(&t, (const char *)args + offset, sizeof t);
    return t;
}

static bool forward_check(const tn_mframe *f) {
    for (int i = 0; i < f->call->nfixed; i++) {
        const tn_param *p = tn_gen_tensor(f->call, i);
        if (!(p->flags & TN_P_OPTIONAL) && !forward_tensor(f->args, p->offset))
            return tni_nn_error(TN_INVALID, "argument '%s' is NULL", p->name);
    }
    for (int i = 0; f->m->expect && i < f->m->expect->n; i++) {
        const expect_input *e = &f->m->expect->input[i];
        const tn_tensor *t = forward_tensor(f->args, e->offset);
        if (t && !expect_fits(e, t)) return expect_error(e, t);
    }
    return true;
}

static void forward_text(const tn_path *path, char *to, size_t room) {
    const tn_module *chain[64];
    int n = 0;
    size_t at = 0;
    for (const tn_path *p = path; p && p->text == forward_text && n < 64; p = p->caller)
        chain[n++] = ((const tn_mframe *)(const void *)p)->m;
    to[0] = 0;
    for (int i = n - 2; i >= 0; i--) {
        char step[256];
        if (!tni_tree_path(chain[i + 1], chain[i], step, sizeof step)) {
            at = 0;
            to[0] = 0;
        } else if (step[0] && at + strlen(step) + 2 < room) {
            at += (size_t)snprintf(to + at, room - at, "%s%s", at ? "." : "", step);
        }
    }
    if (at)
        snprintf(to + at, room - at, " (%s)", chain[0]->type);
    else
        snprintf(to, room, "%s", chain[0]->type);
}

struct tn_mhook {
    tn_module_hook_fn call;
    void *user;
    void (*release)(void *user);
    int64_t number;
    int when;
    struct tn_mhook *next;
};

static int64_t forward_hook_add(tn_module *m, int when, tn_module_hook_fn hook, void *user,
                                void (*release)(void *user)) {
    struct tn_mhook *h, **at;
    if (!m || !hook || (when != TN_BEFORE_FORWARD && when != TN_AFTER_FORWARD))
        return tni_nn_error(
            TN_INVALID,
            "a hook needs a module, TN_BEFORE_FORWARD or TN_AFTER_FORWARD, and a function");
    h = (struct tn_mhook *)tn_alloc(sizeof *h);
    if (!h) return 0;
    for (at = &m->hooks; *at; at = &(*at)->next) continue;
    memset(h, 0, sizeof *h);
    h->call = hook;
    h->user = user;
    h->release = release;
    h->number = ++m->last_hook;
    h->when = when;
    *at = h;
    return h->number;
}
TN_API int64_t tn_module_hook_at(const char *file, int line, tn_module *m, int when,
                                 tn_module_hook_fn hook, void *user, void (*release)(void *user)) {
    int64_t number;
    tni_step step;
    if (!tn_ok()) return 0;
    tni_place_begin(&step, file, line);
    number = forward_hook_add(m, when, hook, user, release);
    tni_step_end(&step);
    return number;
}

static void forward_hook_free(struct tn_mhook *h) {
    if (h->release) h->release(h->user);
    tn_alloc_free(h, sizeof *h);
}

static void forward_hook_drop(struct tn_mhook *h) {
    tn_mframe *runs = NULL;
    for (tn_path *p = tn_path_current(); p; p = p->caller)
        if (p->text == forward_text && ((tn_mframe *)(void *)p)->hook == h)
            runs = (tn_mframe *)(void *)p;
    if (runs)
        runs->hook_removed = true;
    else
        forward_hook_free(h);
}

TN_API bool tn_module_hook_remove_at(const char *file, int line, tn_module *m, int64_t number) {
    tni_step step;
    for (struct tn_mhook **at = m ? &m->hooks : NULL; at && *at; at = &(*at)->next) {
        struct tn_mhook *h = *at;
        if (h->number != number) continue;
        *at = h->next;
        forward_hook_drop(h);
        return true;
    }
    tni_place_begin(&step, file, line);
    tni_nn_error(TN_INVALID, "hook %lld does not exist", (long long)number);
    tni_step_end(&step);
    return false;
}

TN_PRIV void tni_hooks_free(tn_module *m) {
    while (m->hooks) {
        struct tn_mhook *h = m->hooks;
        m->hooks = h->next;
        forward_hook_free(h);
    }
}

static bool forward_hook_call(tn_mframe *f, struct tn_mhook *h) {
    tn_guard guard = tn_guard_begin();
    bool ok;
    f->hook = h;
    f->hook_removed = false;
    ok = h->call(f, h->user);
    tn_guard_end(&guard, f->out, ok ? f->nout : 0);
    f->hook = NULL;
    if (f->hook_removed) forward_hook_free(h);
    return ok || !tn_ok() ? ok
                          : tni_nn_error(TN_INTERNAL, "a hook failed without setting an error");
}

static bool forward_hooks(tn_mframe *f, int when, int64_t last) {
    for (struct tn_mhook *h = f->m->hooks; h && h->number <= last;) {
        const int64_t at = h->number;
        if (h->when == when && !forward_hook_call(f, h)) return false;
        for (h = f->m->hooks; h && h->number <= at;) h = h->next;
    }
    return true;
}

TN_API tn_tensor *tn_input(const tn_mframe *f, int k) {
    if (k < 0 || k >= f->call->nfixed) return NULL;
    return forward_tensor(f->args, tn_gen_tensor(f->call, k)->offset);
}

static bool forward_own(tn_mframe *f, int k) {
    for (int i = 0; f->out[k] && !f->m->lends && i < f->call->nfixed; i++)
        if (tn_input(f, i) == f->out[k])
            return (f->out[k] = tnp_view(f->out[k], tn_shape(f->out[k]))) != NULL;
    return true;
}

static bool forward_run(tn_mframe *f) {
    const int64_t last = f->m->last_hook;
    bool ok;
    if (!f->m->row->forward) return tni_nn_error(TN_UNSUPPORTED, "has no forward");
    ok = (!f->m->hooks || forward_hooks(f, TN_BEFORE_FORWARD, last)) && forward_check(f);
    if (!ok) return false;
    ok = f->m->row->forward(f);
    if (!ok && tn_ok()) return tni_nn_error(TN_INTERNAL, "forward failed without setting an error");
    if (ok && !f->out[0] && tn_ok()) return tni_nn_error(TN_INTERNAL, "forward returned no result");
    ok = ok && (!f->m->hooks || forward_hooks(f, TN_AFTER_FORWARD, last)) && tn_ok();
    for (int k = 0; ok && k < f->nout; k++) ok = forward_own(f, k);
    return ok;
}

static bool forward_enter(const char *file, int line, tn_module *m, const tn_gen *call,
                          const void *args, tn_tensor **out, int nout) {
    tn_mframe f;
    int64_t mark;
    bool ok;
    f.path.text = forward_text;
    f.path.file = file;
    f.path.line = line;
    f.m = m;
    f.hook = NULL;
    f.hook_removed = false;
    f.call = call;
    f.args = args;
    f.out = out;
    f.nout = nout;
    mark = tn_scope_begin();
    tn_path_push(&f.path);
    ok = forward_run(&f);
    for (int k = 0; !ok && k < nout; k++) out[k] = NULL;
    tn_scope_leave(mark, out, nout);
    tn_path_pop(&f.path);
    return ok;
}

static bool forward_refuse(const char *file, int line, const char *what) {
    tn_path *p = tn_path_current();
    while (p && p->caller) p = p->caller;
    return tn_error_set(TN_INVALID, p ? p->file : file, p ? p->line : line, "%s", what);
}

TN_API bool tn_module_call(const char *file, int line, tn_module *m, const tn_mrow *row,
                           const void *args, tn_tensor **out, int nout) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    for (int k = 0; k < nout; k++) out[k] = NULL;
    if (!tn_ok()) return false;
    if (!m) return forward_refuse(file, line, "module is NULL");
    if (row && m->row != row)
        return forward_refuse(file, line, "forward belongs to another kind of module");
    if (!args || nout != call->nresults)
        return forward_refuse(
            file, line, "forward: expected arguments and room for as many results as the row has");
    return forward_enter(file, line, m, call, args, out, nout);
}

TN_API tn_tensor *tn_forward_at(const char *file, int line, tn_module *m, tn_tensor *input) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    tn_tensor *out = NULL;
    tni_args args;
    int first = -1, required = 0;
    if (!tn_ok()) return NULL;
    if (!m) return forward_refuse(file, line, "module is NULL"), (tn_tensor *)NULL;
    for (int i = 0; i < call->nparam; i++) {
        if (call->param[i].flags & TN_P_DEFAULT) continue;
        required++;
        if (call->param[i].type == TN_T_TENSOR) first = i;
    }
    if (required != 1 || first < 0 || call->nresults != 1 || call->args_size > sizeof args.at) {
        forward_refuse(
            file, line,
            "tn_forward needs one required tensor and one result; call this module's own forward");
        return NULL;
    }
    memcpy(args.at, call->defaults, call->args_size);
    memcpy(args.at + call->param[first].offset, &input, sizeof input);
    return forward_enter(file, line, m, call, args.at, &out, 1) ? out : NULL;
}

TN_API bool tn_module_call_values(const char *file, int line, tn_module *m, const tn_value *values,
                                  int nvalues, tn_tensor **out, int nout) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    tni_args args;
    for (int k = 0; k < nout; k++) out[k] = NULL;
    if (!tn_ok()) return false;
    if (!m) return forward_refuse(file, line, "module is NULL");
    if (call->args_size > sizeof args.at)
        return forward_refuse(file, line, "forward has too many arguments");
    return tn_bind(file, line, m->type, call, values, nvalues, true, args.at) &&
           tn_module_call(file, line, m, NULL, args.at, out, nout);
}

/* src/nn/linear.c - modules that are one operator on parameters or on nothing: Linear, Embedding, Dropout, Identity, Flatten */

static bool linear_reset(tn_module *m) {
    TN_SELF(linear, s, m);
    return tni_init_affine(s->weight, s->bias);
}
static bool linear_forward(tn_mframe *f) {
    TN_FORWARD(linear, s, a, f);
    return (f->out[0] = tnp_linear(a->input, s->weight, s->bias)) != NULL;
}
TN_MODULE(linear, "Linear(int in_features, int out_features, bool bias=True)",
          TN_DOC(.shapes = "input (*, in_features) -> (*, out_features)",
                 .example = "tn_module *m = tn_nn_linear(784, 10, .bias = false);"),
          .parts = "weight(out_features, in_features); bias(out_features) if bias",
          .takes = "input(*, in_features)",
          .repr = "in_features=, out_features=, bias=", .reset = linear_reset,
          .forward = linear_forward, .sample = "3 4: (2,3) | 3 2 bias=False: (3)")

static bool embedding_build(tn_module *m) {
    TN_SELF(embedding, s, m);
    int64_t n = s->o.num_embeddings, p = s->o.padding_idx;
    if (p == TN_NONE) return true;
    if (p < 0) s->o.padding_idx += n;
    return (s->o.padding_idx >= 0 && s->o.padding_idx < n) ||
           tni_nn_error(TN_INVALID, "padding_idx is %lld, expected a value in [-%lld, %lld)",
                        (long long)p, (long long)n, (long long)n);
}
static bool embedding_reset(tn_module *m) {
    TN_SELF(embedding, s, m);
    tn_tensor *row;
    if (!tn_nn_init_normal_(s->weight, 0, 1)) return false;
    if (s->o.padding_idx == TN_NONE) return true;
    row = tnp_select(s->weight, 0, s->o.padding_idx);
    return row && tn_nn_init_constant_(row, 0);
}
static bool embedding_forward(tn_mframe *f) {
    TN_FORWARD(embedding, s, a, f);
    int64_t padding = s->o.padding_idx == TN_NONE ? -1 : s->o.padding_idx;
    return (f->out[0] = tnp_embedding(s->weight, a->input, padding, s->o.scale_grad_by_freq,
                                      false)) != NULL;
}
TN_MODULE(embedding,
          "Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, bool "
          "scale_grad_by_freq=False)",
          TN_DOC(.shapes = "input (*) integers -> (*, embedding_dim)",
                 .example = "tn_nn_embedding(1000, 64, .padding_idx = 0)"),
          .parts = "weight(num_embeddings, embedding_dim)",
          .repr = "num_embeddings, embedding_dim, ?padding_idx=, ?scale_grad_by_freq=",
          .build = embedding_build, .reset = embedding_reset, .forward = embedding_forward,
          .sample = "10 3: (2,4):i64<10 | 5 2 padding_idx=1: (3):i64<5")

static bool dropout_build(tn_module *m) {
    TN_SELF(dropout, s, m);
    if (s->o.p >= 0 && s->o.p <= 1) return true;
    return tni_nn_error(TN_INVALID, "p is %g, expected a probability in [0, 1]", s->o.p);
}
static bool dropout_forward(tn_mframe *f) {
    TN_FORWARD(dropout, s, a, f);
    if (!s->base.training || s->o.p == 0)
        f->out[0] = a->input;
    else
        f->out[0] = s->o.inplace ? tnp_dropout_(a->input, s->o.p, true)
                                 : tnp_dropout(a->input, s->o.p, true);
    return f->out[0] != NULL;
}
TN_MODULE(dropout, "Dropout(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_dropout(.p = 0.1)"), .draws = "p",
          .repr = "p=, inplace=", .build = dropout_build, .forward = dropout_forward,
          .sample = "p=0.5: (4,5)")

static tn_tensor *dropout_channels(tn_tensor *x, double p, bool training, bool inplace,
                                   int unbatched) {
    const int n = (int)tn_ndim(x), first = n == unbatched ? 1 : 2;
    int64_t size[TN_MAX_DIMS];
    tn_tensor *mask;
    if (!training || p == 0) return x;
    if (n < first) {
        tni_nn_error(TN_INVALID, "Feature dropout requires at least 2 dimensions in the input");
        return NULL;
    }
    for (int i = 0; i < n; i++) size[i] = i < first ? tn_size(x, i) : 1;
    mask = tnp_new_ones(x, tn_ints_of(size, n), TN_NO_DTYPE, TN_NO_DEVICE);
    mask = tnp_dropout_(mask, p, true);
    return inplace ? tnp_mul_(x, mask) : tnp_mul(x, mask);
}
#define DROPOUT_ROW(name, unbatched)                                                               \
    static bool name##_build(tn_module *m) {                                                       \
        TN_SELF(name, s, m);                                                                       \
        return (s->o.p >= 0 && s->o.p <= 1) ||                                                     \
               tni_nn_error(TN_INVALID, "p is %g, expected a probability in [0, 1]", s->o.p);      \
    }                                                                                              \
    static bool name##_forward(tn_mframe *f) {                                                     \
        TN_FORWARD(name, s, a, f);                                                                 \
        f->out[0] = dropout_channels(a->input, s->o.p, s->base.training, s->o.inplace, unbatched); \
        return f->out[0] != NULL;                                                                  \
    }
DROPOUT_ROW(dropout1d, 2)
TN_MODULE(dropout1d, "Dropout1d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, L) or (C, L) -> the same",
                 .example = "tn_nn_dropout1d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout1d_build,
          .forward = dropout1d_forward, .sample = "p=0.5: (4,5,2)")
DROPOUT_ROW(dropout2d, 0)
TN_MODULE(dropout2d, "Dropout2d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> the same",
                 .example = "tn_nn_dropout2d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout2d_build,
          .forward = dropout2d_forward, .sample = "p=0.5: (4,5,2,3)")
DROPOUT_ROW(dropout3d, 4)
TN_MODULE(dropout3d, "Dropout3d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> the same",
                 .example = "tn_nn_dropout3d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout3d_build,
          .forward = dropout3d_forward, .sample = "p=0.5: (3,4,2,1,2)")
#undef DROPOUT_ROW

static bool identity_forward(tn_mframe *f) {
    TN_FORWARD(identity, s, a, f);
    (void)s;
    return (f->out[0] = a->input) != NULL;
}
TN_MODULE(identity, "Identity()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_identity()"),
          .forward = identity_forward, .sample = ": (2,3)")

static bool flatten_forward(tn_mframe *f) {
    TN_FORWARD(flatten, s, a, f);
    int64_t n = tn_ndim(a->input), from = s->o.start_dim, to = s->o.end_dim;
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    f->out[0] = from == to && from >= 0 && from < n
                    ? a->input
                    : tnp_flatten(a->input, s->o.start_dim, s->o.end_dim);
    return f->out[0] != NULL;
}
TN_MODULE(flatten, "Flatten(int start_dim=1, int end_dim=-1)",
          TN_DOC(.shapes = "input (N, *) -> (N, product)", .example = "tn_nn_flatten()"),
          .repr = "start_dim=, end_dim=", .forward = flatten_forward,
          .sample = ": (2,3,4) | start_dim=0: (2,3)")

/* src/base/cold_begin.inl - what stands from here to cold_end.inl is compiled at -O1: no call of a small tensor runs through it, so it may be slower by a little and is compiled in half the time */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC push_options
#pragma GCC optimize("O1", "inline-small-functions")
#endif

/* src/nn/container.c - modules made of modules: Sequential, ModuleList */

static bool container_build(tn_module *m, tn_modules given) {
    for (int64_t i = 0; i < given.n; i++)
        if (!tn_module_append_at(NULL, 0, m, tn_module_hold(given.at[i]))) return false;
    return true;
}

static bool sequential_build(tn_module *m) {
    TN_SELF(sequential, s, m);
    return container_build(m, s->o.modules);
}
static bool sequential_forward(tn_mframe *f) {
    TN_FORWARD(sequential, s, a, f);
    tn_tensor *x = a->input;
    for (int i = 0; i < s->base.nparts && x; i++) {
        tn_module *child = tn_part_child_of(&s->base, i);
        tn_tensor *y = child ? tni_forward_child(f, child, x) : x;
        if (x != a->input && y && y != x) tn_free(x);
        x = y;
    }
    return (f->out[0] = x) != NULL;
}
TN_MODULE(sequential, "Sequential(Module[] modules)",
          TN_DOC(.shapes = "input -> as the last child gives it",
                 .example = "tn_module *m = tn_sequential(tn_nn_linear(4, 8), tn_nn_relu());"),
          .build = sequential_build, .forward = sequential_forward)

static bool module_list_build(tn_module *m) {
    TN_SELF(module_list, s, m);
    return container_build(m, s->o.modules);
}
TN_MODULE(module_list, "ModuleList(Module[] modules)",
          TN_DOC(.example = "tn_nn_module_list(TN_MODULES(one, two))",
                 .differs = "parameter modules: an empty list is written {}"),
          .repr = "[]", .build = module_list_build)

/* src/nn/memory.c - growing text, pointer maps: what the tree needs of memory, on tn_alloc */

#include <stdlib.h>

TN_PRIV void *tni_alloc_each(int64_t n, size_t each) {
    bool fits = n >= 0 && (uint64_t)n <= SIZE_MAX / each;
    size_t bytes = fits ? (size_t)n * each : SIZE_MAX;
    return tn_alloc(bytes);
}

static bool buffer_fail(tni_buffer *b) {
    b->failed = true;
    return false;
}

static bool buffer_reserve(tni_buffer *b, int64_t bytes) {
    int64_t room = b->room ? b->room : 256;
    char *at;
    if (b->failed) return false;
    if (bytes > PTRDIFF_MAX / 2 - b->n) {
        tni_nn_error(TN_MEMORY, "the text is too large");
        return buffer_fail(b);
    }
    while (room < b->n + bytes) room *= 2;
    if (room == b->room) return true;
    at = (char *)tn_alloc((size_t)room);
    if (!at) return buffer_fail(b);
    if (b->n) memcpy(at, b->at, (size_t)b->n);
    if (b->at) tn_alloc_free(b->at, (size_t)b->room);
    b->at = at;
    b->room = room;
    return true;
}

TN_PRIV void *tni_buffer_add(tni_buffer *b, const void *from, int64_t bytes) {
    char *to;
    if (!buffer_reserve(b, bytes)) return NULL;
    to = b->at + b->n;
    if (bytes) memcpy(to, from, (size_t)bytes);
    b->n += bytes;
    return to;
}

TN_PRIV void tni_buffer_text(tni_buffer *b, const char *format, ...) {
    va_list list, again;
    int n;
    va_start(list, format);
    va_copy(again, list);
    n = vsnprintf(NULL, 0, format, list);
    if (n >= 0 && buffer_reserve(b, (int64_t)n + 1)) {
        vsnprintf(b->at + b->n, (size_t)n + 1, format, again);
        b->n += n;
    }
    va_end(again);
    va_end(list);
}

TN_PRIV void tni_buffer_free(tni_buffer *b) {
    if (b->at) tn_alloc_free(b->at, (size_t)b->room);
    memset(b, 0, sizeof *b);
}

TN_PRIV char *tni_text_copy(const char *text, size_t n) {
    char *to = (char *)tn_alloc(n + 1);
    if (!to) return NULL;
    if (n) memcpy(to, text, n);
    to[n] = 0;
    return to;
}
TN_PRIV void tni_text_free(char *text) {
    if (text) tn_alloc_free(text, strlen(text) + 1);
}

static int64_t map_slot(const tni_map *m, const void *key) {
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    int64_t i = (int64_t)(h >> 20) & (m->room - 1);
    while (m->key[i] && m->key[i] != key) i = (i + 1) & (m->room - 1);
    return i;
}

static bool map_grow(tni_map *m) {
    tni_map next = {NULL, NULL, m->n, m->room ? 2 * m->room : 64};
    size_t bytes = (size_t)next.room * sizeof(void *);
    next.key = (const void **)tn_alloc(bytes);
    next.value = (void **)tn_alloc(bytes);
    if (!next.key || !next.value) {
        tni_map_free(&next);
        return false;
    }
    memset(next.key, 0, bytes);
    for (int64_t i = 0; i < m->room; i++) {
        if (!m->key[i]) continue;
        int64_t to = map_slot(&next, m->key[i]);
        next.key[to] = m->key[i];
        next.value[to] = m->value[i];
    }
    tni_map_free(m);
    *m = next;
    return true;
}

TN_PRIV void **tni_map_at(tni_map *m, const void *key, bool *fresh) {
    int64_t i;
    if (2 * (m->n + 1) > m->room && !map_grow(m)) return NULL;
    i = map_slot(m, key);
    *fresh = !m->key[i];
    if (*fresh) {
        m->key[i] = key;
        m->value[i] = NULL;
        m->n++;
    }
    return &m->value[i];
}

TN_PRIV void **tni_map_find(const tni_map *m, const void *key) {
    int64_t i;
    if (!m->room) return NULL;
    i = map_slot(m, key);
    return m->key[i] ? &m->value[i] : NULL;
}

TN_PRIV void tni_map_free(tni_map *m) {
    size_t bytes = (size_t)m->room * sizeof(void *);
    if (m->key) tn_alloc_free((void *)m->key, bytes);
    if (m->value) tn_alloc_free(m->value, bytes);
    memset(m, 0, sizeof *m);
}

/* src/nn/text.c - a module as torch prints it */

typedef struct repr_item {
    tni_span name;
    bool unless_default, named, quoted, tuple;
    int count;
} repr_item;

static bool repr_item_next(tni_span *list, repr_item *t) {
    tni_span s;
    if (!tni_item_next(list, &s)) return false;
    memset(t, 0, sizeof *t);
    t->unless_default = s.at[0] == '?';
    s.at += t->unless_default;
    s.n -= t->unless_default;
    for (; s.n > 0; s.n--) {
        char last = s.at[s.n - 1];
        if (last == '=')
            t->named = true;
        else if (last == '\'')
            t->quoted = true;
        else if (last == ']')
            t->tuple = true;
        else if (last >= '0' && last <= '9' && t->tuple)
            t->count = last - '0';
        else if (last != '[')
            break;
    }
    t->name = s;
    return true;
}

static void repr_ints(tni_buffer *b, tn_ints list, const repr_item *t) {
    int64_t n = t->count && list.n == 1 ? t->count : list.n;
    const char *between = "(";
    if (list.n < 0) {
        tni_buffer_text(b, "None");
    } else if (list.n == 1 && !t->tuple) {
        tni_buffer_text(b, "%lld", (long long)list.at[0]);
    } else {
        for (int64_t i = 0; i < n; i++, between = ", ")
            tni_buffer_text(b, "%s%lld", between, (long long)list.at[list.n == 1 ? 0 : i]);
        tni_buffer_text(b, n == 0 ? "()" : n == 1 ? ",)" : ")");
    }
}

static void repr_value(tni_buffer *b, const tn_module *m, const tn_param *p, const repr_item *t) {
    const void *options = tni_options(m);
    tn_scalar s;
    tn_ints list;
    bool quoted = t->quoted && tn_param_number(p, options, &s) && s.kind != TN_KIND_NONE;
    if (tni_option_ints(m, t->name, &list)) {
        repr_ints(b, list, t);
        return;
    }
    int64_t n = (int64_t)tn_param_text(NULL, 0, p, options, true);
    char *text = (char *)tn_alloc((size_t)n + 1);
    if (!text) {
        b->failed = true;
        return;
    }
    tn_param_text(text, (size_t)n + 1, p, options, true);
    tni_buffer_text(b, quoted ? "'%s'" : "%s", text);
    tn_alloc_free(text, (size_t)n + 1);
}

static void repr_options(tni_buffer *b, const tn_module *m) {
    tni_span list = {m->row->repr, m->row->repr ? (int)strlen(m->row->repr) : 0};
    repr_item t;
    bool first = true;
    if (!m->gen || !m->gen->make) return;
    while (repr_item_next(&list, &t)) {
        const tn_gen *gen = m->gen->make;
        const tn_param *p = tn_param_named(gen, t.name.at, (size_t)t.name.n);
        if (!p || (t.unless_default && tn_param_same(p, tni_options(m), gen->defaults))) continue;
        tni_buffer_text(b, "%s", first ? "" : ", ");
        if (t.named) tni_buffer_text(b, "%s=", p->name);
        repr_value(b, m, p, &t);
        first = false;
    }
}

static void repr_module(tni_buffer *b, const tn_module *m, int indent);

static void repr_child(tni_buffer *b, const tn_module *m, int i, int indent) {
    const tn_module *child = tn_part_child_of(m, i);
    if (child)
        repr_module(b, child, indent);
    else
        tni_buffer_text(b, "None");
}

static int repr_next_child(const tn_module *m, int i) {
    while (i < m->nparts && m->part[i].kind != TN_CHILD) i++;
    return i;
}

static int repr_equal(const tn_module *m, int i, int indent, tni_buffer *one, int *last) {
    int n = 1;
    repr_child(one, m, i, indent);
    *last = i;
    for (int k = repr_next_child(m, i + 1); k < m->nparts && !one->failed;
         k = repr_next_child(m, k + 1), n++) {
        tni_buffer other = {NULL, 0, 0, false};
        bool same;
        repr_child(&other, m, k, indent);
        if (other.failed) one->failed = true;
        same = !other.failed && other.n == one->n && memcmp(other.at, one->at, (size_t)one->n) == 0;
        tni_buffer_free(&other);
        if (!same) break;
        *last = k;
    }
    return n;
}

static void repr_children(tni_buffer *b, const tn_module *m, int indent) {
    bool list = m->row->repr && strcmp(m->row->repr, "[]") == 0;
    for (int i = repr_next_child(m, 0), last; i < m->nparts && !b->failed;
         i = repr_next_child(m, last + 1)) {
        tni_buffer one = {NULL, 0, 0, false};
        int n = 1;
        last = i;
        tni_buffer_text(b, "%*s(%s", 2 * indent, "", m->part[i].name);
        if (list) n = repr_equal(m, i, indent, &one, &last);
        if (n > 1)
            tni_buffer_text(b, "-%s): %d x ", m->part[last].name, n);
        else
            tni_buffer_text(b, "): ");
        if (list && one.n)
            tni_buffer_add(b, one.at, one.n);
        else
            repr_child(b, m, i, indent);
        if (one.failed) b->failed = true;
        tni_buffer_text(b, "\n");
        tni_buffer_free(&one);
    }
}

static void repr_module(tni_buffer *b, const tn_module *m, int indent) {
    bool children = repr_next_child(m, 0) < m->nparts;
    tni_buffer_text(b, "%s(", m->type);
    if (!children) {
        repr_options(b, m);
    } else {
        int64_t before = b->n;
        tni_buffer_text(b, "\n%*s", 2 * (indent + 1), "");
        int64_t start = b->n;
        repr_options(b, m);
        if (b->n == start) b->n = before;
        tni_buffer_text(b, "\n");
        repr_children(b, m, indent + 1);
        tni_buffer_text(b, "%*s", 2 * indent, "");
    }
    tni_buffer_text(b, ")");
}

static char *repr_text(const tn_module *m) {
    tni_buffer b = {NULL, 0, 0, false};
    char *text = NULL;
    if (!m) {
        tni_nn_error(TN_INVALID, "module is NULL");
        return NULL;
    }
    repr_module(&b, m, 0);
    if (!b.failed) text = tni_text_copy(b.at, (size_t)b.n);
    tni_buffer_free(&b);
    return text;
}

TN_API char *tn_module_text_at(const char *file, int line, const tn_module *m) {
    tni_step step;
    char *text;
    if (!tn_ok()) return NULL;
    tni_place_begin(&step, file, line);
    text = repr_text(m);
    tni_step_end(&step);
    return text;
}

TN_API bool tn_module_print_at(const char *file, int line, const tn_module *m) {
    tni_step step;
    char *text;
    bool ok;
    if (!tn_ok()) return false;
    tni_place_begin(&step, file, line);
    text = repr_text(m);
    ok = text && puts(text) >= 0;
    if (text && !ok) tni_nn_error(TN_FILE, "cannot write to stdout");
    tni_text_free(text);
    tni_step_end(&step);
    return ok;
}

/* src/nn/parts.c - reader of the texts of module rows, and the calculator of their expressions */

#include <string.h>

static bool parts_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }
static bool parts_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool parts_digit(char c) { return c >= '0' && c <= '9'; }

static tni_span parts_trim(tni_span s) {
    while (s.n > 0 && parts_space(s.at[0])) {
        s.at++;
        s.n--;
    }
    while (s.n > 0 && parts_space(s.at[s.n - 1])) s.n--;
    return s;
}

TN_PRIV bool tni_span_is(tni_span s, const char *text) {
    return (size_t)s.n == strlen(text) && memcmp(s.at, text, (size_t)s.n) == 0;
}

TN_PRIV bool tni_span_is_name(tni_span s) {
    for (int i = 0; i < s.n; i++)
        if (!parts_letter(s.at[i]) && !(i > 0 && parts_digit(s.at[i]))) return false;
    return s.n > 0;
}

TN_PRIV bool tni_item_next(tni_span *list, tni_span *item) {
    tni_span rest = parts_trim(*list);
    int depth = 0, i = 0;
    if (rest.n == 0) return false;
    for (; i < rest.n && (depth > 0 || rest.at[i] != ','); i++)
        depth +=
            (rest.at[i] == '(' || rest.at[i] == '[') - (rest.at[i] == ')' || rest.at[i] == ']');
    item->at = rest.at;
    item->n = i;
    *item = parts_trim(*item);
    list->at = rest.at + i + (i < rest.n);
    list->n = rest.n - i - (i < rest.n);
    return true;
}

TN_PRIV void tni_item_split(tni_span item, tni_span *name, tni_span *value) {
    name->at = item.at;
    name->n = 0;
    *value = item;
    for (int i = 0; i < item.n; i++) {
        if (item.at[i] != '=') continue;
        tni_span left = {item.at, i};
        left = parts_trim(left);
        if (!tni_span_is_name(left) || (i + 1 < item.n && item.at[i + 1] == '=')) return;
        *name = left;
        value->at = item.at + i + 1;
        value->n = item.n - i - 1;
        *value = parts_trim(*value);
        return;
    }
}

static const char *parts_skip(const char *at) {
    while (parts_space(*at)) at++;
    return at;
}

static tni_span parts_word(const char **at) {
    tni_span w = {parts_skip(*at), 0};
    while (parts_letter(w.at[w.n]) || (w.n > 0 && parts_digit(w.at[w.n]))) w.n++;
    *at = w.at + w.n;
    return w;
}

static bool parts_inside(const char **at, tni_span *inside) {
    const char *start = parts_skip(*at), *end = start;
    int depth = 0;
    if (*start != '(') return false;
    do depth += (*end == '(') - (*end == ')');
    while (*end++ && depth > 0);
    if (depth > 0) return false;
    inside->at = start + 1;
    inside->n = (int)(end - start) - 2;
    *at = end;
    return true;
}

static int parts_bad(const char **error, const char *what) {
    *error = what;
    return -1;
}

static void parts_head(const char **at, tni_part_text *p) {
    static const char *const kinds[] = {"param", "buffer", "transient", "child"};
    p->kind = TNI_SPAN_PARAM;
    p->name = parts_word(at);
    for (int k = 0; k < 4; k++) {
        const char *next = *at;
        tni_span name = parts_word(&next);
        if (!tni_span_is(p->name, kinds[k]) || name.n == 0) continue;
        p->kind = k + 1;
        p->name = name;
        *at = next;
        return;
    }
}

static int parts_end(const char **at, const char **error) {
    *at = parts_skip(*at);
    if (**at && **at != ';') return parts_bad(error, "expected ';'");
    *at += **at == ';';
    return 1;
}

TN_PRIV int tni_part_next(const char **at, tni_part_text *p, const char **error) {
    memset(p, 0, sizeof *p);
    *at = parts_skip(*at);
    if (**at == 0) return 0;
    parts_head(at, p);
    if (p->name.n == 0) return parts_bad(error, "expected a name");
    *at = parts_skip(*at);
    if (p->kind == TNI_SPAN_CHILD) {
        if (**at != '=') return parts_bad(error, "expected '=' after a child's name");
        ++*at;
        p->type = parts_word(at);
        if (p->type.n == 0) return parts_bad(error, "expected a class name");
    } else if (**at == ':') {
        ++*at;
        p->dtype = parts_word(at);
        if (p->dtype.n == 0) return parts_bad(error, "expected a dtype");
    } else if (**at == '=') {
        ++*at;
        p->given = parts_word(at);
        if (p->given.n == 0) return parts_bad(error, "expected an option after '='");
        return parts_end(at, error);
    }
    if (!parts_inside(at, &p->items)) return parts_bad(error, "expected a list in parentheses");
    const char *next = *at;
    if (tni_span_is(parts_word(&next), "if")) {
        p->condition.at = *at = next;
        while (**at && **at != ';') ++*at;
        p->condition.n = (int)(*at - next);
        p->condition = parts_trim(p->condition);
        if (p->condition.n == 0) return parts_bad(error, "expected a condition after if");
    }
    return parts_end(at, error);
}

enum { PARTS_DEPTH = 48 };

typedef struct parts_calc {
    const char *at, *end, *error;
    tni_lookup lookup;
    void *user;
    int depth;
} parts_calc;

static tni_figure parts_choice(parts_calc *c);

static tni_figure parts_int(int64_t value) {
    tni_figure v = {TNI_FIGURE_INT, value, 0};
    return v;
}
static tni_figure parts_none(void) {
    tni_figure v = {TNI_FIGURE_NONE, 0, 0};
    return v;
}
static tni_figure parts_fail(parts_calc *c, const char *what) {
    if (!c->error) c->error = what;
    c->at = c->end;
    return parts_none();
}

TN_PRIV bool tni_figure_true(tni_figure v) {
    return v.kind == TNI_FIGURE_INT ? v.value != 0 : v.kind == TNI_FIGURE_FLOAT && v.real != 0;
}

static bool parts_sign(parts_calc *c, const char *sign) {
    size_t n = strlen(sign);
    while (c->at < c->end && parts_space(*c->at)) c->at++;
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, sign, n) != 0) return false;
    c->at += n;
    return true;
}

static tni_figure parts_digits(parts_calc *c) {
    int64_t v = 0;
    for (; c->at < c->end && parts_digit(*c->at); c->at++) {
        if (v > (INT64_MAX - 9) / 10) return parts_fail(c, "a number is too large");
        v = v * 10 + (*c->at - '0');
    }
    return parts_int(v);
}

static tni_figure parts_named(parts_calc *c) {
    tni_span name = {c->at, 0};
    tni_figure v = parts_none();
    int64_t index = -1;
    while (c->at < c->end && (parts_letter(*c->at) || parts_digit(*c->at))) c->at++;
    name.n = (int)(c->at - name.at);
    if (tni_span_is(name, "None")) return v;
    if (tni_span_is(name, "True")) return parts_int(1);
    if (tni_span_is(name, "False")) return parts_int(0);
    if (parts_sign(c, "[")) {
        tni_figure i = parts_choice(c);
        if (i.kind != TNI_FIGURE_INT || i.value < 0)
            return parts_fail(c, "an index must be a non-negative integer");
        if (!parts_sign(c, "]")) return parts_fail(c, "expected ']'");
        index = i.value;
    }
    if (!c->lookup || !c->lookup(c->user, name, index, &v))
        return parts_fail(c, "expected the name of a number");
    return v;
}

static tni_figure parts_unary(parts_calc *c) {
    tni_figure v;
    if (c->depth >= PARTS_DEPTH) return parts_fail(c, "nested too deeply");
    c->depth++;
    if (parts_sign(c, "(")) {
        v = parts_choice(c);
        if (!parts_sign(c, ")")) v = parts_fail(c, "expected ')'");
    } else if (parts_sign(c, "!")) {
        v = parts_int(!tni_figure_true(parts_unary(c)));
    } else if (parts_sign(c, "-")) {
        v = parts_unary(c);
        if (v.kind != TNI_FIGURE_INT || v.value == INT64_MIN)
            v = parts_fail(c, "- needs an integer");
        v.value = -v.value;
    } else if (c->at < c->end && parts_digit(*c->at)) {
        v = parts_digits(c);
    } else if (c->at < c->end && parts_letter(*c->at)) {
        v = parts_named(c);
    } else {
        v = parts_fail(c, "expected a value");
    }
    c->depth--;
    return v;
}

static bool parts_mul(int64_t a, int64_t b, int64_t *to) {
    if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
              : (b > 0 ? a < INT64_MIN / b : a && b < INT64_MAX / a))
        return false;
    *to = a * b;
    return true;
}

static tni_figure parts_divide(parts_calc *c, int64_t a, int64_t b, bool rest) {
    if (b == 0) return parts_fail(c, "division by zero");
    if (b == -1)
        return rest ? parts_int(0) : a == INT64_MIN ? parts_fail(c, "overflow") : parts_int(-a);
    int64_t q = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    return parts_int(rest ? a - q * b : q);
}

static tni_figure parts_op(parts_calc *c, char op, tni_figure a, tni_figure b) {
    int64_t r = 0;
    bool fits;
    if (c->error) return parts_none();
    if (a.kind != TNI_FIGURE_INT || b.kind != TNI_FIGURE_INT)
        return parts_fail(c, "arithmetic needs integers");
    if (op == '/' || op == '%') return parts_divide(c, a.value, b.value, op == '%');
    if (op == '*')
        fits = parts_mul(a.value, b.value, &r);
    else if (op == '+')
        fits = b.value > 0 ? a.value <= INT64_MAX - b.value : a.value >= INT64_MIN - b.value;
    else
        fits = b.value < 0 ? a.value <= INT64_MAX + b.value : a.value >= INT64_MIN + b.value;
    if (!fits) return parts_fail(c, "overflow");
    return parts_int(op == '*' ? r : op == '+' ? a.value + b.value : a.value - b.value);
}

static tni_figure parts_product(parts_calc *c) {
    tni_figure v = parts_unary(c);
    for (;;) {
        char op = parts_sign(c, "*")   ? '*'
                  : parts_sign(c, "/") ? '/'
                  : parts_sign(c, "%") ? '%'
                                       : 0;
        if (!op) return v;
        v = parts_op(c, op, v, parts_unary(c));
    }
}

static tni_figure parts_sum(parts_calc *c) {
    tni_figure v = parts_product(c);
    for (;;) {
        char op = parts_sign(c, "+") ? '+' : parts_sign(c, "-") ? '-' : 0;
        if (!op) return v;
        v = parts_op(c, op, v, parts_product(c));
    }
}

static tni_figure parts_compare(parts_calc *c) {
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    tni_figure a = parts_sum(c), b;
    int k = 0;
    while (k < 6 && !parts_sign(c, signs[k])) k++;
    if (k == 6) return a;
    b = parts_sum(c);
    if (a.kind == TNI_FIGURE_FLOAT || b.kind == TNI_FIGURE_FLOAT) {
        double x = a.kind == TNI_FIGURE_FLOAT ? a.real : (double)a.value;
        double y = b.kind == TNI_FIGURE_FLOAT ? b.real : (double)b.value;
        bool both = a.kind != TNI_FIGURE_NONE && b.kind != TNI_FIGURE_NONE;
        if (!both) return k < 2 ? parts_int(k == 1) : parts_fail(c, "None cannot be ordered");
        return parts_int(k == 0   ? x == y
                         : k == 1 ? x != y
                         : k == 2 ? x <= y
                         : k == 3 ? x >= y
                         : k == 4 ? x < y
                                  : x > y);
    }
    if (k < 2) return parts_int((a.kind == b.kind && a.value == b.value) == (k == 0));
    if (a.kind != b.kind || a.kind != TNI_FIGURE_INT)
        return parts_fail(c, "None cannot be ordered");
    return parts_int(k == 2   ? a.value <= b.value
                     : k == 3 ? a.value >= b.value
                     : k == 4 ? a.value < b.value
                              : a.value > b.value);
}

static tni_figure parts_and(parts_calc *c) {
    tni_figure v = parts_compare(c);
    while (parts_sign(c, "&&")) {
        tni_figure w = parts_compare(c);
        v = parts_int(tni_figure_true(v) && tni_figure_true(w));
    }
    return v;
}

static tni_figure parts_choice(parts_calc *c) {
    tni_figure v = parts_and(c), yes, no;
    while (parts_sign(c, "||")) {
        tni_figure w = parts_and(c);
        v = parts_int(tni_figure_true(v) || tni_figure_true(w));
    }
    if (!parts_sign(c, "?")) return v;
    if (c->depth++ >= PARTS_DEPTH) return parts_fail(c, "nested too deeply");
    yes = parts_choice(c);
    if (!parts_sign(c, ":")) return parts_fail(c, "expected ':'");
    no = parts_choice(c);
    c->depth--;
    return tni_figure_true(v) ? yes : no;
}

TN_PRIV bool tni_expression(tni_span text, tni_lookup lookup, void *user, tni_figure *to,
                            const char **error) {
    parts_calc c = {text.at, text.at + text.n, NULL, lookup, user, 0};
    *to = parts_choice(&c);
    while (c.at < c.end && parts_space(*c.at)) c.at++;
    if (!c.error && c.at != c.end) c.error = "unexpected text after the expression";
    if (c.error) *error = c.error;
    return !c.error;
}

/* src/nn/tree.c - looking at a tree of modules: places of parts, paths, named lists */

TN_PRIV void **tni_part_place(const tn_module *m, int i) {
    tn_part *p = &m->part[i];
    return p->field ? (void **)(void *)((char *)(uintptr_t)m + p->field) : &p->at;
}

static bool tree_has(const tn_module *m, int i, bool child) {
    return m && i >= 0 && i < m->nparts && (m->part[i].kind == TN_CHILD) == child;
}
TN_API tn_tensor *tn_part_tensor_of(const tn_module *m, int i) {
    return tree_has(m, i, false) ? (tn_tensor *)*tni_part_place(m, i) : NULL;
}
TN_API tn_module *tn_part_child_of(const tn_module *m, int i) {
    return tree_has(m, i, true) ? (tn_module *)*tni_part_place(m, i) : NULL;
}

static bool tree_find(const tn_module *root, const tn_module *m, char *to, size_t room, size_t at,
                      int64_t *steps) {
    if (root == m) {
        if (to) to[at] = 0;
        return true;
    }
    for (int i = 0; i < root->nparts && --*steps > 0; i++) {
        const tn_module *child = tn_part_child_of(root, i);
        size_t n = strlen(root->part[i].name), next = at + n + (at > 0);
        if (!child || (to && next >= room)) continue;
        if (to && at > 0) to[at] = '.';
        if (to) memcpy(to + next - n, root->part[i].name, n);
        if (tree_find(child, m, to, room, to ? next : 0, steps)) return true;
    }
    return false;
}

TN_PRIV bool tni_tree_path(const tn_module *root, const tn_module *m, char *to, size_t room) {
    int64_t steps = 1000000;
    if (tree_find(root, m, to, room, 0, &steps)) return true;
    to[0] = 0;
    return false;
}

typedef struct tree_walk {
    bool (*visit)(struct tree_walk *w, tn_module *m);
    tni_buffer path;
    tni_map seen;
    bool once;
    void *user;
} tree_walk;

static bool tree_enter(tree_walk *w, tn_module *m) {
    int64_t before = w->path.n;
    if (w->once) {
        bool fresh;
        if (!tni_map_at(&w->seen, m, &fresh)) return false;
        if (!fresh) return true;
    }
    if (!w->visit(w, m)) return false;
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (!child) continue;
        tni_buffer_text(&w->path, "%s%s", before ? "." : "", m->part[i].name);
        if (w->path.failed || !tree_enter(w, child)) return false;
        w->path.n = before;
    }
    return true;
}

static bool tree_run(tree_walk *w, const tn_module *m) {
    bool ok;
    if (!tn_ok()) return false;
    if (!m) return tni_nn_error(TN_INVALID, "module is NULL");
    ok = tree_enter(w, (tn_module *)(uintptr_t)m);
    tni_map_free(&w->seen);
    tni_buffer_free(&w->path);
    return ok;
}

static bool tree_is_not(tree_walk *w, tn_module *m) { return m != (tn_module *)w->user; }
TN_PRIV bool tni_tree_contains(const tn_module *root, const tn_module *m) {
    tree_walk w = {
        tree_is_not, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, true, (void *)(uintptr_t)m};
    return !tree_run(&w, root);
}

typedef struct tree_visitor {
    tn_module_visit visit;
    void *user;
} tree_visitor;
static bool tree_call(tree_walk *w, tn_module *m) {
    tree_visitor *v = (tree_visitor *)w->user;
    if (!tni_buffer_add(&w->path, "", 1)) return false;
    w->path.n--;
    return v->visit(m, w->path.at, v->user);
}
TN_API bool tn_module_walk_at(const char *file, int line, tn_module *m, tn_module_visit visit,
                              void *user) {
    tree_visitor v = {visit, user};
    tree_walk w = {tree_call, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, true, &v};
    tni_step step;
    bool ok = m && visit;
    tni_place_begin(&step, file, line);
    if (!ok) tni_nn_error(TN_INVALID, "module or visit is NULL");
    tni_step_end(&step);
    return ok && tree_run(&w, m);
}

typedef struct tree_entry {
    int64_t name;
    tn_tensor *tensor;
} tree_entry;
typedef struct tree_collect {
    tni_buffer names, entries;
    tni_map tensors;
    unsigned kinds;
    bool twice;
} tree_collect;

static bool tree_collect_one(tree_walk *w, tree_collect *c, const char *name, tn_tensor *t) {
    tree_entry e = {c->names.n, t};
    bool fresh = true;
    if (!c->twice && !tni_map_at(&c->tensors, t, &fresh)) return false;
    if (!fresh) return true;
    tni_buffer_add(&c->names, w->path.at, w->path.n);
    if (w->path.n) tni_buffer_add(&c->names, ".", 1);
    tni_buffer_add(&c->names, name, (int64_t)strlen(name) + 1);
    tni_buffer_add(&c->entries, &e, sizeof e);
    return !c->names.failed && !c->entries.failed;
}

static bool tree_collect_parts(tree_walk *w, tn_module *m) {
    tree_collect *c = (tree_collect *)w->user;
    static const uint8_t order[] = {TN_PARAM, TN_BUFFER, TN_TRANSIENT};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < m->nparts; i++) {
            tn_tensor *t = tn_part_tensor_of(m, i);
            if (!t || m->part[i].kind != order[k] || !(c->kinds >> order[k] & 1)) continue;
            if (!tree_collect_one(w, c, m->part[i].name, t)) return false;
        }
    return true;
}

static tn_named_list tree_list(const tree_collect *c) {
    tn_named_list list = {NULL, 0, 0, false};
    int64_t n = c->entries.n / (int64_t)sizeof(tree_entry);
    const tree_entry *e = (const tree_entry *)(const void *)c->entries.at;
    char *names;
    if (n == 0) return list;
    list.bytes = n * (int64_t)sizeof *list.at + c->names.n;
    list.at = (tn_named *)tn_alloc((size_t)list.bytes);
    list.n = list.at ? n : -1;
    if (!list.at) return list;
    names = (char *)(list.at + n);
    memcpy(names, c->names.at, (size_t)c->names.n);
    for (int64_t i = 0; i < n; i++) {
        list.at[i].name = names + e[i].name;
        list.at[i].tensor = e[i].tensor;
    }
    return list;
}

static tn_named_list tree_tensors(const char *file, int line, const tn_module *m, unsigned kinds,
                                  bool twice) {
    tn_named_list none = {NULL, -1, 0, false};
    tree_collect c;
    tree_walk w = {tree_collect_parts, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, !twice, NULL};
    tni_step step;
    tni_place_begin(&step, file, line);
    memset(&c, 0, sizeof c);
    c.kinds = kinds;
    c.twice = twice;
    w.user = &c;
    if (tree_run(&w, m)) none = tree_list(&c);
    tni_buffer_free(&c.names);
    tni_buffer_free(&c.entries);
    tni_map_free(&c.tensors);
    tni_step_end(&step);
    return none;
}
TN_API tn_named_list tn_module_parameters_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_PARAM, false);
}
TN_API tn_named_list tn_module_buffers_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_BUFFER | 1u << TN_TRANSIENT, false);
}
TN_API tn_named_list tn_module_state_dict_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_PARAM | 1u << TN_BUFFER, true);
}
TN_PRIV tn_named_list tni_module_tensors(const tn_module *m) {
    return tree_tensors(NULL, 0, m, 1u << TN_PARAM | 1u << TN_BUFFER | 1u << TN_TRANSIENT, false);
}

static int tree_part(const tn_module *m, const char *name, size_t n) {
    for (int i = 0; i < m->nparts; i++)
        if (strncmp(m->part[i].name, name, n) == 0 && m->part[i].name[n] == 0) return i;
    return -1;
}

static const tn_module *tree_owner(const tn_module *m, const char **path) {
    const char *dot;
    while (m && (dot = strchr(*path, '.')) != NULL) {
        m = tn_part_child_of(m, tree_part(m, *path, (size_t)(dot - *path)));
        *path = dot + 1;
    }
    return m;
}

TN_API tn_module *tn_module_child_at(const char *file, int line, const tn_module *m,
                                     const char *path) {
    const char *name = path ? path : "";
    const tn_module *child = *name ? tree_owner(m, &name) : m;
    tni_step step;
    tni_step_begin(&step, file, line, m ? m->type : NULL);
    if (child && *name) child = tn_part_child_of(child, tree_part(child, name, strlen(name)));
    if (!child) tni_nn_error(TN_INVALID, "module \"%s\" does not exist", path ? path : "");
    tni_step_end(&step);
    return (tn_module *)(uintptr_t)child;
}

TN_API tn_tensor *tn_module_tensor_at(const char *file, int line, const tn_module *m,
                                      const char *path) {
    const char *name = path ? path : "";
    const tn_module *owner = tree_owner(m, &name);
    tn_tensor *t = owner ? tn_part_tensor_of(owner, tree_part(owner, name, strlen(name))) : NULL;
    tni_step step;
    tni_step_begin(&step, file, line, m ? m->type : NULL);
    if (!t) tni_nn_error(TN_INVALID, "tensor \"%s\" does not exist", path ? path : "");
    tni_step_end(&step);
    return t;
}

TN_API bool tn_module_set_tensor_at(const char *file, int line, tn_module *m, const char *path,
                             tn_tensor *t) {
    const char *name = path ? path : "";
    const tn_module *owner = tree_owner(m, &name);
    int i = owner ? tree_part(owner, name, strlen(name)) : -1;
    void **at;
    tni_step step;
    if (!tn_ok()) return false;
    if (i < 0 || owner->part[i].kind == TN_CHILD) {
        tni_step_begin(&step, file, line, m ? m->type : NULL);
        tni_nn_error(TN_INVALID, "tensor \"%s\" does not exist", path ? path : "");
        tni_step_end(&step);
        return false;
    }
    at = tni_part_place(owner, i);
    if (*at == (void *)t) return true;
    tni_step_begin(&step, file, line, m->type);
    i = !t || tn_retain(t);
    tni_step_end(&step);
    if (!i) return false;
    tn_release((tn_tensor *)*at);
    *at = t;
    return true;
}

TN_API void tn_module_train(tn_module *m, bool training) {
    if (!m) return;
    m->training = training;
    for (int i = 0; i < m->nparts; i++) tn_module_train(tn_part_child_of(m, i), training);
}

TN_API void tn_module_zero_grad(tn_module *m) {
    for (int i = 0; m && i < m->nparts; i++) {
        if (m->part[i].kind == TN_PARAM) tn_zero_grad(tn_part_tensor_of(m, i));
        tn_module_zero_grad(tn_part_child_of(m, i));
    }
}

static bool tree_requires_grad(tn_module *m, bool requires_grad) {
    for (int i = 0; i < m->nparts; i++) {
        tn_tensor *t = m->part[i].kind == TN_PARAM ? tn_part_tensor_of(m, i) : NULL;
        tn_module *child = tn_part_child_of(m, i);
        if (t && !tn_requires_grad_at(NULL, 0, t, requires_grad)) return false;
        if (child && !tree_requires_grad(child, requires_grad)) return false;
    }
    return true;
}
TN_API bool tn_module_requires_grad_at(const char *file, int line, tn_module *m,
                                       bool requires_grad) {
    tni_step step;
    bool ok;
    tni_place_begin(&step, file, line);
    ok = m ? tree_requires_grad(m, requires_grad) : tni_nn_error(TN_INVALID, "module is NULL");
    tni_step_end(&step);
    return ok;
}

TN_API tn_tensors tn_parameters_at(const char *file, int line, tn_module *m) {
    tn_named_list list = tn_module_parameters_at(file, line, m);
    tn_tensors none = {NULL, -1};
    tn_tensor **at;
    tni_step step;
    if (list.n < 0) return none;
    tni_place_begin(&step, file, line);
    at = (tn_tensor **)tn_alloc((size_t)(list.n + 1) * sizeof *at);
    tni_step_end(&step);
    if (at) {
        if (m->parameters) tn_alloc_free(m->parameters, (size_t)(m->nparameters + 1) * sizeof *at);
        m->parameters = at;
        m->nparameters = list.n;
        for (int64_t i = 0; i < list.n; i++) at[i] = list.at[i].tensor;
        none = tn_tensors_of(at, list.n);
    }
    tn_named_free(list);
    return none;
}

/* src/nn/state.c - changing all tensors of a tree at once: load, to, copy, and their files */

typedef struct state_swap {
    tn_tensor *old, *fresh;
} state_swap;

static bool state_may_swap(const char *name, const tn_tensor *t) {
    return (!tn_is_view(t) && tn_is_leaf(t)) ||
           tni_nn_error(TN_AUTOGRAD,
                        "%s is a view or a recorded result; its data cannot be replaced", name);
}

static bool state_add(tni_plan *plan, const char *name, tn_tensor *old, tn_tensor *fresh) {
    state_swap s = {old, fresh};
    if (!state_may_swap(name, old) || !fresh || !tni_buffer_add(&plan->swaps, &s, sizeof s))
        return false;
    tn_retain(fresh);
    return true;
}

TN_PRIV void tni_plan_end(tni_plan *plan, bool commit) {
    state_swap *s = (state_swap *)(void *)plan->swaps.at;
    int64_t n = plan->swaps.n / (int64_t)sizeof *s;
    for (int64_t i = 0; i < n; i++) {
        if (commit) tn_swap_data(s[i].old, s[i].fresh);
        tn_release(s[i].fresh);
    }
    tni_buffer_free(&plan->swaps);
}

static tn_tensor *state_convert(tn_tensor *src, tn_dtype dtype, tn_device_id device) {
    tn_tensor *t = tnp_empty(tn_shape(src), dtype, device);
    return t ? tnp_copy_(t, src) : NULL;
}

enum { STATE_SHOWN = 8 };

typedef struct state_report {
    tni_buffer missing, unexpected, mismatch;
    int64_t nmissing, nunexpected, nmismatch;
} state_report;

static void state_note(tni_buffer *b, int64_t *count, const char *name) {
    if ((*count)++ < STATE_SHOWN) tni_buffer_text(b, "%s\"%s\"", *count > 1 ? ", " : "", name);
}

static bool state_same_shape(const tn_tensor *a, const tn_tensor *b) {
    tn_ints x = tn_shape(a), y = tn_shape(b);
    return x.n == y.n && (x.n == 0 || memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at) == 0);
}

static void state_mismatch(state_report *r, const char *name, const tn_tensor *file,
                           const tn_tensor *here) {
    char a[TN_MAX_DIMS * 22 + 40], b[TN_MAX_DIMS * 22 + 40];
    if (r->nmismatch++ >= STATE_SHOWN) return;
    tni_buffer_text(&r->mismatch, "; size mismatch for %s: got %s, the module has %s", name,
                    tni_nn_shape_text(a, sizeof a, file), tni_nn_shape_text(b, sizeof b, here));
}

typedef struct state_names {
    int64_t *place;
    bool *used;
    int64_t room, n;
    const tn_named *at;
} state_names;

static int64_t state_slot(const state_names *t, const char *name) {
    uint64_t h = 0xcbf29ce484222325u;
    int64_t i;
    for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    for (i = (int64_t)(h >> 8) & (t->room - 1); t->place[i]; i = (i + 1) & (t->room - 1))
        if (strcmp(t->at[t->place[i] - 1].name, name) == 0) break;
    return i;
}

static void state_names_free(state_names *t) {
    if (t->place) tn_alloc_free(t->place, (size_t)t->room * sizeof *t->place);
    if (t->used) tn_alloc_free(t->used, (size_t)t->n + 1);
}

static bool state_names_make(state_names *t, const tn_named *at, int64_t n) {
    memset(t, 0, sizeof *t);
    if (n < 0 || n > PTRDIFF_MAX / 64 || (n > 0 && !at))
        return tni_nn_error(TN_INVALID, "expected a list of named tensors");
    for (t->room = 16; t->room < 2 * n; t->room *= 2) continue;
    t->n = n;
    t->at = at;
    t->place = (int64_t *)tn_alloc((size_t)t->room * sizeof *t->place);
    t->used = (bool *)tn_alloc((size_t)n + 1);
    if (!t->place || !t->used) return false;
    memset(t->place, 0, (size_t)t->room * sizeof *t->place);
    memset(t->used, 0, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t slot;
        if (!at[i].name || !at[i].tensor)
            return tni_nn_error(TN_INVALID, "entry %lld has no name or no tensor", (long long)i);
        slot = state_slot(t, at[i].name);
        if (t->place[slot])
            return tni_nn_error(TN_INVALID, "the name \"%s\" is given twice", at[i].name);
        t->place[slot] = i + 1;
    }
    return true;
}

static bool state_is_of(const tn_tensor *t, tn_dtype dtype, tn_device_id device) {
    return tn_dtype_of(t) == dtype && tn_device_of(t) == device && tn_is_contiguous(t);
}

static bool state_load_each(tni_plan *plan, tn_named_list here, state_names *given, state_report *r,
                            bool take) {
    for (int64_t i = 0; i < here.n; i++) {
        int64_t mark, k = given->place[state_slot(given, here.at[i].name)];
        tn_tensor *to = here.at[i].tensor, *from = k ? given->at[k - 1].tensor : NULL;
        bool ok;
        if (!from) {
            state_note(&r->missing, &r->nmissing, here.at[i].name);
            continue;
        }
        given->used[k - 1] = true;
        if (!state_same_shape(from, to)) {
            state_mismatch(r, here.at[i].name, from, to);
            continue;
        }
        mark = tn_scope_begin();
        if (!take || !state_is_of(from, tn_dtype_of(to), tn_device_of(to)))
            from = state_convert(from, tn_dtype_of(to), tn_device_of(to));
        ok = state_add(plan, here.at[i].name, to, from);
        tn_scope_end(mark);
        if (!ok) return false;
    }
    for (int64_t i = 0; i < given->n; i++)
        if (!given->used[i]) state_note(&r->unexpected, &r->nunexpected, given->at[i].name);
    return true;
}

static bool state_judge(state_report *r, bool strict) {
    tni_buffer text = {NULL, 0, 0, false};
    bool bad = r->nmismatch || (strict && (r->nmissing || r->nunexpected));
    if (r->missing.failed || r->unexpected.failed || r->mismatch.failed) return false;
    if (!bad) return true;
    tni_buffer_text(&text, "the state does not match");
    if (strict && r->nmissing)
        tni_buffer_text(&text, "; missing (%lld): %.*s", (long long)r->nmissing, (int)r->missing.n,
                        r->missing.at);
    if (strict && r->nunexpected)
        tni_buffer_text(&text, "; unexpected (%lld): %.*s", (long long)r->nunexpected,
                        (int)r->unexpected.n, r->unexpected.at);
    tni_buffer_text(&text, "%.*s", (int)r->mismatch.n, r->mismatch.n ? r->mismatch.at : "");
    if (!text.failed) tni_nn_error(TN_INVALID, "%s", text.at);
    tni_buffer_free(&text);
    return false;
}

TN_PRIV bool tni_plan_load(tni_plan *plan, tn_module *m, const tn_named *at, int64_t n, bool strict,
                           bool take) {
    tn_named_list here = tn_module_state_dict_at(NULL, 0, m);
    state_report r;
    state_names given;
    bool ok;
    memset(&r, 0, sizeof r);
    ok = state_names_make(&given, at, n) && here.n >= 0 &&
         state_load_each(plan, here, &given, &r, take) && state_judge(&r, strict);
    state_names_free(&given);
    tni_buffer_free(&r.missing);
    tni_buffer_free(&r.unexpected);
    tni_buffer_free(&r.mismatch);
    tn_named_free(here);
    return ok;
}

static bool state_load(tn_module *m, const tn_named *at, int64_t n, bool strict, bool take) {
    tni_plan plan = {{NULL, 0, 0, false}};
    bool ok = tni_plan_load(&plan, m, at, n, strict, take);
    tni_plan_end(&plan, ok);
    return ok;
}

typedef struct state_quiet {
    tni_step step;
    int64_t mark;
    bool mode;
} state_quiet;
static void state_quiet_begin(state_quiet *q, const char *file, int line, const tn_module *m) {
    tni_step_begin(&q->step, file, line, m ? m->type : NULL);
    q->mark = tn_scope_begin();
    q->mode = tn_set_grad_mode(false);
}
static void state_quiet_end(state_quiet *q) {
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
    tni_step_end(&q->step);
}

TN_API bool tn_module_load_at(const char *file, int line, tn_module *m, const tn_named *at,
                              int64_t n, bool strict) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    ok = state_load(m, at, n, strict, false);
    state_quiet_end(&q);
    return ok;
}

static bool state_to_one(tni_plan *plan, const char *name, tn_tensor *t, tn_dtype dtype,
                         tn_device_id device) {
    tn_dtype type =
        dtype != TN_NO_DTYPE && tni_dtype_kind(tn_dtype_of(t)) == 'f' ? dtype : tn_dtype_of(t);
    tn_device_id place = device != TN_NO_DEVICE ? device : tn_device_of(t);
    int64_t mark;
    bool ok;
    if (type == tn_dtype_of(t) && place == tn_device_of(t)) return true;
    mark = tn_scope_begin();
    ok = state_add(plan, name, t, state_convert(t, type, place));
    tn_scope_end(mark);
    return ok;
}

TN_API bool tn_module_to_at(const char *file, int line, tn_module *m, tn_dtype dtype,
                            tn_device_id device) {
    tni_plan plan = {{NULL, 0, 0, false}};
    tn_named_list all;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    all = tni_module_tensors(m);
    ok = all.n >= 0;
    if (ok && dtype != TN_NO_DTYPE && tni_dtype_kind(dtype) != 'f')
        ok = tni_nn_error(TN_TYPE, "to: %s is not a floating dtype", tn_dtype_name(dtype));
    for (int64_t i = 0; ok && i < all.n; i++) {
        const char *name = all.at[i].name;
        tn_tensor *t = all.at[i].tensor, *grad = tn_grad_of(t);
        ok = state_to_one(&plan, name, t, dtype, device) &&
             (!grad || state_to_one(&plan, name, grad, dtype, device));
    }
    tni_plan_end(&plan, ok);
    tn_named_free(all);
    state_quiet_end(&q);
    return ok;
}

typedef struct state_copy {
    tni_map seen;
    uint8_t level;
} state_copy;
static tn_module *state_copy_module(state_copy *c, const tn_module *m);

static tn_tensor *state_copy_tensor(state_copy *c, tn_tensor *t) {
    bool fresh;
    void **at = tni_map_at(&c->seen, t, &fresh);
    tn_tensor *copy;
    int64_t mark;
    if (!at) return NULL;
    if (!fresh) return tn_retain((tn_tensor *)*at);
    mark = tn_scope_begin();
    copy = state_convert(t, tn_dtype_of(t), tn_device_of(t));
    if (copy && tn_needs_grad(t)) copy = tn_requires_grad_at(NULL, 0, copy, true);
    if (copy) tn_retain(copy);
    *at = copy;
    tn_scope_end(mark);
    return copy;
}

static tn_module *state_copy_head(const state_copy *c, const tn_module *m) {
    tn_module *to;
    if (m->row->destroy) {
        tni_nn_error(TN_UNSUPPORTED, "%s cannot be copied because its row has destroy", m->type);
        return NULL;
    }
    to = (tn_module *)tn_alloc((size_t)m->bytes);
    if (!to) return NULL;
    memcpy(to, m, (size_t)m->bytes);
    to->count = 1;
    to->hooks = NULL;
    to->last_hook = 0;
    to->parameters = NULL;
    to->part = NULL;
    to->nparts = to->room = 0;
    to->level = (uint8_t)(m->level - c->level);
    if (tni_expect_copy(to, m)) {
        if (to->gen && to->gen->make) tn_args_move(to->gen->make, tni_options(to), m, m->bytes, to);
        return to;
    }
    tn_alloc_free(to, (size_t)to->bytes);
    return NULL;
}

static bool state_copy_part(state_copy *c, tn_module *to, const tn_module *m, int i) {
    const tn_part *p = &m->part[i];
    void *old = *tni_part_place(m, i), *copy = NULL;
    if (!tni_part_new(to, (tn_part_kind)p->kind, p->name,
                      p->field ? (void **)(void *)((char *)to + p->field) : NULL))
        return false;
    if (!old) return true;
    if (p->kind == TN_CHILD)
        copy = state_copy_module(c, (const tn_module *)old);
    else
        copy = state_copy_tensor(c, (tn_tensor *)old);
    *tni_part_place(to, to->nparts - 1) = copy;
    return copy != NULL;
}

static tn_module *state_copy_module(state_copy *c, const tn_module *m) {
    void **found = tni_map_find(&c->seen, m);
    tn_module *to;
    bool fresh, ok = true;
    if (found) return tn_module_hold((tn_module *)*found);
    to = state_copy_head(c, m);
    if (!to) return NULL;
    for (int i = 0; ok && i < m->nparts; i++) ok = state_copy_part(c, to, m, i);
    found = ok ? tni_map_at(&c->seen, m, &fresh) : NULL;
    if (found) {
        *found = to;
        return to;
    }
    to->count = 1;
    tn_module_free(to);
    return NULL;
}

TN_API tn_module *tn_module_copy_at(const char *file, int line, const tn_module *m) {
    state_copy c = {{NULL, NULL, 0, 0}, m ? m->level : (uint8_t)0};
    tn_module *copy = NULL;
    state_quiet q;
    if (!tn_ok()) return NULL;
    state_quiet_begin(&q, file, line, m);
    if (m)
        copy = state_copy_module(&c, m);
    else
        tni_nn_error(TN_INVALID, "module is NULL");
    tni_map_free(&c.seen);
    state_quiet_end(&q);
    return copy;
}

static bool state_same_part(tn_named_list dst, tn_named_list src, int64_t i) {
    const tn_named *d = i < dst.n ? &dst.at[i] : NULL, *s = i < src.n ? &src.at[i] : NULL;
    char a[TN_MAX_DIMS * 22 + 40], b[TN_MAX_DIMS * 22 + 40];
    if (!d || !s || strcmp(d->name, s->name) != 0)
        return tni_nn_error(TN_INVALID,
                            "copy_from: the structures differ: tensor %lld is %s%.200s%s in dst "
                            "and %s%.200s%s in src",
                            (long long)i, d ? "\"" : "", d ? d->name : "absent", d ? "\"" : "",
                            s ? "\"" : "", s ? s->name : "absent", s ? "\"" : "");
    if (state_same_shape(d->tensor, s->tensor) && tn_dtype_of(d->tensor) == tn_dtype_of(s->tensor))
        return true;
    return tni_nn_error(TN_INVALID, "copy_from: \"%.200s\" is %s in dst and %s in src", d->name,
                        tni_nn_shape_text(a, sizeof a, d->tensor),
                        tni_nn_shape_text(b, sizeof b, s->tensor));
}

static bool state_blend(tni_plan *plan, const char *name, tn_tensor *dst, tn_tensor *src,
                        double tau) {
    const char kind = tni_dtype_kind(tn_dtype_of(dst));
    int64_t mark;
    tn_tensor *t;
    bool ok;
    if (dst == src) return true;
    mark = tn_scope_begin();
    if (tau == 1 || (kind != 'f' && kind != 'c')) {
        t = state_convert(src, tn_dtype_of(dst), tn_device_of(dst));
    } else {
        if (tn_device_of(src) != tn_device_of(dst))
            src = state_convert(src, tn_dtype_of(dst), tn_device_of(dst));
        t = tnp_mul_scalar(dst, tn_float(1 - tau));
        t = t && src ? tnp_add_(t, src, tau) : NULL;
    }
    ok = state_add(plan, name, dst, t);
    tn_scope_end(mark);
    return ok;
}

static bool state_copy_from(tn_module *dst, const tn_module *src, double tau) {
    tni_plan plan = {{NULL, 0, 0, false}};
    tn_named_list to, from;
    bool ok;
    if (!dst || !src) return tni_nn_error(TN_INVALID, "copy_from: a module is NULL");
    if (!(tau >= 0 && tau <= 1))
        return tni_nn_error(TN_INVALID, "copy_from: tau is %g, expected 0 to 1", tau);
    to = tni_module_tensors(dst);
    from = tni_module_tensors(src);
    ok = to.n >= 0 && from.n >= 0;
    for (int64_t i = 0; ok && (i < to.n || i < from.n); i++) ok = state_same_part(to, from, i);
    for (int64_t i = 0; ok && i < to.n; i++)
        ok = state_blend(&plan, to.at[i].name, to.at[i].tensor, from.at[i].tensor, tau);
    tni_plan_end(&plan, ok);
    tn_named_free(to);
    tn_named_free(from);
    return ok;
}

TN_API bool tn_module_copy_from_at(const char *file, int line, tn_module *dst, const tn_module *src,
                                   double tau) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, dst);
    ok = state_copy_from(dst, src, tau);
    state_quiet_end(&q);
    return ok;
}

static bool state_reset(tn_module *m) {
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (child && !state_reset(child)) return false;
    }
    return !m->row->reset || m->row->reset(m);
}

TN_API bool tn_module_reset_at(const char *file, int line, tn_module *m) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    ok = m ? state_reset(m) : tni_nn_error(TN_INVALID, "module is NULL");
    state_quiet_end(&q);
    return ok;
}

TN_API bool tn_module_save_file_at(const char *file, int line, const tn_module *m,
                                   const char *path) {
    tn_named_list list;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    list = tn_module_state_dict_at(NULL, 0, m);
    ok = list.n >= 0 && tn_safetensors_save_at(file, line, path, list.at, list.n, NULL, 0);
    tn_named_free(list);
    state_quiet_end(&q);
    return ok;
}

TN_API bool tn_module_load_file_at(const char *file, int line, tn_module *m, const char *path) {
    char from[256];
    tn_named_list list;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    list = tn_safetensors_load_at(file, line, path);
    snprintf(from, sizeof from, "%s from '%s'", m ? m->type : "module", path ? path : "");
    q.step.type = from;
    ok = list.n >= 0 && state_load(m, list.at, list.n, true, true);
    tn_named_free(list);
    state_quiet_end(&q);
    return ok;
}

TN_API tn_bytes tn_module_save_memory_at(const char *file, int line, const tn_module *m) {
    tn_bytes bytes = {NULL, 0};
    tn_save_args args;
    tn_named_list list;
    state_quiet q;
    if (!tn_ok()) return bytes;
    state_quiet_begin(&q, file, line, m);
    list = tn_module_state_dict_at(NULL, 0, m);
    memset(&args, 0, sizeof args);
    args.at = list.at;
    args.n = list.n;
    if (list.n >= 0) bytes = tn_save_memory_at(file, line, &args);
    tn_named_free(list);
    state_quiet_end(&q);
    return bytes;
}

typedef struct state_loan {
    void (*release)(void *data, void *user);
    void *user;
    bool given, waits;
} state_loan;

static void state_loan_end(void *data, void *user) {
    state_loan *l = (state_loan *)user;
    if (!l->given) {
        l->waits = true;
        return;
    }
    if (l->release) l->release(data, l->user);
    tn_alloc_free(l, sizeof *l);
}

static int64_t state_borrowed(const tn_module *m, const tn_load_args *a) {
    int64_t n = 0;
    for (int i = 0; i < m->nparts; i++) {
        const tn_module *child = tn_part_child_of(m, i);
        const tn_tensor *t = tn_part_tensor_of(m, i);
        uintptr_t at = (uintptr_t)tn_data(t), begin = (uintptr_t)a->data;
        if (child) n += state_borrowed(child, a);
        n += tn_is_wrapped(t) && at >= begin && at - begin < a->bytes;
    }
    return n;
}

static bool state_load_memory(tn_module *m, const tn_load_args *args, state_loan *loan) {
    tn_load_args a = *args;
    tn_named_list list;
    bool ok;
    a.borrowed = NULL;
    a.release = loan ? state_loan_end : NULL;
    a.user = loan;
    list = tn_load_memory_at(NULL, 0, &a);
    ok = list.n >= 0 && state_load(m, list.at, list.n, true, true);
    tn_named_free(list);
    return ok;
}

static bool state_borrow(tn_module *m, const tn_load_args *a) {
    state_loan *loan = (state_loan *)tn_alloc(sizeof *loan);
    bool ok, last;
    if (!loan) return false;
    memset(loan, 0, sizeof *loan);
    loan->release = a->release;
    loan->user = a->user;
    ok = state_load_memory(m, a, loan);
    loan->given = ok;
    last = loan->waits || !ok;
    if (ok && a->borrowed) *a->borrowed = last ? 0 : state_borrowed(m, a);
    if (ok && last) state_loan_end((void *)(uintptr_t)a->data, loan);
    if (!ok) tn_alloc_free(loan, sizeof *loan);
    return ok;
}

TN_API bool tn_module_load_memory_at(const char *file, int line, tn_module *m,
                                     const tn_load_args *args) {
    state_quiet q;
    bool ok = false;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    if (!m || !args)
        tni_nn_error(TN_INVALID, "load_memory: the module or the arguments are NULL");
    else if (args->writable || (args->release && !args->borrow))
        tni_nn_error(TN_INVALID, "load_memory: a module borrows read-only; release is an option of "
                                 "borrow");
    else
        ok = args->borrow ? state_borrow(m, args) : state_load_memory(m, args, NULL);
    if (ok && args->borrowed && !args->borrow) *args->borrowed = 0;
    state_quiet_end(&q);
    return ok;
}

/* src/nn/init.c - initial values, as torch.nn.init: the same formulas in double, the same draws */

#include <math.h>

typedef struct init_quiet {
    tni_step step;
    bool mode;
    int64_t mark;
} init_quiet;
static bool init_begin(init_quiet *q, const char *file, int line, tn_tensor *t) {
    if (!t || !tn_ok()) return false;
    tni_place_begin(&q->step, file, line);
    q->mark = tn_scope_begin();
    q->mode = tn_set_grad_mode(false);
    return true;
}
static tn_tensor *init_end(init_quiet *q, tn_tensor *t, const tn_tensor *result) {
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
    tni_step_end(&q->step);
    return result ? t : NULL;
}

TN_API tn_tensor *tn_nn_init_constant_at(const char *file, int line, tn_tensor *t, double value) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_fill_(t, tn_float(value))) : NULL;
}
TN_API tn_tensor *tn_nn_init_uniform_at(const char *file, int line, tn_tensor *t, double from,
                                        double to) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_uniform_(t, from, to, NULL)) : NULL;
}
TN_API tn_tensor *tn_nn_init_normal_at(const char *file, int line, tn_tensor *t, double mean,
                                       double std) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_normal_(t, mean, std, NULL)) : NULL;
}

static double init_gain(tn_nn_init_for nonlinearity, double param) {
    switch (nonlinearity) {
    case TN_INIT_LINEAR:
    case TN_INIT_SIGMOID: return 1;
    case TN_INIT_TANH: return 5.0 / 3;
    case TN_INIT_RELU: return sqrt(2.0);
    case TN_INIT_LEAKY_RELU: return sqrt(2.0 / fma(param, param, 1));
    case TN_INIT_SELU: return 3.0 / 4;
    default: tni_nn_error(TN_INVALID, "the nonlinearity is unknown"); return (double)NAN;
    }
}
TN_API double tn_nn_init_gain_at(const char *file, int line, tn_nn_init_for nonlinearity,
                                 double param) {
    tni_step step;
    double gain;
    tni_place_begin(&step, file, line);
    gain = init_gain(nonlinearity, param);
    tni_step_end(&step);
    return gain;
}

static bool init_fans(const tn_tensor *t, double *in, double *out) {
    tn_ints shape = tn_shape(t);
    double field = 1;
    *in = *out = 0;
    if (shape.n < 2)
        return tni_nn_error(TN_INVALID, "fan in and fan out need a tensor of 2 or more dimensions");
    for (int64_t i = 2; i < shape.n; i++) field *= (double)shape.at[i];
    *in = (double)shape.at[1] * field;
    *out = (double)shape.at[0] * field;
    return true;
}

static bool init_kaiming_std(const tn_tensor *t, double a, tn_fan mode, tn_nn_init_for nonlinearity,
                             double *std) {
    double in, out, gain;
    if (mode != TN_FAN_IN && mode != TN_FAN_OUT)
        return tni_nn_error(TN_INVALID, "mode: expected TN_FAN_IN or TN_FAN_OUT");
    if (!init_fans(t, &in, &out)) return false;
    gain = init_gain(nonlinearity, a);
    *std = gain / sqrt(mode == TN_FAN_OUT ? out : in);
    return gain == gain;
}

typedef tn_tensor *init_draw(tn_tensor *t, double std);
static tn_tensor *init_draw_normal(tn_tensor *t, double std) {
    return tn_numel(t) == 0 ? t : tnp_normal_(t, 0, std, NULL);
}
static tn_tensor *init_draw_uniform(tn_tensor *t, double std) {
    return tn_numel(t) == 0 ? t : tnp_uniform_(t, -(sqrt(3.0) * std), sqrt(3.0) * std, NULL);
}
static tn_tensor *init_xavier(const char *file, int line, tn_tensor *t, init_draw *draw,
                              double gain) {
    double in, out;
    init_quiet q;
    const tn_tensor *drawn = NULL;
    if (!init_begin(&q, file, line, t)) return NULL;
    if (init_fans(t, &in, &out)) drawn = draw(t, gain * sqrt(2.0 / (in + out)));
    return init_end(&q, t, drawn);
}
static tn_tensor *init_kaiming(const char *file, int line, tn_tensor *t, init_draw *draw, double a,
                               tn_fan mode, tn_nn_init_for nonlinearity) {
    double std = 0;
    init_quiet q;
    const tn_tensor *drawn = NULL;
    if (!init_begin(&q, file, line, t)) return NULL;
    if (init_kaiming_std(t, a, mode, nonlinearity, &std)) drawn = draw(t, std);
    return init_end(&q, t, drawn);
}

TN_API tn_tensor *tn_nn_init_xavier_uniform_at(const char *file, int line, tn_tensor *t,
                                               double gain) {
    return init_xavier(file, line, t, init_draw_uniform, gain);
}
TN_API tn_tensor *tn_nn_init_xavier_normal_at(const char *file, int line, tn_tensor *t,
                                              double gain) {
    return init_xavier(file, line, t, init_draw_normal, gain);
}
TN_API tn_tensor *tn_nn_init_kaiming_uniform_at(const char *file, int line, tn_tensor *t, double a,
                                                tn_fan mode, tn_nn_init_for nonlinearity) {
    return init_kaiming(file, line, t, init_draw_uniform, a, mode, nonlinearity);
}
TN_API tn_tensor *tn_nn_init_kaiming_normal_at(const char *file, int line, tn_tensor *t, double a,
                                               tn_fan mode, tn_nn_init_for nonlinearity) {
    return init_kaiming(file, line, t, init_draw_normal, a, mode, nonlinearity);
}

TN_PRIV bool tni_init_affine(tn_tensor *weight, tn_tensor *bias) {
    double in, out, bound;
    if (!tn_nn_init_kaiming_uniform_(weight, sqrt(5.0), TN_FAN_IN, TN_INIT_LEAKY_RELU))
        return false;
    if (!bias) return true;
    if (!init_fans(weight, &in, &out)) return false;
    bound = in > 0 ? 1 / sqrt(in) : 0;
    return tn_nn_init_uniform_(bias, -bound, bound) != NULL;
}

/* src/nn/activation.c - pointwise functions and softmax as modules: one operator each, and PReLU's slopes as the only part */

#define ACTIVATION_FORWARD(name, ...)               \
    static bool name##_forward(tn_mframe *f) {      \
        TN_FORWARD(name, s, a, f);                  \
        tn_tensor *x = a->input;                    \
        (void)s;                                    \
        return (f->out[0] = (__VA_ARGS__)) != NULL; \
    }

ACTIVATION_FORWARD(relu, s->o.inplace ? tnp_relu_(x) : tnp_relu(x))
TN_MODULE(relu, "ReLU(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_relu()"),
          .repr = "?inplace=", .forward = relu_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(leaky_relu, s->o.inplace ? tnp_leaky_relu_(x, s->o.negative_slope)
                                            : tnp_leaky_relu(x, s->o.negative_slope))
TN_MODULE(leaky_relu, "LeakyReLU(float negative_slope=0.01, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)",
                 .example = "tn_nn_leaky_relu(.negative_slope = 0.2)"),
          .repr = "negative_slope=, ?inplace=", .forward = leaky_relu_forward,
          .sample = ": (2,3) | negative_slope=0.2: (3)")

static bool prelu_reset(tn_module *m) {
    TN_SELF(prelu, s, m);
    return tn_nn_init_constant_(s->weight, s->o.init) != NULL;
}
ACTIVATION_FORWARD(prelu, tnp_prelu(x, s->weight))
TN_MODULE(prelu, "PReLU(int num_parameters=1, float init=0.25)",
          TN_DOC(.shapes = "input (N, num_parameters, *) -> the same, or (*) -> (*)",
                 .example = "tn_nn_prelu(.num_parameters = 8)"),
          .parts = "weight(num_parameters)", .repr = "num_parameters=", .reset = prelu_reset,
          .forward = prelu_forward, .sample = ": (2,3) | 3 init=0.1: (2,3,4) | 3: (2,3)")

ACTIVATION_FORWARD(gelu, tnp_gelu(x, s->o.approximate))
TN_MODULE(gelu, "GELU(Approximate approximate=none)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_gelu()"),
          .repr = "approximate='=", .forward = gelu_forward,
          .sample = ": (2,3) | approximate=tanh: (3)")

ACTIVATION_FORWARD(silu, s->o.inplace ? tnp_silu_(x) : tnp_silu(x))
TN_MODULE(silu, "SiLU(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_silu()"),
          .repr = "?inplace=", .forward = silu_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(sigmoid, tnp_sigmoid(x))
TN_MODULE(sigmoid, "Sigmoid()", TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_sigmoid()"),
          .forward = sigmoid_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(tanh, tnp_tanh(x))
TN_MODULE(tanh, "Tanh()", TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_tanh()"),
          .forward = tanh_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(softplus, tnp_softplus(x, s->o.beta, s->o.threshold))
TN_MODULE(softplus, "Softplus(float beta=1.0, float threshold=20.0)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softplus()"),
          .repr = "beta=, threshold=", .forward = softplus_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(softsign, tnp_softsign(x))
TN_MODULE(softsign, "Softsign()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softsign()"),
          .forward = softsign_forward, .sample = ": (2,3)")

static int64_t activation_dim(const tn_tensor *x, int64_t dim) {
    int n = tn_ndim(x);
    return dim != TN_NONE ? dim : n == 0 || n == 1 || n == 3 ? 0 : 1;
}
ACTIVATION_FORWARD(softmax, tnp_softmax(x, activation_dim(x, s->o.dim), TN_NO_DTYPE))
TN_MODULE(softmax, "Softmax(int? dim=None)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softmax(.dim = 1)"),
          .repr = "dim=", .forward = softmax_forward, .sample = "dim=1: (2,3) | : (4)")

ACTIVATION_FORWARD(log_softmax, tnp_log_softmax(x, activation_dim(x, s->o.dim), TN_NO_DTYPE))
TN_MODULE(log_softmax, "LogSoftmax(int? dim=None)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_log_softmax(.dim = 1)"),
          .repr = "dim=", .forward = log_softmax_forward, .sample = "dim=1: (2,3)")

#undef ACTIVATION_FORWARD

/* src/nn/attention.c - MultiheadAttention, composed of products and a softmax as torch's own */

#include <math.h>

static bool multihead_attention_build(tn_module *m) {
    TN_SELF(multihead_attention, s, m);
    if (s->o.num_heads < 1 || s->o.embed_dim < 1 || s->o.embed_dim % s->o.num_heads)
        return tni_nn_error(TN_INVALID, "embed_dim (%lld) must be a multiple of num_heads (%lld)",
                            (long long)s->o.embed_dim, (long long)s->o.num_heads);
    s->out_proj->type = "NonDynamicallyQuantizableLinear";
    return true;
}

static bool multihead_attention_reset(tn_module *m) {
    TN_SELF(multihead_attention, s, m);
    TN_SELF(linear, o, s->out_proj);
    if (!tn_nn_init_xavier_uniform_(s->in_proj_weight, 1)) return false;
    return !s->in_proj_bias ||
           (tn_nn_init_constant_(s->in_proj_bias, 0) && tn_nn_init_constant_(o->bias, 0));
}

typedef struct mha_sizes {
    int64_t l, s, n, e, heads, head;
} mha_sizes;

static tn_tensor *mha_mask(tn_tensor *mask, tn_tensor *like) {
    tn_tensor *zero;
    if (!mask || tn_dtype_of(mask) != TN_BOOL) return mask;
    zero = tnp_zeros(tn_shape(mask), tn_dtype_of(like), tn_device_of(like));
    return tnp_masked_fill_scalar(zero, mask, tn_float(-HUGE_VAL));
}

static tn_tensor *mha_reshape(tn_tensor *t, int ndim, int64_t a, int64_t b, int64_t c, int64_t d) {
    int64_t size[4];
    size[0] = a;
    size[1] = b;
    size[2] = c;
    size[3] = d;
    return tnp_reshape(t, tn_ints_of(size, ndim));
}

static tn_tensor *mha_causal(const mha_sizes *z, tn_tensor *like) {
    int64_t size[2];
    size[0] = z->l;
    size[1] = z->s;
    return mha_mask(tnp_triu(tnp_ones(tn_ints_of(size, 2), TN_BOOL, tn_device_of(like)), 1), like);
}

static bool mha_masks(const mha_sizes *z, const tn_nn_multihead_attention_forward_args *a,
                      tn_tensor *q, tn_tensor **mask) {
    tn_tensor *attn = mha_mask(a->attn_mask, q), *pad = mha_mask(a->key_padding_mask, q);
    const tn_tensor *given = a->attn_mask;
    char got[TN_MAX_DIMS * 22 + 40];
    *mask = NULL;
    if (!given && a->is_causal)
        return tni_nn_error(TN_INVALID, "Need attn_mask if specifying the is_causal hint.");
    if (given && !(tn_ndim(given) == 2 && tn_size(given, 0) == z->l && tn_size(given, 1) == z->s) &&
        !(tn_ndim(given) == 3 && tn_size(given, 0) == z->n * z->heads &&
          tn_size(given, 1) == z->l && tn_size(given, 2) == z->s))
        return tni_nn_error(
            TN_INVALID, "attn_mask: expected (%lld, %lld) or (%lld, %lld, %lld), got %s",
            (long long)z->l, (long long)z->s, (long long)(z->n * z->heads), (long long)z->l,
            (long long)z->s, tni_nn_shape_text(got, sizeof got, given));
    if (a->is_causal && !a->need_weights && !pad) {
        *mask = mha_causal(z, q);
        return *mask != NULL;
    }
    if (pad) {
        int64_t wide[4];
        if (tn_numel(pad) != z->n * z->s)
            return tni_nn_error(TN_INVALID, "key_padding_mask: expected (%lld, %lld), got %s",
                                (long long)z->n, (long long)z->s,
                                tni_nn_shape_text(got, sizeof got, pad));
        wide[0] = z->n;
        wide[1] = z->heads;
        wide[2] = 1;
        wide[3] = z->s;
        pad = tnp_expand(mha_reshape(pad, 4, z->n, 1, 1, z->s), tn_ints_of(wide, 4), false);
        pad = mha_reshape(pad, 3, z->n * z->heads, 1, z->s, 0);
        if (!pad) return false;
    }
    if (a->attn_mask && !attn) return false;
    *mask = attn && pad ? tnp_add(attn, pad, 1) : attn ? attn : pad;
    return *mask != NULL || (!attn && !pad);
}

static tn_tensor *mha_project(const tn_nn_multihead_attention_self *s, const mha_sizes *z,
                              int third, tn_tensor *x) {
    int64_t from = third * z->e, to = from + z->e;
    tn_tensor *w = tnp_slice(s->in_proj_weight, 0, from, to, 1);
    tn_tensor *b = s->in_proj_bias ? tnp_slice(s->in_proj_bias, 0, from, to, 1) : NULL;
    tn_tensor *y = w && (b || !s->in_proj_bias) ? tnp_linear(x, w, b) : NULL;
    return tnp_transpose(mha_reshape(y, 3, tn_size(x, 0), z->n * z->heads, z->head, 0), 0, 1);
}

static tn_tensor *mha_weights(const tn_nn_multihead_attention_self *s, const mha_sizes *z,
                              tn_tensor *q, tn_tensor *k, tn_tensor *mask) {
    tn_tensor *scaled = tnp_mul_scalar(q, tn_float(sqrt(1.0 / (double)z->head)));
    tn_tensor *w = tnp_matmul(scaled, tnp_transpose(k, -2, -1));
    if (mask) w = tnp_add(w, mask, 1);
    w = tnp_softmax(w, -1, TN_NO_DTYPE);
    return s->base.training && s->o.dropout > 0 ? tnp_dropout(w, s->o.dropout, true) : w;
}

static tn_tensor *mha_report(const mha_sizes *z, tn_tensor *w, bool average, bool batched) {
    tn_tensor *all = mha_reshape(w, 4, z->n, z->heads, z->l, z->s);
    int64_t dim = 1;
    if (average && all) all = tnp_mean(all, tn_ints_of(&dim, 1), false, TN_NO_DTYPE);
    return all && !batched ? tnp_squeeze_dim(all, 0) : all;
}

static tn_tensor *attention_time_first(tn_tensor *t, bool batched, bool batch_first) {
    if (!batched) return tnp_unsqueeze(t, 1);
    return batch_first ? tnp_transpose(t, 0, 1) : t;
}

static bool mha_fits(const mha_sizes *z, const tn_tensor *q, const tn_tensor *k,
                     const tn_tensor *v) {
    if (tn_ndim(k) != tn_ndim(q) || tn_ndim(v) != tn_ndim(q) ||
        (tn_ndim(q) != 2 && tn_ndim(q) != 3))
        return tni_nn_error(TN_INVALID,
                            "query, key and value must all have 2 or all have 3 dimensions");
    return z->e > 0;
}

static bool multihead_attention_forward(tn_mframe *f) {
    TN_FORWARD(multihead_attention, s, a, f);
    mha_sizes z = {0, 0, 0, s->o.embed_dim, s->o.num_heads, s->o.embed_dim / s->o.num_heads};
    bool batched = tn_ndim(a->query) == 3;
    tn_tensor *q, *k, *v, *w, *y, *mask;
    if (!mha_fits(&z, a->query, a->key, a->value)) return false;
    q = attention_time_first(a->query, batched, s->o.batch_first);
    k = attention_time_first(a->key, batched, s->o.batch_first);
    v = attention_time_first(a->value, batched, s->o.batch_first);
    if (!q || !k || !v) return false;
    z.l = tn_size(q, 0);
    z.s = tn_size(k, 0);
    z.n = tn_size(q, 1);
    if (tn_size(k, 1) != z.n || tn_size(v, 1) != z.n || tn_size(v, 0) != z.s)
        return tni_nn_error(TN_INVALID,
                            "key and value must have the query's batch size and the same length");
    if (!mha_masks(&z, a, q, &mask)) return false;
    w = mha_weights(s, &z, mha_project(s, &z, 0, q), mha_project(s, &z, 1, k), mask);
    y = tnp_matmul(w, mha_project(s, &z, 2, v));
    y = mha_reshape(tnp_transpose(y, 0, 1), 3, z.l, z.n, z.e, 0);
    if (!y) return false;
    y = tni_forward_child(f, s->out_proj, y);
    if (y && batched && s->o.batch_first) y = tnp_transpose(y, 0, 1);
    f->out[0] = y && !batched ? tnp_squeeze_dim(y, 1) : y;
    f->out[1] =
        f->out[0] && a->need_weights ? mha_report(&z, w, a->average_attn_weights, batched) : NULL;
    return f->out[0] && (f->out[1] || !a->need_weights);
}
TN_MODULE(
    multihead_attention,
    "MultiheadAttention(int embed_dim, int num_heads, float dropout=0.0, bool bias=True, "
    "bool batch_first=False)",
    TN_DOC(.shapes = "query (L, N, E), key, value (S, N, E) -> (L, N, E), (N, L, S); with "
                     "batch_first (N, L, E), (N, S, E) -> (N, L, E), (N, L, S)",
           .example = "tn_nn_multihead_attention(64, 4)"),
    .parts = "in_proj_weight(3 * embed_dim, embed_dim); in_proj_bias(3 * embed_dim) if bias; "
             "child out_proj = Linear(embed_dim, embed_dim, bias=bias)",
    .call =
        "(Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask=None, bool "
        "need_weights=True, "
        "Tensor? attn_mask=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor "
        "attn_output, Tensor attn_output_weights)",
    .takes = "query(*, embed_dim); key(*, embed_dim); value(*, embed_dim)", .draws = "dropout",
    .build = multihead_attention_build, .reset = multihead_attention_reset,
    .forward = multihead_attention_forward,
    .sample =
        "4 2: (3,2,4) (5,2,4) (5,2,4) | 6 3 bias=False batch_first=True: (2,3,6) (2,3,6) (2,3,6)")

/* src/nn/conv.c - convolution and pooling over images (N, C, H, W) */

static bool conv_module_options(int64_t in, int64_t out, int64_t groups, bool mode_fits) {
    if (groups < 1 || in % groups || out % groups)
        return tni_nn_error(
            TN_INVALID,
            "in_channels (%lld) and out_channels (%lld) must be multiples of groups (%lld)",
            (long long)in, (long long)out, (long long)groups);
    return mode_fits ||
           tni_nn_error(TN_INVALID, "padding_mode: a transposed convolution has zeros alone");
}
static tn_tensor *conv_padded(tn_tensor *x, tn_padding_mode mode, int dims, tn_ints *padding) {
    static const char *const words[] = {"reflect", "replicate", "circular"};
    static const int64_t none[1] = {0};
    int64_t sides[6];
    if (mode == TN_PADDING_MODE_ZEROS) return x;
    for (int i = 0; i < 2 * dims; i++)
        sides[i] = padding->at[padding->n == 1 ? 0 : dims - 1 - i / 2];
    *padding = tn_ints_of(none, 1);
    return tnp_pad(x, tn_ints_of(sides, 2 * dims), words[mode - TN_PADDING_MODE_REFLECT],
                   TN_NO_FLOAT);
}
#define CONV_MODULE(name, last)                                                            \
    static bool name##_build(tn_module *m) {                                               \
        TN_SELF(name, s, m);                                                               \
        return conv_module_options(s->o.in_channels, s->o.out_channels, s->o.groups,       \
                                   (int)s->o.padding_mode <= (int)TN_PADDING_MODE_##last); \
    }                                                                                      \
    static bool name##_reset(tn_module *m) {                                               \
        TN_SELF(name, s, m);                                                               \
        return tni_init_affine(s->weight, s->bias);                                        \
    }
#define CONV_MODULE_FORWARD(name, dims)                                                          \
    static bool name##_forward(tn_mframe *f) {                                                   \
        TN_FORWARD(name, s, a, f);                                                               \
        tn_ints padding = s->o.padding;                                                          \
        tn_tensor *x = conv_padded(a->input, s->o.padding_mode, dims, &padding);                 \
        f->out[0] =                                                                              \
            tnp_##name(x, s->weight, s->bias, s->o.stride, padding, s->o.dilation, s->o.groups); \
        return f->out[0] != NULL;                                                                \
    }

CONV_MODULE(conv1d, CIRCULAR)
CONV_MODULE_FORWARD(conv1d, 1)
TN_MODULE(
    conv1d,
    "Conv1d(int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, int[1] "
    "padding=0, int[1] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, L) -> (N, out_channels, L')",
           .example = "tn_nn_conv1d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _)",
    .repr = "in_channels, out_channels, kernel_size[1]=, stride[1]=, ?padding[1]=, ?dilation[1]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv1d_build, .reset = conv1d_reset, .forward = conv1d_forward,
    .sample = "2 3 [3]: (2,2,7) | 4 6 [2] stride=[2] padding=[1] groups=2 bias=False: (1,4,6) | "
              "2 2 [3] padding=[2] padding_mode=circular: (2,2,4)")

CONV_MODULE(conv2d, CIRCULAR)
CONV_MODULE_FORWARD(conv2d, 2)
TN_MODULE(
    conv2d,
    "Conv2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, int[2] "
    "padding=0, int[2] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, H, W) -> (N, out_channels, H', W')",
           .example = "tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0], kernel_size[1]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _, _)",
    .repr = "in_channels, out_channels, kernel_size[2]=, stride[2]=, ?padding[2]=, ?dilation[2]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv2d_build, .reset = conv2d_reset, .forward = conv2d_forward,
    .sample =
        "2 3 [3]: (2,2,5,6) | 4 6 [3,2] stride=[2] padding=[1,0] groups=2 bias=False: (1,4,7,7) "
        "| 2 2 [2] padding=[1,2] padding_mode=reflect: (1,2,3,4)")

CONV_MODULE(conv3d, CIRCULAR)
CONV_MODULE_FORWARD(conv3d, 3)
TN_MODULE(
    conv3d,
    "Conv3d(int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, int[3] "
    "padding=0, int[3] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')",
           .example = "tn_nn_conv3d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0], kernel_size[1], "
             "kernel_size[2]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _, _, _)",
    .repr = "in_channels, out_channels, kernel_size[3]=, stride[3]=, ?padding[3]=, ?dilation[3]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv3d_build, .reset = conv3d_reset, .forward = conv3d_forward,
    .sample = "2 3 [2]: (1,2,3,4,3) | 2 4 [2,1,3] stride=[2] padding=[1,0,1] groups=2 bias=False: "
              "(1,2,3,4,3)")
#undef CONV_MODULE_FORWARD

typedef struct conv_to {
    tn_ints kernel, stride, padding, dilation, more;
    int dims;
} conv_to;
static int64_t conv_at(tn_ints l, int i) { return l.at[l.n == 1 ? 0 : i]; }
static bool conv_output_padding(const conv_to *v, tn_tensor *x, tn_ints size, int64_t to[3]) {
    const int ndim = (int)tn_ndim(x);
    const int given = tn_ints_given(size) ? (int)size.n : 0, extra = given - v->dims;
    if (given && extra != 0 && given != ndim)
        return tni_nn_error(TN_INVALID,
                            "ConvTranspose%dD: for %dD input, output_size must have %d or %d "
                            "elements (got %d)",
                            v->dims, ndim, v->dims, ndim, given);
    for (int i = 0; i < v->dims; i++) {
        to[i] = conv_at(v->more, i);
        if (!given) continue;
        const int64_t least = (tn_size(x, i - v->dims) - 1) * conv_at(v->stride, i) -
                              2 * conv_at(v->padding, i) +
                              conv_at(v->dilation, i) * (conv_at(v->kernel, i) - 1) + 1;
        to[i] = size.at[extra + i] - least;
        if (to[i] < 0 || to[i] >= conv_at(v->stride, i))
            return tni_nn_error(TN_INVALID,
                                "requested an output size of %lld along dimension %d, but valid "
                                "sizes range from %lld to %lld",
                                (long long)size.at[extra + i], i, (long long)least,
                                (long long)(least + conv_at(v->stride, i) - 1));
    }
    return true;
}
#define CONV_TRANSPOSE_FORWARD(name, n)                                                 \
    static bool name##_forward(tn_mframe *f) {                                          \
        TN_FORWARD(name, s, a, f);                                                      \
        int64_t more[3];                                                                \
        const conv_to v = {s->o.kernel_size, s->o.stride,         s->o.padding,         \
                           s->o.dilation,    s->o.output_padding, n};                   \
        if (!conv_output_padding(&v, a->input, a->output_size, more)) return false;     \
        f->out[0] = tnp_##name(a->input, s->weight, s->bias, s->o.stride, s->o.padding, \
                               tn_ints_of(more, n), s->o.groups, s->o.dilation);        \
        return f->out[0] != NULL;                                                       \
    }

CONV_MODULE(conv_transpose1d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose1d, 1)
TN_MODULE(
    conv_transpose1d,
    "ConvTranspose1d(int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, "
    "int[1] padding=0, int[1] output_padding=0, int groups=1, bool bias=True, int[1] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, L) -> (N, out_channels, L')",
           .example = "tn_nn_conv_transpose1d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _)",
    .repr = "in_channels, out_channels, kernel_size[1]=, stride[1]=, ?padding[1]=, ?dilation[1]=, "
            "?output_padding[1]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose1d_build, .reset = conv_transpose1d_reset,
    .forward = conv_transpose1d_forward,
    .sample = "2 3 [3]: (2,2,4) | 4 6 [2] stride=[2] padding=[1] output_padding=[1] groups=2 "
              "bias=False: (1,4,5)")

CONV_MODULE(conv_transpose2d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose2d, 2)
TN_MODULE(
    conv_transpose2d,
    "ConvTranspose2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, "
    "int[2] padding=0, int[2] output_padding=0, int groups=1, bool bias=True, int[2] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, H, W) -> (N, out_channels, H', W')",
           .example = "tn_nn_conv_transpose2d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0], kernel_size[1]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _, _)",
    .repr = "in_channels, out_channels, kernel_size[2]=, stride[2]=, ?padding[2]=, ?dilation[2]=, "
            "?output_padding[2]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose2d_build, .reset = conv_transpose2d_reset,
    .forward = conv_transpose2d_forward,
    .sample = "2 3 [3]: (2,2,3,4) | 4 6 [3,2] stride=[2] padding=[1,0] output_padding=[1,0] "
              "groups=2 bias=False: (1,4,3,3)")

CONV_MODULE(conv_transpose3d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose3d, 3)
TN_MODULE(
    conv_transpose3d,
    "ConvTranspose3d(int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, "
    "int[3] padding=0, int[3] output_padding=0, int groups=1, bool bias=True, int[3] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')",
           .example = "tn_nn_conv_transpose3d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0], kernel_size[1], "
             "kernel_size[2]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _, _, _)",
    .repr = "in_channels, out_channels, kernel_size[3]=, stride[3]=, ?padding[3]=, ?dilation[3]=, "
            "?output_padding[3]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose3d_build, .reset = conv_transpose3d_reset,
    .forward = conv_transpose3d_forward,
    .sample = "2 3 [2]: (1,2,2,3,2) | 2 4 [2,1,3] stride=[2] padding=[1,0,1] groups=2 bias=False: "
              "(1,2,3,2,3)")
#undef CONV_MODULE
#undef CONV_TRANSPOSE_FORWARD

static bool max_pool2d_build(tn_module *m) {
    TN_SELF(max_pool2d, s, m);
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return !s->o.return_indices ||
           tni_nn_error(TN_UNSUPPORTED, "return_indices: only false is supported");
}
static bool max_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(max_pool2d, s, a, f);
    f->out[0] = tnp_max_pool2d(a->input, s->o.kernel_size, s->o.stride, s->o.padding, s->o.dilation,
                               s->o.ceil_mode);
    return f->out[0] != NULL;
}
TN_MODULE(max_pool2d,
          "MaxPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, "
          "bool return_indices=False, bool ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
                 .example = "tn_nn_max_pool2d(TN_DIMS(2))"),
          .repr = "kernel_size=, stride=, padding=, dilation=, ceil_mode=",
          .build = max_pool2d_build, .forward = max_pool2d_forward,
          .sample = "[2]: (2,3,4,6) | [3,2] stride=[2] padding=[1]: (1,2,5,5)")

static bool avg_pool2d_build(tn_module *m) {
    TN_SELF(avg_pool2d, s, m);
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return true;
}
static bool avg_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(avg_pool2d, s, a, f);
    f->out[0] = tnp_avg_pool2d(a->input, s->o.kernel_size, s->o.stride, s->o.padding,
                               s->o.ceil_mode, s->o.count_include_pad, s->o.divisor_override);
    return f->out[0] != NULL;
}
TN_MODULE(
    avg_pool2d,
    "AvgPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None)",
    TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
           .example = "tn_nn_avg_pool2d(TN_DIMS(2))"),
    .repr = "kernel_size=, stride=, padding=", .build = avg_pool2d_build,
    .forward = avg_pool2d_forward,
    .sample = "[2]: (2,3,4,6) | [3] stride=[2] padding=[1]: (1,2,5,5)")

static bool adaptive_avg_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool2d, s, a, f);
    return (f->out[0] = tnp_adaptive_avg_pool2d(a->input, s->o.output_size)) != NULL;
}
TN_MODULE(adaptive_avg_pool2d, "AdaptiveAvgPool2d(int[2] output_size)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool2d(TN_DIMS(1))"),
          .repr = "output_size=", .forward = adaptive_avg_pool2d_forward,
          .sample = "[1]: (2,3,4,6) | [3,2]: (1,2,5,5)")

static bool max_pool1d_build(tn_module *m) {
    TN_SELF(max_pool1d, s, m);
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return !s->o.return_indices ||
           tni_nn_error(TN_UNSUPPORTED, "return_indices: only false is supported");
}
static bool max_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(max_pool1d, s, a, f);
    f->out[0] = tnp_max_pool1d(a->input, s->o.kernel_size, s->o.stride, s->o.padding, s->o.dilation,
                               s->o.ceil_mode);
    return f->out[0] != NULL;
}
TN_MODULE(
    max_pool1d,
    "MaxPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, "
    "bool return_indices=False, bool ceil_mode=False)",
    TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')", .example = "tn_nn_max_pool1d(TN_DIMS(2))"),
    .repr = "kernel_size=, stride=, padding=, dilation=, ceil_mode=", .build = max_pool1d_build,
    .forward = max_pool1d_forward, .sample = "[2]: (2,3,6) | [3] stride=[2] padding=[1]: (2,5)")

static bool avg_pool1d_build(tn_module *m) {
    TN_SELF(avg_pool1d, s, m);
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return true;
}
static bool avg_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(avg_pool1d, s, a, f);
    f->out[0] = tnp_avg_pool1d(a->input, s->o.kernel_size, s->o.stride, s->o.padding,
                               s->o.ceil_mode, s->o.count_include_pad);
    return f->out[0] != NULL;
}
TN_MODULE(avg_pool1d,
          "AvgPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool "
          "ceil_mode=False, bool count_include_pad=True)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')",
                 .example = "tn_nn_avg_pool1d(TN_DIMS(2))"),
          .repr = "kernel_size[1]=, stride[1]=, padding[1]=", .build = avg_pool1d_build,
          .forward = avg_pool1d_forward,
          .sample = "[2]: (2,3,6) | [3] stride=[2] padding=[1]: (2,5)")

static bool adaptive_avg_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool1d, s, a, f);
    return (f->out[0] = tnp_adaptive_avg_pool1d(a->input, s->o.output_size)) != NULL;
}
TN_MODULE(adaptive_avg_pool1d, "AdaptiveAvgPool1d(int[1] output_size)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool1d(TN_DIMS(4))"),
          .repr = "output_size=", .forward = adaptive_avg_pool1d_forward,
          .sample = "[1]: (2,3,6) | [3]: (2,5)")

static bool adaptive_avg_pool3d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool3d, s, a, f);
    return (f->out[0] = tnp_adaptive_avg_pool3d(a->input, s->o.output_size)) != NULL;
}
TN_MODULE(adaptive_avg_pool3d, "AdaptiveAvgPool3d(int[3] output_size)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool3d(TN_DIMS(1))"),
          .repr = "output_size=", .forward = adaptive_avg_pool3d_forward,
          .sample = "[1]: (1,2,3,4,2) | [3,2,1]: (1,2,4,3,2)")

static bool lp_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(lp_pool1d, s, a, f);
    f->out[0] =
        tnp_lp_pool1d(a->input, s->o.norm_type, s->o.kernel_size, s->o.stride, s->o.ceil_mode);
    return f->out[0] != NULL;
}
TN_MODULE(lp_pool1d,
          "LPPool1d(float norm_type, int[1] kernel_size, int[1]? stride=None, bool "
          "ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')",
                 .example = "tn_nn_lp_pool1d(2, TN_DIMS(3))"),
          .repr = "norm_type=, kernel_size=, stride=, ceil_mode=", .forward = lp_pool1d_forward,
          .sample = "2 [2]: (2,3,6) | 3 [3] stride=[2]: (2,7)")

static bool lp_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(lp_pool2d, s, a, f);
    f->out[0] =
        tnp_lp_pool2d(a->input, s->o.norm_type, s->o.kernel_size, s->o.stride, s->o.ceil_mode);
    return f->out[0] != NULL;
}
TN_MODULE(lp_pool2d,
          "LPPool2d(float norm_type, int[2] kernel_size, int[2]? stride=None, bool "
          "ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
                 .example = "tn_nn_lp_pool2d(2, TN_DIMS(3))"),
          .repr = "norm_type=, kernel_size=, stride=, ceil_mode=", .forward = lp_pool2d_forward,
          .sample = "2 [2]: (2,3,4,6) | 2 [3,2] stride=[2]: (1,2,5,5)")

/* src/nn/distance.c - distances and angles of pairs of vectors as modules */

static bool cosine_similarity_forward(tn_mframe *f) {
    TN_FORWARD(cosine_similarity, s, a, f);
    return (f->out[0] = tnp_cosine_similarity(a->x1, a->x2, s->o.dim, s->o.eps)) != NULL;
}
TN_MODULE(cosine_similarity, "CosineSimilarity(int dim=1, float eps=1e-08)",
          TN_DOC(.shapes = "x1, x2 (*), broadcast together -> (*) without dim",
                 .example = "tn_nn_cosine_similarity(.dim = -1)"),
          .call = "(Tensor x1, Tensor x2) -> Tensor", .forward = cosine_similarity_forward,
          .sample = ": (4,3) (4,3) | 0 0.1: (4) (4)")

static bool pairwise_distance_forward(tn_mframe *f) {
    TN_FORWARD(pairwise_distance, s, a, f);
    return (f->out[0] = tnp_pairwise_distance(a->x1, a->x2, s->o.p, s->o.eps, s->o.keepdim)) !=
           NULL;
}
TN_MODULE(pairwise_distance, "PairwiseDistance(float p=2.0, float eps=1e-06, bool keepdim=False)",
          TN_DOC(.shapes = "x1, x2 (*, D), broadcast together -> (*), or (*, 1) with keepdim",
                 .example = "tn_nn_pairwise_distance(.p = 1)"),
          .call = "(Tensor x1, Tensor x2) -> Tensor", .forward = pairwise_distance_forward,
          .sample = ": (4,3) (4,3) | 1 0.0 True: (4) (4)")

/* src/nn/fold.c - windows of images as columns, and columns as images */

static bool unfold_forward(tn_mframe *f) {
    TN_FORWARD(unfold, s, a, f);
    f->out[0] = tnp_im2col(a->input, s->o.kernel_size, s->o.dilation, s->o.padding, s->o.stride);
    return f->out[0] != NULL;
}
TN_MODULE(unfold,
          "Unfold(int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C kH kW, L), L windows",
                 .example = "tn_nn_unfold(TN_DIMS(3), .padding = TN_DIMS(1))"),
          .repr = "kernel_size=, dilation=, padding=, stride=", .forward = unfold_forward,
          .sample = "[2]: (2,3,4,5) | [3,2] dilation=[2,1] padding=[1] stride=[2]: (2,6,5)")

static bool fold_forward(tn_mframe *f) {
    TN_FORWARD(fold, s, a, f);
    f->out[0] = tnp_col2im(a->input, s->o.output_size, s->o.kernel_size, s->o.dilation,
                           s->o.padding, s->o.stride);
    return f->out[0] != NULL;
}
TN_MODULE(fold,
          "Fold(int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, "
          "int[2] stride=1)",
          TN_DOC(.shapes = "input (N, C kH kW, L), L windows -> (N, C, output_size)",
                 .example = "tn_nn_fold(TN_DIMS(4, 5), TN_DIMS(2))"),
          .repr = "output_size=, kernel_size=, dilation=, padding=, stride=",
          .forward = fold_forward,
          .sample = "[4,5] [2]: (2,12,12) | [6,5] [3,2] dilation=[2,1] padding=[1] stride=[2]: "
                    "(6,9)")

/* src/nn/pad.c - borders around lines, images and volumes */

static tn_ints pad_sides(tn_ints padding, int64_t n, int64_t room[6]) {
    if (padding.n != 1) return padding;
    for (int64_t i = 0; i < n; i++) room[i] = padding.at[0];
    return tn_ints_of(room, n);
}
#define PADDING_MODULE(name, sides, mode, number)                                          \
    static bool name##_forward(tn_mframe *f) {                                             \
        TN_FORWARD(name, s, a, f);                                                         \
        int64_t room[6];                                                                   \
        f->out[0] = tnp_pad(a->input, pad_sides(s->o.padding, sides, room), mode, number); \
        return f->out[0] != NULL;                                                          \
    }

PADDING_MODULE(constant_pad1d, 2, "constant", TN_SOME(s->o.value))
TN_MODULE(constant_pad1d, "ConstantPad1d(int[2] padding, float value)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_constant_pad1d(TN_DIMS(1), 2)"),
          .repr = "padding[2]=, value=", .forward = constant_pad1d_forward,
          .sample = "[2] 0.5: (2,3,5) | [1,-2] 0.5: (3,4)")

PADDING_MODULE(constant_pad2d, 4, "constant", TN_SOME(s->o.value))
TN_MODULE(
    constant_pad2d, "ConstantPad2d(int[4] padding, float value)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_constant_pad2d(TN_DIMS(1, 1, 2, 2), 2)"),
    .repr = "padding[4]=, value=", .forward = constant_pad2d_forward,
    .sample = "[1] 0.5: (2,3,3,4) | [1,0,-1,2] 0.5: (3,4,2)")

PADDING_MODULE(constant_pad3d, 6, "constant", TN_SOME(s->o.value))
TN_MODULE(constant_pad3d, "ConstantPad3d(int[6] padding, float value)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_constant_pad3d(TN_DIMS(1), 2)"),
          .repr = "padding[6]=, value=", .forward = constant_pad3d_forward,
          .sample = "[1] 0.5: (1,2,2,3,2) | [1,0,-1,1,0,1] 0.5: (2,2,3,4)")

PADDING_MODULE(zero_pad1d, 2, "constant", TN_NO_FLOAT)
TN_MODULE(zero_pad1d, "ZeroPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_zero_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = zero_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(zero_pad2d, 4, "constant", TN_NO_FLOAT)
TN_MODULE(
    zero_pad2d, "ZeroPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_zero_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = zero_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(zero_pad3d, 6, "constant", TN_NO_FLOAT)
TN_MODULE(zero_pad3d, "ZeroPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_zero_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = zero_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

PADDING_MODULE(reflection_pad1d, 2, "reflect", TN_NO_FLOAT)
TN_MODULE(reflection_pad1d, "ReflectionPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_reflection_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = reflection_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(reflection_pad2d, 4, "reflect", TN_NO_FLOAT)
TN_MODULE(
    reflection_pad2d, "ReflectionPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_reflection_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = reflection_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(reflection_pad3d, 6, "reflect", TN_NO_FLOAT)
TN_MODULE(reflection_pad3d, "ReflectionPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_reflection_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = reflection_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

PADDING_MODULE(replication_pad1d, 2, "replicate", TN_NO_FLOAT)
TN_MODULE(replication_pad1d, "ReplicationPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_replication_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = replication_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(replication_pad2d, 4, "replicate", TN_NO_FLOAT)
TN_MODULE(
    replication_pad2d, "ReplicationPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_replication_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = replication_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(replication_pad3d, 6, "replicate", TN_NO_FLOAT)
TN_MODULE(replication_pad3d, "ReplicationPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_replication_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = replication_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

PADDING_MODULE(circular_pad1d, 2, "circular", TN_NO_FLOAT)
TN_MODULE(circular_pad1d, "CircularPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_circular_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = circular_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(circular_pad2d, 4, "circular", TN_NO_FLOAT)
TN_MODULE(
    circular_pad2d, "CircularPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_circular_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = circular_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(circular_pad3d, 6, "circular", TN_NO_FLOAT)
TN_MODULE(circular_pad3d, "CircularPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_circular_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = circular_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")
#undef PADDING_MODULE

/* src/nn/shuffle.c - modules that move elements: pixels and channels, one dimension as several */

static bool pixel_shuffle_forward(tn_mframe *f) {
    TN_FORWARD(pixel_shuffle, s, a, f);
    return (f->out[0] = tnp_pixel_shuffle(a->input, s->o.upscale_factor)) != NULL;
}
TN_MODULE(pixel_shuffle, "PixelShuffle(int upscale_factor)",
          TN_DOC(.shapes = "input (*, C * r * r, H, W) -> (*, C, H * r, W * r)",
                 .example = "tn_nn_pixel_shuffle(2)"),
          .repr = "upscale_factor=", .forward = pixel_shuffle_forward,
          .sample = "2: (1,8,2,3) | 3: (9,1,2)")

static bool pixel_unshuffle_forward(tn_mframe *f) {
    TN_FORWARD(pixel_unshuffle, s, a, f);
    return (f->out[0] = tnp_pixel_unshuffle(a->input, s->o.downscale_factor)) != NULL;
}
TN_MODULE(pixel_unshuffle, "PixelUnshuffle(int downscale_factor)",
          TN_DOC(.shapes = "input (*, C, H * r, W * r) -> (*, C * r * r, H, W)",
                 .example = "tn_nn_pixel_unshuffle(2)"),
          .repr = "downscale_factor=", .forward = pixel_unshuffle_forward,
          .sample = "2: (1,2,4,6) | 3: (1,3,6)")

static bool channel_shuffle_forward(tn_mframe *f) {
    TN_FORWARD(channel_shuffle, s, a, f);
    return (f->out[0] = tnp_channel_shuffle(a->input, s->o.groups)) != NULL;
}
TN_MODULE(channel_shuffle, "ChannelShuffle(int groups)",
          TN_DOC(.shapes = "input (N, C, *) -> (N, C, *)", .example = "tn_nn_channel_shuffle(2)"),
          .repr = "groups=", .forward = channel_shuffle_forward,
          .sample = "2: (1,6,2,3) | 3: (2,6,3)")

static bool unflatten_forward(tn_mframe *f) {
    TN_FORWARD(unflatten, s, a, f);
    return (f->out[0] = tnp_unflatten(a->input, s->o.dim, s->o.unflattened_size)) != NULL;
}
TN_MODULE(unflatten, "Unflatten(int dim, int[] unflattened_size)",
          TN_DOC(.shapes = "input (N, a * b, *) -> (N, a, b, *)",
                 .example = "tn_nn_unflatten(1, TN_DIMS(2, 5))"),
          .repr = "dim=, unflattened_size[]=", .forward = unflatten_forward,
          .sample = "1 [2,3]: (2,6,2) | -1 [3,-1]: (2,6)")

/* src/nn/loss.c - losses as modules: one operator call on input and target */

#define LOSS_FORWARD(name, ...)                     \
    static bool name##_forward(tn_mframe *f) {      \
        TN_FORWARD(name, s, a, f);                  \
        return (f->out[0] = (__VA_ARGS__)) != NULL; \
    }

LOSS_FORWARD(cross_entropy_loss,
             tnp_cross_entropy(a->input, a->target, s->weight, s->o.ignore_index, s->o.reduction,
                               s->o.label_smoothing))
TN_MODULE(cross_entropy_loss,
          "CrossEntropyLoss(Tensor? weight=None, int ignore_index=-100, Reduction reduction=mean, "
          "float label_smoothing=0.0)",
          TN_DOC(.shapes = "input (N, C, *), target (N, *) class numbers or (N, C, *) "
                           "probabilities -> () or (N, *)",
                 .example = "tn_nn_cross_entropy_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = cross_entropy_loss_forward,
          .sample = ": (4,5) (4):i64<5 | reduction=sum label_smoothing=0.1: (4,5) (4):i64<5")

LOSS_FORWARD(nll_loss,
             tnp_nll_loss(a->input, a->target, s->weight, s->o.ignore_index, s->o.reduction))
TN_MODULE(nll_loss, "NLLLoss(Tensor? weight=None, int ignore_index=-100, Reduction reduction=mean)",
          TN_DOC(.shapes = "input (N, C, *), target (N, *) -> () or (N, *)",
                 .example = "tn_nn_nll_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = nll_loss_forward, .sample = ": (4,5) (4):i64<5")

LOSS_FORWARD(mse_loss, ((void)s, tnp_mse_loss(a->input, a->target, s->o.reduction)))
TN_MODULE(mse_loss, "MSELoss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_mse_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = mse_loss_forward, .sample = ": (2,3) (2,3)")

LOSS_FORWARD(l1_loss, tnp_l1_loss(a->input, a->target, s->o.reduction))
TN_MODULE(l1_loss, "L1Loss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_l1_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = l1_loss_forward, .sample = ": (2,3) (2,3)")

LOSS_FORWARD(smooth_l1_loss, tnp_smooth_l1_loss(a->input, a->target, s->o.reduction, s->o.beta))
TN_MODULE(smooth_l1_loss, "SmoothL1Loss(Reduction reduction=mean, float beta=1.0)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_smooth_l1_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = smooth_l1_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum beta=0.5: (4) (4)")

LOSS_FORWARD(huber_loss, tnp_huber_loss(a->input, a->target, s->o.reduction, s->o.delta))
TN_MODULE(huber_loss, "HuberLoss(Reduction reduction=mean, float delta=1.0)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_huber_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = huber_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum delta=0.5: (4) (4)")

LOSS_FORWARD(kl_div_loss, tnp_kl_div(a->input, a->target, s->o.reduction, s->o.log_target))
TN_MODULE(kl_div_loss, "KLDivLoss(BatchReduction reduction=mean, bool log_target=False)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)",
                 .example = "tn_nn_kl_div_loss(.reduction = TN_BATCH_REDUCTION_BATCHMEAN)"),
          .call = "(Tensor input, Tensor target) -> Tensor", .forward = kl_div_loss_forward,
          .sample = "reduction=batchmean: (2,3) (2,3) | log_target=True: (4) (4)")

LOSS_FORWARD(bce_loss, tnp_binary_cross_entropy(a->input, a->target, s->weight, s->o.reduction))
TN_MODULE(bce_loss, "BCELoss(Tensor? weight=None, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_bce_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .unlike = "deprecated", .forward = bce_loss_forward)

LOSS_FORWARD(bce_with_logits_loss,
             tnp_binary_cross_entropy_with_logits(a->input, a->target, s->weight, s->pos_weight,
                                                  s->o.reduction))
TN_MODULE(
    bce_with_logits_loss,
    "BCEWithLogitsLoss(Tensor? weight=None, Reduction reduction=mean, Tensor? pos_weight=None)",
    TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_bce_with_logits_loss()"),
    .parts = "buffer weight = weight; buffer pos_weight = pos_weight",
    .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "refused",
    .forward = bce_with_logits_loss_forward, .sample = ": (2,3) (2,3)")

static bool margin_ranking_loss_forward(tn_mframe *f) {
    TN_FORWARD(margin_ranking_loss, s, a, f);
    const int dims = tn_ndim(a->input1);
    if (tn_ndim(a->input2) != dims || tn_ndim(a->target) != dims)
        return tni_nn_error(TN_INVALID,
                            "input1, input2 and target have %d, %d and %d dimensions, expected the "
                            "same number",
                            dims, tn_ndim(a->input2), tn_ndim(a->target));
    return (f->out[0] = tnp_margin_ranking_loss(a->input1, a->input2, a->target, s->o.margin,
                                                s->o.reduction)) != NULL;
}
TN_MODULE(margin_ranking_loss, "MarginRankingLoss(float margin=0.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input1, input2, target (*) -> () or (*)",
                 .example = "tn_nn_margin_ranking_loss(.margin = 0.5)"),
          .call = "(Tensor input1, Tensor input2, Tensor target) -> Tensor",
          .forward = margin_ranking_loss_forward,
          .sample = ": (2,3) (2,3) (2,3) | margin=0.5 reduction=sum: (4) (4) (4)")

LOSS_FORWARD(hinge_embedding_loss,
             tnp_hinge_embedding_loss(a->input, a->target, s->o.margin, s->o.reduction))
TN_MODULE(hinge_embedding_loss, "HingeEmbeddingLoss(float margin=1.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)",
                 .example = "tn_nn_hinge_embedding_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = hinge_embedding_loss_forward,
          .sample = ": (2,3) (2,3) | margin=0.5 reduction=sum: (4) (4)")

LOSS_FORWARD(soft_margin_loss, tnp_soft_margin_loss(a->input, a->target, s->o.reduction))
TN_MODULE(soft_margin_loss, "SoftMarginLoss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_soft_margin_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .forward = soft_margin_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum: (4) (4)")

LOSS_FORWARD(cosine_embedding_loss, tnp_cosine_embedding_loss(a->input1, a->input2, a->target,
                                                              s->o.margin, s->o.reduction))
TN_MODULE(cosine_embedding_loss, "CosineEmbeddingLoss(float margin=0.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input1, input2 (N, D), target (N), or (D) and () -> () or (N)",
                 .example = "tn_nn_cosine_embedding_loss()"),
          .call = "(Tensor input1, Tensor input2, Tensor target) -> Tensor",
          .forward = cosine_embedding_loss_forward,
          .sample = ": (4,3) (4,3) (4):i64<2 | margin=0.5 reduction=sum: (3) (3) ()")

static bool triplet_margin_loss_build(tn_module *m) {
    TN_SELF(triplet_margin_loss, s, m);
    return s->o.margin > 0 ||
           tni_nn_error(TN_INVALID, "margin is %g, expected a positive number", s->o.margin);
}
LOSS_FORWARD(triplet_margin_loss,
             tnp_triplet_margin_loss(a->anchor, a->positive, a->negative, s->o.margin, s->o.p,
                                     s->o.eps, s->o.swap, s->o.reduction))
TN_MODULE(triplet_margin_loss,
          "TripletMarginLoss(float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, "
          "Reduction reduction=mean)",
          TN_DOC(.shapes = "anchor, positive, negative (*, D) -> () or (*)",
                 .example = "tn_nn_triplet_margin_loss(.p = 1)"),
          .call = "(Tensor anchor, Tensor positive, Tensor negative) -> Tensor",
          .build = triplet_margin_loss_build, .forward = triplet_margin_loss_forward,
          .sample = ": (4,3) (4,3) (4,3) | 2 1 0.25: (5,2) (5,2) (5,2)")

#undef LOSS_FORWARD

/* src/nn/norm.c - normalisation: over the batch, over the last dimensions */

typedef struct norm_batch {
    tn_tensor *weight, *bias, *running_mean, *running_var, *num_batches_tracked;
    tn_maybe momentum;
    double eps;
    bool track_running_stats, affine, training;
} norm_batch;
#define NORM_BATCH(n, s)                        \
    norm_batch n = {(s)->weight,                \
                    (s)->bias,                  \
                    (s)->running_mean,          \
                    (s)->running_var,           \
                    (s)->num_batches_tracked,   \
                    (s)->o.momentum,            \
                    (s)->o.eps,                 \
                    (s)->o.track_running_stats, \
                    (s)->o.affine,              \
                    (s)->base.training}

static bool norm_batch_reset(const norm_batch *n) {
    return (!n->running_mean ||
            (tn_nn_init_constant_(n->running_mean, 0) && tn_nn_init_constant_(n->running_var, 1) &&
             tn_nn_init_constant_(n->num_batches_tracked, 0))) &&
           (!n->weight || tn_nn_init_constant_(n->weight, 1)) &&
           (!n->bias || tn_nn_init_constant_(n->bias, 0));
}

static tn_tensor *norm_batch_forward(const norm_batch *n, tn_tensor *x) {
    bool batch = n->training || !n->running_mean,
         moves = batch && n->running_mean && n->track_running_stats;
    double k = n->momentum.given == TN_GIVEN ? n->momentum.value : 0;
    tn_tensor *y;
    if (moves && n->momentum.given != TN_GIVEN)
        k = 1 / ((double)tn_item_int(n->num_batches_tracked) + 1);
    if (moves && !tn_whole_begin()) return NULL;
    y = tnp_batch_norm(x, moves || !batch ? n->running_mean : NULL,
                       moves || !batch ? n->running_var : NULL, n->weight, n->bias, batch, k,
                       n->eps);
    if (y && moves && !tnp_add_scalar_(n->num_batches_tracked, tn_int(1), 1)) y = NULL;
    if (moves) tn_whole_end();
    return y;
}

#define NORM_BATCH_ROW(name)                                           \
    static bool name##_reset(tn_module *m) {                           \
        TN_SELF(name, s, m);                                           \
        NORM_BATCH(n, s);                                              \
        return norm_batch_reset(&n);                                   \
    }                                                                  \
    static bool name##_forward(tn_mframe *f) {                         \
        TN_FORWARD(name, s, a, f);                                     \
        NORM_BATCH(n, s);                                              \
        return (f->out[0] = norm_batch_forward(&n, a->input)) != NULL; \
    }

NORM_BATCH_ROW(batch_norm1d)
TN_MODULE(batch_norm1d,
          "BatchNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C) or (N, C, L) -> the same",
                 .example = "tn_nn_batch_norm1d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, ?)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm1d_reset, .forward = batch_norm1d_forward,
          .sample = "3: (4,3) | 3 momentum=None: (4,3,2)")

NORM_BATCH_ROW(batch_norm2d)
TN_MODULE(batch_norm2d,
          "BatchNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, H, W) -> the same",
                 .example = "tn_nn_batch_norm2d(64, .momentum = TN_SOME(0.01))"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm2d_reset, .forward = batch_norm2d_forward,
          .sample = "3: (4,3,2,2) | 2 affine=False track_running_stats=False: (3,2,2,3)")

NORM_BATCH_ROW(batch_norm3d)
TN_MODULE(batch_norm3d,
          "BatchNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> the same",
                 .example = "tn_nn_batch_norm3d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm3d_reset, .forward = batch_norm3d_forward,
          .sample = "3: (2,3,2,2,3) | 2 affine=False: (3,2,2,1,3)")

#undef NORM_BATCH_ROW

static tn_tensor *norm_instance_forward(const norm_batch *n, tn_tensor *x, int64_t features,
                                        int dims) {
    const bool alone = tn_ndim(x) == dims + 1;
    const double k = n->momentum.given == TN_GIVEN ? n->momentum.value : 0;
    tn_tensor *y;
    if (n->affine && tn_size(x, -1 - dims) != features) {
        tni_nn_error(TN_INVALID,
                     "expected input's size at dim=%d to match num_features (%lld), but got %lld",
                     alone ? 0 : 1, (long long)features, (long long)tn_size(x, -1 - dims));
        return NULL;
    }
    if (alone) x = tnp_unsqueeze(x, 0);
    if (n->training || !n->track_running_stats || !n->running_mean)
        y = tnp_instance_norm(x, n->running_mean, n->running_var, n->weight, n->bias, true, k,
                              n->eps);
    else
        y = tnp_batch_norm(x, n->running_mean, n->running_var, n->weight, n->bias, false, k,
                           n->eps);
    return alone ? tnp_squeeze_dim(y, 0) : y;
}
#define NORM_INSTANCE_ROW(name, dims)                                             \
    static bool name##_reset(tn_module *m) {                                      \
        TN_SELF(name, s, m);                                                      \
        NORM_BATCH(n, s);                                                         \
        return norm_batch_reset(&n);                                              \
    }                                                                             \
    static bool name##_forward(tn_mframe *f) {                                    \
        TN_FORWARD(name, s, a, f);                                                \
        NORM_BATCH(n, s);                                                         \
        f->out[0] = norm_instance_forward(&n, a->input, s->o.num_features, dims); \
        return f->out[0] != NULL;                                                 \
    }

NORM_INSTANCE_ROW(instance_norm1d, 1)
TN_MODULE(instance_norm1d,
          "InstanceNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, L) or (C, L) -> the same",
                 .example = "tn_nn_instance_norm1d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm1d_reset, .forward = instance_norm1d_forward,
          .sample = "3: (2,3,4) | 3 affine=True track_running_stats=True: (3,5)")

NORM_INSTANCE_ROW(instance_norm2d, 2)
TN_MODULE(instance_norm2d,
          "InstanceNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> the same",
                 .example = "tn_nn_instance_norm2d(64, .affine = true)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm2d_reset, .forward = instance_norm2d_forward,
          .sample = "3: (2,3,2,2) | 3 affine=True track_running_stats=True: (3,2,3)")

NORM_INSTANCE_ROW(instance_norm3d, 3)
TN_MODULE(instance_norm3d,
          "InstanceNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> the same",
                 .example = "tn_nn_instance_norm3d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm3d_reset, .forward = instance_norm3d_forward,
          .sample = "3: (2,3,2,1,2) | 2 affine=True track_running_stats=True: (2,2,2,3)")

#undef NORM_BATCH
#undef NORM_INSTANCE_ROW

static bool layer_norm_reset(tn_module *m) {
    TN_SELF(layer_norm, s, m);
    return (!s->weight || tn_nn_init_constant_(s->weight, 1)) &&
           (!s->bias || tn_nn_init_constant_(s->bias, 0));
}
static bool layer_norm_forward(tn_mframe *f) {
    TN_FORWARD(layer_norm, s, a, f);
    return (f->out[0] = tnp_layer_norm(a->input, s->o.normalized_shape, s->weight, s->bias,
                                       s->o.eps)) != NULL;
}
TN_MODULE(layer_norm,
          "LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool "
          "bias=True)",
          TN_DOC(.shapes = "input (*, normalized_shape) -> the same",
                 .example = "tn_nn_layer_norm(TN_DIMS(64))"),
          .parts = "weight(normalized_shape) if elementwise_affine; bias(normalized_shape) if "
                   "elementwise_affine && bias",
          .takes = "input(*, normalized_shape)",
          .repr = "normalized_shape[], eps=, elementwise_affine=, bias=", .reset = layer_norm_reset,
          .forward = layer_norm_forward, .sample = "[4]: (2,3,4) | [3,4] bias=False: (2,3,4)")

static bool local_response_norm_forward(tn_mframe *f) {
    TN_FORWARD(local_response_norm, s, a, f);
    f->out[0] = tnp_local_response_norm(a->input, s->o.size, s->o.alpha, s->o.beta, s->o.k);
    return f->out[0] != NULL;
}
TN_MODULE(local_response_norm,
          "LocalResponseNorm(int size, float alpha=0.0001, float beta=0.75, float k=1.0)",
          TN_DOC(.shapes = "input (N, C, *) -> the same",
                 .example = "tn_nn_local_response_norm(2)"),
          .repr = "size, alpha=, beta=, k=", .forward = local_response_norm_forward,
          .sample = "2: (2,5,4) | 3 alpha=0.5 beta=1.0 k=2.0: (1,4,3,2)")

/* src/nn/recurrent.c - LSTM */

#include <math.h>

static tn_tensor *lstm_part(const tn_nn_lstm_self *s, int64_t l, int d, int k) {
    int64_t each = s->o.bias ? 4 : 2, at = (l * (s->o.bidirectional ? 2 : 1) + d) * each + k;
    return k < each ? tn_part_tensor_of(&s->base, (int)at) : NULL;
}

static bool lstm_build(tn_module *m) {
    static const char *const stem[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
    TN_SELF(lstm, s, m);
    int64_t h = s->o.hidden_size, layers = s->o.num_layers;
    int dirs = s->o.bidirectional ? 2 : 1;
    if (h < 1 || s->o.input_size < 1 || layers < 1 || layers > 100000 || h > INT64_MAX / 8)
        return tni_nn_error(TN_INVALID, "input_size, hidden_size and num_layers must be positive");
    if (s->o.dropout < 0 || s->o.dropout > 1)
        return tni_nn_error(TN_INVALID, "dropout is %g, expected a value in [0, 1]", s->o.dropout);
    for (int64_t l = 0; l < layers; l++)
        for (int d = 0; d < dirs; d++)
            for (int k = 0; k < (s->o.bias ? 4 : 2); k++) {
                char name[48];
                int64_t shape[2] = {4 * h, k == 1 ? h : l ? dirs * h : s->o.input_size};
                snprintf(name, sizeof name, "%s%lld%s", stem[k], (long long)l, d ? "_reverse" : "");
                if (!tn_part_tensor(m, TN_PARAM, name, NULL, TN_NO_DTYPE,
                                    tn_ints_of(shape, k < 2 ? 2 : 1)))
                    return false;
            }
    return true;
}

static bool lstm_reset(tn_module *m) {
    TN_SELF(lstm, s, m);
    double bound = 1 / sqrt((double)s->o.hidden_size);
    for (int i = 0; i < m->nparts; i++)
        if (!tn_nn_init_uniform_(tn_part_tensor_of(m, i), -bound, bound)) return false;
    return true;
}

static bool lstm_step(tn_tensor *gates, tn_tensor **h, tn_tensor **c) {
    tn_list g = tnp_chunk(gates, 4, -1);
    tn_tensor *keep, *add;
    if (g.n != 4) return false;
    keep = tnp_mul(tnp_sigmoid(g.at[1]), *c);
    add = tnp_mul(tnp_sigmoid(g.at[0]), tnp_tanh(g.at[2]));
    *c = tnp_add(keep, add, 1);
    *h = tnp_mul(tnp_sigmoid(g.at[3]), tnp_tanh(*c));
    return *h != NULL;
}

static bool lstm_direction(const tn_nn_lstm_self *s, int64_t l, int d, tn_tensor *x, tn_tensor **y,
                           tn_tensor **h, tn_tensor **c) {
    int64_t steps = tn_size(x, 0);
    tn_list gates = tnp_unbind(tnp_linear(x, lstm_part(s, l, d, 0), lstm_part(s, l, d, 2)), 0);
    if (gates.n != steps) return false;
    for (int64_t i = 0; i < steps; i++) {
        int64_t t = d ? steps - 1 - i : i;
        tn_tensor *rest = tnp_linear(*h, lstm_part(s, l, d, 1), lstm_part(s, l, d, 3));
        if (!lstm_step(tnp_add(gates.at[t], rest, 1), h, c)) return false;
        y[t] = *h;
    }
    return true;
}

typedef struct lstm_run {
    const tn_nn_lstm_self *s;
    int dirs;
    int64_t steps;
    tn_tensor **y;
    tn_tensor **h, **c;
} lstm_run;

static tn_tensor *lstm_layer(lstm_run *r, int64_t l, tn_tensor *x) {
    tn_tensor *both[2] = {NULL, NULL}, *y;
    for (int d = 0; d < r->dirs; d++) {
        int64_t at = l * r->dirs + d;
        if (!lstm_direction(r->s, l, d, x, r->y, &r->h[at], &r->c[at])) return NULL;
        both[d] = tnp_stack(tn_tensors_of(r->y, r->steps), 0);
        if (!both[d]) return NULL;
    }
    y = r->dirs == 2 ? tnp_cat(tn_tensors_of(both, 2), -1) : both[0];
    if (r->s->base.training && r->s->o.dropout > 0 && l + 1 < r->s->o.num_layers)
        y = tnp_dropout(y, r->s->o.dropout, true);
    return y;
}

static bool lstm_states(lstm_run *r, tn_tensor *x, tn_tensor *given, tn_tensor **to) {
    int64_t count = r->s->o.num_layers * r->dirs, size[2] = {tn_size(x, 1), r->s->o.hidden_size};
    tn_tensor *zero =
        given ? NULL : tnp_zeros(tn_ints_of(size, 2), tn_dtype_of(x), tn_device_of(x));
    for (int64_t i = 0; i < count; i++) {
        to[i] = given ? tnp_select(given, 0, i) : zero;
        if (!to[i]) return false;
    }
    return true;
}

static tn_tensor *lstm_run_all(lstm_run *r, tn_tensor *x, tn_tensor *h, tn_tensor *c) {
    if (!lstm_states(r, x, h, r->h) || !lstm_states(r, x, c, r->c)) return NULL;
    for (int64_t l = 0; x && l < r->s->o.num_layers; l++) x = lstm_layer(r, l, x);
    return x;
}

static tn_tensor *lstm_unsqueeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_unsqueeze(t, 1) : t;
}
static tn_tensor *lstm_squeeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_squeeze_dim(t, 1) : t;
}

static bool lstm_prepare(const tn_nn_lstm_self *s, const tn_nn_lstm_forward_args *a, tn_tensor **x,
                         tn_tensor **h, tn_tensor **c, bool *batched) {
    int n = tn_ndim(a->input);
    *batched = n == 3;
    if (n != 2 && n != 3)
        return tni_nn_error(TN_INVALID, "input: expected 2 or 3 dimensions, got %d", n);
    if (!a->h != !a->c)
        return tni_nn_error(TN_INVALID, "hx: h and c must both be given, or neither");
    *x = s->o.batch_first && *batched ? tnp_transpose(a->input, 0, 1)
                                      : lstm_unsqueeze(a->input, *batched);
    *h = lstm_unsqueeze(a->h, *batched);
    *c = lstm_unsqueeze(a->c, *batched);
    if (!*x || (a->h && (!*h || !*c))) return false;
    if (tn_size(*x, 0) < 1) return tni_nn_error(TN_INVALID, "input: the sequence is empty");
    if (*h && (tn_size(*h, 1) != tn_size(*x, 1) || tn_size(*c, 1) != tn_size(*x, 1)))
        return tni_nn_error(TN_INVALID, "hx: expected a batch of %lld, got %lld and %lld",
                            (long long)tn_size(*x, 1), (long long)tn_size(*h, 1),
                            (long long)tn_size(*c, 1));
    return true;
}

static bool lstm_forward(tn_mframe *f) {
    TN_FORWARD(lstm, s, a, f);
    tn_tensor *x = NULL, *h = NULL, *c = NULL, **room;
    lstm_run r = {s, s->o.bidirectional ? 2 : 1, 0, NULL, NULL, NULL};
    int64_t count = s->o.num_layers * r.dirs;
    bool batched;
    if (!lstm_prepare(s, a, &x, &h, &c, &batched)) return false;
    r.steps = tn_size(x, 0);
    room = (tn_tensor **)tni_alloc_each(r.steps + 2 * count, sizeof *room);
    if (!room) return false;
    r.y = room;
    r.h = room + r.steps;
    r.c = r.h + count;
    x = lstm_run_all(&r, x, h, c);
    if (x) {
        f->out[0] = s->o.batch_first && batched ? tnp_transpose(x, 0, 1) : lstm_squeeze(x, batched);
        f->out[1] = lstm_squeeze(tnp_stack(tn_tensors_of(r.h, count), 0), batched);
        f->out[2] = lstm_squeeze(tnp_stack(tn_tensors_of(r.c, count), 0), batched);
    }
    tn_alloc_free(room, (size_t)(r.steps + 2 * count) * sizeof *room);
    return x && f->out[0] && f->out[1] && f->out[2];
}
TN_MODULE(
    lstm,
    "LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
    "batch_first=False, "
    "float dropout=0.0, bool bidirectional=False)",
    TN_DOC(.shapes =
               "input (T, N, input_size), or (N, T, input_size) with batch_first; h, c (layers * "
               "directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n, c_n",
           .example = "tn_nn_lstm(10, 20, .num_layers = 2)"),
    .call = "(Tensor input, (Tensor h, Tensor c)? hx=None) -> (Tensor output, (Tensor h_n, Tensor "
            "c_n))",
    .takes = "input(*, input_size); h(num_layers * (1 + bidirectional), *, hidden_size); "
             "c(num_layers * (1 + bidirectional), *, hidden_size)",
    .draws = "dropout",
    .repr =
        "input_size, hidden_size, ?num_layers=, ?bias=, ?batch_first=, ?dropout=, ?bidirectional=",
    .build = lstm_build, .reset = lstm_reset, .forward = lstm_forward,
    .sample = "3 4: (5,2,3) | 3 4 num_layers=2 bidirectional=True batch_first=True: (2,5,3) "
              "h=(4,2,4) c=(4,2,4)")

/* src/nn/parallel.c - one model on several ranks: rank 0's parameters to all, gradients averaged behind each backward (Li et al */

enum { PARALLEL_BUCKET = 25 << 20 };

typedef struct parallel_slot {
    tn_parallel *of;
    tn_tensor *t;
    int64_t seen, after;
    bool ready;
} parallel_slot;

struct tn_parallel {
    tn_group *group;
    tn_module *module;
    parallel_slot *slot;
    int64_t n, nready;
    tn_tensor **buffer;
    int64_t nbuffers, hook;
    int64_t bucket_bytes;
    size_t slot_bytes, buffer_bytes;
    bool sync;
};

typedef struct parallel_quiet {
    tn_group *group;
    int64_t mark;
    bool mode;
} parallel_quiet;
static parallel_quiet parallel_begin(const tn_parallel *p) {
    parallel_quiet q;
    q.mark = tn_scope_begin_at(NULL, 0);
    q.mode = tn_set_grad_mode(false);
    q.group = tn_group_use(p->group);
    return q;
}
static void parallel_end(const parallel_quiet *q) {
    tn_group_use(q->group);
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
}

static bool parallel_share(tn_parallel *p) {
    const parallel_quiet q = parallel_begin(p);
    bool ok = true;
    for (int64_t i = 0; ok && i < p->nbuffers; i++) ok = tnp_distributed_broadcast(p->buffer[i], 0);
    parallel_end(&q);
    return ok;
}

static int64_t parallel_bucket(const tn_parallel *p, int64_t from, int64_t *numel) {
    const tn_tensor *first = p->slot[from].t;
    const int64_t each = tn_dtype_bytes(tn_dtype_of(first));
    int64_t i = from;
    for (*numel = 0; i < p->n; i++) {
        const tn_tensor *t = p->slot[i].t;
        if (i > from &&
            (tn_dtype_of(t) != tn_dtype_of(first) || tn_device_of(t) != tn_device_of(first) ||
             *numel * each >= p->bucket_bytes))
            break;
        *numel += tn_numel(t);
    }
    return i;
}

static tn_tensor *parallel_piece(tn_tensor *flat, int64_t at, const tn_tensor *t) {
    tn_tensor *piece = tnp_narrow(flat, 0, at, tn_numel(t));
    return tnp_view(piece, tn_shape(t));
}

static bool parallel_pack(const tn_parallel *p, int64_t from, int64_t to, tn_tensor *flat,
                          int64_t numel) {
    int64_t at = 0;
    for (int64_t i = from; i < to; i++) {
        tn_tensor *t = p->slot[i].t, *grad = tn_grad_of(t);
        if (grad && (!tnp_copy_(parallel_piece(flat, at, t), grad) ||
                     !tnp_fill_(tnp_narrow(flat, 0, numel + i - from, 1), tn_float(1))))
            return false;
        at += tn_numel(t);
    }
    return tn_ok();
}

static bool parallel_unpack(const tn_parallel *p, int64_t from, int64_t to, tn_tensor *flat,
                            int64_t numel, double *any) {
    int64_t at = 0;
    if (!tnp_read_f64(tnp_narrow(flat, 0, numel, to - from), any, to - from)) return false;
    for (int64_t i = from; i < to; i++) {
        tn_tensor *t = p->slot[i].t, *grad;
        if (any[i - from] > 0) {
            grad = tnp_empty_like(t, TN_NO_DTYPE, TN_NO_DEVICE);
            if (!grad || !tnp_copy_(grad, parallel_piece(flat, at, t)) || !tnp_set_grad(t, grad))
                return false;
        }
        at += tn_numel(t);
    }
    return true;
}

static bool parallel_average(tn_parallel *p, double *any) {
    int64_t numel;
    bool ok = true;
    for (int64_t from = 0, to; ok && from < p->n; from = to) {
        to = parallel_bucket(p, from, &numel);
        const int64_t mark = tn_scope_begin_at(NULL, 0), all = numel + to - from;
        const tn_tensor *first = p->slot[from].t;
        const tn_ints size = {&all, 1};
        tn_tensor *flat = tnp_zeros(size, tn_dtype_of(first), tn_device_of(first));
        ok = flat && parallel_pack(p, from, to, flat, numel) &&
             tnp_distributed_all_reduce(flat, TN_REDUCE_OP_AVG) &&
             parallel_unpack(p, from, to, flat, numel, any);
        tn_scope_end(mark);
    }
    return ok;
}

static tn_tensor *parallel_seen(tn_tensor *grad, void *user) {
    parallel_slot *s = (parallel_slot *)user;
    if (s->of->sync && !s->ready) {
        s->ready = true;
        s->of->nready++;
    }
    return grad;
}

static tn_tensor *parallel_after(tn_tensor *t, void *user) {
    tn_parallel *p = ((parallel_slot *)user)->of;
    const size_t bytes = (size_t)p->n * sizeof(double);
    parallel_quiet q;
    double *any;
    if (!p->sync || !p->nready) return t;
    for (int64_t i = 0; i < p->n; i++) p->slot[i].ready = false;
    p->nready = 0;
    if (!(any = (double *)tni_alloc_each(p->n, sizeof *any))) return NULL;
    q = parallel_begin(p);
    parallel_average(p, any);
    parallel_end(&q);
    tn_alloc_free(any, bytes);
    return t;
}

static bool parallel_forward(tn_mframe *f, void *user) {
    tn_parallel *p = (tn_parallel *)user;
    return !p->sync || !f->m->training || parallel_share(p);
}

static bool parallel_alike(tn_tensors parameters, tn_tensors buffers) {
    enum { FACTS = 3 };
    int64_t fact[2 * FACTS] = {parameters.n, 0, buffers.n, 0, 0, 0};
    const int64_t all = 2 * FACTS;
    const tn_ints size = {&all, 1};
    tn_tensor *most;
    for (int64_t i = 0; i < parameters.n; i++) fact[1] += tn_numel(parameters.at[i]);
    for (int i = 0; i < FACTS; i++) fact[FACTS + i] = -fact[i];
    most = tnp_from(fact, size, TN_I64, TN_CPU);
    if (!most || !tnp_distributed_all_reduce(most, TN_REDUCE_OP_MAX)) return false;
    if (!tnp_read_i64(most, fact, all)) return false;
    if (fact[0] == -fact[3] && fact[1] == -fact[4] && fact[2] == -fact[5]) return true;
    return tni_nn_error(TN_INVALID,
                        "tn_data_parallel: the models of the ranks differ: they have %lld to %lld "
                        "parameters of %lld to %lld elements, and %lld to %lld buffers",
                        (long long)-fact[3], (long long)fact[0], (long long)-fact[4],
                        (long long)fact[1], (long long)-fact[5], (long long)fact[2]);
}

static bool parallel_hooks(tn_parallel *p, tn_tensors parameters) {
    p->slot = (parallel_slot *)tni_alloc_each(parameters.n + 1, sizeof *p->slot);
    if (!p->slot) return false;
    p->slot_bytes = ((size_t)parameters.n + 1) * sizeof *p->slot;
    for (int64_t i = parameters.n - 1; i >= 0; i--) {
        tn_tensor *t = parameters.at[i];
        parallel_slot *s = &p->slot[p->n];
        if (!tn_needs_grad(t)) continue;
        s->of = p;
        s->t = tn_retain(t);
        s->ready = false;
        s->after = 0;
        p->n++;
        if (!(s->seen = tn_hook_add_at(NULL, 0, t, parallel_seen, s, NULL)) ||
            !(s->after = tn_hook_after_at(NULL, 0, t, parallel_after, s, NULL)))
            return false;
    }
    return true;
}

static bool parallel_buffers(tn_parallel *p, tn_tensors buffers) {
    if (!buffers.n) return true;
    p->buffer = (tn_tensor **)tni_alloc_each(buffers.n, sizeof *p->buffer);
    p->buffer_bytes = (size_t)buffers.n * sizeof *p->buffer;
    for (; p->buffer && p->nbuffers < buffers.n; p->nbuffers++)
        p->buffer[p->nbuffers] = tn_retain(buffers.at[p->nbuffers]);
    return p->buffer != NULL;
}

static bool parallel_meet(tn_parallel *p, tn_tensors parameters, tn_tensors buffers) {
    const parallel_quiet q = parallel_begin(p);
    bool ok = parallel_alike(parameters, buffers);
    for (int64_t i = 0; ok && i < parameters.n; i++)
        ok = tnp_distributed_broadcast(parameters.at[i], 0);
    parallel_end(&q);
    return ok && parallel_share(p);
}

static tn_parallel *parallel_make(const tn_data_parallel_args *args, tn_tensors parameters,
                                  tn_tensors buffers) {
    tn_parallel *p = (tn_parallel *)tni_alloc_each(1, sizeof *p);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->group = args->group ? args->group : tn_group_current();
    p->module = args->module ? tn_module_hold(args->module) : NULL;
    p->bucket_bytes = args->bucket_bytes > 0 ? args->bucket_bytes : (int64_t)PARALLEL_BUCKET;
    p->sync = true;
    if (parallel_buffers(p, buffers) && parallel_meet(p, parameters, buffers) &&
        parallel_hooks(p, parameters) &&
        (!p->module || !p->nbuffers ||
         (p->hook = tn_module_hook_at(NULL, 0, p->module, TN_BEFORE_FORWARD, parallel_forward, p,
                                      NULL)) != 0))
        return p;
    tn_parallel_free(p);
    return NULL;
}

static tn_tensor **parallel_tensors(tn_named_list l) {
    tn_tensor **t = (tn_tensor **)tni_alloc_each(l.n + 1, sizeof *t);
    for (int64_t i = 0; t && i < l.n; i++) t[i] = l.at[i].tensor;
    return t;
}

static tn_parallel *parallel_of_module(const tn_data_parallel_args *args) {
    tn_named_list all = tn_module_parameters_at(NULL, 0, args->module),
                  kept = tn_module_buffers_at(NULL, 0, args->module);
    tn_parallel *p = NULL;
    if (all.n >= 0 && kept.n >= 0) {
        tn_tensor **t = parallel_tensors(all), **b = parallel_tensors(kept);
        if (t && b)
            p = parallel_make(args, tn_tensors_of(t, all.n),
                              tn_tensors_of(b, args->keep_buffers ? 0 : kept.n));
        if (t) tn_alloc_free(t, ((size_t)all.n + 1) * sizeof *t);
        if (b) tn_alloc_free(b, ((size_t)kept.n + 1) * sizeof *b);
    }
    tn_named_free(all);
    tn_named_free(kept);
    return p;
}

TN_API tn_parallel *tn_data_parallel_at(const char *file, int line,
                                        const tn_data_parallel_args *args) {
    tni_step step;
    tn_parallel *p = NULL;
    tni_place_begin(&step, file, line);
    if (!tn_ok()) {
    } else if (args->bucket_bytes < 0)
        tni_nn_error(TN_INVALID, "tn_data_parallel: bucket_bytes is negative: %lld",
                     (long long)args->bucket_bytes);
    else if (args->module)
        p = parallel_of_module(args);
    else if (args->parameters.n < 1)
        tni_nn_error(TN_INVALID, "tn_data_parallel: expected a module or parameters");
    else
        p = parallel_make(args, args->parameters, args->buffers);
    tni_step_end(&step);
    return p;
}

TN_API void tn_parallel_free(tn_parallel *p) {
    if (!p) return;
    for (int64_t i = 0; i < p->n; i++) {
        parallel_slot *s = &p->slot[i];
        if (s->seen) tn_hook_remove(s->t, s->seen);
        if (s->after) tn_hook_remove(s->t, s->after);
        tn_release(s->t);
    }
    for (int64_t i = 0; i < p->nbuffers; i++) tn_release(p->buffer[i]);
    if (p->hook) tn_module_hook_remove_at(NULL, 0, p->module, p->hook);
    tn_module_free(p->module);
    if (p->slot) tn_alloc_free(p->slot, p->slot_bytes);
    if (p->buffer) tn_alloc_free(p->buffer, p->buffer_bytes);
    tn_alloc_free(p, sizeof *p);
}

TN_API bool tn_parallel_set_sync(tn_parallel *p, bool sync) {
    const bool before = p->sync;
    p->sync = sync;
    return before;
}

TN_API bool tn_parallel_share_at(const char *file, int line, tn_parallel *p) {
    tni_step step;
    bool ok;
    tni_place_begin(&step, file, line);
    ok = tn_ok() && parallel_share(p);
    tni_step_end(&step);
    return ok;
}

/* src/base/cold_end.inl - the end of cold_begin.inl or lean_begin.inl */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC pop_options
#endif

/* src/base/cold_begin.inl - what stands from here to cold_end.inl is compiled at -O1: no call of a small tensor runs through it, so it may be slower by a little and is compiled in half the time */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC push_options
#pragma GCC optimize("O1", "inline-small-functions")
#endif

/* src/optim/optimizer.c - groups of parameters with options, states, and the step */

#include <math.h>

TN_API int64_t tn_orow_count(void) {
    int64_t n = 0;
    while (tni_orows()[n]) n++;
    return n;
}
TN_API const tn_orow *tn_orow_at(int64_t i) {
    return i >= 0 && i < tn_orow_count() ? tni_orows()[i] : NULL;
}

TN_PRIV bool tni_is_count(double value) {
    return value >= 0 && value <= 9007199254740992.0 && value == floor(value);
}

TN_PRIV bool tni_group_check(const tn_optimizer *o, const void *options) {
    if (!o->row->check || o->row->check(options)) return true;
    return tn_ok() ? tni_nn_error(TN_INVALID, "the options are not valid") : false;
}

static char *optim_copy_options(const tn_gen *gen, const char *args, int64_t *bytes) {
    int64_t head = (gen->args_size + 7) / 8 * 8;
    char *to, why[200];
    if (!tn_args_check(gen, args, why, sizeof why)) {
        tni_nn_error(TN_INVALID, "%s", why);
        return NULL;
    }
    *bytes = head + 8 * tn_args_words(gen, args);
    to = (char *)tn_alloc((size_t)*bytes);
    if (!to) return NULL;
    memcpy(to, args, gen->args_size);
    tn_args_copy(gen, to, (int64_t *)(void *)(to + head));
    tn_args_forget(gen, to);
    return to;
}

enum { OPTIM_POINTERS = 3 };

static int64_t optim_step_room(int64_t n, int nstates, int nkept) {
    return n * (int64_t)((size_t)(OPTIM_POINTERS + nstates) * sizeof(void *) + 2 * sizeof(bool) +
                         8 + (size_t)(TN_OPTIM_NUMBERS + 1 + nkept) * sizeof(double));
}

static int64_t optim_bytes(int64_t n, int nstates, int nkept) {
    return n * (int64_t)((size_t)(1 + nstates) * sizeof(void *) +
                         (size_t)(1 + nkept) * sizeof(double)) +
           optim_step_room(n, nstates, nkept) + 64;
}

static bool optim_grow(tn_optimizer *o, int64_t n) {
    int64_t bytes;
    char *at;
    tn_tensor **param, **state;
    double *count, *kept;
    if (n < 0 || n > PTRDIFF_MAX / 1024) return tni_nn_error(TN_MEMORY, "too many parameters");
    bytes = optim_bytes(n, o->nstates, o->nkept);
    at = (char *)tn_alloc((size_t)bytes);
    if (!at) return false;
    memset(at, 0, (size_t)bytes);
    count = (double *)(void *)at;
    kept = count + n;
    param = (tn_tensor **)(void *)(kept + n * o->nkept);
    state = param + n;
    for (int64_t i = o->n * o->nkept; i < n * o->nkept; i++) kept[i] = (double)NAN;
    for (int64_t i = 0; i < o->n; i++) {
        count[i] = o->count[i];
        param[i] = o->param[i];
        for (int k = 0; k < o->nstates; k++)
            state[i * o->nstates + k] = o->state[i * o->nstates + k];
        for (int j = 0; j < o->nkept; j++) kept[i * o->nkept + j] = o->kept[i * o->nkept + j];
    }
    if (o->count) tn_alloc_free(o->count, (size_t)o->bytes);
    o->count = count;
    o->kept = kept;
    o->param = param;
    o->state = state;
    o->step_room = state + n * o->nstates;
    o->bytes = bytes;
    return true;
}

static bool optim_more_groups(tn_optimizer *o) {
    int room = o->groups_room ? 2 * o->groups_room : 2;
    tni_group *group;
    if (o->ngroups < o->groups_room) return true;
    group = (tni_group *)tn_alloc((size_t)room * sizeof *group);
    if (!group) return false;
    if (o->ngroups) memcpy(group, o->group, (size_t)o->ngroups * sizeof *group);
    if (o->group) tn_alloc_free(o->group, (size_t)o->groups_room * sizeof *group);
    o->group = group;
    o->groups_room = room;
    return true;
}

static bool optim_check_params(const tn_optimizer *o, tn_tensors params) {
    tni_map seen = {NULL, NULL, 0, 0};
    bool fresh = true, ok = true;
    if (params.n < 0)
        return tn_ok() ? tni_nn_error(TN_INVALID, "params: expected a list of tensors") : false;
    if (params.n == 0 || !params.at) return tni_nn_error(TN_INVALID, "params: the list is empty");
    for (int64_t i = 0; ok && i < o->n; i++) ok = tni_map_at(&seen, o->param[i], &fresh) != NULL;
    for (int64_t i = 0; ok && i < params.n; i++) {
        tn_tensor *t = params.at[i];
        if (!t)
            ok = tni_nn_error(TN_INVALID, "params[%lld] is NULL", (long long)i);
        else if (tn_owners(t) == 0)
            ok = tn_retain(t) != NULL;
        else if (!tn_is_leaf(t))
            ok = tni_nn_error(TN_INVALID, "params[%lld] is not a leaf", (long long)i);
        else if (!tni_map_at(&seen, t, &fresh))
            ok = false;
        else if (!fresh)
            ok = tni_nn_error(TN_INVALID, "params[%lld] is already in the optimizer", (long long)i);
    }
    tni_map_free(&seen);
    return ok;
}

static bool optim_add(tn_optimizer *o, tn_tensors params, const char *args) {
    tni_group g = {NULL, 0, o->n, 0};
    if (!optim_check_params(o, params)) return false;
    g.options = optim_copy_options(o->row->gen, args, &g.bytes);
    if (!g.options) return false;
    if (tni_group_check(o, g.options) && optim_more_groups(o) && optim_grow(o, o->n + params.n)) {
        g.count = params.n;
        for (int64_t i = 0; i < params.n; i++) o->param[o->n++] = tn_retain(params.at[i]);
        o->group[o->ngroups++] = g;
        return true;
    }
    tn_alloc_free(g.options, (size_t)g.bytes);
    return false;
}

static int optim_count_names(const char *names) {
    int n = names && *names;
    for (; names && *names; names++) n += *names == ',';
    return n;
}

static tn_optimizer *optim_new(const tn_orow *row, const void *args) {
    const tn_param *p = row ? &row->gen->param[0] : NULL;
    tn_tensors params;
    tn_optimizer *o;
    if (!row || !args) {
        tni_nn_error(TN_INVALID, "no row or the arguments are NULL");
        return NULL;
    }
    memcpy(&params, (const char *)args + p->offset, sizeof params);
    o = (tn_optimizer *)tn_alloc(sizeof *o);
    if (!o) return NULL;
    memset(o, 0, sizeof *o);
    o->row = row;
    o->nstates = optim_count_names(row->state);
    o->nkept = optim_count_names(row->numbers);
    if (optim_add(o, params, (const char *)args)) return o;
    tn_optimizer_free(o);
    return NULL;
}

TN_API tn_optimizer *tn_optimizer_make(const char *file, int line, const tn_orow *row,
                                       const void *args) {
    tn_optimizer *o = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, row ? row->name : NULL);
    o = optim_new(row, args);
    tni_step_end(&step);
    return o;
}

TN_API void tn_optimizer_free(tn_optimizer *o) {
    if (!o || !tn_context_exists()) return;
    for (int64_t i = 0; i < o->n; i++) tn_release(o->param[i]);
    for (int64_t i = 0; i < o->n * o->nstates; i++) tn_release(o->state[i]);
    for (int g = 0; g < o->ngroups; g++)
        tn_alloc_free(o->group[g].options, (size_t)o->group[g].bytes);
    if (o->group) tn_alloc_free(o->group, (size_t)o->groups_room * sizeof *o->group);
    if (o->count) tn_alloc_free(o->count, (size_t)o->bytes);
    tn_alloc_free(o, sizeof *o);
}

TN_API int tn_optimizer_group_at(const char *file, int line, tn_optimizer *o, tn_tensors params,
                                 const tn_value *values, int nvalues) {
    tni_args args;
    tni_step step;
    bool ok;
    if (!tn_ok()) return -1;
    tni_step_begin(&step, file, line, o ? o->row->name : NULL);
    ok = o && o->row->gen->args_size <= sizeof args.at;
    if (!ok) tni_nn_error(TN_INVALID, "optimizer is NULL");
    if (ok) memcpy(args.at, o->group[0].options, o->row->gen->args_size);
    ok = ok &&
         (nvalues == 0 ||
          tn_bind(file, line, o->row->name, o->row->gen, values, nvalues, false, args.at)) &&
         optim_add(o, params, args.at);
    tni_step_end(&step);
    return ok ? o->ngroups - 1 : -1;
}

TN_API int tn_optimizer_groups(const tn_optimizer *o) { return o ? o->ngroups : 0; }

static const tn_param *optim_option(const tn_optimizer *o, int group, const char *name) {
    const tn_param *p = o && name && group >= 0 && group < o->ngroups
                            ? tn_param_named(o->row->gen, name, SIZE_MAX)
                            : NULL;
    if (!p)
        tni_nn_error(TN_INVALID, "option \"%s\" does not exist in group %d", name ? name : "",
                     group);
    return p;
}

static bool optim_is_number(const tn_param *p) {
    const unsigned type = tn_type_kept(p->type, p->flags);
    return type == TN_T_FLOAT || type == TN_T_INT || type == TN_T_BOOL;
}

TN_PRIV bool tni_option_put(const tn_param *p, char *options, double value) {
    const unsigned type = tn_type_kept(p->type, p->flags);
    if (!optim_is_number(p)) return tni_nn_error(TN_TYPE, "option \"%s\" is not a number", p->name);
    if (type == TN_T_FLOAT) return tn_param_set_number(p, options, tn_float(value));
    if (type == TN_T_BOOL && value != 0 && value != 1)
        return tni_nn_error(TN_INVALID, "%s is %g, expected 0 or 1", p->name, value);
    if (!tni_is_count(fabs(value)))
        return tni_nn_error(TN_INVALID, "%s is %g, expected an integer", p->name, value);
    return tn_param_set_number(p, options, tn_int((int64_t)value));
}

TN_PRIV bool tni_option_take(const tn_param *p, const char *options, double *value) {
    tn_scalar s;
    if (!optim_is_number(p) || !tn_param_number(p, options, &s)) return false;
    *value = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    return true;
}

static bool optim_set(tn_optimizer *o, int group, const char *option, double value) {
    const tn_param *p = optim_option(o, group, option);
    double before;
    if (!p) return false;
    if (!tni_option_take(p, o->group[group].options, &before))
        return tni_nn_error(TN_TYPE, "option \"%s\" is not a number", option);
    if (!tni_option_put(p, o->group[group].options, value)) return false;
    if (tni_group_check(o, o->group[group].options)) return true;
    tni_option_put(p, o->group[group].options, before);
    return false;
}

TN_API bool tn_optimizer_set_at(const char *file, int line, tn_optimizer *o, int group,
                                const char *option, double value) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    ok = optim_set(o, group, option, value);
    tni_step_end(&step);
    return ok;
}

TN_API double tn_optimizer_get_at(const char *file, int line, const tn_optimizer *o, int group,
                                  const char *option) {
    tni_step step;
    const tn_param *p;
    double value = (double)NAN;
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    p = optim_option(o, group, option);
    if (p && !tni_option_take(p, o->group[group].options, &value))
        tni_nn_error(TN_TYPE, "option \"%s\" is not a number", option);
    tni_step_end(&step);
    return value;
}

typedef struct optim_step {
    tn_ostep s;
    tn_tensor **param, **grad, **state[TN_OPTIM_STATES];
    const void **options;
    double *count, *kept[TN_OPTIM_KEPT], *number;
    bool *first;
    uint8_t *made;
    int64_t *index;
} optim_step;

static void optim_lay(tn_optimizer *o, optim_step *w) {
    char *at = (char *)o->step_room;
    int64_t n = o->n;
    w->number = (double *)(void *)at;
    w->count = w->number + TN_OPTIM_NUMBERS * n;
    for (int j = 0; j < o->nkept; j++) w->kept[j] = w->count + (1 + j) * n;
    w->index = (int64_t *)(void *)(w->count + (1 + o->nkept) * n);
    w->param = (tn_tensor **)(void *)(w->index + n);
    w->grad = w->param + n;
    w->options = (const void **)(void *)(w->grad + n);
    for (int k = 0; k < o->nstates; k++) w->state[k] = w->grad + (2 + k) * n;
    w->first = (bool *)(void *)(w->grad + (2 + o->nstates) * n);
    w->made = (uint8_t *)(w->first + n);
}

static void optim_collect(tn_optimizer *o, optim_step *w) {
    int64_t n = 0;
    for (int g = 0; g < o->ngroups; g++)
        for (int64_t i = o->group[g].first; i < o->group[g].first + o->group[g].count; i++) {
            tn_tensor *grad = tn_grad_of(o->param[i]);
            if (!grad) continue;
            w->param[n] = o->param[i];
            w->grad[n] = grad;
            w->options[n] = o->group[g].options;
            w->count[n] = o->count[i] + 1;
            for (int j = 0; j < o->nkept; j++) w->kept[j][n] = o->kept[i * o->nkept + j];
            w->index[n] = i;
            w->made[n] = 0;
            w->first[n++] = false;
        }
    w->s.n = n;
}

static tn_tensor *optim_begin(const tn_optimizer *o, const void *options, const tn_tensor *p,
                              int k) {
    return o->row->begin ? o->row->begin(options, p, k)
                         : tnp_zeros(tn_shape(p), tn_dtype_of(p), tn_device_of(p));
}

static bool optim_make_states(tn_optimizer *o, optim_step *w) {
    for (int64_t i = 0; i < w->s.n; i++) {
        uint32_t uses = o->row->uses ? o->row->uses(w->options[i]) : UINT32_MAX;
        for (int k = 0; k < o->nstates; k++) {
            tn_tensor **state = &o->state[w->index[i] * o->nstates + k];
            if (!*state && (uses >> k & 1)) {
                tn_tensor *t = optim_begin(o, w->options[i], w->param[i], k);
                if (!t && !tn_ok()) return false;
                w->state[k][i] = NULL;
                if (!t) continue;
                *state = tn_retain(t);
                w->made[i] = (uint8_t)(w->made[i] | 1u << k);
                w->first[i] = true;
            }
            w->state[k][i] = uses >> k & 1 ? *state : NULL;
        }
    }
    return true;
}

static void optim_drop_states(tn_optimizer *o, const optim_step *w) {
    for (int64_t i = 0; i < w->s.n; i++)
        for (int k = 0; k < o->nstates; k++) {
            tn_tensor **state = &o->state[w->index[i] * o->nstates + k];
            if (!(w->made[i] >> k & 1)) continue;
            tn_release(*state);
            *state = NULL;
        }
}

static bool optim_step_run(tn_optimizer *o) {
    optim_step w;
    bool ok;
    memset(&w, 0, sizeof w);
    optim_lay(o, &w);
    optim_collect(o, &w);
    if (w.s.n == 0) return true;
    w.s.optimizer = o;
    w.s.param = w.param;
    w.s.grad = w.grad;
    w.s.options = w.options;
    w.s.number = w.number;
    w.s.first = w.first;
    w.s.count = o->row->counts ? w.count : NULL;
    for (int k = 0; k < o->nstates; k++) w.s.state[k] = w.state[k];
    for (int j = 0; j < o->nkept; j++) w.s.kept[j] = w.kept[j];
    ok = optim_make_states(o, &w) && o->row->step(&w.s);
    if (!ok && tn_ok()) tni_nn_error(TN_INTERNAL, "the step failed without setting an error");
    if (!ok) optim_drop_states(o, &w);
    for (int64_t i = 0; ok && i < w.s.n; i++) {
        o->count[w.index[i]] = w.count[i];
        for (int j = 0; j < o->nkept; j++)
            o->kept[w.index[i] * o->nkept + j] = (float)w.kept[j][i];
    }
    return ok;
}

TN_API bool tn_optimizer_step_at(const char *file, int line, tn_optimizer *o) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, o ? o->row->name : NULL);
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = o ? optim_step_run(o) : tni_nn_error(TN_INVALID, "optimizer is NULL");
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_optimizer_zero_grad(tn_optimizer *o) {
    for (int64_t i = 0; o && i < o->n; i++) tn_zero_grad(o->param[i]);
}

/* src/optim/state.c - an optimizer's state as named tensors, out and in */

#include <math.h>
#include <stdlib.h>

typedef struct dict_entry {
    int64_t name;
    tn_tensor *tensor;
} dict_entry;
typedef struct dict_list {
    tni_buffer names, entries;
    bool failed;
} dict_list;

static void dict_add(dict_list *d, tn_tensor *t, const char *kind, int64_t number, tni_span name) {
    dict_entry e = {d->names.n, t};
    tni_buffer_text(&d->names, "%s.%lld.%.*s", kind, (long long)number, name.n, name.at);
    tni_buffer_add(&d->names, "", 1);
    if (!t || d->failed || d->names.failed || !tni_buffer_add(&d->entries, &e, sizeof e))
        d->failed = true;
    else
        tn_retain(t);
}

static tni_span dict_span(const char *text) {
    tni_span s = {text, (int)strlen(text)};
    return s;
}

static tni_span dict_state_name(const char *names, int k) {
    tni_span list = dict_span(names), item = {NULL, 0};
    while (tni_item_next(&list, &item) && k-- > 0) continue;
    return item;
}

static void dict_add_number(dict_list *d, double value, int64_t i, tni_span name) {
    const float number = (float)value;
    dict_add(d, tnp_from(&number, tn_empty_dims(), TN_F32, TN_CPU), "state", i, name);
}

static void dict_add_states(dict_list *d, const tn_optimizer *o) {
    for (int64_t i = 0; i < o->n; i++) {
        if (o->row->counts && o->count[i] > 0)
            dict_add_number(d, o->count[i], i, dict_span("step"));
        for (int j = 0; j < o->nkept; j++)
            if (!isnan(o->kept[i * o->nkept + j]))
                dict_add_number(d, o->kept[i * o->nkept + j], i,
                                dict_state_name(o->row->numbers, j));
        for (int k = 0; k < o->nstates; k++) {
            tn_tensor *state = o->state[i * o->nstates + k];
            if (state) dict_add(d, state, "state", i, dict_state_name(o->row->state, k));
        }
    }
}

static void dict_add_option(dict_list *d, const tn_param *p, const char *options, int g) {
    tn_scalar s;
    tn_floats list;
    tn_tensor *t = NULL;
    if (p->type == TN_T_FLOATS) {
        memcpy(&list, options + p->offset, sizeof list);
        t = tnp_from(list.at, tn_ints_of(&list.n, 1), TN_F64, TN_CPU);
    } else if (!tn_param_number(p, options, &s)) {
        return;
    } else if (s.kind == TN_KIND_FLOAT) {
        t = tnp_from(&s.real, tn_empty_dims(), TN_F64, TN_CPU);
    } else if (s.kind != TN_KIND_NONE || TN_TYPES_CODE >> p->type & 1) {
        t = tnp_from(&s.integer, tn_empty_dims(), TN_I64, TN_CPU);
    } else {
        return;
    }
    dict_add(d, t, "group", g, dict_span(p->name));
}

static tn_named_list dict_list_of(const dict_list *d) {
    tn_named_list list = {NULL, 0, 0, true};
    int64_t n = d->entries.n / (int64_t)sizeof(dict_entry);
    const dict_entry *e = (const dict_entry *)(const void *)d->entries.at;
    list.bytes = n * (int64_t)sizeof *list.at + d->names.n;
    list.n = -1;
    if (!d->failed) list.at = (tn_named *)tn_alloc((size_t)list.bytes + 1);
    list.bytes++;
    if (!list.at) {
        for (int64_t i = 0; i < n; i++) tn_release(e[i].tensor);
        return list;
    }
    memcpy(list.at + n, d->names.at, (size_t)d->names.n);
    for (int64_t i = 0; i < n; i++) {
        list.at[i].name = (const char *)(list.at + n) + e[i].name;
        list.at[i].tensor = e[i].tensor;
    }
    list.n = n;
    return list;
}

static tn_named_list dict_of(const tn_optimizer *o) {
    tn_named_list list = {NULL, -1, 0, true};
    dict_list d;
    int64_t mark;
    if (!o) {
        tni_nn_error(TN_INVALID, "optimizer is NULL");
        return list;
    }
    memset(&d, 0, sizeof d);
    mark = tn_scope_begin();
    dict_add_states(&d, o);
    for (int g = 0; g < o->ngroups; g++)
        for (int i = 0; i < o->row->gen->nparam; i++)
            dict_add_option(&d, &o->row->gen->param[i], o->group[g].options, g);
    list = dict_list_of(&d);
    tni_buffer_free(&d.names);
    tni_buffer_free(&d.entries);
    tn_scope_end(mark);
    return list;
}

TN_API tn_named_list tn_optimizer_state_dict_at(const char *file, int line, const tn_optimizer *o) {
    tn_named_list list = {NULL, -1, 0, true};
    tni_step step;
    if (!tn_ok()) return list;
    tni_place_begin(&step, file, line);
    list = dict_of(o);
    tni_step_end(&step);
    return list;
}

static bool dict_begin(tni_optimizer_plan *l, tn_optimizer *o) {
    size_t pointers = (size_t)(o->n * o->nstates) + (size_t)o->ngroups;
    memset(l, 0, sizeof *l);
    l->o = o;
    l->bytes = pointers * sizeof(void *) + (size_t)(o->n * (1 + o->nkept) + 1) * sizeof(double);
    l->count = (double *)tn_alloc(l->bytes);
    if (!l->count) return false;
    memset(l->count, 0, l->bytes);
    l->kept = l->count + o->n;
    for (int64_t i = 0; i < o->n * o->nkept; i++) l->kept[i] = (double)NAN;
    l->state = (tn_tensor **)(void *)(l->kept + o->n * o->nkept + 1);
    l->options = (char **)(void *)(l->state + o->n * o->nstates);
    for (int g = 0; g < o->ngroups; g++) {
        l->options[g] = (char *)tn_alloc((size_t)o->group[g].bytes);
        if (!l->options[g]) return false;
        memcpy(l->options[g], o->group[g].options, (size_t)o->group[g].bytes);
        tn_args_move(o->row->gen, l->options[g], o->group[g].options, o->group[g].bytes,
                     l->options[g]);
    }
    return true;
}

TN_PRIV void tni_optimizer_plan_end(tni_optimizer_plan *l, bool commit) {
    tn_optimizer *o = l->o;
    if (!l->count) return;
    for (int64_t i = 0; i < o->n * o->nstates; i++) {
        tn_tensor *old = commit ? o->state[i] : l->state[i];
        if (commit) o->state[i] = l->state[i];
        tn_release(old);
    }
    for (int64_t i = 0; commit && i < o->n; i++) o->count[i] = l->count[i];
    for (int64_t i = 0; commit && i < o->n * o->nkept; i++) o->kept[i] = l->kept[i];
    for (int g = 0; g < o->ngroups; g++) {
        char *old = commit ? o->group[g].options : l->options[g];
        if (commit) o->group[g].options = l->options[g];
        if (old) tn_alloc_free(old, (size_t)o->group[g].bytes);
    }
    tn_alloc_free(l->count, l->bytes);
}

static const char *dict_number(const char *name, const char *prefix, int64_t limit,
                               int64_t *number) {
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9') return NULL;
    *number = (int64_t)strtoll(name + n, &end, 10);
    return *end == '.' && *number >= 0 && *number < limit ? end + 1 : NULL;
}

static bool dict_load_number(tni_optimizer_plan *l, int64_t i, const char *name, const tn_named *e,
                             bool *is) {
    tn_optimizer *o = l->o;
    double *to = o->row->counts && strcmp(name, "step") == 0 ? &l->count[i] : NULL;
    for (int j = 0; !to && j < o->nkept; j++)
        if (tni_span_is(dict_state_name(o->row->numbers, j), name)) to = &l->kept[i * o->nkept + j];
    *is = to != NULL;
    if (!to) return true;
    if (tn_numel(e->tensor) != 1)
        return tni_nn_error(TN_INVALID, "%s: expected one number", e->name);
    *to = tn_item(e->tensor);
    return to != &l->count[i] || tni_is_count(*to) ||
           tni_nn_error(TN_INVALID, "%s is %g, expected a number of steps", e->name, *to);
}

static const tn_tensor *dict_state_like(const tn_optimizer *o, int64_t i, int k) {
    const tn_tensor *like = o->param[i];
    for (int g = 0; o->row->begin && g < o->ngroups; g++)
        if (i >= o->group[g].first && i < o->group[g].first + o->group[g].count)
            like = o->row->begin(o->group[g].options, o->param[i], k);
    if (!like && tn_ok())
        tni_nn_error(TN_INVALID, "parameter %lld has no such state", (long long)i);
    return like;
}

static bool dict_load_state(tni_optimizer_plan *l, int64_t i, const char *name, const tn_named *e) {
    tn_optimizer *o = l->o;
    tn_ints b = tn_shape(e->tensor);
    tn_tensor *t;
    for (int k = 0; k < o->nstates; k++) {
        tn_tensor **to = &l->state[i * o->nstates + k];
        if (!tni_span_is(dict_state_name(o->row->state, k), name)) continue;
        if (*to) return tni_nn_error(TN_INVALID, "%s appears twice", e->name);
        const tn_tensor *like = dict_state_like(o, i, k);
        if (!like) return false;
        tn_ints a = tn_shape(like);
        if (a.n != b.n || (a.n && memcmp(a.at, b.at, (size_t)a.n * sizeof *a.at) != 0))
            return tni_nn_error(TN_INVALID, "%s: the shape is not that of the parameter's state",
                                e->name);
        t = e->tensor;
        if (!l->take || tn_dtype_of(t) != tn_dtype_of(o->param[i]) ||
            tn_device_of(t) != tn_device_of(o->param[i])) {
            t = tnp_empty(a, tn_dtype_of(o->param[i]), tn_device_of(o->param[i]));
            if (!t || !tnp_copy_(t, e->tensor)) return false;
        }
        *to = tn_retain(t);
        return true;
    }
    return tni_nn_error(TN_INVALID, "%s: the optimizer has no such state", e->name);
}

static bool dict_load_value(const tn_param *p, char *options, const tn_named *e) {
    tn_floats list;
    int words = 0;
    double value;
    if (p->type == TN_T_FLOATS) {
        memcpy(&list, options + p->offset, sizeof list);
        return tn_read_f64(e->tensor, (double *)(uintptr_t)list.at, list.n);
    }
    if (tn_numel(e->tensor) != 1)
        return tni_nn_error(TN_INVALID, "%s: expected one number", e->name);
    value = tn_item(e->tensor);
    if (p->flags & TN_P_MAYBE) return tn_param_set_number(p, options, tn_float(value));
    if (p->type != TN_T_ENUM) return tni_option_put(p, options, value);
    while (p->words && p->words[words]) words++;
    return (tni_is_count(value) &&
            tn_param_set_number(p, options, value == 0 ? tn_none() : tn_int((int64_t)value))) ||
           tni_nn_error(TN_INVALID, "%s is %g, expected the number of a value, 1 to %d", e->name,
                        value, words);
}

static bool dict_load_option(tni_optimizer_plan *l, int64_t g, const char *name,
                             const tn_named *e) {
    const tn_param *p = tn_param_named(l->o->row->gen, name, SIZE_MAX);
    return p ? dict_load_value(p, l->options[g], e)
             : tni_nn_error(TN_INVALID, "%s: the optimizer has no such option", e->name);
}

static bool dict_load_each(tni_optimizer_plan *l, const tn_named *at, int64_t n) {
    if (n < 0 || (n && !at)) return tni_nn_error(TN_INVALID, "expected a list of named tensors");
    for (int64_t i = 0; i < n; i++) {
        int64_t number;
        const char *name;
        if (!at[i].name || !at[i].tensor)
            return tni_nn_error(TN_INVALID, "entry %lld has no name or no tensor", (long long)i);
        if ((name = dict_number(at[i].name, "state.", l->o->n, &number)) != NULL) {
            bool is;
            if (!dict_load_number(l, number, name, &at[i], &is)) return false;
            if (!is && !dict_load_state(l, number, name, &at[i])) return false;
        } else if ((name = dict_number(at[i].name, "group.", l->o->ngroups, &number)) != NULL) {
            if (!dict_load_option(l, number, name, &at[i])) return false;
        } else {
            return tni_nn_error(TN_INVALID, "%s: the optimizer has no such parameter or group",
                                at[i].name);
        }
    }
    for (int g = 0; g < l->o->ngroups; g++)
        if (!tni_group_check(l->o, l->options[g])) return false;
    return tn_ok();
}

TN_PRIV bool tni_optimizer_plan_load(tni_optimizer_plan *l, tn_optimizer *o, const tn_named *at,
                                     int64_t n, bool take) {
    if (!dict_begin(l, o)) return false;
    l->take = take;
    return dict_load_each(l, at, n);
}

TN_API bool tn_optimizer_load_at(const char *file, int line, tn_optimizer *o, const tn_named *at,
                                 int64_t n) {
    tni_optimizer_plan l;
    tni_step step;
    int64_t mark;
    bool ok = o && n >= 0 && (at || !n), mode;
    if (!tn_ok()) return false;
    memset(&l, 0, sizeof l);
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    if (!ok) tni_nn_error(TN_INVALID, "expected an optimizer and a list of tensors");
    ok = ok && tni_optimizer_plan_load(&l, o, at, n, false);
    tni_optimizer_plan_end(&l, ok);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

/* src/optim/rules.c - what optimizers that step by fused_step share */

TN_PRIV bool tni_option_bound(double value, const char *name) {
    return value >= 0 ||
           tni_nn_error(TN_INVALID, "%s is %g, but must not be negative", name, value);
}

TN_PRIV double *tni_step_factors(const tn_ostep *s, int64_t i, int factors, bool maximize,
                                 double decay) {
    double *to = s->number + i * factors;
    to[0] = maximize;
    to[1] = decay;
    to[2] = 1;
    return to;
}

TN_PRIV bool tni_step_by_rule(const tn_ostep *s, tn_optimizer_rule rule, int factors) {
    tn_tensors state[3];
    for (int k = 0; k < 3; k++) state[k] = tn_tensors_of(s->state[k], s->state[k] ? s->n : 0);
    return tnp_fused_step_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n), state[0],
                           state[1], state[2], rule, tni_numbers(s->number, s->n * factors));
}

/* src/optim/adam.c - Adam (Kingma, Ba, 2015) and AdamW (Loshchilov, Hutter, 2019), as torch.optim */

typedef struct adam_view {
    double lr, beta1, beta2, eps, weight_decay;
    bool amsgrad, maximize;
} adam_view;
#define ADAM_OPTIONS(name)                                                         \
    static adam_view name##_options(const void *options) {                         \
        const tn_optim_##name##_args *o = (const tn_optim_##name##_args *)options; \
        adam_view a = {o->lr,           o->betas.at[0], o->betas.at[1], o->eps,    \
                       o->weight_decay, o->amsgrad,     o->maximize};              \
        return a;                                                                  \
    }
ADAM_OPTIONS(adam)
ADAM_OPTIONS(adamw)
#undef ADAM_OPTIONS

static bool adam_check_options(adam_view o) {
    if (!(o.lr >= 0)) return tni_nn_error(TN_INVALID, "lr is %g, but must not be negative", o.lr);
    if (!(o.eps >= 0))
        return tni_nn_error(TN_INVALID, "eps is %g, but must not be negative", o.eps);
    if (!(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1))
        return tni_nn_error(TN_INVALID, "betas are %g and %g, expected values in [0, 1)", o.beta1,
                            o.beta2);
    return o.weight_decay >= 0 ||
           tni_nn_error(TN_INVALID, "weight_decay is %g, but must not be negative", o.weight_decay);
}

enum {
    ADAM_STEP,
    ADAM_LR,
    ADAM_BETA1,
    ADAM_BETA2,
    ADAM_EPS,
    ADAM_DECAY,
    ADAM_AMSGRAD,
    ADAM_MAXIMIZE,
    ADAM_LISTS
};
static void adam_lists(const tn_ostep *s, adam_view (*of)(const void *options),
                       tn_floats list[ADAM_LISTS]) {
    for (int k = 0; k < ADAM_LISTS; k++) list[k] = tni_numbers(s->number + k * s->n, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        adam_view o = of(s->options[i]);
        double *to = s->number + i;
        to[ADAM_STEP * s->n] = s->count[i];
        to[ADAM_LR * s->n] = o.lr;
        to[ADAM_BETA1 * s->n] = o.beta1;
        to[ADAM_BETA2 * s->n] = o.beta2;
        to[ADAM_EPS * s->n] = o.eps;
        to[ADAM_DECAY * s->n] = o.weight_decay;
        to[ADAM_AMSGRAD * s->n] = o.amsgrad;
        to[ADAM_MAXIMIZE * s->n] = o.maximize;
    }
}

#define ADAM_ROW(name, operator_)                                                            \
    static bool name##_check(const void *options) {                                          \
        return adam_check_options(name##_options(options));                                  \
    }                                                                                        \
    static uint32_t name##_uses(const void *options) {                                       \
        return name##_options(options).amsgrad ? 7u : 3u;                                    \
    }                                                                                        \
    static bool name##_step(tn_ostep *s) {                                                   \
        tn_floats l[ADAM_LISTS];                                                             \
        adam_lists(s, name##_options, l);                                                    \
        return operator_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n),        \
                         tn_tensors_of(s->state[0], s->n), tn_tensors_of(s->state[1], s->n), \
                         tn_tensors_of(s->state[2], s->n), l[ADAM_STEP], l[ADAM_LR],         \
                         l[ADAM_BETA1], l[ADAM_BETA2], l[ADAM_EPS], l[ADAM_DECAY],           \
                         l[ADAM_AMSGRAD], l[ADAM_MAXIMIZE]);                                 \
    }

ADAM_ROW(adam, tnp_fused_adam_)
TN_OPTIMIZER(adam,
             "Adam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, "
             "bool amsgrad=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq, max_exp_avg_sq", .check = adam_check, .uses = adam_uses,
             .step = adam_step, .counts = true)

ADAM_ROW(adamw, tnp_fused_adamw_)
TN_OPTIMIZER(
    adamw,
    "AdamW(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
    "float weight_decay=0.01, "
    "bool amsgrad=False, *, bool maximize=False)",
    TN_DOC(.example = "tn_optim_adamw(tn_parameters(net), .lr = 1e-3, .weight_decay = 0.1)"),
    .state = "exp_avg, exp_avg_sq, max_exp_avg_sq", .check = adamw_check, .uses = adamw_uses,
    .step = adamw_step, .counts = true)

#undef ADAM_ROW

/* src/optim/sgd.c - stochastic gradient descent with momentum (torch.optim.SGD) */

static bool sgd_check(const void *options) {
    const tn_optim_sgd_args *o = (const tn_optim_sgd_args *)options;
    if (!(o->lr >= 0)) return tni_nn_error(TN_INVALID, "lr is %g, but must not be negative", o->lr);
    if (!(o->momentum >= 0))
        return tni_nn_error(TN_INVALID, "momentum is %g, but must not be negative", o->momentum);
    if (!(o->weight_decay >= 0))
        return tni_nn_error(TN_INVALID, "weight_decay is %g, but must not be negative",
                            o->weight_decay);
    if (o->nesterov && (o->momentum <= 0 || o->dampening != 0))
        return tni_nn_error(TN_INVALID, "nesterov needs a momentum and zero dampening");
    return true;
}
static uint32_t sgd_uses(const void *options) {
    return ((const tn_optim_sgd_args *)options)->momentum != 0;
}
static bool sgd_step(tn_ostep *s) {
    double *lr = s->number, *momentum = lr + s->n, *dampening = momentum + s->n,
           *decay = dampening + s->n;
    double *nesterov = decay + s->n, *maximize = nesterov + s->n, *first = maximize + s->n;
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_sgd_args *o = (const tn_optim_sgd_args *)s->options[i];
        lr[i] = o->lr;
        momentum[i] = o->momentum;
        dampening[i] = o->dampening;
        decay[i] = o->weight_decay;
        nesterov[i] = o->nesterov;
        maximize[i] = o->maximize;
        first[i] = s->first[i];
    }
    return tnp_fused_sgd_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n),
                          tn_tensors_of(s->state[0], s->n), tni_numbers(lr, s->n),
                          tni_numbers(momentum, s->n), tni_numbers(dampening, s->n),
                          tni_numbers(decay, s->n), tni_numbers(nesterov, s->n),
                          tni_numbers(maximize, s->n), tni_numbers(first, s->n));
}
TN_OPTIMIZER(sgd,
             "SGD(Tensor[] params, float lr=0.001, float momentum=0.0, float dampening=0.0, float "
             "weight_decay=0.0, "
             "bool nesterov=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_sgd(tn_parameters(net), .lr = 0.1, .momentum = 0.9)"),
             .state = "momentum_buffer", .check = sgd_check, .uses = sgd_uses, .step = sgd_step)

/* src/optim/squares.c - Adagrad (J */

#include <math.h>

static bool adagrad_check(const void *options) {
    const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)options;
    return tni_option_bound(o->lr, "lr") && tni_option_bound(o->lr_decay, "lr_decay") &&
           tni_option_bound(o->weight_decay, "weight_decay") &&
           tni_option_bound(o->initial_accumulator_value, "initial_accumulator_value") &&
           tni_option_bound(o->eps, "eps");
}
static tn_tensor *adagrad_begin(const void *options, const tn_tensor *p, int k) {
    const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)options;
    (void)k;
    return tnp_full(tn_shape(p), tn_float(o->initial_accumulator_value), tn_dtype_of(p),
                    tn_device_of(p));
}
static bool adagrad_step(tn_ostep *s) {
    enum { FACTORS = 5 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -(o->lr / (1 + fma(s->count[i] - 1, o->lr_decay, 0)));
        to[4] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADAGRAD, FACTORS);
}
TN_OPTIMIZER(adagrad,
             "Adagrad(Tensor[] params, float lr=0.01, float lr_decay=0.0, float weight_decay=0.0, "
             "float initial_accumulator_value=0.0, float eps=1e-10, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adagrad(tn_parameters(net), .lr = 0.05)"), .state = "sum",
             .check = adagrad_check, .begin = adagrad_begin, .step = adagrad_step, .counts = true)

static bool rmsprop_check(const void *options) {
    const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)options;
    return tni_option_bound(o->lr, "lr") && tni_option_bound(o->eps, "eps") &&
           tni_option_bound(o->momentum, "momentum") &&
           tni_option_bound(o->weight_decay, "weight_decay") && tni_option_bound(o->alpha, "alpha");
}
static uint32_t rmsprop_uses(const void *options) {
    const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)options;
    return 1u | (o->momentum > 0 ? 2u : 0) | (o->centered ? 4u : 0);
}
static bool rmsprop_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -o->lr;
        to[4] = o->alpha;
        to[5] = o->eps;
        to[6] = o->momentum;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RMSPROP, FACTORS);
}
TN_OPTIMIZER(
    rmsprop,
    "RMSprop(Tensor[] params, float lr=0.01, float alpha=0.99, float eps=1e-08, float "
    "weight_decay=0.0, float momentum=0.0, bool centered=False, bool maximize=False)",
    TN_DOC(.example = "tn_optim_rmsprop(tn_parameters(net), .lr = 1e-3, .centered = true)"),
    .state = "square_avg, momentum_buffer, grad_avg", .check = rmsprop_check, .uses = rmsprop_uses,
    .step = rmsprop_step, .counts = true)

static bool adadelta_check(const void *options) {
    const tn_optim_adadelta_args *o = (const tn_optim_adadelta_args *)options;
    if (!(o->rho >= 0 && o->rho <= 1))
        return tni_nn_error(TN_INVALID, "rho is %g, expected a value in [0, 1]", o->rho);
    return tni_option_bound(o->lr, "lr") && tni_option_bound(o->eps, "eps") &&
           tni_option_bound(o->weight_decay, "weight_decay");
}
static bool adadelta_step(tn_ostep *s) {
    enum { FACTORS = 6 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adadelta_args *o = (const tn_optim_adadelta_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -o->lr;
        to[4] = o->rho;
        to[5] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADADELTA, FACTORS);
}
TN_OPTIMIZER(adadelta,
             "Adadelta(Tensor[] params, float lr=1.0, float rho=0.9, float eps=1e-06, float "
             "weight_decay=0.0, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adadelta(tn_parameters(net))"),
             .state = "square_avg, acc_delta", .check = adadelta_check, .step = adadelta_step,
             .counts = true)

/* src/optim/moments.c - relatives of Adam: Adamax (D */

#include <math.h>

static bool moments_check(double lr, tn_floats betas, double eps, double decay) {
    if (!(betas.at[0] >= 0 && betas.at[0] < 1 && betas.at[1] >= 0 && betas.at[1] < 1))
        return tni_nn_error(TN_INVALID, "betas are %g and %g, expected values in [0, 1)",
                            betas.at[0], betas.at[1]);
    return tni_option_bound(lr, "lr") && tni_option_bound(eps, "eps") &&
           tni_option_bound(decay, "weight_decay");
}
static void moments_decay(double *to, double lr, double decay, bool decoupled) {
    if (!decoupled || decay == 0) return;
    to[1] = 0;
    to[2] = 1 - fma(lr, decay, 0);
}

static bool adamax_check(const void *options) {
    const tn_optim_adamax_args *o = (const tn_optim_adamax_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay);
}
static bool adamax_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adamax_args *o = (const tn_optim_adamax_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -(o->lr / (1 - pow(o->betas.at[0], s->count[i])));
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADAMAX, FACTORS);
}
TN_OPTIMIZER(adamax,
             "Adamax(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float "
             "eps=1e-08, float weight_decay=0.0, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adamax(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_inf", .check = adamax_check, .step = adamax_step,
             .counts = true)

static bool nadam_check(const void *options) {
    const tn_optim_nadam_args *o = (const tn_optim_nadam_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay) &&
           tni_option_bound(o->momentum_decay, "momentum_decay");
}
static double nadam_momentum(const tn_optim_nadam_args *o, double t) {
    return o->betas.at[0] * (1 - 0.5 * pow(0.96, fma(t, o->momentum_decay, 0)));
}
static bool nadam_step(tn_ostep *s) {
    enum { FACTORS = 9 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_nadam_args *o = (const tn_optim_nadam_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        const double t = s->count[i], now = nadam_momentum(o, t), next = nadam_momentum(o, t + 1);
        double *product = &s->kept[0][i];
        *product = isnan(*product) ? (float)now : (float)*product * (float)now;
        moments_decay(to, o->lr, o->weight_decay, o->decoupled_weight_decay);
        to[3] = -o->lr * (1 - now) / (1 - *product);
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
        to[7] = -o->lr * next / (1 - fma(*product, next, 0));
        to[8] = 1 - pow(o->betas.at[1], t);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_NADAM, FACTORS);
}
TN_OPTIMIZER(nadam,
             "NAdam(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, float momentum_decay=0.004, bool "
             "decoupled_weight_decay=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_nadam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq", .numbers = "mu_product", .check = nadam_check,
             .step = nadam_step, .counts = true)

static bool radam_check(const void *options) {
    const tn_optim_radam_args *o = (const tn_optim_radam_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay);
}
static double radam_rectifier(double beta2, double t, double corrected) {
    const double most = 2 / (1 - beta2) - 1, now = most - 2 * t * pow(beta2, t) / corrected;
    if (!(now > 5)) return 0;
    return sqrt((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now));
}
static bool radam_step(tn_ostep *s) {
    enum { FACTORS = 10 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_radam_args *o = (const tn_optim_radam_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        const double t = s->count[i], corrected = 1 - pow(o->betas.at[1], t);
        moments_decay(to, o->lr, o->weight_decay, o->decoupled_weight_decay);
        to[3] = o->lr;
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
        to[7] = 1 - pow(o->betas.at[0], t);
        to[8] = sqrt(corrected);
        to[9] = radam_rectifier(o->betas.at[1], t, corrected);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RADAM, FACTORS);
}
TN_OPTIMIZER(radam,
             "RAdam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, bool decoupled_weight_decay=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_radam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq", .check = radam_check, .step = radam_step,
             .counts = true)

/* src/optim/averages.c - ASGD, stochastic gradient descent whose parameters are averaged (B */

#include <math.h>

static bool asgd_check(const void *options) {
    const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)options;
    return tni_option_bound(o->lr, "lr") && tni_option_bound(o->lambd, "lambd") &&
           tni_option_bound(o->alpha, "alpha") && tni_option_bound(o->weight_decay, "weight_decay");
}
static bool asgd_step(tn_ostep *s) {
    enum { FACTORS = 5 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        double *eta = &s->kept[0][i], *mu = &s->kept[1][i];
        const double t = s->count[i];
        if (isnan(*eta)) *eta = (float)o->lr;
        to[2] = 1 - fma(o->lambd, *eta, 0);
        to[3] = -*eta;
        to[4] = isnan(*mu) ? 1 : *mu;
        *eta = o->lr / pow(1 + fma(o->lambd * o->lr, t, 0), o->alpha);
        *mu = 1 / fmax(1, t - o->t0);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ASGD, FACTORS);
}
TN_OPTIMIZER(asgd,
             "ASGD(Tensor[] params, float lr=0.01, float lambd=0.0001, float alpha=0.75, float "
             "t0=1000000.0, float weight_decay=0.0, bool maximize=False)",
             TN_DOC(.example = "tn_optim_asgd(tn_parameters(net), .lr = 0.05)"), .state = "ax",
             .numbers = "eta, mu", .check = asgd_check, .step = asgd_step, .counts = true)

static bool rprop_check(const void *options) {
    const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)options;
    const double below = o->etas.at[0], above = o->etas.at[1];
    if (!(below > 0 && below < 1 && above > 1))
        return tni_nn_error(TN_INVALID, "etas are %g and %g, expected values in (0, 1) and above 1",
                            below, above);
    return tni_option_bound(o->lr, "lr");
}
static tn_tensor *rprop_begin(const void *options, const tn_tensor *p, int k) {
    const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)options;
    return tnp_full(tn_shape(p), tn_float(k == 1 ? o->lr : 0), tn_dtype_of(p), tn_device_of(p));
}
static bool rprop_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, 0);
        to[3] = o->etas.at[0];
        to[4] = o->etas.at[1];
        to[5] = o->step_sizes.at[0];
        to[6] = o->step_sizes.at[1];
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RPROP, FACTORS);
}
TN_OPTIMIZER(rprop,
             "Rprop(Tensor[] params, float lr=0.01, float[2] etas=[0.5, 1.2], float[2] "
             "step_sizes=[1e-06, 50.0], *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_rprop(tn_parameters(net))"), .state = "prev, step_size",
             .check = rprop_check, .begin = rprop_begin, .step = rprop_step, .counts = true)

/* src/optim/clip.c - clipping of gradients by their common norm, with torch's arithmetic */

#include <math.h>

static tn_tensor *clip_norm(tn_tensors params, double order, int64_t *n) {
    tn_tensor **grads = (tn_tensor **)tni_alloc_each(params.n, sizeof *grads), *total = NULL;
    *n = 0;
    for (int64_t i = 0; grads && i < params.n; i++) {
        tn_tensor *grad = tn_grad_of(params.at[i]);
        if (grad) grads[(*n)++] = grad;
    }
    if (*n) total = tnp_total_norm(tn_tensors_of(grads, *n), order);
    if (grads) tn_alloc_free(grads, (size_t)params.n * sizeof *grads);
    return total;
}

static double clip_factor(const tn_tensor *total, double max_norm) {
    double norm = tn_item(total), factor;
    if (tn_dtype_of(total) == TN_F64) {
        factor = 1.0 / (norm + 1e-6) * max_norm;
    } else {
        float sum = (float)norm + 1e-6f, once = 1.0f / sum;
        float product = once * (float)max_norm;
        factor = (double)product;
    }
    return factor > 1 ? 1 : factor;
}

static double clip_run(tn_tensors params, double max_norm, double order) {
    int64_t n;
    tn_tensor *total;
    double factor;
    if (params.n < 0 || (params.n && !params.at))
        return tni_nn_error(TN_INVALID, "expected a list of parameters"), (double)NAN;
    if (!(max_norm >= 0) || order != order)
        return tni_nn_error(TN_INVALID,
                            "max_norm must be 0 or more, and norm_type must not be NaN"),
               (double)NAN;
    total = clip_norm(params, order, &n);
    if (!total) return n == 0 && tn_ok() ? 0 : (double)NAN;
    factor = clip_factor(total, max_norm);
    if (!tn_whole_begin()) return (double)NAN;
    for (int64_t i = 0; i < params.n && tn_ok(); i++) {
        tn_tensor *grad = tn_grad_of(params.at[i]);
        if (grad) tnp_mul_scalar_(grad, tn_float(factor));
    }
    tn_whole_end();
    return tn_ok() ? tn_item(total) : (double)NAN;
}

TN_API double tn_nn_clip_grad_norm_at(const char *file, int line, tn_tensors params,
                                      double max_norm, double norm_type) {
    tni_step step;
    int64_t mark;
    double norm;
    bool mode;
    if (!tn_ok()) return (double)NAN;
    tni_step_begin(&step, file, line, "nn_clip_grad_norm");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    norm = clip_run(params, max_norm, norm_type);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return norm;
}

/* src/optim/schedule.c - learning rates that change, by torch's recursive formulas (torch/optim/lr_scheduler.py), in double */

#include <math.h>

typedef double (*schedule_fn)(const tn_schedule *s, int group, double lr);

struct tn_schedule {
    tn_optimizer *o;
    schedule_fn next;
    int64_t count, every;
    double gamma, eta_min;
    double (*factor)(int64_t step, void *user);
    void *user;
    int ngroups;
    double *initial;
    double *rate;
};

static tn_schedule *schedule_make(tn_optimizer *o, schedule_fn next) {
    tn_schedule *s;
    size_t bytes;
    if (!o) {
        tni_nn_error(TN_INVALID, "optimizer is NULL");
        return NULL;
    }
    bytes = sizeof *s + 2 * (size_t)o->ngroups * sizeof(double);
    s = (tn_schedule *)tn_alloc(bytes);
    if (!s) return NULL;
    memset(s, 0, bytes);
    s->o = o;
    s->next = next;
    s->ngroups = o->ngroups;
    s->initial = (double *)(void *)(s + 1);
    s->rate = s->initial + s->ngroups;
    for (int g = 0; g < s->ngroups; g++) s->initial[g] = tn_optimizer_get_at(NULL, 0, o, g, "lr");
    if (tn_ok()) return s;
    tn_schedule_free(s);
    return NULL;
}

static tn_schedule *schedule_new(const char *file, int line, const char *name, tn_optimizer *o,
                                 schedule_fn next, const char *bad) {
    tn_schedule *s = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, name);
    if (bad)
        tni_nn_error(TN_INVALID, "%s", bad);
    else
        s = schedule_make(o, next);
    tni_step_end(&step);
    return s;
}

static bool schedule_rates(tn_schedule *s) {
    for (int g = 0; g < s->ngroups; g++) {
        double lr = tn_optimizer_get_at(NULL, 0, s->o, g, "lr");
        s->rate[g] = s->next(s, g, lr);
        if (!tn_optimizer_set_at(NULL, 0, s->o, g, "lr", s->rate[g]) ||
            !tn_optimizer_set_at(NULL, 0, s->o, g, "lr", lr))
            return false;
    }
    for (int g = 0; g < s->ngroups; g++) tn_optimizer_set_at(NULL, 0, s->o, g, "lr", s->rate[g]);
    return tn_ok();
}

TN_API void tn_schedule_free(tn_schedule *s) {
    if (s && tn_context_exists())
        tn_alloc_free(s, sizeof *s + 2 * (size_t)s->ngroups * sizeof(double));
}

static double schedule_step_next(const tn_schedule *s, int group, double lr) {
    (void)group;
    return s->count % s->every ? lr : lr * s->gamma;
}
TN_API tn_schedule *tn_optim_step_lr_at(const char *file, int line, tn_optimizer *o, int64_t every,
                                        double gamma) {
    tn_schedule *s = schedule_new(file, line, "optim_step_lr", o, schedule_step_next,
                                  every < 1 ? "every must be positive" : NULL);
    if (!s) return NULL;
    s->every = every;
    s->gamma = gamma;
    return s;
}

static double schedule_cosine_next(const tn_schedule *s, int group, double lr) {
    const double pi = 3.14159265358979323846;
    double t = (double)s->every, n = (double)s->count, range = s->initial[group] - s->eta_min;
    int64_t turn = (s->count - 1 - s->every) % (2 * s->every);
    double by = (1 + cos(pi * n / t)) / (1 + cos(pi * (n - 1) / t));
    if (turn == 0) return lr + fma(range, (1 - cos(pi / t)) / 2, 0);
    return fma(by, lr - s->eta_min, 0) + s->eta_min;
}
TN_API tn_schedule *tn_optim_cosine_lr_at(const char *file, int line, tn_optimizer *o,
                                          int64_t t_max, double eta_min) {
    bool fits = t_max >= 1 && tni_is_count((double)t_max);
    tn_schedule *s = schedule_new(file, line, "optim_cosine_lr", o, schedule_cosine_next,
                                  fits ? NULL : "t_max: expected 1 to 2^53");
    if (!s) return NULL;
    s->every = t_max;
    s->eta_min = eta_min;
    return s;
}

static double schedule_lambda_next(const tn_schedule *s, int group, double lr) {
    (void)lr;
    return s->initial[group] * s->factor(s->count, s->user);
}
TN_API tn_schedule *tn_optim_lambda_lr_at(const char *file, int line, tn_optimizer *o,
                                          double (*factor)(int64_t step, void *user), void *user) {
    tn_schedule *s = schedule_new(file, line, "optim_lambda_lr", o, schedule_lambda_next,
                                  factor ? NULL : "factor is NULL");
    tni_step step;
    bool ok;
    if (!s) return NULL;
    s->factor = factor;
    s->user = user;
    tni_step_begin(&step, file, line, "optim_lambda_lr");
    ok = schedule_rates(s);
    tni_step_end(&step);
    if (ok) return s;
    tn_schedule_free(s);
    return NULL;
}

static bool schedule_step(tn_schedule *s) {
    if (!s) return tni_nn_error(TN_INVALID, "schedule is NULL");
    s->count++;
    if (schedule_rates(s)) return true;
    s->count--;
    return false;
}
TN_API bool tn_schedule_step_at(const char *file, int line, tn_schedule *s) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "schedule");
    ok = schedule_step(s);
    tni_step_end(&step);
    return ok;
}

TN_PRIV int tni_schedule_groups(const tn_schedule *s) { return s->ngroups; }
TN_API int64_t tn_schedule_count(const tn_schedule *s) { return s ? s->count : 0; }
TN_API double tn_schedule_initial(const tn_schedule *s, int group) {
    return s && group >= 0 && group < s->ngroups ? s->initial[group] : (double)NAN;
}
TN_API bool tn_schedule_resume_at(const char *file, int line, tn_schedule *s, int64_t count,
                                  const double *initial, int ngroups) {
    tni_step step;
    bool ok = s && count >= 0 && tni_is_count((double)count) && initial && ngroups == s->ngroups;
    tni_place_begin(&step, file, line);
    if (!ok) tni_nn_error(TN_INVALID, "the schedule's state does not match");
    tni_step_end(&step);
    if (!ok) return false;
    s->count = count;
    memcpy(s->initial, initial, (size_t)ngroups * sizeof *initial);
    return true;
}

/* src/base/cold_end.inl - the end of cold_begin.inl or lean_begin.inl */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC pop_options
#endif

/* src/base/cold_begin.inl - what stands from here to cold_end.inl is compiled at -O1: no call of a small tensor runs through it, so it may be slower by a little and is compiled in half the time */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC push_options
#pragma GCC optimize("O1", "inline-small-functions")
#endif

/* src/data/dataset.c - sets of items over tensors, images, IDX files, and parts of other sets */

TN_PRIV int64_t tni_field_bytes(const tn_field *f) {
    int64_t bytes = tn_dtype_bytes(f->dtype);
    for (int i = 0; i < f->ndim; i++) bytes *= f->size[i];
    return bytes;
}

static bool dataset_field_fits(const tn_field *f) {
    int64_t bytes = tn_dtype_bytes(f->dtype);
    if (bytes < 1 || f->ndim < 0 || f->ndim >= TN_MAX_DIMS) return false;
    for (int i = 0; i < f->ndim; i++) {
        if (f->size[i] < 0 || (f->size[i] > 0 && bytes > INT64_MAX / 1024 / f->size[i]))
            return false;
        bytes *= f->size[i];
    }
    return true;
}

static bool dataset_fits(const tn_dataset *d) {
    bool ok = d->size >= 0 && d->nfields >= 1 && d->nfields <= TN_MAX_FIELDS && d->get;
    for (int i = 0; ok && i < d->nfields; i++) ok = dataset_field_fits(&d->field[i]);
    return ok || tni_nn_error(TN_INVALID, "expected a data set with size, get and 1 to %d fields",
                              TN_MAX_FIELDS);
}

static tn_dataset *dataset_make(const tn_dataset *like) {
    tn_dataset *d = NULL, given;
    if (!like) {
        tni_nn_error(TN_INVALID, "the data set is NULL");
        return NULL;
    }
    if (tn_ok() && dataset_fits(like)) d = (tn_dataset *)tn_alloc(sizeof *d);
    if (d) {
        *d = *like;
        d->count = 1;
        return d;
    }
    given = *like;
    if (given.destroy) given.destroy(&given);
    return NULL;
}

TN_API tn_dataset *tn_dataset_new_at(const char *file, int line, const tn_dataset *like) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_make(like);
    tni_step_end(&step);
    return d;
}

TN_API tn_dataset *tn_dataset_hold(tn_dataset *d) {
    if (d) d->count++;
    return d;
}
TN_API void tn_dataset_free(tn_dataset *d) {
    if (!d || !tn_context_exists() || --d->count > 0) return;
    if (d->destroy) d->destroy(d);
    tn_alloc_free(d, sizeof *d);
}

typedef struct dataset_rows {
    tn_tensor *held[TN_MAX_FIELDS];
    const char *at[TN_MAX_FIELDS];
    int64_t bytes[TN_MAX_FIELDS];
    float table[256];
    int label_bytes;
    bool label_signed;
} dataset_rows;

static void dataset_rows_destroy(tn_dataset *d) {
    dataset_rows *r = (dataset_rows *)d->user;
    for (int i = 0; r && i < TN_MAX_FIELDS; i++) tn_release(r->held[i]);
    if (r) tn_alloc_free(r, sizeof *r);
    d->user = NULL;
}

static bool dataset_rows_add(tn_dataset *d, int i, tn_tensor *t) {
    dataset_rows *r = (dataset_rows *)d->user;
    tn_ints shape = tn_shape(t);
    tn_tensor *dense;
    int64_t mark;
    if (!t) return tni_nn_error(TN_INVALID, "tensor %d is NULL", i);
    if (shape.n < 1) return tni_nn_error(TN_INVALID, "tensor %d has no rows", i);
    if (tn_device_of(t) != TN_CPU)
        return tni_nn_error(TN_UNSUPPORTED, "tensor %d is not on the CPU", i);
    if (i > 0 && shape.at[0] != d->size)
        return tni_nn_error(TN_INVALID, "tensor %d has %lld rows, tensor 0 has %lld", i,
                            (long long)shape.at[0], (long long)d->size);
    mark = tn_scope_begin();
    dense = tn_is_contiguous(t) ? t : tnp_contiguous(t);
    if (dense) dense = r->held[i] = tn_retain(dense);
    tn_scope_end(mark);
    if (!dense) return false;
    d->size = shape.at[0];
    d->field[i].dtype = tn_dtype_of(t);
    d->field[i].ndim = (int)shape.n - 1;
    for (int64_t k = 1; k < shape.n; k++) d->field[i].size[k - 1] = shape.at[k];
    if (!dataset_field_fits(&d->field[i]))
        return tni_nn_error(TN_INVALID, "the rows of tensor %d are too large", i);
    r->at[i] = (const char *)tn_data(dense);
    r->bytes[i] = tni_field_bytes(&d->field[i]);
    return true;
}

static bool dataset_rows_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_rows *r = (const dataset_rows *)d->user;
    for (int i = 0; i < d->nfields; i++)
        if (r->bytes[i]) memcpy(to[i], r->at[i] + index * r->bytes[i], (size_t)r->bytes[i]);
    return true;
}

static bool dataset_rows_begin(tn_dataset *d) {
    memset(d, 0, sizeof *d);
    if (!tn_ok()) return false;
    d->user = tn_alloc(sizeof(dataset_rows));
    if (!d->user) return false;
    memset(d->user, 0, sizeof(dataset_rows));
    d->destroy = dataset_rows_destroy;
    d->get = dataset_rows_get;
    return true;
}

static tn_dataset *dataset_tensors(tn_tensors tensors) {
    tn_dataset d;
    bool ok = dataset_rows_begin(&d);
    if (!ok) return NULL;
    if (tensors.n < 1 || tensors.n > TN_MAX_FIELDS || !tensors.at)
        ok = tni_nn_error(TN_INVALID, "expected 1 to %d tensors", TN_MAX_FIELDS);
    for (int i = 0; ok && i < (int)tensors.n; i++) ok = dataset_rows_add(&d, i, tensors.at[i]);
    d.nfields = (int)tensors.n;
    if (ok) return dataset_make(&d);
    dataset_rows_destroy(&d);
    return NULL;
}

TN_API tn_dataset *tn_dataset_tensors_at(const char *file, int line, tn_tensors tensors) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_tensors(tensors);
    tni_step_end(&step);
    return d;
}

static int64_t dataset_label(const dataset_rows *r, int64_t index) {
    const char *at = r->at[1] + index * r->bytes[1];
    int64_t v64;
    int32_t v32;
    int16_t v16;
    switch (r->label_bytes) {
    case 1:
        return r->label_signed ? (int64_t) * (const int8_t *)at : (int64_t) * (const uint8_t *)at;
    case 2: memcpy(&v16, at, sizeof v16); return v16;
    case 4: memcpy(&v32, at, sizeof v32); return v32;
    default: memcpy(&v64, at, sizeof v64); return v64;
    }
}

static bool dataset_images_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_rows *r = (const dataset_rows *)d->user;
    const uint8_t *from = (const uint8_t *)r->at[0] + index * r->bytes[0];
    float *image = (float *)to[0];
    int64_t label = dataset_label(r, index);
    for (int64_t i = 0; i < r->bytes[0]; i++) image[i] = r->table[from[i]];
    memcpy(to[1], &label, sizeof label);
    return true;
}

static bool dataset_images_fit(const tn_tensor *images, const tn_tensor *labels, double std) {
    tn_dtype label = tn_dtype_of(labels);
    int n = tn_ndim(images);
    if (!images || !labels) return tni_nn_error(TN_INVALID, "images or labels are NULL");
    if (tn_dtype_of(images) != TN_U8 || (n != 3 && n != 4))
        return tni_nn_error(TN_INVALID, "images: expected uint8 (N, H, W) or (N, C, H, W)");
    if (tn_ndim(labels) != 1 ||
        (label != TN_U8 && label != TN_I8 && label != TN_I16 && label != TN_I32 && label != TN_I64))
        return tni_nn_error(TN_INVALID, "labels: expected integers (N)");
    return std > 0 || tni_nn_error(TN_INVALID, "std must be positive");
}

static tn_dataset *dataset_images(tn_tensor *images, tn_tensor *labels, double mean, double std) {
    tn_dataset d;
    dataset_rows *r;
    if (!dataset_rows_begin(&d)) return NULL;
    r = (dataset_rows *)d.user;
    if (!dataset_images_fit(images, labels, std) || !dataset_rows_add(&d, 0, images) ||
        !dataset_rows_add(&d, 1, labels)) {
        dataset_rows_destroy(&d);
        return NULL;
    }
    r->label_bytes = (int)r->bytes[1];
    r->label_signed = d.field[1].dtype != TN_U8;
    for (int v = 0; v < 256; v++) r->table[v] = ((float)v / 255.0f - (float)mean) / (float)std;
    d.field[0].dtype = TN_F32;
    if (d.field[0].ndim == 2) {
        d.field[0].ndim = 3;
        d.field[0].size[2] = d.field[0].size[1];
        d.field[0].size[1] = d.field[0].size[0];
        d.field[0].size[0] = 1;
    }
    d.field[1].dtype = TN_I64;
    d.nfields = 2;
    d.get = dataset_images_get;
    return dataset_make(&d);
}

TN_API tn_dataset *tn_dataset_images_at(const char *file, int line, tn_tensor *images,
                                        tn_tensor *labels, double mean, double std) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_images(images, labels, mean, std);
    tni_step_end(&step);
    return d;
}

TN_API tn_dataset *tn_dataset_idx_at(const char *file, int line, const char *images_path,
                                     const char *labels_path, double mean, double std) {
    tn_dataset *d = NULL;
    tn_tensor *images, *labels;
    tni_step step;
    int64_t mark;
    tni_place_begin(&step, file, line);
    mark = tn_scope_begin();
    images = tn_load_idx_at(NULL, 0, images_path);
    labels = images ? tn_load_idx_at(NULL, 0, labels_path) : NULL;
    if (labels) d = dataset_images(images, labels, mean, std);
    tn_scope_end(mark);
    tni_step_end(&step);
    return d;
}

typedef struct dataset_part {
    tn_dataset *of;
    int64_t from;
} dataset_part;

static bool dataset_part_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_part *p = (const dataset_part *)d->user;
    return p->of->get(p->of, p->from + index, to);
}
static void dataset_part_destroy(tn_dataset *d) {
    dataset_part *p = (dataset_part *)d->user;
    tn_dataset_free(p->of);
    tn_alloc_free(p, sizeof *p);
}

static tn_dataset *dataset_slice(tn_dataset *d, int64_t from, int64_t to) {
    dataset_part *p = NULL;
    tn_dataset part;
    if (tn_ok() && (!d || from < 0 || from > to || to > d->size))
        tni_nn_error(TN_INVALID, "slice: expected 0 <= from <= to <= %lld",
                     d ? (long long)d->size : 0LL);
    if (tn_ok()) p = (dataset_part *)tn_alloc(sizeof *p);
    if (!p) {
        tn_dataset_free(d);
        return NULL;
    }
    p->of = d;
    p->from = from;
    part = *d;
    part.size = to - from;
    part.get = dataset_part_get;
    part.destroy = dataset_part_destroy;
    part.user = p;
    return dataset_make(&part);
}

TN_API tn_dataset *tn_dataset_slice_at(const char *file, int line, tn_dataset *d, int64_t from,
                                       int64_t to) {
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_slice(d, from, to);
    tni_step_end(&step);
    return d;
}

/* src/data/loader.c - batches in order, read ahead by threads */

#include <stdlib.h>

#if !defined(TN_NO_THREADS) && !defined(_WIN32) && !defined(__TINYC__)
#include <pthread.h>
#define LOADER_THREADS 1
#else
#define LOADER_THREADS 0
#endif

enum { LOADER_ALIGN = 64, LOADER_WORKERS = 256, LOADER_TEXT = 600 };
enum { LOADER_IDLE, LOADER_FILLING, LOADER_READY, LOADER_FAILED };

typedef struct loader_buffer {
    struct loader_core *core;
    struct loader_buffer *next;
    int32_t refs;
} loader_buffer;

typedef struct loader_core {
#if LOADER_THREADS
    pthread_mutex_t lock;
    struct loader_core *next;
#endif
    loader_buffer *free;
    int64_t buffer_bytes, at[TN_MAX_FIELDS];
    int64_t out;
    bool closed;
} loader_core;

typedef struct loader_slot {
    loader_buffer *buffer;
    int64_t batch;
    int state;
    tn_code code;
    char text[LOADER_TEXT];
} loader_slot;

struct tn_loader {
    tn_ending ending;
    loader_core *core;
    tn_dataset *dataset;
    tn_generator *generator;
    tn_context *context;
    int64_t batch_size, batches;
    bool shuffle, running;
    bool exhausted;
    int64_t *order;
    int64_t position;
    loader_slot *slot;
    int32_t nslots, nworkers, threads_room;
    int64_t todo, end;
    int32_t filling;
    bool quit;
#if LOADER_THREADS
    pthread_cond_t work, ready;
    pthread_t *thread;
    uint32_t forks;
#endif
};

#if LOADER_THREADS
static pthread_mutex_t loader_registry = PTHREAD_MUTEX_INITIALIZER;
static loader_core *loader_cores;
static uint32_t loader_forks;

#ifdef __EMSCRIPTEN__
static bool loader_handler(void) { return true; }
#else
static bool loader_has_handler;

static void loader_child(void) {
    loader_forks++;
    pthread_mutex_init(&loader_registry, NULL);
    for (loader_core *c = loader_cores; c; c = c->next) pthread_mutex_init(&c->lock, NULL);
}
static bool loader_handler(void) {
    if (!loader_has_handler) loader_has_handler = pthread_atfork(NULL, NULL, loader_child) == 0;
    return loader_has_handler;
}
#endif
static bool loader_register(loader_core *c) {
    bool ok;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_lock(&loader_registry);
    ok = loader_handler();
    c->next = loader_cores;
    __atomic_store_n(&loader_cores, c, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&loader_registry);
    return ok;
}
static void loader_unregister(loader_core *c) {
    loader_core **at = &loader_cores;
    pthread_mutex_lock(&loader_registry);
    while (*at != c) at = &(*at)->next;
    __atomic_store_n(at, c->next, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&loader_registry);
    pthread_mutex_destroy(&c->lock);
}
#endif

static void loader_lock(loader_core *c) {
#if LOADER_THREADS
    pthread_mutex_lock(&c->lock);
#else
    (void)c;
#endif
}
static void loader_unlock(loader_core *c) {
#if LOADER_THREADS
    pthread_mutex_unlock(&c->lock);
#else
    (void)c;
#endif
}

static bool loader_layout(loader_core *c, const tn_dataset *d, int64_t batch_size) {
    int64_t at = (int64_t)(sizeof(loader_buffer) + LOADER_ALIGN - 1) / LOADER_ALIGN * LOADER_ALIGN;
    for (int i = 0; i < d->nfields; i++) {
        int64_t each = tni_field_bytes(&d->field[i]);
        if (each > 0 && batch_size > (PTRDIFF_MAX / 2 - at) / each)
            return tni_nn_error(TN_MEMORY, "a batch is too large");
        c->at[i] = at;
        at += (each * batch_size + LOADER_ALIGN - 1) / LOADER_ALIGN * LOADER_ALIGN;
    }
    c->buffer_bytes = at;
    return true;
}

static void loader_core_free(loader_core *c) {
#if LOADER_THREADS
    loader_unregister(c);
#endif
    while (c->free) {
        loader_buffer *b = c->free;
        c->free = b->next;
        tn_alloc_free(b, (size_t)c->buffer_bytes);
    }
    tn_alloc_free(c, sizeof *c);
}

static void loader_buffer_drop(loader_buffer *b) {
    loader_core *c = b->core;
    bool last = false;
    loader_lock(c);
    if (--b->refs == 0) {
        b->next = c->free;
        c->free = b;
        last = --c->out == 0 && c->closed;
    }
    loader_unlock(c);
    if (last) loader_core_free(c);
}
static void loader_release(void *data, void *user) {
    (void)data;
    loader_buffer_drop((loader_buffer *)user);
}

static loader_buffer *loader_buffer_take(loader_core *c) {
    loader_buffer *b;
    loader_lock(c);
    b = c->free;
    if (b) c->free = b->next;
    c->out++;
    loader_unlock(c);
    if (!b) {
        b = (loader_buffer *)tn_alloc((size_t)c->buffer_bytes);
        if (b) b->core = c;
    }
    if (b) {
        b->refs = 1;
    } else {
        loader_lock(c);
        c->out--;
        loader_unlock(c);
    }
    return b;
}

static int64_t loader_items(const tn_loader *l, int64_t batch) {
    int64_t left = l->dataset->size - batch * l->batch_size;
    return left < l->batch_size ? left : l->batch_size;
}

static bool loader_fill(const tn_loader *l, loader_slot *s) {
    const tn_dataset *d = l->dataset;
    int64_t bytes[TN_MAX_FIELDS], first = s->batch * l->batch_size;
    tn_error_info error;
    tni_step step;
    bool ok = true;
    for (int k = 0; k < d->nfields; k++) bytes[k] = tni_field_bytes(&d->field[k]);
    tni_step_begin(&step, NULL, 0, "");
    for (int64_t i = 0; ok && i < loader_items(l, s->batch); i++) {
        void *to[TN_MAX_FIELDS] = {NULL, NULL, NULL, NULL};
        int64_t index = l->shuffle ? l->order[first + i] : first + i;
        for (int k = 0; k < d->nfields; k++)
            to[k] = (char *)s->buffer + l->core->at[k] + i * bytes[k];
        ok = d->get(d, index, to);
        if (ok) continue;
        s->code = tn_error_take(&error) ? error.code : TN_INTERNAL;
        snprintf(s->text, sizeof s->text, "item %lld of the data set: %s", (long long)index,
                 s->code == TN_INTERNAL ? "get failed" : error.message);
    }
    tni_step_end(&step);
    return ok;
}

#if LOADER_THREADS
static void *loader_worker(void *user) {
    tn_loader *l = (tn_loader *)user;
    tn_context_use(l->context);
    pthread_mutex_lock(&l->core->lock);
    while (!l->quit) {
        loader_slot *s;
        bool ok;
        if (l->todo >= l->end || l->todo >= l->position + l->nslots) {
            pthread_cond_wait(&l->work, &l->core->lock);
            continue;
        }
        s = &l->slot[l->todo % l->nslots];
        s->batch = l->todo++;
        s->state = LOADER_FILLING;
        l->filling++;
        pthread_mutex_unlock(&l->core->lock);
        ok = loader_fill(l, s);
        pthread_mutex_lock(&l->core->lock);
        s->state = ok ? LOADER_READY : LOADER_FAILED;
        l->filling--;
        pthread_cond_broadcast(&l->ready);
    }
    pthread_mutex_unlock(&l->core->lock);
    return NULL;
}
#endif

static loader_slot *loader_await(tn_loader *l) {
    loader_slot *s = &l->slot[l->position % l->nslots];
    if (l->nworkers == 0) {
        s->batch = l->position;
        s->state = loader_fill(l, s) ? LOADER_READY : LOADER_FAILED;
        return s;
    }
#if LOADER_THREADS
    pthread_mutex_lock(&l->core->lock);
    while (s->batch != l->position || (s->state != LOADER_READY && s->state != LOADER_FAILED))
        pthread_cond_wait(&l->ready, &l->core->lock);
    pthread_mutex_unlock(&l->core->lock);
#endif
    return s;
}

static bool loader_permute(tn_loader *l, tn_generator *from, int64_t *order) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tnp_randperm(l->dataset->size, from, TN_I64, TN_CPU);
    bool ok = t && (!order || tn_read_i64(t, order, l->dataset->size));
    tn_scope_end(mark);
    return ok;
}

static bool loader_exhaust(tn_loader *l) {
    if (l->exhausted || !l->shuffle || !l->generator) return true;
    l->exhausted = loader_permute(l, l->generator, NULL);
    return l->exhausted;
}

static bool loader_draw(tn_loader *l) {
    tn_generator *from = l->generator ? l->generator : tn_default_generator(), *own = NULL;
    bool ok;
    if (!from) return false;
    l->exhausted = false;
    tn_random64(from);
    if (!l->shuffle) return true;
    if (!l->generator) {
        own = tn_generator_new(tn_random64(from) & INT64_MAX);
        if (!own) return false;
    }
    ok = loader_permute(l, own ? own : from, l->order);
    if (own) tn_generator_free(own);
    return ok;
}

static void loader_forked(tn_loader *l) {
#if LOADER_THREADS
    if (l->forks == loader_forks) return;
    l->forks = loader_forks;
    l->nworkers = 0;
    l->filling = 0;
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->ready, NULL);
#else
    (void)l;
#endif
}

static void loader_quiet(tn_loader *l) {
    loader_lock(l->core);
    l->todo = l->end = 0;
#if LOADER_THREADS
    while (l->filling) pthread_cond_wait(&l->ready, &l->core->lock);
#endif
    for (int32_t i = 0; i < l->nslots; i++) {
        l->slot[i].state = LOADER_IDLE;
        l->slot[i].batch = -1;
    }
    loader_unlock(l->core);
    l->running = false;
}

static bool loader_begin(tn_loader *l) {
    loader_quiet(l);
    for (int32_t i = 0; i < l->nslots; i++)
        if (!l->slot[i].buffer && !(l->slot[i].buffer = loader_buffer_take(l->core))) return false;
    if (!loader_draw(l)) return false;
    loader_lock(l->core);
    l->position = l->todo = 0;
    l->end = l->batches;
#if LOADER_THREADS
    if (l->nworkers) pthread_cond_broadcast(&l->work);
#endif
    loader_unlock(l->core);
    l->running = true;
    return true;
}

static tn_tensor *loader_wrap(const tn_loader *l, loader_buffer *b, int k, int64_t items,
                              const char *file, int line) {
    const tn_field *f = &l->dataset->field[k];
    int64_t size[TN_MAX_DIMS];
    tn_wrap_options options;
    tn_tensor *t;
    memset(&options, 0, sizeof options);
    options.release = loader_release;
    options.user = b;
    size[0] = items;
    for (int i = 0; i < f->ndim; i++) size[i + 1] = f->size[i];
    t = tn_wrap_at(file, line, (char *)b + l->core->at[k], tn_ints_of(size, f->ndim + 1), f->dtype,
                   &options);
    if (!t) return NULL;
    loader_lock(l->core);
    b->refs++;
    loader_unlock(l->core);
    return t;
}

static bool loader_hand_out(tn_loader *l, loader_slot *s, loader_buffer *spare, tn_batch *batch,
                            const char *file, int line) {
    loader_buffer *b = s->buffer;
    batch->n = loader_items(l, s->batch);
    batch->index = s->batch;
    for (batch->nfields = 0; batch->nfields < l->dataset->nfields; batch->nfields++) {
        tn_tensor *t = loader_wrap(l, b, batch->nfields, batch->n, file, line);
        if (!t) {
            while (batch->nfields > 0) tn_free(batch->field[--batch->nfields]);
            return false;
        }
        batch->field[batch->nfields] = t;
    }
    s->buffer = spare;
    loader_buffer_drop(b);
    loader_lock(l->core);
    s->state = LOADER_IDLE;
    s->batch = -1;
    l->position++;
#if LOADER_THREADS
    if (l->nworkers) pthread_cond_signal(&l->work);
#endif
    loader_unlock(l->core);
    return true;
}

static bool loader_next(tn_loader *l, tn_batch *batch, const char *file, int line) {
    loader_buffer *spare;
    loader_slot *s;
    if (!l->running && !loader_begin(l)) return false;
    if (l->position >= l->batches) {
        loader_quiet(l);
        loader_exhaust(l);
        return false;
    }
    if (l->position + 1 == l->batches && loader_items(l, l->position) < l->batch_size &&
        !loader_exhaust(l))
        return false;
    spare = loader_buffer_take(l->core);
    if (!spare) return false;
    s = loader_await(l);
    if (s->state == LOADER_READY && loader_hand_out(l, s, spare, batch, file, line)) return true;
    loader_buffer_drop(spare);
    if (s->state == LOADER_FAILED) {
        tni_nn_error(s->code, "%s", s->text);
        loader_quiet(l);
    }
    return false;
}

TN_API bool tn_loader_next_at(const char *file, int line, tn_loader *l, tn_batch *batch) {
    tni_step step;
    bool ok;
    if (batch) memset(batch, 0, sizeof *batch);
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "");
    if (l) loader_forked(l);
    ok = l && batch ? loader_next(l, batch, file, line)
                    : tni_nn_error(TN_INVALID, "loader or batch is NULL");
    if (!ok && batch) memset(batch, 0, sizeof *batch);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_loader_stop(tn_loader *l) {
    if (!l) return;
    loader_forked(l);
    loader_quiet(l);
}

TN_API int64_t tn_loader_batches(const tn_loader *l) { return l ? l->batches : 0; }
TN_API tn_dataset *tn_loader_dataset(const tn_loader *l) { return l ? l->dataset : NULL; }
TN_API tn_generator *tn_loader_generator(const tn_loader *l) { return l ? l->generator : NULL; }

static bool loader_check(const tn_loader_args *a) {
    if (!a || !a->dataset) return tni_nn_error(TN_INVALID, "dataset is NULL");
    if (a->batch_size < 1) return tni_nn_error(TN_INVALID, "batch_size must be positive");
    if (a->workers < 0 || a->workers > LOADER_WORKERS)
        return tni_nn_error(TN_INVALID, "workers: expected 0 to %d", LOADER_WORKERS);
    if (a->workers && (a->prefetch < 1 || a->prefetch > 1024))
        return tni_nn_error(TN_INVALID, "prefetch: 1 to 1024");
    return true;
}

#if LOADER_THREADS
static bool loader_start(tn_loader *l, int32_t workers) {
    l->thread = (pthread_t *)tn_alloc((size_t)workers * sizeof *l->thread);
    if (!l->thread) return false;
    l->threads_room = workers;
    for (int32_t i = 0; i < workers; i++, l->nworkers++)
        if (pthread_create(&l->thread[i], NULL, loader_worker, l) != 0)
            return tni_nn_error(TN_MEMORY, "cannot start a worker thread");
    return true;
}
static void loader_join(tn_loader *l) {
    pthread_mutex_lock(&l->core->lock);
    l->quit = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->core->lock);
    for (int32_t i = 0; i < l->nworkers; i++) pthread_join(l->thread[i], NULL);
    if (l->thread) tn_alloc_free(l->thread, (size_t)l->threads_room * sizeof *l->thread);
}
#endif

TN_API void tn_loader_free(tn_loader *l) {
    bool last;
    if (!l || !tn_context_exists()) return;
    tn_ending_remove(&l->ending);
    loader_forked(l);
    loader_quiet(l);
#if LOADER_THREADS
    loader_join(l);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->ready);
#endif
    for (int32_t i = 0; l->slot && i < l->nslots; i++)
        if (l->slot[i].buffer) loader_buffer_drop(l->slot[i].buffer);
    if (l->slot) tn_alloc_free(l->slot, (size_t)l->nslots * sizeof *l->slot);
    if (l->order) tn_alloc_free(l->order, (size_t)(l->dataset->size + 1) * sizeof *l->order);
    loader_lock(l->core);
    l->core->closed = true;
    last = l->core->out == 0;
    loader_unlock(l->core);
    if (last) loader_core_free(l->core);
    tn_dataset_free(l->dataset);
    tn_alloc_free(l, sizeof *l);
}

static void loader_end(tn_ending *e) { tn_loader_free((tn_loader *)(void *)e); }

static tn_loader *loader_new(const tn_loader_args *a) {
    tn_loader *l = (tn_loader *)tn_alloc(sizeof *l);
    loader_core *c = l ? (loader_core *)tn_alloc(sizeof *c) : NULL;
    if (!c) {
        if (l) tn_alloc_free(l, sizeof *l);
        return NULL;
    }
    memset(l, 0, sizeof *l);
    memset(c, 0, sizeof *c);
#if LOADER_THREADS
    if (!loader_register(c)) tni_nn_error(TN_MEMORY, "cannot register a fork handler");
    l->forks = loader_forks;
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->ready, NULL);
#endif
    l->core = c;
    l->ending.end = loader_end;
    tn_ending_add(&l->ending);
    l->dataset = a->dataset;
    l->generator = a->generator;
    l->context = tn_context_current();
    l->batch_size = a->batch_size;
    l->shuffle = a->shuffle;
    l->batches =
        a->dataset->size / a->batch_size + (!a->drop_last && a->dataset->size % a->batch_size != 0);
    return l;
}

static bool loader_fit_out(tn_loader *l, const tn_loader_args *a) {
    int32_t workers = LOADER_THREADS ? a->workers : 0;
    int32_t nslots = workers ? workers * a->prefetch : 1;
    if (!loader_layout(l->core, l->dataset, l->batch_size)) return false;
    if (l->dataset->size > PTRDIFF_MAX / 64)
        return tni_nn_error(TN_MEMORY, "the data set is too large (expected at most 2^57 items)");
    l->slot = (loader_slot *)tn_alloc((size_t)nslots * sizeof *l->slot);
    if (!l->slot) return false;
    memset(l->slot, 0, (size_t)nslots * sizeof *l->slot);
    l->nslots = nslots;
    if (l->shuffle)
        l->order = (int64_t *)tn_alloc((size_t)(l->dataset->size + 1) * sizeof *l->order);
    if (l->shuffle && !l->order) return false;
#if LOADER_THREADS
    if (workers && !loader_start(l, workers)) return false;
#endif
    return true;
}

TN_API tn_loader *tn_loader_new_at(const char *file, int line, const tn_loader_args *args) {
    tn_loader *l = NULL;
    tni_step step;
    tni_step_begin(&step, file, line, "");
    if (tn_ok() && loader_check(args)) l = loader_new(args);
    if (!l)
        tn_dataset_free(args ? args->dataset : NULL);
    else if (!tn_ok() || !loader_fit_out(l, args)) {
        tn_loader_free(l);
        l = NULL;
    }
    tni_step_end(&step);
    return l;
}

/* src/data/checkpoint.c - a model with its optimizer, schedule and random state in one file, for exact resume */

#include <math.h>

typedef struct checkpoint_place {
    const char *path;
    const void *data;
    size_t bytes;
    tn_bytes *saved;
    bool memory;
} checkpoint_place;

static const char checkpoint_format[] = "tensor.h checkpoint", checkpoint_version[] = "1";

typedef struct checkpoint_entry {
    int64_t name;
    tn_tensor *tensor;
} checkpoint_entry;
typedef struct checkpoint_list {
    tni_buffer names, entries;
} checkpoint_list;

static bool checkpoint_add(checkpoint_list *l, const char *prefix, const char *name, tn_tensor *t) {
    checkpoint_entry e = {l->names.n, t};
    if (!t) return false;
    if (tn_device_of(t) != TN_CPU) e.tensor = tnp_empty(tn_shape(t), tn_dtype_of(t), TN_CPU);
    if (e.tensor && e.tensor != t) e.tensor = tnp_copy_(e.tensor, t);
    tni_buffer_text(&l->names, "%s%s", prefix, name);
    tni_buffer_add(&l->names, "", 1);
    return e.tensor && tni_buffer_add(&l->entries, &e, sizeof e) && !l->names.failed;
}

static bool checkpoint_add_list(checkpoint_list *l, const char *prefix, tn_named_list list) {
    for (int64_t i = 0; i < list.n; i++)
        if (!checkpoint_add(l, prefix, list.at[i].name, list.at[i].tensor)) return false;
    return list.n >= 0;
}

static bool checkpoint_add_schedule(checkpoint_list *l, const tn_schedule *s) {
    int64_t count = tn_schedule_count(s), groups = tni_schedule_groups(s);
    tn_tensor *initial = tnp_empty(tn_ints_of(&groups, 1), TN_F64, TN_CPU);
    for (int g = 0; initial && g < (int)groups; g++)
        ((double *)tn_data(initial))[g] = tn_schedule_initial(s, g);
    return checkpoint_add(l, "schedule.", "count",
                          tnp_from(&count, tn_empty_dims(), TN_I64, TN_CPU)) &&
           checkpoint_add(l, "schedule.", "initial", initial);
}

static bool checkpoint_add_generator(checkpoint_list *l, const char *name,
                                     const tn_generator *generator) {
    static const int64_t size = TN_GENERATOR_BYTES;
    tn_tensor *t = tnp_empty(tn_ints_of(&size, 1), TN_U8, TN_CPU);
    if (t) tn_generator_state(generator, (uint8_t *)tn_data(t));
    return checkpoint_add(l, "rng.", name, t);
}

static bool checkpoint_write(const checkpoint_place *to, checkpoint_list *l) {
    tn_save_args args;
    tn_note notes[2];
    int64_t n = l->entries.n / (int64_t)sizeof(checkpoint_entry);
    const checkpoint_entry *e = (const checkpoint_entry *)(const void *)l->entries.at;
    tn_named *at = (tn_named *)tn_alloc((size_t)(n + 1) * sizeof *at);
    bool ok;
    if (!at) return false;
    for (int64_t i = 0; i < n; i++) {
        at[i].name = l->names.at + e[i].name;
        at[i].tensor = e[i].tensor;
    }
    notes[0].key = "format";
    notes[0].value = checkpoint_format;
    notes[1].key = "version";
    notes[1].value = checkpoint_version;
    memset(&args, 0, sizeof args);
    args.notes = notes;
    args.nnotes = 2;
    args.at = at;
    args.n = n;
    if (to->memory) {
        *to->saved = tn_save_memory_at(NULL, 0, &args);
        ok = to->saved->at != NULL;
    } else {
        ok = tn_safetensors_save_at(NULL, 0, to->path, at, n, notes, 2);
    }
    tn_alloc_free(at, (size_t)(n + 1) * sizeof *at);
    return ok;
}

static bool checkpoint_state_fits(const checkpoint_place *place, const tn_state *s) {
    if (!place->path || !s) return tni_nn_error(TN_INVALID, "no path or no state");
    if (s->schedule && !s->optimizer)
        return tni_nn_error(TN_INVALID, "a schedule needs its optimizer");
    if (s->nnumbers < 0 || (s->nnumbers && !s->numbers))
        return tni_nn_error(TN_INVALID, "numbers: expected a list");
    for (int64_t i = 0; i < s->nnumbers; i++)
        if (!s->numbers[i].name)
            return tni_nn_error(TN_INVALID, "number %lld has no name", (long long)i);
    return true;
}

static bool checkpoint_save(const checkpoint_place *to, const tn_state *s) {
    tn_named_list model = {NULL, 0, 0, false}, optimizer = {NULL, 0, 0, true};
    checkpoint_list l;
    bool ok = true;
    memset(&l, 0, sizeof l);
    if (s->model) model = tn_module_state_dict_at(NULL, 0, s->model);
    if (s->optimizer) optimizer = tn_optimizer_state_dict_at(NULL, 0, s->optimizer);
    ok = checkpoint_add_list(&l, "model.", model) &&
         checkpoint_add_list(&l, "optimizer.", optimizer) &&
         (!s->schedule || checkpoint_add_schedule(&l, s->schedule)) &&
         (!s->generator || checkpoint_add_generator(&l, "cpu", s->generator)) &&
         (!s->loader_generator || checkpoint_add_generator(&l, "loader", s->loader_generator));
    for (int64_t i = 0; ok && i < s->nnumbers; i++)
        ok = checkpoint_add(&l, "train.", s->numbers[i].name,
                            tnp_from(&s->numbers[i].value, tn_empty_dims(), TN_F64, TN_CPU));
    ok = ok && checkpoint_write(to, &l);
    tni_buffer_free(&l.names);
    tni_buffer_free(&l.entries);
    tn_named_free(model);
    tn_named_free(optimizer);
    return ok;
}

static int64_t checkpoint_select(tn_named_list list, const char *prefix, tn_named *at) {
    size_t n = strlen(prefix);
    int64_t count = 0;
    for (int64_t i = 0; i < list.n; i++)
        if (strncmp(list.at[i].name, prefix, n) == 0) {
            at[count].name = list.at[i].name + n;
            at[count++].tensor = list.at[i].tensor;
        }
    return count;
}

static tn_safetensors *checkpoint_open(const checkpoint_place *from) {
    tn_safetensors *f = from->memory
                            ? tn_safetensors_open_memory_at(NULL, 0, from->data, from->bytes)
                            : tn_safetensors_open_at(NULL, 0, from->path);
    const char *format = tn_safetensors_note(f, "format"),
               *version = tn_safetensors_note(f, "version");
    bool ok = format && version && strcmp(format, checkpoint_format) == 0 &&
              strcmp(version, checkpoint_version) == 0;
    if (!f || ok) return f;
    tni_nn_error(
        TN_FORMAT, "'%s' is not a checkpoint of version %s (format \"%s\", version \"%s\")",
        from->path, checkpoint_version, format ? format : "none", version ? version : "none");
    tn_safetensors_close(f);
    return NULL;
}

static bool checkpoint_bad(const char *path, const char *what) {
    return tni_nn_error(TN_FORMAT, "'%s': %s is missing, damaged or does not match", path, what);
}

typedef struct checkpoint_rest {
    int64_t count;
    const double *initial;
    const uint8_t *rng, *loader;
} checkpoint_rest;

static bool checkpoint_check_schedule(const char *path, tn_named_list list, const tn_schedule *s,
                                      checkpoint_rest *r) {
    const tn_tensor *count = tn_named_find(list, "schedule.count"),
                    *initial = tn_named_find(list, "schedule.initial");
    int groups = tni_schedule_groups(s);
    if (!count || tn_dtype_of(count) != TN_I64 || tn_numel(count) != 1 || !initial ||
        tn_dtype_of(initial) != TN_F64 || tn_numel(initial) != groups)
        return checkpoint_bad(path, "the schedule");
    r->count = tn_item_int(count);
    r->initial = (const double *)tn_data(initial);
    for (int g = 0; g < groups; g++)
        if (r->initial[g] - r->initial[g] != 0) return checkpoint_bad(path, "schedule.initial");
    return (r->count >= 0 && tni_is_count((double)r->count)) ||
           checkpoint_bad(path, "schedule.count");
}

static bool checkpoint_check_generator(const char *path, const tn_tensor *state,
                                       const uint8_t **rng) {
    tn_generator *probe;
    bool ok;
    if (!state || tn_dtype_of(state) != TN_U8 || tn_numel(state) != TN_GENERATOR_BYTES)
        return checkpoint_bad(path, "the random state");
    *rng = (const uint8_t *)tn_data(state);
    probe = tn_generator_new(0);
    ok = probe && tn_generator_set_state(probe, *rng);
    tn_generator_free(probe);
    return ok;
}

static const tn_tensor *checkpoint_number(tn_named_list list, const char *name) {
    for (int64_t i = 0; i < list.n; i++)
        if (strncmp(list.at[i].name, "train.", 6) == 0 && strcmp(list.at[i].name + 6, name) == 0)
            return list.at[i].tensor;
    return NULL;
}
static bool checkpoint_number_fits(const char *path, const char *name, const tn_tensor *t) {
    return !t || (tn_dtype_of(t) == TN_F64 && tn_numel(t) == 1) ||
           tni_nn_error(TN_FORMAT, "'%s': train.%.200s is not a number", path, name);
}

static bool checkpoint_check_rest(const char *path, tn_named_list list, const tn_state *s,
                                  checkpoint_rest *r) {
    const tn_tensor *loader = tn_named_find(list, "rng.loader");
    memset(r, 0, sizeof *r);
    if (s->schedule && !checkpoint_check_schedule(path, list, s->schedule, r)) return false;
    if (s->generator && !checkpoint_check_generator(path, tn_named_find(list, "rng.cpu"), &r->rng))
        return false;
    if (s->loader_generator && loader && !checkpoint_check_generator(path, loader, &r->loader))
        return false;
    for (int64_t i = 0; i < s->nnumbers; i++) {
        const char *name = s->numbers[i].name;
        if (!checkpoint_number_fits(path, name, checkpoint_number(list, name))) return false;
    }
    return tn_ok();
}

static void checkpoint_load_rest(const tn_state *s, tn_named_list list, const checkpoint_rest *r) {
    if (s->schedule)
        tn_schedule_resume_at(NULL, 0, s->schedule, r->count, r->initial,
                              tni_schedule_groups(s->schedule));
    if (r->rng) tn_generator_set_state(s->generator, r->rng);
    if (r->loader) tn_generator_set_state(s->loader_generator, r->loader);
    for (int64_t i = 0; i < s->nnumbers; i++) {
        const tn_tensor *t = checkpoint_number(list, s->numbers[i].name);
        s->numbers[i].value = t ? *(const double *)tn_data(t) : (double)NAN;
    }
}

TN_PRIV bool tni_checkpoint_number(const char *path, const char *name, double *value) {
    const checkpoint_place from = {path, NULL, 0, NULL, false};
    tn_safetensors *f = checkpoint_open(&from);
    int64_t mark = tn_scope_begin(), i = 0, n = tn_safetensors_count(f);
    bool ok = f != NULL;
    *value = (double)NAN;
    for (; i < n; i++) {
        const char *at = tn_safetensors_name(f, i);
        if (strncmp(at, "train.", 6) == 0 && strcmp(at + 6, name) == 0) break;
    }
    if (i < n) {
        const tn_tensor *t = tn_safetensors_get_at(NULL, 0, f, tn_safetensors_name(f, i));
        ok = t && checkpoint_number_fits(path, name, t);
        if (ok) *value = *(const double *)tn_data(t);
    }
    tn_safetensors_close(f);
    tn_scope_end(mark);
    return ok;
}

static bool checkpoint_load_parts(const tn_state *s, tn_named_list list, tn_named *at) {
    tni_plan model = {{NULL, 0, 0, false}};
    tni_optimizer_plan optimizer;
    bool ok = true;
    memset(&optimizer, 0, sizeof optimizer);
    if (s->optimizer)
        ok = tni_optimizer_plan_load(&optimizer, s->optimizer, at,
                                     checkpoint_select(list, "optimizer.", at), true);
    if (s->model && ok)
        ok = tni_plan_load(&model, s->model, at, checkpoint_select(list, "model.", at), true, true);
    tni_plan_end(&model, ok);
    tni_optimizer_plan_end(&optimizer, ok);
    return ok;
}

static bool checkpoint_load(const checkpoint_place *from, const tn_state *s) {
    tn_safetensors *f = checkpoint_open(from);
    tn_named_list list;
    checkpoint_rest rest;
    tn_named *at = NULL;
    tn_load_args args;
    bool ok;
    tn_safetensors_close(f);
    if (!f) return false;
    memset(&args, 0, sizeof args);
    args.data = from->data;
    args.bytes = from->bytes;
    list = from->memory ? tn_load_memory_at(NULL, 0, &args)
                        : tn_safetensors_load_at(NULL, 0, from->path);
    if (list.n >= 0) at = (tn_named *)tn_alloc((size_t)(list.n + 1) * sizeof *at);
    ok = at && checkpoint_check_rest(from->path, list, s, &rest) &&
         checkpoint_load_parts(s, list, at);
    if (ok) checkpoint_load_rest(s, list, &rest);
    if (at) tn_alloc_free(at, (size_t)(list.n + 1) * sizeof *at);
    tn_named_free(list);
    return ok;
}

static bool checkpoint_run(const char *file, int line, const checkpoint_place *place,
                           const tn_state *state,
                           bool (*run)(const checkpoint_place *place, const tn_state *state)) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "checkpoint");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = checkpoint_state_fits(place, state) && run(place, state);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    const checkpoint_place to = {path, NULL, 0, NULL, false};
    return checkpoint_run(file, line, &to, state, checkpoint_save);
}
TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    const checkpoint_place from = {path, NULL, 0, NULL, false};
    return checkpoint_run(file, line, &from, state, checkpoint_load);
}
TN_API tn_bytes tn_checkpoint_save_memory_at(const char *file, int line, const tn_state *state) {
    tn_bytes saved = {NULL, 0};
    const checkpoint_place to = {"memory", NULL, 0, &saved, true};
    checkpoint_run(file, line, &to, state, checkpoint_save);
    return saved;
}
TN_API bool tn_checkpoint_load_memory_at(const char *file, int line, const void *data, size_t bytes,
                                         const tn_state *state) {
    const checkpoint_place from = {"memory", data, bytes, NULL, true};
    return checkpoint_run(file, line, &from, state, checkpoint_load);
}

/* src/data/train.c - the training loop: epochs of steps, evaluation, schedule, checkpoint, events to a callback */

#include <math.h>

typedef struct train_run {
    const tn_train_args *a;
    tn_module *loss;
    tn_progress p;
    double began;
    double loss_sum, hits;
    bool classes;
    bool stopped;
} train_run;

static double train_nan(void) { return (double)NAN; }

static bool train_tell(train_run *r, tn_event event) {
    r->p.event = event;
    r->p.seconds = tn_now() - r->began;
    r->p.rate = r->p.seconds > 0 ? (double)r->p.items / r->p.seconds : 0;
    r->p.remaining =
        r->p.step > 0 ? r->p.seconds / (double)r->p.step * (double)(r->p.steps - r->p.step) : 0;
    if (!r->a->on || r->a->on(&r->p, r->a->user)) return tn_ok();
    r->stopped = true;
    return false;
}

static tn_device_id train_device(tn_module *model) {
    const int64_t mark = tn_scope_begin();
    const tn_tensors params = tn_parameters_at(NULL, 0, model);
    const tn_device_id device = params.n > 0 ? tn_device_of(params.at[0]) : TN_CPU;
    tn_scope_end(mark);
    return device;
}
static bool train_next(tn_loader *loader, tn_device_id device, tn_batch *b) {
    if (!tn_loader_next_at(NULL, 0, loader, b)) return false;
    for (int i = 0; i < b->nfields; i++) {
        tn_tensor *t = b->field[i];
        if (tn_device_of(t) == device) continue;
        b->field[i] = tnp_copy_(tnp_empty(tn_shape(t), tn_dtype_of(t), device), t);
        if (!b->field[i]) return false;
    }
    return true;
}

static tn_tensor *train_loss_of(tn_module *loss, tn_tensor *output, tn_tensor *target) {
    tn_value values[2];
    tn_tensor *result = NULL;
    memset(values, 0, sizeof values);
    values[0].type = values[1].type = TN_T_TENSOR;
    values[0].as.tensor = output;
    values[1].as.tensor = target;
    return tn_module_call_values(NULL, 0, loss, values, 2, &result, 1) ? result : NULL;
}

static double train_hits(tn_tensor *output, tn_tensor *target) {
    tn_tensor *same;
    double hits;
    bool mode;
    if (!output || !target || tn_ndim(output) != 2 || tn_ndim(target) != 1 ||
        tn_dtype_of(target) != TN_I64)
        return -1;
    mode = tn_set_grad_mode(false);
    same = tnp_eq(tnp_argmax(output, 1, false), target);
    hits = tn_item(tnp_sum(same, tn_no_dims(), false, TN_NO_DTYPE));
    tn_set_grad_mode(mode);
    return hits;
}

static tn_tensor *train_batch_loss(train_run *r, const tn_batch *b, tn_tensor **output) {
    *output = NULL;
    if (r->a->batch_loss) return r->a->batch_loss(r->a->model, b, output, r->a->user);
    if (b->nfields < 2)
        return tni_nn_error(TN_INVALID, "expected a batch of input and target"), (tn_tensor *)NULL;
    *output = tn_forward_at(NULL, 0, r->a->model, b->field[0]);
    return *output ? train_loss_of(r->loss, *output, b->field[1]) : NULL;
}

static bool train_step(train_run *r, const tn_batch *b) {
    const tn_train_args *a = r->a;
    tn_tensor *output, *loss;
    tn_backward_args backward;
    double hits;
    tn_optimizer_zero_grad(a->optimizer);
    loss = train_batch_loss(r, b, &output);
    if (!loss)
        return tn_ok() ? tni_nn_error(TN_INTERNAL, "the loss failed without setting an error")
                       : false;
    memset(&backward, 0, sizeof backward);
    backward.t = loss;
    if (!tn_backward_at(NULL, 0, &backward)) return false;
    if (a->clip_norm > 0)
        tn_nn_clip_grad_norm_at(NULL, 0, tn_parameters_at(NULL, 0, a->model), a->clip_norm, 2.0);
    if (!tn_optimizer_step_at(NULL, 0, a->optimizer)) return false;
    r->p.batch_loss = tn_item(loss);
    hits = train_hits(output, b->nfields > 1 ? b->field[1] : NULL);
    r->classes = hits >= 0;
    r->hits += hits;
    r->loss_sum = fma(r->p.batch_loss, (double)b->n, r->loss_sum);
    r->p.items += b->n;
    r->p.step++;
    r->p.loss = r->loss_sum / (double)r->p.items;
    r->p.accuracy = r->classes ? r->hits / (double)r->p.items : train_nan();
    return tn_ok();
}

static bool train_epoch(train_run *r) {
    const tn_train_args *a = r->a;
    tn_device_id device;
    bool more = true;
    r->began = tn_now();
    r->loss_sum = r->hits = 0;
    r->p.step = r->p.items = 0;
    r->p.steps = tn_loader_batches(a->loader);
    r->p.loss = r->p.accuracy = r->p.batch_loss = r->p.test_loss = r->p.test_accuracy = train_nan();
    r->p.lr = tn_optimizer_get_at(NULL, 0, a->optimizer, 0, "lr");
    if (!train_tell(r, TN_EVENT_EPOCH)) return false;
    tn_module_train(a->model, true);
    device = train_device(a->model);
    while (more) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        more = train_next(a->loader, device, &b) && train_step(r, &b);
        tn_scope_end(mark);
        if (more && !train_tell(r, TN_EVENT_STEP)) return false;
    }
    return tn_ok() && train_tell(r, TN_EVENT_TRAINED);
}

typedef struct train_sums {
    double loss, hits, items;
    bool classes;
} train_sums;

static bool train_evaluate_batch(tn_module *model, tn_module *loss, const tn_batch *b,
                                 train_sums *s) {
    tn_tensor *output, *value;
    double hits;
    if (b->nfields < 2) return tni_nn_error(TN_INVALID, "expected a batch of input and target");
    output = tn_forward_at(NULL, 0, model, b->field[0]);
    value = output ? train_loss_of(loss, output, b->field[1]) : NULL;
    if (!value) return false;
    hits = train_hits(output, b->field[1]);
    s->classes = hits >= 0;
    s->hits += hits;
    s->loss = fma(tn_item(value), (double)b->n, s->loss);
    s->items += (double)b->n;
    return tn_ok();
}

typedef struct train_mode {
    tn_module *m;
    bool training;
} train_mode;

static bool train_note_mode(tn_module *m, const char *path, void *user) {
    train_mode mode;
    (void)path;
    memset(&mode, 0, sizeof mode);
    mode.m = m;
    mode.training = m->training;
    if (!tni_buffer_add((tni_buffer *)user, &mode, sizeof mode)) return false;
    tn_module_hold(m);
    return true;
}

static void train_restore_modes(tni_buffer *modes) {
    train_mode *mode = (train_mode *)(void *)modes->at;
    for (int64_t i = 0; i < modes->n / (int64_t)sizeof *mode; i++) {
        mode[i].m->training = mode[i].training;
        tn_module_free(mode[i].m);
    }
    tni_buffer_free(modes);
}

static bool train_evaluate(tn_module *model, tn_module *loss, tn_loader *loader, train_sums *s,
                           train_run *tell) {
    tni_buffer modes = {NULL, 0, 0, false};
    bool more = tn_module_walk_at(NULL, 0, model, train_note_mode, &modes),
         mode = tn_set_grad_mode(false);
    const tn_device_id device = train_device(model);
    memset(s, 0, sizeof *s);
    tn_loader_stop(loader);
    if (more) tn_module_train(model, false);
    while (more) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        more = train_next(loader, device, &b) && train_evaluate_batch(model, loss, &b, s);
        tn_scope_end(mark);
        if (more && tell) {
            tell->p.test_loss = s->loss / s->items;
            tell->p.test_accuracy = s->classes ? s->hits / s->items : train_nan();
            more = train_tell(tell, TN_EVENT_EVALUATE);
        }
    }
    tn_loader_stop(loader);
    train_restore_modes(&modes);
    tn_set_grad_mode(mode);
    return tn_ok();
}

static tn_module *train_default_loss(void) {
    return tnp_nn_cross_entropy_loss(NULL, -100, TN_REDUCTION_MEAN, 0, TN_NO_DTYPE, TN_NO_DEVICE);
}

TN_API bool tn_evaluate_at(const char *file, int line, tn_module *model, tn_module *loss,
                           tn_loader *loader, double *mean_loss, double *accuracy) {
    tn_module *own = NULL;
    train_sums s;
    tni_step step;
    bool ok = model && loader;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "evaluate");
    if (!ok) tni_nn_error(TN_INVALID, "model or loader is NULL");
    if (ok && !loss) loss = own = train_default_loss();
    ok = ok && loss && train_evaluate(model, loss, loader, &s, NULL);
    tn_module_free(own);
    tni_step_end(&step);
    if (ok && mean_loss) *mean_loss = s.items > 0 ? s.loss / s.items : train_nan();
    if (ok && accuracy) *accuracy = s.classes ? s.hits / s.items : train_nan();
    return ok;
}

static tn_state train_state(const tn_train_args *a, tn_named_number *epoch) {
    tn_state s;
    memset(&s, 0, sizeof s);
    s.model = a->model;
    s.optimizer = a->optimizer;
    s.schedule = a->schedule;
    s.generator = tn_default_generator();
    s.numbers = epoch;
    s.nnumbers = 1;
    s.loader_generator = tn_loader_generator(a->loader);
    return s;
}

static bool train_epoch_end(train_run *r) {
    const tn_train_args *a = r->a;
    tn_named_number done;
    train_sums s;
    done.name = "epoch";
    done.value = (double)(r->p.epoch + 1);
    if (a->test && (!train_evaluate(a->model, r->loss, a->test, &s, r) || r->stopped)) return false;
    if (a->schedule && !tn_schedule_step_at(NULL, 0, a->schedule)) return false;
    if (!train_tell(r, TN_EVENT_EPOCH_END)) return false;
    if (a->checkpoint) {
        tn_state state = train_state(a, &done);
        if (!tn_checkpoint_save_at(NULL, 0, a->checkpoint, &state) ||
            !train_tell(r, TN_EVENT_SAVED))
            return false;
    }
    return true;
}

static bool train_resume(train_run *r) {
    const tn_train_args *a = r->a;
    tn_named_number done;
    tn_state state;
    bool exists;
    if (!a->resume || !a->checkpoint) return true;
    if (!tn_file_exists_at(NULL, 0, a->checkpoint, &exists)) return false;
    if (!exists) return true;
    done.name = "epoch";
    if (!tni_checkpoint_number(a->checkpoint, done.name, &done.value)) return false;
    if (!tni_is_count(done.value))
        return tni_nn_error(TN_FORMAT,
                            "'%s': train.epoch is %g, expected the number of completed epochs",
                            a->checkpoint, done.value);
    state = train_state(a, &done);
    if (!tn_checkpoint_load_at(NULL, 0, a->checkpoint, &state)) return false;
    r->p.epoch = (int64_t)done.value;
    return true;
}

static bool train_has_batches(tn_loader *l, const char *name) {
    if (tn_loader_batches(l)) return true;
    return tni_nn_error(TN_INVALID, "%s has no batches: its data set has %lld items", name,
                        (long long)tn_loader_dataset(l)->size);
}

static bool train_run_all(train_run *r) {
    const tn_train_args *a = r->a;
    r->loss = a->loss;
    if (!r->loss && !(r->loss = train_default_loss())) return false;
    tn_loader_stop(a->loader);
    r->began = tn_now();
    r->p.epochs = a->epochs;
    if (!train_has_batches(a->loader, "the loader") ||
        (a->test && !train_has_batches(a->test, "the test loader")))
        return false;
    if (!train_resume(r) || !train_tell(r, TN_EVENT_BEGIN)) return false;
    for (; r->p.epoch < a->epochs; r->p.epoch++)
        if (!train_epoch(r) || !train_epoch_end(r)) return false;
    return train_tell(r, TN_EVENT_END);
}

TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args) {
    train_run r;
    tni_step step;
    if (!tn_ok()) return false;
    memset(&r, 0, sizeof r);
    tni_step_begin(&step, file, line, "train");
    r.a = args;
    if (!args || !args->model || !args->optimizer || !args->loader)
        tni_nn_error(TN_INVALID, "model, optimizer or loader is NULL");
    else
        train_run_all(&r);
    if (args && args->loader) tn_loader_stop(args->loader);
    if (args && args->model) tn_module_train(args->model, true);
    if (args && !args->loss) tn_module_free(r.loss);
    tni_step_end(&step);
    return tn_ok();
}

/* src/gen/modules.c - tables and functions behind modules.h: tni_mgen_linear of a module's row tni_module_linear */

#include <math.h>

static TNI_UNUSED const char *const tni_nn_words_reduction[] = {"none", "mean", "sum", NULL};
static TNI_UNUSED const char *const tni_nn_words_approximate[] = {"none", "tanh", NULL};
static TNI_UNUSED const char *const tni_nn_words_rounding[] = {"trunc", "floor", NULL};
static TNI_UNUSED const char *const tni_nn_words_memory_format[] = {"contiguous_format",
    "preserve_format", "channels_last", "channels_last_3d", NULL};
static TNI_UNUSED const char *const tni_nn_words_padding_mode[] = {"zeros", "reflect", "replicate",
    "circular", NULL};
static TNI_UNUSED const char *const tni_nn_words_reduce_op[] = {"sum", "avg", "product", "min",
    "max", "band", "bor", "bxor", NULL};
static TNI_UNUSED const char *const tni_nn_words_resize_mode[] = {"nearest", "nearest_exact",
    "linear", "bilinear", "trilinear", "bicubic", "area", NULL};
static TNI_UNUSED const char *const tni_nn_words_batch_reduction[] = {"none", "mean", "sum",
    "batchmean", NULL};
static TNI_UNUSED const char *const tni_nn_words_optimizer_rule[] = {"adagrad", "rmsprop",
    "adadelta", "adamax", "nadam", "radam", "rprop", "asgd", "assign", NULL};

TN_PRIV_DECLARE(tn_mrow, tni_module_relu);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_relu);
static const tn_param tni_params_nn_relu[] = {
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_relu_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_relu_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_relu_args, device), 0, -1,
     NULL},
};
static const tn_nn_relu_args tni_defaults_nn_relu = {false, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_relu[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_relu = {tni_params_nn_relu, &tni_defaults_nn_relu, tni_names_nn_relu,
    NULL, 3, 0, 0, 0, sizeof(tn_nn_relu_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_relu) = {"ReLU", &tni_make_relu, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_relu_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_leaky_relu);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_leaky_relu);
static const tn_param tni_params_nn_leaky_relu[] = {
    {"negative_slope", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_leaky_relu_args, negative_slope),
     0, -1, NULL},
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_leaky_relu_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_leaky_relu_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_leaky_relu_args, device),
     0, -1, NULL},
};
static const tn_nn_leaky_relu_args tni_defaults_nn_leaky_relu = {0.01, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_leaky_relu[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_leaky_relu = {tni_params_nn_leaky_relu, &tni_defaults_nn_leaky_relu,
    tni_names_nn_leaky_relu, NULL, 4, 0, 0, 0, sizeof(tn_nn_leaky_relu_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_leaky_relu) = {"LeakyReLU", &tni_make_leaky_relu, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_leaky_relu_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_prelu);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_prelu);
static const tn_param tni_params_nn_prelu[] = {
    {"num_parameters", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_prelu_args, num_parameters), 0, -1,
     NULL},
    {"init", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_prelu_args, init), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_prelu_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_prelu_args, device), 0,
     -1, NULL},
};
static const tn_nn_prelu_args tni_defaults_nn_prelu = {1, 0.25, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_prelu[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_prelu = {tni_params_nn_prelu, &tni_defaults_nn_prelu,
    tni_names_nn_prelu, NULL, 4, 0, 0, 0, sizeof(tn_nn_prelu_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_prelu[] = {
    {"weight", offsetof(tn_nn_prelu_self, weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_prelu) = {"PReLU", &tni_make_prelu, NULL, tni_fields_prelu,
    NULL, 1, 0, offsetof(tn_nn_prelu_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_gelu);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_gelu);
static const tn_param tni_params_nn_gelu[] = {
    {"approximate", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_gelu_args, approximate), 0, -1,
     tni_nn_words_approximate},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_gelu_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_gelu_args, device), 0, -1,
     NULL},
};
static const tn_nn_gelu_args tni_defaults_nn_gelu = {TN_APPROXIMATE_NONE, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_gelu[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_gelu = {tni_params_nn_gelu, &tni_defaults_nn_gelu, tni_names_nn_gelu,
    NULL, 3, 0, 0, 0, sizeof(tn_nn_gelu_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_gelu) = {"GELU", &tni_make_gelu, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_gelu_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_silu);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_silu);
static const tn_param tni_params_nn_silu[] = {
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_silu_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_silu_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_silu_args, device), 0, -1,
     NULL},
};
static const tn_nn_silu_args tni_defaults_nn_silu = {false, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_silu[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_silu = {tni_params_nn_silu, &tni_defaults_nn_silu, tni_names_nn_silu,
    NULL, 3, 0, 0, 0, sizeof(tn_nn_silu_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_silu) = {"SiLU", &tni_make_silu, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_silu_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_sigmoid);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_sigmoid);
static const tn_param tni_params_nn_sigmoid[] = {
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_sigmoid_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_sigmoid_args, device), 0,
     -1, NULL},
};
static const tn_nn_sigmoid_args tni_defaults_nn_sigmoid = {TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_sigmoid[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_sigmoid = {tni_params_nn_sigmoid, &tni_defaults_nn_sigmoid,
    tni_names_nn_sigmoid, NULL, 2, 0, 0, 0, sizeof(tn_nn_sigmoid_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_sigmoid) = {"Sigmoid", &tni_make_sigmoid, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_sigmoid_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_tanh);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_tanh);
static const tn_param tni_params_nn_tanh[] = {
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_tanh_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_tanh_args, device), 0, -1,
     NULL},
};
static const tn_nn_tanh_args tni_defaults_nn_tanh = {TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_tanh[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_tanh = {tni_params_nn_tanh, &tni_defaults_nn_tanh, tni_names_nn_tanh,
    NULL, 2, 0, 0, 0, sizeof(tn_nn_tanh_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_tanh) = {"Tanh", &tni_make_tanh, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_tanh_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_softplus);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_softplus);
static const tn_param tni_params_nn_softplus[] = {
    {"beta", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_softplus_args, beta), 0, -1, NULL},
    {"threshold", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_softplus_args, threshold), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softplus_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softplus_args, device), 0,
     -1, NULL},
};
static const tn_nn_softplus_args tni_defaults_nn_softplus = {1, 20, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_softplus[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_softplus = {tni_params_nn_softplus, &tni_defaults_nn_softplus,
    tni_names_nn_softplus, NULL, 4, 0, 0, 0, sizeof(tn_nn_softplus_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_softplus) = {"Softplus", &tni_make_softplus, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_softplus_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_softsign);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_softsign);
static const tn_param tni_params_nn_softsign[] = {
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softsign_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softsign_args, device), 0,
     -1, NULL},
};
static const tn_nn_softsign_args tni_defaults_nn_softsign = {TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_softsign[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_softsign = {tni_params_nn_softsign, &tni_defaults_nn_softsign,
    tni_names_nn_softsign, NULL, 2, 0, 0, 0, sizeof(tn_nn_softsign_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_softsign) = {"Softsign", &tni_make_softsign, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_softsign_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_softmax);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_softmax);
static const tn_param tni_params_nn_softmax[] = {
    {"dim", TN_T_INT, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softmax_args, dim), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softmax_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_softmax_args, device), 0,
     -1, NULL},
};
static const tn_nn_softmax_args tni_defaults_nn_softmax = {TN_NONE, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_softmax[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_softmax = {tni_params_nn_softmax, &tni_defaults_nn_softmax,
    tni_names_nn_softmax, NULL, 3, 0, 0, 0, sizeof(tn_nn_softmax_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_softmax) = {"Softmax", &tni_make_softmax, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_softmax_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_log_softmax);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_log_softmax);
static const tn_param tni_params_nn_log_softmax[] = {
    {"dim", TN_T_INT, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_log_softmax_args, dim), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_log_softmax_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_log_softmax_args, device),
     0, -1, NULL},
};
static const tn_nn_log_softmax_args tni_defaults_nn_log_softmax = {TN_NONE, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_log_softmax[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_log_softmax = {tni_params_nn_log_softmax,
    &tni_defaults_nn_log_softmax, tni_names_nn_log_softmax, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_log_softmax_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_log_softmax) = {"LogSoftmax", &tni_make_log_softmax, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_log_softmax_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_multihead_attention);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_multihead_attention);
static const tn_param tni_params_nn_multihead_attention[] = {
    {"embed_dim", TN_T_INT, 0, offsetof(tn_nn_multihead_attention_args, embed_dim), 0, -1, NULL},
    {"num_heads", TN_T_INT, 0, offsetof(tn_nn_multihead_attention_args, num_heads), 0, -1, NULL},
    {"dropout", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_args, dropout), 0, -1,
     NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_args, bias), 0, -1, NULL},
    {"batch_first", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_args, batch_first),
     0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_args,
     device), 0, -1, NULL},
};
static const tn_nn_multihead_attention_args tni_defaults_nn_multihead_attention = {0, true, false,
    TN_NO_DTYPE, TN_NO_DEVICE, 0, 0};
static const char *const tni_names_nn_multihead_attention[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_multihead_attention = {tni_params_nn_multihead_attention,
    &tni_defaults_nn_multihead_attention, tni_names_nn_multihead_attention, NULL, 7, 0, 0, 0,
    sizeof(tn_nn_multihead_attention_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_multihead_attention_forward[] = {
    {"query", TN_T_TENSOR, 0, offsetof(tn_nn_multihead_attention_forward_args, query), 0, -1, NULL},
    {"key", TN_T_TENSOR, 0, offsetof(tn_nn_multihead_attention_forward_args, key), 0, -1, NULL},
    {"value", TN_T_TENSOR, 0, offsetof(tn_nn_multihead_attention_forward_args, value), 0, -1, NULL},
    {"key_padding_mask", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_multihead_attention_forward_args, key_padding_mask), 0, -1, NULL},
    {"need_weights", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_forward_args,
     need_weights), 0, -1, NULL},
    {"attn_mask", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_multihead_attention_forward_args, attn_mask), 0, -1, NULL},
    {"average_attn_weights", TN_T_BOOL, TN_P_DEFAULT,
     offsetof(tn_nn_multihead_attention_forward_args, average_attn_weights), 0, -1, NULL},
    {"is_causal", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_multihead_attention_forward_args,
     is_causal), 0, -1, NULL},
};
static const tn_nn_multihead_attention_forward_args tni_defaults_nn_multihead_attention_forward = {NULL, true, NULL, true, false, NULL, NULL, NULL, NULL};
static const char *const tni_names_nn_multihead_attention_forward[] = {"attn_output",
    "attn_output_weights", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_multihead_attention = {tni_params_nn_multihead_attention_forward,
    &tni_defaults_nn_multihead_attention_forward, tni_names_nn_multihead_attention_forward, NULL,
    8, 5, 2, 0, sizeof(tn_nn_multihead_attention_forward_args), UINT16_MAX, 0, NULL, {0, 1, 2, 3,
    5, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_multihead_attention[] = {
    {"in_proj_weight", offsetof(tn_nn_multihead_attention_self, in_proj_weight)},
    {"in_proj_bias", offsetof(tn_nn_multihead_attention_self, in_proj_bias)},
    {"out_proj", offsetof(tn_nn_multihead_attention_self, out_proj)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_multihead_attention) = {"MultiheadAttention", &tni_make_multihead_attention, &tni_call_multihead_attention, tni_fields_multihead_attention,
    NULL, 3, 0, offsetof(tn_nn_multihead_attention_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_sequential);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_sequential);
static const tn_param tni_params_nn_sequential[] = {
    {"modules", TN_T_MODULES, 0, offsetof(tn_nn_sequential_args, modules), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_sequential_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_sequential_args, device),
     0, -1, NULL},
};
static const tn_nn_sequential_args tni_defaults_nn_sequential = {TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}};
static const char *const tni_names_nn_sequential[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_sequential = {tni_params_nn_sequential, &tni_defaults_nn_sequential,
    tni_names_nn_sequential, NULL, 3, 0, 0, 0, sizeof(tn_nn_sequential_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_sequential) = {"Sequential", &tni_make_sequential, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_sequential_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_module_list);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_module_list);
static const tn_param tni_params_nn_module_list[] = {
    {"modules", TN_T_MODULES, 0, offsetof(tn_nn_module_list_args, modules), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_module_list_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_module_list_args, device),
     0, -1, NULL},
};
static const tn_nn_module_list_args tni_defaults_nn_module_list = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}};
static const char *const tni_names_nn_module_list[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_module_list = {tni_params_nn_module_list,
    &tni_defaults_nn_module_list, tni_names_nn_module_list, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_module_list_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_module_list) = {"ModuleList", &tni_make_module_list, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_module_list_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv1d);
static const tn_param tni_params_nn_conv1d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv1d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv1d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv1d_args, kernel_size), 0, 1, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, stride), 0, 1, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, padding), 0, 1, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, dilation), 0, 1, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, bias), 0, -1, NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, padding_mode), 0, -1,
     tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv1d_args, device), 0,
     -1, NULL},
};
static const int64_t tni_list_nn_conv1d_stride[] = {1};
static const int64_t tni_list_nn_conv1d_padding[] = {0};
static const int64_t tni_list_nn_conv1d_dilation[] = {1};
static const tn_nn_conv1d_args tni_defaults_nn_conv1d = {{tni_list_nn_conv1d_stride, 1},
    {tni_list_nn_conv1d_padding, 1}, {tni_list_nn_conv1d_dilation, 1}, 1, true,
    TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv1d = {tni_params_nn_conv1d, &tni_defaults_nn_conv1d,
    tni_names_nn_conv1d, NULL, 11, 0, 0, 0, sizeof(tn_nn_conv1d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv1d[] = {
    {"weight", offsetof(tn_nn_conv1d_self, weight)},
    {"bias", offsetof(tn_nn_conv1d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv1d) = {"Conv1d", &tni_make_conv1d, NULL, tni_fields_conv1d,
    NULL, 2, 0, offsetof(tn_nn_conv1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv2d);
static const tn_param tni_params_nn_conv2d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv2d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv2d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv2d_args, kernel_size), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, stride), 0, 2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, padding), 0, 2, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, dilation), 0, 2, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, bias), 0, -1, NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, padding_mode), 0, -1,
     tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv2d_args, device), 0,
     -1, NULL},
};
static const int64_t tni_list_nn_conv2d_stride[] = {1};
static const int64_t tni_list_nn_conv2d_padding[] = {0};
static const int64_t tni_list_nn_conv2d_dilation[] = {1};
static const tn_nn_conv2d_args tni_defaults_nn_conv2d = {{tni_list_nn_conv2d_stride, 1},
    {tni_list_nn_conv2d_padding, 1}, {tni_list_nn_conv2d_dilation, 1}, 1, true,
    TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv2d = {tni_params_nn_conv2d, &tni_defaults_nn_conv2d,
    tni_names_nn_conv2d, NULL, 11, 0, 0, 0, sizeof(tn_nn_conv2d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv2d[] = {
    {"weight", offsetof(tn_nn_conv2d_self, weight)},
    {"bias", offsetof(tn_nn_conv2d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv2d) = {"Conv2d", &tni_make_conv2d, NULL, tni_fields_conv2d,
    NULL, 2, 0, offsetof(tn_nn_conv2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv3d);
static const tn_param tni_params_nn_conv3d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv3d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv3d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv3d_args, kernel_size), 0, 3, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, stride), 0, 3, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, padding), 0, 3, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, dilation), 0, 3, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, bias), 0, -1, NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, padding_mode), 0, -1,
     tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv3d_args, device), 0,
     -1, NULL},
};
static const int64_t tni_list_nn_conv3d_stride[] = {1};
static const int64_t tni_list_nn_conv3d_padding[] = {0};
static const int64_t tni_list_nn_conv3d_dilation[] = {1};
static const tn_nn_conv3d_args tni_defaults_nn_conv3d = {{tni_list_nn_conv3d_stride, 1},
    {tni_list_nn_conv3d_padding, 1}, {tni_list_nn_conv3d_dilation, 1}, 1, true,
    TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv3d = {tni_params_nn_conv3d, &tni_defaults_nn_conv3d,
    tni_names_nn_conv3d, NULL, 11, 0, 0, 0, sizeof(tn_nn_conv3d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv3d[] = {
    {"weight", offsetof(tn_nn_conv3d_self, weight)},
    {"bias", offsetof(tn_nn_conv3d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv3d) = {"Conv3d", &tni_make_conv3d, NULL, tni_fields_conv3d,
    NULL, 2, 0, offsetof(tn_nn_conv3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv_transpose1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv_transpose1d);
static const tn_param tni_params_nn_conv_transpose1d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose1d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose1d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv_transpose1d_args, kernel_size), 0, 1, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, stride), 0, 1, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, padding), 0, 1,
     NULL},
    {"output_padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args,
     output_padding), 0, 1, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, bias), 0, -1, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, dilation), 0, 1,
     NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args, padding_mode),
     0, -1, tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose1d_args,
     device), 0, -1, NULL},
};
static const int64_t tni_list_nn_conv_transpose1d_stride[] = {1};
static const int64_t tni_list_nn_conv_transpose1d_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose1d_output_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose1d_dilation[] = {1};
static const tn_nn_conv_transpose1d_args tni_defaults_nn_conv_transpose1d = {{tni_list_nn_conv_transpose1d_stride, 1}, {tni_list_nn_conv_transpose1d_padding, 1}, {tni_list_nn_conv_transpose1d_output_padding, 1}, 1, true, {tni_list_nn_conv_transpose1d_dilation, 1}, TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv_transpose1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv_transpose1d = {tni_params_nn_conv_transpose1d,
    &tni_defaults_nn_conv_transpose1d, tni_names_nn_conv_transpose1d, NULL, 12, 0, 0, 0,
    sizeof(tn_nn_conv_transpose1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_conv_transpose1d_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_conv_transpose1d_forward_args, input), 0, -1, NULL},
    {"output_size", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_conv_transpose1d_forward_args, output_size), 0, -1, NULL},
};
static const tn_nn_conv_transpose1d_forward_args tni_defaults_nn_conv_transpose1d_forward = {{NULL,
    -1}, NULL, NULL};
static const char *const tni_names_nn_conv_transpose1d_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_conv_transpose1d = {tni_params_nn_conv_transpose1d_forward,
    &tni_defaults_nn_conv_transpose1d_forward, tni_names_nn_conv_transpose1d_forward, NULL, 2, 1,
    1, 0, sizeof(tn_nn_conv_transpose1d_forward_args), UINT16_MAX, TN_PROP_INTS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv_transpose1d[] = {
    {"weight", offsetof(tn_nn_conv_transpose1d_self, weight)},
    {"bias", offsetof(tn_nn_conv_transpose1d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv_transpose1d) = {"ConvTranspose1d", &tni_make_conv_transpose1d, &tni_call_conv_transpose1d, tni_fields_conv_transpose1d,
    NULL, 2, 0, offsetof(tn_nn_conv_transpose1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv_transpose2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv_transpose2d);
static const tn_param tni_params_nn_conv_transpose2d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose2d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose2d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv_transpose2d_args, kernel_size), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, stride), 0, 2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, padding), 0, 2,
     NULL},
    {"output_padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args,
     output_padding), 0, 2, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, bias), 0, -1, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, dilation), 0, 2,
     NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args, padding_mode),
     0, -1, tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose2d_args,
     device), 0, -1, NULL},
};
static const int64_t tni_list_nn_conv_transpose2d_stride[] = {1};
static const int64_t tni_list_nn_conv_transpose2d_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose2d_output_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose2d_dilation[] = {1};
static const tn_nn_conv_transpose2d_args tni_defaults_nn_conv_transpose2d = {{tni_list_nn_conv_transpose2d_stride, 1}, {tni_list_nn_conv_transpose2d_padding, 1}, {tni_list_nn_conv_transpose2d_output_padding, 1}, 1, true, {tni_list_nn_conv_transpose2d_dilation, 1}, TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv_transpose2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv_transpose2d = {tni_params_nn_conv_transpose2d,
    &tni_defaults_nn_conv_transpose2d, tni_names_nn_conv_transpose2d, NULL, 12, 0, 0, 0,
    sizeof(tn_nn_conv_transpose2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_conv_transpose2d_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_conv_transpose2d_forward_args, input), 0, -1, NULL},
    {"output_size", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_conv_transpose2d_forward_args, output_size), 0, -1, NULL},
};
static const tn_nn_conv_transpose2d_forward_args tni_defaults_nn_conv_transpose2d_forward = {{NULL,
    -1}, NULL, NULL};
static const char *const tni_names_nn_conv_transpose2d_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_conv_transpose2d = {tni_params_nn_conv_transpose2d_forward,
    &tni_defaults_nn_conv_transpose2d_forward, tni_names_nn_conv_transpose2d_forward, NULL, 2, 1,
    1, 0, sizeof(tn_nn_conv_transpose2d_forward_args), UINT16_MAX, TN_PROP_INTS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv_transpose2d[] = {
    {"weight", offsetof(tn_nn_conv_transpose2d_self, weight)},
    {"bias", offsetof(tn_nn_conv_transpose2d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv_transpose2d) = {"ConvTranspose2d", &tni_make_conv_transpose2d, &tni_call_conv_transpose2d, tni_fields_conv_transpose2d,
    NULL, 2, 0, offsetof(tn_nn_conv_transpose2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_conv_transpose3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_conv_transpose3d);
static const tn_param tni_params_nn_conv_transpose3d[] = {
    {"in_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose3d_args, in_channels), 0, -1, NULL},
    {"out_channels", TN_T_INT, 0, offsetof(tn_nn_conv_transpose3d_args, out_channels), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_conv_transpose3d_args, kernel_size), 0, 3, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, stride), 0, 3, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, padding), 0, 3,
     NULL},
    {"output_padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args,
     output_padding), 0, 3, NULL},
    {"groups", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, groups), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, bias), 0, -1, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, dilation), 0, 3,
     NULL},
    {"padding_mode", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args, padding_mode),
     0, -1, tni_nn_words_padding_mode},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_conv_transpose3d_args,
     device), 0, -1, NULL},
};
static const int64_t tni_list_nn_conv_transpose3d_stride[] = {1};
static const int64_t tni_list_nn_conv_transpose3d_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose3d_output_padding[] = {0};
static const int64_t tni_list_nn_conv_transpose3d_dilation[] = {1};
static const tn_nn_conv_transpose3d_args tni_defaults_nn_conv_transpose3d = {{tni_list_nn_conv_transpose3d_stride, 1}, {tni_list_nn_conv_transpose3d_padding, 1}, {tni_list_nn_conv_transpose3d_output_padding, 1}, 1, true, {tni_list_nn_conv_transpose3d_dilation, 1}, TN_PADDING_MODE_ZEROS, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0, {NULL, 0}};
static const char *const tni_names_nn_conv_transpose3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_conv_transpose3d = {tni_params_nn_conv_transpose3d,
    &tni_defaults_nn_conv_transpose3d, tni_names_nn_conv_transpose3d, NULL, 12, 0, 0, 0,
    sizeof(tn_nn_conv_transpose3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_conv_transpose3d_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_conv_transpose3d_forward_args, input), 0, -1, NULL},
    {"output_size", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_conv_transpose3d_forward_args, output_size), 0, -1, NULL},
};
static const tn_nn_conv_transpose3d_forward_args tni_defaults_nn_conv_transpose3d_forward = {{NULL,
    -1}, NULL, NULL};
static const char *const tni_names_nn_conv_transpose3d_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_conv_transpose3d = {tni_params_nn_conv_transpose3d_forward,
    &tni_defaults_nn_conv_transpose3d_forward, tni_names_nn_conv_transpose3d_forward, NULL, 2, 1,
    1, 0, sizeof(tn_nn_conv_transpose3d_forward_args), UINT16_MAX, TN_PROP_INTS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_conv_transpose3d[] = {
    {"weight", offsetof(tn_nn_conv_transpose3d_self, weight)},
    {"bias", offsetof(tn_nn_conv_transpose3d_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_conv_transpose3d) = {"ConvTranspose3d", &tni_make_conv_transpose3d, &tni_call_conv_transpose3d, tni_fields_conv_transpose3d,
    NULL, 2, 0, offsetof(tn_nn_conv_transpose3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_max_pool2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_max_pool2d);
static const tn_param tni_params_nn_max_pool2d[] = {
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_max_pool2d_args, kernel_size), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, stride), 0,
     2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, padding), 0, 2, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, dilation), 0, 2, NULL},
    {"return_indices", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, return_indices), 0,
     -1, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, ceil_mode), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool2d_args, device),
     0, -1, NULL},
};
static const int64_t tni_list_nn_max_pool2d_padding[] = {0};
static const int64_t tni_list_nn_max_pool2d_dilation[] = {1};
static const tn_nn_max_pool2d_args tni_defaults_nn_max_pool2d = {{NULL, -1},
    {tni_list_nn_max_pool2d_padding, 1}, {tni_list_nn_max_pool2d_dilation, 1}, false, false,
    TN_NO_DTYPE, TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_max_pool2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_max_pool2d = {tni_params_nn_max_pool2d, &tni_defaults_nn_max_pool2d,
    tni_names_nn_max_pool2d, NULL, 8, 0, 0, 0, sizeof(tn_nn_max_pool2d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_max_pool2d) = {"MaxPool2d", &tni_make_max_pool2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_max_pool2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_avg_pool2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_avg_pool2d);
static const tn_param tni_params_nn_avg_pool2d[] = {
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_avg_pool2d_args, kernel_size), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args, stride), 0,
     2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args, padding), 0, 2, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args, ceil_mode), 0, -1, NULL},
    {"count_include_pad", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args,
     count_include_pad), 0, -1, NULL},
    {"divisor_override", TN_T_INT, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args,
     divisor_override), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool2d_args, device),
     0, -1, NULL},
};
static const int64_t tni_list_nn_avg_pool2d_padding[] = {0};
static const tn_nn_avg_pool2d_args tni_defaults_nn_avg_pool2d = {{NULL, -1},
    {tni_list_nn_avg_pool2d_padding, 1}, false, true, TN_NONE, TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}};
static const char *const tni_names_nn_avg_pool2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_avg_pool2d = {tni_params_nn_avg_pool2d, &tni_defaults_nn_avg_pool2d,
    tni_names_nn_avg_pool2d, NULL, 8, 0, 0, 0, sizeof(tn_nn_avg_pool2d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_avg_pool2d) = {"AvgPool2d", &tni_make_avg_pool2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_avg_pool2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_adaptive_avg_pool2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_adaptive_avg_pool2d);
static const tn_param tni_params_nn_adaptive_avg_pool2d[] = {
    {"output_size", TN_T_INTS, 0, offsetof(tn_nn_adaptive_avg_pool2d_args, output_size), 0, 2,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool2d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool2d_args,
     device), 0, -1, NULL},
};
static const tn_nn_adaptive_avg_pool2d_args tni_defaults_nn_adaptive_avg_pool2d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_adaptive_avg_pool2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_adaptive_avg_pool2d = {tni_params_nn_adaptive_avg_pool2d,
    &tni_defaults_nn_adaptive_avg_pool2d, tni_names_nn_adaptive_avg_pool2d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_adaptive_avg_pool2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0,
    0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_adaptive_avg_pool2d) = {"AdaptiveAvgPool2d", &tni_make_adaptive_avg_pool2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_adaptive_avg_pool2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_max_pool1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_max_pool1d);
static const tn_param tni_params_nn_max_pool1d[] = {
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_max_pool1d_args, kernel_size), 0, 1, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, stride), 0,
     1, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, padding), 0, 1, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, dilation), 0, 1, NULL},
    {"return_indices", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, return_indices), 0,
     -1, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, ceil_mode), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_max_pool1d_args, device),
     0, -1, NULL},
};
static const int64_t tni_list_nn_max_pool1d_padding[] = {0};
static const int64_t tni_list_nn_max_pool1d_dilation[] = {1};
static const tn_nn_max_pool1d_args tni_defaults_nn_max_pool1d = {{NULL, -1},
    {tni_list_nn_max_pool1d_padding, 1}, {tni_list_nn_max_pool1d_dilation, 1}, false, false,
    TN_NO_DTYPE, TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_max_pool1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_max_pool1d = {tni_params_nn_max_pool1d, &tni_defaults_nn_max_pool1d,
    tni_names_nn_max_pool1d, NULL, 8, 0, 0, 0, sizeof(tn_nn_max_pool1d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_max_pool1d) = {"MaxPool1d", &tni_make_max_pool1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_max_pool1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_avg_pool1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_avg_pool1d);
static const tn_param tni_params_nn_avg_pool1d[] = {
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_avg_pool1d_args, kernel_size), 0, 1, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args, stride), 0,
     1, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args, padding), 0, 1, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args, ceil_mode), 0, -1, NULL},
    {"count_include_pad", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args,
     count_include_pad), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_avg_pool1d_args, device),
     0, -1, NULL},
};
static const int64_t tni_list_nn_avg_pool1d_padding[] = {0};
static const tn_nn_avg_pool1d_args tni_defaults_nn_avg_pool1d = {{NULL, -1},
    {tni_list_nn_avg_pool1d_padding, 1}, false, true, TN_NO_DTYPE, TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_avg_pool1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_avg_pool1d = {tni_params_nn_avg_pool1d, &tni_defaults_nn_avg_pool1d,
    tni_names_nn_avg_pool1d, NULL, 7, 0, 0, 0, sizeof(tn_nn_avg_pool1d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_avg_pool1d) = {"AvgPool1d", &tni_make_avg_pool1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_avg_pool1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_adaptive_avg_pool1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_adaptive_avg_pool1d);
static const tn_param tni_params_nn_adaptive_avg_pool1d[] = {
    {"output_size", TN_T_INTS, 0, offsetof(tn_nn_adaptive_avg_pool1d_args, output_size), 0, 1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool1d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool1d_args,
     device), 0, -1, NULL},
};
static const tn_nn_adaptive_avg_pool1d_args tni_defaults_nn_adaptive_avg_pool1d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_adaptive_avg_pool1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_adaptive_avg_pool1d = {tni_params_nn_adaptive_avg_pool1d,
    &tni_defaults_nn_adaptive_avg_pool1d, tni_names_nn_adaptive_avg_pool1d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_adaptive_avg_pool1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0,
    0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_adaptive_avg_pool1d) = {"AdaptiveAvgPool1d", &tni_make_adaptive_avg_pool1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_adaptive_avg_pool1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_adaptive_avg_pool3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_adaptive_avg_pool3d);
static const tn_param tni_params_nn_adaptive_avg_pool3d[] = {
    {"output_size", TN_T_INTS, 0, offsetof(tn_nn_adaptive_avg_pool3d_args, output_size), 0, 3,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool3d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_adaptive_avg_pool3d_args,
     device), 0, -1, NULL},
};
static const tn_nn_adaptive_avg_pool3d_args tni_defaults_nn_adaptive_avg_pool3d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_adaptive_avg_pool3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_adaptive_avg_pool3d = {tni_params_nn_adaptive_avg_pool3d,
    &tni_defaults_nn_adaptive_avg_pool3d, tni_names_nn_adaptive_avg_pool3d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_adaptive_avg_pool3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0,
    0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_adaptive_avg_pool3d) = {"AdaptiveAvgPool3d", &tni_make_adaptive_avg_pool3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_adaptive_avg_pool3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_lp_pool1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_lp_pool1d);
static const tn_param tni_params_nn_lp_pool1d[] = {
    {"norm_type", TN_T_FLOAT, 0, offsetof(tn_nn_lp_pool1d_args, norm_type), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_lp_pool1d_args, kernel_size), 0, 1, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool1d_args, stride), 0,
     1, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_lp_pool1d_args, ceil_mode), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool1d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool1d_args, device),
     0, -1, NULL},
};
static const tn_nn_lp_pool1d_args tni_defaults_nn_lp_pool1d = {{NULL, -1}, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0, {NULL, 0}};
static const char *const tni_names_nn_lp_pool1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_lp_pool1d = {tni_params_nn_lp_pool1d, &tni_defaults_nn_lp_pool1d,
    tni_names_nn_lp_pool1d, NULL, 6, 0, 0, 0, sizeof(tn_nn_lp_pool1d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_lp_pool1d) = {"LPPool1d", &tni_make_lp_pool1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_lp_pool1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_lp_pool2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_lp_pool2d);
static const tn_param tni_params_nn_lp_pool2d[] = {
    {"norm_type", TN_T_FLOAT, 0, offsetof(tn_nn_lp_pool2d_args, norm_type), 0, -1, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_lp_pool2d_args, kernel_size), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool2d_args, stride), 0,
     2, NULL},
    {"ceil_mode", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_lp_pool2d_args, ceil_mode), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool2d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lp_pool2d_args, device),
     0, -1, NULL},
};
static const tn_nn_lp_pool2d_args tni_defaults_nn_lp_pool2d = {{NULL, -1}, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0, {NULL, 0}};
static const char *const tni_names_nn_lp_pool2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_lp_pool2d = {tni_params_nn_lp_pool2d, &tni_defaults_nn_lp_pool2d,
    tni_names_nn_lp_pool2d, NULL, 6, 0, 0, 0, sizeof(tn_nn_lp_pool2d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_lp_pool2d) = {"LPPool2d", &tni_make_lp_pool2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_lp_pool2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_cosine_similarity);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_cosine_similarity);
static const tn_param tni_params_nn_cosine_similarity[] = {
    {"dim", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_cosine_similarity_args, dim), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_cosine_similarity_args, eps), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cosine_similarity_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cosine_similarity_args,
     device), 0, -1, NULL},
};
static const tn_nn_cosine_similarity_args tni_defaults_nn_cosine_similarity = {1, 1e-08,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_cosine_similarity[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_cosine_similarity = {tni_params_nn_cosine_similarity,
    &tni_defaults_nn_cosine_similarity, tni_names_nn_cosine_similarity, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_cosine_similarity_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_cosine_similarity_forward[] = {
    {"x1", TN_T_TENSOR, 0, offsetof(tn_nn_cosine_similarity_forward_args, x1), 0, -1, NULL},
    {"x2", TN_T_TENSOR, 0, offsetof(tn_nn_cosine_similarity_forward_args, x2), 0, -1, NULL},
};
static const tn_nn_cosine_similarity_forward_args tni_defaults_nn_cosine_similarity_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_cosine_similarity_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_cosine_similarity = {tni_params_nn_cosine_similarity_forward,
    &tni_defaults_nn_cosine_similarity_forward, tni_names_nn_cosine_similarity_forward, NULL, 2, 2,
    1, 0, sizeof(tn_nn_cosine_similarity_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_cosine_similarity) = {"CosineSimilarity", &tni_make_cosine_similarity, &tni_call_cosine_similarity, NULL,
    NULL, 0, 0, offsetof(tn_nn_cosine_similarity_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_pairwise_distance);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_pairwise_distance);
static const tn_param tni_params_nn_pairwise_distance[] = {
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_pairwise_distance_args, p), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_pairwise_distance_args, eps), 0, -1, NULL},
    {"keepdim", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_pairwise_distance_args, keepdim), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pairwise_distance_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pairwise_distance_args,
     device), 0, -1, NULL},
};
static const tn_nn_pairwise_distance_args tni_defaults_nn_pairwise_distance = {2, 1e-06, false,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_pairwise_distance[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_pairwise_distance = {tni_params_nn_pairwise_distance,
    &tni_defaults_nn_pairwise_distance, tni_names_nn_pairwise_distance, NULL, 5, 0, 0, 0,
    sizeof(tn_nn_pairwise_distance_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_pairwise_distance_forward[] = {
    {"x1", TN_T_TENSOR, 0, offsetof(tn_nn_pairwise_distance_forward_args, x1), 0, -1, NULL},
    {"x2", TN_T_TENSOR, 0, offsetof(tn_nn_pairwise_distance_forward_args, x2), 0, -1, NULL},
};
static const tn_nn_pairwise_distance_forward_args tni_defaults_nn_pairwise_distance_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_pairwise_distance_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_pairwise_distance = {tni_params_nn_pairwise_distance_forward,
    &tni_defaults_nn_pairwise_distance_forward, tni_names_nn_pairwise_distance_forward, NULL, 2, 2,
    1, 0, sizeof(tn_nn_pairwise_distance_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_pairwise_distance) = {"PairwiseDistance", &tni_make_pairwise_distance, &tni_call_pairwise_distance, NULL,
    NULL, 0, 0, offsetof(tn_nn_pairwise_distance_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_unfold);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_unfold);
static const tn_param tni_params_nn_unfold[] = {
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_unfold_args, kernel_size), 0, 2, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_unfold_args, dilation), 0, 2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_unfold_args, padding), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_unfold_args, stride), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_unfold_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_unfold_args, device), 0,
     -1, NULL},
};
static const int64_t tni_list_nn_unfold_dilation[] = {1};
static const int64_t tni_list_nn_unfold_padding[] = {0};
static const int64_t tni_list_nn_unfold_stride[] = {1};
static const tn_nn_unfold_args tni_defaults_nn_unfold = {{tni_list_nn_unfold_dilation, 1},
    {tni_list_nn_unfold_padding, 1}, {tni_list_nn_unfold_stride, 1}, TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}};
static const char *const tni_names_nn_unfold[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_unfold = {tni_params_nn_unfold, &tni_defaults_nn_unfold,
    tni_names_nn_unfold, NULL, 6, 0, 0, 0, sizeof(tn_nn_unfold_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_unfold) = {"Unfold", &tni_make_unfold, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_unfold_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_fold);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_fold);
static const tn_param tni_params_nn_fold[] = {
    {"output_size", TN_T_INTS, 0, offsetof(tn_nn_fold_args, output_size), 0, 2, NULL},
    {"kernel_size", TN_T_INTS, 0, offsetof(tn_nn_fold_args, kernel_size), 0, 2, NULL},
    {"dilation", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_fold_args, dilation), 0, 2, NULL},
    {"padding", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_fold_args, padding), 0, 2, NULL},
    {"stride", TN_T_INTS, TN_P_DEFAULT, offsetof(tn_nn_fold_args, stride), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_fold_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_fold_args, device), 0, -1,
     NULL},
};
static const int64_t tni_list_nn_fold_dilation[] = {1};
static const int64_t tni_list_nn_fold_padding[] = {0};
static const int64_t tni_list_nn_fold_stride[] = {1};
static const tn_nn_fold_args tni_defaults_nn_fold = {{tni_list_nn_fold_dilation, 1},
    {tni_list_nn_fold_padding, 1}, {tni_list_nn_fold_stride, 1}, TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}, {NULL, 0}};
static const char *const tni_names_nn_fold[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_fold = {tni_params_nn_fold, &tni_defaults_nn_fold, tni_names_nn_fold,
    NULL, 7, 0, 0, 0, sizeof(tn_nn_fold_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0,
    0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_fold) = {"Fold", &tni_make_fold, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_fold_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_linear);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_linear);
static const tn_param tni_params_nn_linear[] = {
    {"in_features", TN_T_INT, 0, offsetof(tn_nn_linear_args, in_features), 0, -1, NULL},
    {"out_features", TN_T_INT, 0, offsetof(tn_nn_linear_args, out_features), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_linear_args, bias), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_linear_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_linear_args, device), 0,
     -1, NULL},
};
static const tn_nn_linear_args tni_defaults_nn_linear = {true, TN_NO_DTYPE, TN_NO_DEVICE, 0, 0};
static const char *const tni_names_nn_linear[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_linear = {tni_params_nn_linear, &tni_defaults_nn_linear,
    tni_names_nn_linear, NULL, 5, 0, 0, 0, sizeof(tn_nn_linear_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_linear[] = {
    {"weight", offsetof(tn_nn_linear_self, weight)},
    {"bias", offsetof(tn_nn_linear_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_linear) = {"Linear", &tni_make_linear, NULL, tni_fields_linear,
    NULL, 2, 0, offsetof(tn_nn_linear_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_embedding);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_embedding);
static const tn_param tni_params_nn_embedding[] = {
    {"num_embeddings", TN_T_INT, 0, offsetof(tn_nn_embedding_args, num_embeddings), 0, -1, NULL},
    {"embedding_dim", TN_T_INT, 0, offsetof(tn_nn_embedding_args, embedding_dim), 0, -1, NULL},
    {"padding_idx", TN_T_INT, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_embedding_args,
     padding_idx), 0, -1, NULL},
    {"scale_grad_by_freq", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_embedding_args,
     scale_grad_by_freq), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_embedding_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_embedding_args, device),
     0, -1, NULL},
};
static const tn_nn_embedding_args tni_defaults_nn_embedding = {TN_NONE, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0, 0};
static const char *const tni_names_nn_embedding[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_embedding = {tni_params_nn_embedding, &tni_defaults_nn_embedding,
    tni_names_nn_embedding, NULL, 6, 0, 0, 0, sizeof(tn_nn_embedding_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_embedding[] = {
    {"weight", offsetof(tn_nn_embedding_self, weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_embedding) = {"Embedding", &tni_make_embedding, NULL, tni_fields_embedding,
    NULL, 1, 0, offsetof(tn_nn_embedding_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_dropout);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_dropout);
static const tn_param tni_params_nn_dropout[] = {
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_dropout_args, p), 0, -1, NULL},
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_dropout_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout_args, device), 0,
     -1, NULL},
};
static const tn_nn_dropout_args tni_defaults_nn_dropout = {0.5, false, TN_NO_DTYPE, TN_NO_DEVICE,
    0};
static const char *const tni_names_nn_dropout[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_dropout = {tni_params_nn_dropout, &tni_defaults_nn_dropout,
    tni_names_nn_dropout, NULL, 4, 0, 0, 0, sizeof(tn_nn_dropout_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_dropout) = {"Dropout", &tni_make_dropout, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_dropout_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_dropout1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_dropout1d);
static const tn_param tni_params_nn_dropout1d[] = {
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_dropout1d_args, p), 0, -1, NULL},
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_dropout1d_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout1d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout1d_args, device),
     0, -1, NULL},
};
static const tn_nn_dropout1d_args tni_defaults_nn_dropout1d = {0.5, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_dropout1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_dropout1d = {tni_params_nn_dropout1d, &tni_defaults_nn_dropout1d,
    tni_names_nn_dropout1d, NULL, 4, 0, 0, 0, sizeof(tn_nn_dropout1d_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_dropout1d) = {"Dropout1d", &tni_make_dropout1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_dropout1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_dropout2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_dropout2d);
static const tn_param tni_params_nn_dropout2d[] = {
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_dropout2d_args, p), 0, -1, NULL},
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_dropout2d_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout2d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout2d_args, device),
     0, -1, NULL},
};
static const tn_nn_dropout2d_args tni_defaults_nn_dropout2d = {0.5, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_dropout2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_dropout2d = {tni_params_nn_dropout2d, &tni_defaults_nn_dropout2d,
    tni_names_nn_dropout2d, NULL, 4, 0, 0, 0, sizeof(tn_nn_dropout2d_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_dropout2d) = {"Dropout2d", &tni_make_dropout2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_dropout2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_dropout3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_dropout3d);
static const tn_param tni_params_nn_dropout3d[] = {
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_dropout3d_args, p), 0, -1, NULL},
    {"inplace", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_dropout3d_args, inplace), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout3d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_dropout3d_args, device),
     0, -1, NULL},
};
static const tn_nn_dropout3d_args tni_defaults_nn_dropout3d = {0.5, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_dropout3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_dropout3d = {tni_params_nn_dropout3d, &tni_defaults_nn_dropout3d,
    tni_names_nn_dropout3d, NULL, 4, 0, 0, 0, sizeof(tn_nn_dropout3d_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_dropout3d) = {"Dropout3d", &tni_make_dropout3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_dropout3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_identity);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_identity);
static const tn_param tni_params_nn_identity[] = {
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_identity_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_identity_args, device), 0,
     -1, NULL},
};
static const tn_nn_identity_args tni_defaults_nn_identity = {TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_identity[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_identity = {tni_params_nn_identity, &tni_defaults_nn_identity,
    tni_names_nn_identity, NULL, 2, 0, 0, 0, sizeof(tn_nn_identity_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_identity) = {"Identity", &tni_make_identity, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_identity_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_flatten);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_flatten);
static const tn_param tni_params_nn_flatten[] = {
    {"start_dim", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_flatten_args, start_dim), 0, -1, NULL},
    {"end_dim", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_flatten_args, end_dim), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_flatten_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_flatten_args, device), 0,
     -1, NULL},
};
static const tn_nn_flatten_args tni_defaults_nn_flatten = {1, -1, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_flatten[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_flatten = {tni_params_nn_flatten, &tni_defaults_nn_flatten,
    tni_names_nn_flatten, NULL, 4, 0, 0, 0, sizeof(tn_nn_flatten_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_flatten) = {"Flatten", &tni_make_flatten, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_flatten_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_cross_entropy_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_cross_entropy_loss);
static const tn_param tni_params_nn_cross_entropy_loss[] = {
    {"weight", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args,
     weight), 0, -1, NULL},
    {"ignore_index", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args, ignore_index),
     0, -1, NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args, reduction), 0,
     -1, tni_nn_words_reduction},
    {"label_smoothing", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args,
     label_smoothing), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cross_entropy_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_cross_entropy_loss_args tni_defaults_nn_cross_entropy_loss = {NULL, -100,
    TN_REDUCTION_MEAN, 0, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_cross_entropy_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_cross_entropy_loss = {tni_params_nn_cross_entropy_loss,
    &tni_defaults_nn_cross_entropy_loss, tni_names_nn_cross_entropy_loss, NULL, 6, 1, 0, 0,
    sizeof(tn_nn_cross_entropy_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_cross_entropy_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_cross_entropy_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_cross_entropy_loss_forward_args, target), 0, -1,
     NULL},
};
static const tn_nn_cross_entropy_loss_forward_args tni_defaults_nn_cross_entropy_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_cross_entropy_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_cross_entropy_loss = {tni_params_nn_cross_entropy_loss_forward,
    &tni_defaults_nn_cross_entropy_loss_forward, tni_names_nn_cross_entropy_loss_forward, NULL, 2,
    2, 1, 0, sizeof(tn_nn_cross_entropy_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_cross_entropy_loss[] = {
    {"weight", offsetof(tn_nn_cross_entropy_loss_self, weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_cross_entropy_loss) = {"CrossEntropyLoss", &tni_make_cross_entropy_loss, &tni_call_cross_entropy_loss, tni_fields_cross_entropy_loss,
    NULL, 1, 0, offsetof(tn_nn_cross_entropy_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_nll_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_nll_loss);
static const tn_param tni_params_nn_nll_loss[] = {
    {"weight", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_nll_loss_args, weight), 0,
     -1, NULL},
    {"ignore_index", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_nll_loss_args, ignore_index), 0, -1,
     NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_nll_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_nll_loss_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_nll_loss_args, device), 0,
     -1, NULL},
};
static const tn_nn_nll_loss_args tni_defaults_nn_nll_loss = {NULL, -100, TN_REDUCTION_MEAN,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_nll_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_nll_loss = {tni_params_nn_nll_loss, &tni_defaults_nn_nll_loss,
    tni_names_nn_nll_loss, NULL, 5, 1, 0, 0, sizeof(tn_nn_nll_loss_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_nll_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_nll_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_nll_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_nll_loss_forward_args tni_defaults_nn_nll_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_nll_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_nll_loss = {tni_params_nn_nll_loss_forward,
    &tni_defaults_nn_nll_loss_forward, tni_names_nn_nll_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_nll_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_nll_loss[] = {
    {"weight", offsetof(tn_nn_nll_loss_self, weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_nll_loss) = {"NLLLoss", &tni_make_nll_loss, &tni_call_nll_loss, tni_fields_nll_loss,
    NULL, 1, 0, offsetof(tn_nn_nll_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_mse_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_mse_loss);
static const tn_param tni_params_nn_mse_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_mse_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_mse_loss_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_mse_loss_args, device), 0,
     -1, NULL},
};
static const tn_nn_mse_loss_args tni_defaults_nn_mse_loss = {TN_REDUCTION_MEAN, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_mse_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_mse_loss = {tni_params_nn_mse_loss, &tni_defaults_nn_mse_loss,
    tni_names_nn_mse_loss, NULL, 3, 0, 0, 0, sizeof(tn_nn_mse_loss_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_mse_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_mse_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_mse_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_mse_loss_forward_args tni_defaults_nn_mse_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_mse_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_mse_loss = {tni_params_nn_mse_loss_forward,
    &tni_defaults_nn_mse_loss_forward, tni_names_nn_mse_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_mse_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_mse_loss) = {"MSELoss", &tni_make_mse_loss, &tni_call_mse_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_mse_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_l1_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_l1_loss);
static const tn_param tni_params_nn_l1_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_l1_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_l1_loss_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_l1_loss_args, device), 0,
     -1, NULL},
};
static const tn_nn_l1_loss_args tni_defaults_nn_l1_loss = {TN_REDUCTION_MEAN, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_l1_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_l1_loss = {tni_params_nn_l1_loss, &tni_defaults_nn_l1_loss,
    tni_names_nn_l1_loss, NULL, 3, 0, 0, 0, sizeof(tn_nn_l1_loss_args), UINT16_MAX, TN_PROP_WORDS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_l1_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_l1_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_l1_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_l1_loss_forward_args tni_defaults_nn_l1_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_l1_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_l1_loss = {tni_params_nn_l1_loss_forward,
    &tni_defaults_nn_l1_loss_forward, tni_names_nn_l1_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_l1_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_l1_loss) = {"L1Loss", &tni_make_l1_loss, &tni_call_l1_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_l1_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_smooth_l1_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_smooth_l1_loss);
static const tn_param tni_params_nn_smooth_l1_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_smooth_l1_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"beta", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_smooth_l1_loss_args, beta), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_smooth_l1_loss_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_smooth_l1_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_smooth_l1_loss_args tni_defaults_nn_smooth_l1_loss = {TN_REDUCTION_MEAN, 1,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_smooth_l1_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_smooth_l1_loss = {tni_params_nn_smooth_l1_loss,
    &tni_defaults_nn_smooth_l1_loss, tni_names_nn_smooth_l1_loss, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_smooth_l1_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_smooth_l1_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_smooth_l1_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_smooth_l1_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_smooth_l1_loss_forward_args tni_defaults_nn_smooth_l1_loss_forward = {NULL,
    NULL, NULL};
static const char *const tni_names_nn_smooth_l1_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_smooth_l1_loss = {tni_params_nn_smooth_l1_loss_forward,
    &tni_defaults_nn_smooth_l1_loss_forward, tni_names_nn_smooth_l1_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_smooth_l1_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_smooth_l1_loss) = {"SmoothL1Loss", &tni_make_smooth_l1_loss, &tni_call_smooth_l1_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_smooth_l1_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_huber_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_huber_loss);
static const tn_param tni_params_nn_huber_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_huber_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"delta", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_huber_loss_args, delta), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_huber_loss_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_huber_loss_args, device),
     0, -1, NULL},
};
static const tn_nn_huber_loss_args tni_defaults_nn_huber_loss = {TN_REDUCTION_MEAN, 1, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_huber_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_huber_loss = {tni_params_nn_huber_loss, &tni_defaults_nn_huber_loss,
    tni_names_nn_huber_loss, NULL, 4, 0, 0, 0, sizeof(tn_nn_huber_loss_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_huber_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_huber_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_huber_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_huber_loss_forward_args tni_defaults_nn_huber_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_huber_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_huber_loss = {tni_params_nn_huber_loss_forward,
    &tni_defaults_nn_huber_loss_forward, tni_names_nn_huber_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_huber_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_huber_loss) = {"HuberLoss", &tni_make_huber_loss, &tni_call_huber_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_huber_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_kl_div_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_kl_div_loss);
static const tn_param tni_params_nn_kl_div_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_kl_div_loss_args, reduction), 0, -1,
     tni_nn_words_batch_reduction},
    {"log_target", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_kl_div_loss_args, log_target), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_kl_div_loss_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_kl_div_loss_args, device),
     0, -1, NULL},
};
static const tn_nn_kl_div_loss_args tni_defaults_nn_kl_div_loss = {TN_BATCH_REDUCTION_MEAN, false,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_kl_div_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_kl_div_loss = {tni_params_nn_kl_div_loss,
    &tni_defaults_nn_kl_div_loss, tni_names_nn_kl_div_loss, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_kl_div_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_kl_div_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_kl_div_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_kl_div_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_kl_div_loss_forward_args tni_defaults_nn_kl_div_loss_forward = {NULL, NULL,
    NULL};
static const char *const tni_names_nn_kl_div_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_kl_div_loss = {tni_params_nn_kl_div_loss_forward,
    &tni_defaults_nn_kl_div_loss_forward, tni_names_nn_kl_div_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_kl_div_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_kl_div_loss) = {"KLDivLoss", &tni_make_kl_div_loss, &tni_call_kl_div_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_kl_div_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_bce_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_bce_loss);
static const tn_param tni_params_nn_bce_loss[] = {
    {"weight", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_loss_args, weight), 0,
     -1, NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_bce_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_loss_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_loss_args, device), 0,
     -1, NULL},
};
static const tn_nn_bce_loss_args tni_defaults_nn_bce_loss = {NULL, TN_REDUCTION_MEAN, TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_bce_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_bce_loss = {tni_params_nn_bce_loss, &tni_defaults_nn_bce_loss,
    tni_names_nn_bce_loss, NULL, 4, 1, 0, 0, sizeof(tn_nn_bce_loss_args), UINT16_MAX,
    TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_bce_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_bce_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_bce_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_bce_loss_forward_args tni_defaults_nn_bce_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_bce_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_bce_loss = {tni_params_nn_bce_loss_forward,
    &tni_defaults_nn_bce_loss_forward, tni_names_nn_bce_loss_forward, NULL, 2, 2, 1, 0,
    sizeof(tn_nn_bce_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_bce_loss[] = {
    {"weight", offsetof(tn_nn_bce_loss_self, weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_bce_loss) = {"BCELoss", &tni_make_bce_loss, &tni_call_bce_loss, tni_fields_bce_loss,
    NULL, 1, 0, offsetof(tn_nn_bce_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_bce_with_logits_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_bce_with_logits_loss);
static const tn_param tni_params_nn_bce_with_logits_loss[] = {
    {"weight", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_with_logits_loss_args,
     weight), 0, -1, NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_bce_with_logits_loss_args, reduction), 0,
     -1, tni_nn_words_reduction},
    {"pos_weight", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_bce_with_logits_loss_args, pos_weight), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_with_logits_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_bce_with_logits_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_bce_with_logits_loss_args tni_defaults_nn_bce_with_logits_loss = {NULL,
    TN_REDUCTION_MEAN, NULL, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_bce_with_logits_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_bce_with_logits_loss = {tni_params_nn_bce_with_logits_loss,
    &tni_defaults_nn_bce_with_logits_loss, tni_names_nn_bce_with_logits_loss, NULL, 5, 2, 0, 0,
    sizeof(tn_nn_bce_with_logits_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 2, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_bce_with_logits_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_bce_with_logits_loss_forward_args, input), 0, -1,
     NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_bce_with_logits_loss_forward_args, target), 0, -1,
     NULL},
};
static const tn_nn_bce_with_logits_loss_forward_args tni_defaults_nn_bce_with_logits_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_bce_with_logits_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_bce_with_logits_loss = {tni_params_nn_bce_with_logits_loss_forward,
    &tni_defaults_nn_bce_with_logits_loss_forward, tni_names_nn_bce_with_logits_loss_forward, NULL,
    2, 2, 1, 0, sizeof(tn_nn_bce_with_logits_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_bce_with_logits_loss[] = {
    {"weight", offsetof(tn_nn_bce_with_logits_loss_self, weight)},
    {"pos_weight", offsetof(tn_nn_bce_with_logits_loss_self, pos_weight)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_bce_with_logits_loss) = {"BCEWithLogitsLoss", &tni_make_bce_with_logits_loss, &tni_call_bce_with_logits_loss, tni_fields_bce_with_logits_loss,
    NULL, 2, 0, offsetof(tn_nn_bce_with_logits_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_margin_ranking_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_margin_ranking_loss);
static const tn_param tni_params_nn_margin_ranking_loss[] = {
    {"margin", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_margin_ranking_loss_args, margin), 0, -1,
     NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_margin_ranking_loss_args, reduction), 0,
     -1, tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_margin_ranking_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_margin_ranking_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_margin_ranking_loss_args tni_defaults_nn_margin_ranking_loss = {0,
    TN_REDUCTION_MEAN, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_margin_ranking_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_margin_ranking_loss = {tni_params_nn_margin_ranking_loss,
    &tni_defaults_nn_margin_ranking_loss, tni_names_nn_margin_ranking_loss, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_margin_ranking_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_margin_ranking_loss_forward[] = {
    {"input1", TN_T_TENSOR, 0, offsetof(tn_nn_margin_ranking_loss_forward_args, input1), 0, -1,
     NULL},
    {"input2", TN_T_TENSOR, 0, offsetof(tn_nn_margin_ranking_loss_forward_args, input2), 0, -1,
     NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_margin_ranking_loss_forward_args, target), 0, -1,
     NULL},
};
static const tn_nn_margin_ranking_loss_forward_args tni_defaults_nn_margin_ranking_loss_forward = {NULL, NULL, NULL, NULL};
static const char *const tni_names_nn_margin_ranking_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_margin_ranking_loss = {tni_params_nn_margin_ranking_loss_forward,
    &tni_defaults_nn_margin_ranking_loss_forward, tni_names_nn_margin_ranking_loss_forward, NULL,
    3, 3, 1, 0, sizeof(tn_nn_margin_ranking_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 2, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_margin_ranking_loss) = {"MarginRankingLoss", &tni_make_margin_ranking_loss, &tni_call_margin_ranking_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_margin_ranking_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_hinge_embedding_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_hinge_embedding_loss);
static const tn_param tni_params_nn_hinge_embedding_loss[] = {
    {"margin", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_hinge_embedding_loss_args, margin), 0, -1,
     NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_hinge_embedding_loss_args, reduction), 0,
     -1, tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_hinge_embedding_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_hinge_embedding_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_hinge_embedding_loss_args tni_defaults_nn_hinge_embedding_loss = {1,
    TN_REDUCTION_MEAN, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_hinge_embedding_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_hinge_embedding_loss = {tni_params_nn_hinge_embedding_loss,
    &tni_defaults_nn_hinge_embedding_loss, tni_names_nn_hinge_embedding_loss, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_hinge_embedding_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_hinge_embedding_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_hinge_embedding_loss_forward_args, input), 0, -1,
     NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_hinge_embedding_loss_forward_args, target), 0, -1,
     NULL},
};
static const tn_nn_hinge_embedding_loss_forward_args tni_defaults_nn_hinge_embedding_loss_forward = {NULL, NULL, NULL};
static const char *const tni_names_nn_hinge_embedding_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_hinge_embedding_loss = {tni_params_nn_hinge_embedding_loss_forward,
    &tni_defaults_nn_hinge_embedding_loss_forward, tni_names_nn_hinge_embedding_loss_forward, NULL,
    2, 2, 1, 0, sizeof(tn_nn_hinge_embedding_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_hinge_embedding_loss) = {"HingeEmbeddingLoss", &tni_make_hinge_embedding_loss, &tni_call_hinge_embedding_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_hinge_embedding_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_soft_margin_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_soft_margin_loss);
static const tn_param tni_params_nn_soft_margin_loss[] = {
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_soft_margin_loss_args, reduction), 0, -1,
     tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_soft_margin_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_soft_margin_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_soft_margin_loss_args tni_defaults_nn_soft_margin_loss = {TN_REDUCTION_MEAN,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_soft_margin_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_soft_margin_loss = {tni_params_nn_soft_margin_loss,
    &tni_defaults_nn_soft_margin_loss, tni_names_nn_soft_margin_loss, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_soft_margin_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_soft_margin_loss_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_soft_margin_loss_forward_args, input), 0, -1, NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_soft_margin_loss_forward_args, target), 0, -1, NULL},
};
static const tn_nn_soft_margin_loss_forward_args tni_defaults_nn_soft_margin_loss_forward = {NULL,
    NULL, NULL};
static const char *const tni_names_nn_soft_margin_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_soft_margin_loss = {tni_params_nn_soft_margin_loss_forward,
    &tni_defaults_nn_soft_margin_loss_forward, tni_names_nn_soft_margin_loss_forward, NULL, 2, 2,
    1, 0, sizeof(tn_nn_soft_margin_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_soft_margin_loss) = {"SoftMarginLoss", &tni_make_soft_margin_loss, &tni_call_soft_margin_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_soft_margin_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_cosine_embedding_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_cosine_embedding_loss);
static const tn_param tni_params_nn_cosine_embedding_loss[] = {
    {"margin", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_cosine_embedding_loss_args, margin), 0, -1,
     NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_cosine_embedding_loss_args, reduction),
     0, -1, tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_cosine_embedding_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT,
     offsetof(tn_nn_cosine_embedding_loss_args, device), 0, -1, NULL},
};
static const tn_nn_cosine_embedding_loss_args tni_defaults_nn_cosine_embedding_loss = {0,
    TN_REDUCTION_MEAN, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_cosine_embedding_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_cosine_embedding_loss = {tni_params_nn_cosine_embedding_loss,
    &tni_defaults_nn_cosine_embedding_loss, tni_names_nn_cosine_embedding_loss, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_cosine_embedding_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_cosine_embedding_loss_forward[] = {
    {"input1", TN_T_TENSOR, 0, offsetof(tn_nn_cosine_embedding_loss_forward_args, input1), 0, -1,
     NULL},
    {"input2", TN_T_TENSOR, 0, offsetof(tn_nn_cosine_embedding_loss_forward_args, input2), 0, -1,
     NULL},
    {"target", TN_T_TENSOR, 0, offsetof(tn_nn_cosine_embedding_loss_forward_args, target), 0, -1,
     NULL},
};
static const tn_nn_cosine_embedding_loss_forward_args tni_defaults_nn_cosine_embedding_loss_forward = {NULL, NULL, NULL, NULL};
static const char *const tni_names_nn_cosine_embedding_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_cosine_embedding_loss = {tni_params_nn_cosine_embedding_loss_forward,
    &tni_defaults_nn_cosine_embedding_loss_forward, tni_names_nn_cosine_embedding_loss_forward,
    NULL, 3, 3, 1, 0, sizeof(tn_nn_cosine_embedding_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1,
    2, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_cosine_embedding_loss) = {"CosineEmbeddingLoss", &tni_make_cosine_embedding_loss, &tni_call_cosine_embedding_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_cosine_embedding_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_triplet_margin_loss);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_triplet_margin_loss);
static const tn_param tni_params_nn_triplet_margin_loss[] = {
    {"margin", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args, margin), 0, -1,
     NULL},
    {"p", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args, p), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args, eps), 0, -1, NULL},
    {"swap", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args, swap), 0, -1, NULL},
    {"reduction", TN_T_ENUM, TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args, reduction), 0,
     -1, tni_nn_words_reduction},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_triplet_margin_loss_args,
     device), 0, -1, NULL},
};
static const tn_nn_triplet_margin_loss_args tni_defaults_nn_triplet_margin_loss = {1, 2, 1e-06,
    false, TN_REDUCTION_MEAN, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_triplet_margin_loss[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_triplet_margin_loss = {tni_params_nn_triplet_margin_loss,
    &tni_defaults_nn_triplet_margin_loss, tni_names_nn_triplet_margin_loss, NULL, 7, 0, 0, 0,
    sizeof(tn_nn_triplet_margin_loss_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_triplet_margin_loss_forward[] = {
    {"anchor", TN_T_TENSOR, 0, offsetof(tn_nn_triplet_margin_loss_forward_args, anchor), 0, -1,
     NULL},
    {"positive", TN_T_TENSOR, 0, offsetof(tn_nn_triplet_margin_loss_forward_args, positive), 0, -1,
     NULL},
    {"negative", TN_T_TENSOR, 0, offsetof(tn_nn_triplet_margin_loss_forward_args, negative), 0, -1,
     NULL},
};
static const tn_nn_triplet_margin_loss_forward_args tni_defaults_nn_triplet_margin_loss_forward = {NULL, NULL, NULL, NULL};
static const char *const tni_names_nn_triplet_margin_loss_forward[] = {"result", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_triplet_margin_loss = {tni_params_nn_triplet_margin_loss_forward,
    &tni_defaults_nn_triplet_margin_loss_forward, tni_names_nn_triplet_margin_loss_forward, NULL,
    3, 3, 1, 0, sizeof(tn_nn_triplet_margin_loss_forward_args), UINT16_MAX, 0, NULL, {0, 1, 2, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_triplet_margin_loss) = {"TripletMarginLoss", &tni_make_triplet_margin_loss, &tni_call_triplet_margin_loss, NULL,
    NULL, 0, 0, offsetof(tn_nn_triplet_margin_loss_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_batch_norm1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_batch_norm1d);
static const tn_param tni_params_nn_batch_norm1d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_batch_norm1d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_batch_norm1d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_batch_norm1d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm1d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm1d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_batch_norm1d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm1d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm1d_args, device), 0, -1, NULL},
};
static const tn_nn_batch_norm1d_args tni_defaults_nn_batch_norm1d = {1e-05, {0.1, TN_GIVEN}, true,
    true, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_batch_norm1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_batch_norm1d = {tni_params_nn_batch_norm1d,
    &tni_defaults_nn_batch_norm1d, tni_names_nn_batch_norm1d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_batch_norm1d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_batch_norm1d[] = {
    {"weight", offsetof(tn_nn_batch_norm1d_self, weight)},
    {"bias", offsetof(tn_nn_batch_norm1d_self, bias)},
    {"running_mean", offsetof(tn_nn_batch_norm1d_self, running_mean)},
    {"running_var", offsetof(tn_nn_batch_norm1d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_batch_norm1d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_batch_norm1d) = {"BatchNorm1d", &tni_make_batch_norm1d, NULL, tni_fields_batch_norm1d,
    NULL, 5, 0, offsetof(tn_nn_batch_norm1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_batch_norm2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_batch_norm2d);
static const tn_param tni_params_nn_batch_norm2d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_batch_norm2d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_batch_norm2d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_batch_norm2d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm2d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm2d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_batch_norm2d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm2d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm2d_args, device), 0, -1, NULL},
};
static const tn_nn_batch_norm2d_args tni_defaults_nn_batch_norm2d = {1e-05, {0.1, TN_GIVEN}, true,
    true, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_batch_norm2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_batch_norm2d = {tni_params_nn_batch_norm2d,
    &tni_defaults_nn_batch_norm2d, tni_names_nn_batch_norm2d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_batch_norm2d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_batch_norm2d[] = {
    {"weight", offsetof(tn_nn_batch_norm2d_self, weight)},
    {"bias", offsetof(tn_nn_batch_norm2d_self, bias)},
    {"running_mean", offsetof(tn_nn_batch_norm2d_self, running_mean)},
    {"running_var", offsetof(tn_nn_batch_norm2d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_batch_norm2d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_batch_norm2d) = {"BatchNorm2d", &tni_make_batch_norm2d, NULL, tni_fields_batch_norm2d,
    NULL, 5, 0, offsetof(tn_nn_batch_norm2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_batch_norm3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_batch_norm3d);
static const tn_param tni_params_nn_batch_norm3d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_batch_norm3d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_batch_norm3d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_batch_norm3d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm3d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_batch_norm3d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_batch_norm3d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm3d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_batch_norm3d_args, device), 0, -1, NULL},
};
static const tn_nn_batch_norm3d_args tni_defaults_nn_batch_norm3d = {1e-05, {0.1, TN_GIVEN}, true,
    true, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_batch_norm3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_batch_norm3d = {tni_params_nn_batch_norm3d,
    &tni_defaults_nn_batch_norm3d, tni_names_nn_batch_norm3d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_batch_norm3d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_batch_norm3d[] = {
    {"weight", offsetof(tn_nn_batch_norm3d_self, weight)},
    {"bias", offsetof(tn_nn_batch_norm3d_self, bias)},
    {"running_mean", offsetof(tn_nn_batch_norm3d_self, running_mean)},
    {"running_var", offsetof(tn_nn_batch_norm3d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_batch_norm3d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_batch_norm3d) = {"BatchNorm3d", &tni_make_batch_norm3d, NULL, tni_fields_batch_norm3d,
    NULL, 5, 0, offsetof(tn_nn_batch_norm3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_instance_norm1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_instance_norm1d);
static const tn_param tni_params_nn_instance_norm1d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_instance_norm1d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_instance_norm1d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_instance_norm1d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm1d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm1d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_instance_norm1d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm1d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm1d_args, device), 0, -1, NULL},
};
static const tn_nn_instance_norm1d_args tni_defaults_nn_instance_norm1d = {1e-05, {0.1, TN_GIVEN},
    false, false, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_instance_norm1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_instance_norm1d = {tni_params_nn_instance_norm1d,
    &tni_defaults_nn_instance_norm1d, tni_names_nn_instance_norm1d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_instance_norm1d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_instance_norm1d[] = {
    {"weight", offsetof(tn_nn_instance_norm1d_self, weight)},
    {"bias", offsetof(tn_nn_instance_norm1d_self, bias)},
    {"running_mean", offsetof(tn_nn_instance_norm1d_self, running_mean)},
    {"running_var", offsetof(tn_nn_instance_norm1d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_instance_norm1d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_instance_norm1d) = {"InstanceNorm1d", &tni_make_instance_norm1d, NULL, tni_fields_instance_norm1d,
    NULL, 5, 0, offsetof(tn_nn_instance_norm1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_instance_norm2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_instance_norm2d);
static const tn_param tni_params_nn_instance_norm2d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_instance_norm2d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_instance_norm2d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_instance_norm2d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm2d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm2d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_instance_norm2d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm2d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm2d_args, device), 0, -1, NULL},
};
static const tn_nn_instance_norm2d_args tni_defaults_nn_instance_norm2d = {1e-05, {0.1, TN_GIVEN},
    false, false, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_instance_norm2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_instance_norm2d = {tni_params_nn_instance_norm2d,
    &tni_defaults_nn_instance_norm2d, tni_names_nn_instance_norm2d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_instance_norm2d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_instance_norm2d[] = {
    {"weight", offsetof(tn_nn_instance_norm2d_self, weight)},
    {"bias", offsetof(tn_nn_instance_norm2d_self, bias)},
    {"running_mean", offsetof(tn_nn_instance_norm2d_self, running_mean)},
    {"running_var", offsetof(tn_nn_instance_norm2d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_instance_norm2d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_instance_norm2d) = {"InstanceNorm2d", &tni_make_instance_norm2d, NULL, tni_fields_instance_norm2d,
    NULL, 5, 0, offsetof(tn_nn_instance_norm2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_instance_norm3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_instance_norm3d);
static const tn_param tni_params_nn_instance_norm3d[] = {
    {"num_features", TN_T_INT, 0, offsetof(tn_nn_instance_norm3d_args, num_features), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_instance_norm3d_args, eps), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE,
     offsetof(tn_nn_instance_norm3d_args, momentum), 0, -1, NULL},
    {"affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm3d_args, affine), 0, -1, NULL},
    {"track_running_stats", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_instance_norm3d_args,
     track_running_stats), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_nn_instance_norm3d_args, bias), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm3d_args, dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD,
     offsetof(tn_nn_instance_norm3d_args, device), 0, -1, NULL},
};
static const tn_nn_instance_norm3d_args tni_defaults_nn_instance_norm3d = {1e-05, {0.1, TN_GIVEN},
    false, false, true, TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_instance_norm3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_instance_norm3d = {tni_params_nn_instance_norm3d,
    &tni_defaults_nn_instance_norm3d, tni_names_nn_instance_norm3d, NULL, 8, 0, 0, 0,
    sizeof(tn_nn_instance_norm3d_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_instance_norm3d[] = {
    {"weight", offsetof(tn_nn_instance_norm3d_self, weight)},
    {"bias", offsetof(tn_nn_instance_norm3d_self, bias)},
    {"running_mean", offsetof(tn_nn_instance_norm3d_self, running_mean)},
    {"running_var", offsetof(tn_nn_instance_norm3d_self, running_var)},
    {"num_batches_tracked", offsetof(tn_nn_instance_norm3d_self, num_batches_tracked)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_instance_norm3d) = {"InstanceNorm3d", &tni_make_instance_norm3d, NULL, tni_fields_instance_norm3d,
    NULL, 5, 0, offsetof(tn_nn_instance_norm3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_layer_norm);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_layer_norm);
static const tn_param tni_params_nn_layer_norm[] = {
    {"normalized_shape", TN_T_INTS, 0, offsetof(tn_nn_layer_norm_args, normalized_shape), 0, -1,
     NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_layer_norm_args, eps), 0, -1, NULL},
    {"elementwise_affine", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_layer_norm_args,
     elementwise_affine), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_layer_norm_args, bias), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_layer_norm_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_layer_norm_args, device),
     0, -1, NULL},
};
static const tn_nn_layer_norm_args tni_defaults_nn_layer_norm = {1e-05, true, true, TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_layer_norm[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_layer_norm = {tni_params_nn_layer_norm, &tni_defaults_nn_layer_norm,
    tni_names_nn_layer_norm, NULL, 6, 0, 0, 0, sizeof(tn_nn_layer_norm_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mfield tni_fields_layer_norm[] = {
    {"weight", offsetof(tn_nn_layer_norm_self, weight)},
    {"bias", offsetof(tn_nn_layer_norm_self, bias)},
};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_layer_norm) = {"LayerNorm", &tni_make_layer_norm, NULL, tni_fields_layer_norm,
    NULL, 2, 0, offsetof(tn_nn_layer_norm_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_local_response_norm);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_local_response_norm);
static const tn_param tni_params_nn_local_response_norm[] = {
    {"size", TN_T_INT, 0, offsetof(tn_nn_local_response_norm_args, size), 0, -1, NULL},
    {"alpha", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_local_response_norm_args, alpha), 0, -1,
     NULL},
    {"beta", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_local_response_norm_args, beta), 0, -1, NULL},
    {"k", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_local_response_norm_args, k), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_local_response_norm_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_local_response_norm_args,
     device), 0, -1, NULL},
};
static const tn_nn_local_response_norm_args tni_defaults_nn_local_response_norm = {0.0001, 0.75, 1,
    TN_NO_DTYPE, TN_NO_DEVICE, 0};
static const char *const tni_names_nn_local_response_norm[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_local_response_norm = {tni_params_nn_local_response_norm,
    &tni_defaults_nn_local_response_norm, tni_names_nn_local_response_norm, NULL, 6, 0, 0, 0,
    sizeof(tn_nn_local_response_norm_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0,
    0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_local_response_norm) = {"LocalResponseNorm", &tni_make_local_response_norm, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_local_response_norm_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_constant_pad1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_constant_pad1d);
static const tn_param tni_params_nn_constant_pad1d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_constant_pad1d_args, padding), 0, 2, NULL},
    {"value", TN_T_FLOAT, 0, offsetof(tn_nn_constant_pad1d_args, value), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad1d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad1d_args,
     device), 0, -1, NULL},
};
static const tn_nn_constant_pad1d_args tni_defaults_nn_constant_pad1d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}, 0};
static const char *const tni_names_nn_constant_pad1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_constant_pad1d = {tni_params_nn_constant_pad1d,
    &tni_defaults_nn_constant_pad1d, tni_names_nn_constant_pad1d, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_constant_pad1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_constant_pad1d) = {"ConstantPad1d", &tni_make_constant_pad1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_constant_pad1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_constant_pad2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_constant_pad2d);
static const tn_param tni_params_nn_constant_pad2d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_constant_pad2d_args, padding), 0, 4, NULL},
    {"value", TN_T_FLOAT, 0, offsetof(tn_nn_constant_pad2d_args, value), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad2d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad2d_args,
     device), 0, -1, NULL},
};
static const tn_nn_constant_pad2d_args tni_defaults_nn_constant_pad2d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}, 0};
static const char *const tni_names_nn_constant_pad2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_constant_pad2d = {tni_params_nn_constant_pad2d,
    &tni_defaults_nn_constant_pad2d, tni_names_nn_constant_pad2d, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_constant_pad2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_constant_pad2d) = {"ConstantPad2d", &tni_make_constant_pad2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_constant_pad2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_constant_pad3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_constant_pad3d);
static const tn_param tni_params_nn_constant_pad3d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_constant_pad3d_args, padding), 0, 6, NULL},
    {"value", TN_T_FLOAT, 0, offsetof(tn_nn_constant_pad3d_args, value), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad3d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_constant_pad3d_args,
     device), 0, -1, NULL},
};
static const tn_nn_constant_pad3d_args tni_defaults_nn_constant_pad3d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}, 0};
static const char *const tni_names_nn_constant_pad3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_constant_pad3d = {tni_params_nn_constant_pad3d,
    &tni_defaults_nn_constant_pad3d, tni_names_nn_constant_pad3d, NULL, 4, 0, 0, 0,
    sizeof(tn_nn_constant_pad3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_constant_pad3d) = {"ConstantPad3d", &tni_make_constant_pad3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_constant_pad3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_zero_pad1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_zero_pad1d);
static const tn_param tni_params_nn_zero_pad1d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_zero_pad1d_args, padding), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad1d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad1d_args, device),
     0, -1, NULL},
};
static const tn_nn_zero_pad1d_args tni_defaults_nn_zero_pad1d = {TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}};
static const char *const tni_names_nn_zero_pad1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_zero_pad1d = {tni_params_nn_zero_pad1d, &tni_defaults_nn_zero_pad1d,
    tni_names_nn_zero_pad1d, NULL, 3, 0, 0, 0, sizeof(tn_nn_zero_pad1d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_zero_pad1d) = {"ZeroPad1d", &tni_make_zero_pad1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_zero_pad1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_zero_pad2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_zero_pad2d);
static const tn_param tni_params_nn_zero_pad2d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_zero_pad2d_args, padding), 0, 4, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad2d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad2d_args, device),
     0, -1, NULL},
};
static const tn_nn_zero_pad2d_args tni_defaults_nn_zero_pad2d = {TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}};
static const char *const tni_names_nn_zero_pad2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_zero_pad2d = {tni_params_nn_zero_pad2d, &tni_defaults_nn_zero_pad2d,
    tni_names_nn_zero_pad2d, NULL, 3, 0, 0, 0, sizeof(tn_nn_zero_pad2d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_zero_pad2d) = {"ZeroPad2d", &tni_make_zero_pad2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_zero_pad2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_zero_pad3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_zero_pad3d);
static const tn_param tni_params_nn_zero_pad3d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_zero_pad3d_args, padding), 0, 6, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad3d_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_zero_pad3d_args, device),
     0, -1, NULL},
};
static const tn_nn_zero_pad3d_args tni_defaults_nn_zero_pad3d = {TN_NO_DTYPE, TN_NO_DEVICE, {NULL,
    0}};
static const char *const tni_names_nn_zero_pad3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_zero_pad3d = {tni_params_nn_zero_pad3d, &tni_defaults_nn_zero_pad3d,
    tni_names_nn_zero_pad3d, NULL, 3, 0, 0, 0, sizeof(tn_nn_zero_pad3d_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_zero_pad3d) = {"ZeroPad3d", &tni_make_zero_pad3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_zero_pad3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_reflection_pad1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_reflection_pad1d);
static const tn_param tni_params_nn_reflection_pad1d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_reflection_pad1d_args, padding), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad1d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad1d_args,
     device), 0, -1, NULL},
};
static const tn_nn_reflection_pad1d_args tni_defaults_nn_reflection_pad1d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_reflection_pad1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_reflection_pad1d = {tni_params_nn_reflection_pad1d,
    &tni_defaults_nn_reflection_pad1d, tni_names_nn_reflection_pad1d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_reflection_pad1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_reflection_pad1d) = {"ReflectionPad1d", &tni_make_reflection_pad1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_reflection_pad1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_reflection_pad2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_reflection_pad2d);
static const tn_param tni_params_nn_reflection_pad2d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_reflection_pad2d_args, padding), 0, 4, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad2d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad2d_args,
     device), 0, -1, NULL},
};
static const tn_nn_reflection_pad2d_args tni_defaults_nn_reflection_pad2d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_reflection_pad2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_reflection_pad2d = {tni_params_nn_reflection_pad2d,
    &tni_defaults_nn_reflection_pad2d, tni_names_nn_reflection_pad2d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_reflection_pad2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_reflection_pad2d) = {"ReflectionPad2d", &tni_make_reflection_pad2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_reflection_pad2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_reflection_pad3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_reflection_pad3d);
static const tn_param tni_params_nn_reflection_pad3d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_reflection_pad3d_args, padding), 0, 6, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad3d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_reflection_pad3d_args,
     device), 0, -1, NULL},
};
static const tn_nn_reflection_pad3d_args tni_defaults_nn_reflection_pad3d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_reflection_pad3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_reflection_pad3d = {tni_params_nn_reflection_pad3d,
    &tni_defaults_nn_reflection_pad3d, tni_names_nn_reflection_pad3d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_reflection_pad3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_reflection_pad3d) = {"ReflectionPad3d", &tni_make_reflection_pad3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_reflection_pad3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_replication_pad1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_replication_pad1d);
static const tn_param tni_params_nn_replication_pad1d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_replication_pad1d_args, padding), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad1d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad1d_args,
     device), 0, -1, NULL},
};
static const tn_nn_replication_pad1d_args tni_defaults_nn_replication_pad1d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_replication_pad1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_replication_pad1d = {tni_params_nn_replication_pad1d,
    &tni_defaults_nn_replication_pad1d, tni_names_nn_replication_pad1d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_replication_pad1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_replication_pad1d) = {"ReplicationPad1d", &tni_make_replication_pad1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_replication_pad1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_replication_pad2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_replication_pad2d);
static const tn_param tni_params_nn_replication_pad2d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_replication_pad2d_args, padding), 0, 4, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad2d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad2d_args,
     device), 0, -1, NULL},
};
static const tn_nn_replication_pad2d_args tni_defaults_nn_replication_pad2d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_replication_pad2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_replication_pad2d = {tni_params_nn_replication_pad2d,
    &tni_defaults_nn_replication_pad2d, tni_names_nn_replication_pad2d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_replication_pad2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_replication_pad2d) = {"ReplicationPad2d", &tni_make_replication_pad2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_replication_pad2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_replication_pad3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_replication_pad3d);
static const tn_param tni_params_nn_replication_pad3d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_replication_pad3d_args, padding), 0, 6, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad3d_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_replication_pad3d_args,
     device), 0, -1, NULL},
};
static const tn_nn_replication_pad3d_args tni_defaults_nn_replication_pad3d = {TN_NO_DTYPE,
    TN_NO_DEVICE, {NULL, 0}};
static const char *const tni_names_nn_replication_pad3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_replication_pad3d = {tni_params_nn_replication_pad3d,
    &tni_defaults_nn_replication_pad3d, tni_names_nn_replication_pad3d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_replication_pad3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0,
    0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_replication_pad3d) = {"ReplicationPad3d", &tni_make_replication_pad3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_replication_pad3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_circular_pad1d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_circular_pad1d);
static const tn_param tni_params_nn_circular_pad1d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_circular_pad1d_args, padding), 0, 2, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad1d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad1d_args,
     device), 0, -1, NULL},
};
static const tn_nn_circular_pad1d_args tni_defaults_nn_circular_pad1d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}};
static const char *const tni_names_nn_circular_pad1d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_circular_pad1d = {tni_params_nn_circular_pad1d,
    &tni_defaults_nn_circular_pad1d, tni_names_nn_circular_pad1d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_circular_pad1d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_circular_pad1d) = {"CircularPad1d", &tni_make_circular_pad1d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_circular_pad1d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_circular_pad2d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_circular_pad2d);
static const tn_param tni_params_nn_circular_pad2d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_circular_pad2d_args, padding), 0, 4, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad2d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad2d_args,
     device), 0, -1, NULL},
};
static const tn_nn_circular_pad2d_args tni_defaults_nn_circular_pad2d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}};
static const char *const tni_names_nn_circular_pad2d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_circular_pad2d = {tni_params_nn_circular_pad2d,
    &tni_defaults_nn_circular_pad2d, tni_names_nn_circular_pad2d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_circular_pad2d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_circular_pad2d) = {"CircularPad2d", &tni_make_circular_pad2d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_circular_pad2d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_circular_pad3d);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_circular_pad3d);
static const tn_param tni_params_nn_circular_pad3d[] = {
    {"padding", TN_T_INTS, 0, offsetof(tn_nn_circular_pad3d_args, padding), 0, 6, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad3d_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_circular_pad3d_args,
     device), 0, -1, NULL},
};
static const tn_nn_circular_pad3d_args tni_defaults_nn_circular_pad3d = {TN_NO_DTYPE, TN_NO_DEVICE,
    {NULL, 0}};
static const char *const tni_names_nn_circular_pad3d[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_circular_pad3d = {tni_params_nn_circular_pad3d,
    &tni_defaults_nn_circular_pad3d, tni_names_nn_circular_pad3d, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_circular_pad3d_args), UINT16_MAX, TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0,
    0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_circular_pad3d) = {"CircularPad3d", &tni_make_circular_pad3d, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_circular_pad3d_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_lstm);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_lstm);
static const tn_param tni_params_nn_lstm[] = {
    {"input_size", TN_T_INT, 0, offsetof(tn_nn_lstm_args, input_size), 0, -1, NULL},
    {"hidden_size", TN_T_INT, 0, offsetof(tn_nn_lstm_args, hidden_size), 0, -1, NULL},
    {"num_layers", TN_T_INT, TN_P_DEFAULT, offsetof(tn_nn_lstm_args, num_layers), 0, -1, NULL},
    {"bias", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_lstm_args, bias), 0, -1, NULL},
    {"batch_first", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_lstm_args, batch_first), 0, -1, NULL},
    {"dropout", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_nn_lstm_args, dropout), 0, -1, NULL},
    {"bidirectional", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_nn_lstm_args, bidirectional), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lstm_args, dtype), 0, -1,
     NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lstm_args, device), 0, -1,
     NULL},
};
static const tn_nn_lstm_args tni_defaults_nn_lstm = {1, true, false, 0, false, TN_NO_DTYPE,
    TN_NO_DEVICE, 0, 0};
static const char *const tni_names_nn_lstm[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_lstm = {tni_params_nn_lstm, &tni_defaults_nn_lstm, tni_names_nn_lstm,
    NULL, 9, 0, 0, 0, sizeof(tn_nn_lstm_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0,
    0, 0}, 0};
TNI_PRIVATE_END
static const tn_param tni_params_nn_lstm_forward[] = {
    {"input", TN_T_TENSOR, 0, offsetof(tn_nn_lstm_forward_args, input), 0, -1, NULL},
    {"h", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lstm_forward_args, h), 0, -1,
     NULL},
    {"c", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_lstm_forward_args, c), 0, -1,
     NULL},
};
static const tn_nn_lstm_forward_args tni_defaults_nn_lstm_forward = {NULL, NULL, NULL, NULL};
static const char *const tni_names_nn_lstm_forward[] = {"output", "h_n", "c_n", NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_call_lstm = {tni_params_nn_lstm_forward, &tni_defaults_nn_lstm_forward,
    tni_names_nn_lstm_forward, NULL, 3, 3, 3, 0, sizeof(tn_nn_lstm_forward_args), UINT16_MAX, 0,
    NULL, {0, 1, 2, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
static const tn_mgroup tni_groups_lstm[] = {{"hx", 1, 2}, {"", 4, 2}};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_lstm) = {"LSTM", &tni_make_lstm, &tni_call_lstm, NULL,
    tni_groups_lstm, 0, 2, offsetof(tn_nn_lstm_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_pixel_shuffle);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_pixel_shuffle);
static const tn_param tni_params_nn_pixel_shuffle[] = {
    {"upscale_factor", TN_T_INT, 0, offsetof(tn_nn_pixel_shuffle_args, upscale_factor), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pixel_shuffle_args, dtype),
     0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pixel_shuffle_args,
     device), 0, -1, NULL},
};
static const tn_nn_pixel_shuffle_args tni_defaults_nn_pixel_shuffle = {TN_NO_DTYPE, TN_NO_DEVICE,
    0};
static const char *const tni_names_nn_pixel_shuffle[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_pixel_shuffle = {tni_params_nn_pixel_shuffle,
    &tni_defaults_nn_pixel_shuffle, tni_names_nn_pixel_shuffle, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_pixel_shuffle_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_pixel_shuffle) = {"PixelShuffle", &tni_make_pixel_shuffle, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_pixel_shuffle_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_pixel_unshuffle);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_pixel_unshuffle);
static const tn_param tni_params_nn_pixel_unshuffle[] = {
    {"downscale_factor", TN_T_INT, 0, offsetof(tn_nn_pixel_unshuffle_args, downscale_factor), 0,
     -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pixel_unshuffle_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_pixel_unshuffle_args,
     device), 0, -1, NULL},
};
static const tn_nn_pixel_unshuffle_args tni_defaults_nn_pixel_unshuffle = {TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_pixel_unshuffle[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_pixel_unshuffle = {tni_params_nn_pixel_unshuffle,
    &tni_defaults_nn_pixel_unshuffle, tni_names_nn_pixel_unshuffle, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_pixel_unshuffle_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_pixel_unshuffle) = {"PixelUnshuffle", &tni_make_pixel_unshuffle, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_pixel_unshuffle_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_channel_shuffle);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_channel_shuffle);
static const tn_param tni_params_nn_channel_shuffle[] = {
    {"groups", TN_T_INT, 0, offsetof(tn_nn_channel_shuffle_args, groups), 0, -1, NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_channel_shuffle_args,
     dtype), 0, -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_channel_shuffle_args,
     device), 0, -1, NULL},
};
static const tn_nn_channel_shuffle_args tni_defaults_nn_channel_shuffle = {TN_NO_DTYPE,
    TN_NO_DEVICE, 0};
static const char *const tni_names_nn_channel_shuffle[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_channel_shuffle = {tni_params_nn_channel_shuffle,
    &tni_defaults_nn_channel_shuffle, tni_names_nn_channel_shuffle, NULL, 3, 0, 0, 0,
    sizeof(tn_nn_channel_shuffle_args), UINT16_MAX, TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0},
    0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_channel_shuffle) = {"ChannelShuffle", &tni_make_channel_shuffle, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_channel_shuffle_self, o)};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_mrow, tni_module_unflatten);
TN_PRIV_DECLARE(tn_mgen, tni_mgen_unflatten);
static const tn_param tni_params_nn_unflatten[] = {
    {"dim", TN_T_INT, 0, offsetof(tn_nn_unflatten_args, dim), 0, -1, NULL},
    {"unflattened_size", TN_T_INTS, 0, offsetof(tn_nn_unflatten_args, unflattened_size), 0, -1,
     NULL},
    {"dtype", TN_T_DTYPE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_unflatten_args, dtype), 0,
     -1, NULL},
    {"device", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, offsetof(tn_nn_unflatten_args, device),
     0, -1, NULL},
};
static const tn_nn_unflatten_args tni_defaults_nn_unflatten = {TN_NO_DTYPE, TN_NO_DEVICE, 0, {NULL,
    0}};
static const char *const tni_names_nn_unflatten[] = {NULL};
TNI_PRIVATE_BEGIN
static const tn_gen tni_make_unflatten = {tni_params_nn_unflatten, &tni_defaults_nn_unflatten,
    tni_names_nn_unflatten, NULL, 4, 0, 0, 0, sizeof(tn_nn_unflatten_args), UINT16_MAX,
    TN_PROP_INTS | TN_PROP_WORDS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_mgen, tni_mgen_unflatten) = {"Unflatten", &tni_make_unflatten, NULL, NULL,
    NULL, 0, 0, offsetof(tn_nn_unflatten_self, o)};
TNI_PRIVATE_END

TN_PRIV const tn_mrow *const *tni_mrows(void) {
    static const tn_mrow *const rows[] = {
#ifndef TENSOR_TRIM
        &tni_module_relu,
        &tni_module_leaky_relu,
        &tni_module_prelu,
        &tni_module_gelu,
        &tni_module_silu,
        &tni_module_sigmoid,
        &tni_module_tanh,
        &tni_module_softplus,
        &tni_module_softsign,
        &tni_module_softmax,
        &tni_module_log_softmax,
        &tni_module_multihead_attention,
        &tni_module_sequential,
        &tni_module_module_list,
        &tni_module_conv1d,
        &tni_module_conv2d,
        &tni_module_conv3d,
        &tni_module_conv_transpose1d,
        &tni_module_conv_transpose2d,
        &tni_module_conv_transpose3d,
        &tni_module_max_pool2d,
        &tni_module_avg_pool2d,
        &tni_module_adaptive_avg_pool2d,
        &tni_module_max_pool1d,
        &tni_module_avg_pool1d,
        &tni_module_adaptive_avg_pool1d,
        &tni_module_adaptive_avg_pool3d,
        &tni_module_lp_pool1d,
        &tni_module_lp_pool2d,
        &tni_module_cosine_similarity,
        &tni_module_pairwise_distance,
        &tni_module_unfold,
        &tni_module_fold,
        &tni_module_linear,
        &tni_module_embedding,
        &tni_module_dropout,
        &tni_module_dropout1d,
        &tni_module_dropout2d,
        &tni_module_dropout3d,
        &tni_module_identity,
        &tni_module_flatten,
        &tni_module_cross_entropy_loss,
        &tni_module_nll_loss,
        &tni_module_mse_loss,
        &tni_module_l1_loss,
        &tni_module_smooth_l1_loss,
        &tni_module_huber_loss,
        &tni_module_kl_div_loss,
        &tni_module_bce_loss,
        &tni_module_bce_with_logits_loss,
        &tni_module_margin_ranking_loss,
        &tni_module_hinge_embedding_loss,
        &tni_module_soft_margin_loss,
        &tni_module_cosine_embedding_loss,
        &tni_module_triplet_margin_loss,
        &tni_module_batch_norm1d,
        &tni_module_batch_norm2d,
        &tni_module_batch_norm3d,
        &tni_module_instance_norm1d,
        &tni_module_instance_norm2d,
        &tni_module_instance_norm3d,
        &tni_module_layer_norm,
        &tni_module_local_response_norm,
        &tni_module_constant_pad1d,
        &tni_module_constant_pad2d,
        &tni_module_constant_pad3d,
        &tni_module_zero_pad1d,
        &tni_module_zero_pad2d,
        &tni_module_zero_pad3d,
        &tni_module_reflection_pad1d,
        &tni_module_reflection_pad2d,
        &tni_module_reflection_pad3d,
        &tni_module_replication_pad1d,
        &tni_module_replication_pad2d,
        &tni_module_replication_pad3d,
        &tni_module_circular_pad1d,
        &tni_module_circular_pad2d,
        &tni_module_circular_pad3d,
        &tni_module_lstm,
        &tni_module_pixel_shuffle,
        &tni_module_pixel_unshuffle,
        &tni_module_channel_shuffle,
        &tni_module_unflatten,
#endif
        NULL};
    return rows;
}

TNI_EXTERN_C_BEGIN
TN_API tn_module *tn_nn_relu_at(const char *file, int line, const tn_nn_relu_args *args) {
    return tn_module_make(file, line, &tni_module_relu, args);
}
TN_API tn_module *tnp_nn_relu(bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_relu_args a = {inplace, dtype, device, 0};
    return tn_nn_relu_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_leaky_relu_at(const char *file, int line,
    const tn_nn_leaky_relu_args *args) {
    return tn_module_make(file, line, &tni_module_leaky_relu, args);
}
TN_API tn_module *tnp_nn_leaky_relu(double negative_slope, bool inplace, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_leaky_relu_args a = {negative_slope, inplace, dtype, device, 0};
    return tn_nn_leaky_relu_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_prelu_at(const char *file, int line, const tn_nn_prelu_args *args) {
    return tn_module_make(file, line, &tni_module_prelu, args);
}
TN_API tn_module *tnp_nn_prelu(int64_t num_parameters, double init, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_prelu_args a = {num_parameters, init, dtype, device, 0};
    return tn_nn_prelu_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_gelu_at(const char *file, int line, const tn_nn_gelu_args *args) {
    return tn_module_make(file, line, &tni_module_gelu, args);
}
TN_API tn_module *tnp_nn_gelu(tn_approximate approximate, tn_dtype dtype, tn_device_id device) {
    const tn_nn_gelu_args a = {approximate, dtype, device, 0};
    return tn_nn_gelu_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_silu_at(const char *file, int line, const tn_nn_silu_args *args) {
    return tn_module_make(file, line, &tni_module_silu, args);
}
TN_API tn_module *tnp_nn_silu(bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_silu_args a = {inplace, dtype, device, 0};
    return tn_nn_silu_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_sigmoid_at(const char *file, int line, const tn_nn_sigmoid_args *args) {
    return tn_module_make(file, line, &tni_module_sigmoid, args);
}
TN_API tn_module *tnp_nn_sigmoid(tn_dtype dtype, tn_device_id device) {
    const tn_nn_sigmoid_args a = {dtype, device, 0};
    return tn_nn_sigmoid_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_tanh_at(const char *file, int line, const tn_nn_tanh_args *args) {
    return tn_module_make(file, line, &tni_module_tanh, args);
}
TN_API tn_module *tnp_nn_tanh(tn_dtype dtype, tn_device_id device) {
    const tn_nn_tanh_args a = {dtype, device, 0};
    return tn_nn_tanh_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_softplus_at(const char *file, int line, const tn_nn_softplus_args *args) {
    return tn_module_make(file, line, &tni_module_softplus, args);
}
TN_API tn_module *tnp_nn_softplus(double beta, double threshold, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_softplus_args a = {beta, threshold, dtype, device, 0};
    return tn_nn_softplus_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_softsign_at(const char *file, int line, const tn_nn_softsign_args *args) {
    return tn_module_make(file, line, &tni_module_softsign, args);
}
TN_API tn_module *tnp_nn_softsign(tn_dtype dtype, tn_device_id device) {
    const tn_nn_softsign_args a = {dtype, device, 0};
    return tn_nn_softsign_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_softmax_at(const char *file, int line, const tn_nn_softmax_args *args) {
    return tn_module_make(file, line, &tni_module_softmax, args);
}
TN_API tn_module *tnp_nn_softmax(int64_t dim, tn_dtype dtype, tn_device_id device) {
    const tn_nn_softmax_args a = {dim, dtype, device, 0};
    return tn_nn_softmax_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_log_softmax_at(const char *file, int line,
    const tn_nn_log_softmax_args *args) {
    return tn_module_make(file, line, &tni_module_log_softmax, args);
}
TN_API tn_module *tnp_nn_log_softmax(int64_t dim, tn_dtype dtype, tn_device_id device) {
    const tn_nn_log_softmax_args a = {dim, dtype, device, 0};
    return tn_nn_log_softmax_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_multihead_attention_at(const char *file, int line,
    const tn_nn_multihead_attention_args *args) {
    return tn_module_make(file, line, &tni_module_multihead_attention, args);
}
TN_API tn_module *tnp_nn_multihead_attention(int64_t embed_dim, int64_t num_heads, double dropout,
    bool bias, bool batch_first, tn_dtype dtype, tn_device_id device) {
    const tn_nn_multihead_attention_args a = {dropout, bias, batch_first, dtype, device, embed_dim,
        num_heads};
    return tn_nn_multihead_attention_at(NULL, 0, &a);
}
TN_API tn_attn_output_attn_output_weights tn_nn_multihead_attention_forward_at(const char *file,
    int line, const tn_nn_multihead_attention_forward_args *args) {
    tn_tensor *out[2] = {NULL};
    tn_attn_output_attn_output_weights r;
    tn_module_call(file, line, args->module, &tni_module_multihead_attention, args, out, 2);
    r.attn_output = out[0];
    r.attn_output_weights = out[1];
    return r;
}
TN_API tn_attn_output_attn_output_weights tnp_nn_multihead_attention_forward(tn_module *module,
    tn_tensor *query, tn_tensor *key, tn_tensor *value, tn_tensor *key_padding_mask,
    bool need_weights, tn_tensor *attn_mask, bool average_attn_weights, bool is_causal) {
    const tn_nn_multihead_attention_forward_args a = {key_padding_mask, need_weights, attn_mask,
        average_attn_weights, is_causal, module, query, key, value};
    return tn_nn_multihead_attention_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_sequential_at(const char *file, int line,
    const tn_nn_sequential_args *args) {
    return tn_module_make(file, line, &tni_module_sequential, args);
}
TN_API tn_module *tnp_nn_sequential(tn_modules modules, tn_dtype dtype, tn_device_id device) {
    const tn_nn_sequential_args a = {dtype, device, modules};
    return tn_nn_sequential_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_module_list_at(const char *file, int line,
    const tn_nn_module_list_args *args) {
    return tn_module_make(file, line, &tni_module_module_list, args);
}
TN_API tn_module *tnp_nn_module_list(tn_modules modules, tn_dtype dtype, tn_device_id device) {
    const tn_nn_module_list_args a = {dtype, device, modules};
    return tn_nn_module_list_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv1d_at(const char *file, int line, const tn_nn_conv1d_args *args) {
    return tn_module_make(file, line, &tni_module_conv1d, args);
}
TN_API tn_module *tnp_nn_conv1d(int64_t in_channels, int64_t out_channels, tn_ints kernel_size,
    tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups, bool bias,
    tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_conv1d_args a = {stride, padding, dilation, groups, bias, padding_mode, dtype,
        device, in_channels, out_channels, kernel_size};
    return tn_nn_conv1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv2d_at(const char *file, int line, const tn_nn_conv2d_args *args) {
    return tn_module_make(file, line, &tni_module_conv2d, args);
}
TN_API tn_module *tnp_nn_conv2d(int64_t in_channels, int64_t out_channels, tn_ints kernel_size,
    tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups, bool bias,
    tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_conv2d_args a = {stride, padding, dilation, groups, bias, padding_mode, dtype,
        device, in_channels, out_channels, kernel_size};
    return tn_nn_conv2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv3d_at(const char *file, int line, const tn_nn_conv3d_args *args) {
    return tn_module_make(file, line, &tni_module_conv3d, args);
}
TN_API tn_module *tnp_nn_conv3d(int64_t in_channels, int64_t out_channels, tn_ints kernel_size,
    tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups, bool bias,
    tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_conv3d_args a = {stride, padding, dilation, groups, bias, padding_mode, dtype,
        device, in_channels, out_channels, kernel_size};
    return tn_nn_conv3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv_transpose1d_at(const char *file, int line,
    const tn_nn_conv_transpose1d_args *args) {
    return tn_module_make(file, line, &tni_module_conv_transpose1d, args);
}
TN_API tn_module *tnp_nn_conv_transpose1d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device)
    {
    const tn_nn_conv_transpose1d_args a = {stride, padding, output_padding, groups, bias, dilation,
        padding_mode, dtype, device, in_channels, out_channels, kernel_size};
    return tn_nn_conv_transpose1d_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_conv_transpose1d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose1d_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_conv_transpose1d, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_conv_transpose1d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size) {
    const tn_nn_conv_transpose1d_forward_args a = {output_size, module, input};
    return tn_nn_conv_transpose1d_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv_transpose2d_at(const char *file, int line,
    const tn_nn_conv_transpose2d_args *args) {
    return tn_module_make(file, line, &tni_module_conv_transpose2d, args);
}
TN_API tn_module *tnp_nn_conv_transpose2d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device)
    {
    const tn_nn_conv_transpose2d_args a = {stride, padding, output_padding, groups, bias, dilation,
        padding_mode, dtype, device, in_channels, out_channels, kernel_size};
    return tn_nn_conv_transpose2d_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_conv_transpose2d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose2d_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_conv_transpose2d, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_conv_transpose2d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size) {
    const tn_nn_conv_transpose2d_forward_args a = {output_size, module, input};
    return tn_nn_conv_transpose2d_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_conv_transpose3d_at(const char *file, int line,
    const tn_nn_conv_transpose3d_args *args) {
    return tn_module_make(file, line, &tni_module_conv_transpose3d, args);
}
TN_API tn_module *tnp_nn_conv_transpose3d(int64_t in_channels, int64_t out_channels,
    tn_ints kernel_size, tn_ints stride, tn_ints padding, tn_ints output_padding, int64_t groups,
    bool bias, tn_ints dilation, tn_padding_mode padding_mode, tn_dtype dtype, tn_device_id device)
    {
    const tn_nn_conv_transpose3d_args a = {stride, padding, output_padding, groups, bias, dilation,
        padding_mode, dtype, device, in_channels, out_channels, kernel_size};
    return tn_nn_conv_transpose3d_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_conv_transpose3d_forward_at(const char *file, int line,
    const tn_nn_conv_transpose3d_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_conv_transpose3d, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_conv_transpose3d_forward(tn_module *module, tn_tensor *input,
    tn_ints output_size) {
    const tn_nn_conv_transpose3d_forward_args a = {output_size, module, input};
    return tn_nn_conv_transpose3d_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_max_pool2d_at(const char *file, int line,
    const tn_nn_max_pool2d_args *args) {
    return tn_module_make(file, line, &tni_module_max_pool2d, args);
}
TN_API tn_module *tnp_nn_max_pool2d(tn_ints kernel_size, tn_ints stride, tn_ints padding,
    tn_ints dilation, bool return_indices, bool ceil_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_max_pool2d_args a = {stride, padding, dilation, return_indices, ceil_mode, dtype,
        device, kernel_size};
    return tn_nn_max_pool2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_avg_pool2d_at(const char *file, int line,
    const tn_nn_avg_pool2d_args *args) {
    return tn_module_make(file, line, &tni_module_avg_pool2d, args);
}
TN_API tn_module *tnp_nn_avg_pool2d(tn_ints kernel_size, tn_ints stride, tn_ints padding,
    bool ceil_mode, bool count_include_pad, int64_t divisor_override, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_avg_pool2d_args a = {stride, padding, ceil_mode, count_include_pad,
        divisor_override, dtype, device, kernel_size};
    return tn_nn_avg_pool2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_adaptive_avg_pool2d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool2d_args *args) {
    return tn_module_make(file, line, &tni_module_adaptive_avg_pool2d, args);
}
TN_API tn_module *tnp_nn_adaptive_avg_pool2d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_adaptive_avg_pool2d_args a = {dtype, device, output_size};
    return tn_nn_adaptive_avg_pool2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_max_pool1d_at(const char *file, int line,
    const tn_nn_max_pool1d_args *args) {
    return tn_module_make(file, line, &tni_module_max_pool1d, args);
}
TN_API tn_module *tnp_nn_max_pool1d(tn_ints kernel_size, tn_ints stride, tn_ints padding,
    tn_ints dilation, bool return_indices, bool ceil_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_max_pool1d_args a = {stride, padding, dilation, return_indices, ceil_mode, dtype,
        device, kernel_size};
    return tn_nn_max_pool1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_avg_pool1d_at(const char *file, int line,
    const tn_nn_avg_pool1d_args *args) {
    return tn_module_make(file, line, &tni_module_avg_pool1d, args);
}
TN_API tn_module *tnp_nn_avg_pool1d(tn_ints kernel_size, tn_ints stride, tn_ints padding,
    bool ceil_mode, bool count_include_pad, tn_dtype dtype, tn_device_id device) {
    const tn_nn_avg_pool1d_args a = {stride, padding, ceil_mode, count_include_pad, dtype, device,
        kernel_size};
    return tn_nn_avg_pool1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_adaptive_avg_pool1d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool1d_args *args) {
    return tn_module_make(file, line, &tni_module_adaptive_avg_pool1d, args);
}
TN_API tn_module *tnp_nn_adaptive_avg_pool1d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_adaptive_avg_pool1d_args a = {dtype, device, output_size};
    return tn_nn_adaptive_avg_pool1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_adaptive_avg_pool3d_at(const char *file, int line,
    const tn_nn_adaptive_avg_pool3d_args *args) {
    return tn_module_make(file, line, &tni_module_adaptive_avg_pool3d, args);
}
TN_API tn_module *tnp_nn_adaptive_avg_pool3d(tn_ints output_size, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_adaptive_avg_pool3d_args a = {dtype, device, output_size};
    return tn_nn_adaptive_avg_pool3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_lp_pool1d_at(const char *file, int line, const tn_nn_lp_pool1d_args *args) {
    return tn_module_make(file, line, &tni_module_lp_pool1d, args);
}
TN_API tn_module *tnp_nn_lp_pool1d(double norm_type, tn_ints kernel_size, tn_ints stride,
    bool ceil_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_lp_pool1d_args a = {stride, ceil_mode, dtype, device, norm_type, kernel_size};
    return tn_nn_lp_pool1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_lp_pool2d_at(const char *file, int line, const tn_nn_lp_pool2d_args *args) {
    return tn_module_make(file, line, &tni_module_lp_pool2d, args);
}
TN_API tn_module *tnp_nn_lp_pool2d(double norm_type, tn_ints kernel_size, tn_ints stride,
    bool ceil_mode, tn_dtype dtype, tn_device_id device) {
    const tn_nn_lp_pool2d_args a = {stride, ceil_mode, dtype, device, norm_type, kernel_size};
    return tn_nn_lp_pool2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_cosine_similarity_at(const char *file, int line,
    const tn_nn_cosine_similarity_args *args) {
    return tn_module_make(file, line, &tni_module_cosine_similarity, args);
}
TN_API tn_module *tnp_nn_cosine_similarity(int64_t dim, double eps, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_cosine_similarity_args a = {dim, eps, dtype, device, 0};
    return tn_nn_cosine_similarity_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_cosine_similarity_forward_at(const char *file, int line,
    const tn_nn_cosine_similarity_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_cosine_similarity, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_cosine_similarity_forward(tn_module *module, tn_tensor *x1, tn_tensor *x2)
    {
    const tn_nn_cosine_similarity_forward_args a = {module, x1, x2};
    return tn_nn_cosine_similarity_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_pairwise_distance_at(const char *file, int line,
    const tn_nn_pairwise_distance_args *args) {
    return tn_module_make(file, line, &tni_module_pairwise_distance, args);
}
TN_API tn_module *tnp_nn_pairwise_distance(double p, double eps, bool keepdim, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_pairwise_distance_args a = {p, eps, keepdim, dtype, device, 0};
    return tn_nn_pairwise_distance_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_pairwise_distance_forward_at(const char *file, int line,
    const tn_nn_pairwise_distance_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_pairwise_distance, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_pairwise_distance_forward(tn_module *module, tn_tensor *x1, tn_tensor *x2)
    {
    const tn_nn_pairwise_distance_forward_args a = {module, x1, x2};
    return tn_nn_pairwise_distance_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_unfold_at(const char *file, int line, const tn_nn_unfold_args *args) {
    return tn_module_make(file, line, &tni_module_unfold, args);
}
TN_API tn_module *tnp_nn_unfold(tn_ints kernel_size, tn_ints dilation, tn_ints padding,
    tn_ints stride, tn_dtype dtype, tn_device_id device) {
    const tn_nn_unfold_args a = {dilation, padding, stride, dtype, device, kernel_size};
    return tn_nn_unfold_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_fold_at(const char *file, int line, const tn_nn_fold_args *args) {
    return tn_module_make(file, line, &tni_module_fold, args);
}
TN_API tn_module *tnp_nn_fold(tn_ints output_size, tn_ints kernel_size, tn_ints dilation,
    tn_ints padding, tn_ints stride, tn_dtype dtype, tn_device_id device) {
    const tn_nn_fold_args a = {dilation, padding, stride, dtype, device, output_size, kernel_size};
    return tn_nn_fold_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_linear_at(const char *file, int line, const tn_nn_linear_args *args) {
    return tn_module_make(file, line, &tni_module_linear, args);
}
TN_API tn_module *tnp_nn_linear(int64_t in_features, int64_t out_features, bool bias,
    tn_dtype dtype, tn_device_id device) {
    const tn_nn_linear_args a = {bias, dtype, device, in_features, out_features};
    return tn_nn_linear_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_embedding_at(const char *file, int line, const tn_nn_embedding_args *args) {
    return tn_module_make(file, line, &tni_module_embedding, args);
}
TN_API tn_module *tnp_nn_embedding(int64_t num_embeddings, int64_t embedding_dim,
    int64_t padding_idx, bool scale_grad_by_freq, tn_dtype dtype, tn_device_id device) {
    const tn_nn_embedding_args a = {padding_idx, scale_grad_by_freq, dtype, device, num_embeddings,
        embedding_dim};
    return tn_nn_embedding_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_dropout_at(const char *file, int line, const tn_nn_dropout_args *args) {
    return tn_module_make(file, line, &tni_module_dropout, args);
}
TN_API tn_module *tnp_nn_dropout(double p, bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_dropout_args a = {p, inplace, dtype, device, 0};
    return tn_nn_dropout_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_dropout1d_at(const char *file, int line, const tn_nn_dropout1d_args *args) {
    return tn_module_make(file, line, &tni_module_dropout1d, args);
}
TN_API tn_module *tnp_nn_dropout1d(double p, bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_dropout1d_args a = {p, inplace, dtype, device, 0};
    return tn_nn_dropout1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_dropout2d_at(const char *file, int line, const tn_nn_dropout2d_args *args) {
    return tn_module_make(file, line, &tni_module_dropout2d, args);
}
TN_API tn_module *tnp_nn_dropout2d(double p, bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_dropout2d_args a = {p, inplace, dtype, device, 0};
    return tn_nn_dropout2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_dropout3d_at(const char *file, int line, const tn_nn_dropout3d_args *args) {
    return tn_module_make(file, line, &tni_module_dropout3d, args);
}
TN_API tn_module *tnp_nn_dropout3d(double p, bool inplace, tn_dtype dtype, tn_device_id device) {
    const tn_nn_dropout3d_args a = {p, inplace, dtype, device, 0};
    return tn_nn_dropout3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_identity_at(const char *file, int line, const tn_nn_identity_args *args) {
    return tn_module_make(file, line, &tni_module_identity, args);
}
TN_API tn_module *tnp_nn_identity(tn_dtype dtype, tn_device_id device) {
    const tn_nn_identity_args a = {dtype, device, 0};
    return tn_nn_identity_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_flatten_at(const char *file, int line, const tn_nn_flatten_args *args) {
    return tn_module_make(file, line, &tni_module_flatten, args);
}
TN_API tn_module *tnp_nn_flatten(int64_t start_dim, int64_t end_dim, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_flatten_args a = {start_dim, end_dim, dtype, device, 0};
    return tn_nn_flatten_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_cross_entropy_loss_at(const char *file, int line,
    const tn_nn_cross_entropy_loss_args *args) {
    return tn_module_make(file, line, &tni_module_cross_entropy_loss, args);
}
TN_API tn_module *tnp_nn_cross_entropy_loss(tn_tensor *weight, int64_t ignore_index,
    tn_reduction reduction, double label_smoothing, tn_dtype dtype, tn_device_id device) {
    const tn_nn_cross_entropy_loss_args a = {weight, ignore_index, reduction, label_smoothing,
        dtype, device, 0};
    return tn_nn_cross_entropy_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_cross_entropy_loss_forward_at(const char *file, int line,
    const tn_nn_cross_entropy_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_cross_entropy_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_cross_entropy_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_cross_entropy_loss_forward_args a = {module, input, target};
    return tn_nn_cross_entropy_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_nll_loss_at(const char *file, int line, const tn_nn_nll_loss_args *args) {
    return tn_module_make(file, line, &tni_module_nll_loss, args);
}
TN_API tn_module *tnp_nn_nll_loss(tn_tensor *weight, int64_t ignore_index, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device) {
    const tn_nn_nll_loss_args a = {weight, ignore_index, reduction, dtype, device, 0};
    return tn_nn_nll_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_nll_loss_forward_at(const char *file, int line,
    const tn_nn_nll_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_nll_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_nll_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target) {
    const tn_nn_nll_loss_forward_args a = {module, input, target};
    return tn_nn_nll_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_mse_loss_at(const char *file, int line, const tn_nn_mse_loss_args *args) {
    return tn_module_make(file, line, &tni_module_mse_loss, args);
}
TN_API tn_module *tnp_nn_mse_loss(tn_reduction reduction, tn_dtype dtype, tn_device_id device) {
    const tn_nn_mse_loss_args a = {reduction, dtype, device, 0};
    return tn_nn_mse_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_mse_loss_forward_at(const char *file, int line,
    const tn_nn_mse_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_mse_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_mse_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target) {
    const tn_nn_mse_loss_forward_args a = {module, input, target};
    return tn_nn_mse_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_l1_loss_at(const char *file, int line, const tn_nn_l1_loss_args *args) {
    return tn_module_make(file, line, &tni_module_l1_loss, args);
}
TN_API tn_module *tnp_nn_l1_loss(tn_reduction reduction, tn_dtype dtype, tn_device_id device) {
    const tn_nn_l1_loss_args a = {reduction, dtype, device, 0};
    return tn_nn_l1_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_l1_loss_forward_at(const char *file, int line,
    const tn_nn_l1_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_l1_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_l1_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target) {
    const tn_nn_l1_loss_forward_args a = {module, input, target};
    return tn_nn_l1_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_smooth_l1_loss_at(const char *file, int line,
    const tn_nn_smooth_l1_loss_args *args) {
    return tn_module_make(file, line, &tni_module_smooth_l1_loss, args);
}
TN_API tn_module *tnp_nn_smooth_l1_loss(tn_reduction reduction, double beta, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_smooth_l1_loss_args a = {reduction, beta, dtype, device, 0};
    return tn_nn_smooth_l1_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_smooth_l1_loss_forward_at(const char *file, int line,
    const tn_nn_smooth_l1_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_smooth_l1_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_smooth_l1_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_smooth_l1_loss_forward_args a = {module, input, target};
    return tn_nn_smooth_l1_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_huber_loss_at(const char *file, int line,
    const tn_nn_huber_loss_args *args) {
    return tn_module_make(file, line, &tni_module_huber_loss, args);
}
TN_API tn_module *tnp_nn_huber_loss(tn_reduction reduction, double delta, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_huber_loss_args a = {reduction, delta, dtype, device, 0};
    return tn_nn_huber_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_huber_loss_forward_at(const char *file, int line,
    const tn_nn_huber_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_huber_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_huber_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target)
    {
    const tn_nn_huber_loss_forward_args a = {module, input, target};
    return tn_nn_huber_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_kl_div_loss_at(const char *file, int line,
    const tn_nn_kl_div_loss_args *args) {
    return tn_module_make(file, line, &tni_module_kl_div_loss, args);
}
TN_API tn_module *tnp_nn_kl_div_loss(tn_batch_reduction reduction, bool log_target, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_kl_div_loss_args a = {reduction, log_target, dtype, device, 0};
    return tn_nn_kl_div_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_kl_div_loss_forward_at(const char *file, int line,
    const tn_nn_kl_div_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_kl_div_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_kl_div_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_kl_div_loss_forward_args a = {module, input, target};
    return tn_nn_kl_div_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_bce_loss_at(const char *file, int line, const tn_nn_bce_loss_args *args) {
    return tn_module_make(file, line, &tni_module_bce_loss, args);
}
TN_API tn_module *tnp_nn_bce_loss(tn_tensor *weight, tn_reduction reduction, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_bce_loss_args a = {weight, reduction, dtype, device, 0};
    return tn_nn_bce_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_bce_loss_forward_at(const char *file, int line,
    const tn_nn_bce_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_bce_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_bce_loss_forward(tn_module *module, tn_tensor *input, tn_tensor *target) {
    const tn_nn_bce_loss_forward_args a = {module, input, target};
    return tn_nn_bce_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_bce_with_logits_loss_at(const char *file, int line,
    const tn_nn_bce_with_logits_loss_args *args) {
    return tn_module_make(file, line, &tni_module_bce_with_logits_loss, args);
}
TN_API tn_module *tnp_nn_bce_with_logits_loss(tn_tensor *weight, tn_reduction reduction,
    tn_tensor *pos_weight, tn_dtype dtype, tn_device_id device) {
    const tn_nn_bce_with_logits_loss_args a = {weight, reduction, pos_weight, dtype, device, 0};
    return tn_nn_bce_with_logits_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_bce_with_logits_loss_forward_at(const char *file, int line,
    const tn_nn_bce_with_logits_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_bce_with_logits_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_bce_with_logits_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_bce_with_logits_loss_forward_args a = {module, input, target};
    return tn_nn_bce_with_logits_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_margin_ranking_loss_at(const char *file, int line,
    const tn_nn_margin_ranking_loss_args *args) {
    return tn_module_make(file, line, &tni_module_margin_ranking_loss, args);
}
TN_API tn_module *tnp_nn_margin_ranking_loss(double margin, tn_reduction reduction, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_margin_ranking_loss_args a = {margin, reduction, dtype, device, 0};
    return tn_nn_margin_ranking_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_margin_ranking_loss_forward_at(const char *file, int line,
    const tn_nn_margin_ranking_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_margin_ranking_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_margin_ranking_loss_forward(tn_module *module, tn_tensor *input1,
    tn_tensor *input2, tn_tensor *target) {
    const tn_nn_margin_ranking_loss_forward_args a = {module, input1, input2, target};
    return tn_nn_margin_ranking_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_hinge_embedding_loss_at(const char *file, int line,
    const tn_nn_hinge_embedding_loss_args *args) {
    return tn_module_make(file, line, &tni_module_hinge_embedding_loss, args);
}
TN_API tn_module *tnp_nn_hinge_embedding_loss(double margin, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device) {
    const tn_nn_hinge_embedding_loss_args a = {margin, reduction, dtype, device, 0};
    return tn_nn_hinge_embedding_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_hinge_embedding_loss_forward_at(const char *file, int line,
    const tn_nn_hinge_embedding_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_hinge_embedding_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_hinge_embedding_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_hinge_embedding_loss_forward_args a = {module, input, target};
    return tn_nn_hinge_embedding_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_soft_margin_loss_at(const char *file, int line,
    const tn_nn_soft_margin_loss_args *args) {
    return tn_module_make(file, line, &tni_module_soft_margin_loss, args);
}
TN_API tn_module *tnp_nn_soft_margin_loss(tn_reduction reduction, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_soft_margin_loss_args a = {reduction, dtype, device, 0};
    return tn_nn_soft_margin_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_soft_margin_loss_forward_at(const char *file, int line,
    const tn_nn_soft_margin_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_soft_margin_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_soft_margin_loss_forward(tn_module *module, tn_tensor *input,
    tn_tensor *target) {
    const tn_nn_soft_margin_loss_forward_args a = {module, input, target};
    return tn_nn_soft_margin_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_cosine_embedding_loss_at(const char *file, int line,
    const tn_nn_cosine_embedding_loss_args *args) {
    return tn_module_make(file, line, &tni_module_cosine_embedding_loss, args);
}
TN_API tn_module *tnp_nn_cosine_embedding_loss(double margin, tn_reduction reduction,
    tn_dtype dtype, tn_device_id device) {
    const tn_nn_cosine_embedding_loss_args a = {margin, reduction, dtype, device, 0};
    return tn_nn_cosine_embedding_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_cosine_embedding_loss_forward_at(const char *file, int line,
    const tn_nn_cosine_embedding_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_cosine_embedding_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_cosine_embedding_loss_forward(tn_module *module, tn_tensor *input1,
    tn_tensor *input2, tn_tensor *target) {
    const tn_nn_cosine_embedding_loss_forward_args a = {module, input1, input2, target};
    return tn_nn_cosine_embedding_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_triplet_margin_loss_at(const char *file, int line,
    const tn_nn_triplet_margin_loss_args *args) {
    return tn_module_make(file, line, &tni_module_triplet_margin_loss, args);
}
TN_API tn_module *tnp_nn_triplet_margin_loss(double margin, double p, double eps, bool swap,
    tn_reduction reduction, tn_dtype dtype, tn_device_id device) {
    const tn_nn_triplet_margin_loss_args a = {margin, p, eps, swap, reduction, dtype, device, 0};
    return tn_nn_triplet_margin_loss_at(NULL, 0, &a);
}
TN_API tn_tensor *tn_nn_triplet_margin_loss_forward_at(const char *file, int line,
    const tn_nn_triplet_margin_loss_forward_args *args) {
    tn_tensor *out[1] = {NULL};
    tn_module_call(file, line, args->module, &tni_module_triplet_margin_loss, args, out, 1);
    return out[0];
}
TN_API tn_tensor *tnp_nn_triplet_margin_loss_forward(tn_module *module, tn_tensor *anchor,
    tn_tensor *positive, tn_tensor *negative) {
    const tn_nn_triplet_margin_loss_forward_args a = {module, anchor, positive, negative};
    return tn_nn_triplet_margin_loss_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_batch_norm1d_at(const char *file, int line,
    const tn_nn_batch_norm1d_args *args) {
    return tn_module_make(file, line, &tni_module_batch_norm1d, args);
}
TN_API tn_module *tnp_nn_batch_norm1d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_batch_norm1d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_batch_norm1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_batch_norm2d_at(const char *file, int line,
    const tn_nn_batch_norm2d_args *args) {
    return tn_module_make(file, line, &tni_module_batch_norm2d, args);
}
TN_API tn_module *tnp_nn_batch_norm2d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_batch_norm2d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_batch_norm2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_batch_norm3d_at(const char *file, int line,
    const tn_nn_batch_norm3d_args *args) {
    return tn_module_make(file, line, &tni_module_batch_norm3d, args);
}
TN_API tn_module *tnp_nn_batch_norm3d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_batch_norm3d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_batch_norm3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_instance_norm1d_at(const char *file, int line,
    const tn_nn_instance_norm1d_args *args) {
    return tn_module_make(file, line, &tni_module_instance_norm1d, args);
}
TN_API tn_module *tnp_nn_instance_norm1d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_instance_norm1d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_instance_norm1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_instance_norm2d_at(const char *file, int line,
    const tn_nn_instance_norm2d_args *args) {
    return tn_module_make(file, line, &tni_module_instance_norm2d, args);
}
TN_API tn_module *tnp_nn_instance_norm2d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_instance_norm2d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_instance_norm2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_instance_norm3d_at(const char *file, int line,
    const tn_nn_instance_norm3d_args *args) {
    return tn_module_make(file, line, &tni_module_instance_norm3d, args);
}
TN_API tn_module *tnp_nn_instance_norm3d(int64_t num_features, double eps, tn_maybe momentum,
    bool affine, bool track_running_stats, bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_instance_norm3d_args a = {eps, momentum, affine, track_running_stats, bias, dtype,
        device, num_features};
    return tn_nn_instance_norm3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_layer_norm_at(const char *file, int line,
    const tn_nn_layer_norm_args *args) {
    return tn_module_make(file, line, &tni_module_layer_norm, args);
}
TN_API tn_module *tnp_nn_layer_norm(tn_ints normalized_shape, double eps, bool elementwise_affine,
    bool bias, tn_dtype dtype, tn_device_id device) {
    const tn_nn_layer_norm_args a = {eps, elementwise_affine, bias, dtype, device,
        normalized_shape};
    return tn_nn_layer_norm_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_local_response_norm_at(const char *file, int line,
    const tn_nn_local_response_norm_args *args) {
    return tn_module_make(file, line, &tni_module_local_response_norm, args);
}
TN_API tn_module *tnp_nn_local_response_norm(int64_t size, double alpha, double beta, double k,
    tn_dtype dtype, tn_device_id device) {
    const tn_nn_local_response_norm_args a = {alpha, beta, k, dtype, device, size};
    return tn_nn_local_response_norm_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_constant_pad1d_at(const char *file, int line,
    const tn_nn_constant_pad1d_args *args) {
    return tn_module_make(file, line, &tni_module_constant_pad1d, args);
}
TN_API tn_module *tnp_nn_constant_pad1d(tn_ints padding, double value, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_constant_pad1d_args a = {dtype, device, padding, value};
    return tn_nn_constant_pad1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_constant_pad2d_at(const char *file, int line,
    const tn_nn_constant_pad2d_args *args) {
    return tn_module_make(file, line, &tni_module_constant_pad2d, args);
}
TN_API tn_module *tnp_nn_constant_pad2d(tn_ints padding, double value, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_constant_pad2d_args a = {dtype, device, padding, value};
    return tn_nn_constant_pad2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_constant_pad3d_at(const char *file, int line,
    const tn_nn_constant_pad3d_args *args) {
    return tn_module_make(file, line, &tni_module_constant_pad3d, args);
}
TN_API tn_module *tnp_nn_constant_pad3d(tn_ints padding, double value, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_constant_pad3d_args a = {dtype, device, padding, value};
    return tn_nn_constant_pad3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_zero_pad1d_at(const char *file, int line,
    const tn_nn_zero_pad1d_args *args) {
    return tn_module_make(file, line, &tni_module_zero_pad1d, args);
}
TN_API tn_module *tnp_nn_zero_pad1d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_zero_pad1d_args a = {dtype, device, padding};
    return tn_nn_zero_pad1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_zero_pad2d_at(const char *file, int line,
    const tn_nn_zero_pad2d_args *args) {
    return tn_module_make(file, line, &tni_module_zero_pad2d, args);
}
TN_API tn_module *tnp_nn_zero_pad2d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_zero_pad2d_args a = {dtype, device, padding};
    return tn_nn_zero_pad2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_zero_pad3d_at(const char *file, int line,
    const tn_nn_zero_pad3d_args *args) {
    return tn_module_make(file, line, &tni_module_zero_pad3d, args);
}
TN_API tn_module *tnp_nn_zero_pad3d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_zero_pad3d_args a = {dtype, device, padding};
    return tn_nn_zero_pad3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_reflection_pad1d_at(const char *file, int line,
    const tn_nn_reflection_pad1d_args *args) {
    return tn_module_make(file, line, &tni_module_reflection_pad1d, args);
}
TN_API tn_module *tnp_nn_reflection_pad1d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_reflection_pad1d_args a = {dtype, device, padding};
    return tn_nn_reflection_pad1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_reflection_pad2d_at(const char *file, int line,
    const tn_nn_reflection_pad2d_args *args) {
    return tn_module_make(file, line, &tni_module_reflection_pad2d, args);
}
TN_API tn_module *tnp_nn_reflection_pad2d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_reflection_pad2d_args a = {dtype, device, padding};
    return tn_nn_reflection_pad2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_reflection_pad3d_at(const char *file, int line,
    const tn_nn_reflection_pad3d_args *args) {
    return tn_module_make(file, line, &tni_module_reflection_pad3d, args);
}
TN_API tn_module *tnp_nn_reflection_pad3d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_reflection_pad3d_args a = {dtype, device, padding};
    return tn_nn_reflection_pad3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_replication_pad1d_at(const char *file, int line,
    const tn_nn_replication_pad1d_args *args) {
    return tn_module_make(file, line, &tni_module_replication_pad1d, args);
}
TN_API tn_module *tnp_nn_replication_pad1d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_replication_pad1d_args a = {dtype, device, padding};
    return tn_nn_replication_pad1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_replication_pad2d_at(const char *file, int line,
    const tn_nn_replication_pad2d_args *args) {
    return tn_module_make(file, line, &tni_module_replication_pad2d, args);
}
TN_API tn_module *tnp_nn_replication_pad2d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_replication_pad2d_args a = {dtype, device, padding};
    return tn_nn_replication_pad2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_replication_pad3d_at(const char *file, int line,
    const tn_nn_replication_pad3d_args *args) {
    return tn_module_make(file, line, &tni_module_replication_pad3d, args);
}
TN_API tn_module *tnp_nn_replication_pad3d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_replication_pad3d_args a = {dtype, device, padding};
    return tn_nn_replication_pad3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_circular_pad1d_at(const char *file, int line,
    const tn_nn_circular_pad1d_args *args) {
    return tn_module_make(file, line, &tni_module_circular_pad1d, args);
}
TN_API tn_module *tnp_nn_circular_pad1d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_circular_pad1d_args a = {dtype, device, padding};
    return tn_nn_circular_pad1d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_circular_pad2d_at(const char *file, int line,
    const tn_nn_circular_pad2d_args *args) {
    return tn_module_make(file, line, &tni_module_circular_pad2d, args);
}
TN_API tn_module *tnp_nn_circular_pad2d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_circular_pad2d_args a = {dtype, device, padding};
    return tn_nn_circular_pad2d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_circular_pad3d_at(const char *file, int line,
    const tn_nn_circular_pad3d_args *args) {
    return tn_module_make(file, line, &tni_module_circular_pad3d, args);
}
TN_API tn_module *tnp_nn_circular_pad3d(tn_ints padding, tn_dtype dtype, tn_device_id device) {
    const tn_nn_circular_pad3d_args a = {dtype, device, padding};
    return tn_nn_circular_pad3d_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_lstm_at(const char *file, int line, const tn_nn_lstm_args *args) {
    return tn_module_make(file, line, &tni_module_lstm, args);
}
TN_API tn_module *tnp_nn_lstm(int64_t input_size, int64_t hidden_size, int64_t num_layers,
    bool bias, bool batch_first, double dropout, bool bidirectional, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_lstm_args a = {num_layers, bias, batch_first, dropout, bidirectional, dtype,
        device, input_size, hidden_size};
    return tn_nn_lstm_at(NULL, 0, &a);
}
TN_API tn_output_h_n_c_n tn_nn_lstm_forward_at(const char *file, int line,
    const tn_nn_lstm_forward_args *args) {
    tn_tensor *out[3] = {NULL};
    tn_output_h_n_c_n r;
    tn_module_call(file, line, args->module, &tni_module_lstm, args, out, 3);
    r.output = out[0];
    r.h_n = out[1];
    r.c_n = out[2];
    return r;
}
TN_API tn_output_h_n_c_n tnp_nn_lstm_forward(tn_module *module, tn_tensor *input, tn_tensor *h,
    tn_tensor *c) {
    const tn_nn_lstm_forward_args a = {h, c, module, input};
    return tn_nn_lstm_forward_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_pixel_shuffle_at(const char *file, int line,
    const tn_nn_pixel_shuffle_args *args) {
    return tn_module_make(file, line, &tni_module_pixel_shuffle, args);
}
TN_API tn_module *tnp_nn_pixel_shuffle(int64_t upscale_factor, tn_dtype dtype, tn_device_id device)
    {
    const tn_nn_pixel_shuffle_args a = {dtype, device, upscale_factor};
    return tn_nn_pixel_shuffle_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_pixel_unshuffle_at(const char *file, int line,
    const tn_nn_pixel_unshuffle_args *args) {
    return tn_module_make(file, line, &tni_module_pixel_unshuffle, args);
}
TN_API tn_module *tnp_nn_pixel_unshuffle(int64_t downscale_factor, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_pixel_unshuffle_args a = {dtype, device, downscale_factor};
    return tn_nn_pixel_unshuffle_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_channel_shuffle_at(const char *file, int line,
    const tn_nn_channel_shuffle_args *args) {
    return tn_module_make(file, line, &tni_module_channel_shuffle, args);
}
TN_API tn_module *tnp_nn_channel_shuffle(int64_t groups, tn_dtype dtype, tn_device_id device) {
    const tn_nn_channel_shuffle_args a = {dtype, device, groups};
    return tn_nn_channel_shuffle_at(NULL, 0, &a);
}
TN_API tn_module *tn_nn_unflatten_at(const char *file, int line, const tn_nn_unflatten_args *args) {
    return tn_module_make(file, line, &tni_module_unflatten, args);
}
TN_API tn_module *tnp_nn_unflatten(int64_t dim, tn_ints unflattened_size, tn_dtype dtype,
    tn_device_id device) {
    const tn_nn_unflatten_args a = {dtype, device, dim, unflattened_size};
    return tn_nn_unflatten_at(NULL, 0, &a);
}

TNI_EXTERN_C_END

/* src/gen/optimizers.c - tables and functions of optimizers, which modules.h declares: tni_ogen_sgd of the row tni_optimizer_sgd */

#include <math.h>

static TNI_UNUSED const char *const tni_optim_words_reduction[] = {"none", "mean", "sum", NULL};
static TNI_UNUSED const char *const tni_optim_words_approximate[] = {"none", "tanh", NULL};
static TNI_UNUSED const char *const tni_optim_words_rounding[] = {"trunc", "floor", NULL};
static TNI_UNUSED const char *const tni_optim_words_memory_format[] = {"contiguous_format",
    "preserve_format", "channels_last", "channels_last_3d", NULL};
static TNI_UNUSED const char *const tni_optim_words_padding_mode[] = {"zeros", "reflect",
    "replicate", "circular", NULL};
static TNI_UNUSED const char *const tni_optim_words_reduce_op[] = {"sum", "avg", "product", "min",
    "max", "band", "bor", "bxor", NULL};
static TNI_UNUSED const char *const tni_optim_words_resize_mode[] = {"nearest", "nearest_exact",
    "linear", "bilinear", "trilinear", "bicubic", "area", NULL};
static TNI_UNUSED const char *const tni_optim_words_batch_reduction[] = {"none", "mean", "sum",
    "batchmean", NULL};
static TNI_UNUSED const char *const tni_optim_words_optimizer_rule[] = {"adagrad", "rmsprop",
    "adadelta", "adamax", "nadam", "radam", "rprop", "asgd", "assign", NULL};

TN_PRIV_DECLARE(tn_orow, tni_optimizer_adam);
TN_PRIV_DECLARE(tn_gen, tni_ogen_adam);
static const tn_param tni_params_optim_adam[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_adam_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adam_args, lr), 0, -1, NULL},
    {"betas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_adam_args, betas), 0, 2, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adam_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adam_args, weight_decay), 0, -1,
     NULL},
    {"amsgrad", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_adam_args, amsgrad), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_adam_args, maximize), 0,
     -1, NULL},
};
static const double tni_list_optim_adam_betas[] = {0.9, 0.999};
static const tn_optim_adam_args tni_defaults_optim_adam = {0.001, {tni_list_optim_adam_betas, 2},
    1e-08, 0, false, false, {NULL, 0}};
static const char *const tni_names_optim_adam[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_adam) = {tni_params_optim_adam, &tni_defaults_optim_adam,
    tni_names_optim_adam, NULL, 7, 0, 0, 0, sizeof(tn_optim_adam_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_adamw);
TN_PRIV_DECLARE(tn_gen, tni_ogen_adamw);
static const tn_param tni_params_optim_adamw[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_adamw_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamw_args, lr), 0, -1, NULL},
    {"betas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_adamw_args, betas), 0, 2, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamw_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamw_args, weight_decay), 0, -1,
     NULL},
    {"amsgrad", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_adamw_args, amsgrad), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_adamw_args, maximize),
     0, -1, NULL},
};
static const double tni_list_optim_adamw_betas[] = {0.9, 0.999};
static const tn_optim_adamw_args tni_defaults_optim_adamw = {0.001, {tni_list_optim_adamw_betas,
    2}, 1e-08, 0.01, false, false, {NULL, 0}};
static const char *const tni_names_optim_adamw[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_adamw) = {tni_params_optim_adamw, &tni_defaults_optim_adamw,
    tni_names_optim_adamw, NULL, 7, 0, 0, 0, sizeof(tn_optim_adamw_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_asgd);
TN_PRIV_DECLARE(tn_gen, tni_ogen_asgd);
static const tn_param tni_params_optim_asgd[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_asgd_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, lr), 0, -1, NULL},
    {"lambd", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, lambd), 0, -1, NULL},
    {"alpha", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, alpha), 0, -1, NULL},
    {"t0", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, t0), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, weight_decay), 0, -1,
     NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_asgd_args, maximize), 0, -1, NULL},
};
static const tn_optim_asgd_args tni_defaults_optim_asgd = {0.01, 0.0001, 0.75, 1000000, 0, false,
    {NULL, 0}};
static const char *const tni_names_optim_asgd[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_asgd) = {tni_params_optim_asgd, &tni_defaults_optim_asgd,
    tni_names_optim_asgd, NULL, 7, 0, 0, 0, sizeof(tn_optim_asgd_args), UINT16_MAX, TN_PROP_LISTS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_rprop);
TN_PRIV_DECLARE(tn_gen, tni_ogen_rprop);
static const tn_param tni_params_optim_rprop[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_rprop_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rprop_args, lr), 0, -1, NULL},
    {"etas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_rprop_args, etas), 0, 2, NULL},
    {"step_sizes", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_rprop_args, step_sizes), 0, 2,
     NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_rprop_args, maximize),
     0, -1, NULL},
};
static const double tni_list_optim_rprop_etas[] = {0.5, 1.2};
static const double tni_list_optim_rprop_step_sizes[] = {1e-06, 50};
static const tn_optim_rprop_args tni_defaults_optim_rprop = {0.01, {tni_list_optim_rprop_etas, 2},
    {tni_list_optim_rprop_step_sizes, 2}, false, {NULL, 0}};
static const char *const tni_names_optim_rprop[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_rprop) = {tni_params_optim_rprop, &tni_defaults_optim_rprop,
    tni_names_optim_rprop, NULL, 5, 0, 0, 0, sizeof(tn_optim_rprop_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_adamax);
TN_PRIV_DECLARE(tn_gen, tni_ogen_adamax);
static const tn_param tni_params_optim_adamax[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_adamax_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamax_args, lr), 0, -1, NULL},
    {"betas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_adamax_args, betas), 0, 2, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamax_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adamax_args, weight_decay), 0, -1,
     NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_adamax_args, maximize),
     0, -1, NULL},
};
static const double tni_list_optim_adamax_betas[] = {0.9, 0.999};
static const tn_optim_adamax_args tni_defaults_optim_adamax = {0.002, {tni_list_optim_adamax_betas,
    2}, 1e-08, 0, false, {NULL, 0}};
static const char *const tni_names_optim_adamax[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_adamax) = {tni_params_optim_adamax, &tni_defaults_optim_adamax,
    tni_names_optim_adamax, NULL, 6, 0, 0, 0, sizeof(tn_optim_adamax_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_nadam);
TN_PRIV_DECLARE(tn_gen, tni_ogen_nadam);
static const tn_param tni_params_optim_nadam[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_nadam_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_nadam_args, lr), 0, -1, NULL},
    {"betas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_nadam_args, betas), 0, 2, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_nadam_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_nadam_args, weight_decay), 0, -1,
     NULL},
    {"momentum_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_nadam_args, momentum_decay), 0,
     -1, NULL},
    {"decoupled_weight_decay", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_nadam_args,
     decoupled_weight_decay), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_nadam_args, maximize),
     0, -1, NULL},
};
static const double tni_list_optim_nadam_betas[] = {0.9, 0.999};
static const tn_optim_nadam_args tni_defaults_optim_nadam = {0.002, {tni_list_optim_nadam_betas,
    2}, 1e-08, 0, 0.004, false, false, {NULL, 0}};
static const char *const tni_names_optim_nadam[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_nadam) = {tni_params_optim_nadam, &tni_defaults_optim_nadam,
    tni_names_optim_nadam, NULL, 8, 0, 0, 0, sizeof(tn_optim_nadam_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_radam);
TN_PRIV_DECLARE(tn_gen, tni_ogen_radam);
static const tn_param tni_params_optim_radam[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_radam_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_radam_args, lr), 0, -1, NULL},
    {"betas", TN_T_FLOATS, TN_P_DEFAULT, offsetof(tn_optim_radam_args, betas), 0, 2, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_radam_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_radam_args, weight_decay), 0, -1,
     NULL},
    {"decoupled_weight_decay", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_radam_args,
     decoupled_weight_decay), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_radam_args, maximize),
     0, -1, NULL},
};
static const double tni_list_optim_radam_betas[] = {0.9, 0.999};
static const tn_optim_radam_args tni_defaults_optim_radam = {0.001, {tni_list_optim_radam_betas,
    2}, 1e-08, 0, false, false, {NULL, 0}};
static const char *const tni_names_optim_radam[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_radam) = {tni_params_optim_radam, &tni_defaults_optim_radam,
    tni_names_optim_radam, NULL, 7, 0, 0, 0, sizeof(tn_optim_radam_args), UINT16_MAX,
    TN_PROP_LISTS | TN_PROP_INTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_sgd);
TN_PRIV_DECLARE(tn_gen, tni_ogen_sgd);
static const tn_param tni_params_optim_sgd[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_sgd_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_sgd_args, lr), 0, -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_sgd_args, momentum), 0, -1, NULL},
    {"dampening", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_sgd_args, dampening), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_sgd_args, weight_decay), 0, -1,
     NULL},
    {"nesterov", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_sgd_args, nesterov), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_sgd_args, maximize), 0,
     -1, NULL},
};
static const tn_optim_sgd_args tni_defaults_optim_sgd = {0.001, 0, 0, 0, false, false, {NULL, 0}};
static const char *const tni_names_optim_sgd[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_sgd) = {tni_params_optim_sgd, &tni_defaults_optim_sgd,
    tni_names_optim_sgd, NULL, 7, 0, 0, 0, sizeof(tn_optim_sgd_args), UINT16_MAX, TN_PROP_LISTS,
    NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_adagrad);
TN_PRIV_DECLARE(tn_gen, tni_ogen_adagrad);
static const tn_param tni_params_optim_adagrad[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_adagrad_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adagrad_args, lr), 0, -1, NULL},
    {"lr_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adagrad_args, lr_decay), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adagrad_args, weight_decay), 0,
     -1, NULL},
    {"initial_accumulator_value", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adagrad_args,
     initial_accumulator_value), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adagrad_args, eps), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_adagrad_args, maximize),
     0, -1, NULL},
};
static const tn_optim_adagrad_args tni_defaults_optim_adagrad = {0.01, 0, 0, 0, 1e-10, false,
    {NULL, 0}};
static const char *const tni_names_optim_adagrad[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_adagrad) = {tni_params_optim_adagrad, &tni_defaults_optim_adagrad,
    tni_names_optim_adagrad, NULL, 7, 0, 0, 0, sizeof(tn_optim_adagrad_args), UINT16_MAX,
    TN_PROP_LISTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_rmsprop);
TN_PRIV_DECLARE(tn_gen, tni_ogen_rmsprop);
static const tn_param tni_params_optim_rmsprop[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_rmsprop_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, lr), 0, -1, NULL},
    {"alpha", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, alpha), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, weight_decay), 0,
     -1, NULL},
    {"momentum", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, momentum), 0, -1, NULL},
    {"centered", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, centered), 0, -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT, offsetof(tn_optim_rmsprop_args, maximize), 0, -1, NULL},
};
static const tn_optim_rmsprop_args tni_defaults_optim_rmsprop = {0.01, 0.99, 1e-08, 0, 0, false,
    false, {NULL, 0}};
static const char *const tni_names_optim_rmsprop[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_rmsprop) = {tni_params_optim_rmsprop, &tni_defaults_optim_rmsprop,
    tni_names_optim_rmsprop, NULL, 8, 0, 0, 0, sizeof(tn_optim_rmsprop_args), UINT16_MAX,
    TN_PROP_LISTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV_DECLARE(tn_orow, tni_optimizer_adadelta);
TN_PRIV_DECLARE(tn_gen, tni_ogen_adadelta);
static const tn_param tni_params_optim_adadelta[] = {
    {"params", TN_T_TENSORS, 0, offsetof(tn_optim_adadelta_args, params), 0, -1, NULL},
    {"lr", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adadelta_args, lr), 0, -1, NULL},
    {"rho", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adadelta_args, rho), 0, -1, NULL},
    {"eps", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adadelta_args, eps), 0, -1, NULL},
    {"weight_decay", TN_T_FLOAT, TN_P_DEFAULT, offsetof(tn_optim_adadelta_args, weight_decay), 0,
     -1, NULL},
    {"maximize", TN_T_BOOL, TN_P_DEFAULT | TN_P_KEYWORD, offsetof(tn_optim_adadelta_args,
     maximize), 0, -1, NULL},
};
static const tn_optim_adadelta_args tni_defaults_optim_adadelta = {1, 0.9, 1e-06, 0, false, {NULL,
    0}};
static const char *const tni_names_optim_adadelta[] = {NULL};
TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tn_gen, tni_ogen_adadelta) = {tni_params_optim_adadelta,
    &tni_defaults_optim_adadelta, tni_names_optim_adadelta, NULL, 6, 0, 0, 0,
    sizeof(tn_optim_adadelta_args), UINT16_MAX, TN_PROP_LISTS, NULL, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
TNI_PRIVATE_END

TN_PRIV const tn_orow *const *tni_orows(void) {
    static const tn_orow *const rows[] = {
#ifndef TENSOR_TRIM
        &tni_optimizer_adam,
        &tni_optimizer_adamw,
        &tni_optimizer_asgd,
        &tni_optimizer_rprop,
        &tni_optimizer_adamax,
        &tni_optimizer_nadam,
        &tni_optimizer_radam,
        &tni_optimizer_sgd,
        &tni_optimizer_adagrad,
        &tni_optimizer_rmsprop,
        &tni_optimizer_adadelta,
#endif
        NULL};
    return rows;
}

TNI_EXTERN_C_BEGIN
TN_API tn_optimizer *tn_optim_adam_at(const char *file, int line, const tn_optim_adam_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_adam, args);
}
TN_API tn_optimizer *tnp_optim_adam(tn_tensors params, double lr, tn_floats betas, double eps,
    double weight_decay, bool amsgrad, bool maximize) {
    const tn_optim_adam_args a = {lr, betas, eps, weight_decay, amsgrad, maximize, params};
    return tn_optim_adam_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_adamw_at(const char *file, int line, const tn_optim_adamw_args *args)
    {
    return tn_optimizer_make(file, line, &tni_optimizer_adamw, args);
}
TN_API tn_optimizer *tnp_optim_adamw(tn_tensors params, double lr, tn_floats betas, double eps,
    double weight_decay, bool amsgrad, bool maximize) {
    const tn_optim_adamw_args a = {lr, betas, eps, weight_decay, amsgrad, maximize, params};
    return tn_optim_adamw_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_asgd_at(const char *file, int line, const tn_optim_asgd_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_asgd, args);
}
TN_API tn_optimizer *tnp_optim_asgd(tn_tensors params, double lr, double lambd, double alpha,
    double t0, double weight_decay, bool maximize) {
    const tn_optim_asgd_args a = {lr, lambd, alpha, t0, weight_decay, maximize, params};
    return tn_optim_asgd_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_rprop_at(const char *file, int line, const tn_optim_rprop_args *args)
    {
    return tn_optimizer_make(file, line, &tni_optimizer_rprop, args);
}
TN_API tn_optimizer *tnp_optim_rprop(tn_tensors params, double lr, tn_floats etas,
    tn_floats step_sizes, bool maximize) {
    const tn_optim_rprop_args a = {lr, etas, step_sizes, maximize, params};
    return tn_optim_rprop_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_adamax_at(const char *file, int line,
    const tn_optim_adamax_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_adamax, args);
}
TN_API tn_optimizer *tnp_optim_adamax(tn_tensors params, double lr, tn_floats betas, double eps,
    double weight_decay, bool maximize) {
    const tn_optim_adamax_args a = {lr, betas, eps, weight_decay, maximize, params};
    return tn_optim_adamax_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_nadam_at(const char *file, int line, const tn_optim_nadam_args *args)
    {
    return tn_optimizer_make(file, line, &tni_optimizer_nadam, args);
}
TN_API tn_optimizer *tnp_optim_nadam(tn_tensors params, double lr, tn_floats betas, double eps,
    double weight_decay, double momentum_decay, bool decoupled_weight_decay, bool maximize) {
    const tn_optim_nadam_args a = {lr, betas, eps, weight_decay, momentum_decay,
        decoupled_weight_decay, maximize, params};
    return tn_optim_nadam_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_radam_at(const char *file, int line, const tn_optim_radam_args *args)
    {
    return tn_optimizer_make(file, line, &tni_optimizer_radam, args);
}
TN_API tn_optimizer *tnp_optim_radam(tn_tensors params, double lr, tn_floats betas, double eps,
    double weight_decay, bool decoupled_weight_decay, bool maximize) {
    const tn_optim_radam_args a = {lr, betas, eps, weight_decay, decoupled_weight_decay, maximize,
        params};
    return tn_optim_radam_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_sgd_at(const char *file, int line, const tn_optim_sgd_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_sgd, args);
}
TN_API tn_optimizer *tnp_optim_sgd(tn_tensors params, double lr, double momentum, double dampening,
    double weight_decay, bool nesterov, bool maximize) {
    const tn_optim_sgd_args a = {lr, momentum, dampening, weight_decay, nesterov, maximize, params};
    return tn_optim_sgd_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_adagrad_at(const char *file, int line,
    const tn_optim_adagrad_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_adagrad, args);
}
TN_API tn_optimizer *tnp_optim_adagrad(tn_tensors params, double lr, double lr_decay,
    double weight_decay, double initial_accumulator_value, double eps, bool maximize) {
    const tn_optim_adagrad_args a = {lr, lr_decay, weight_decay, initial_accumulator_value, eps,
        maximize, params};
    return tn_optim_adagrad_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_rmsprop_at(const char *file, int line,
    const tn_optim_rmsprop_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_rmsprop, args);
}
TN_API tn_optimizer *tnp_optim_rmsprop(tn_tensors params, double lr, double alpha, double eps,
    double weight_decay, double momentum, bool centered, bool maximize) {
    const tn_optim_rmsprop_args a = {lr, alpha, eps, weight_decay, momentum, centered, maximize,
        params};
    return tn_optim_rmsprop_at(NULL, 0, &a);
}
TN_API tn_optimizer *tn_optim_adadelta_at(const char *file, int line,
    const tn_optim_adadelta_args *args) {
    return tn_optimizer_make(file, line, &tni_optimizer_adadelta, args);
}
TN_API tn_optimizer *tnp_optim_adadelta(tn_tensors params, double lr, double rho, double eps,
    double weight_decay, bool maximize) {
    const tn_optim_adadelta_args a = {lr, rho, eps, weight_decay, maximize, params};
    return tn_optim_adadelta_at(NULL, 0, &a);
}

TNI_EXTERN_C_END

/* src/base/cold_end.inl - the end of cold_begin.inl or lean_begin.inl */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC pop_options
#endif
#endif
#endif /* TENSOR_NN_IMPLEMENTATION */

#else /* text that is compiled several times */

#if TNI_NN_SECTION == 1
#undef TNI_NN_SECTION
#ifdef TN_PREFIX
#define tn_module_new_at TNI_JOIN(TN_PREFIX, tn_module_new_at)
#define tn_module_finish_at TNI_JOIN(TN_PREFIX, tn_module_finish_at)
#define tn_part_tensor_at TNI_JOIN(TN_PREFIX, tn_part_tensor_at)
#define tn_part_give_at TNI_JOIN(TN_PREFIX, tn_part_give_at)
#define tn_part_child_at TNI_JOIN(TN_PREFIX, tn_part_child_at)
#define tn_module_append_at TNI_JOIN(TN_PREFIX, tn_module_append_at)
#define tn_module_hold TNI_JOIN(TN_PREFIX, tn_module_hold)
#define tn_module_free TNI_JOIN(TN_PREFIX, tn_module_free)
#define tn_module_make TNI_JOIN(TN_PREFIX, tn_module_make)
#define tn_module_named_at TNI_JOIN(TN_PREFIX, tn_module_named_at)
#define tn_module_register_at TNI_JOIN(TN_PREFIX, tn_module_register_at)
#define tn_module_forget TNI_JOIN(TN_PREFIX, tn_module_forget)
#define tn_mrow_named TNI_JOIN(TN_PREFIX, tn_mrow_named)
#define tn_mrow_count TNI_JOIN(TN_PREFIX, tn_mrow_count)
#define tn_mrow_at TNI_JOIN(TN_PREFIX, tn_mrow_at)
#define tn_input TNI_JOIN(TN_PREFIX, tn_input)
#define tn_forward_at TNI_JOIN(TN_PREFIX, tn_forward_at)
#define tn_module_call TNI_JOIN(TN_PREFIX, tn_module_call)
#define tn_module_call_values TNI_JOIN(TN_PREFIX, tn_module_call_values)
#define tn_module_hook_at TNI_JOIN(TN_PREFIX, tn_module_hook_at)
#define tn_module_hook_remove_at TNI_JOIN(TN_PREFIX, tn_module_hook_remove_at)
#define tn_part_tensor_of TNI_JOIN(TN_PREFIX, tn_part_tensor_of)
#define tn_part_child_of TNI_JOIN(TN_PREFIX, tn_part_child_of)
#define tn_module_tensor_at TNI_JOIN(TN_PREFIX, tn_module_tensor_at)
#define tn_module_child_at TNI_JOIN(TN_PREFIX, tn_module_child_at)
#define tn_module_set_tensor_at TNI_JOIN(TN_PREFIX, tn_module_set_tensor_at)
#define tn_module_walk_at TNI_JOIN(TN_PREFIX, tn_module_walk_at)
#define tn_parameters_at TNI_JOIN(TN_PREFIX, tn_parameters_at)
#define tn_module_parameters_at TNI_JOIN(TN_PREFIX, tn_module_parameters_at)
#define tn_module_buffers_at TNI_JOIN(TN_PREFIX, tn_module_buffers_at)
#define tn_module_state_dict_at TNI_JOIN(TN_PREFIX, tn_module_state_dict_at)
#define tn_module_train TNI_JOIN(TN_PREFIX, tn_module_train)
#define tn_module_requires_grad_at TNI_JOIN(TN_PREFIX, tn_module_requires_grad_at)
#define tn_module_zero_grad TNI_JOIN(TN_PREFIX, tn_module_zero_grad)
#define tn_module_load_at TNI_JOIN(TN_PREFIX, tn_module_load_at)
#define tn_module_to_at TNI_JOIN(TN_PREFIX, tn_module_to_at)
#define tn_module_copy_at TNI_JOIN(TN_PREFIX, tn_module_copy_at)
#define tn_module_copy_from_at TNI_JOIN(TN_PREFIX, tn_module_copy_from_at)
#define tn_module_reset_at TNI_JOIN(TN_PREFIX, tn_module_reset_at)
#define tn_module_save_file_at TNI_JOIN(TN_PREFIX, tn_module_save_file_at)
#define tn_module_load_file_at TNI_JOIN(TN_PREFIX, tn_module_load_file_at)
#define tn_module_save_memory_at TNI_JOIN(TN_PREFIX, tn_module_save_memory_at)
#define tn_module_load_memory_at TNI_JOIN(TN_PREFIX, tn_module_load_memory_at)
#define tn_module_text_at TNI_JOIN(TN_PREFIX, tn_module_text_at)
#define tn_module_print_at TNI_JOIN(TN_PREFIX, tn_module_print_at)
#define tn_nn_init_gain_at TNI_JOIN(TN_PREFIX, tn_nn_init_gain_at)
#define tn_nn_init_constant_at TNI_JOIN(TN_PREFIX, tn_nn_init_constant_at)
#define tn_nn_init_uniform_at TNI_JOIN(TN_PREFIX, tn_nn_init_uniform_at)
#define tn_nn_init_normal_at TNI_JOIN(TN_PREFIX, tn_nn_init_normal_at)
#define tn_nn_init_xavier_uniform_at TNI_JOIN(TN_PREFIX, tn_nn_init_xavier_uniform_at)
#define tn_nn_init_xavier_normal_at TNI_JOIN(TN_PREFIX, tn_nn_init_xavier_normal_at)
#define tn_nn_init_kaiming_uniform_at TNI_JOIN(TN_PREFIX, tn_nn_init_kaiming_uniform_at)
#define tn_nn_init_kaiming_normal_at TNI_JOIN(TN_PREFIX, tn_nn_init_kaiming_normal_at)
#define tn_orow_count TNI_JOIN(TN_PREFIX, tn_orow_count)
#define tn_orow_at TNI_JOIN(TN_PREFIX, tn_orow_at)
#define tn_optimizer_make TNI_JOIN(TN_PREFIX, tn_optimizer_make)
#define tn_optimizer_free TNI_JOIN(TN_PREFIX, tn_optimizer_free)
#define tn_optimizer_group_at TNI_JOIN(TN_PREFIX, tn_optimizer_group_at)
#define tn_optimizer_groups TNI_JOIN(TN_PREFIX, tn_optimizer_groups)
#define tn_optimizer_set_at TNI_JOIN(TN_PREFIX, tn_optimizer_set_at)
#define tn_optimizer_get_at TNI_JOIN(TN_PREFIX, tn_optimizer_get_at)
#define tn_optimizer_step_at TNI_JOIN(TN_PREFIX, tn_optimizer_step_at)
#define tn_optimizer_zero_grad TNI_JOIN(TN_PREFIX, tn_optimizer_zero_grad)
#define tn_optimizer_state_dict_at TNI_JOIN(TN_PREFIX, tn_optimizer_state_dict_at)
#define tn_optimizer_load_at TNI_JOIN(TN_PREFIX, tn_optimizer_load_at)
#define tn_nn_clip_grad_norm_at TNI_JOIN(TN_PREFIX, tn_nn_clip_grad_norm_at)
#define tn_optim_step_lr_at TNI_JOIN(TN_PREFIX, tn_optim_step_lr_at)
#define tn_optim_cosine_lr_at TNI_JOIN(TN_PREFIX, tn_optim_cosine_lr_at)
#define tn_optim_lambda_lr_at TNI_JOIN(TN_PREFIX, tn_optim_lambda_lr_at)
#define tn_schedule_step_at TNI_JOIN(TN_PREFIX, tn_schedule_step_at)
#define tn_schedule_free TNI_JOIN(TN_PREFIX, tn_schedule_free)
#define tn_schedule_count TNI_JOIN(TN_PREFIX, tn_schedule_count)
#define tn_schedule_resume_at TNI_JOIN(TN_PREFIX, tn_schedule_resume_at)
#define tn_schedule_initial TNI_JOIN(TN_PREFIX, tn_schedule_initial)
#define tn_nn_relu_at TNI_JOIN(TN_PREFIX, tn_nn_relu_at)
#define tnp_nn_relu TNI_JOIN(TN_PREFIX, tnp_nn_relu)
#define tn_nn_leaky_relu_at TNI_JOIN(TN_PREFIX, tn_nn_leaky_relu_at)
#define tnp_nn_leaky_relu TNI_JOIN(TN_PREFIX, tnp_nn_leaky_relu)
#define tn_nn_prelu_at TNI_JOIN(TN_PREFIX, tn_nn_prelu_at)
#define tnp_nn_prelu TNI_JOIN(TN_PREFIX, tnp_nn_prelu)
#define tn_nn_gelu_at TNI_JOIN(TN_PREFIX, tn_nn_gelu_at)
#define tnp_nn_gelu TNI_JOIN(TN_PREFIX, tnp_nn_gelu)
#define tn_nn_silu_at TNI_JOIN(TN_PREFIX, tn_nn_silu_at)
#define tnp_nn_silu TNI_JOIN(TN_PREFIX, tnp_nn_silu)
#define tn_nn_sigmoid_at TNI_JOIN(TN_PREFIX, tn_nn_sigmoid_at)
#define tnp_nn_sigmoid TNI_JOIN(TN_PREFIX, tnp_nn_sigmoid)
#define tn_nn_tanh_at TNI_JOIN(TN_PREFIX, tn_nn_tanh_at)
#define tnp_nn_tanh TNI_JOIN(TN_PREFIX, tnp_nn_tanh)
#define tn_nn_softplus_at TNI_JOIN(TN_PREFIX, tn_nn_softplus_at)
#define tnp_nn_softplus TNI_JOIN(TN_PREFIX, tnp_nn_softplus)
#define tn_nn_softsign_at TNI_JOIN(TN_PREFIX, tn_nn_softsign_at)
#define tnp_nn_softsign TNI_JOIN(TN_PREFIX, tnp_nn_softsign)
#define tn_nn_softmax_at TNI_JOIN(TN_PREFIX, tn_nn_softmax_at)
#define tnp_nn_softmax TNI_JOIN(TN_PREFIX, tnp_nn_softmax)
#define tn_nn_log_softmax_at TNI_JOIN(TN_PREFIX, tn_nn_log_softmax_at)
#define tnp_nn_log_softmax TNI_JOIN(TN_PREFIX, tnp_nn_log_softmax)
#define tn_nn_multihead_attention_at TNI_JOIN(TN_PREFIX, tn_nn_multihead_attention_at)
#define tnp_nn_multihead_attention TNI_JOIN(TN_PREFIX, tnp_nn_multihead_attention)
#define tn_nn_multihead_attention_forward_at TNI_JOIN(TN_PREFIX, tn_nn_multihead_attention_forward_at)
#define tnp_nn_multihead_attention_forward TNI_JOIN(TN_PREFIX, tnp_nn_multihead_attention_forward)
#define tn_nn_sequential_at TNI_JOIN(TN_PREFIX, tn_nn_sequential_at)
#define tnp_nn_sequential TNI_JOIN(TN_PREFIX, tnp_nn_sequential)
#define tn_nn_module_list_at TNI_JOIN(TN_PREFIX, tn_nn_module_list_at)
#define tnp_nn_module_list TNI_JOIN(TN_PREFIX, tnp_nn_module_list)
#define tn_nn_conv1d_at TNI_JOIN(TN_PREFIX, tn_nn_conv1d_at)
#define tnp_nn_conv1d TNI_JOIN(TN_PREFIX, tnp_nn_conv1d)
#define tn_nn_conv2d_at TNI_JOIN(TN_PREFIX, tn_nn_conv2d_at)
#define tnp_nn_conv2d TNI_JOIN(TN_PREFIX, tnp_nn_conv2d)
#define tn_nn_conv3d_at TNI_JOIN(TN_PREFIX, tn_nn_conv3d_at)
#define tnp_nn_conv3d TNI_JOIN(TN_PREFIX, tnp_nn_conv3d)
#define tn_nn_conv_transpose1d_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose1d_at)
#define tnp_nn_conv_transpose1d TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose1d)
#define tn_nn_conv_transpose1d_forward_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose1d_forward_at)
#define tnp_nn_conv_transpose1d_forward TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose1d_forward)
#define tn_nn_conv_transpose2d_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose2d_at)
#define tnp_nn_conv_transpose2d TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose2d)
#define tn_nn_conv_transpose2d_forward_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose2d_forward_at)
#define tnp_nn_conv_transpose2d_forward TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose2d_forward)
#define tn_nn_conv_transpose3d_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose3d_at)
#define tnp_nn_conv_transpose3d TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose3d)
#define tn_nn_conv_transpose3d_forward_at TNI_JOIN(TN_PREFIX, tn_nn_conv_transpose3d_forward_at)
#define tnp_nn_conv_transpose3d_forward TNI_JOIN(TN_PREFIX, tnp_nn_conv_transpose3d_forward)
#define tn_nn_max_pool2d_at TNI_JOIN(TN_PREFIX, tn_nn_max_pool2d_at)
#define tnp_nn_max_pool2d TNI_JOIN(TN_PREFIX, tnp_nn_max_pool2d)
#define tn_nn_avg_pool2d_at TNI_JOIN(TN_PREFIX, tn_nn_avg_pool2d_at)
#define tnp_nn_avg_pool2d TNI_JOIN(TN_PREFIX, tnp_nn_avg_pool2d)
#define tn_nn_adaptive_avg_pool2d_at TNI_JOIN(TN_PREFIX, tn_nn_adaptive_avg_pool2d_at)
#define tnp_nn_adaptive_avg_pool2d TNI_JOIN(TN_PREFIX, tnp_nn_adaptive_avg_pool2d)
#define tn_nn_max_pool1d_at TNI_JOIN(TN_PREFIX, tn_nn_max_pool1d_at)
#define tnp_nn_max_pool1d TNI_JOIN(TN_PREFIX, tnp_nn_max_pool1d)
#define tn_nn_avg_pool1d_at TNI_JOIN(TN_PREFIX, tn_nn_avg_pool1d_at)
#define tnp_nn_avg_pool1d TNI_JOIN(TN_PREFIX, tnp_nn_avg_pool1d)
#define tn_nn_adaptive_avg_pool1d_at TNI_JOIN(TN_PREFIX, tn_nn_adaptive_avg_pool1d_at)
#define tnp_nn_adaptive_avg_pool1d TNI_JOIN(TN_PREFIX, tnp_nn_adaptive_avg_pool1d)
#define tn_nn_adaptive_avg_pool3d_at TNI_JOIN(TN_PREFIX, tn_nn_adaptive_avg_pool3d_at)
#define tnp_nn_adaptive_avg_pool3d TNI_JOIN(TN_PREFIX, tnp_nn_adaptive_avg_pool3d)
#define tn_nn_lp_pool1d_at TNI_JOIN(TN_PREFIX, tn_nn_lp_pool1d_at)
#define tnp_nn_lp_pool1d TNI_JOIN(TN_PREFIX, tnp_nn_lp_pool1d)
#define tn_nn_lp_pool2d_at TNI_JOIN(TN_PREFIX, tn_nn_lp_pool2d_at)
#define tnp_nn_lp_pool2d TNI_JOIN(TN_PREFIX, tnp_nn_lp_pool2d)
#define tn_nn_cosine_similarity_at TNI_JOIN(TN_PREFIX, tn_nn_cosine_similarity_at)
#define tnp_nn_cosine_similarity TNI_JOIN(TN_PREFIX, tnp_nn_cosine_similarity)
#define tn_nn_cosine_similarity_forward_at TNI_JOIN(TN_PREFIX, tn_nn_cosine_similarity_forward_at)
#define tnp_nn_cosine_similarity_forward TNI_JOIN(TN_PREFIX, tnp_nn_cosine_similarity_forward)
#define tn_nn_pairwise_distance_at TNI_JOIN(TN_PREFIX, tn_nn_pairwise_distance_at)
#define tnp_nn_pairwise_distance TNI_JOIN(TN_PREFIX, tnp_nn_pairwise_distance)
#define tn_nn_pairwise_distance_forward_at TNI_JOIN(TN_PREFIX, tn_nn_pairwise_distance_forward_at)
#define tnp_nn_pairwise_distance_forward TNI_JOIN(TN_PREFIX, tnp_nn_pairwise_distance_forward)
#define tn_nn_unfold_at TNI_JOIN(TN_PREFIX, tn_nn_unfold_at)
#define tnp_nn_unfold TNI_JOIN(TN_PREFIX, tnp_nn_unfold)
#define tn_nn_fold_at TNI_JOIN(TN_PREFIX, tn_nn_fold_at)
#define tnp_nn_fold TNI_JOIN(TN_PREFIX, tnp_nn_fold)
#define tn_nn_linear_at TNI_JOIN(TN_PREFIX, tn_nn_linear_at)
#define tnp_nn_linear TNI_JOIN(TN_PREFIX, tnp_nn_linear)
#define tn_nn_embedding_at TNI_JOIN(TN_PREFIX, tn_nn_embedding_at)
#define tnp_nn_embedding TNI_JOIN(TN_PREFIX, tnp_nn_embedding)
#define tn_nn_dropout_at TNI_JOIN(TN_PREFIX, tn_nn_dropout_at)
#define tnp_nn_dropout TNI_JOIN(TN_PREFIX, tnp_nn_dropout)
#define tn_nn_dropout1d_at TNI_JOIN(TN_PREFIX, tn_nn_dropout1d_at)
#define tnp_nn_dropout1d TNI_JOIN(TN_PREFIX, tnp_nn_dropout1d)
#define tn_nn_dropout2d_at TNI_JOIN(TN_PREFIX, tn_nn_dropout2d_at)
#define tnp_nn_dropout2d TNI_JOIN(TN_PREFIX, tnp_nn_dropout2d)
#define tn_nn_dropout3d_at TNI_JOIN(TN_PREFIX, tn_nn_dropout3d_at)
#define tnp_nn_dropout3d TNI_JOIN(TN_PREFIX, tnp_nn_dropout3d)
#define tn_nn_identity_at TNI_JOIN(TN_PREFIX, tn_nn_identity_at)
#define tnp_nn_identity TNI_JOIN(TN_PREFIX, tnp_nn_identity)
#define tn_nn_flatten_at TNI_JOIN(TN_PREFIX, tn_nn_flatten_at)
#define tnp_nn_flatten TNI_JOIN(TN_PREFIX, tnp_nn_flatten)
#define tn_nn_cross_entropy_loss_at TNI_JOIN(TN_PREFIX, tn_nn_cross_entropy_loss_at)
#define tnp_nn_cross_entropy_loss TNI_JOIN(TN_PREFIX, tnp_nn_cross_entropy_loss)
#define tn_nn_cross_entropy_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_cross_entropy_loss_forward_at)
#define tnp_nn_cross_entropy_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_cross_entropy_loss_forward)
#define tn_nn_nll_loss_at TNI_JOIN(TN_PREFIX, tn_nn_nll_loss_at)
#define tnp_nn_nll_loss TNI_JOIN(TN_PREFIX, tnp_nn_nll_loss)
#define tn_nn_nll_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_nll_loss_forward_at)
#define tnp_nn_nll_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_nll_loss_forward)
#define tn_nn_mse_loss_at TNI_JOIN(TN_PREFIX, tn_nn_mse_loss_at)
#define tnp_nn_mse_loss TNI_JOIN(TN_PREFIX, tnp_nn_mse_loss)
#define tn_nn_mse_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_mse_loss_forward_at)
#define tnp_nn_mse_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_mse_loss_forward)
#define tn_nn_l1_loss_at TNI_JOIN(TN_PREFIX, tn_nn_l1_loss_at)
#define tnp_nn_l1_loss TNI_JOIN(TN_PREFIX, tnp_nn_l1_loss)
#define tn_nn_l1_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_l1_loss_forward_at)
#define tnp_nn_l1_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_l1_loss_forward)
#define tn_nn_smooth_l1_loss_at TNI_JOIN(TN_PREFIX, tn_nn_smooth_l1_loss_at)
#define tnp_nn_smooth_l1_loss TNI_JOIN(TN_PREFIX, tnp_nn_smooth_l1_loss)
#define tn_nn_smooth_l1_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_smooth_l1_loss_forward_at)
#define tnp_nn_smooth_l1_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_smooth_l1_loss_forward)
#define tn_nn_huber_loss_at TNI_JOIN(TN_PREFIX, tn_nn_huber_loss_at)
#define tnp_nn_huber_loss TNI_JOIN(TN_PREFIX, tnp_nn_huber_loss)
#define tn_nn_huber_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_huber_loss_forward_at)
#define tnp_nn_huber_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_huber_loss_forward)
#define tn_nn_kl_div_loss_at TNI_JOIN(TN_PREFIX, tn_nn_kl_div_loss_at)
#define tnp_nn_kl_div_loss TNI_JOIN(TN_PREFIX, tnp_nn_kl_div_loss)
#define tn_nn_kl_div_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_kl_div_loss_forward_at)
#define tnp_nn_kl_div_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_kl_div_loss_forward)
#define tn_nn_bce_loss_at TNI_JOIN(TN_PREFIX, tn_nn_bce_loss_at)
#define tnp_nn_bce_loss TNI_JOIN(TN_PREFIX, tnp_nn_bce_loss)
#define tn_nn_bce_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_bce_loss_forward_at)
#define tnp_nn_bce_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_bce_loss_forward)
#define tn_nn_bce_with_logits_loss_at TNI_JOIN(TN_PREFIX, tn_nn_bce_with_logits_loss_at)
#define tnp_nn_bce_with_logits_loss TNI_JOIN(TN_PREFIX, tnp_nn_bce_with_logits_loss)
#define tn_nn_bce_with_logits_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_bce_with_logits_loss_forward_at)
#define tnp_nn_bce_with_logits_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_bce_with_logits_loss_forward)
#define tn_nn_margin_ranking_loss_at TNI_JOIN(TN_PREFIX, tn_nn_margin_ranking_loss_at)
#define tnp_nn_margin_ranking_loss TNI_JOIN(TN_PREFIX, tnp_nn_margin_ranking_loss)
#define tn_nn_margin_ranking_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_margin_ranking_loss_forward_at)
#define tnp_nn_margin_ranking_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_margin_ranking_loss_forward)
#define tn_nn_hinge_embedding_loss_at TNI_JOIN(TN_PREFIX, tn_nn_hinge_embedding_loss_at)
#define tnp_nn_hinge_embedding_loss TNI_JOIN(TN_PREFIX, tnp_nn_hinge_embedding_loss)
#define tn_nn_hinge_embedding_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_hinge_embedding_loss_forward_at)
#define tnp_nn_hinge_embedding_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_hinge_embedding_loss_forward)
#define tn_nn_soft_margin_loss_at TNI_JOIN(TN_PREFIX, tn_nn_soft_margin_loss_at)
#define tnp_nn_soft_margin_loss TNI_JOIN(TN_PREFIX, tnp_nn_soft_margin_loss)
#define tn_nn_soft_margin_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_soft_margin_loss_forward_at)
#define tnp_nn_soft_margin_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_soft_margin_loss_forward)
#define tn_nn_cosine_embedding_loss_at TNI_JOIN(TN_PREFIX, tn_nn_cosine_embedding_loss_at)
#define tnp_nn_cosine_embedding_loss TNI_JOIN(TN_PREFIX, tnp_nn_cosine_embedding_loss)
#define tn_nn_cosine_embedding_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_cosine_embedding_loss_forward_at)
#define tnp_nn_cosine_embedding_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_cosine_embedding_loss_forward)
#define tn_nn_triplet_margin_loss_at TNI_JOIN(TN_PREFIX, tn_nn_triplet_margin_loss_at)
#define tnp_nn_triplet_margin_loss TNI_JOIN(TN_PREFIX, tnp_nn_triplet_margin_loss)
#define tn_nn_triplet_margin_loss_forward_at TNI_JOIN(TN_PREFIX, tn_nn_triplet_margin_loss_forward_at)
#define tnp_nn_triplet_margin_loss_forward TNI_JOIN(TN_PREFIX, tnp_nn_triplet_margin_loss_forward)
#define tn_nn_batch_norm1d_at TNI_JOIN(TN_PREFIX, tn_nn_batch_norm1d_at)
#define tnp_nn_batch_norm1d TNI_JOIN(TN_PREFIX, tnp_nn_batch_norm1d)
#define tn_nn_batch_norm2d_at TNI_JOIN(TN_PREFIX, tn_nn_batch_norm2d_at)
#define tnp_nn_batch_norm2d TNI_JOIN(TN_PREFIX, tnp_nn_batch_norm2d)
#define tn_nn_batch_norm3d_at TNI_JOIN(TN_PREFIX, tn_nn_batch_norm3d_at)
#define tnp_nn_batch_norm3d TNI_JOIN(TN_PREFIX, tnp_nn_batch_norm3d)
#define tn_nn_instance_norm1d_at TNI_JOIN(TN_PREFIX, tn_nn_instance_norm1d_at)
#define tnp_nn_instance_norm1d TNI_JOIN(TN_PREFIX, tnp_nn_instance_norm1d)
#define tn_nn_instance_norm2d_at TNI_JOIN(TN_PREFIX, tn_nn_instance_norm2d_at)
#define tnp_nn_instance_norm2d TNI_JOIN(TN_PREFIX, tnp_nn_instance_norm2d)
#define tn_nn_instance_norm3d_at TNI_JOIN(TN_PREFIX, tn_nn_instance_norm3d_at)
#define tnp_nn_instance_norm3d TNI_JOIN(TN_PREFIX, tnp_nn_instance_norm3d)
#define tn_nn_layer_norm_at TNI_JOIN(TN_PREFIX, tn_nn_layer_norm_at)
#define tnp_nn_layer_norm TNI_JOIN(TN_PREFIX, tnp_nn_layer_norm)
#define tn_nn_local_response_norm_at TNI_JOIN(TN_PREFIX, tn_nn_local_response_norm_at)
#define tnp_nn_local_response_norm TNI_JOIN(TN_PREFIX, tnp_nn_local_response_norm)
#define tn_nn_constant_pad1d_at TNI_JOIN(TN_PREFIX, tn_nn_constant_pad1d_at)
#define tnp_nn_constant_pad1d TNI_JOIN(TN_PREFIX, tnp_nn_constant_pad1d)
#define tn_nn_constant_pad2d_at TNI_JOIN(TN_PREFIX, tn_nn_constant_pad2d_at)
#define tnp_nn_constant_pad2d TNI_JOIN(TN_PREFIX, tnp_nn_constant_pad2d)
#define tn_nn_constant_pad3d_at TNI_JOIN(TN_PREFIX, tn_nn_constant_pad3d_at)
#define tnp_nn_constant_pad3d TNI_JOIN(TN_PREFIX, tnp_nn_constant_pad3d)
#define tn_nn_zero_pad1d_at TNI_JOIN(TN_PREFIX, tn_nn_zero_pad1d_at)
#define tnp_nn_zero_pad1d TNI_JOIN(TN_PREFIX, tnp_nn_zero_pad1d)
#define tn_nn_zero_pad2d_at TNI_JOIN(TN_PREFIX, tn_nn_zero_pad2d_at)
#define tnp_nn_zero_pad2d TNI_JOIN(TN_PREFIX, tnp_nn_zero_pad2d)
#define tn_nn_zero_pad3d_at TNI_JOIN(TN_PREFIX, tn_nn_zero_pad3d_at)
#define tnp_nn_zero_pad3d TNI_JOIN(TN_PREFIX, tnp_nn_zero_pad3d)
#define tn_nn_reflection_pad1d_at TNI_JOIN(TN_PREFIX, tn_nn_reflection_pad1d_at)
#define tnp_nn_reflection_pad1d TNI_JOIN(TN_PREFIX, tnp_nn_reflection_pad1d)
#define tn_nn_reflection_pad2d_at TNI_JOIN(TN_PREFIX, tn_nn_reflection_pad2d_at)
#define tnp_nn_reflection_pad2d TNI_JOIN(TN_PREFIX, tnp_nn_reflection_pad2d)
#define tn_nn_reflection_pad3d_at TNI_JOIN(TN_PREFIX, tn_nn_reflection_pad3d_at)
#define tnp_nn_reflection_pad3d TNI_JOIN(TN_PREFIX, tnp_nn_reflection_pad3d)
#define tn_nn_replication_pad1d_at TNI_JOIN(TN_PREFIX, tn_nn_replication_pad1d_at)
#define tnp_nn_replication_pad1d TNI_JOIN(TN_PREFIX, tnp_nn_replication_pad1d)
#define tn_nn_replication_pad2d_at TNI_JOIN(TN_PREFIX, tn_nn_replication_pad2d_at)
#define tnp_nn_replication_pad2d TNI_JOIN(TN_PREFIX, tnp_nn_replication_pad2d)
#define tn_nn_replication_pad3d_at TNI_JOIN(TN_PREFIX, tn_nn_replication_pad3d_at)
#define tnp_nn_replication_pad3d TNI_JOIN(TN_PREFIX, tnp_nn_replication_pad3d)
#define tn_nn_circular_pad1d_at TNI_JOIN(TN_PREFIX, tn_nn_circular_pad1d_at)
#define tnp_nn_circular_pad1d TNI_JOIN(TN_PREFIX, tnp_nn_circular_pad1d)
#define tn_nn_circular_pad2d_at TNI_JOIN(TN_PREFIX, tn_nn_circular_pad2d_at)
#define tnp_nn_circular_pad2d TNI_JOIN(TN_PREFIX, tnp_nn_circular_pad2d)
#define tn_nn_circular_pad3d_at TNI_JOIN(TN_PREFIX, tn_nn_circular_pad3d_at)
#define tnp_nn_circular_pad3d TNI_JOIN(TN_PREFIX, tnp_nn_circular_pad3d)
#define tn_nn_lstm_at TNI_JOIN(TN_PREFIX, tn_nn_lstm_at)
#define tnp_nn_lstm TNI_JOIN(TN_PREFIX, tnp_nn_lstm)
#define tn_nn_lstm_forward_at TNI_JOIN(TN_PREFIX, tn_nn_lstm_forward_at)
#define tnp_nn_lstm_forward TNI_JOIN(TN_PREFIX, tnp_nn_lstm_forward)
#define tn_nn_pixel_shuffle_at TNI_JOIN(TN_PREFIX, tn_nn_pixel_shuffle_at)
#define tnp_nn_pixel_shuffle TNI_JOIN(TN_PREFIX, tnp_nn_pixel_shuffle)
#define tn_nn_pixel_unshuffle_at TNI_JOIN(TN_PREFIX, tn_nn_pixel_unshuffle_at)
#define tnp_nn_pixel_unshuffle TNI_JOIN(TN_PREFIX, tnp_nn_pixel_unshuffle)
#define tn_nn_channel_shuffle_at TNI_JOIN(TN_PREFIX, tn_nn_channel_shuffle_at)
#define tnp_nn_channel_shuffle TNI_JOIN(TN_PREFIX, tnp_nn_channel_shuffle)
#define tn_nn_unflatten_at TNI_JOIN(TN_PREFIX, tn_nn_unflatten_at)
#define tnp_nn_unflatten TNI_JOIN(TN_PREFIX, tnp_nn_unflatten)
#define tn_optim_adam_at TNI_JOIN(TN_PREFIX, tn_optim_adam_at)
#define tnp_optim_adam TNI_JOIN(TN_PREFIX, tnp_optim_adam)
#define tn_optim_adamw_at TNI_JOIN(TN_PREFIX, tn_optim_adamw_at)
#define tnp_optim_adamw TNI_JOIN(TN_PREFIX, tnp_optim_adamw)
#define tn_optim_asgd_at TNI_JOIN(TN_PREFIX, tn_optim_asgd_at)
#define tnp_optim_asgd TNI_JOIN(TN_PREFIX, tnp_optim_asgd)
#define tn_optim_rprop_at TNI_JOIN(TN_PREFIX, tn_optim_rprop_at)
#define tnp_optim_rprop TNI_JOIN(TN_PREFIX, tnp_optim_rprop)
#define tn_optim_adamax_at TNI_JOIN(TN_PREFIX, tn_optim_adamax_at)
#define tnp_optim_adamax TNI_JOIN(TN_PREFIX, tnp_optim_adamax)
#define tn_optim_nadam_at TNI_JOIN(TN_PREFIX, tn_optim_nadam_at)
#define tnp_optim_nadam TNI_JOIN(TN_PREFIX, tnp_optim_nadam)
#define tn_optim_radam_at TNI_JOIN(TN_PREFIX, tn_optim_radam_at)
#define tnp_optim_radam TNI_JOIN(TN_PREFIX, tnp_optim_radam)
#define tn_optim_sgd_at TNI_JOIN(TN_PREFIX, tn_optim_sgd_at)
#define tnp_optim_sgd TNI_JOIN(TN_PREFIX, tnp_optim_sgd)
#define tn_optim_adagrad_at TNI_JOIN(TN_PREFIX, tn_optim_adagrad_at)
#define tnp_optim_adagrad TNI_JOIN(TN_PREFIX, tnp_optim_adagrad)
#define tn_optim_rmsprop_at TNI_JOIN(TN_PREFIX, tn_optim_rmsprop_at)
#define tnp_optim_rmsprop TNI_JOIN(TN_PREFIX, tnp_optim_rmsprop)
#define tn_optim_adadelta_at TNI_JOIN(TN_PREFIX, tn_optim_adadelta_at)
#define tnp_optim_adadelta TNI_JOIN(TN_PREFIX, tnp_optim_adadelta)
#define tn_dataset_new_at TNI_JOIN(TN_PREFIX, tn_dataset_new_at)
#define tn_dataset_hold TNI_JOIN(TN_PREFIX, tn_dataset_hold)
#define tn_dataset_free TNI_JOIN(TN_PREFIX, tn_dataset_free)
#define tn_dataset_tensors_at TNI_JOIN(TN_PREFIX, tn_dataset_tensors_at)
#define tn_dataset_images_at TNI_JOIN(TN_PREFIX, tn_dataset_images_at)
#define tn_dataset_idx_at TNI_JOIN(TN_PREFIX, tn_dataset_idx_at)
#define tn_dataset_slice_at TNI_JOIN(TN_PREFIX, tn_dataset_slice_at)
#define tn_loader_new_at TNI_JOIN(TN_PREFIX, tn_loader_new_at)
#define tn_loader_free TNI_JOIN(TN_PREFIX, tn_loader_free)
#define tn_loader_batches TNI_JOIN(TN_PREFIX, tn_loader_batches)
#define tn_loader_dataset TNI_JOIN(TN_PREFIX, tn_loader_dataset)
#define tn_loader_generator TNI_JOIN(TN_PREFIX, tn_loader_generator)
#define tn_loader_next_at TNI_JOIN(TN_PREFIX, tn_loader_next_at)
#define tn_loader_stop TNI_JOIN(TN_PREFIX, tn_loader_stop)
#define tn_checkpoint_save_at TNI_JOIN(TN_PREFIX, tn_checkpoint_save_at)
#define tn_checkpoint_load_at TNI_JOIN(TN_PREFIX, tn_checkpoint_load_at)
#define tn_checkpoint_save_memory_at TNI_JOIN(TN_PREFIX, tn_checkpoint_save_memory_at)
#define tn_checkpoint_load_memory_at TNI_JOIN(TN_PREFIX, tn_checkpoint_load_memory_at)
#define tn_train_at TNI_JOIN(TN_PREFIX, tn_train_at)
#define tn_evaluate_at TNI_JOIN(TN_PREFIX, tn_evaluate_at)
#define tn_data_parallel_at TNI_JOIN(TN_PREFIX, tn_data_parallel_at)
#define tn_parallel_free TNI_JOIN(TN_PREFIX, tn_parallel_free)
#define tn_parallel_set_sync TNI_JOIN(TN_PREFIX, tn_parallel_set_sync)
#define tn_parallel_share_at TNI_JOIN(TN_PREFIX, tn_parallel_share_at)
#define tn_nn_layout_77bc7b16d381 TNI_JOIN(TN_PREFIX, tn_nn_layout_77bc7b16d381)
#endif
#ifdef TN_IMPORT
#define tn_module_new_at (*tni_at_tn_module_new_at)
#define tn_module_finish_at (*tni_at_tn_module_finish_at)
#define tn_part_tensor_at (*tni_at_tn_part_tensor_at)
#define tn_part_give_at (*tni_at_tn_part_give_at)
#define tn_part_child_at (*tni_at_tn_part_child_at)
#define tn_module_append_at (*tni_at_tn_module_append_at)
#define tn_module_hold (*tni_at_tn_module_hold)
#define tn_module_free (*tni_at_tn_module_free)
#define tn_module_make (*tni_at_tn_module_make)
#define tn_module_named_at (*tni_at_tn_module_named_at)
#define tn_module_register_at (*tni_at_tn_module_register_at)
#define tn_module_forget (*tni_at_tn_module_forget)
#define tn_mrow_named (*tni_at_tn_mrow_named)
#define tn_mrow_count (*tni_at_tn_mrow_count)
#define tn_mrow_at (*tni_at_tn_mrow_at)
#define tn_input (*tni_at_tn_input)
#define tn_forward_at (*tni_at_tn_forward_at)
#define tn_module_call (*tni_at_tn_module_call)
#define tn_module_call_values (*tni_at_tn_module_call_values)
#define tn_module_hook_at (*tni_at_tn_module_hook_at)
#define tn_module_hook_remove_at (*tni_at_tn_module_hook_remove_at)
#define tn_part_tensor_of (*tni_at_tn_part_tensor_of)
#define tn_part_child_of (*tni_at_tn_part_child_of)
#define tn_module_tensor_at (*tni_at_tn_module_tensor_at)
#define tn_module_child_at (*tni_at_tn_module_child_at)
#define tn_module_set_tensor_at (*tni_at_tn_module_set_tensor_at)
#define tn_module_walk_at (*tni_at_tn_module_walk_at)
#define tn_parameters_at (*tni_at_tn_parameters_at)
#define tn_module_parameters_at (*tni_at_tn_module_parameters_at)
#define tn_module_buffers_at (*tni_at_tn_module_buffers_at)
#define tn_module_state_dict_at (*tni_at_tn_module_state_dict_at)
#define tn_module_train (*tni_at_tn_module_train)
#define tn_module_requires_grad_at (*tni_at_tn_module_requires_grad_at)
#define tn_module_zero_grad (*tni_at_tn_module_zero_grad)
#define tn_module_load_at (*tni_at_tn_module_load_at)
#define tn_module_to_at (*tni_at_tn_module_to_at)
#define tn_module_copy_at (*tni_at_tn_module_copy_at)
#define tn_module_copy_from_at (*tni_at_tn_module_copy_from_at)
#define tn_module_reset_at (*tni_at_tn_module_reset_at)
#define tn_module_save_file_at (*tni_at_tn_module_save_file_at)
#define tn_module_load_file_at (*tni_at_tn_module_load_file_at)
#define tn_module_save_memory_at (*tni_at_tn_module_save_memory_at)
#define tn_module_load_memory_at (*tni_at_tn_module_load_memory_at)
#define tn_module_text_at (*tni_at_tn_module_text_at)
#define tn_module_print_at (*tni_at_tn_module_print_at)
#define tn_nn_init_gain_at (*tni_at_tn_nn_init_gain_at)
#define tn_nn_init_constant_at (*tni_at_tn_nn_init_constant_at)
#define tn_nn_init_uniform_at (*tni_at_tn_nn_init_uniform_at)
#define tn_nn_init_normal_at (*tni_at_tn_nn_init_normal_at)
#define tn_nn_init_xavier_uniform_at (*tni_at_tn_nn_init_xavier_uniform_at)
#define tn_nn_init_xavier_normal_at (*tni_at_tn_nn_init_xavier_normal_at)
#define tn_nn_init_kaiming_uniform_at (*tni_at_tn_nn_init_kaiming_uniform_at)
#define tn_nn_init_kaiming_normal_at (*tni_at_tn_nn_init_kaiming_normal_at)
#define tn_orow_count (*tni_at_tn_orow_count)
#define tn_orow_at (*tni_at_tn_orow_at)
#define tn_optimizer_make (*tni_at_tn_optimizer_make)
#define tn_optimizer_free (*tni_at_tn_optimizer_free)
#define tn_optimizer_group_at (*tni_at_tn_optimizer_group_at)
#define tn_optimizer_groups (*tni_at_tn_optimizer_groups)
#define tn_optimizer_set_at (*tni_at_tn_optimizer_set_at)
#define tn_optimizer_get_at (*tni_at_tn_optimizer_get_at)
#define tn_optimizer_step_at (*tni_at_tn_optimizer_step_at)
#define tn_optimizer_zero_grad (*tni_at_tn_optimizer_zero_grad)
#define tn_optimizer_state_dict_at (*tni_at_tn_optimizer_state_dict_at)
#define tn_optimizer_load_at (*tni_at_tn_optimizer_load_at)
#define tn_nn_clip_grad_norm_at (*tni_at_tn_nn_clip_grad_norm_at)
#define tn_optim_step_lr_at (*tni_at_tn_optim_step_lr_at)
#define tn_optim_cosine_lr_at (*tni_at_tn_optim_cosine_lr_at)
#define tn_optim_lambda_lr_at (*tni_at_tn_optim_lambda_lr_at)
#define tn_schedule_step_at (*tni_at_tn_schedule_step_at)
#define tn_schedule_free (*tni_at_tn_schedule_free)
#define tn_schedule_count (*tni_at_tn_schedule_count)
#define tn_schedule_resume_at (*tni_at_tn_schedule_resume_at)
#define tn_schedule_initial (*tni_at_tn_schedule_initial)
#define tn_nn_relu_at (*tni_at_tn_nn_relu_at)
#define tnp_nn_relu (*tni_at_tnp_nn_relu)
#define tn_nn_leaky_relu_at (*tni_at_tn_nn_leaky_relu_at)
#define tnp_nn_leaky_relu (*tni_at_tnp_nn_leaky_relu)
#define tn_nn_prelu_at (*tni_at_tn_nn_prelu_at)
#define tnp_nn_prelu (*tni_at_tnp_nn_prelu)
#define tn_nn_gelu_at (*tni_at_tn_nn_gelu_at)
#define tnp_nn_gelu (*tni_at_tnp_nn_gelu)
#define tn_nn_silu_at (*tni_at_tn_nn_silu_at)
#define tnp_nn_silu (*tni_at_tnp_nn_silu)
#define tn_nn_sigmoid_at (*tni_at_tn_nn_sigmoid_at)
#define tnp_nn_sigmoid (*tni_at_tnp_nn_sigmoid)
#define tn_nn_tanh_at (*tni_at_tn_nn_tanh_at)
#define tnp_nn_tanh (*tni_at_tnp_nn_tanh)
#define tn_nn_softplus_at (*tni_at_tn_nn_softplus_at)
#define tnp_nn_softplus (*tni_at_tnp_nn_softplus)
#define tn_nn_softsign_at (*tni_at_tn_nn_softsign_at)
#define tnp_nn_softsign (*tni_at_tnp_nn_softsign)
#define tn_nn_softmax_at (*tni_at_tn_nn_softmax_at)
#define tnp_nn_softmax (*tni_at_tnp_nn_softmax)
#define tn_nn_log_softmax_at (*tni_at_tn_nn_log_softmax_at)
#define tnp_nn_log_softmax (*tni_at_tnp_nn_log_softmax)
#define tn_nn_multihead_attention_at (*tni_at_tn_nn_multihead_attention_at)
#define tnp_nn_multihead_attention (*tni_at_tnp_nn_multihead_attention)
#define tn_nn_multihead_attention_forward_at (*tni_at_tn_nn_multihead_attention_forward_at)
#define tnp_nn_multihead_attention_forward (*tni_at_tnp_nn_multihead_attention_forward)
#define tn_nn_sequential_at (*tni_at_tn_nn_sequential_at)
#define tnp_nn_sequential (*tni_at_tnp_nn_sequential)
#define tn_nn_module_list_at (*tni_at_tn_nn_module_list_at)
#define tnp_nn_module_list (*tni_at_tnp_nn_module_list)
#define tn_nn_conv1d_at (*tni_at_tn_nn_conv1d_at)
#define tnp_nn_conv1d (*tni_at_tnp_nn_conv1d)
#define tn_nn_conv2d_at (*tni_at_tn_nn_conv2d_at)
#define tnp_nn_conv2d (*tni_at_tnp_nn_conv2d)
#define tn_nn_conv3d_at (*tni_at_tn_nn_conv3d_at)
#define tnp_nn_conv3d (*tni_at_tnp_nn_conv3d)
#define tn_nn_conv_transpose1d_at (*tni_at_tn_nn_conv_transpose1d_at)
#define tnp_nn_conv_transpose1d (*tni_at_tnp_nn_conv_transpose1d)
#define tn_nn_conv_transpose1d_forward_at (*tni_at_tn_nn_conv_transpose1d_forward_at)
#define tnp_nn_conv_transpose1d_forward (*tni_at_tnp_nn_conv_transpose1d_forward)
#define tn_nn_conv_transpose2d_at (*tni_at_tn_nn_conv_transpose2d_at)
#define tnp_nn_conv_transpose2d (*tni_at_tnp_nn_conv_transpose2d)
#define tn_nn_conv_transpose2d_forward_at (*tni_at_tn_nn_conv_transpose2d_forward_at)
#define tnp_nn_conv_transpose2d_forward (*tni_at_tnp_nn_conv_transpose2d_forward)
#define tn_nn_conv_transpose3d_at (*tni_at_tn_nn_conv_transpose3d_at)
#define tnp_nn_conv_transpose3d (*tni_at_tnp_nn_conv_transpose3d)
#define tn_nn_conv_transpose3d_forward_at (*tni_at_tn_nn_conv_transpose3d_forward_at)
#define tnp_nn_conv_transpose3d_forward (*tni_at_tnp_nn_conv_transpose3d_forward)
#define tn_nn_max_pool2d_at (*tni_at_tn_nn_max_pool2d_at)
#define tnp_nn_max_pool2d (*tni_at_tnp_nn_max_pool2d)
#define tn_nn_avg_pool2d_at (*tni_at_tn_nn_avg_pool2d_at)
#define tnp_nn_avg_pool2d (*tni_at_tnp_nn_avg_pool2d)
#define tn_nn_adaptive_avg_pool2d_at (*tni_at_tn_nn_adaptive_avg_pool2d_at)
#define tnp_nn_adaptive_avg_pool2d (*tni_at_tnp_nn_adaptive_avg_pool2d)
#define tn_nn_max_pool1d_at (*tni_at_tn_nn_max_pool1d_at)
#define tnp_nn_max_pool1d (*tni_at_tnp_nn_max_pool1d)
#define tn_nn_avg_pool1d_at (*tni_at_tn_nn_avg_pool1d_at)
#define tnp_nn_avg_pool1d (*tni_at_tnp_nn_avg_pool1d)
#define tn_nn_adaptive_avg_pool1d_at (*tni_at_tn_nn_adaptive_avg_pool1d_at)
#define tnp_nn_adaptive_avg_pool1d (*tni_at_tnp_nn_adaptive_avg_pool1d)
#define tn_nn_adaptive_avg_pool3d_at (*tni_at_tn_nn_adaptive_avg_pool3d_at)
#define tnp_nn_adaptive_avg_pool3d (*tni_at_tnp_nn_adaptive_avg_pool3d)
#define tn_nn_lp_pool1d_at (*tni_at_tn_nn_lp_pool1d_at)
#define tnp_nn_lp_pool1d (*tni_at_tnp_nn_lp_pool1d)
#define tn_nn_lp_pool2d_at (*tni_at_tn_nn_lp_pool2d_at)
#define tnp_nn_lp_pool2d (*tni_at_tnp_nn_lp_pool2d)
#define tn_nn_cosine_similarity_at (*tni_at_tn_nn_cosine_similarity_at)
#define tnp_nn_cosine_similarity (*tni_at_tnp_nn_cosine_similarity)
#define tn_nn_cosine_similarity_forward_at (*tni_at_tn_nn_cosine_similarity_forward_at)
#define tnp_nn_cosine_similarity_forward (*tni_at_tnp_nn_cosine_similarity_forward)
#define tn_nn_pairwise_distance_at (*tni_at_tn_nn_pairwise_distance_at)
#define tnp_nn_pairwise_distance (*tni_at_tnp_nn_pairwise_distance)
#define tn_nn_pairwise_distance_forward_at (*tni_at_tn_nn_pairwise_distance_forward_at)
#define tnp_nn_pairwise_distance_forward (*tni_at_tnp_nn_pairwise_distance_forward)
#define tn_nn_unfold_at (*tni_at_tn_nn_unfold_at)
#define tnp_nn_unfold (*tni_at_tnp_nn_unfold)
#define tn_nn_fold_at (*tni_at_tn_nn_fold_at)
#define tnp_nn_fold (*tni_at_tnp_nn_fold)
#define tn_nn_linear_at (*tni_at_tn_nn_linear_at)
#define tnp_nn_linear (*tni_at_tnp_nn_linear)
#define tn_nn_embedding_at (*tni_at_tn_nn_embedding_at)
#define tnp_nn_embedding (*tni_at_tnp_nn_embedding)
#define tn_nn_dropout_at (*tni_at_tn_nn_dropout_at)
#define tnp_nn_dropout (*tni_at_tnp_nn_dropout)
#define tn_nn_dropout1d_at (*tni_at_tn_nn_dropout1d_at)
#define tnp_nn_dropout1d (*tni_at_tnp_nn_dropout1d)
#define tn_nn_dropout2d_at (*tni_at_tn_nn_dropout2d_at)
#define tnp_nn_dropout2d (*tni_at_tnp_nn_dropout2d)
#define tn_nn_dropout3d_at (*tni_at_tn_nn_dropout3d_at)
#define tnp_nn_dropout3d (*tni_at_tnp_nn_dropout3d)
#define tn_nn_identity_at (*tni_at_tn_nn_identity_at)
#define tnp_nn_identity (*tni_at_tnp_nn_identity)
#define tn_nn_flatten_at (*tni_at_tn_nn_flatten_at)
#define tnp_nn_flatten (*tni_at_tnp_nn_flatten)
#define tn_nn_cross_entropy_loss_at (*tni_at_tn_nn_cross_entropy_loss_at)
#define tnp_nn_cross_entropy_loss (*tni_at_tnp_nn_cross_entropy_loss)
#define tn_nn_cross_entropy_loss_forward_at (*tni_at_tn_nn_cross_entropy_loss_forward_at)
#define tnp_nn_cross_entropy_loss_forward (*tni_at_tnp_nn_cross_entropy_loss_forward)
#define tn_nn_nll_loss_at (*tni_at_tn_nn_nll_loss_at)
#define tnp_nn_nll_loss (*tni_at_tnp_nn_nll_loss)
#define tn_nn_nll_loss_forward_at (*tni_at_tn_nn_nll_loss_forward_at)
#define tnp_nn_nll_loss_forward (*tni_at_tnp_nn_nll_loss_forward)
#define tn_nn_mse_loss_at (*tni_at_tn_nn_mse_loss_at)
#define tnp_nn_mse_loss (*tni_at_tnp_nn_mse_loss)
#define tn_nn_mse_loss_forward_at (*tni_at_tn_nn_mse_loss_forward_at)
#define tnp_nn_mse_loss_forward (*tni_at_tnp_nn_mse_loss_forward)
#define tn_nn_l1_loss_at (*tni_at_tn_nn_l1_loss_at)
#define tnp_nn_l1_loss (*tni_at_tnp_nn_l1_loss)
#define tn_nn_l1_loss_forward_at (*tni_at_tn_nn_l1_loss_forward_at)
#define tnp_nn_l1_loss_forward (*tni_at_tnp_nn_l1_loss_forward)
#define tn_nn_smooth_l1_loss_at (*tni_at_tn_nn_smooth_l1_loss_at)
#define tnp_nn_smooth_l1_loss (*tni_at_tnp_nn_smooth_l1_loss)
#define tn_nn_smooth_l1_loss_forward_at (*tni_at_tn_nn_smooth_l1_loss_forward_at)
#define tnp_nn_smooth_l1_loss_forward (*tni_at_tnp_nn_smooth_l1_loss_forward)
#define tn_nn_huber_loss_at (*tni_at_tn_nn_huber_loss_at)
#define tnp_nn_huber_loss (*tni_at_tnp_nn_huber_loss)
#define tn_nn_huber_loss_forward_at (*tni_at_tn_nn_huber_loss_forward_at)
#define tnp_nn_huber_loss_forward (*tni_at_tnp_nn_huber_loss_forward)
#define tn_nn_kl_div_loss_at (*tni_at_tn_nn_kl_div_loss_at)
#define tnp_nn_kl_div_loss (*tni_at_tnp_nn_kl_div_loss)
#define tn_nn_kl_div_loss_forward_at (*tni_at_tn_nn_kl_div_loss_forward_at)
#define tnp_nn_kl_div_loss_forward (*tni_at_tnp_nn_kl_div_loss_forward)
#define tn_nn_bce_loss_at (*tni_at_tn_nn_bce_loss_at)
#define tnp_nn_bce_loss (*tni_at_tnp_nn_bce_loss)
#define tn_nn_bce_loss_forward_at (*tni_at_tn_nn_bce_loss_forward_at)
#define tnp_nn_bce_loss_forward (*tni_at_tnp_nn_bce_loss_forward)
#define tn_nn_bce_with_logits_loss_at (*tni_at_tn_nn_bce_with_logits_loss_at)
#define tnp_nn_bce_with_logits_loss (*tni_at_tnp_nn_bce_with_logits_loss)
#define tn_nn_bce_with_logits_loss_forward_at (*tni_at_tn_nn_bce_with_logits_loss_forward_at)
#define tnp_nn_bce_with_logits_loss_forward (*tni_at_tnp_nn_bce_with_logits_loss_forward)
#define tn_nn_margin_ranking_loss_at (*tni_at_tn_nn_margin_ranking_loss_at)
#define tnp_nn_margin_ranking_loss (*tni_at_tnp_nn_margin_ranking_loss)
#define tn_nn_margin_ranking_loss_forward_at (*tni_at_tn_nn_margin_ranking_loss_forward_at)
#define tnp_nn_margin_ranking_loss_forward (*tni_at_tnp_nn_margin_ranking_loss_forward)
#define tn_nn_hinge_embedding_loss_at (*tni_at_tn_nn_hinge_embedding_loss_at)
#define tnp_nn_hinge_embedding_loss (*tni_at_tnp_nn_hinge_embedding_loss)
#define tn_nn_hinge_embedding_loss_forward_at (*tni_at_tn_nn_hinge_embedding_loss_forward_at)
#define tnp_nn_hinge_embedding_loss_forward (*tni_at_tnp_nn_hinge_embedding_loss_forward)
#define tn_nn_soft_margin_loss_at (*tni_at_tn_nn_soft_margin_loss_at)
#define tnp_nn_soft_margin_loss (*tni_at_tnp_nn_soft_margin_loss)
#define tn_nn_soft_margin_loss_forward_at (*tni_at_tn_nn_soft_margin_loss_forward_at)
#define tnp_nn_soft_margin_loss_forward (*tni_at_tnp_nn_soft_margin_loss_forward)
#define tn_nn_cosine_embedding_loss_at (*tni_at_tn_nn_cosine_embedding_loss_at)
#define tnp_nn_cosine_embedding_loss (*tni_at_tnp_nn_cosine_embedding_loss)
#define tn_nn_cosine_embedding_loss_forward_at (*tni_at_tn_nn_cosine_embedding_loss_forward_at)
#define tnp_nn_cosine_embedding_loss_forward (*tni_at_tnp_nn_cosine_embedding_loss_forward)
#define tn_nn_triplet_margin_loss_at (*tni_at_tn_nn_triplet_margin_loss_at)
#define tnp_nn_triplet_margin_loss (*tni_at_tnp_nn_triplet_margin_loss)
#define tn_nn_triplet_margin_loss_forward_at (*tni_at_tn_nn_triplet_margin_loss_forward_at)
#define tnp_nn_triplet_margin_loss_forward (*tni_at_tnp_nn_triplet_margin_loss_forward)
#define tn_nn_batch_norm1d_at (*tni_at_tn_nn_batch_norm1d_at)
#define tnp_nn_batch_norm1d (*tni_at_tnp_nn_batch_norm1d)
#define tn_nn_batch_norm2d_at (*tni_at_tn_nn_batch_norm2d_at)
#define tnp_nn_batch_norm2d (*tni_at_tnp_nn_batch_norm2d)
#define tn_nn_batch_norm3d_at (*tni_at_tn_nn_batch_norm3d_at)
#define tnp_nn_batch_norm3d (*tni_at_tnp_nn_batch_norm3d)
#define tn_nn_instance_norm1d_at (*tni_at_tn_nn_instance_norm1d_at)
#define tnp_nn_instance_norm1d (*tni_at_tnp_nn_instance_norm1d)
#define tn_nn_instance_norm2d_at (*tni_at_tn_nn_instance_norm2d_at)
#define tnp_nn_instance_norm2d (*tni_at_tnp_nn_instance_norm2d)
#define tn_nn_instance_norm3d_at (*tni_at_tn_nn_instance_norm3d_at)
#define tnp_nn_instance_norm3d (*tni_at_tnp_nn_instance_norm3d)
#define tn_nn_layer_norm_at (*tni_at_tn_nn_layer_norm_at)
#define tnp_nn_layer_norm (*tni_at_tnp_nn_layer_norm)
#define tn_nn_local_response_norm_at (*tni_at_tn_nn_local_response_norm_at)
#define tnp_nn_local_response_norm (*tni_at_tnp_nn_local_response_norm)
#define tn_nn_constant_pad1d_at (*tni_at_tn_nn_constant_pad1d_at)
#define tnp_nn_constant_pad1d (*tni_at_tnp_nn_constant_pad1d)
#define tn_nn_constant_pad2d_at (*tni_at_tn_nn_constant_pad2d_at)
#define tnp_nn_constant_pad2d (*tni_at_tnp_nn_constant_pad2d)
#define tn_nn_constant_pad3d_at (*tni_at_tn_nn_constant_pad3d_at)
#define tnp_nn_constant_pad3d (*tni_at_tnp_nn_constant_pad3d)
#define tn_nn_zero_pad1d_at (*tni_at_tn_nn_zero_pad1d_at)
#define tnp_nn_zero_pad1d (*tni_at_tnp_nn_zero_pad1d)
#define tn_nn_zero_pad2d_at (*tni_at_tn_nn_zero_pad2d_at)
#define tnp_nn_zero_pad2d (*tni_at_tnp_nn_zero_pad2d)
#define tn_nn_zero_pad3d_at (*tni_at_tn_nn_zero_pad3d_at)
#define tnp_nn_zero_pad3d (*tni_at_tnp_nn_zero_pad3d)
#define tn_nn_reflection_pad1d_at (*tni_at_tn_nn_reflection_pad1d_at)
#define tnp_nn_reflection_pad1d (*tni_at_tnp_nn_reflection_pad1d)
#define tn_nn_reflection_pad2d_at (*tni_at_tn_nn_reflection_pad2d_at)
#define tnp_nn_reflection_pad2d (*tni_at_tnp_nn_reflection_pad2d)
#define tn_nn_reflection_pad3d_at (*tni_at_tn_nn_reflection_pad3d_at)
#define tnp_nn_reflection_pad3d (*tni_at_tnp_nn_reflection_pad3d)
#define tn_nn_replication_pad1d_at (*tni_at_tn_nn_replication_pad1d_at)
#define tnp_nn_replication_pad1d (*tni_at_tnp_nn_replication_pad1d)
#define tn_nn_replication_pad2d_at (*tni_at_tn_nn_replication_pad2d_at)
#define tnp_nn_replication_pad2d (*tni_at_tnp_nn_replication_pad2d)
#define tn_nn_replication_pad3d_at (*tni_at_tn_nn_replication_pad3d_at)
#define tnp_nn_replication_pad3d (*tni_at_tnp_nn_replication_pad3d)
#define tn_nn_circular_pad1d_at (*tni_at_tn_nn_circular_pad1d_at)
#define tnp_nn_circular_pad1d (*tni_at_tnp_nn_circular_pad1d)
#define tn_nn_circular_pad2d_at (*tni_at_tn_nn_circular_pad2d_at)
#define tnp_nn_circular_pad2d (*tni_at_tnp_nn_circular_pad2d)
#define tn_nn_circular_pad3d_at (*tni_at_tn_nn_circular_pad3d_at)
#define tnp_nn_circular_pad3d (*tni_at_tnp_nn_circular_pad3d)
#define tn_nn_lstm_at (*tni_at_tn_nn_lstm_at)
#define tnp_nn_lstm (*tni_at_tnp_nn_lstm)
#define tn_nn_lstm_forward_at (*tni_at_tn_nn_lstm_forward_at)
#define tnp_nn_lstm_forward (*tni_at_tnp_nn_lstm_forward)
#define tn_nn_pixel_shuffle_at (*tni_at_tn_nn_pixel_shuffle_at)
#define tnp_nn_pixel_shuffle (*tni_at_tnp_nn_pixel_shuffle)
#define tn_nn_pixel_unshuffle_at (*tni_at_tn_nn_pixel_unshuffle_at)
#define tnp_nn_pixel_unshuffle (*tni_at_tnp_nn_pixel_unshuffle)
#define tn_nn_channel_shuffle_at (*tni_at_tn_nn_channel_shuffle_at)
#define tnp_nn_channel_shuffle (*tni_at_tnp_nn_channel_shuffle)
#define tn_nn_unflatten_at (*tni_at_tn_nn_unflatten_at)
#define tnp_nn_unflatten (*tni_at_tnp_nn_unflatten)
#define tn_optim_adam_at (*tni_at_tn_optim_adam_at)
#define tnp_optim_adam (*tni_at_tnp_optim_adam)
#define tn_optim_adamw_at (*tni_at_tn_optim_adamw_at)
#define tnp_optim_adamw (*tni_at_tnp_optim_adamw)
#define tn_optim_asgd_at (*tni_at_tn_optim_asgd_at)
#define tnp_optim_asgd (*tni_at_tnp_optim_asgd)
#define tn_optim_rprop_at (*tni_at_tn_optim_rprop_at)
#define tnp_optim_rprop (*tni_at_tnp_optim_rprop)
#define tn_optim_adamax_at (*tni_at_tn_optim_adamax_at)
#define tnp_optim_adamax (*tni_at_tnp_optim_adamax)
#define tn_optim_nadam_at (*tni_at_tn_optim_nadam_at)
#define tnp_optim_nadam (*tni_at_tnp_optim_nadam)
#define tn_optim_radam_at (*tni_at_tn_optim_radam_at)
#define tnp_optim_radam (*tni_at_tnp_optim_radam)
#define tn_optim_sgd_at (*tni_at_tn_optim_sgd_at)
#define tnp_optim_sgd (*tni_at_tnp_optim_sgd)
#define tn_optim_adagrad_at (*tni_at_tn_optim_adagrad_at)
#define tnp_optim_adagrad (*tni_at_tnp_optim_adagrad)
#define tn_optim_rmsprop_at (*tni_at_tn_optim_rmsprop_at)
#define tnp_optim_rmsprop (*tni_at_tnp_optim_rmsprop)
#define tn_optim_adadelta_at (*tni_at_tn_optim_adadelta_at)
#define tnp_optim_adadelta (*tni_at_tnp_optim_adadelta)
#define tn_dataset_new_at (*tni_at_tn_dataset_new_at)
#define tn_dataset_hold (*tni_at_tn_dataset_hold)
#define tn_dataset_free (*tni_at_tn_dataset_free)
#define tn_dataset_tensors_at (*tni_at_tn_dataset_tensors_at)
#define tn_dataset_images_at (*tni_at_tn_dataset_images_at)
#define tn_dataset_idx_at (*tni_at_tn_dataset_idx_at)
#define tn_dataset_slice_at (*tni_at_tn_dataset_slice_at)
#define tn_loader_new_at (*tni_at_tn_loader_new_at)
#define tn_loader_free (*tni_at_tn_loader_free)
#define tn_loader_batches (*tni_at_tn_loader_batches)
#define tn_loader_dataset (*tni_at_tn_loader_dataset)
#define tn_loader_generator (*tni_at_tn_loader_generator)
#define tn_loader_next_at (*tni_at_tn_loader_next_at)
#define tn_loader_stop (*tni_at_tn_loader_stop)
#define tn_checkpoint_save_at (*tni_at_tn_checkpoint_save_at)
#define tn_checkpoint_load_at (*tni_at_tn_checkpoint_load_at)
#define tn_checkpoint_save_memory_at (*tni_at_tn_checkpoint_save_memory_at)
#define tn_checkpoint_load_memory_at (*tni_at_tn_checkpoint_load_memory_at)
#define tn_train_at (*tni_at_tn_train_at)
#define tn_evaluate_at (*tni_at_tn_evaluate_at)
#define tn_data_parallel_at (*tni_at_tn_data_parallel_at)
#define tn_parallel_free (*tni_at_tn_parallel_free)
#define tn_parallel_set_sync (*tni_at_tn_parallel_set_sync)
#define tn_parallel_share_at (*tni_at_tn_parallel_share_at)
#endif
#elif TNI_NN_SECTION == 2
#undef TNI_NN_SECTION
#define TNI_SYMBOLS_NN(X) \
    X(tn_module_new_at) \
    X(tn_module_finish_at) \
    X(tn_part_tensor_at) \
    X(tn_part_give_at) \
    X(tn_part_child_at) \
    X(tn_module_append_at) \
    X(tn_module_hold) \
    X(tn_module_free) \
    X(tn_module_make) \
    X(tn_module_named_at) \
    X(tn_module_register_at) \
    X(tn_module_forget) \
    X(tn_mrow_named) \
    X(tn_mrow_count) \
    X(tn_mrow_at) \
    X(tn_input) \
    X(tn_forward_at) \
    X(tn_module_call) \
    X(tn_module_call_values) \
    X(tn_module_hook_at) \
    X(tn_module_hook_remove_at) \
    X(tn_part_tensor_of) \
    X(tn_part_child_of) \
    X(tn_module_tensor_at) \
    X(tn_module_child_at) \
    X(tn_module_set_tensor_at) \
    X(tn_module_walk_at) \
    X(tn_parameters_at) \
    X(tn_module_parameters_at) \
    X(tn_module_buffers_at) \
    X(tn_module_state_dict_at) \
    X(tn_module_train) \
    X(tn_module_requires_grad_at) \
    X(tn_module_zero_grad) \
    X(tn_module_load_at) \
    X(tn_module_to_at) \
    X(tn_module_copy_at) \
    X(tn_module_copy_from_at) \
    X(tn_module_reset_at) \
    X(tn_module_save_file_at) \
    X(tn_module_load_file_at) \
    X(tn_module_save_memory_at) \
    X(tn_module_load_memory_at) \
    X(tn_module_text_at) \
    X(tn_module_print_at) \
    X(tn_nn_init_gain_at) \
    X(tn_nn_init_constant_at) \
    X(tn_nn_init_uniform_at) \
    X(tn_nn_init_normal_at) \
    X(tn_nn_init_xavier_uniform_at) \
    X(tn_nn_init_xavier_normal_at) \
    X(tn_nn_init_kaiming_uniform_at) \
    X(tn_nn_init_kaiming_normal_at) \
    X(tn_orow_count) \
    X(tn_orow_at) \
    X(tn_optimizer_make) \
    X(tn_optimizer_free) \
    X(tn_optimizer_group_at) \
    X(tn_optimizer_groups) \
    X(tn_optimizer_set_at) \
    X(tn_optimizer_get_at) \
    X(tn_optimizer_step_at) \
    X(tn_optimizer_zero_grad) \
    X(tn_optimizer_state_dict_at) \
    X(tn_optimizer_load_at) \
    X(tn_nn_clip_grad_norm_at) \
    X(tn_optim_step_lr_at) \
    X(tn_optim_cosine_lr_at) \
    X(tn_optim_lambda_lr_at) \
    X(tn_schedule_step_at) \
    X(tn_schedule_free) \
    X(tn_schedule_count) \
    X(tn_schedule_resume_at) \
    X(tn_schedule_initial) \
    X(tn_nn_relu_at) \
    X(tnp_nn_relu) \
    X(tn_nn_leaky_relu_at) \
    X(tnp_nn_leaky_relu) \
    X(tn_nn_prelu_at) \
    X(tnp_nn_prelu) \
    X(tn_nn_gelu_at) \
    X(tnp_nn_gelu) \
    X(tn_nn_silu_at) \
    X(tnp_nn_silu) \
    X(tn_nn_sigmoid_at) \
    X(tnp_nn_sigmoid) \
    X(tn_nn_tanh_at) \
    X(tnp_nn_tanh) \
    X(tn_nn_softplus_at) \
    X(tnp_nn_softplus) \
    X(tn_nn_softsign_at) \
    X(tnp_nn_softsign) \
    X(tn_nn_softmax_at) \
    X(tnp_nn_softmax) \
    X(tn_nn_log_softmax_at) \
    X(tnp_nn_log_softmax) \
    X(tn_nn_multihead_attention_at) \
    X(tnp_nn_multihead_attention) \
    X(tn_nn_multihead_attention_forward_at) \
    X(tnp_nn_multihead_attention_forward) \
    X(tn_nn_sequential_at) \
    X(tnp_nn_sequential) \
    X(tn_nn_module_list_at) \
    X(tnp_nn_module_list) \
    X(tn_nn_conv1d_at) \
    X(tnp_nn_conv1d) \
    X(tn_nn_conv2d_at) \
    X(tnp_nn_conv2d) \
    X(tn_nn_conv3d_at) \
    X(tnp_nn_conv3d) \
    X(tn_nn_conv_transpose1d_at) \
    X(tnp_nn_conv_transpose1d) \
    X(tn_nn_conv_transpose1d_forward_at) \
    X(tnp_nn_conv_transpose1d_forward) \
    X(tn_nn_conv_transpose2d_at) \
    X(tnp_nn_conv_transpose2d) \
    X(tn_nn_conv_transpose2d_forward_at) \
    X(tnp_nn_conv_transpose2d_forward) \
    X(tn_nn_conv_transpose3d_at) \
    X(tnp_nn_conv_transpose3d) \
    X(tn_nn_conv_transpose3d_forward_at) \
    X(tnp_nn_conv_transpose3d_forward) \
    X(tn_nn_max_pool2d_at) \
    X(tnp_nn_max_pool2d) \
    X(tn_nn_avg_pool2d_at) \
    X(tnp_nn_avg_pool2d) \
    X(tn_nn_adaptive_avg_pool2d_at) \
    X(tnp_nn_adaptive_avg_pool2d) \
    X(tn_nn_max_pool1d_at) \
    X(tnp_nn_max_pool1d) \
    X(tn_nn_avg_pool1d_at) \
    X(tnp_nn_avg_pool1d) \
    X(tn_nn_adaptive_avg_pool1d_at) \
    X(tnp_nn_adaptive_avg_pool1d) \
    X(tn_nn_adaptive_avg_pool3d_at) \
    X(tnp_nn_adaptive_avg_pool3d) \
    X(tn_nn_lp_pool1d_at) \
    X(tnp_nn_lp_pool1d) \
    X(tn_nn_lp_pool2d_at) \
    X(tnp_nn_lp_pool2d) \
    X(tn_nn_cosine_similarity_at) \
    X(tnp_nn_cosine_similarity) \
    X(tn_nn_cosine_similarity_forward_at) \
    X(tnp_nn_cosine_similarity_forward) \
    X(tn_nn_pairwise_distance_at) \
    X(tnp_nn_pairwise_distance) \
    X(tn_nn_pairwise_distance_forward_at) \
    X(tnp_nn_pairwise_distance_forward) \
    X(tn_nn_unfold_at) \
    X(tnp_nn_unfold) \
    X(tn_nn_fold_at) \
    X(tnp_nn_fold) \
    X(tn_nn_linear_at) \
    X(tnp_nn_linear) \
    X(tn_nn_embedding_at) \
    X(tnp_nn_embedding) \
    X(tn_nn_dropout_at) \
    X(tnp_nn_dropout) \
    X(tn_nn_dropout1d_at) \
    X(tnp_nn_dropout1d) \
    X(tn_nn_dropout2d_at) \
    X(tnp_nn_dropout2d) \
    X(tn_nn_dropout3d_at) \
    X(tnp_nn_dropout3d) \
    X(tn_nn_identity_at) \
    X(tnp_nn_identity) \
    X(tn_nn_flatten_at) \
    X(tnp_nn_flatten) \
    X(tn_nn_cross_entropy_loss_at) \
    X(tnp_nn_cross_entropy_loss) \
    X(tn_nn_cross_entropy_loss_forward_at) \
    X(tnp_nn_cross_entropy_loss_forward) \
    X(tn_nn_nll_loss_at) \
    X(tnp_nn_nll_loss) \
    X(tn_nn_nll_loss_forward_at) \
    X(tnp_nn_nll_loss_forward) \
    X(tn_nn_mse_loss_at) \
    X(tnp_nn_mse_loss) \
    X(tn_nn_mse_loss_forward_at) \
    X(tnp_nn_mse_loss_forward) \
    X(tn_nn_l1_loss_at) \
    X(tnp_nn_l1_loss) \
    X(tn_nn_l1_loss_forward_at) \
    X(tnp_nn_l1_loss_forward) \
    X(tn_nn_smooth_l1_loss_at) \
    X(tnp_nn_smooth_l1_loss) \
    X(tn_nn_smooth_l1_loss_forward_at) \
    X(tnp_nn_smooth_l1_loss_forward) \
    X(tn_nn_huber_loss_at) \
    X(tnp_nn_huber_loss) \
    X(tn_nn_huber_loss_forward_at) \
    X(tnp_nn_huber_loss_forward) \
    X(tn_nn_kl_div_loss_at) \
    X(tnp_nn_kl_div_loss) \
    X(tn_nn_kl_div_loss_forward_at) \
    X(tnp_nn_kl_div_loss_forward) \
    X(tn_nn_bce_loss_at) \
    X(tnp_nn_bce_loss) \
    X(tn_nn_bce_loss_forward_at) \
    X(tnp_nn_bce_loss_forward) \
    X(tn_nn_bce_with_logits_loss_at) \
    X(tnp_nn_bce_with_logits_loss) \
    X(tn_nn_bce_with_logits_loss_forward_at) \
    X(tnp_nn_bce_with_logits_loss_forward) \
    X(tn_nn_margin_ranking_loss_at) \
    X(tnp_nn_margin_ranking_loss) \
    X(tn_nn_margin_ranking_loss_forward_at) \
    X(tnp_nn_margin_ranking_loss_forward) \
    X(tn_nn_hinge_embedding_loss_at) \
    X(tnp_nn_hinge_embedding_loss) \
    X(tn_nn_hinge_embedding_loss_forward_at) \
    X(tnp_nn_hinge_embedding_loss_forward) \
    X(tn_nn_soft_margin_loss_at) \
    X(tnp_nn_soft_margin_loss) \
    X(tn_nn_soft_margin_loss_forward_at) \
    X(tnp_nn_soft_margin_loss_forward) \
    X(tn_nn_cosine_embedding_loss_at) \
    X(tnp_nn_cosine_embedding_loss) \
    X(tn_nn_cosine_embedding_loss_forward_at) \
    X(tnp_nn_cosine_embedding_loss_forward) \
    X(tn_nn_triplet_margin_loss_at) \
    X(tnp_nn_triplet_margin_loss) \
    X(tn_nn_triplet_margin_loss_forward_at) \
    X(tnp_nn_triplet_margin_loss_forward) \
    X(tn_nn_batch_norm1d_at) \
    X(tnp_nn_batch_norm1d) \
    X(tn_nn_batch_norm2d_at) \
    X(tnp_nn_batch_norm2d) \
    X(tn_nn_batch_norm3d_at) \
    X(tnp_nn_batch_norm3d) \
    X(tn_nn_instance_norm1d_at) \
    X(tnp_nn_instance_norm1d) \
    X(tn_nn_instance_norm2d_at) \
    X(tnp_nn_instance_norm2d) \
    X(tn_nn_instance_norm3d_at) \
    X(tnp_nn_instance_norm3d) \
    X(tn_nn_layer_norm_at) \
    X(tnp_nn_layer_norm) \
    X(tn_nn_local_response_norm_at) \
    X(tnp_nn_local_response_norm) \
    X(tn_nn_constant_pad1d_at) \
    X(tnp_nn_constant_pad1d) \
    X(tn_nn_constant_pad2d_at) \
    X(tnp_nn_constant_pad2d) \
    X(tn_nn_constant_pad3d_at) \
    X(tnp_nn_constant_pad3d) \
    X(tn_nn_zero_pad1d_at) \
    X(tnp_nn_zero_pad1d) \
    X(tn_nn_zero_pad2d_at) \
    X(tnp_nn_zero_pad2d) \
    X(tn_nn_zero_pad3d_at) \
    X(tnp_nn_zero_pad3d) \
    X(tn_nn_reflection_pad1d_at) \
    X(tnp_nn_reflection_pad1d) \
    X(tn_nn_reflection_pad2d_at) \
    X(tnp_nn_reflection_pad2d) \
    X(tn_nn_reflection_pad3d_at) \
    X(tnp_nn_reflection_pad3d) \
    X(tn_nn_replication_pad1d_at) \
    X(tnp_nn_replication_pad1d) \
    X(tn_nn_replication_pad2d_at) \
    X(tnp_nn_replication_pad2d) \
    X(tn_nn_replication_pad3d_at) \
    X(tnp_nn_replication_pad3d) \
    X(tn_nn_circular_pad1d_at) \
    X(tnp_nn_circular_pad1d) \
    X(tn_nn_circular_pad2d_at) \
    X(tnp_nn_circular_pad2d) \
    X(tn_nn_circular_pad3d_at) \
    X(tnp_nn_circular_pad3d) \
    X(tn_nn_lstm_at) \
    X(tnp_nn_lstm) \
    X(tn_nn_lstm_forward_at) \
    X(tnp_nn_lstm_forward) \
    X(tn_nn_pixel_shuffle_at) \
    X(tnp_nn_pixel_shuffle) \
    X(tn_nn_pixel_unshuffle_at) \
    X(tnp_nn_pixel_unshuffle) \
    X(tn_nn_channel_shuffle_at) \
    X(tnp_nn_channel_shuffle) \
    X(tn_nn_unflatten_at) \
    X(tnp_nn_unflatten) \
    X(tn_optim_adam_at) \
    X(tnp_optim_adam) \
    X(tn_optim_adamw_at) \
    X(tnp_optim_adamw) \
    X(tn_optim_asgd_at) \
    X(tnp_optim_asgd) \
    X(tn_optim_rprop_at) \
    X(tnp_optim_rprop) \
    X(tn_optim_adamax_at) \
    X(tnp_optim_adamax) \
    X(tn_optim_nadam_at) \
    X(tnp_optim_nadam) \
    X(tn_optim_radam_at) \
    X(tnp_optim_radam) \
    X(tn_optim_sgd_at) \
    X(tnp_optim_sgd) \
    X(tn_optim_adagrad_at) \
    X(tnp_optim_adagrad) \
    X(tn_optim_rmsprop_at) \
    X(tnp_optim_rmsprop) \
    X(tn_optim_adadelta_at) \
    X(tnp_optim_adadelta) \
    X(tn_dataset_new_at) \
    X(tn_dataset_hold) \
    X(tn_dataset_free) \
    X(tn_dataset_tensors_at) \
    X(tn_dataset_images_at) \
    X(tn_dataset_idx_at) \
    X(tn_dataset_slice_at) \
    X(tn_loader_new_at) \
    X(tn_loader_free) \
    X(tn_loader_batches) \
    X(tn_loader_dataset) \
    X(tn_loader_generator) \
    X(tn_loader_next_at) \
    X(tn_loader_stop) \
    X(tn_checkpoint_save_at) \
    X(tn_checkpoint_load_at) \
    X(tn_checkpoint_save_memory_at) \
    X(tn_checkpoint_load_memory_at) \
    X(tn_train_at) \
    X(tn_evaluate_at) \
    X(tn_data_parallel_at) \
    X(tn_parallel_free) \
    X(tn_parallel_set_sync) \
    X(tn_parallel_share_at)
#ifdef TN_EXPORT
#define TNI_SYMBOL(name) (void (*)(void))name,
static TNI_UNUSED const tn_exports *tn_nn_exported(void) {
    static void (*const at[])(void) = {TNI_SYMBOLS_NN(TNI_SYMBOL)};
    static const tn_exports all = {"77bc7b16d381", at, 328};
    return &all;
}
#undef TNI_SYMBOL
#elif defined(TN_IMPORT)
#define TNI_SYMBOL(name) memcpy(&tni_at_##name, at++, sizeof tni_at_##name);
static TNI_UNUSED bool tn_nn_import(const tn_exports *e) {
    if (!e || e->n != 328 || strcmp(e->layout, "77bc7b16d381") != 0) return false;
    void (*const *at)(void) = e->at;
    TNI_SYMBOLS_NN(TNI_SYMBOL)
    return true;
}
#undef TNI_SYMBOL
#endif
#endif
#endif
