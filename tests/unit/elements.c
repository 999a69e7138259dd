/* elements.c - promises of src/tensor about one element, one shape and one stream of random
 * numbers: conversions against their definition for every code, promotion and strides of results
 * against torch (tests/oracle/strides.inc), generators against published values. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

/* --- small floats ----------------------------------------------------------------------------- */

/* sign, exponent, mantissa by the book; infinities where the format has them. */
static double by_the_book(unsigned code, int mantissa, int bias, int bits, bool infinities) {
    unsigned magnitude = code & ((1u << (bits - 1)) - 1), m = magnitude & ((1u << mantissa) - 1);
    int e = (int)(magnitude >> mantissa), top = (1 << (bits - 1 - mantissa)) - 1;
    double v = e ? ldexp(1 + m / (double)(1 << mantissa), e - bias)
                 : ldexp(m / (double)(1 << mantissa), 1 - bias);
    if (infinities && e == top) v = m ? NAN : INFINITY;
    if (!infinities && magnitude == (1u << (bits - 1)) - 1) v = NAN;
    return code >> (bits - 1) ? -v : v;
}

static double read_code(int dtype, unsigned code) {
    uint16_t two = (uint16_t)code;
    uint8_t one = (uint8_t)code;
    return tni_element(tni_dtype(dtype)->bytes == 2 ? (void *)&two : (void *)&one, dtype).real;
}
static unsigned write_code(int dtype, double v) {
    uint16_t two = 0xffff;
    uint8_t one = 0xff;
    bool small = tni_dtype(dtype)->bytes == 1;
    tni_element_set(small ? (void *)&one : (void *)&two, dtype, tn_float(v));
    return small ? one : two;
}

static const struct {
    int dtype, mantissa, bias, bits;
    bool infinities;
    unsigned largest, over;
} small[] = {{TN_F16, 10, 15, 16, true, 0x7bff, 0x7c00},
             {TN_BF16, 7, 127, 16, true, 0x7f7f, 0x7f80},
             {TN_F8E5M2, 2, 15, 8, true, 0x7b, 0x7c},
             {TN_F8E4M3, 3, 7, 8, false, 0x7e, 0x7e}};

static void every_code_of_a_small_float_is_its_value(void) {
    for (int k = 0; k < 4; k++) {
        int wrong = 0;
        for (unsigned code = 0; code < 1u << small[k].bits; code++) {
            double want = by_the_book(code, small[k].mantissa, small[k].bias, small[k].bits,
                                      small[k].infinities);
            double got = read_code(small[k].dtype, code);
            if (want != want)
                wrong +=
                    got == got || read_code(small[k].dtype, write_code(small[k].dtype, got)) ==
                                      read_code(small[k].dtype, write_code(small[k].dtype, got));
            else
                wrong += got != want || signbit(got) != signbit(want) ||
                         write_code(small[k].dtype, got) != code;
        }
        CHECK_EQ(wrong, 0);
    }
}

static void between_two_codes_the_nearer_is_taken_and_the_even(void) {
    for (int k = 0; k < 4; k++) {
        int dtype = small[k].dtype, wrong = 0;
        unsigned sign = 1u << (small[k].bits - 1);
        for (unsigned code = 0; code < small[k].largest; code++) {
            double low = read_code(dtype, code), high = read_code(dtype, code + 1);
            float middle = (float)((low + high) / 2);
            float below = nextafterf(middle, 0), above = nextafterf(middle, INFINITY);
            if ((double)middle != (low + high) / 2) continue; /* bf16's denormals: f32's, too */
            wrong += write_code(dtype, (double)middle) != code + (code & 1);
            wrong += write_code(dtype, (double)below) != code;
            wrong += write_code(dtype, (double)above) != code + 1;
            wrong += write_code(dtype, -(double)above) != (sign | (code + 1));
        }
        CHECK_EQ(wrong, 0);
        double most = read_code(dtype, small[k].largest);
        double step = most - read_code(dtype, small[k].largest - 1);
        CHECK_EQ(write_code(dtype, most), small[k].largest);
        CHECK_EQ(write_code(dtype, most + step / 4), small[k].largest);
        CHECK_EQ(write_code(dtype, most + step), small[k].over);
        CHECK_EQ(write_code(dtype, INFINITY), small[k].over);
        CHECK_EQ(write_code(dtype, -INFINITY), small[k].over | sign);
        CHECK_EQ(write_code(dtype, 1e-45), 0);
        CHECK_EQ(write_code(dtype, -0.0), sign);
        CHECK(isnan(read_code(dtype, write_code(dtype, NAN))));
    }
    CHECK_EQ(write_code(TN_F16, 65519.99), 0x7bff);
    CHECK_EQ(write_code(TN_F16, 65520), 0x7c00);
    CHECK_EQ(tni_f32_to_f16(NAN) & 0x7fff, 0x7e00);
    CHECK_EQ(tni_f32_to_bf16(NAN), 0x7fc0);
    CHECK_EQ(write_code(TN_F8E5M2, NAN) & 0x7f, 0x7f);
    CHECK_EQ(write_code(TN_F8E4M3, NAN) & 0x7f, 0x7f);
}

/* --- elements --------------------------------------------------------------------------------- */

static const struct {
    double from;
    int64_t i8, i16, i32, i64;
    uint64_t u64;
} cut[] = {{-1.9, -1, -1, -1, -1, (uint64_t)-1},
           {2.9, 2, 2, 2, 2, 2},
           {300.5, 44, 300, 300, 300, 300},
           {-70000.0, -112, -4464, -70000, -70000, (uint64_t)-70000},
           {4294967297.0, 1, 1, 1, 4294967297, 4294967297u},
           {9223372036854774784.0, 0, -1024, -1024, INT64_MAX - 1023, (uint64_t)INT64_MAX - 1023},
           {9223372036854775808.0, 0, 0, 0, INT64_MIN, (uint64_t)1 << 63},
           {-9223372036854775808.0, 0, 0, 0, INT64_MIN, (uint64_t)1 << 63},
           {18446744073709549568.0, 0, 0, 0, INT64_MIN, UINT64_MAX - 2047},
           {18446744073709551616.0, 0, 0, 0, INT64_MIN, (uint64_t)1 << 63},
           {-1e19, 0, 0, 0, INT64_MIN, (uint64_t)1 << 63},
           {INFINITY, 0, 0, 0, INT64_MIN, (uint64_t)1 << 63},
           {NAN, 0, 0, 0, 0, 0}};
static void a_float_is_cut_to_an_integer(void) {
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        static const int dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64, TN_U8, TN_U16, TN_U32};
        int64_t want[7] = {cut[i].i8, cut[i].i16, cut[i].i32, cut[i].i64};
        uint64_t at = 0x5555555555555555u;
        want[4] = (uint8_t)want[0], want[5] = (uint16_t)want[1], want[6] = (uint32_t)want[2];
        for (int d = 0; d < 7; d++) {
            tni_element_set(&at, dtypes[d], tn_float(cut[i].from));
            tn_scalar s = tni_element(&at, dtypes[d]);
            if (!CHECK_EQ(s.integer, want[d])) printf("    %g to %d\n", cut[i].from, dtypes[d]);
            CHECK(s.kind == TN_KIND_INT);
        }
        tni_element_set(&at, TN_U64, tn_float(cut[i].from));
        CHECK(at == cut[i].u64);
    }
}

static void an_element_keeps_its_kind_and_its_neighbours(void) {
    for (int d = 1; d < TN_DTYPE_COUNT; d++) {
        unsigned char room[32];
        int bytes = tni_dtype(d)->bytes;
        memset(room, 0xee, sizeof room);
        tni_element_set(room, d, tn_int(1));
        tn_scalar s = tni_element(room, d);
        int category = tni_dtype(d)->category;
        CHECK_EQ(s.kind, d == TN_BOOL                  ? TN_KIND_BOOL
                         : category == TNI_CAT_FLOAT   ? TN_KIND_FLOAT
                         : category == TNI_CAT_COMPLEX ? TN_KIND_COMPLEX
                                                       : TN_KIND_INT);
        CHECK(category >= TNI_CAT_FLOAT ? s.real == 1 && s.imaginary == 0 : s.integer == 1);
        for (int i = bytes; i < 32; i++) CHECK_EQ(room[i], 0xee);
        tni_element_set(room, d, tn_complex(0, 2));
        s = tni_element(room, d);
        CHECK(category == TNI_CAT_COMPLEX ? s.real == 0 && s.imaginary == 2
              : category == TNI_CAT_FLOAT ? s.real == 0
                                          : s.integer == (d == TN_BOOL));
        tni_element_set(room, d, tn_bool(true));
        s = tni_element(room, d);
        CHECK(category >= TNI_CAT_FLOAT ? s.real == 1 : s.integer == 1);
    }
    CHECK(tni_element(cut, TN_NO_DTYPE).kind == TN_KIND_NONE);
}

/* TN_INT(3) and the like, written as constants, fill the integer alone. */
static void a_constant_scalar_is_its_integer(void) {
    const tn_scalar yes = {TN_KIND_BOOL, 1, 0, 0};
    const tn_scalar constants[] = {TN_INT(3), TN_INT(-3), TN_INT(0), yes};
    for (int d = 1; d < TN_DTYPE_COUNT; d++)
        for (int k = 0; k < 4; k++) {
            uint64_t a[2] = {0, 0}, b[2] = {0, 0};
            tni_element_set(a, d, constants[k]);
            tni_element_set(b, d, tn_int(constants[k].integer));
            if (!CHECK(!memcmp(a, b, sizeof a))) printf("    %s\n", tni_dtype(d)->text);
            CHECK(d != TN_BOOL || tni_element(a, d).integer == (k != 2));
        }
}

static void an_integer_is_rounded_once(void) {
    uint64_t u = UINT64_MAX - 1024, at = 0;
    tn_scalar s = tni_element(&u, TN_U64);
    float f;
    double d;
    CHECK(s.integer == (int64_t)u && s.real == (double)u);
    tni_element_set(&at, TN_U64, s);
    CHECK(at == u);
    tni_element_set(&f, TN_F32, s);
    tni_element_set(&d, TN_F64, s);
    CHECK(f == 18446744073709551616.0f && d == (double)u);
    tni_element_set(&f, TN_F32, tn_int(((int64_t)1 << 54) + ((int64_t)1 << 30) + 1));
    CHECK(f == 18014400656965632.0f); /* through a double it would be a tie, to even */
    tni_element_set(&f, TN_F32, tn_int(-1));
    tni_element_set(&d, TN_F64, tn_int(-3));
    CHECK(f == -1 && d == -3);
}

/* --- what torch says -------------------------------------------------------------------------- */

typedef struct stride_case {
    int ndim;
    int64_t size[5], a[5], b[5], sum[5];
} stride_case;
typedef struct dtype_case {
    int a, b, promoted, cast;
} dtype_case;
#include "../oracle/strides.inc"

static void a_sum_has_the_strides_that_torch_gives_it(void) {
    static float store[1 << 14];
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        TN_SCOPE {
            const stride_case *c = &sums[i];
            tn_wrap_options o;
            memset(&o, 0, sizeof o);
            o.strides = tn_ints_of(c->a, c->ndim);
            tn_tensor *a = tn_wrap(store, tn_ints_of(c->size, c->ndim), TN_F32, &o);
            o.strides = tn_ints_of(c->b, c->ndim);
            tn_tensor *b = tn_wrap(store, tn_ints_of(c->size, c->ndim), TN_F32, &o);
            tn_tensor *sum = tnp_add(a, b, 1);
            if (!CHECK(sum != NULL)) continue;
            for (int d = 0; d < c->ndim; d++)
                if (c->size[d] != 1 && !CHECK_EQ(sum->stride[d], c->sum[d]))
                    printf("    case %d, dimension %d\n", (int)i, d);
        }
}

static void dtypes_are_promoted_and_cast_as_in_torch(void) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const dtype_case *c = &pairs[i];
        if ((int)tn_promote((tn_dtype)c->a, (tn_dtype)c->b) != c->promoted) {
            printf("    promote %s %s\n", tni_dtype(c->a)->text, tni_dtype(c->b)->text);
            wrong++;
        }
        if (tni_can_cast(c->a, c->b) != (c->cast != 0)) {
            printf("    cast %s %s\n", tni_dtype(c->a)->text, tni_dtype(c->b)->text);
            wrong++;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(tn_promote(TN_NO_DTYPE, TN_F32) == TN_NO_DTYPE);
    CHECK(tn_promote(TN_F32, TN_DTYPE_COUNT) == TN_NO_DTYPE);
    CHECK(tn_promote(TN_NO_DTYPE, TN_NO_DTYPE) == TN_NO_DTYPE);
    CHECK(!tni_can_cast(TN_NO_DTYPE, TN_F32) && !tni_can_cast(TN_F32, TN_NO_DTYPE));
}

static void dtypes_have_names(void) {
    static const char *const more[] = {"float", "double", "half",   "int",
                                       "long",  "short",  "cfloat", "cdouble"};
    static const tn_dtype are[] = {TN_F32, TN_F64, TN_F16, TN_I32, TN_I64, TN_I16, TN_C64, TN_C128};
    tn_dtype before = tn_default_dtype();
    tn_error_info e;
    for (int d = 1; d < TN_DTYPE_COUNT; d++)
        CHECK_EQ(tn_dtype_named(tn_dtype_name((tn_dtype)d)), d);
    for (int i = 0; i < 8; i++) CHECK_EQ(tn_dtype_named(more[i]), are[i]);
    CHECK(!tn_dtype_named("floa") && !tn_dtype_named("") && !tn_dtype_named(NULL));
    CHECK(tn_dtype_bytes(TN_DTYPE_COUNT) == 0 && tn_dtype_bytes((tn_dtype)-1) == 0);
    for (int d = -1; d <= TN_DTYPE_COUNT; d++) { /* what is none has nothing */
        const tni_dtype_info *i = tni_dtype(d);
        bool none = d <= 0 || d == TN_DTYPE_COUNT;
        if (none) CHECK(!i->bytes && !i->category && !i->is_signed && !i->computes);
        CHECK(none || tn_dtype_bytes((tn_dtype)d) == i->bytes);
        CHECK(none || i->computes == (d <= TN_C128));
    }
    CHECK(tn_dtype_bytes(TN_BOOL) == 1 && tn_dtype_bytes(TN_I16) == 2 &&
          tn_dtype_bytes(TN_F32) == 4);
    CHECK(tn_dtype_bytes(TN_C64) == 8 && tn_dtype_bytes(TN_C128) == 16);
    for (int d = 0; d <= TN_DTYPE_COUNT; d++) {
        bool may = d == TN_F16 || d == TN_BF16 || d == TN_F32 || d == TN_F64;
        CHECK(tn_set_default_dtype((tn_dtype)d) == may);
        CHECK((int)tn_default_dtype() == d || !may);
        if (!may) CHECK(tn_error_take(&e) && e.code == TN_TYPE);
    }
    tn_set_default_dtype(before);
    CHECK(tni_real_of(TN_C64) == TN_F32 && tni_real_of(TN_C128) == TN_F64);
    CHECK(tni_real_of(TN_I8) == TN_I8 && tni_complex_of(TN_F64) == TN_C128);
    CHECK(tni_complex_of(TN_C128) == TN_C128 && tni_complex_of(TN_F16) == TN_C64);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static uint64_t state = 7;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* Whether the elements lie at 0 .. numel - 1, each once. */
static bool is_dense_by_force(const tn_tensor *t) {
    bool taken[300] = {false};
    int64_t index[4] = {0};
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = 0, rest = i;
        for (int d = t->ndim - 1; d >= 0; d--) index[d] = rest % t->size[d], rest /= t->size[d];
        for (int d = 0; d < t->ndim; d++) at += index[d] * t->stride[d];
        if (at < 0 || at >= t->numel || taken[at]) return false;
        taken[at] = true;
    }
    return true;
}

static void dense_and_row_major_are_what_addresses_say(void) {
    int dense = 0, rows = 0;
    for (int k = 0; k < 20000; k++) {
        tn_tensor t;
        int64_t dims[8], step = 1;
        int order[4] = {0, 1, 2, 3};
        memset(&t, 0, sizeof t);
        t.size = dims, t.stride = dims + 4, t.numel = 1;
        t.ndim = (uint8_t)below(5);
        for (int d = 0; d < t.ndim; d++) t.size[d] = 1 + below(4), t.numel *= t.size[d];
        for (int d = t.ndim - 1; d > 0; d--) {
            int other = below(3) ? d : below(d + 1), was = order[d];
            order[d] = order[other], order[other] = was;
        }
        for (int d = t.ndim - 1; d >= 0; d--) {
            t.stride[order[d]] = t.size[order[d]] == 1 ? below(9) : step;
            step *= t.size[order[d]] * (below(8) ? 1 : 1 + below(3));
        }
        bool row = true;
        step = 1;
        for (int d = t.ndim - 1; d >= 0; d--) {
            row = row && (t.size[d] == 1 || t.stride[d] == step);
            step *= t.size[d];
        }
        CHECK(tni_is_row_major(t.ndim, t.size, t.stride) == row);
        CHECK(tni_is_dense(&t) == is_dense_by_force(&t));
        dense += tni_is_dense(&t), rows += row;
    }
    CHECK(dense > rows && rows > 1000);
    int64_t empty[2] = {3, 0}, any[2] = {7, 9};
    CHECK(tni_is_row_major(2, empty, any));
}

static void counts_of_elements_do_not_wrap(void) {
    int64_t n = -1, most[2] = {TNI_MOST, 1}, more[3] = {TNI_MOST / 2, 2, 2}, none[3] = {0, 5, 0};
    int64_t stride[3], far[3] = {INT64_MAX, INT64_MAX, 0}, minus[2] = {3, -1};
    CHECK(tni_numel_of(2, most, &n) && n == TNI_MOST);
    CHECK(tni_numel_of(2, more, &n) && n == TNI_MOST && !tni_numel_of(3, more, &n));
    CHECK(tni_numel_of(3, none, &n) && n == 0 && tni_numel_of(0, none, &n) && n == 1);
    CHECK(!tni_numel_of(3, far, &n) && !tni_numel_of(2, minus, &n));
    tni_row_major(3, none, stride);
    CHECK(stride[2] == 1 && stride[1] == 1 && stride[0] == 5);
    tni_row_major(3, more, stride);
    CHECK(stride[2] == 1 && stride[1] == 2 && stride[0] == 4);
    tni_row_major(3, far, stride);
    CHECK(stride[0] == TNI_MOST || stride[0] == INT64_MAX);
}

static void headers_know_their_layout_and_their_limit(void) {
    TN_SCOPE {
        tn_error_info e;
        tn_tensor *t = tnp_zeros(TN_DIMS(3, 4), TN_F32, TN_CPU), *turned = tnp_transpose(t, 0, 1);
        if (sizeof(void *) == 8) CHECK(tnp_empty(TN_DIMS(TNI_MOST), TN_U8, TN_META) && tn_ok());
        CHECK(!tnp_empty(TN_DIMS(TNI_MOST / 2, 3), TN_U8, TN_META) && tn_error_take(&e));
        CHECK(e.code == TN_INVALID);
        CHECK(t->flags & TNI_CONTIGUOUS && tnp_neg(t)->flags & TNI_CONTIGUOUS);
        CHECK(tnp_add(t, t, 1)->flags & TNI_CONTIGUOUS && !(turned->flags & TNI_CONTIGUOUS));
        CHECK(tnp_contiguous(turned)->flags & TNI_CONTIGUOUS && !(t->flags & TNI_INFERENCE));
        CHECK(tnp_transpose(tnp_zeros(TN_DIMS(1, 4), TN_F32, TN_CPU), 0, 1)->flags &
              TNI_CONTIGUOUS);
        CHECK(tnp_transpose(tnp_zeros(TN_DIMS(0, 4), TN_F32, TN_CPU), 0, 1)->flags &
              TNI_CONTIGUOUS);
        bool was = tn_set_inference_mode(true);
        CHECK(tnp_neg(t)->flags & TNI_INFERENCE && tnp_neg(turned)->flags & TNI_INFERENCE);
        CHECK(tnp_zeros(TN_DIMS(2), TN_F32, TN_CPU)->flags & TNI_INFERENCE);
        CHECK(tnp_neg(t)->flags & TNI_CONTIGUOUS && !(tnp_select(t, 0, 0)->flags & TNI_INFERENCE));
        tn_set_inference_mode(was);
        CHECK(!(tnp_neg(t)->flags & TNI_INFERENCE));
    }
}

static void dimensions_count_from_either_end(void) {
    for (int n = 0; n < 4; n++)
        for (int d = -6; d < 6; d++) {
            int all = n ? n : 1, want = d < -all || d >= all ? -1 : d < 0 ? d + all : d;
            CHECK_EQ(tni_dim(n, d), want);
        }
    CHECK(tni_dim(3, INT64_MAX) == -1 && tni_dim(3, INT64_MIN) == -1);
}

static void shapes_broadcast_from_the_right(void) {
    static const struct {
        int na;
        int64_t a[4];
        int nb;
        int64_t b[4];
        int n;
        int64_t out[4];
    } c[] = {{2, {3, 1}, 1, {4}, 2, {3, 4}},
             {1, {4}, 2, {3, 1}, 2, {3, 4}},
             {0, {0}, 2, {2, 3}, 2, {2, 3}},
             {2, {2, 3}, 0, {0}, 2, {2, 3}},
             {1, {3}, 1, {2}, -1, {0}},
             {2, {1, 3}, 3, {2, 1, 3}, 3, {2, 1, 3}},
             {1, {1}, 1, {0}, 1, {0}},
             {1, {2}, 1, {0}, -1, {0}},
             {3, {5, 1, 1}, 2, {6, 1}, 3, {5, 6, 1}},
             {4, {1, 2, 3, 4}, 1, {5}, -1, {0}}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        tni_shape s;
        memset(&s, 0, sizeof s);
        s.ndim = c[i].na;
        memcpy(s.size, c[i].a, sizeof c[i].a);
        CHECK(tni_broadcast(&s, c[i].nb, c[i].b) == (c[i].n >= 0));
        if (c[i].n < 0) continue;
        CHECK_EQ(s.ndim, c[i].n);
        CHECK(!memcmp(s.size, c[i].out, (size_t)c[i].n * 8));
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

static void scalars_read_as_in_python(void) {
    static const struct {
        tn_scalar (*make)(double);
        double v;
        const char *text;
    } c[] = {{tn_float, 1, "1.0"},
             {tn_float, 0.1, "0.1"},
             {tn_float, -2.5e-7, "-2.5e-07"},
             {tn_float, 1e22, "1e+22"},
             {tn_float, 1.0 / 3, "0.3333333333333333"},
             {tn_float, 5e-324, "5e-324"},
             {tn_float, INFINITY, "inf"},
             {tn_float, -INFINITY, "-inf"},
             {tn_float, NAN, "nan"}};
    char text[64];
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        CHECK_TEXT(tni_scalar_text(text, sizeof text, c[i].make(c[i].v)), c[i].text);
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_float(0.1 + 0.2)), "0.30000000000000004");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_int(INT64_MIN)), "-9223372036854775808");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_int(0)), "0");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_bool(true)), "True");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_bool(false)), "False");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(1, -2)), "(1.0-2.0j)");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(0, 0.5)), "(0.0+0.5j)");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(0, NAN)), "(0.0+nanj)");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_complex(1, 0)), "(1.0+0.0j)");
    CHECK_TEXT(tni_scalar_text(text, sizeof text, tn_none()), "None");
    for (int k = 0; k < 4; k++) { /* integers may stand in one of two fields, see types.h */
        tn_scalar s = k < 2 ? tn_int(-7) : tn_bool(true);
        if (k % 2)
            s.integer = 0;
        else
            s.real = 0;
        CHECK_TEXT(tni_scalar_text(text, sizeof text, s), k < 2 ? "-7" : "True");
    }
    CHECK_TEXT(tni_scalar_text(text, 5, tn_complex(1, -2)), "(1.0");
    CHECK_TEXT(tni_tensor_text(text, sizeof text, NULL), "NULL");
    TN_SCOPE {
        tn_tensor *t = tnp_zeros(TN_DIMS(2, 3, 0), TN_I8, TN_CPU);
        CHECK_TEXT(tni_tensor_text(text, sizeof text, t), "int8 (2, 3, 0)");
        CHECK_TEXT(tni_tensor_text(text, 9, t), "int8 (2,");
        CHECK_TEXT(tni_tensor_text(text, 4, t), "int");
        t = tnp_zeros(TN_EMPTY_DIMS, TN_F64, TN_CPU);
        CHECK_TEXT(tni_tensor_text(text, sizeof text, t), "float64 ()");
    }
}

static void utf8_is_told_from_what_is_none(void) {
    static const struct {
        const char *at;
        int n;
    } c[] = {{"a", 1},
             {"\x7f", 1},
             {"\xc2\x80", 2},
             {"\xdf\xbf", 2},
             {"\xe0\xa0\x80", 3},
             {"\xe1\x80\x80", 3},
             {"\xed\x9f\xbf", 3},
             {"\xee\x80\x80", 3},
             {"\xef\xbf\xbf", 3},
             {"\xf0\x90\x80\x80", 4},
             {"\xf1\x80\x80\x80", 4},
             {"\xf4\x8f\xbf\xbf", 4},
             {"\x80", 0},
             {"\xbf", 0},
             {"\xc0\x80", 0},
             {"\xc1\xbf", 0},
             {"\xc2", 0},
             {"\xc2\x7f", 0},
             {"\xc2\xc0", 0},
             {"\xe0\x9f\xbf", 0},
             {"\xed\xa0\x80", 0},
             {"\xe1\x80\x7f", 0},
             {"\xf0\x8f\xbf\xbf", 0},
             {"\xf4\x90\x80\x80", 0},
             {"\xf5\x80\x80\x80", 0},
             {"\xff\x80\x80\x80", 0},
             {"\xf1\x80\x80", 0}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (!CHECK_EQ(tni_utf8(c[i].at), c[i].n)) printf("    case %d\n", (int)i);
}

/* --- random streams --------------------------------------------------------------------------- */

/* Random123's kat_vectors of philox4x32; the 10,000th number of mt19937 in the C++ standard. */
static void streams_are_those_published(void) {
    static const uint32_t want[3][4] = {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
                                        {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu},
                                        {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}};
    static const uint64_t key[] = {0, UINT64_MAX, 0x299f31d0a4093822u};
    static const uint64_t high[] = {0, UINT64_MAX, 0x0370734413198a2eu};
    static const uint64_t low[] = {0, UINT64_MAX, 0x85a308d3243f6a88u};
    for (int k = 0; k < 3; k++) {
        uint32_t to[5] = {0, 0, 0, 0, 77};
        tni_philox(key[k], high[k], low[k], to);
        CHECK(!memcmp(to, want[k], 16) && to[4] == 77);
    }
    tn_generator *g = tn_generator_new(5489), *twin = tn_generator_new(5489 + ((uint64_t)1 << 32));
    uint32_t last = 0;
    for (int i = 0; i < 10000; i++) last = tni_random32(g);
    CHECK_EQ(last, 4123659995u);
    for (int i = 0; i < 5000; i++) (void)tn_random64(twin);
    CHECK(tn_random64(g) == tn_random64(twin)); /* the low half chooses the stream */
    tn_generator_free(g);
    tn_generator_free(twin);
}

/* mt19937ar as its authors wrote it down: one word after the other, indices modulo 624. */
static void every_word_is_that_of_the_definition(void) {
    static const uint64_t seeds[] = {0, 1, 5489, 0xffffffffu, 0x123456789abcdefu};
    static uint32_t m[624], to[3200];
    for (int k = 0; k < 5; k++) {
        tn_generator *g = tn_generator_new(seeds[k]);
        int wrong = 0;
        m[0] = (uint32_t)seeds[k];
        for (uint32_t i = 1; i < 624; i++) m[i] = 1812433253u * (m[i - 1] ^ (m[i - 1] >> 30)) + i;
        tni_random_fill(g, to, 3200);
        for (int n = 0; n < 3200; n++) {
            int i = n % 624;
            uint32_t y = (m[i] & 0x80000000u) | (m[(i + 1) % 624] & 0x7fffffffu);
            m[i] = y = m[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
            y ^= y >> 11, y ^= (y << 7) & 0x9d2c5680u, y ^= (y << 15) & 0xefc60000u;
            wrong += to[n] != (y ^ (y >> 18));
        }
        CHECK_EQ(wrong, 0);
        tn_generator_free(g);
    }
}

/* The second of two normals waits for the next call, but not for another seed or state. */
static void a_seed_forgets_the_normal_that_waits(void) {
    static uint8_t fresh[TN_GENERATOR_BYTES];
    TN_SCOPE {
        tn_generator *g = tn_generator_new(7);
        tn_generator_state(g, fresh);
        double first = tn_item(tn_randn(TN_DIMS(1), .generator = g));
        double second = tn_item(tn_randn(TN_DIMS(1), .generator = g));
        CHECK(first != second);
        for (int k = 0; k < 3; k++) {
            tn_generator_set_state(g, fresh);
            CHECK(tn_item(tn_randn(TN_DIMS(1), .generator = g)) == first);
            CHECK(k != 0 || tn_item(tn_randn(TN_DIMS(1), .generator = g)) == second);
            if (k < 2) tn_generator_seed(g, 7);
            CHECK(k == 2 || tn_item(tn_randn(TN_DIMS(1), .generator = g)) == first);
        }
        tn_generator_free(g);
        tn_manual_seed(7);
        CHECK(tn_item(tn_randn(TN_DIMS(1))) == first);
        tn_manual_seed(7);
        CHECK(tn_item(tn_randn(TN_DIMS(1))) == first);
        tn_generator_free(tn_default_generator()); /* stays */
        CHECK(tn_item(tn_randn(TN_DIMS(1))) == second);
    }
}

static void words_are_the_same_in_any_portions(void) {
    tn_generator *a = tn_generator_new(3), *b = tn_generator_new(3);
    static uint32_t to[3000];
    for (int64_t n = 0, all = 0; all < 20000; n = (n * 7 + 3) % 1500) {
        to[n] = 12345;
        tni_random_fill(a, to, n);
        CHECK_EQ(to[n], 12345);
        for (int64_t i = 0; i < n; i++)
            if (to[i] != tni_random32(b)) {
                CHECK_EQ(i, n); /* the same words */
                break;
            }
        all += n;
    }
    uint64_t high = tni_random32(b), whole = tn_random64(a);
    CHECK(whole == (high << 32 | tni_random32(b)));
    tn_generator_free(a);
    tn_generator_free(b);
}

static void a_state_goes_on_where_it_was_taken(void) {
    static const int drawn[] = {0, 1, 2, 622, 623, 624, 625, 1247, 1248, 1249};
    static uint8_t state_of[TN_GENERATOR_BYTES], again[TN_GENERATOR_BYTES];
    tn_generator *a = tn_generator_new(0x123456789abcdefu), *b = tn_generator_new(1);
    for (int k = 0; k < 10; k++) {
        tn_generator_seed(a, 0x123456789abcdefu);
        for (int i = 0; i < drawn[k]; i++) (void)tni_random32(a);
        a->has_normal = k % 2 == 1, a->normal = k % 2 ? 0.25 * k : 0;
        tn_generator_state(a, state_of);
        int left = drawn[k] ? 625 - (drawn[k] - 1) % 624 - 1 : 1;
        CHECK_EQ(state_of[8] | state_of[9] << 8, left);
        CHECK_EQ(state_of[16] | state_of[17] << 8, drawn[k] ? (drawn[k] - 1) % 624 + 1 : 0);
        CHECK(state_of[0] == 0xef && state_of[7] == 1 && state_of[12] == 1);
        CHECK(tn_generator_set_state(b, state_of));
        tn_generator_state(b, again);
        CHECK(!memcmp(state_of, again, sizeof again));
        CHECK(b->has_normal == a->has_normal && b->normal == a->normal && b->seed == a->seed);
        for (int i = 0; i < 1300; i++) CHECK(tni_random32(a) == tni_random32(b));
    }
    tn_generator_free(a);
    tn_generator_free(b);
}

static void what_is_no_state_is_refused(void) {
    static uint8_t good[TN_GENERATOR_BYTES], bad[TN_GENERATOR_BYTES];
    static const struct {
        int at, byte;
        const char *said;
    } c[] = {{12, 0, "it was never seeded"},
             {12, 2, "it was never seeded"},
             {17, 3, "its position is out of range"},
             {8, 0, "its position is out of range"},
             {9, 3, "its position is out of range"},
             {8, 200, "its position does not match its count of remaining words"},
             {16, 7, "its position does not match its count of remaining words"},
             {24 + 4, 1, "a word has more than 32 bits"},
             {24 + 8 * 623 + 4, 1, "a word has more than 32 bits"},
             {24 + 8 * 300 + 7, 128, "a word has more than 32 bits"}};
    tn_generator *g = tn_generator_new(1), *same = tn_generator_new(1);
    tn_error_info e;
    for (int i = 0; i < 500; i++) (void)tni_random32(g), (void)tni_random32(same);
    tn_generator_state(g, good);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        memcpy(bad, good, sizeof bad);
        if (c[i].at == 8 && c[i].byte == 0) bad[9] = 0;
        bad[c[i].at] = (uint8_t)c[i].byte;
        CHECK(!tn_generator_set_state(g, bad) && tn_error_take(&e) && e.code == TN_FORMAT);
        if (!CHECK(strstr(e.message, c[i].said) != NULL)) printf("    %d: %s\n", (int)i, e.message);
    }
    CHECK(tn_random64(g) == tn_random64(same));
    CHECK(!tn_generator_set_state(g, NULL) && tn_error_take(&e) &&
          strstr(e.message, "state is NULL"));
    CHECK(!tn_generator_set_state(NULL, good) && tn_error_take(&e) &&
          strstr(e.message, "generator is NULL"));
    memset(bad, 1, sizeof bad);
    tn_generator_state(NULL, bad);
    for (size_t i = 0; i < sizeof bad; i++) CHECK_EQ(bad[i], 0);
    tn_generator_free(g);
    tn_generator_free(same);
    tn_generator_free(NULL);
    tn_generator_free(tn_default_generator()); /* stays */
    tn_manual_seed(4);
    CHECK(tn_default_generator()->seed == 4);
}

/* --- scopes ----------------------------------------------------------------------------------- */

static void scopes_nest_as_deep_as_they_count(void) {
    int64_t live = tn_memory().live_tensors, mark[1000], n = 0;
    tn_error_info e;
    for (int k = 0; k < 1000; k++) {
        mark[k] = tn_scope_begin();
        CHECK(mark[k] == (k ? mark[k - 1] + 1 : mark[0]));
        CHECK(tnp_zeros(TN_EMPTY_DIMS, TN_F32, TN_CPU) != NULL);
        if (k % 7 == 0) n++, (void)tn_keep(tnp_zeros(TN_EMPTY_DIMS, TN_F32, TN_CPU));
    }
    CHECK_EQ(tn_memory().live_tensors, live + 1000 + n);
    tn_scope_end(mark[999]);
    CHECK_EQ(tn_memory().live_tensors, live + 999 + n);
    tn_scope_end(mark[994]); /* 994 = 7 * 142: what it kept stays in 993 */
    CHECK_EQ(tn_memory().live_tensors, live + 994 + n);
    tn_scope_end(mark[0]);
    CHECK_EQ(tn_memory().live_tensors, live + 1);
    tn_scope_end(-1);
    int64_t first = tn_scope_begin(), last = first;
    while (last >= 0 && last < 70000) last = tn_scope_begin();
    CHECK(last == -1 && tn_error_take(&e) && strstr(e.message, "more than 65535 scopes are open"));
    tn_scope_end(first);
    CHECK_EQ(tn_memory().live_tensors, live + 1);
}

static const check_test tests[] = {
    CHECK_TEST(every_code_of_a_small_float_is_its_value),
    CHECK_TEST(between_two_codes_the_nearer_is_taken_and_the_even),
    CHECK_TEST(a_float_is_cut_to_an_integer),
    CHECK_TEST(an_element_keeps_its_kind_and_its_neighbours),
    CHECK_TEST(a_constant_scalar_is_its_integer),
    CHECK_TEST(an_integer_is_rounded_once),
    CHECK_TEST(a_sum_has_the_strides_that_torch_gives_it),
    CHECK_TEST(dtypes_are_promoted_and_cast_as_in_torch),
    CHECK_TEST(dtypes_have_names),
    CHECK_TEST(dense_and_row_major_are_what_addresses_say),
    CHECK_TEST(counts_of_elements_do_not_wrap),
    CHECK_TEST(headers_know_their_layout_and_their_limit),
    CHECK_TEST(dimensions_count_from_either_end),
    CHECK_TEST(shapes_broadcast_from_the_right),
    CHECK_TEST(scalars_read_as_in_python),
    CHECK_TEST(utf8_is_told_from_what_is_none),
    CHECK_TEST(streams_are_those_published),
    CHECK_TEST(every_word_is_that_of_the_definition),
    CHECK_TEST(a_seed_forgets_the_normal_that_waits),
    CHECK_TEST(words_are_the_same_in_any_portions),
    CHECK_TEST(a_state_goes_on_where_it_was_taken),
    CHECK_TEST(what_is_no_state_is_refused),
    CHECK_TEST(scopes_nest_as_deep_as_they_count),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL); /* with the tensor that scopes_nest_as_deep_as_they_count keeps */
    return failed;
}
