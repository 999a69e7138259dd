/* schema.h - reads an operator's schema in torch's notation,
 *
 *     max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 *
 * and derives what a call needs from it: parameters with defaults, the layout of the argument
 * struct, the masks of `.needs`. tools/optable and tn_register share it. No allocation, no tensor;
 * libc only.
 *
 * Types: Tensor Tensor? Tensor(a!) Tensor(a!)? Tensor|Scalar Tensor[] Tensor?[] Tensor(a!)[] int
 * int? int[] int[2] float float? float[] bool Scalar Scalar? ScalarType Device Generator str Module
 * Module[] and the enums of tni_enums; a tuple `(Tensor h, Tensor c)? hx=None` is flat: its members
 * remember the group.
 *
 * Layout of the argument struct, in natural alignment: out (one pointer a result), options in
 * schema order, required parameters, numbers standing for operands (last, so that a stray argument
 * of a keyword macro never lands in a member that takes it silently). Without required parameters
 * a dummy int comes last. */
#ifndef TNI_CALL_SCHEMA_H
#define TNI_CALL_SCHEMA_H

#include "../api/row.h"

enum { TNI_PARAMS = 40, TNI_SCHEMA_RESULTS = 8, TNI_LIST_DEFAULT = 8, TNI_FIXED = 8 };

/* A stretch of somebody else's text. */
typedef struct tni_word {
    const char *at;
    int n;
} tni_word;

/* Words are numbered from 1; an optional enum that is absent is 0. */
typedef struct tni_enum {
    const char *name;
    const char *const *words; /* NULL-terminated */
} tni_enum;
TN_PRIV const tni_enum *tni_enums(void); /* ends with a NULL name */

/* A decoded default. */
typedef struct tni_default {
    bool none;
    double real;
    int64_t integer; /* also of a bool, the number of an enum's word, a dtype */
    int n;           /* of a list */
    int64_t ints[TNI_LIST_DEFAULT];
    double floats[TNI_LIST_DEFAULT];
    tni_word string;
} tni_default;

typedef struct tni_schema_param {
    tni_word name, group; /* group: name of the tuple, n = 0: none */
    uint8_t type, flags;  /* tn_type, tn_param_flags */
    int16_t count;
    const tni_enum *words;
    tni_default value; /* with TN_P_DEFAULT */
    size_t offset, number_offset;
} tni_schema_param;

typedef struct tni_schema {
    tni_word name; /* "max.dim" */
    int base;      /* length of "max" */
    int nparam, nresults;
    bool returns_list, returns_truth, has_results; /* has_results: there is an arrow */
    tni_schema_param param[TNI_PARAMS];
    tni_word result[TNI_SCHEMA_RESULTS], result_group[TNI_SCHEMA_RESULTS];
    size_t out_offset, args_size; /* out_offset: SIZE_MAX without TN_OUT */
} tni_schema;

/* The name may be missing: "(Tensor input) -> Tensor". false: error holds "column 9: unknown type
 * 'Tensr'". text must outlive s. */
TN_PRIV bool tni_schema_parse(tni_schema *s, const char *text, char *error, size_t room);
/* Sets offsets and args_size. */
TN_PRIV void tni_schema_layout(tni_schema *s, uint32_t forms);
/* The members of the argument struct behind `out`, 2 * TNI_PARAMS at most: parameter index, or
 * TNI_PARAMS + index for its number. */
TN_PRIV int tni_schema_order(const tni_schema *s, int *order);
TN_PRIV bool tni_schema_has_required(const tni_schema *s);
TN_PRIV uint32_t tni_schema_props(const tni_schema *s);
/* Gradient slots: the single tensors in schema order (*nfixed of them), then one for the members of
 * each tensor list. slot[i] is the parameter; room for TNI_PARAMS. */
TN_PRIV int tni_schema_slots(const tni_schema *s, int *slot, int *nfixed);
/* Splits at spaces and commas; -1: more than max. */
TN_PRIV int tni_words(const char *text, tni_word *words, int max);
TN_PRIV bool tni_word_is(tni_word w, const char *text);
/* One mask a slot: bit i slot i, bit 32 + k output k, saves behind the results. */
TN_PRIV bool tni_schema_needs(const tni_schema *s, const char *saves, const char *needs,
                              uint64_t *masks, char *error, size_t room);
/* What the frame and the forms can hold; layout first. */
TN_PRIV bool tni_schema_limits(const tni_schema *s, uint32_t forms, char *error, size_t room);
/* The complete tables of a row in one block of `*bytes` from get (NULL: no memory, error
 * says so). */
typedef void *(*tni_schema_get)(void *user, size_t bytes);
TN_PRIV bool tni_schema_gen(const tn_row *row, tni_schema_get get, void *user, tn_gen **gen,
                            size_t *bytes, char *error, size_t room);

#endif
