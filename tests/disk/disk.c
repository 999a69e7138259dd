/* disk.c - see disk.h. */
#define _XOPEN_SOURCE 700
#include "disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int64_t passed, failed;

void check(bool ok, const char *what, int64_t number) {
    if (ok)
        passed++;
    else if (failed++ < 20)
        printf("%s, case %lld\n", what, (long long)number);
}

/* --- files ------------------------------------------------------------------------------------ */

char *file_bytes(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    long n;
    *size = 0;
    if (!f) return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
        bytes = (char *)malloc((size_t)n + 1);
        if (bytes) *size = fread(bytes, 1, (size_t)n, f);
    }
    fclose(f);
    return bytes;
}

void file_write(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, size, f) == size;
    if (f) ok = fclose(f) == 0 && ok;
    check(ok, "the test cannot write its file", (int64_t)size);
}

bool file_is(const char *path, const char *bytes, size_t size) {
    size_t n;
    char *is = file_bytes(path, &n);
    bool same = is && n == size && memcmp(is, bytes, n) == 0;
    free(is);
    return same;
}

int leftovers(const char *path, bool drop) {
    char folder[200], name[500];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const struct dirent *e;
    DIR *d;
    int n = 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    d = opendir(folder);
    while (d && (e = readdir(d)) != NULL) {
        if (strncmp(e->d_name, base, strlen(base)) != 0) continue;
        if (strncmp(e->d_name + strlen(base), ".tmp-", 5) != 0) continue;
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        n++;
        if (drop) remove(name);
    }
    if (d) closedir(d);
    return n;
}

int in_child(int (*f)(void *arg), void *arg) {
    int status = -1;
    pid_t pid;
    fflush(stdout);
    fflush(stderr);
    pid = fork();
    if (pid == 0) _exit(f(arg));
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* --- memory ----------------------------------------------------------------------------------- */

bool disk_cached;
static int64_t live, peak, base;

static void *counting_alloc(size_t bytes, void *user) {
    void *at = malloc(bytes);
    (void)user;
    if (at) live += (int64_t)bytes;
    if (live > peak) peak = live;
    return at;
}
static void counting_free(void *at, size_t bytes, void *user) {
    (void)user;
    live -= (int64_t)bytes;
    free(at);
}

void disk_mark(void) { peak = base = live; }
int64_t disk_peak(void) { return peak - base; }

tn_context *context_new(const tn_files *operations, int64_t memory_cap) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = !disk_cached;
    o.memory_cap = memory_cap;
    o.allocator.alloc = counting_alloc, o.allocator.free = counting_free;
    if (operations) o.files = *operations;
    c = tn_context_new(&o);
    check(c != NULL, "no context", 0);
    tn_context_use(c);
    return c;
}

/* --- what is saved ---------------------------------------------------------------------------- */

void world_begin(world *w, int64_t width) {
    tn_manual_seed(4);
    memset(w, 0, sizeof *w);
    w->net = tn_sequential(tn_nn_linear(3, width), tn_nn_relu(), tn_nn_linear(width, 2));
    w->adam = tn_optim_adam(tn_parameters(w->net), .lr = 0.01);
    w->numbers[0].name = "epoch";
    w->state.model = w->net;
    w->state.optimizer = w->adam;
    w->state.numbers = w->numbers;
    w->state.nnumbers = 1;
    world_step(w);
}

void world_step(world *w) {
    TN_SCOPE {
        tn_backward(tn_sum(tn_forward(w->net, tn_ones(TN_DIMS(2, 3)))));
        tn_optimizer_step(w->adam);
    }
    w->numbers[0].value++;
}

void world_end(world *w) {
    tn_optimizer_free(w->adam);
    tn_module_free(w->net);
}
