/* base_disk.c - promises of base/files.c over a disk that is a script: which calls a load and a
 * save make, in which order, and what each failure of each becomes. */
#include "base_stand_ins.h"

#include <fcntl.h>

/* Answers in order, one a call; the last repeats. `saw` is what was called: "open folder/x". */
typedef struct script {
    const char *fails; /* the call that fails: "open", "write" ... or "" */
    int at, number; /* which of them, and errno; 0: the answer is 0; NO_REASON: errno is not set */
    int times;      /* how often from there on */
    int64_t most;   /* bytes that one read or write takes */
    int seen;
    char saw[1000];
} script;
enum { NO_REASON = -1, TOO_MANY = 999 };
static int handle; /* of the one file */

static bool fails(script *s, const char *call, const char *what) {
    size_t n = strlen(s->saw);
    snprintf(s->saw + n, sizeof s->saw - n, "%s%s%s;", call, *what ? " " : "", what);
    if (strcmp(s->fails, call) != 0 || ++s->seen < s->at || s->seen >= s->at + s->times)
        return errno = EINTR, false; /* calls that do well may leave anything in it */
    if (s->number != NO_REASON) errno = s->number;
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
    return fails((script *)user, "open", short_name(path)) ? -1 : handle;
}
static int64_t script_some(script *s, const char *call, size_t bytes) {
    char text[30];
    snprintf(text, sizeof text, "%d", (int)bytes);
    if (fails(s, call, text))
        return s->number ? s->number == TOO_MANY ? (int64_t)bytes + 1 : -1 : 0;
    return (int64_t)bytes < s->most ? (int64_t)bytes : s->most;
}
static int64_t script_read(int fd, void *to, size_t bytes, void *user) {
    int64_t n = script_some((script *)user, "read", bytes);
    if (n > 0 && n <= (int64_t)bytes) memset(to, 'r', (size_t)n);
    return fd == handle ? n : -1;
}
static int64_t script_write(int fd, const void *from, size_t bytes, void *user) {
    return fd == handle && *(const char *)from == 'w' ? script_some((script *)user, "write", bytes)
                                                      : -1;
}
static int64_t script_size(int fd, void *user) {
    return fails((script *)user, "size", "") ? -1 : fd == handle ? 6 : -2;
}
static int script_sync(int fd, void *user) {
    return fails((script *)user, "sync", "") ? -1 : fd != handle;
}
static int script_close(int fd, void *user) {
    return fails((script *)user, "close", "") ? -1 : fd != handle;
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
     "it ends after 2 bytes, expected 6",
     "open none/x;size;read 2;read 4;close;"},
    {true,
     {"read", 1, TOO_MANY, 1, 99, 0, ""},
     "cannot read 'none/x'",
     "open none/x;size;read 2;close;"},
    {true, {"close", 1, EIO, 9, 99, 0, ""}, "", "open none/x;size;read 2;read 4;close;"},
    {true,
     {"open", 1, NO_REASON, 1, 99, 0, ""},
     "cannot open 'none/x': input/output error",
     "open none/x;"},
    {true,
     {"size", 1, NO_REASON, 1, 99, 0, ""},
     "cannot find the size of 'none/x': input/output error",
     "open none/x;size;close;"},
    {true,
     {"read", 2, NO_REASON, 1, 99, 0, ""},
     "cannot read 'none/x': input/output error",
     "open none/x;size;read 2;read 4;close;"},
    {true, {"close", 1, NO_REASON, 1, 99, 0, ""}, "", "open none/x;size;read 2;read 4;close;"},
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
     {"write", 1, TOO_MANY, 1, 99, 0, ""},
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
     {"open", 1, NO_REASON, 1, 99, 0, ""},
     "cannot create 'none/x': input/output error",
     "open none/x.tmp;"},
    {false,
     {"write", 2, NO_REASON, 1, 99, 0, ""},
     "cannot write 'none/x': input/output error",
     "open none/x.tmp;write 4;write 1;close;remove none/x.tmp;"},
    {false,
     {"sync", 1, NO_REASON, 1, 99, 0, ""},
     "cannot sync 'none/x': input/output error",
     "open none/x.tmp;write 4;write 1;sync;close;remove none/x.tmp;"},
    {false,
     {"close", 1, NO_REASON, 1, 99, 0, ""},
     "cannot close 'none/x': input/output error",
     "open none/x.tmp;write 4;write 1;sync;close;remove none/x.tmp;"},
    {false,
     {"rename", 1, NO_REASON, 1, 99, 0, ""},
     "cannot replace 'none/x': input/output error",
     "open none/x.tmp;write 4;write 1;sync;close;rename none/x;remove none/x.tmp;"},
    {false,
     {"open", 2, NO_REASON, 1, 99, 0, ""},
     "",
     "open none/x.tmp;write 4;write 1;sync;close;rename none/x;open none;"},
    {false, {"sync", 2, NO_REASON, 1, 99, 0, ""}, "", SAVED},
    {false, {"close", 2, EIO, 1, 99, 0, ""}, "", SAVED},
    {false,
     {"sync", 2, EIO, 1, 99, 0, ""},
     "cannot sync the folder of 'none/x': Input/output",
     SAVED},
};

static void each_failure_of_each_call_becomes_this(void) {
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        size_t i = k / 2;
        script s = cases[i].s;
        handle = k % 2 ? 0 : 5; /* 0 where the standard input is closed */
        errno = EINTR;
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

/* How files are opened, and the names of temporaries. */
static char opened_names[101][40];
static int opened_flags, opened_mode, nopened, opened_number;
static int note_open(const char *name, int flags, int mode, void *user) {
    (void)user;
    snprintf(opened_names[nopened], sizeof *opened_names, "%s", name);
    opened_flags = flags, opened_mode = mode, nopened++;
    return errno = opened_number, -1;
}
static void files_are_opened_like_this(void) {
    tn_context_options o;
    tni_file f;
    char want[40];
    bool there = true;
    memset(&o, 0, sizeof o);
    o.files.open = note_open;
    tn_context *c = begin(&o);
    for (int k = 0; k < 4; k++) {
        nopened = 0, opened_number = k == 2 ? EEXIST : EPERM, there = k == 1;
        CHECK(!(k == 0   ? tni_file_open(tni_here(), &f, "none-x")
                : k == 1 ? tni_file_exists(tni_here(), "none-x", &there)
                : k == 2 ? tni_file_create(tni_here(), &f, "none-x")
                         : tni_file_create(tni_here(), &f, "/dev/null")));
        CHECK(tn_error_take(NULL) && !there && nopened == (k == 2 ? 100 : 1));
        CHECK_EQ(opened_flags & ~O_CLOEXEC, k < 2    ? O_RDONLY
                                            : k == 2 ? O_WRONLY | O_CREAT | O_EXCL
                                                     : O_WRONLY);
        CHECK_EQ(opened_mode, k == 2 ? 0666 : 0);
        for (int i = 0; i < nopened; i++) {
            if (k == 2)
                snprintf(want, sizeof want, "none-x.tmp-%ld-%d", (long)getpid(), i);
            else
                snprintf(want, sizeof want, "%s", k == 3 ? "/dev/null" : "none-x");
            CHECK_TEXT(opened_names[i], want);
        }
    }
    end(c);
}

/* What a host opens has no mode of the system's. */
static void a_hosts_file_is_given_no_mode(void) {
    char name[] = "/tmp/tn_disk_XXXXXX";
    int there = mkstemp(name), same = dup(there);
    struct stat s;
    script hosts = {"", 1, 0, 1, 99, 0, ""};
    tn_context *c = begin_script(&hosts);
    CHECK(there >= 0 && fchmod(there, 0604) == 0);
    close(same); /* the handle is none of the system's */
    handle = same;
    CHECK(save(name) && tn_ok());
    CHECK(stat(name, &s) == 0 && (s.st_mode & 07777) == 0604 && s.st_size == 0);
    handle = 5;
    close(there);
    remove(name);
    end(c);
}

/* A request to stop is seen between two pieces. */
static int64_t stops_after;
static int64_t stopping_read(int fd, void *to, size_t bytes, void *user) {
    (void)fd, (void)user, (void)bytes;
    if (--stops_after == 0) tn_cancel(NULL);
    return memset(to, 'r', 1), 1;
}
static int64_t stopping_write(int fd, const void *from, size_t bytes, void *user) {
    (void)fd, (void)user, (void)bytes, (void)from;
    if (--stops_after == 0) tn_cancel(NULL);
    return 1;
}
static void a_request_to_stop_is_seen_between_two_pieces(void) {
    for (int writes = 0; writes < 2; writes++)
        for (int after = 1; after < 4; after++) {
            script s = {"", 1, 0, 1, 99, 0, ""};
            tn_context *c = begin_script(&s);
            tn_error_info e;
            tni_file f;
            char text[6];
            handle = 5;
            c->options.files.read = stopping_read, c->options.files.write = stopping_write;
            CHECK(writes ? tni_file_create(tni_here(), &f, "none/x")
                         : tni_file_open(tni_here(), &f, "none/x"));
            CHECK(f.at == 0 && f.fd == 5);
            stops_after = after;
            CHECK(!(writes ? tni_file_write(&f, "wwwwww", 6) : tni_file_read(&f, text, 6)));
            CHECK(f.at == after && f.fd == -1 && !f.temporary);
            CHECK(tn_error_take(&e) && e.code == TN_CANCELLED);
            CHECK_TEXT(e.message,
                       writes ? "cancelled: writing 'none/x'" : "cancelled: reading 'none/x'");
            CHECK_TEXT(s.saw, writes ? "open none/x.tmp;close;remove none/x.tmp;"
                                     : "open none/x;size;close;");
            tn_cancel_clear(NULL);
            tni_file_close(&f); /* once more is nothing */
            CHECK(!strstr(s.saw, "close;close"));
            end(c);
        }
}
/* Pieces of 16 megabytes. */
static int64_t piece[5];
static int npieces;
static int64_t piece_read(int fd, void *to, size_t bytes, void *user) {
    (void)fd, (void)to, (void)user;
    return piece[npieces++ % 5] = (int64_t)bytes;
}
static int64_t piece_write(int fd, const void *from, size_t bytes, void *user) {
    (void)fd, (void)from, (void)user;
    return piece[npieces++ % 5] = (int64_t)bytes;
}
static void long_files_go_in_pieces_of_16_megabytes(void) {
    static char all[1]; /* is not touched */
    const int64_t most = 16 << 20;
    for (int writes = 0; writes < 2; writes++)
        for (int64_t more = -1; more < 2; more++) {
            script s = {"", 1, 0, 1, 99, 0, ""};
            tn_context *c = begin_script(&s);
            tni_file f;
            c->options.files.read = piece_read, c->options.files.write = piece_write;
            CHECK(writes ? tni_file_create(tni_here(), &f, "none/x")
                         : tni_file_open(tni_here(), &f, "none/x"));
            npieces = 0;
            CHECK(writes ? tni_file_write(&f, all, 2 * most + more)
                         : tni_file_read(&f, all, 2 * most + more));
            CHECK(npieces == (more > 0 ? 3 : 2) && piece[0] == most && f.at == 2 * most + more);
            CHECK(piece[1] == (more < 0 ? most - 1 : most) && (more < 1 || piece[2] == 1));
            CHECK(writes ? tni_file_write(&f, all, 0) : tni_file_read(&f, all, 0));
            CHECK_EQ(npieces, more > 0 ? 3 : 2);
            tni_file_close(&f);
            end(c);
        }
}

/* Members that are NULL are the system's, one by one. */
static void a_table_may_be_the_hosts_in_part(void) {
    tn_files mine = {script_open,  script_read,   script_write,  script_size, script_sync,
                     script_close, script_rename, script_remove, &mine};
    tn_files system;
    memset(&system, 0, sizeof system);
    tni_files_fill(&system);
    for (int k = 0; k < 256; k++) {
        tn_files f = mine;
        if (k & 1) f.open = NULL;
        if (k & 2) f.read = NULL;
        if (k & 4) f.write = NULL;
        if (k & 8) f.size = NULL;
        if (k & 16) f.sync = NULL;
        if (k & 32) f.close = NULL;
        if (k & 64) f.rename = NULL;
        if (k & 128) f.remove = NULL;
        tni_files_fill(&f);
        CHECK(f.open == (k & 1 ? system.open : mine.open));
        CHECK(f.read == (k & 2 ? system.read : mine.read));
        CHECK(f.write == (k & 4 ? system.write : mine.write));
        CHECK(f.size == (k & 8 ? system.size : mine.size));
        CHECK(f.sync == (k & 16 ? system.sync : mine.sync));
        CHECK(f.close == (k & 32 ? system.close : mine.close));
        CHECK(f.rename == (k & 64 ? system.rename : mine.rename));
        CHECK(f.remove == (k & 128 ? system.remove : mine.remove) && f.user == &mine);
    }
    CHECK(system.open && system.read && system.write && system.size && system.sync);
    CHECK(system.close && system.rename && system.remove && !system.user);
    CHECK(system.read(-1, opened_names, 1, NULL) == -1 && system.size(-1, NULL) == -1);
    CHECK(system.write(-1, opened_names, 1, NULL) == -1 && system.sync(-1, NULL) == -1);
    CHECK(system.close(-1, NULL) == -1 && system.rename("none-x", "none-y", NULL) == -1);
    CHECK(system.remove("none-x", NULL) == -1 && system.open("none-x", O_RDONLY, 0, NULL) == -1);
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
          strstr(e.message, "the file name is empty"));
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
    CHECK_TEST(files_are_opened_like_this),
    CHECK_TEST(a_hosts_file_is_given_no_mode),
    CHECK_TEST(a_request_to_stop_is_seen_between_two_pieces),
    CHECK_TEST(long_files_go_in_pieces_of_16_megabytes),
    CHECK_TEST(a_table_may_be_the_hosts_in_part),
    CHECK_TEST(what_is_asked_of_no_file_is_refused),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
