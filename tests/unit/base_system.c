/* base_system.c - src/base where the system says no: threads, locks, clocks, keys, files,
 * memory that it does not give. The system's functions are stood in for by name. */
#include "base_stand_ins.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/time.h>
#include <time.h>
#include <wchar.h>

/* --- the system
 * -------------------------------------------------------------------------------- */

static struct {
    int mutex, condition, thread; /* the k-th call fails; 0: none */
    bool clock, mode;
    const char *status; /* what stands in /proc/self/status; "": there is no such file */
    long cores;         /* what sysconf says, when not 0 */
} fail;
static bool now(int *k) { return *k > 0 && --*k == 0; }
#define SYSTEM(name)        \
    __typeof__(name) *real; \
    *(void **)(void *)&real = dlsym(RTLD_NEXT, #name)

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    SYSTEM(pthread_mutex_init);
    return now(&fail.mutex) ? ENOMEM : real(m, a);
}
int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    SYSTEM(pthread_cond_init);
    return now(&fail.condition) ? ENOMEM : real(c, a);
}
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg) {
    SYSTEM(pthread_create);
    return now(&fail.thread) ? EAGAIN : real(t, a, run, arg);
}
int clock_gettime(clockid_t clock, struct timespec *t) {
    SYSTEM(clock_gettime);
    return fail.clock ? -1 : real(clock, t);
}
FILE *fopen(const char *path, const char *how) {
    SYSTEM(fopen);
    if (!fail.status || strcmp(path, "/proc/self/status")) return real(path, how);
    return *fail.status ? fmemopen((void *)(uintptr_t)fail.status, strlen(fail.status), "r") : NULL;
}
long sysconf(int name) {
    SYSTEM(sysconf);
    return fail.cores && name == _SC_NPROCESSORS_ONLN ? fail.cores : real(name);
}
int fchmod(int fd, mode_t mode) {
    SYSTEM(fchmod);
    return fail.mode ? (errno = EPERM, -1) : real(fd, mode);
}

/* --- threads
 * ----------------------------------------------------------------------------------- */

static void sums(tn_context *c) { /* a parallel call is right, whoever does it */
    int64_t sum = 0;
    tni_parallel(c, 1000, add_index, &sum);
    CHECK_EQ(sum, 500500);
}
static void work_is_done_without_threads(void) {
    for (int k = 0; k < 5; k++) {
        tn_context_options o;
        tn_context *c;
        memset(&o, 0, sizeof o);
        o.threads = 3;
        c = begin(&o);
        fail.mutex = k == 0, fail.condition = k == 1 ? 1 : k == 2 ? 2 : 0, fail.thread = k == 3;
        if (k == 4) fail.thread = 2;
        sums(c);
        CHECK(!fail.mutex && !fail.condition && !fail.thread);
        sums(c);
        CHECK(tn_set_threads(2));
        sums(c);
        CHECK(tn_set_threads(1024));
        end(c);
    }
}
static bool child_without_a_lock(void *arg) { /* its pool cannot be made anew */
    int64_t sum = 0;
    fail.mutex = 1;
    tni_parallel((tn_context *)arg, 100, add_index, &sum);
    if (sum != 5050 || fail.mutex) return false;
    tni_parallel((tn_context *)arg, 100, add_index, &sum); /* it is tried again */
    tn_context_free((tn_context *)arg);
    return sum == 10100;
}
static bool child_with_a_pool(void *arg) {
    int64_t sum = 0;
    tni_parallel((tn_context *)arg, 100, add_index, &sum);
    tni_parallel((tn_context *)arg, 100, add_index, &sum);
    tn_context_free((tn_context *)arg);
    return sum == 10100;
}
static bool child_that_frees(void *arg) {
    tn_context_free((tn_context *)arg);
    return true;
}
static void a_child_of_fork_works_and_frees(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.threads = 2;
    c = begin(&o);
    sums(c);
    in_child(child_without_a_lock, c);
    in_child(child_with_a_pool, c);
    in_child(child_that_frees, c);
    sums(c);
    end(c);
}
static void cores_are_counted_by_what_there_is(void) {
    CHECK(tni_cores() >= 1);
    fail.status = "", fail.cores = 7;
    CHECK_EQ(tni_cores(), 7);
    fail.cores = -1;
    CHECK_EQ(tni_cores(), 1);
    fail.cores = 5000;
    CHECK_EQ(tni_cores(), 1024);
    fail.status = "Name:\tx\n", fail.cores = 3;
    CHECK_EQ(tni_cores(), 3);
    fail.status = "Name:\tx\nCpus_allowed:\t7f,0000000a\nMems:\t1\n";
    CHECK_EQ(tni_cores(), 9);
    fail.status = "Cpus_allowed:\t0123456789abcdef,/:`gA\nCpus_allowed:\tf\n";
    CHECK_EQ(tni_cores(), 32); /* the first such line */
    fail.status = "Cpus_allowed:\t10\n";
    CHECK_EQ(tni_cores(), 1);
    fail.status = "Cpus_allowed:\t0\n";
    CHECK_EQ(tni_cores(), 3);
    for (long n = 1023; n < 1026; n++) {
        fail.cores = n;
        CHECK_EQ(tni_cores(), n < 1024 ? n : 1024);
    }
    for (long n = 1; n < 3; n++) {
        fail.cores = n;
        CHECK_EQ(tni_cores(), n);
    }
    fail.status = NULL, fail.cores = 0;
}
static void serial_jobs(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    (void)user;
    for (int64_t i = 0; i < count; i++) task(arg, i);
}
static void numbers_of_threads_have_bounds(void) {
    tn_context_options o;
    tn_context *c;
    tn_error_info e;
    memset(&o, 0, sizeof o);
    o.jobs.run = serial_jobs, o.jobs.threads = -2;
    c = begin(&o);
    CHECK_EQ(tn_threads(), 1);
    CHECK(!tn_set_threads(1025) && tn_error_take(&e) && e.code == TN_INVALID);
    CHECK_TEXT(e.message, "tn_set_threads: expected 1 to 1024 threads, got 1025");
    CHECK(tn_set_threads(4) && tn_threads() == 4);
    sums(c);
    end(c);
}
static void the_lock_of_a_thread_that_is_not_here_is_taken_over(void) {
    uint32_t word = tni_process() + 1; /* a parent's number */
    tn_context *c;
    tn_memory_stats before, after;
    counted a;
    tn_context_options o = counted_options(&a);
    void *large;
    CHECK(tni_lock_repair(&word) && word == tni_process());
    tni_unlock(&word);
    CHECK(!tni_lock_repair(&word) && !tni_lock_try(&word));
    word = tni_process() + 1;
    CHECK(tni_lock_try(&word) && word == tni_process());
    c = begin(&o);
    large = tni_need(tni_here(), 100000);
    tni_put(tni_here(), tni_here(), tni_need(tni_here(), 50000), 50000); /* is kept for reuse */
    before = tn_memory();
    *(uint32_t *)(void *)c->large = tni_process() + 1; /* its first member is the lock */
    c->used += 17, c->cached += 17;                    /* half way through a change */
    after = tn_memory();
    CHECK(after.bytes_used == before.bytes_used && after.bytes_cached == before.bytes_cached);
    CHECK(before.bytes_cached >= 50000);
    tni_put(tni_here(), tni_here(), large, 100000);
    end(c);
    counted_check(&a);
}

/* --- contexts
 * ---------------------------------------------------------------------------------- */

static void *attach(void *arg) {
    tn_context_use((tn_context *)arg);
    return tn_context_current() == (tn_context *)arg ? arg : NULL;
}
static void contexts_live_without_a_key(void) {
    pthread_key_t keys[2000];
    int n = 0;
    pthread_t t;
    void *was = NULL;
    tn_context *c;
    tn_context_free(NULL); /* none lives: the next one makes a key */
    while (n < 2000 && pthread_key_create(&keys[n], NULL) == 0) n++;
    c = begin(NULL);
    CHECK(tn_context_current() == c);
    if (CHECK(pthread_create(&t, NULL, attach, c) == 0)) pthread_join(t, &was);
    CHECK(was == c);
    end(c);
    while (n > 0) pthread_key_delete(keys[--n]);
}
static void leave_c(tn_context *c) { (void)c, leave_say('c'); }
static void leave_d(tn_context *c) { (void)c, leave_say('d'); }
static void leave_e(tn_context *c) { (void)c, leave_say('e'); }
static void they_are_called_once_at_the_end_newest_first(void) {
    tn_context *c = begin(NULL);
    tni_context_at_end(c, leave_c), tni_context_at_end(c, leave_d);
    tni_context_at_end(c, leave_c), tni_context_at_end(c, leave_e);
    leave_calls = 0;
    end(c);
    CHECK(leave_calls == 5 && !memcmp(leave_order, "edcba", 5));
}
static void an_instruction_set_that_is_none_is_refused(void) {
    tn_error_info e;
    tn_context *c = begin(NULL);
    setenv("TN_ISA", "abacus", 1);
    CHECK(!tn_context_new(NULL) && tn_error_take(&e) && e.code == TN_UNSUPPORTED);
    CHECK(strstr(e.message, "TN_ISA: this CPU cannot run that instruction set") != NULL);
    end(c);
    tn_context_free(NULL); /* no default context, and none can be made */
    CHECK(!tn_context_new(NULL) && !tn_context_current() && !tn_ok());
    CHECK(tn_error_peek(&e) && e.code == TN_UNSUPPORTED && strstr(e.message, "TN_ISA"));
    tn_cancel(NULL), tn_cancel_clear(NULL);
    CHECK(!tn_error_set(TN_INVALID, NULL, 0, "x") && !tn_set_threads(2));
    unsetenv("TN_ISA");
    CHECK(tn_context_current() && tn_ok());
    CHECK_TEXT(tni_isa_name(-1), "none");
    CHECK_TEXT(tni_isa_name(99), "none");
}
/* --- memory
 * ------------------------------------------------------------------------------------ */

static void sizes_beyond_memory_are_refused(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_error_info e;
    int64_t r;
    CHECK(!tni_get(b, 0) && !tni_get(b, -5000) && !tni_get(b, INT64_MAX) &&
          !tni_raw_get(c, INT64_MAX));
    CHECK(!tni_get_apart(c, INT64_MAX));
    CHECK(!tn_alloc(SIZE_MAX) && tn_error_take(&e) && e.code == TN_MEMORY);
    CHECK(!tn_alloc(SIZE_MAX / 2 + 1) && tn_error_take(&e) && e.code == TN_MEMORY);
    CHECK(!tni_bytes(4, -1, &r) && !tni_bytes((int64_t)1 << 61, 2, &r) && !tni_bytes(-1, 1, &r));
    tn_alloc_free(NULL, 8);
    end(c);
}
static char arena[1 << 20];
static size_t arena_at;
static void *arena_alloc(size_t bytes, void *user) {
    size_t from = (arena_at + 15) / 16 * 16;
    (void)user;
    return from + bytes > sizeof arena ? NULL : (arena_at = from + bytes, arena + from);
}
static void an_arena_needs_no_free(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = arena_alloc, o.threads = -1;
    c = begin(&o);
    void *at = tn_alloc(1000);
    CHECK((char *)at >= arena && (char *)at < arena + sizeof arena);
    tn_alloc_free(at, 1000);
    end(c);
    CHECK(arena_at > 1000);
}

static void a_new_context_at_an_old_ones_place_is_another(void) {
    tn_context_options o;
    tn_context *c, *same;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = arena_alloc, o.threads = -1;
    arena_at = 0;
    c = begin(&o);
    CHECK(tn_context_current() == c);
    tn_context_free(c); /* and stays the chosen one */
    arena_at = 0;
    same = tn_context_new(&o);
    CHECK(same == c && tn_context_current() != c);
    tn_context_free(same);
    tn_context_use(NULL);
}

/* --- errors, texts, time
 * ------------------------------------------------------------------------ */

static int told;
static void tell(const tn_error_info *e, void *user) { (void)e, (void)user, told++; }
static void *leaves_an_error(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_error(tni_here(), TN_INDEX, "left behind"); /* not told: no public call has ended */
    return NULL;
}
static void *leaves_a_told_error(void *arg) {
    tn_context_use((tn_context *)arg);
    tn_error_set(TN_INDEX, NULL, 0, "told and left");
    return NULL;
}
static void *comes_after(void *arg) {
    tn_context_use((tn_context *)arg);
    return tn_ok() ? arg : NULL;
}
static void errors_of_threads_that_end_are_told_once(void) {
    for (int k = 0; k < 3; k++) {
        tn_context *c = begin(NULL);
        if (k < 2) tn_set_error_handler(tell, NULL);
        told = 0;
        in_thread(k == 1 ? leaves_a_told_error : leaves_an_error, c);
        in_thread(comes_after, c);
        CHECK_EQ(told, k < 2);
        end(c);
    }
}
static void errors_need_no_block_and_no_text(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_error_info e;
    static const wchar_t odd[] = {0x20ac, 0};
    tni_error(NULL, TN_INDEX, "x"), tni_error_apart(NULL, TN_INDEX, "x");
    tni_error_more(NULL, "x"), tni_error_tell(NULL);
    CHECK(tn_ok() && !tni_error(b, TN_OK, "no code") && tn_error_take(&e));
    CHECK_EQ(e.code, TN_INTERNAL);
    tni_error(b, TN_INDEX, "%ls", odd); /* cannot be written in this locale */
    CHECK(tn_error_peek(&e) && e.code == TN_INDEX && !*e.message);
    tni_error_more(b, "then %ls", odd);
    CHECK(tn_error_take(&e) && !*e.message);
    CHECK(!tn_error_print());
    end(c);
}
static void errors_are_printed_with_their_place(void) {
    char text[200] = "", name[64];
    int kept, file;
    size_t n;
    FILE *f;
    snprintf(name, sizeof name, "/tmp/tn_base_%ld", (long)getpid());
    fflush(stderr);
    kept = dup(2), file = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    dup2(file, 2);
    tn_error_set(TN_INDEX, "here.c", 7, "one");
    CHECK(tn_error_print());
    tn_error_set(TN_INVALID, NULL, 0, "two");
    CHECK(tn_error_print() && !tn_error_print());
    fflush(stderr);
    dup2(kept, 2);
    close(kept), close(file);
    f = fopen(name, "r");
    n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    remove(name);
    CHECK_TEXT(text, "here.c:7: index out of range: one\ninvalid argument: two\n");
}
static void utf8_is_rfc_3629s(void) {
    static const struct {
        const char *text;
        int n;
    } cases[] = {{"", 1},
                 {"a", 1},
                 {"\xc2\xa9", 2},
                 {"\xc1\xa9", 0},
                 {"\xc2", 0},
                 {"\xe2\x82\xac", 3},
                 {"\xe0\x9f\xbf", 0},
                 {"\xe0\xa0\x80", 3},
                 {"\xed\x9f\xbf", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf0\x90\x80\x80", 4},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf1\x80\x80\x80", 4},
                 {"\xf5\x80\x80\x80", 0},
                 {"\x80", 0},
                 {"\xee\x80\x80", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ(tni_utf8(cases[i].text), cases[i].n);
}
/* Of any four bytes, by the number that they decode to. */
static int utf8_of(const unsigned char *s) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = s[0] < 0x80           ? 1
            : (s[0] >> 5) == 6    ? 2
            : (s[0] >> 4) == 0xe  ? 3
            : (s[0] >> 3) == 0x1e ? 4
                                  : 0;
    uint32_t u = n < 2 ? s[0] : s[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if (s[i] >> 6 != 2) return 0;
        u = u << 6 | (s[i] & 63u);
    }
    return u < least[n] || u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ? 0 : n;
}
static void utf8_is_what_decodes(void) {
    static const unsigned char some[] = {0,    0x41, 0x7f, 0x80, 0x8f, 0x90,
                                         0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    enum { SOME = sizeof some };
    unsigned char s[5] = {0, 0, 0, 0, 0};
    int wrong = 0;
    for (int k = 0; k < 65536; k++)
        for (int l = 0; l < SOME * SOME; l++) {
            s[0] = (unsigned char)(k >> 8), s[1] = (unsigned char)k;
            s[2] = some[l / SOME], s[3] = some[l % SOME];
            wrong += tni_utf8((const char *)s) != utf8_of(s);
        }
    CHECK_EQ(wrong, 0);
}
static void there_is_a_second_clock(void) {
    tn_context *c = begin(NULL);
    double a = tni_now(c), b;
    fail.clock = true;
    b = tni_now(c);
    fail.clock = false;
    CHECK(a >= 0 && b > 1e9); /* since 1970 */
    for (int i = 0; i < 100; i++) {
        struct timeval before, after;
        gettimeofday(&before, NULL);
        fail.clock = true;
        b = tni_now(c);
        fail.clock = false;
        gettimeofday(&after, NULL);
        CHECK((double)before.tv_sec + 1e-6 * (double)before.tv_usec <= b);
        CHECK((double)after.tv_sec + 1e-6 * (double)after.tv_usec >= b);
    }
    end(c);
}

/* --- profiles
 * ---------------------------------------------------------------------------------- */

static double strange(void *user) { return *(double *)user; }
static void odd_events_are_written_as_json(void) {
    static char longer[3000], text[12000];
    tn_context_options o;
    double clock = 1;
    tn_context *c;
    char name[64];
    size_t n;
    FILE *f;
    memset(&o, 0, sizeof o);
    memset(longer, '\\', sizeof longer - 1);
    o.clock = strange, o.clock_user = &clock;
    c = begin(&o);
    snprintf(name, sizeof name, "/tmp/tn_profile_%ld", (long)getpid());
    tni_profile_add(tni_here(), "before", "f.c", 1, "x", 1, 2);
    CHECK(tn_profile_begin());
    tni_profile_add(tni_here(), NULL, NULL, 0, NULL, 1, 2);
    tni_profile_add(tni_here(), "odd\"\\\n\x7f\xff", "f.c", -3, "y", 0.5, 1e300);
    tni_profile_add(tni_here(), longer, longer, 1, longer, 2, 3);
    CHECK(!tn_profile_end("/no/such/folder/x") && tn_error_take(NULL));
    tni_profile_add(tni_here(), "after", "f.c", 1, "x", 1, 2);
    CHECK(tn_profile_end(name) && !tn_profile_end(name) && tn_error_take(NULL));
    f = fopen(name, "r");
    n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    remove(name);
    CHECK(strstr(text, "{\"name\":\"\",\"cat\"") && strstr(text, "\"at\":\"\"}}"));
    CHECK(strstr(text, "odd\\\"\\\\\\u000a\\u007f\\ufffd") && strstr(text, "\"at\":\"f.c:0\""));
    CHECK(strstr(text, "\"ts\":0.000,\"dur\":0.000") && !strstr(text, "before"));
    CHECK(!strstr(text, "after") && text[n - 2] == '}' && text[n - 3] == ']');
    end(c);
}

/* --- files
 * ------------------------------------------------------------------------------------- */

static int file_mode; /* what goes wrong */
static int bad_open(const char *path, int flags, int mode, void *user) {
    (void)user;
    return file_mode == 0 && flags & O_CREAT ? (errno = EEXIST, -1) : open(path, flags, mode);
}
static int64_t bad_read(int fd, void *to, size_t n, void *user) {
    (void)user;
    if (file_mode == 1) return errno = 0, -1;
    return file_mode == 2 ? (int64_t)n + 1 : read(fd, to, n);
}
static int64_t bad_write(int fd, const void *from, size_t n, void *user) {
    (void)user;
    return file_mode == 3 ? 0 : file_mode == 4 ? (int64_t)n + 1 : write(fd, from, n);
}
static int64_t bad_size(int fd, void *user) {
    struct stat s;
    (void)user;
    return file_mode == 5 || fstat(fd, &s) != 0 ? -1 : (int64_t)s.st_size;
}
static int bad_close(int fd, void *user) {
    int result = close(fd);
    (void)user;
    return file_mode == 6 ? (errno = EIO, -1) : result;
}
static char path[64];
static bool try_file(bool write) {
    tni_file f;
    char room[4];
    bool ok = write ? tni_file_create(tni_here(), &f, path) : tni_file_open(tni_here(), &f, path);
    if (ok) ok = write ? tni_file_write(&f, "abcd", 4) : tni_file_read(&f, room, 4);
    if (ok && write) ok = tni_file_commit(&f);
    if (ok) tni_file_close(&f);
    return ok;
}
static void files_that_fail_name_the_step(void) {
    static const struct {
        bool write;
        const char *text;
    } cases[] = {{true, "cannot create"}, {false, "cannot read"}, {false, "cannot read"},
                 {true, "No space left"}, {true, "cannot write"}, {false, "cannot find the size"},
                 {true, "cannot close"}};
    tn_context_options o;
    tn_error_info e;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.files.open = bad_open, o.files.read = bad_read, o.files.write = bad_write;
    o.files.size = bad_size, o.files.close = bad_close;
    snprintf(path, sizeof path, "/tmp/tn_file_%ld", (long)getpid());
    file_mode = -1;
    c = begin(&o);
    CHECK(try_file(true) && try_file(false));
    for (file_mode = 0; file_mode < 7; file_mode++) {
        CHECK(!try_file(cases[file_mode].write) && tn_error_take(&e) && e.code == TN_FILE);
        if (!CHECK(strstr(e.message, cases[file_mode].text) && strstr(e.message, path)))
            printf("    %s\n", e.message);
    }
    file_mode = -1;
    CHECK(try_file(false)); /* as it was */
    end(c);
    c = begin(NULL);
    CHECK(c->options.files.size(-1, NULL) == -1);
    fail.mode = true;
    CHECK(!try_file(true) && tn_error_take(&e) && strstr(e.message, "cannot set the mode of"));
    fail.mode = false;
    tn_cancel(NULL);
    CHECK(!try_file(false) && tn_error_take(&e) && e.code == TN_CANCELLED);
    tn_cancel_clear(NULL);
    end(c);
    remove(path);
}
static int writes_left; /* until one fails; -1: none does */
static int64_t some_write(int fd, const void *from, size_t n, void *user) {
    (void)user;
    return writes_left-- == 0 ? (errno = ENOSPC, -1) : write(fd, from, n);
}
static void a_profile_that_is_not_written_whole_is_kept(void) {
    static char text[900];
    tn_context_options o;
    tn_context *c;
    struct stat s;
    memset(&o, 0, sizeof o);
    memset(text, 'x', sizeof text - 1);
    o.files.write = some_write;
    c = begin(&o);
    CHECK(tn_profile_begin());
    for (int i = 0; i < 300; i++) tni_profile_add(tni_here(), "event", "f.c", 1, text, 1, 2);
    for (int k = 0; k < 3; k++) { /* its beginning, its events, its end */
        writes_left = k;
        CHECK(!tn_profile_end(path) && tn_error_take(NULL) && stat(path, &s) != 0);
    }
    writes_left = -1;
    CHECK(tn_profile_end(path) && stat(path, &s) == 0 && s.st_size > 300 * 900);
    remove(path);
    end(c);
}
static void a_pipe_that_does_not_close_is_told(void) {
    tn_context_options o;
    tn_error_info e;
    tn_context *c;
    tni_file f;
    int reader;
    memset(&o, 0, sizeof o);
    o.files.close = bad_close;
    c = begin(&o);
    CHECK(mkfifo(path, 0600) == 0);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    file_mode = 6;
    CHECK(tni_file_create(tni_here(), &f, path) && !tni_file_commit(&f) && tn_error_take(&e));
    CHECK(strstr(e.message, "cannot close") != NULL);
    file_mode = -1;
    close(reader);
    remove(path);
    end(c);
}
static void long_files_go_in_pieces(void) {
    static const int64_t bytes = 40 << 20;
    char *data = (char *)calloc(1, (size_t)bytes), *back = (char *)malloc((size_t)bytes);
    tn_context *c = begin(NULL);
    tni_file f;
    bool exists = true;
    data[bytes - 1] = 7, back[bytes - 1] = 0;
    CHECK(tni_file_create(tni_here(), &f, path) && tni_file_write(&f, data, bytes));
    CHECK(tni_file_commit(&f) && tni_file_open(tni_here(), &f, path) && f.size == bytes);
    CHECK(tni_file_read(&f, back, bytes) && back[bytes - 1] == 7);
    tni_file_close(&f);
    CHECK(!tni_file_read(&f, back, 1) && tn_error_take(NULL));
    CHECK(!tni_file_exists(tni_here(), "", &exists) && !exists && tn_error_take(NULL));
    remove(path);
    free(data), free(back);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(work_is_done_without_threads),
        CHECK_TEST(a_child_of_fork_works_and_frees),
        CHECK_TEST(cores_are_counted_by_what_there_is),
        CHECK_TEST(numbers_of_threads_have_bounds),
        CHECK_TEST(the_lock_of_a_thread_that_is_not_here_is_taken_over),
        CHECK_TEST(contexts_live_without_a_key),
        CHECK_TEST(they_are_called_once_at_the_end_newest_first),
        CHECK_TEST(an_instruction_set_that_is_none_is_refused),
        CHECK_TEST(sizes_beyond_memory_are_refused),
        CHECK_TEST(an_arena_needs_no_free),
        CHECK_TEST(a_new_context_at_an_old_ones_place_is_another),
        CHECK_TEST(errors_of_threads_that_end_are_told_once),
        CHECK_TEST(errors_need_no_block_and_no_text),
        CHECK_TEST(errors_are_printed_with_their_place),
        CHECK_TEST(utf8_is_rfc_3629s),
        CHECK_TEST(utf8_is_what_decodes),
        CHECK_TEST(there_is_a_second_clock),
        CHECK_TEST(odd_events_are_written_as_json),
        CHECK_TEST(files_that_fail_name_the_step),
        CHECK_TEST(a_profile_that_is_not_written_whole_is_kept),
        CHECK_TEST(a_pipe_that_does_not_close_is_told),
        CHECK_TEST(long_files_go_in_pieces),
    };
    return CHECK_MAIN(tests, argc, argv);
}
