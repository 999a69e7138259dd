/* views.c - chains of views against a model that moves the elements themselves: slices with any
 * bounds and steps, selections, orders of dimensions, expansions, diagonals, strides over the
 * memory with and without an offset, negative dimensions. Element i of the base is i, so what a
 * view shows says where it looks, and its gradient, weighed, is what the model adds up.
 *
 *     views [count=N] */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

enum { BASE = 96, DIMS = 6, MOST = 4096 };

static uint64_t state = 1;
static int64_t below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Elements in row-major order. */
typedef struct model {
    int ndim;
    int64_t size[DIMS], n;
    double at[MOST];
} model;
static bool learns;        /* the base requires grad */
static model was;          /* the view before */
static int64_t from[DIMS]; /* the element of it that the one at hand is */

static int any_dim(const model *m) { return (int)below(m->ndim); }
static int64_t written(int d, int ndim) { return below(2) ? d : d - ndim; } /* either spelling */

/* Begins a model of other sizes; element by element, `next` gives its index. */
static void begin(model *m, int ndim, const int64_t *size) {
    m->ndim = ndim;
    m->n = 1;
    for (int d = 0; d < ndim; d++) m->n *= m->size[d] = size[d];
}
static void index_of(const model *m, int64_t i, int64_t *index) {
    for (int d = m->ndim - 1; d >= 0; d--) index[d] = i % m->size[d], i /= m->size[d];
}
static double was_at(void) {
    int64_t at = 0;
    for (int d = 0; d < was.ndim; d++) at = at * was.size[d] + from[d];
    return was.at[at];
}

/* --- views: each draws its arguments, moves the model and gives what the library makes ------ */

static tn_tensor *take_slice(tn_tensor *t, model *m) {
    const int d = any_dim(m);
    const int64_t n = m->size[d], step = 1 + below(3);
    int64_t start = below(3) ? below(2 * n + 5) - n - 2 : TN_NONE,
            end = below(3) ? below(2 * n + 5) - n - 2 : TN_NONE, size[DIMS], index[DIMS];
    tn_tensor *y = tnp_slice(t, written(d, m->ndim), start, end, step);
    start = start == TN_NONE ? 0 : start < 0 ? start + n : start;
    end = end == TN_NONE ? n : end < 0 ? end + n : end;
    start = start < 0 ? 0 : start > n ? n : start;
    end = end < start ? start : end > n ? n : end;
    memcpy(size, m->size, sizeof size);
    size[d] = (end - start + step - 1) / step;
    begin(m, m->ndim, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        memcpy(from, index, sizeof from);
        from[d] = start + index[d] * step;
        m->at[i] = was_at();
    }
    return y;
}
static tn_tensor *take_narrow(tn_tensor *t, model *m) {
    const int d = any_dim(m);
    const int64_t n = m->size[d], start = below(n + 1), length = below(n - start + 1);
    int64_t size[DIMS], index[DIMS];
    memcpy(size, m->size, sizeof size);
    size[d] = length;
    begin(m, m->ndim, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        memcpy(from, index, sizeof from);
        from[d] += start;
        m->at[i] = was_at();
    }
    return tnp_narrow(t, written(d, m->ndim), start < n && below(2) ? start - n : start, length);
}
static tn_tensor *take_select(tn_tensor *t, model *m) {
    const int d = any_dim(m), ndim = m->ndim;
    const int64_t n = m->size[d];
    int64_t size[DIMS], index[DIMS];
    if (!n) return t;
    const int64_t which = below(n);
    for (int k = 0; k < ndim; k++)
        if (k != d) size[k > d ? k - 1 : k] = m->size[k];
    begin(m, ndim - 1, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        for (int k = 0; k < ndim; k++) from[k] = k == d ? which : index[k > d ? k - 1 : k];
        m->at[i] = was_at();
    }
    return tnp_select(t, written(d, ndim), below(2) ? which : which - n);
}
/* Dimension k becomes the former order[k]. */
static void reorder(model *m, const int64_t *order) {
    int64_t size[DIMS], index[DIMS];
    for (int k = 0; k < m->ndim; k++) size[k] = m->size[order[k]];
    begin(m, m->ndim, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        for (int k = 0; k < m->ndim; k++) from[order[k]] = index[k];
        m->at[i] = was_at();
    }
}
static tn_tensor *take_order(tn_tensor *t, model *m) {
    int64_t order[DIMS], spelled[DIMS];
    for (int k = 0; k < m->ndim; k++) order[k] = k;
    if (below(2)) { /* two of them */
        const int a = any_dim(m), b = any_dim(m);
        order[a] = b, order[b] = a;
        reorder(m, order);
        return tnp_transpose(t, written(a, m->ndim), written(b, m->ndim));
    }
    for (int k = m->ndim - 1; k > 0; k--) {
        const int64_t other = below(k + 1), held = order[k];
        order[k] = order[other], order[other] = held;
    }
    for (int k = 0; k < m->ndim; k++) spelled[k] = written((int)order[k], m->ndim);
    reorder(m, order);
    return tnp_permute(t, tn_ints_of(spelled, m->ndim));
}
static tn_tensor *take_move(tn_tensor *t, model *m) {
    const int a = any_dim(m), b = any_dim(m);
    int64_t order[DIMS], source = written(a, m->ndim), destination = written(b, m->ndim);
    for (int k = 0, next = 0; k < m->ndim; k++) {
        next += next == a;
        order[k] = k == b ? a : next++;
    }
    reorder(m, order);
    return tnp_movedim(t, tn_ints_of(&source, 1), tn_ints_of(&destination, 1));
}
static tn_tensor *take_one(tn_tensor *t, model *m) { /* dimensions of size 1, more and fewer */
    int64_t size[DIMS];
    int d, n = 0;
    if (below(2) && m->ndim < DIMS) {
        d = (int)below(m->ndim + 1);
        for (int k = 0; k <= m->ndim; k++) size[k] = k == d ? 1 : m->size[k > d ? k - 1 : k];
        begin(m, m->ndim + 1, size);
        return tnp_unsqueeze(t, written(d, m->ndim));
    }
    d = any_dim(m);
    const bool all = below(2);
    t = all ? tnp_squeeze(t) : tnp_squeeze_dim(t, written(d, m->ndim));
    for (int k = 0; k < m->ndim; k++)
        if (m->size[k] != 1 || (!all && k != d)) size[n++] = m->size[k];
    begin(m, n, size);
    return t;
}
static tn_tensor *take_expand(tn_tensor *t, model *m) {
    const int ndim = m->ndim, more = ndim < DIMS ? (int)below(2) : 0;
    int64_t size[DIMS], spelled[DIMS], index[DIMS];
    for (int k = 0; k < ndim + more; k++) {
        const int64_t n = k < more ? 1 : m->size[k - more];
        size[k] = n == 1 && m->n < 64 ? 1 + below(3) : n;
        spelled[k] = k >= more && size[k] == n && below(2) ? -1 : size[k];
    }
    begin(m, ndim + more, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        for (int k = 0; k < ndim; k++) from[k] = was.size[k] == 1 ? 0 : index[k + more];
        m->at[i] = was_at();
    }
    return tnp_expand(t, tn_ints_of(spelled, ndim + more), false);
}
static tn_tensor *take_diagonal(tn_tensor *t, model *m) {
    if (m->ndim < 2) return t;
    const int a = any_dim(m), b = (a + 1 + (int)below(m->ndim - 1)) % m->ndim, ndim = m->ndim;
    const int64_t down = m->size[a], right = m->size[b], offset = below(7) - 3;
    int64_t size[DIMS], index[DIMS], n = offset < 0 ? down + offset : down, other;
    int rest = 0;
    other = offset < 0 ? right : right - offset;
    n = n < other ? n : other;
    for (int k = 0; k < ndim; k++)
        if (k != a && k != b) size[rest++] = m->size[k];
    size[rest] = n < 0 ? 0 : n;
    begin(m, ndim - 1, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        for (int k = 0, j = 0; k < ndim; k++)
            from[k] = k == a   ? index[rest] - (offset < 0 ? offset : 0)
                      : k == b ? index[rest] + (offset > 0 ? offset : 0)
                               : index[j++];
        m->at[i] = was_at();
    }
    return tnp_diagonal(t, offset, written(a, ndim), written(b, ndim));
}
/* The memory is the base's: element i is i. Without an offset it begins where the view does. */
static tn_tensor *take_strides(tn_tensor *t, model *m) {
    int64_t size[DIMS], stride[DIMS], index[DIMS], last = 0,
                                                   offset = below(2) ? below(20) : TN_NONE;
    const int ndim = (int)below(4);
    if (!m->n || learns) return t; /* of a view that learns it is refused */
    const int64_t first = offset == TN_NONE ? (int64_t)m->at[0] : offset;
    for (int k = 0; k < ndim; k++) {
        size[k] = 1 + below(4), stride[k] = below(6);
        last += (size[k] - 1) * stride[k];
    }
    if (first + last >= BASE) return t;
    begin(m, ndim, size);
    for (int64_t i = 0; i < m->n; i++) {
        index_of(m, i, index);
        m->at[i] = (double)first;
        for (int k = 0; k < ndim; k++) m->at[i] += (double)(index[k] * stride[k]);
    }
    return tnp_as_strided(t, tn_ints_of(size, ndim), tn_ints_of(stride, ndim), offset, tn_no_dims(),
                          0);
}

typedef tn_tensor *(*view)(tn_tensor *, model *);
static const view views[] = {take_slice, take_narrow, take_select,   take_order,  take_move,
                             take_one,   take_expand, take_diagonal, take_strides};
enum { VIEWS = sizeof views / sizeof *views };
static int64_t taken[VIEWS];

/* --- chains ----------------------------------------------------------------------------------- */

static tn_tensor *base_of(model *m) {
    static const int64_t sizes[][4] = {{BASE}, {8, 12}, {4, 4, 6}, {2, 3, 4, 4}};
    const int k = (int)below(4);
    begin(m, k + 1, sizes[k]);
    for (int64_t i = 0; i < BASE; i++) m->at[i] = (double)i;
    tn_tensor *t =
        tnp_reshape(tnp_arange(tn_int(BASE), TN_F64, TN_NO_DEVICE), tn_ints_of(sizes[k], k + 1));
    return learns ? tn_requires_grad(t) : t;
}
static bool shows(const tn_tensor *t, const model *m) {
    static double got[MOST];
    bool same = t && tn_ndim(t) == m->ndim && tn_numel(t) == m->n;
    for (int d = 0; same && d < m->ndim; d++) same = tn_size(t, d) == m->size[d];
    return same && tnp_read_f64(t, got, m->n) && !memcmp(got, m->at, (size_t)m->n * sizeof *got);
}
/* Element i counts i + 1 times. */
static bool gradient_is(tn_tensor *base, tn_tensor *t, const model *m) {
    double want[BASE] = {0}, got[BASE];
    tn_tensor *w = tnp_reshape(tnp_arange_start(tn_int(1), tn_int(m->n + 1), TN_F64, TN_NO_DEVICE),
                               tn_ints_of(m->size, m->ndim));
    for (int64_t i = 0; i < m->n; i++) want[(int64_t)m->at[i]] += (double)(i + 1);
    return tn_backward(tnp_sum(tnp_mul(t, w), tn_ints_of(NULL, -1), false, TN_NO_DTYPE)) &&
           tnp_read_f64(tn_grad_of(base), got, BASE) && !memcmp(got, want, sizeof got);
}

static int64_t count = 20000, steps;
static void chains_of_views_show_what_the_model_has(void) {
    static model m;
    for (int64_t i = 0; i < count; i++)
        TN_SCOPE {
            learns = below(2);
            tn_tensor *base = base_of(&m), *t = base;
            int done[8], n = 0;
            bool ok = true;
            for (int64_t left = 1 + below(6); ok && left > 0 && m.ndim > 0; left--) {
                const int k = done[n++] = (int)below(VIEWS);
                was = m;
                tn_tensor *y = views[k](t, &m);
                taken[k] += y != t;
                t = y;
                ok = shows(t, &m);
                steps++;
            }
            if (!CHECK(ok && (!learns || gradient_is(base, t, &m)))) {
                printf("    chain %lld:", (long long)i);
                for (int k = 0; k < n; k++) printf(" %d", done[k]);
                printf("\n");
                tn_error_print();
                tn_error_take(NULL);
            }
        }
    for (int k = 0; k < VIEWS; k++) CHECK(taken[k] > count / 20);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(chains_of_views_show_what_the_model_has)};
    if (argc > 1 && !strncmp(argv[1], "count=", 6))
        count = strtoll(argv[1] + 6, NULL, 10), argc = 1;
    int failed = CHECK_MAIN(tests, argc, argv);
    printf("promise 7: %lld chains of %lld views show what a model has that moves elements, and "
           "their gradients are its sums\n",
           (long long)count, (long long)steps);
    return failed;
}
