/* promote.c - which dtype, shape and strides a pointwise call has. */
#include "drive.h"
#include "../call/arguments.h"

/* --- dtypes ----------------------------------------------------------------------------------- */

/* One tier (dimensions, 0-dim, numbers) over the tiers below it, as torch's combine_categories. */
static tn_dtype promote_tiers(tn_dtype higher, tn_dtype lower) {
    const int h = tni_dtype((int)higher)->category, l = tni_dtype((int)lower)->category;
    if (!higher || !lower) return higher ? higher : lower;
    if (h == TNI_CAT_COMPLEX) return higher;
    if (h == TNI_CAT_FLOAT) return l == TNI_CAT_COMPLEX ? tni_complex_of((int)higher) : higher;
    return h == TNI_CAT_BOOL || l >= TNI_CAT_FLOAT ? tn_promote(higher, lower) : higher;
}

/* Gradients compute with numbers alone: in full precision. */
static bool promote_only_numbers(tn_tensor *const *t, int n) {
    for (int i = 0; i < n; i++)
        if (t[i] && !(t[i]->flags & TNI_NUMBER)) return false;
    return true;
}

TN_PRIV tn_dtype tni_result_type(tni_block *b, tn_tensor *const *t, int n, bool only) {
    /* Tiers: 0 tensors with dimensions, 1 without, 2 numbers. Each promotes by itself first. */
    tn_dtype tier[3] = {TN_NO_DTYPE, TN_NO_DTYPE, TN_NO_DTYPE};
    for (int i = 0; i < n; i++) {
        if (!t[i]) continue;
        int which = t[i]->flags & TNI_NUMBER ? 2 : t[i]->ndim ? 0 : 1;
        tn_dtype d = (tn_dtype)t[i]->dtype;
        /* A number has no dtype of its own: a float among tensors counts as the default dtype. */
        if (which == 2 && d == TN_F64 && !only) d = tni_tensors(b->context)->default_dtype;
        if (which == 2 && d == TN_C128 && !only)
            d = tni_complex_of((int)tni_tensors(b->context)->default_dtype);
        tier[which] = tier[which] ? tn_promote(tier[which], d) : d;
        if (!tier[which]) return TN_NO_DTYPE;
    }
    return promote_tiers(tier[0], promote_tiers(tier[1], tier[2]));
}

TN_PRIV bool tni_no_common_type(tn_frame *f, tn_tensor *const *t, int n) {
    /* a: the first operand's dtype, b: the last one's. */
    const char *a = NULL, *b = NULL;
    for (int i = 0; i < n; i++) {
        if (!t[i]) continue;
        if (a)
            b = tni_dtype(t[i]->dtype)->text;
        else
            a = tni_dtype(t[i]->dtype)->text;
    }
    return tn_fail(f, TN_TYPE, "%s and %s have no common dtype; convert one of them", a, b ? b : a);
}

/* The one before tensor i that does not broadcast with it; there is one. */
static const tn_tensor *promote_misfit(tn_tensor *const *t, int i) {
    for (int k = 0; k < i; k++) {
        tni_shape s;
        if (!t[k]) continue;
        s.ndim = t[k]->ndim;
        memcpy(s.size, t[k]->size, (size_t)s.ndim * sizeof *s.size);
        if (!tni_broadcast(&s, t[i]->ndim, t[i]->size)) return t[k];
    }
    return t[i];
}

/* Fails, for two tensors that do not broadcast. */
static bool promote_unlike(tn_frame *f, const tn_tensor *a, const tn_tensor *b) {
    int i = a->ndim, k = b->ndim;
    while (i-- > 0 && k-- > 0 && (a->size[i] == b->size[k] || a->size[i] == 1 || b->size[k] == 1))
        ;
    return tn_fail(f, TN_INVALID,
                   "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
                   "non-singleton dimension %d",
                   (long long)a->size[i], (long long)b->size[k], i > k ? i : k);
}

TN_PRIV bool tni_broadcast_all(tn_frame *f, tni_shape *s, tn_tensor *const *t, int n) {
    /* The first operand begins the shape; NULLs have no part in it. */
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (!t[i]) continue;
        if (first) {
            s->ndim = t[i]->ndim;
            memcpy(s->size, t[i]->size, (size_t)s->ndim * sizeof *s->size);
            first = false;
        } else if (!tni_broadcast(s, t[i]->ndim, t[i]->size)) {
            return promote_unlike(f, promote_misfit(t, i), t[i]);
        }
    }
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool promote_from_0(tn_frame *f, double v, tn_dtype common) {
    const tni_dtype_info *d = tni_dtype((int)common);
    return (v >= 0 && v <= d->largest) ||
           tn_fail(f, TN_INVALID,
                   "lambda must be in range [0, %g] for input dtype %s, but found %g", d->largest,
                   d->text, v);
}

/* Number parameters must fit the computed type: no fraction where integers are (unless the row cuts
 * it off), no imaginary part where reals are. */
static TNI_NOINLINE bool promote_numbers(tn_frame *f, tn_dtype common) {
    const tn_gen *gen = f->row->gen;
    const int category = tni_dtype((int)common)->category;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        const char *at = (const char *)f->args + p->offset;
        /* A tagged number of the caller; other numbers lie in the arguments as doubles. */
        if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) {
            tn_scalar s;
            memcpy(&s, at, sizeof s);
            if (s.kind < TN_KIND_BOOL || s.kind > TN_KIND_COMPLEX)
                return tn_fail(f, TN_INVALID, "argument '%s': expected a number", p->name);
            if (s.kind == TN_KIND_COMPLEX && category < TNI_CAT_COMPLEX)
                return tn_fail(f, TN_TYPE, "argument '%s' is complex, but the tensors are %s",
                               p->name, tni_dtype((int)common)->text);
            if (s.kind == TN_KIND_FLOAT && category < TNI_CAT_FLOAT &&
                !(f->row->rules & TN_CUTS_NUMBERS))
                return tn_fail(f, TN_TYPE, "argument '%s' is a float, but the tensors are %s",
                               p->name, tni_dtype((int)common)->text);
        } else if (p->type == TN_T_SCALAR || p->type == TN_T_FLOAT) {
            double v;
            memcpy(&v, at, sizeof v);
            if (f->row->rules & TN_NUMBERS_FROM_0 && !promote_from_0(f, v, common)) return false;
            /* A double beside integers must be whole, or is cut by the row itself. */
            if (f->row->rules & TN_CUTS_NUMBERS) v = trunc(v);
            if (!tni_double_fits(f, p->name, v, (int)common)) return false;
        }
    }
    return true;
}

/* Whether promote_numbers has something to say: doubles always fit floats. */
static bool promote_has_numbers(const tn_frame *f, tn_dtype common) {
    const tn_gen *gen = f->row->gen;
    if (gen->nparam == gen->nfixed) return false;
    return gen->props & TN_PROP_WORDS || f->row->rules & TN_NUMBERS_FROM_0 || common > TN_C128 ||
           common < TN_F16;
}

/* --- dtype and shape -------------------------------------------------------------------------- */

/* The dtype computed for operands of dtype d, by the row's kinds; TN_NO_DTYPE with an error. A row
 * that gives bool reads a bool as an integer, TN_COUNTS_BOOL as an int64, other rows of integers
 * refuse it; a row of floats alone makes floats of both, or refuses both (TN_FLOATS_ONLY). */
static tn_dtype promote_kind(tn_frame *f, tn_dtype d) {
#define PROMOTE_KIND(NAME, text, bytes, kind, alias, computes, ...) \
    (computes) * TNI_KINDS_OF_##kind,
    static const uint8_t kind[TN_DTYPE_COUNT] = {0, TN_DTYPES(PROMOTE_KIND)};
#undef PROMOTE_KIND
    /* In this order: computed as it is; bool as an integer; integers as floats; refused. */
    const tni_dtype_info *info = tni_dtype((int)d);
    const uint32_t kinds = f->row->rules;
    if (tni_dtype_left_out((int)d)) {
        tni_dtype_error(f->block, (int)d);
        return TN_NO_DTYPE;
    }
    if (kinds & kind[d]) return d;
    /* A comparison of bools compares bytes. */
    if (info->category == TNI_CAT_BOOL && kinds & TN_GIVES_BOOL && kinds & TNI_KINDS_I)
        return TN_U8;
    if (info->category == TNI_CAT_BOOL && kinds & TN_COUNTS_BOOL) return TN_I64;
    /* So does equality of what is only kept: modulo 2^64 no two of them become one. */
    if (!info->computes && info->category < TNI_CAT_FLOAT && kinds & TN_GIVES_BOOL &&
        kinds & TNI_KINDS_I && kinds & TNI_KINDS_C)
        return TN_I64;
    if (info->category < TNI_CAT_FLOAT && !(kinds & TNI_KINDS_I) && kinds & TNI_KINDS_F &&
        !(kinds & TN_FLOATS_ONLY))
        return promote_only_numbers(f->in, f->nin) ? TN_F64
                                                   : tni_tensors(f->block->context)->default_dtype;
    tn_fail(f, TN_TYPE, "the operator is not defined for %s", info->text);
    return TN_NO_DTYPE;
}

/* Announces the result of operands that are computed in `common`. */
static bool promote_announce(tn_frame *f, tn_dtype common) {
    const tn_dtype result = (tn_dtype)tni_pointwise_makes(f->row->rules, (int)common);
    const tn_tensor *shaped[TNI_IN];
    tni_shape s;
    int n = 0;
    TN_NOTE(tni_pointwise_note, note, f);
    if (f->inplace && f->row->rules & TN_GIVES_REAL && result != common)
        return tn_fail(f, TN_TYPE, "the result for %s is %s and cannot be written in place",
                       tni_dtype((int)common)->text, tni_dtype((int)result)->text);
    /* Numbers must fit, shapes must broadcast. The result lies in memory as the
     * tensors do; numbers do not count. */
    if (promote_has_numbers(f, common) && !promote_numbers(f, common)) return false;
    if (!tni_broadcast_all(f, &s, f->in, f->nin)) return false;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && !(f->in[i]->flags & TNI_NUMBER)) shaped[n++] = f->in[i];
    tni_like_strides(&s, shaped, n);
    note->common = (int32_t)common;
    note->flat = -1;
    return tn_announce_strided(f, 0, result, s.ndim, s.size, s.stride);
}

/* The dtypes that flat calls are computed in as they are: their kind. */
#define PROMOTE_FLAT(NAME, text, bytes, kind, alias, computes, loop, ...) \
    TN_##NAME == TN_##loop &&TNI_KINDS_OF_##kind != TNI_KINDS_C ? TNI_KINDS_OF_##kind : 0,
static const uint8_t promote_flats[TN_DTYPE_COUNT] = {0, TN_DTYPES(PROMOTE_FLAT)};
#undef PROMOTE_FLAT

/* The kinds that a number of a dtype does not change. */
enum {
    PROMOTE_TAKES_b = TNI_KINDS_B | TNI_KINDS_I | TNI_KINDS_F,
    PROMOTE_TAKES_u = TNI_KINDS_I | TNI_KINDS_F,
    PROMOTE_TAKES_i = PROMOTE_TAKES_u,
    PROMOTE_TAKES_f = TNI_KINDS_F,
    PROMOTE_TAKES_c = 0 /* the flat way has no complex tensors */
};
#define PROMOTE_TAKES(NAME, text, bytes, kind, ...) PROMOTE_TAKES_##kind,
static const uint8_t promote_takes[TN_DTYPE_COUNT] = {0, TN_DTYPES(PROMOTE_TAKES)};
#undef PROMOTE_TAKES

/* Whether t stands beside the row-major `first` without promotion or broadcasting: row-major as
 * well, or one element for all. */
TNI_INLINE bool promote_beside(const tn_tensor *t, const tn_tensor *first) {
    if (t->flags & TNI_NUMBER)
        return first->ndim && promote_takes[t->dtype] & promote_flats[first->dtype];
    return t->dtype == first->dtype && tni_same_shape(t, first) &&
           (t->flags & TNI_CONTIGUOUS || tni_is_repeated(t));
}

/* Tensors of one computed dtype and shape, row-major, with numbers no wider: the common case,
 * decided quickly. Returns the dtype, or TN_NO_DTYPE for the long way. */
TNI_INLINE tn_dtype promote_flat(tn_frame *f) {
    const tn_tensor *a = f->in[0], *first = a;
    const int nin = f->nin;
    TN_NOTE(tni_pointwise_note, note, f);
    if (!a || f->row->rules & (TN_TAKES_MASK | TN_ONE_DTYPE)) return TN_NO_DTYPE;
    /* The first operand may be the repeated one: then the second says shape and dtype. */
    if (!tni_is_flat(a)) {
        if (nin < 2 || !tni_is_repeated(a) || !f->in[1] || !tni_is_flat(f->in[1]))
            return TN_NO_DTYPE;
        first = f->in[1];
    }
    if (!(promote_flats[first->dtype] & f->row->rules)) return TN_NO_DTYPE;
    /* All operands but `first`, where that is operand 0. */
    for (int i = first == a; i < nin; i++)
        if (!f->in[i] || (f->in[i] != first && !promote_beside(f->in[i], first)))
            return TN_NO_DTYPE;
    note->flat = first == a ? 0 : 1;
    return (tn_dtype)first->dtype;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* self, end and weight must have one dtype, except a weight without dimensions; beside a tensor as
 * weight a given result, too. */
static bool promote_one_dtype(tn_frame *f) {
    const tn_tensor *self = f->in[0], *end = f->in[1], *weight = f->in[2];
    const bool number = (weight->flags & TNI_NUMBER) != 0;
    const tni_dtype_info *info = tni_dtype(self->dtype);
    if (end->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "expected dtype %s for 'end' but got dtype %s", info->text,
                       tni_dtype(end->dtype)->text);
    if (weight->ndim && weight->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "expected dtype %s for 'weight' but got dtype %s", info->text,
                       tni_dtype(weight->dtype)->text);
    /* Integers are refused unless the weight is a floating tensor. */
    if (info->category < TNI_CAT_FLOAT &&
        (number || tni_dtype(weight->dtype)->category < TNI_CAT_FLOAT))
        return tn_fail(f, TN_TYPE, "the operator is not defined for %s", info->text);
    if (number && tni_is_complex(weight->dtype) && !tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "argument 'weight' is complex, but the tensors are %s",
                       info->text);
    if (!number && f->ngiven && f->given[0]->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "Found dtype %s but expected %s",
                       tni_dtype(f->given[0]->dtype)->text, info->text);
    return true;
}

static bool promote_same_dtypes(tn_frame *f) {
    if (tni_is_complex(f->in[0]->dtype) || tni_is_complex(f->in[1]->dtype))
        return tn_fail(f, TN_UNSUPPORTED, "%s is not yet implemented for complex tensors.",
                       f->row->name);
    return f->in[0]->dtype == f->in[1]->dtype ||
           tn_fail(f, TN_TYPE, "%s is not yet implemented for tensors with different dtypes.",
                   f->row->name);
}

/* A quotient of integers is no element of theirs. */
static bool promote_quotient(tn_frame *f) {
    if (tni_dtype(f->in[1]->dtype)->category < TNI_CAT_FLOAT &&
        tni_dtype(f->in[2]->dtype)->category < TNI_CAT_FLOAT)
        return tn_fail(f, TN_TYPE,
                       "Integer division with %s is no longer supported: convert one of them, or "
                       "add value * trunc(tensor1 / tensor2)",
                       f->row->name);
    return true;
}

/* Limits of a tensor that has no negative elements. */
static bool promote_limits(tn_frame *f) {
    /* The row's two limits are its parameters behind self. */
    double limit[2];
    for (int i = 0; i < 2; i++) {
        const tn_param *p = &f->row->gen->param[i + 1];
        memcpy(&limit[i], (const char *)f->args + p->offset, sizeof limit[i]);
    }
    if (f->in[0]->dtype == TN_U8 && limit[0] <= -1 && limit[1] <= -1)
        return tn_fail(f, TN_INVALID, "cannot do %s on an unsigned type with negative limits",
                       f->row->name);
    return true;
}

static bool promote_mask(tn_frame *f) {
    return f->in[0]->dtype == TN_BOOL ||
           tn_fail(f, TN_TYPE, "argument '%s' is %s, expected bool",
                   tn_gen_tensor(f->row->gen, 0)->name, tni_dtype(f->in[0]->dtype)->text);
}

/* What TNI_RULES_CHECK refuse. Operands that promote_flat takes fit them all. */
static bool promote_rules(tn_frame *f, uint32_t rules) {
    return (!(rules & TN_SAME_DTYPES) || promote_same_dtypes(f)) &&
           (!(rules & TN_ONE_DTYPE) || promote_one_dtype(f)) &&
           (!(rules & TN_NO_INTEGER_QUOTIENT) || promote_quotient(f)) &&
           (!(rules & TN_NO_NEGATIVE_LIMITS) || promote_limits(f));
}

/* --- the check -------------------------------------------------------------------------------- */

/* Any operands: broadcast, promoted. */
static TNI_NOINLINE bool promote_any(tn_frame *f) {
    const uint32_t rules = f->row->rules;
    const int skip = rules & TN_TAKES_MASK ? 1 : 0; /* the mask has no part in the result's type */
    tn_dtype common;
    if (skip ? !promote_mask(f) : rules & TNI_RULES_CHECK && !promote_rules(f, rules)) return false;
    common =
        tni_result_type(f->block, f->in + skip, f->nin - skip, promote_only_numbers(f->in, f->nin));
    if (!common) return tni_no_common_type(f, f->in + skip, f->nin - skip);
    common = promote_kind(f, common);
    return common && promote_announce(f, common);
}

TN_PRIV bool tni_pointwise_check(tn_frame *f) {
    const tn_dtype common = promote_flat(f);
    TN_NOTE(tni_pointwise_note, note, f);
    /* The quick way has left nothing to check but numbers. */
    if (!common) return promote_any(f);
    note->common = (int32_t)common;
    if (TNI_UNLIKELY(promote_has_numbers(f, common)) && !promote_numbers(f, common)) return false;
    return tni_announce_flat(f, f->row->rules & TN_GIVES_BOOL ? TN_BOOL : common,
                             f->in[note->flat]);
}

/* --- the look --------------------------------------------------------------------------------- */

/* Integer division: no divisor may be 0. */
static bool promote_divisor(tn_frame *f) {
    const tn_tensor *t = f->in[1];
    int64_t index[TN_MAX_DIMS], bytes = tni_dtype_size(t);
    const char *at = tni_bytes_at(t);
    /* A walk over t in row-major order: index counts, at follows. */
    for (int d = 0; d < t->ndim; d++) index[d] = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        if (tni_element(at, t->dtype).integer == 0)
            return tn_fail(f, TN_INVALID, "ZeroDivisionError");
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += t->stride[d] * bytes;
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d] * bytes;
            index[d] = 0;
        }
    }
    return true;
}

/* Integer powers: no number as exponent may be negative. */
static bool promote_exponent(tn_frame *f) {
    const tn_tensor *t = f->in[1];
    return !(t->flags & TNI_NUMBER) || tni_element(tni_bytes_at(t), t->dtype).integer >= 0 ||
           tn_fail(f, TN_INVALID, "Integers to negative integer powers are not allowed.");
}

/* A number as bound of integers, into their range: from the low side where it is a lower one. */
static bool promote_bound(tn_frame *f, const tni_dtype_info *d, bool low) {
    tn_tensor *t = f->in[1];
    int64_t most, least, v;
    if (!(t->flags & TNI_NUMBER) || d->bytes == 8) return true;
    /* The range of the dtype. 64 bits hold every bound. */
    most = ((int64_t)1 << (d->bytes * 8 - d->is_signed)) - 1;
    least = d->is_signed ? -most - 1 : 0;
    v = tni_element(tni_bytes_at(t), t->dtype).integer;
    /* A lower bound above the range, or an upper one below it, would leave no result. */
    if (low ? v > most : v < least)
        return tn_fail(f, TN_INVALID, "the bound %lld is outside the range of %s", (long long)v,
                       d->text);
    if (v < least || v > most)
        tni_element_set(tni_bytes_at(t), t->dtype, tn_int(low ? least : most));
    return true;
}

TN_PRIV bool tni_pointwise_look(tn_frame *f) {
    TN_NOTE(tni_pointwise_note, note, f);
    const tni_dtype_info *common = tni_dtype(note->common);
    /* Only integers have results that depend on values in this way. */
    const uint32_t rules = f->row->rules;
    if (common->category != TNI_CAT_INT) return true;
    return (!(rules & TN_NO_ZERO_DIVISOR) || promote_divisor(f)) &&
           (!(rules & TN_NO_NEGATIVE_POWER) || promote_exponent(f)) &&
           (!(rules & TN_LOWER_BOUND) || promote_bound(f, common, true)) &&
           (!(rules & TN_UPPER_BOUND) || promote_bound(f, common, false));
}
