/* fma.c - c + a b rounded once, where rounding twice would show: ties between floats, denormal
 * numbers, products that become 0. Prints a hash of the bits, and how many differ from a sum that
 * is rounded twice.
 *
 * $TN_ISA chooses the instruction set. */
#include "tensor.h"

#include <math.h>
#include <stdio.h>

enum { COUNT = 200003 };

static uint64_t state = 88172645463325252u;
static uint64_t random_bits(void) { /* G. Marsaglia, Xorshift RNGs, 2003 */
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
/* A number of `bits` bits behind the first, or half of them, so that products are ties; its
 * exponent is from low on, of `range`. Sometimes 0. */
static double number(int bits, int low, int range) {
    const uint64_t kind = random_bits() % 8;
    const int used = kind < 4 ? bits : bits / 2 + 1;
    double v = 1 + ldexp((double)(random_bits() >> (64 - used)), -used);
    v = ldexp(v, low + (int)(random_bits() % (uint64_t)range));
    if (kind == 7) v = 0;
    return random_bits() & 1 ? -v : v;
}

/* Exponents: of both factors from `at` on; of the summand from far below their product to above. */
static uint64_t results(tn_dtype dtype, int bits, int at, uint64_t h, int *twice) {
    static double a[COUNT], b[COUNT], c[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = number(bits, at, 4);
        b[i] = number(bits, at, 4);
        c[i] = number(bits, 2 * at - 3 * bits, 4 * bits);
    }
    TN_SCOPE {
        tn_tensor *x = tn_to_dtype(tn_from(a, TN_DIMS(COUNT), TN_F64), dtype);
        tn_tensor *y = tn_to_dtype(tn_from(b, TN_DIMS(COUNT), TN_F64), dtype);
        tn_tensor *z = tn_to_dtype(tn_from(c, TN_DIMS(COUNT), TN_F64), dtype);
        tn_tensor *once = tn_to_dtype(tn_addcmul(z, x, y), TN_F64);
        tn_tensor *product = tn_mul(tn_to_dtype(x, TN_F64), tn_to_dtype(y, TN_F64));
        tn_tensor *sum = tn_to_dtype(tn_add(product, tn_to_dtype(z, TN_F64)), dtype);
        const uint64_t *word = (const uint64_t *)tn_data(once);
        const uint64_t *other = (const uint64_t *)tn_data(tn_to_dtype(sum, TN_F64));
        for (int i = 0; word && other && i < COUNT; i++) {
            h = (h ^ word[i]) * 1099511628211u; /* FNV-1a */
            *twice += word[i] != other[i];
        }
    }
    return h;
}

int main(void) {
    uint64_t narrow = 14695981039346656037u, wide = narrow;
    int twice[2] = {0, 0};
    for (int at = -80; at <= 25; at += 15) narrow = results(TN_F32, 23, at, narrow, &twice[0]);
    for (int at = -545; at <= 200; at += 149) wide = results(TN_F64, 52, at, wide, &twice[1]);
    printf("f32 %016llx %d, f64 %016llx %d\n", (unsigned long long)narrow, twice[0],
           (unsigned long long)wide, twice[1]);
    return tn_error_print();
}
