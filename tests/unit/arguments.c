/* arguments.c - promises of src/call and tensor/access.c: what a call takes, into what it writes,
 * recordings run again on other data, reading and wrapping memory; what is refused, and how. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

static tn_tensor *counted(int64_t rows, int64_t columns, tn_dtype dtype) {
    tn_tensor *t = tnp_empty(TN_DIMS(rows, columns), dtype, TN_CPU);
    for (int64_t i = 0; t && i < t->numel; i++)
        tni_element_set(tni_bytes_at(t) + i * tni_dtype_size(t), (int)dtype, tn_int(i + 1));
    return t;
}
static double at(const tn_tensor *t, int64_t i) {
    double v[64];
    return t && t->numel <= 64 && tn_read_f64(t, v, t->numel) ? v[i] : NAN;
}
static bool says(tn_code code, const char *words) {
    tn_error_info e;
    if (!tn_error_take(&e)) return printf("    no error: %s\n", words), false;
    if (e.code == code && strstr(e.message, words)) return true;
    return printf("    \"%s\"\n    \"%s\"\n", e.message, words), false;
}
#define REFUSED(call, code, words) CHECK(!(call) && says(code, words))

/* --- in place and out= ------------------------------------------------------------------------ */

static void given_tensors_are_written_or_refused(void) {
    TN_SCOPE {
        tn_tensor *a = counted(2, 3, TN_F32), *b = counted(2, 3, TN_F32),
                  *one = counted(1, 3, TN_F32);
        tn_tensor *whole = counted(2, 3, TN_I64), *wide = counted(2, 3, TN_F64);
        tn_tensor *turned = tnp_transpose(counted(3, 2, TN_F32), 0, 1);
        CHECK(tnp_add_(a, b, 1) == a && at(a, 5) == 12 && at(a, 0) == 2);
        REFUSED(tnp_add_(one, b, 1), TN_INVALID,
                "self has shape (1, 3), but the result has (2, 3)");
        REFUSED(tnp_add_(whole, b, 1), TN_TYPE,
                "result type float32 can't be cast to the desired output type int64");
        CHECK(tnp_add_(wide, b, 1) == wide && at(wide, 5) == 12);
        CHECK(tn_add(a, b, .out = wide) == wide && at(wide, 5) == 18 && at(wide, 1) == 6);
        CHECK(tn_add(a, b, .out = turned) == turned && at(turned, 1) == 6 && at(turned, 3) == 12);
        CHECK(turned->stride[0] == 1 && turned->stride[1] == 2);
        REFUSED(tn_add(a, b, .out = one), TN_INVALID,
                "out has shape (1, 3), but the result has (2, 3)");
        REFUSED(tn_add(a, b, .out = whole), TN_TYPE, "desired output type int64");
        tn_values_indices two = {wide, NULL};
        REFUSED(tn_max_dim(a, 1, .out = two).values, TN_INVALID,
                "out: expected all 2 results, or none");
        two.values = NULL, two.indices = whole;
        REFUSED(tn_max_dim(a, 1, .out = two).values, TN_INVALID,
                "out: expected all 2 results, or none");
        two.values = counted(2, 1, TN_F32);
        two.indices = tnp_select(counted(2, 2, TN_I64), 1, 0); /* every other number */
        two.values = tnp_select(two.values, 1, 0);
        CHECK(tn_max_dim(a, 1, .out = two).values == two.values);
        CHECK(at(two.values, 1) == 12 && at(two.indices, 0) == 2 && at(two.indices, 1) == 2);
        tn_tensor *leaf = tn_requires_grad(counted(2, 3, TN_F32)), *out = counted(2, 3, TN_F32);
        REFUSED(tn_add(leaf, b, .out = out), TN_AUTOGRAD, "out= does not support gradients");
        REFUSED(tn_add(a, b, .out = leaf), TN_AUTOGRAD, "out= does not support gradients");
        REFUSED(tnp_add_(leaf, b, 1), TN_AUTOGRAD,
                "self is a leaf that requires grad and must not be written in place");
        REFUSED(tnp_add_(tnp_select(leaf, 0, 0), tnp_select(b, 0, 0), 1), TN_AUTOGRAD,
                "self is a view of a leaf that requires grad and must not be written in place");
        CHECK(at(leaf, 5) == 6 && at(leaf, 0) == 1);
        tn_set_grad_mode(false);
        CHECK(tnp_add_(leaf, b, 1) == leaf && at(leaf, 5) == 12);
        CHECK(tn_add(a, b, .out = leaf) == leaf && at(leaf, 5) == 18);
        tn_set_grad_mode(true);
        CHECK(tnp_add_(tnp_detach(leaf), b, 1) && at(leaf, 5) == 24);
    }
}

static void memory_that_may_only_be_read_is_not_written(void) {
    static float store[6] = {1, 2, 3, 4, 5, 6};
    TN_SCOPE {
        tn_wrap_options o;
        memset(&o, 0, sizeof o);
        o.read_only = true;
        tn_tensor *t = tn_wrap(store, TN_DIMS(6), TN_F32, &o), *b = tn_ones(TN_DIMS(6));
        REFUSED(tnp_add_(t, b, 1), TN_INVALID, "self is read-only memory");
        REFUSED(tn_add(b, b, .out = t), TN_INVALID, "out is read-only memory");
        REFUSED(tnp_add_(tnp_reshape(t, TN_DIMS(2, 3)), tn_ones(TN_DIMS(2, 3)), 1), TN_INVALID,
                "self is read-only memory");
        CHECK(store[0] == 1 && store[5] == 6 && at(tnp_add(t, b, 1), 5) == 7);
        bool was = tn_set_inference_mode(true);
        tn_tensor *made = tn_ones(TN_DIMS(6));
        CHECK(tnp_add_(made, b, 1) == made);
        tn_set_inference_mode(was);
        REFUSED(tnp_add_(made, b, 1), TN_AUTOGRAD, "self was made in inference mode");
        CHECK(at(made, 0) == 2);
    }
}

static void arguments_that_are_none_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = counted(2, 3, TN_F32), *list[2] = {NULL, NULL}, *meta;
        tn_ints empty = {NULL, 0}, absent = {NULL, -1};
        meta = tnp_empty(TN_DIMS(2, 3), TN_F32, TN_META);
        REFUSED(tnp_add(a, NULL, 1), TN_INVALID,
                "argument 'other' is NULL\n  in add(self=float32 (2, 3)");
        REFUSED(tnp_add(NULL, a, 1), TN_INVALID, "argument 'self' is NULL");
        list[0] = a;
        REFUSED(tnp_cat(tn_tensors_of(list, 2), 0), TN_INVALID,
                "argument 'tensors' has NULL at position 1");
        REFUSED(tnp_cat(tn_tensors_of(NULL, 2), 0), TN_INVALID, "argument 'tensors' is NULL");
        REFUSED(tnp_cat(tn_tensors_of(list, -1), 0), TN_INVALID, "argument 'tensors' is NULL");
        static tn_tensor *crowd[(1 << 24) + 1];
        REFUSED(tnp_cat(tn_tensors_of(crowd, (1 << 24) + 1), 0), TN_INVALID,
                "argument 'tensors' has 16777217 tensors, expected at most 16777216");
        REFUSED(tnp_reshape(a, empty), TN_INVALID, "argument 'shape' is an empty struct");
        REFUSED(tnp_reshape(a, absent), TN_INVALID, "argument 'shape' is absent");
        REFUSED(tnp_add(a, meta, 1), TN_INVALID,
                "arguments are on different devices, meta and cpu");
        CHECK(tnp_add(meta, meta, 1)->flags & TNI_META);
        CHECK(tnp_add(meta, tnp_zeros(TN_EMPTY_DIMS, TN_F32, TN_CPU), 1) == NULL || tn_ok());
        tn_error_take(NULL);
        REFUSED(tnp_zeros(TN_DIMS(2), TN_DTYPE_COUNT, TN_CPU), TN_INVALID,
                "argument 'dtype': 18 is not a valid value");
        REFUSED(tnp_zeros(TN_DIMS(2), (tn_dtype)-1, TN_CPU), TN_INVALID,
                "argument 'dtype': -1 is not a valid value");
        REFUSED(tnp_clone(a, (tn_memory_format)5), TN_INVALID, "is not a valid value");
        REFUSED(tnp_zeros(TN_DIMS(-1), TN_F32, TN_CPU), TN_INVALID, "zeros(size=[-1]");
        tn_scalar none = tn_none(), bad = tn_int(1);
        bad.kind = 9;
        REFUSED(tnp_full(TN_DIMS(2), none, TN_F32, TN_CPU), TN_INVALID,
                "'fill_value' is not a number");
        REFUSED(tnp_full(TN_DIMS(2), bad, TN_F32, TN_CPU), TN_INVALID,
                "'fill_value' is not a number");
        REFUSED(tnp_nonzero(meta), TN_UNSUPPORTED,
                "the result's size depends on data, which a meta tensor does not have");
        CHECK(tn_cat(TN_LIST(a, a), .dim = 0) && tn_ok());
    }
}

/* Long lists, and what is in them, are kept for the gradient. */
static void lists(void) {
    static const int lengths[] = {1, 7, 8, 9, 12, 13, 200};
    for (int k = 0; k < 7; k++)
        TN_SCOPE {
            tn_tensor *list[200], *sum;
            for (int i = 0; i < lengths[k]; i++) {
                list[i] = tnp_full(TN_DIMS(1 + i % 3), tn_float(i), TN_F64, TN_CPU);
                if (i % 4 != 2) tn_requires_grad(list[i]);
            }
            sum = tnp_cat(tn_tensors_of(list, lengths[k]), 0);
            tn_tensor *weight = tn_arange((double)sum->numel, .dtype = TN_F64);
            CHECK(tn_backward(tnp_sum(tnp_mul(sum, weight), TN_NO_DIMS, false, TN_NO_DTYPE)));
            for (int i = 0, from = 0; i < lengths[k]; from += 1 + i % 3, i++)
                CHECK(i % 4 != 2 ? at(tn_grad_of(list[i]), 0) == from &&
                                       at(tn_grad_of(list[i]), i % 3) == from + i % 3
                                 : !tn_grad_of(list[i]));
        }
}
/* Twice: the first time makes what a context keeps. */
static void twice(void (*run)(void)) {
    run();
    int64_t live = tn_memory().live_tensors, used = tn_memory().bytes_used;
    run();
    CHECK_EQ(tn_memory().live_tensors, live);
    CHECK_EQ(tn_memory().bytes_used, used);
}
static void a_list_of_any_length_has_its_gradients(void) { twice(lists); }

/* --- recordings ------------------------------------------------------------------------------- */

static void recordings(void) {
    TN_SCOPE {
        tn_tensor *x = counted(2, 3, TN_F32), *y = counted(2, 3, TN_F32), *out[6], *list[10];
        tn_tensor *places[1], *picked;
        int64_t dims[2] = {3, 2}, order[1] = {0};
        CHECK(tn_record_begin());
        REFUSED(tn_record_begin(), TN_INVALID,
                "tn_record_begin: a recording is already in progress");
        out[0] = tnp_add(x, y, 2);
        out[1] = tnp_mul_scalar(out[0], tn_float(0.5));
        out[2] = tnp_reshape(tnp_flip(out[1], tn_ints_of(order, 1)), tn_ints_of(dims, 2));
        for (int i = 0; i < 10; i++) list[i] = i % 2 ? x : out[1];
        out[3] = tnp_cat(tn_tensors_of(list, 10), 0);
        out[4] = tn_softmax(out[3], 1);
        out[5] = tnp_add_(y, x, 1);
        places[0] = tnp_zeros(TN_DIMS(1), TN_I64, TN_CPU);
        picked = tnp_index(x, tn_tensors_of(places, 1));
        places[0] = NULL, dims[0] = dims[1] = 77, order[0] = 99;
        for (int i = 0; i < 10; i++)
            list[i] = NULL; /* copied: what the caller does to his is his */
        tn_recording *r = tn_record_end();
        REFUSED(tn_record_end(), TN_INVALID, "tn_record_end: no recording is in progress");
        CHECK(at(out[1], 0) == 1.5 && at(out[2], 0) == 6 && at(out[5], 5) == 12);
        for (int round = 0; r && round < 3; round++) {
            double y0 = at(y, 0), x0 = 10 * round;
            *(float *)tn_data(x) = (float)x0;
            int64_t versions[6];
            for (int k = 0; k < 6; k++) versions[k] = tn_version(out[k]);
            CHECK(tn_replay(r));
            CHECK(at(out[0], 0) == x0 + 2 * y0 && at(out[1], 0) == (x0 + 2 * y0) / 2);
            CHECK(at(out[2], 3) == at(out[1], 0) && at(out[3], 6) == x0);
            CHECK(at(picked, 0) == x0 && at(picked, 2) == 3 && tn_size(picked, 0) == 1);
            CHECK(at(out[3], 57) == 4 && at(out[3], 0) == at(out[1], 0));
            CHECK(at(y, 0) == y0 + x0 && at(y, 5) == 12 + 6 * (round + 1));
            for (int k = 0; k < 6; k++) CHECK(tn_version(out[k]) > versions[k]);
        }
        tn_recording_free(r);
        REFUSED(tn_replay(NULL), TN_INVALID, "tn_replay: the recording must belong to this thread");
        tn_recording_free(NULL);
    }
}
static void a_recording_runs_again_on_what_was_written_since(void) { twice(recordings); }

static void a_replay_whose_result_has_another_size_is_refused(void) {
    TN_SCOPE {
        tn_tensor *x = counted(2, 3, TN_F32), *found;
        CHECK(tn_record_begin());
        found = tnp_nonzero(x);
        tn_recording *r = tn_record_end();
        CHECK(tn_replay(r) && tn_size(found, 0) == 6);
        ((float *)tn_data(x))[1] = 0;
        REFUSED(tn_replay(r), TN_INVALID, "the result has 5 entries, but 6 were recorded");
        ((float *)tn_data(x))[1] = 3;
        CHECK(tn_replay(r) && at(found, 3) == 1);
        tn_recording_free(r);
    }
}

/* --- rows at run time ------------------------------------------------------------------------- */

static bool same_check(tn_frame *f) {
    return tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, f->in[0]->ndim, f->in[0]->size);
}
static void same_run(tn_frame *f) {
    memcpy(tn_data(f->out[0]), tn_data(f->in[0]),
           (size_t)(f->in[0]->numel * tni_dtype_size(f->in[0])));
}

static void registered_rows_are_listed_while_their_context_lives(void) {
    static tn_row rows[3], bad;
    static const char *const names[3] = {"calls_a", "calls_b", "calls_c"};
    static const char *const texts[3] = {"calls_a(Tensor self) -> Tensor",
                                         "calls.b(Tensor self) -> Tensor",
                                         "calls_c(Tensor self) -> Tensor"};
    int64_t before;
    tn_context *c = tn_context_new(NULL), *was = tn_context_use(c);
    before = tn_row_count();
    for (int i = 0; i < 3; i++) {
        rows[i].name = names[i], rows[i].schema = texts[i];
        rows[i].check = same_check, rows[i].run = same_run;
        CHECK(tn_register(&rows[i]) && tn_row_count() == before + i + 1);
        CHECK(tn_row_at(before + i) == &rows[i] && rows[i].gen->index == (uint32_t)(before + i));
    }
    for (int i = 0; i < 3; i++) CHECK(tn_row_at(before + i) == &rows[i] && tn_row_named(names[i]));
    CHECK(tn_row_named("calls.b") == &rows[1] && !tn_row_named("calls") && !tn_row_named(NULL));
    CHECK(!tn_row_at(before + 3) && !tn_row_at(-1) && tn_row_at(before - 1) && tn_row_at(0));
    CHECK(!tn_row_named("calls_") && !tn_row_named("calls_aa"));
    REFUSED(tn_register(&bad), TN_INVALID, "tn_register: a row needs a name and a schema");
    bad = rows[0], bad.gen = NULL, bad.name = "calls_d";
    REFUSED(tn_register(&bad), TN_INVALID, "tn_register: an operator 'calls_a' already exists");
    bad.schema = "calls_d(Tensor self) -> Tensor", bad.run = NULL;
    REFUSED(tn_register(&bad), TN_INVALID, "'calls_d' needs check and run, or compose");
    bad.run = same_run, bad.check = NULL;
    REFUSED(tn_register(&bad), TN_INVALID, "'calls_d' needs check and run, or compose");
    bad.check = same_check, bad.schema = "calls_d(Tensr self) -> Tensor";
    REFUSED(tn_register(&bad), TN_INVALID,
            "tn_register: 'calls_d': column 9: unknown type 'Tensr'");
    REFUSED(tn_register(&rows[0]), TN_INVALID,
            "is already registered in a context that still exists");
    CHECK_EQ(tn_row_count(), before + 3);
    tn_context_use(was);
    tn_context_free(c);
    CHECK(!rows[0].gen && !rows[1].gen && !rows[2].gen && !tn_row_named("calls_a"));
    CHECK_EQ(tn_row_count(), before);
}

/* --- reading and wrapping --------------------------------------------------------------------- */

static void what_a_tensor_is_can_be_asked(void) {
    TN_SCOPE {
        tn_tensor *t = tnp_transpose(counted(2, 3, TN_I16), 0, 1), *view = tnp_select(t, 0, 1);
        CHECK(tn_ndim(t) == 2 && tn_size(t, 0) == 3 && tn_size(t, -1) == 2 && tn_size(t, -2) == 3);
        CHECK(tn_stride(t, 0) == 1 && tn_stride(t, 1) == 3 && tn_numel(t) == 6);
        CHECK(!tn_is_contiguous(t) && tn_storage_offset(view) == 1 && tn_is_view(view));
        CHECK(tn_same_storage(t, view) && !tn_same_storage(t, NULL) && !tn_same_storage(NULL, t));
        CHECK(tn_device_of(t) == TN_CPU && tn_dtype_of(t) == TN_I16 && tn_shape(t).n == 2);
        CHECK(!tn_ndim(NULL) && !tn_numel(NULL) && !tn_dtype_of(NULL) && !tn_data(NULL));
        CHECK(!tn_is_view(NULL) && !tn_version(NULL) && !tn_strides(NULL).n && !tn_shape(NULL).n);
        REFUSED(tn_size(t, 2), TN_INDEX,
                "tn_size: dimension 2 is out of range for a tensor of 2 dimensions");
        REFUSED(tn_size(t, -3), TN_INDEX,
                "tn_size: dimension -3 is out of range for a tensor of 2 dimensions");
        REFUSED(tn_stride(NULL, 0), TN_INVALID, "tn_stride: the tensor is NULL");
        int64_t version = tn_version(t);
        CHECK(tn_touch(view) && tn_version(t) == version + 1);
        REFUSED(tn_touch(NULL), TN_INVALID, "tn_touch: the tensor is NULL");
    }
}

static void elements_are_read_row_by_row_as_any_dtype(void) {
    TN_SCOPE {
        tn_tensor *t = tnp_transpose(counted(2, 3, TN_I16), 0, 1), *h = counted(2, 2, TN_F64);
        float f[6];
        double d[7];
        int64_t i[6];
        CHECK(tn_read_f32(t, f, 6) && f[0] == 1 && f[1] == 4 && f[2] == 2 && f[5] == 6);
        CHECK(tn_read_f64(t, d, 6) && d[1] == 4 && d[4] == 3);
        CHECK(tn_read_i64(t, i, 6) && i[3] == 5 && i[4] == 3);
        ((double *)tn_data(h))[2] = -7.9;
        CHECK(tn_read_i64(h, i, 4) && i[2] == -7 && i[3] == 4);
        REFUSED(tn_read_f64(t, d, 7), TN_INVALID,
                "tn_read: the tensor has 6 elements, but the array has 7");
        REFUSED(tn_read_f64(t, NULL, 6), TN_INVALID, "tn_read: the tensor or the array is NULL");
        REFUSED(tn_read_f64(NULL, d, 6), TN_INVALID, "tn_read: the tensor or the array is NULL");
        tn_tensor *meta = tnp_empty(TN_DIMS(1), TN_F32, TN_META);
        REFUSED(tn_read_f64(meta, d, 1), TN_UNSUPPORTED, "tn_read: a meta tensor has no data");
        CHECK(tn_read_f64(tnp_zeros(TN_DIMS(0), TN_F32, TN_CPU), NULL, 0));
        REFUSED(tn_item(meta) != 0, TN_UNSUPPORTED, "tn_item: a meta tensor has no data");
        REFUSED(tn_item(t) != 0, TN_INVALID, "tn_item: expected one element, got int16 (3, 2)");
        REFUSED(tn_item(NULL) != 0, TN_INVALID, "tn_item: the tensor is NULL");
        tn_tensor *z = tnp_full(TN_DIMS(1), tn_complex(2.5, 1), TN_C128, TN_CPU);
        REFUSED(tn_item(z) != 0, TN_TYPE, "tn_item: the element is complex; use tn_item_scalar");
        CHECK(tn_item_int(z) == 2 && tn_item_scalar(z).imaginary == 1);
        CHECK(tn_item(tnp_full(TN_DIMS(1, 1), tn_complex(2.5, 0), TN_C64, TN_CPU)) == 2.5);
        CHECK(tn_item(tnp_full(TN_DIMS(1), tn_bool(true), TN_BOOL, TN_CPU)) == 1);
        CHECK(tn_item_int(tnp_full(TN_DIMS(1), tn_float(-3.5), TN_F32, TN_CPU)) == -3);
    }
}

static int released;
static void release(void *data, void *user) { released += data == user; }
static void memory_is_wrapped_as_far_as_it_reaches(void) {
    static float store[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t far[2] = {6, 1}, many[2] = {5, 2}, minus[2] = {-1, 1};
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.release = release, o.user = store;
    released = 0;
    TN_SCOPE {
        o.strides = tn_ints_of(far, 2), o.bytes = 36;
        tn_tensor *t = tn_wrap(store, TN_DIMS(2, 3), TN_F32, &o);
        CHECK(t && at(t, 3) == 6 && at(t, 5) == 8);
        o.bytes = 35;
        REFUSED(tn_wrap(store, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID, "beyond the 35 bytes");
        o.bytes = -1;
        REFUSED(tn_wrap(store, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID, "beyond the -1 bytes");
        o.bytes = 0;
        REFUSED(tn_wrap(NULL, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID, "tn_wrap: data is NULL");
        o.strides = tn_ints_of(many, 1);
        REFUSED(tn_wrap(store, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID,
                "tn_wrap: got 1 strides for 2 dimensions");
        o.strides = tn_ints_of(minus, 2);
        REFUSED(tn_wrap(store, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID, "shape and strides reach");
        CHECK_EQ(released, 0);
        CHECK(tn_wrap(NULL, TN_DIMS(0), TN_F32, NULL) && tn_wrap(store, TN_DIMS(12), TN_F32, NULL));
    }
    CHECK_EQ(released, 1);
    TN_SCOPE {
        int64_t ones[TN_MAX_DIMS + 1];
        for (int i = 0; i <= TN_MAX_DIMS; i++) ones[i] = 1;
        CHECK(tn_from(store, tn_ints_of(ones, TN_MAX_DIMS), TN_F32) != NULL);
        REFUSED(tn_from(store, tn_ints_of(ones, TN_MAX_DIMS + 1), TN_F32), TN_INVALID,
                "tn_from: expected a shape of 0 to ");
        REFUSED(tn_from(store, tn_ints_of(ones, -1), TN_F32), TN_INVALID,
                "tn_from: expected a shape of 0 to ");
        REFUSED(tn_from(store, tn_ints_of(NULL, 1), TN_F32), TN_INVALID,
                "tn_from: expected a shape of 0 to ");
        REFUSED(tn_from(store, TN_DIMS(1), TN_NO_DTYPE), TN_TYPE,
                "tn_from: this dtype does not exist");
        REFUSED(tn_from(store, TN_DIMS(1), TN_DTYPE_COUNT), TN_TYPE,
                "tn_from: this dtype does not exist");
        REFUSED(tn_from(NULL, TN_DIMS(1), TN_F32), TN_INVALID, "tn_from: data is NULL");
        REFUSED(tn_from(store, TN_DIMS(-1), TN_F32), TN_INVALID, "size -1 of dimension 0");
        REFUSED(tn_from_room_at(__FILE__, __LINE__, store, 23, TN_DIMS(2, 3), TN_F32), TN_INVALID,
                "tn_from: float32 of shape (2, 3) has 24 bytes, the array has 23");
        CHECK(tn_from_room_at(__FILE__, __LINE__, store, 24, TN_DIMS(2, 3), TN_F32) != NULL);
        CHECK(tn_from_room_at(__FILE__, __LINE__, NULL, 0, TN_DIMS(0), TN_F32) != NULL);
        CHECK(at(tn_from(store, TN_EMPTY_DIMS, TN_F32), 0) == 0);
    }
}

/* --- exchanging data -------------------------------------------------------------------------- */

static void exchanged_tensors_and_their_views_see_the_other_data(void) {
    for (int64_t n = 1; n < 600; n += n < 4 ? 1 : 127)
        for (int view = 0; view < 2; view++)
            TN_SCOPE {
                tn_tensor *a = counted(1, n, TN_F32), *b = tnp_mul_scalar(a, tn_float(-1)),
                          *of_a = a;
                int64_t version = tn_version(a), versions = tn_version(b);
                if (view) of_a = tnp_select(a, 0, 0);
                CHECK(tn_swap_data(a, b));
                bool right = true;
                for (int64_t i = 0; i < n; i++)
                    right = right && ((float *)tn_data(a))[i] == -(float)(i + 1) &&
                            ((float *)tn_data(b))[i] == (float)(i + 1) &&
                            ((float *)tn_data(of_a))[i] == -(float)(i + 1);
                CHECK(right && tn_version(a) > version - 1 && tn_version(b) > versions - 1);
                CHECK(tn_version(a) + tn_version(b) == version + versions + 2);
            }
    TN_SCOPE {
        tn_tensor *a = counted(2, 3, TN_F32), *b = counted(2, 3, TN_F64),
                  *c = counted(3, 2, TN_F32);
        tn_tensor *turned = tnp_clone(tnp_transpose(c, 0, 1), (tn_memory_format)0);
        CHECK(tn_swap_data(a, b) && tn_dtype_of(a) == TN_F64 && tn_dtype_of(b) == TN_F32);
        CHECK(at(a, 5) == 6 && at(b, 5) == 6);
        CHECK(tn_swap_data(b, turned) && tn_stride(b, 0) == 1 && at(b, 1) == 3 &&
              at(turned, 1) == 2);
        CHECK(tn_is_contiguous(turned) && !tn_is_contiguous(b));
        REFUSED(tn_swap_data(a, c), TN_INVALID, "tn_swap_data: the shapes differ");
        REFUSED(tn_swap_data(a, NULL), TN_INVALID, "tn_swap_data: a tensor is NULL");
        REFUSED(tn_swap_data(NULL, a), TN_INVALID, "tn_swap_data: a tensor is NULL");
        REFUSED(tn_swap_data(tnp_transpose(c, 0, 1), a), TN_AUTOGRAD,
                "a view or a recorded result");
    }
}

static void path_text(const tn_path *path, char *to, size_t room) {
    (void)path;
    snprintf(to, room, "inside");
}
static int told;
static void handler(const tn_error_info *e, void *user) { told += e->line == *(int *)user; }
static void a_path_places_what_goes_wrong_below_it(void) {
    tn_path outer = {NULL, path_text, "outer.c", 11}, inner = {NULL, path_text, "inner.c", 22};
    int line = 11;
    tn_error_info e;
    told = 0;
    tn_set_error_handler(handler, &line);
    CHECK(!tn_path_current());
    tn_path_push(&outer), tn_path_push(&inner);
    CHECK(tn_path_current() == &inner && inner.caller == &outer && !outer.caller);
    CHECK(!tnp_add(NULL, NULL, 1) && told == 0);
    tn_path_pop(&outer); /* not the innermost */
    CHECK(tn_path_current() == &inner);
    tn_path_pop(&inner);
    CHECK(tn_path_current() == &outer && told == 0);
    tn_path_pop(&outer);
    CHECK(told == 1 && !tn_path_current());
    tn_set_error_handler(NULL, NULL);
    CHECK(tn_error_take(&e) && e.line == 11 && !strcmp(e.file, "outer.c"));
    CHECK(strncmp(e.message, "inside: ", 8) == 0);
}
static void a_request_to_stop_without_a_context_means_the_threads(void) {
    TN_SCOPE {
        tn_tensor *a = tnp_ones(TN_DIMS(3), TN_F32, TN_CPU);
        tn_cancel(NULL);
        REFUSED(tnp_add(a, a, 1), TN_CANCELLED, "");
        tn_cancel_clear(NULL);
        CHECK(tnp_add(a, a, 1));
    }
}

static const check_test tests[] = {
    CHECK_TEST(given_tensors_are_written_or_refused),
    CHECK_TEST(memory_that_may_only_be_read_is_not_written),
    CHECK_TEST(arguments_that_are_none_are_named),
    CHECK_TEST(a_list_of_any_length_has_its_gradients),
    CHECK_TEST(a_recording_runs_again_on_what_was_written_since),
    CHECK_TEST(a_replay_whose_result_has_another_size_is_refused),
    CHECK_TEST(registered_rows_are_listed_while_their_context_lives),
    CHECK_TEST(what_a_tensor_is_can_be_asked),
    CHECK_TEST(elements_are_read_row_by_row_as_any_dtype),
    CHECK_TEST(memory_is_wrapped_as_far_as_it_reaches),
    CHECK_TEST(exchanged_tensors_and_their_views_see_the_other_data),
    CHECK_TEST(a_path_places_what_goes_wrong_below_it),
    CHECK_TEST(a_request_to_stop_without_a_context_means_the_threads),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
