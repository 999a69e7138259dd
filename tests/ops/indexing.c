/* indexing.c - x[a, :, mask, b] and assignments to it, against a model that goes element by
 * element: random lists of tensors of places, masks and holes over random shapes and layouts,
 * right and wrong. What the model refuses is refused, what it takes has its sizes and elements.
 * The rules are NumPy's (advanced indexing), which are torch's.
 *
 *     indexing [count=N] */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

enum { DIMS = 5, VECTOR = 64, MOST = 4096 };

static uint64_t state = 1;
static int64_t below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* The places along one dimension of x, of the shape `size`; ndim -1: all of the dimension. */
typedef struct places {
    int ndim;
    int64_t size[DIMS], at[VECTOR];
} places;

/* x, what indexes it, and what the model says of both. */
typedef struct job {
    int ndim, nlist;
    int64_t size[DIMS];
    double x[MOST];
    tn_tensor *self, *list[DIMS];
    places of[DIMS]; /* a mask of two dimensions is two of them */
    bool right;
    int ndim_out;
    int64_t size_out[2 * DIMS], from[MOST], numel_out; /* element i is x[from[i]] */
} job;

/* --- drawing ---------------------------------------------------------------------------------- */

static tn_tensor *turned(tn_tensor *t) { /* the same elements, strides the other way round */
    int64_t order[DIMS];
    for (int d = 0; d < tn_ndim(t); d++) order[d] = tn_ndim(t) - 1 - d;
    tn_tensor *u = tnp_permute(t, tn_ints_of(order, tn_ndim(t)));
    return tnp_permute(tnp_clone(u, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT),
                       tn_ints_of(order, tn_ndim(t)));
}
static void draw_self(job *j) {
    j->ndim = 1 + (int)below(4);
    int64_t n = 1;
    for (int d = 0; d < j->ndim; d++) n *= j->size[d] = below(9) ? 1 + below(4) : 0;
    j->self =
        tnp_reshape(tnp_arange(tn_int(n), TN_F64, TN_NO_DEVICE), tn_ints_of(j->size, j->ndim));
    for (int64_t i = 0; i < n; i++) j->x[i] = (double)i;
    if (below(3) == 0) j->self = turned(j->self);
}
static void draw_mask(job *j, int d, int dims) {
    int64_t size[2], n = 1, found = 0;
    for (int k = 0; k < dims; k++) {
        size[k] = j->size[d + k] + (below(24) ? 0 : 1);
        if (size[k] != j->size[d + k]) j->right = false;
        n *= size[k];
    }
    tn_tensor *t = tnp_empty(tn_ints_of(size, dims), TN_BOOL, TN_NO_DEVICE);
    for (int64_t i = 0; i < n; i++) {
        const bool on = below(2);
        ((uint8_t *)tn_data(t))[i] = on;
        for (int k = 0; on && k < dims && found < VECTOR; k++)
            j->of[d + k].at[found] = k == dims - 1 ? i % size[dims - 1] : i / size[1];
        found += on;
    }
    for (int k = 0; k < dims; k++) j->of[d + k].ndim = 1, j->of[d + k].size[0] = found;
    j->list[j->nlist++] = dims > 1 && below(2) ? turned(t) : t;
}
static void draw_places(job *j, int d, const int64_t *common, int ncommon) {
    places *p = &j->of[d];
    int64_t n = 1;
    p->ndim = (int)below(ncommon + 1);
    for (int k = 0; k < p->ndim; k++)
        n *= p->size[k] = below(4) ? common[ncommon - p->ndim + k] : below(12) ? 1 : 3;
    tn_tensor *t = tnp_empty(tn_ints_of(p->size, p->ndim), TN_I64, TN_NO_DEVICE);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = below(40) && j->size[d] ? below(2 * j->size[d]) - j->size[d]
                                            : (below(2) ? j->size[d] : -j->size[d] - 1);
        ((int64_t *)tn_data(t))[i] = v;
        if (v < -j->size[d] || v >= j->size[d]) j->right = false;
        p->at[i] = v < 0 ? v + j->size[d] : v;
    }
    j->list[j->nlist++] = p->ndim > 1 && below(2) ? turned(t) : t;
}
static void draw(job *j) {
    const int64_t common[2] = {1 + below(3), 1 + below(4)};
    const int ncommon = (int)below(3);
    bool some = false;
    memset(j, 0, sizeof *j);
    j->right = true;
    draw_self(j);
    for (int d = 0; d < j->ndim; d++) j->of[d].ndim = -1;
    for (int d = 0; d < j->ndim && (d == 0 || below(5));) {
        const int64_t what = below(8);
        if (what == 0 && d + 1 < j->ndim)
            draw_mask(j, d, 2), d += 2;
        else if (what == 1)
            draw_mask(j, d, 1), d++;
        else if (what < 4)
            j->list[j->nlist++] = NULL, d++;
        else
            draw_places(j, d++, common + 2 - ncommon, ncommon);
    }
    for (int d = 0; d < j->ndim; d++) some = some || j->of[d].ndim >= 0;
    if (!some) j->right = false; /* at least one is a tensor */
}

/* --- the model -------------------------------------------------------------------------------- */

/* The shape that all places have together; false: there is none. */
static bool common_shape(const job *j, int64_t *size, int *ndim) {
    *ndim = 0;
    for (int d = 0; d < j->ndim; d++)
        if (j->of[d].ndim > *ndim) *ndim = j->of[d].ndim;
    for (int k = 0; k < *ndim; k++) size[k] = 1;
    for (int d = 0; d < j->ndim; d++)
        for (int k = 0; k < j->of[d].ndim; k++) {
            int64_t *to = &size[*ndim - j->of[d].ndim + k], n = j->of[d].size[k];
            if (n == *to || n == 1) continue;
            if (*to != 1) return false;
            *to = n;
        }
    return true;
}
/* Where the common shape stands among the results' dimensions: at the first place, or in front of
 * all when a whole dimension lies between two. */
static int common_at(const job *j) {
    int first = -1, last = -1, n = 0;
    for (int d = 0; d < j->ndim; d++)
        if (j->of[d].ndim >= 0) first = first < 0 ? d : first, last = d, n++;
    return n && last - first + 1 == n ? first : 0;
}
static int64_t place_of(const places *p, const int64_t *index, int ndim) {
    int64_t at = 0;
    for (int k = 0; k < p->ndim; k++)
        at = at * p->size[k] + (p->size[k] == 1 ? 0 : index[ndim - p->ndim + k]);
    return p->at[at];
}
static void model(job *j) {
    int64_t size[DIMS] = {1, 1, 1, 1, 1};
    int n, at = common_at(j), whole = 0;
    if (!j->right || !common_shape(j, size, &n)) {
        j->right = false;
        return;
    }
    for (int d = 0; d < j->ndim; d++) {
        if (whole == at && j->ndim_out == at)
            for (int k = 0; k < n; k++) j->size_out[j->ndim_out++] = size[k];
        if (j->of[d].ndim < 0) j->size_out[j->ndim_out++] = j->size[d], whole++;
    }
    if (j->ndim_out == whole) /* none came behind it */
        for (int k = 0; k < n; k++) j->size_out[j->ndim_out++] = size[k];
    j->numel_out = 1;
    for (int k = 0; k < j->ndim_out; k++) j->numel_out *= j->size_out[k];
    for (int64_t i = 0; i < j->numel_out; i++) {
        int64_t index[2 * DIMS], rest = i, from = 0;
        for (int k = j->ndim_out - 1; k >= 0; k--)
            index[k] = rest % j->size_out[k], rest /= j->size_out[k];
        for (int d = 0, free = 0; d < j->ndim; d++) {
            const int plain = free < at ? free : free + n;
            from = from * j->size[d] +
                   (j->of[d].ndim < 0 ? index[plain] : place_of(&j->of[d], index + at, n));
            free += j->of[d].ndim < 0;
        }
        j->from[i] = from;
    }
}

/* --- the library ------------------------------------------------------------------------------ */

static int64_t taken, refused;
static double got[MOST];

static bool read_is(const job *j) {
    tn_tensor *y = tnp_index(j->self, tn_tensors_of(j->list, j->nlist));
    bool same = j->right ? y && tn_ndim(y) == j->ndim_out : !y && tn_error_take(NULL);
    if (!j->right || !same) return same;
    for (int d = 0; d < tn_ndim(y); d++) same = same && tn_size(y, d) == j->size_out[d];
    same = same && tnp_read_f64(y, got, j->numel_out);
    for (int64_t i = 0; same && i < j->numel_out; i++) same = got[i] == j->x[j->from[i]];
    return same;
}
/* Sums of what is added twice; of what is written twice, one of both. */
static bool written_is(const job *j, bool add) {
    static double sum[MOST];
    static int64_t times[MOST];
    int64_t n = tn_numel(j->self);
    tn_tensor *v = NULL, *y;
    if (j->right)
        v = tnp_reshape(
            tnp_arange_start(tn_int(1000), tn_int(1000 + j->numel_out), TN_F64, TN_NO_DEVICE),
            tn_ints_of(j->size_out, j->ndim_out));
    else
        v = tnp_full(tn_ints_of(NULL, 0), tn_float(7), TN_F64, TN_NO_DEVICE);
    y = tnp_index_put(j->self, tn_tensors_of(j->list, j->nlist), v, add);
    if (!j->right) return !y && tn_error_take(NULL);
    if (!y || !tnp_read_f64(y, got, n)) return false;
    memset(times, 0, sizeof times);
    for (int64_t i = 0; i < n; i++) sum[i] = add ? j->x[i] : 0;
    for (int64_t i = 0; i < j->numel_out; i++)
        sum[j->from[i]] += (double)(1000 + i), times[j->from[i]]++;
    for (int64_t i = 0; i < n; i++) {
        if (add || times[i] == 1 ? got[i] != sum[i] : times[i] == 0 && got[i] != j->x[i])
            return false;
        if (!add && times[i] > 1 && (got[i] < 1000 || j->from[(int64_t)got[i] - 1000] != i))
            return false;
    }
    return true;
}

static int64_t count = 20000;
static void reads_and_writes_are_the_models(void) {
    static job j;
    for (int64_t i = 0; i < count; i++)
        TN_SCOPE {
            draw(&j);
            model(&j);
            if (!tn_ok() || j.numel_out > MOST) tn_error_take(NULL);
            bool ok = read_is(&j);
            ok = CHECK(ok && written_is(&j, false) && written_is(&j, true));
            if (!ok) {
                tn_error_print();
                printf("    program %lld\n", (long long)i);
                tn_error_take(NULL);
            }
            taken += j.right, refused += !j.right;
        }
    CHECK(taken > count / 3 && refused > count / 20);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(reads_and_writes_are_the_models)};
    if (argc > 1 && !strncmp(argv[1], "count=", 6))
        count = strtoll(argv[1] + 6, NULL, 10), argc = 1;
    int failed = CHECK_MAIN(tests, argc, argv);
    printf("promise 1: %lld lists of indices right and %lld wrong, read, written and added to as a "
           "model says\n",
           (long long)taken, (long long)refused);
    return failed;
}
