/* nn.h - modules: trees of parameters and buffers with a forward function.
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
#ifndef TNI_API_NN_H
#define TNI_API_NN_H

#include "cxx.h"
#include "io.h"
#include "extend.h"
#include "ops/words.h"

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
 *     return tn_module_finish((tn_module *)s); */
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
#endif
