/* cancel.c - long calls can be stopped: a request is seen before the next block of work, what was
 * there before is as it was, a retry gives the same bits; calls that write in place finish. Signals
 * change nothing.
 *
 * Built with TNI_COUNT_POLLS the library tells of each poll, so that the request comes at the k-th
 * one exactly. Without it only the tests run that need no such count. */
#define _GNU_SOURCE
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static tn_context *current; /* the request goes to it */

/* --- polls ------------------------------------------------------------------------------------ */

static int64_t poll_count, poll_at, poll_after; /* after: polls that followed the request */
static int32_t poll_asked;

#ifdef TNI_COUNT_POLLS
extern void (*tni_poll_ran)(const tni_stop *s);
static void poll_ran(const tni_stop *s) {
    int64_t n = __atomic_add_fetch(&poll_count, 1, __ATOMIC_RELAXED);
    (void)s;
    if (__atomic_load_n(&poll_asked, __ATOMIC_ACQUIRE))
        __atomic_fetch_add(&poll_after, 1, __ATOMIC_RELAXED);
    else if (n == poll_at)
        tn_cancel(current), __atomic_store_n(&poll_asked, 1, __ATOMIC_RELEASE);
}
#define POLLS 1
#else
#define POLLS 0
#endif

/* From here on polls are counted; the k-th one (0: none) finds the request. */
static void poll_arm(int64_t k) {
#if POLLS
    tni_poll_ran = poll_ran;
#endif
    poll_count = poll_after = 0;
    poll_asked = 0;
    poll_at = k;
}

/* --- operators that are stopped --------------------------------------------------------------- */

static tn_tensor *square, *batch, *flat, *wide, *image, *kernel, *which, *mask, *table, *whole,
    *half, *places, *keys;

static void inputs_make(void) { /* outside of scopes: the caller's */
    tn_manual_seed(3);
    square = tn_randn(TN_DIMS(256, 256));
    batch = tn_randn(TN_DIMS(64, 48, 48));
    flat = tn_randn(TN_DIMS(1 << 18));
    wide = tn_randn(TN_DIMS(512, 512));
    image = tn_randn(TN_DIMS(8, 16, 32, 32));
    kernel = tn_randn(TN_DIMS(16, 16, 3, 3));
    which = tn_randint(512, TN_DIMS(512, 512));
    mask = tn_gt_scalar(wide, 0);
    table = tn_randn(TN_DIMS(512, 32));
    whole = tn_randint(100, TN_DIMS(192, 192));
    places = tn_randint(512, TN_DIMS(2, 1 << 18));
    keys = tn_arange(1 << 18);
    half = tnp_to(square, TN_NO_DEVICE, TN_BF16, false, false);
}
static void inputs_free(void) {
    tn_tensor *all[] = {square, batch, flat,  wide, image,  kernel, which,
                        mask,   table, whole, half, places, keys};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_free(all[i]);
}

/* The operators, each X(name, call). */
#define OPERATORS(X)                                                                      \
    X(matmul, tn_matmul(square, square))                                                  \
    X(matmul_batched, tn_matmul(batch, batch))                                            \
    X(matmul_integers, tn_matmul(whole, whole))                                           \
    X(matmul_half, tn_matmul(half, half))                                                 \
    X(conv2d, tn_conv2d(image, kernel, .padding = TN_DIMS(1)))                            \
    X(max_pool2d, tn_max_pool2d(image, TN_DIMS(2)))                                       \
    X(sum, tn_sum(flat))                                                                  \
    X(sum_columns, tn_sum(wide, .dim = TN_DIMS(0)))                                       \
    X(prod, tn_prod(flat))                                                                \
    X(var, tn_var(wide, .dim = TN_DIMS(1)))                                               \
    X(softmax, tn_softmax(wide, 1))                                                       \
    X(softmax_columns, tn_softmax(wide, 0))                                               \
    X(cumsum, tn_cumsum(wide, 0))                                                         \
    X(cumprod, tn_cumprod(wide, 0))                                                       \
    X(linear_recurrence, tn_linear_recurrence(wide, wide, 1))                             \
    X(searchsorted, tn_searchsorted(flat, flat))                                          \
    X(layer_norm, tn_layer_norm(wide, TN_DIMS(512)))                                      \
    X(sort, tn_sort(flat).indices)                                                        \
    X(sort_rows, tn_sort(wide).values)                                                    \
    X(topk, tn_topk(wide, 20).values)                                                     \
    X(kthvalue, tn_kthvalue(flat, 1000).values)                                           \
    X(kthvalue_equal, tn_kthvalue(tn_expand_as(tn_ones(TN_DIMS(1)), flat), 1000).indices) \
    X(median, tn_nanmedian_dim(flat, 0).values)                                           \
    X(mode, tn_mode(tn_select(places, 0, 0)).values)                                      \
    X(index_add, tn_index_add(keys, 0, tn_select(places, 0, 0), keys))                    \
    X(sparse_keys, tn_sparse_keys(places, TN_DIMS(512, 512)))                             \
    X(sparse_distinct, tn_sparse_distinct(keys).group)                                    \
    X(sparse_coalesce, tn_sparse_coalesce(places, flat, TN_DIMS(512, 512)).values)        \
    X(sparse_product, tn_sparse_product(places, flat, 512, table))                        \
    X(sparse_dots, tn_sparse_dots(places, table, table))                                  \
    X(rand, tn_rand(TN_DIMS(1 << 18)))                                                    \
    X(rand_double, tn_rand(TN_DIMS(1 << 18), .dtype = TN_F64))                            \
    X(rand_half, tn_rand(TN_DIMS(1 << 18), .dtype = TN_F16))                              \
    X(randn, tn_randn(TN_DIMS((1 << 18) + 3)))                                            \
    X(randn_double, tn_randn(TN_DIMS((1 << 18) + 3), .dtype = TN_F64))                    \
    X(randint, tn_randint(1000, TN_DIMS(1 << 18)))                                        \
    X(randperm, tn_randperm(1 << 18))                                                     \
    X(dropout, tn_dropout(flat, 0.5, true))                                               \
    X(exp, tn_exp(flat))                                                                  \
    X(add_strided, tn_add(wide, tn_transpose(wide, 0, 1)))                                \
    X(copy_strided, tn_contiguous(tn_transpose(wide, 0, 1)))                              \
    X(convert, tnp_to(flat, TN_NO_DEVICE, TN_F16, false, false))                          \
    X(gather, tn_gather(wide, 1, which))                                                  \
    X(index_select, tn_index_select(wide, 1, tn_select(which, 0, 0)))                     \
    X(embedding, tn_embedding(table, which))                                              \
    X(masked_select, tn_masked_select(wide, mask))                                        \
    X(flip, tn_flip(wide, TN_DIMS(1)))                                                    \
    X(layer_norm_row, tn_layer_norm(flat, TN_DIMS(1 << 18)))                              \
    X(arange, tn_arange(1 << 18))                                                         \
    X(arange_strided, tn_arange_start_step(0, 1 << 19, 2, .dtype = TN_F64))               \
    X(eye, tn_eye(512))                                                                   \
    X(one_hot, tn_one_hot(tnp_slice(which, 0, 0, 2, 1), .num_classes = 512))              \
    X(nonzero, tn_contiguous(tn_nonzero(mask)))                                           \
    X(bernoulli, tn_bernoulli(tn_sigmoid(flat)))

#define OP(name, call) \
    static tn_tensor *op_##name(void) { return call; }
OPERATORS(OP)

typedef struct op {
    const char *name;
    tn_tensor *(*run)(void);
} op;
#define ENTRY(name, call) {#name, op_##name},
static const op ops[] = {OPERATORS(ENTRY)};
enum { OPS = sizeof ops / sizeof *ops };

/* What a whole run costs and gives. */
typedef struct whole_run {
    uint64_t bits;
    int64_t polls;
} whole_run;
static whole_run run_whole(const op *o) {
    whole_run w = {0, 0};
    tn_manual_seed(5);
    poll_arm(0);
    TN_SCOPE
        w.bits = life_bits(o->run());
    w.polls = poll_count; /* life_bits copies nothing here */
    if (!CHECK(w.bits != 0)) printf("    %s fails\n", o->name);
    return w;
}

static int64_t points, most_after, fewest_polls = INT64_MAX, requests_in_place, requests_in_files;
static const char *fewest_name = "";

/* The request comes at poll k: the call fails, nothing is left of it, a retry is right. */
static void stop_at(const op *o, const whole_run *w, int64_t k, int64_t most) {
    int64_t tensors = tn_memory().live_tensors, blocks = life_live;
    bool ok = true;
    tn_manual_seed(5);
    poll_arm(k);
    TN_SCOPE
        ok = CHECK(o->run() == NULL);
    ok = CHECK_EQ(life_taken(), TN_CANCELLED) && ok;
    ok = CHECK(poll_after <= most) && ok;
    if (poll_after > most_after) most_after = poll_after;
    ok = CHECK_EQ(tn_memory().live_tensors, tensors) && CHECK_EQ(life_live, blocks) && ok;
    poll_arm(0);
    tn_cancel_clear(current);
    TN_SCOPE /* from the generator as it is */
        ok = CHECK(life_bits(o->run()) == w->bits) && ok;
    if (!ok) printf("    %s, poll %lld of %lld\n", o->name, (long long)k, (long long)w->polls);
    points++;
}

static void stop_everywhere(int threads) {
    const int64_t few = life_depth() > 1 ? 48 : 5;
    tn_context_options o = life_options(threads);
    tn_context *c = current = life_begin(&o);
    inputs_make();
    for (int i = 0; i < OPS; i++) {
        whole_run w = run_whole(&ops[i]);
        if (w.polls < fewest_polls) fewest_polls = w.polls, fewest_name = ops[i].name;
        CHECK(w.polls >= 4);
        for (int64_t n = 0; n < few && n < w.polls; n++) {
            int64_t k = w.polls <= few ? n + 1 : 1 + n * (w.polls - 1) / (few - 1);
            stop_at(&ops[i], &w, threads > 1 && k > w.polls / 2 ? w.polls / 2 : k, threads + 8);
        }
    }
    inputs_free();
    life_end(c);
}
static void a_request_is_seen_before_the_next_block(void) { stop_everywhere(1); }
static void a_request_is_seen_by_all_threads(void) { stop_everywhere(3); }

/* --- calls that write in place ---------------------------------------------------------------- */

/* A job system that makes the request in the middle of its job number job_at. */
static int64_t job_count, job_at;
static void job_run(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    int64_t n = ++job_count;
    (void)user;
    for (int64_t i = 0; i < count; i++) {
        if (n == job_at && i == count / 2) tn_cancel(current);
        task(arg, i);
    }
}
static void job_arm(int64_t n) { job_count = 0, job_at = n; }
static tn_context *job_begin(void) {
    tn_context_options o = life_options(3);
    o.jobs.run = job_run;
    o.jobs.threads = 3;
    return current = life_begin(&o);
}

enum { LARGE = 1 << 17 };
static tn_tensor *target, *other, *mean, *var;
static tn_tensor *write_add(void) { return tn_add_(target, other); }
static tn_tensor *write_copy(void) { return tn_copy_(target, other); }
static tn_tensor *write_normal(void) { return tn_normal_(target); }
static tn_tensor *write_out(void) {
    tn_tensor *t = tn_reshape(target, TN_DIMS(256, 512)), *u = tn_reshape(other, TN_DIMS(256, 512));
    return tn_exp(t, .out = u) ? other : NULL;
}
static tn_tensor *write_statistics(void) {
    tn_tensor *x = tn_reshape(target, TN_DIMS(512, 256));
    return tn_batch_norm(x, mean, var, .training = true);
}
static const op writes[] = {{"add_", write_add},
                            {"copy_", write_copy},
                            {"normal_", write_normal},
                            {"exp, out=", write_out},
                            {"batch_norm", write_statistics}};

/* The bits of all that a call may write, after it. */
static uint64_t write_once(const op *o, int64_t at, bool *done) {
    uint64_t bits = 0;
    TN_SCOPE {
        tn_manual_seed(6);
        target = tn_randn(TN_DIMS(LARGE)), other = tn_randn(TN_DIMS(LARGE));
        mean = tn_zeros(TN_DIMS(256)), var = tn_ones(TN_DIMS(256));
        job_arm(at);
        *done = o->run() != NULL;
        job_at = 0;
        if (*done && at) { /* the next one is refused */
            if (tn_add_scalar_(target, 1)) *done = false;
            CHECK_EQ(life_taken(), TN_CANCELLED);
            tn_cancel_clear(current);
        }
        bits = life_bits(target) ^ 3 * life_bits(other) ^ 5 * life_bits(mean) ^ 7 * life_bits(var);
    }
    return bits;
}
static void calls_that_write_in_place_finish(void) {
    tn_context *c = job_begin();
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        bool done;
        uint64_t bits = write_once(&writes[i], 0, &done);
        int64_t jobs = job_count;
        CHECK(done && jobs > 0);
        for (int64_t n = 1; n <= jobs; n++) {
            if (!CHECK(write_once(&writes[i], n, &done) == bits) || !CHECK(done))
                printf("    %s, job %lld of %lld\n", writes[i].name, (long long)n, (long long)jobs);
            requests_in_place++;
        }
    }
    life_end(c);
}

/* --- all or nothing: an optimizer's step, .grad ----------------------------------------------- */

enum { LEAVES = 3 };
static tn_tensor *leaf[LEAVES];
static uint64_t leaves_bits(bool grad) {
    uint64_t bits = 0;
    for (int i = 0; i < LEAVES; i++)
        bits = bits * 31 + life_bits(grad ? tn_grad_of(leaf[i]) : leaf[i]);
    return bits;
}
static void leaves_make(void) {
    tn_manual_seed(8);
    for (int i = 0; i < LEAVES; i++) {
        leaf[i] = tn_requires_grad(tn_randn(TN_DIMS(300, 300)));
        tn_set_grad(leaf[i], tn_randn(TN_DIMS(300, 300)));
    }
}
static tn_tensor *leaves_loss(void) {
    tn_tensor *sum = tn_matmul(leaf[0], leaf[1]);
    return tn_sum(tn_tanh(tn_mul(tn_add(sum, leaf[2]), leaf[2])));
}

static void backward_publishes_all_or_nothing(void) {
    tn_context *c = job_begin();
    int64_t jobs = 1, refused = 0, made = 0;
    uint64_t after = 0;
    for (int64_t n = 0; n <= jobs; n++)
        TN_SCOPE {
            leaves_make();
            tn_tensor *loss = leaves_loss();
            uint64_t before = leaves_bits(true);
            job_arm(n);
            bool ok = tn_backward(loss, .retain_graph = true);
            job_at = 0;
            if (n == 0) {
                CHECK(ok);
                jobs = job_count, after = leaves_bits(true);
            } else if (!ok) {
                CHECK_EQ(life_taken(), TN_CANCELLED);
                tn_cancel_clear(c);
                CHECK(leaves_bits(true) == before);
                CHECK(tn_backward(loss));
                refused++;
            } else {
                tn_cancel_clear(c);
                made++;
            }
            CHECK(leaves_bits(true) == after);
        }
    CHECK(refused > 0 && made >= LEAVES);
    requests_in_place += made, points += refused;
    life_end(c);
}

static void steps_are_made_or_not(bool adam) {
    tn_context *c = job_begin();
    int64_t jobs = 1, made = 0;
    uint64_t after[2] = {0, 0};
    for (int64_t n = 0; n <= jobs; n++)
        TN_SCOPE {
            leaves_make();
            tn_tensors all = tn_tensors_of(leaf, LEAVES);
            tn_optimizer *o = adam ? tn_optim_adam(all) : tn_optim_sgd(all, .momentum = 0.9);
            job_arm(n);
            bool ok = tn_optimizer_step(o);
            job_at = 0;
            if (n == 0) jobs = job_count, after[0] = leaves_bits(false);
            if (n) {
                CHECK(!tn_optimizer_step(o) && life_taken() == TN_CANCELLED);
                tn_cancel_clear(c);
            }
            if (!ok) CHECK_EQ(life_taken(), TN_CANCELLED), CHECK(tn_optimizer_step(o));
            made += ok && n;
            CHECK(leaves_bits(false) == after[0]);
            CHECK(tn_optimizer_step(o));
            if (n == 0) after[1] = leaves_bits(false);
            CHECK(leaves_bits(false) == after[1]);
            tn_optimizer_free(o);
        }
    CHECK(made > 0);
    requests_in_place += made;
    life_end(c);
}
static void a_step_of_sgd_is_made_or_not(void) { steps_are_made_or_not(false); }
static void a_step_of_adam_is_made_or_not(void) { steps_are_made_or_not(true); }

/* --- files ------------------------------------------------------------------------------------ */

static int64_t file_calls, file_at; /* reads and writes; the request comes in number file_at */
static void file_step(void) {
    if (++file_calls == file_at) tn_cancel(current);
}
static int64_t file_read(int fd, void *to, size_t bytes, void *user) {
    (void)user;
    file_step();
    return read(fd, to, bytes);
}
static int64_t file_write(int fd, const void *from, size_t bytes, void *user) {
    (void)user;
    file_step();
    return write(fd, from, bytes);
}
static tn_context *file_begin(void) {
    tn_context_options o = life_options(1);
    o.files.read = file_read;
    o.files.write = file_write;
    return current = life_begin(&o);
}
static const char *folder(const char *name) {
    static char path[2][400];
    static int turn;
    const char *at = getenv("LIFE_FOLDER");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", at ? at : ".", name);
    return path[turn];
}
static uint64_t file_bits(const char *path) {
    uint64_t bits = 0;
    TN_SCOPE
        bits = life_bits(tn_load_bytes(path));
    return bits;
}

static void a_save_stops_and_the_old_file_stays(void) {
    tn_context *c = file_begin();
    const char *path = folder("cancel.safetensors");
    TN_SCOPE { /* three blocks of 16 MiB, and what is left */
        tn_named all[2] = {{"a", tn_full(TN_DIMS(13 << 20), 2.0)}, {"b", tn_ones(TN_DIMS(5))}};
        tn_named old[1] = {{"old", tn_ones(TN_DIMS(100))}};
        int64_t calls = 0;
        file_at = 0;
        for (int64_t n = 0; n <= calls; n++) {
            CHECK(tn_safetensors_save(path, old, 1));
            uint64_t before = file_bits(path);
            file_calls = 0, file_at = n;
            bool ok = tn_safetensors_save(path, all, 2);
            int64_t made = file_calls;
            file_at = 0;
            if (n == 0) calls = made;
            tn_cancel_clear(c);
            if (n == 0 || (n == calls && ok)) { /* after the last write nothing is polled */
                CHECK(ok && file_bits(path) != before);
                continue;
            }
            CHECK(!ok && made == n); /* not one more */
            CHECK_EQ(life_taken(), TN_CANCELLED);
            CHECK(file_bits(path) == before);
            requests_in_files++;
        }
        CHECK(calls >= 6);
    }
    unlink(path);
    life_end(c);
}

static void a_load_stops_and_nothing_has_changed(void) {
    tn_context *c = file_begin();
    const char *path = folder("cancel.checkpoint");
    tn_module *net = tn_sequential(tn_nn_linear(40, 30), tn_nn_linear(30, 20));
    tn_optimizer *o = tn_optim_sgd(tn_parameters(net), .lr = 0.5);
    tn_tensors p = tn_parameters(net);
    tn_state s;
    memset(&s, 0, sizeof s);
    s.model = net, s.optimizer = o;
    file_at = 0;
    CHECK(tn_checkpoint_save(path, &s));
    uint64_t saved = life_bits(p.at[0]);
    int64_t calls = 1;
    for (int64_t n = 0; n <= calls; n++) {
        tn_set_grad_mode(false);
        TN_SCOPE
            for (int64_t i = 0; i < p.n; i++) tn_fill_(p.at[i], 1.0);
        tn_set_grad_mode(true);
        uint64_t before = life_bits(p.at[0]);
        file_calls = 0, file_at = n;
        bool ok = tn_checkpoint_load(path, &s);
        if (n == 0) calls = file_calls;
        if (n && !ok) CHECK(file_calls <= n + 1);
        file_at = 0;
        tn_cancel_clear(c);
        if (ok) {
            CHECK(life_bits(p.at[0]) == saved);
            continue;
        }
        CHECK_EQ(life_taken(), TN_CANCELLED);
        TN_SCOPE
            for (int64_t i = 0; i < p.n; i++)
                CHECK(tn_item(tn_sum(tn_detach(p.at[i]))) == (double)tn_numel(p.at[i]));
        CHECK(life_bits(p.at[0]) == before);
        CHECK(tn_checkpoint_load(path, &s) && life_bits(p.at[0]) == saved);
        requests_in_files++;
    }
    CHECK(calls > 3);
    unlink(path);
    tn_optimizer_free(o);
    tn_module_free(net);
    life_end(c);
}

/* --- a loader --------------------------------------------------------------------------------- */

static int64_t items_got, item_at;
static bool item_get(const tn_dataset *d, int64_t index, void *const *to) {
    bool ok = false;
    (void)d;
    if (__atomic_add_fetch(&items_got, 1, __ATOMIC_RELAXED) == item_at) tn_cancel(current);
    TN_SCOPE {
        tn_tensor *t = tn_full(TN_DIMS(4), (double)index);
        ok = t && tn_read_f32(tn_mul_scalar(t, 2), (float *)to[0], 4);
    }
    return ok;
}
static void a_loader_stops_and_begins_anew(void) {
    for (int workers = 0; workers < 3; workers += 2) {
        tn_context_options o = life_options(1);
        tn_context *c = current = life_begin(&o);
        tn_dataset like;
        memset(&like, 0, sizeof like);
        like.size = 40;
        like.nfields = 1;
        like.field[0].dtype = TN_F32, like.field[0].ndim = 1, like.field[0].size[0] = 4;
        like.get = item_get;
        tn_loader *l = tn_loader_new(tn_dataset_new(&like), .batch_size = 5, .workers = workers);
        for (int64_t n = 1; n <= 40; n += 3) {
            tn_batch b;
            int64_t batches = 0, first = 0;
            items_got = 0, item_at = n;
            TN_SCOPE
                while (tn_loader_next(l, &b)) first++;
            CHECK(first < 8 && life_taken() == TN_CANCELLED);
            item_at = 0;
            tn_cancel_clear(c);
            TN_SCOPE
                while (tn_loader_next(l, &b)) {
                    CHECK(tn_item(tn_select(tn_select(b.field[0], 0, 1), 0, 3)) ==
                          2.0 * (double)(batches * 5 + 1));
                    batches++;
                }
            CHECK_EQ(batches, 8);
            points++;
        }
        tn_loader_free(l);
        life_end(c);
    }
}

/* --- signals ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals, signal_cancels;
static void on_signal(int number) {
    (void)number;
    signals = signals + 1;
    if (signal_cancels) tn_cancel(current);
}
static void storm(bool on) {
    struct sigaction a;
    struct itimerval every;
    memset(&a, 0, sizeof a);
    memset(&every, 0, sizeof every);
    a.sa_handler = on ? on_signal : SIG_IGN; /* no SA_RESTART: system calls are interrupted */
    if (on) every.it_value.tv_usec = every.it_interval.tv_usec = 1000;
    if (on) sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    if (!on) sigaction(SIGALRM, &a, NULL);
}

static int64_t storm_signals;
static void a_storm_of_signals_changes_nothing(void) {
    const int depth = life_depth(), rounds = depth > 1 ? 20 : 2;
    tn_context_options o = life_options(3);
    tn_context *c = current = life_begin(&o);
    const char *path = folder("storm.safetensors");
    whole_run w[OPS];
    inputs_make();
    for (int i = 0; i < OPS; i++) w[i] = run_whole(&ops[i]);
    tn_named all[2] = {{"wide", wide}, {"image", image}};
    CHECK(tn_safetensors_save(path, all, 2));
    uint64_t file = file_bits(path);
    signals = 0;
    storm(true);
    for (int r = 0; r < rounds || (signals < 10 && r < 1000); r++) {
        for (int i = 0; i < OPS; i++)
            if (!CHECK(run_whole(&ops[i]).bits == w[i].bits)) printf("    %s\n", ops[i].name);
        CHECK(tn_safetensors_save(path, all, 2) && file_bits(path) == file);
        tn_named_list l = tn_safetensors_load(path);
        CHECK(l.n == 2 && life_bits(l.at[0].tensor) == life_bits(wide));
        tn_named_free(l);
    }
    storm(false);
    storm_signals += signals;
    CHECK(signals >= 10);
    unlink(path);
    inputs_free();
    life_end(c);
}

/* A slow reader at the other end of a pipe: writes are cut short and interrupted. */
enum { PIPED = 3 << 19 };
typedef struct piped {
    const char *path;
    unsigned char *got;
    int64_t n;
} piped;
static void *pipe_read(void *arg) {
    piped *p = (piped *)arg;
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &s, NULL);
    int fd = open(p->path, O_RDONLY);
    for (ssize_t n = 1; n > 0; p->n += n > 0 ? n : 0) {
        usleep(300);
        n = read(fd, p->got + p->n, 30000);
    }
    close(fd);
    return NULL;
}
static void interrupted_writes_go_on(void) {
    tn_context_options o = life_options(1);
    tn_context *c = current = life_begin(&o);
    const char *path = folder("storm.pipe"), *plain = folder("storm.plain");
    piped p = {path, (unsigned char *)malloc(2 * PIPED * 4), 0};
    pthread_t t;
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    TN_SCOPE {
        tn_named all[1] = {{"x", tn_randn(TN_DIMS(PIPED))}};
        CHECK(tn_safetensors_save(plain, all, 1));
        pthread_create(&t, NULL, pipe_read, &p);
        signals = 0;
        storm(true);
        CHECK(tn_safetensors_save(path, all, 1));
        storm(false);
        pthread_join(t, NULL);
        storm_signals += signals;
        tn_tensor *file = tn_load_bytes(plain);
        CHECK(tn_numel(file) == p.n && memcmp(tn_data(file), p.got, (size_t)p.n) == 0);
    }
    free(p.got);
    unlink(path), unlink(plain);
    life_end(c);
}

static void a_signal_handler_may_ask(void) {
    const int rounds = life_depth() > 1 ? 100 : 10;
    tn_context_options o = life_options(3);
    tn_context *c = current = life_begin(&o);
    inputs_make();
    for (int r = 0; r < rounds; r++) {
        const op *one = &ops[r % OPS];
        whole_run w = run_whole(one);
        bool stopped = false;
        tn_manual_seed(5);
        signal_cancels = 1;
        storm(true);
        for (int i = 0; !stopped && i < 1000000; i++)
            TN_SCOPE {
                tn_manual_seed(5);
                tn_tensor *t = one->run();
                if (t)
                    CHECK(life_bits(t) == w.bits || !tn_ok());
                else
                    stopped = true;
                if (tn_error_peek(NULL)) stopped = true;
            }
        storm(false);
        signal_cancels = 0;
        CHECK(stopped && life_taken() == TN_CANCELLED);
        tn_cancel_clear(c);
        CHECK(run_whole(one).bits == w.bits);
    }
    inputs_free();
    life_end(c);
}

static const check_test tests[] = {
#if POLLS
    CHECK_TEST(a_request_is_seen_before_the_next_block),
    CHECK_TEST(a_request_is_seen_by_all_threads),
#endif
    CHECK_TEST(calls_that_write_in_place_finish),
    CHECK_TEST(backward_publishes_all_or_nothing),
    CHECK_TEST(a_step_of_sgd_is_made_or_not),
    CHECK_TEST(a_step_of_adam_is_made_or_not),
    CHECK_TEST(a_save_stops_and_the_old_file_stays),
    CHECK_TEST(a_load_stops_and_nothing_has_changed),
    CHECK_TEST(a_loader_stops_and_begins_anew),
    CHECK_TEST(a_storm_of_signals_changes_nothing),
    CHECK_TEST(interrupted_writes_go_on),
    CHECK_TEST(a_signal_handler_may_ask),
};

int main(int argc, char **argv) {
    (void)stop_everywhere, (void)a_request_is_seen_before_the_next_block;
    (void)a_request_is_seen_by_all_threads;
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    if (argc > 1) return failed;
    if (POLLS)
        printf("promise 18: %d operators, save, load, loader, backward and optimizer stopped at "
               "%lld points: no block of work begun once a poll had seen the request (at most %lld "
               "further polls on the way out), retries bit-equal; of 2^18 elements at least %lld "
               "polls (%s)\n",
               (int)OPS, (long long)(points + requests_in_files), (long long)most_after,
               (long long)fewest_polls, fewest_name);
    printf("promise 18: %lld requests inside of calls that write in place: all finished; %lld "
           "signals of a 1 ms storm changed nothing\n",
           (long long)requests_in_place, (long long)storm_signals);
    puts("short 18: a data set's get that calls no operator is not polled, nor are the tables of "
         "index lists, whose serial loop is one block");
    return failed;
}
