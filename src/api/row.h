/* row.h - define operators of your own: arguments, shapes, loop, gradient.
 *
 * Built-in operators and yours are the same struct (docs/rows.md). You fill it and register it:
 *
 *     static tn_row smooth_max = {.name = "smooth_max",
 *                                 .schema = "smooth_max(Tensor self, Tensor other) -> Tensor",
 *                                 .forms = TN_OUT, .check = my_check, .run = my_run,
 *                                 .needs = "self:self,result other:other,result",
 *                                 .grad = my_grad};
 *     tn_register(&smooth_max);
 *
 * A call passes these steps for every row: enter (pending error, NULL arguments, contexts), check,
 * look, prepare (outputs, scratch, tape node), run, verdict, publish. If one fails, nothing has
 * changed. */
#ifndef TNI_API_ROW_H
#define TNI_API_ROW_H

#include "autograd.h"
#include "beside.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_row tn_row;
typedef struct tn_frame tn_frame;       /* one call in progress */
typedef struct tn_gradient tn_gradient; /* one gradient in progress */
typedef struct tn_gen tn_gen;           /* tables made from the schema */
typedef struct tni_node tni_node;       /* a call on the tape */

/* --- the row ---------------------------------------------------------------------------------- */

enum tn_forms {
    TN_OUT = 1,        /* .out = given tensors; inputs among them are written when all is read */
    TN_INPLACE = 2,    /* name_(self, ...) writes into self. The written tensor may be the first
                          input itself, in a TN_POINTWISE row any input */
    TN_SHAPE_ONLY = 4, /* reads only shapes and dtypes, so a gradient may give it ghosts */
    TN_ALIAS = 8,      /* in place, without a loop: any input may be self, or an element of it */
    TN_MOVES = 16,     /* run is made of copies and fills of whole tensors, which any device has, so
                          it needs no kernel there */
    TN_ACROSS = 32,    /* with TN_MOVES: inputs and result may be on different devices */
    TN_LEADING = 64,   /* with one more dimension in front of all tensors, and dim counted from the
                          end, it does the same for each member of that dimension (tn_vmap) */
    TN_DRAWS = 128,    /* of a composed row: f->generator is set, and goes back if the call fails */
    TN_IMAGES = 256    /* results may lie channels-last; what run writes row by row the door turns
                          (tni_announce_images) */
};

/* What autocast does to a call's floating tensors (tn_set_autocast; float64 stays as it is), on the
 * CPU and on other devices. Without a policy a composed row casts in what it calls. */
enum tn_autocast_policy {
    TN_LOWER_CPU = 1, /* to the dtype of autocast: products of matrices, convolutions */
    TN_LOWER_CUDA = 2,
    TN_LOWER = 3,
    TN_WIDE_CPU = 4, /* to float32: what loses too much in half precision */
    TN_WIDE_CUDA = 8,
    TN_WIDE = 12,
    TN_WIDEST_CPU = 16, /* to float32 if one of them is float32: rows that take one dtype */
    TN_WIDEST_CUDA = 32,
    TN_WIDEST = 48,
    TN_UNCAST_CPU = 64, /* nothing is cast, in what a composed row calls neither */
    TN_UNCAST_CUDA = 128,
    TN_UNCAST = 192,
    TN_UNSAFE_CUDA = 512 /* refused: half precision would overflow in it */
};

/* A member of a row's argument struct: TN_MEMBER(tn_smooth_max_args, self). */
typedef struct tn_member {
    const char *name;
    uint16_t offset, bytes;
} tn_member;
#define TN_MEMBER(type, member) \
    { #member, offsetof(type, member), sizeof(((type *)NULL)->member) }

struct tn_row {
    /* C's name, which is unique; torch's schema: "max.dim(Tensor self, int dim) -> ..." */
    const char *name, *schema;
    const tn_gen *gen; /* NULL in a user's row: made by tn_register */
    /* the fields of TN_OPERATOR, in this order */
    uint32_t forms;    /* tn_forms */
    uint32_t autocast; /* tn_autocast_policy */
    /* names of hidden outputs, announced after the results while recording */
    const char *saves;
    /* what gradients read: "self:other other:self,result", or "indices" for all */
    const char *needs;
    bool (*check)(tn_frame *f);   /* announces outputs and scratch; makes most errors */
    bool (*look)(tn_frame *f);    /* reads data, writes nothing: f->count, ranges of indices */
    void (*run)(tn_frame *f);     /* writes every element; cannot fail */
    bool (*verdict)(tn_frame *f); /* reads what run wrote; may refuse it with tn_fail */
    uint32_t rules;               /* TN_POINTWISE: its kinds and tn_rules; else 0 */
    /* the short way, for common small calls of pointwise rows and views; or NULL */
    bool (*quick)(const tn_row *row, unsigned how, const char *file, int line, const void *args,
                  void *results);
    bool (*compose)(tn_frame *f); /* replaces check, look, run: calls operators, sets f->out[] */
    /* NULL: recording refuses the call; tn_grad_zero: the gradient is zero */
    void (*grad)(tn_gradient *g);
    /* the same gradients faster, used if they will not be differentiated again */
    void (*fused)(tn_gradient *g);
    const char *domain; /* values of tensors in gradcheck: "self:0.1..2 other:-0.9..0.9" */
    const char *sample; /* arguments for tests: "(2,3,4) dim=1 | (3) dim=-1 keepdim=True" */
    const char *node;   /* torch's name of the recorded call, if the schema does not give it */
    /* the result for all samples of a batch, by calls of operators: whole[i] is input i with the
     * samples in dimension 0, NULL if it is the same for all. NULL without an error: not so */
    tn_tensor *(*batched)(tn_frame *f, tn_tensor *const *whole);
    /* of a user's row: the members of its argument struct in any order, behind them one without a
     * name. tn_register compares them with the schema; NULL: it does not */
    const tn_member *members;
    uint32_t uses; /* private; 0: not registered. 1, and 1 for each recorded call of it */
};

/* --- tables of a schema ----------------------------------------------------------------------- */

/* The types of parameters, one a line:
 *   TN_T_name, its word in a schema, the type of a list of it (0: none)
 *   its declaration in an argument struct and in C++, up to the name ("": the enum's own)
 *   the C type stored in the argument struct, its traits, and its way
 * A way says how values are handled. It is an entry in the tables of call/types.c, call/schema.c
 * (defaults, which the generator also reads), tools/optable/ways.c (what the generator writes of
 * defaults, samples), py/parse.c and py/optim.c. A type that shares a way needs only its line
 * here. */
#define TN_TYPES(X)                                                                                \
    X(TENSOR, "Tensor", TN_T_TENSORS, "tn_tensor *", "tensor_ref ", void *, TN_TYPE_LENT, TENSOR)  \
    X(TENSORS, "Tensor[]", 0, "tn_tensors ", "tensor_list ", tn_tensors,                           \
      TN_TYPE_LENT | TN_TYPE_LIST, TENSORS)                                                        \
    X(INT, "int", TN_T_INTS, "int64_t ", "integer ", int64_t, TN_TYPE_NUMBER, WHOLE)               \
    X(FLOAT, "float", TN_T_FLOATS, "double ", "double ", double, TN_TYPE_NUMBER, REAL)             \
    X(BOOL, "bool", 0, "bool ", "flag ", bool, TN_TYPE_NUMBER, TRUTH)                              \
    X(SCALAR, "Scalar", 0, "tn_scalar ", "number ", tn_scalar, TN_TYPE_GAPS | TN_TYPE_NUMBER,      \
      NUMBER)                                                                                      \
    X(INTS, "int[]", 0, "tn_ints ", "int_list ", tn_ints, TN_TYPE_BEHIND | TN_TYPE_LIST, WHOLES)   \
    X(FLOATS, "float[]", 0, "tn_floats ", "float_list ", tn_floats, TN_TYPE_BEHIND | TN_TYPE_LIST, \
      REALS)                                                                                       \
    X(DTYPE, "ScalarType", 0, "tn_dtype ", "tn_dtype ", int32_t, TN_TYPE_GAPS | TN_TYPE_CODE,      \
      DTYPE)                                                                                       \
    X(DEVICE, "Device", 0, "tn_device_id ", "tn_device_id ", int32_t, TN_TYPE_GAPS | TN_TYPE_CODE, \
      DEVICE)                                                                                      \
    X(GENERATOR, "Generator", 0, "tn_generator *", "tn_generator *", void *, TN_TYPE_LENT,         \
      GENERATOR)                                                                                   \
    X(ENUM, "enum", 0, "", "", int32_t, TN_TYPE_GAPS | TN_TYPE_CODE, WORD)                         \
    X(STRING, "str", 0, "const char *", "const char *", const char *, TN_TYPE_BEHIND, STRING)      \
    X(MODULE, "Module", TN_T_MODULES, "tn_module *", "tn_module *", void *, TN_TYPE_LENT, MODULE)  \
    X(MODULES, "Module[]", 0, "tn_modules ", "modules_ref ", tn_tensors,                           \
      TN_TYPE_LENT | TN_TYPE_LIST, MODULES)                                                        \
    X(MAYBE, "float?", 0, "tn_maybe ", "tn_maybe ", tn_maybe, TN_TYPE_GAPS, MAYBE)

typedef enum tn_type {
    TN_T_NONE,
#define TNI_TYPE_NUMBER(NAME, text, list, c, cxx, lies, traits, way) TN_T_##NAME,
    TN_TYPES(TNI_TYPE_NUMBER)
#undef TNI_TYPE_NUMBER
        TN_TYPE_COUNT
} tn_type;

/* Traits of a type. */
enum tn_type_traits {
    TN_TYPE_LIST = 1,   /* an address and a count */
    TN_TYPE_BEHIND = 2, /* points at numbers or text, which are copied with the arguments */
    TN_TYPE_LENT = 4,   /* points at objects that others own, borrowed during the call */
    TN_TYPE_GAPS = 8,   /* not every bit pattern is a value, so the door checks */
    TN_TYPE_CODE = 16,  /* an int32_t that stands for a word; 0: None */
    TN_TYPE_NUMBER = 32 /* may stand in a pointwise expression */
};
/* The types with a trait: `TN_TYPES_LIST >> p->type & 1`. */
enum tn_types_with {
#define TNI_TYPE_BIT(NAME, trait) | (int)((trait) != 0) << TN_T_##NAME
#define TNI_TYPE_LISTS(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_LIST)
#define TNI_TYPE_BEHINDS(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_BEHIND)
#define TNI_TYPE_LENDS(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_LENT)
#define TNI_TYPE_GAPPY(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_GAPS)
#define TNI_TYPE_CODES(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_CODE)
#define TNI_TYPE_NUMBERS(NAME, t, l, c, x, m, traits, w) TNI_TYPE_BIT(NAME, (traits)&TN_TYPE_NUMBER)
    TN_TYPES_LIST = 0 TN_TYPES(TNI_TYPE_LISTS),
    TN_TYPES_BEHIND = 0 TN_TYPES(TNI_TYPE_BEHINDS),
    TN_TYPES_LENT = 0 TN_TYPES(TNI_TYPE_LENDS),
    TN_TYPES_GAPS = 0 TN_TYPES(TNI_TYPE_GAPPY),
    TN_TYPES_CODE = 0 TN_TYPES(TNI_TYPE_CODES),
    TN_TYPES_NUMBER = 0 TN_TYPES(TNI_TYPE_NUMBERS)
#undef TNI_TYPE_LISTS
#undef TNI_TYPE_BEHINDS
#undef TNI_TYPE_LENDS
#undef TNI_TYPE_GAPPY
#undef TNI_TYPE_CODES
#undef TNI_TYPE_NUMBERS
#undef TNI_TYPE_BIT
};

enum tn_param_flags {
    TN_P_OPTIONAL = 1, /* T?: may be None */
    TN_P_DEFAULT = 2,  /* has a default */
    TN_P_KEYWORD = 4,  /* after the * */
    TN_P_NUMBER = 8,   /* Tensor|Scalar: number_offset has the number if the tensor is NULL */
    TN_P_MUTATED = 16, /* (a!) */
    TN_P_DOUBLE = 32,  /* a Scalar with a default, stored as double */
    TN_P_MAYBE = 64,   /* a float?, stored as tn_maybe */
    TN_P_HOLES = 128   /* Tensor?[]: members of the list may be NULL */
};

typedef struct tn_param {
    const char *name;
    uint8_t type, flags;
    uint16_t offset, number_offset; /* into the argument struct */
    int16_t count;                  /* int[2]: 2; -1: any */
    const char *const *words;       /* TN_T_ENUM: NULL-terminated, numbered from 1 */
} tn_param;

/* The type stored in the argument struct: tn_maybe for a float?, double for a Scalar with a
 * default, else the parameter's own. */
TNI_INLINE unsigned tn_type_kept(unsigned type, unsigned flags) {
    if (flags & TN_P_MAYBE) return TN_T_MAYBE;
    return flags & TN_P_DOUBLE ? (unsigned)TN_T_FLOAT : type;
}
/* True if a call must give p. A generator may be left out, though it has no default. */
TNI_INLINE bool tn_param_is_required(const tn_param *p) {
    return !(p->flags & TN_P_DEFAULT) && p->type != TN_T_GENERATOR;
}

enum tn_props {                    /* what lets a call skip work */
                TN_PROP_LISTS = 1, /* takes a list of tensors */
                TN_PROP_GENERATOR = 2,
                TN_PROP_MUTATED = 4, /* some (a!) */
                TN_PROP_INTS = 8,    /* holds lists of numbers or texts, which a record must copy */
                TN_PROP_RETURNS_LIST = 16,
                TN_PROP_WORDS = 32,    /* holds dtypes, devices, words or numbers, which have values
                                       that are none */
                TN_PROP_TRUTH = 128,   /* "-> bool": a 0-dim bool tensor in C */
                TN_PROP_VERDICT = 256, /* the row has a verdict */
                TN_PROP_DOUBLE = 64, /* tensors, and one number behind them, kept as double */
                TN_PROP_IMAGES = 512 /* the row's form TN_IMAGES */
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
    const void *loops; /* of a pointwise row, by instruction set and type; else NULL */
    uint16_t fixed[8]; /* parameter index of fixed tensor i */
    uint32_t index;    /* of the row: into tables beside it; 0 of a module */
};
/* The single tensors among the parameters: i < gen->nfixed, in schema order. */
TNI_INLINE const tn_param *tn_gen_tensor(const tn_gen *gen, int i) {
    return &gen->param[gen->fixed[i]];
}

/* --- the frame: the call as check, look and run see it ---------------------------------------- */

#define TN_UNKNOWN (-1) /* a size that look will count into f->count */
enum { TNI_IN = 8, TNI_RESULTS = 6, TNI_ARGS_BYTES = 320, TNI_NUMBERS = 3 };
enum { TN_NOTE_BYTES = 32 };

struct tn_frame {
    tni_work work; /* private to the door */
    tni_block *block;
    const tn_row *row;
    const void *args; /* the argument struct; TN_ARGS gives it typed */
    tn_tensor **in;   /* single tensors in schema order (NULL: absent), then members of lists */
    tn_tensor **out;  /* results, then saves */
    int nin, nout;
    bool recording;
    uint8_t elsewhere, ngiven; /* private to the door */
    bool meta;                 /* shapes only; look and run are not called */
    bool inplace;              /* results go into self */
    uint8_t type;              /* free for check to tell run, e.g. the dtype to compute in */
    tn_device_id device;
    /* the door clears these together, up to and with on */
    uint64_t unneeded;    /* check may set bit i: this call's gradient does not read input i */
    uint32_t unwritten;   /* check may set bit i: this call does not write input i, marked (a!) */
    int64_t count;        /* look's result */
    size_t scratch_bytes; /* requested by check */
    void *scratch;        /* 64-byte aligned, uninitialised */
    tn_generator *generator;
    tni_node *node;                 /* private to the door */
    const struct tn_device_row *on; /* the device's kernels; NULL: none are needed */
    /* of all */
    union {
        int64_t align;
        unsigned char bytes[TN_NOTE_BYTES];
    } note; /* what check tells look and run: TN_NOTE */
    /* set by tn_scratch_each alone */
    int64_t each_at, each_bytes; /* a worker's part of scratch: where the first begins, its size */
    int32_t workers;
    /* private to the door */
    tn_tensor *given[4];
    tn_tensor *in_[TNI_IN], *out_[TNI_RESULTS];
};

/* TN_ARGS(add, a, f) declares `const tn_add_args *a`, the call's arguments, in run and in grad.
 *
 * For a row of yours you declare that struct. Its members, in this order:
 *
 *   with TN_OUT     a tn_tensor * for each result
 *   parameters      first those with a default, then the others, each in the schema's order:
 *                   Tensor tn_tensor *, Tensor[] tn_tensors, int int64_t, float double, bool bool,
 *                   Scalar tn_scalar (with a default: double), int[] tn_ints, float[] tn_floats,
 *                   ScalarType tn_dtype, str const char *; int? int64_t, float? tn_maybe
 *   Tensor|Scalar   a tn_scalar for each such parameter
 *
 * If all parameters have defaults, an int stands at the end. A struct in another order is misread,
 * so name its members in the row, and tn_register refuses a wrong one with the right order:
 *
 *     static const tn_member members[] = {TN_MEMBER(tn_add_args, self),
 *                                         TN_MEMBER(tn_add_args, other), {NULL, 0, 0}}; */
#define TN_ARGS(op, name, f) const tn_##op##_args *name = (const tn_##op##_args *)(f)->args

/* What check tells look and run is a struct of the row's own: TN_NOTE(add_note, note, f) declares
 * `add_note *note` in each of them. It starts uninitialised; one that is too large does not
 * compile. */
#define TN_NOTE(type, name, f)                      \
    type *name = (type *)(void *)((f)->note.bytes + \
                                  0 * sizeof(char[sizeof(type) <= TN_NOTE_BYTES ? 1 : -1]))

/* For check: announce says what output k is, before it exists. Each returns false with an error, if
 * memory, size arithmetic or a given tensor does not fit.
 *   tn_announce           new and row-major
 *   tn_announce_strided   new, with these strides
 *   tn_announce_like      new, with the strides that torch gives a pointwise result of `like`
 *   tn_announce_view      a view of `of`
 *   tn_announce_count     the number of outputs of a row that returns a list
 *   tn_scratch            scratch memory for run: f->scratch */
TN_API bool tn_announce(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size);
TN_API bool tn_announce_strided(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                const int64_t *stride);
TN_API bool tn_announce_like(tn_frame *f, int k, const tn_tensor *like, tn_dtype dtype);
TN_API bool tn_announce_view(tn_frame *f, int k, tn_tensor *of, int ndim, const int64_t *size,
                             const int64_t *stride, int64_t offset);
TN_API bool tn_announce_count(tn_frame *f, int64_t count);
TN_API bool tn_scratch(tn_frame *f, int64_t count, int64_t bytes_each);
/* Requests scratch of count * bytes_each for every worker of tn_each, 64-byte aligned; at most once
 * in a check. */
TN_API bool tn_scratch_each(tn_frame *f, int64_t count, int64_t bytes_each);
/* Announces output k as new, its last two dimensions column-major as in LAPACK. */
TN_API bool tn_announce_columns(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size);
/* For run, after tn_scratch_each in check: calls task(f, i, scratch) for i in 0..count-1 on the
 * context's threads, each of which has its own scratch. work is the number of operations of one
 * task; little work stays in this thread. A result must not depend on which thread runs a task. */
TN_API void tn_each(tn_frame *f, int64_t count, int64_t work,
                    void (*task)(tn_frame *f, int64_t i, void *scratch));
/* For verdict: true if all of output k, int32, is 0. Otherwise fails with `why`, in which # becomes
 * the first number that is not 0, and names its place in the batch. */
TN_API bool tn_info_verdict(tn_frame *f, int k, const char *why);
/* Sets the error of this call and returns false; the door adds operator, arguments and line. */
TN_API bool tn_fail(tn_frame *f, tn_code code, const char *format, ...) TNI_PRINTF(3, 4);
/* True if the call was cancelled: a long run polls it once a block of work and returns early.
 * Always false if the call writes existing tensors, because it must then run to its end. */
TN_API bool tn_cancelled(const tn_frame *f);

/* --- the gradient: the call as grad sees it --------------------------------------------------- */

struct tn_gradient {
    tni_block *block;
    const tn_row *row;
    const void *args; /* a copy; tensors that needs does not name have no data */
    tn_tensor **in, **out;
    tn_tensor **incoming; /* the gradient of each output; NULL: zero */
    const bool *want;     /* for each slot whether its gradient is wanted */
    int nin, nout;
    /* private to the engine */
    tn_tensor **give;
    tni_node *node;
};

/* Adds t to the gradient of an input slot, after summing it to the input's shape, taking the real
 * part for a real input, and converting it to the input's dtype. t may be new in the scope or
 * borrowed. NULL passes a pending error on. */
TN_API void tn_give(tn_gradient *g, int slot, tn_tensor *t);
/* incoming[k], or zeros in place of NULL. */
TN_API tn_tensor *tn_incoming(tn_gradient *g, int k);
/* A gradient that is zero by definition, as for round and sign. */
TN_API void tn_grad_zero(tn_gradient *g);
#ifdef TN_IMPORT /* rows are initialised with it, so it must be a function, not a pointer */
#undef tn_grad_zero
static TNI_UNUSED void tn_grad_zero(tn_gradient *g) { tni_at_tn_grad_zero(g); }
#endif

/* --- calling rows ----------------------------------------------------------------------------- */

enum tn_how { TN_PLAIN = 0, TN_IN_PLACE = 1 };
/* The one way into every operator. args is the row's argument struct, results its result struct: a
 * tn_tensor *, several of them, or a tn_list. False with an error, and then results are NULL. */
TN_API bool tn_call(const tn_row *row, unsigned how, const char *file, int line, const void *args,
                    void *results);

/* A tagged value for calls by name: from bindings, files, tests. */
typedef struct tn_value {
    int32_t type;     /* tn_type; 0: None */
    const char *name; /* the parameter's; NULL: by position */
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

/* Calls an operator by name: "max.dim", "max_dim", or the first overload of "max" that the values
 * fit; a trailing '_' means the in-place form, a value named "out" gives outputs. Writes at most
 * `room` results and sets *count. tn_call_row does the same for a row. False with an error, and
 * *count is 0. */
TN_API bool tn_call_named(const char *file, int line, const char *name, const tn_value *values,
                          int nvalues, tn_tensor **results, int room, int *count);
TN_API bool tn_call_row(const char *file, int line, const tn_row *row, unsigned how,
                        const tn_value *values, int nvalues, tn_tensor **results, int room,
                        int *count);

/* Makes a row known by name in the current context and fills its gen; the row must live until
 * tn_unregister or the end of the context. Refuses a name that is taken, a row that another context
 * has, a schema that does not parse, and members that are not as the schema has them. */
TN_API bool tn_register(tn_row *row);
/* Takes the row back, as before its library is unloaded (docs/embedding.md); it may be registered
 * again. Refuses a row that the current context does not have, and one that calls on a tape or in a
 * recording still need: free their results. No other thread may call by name or list rows of the
 * context meanwhile. Works while an error is pending. False with an error. */
TN_API bool tn_unregister(tn_row *row);
TN_API const tn_row *tn_row_named(const char *name); /* NULL if none; a trimmed build: an error */
TN_API int64_t tn_row_count(void);
TN_API const tn_row *tn_row_at(int64_t i);

/* --- record and replay ------------------------------------------------------------------------ */

/* Records the calls of this thread between begin and end. Replay runs them again on the same
 * tensors, whose inputs the user has rewritten, without allocation or lock. If a size that depends
 * on data differs then, it is an error. The caller frees the recording.
 *
 * Of calls on a device replay launches graphs, in the thread's current stream, where the backend
 * has them: the first replay makes one of each run of neighbouring calls for which the host has
 * nothing to do; the others run between them. While recording, tn_item and tn_read_.. refuse
 * tensors of a device with UNSUPPORTED. A first replay may fail with MEMORY, each one with
 * INTERNAL. */
typedef struct tn_recording tn_recording;
TN_API bool tn_record_begin(void);
TN_API tn_recording *tn_record_end(void);
TN_API bool tn_replay(tn_recording *recording);
/* As tn_record_begin, for a graph: calls on devices are recorded and not carried out, so their
 * results hold nothing before the first replay; calls on the CPU are carried out and not recorded.
 * Whatever reads a device or waits for one is refused with UNSUPPORTED: copies to the CPU, reads,
 * tn_device_wait, tn_replay, results whose size depends on data, verdicts. */
TN_API bool tn_capture_begin(void);
TN_API bool tn_is_capturing(void); /* whether this thread is within such a recording */
TN_API void tn_recording_free(tn_recording *recording);

TNI_EXTERN_C_END
#endif
