/* convert.c - conversions between dtypes, made of the few that kernels have.
 *
 * A kernel converts whole runs between two dtypes directly; where it has no direct way, a chain of
 * conversions leads over the types that loops compute in. */
#include "blocks.h"

TN_PRIV int tni_computed_in(int d) {
#define CONVERT_NATURAL(NAME, text, bytes, kind, alias, computes, loop, ...) \
    TN_##loop == TN_BOOL ? TN_I32 : TN_##loop,
    static const uint8_t natural[TN_DTYPE_COUNT] = {0, TN_DTYPES(CONVERT_NATURAL)};
#undef CONVERT_NATURAL
    return natural[d];
}

/* The next dtype on the way between two that have no direct conversion. */
static int convert_next(int from, int to) {
    /* Half types, small integers and bool go through the type that they are computed in; the rest
     * are the pairs that have no kernel. */
    const int wide = to == TN_F64 || to == TN_C128, natural = tni_computed_in(from),
              end = tni_computed_in(to);
    const int category = tni_dtype(to)->category;
    /* Not through I64, whose range ends earlier. */
    if (from == TN_U64 && category >= TNI_CAT_FLOAT) return wide ? TN_F64 : TN_F32;
    if (natural != from) return natural;
    if (from == TN_C64) return TN_F32;
    if (from == TN_C128) return TN_F64;
    if (category == TNI_CAT_COMPLEX) return wide ? TN_F64 : TN_F32;
    if (to == TN_U64) return from == TN_F32 ? TN_F64 : TN_I64;
    /* A float becomes a small integer by way of 64 bits, whose low ones are kept, as
     * in tni_element_set. */
    if (category == TNI_CAT_INT && tni_dtype(from)->category == TNI_CAT_FLOAT) return TN_I64;
    return end;
}

TN_PRIV void tni_chain_to(tni_chain *c, const tni_kernels *k, int from, int to) {
    if (c->most < tni_dtype(from)->bytes) c->most = tni_dtype(from)->bytes;
    /* One step to the goal if there is a kernel, else to the next dtype on the way. */
    while (from != to) {
        tni_cast direct = TNI_K(k, cast)(from, to);
        const int next = direct ? to : convert_next(from, to);
        c->step[c->n] = direct ? direct : TNI_K(k, cast)(from, next);
        c->bytes[c->n] = tni_dtype(next)->bytes;
        if (c->most < c->bytes[c->n]) c->most = c->bytes[c->n];
        c->n++;
        from = next;
    }
}

TN_PRIV void tni_chain_run(const tni_chain *c, void *to, const void *from, int64_t n) {
    double between[2][TNI_TILE / sizeof(double)];
    /* Two buffers take turns; the last step writes the result. */
    for (int i = 0; i < c->n; i++) {
        void *next = i == c->n - 1 ? to : (void *)between[i & 1];
        c->step[i](next, from, n);
        from = next;
    }
}

TN_PRIV void tni_convert(const tni_kernels *k, void *to, int to_dtype, const void *from,
                         int from_dtype, int64_t n) {
    const int64_t a = tni_dtype(from_dtype)->bytes, b = tni_dtype(to_dtype)->bytes;
    tni_chain c = {0, 0, {NULL}, {0}};
    if (from_dtype == to_dtype) {
        if (n > 0) memcpy(to, from, (size_t)(n * a));
        return;
    }
    tni_chain_to(&c, k, from_dtype, to_dtype);
    /* In parts that fit the buffers of tni_chain_run. */
    for (int64_t i = 0, part = TNI_TILE / c.most; i < n; i += part)
        tni_chain_run(&c, (char *)to + i * b, (const char *)from + i * a,
                      n - i < part ? n - i : part);
}
