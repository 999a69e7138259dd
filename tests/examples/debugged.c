/* debugged.c - values that gdb.sh has printed by tools/gdb/tensor.py when the program is in `stop`.
 * They are global, so that an optimised program has them, too. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_TRIM
#define TN_ISA_ONLY_SCALAR
#include "tensor.h"

tn_tensor *x, *w, *product, *turned, *bf16, *f16, *e4m3, *e5m2, *f64, *i8, *u64, *c64, *truth;
tn_tensor *many, *empty, *single, *meta, *freed, *wild, *none;
tn_ints dims, absent, zero;
tn_tensors list;
tn_scalar half, three, point, yes, nothing, no_number;
tn_maybe quarter, no_quarter;
tn_error_info error;
int stops;

static void stop(void) { stops++; }

int main(void) {
    x = tn_tensor_of(TN_DIMS(2, 3), 1.5, -2, 3, 4, 5, 6);
    w = tn_requires_grad(tn_ones(TN_DIMS(3)));
    product = tn_mul(x, w);
    turned = tn_t(x);
    bf16 = tn_to_dtype(x, TN_BF16);
    f16 = tn_to_dtype(x, TN_F16);
    e4m3 = tn_to_dtype(x, TN_F8E4M3);
    e5m2 = tn_to_dtype(x, TN_F8E5M2);
    f64 = tn_to_dtype(x, TN_F64);
    i8 = tn_to_dtype(x, TN_I8);
    u64 = tn_tensor_of_dtype(TN_U64, TN_DIMS(1), 9007199254740993);
    c64 = tn_to_dtype(x, TN_C64);
    truth = tn_tensor_of_dtype(TN_BOOL, TN_DIMS(2), 0, 1);
    many = tn_arange(1000);
    empty = tn_zeros(TN_DIMS(0, 4));
    single = tn_tensor_of(TN_EMPTY_DIMS, 7);
    meta = tn_zeros(TN_DIMS(5), .device = TN_META);
    freed = tn_ones(TN_DIMS(2));
    wild = (tn_tensor *)(uintptr_t)64;
    dims = TN_DIMS(2, 3);
    absent = TN_NO_DIMS;
    list = TN_LIST(x, none);
    half = TN_NUM(0.5);
    three = TN_INT(3);
    point = tn_complex(1, -2);
    yes = tn_bool(true);
    nothing = tn_none();
    quarter = TN_SOME(0.25);
    no_quarter = TN_NO_FLOAT;
    tn_add(x, w, .out = u64); /* an error */
    tn_error_peek(&error);
    tn_free(freed);
    stop();
    return stops != 1;
}
