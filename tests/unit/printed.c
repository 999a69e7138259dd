/* printed.c - a tensor's text is torch's, character by character: the texts below were written by
 * torch 2.15. Also the short texts of messages. */
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 4000 };

typedef struct print_case {
    tn_dtype dtype;
    int ndim;
    int64_t size[4];
    bool steps; /* value[0] + i * value[1]; else as listed, complex ones in pairs */
    double value[8];
    tn_print_options options;
    const char *text;
} print_case;

static const print_case cases[] = {
    {TN_F32, 0, {0}, false, {3.5}, {0, 0, 0, 0, 0}, "tensor(3.5000)"},
    {TN_F64, 0, {0}, false, {-INFINITY}, {0, 0, 0, 0, 0}, "tensor(-inf, dtype=torch.float64)"},
    {TN_F32, 0, {0}, false, {NAN}, {0, 0, 0, 0, 0}, "tensor(nan)"},
    {TN_BOOL, 0, {0}, false, {1}, {0, 0, 0, 0, 0}, "tensor(True)"},
    {TN_I64, 0, {0}, false, {-7}, {0, 0, 0, 0, 0}, "tensor(-7)"},
    {TN_C64, 0, {0}, false, {1, -2}, {0, 0, 0, 0, 0}, "tensor(1.-2.j)"},
    {TN_F32,
     2,
     {2, 3},
     false,
     {1, NAN, INFINITY, -2.5, -INFINITY, 0},
     {0, 0, 0, 0, 0},
     "tensor([[ 1.0000,     nan,     inf],\n        [-2.5000,    -inf,  0.0000]])"},
    {TN_F32, 1, {4}, false, {1, 2, -3, 0}, {0, 0, 0, 0, 0}, "tensor([ 1.,  2., -3.,  0.])"},
    {TN_F32, 1, {2}, false, {1e-05, 1}, {0, 0, 0, 0, 0}, "tensor([1.0000e-05, 1.0000e+00])"},
    {TN_F32, 1, {2}, false, {1000000000.0, 1}, {0, 0, 0, 0, 0}, "tensor([1.0000e+09, 1.0000e+00])"},
    {TN_F64,
     1,
     {3},
     false,
     {0.001, 2.5, 0},
     {0, 0, 0, 0, 0},
     "tensor([1.0000e-03, 2.5000e+00, 0.0000e+00], dtype=torch.float64)"},
    {TN_F32,
     1,
     {2},
     false,
     {2000000000.0, 2000000000.0},
     {0, 0, 0, 0, 0},
     "tensor([2.0000e+09, 2.0000e+09])"},
    {TN_F32, 1, {3}, false, {0, 0, 0}, {0, 0, 0, 0, 0}, "tensor([0., 0., 0.])"},
    {TN_F32, 1, {2}, false, {NAN, INFINITY}, {0, 0, 0, 0, 0}, "tensor([nan, inf])"},
    {TN_F32, 1, {2}, false, {1e-05, 2e-05}, {0, 0, 0, 0, 0}, "tensor([1.0000e-05, 2.0000e-05])"},
    {TN_C64, 1, {2}, false, {1, -2, 3, 4}, {0, 0, 0, 0, 0}, "tensor([1.-2.j, 3.+4.j])"},
    {TN_C128,
     1,
     {2},
     false,
     {0.5, 1.5, -10, 1e-06},
     {0, 0, 0, 0, 0},
     "tensor([  0.5000+1.5000e+00j, -10.0000+1.0000e-06j], dtype=torch.complex128)"},
    {TN_C64,
     1,
     {3},
     false,
     {NAN, 0, 0, INFINITY, 1, -0.25},
     {0, 0, 0, 0, 0},
     "tensor([nan+0.0000j, 0.+infj, 1.-0.2500j])"},
    {TN_BOOL,
     2,
     {2, 2},
     false,
     {1, 0, 0, 1},
     {0, 0, 0, 0, 0},
     "tensor([[ True, False],\n        [False,  True]])"},
    {TN_I8,
     1,
     {3},
     false,
     {-100, 5, 20},
     {0, 0, 0, 0, 0},
     "tensor([-100,    5,   20], dtype=torch.int8)"},
    {TN_U8, 1, {2}, false, {200, 3}, {0, 0, 0, 0, 0}, "tensor([200,   3], dtype=torch.uint8)"},
    {TN_I16, 1, {2}, false, {-300, 1}, {0, 0, 0, 0, 0}, "tensor([-300,    1], dtype=torch.int16)"},
    {TN_I32, 1, {1}, false, {9}, {0, 0, 0, 0, 0}, "tensor([9], dtype=torch.int32)"},
    {TN_U16,
     1,
     {2},
     false,
     {65535, 1},
     {0, 0, 0, 0, 0},
     "tensor([65535,     1], dtype=torch.uint16)"},
    {TN_U32,
     1,
     {1},
     false,
     {4000000000.0},
     {0, 0, 0, 0, 0},
     "tensor([4000000000], dtype=torch.uint32)"},
    {TN_U64,
     1,
     {2},
     false,
     {1.844674407370955e+19, 1},
     {0, 0, 0, 0, 0},
     "tensor([18446744073709549568,                    1], dtype=torch.uint64)"},
    {TN_F16,
     1,
     {2},
     false,
     {0.5, 65504},
     {0, 0, 0, 0, 0},
     "tensor([5.0000e-01, 6.5504e+04], dtype=torch.float16)"},
    {TN_BF16,
     1,
     {2},
     false,
     {0.5, -3},
     {0, 0, 0, 0, 0},
     "tensor([ 0.5000, -3.0000], dtype=torch.bfloat16)"},
    {TN_F8E4M3,
     1,
     {2},
     false,
     {0.5, 448},
     {0, 0, 0, 0, 0},
     "tensor([  0.5000, 448.0000], dtype=torch.float8_e4m3fn)"},
    {TN_F8E5M2,
     1,
     {2},
     false,
     {0.25, -57344},
     {0, 0, 0, 0, 0},
     "tensor([ 2.5000e-01, -5.7344e+04], dtype=torch.float8_e5m2)"},
    {TN_F32,
     1,
     {40},
     true,
     {0, 0.25},
     {0, 0, 0, 0, 0},
     "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,"
     "\n        2.2500, 2.5000, 2.7500, 3.0000, 3.2500, 3.5000, 3.7500, 4.0000, 4.2500"
     ",\n        4.5000, 4.7500, 5.0000, 5.2500, 5.5000, 5.7500, 6.0000, 6.2500, 6.500"
     "0,\n        6.7500, 7.0000, 7.2500, 7.5000, 7.7500, 8.0000, 8.2500, 8.5000, 8.75"
     "00,\n        9.0000, 9.2500, 9.5000, 9.7500])"},
    {TN_I64,
     1,
     {40},
     true,
     {-5, 7},
     {0, 0, 0, 0, 0},
     "tensor([ -5,   2,   9,  16,  23,  30,  37,  44,  51,  58,  65,  72,  79,  86,\n "
     "        93, 100, 107, 114, 121, 128, 135, 142, 149, 156, 163, 170, 177, 184,\n  "
     "      191, 198, 205, 212, 219, 226, 233, 240, 247, 254, 261, 268])"},
    {TN_F32,
     3,
     {2, 2, 2},
     true,
     {0, 1},
     {0, 0, 0, 0, 0},
     "tensor([[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]"
     "]])"},
    {TN_F64,
     4,
     {2, 1, 2, 2},
     true,
     {0.5, 1},
     {0, 0, 0, 0, 0},
     "tensor([[[[0.5000, 1.5000],\n          [2.5000, 3.5000]]],\n\n\n        [[[4.500"
     "0, 5.5000],\n          [6.5000, 7.5000]]]], dtype=torch.float64)"},
    {TN_F32,
     1,
     {2000},
     true,
     {0, 1},
     {0, 0, 0, 0, 0},
     "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,\n     "
     "   1.9990e+03])"},
    {TN_I64,
     2,
     {1100, 2},
     true,
     {0, 1},
     {0, 0, 0, 0, 0},
     "tensor([[   0,    1],\n        [   2,    3],\n        [   4,    5],\n        ..."
     ",\n        [2194, 2195],\n        [2196, 2197],\n        [2198, 2199]])"},
    {TN_F32,
     2,
     {50, 50},
     true,
     {0, 0.5},
     {0, 0, 0, 0, 0},
     "tensor([[0.0000e+00, 5.0000e-01, 1.0000e+00,  ..., 2.3500e+01, 2.4000e+01,\n    "
     "     2.4500e+01],\n        [2.5000e+01, 2.5500e+01, 2.6000e+01,  ..., 4.8500e+01"
     ", 4.9000e+01,\n         4.9500e+01],\n        [5.0000e+01, 5.0500e+01, 5.1000e+0"
     "1,  ..., 7.3500e+01, 7.4000e+01,\n         7.4500e+01],\n        ...,\n        ["
     "1.1750e+03, 1.1755e+03, 1.1760e+03,  ..., 1.1985e+03, 1.1990e+03,\n         1.19"
     "95e+03],\n        [1.2000e+03, 1.2005e+03, 1.2010e+03,  ..., 1.2235e+03, 1.2240e"
     "+03,\n         1.2245e+03],\n        [1.2250e+03, 1.2255e+03, 1.2260e+03,  ..., "
     "1.2485e+03, 1.2490e+03,\n         1.2495e+03]])"},
    {TN_I64,
     3,
     {8, 8, 20},
     true,
     {0, 1},
     {0, 0, 0, 0, 0},
     "tensor([[[   0,    1,    2,  ...,   17,   18,   19],\n         [  20,   21,   22"
     ",  ...,   37,   38,   39],\n         [  40,   41,   42,  ...,   57,   58,   59],"
     "\n         ...,\n         [ 100,  101,  102,  ...,  117,  118,  119],\n         "
     "[ 120,  121,  122,  ...,  137,  138,  139],\n         [ 140,  141,  142,  ...,  "
     "157,  158,  159]],\n\n        [[ 160,  161,  162,  ...,  177,  178,  179],\n    "
     "     [ 180,  181,  182,  ...,  197,  198,  199],\n         [ 200,  201,  202,  ."
     "..,  217,  218,  219],\n         ...,\n         [ 260,  261,  262,  ...,  277,  "
     "278,  279],\n         [ 280,  281,  282,  ...,  297,  298,  299],\n         [ 30"
     "0,  301,  302,  ...,  317,  318,  319]],\n\n        [[ 320,  321,  322,  ...,  3"
     "37,  338,  339],\n         [ 340,  341,  342,  ...,  357,  358,  359],\n        "
     " [ 360,  361,  362,  ...,  377,  378,  379],\n         ...,\n         [ 420,  42"
     "1,  422,  ...,  437,  438,  439],\n         [ 440,  441,  442,  ...,  457,  458,"
     "  459],\n         [ 460,  461,  462,  ...,  477,  478,  479]],\n\n        ...,\n"
     "\n        [[ 800,  801,  802,  ...,  817,  818,  819],\n         [ 820,  821,  8"
     "22,  ...,  837,  838,  839],\n         [ 840,  841,  842,  ...,  857,  858,  859"
     "],\n         ...,\n         [ 900,  901,  902,  ...,  917,  918,  919],\n       "
     "  [ 920,  921,  922,  ...,  937,  938,  939],\n         [ 940,  941,  942,  ...,"
     "  957,  958,  959]],\n\n        [[ 960,  961,  962,  ...,  977,  978,  979],\n  "
     "       [ 980,  981,  982,  ...,  997,  998,  999],\n         [1000, 1001, 1002, "
     " ..., 1017, 1018, 1019],\n         ...,\n         [1060, 1061, 1062,  ..., 1077,"
     " 1078, 1079],\n         [1080, 1081, 1082,  ..., 1097, 1098, 1099],\n         [1"
     "100, 1101, 1102,  ..., 1117, 1118, 1119]],\n\n        [[1120, 1121, 1122,  ..., "
     "1137, 1138, 1139],\n         [1140, 1141, 1142,  ..., 1157, 1158, 1159],\n      "
     "   [1160, 1161, 1162,  ..., 1177, 1178, 1179],\n         ...,\n         [1220, 1"
     "221, 1222,  ..., 1237, 1238, 1239],\n         [1240, 1241, 1242,  ..., 1257, 125"
     "8, 1259],\n         [1260, 1261, 1262,  ..., 1277, 1278, 1279]]])"},
    {TN_F32, 1, {0}, false, {0}, {0, 0, 0, 0, 0}, "tensor([])"},
    {TN_F32, 2, {0, 3}, false, {0}, {0, 0, 0, 0, 0}, "tensor([], size=(0, 3))"},
    {TN_F32, 3, {2, 0, 3}, false, {0}, {0, 0, 0, 0, 0}, "tensor([], size=(2, 0, 3))"},
    {TN_F64, 1, {0}, false, {0}, {0, 0, 0, 0, 0}, "tensor([], dtype=torch.float64)"},
    {TN_F64,
     2,
     {0, 3},
     false,
     {0},
     {0, 0, 0, 0, 0},
     "tensor([], size=(0, 3), dtype=torch.float64)"},
    {TN_F64,
     3,
     {2, 0, 3},
     false,
     {0},
     {0, 0, 0, 0, 0},
     "tensor([], size=(2, 0, 3), dtype=torch.float64)"},
    {TN_I64, 1, {0}, false, {0}, {0, 0, 0, 0, 0}, "tensor([], dtype=torch.int64)"},
    {TN_I64, 2, {0, 3}, false, {0}, {0, 0, 0, 0, 0}, "tensor([], size=(0, 3), dtype=torch.int64)"},
    {TN_I64,
     3,
     {2, 0, 3},
     false,
     {0},
     {0, 0, 0, 0, 0},
     "tensor([], size=(2, 0, 3), dtype=torch.int64)"},
    {TN_F64,
     1,
     {8},
     true,
     {1.125, 1},
     {0, 0, 0, 0, 0},
     "tensor([1.1250, 2.1250, 3.1250, 4.1250, 5.1250, 6.1250, 7.1250, 8.1250],\n      "
     " dtype=torch.float64)"},
    {TN_F64,
     1,
     {7},
     true,
     {1.125, 1},
     {0, 0, 0, 0, 0},
     "tensor([1.1250, 2.1250, 3.1250, 4.1250, 5.1250, 6.1250, 7.1250],\n       dtype=t"
     "orch.float64)"},
    {TN_F32, 1, {3}, true, {0.123456, 1}, {2, 0, 0, 0, 0}, "tensor([0.12, 1.12, 2.12])"},
    {TN_F32,
     1,
     {2},
     true,
     {0.1, 1},
     {20, 0, 0, 0, 0},
     "tensor([0.10000000149011611938, 1.10000002384185791016])"},
    {TN_F32, 1, {10}, true, {0, 1}, {0, 5, 0, 0, 0}, "tensor([0., 1., 2.,  ..., 7., 8., 9.])"},
    {TN_F32, 1, {10}, true, {0, 1}, {0, 5, 1, 0, 0}, "tensor([0.,  ..., 9.])"},
    {TN_F32, 1, {6}, true, {0, 1}, {0, 5, 3, 0, 0}, "tensor([0., 1., 2., 3., 4., 5.])"},
    {TN_I64,
     1,
     {12},
     true,
     {0, 1},
     {0, 0, 0, 20, 0},
     "tensor([ 0,  1,  2,\n         3,  4,  5,\n         6,  7,  8,\n         9, 10, 1"
     "1])"},
    {TN_F32,
     1,
     {3},
     true,
     {100.25, 1},
     {0, 0, 0, 5, 0},
     "tensor([100.2500,\n        101.2500,\n        102.2500])"},
    {TN_F32, 1, {2}, false, {1.5, 2}, {0, 0, 0, 0, 1}, "tensor([1.5000e+00, 2.0000e+00])"},
    {TN_F32, 1, {3}, true, {1.5, 0.75}, {-1, 0, 0, 0, 0}, "tensor([2, 2, 3])"},
    {TN_F32, 1, {2}, true, {1, 1}, {-1, 0, 0, 0, 0}, "tensor([1., 2.])"},
    {TN_F32, 1, {2}, true, {1e-06, 1.5}, {-1, 0, 0, 0, 0}, "tensor([1e-06, 2e+00])"},
    {TN_F32, 1, {2}, false, {1e-07, 2}, {0, 0, 0, 0, -1}, "tensor([0.0000, 2.0000])"},
    {TN_I64,
     2,
     {5, 5},
     true,
     {0, 1},
     {0, 4, 1, 0, 0},
     "tensor([[ 0,  ...,  4],\n        ...,\n        [20,  ..., 24]])"},
    {TN_C64,
     1,
     {12},
     true,
     {0, 1},
     {0, 0, 0, 0, 0},
     "tensor([ 0.+1.j,  2.+3.j,  4.+5.j,  6.+7.j,  8.+9.j, 10.+11.j, 12.+13.j, 14.+15."
     "j,\n        16.+17.j, 18.+19.j, 20.+21.j, 22.+23.j])"},
    {TN_C64,
     1,
     {4},
     true,
     {0.5, 1},
     {0, 0, 0, 30, 0},
     "tensor([0.5000+1.5000j,\n        2.5000+3.5000j,\n        4.5000+5.5000j,\n     "
     "   6.5000+7.5000j])"},
};

static tn_tensor *made(const print_case *c) {
    static double wide[2 * MOST];
    static char bytes[MOST * 16];
    bool pairs = c->dtype == TN_C64 || c->dtype == TN_C128;
    int64_t n = 1;
    for (int d = 0; d < c->ndim; d++) n *= c->size[d];
    for (int64_t i = 0; i < n * (pairs ? 2 : 1); i++)
        wide[i] = c->steps ? c->value[0] + (double)i * c->value[1] : c->value[i];
    for (int64_t i = 0; i < n; i++) {
        tn_scalar s = pairs ? tn_complex(wide[2 * i], wide[2 * i + 1]) : tn_float(wide[i]);
        tni_element_set(bytes + i * tn_dtype_bytes(c->dtype), (int)c->dtype, s);
    }
    return tn_from(bytes, tn_ints_of(c->size, c->ndim), c->dtype);
}
static void drop(char *text) {
    if (text) tn_alloc_free(text, strlen(text) + 1);
}
/* The text with these options is that. */
static void prints(const tn_tensor *t, const tn_print_options *o, const char *text) {
    char *has = tn_to_text(t, o);
    CHECK_TEXT(has, text);
    drop(has);
}

static void texts_are_torchs(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        TN_SCOPE {
            tn_tensor *t = made(&cases[i]);
            prints(t, &cases[i].options, cases[i].text);
            if (t && cases[i].ndim == 2) /* the same through other strides */
                prints(tn_t(tn_contiguous(tn_t(t))), &cases[i].options, cases[i].text);
        }
    CHECK(tn_ok());
}

static bool twice(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    return (out[0] = tn_mul_scalar(in[0], 2)) != NULL;
}
static bool twice_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    return (grad_in[0] = tn_mul_scalar(grad_out[0], 2)) != NULL;
}
static void history_and_device_are_told(void) {
    static const tn_function_row row = {"Twice", 1, twice, twice_back, NULL};
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2))), *y = NULL;
        prints(x, NULL, "tensor([1., 1.], requires_grad=True)");
        prints(tn_mul(x, x), NULL, "tensor([1., 1.], grad_fn=<MulBackward0>)");
        prints(tn_relu(x), NULL, "tensor([1., 1.], grad_fn=<ReluBackward0>)");
        prints(tn_log_softmax(x, 0), NULL,
               "tensor([-0.6931, -0.6931], grad_fn=<LogSoftmaxBackward0>)");
        CHECK(tn_function_call(&row, TN_LIST(x), NULL, &y));
        prints(y, NULL, "tensor([2., 2.], grad_fn=<Twice>)");
        prints(tn_empty(TN_DIMS(2, 3), .device = TN_META), NULL,
               "tensor(..., device='meta', size=(2, 3))");
        prints(tn_empty(TN_DIMS(4), .dtype = TN_F64, .device = TN_META), NULL,
               "tensor(..., device='meta', size=(4,), dtype=torch.float64)");
    }
}
static void the_default_dtype_is_not_told(void) {
    CHECK(tn_set_default_dtype(TN_F64) && tn_default_dtype() == TN_F64);
    TN_SCOPE {
        prints(tn_ones(TN_DIMS(1)), NULL, "tensor([1.])");
        prints(tn_ones(TN_DIMS(1), .dtype = TN_F32), NULL, "tensor([1.], dtype=torch.float32)");
        prints(tn_zeros(TN_DIMS(0)), NULL, "tensor([])");
    }
    CHECK(tn_set_default_dtype(TN_F32));
}
static void what_cannot_be_printed_is_refused(void) {
    tn_error_info e;
    CHECK(!tn_to_text(NULL, NULL) && tn_error_take(&e) && e.code == TN_INVALID);
    CHECK_TEXT(e.message, "tn_to_text: the tensor is NULL");
    CHECK(!tn_print(NULL) && tn_error_take(&e) && e.code == TN_INVALID);
    CHECK(!tnp_print(NULL) && tn_error_take(&e) && !tnp_to_text(NULL, NULL) && tn_error_take(&e));
    tn_error_set(TN_INDEX, NULL, 0, "before"); /* stays, and is not added to */
    CHECK(!tn_to_text(NULL, NULL) && tn_error_take(&e) && e.code == TN_INDEX);
}
static void a_closed_stdout_is_an_error(void) {
    tn_error_info e;
    int kept;
    fflush(stdout);
    kept = dup(1);
    close(1);
    setvbuf(stdout, NULL, _IONBF, 0);
    TN_SCOPE {
        bool printed = tn_print(tn_ones(TN_DIMS(1)));
        dup2(kept, 1);
        close(kept);
        clearerr(stdout);
        CHECK(!printed && tn_error_take(&e) && e.code == TN_FILE);
        CHECK_TEXT(e.message, "tn_print: cannot write to stdout");
    }
}

/* --- texts of messages ------------------------------------------------------------------------ */

static void short_texts_are_pythons(void) {
    int64_t size[] = {2, TN_UNKNOWN, -1}, unknown[] = {TN_UNKNOWN};
    char text[64], small[6];
    TN_SCOPE {
        tn_tensor *t = tn_ones(TN_DIMS(2, 3));
        CHECK_TEXT(tni_tensor_text(text, sizeof text, t), "float32 (2, 3)");
        CHECK_TEXT(tni_tensor_text(small, sizeof small, t), "float");
    }
    CHECK_TEXT(tni_tensor_text(text, sizeof text, NULL), "NULL");
    CHECK_TEXT(tni_shape_text(text, sizeof text, 2, size), "(2, -1)");
    CHECK_TEXT(tni_shape_text(text, sizeof text, 1, unknown), "(-1)");
    CHECK_TEXT(tni_shape_text(small, sizeof small, 2, size), "(2, -");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_int(-5)), "-5");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_bool(true)), "True");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_bool(false)), "False");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_none()), "None");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(0.1)), "0.1");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(0.1 + 0.2)), "0.30000000000000004");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(3)), "3.0");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(1e30)), "1e+30");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(NAN)), "nan");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(INFINITY)), "inf");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(-INFINITY)), "-inf");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(1, 2.5)), "(1.0+2.5j)");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(0, -2)), "(0.0-2.0j)");
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(texts_are_torchs),
        CHECK_TEST(history_and_device_are_told),
        CHECK_TEST(the_default_dtype_is_not_told),
        CHECK_TEST(what_cannot_be_printed_is_refused),
        CHECK_TEST(short_texts_are_pythons),
        CHECK_TEST(a_closed_stdout_is_an_error),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
