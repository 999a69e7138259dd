/* base_files.c - promises of src/base: files are the old or the new one, clock, profiler. */
#include "base_stand_ins.h"

#include <fcntl.h>

/* --- files ------------------------------------------------------------------------------------ */

static char folder[200];
static const char *in_folder(const char *name) {
    static char path[4][400];
    static int at;
    char *p = path[at++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}
static int files_in_folder(void) {
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
static void folder_begin(void) {
    snprintf(folder, sizeof folder, "/tmp/tn_base_XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}
static void folder_end(void) {
    CHECK_EQ(files_in_folder(), 0);
    rmdir(folder);
}
static bool save(const char *path, const char *text) {
    tni_file f;
    if (!tni_file_create(tni_here(), &f, path)) return false;
    int64_t half = (int64_t)strlen(text) / 2;
    bool ok = tni_file_write(&f, text, half) &&
              tni_file_write(&f, text + half, (int64_t)strlen(text) - half) && tni_file_commit(&f);
    tni_file_close(&f);
    return ok;
}
static bool load(const char *path, char *text, int64_t room) {
    tni_file f;
    if (!tni_file_open(tni_here(), &f, path)) return false;
    bool ok = f.size < room && tni_file_read(&f, text, f.size);
    if (ok) text[f.size] = 0;
    tni_file_close(&f);
    return ok;
}

static void files_are_written_and_read_back(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    char text[100];
    folder_begin();
    const char *path = in_folder("a");
    CHECK(save(path, "hello, world") && load(path, text, 100));
    CHECK_TEXT(text, "hello, world");
    chmod(path, 0640);
    mode_t mask = umask(0077);
    struct stat s;
    CHECK(save(path, "second") && load(path, text, 100) && stat(path, &s) == 0);
    umask(mask);
    CHECK_TEXT(text, "second");
    CHECK_EQ(s.st_mode & 07777, 0640); /* kept */
    CHECK_EQ(files_in_folder(), 1);
    CHECK(save(path, "") && load(path, text, 100) && !*text);
    char before[1000];
    if (getcwd(before, sizeof before) && chdir(folder) == 0) {
        CHECK(save("relative", "x") && load("relative", text, 100));
        remove("relative");
        CHECK(chdir(before) == 0);
    }
    remove(path);
    folder_end();
    end(c);
    counted_check(&a);
}

static void the_mode_of_what_is_replaced_stays(void) {
    static const mode_t modes[] = {0777, 0601, 0446, 0200, 0};
    tn_context *c = begin(NULL);
    struct stat s;
    folder_begin();
    const char *path = in_folder("a");
    mode_t mask = umask(0026);
    CHECK(save(path, "new") && stat(path, &s) == 0);
    CHECK_EQ(s.st_mode & 07777, 0640);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(chmod(path, modes[i]) == 0 && save(path, "again") && stat(path, &s) == 0);
        CHECK_EQ(s.st_mode & 07777, modes[i]);
    }
    umask(mask);
    remove(path);
    folder_end();
    end(c);
}

static void an_abandoned_file_leaves_nothing(void) {
    tn_context *c = begin(NULL);
    folder_begin();
    tni_file f;
    CHECK(tni_file_create(tni_here(), &f, in_folder("a")) && tni_file_write(&f, "xyz", 3));
    CHECK_EQ(files_in_folder(), 1);
    tni_file_close(&f);
    tni_file_close(&f);
    CHECK(!tni_file_write(&f, "x", 1) && tn_error_take(NULL) && !tni_file_commit(&f) &&
          tn_error_take(NULL));
    folder_end();
    end(c);
}

static void file_errors_name_path_and_reason(void) {
    tn_context *c = begin(NULL);
    tn_error_info e;
    char text[100];
    tni_file f;
    folder_begin();
    CHECK(!load(in_folder("none"), text, 100) && tn_error_take(&e) && e.code == TN_FILE);
    CHECK(strstr(e.message, "none'") && strstr(e.message, "No such file"));
    CHECK(!save(in_folder("no/such/folder"), "x") && tn_error_take(&e) &&
          strstr(e.message, "No such file"));
    CHECK(!save(folder, "x") && tn_error_take(&e) && e.code == TN_FILE);
    CHECK(!save("", "x") && tn_error_take(&e) && e.code == TN_FILE);
    CHECK(!load(NULL, text, 100) && tn_error_take(&e) && e.code == TN_FILE);
    CHECK(tni_file_open(tni_here(), &f, folder) && !tni_file_read(&f, text, 1) &&
          tn_error_take(&e));
    CHECK(save(in_folder("short"), "123") && tni_file_open(tni_here(), &f, in_folder("short")));
    CHECK(tni_file_read(&f, text, 2) && !tni_file_read(&f, text, 2) && tn_error_take(&e));
    CHECK(strstr(e.message, "ends after 3 bytes, expected 4"));
    tn_cancel(c);
    CHECK(!save(in_folder("short"), "456") && tn_error_take(&e) && e.code == TN_CANCELLED);
    tn_cancel_clear(c);
    CHECK(load(in_folder("short"), text, 100) && strcmp(text, "123") == 0);
    remove(in_folder("short"));
    folder_end();
    end(c);
}

static void a_pipe_is_written_not_replaced(void) {
    tn_context *c = begin(NULL);
    folder_begin();
    const char *path = in_folder("pipe");
    CHECK(mkfifo(path, 0600) == 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct stat s;
    char text[10] = "";
    CHECK(save(path, "abc") && stat(path, &s) == 0 && S_ISFIFO(s.st_mode));
    CHECK(read(reader, text, 9) == 3 && strcmp(text, "abc") == 0);
    close(reader);
    remove(path);
    folder_end();
    end(c);
}

/* The system's files, but call number `at` fails with `number` (0: moves one byte at most). */
typedef struct faulty {
    int calls, at, number;
    bool hit;
    char trace[32]; /* a letter each call */
    tn_files system;
} faulty;
static bool faulty_now(faulty *f, char name) {
    if (f->calls < 31) f->trace[f->calls] = name;
    if (++f->calls != f->at) return false;
    f->hit = true;
    errno = f->number;
    return true;
}
static int faulty_open(const char *path, int flags, int mode, void *user) {
    faulty *f = (faulty *)user;
    return faulty_now(f, 'o') && f->number ? -1 : f->system.open(path, flags, mode, f->system.user);
}
static int64_t faulty_read(int fd, void *to, size_t n, void *user) {
    faulty *f = (faulty *)user;
    bool now = faulty_now(f, 'r');
    return now && f->number ? -1 : f->system.read(fd, to, now ? 1 : n, f->system.user);
}
static int64_t faulty_write(int fd, const void *from, size_t n, void *user) {
    faulty *f = (faulty *)user;
    bool now = faulty_now(f, 'w');
    return now && f->number ? -1 : f->system.write(fd, from, now ? 1 : n, f->system.user);
}
static int64_t faulty_size(int fd, void *user) {
    faulty *f = (faulty *)user;
    return faulty_now(f, 'z') && f->number && f->number != EINTR
               ? -1
               : f->system.size(fd, f->system.user);
}
static int faulty_sync(int fd, void *user) {
    faulty *f = (faulty *)user;
    return faulty_now(f, 's') && f->number ? -1 : f->system.sync(fd, f->system.user);
}
static int faulty_close(int fd, void *user) { /* closes, whatever it says */
    faulty *f = (faulty *)user;
    bool now = faulty_now(f, 'c') && f->number;
    int number = errno, result = f->system.close(fd, f->system.user);
    if (now) errno = number;
    return now ? -1 : result;
}
static int faulty_rename(const char *from, const char *to, void *user) {
    faulty *f = (faulty *)user;
    return faulty_now(f, 'n') && f->number && f->number != EINTR
               ? -1
               : f->system.rename(from, to, f->system.user);
}
static int faulty_remove(const char *path, void *user) {
    faulty *f = (faulty *)user;
    return f->system.remove(path, f->system.user);
}
static const tn_files faulty_files = {faulty_open,   faulty_read,   faulty_write,
                                      faulty_size,   faulty_sync,   faulty_close,
                                      faulty_rename, faulty_remove, NULL};

static void a_file_is_the_old_one_or_the_new_one(void) {
    static const int numbers[] = {0, EINTR, EIO, ENOSPC};
    folder_begin();
    int points = 0;
    for (int kind = 0; kind < 4; kind++)
        for (int at = 1;; at++) {
            faulty f;
            memset(&f, 0, sizeof f);
            tni_files_fill(&f.system);
            tn_context_options o;
            memset(&o, 0, sizeof o);
            o.files = faulty_files;
            o.files.user = &f;
            tn_context *c = begin(&o);
            char text[100] = "";
            CHECK(save(in_folder("a"), "old content"));
            memset(f.trace, 0, sizeof f.trace);
            f.calls = 0, f.at = at, f.number = numbers[kind];
            bool ok = save(in_folder("a"), "the new content");
            bool reached = f.hit;
            f.at = 0;
            if (!reached)
                CHECK_TEXT(f.trace, "owwscnosc"); /* synced, then renamed, then its folder */
            CHECK(ok == tn_ok());
            tn_error_take(NULL);
            CHECK(load(in_folder("a"), text, 100));
            CHECK(strcmp(text, "the new content") == 0 ||
                  (!ok && strcmp(text, "old content") == 0));
            CHECK(ok || kind >= 2); /* interrupted and short operations go on */
            CHECK_EQ(files_in_folder(), 1);
            f.calls = 0, f.at = at;
            ok = load(in_folder("a"), text, 100);
            CHECK(ok == tn_ok() && (ok || kind >= 2));
            tn_error_take(NULL);
            end(c);
            if (!reached) break;
            points++;
        }
    CHECK(points >= 4 * 8);
    remove(in_folder("a"));
    folder_end();
}

/* --- clock and profiler ----------------------------------------------------------------------- */

static double clock_next;
static double clock_fake(void *user) { return *(double *)user; }

static void clock_is_the_systems_or_the_hosts(void) {
    tn_context *c = begin(NULL);
    double a = tni_now(c), b = tni_now(c);
    CHECK(a > 0 && b >= a);
    end(c);
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.clock = clock_fake;
    o.clock_user = &clock_next;
    clock_next = 12.5;
    c = begin(&o);
    CHECK(tni_now(c) == 12.5);
    end(c);
}

static void profile_is_a_chrome_trace(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.clock = clock_fake;
    o.clock_user = &clock_next;
    clock_next = 100;
    tn_context *c = begin(&o);
    tni_block *b = tni_here();
    folder_begin();
    CHECK(!tn_profile_end(in_folder("t")) && tn_error_take(NULL));
    tni_profile_add(b, "before", NULL, 0, NULL, 1, 2);
    CHECK(tn_profile_begin() && (tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE));
    CHECK(!tn_profile_begin() && tn_error_take(NULL));
    tni_profile_add(b, "add", "C:\\x \"y\".c", 7, "a\n\x7f\xff\xc3\xa9\xed\xa0\x80", 100.000001,
                    100.0000025);
    tni_profile_add(b, NULL, NULL, 0, NULL, 99, 98);
    CHECK(!tn_profile_end(NULL) && tn_error_take(NULL));
    CHECK(!tn_profile_end(in_folder("no/folder")) && tn_error_take(NULL)); /* stopped, but kept */
    CHECK(tn_profile_end(in_folder("t")));
    CHECK(!(b->hooks & TNI_HOOK_PROFILE) && !tn_profile_end(in_folder("t")) && tn_error_take(NULL));
    char text[2000] = "", expected[2000];
    CHECK(load(in_folder("t"), text, 2000));
    snprintf(expected, sizeof expected,
             "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"" TN_VERSION
             "\",\"dropped\":\"0\"},"
             "\"traceEvents\":["
             "\n{\"name\":\"add\",\"cat\":\"op\",\"ph\":\"X\",\"ts\":1.000,\"dur\":1.500,\"pid\":%"
             "u,\"tid\":%llu,"
             "\"args\":{\"call\":\"a\\u000a\\u007f\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\",\"at\":"
             "\"C:\\\\x \\\"y\\\".c:7\"}},"
             "\n{\"name\":\"\",\"cat\":\"op\",\"ph\":\"X\",\"ts\":0.000,\"dur\":0.000,\"pid\":%u,"
             "\"tid\":%llu,"
             "\"args\":{\"call\":\"\",\"at\":\"\"}}\n]}\n",
             (unsigned)getpid(), (unsigned long long)b->token, (unsigned)getpid(),
             (unsigned long long)b->token);
    CHECK_TEXT(text, expected);
    remove(in_folder("t"));
    folder_end();
    end(c);
    counted_check(&a);
}

static void *profiled_run(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    char text[3000];
    memset(text, '"', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 500; i++)
        if (tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE)
            tni_profile_add(b, text, text, i, text, i, i + 1);
    return NULL;
}
static void profile_collects_from_all_threads(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    folder_begin();
    CHECK(tn_profile_begin());
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, profiled_run, c);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    CHECK(tn_profile_end(in_folder("t")));
    tni_file f;
    CHECK(tni_file_open(tni_here(), &f, in_folder("t")) && f.size > 1500 * 1000);
    char *text = (char *)malloc((size_t)f.size + 1);
    CHECK(tni_file_read(&f, text, f.size));
    text[f.size] = 0;
    int64_t events = 0, quotes = 0;
    for (char *p = text; *p; p++) {
        events += strncmp(p, "\n{", 2) == 0;
        if (*p == '\\')
            p++;
        else
            quotes += *p == '"';
    }
    CHECK_EQ(events, 1500);
    CHECK_EQ(quotes % 2, 0); /* no escape was cut */
    free(text);
    tni_file_close(&f);
    remove(in_folder("t"));
    folder_end();
    end(c);
    counted_check(&a);
}

static const check_test tests[] = {
    CHECK_TEST(files_are_written_and_read_back),   CHECK_TEST(the_mode_of_what_is_replaced_stays),
    CHECK_TEST(an_abandoned_file_leaves_nothing),  CHECK_TEST(file_errors_name_path_and_reason),
    CHECK_TEST(a_pipe_is_written_not_replaced),    CHECK_TEST(a_file_is_the_old_one_or_the_new_one),
    CHECK_TEST(clock_is_the_systems_or_the_hosts), CHECK_TEST(profile_is_a_chrome_trace),
    CHECK_TEST(profile_collects_from_all_threads),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
