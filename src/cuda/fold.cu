/* fold.cu - the windows of a plane as columns and the sum of columns back into a plane, as on the
 * CPU (ops/layers/im2col.c). A thread an element of the result: sums are gathered in the order of
 * the kernel's places. */
#include "families.cuh"
#include "places.cuh"
#include "pool.cuh"

/* Columns (N, C kH kW, L) and planes (N, C, H, W); steps in bytes. */
struct tnc_fold {
    char *planes, *columns;
    int64_t c, image, channel, row, col;   /* of planes */
    int64_t batch, line, window, elements; /* of columns; elements of the result */
    tnc_pool_axis y, x;
    int32_t dtype, part, parts; /* parts: 2 of complex elements, `part` bytes apart */
};

/* A thread an element of the result, which lies row-major: (n, c, i, j, p, q). */
template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_fold_columns(tnc_fold a) {
    for (int64_t e = TNC_FIRST(); e < a.elements; e += TNC_STEP()) {
        const int64_t q = e % a.x.out, p = e / a.x.out % a.y.out;
        int64_t rest = e / a.x.out / a.y.out;
        const int64_t j = rest % a.x.k, i = rest / a.x.k % a.y.k;
        rest = rest / a.x.k / a.y.k;
        const int64_t y = p * a.y.stride - a.y.pad + i * a.y.dilation,
                      x = q * a.x.stride - a.x.pad + j * a.x.dilation;
        E value;
        memset(&value, 0, sizeof value);
        if (y >= 0 && y < a.y.n && x >= 0 && x < a.x.n)
            value = *(const E *)(a.planes + rest / a.c * a.image + rest % a.c * a.channel +
                                 y * a.row + x * a.col);
        ((E *)(void *)a.columns)[e] = value;
    }
}
/* A thread a part of an element of a plane: (n, c, y, x). */
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_fold_planes(tnc_fold a) {
    for (int64_t e = TNC_FIRST(); e < a.elements * a.parts; e += TNC_STEP()) {
        const int64_t at = e / a.parts, part = e % a.parts * a.part, x = at % a.x.n,
                      y = at / a.x.n % a.y.n, plane = at / a.x.n / a.y.n;
        const char *from =
            a.columns + plane / a.c * a.batch + plane % a.c * a.y.k * a.x.k * a.line + part;
        char *to = a.planes + plane / a.c * a.image + plane % a.c * a.channel + y * a.row +
                   x * a.col + part;
        T sum = 0;
        for (int64_t i = 0; i < a.y.k; i++) {
            const int64_t down = y + a.y.pad - i * a.y.dilation, p = down / a.y.stride;
            if (down < 0 || down % a.y.stride || p >= a.y.out) continue;
            for (int64_t j = 0; j < a.x.k; j++) {
                const int64_t over = x + a.x.pad - j * a.x.dilation, q = over / a.x.stride;
                if (over < 0 || over % a.x.stride || q >= a.x.out) continue;
                sum = sum +
                      tnc_load_real<T>(
                          from + (i * a.x.k + j) * a.line + (p * a.x.out + q) * a.window, a.dtype);
            }
        }
        if (a.parts == 2)
            tnc_put<T>(to, sum);
        else
            tnc_store_real(to, a.dtype, sum);
    }
}

static void fold_plan(tnc_fold *a, const tn_frame *f, const tn_tensor *planes,
                      const tn_tensor *columns, tn_ints kernel, tn_ints dilation, tn_ints padding,
                      tn_ints stride) {
    const tn_operand p = tn_operand_of(planes), l = tn_operand_of(columns);
    const bool complex = p.dtype == TN_C64 || p.dtype == TN_C128;
    const int64_t one = 1;
    memset(a, 0, sizeof *a);
    a->elements = tn_numel(f->out[0]);
    a->planes = p.at;
    a->columns = l.at;
    a->c = p.size[p.ndim - 3];
    a->image = p.ndim == 4 ? p.stride[0] * p.bytes : 0;
    a->channel = p.stride[p.ndim - 3] * p.bytes;
    a->row = p.stride[p.ndim - 2] * p.bytes;
    a->col = p.stride[p.ndim - 1] * p.bytes;
    a->batch = l.ndim == 3 ? l.stride[0] * l.bytes : 0;
    a->line = l.stride[l.ndim - 2] * l.bytes;
    a->window = l.stride[l.ndim - 1] * l.bytes;
    a->dtype = p.dtype;
    if (complex) a->dtype = p.dtype == TN_C64 ? TN_F32 : TN_F64;
    a->parts = complex ? 2 : 1;
    a->part = complex ? p.bytes / 2 : 0;
    a->y.n = p.size[p.ndim - 2];
    a->x.n = p.size[p.ndim - 1];
    for (int k = 0; k < 2; k++) {
        tnc_pool_axis *x = k ? &a->x : &a->y;
        pool_axis(x, k, kernel, stride.n ? stride : tn_ints_of(&one, 1), padding, dilation);
        x->out = (x->n + 2 * x->pad - x->dilation * (x->k - 1) - 1) / x->stride + 1;
    }
}
static void im2col_run(tn_frame *f) {
    TN_ARGS(im2col, args, f);
    const int bytes = tnc_dtype_bytes(tn_dtype_of(f->in[0]));
    tnc_fold a;
    fold_plan(&a, f, f->in[0], f->out[0], args->kernel_size, args->dilation, args->padding,
              args->stride);
    if (!a.elements) return;
#define FOLD_COLUMNS(E)                                                                       \
    TNC_LAUNCH_PLAIN((tnc_fold_columns<E>), tnc_blocks(a.elements, TNC_THREADS), TNC_THREADS, \
                     tnc_stream(f), a)
    TNC_MOVED(bytes, FOLD_COLUMNS)
#undef FOLD_COLUMNS
}
static void col2im_run(tn_frame *f) {
    TN_ARGS(col2im, args, f);
    tnc_fold a;
    fold_plan(&a, f, f->out[0], f->in[0], args->kernel_size, args->dilation, args->padding,
              args->stride);
    if (!a.elements) return;
    const unsigned blocks = tnc_blocks(a.elements * a.parts, TNC_THREADS);
    if (a.dtype == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_fold_planes<double>), blocks, TNC_THREADS, tnc_stream(f), a);
    else if (a.dtype == TN_BOOL)
        TNC_LAUNCH_PLAIN((tnc_fold_planes<int64_t>), blocks, TNC_THREADS, tnc_stream(f), a);
    else
        TNC_LAUNCH_PLAIN((tnc_fold_planes<float>), blocks, TNC_THREADS, tnc_stream(f), a);
}

static const tn_device_row fold_table[] = {{"im2col", false, NULL, NULL, im2col_run},
                                           {"col2im", false, NULL, NULL, col2im_run}};
TNC_FAMILY(fold, fold_table)
