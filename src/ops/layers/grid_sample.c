/* grid_sample.c - an image at places that a grid names, and its gradients.
 *
 * A task takes places of one sample: their taps, then the sums of all channels
 * (kernels/grid_type.inl). Gradients are compositions of the same taps, so that they have gradients
 * of any order. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"
#include "grid.h"

/* --- the sums --------------------------------------------------------------------------------- */

typedef struct grid_job {
    tni_grid_plan plan;
    const tni_kernels *kernels;
    const char *x, *grid; /* dense, of `size` bytes an element: float or double */
    char *y;
    int64_t size, channels, plane, places, chunk, chunks;
} grid_job;

static void grid_task(void *arg, int64_t i) {
    const grid_job *j = (const grid_job *)arg;
    const int64_t n = i / j->chunks, first = i % j->chunks * j->chunk,
                  count = j->places - first < j->chunk ? j->places - first : j->chunk;
    const char *place = j->grid + (n * j->places + first) * j->plan.dims * j->size,
               *x = j->x + n * j->channels * j->plane * j->size;
    char *y = j->y + (n * j->channels * j->places + first) * j->size;
    tni_grid_taps taps;
    taps.every = j->chunk;
    if (j->size == 4)
        TNI_K(j->kernels, grid_taps_f32)(&j->plan, place, count, &taps);
    else
        TNI_K(j->kernels, grid_taps_f64)(&j->plan, place, count, &taps);
    for (int64_t c = 0; c < j->channels && !tni_stopped(); c++) {
        if (j->size == 4)
            TNI_K(j->kernels, grid_sums_f32)(y, x, count, j->plan.count, &taps);
        else
            TNI_K(j->kernels, grid_sums_f64)(y, x, count, j->plan.count, &taps);
        x += j->plane * j->size;
        y += j->places * j->size;
    }
}

/* --- the row ---------------------------------------------------------------------------------- */

static bool grid_misfit(tn_frame *f, const char *expected) {
    TN_ARGS(grid_sample, a, f);
    const tn_tensor *x = a->input, *grid = a->grid;
    char has[160], other[160];
    return tn_fail(f, TN_INVALID, "expected %s, but got input %s and grid %s", expected,
                   tni_shape_text(has, sizeof has, x->ndim, x->size),
                   tni_shape_text(other, sizeof other, grid->ndim, grid->size));
}
static bool grid_fits(tn_frame *f) {
    TN_ARGS(grid_sample, a, f);
    const tn_tensor *x = a->input, *grid = a->grid;
    char last[64];
    int64_t plane = 1;
    if (!tni_is_float(x->dtype) || x->dtype != grid->dtype)
        return tn_fail(f, TN_TYPE, "expected input and grid of one floating dtype, got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(grid->dtype)->text);
    if (x->ndim && grid->ndim && x->size[0] != grid->size[0])
        return grid_misfit(f, "grid and input to have same batch size");
    if (grid->ndim && grid->size[grid->ndim - 1] != x->ndim - 2) {
        snprintf(last, sizeof last, "grid to have size %d in last dimension", x->ndim - 2);
        return grid_misfit(f, last);
    }
    for (int i = 2; i < x->ndim; i++) {
        plane *= x->size[i]; /* of a tensor: at most 2^31 2^30 before the check fails */
        if (!x->size[i]) return grid_misfit(f, "input to have non-empty spatial dimensions");
        if (x->size[i] > 1 << 30) /* positions are cut there (grid_place.inl) */
            return grid_misfit(f, "input of at most 2^30 elements a dimension");
        if (plane > INT32_MAX) /* numbers of elements have 32 bits there */
            return grid_misfit(f, "input of fewer than 2^31 elements a channel");
    }
    return ((x->ndim == 4 || x->ndim == 5) && grid->ndim == x->ndim) ||
           grid_misfit(f, "4D or 5D input and grid with same number of dimensions");
}
/* 16-bit floats are computed in float: room for all three. */
static bool grid_is_half(const tn_tensor *t) { return tni_dtype_size(t) == 2; }
static bool grid_sample_check(tn_frame *f) {
    const tn_tensor *x = f->in[0], *grid = f->in[1];
    int64_t size[5], numel = 1, room;
    if (!grid_fits(f)) return false;
    size[0] = x->size[0];
    size[1] = x->size[1];
    for (int i = 2; i < x->ndim; i++) size[i] = grid->size[i - 1];
    for (int i = 0; i < x->ndim; i++)
        if (!tni_mul(numel, size[i], &numel))
            return tn_fail(f, TN_MEMORY, "the sizes are too large");
    if (!tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, size)) return false;
    if (!grid_is_half(x)) return tni_dense_scratch(f, x) && tni_dense_scratch(f, grid);
    if (!tni_add(numel, x->numel, &room) || !tni_add(room, grid->numel, &room))
        return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return tni_dense_scratch(f, x) && tni_dense_scratch(f, grid) && tn_scratch(f, room, 4);
}
/* Dense elements as the loops take them: 16-bit floats in float, in `room`, which moves on. */
static const char *grid_elements(const tn_tensor *t, const char *at, float **room) {
    float *to = *room;
    if (!grid_is_half(t)) return at;
    tni_lanes_load(to, TN_F32, at, 2, t->dtype, t->numel);
    *room += t->numel;
    return (const char *)to;
}
static void grid_sample_run(tn_frame *f) {
    TN_ARGS(grid_sample, a, f);
    const tn_tensor *x = f->in[0], *grid = f->in[1];
    const int taps = a->mode == TN_GRID_MODE_NEAREST ? 1 : a->mode == TN_GRID_MODE_BILINEAR ? 2 : 4;
    tn_tensor *out = f->out[0];
    char *scratch = (char *)f->scratch;
    grid_job j;
    float *room;
    if (!out->numel) return;
    j.plan =
        tni_grid_plan_of(x->ndim - 2, x->size + 2, taps, a->padding_mode != TN_GRID_PADDING_ZEROS,
                         a->padding_mode == TN_GRID_PADDING_REFLECTION, a->align_corners);
    j.kernels = f->block->context->kernels;
    j.size = x->dtype == TN_F64 ? 8 : 4;
    j.x = tni_dense(f, x, &scratch);
    j.grid = tni_dense(f, grid, &scratch);
    room = (float *)(void *)scratch;
    j.x = grid_elements(x, j.x, &room);
    j.grid = grid_elements(grid, j.grid, &room);
    j.y = grid_is_half(x) ? (char *)room : tni_bytes_at(out);
    j.channels = x->size[1];
    j.plane = x->numel / (x->size[0] * j.channels);
    j.places = out->numel / (x->size[0] * j.channels);
    j.chunk = TNI_GRID_ROOM / j.plan.count;
    if (j.chunk > TNI_GRID_PLACES) j.chunk = TNI_GRID_PLACES;
    j.chunks = (j.places + j.chunk - 1) / j.chunk;
    tni_lanes_spread(f->block->context, x->size[0] * j.chunks, out->numel * j.plan.count, grid_task,
                     &j);
    if (grid_is_half(x)) tni_lanes_save(tni_bytes_at(out), 2, out->dtype, room, TN_F32, out->numel);
}
/* Samples of all are more images of one call. */
static tn_tensor *grid_sample_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(grid_sample, a, f);
    const int64_t size = whole[0] ? whole[0]->size[0] : whole[1]->size[0];
    tn_tensor *x = tni_whole_join(tni_whole_each(f, whole, 0, size)),
              *grid = tni_whole_join(tni_whole_each(f, whole, 1, size));
    if (!x || !grid) return NULL;
    return tni_whole_split(tnp_grid_sample(x, grid, a->mode, a->padding_mode, a->align_corners),
                           size);
}
/* The input at the places of grid: x, y (and z) from -1 to 1 across the input. A place between
 * elements takes a mean of those around it (bilinear, or bicubic with A = -0.75) or the nearest.
 * Beyond the input are zeros, its border, or its reflection. With align_corners -1 and 1 are the
 * outermost elements, else their outer edges. Max Jaderberg et al., Spatial transformer networks,
 * 2015. */
TN_OPERATOR(grid_sample,
            "grid_sample(Tensor input, Tensor grid, GridMode mode=bilinear, GridPadding "
            "padding_mode=zeros, bool align_corners=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W), grid (N, H', W', 2) -> (N, C, H', W'); input (N, "
                             "C, D, H, W), grid (N, D', H', W', 3) -> (N, C, D', H', W')",
                   .example = "tn_grid_sample(x, y)",
                   .differs = "parameter align_corners: None stands for False there"),
            .autocast = TN_WIDE_CPU | TN_WIDEST_CUDA, .needs = "input:grid grid:input,grid",
            .check = grid_sample_check, .run = grid_sample_run, .grad = tni_grid_sample_grad,
            .domain = "grid:-1.3..1.3",
            .sample = "(2,3,4,5) (2,3,2,2) | (1,2,3,4) (1,2,5,2) nearest border | (2,2,5,4) "
                      "(2,3,2,2) bicubic reflection True | (1,2,3,2,4) (1,2,1,3,3) "
                      "padding_mode=reflection | (1,1,2,3,2) (1,3,1,2,3) nearest "
                      "align_corners=True | (1,2,3,3):f64 (1,0,2,2):f64 | (1,2,4,3) (1,2,2,2) "
                      "bicubic border | (1,1,2,3,2) (1,2,1,2,3) bicubic",
            .node = "GridSampler2DBackward0 input=4 | GridSampler3DBackward0",
            .batched = TN_BATCHED(grid_sample_batched))
