/* resume.c - promises of checkpoints and of a training that goes on from one: exact, all or
 * nothing, through the context's file table, and refused where the file is damaged. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
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
/* line: the first of the call's, of which a compiler takes either when there are two */
static bool says(tn_code code, int line, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    bool ok;
    tn_error_take(&e);
    ok = e.code == code && (e.line == line || e.line == line + 1) && strstr(e.message, text);
    if (!ok)
        printf("    got %s, line %d (expected %d): %s\n", tn_code_name(e.code), e.line, line,
               e.message);
    return ok;
}

typedef struct world {
    tn_module *net;
    tn_optimizer *o;
    tn_schedule *s;
    tn_generator *g;
    tn_loader *loader;
    tn_state state;
} world;
static tn_named_number number;

/* 40 points in two classes. */
static tn_dataset *points(void) {
    static float x[40 * 4];
    static int64_t y[40];
    tn_dataset *d;
    int64_t mark = tn_scope_begin();
    for (int i = 0; i < 160; i++) x[i] = (float)sin(1.3 * i) + (float)(i / 4 % 2);
    for (int i = 0; i < 40; i++) y[i] = i % 2;
    {
        tn_tensor *t[2];
        t[0] = tn_from(x, TN_DIMS(40, 4), TN_F32);
        t[1] = tn_from(y, TN_DIMS(40), TN_I64);
        d = tn_dataset_tensors(tn_tensors_of(t, 2));
    }
    tn_scope_end(mark);
    return d;
}
static world begin(bool own_generator) {
    world w;
    memset(&w, 0, sizeof w);
    tn_manual_seed(1);
    w.net = tn_sequential(tn_nn_linear(4, 4), tn_nn_batch_norm1d(4), tn_nn_linear(4, 2));
    w.o = tn_optim_adam(tn_parameters(w.net), .lr = 0.125, .amsgrad = true);
    w.s = tn_optim_step_lr(w.o, 1, 0.5);
    w.g = own_generator ? tn_generator_new(7) : NULL;
    w.loader = tn_loader_new(points(), .batch_size = 10, .shuffle = true, .generator = w.g);
    number.name = "epoch";
    w.state.model = w.net, w.state.optimizer = w.o, w.state.schedule = w.s;
    w.state.generator = tn_default_generator();
    w.state.numbers = &number, w.state.nnumbers = 1;
    return w;
}
static void end(world w) {
    tn_loader_free(w.loader);
    tn_generator_free(w.g);
    tn_schedule_free(w.s);
    tn_optimizer_free(w.o);
    tn_module_free(w.net);
}
static uint64_t hash_list(tn_named_list list) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < list.n; i++) {
        const uint8_t *at = (const uint8_t *)tn_data(list.at[i].tensor);
        int64_t n = tn_numel(list.at[i].tensor) * tn_dtype_bytes(tn_dtype_of(list.at[i].tensor));
        for (int64_t k = 0; k < n; k++) h = (h ^ at[k]) * 0x100000001b3u;
    }
    return h;
}
/* A number that any bit of model, optimizer, schedule and generator changes. */
static uint64_t hash(const world *w) {
    tn_named_list a = tn_module_state_dict(w->net), b = tn_optimizer_state_dict(w->o);
    uint8_t rng[TN_GENERATOR_BYTES];
    uint64_t h = hash_list(a) * 31 + hash_list(b);
    tn_generator_state(tn_default_generator(), rng);
    for (int i = 0; i < TN_GENERATOR_BYTES; i++) h = (h ^ rng[i]) * 0x100000001b3u;
    h = (h ^ (uint64_t)tn_schedule_count(w->s)) * 0x100000001b3u;
    tn_named_free(a);
    tn_named_free(b);
    return h;
}

static int64_t began; /* epoch of the last BEGIN; -1: none */
static int stop_at;   /* event at which the run ends */
static bool on(const tn_progress *p, void *user) {
    (void)user;
    if (p->event == TN_EVENT_BEGIN) began = p->epoch;
    return (int)p->event != stop_at;
}

/* Writes the checkpoint `from` to `to` with one value of a tensor replaced. */
static bool damage(const char *from, const char *to, const char *name, double value) {
    static const tn_note notes[2] = {{"format", "tensor.h checkpoint"}, {"version", "1"}};
    tn_named_list list = tn_safetensors_load(from);
    tn_tensor *t = tn_named_find(list, name);
    int64_t integer = value > -9e18 && value < 9e18 ? (int64_t)value : INT64_MAX;
    float single = (float)value;
    bool ok = t != NULL;
    if (ok && tn_dtype_of(t) == TN_F64) memcpy(tn_data(t), &value, sizeof value);
    if (ok && tn_dtype_of(t) == TN_F32) memcpy(tn_data(t), &single, sizeof single);
    if (ok && tn_dtype_of(t) == TN_I64) memcpy(tn_data(t), &integer, sizeof integer);
    ok = ok && tn_safetensors_save_at(__FILE__, __LINE__, to, list.at, list.n, notes, 2);
    tn_named_free(list);
    return ok;
}

/* --- damaged files ---------------------------------------------------------------------------- */

static void epochs_that_are_no_number_of_epochs_are_refused(void) {
    static const double bad[] = {1e300, -1, 0.5, HUGE_VAL, -HUGE_VAL};
    const char *good = path_of("good"), *path = path_of("bad");
    world w = begin(false);
    uint64_t before;
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s, .checkpoint = good));
    before = hash(&w);
    for (int i = 0; i < 6; i++) {
        CHECK(damage(good, path, "train.epoch", i < 5 ? bad[i] : (double)NAN));
        began = -1;
        stop_at = TN_EVENT_BEGIN;
        CHECK(!tn_train(w.net, w.o, w.loader, .schedule = w.s, .checkpoint = path, .resume = true,
                        .epochs = 2, .on = on) &&
              says(TN_FORMAT, __LINE__ - 2, ", expected the number of completed epochs"));
        CHECK(began == -1 && hash(&w) == before);
    }
    end(w);
}

static void numbers_out_of_their_range_are_refused(void) {
    static const struct {
        const char *name;
        double value;
    } bad[] = {{"schedule.count", -1},           {"schedule.count", 1e300},
               {"schedule.initial", HUGE_VAL},   {"optimizer.state.0.step", 1e30},
               {"optimizer.state.0.step", 0.5},  {"optimizer.state.0.step", -1},
               {"optimizer.group.0.amsgrad", 2}, {"optimizer.group.0.amsgrad", 1e300},
               {"optimizer.group.0.lr", -1}};
    const char *good = path_of("good"), *path = path_of("bad");
    world w = begin(false);
    uint64_t before;
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s, .checkpoint = good));
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s));
    before = hash(&w);
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
        tn_error_info e = {TN_OK, "", NULL, 0};
        CHECK(damage(good, path, bad[i].name, bad[i].value));
        CHECK(!tn_checkpoint_load(path, &w.state));
        CHECK(tn_error_take(&e) && (e.code == TN_FORMAT || e.code == TN_INVALID) &&
              e.line == __LINE__ - 2);
        if (!CHECK(hash(&w) == before)) printf("    %s %g\n", bad[i].name, bad[i].value);
    }
    CHECK(tn_checkpoint_load(good, &w.state) && tn_ok() && hash(&w) != before);
    end(w);
}

static void numbers_of_the_program_are_checked(void) {
    static const tn_note notes[2] = {{"format", "tensor.h checkpoint"}, {"version", "1"}};
    const char *path = path_of("numbers");
    tn_state s;
    tn_named entry;
    memset(&s, 0, sizeof s);
    number.name = "epoch";
    s.numbers = &number, s.nnumbers = 1;
    TN_SCOPE {
        entry.name = "train.epoch", entry.tensor = tn_zeros(TN_DIMS(2), .dtype = TN_F64);
        CHECK(tn_safetensors_save_at(__FILE__, __LINE__, path, &entry, 1, notes, 2));
        CHECK(!tn_checkpoint_load(path, &s) && says(TN_FORMAT, __LINE__, "train.epoch"));
        entry.tensor = tn_zeros(TN_EMPTY_DIMS, .dtype = TN_C64);
        CHECK(tn_safetensors_save_at(__FILE__, __LINE__, path, &entry, 1, notes, 2));
        CHECK(!tn_checkpoint_load(path, &s) && says(TN_FORMAT, __LINE__, "train.epoch"));
    }
    number.name = NULL;
    CHECK(!tn_checkpoint_load(path, &s) && says(TN_INVALID, __LINE__, "no name"));
    CHECK(!tn_checkpoint_save(path, &s) && says(TN_INVALID, __LINE__, "no name"));
}

/* --- what is saved ---------------------------------------------------------------------------- */

static void names_of_numbers_have_any_length(void) {
    static char name[5000];
    tn_named_number n = {name, 42};
    tn_state s;
    memset(&s, 0, sizeof s);
    s.numbers = &n, s.nnumbers = 1;
    memset(name, 'a', sizeof name - 1);
    CHECK(tn_checkpoint_save(path_of("name"), &s));
    n.value = 0;
    CHECK(tn_checkpoint_load(path_of("name"), &s) && n.value == 42);
    name[130] = 0;
    CHECK(tn_checkpoint_load(path_of("name"), &s) && n.value != n.value && tn_ok());
}

static void schedules_keep_the_groups_that_they_move(void) {
    const char *path = path_of("groups");
    world w = begin(false);
    tn_module *more = tn_nn_linear(2, 2);
    double initial = tn_schedule_initial(w.s, 0);
    CHECK_EQ(tn_optimizer_group(w.o, tn_parameters(more), NULL, 0), 1);
    CHECK(tn_schedule_step(w.s) && tn_checkpoint_save(path, &w.state));
    CHECK(tn_schedule_step(w.s) && tn_schedule_count(w.s) == 2);
    CHECK(tn_checkpoint_load(path, &w.state) && tn_ok());
    CHECK(tn_schedule_count(w.s) == 1 && tn_schedule_initial(w.s, 0) == initial);
    { /* a schedule of other groups */
        uint64_t before;
        tn_schedule *both = tn_optim_step_lr(w.o, 1, 0.5);
        w.state.schedule = both;
        CHECK(tn_optimizer_set(w.o, 0, "lr", 0.75));
        before = hash(&w);
        CHECK(!tn_checkpoint_load(path, &w.state) && says(TN_FORMAT, __LINE__, "schedule"));
        CHECK(hash(&w) == before);
        tn_schedule_free(both);
    }
    end(w);
    tn_module_free(more);
}

static void parameters_that_are_views_are_refused(void) {
    const char *path = path_of("views");
    world w = begin(false);
    tn_named_list list;
    uint64_t before;
    CHECK(tn_checkpoint_save(path, &w.state));
    TN_SCOPE {
        tn_tensor *flat = tn_zeros(TN_DIMS(8)),
                  *view = tn_requires_grad(tn_view(flat, TN_DIMS(2, 4)));
        CHECK(tn_module_set_tensor(w.net, "2.weight", view));
        before = hash(&w);
        list = tn_module_state_dict(w.net);
        CHECK(!tn_module_load(w.net, list) && says(TN_AUTOGRAD, __LINE__, "2.weight is a view"));
        tn_named_free(list);
        CHECK(!tn_checkpoint_load(path, &w.state) &&
              says(TN_AUTOGRAD, __LINE__ - 1, "2.weight is a view"));
        CHECK(!tn_module_to(w.net, TN_F64, TN_NO_DEVICE) &&
              says(TN_AUTOGRAD, __LINE__ - 1, "2.weight is a view"));
        CHECK(hash(&w) == before);
    }
    end(w);
}

/* --- going on --------------------------------------------------------------------------------- */

static void a_loaders_own_generator_goes_on(void) {
    const char *path = path_of("own");
    uint64_t unbroken;
    world w = begin(true);
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s, .epochs = 3));
    unbroken = hash(&w);
    end(w);
    w = begin(true);
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s, .checkpoint = path, .epochs = 1));
    end(w);
    w = begin(true);
    CHECK(tn_train(w.net, w.o, w.loader, .schedule = w.s, .checkpoint = path, .resume = true,
                   .epochs = 3));
    CHECK(hash(&w) == unbroken);
    end(w);
    w = begin(false); /* saved without a generator of the loader's: it is left as it is */
    CHECK(tn_checkpoint_save(path, &w.state));
    end(w);
    w = begin(true);
    {
        uint8_t was[TN_GENERATOR_BYTES], is[TN_GENERATOR_BYTES];
        tn_generator_state(w.g, was);
        w.state.loader_generator = w.g;
        CHECK(tn_checkpoint_load(path, &w.state));
        tn_generator_state(w.g, is);
        CHECK(memcmp(was, is, sizeof was) == 0);
    }
    end(w);
}

/* One run of `epochs` epochs with a test loader in an order of its own; to: its generator's end. */
static void tested(const char *path, int64_t epochs, uint8_t *to) {
    world w = begin(false);
    tn_generator *g = tn_generator_new(9);
    tn_loader *test = tn_loader_new(points(), .batch_size = 10, .shuffle = true, .generator = g);
    CHECK(tn_train(w.net, w.o, w.loader, .test = test, .checkpoint = path, .resume = true,
                   .epochs = epochs));
    tn_generator_state(g, to);
    tn_loader_free(test);
    tn_generator_free(g);
    end(w);
}
static void a_test_loaders_generator_goes_on(void) {
    uint8_t began_at[TN_GENERATOR_BYTES], whole[TN_GENERATOR_BYTES], parts[TN_GENERATOR_BYTES];
    const char *path = path_of("test");
    tested(NULL, 3, whole);
    tested(path, 1, began_at);
    tested(path, 3, parts);
    CHECK(memcmp(began_at, whole, sizeof whole) != 0);
    CHECK(memcmp(parts, whole, sizeof whole) == 0);
}

static int refuse; /* what opening a file for reading fails with */
static int table_open(const char *path, int flags, int mode, void *user) {
    char to[200];
    (void)user;
    if (refuse && !(flags & O_CREAT)) return errno = refuse, -1;
    snprintf(to, sizeof to, "%s/table_%s", folder, path);
    return open(to, flags, mode);
}
static int table_rename(const char *from, const char *to, void *user) {
    char a[200], b[200];
    (void)user;
    snprintf(a, sizeof a, "%s/table_%s", folder, from);
    snprintf(b, sizeof b, "%s/table_%s", folder, to);
    return rename(a, b);
}
static void resume_asks_the_contexts_files(void) {
    tn_context *before = tn_context_current(), *c;
    tn_context_options options;
    world w;
    memset(&options, 0, sizeof options);
    options.files.open = table_open;
    options.files.rename = table_rename;
    c = tn_context_new(&options);
    tn_context_use(c);
    w = begin(false);
    stop_at = 0;
    CHECK(tn_train(w.net, w.o, w.loader, .checkpoint = "run", .resume = true, .epochs = 2,
                   .on = on) &&
          began == 0);
    CHECK(tn_train(w.net, w.o, w.loader, .checkpoint = "run", .resume = true, .epochs = 3,
                   .on = on) &&
          began == 2);
    began = -1;
    refuse = EACCES; /* there, but not to be read: no new beginning */
    CHECK(!tn_train(w.net, w.o, w.loader, .checkpoint = "run", .resume = true, .epochs = 3,
                    .on = on) &&
          says(TN_FILE, __LINE__ - 2, "run"));
    CHECK_EQ(began, -1);
    refuse = 0;
    end(w);
    tn_context_use(before);
    tn_context_free(c);
}

/* --- epochs and modes ------------------------------------------------------------------------- */

static void evaluation_covers_the_whole_set(void) {
    world w = begin(false);
    tn_loader *test = tn_loader_new(points(), .batch_size = 10);
    double whole = 0, after = 0;
    tn_batch b;
    CHECK(tn_optimizer_set(w.o, 0, "lr", 0.0));
    CHECK(tn_train(w.net, w.o, w.loader)); /* running statistics move, weights do not */
    CHECK(tn_evaluate(w.net, NULL, test, &whole, NULL));
    TN_SCOPE {
        CHECK(tn_loader_next(test, &b) && tn_loader_next(test, &b));
    }
    CHECK(tn_evaluate(w.net, NULL, test, &after, NULL) && after == whole);
    stop_at = TN_EVENT_EVALUATE;
    CHECK(tn_train(w.net, w.o, w.loader, .test = test, .on = on));
    CHECK(tn_evaluate(w.net, NULL, test, &whole, NULL));
    TN_SCOPE {
        CHECK(tn_loader_next(test, &b) && b.index == 0);
    }
    CHECK(tn_evaluate(w.net, NULL, test, &after, NULL) && after == whole);
    tn_loader_free(test);
    end(w);
}

static int64_t steps;
static bool count_steps(const tn_progress *p, void *user) {
    (void)user;
    steps += p->event == TN_EVENT_STEP;
    return true;
}
static void training_begins_an_epoch(void) {
    world w = begin(false);
    tn_batch b;
    TN_SCOPE {
        CHECK(tn_loader_next(w.loader, &b) && tn_loader_next(w.loader, &b));
    }
    steps = 0;
    CHECK(tn_train(w.net, w.o, w.loader, .on = count_steps));
    CHECK_EQ(steps, 4);
    end(w);
}

static void evaluation_leaves_each_module_in_its_mode(void) {
    world w = begin(false);
    tn_module *norm = tn_module_child(w.net, "1");
    tn_loader *test = tn_loader_new(points(), .batch_size = 10);
    tn_module_train(norm, false);
    CHECK(tn_evaluate(w.net, NULL, test, NULL, NULL));
    CHECK(w.net->training && !norm->training && tn_module_child(w.net, "2")->training);
    tn_module_train(w.net, false);
    tn_module_train(norm, true);
    CHECK(tn_evaluate(w.net, NULL, test, NULL, NULL));
    CHECK(!w.net->training && norm->training && !tn_module_child(w.net, "2")->training);
    tn_loader_free(test);
    end(w);
}

static const check_test tests[] = {
    CHECK_TEST(epochs_that_are_no_number_of_epochs_are_refused),
    CHECK_TEST(numbers_out_of_their_range_are_refused),
    CHECK_TEST(numbers_of_the_program_are_checked),
    CHECK_TEST(names_of_numbers_have_any_length),
    CHECK_TEST(schedules_keep_the_groups_that_they_move),
    CHECK_TEST(parameters_that_are_views_are_refused),
    CHECK_TEST(a_loaders_own_generator_goes_on),
    CHECK_TEST(a_test_loaders_generator_goes_on),
    CHECK_TEST(resume_asks_the_contexts_files),
    CHECK_TEST(evaluation_covers_the_whole_set),
    CHECK_TEST(training_begins_an_epoch),
    CHECK_TEST(evaluation_leaves_each_module_in_its_mode),
};

int main(int argc, char **argv) {
    char command[100];
    int failed;
    strcpy(folder, "/tmp/tn_resume_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
