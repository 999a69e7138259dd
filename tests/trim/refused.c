/* refused.c - what a build leaves out is an error that says so: a line for each. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor.h"
#include "tensor_nn.h"

#include <stdio.h>

static void said(const char *what) {
    tn_error_info e;
    if (tn_error_take(&e))
        printf("%s: %d %.*s\n", what, (int)e.code, (int)strcspn(e.message, "\n"), e.message);
    else
        printf("%s: no error\n", what);
}
static void made(const tn_tensor *result, const char *what) {
    (void)result;
    said(what);
}

typedef struct shell {
    tn_module base;
    struct {
        int64_t n;
    } o;
    tn_module *inner;
} shell;
static const tn_mrow shell_row = {.name = "Shell",
                                  .schema = "Shell(int n)",
                                  .size = sizeof(shell),
                                  .parts = "child inner = " PART "(n, n)"};

int main(int argc, char **argv) {
    tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *out[2];
    const tn_value n = {.type = TN_T_INT, .as.integer = 2};
    tn_module *m = NULL;
    float data[2] = {1, 2};
    int count;
    (void)argc;
    said("context");
    made(tn_zeros(TN_DIMS(2), .dtype = TN_C64), "zeros of complex64");
    made(tn_zeros(TN_DIMS(2), .dtype = TN_F16, .device = TN_META), "zeros of float16 on meta");
    made(tn_to(x, TN_NO_DEVICE, .dtype = TN_BF16), "to bfloat16");
    made(tnp_mul_scalar(x, tn_complex(1, 2)), "mul by a complex number");
    made(tnp_eq_scalar(x, tn_complex(1, 2)), "eq to a complex number");
    made(tnp_full(TN_DIMS(2), tn_complex(1, 2), TN_NO_DTYPE, TN_NO_DEVICE),
         "full of a complex number");
    made(tn_softmax(x, 0, .dtype = TN_F16), "softmax in float16");
    made(tn_view_as_complex(tn_ones(TN_DIMS(3, 2))), "view_as_complex");
    tn_set_default_dtype(TN_F16), said("default float16");
    made(tn_from(data, TN_DIMS(2), TN_BF16), "from data of bfloat16");
    tn_named_free(tn_safetensors_load(argv[1])), said("load float16");
    if ((m = tn_nn_relu()) != NULL)
        tn_module_to(m, TN_F16, TN_NO_DEVICE), said("module without parts");
    tn_module_free(m);
    tn_row_named(argv[2]), said("row by name");
    tn_call_named(__FILE__, __LINE__, argv[2], NULL, 0, out, 2, &count), said("call by name");
    tn_module_free(tn_module_named(argv[3], NULL, 0)), said("module by name");
    tn_module_register(&shell_row);
    tn_module_free(tn_module_named("Shell", &n, 1)), said("part by name");
    tn_device("null:0"), said("another device");
    tn_backend_add(NULL), said("backend");
    printf("isa %s\n", tn_isa());
    return 0;
}
