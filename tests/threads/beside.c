/* beside.c - threads that do different things at once, for ThreadSanitizer: contexts that end while
 * others work, files, loaders, hooks, errors, the pool's size, the profiler, requests to stop, new
 * rows, one graph for several backwards. Results are as with one thread. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8 };

static int rounds(void) {
    const char *full = getenv("TN_FULL"), *quick = getenv("TN_QUICK");
    return full && *full ? 100 : quick && *quick ? 2 : 12;
}

/* Threads 0 .. THREADS - 1 run even[i % 2]. */
typedef void *thread_main(void *);
static void in_threads(thread_main *even, thread_main *odd) {
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, i % 2 ? odd : even, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}

static tn_tensor *matrix;
static double expected;
static double product(void) {
    double sum = 0;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(96, 96), 0.5));
        tn_tensor *y = tn_sum(tn_tanh(tn_matmul(matrix, x)));
        if (y && tn_backward(y)) sum = tn_item(y) + tn_item(tn_sum(tn_grad_of(x)));
    }
    return sum;
}
static void matrix_make(void) {
    tn_set_threads(3);
    tn_manual_seed(1);
    matrix = tn_randn(TN_DIMS(96, 96));
    expected = product();
    CHECK(expected != 0);
}
static void *computes(void *arg) {
    (void)arg;
    for (int i = 0; i < rounds(); i++) CHECK(product() == expected);
    return NULL;
}
static void matrix_free(void) {
    CHECK(!tn_error_print());
    tn_free(matrix);
}

/* --- contexts --------------------------------------------------------------------------------- */

static void *lives_and_dies(void *arg) {
    for (int i = 0; i < rounds(); i++) {
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = (int32_t)(intptr_t)arg % 3;
        tn_context *c = tn_context_new(&o), *before = tn_context_use(c);
        tn_manual_seed(7);
        tn_tensor *w = tn_requires_grad(tn_randn(TN_DIMS(200, 200)));
        tn_backward(tn_sum(tn_exp(w)));
        CHECK(tn_grad_of(w) != NULL && tn_ok());
        tn_context_use(before);
        tn_context_free(c);
    }
    return NULL;
}
static void contexts_end_while_others_work(void) {
    matrix_make();
    in_threads(lives_and_dies, computes);
    matrix_free();
}

/* A context that several threads have used ends in one of them; the others find the default one. */
static tn_context *shared_context;
static pthread_barrier_t meeting;
static void *uses_shared(void *arg) {
    for (int i = 0; i < rounds(); i++) {
        if (arg == NULL) shared_context = tn_context_new(NULL);
        pthread_barrier_wait(&meeting);
        tn_context_use(shared_context);
        TN_SCOPE
            CHECK(tn_item(tn_sum(tn_ones(TN_DIMS(40, 40)))) == 1600);
        if (arg == (void *)1) tn_context_use(NULL); /* has left it before it ends */
        pthread_barrier_wait(&meeting);
        if (arg == NULL) tn_context_free(shared_context); /* no other is in a call of it */
        if (arg == (void *)1) {
            TN_SCOPE
                CHECK(tn_item(tn_sum(tn_ones(TN_DIMS(4)))) == 4);
        }
        pthread_barrier_wait(&meeting);
        TN_SCOPE
            CHECK(tn_item(tn_sum(tn_ones(TN_DIMS(3)))) == 3);
    }
    return NULL;
}
static void a_context_of_all_ends_in_one(void) {
    pthread_barrier_init(&meeting, NULL, THREADS);
    in_threads(uses_shared, uses_shared);
    pthread_barrier_destroy(&meeting);
}

static tn_context *pair[2];
static void *in_its_context(void *arg) {
    tn_context_use(pair[(intptr_t)arg % 2]);
    for (int i = 0; i < rounds(); i++)
        TN_SCOPE {
            tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(150, 150)));
            CHECK(tn_backward(tn_sum(tn_matmul(x, x))));
            CHECK(tn_item(tn_sum(tn_grad_of(x))) == 300. * 150 * 150);
            CHECK(!tn_add(x, tn_ones(TN_DIMS(7))) && tn_error_take(NULL));
        }
    return NULL;
}
static void two_contexts_in_threads(void) {
    for (int i = 0; i < 2; i++) pair[i] = tn_context_new(NULL);
    in_threads(in_its_context, in_its_context);
    for (int i = 0; i < 2; i++) tn_context_free(pair[i]);
}

/* --- files and loaders ------------------------------------------------------------------------ */

static void *saves_and_loads(void *arg) {
    char path[300];
    const char *at = getenv("LIFE_FOLDER");
    snprintf(path, sizeof path, "%s/races-%d.safetensors", at ? at : ".", (int)(intptr_t)arg);
    for (int i = 0; i < rounds(); i++)
        TN_SCOPE {
            tn_named all[2] = {{"shared", matrix}, {"own", tn_full(TN_DIMS(50), (double)i)}};
            CHECK(tn_safetensors_save(path, all, 2));
            tn_named_list l = tn_safetensors_load(path);
            CHECK(l.n == 2 && tn_equal(tn_named_find(l, "shared"), matrix));
            CHECK(tn_item(tn_sum(tn_named_find(l, "own"))) == 50. * i);
            tn_named_free(l);
        }
    unlink(path);
    return NULL;
}
static void files_are_written_and_read_by_all(void) {
    matrix_make();
    in_threads(saves_and_loads, computes);
    matrix_free();
}

static tn_tensor *items;
static void *loads_batches(void *arg) {
    tn_generator *g = tn_generator_new(5);
    tn_loader *l = NULL;
    TN_SCOPE
        l = tn_loader_new(tn_dataset_tensors(TN_LIST(items)), .batch_size = 10,
                          .workers = (int32_t)(intptr_t)arg % 3, .shuffle = true, .generator = g);
    for (int i = 0; i < rounds() / 2 + 1; i++) {
        tn_batch b;
        double sum = 0;
        TN_SCOPE
            while (tn_loader_next(l, &b)) sum += tn_item(tn_sum(b.field[0]));
        CHECK(sum == 119. * 60);
    }
    tn_loader_free(l);
    tn_generator_free(g);
    return NULL;
}
static void loaders_read_in_threads(void) {
    items = tn_arange(120, .dtype = TN_F32);
    in_threads(loads_batches, loads_batches);
    tn_free(items);
}

/* --- hooks, errors ---------------------------------------------------------------------------- */

static int64_t hook_calls;
static tn_tensor *hook_counts(tn_tensor *grad, void *user) {
    __atomic_fetch_add((int64_t *)user, 1, __ATOMIC_RELAXED);
    return grad;
}
static void *runs_hooks(void *arg) {
    (void)arg;
    for (int i = 0; i < rounds(); i++)
        TN_SCOPE { /* of the shared leaf, and one of its own */
            tn_tensor *y = tn_mul_scalar(matrix, 2);
            int64_t n = tn_hook_add(y, hook_counts, &hook_calls, NULL);
            CHECK(n > 0 && tn_backward(tn_sum(y)));
            CHECK(tn_hook_remove(y, n));
        }
    return NULL;
}
static void hooks_run_in_all_threads(void) {
    matrix_make();
    tn_requires_grad(matrix);
    CHECK(tn_hook_add(matrix, hook_counts, &hook_calls, NULL) > 0);
    hook_calls = 0;
    in_threads(runs_hooks, runs_hooks);
    CHECK_EQ(hook_calls, 2 * THREADS * rounds());
    TN_SCOPE
        CHECK(tn_item(tn_sum(tn_grad_of(matrix))) == 2. * 96 * 96 * THREADS * rounds());
    matrix_free();
}

static int64_t handled;
static void on_error(const tn_error_info *e, void *user) {
    (void)e, (void)user;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}
static void *fails(void *arg) {
    for (int i = 0; i < rounds(); i++)
        TN_SCOPE {
            tn_error_info e;
            char text[64];
            int64_t n = 3 + (intptr_t)arg;
            CHECK(!tn_add(matrix, tn_ones(TN_DIMS(n))) && !tn_ok());
            CHECK(!tn_ones(TN_DIMS(2)));
            snprintf(text, sizeof text, "(%d)", (int)n);
            CHECK(tn_error_take(&e) && strstr(e.message, text)); /* this thread's own */
        }
    return NULL;
}
static void errors_belong_to_their_thread(void) {
    matrix_make();
    tn_set_error_handler(on_error, NULL);
    handled = 0;
    in_threads(fails, computes);
    CHECK_EQ(handled, THREADS / 2 * rounds());
    tn_set_error_handler(NULL, NULL);
    matrix_free();
}

/* --- what is set while others compute --------------------------------------------------------- */

static void *resizes(void *arg) {
    for (int i = 0; i < rounds(); i++) {
        CHECK(tn_set_threads(1 + (i + (int)(intptr_t)arg) % 4));
        CHECK(tn_threads() >= 1 && product() == expected);
    }
    return NULL;
}
static void the_pool_changes_while_others_compute(void) {
    matrix_make();
    in_threads(resizes, computes);
    matrix_free();
}
static void *profiles(void *arg) {
    char path[300];
    const char *at = getenv("LIFE_FOLDER");
    snprintf(path, sizeof path, "%s/races.trace", at ? at : ".");
    for (int i = 0; i < rounds() && !arg; i++) {
        CHECK(tn_profile_begin());
        CHECK(product() == expected);
        CHECK(tn_profile_end(path));
    }
    if (!arg) unlink(path);
    return NULL;
}
static void the_profiler_runs_while_others_compute(void) {
    matrix_make();
    in_threads(profiles, computes);
    matrix_free();
}

static bool twice_check(tn_frame *f) { return tn_announce_like(f, 0, f->in[0], TN_F32); }
static void twice_run(tn_frame *f) {
    const float *x = (const float *)tn_data(f->in[0]);
    float *y = (float *)tn_data(f->out[0]);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) y[i] = 2 * x[i];
}
static tn_row rows[THREADS][128];
static char names[THREADS][128][24], schemas[THREADS][128][48];
static void *registers(void *arg) {
    intptr_t t = (intptr_t)arg;
    for (int i = 0; i < rounds(); i++) {
        tn_row *row = &rows[t][i];
        snprintf(names[t][i], sizeof names[t][i], "twice%d_%d", (int)t, i);
        snprintf(schemas[t][i], sizeof schemas[t][i], "%s(Tensor self) -> Tensor", names[t][i]);
        row->name = names[t][i], row->schema = schemas[t][i];
        row->check = twice_check, row->run = twice_run;
        CHECK(tn_register(row));
    }
    return NULL;
}
static void *calls_by_name(void *arg) {
    for (int i = 0; i < rounds(); i++)
        TN_SCOPE {
            tn_value v;
            tn_tensor *r[1] = {NULL};
            int n = 0;
            char name[40];
            memset(&v, 0, sizeof v);
            v.type = TN_T_TENSOR, v.as.tensor = matrix;
            CHECK(tn_call_named(__FILE__, __LINE__, "neg", &v, 1, r, 1, &n) && n == 1);
            snprintf(name, sizeof name, "twice%d_%d", (int)(intptr_t)arg - 1, i / 2);
            const tn_row *row = tn_row_named(name); /* there by now, or not */
            if (row) CHECK(tn_call_row(__FILE__, __LINE__, row, 0, &v, 1, r, 1, &n) && r[0]);
            CHECK(tn_row_count() > 100 && tn_row_at(tn_row_count() - 1));
        }
    return NULL;
}
static void rows_are_registered_while_others_call(void) {
    matrix_make();
    in_threads(registers, calls_by_name);
    matrix_free();
}

/* --- one graph, requests to stop -------------------------------------------------------------- */

static tn_tensor *one_loss;
static int64_t made, refused;
static void *runs_one_graph(void *arg) {
    (void)arg;
    for (int i = 0; i < rounds(); i++) {
        if (tn_backward(one_loss, .retain_graph = true)) {
            __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
        } else {
            tn_error_info e;
            CHECK(tn_error_take(&e) && e.code == TN_AUTOGRAD);
            __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}
static void a_graph_has_one_backward_at_a_time(void) {
    tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(50)));
    TN_SCOPE {
        tn_tensor *y = x;
        for (int i = 0; i < 20; i++) y = tn_add(tn_mul_scalar(y, 0.5), tn_mul_scalar(x, 0.5));
        one_loss = tn_sum(y);
        made = refused = 0;
        in_threads(runs_one_graph, runs_one_graph);
        CHECK_EQ(made + refused, THREADS * rounds());
        CHECK(made > 0 && tn_item(tn_sum(tn_grad_of(x))) == 50. * (double)made);
    }
    tn_free(x);
}
static void *is_cancelled(void *arg) {
    (void)arg;
    for (int i = 0; i < rounds(); i++) {
        double sum = product();
        tn_error_info e;
        if (tn_error_take(&e))
            CHECK(e.code == TN_CANCELLED);
        else
            CHECK(sum == expected);
    }
    return NULL;
}
static void *cancels(void *arg) {
    (void)arg;
    for (int i = 0; i < 20 * rounds(); i++) tn_cancel(NULL), tn_cancel_clear(NULL);
    return NULL;
}
static void requests_come_and_go(void) {
    matrix_make();
    in_threads(cancels, is_cancelled);
    CHECK(product() == expected);
    matrix_free();
}

static const check_test tests[] = {
    CHECK_TEST(contexts_end_while_others_work),
    CHECK_TEST(a_context_of_all_ends_in_one),
    CHECK_TEST(two_contexts_in_threads),
    CHECK_TEST(files_are_written_and_read_by_all),
    CHECK_TEST(loaders_read_in_threads),
    CHECK_TEST(hooks_run_in_all_threads),
    CHECK_TEST(errors_belong_to_their_thread),
    CHECK_TEST(the_pool_changes_while_others_compute),
    CHECK_TEST(the_profiler_runs_while_others_compute),
    CHECK_TEST(rows_are_registered_while_others_call),
    CHECK_TEST(a_graph_has_one_backward_at_a_time),
    CHECK_TEST(requests_come_and_go),
};

int main(int argc, char **argv) {
    int status = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return status;
}
