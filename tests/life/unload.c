/* unload.c - a library with tensor.h inside is loaded, used and unloaded again and again, also
 * beside threads that have used it and live on, and by several threads in turn: no block of memory,
 * thread, descriptor, thread key or mapping is left. Argument: the path of the library. With
 * TN_EXPORT this program has tensor.h inside, and the library calls it. */
#define _GNU_SOURCE
#include "../check.h"
#ifdef TN_EXPORT
#include "../../tensor.h"
#define KIND " of a plugin with TN_IMPORT"
#else
#define KIND ""
#endif

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *library;
static char file[400];
static double expected;

typedef struct plugin {
    void *handle;
    double (*use)(const char *);
    double (*apart)(void);
    void (*end)(void);
} plugin;

static void plugin_symbol(void *handle, const char *name, void *to) {
    void *at = dlsym(handle, name);
    CHECK(at != NULL);
    memcpy(to, &at, sizeof at);
}
static plugin plugin_open(void) {
    plugin p = {NULL, NULL, NULL, NULL};
    p.handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(p.handle != NULL)) {
        printf("    %s\n", dlerror());
        exit(1);
    }
    plugin_symbol(p.handle, "plugin_use", &p.use);
    plugin_symbol(p.handle, "plugin_apart", &p.apart);
    plugin_symbol(p.handle, "plugin_end", &p.end);
#ifdef TN_EXPORT
    bool (*import)(const tn_exports *host);
    plugin_symbol(p.handle, "plugin_import", &import);
    CHECK(import(tn_exported()));
#endif
    return p;
}
static void plugin_close(plugin *p) {
    p->end();
    CHECK(dlclose(p->handle) == 0);
    CHECK(dlopen(library, RTLD_NOW | RTLD_NOLOAD) == NULL); /* it is gone */
}
static void plugin_right(double sum) {
    if (expected == 0) expected = sum;
    CHECK(sum != 0 && sum == expected);
}

/* --- what a process has ----------------------------------------------------------------------- */

/* All blocks of memory: this program's malloc stands before libc's, for the library that it loads
 * and for libc itself, too. (The bytes that libc reports move with the gaps between blocks.) */
static int64_t blocks;
#ifdef __GLIBC__
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

static void *counted(void *p) {
    if (p) __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
    return p;
}
void *malloc(size_t n) { return counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return counted(__libc_calloc(n, size)); }
void *memalign(size_t align, size_t n) { return counted(__libc_memalign(align, n)); }
void *aligned_alloc(size_t align, size_t n) { return counted(__libc_memalign(align, n)); }
int posix_memalign(void **to, size_t align, size_t n) {
    void *p = memalign(align, n);
    if (!p) return ENOMEM;
    *to = p;
    return 0;
}
void free(void *p) {
    if (p) __atomic_fetch_sub(&blocks, 1, __ATOMIC_RELAXED);
    __libc_free(p);
}
void *realloc(void *p, size_t n) {
    if (!p) return malloc(n);
    if (!n) return free(p), NULL;
    return __libc_realloc(p, n);
}
#endif

enum { CACHED = 32 }; /* mappings that libc may keep for stacks and arenas of later threads */
typedef struct traces {
    int64_t blocks, threads, descriptors, keys, mappings, of_library;
} traces;

static int64_t entries(const char *folder) {
    int64_t n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
static int64_t free_keys(void) {
    static pthread_key_t key[4096];
    int n = 0;
    while (n < 4096 && pthread_key_create(&key[n], NULL) == 0) n++;
    for (int i = 0; i < n; i++) pthread_key_delete(key[i]);
    return n;
}
/* All, and those of the library. */
static void mappings_now(int64_t *all, int64_t *of_library) {
    char line[600];
    *all = *of_library = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (; f && fgets(line, sizeof line, f); ++*all) *of_library += strstr(line, library) != NULL;
    if (f) fclose(f);
}
static traces traces_now(void) {
    traces t;
    t.threads = entries("/proc/self/task");
    t.descriptors = entries("/proc/self/fd");
    t.keys = free_keys();
    mappings_now(&t.mappings, &t.of_library);
    t.blocks = __atomic_load_n(&blocks, __ATOMIC_RELAXED); /* 0 where they are not counted */
    return t;
}
static void traces_same(const traces *a, const traces *b) {
    CHECK_EQ(a->blocks, b->blocks);
    CHECK_EQ(a->threads, b->threads);
    CHECK_EQ(a->descriptors, b->descriptors);
    CHECK_EQ(a->keys, b->keys);
    CHECK_EQ(a->of_library, b->of_library);
    CHECK(a->mappings <= b->mappings + CACHED);
}

static int rounds(void) {
    const char *full = getenv("TN_FULL"), *quick = getenv("TN_QUICK");
    return full && *full ? 1000 : quick && *quick ? 20 : 200;
}
static int64_t all_rounds;

/* --- the tests -------------------------------------------------------------------------------- */

static void one_round(bool with_file) {
    plugin p = plugin_open();
    plugin_right(p.use(with_file ? file : NULL));
    plugin_close(&p);
    all_rounds++;
}
static void nothing_is_left_of_a_library_that_was_unloaded(void) {
    traces first, last;
    for (int i = 0; i < 5; i++) one_round(true); /* what the system keeps for later use */
    first = traces_now();
    for (int i = 0; i < rounds(); i++) {
        one_round(i % 8 == 0);
        if (i % 50 == 0) last = traces_now(), traces_same(&last, &first);
    }
    last = traces_now();
    traces_same(&last, &first);
    CHECK_EQ(last.of_library, 0);
    pid_t child = fork(); /* no handler of fork points into it */
    if (child == 0) _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
}

/* A thread that is told to use the library, and lives on when it is gone. */
typedef struct user_thread {
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int told, done; /* rounds */
    int quit;
    plugin *p;
} user_thread;
static void *user_main(void *arg) {
    user_thread *u = (user_thread *)arg;
    pthread_mutex_lock(&u->lock);
    for (;;) {
        while (u->told == u->done && !u->quit) pthread_cond_wait(&u->moved, &u->lock);
        if (u->quit) break;
        plugin_right(u->p->use(NULL));
        u->done++;
        pthread_cond_signal(&u->moved);
    }
    pthread_mutex_unlock(&u->lock);
    return NULL; /* destructors of thread keys run now: of none that is in the library */
}
static void user_begin(user_thread *u) {
    memset(u, 0, sizeof *u);
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->moved, NULL);
    CHECK(pthread_create(&u->id, NULL, user_main, u) == 0);
}
static void user_use(user_thread *u, plugin *p) {
    pthread_mutex_lock(&u->lock);
    u->p = p;
    u->told++;
    pthread_cond_signal(&u->moved);
    while (u->done != u->told) pthread_cond_wait(&u->moved, &u->lock);
    pthread_mutex_unlock(&u->lock);
}
static void user_end(user_thread *u) {
    pthread_mutex_lock(&u->lock);
    u->quit = 1;
    pthread_cond_signal(&u->moved);
    pthread_mutex_unlock(&u->lock);
    pthread_join(u->id, NULL);
    pthread_mutex_destroy(&u->lock);
    pthread_cond_destroy(&u->moved);
}
static void threads_outlive_a_library(void) {
    user_thread steady, brief;
    traces first, last;
    user_begin(&steady);
    for (int i = 0; i < rounds() / 4; i++) {
        plugin p = plugin_open();
        user_begin(&brief);
        user_use(&steady, &p);
        user_use(&brief, &p);
        if (i % 2) user_end(&brief); /* before, or after the library has gone */
        plugin_close(&p);
        if (i % 2 == 0) user_end(&brief);
        all_rounds++;
        if (i == 3) first = traces_now();
    }
    last = traces_now();
    traces_same(&last, &first);
    user_end(&steady);
}

/* Threads that use the library together, each in a context of its own. One loads it, in the next
 * round another one, and a third unloads it. */
enum { TURNS = 4 };
static plugin turn_plugin;
static pthread_barrier_t turn_barrier;
static void *turn_main(void *arg) {
    const int me = *(const int *)arg;
    for (int i = 0; i < rounds(); i++) {
        if (i % TURNS == me) turn_plugin = plugin_open();
        pthread_barrier_wait(&turn_barrier);
        plugin_right(turn_plugin.apart());
        pthread_barrier_wait(&turn_barrier);
        if ((i + 2) % TURNS == me) plugin_close(&turn_plugin);
        pthread_barrier_wait(&turn_barrier);
    }
    return NULL;
}
static void threads_load_and_unload_in_turn(void) {
    pthread_t id[TURNS];
    int number[TURNS];
    traces first, last;
    for (int pass = 0; pass < 2; pass++) { /* the first: what the system keeps for later use */
        pthread_barrier_init(&turn_barrier, NULL, TURNS);
        for (int k = 0; k < TURNS; k++) {
            number[k] = k;
            CHECK(pthread_create(&id[k], NULL, turn_main, &number[k]) == 0);
        }
        for (int k = 0; k < TURNS; k++) pthread_join(id[k], NULL);
        pthread_barrier_destroy(&turn_barrier);
        if (!pass) first = traces_now();
        all_rounds += rounds();
    }
    last = traces_now();
    traces_same(&last, &first);
    CHECK_EQ(last.of_library, 0);
}

static const check_test tests[] = {
    CHECK_TEST(nothing_is_left_of_a_library_that_was_unloaded),
    CHECK_TEST(threads_outlive_a_library),
    CHECK_TEST(threads_load_and_unload_in_turn),
};

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "unload LIBRARY\n"), 2;
    static char line[4096];
    setvbuf(stdout, line, _IOLBF, sizeof line); /* its buffer is no block that comes later */
    library = argv[1];
    snprintf(file, sizeof file, "%s.out", library);
    int failed = CHECK_MAIN(tests, 1, argv);
    unlink(file);
    printf("promise 15: %lld x dlopen, use, dlclose%s, by and beside several threads: %s\n",
           (long long)all_rounds, KIND,
           failed ? "something is left"
                  : "0 blocks of memory, threads, descriptors, keys, mappings left");
    return failed;
}
