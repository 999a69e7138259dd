/* transform.c - Fourier transforms as torch.fft has them: of one, two or n dimensions, of complex,
 * real and Hermitian input; their frequencies, and shifts of these. */
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/fft.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Kinds of transforms: half of a spectrum stands for all of it where the other side is real. */
enum { FFT_FULL, FFT_OF_REAL, FFT_TO_REAL };

/* A call: the dimensions, the last of which is the halved one, and the length of each. */
typedef struct fft_call {
    const char *name;
    int kind, count, dim[TN_MAX_DIMS];
    int64_t n[TN_MAX_DIMS];
    bool inverse;
    double scale;
} fft_call;

static bool fft_takes(tn_frame *f, const fft_call *c, const tn_tensor *x) {
    if (c->kind == FFT_OF_REAL && tni_is_complex(x->dtype))
        return tn_fail(f, TN_INVALID, "%s expects a real input tensor, but got %s", c->name,
                       x->dtype == TN_C64 ? "ComplexFloat" : "ComplexDouble");
    return true;
}
/* The length of transform k, where `given` is TN_NONE or -1 for that of x. */
static bool fft_length(tn_frame *f, fft_call *c, const tn_tensor *x, int k, int64_t given) {
    const int64_t size = x->size[c->dim[k]];
    c->n[k] = given != TN_NONE                              ? given
              : c->kind == FFT_TO_REAL && k == c->count - 1 ? 2 * (size - 1)
                                                            : size;
    return c->n[k] >= 1 || tn_fail(f, TN_INVALID, "Invalid number of data points (%lld) specified",
                                   (long long)c->n[k]);
}
static bool fft_scale(tn_frame *f, fft_call *c, const char *norm) {
    double product = 1;
    for (int k = 0; k < c->count; k++) product *= (double)c->n[k];
    c->scale = 1;
    if (!norm || !strcmp(norm, "backward"))
        c->scale = c->inverse ? 1 / product : 1;
    else if (!strcmp(norm, "forward"))
        c->scale = c->inverse ? 1 : 1 / product;
    else if (!strcmp(norm, "ortho"))
        c->scale = 1 / sqrt(product);
    else
        return tn_fail(f, TN_INVALID, "Invalid normalization mode: \"%s\"", norm);
    return true;
}
/* Transform k of c: the last one may be to or of real numbers, and scales. */
static tn_tensor *fft_step(const fft_call *c, tn_tensor *x, int k) {
    const bool last = k == c->count - 1, halved = last && c->kind == FFT_OF_REAL,
               real = last && c->kind == FFT_TO_REAL;
    const int64_t n = c->n[k], count = halved ? n / 2 + 1 : n;
    if (x && real && x->size[c->dim[k]] > n / 2 + 1) x = tnp_slice(x, c->dim[k], 0, n / 2 + 1, 1);
    return tnp_dft(x, c->dim[k], n, count, c->inverse, last ? c->scale : 1, real);
}
/* --- the layout of results, as torch's on a CPU ----------------------------------------------- */

/* dim[0] to dim[n - 1] from the largest stride to the smallest; equal ones keep their order. */
static void fft_sort(int *dim, int n, const int64_t *stride) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && stride[dim[k]] > stride[dim[k - 1]]; k--) {
            const int held = dim[k];
            dim[k] = dim[k - 1];
            dim[k - 1] = held;
        }
}
/* The dimensions of a result from the outermost in memory to the innermost: those that are not
 * transformed, apart in the way of std::partition and by their strides, then those of `dim`. */
static void fft_order(int ndim, const int64_t *stride, const int *dim, int count, int *order) {
    bool moves[TN_MAX_DIMS] = {false};
    int first = 0, last = ndim;
    for (int k = 0; k < count; k++) moves[dim[k]] = true;
    for (int e = 0; e < ndim; e++) order[e] = e;
    while (first < last) {
        const int e = order[first];
        if (!moves[e]) {
            first++;
        } else if (moves[order[last - 1]]) {
            last--;
        } else {
            order[first] = order[last - 1];
            order[last - 1] = e;
        }
    }
    fft_sort(order, ndim - count, stride);
    for (int k = 0; k < count; k++) order[ndim - count + k] = dim[k];
}
/* Strides of dense elements in that order. */
static void fft_strides(int ndim, const int *order, const int64_t *size, int64_t *stride) {
    int64_t step = 1;
    for (int e = ndim - 1; e >= 0; e--) {
        stride[order[e]] = step;
        step *= size[order[e]] > 1 ? size[order[e]] : 1;
    }
}
/* How torch lays out the result of c for x: one transform over the sorted dimensions; where the
 * halved one comes first or last by itself, two. */
static bool fft_result_order(tn_frame *f, const fft_call *c, const tn_tensor *x, int *order) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], numel;
    int dim[TN_MAX_DIMS], last = c->count - 1;
    bool padded = false;
    for (int e = 0; e < x->ndim; e++) size[e] = x->size[e], stride[e] = x->stride[e], order[e] = e;
    for (int k = 0; k < c->count; k++) {
        dim[k] = c->dim[k];
        size[dim[k]] = k == last && c->kind == FFT_TO_REAL ? c->n[k] / 2 + 1 : c->n[k];
        padded = padded || size[dim[k]] > x->size[dim[k]];
    }
    if (!tni_numel_of(x->ndim, size, &numel))
        return tn_fail(f, TN_INVALID, "the transform is too large");
    if (!numel || !c->count) return true;
    if (padded) fft_strides(x->ndim, order, size, stride);
    if (c->kind == FFT_OF_REAL && c->inverse && last) { /* the halved one, then the others */
        fft_order(x->ndim, stride, dim + last, 1, order);
        size[dim[last]] = c->n[last] / 2 + 1;
        fft_strides(x->ndim, order, size, stride);
        fft_sort(dim, last, stride);
        fft_order(x->ndim, stride, dim, last, order);
        return true;
    }
    fft_sort(dim, c->kind == FFT_FULL ? c->count : last, stride);
    if (c->kind == FFT_TO_REAL && last) { /* the others, then the halved one */
        fft_order(x->ndim, stride, dim, last, order);
        fft_strides(x->ndim, order, size, stride);
        fft_order(x->ndim, stride, dim + last, 1, order);
        return true;
    }
    fft_order(x->ndim, stride, dim, c->count, order);
    return true;
}
/* x with dimension order[e] as dimension e, or back; x itself where these are the same. */
static tn_tensor *fft_turned(tn_tensor *x, const int *order, bool back) {
    int64_t dims[TN_MAX_DIMS];
    bool same = true;
    for (int e = 0; x && e < x->ndim; e++) {
        same = same && order[e] == e;
        dims[back ? order[e] : e] = back ? e : order[e];
    }
    return same ? x : tnp_permute(x, tni_ints(dims, x->ndim));
}
/* The steps of c, with dimensions in the order of the result's elements in memory: dft gives
 * row-major results. */
static bool fft_apply(tn_frame *f, const fft_call *c) {
    tn_tensor *x = f->in[0];
    fft_call turned = *c;
    int order[TN_MAX_DIMS];
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT) x = tnp_to_dtype(x, TN_F32, false, false);
    if (!x || !fft_result_order(f, c, x, order)) return false;
    for (int k = 0; k < c->count; k++)
        for (int e = 0; e < x->ndim; e++)
            if (order[e] == c->dim[k]) turned.dim[k] = e;
    x = fft_turned(x, order, false);
    /* Real numbers first; to real numbers last. */
    for (int i = 0; x && i < c->count; i++)
        x = fft_step(&turned, x, c->kind == FFT_OF_REAL ? c->count - 1 - i : i);
    if (x && !tni_is_complex(x->dtype) && c->kind != FFT_TO_REAL)
        x = tnp_to_dtype(x, tni_complex_of(x->dtype), false, false);
    if (x && !c->count) x = tnp_clone(x, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    x = fft_turned(x ? tnp_contiguous(x) : NULL, order, true);
    f->out[0] = x;
    return x != NULL;
}
static bool fft_one(tn_frame *f, const char *name, int kind, bool inverse, int64_t n, int64_t dim,
                    const char *norm) {
    fft_call c;
    const tn_tensor *x = f->in[0];
    c.name = name, c.kind = kind, c.inverse = inverse, c.count = 1;
    if (!fft_takes(f, &c, x)) return false;
    if (!x->ndim)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)dim);
    return tni_dim_of(f, x->ndim, dim, &c.dim[0]) && fft_length(f, &c, x, 0, n) &&
           fft_scale(f, &c, norm) && fft_apply(f, &c);
}
/* The dimensions of a call: those given, the last ones that s speaks of, or all. */
static bool fft_dims(tn_frame *f, fft_call *c, tn_ints s, tn_ints dim) {
    const int ndim = f->in[0]->ndim;
    bool seen[TN_MAX_DIMS] = {false};
    if (tn_ints_given(s) && tn_ints_given(dim) && s.n != dim.n)
        return tn_fail(f, TN_INVALID,
                       "When given, dim and shape arguments must have the same length");
    if (tn_ints_given(s) && s.n > ndim)
        return tn_fail(f, TN_INVALID,
                       "Got shape with %lld values but input tensor only has %d dimensions.",
                       (long long)s.n, ndim);
    c->count = tn_ints_given(dim) ? (int)dim.n : tn_ints_given(s) ? (int)s.n : ndim;
    if (!ndim && tn_ints_given(dim) && dim.n)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)dim.at[0]);
    for (int k = 0; k < c->count; k++) {
        const int64_t at = tn_ints_given(dim) ? dim.at[k] : ndim - c->count + k;
        if (!tni_dim_of(f, ndim, at, &c->dim[k])) return false;
        if (seen[c->dim[k]]) return tn_fail(f, TN_INVALID, "FFT dims must be unique");
        seen[c->dim[k]] = true;
    }
    return true;
}
static bool fft_many(tn_frame *f, const char *name, int kind, bool inverse, tn_ints s, tn_ints dim,
                     const char *norm) {
    fft_call c;
    c.name = name, c.kind = kind, c.inverse = inverse;
    if (!fft_takes(f, &c, f->in[0]) || !fft_dims(f, &c, s, dim)) return false;
    if (!c.count && kind != FFT_FULL)
        return tn_fail(f, TN_INVALID, "%s must transform at least one axis", name);
    for (int k = 0; k < c.count; k++) {
        const int64_t given = tn_ints_given(s) && s.at[k] != -1 ? s.at[k] : TN_NONE;
        if (!fft_length(f, &c, f->in[0], k, given)) return false;
    }
    return fft_scale(f, &c, norm) && fft_apply(f, &c);
}

/* --- the rows --------------------------------------------------------------------------------- */

static bool fft_fft_compose(tn_frame *f) {
    TN_ARGS(fft_fft, a, f);
    return fft_one(f, "fft", FFT_FULL, false, a->n, a->dim, a->norm);
}
/* The discrete Fourier transform along dim, of length n: self is cropped or gets zeros behind it.
 * */
TN_OPERATOR(fft_fft, "fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_fft(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_fft_compose,
            .sample = "(8):c64 | (3,5):c64 7 0 ortho | (2,6):c64 n=4 norm=forward | (35):c64 | "
                      "(0,4):c64 | (37):c64 norm=backward")

static bool fft_ifft_compose(tn_frame *f) {
    TN_ARGS(fft_ifft, a, f);
    return fft_one(f, "ifft", FFT_FULL, true, a->n, a->dim, a->norm);
}
/* The inverse of fft along dim, of length n: self is cropped or gets zeros behind it. */
TN_OPERATOR(fft_ifft, "fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ifft(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ifft_compose,
            .sample = "(8):c64 | (3,5):c64 7 0 ortho | (2,6):c64 n=4 norm=forward | (35):c64 | "
                      "(0,4):c64 | (37):c64 norm=backward")

static bool fft_rfft_compose(tn_frame *f) {
    TN_ARGS(fft_rfft, a, f);
    return fft_one(f, "rfft", FFT_OF_REAL, false, a->n, a->dim, a->norm);
}
/* The transform of real numbers: the half of the spectrum that is no mirror of the other along
 * dim, of length n: self is cropped or gets zeros behind it. */
TN_OPERATOR(fft_rfft, "fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_rfft(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_rfft_compose,
            .sample = "(8) | (3,5) 7 0 ortho | (2,6) n=4 norm=forward | (35) | (0,4) | (37) "
                      "norm=backward")

static bool fft_irfft_compose(tn_frame *f) {
    TN_ARGS(fft_irfft, a, f);
    return fft_one(f, "irfft", FFT_TO_REAL, true, a->n, a->dim, a->norm);
}
/* The inverse of rfft: real numbers from half of their spectrum along dim, of length n: self is
 * cropped or gets zeros behind it. */
TN_OPERATOR(fft_irfft, "fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_irfft(x)"), .forms = TN_OUT,
            .autocast = TN_WIDE_CPU, .compose = fft_irfft_compose,
            .sample = "(8):c64 | (3,5):c64 7 0 ortho | (2,6):c64 n=4 norm=forward | (35):c64 | "
                      "(0,4):c64 | (37):c64 norm=backward")

static bool fft_hfft_compose(tn_frame *f) {
    TN_ARGS(fft_hfft, a, f);
    return fft_one(f, "hfft", FFT_TO_REAL, false, a->n, a->dim, a->norm);
}
/* The real spectrum of a Hermitian signal, of which self is half along dim, of length n: self is
 * cropped or gets zeros behind it. */
TN_OPERATOR(fft_hfft, "fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_hfft(x)"), .forms = TN_OUT,
            .autocast = TN_WIDE_CPU, .compose = fft_hfft_compose,
            .sample = "(8):c64 | (3,5):c64 7 0 ortho | (2,6):c64 n=4 norm=forward | (35):c64 | "
                      "(0,4):c64 | (37):c64 norm=backward")

static bool fft_ihfft_compose(tn_frame *f) {
    TN_ARGS(fft_ihfft, a, f);
    return fft_one(f, "ihfft", FFT_OF_REAL, true, a->n, a->dim, a->norm);
}
/* The inverse of hfft: half of a Hermitian signal from its real spectrum along dim, of length n:
 * self is cropped or gets zeros behind it. */
TN_OPERATOR(fft_ihfft, "fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ihfft(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ihfft_compose,
            .sample = "(8) | (3,5) 7 0 ortho | (2,6) n=4 norm=forward | (35) | (0,4) | (37) "
                      "norm=backward")

static bool fft_fft2_compose(tn_frame *f) {
    TN_ARGS(fft_fft2, a, f);
    return fft_many(f, "fft2", FFT_FULL, false, a->s, a->dim, a->norm);
}
/* The discrete Fourier transform over two dimensions, of lengths s. */
TN_OPERATOR(fft_fft2,
            "fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_fft2(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_fft2_compose,
            .sample =
                "(4,6):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0,1] norm=forward | "
                "(0,3,4):c64 | (35,2):c64")

static bool fft_ifft2_compose(tn_frame *f) {
    TN_ARGS(fft_ifft2, a, f);
    return fft_many(f, "ifft2", FFT_FULL, true, a->s, a->dim, a->norm);
}
/* The inverse of fft over two dimensions, of lengths s. */
TN_OPERATOR(fft_ifft2,
            "fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ifft2(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ifft2_compose,
            .sample =
                "(4,6):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0,1] norm=forward | "
                "(0,3,4):c64 | (35,2):c64")

static bool fft_rfft2_compose(tn_frame *f) {
    TN_ARGS(fft_rfft2, a, f);
    return fft_many(f, "rfft2", FFT_OF_REAL, false, a->s, a->dim, a->norm);
}
/* The transform of real numbers: the half of the spectrum that is no mirror of the other over two
 * dimensions, of lengths s. */
TN_OPERATOR(fft_rfft2,
            "fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_rfft2(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_rfft2_compose,
            .sample =
                "(4,6) | (2,3,5) [4,4] norm=ortho | (3,4,2) dim=[0,1] norm=forward | (0,3,4) | "
                "(35,2)")

static bool fft_irfft2_compose(tn_frame *f) {
    TN_ARGS(fft_irfft2, a, f);
    return fft_many(f, "irfft2", FFT_TO_REAL, true, a->s, a->dim, a->norm);
}
/* The inverse of rfft: real numbers from half of their spectrum over two dimensions, of lengths s.
 * */
TN_OPERATOR(fft_irfft2,
            "fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_irfft2(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_irfft2_compose,
            .sample =
                "(4,6):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0,1] norm=forward | "
                "(0,3,4):c64 | (35,2):c64")

static bool fft_hfft2_compose(tn_frame *f) {
    TN_ARGS(fft_hfft2, a, f);
    return fft_many(f, "hfft2", FFT_TO_REAL, false, a->s, a->dim, a->norm);
}
/* The real spectrum of a Hermitian signal, of which self is half over two dimensions, of lengths
 * s. */
TN_OPERATOR(fft_hfft2,
            "fft_hfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_hfft2(x)"), .forms = TN_OUT,
            .autocast = TN_WIDE_CPU, .compose = fft_hfft2_compose,
            .sample =
                "(4,6):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0,1] norm=forward | "
                "(0,3,4):c64 | (35,2):c64")

static bool fft_ihfft2_compose(tn_frame *f) {
    TN_ARGS(fft_ihfft2, a, f);
    return fft_many(f, "ihfft2", FFT_OF_REAL, true, a->s, a->dim, a->norm);
}
/* The inverse of hfft: half of a Hermitian signal from its real spectrum over two dimensions, of
 * lengths s. */
TN_OPERATOR(fft_ihfft2,
            "fft_ihfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ihfft2(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ihfft2_compose,
            .sample =
                "(4,6) | (2,3,5) [4,4] norm=ortho | (3,4,2) dim=[0,1] norm=forward | (0,3,4) | "
                "(35,2)")

static bool fft_fftn_compose(tn_frame *f) {
    TN_ARGS(fft_fftn, a, f);
    return fft_many(f, "fftn", FFT_FULL, false, a->s, a->dim, a->norm);
}
/* The discrete Fourier transform over several dimensions, of lengths s. */
TN_OPERATOR(fft_fftn,
            "fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_fftn(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_fftn_compose,
            .sample =
                "(2,3,4):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0] norm=forward | "
                "(0,3,4):c64 dim=[1,2] | (35):c64")

static bool fft_ifftn_compose(tn_frame *f) {
    TN_ARGS(fft_ifftn, a, f);
    return fft_many(f, "ifftn", FFT_FULL, true, a->s, a->dim, a->norm);
}
/* The inverse of fft over several dimensions, of lengths s. */
TN_OPERATOR(fft_ifftn,
            "fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ifftn(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ifftn_compose,
            .sample =
                "(2,3,4):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0] norm=forward | "
                "(0,3,4):c64 dim=[1,2] | (35):c64")

static bool fft_rfftn_compose(tn_frame *f) {
    TN_ARGS(fft_rfftn, a, f);
    return fft_many(f, "rfftn", FFT_OF_REAL, false, a->s, a->dim, a->norm);
}
/* The transform of real numbers: the half of the spectrum that is no mirror of the other over
 * several dimensions, of lengths s. */
TN_OPERATOR(fft_rfftn,
            "fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_rfftn(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_rfftn_compose,
            .sample = "(2,3,4) | (2,3,5) [4,4] norm=ortho | (3,4,2) dim=[0] norm=forward | (0,3,4) "
                      "dim=[1,2] | (35)")

static bool fft_irfftn_compose(tn_frame *f) {
    TN_ARGS(fft_irfftn, a, f);
    return fft_many(f, "irfftn", FFT_TO_REAL, true, a->s, a->dim, a->norm);
}
/* The inverse of rfft: real numbers from half of their spectrum over several dimensions, of
 * lengths s. */
TN_OPERATOR(fft_irfftn,
            "fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_irfftn(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_irfftn_compose,
            .sample =
                "(2,3,4):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0] norm=forward | "
                "(0,3,4):c64 dim=[1,2] | (35):c64")

static bool fft_hfftn_compose(tn_frame *f) {
    TN_ARGS(fft_hfftn, a, f);
    return fft_many(f, "hfftn", FFT_TO_REAL, false, a->s, a->dim, a->norm);
}
/* The real spectrum of a Hermitian signal, of which self is half over several dimensions, of
 * lengths s. */
TN_OPERATOR(fft_hfftn,
            "fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) real", .example = "tn_fft_hfftn(x)"), .forms = TN_OUT,
            .autocast = TN_WIDE_CPU, .compose = fft_hfftn_compose,
            .sample =
                "(2,3,4):c64 | (2,3,5):c64 [4,4] norm=ortho | (3,4,2):c64 dim=[0] norm=forward | "
                "(0,3,4):c64 dim=[1,2] | (35):c64")

static bool fft_ihfftn_compose(tn_frame *f) {
    TN_ARGS(fft_ihfftn, a, f);
    return fft_many(f, "ihfftn", FFT_OF_REAL, true, a->s, a->dim, a->norm);
}
/* The inverse of hfft: half of a Hermitian signal from its real spectrum over several dimensions,
 * of lengths s. */
TN_OPERATOR(fft_ihfftn,
            "fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex", .example = "tn_fft_ihfftn(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = fft_ihfftn_compose,
            .sample = "(2,3,4) | (2,3,5) [4,4] norm=ortho | (3,4,2) dim=[0] norm=forward | (0,3,4) "
                      "dim=[1,2] | (35)")

/* --- frequencies ------------------------------------------------------------------------------ */

/* The dtype of frequencies: the one asked for, else the default; TN_NO_DTYPE with an error. */
static tn_dtype fft_frequency_dtype(tn_frame *f, int64_t n, tn_dtype dtype) {
    if (!dtype) dtype = tni_tensors(f->block->context)->default_dtype;
    if (n >= 0 && tni_dtype((int)dtype)->category >= TNI_CAT_FLOAT) return dtype;
    tn_fail(f, TN_INVALID, "frequencies need n >= 0 and a floating or complex dtype, got %lld, %s",
            (long long)n, tn_dtype_name(dtype));
    return TN_NO_DTYPE;
}

static bool fft_fftfreq_compose(tn_frame *f) {
    TN_ARGS(fft_fftfreq, a, f);
    const tn_dtype dtype = fft_frequency_dtype(f, a->n, a->dtype);
    tn_tensor *part[2];
    if (!dtype) return false;
    part[0] = tnp_arange(tn_int(a->n / 2 + a->n % 2), dtype, a->device);
    part[1] = tnp_arange_start(tn_int(-(a->n / 2)), tn_int(0), dtype, a->device);
    if (!part[0] || !part[1]) return false;
    f->out[0] =
        tnp_mul_scalar(tnp_cat(tn_tensors_of(part, 2), 0), tn_float(1 / ((double)a->n * a->d)));
    return f->out[0] != NULL;
}
/* The frequencies of fft's n results, in their order, for samples d apart. */
TN_OPERATOR(fft_fftfreq,
            "fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Device? device=None) -> "
            "Tensor",
            TN_DOC(.shapes = "(n)", .example = "tn_fft_fftfreq(8)"), .forms = TN_OUT,
            .compose = fft_fftfreq_compose, .sample = "8 | 7 0.5 | 35 dtype=float64")

static bool fft_rfftfreq_compose(tn_frame *f) {
    TN_ARGS(fft_rfftfreq, a, f);
    const tn_dtype dtype = fft_frequency_dtype(f, 0, a->dtype);
    if (!dtype) return false;
    f->out[0] = tnp_mul_scalar(tnp_arange(tn_int(a->n / 2 + 1), dtype, a->device),
                               tn_float(1 / ((double)a->n * a->d)));
    return f->out[0] != NULL;
}
/* The frequencies of rfft's results for n samples, d apart. */
TN_OPERATOR(fft_rfftfreq,
            "fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Device? device=None) -> "
            "Tensor",
            TN_DOC(.shapes = "(n / 2 + 1)", .example = "tn_fft_rfftfreq(8)"), .forms = TN_OUT,
            .compose = fft_rfftfreq_compose, .sample = "8 | 7 0.5 | 35 dtype=float64")

/* self rolled by half its size (rounded up, if `back`) along dim, or along all dimensions. */
static bool fft_shift(tn_frame *f, tn_ints dim, bool back) {
    tn_tensor *x = f->in[0];
    int64_t shift[TN_MAX_DIMS], dims[TN_MAX_DIMS];
    const int n = tn_ints_given(dim) ? (int)dim.n : x->ndim;
    int d;
    if (tn_ints_given(dim) && !tni_dims_given(f, dim, "dim")) return false;
    if (!n) return tn_fail(f, TN_INVALID, "no dimension is shifted");
    for (int k = 0; k < n; k++) {
        if (!tni_dim_of(f, x->ndim, tn_ints_given(dim) ? dim.at[k] : k, &d)) return false;
        dims[k] = d;
        shift[k] = (x->size[d] + back) / 2;
    }
    f->out[0] = tnp_roll(x, tni_ints(shift, n), tni_ints(dims, n));
    return f->out[0] != NULL;
}
static bool fft_fftshift_compose(tn_frame *f) {
    TN_ARGS(fft_fftshift, a, f);
    return fft_shift(f, a->dim, false);
}
/* Frequency 0 in the middle: from the order of fft's results to that of the frequencies. */
TN_OPERATOR(fft_fftshift, "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_fft_fftshift(x)"),
            .compose = fft_fftshift_compose, .sample = "(5) | (2,4) [1] | (3,0) | (35)")

static bool fft_ifftshift_compose(tn_frame *f) {
    TN_ARGS(fft_ifftshift, a, f);
    return fft_shift(f, a->dim, true);
}
/* The inverse of fftshift. */
TN_OPERATOR(fft_ifftshift, "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_fft_ifftshift(x)"),
            .compose = fft_ifftshift_compose, .sample = "(5) | (2,4) [1] | (3,0) | (35)")
