/* graphs.cc - recordings of a CUDA device in emulation as graphs: a step of training that was
 * captured gives by replays the bits of the same steps without, in any order of streams and with
 * numbers that the device draws; its memory stays where it is and nothing more is asked of the
 * driver; what no graph can hold runs by itself; faults name their call; calls of the runtime may
 * fail. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../captured.h"
#include "../check.h"
#include "watch.h"

#include <math.h>

static tn_device_id cuda;

static tn_ints dims(int64_t a, int64_t b) {
    static int64_t at[2];
    at[0] = a;
    at[1] = b;
    return tn_ints_of(at, a ? 2 : 1);
}
static tn_tensor *full(int64_t rows, int64_t cols, double value) {
    return tnp_full(dims(rows, cols), tn_float(value), TN_F32, cuda);
}
/* 0, 1, .. by rows; without rows of one dimension. */
static tn_tensor *ramp(int64_t rows, int64_t cols, tn_dtype dtype) {
    tn_tensor *t = tnp_arange(tn_int(rows ? rows * cols : cols), dtype, cuda);
    return rows ? tnp_reshape(t, dims(rows, cols)) : t;
}
static tn_tensor *sum(tn_tensor *t) { return tnp_sum(t, tn_no_dims(), false, TN_NO_DTYPE); }
static bool refused(bool ok, tn_code code, const char *text) {
    tn_error_info e;
    if (ok || !tn_error_take(&e)) return false;
    if (e.code == code && strstr(e.message, text)) return true;
    printf("%s: %s\n", tn_code_name(e.code), e.message);
    return false;
}
/* Graphs that the runtime has and that were made; 0 on a GPU, which does not tell. */
static int live_graphs() {
    int n = 0;
#ifdef TNC_EMULATION
    for (const auto &g : emu_graph_list().execs) n += g->live;
#endif
    return n;
}
static int made_graphs() {
#ifdef TNC_EMULATION
    return (int)emu_graph_list().execs.size();
#else
    return 0;
#endif
}

/* --- a step of training ----------------------------------------------------------------------- */

enum { ROWS = 9, WORDS = 11, WIDE = 5, STEPS = 3, ALL = 2 * WORDS * WIDE + 1 };
struct model {
    tn_tensor *words, *target;     /* what a step reads */
    tn_tensor *p[2], *momentum[2]; /* what it changes */
    tn_tensor *loss;
};
static model model_new() {
    model n;
    n.words = ramp(0, ROWS, TN_I64);
    n.target = ramp(0, ROWS, TN_I64);
    n.p[0] = tn_requires_grad(tnp_mul(ramp(WORDS, WIDE, TN_F32), full(1, 1, 0.0625)));
    n.p[1] = tn_requires_grad(tnp_mul(ramp(WIDE, WORDS, TN_F32), full(1, 1, -0.03125)));
    n.momentum[0] = full(WORDS, WIDE, 0);
    n.momentum[1] = full(WIDE, WORDS, 0);
    n.loss = NULL;
    return n;
}
/* Embedding, dropout, a product, cross entropy; backward; SGD with momentum. */
static bool step(model *n) {
    static const double number[3][2] = {{0.5, 0.5}, {0.25, 0.25}, {0, 0}};
    tn_floats l[3];
    tn_tensor *x, *g[2];
    bool ok = false;
    for (int i = 0; i < 3; i++) {
        l[i].at = number[i];
        l[i].n = 2;
    }
    x = tnp_dropout(tnp_embedding(n->p[0], n->words, -1, false, false), 0.5, true);
    n->loss = tnp_cross_entropy(tnp_tanh(tnp_matmul(x, n->p[1])), n->target, NULL, -100,
                                TN_REDUCTION_MEAN, 0);
    if (!n->loss || !tn_backward_all(tn_tensors_of(&n->loss, 1), NULL, NULL)) return false;
    for (int k = 0; k < 2; k++) g[k] = tn_grad_of(n->p[k]);
    tn_no_grad {
        ok =
            tnp_fused_sgd_(tn_tensors_of(n->p, 2), tn_tensors_of(g, 2),
                           tn_tensors_of(n->momentum, 2), l[0], l[1], l[2], l[2], l[2], l[2], l[2]);
    }
    for (int k = 0; k < 2; k++) tn_zero_grad(n->p[k]);
    return ok;
}
/* The inputs of step i. */
static bool feed(model *n, int i) {
    static const int64_t first = 0;
    tn_tensor *words = tnp_remainder_scalar(tnp_add_scalar(ramp(0, ROWS, TN_I64), tn_int(3 * i), 1),
                                            tn_int(WORDS));
    return tnp_copy_(n->words, words) &&
           tnp_copy_(n->target, tnp_flip(words, tn_ints_of(&first, 1)));
}
static bool look(model *n, float *to) {
    return tn_read_f32(tnp_detach(n->p[0]), to, WORDS * WIDE) &&
           tn_read_f32(tnp_detach(n->p[1]), to + WORDS * WIDE, WORDS * WIDE) &&
           tn_read_f32(tnp_detach(n->loss), to + 2 * WORDS * WIDE, 1);
}
static bool eager(float to[STEPS][ALL]) {
    bool ok = true;
    TN_SCOPE {
        model n = model_new();
        tn_manual_seed(5);
        for (int i = 0; ok && i < STEPS; i++) ok = feed(&n, i) && step(&n) && look(&n, to[i]);
    }
    return ok;
}
/* A capture of the step, and a replay for each of its inputs. */
static bool captured(float to[STEPS][ALL]) {
    bool ok;
    TN_SCOPE {
        model n = model_new();
        tn_recording *r;
        tn_manual_seed(5); /* the capture draws nothing */
        ok = tn_capture_begin() && step(&n);
        r = tn_record_end();
        for (int i = 0; ok && i < STEPS; i++) ok = feed(&n, i) && tn_replay(r) && look(&n, to[i]);
        tn_recording_free(r);
    }
    return ok;
}

static void replays_have_the_bits_of_steps(void) {
    static float want[STEPS][ALL], got[STEPS][ALL];
    CHECK(eager(want));
    CHECK(memcmp(want[0], want[1], sizeof want[0]));
    for (int order = 0; order < 4; order++) {
        take_order(order);
        const int before = made_graphs();
        memset(got, 0, sizeof got);
        CHECK(captured(got) && !memcmp(got, want, sizeof got));
        CHECK_EMULATED(made_graphs() > before);
        CHECK(live_graphs() == 0);
    }
    take_order(0);
    CHECK(tn_device_wait(cuda));
}

static void captured_steps_of_optimizers_count_on(void) {
    for (int order = 0; order < 3; order++) {
        take_order(order);
        CHECK_EQ(captured_optimizers(cuda), 9);
    }
    take_order(0);
    CHECK(tn_device_wait(cuda) && live_graphs() == 0);
}

static void nothing_moves_and_nothing_is_asked_of_the_driver(void) {
    TN_SCOPE {
        model n = model_new();
        tn_recording *r;
        CHECK(feed(&n, 0) && tn_capture_begin() && step(&n));
        r = tn_record_end();
        CHECK(tn_replay(r) && tn_replay(r) && tn_device_wait(cuda));
        const void *at = tn_device_data(n.loss), *weight = tn_device_data(n.p[0]);
        const int64_t calls = tn_device_memory(cuda).calls, used = tn_device_memory(cuda).used;
        const int graphs = live_graphs();
        const long long allocations = tn_memory().allocations;
        for (int i = 0; i < 4; i++) CHECK(tn_replay(r));
        CHECK(tn_memory().allocations == allocations);
        CHECK(tn_device_wait(cuda) && live_graphs() == graphs);
        CHECK_EMULATED(graphs > 0);
        CHECK_EQ(tn_device_memory(cuda).calls, calls);
        CHECK_EQ(tn_device_memory(cuda).used, used);
        CHECK(tn_device_data(n.loss) == at && tn_device_data(n.p[0]) == weight);
        tn_recording_free(r);
        CHECK(tn_device_wait(cuda) && tn_device_memory(cuda).used < used);
    }
}

/* --- streams and memory ----------------------------------------------------------------------- */

/* Replays alternate between two streams, and other tensors come and go beside them. */
static void replays_go_into_the_current_stream(void) {
    for (int order = 0; order < 6; order++)
        TN_SCOPE {
            tn_stream *s = tn_stream_new(cuda, 0), *own = tn_stream_default(cuda);
            tn_tensor *x = full(20, 30, 1), *y = NULL;
            tn_recording *r;
            take_order(order);
            CHECK(tn_capture_begin());
            TN_SCOPE {
                y = tn_hold(tnp_cumsum(tnp_matmul(x, tnp_transpose(x, 0, 1)), 1, TN_NO_DTYPE));
            }
            r = tn_record_end();
            for (int i = 1; i < 5; i++) {
                tn_stream *now = i % 2 ? s : own;
                CHECK(tn_stream_wait_stream(now, i % 2 ? own : s));
                TN_STREAM(now) TN_SCOPE {
                    CHECK(tnp_fill_(x, tn_int(i)) && full(20, 20, -1) && tn_replay(r));
                    CHECK(full(20, 20, -2) && tn_item(sum(y)) == 30 * i * i * 20 * 210);
                }
            }
            tn_recording_free(r);
            tn_free(y);
            tn_stream_free(s);
        }
    take_order(0);
    CHECK(tn_device_wait(cuda));
}

/* --- what no graph can hold ------------------------------------------------------------------- */

/* The matrix exponential waits for norms; it and a copy from the host run by themselves. */
static void calls_that_wait_run_by_themselves(void) {
    TN_SCOPE {
        tn_tensor *host = tnp_full(dims(3, 3), tn_float(0), TN_F32, TN_CPU), *x = full(3, 3, 5), *y;
        tn_recording *r;
        CHECK(tn_record_begin());
        CHECK(tnp_copy_(x, host));
        y = tnp_linalg_matrix_exp(tnp_add(x, x, 1));
        y = tnp_mul(y, tnp_full(tn_empty_dims(), tn_float(2), TN_F32, cuda));
        r = tn_record_end();
        CHECK(tn_item(sum(y)) == 6);
        CHECK(tnp_fill_(host, tn_float(0.25)) && tn_replay(r));
        const double want = 2 * (3 + 3 * (exp(1.5) - 1)); /* of a matrix of ones times 0.5 */
        CHECK(fabs(tn_item(sum(y)) - want) < 1e-4);
        CHECK(tn_replay(r) && tn_device_wait(cuda));
        tn_recording_free(r);
    }
    CHECK(live_graphs() == 0);
}

static void a_capture_refuses_the_host(void) {
    TN_SCOPE {
        tn_tensor *x = full(2, 3, 1);
        tn_recording *r;
        float v[6];
        CHECK(tn_capture_begin());
        CHECK(refused(tnp_to(x, TN_CPU, TN_NO_DTYPE, false, false) != NULL, TN_UNSUPPORTED,
                      "a graph is captured: the host cannot read"));
        CHECK(refused(tnp_nonzero(x) != NULL, TN_UNSUPPORTED, "cannot read"));
        CHECK(refused(tn_read_f32(x, v, 6), TN_UNSUPPORTED, "a replay would not read"));
        CHECK(refused(tn_device_wait(cuda), TN_UNSUPPORTED, "while a graph is captured"));
        CHECK(tnp_floor_divide_scalar(ramp(2, 2, TN_I64), tn_int(2)) != NULL);
        r = tn_record_end();
        CHECK(tn_replay(r) && tn_device_wait(cuda));
        tn_recording_free(r);
    }
}

/* --- failures --------------------------------------------------------------------------------- */

static void a_fault_in_a_graph_names_its_call(void) {
    TN_SCOPE {
        tn_tensor *x = full(4, 2, 3), *i = ramp(0, 3, TN_I64), *y;
        tn_recording *r;
        CHECK(tn_capture_begin());
        y = tnp_neg(tnp_index_select(x, 0, i));
        r = tn_record_end();
        CHECK(tn_replay(r) && tn_item(sum(y)) == -18);
        CHECK_EMULATED(live_graphs() == 1);
        for (int k = 0; k < 2; k++) {
            CHECK(tnp_fill_(i, tn_int(7)) && tn_replay(r));
            CHECK(refused(tn_device_wait(cuda), TN_INDEX, "index_select on cuda:0"));
        }
        CHECK(tnp_fill_(i, tn_int(0)) && tn_replay(r) && tn_item(sum(y)) == -18);
        tn_recording_free(r);
    }
}

#ifdef TNC_EMULATION
/* Of streams and graphs, and of memory. A replay that fails is an error; where only the graph
 * cannot be made the calls run one by one. */
static void calls_of_the_runtime_may_fail(emu_kind kind) {
    static float want[STEPS][ALL], got[STEPS][ALL];
    bool done = false;
    int ran = 0;
    CHECK(eager(want));
    for (int k = 1; !done && k < 400; k++, ran++) {
        tn_error_info e;
        emu_fail_at(k, kind);
        done = captured(got);
        const bool failed = emu_settings().fallible >= k;
        emu_fail_at(0, kind);
        CHECK(done ? !memcmp(got, want, sizeof got) : tn_error_take(&e));
        done = done && !failed;
        CHECK(live_graphs() == 0);
        CHECK(tn_device_wait(cuda));
        tn_memory_trim(); /* so that memory is asked for again */
    }
    CHECK(done && ran > 1);
}
static void streams_and_graphs_may_fail(void) { calls_of_the_runtime_may_fail(EMU_CREATE); }
static void memory_may_fail(void) { calls_of_the_runtime_may_fail(EMU_ALLOC); }
#endif

int main(void) {
    static const check_test tests[] = {
        CHECK_TEST(replays_have_the_bits_of_steps),
        CHECK_TEST(captured_steps_of_optimizers_count_on),
        CHECK_TEST(nothing_moves_and_nothing_is_asked_of_the_driver),
        CHECK_TEST(replays_go_into_the_current_stream),
        CHECK_TEST(calls_that_wait_run_by_themselves),
        CHECK_TEST(a_capture_refuses_the_host),
        CHECK_TEST(a_fault_in_a_graph_names_its_call),
#ifdef TNC_EMULATION
        CHECK_TEST(streams_and_graphs_may_fail),
        CHECK_TEST(memory_may_fail),
#endif
    };
    char why[200] = "";
    setenv("EMU_LAZY", "1", 1);
    setenv("TN_CUDA_EXACT", "0", 1); /* the device draws */
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda = tn_device("cuda:0");
    return CHECK_MAIN(tests, 1, NULL);
}
