/* pointwise.inl - one loop for each pointwise row and type that its kinds name.
 * Here the macros, the loops in type.inl, their table in pointwise_table.inl. */
#if defined(__clang__)
#define TNI_ONCE _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define TNI_ONCE
#endif

#define TNI_LOOP_OF(name) TNI_FN(TNI_JOIN(tni_loop_##name##_, TNI_LOOP_SUFFIX))
#define TNI_LOOP_BEGIN(name)                                                             \
    static void TNI_LOOP_OF(name)(char *out, const char *const *in, const int64_t *step, \
                                  int64_t vectors, const void *numbers) {                \
        const char *a = in[0];                                                           \
        const int64_t sa = step[0];                                                      \
        (void)numbers;
#define TNI_LOOP_END }
/* operands beyond the first; numbers; loads and steps of a turn; the arguments of the expression */
#define TNI_TENSORS_1
#define TNI_TENSORS_2      \
    const char *b = in[1]; \
    const int64_t sb = step[1];
#define TNI_TENSORS_3                    \
    TNI_TENSORS_2 const char *c = in[2]; \
    const int64_t sc = step[2];
#define TNI_NUMBERS_0
#define TNI_NUMBERS_1                \
    const V p = V_PARAM(numbers, 0); \
    (void)p;
#define TNI_NUMBERS_2                              \
    TNI_NUMBERS_1 const V q = V_PARAM(numbers, 1); \
    (void)q;
#define TNI_NUMBERS_3                              \
    TNI_NUMBERS_2 const V r = V_PARAM(numbers, 2); \
    (void)r;
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
#define TNI_REAL_STEP (W * (int64_t)sizeof(T)) /* of complex vectors: their real parts alone */
#define TNI_OF(name, arguments) TNI_E_##name arguments

#define TNI_LOOP(name, nt, nn)                                                                    \
    TNI_LOOP_BEGIN(name)                                                                          \
    TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE for (; vectors > 0;                                \
                                                    vectors--, TNI_STEPS_##nt, out += TNI_STEP) { \
        V x = V_LD(a);                                                                            \
        TNI_LOADS_##nt V_ST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                           \
    }                                                                                             \
    TNI_LOOP_END
#define TNI_PREDICATE(name, nt, nn)                                                           \
    TNI_LOOP_BEGIN(name)                                                                      \
    TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE for (; vectors > 0; vectors--, TNI_STEPS_##nt, \
                                                                   out += TNI_MASK_STEP) {    \
        V x = V_LD(a);                                                                        \
        TNI_LOADS_##nt V_MST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                      \
    }                                                                                         \
    TNI_LOOP_END
#define TNI_TO_REAL(name, nt, nn)                                                             \
    TNI_LOOP_BEGIN(name)                                                                      \
    TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE for (; vectors > 0; vectors--, TNI_STEPS_##nt, \
                                                                   out += TNI_REAL_STEP) {    \
        V x = V_LD(a);                                                                        \
        TNI_LOADS_##nt V_ST_REAL(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                  \
    }                                                                                         \
    TNI_LOOP_END
#define TNI_SELECT(name, nt, nn)                                                                  \
    TNI_LOOP_BEGIN(name)                                                                          \
    TNI_TENSORS_##nt TNI_NUMBERS_##nn TNI_ONCE for (; vectors > 0;                                \
                                                    vectors--, TNI_STEPS_##nt, out += TNI_STEP) { \
        M x = M_LD(a);                                                                            \
        TNI_LOADS_##nt V_ST(out, TNI_OF(name, TNI_ARGUMENTS_##nt##nn));                           \
    }                                                                                             \
    TNI_LOOP_END
