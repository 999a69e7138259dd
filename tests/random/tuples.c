/* tuples.c - see tuples.h. */
#include "tuples.h"

#include <math.h>

static uint64_t state;
void tuple_seed(uint64_t seed) { state = seed; }
int64_t tuple_below(int64_t n) {
    uint64_t x = state;
    state += 0x9e3779b97f4a7c15u;
    return (int64_t)(sample_hash(x) % (uint64_t)n);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* A size, a number of dimensions or of elements that the call has. */
static int64_t some_n(const sample *s) {
    const tn_tensor *t = s->ntensors ? s->tensor[tuple_below(s->ntensors)] : NULL;
    if (!t) return s->nints ? s->ints[tuple_below(s->nints)] : 3;
    switch (tuple_below(4)) {
    case 0: return t->ndim;
    case 1: return t->numel;
    default: return t->ndim ? t->size[tuple_below(t->ndim)] : 1;
    }
}

int64_t tuple_int(const sample *s) {
    const int64_t n = some_n(s);
    switch (tuple_below(9)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return -1;
    case 3: return n > INT64_MIN ? n - 1 : n;
    case 4: return n;
    case 5: return INT64_C(1) << 31;
    case 6: return (INT64_C(1) << 32) + 1;
    case 7: return INT64_MIN;
    default: return INT64_MAX;
    }
}

double tuple_float(void) {
    static const double values[] = {0,        -0.0,      1,   -1, 1e300, -1e300, 1e-320,
                                    HUGE_VAL, -HUGE_VAL, NAN, 0.5};
    return tuple_below(4) ? values[tuple_below(11)] : (double)tuple_below(100) / 50;
}

static tn_scalar some_scalar(const sample *s) {
    switch (tuple_below(5)) {
    case 0:
    case 1: return tn_float(tuple_float());
    case 2: return tuple_below(3) ? tn_bool(tuple_below(2) != 0) : tn_complex(tuple_float(), 1);
    default: return tn_int(tuple_int(s));
    }
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* Of these sizes; without data where there are more than 2^20 elements. */
static tn_tensor *made(int dtype, int ndim, const int64_t *size, bool *meta) {
    int64_t n = 1;
    bool large = !tni_numel_of(ndim, size, &n) || n > 1 << 20;
    tn_tensor *t = tnp_empty(tn_ints_of(size, ndim), (tn_dtype)dtype, large ? TN_META : TN_CPU);
    if (t && large) *meta = true;
    for (int64_t i = 0; t && !large && i < n; i++)
        tni_element_set((char *)tn_data(t) + i * tni_dtype_size(t), dtype,
                        tn_int(tuple_below(4)));
    return t;
}

/* Another shape: one size drawn, a dimension more or less, or all sizes. */
static tn_tensor *reshaped(const sample *s, const tn_tensor *old, bool *meta) {
    int64_t size[TN_MAX_DIMS];
    int n = old ? old->ndim : (int)tuple_below(4);
    for (int d = 0; d < n; d++) size[d] = old ? old->size[d] : 1 + tuple_below(4);
    switch (tuple_below(6)) {
    case 0:
        if (n < TN_MAX_DIMS) size[n++] = 1 + tuple_below(3);
        break;
    case 1: n = n ? n - 1 : 0; break;
    case 2:
        for (int d = 0; d < n; d++) size[d] = tuple_int(s);
        break;
    default:
        if (n) size[tuple_below(n)] = tuple_below(3) ? 1 + tuple_below(6) : tuple_int(s);
    }
    return made(old ? old->dtype : TN_F32, n, size, meta);
}

static tn_tensor *contents(const sample *s, const tn_tensor *old) {
    bool meta = false;
    int64_t size[TN_MAX_DIMS];
    tn_tensor *t;
    for (int d = 0; d < old->ndim; d++) size[d] = old->size[d];
    t = made(old->dtype, old->ndim, size, &meta);
    for (int64_t i = 0; t && !meta && i < t->numel; i++) {
        const bool whole = tni_dtype(t->dtype)->category <= TNI_CAT_INT;
        if (tuple_below(3))
            tni_element_set((char *)tn_data(t) + i * tni_dtype_size(t), t->dtype,
                            whole ? tn_int(tuple_int(s)) : tn_float(tuple_float()));
    }
    return t;
}

/* Views with drawn strides, offsets, bounds and steps. */
static tn_tensor *viewed(const sample *s, tn_tensor *old) {
    int64_t stride[TN_MAX_DIMS], wide[TN_MAX_DIMS] = {3};
    const int n = old->ndim;
    switch (tuple_below(5)) {
    case 0:
        for (int d = 0; d < n; d++) stride[d] = tuple_below(2) ? old->stride[d] : tuple_int(s);
        return tnp_as_strided(old, tni_sizes(old), tn_ints_of(stride, n),
                              tuple_below(2) ? TN_NONE : tuple_int(s), tn_no_dims(), 0);
    case 1: return tnp_slice(old, tuple_int(s), tuple_int(s), tuple_int(s), tuple_int(s));
    case 2: return n > 1 ? tnp_transpose(old, 0, n - 1) : NULL;
    case 3: return n ? tnp_slice(old, n - 1, tuple_below(2), TN_NONE, 1 + tuple_below(3)) : NULL;
    default:
        if (n == TN_MAX_DIMS) return NULL;
        for (int d = 0; d < n; d++) wide[d + 1] = old->size[d];
        return tnp_expand(old, tn_ints_of(wide, n + 1), false);
    }
}

/* The same sizes and elements, strides of another order: what the shapes that fit are made of. */
static tn_tensor *relaid(tn_tensor *old) {
    int64_t order[TN_MAX_DIMS], back[TN_MAX_DIMS];
    const int n = old->ndim;
    for (int d = 0; d < n; d++) order[d] = n - 1 - d, back[d] = n - 1 - d;
    tn_tensor *t = tnp_permute(old, tn_ints_of(order, n));
    t = t ? tnp_clone(t, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT) : NULL;
    return t ? tnp_permute(t, tn_ints_of(back, n)) : NULL;
}

static tn_tensor *once(const sample *s, tn_tensor *old, bool *meta) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_I64, TN_I32, TN_BOOL, TN_U8,    TN_F16,
                                      TN_I8,  TN_I16, TN_C64, TN_BF16, TN_C128, TN_U64, TN_F8E4M3};
    tn_tensor *t;
    if (!old) return reshaped(s, NULL, meta);
    switch (tuple_below(old->flags & TNI_META ? 4 : 10)) {
    case 0:
    case 1: t = reshaped(s, old, meta); break;
    case 2: t = s->ntensors ? s->tensor[tuple_below(s->ntensors)] : NULL; break;
    case 3: t = tnp_to_dtype(old, dtypes[tuple_below(14)], false, false); break;
    case 4:
    case 5: t = viewed(s, old); break;
    case 6: t = relaid(old); break;
    default: t = contents(s, old);
    }
    tn_error_take(NULL);
    if (t && t->flags & TNI_META) *meta = true;
    return t ? t : old;
}

tn_tensor *tuple_tensor(const sample *s, tn_tensor *old, bool *meta) {
    for (int64_t times = 1 + tuple_below(3); times > 0; times--) old = once(s, old, meta);
    return old;
}

/* --- one argument ----------------------------------------------------------------------------- */

static void spoil_ints(tuple *t, const sample *s, tn_value *v) {
    int64_t *at = t->ints + t->nints, n = 0;
    const bool had = v->type == TN_T_INTS && v->as.ints.n > 0;
    if (t->nints + TN_MAX_DIMS + 2 > TUPLE_INTS) return;
    for (int64_t i = 0; had && i < v->as.ints.n && n < TN_MAX_DIMS; i++) at[n++] = v->as.ints.at[i];
    switch (tuple_below(8)) {
    case 0: n = tuple_below(3) ? tuple_below(4) : TN_MAX_DIMS + 1; /* fall through */
    case 1:
        for (int64_t i = 0; i < n; i++) at[i] = tuple_int(s);
        break;
    case 2:
        if (s->ntensors && s->tensor[0]) /* a shape that there is */
            for (n = 0; n < s->tensor[0]->ndim; n++) at[n] = s->tensor[0]->size[n];
        break;
    default:
        if (!n) n = 1 + tuple_below(2), at[0] = at[1] = 1;
        at[tuple_below(n)] = tuple_int(s);
    }
    v->type = TN_T_INTS;
    v->as.ints = tn_ints_of(at, n);
    t->nints += (int)n;
}

static void spoil_floats(tuple *t, tn_value *v, int64_t n) {
    double *at = t->floats + t->nfloats;
    if (n > 4) n = 4;
    if (t->nfloats + 4 > 128) return;
    for (int64_t i = 0; i < n; i++) at[i] = tuple_float();
    v->type = TN_T_FLOATS;
    v->as.floats.at = at;
    v->as.floats.n = n;
    t->nfloats += 4;
}

static void spoil_list(tuple *t, sample *s, tn_value *v, const tn_param *p) {
    tn_tensor **at = t->members + t->nmembers;
    int64_t n = v->type == TN_T_TENSORS && v->as.tensors.n > 0 ? v->as.tensors.n : 0;
    if (n > 8) n = 8;
    if (t->nmembers + 12 > TUPLE_MEMBERS) return;
    for (int64_t i = 0; i < n; i++) at[i] = v->as.tensors.at[i];
    if (tuple_below(4) == 0) n = tuple_below(4);
    for (int64_t i = 0; i < n; i++)
        if (!at[i] || tuple_below(2))
            at[i] = p->flags & TN_P_HOLES && tuple_below(3) == 0 ? NULL
                    : tuple_below(12) ? tuple_tensor(s, at[i], &t->meta)
                                      : NULL;
    v->type = TN_T_TENSORS;
    v->as.tensors = tn_tensors_of(at, n);
    t->nmembers += 12;
}

static void spoil(tuple *t, sample *s, tn_value *v, const tn_param *p) {
    switch (p->type) {
    case TN_T_TENSOR:
        if (p->flags & TN_P_NUMBER && tuple_below(4) == 0)
            v->type = TN_T_SCALAR, v->as.scalar = some_scalar(s);
        else if (tuple_below(12) == 0)
            v->type = 0;
        else
            v->as.tensor =
                tuple_tensor(s, v->type == TN_T_TENSOR ? v->as.tensor : NULL, &t->meta),
            v->type = TN_T_TENSOR;
        break;
    case TN_T_TENSORS: spoil_list(t, s, v, p); break;
    case TN_T_INT: v->type = TN_T_INT, v->as.integer = tuple_int(s); break;
    case TN_T_FLOAT: v->type = TN_T_FLOAT, v->as.real = tuple_float(); break;
    case TN_T_BOOL: v->type = TN_T_BOOL, v->as.boolean = tuple_below(2) != 0; break;
    case TN_T_SCALAR: v->type = TN_T_SCALAR, v->as.scalar = some_scalar(s); break;
    case TN_T_INTS: spoil_ints(t, s, v); break;
    case TN_T_FLOATS: spoil_floats(t, v, p->count > 0 && tuple_below(4) ? p->count : 3); break;
    case TN_T_DTYPE: v->type = TN_T_DTYPE, v->as.dtype = (tn_dtype)tuple_below(20); break;
    case TN_T_DEVICE: v->type = TN_T_DEVICE, v->as.device = (tn_device_id)tuple_below(4); break;
    case TN_T_ENUM:
        v->type = TN_T_INT;
        v->as.integer = tuple_below(3) ? 1 + tuple_below(3) : tuple_int(s);
        break;
    case TN_T_STRING: v->type = TN_T_STRING, v->as.string = tuple_below(2) ? "xy" : "ij"; break;
    default: return;
    }
    t->spoilt++;
}

/* --- a tuple ---------------------------------------------------------------------------------- */

static tn_value *value_of(sample *s, const tn_gen *gen, int p) {
    for (int v = 0; v < s->nvalues; v++)
        if (s->value[v].name ? strcmp(s->value[v].name, gen->param[p].name) == 0 : v == p)
            return &s->value[v];
    return NULL;
}

static bool can_draw(const tn_param *p) {
    return p->type != TN_T_GENERATOR && p->type != TN_T_MODULE && p->type != TN_T_MODULES;
}

void tuple_spoil(tuple *t, sample *s, const tn_gen *gen) {
    const int64_t kind = tuple_below(10); /* 0: as it is; 9: everything; else one or two */
    const int given = s->nvalues;
    memset(t, 0, sizeof *t);
    for (int p = 0; p < gen->nparam && s->nvalues < SAMPLE_VALUES - 2; p++) {
        const tn_param *q = &gen->param[p];
        tn_value *v = value_of(s, gen, p);
        bool chosen = v ? kind == 9 || (kind && tuple_below(given + 1) == 0)
                        : !(q->flags & TN_P_DEFAULT) || tuple_below(4) == 0;
        if (!can_draw(q) || !chosen) continue;
        if (!v) {
            v = &s->value[s->nvalues++];
            memset(v, 0, sizeof *v);
            v->name = q->name;
        }
        spoil(t, s, v, q);
    }
    if (kind > 2 && t->spoilt == 0 && given) { /* one at least */
        const int p = (int)tuple_below(given);
        for (int k = 0; k < gen->nparam; k++)
            if (value_of(s, gen, k) == &s->value[p] && can_draw(&gen->param[k]))
                spoil(t, s, &s->value[p], &gen->param[k]);
    }
}

/* --- all tensors of a call -------------------------------------------------------------------- */

static void each_tensor(sample *s, tn_tensor *(*f)(tn_tensor *t)) {
    for (int v = 0; v < s->nvalues; v++) {
        tn_value *value = &s->value[v];
        if (value->type == TN_T_TENSOR && value->as.tensor) value->as.tensor = f(value->as.tensor);
        if (value->type != TN_T_TENSORS) continue;
        for (int64_t i = 0; i < value->as.tensors.n; i++) {
            tn_tensor **at = (tn_tensor **)(uintptr_t)&value->as.tensors.at[i];
            if (*at) *at = f(*at);
        }
    }
}

static tn_tensor *one_to_meta(tn_tensor *t) {
    tn_tensor *meta;
    if (t->flags & TNI_META) return t;
    meta = tnp_empty(tni_sizes(t), (tn_dtype)t->dtype, TN_META);
    tn_error_take(NULL);
    return meta ? meta : t;
}
bool tuple_to_meta(sample *s) {
    each_tensor(s, one_to_meta);
    return s->ntensors > 0;
}

static tn_tensor *one_leaf(tn_tensor *t) {
    tn_tensor *leaf;
    if (tni_dtype(t->dtype)->category < TNI_CAT_FLOAT || tuple_below(5) == 0) return t;
    leaf = tnp_detach(t);
    leaf = leaf ? tn_requires_grad(leaf) : NULL;
    tn_error_take(NULL);
    return leaf ? leaf : t;
}
void tuple_leaves(sample *s) {
    if (tuple_below(3)) each_tensor(s, one_leaf);
}

/* --- telling tuples apart --------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, int64_t v) { return sample_hash(h ^ (uint64_t)v) + h; }

static uint64_t hash_tensor(uint64_t h, const tn_tensor *t) {
    if (!t) return mix(h, -7);
    h = mix(mix(mix(h, t->dtype), t->ndim), t->offset);
    for (int d = 0; d < t->ndim; d++) h = mix(mix(h, t->size[d]), t->stride[d]);
    if (t->flags & TNI_META) return mix(h, -3);
    if (t->flags & TNI_CONTIGUOUS)
        for (int64_t i = 0; i < t->numel && i < 64; i++) {
            tn_scalar v = tni_element(tni_bytes_at(t) + i * tni_dtype_size(t), t->dtype);
            h = mix(h, v.kind >= TN_KIND_FLOAT ? (int64_t)(!(v.real == v.real) * 2 + (v.real > 9))
                                               : v.integer);
        }
    return h;
}

uint64_t tuple_hash(const sample *s) {
    uint64_t h = (uint64_t)s->nvalues;
    for (int v = 0; v < s->nvalues; v++) {
        const tn_value *value = &s->value[v];
        int64_t bits = 0;
        h = mix(h, value->type);
        for (const char *at = value->name; at && *at; at++) h = mix(h, *at);
        switch (value->type) {
        case TN_T_TENSOR: h = hash_tensor(h, value->as.tensor); break;
        case TN_T_TENSORS:
            for (int64_t i = 0; i < value->as.tensors.n; i++)
                h = hash_tensor(h, value->as.tensors.at[i]);
            break;
        case TN_T_INTS:
            for (int64_t i = 0; i < value->as.ints.n; i++) h = mix(h, value->as.ints.at[i]);
            break;
        case TN_T_SCALAR:
            memcpy(&bits, &value->as.scalar.real, 8);
            h = mix(mix(h, bits), value->as.scalar.kind);
            h = mix(h, value->as.scalar.kind == TN_KIND_INT ? value->as.scalar.integer : 0);
            break;
        case TN_T_FLOATS:
            for (int64_t i = 0; i < value->as.floats.n; i++)
                memcpy(&bits, &value->as.floats.at[i], 8), h = mix(h, bits);
            break;
        case TN_T_STRING: h = mix(h, value->as.string[0]); break;
        case TN_T_BOOL: h = mix(h, value->as.boolean); break;
        case 0: break;
        default: h = mix(h, value->as.integer);
        }
    }
    return h;
}
