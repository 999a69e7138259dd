/* io.h - files of named tensors: safetensors, read and written; raw bytes.
 *
 * Files are untrusted: any byte string is a valid file or an error, and no code in it runs. Saving
 * is atomic: the path holds the old file or the new one, also after a crash or on a full disk. */
#ifndef TNI_API_IO_H
#define TNI_API_IO_H

#include "extend.h"

TNI_EXTERN_C_BEGIN

/* A tensor with a name, as in a state dict. */
typedef struct tn_named {
    const char *name;
    tn_tensor *tensor;
} tn_named;

/* A list of them that the library made; names belong to the list. `owned`: the tensors, too, else
 * they are borrowed. n = -1: an error is set. Freed with tn_named_free (which takes that, too). */
typedef struct tn_named_list {
    tn_named *at;
    int64_t n;
    int64_t bytes;
    bool owned;
} tn_named_list;
TN_API void tn_named_free(tn_named_list list);
/* The tensor of that name, borrowed; NULL, without an error, when there is none. */
TN_API tn_tensor *tn_named_find(tn_named_list list, const char *name);

/* A pair of texts, kept in a file's header. */
typedef struct tn_note {
    const char *key, *value;
} tn_note;

/* Writes the tensors in the order of their alignment, then as given; any strides, CPU or device.
 * dtypes: all but complex128. Names are UTF-8, distinct. Strong guarantee. */
TN_API bool tn_safetensors_save_at(const char *file, int line, const char *path, const tn_named *at,
                                   int64_t n, const tn_note *notes, int64_t nnotes);
#define tn_safetensors_save(path, at, n) \
    tn_safetensors_save_at(__FILE__, __LINE__, path, at, n, NULL, 0)

/* Reads all tensors of a file into new memory, in the file's order. The list owns them. */
TN_API tn_named_list tn_safetensors_load_at(const char *file, int line, const char *path);
#define tn_safetensors_load(path) tn_safetensors_load_at(__FILE__, __LINE__, path)

/* An open file: the header is checked and kept (header's bytes + 8 a tensor), data are read when
 * asked for. */
typedef struct tn_safetensors tn_safetensors;
TN_API tn_safetensors *tn_safetensors_open_at(const char *file, int line, const char *path);
#define tn_safetensors_open(path) tn_safetensors_open_at(__FILE__, __LINE__, path)
TN_API void tn_safetensors_close(tn_safetensors *f);
TN_API int64_t tn_safetensors_count(const tn_safetensors *f);
/* Name of tensor i, in the file's order; lives as long as f. */
TN_API const char *tn_safetensors_name(const tn_safetensors *f, int64_t i);
/* A new tensor with the data of that name; NULL and INVALID when there is none. */
TN_API tn_tensor *tn_safetensors_get_at(const char *file, int line, tn_safetensors *f,
                                        const char *name);
#define tn_safetensors_get(f, name) tn_safetensors_get_at(__FILE__, __LINE__, f, name)
/* The value of a note ("__metadata__"); NULL, without an error, when there is none. */
TN_API const char *tn_safetensors_note(const tn_safetensors *f, const char *key);

/* Whether something can be opened at path, through the context's file table; false with an error
 * where it cannot be told: there is something, but it may not be read. */
TN_API bool tn_file_exists_at(const char *file, int line, const char *path, bool *exists);
#define tn_file_exists(path, exists) tn_file_exists_at(__FILE__, __LINE__, path, exists)

/* A file's bytes as a new uint8 tensor (bytes). */
TN_API tn_tensor *tn_load_bytes_at(const char *file, int line, const char *path);
#define tn_load_bytes(path) tn_load_bytes_at(__FILE__, __LINE__, path)

/* An IDX file (the format of MNIST), not compressed: a new tensor of the file's shape and dtype
 * (u8, i8, i16, i32, f32, f64). */
TN_API tn_tensor *tn_load_idx_at(const char *file, int line, const char *path);
#define tn_load_idx(path) tn_load_idx_at(__FILE__, __LINE__, path)

TNI_EXTERN_C_END
#endif
