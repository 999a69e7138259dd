/* io.h - files: safetensors and NumPy's are read and written, IDX, CSV and raw bytes are read.
 * State dicts also from and to memory, for programs that carry their model (tools/embed.c).
 *
 * Files are untrusted: any bytes are a valid file or an error, and nothing in them runs as code.
 * Saving is atomic: the path holds the old file or the new one, even after a crash or on a full
 * disk. Paths are UTF-8 on every system: on Windows bytes that are not are an error, elsewhere the
 * system gets them as they are. docs/formats.md describes the formats. */
#ifndef TNI_API_IO_H
#define TNI_API_IO_H

#include "call.h"
#include "tensor.h"

TNI_EXTERN_C_BEGIN

/* A tensor with a name, as in a state dict. */
typedef struct tn_named {
    const char *name;
    tn_tensor *tensor;
} tn_named;

/* A list of named tensors that the library made. It owns its names, and if `owned` the tensors;
 * otherwise they are borrowed. After an error n is -1. Free any of them with tn_named_free. */
typedef struct tn_named_list {
    tn_named *at;
    int64_t n;
    int64_t bytes;
    bool owned;
} tn_named_list;
TN_API void tn_named_free(tn_named_list list);
/* The tensor of that name, borrowed; NULL without an error if there is none. */
TN_API tn_tensor *tn_named_find(tn_named_list list, const char *name);

/* A pair of texts in a file's header ("__metadata__"). */
typedef struct tn_note {
    const char *key, *value;
} tn_note;

/* Writes n tensors of any strides and of any dtype but complex128; names are distinct UTF-8. The
 * file has them by falling element size, then in the given order. False with an error, and the path
 * holds what it held.     tn_safetensors_save("net.safetensors", list.at, list.n) */
TN_API bool tn_safetensors_save_at(const char *file, int line, const char *path, const tn_named *at,
                                   int64_t n, const tn_note *notes, int64_t nnotes);
#define tn_safetensors_save(path, at, n) \
    tn_safetensors_save_at(__FILE__, __LINE__, path, at, n, NULL, 0)

/* Reads all tensors of a file into new memory, in the file's order; the list owns them. */
TN_API tn_named_list tn_safetensors_load_at(const char *file, int line, const char *path);
#define tn_safetensors_load(path) tn_safetensors_load_at(__FILE__, __LINE__, path)

/* Reads all tensors of the files that an index names (model.safetensors.index.json, as large models
 * of Hugging Face have it), file by file; they lie in the index's folder. What the files have
 * beside is left out. A file, or a tensor in it, that is missing is an error which names it. */
TN_API tn_named_list tn_safetensors_load_index_at(const char *file, int line, const char *path);
#define tn_safetensors_load_index(path) tn_safetensors_load_index_at(__FILE__, __LINE__, path)

/* An open file, from which tensors are read one at a time. Opening reads and checks the header and
 * keeps it in memory, with 8 bytes a tensor. NULL with an error. */
typedef struct tn_safetensors tn_safetensors;
TN_API tn_safetensors *tn_safetensors_open_at(const char *file, int line, const char *path);
#define tn_safetensors_open(path) tn_safetensors_open_at(__FILE__, __LINE__, path)
TN_API void tn_safetensors_close(tn_safetensors *f);
TN_API int64_t tn_safetensors_count(const tn_safetensors *f);
/* The name of tensor i, in the file's order; borrowed from f. */
TN_API const char *tn_safetensors_name(const tn_safetensors *f, int64_t i);
/* A new tensor with the data of that name; NULL and INVALID if there is none. */
TN_API tn_tensor *tn_safetensors_get_at(const char *file, int line, tn_safetensors *f,
                                        const char *name);
#define tn_safetensors_get(f, name) tn_safetensors_get_at(__FILE__, __LINE__, f, name)
/* The value of a note, borrowed from f; NULL without an error if there is none. */
TN_API const char *tn_safetensors_note(const tn_safetensors *f, const char *key);

/* --- memory ----------------------------------------------------------------------------------- */

/* The same over the bytes of a file in memory, which must stay as they are until the handle is
 * closed. tn_safetensors_get copies. */
TN_API tn_safetensors *tn_safetensors_open_memory_at(const char *file, int line, const void *data,
                                                     size_t bytes);
#define tn_safetensors_open_memory(data, bytes) \
    tn_safetensors_open_memory_at(__FILE__, __LINE__, data, bytes)

/* Named tensors from the bytes of a file: what tn_safetensors_load returns for that file. Tensors
 * are copies, which know nothing of `data`, unless it is lent:
 *   .borrow    Tensors point into `data` if their elements are aligned there (8 bytes for float64;
 *              the library's files begin each tensor so, if `data` is at a multiple of 8) and the
 *              machine is little-endian; the others are copies. tn_is_wrapped tells which. They are
 *              read-only, and `data` must stay as it is.
 *   .writable  Borrowed tensors may be written in place, which writes `data`.
 *   .release   Called once, when the last borrowed tensor has been freed, by the thread that frees
 *              it; before the load returns if nothing was borrowed. Not called after an error.
 *   .borrowed  Becomes the number of tensors that were borrowed.
 *   .name      Stands for a path in messages; NULL: "memory".
 * n = -1 with an error.
 *     tn_named_list list = tn_load_memory(model, model_size, .borrow = true); */
typedef struct tn_load_args {
    bool borrow, writable;
    void (*release)(void *data, void *user);
    void *user;
    int64_t *borrowed;
    const char *name;
    const void *data; /* these two are required */
    size_t bytes;
    TNI_NAMED_OPTIONS
} tn_load_args;
TN_API tn_named_list tn_load_memory_at(const char *file, int line, const tn_load_args *args);

/* Bytes in memory that the library made, at a multiple of 64. `at` is NULL after an error. Free
 * them with tn_bytes_free. */
typedef struct tn_bytes {
    void *at;
    size_t n;
} tn_bytes;
TN_API void tn_bytes_free(tn_bytes bytes);

/* The bytes of the file that tn_safetensors_save writes.
 *     tn_bytes file = tn_save_memory(list.at, list.n); */
typedef struct tn_save_args {
    const tn_note *notes;
    int64_t nnotes;
    const tn_named *at; /* these two are required */
    int64_t n;
    TNI_NAMED_OPTIONS
} tn_save_args;
TN_API tn_bytes tn_save_memory_at(const char *file, int line, const tn_save_args *args);

#ifndef __cplusplus
#define tn_load_memory(data_, ...) \
    TNI_CALL_AS(tn_load_memory_at, tn_load_args, .data = data_, .bytes = __VA_ARGS__)
#define tn_save_memory(at_, ...) \
    TNI_CALL_AS(tn_save_memory_at, tn_save_args, .at = at_, .n = __VA_ARGS__)
#endif

/* --- other files ------------------------------------------------------------------------------ */

/* Sets *exists to whether a file can be opened at path, through the context's file table. False
 * with an error if a file is there but may not be read. */
TN_API bool tn_file_exists_at(const char *file, int line, const char *path, bool *exists);
#define tn_file_exists(path, exists) tn_file_exists_at(__FILE__, __LINE__, path, exists)

/* A file as a new u8 tensor of shape (bytes); NULL with an error. */
TN_API tn_tensor *tn_load_bytes_at(const char *file, int line, const char *path);
#define tn_load_bytes(path) tn_load_bytes_at(__FILE__, __LINE__, path)

/* Writes n bytes as a file: path holds the old file or the whole new one. False with an error. */
TN_API bool tn_save_bytes_at(const char *file, int line, const char *path, const void *data,
                             size_t n);
#define tn_save_bytes(path, data, n) tn_save_bytes_at(__FILE__, __LINE__, path, data, n)

/* An uncompressed IDX file (the format of MNIST) as a new tensor of the file's shape and dtype: u8,
 * i8, i16, i32, f32 or f64. NULL with an error. */
TN_API tn_tensor *tn_load_idx_at(const char *file, int line, const char *path);
#define tn_load_idx(path) tn_load_idx_at(__FILE__, __LINE__, path)

/* Whether a table's first row has names: found out (a row with a cell that is no number does), yes,
 * or no. */
typedef enum tn_csv_header { TN_CSV_FIND, TN_CSV_NAMES, TN_CSV_NO_NAMES } tn_csv_header;
/* A table of numbers as text (CSV) as a new tensor (rows, columns) of an integer or floating dtype,
 * TN_NO_DTYPE: the default one. Cells may stand in quotes, lines end with LF or CRLF, empty lines
 * are skipped, blanks around a cell are dropped, numbers have a '.'. An empty cell is NaN; in
 * integers it is an error, as is a number out of their range. Errors name line and column.
 *   .columns  becomes the names of a header, with NULL for tensors; free it with tn_named_free. No
 *             names: n is 0.
 * NULL with an error.     tn_load_csv("points.csv", .header = TN_CSV_NAMES, .columns = &names) */
typedef struct tn_csv_args {
    char delimiter;
    tn_csv_header header;
    tn_dtype dtype;
    tn_named_list *columns;
    const char *path; /* required */
    TNI_NAMED_OPTIONS
} tn_csv_args;
TN_API tn_tensor *tn_load_csv_at(const char *file, int line, const tn_csv_args *args);
#ifndef __cplusplus
#define tn_load_csv(...) \
    TNI_CALL_AS(tn_load_csv_at, tn_csv_args, .delimiter = ',', .path = __VA_ARGS__)
#endif

/* A .npy file of NumPy, version 1.0 to 3.0, as a new tensor: bool, integers, float16, 32 and 64,
 * complex64 and 128, of either byte order. A Fortran-order file keeps its column-major strides.
 * Objects and structured dtypes are an error, and so are further bytes. NULL with an error. */
TN_API tn_tensor *tn_load_npy_at(const char *file, int line, const char *path);
#define tn_load_npy(path) tn_load_npy_at(__FILE__, __LINE__, path)
/* Writes t, of any strides, as version 1.0, row-major and little-endian. bfloat16 and float8, which
 * NumPy lacks, are an error. False with an error, and the path holds what it held. */
TN_API bool tn_save_npy_at(const char *file, int line, const char *path, const tn_tensor *t);
#define tn_save_npy(path, t) tn_save_npy_at(__FILE__, __LINE__, path, t)
/* The same from the bytes of a file in memory, which are copied, and into new memory. */
TN_API tn_tensor *tn_load_npy_memory_at(const char *file, int line, const void *data, size_t bytes);
#define tn_load_npy_memory(data, bytes) tn_load_npy_memory_at(__FILE__, __LINE__, data, bytes)
TN_API tn_bytes tn_save_npy_memory_at(const char *file, int line, const tn_tensor *t);
#define tn_save_npy_memory(t) tn_save_npy_memory_at(__FILE__, __LINE__, t)

/* A .npz file, of np.savez or np.savez_compressed: its tensors by their names without ".npy", in
 * the file's order; the list owns them. Needs memory for the whole file besides the tensors. n = -1
 * with an error. */
TN_API tn_named_list tn_load_npz_at(const char *file, int line, const char *path);
#define tn_load_npz(path) tn_load_npz_at(__FILE__, __LINE__, path)
/* Writes n tensors, with distinct UTF-8 names, as np.savez does: without compression. */
TN_API bool tn_save_npz_at(const char *file, int line, const char *path, const tn_named *at,
                           int64_t n);
#define tn_save_npz(path, at, n) tn_save_npz_at(__FILE__, __LINE__, path, at, n)
/* The same from and into memory. */
TN_API tn_named_list tn_load_npz_memory_at(const char *file, int line, const void *data,
                                           size_t bytes);
#define tn_load_npz_memory(data, bytes) tn_load_npz_memory_at(__FILE__, __LINE__, data, bytes)
TN_API tn_bytes tn_save_npz_memory_at(const char *file, int line, const tn_named *at, int64_t n);
#define tn_save_npz_memory(at, n) tn_save_npz_memory_at(__FILE__, __LINE__, at, n)

TNI_EXTERN_C_END
#endif
