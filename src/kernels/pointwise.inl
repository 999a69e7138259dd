/* pointwise.inl - one loop for each pointwise row and type that its kinds name.
 *
 * gcc makes these at O1: they are a load, the expression and a store, and more than half of all functions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1", "fp-contract=off")
#endif
#if defined(__clang__)
#define TNI_ONCE _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define TNI_ONCE
#endif

#define TNI_LOOP_OF(name) TNI_FN(TNI_JOIN(tni_loop_##name##_, TNI_LOOP_SUFFIX))
#define TNI_LOOP_BEGIN(name)                                                                                 \
    static void TNI_LOOP_OF(name)(char *out, const char *const *in, const int64_t *step, int64_t vectors,    \
                                  const void *numbers) {                                                     \
        const char *a = in[0];                                                                               \
        const int64_t sa = step[0];                                                                          \
        (void)numbers;
#define TNI_LOOP_END }
/* operands beyond the first; numbers; what is done with a vector; the arguments of the expression */
#define TNI_TENSORS_1
#define TNI_TENSORS_2 const char *b = in[1]; const int64_t sb = step[1];
#define TNI_TENSORS_3 TNI_TENSORS_2 const char *c = in[2]; const int64_t sc = step[2];
#define TNI_NUMBERS_0
#define TNI_NUMBERS_1 const V p = V_PARAM(numbers, 0);
#define TNI_NUMBERS_2 TNI_NUMBERS_1 const V q = V_PARAM(numbers, 1);
#define TNI_NUMBERS_3 TNI_NUMBERS_2 const V r = V_PARAM(numbers, 2);
#define TNI_LOADS_1
#define TNI_LOADS_2 V y = V_LD(b);
#define TNI_LOADS_3 TNI_LOADS_2 V z = V_LD(c);
#define TNI_STEPS_1 a += sa
#define TNI_STEPS_2 a += sa, b += sb
#define TNI_STEPS_3 a += sa, b += sb, c += sc
#define TNI_ARGUMENTS_10 (x)
#define TNI_ARGUMENTS_11 (x, p)
#define TNI_ARGUMENTS_12 (x, p, q)
#define TNI_ARGUMENTS_13 (x, p, q, r)
#define TNI_ARGUMENTS_20 (x, y)
#define TNI_ARGUMENTS_21 (x, y, p)
#define TNI_ARGUMENTS_22 (x, y, p, q)
#define TNI_ARGUMENTS_23 (x, y, p, q, r)
#define TNI_ARGUMENTS_30 (x, y, z)
#define TNI_ARGUMENTS_31 (x, y, z, p)
#define TNI_ARGUMENTS_32 (x, y, z, p, q)
#define TNI_ARGUMENTS_33 (x, y, z, p, q, r)
#define TNI_OF(name, arguments) TNI_E_##name arguments

#define TNI_LOOP(name, nt, nn)                                                                               \
    TNI_LOOP_BEGIN(name) TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE                                          \
    for (; vectors > 0; vectors--, TNI_STEPS_##nt, out += TNI_STEP) {                                        \
        V x = V_LD(a);                                                                                       \
        TNI_LOADS_##nt V_ST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                                      \
    }                                                                                                        \
    TNI_LOOP_END
#define TNI_PREDICATE(name, nt, nn)                                                                          \
    TNI_LOOP_BEGIN(name) TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE                                          \
    for (; vectors > 0; vectors--, TNI_STEPS_##nt, out += TNI_MASK_STEP) {                                   \
        V x = V_LD(a);                                                                                       \
        TNI_LOADS_##nt V_MST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                                     \
    }                                                                                                        \
    TNI_LOOP_END
#define TNI_SELECT(name, nt, nn)                                                                             \
    TNI_LOOP_BEGIN(name) TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE                                          \
    for (; vectors > 0; vectors--, TNI_STEPS_##nt, out += TNI_STEP) {                                        \
        M x = M_LD(a);                                                                                       \
        TNI_LOADS_##nt V_ST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                                      \
    }                                                                                                        \
    TNI_LOOP_END

#define TNI_STEP (W * (int64_t)sizeof(T))
#define TNI_MASK_STEP W
#define TNI_KIND_F 1
#define TNI_TYPE_F32
#include "../simd/vocabulary.h"
#define TNI_LOOP_SUFFIX f32
#include "../gen/loops.inl"
enum { TNI_FN(tni_lanes_f32) = W };
#include "../simd/end.h"
#define TNI_TYPE_F64
#include "../simd/vocabulary.h"
#define TNI_LOOP_SUFFIX f64
#include "../gen/loops.inl"
enum { TNI_FN(tni_lanes_f64) = W };
#include "../simd/end.h"
#undef TNI_KIND_F

#define TNI_KIND_I 1
#define TNI_TYPE_I32
#include "../simd/vocabulary.h"
#define TNI_LOOP_SUFFIX i32
#include "../gen/loops.inl"
#include "../simd/end.h"
#define TNI_TYPE_I64
#include "../simd/vocabulary.h"
#define TNI_LOOP_SUFFIX i64
#include "../gen/loops.inl"
#include "../simd/end.h"
#undef TNI_KIND_I

#undef TNI_MASK_STEP
#define TNI_MASK_STEP TNI_STEP
#define TNI_KIND_B 1
#include "../simd/bool.h"
#include "../gen/loops.inl"
#include "../simd/end.h"
#undef TNI_KIND_B

#undef TNI_STEP
#undef TNI_MASK_STEP
#define TNI_STEP (2 * W * (int64_t)sizeof(T))
#define TNI_MASK_STEP W
#define TNI_KIND_C 1
#define TNI_TYPE_C64
#include "../simd/complex.h"
#include "../gen/loops.inl"
#include "../simd/end.h"
#define TNI_TYPE_C128
#include "../simd/complex.h"
#include "../gen/loops.inl"
#include "../simd/end.h"
#undef TNI_KIND_C

#undef TNI_LOOP
#undef TNI_PREDICATE
#undef TNI_SELECT

#define TNI_WHEN_1(entry) entry
#define TNI_WHEN_0(entry) NULL
#define TNI_ROW_LOOP(name, kinds, form, nt, nn, F, I, C, B)                                                  \
    {TNI_WHEN_##F(TNI_FN(tni_loop_##name##_f32)), TNI_WHEN_##F(TNI_FN(tni_loop_##name##_f64)),               \
     TNI_WHEN_##I(TNI_FN(tni_loop_##name##_i32)), TNI_WHEN_##I(TNI_FN(tni_loop_##name##_i64)),               \
     TNI_WHEN_##C(TNI_FN(tni_loop_##name##_c64)), TNI_WHEN_##C(TNI_FN(tni_loop_##name##_c128)),              \
     TNI_WHEN_##B(TNI_FN(tni_loop_##name##_bool))},
static const tni_loop TNI_FN(tni_loops)[][TNI_LOOP_TYPES] = {
#include "../gen/loops.inl"
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
#undef TNI_ROW_LOOP
#undef TNI_WHEN_1
#undef TNI_WHEN_0

static const uint8_t TNI_FN(tni_lanes)[TNI_LOOP_TYPES] = {
    TNI_FN(tni_lanes_f32), TNI_FN(tni_lanes_f64), TNI_FN(tni_lanes_f32), TNI_FN(tni_lanes_f64),
    TNI_FN(tni_lanes_f32), TNI_FN(tni_lanes_f64), 8 * TNI_FN(tni_lanes_f64)};

#undef TNI_STEP
#undef TNI_MASK_STEP
#undef TNI_ONCE
#undef TNI_LOOP_OF
#undef TNI_LOOP_BEGIN
#undef TNI_LOOP_END
#undef TNI_TENSORS_1
#undef TNI_TENSORS_2
#undef TNI_TENSORS_3
#undef TNI_NUMBERS_0
#undef TNI_NUMBERS_1
#undef TNI_NUMBERS_2
#undef TNI_NUMBERS_3
#undef TNI_LOADS_1
#undef TNI_LOADS_2
#undef TNI_LOADS_3
#undef TNI_STEPS_1
#undef TNI_STEPS_2
#undef TNI_STEPS_3
#undef TNI_ARGUMENTS_10
#undef TNI_ARGUMENTS_11
#undef TNI_ARGUMENTS_12
#undef TNI_ARGUMENTS_13
#undef TNI_ARGUMENTS_20
#undef TNI_ARGUMENTS_21
#undef TNI_ARGUMENTS_22
#undef TNI_ARGUMENTS_23
#undef TNI_ARGUMENTS_30
#undef TNI_ARGUMENTS_31
#undef TNI_ARGUMENTS_32
#undef TNI_ARGUMENTS_33
#undef TNI_OF
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
