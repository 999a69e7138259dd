/* trainer.c - a training that is stopped anywhere and goes on from its checkpoint gives the bits of
 * an unbroken one, and of the loop written out by hand, whatever its options; what it reports are
 * the means of that loop.
 *
 *     trainer PATH [SEED [COUNT]]        PATH: of a checkpoint to write */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 4, ITEMS = 23 };

typedef struct plan { /* the options of a program */
    int optimizer, schedule, net, batch, workers, epochs;
    int accumulate, patience;
    tn_watch watch;
    tn_dtype autocast;
    double min_delta;
    bool shuffle, drop_last, own, test, clip, loss, bare, scaled, best, nan;
} plan;
typedef struct world {
    tn_module *net, *loss;
    tn_optimizer *o;
    tn_schedule *s;
    tn_generator *g;
    tn_scaler *scaler;
    tn_loader *loader, *test;
} world;
typedef struct report {
    double loss, accuracy, test_loss, test_accuracy, lr, best, best_epoch;
} report;

static struct {
    uint64_t random;
    bool wrong;
    int calls, stop; /* of the callback; the call at which the run is stopped, or none */
    report told[EPOCHS];
    int epochs;    /* of those */
    uint64_t best; /* by hand: the model of the best epoch */
    bool saved, nan;
} m;
static int64_t stops, epochs_done, ended_early, bests;

static int below(int n) {
    uint64_t z = m.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}
static void wrong(const char *what) {
    if (!m.wrong) printf("%s\n", what);
    if (!tn_ok()) tn_error_print();
    m.wrong = true;
}
static int no_sync(int fd, void *user) { return (void)fd, (void)user, 0; }

/* --- a world ---------------------------------------------------------------------------------- */

static tn_dataset *points(int n) {
    float x[ITEMS * 3];
    int64_t y[ITEMS];
    tn_tensor *t[2];
    tn_dataset *d = NULL;
    for (int i = 0; i < 3 * n; i++) x[i] = (float)((i * 37 % 19) - 9) / 8;
    for (int i = 0; i < n; i++) y[i] = i * i % 3;
    TN_SCOPE {
        t[0] = tn_from(x, TN_DIMS(n, 3), TN_F32);
        t[1] = tn_from(y, TN_DIMS(n), TN_I64);
        d = tn_dataset_tensors(tn_tensors_of(t, 2));
    }
    return d;
}

static tn_optimizer *optimizer_of(const plan *p, tn_module *net) {
    tn_tensors all = tn_parameters(net);
    switch (p->optimizer) {
    case 0: return tn_optim_sgd(all, .lr = 0.0625);
    case 1: return tn_optim_sgd(all, .lr = 0.0625, .momentum = 0.75, .nesterov = true);
    case 2: return tn_optim_sgd(all, .lr = 0.03, .momentum = 0.5, .weight_decay = 0.01);
    case 3: return tn_optim_adam(all, .lr = 0.01, .amsgrad = true);
    case 4: return tn_optim_adam(all, .lr = 0.02, .weight_decay = 0.05);
    default: return tn_optim_adamw(all, .lr = 0.01, .maximize = true);
    }
}
static double factor(int64_t step, void *user) { return (void)user, 1.0 / (double)(1 + step); }

/* other: what a checkpoint is to replace, the rate included. */
static world begin(const plan *p, uint64_t seed, bool other) {
    world w;
    memset(&w, 0, sizeof w);
    if (other) seed += 99;
    tn_manual_seed(seed);
    w.net = p->net == 0   ? tn_sequential(tn_nn_linear(3, 3))
            : p->net == 1 ? tn_sequential(tn_nn_linear(3, 6), tn_nn_batch_norm1d(6), tn_nn_relu(),
                                          tn_nn_dropout(.p = 0.25), tn_nn_linear(6, 3))
                          : tn_sequential(tn_nn_dropout(.p = 0.5), tn_nn_linear(3, 3));
    w.o = optimizer_of(p, w.net);
    if (other) tn_optimizer_set(w.o, 0, "lr", 0.375);
    w.s = p->schedule == 1   ? tn_optim_step_lr(w.o, 2, 0.5)
          : p->schedule == 2 ? tn_optim_cosine_lr(w.o, 3, 0.001)
          : p->schedule == 3 ? tn_optim_lambda_lr(w.o, factor, NULL)
                             : NULL;
    w.g = p->own ? tn_generator_new(seed + 5) : NULL;
    w.loader = tn_loader_new(points(ITEMS), .batch_size = p->batch, .shuffle = p->shuffle,
                             .drop_last = p->drop_last, .workers = p->workers, .generator = w.g);
    w.test = p->test ? tn_loader_new(points(11), .batch_size = 4) : NULL;
    w.scaler =
        p->scaled ? tn_scaler_new(.init_scale = other ? 4 : 1 << 22, .growth_interval = 3) : NULL;
    w.loss = p->loss ? tn_nn_cross_entropy_loss(.label_smoothing = 0.125) : NULL;
    if (!tn_ok()) wrong("a world is not made");
    return w;
}
static void end(const world *w) {
    tn_loader_free(w->loader), tn_loader_free(w->test);
    tn_generator_free(w->g);
    tn_schedule_free(w->s);
    tn_scaler_free(w->scaler);
    tn_optimizer_free(w->o);
    tn_module_free(w->net), tn_module_free(w->loss);
}

static uint64_t mix(uint64_t h, const void *data, int64_t n) {
    for (int64_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
    return h;
}
static uint64_t mix_list(uint64_t h, tn_named_list list) {
    for (int64_t i = 0; i < list.n; i++) {
        const tn_tensor *t = list.at[i].tensor;
        h = mix(h, list.at[i].name, (int64_t)strlen(list.at[i].name));
        h = mix(h, tn_data(t), tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t)));
    }
    tn_named_free(list);
    return h;
}
/* A number that any bit of the state changes. */
static uint64_t hash(const world *w) {
    uint8_t state[TN_GENERATOR_BYTES];
    int64_t count = w->s ? tn_schedule_count(w->s) : 0;
    uint64_t h = mix_list(0xcbf29ce484222325u, tn_module_state_dict(w->net));
    h = mix_list(h, tn_optimizer_state_dict(w->o));
    tn_generator_state(tn_default_generator(), state);
    h = mix(h, state, TN_GENERATOR_BYTES);
    tn_generator_state(w->g, state); /* NULL: zeros */
    h = mix(h, state, TN_GENERATOR_BYTES);
    h = mix(h, &count, 8);
    if (!w->scaler) return h;
    const double scale[] = {tn_scaler_get(w->scaler), (double)tn_scaler_count(w->scaler)};
    return mix(h, scale, sizeof scale);
}
static uint64_t hash_model(const world *w) {
    return mix_list(0xcbf29ce484222325u, tn_module_state_dict(w->net));
}

/* --- by the library --------------------------------------------------------------------------- */

static bool on(const tn_progress *p, void *user) {
    (void)user;
    if (p->event == TN_EVENT_SAVED) m.saved = true;
    if (p->event == TN_EVENT_EPOCH_END) {
        report *r = &m.told[p->epoch];
        r->loss = p->loss, r->accuracy = p->accuracy, r->lr = p->lr;
        r->test_loss = p->test_loss, r->test_accuracy = p->test_accuracy;
        r->best = p->best, r->best_epoch = (double)p->best_epoch;
        m.epochs = (int)p->epoch + 1;
        epochs_done++;
    }
    return m.calls++ != m.stop;
}
static tn_tensor *batch_loss(tn_module *model, const tn_batch *b, tn_tensor **output, void *user) {
    tn_tensor *y = tn_forward(model, b->field[0]);
    (void)user, (void)output;
    if (y && m.nan) y = tn_mul_scalar(y, (double)NAN);
    return y ? tnp_mean(tnp_mul(y, y), tn_ints_of(NULL, -1), false, TN_NO_DTYPE) : NULL;
}

/* Where the best epoch's state goes: PATH.best. */
static const char *best_of(const char *path) {
    static char best[1000];
    snprintf(best, sizeof best, "%s.best", path);
    return best;
}
static bool train(const plan *p, const world *w, const char *path, bool resume, int stop) {
    tn_train_args a;
    memset(&a, 0, sizeof a);
    a.loss = w->loss, a.batch_loss = p->bare ? batch_loss : NULL, a.schedule = w->s;
    a.test = w->test, a.epochs = p->epochs, a.clip_norm = p->clip ? 0.25 : 0;
    a.checkpoint = resume ? path : NULL, a.resume = resume, a.on = on;
    a.accumulate = p->accumulate, a.autocast = p->autocast, a.scaler = w->scaler;
    a.best = p->best ? best_of(path) : NULL, a.patience = p->patience;
    a.watch = p->watch, a.min_delta = p->min_delta;
    a.model = w->net, a.optimizer = w->o, a.loader = w->loader;
    m.calls = 0, m.stop = stop;
    return tn_train_at(__FILE__, __LINE__, &a);
}

/* --- by hand ---------------------------------------------------------------------------------- */

static double hits_of(tn_tensor *y, tn_tensor *target) {
    double hits = 0;
    for (int64_t i = 0; i < tn_size(y, 0); i++) {
        const float *row = (const float *)tn_data(y) + 3 * i;
        int best = 0;
        for (int c = 1; c < 3; c++)
            if (row[c] > row[best]) best = c;
        hits += best == ((const int64_t *)tn_data(target))[i];
    }
    return hits;
}
static tn_tensor *loss_by_hand(const plan *p, const world *w, const tn_batch *b, tn_tensor **y) {
    if (p->bare && w->net->training) return batch_loss(w->net, b, y, NULL);
    *y = tn_forward(w->net, b->field[0]);
    return tn_cross_entropy(*y, b->field[1], .label_smoothing = p->loss ? 0.125 : 0);
}

/* The gradients of a batch, one of `share` of a step; the step behind the last of them. */
static void learn_by_hand(const plan *p, const world *w, tn_tensor *l, int64_t at, int64_t share) {
    tn_tensor *part = share > 1 ? tn_div_scalar(l, (double)share) : l;
    if (at == 0) tn_optimizer_zero_grad(w->o);
    tn_backward(w->scaler ? tn_scaler_scale(w->scaler, part) : part);
    if (at + 1 < share) return;
    if (w->scaler) tn_scaler_unscale_(w->scaler, w->o);
    if (p->clip) tn_nn_clip_grad_norm_(tn_parameters(w->net), 0.25);
    if (!w->scaler)
        tn_optimizer_step(w->o);
    else
        tn_scaler_step(w->scaler, w->o), tn_scaler_update(w->scaler);
}
static void pass_by_hand(const plan *p, const world *w, tn_loader *loader, bool learn, double *loss,
                         double *accuracy) {
    const int64_t n = tn_loader_batches(loader), each = p->accumulate ? p->accumulate : 1;
    double sum = 0, hits = 0, items = 0;
    bool was = tn_set_grad_mode(learn), classes = true;
    tn_module_train(w->net, learn);
    for (int64_t at = 0; at <= n; at++)
        TN_SCOPE {
            const int64_t first = at / each * each, share = first + each > n ? n - first : each;
            tn_batch b;
            tn_tensor *y = NULL, *l;
            if (!tn_loader_next(loader, &b)) break;
            tn_set_autocast(p->autocast);
            l = loss_by_hand(p, w, &b, &y);
            tn_set_autocast(TN_NO_DTYPE);
            if (learn) learn_by_hand(p, w, l, at - first, share);
            sum += tn_item(l) * (double)b.n, items += (double)b.n;
            classes = y != NULL;
            if (y) hits += hits_of(tn_to_dtype(y, TN_F32), b.field[1]);
        }
    tn_module_train(w->net, true);
    tn_set_grad_mode(was);
    *loss = items > 0 ? sum / items : (double)NAN;
    *accuracy = classes && items > 0 ? hits / items : (double)NAN;
}

static bool same(double a, double b) {
    return fabs(a - b) <= 1e-12 * (1 + fabs(a)) || (a != a && b != b);
}
static void judge_by_hand(const plan *p, const world *w, const report *told, report *r, int e) {
    double value = p->watch == TN_WATCH_LOSS ? -told->loss : told->accuracy;
    if (p->test) value = p->watch == TN_WATCH_LOSS ? -told->test_loss : told->test_accuracy;
    const double best = p->watch == TN_WATCH_LOSS ? -r->best : r->best;
    if (isnan(value) || (r->best_epoch >= 0 && !(value - best > p->min_delta))) return;
    r->best = p->watch == TN_WATCH_LOSS ? -value : value;
    r->best_epoch = e;
    m.best = hash_model(w);
}
static void by_hand(const plan *p, const world *w) {
    report r = {NAN, NAN, NAN, NAN, NAN, NAN, -1};
    int e = 0;
    for (; e < p->epochs && !m.wrong; e++) {
        const report *told = &m.told[e];
        if (p->patience && e - (int)r.best_epoch - 1 >= p->patience) break;
        r.lr = tn_optimizer_get(w->o, 0, "lr");
        pass_by_hand(p, w, w->loader, true, &r.loss, &r.accuracy);
        if (w->test) pass_by_hand(p, w, w->test, false, &r.test_loss, &r.test_accuracy);
        if (w->s) tn_schedule_step(w->s);
        judge_by_hand(p, w, told, &r, e);
        if (!tn_ok()) wrong("the loop by hand fails");
        if (!same(r.loss, told->loss) || !same(r.accuracy, told->accuracy)) wrong("means");
        if (!same(r.test_loss, told->test_loss) || !same(r.test_accuracy, told->test_accuracy))
            wrong("means over the test set");
        if (r.lr != told->lr) wrong("the rate");
        if (!same(r.best, told->best) || r.best_epoch != told->best_epoch) wrong("the best");
    }
    if (e != m.epochs) wrong("it ends elsewhere");
    if (e < p->epochs) ended_early++;
}

/* --- a program -------------------------------------------------------------------------------- */

static plan drawn(void) {
    plan p;
    memset(&p, 0, sizeof p);
    p.optimizer = below(6), p.schedule = below(4), p.net = below(3), p.batch = 4 + below(7);
    p.workers = below(4) == 0, p.epochs = 1 + below(EPOCHS);
    p.shuffle = below(3) > 0, p.drop_last = below(3) == 0, p.own = below(3) == 0;
    p.test = below(2), p.clip = below(2), p.loss = below(2), p.bare = below(4) == 0;
    p.accumulate = below(2) ? below(4) : 0;
    p.autocast = below(3) ? TN_NO_DTYPE : below(2) ? TN_BF16 : TN_F16;
    p.scaled = p.autocast == TN_F16;
    p.best = below(2), p.patience = below(2) ? below(3) : 0;
    p.watch = below(2) && (p.test || !p.bare) ? TN_WATCH_ACCURACY : TN_WATCH_LOSS;
    p.min_delta = below(2) ? 0.03 : 0;
    p.nan = p.bare && below(2);
    return p;
}

/* The checkpoint of the best epoch has the model that the loop by hand had. */
static void check_best(const plan *p, const char *path, uint64_t seed) {
    world w = begin(p, seed, true);
    tn_state state;
    memset(&state, 0, sizeof state);
    state.model = w.net;
    bests++;
    if (!tn_checkpoint_load(best_of(path), &state) || hash_model(&w) != m.best)
        wrong("the best epoch's checkpoint");
    end(&w);
}
/* Stopped up to three times, each time at some event, and gone on from what was saved: where there
 * is a checkpoint, with the same objects as they are, or with others. */
static uint64_t in_pieces(const plan *p, const char *path, uint64_t seed, int calls) {
    uint64_t h = 0;
    int left = below(4);
    bool there = false;
    world w;
    m.saved = false;
    for (bool whole = false; !whole && !m.wrong;) {
        if (!there)
            w = begin(p, seed, m.saved);
        else if (below(2)) /* in the midst of an epoch */
            TN_SCOPE {
                tn_batch b;
                if (!tn_loader_next(w.loader, &b)) wrong("no batch");
            }
        if (!train(p, &w, path, true, left > 0 ? below(calls) : -1)) wrong("a piece fails");
        whole = left-- <= 0 || m.calls <= m.stop;
        if (!whole) stops++;
        h = hash(&w);
        there = !whole && m.saved && below(2);
        if (!there) end(&w);
    }
    return h;
}

static bool program(const char *path, uint64_t seed) {
    plan p;
    world w;
    report told[EPOCHS];
    uint64_t unbroken;
    int calls;
    memset(&m, 0, sizeof m);
    m.random = seed;
    p = drawn();
    m.nan = p.nan;
    w = begin(&p, seed, false);
    if (!train(&p, &w, path, false, -1)) wrong("the training fails");
    unbroken = hash(&w), calls = m.calls;
    end(&w);
    memcpy(told, m.told, sizeof told);
    w = begin(&p, seed, false);
    if (!m.wrong) by_hand(&p, &w);
    if (hash(&w) != unbroken) wrong("not the bits of the loop by hand");
    end(&w);
    if (p.best && m.best && !m.wrong) check_best(&p, path, seed);
    remove(path), remove(best_of(path));
    if (!m.wrong && in_pieces(&p, path, seed, calls) != unbroken) wrong("not the unbroken bits");
    if (p.best && m.best && !m.wrong) check_best(&p, path, seed);
    remove(path), remove(best_of(path));
    for (int e = 0; e < m.epochs; e++)
        if (memcmp(&told[e], &m.told[e], sizeof told[e]) && !m.wrong) wrong("other reports");
    if (tn_memory().live_tensors) wrong("tensors are left");
    if (m.wrong) printf("seed %llu\n", (unsigned long long)seed);
    return !m.wrong;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int count = argc > 3 ? atoi(argv[3]) : 100, passed = 0, failed = 0;
    tn_context_options o;
    if (argc < 2) return printf("0 passed, 1 failed\n"), 1;
    memset(&o, 0, sizeof o);
    o.files.sync = no_sync;
    o.threads = -1;
    tn_context_use(tn_context_new(&o));
    for (int i = 0; i < count && failed < 5; i++)
        if (program(argv[1], first + (uint64_t)i))
            passed++;
        else
            failed++;
    tn_context_free(tn_context_current());
    printf("trainer: %d programs, %lld epochs, %lld stops, %lld ended early, %lld bests\n"
           "%d passed, %d failed\n",
           passed + failed, (long long)epochs_done, (long long)stops, (long long)ended_early,
           (long long)bests, passed, failed);
    return failed != 0;
}
