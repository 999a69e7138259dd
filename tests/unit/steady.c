/* steady.c - what goes on for ever needs nothing new: after the third training step no memory is
 * asked for and no thread begins; gradients of gradients leave no tensor behind. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { BATCH = 32, SIDE = 16, CLASSES = 10, STEPS = 12, WARM = 3 };

static int64_t mallocs, threads;

static void *count_alloc(size_t bytes, void *user) {
    (void)user;
    __atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
    return malloc(bytes);
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user, (void)bytes;
    free(at);
}

/* Stands before the system's, which it calls; a sanitizer stands there itself. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    create *next;
    memcpy(&next, &symbol, sizeof next);
    __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    return next(thread, attributes, run, argument);
}
#else
#define THREADS_UNSEEN
#endif

static tn_context *begin(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc;
    o.allocator.free = count_free;
    o.threads = 2;
    c = tn_context_new(&o);
    tn_context_use(c);
    tn_manual_seed(1);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

static tn_module *network(void) {
    return tn_sequential(tn_nn_conv2d(1, 8, TN_DIMS(3), .padding = TN_DIMS(1)),
                         tn_nn_batch_norm2d(8), tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)),
                         tn_nn_dropout(.p = 0.25),
                         tn_nn_conv2d(8, 16, TN_DIMS(3), .stride = TN_DIMS(2)), tn_nn_relu(),
                         tn_nn_flatten(), tn_nn_linear(16 * 3 * 3, CLASSES));
}

static float pictures[BATCH * SIDE * SIDE];
static int64_t labels[BATCH];
static void draw_data(void) {
    for (int i = 0; i < BATCH * SIDE * SIDE; i++) pictures[i] = (float)(i % 17) / 17 - 0.5f;
    for (int i = 0; i < BATCH; i++) labels[i] = i % CLASSES;
}

static double step(tn_module *model, tn_optimizer *optimizer) {
    double value = 0;
    TN_SCOPE {
        tn_tensor *x = tn_from(pictures, TN_DIMS(BATCH, 1, SIDE, SIDE), TN_F32);
        tn_tensor *y = tn_from(labels, TN_DIMS(BATCH), TN_I64);
        tn_tensor *loss = tn_cross_entropy(tn_forward(model, x), y);
        tn_optimizer_zero_grad(optimizer);
        tn_backward(loss);
        tn_optimizer_step(optimizer);
        value = tn_item(loss);
    }
    return value;
}

static void learns_without_malloc(tn_module *model, tn_optimizer *optimizer) {
    int64_t before = 0, begun = 0, used = 0, live = 0;
    double first = 0, last = 0;
    draw_data();
    for (int i = 0; i < STEPS; i++) {
        if (i == WARM) {
            before = mallocs, begun = threads;
            used = tn_memory().bytes_used, live = tn_memory().live_tensors;
        }
        last = step(model, optimizer);
        if (i == 0) first = last;
    }
    CHECK(last < first);
    CHECK_EQ(mallocs, before);
    CHECK_EQ(threads, begun);
#ifndef THREADS_UNSEEN
    CHECK(threads > 0); /* they are counted */
#endif
    CHECK(before > 0);
    CHECK_EQ(tn_memory().bytes_used, used);
    CHECK_EQ(tn_memory().live_tensors, live);
    tn_optimizer_free(optimizer);
    tn_module_free(model);
}

static void a_step_with_adam_asks_for_nothing_after_the_third(void) {
    tn_context *c = begin();
    tn_module *model = network();
    learns_without_malloc(model, tn_optim_adam(tn_parameters(model), .lr = 0.01));
    end(c);
}
static void a_step_with_sgd_asks_for_nothing_after_the_third(void) {
    tn_context *c = begin();
    tn_module *model = network();
    learns_without_malloc(model, tn_optim_sgd(tn_parameters(model), .lr = 0.05, .momentum = 0.9));
    end(c);
}

/* The training loop with loader, worker, test set: from an epoch's third step to the last. */
static int64_t loop_mallocs, loop_threads, loop_epoch_mallocs[8];
static bool watch(const tn_progress *p, void *user) {
    (void)user;
    if (p->event == TN_EVENT_STEP && p->step == WARM)
        loop_mallocs = mallocs, loop_threads = threads;
    if (p->event == TN_EVENT_TRAINED) {
        loop_epoch_mallocs[p->epoch] = mallocs - loop_mallocs;
        CHECK_EQ(threads, loop_threads);
    }
    return true;
}
static void the_loop_asks_for_nothing_after_the_third_step(void) {
    static float many[8 * BATCH * SIDE * SIDE];
    static int64_t classes[8 * BATCH];
    tn_context *c = begin();
    tn_module *model = network();
    tn_optimizer *optimizer = tn_optim_adam(tn_parameters(model), .lr = 0.01);
    tn_dataset *d = NULL;
    tn_loader *loader;
    draw_data();
    for (int i = 0; i < 8; i++) {
        memcpy(many + i * BATCH * SIDE * SIDE, pictures, sizeof pictures);
        memcpy(classes + i * BATCH, labels, sizeof labels);
    }
    TN_SCOPE {
        tn_tensor *t[2];
        t[0] = tn_from(many, TN_DIMS(8 * BATCH, 1, SIDE, SIDE), TN_F32);
        t[1] = tn_from(classes, TN_DIMS(8 * BATCH), TN_I64);
        d = tn_dataset_tensors(tn_tensors_of(t, 2));
    }
    loader = tn_loader_new(d, .batch_size = BATCH, .shuffle = true, .workers = 1);
    CHECK(tn_train(model, optimizer, loader, .epochs = 3, .on = watch));
    for (int i = 0; i < 3; i++) CHECK_EQ(loop_epoch_mallocs[i], 0);
    tn_loader_free(loader);
    tn_optimizer_free(optimizer);
    tn_module_free(model);
    end(c);
}

/* The second derivative of sum(tanh(w x)) in x, learnt through. */
static void gradients_of_gradients_leave_nothing(void) {
    tn_context *c = begin();
    tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(1))),
              *x = tn_requires_grad(tn_linspace(-1, 1, 64));
    int64_t live = 0, used = 0, before = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i == WARM)
            live = tn_memory().live_tensors, used = tn_memory().bytes_used, before = mallocs;
        TN_SCOPE {
            tn_grads_options o = {NULL, true, true, false};
            tn_tensor *first = NULL, *second = NULL, *y = tn_tanh(tn_mul(x, w));
            CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), &first, &o));
            CHECK(tn_grads(TN_LIST(tn_sum(first)), TN_LIST(x), &second, &o));
            tn_zero_grad(w), tn_zero_grad(x);
            CHECK(tn_backward(tn_sum(tn_square(second))));
        }
    }
    CHECK_EQ(tn_memory().live_tensors, live);
    CHECK_EQ(tn_memory().bytes_used, used);
    CHECK_EQ(mallocs, before);
    tn_free(w);
    tn_free(x);
    end(c);
}
/* The result of create_graph is kept beyond its scope, its leaves are freed first. */
static void a_gradient_that_outlives_its_leaves_leaves_nothing(void) {
    tn_context *c = begin();
    tn_tensor *x = tn_requires_grad(tn_linspace(-1, 1, 64)), *kept = NULL;
    TN_SCOPE {
        tn_grads_options o = {NULL, true, true, false};
        tn_tensor *y = tn_mul(tn_mul(x, x), x);
        CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), &kept, &o));
        tn_hold(kept);
    }
    tn_free(x);
    CHECK(tn_memory().live_tensors >= 1);
    tn_free(kept);
    end(c);
}

static const check_test tests[] = {
    CHECK_TEST(a_step_with_adam_asks_for_nothing_after_the_third),
    CHECK_TEST(a_step_with_sgd_asks_for_nothing_after_the_third),
    CHECK_TEST(the_loop_asks_for_nothing_after_the_third_step),
    CHECK_TEST(gradients_of_gradients_leave_nothing),
    CHECK_TEST(a_gradient_that_outlives_its_leaves_leaves_nothing),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
