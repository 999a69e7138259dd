/* verdicts.c - promises of rows whose failures are found by computing: a call that its verdict
 * refuses has changed nothing that was there before it; scratch for each worker; column-major
 * results. */
#include "../refused.h"
#include "exact.h"

#include <sched.h>

/* --- rows ------------------------------------------------------------------------------------- */

static tn_context *context;
static tn_row roots, drawn, stopped;
static int judged;

/* self (*) -> root (*), info (): info is 1 + the number of the first negative element. */
static bool roots_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return tn_announce(f, 0, TN_F64, x->ndim, x->size) && tn_announce(f, 1, TN_I32, 0, NULL);
}
static void roots_run(tn_frame *f) {
    double *to = (double *)tn_data(f->out[0]);
    int32_t *info = (int32_t *)tn_data(f->out[1]);
    *info = 0;
    for (int64_t i = 0; i < f->in[0]->numel; i++) {
        const double x = tni_element(tni_bytes_at(f->in[0]) + 8 * i, TN_F64).real;
        if (x < 0 && !*info) *info = (int32_t)i + 1;
        to[i] = x < 0 ? 1e9 : sqrt(x);
    }
}
static bool roots_verdict(tn_frame *f) {
    judged++;
    return tn_info_verdict(f, 1, "element # has no root");
}
static void roots_grad(tn_gradient *g) { tn_give(g, 0, tnp_div(g->incoming[0], g->out[0])); }

/* In place; draws a number and stops itself where it is told to. */
static bool one_check(tn_frame *f) { return tn_announce_like(f, 0, f->in[0], TN_F64); }
static bool refused_now;
static bool refuses(tn_frame *f) {
    judged++;
    return refused_now ? tn_fail(f, TN_LINALG, "refused") : true;
}
static void drawn_run(tn_frame *f) {
    fill_run(f);
    *(double *)tn_data(f->out[0]) = (double)(tn_random64(f->generator) >> 20);
}
static void stopped_run(tn_frame *f) {
    fill_run(f);
    tn_cancel(context);
    tn_cancelled(f);
}

static void nothing_to_give(tn_gradient *g) { (void)g; }

static void add_row(tn_row *r, const char *name, const char *schema, uint32_t forms,
                    bool (*check)(tn_frame *), void (*run)(tn_frame *),
                    bool (*verdict)(tn_frame *)) {
    memset(r, 0, sizeof *r);
    r->name = name, r->schema = schema, r->forms = forms;
    r->check = check, r->run = run, r->verdict = verdict;
}
static void add_rows(void) {
    add_row(&roots, "roots", "roots(Tensor self) -> (Tensor root, Tensor info)", TN_OUT,
            roots_check, roots_run, roots_verdict);
    roots.grad = roots_grad, roots.needs = "root";
    add_row(&drawn, "drawn", "drawn(Tensor self, Generator? generator=None) -> Tensor",
            TN_OUT | TN_INPLACE, one_check, drawn_run, refuses);
    add_row(&stopped, "stopped", "stopped(Tensor self) -> Tensor", TN_OUT | TN_INPLACE, one_check,
            stopped_run, refuses);
    drawn.grad = nothing_to_give;
    CHECK(tn_register(&roots) && tn_register(&drawn) && tn_register(&stopped));
}
static tn_context *begin_rows(void) {
    context = begin();
    add_rows();
    return context;
}

static bool made(const tn_row *row, unsigned how, tn_tensor *x, tn_tensor **out, int n) {
    tn_value v[2];
    int count;
    memset(v, 0, sizeof v);
    v[0].type = TN_T_TENSOR, v[0].as.tensor = x;
    v[1].type = n > 1 ? TN_T_TENSORS : TN_T_TENSOR, v[1].name = "out";
    if (n > 1)
        v[1].as.tensors = tn_tensors_of(out, n);
    else if (n)
        v[1].as.tensor = out[0];
    result[0] = result[1] = NULL;
    return tn_call_row("verdicts.c", 7, row, how, v, n ? 2 : 1, result, 6, &count);
}
static tn_tensor *numbers(double a, double b) {
    tn_tensor *t = tn_empty(TN_DIMS(2), .dtype = TN_F64);
    double *v = (double *)tn_data(t);
    v[0] = a, v[1] = b;
    return t;
}

/* --- what a refused call leaves --------------------------------------------------------------- */

static void a_verdict_names_what_failed_and_gives_nothing(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        CHECK(made(&roots, TN_PLAIN, numbers(4, 9), NULL, 0) && at(result[0], 1) == 3);
        const int64_t before = tn_memory().live_tensors;
        REFUSED(made(&roots, TN_PLAIN, numbers(4, -9), NULL, 0), TN_LINALG,
                "element 2 has no root");
        CHECK(!result[0] && !result[1]);
        CHECK_EQ(tn_memory().live_tensors, before + 1); /* what was given */
        judged = 0;
        CHECK(made(&roots, TN_PLAIN, tn_empty(TN_DIMS(2), .device = TN_META), NULL, 0));
        CHECK_EQ(judged, 0);
    }
    end(c);
}
static void given_tensors_are_as_before(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        for (int kind = 0; kind < 3; kind++) { /* as announced, another dtype, another layout */
            tn_tensor *to = kind == 1 ? tn_ones(TN_DIMS(2)) : tn_ones(TN_DIMS(2), .dtype = TN_F64);
            if (kind == 2) to = tn_select(tn_ones(TN_DIMS(2, 2), .dtype = TN_F64), 1, 0);
            tn_tensor *out[2] = {to, tn_ones(TN_DIMS(0), .dtype = TN_I64)};
            out[1] = tn_full(TN_EMPTY_DIMS, 5, .dtype = TN_I64);
            const int64_t version = tn_version(to);
            REFUSED(made(&roots, TN_PLAIN, numbers(-1, 4), out, 2), TN_LINALG, "element 1");
            CHECK(at(to, 0) == 1 && at(to, 1) == 1 && at(out[1], 0) == 5);
            CHECK_EQ(tn_version(to), version);
            CHECK(made(&roots, TN_PLAIN, numbers(16, 4), out, 2) && result[0] == to);
            CHECK(at(to, 0) == 4 && at(to, 1) == 2 && at(out[1], 0) == 0);
            CHECK_EQ(tn_version(to), version + 1);
        }
    }
    end(c);
}
static void in_place_nothing_is_written_and_no_number_drawn(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        tn_tensor *x = numbers(1, 2), *next;
        tn_manual_seed(3);
        next = tn_rand(TN_DIMS(1), .dtype = TN_F64);
        for (refused_now = true;; refused_now = false) {
            tn_manual_seed(3);
            CHECK_EQ(made(&drawn, TN_IN_PLACE, x, NULL, 0), !refused_now);
            if (!refused_now) break;
            says(TN_LINALG, "drawn(self=float64 (2)", __LINE__);
            CHECK(at(x, 0) == 1 && at(x, 1) == 2 && tn_version(x) == 0);
            CHECK(tn_item(tn_rand(TN_DIMS(1), .dtype = TN_F64)) == tn_item(next));
        }
        CHECK(at(x, 0) > 2 && at(x, 1) == 0 && tn_version(x) == 1);
    }
    end(c);
}
static void a_call_that_was_stopped_is_not_judged(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        tn_tensor *x = numbers(1, 2);
        judged = 0;
        REFUSED(made(&stopped, TN_IN_PLACE, x, NULL, 0), TN_CANCELLED, "was cancelled");
        CHECK(at(x, 1) == 2 && tn_version(x) == 0);
        tn_cancel_clear(NULL);
        REFUSED(made(&stopped, TN_PLAIN, numbers(1, 2), &x, 1), TN_CANCELLED, "was cancelled");
        CHECK(at(x, 1) == 2 && tn_version(x) == 0);
        CHECK_EQ(judged, 0);
        tn_cancel_clear(NULL);
    }
    end(c);
}
static void the_graph_is_that_before_the_call(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(numbers(4, -9)), *y = tn_mul_scalar(x, 1);
        REFUSED(made(&roots, TN_PLAIN, y, NULL, 0), TN_LINALG, "roots(self=float64 (2)");
        y = tn_mul_scalar(x, -1);
        REFUSED(made(&roots, TN_PLAIN, y, NULL, 0), TN_LINALG, "element 1");
        y = tn_mul(x, x);
        CHECK(made(&roots, TN_PLAIN, y, NULL, 0) && tn_backward(tn_sum(result[0])));
        CHECK(at(tn_grad_of(x), 0) == 2 && at(tn_grad_of(x), 1) == -2);
        tn_zero_grad(x);
        y = tn_mul_scalar(x, 3);
        refused_now = true;
        REFUSED(made(&drawn, TN_IN_PLACE, tn_unsqueeze(y, 0), NULL, 0), TN_LINALG, "refused");
        CHECK(tn_backward(tn_sum(y)) && at(tn_grad_of(x), 1) == 3);
        y = tn_mul_scalar(x, 3);
        refused_now = false;
        CHECK(made(&drawn, TN_IN_PLACE, tn_unsqueeze(y, 0), NULL, 0));
    }
    end(c);
}

/* --- recordings ------------------------------------------------------------------------------- */

static void a_failed_call_is_not_in_the_recording(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        for (int first = 0; first < 2; first++) { /* whether a call stands before it */
            tn_tensor *x = numbers(4, 9), *bad = numbers(4, -9), *y = NULL;
            CHECK(tn_record_begin());
            if (first) CHECK((y = tn_mul_scalar(x, 2)) != NULL);
            REFUSED(made(&roots, TN_PLAIN, bad, NULL, 0), TN_LINALG, "element 2");
            CHECK(made(&roots, TN_PLAIN, x, NULL, 0));
            tn_recording *r = tn_record_end();
            ((double *)tn_data(x))[1] = 36;
            CHECK(tn_replay(r) && at(result[0], 1) == 6 && (!y || at(y, 1) == 72));
            tn_recording_free(r);
        }
    }
    end(c);
}
static void a_replay_that_is_refused_leaves_what_was_given(void) {
    tn_context *c = begin_rows();
    TN_SCOPE {
        tn_tensor *x = numbers(4, 9),
                  *out[2] = {tn_zeros(TN_DIMS(2)), tn_zeros(TN_EMPTY_DIMS, .dtype = TN_I32)};
        CHECK(tn_record_begin());
        CHECK(made(&roots, TN_PLAIN, x, out, 2));
        tn_recording *r = tn_record_end();
        CHECK(at(out[0], 1) == 3);
        ((double *)tn_data(x))[1] = 25;
        CHECK(tn_replay(r) && at(out[0], 1) == 5 && tn_version(out[0]) == 2);
        ((double *)tn_data(x))[0] = -25;
        REFUSED(tn_replay(r), TN_LINALG, "element 1 has no root");
        CHECK(at(out[0], 0) == 2 && at(out[0], 1) == 5 && at(out[1], 0) == 0);
        CHECK_EQ(tn_version(out[0]), 2);
        ((double *)tn_data(x))[0] = 1;
        CHECK(tn_replay(r) && at(out[0], 0) == 1);
        tn_recording_free(r);
    }
    end(c);
}

/* --- scratch for each worker ------------------------------------------------------------------ */

static int64_t tasks, words;
static tn_row each;
static bool each_check(tn_frame *f) {
    return tn_scratch(f, 3, 8) && tn_scratch_each(f, words, 8) && tn_scratch(f, 5, 8) &&
           tn_announce(f, 0, TN_F64, 1, &tasks);
}
/* The words hold the task's own number from the first to the last, while others do theirs. */
static void each_task(tn_frame *f, int64_t i, void *scratch) {
    double *own = (double *)scratch, sum = 0;
    if ((uintptr_t)scratch % 64) sum = 1e9;
    for (int64_t k = 0; k < words; k++) own[k] = (double)i + 1;
    sched_yield(); /* others come in between */
    for (int64_t k = 0; k < words; k++) sum += own[k];
    ((double *)tn_data(f->out[0]))[i] += sum;
}
static void each_run(tn_frame *f) {
    double *before = (double *)f->scratch, *behind = before + 8 + f->workers * f->each_bytes / 8;
    fill_run(f);
    for (int k = 0; k < 3; k++) before[k] = 7;
    for (int k = 0; k < 5; k++) behind[k] = 7;
    tn_each(f, tasks, 1 << 14, each_task);
    for (int k = 0; k < 5; k++)
        if (before[k < 3 ? k : 0] != 7 || behind[k] != 7) ((double *)tn_data(f->out[0]))[0] = -1;
}
static void every_task_runs_once_with_scratch_of_its_worker(void) {
    tn_context *c = begin();
    add_row(&each, "each", "each(Tensor self) -> Tensor", 0, each_check, each_run, NULL);
    CHECK(tn_register(&each));
    for (int threads = 1; threads <= 8; threads *= 2)
        for (tasks = 0; tasks < 400; tasks += 133)
            for (words = 1; words < 200; words += 61)
                TN_SCOPE {
                    bool right = true;
                    CHECK(tn_set_threads(threads));
                    CHECK(made(&each, TN_PLAIN, numbers(1, 2), NULL, 0));
                    for (int64_t i = 0; result[0] && i < tasks; i++)
                        right = right && ((double *)tn_data(result[0]))[i] ==
                                             (double)words * (double)(i + 1);
                    CHECK(right);
                }
    words = INT64_MAX / 16, tasks = 1;
    TN_SCOPE {
        REFUSED(made(&each, TN_PLAIN, numbers(1, 2), NULL, 0), TN_MEMORY, "scratch");
    }
    end(c);
}

/* --- columns ---------------------------------------------------------------------------------- */

static int64_t column_size[4];
static int column_ndim;
static tn_row columns;
static bool columns_check(tn_frame *f) {
    return tn_announce_columns(f, 0, TN_F32, column_ndim, column_size);
}
static void matrices_lie_column_under_column(void) {
    static const struct {
        int ndim;
        int64_t size[4], stride[4];
    } cases[] = {{0, {0}, {0}},
                 {1, {3}, {1}},
                 {2, {2, 3}, {1, 2}},
                 {3, {4, 2, 3}, {6, 1, 2}},
                 {4, {5, 4, 3, 3}, {36, 9, 1, 3}},
                 {3, {2, 0, 3}, {3, 1, 1}},
                 {2, {1, 3}, {1, 1}}};
    tn_context *c = begin();
    add_row(&columns, "columns", "columns(Tensor self) -> Tensor", TN_OUT, columns_check, fill_run,
            NULL);
    CHECK(tn_register(&columns));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        TN_SCOPE {
            column_ndim = cases[i].ndim;
            memcpy(column_size, cases[i].size, sizeof column_size);
            CHECK(made(&columns, TN_PLAIN, numbers(1, 2), NULL, 0));
            for (int d = 0; result[0] && d < column_ndim; d++)
                CHECK_EQ(tn_strides(result[0]).at[d], cases[i].stride[d]);
        }
    end(c);
}

/* --- rows that cannot be ---------------------------------------------------------------------- */

static bool never(tn_frame *f) { return f != NULL; }
static void a_verdict_stands_beside_run_alone(void) {
    tn_context *c = begin();
    tn_row r;
    add_row(&r, "wrong", "wrong(Tensor self) -> Tensor", 0, NULL, NULL, refuses);
    r.compose = never;
    REFUSED(tn_register(&r), TN_INVALID, "must not combine a verdict with compose or rules");
    add_row(&r, "wrong", "wrong(Tensor(a!) self) -> Tensor", 0, one_check, fill_run, refuses);
    REFUSED(tn_register(&r), TN_INVALID, "a row with a verdict must not write an argument");
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_verdict_names_what_failed_and_gives_nothing),
        CHECK_TEST(given_tensors_are_as_before),
        CHECK_TEST(in_place_nothing_is_written_and_no_number_drawn),
        CHECK_TEST(a_call_that_was_stopped_is_not_judged),
        CHECK_TEST(the_graph_is_that_before_the_call),
        CHECK_TEST(a_failed_call_is_not_in_the_recording),
        CHECK_TEST(a_replay_that_is_refused_leaves_what_was_given),
        CHECK_TEST(every_task_runs_once_with_scratch_of_its_worker),
        CHECK_TEST(matrices_lie_column_under_column),
        CHECK_TEST(a_verdict_stands_beside_run_alone),
    };
    return CHECK_MAIN(tests, argc, argv);
}
