/* types.h - what the library does with a parameter's value, one entry a way of TN_TYPES. */
#ifndef TNI_CALL_TYPES_H
#define TNI_CALL_TYPES_H

#include "call.h"
#include "schema.h"

/* Text that is cut where the room ends; n counts on, as snprintf does. */
typedef struct tni_said {
    char *at;
    size_t room, n;
    bool repr; /* as Python writes it: 0.1, torch.float32, 'text'; else as in messages */
} tni_said;
TN_PRIV void tni_say(tni_said *o, const char *format, ...) TNI_PRINTF(2, 3);

/* Tagged values on their way into an argument struct. */
enum { TNI_TAKEN_LISTS = 16 };
typedef struct tni_taken {
    char *args;   /* the struct being filled */
    int64_t *one; /* storage of lists made from one number; NULL: a number is no list */
    int nones;
    char reason[160]; /* why it was refused */
} tni_taken;

enum { TNI_WHY = 200 };
typedef struct tni_type {
    /* Whether the value at `at` is one; else why gets what is wrong: "argument 'x' is NULL". */
    bool (*check)(const tn_param *p, const void *at, char *why);
    void (*text)(tni_said *o, const tn_param *p, const void *at);
    bool (*same)(const tn_param *p, const void *a, const void *b);
    bool (*take)(tni_taken *c, const tn_param *p, const tn_value *v);
    /* A schema's default to `at`; what it points at is copied to `behind`. NULL: NULL, 0. */
    void (*store)(const tni_default *v, void *at, void *behind);
    /* Numbers, truths and codes as a number; None has TN_KIND_NONE. NULL: it is none of these. */
    void (*number)(const void *at, tn_scalar *to);
    bool (*set)(const tn_param *p, void *at, tn_scalar value); /* false: no such value */
} tni_type;
/* By tn_type_kept. */
TN_PRIV_DECLARE(tni_type, tni_types[TN_TYPE_COUNT]);
TNI_INLINE const tni_type *tni_type_of(const tn_param *p) {
    return &tni_types[tn_type_kept(p->type, p->flags)];
}

/* What lies in the struct, by rules that the door asks of every call. */

/* Whether a list of numbers is given, or absent by name where the schema allows it; all zero bytes
 * are neither. */
TNI_INLINE bool tni_list_is_said(const tn_param *p, const void *at) {
    tn_ints l;
    memcpy(&l, at, sizeof l);
    return l.n >= 0 ? l.at != NULL : l.n == -1 && p->flags & TN_P_OPTIONAL;
}
TNI_INLINE bool tni_maybe_is_said(const void *at) {
    tn_maybe m;
    memcpy(&m, at, sizeof m);
    return m.given == TN_GIVEN || m.given == TN_ABSENT;
}
TNI_INLINE bool tni_number_is_said(const tn_param *p, const void *at) {
    int32_t kind; /* which comes first */
    memcpy(&kind, at, sizeof kind);
    return kind > (p->flags & TN_P_OPTIONAL ? 0 : TN_KIND_NONE) && kind <= TN_KIND_COMPLEX;
}
TNI_INLINE bool tni_code_is_said(const tn_param *p, const void *at) {
    int32_t code, last = INT32_MAX;
    memcpy(&code, at, sizeof code);
    if (p->type == TN_T_DTYPE) last = TN_DTYPE_COUNT - 1;
    if (p->words)
        for (last = 0; p->words[last];) last++;
    return (code > 0 || (p->flags & TN_P_OPTIONAL && code == 0)) && code <= last;
}

#endif
