/* data.h - data sets, and loaders that shuffle, batch and read ahead.
 *
 *     tn_loader *loader = tn_loader_new(dataset, .batch_size = 64, .shuffle = true, .workers = 2);
 *     tn_batch b;
 *     for (int epoch = 0; epoch < 5; epoch++)
 *         while (tn_loader_next(loader, &b)) { ... b.field[0], b.field[1] ... }
 *
 * Sets lie in memory or in IDX files; threads read ahead. A seed gives the order of
 * torch.utils.data.DataLoader and leaves the generator as torch does, for any number of workers.
 * One thread at a time may use a loader. */
#ifndef TNI_API_DATA_H
#define TNI_API_DATA_H

#include "optim.h"

TNI_EXTERN_C_BEGIN

/* --- data sets -------------------------------------------------------------------------------- */

enum { TN_MAX_FIELDS = 4 };

/* One field of an item: an image, a label. */
typedef struct tn_field {
    tn_dtype dtype;
    int ndim;
    int64_t size[TN_MAX_DIMS];
} tn_field;

/* A set of `size` items. get writes item `index` to to[0..nfields-1], the elements of each field
 * row-major. Several threads call it at the same time, so it must not change the set. It returns
 * false with an error. */
typedef struct tn_dataset tn_dataset;
struct tn_dataset {
    int64_t size;
    int nfields;
    tn_field field[TN_MAX_FIELDS];
    bool (*get)(const tn_dataset *d, int64_t index, void *const *to);
    void (*destroy)(tn_dataset *d); /* releases user, not d; may be NULL */
    void *user;
    int32_t count; /* owners */
};

/* Your own set: a copy of *like, with one owner. If it fails it calls like->destroy and returns
 * NULL with an error. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_new_at(const char *file, int line,
                                                   const tn_dataset *like);
#define tn_dataset_new(...) tn_dataset_new_at(__FILE__, __LINE__, __VA_ARGS__)
TN_API tn_dataset *tn_dataset_hold(tn_dataset *d); /* one more owner; returns d */
TN_API void tn_dataset_free(tn_dataset *d);        /* drops one owner; NULL is allowed */

/* Item i is row i of each tensor (torch's TensorDataset). Holds the tensors, which must be on the
 * CPU. NULL with an error. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_tensors_at(const char *file, int line,
                                                       tn_tensors tensors);
#define tn_dataset_tensors(...) tn_dataset_tensors_at(__FILE__, __LINE__, __VA_ARGS__)
/* Images u8 (N, H, W) or (N, C, H, W) become f32 (C, H, W), (v / 255 - mean) / std, as by
 * torchvision's ToTensor and Normalize; labels, integers (N), become i64. Holds the tensors. NULL
 * with an error, also if std is 0. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_images_at(const char *file, int line, tn_tensor *images,
                                                      tn_tensor *labels, double mean, double std);
#define tn_dataset_images(images, labels, mean, std) \
    tn_dataset_images_at(__FILE__, __LINE__, images, labels, mean, std)
/* The same from two IDX files. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_idx_at(const char *file, int line,
                                                   const char *images_path, const char *labels_path,
                                                   double mean, double std);
#define tn_dataset_idx(images_path, labels_path, mean, std) \
    tn_dataset_idx_at(__FILE__, __LINE__, images_path, labels_path, mean, std)
/* Items from..to-1 of d, which it takes over, even if it fails. */
TN_USE_RESULT TN_API tn_dataset *tn_dataset_slice_at(const char *file, int line, tn_dataset *d,
                                                     int64_t from, int64_t to);
#define tn_dataset_slice(d, from, to) tn_dataset_slice_at(__FILE__, __LINE__, d, from, to)

/* --- the loader ------------------------------------------------------------------------------- */

typedef struct tn_loader tn_loader;
TNI_RESULT_OF(tn_loader)
typedef struct tn_loader_args {
    int64_t batch_size;
    bool shuffle, drop_last;
    int32_t workers;         /* threads that read ahead; 0: none */
    int32_t prefetch;        /* batches that each worker reads ahead */
    tn_generator *generator; /* NULL: the default one, as torch */
    tn_dataset *dataset;     /* required; the loader takes it over, even if it fails */
    TNI_NAMED_OPTIONS
} tn_loader_args;
/* A new loader; NULL with an error. tn_context_free frees loaders that are left. */
TN_USE_RESULT TN_API tn_loader *tn_loader_new_at(const char *file, int line,
                                                 const tn_loader_args *args);
#ifndef __cplusplus
#define tn_loader_new(...)                                                               \
    TNI_RESULT(tn_loader, TNI_CALL_AS(tn_loader_new_at, tn_loader_args, .batch_size = 1, \
                                      .prefetch = 2, .dataset = __VA_ARGS__))
#endif
TN_API void tn_loader_free(tn_loader *l);
TN_API int64_t tn_loader_batches(const tn_loader *l); /* in an epoch */
TN_API tn_dataset *tn_loader_dataset(const tn_loader *l);
TN_API tn_generator *tn_loader_generator(const tn_loader *l); /* NULL: it uses the default one */

/* A batch: tensors of the current scope, of shape (n, sizes of the field). The loader reuses their
 * memory once they are freed. */
typedef struct tn_batch {
    tn_tensor *field[TN_MAX_FIELDS];
    int nfields;
    int64_t n;     /* items */
    int64_t index; /* of the batch in the epoch */
} tn_batch;
/* Fetches the next batch; the first call begins an epoch and draws its order. False at the end of
 * the epoch, after which the next call begins another, and with an error: ask tn_ok(). */
TN_API bool tn_loader_next_at(const char *file, int line, tn_loader *l, tn_batch *batch);
#define tn_loader_next(l, batch) tn_loader_next_at(__FILE__, __LINE__, l, batch)
/* Ends the epoch early; the next call of tn_loader_next begins another. */
TN_API void tn_loader_stop(tn_loader *l);

TNI_EXTERN_C_END
#endif
