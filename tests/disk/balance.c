/* balance.c - a save or a load that fails gives back all memory that it took: each operation of
 * each failing in turn, with each error and short; files that end early, that are none, that are
 * not there, folders that are not there. And what is given to a call that fails stays the caller's.
 *
 *     balance FOLDER */
#define _XOPEN_SOURCE 700
#include "disk.h"

#include "../balance.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[200], path[300], none[300];
static const char *name; /* of the file in question */
static world w;
static int64_t refused;

/* --- operations that fail --------------------------------------------------------------------- */

enum { AS_EIO, AS_ENOSPC, AS_ENOENT, AS_EXISTS, AS_SHORT, AS_ENDED, FORMS };
static int64_t operations, fail_at; /* fail_at: number of the operation that fails, 0: none */
static int form;

/* Whether this operation fails; with errno. */
static bool fails(void) {
    static const int number[FORMS] = {EIO, ENOSPC, ENOENT, EEXIST, EIO, EIO};
    if (++operations != fail_at) return false;
    errno = number[form];
    return true;
}
static int op_open(const char *file, int flags, int mode, void *user) {
    (void)user;
    return fails() ? -1 : open(file, flags, mode);
}
static int64_t op_read(int fd, void *to, size_t bytes, void *user) {
    (void)user;
    if (!fails()) return read(fd, to, bytes);
    return form == AS_ENDED ? 0 : form == AS_SHORT ? read(fd, to, (bytes + 1) / 2) : -1;
}
static int64_t op_write(int fd, const void *from, size_t bytes, void *user) {
    (void)user;
    if (!fails()) return write(fd, from, bytes);
    return form == AS_ENDED ? 0 : form == AS_SHORT ? write(fd, from, (bytes + 1) / 2) : -1;
}
static int64_t op_size(int fd, void *user) {
    struct stat s;
    (void)user;
    if (fstat(fd, &s) != 0) return -1;
    return !fails() ? s.st_size : form == AS_ENDED ? 0 : form == AS_SHORT ? s.st_size / 2 : -1;
}
static int op_sync(int fd, void *user) { return (void)fd, (void)user, fails() ? -1 : 0; }
static int op_close(int fd, void *user) {
    const int result = close(fd);
    (void)user;
    return fails() ? -1 : result;
}
static int op_rename(const char *from, const char *to, void *user) {
    (void)user;
    return fails() ? -1 : rename(from, to);
}
static int op_remove(const char *file, void *user) {
    (void)user;
    return fails() ? -1 : remove(file);
}

/* --- what is called --------------------------------------------------------------------------- */

static bool save_tensors(void) {
    tn_named one = {"weight", tn_module_tensor(w.net, "0.weight")};
    tn_note note = {"key", "value"};
    return tn_safetensors_save_at(NULL, 0, name, &one, 1, &note, 1);
}
static bool save_module(void) { return tn_module_save_file(w.net, name); }
static bool save_checkpoint(void) { return tn_checkpoint_save(name, &w.state); }
static bool load_tensors(void) {
    tn_named_list l = tn_safetensors_load(name);
    const bool ok = l.n >= 0;
    tn_named_free(l);
    return ok;
}
static bool load_one(void) {
    tn_safetensors *f = tn_safetensors_open(name);
    tn_tensor *t = f ? tn_safetensors_get(f, "2.weight") : NULL;
    const bool ok = t != NULL;
    tn_free(t);
    tn_safetensors_close(f);
    return ok;
}
static bool load_module(void) { return tn_module_load_file(w.net, name); }
static bool load_checkpoint(void) { return tn_checkpoint_load(name, &w.state); }
static bool tensor(tn_tensor *t) {
    tn_free(t);
    return t != NULL;
}
static bool load_idx(void) { return tensor(tn_load_idx(name)); }
static bool save_npy(void) { return tn_save_npy(name, tn_module_tensor(w.net, "0.weight")); }
static bool load_npy(void) { return tensor(tn_load_npy(name)); }
static bool save_npz(void) {
    tn_named one = {"weight", tn_module_tensor(w.net, "0.weight")};
    return tn_save_npz(name, &one, 1);
}
static bool load_npz(void) {
    tn_named_list l = tn_load_npz(name);
    const bool ok = l.n >= 0;
    tn_named_free(l);
    return ok;
}
/* An index of one file, which lies beside it. */
static bool save_index(void) {
    char text[400], part[400];
    const char *own = strrchr(path, '/');
    tn_named one = {"weight", tn_module_tensor(w.net, "0.weight")};
    snprintf(part, sizeof part, "%s-1", path);
    snprintf(text, sizeof text, "{\"weight_map\": {\"weight\": \"%s-1\"}}", own ? own + 1 : path);
    file_write(path, text, strlen(text));
    return tn_safetensors_save(part, &one, 1);
}
static bool load_index(void) {
    tn_named_list l = tn_safetensors_load_index(name);
    const bool ok = l.n >= 0;
    tn_named_free(l);
    return ok;
}
static bool save_csv(void) {
    static const char text[] = "a,b\n1,2\n3,4\n";
    file_write(path, text, sizeof text - 1);
    return true;
}
static bool load_csv(void) {
    tn_named_list names;
    const bool ok = tensor(tn_load_csv(name, .columns = &names));
    tn_named_free(names);
    return ok;
}
static bool load_bytes(void) { return tensor(tn_load_bytes(name)); }
static bool load_set(void) {
    tn_dataset *d = tn_dataset_idx(name, name, 0, 1);
    tn_dataset_free(d);
    return d != NULL;
}
static bool exists(void) {
    bool is;
    return tn_file_exists(name, &is);
}

static const struct job {
    const char *text;
    bool (*call)(void);
    bool (*save)(void); /* what makes its file; NULL: pictures */
} jobs[] = {
    {"tn_safetensors_save", save_tensors, save_tensors},
    {"tn_module_save_file", save_module, save_module},
    {"tn_checkpoint_save", save_checkpoint, save_checkpoint},
    {"tn_safetensors_load", load_tensors, save_module},
    {"tn_safetensors_get", load_one, save_module},
    {"tn_module_load_file", load_module, save_module},
    {"tn_checkpoint_load", load_checkpoint, save_checkpoint},
    {"tn_load_idx", load_idx, NULL},
    {"tn_save_npy", save_npy, save_npy},
    {"tn_load_npy", load_npy, save_npy},
    {"tn_save_npz", save_npz, save_npz},
    {"tn_load_npz", load_npz, save_npz},
    {"tn_load_csv", load_csv, save_csv},
    {"tn_safetensors_load_index", load_index, save_index},
    {"tn_load_bytes", load_bytes, NULL},
    {"tn_dataset_idx", load_set, NULL},
    {"tn_file_exists", exists, save_tensors},
};
enum { JOBS = (int)(sizeof jobs / sizeof *jobs) };

static bool worked;
static void once(void *arg) {
    operations = 0;
    worked = ((const struct job *)arg)->call();
    if (worked == tn_error_take(NULL)) check(false, "an error, or none", 0);
    if (!worked) refused++;
}
/* Memory is as before; number says which case it is. */
static void stays(const struct job *j, const char *what, int64_t number) {
    char text[200];
    const int64_t kept = balance_kept(once, (void *)(uintptr_t)j);
    snprintf(text, sizeof text, "%s has kept %lld bytes: %s", j->text, (long long)kept, what);
    check(kept <= 0, text, number);
}
static void file_of(const struct job *j) {
    static const uint8_t idx[4 + 4 + 30] = {0, 0, 8, 1, 0, 0, 0, 30};
    fail_at = 0;
    name = path;
    if (!j->save)
        file_write(path, idx, sizeof idx);
    else
        check(j->save(), "the file of this case", 0);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void operations_that_fail(const struct job *j) {
    for (form = 0; form < FORMS; form++) {
        int64_t all = 0;
        for (fail_at = 1; fail_at == 1 || fail_at <= all + 1; fail_at++) {
            const int64_t k = fail_at;
            file_of(j);
            fail_at = k;
            stays(j, "operation", form * 1000 + k);
            if (operations > all) all = operations;
        }
        fail_at = 0;
        leftovers(path, true);
        check(all > 1, "a job has too few operations", all);
    }
}

/* Its file ends early, at every length of its header and some of its data. */
static void files_that_end(const struct job *j) {
    size_t size;
    char *bytes;
    file_of(j);
    bytes = file_bytes(path, &size);
    for (size_t n = 0; bytes && n < size; n += n < 700 ? 1 : 97) {
        file_write(path, bytes, n);
        stays(j, "a file that ends at", (int64_t)n);
    }
    free(bytes);
}

static void names_that_lead_nowhere(const struct job *j) {
    const char *const names[] = {none, folder, "", NULL, "/dev/null/file"};
    file_of(j);
    for (int i = 0; i < 5; i++) {
        name = names[i];
        stays(j, "name", i);
    }
}

int main(int argc, char **argv) {
    const tn_files table = {op_open,  op_read,   op_write,  op_size, op_sync,
                            op_close, op_rename, op_remove, NULL};
    tn_context *c;
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : ".");
    snprintf(path, sizeof path, "%s/tn-balance-%ld", folder, (long)getpid());
    snprintf(none, sizeof none, "%s/none/of/these", folder);
    c = context_new(&table, 0);
    world_begin(&w, 4);
    for (int i = 0; i < JOBS; i++) {
        operations_that_fail(&jobs[i]);
        if (jobs[i].call != jobs[i].save) files_that_end(&jobs[i]);
        names_that_lead_nowhere(&jobs[i]);
    }
    world_end(&w);
    check(tn_memory().live_tensors == 0, "tensors are left", tn_memory().live_tensors);
    tn_context_use(NULL);
    tn_context_free(c);
    remove(path);
    snprintf(none, sizeof none, "%s-1", path);
    remove(none);
    check(refused > 1000, "calls that were refused", refused);
    printf("promise 4: %lld saves and loads that failed, by each operation, at each length of a "
           "file, by name: 0 bytes kept\n",
           (long long)refused);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
