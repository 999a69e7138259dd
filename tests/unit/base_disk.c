/* base_disk.c - promises of base/files.c over a disk that is a script: which calls a load and a
 * save make, in which order, and what each failure of each becomes. */
#include "base_stand_ins.h"

/* Answers in order, one a call; the last repeats. `saw` is what was called: "open folder/x". */
typedef struct script {
    const char *fails; /* the call that fails: "open", "write" ... or "" */
    int at, number;    /* which of them, and errno; number 0: the answer is 0 */
    int times;         /* how often from there on */
    int64_t most;      /* bytes that one read or write takes */
    int seen;
    char saw[1000];
} script;

static bool fails(script *s, const char *call, const char *what) {
    size_t n = strlen(s->saw);
    snprintf(s->saw + n, sizeof s->saw - n, "%s%s%s;", call, *what ? " " : "", what);
    if (strcmp(s->fails, call) != 0 || ++s->seen < s->at || s->seen >= s->at + s->times)
        return false;
    errno = s->number;
    return true;
}
/* Without the temporary's number and process. */
static const char *short_name(const char *path) {
    static char name[100];
    snprintf(name, sizeof name, "%s", path);
    char *end = strstr(name, ".tmp-");
    if (end) end[4] = 0;
    return name;
}
static int script_open(const char *path, int flags, int mode, void *user) {
    (void)flags, (void)mode;
    return fails((script *)user, "open", short_name(path)) ? -1 : 5;
}
static int64_t script_some(script *s, const char *call, size_t bytes) {
    char text[30];
    snprintf(text, sizeof text, "%d", (int)bytes);
    if (fails(s, call, text)) return s->number ? s->number == 999 ? (int64_t)bytes + 1 : -1 : 0;
    return (int64_t)bytes < s->most ? (int64_t)bytes : s->most;
}
static int64_t script_read(int fd, void *to, size_t bytes, void *user) {
    int64_t n = script_some((script *)user, "read", bytes);
    if (n > 0 && n <= (int64_t)bytes) memset(to, 'r', (size_t)n);
    return fd == 5 ? n : -1;
}
static int64_t script_write(int fd, const void *from, size_t bytes, void *user) {
    return fd == 5 && *(const char *)from == 'w' ? script_some((script *)user, "write", bytes) : -1;
}
static int64_t script_size(int fd, void *user) {
    return fails((script *)user, "size", "") ? -1 : fd == 5 ? 6 : -2;
}
static int script_sync(int fd, void *user) {
    return fails((script *)user, "sync", "") ? -1 : fd != 5;
}
static int script_close(int fd, void *user) {
    return fails((script *)user, "close", "") ? -1 : fd != 5;
}
static int script_rename(const char *from, const char *to, void *user) {
    CHECK(strncmp(from, to, strlen(to)) == 0);
    return fails((script *)user, "rename", to) ? -1 : 0;
}
static int script_remove(const char *path, void *user) {
    return fails((script *)user, "remove", short_name(path)) ? -1 : 0;
}

static tn_context *begin_script(script *s) {
    static const tn_files files = {script_open,   script_read,   script_write,
                                   script_size,   script_sync,   script_close,
                                   script_rename, script_remove, NULL};
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.files = files;
    o.files.user = s;
    return begin(&o);
}

static bool load(const char *path) {
    char text[7] = "......";
    tni_file f;
    bool ok = tni_file_open(tni_here(), &f, path) && f.size == 6 && tni_file_read(&f, text, 2) &&
              tni_file_read(&f, text + 2, 4) && f.at == 6 && !strcmp(text, "rrrrrr");
    tni_file_close(&f);
    return ok;
}
static bool save(const char *path) {
    tni_file f;
    bool ok = tni_file_create(tni_here(), &f, path) && tni_file_write(&f, "wwww", 4) &&
              tni_file_write(&f, "w", 1) && f.at == 5 && tni_file_commit(&f);
    tni_file_close(&f);
    return ok;
}

#define SAVED "open none/x.tmp;write 4;write 1;sync;close;rename none/x;open none;sync;close;"
static const struct {
    bool loads;
    script s;
    const char *said, *saw; /* said "": no error */
} cases[] = {
    {true, {"", 1, 0, 1, 99, 0, ""}, "", "open none/x;size;read 2;read 4;close;"},
    {true,
     {"", 1, 0, 1, 1, 0, ""},
     "",
     "open none/x;size;read 2;read 1;read 4;read 3;read 2;read 1;close;"},
    {true,
     {"open", 1, EINTR, 2, 99, 0, ""},
     "",
     "open none/x;open none/x;open none/x;size;read 2;read 4;close;"},
    {true,
     {"open", 1, EACCES, 9, 99, 0, ""},
     "cannot open 'none/x': Permission denied",
     "open none/x;"},
    {true,
     {"open", 1, 0, 9, 99, 0, ""},
     "cannot open 'none/x': input/output error",
     "open none/x;"},
    {true,
     {"size", 1, EIO, 9, 99, 0, ""},
     "cannot find the size of 'none/x': ",
     "open none/x;size;close;"},
    {true, {"read", 2, EINTR, 1, 99, 0, ""}, "", "open none/x;size;read 2;read 4;read 4;close;"},
    {true,
     {"read", 2, EIO, 1, 99, 0, ""},
     "cannot read 'none/x': Input/output error",
     "open none/x;size;read 2;read 4;close;"},
    {true,
     {"read", 2, 0, 1, 99, 0, ""},
     "it ends after 2 bytes, 6 were expected",
     "open none/x;size;read 2;read 4;close;"},
    {true,
     {"read", 1, 999, 1, 99, 0, ""},
     "cannot read 'none/x'",
     "open none/x;size;read 2;close;"},
    {true, {"close", 1, EIO, 9, 99, 0, ""}, "", "open none/x;size;read 2;read 4;close;"},
    {false, {"", 1, 0, 1, 99, 0, ""}, "", SAVED},
    {false,
     {"", 1, 0, 1, 3, 0, ""},
     "",
     "open none/x.tmp;write 4;write 1;write 1;sync;close;rename none/x;open none;sync;close;"},
    {false, {"open", 1, EEXIST, 2, 99, 0, ""}, "", "open none/x.tmp;open none/x.tmp;" SAVED},
    {false,
     {"open", 1, ENOENT, 1, 99, 0, ""},
     "cannot create 'none/x': No such file",
     "open none/x.tmp;"},
    {false,
     {"write", 1, EINTR, 1, 99, 0, ""},
     "",
     "open none/x.tmp;write 4;write 4;write 1;sync;close;rename none/x;open none;sync;close;"},
    {false,
     {"write", 1, EIO, 1, 99, 0, ""},
     "cannot write 'none/x': Input/output error",
     "open none/x.tmp;write 4;close;remove none/x.tmp;"},
    {false,
     {"write", 2, 0, 1, 99, 0, ""},
     "cannot write 'none/x': No space left on device",
     "open none/x.tmp;write 4;write 1;close;remove none/x.tmp;"},
    {false,
     {"write", 1, 999, 1, 99, 0, ""},
     "cannot write 'none/x'",
     "open none/x.tmp;write 4;close;remove none/x.tmp;"},
    {false,
     {"sync", 1, EINTR, 1, 99, 0, ""},
     "",
     "open none/x.tmp;write 4;write 1;sync;sync;close;rename none/x;open none;sync;close;"},
    {false,
     {"sync", 1, EIO, 1, 99, 0, ""},
     "cannot sync 'none/x': Input/output error",
     "open none/x.tmp;write 4;write 1;sync;close;remove none/x.tmp;"},
    {false,
     {"close", 1, EIO, 1, 99, 0, ""},
     "cannot close 'none/x': Input/output error",
     "open none/x.tmp;write 4;write 1;sync;close;remove none/x.tmp;"},
    {false, {"close", 1, EINTR, 1, 99, 0, ""}, "", SAVED},
    {false,
     {"rename", 1, EPERM, 1, 99, 0, ""},
     "cannot replace 'none/x': Operation not permitted",
     "open none/x.tmp;write 4;write 1;sync;close;rename none/x;remove none/x.tmp;"},
    {false,
     {"open", 2, EACCES, 1, 99, 0, ""},
     "",
     "open none/x.tmp;write 4;write 1;sync;close;rename none/x;open none;"},
    {false, {"sync", 2, EINVAL, 1, 99, 0, ""}, "", SAVED},
    {false,
     {"sync", 2, EIO, 1, 99, 0, ""},
     "cannot sync the folder of 'none/x': Input/output",
     SAVED},
};

static void each_failure_of_each_call_becomes_this(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script s = cases[i].s;
        tn_context *c = begin_script(&s);
        tn_error_info e;
        bool ok = cases[i].loads ? load("none/x") : save("none/x"), failed = tn_error_take(&e);
        CHECK(ok == !*cases[i].said && failed == !ok);
        if (failed && !CHECK(e.code == TN_FILE && strstr(e.message, cases[i].said)))
            printf("    %s\n", e.message);
        if (!CHECK_TEXT(s.saw, cases[i].saw)) printf("    case %d\n", (int)i);
        end(c);
    }
}

static void the_folder_of_a_name_is_synced(void) {
    static const char *const names[][2] = {{"x", "."},    {"a/x", "a"},     {"/x-none", "/"},
                                           {"a//x", "a"}, {"a/b/x", "a/b"}, {"//x-none", "/"}};
    for (int i = 0; i < 6; i++) {
        script s = {"", 1, 0, 1, 99, 0, ""};
        tn_context *c = begin_script(&s);
        char want[100];
        CHECK(save(names[i][0]));
        snprintf(want, sizeof want, "rename %s;open %s;sync;close;", names[i][0], names[i][1]);
        if (!CHECK(strstr(s.saw, want) != NULL)) printf("    %s\n    %s\n", s.saw, want);
        end(c);
    }
}

static void names_that_are_taken_are_tried_on_up_to_a_number(void) {
    script s = {"open", 1, EEXIST, 1000, 99, 0, ""};
    tn_context *c = begin_script(&s);
    tn_error_info e;
    CHECK(!save("none/x") && tn_error_take(&e) &&
          strstr(e.message, "cannot create 'none/x': File"));
    CHECK(s.seen > 1 && s.seen < 1000);
    end(c);
}

static void what_is_asked_of_no_file_is_refused(void) {
    script s = {"open", 1, ENOENT, 1, 99, 0, ""}, denied = {"open", 1, EACCES, 1, 99, 0, ""};
    tn_context *c = begin_script(&s);
    tn_error_info e;
    tni_file f;
    char text[2];
    bool there = true;
    CHECK(tni_file_exists(tni_here(), "x", &there) && !there);
    CHECK(tni_file_exists(tni_here(), "x", &there) && there);
    CHECK_TEXT(s.saw, "open x;open x;close;");
    CHECK(!tni_file_open(tni_here(), &f, "") && tn_error_take(&e) &&
          strstr(e.message, "a file name is empty"));
    CHECK(!tni_file_create(tni_here(), &f, NULL) && tn_error_take(&e) && e.code == TN_FILE);
    CHECK(!tni_file_read(&f, text, 1) && tn_error_take(&e) && e.code == TN_INTERNAL);
    CHECK(!tni_file_write(&f, text, 1) && tn_error_take(&e) && e.code == TN_INTERNAL);
    CHECK(!tni_file_commit(&f) && tn_error_take(&e) && e.code == TN_INTERNAL);
    end(c);
    c = begin_script(&denied);
    CHECK(!tni_file_exists(tni_here(), "x", &there) && !there && tn_error_take(&e));
    CHECK(strstr(e.message, "cannot open 'x': Permission denied") != NULL);
    end(c);
}

static const check_test tests[] = {
    CHECK_TEST(each_failure_of_each_call_becomes_this),
    CHECK_TEST(the_folder_of_a_name_is_synced),
    CHECK_TEST(names_that_are_taken_are_tried_on_up_to_a_number),
    CHECK_TEST(what_is_asked_of_no_file_is_refused),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
