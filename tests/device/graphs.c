/* graphs.c - record and replay on devices: with graphs, on a device without them and where the
 * backend makes none, bit for bit the CPU's; what stays outside a graph; data that were exchanged;
 * streams; and every allocation failing. */
#define _XOPEN_SOURCE 700
#include "../../src/api/extend.h"
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../captured.h"
#include "../refused.h"
#include "null.h"
#include "order.h"

static tn_device_id null0, bare;

static tn_context *begin(void) {
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_backend_add(tn_null_backend()) && tn_backend_add(tn_bare_backend()));
    null0 = tn_device("null:0");
    bare = tn_device("bare");
    order_begin();
    null_launches = null_refuse_graph = 0;
    return c;
}
static void end(tn_context *c) {
    tn_error_info e;
    CHECK(!tn_error_take(&e));
    CHECK_EQ(order_untold, 0);
    CHECK_EQ(order_races, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(null_blocks, 0);
    CHECK_EQ(null_graphs, 0);
    order_races = 0;
}
static tn_tensor *range(tn_device_id device, int64_t n) {
    return tn_to(tn_arange((double)n, .dtype = TN_F32), device);
}

/* --- a step of training ----------------------------------------------------------------------- */

enum { STEPS = 4, WIDTH = 6 };
/* A step w -= grad of sum(exp(w x)) / 100 and what it has made of w after each replay. */
static bool steps(tn_device_id device, double got[STEPS][WIDTH]) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *x = range(device, WIDTH),
                  *w = tn_requires_grad(tn_full(TN_DIMS(WIDTH), 0.5, .device = device)), *y;
        tn_recording *r;
        ok = tn_record_begin();
        y = ok ? tn_sum(tn_exp(tn_mul(w, x))) : NULL;
        ok = ok && tn_backward(y);
        tn_no_grad
            ok = ok && tn_sub_(w, tn_grad_of(w), .alpha = 0.01);
        ok = ok && tn_zero_(tn_grad_of(w));
        r = tn_record_end();
        for (int i = 0; ok && i < STEPS; i++) {
            ok = tn_fill_(x, 0.25 * (i + 1)) && tn_replay(r) &&
                 tn_read_f64(tn_detach(w), got[i], WIDTH);
        }
        tn_recording_free(r);
    }
    return ok;
}
static void a_step_of_training_is_one_graph(void) {
    double want[STEPS][WIDTH], got[STEPS][WIDTH];
    tn_context *c = begin();
    CHECK(steps(TN_CPU, want) && steps(null0, got));
    CHECK(!memcmp(got, want, sizeof got));
    CHECK_EQ(null_launches, STEPS);
    CHECK(tn_device_fallback(false) == false && steps(bare, got) == false && tn_error_take(NULL));
    for (null_refuse_graph = 1; null_refuse_graph < 3; null_refuse_graph++) {
        CHECK(steps(null0, got) && !memcmp(got, want, sizeof got)); /* the calls one by one */
        CHECK_EQ(null_launches, STEPS);
    }
    REFUSED(steps(null0, got), TN_INTERNAL, "tn_replay: null:0 cannot launch a graph");
    null_refuse_graph = 0;
    end(c);
}

static tn_optimizer *falling_kind(int kind, tn_tensors params) {
    switch (kind) {
    case 0: return tn_optim_adam(params, .lr = 0.5, .capturable = true);
    case 1: return tn_optim_adamax(params, .lr = 0.5, .capturable = true);
    case 2: return tn_optim_nadam(params, .lr = 0.5, .capturable = true);
    case 3: return tn_optim_radam(params, .lr = 0.5, .capturable = true);
    case 4: return tn_optim_rprop(params, .lr = 0.5, .capturable = true);
    case 5: return tn_optim_adamw(params, .lr = 0.5, .weight_decay = 0.25, .capturable = true);
    case 6: return tn_optim_asgd(params, .lr = 0.5, .capturable = true);
    case 7:
        return tn_optim_rmsprop(params, .lr = 0.5, .momentum = 0.5, .centered = true,
                                .weight_decay = 0.1, .capturable = true);
    default: return tn_optim_adadelta(params, .lr = 0.5, .capturable = true);
    }
}

/* The parameter after six steps with a rate that falls: how 0: with a graph, 1: without one, 2: by
 * a number. */
static void falling_steps(int kind, int how, double *to) {
    tn_tensor *w = tn_requires_grad(range(null0, 6)), *rate;
    tn_tensors params = tn_tensors_of(&w, 1);
    tn_optimizer *o = falling_kind(kind, params);
    tn_schedule *s = tn_optim_step_lr(o, 1, 0.75);
    tn_recording *r = NULL;
    rate = tn_full(TN_DIMS(), 0.5, .dtype = TN_F32, .device = null0);
    if (how < 2) CHECK(tn_optimizer_set_rate(o, 0, rate));
    for (int i = 0; i < 6; i++) {
        const bool begins = !how && i == 1;
        if (begins) CHECK(tn_capture_begin());
        if (!r)
            TN_SCOPE {
                tn_optimizer_zero_grad(o);
                CHECK(tn_backward(tn_sum(tn_square(tn_add_scalar(w, 0.5)))));
                CHECK(tn_optimizer_step(o));
            }
        if (begins) CHECK((r = tn_record_end()) != NULL);
        if (r) CHECK(tn_replay(r));
        CHECK(tn_schedule_step(s));
    }
    CHECK(how == 2 || tn_item(rate) == tn_optimizer_get(o, 0, "lr"));
    CHECK(tn_read_f64(tn_to(tn_detach(w), TN_CPU), to, 6));
    tn_recording_free(r);
    tn_schedule_free(s);
    tn_optimizer_free(o);
}

static void a_graph_reads_the_rate_from_a_tensor(void) {
    tn_context *c = begin();
    for (int kind = 0; kind < 9; kind++)
        TN_SCOPE {
            double replayed[6], eager[6], number[6];
            falling_steps(kind, 0, replayed);
            falling_steps(kind, 1, eager);
            falling_steps(kind, 2, number);
            CHECK(!memcmp(replayed, eager, sizeof eager));
            /* from AdamW on, whose decay has the rate, other factors are rounded elsewhere */
            for (int i = 0; i < 6; i++) CHECK(fabs(number[i] - eager[i]) <= (kind < 5 ? 0 : 2e-6));
        }
    end(c);
}

static void a_rate_is_saved_loaded_and_refused(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(range(null0, 2)), *rate, *whole, *host;
        tn_tensors params = tn_tensors_of(&w, 1);
        tn_optimizer *o = tn_optim_adam(params, .lr = 0.5, .capturable = true),
                     *plain = tn_optim_adam(params);
        tn_named_list saved;
        rate = tn_full(TN_DIMS(1), 0.25, .dtype = TN_F32, .device = null0);
        whole = tn_ones(TN_DIMS(), .dtype = TN_I64, .device = null0);
        host = tn_ones(TN_DIMS());
        CHECK(tn_optimizer_set_rate(o, 0, rate) && tn_optimizer_get(o, 0, "lr") == 0.25);
        saved = tn_optimizer_state_dict(o);
        CHECK(tn_optimizer_set(o, 0, "lr", 2) && tn_item(rate) == 2);
        CHECK(tn_optimizer_load(o, saved.at, saved.n) && tn_item(rate) == 0.25);
        tn_named_free(saved);
        tn_fill_(rate, 4); /* by the program itself */
        CHECK(tn_optimizer_get(o, 0, "lr") == 4 && tn_optimizer_set_rate(o, 0, NULL));
        CHECK(tn_optimizer_get(o, 0, "lr") == 4);
        CHECK(tn_optimizer_set(o, 0, "lr", 1) && tn_item(rate) == 4);
        REFUSED(tn_optimizer_set_rate(plain, 0, rate), TN_UNSUPPORTED,
                "needs the option capturable");
        REFUSED(tn_optimizer_set_rate(o, 0, whole), TN_INVALID, "one floating element");
        REFUSED(tn_optimizer_set_rate(o, 0, host), TN_INVALID, "the rate is on cpu");
        REFUSED(tn_optimizer_set_rate(o, 1, rate), TN_INVALID, "group 1 does not exist");
        tn_optimizer_free(plain);
        tn_optimizer_free(o);
    }
    end(c);
}

static tn_optimizer *rated(tn_tensor *w) {
    return tn_optim_adam(tn_tensors_of(&w, 1), .lr = 0.5, .capturable = true);
}
static void each_group_has_a_rate_of_its_own(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *w[3], *rate[2];
        for (int i = 0; i < 3; i++) w[i] = tn_requires_grad(range(null0, 2));
        for (int i = 0; i < 2; i++) rate[i] = tn_full(TN_DIMS(), 0.5, .device = null0);
        tn_optimizer *o = rated(w[0]);
        CHECK_EQ(tn_optimizer_group(o, tn_tensors_of(w + 1, 1), NULL, 0), 1);
        CHECK(tn_optimizer_set_rate(o, 0, rate[0]) && tn_optimizer_set_rate(o, 1, rate[1]));
        tn_fill_(rate[0], 4);
        CHECK(tn_optimizer_set(o, 1, "lr", 2)); /* and the program's 4 stays */
        CHECK(tn_item(rate[0]) == 4 && tn_item(rate[1]) == 2);
        tn_fill_(rate[0], 8);
        CHECK_EQ(tn_optimizer_group(o, tn_tensors_of(w + 2, 1), NULL, 0), 2);
        CHECK(tn_optimizer_get(o, 2, "lr") == 8);
        tn_optimizer_free(o);
    }
    end(c);
}
/* Two steps at a rate that the program changed; capturable falls before the second one. */
static void uncaptured_steps_read_the_rate(void) {
    tn_context *c = begin();
    double got[2][2];
    for (int k = 0; k < 2; k++)
        TN_SCOPE {
            tn_tensor *w = tn_requires_grad(range(null0, 2));
            tn_optimizer *o = rated(w);
            tn_tensor *rate = tn_full(TN_DIMS(), 0.5, .device = null0);
            CHECK(k || tn_optimizer_set_rate(o, 0, rate));
            for (int i = 0; i < 2; i++) {
                CHECK(tn_set_grad(w, tn_ones_like(w)) && tn_optimizer_step(o));
                CHECK(tn_optimizer_set(o, 0, "capturable", 0));
                CHECK(k ? tn_optimizer_set(o, 0, "lr", 4) : tn_fill_(rate, 4) != NULL);
            }
            CHECK(tn_read_f64(tn_to(tn_detach(w), TN_CPU), got[k], 2));
            tn_optimizer_free(o);
        }
    CHECK(!memcmp(got[0], got[1], sizeof got[0]));
    end(c);
}
static void a_rate_of_shape_1_is_one_of_no_dimension(void) {
    tn_context *c = begin();
    for (int kind = 0; kind < 9; kind++)
        TN_SCOPE {
            double got[2];
            for (int k = 0; k < 2; k++) {
                tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(), .device = null0));
                tn_optimizer *o = falling_kind(kind, tn_tensors_of(&w, 1));
                tn_tensor *rate = tn_full(k ? TN_DIMS(1) : TN_DIMS(), 0.5, .device = null0);
                CHECK(tn_optimizer_set_rate(o, 0, rate));
                for (int i = 0; i < 2; i++) {
                    CHECK(tn_set_grad(w, tn_ones_like(w)) && tn_optimizer_step(o));
                    tn_fill_(rate, 0.25); /* the same memory is read */
                }
                got[k] = tn_item(tn_detach(w));
                CHECK(tn_optimizer_set(o, 0, "lr", 2) && tn_item(rate) == 2);
                tn_optimizer_free(o);
            }
            CHECK(got[0] == got[1]);
        }
    end(c);
}

static void a_device_without_graphs_runs_calls_one_by_one(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(bare, 3), *y;
        tn_recording *r;
        CHECK(tn_record_begin());
        y = tn_exp(tn_mul(x, x));
        r = tn_record_end();
        CHECK(at(y, 0) == 1 && tn_zero_(x) && tn_replay(r) && at(y, 2) == 1);
        CHECK_EQ(null_launches, 0);
        tn_recording_free(r);
    }
    end(c);
}

/* --- what stays outside ----------------------------------------------------------------------- */

static void a_replay_draws_new_numbers(void) {
    tn_context *c = begin();
    double want[3][8], got[3][8];
    for (int k = 0; k < 2; k++)
        TN_SCOPE {
            tn_tensor *x = tn_zeros(TN_DIMS(8), .device = k ? null0 : TN_CPU), *y;
            tn_recording *r;
            tn_manual_seed(7);
            CHECK(tn_record_begin());
            tn_uniform_(x);
            y = tn_mul(tn_add_scalar(x, 1), x);
            r = tn_record_end();
            for (int i = 0; i < 3; i++)
                CHECK(tn_replay(r) && tn_read_f64(y, k ? got[i] : want[i], 8));
            tn_recording_free(r);
        }
    CHECK(!memcmp(got, want, sizeof got) && memcmp(got[0], got[1], sizeof got[0]));
    CHECK_EQ(null_launches, 3);
    end(c);
}
static void a_replay_looks_copies_and_reads_numbers_again(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, 4), *i = tn_to(tn_arange(2, .dtype = TN_I64), null0),
                  *host = tn_zeros(TN_DIMS(4)), *two = tn_sum(tn_full(TN_DIMS(1), 2)), *y, *z,
                  *here;
        tn_recording *r;
        CHECK(tn_record_begin());
        CHECK(tn_copy_(x, host) && tn_add_scalar_(x, 1));
        y = tn_mul(tn_index_select(x, 0, i), two);
        z = tn_mul_scalar(y, 3);
        here = tn_to(z, TN_CPU);
        r = tn_record_end();
        CHECK(at(here, 1) == 6);
        CHECK(tn_fill_(host, 4) && tn_fill_(two, 10) && tn_replay(r));
        CHECK(at(here, 0) == 150 && at(y, 1) == 50);
        CHECK(null_launches == 2 && tn_fill_(i, 9) && !tn_replay(r));
        says(TN_INDEX, "in index_select", __LINE__);
        CHECK(tn_fill_(i, 0) && tn_replay(r) && at(here, 0) == 150);
        tn_recording_free(r);
    }
    end(c);
}
static void the_host_reads_nothing_while_calls_are_recorded(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, 1);
        double v;
        CHECK(tn_record_begin());
        REFUSED(tn_item(x) == 0 && tn_ok(), TN_UNSUPPORTED,
                "tn_item: a replay would not read the device again");
        REFUSED(tn_read_f64(x, &v, 1), TN_UNSUPPORTED, "tn_read: a replay would not read");
        CHECK(tn_item(tn_ones(TN_DIMS(1))) == 1);
        tn_recording_free(tn_record_end());
        CHECK(tn_item(x) == 0);
    }
    end(c);
}

/* --- captures --------------------------------------------------------------------------------- */

/* The same step of training, of which the capture computes nothing. */
static bool captured_steps(tn_device_id device, bool capture, double got[STEPS][WIDTH]) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *x = range(device, WIDTH),
                  *w = tn_requires_grad(tn_full(TN_DIMS(WIDTH), 0.5, .device = device)), *h;
        tn_recording *r = NULL;
        tn_manual_seed(3);
        for (int i = -1; i < STEPS; i++) {
            ok = i < 0 || tn_fill_(x, 0.25 * (i + 1));
            if (i < 0 ? capture : !capture) {
                if (capture) ok = ok && tn_capture_begin();
                h = ok ? tn_mul(tn_add_scalar(x, 1), tn_uniform_(tn_empty_like(x))) : NULL;
                ok = ok && tn_mul_(h, w) && tn_backward(tn_sum(tn_exp(h)));
                tn_no_grad
                    ok = ok && tn_sub_(w, tn_grad_of(w), .alpha = 0.01);
                ok = ok && tn_zero_(tn_grad_of(w));
                if (capture) r = tn_record_end();
            } else if (i >= 0) {
                ok = ok && tn_replay(r);
            }
            if (!ok) break;
            if (i >= 0) ok = tn_read_f64(tn_detach(w), got[i], WIDTH);
            if (i < 0 && capture) ok = at(tn_detach(w), 2) == 0.5; /* as it was */
        }
        tn_recording_free(r);
    }
    return ok;
}
static void a_captured_step_is_carried_out_by_replays(void) {
    double want[STEPS][WIDTH], got[STEPS][WIDTH];
    tn_context *c = begin();
    CHECK(captured_steps(TN_CPU, false, want) && captured_steps(null0, false, got));
    CHECK(!memcmp(got, want, sizeof got));
    CHECK(captured_steps(null0, true, got) && !memcmp(got, want, sizeof got));
    CHECK(null_launches > 0);
    end(c);
}
static void a_capture_refuses_what_the_host_would_wait_for(void) {
    tn_context *c = begin();
    TN_SCOPE {
        static const char reads[] = "a graph is captured: the host cannot read what",
                          waits[] = "or wait for it while a graph is captured";
        tn_tensor *x = range(null0, 3), *host = tn_ones(TN_DIMS(3)), *y, *z;
        tn_recording *r, *other;
        double v[3];
        CHECK(tn_record_begin() && tn_neg(x));
        other = tn_record_end();
        CHECK(tn_capture_begin() && tn_is_capturing());
        REFUSED(tn_capture_begin(), TN_INVALID, "tn_capture_begin: a recording is already in");
        REFUSED(tn_record_begin(), TN_INVALID, "tn_record_begin: a recording is already in");
        REFUSED(tn_to(x, TN_CPU), TN_UNSUPPORTED, reads);
        REFUSED(tn_copy_(host, x), TN_UNSUPPORTED, reads);
        REFUSED(tn_nonzero(x), TN_UNSUPPORTED, reads);
        REFUSED(tn_item(tn_sum(x)) == 0 && tn_ok(), TN_UNSUPPORTED, "tn_item: a replay would not");
        REFUSED(tn_read_f64(x, v, 3), TN_UNSUPPORTED, "tn_read: a replay would not");
        REFUSED(tn_device_wait(null0), TN_UNSUPPORTED, waits);
        REFUSED(tn_replay(other), TN_UNSUPPORTED, "tn_replay: a graph is being captured");
        CHECK(tn_add_scalar_(host, 1) && tn_item(tn_sum(host)) == 6); /* the CPU goes on */
        REFUSED(tn_index_select(host, 0, tn_full(TN_DIMS(1), 7, .dtype = TN_I64)), TN_INDEX, "7");
        y = tn_copy_(tn_empty_like(x), host);
        z = tn_cumsum(y, 0, .dtype = TN_F64);
        r = tn_record_end();
        CHECK(!tn_is_capturing() && tn_fill_(host, 5) && tn_replay(r) && at(z, 2) == 15);
        tn_recording_free(r);
        tn_recording_free(other);
        CHECK(tn_capture_begin() && tn_neg(x)); /* ends with its context */
    }
    end(c);
}

static void captured_steps_of_optimizers_count_on(void) {
    tn_context *c = begin();
    CHECK_EQ(captured_optimizers(null0), 9);
    CHECK(null_launches > 0);
    end(c);
}
static void optimizers_say_what_a_capture_needs(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *p = tn_requires_grad(range(null0, 3)), *all[1];
        tn_optimizer *adam = tn_optim_adam(tn_tensors_of(&p, 1)),
                     *ready = tn_optim_adam(tn_tensors_of(&p, 1), .capturable = true),
                     *adagrad = tn_optim_adagrad(tn_tensors_of(&p, 1)),
                     *sgd = tn_optim_sgd(tn_tensors_of(&p, 1), .momentum = 0.5);
        all[0] = tn_sum(tn_mul(p, p));
        CHECK(tn_backward_all(tn_tensors_of(all, 1), NULL, NULL) && tn_capture_begin());
        REFUSED(tn_optimizer_step(adam), TN_UNSUPPORTED,
                "steps are counted on the host, which no replay does; the option capturable counts "
                "them on the device");
        REFUSED(tn_optimizer_step(adagrad), TN_UNSUPPORTED, "which no replay does");
        REFUSED(tn_optimizer_step(ready), TN_UNSUPPORTED,
                "the first step makes the state, which each replay would do; step once before");
        REFUSED(tn_optimizer_step(sgd), TN_UNSUPPORTED, "the first step makes the state");
        tn_recording_free(tn_record_end());
        CHECK(tn_optimizer_step(adam) && tn_optimizer_step(adagrad) && tn_optimizer_step(ready));
        tn_optimizer_free(adam);
        tn_optimizer_free(ready);
        tn_optimizer_free(adagrad);
        tn_optimizer_free(sgd);
    }
    end(c);
}

/* --- memory and streams ----------------------------------------------------------------------- */

static void a_graph_keeps_its_memory_and_follows_exchanged_data(void) {
    tn_context *c = begin();
    tn_recording *r;
    tn_tensor *y;
    TN_SCOPE {
        tn_tensor *x = range(null0, 5), *other = tn_full(TN_DIMS(5), 7.0, .device = null0);
        CHECK(tn_record_begin());
        y = tn_hold(tn_add_scalar(tn_neg(x), 1));
        r = tn_record_end();
        CHECK(tn_replay(r) && at(y, 4) == -3);
        CHECK(tn_set_data(x, other) && tn_replay(r) && at(y, 4) == -6);
    }
    TN_SCOPE {
        CHECK(tn_full(TN_DIMS(5), 99, .device = null0) != NULL);
        CHECK(tn_zero_(y) && tn_replay(r) && at(y, 0) == -6 && tn_version(y) == 4);
    }
    tn_free(y);
    CHECK(tn_replay(r));
    tn_cancel(NULL);
    REFUSED(tn_replay(r), TN_CANCELLED, "the replay was cancelled");
    tn_cancel_clear(NULL);
    tn_recording_free(r);
    end(c);
}
static void moved_elements_and_temporaries_are_part_of_a_graph(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, 4), *all = tn_zeros(TN_DIMS(4, 3), .device = null0),
                  *out = tn_select(all, -1, 1), *both, *wide;
        tn_recording *r;
        CHECK(tn_record_begin());
        CHECK(tn_cumsum(x, 0, .out = out));
        both = tn_cat(TN_LIST(x, tn_flip(x, TN_DIMS(0))));
        tn_fill_(tn_narrow(both, 0, 0, 2), 8);
        wide = tn_to(both, null0, .dtype = TN_F64); /* this one the null device cannot defer */
        r = tn_record_end();
        CHECK(tn_fill_(x, 2) && tn_zero_(all) && tn_replay(r));
        CHECK(at(all, 10) == 8 && at(all, 9) == 0 && at(both, 1) == 8 && at(both, 7) == 2);
        CHECK(at(wide, 6) == 2);
        tn_recording_free(r);
    }
    end(c);
}
static void a_graph_goes_into_the_current_stream(void) {
    tn_context *c = begin();
    tn_stream *s = tn_stream_new(null0, 0), *own = tn_stream_default(null0);
    TN_SCOPE {
        tn_tensor *x = range(null0, 4), *y;
        tn_recording *r;
        CHECK(tn_record_begin());
        y = tn_mul(tn_add_scalar(x, 1), x);
        r = tn_record_end();
        CHECK(tn_replay(r) && tn_stream_wait_stream(s, own));
        TN_STREAM(s) {
            CHECK(tn_fill_(x, 3) && tn_replay(r) && tn_stream_current(null0) == s);
            CHECK(at(y, 0) == 12 && order_races == 0);
        }
        CHECK(tn_stream_wait_stream(own, s));
        CHECK(tn_replay(r) && order_races == 0);
        TN_STREAM(s) CHECK(tn_replay(r));
        CHECK(order_races > 0); /* nobody has waited */
        order_races = 0;
        tn_recording_free(r);
        CHECK(tn_device_wait(null0));
    }
    end(c);
}
static void any_allocation_may_fail(void) {
    double want[STEPS][WIDTH], got[STEPS][WIDTH];
    tn_context *c = begin();
    const int64_t before = null_blocks;
    bool done = false;
    int ran = 0;
    CHECK(steps(TN_CPU, want));
    for (int64_t k = 0; !done && k < 500; k++, ran++) {
        tn_error_info e;
        null_fail_alloc = k;
        done = steps(null0, got);
        null_fail_alloc = -1;
        CHECK(done || (tn_error_take(&e) && e.code == TN_MEMORY));
        CHECK_EQ(null_blocks, before);
        CHECK_EQ(null_graphs, 0);
        CHECK(tn_stream_current(null0) == tn_stream_default(null0));
    }
    CHECK(done && ran > 3 && !memcmp(got, want, sizeof got));
    end(c);
}
static void streams_have_all_of_graphs_or_nothing(void) {
    static tn_backend k;
    static tn_backend_streams some;
    tn_context *c = begin();
    some = *tn_null_backend()->streams;
    some.graph_free = NULL;
    k = *tn_null_backend();
    k.kind = "other";
    k.streams = &some;
    REFUSED(tn_backend_add(&k), TN_INVALID, "one of its streams' functions is NULL");
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_step_of_training_is_one_graph),
        CHECK_TEST(a_graph_reads_the_rate_from_a_tensor),
        CHECK_TEST(a_rate_is_saved_loaded_and_refused),
        CHECK_TEST(each_group_has_a_rate_of_its_own),
        CHECK_TEST(uncaptured_steps_read_the_rate),
        CHECK_TEST(a_rate_of_shape_1_is_one_of_no_dimension),
        CHECK_TEST(a_device_without_graphs_runs_calls_one_by_one),
        CHECK_TEST(a_replay_draws_new_numbers),
        CHECK_TEST(a_replay_looks_copies_and_reads_numbers_again),
        CHECK_TEST(the_host_reads_nothing_while_calls_are_recorded),
        CHECK_TEST(a_captured_step_is_carried_out_by_replays),
        CHECK_TEST(a_capture_refuses_what_the_host_would_wait_for),
        CHECK_TEST(captured_steps_of_optimizers_count_on),
        CHECK_TEST(optimizers_say_what_a_capture_needs),
        CHECK_TEST(a_graph_keeps_its_memory_and_follows_exchanged_data),
        CHECK_TEST(moved_elements_and_temporaries_are_part_of_a_graph),
        CHECK_TEST(a_graph_goes_into_the_current_stream),
        CHECK_TEST(any_allocation_may_fail),
        CHECK_TEST(streams_have_all_of_graphs_or_nothing),
    };
    return CHECK_MAIN(tests, argc, argv);
}
