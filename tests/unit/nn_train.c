/* nn_train.c - promises of data loading, optimizers, checkpoints and the training loop. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/base/base.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static const char *path_of(const char *name) {
    static char path[4][160];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}
static bool says(tn_code code, int line, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    bool ok;
    tn_error_take(&e);
    ok = e.code == code && (line == 0 || e.line == line) && strstr(e.message, text);
    if (!ok)
        printf("    got %s, line %d (expected %d): %s\n", tn_code_name(e.code), e.line, line,
               e.message);
    return ok;
}

/* 2-dimensional points in 3 classes, by formula. */
static tn_dataset *points(int64_t n) {
    static float x[512 * 2];
    static int64_t y[512];
    tn_dataset *d = NULL;
    for (int64_t i = 0; i < n; i++) {
        double a = 2.1 * (double)(i % 3) + 0.3 * sin(1.7 * (double)i);
        x[2 * i] = (float)(cos(a) + 0.1 * sin(3.1 * (double)i));
        x[2 * i + 1] = (float)(sin(a) + 0.1 * cos(2.3 * (double)i));
        y[i] = i % 3;
    }
    TN_SCOPE {
        tn_tensor *t[2];
        t[0] = tn_from(x, TN_DIMS(n, 2), TN_F32);
        t[1] = tn_from(y, TN_DIMS(n), TN_I64);
        d = tn_dataset_tensors(tn_tensors_of(t, 2));
    }
    return d;
}

/* --- data ------------------------------------------------------------------------------------- */

static void images_are_scaled_as_torchvision_does(void) {
    static const uint8_t pixels[] = {0, 51, 102, 255, 1, 2, 3, 4}, labels[] = {7, 200};
    TN_SCOPE {
        tn_dataset *d = tn_dataset_images(tn_from(pixels, TN_DIMS(2, 2, 2), TN_U8),
                                          tn_from(labels, TN_DIMS(2), TN_U8), 0.5, 0.25);
        tn_loader *l = tn_loader_new(d, .batch_size = 2);
        tn_batch b;
        float v[8];
        CHECK(tn_loader_next(l, &b) && b.n == 2 && b.nfields == 2 && tn_ndim(b.field[0]) == 4 &&
              tn_size(b.field[0], 1) == 1);
        CHECK(tn_read_f32(b.field[0], v, 8) && v[0] == -2.0f && v[3] == 2.0f &&
              v[1] == (51.0f / 255.0f - 0.5f) / 0.25f);
        CHECK(tn_dtype_of(b.field[1]) == TN_I64 && ((int64_t *)tn_data(b.field[1]))[1] == 200);
        CHECK(!tn_loader_next(l, &b) && tn_ok());
        tn_loader_free(l);
        CHECK(((int64_t *)tn_data(b.field[1] ? b.field[1]
                                             : tn_zeros(TN_DIMS(2), .dtype = TN_I64)))[0] == 0);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void batches_outlive_their_loader(void) {
    tn_loader *l = tn_loader_new(points(10), .batch_size = 4, .workers = 2);
    tn_batch a, b;
    float v[8], w[8];
    int64_t mark = tn_scope_begin();
    CHECK(tn_loader_next(l, &a) && tn_loader_next(l, &b));
    tn_read_f32(a.field[0], v, 8);
    tn_loader_free(l);
    CHECK(tn_read_f32(a.field[0], w, 8) && memcmp(v, w, sizeof v) == 0 && a.field[0] != b.field[0]);
    tn_scope_end(mark);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void bad_sets_and_loaders_are_refused(void) {
    TN_SCOPE {
        tn_tensor *t[2];
        t[0] = tn_zeros(TN_DIMS(3, 2)), t[1] = tn_zeros(TN_DIMS(4));
        CHECK(!tn_dataset_tensors(tn_tensors_of(t, 2)) && says(TN_INVALID, 0, "4 rows"));
        t[1] = NULL;
        CHECK(!tn_dataset_tensors(tn_tensors_of(t, 2)) && says(TN_INVALID, 0, "tensor 1 is NULL"));
        CHECK(!tn_dataset_images(t[0], t[0], 0, 1) && says(TN_INVALID, 0, "uint8"));
        CHECK(!tn_dataset_idx(path_of("none"), path_of("none"), 0, 1) && says(TN_FILE, 0, "none"));
    }
    CHECK(!tn_loader_new(NULL) && says(TN_INVALID, __LINE__, "dataset is NULL"));
    CHECK(!tn_loader_new(points(4), .batch_size = 0) && says(TN_INVALID, __LINE__, "batch_size"));
    CHECK(!tn_loader_new(points(4), .batch_size = INT64_MAX / 4) &&
          says(TN_MEMORY, __LINE__ - 1, "batch"));
    CHECK(!tn_loader_new(points(4), .workers = 1, .prefetch = 0) &&
          says(TN_INVALID, __LINE__ - 1, "prefetch"));
    CHECK(!tn_dataset_slice(points(4), 2, 5) && says(TN_INVALID, 0, "slice"));
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool half_get(const tn_dataset *d, int64_t index, void *const *to) {
    (void)d;
    if (index == 5) return tn_error_set(TN_FILE, NULL, 0, "item %d cannot be read", (int)index);
    *(double *)to[0] = (double)index;
    return true;
}
static void items_that_fail_are_named_in_the_callers_thread(void) {
    for (int workers = 0; workers < 3; workers += 2) {
        tn_dataset like, *d;
        tn_loader *l;
        tn_batch b;
        memset(&like, 0, sizeof like);
        like.size = 8;
        like.nfields = 1;
        like.field[0].dtype = TN_F64;
        like.get = half_get;
        d = tn_dataset_new(&like);
        l = tn_loader_new(d, .batch_size = 2, .workers = workers);
        TN_SCOPE {
            for (int epoch = 0; epoch < 2; epoch++) {
                CHECK(tn_loader_next(l, &b) && tn_item(tn_select(b.field[0], 0, 1)) == 1);
                CHECK(tn_loader_next(l, &b));
                CHECK(!tn_loader_next(l, &b) &&
                      says(TN_FILE, __LINE__ - 1, "item 5 of the data set: item 5 cannot be read"));
            }
        }
        tn_loader_free(l);
    }
}

static void parts_of_sets_and_early_ends_work(void) {
    tn_dataset *d = points(12);
    tn_loader *l = tn_loader_new(tn_dataset_slice(tn_dataset_hold(d), 3, 9), .batch_size = 4,
                                 .drop_last = true, .workers = 1);
    tn_batch b;
    CHECK_EQ(tn_loader_batches(l), 1);
    TN_SCOPE {
        CHECK(tn_loader_next(l, &b) && ((int64_t *)tn_data(b.field[1]))[0] == 0);
    }
    CHECK(!tn_loader_next(l, &b) && tn_ok());
    TN_SCOPE {
        CHECK(tn_loader_next(l, &b));
    }
    tn_loader_stop(l);
    TN_SCOPE {
        CHECK(tn_loader_next(l, &b) && b.index == 0);
    }
    tn_loader_free(l);
    tn_dataset_free(d);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- optimizers ------------------------------------------------------------------------------- */

static void optimizer_options_are_checked(void) {
    tn_module *m = tn_nn_linear(2, 2);
    tn_tensors p = tn_parameters(m), none = {NULL, 0};
    tn_optimizer *o = tn_optim_adam(p, .lr = 0.1);
    tn_value v;
    memset(&v, 0, sizeof v);
    CHECK(!tn_optim_sgd(p, .lr = -1) && says(TN_INVALID, __LINE__, "rate: -1.0, but lr must"));
    CHECK(!tn_optim_sgd(p, .nesterov = true) && says(TN_INVALID, __LINE__, "nesterov"));
    CHECK(!tn_optim_sgd(none) && says(TN_INVALID, __LINE__, "empty"));
    CHECK(!tn_optim_adam(p, .betas = TN_FLOATS(0.1)) && says(TN_INVALID, __LINE__, "betas"));
    CHECK(!tn_optim_adam(p, .betas = TN_FLOATS(0.1, 2)) && says(TN_INVALID, __LINE__, "betas"));
    CHECK(!tn_optim_adam(tn_parameters(NULL)) && says(TN_INVALID, 0, "NULL"));
    CHECK(tn_optimizer_set(o, 0, "lr", 0.2) && tn_optimizer_get(o, 0, "lr") == 0.2);
    CHECK(!tn_optimizer_set(o, 0, "lr", -1) && says(TN_INVALID, 0, "lr") &&
          tn_optimizer_get(o, 0, "lr") == 0.2);
    CHECK(!tn_optimizer_set(o, 0, "rate", 1) && says(TN_INVALID, 0, "rate"));
    CHECK(!tn_optimizer_set(o, 1, "lr", 1) && says(TN_INVALID, 0, "group 1"));
    CHECK(tn_optimizer_group(o, p, NULL, 0) == -1 && says(TN_INVALID, __LINE__, "already"));
    CHECK(tn_optimizer_step(o));
    tn_optimizer_free(o);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void groups_have_options_of_their_own(void) {
    tn_module *a = tn_nn_linear(2, 2, .bias = false), *b = tn_nn_linear(2, 2, .bias = false);
    tn_optimizer *o = tn_optim_sgd(tn_parameters(a), .lr = 0.5);
    tn_tensor *wa = tn_parameters(a).at[0], *wb = tn_parameters(b).at[0];
    tn_value v;
    float before[4], after[4];
    memset(&v, 0, sizeof v);
    v.type = TN_T_FLOAT, v.name = "lr", v.as.real = 0.25;
    CHECK_EQ(tn_optimizer_group(o, tn_parameters(b), &v, 1), 1);
    CHECK(tn_optimizer_get(o, 1, "lr") == 0.25 && tn_optimizer_groups(o) == 2);
    v.name = "x";
    CHECK(tn_optimizer_group(o, tn_parameters(b), &v, 1) == -1 && says(TN_TYPE, __LINE__, "x"));
    TN_SCOPE {
        tn_set_grad(wa, tn_ones(TN_DIMS(2, 2)));
        tn_set_grad(wb, tn_ones(TN_DIMS(2, 2)));
        tn_read_f32(wb, before, 4);
        CHECK(tn_optimizer_step(o));
        tn_read_f32(wb, after, 4);
        CHECK(after[3] == before[3] - 0.25f);
    }
    tn_optimizer_zero_grad(o);
    CHECK(!tn_grad_of(wa) && !tn_grad_of(wb));
    tn_optimizer_free(o);
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void optimizer_load_is_all_or_nothing(void) {
    tn_module *m = tn_nn_linear(2, 2);
    tn_optimizer *o = tn_optim_adam(tn_parameters(m)),
                 *other = tn_optim_adam(tn_parameters(m), .lr = 0.5);
    tn_named_list state;
    tn_named entry;
    TN_SCOPE {
        CHECK(tn_backward(tn_sum(tn_forward(m, tn_ones(TN_DIMS(3, 2))))));
    }
    CHECK(tn_optimizer_step(o));
    state = tn_optimizer_state_dict(o);
    CHECK(tn_named_find(state, "state.0.exp_avg") && tn_named_find(state, "state.1.step") &&
          tn_named_find(state, "group.0.lr"));
    CHECK(tn_item(tn_named_find(state, "state.0.step")) == 1 &&
          !tn_named_find(state, "state.0.max_exp_avg_sq"));
    TN_SCOPE {
        entry.name = "state.0.exp_avg", entry.tensor = tn_zeros(TN_DIMS(3));
        CHECK(!tn_optimizer_load(other, &entry, 1) && says(TN_INVALID, 0, "shape"));
        entry.name = "state.7.exp_avg";
        CHECK(!tn_optimizer_load(other, &entry, 1) && says(TN_INVALID, 0, "state.7"));
        entry.name = "group.0.lr", entry.tensor = tn_full(TN_EMPTY_DIMS, -3.0);
        CHECK(!tn_optimizer_load(other, &entry, 1) && says(TN_INVALID, 0, "lr"));
        CHECK(tn_optimizer_get(other, 0, "lr") == 0.5);
    }
    CHECK(tn_optimizer_load(other, state.at, state.n) && tn_optimizer_get(other, 0, "lr") == 0.001);
    tn_named_free(state);
    tn_optimizer_free(o);
    tn_optimizer_free(other);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- training --------------------------------------------------------------------------------- */

typedef struct world {
    tn_module *net;
    tn_optimizer *o;
    tn_schedule *s;
    tn_loader *loader, *test;
} world;
static world begin(int workers) {
    world w;
    tn_manual_seed(3);
    w.net = tn_sequential(tn_nn_linear(2, 16), tn_nn_batch_norm1d(16), tn_nn_relu(),
                          tn_nn_dropout(.p = 0.1), tn_nn_linear(16, 3));
    w.o = tn_optim_adamw(tn_parameters(w.net), .lr = 0.02);
    w.s = tn_optim_cosine_lr(w.o, 6, 0.001);
    w.loader = tn_loader_new(points(90), .batch_size = 16, .shuffle = true, .workers = workers);
    w.test = tn_loader_new(points(30), .batch_size = 8);
    return w;
}
static void end(world w) {
    tn_loader_free(w.loader);
    tn_loader_free(w.test);
    tn_schedule_free(w.s);
    tn_optimizer_free(w.o);
    tn_module_free(w.net);
}
/* A number that any bit of the weights changes. */
static uint64_t hash(tn_module *m) {
    tn_named_list list = tn_module_state_dict(m);
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < list.n; i++) {
        const uint8_t *at = (const uint8_t *)tn_data(list.at[i].tensor);
        int64_t n = tn_numel(list.at[i].tensor) * tn_dtype_bytes(tn_dtype_of(list.at[i].tensor));
        for (int64_t k = 0; k < n; k++) h = (h ^ at[k]) * 0x100000001b3u;
    }
    tn_named_free(list);
    return h;
}

static tn_progress last;
static int events[10], stop_after;
static bool on(const tn_progress *p, void *user) {
    (void)user;
    events[p->event]++;
    last = *p;
    return !(stop_after && p->event == TN_EVENT_SAVED && p->epoch + 1 == stop_after);
}

static void training_learns_and_reports(void) {
    world w = begin(0);
    double loss, accuracy;
    memset(events, 0, sizeof events);
    stop_after = 0;
    CHECK(tn_train(w.net, w.o, w.loader, .epochs = 6, .schedule = w.s, .test = w.test, .on = on));
    tn_error_print();
    CHECK_EQ(events[TN_EVENT_BEGIN], 1);
    CHECK_EQ(events[TN_EVENT_STEP], 36);
    CHECK_EQ(events[TN_EVENT_EVALUATE], 24);
    CHECK_EQ(events[TN_EVENT_END], 1);
    CHECK(last.test_accuracy > 0.95 && last.loss > 0 && last.items == 90 && last.steps == 6);
    CHECK(tn_evaluate(w.net, NULL, w.test, &loss, &accuracy) && accuracy == last.test_accuracy &&
          loss == last.test_loss);
    CHECK(w.net->training);
    end(w);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void resumed_training_gives_the_same_bits(void) {
    const char *path = path_of("checkpoint");
    world w = begin(2);
    uint64_t unbroken;
    stop_after = 0;
    CHECK(tn_train(w.net, w.o, w.loader, .epochs = 5, .schedule = w.s, .test = w.test));
    unbroken = hash(w.net);
    end(w);
    w = begin(0);
    stop_after = 2;
    CHECK(tn_train(w.net, w.o, w.loader, .epochs = 5, .schedule = w.s, .test = w.test,
                   .checkpoint = path, .on = on));
    CHECK(hash(w.net) != unbroken);
    end(w);
    w = begin(1);
    tn_manual_seed(99);
    stop_after = 0;
    CHECK(tn_train(w.net, w.o, w.loader, .epochs = 5, .schedule = w.s, .test = w.test,
                   .checkpoint = path, .resume = true));
    tn_error_print();
    CHECK(hash(w.net) == unbroken);
    end(w);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void checkpoint_that_does_not_fit_changes_nothing(void) {
    const char *path = path_of("other");
    tn_module *small = tn_nn_linear(2, 2);
    tn_optimizer *o = tn_optim_sgd(tn_parameters(small), .lr = 0.5);
    tn_named_number numbers[2] = {{"epoch", 3}, {"best", 0.5}};
    tn_state s = {small, o, NULL, tn_default_generator(), numbers, 2, NULL, NULL}, t;
    world w = begin(0);
    uint64_t before = hash(w.net);
    uint8_t rng[TN_GENERATOR_BYTES], now[TN_GENERATOR_BYTES];
    CHECK(tn_checkpoint_save(path, &s));
    numbers[0].value = numbers[1].value = 0;
    CHECK(tn_checkpoint_load(path, &s) && numbers[0].value == 3 && numbers[1].value == 0.5);
    tn_generator_state(tn_default_generator(), rng);
    memset(&t, 0, sizeof t);
    t.model = w.net, t.optimizer = w.o, t.schedule = w.s, t.generator = tn_default_generator();
    CHECK(!tn_checkpoint_load(path, &t) && says(TN_FORMAT, __LINE__, "schedule"));
    t.schedule = NULL;
    CHECK(!tn_checkpoint_load(path, &t) && says(TN_INVALID, __LINE__, "checkpoint: "));
    t.optimizer = NULL;
    CHECK(!tn_checkpoint_load(path, &t) && says(TN_INVALID, __LINE__, "missing"));
    tn_generator_state(tn_default_generator(), now);
    CHECK(hash(w.net) == before && memcmp(rng, now, sizeof rng) == 0);
    CHECK(tn_module_save_file(small, path) && !tn_checkpoint_load(path, &s) &&
          says(TN_FORMAT, __LINE__ - 1, "not a checkpoint of version 1"));
    CHECK(!tn_checkpoint_save(path_of("no/where"), &s) && says(TN_FILE, __LINE__, "where"));
    tn_optimizer_free(o);
    tn_module_free(small);
    end(w);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void training_errors_lead_home(void) {
    world w = begin(0);
    tn_module *wrong = tn_nn_linear(3, 3);
    CHECK(!tn_train(wrong, w.o, w.loader) &&
          says(TN_INVALID, __LINE__ - 1, "Linear: input: expected (*, 3)"));
    CHECK(!tn_train(NULL, w.o, w.loader) && says(TN_INVALID, __LINE__, "train: model"));
    CHECK(!tn_train(w.net, w.o, w.loader, .checkpoint = path_of("no/where")) &&
          says(TN_FILE, __LINE__ - 1, "where"));
    tn_loader *empty = tn_loader_new(points(0), .batch_size = 4, .shuffle = true);
    CHECK(!tn_train(w.net, w.o, empty) && says(TN_INVALID, __LINE__, "train: the loader has no b"));
    CHECK(!tn_train(w.net, w.o, w.loader, .test = empty) &&
          says(TN_INVALID, __LINE__ - 1, "train: the test loader has no batches"));
    tn_loader_free(empty);
    empty = tn_loader_new(points(3), .batch_size = 4, .drop_last = true);
    CHECK(!tn_train(w.net, w.o, empty) && says(TN_INVALID, __LINE__, "data set has 3 items"));
    tn_loader_free(empty);
    tn_module_free(wrong);
    end(w);
}

static void steady_training_asks_the_allocator_for_nothing(void) {
    world w = begin(2);
    int64_t before = 0;
    tn_batch b;
    tn_module *loss = tn_nn_cross_entropy_loss();
    for (int epoch = 0; epoch < 4; epoch++) {
        bool more = true;
        if (epoch == 2) before = tn_memory().allocations;
        while (more)
            TN_SCOPE {
                more = tn_loader_next(w.loader, &b);
                if (!more) break;
                tn_optimizer_zero_grad(w.o);
                tn_backward(tn_nn_cross_entropy_loss_forward(loss, tn_forward(w.net, b.field[0]),
                                                             b.field[1]));
                tn_optimizer_step(w.o);
            }
    }
    CHECK(tn_ok());
    if (!tni_here()->context->options.no_cache) /* as sanitizers have it */
        CHECK_EQ(tn_memory().allocations - before, 0);
    tn_module_free(loss);
    end(w);
}

static const check_test tests[] = {
    CHECK_TEST(images_are_scaled_as_torchvision_does),
    CHECK_TEST(batches_outlive_their_loader),
    CHECK_TEST(bad_sets_and_loaders_are_refused),
    CHECK_TEST(items_that_fail_are_named_in_the_callers_thread),
    CHECK_TEST(parts_of_sets_and_early_ends_work),
    CHECK_TEST(optimizer_options_are_checked),
    CHECK_TEST(groups_have_options_of_their_own),
    CHECK_TEST(optimizer_load_is_all_or_nothing),
    CHECK_TEST(training_learns_and_reports),
    CHECK_TEST(resumed_training_gives_the_same_bits),
    CHECK_TEST(checkpoint_that_does_not_fit_changes_nothing),
    CHECK_TEST(training_errors_lead_home),
    CHECK_TEST(steady_training_asks_the_allocator_for_nothing),
};

int main(int argc, char **argv) {
    char command[100];
    int failed;
    strcpy(folder, "/tmp/tn_train_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
