/* values.c - elements, dtypes, memory of the user's, generators, scopes: what is read is what was
 * written, and what makes no sense is refused with its reason. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../refused.h"

#include <math.h>
#include <stdlib.h>

/* --- reading ---------------------------------------------------------------------------------- */

static void null_has_no_sizes(void) {
    CHECK(tn_ndim(NULL) == 0 && tn_numel(NULL) == 0 && tn_shape(NULL).n == 0);
    CHECK(tn_strides(NULL).n == 0 && tn_storage_offset(NULL) == 0 && tn_version(NULL) == 0);
    CHECK(tn_dtype_of(NULL) == TN_NO_DTYPE && tn_device_of(NULL) == TN_NO_DEVICE);
    CHECK(!tn_is_contiguous(NULL) && !tn_is_view(NULL) && !tn_data(NULL));
    CHECK(!tn_needs_grad(NULL) && !tn_is_leaf(NULL) && !tn_grad_fn(NULL) && !tn_grad_of(NULL));
    CHECK(!tn_retain(NULL) && !tn_keep(NULL) && !tn_hold(NULL));
    tn_free(NULL), tn_release(NULL), tn_zero_grad(NULL), tn_generator_free(NULL);
    tn_generator_seed(NULL, 1);
    REFUSED(tn_touch(NULL), TN_INVALID, "tn_touch: the tensor is NULL");
    REFUSED(tn_count_apart(NULL), TN_INVALID, "tn_count_apart: the tensor is NULL");
    REFUSED(tn_size(NULL, 0), TN_INVALID, "tn_size: the tensor is NULL");
    REFUSED(tn_item(NULL) != 0, TN_INVALID, "tn_item: the tensor is NULL");
}
static void sizes_and_storages_are_told(void) {
    TN_SCOPE {
        tn_tensor *t = tn_zeros(TN_DIMS(2, 3)), *v = tn_select(t, 0, 1),
                  *other = tn_zeros(TN_DIMS(2));
        CHECK(tn_strides(t).n == 2 && tn_strides(t).at[0] == 3 && tn_size(t, -1) == 3);
        CHECK(tn_storage_offset(v) == 3 && tn_is_view(v) && !tn_is_view(t));
        CHECK(tn_same_storage(t, v) && !tn_same_storage(t, other));
        CHECK(!tn_same_storage(NULL, t) && !tn_same_storage(t, NULL));
        CHECK(tn_version(t) == 0 && tn_touch(v) && tn_version(t) == 1);
        REFUSED(tn_count_apart(v), TN_AUTOGRAD, "tn_count_apart: the tensor is a view of another");
        tn_tensor *apart = tn_detach(t);
        CHECK(tn_count_apart(apart) && tn_version(apart) == 0 && tn_touch(tn_select(apart, 0, 0)));
        CHECK(tn_version(apart) == 1 && tn_version(t) == 1 && tn_same_storage(t, apart));
        REFUSED(tn_size(t, 2), TN_INDEX,
                "tn_size: dimension 2 is out of range for a tensor of 2 dimensions");
        REFUSED(tn_stride(t, -3), TN_INDEX, "tn_stride: dimension -3");
    }
}
static void items_are_of_one_element_and_kind(void) {
    static const float pair[2] = {1, 2};
    double wide[2];
    float narrow[2];
    TN_SCOPE {
        tn_tensor *c = tn_from(pair, tn_empty_dims(), TN_C64), *meta, *none, *real;
        meta = tn_empty(TN_DIMS(1), .device = TN_META);
        none = tn_empty(TN_DIMS(0));
        real = tn_from(pair, tn_empty_dims(), TN_F32);
        CHECK(tn_item_scalar(c).imaginary == 2 && tn_item_int(real) == 1 && tn_item(real) == 1);
        CHECK(tnp_item_scalar(c).real == 1 && tnp_item_int(c) == 1);
        REFUSED(tn_item(c) != 0, TN_TYPE, "tn_item: the element is complex");
        CHECK(tn_item(tn_mul_scalar(tn_ones_like(c), 2)) == 2);
        REFUSED(tn_item(none) != 0, TN_INVALID, "tn_item: expected one element, got float32 (0)");
        REFUSED(tn_item(meta) != 0, TN_UNSUPPORTED, "tn_item: a meta tensor has no data");
        REFUSED(tn_read_f64(meta, wide, 1), TN_UNSUPPORTED, "tn_read: a meta tensor has no data");
        REFUSED(tn_read_f64(real, NULL, 1), TN_INVALID, "tn_read: the tensor or the array is NULL");
        REFUSED(tn_read_f32(NULL, narrow, 1), TN_INVALID,
                "tn_read: the tensor or the array is NULL");
        REFUSED(tn_read_f32(real, narrow, 2), TN_INVALID,
                "tn_read: the tensor has 1 elements, but the array has 2");
        CHECK(tn_read_f64(none, NULL, 0) && tn_read_f32(none, narrow, 0));
    }
}

/* --- the user's memory ------------------------------------------------------------------------ */

static void wrapped_memory_must_hold_the_shape(void) {
    static float data[6] = {0, 1, 2, 3, 4, 5};
    int64_t two[] = {2, 3}, strides[] = {1, 2}, less[] = {-1, 1}, bad[] = {2, -3};
    int64_t huge[] = {(int64_t)1 << 40, (int64_t)1 << 40};
    tn_wrap_options o;
    tn_ints shape = tn_ints_of(two, 2), lost = {NULL, 2}, many = {two, TN_MAX_DIMS + 1},
            few = {two, -2};
    TN_SCOPE {
        tn_tensor *t;
        memset(&o, 0, sizeof o);
        o.strides = tn_ints_of(strides, 2), o.bytes = sizeof data;
        t = tn_wrap(data, shape, TN_F32, &o);
        CHECK(t && tn_data(t) == data && tn_item(tn_select(tn_select(t, 0, 1), 0, 2)) == 5);
        CHECK(tn_wrap(NULL, TN_DIMS(0), TN_F32, &o) == NULL); /* one dimension, two strides */
        says(TN_INVALID, "tn_wrap: got 2 strides for 1 dimensions", __LINE__);
        o.strides.n = 0;
        CHECK(tn_wrap(NULL, TN_DIMS(0), TN_F32, &o) && tn_wrap(data, shape, TN_F32, NULL));
        o.bytes = sizeof data - 1;
        REFUSED(tn_wrap(data, shape, TN_F32, &o), TN_INVALID, "reach beyond the 23 bytes");
        o.bytes = -1;
        REFUSED(tn_wrap(data, shape, TN_F32, &o), TN_INVALID, "reach beyond the -1 bytes");
        o.bytes = 0;
        REFUSED(tn_wrap(NULL, shape, TN_F32, &o), TN_INVALID, "tn_wrap: data is NULL");
        REFUSED(tn_wrap((char *)data + 2, TN_DIMS(1), TN_F32, NULL), TN_INVALID,
                "tn_wrap: the data is not aligned to 4 bytes, as float32 needs");
        REFUSED(tn_wrap((char *)data + 1, TN_DIMS(0), TN_BF16, NULL), TN_INVALID, "to 2 bytes");
        CHECK(tn_wrap((char *)data + 1, TN_DIMS(1), TN_U8, NULL) != NULL);
        CHECK(tn_wrap((char *)data + 4, TN_DIMS(1), TN_C64, NULL) != NULL);
        o.strides = tn_ints_of(less, 2);
        REFUSED(tn_wrap(data, shape, TN_F32, &o), TN_INVALID, "");
        REFUSED(tn_wrap(data, lost, TN_F32, NULL), TN_INVALID,
                "tn_wrap: expected a shape of 0 to ");
        REFUSED(tn_wrap(data, many, TN_F32, NULL), TN_INVALID,
                "tn_wrap: expected a shape of 0 to ");
        REFUSED(tn_from(data, few, TN_F32), TN_INVALID, "tn_from: expected a shape of 0 to ");
        REFUSED(tn_from(data, tn_ints_of(bad, 2), TN_F32), TN_INVALID, "");
        REFUSED(tn_from(data, tn_ints_of(huge, 2), TN_F32), TN_INVALID, "");
        REFUSED(tn_from(NULL, shape, TN_F32), TN_INVALID, "tn_from: data is NULL");
        REFUSED(tn_from(data, shape, TN_NO_DTYPE), TN_TYPE, "tn_from: this dtype does not exist");
        REFUSED(tn_from(data, shape, TN_DTYPE_COUNT), TN_TYPE,
                "tn_from: this dtype does not exist");
        CHECK(tn_from(NULL, TN_DIMS(0), TN_F32) != NULL);
    }
}

/* --- dtypes ----------------------------------------------------------------------------------- */

static void dtypes_have_torchs_names(void) {
    static const char *const other[] = {"float", "double", "half",   "int",
                                        "long",  "short",  "cfloat", "cdouble"};
    static const tn_dtype of[] = {TN_F32, TN_F64, TN_F16, TN_I32, TN_I64, TN_I16, TN_C64, TN_C128};
    for (int d = 1; d < TN_DTYPE_COUNT; d++)
        CHECK(tn_dtype_named(tn_dtype_name((tn_dtype)d)) == (tn_dtype)d);
    for (int i = 0; i < 8; i++) CHECK(tn_dtype_named(other[i]) == of[i]);
    CHECK(tn_dtype_named("floaty") == TN_NO_DTYPE && tn_dtype_named(NULL) == TN_NO_DTYPE);
    REFUSED(tn_set_default_dtype(TN_F8E4M3), TN_TYPE, "got float8_e4m3fn");
    REFUSED(tn_set_default_dtype(TN_C64), TN_TYPE, "got complex64");
    CHECK(tni_complex_of(TN_F64) == TN_C128 && tni_complex_of(TN_C128) == TN_C128);
    CHECK(tni_complex_of(TN_F32) == TN_C64 && tni_real_of(TN_C128) == TN_F64);
    CHECK(tni_real_of(TN_C64) == TN_F32 && tni_real_of(TN_I8) == TN_I8);
}
/* torch.can_cast: not from complex to real, from floats to integers, from integers to bool. */
static void casts_go_up_the_kinds(void) {
    CHECK(tni_can_cast(TN_I64, TN_U8) && tni_can_cast(TN_F64, TN_F16) &&
          tni_can_cast(TN_I8, TN_F32));
    CHECK(tni_can_cast(TN_F32, TN_C64) && tni_can_cast(TN_BOOL, TN_I8) &&
          tni_can_cast(TN_U8, TN_I8));
    CHECK(!tni_can_cast(TN_C64, TN_F32) && !tni_can_cast(TN_F32, TN_I64));
    CHECK(!tni_can_cast(TN_I8, TN_BOOL) && !tni_can_cast(TN_NO_DTYPE, TN_F32));
    CHECK(!tni_can_cast(TN_F32, TN_NO_DTYPE));
}
/* The values of torch.promote_types. */
static void types_meet_as_in_torch(void) {
    static const tn_dtype meet[][3] = {{TN_U8, TN_I8, TN_I16},
                                       {TN_U8, TN_I32, TN_I32},
                                       {TN_F16, TN_BF16, TN_F32},
                                       {TN_F16, TN_F32, TN_F32},
                                       {TN_BF16, TN_F64, TN_F64},
                                       {TN_F64, TN_C64, TN_C128},
                                       {TN_F32, TN_C64, TN_C64},
                                       {TN_I64, TN_F16, TN_F16},
                                       {TN_BOOL, TN_U8, TN_U8},
                                       {TN_U16, TN_F32, TN_F32},
                                       {TN_U32, TN_F16, TN_F16},
                                       {TN_U64, TN_F64, TN_F64},
                                       {TN_U16, TN_I32, TN_NO_DTYPE},
                                       {TN_F8E4M3, TN_F32, TN_NO_DTYPE},
                                       {TN_U16, TN_U32, TN_NO_DTYPE},
                                       {TN_F8E4M3, TN_F8E5M2, TN_NO_DTYPE},
                                       {TN_NO_DTYPE, TN_F32, TN_NO_DTYPE},
                                       {TN_U16, TN_U16, TN_U16},
                                       {TN_NO_DTYPE, TN_NO_DTYPE, TN_NO_DTYPE},
                                       {TN_I16, TN_I32, TN_I32}};
    for (size_t i = 0; i < sizeof meet / sizeof *meet; i++) {
        CHECK_EQ(tn_promote(meet[i][0], meet[i][1]), meet[i][2]);
        CHECK_EQ(tn_promote(meet[i][1], meet[i][0]), meet[i][2]);
    }
}

static tn_scalar through(int dtype, tn_scalar s) {
    char room[16] = {0};
    tni_element_set(room, dtype, s);
    return tni_element(room, dtype);
}
static void elements_are_rounded_and_cut_as_defined(void) {
    static const int small[] = {TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};
    tn_scalar top = tn_int(-1);
    top.real = 18446744073709551615.0; /* 2^64 - 1, as an element of U64 is read */
    for (int i = 0; i < 4; i++) {
        CHECK(through(small[i], tn_float(NAN)).real != through(small[i], tn_float(NAN)).real);
        CHECK(through(small[i], tn_float(-0.5)).real == -0.5);
        CHECK(through(small[i], tn_float(1e-30)).real <= 1e-30);
    }
    CHECK(through(TN_F8E4M3, tn_float(1e6)).real == 448 &&
          isinf(through(TN_F8E5M2, tn_float(1e6)).real));
    CHECK(isinf(through(TN_F16, tn_float(-1e6)).real) && through(TN_F16, tn_float(6e-8)).real > 0);
    CHECK(through(TN_U64, tn_float(1e19)).real == 1e19 &&
          through(TN_U64, tn_float(-1)).integer == -1);
    CHECK(through(TN_U64, tn_float(2e19)).integer == INT64_MIN);
    CHECK(through(TN_I64, tn_float(1e19)).integer == INT64_MIN);
    CHECK(through(TN_I64, tn_float(-1e19)).integer == INT64_MIN);
    CHECK(through(TN_I64, tn_float(NAN)).integer == 0 &&
          through(TN_U64, tn_float(-1e30)).integer < 0);
    CHECK(through(TN_F32, top).real == 18446744073709551616.0 &&
          through(TN_F64, top).real > 1.8e19);
    CHECK(through(TN_F32, tn_int(-3)).real == -3 && through(TN_F64, tn_int(-3)).real == -3);
    CHECK(through(TN_BOOL, tn_complex(0, 2)).integer == 1 &&
          through(TN_BOOL, tn_complex(0, 0)).integer == 0);
    CHECK(through(TN_BOOL, tn_float(0)).integer == 0 &&
          through(TN_BOOL, tn_float(NAN)).integer == 1);
    CHECK(through(TN_C64, tn_float(2)).imaginary == 0 &&
          through(TN_C128, tn_complex(1, 2)).imaginary == 2);
    CHECK(through(TN_I8, tn_int(-100)).integer == -100 &&
          through(TN_U16, tn_int(-1)).integer == 65535);
    CHECK(through(TN_U32, tn_int(-1)).integer == 4294967295 &&
          through(99, tn_int(1)).kind == TN_KIND_NONE);
}

/* --- generators ------------------------------------------------------------------------------- */

static void put(uint8_t *state, int at, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) state[at + i] = (uint8_t)(v >> 8 * i);
}
static void a_state_that_is_none_is_refused_whole(void) {
    uint8_t state[TN_GENERATOR_BYTES], bad[TN_GENERATOR_BYTES], after[TN_GENERATOR_BYTES];
    static const struct {
        int at, bytes;
        uint64_t v;
        const char *text;
    } wrong[] = {{12, 4, 0, "never seeded"},
                 {16, 8, 625, "position is out of range"},
                 {8, 4, 0, "position is out of range"},
                 {8, 4, 625, "position is out of range"},
                 {8, 4, 7, "does not match"},
                 {16, 8, 5, "does not match"},
                 {24, 8, (uint64_t)1 << 32, "more than 32 bits"}};
    tn_generator *g = tn_generator_new(5), *same = tn_generator_new(6);
    CHECK(tn_random64(g) != tn_random64(same));
    tn_generator_state(g, state);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bad, state, sizeof bad);
        put(bad, wrong[i].at, wrong[i].v, wrong[i].bytes);
        CHECK(!tn_generator_set_state(g, bad));
        says(TN_FORMAT, wrong[i].text, __LINE__);
        tn_generator_state(g, after);
        CHECK(!memcmp(state, after, sizeof state));
    }
    REFUSED(tn_generator_set_state(NULL, state), TN_INVALID, "the generator is NULL");
    REFUSED(tn_generator_set_state(g, NULL), TN_INVALID, "the state is NULL");
    CHECK(tn_generator_set_state(same, state) && tn_random64(g) == tn_random64(same));
    tn_generator_state(NULL, after);
    CHECK(after[0] == 0 && after[24] == 0);
    tn_generator_free(g), tn_generator_free(same);
}
static void a_state_goes_back_with_its_normal_and_its_seed(void) {
    uint8_t state[TN_GENERATOR_BYTES], after[TN_GENERATOR_BYTES];
    tn_generator *g = tn_generator_new(0), *fresh = tn_generator_new(9);
    CHECK(tn_default_generator() && tn_default_generator() == tn_default_generator());
    tn_generator_free(tn_default_generator()); /* the context's own: stays */
    CHECK(tn_default_generator() != NULL);
    tn_generator_seed(g, 9);
    tn_generator_state(g, state);
    CHECK(tn_generator_set_state(fresh, state) && tn_random64(g) == tn_random64(fresh));
    tn_generator_seed(g, 9);
    put(state, 24 + 8 * 624 + 8 + 16, 1, 4); /* a normal number is kept: 2.5 */
    put(state, 24 + 8 * 624 + 8, 0x4004000000000000u, 8);
    CHECK(tn_generator_set_state(g, state));
    tn_generator_state(g, after);
    CHECK(!memcmp(state, after, sizeof state));
    tn_generator_free(g), tn_generator_free(fresh);
}
/* Known answers of Random123 (kat_vectors, philox4x32 10). */
static void philox_gives_the_known_answers(void) {
    uint32_t r[4];
    tni_philox(0, 0, 0, r);
    CHECK(r[0] == 0x6627e8d5 && r[1] == 0xe169c58d && r[2] == 0xbc57ac4c && r[3] == 0x9b00dbd8);
    tni_philox(UINT64_MAX, UINT64_MAX, UINT64_MAX, r);
    CHECK(r[0] == 0x408f276d && r[1] == 0x41c83b0e && r[2] == 0xa20bc7c6 && r[3] == 0x6d5451fd);
    tni_philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, r);
    CHECK(r[0] == 0xd16cfe09 && r[1] == 0x94fdcceb && r[2] == 0x5001e420 && r[3] == 0x24126ea1);
}

/* --- scopes, lists, extras -------------------------------------------------------------------- */

static void scopes_may_lie_deeper_than_their_inline_room(void) {
    enum { DEEP = 300 };
    int64_t mark[DEEP];
    tn_tensor *inner = NULL, *kept = NULL;
    for (int i = 0; i < DEEP; i++) {
        mark[i] = tn_scope_begin();
        CHECK(mark[i] == i);
        inner = tn_full(TN_DIMS(1), (double)i);
        if (i == DEEP - 1) kept = tn_hold(tn_mul_scalar(inner, 2));
    }
    CHECK(tn_keep(inner) == inner); /* one scope out */
    tn_scope_end(mark[DEEP - 1]);
    CHECK(tn_item(inner) == DEEP - 1);
    for (int i = DEEP - 2; i >= 0; i--) tn_scope_end(mark[i]);
    CHECK_EQ(tn_memory().live_tensors, 1);
    CHECK(tn_item(kept) == 2 * (DEEP - 1) && tn_keep(kept) == kept && tn_hold(kept) == kept);
    tn_free(kept), tn_free(kept);
    tn_scope_end(-1);
    tn_scope_leave(-1, NULL, 0);
    CHECK_EQ(tn_memory().live_tensors, 0);
}
static void more_scopes_than_a_number_holds_are_refused(void) {
    int64_t first = tn_scope_begin(), mark = first, last = first;
    while (mark >= 0) last = mark, mark = tn_scope_begin();
    CHECK_EQ(last, UINT16_MAX - 1);
    says(TN_INVALID, "more than 65535 scopes are open", __LINE__);
    tn_scope_end(first);
    CHECK(tn_ok());
}
static void lists_are_freed_whole(void) {
    tn_list none = {NULL, 3, NULL}, list;
    tn_tensor *x = tn_arange(6), *of_other[2];
    list = tn_chunk(x, 3);
    CHECK(list.n == 3 && tn_item(tn_select(list.at[2], 0, 1)) == 5);
    tn_list_free(list);
    tn_list_free(none);
    of_other[0] = NULL, of_other[1] = x;
    list.at = of_other, list.n = 2, list.holder = NULL;
    TN_SCOPE
        tn_list_free(list);
}
static void gone(void *user) { ++*(int *)user; }
static void what_a_binding_hangs_on_goes_with_the_tensor(void) {
    int count = 0;
    tn_tensor *t = tn_ones(TN_DIMS(1));
    tni_extra *e = tni_extra_of(tni_here(), t);
    CHECK(e && e == tni_extra_of(tni_here(), t));
    if (e) e->binding = &count, e->binding_release = gone;
    tn_free(t);
    CHECK_EQ(count, 1);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(null_has_no_sizes),
        CHECK_TEST(sizes_and_storages_are_told),
        CHECK_TEST(items_are_of_one_element_and_kind),
        CHECK_TEST(wrapped_memory_must_hold_the_shape),
        CHECK_TEST(dtypes_have_torchs_names),
        CHECK_TEST(casts_go_up_the_kinds),
        CHECK_TEST(types_meet_as_in_torch),
        CHECK_TEST(elements_are_rounded_and_cut_as_defined),
        CHECK_TEST(a_state_that_is_none_is_refused_whole),
        CHECK_TEST(a_state_goes_back_with_its_normal_and_its_seed),
        CHECK_TEST(philox_gives_the_known_answers),
        CHECK_TEST(scopes_may_lie_deeper_than_their_inline_room),
        CHECK_TEST(more_scopes_than_a_number_holds_are_refused),
        CHECK_TEST(lists_are_freed_whole),
        CHECK_TEST(what_a_binding_hangs_on_goes_with_the_tensor),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
