/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void fuzz_broken(const char *what, const char *condition) {
    tn_error_info e;
    fprintf(stderr, "%s: %s: %s\n", fuzz_this.name, what, condition);
    if (tn_error_peek(&e)) fprintf(stderr, "pending: %s: %s\n", tn_code_name(e.code), e.message);
    abort();
}

tn_code fuzz_error(void) {
    tn_error_info e = {TN_OK, NULL, NULL, 0};
    MUST(tn_error_take(&e), "refused without an error");
    MUST(e.code != TN_OK && e.code != TN_INTERNAL && e.message && *e.message, "no good error");
    return e.code;
}

/* --- memory ----------------------------------------------------------------------------------- */

static int64_t live, peak;

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

int64_t fuzz_mark(void) { return peak = live; }
void fuzz_within(int64_t mark, size_t file_bytes) {
    MUST(peak - mark <= (int64_t)file_bytes + (1 << 20), "memory beyond the file and 1 MiB");
}

/* --- files ------------------------------------------------------------------------------------ */

enum { FILES = 8, HANDLES = 8, FOLDER = 1000 };

static struct file {
    char name[64]; /* empty: free */
    uint8_t *data;
    size_t size, room;
} files[FILES];
static struct handle {
    struct file *file; /* NULL: free */
    size_t at;
} handles[HANDLES];

static struct file *file_find(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (strcmp(files[i].name, name) == 0) return &files[i];
    return NULL;
}

static struct file *file_make(const char *name) {
    struct file *f = file_find(name);
    if (!f) f = file_find("");
    MUST(f, "the test has too few files");
    snprintf(f->name, sizeof f->name, "%s", name);
    f->size = 0;
    return f;
}

static void file_write(struct file *f, size_t at, const void *from, size_t bytes) {
    if (at + bytes > f->room) {
        f->room = 2 * (at + bytes);
        f->data = (uint8_t *)realloc(f->data, f->room);
        MUST(f->data, "the test has no memory");
    }
    if (bytes) memcpy(f->data + at, from, bytes);
    if (at + bytes > f->size) f->size = at + bytes;
}

static int memory_open(const char *path, int flags, int mode, void *user) {
    struct file *f = file_find(path);
    int h = 0;
    (void)mode, (void)user;
    if (strcmp(path, ".") == 0) return FOLDER;
    if (!f && !(flags & O_CREAT)) return errno = ENOENT, -1;
    if (f && flags & O_EXCL) return errno = EEXIST, -1;
    if (!f) f = file_make(path);
    while (h < HANDLES && handles[h].file) h++;
    MUST(h < HANDLES, "files are left open");
    handles[h].file = f;
    handles[h].at = 0;
    return h;
}
static int64_t memory_read(int fd, void *to, size_t bytes, void *user) {
    struct handle *h = &handles[fd];
    size_t left = h->file->size - h->at, n = bytes < left ? bytes : left;
    (void)user;
    if (n) memcpy(to, h->file->data + h->at, n);
    h->at += n;
    return (int64_t)n;
}
static int64_t memory_write(int fd, const void *from, size_t bytes, void *user) {
    struct handle *h = &handles[fd];
    (void)user;
    file_write(h->file, h->at, from, bytes);
    h->at += bytes;
    return (int64_t)bytes;
}
static int64_t memory_size(int fd, void *user) {
    return (void)user, (int64_t)handles[fd].file->size;
}
static int memory_sync(int fd, void *user) { return (void)fd, (void)user, 0; }
static int memory_close(int fd, void *user) {
    (void)user;
    if (fd != FOLDER) handles[fd].file = NULL;
    return 0;
}
static int memory_rename(const char *from, const char *to, void *user) {
    struct file *f = file_find(from), *old = file_find(to);
    (void)user;
    if (!f) return errno = ENOENT, -1;
    if (old) old->name[0] = 0;
    snprintf(f->name, sizeof f->name, "%s", to);
    return 0;
}
static int memory_remove(const char *path, void *user) {
    struct file *f = file_find(path);
    (void)user;
    if (!f) return errno = ENOENT, -1;
    f->name[0] = 0;
    return 0;
}

void fuzz_put(const char *name, const void *data, size_t size) {
    file_write(file_make(name), 0, data, size);
}
const uint8_t *fuzz_get(const char *name, size_t *size) {
    struct file *f = file_find(name);
    MUST(f, "a file that was saved is not there");
    *size = f->size;
    return f->data;
}
bool fuzz_same_files(const char *a, const char *b) {
    size_t n, m;
    const uint8_t *x = fuzz_get(a, &n), *y = fuzz_get(b, &m);
    return n == m && (!n || memcmp(x, y, n) == 0);
}

static int files_open_now(void) {
    int n = 0;
    for (int i = 0; i < HANDLES; i++) n += handles[i].file != NULL;
    return n;
}

/* --- contexts --------------------------------------------------------------------------------- */

static tn_context *context_new(int64_t memory_cap) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.memory_cap = memory_cap;
    o.allocator.alloc = counting_alloc, o.allocator.free = counting_free;
    o.files.open = memory_open, o.files.read = memory_read, o.files.write = memory_write;
    o.files.size = memory_size, o.files.sync = memory_sync, o.files.close = memory_close;
    o.files.rename = memory_rename, o.files.remove = memory_remove;
    c = tn_context_new(&o);
    MUST(c, "no context");
    return c;
}

tn_context *fuzz_enter(int64_t memory_cap) {
    tn_context *c = context_new(memory_cap);
    tn_context_use(c);
    return c;
}
void fuzz_leave(tn_context *context) {
    MUST(tn_ok(), "an error is left");
    MUST(tn_memory().live_tensors == 0, "tensors are left");
    tn_context_use(NULL);
    tn_context_free(context);
}

/* --- texts ------------------------------------------------------------------------------------ */

void fuzz_lines(const uint8_t *data, size_t size, char **line, int n) {
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        size_t end = at;
        while (end < size && data[end] && (data[end] != '\n' || i + 1 == n)) end++;
        line[i] = (char *)malloc(end - at + 1);
        MUST(line[i], "the test has no memory");
        if (end > at) memcpy(line[i], data + at, end - at);
        line[i][end - at] = 0;
        at = end < size && data[end] ? end + 1 : size;
    }
}
void fuzz_lines_free(char **line, int n) {
    for (int i = 0; i < n; i++) free(line[i]);
}

/* --- one input -------------------------------------------------------------------------------- */

static bool judge(const uint8_t *data, size_t size) {
    int64_t bytes = live, tensors = tn_memory().live_tensors;
    bool valid = fuzz_this.one(data, size);
    MUST(tn_ok(), "an error is left");
    MUST(live == bytes, "memory is left");
    MUST(tn_memory().live_tensors == tensors, "tensors are left");
    MUST(files_open_now() == 0, "files are left open");
    return valid;
}

static void begin(void) {
    static const uint8_t nothing[1];
    tn_context_use(context_new(0));
    if (fuzz_this.begin) fuzz_this.begin();
    fuzz_this.one(nothing, 0); /* what is made at first need */
}

static uint64_t random_state;
void fuzz_seed(unsigned seed) { random_state = seed; }
int fuzz_below(int n) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)(n < 1 ? 1 : n));
}

#ifndef FUZZ_REPLAY
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    begin();
    return 0;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    judge(data, size);
    return 0;
}
#else
/* A file is "valid-<what>", "refused-<what>", or found by the fuzzer. */
static bool replay(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, n = 1;
    bool valid;
    fprintf(stderr, "%s: ", path);
    while (f && n) {
        data = (uint8_t *)realloc(data, size + 65536);
        n = data ? fread(data + size, 1, 65536, f) : 0;
        size += n;
    }
    if (!f || !data) return fprintf(stderr, "cannot be read\n"), false;
    fclose(f);
    data = (uint8_t *)realloc(data, size ? size : 1); /* so that reading behind it is seen */
    valid = judge(data, size);
    free(data);
    fprintf(stderr, "%s\n", valid ? "valid" : "refused");
    return !(strncmp(name, "valid-", 6) == 0 && !valid) &&
           !(strncmp(name, "refused-", 8) == 0 && valid);
}

int main(int argc, char **argv) {
    int failed = 0;
    begin();
    for (int i = 1; i < argc; i++)
        if (!replay(argv[i])) printf("%s: the wrong verdict\n", argv[i]), failed++;
    for (int i = 0; i < FILES; i++) free(files[i].data);
    printf("%d passed, %d failed\n", argc - 1 - failed, failed);
    return failed != 0;
}
#endif
