/* files.c - damaged files and failing disks, on a disk of our own in memory.
 *
 *     files [SEED [COUNT]]
 *
 * Damaged: a safetensors file, a checkpoint and an IDX file, with bytes flipped, pieces cut out,
 * doubled or exchanged and numbers put in that overflow. Each is read in every way that there is:
 * it is a file or an error, takes no more memory than its size and 1 MiB and keeps none, and a
 * checkpoint that is refused changes nothing. Failing: each operation of a save and of a load in
 * turn is interrupted, cut short, or fails; the path then leads to the old bytes or to the new
 * ones. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t passed, failed;

static void check(bool ok, const char *what, int64_t number) {
    if (ok)
        passed++;
    else if (failed++ < 10)
        printf("%s, case %lld\n", what, (long long)number);
}

/* --- a disk ----------------------------------------------------------------------------------- */

enum { FILES = 8, ROOM = 1 << 16, HANDLES = 8, FOLDER = 1000 };

typedef struct entry {
    char name[64]; /* empty: free */
    int64_t size;
    uint8_t data[ROOM];
} entry;

static entry disk[FILES];
static struct handle {
    int file; /* -1: free */
    int64_t at;
} handles[HANDLES];

/* What operation number `fail_at` does; they are counted from 1. */
enum fault { FAULT_NONE, FAULT_INTERRUPT, FAULT_SHORT, FAULT_ERROR, FAULT_FULL, FAULTS };
static enum fault fault;
static int64_t operations, fail_at;

static bool fails(bool moves_bytes) {
    if (++operations != fail_at || fault == FAULT_NONE) return false;
    if (fault == FAULT_SHORT && !moves_bytes) return false;
    errno = fault == FAULT_INTERRUPT ? EINTR : fault == FAULT_FULL ? ENOSPC : EIO;
    return fault != FAULT_SHORT;
}

static int find(const char *name) {
    for (int i = 0; i < FILES; i++)
        if (strcmp(disk[i].name, name) == 0) return i;
    return -1;
}

static int disk_open(const char *path, int flags, int mode, void *user) {
    int i = find(path), h = 0;
    (void)mode, (void)user;
    if (fails(false)) return -1;
    if (!strchr(path, '.') || strcmp(path, ".") == 0) return FOLDER;
    if (i < 0 && !(flags & O_CREAT)) return errno = ENOENT, -1;
    if (i >= 0 && flags & O_EXCL) return errno = EEXIST, -1;
    if (i < 0) {
        for (i = 0; i < FILES && disk[i].name[0];) i++;
        if (i == FILES) return errno = ENOSPC, -1;
        snprintf(disk[i].name, sizeof disk[i].name, "%s", path);
        disk[i].size = 0;
    }
    if (flags & O_TRUNC) disk[i].size = 0;
    while (h < HANDLES && handles[h].file >= 0) h++;
    if (h == HANDLES) return errno = EMFILE, -1;
    handles[h].file = i;
    handles[h].at = 0;
    return h;
}

static int64_t disk_read(int fd, void *to, size_t bytes, void *user) {
    struct handle *h = &handles[fd];
    int64_t left = disk[h->file].size - h->at, n = (int64_t)bytes < left ? (int64_t)bytes : left;
    (void)user;
    if (fails(true)) return -1;
    if (fault == FAULT_SHORT && operations == fail_at) n /= 2;
    if (n > 0) memcpy(to, disk[h->file].data + h->at, (size_t)n);
    h->at += n;
    return n;
}

static int64_t disk_write(int fd, const void *from, size_t bytes, void *user) {
    struct handle *h = &handles[fd];
    int64_t left = ROOM - h->at, n = (int64_t)bytes < left ? (int64_t)bytes : left;
    (void)user;
    if (fails(true)) return -1;
    if (fault == FAULT_SHORT && operations == fail_at) n = n > 1 ? n / 2 : n;
    if (n <= 0) return errno = ENOSPC, -1;
    memcpy(disk[h->file].data + h->at, from, (size_t)n);
    h->at += n;
    if (h->at > disk[h->file].size) disk[h->file].size = h->at;
    return n;
}

static int64_t disk_size(int fd, void *user) {
    (void)user;
    return fails(false) ? -1 : disk[handles[fd].file].size;
}
static int disk_sync(int fd, void *user) { return (void)fd, (void)user, fails(false) ? -1 : 0; }
static int disk_close(int fd, void *user) {
    (void)user;
    if (fd != FOLDER) handles[fd].file = -1;
    return fails(false) ? -1 : 0;
}
static int disk_rename(const char *from, const char *to, void *user) {
    int i = find(from), old = find(to);
    (void)user;
    if (fails(false) && errno != EINTR) return -1; /* a rename is not interrupted */
    if (i < 0) return errno = ENOENT, -1;
    if (old >= 0) disk[old].name[0] = 0;
    snprintf(disk[i].name, sizeof disk[i].name, "%s", to);
    return 0;
}
static int disk_remove(const char *path, void *user) {
    int i = find(path);
    (void)user;
    if (fails(false)) return -1;
    if (i < 0) return errno = ENOENT, -1;
    disk[i].name[0] = 0;
    return 0;
}

static void put(const char *name, const uint8_t *data, int64_t size) {
    int i = find(name);
    for (int k = 0; i < 0 && k < FILES; k++)
        if (!disk[k].name[0]) i = k;
    snprintf(disk[i].name, sizeof disk[i].name, "%s", name);
    memcpy(disk[i].data, data, (size_t)size);
    disk[i].size = size;
}
static int on_disk(void) {
    int n = 0;
    for (int i = 0; i < FILES; i++) n += disk[i].name[0] != 0;
    return n;
}
static int open_handles(void) {
    int n = 0;
    for (int i = 0; i < HANDLES; i++) n += handles[i].file >= 0;
    return n;
}

/* --- what is saved ---------------------------------------------------------------------------- */

static tn_module *net;
static tn_optimizer *adam;
static tn_named_number numbers[1];
static tn_state state;

static void step(void) {
    TN_SCOPE {
        tn_backward(tn_sum(tn_forward(net, tn_ones(TN_DIMS(2, 3)))));
        tn_optimizer_step(adam);
    }
}

static void world_begin(void) {
    tn_manual_seed(4);
    net = tn_sequential(tn_nn_linear(3, 5), tn_nn_relu(), tn_nn_linear(5, 2));
    adam = tn_optim_adam(tn_parameters(net), .lr = 0.01);
    numbers[0].name = "epoch";
    numbers[0].value = 3;
    memset(&state, 0, sizeof state);
    state.model = net;
    state.optimizer = adam;
    state.numbers = numbers;
    state.nnumbers = 1;
    step();
}

/* All of the model's bytes, mixed. */
static uint64_t model_hash(void) {
    uint64_t h = 1469598103934665603u;
    tn_tensors p = tn_parameters(net);
    for (int64_t i = 0; i < p.n; i++) {
        const uint8_t *at = (const uint8_t *)tn_data(p.at[i]);
        for (int64_t k = 0; k < tn_numel(p.at[i]) * 4; k++) h = (h ^ at[k]) * 1099511628211u;
    }
    return h;
}

static void make_files(void) {
    uint8_t idx[4 + 12 + 24] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
    for (int i = 16; i < 40; i++) idx[i] = (uint8_t)i;
    put("a.idx", idx, sizeof idx);
    TN_SCOPE {
        static const char *const names[] = {"x", "some.long.name", "\xc3\xa9", "0-dim"};
        tn_tensor *made[] = {tn_randn(TN_DIMS(3, 4)), tn_ones(TN_DIMS(2), .dtype = TN_F64),
                             tn_zeros(TN_DIMS(0, 3), .dtype = TN_I16),
                             tn_full(TN_EMPTY_DIMS, true)};
        tn_named t[4];
        for (int i = 0; i < 4; i++) t[i].name = names[i], t[i].tensor = made[i];
        check(tn_safetensors_save("a.safetensors", t, 4), "saving", 0);
    }
    check(tn_checkpoint_save("a.checkpoint", &state), "saving a checkpoint", 0);
}

/* --- damage ----------------------------------------------------------------------------------- */

static uint64_t random_state;
static int64_t below(int64_t n) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ z >> 31) % (uint64_t)(n < 1 ? 1 : n));
}

static const char *const texts[] = {"18446744073709551615",
                                    "9223372036854775807",
                                    "-1",
                                    "1e99",
                                    "0",
                                    "4294967296",
                                    "null",
                                    "{}",
                                    "[]",
                                    "[[",
                                    "\"",
                                    "\\u0000",
                                    "\\ud800",
                                    "{\"a\":",
                                    "\"dtype\":\"F32\"",
                                    "1.5",
                                    "[0,0]",
                                    "\"__metadata__\":{",
                                    "e",
                                    ",",
                                    ":",
                                    "\xff\xfe",
                                    "99999999999"};

static int64_t damage(uint8_t *data, int64_t size) {
    int64_t at = below(size), n = below(16);
    const char *text = texts[below((int64_t)(sizeof texts / sizeof *texts))];
    int64_t length = (int64_t)strlen(text);
    switch (below(7)) {
    case 0: data[at] ^= (uint8_t)(1 << below(8)); break;
    case 1: data[at] = (uint8_t)below(256); break;
    case 2: size = at; break;
    case 3: /* a piece out */
        if (n > size - at) n = size - at;
        memmove(data + at, data + at + n, (size_t)(size - at - n));
        size -= n;
        break;
    case 4: /* a piece twice */
        if (n > size - at) n = size - at;
        memmove(data + at + n, data + at, (size_t)(size - at));
        size += n;
        break;
    case 5: /* a text over it */
        if (at + length <= size) memcpy(data + at, text, (size_t)length);
        break;
    default: /* a text into it, and the header's length along */
        memmove(data + at + length, data + at, (size_t)(size - at));
        memcpy(data + at, text, (size_t)length);
        size += length;
        if (size > 8 && below(2)) data[0] = (uint8_t)(data[0] + length);
    }
    return size;
}

static void read_all(const char *path) {
    tn_named_list l = tn_safetensors_load(path);
    tn_named_free(l);
    tn_error_take(NULL);
    tn_safetensors *f = tn_safetensors_open(path);
    for (int64_t i = 0; f && i < tn_safetensors_count(f); i++)
        tn_free(tn_safetensors_get(f, tn_safetensors_name(f, i)));
    if (f) tn_safetensors_note(f, "format");
    tn_safetensors_close(f);
    tn_error_take(NULL);
    tn_free(tn_load_idx(path));
    tn_error_take(NULL);
}

static void damaged(int64_t count) {
    static const char *const names[] = {"a.safetensors", "a.checkpoint", "a.idx"};
    static uint8_t data[2 * ROOM];
    int64_t as_before = tn_memory().live_tensors;
    for (int64_t k = 0; k < count; k++) {
        const entry *e = &disk[find(names[k % 3])];
        int64_t size = e->size, used, peak;
        uint64_t before = model_hash();
        memcpy(data, e->data, (size_t)size);
        for (int64_t n = 1 + below(3); n > 0; n--) size = damage(data, size);
        put("b.damaged", data, size);
        used = tn_memory().bytes_used;
        tn_memory_reset_peak();
        read_all("b.damaged");
        peak = tn_memory().bytes_peak - used;
        check(peak <= size + (1 << 20), "memory beyond the file and 1 MiB", k);
        check(tn_memory().bytes_used == used, "a read has kept memory", k);
        if (!tn_checkpoint_load("b.damaged", &state)) {
            check(tn_error_take(NULL), "refused without an error", k);
            check(tn_memory().bytes_used == used, "a refused checkpoint has kept memory", k);
            check(model_hash() == before, "a refused checkpoint has changed the model", k);
        } else {
            tn_checkpoint_load("a.checkpoint", &state);
        }
        check(open_handles() == 0, "a file is left open", k);
        check(tn_memory().live_tensors == as_before, "tensors are left", k);
    }
    disk_remove("b.damaged", NULL);
}

/* --- failing ---------------------------------------------------------------------------------- */

static void failing_saves(void) {
    static uint8_t old[ROOM], new_bytes[ROOM];
    int64_t old_size, new_size, all;
    int i = find("a.checkpoint"), files = on_disk();
    memcpy(old, disk[i].data, (size_t)(old_size = disk[i].size));
    step();
    operations = 0;
    check(tn_checkpoint_save("a.checkpoint", &state), "saving", 0);
    all = operations;
    i = find("a.checkpoint");
    memcpy(new_bytes, disk[i].data, (size_t)(new_size = disk[i].size));
    check(all > 4, "a save has too few operations", all);
    for (fault = FAULT_INTERRUPT; fault < FAULTS; fault++)
        for (fail_at = 1; fail_at <= all + 2; fail_at++) {
            bool ok, is_old, is_new;
            put("a.checkpoint", old, old_size);
            operations = 0;
            ok = tn_checkpoint_save("a.checkpoint", &state);
            i = find("a.checkpoint");
            is_old =
                i >= 0 && disk[i].size == old_size && !memcmp(disk[i].data, old, (size_t)old_size);
            is_new = i >= 0 && disk[i].size == new_size &&
                     !memcmp(disk[i].data, new_bytes, (size_t)new_size);
            check(is_old || is_new, "a mixed or missing file", fail_at);
            check(!ok || is_new, "said to be saved, and is not", fail_at);
            check(ok || tn_error_take(NULL), "not saved, without an error", fail_at);
            check((fault != FAULT_INTERRUPT && fault != FAULT_SHORT) || ok,
                  "an interrupted or short operation is an error", fail_at);
            check(open_handles() == 0, "a file is left open", fail_at);
            check(on_disk() == files, "a temporary file is left", fail_at);
        }
    fault = FAULT_NONE;
}

static void failing_loads(void) {
    int64_t all;
    uint64_t saved = model_hash(), other;
    operations = 0;
    put("a.checkpoint", disk[find("a.checkpoint")].data, disk[find("a.checkpoint")].size);
    check(tn_checkpoint_save("a.checkpoint", &state), "saving", 0);
    step();
    other = model_hash();
    operations = 0;
    check(tn_checkpoint_load("a.checkpoint", &state) && model_hash() == saved, "loading", 0);
    all = operations;
    for (fault = FAULT_INTERRUPT; fault < FAULTS; fault++)
        for (fail_at = 1; fail_at <= all; fail_at++) {
            bool ok;
            int64_t at = fail_at;
            fail_at = 0;
            tn_checkpoint_load("a.checkpoint", &state);
            step();
            other = model_hash();
            fail_at = at;
            operations = 0;
            ok = tn_checkpoint_load("a.checkpoint", &state);
            check(ok || tn_error_take(NULL), "not loaded, without an error", at);
            check(model_hash() == (ok ? saved : other), "half a checkpoint was loaded", at);
            check(open_handles() == 0, "a file is left open", at);
        }
    fault = FAULT_NONE;
}

int main(int argc, char **argv) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int i = 0; i < HANDLES; i++) handles[i].file = -1;
    o.threads = -1;
    o.no_cache = true;
    o.files.open = disk_open, o.files.read = disk_read, o.files.write = disk_write;
    o.files.size = disk_size, o.files.sync = disk_sync, o.files.close = disk_close;
    o.files.rename = disk_rename, o.files.remove = disk_remove;
    tn_context *context = tn_context_new(&o);
    tn_context_use(context);
    world_begin();
    make_files();
    damaged(argc > 2 ? strtoll(argv[2], NULL, 10) : 3000);
    failing_saves();
    failing_loads();
    check(!tn_error_print(), "an error is left", 0);
    tn_optimizer_free(adam);
    tn_module_free(net);
    tn_context_free(context);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
