/* forks.c - fork() is safe wherever it happens: idle, while other threads compute, in a hook, in a
 * custom function's gradient, in a save, in a loader, in the allocator. The child computes on
 * threads of its own, runs backward, and goes on with what the fork interrupted.
 *
 * A child that hangs is ended by its own alarm, the last resort, and counted. */
#define _GNU_SOURCE
#include "life.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALARM = 60, THREADS = 3 };

static int64_t forks, hangs;
static tn_tensor *matrix;
static double product, slope;

/* Work that uses the pool, and a backward: right numbers, or false. */
static bool work(void) {
    double a = 0, b = 0;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(160, 160), 2.0));
        a = tn_item(tn_sum(tn_matmul(matrix, matrix)));
        tn_backward(tn_sum(tn_mul(tn_matmul(matrix, x), x)));
        b = tn_item(tn_sum(tn_grad_of(x)));
    }
    if (product == 0) product = a, slope = b;
    return tn_ok() && a == product && b == slope;
}

/* --- children --------------------------------------------------------------------------------- */

/* 0 in the child, whose alarm is set. */
static pid_t fork_child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) alarm(ALARM);
    return child;
}
static void child_ends(bool ok) { _exit(ok ? 0 : 3); }

/* Waits for a child; how it ended is counted. */
static void child_waited(pid_t child, const char *where) {
    int status = 0;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0);
    __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        __atomic_fetch_add(&hangs, 1, __ATOMIC_RELAXED);
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        printf("    in %s: %s %d\n", where, WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static tn_context_options fork_options(void) {
    tn_context_options o = life_options(THREADS);
    o.no_cache = false;
    return o;
}
static tn_context *fork_begin(const tn_context_options *o) {
    tn_context *c = life_begin(o);
    tn_manual_seed(1);
    matrix = tn_randn(TN_DIMS(160, 160));
    product = slope = 0;
    CHECK(work());
    return c;
}
static void fork_end(tn_context *c) {
    tn_free(matrix);
    life_end(c);
}
static int threads_alive(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return d ? n : THREADS; /* not told here */
}
/* The child's end of a fork in the thread that has the context: it has worked on threads of its
 * own, and all of it goes, too. */
static void child_leaves(tn_context *c, bool ok) {
    ok = ok && work() && threads_alive() == THREADS;
    tn_context_use(NULL);
    tn_context_free(c);
    child_ends(ok);
}

static int64_t each(void) { /* forks of a place; there are nine, and four times as many */
    static const int64_t of_depth[] = {2, 9, 80};
    return of_depth[life_depth()];
}

/* --- idle, busy ------------------------------------------------------------------------------- */

static void fork_idle(void) {
    tn_context_options o = fork_options();
    tn_context *c = fork_begin(&o);
    for (int64_t i = 0; i < each(); i++) {
        pid_t child = fork_child();
        if (child == 0) child_leaves(c, work());
        child_waited(child, "idle");
    }
    CHECK(work());
    fork_end(c);
}

static int32_t busy_stop;
static void *busy_run(void *arg) {
    tn_context_use((tn_context *)arg);
    while (!__atomic_load_n(&busy_stop, __ATOMIC_ACQUIRE)) CHECK(work());
    return NULL;
}
static void fork_busy(void) {
    tn_context_options o = fork_options();
    tn_context *c = fork_begin(&o);
    pthread_t t[2];
    busy_stop = 0;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, busy_run, c);
    for (int64_t i = 0; i < each(); i++) {
        pid_t child = fork_child();
        if (child == 0) child_leaves(c, work());
        child_waited(child, "a busy process");
        for (int64_t k = 0; k < i % 50; k++) sched_yield(); /* at another moment each time */
    }
    __atomic_store_n(&busy_stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    CHECK(work());
    fork_end(c);
}

/* --- in backward ------------------------------------------------------------------------------ */

static bool in_child;
static pid_t children[8];
static int nchildren;

/* Both go on from here. */
static void fork_here(void) {
    if (in_child) return;
    pid_t child = fork_child();
    if (child == 0)
        in_child = true;
    else
        children[nchildren++] = child;
}
static tn_tensor *hook_forks(tn_tensor *grad, void *user) {
    (void)grad, (void)user;
    fork_here();
    if (in_child) {
        tn_set_grad_mode(true);
        if (!work()) child_ends(false);
        tn_set_grad_mode(false);
    }
    return NULL;
}
static bool twice(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    return (out[0] = tn_mul_scalar(in[0], 2)) != NULL;
}
static bool twice_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    if (hook_forks(NULL, NULL)) return false;
    return (grad_in[0] = tn_mul_scalar(grad_out[0], 2)) != NULL;
}
static const tn_function_row twice_row = {"twice", 1, twice, twice_back, NULL};

static void fork_in_backward(int what) { /* 0: hook of a result, 1: of a leaf, 2: a function */
    tn_context_options o = fork_options();
    tn_context *c = fork_begin(&o);
    in_child = false;
    for (int64_t i = 0; i < each(); i++) {
        bool ok = true;
        nchildren = 0;
        TN_SCOPE {
            tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(3), 2.0)), *y = tn_mul(x, x), *z = y;
            if (what < 2) tn_hook_add(what ? x : y, hook_forks, NULL, NULL);
            if (what == 2) ok = tn_function_call(&twice_row, TN_LIST(y), NULL, &z);
            ok = ok && tn_backward(tn_sum(z));
            ok = ok && tn_item(tn_sum(tn_grad_of(x))) == (what == 2 ? 24 : 12);
        }
        if (in_child) child_leaves(c, ok);
        CHECK(ok && nchildren == 1);
        for (int k = 0; k < nchildren; k++) child_waited(children[k], "backward");
    }
    CHECK(work());
    fork_end(c);
}
static void fork_in_a_hook_of_a_result(void) { fork_in_backward(0); }
static void fork_in_a_hook_of_a_leaf(void) { fork_in_backward(1); }
static void fork_in_a_function(void) { fork_in_backward(2); }

/* --- in a save -------------------------------------------------------------------------------- */

static int64_t write_number, write_at;
static const char *save_path(const char *name) {
    static char path[2][400];
    const char *at = getenv("LIFE_FOLDER");
    int which = in_child;
    snprintf(path[which], sizeof path[which], "%s/%s", at ? at : ".", name);
    return path[which];
}
static bool save(const char *path) {
    bool ok = false;
    TN_SCOPE {
        tn_named all[2] = {{"m", matrix}, {"t", tn_transpose(matrix, 0, 1)}};
        ok = tn_safetensors_save(path, all, 2);
        tn_named_list l = ok ? tn_safetensors_load(path) : (tn_named_list){NULL, -1, 0, true};
        ok = l.n == 2 && life_bits(l.at[0].tensor) == life_bits(matrix);
        tn_named_free(l);
    }
    return ok;
}
/* The child shares the descriptor with its parent, so it writes a file of its own and ends. */
static int64_t write_forks(int fd, const void *from, size_t bytes, void *user) {
    (void)user;
    if (!in_child && ++write_number == write_at) {
        pid_t child = fork_child();
        if (child == 0) {
            in_child = true;
            bool ok = work() && save(save_path("fork.child"));
            unlink(save_path("fork.child"));
            child_ends(ok);
        }
        children[nchildren++] = child;
    }
    return write(fd, from, bytes);
}
static void fork_in_a_save(void) {
    tn_context_options o = fork_options();
    o.files.write = write_forks;
    tn_context *c = fork_begin(&o);
    in_child = false;
    for (int64_t i = 0; i < each(); i++) {
        nchildren = 0, write_number = 0, write_at = 1 + i % 4;
        CHECK(save(save_path("fork.safetensors")));
        CHECK(nchildren == 1);
        for (int k = 0; k < nchildren; k++) child_waited(children[k], "a save");
    }
    unlink(save_path("fork.safetensors"));
    fork_end(c);
}

/* --- with a loader ---------------------------------------------------------------------------- */

static int64_t get_number, get_at;
static bool get_item(const tn_dataset *d, int64_t index, void *const *to) {
    (void)d;
    if (__atomic_add_fetch(&get_number, 1, __ATOMIC_RELAXED) ==
        __atomic_load_n(&get_at, __ATOMIC_RELAXED)) { /* in a worker: the child has it alone */
        pid_t child = fork_child();
        if (child == 0) child_ends(work());
        child_waited(child, "a loader's worker");
    }
    for (int k = 0; k < 8; k++) ((float *)to[0])[k] = (float)(index * 8 + k);
    return true;
}
static tn_loader *loader_new(int workers) {
    tn_dataset like;
    memset(&like, 0, sizeof like);
    like.size = 60;
    like.nfields = 1;
    like.field[0].dtype = TN_F32, like.field[0].ndim = 1, like.field[0].size[0] = 8;
    like.get = get_item;
    return tn_loader_new(tn_dataset_new(&like), .batch_size = 4, .workers = workers);
}
static bool batch_is(const tn_batch *b, int64_t i) {
    return tn_item(tn_select(tn_select(b->field[0], 0, 3), 0, 7)) == (double)((4 * i + 3) * 8 + 7);
}

static void fork_in_a_loader(void) {
    tn_context_options o = fork_options();
    tn_context *c = fork_begin(&o);
    tn_loader *l = loader_new(2);
    for (int64_t i = 0; i < each(); i++) {
        tn_batch b;
        int64_t n = 0;
        __atomic_store_n(&get_at, 1 + 7 * i % 60, __ATOMIC_RELAXED);
        __atomic_store_n(&get_number, 0, __ATOMIC_RELAXED);
        TN_SCOPE
            for (; tn_loader_next(l, &b); n++) CHECK(batch_is(&b, n));
        CHECK(n == 15);
    }
    get_at = 0;
    tn_loader_free(l);
    fork_end(c);
}

/* The workers are not in the child, which reads the rest of the epoch and another one itself. */
static void fork_beside_a_loader(void) {
    tn_context_options o = fork_options();
    tn_context *c = fork_begin(&o);
    tn_loader *l = loader_new(2);
    for (int64_t i = 0; i < each(); i++) {
        tn_batch b;
        pid_t child = -1;
        int64_t n = 0;
        bool ok = true;
        TN_SCOPE
            for (; tn_loader_next(l, &b); n++) {
                ok = ok && batch_is(&b, n);
                if (n == i % 15) child = fork_child();
                if (child == 0 && n == i % 15 && i % 3 == 0) child_leaves(c, ok);
            }
        if (child == 0) {
            ok = ok && n == 15 && tn_ok();
            for (n = 0; tn_loader_next(l, &b); n++) ok = ok && batch_is(&b, n);
            if (i % 2) tn_loader_free(l);
            child_leaves(c, ok && n == 15);
        }
        CHECK(ok && n == 15);
        child_waited(child, "a process with a loader");
    }
    tn_loader_free(l);
    fork_end(c);
}

/* --- in the allocator ------------------------------------------------------------------------- */

static int64_t alloc_number, alloc_at;
static void *alloc_forks(size_t bytes, void *user) {
    if (++alloc_number == alloc_at) fork_here();
    return life_alloc(bytes, user);
}
static void fork_in_the_allocator(void) {
    tn_context_options o = life_options(1);
    o.allocator.alloc = alloc_forks;
    alloc_at = 0, in_child = false;
    tn_context *c = fork_begin(&o);
    tn_set_threads(THREADS);
    CHECK(work());
    alloc_number = 0;
    CHECK(work());
    int64_t all = alloc_number;
    for (int64_t i = 0; i < each(); i++) {
        nchildren = 0, alloc_number = 0, alloc_at = 1 + i * (all - 1) / each();
        bool ok = work();
        if (in_child) child_leaves(c, ok);
        alloc_at = 0;
        CHECK(ok && nchildren == 1);
        for (int k = 0; k < nchildren; k++) child_waited(children[k], "the allocator");
    }
    fork_end(c);
}

/* Another thread is stopped at its k-th allocation, some of which it makes with a lock held: one
 * that publishes a sum in the place of an expanded .grad has that of all gradients. */
typedef struct stopped {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t at, number;
    int inside, go_on;
    tn_context *c;
} stopped;
static stopped other = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
static __thread bool is_other;
static void *alloc_stops(size_t bytes, void *user) {
    if (is_other && ++other.number == other.at) {
        pthread_mutex_lock(&other.lock);
        other.inside = 1;
        pthread_cond_broadcast(&other.moved);
        while (!other.go_on) pthread_cond_wait(&other.moved, &other.lock);
        pthread_mutex_unlock(&other.lock);
    }
    return life_alloc(bytes, user);
}
static bool publishes(void) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(3)));
        tn_set_grad(x, tn_expand(tn_full(TN_DIMS(1), 5.0), TN_DIMS(3)));
        ok = tn_backward(tn_sum(tn_mul_scalar(x, 2))) && tn_item(tn_sum(tn_grad_of(x))) == 21;
    }
    return ok;
}
static void *other_main(void *arg) {
    (void)arg;
    is_other = true;
    tn_context_use(other.c);
    CHECK(publishes());
    pthread_mutex_lock(&other.lock);
    other.inside = 1; /* past its last allocation */
    pthread_cond_broadcast(&other.moved);
    pthread_mutex_unlock(&other.lock);
    return NULL;
}
static void fork_beside_the_allocator(void) {
    tn_context_options o = life_options(THREADS);
    o.allocator.alloc = alloc_stops;
    tn_context *c = other.c = fork_begin(&o);
    for (int64_t i = 0; i < 4 * each(); i++) {
        pthread_t t;
        other.number = other.inside = other.go_on = 0;
        other.at = 1 + 7 * i % 26;
        pthread_create(&t, NULL, other_main, NULL);
        pthread_mutex_lock(&other.lock);
        while (!other.inside) pthread_cond_wait(&other.moved, &other.lock);
        pthread_mutex_unlock(&other.lock);
        pid_t child = fork_child();
        if (child == 0) child_leaves(c, publishes());
        child_waited(child, "a process whose other thread allocates");
        pthread_mutex_lock(&other.lock);
        other.go_on = 1;
        pthread_cond_broadcast(&other.moved);
        pthread_mutex_unlock(&other.lock);
        pthread_join(t, NULL);
    }
    fork_end(c);
}

static const check_test tests[] = {
    CHECK_TEST(fork_idle),
    CHECK_TEST(fork_busy),
    CHECK_TEST(fork_in_a_hook_of_a_result),
    CHECK_TEST(fork_in_a_hook_of_a_leaf),
    CHECK_TEST(fork_in_a_function),
    CHECK_TEST(fork_in_a_save),
    CHECK_TEST(fork_in_a_loader),
    CHECK_TEST(fork_beside_a_loader),
    CHECK_TEST(fork_in_the_allocator),
    CHECK_TEST(fork_beside_the_allocator),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    if (argc > 1) return failed;
    printf("promise 16: %lld forks (idle, busy, in hooks, a function, a save, a loader, the "
           "allocator), each child on the pool and in backward: %lld hangs\n",
           (long long)forks, (long long)hangs);
    return failed;
}
