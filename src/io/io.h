/* io.h (room) - tensors as text, and formats of files on the base's whole-file reading and atomic
 * writing. Calls no operators. */
#ifndef TNI_IO_IO_H
#define TNI_IO_IO_H

#include "../api/io.h"
#include "../tensor/tensor.h"

/* Enters a public function of this room: NULL when an error is pending or there is no memory for
 * a block. */
TN_PRIV tni_block *tni_io_enter(const char *file, int line);
/* Leaves it: tells the handler of a failure. */
TN_PRIV void tni_io_leave(tni_block *b);

/* Elements of `bytes` each between the file's little (or, for IDX, big) end and the host's;
 * in place. */
TN_PRIV void tni_swap_bytes(void *at, int64_t count, int64_t bytes);
TN_PRIV bool tni_host_is_little(void);

/* --- memory in place of a file ---------------------------------------------------------------- */

/* Memory that tensors of one load borrow, until the last of them is freed. */
typedef struct tni_lender tni_lender;
/* A caller's memory. lender NULL: all is copied. */
typedef struct tni_memory {
    char *at; /* never NULL */
    int64_t bytes;
    tni_lender *lender;
} tni_memory;
#define TNI_MEMORY_NAME "memory" /* the path of memory without a name, in messages */

/* Describes memory of so many bytes; false with an error if it cannot be. */
TN_PRIV bool tni_memory_of(tni_block *b, tni_memory *memory, const void *data, size_t bytes);
/* A lender counts the tensors over its memory and the load that makes them. NULL with MEMORY. */
TN_PRIV tni_lender *tni_lender_new(tni_block *b, const tn_load_args *args);
/* The end of a load. ok: the caller's release is called with the last tensor, or now if there is
 * none. Else it is never called. */
TN_PRIV void tni_lender_end(tni_lender *lender, bool ok);
/* Whether a tensor may point at elements that lie there: they are aligned and of this host's byte
 * order. */
TN_PRIV bool tni_may_lend(const void *at, int dtype);
/* A tensor over elements at `at`, which were checked; NULL with MEMORY. */
TN_PRIV tn_tensor *tni_lend(tni_lender *lender, void *at, int dtype, int ndim, const int64_t *size);

/* --- formats ---------------------------------------------------------------------------------- */

/* A safetensors file, or memory if that is not NULL: all its tensors. n = -1 with an error. */
TN_PRIV tn_named_list tni_safetensors_load(tni_block *b, const char *path,
                                           const tni_memory *memory);
/* What is to be saved; all borrowed. */
typedef struct tni_saving {
    tni_block *b;
    const tn_named *at;
    int64_t n;
    const tn_note *notes;
    int64_t nnotes;
} tni_saving;
/* Writes the file, or new memory if `memory` is not NULL. */
TN_PRIV bool tni_safetensors_save(const tni_saving *s, const char *path, tn_bytes *memory);
/* f over new memory of that length, which a format fills to the last byte; then that memory, or
 * nothing after a failure. Returns ok. */
TN_PRIV bool tni_memory_begin_save(tni_block *b, tni_file *f, int64_t bytes, tn_bytes *memory);
TN_PRIV bool tni_memory_end_save(tni_file *f, bool ok, tn_bytes *memory);
/* Row-major little-endian elements of t, of any strides. */
TN_PRIV bool tni_file_write_tensor(tni_file *f, const tn_tensor *t);

/* Of safetensors files: the largest header, the format's own limit; bytes of a buffer on the stack
 * through which files are read and written. */
enum { TNI_SAFE_HEADER_MAX = 100000000, TNI_SAFE_CHUNK = 4096 };

/* Reads and drops bytes. */
TN_PRIV bool tni_file_skip(tni_file *f, int64_t bytes);

#endif
