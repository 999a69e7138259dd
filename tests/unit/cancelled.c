/* cancelled.c - what a request to stop leaves behind: all or nothing, the generator as it was, no
 * long silence. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <string.h>

static tn_context *context;
static int64_t jobs, job_at;
static void run(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    bool now = ++jobs == job_at;
    (void)user;
    for (int64_t i = 0; i < count; i++) {
        if (now && i == count / 2) tn_cancel(context);
        task(arg, i);
    }
}
static void begin(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.jobs.run = run, o.jobs.threads = 4;
    context = tn_context_new(&o);
    tn_context_use(context);
}
static void end(void) {
    tn_context_use(NULL);
    tn_context_free(context);
}
static void arm(int64_t at) { jobs = 0, job_at = at; }
static bool was_cancelled(void) {
    tn_error_info e;
    bool was = tn_error_take(&e) && e.code == TN_CANCELLED;
    tn_cancel_clear(context);
    job_at = 0;
    return was;
}

static void attention_that_is_stopped_leaves_the_generator(void) {
    begin();
    TN_SCOPE {
        tn_tensor *q = tn_randn(TN_DIMS(4, 256, 64)), *y = NULL;
        int64_t stopped = 0;
        for (int64_t n = 1; n < 50 && !y; n++) {
            unsigned char before[TN_GENERATOR_BYTES], after[TN_GENERATOR_BYTES];
            tn_generator_state(tn_default_generator(), before);
            arm(n);
            y = tn_scaled_dot_product_attention(q, q, q, .dropout_p = 0.1);
            tn_generator_state(tn_default_generator(), after);
            if (y) break;
            stopped++;
            CHECK(was_cancelled() && memcmp(before, after, sizeof before) == 0);
        }
        CHECK(y && stopped > 2);
    }
    end();
}

static void gradients_are_clipped_all_or_none(void) {
    begin();
    TN_SCOPE {
        tn_tensor *p[2];
        for (int i = 0; i < 2; i++) {
            p[i] = tn_requires_grad(tn_ones(TN_DIMS(600, 600)));
            tn_set_grad(p[i], tn_full(TN_DIMS(600, 600), 2.0));
        }
        for (int64_t n = 1, all = 1; n <= all; n++) {
            for (int i = 0; i < 2; i++) tn_fill_(tn_grad_of(p[i]), 2.0);
            arm(n);
            double norm = tn_nn_clip_grad_norm_(tn_tensors_of(p, 2), 1.0);
            all = jobs > n ? jobs : n;
            tn_cancel_clear(context);
            if (norm != norm) CHECK(was_cancelled());
            const float *a = (const float *)tn_data(tn_grad_of(p[0])),
                        *b = (const float *)tn_data(tn_grad_of(p[1]));
            CHECK(a[0] == b[0] && a[359999] == b[359999] && (norm == norm) == (a[0] < 2));
        }
    }
    end();
}

static void running_statistics_and_their_count_move_together(void) {
    begin();
    TN_SCOPE {
        tn_module *m = tn_nn_batch_norm2d(8);
        tn_tensor *x = tn_randn(TN_DIMS(16, 8, 64, 64));
        arm(1);
        CHECK(tn_forward(m, x) != NULL && jobs > 0);
        tn_cancel_clear(context);
        tn_named_list s = tn_module_state_dict(m);
        for (int64_t i = 0; i < s.n; i++)
            if (strstr(s.at[i].name, "num_batches")) CHECK(tn_item(s.at[i].tensor) == 1);
        tn_named_free(s);
        tn_cancel(context);
        CHECK(!tn_forward(m, x) && was_cancelled());
        tn_module_free(m);
    }
    end();
}

static void a_replayed_call_is_made_whole(void) {
    begin();
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(1000, 1000));
        CHECK(tn_record_begin());
        tn_tensor *y = tn_exp(x);
        tn_recording *r = tn_record_end();
        tn_fill_(x, 0.0);
        arm(1);
        CHECK(tn_replay(r) && jobs > 0);
        const float *at = (const float *)tn_data(y);
        CHECK(at[0] == 1 && at[999999] == 1);
        CHECK(!tn_replay(r) && was_cancelled());
        tn_recording_free(r);
    }
    end();
}

static int seen = -1;
static bool mine_compose(tn_frame *f) {
    tn_cancel(context);
    seen = tn_cancelled(f);
    return false;
}
static void a_composed_row_is_told(void) {
    static tn_row row;
    tn_value v;
    tn_tensor *result[1];
    int count;
    begin();
    memset(&v, 0, sizeof v);
    row.name = "mine", row.schema = "mine(Tensor self) -> Tensor", row.compose = mine_compose;
    CHECK(tn_register(&row));
    TN_SCOPE {
        v.type = TN_T_TENSOR, v.as.tensor = tn_ones(TN_DIMS(2));
        CHECK(!tn_call_row(__FILE__, __LINE__, &row, TN_PLAIN, &v, 1, result, 1, &count));
        CHECK(seen == 1 && was_cancelled());
    }
    end();
}

static bool both_compose(tn_frame *f) {
    return tn_exp_(f->in[0]) && tn_exp_(f->in[1]) && (f->out[0] = tn_sum(f->in[0])) != NULL;
}
static void a_composed_row_that_writes_is_whole(void) {
    static tn_row row;
    tn_value v[2];
    tn_tensor *result[1];
    int count;
    begin();
    memset(v, 0, sizeof v);
    row.name = "both", row.schema = "both(Tensor(a!) x, Tensor(b!) y) -> Tensor";
    row.compose = both_compose;
    CHECK(tn_register(&row));
    TN_SCOPE {
        for (int i = 0; i < 2; i++)
            v[i].type = TN_T_TENSOR, v[i].as.tensor = tn_zeros(TN_DIMS(1000, 1000));
        arm(1);
        CHECK(tn_call_row(__FILE__, __LINE__, &row, TN_PLAIN, v, 2, result, 1, &count) && jobs > 2);
        CHECK(!tn_call_row(__FILE__, __LINE__, &row, TN_PLAIN, v, 2, result, 1, &count));
        CHECK(was_cancelled());
        for (int i = 0; i < 2; i++) {
            const float *at = (const float *)tn_data(v[i].as.tensor);
            CHECK(at[0] == 1 && at[999999] == 1); /* written once, both */
        }
    }
    end();
}

static const check_test tests[] = {
    CHECK_TEST(attention_that_is_stopped_leaves_the_generator),
    CHECK_TEST(gradients_are_clipped_all_or_none),
    CHECK_TEST(running_statistics_and_their_count_move_together),
    CHECK_TEST(a_replayed_call_is_made_whole),
    CHECK_TEST(a_composed_row_is_told),
    CHECK_TEST(a_composed_row_that_writes_is_whole),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
