/* groups.c - several ranks: what they exchange, against models in this file; calls in which they
 * differ, ranks that leave, take too long or are out of memory; splitting; a backend of one's
 * own. */
#include "../../src/api/group.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum { MOST = 7 };
static const int32_t sizes[] = {1, 2, 3, 4, 7};
#define EACH_SIZE(n) \
    for (size_t n##_at = 0, n = 1; n##_at < 5 && ((n = (size_t)sizes[n##_at]), 1); n##_at++)

static int32_t size_of(void) { return tn_group_size(tn_group_current()); }
static void spawn(int32_t ranks, tn_group_body body, void *user) {
    CHECK(tn_group_spawn(ranks, body, user));
    CHECK(!tn_error_print());
}
/* Takes the error, whose text has `part` in it. */
static bool failed_with(tn_code code, const char *part) {
    tn_error_info e;
    bool right;
    if (!tn_error_take(&e)) return printf("no error: %s\n", part), false;
    right = e.code == code && strstr(e.message, part);
    if (!right) printf("    \"%s\" (%s)\n", e.message, tn_code_name(e.code));
    return right;
}
/* Lets other ranks go first, in an order that differs from call to call. */
static void dawdle(int32_t r, int turn) {
    for (int i = 0; i < (r * 7 + turn * 5) % 11; i++) sched_yield();
}

/* --- values ----------------------------------------------------------------------------------- */

/* Element i of rank r. */
static double value(int32_t r, int64_t i) {
    return (double)((r * 31 + i * 17) % 23) - 11 + (double)((r * 5 + i * 3) % 7) / 7;
}
/* Of whole numbers, for all but floats. */
static double whole(int32_t r, int64_t i) { return (double)((r * 3 + i * 5) % 6); }
static float tree(int32_t lo, int32_t hi, int64_t i) {
    int32_t half = 1;
    if (hi - lo == 1) return (float)value(lo, i);
    while (2 * half < hi - lo) half *= 2;
    const float left = tree(lo, lo + half, i), right = tree(lo + half, hi, i);
    return left + right;
}
static tn_tensor *filled(tn_dtype dtype, int64_t n, int32_t r, double (*f)(int32_t, int64_t)) {
    tn_tensor *t = tn_empty(TN_DIMS(n), .dtype = TN_F64);
    double *at = (double *)tn_data(t);
    for (int64_t i = 0; i < n; i++) at[i] = f(r, i);
    return tn_to_dtype(t, dtype);
}
static double at(const tn_tensor *t, int64_t i) {
    TN_SCOPE {
        tn_tensor *flat = tn_reshape(tn_to_dtype((tn_tensor *)(uintptr_t)t, TN_F64), TN_DIMS(-1));
        return ((double *)tn_data(flat))[i];
    }
    return 0;
}

static bool sums_in_the_tree(int32_t r, void *user) {
    enum { N = 2500 };
    for (int turn = 0; turn < 6; turn++) {
        tn_tensor *x = filled(TN_F32, N, r, value);
        const float *p = (const float *)tn_data(x);
        int64_t wrong = 0;
        dawdle(r, turn);
        if (!tn_distributed_all_reduce(x)) return false;
        for (int64_t i = 0; i < N; i++) {
            const float want = tree(0, size_of(), i);
            wrong += memcmp(&want, p + i, sizeof want) != 0;
        }
        CHECK_EQ(wrong, 0);
    }
    (void)user;
    return true;
}
static void a_sum_has_the_bits_of_the_tree_of_ranks_on_all_of_them(void) {
    EACH_SIZE(n) spawn((int32_t)n, sums_in_the_tree, NULL);
}

static double model(tn_reduce_op op, int32_t n, int64_t i) {
    double v = whole(0, i);
    for (int32_t r = 1; r < n; r++) {
        const double w = whole(r, i);
        const int64_t a = (int64_t)v, b = (int64_t)w;
        v = op == TN_REDUCE_OP_PRODUCT ? v * w
            : op == TN_REDUCE_OP_MIN   ? (w < v ? w : v)
            : op == TN_REDUCE_OP_MAX   ? (w > v ? w : v)
            : op == TN_REDUCE_OP_BAND  ? (double)(a & b)
            : op == TN_REDUCE_OP_BOR   ? (double)(a | b)
            : op == TN_REDUCE_OP_BXOR  ? (double)(a ^ b)
                                       : v + w;
    }
    return op == TN_REDUCE_OP_AVG ? v / n : v;
}
static const tn_dtype dtypes[] = {TN_U8,  TN_I8,   TN_I16, TN_I32, TN_I64,
                                  TN_F16, TN_BF16, TN_F32, TN_F64};
static bool reduces(int32_t r, void *user) {
    for (int d = 0; d < 9; d++)
        for (int op = TN_REDUCE_OP_SUM; op <= TN_REDUCE_OP_BXOR; op++) {
            const bool floats = d >= 5, bits = op >= TN_REDUCE_OP_BAND;
            const int32_t n = size_of();
            if (floats ? bits : op == TN_REDUCE_OP_AVG) continue;
            if (op == TN_REDUCE_OP_PRODUCT && n == 7) continue; /* beyond the small types */
            for (int64_t i = 0; i < 4; i++) {
                const int64_t numel = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 5 : 600;
                tn_tensor *x = filled(dtypes[d], numel, r, whole);
                tn_tensor *y = filled(dtypes[d], numel, r, whole);
                const int32_t root = (d + op) % n;
                if (!tn_distributed_all_reduce(x, .op = (tn_reduce_op)op) ||
                    !tn_distributed_reduce(y, root, .op = (tn_reduce_op)op))
                    return false;
                for (int64_t k = 0; k<numel; k += numel> 9 ? 37 : 1) {
                    tn_tensor *want = tn_to_dtype(
                        tn_full(TN_DIMS(1), model((tn_reduce_op)op, n, k), .dtype = TN_F64),
                        floats && d < 8 ? TN_F32 : dtypes[d]);
                    want = tn_to_dtype(want, dtypes[d]);
                    CHECK(at(x, k) == at(want, 0));
                    CHECK(at(y, k) == (r == root ? at(want, 0) : whole(r, k)));
                }
            }
        }
    (void)user;
    return true;
}
static void every_op_of_every_dtype_is_that_of_the_model(void) {
    spawn(3, reduces, NULL);
    spawn(4, reduces, NULL);
    spawn(7, reduces, NULL);
}

static bool odd_ones(int32_t r, void *user) {
    tn_tensor *c = tn_full(TN_DIMS(3), r + 1., .dtype = TN_C64);
    tn_tensor *b = tn_empty(TN_DIMS(2), .dtype = TN_BOOL), *both = tn_empty_like(b);
    tn_tensor *nan = tn_full(TN_DIMS(2), r == 1 ? (double)NAN : r);
    tn_tensor *half = tn_full(TN_DIMS(1), r == 0 ? 2048. : 0.75, .dtype = TN_F16);
    tn_tensor *u = tn_full(TN_DIMS(1), 200., .dtype = TN_U8);
    ((bool *)tn_data(b))[0] = ((bool *)tn_data(both))[0] = r == 1;
    ((bool *)tn_data(b))[1] = ((bool *)tn_data(both))[1] = true;
    if (!tn_distributed_all_reduce(c) || !tn_distributed_all_reduce(b) ||
        !tn_distributed_all_reduce(both, .op = TN_REDUCE_OP_PRODUCT) ||
        !tn_distributed_all_reduce(nan, .op = TN_REDUCE_OP_MAX) ||
        !tn_distributed_all_reduce(half) || !tn_distributed_all_reduce(u))
        return false;
    CHECK(((float *)tn_data(c))[0] == 6 && ((float *)tn_data(c))[1] == 0);
    CHECK(((bool *)tn_data(b))[0] && !((bool *)tn_data(both))[0] && ((bool *)tn_data(both))[1]);
    CHECK(at(nan, 0) != at(nan, 0));
    CHECK(at(half, 0) == 2050); /* 2049.5, rounded once; in halves 2048 stays */
    CHECK(at(u, 0) == 600 % 256);
    (void)user;
    return true;
}
static void complex_bool_nan_and_half_are_as_promised(void) { spawn(3, odd_ones, NULL); }

static bool moves(int32_t r, void *user) {
    const int32_t n = size_of();
    /* Columns of a wider tensor: neither row-major nor without gaps. */
    tn_tensor *wide = tn_full(TN_DIMS(4, 2 * n), -1.);
    tn_tensor *x = tn_slice(wide, .dim = 1, .step = 2);
    tn_tensor *all = tn_zeros(TN_DIMS(4 * n, n)), *part = tn_zeros(TN_DIMS(n));
    tn_tensor *mine = tn_zeros(TN_DIMS(2 * n)), *theirs = tn_zeros(TN_DIMS(n, 2));
    CHECK(tn_copy_(x, tn_full(TN_DIMS(4, n), 100. * r)) != NULL);
    for (int32_t k = 0; k < 2 * n; k++) ((float *)tn_data(mine))[k] = (float)(100 * r + k / 2);
    if (!tn_distributed_all_gather(all, x) ||
        !tn_distributed_all_to_all(theirs, tn_reshape(mine, TN_DIMS(n, 2))))
        return false;
    for (int32_t k = 0; k < n; k++) {
        CHECK(at(all, 4 * n * k) == 100 * k && at(all, 4 * n * (k + 1) - 1) == 100 * k);
        CHECK(at(theirs, 2 * k) == 100 * k + r && at(theirs, 2 * k + 1) == 100 * k + r);
    }
    tn_tensor *square = tn_transpose(filled(TN_F32, (int64_t)n * n, r, value), 0, 0);
    if (!tn_distributed_reduce_scatter(part, square)) return false;
    for (int32_t k = 0; k < n; k++) CHECK(at(part, k) == tree(0, n, (int64_t)r * n + k));
    if (!tn_distributed_broadcast(x, n - 1)) return false;
    CHECK(at(x, 0) == 100 * (n - 1) && at(x, 4 * n - 1) == 100 * (n - 1) && at(wide, 1) == -1);
    (void)user;
    return tn_distributed_barrier();
}
static void elements_go_where_they_belong_in_any_layout(void) {
    EACH_SIZE(n) spawn((int32_t)n, moves, NULL);
}

static bool messages(int32_t r, void *user) {
    const int32_t n = size_of(), next = (r + 1) % n, before = (r + n - 1) % n;
    for (int turn = 0; turn < 5; turn++) {
        tn_tensor *x = tn_full(TN_DIMS(3, 2), (double)(r)), *y = tn_full(TN_DIMS(3, 2), -1.);
        dawdle(r, turn);
        if (r % 2 ? !tn_distributed_recv(y, before) || !tn_distributed_send(x, next)
                  : !tn_distributed_send(x, next) || !tn_distributed_recv(y, before))
            return false;
        CHECK(at(y, 5) == before);
    }
    /* Tags choose, whatever was sent first; here by two ranks to one. */
    tn_tensor *t = tn_full(TN_DIMS(1), (double)(10 + r));
    if (r && !tn_distributed_send(t, 0, .tag = r)) return false;
    for (int32_t k = n - 1; !r && k > 0; k--) {
        if (!tn_distributed_recv(t, k, .tag = k)) return false;
        CHECK(at(t, 0) == 10 + k);
    }
    if (!tn_distributed_send(t, -1) || !tn_distributed_recv(t, -1)) return false;
    CHECK(at(t, 0) == (r ? 10 + r : 11));
    CHECK(!tn_distributed_send(t, r) && failed_with(TN_INVALID, "the rank of the caller"));
    CHECK(!tn_distributed_recv(t, r) && failed_with(TN_INVALID, "the rank of the caller"));
    CHECK(!tn_distributed_send(t, n) && failed_with(TN_INVALID, "the group has no rank 4"));
    (void)user;
    return true;
}
static void messages_arrive_by_rank_and_tag(void) { spawn(4, messages, NULL); }

/* --- ranks that differ ------------------------------------------------------------------------ */

static bool still_works(void) {
    tn_tensor *one = tn_ones(TN_DIMS(2));
    return tn_distributed_all_reduce(one) && at(one, 1) == size_of();
}
static bool differ(int32_t r, void *user) {
    tn_tensor *x = tn_full(TN_DIMS(r == 2 ? 3 : 2), 5.),
              *d = tn_full(TN_DIMS(2), 5., .dtype = TN_F32);
    tn_tensor *row = tn_full(TN_DIMS(1, 2), 5.);
    if (r == 1) d = tn_to_dtype(d, TN_F64);
    CHECK(!tn_distributed_all_reduce(x) &&
          failed_with(TN_INVALID,
                      "rank 2 calls all_reduce(op=sum) of float32 (3), but rank 0 calls "
                      "all_reduce(op=sum) of float32 (2)"));
    CHECK(at(x, 0) == 5 && still_works());
    CHECK(!tn_distributed_broadcast(d, 0) && failed_with(TN_INVALID, "rank 1 calls broadcast"));
    CHECK(at(d, 0) == 5 && still_works());
    CHECK(!tn_distributed_all_reduce(r ? row : tn_reshape(row, TN_DIMS(2))) &&
          failed_with(TN_INVALID, "rank 1 calls all_reduce(op=sum) of float32 (1, 2)"));
    CHECK(!tn_distributed_broadcast(row, r == 2) && failed_with(TN_INVALID, "(src=1)"));
    CHECK(!tn_distributed_all_reduce(row, .op = r ? TN_REDUCE_OP_SUM : TN_REDUCE_OP_MAX) &&
          failed_with(TN_INVALID, "rank 0 calls all_reduce(op=max)"));
    CHECK(!(r ? tn_distributed_barrier() : tn_distributed_reduce(row, 1)) &&
          failed_with(TN_INVALID, "rank 1 calls barrier, but rank 0 calls reduce(op=sum, dst=1)"));
    CHECK(at(row, 0) == 5 && still_works());
    (void)user;
    return true;
}
static void calls_in_which_ranks_differ_fail_on_all_and_change_nothing(void) {
    spawn(3, differ, NULL);
}

static bool wrong(int32_t r, void *user) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *leaf = tn_requires_grad(tn_ones(TN_DIMS(2)));
    tn_tensor *grown = tn_mul(leaf, leaf), *bits = tn_ones(TN_DIMS(2), .dtype = TN_I32);
    tn_tensor *c = tn_ones(TN_DIMS(2), .dtype = TN_C64), *four = tn_ones(TN_DIMS(4));
    /* One rank's wrong argument is everybody's error, and names it. */
    CHECK(!tn_distributed_all_reduce(r == 1 ? x : bits, .op = TN_REDUCE_OP_BAND));
    CHECK(failed_with(r == 1 ? TN_TYPE : TN_INVALID,
                      "reducing float32 tensors does not support bits"));
    CHECK(!tn_distributed_broadcast(x, r == 1 ? 7 : 0));
    CHECK(failed_with(TN_INVALID, "the group has no rank 7: it has 2"));
    CHECK(!tn_distributed_all_reduce(r ? grown : x));
    CHECK(failed_with(r ? TN_AUTOGRAD : TN_INVALID, "requires grad"));
    CHECK(still_works());
    /* The same on all ranks. */
    CHECK(!tn_distributed_all_reduce(c, .op = TN_REDUCE_OP_PRODUCT) &&
          failed_with(TN_TYPE, "complex64 tensors does not support product"));
    CHECK(!tn_distributed_all_reduce(bits, .op = TN_REDUCE_OP_AVG) &&
          failed_with(TN_TYPE, "int32 tensors does not support avg"));
    CHECK(!tn_distributed_all_gather(tn_ones(TN_DIMS(3)), x) &&
          failed_with(TN_INVALID, "world size times input tensor size (2)"));
    CHECK(!tn_distributed_reduce_scatter(x, x) && failed_with(TN_INVALID, "world size (2)"));
    CHECK(!tn_distributed_all_to_all(x, x) && failed_with(TN_INVALID, "is also input 1"));
    CHECK(!tn_distributed_all_to_all(tn_ones(TN_DIMS(3)), tn_ones(TN_DIMS(3))) &&
          failed_with(TN_INVALID, "does not divide equally"));
    CHECK(!tn_distributed_all_gather(tn_to_dtype(four, TN_F64), x) &&
          failed_with(TN_TYPE, "the same type"));
    CHECK(still_works());
    (void)user;
    return true;
}
static void a_wrong_argument_of_one_rank_is_an_error_of_all(void) { spawn(2, wrong, NULL); }

static bool ends_differ(int32_t r, void *user) {
    tn_tensor *x = tn_full(TN_DIMS(2 + r), 5.);
    CHECK(!(r ? tn_distributed_recv(x, 0) : tn_distributed_send(x, 1)));
    CHECK(failed_with(TN_INVALID,
                      r ? "this rank receives float32 (3), but rank 0 sends float32 (2)"
                        : "this rank sends float32 (2), but rank 1 receives float32 (3)"));
    CHECK(at(x, 1) == 5 && still_works());
    (void)user;
    return true;
}
static void a_message_that_does_not_fit_fails_on_both_ends(void) { spawn(2, ends_differ, NULL); }

static bool tags_differ(int32_t r, void *user) {
    tn_tensor *x = tn_full(TN_DIMS(2), (double)r);
    CHECK(tn_group_set_limit(tn_group_current(), 0.05));
    CHECK(!(r ? tn_distributed_recv(x, 0, .tag = 2) : tn_distributed_send(x, 1, .tag = 1)));
    CHECK(failed_with(TN_INTERNAL, "has waited 0.05 seconds for rank") && at(x, 0) == r);
    CHECK(tn_group_set_limit(tn_group_current(), 60));
    CHECK(r ? tn_distributed_recv(x, 0, .tag = 3) : tn_distributed_send(x, 1, .tag = 3));
    CHECK(at(x, 0) == 0 && still_works());
    (void)user;
    return true;
}
static void a_message_of_another_tag_is_not_taken(void) { spawn(2, tags_differ, NULL); }

/* --- ranks that are missing ------------------------------------------------------------------- */

static bool leaves(int32_t r, void *user) {
    tn_tensor *x = tn_ones(TN_DIMS(2));
    CHECK(still_works());
    if (r == 1) return *(bool *)user || tn_error_set(TN_INVALID, "a.c", 7, "I cannot go on");
    CHECK(!tn_distributed_all_reduce(x) && failed_with(TN_INTERNAL, "rank 1 has left the group"));
    CHECK(at(x, 0) == 1);
    CHECK(!tn_distributed_barrier() && failed_with(TN_INTERNAL, "rank 1 has left the group"));
    return true;
}
static void a_rank_that_leaves_or_fails_wakes_the_others(void) {
    bool quietly = true;
    spawn(4, leaves, &quietly);
    quietly = false;
    CHECK(!tn_group_spawn(4, leaves, &quietly));
    CHECK(failed_with(TN_INVALID, "rank 1: a.c:7: I cannot go on"));
}
static bool leaves_a_message(int32_t r, void *user) {
    tn_tensor *x = tn_ones(TN_DIMS(2));
    if (r == 2) return true;
    CHECK(!(r ? tn_distributed_recv(x, 2) : tn_distributed_send(x, 2)));
    CHECK(failed_with(TN_INTERNAL, "rank 2 has left the group"));
    (void)user;
    return true;
}
static void a_message_to_or_from_a_rank_that_has_left_fails(void) {
    spawn(3, leaves_a_message, NULL);
}

static bool waits(int32_t r, void *user) {
    uint32_t *over = (uint32_t *)user;
    tn_tensor *x = tn_ones(TN_DIMS(2));
    CHECK(!tn_group_set_limit(tn_group_current(), 0) && failed_with(TN_INVALID, "more than 0"));
    CHECK(tn_group_set_limit(tn_group_current(), 0.05));
    if (r) {
        CHECK(!tn_distributed_recv(x, 0) &&
              failed_with(TN_INTERNAL, "has waited 0.05 seconds for rank 0"));
        CHECK(!tn_distributed_all_reduce(x));
        CHECK(failed_with(TN_INTERNAL, "waited 0.05 seconds for rank 0"));
        CHECK(at(x, 0) == 1);
        __atomic_fetch_add(over, 1, __ATOMIC_ACQ_REL);
        return true;
    }
    while (__atomic_load_n(over, __ATOMIC_ACQUIRE) < 2) sched_yield();
    CHECK(!tn_distributed_barrier() && failed_with(TN_INTERNAL, "seconds for rank 0"));
    return true;
}
static void a_call_waits_no_longer_than_its_limit(void) {
    uint32_t over = 0;
    spawn(3, waits, &over);
}

static bool stops(int32_t r, void *user) {
    uint32_t *over = (uint32_t *)user;
    bool ok;
    if (!r) {
        for (int i = 0; i < 50; i++) sched_yield();
        tn_cancel(NULL);
        while (!__atomic_load_n(over, __ATOMIC_ACQUIRE)) sched_yield();
        return true;
    }
    CHECK(!tn_distributed_barrier());
    ok = failed_with(TN_CANCELLED, "cancelled");
    __atomic_store_n(over, 1, __ATOMIC_RELEASE);
    CHECK(ok);
    return true;
}
static void a_request_to_stop_ends_the_wait(void) {
    uint32_t over = 0;
    spawn(2, stops, &over);
    tn_cancel_clear(NULL);
}

/* --- ranks in contexts of their own ----------------------------------------------------------- */

typedef struct apart {
    tn_group *place;
    int32_t rank;
    bool right;
} apart;
static void *apart_main(void *user) {
    apart *a = (apart *)user;
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    tn_group *g = tn_group_join(a->place, a->rank);
    CHECK(tn_group_use(g) == NULL && tn_group_current() == g);
    a->right = still_works();
    tn_tensor *x = tn_ones(TN_DIMS(300000));
    if (a->rank) tn_set_memory_cap(1);
    CHECK(!tn_distributed_all_reduce(x));
    CHECK(failed_with(a->rank ? TN_MEMORY : TN_INVALID, "memory"));
    tn_set_memory_cap(0);
    a->right = a->right && at(x, 7) == 1 && still_works();
    if (a->rank) tn_group_free(g); /* that of rank 0 goes with its context */
    tn_context_use(NULL);
    tn_context_free(c);
    return NULL;
}
static void contexts_may_differ_and_one_without_memory_fails_all(void) {
    apart a[2] = {{tn_group_threads(2), 0, false}, {NULL, 1, false}};
    pthread_t thread[2];
    a[1].place = a[0].place;
    CHECK(a[0].place && tn_group_rank(a[0].place) == -1 && tn_group_size(a[0].place) == 2);
    for (int i = 0; i < 2; i++) CHECK(!pthread_create(&thread[i], NULL, apart_main, &a[i]));
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    tn_group_free(a[0].place);
    CHECK(a[0].right && a[1].right && !tn_error_print());
}

/* --- splitting -------------------------------------------------------------------------------- */

static bool splits(int32_t r, void *user) {
    tn_group *all = tn_group_current(), *part = tn_group_split(all, r % 2), *none, *again;
    tn_tensor *x = tn_full(TN_DIMS(2), (double)(r));
    CHECK(part && tn_group_size(part) == (r % 2 ? 2 : 3) && tn_group_rank(part) == r / 2);
    CHECK(tn_group_use(part) == all);
    if (!tn_distributed_all_reduce(x)) return false;
    CHECK(at(x, 0) == (r % 2 ? 1 + 3 : 0 + 2 + 4));
    again = tn_group_split(part, 0);
    tn_group_use(again);
    CHECK(still_works());
    tn_group_free(again);
    CHECK(tn_group_current() == NULL && tn_group_use(all) == NULL);
    none = tn_group_split(all, r ? -1 : 5);
    CHECK((none == NULL) == (r != 0) && tn_ok());
    tn_group_free(none);
    tn_group_free(part);
    CHECK(still_works());
    (void)user;
    return true;
}
static void colors_make_groups_in_the_order_of_ranks(void) {
    tn_group *alone = tn_group_split(NULL, 3);
    spawn(5, splits, NULL);
    CHECK(alone && tn_group_size(alone) == 1 && tn_group_rank(alone) == 0);
    tn_group_use(alone);
    CHECK(still_works());
    tn_group_free(alone);
    CHECK(tn_group_split(NULL, -1) == NULL && tn_ok());
}

/* --- one rank, and what is wrong with a group ------------------------------------------------- */

static void without_a_group_a_thread_is_one_rank(void) {
    tn_tensor *x = tn_full(TN_DIMS(2), 3.), *y = tn_zeros(TN_DIMS(1, 2));
    CHECK(tn_group_current() == NULL && tn_group_rank(NULL) == 0 && tn_group_size(NULL) == 1);
    CHECK_TEXT(tn_group_kind(NULL), "one");
    CHECK(tn_distributed_all_reduce(x, .op = TN_REDUCE_OP_AVG) && tn_distributed_broadcast(x, 0));
    CHECK(tn_distributed_all_gather(y, x) && at(y, 1) == 3 && tn_distributed_barrier());
    CHECK(!tn_distributed_broadcast(x, 1) && failed_with(TN_INVALID, "the group has no rank 1"));
}

static bool nothing(int32_t r, void *user) { return (void)r, (void)user, true; }
static bool false_alone(int32_t r, void *user) { return (void)user, r != 1; }
static void what_is_wrong_with_a_group_is_an_error(void) {
    tn_group *place = tn_group_threads(2), *g = tn_group_join(place, 1);
    CHECK(place && g);
    CHECK(!tn_group_join(place, 1) && failed_with(TN_INVALID, "rank 1 has joined already"));
    CHECK(!tn_group_join(place, 2) && failed_with(TN_INVALID, "from 0 to 1, got 2"));
    CHECK(!tn_group_join(g, 0) && failed_with(TN_INVALID, "expected a place"));
    CHECK(!tn_group_join(NULL, 0) && failed_with(TN_INVALID, "expected a place"));
    CHECK(!tn_group_use(place) && failed_with(TN_INVALID, "has to join the place first"));
    CHECK(!tn_group_split(place, 0) && failed_with(TN_INVALID, "has to join the place first"));
    CHECK(!tn_group_threads(0) && failed_with(TN_INVALID, "expected 1 to 1024 ranks, got 0"));
    CHECK(!tn_group_threads(1025) && failed_with(TN_INVALID, "got 1025"));
    CHECK(!tn_group_spawn(0, nothing, NULL) && failed_with(TN_INVALID, "got 0"));
    CHECK(!tn_group_spawn(2, NULL, NULL) && failed_with(TN_INVALID, "expected a function"));
    CHECK(!tn_group_set_limit(NULL, 1) && failed_with(TN_INVALID, "expected a group"));
    CHECK(!tn_group_spawn(2, false_alone, NULL) && failed_with(TN_INTERNAL, "rank 1: it returned"));
    /* The place goes before rank 0 has joined: rank 1 must not wait for it. */
    tn_group_free(place);
    tn_group_use(g);
    CHECK(!tn_distributed_barrier() && failed_with(TN_INTERNAL, "the place was freed"));
    tn_group_free(g);
    tn_group_free(NULL);
    CHECK(tn_group_current() == NULL && tn_ok());
}

static bool draws(int32_t r, void *user) {
    tn_generator *g = tn_default_generator(), *mine;
    const double first = at(tn_rand(TN_DIMS(1)), 0);
    tn_manual_seed(3);
    CHECK(at(tn_rand(TN_DIMS(1)), 0) == *(double *)user);
    mine = tn_generator_new(3);
    CHECK(tn_set_default_generator(mine) == g && tn_default_generator() == mine);
    CHECK(at(tn_rand(TN_DIMS(1)), 0) == *(double *)user);
    tn_generator_free(mine); /* and the thread draws from the context's */
    CHECK(tn_default_generator() != g && tn_set_default_generator(g) == NULL);
    CHECK(first == ((double *)user)[1] && tn_default_generator() == g);
    (void)r;
    return true;
}
static void each_rank_draws_from_a_stream_of_its_own(void) {
    double want[2];
    want[1] = at(tn_rand(TN_DIMS(1)), 0); /* of a new context */
    tn_manual_seed(3);
    want[0] = at(tn_rand(TN_DIMS(1)), 0);
    spawn(3, draws, want);
}

static bool replays(int32_t r, void *user) {
    tn_tensor *x = tn_full(TN_DIMS(2), (double)(r + 1));
    CHECK(tn_record_begin());
    const bool ok = tn_distributed_all_reduce(x);
    tn_recording *recording = tn_record_end();
    CHECK(ok && at(x, 0) == 3 && tn_replay(recording) && at(x, 0) == 6);
    tn_recording_free(recording);
    (void)user;
    return true;
}
static void a_replay_meets_the_other_ranks_again(void) { spawn(2, replays, NULL); }

/* --- a backend of one's own ------------------------------------------------------------------- */

/* Two ranks of which the other always does as this one. */
static int echo_left, echo_kept;
static bool echo_gather(void *rank, const void *mine, void *all, const int64_t *to,
                        tn_group_wait *w) {
    (void)rank, (void)w;
    for (int r = 0; r < 2; r++)
        if (to[r + 1] > to[r]) memmove((char *)all + to[r], mine, (size_t)(to[r + 1] - to[r]));
    return true;
}
static bool echo_exchange(void *rank, const void *mine, const int64_t *give, void *theirs,
                          const int64_t *take, tn_group_wait *w) {
    (void)rank, (void)w;
    for (int r = 0; r < 2; r++)
        if (take[r + 1] > take[r])
            memmove((char *)theirs + take[r], (const char *)mine + give[0],
                    (size_t)(take[r + 1] - take[r]));
    return true;
}
static bool echo_send(void *rank, int32_t to, int64_t tag, const void *head, void *other,
                      int64_t bytes, const void *data, int64_t n, tn_group_wait *w) {
    (void)rank, (void)to, (void)tag, (void)data, (void)n;
    if (tag) return snprintf(w->why, sizeof w->why, "the wire is cut"), false;
    memcpy(other, head, (size_t)bytes);
    return true;
}
static void echo_leave(void *rank) { echo_left += rank == &echo_left; }
static void echo_release(void *kept) { echo_kept += kept == &echo_kept; }
static void a_backend_of_ones_own_is_a_struct_of_functions(void) {
    tn_group_backend echo = {.version = TN_GROUP_VERSION, .bytes = sizeof echo, .kind = "echo"};
    tn_tensor *x = tn_full(TN_DIMS(4), 3.);
    tn_group *g;
    echo.gather = echo_gather;
    echo.exchange = echo_exchange;
    echo.send = echo_send;
    echo.leave = echo_leave;
    g = tn_group_new(&echo, &echo_left, 0, 2);
    CHECK(g && tn_group_use(g) == NULL);
    CHECK_TEXT(tn_group_kind(g), "echo");
    CHECK(tn_distributed_all_reduce(x) && at(x, 0) == 6 && tn_distributed_send(x, 1));
    CHECK(!tn_distributed_send(x, 1, .tag = 1) &&
          failed_with(TN_INTERNAL, "rank 0 of 2: the wire is cut"));
    CHECK(tn_group_kept(g) == NULL);
    tn_group_keep(g, &echo_kept, echo_release);
    CHECK(tn_group_kept(g) == &echo_kept);
    tn_group_free(g);
    CHECK(echo_left == 1 && echo_kept == 1);
    CHECK(!tn_group_new(&echo, &echo_left, 2, 2) && failed_with(TN_INVALID, "rank 2"));
    CHECK_EQ(echo_left, 2);
    echo.version = 9;
    CHECK(!tn_group_new(&echo, &echo_left, 0, 2) && failed_with(TN_INVALID, "another version"));
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_sum_has_the_bits_of_the_tree_of_ranks_on_all_of_them),
        CHECK_TEST(every_op_of_every_dtype_is_that_of_the_model),
        CHECK_TEST(complex_bool_nan_and_half_are_as_promised),
        CHECK_TEST(elements_go_where_they_belong_in_any_layout),
        CHECK_TEST(messages_arrive_by_rank_and_tag),
        CHECK_TEST(calls_in_which_ranks_differ_fail_on_all_and_change_nothing),
        CHECK_TEST(a_wrong_argument_of_one_rank_is_an_error_of_all),
        CHECK_TEST(a_message_that_does_not_fit_fails_on_both_ends),
        CHECK_TEST(a_message_of_another_tag_is_not_taken),
        CHECK_TEST(a_rank_that_leaves_or_fails_wakes_the_others),
        CHECK_TEST(a_message_to_or_from_a_rank_that_has_left_fails),
        CHECK_TEST(a_call_waits_no_longer_than_its_limit),
        CHECK_TEST(a_request_to_stop_ends_the_wait),
        CHECK_TEST(contexts_may_differ_and_one_without_memory_fails_all),
        CHECK_TEST(colors_make_groups_in_the_order_of_ranks),
        CHECK_TEST(without_a_group_a_thread_is_one_rank),
        CHECK_TEST(what_is_wrong_with_a_group_is_an_error),
        CHECK_TEST(each_rank_draws_from_a_stream_of_its_own),
        CHECK_TEST(a_replay_meets_the_other_ranks_again),
        CHECK_TEST(a_backend_of_ones_own_is_a_struct_of_functions),
    };
    return CHECK_MAIN(tests, argc, argv);
}
