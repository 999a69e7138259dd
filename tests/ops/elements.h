/* elements.h - the elements of a sample's tensors (sample.h): the one place that makes them.
 *
 * sample.c includes it for the C lanes; tests/oracle/make.py compiles it into a library of its own,
 * so torch is asked about the same numbers. Nothing here knows the library. Element i of tensor t
 * comes from splitmix64 of (t + 1) << 32 | i; a structure is made of such numbers by operations
 * that are exact or rounded once, so they are the same with every compiler. */
#ifndef TNI_TESTS_ELEMENTS_H
#define TNI_TESTS_ELEMENTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* STRUCTURE(name, dimensions, square, what): words behind the shape, `(2,4,4):pd`. */
#define ELEMENTS_STRUCTURES(X)                                                   \
    X(pd, 2, true, "Hermitian positive definite, eigenvalues in 0.5..4.5")       \
    X(symmetric, 2, true, "Hermitian")                                           \
    X(lower, 2, true, "triangular, well-conditioned")                            \
    X(upper, 2, true, "triangular, well-conditioned")                            \
    X(unitlower, 2, true, "triangular with ones on the diagonal")                \
    X(unitupper, 2, true, "triangular with ones on the diagonal")                \
    X(orthogonal, 2, false, "orthonormal columns, or rows where those are")      \
    X(invertible, 2, false, "of full rank, well-conditioned, no pivot in place") \
    X(distinct, 0, false, "no two elements alike")                               \
    X(permutation, 1, false, "0..n-1 along the last dimension")                  \
    X(pivots, 1, false, "element j in j+1..n along the last dimension")          \
    X(probabilities, 1, false, "positive, of sum 1 along the last dimension")    \
    X(ascending, 1, false, "never falls along the last dimension, to below - 1")

enum elements_structure {
    ELEMENTS_ANY,
#define ELEMENTS_NAME(name, dims, square, what) ELEMENTS_##name,
    ELEMENTS_STRUCTURES(ELEMENTS_NAME)
#undef ELEMENTS_NAME
};

/* Its number, ELEMENTS_ANY where the word is none. */
static inline int elements_structure_named(const char *word) {
    static const char *const names[] = {"",
#define ELEMENTS_NAME(name, dims, square, what) #name,
                                        ELEMENTS_STRUCTURES(ELEMENTS_NAME)
#undef ELEMENTS_NAME
    };
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], word) == 0) return (int)i;
    return ELEMENTS_ANY;
}
/* Whether a tensor of these sizes can have it. */
static inline bool elements_fit(int structure, int ndim, const int64_t *size) {
    static const struct {
        int dims;
        bool square;
    } asks[] = {{0, false},
#define ELEMENTS_NAME(name, dims, square, what) {dims, square},
                ELEMENTS_STRUCTURES(ELEMENTS_NAME)
#undef ELEMENTS_NAME
    };
    return ndim >= asks[structure].dims &&
           (!asks[structure].square || size[ndim - 1] == size[ndim - 2]);
}

enum elements_kind { ELEMENTS_BOOL, ELEMENTS_INT, ELEMENTS_UINT, ELEMENTS_FLOAT, ELEMENTS_COMPLEX };
/* Floats at coarse places (sample.h, sample_grid); 0: none. */
enum { ELEMENTS_GRIDS = 7 };

typedef struct elements {
    int tensor; /* its number in the sample */
    int kind, structure, grid;
    int ndim;
    const int64_t *size;
    double below;  /* integers are in 0..below-1, a bool is true in so large a part; 0: any */
    double lo, hi; /* of floats */
} elements;

static inline uint64_t elements_hash(uint64_t x) {
    uint64_t z = x + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint64_t elements_bits(const elements *e, int64_t i) {
    return elements_hash(((uint64_t)(e->tensor + 1) << 32) | (uint64_t)i);
}
static inline double elements_part(uint64_t h) { return (double)(h >> 11) * 0x1p-53; }
/* lo + u (hi - lo), rounded twice: a compiler that fuses would round once. */
static inline double elements_between(uint64_t h, double lo, double hi) {
    volatile double product = elements_part(h) * (hi - lo);
    return lo + product;
}

/* --- without structure ------------------------------------------------------------------------ */

static inline double elements_on_grid(const elements *e, uint64_t h) {
    static const double at[ELEMENTS_GRIDS][4] = {
        {0, 0, 0, 0},  {-1, 0, 1, 2},       {0, 0, 0, 1},        {1, 1, 1, 1},
        {-1, 0, 1, 2}, {NAN, 1, -0.0, 0.5}, {HUGE_VAL, -1, 0, 1}};
    const double v = at[e->grid][h >> 20 & 3];
    return e->grid != 4 ? v : v < e->lo ? e->lo : v > e->hi ? e->hi : v;
}
/* to[0] and, of complex numbers, to[1]. */
static inline void elements_one(const elements *e, uint64_t h, double *to) {
    to[1] = 0;
    switch (e->kind) {
    case ELEMENTS_BOOL: to[0] = e->below > 0 ? elements_part(h) < e->below : (double)(h & 1); break;
    case ELEMENTS_INT:
    case ELEMENTS_UINT:
        to[0] = e->below > 0 ? (double)(h % (uint64_t)e->below)
                             : (double)(h % 11) - (e->kind == ELEMENTS_INT ? 5 : 0);
        break;
    case ELEMENTS_FLOAT:
        to[0] = e->grid ? elements_on_grid(e, h) : elements_between(h, e->lo, e->hi);
        break;
    default:
        to[0] = elements_between(h, e->lo, e->hi);
        to[1] = elements_between(elements_hash(h), e->lo, e->hi);
    }
}

/* --- structures ------------------------------------------------------------------------------- */

/* In -1..1, a multiple of 2^-10: sums of products of two are exact. */
static inline void elements_unit(const elements *e, int64_t i, double *to) {
    const uint64_t h = elements_bits(e, i);
    to[0] = (double)(h >> 53) * 0x1p-10 - 1;
    to[1] = e->kind == ELEMENTS_COMPLEX ? (double)(elements_hash(h) >> 53) * 0x1p-10 - 1 : 0;
}

/* Row r and column c of the m x n matrix that begins at element `from`. */
typedef struct elements_place {
    int64_t from, m, n, r, c;
} elements_place;

static inline void elements_hermitian(const elements *e, const elements_place *p, double *to) {
    const int64_t low = p->r < p->c ? p->r : p->c, high = p->r < p->c ? p->c : p->r;
    elements_unit(e, p->from + low * p->n + high, to);
    if (p->r > p->c) to[1] = -to[1];
    if (p->r == p->c) to[1] = 0;
    if (e->structure == ELEMENTS_symmetric) return;
    if (p->r == p->c)
        to[0] = 2.5 + to[0] / 2;
    else
        to[0] /= (double)p->n, to[1] /= (double)p->n;
}

static inline void elements_triangular(const elements *e, const elements_place *p, double *to) {
    const bool upper = e->structure == ELEMENTS_upper || e->structure == ELEMENTS_unitupper,
               unit = e->structure == ELEMENTS_unitlower || e->structure == ELEMENTS_unitupper;
    elements_unit(e, p->from + p->r * p->n + p->c, to);
    if (p->r == p->c) {
        to[0] = unit ? 1 : to[0] < 0 ? to[0] - 1 : to[0] + 1;
        if (unit) to[1] = 0;
    } else if ((p->r < p->c) != upper)
        to[0] = to[1] = 0;
    else
        to[0] = 2 * to[0] / (double)p->n, to[1] = 2 * to[1] / (double)p->n;
}

/* I - 2 v v^H / v^H v, the first rows and columns of it. */
static inline void elements_reflection(const elements *e, const elements_place *p, double *to) {
    const int64_t order = p->m > p->n ? p->m : p->n;
    double sum = 0, a[2], b[2], v[2];
    for (int64_t k = 0; k < order; k++) {
        elements_unit(e, p->from + k, v);
        sum += v[0] * v[0] + v[1] * v[1];
    }
    if (sum == 0) sum = 1;
    elements_unit(e, p->from + p->r, a);
    elements_unit(e, p->from + p->c, b);
    to[0] = (p->r == p->c) - 2 * (a[0] * b[0] + a[1] * b[1]) / sum;
    to[1] = -2 * (a[1] * b[0] - a[0] * b[1]) / sum;
}

static inline void elements_of_full_rank(const elements *e, const elements_place *p, double *to) {
    elements_unit(e, p->from + p->r * p->n + p->c, to);
    to[0] /= (double)p->n, to[1] /= (double)p->n;
    if (p->c == (p->r + 1) % p->n) to[0] += 2;
}

/* How many of the n elements from `from` on come before element i. */
static inline int64_t elements_rank(const elements *e, int64_t from, int64_t n, int64_t i) {
    const uint64_t h = elements_bits(e, i);
    int64_t rank = 0;
    for (int64_t k = from; k < from + n; k++) {
        const uint64_t other = elements_bits(e, k);
        rank += other < h || (other == h && k < i);
    }
    return rank;
}

static inline void elements_of_line(const elements *e, const elements_place *p, int64_t numel,
                                    double *to) {
    const int64_t i = p->from + p->r * p->n + p->c, line = i - p->c;
    const double u = elements_part(elements_bits(e, i));
    double sum = 0;
    to[1] = 0;
    if (e->structure == ELEMENTS_permutation)
        to[0] = (double)elements_rank(e, line, p->n, i);
    else if (e->structure == ELEMENTS_pivots)
        to[0] = (double)(p->c + 1) + floor(u * (double)(p->n - p->c));
    else if (e->structure == ELEMENTS_ascending)
        to[0] = p->c == p->n - 1 ? e->below - 1
                                 : floor(((double)p->c + u) * e->below / (double)p->n);
    else if (e->structure == ELEMENTS_distinct) {
        to[0] = (double)elements_rank(e, 0, numel, i);
        if (e->kind == ELEMENTS_INT) to[0] -= (double)(numel / 2);
        if (e->kind >= ELEMENTS_FLOAT)
            to[0] = e->lo + (to[0] + 0.25 + u / 2) / (double)numel * (e->hi - e->lo);
        if (e->kind == ELEMENTS_COMPLEX)
            to[1] = elements_between(elements_hash(elements_bits(e, i)), e->lo, e->hi);
    } else {
        for (int64_t k = line; k < line + p->n; k++)
            sum += floor(1 + elements_part(elements_bits(e, k)) * 1024);
        to[0] = floor(1 + u * 1024) / sum;
    }
}

/* Element i of numel: its real and imaginary part. */
static inline void elements_at(const elements *e, int64_t i, int64_t numel, double *to) {
    elements_place p = {0, 1, 1, 0, 0};
    if (e->structure == ELEMENTS_ANY) {
        elements_one(e, elements_bits(e, i), to);
        return;
    }
    if (e->ndim > 0) p.n = e->size[e->ndim - 1];
    if (e->ndim > 1) p.m = e->size[e->ndim - 2];
    p.c = i % p.n;
    p.r = i / p.n % p.m;
    p.from = i - p.r * p.n - p.c;
    switch (e->structure) {
    case ELEMENTS_pd:
    case ELEMENTS_symmetric: elements_hermitian(e, &p, to); break;
    case ELEMENTS_lower:
    case ELEMENTS_upper:
    case ELEMENTS_unitlower:
    case ELEMENTS_unitupper: elements_triangular(e, &p, to); break;
    case ELEMENTS_orthogonal: elements_reflection(e, &p, to); break;
    case ELEMENTS_invertible: elements_of_full_rank(e, &p, to); break;
    default: elements_of_line(e, &p, numel, to);
    }
}

#endif
