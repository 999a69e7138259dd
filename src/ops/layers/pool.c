/* pool.c - what the runs of poolings share: tensors as elements that loops compute with, and planes
 * dealt out to threads.
 *
 * A task is a few planes (n, c). Elements are float, double or int64; other dtypes, and inputs that
 * are not row-major, are copied into such first; complex numbers as the planes of their real parts,
 * then those of their imaginary ones.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"

/* --- tensors as row-major elements of a compute type ------------------------------------------ */

typedef struct pool_copy {
    const tn_tensor *t;
    char *wide;
    int compute;
    bool back;
} pool_copy;

static int64_t pool_compute_size(const tn_tensor *t) {
    return tni_lanes_compute(t->dtype) == TN_F32 ? 4 : 8;
}
static bool pool_is_plain(const tn_tensor *t) {
    return (t->flags & TNI_CONTIGUOUS) && t->dtype == tni_lanes_compute(t->dtype);
}

static int pool_parts(const tn_tensor *t) { return tni_is_complex(t->dtype) ? 2 : 1; }
static void pool_copy_task(void *arg, int64_t i) { /* one innermost row */
    const pool_copy *p = (const pool_copy *)arg;
    const tn_tensor *t = p->t;
    /* at: the row's offset in t; wide: its place in the row-major copy. Of a complex tensor the
     * planes of real parts come first, then those of imaginary ones. */
    const int last = t->ndim - 1, parts = pool_parts(t),
              dtype = parts == 2 ? (int)tni_real_of(t->dtype) : t->dtype;
    const int64_t at = tni_offset_of(last, t->size, t->stride, i), bytes = tni_dtype_size(t),
                  size = p->compute == TN_F32 ? 4 : 8;
    char *wide = p->wide + i * t->size[last] * size;
    for (int k = 0; k < parts; k++, wide += t->numel * size) {
        char *narrow = tni_bytes_at(t) + at * bytes + k * bytes / parts;
        if (p->back)
            tni_lanes_save(narrow, t->stride[last] * bytes, dtype, wide, p->compute, t->size[last]);
        else
            tni_lanes_load(wide, p->compute, narrow, t->stride[last] * bytes, dtype, t->size[last]);
    }
}
static void *pool_plain(tn_frame *f, const tn_tensor *t, void *room, bool load) {
    pool_copy p;
    /* Where t is as the loops want it, they use it itself. */
    if (pool_is_plain(t)) return tni_bytes_at(t);
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = false;
    if (load && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
    return room;
}
static void pool_store(tn_frame *f, const tn_tensor *t, void *room) {
    /* Back from the copy, rounded to t's dtype; nothing to do where t itself was written. */
    pool_copy p;
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = true;
    if (!pool_is_plain(t) && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
}
TN_PRIV bool tni_pool_scratch(tn_frame *f, const tn_tensor *in, const int64_t *size, int ndim) {
    /* A multiple of 16 elements keeps what lies behind the copy aligned. */
    int64_t n = pool_is_plain(in) ? 0 : in->numel, out = 0;
    n = (n + 15) / 16 * 16;
    if (in->dtype != tni_lanes_compute(in->dtype) && !tni_numel_of(ndim, size, &out))
        return tn_fail(f, TN_MEMORY, "the result is too large");
    return tn_scratch(f, n, pool_parts(in) * pool_compute_size(in)) &&
           tn_scratch(f, out, pool_parts(in) * pool_compute_size(in));
}
static void *pool_second(tn_frame *f, const tn_tensor *in) { /* the result's part of the scratch */
    const int64_t n = pool_is_plain(in) ? 0 : (in->numel + 15) / 16 * 16;
    return f->scratch ? (char *)f->scratch + n * pool_parts(in) * pool_compute_size(in) : NULL;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void pool_task(void *arg, int64_t i) {
    const tni_pool_job *j = (const tni_pool_job *)arg;
    for (int64_t p = i * j->each; p < (i + 1) * j->each && p < j->s.planes; p++) j->plane(j, p);
}
static void pool_windows_run(tn_frame *f, tni_pool_job *j) {
    const tni_pool_shape *s = &j->s; /* a window reads at most the whole plane */
    /* deep: slices of a volume that are read; 1 for planes. */
    const double deep = s->d > 1 ? (double)s->od * (double)(s->kd < s->d ? s->kd : s->d) : 1;
    /* work: elements that a plane reads and writes at most; a task has about 2^15 of them. */
    const double places =
                     (double)(s->kh < s->h ? s->kh : s->h) * (double)(s->kw < s->w ? s->kw : s->w),
                 work = fma((double)s->oh * (double)s->ow, places, (double)s->h * (double)s->w);
    j->each = (int64_t)((1 << 15) / fma(deep, work, 1)) + 1;
    /* Loops may take planes side by side, where there are many. */
    if (s->planes >= 16 * TNI_POOL_BESIDE)
        j->each = (j->each + TNI_POOL_BESIDE - 1) / TNI_POOL_BESIDE * TNI_POOL_BESIDE;
    tni_parallel(f->block->context, (j->s.planes + j->each - 1) / j->each, pool_task, j);
}

/* Channels innermost, without gaps. */
static bool pool_is_last(const tn_tensor *t) {
    int64_t stride[4];
    if (t->ndim != 4 || !tni_is_float(t->dtype) || t->dtype != tni_lanes_compute(t->dtype))
        return false;
    tni_channels_last(4, t->size, stride);
    for (int d = 0; d < 4; d++)
        if (t->size[d] != 1 && t->stride[d] != stride[d]) return false;
    return true;
}
TN_PRIV bool tni_pool_by_lines(const tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return x->device == TN_CPU && !(x->flags & TNI_CONTIGUOUS) && pool_is_last(x) &&
           tni_like_channels_last(x);
}
static void pool_line_task(void *arg, int64_t i) {
    const tni_pool_job *j = (const tni_pool_job *)arg;
    const int64_t lines = j->s.size[0] * j->s.oh;
    for (int64_t n = i * j->each; n < (i + 1) * j->each && n < lines; n++) j->line(j, n);
}
TN_PRIV bool tni_pool_lines(tn_frame *f, tni_pool_job *j,
                            void (*line)(const tni_pool_job *j, int64_t line)) {
    tni_pool_shape *s = &j->s;
    if (!tni_pool_by_lines(f) || !pool_is_last(f->out[0])) return false;
    j->line = line;
    s->planes = f->in[0]->size[1];
    j->from = tni_bytes_at(f->in[0]);
    j->to = tni_bytes_at(f->out[0]);
    if (!f->out[0]->numel) return true;
    /* A task makes about 2^15 elements. */
    j->each = (1 << 15) / (s->ow * s->planes) + 1;
    tni_parallel(f->block->context, (s->size[0] * s->oh + j->each - 1) / j->each, pool_line_task,
                 j);
    return true;
}

TN_PRIV void tni_pool_through(tn_frame *f, tni_pool_job *j) {
    /* The loops know planes alone: those of parts are as many again. */
    void *room = pool_second(f, f->in[0]);
    j->kernels = f->block->context->kernels;
    j->s.planes *= pool_parts(f->in[0]);
    j->from = pool_plain(f, f->in[0], f->scratch, true);
    j->to = pool_plain(f, f->out[0], room, false);
    pool_windows_run(f, j);
    pool_store(f, f->out[0], room);
}
