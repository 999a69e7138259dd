/* huge.c - files of 5 GB, files that shrink while they are read, and what loading costs.
 *
 *     huge FOLDER FOLDER-FOR-5-GB
 *     huge FOLDER                      what loading costs (sanitizers would bypass the cache)
 *
 * The 5 GB are a hole: a small tensor behind them is read exactly; what asks for them under a cap
 * of 64 MiB is an error that has taken nothing. Shrinking: before each read in turn another process
 * cuts the file, to each of some lengths; the load is right or an error, never a signal. Each case
 * is a child, so that a signal is counted. */
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include "disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GB5 INT64_C(5000000000)
enum { CAP = 64 << 20, MB = 1 << 20 };

static char path[200], big[200];
static int64_t cases, signals, cuts;

/* Runs a case, counts its signal. */
static bool safe(int (*f)(void *), void *arg, const char *what, int64_t number) {
    int status = in_child(f, arg);
    cases++;
    signals += WIFSIGNALED(status) != 0;
    check(status == 0, what, number * 1000 + (status >> 8) % 1000);
    return status == 0;
}

/* --- 5 GB ------------------------------------------------------------------------------------- */

/* A file of `head`, a hole up to 5 GB in all, and `tail` at its end. */
static bool sparse(const void *head, size_t n, const void *tail, size_t m) {
    int fd = open(big, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool ok = fd >= 0 && ftruncate(fd, GB5) == 0 && pwrite(fd, head, n, 0) == (ssize_t)n &&
              (!m || pwrite(fd, tail, m, GB5 - (off_t)m) == (ssize_t)m);
    if (fd >= 0) close(fd);
    return ok;
}

/* A safetensors file of 5 GB: a tensor of bytes, then four floats. */
static bool sparse_tensors(void) {
    static const float tail[4] = {1, -2.5f, 3e38f, 1e-42f};
    char head[8 + 256];
    int64_t data = GB5 - 8 - 256;
    memset(head, ' ', sizeof head);
    memset(head, 0, 8);
    head[1] = 1; /* 256 */
    int n = snprintf(head + 8, 256,
                     "{\"big\":{\"dtype\":\"U8\",\"shape\":[%lld],\"data_offsets\":[0,%lld]},"
                     "\"last\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[%lld,%lld]}}",
                     (long long)(data - 16), (long long)(data - 16), (long long)(data - 16),
                     (long long)data);
    head[8 + n] = ' ';
    return sparse(head, sizeof head, tail, sizeof tail);
}

static int last_tensor(void *arg) {
    static const float tail[4] = {1, -2.5f, 3e38f, 1e-42f};
    tn_context *c = context_new(NULL, CAP);
    tn_safetensors *f;
    tn_tensor *t;
    int result = 0;
    (void)arg;
    tn_free(tn_ones(TN_DIMS(1)));
    disk_mark();
    f = tn_safetensors_open(big);
    t = tn_safetensors_get(f, "last");
    if (!t || tn_numel(t) != 4 || memcmp(tn_data(t), tail, sizeof tail) != 0) result = 2;
    if (disk_peak() > MB) result = 3;
    tn_free(t);
    if (tn_safetensors_get(f, "big") || !tn_error_take(NULL)) result = 4;
    tn_safetensors_close(f);
    tn_context_free(c);
    return result;
}

/* Every reader, where no reader can take the file: an error without memory for it. */
static int refused_by_all(void *arg) {
    tn_context *c = context_new(NULL, CAP);
    tn_named_list l;
    world w;
    int result = 0;
    (void)arg;
    world_begin(&w, 4);
    disk_mark();
    l = tn_safetensors_load(big);
    if (l.n >= 0 || !tn_error_take(NULL)) result = 2;
    if (tn_load_idx(big) || !tn_error_take(NULL)) result = 3;
    if (tn_load_bytes(big) || !tn_error_take(NULL)) result = 4;
    if (tn_checkpoint_load(big, &w.state) || !tn_error_take(NULL)) result = 5;
    if (tn_module_load_file(w.net, big) || !tn_error_take(NULL)) result = 6;
    if (tn_dataset_idx(big, big, 0, 1) || !tn_error_take(NULL)) result = 7;
    if (disk_peak() > MB) result = 8;
    world_end(&w);
    tn_context_free(c);
    return result;
}

static void huge_files(void) {
    static const uint8_t heads[][20] = {{0}, /* zeros */
                                        {0, 0, 8, 1, 255, 255, 255, 255},
                                        {0, 0, 14, 1, 37, 64, 190, 63}, /* the f64 that fit */
                                        {0, 0, 8, 2, 0, 0, 0, 4, 74, 129, 124, 125}, /* u8 */
                                        {0, 0, 0, 0, 1}, /* a header of 4 GB */
                                        {255, 255, 255, 255, 255, 255, 255, 255},
                                        {0, 225, 245, 5, 0, 0, 0, 0, '{', '"'}}; /* 100 MB */
    if (!sparse_tensors()) {
        printf("left out: files of 5 GB, which this disk does not take\n");
        remove(big);
        return;
    }
    safe(last_tensor, NULL, "the tensor behind 5 GB", 0);
    safe(refused_by_all, NULL, "a file of 5 GB under a cap", 0);
    for (int i = 0; i < (int)(sizeof heads / sizeof *heads); i++)
        if (sparse(heads[i], sizeof heads[i], NULL, 0))
            safe(refused_by_all, NULL, "5 GB without sense", i + 1);
    remove(big);
}

/* What is no file, or says that it has no bytes: an error, as any other. */
static int odd_files(void *arg) {
    static const char *const odd[] = {"/", "/dev/null", "/dev/zero", "/proc/self/maps", ""};
    tn_context *c = context_new(NULL, CAP);
    int result = 0;
    (void)arg;
    for (int i = 0; i < 5; i++) {
        tn_named_list l = tn_safetensors_load(odd[i]);
        if (l.n >= 0 || !tn_error_take(NULL)) result = 2 + i;
        if (tn_load_idx(odd[i]) || !tn_error_take(NULL)) result = 10 + i;
        tn_free(tn_load_bytes(odd[i])); /* of no bytes: a tensor of none */
        tn_error_take(NULL);
    }
    tn_context_free(c);
    return result;
}

/* --- files that shrink ------------------------------------------------------------------------ */

/* Before read number cut_at, the file is cut to cut_to. */
static int64_t reads, cut_at, cut_to;

static int64_t shrink_read(int fd, void *to, size_t bytes, void *user) {
    (void)user;
    if (++reads == cut_at) {
        pid_t pid = fork();
        if (pid == 0) _exit(truncate(path, (off_t)cut_to) != 0);
        waitpid(pid, NULL, 0);
    }
    return read(fd, to, bytes);
}

enum { SAFETENSORS, BACKWARD, CHECKPOINT, IDX, BYTES, KINDS };

/* Whether t holds what was saved: the weights of a model of the same seed. */
static bool as_saved(const world *w, const char *name, const tn_tensor *t) {
    const tn_tensor *own = tn_module_tensor(w->net, name);
    return t && own && tn_numel(t) == tn_numel(own) &&
           memcmp(tn_data(t), tn_data(own), (size_t)tn_numel(t) * 4) == 0;
}

/* Whether it could be loaded; *right: as it was saved. */
static bool load(int kind, world *w, bool *right) {
    bool ok = true;
    *right = true;
    if (kind == SAFETENSORS) {
        tn_named_list l = tn_safetensors_load(path);
        ok = l.n >= 0;
        for (int64_t i = 0; i < l.n; i++)
            *right = *right && as_saved(w, l.at[i].name, l.at[i].tensor);
        tn_named_free(l);
    } else if (kind == BACKWARD) { /* opens the file again for each tensor */
        tn_safetensors *f = tn_safetensors_open(path);
        for (int64_t i = tn_safetensors_count(f); i-- > 0 && ok;) {
            tn_tensor *t = tn_safetensors_get(f, tn_safetensors_name(f, i));
            ok = t != NULL;
            *right = *right && (!ok || as_saved(w, tn_safetensors_name(f, i), t));
            tn_free(t);
        }
        ok = ok && f;
        tn_safetensors_close(f);
    } else if (kind == CHECKPOINT) {
        double value = w->numbers[0].value;
        ok = tn_checkpoint_load(path, &w->state);
        *right = w->numbers[0].value == (ok ? 1 : value);
    } else {
        tn_tensor *t = kind == IDX ? tn_load_idx(path) : tn_load_bytes(path);
        ok = t != NULL;
        tn_free(t);
    }
    return ok;
}

/* arg: the kind. 0: fine; the number of reads when nothing is cut. */
static int shrinking(void *arg) {
    int kind = *(const int *)arg, result = 0;
    tn_files f;
    tn_context *c;
    world w;
    bool ok, right;
    int64_t tensors;
    memset(&f, 0, sizeof f);
    f.read = shrink_read;
    c = context_new(&f, 0);
    world_begin(&w, 4);
    if (kind == CHECKPOINT) w.numbers[0].value = 7;
    tensors = tn_memory().live_tensors;
    reads = 0;
    ok = load(kind, &w, &right);
    if (cut_at == 0) {
        result = ok ? (int)reads : 0;
    } else {
        if (ok == tn_error_take(NULL)) result = 2;
        if (!right) result = 3;
        if (tn_memory().live_tensors != tensors) result = 4;
    }
    world_end(&w);
    tn_context_free(c);
    return result;
}

static void make_file(int kind) {
    uint8_t idx[4 + 8 + 600] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 1, 44};
    tn_context *c = context_new(NULL, 0);
    world w;
    world_begin(&w, 4);
    if (kind == IDX || kind == BYTES)
        file_write(path, idx, sizeof idx);
    else if (kind == CHECKPOINT)
        check(tn_checkpoint_save(path, &w.state), "saving", kind);
    else
        check(tn_module_save_file(w.net, path), "saving", kind);
    world_end(&w);
    tn_context_free(c);
}

static void shrinking_files(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        size_t size;
        char *bytes;
        int status, all;
        make_file(kind);
        bytes = file_bytes(path, &size);
        cut_at = 0;
        status = in_child(shrinking, &kind);
        all = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        check(all > 0 && all < 250, "an undisturbed load", kind);
        for (cut_at = 1; bytes && cut_at <= all; cut_at++) {
            const int64_t lengths[] = {0, 7, (int64_t)size / 3, (int64_t)size / 2,
                                       (int64_t)size - 1};
            for (int i = 0; i < 5; i += getenv("TN_QUICK") ? 3 : 1) {
                cut_to = lengths[i];
                file_write(path, bytes, size);
                safe(shrinking, &kind, "a file that shrinks", kind * 100 + cut_at);
                cuts++;
            }
        }
        free(bytes);
    }
    remove(path);
}

/* --- what loading costs ----------------------------------------------------------------------- */

/* Bytes beyond the file that a load takes at most, for n tensors of `each` bytes. */
static int64_t beyond(int64_t n, int64_t each, int64_t *file, bool *ok) {
    tn_context *c = context_new(NULL, 0);
    tn_named *at = (tn_named *)calloc((size_t)n, sizeof *at);
    char(*names)[24] = (char(*)[24])malloc((size_t)n * sizeof *names);
    tn_named_list l;
    struct stat s;
    int64_t peak;
    TN_SCOPE {
        tn_tensor *t = tn_zeros(TN_DIMS(each), .dtype = TN_U8);
        for (int64_t i = 0; i < n; i++) {
            snprintf(names[i], sizeof names[i], "%lld", (long long)i);
            at[i].name = names[i], at[i].tensor = t;
        }
        *ok = tn_safetensors_save(path, at, n);
    }
    tn_memory_trim();
    disk_mark();
    l = tn_safetensors_load(path);
    peak = disk_peak();
    *ok = *ok && l.n == n && stat(path, &s) == 0;
    *file = *ok ? (int64_t)s.st_size : 0;
    tn_error_take(NULL);
    tn_named_free(l);
    free(at);
    free(names);
    tn_context_free(c);
    return peak - *file;
}

static void costs(void) {
    static const int64_t sizes[][2] = {{1, 0}, {1, 100}, {100, 40000}, {2, 20000000}, {1000, 1000}};
    int64_t file, most = 0, many;
    bool ok;
    tn_context *c;
    struct stat s;
    world w;
    for (int i = 0; i < 5; i++) {
        int64_t more = beyond(sizes[i][0], sizes[i][1], &file, &ok);
        check(ok && more <= MB, "loading takes more than the file and 1 MiB", i);
        if (more > most) most = more;
    }
    many = beyond(40000, 0, &file, &ok);
    check(ok, "loading 40,000 empty tensors", many);
    printf("promise 3: a load takes its file's size and at most %lld bytes\n", (long long)most);
    if (many > MB)
        printf("short 3: 40,000 tensors without data, a file of %lld bytes, take %lld bytes beyond "
               "it: a "
               "tensor is an object of some %lld bytes, and who asks for all has them all\n",
               (long long)file, (long long)many, (long long)(many / 40000));
    disk_cached = true;
    many = beyond(2, 17000000, &file, &ok);
    disk_cached = false;
    check(ok && many <= file / 8 + 2 * MB, "loading with the cache of blocks", many);
    if (many > MB)
        printf(
            "short 3: the cache of blocks, on by default, rounds large ones up to the next eighth "
            "of a power of two: a file of %lld bytes took %lld beyond it; exact with no_cache\n",
            (long long)file, (long long)many);
    c = context_new(NULL, 0);
    world_begin(&w, 100000);
    check(tn_checkpoint_save(path, &w.state) && stat(path, &s) == 0, "saving", 0);
    disk_mark();
    check(tn_checkpoint_load(path, &w.state), "loading a checkpoint", 0);
    check(disk_peak() <= s.st_size + MB, "a checkpoint takes more than the file and 1 MiB",
          disk_peak() * 100 / s.st_size);
    check(tn_module_save_file(w.net, path) && stat(path, &s) == 0, "saving", 1);
    disk_mark();
    check(tn_module_load_file(w.net, path), "loading a module", 0);
    check(disk_peak() <= s.st_size + MB, "a module takes more than the file and 1 MiB",
          disk_peak() * 100 / s.st_size);
    world_end(&w);
    tn_context_free(c);
    remove(path);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    snprintf(path, sizeof path, "%s/shrinks", folder);
    if (argc > 2) {
        snprintf(big, sizeof big, "%s/big-%ld", argv[2], (long)getpid());
        safe(odd_files, NULL, "what is no file", 0);
        shrinking_files();
        huge_files();
        printf("promise 6: sparse files of 5 GB read exactly or refused within 1 MiB, %lld cuts of "
               "files that are read: right or an error; %lld signals in %lld processes; files are "
               "read, not mapped\n",
               (long long)cuts, (long long)signals, (long long)cases);
    } else {
        costs();
    }
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
