/* stft.c - short-time Fourier transforms: spectra of frames of a signal, and the signal of such
 * spectra, by the frames' weighted sum. D. Griffin, J. Lim, "Signal estimation from modified
 * short-time Fourier transform", 1984. Composed of rows. */
#include "../../call/arguments.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/fft.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* The lengths of a call: what is absent has torch's defaults. */
typedef struct stft_plan {
    int64_t n, hop, length; /* of a frame, from one to the next, of the window */
} stft_plan;

static bool stft_lengths(tn_frame *f, stft_plan *s, int64_t n_fft, int64_t hop, int64_t length,
                         const tn_tensor *window) {
    s->n = n_fft;
    s->length = length == TN_NONE ? n_fft : length;
    s->hop = hop == TN_NONE ? n_fft / 4 : hop;
    if (s->hop <= 0)
        return tn_fail(f, TN_INVALID, "expected hop_length > 0, but got hop_length=%lld",
                       (long long)s->hop);
    if (s->length <= 0 || s->length > s->n)
        return tn_fail(f, TN_INVALID, "expected 0 < win_length <= n_fft, but got win_length=%lld",
                       (long long)s->length);
    if (window && (window->ndim != 1 || window->size[0] != s->length))
        return tn_fail(f, TN_INVALID,
                       "expected a 1D window tensor of size equal to win_length=%lld",
                       (long long)s->length);
    return true;
}
/* t with zeros, `left` before and `right` behind its last dimension. */
static tn_tensor *stft_zeros(tn_tensor *t, int64_t left, int64_t right) {
    int64_t pad[2];
    pad[0] = left;
    pad[1] = right;
    return left || right ? tnp_pad(t, tni_ints(pad, 2), "constant", tn_no_float()) : t;
}
/* The window in the middle of a frame; ones of x's real dtype if it is absent. */
static tn_tensor *stft_window(const stft_plan *s, tn_tensor *window, const tn_tensor *x) {
    const int64_t left = (s->n - s->length) / 2;
    const int dtype = tni_is_complex(x->dtype) ? (int)tni_real_of(x->dtype) : x->dtype;
    if (!window) window = tnp_full(tni_ints(&s->length, 1), tn_int(1), (tn_dtype)dtype, x->device);
    return stft_zeros(window, left, s->n - s->length - left);
}

static bool stft_check(tn_frame *f, const tn_tensor *x, const tn_tensor *window, bool onesided) {
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "expected a tensor of floating point or complex values");
    if (x->ndim != 1 && x->ndim != 2) return tn_fail(f, TN_INVALID, "expected a 1D or 2D tensor");
    if (onesided && (tni_is_complex(x->dtype) || (window && tni_is_complex(window->dtype))))
        return tn_fail(f, TN_INVALID, "Cannot have onesided output if window or input is complex");
    return true;
}
/* n / 2 more elements at both ends of the last dimension, by F.pad's way. */
static tn_tensor *stft_centred(tn_tensor *x, int64_t n, const char *mode) {
    int64_t pad[2];
    tn_tensor *y = x->ndim == 1 ? tnp_unsqueeze(x, 0) : x;
    pad[0] = pad[1] = n / 2;
    if (strcmp(mode, "constant") != 0) y = tnp_unsqueeze(y, 0);
    y = tnp_pad(y, tni_ints(pad, 2), mode, tn_no_float());
    if (strcmp(mode, "constant") != 0) y = tnp_squeeze_dim(y, 0);
    return y && x->ndim == 1 ? tnp_squeeze_dim(y, 0) : y;
}
static bool stft_compose(tn_frame *f) {
    TN_ARGS(stft, a, f);
    tn_tensor *x = a->self, *frames;
    stft_plan s;
    int64_t length;
    if (!stft_check(f, x, a->window, a->onesided)) return false;
    if (a->n_fft <= 0)
        return tn_fail(f, TN_INVALID, "expected 0 < n_fft, but got n_fft=%lld",
                       (long long)a->n_fft);
    if (a->center) x = stft_centred(x, a->n_fft, a->pad_mode ? a->pad_mode : "");
    if (!x || !stft_lengths(f, &s, a->n_fft, a->hop_length, a->win_length, a->window)) return false;
    length = x->size[x->ndim - 1];
    if (length < s.n)
        return tn_fail(f, TN_INVALID, "expected 0 < n_fft <= %lld, but got n_fft=%lld",
                       (long long)length, (long long)s.n);
    /* (.., frames, n), each weighted, to (.., frequencies, frames) */
    frames = tnp_unfold(x, -1, s.n, s.hop);
    if (a->window || s.length < s.n) frames = tnp_mul(frames, stft_window(&s, a->window, x));
    frames = a->onesided ? tnp_fft_rfft(frames, TN_NONE, -1, a->normalized ? "ortho" : "backward")
                         : tnp_fft_fft(frames, TN_NONE, -1, a->normalized ? "ortho" : "backward");
    f->out[0] = tnp_transpose(frames, -2, -1);
    return f->out[0] != NULL;
}
/* The spectra of frames of n_fft elements, hop_length (n_fft / 4) from one to the next, weighted by
 * the window, which stands in the middle of a frame. center: frame k is around element k
 * hop_length, by pad_mode beyond the ends. onesided: of real numbers, frequencies 0 to n_fft / 2.
 * normalized: divided by sqrt(n_fft). */
TN_OPERATOR(stft,
            "_stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
            "Tensor? window=None, bool center=True, str pad_mode='reflect', bool "
            "normalized=False, bool onesided=True) -> Tensor",
            TN_DOC(.shapes = "self (n) or (b, n), floating or complex, window (win_length) -> "
                             "(n_fft / 2 + 1, frames) or (b, n_fft / 2 + 1, frames), complex; "
                             "n_fft frequencies unless onesided",
                   .example = "tn_stft(x, 8, .window = tn_hann_window(8))",
                   .differs = "signature: torch.stft decides what is absent by its input; so does "
                              "Python's function of that name"),
            .autocast = TN_WIDE_CPU, .compose = stft_compose,
            .sample = "(20) 4 | (2,24) 8 2 | (35):f64 6 3 4 (4):f64 True constant | (30) 5 2 "
                      "center=False normalized=True | (2,18) 8 4 6 onesided=False | (20):f64 4 1 "
                      "pad_mode=replicate")

/* Frames (b, frames, n) added where they lie, hop from one to the next: (b, length). */
static tn_tensor *istft_sum(tn_tensor *frames, int64_t hop, int64_t length) {
    int64_t size[3], stride[3], whole[2], whole_stride[2];
    tn_tensor *zeros;
    if (!frames) return NULL;
    memcpy(size, frames->size, sizeof size);
    whole[0] = size[0];
    whole[1] = stride[0] = whole_stride[0] = length;
    stride[1] = hop;
    stride[2] = whole_stride[1] = 1;
    zeros = tnp_zeros(tni_ints(whole, 2), (tn_dtype)frames->dtype, frames->device);
    return tnp_as_strided_scatter(zeros, frames, tni_ints(size, 3), tni_ints(stride, 3), 0,
                                  tni_ints(whole_stride, 2), 0, true);
}
static bool istft_check(tn_frame *f, const tn_tensor *x, const tn_tensor *window, int64_t n,
                        bool onesided, bool complex) {
    int64_t rows;
    if (!tni_is_complex(x->dtype))
        return tn_fail(f, TN_TYPE,
                       "requires a complex-valued input tensor matching the output from stft");
    if (x->ndim != 2 && x->ndim != 3)
        return tn_fail(f, TN_INVALID, "expected a tensor with 2 or 3 dimensions, but got %d",
                       x->ndim);
    if (!x->numel) return tn_fail(f, TN_INVALID, "input tensor cannot be empty.");
    if (complex && onesided)
        return tn_fail(f, TN_INVALID, "Cannot have onesided output if window or input is complex");
    if (!complex && window && tni_is_complex(window->dtype))
        return tn_fail(f, TN_INVALID, "Complex windows are incompatible with a real result");
    rows = x->size[x->ndim - 2];
    return rows == (onesided ? n / 2 + 1 : n) ||
           tn_fail(f, TN_INVALID,
                   "expected the frequency dimension (3rd to the last) of the input tensor to "
                   "match n_fft / 2 + 1 when onesided, or n_fft, but got %lld",
                   (long long)rows);
}
/* The sum of squared windows is above 0 wherever it divides; unread on other devices. */
static bool istft_covered(tn_frame *f, tn_tensor *weight) {
    tn_tensor *least = tnp_min(tnp_abs(weight));
    if (!least) return false;
    if (f->meta || least->device != TN_CPU ||
        tni_element(tni_bytes_at(least), least->dtype).real >= 1e-11)
        return true;
    return tn_fail(f, TN_INVALID,
                   "window overlap add min: the windows leave a part of the signal uncovered");
}
/* y (b, all) from `start` on: `length` elements, or up to n / 2 before the end. */
static bool istft_compose(tn_frame *f) {
    TN_ARGS(istft, a, f);
    tn_tensor *x = a->self, *y, *weight, *window;
    const bool flat = x->ndim == 2;
    const char *norm = a->normalized ? "ortho" : "backward";
    const int64_t start = a->center ? a->n_fft / 2 : 0;
    int64_t all, end, size[3];
    stft_plan s;
    if (!istft_check(f, x, a->window, a->n_fft, a->onesided, a->return_complex) ||
        !stft_lengths(f, &s, a->n_fft, a->hop_length, a->win_length, a->window))
        return false;
    if (s.hop > s.length) return tn_fail(f, TN_INVALID, "expected 0 < hop_length <= win_length");
    /* (b, frames, n), weighted, and the windows' squares at the same places */
    if (flat) x = tnp_unsqueeze(x, 0);
    y = tnp_transpose(x, 1, 2);
    if (!y) return false;
    size[0] = 1;
    size[1] = y->size[1];
    size[2] = s.n;
    if (size[1] - 1 > (INT64_MAX - s.n) / s.hop)
        return tn_fail(f, TN_INVALID, "the signal would be too long");
    all = s.n + s.hop * (size[1] - 1);
    /* A real result is that of the lower half, as if the upper one mirrored it. */
    if (a->return_complex)
        y = tnp_fft_ifft(y, TN_NONE, -1, norm);
    else
        y = tnp_fft_irfft(tnp_slice(y, -1, 0, s.n / 2 + 1, 1), s.n, -1, norm);
    window = stft_window(&s, a->window, a->self);
    y = istft_sum(tnp_mul(y, window), s.hop, all);
    weight = tnp_expand(tnp_square(window), tni_ints(size, 3), false);
    weight = istft_sum(weight, s.hop, all);
    end = a->length != TN_NONE ? (a->length > INT64_MAX - start ? INT64_MAX : start + a->length)
                               : all - start;
    y = tnp_slice(y, 1, start, end, 1);
    weight = tnp_slice(weight, 1, start, end, 1);
    if (!y || !weight || !weight->numel)
        return y && weight && tn_fail(f, TN_INVALID, "no part of the signal is left");
    if (!istft_covered(f, weight)) return false;
    y = tnp_div(y, weight);
    if (end > all) y = stft_zeros(y, 0, end - all);
    f->out[0] = flat ? tnp_squeeze_dim(y, 0) : y;
    return f->out[0] != NULL;
}
/* The signal whose stft is nearest to self: frames' inverse transforms, weighted by the window and
 * added, over the sum of squared windows. length: of the signal; zeros beyond the last frame. */
TN_OPERATOR(istft,
            "_istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
            "window=None, bool center=True, bool normalized=False, bool onesided=True, int? "
            "length=None, bool return_complex=False) -> Tensor",
            TN_DOC(.shapes = "self (n_fft / 2 + 1, frames) or (b, n_fft / 2 + 1, frames), complex; "
                             "n_fft frequencies unless onesided -> (n) or (b, n)",
                   .example = "tn_istft(spectrum, 8)",
                   .differs = "signature: torch.istft decides what is absent by its input; so does "
                              "Python's function of that name"),
            .compose = istft_compose,
            .sample = "(3,9):c64 4 | (2,5,7):c128 8 2 | (4,6):c128 6 3 4 (4):f64 | (5,8):c64 8 2 "
                      "normalized=True center=False | (8,5):c128 8 4 onesided=False "
                      "return_complex=True | (5,8):c64 8 2 length=9 | (8,5):c128 8 2 "
                      "onesided=False | (3,6):c128 4 length=40")
