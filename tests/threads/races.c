/* races.c - concurrent use as documented, for ThreadSanitizer: 8 threads, and results as with one.
 *
 * What threads share here is what the headers allow: tensors that are read, leaves that gather
 * gradients, a context, tensors that are handed over, the operator table. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 20 };

static void in_threads(void *(*run)(void *)) {
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}

static tn_tensor *weight, *input;

static void shared_begin(bool grad) {
    tn_manual_seed(1);
    weight = tn_randn(TN_DIMS(16, 16)); /* outside all scopes: the caller's */
    input = tn_randn(TN_DIMS(4, 16));
    if (grad) tn_requires_grad(weight);
}
static void shared_end(void) {
    CHECK(!tn_error_print());
    tn_free(weight);
    tn_free(input);
}

/* --- reading ---------------------------------------------------------------------------------- */

static double of_one, of_each[THREADS];

static double forward(void) {
    double sum = 0;
    TN_SCOPE
        sum = tn_item(tn_sum(tn_softmax(tn_tanh(tn_linear(input, weight)), 1)));
    TN_SCOPE
        sum += tn_item(tn_sum(tn_matmul(tn_transpose(weight, 0, 1), weight)));
    return sum;
}
static void *read_only(void *arg) {
    for (int i = 0; i < ROUNDS; i++) of_each[(intptr_t)arg] = forward();
    return NULL;
}
static void tensors_are_read_by_all(void) {
    shared_begin(false);
    of_one = forward();
    in_threads(read_only);
    for (int i = 0; i < THREADS; i++) CHECK(of_each[i] == of_one);
    shared_end();
}

static tn_tensor *large;
static void *read_large(void *arg) { /* all ask the pool at once */
    for (int i = 0; i < 3; i++)
        TN_SCOPE
            of_each[(intptr_t)arg] = tn_item(tn_sum(tn_matmul(large, large)));
    return NULL;
}
static void the_pool_is_asked_by_all(void) {
    tn_set_threads(3);
    tn_manual_seed(2);
    large = tn_randn(TN_DIMS(160, 160));
    TN_SCOPE
        of_one = tn_item(tn_sum(tn_matmul(large, large)));
    in_threads(read_large);
    for (int i = 0; i < THREADS; i++) CHECK(of_each[i] == of_one);
    tn_free(large);
}

/* --- gradients -------------------------------------------------------------------------------- */

static void *own_graph(void *arg) {
    tn_tensor *w = tn_full(TN_DIMS(4), 2.0);
    tn_requires_grad(w);
    for (int i = 0; i < ROUNDS; i++)
        TN_SCOPE
            tn_backward(tn_sum(tn_mul(w, w)));
    of_each[(intptr_t)arg] = tn_item(tn_sum(tn_grad_of(w)));
    tn_free(w);
    return NULL;
}
static void graphs_of_their_own(void) {
    in_threads(own_graph);
    for (int i = 0; i < THREADS; i++) CHECK(of_each[i] == 4 * ROUNDS * 4);
}

static void *shared_leaf(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        TN_SCOPE
            tn_backward(tn_sum(tn_mul_scalar(weight, 3)));
    return NULL;
}
static void leaves_are_shared(void) {
    shared_begin(true);
    in_threads(shared_leaf);
    TN_SCOPE { /* integers: exact in any order */
        tn_tensor *expected = tn_full(TN_DIMS(16, 16), 3.0 * THREADS * ROUNDS);
        CHECK(tn_equal(tn_grad_of(weight), expected));
    }
    shared_end();
}

static void *grads_of_shared(void *arg) {
    for (int i = 0; i < ROUNDS; i++)
        TN_SCOPE {
            tn_tensor *loss = tn_sum(tn_sigmoid(tn_linear(input, weight))), *g[1];
            if (tn_grads(TN_LIST(loss), TN_LIST(weight), g, NULL))
                of_each[(intptr_t)arg] = tn_item(tn_sum(g[0]));
        }
    return NULL;
}
static void leaves_are_differentiated_by_all(void) {
    shared_begin(true);
    grads_of_shared(NULL);
    of_one = of_each[0];
    in_threads(grads_of_shared);
    for (int i = 0; i < THREADS; i++) CHECK(of_each[i] == of_one);
    CHECK(tn_grad_of(weight) == NULL);
    shared_end();
}

/* --- handing over ----------------------------------------------------------------------------- */

static tn_tensor *handed[THREADS][ROUNDS];
static void *make_for_others(void *arg) {
    for (int i = 0; i < ROUNDS; i++)
        TN_SCOPE
            handed[(intptr_t)arg][i] = tn_hold(tn_mul(input, input));
    return NULL;
}
static void *free_of_others(void *arg) {
    intptr_t other = ((intptr_t)arg + 3) % THREADS;
    for (int i = 0; i < ROUNDS; i++) {
        TN_SCOPE
            of_each[(intptr_t)arg] = tn_item(tn_sum(handed[other][i]));
        tn_free(handed[other][i]);
    }
    return NULL;
}
static void tensors_are_made_here_and_freed_there(void) {
    int64_t before = tn_memory().live_tensors;
    shared_begin(false);
    in_threads(make_for_others);
    in_threads(free_of_others);
    for (int i = 1; i < THREADS; i++) CHECK(of_each[i] == of_each[0]);
    shared_end();
    CHECK_EQ(tn_memory().live_tensors, before);
}

static void *leave_open(void *arg) { /* the next new thread closes what this one leaves */
    (void)arg;
    tn_scope_begin();
    (void)!tn_mul(input, input);
    return NULL;
}
static void threads_end_in_open_scopes(void) {
    shared_begin(false);
    for (int i = 0; i < 4; i++) in_threads(leave_open);
    shared_end();
}

/* --- contexts, tables, loaders ---------------------------------------------------------------- */

static void *own_context(void *arg) {
    for (int i = 0; i < 5; i++) {
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = 1;
        tn_context *c = tn_context_new(&o);
        tn_context_use(c);
        tn_manual_seed(7);
        tn_tensor *w = tn_requires_grad(tn_randn(TN_DIMS(30)));
        tn_backward(tn_sum(tn_exp(w)));
        of_each[(intptr_t)arg] = tn_item(tn_sum(tn_grad_of(w)));
        tn_context_use(NULL);
        tn_context_free(c);
    }
    return NULL;
}
static void contexts_come_and_go(void) {
    in_threads(own_context);
    for (int i = 1; i < THREADS; i++) CHECK(of_each[i] == of_each[0]);
}

static bool row_check(tn_frame *f) { return tn_announce(f, 0, TN_F32, 0, NULL); }
static void row_run(tn_frame *f) { *(float *)tn_data(f->out[0]) = 1; }
static tn_row rows[THREADS][4];
static char names[THREADS][4][24], schemas[THREADS][4][48];
static void *register_rows(void *arg) {
    intptr_t t = (intptr_t)arg;
    for (int i = 0; i < 4; i++) {
        tn_row *row = &rows[t][i];
        snprintf(names[t][i], sizeof names[t][i], "own%d_%d", (int)t, i);
        snprintf(schemas[t][i], sizeof schemas[t][i], "%s() -> Tensor", names[t][i]);
        row->name = names[t][i];
        row->schema = schemas[t][i];
        row->check = row_check;
        row->run = row_run;
        tn_register(row);
        tn_tensor *r[1];
        int n = 0;
        TN_SCOPE
            CHECK(tn_call_named(__FILE__, __LINE__, names[t][i], NULL, 0, r, 1, &n) && n == 1);
    }
    return NULL;
}
static void rows_are_registered_by_all(void) {
    in_threads(register_rows);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 4; i++) CHECK(tn_row_named(names[t][i]) == &rows[t][i]);
}

static void a_loader_works_beside_training(void) {
    TN_SCOPE {
        tn_manual_seed(3);
        tn_tensor *x = tn_randn(TN_DIMS(120, 6)), *y = tn_zeros(TN_DIMS(120), .dtype = TN_I64);
        tn_module *net = tn_sequential(tn_nn_linear(6, 8), tn_nn_relu(), tn_nn_linear(8, 2));
        tn_loader *loader = tn_loader_new(tn_dataset_tensors(TN_LIST(x, y)), .batch_size = 10,
                                          .workers = 3, .shuffle = true);
        tn_optimizer *sgd = tn_optim_sgd(tn_parameters(net), .lr = 0.1);
        CHECK(tn_train(net, sgd, loader, .epochs = 2));
        tn_loader_free(loader);
    }
    CHECK(!tn_error_print());
}

static void *cancel_soon(void *arg) {
    tn_cancel((tn_context *)arg);
    return NULL;
}
static void a_call_is_cancelled_from_another_thread(void) {
    pthread_t t;
    tn_context *c = tn_context_current();
    tn_tensor *x = tn_ones(TN_DIMS(1000, 100));
    pthread_create(&t, NULL, cancel_soon, c);
    for (bool done = false; !done;) /* until the request is seen */
        TN_SCOPE {
            tn_error_info e;
            if (tn_sum(tn_exp(x))) continue;
            CHECK(tn_error_take(&e) && e.code == TN_CANCELLED);
            done = true;
        }
    pthread_join(t, NULL);
    tn_cancel_clear(c);
    TN_SCOPE
        CHECK(tn_sum(x) != NULL);
    tn_free(x);
}

static const check_test tests[] = {
    CHECK_TEST(tensors_are_read_by_all),
    CHECK_TEST(the_pool_is_asked_by_all),
    CHECK_TEST(graphs_of_their_own),
    CHECK_TEST(leaves_are_shared),
    CHECK_TEST(leaves_are_differentiated_by_all),
    CHECK_TEST(tensors_are_made_here_and_freed_there),
    CHECK_TEST(threads_end_in_open_scopes),
    CHECK_TEST(contexts_come_and_go),
    CHECK_TEST(rows_are_registered_by_all),
    CHECK_TEST(a_loader_works_beside_training),
    CHECK_TEST(a_call_is_cancelled_from_another_thread),
};

int main(int argc, char **argv) {
    int status = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return status;
}
