/* kill.c - a save that is killed: the path leads to the old bytes or to the new ones.
 *
 *     kill FOLDER RANDOM
 *
 * A child saves over an existing file and kills itself before, in the middle of, and behind each
 * operation that it asks of the disk; then RANDOM children save for ever and are killed from
 * outside, at any moment. What a killed save leaves is a temporary file beside the path, which
 * hinders nobody. Then: the order of the operations, modes, links, and disks that are full. */
#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[120], path[200];
static int64_t points, moments, mixed, left;

/* --- the disk of a child ---------------------------------------------------------------------- */

enum { BEFORE, MIDDLE, BEHIND, WHENS };
static int64_t die_at;
static int die_when;
static struct shared { /* with the parent */
    volatile int64_t operation;
    char order[4096]; /* a letter an operation, as they come */
} * shared;

static void step(char letter) {
    if (shared->operation + 1 < (int64_t)sizeof shared->order)
        shared->order[shared->operation] = letter;
    if (++shared->operation == die_at && die_when == BEFORE) raise(SIGKILL);
}
static int behind(int result) {
    if (shared->operation == die_at && die_when == BEHIND) raise(SIGKILL);
    return result;
}

static int kill_open(const char *at, int flags, int mode, void *user) {
    struct stat s;
    (void)user;
    step(flags & O_CREAT ? 'o' : stat(at, &s) == 0 && S_ISDIR(s.st_mode) ? 'd' : 'r');
    return behind(open(at, flags, (mode_t)mode));
}
static int64_t kill_write(int fd, const void *from, size_t bytes, void *user) {
    int64_t n;
    (void)user;
    step('w');
    if (shared->operation == die_at && die_when == MIDDLE && write(fd, from, bytes / 2) >= 0)
        raise(SIGKILL);
    n = write(fd, from, bytes);
    return behind(0), n;
}
static int kill_sync(int fd, void *user) {
    (void)user;
    step('s');
    return behind(fsync(fd));
}
static int kill_close(int fd, void *user) {
    (void)user;
    step('c');
    return behind(close(fd));
}
static int kill_rename(const char *from, const char *to, void *user) {
    (void)user;
    step('n');
    return behind(rename(from, to));
}
static int kill_remove(const char *at, void *user) {
    (void)user;
    step('x');
    return behind(remove(at));
}

static tn_files killing(void) {
    tn_files f;
    memset(&f, 0, sizeof f);
    f.open = kill_open, f.write = kill_write, f.sync = kill_sync;
    f.close = kill_close, f.rename = kill_rename, f.remove = kill_remove;
    return f;
}

/* --- what is saved: version 0 and version 1, of either kind ----------------------------------- */

typedef struct job {
    bool checkpoint, for_ever;
    int version;
    int64_t width;
} job;

static bool save(world *w, const job *j, int version) {
    tn_tensor *t[3];
    tn_named named[3];
    bool ok = false;
    w->numbers[0].value = version;
    if (j->checkpoint) return tn_checkpoint_save(path, &w->state);
    TN_SCOPE {
        t[0] = tn_full(TN_DIMS(j->width), (double)version);
        t[1] = tn_full(TN_DIMS(3, j->width), (double)(version + 2), .dtype = TN_I16);
        t[2] = tn_transpose(tn_full(TN_DIMS(2, 5), version + 7.0, .dtype = TN_F64), 0, 1);
        for (int i = 0; i < 3; i++)
            named[i].name = i == 0 ? "a" : i == 1 ? "b" : "c", named[i].tensor = t[i];
        ok = tn_safetensors_save(path, named, 3);
    }
    return ok;
}

/* The whole of a child's life. */
static int child(void *arg) {
    const job *j = (const job *)arg;
    tn_files f = killing();
    tn_context *c = context_new(j->for_ever ? NULL : &f, 0);
    world w;
    bool ok = true;
    world_begin(&w, j->width);
    memset(shared, 0, sizeof *shared);
    if (j->for_ever)
        for (int version = j->version; ok; version = !version) {
            ok = save(&w, j, version);
            shared->operation++;
        }
    else
        ok = save(&w, j, j->version);
    if (!ok) tn_error_print();
    world_end(&w);
    tn_context_free(c);
    return ok ? 0 : 3;
}

/* The bytes of both versions, as undisturbed saves write them. */
typedef struct versions {
    char *bytes[2];
    size_t size[2];
} versions;

static versions both(const job *j) {
    versions v;
    for (int i = 0; i < 2; i++) {
        job one = *j;
        one.for_ever = false, one.version = i, die_at = 0;
        check(in_child(child, &one) == 0, "an undisturbed save", i);
        v.bytes[i] = file_bytes(path, &v.size[i]);
    }
    check(v.bytes[0] && v.bytes[1] &&
              (v.size[0] != v.size[1] || memcmp(v.bytes[0], v.bytes[1], v.size[0]) != 0),
          "the versions do not differ", 0);
    return v;
}

/* Which version lies at path: 0, 1; -1: neither. */
static int version_there(const versions *v) {
    size_t size; /* read once: a child may be saving */
    char *is = file_bytes(path, &size);
    int version = -1;
    for (int i = 0; is && i < 2; i++)
        if (size == v->size[i] && memcmp(is, v->bytes[i], size) == 0) version = i;
    free(is);
    return version;
}

/* After a kill: old or new, and the next save is not hindered by what was left. */
static void judge(const job *j, const versions *v, int64_t number) {
    job next = *j;
    int there = version_there(v);
    mixed += there < 0;
    check(there >= 0, "a mixed or missing file", number);
    left += leftovers(path, false);
    next.for_ever = false, next.version = there == 0, die_at = 0;
    if (number % 8 == 0)
        check(in_child(child, &next) == 0 && version_there(v) == next.version, "the next save",
              number);
}

static void killed_at_points(const job *j) {
    versions v = both(j);
    char order[sizeof shared->order];
    memcpy(order, shared->order, sizeof order);
    for (int64_t k = 1; order[k - 1]; k++)
        for (int when = BEFORE; when < WHENS; when++) {
            job now = *j;
            if (when == MIDDLE && order[k - 1] != 'w') continue;
            file_write(path, v.bytes[0], v.size[0]);
            now.version = 1, die_at = k, die_when = when;
            check(in_child(child, &now) == SIGKILL, "a save was not killed", k);
            points++;
            check(leftovers(path, false) <= 1, "more than one file is left", k);
            judge(j, &v, k);
            leftovers(path, true);
        }
    die_at = 0;
    free(v.bytes[0]), free(v.bytes[1]);
}

static void killed_at_moments(const job *j, int64_t count) {
    versions v = both(j);
    uint64_t state = 1;
    for (int64_t k = 1; k <= count; k++) {
        job now = *j;
        int status = 0;
        pid_t pid;
        now.for_ever = true, now.version = (int)(k & 1);
        shared->operation = 0;
        fflush(stdout);
        pid = fork();
        if (pid == 0) _exit(child(&now));
        while (shared->operation == 0 && waitpid(pid, &status, WNOHANG) == 0) usleep(100);
        state = state * 6364136223846793005u + 1442695040888963407u;
        usleep((useconds_t)((state >> 33) % 4000));
        check(version_there(&v) >= 0, "a reader sees a mixed file", k);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "a save ended by itself", k);
        moments++;
        judge(j, &v, k);
        leftovers(path, true);
    }
    free(v.bytes[0]), free(v.bytes[1]);
}

/* --- what else a save promises ---------------------------------------------------------------- */

/* Written, synced and closed before the rename, the folder synced behind it. */
static void order_of_operations(void) {
    for (int kind = 0; kind < 2; kind++) {
        job j = {kind == 1, false, 0, 5000};
        char order[40];
        size_t n = 0;
        check(in_child(child, &j) == 0, "an undisturbed save", kind);
        for (const char *at = shared->order; *at && n + 1 < sizeof order; at++)
            if (*at != 'w' || !n || order[n - 1] != 'w') order[n++] = *at;
        order[n] = 0;
        check(strcmp(order, "owscndsc") == 0, order, kind);
    }
}

/* A save of the system's own operations; whether it said so. */
static int plain(void *arg) {
    const job *j = (const job *)arg;
    tn_context *c = context_new(NULL, 0);
    world w;
    bool ok;
    tn_error_info e;
    world_begin(&w, j->width);
    ok = save(&w, j, j->version);
    if (!ok && (!tn_error_take(&e) || e.code != TN_FILE)) return 2; /* not the error it should be */
    world_end(&w);
    tn_context_free(c);
    return !ok;
}
static int saves(bool checkpoint, int version) {
    job j = {checkpoint, false, version, 300};
    int status = in_child(plain, &j);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void modes(void) {
    static const mode_t kept[] = {0600, 0640, 0644, 0664, 0444, 0755}, masks[] = {0, 022, 077};
    struct stat s;
    for (int m = 0; m < 3; m++) {
        mode_t old = umask(masks[m]);
        remove(path);
        check(saves(false, 0) == 0 && stat(path, &s) == 0 &&
                  (s.st_mode & 07777) == (0666 & ~masks[m]),
              "the mode of a new file", m);
        for (int i = 0; i < 6; i++)
            check(chmod(path, kept[i]) == 0 && saves(i & 1, i & 1) == 0 && stat(path, &s) == 0 &&
                      (s.st_mode & 07777) == kept[i],
                  "the mode of a file that is replaced", m * 6 + i);
        umask(old);
    }
    remove(path);
}

static void links(void) {
    char aim[240];
    struct stat s;
    snprintf(aim, sizeof aim, "%s/aim", folder);
    remove(path);
    file_write(aim, "aim", 3);
    check(symlink("aim", path) == 0 && saves(false, 0) == 0, "saving over a link", 0);
    check(lstat(path, &s) == 0 && S_ISREG(s.st_mode), "a link was followed", 0);
    check(file_is(aim, "aim", 3), "the aim of a link was written", 0);
    remove(aim);
}

/* Names of temporary files that are taken: the next one, up to a hundred. */
static int taken_names(void *arg) {
    char name[260];
    int64_t before = failed;
    int first;
    (void)arg;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%s.tmp-%lu-%d", path, (unsigned long)getpid(), i);
        file_write(name, "", 0);
        if (i == 50) {
            job j = {false, false, 1, 300};
            first = plain(&j);
            if (first != 0) return 4;
        }
    }
    job j = {false, false, 0, 300};
    return plain(&j) == 1 && failed == before ? 0 : 5;
}

static int limited(void *arg) {
    struct rlimit l = {1000, 1000};
    job j = {*(const bool *)arg, false, 1, 300};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &l) != 0) return 77;
    return plain(&j);
}

/* A small disk of its own: the file of one version fits, that and the next do not. 77: may not. */
static int small_disk(void *arg) {
    char own[160];
    job j = {*(const bool *)arg, false, 0, 5000};
    size_t size;
    char *old;
    bool kept;
    snprintf(own, sizeof own, "%s/small", folder);
    mkdir(own, 0755);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", own, "tmpfs", 0, "size=1m") != 0)
        return 77;
    snprintf(path, sizeof path, "%s/file", own);
    if (plain(&j) != 0) return 3;
    old = file_bytes(path, &size);
    j.version = 1, j.width = 200000;
    if (plain(&j) != 1) return 4;
    kept = file_is(path, old, size) && leftovers(path, false) == 0;
    j.width = 5000;
    return !kept ? 5 : plain(&j) != 0 ? 6 : 0;
}

static int no_right(void *arg) {
    job j = {false, false, 1, 300};
    (void)arg;
    if (seteuid(65534) != 0) return 77;
    return plain(&j);
}

static void full_disks(void) {
    size_t size;
    char *old;
    for (int kind = 0; kind < 2; kind++) {
        bool checkpoint = kind == 1;
        int status;
        remove(path);
        check(saves(checkpoint, 0) == 0, "saving", kind);
        old = file_bytes(path, &size);
        status = in_child(limited, &checkpoint);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 1, "beyond the limit of a file", kind);
        check(file_is(path, old, size) && leftovers(path, false) == 0, "after that", kind);
        status = in_child(small_disk, &checkpoint);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            printf("left out: a small disk, which this user may not mount\n");
        else
            check(status == 0, "on a full disk", status >> 8);
        if (geteuid() == 0 && chmod(folder, 0555) == 0) {
            status = in_child(no_right, NULL);
            check(WIFEXITED(status) && WEXITSTATUS(status) == 1, "without the right to", kind);
            check(file_is(path, old, size) && leftovers(path, false) == 0, "after that", kind);
            chmod(folder, 0755);
        }
        free(old);
    }
    snprintf(path, sizeof path, "/dev/full");
    check(saves(false, 0) == 1 && saves(true, 0) == 1, "to /dev/full", 0);
    snprintf(path, sizeof path, "%s/none/file", folder);
    check(saves(false, 0) == 1 && saves(true, 0) == 1, "to a folder that is not there", 0);
    snprintf(path, sizeof path, "%s/file", folder);
    check(in_child(taken_names, NULL) == 0, "where names are taken", 0);
    leftovers(path, true);
}

int main(int argc, char **argv) {
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 100;
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : ".");
    snprintf(path, sizeof path, "%s/file", folder);
    shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return printf("no shared memory\n"), 1;
    for (int kind = 0; kind < 2; kind++) {
        job small = {kind == 1, false, 0, 50}, large = {kind == 1, false, 0, 20000};
        killed_at_points(&small);
        killed_at_points(&large);
        killed_at_moments(&large, count / 2);
    }
    order_of_operations();
    modes();
    links();
    full_disks();
    printf("promise 5: saves killed before, within and behind each operation, %lld points, and at "
           "%lld "
           "moments: %lld mixed files; %lld temporary files were left and hindered no save\n",
           (long long)points, (long long)moments, (long long)mixed, (long long)left);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
