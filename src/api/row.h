/* row.h - an operator is a row: what it is called with, how shapes follow, how it runs, its
 * gradient.
 *
 * Built-in operators and a user's own are the same struct. A user's row is filled by hand and
 * registered:
 *
 *     static const tn_row logaddexp = { .name = "logaddexp", .schema = "logaddexp(Tensor self,
 *         Tensor other) -> Tensor",
 *                                       .forms = TN_OUT, .check = my_check, .run = my_run, .grad =
 *                                           my_grad };
 *     tn_register(&logaddexp);   tn_call_named("logaddexp", ...)
 *
 * The door (tn_call) does for every row: enter (pending error, NULL arguments, contexts), check,
 * look, prepare (outputs, scratch, tape node: everything that can fail), run, publish. See
 * docs/rows.md. */
#ifndef TNI_API_ROW_H
#define TNI_API_ROW_H

#include "autograd.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_row tn_row;
typedef struct tn_frame tn_frame;       /* one call in progress */
typedef struct tn_gradient tn_gradient; /* one gradient in progress */
typedef struct tn_gen tn_gen;           /* tables made from the schema */
typedef struct tni_block tni_block;     /* a thread in a context */
typedef struct tni_node tni_node;       /* a call on the tape */

/* --- the row ---------------------------------------------------------------------------------- */

enum tn_forms {
    TN_OUT = 1,        /* .out = given tensors */
    TN_INPLACE = 2,    /* name_(self, ...) writes into self; the written tensor may be exactly the
                       first input, in a TN_POINTWISE row any input */
    TN_SHAPE_ONLY = 4, /* reads the shape and dtype of its inputs alone: in gradients it takes what
                          is not in needs */
    TN_ALIAS = 8       /* in place, without a loop: any input may be exactly self */
};

struct tn_row {
    const char *name,
        *schema; /* name: C's, unique; schema: torch's, "max.dim(Tensor self, int dim) -> ..." */
    const tn_gen *gen; /* NULL in a user's row: made by tn_register */
    uint32_t index;    /* into device tables; given by the generator or tn_register */
    /* the fields of TN_OPERATOR, in this order */
    uint32_t forms; /* tn_forms */
    const char
        *saves; /* names of hidden outputs, announced after the returned ones when recording */
    const char
        *needs; /* what gradients read: "self:other other:self,result", or "indices" for all */
    bool (*check)(tn_frame *f); /* announces outputs and scratch; all errors but those of look */
    bool (*look)(tn_frame *f);  /* reads data, writes nothing: f->count, index ranges */
    void (*run)(tn_frame *f);   /* writes every element; cannot fail */
    uint32_t loop;              /* TN_POINTWISE: tni_loop kinds, else 0 */
    /* TN_POINTWISE of floats, views: the way of a call of which nothing is unusual, or NULL */
    bool (*quick)(const tn_row *row, unsigned how, const char *file, int line, const void *args,
                  void *results);
    const char *text;             /* TN_POINTWISE: the expression */
    bool (*compose)(tn_frame *f); /* instead of check, look, run: calls operators, sets f->out[] */
    void (*grad)(
        tn_gradient *g); /* NULL: not differentiable, an error when recorded; tn_grad_zero: zero */
    void (*fused)(
        tn_gradient *g); /* the same gradients faster, used when no graph of them is asked for */
    const char *domain;  /* sample domain of tensors for gradcheck: "self:0.1..2 other:-0.9..0.9" */
    const char *sample;  /* argument samples for tests: "(2,3,4) dim=1 | (3) dim=-1 keepdim=True" */
    const char *node;    /* torch's name of the recorded call where it is not the schema's */
};

/* --- tables of a schema ----------------------------------------------------------------------- */

typedef enum tn_type {
    TN_T_TENSOR = 1,
    TN_T_TENSORS,
    TN_T_INT,
    TN_T_FLOAT,
    TN_T_BOOL,
    TN_T_SCALAR,
    TN_T_INTS,
    TN_T_FLOATS,
    TN_T_DTYPE,
    TN_T_DEVICE,
    TN_T_GENERATOR,
    TN_T_ENUM,
    TN_T_STRING,
    TN_T_MODULE,
    TN_T_MODULES
} tn_type;

enum tn_param_flags {
    TN_P_OPTIONAL = 1, /* T?: may be None */
    TN_P_DEFAULT = 2,  /* has a default */
    TN_P_KEYWORD = 4,  /* after the * */
    TN_P_NUMBER = 8,   /* Tensor|Scalar: number_offset holds the number when the tensor is NULL */
    TN_P_MUTATED = 16, /* (a!) */
    TN_P_DOUBLE = 32,  /* a Scalar that is kept as double, since it has a default */
    TN_P_MAYBE = 64,   /* a float? that is kept as tn_maybe */
    TN_P_HOLES = 128   /* Tensor?[]: members of the list may be NULL */
};

typedef struct tn_param {
    const char *name;
    uint8_t type, flags;
    uint16_t offset, number_offset; /* into the argument struct */
    int16_t count;                  /* int[2]: 2; -1: any */
    const char *const *words;       /* TN_T_ENUM: NULL-terminated, numbered from 1 */
} tn_param;

enum tn_props {                    /* what lets a call skip work */
                TN_PROP_LISTS = 1, /* takes a list of tensors */
                TN_PROP_GENERATOR = 2,
                TN_PROP_MUTATED = 4, /* some (a!) */
                TN_PROP_INTS = 8,    /* holds lists of numbers or texts, which a record must copy */
                TN_PROP_RETURNS_LIST = 16,
                TN_PROP_WORDS = 32,  /* holds dtypes, devices, words or numbers, which have values
                                       that are none */
                TN_PROP_TRUTH = 128, /* "-> bool": a 0-dim bool tensor in C */
                TN_PROP_DOUBLE = 64 /* tensors, and one number behind them that is kept as double */
};

struct tn_gen {
    const tn_param *param;
    const void *defaults;            /* an argument struct with every default set */
    const char *const *result_names; /* nresults, then the names of saves */
    const uint64_t
        *needs; /* a gradient slot: bit i input i, bit 32 + k output k (saves included) */
    uint16_t nparam, nfixed; /* nfixed: single tensors, which come first among the slots */
    uint16_t nresults, nsaves;
    uint16_t args_size, out_offset; /* out_offset: of `out`, UINT16_MAX when the row has none */
    uint32_t props;
    uint32_t loop_index; /* of a pointwise row among the pointwise rows */
    uint16_t fixed[8];   /* parameter index of fixed tensor i */
};

/* --- the frame: what check, look and run see -------------------------------------------------- */

#define TN_UNKNOWN (-1) /* a size that look counts into f->count */
enum { TNI_IN = 8, TNI_RESULTS = 6, TNI_ARGS_BYTES = 320, TNI_NUMBERS = 3 };

/* A request to stop, as one call knows it. */
typedef struct tni_stop {
    const uint32_t *request; /* the context's word; NULL: the call goes on to its end */
    uint32_t seen;           /* by a poll of this call, which fails then, whatever comes */
} tni_stop;

struct tn_frame {
    tni_block *block;
    const tn_row *row;
    const void *args; /* the argument struct; TN_ARGS gives it typed */
    tn_tensor **in;   /* fixed tensors in schema order (NULL: absent), then list members */
    tn_tensor **out;  /* results, then saves */
    int nin, nout;
    bool recording, meta; /* meta: shapes only, look and run are not called */
    bool inplace;         /* results go into self */
    uint8_t type;         /* free for check to tell run: the compute dtype, say */
    tn_device_id device;
    /* cleared as one, down to node */
    uint64_t unneeded;    /* check may set: bit i input i is not read by the gradient this time */
    uint32_t unwritten;   /* check may set: bit i input i, though (a!), is not written this time */
    uint8_t ngiven;       /* private to the door */
    int64_t count;        /* look's result */
    size_t scratch_bytes; /* asked by check */
    void *scratch;        /* 64-byte aligned, uninitialised */
    tn_generator *generator;
    /* private to the door */
    tni_stop stop;
    tni_node *node;
    tn_frame *caller;
    /* of all */
    const char *file;
    int line;
    int64_t note[4]; /* free for check to tell look and run */
    /* private to the door */
    tn_tensor *given[4];
    tn_tensor *in_[TNI_IN], *out_[TNI_RESULTS];
};

/* Typed views: `TN_ARGS(add, a, f)` declares `const tn_add_args *a`, in run and in gradients alike.
 */
#define TN_ARGS(op, name, f) const tn_##op##_args *name = (const tn_##op##_args *)(f)->args

/* For check. Each returns false with an error when memory, size arithmetic or a given tensor do not
 * fit. announce: output k is new, row-major; like: with the dimension order (strides) torch gives a
 * pointwise result over `like`'s layout; view: output k shares of's storage; count: number of
 * outputs of a list row. */
TN_API bool tn_announce(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size);
TN_API bool tn_announce_strided(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                const int64_t *stride);
TN_API bool tn_announce_like(tn_frame *f, int k, const tn_tensor *like, tn_dtype dtype);
TN_API bool tn_announce_view(tn_frame *f, int k, tn_tensor *of, int ndim, const int64_t *size,
                             const int64_t *stride, int64_t offset);
TN_API bool tn_announce_count(tn_frame *f, int64_t count);
TN_API bool tn_scratch(tn_frame *f, int64_t count, int64_t bytes_each);
/* Sets the error of this call; the door adds operator, arguments and line. Returns false. */
TN_API bool tn_fail(tn_frame *f, tn_code code, const char *format, ...) TNI_PRINTF(3, 4);
/* Whether the call was asked to stop; a long run polls it a block of work at a time and returns
 * early. Never so where the call writes tensors that were there before: it goes on to its end. */
TN_API bool tn_cancelled(const tn_frame *f);

/* --- the gradient: what a row's grad sees ----------------------------------------------------- */

struct tn_gradient {
    tni_block *block;
    const tn_row *row;
    const void *args; /* a copy; tensors not named in needs have shape and dtype but no data */
    tn_tensor **in, **out;
    tn_tensor **incoming; /* gradient of each output; NULL: zero */
    const bool *want;     /* a slot: is its gradient wanted */
    int nin, nout;
    /* private to the engine */
    tn_tensor **give;
    tni_node *node;
};

/* Adds t to the gradient of input slot: summed to the input's shape, real part for a real input,
 * converted to its dtype. Takes t as it is (a new tensor of the scope, or a borrowed one); NULL
 * with an error passes it on. */
TN_API void tn_give(tn_gradient *g, int slot, tn_tensor *t);
/* incoming[k], zeros when it is NULL. */
TN_API tn_tensor *tn_incoming(tn_gradient *g, int k);
/* The gradient that is zero by definition (argmax has none to give; round, sign). */
TN_API void tn_grad_zero(tn_gradient *g);
#ifdef TN_IMPORT /* rows are initialised with it: a function, not a pointer */
#undef tn_grad_zero
static TNI_UNUSED void tn_grad_zero(tn_gradient *g) { tni_at_tn_grad_zero(g); }
#endif

/* --- calling rows ----------------------------------------------------------------------------- */

enum tn_how { TN_PLAIN = 0, TN_IN_PLACE = 1 };
/* The one door. args: the row's argument struct; results: its result struct (a tn_tensor *,
 * several, or a tn_list). false with an error set, results NULL. */
TN_API bool tn_call(const tn_row *row, unsigned how, const char *file, int line, const void *args,
                    void *results);

/* A tagged value, for calls by name (bindings, files, tests). */
typedef struct tn_value {
    int32_t type;     /* tn_type; 0: None */
    const char *name; /* keyword, or NULL: positional */
    union tn_value_of {
        tn_tensor *tensor;
        tn_tensors tensors;
        int64_t integer;
        double real;
        bool boolean;
        tn_scalar scalar;
        tn_ints ints;
        tn_floats floats;
        tn_dtype dtype;
        tn_device_id device;
        tn_generator *generator;
        const char *string;
    } as;
} tn_value;

/* Calls "max.dim", "max_dim", or the first overload of "max" that the values fit; a trailing '_' is
 * the in-place form. results: room for `room` tensors; *count is set. A value named "out" gives
 * outputs. */
TN_API bool tn_call_named(const char *file, int line, const char *name, const tn_value *values,
                          int nvalues, tn_tensor **results, int room, int *count);
TN_API bool tn_call_row(const char *file, int line, const tn_row *row, unsigned how,
                        const tn_value *values, int nvalues, tn_tensor **results, int room,
                        int *count);

/* Makes a row known by name in the current context and fills its gen and index; the row must live
 * as long as the context, which takes them back at its end. Refuses a name that is taken and a
 * schema that does not parse. */
TN_API bool tn_register(tn_row *row);
TN_API const tn_row *tn_row_named(const char *name);
TN_API int64_t tn_row_count(void);
TN_API const tn_row *tn_row_at(int64_t i);

/* --- record and replay ------------------------------------------------------------------------ */

/* Records the calls of this thread between begin and end. Replay runs them again on the same
 * tensors, inputs rewritten by the user: no allocation, no lock. A size that depends on data and
 * differs is an error. */
typedef struct tn_recording tn_recording;
TN_API bool tn_record_begin(void);
TN_API tn_recording *tn_record_end(void);
TN_API bool tn_replay(tn_recording *recording);
TN_API void tn_recording_free(tn_recording *recording);

/* --- keyword calls ---------------------------------------------------------------------------- */

/* Calls f##_at with an argument struct whose defaults come first: what the user writes later
 * overrides them. */
#if defined(__cplusplus)
#elif defined(__clang__)
#define TNI_CALL_AS(f, args, ...)                                                   \
    _Pragma("clang diagnostic push")                                                \
        _Pragma("clang diagnostic ignored \"-Winitializer-overrides\"")             \
            _Pragma("clang diagnostic error \"-Wint-conversion\"")                  \
                _Pragma("clang diagnostic error \"-Wincompatible-pointer-types\"")  \
                    _Pragma("clang diagnostic error \"-Wmissing-braces\"")          \
                        _Pragma("clang diagnostic error \"-Wexcess-initializers\"") \
                            f(__FILE__, __LINE__, &(args){__VA_ARGS__})             \
                                _Pragma("clang diagnostic pop")
#elif defined(__GNUC__)
#define TNI_CALL_AS(f, args, ...)                                                            \
    __extension__({                                                                          \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
            _Pragma("GCC diagnostic ignored \"-Woverride-init-side-effects\"")               \
                _Pragma("GCC diagnostic error \"-Wint-conversion\"")                         \
                    _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")         \
                        _Pragma("GCC diagnostic error \"-Wmissing-braces\"")                 \
                            f(__FILE__, __LINE__, &(args){__VA_ARGS__});                     \
        _Pragma("GCC diagnostic pop")                                                        \
    })
#else
#define TNI_CALL_AS(f, args, ...) f(__FILE__, __LINE__, &(args){__VA_ARGS__})
#endif
#define TNI_CALL(f, ...) TNI_CALL_AS(f##_at, f##_args, __VA_ARGS__)

TNI_EXTERN_C_END
#endif
