/* walk.c - every row through everything its form promises, from its own samples: no row is named
 * here.
 *
 *     walk [lane ...] [rows.h]      lanes: forms writes missing meta replay grad layout
 *
 * forms   by name, in place, out=: the same bits as the plain call
 * missing a tensor that is NULL is refused with its name, in a list with its position
 * writes  a call changes what its schema says, counting up its version, and nothing else
 * meta    shapes, dtypes and strides without data
 * replay  recorded and run again: the same bits
 * layout  inputs in four other layouts: the same bits, where nothing is summed
 * grad    gradcheck and gradgradcheck in f64 and c128, in all layouts */
#include "../../src/call/rowform.h"
#include "../../src/api/ops.h"
#include "../rows.h"
#include "sample.h"

#include "elements.h"

#include <stdio.h>

enum { OUTS = 40 };

static int passed, failed;

static bool report(bool ok, const sample *s, const char *lane, const char *what) {
    tn_error_info e;
    if (ok) {
        passed++;
        return true;
    }
    failed++;
    fflush(stdout);
    printf("FAILED %s %s [%s] %s: %s\n", lane, s->row->name, s->text, tn_dtype_name(s->dtype),
           what);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
    return false;
}

static const char *no_error(void) {
    static char text[400];
    tn_error_info e;
    text[0] = 0;
    if (tn_error_take(&e)) snprintf(text, sizeof text, "%s", e.message);
    return text;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool same_element(const char *a, const char *b, int dtype) {
    tn_scalar x, y;
    if (memcmp(a, b, tni_dtype(dtype)->bytes) == 0) return true;
    x = tni_element(a, dtype);
    y = tni_element(b, dtype);
    return x.kind >= TN_KIND_FLOAT && x.real != x.real && y.real != y.real;
}

static bool same_bits(tn_tensor *a, tn_tensor *b) {
    int64_t index[TN_MAX_DIMS] = {0}, at = 0, bt = 0;
    if (!a || !b) return a == b;
    if (a->dtype != b->dtype || !tni_same_shape(a, b)) return false;
    for (int64_t i = 0; i < a->numel; i++) {
        int64_t each = tni_dtype_size(a);
        if (!same_element(tni_bytes_at(a) + at * each, tni_bytes_at(b) + bt * each, a->dtype))
            return false;
        for (int d = a->ndim - 1; d >= 0; d--) {
            at += a->stride[d];
            bt += b->stride[d];
            if (++index[d] < a->size[d]) break;
            at -= a->stride[d] * a->size[d];
            bt -= b->stride[d] * b->size[d];
            index[d] = 0;
        }
    }
    return true;
}

/* The order in which a reduction or a product adds follows the memory's: equal within 16 units at
 * the largest value. */
static bool same_sums(tn_tensor *a, tn_tensor *b) {
    tn_tensor *x, *y;
    double most = 0, unit = 16 * 0x1p-23;
    if (same_bits(a, b)) return true;
    if (!a || !b || a->dtype != b->dtype || !tni_same_shape(a, b) || a->dtype != TN_F32)
        return false;
    x = tnp_contiguous(a);
    y = tnp_contiguous(b);
    if (!x || !y) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double v = fabs((double)((float *)(void *)tni_bytes_at(x))[i]);
        if (v < 1e30 && v > most) most = v;
    }
    for (int64_t i = 0; i < x->numel; i++) {
        double v = (double)((float *)(void *)tni_bytes_at(x))[i],
               w = (double)((float *)(void *)tni_bytes_at(y))[i];
        if (v != w && !(v != v && w != w) && !(fabs(v - w) <= unit * most)) return false;
    }
    return true;
}

/* A row that only writes in place, "fill_.Scalar": a leaf cannot be given to it. */
static bool only_inplace(const tn_row *row) {
    size_t base = strcspn(row->schema, ".(");
    return base && row->schema[base - 1] == '_';
}

/* A call with a fixed seed. */
static bool seeded_call(sample *s, unsigned how, tn_tensor **out, int *n) {
    tn_manual_seed(7);
    return sample_call(s, how, out, OUTS, n);
}

/* --- lanes ------------------------------------------------------------------------------------ */

static bool has_mutated(const tn_row *row) { return (row->gen->props & TN_PROP_MUTATED) != 0; }

static void lane_out(const tn_row *row, int i, tn_dtype dtype, tn_tensor **want, int n) {
    sample s;
    tn_tensor *given[8], *out[OUTS];
    int64_t version[8];
    int got;
    bool ok;
    if (!(row->forms & TN_OUT) || n > 8 || !sample_make(&s, row, i, dtype, false)) return;
    for (int k = 0; k < n; k++)
        given[k] = tni_new(tni_here(), want[k]->dtype, want[k]->ndim, want[k]->size),
        version[k] = tn_version(given[k]);
    if (s.nvalues == SAMPLE_VALUES) return;
    memset(&s.value[s.nvalues], 0, sizeof s.value[0]);
    s.value[s.nvalues].name = "out";
    s.value[s.nvalues].type = TN_T_TENSORS;
    s.value[s.nvalues].as.tensors = tn_tensors_of(given, n);
    if (n == 1) s.value[s.nvalues].type = TN_T_TENSOR, s.value[s.nvalues].as.tensor = given[0];
    s.nvalues++;
    ok = seeded_call(&s, TN_PLAIN, out, &got);
    if (!ok && strstr(no_error(), "depends on data")) return;
    for (int k = 0; ok && k < n; k++) ok = out[k] == given[k] && same_bits(want[k], given[k]);
    report(ok, &s, "out=", "differs from the plain call");
    for (int k = 0; ok && k < n; k++) ok = tn_version(given[k]) != version[k];
    for (int t = 0; ok && t < s.ntensors; t++)
        ok = sample_is_written(&s, t) || tn_version(s.tensor[t]) == 0;
    report(ok, &s, "out=", "a version is not counted, or one of a tensor that is only read");
}

static void lane_inplace(const tn_row *row, int i, tn_dtype dtype, tn_tensor *want) {
    sample s;
    tn_tensor *out[OUTS], *self;
    int n;
    bool ok;
    if (!(row->forms & TN_INPLACE) || !sample_make(&s, row, i, dtype, false) ||
        s.value[0].type != TN_T_TENSOR)
        return;
    self = s.value[0].as.tensor;
    if (!tni_can_cast(want->dtype, self->dtype) || !tni_same_shape(self, want) ||
        (want->dtype != self->dtype &&
         (row->rules & TN_GIVES_REAL || strstr(s.text, "dtype=")))) { /* asked for in words */
        ok = seeded_call(&s, TN_IN_PLACE, out, &n);
        report(!ok, &s, "in place", "a result of another shape or dtype was taken");
        no_error();
        return;
    }
    ok = seeded_call(&s, TN_IN_PLACE, out, &n) && out[0] == self;
    if (ok && self->dtype == want->dtype) ok = same_bits(want, self);
    report(ok, &s, "in place", "differs from the plain call");
}

static void lane_named(const tn_row *row, int i, tn_dtype dtype, tn_tensor **want, int n) {
    sample s;
    tn_tensor *out[OUTS];
    int got;
    bool ok;
    if (!sample_make(&s, row, i, dtype, false)) return;
    tn_manual_seed(7);
    ok = tn_call_named("walk", 1, row->name, s.value, s.nvalues, out, OUTS, &got) && got == n;
    for (int k = 0; ok && k < n; k++) ok = same_bits(want[k], out[k]);
    report(ok, &s, "by name", "differs from the call by row");
}

static void lane_forms(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    tn_tensor *want[OUTS];
    int n = 0;
    if (!sample_make(&s, row, i, dtype, false)) {
        report(false, &s, "sample", s.error);
        return;
    }
    if (!report(seeded_call(&s, TN_PLAIN, want, &n), &s, "call", "fails on its own sample")) return;
    for (int k = 0; k < n; k++)
        if (!want[k]) return;
    if (n) lane_out(row, i, dtype, want, n);
    if (n) lane_inplace(row, i, dtype, want[0]);
    lane_named(row, i, dtype, want, n);
}

/* What changes, and whose version: of the plain call, or of the one in place. */
static void check_writes(const tn_row *row, int i, tn_dtype dtype, unsigned how) {
    sample s;
    tn_tensor *out[OUTS], *was[SAMPLE_TENSORS];
    int64_t version[SAMPLE_TENSORS];
    const bool inplace = how == TN_IN_PLACE || only_inplace(row);
    int n = 0;
    if (!sample_make(&s, row, i, dtype, false)) return;
    for (int t = 0; t < s.ntensors; t++) {
        was[t] = tni_new(tni_here(), s.tensor[t]->dtype, s.tensor[t]->ndim, s.tensor[t]->size);
        tni_copy_elements(tni_here(), was[t], s.tensor[t]);
        version[t] = tn_version(s.tensor[t]);
    }
    if (!seeded_call(&s, how, out, &n)) {
        no_error();
        return;
    }
    for (int t = 0; t < s.ntensors; t++) {
        const bool may =
            sample_is_written(&s, t) || (inplace && s.tensor[t] == s.value[0].as.tensor);
        const bool counted = tn_version(s.tensor[t]) != version[t];
        const bool changed = !same_bits(was[t], s.tensor[t]);
        report(may ? counted || !changed : !counted && !changed, &s, "writes",
               !may      ? "a tensor that is only read was changed, or its version"
               : counted ? ""
                         : "a tensor was changed without its version");
    }
}

static void lane_writes(const tn_row *row, int i, tn_dtype dtype) {
    check_writes(row, i, dtype, TN_PLAIN);
    if (row->forms & TN_INPLACE) check_writes(row, i, dtype, TN_IN_PLACE);
}

/* --- missing tensors: each in turn is NULL ---------------------------------------------------- */

/* The parameter that value k is given for. */
static const tn_param *param_of(const sample *s, int k) {
    const tn_gen *gen = s->row->gen;
    const char *name = s->value[k].name;
    for (int p = 0; name && p < gen->nparam; p++)
        if (!strcmp(gen->param[p].name, name)) return &gen->param[p];
    return name ? NULL : &gen->param[k];
}
static void missing_is_named(sample *s, const char *words) {
    tn_tensor *out[OUTS];
    int n;
    const bool done = seeded_call(s, TN_PLAIN, out, &n);
    report(!done && strstr(no_error(), words), s, "a missing tensor", words);
}
static void lane_missing(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    if (!sample_make(&s, row, i, dtype, false)) return;
    for (int k = 0; k < s.nvalues; k++) {
        const tn_param *p = param_of(&s, k);
        tn_value *v = &s.value[k], held = *v;
        char words[120];
        if (!p || (p->type != TN_T_TENSOR && p->type != TN_T_TENSORS)) continue;
        if (v->type == TN_T_TENSOR && !(p->flags & TN_P_OPTIONAL)) {
            v->as.tensor = NULL;
            snprintf(words, sizeof words, "'%s'", p->name);
            missing_is_named(&s, words);
        }
        for (int64_t m = 0;
             v->type == TN_T_TENSORS && !(p->flags & TN_P_HOLES) && m < v->as.tensors.n; m++) {
            tn_tensor *list[SAMPLE_TENSORS];
            memcpy(list, held.as.tensors.at, (size_t)held.as.tensors.n * sizeof *list);
            list[m] = NULL;
            v->as.tensors = tn_tensors_of(list, held.as.tensors.n);
            snprintf(words, sizeof words, "argument '%s' has NULL at position %lld", p->name,
                     (long long)m);
            missing_is_named(&s, words);
        }
        *v = held;
    }
}

static void lane_meta(const tn_row *row, int i, tn_dtype dtype) {
    sample s, m;
    tn_tensor *want[OUTS], *out[OUTS];
    int n, got;
    bool ok;
    if (row->gen->nfixed == 0 && !(row->gen->props & TN_PROP_LISTS)) return;
    if (!sample_make(&s, row, i, dtype, false) || !sample_make(&m, row, i, dtype, true)) return;
    if (s.ntensors == 0 || !seeded_call(&s, TN_PLAIN, want, &n)) return;
    ok = seeded_call(&m, TN_PLAIN, out, &got) && got == n;
    if (!ok && (strstr(no_error(), "depends on data") || row->look)) return;
    for (int k = 0; ok && k < n; k++) {
        if (!want[k] || !out[k]) continue;
        ok = want[k]->dtype == out[k]->dtype && tni_same_shape(want[k], out[k]);
        for (int d = 0; ok && d < want[k]->ndim; d++) ok = want[k]->stride[d] == out[k]->stride[d];
    }
    report(ok, &m, "meta", "shape, dtype or strides differ from the real call");
}

static void lane_replay(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    tn_tensor *want[OUTS], *copy[OUTS];
    tn_recording *r;
    int n = 0;
    bool ok;
    if (has_mutated(row) || !sample_make(&s, row, i, dtype, false)) return;
    if (!tn_record_begin()) return;
    ok = seeded_call(&s, TN_PLAIN, want, &n);
    r = tn_record_end();
    for (int k = 0; ok && k < n; k++) {
        copy[k] =
            want[k] ? tni_new(tni_here(), want[k]->dtype, want[k]->ndim, want[k]->size) : NULL;
        if (!copy[k]) continue;
        tni_copy_elements(tni_here(), copy[k], want[k]);
        if (!want[k]->base && want[k]->numel)
            memset(want[k]->storage->data, 0x55, (size_t)want[k]->storage->bytes);
    }
    for (int k = 0; ok && k < n;
         k++) /* an output that shares an input's storage was spoilt with it */
        for (int t = 0; t < s.ntensors; t++)
            if (want[k] && want[k]->storage == s.tensor[t]->storage) ok = false;
    if (!ok) {
        tn_recording_free(r);
        return;
    }
    tn_manual_seed(7);
    ok = tn_replay(r);
    for (int k = 0; ok && k < n; k++) ok = same_bits(copy[k], want[k]);
    report(ok, &s, "replay", "differs from the first run");
    tn_recording_free(r);
}

static void lane_layout(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    tn_tensor *want[OUTS], *out[OUTS];
    int n, got;
    if (has_mutated(row) || sample_reads_memory(row) || sample_draws(row))
        return; /* torch's numbers depend on the layout, too */
    for (int layout = SAMPLE_TRANSPOSED; layout <= SAMPLE_MIXED; layout++) {
        static const char *const names[] = {"", "transposed", "sliced", "", "last", "mixed"};
        if (layout == SAMPLE_EXPANDED) continue;
        bool ok = sample_make(&s, row, i, dtype, false) && seeded_call(&s, TN_PLAIN, want, &n);
        if (!ok || !s.ntensors) return;
        ok = sample_relayout(&s, layout) && seeded_call(&s, TN_PLAIN, out, &got) && got == n;
        if (!ok && strstr(no_error(), "stride"))
            continue; /* torch's view() refuses such a layout, too */
        for (int k = 0; ok && k < n; k++)
            ok = row->rules ? same_bits(want[k], out[k]) : same_sums(want[k], out[k]);
        report(ok, &s, names[layout], "differs from row-major inputs");
    }
}

/* --- gradients -------------------------------------------------------------------------------- */

typedef struct grad_call {
    sample *s;
    int layout;
    tn_tensor *leaf[SAMPLE_TENSORS];
    int where[SAMPLE_TENSORS], n;
} grad_call;

/* From the leaf that gradcheck moves to the layout under test, by views. */
static tn_tensor *grad_view(tn_tensor *leaf, const tn_tensor *like, int layout) {
    const int64_t last = -1, second = 1;
    int64_t order[TN_MAX_DIMS];
    if (like->ndim == 0 || like->numel == 0) return leaf;
    if (layout == SAMPLE_TRANSPOSED) {
        for (int d = 0; d < like->ndim; d++) order[d] = like->ndim - 1 - d;
        return tnp_permute(leaf, tn_ints_of(order, like->ndim));
    }
    if (layout == SAMPLE_SLICED) return tnp_slice(leaf, -1, 1, TN_NONE, 2);
    if (layout == SAMPLE_EXPANDED) return tnp_expand(leaf, tni_sizes(like), false);
    if (layout == SAMPLE_LAST && like->ndim > 1)
        return tnp_movedim(leaf, tni_ints(&last, 1), tni_ints(&second, 1));
    return leaf;
}

/* What stays of any x in a structure, and all that is in it: gradcheck moves one element of a leaf,
 * the row sees a matrix of its kind. Others keep what they are for, as a small step does not take
 * it from them; a step out of an orthogonal matrix is one that gradients of such rows take, too. */
static tn_tensor *grad_within(tn_tensor *x, int structure) {
    tn_tensor *turned;
    switch (structure) {
    case ELEMENTS_pd:
    case ELEMENTS_symmetric:
        turned = tnp_transpose(x, -2, -1);
        if (turned && tni_is_complex(x->dtype)) turned = tnp_conj(turned);
        return tnp_mul_scalar(tnp_add(x, turned, 1), tn_float(0.5));
    case ELEMENTS_lower: return tnp_tril(x, 0);
    case ELEMENTS_upper: return tnp_triu(x, 0);
    case ELEMENTS_unitlower:
    case ELEMENTS_unitupper:
        return tnp_add(structure == ELEMENTS_unitlower ? tnp_tril(x, -1) : tnp_triu(x, 1),
                       tnp_eye(x->size[x->ndim - 1], (tn_dtype)x->dtype, TN_NO_DEVICE), 1);
    case ELEMENTS_probabilities: {
        const int64_t last = -1;
        return tnp_div(x, tnp_sum(x, tni_ints(&last, 1), true, TN_NO_DTYPE));
    }
    default: return x;
    }
}

static tn_tensor *grad_leaf(tn_tensor *t, int layout) {
    tni_block *b = tni_here();
    int64_t size[TN_MAX_DIMS];
    tn_tensor *leaf, *view;
    int last = t->ndim - 1;
    for (int d = 0; d < t->ndim; d++) size[d] = t->size[d];
    if (t->ndim && t->numel) {
        if (layout == SAMPLE_TRANSPOSED)
            for (int d = 0; d < t->ndim; d++) size[d] = t->size[last - d];
        if (layout == SAMPLE_SLICED) size[last] = 2 * t->size[last] + 1;
        if (layout == SAMPLE_EXPANDED) size[0] = 1;
        if (layout == SAMPLE_LAST && t->ndim > 1) {
            for (int d = 1; d < last; d++) size[d] = t->size[d + 1];
            size[last] = t->size[1];
        }
    }
    leaf = tni_new(b, t->dtype, t->ndim, size);
    if (!leaf) return NULL;
    memset(leaf->storage->data, 0, (size_t)leaf->storage->bytes);
    if (layout == SAMPLE_EXPANDED && t->ndim && t->numel) {
        int64_t one[TN_MAX_DIMS];
        memcpy(one, size, sizeof one[0] * (size_t)t->ndim);
        view = tni_view_of(b, t, t->ndim, one, t->stride, 0, true);
        if (view) tni_copy_elements(b, leaf, view);
        return leaf;
    }
    view = grad_view(leaf, t, layout);
    if (view) tni_copy_elements(b, view, t);
    return leaf;
}

static bool grad_fn(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    grad_call *c = (grad_call *)user;
    sample s = *c->s;
    int room = *nout, n;
    for (int v = 0; v < s.nvalues; v++) { /* lists point into the copy */
        if (s.value[v].type == TN_T_TENSORS)
            s.value[v].as.tensors.at = s.list + (c->s->value[v].as.tensors.at - c->s->list);
        if (s.value[v].name) s.value[v].name = s.name[v];
    }
    for (int k = 0; k < c->n && k < nin; k++) {
        tn_tensor *t = c->s->tensor[c->where[k]],
                  *view = grad_within(grad_view(in[k], t, c->layout), c->s->structure[c->where[k]]);
        if (!view) return false;
        sample_replace(&s, t, view);
    }
    if (only_inplace(s.row) && s.value[0].type == TN_T_TENSOR)
        s.value[0].as.tensor = tnp_clone(s.value[0].as.tensor, (tn_memory_format)0);
    tn_manual_seed(7);
    if (!sample_call(&s, TN_PLAIN, out, room, &n)) return false;
    /* The phase of a complex factor moves with the input, the squares do not see it. */
    for (int k = 0; k < n; k++)
        if (out[k] && tni_is_complex(out[k]->dtype) && sample_oracle_has(c->s->row, "phase", k))
            out[k] = tnp_real(tnp_mul(out[k], tnp_conj(out[k])));
    *nout = n;
    return true;
}

/* Which rows were checked how: the layouts of sample.h (of the last, operands of four and more
 * dimensions), then all inputs 0-dimensional, an input empty. */
enum { COVER_ROWS = 4000, COVER_SCALAR = SAMPLE_LAST + 1, COVER_EMPTY, COVER_KINDS };
static struct { bool differentiable, once[COVER_KINDS], twice[COVER_KINDS]; } cover[COVER_ROWS];

static int64_t row_number(const tn_row *row) {
    int64_t r = 0;
    while (tn_row_at(r) != row) r++;
    return r < COVER_ROWS ? r : COVER_ROWS - 1;
}
static int cover_kind(const sample *s, const int *where, int n, int layout) {
    bool scalar = true, empty = false;
    for (int k = 0; k < n; k++) {
        scalar = scalar && s->tensor[where[k]]->ndim == 0;
        empty = empty || s->tensor[where[k]]->numel == 0;
    }
    return empty ? (int)COVER_EMPTY : scalar ? (int)COVER_SCALAR : layout;
}

/* Differentiable rows that differences cannot check. */
static bool may_stay_unchecked(const tn_row *row) {
    return sample_differs(row, "gradcheck", NULL) != NULL;
}

static void cover_report(void) {
    static const char *const names[] = {"contiguous",    "transposed", "sliced", "expanded",
                                        "channels last", "0-dim",      "empty"};
    int rows = 0, both = 0;
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        bool once = false, twice = false;
        if (!rows_take(0, r)) continue;
        if (!cover[r].differentiable && (!row->grad || row->grad == tn_grad_zero)) continue;
        rows++;
        for (int k = 0; k < COVER_KINDS; k++)
            once = once || cover[r].once[k], twice = twice || cover[r].twice[k];
        both += once && twice;
        if ((once && twice) || may_stay_unchecked(row)) continue;
        failed++;
        printf("FAILED grad %s has a gradient that was never under %s\n", row->name,
               once ? "gradgradcheck" : "gradcheck");
    }
    printf("promise 7: %d of %d differentiable rows under gradcheck and gradgradcheck, rtol 1e-6;",
           both, rows);
    for (int k = 0; k < COVER_KINDS; k++) {
        int once = 0, twice = 0;
        for (int64_t r = 0; r < COVER_ROWS; r++)
            once += cover[r].once[k], twice += cover[r].twice[k];
        printf("%s %s %d / %d", k ? "," : "", names[k], once, twice);
    }
    printf("\n");
}

/* Whether the Jacobian has so many elements that the contiguous layout must do; the lane `layout`
 * compares the others with it. */
static bool large_jacobian(const grad_call *c, tn_tensor *const *out, int n) {
    int64_t in = 0, outs = 0;
    for (int k = 0; k < c->n; k++) in += c->leaf[k]->numel;
    for (int k = 0; k < n; k++) outs += out[k] ? out[k]->numel : 0;
    return in * outs > 50000;
}

/* Rows that repeat are no matrix of full rank. */
static bool may_expand(const sample *s) {
    for (int t = 0; t < s->ntensors; t++)
        if (s->structure[t] && s->tensor[t]->ndim < 3) return false;
    return true;
}

/* false: this layout says nothing about the row's sample, nor does any later one. */
static bool grad_layout(const tn_row *row, sample *s, int layout, tn_dtype dtype) {
    static const char *const names[] = {"contiguous", "transposed", "sliced", "expanded", "last"};
    grad_call c;
    tn_tensor *probe[OUTS];
    char what[80];
    int nprobe = OUTS, kind;
    int64_t r;
    bool differentiable = false, deep = false;
    c.s = s;
    c.layout = layout;
    c.n = 0;
    for (int t = 0; t < s->ntensors; t++) {
        if (s->tensor[t]->dtype != dtype || s->tensor[t]->numel > 200 || sample_is_written(s, t) ||
            sample_is_refused(s, t))
            continue;
        deep = deep || s->tensor[t]->ndim > 3;
        c.where[c.n] = t;
        c.leaf[c.n] = grad_leaf(s->tensor[t], layout);
        if (c.leaf[c.n] != NULL) c.leaf[c.n]->flags |= TNI_REQUIRES | TNI_LEAF, c.n++;
    }
    if (!c.n || (layout == SAMPLE_LAST && !deep)) return false;
    if (layout == SAMPLE_EXPANDED && !may_expand(s)) return true;
    if (!grad_fn(c.leaf, c.n, probe, &nprobe, &c)) {
        bool refused = strstr(no_error(), "stride") != NULL; /* view() of such a layout */
        if (!refused) report(false, s, "grad", "forward fails");
        return true;
    }
    for (int k = 0; k < nprobe; k++)
        differentiable = differentiable || (probe[k] && probe[k]->flags & TNI_REQUIRES);
    for (int k = 0; k < nprobe; k++) /* differences need outputs in the inputs' precision */
        if (probe[k] && tni_dtype(probe[k]->dtype)->category >= TNI_CAT_FLOAT &&
            (probe[k]->dtype != TN_F64 && probe[k]->dtype != TN_C128))
            return false;
    if (!differentiable || (layout && large_jacobian(&c, probe, nprobe))) return false;
    kind = cover_kind(s, c.where, c.n, layout);
    r = row_number(row);
    cover[r].differentiable = true;
    snprintf(what, sizeof what, "gradcheck, %s", names[layout]);
    if (!report(tn_gradcheck(grad_fn, tn_tensors_of(c.leaf, c.n), &c, NULL), s, what, ""))
        return false;
    cover[r].once[kind] = true;
    snprintf(what, sizeof what, "gradgradcheck, %s", names[layout]);
    if (s->tensor[0]->numel > 100) return true;
    if (report(tn_gradgradcheck(grad_fn, tn_tensors_of(c.leaf, c.n), &c, NULL), s, what, ""))
        cover[r].twice[kind] = true;
    return true;
}

/* The first sample with each tensor in this shape, which pointwise rows take, and composed ones
 * that are pointwise; false where the row does not. */
static bool reshaped_sample(sample *s, const tn_row *row, const char *shape, tn_dtype dtype) {
    static tn_row reshaped;
    static char text[400];
    tn_tensor *out[OUTS];
    size_t n = 0;
    int count = 0;
    if (sample_count(row) == 0) return false;
    for (const char *at = row->sample; *at && strncmp(at, " | ", 3) && n < 300; at++) {
        text[n++] = *at;
        if (*at != '(') continue;
        memcpy(text + n, shape, strlen(shape));
        n += strlen(shape);
        at += strcspn(at, ")") - 1;
    }
    text[n] = 0;
    reshaped = *row;
    reshaped.sample = text;
    if (!sample_make(s, &reshaped, 0, dtype, false)) return false;
    if (row->rules) return true;
    if (!seeded_call(s, TN_PLAIN, out, &count)) return no_error(), false;
    return sample_make(s, &reshaped, 0, dtype, false);
}

static void lane_grad(const tn_row *row, int i, tn_dtype dtype) {
    static const struct {
        const char *size;
        int layout;
    } shapes[] = {{"2,3,1,2", SAMPLE_LAST},
                  {"1,2,1,2,2", SAMPLE_LAST},
                  {"", SAMPLE_CONTIGUOUS},
                  {"0,2", SAMPLE_CONTIGUOUS}};
    sample s;
    if (!row->grad && !row->compose) return;
    if (row->grad == tn_grad_zero) return;
    for (int layout = 0; layout <= (sample_reads_memory(row) ? 0 : SAMPLE_LAST); layout++)
        if (!sample_make(&s, row, i, dtype, false) || sample_has_no_difference(&s) ||
            !grad_layout(row, &s, layout, dtype))
            break;
    for (int k = 0; k < 4 && i == 0 && (row->rules || row->compose); k++)
        if (reshaped_sample(&s, row, shapes[k].size, dtype) && !sample_has_no_difference(&s))
            grad_layout(row, &s, shapes[k].layout, dtype);
}

/* --- gradients through the call in place: those of the plain call, bit for bit --------------- */

static void lane_grad_in_place(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    tn_tensor *want[SAMPLE_TENSORS], *got[SAMPLE_TENSORS], *out[OUTS], *self;
    int n;
    bool ok;
    if (!(row->forms & TN_INPLACE) || !sample_make(&s, row, i, dtype, false) ||
        s.value[0].type != TN_T_TENSOR)
        return;
    self = s.value[0].as.tensor;
    ok = seeded_call(&s, TN_PLAIN, out, &n) && n && out[0]->dtype == self->dtype &&
         tni_same_shape(out[0], self) && sample_grads(&s, TN_PLAIN, want);
    no_error();
    if (!ok) return; /* it does not go in the place of self, or has no gradient */
    ok = sample_make(&s, row, i, dtype, false) && sample_grads(&s, TN_IN_PLACE, got);
    for (int t = 0; ok && t < s.ntensors; t++) ok = same_bits(want[t], got[t]);
    report(ok, &s, "gradients in place", "refused, or others than of the plain call");
}

/* --- main ------------------------------------------------------------------------------------- */

typedef void (*lane_fn)(const tn_row *row, int i, tn_dtype dtype);
typedef struct lane {
    const char *name;
    lane_fn run;
    tn_dtype dtypes[5];
} lane;

/* A lane's dtypes apply where the row takes them: a call that is refused for its dtype is no
 * failure. */
static bool takes(const tn_row *row, int i, tn_dtype dtype) {
    sample s;
    tn_tensor *out[OUTS];
    int n;
    bool ok = sample_make(&s, row, i, dtype, false) && seeded_call(&s, TN_PLAIN, out, &n);
    if (dtype == TN_F32) return true;
    no_error();
    return ok;
}

static void walk_row(const lane *l, const tn_row *row) {
    int count = sample_count(row);
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < 5 && l->dtypes[d]; d++) {
            int64_t mark = tn_scope_begin();
            if (takes(row, i, l->dtypes[d])) l->run(row, i, l->dtypes[d]);
            tn_scope_end(mark);
        }
    }
}

static const lane lanes[] = {
    {"forms", lane_forms, {TN_F32, TN_F64, TN_I64, TN_BF16, TN_C64}},
    {"writes", lane_writes, {TN_F32, TN_I64}},
    {"missing", lane_missing, {TN_F32}},
    {"meta", lane_meta, {TN_F32, TN_I64}},
    {"replay", lane_replay, {TN_F32, TN_I64}},
    {"layout", lane_layout, {TN_F32, TN_I32}},
    {"grad_in_place", lane_grad_in_place, {TN_F32, TN_C64}},
    {"grad", lane_grad, {TN_F64, TN_C128}},
};

int main(int argc, char **argv) {
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    bool every = true;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++) every = every && strchr(argv[a], '=');
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        bool chosen = every;
        int was_passed = passed, was_failed = failed;
        for (int a = 1; a < argc; a++) chosen = chosen || strcmp(argv[a], lanes[k].name) == 0;
        if (!chosen) continue;
        tn_set_threads(lanes[k].run == lane_grad ? 1 : tn_threads()); /* many very small calls */
        for (int64_t r = 0; r < tn_row_count(); r++)
            if (rows_take(0, r)) walk_row(&lanes[k], tn_row_at(r));
        if (lanes[k].run == lane_grad) cover_report();
        if (!rows_named && passed == was_passed)
            failed++, printf("FAILED %s: no row was checked\n", lanes[k].name);
        fflush(stdout);
        printf("%s: %d checks passed, %d failed\n", lanes[k].name, passed - was_passed,
               failed - was_failed);
    }
    tn_context_free(NULL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
