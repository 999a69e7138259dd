/* window.c - windows for spectra: bartlett, blackman, hamming, hann, kaiser.
 *
 * Composed in float64 of rows and rounded once. F. Harris, "On the use of windows for harmonic
 * analysis with the discrete Fourier transform", 1978. */
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* What all windows are asked for, and what was made of it. */
typedef struct window_plan {
    tn_dtype dtype;
    tn_device_id device;
    double span; /* the steps from the first point to the one that equals it */
    int64_t length;
} window_plan;

static bool window_check(tn_frame *f, window_plan *w, int64_t length, bool periodic, tn_dtype dtype,
                         tn_device_id device) {
    w->dtype = dtype ? dtype : tni_tensors(f->block->context)->default_dtype;
    w->device = device;
    w->length = length;
    w->span = (double)length - !periodic;
    /* As torch, complex windows of up to one point, of which nothing is computed. */
    if (!(tni_is_float((int)w->dtype) || (tni_is_complex((int)w->dtype) && length <= 1)) ||
        !tni_dtype((int)w->dtype)->computes)
        return tn_fail(f, TN_TYPE, "expects floating point dtypes, got: %s",
                       tni_dtype((int)w->dtype)->text);
    return length >= 0 ||
           tn_fail(f, TN_INVALID, "requires non-negative window_length, got window_length=%lld",
                   (long long)length);
}
/* 0, 1, .. times `step` radians or what it may be. */
static tn_tensor *window_steps(const window_plan *w, double step) {
    return tnp_mul_scalar(tnp_arange(tn_int(w->length), TN_F64, w->device), tn_float(step));
}
/* The result: y in the dtype; a window of one point is 1. */
static bool window_give(tn_frame *f, const window_plan *w, tn_tensor *y) {
    if (w->length == 1) y = tnp_full(tni_ints(&w->length, 1), tn_int(1), TN_F64, w->device);
    f->out[0] = w->dtype == TN_F64 ? y : tnp_to_dtype(y, w->dtype, false, false);
    return f->out[0] != NULL;
}
/* a - b cos t + c cos 2t, t from 0 to 2 pi. */
static bool window_cosines(tn_frame *f, const window_plan *w, double a, double b, double c) {
    tn_tensor *t, *y;
    if (w->length <= 1) return window_give(f, w, window_steps(w, 0));
    t = window_steps(w, 6.28318530717958647693 / w->span);
    y = tnp_mul_scalar(tnp_cos(t), tn_float(-b));
    if (c != 0)
        y = tnp_add(tnp_mul_scalar(tnp_cos(tnp_mul_scalar(t, tn_int(2))), tn_float(c)), y, 1);
    y = tnp_add_scalar(y, tn_float(a), 1);
    return window_give(f, w, y);
}

static bool bartlett_compose(tn_frame *f) {
    TN_ARGS(bartlett_window, a, f);
    window_plan w;
    tn_tensor *t;
    if (!window_check(f, &w, a->window_length, a->periodic, a->dtype, a->device)) return false;
    if (w.length <= 1) return window_give(f, &w, window_steps(&w, 0));
    /* t from 0 to 2: the smaller one of t and 2 - t */
    t = window_steps(&w, 2 / w.span);
    return window_give(f, &w, tnp_minimum(t, tnp_add_scalar(tnp_neg(t), tn_int(2), 1)));
}
/* The triangle 1 - |2 k / (n - 1) - 1|; periodic: of a window of one point more, without the last
 * one. */
TN_OPERATOR(bartlett_window,
            "bartlett_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (window_length), floating", .example = "tn_bartlett_window(8)"),
            .compose = bartlett_compose,
            .sample = "6 | 1 | 0 | 9 False | 35 dtype=float64 | 1 False | 8 True dtype=float16")

static bool blackman_compose(tn_frame *f) {
    TN_ARGS(blackman_window, a, f);
    window_plan w;
    return window_check(f, &w, a->window_length, a->periodic, a->dtype, a->device) &&
           window_cosines(f, &w, 0.42, 0.5, 0.08);
}
/* 0.42 - 0.5 cos(2 pi k / (n - 1)) + 0.08 cos(4 pi k / (n - 1)); periodic: of a window of one point
 * more, without the last one. */
TN_OPERATOR(
    blackman_window,
    "blackman_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, "
    "Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> (window_length), floating", .example = "tn_blackman_window(8)",
           .differs =
               "result 0 [2 periodic=False]: torch's float32 leaves 1e-8 where the terms cancel"),
    .compose = blackman_compose,
    .sample = "6 | 1 | 0 | 9 False | 35 dtype=float64 | 1 False | 8 True dtype=float16")

static bool hamming_compose(tn_frame *f) {
    TN_ARGS(hamming_window, a, f);
    window_plan w;
    return window_check(f, &w, a->window_length, a->periodic, a->dtype, a->device) &&
           window_cosines(f, &w, a->alpha, a->beta, 0);
}
/* alpha - beta cos(2 pi k / (n - 1)); periodic: of a window of one point more, without the last
 * one. */
TN_OPERATOR(
    hamming_window,
    "hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, "
    "ScalarType? dtype=None, Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> (window_length), floating", .example = "tn_hamming_window(8)"),
    .compose = hamming_compose,
    .sample = "6 | 1 | 0 | 9 False | 35 dtype=float64 | 8 True 0.5 0.4 dtype=float16 | 7 False 0.3")

static bool hann_compose(tn_frame *f) {
    TN_ARGS(hann_window, a, f);
    window_plan w;
    return window_check(f, &w, a->window_length, a->periodic, a->dtype, a->device) &&
           window_cosines(f, &w, 0.5, 0.5, 0);
}
/* 0.5 - 0.5 cos(2 pi k / (n - 1)); periodic: of a window of one point more, without the last
 * one. */
TN_OPERATOR(hann_window,
            "hann_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (window_length), floating", .example = "tn_hann_window(8)"),
            .compose = hann_compose,
            .sample = "6 | 1 | 0 | 9 False | 35 dtype=float64 | 1 False | 8 True dtype=float16")

static bool kaiser_compose(tn_frame *f) {
    TN_ARGS(kaiser_window, a, f);
    window_plan w;
    tn_tensor *t, *beta;
    if (!window_check(f, &w, a->window_length, a->periodic, a->dtype, a->device)) return false;
    if (w.length <= 1) return window_give(f, &w, window_steps(&w, 0));
    /* t = beta sqrt(1 - s^2), s from -1 to 1, by 1 - s^2 = u (2 - u); then i0(t) / i0(beta) by
     * functions that do not overflow */
    t = window_steps(&w, 2 / w.span);
    t = tnp_mul(t, tnp_add_scalar(tnp_neg(t), tn_int(2), 1));
    t = tnp_mul_scalar(tnp_sqrt(tnp_clamp_min_scalar(t, tn_int(0))), tn_float(a->beta));
    beta = tnp_full(tn_empty_dims(), tn_float(a->beta), TN_F64, w.device);
    t = tnp_mul(tnp_special_i0e(t), tnp_exp(tnp_sub(tnp_abs(t), tnp_abs(beta), 1)));
    return window_give(f, &w, tnp_div(t, tnp_special_i0e(beta)));
}
/* I0(beta sqrt(1 - s^2)) / I0(beta), s = 2 k / (n - 1) - 1; periodic: of a window of one point
 * more, without the last one. */
TN_OPERATOR(kaiser_window,
            "kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, ScalarType? "
            "dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (window_length), floating", .example = "tn_kaiser_window(8)"),
            .compose = kaiser_compose,
            .sample = "6 | 1 | 0 | 9 False | 35 dtype=float64 | 8 True 3.0 dtype=float16 | 7 False "
                      "0.5")
