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
/* Whether all bytes are 0 or 1: any other byte is no bool, and would be an undefined value in C. */
TN_PRIV bool tni_bools_fit(const void *at, int64_t n);

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

/* --- lists of tensors ------------------------------------------------------------------------- */

/* An owned list with room for n tensors, whose names have so many bytes with their NULs; *names is
 * where the first will stand. False with an error, and n is -1. */
TN_PRIV bool tni_named_begin(tn_named_list *list, int64_t n, int64_t name_bytes, char **names);
/* Appends t, new, with a copy of a name of so many bytes. t is NULL after an error: then the list
 * is freed, n is -1, and the result is false. */
TN_PRIV bool tni_named_add(tn_named_list *list, char **names, const void *name, int64_t bytes,
                           tn_tensor *t);

/* --- formats ---------------------------------------------------------------------------------- */

/* Opens a file, or memory if that is not NULL, and checks its header; NULL with an error. */
TN_PRIV tn_safetensors *tni_safetensors_open(tni_block *b, const char *path,
                                             const tni_memory *memory);
/* Tensor i in the current scope, over the caller's memory if that is lent; NULL with an error. */
TN_PRIV tn_tensor *tni_safetensors_read(tn_safetensors *f, int64_t i);
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
/* f is a new file at path or, if `memory` is not NULL, new memory of that length, which a format
 * fills to the last byte; then the file or that memory, or nothing after a failure. Returns ok. */
TN_PRIV bool tni_save_begin(tni_block *b, tni_file *f, const char *path, int64_t bytes,
                            tn_bytes *memory);
TN_PRIV bool tni_save_end(tni_file *f, bool ok, tn_bytes *memory);
/* Whether a text is there and UTF-8. */
TN_PRIV bool tni_text_fits(const char *text);
/* Whether no two of the names, none of them NULL, are the same; else an error that names one. */
TN_PRIV bool tni_names_differ(const tni_saving *s);
/* Row-major little-endian elements of t, of any strides. */
TN_PRIV bool tni_file_write_tensor(tni_file *f, const tn_tensor *t);

/* A .npy file that reaches from f's place to its end, as a new tensor; NULL with an error. */
TN_PRIV tn_tensor *tni_npy_read(tni_file *f);
/* Bytes of the .npy file of t, which has been checked; -1 with an error if it cannot be one. */
TN_PRIV int64_t tni_npy_bytes(tni_block *b, const tn_tensor *t, const char *name);
TN_PRIV bool tni_npy_write(tni_file *f, const tn_tensor *t);
/* Fills `room` bytes from a stream of deflate (RFC 1951); false if it is damaged or has another
 * length. */
TN_PRIV bool tni_inflate(const uint8_t *from, int64_t bytes, uint8_t *to, int64_t room);

/* Of safetensors files: the largest header, the format's own limit; bytes of a buffer on the stack
 * through which files are read and written. */
enum { TNI_SAFE_HEADER_MAX = 100000000, TNI_SAFE_CHUNK = 4096 };

/* A whole file, with a NUL behind it, to be given back by tni_put(b, b, at, *bytes + 1); NULL with
 * an error. */
TN_PRIV char *tni_file_whole(tni_block *b, const char *path, int64_t *bytes);
/* Reads and drops bytes. */
TN_PRIV bool tni_file_skip(tni_file *f, int64_t bytes);

#endif
