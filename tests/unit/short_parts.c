/* short_parts.c - operands that are parts of larger memory: which calls take the short way, and
 * that it gives the bits and gradients of the long way, writes nothing beside them and reads no
 * history that is out of date. */
#include "../../src/api/autograd.h"
#include "../../src/gen/rows.h"
#include "../../src/kernels/kernels.h"
#include "exact.h"

enum { MOST = 40, BEFORE = 5, BEHIND = 3 };

static int checked; /* calls of the row that went the long way */
static tn_row counted;
static bool count_check(tn_frame *f) { return checked++, tni_row_mul.check(f); }
static tn_tensor *times(tn_tensor *a, tn_tensor *b, unsigned how, bool whole_way) {
    const tn_mul_args args = {.self = a, .other = b};
    tn_tensor *r = NULL;
    counted = tni_row_mul, counted.check = count_check, checked = 0;
    CHECK(whole_way ? tni_call_long(&counted, how, "here", 1, &args, &r)
                    : tn_call(&counted, how, "here", 1, &args, &r));
    return r;
}

static tn_tensor *numbers(int64_t n, tn_dtype dtype, double first) {
    tn_tensor *t = tnp_empty(tni_ints(&n, 1), dtype, TN_NO_DEVICE);
    for (int64_t i = 0; i < n; i++)
        tni_element_set((char *)tn_data(t) + i * tni_dtype_size(t), dtype,
                        tn_float(first + 0.37 * (double)i));
    return t;
}
static tn_tensor *part(tn_tensor *of, int64_t from, int64_t n) {
    return tnp_narrow(of, 0, from, n);
}
static bool same_bits(tn_tensor *a, tn_tensor *b) {
    return a && b && a->numel == b->numel && a->dtype == b->dtype &&
           !memcmp(tni_bytes_at(a), tni_bytes_at(b), (size_t)(a->numel * tni_dtype_size(a)));
}

/* Whether a part of so many bytes is whole vectors, or few enough to be copied. */
static bool is_short(const tn_tensor *t) {
    const bool wide = t->dtype == TN_F64;
    const tni_kernels *k = tni_here()->context->kernels;
    const int64_t vector = k->lanes[wide ? TNI_IN_F64 : TNI_IN_F32] * (wide ? 8 : 4),
                  bytes = t->numel * (wide ? 8 : 4);
    return bytes % vector == 0 || bytes <= TNI_VECTOR_BYTES;
}

static void one_part(tn_dtype dtype, int64_t from, int64_t n, bool graph) {
    tn_tensor *x = numbers(from + n + BEHIND, dtype, -1.5), *y = numbers(n, dtype, 0.25), *p,
              *grad[2];
    if (graph) CHECK(tn_requires_grad_at(NULL, 0, x, true));
    p = part(x, from, n);
    tn_tensor *const other[3] = {y, p, part(numbers(n + 2, dtype, 3), 2, n)};
    for (int i = 0; i < 6; i++) {
        tn_tensor *a = i < 3 ? p : other[i - 3], *b = i < 3 ? other[i] : p, *r[2];
        for (int k = 0; k < 2; k++) {
            r[k] = times(a, b, TN_PLAIN, k == 1);
            CHECK_EQ(checked, k == 1 || !is_short(p));
            if (!graph) continue;
            CHECK(r[k]->node && tn_backward(tn_sum(r[k])));
            grad[k] = tnp_clone(tn_grad_of(x), (tn_memory_format)0);
            tn_zero_grad(x);
        }
        CHECK(same_bits(r[0], r[1]));
        if (graph) CHECK(same_bits(grad[0], grad[1]));
    }
}
static void bits_and_gradients_are_those_of_the_long_way(void) {
    tn_context *c = begin();
    for (int64_t n = 1; n <= MOST; n++)
        for (int64_t from = 0; from < BEFORE; from++)
            for (int k = 0; k < 4; k++)
                TN_SCOPE {
                    one_part(k & 1 ? TN_F64 : TN_F32, from, n, k > 1);
                }
    end(c);
}

/* A part that is written goes the long way; what it is multiplied by need not be flat. */
static void a_part_is_written_alone(void) {
    tn_context *c = begin();
    for (int64_t n = 1; n <= MOST; n++)
        TN_SCOPE {
            tn_tensor *x = numbers(n + 8, TN_F32, 1), *was = tnp_clone(x, (tn_memory_format)0),
                      *y = numbers(n, TN_F32, 2), *product = tnp_mul(part(was, 4, n), y);
            CHECK(times(part(x, 4, n), y, TN_IN_PLACE, false) && checked == 1);
            CHECK(same_bits(part(x, 4, n), product));
            CHECK(same_bits(part(x, 0, 4), part(was, 0, 4)));
            CHECK(same_bits(part(x, 4 + n, 4), part(was, 4 + n, 4)));
            CHECK(times(y, part(was, 4, n), TN_IN_PLACE, false) && same_bits(y, product));
            CHECK_EQ(checked, !is_short(y));
            CHECK(times(x, part(x, 0, n + 8), TN_IN_PLACE, false) && checked == 1);
        }
    end(c);
}

/* Memory of the caller, which ends with its last element. */
static void wrapped_memory_is_written_to_its_end_only(void) {
    tn_context *c = begin();
    TN_SCOPE {
        float at[MOST + 1];
        for (int64_t n = 1; n <= MOST; n++) {
            for (int i = 0; i <= MOST; i++) at[i] = 2;
            tn_tensor *x = tn_wrap_at(NULL, 0, at, tni_ints(&n, 1), TN_F32, NULL), *r;
            r = times(x, x, TN_PLAIN, false);
            CHECK_EQ(checked, !is_short(x));
            CHECK(((const float *)tn_data(r))[n - 1] == 4 && at[0] == 2 && at[n] == 2);
            tn_tensor *y = part(numbers(n + 1, TN_F32, 1), 1, n);
            CHECK(times(x, y, TN_IN_PLACE, false) && checked == 1);
            CHECK(at[0] > 2.5f && at[n - 1] > 2.5f && at[n] == 2);
        }
    }
    end(c);
}

static void a_view_whose_base_was_written_is_made_anew(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = numbers(12, TN_F32, 1), *y = numbers(4, TN_F32, 1), *base, *view;
        CHECK(tn_requires_grad_at(NULL, 0, x, true));
        base = tnp_mul(x, x), view = part(base, 4, 4);
        CHECK(times(view, y, TN_PLAIN, false) && !checked);
        CHECK(tnp_mul_(base, base));
        CHECK(times(view, y, TN_PLAIN, false) && checked == 1);
        CHECK(times(view, y, TN_PLAIN, false) && !checked);
    }
    end(c);
}

static const check_test tests[] = {
    CHECK_TEST(bits_and_gradients_are_those_of_the_long_way),
    CHECK_TEST(a_part_is_written_alone),
    CHECK_TEST(wrapped_memory_is_written_to_its_end_only),
    CHECK_TEST(a_view_whose_base_was_written_is_made_anew),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
