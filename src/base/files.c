/* files.c - whole files in and out, through the context's table of file operations.
 *
 * A file is written beside its final name, synced, renamed over it, and the folder is synced: at
 * any moment the name leads to the old content or to the new one. The mode of a file that is
 * replaced is kept; a link is replaced, not followed. What is no regular file (a pipe,
 * /dev/null) is written directly. Interrupted and short operations go on. The same calls read from
 * memory and write into memory, so that a format has one reader and one writer. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#include <io.h>
#else
#include <unistd.h>
#endif

/* Strict C modes of glibc hide these. */
#if defined(__GLIBC__) && !defined(__USE_XOPEN2K) && !defined(__cplusplus)
extern int fsync(int);
extern int fchmod(int, mode_t);
#endif

enum {
    FILES_CHUNK = 16 << 20, /* bytes a system call; a request to stop is seen between two */
    FILES_NAMES = 100       /* temporary names tried */
};
#ifdef O_CLOEXEC
#define FILES_CLOEXEC O_CLOEXEC
#else
#define FILES_CLOEXEC 0
#endif
#ifdef O_BINARY
#define FILES_BINARY O_BINARY
#else
#define FILES_BINARY 0
#endif

/* --- the system's table ----------------------------------------------------------------------- */

#if defined(_WIN32)
/* The system's spelling of a path, which is UTF-8. NULL with errno: EILSEQ for bytes that are no
 * UTF-8, which would name another file; ENAMETOOLONG. */
enum { FILES_WIDE = 2 * MAX_PATH };
static wchar_t *files_wide(const char *path, wchar_t *wide) {
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, FILES_WIDE) > 0)
        return wide;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
    return NULL;
}
static int files_system_open(const char *path, int flags, int mode, void *user) {
    wchar_t wide[FILES_WIDE];
    (void)user;
    return files_wide(path, wide) ? _wopen(wide, flags, mode & (_S_IREAD | _S_IWRITE)) : -1;
}
static int64_t files_system_read(int fd, void *to, size_t bytes, void *user) {
    return (void)user, _read(fd, to, (unsigned)bytes);
}
static int64_t files_system_write(int fd, const void *from, size_t bytes, void *user) {
    return (void)user, _write(fd, from, (unsigned)bytes);
}
static int64_t files_system_size(int fd, void *user) { return (void)user, _filelengthi64(fd); }
static int files_system_sync(int fd, void *user) { return (void)user, _commit(fd); }
static int files_system_close(int fd, void *user) { return (void)user, _close(fd); }
static int files_system_rename(const char *from, const char *to, void *user) {
    wchar_t wide_from[FILES_WIDE], wide_to[FILES_WIDE];
    (void)user;
    if (!files_wide(from, wide_from) || !files_wide(to, wide_to)) return -1;
    /* WRITE_THROUGH: returns when the rename is on the disk, so no folder is synced. */
    if (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    errno = EACCES;
    return -1;
}
static int files_system_remove(const char *path, void *user) {
    wchar_t wide[FILES_WIDE];
    (void)user;
    return files_wide(path, wide) ? _wremove(wide) : -1;
}
#else
static int files_system_open(const char *path, int flags, int mode, void *user) {
    return (void)user, open(path, flags, (mode_t)mode);
}
static int64_t files_system_read(int fd, void *to, size_t bytes, void *user) {
    return (void)user, read(fd, to, bytes);
}
static int64_t files_system_write(int fd, const void *from, size_t bytes, void *user) {
    return (void)user, write(fd, from, bytes);
}
static int64_t files_system_size(int fd, void *user) {
    struct stat s;
    (void)user;
    return fstat(fd, &s) == 0 ? (int64_t)s.st_size : -1;
}
static int files_system_sync(int fd, void *user) { return (void)user, fsync(fd); }
static int files_system_close(int fd, void *user) { return (void)user, close(fd); }
static int files_system_rename(const char *from, const char *to, void *user) {
    return (void)user, rename(from, to);
}
static int files_system_remove(const char *path, void *user) { return (void)user, remove(path); }
#endif

TN_PRIV void tni_files_fill(tn_files *f) {
    /* Each function of the table may be the host's or, if NULL, the system's. */
    if (!f->open) f->open = files_system_open;
    if (!f->read) f->read = files_system_read;
    if (!f->write) f->write = files_system_write;
    if (!f->size) f->size = files_system_size;
    if (!f->sync) f->sync = files_system_sync;
    if (!f->close) f->close = files_system_close;
    if (!f->rename) f->rename = files_system_rename;
    if (!f->remove) f->remove = files_system_remove;
}

/* --- calls and errors ------------------------------------------------------------------------- */

static const tn_files *files_of(const tni_block *b) { return &b->context->options.files; }

/* Sets the error, closes f and drops its temporary; false. */
static bool files_fail(tni_file *f, const char *what, int number) {
    const char *reason = number ? strerror(number) : "input/output error";
    tni_error(f->b, TN_FILE, "cannot %s '%s': %s", what, f->path, reason);
    tni_file_close(f);
    return false;
}

/* What succeeds leaves errno as it was, though a host's table may not set it when it fails. */
static int files_open(tni_block *b, const char *path, int flags, int mode) {
    const tn_files *t = files_of(b);
    const int number = errno;
    int fd;
    do errno = 0, fd = t->open(path, flags | FILES_CLOEXEC | FILES_BINARY, mode, t->user);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0) errno = number;
    return fd;
}

static int files_sync(tni_block *b, int fd) {
    const tn_files *t = files_of(b);
    const int number = errno;
    int result;
    do errno = 0, result = t->sync(fd, t->user);
    while (result != 0 && errno == EINTR);
    if (result == 0) errno = number;
    return result;
}

/* An interrupted close has closed. */
static bool files_close(tni_file *f) {
    const tn_files *t = files_of(f->b);
    const int fd = f->fd, number = errno;
    f->fd = -1;
    errno = 0;
    const bool closed = fd < 0 || t->close(fd, t->user) == 0 || errno == EINTR;
    if (closed) errno = number;
    return closed;
}

/* A request to stop, as an error; the file is closed and its temporary removed. */
static bool files_stopped(tni_file *f, const char *what) {
    if (!tni_stop_asked(f->b->context)) return false;
    tni_error(f->b, TN_CANCELLED, "cancelled: %s '%s'", what, f->path);
    tni_file_close(f);
    return true;
}

/* Bytes of the next system call. */
static int64_t files_some(int64_t left) {
    const int64_t most = FILES_CHUNK;
    return left < most ? left : most;
}

/* f without a file yet, so that closing it does nothing. */
static bool files_begin(tni_block *b, tni_file *f, const char *path) {
    memset(f, 0, sizeof *f);
    f->b = b;
    f->fd = -1;
    f->path = path;
    return path && *path ? true : tni_error(b, TN_FILE, "the file name is empty");
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Stands for no bytes: f->memory says by being there that f is open. */
static char files_nothing[1];

TN_PRIV void tni_file_over(tni_block *b, tni_file *f, const char *name, void *memory,
                           int64_t bytes) {
    memset(f, 0, sizeof *f);
    f->b = b;
    f->fd = -1;
    f->path = name;
    f->memory = memory ? (char *)memory : files_nothing;
    f->size = memory ? bytes : 0;
}

/* The place of the next bytes in memory; NULL with an error if so many are not left. Polled as a
 * file of this length would be. */
static char *files_memory(tni_file *f, int64_t bytes, const char *what) {
    char *at = f->memory + f->at;
    if (files_stopped(f, what)) return NULL;
    if (bytes > f->size - f->at) {
        tni_error(f->b, TN_FILE, "cannot go on %s '%s': it ends after %lld bytes, expected %lld",
                  what, f->path, (long long)f->size, (long long)(f->at + bytes));
        tni_file_close(f);
        return NULL;
    }
    f->at += bytes;
    return at;
}

static bool files_copy(tni_file *f, void *to, const void *from, int64_t bytes, const char *what) {
    for (int64_t done = 0; done < bytes;) {
        int64_t n = files_some(bytes - done);
        char *at = files_memory(f, n, what);
        if (!at) return false;
        if (to)
            memcpy((char *)to + done, at, (size_t)n);
        else if (from)
            memcpy(at, (const char *)from + done, (size_t)n);
        done += n;
    }
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

TN_PRIV bool tni_file_open(tni_block *b, tni_file *f, const char *path) {
    if (!files_begin(b, f, path)) return false;
    f->fd = files_open(b, path, O_RDONLY, 0);
    if (f->fd < 0) return files_fail(f, "open", errno);
    const int number = errno;
    errno = 0;
    f->size = files_of(b)->size(f->fd, files_of(b)->user);
    if (f->size < 0) return files_fail(f, "find the size of", errno);
    errno = number;
    return true;
}

TN_PRIV bool tni_file_exists(tni_block *b, const char *path, bool *exists) {
    tni_file f;
    const int number = errno;
    *exists = false;
    if (!files_begin(b, &f, path)) return false;
    /* Opening it is the test: a name that may not be read is an error, not an absent file. */
    f.fd = files_open(b, path, O_RDONLY, 0);
    if (f.fd < 0 && errno != ENOENT) return files_fail(&f, "open", errno);
    errno = number;
    if (f.fd < 0) return true;
    tni_file_close(&f);
    return *exists = true;
}

TN_PRIV bool tni_file_read(tni_file *f, void *to, int64_t bytes) {
    const tn_files *t = files_of(f->b);
    if (f->memory) return files_copy(f, to, NULL, bytes, "reading");
    if (f->fd < 0) return tni_error(f->b, TN_INTERNAL, "'%s' is not open", f->path);
    const int number = errno;
    for (int64_t done = 0; done < bytes;) {
        if (files_stopped(f, "reading")) return false;
        int64_t want = files_some(bytes - done);
        errno = 0;
        int64_t n = t->read(f->fd, (char *)to + done, (size_t)want, t->user);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || n > want) return files_fail(f, "read", errno);
        /* The end of the file, too early. */
        if (n == 0) {
            tni_error(f->b, TN_FILE, "cannot read '%s': it ends after %lld bytes, expected %lld",
                      f->path, (long long)f->at, (long long)(f->at + (bytes - done)));
            tni_file_close(f);
            return false;
        }
        done += n;
        f->at += n;
    }
    errno = number;
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What lies at path: its mode, or -1 when nothing does. */
static int files_mode(const char *path, bool *regular) {
    *regular = true;
#if defined(_WIN32)
    (void)path;
#else
    struct stat s;
    const int number = errno;
    if (stat(path, &s) == 0) {
        *regular = S_ISREG(s.st_mode);
        return (int)(s.st_mode & 07777);
    }
    errno = number;
#endif
    return -1;
}

/* path.tmp-<process>-<try>; the process, so that two writers do not meet often. */
static bool files_open_temporary(tni_file *f, int mode) {
    size_t room = strlen(f->path) + 32;
    const int before = errno;
    f->temporary = (char *)tni_need(f->b, (int64_t)room);
    if (!f->temporary) return false;
    f->size = (int64_t)room;
    /* O_EXCL: a file that exists is another writer's, or was left behind by a crash. */
    for (int i = 0; f->fd < 0 && i < FILES_NAMES; i++) {
        snprintf(f->temporary, room, "%s.tmp-%lu-%d", f->path, (unsigned long)tni_process(), i);
        f->fd = files_open(f->b, f->temporary, O_WRONLY | O_CREAT | O_EXCL, mode < 0 ? 0666 : mode);
        if (f->fd < 0 && errno != EEXIST) break;
    }
    if (f->fd >= 0) {
        errno = before; /* of tries whose name was taken */
        return true;
    }
    /* Saved, for tni_put may change it. */
    int number = errno;
    tni_put(f->b, f->b, f->temporary, f->size); /* it is not ours to remove */
    f->temporary = NULL;
    return files_fail(f, "create", number);
}

TN_PRIV bool tni_file_create(tni_block *b, tni_file *f, const char *path) {
    if (!files_begin(b, f, path)) return false;
    bool regular;
    int mode = files_mode(path, &regular);
    /* A pipe or a device has no old content to keep: it is written as it is. */
    if (!regular) {
        f->fd = files_open(b, path, O_WRONLY, 0);
        return f->fd < 0 ? files_fail(f, "open", errno) : true;
    }
    if (!files_open_temporary(f, mode)) return false;
#if !defined(_WIN32)
    /* open has applied the umask, which the old file did not have to pass */
    if (mode >= 0 && files_of(b)->open == files_system_open && fchmod(f->fd, (mode_t)mode) != 0)
        return files_fail(f, "set the mode of", errno);
#endif
    return true;
}

TN_PRIV bool tni_file_write(tni_file *f, const void *from, int64_t bytes) {
    const tn_files *t = files_of(f->b);
    if (f->memory) return files_copy(f, NULL, from, bytes, "writing");
    if (f->fd < 0) return tni_error(f->b, TN_INTERNAL, "'%s' is not open", f->path);
    const int number = errno;
    for (int64_t done = 0; done < bytes;) {
        if (files_stopped(f, "writing")) return false;
        int64_t want = files_some(bytes - done);
        errno = 0;
        int64_t n = t->write(f->fd, (const char *)from + done, (size_t)want, t->user);
        /* Nothing written is a full disk; more than asked for is a broken table. */
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || n > want) return files_fail(f, "write", n == 0 ? ENOSPC : errno);
        done += n;
        f->at += n;
    }
    errno = number;
    return true;
}

/* So that the rename lasts. A folder that cannot be opened or synced on this system is let be;
 * a failing disk is not: then the name leads to the new content, but perhaps not after a loss
 * of power. */
static bool files_sync_folder(tni_file *f) {
#if defined(_WIN32)
    return (void)f, true;
#else
    tni_block *b = f->b;
    const tn_files *t = files_of(b);
    size_t n = strlen(f->path);
    /* The folder: all before the last name, without slashes at its end; "." for a bare name. */
    while (n && f->path[n - 1] != '/') n--;
    while (n > 1 && f->path[n - 1] == '/') n--;
    char *folder = (char *)tni_get(b, (int64_t)n + 2);
    if (!folder) return true;
    memcpy(folder, n ? f->path : ".", n ? n : 1);
    folder[n ? n : 1] = 0;
    /* Only EIO counts: some systems cannot open or sync a folder. */
    const int before = errno;
    int fd = files_open(b, folder, O_RDONLY, 0), number = 0;
    if (fd >= 0) {
        if (files_sync(b, fd) != 0) number = errno;
        t->close(fd, t->user);
    }
    errno = before;
    tni_put(b, b, folder, (int64_t)n + 2);
    return number != EIO ? true : files_fail(f, "sync the folder of", number);
#endif
}

static void files_forget(tni_file *f) {
    tni_put(f->b, f->b, f->temporary, f->size);
    f->temporary = NULL;
}

TN_PRIV bool tni_file_commit(tni_file *f) {
    const tn_files *t = files_of(f->b);
    if (f->memory) return true;
    if (f->fd < 0) return tni_error(f->b, TN_INTERNAL, "'%s' is not open", f->path);
    /* The order matters: content on the disk, then the name, then the folder. */
    if (!f->temporary) return files_close(f) || files_fail(f, "close", errno);
    if (files_sync(f->b, f->fd) != 0) return files_fail(f, "sync", errno);
    if (!files_close(f)) return files_fail(f, "close", errno);
    const int number = errno;
    errno = 0;
    if (t->rename(f->temporary, f->path, t->user) != 0) return files_fail(f, "replace", errno);
    errno = number;
    files_forget(f); /* it has the final name */
    return files_sync_folder(f);
}

TN_PRIV void tni_file_close(tni_file *f) {
    const tn_files *t = files_of(f->b);
    f->memory = NULL;
    files_close(f);
    if (!f->temporary) return;
    t->remove(f->temporary, t->user);
    files_forget(f);
}

#undef FILES_CLOEXEC
#undef FILES_BINARY
