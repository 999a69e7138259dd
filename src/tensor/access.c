/* access.c - reading a tensor from outside: sizes, data, items; memory of the user's own. */
#include "tensor.h"

TN_API tn_scalar tn_element(const void *at, tn_dtype dtype) { return tni_element(at, (int)dtype); }
TN_API int tn_ndim(const tn_tensor *t) { return tni_there(t, "tn_ndim") ? t->ndim : 0; }

static int64_t access_dim(const tn_tensor *t, int dim, const int64_t *of, const char *name) {
    /* A wrong dimension is an error of its own, since these functions return numbers: 0 then. */
    int d = t ? (dim < 0 ? dim + t->ndim : dim) : -1;
    tni_block *b;
    if (t && !tni_there(t, name)) return 0;
    if (t && d >= 0 && d < t->ndim) return of[d];
    b = tni_here();
    if (!b) return 0;
    if (!t)
        tni_error_apart(b, TN_INVALID, "%s: the tensor is NULL", name);
    else
        tni_error_apart(b, TN_INDEX,
                        "%s: dimension %d is out of range for a tensor of %d dimensions", name, dim,
                        t->ndim);
    return 0;
}
TN_API int64_t tn_size(const tn_tensor *t, int dim) {
    return access_dim(t, dim, t ? t->size : NULL, "tn_size");
}
TN_API int64_t tn_stride(const tn_tensor *t, int dim) {
    return access_dim(t, dim, t ? t->stride : NULL, "tn_stride");
}
TN_API tn_ints tn_shape(const tn_tensor *t) {
    return tni_there(t, "tn_shape") ? tni_ints(t->size, t->ndim) : tn_empty_dims();
}
TN_API tn_ints tn_strides(const tn_tensor *t) {
    return tni_there(t, "tn_strides") ? tni_ints(t->stride, t->ndim) : tn_empty_dims();
}
TN_API int64_t tn_numel(const tn_tensor *t) { return tni_there(t, "tn_numel") ? t->numel : 0; }
TN_API tn_dtype tn_dtype_of(const tn_tensor *t) {
    return tni_there(t, "tn_dtype_of") ? (tn_dtype)t->dtype : TN_NO_DTYPE;
}
TN_API tn_device_id tn_device_of(const tn_tensor *t) {
    return tni_there(t, "tn_device_of") ? t->device : TN_NO_DEVICE;
}
TN_API bool tn_is_contiguous(const tn_tensor *t) {
    return tni_there(t, "tn_is_contiguous") && tni_is_row_major(t->ndim, t->size, t->stride);
}
TN_API int64_t tn_storage_offset(const tn_tensor *t) {
    return tni_there(t, "tn_storage_offset") ? t->offset : 0;
}

TN_API void *tn_data(const tn_tensor *t) {
    if (!tni_there(t, "tn_data") || !t->storage || !t->storage->data ||
        t->storage->kind == TNI_DATA_DEVICE)
        return NULL;
    return tni_bytes_at(t);
}

TN_API int64_t tn_version(const tn_tensor *t) {
    return tni_there(t, "tn_version") && t->storage ? tni_load_relaxed(tni_version_of(t)) : 0;
}
TN_API bool tn_is_view(const tn_tensor *t) { return tni_there(t, "tn_is_view") && t->base; }
TN_API bool tn_is_read_only(const tn_tensor *t) {
    return tni_there(t, "tn_is_read_only") && t->flags & TNI_READ_ONLY;
}
TN_API bool tn_is_wrapped(const tn_tensor *t) {
    return tni_there(t, "tn_is_wrapped") && t->storage && t->storage->kind == TNI_DATA_WRAPPED;
}
TN_API bool tn_same_storage(const tn_tensor *a, const tn_tensor *b) {
    return tni_there(a, "tn_same_storage") && tni_there(b, "tn_same_storage") &&
           a->storage == b->storage;
}
TN_API int64_t tn_storage_bytes(const tn_tensor *t) {
    return tni_there(t, "tn_storage_bytes") && t->storage ? t->storage->bytes : 0;
}

TN_API bool tn_touch(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!b) return false;
    if (!t) return tni_error_apart(b, TN_INVALID, "tn_touch: the tensor is NULL");
    if (!tni_there(t, "tn_touch")) return false;
    tni_fetch_add_relaxed(tni_version_of(t), 1u);
    return true;
}

TN_API bool tn_count_apart(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!b) return false;
    if (!t) return tni_error_apart(b, TN_INVALID, "tn_count_apart: the tensor is NULL");
    if (!tni_there(t, "tn_count_apart")) return false;
    /* A view's history is that of its base, which notices writes by their count. */
    if (t->base)
        return tni_error_apart(b, TN_AUTOGRAD, "tn_count_apart: the tensor is a view of another");
    t->flags |= TNI_APART;
    return true;
}

/* --- items ------------------------------------------------------------------------------------ */

/* What a tensor without data is. */
static const char *access_kind(const tn_tensor *t) {
    if (t->flags & TNI_SPARSE) return "sparse tensor";
    return t->flags & TNI_BATCHED ? "tensor that stands for all samples of a batch" : "meta tensor";
}

/* A copy on the CPU of what a device has. A replay would not read it again, and what the program
 * decides by it would be as old as the recording. NULL with an error. */
static tn_tensor *access_device(tni_block *b, const tn_tensor *t, const char *function) {
    if (!(tni_load_relaxed(&b->hooks) & TNI_HOOK_RECORD)) return tni_device_down(b, t);
    tni_error(b, TN_UNSUPPORTED, "%s: a replay would not read the device again", function);
    return NULL;
}

static tn_scalar access_item(tni_block *b, const tn_tensor *t) {
    /* The element as a number, or an error and TN_KIND_NONE. */
    char text[160];
    tn_scalar s = tn_none();
    if (!t)
        tni_error(b, TN_INVALID, "tn_item: the tensor is NULL");
    else if (!tni_usable(b, t, "tn_item"))
        return tn_none();
    else if (t->numel != 1)
        tni_error(b, TN_INVALID, "tn_item: expected one element, got %s",
                  tni_tensor_text(text, sizeof text, t));
    else if (t->flags & TNI_DEVICE) {
        tn_tensor *here = access_device(b, t, "tn_item");
        if (here) {
            s = tni_element(tni_bytes_at(here), here->dtype);
            tni_drop(b, here);
        }
        return s;
    } else if (!tn_data(t))
        tni_error(b, TN_UNSUPPORTED, "tn_item: a %s has no data", access_kind(t));
    else
        return tni_element(tni_bytes_at(t), t->dtype);
    return s;
}

TN_API tn_scalar tn_item_scalar_at(const char *file, int line, const tn_tensor *t) {
    tni_block *b = tni_here();
    tn_scalar s;
    if (!tni_enter(b, file, line)) return tn_none();
    s = access_item(b, t);
    tni_leave(b, !b->failed);
    return s;
}

TN_API double tn_item_at(const char *file, int line, const tn_tensor *t) {
    tni_block *b = tni_here();
    tn_scalar s;
    if (!tni_enter(b, file, line)) return 0;
    /* Integers are converted, complex numbers only if they are real. */
    s = access_item(b, t);
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        tni_error(b, TN_TYPE, "tn_item: the element is complex; use tn_item_scalar");
    if (!tni_leave(b, !b->failed)) return 0;
    return s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT ? (double)s.integer : s.real;
}

TN_API int64_t tn_item_int_at(const char *file, int line, const tn_tensor *t) {
    tn_scalar s = tn_item_scalar_at(file, line, t);
    int64_t v = s.integer;
    if (s.kind == TN_KIND_FLOAT || s.kind == TN_KIND_COMPLEX) tni_element_set(&v, TN_I64, s);
    return v;
}

TN_API double tnp_item(const tn_tensor *t) { return tn_item_at(NULL, 0, t); }
TN_API int64_t tnp_item_int(const tn_tensor *t) { return tn_item_int_at(NULL, 0, t); }
TN_API tn_scalar tnp_item_scalar(const tn_tensor *t) { return tn_item_scalar_at(NULL, 0, t); }

static bool access_may_read(tni_block *b, const tn_tensor *t, const void *to, int64_t count) {
    /* The array must have room for exactly the tensor's elements. */
    if (!t || (count && !to))
        return tni_error(b, TN_INVALID, "tn_read: the tensor or the array is NULL");
    if (!tni_usable(b, t, "tn_read")) return false;
    if (count != t->numel)
        return tni_error(b, TN_INVALID,
                         "tn_read: the tensor has %lld elements, but the array has %lld",
                         (long long)t->numel, (long long)count);
    if (count && !tn_data(t) && !(t->flags & TNI_DEVICE))
        return tni_error(b, TN_UNSUPPORTED, "tn_read: a %s has no data", access_kind(t));
    return true;
}

/* Row-major copy of every element, of which there are some, converted to dtype. */
static void access_copy(const tn_tensor *t, char *to, int dtype) {
    /* index and at walk over t in row-major order; at counts elements. */
    int64_t index[TN_MAX_DIMS] = {0}, bytes = tni_dtype(dtype)->bytes, at = 0;
    const char *from = tni_bytes_at(t);
    if (t->dtype == dtype && t->flags & TNI_CONTIGUOUS) {
        memcpy(to, from, (size_t)(t->numel * bytes));
        return;
    }
    for (int64_t i = 0; i < t->numel; i++) {
        int d = t->ndim - 1;
        tni_element_set(to + i * bytes, dtype,
                        tni_element(from + at * tni_dtype_size(t), t->dtype));
        /* On to the next element: the last dimension that has not run over. */
        for (; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d];
            index[d] = 0;
        }
    }
}

static bool access_read(const char *file, int line, const tn_tensor *t, void *to, int64_t count,
                        int dtype) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    if (!access_may_read(b, t, to, count)) return tni_leave(b, false);
    if (count && t->flags & TNI_DEVICE) {
        tn_tensor *here = access_device(b, t, "tn_read");
        if (!here) return tni_leave(b, false);
        access_copy(here, (char *)to, dtype);
        tni_drop(b, here);
    } else if (count) {
        access_copy(t, (char *)to, dtype);
    }
    return true;
}

#define ACCESS_READ(suffix, type, DTYPE)                                                        \
    TN_API bool tn_read_##suffix##_at(const char *file, int line, const tn_tensor *t, type *to, \
                                      int64_t count) {                                          \
        return access_read(file, line, t, to, count, DTYPE);                                    \
    }                                                                                           \
    TN_API bool tnp_read_##suffix(const tn_tensor *t, type *to, int64_t count) {                \
        return access_read(NULL, 0, t, to, count, DTYPE);                                       \
    }
ACCESS_READ(f32, float, TN_F32)
ACCESS_READ(f64, double, TN_F64)
ACCESS_READ(i64, int64_t, TN_I64)
#undef ACCESS_READ

/* --- from memory ------------------------------------------------------------------------------ */

static bool access_enter(tni_block *b, const char *file, int line, const char *what, tn_ints shape,
                         tn_dtype dtype) {
    if (!tni_enter(b, file, line)) return false;
    if (shape.n < 0 || shape.n > TN_MAX_DIMS || (shape.n && !shape.at))
        return tni_error(b, TN_INVALID, "%s: expected a shape of 0 to %d dimensions", what,
                         TN_MAX_DIMS);
    if (dtype <= TN_NO_DTYPE || dtype >= TN_DTYPE_COUNT)
        return tni_error(b, TN_TYPE, "%s: this dtype does not exist", what);
    return true;
}

static bool access_fits(tni_block *b, const tn_tensor *t, const void *data, size_t room) {
    const size_t bytes = (size_t)(t->numel * tni_dtype_size(t));
    char text[TN_MAX_DIMS * 22 + 40];
    if (bytes && !data) return tni_error(b, TN_INVALID, "tn_from: data is NULL");
    if (bytes <= room) return true;
    return tni_error(b, TN_INVALID, "tn_from: %s of shape %s has %llu bytes, the array has %llu",
                     tn_dtype_name((tn_dtype)t->dtype),
                     tni_shape_text(text, sizeof text, t->ndim, t->size), (unsigned long long)bytes,
                     (unsigned long long)room);
}

/* t, new and on the CPU, or NULL, on the thread's default device. */
TNI_INLINE tn_tensor *access_placed(tni_block *b, tn_tensor *t) {
    const int device = tni_state(b)->device;
    return TNI_LIKELY(!device) || !t ? t : tni_device_up(b, t, device);
}

TN_API tn_tensor *tn_from_room_at(const char *file, int line, const void *data, size_t room,
                                  tn_ints shape, tn_dtype dtype) {
    tni_block *b = tni_here();
    tn_tensor *t;
    /* A new row-major tensor; the data are copied. */
    if (!access_enter(b, file, line, "tn_from", shape, dtype)) return NULL;
    t = tni_new(b, (int)dtype, (int)shape.n, shape.at);
    if (!t) return NULL;
    if (!access_fits(b, t, data, room)) {
        tni_drop(b, t);
        return NULL;
    }
    if (t->numel) memcpy(t->storage->data, data, (size_t)(t->numel * tni_dtype_size(t)));
    return access_placed(b, t);
}

/* Sets the CPU as the default device; returns what the block had. */
static uint8_t access_on_cpu(tni_block *b) {
    const uint8_t before = b ? tni_state(b)->device : 0;
    if (b) tni_state(b)->device = 0;
    return before;
}

TN_API tn_tensor *tnp_from(const void *data, tn_ints shape, tn_dtype dtype, tn_device_id device) {
    tni_block *b = tni_here();
    const uint8_t before = access_on_cpu(b);
    tn_tensor *t = tn_from_at(NULL, 0, data, shape, dtype);
    if (b) tni_state(b)->device = before;
    if (!t || device == TN_CPU) return t;
    return device == TN_NO_DEVICE ? access_placed(b, t) : tni_device_up(b, t, device);
}

TN_API tn_tensor *tn_from_at(const char *file, int line, const void *data, tn_ints shape,
                             tn_dtype dtype) {
    return tn_from_room_at(file, line, data, SIZE_MAX, shape, dtype);
}

/* The dtype that torch.tensor gives such a list; TN_NO_DTYPE with an error if one is no number. */
static int access_dtype_of(tni_block *b, const tn_scalar *numbers, int64_t n) {
    bool whole = true;
    for (int64_t i = 0; i < n; i++) {
        const int kind = numbers[i].kind;
        if (kind < TN_KIND_BOOL || kind > TN_KIND_FLOAT) {
            tni_error(b, TN_TYPE, "tn_tensor_of: number %lld is not an int or a float",
                      (long long)i);
            return TN_NO_DTYPE;
        }
        whole = whole && kind != TN_KIND_FLOAT;
    }
    return whole ? TN_I64 : (int)tni_tensors(b->context)->default_dtype;
}

static tn_tensor *access_tensor_of(tni_block *b, int dtype, tn_ints shape, const tn_scalar *numbers,
                                   int64_t n) {
    const int found = access_dtype_of(b, numbers, n);
    char text[TN_MAX_DIMS * 22 + 40];
    int64_t numel;
    tn_tensor *t;
    if (found == TN_NO_DTYPE) return NULL;
    if (tni_numel_of((int)shape.n, shape.at, &numel) && numel != n) {
        tni_error(b, TN_INVALID, "tn_tensor_of: shape %s has %lld elements, got %lld numbers",
                  tni_shape_text(text, sizeof text, (int)shape.n, shape.at), (long long)numel,
                  (long long)n);
        return NULL;
    }
    t = tni_new(b, dtype ? dtype : found, (int)shape.n, shape.at);
    for (int64_t i = 0; t && i < n; i++)
        tni_element_set((char *)t->storage->data + i * tni_dtype_size(t), t->dtype, numbers[i]);
    return t;
}

TN_API tn_tensor *tn_tensor_of_at(const char *file, int line, tn_dtype dtype, tn_ints shape,
                                  const tn_scalar *numbers, int64_t n) {
    tni_block *b = tni_here();
    tn_tensor *t = NULL;
    if (!b || b->failed) return NULL;
    if (access_enter(b, file, line, "tn_tensor_of", shape, dtype ? dtype : TN_F32)) {
        if (n >= 1 && n <= TN_MOST_NUMBERS && numbers)
            t = access_placed(b, access_tensor_of(b, (int)dtype, shape, numbers, n));
        else
            tni_error(b, TN_INVALID,
                      "tn_tensor_of: got %lld numbers, expected 1 to %d; tn_from takes more",
                      (long long)n, TN_MOST_NUMBERS);
    }
    tni_leave(b, t != NULL);
    return t;
}

TN_API tn_tensor *tn_number_at(const char *file, int line, tn_dtype dtype,
                               const tn_scalar *number) {
    tni_block *b = tni_here();
    const uint8_t before = access_on_cpu(b);
    tn_tensor *t = tn_tensor_of_at(file, line, dtype, tn_empty_dims(), number, 1);
    if (b) tni_state(b)->device = before;
    return t;
}

/* Kernels read an element as C's own type. */
typedef struct access_after {
    char before;
    double wide;
} access_after;
TN_PRIV int tni_align_of(int dtype) {
    const int bytes = (int)tni_dtype(dtype)->bytes / (tni_is_complex(dtype) ? 2 : 1),
              most = (int)offsetof(access_after, wide);
    return bytes < most ? bytes : most;
}

TN_API tn_tensor *tn_wrap_at(const char *file, int line, void *data, tn_ints shape, tn_dtype dtype,
                             const tn_wrap_options *options) {
    static const tn_wrap_options plain = {{NULL, 0}, 0, NULL, NULL, false};
    const tn_wrap_options *o = options ? options : &plain;
    tni_block *b = tni_here();
    int64_t span = 0;
    tn_tensor *t;
    /* The memory stays the caller's until release; nothing is copied. */
    if (!access_enter(b, file, line, "tn_wrap", shape, dtype)) return NULL;
    /* What is given must be consistent before a header is made. */
    if (o->strides.n > 0 && o->strides.n != shape.n) {
        tni_error(b, TN_INVALID, "tn_wrap: got %d strides for %d dimensions", (int)o->strides.n,
                  (int)shape.n);
        return NULL;
    }
    if ((uintptr_t)data % (uintptr_t)tni_align_of((int)dtype)) {
        tni_error(b, TN_INVALID,
                  "tn_wrap: the data is not aligned to %d bytes, as %s needs; copy it first",
                  tni_align_of((int)dtype), tni_dtype((int)dtype)->text);
        return NULL;
    }
    /* A header first: it checks sizes and strides, and its extent is what the memory must hold. */
    t = tni_header(b, (int)dtype, (int)shape.n, shape.at, o->strides.n > 0 ? o->strides.at : NULL);
    if (!t) return NULL;
    if (!tni_extent(t, &span) || (o->bytes > 0 && span > o->bytes) || o->bytes < 0 ||
        (span && !data)) {
        tni_drop(b, t);
        if (!data)
            tni_error(b, TN_INVALID, "tn_wrap: data is NULL");
        else
            tni_error(b, TN_INVALID,
                      "tn_wrap: shape and strides reach beyond the %lld bytes of the memory",
                      (long long)o->bytes);
        return NULL;
    }
    /* The storage is as long as the strides reach, and calls release at its end. */
    t->storage = tni_storage_wrap(b, data, span, o->release, o->user);
    if (!t->storage) {
        tni_drop(b, t);
        return (tn_tensor *)NULL;
    }
    if (o->read_only) t->flags |= TNI_READ_ONLY;
    return t;
}

TN_API tn_tensor *tn_base_of(const tn_tensor *t) {
    return tni_there(t, "tn_base_of") ? t->base : NULL;
}
