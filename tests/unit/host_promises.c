/* host_promises.c - what docs/embedding.md promises a host: the library leaves the process as it
 * finds it. Locale, errno, signals, files, output, floating-point mode, threads, memory. */
#define _GNU_SOURCE /* setenv, dup2 */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* A bit of all that a program does: operators, gradients, modules, a step, text. */
static void work(void) {
    TN_SCOPE {
        tn_module *net = tn_sequential(tn_nn_linear(4, 8), tn_nn_relu(), tn_nn_linear(8, 2));
        tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 0.01);
        tn_tensor *x = tn_randn(TN_DIMS(16, 4));
        tn_backward(tn_mean(tn_square(tn_forward(net, x))));
        CHECK(tn_optimizer_step(opt));
        tn_optimizer_free(opt);
        tn_module_free(net);
        x = tn_rand(TN_DIMS(300, 300)); /* work for several threads, and large memory */
        CHECK(tn_numel(tn_matmul(x, tn_exp(x))) == 90000);
        char *text = tn_to_text(x, NULL);
        CHECK(text != NULL);
        if (text) tn_alloc_free(text, strlen(text) + 1);
    }
    CHECK(tn_ok());
}

/* --- locale ----------------------------------------------------------------------------------- */

static tn_row halved = {.name = "halved",
                        .schema = "halved(Tensor self, float by=0.5, float[] "
                                  "more=[0.25, 1e-3]) -> Tensor"};
static bool halved_compose(tn_frame *f) {
    f->out[0] = tn_mul_scalar(f->in[0], *(const double *)f->row->gen->defaults);
    return f->out[0] != NULL;
}

static void take_error(char *to, size_t room, const char *what) {
    tn_error_info e = {TN_OK, "no error", NULL, 0};
    tn_error_take(&e);
    snprintf(to + strlen(to), room - strlen(to), "%s: %s\n", what, e.message);
}
static void take_text(char *to, size_t room, char *text) {
    if (!CHECK(text != NULL)) return;
    snprintf(to + strlen(to), room - strlen(to), "%s\n", text);
    tn_alloc_free(text, strlen(text) + 1);
}

/* All texts with numbers, and the bytes of a file, in the locale that is set. */
static void texts(char *to, size_t room) {
    *to = 0;
    TN_SCOPE {
        const double v[] = {1.5, -2.25, 1e-20, 1e300, NAN, INFINITY};
        tn_tensor *x = tn_from_f64(v, TN_DIMS(6)), *w = tn_requires_grad(tn_ones(TN_DIMS(2)));
        tn_module *drop = tn_nn_dropout(.p = 0.125);
        take_text(to, room, tn_to_text(x, NULL));
        take_text(to, room, tn_to_text(tn_slice(x, .end = 2), NULL));
        take_text(to, room, tn_to_text(tn_view_as_complex(tn_reshape(x, TN_DIMS(3, 2))), NULL));
        take_text(
            to, room,
            tn_to_text(tn_index_put(w, TN_LIST(tn_tensor_of(TN_DIMS(1), 1)), tn_ones(TN_DIMS(1))),
                       NULL));
        take_text(to, room, tn_module_text(drop));
        tn_module_free(drop);
        CHECK(!tn_nn_dropout(.p = 1.5));
        take_error(to, room, "a module's option");
        CHECK(!tn_normal_(x, .mean = 0, .std = -0.5));
        take_error(to, room, "an operator's");
        CHECK(!tn_add(x, tn_ones(TN_DIMS(2)), .alpha = 0.75));
        take_error(to, room, "an argument");
        tn_error_set(TN_INVALID, NULL, 0, "%5.2f|%-8g|%*d|%.3s|%lld|%zu|%c|%%|%x", 2.5, 1e-7, 4, 7,
                     "abcdef", -(1ll << 40), (size_t)9, 'c', 255u);
        take_error(to, room, "of the program");
        tn_named one[] = {{"x", x}};
        tn_bytes file = tn_save_memory(one, 1);
        snprintf(to + strlen(to), room - strlen(to), "%zu bytes: %.60s\n", file.n,
                 file.at ? (const char *)file.at + 8 : "");
        tn_bytes_free(file);
    }
}

/* Reads a schema, which only a context's first registration does. */
static double default_read(void) {
    tn_context *c = tn_context_new(NULL);
    double v = NAN;
    tn_context_use(c);
    halved.compose = halved_compose, halved.gen = NULL;
    CHECK(tn_register(&halved));
    TN_SCOPE {
        tn_value x = {TN_T_TENSOR, NULL, {tn_ones(TN_DIMS(1))}};
        tn_tensor *y = NULL;
        int n = 0;
        CHECK(tn_call_named(__FILE__, __LINE__, "halved", &x, 1, &y, 1, &n) && n == 1);
        v = tn_item(y);
    }
    CHECK(!tn_error_print());
    tn_context_use(NULL);
    tn_context_free(c);
    return v;
}

/* Sets a locale, which is made beside this program if the system has none of that name. */
static bool locale_set(const char *name) {
    char command[400];
    if (setlocale(LC_ALL, name)) return true;
    const char *build = getenv("BUILD");
    snprintf(command, sizeof command,
             "mkdir -p %s/locale && { [ -d %s/locale/%s.UTF-8 ] || localedef -i %s -f UTF-8 "
             "%s/locale/%s.UTF-8; } > /dev/null 2>&1",
             build ? build : "build", build ? build : "build", name, name, build ? build : "build",
             name);
    if (system(command) != 0) return false;
    snprintf(command, sizeof command, "%s/locale", build ? build : "build");
    setenv("LOCPATH", command, 1);
    snprintf(command, sizeof command, "%s.UTF-8", name);
    return setlocale(LC_ALL, command) != NULL;
}

static void texts_are_the_same_in_every_locale(void) {
    static const char *const names[] = {"de_DE", "ps_AF", "tr_TR"}; /* "0,5", "0٫5", i and İ */
    static char plain[4000], local[4000];
    setlocale(LC_ALL, "C");
    texts(plain, sizeof plain);
    CHECK(strstr(plain, "1.5000") && strstr(plain, "p=0.125") && strstr(plain, "-0.5") &&
          strstr(plain, " 2.50|1e-07   |   7|abc|-1099511627776|9|c|%|ff") &&
          strstr(plain, "IndexPut"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char half[16];
        if (!locale_set(names[i])) {
            printf("note: no locale %s here\n", names[i]);
            continue;
        }
        snprintf(half, sizeof half, "%.1f", 0.5);
        CHECK(strcmp(half, "0.5") != 0);
        texts(local, sizeof local);
        CHECK_TEXT(local, plain);
        CHECK(default_read() == 0.5);
        setlocale(LC_ALL, "C");
    }
}

/* --- errno, floating point -------------------------------------------------------------------- */

static void calls_that_succeed_leave_errno(void) {
    tn_set_threads(2); /* makes a thread */
    work();
    errno = 77;
    work();
    CHECK_EQ(errno, 77);
    TN_SCOPE {
        char *text = tn_to_text(tn_full(TN_DIMS(2), 5e-324, .dtype = TN_F64), NULL);
        CHECK(text != NULL); /* strtod of such numbers sets ERANGE */
        if (text) tn_alloc_free(text, strlen(text) + 1);
        tn_module *m = tn_nn_dropout(.p = 5e-324);
        if ((text = tn_module_text(m)) != NULL) tn_alloc_free(text, strlen(text) + 1);
        tn_module_free(m);
        CHECK(!tn_mm(tn_ones(TN_DIMS(2, 3)), tn_ones(TN_DIMS(2, 3))));
        CHECK(tn_error_take(NULL)); /* so does a call that fails for its arguments */
        CHECK_EQ(errno, 77);
    }
    halved.compose = halved_compose;
    CHECK(default_read() == 0.5);
    CHECK_EQ(errno, 77);
}

static void files_leave_errno(void) {
    const char *path = "build/unit/host_promises.safetensors";
    TN_SCOPE {
        tn_named one[] = {{"x", tn_ones(TN_DIMS(3))}};
        bool there = false;
        errno = 77;
        CHECK(tn_safetensors_save(path, one, 1));
        CHECK_EQ(errno, 77);
        tn_named_list list = tn_safetensors_load(path);
        CHECK(list.n == 1);
        CHECK_EQ(errno, 77);
        tn_named_free(list);
        CHECK(tn_file_exists(path, &there) && there);
        CHECK(tn_file_exists("build/unit/no such file", &there) && !there);
        CHECK_EQ(errno, 77);
    }
    remove(path);
}

static void the_rounding_mode_stays(void) {
    const int modes[] = {FE_TONEAREST, FE_UPWARD};
    for (int i = 0; i < 2; i++) {
        fesetround(modes[i]);
        work();
        CHECK_EQ(fegetround(), modes[i]);
    }
    fesetround(FE_TONEAREST);
}

/* --- signals, files, output ------------------------------------------------------------------- */

/* What each signal did when the program began: a caller may have set some to be ignored. */
static void (*handler[NSIG])(int);
static void handlers_begin(void) {
    for (int s = 1; s < NSIG; s++) {
        struct sigaction a;
        if (sigaction(s, NULL, &a) == 0) handler[s] = a.sa_handler;
    }
}
static void signals_and_masks_stay(void) {
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work();
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK(sigismember(&after, SIGUSR1) == 1 && sigismember(&after, SIGUSR2) == 0);
    sigemptyset(&before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int s = 1; s < NSIG; s++) {
        struct sigaction a;
        if (sigaction(s, NULL, &a) == 0) CHECK(a.sa_handler == handler[s]);
    }
}

static int descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static char opened[8][200];
static int nopened;
static int host_open(const char *path, int flags, int mode, void *user) {
    (void)user;
    if (nopened < 8) snprintf(opened[nopened], sizeof opened[0], "%s", path);
    nopened++;
    return open(path, flags, mode);
}

static void only_file_functions_open_files(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.files.open = host_open;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    const int before = descriptors();
    work();
    CHECK_EQ(nopened, 0);
    CHECK_EQ(descriptors(), before);
    TN_SCOPE {
        tn_named one[] = {{"x", tn_ones(TN_DIMS(3))}};
        char name[100];
        CHECK(tn_safetensors_save("build/unit/host_promises.safetensors", one, 1));
        /* the temporary file, and its folder, which is synced */
        snprintf(name, sizeof name, "build/unit/host_promises.safetensors.tmp-%ld-0",
                 (long)getpid());
        CHECK_TEXT(opened[0], name);
        CHECK(nopened >= 1 && access(opened[0], F_OK) != 0);
        if (nopened > 1) CHECK_TEXT(opened[1], "build/unit");
        CHECK(nopened <= 2);
        CHECK_EQ(descriptors(), before);
        remove("build/unit/host_promises.safetensors");
    }
    tn_context_use(NULL);
    tn_context_free(c);
}

/* How many bytes f writes to stdout and stderr. */
static void written(void (*f)(void), long *out, long *err) {
    FILE *to[2] = {tmpfile(), tmpfile()};
    const int was[2] = {dup(1), dup(2)};
    fflush(stdout);
    for (int i = 0; i < 2; i++) dup2(fileno(to[i]), i + 1);
    f();
    fflush(stdout);
    long n[2];
    for (int i = 0; i < 2; i++) {
        dup2(was[i], i + 1);
        close(was[i]);
        fseek(to[i], 0, SEEK_END);
        n[i] = ftell(to[i]);
        fclose(to[i]);
    }
    *out = n[0], *err = n[1];
}
static void fail(void) {
    TN_SCOPE (void) !tn_mm(tn_ones(TN_DIMS(2)), tn_ones(TN_DIMS(2)));
    tn_safetensors_load("build/unit/no such file");
}
static void fail_and_print(void) { fail(), tn_error_print(); }
static void print(void) {
    TN_SCOPE
        tn_print(tn_ones(TN_DIMS(2)));
}

static void only_printing_prints(void) {
    long out, err;
    written(work, &out, &err);
    CHECK(!out && !err);
    written(fail, &out, &err);
    CHECK(!out && !err && tn_error_take(NULL));
    written(fail_and_print, &out, &err);
    CHECK(!out && err > 20);
    written(print, &out, &err);
    CHECK_EQ(out, strlen("tensor([1., 1.])\n"));
    CHECK_EQ(err, 0);
}

/* --- threads, memory -------------------------------------------------------------------------- */

static int threads(void) { /* of this process; 0: unknown */
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* How many threads block SIGUSR1. */
static int threads_that_block(void) {
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char line[300];
        snprintf(line, sizeof line, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(line, "r");
        while (f && fgets(line, sizeof line, f))
            n += !strncmp(line, "SigBlk:", 7) && strtoull(line + 7, NULL, 16) >> (SIGUSR1 - 1) & 1;
        if (f) fclose(f);
    }
    if (d) closedir(d);
    return n;
}

static void large(void) {
    TN_SCOPE (void) !tn_exp(tn_ones(TN_DIMS(1000, 1000)));
}
static void threads_are_made_by_the_first_call_that_uses_them(void) {
    tn_context_free(NULL); /* what other tests left */
    const int before = threads();
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 3;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    TN_SCOPE (void) !tn_exp(tn_ones(TN_DIMS(10))); /* small: stays in the caller's thread */
    CHECK_EQ(threads(), before);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    large();
    pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
    CHECK_EQ(threads(), before ? before + 3 : 0);
    CHECK_EQ(threads_that_block(), before ? 3 : 0);
    tn_set_threads(2);
    large();
    CHECK_EQ(threads(), before ? before + 1 : 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(threads(), before);
    o.threads = -1;
    c = tn_context_new(&o);
    tn_context_use(c);
    large();
    CHECK_EQ(threads(), before);
    tn_context_use(NULL);
    tn_context_free(c);
}

static int64_t in_use, most, calls;
static void *count_alloc(size_t bytes, void *user) {
    (void)user;
    in_use += (int64_t)bytes, calls++;
    if (in_use > most) most = in_use;
    return malloc(bytes);
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user;
    in_use -= (int64_t)bytes;
    free(at);
}
static void memory_is_taken_by_the_first_call_and_given_back_at_the_end(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc, o.allocator.free = count_free, o.threads = -1;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    CHECK(tn_ok());
    printf("a context: %lld bytes", (long long)in_use);
    CHECK(in_use < 16 << 10);
    TN_SCOPE (void) !tn_ones(TN_DIMS(2));
    printf(", with a tensor: %lld bytes\n", (long long)in_use);
    CHECK(in_use < 96 << 10);
    TN_SCOPE (void) !tn_ones(TN_DIMS(1 << 20)); /* 4 MiB, which stay in the cache */
    CHECK(in_use > 4 << 20 && tn_memory().bytes_cached >= 4 << 20);
    CHECK(tn_memory_trim() >= 4 << 20 && in_use < 160 << 10);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(in_use, 0);
}

static void a_loader_has_its_workers_from_its_beginning_to_its_end(void) {
    const int before = threads();
    TN_SCOPE {
        tn_loader *l =
            tn_loader_new(tn_dataset_tensors(TN_LIST(tn_ones(TN_DIMS(8)))), .workers = 2);
        CHECK_EQ(threads(), before ? before + 2 : 0);
        tn_loader_free(l);
        CHECK_EQ(threads(), before);
    }
    CHECK(tn_ok());
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(texts_are_the_same_in_every_locale),
        CHECK_TEST(calls_that_succeed_leave_errno),
        CHECK_TEST(files_leave_errno),
        CHECK_TEST(the_rounding_mode_stays),
        CHECK_TEST(signals_and_masks_stay),
        CHECK_TEST(only_file_functions_open_files),
        CHECK_TEST(only_printing_prints),
        CHECK_TEST(threads_are_made_by_the_first_call_that_uses_them),
        CHECK_TEST(a_loader_has_its_workers_from_its_beginning_to_its_end),
        CHECK_TEST(memory_is_taken_by_the_first_call_and_given_back_at_the_end),
    };
    handlers_begin();
    return CHECK_MAIN(tests, argc, argv);
}
