/* dataset.c - sets of items over tensors, images, IDX files, and parts of other sets. */
#include "data.h"
#include "../api/ops/shape.h"

/* --- the set ---------------------------------------------------------------------------------- */

TN_PRIV int64_t tni_field_bytes(const tn_field *f) {
    int64_t bytes = tn_dtype_bytes(f->dtype);
    for (int i = 0; i < f->ndim; i++) bytes *= f->size[i];
    return bytes;
}

/* Whether a field is of a known dtype and its bytes fit an int64_t with room to spare: a loader
 * multiplies them by the items of a batch. */
static bool dataset_field_fits(const tn_field *f) {
    int64_t bytes = tn_dtype_bytes(f->dtype);
    if (bytes < 1 || f->ndim < 0 || f->ndim >= TN_MAX_DIMS) return false;
    for (int i = 0; i < f->ndim; i++) {
        if (f->size[i] < 0 || (f->size[i] > 0 && bytes > INT64_MAX / 1024 / f->size[i]))
            return false;
        bytes *= f->size[i];
    }
    return true;
}

static bool dataset_fits(const tn_dataset *d) {
    bool ok = d->size >= 0 && d->nfields >= 1 && d->nfields <= TN_MAX_FIELDS && d->get;
    for (int i = 0; ok && i < d->nfields; i++) ok = dataset_field_fits(&d->field[i]);
    return ok || tni_nn_error(TN_INVALID, "expected a data set with size, get and 1 to %d fields",
                              TN_MAX_FIELDS);
}

/* A copy of `like` in memory of its own; if it fails, `like` is destroyed, as the caller
 * gave it away. */
static tn_dataset *dataset_make(const tn_dataset *like) {
    tn_dataset *d = NULL, given;
    if (!like) {
        tni_nn_error(TN_INVALID, "the data set is NULL");
        return NULL;
    }
    if (tn_ok() && dataset_fits(like)) d = (tn_dataset *)tn_alloc(sizeof *d);
    if (d) {
        *d = *like;
        d->count = 1;
        return d;
    }
    given = *like;
    if (given.destroy) given.destroy(&given);
    return NULL;
}

TN_API tn_dataset *tn_dataset_new_at(const char *file, int line, const tn_dataset *like) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_make(like);
    tni_step_end(&step);
    return d;
}

TN_API tn_dataset *tn_dataset_hold(tn_dataset *d) {
    if (d) d->count++;
    return d;
}
TN_API void tn_dataset_free(tn_dataset *d) {
    if (!d || !tn_context_exists() || --d->count > 0) return;
    if (d->destroy) d->destroy(d);
    tn_alloc_free(d, sizeof *d);
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* Contiguous tensors, held, and what get reads of them: the address of row 0 and the bytes
 * of a row. */
typedef struct dataset_rows {
    tn_tensor *held[TN_MAX_FIELDS];
    const char *at[TN_MAX_FIELDS];
    int64_t bytes[TN_MAX_FIELDS];
    float table[256]; /* of images: the float of a byte */
    int label_bytes;
    bool label_signed;
} dataset_rows;

static void dataset_rows_destroy(tn_dataset *d) {
    dataset_rows *r = (dataset_rows *)d->user;
    for (int i = 0; r && i < TN_MAX_FIELDS; i++) tn_release(r->held[i]);
    if (r) tn_alloc_free(r, sizeof *r);
    d->user = NULL;
}

/* Makes field i of t's rows: t itself if it is contiguous, else a copy. The first tensor sets
 * the set's size. */
static bool dataset_rows_add(tn_dataset *d, int i, tn_tensor *t) {
    dataset_rows *r = (dataset_rows *)d->user;
    tn_ints shape = tn_shape(t);
    tn_tensor *dense;
    int64_t mark;
    if (!t) return tni_nn_error(TN_INVALID, "tensor %d is NULL", i);
    if (shape.n < 1) return tni_nn_error(TN_INVALID, "tensor %d has no rows", i);
    if (tn_device_of(t) != TN_CPU)
        return tni_nn_error(TN_UNSUPPORTED, "tensor %d is not on the CPU", i);
    if (i > 0 && shape.at[0] != d->size)
        return tni_nn_error(TN_INVALID, "tensor %d has %lld rows, tensor 0 has %lld", i,
                            (long long)shape.at[0], (long long)d->size);
    /* A contiguous copy, if one is made, belongs to the set alone. */
    mark = tn_scope_begin();
    dense = tn_is_contiguous(t) ? t : tnp_contiguous(t);
    if (dense) dense = r->held[i] = tn_retain(dense);
    tn_scope_end(mark);
    if (!dense) return false;
    /* The field is a row: the tensor's sizes without the first. */
    d->size = shape.at[0];
    d->field[i].dtype = tn_dtype_of(t);
    d->field[i].ndim = (int)shape.n - 1;
    for (int64_t k = 1; k < shape.n; k++) d->field[i].size[k - 1] = shape.at[k];
    if (!dataset_field_fits(&d->field[i]))
        return tni_nn_error(TN_INVALID, "the rows of tensor %d are too large", i);
    r->at[i] = (const char *)tn_data(dense);
    r->bytes[i] = tni_field_bytes(&d->field[i]);
    return true;
}

/* Item `index` is a row of each tensor. Only reads, so any number of threads may call it. */
static bool dataset_rows_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_rows *r = (const dataset_rows *)d->user;
    for (int i = 0; i < d->nfields; i++)
        if (r->bytes[i]) memcpy(to[i], r->at[i] + index * r->bytes[i], (size_t)r->bytes[i]);
    return true;
}

/* An empty set of rows, to be given to dataset_make or dataset_rows_destroy. */
static bool dataset_rows_begin(tn_dataset *d) {
    memset(d, 0, sizeof *d);
    if (!tn_ok()) return false;
    d->user = tn_alloc(sizeof(dataset_rows));
    if (!d->user) return false;
    memset(d->user, 0, sizeof(dataset_rows));
    d->destroy = dataset_rows_destroy;
    d->get = dataset_rows_get;
    return true;
}

/* A set of the tensors' rows; what was held is released if it fails. */
static tn_dataset *dataset_tensors(tn_tensors tensors) {
    tn_dataset d;
    bool ok = dataset_rows_begin(&d);
    if (!ok) return NULL;
    if (tensors.n < 1 || tensors.n > TN_MAX_FIELDS || !tensors.at)
        ok = tni_nn_error(TN_INVALID, "expected 1 to %d tensors", TN_MAX_FIELDS);
    for (int i = 0; ok && i < (int)tensors.n; i++) ok = dataset_rows_add(&d, i, tensors.at[i]);
    d.nfields = (int)tensors.n;
    if (ok) return dataset_make(&d);
    dataset_rows_destroy(&d);
    return NULL;
}

TN_API tn_dataset *tn_dataset_tensors_at(const char *file, int line, tn_tensors tensors) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_tensors(tensors);
    tni_step_end(&step);
    return d;
}

/* --- images ----------------------------------------------------------------------------------- */

/* The label of an item, of any integer dtype, as an int64. */
static int64_t dataset_label(const dataset_rows *r, int64_t index) {
    const char *at = r->at[1] + index * r->bytes[1];
    int64_t v64;
    int32_t v32;
    int16_t v16;
    switch (r->label_bytes) {
    case 1:
        return r->label_signed ? (int64_t) * (const int8_t *)at : (int64_t) * (const uint8_t *)at;
    case 2: memcpy(&v16, at, sizeof v16); return v16;
    case 4: memcpy(&v32, at, sizeof v32); return v32;
    default: memcpy(&v64, at, sizeof v64); return v64;
    }
}

/* Field 0: the image's bytes through the table; field 1: its label as an int64. */
static bool dataset_images_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_rows *r = (const dataset_rows *)d->user;
    const uint8_t *from = (const uint8_t *)r->at[0] + index * r->bytes[0];
    float *image = (float *)to[0];
    int64_t label = dataset_label(r, index);
    for (int64_t i = 0; i < r->bytes[0]; i++) image[i] = r->table[from[i]];
    memcpy(to[1], &label, sizeof label);
    return true;
}

/* What is asked of images and labels beside rows of one number. */
static bool dataset_images_fit(const tn_tensor *images, const tn_tensor *labels, double std) {
    tn_dtype label = tn_dtype_of(labels);
    int n = tn_ndim(images);
    if (!images || !labels) return tni_nn_error(TN_INVALID, "images or labels are NULL");
    if (tn_dtype_of(images) != TN_U8 || (n != 3 && n != 4))
        return tni_nn_error(TN_INVALID, "images: expected uint8 (N, H, W) or (N, C, H, W)");
    if (tn_ndim(labels) != 1 ||
        (label != TN_U8 && label != TN_I8 && label != TN_I16 && label != TN_I32 && label != TN_I64))
        return tni_nn_error(TN_INVALID, "labels: expected integers (N)");
    return std > 0 || tni_nn_error(TN_INVALID, "std must be positive");
}

static tn_dataset *dataset_images(tn_tensor *images, tn_tensor *labels, double mean, double std) {
    tn_dataset d;
    dataset_rows *r;
    if (!dataset_rows_begin(&d)) return NULL;
    r = (dataset_rows *)d.user;
    if (!dataset_images_fit(images, labels, std) || !dataset_rows_add(&d, 0, images) ||
        !dataset_rows_add(&d, 1, labels)) {
        dataset_rows_destroy(&d);
        return NULL;
    }
    r->label_bytes = (int)r->bytes[1];
    r->label_signed = d.field[1].dtype != TN_U8;
    /* Each of the 256 bytes is normalised once, in float as torchvision does. */
    for (int v = 0; v < 256; v++) r->table[v] = ((float)v / 255.0f - (float)mean) / (float)std;
    d.field[0].dtype = TN_F32;
    /* (H, W) becomes (1, H, W). */
    if (d.field[0].ndim == 2) {
        d.field[0].ndim = 3;
        d.field[0].size[2] = d.field[0].size[1];
        d.field[0].size[1] = d.field[0].size[0];
        d.field[0].size[0] = 1;
    }
    d.field[1].dtype = TN_I64;
    d.nfields = 2;
    d.get = dataset_images_get;
    return dataset_make(&d);
}

TN_API tn_dataset *tn_dataset_images_at(const char *file, int line, tn_tensor *images,
                                        tn_tensor *labels, double mean, double std) {
    tn_dataset *d;
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_images(images, labels, mean, std);
    tni_step_end(&step);
    return d;
}

TN_API tn_dataset *tn_dataset_idx_at(const char *file, int line, const char *images_path,
                                     const char *labels_path, double mean, double std) {
    tn_dataset *d = NULL;
    tn_tensor *images, *labels;
    tni_step step;
    int64_t mark;
    tni_place_begin(&step, file, line);
    /* The set holds the tensors that it keeps. */
    mark = tn_scope_begin();
    images = tn_load_idx_at(NULL, 0, images_path);
    labels = images ? tn_load_idx_at(NULL, 0, labels_path) : NULL;
    if (labels) d = dataset_images(images, labels, mean, std);
    tn_scope_end(mark);
    tni_step_end(&step);
    return d;
}

/* --- parts of sets ---------------------------------------------------------------------------- */

/* Items from, from + 1, .. of another set, which it owns. */
typedef struct dataset_part {
    tn_dataset *of;
    int64_t from;
} dataset_part;

static bool dataset_part_get(const tn_dataset *d, int64_t index, void *const *to) {
    const dataset_part *p = (const dataset_part *)d->user;
    return p->of->get(p->of, p->from + index, to);
}
static void dataset_part_destroy(tn_dataset *d) {
    dataset_part *p = (dataset_part *)d->user;
    tn_dataset_free(p->of);
    tn_alloc_free(p, sizeof *p);
}

static tn_dataset *dataset_slice(tn_dataset *d, int64_t from, int64_t to) {
    dataset_part *p = NULL;
    tn_dataset part;
    if (tn_ok() && (!d || from < 0 || from > to || to > d->size))
        tni_nn_error(TN_INVALID, "slice: expected 0 <= from <= to <= %lld",
                     d ? (long long)d->size : 0LL);
    /* From here on d belongs to the part: whatever fails, it is freed. */
    if (tn_ok()) p = (dataset_part *)tn_alloc(sizeof *p);
    if (!p) {
        tn_dataset_free(d);
        return NULL;
    }
    p->of = d;
    p->from = from;
    /* The fields are the same; what belongs to the other set is replaced. */
    part = *d;
    part.size = to - from;
    part.get = dataset_part_get;
    part.destroy = dataset_part_destroy;
    part.user = p;
    return dataset_make(&part);
}

TN_API tn_dataset *tn_dataset_slice_at(const char *file, int line, tn_dataset *d, int64_t from,
                                       int64_t to) {
    tni_step step;
    tni_place_begin(&step, file, line);
    d = dataset_slice(d, from, to);
    tni_step_end(&step);
    return d;
}
