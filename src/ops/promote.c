/* promote.c - which dtype, shape and strides a pointwise call has. */
#include "dims.h"
#include "drive.h"

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
    tn_dtype tier[3] = {TN_NO_DTYPE, TN_NO_DTYPE, TN_NO_DTYPE};
    for (int i = 0; i < n; i++) {
        if (!t[i]) continue;
        int which = t[i]->flags & TNI_NUMBER ? 2 : t[i]->ndim ? 0 : 1;
        tn_dtype d = (tn_dtype)t[i]->dtype;
        if (which == 2 && d == TN_F64 && !only) d = b->context->default_dtype;
        if (which == 2 && d == TN_C128 && !only) d = tni_complex_of((int)b->context->default_dtype);
        tier[which] = tier[which] ? tn_promote(tier[which], d) : d;
        if (!tier[which]) return TN_NO_DTYPE;
    }
    return promote_tiers(tier[0], promote_tiers(tier[1], tier[2]));
}

TN_PRIV bool tni_no_common_type(tn_frame *f, tn_tensor *const *t, int n) {
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

TN_PRIV bool tni_broadcast_all(tn_frame *f, tni_shape *s, tn_tensor *const *t, int n) {
    bool first = true;
    for (int i = 0; i < n; i++) {
        char a[128], b[128];
        if (!t[i]) continue;
        if (first) {
            s->ndim = t[i]->ndim;
            memcpy(s->size, t[i]->size, (size_t)s->ndim * sizeof *s->size);
            first = false;
        } else if (!tni_broadcast(s, t[i]->ndim, t[i]->size)) {
            const tn_tensor *other = promote_misfit(t, i);
            return tn_fail(f, TN_INVALID, "shapes %s and %s do not broadcast",
                           tni_shape_text(a, sizeof a, other->ndim, other->size),
                           tni_shape_text(b, sizeof b, t[i]->ndim, t[i]->size));
        }
    }
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Number parameters must fit the computed type: no fraction where integers are (unless the row cuts
 * it off), no imaginary part where reals are. */
static TNI_NOINLINE bool promote_numbers(tn_frame *f, tn_dtype common) {
    const tn_gen *gen = f->row->gen;
    const int category = tni_dtype((int)common)->category;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        const char *at = (const char *)f->args + p->offset;
        if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) {
            tn_scalar s;
            memcpy(&s, at, sizeof s);
            if (s.kind < TN_KIND_BOOL || s.kind > TN_KIND_COMPLEX)
                return tn_fail(f, TN_INVALID, "'%s' is no number", p->name);
            if (s.kind == TN_KIND_COMPLEX && category < TNI_CAT_COMPLEX)
                return tn_fail(f, TN_TYPE, "'%s' is complex, the tensors are %s", p->name,
                               tni_dtype((int)common)->text);
            if (s.kind == TN_KIND_FLOAT && category < TNI_CAT_FLOAT &&
                !(f->row->loop & TNI_FORM_CUTS))
                return tn_fail(f, TN_TYPE, "'%s' is a float, the tensors are %s", p->name,
                               tni_dtype((int)common)->text);
        } else if (p->type == TN_T_SCALAR || p->type == TN_T_FLOAT) {
            double v;
            memcpy(&v, at, sizeof v);
            if (f->row->loop & TNI_FORM_CUTS) v = trunc(v);
            if (!tni_double_fits(f, p->name, v, (int)common)) return false;
        }
    }
    return true;
}

/* Whether promote_numbers has something to say: doubles always fit floats. */
static bool promote_has_numbers(const tn_frame *f, tn_dtype common) {
    const tn_gen *gen = f->row->gen;
    if (gen->nparam == gen->nfixed) return false;
    return gen->props & TN_PROP_WORDS || common > TN_C128 || common < TN_F16;
}

/* --- the check -------------------------------------------------------------------------------- */

/* The dtype computed for operands of dtype d, by the row's kinds; TN_NO_DTYPE with an error. A
 * predicate reads a bool as an integer, a row that counts as an int64, other rows of integers
 * refuse it; a row of floats alone makes floats of both, or refuses both. */
static tn_dtype promote_kind(tn_frame *f, tn_dtype d) {
    static const uint8_t bit[] = {TNI_KINDS_B, TNI_KINDS_I, TNI_KINDS_F, TNI_KINDS_C};
    const tni_dtype_info *info = tni_dtype((int)d);
    const uint32_t kinds = f->row->loop;
    if (info->computes && kinds & bit[info->category]) return d;
    if (info->category == TNI_CAT_BOOL && kinds & TNI_FORM_PREDICATE && kinds & TNI_KINDS_I)
        return TN_U8;
    if (info->category == TNI_CAT_BOOL && kinds & TNI_FORM_COUNTS) return TN_I64;
    if (info->computes && info->category < TNI_CAT_FLOAT && !(kinds & TNI_KINDS_I) &&
        kinds & TNI_KINDS_F && !(kinds & TNI_FORM_FLOATS))
        return promote_only_numbers(f->in, f->nin) ? TN_F64 : f->block->context->default_dtype;
    tn_fail(f, TN_TYPE, "is not defined for %s", info->text);
    return TN_NO_DTYPE;
}

TN_PRIV bool tni_pointwise_check_as(tn_frame *f, tn_dtype common) {
    const tn_dtype result = (tn_dtype)tni_pointwise_makes(f->row->loop, (int)common);
    const tn_tensor *shaped[TNI_IN];
    tni_shape s;
    int n = 0;
    if (f->inplace && f->row->loop & TNI_FORM_REAL && result != common)
        return tn_fail(f, TN_TYPE, "of %s is %s, which does not go in its place",
                       tni_dtype((int)common)->text, tni_dtype((int)result)->text);
    if (promote_has_numbers(f, common) && !promote_numbers(f, common)) return false;
    if (!tni_broadcast_all(f, &s, f->in, f->nin)) return false;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && !(f->in[i]->flags & TNI_NUMBER)) shaped[n++] = f->in[i];
    tni_like_strides(&s, shaped, n);
    f->note[0] = common;
    f->note[1] = 0;
    return tn_announce_strided(f, 0, result, s.ndim, s.size, s.stride);
}

/* The kind of the dtypes that loops compute in. */
static const uint8_t promote_natural[TN_DTYPE_COUNT] = {
    0, TNI_KINDS_B, 0, 0, 0, TNI_KINDS_I, TNI_KINDS_I, 0, 0, TNI_KINDS_F, TNI_KINDS_F};

/* Whether t stands beside the row-major `first` without promotion or broadcasting: row-major, too,
 * or one element for all. */
TNI_INLINE bool promote_beside(const tn_tensor *t, const tn_tensor *first) {
    static const uint8_t takes[TN_DTYPE_COUNT] = {
        0, 15, 0, 0, 0, 0, TNI_KINDS_I | TNI_KINDS_F, 0, 0, 0, TNI_KINDS_F};
    if (t->flags & TNI_NUMBER)
        return first->ndim && takes[t->dtype] & promote_natural[first->dtype];
    return t->dtype == first->dtype && tni_same_shape(t, first) &&
           (t->flags & TNI_CONTIGUOUS || tni_is_repeated(t));
}

/* Tensors of one computed dtype and shape, row-major, with numbers no wider: the common case,
 * decided quickly. Returns the dtype, or TN_NO_DTYPE for the long way. */
TNI_INLINE tn_dtype promote_flat(tn_frame *f) {
    const tn_tensor *a = f->in[0], *first = a;
    const int nin = f->nin;
    if (!a || f->row->loop & TNI_FORM_SELECT) return TN_NO_DTYPE;
    if (!tni_is_flat(a)) {
        if (nin < 2 || !tni_is_repeated(a) || !f->in[1] || !tni_is_flat(f->in[1]))
            return TN_NO_DTYPE;
        first = f->in[1];
    }
    if (!(promote_natural[first->dtype] & f->row->loop)) return TN_NO_DTYPE;
    for (int i = first == a; i < nin; i++)
        if (!f->in[i] || (f->in[i] != first && !promote_beside(f->in[i], first)))
            return TN_NO_DTYPE;
    f->note[1] = first == a ? 1 : 2;
    return (tn_dtype)first->dtype;
}

/* Any operands: broadcast, promoted. */
static TNI_NOINLINE bool promote_any(tn_frame *f) {
    const int skip = f->row->loop & TNI_FORM_SELECT ? 1 : 0;
    tn_dtype common;
    if (skip && f->in[0]->dtype != TN_BOOL)
        return tn_fail(f, TN_TYPE, "'%s' is %s, it must be bool",
                       f->row->gen->param[f->row->gen->fixed[0]].name,
                       tni_dtype(f->in[0]->dtype)->text);
    common =
        tni_result_type(f->block, f->in + skip, f->nin - skip, promote_only_numbers(f->in, f->nin));
    if (!common) return tni_no_common_type(f, f->in + skip, f->nin - skip);
    common = promote_kind(f, common);
    return common && tni_pointwise_check_as(f, common);
}

TN_PRIV bool tni_pointwise_check(tn_frame *f) {
    const tn_dtype common = promote_flat(f);
    if (!common) return promote_any(f);
    f->note[0] = common;
    if (TNI_UNLIKELY(promote_has_numbers(f, common)) && !promote_numbers(f, common)) return false;
    return tni_announce_flat(f, f->row->loop & TNI_FORM_PREDICATE ? TN_BOOL : common,
                             f->in[f->note[1] - 1]);
}

/* self, end and weight: of one dtype, but for a weight without dimensions. */
TN_PRIV bool tni_pointwise_between(tn_frame *f) {
    const tn_tensor *self = f->in[0], *end = f->in[1], *weight = f->in[2];
    const bool number = (weight->flags & TNI_NUMBER) != 0;
    const tni_dtype_info *info = tni_dtype(self->dtype);
    if (end->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "expected dtype %s for 'end' but got dtype %s", info->text,
                       tni_dtype(end->dtype)->text);
    if (weight->ndim && weight->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "expected dtype %s for 'weight' but got dtype %s", info->text,
                       tni_dtype(weight->dtype)->text);
    if (info->category < TNI_CAT_FLOAT &&
        (number || tni_dtype(weight->dtype)->category < TNI_CAT_FLOAT))
        return tn_fail(f, TN_TYPE, "is not defined for %s", info->text);
    if (number && tni_is_complex(weight->dtype) && !tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "'weight' is complex, the tensors are %s", info->text);
    return tni_pointwise_check(f);
}

/* A quotient of integers is no element of theirs. */
TN_PRIV bool tni_pointwise_quotient(tn_frame *f) {
    if (tni_dtype(f->in[1]->dtype)->category < TNI_CAT_FLOAT &&
        tni_dtype(f->in[2]->dtype)->category < TNI_CAT_FLOAT)
        return tn_fail(f, TN_TYPE,
                       "Integer division with %s is no longer supported: convert one of them, or "
                       "add value * trunc(tensor1 / tensor2)",
                       f->row->name);
    return tni_pointwise_check(f);
}

/* Limits of a tensor that has no negative elements. */
TN_PRIV bool tni_pointwise_limits(tn_frame *f) {
    double limit[2];
    for (int i = 0; i < 2; i++) {
        const tn_param *p = &f->row->gen->param[i + 1];
        memcpy(&limit[i], (const char *)f->args + p->offset, sizeof limit[i]);
    }
    if (f->in[0]->dtype == TN_U8 && limit[0] <= -1 && limit[1] <= -1)
        return tn_fail(f, TN_INVALID, "cannot do %s on an unsigned type with negative limits",
                       f->row->name);
    return tni_pointwise_check(f);
}

/* Integer division: no divisor may be 0. */
TN_PRIV bool tni_pointwise_look(tn_frame *f) {
    const tn_tensor *t = f->in[1];
    int64_t index[TN_MAX_DIMS] = {0}, bytes = tni_dtype_size(t);
    const char *at = tni_bytes_at(t);
    if (!tni_is_int((int)f->note[0])) return true;
    for (int64_t i = 0; i < t->numel; i++) {
        if (tni_element(at, t->dtype).integer == 0)
            return tn_fail(f, TN_INVALID, "an integer is divided by zero");
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
TN_PRIV bool tni_pointwise_power(tn_frame *f) {
    const tn_tensor *t = f->in[1];
    return !(t->flags & TNI_NUMBER) || !tni_is_int((int)f->note[0]) ||
           tni_element(tni_bytes_at(t), t->dtype).integer >= 0 ||
           tn_fail(f, TN_INVALID, "an integer is raised to a negative power");
}

/* A number as bound of integers, into their range: from the low side where it is a lower one. */
static bool promote_bound(tn_frame *f, bool low) {
    const tni_dtype_info *d = tni_dtype((int)f->note[0]);
    tn_tensor *t = f->in[1];
    int64_t most, least, v;
    if (!(t->flags & TNI_NUMBER) || d->category != TNI_CAT_INT || d->bytes == 8) return true;
    most = ((int64_t)1 << (d->bytes * 8 - d->is_signed)) - 1;
    least = d->is_signed ? -most - 1 : 0;
    v = tni_element(tni_bytes_at(t), t->dtype).integer;
    if (low ? v > most : v < least)
        return tn_fail(f, TN_INVALID, "the bound %lld is outside the range of %s", (long long)v,
                       d->text);
    if (v < least || v > most)
        tni_element_set(tni_bytes_at(t), t->dtype, tn_int(low ? least : most));
    return true;
}
TN_PRIV bool tni_pointwise_bound_low(tn_frame *f) { return promote_bound(f, true); }
TN_PRIV bool tni_pointwise_bound_high(tn_frame *f) { return promote_bound(f, false); }
