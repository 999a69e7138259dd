/* convolutions.cc - convolutions and the gradients of their inputs and weights on a GPU as programs
 * get them, by cuDNN where it is installed: each element against the sum in double by loops of this
 * file, within the bound of the error of a sum of k products in any order (products.cc), and a
 * rounding to the dtype of the result; with a bias a second one, for the library rounds before.
 * In emulation by a stand-in (emu_cudnn.h), with everything that it can refuse.
 *
 *     convolutions      0 if all are; the last line but one says whether the library was used */
#include "../../src/api/cuda.h"
#include "../../src/api/ops.h"
#include "../../src/api/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#ifdef TNC_EMULATION
#include "../cuda_host/emu_cudnn.h"
#endif

static int passed, failed;
static tn_device_id device;

typedef std::vector<double> numbers;
typedef std::vector<int64_t> sizes;

static tn_ints ints(const sizes &of) { return tn_ints_of(of.data(), (int64_t)of.size()); }
static void told(bool right, const char *what) {
    right ? passed++ : failed++;
    if (!right) printf("FAILED %s\n", what);
}

enum layout { ROWS, LAST, SLICED, SHARED };
struct sample {
    const char *name;
    sizes x, w; /* (N, C, ..), (O, C / groups, ..); x without N: an image alone */
    sizes stride, pad, dilation;
    int64_t groups;
    layout of_x, of_w; /* of the weight's gradient: of_x is x's */
    int64_t more;      /* of the input's gradient: so much larger than need be */
    bool own;          /* the backend's own kernels compute it */
};

/* Random numbers of a shape and dtype on the device, lying so, and what they are after rounding,
 * row-major. */
static tn_tensor *drawn(const sizes &shape, tn_dtype dtype, layout lies, numbers *v) {
    const size_t n = shape.size();
    sizes turn, back(n), full = shape;
    if (lies == SLICED) full.back() += 3;
    if (lies == SHARED) full[0] = 1;
    tn_tensor *t = tnp_to(tnp_randn(ints(full), NULL, TN_F64, TN_CPU), TN_CPU, dtype, false, false);
    t = tnp_to(t, device, TN_NO_DTYPE, false, false);
    if (lies == SLICED) t = tnp_narrow(t, -1, 2, shape.back());
    if (lies == SHARED) t = tnp_expand(t, ints(shape), false);
    if (lies == LAST) {
        const size_t channel = n % 2 && n < 5 ? 0 : 1; /* an image alone has none before */
        for (size_t k = 0; k < n; k++)
            if (k != channel) turn.push_back((int64_t)k);
        turn.push_back((int64_t)channel);
        for (size_t k = 0; k < n; k++) back[(size_t)turn[k]] = (int64_t)k;
        t = tnp_permute(tnp_contiguous(tnp_permute(t, ints(turn))), ints(back));
    }
    v->resize((size_t)tn_numel(t));
    if (!tnp_read_f64(t, v->data(), (int64_t)v->size())) v->clear();
    return t;
}

/* Half the distance of 1 from the next number. */
static double unit(tn_dtype dtype) {
    switch (dtype) {
    case TN_F64: return ldexp(1, -53);
    case TN_F32: return ldexp(1, -24);
    case TN_F16: return ldexp(1, -11);
    default: return ldexp(1, -8);
    }
}
static int64_t numel(const sizes &s) {
    int64_t n = 1;
    for (int64_t k : s) n *= k;
    return n;
}
/* Element i of a row-major shape, innermost last. */
static void place(const sizes &shape, int64_t i, int64_t *at) {
    for (size_t k = shape.size(); k-- > 0;) {
        at[k] = i % shape[k];
        i /= shape[k];
    }
}
static int64_t offset(const sizes &shape, const int64_t *at) {
    int64_t i = 0;
    for (size_t k = 0; k < shape.size(); k++) i = i * shape[k] + at[k];
    return i;
}
static int64_t option(const sizes &of, size_t k) { return of[of.size() > 1 ? k : 0]; }

enum { OUTPUT, INPUT, WEIGHT };
/* Calls term(x, w, y) with the offsets of each product of the convolution. */
template <class Term>
static void terms(const sample &s, const sizes &x, const sizes &y, const Term &term) {
    const size_t dims = x.size() - 2;
    int64_t py[8], pw[8], px[8];
    for (int64_t i = 0; i < numel(y); i++)
        for (int64_t q = 0; q < numel(s.w) / s.w[0]; q++) {
            bool inside = true;
            place(y, i, py);
            place(s.w, q, pw);
            pw[0] = py[1];
            px[0] = py[0];
            px[1] = py[1] / (s.w[0] / s.groups) * s.w[1] + pw[1];
            for (size_t k = 0; k < dims; k++) {
                px[k + 2] = py[k + 2] * option(s.stride, k) - option(s.pad, k) +
                            pw[k + 2] * option(s.dilation, k);
                inside = inside && px[k + 2] >= 0 && px[k + 2] < x[k + 2];
            }
            if (inside) term(offset(x, px), offset(s.w, pw), i);
        }
}
/* The worst error over its bound. */
static double worst(const sample &s, int of, tn_dtype dtype, const sizes &x, const sizes &y,
                    const numbers &a, const numbers &b, const numbers &bias, const numbers &got) {
    const double sum_unit = dtype == TN_F64 ? ldexp(1, -53) : ldexp(1, -24);
    numbers sum(got.size()), size(got.size()), count(got.size());
    double most = 0;
    terms(s, x, y, [&](int64_t i, int64_t j, int64_t k) {
        const double t = of == OUTPUT  ? a[(size_t)i] * b[(size_t)j]
                         : of == INPUT ? a[(size_t)k] * b[(size_t)j]
                                       : a[(size_t)k] * b[(size_t)i];
        const size_t to = (size_t)(of == OUTPUT ? k : of == INPUT ? i : j);
        sum[to] += t;
        size[to] += fabs(t);
        count[to]++;
    });
    const int64_t plane = numel(y) / y[0] / y[1];
    for (size_t i = 0; i < got.size(); i++) {
        double alone = 0;
        if (!bias.empty()) {
            const double t = bias[(size_t)((int64_t)i / plane % y[1])];
            alone = fabs(sum[i]);
            sum[i] += t;
            size[i] += fabs(t);
        }
        const double bound = (count[i] + 4) * sum_unit * size[i] +
                             unit(dtype) * (fabs(sum[i]) + alone) + (dtype == TN_F16 ? 1.2e-7 : 0),
                     error = fabs(got[i] - sum[i]) / (bound + 1e-300);
        if (!(error <= most)) most = error >= 0 ? error : INFINITY; /* NaN is the worst */
    }
    return most;
}

static tn_tensor *computed(const sample &s, int of, tn_tensor *a, tn_tensor *b, tn_tensor *bias,
                           const sizes &to) {
    const tn_ints stride = ints(s.stride), pad = ints(s.pad), dilation = ints(s.dilation);
    const size_t dims = s.w.size() - 2;
    if (of == OUTPUT)
        return dims == 1   ? tnp_conv1d(a, b, bias, stride, pad, dilation, s.groups)
               : dims == 2 ? tnp_conv2d(a, b, bias, stride, pad, dilation, s.groups)
                           : tnp_conv3d(a, b, bias, stride, pad, dilation, s.groups);
    if (of == INPUT)
        return dims == 2 ? tnp_conv2d_input_grad(a, b, ints(to), stride, pad, dilation, s.groups)
                         : tnp_conv3d_input_grad(a, b, ints(to), stride, pad, dilation, s.groups);
    return dims == 2 ? tnp_conv2d_weight_grad(a, b, ints(to), stride, pad, dilation, s.groups)
                     : tnp_conv3d_weight_grad(a, b, ints(to), stride, pad, dilation, s.groups);
}

/* How many convolutions the library has had so far; -1: nobody counts. */
static long long had() {
#ifdef TNC_EMULATION
    return emu_dnns().executed;
#else
    return -1;
#endif
}
static bool check(const sample &s, int of, tn_dtype dtype, bool biased) {
    const size_t dims = s.w.size() - 2;
    const bool alone = s.x.size() == dims + 1;
    sizes x = s.x, y;
    numbers a, b, c, got;
    double most = INFINITY;
    const long long before = had();
    if (alone) x.insert(x.begin(), 1);
    y = {x[0], s.w[0]};
    for (size_t k = 0; k < dims; k++)
        y.push_back(
            (x[k + 2] + 2 * option(s.pad, k) - (s.w[k + 2] - 1) * option(s.dilation, k) - 1) /
                option(s.stride, k) +
            1);
    TN_SCOPE {
        tn_error_info e;
        tn_tensor *t, *u, *bias = NULL;
        const sizes d = alone ? sizes(y.begin() + 1, y.end()) : y;
        t = drawn(of == OUTPUT ? s.x : d, dtype, of == OUTPUT || of == INPUT ? s.of_x : ROWS, &a);
        u = drawn(of == WEIGHT ? s.x : s.w, dtype, of == WEIGHT ? s.of_x : s.of_w, &b);
        if (biased) bias = drawn({s.w[0]}, dtype, ROWS, &c);
        t = computed(s, of, t, u, bias, of == INPUT ? s.x : s.w);
        if (t) {
            got.resize((size_t)tn_numel(t));
            if (tnp_read_f64(t, got.data(), (int64_t)got.size()))
                most = worst(s, of, dtype, x, y, a, b, c, got);
        }
        if (!(most <= 1))
            printf("FAILED %s %s of %s%s: %.3g of the bound: %s\n", s.name,
                   of == OUTPUT  ? "output"
                   : of == INPUT ? "input"
                                 : "weight",
                   tn_dtype_name(dtype), biased ? " bias" : "", most,
                   tn_error_take(&e) ? e.message : "");
    }
    most <= 1 ? passed++ : failed++;
    if (before >= 0 && (had() > before) == s.own) {
        failed++;
        printf("FAILED %s %d of %s: computed %s\n", s.name, of, tn_dtype_name(dtype),
               s.own ? "by the library" : "by own kernels");
    }
    return most <= 1;
}

static const sample samples[] = {
    {"plain", {2, 3, 8, 7}, {4, 3, 3, 3}, {1}, {0}, {1}, 1, ROWS, ROWS, 0, false},
    {"padded", {2, 3, 6, 5}, {4, 3, 3, 2}, {1}, {1, 2}, {1}, 1, ROWS, ROWS, 0, false},
    {"strided", {2, 4, 9, 8}, {6, 4, 3, 3}, {2, 3}, {1}, {1}, 1, ROWS, ROWS, 0, false},
    {"dilated", {1, 2, 9, 11}, {3, 2, 3, 3}, {1, 2}, {2, 1}, {2, 3}, 1, ROWS, ROWS, 0, false},
    {"groups", {2, 6, 5, 5}, {4, 3, 3, 3}, {1}, {1}, {1}, 2, ROWS, ROWS, 0, false},
    {"depthwise", {2, 5, 6, 6}, {10, 1, 3, 3}, {1}, {1}, {1}, 5, ROWS, ROWS, 0, false},
    {"pointwise", {3, 8, 4, 4}, {5, 8, 1, 1}, {1}, {0}, {1}, 1, ROWS, ROWS, 0, false},
    {"image alone", {3, 6, 7}, {4, 3, 3, 3}, {1}, {1}, {1}, 1, ROWS, ROWS, 0, false},
    {"channels last", {2, 4, 6, 5}, {3, 4, 3, 3}, {1}, {1}, {1}, 1, LAST, LAST, 0, false},
    {"weight last", {2, 4, 6, 5}, {3, 4, 3, 3}, {2}, {1}, {1}, 1, ROWS, LAST, 0, false},
    {"sliced", {2, 4, 6, 5}, {3, 4, 3, 3}, {1}, {1}, {1}, 1, SLICED, ROWS, 0, false},
    {"shared", {2, 4, 6, 5}, {3, 4, 3, 3}, {1}, {1}, {1}, 1, SHARED, ROWS, 0, true},
    {"rest", {1, 2, 8, 8}, {2, 2, 3, 3}, {3}, {1}, {1}, 1, ROWS, ROWS, 0, false},
    {"volumes", {2, 3, 4, 5, 6}, {4, 3, 2, 3, 2}, {1}, {1}, {1}, 1, ROWS, ROWS, 0, false},
    {"volumes 2",
     {1, 4, 7, 5, 6},
     {4, 2, 3, 2, 3},
     {2, 1, 3},
     {1, 0, 2},
     {2, 1, 1},
     2,
     ROWS,
     ROWS,
     0,
     false},
};
static const sample lines[] = {
    {"line", {2, 3, 12}, {4, 3, 5}, {2}, {2}, {1}, 1, ROWS, ROWS, 0, false},
    {"line dilated", {2, 4, 20}, {6, 2, 3}, {1}, {3}, {4}, 2, ROWS, ROWS, 0, false}};

/* Gradients by backward, and conv_transpose with its output's padding. */
static void transposed() {
    TN_SCOPE {
        numbers a, b, got, want;
        tn_tensor *x = drawn({2, 4, 5, 4}, TN_F32, ROWS, &a),
                  *w = drawn({4, 3, 3, 3}, TN_F32, ROWS, &b);
        const sizes stride = {2}, pad = {1}, more = {1}, one = {1};
        const long long before = had();
        tn_tensor *y =
            tnp_conv_transpose2d(x, w, NULL, ints(stride), ints(pad), ints(more), 1, ints(one));
        tn_tensor *z = tnp_conv_transpose2d(tnp_to(x, TN_CPU, TN_NO_DTYPE, false, false),
                                            tnp_to(w, TN_CPU, TN_NO_DTYPE, false, false), NULL,
                                            ints(stride), ints(pad), ints(more), 1, ints(one));
        bool right = y && z && tn_numel(y) == tn_numel(z);
        if (right) {
            got.resize((size_t)tn_numel(y));
            want.resize((size_t)tn_numel(z));
            right = tnp_read_f64(y, got.data(), tn_numel(y)) &&
                    tnp_read_f64(z, want.data(), tn_numel(z));
            for (size_t i = 0; right && i < got.size(); i++)
                right = fabs(got[i] - want[i]) <= 40 * ldexp(1, -24) * 40;
        }
        told(right, "conv_transpose2d");
        told(before < 0 || had() == before + 1, "conv_transpose2d is the library's");
    }
}

#ifdef TNC_EMULATION
/* --- what the library may refuse -------------------------------------------------------------- */

static sample one(const char *name, int64_t h, bool own) {
    const sample s = {name, {2, 40, h, 6}, {3, 40, 3, 3}, {1}, {1}, {1}, 1, ROWS, ROWS, 0, own};
    return s;
}
static void mode(const char *number) { setenv("EMU_CUDNN", number, 1); }
static void refusals() {
    mode("3");
    check(one("named by the fallback alone", 6, false), OUTPUT, TN_F32, true);
    mode("4");
    for (int of = OUTPUT; of <= WEIGHT; of++)
        check(one("without a plan", 7, true), of, TN_F32, of == OUTPUT);
    mode("1");
    check(one("no plan is known", 7, true), OUTPUT, TN_F32, true);
    mode("2");
    for (int of = OUTPUT; of <= WEIGHT; of++)
        check(one("refused when executed", 8, true), of, TN_F32, of == OUTPUT);
    mode("1");
    check(one("and then taken", 8, false), OUTPUT, TN_F32, true);
}
/* Engines that break a promise are not taken. */
static void engines() {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    const char *tf32 = getenv("TN_CUDA_TF32");
    for (tn_dtype dtype : dtypes) {
        const bool plain = dtype == TN_F32 && !(tf32 && atoi(tf32));
        check(one("engines", 9, false), OUTPUT, dtype, false);
        told(emu_dnns().engine == (plain ? EMU_DNN_GOOD : EMU_DNN_TF32), "the engine");
    }
}
/* Plans give way to new ones, and what they were made of with them. */
static void plans_are_bounded() {
    size_t most = 0;
    for (int64_t h = 10; h < 40; h++) {
        check(one("many", h, false), OUTPUT, TN_F32, false);
        if (emu_dnns().live.size() > most) most = emu_dnns().live.size();
    }
    told(most <= 8 * 8, "plans are given up");
}
static void workspace_is_compared() {
    mode("5");
    for (int of = OUTPUT; of <= WEIGHT; of++) check(one("hungry", 5, true), of, TN_F32, of == 0);
    mode("1");
    check(one("content", 4, false), OUTPUT, TN_F32, true);
}
/* A captured call finds its plan when it is replayed; no memory is asked for. */
static void replayed() {
    TN_SCOPE {
        numbers a, b, first(2 * 3 * 5 * 6), then(first.size());
        const sizes none = {0}, one_ = {1};
        tn_tensor *x = drawn({2, 4, 7, 8}, TN_F32, ROWS, &a),
                  *w = drawn({3, 4, 3, 3}, TN_F32, ROWS, &b), *y, *z;
        y = tnp_conv2d(x, w, NULL, ints(one_), ints(none), ints(one_), 1);
        const long long before = had();
        bool right = tnp_read_f64(y, first.data(), (int64_t)first.size()) && tn_capture_begin();
        z = tnp_conv2d(x, w, NULL, ints(one_), ints(none), ints(one_), 1);
        tn_recording *r = tn_record_end();
        told(right && z && r && had() == before, "a captured convolution computes nothing");
        right =
            r && tn_replay(r) && tn_replay(r) && tnp_read_f64(z, then.data(), (int64_t)then.size());
        told(right && first == then, "a replayed convolution");
        told(had() == before + 1, "a graph has the library's call once");
        if (r) tn_recording_free(r);
    }
}
#endif

/* Whether the process has the library's file. */
static bool library_used(void) {
    char line[1000];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) found = found || strstr(line, "libcudnn.");
    if (f) fclose(f);
    return found;
}

int main(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    char why[200] = "";
#ifdef TNC_EMULATION
    setenv("TN_CUDA_EXACT", "0", 0);
    setenv("EMU_CUDNN_PLANS", "8", 0);
#endif
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    device = tn_device("cuda:0");
    for (tn_dtype dtype : dtypes) {
        for (const sample &s : samples)
            for (int of = OUTPUT; of <= WEIGHT; of++) {
                check(s, of, dtype, false);
                if (of == OUTPUT) check(s, of, dtype, true);
            }
        for (const sample &s : lines) check(s, OUTPUT, dtype, true);
    }
    transposed();
#ifdef TNC_EMULATION
    if (!getenv("EMU_CUDNN_LIBRARY")) {
        refusals();
        engines();
        plans_are_bounded();
        workspace_is_compared();
        replayed();
    }
#endif
    printf("cuDNN %s\n", library_used() ? "was used" : "was not there");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
