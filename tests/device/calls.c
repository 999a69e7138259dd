/* calls.c - what a device is beside the rows' results: names, waits, elements that the host reads,
 * data exchanged, gradients between devices; errors that name operator, device and line and leave
 * the context usable, when an argument is wrong and when any allocation or copy fails. */
#include "../../src/api/ops.h"
#include "../../src/api/extend.h"
#include "../../src/api/io.h"
#include "../../src/api/modules.h"
#include "../refused.h"
#include "null.h"

static tn_device_id null0, null1, bare;

static tn_context *begin(void) {
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_backend_add(tn_null_backend()) && tn_backend_add(tn_bare_backend()));
    null0 = tn_device("null:0");
    null1 = tn_device("null:1");
    bare = tn_device("bare");
    return c;
}
static void end(tn_context *c) {
    tn_error_info e;
    CHECK(!tn_error_take(&e));
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(null_blocks, 0);
    CHECK_EQ(null_opened, 0);
}

/* 0, 1, 2, .. as floats on a device. */
static tn_tensor *range(tn_device_id device, tn_ints shape) {
    int64_t n = 1;
    for (int64_t i = 0; i < shape.n; i++) n *= shape.at[i];
    return tn_to(tn_reshape(tn_arange((double)n), shape), device);
}

/* --- names and backends ----------------------------------------------------------------------- */

static void devices_are_found_by_kind_and_number(void) {
    tn_context *c = begin();
    CHECK(tn_device("null") == null0 && null1 == null0 + 1 && bare == null1 + 1);
    CHECK_TEXT(tn_device_name(null1), "null:1");
    CHECK_TEXT(tn_device_name(bare), "bare:0");
    CHECK_TEXT(tn_device_name(bare + 1), "none");
    REFUSED(tn_device("null:2"), TN_INVALID, "device 'null:2' does not exist; expected cpu, meta");
    CHECK(tn_backend_add(tn_null_backend()) && tn_device("bare:0") == bare);
    TN_SCOPE {
        REFUSED(tn_zeros(TN_DIMS(2), .device = 77), TN_UNSUPPORTED,
                "device number 77 does not exist");
        REFUSED(tn_to(tn_zeros(TN_DIMS(2)), 77), TN_UNSUPPORTED, "device number 77 does not exist");
    }
    REFUSED(tn_device_wait(77), TN_INVALID, "tn_device_wait: device number 77 does not exist");
    CHECK(tn_device_wait(TN_CPU) && tn_device_wait(TN_META) && tn_device_wait(null0));
    end(c);
    c = tn_context_new(NULL); /* devices belong to a context */
    tn_context_use(c);
    REFUSED(tn_device("null:0"), TN_INVALID, "does not exist; expected cpu, meta");
    end(c);
}

static bool never_opens(int32_t device, uint64_t owner, char *why, size_t room) {
    (void)owner;
    snprintf(why, room, "driver %d is too old", (int)device + 7);
    return false;
}

static void a_device_says_what_it_is(void) {
    tn_context *c = begin();
    CHECK(!strcmp(tn_device_properties_of(null1).name, "null number 1"));
    CHECK_EQ(tn_device_properties_of(null0).memory, 1 << 20);
    CHECK_EQ(tn_device_properties_of(null0).left, 0);
    for (tn_device_id d = TN_NO_DEVICE; d <= TN_META; d++) CHECK(!*tn_device_properties_of(d).name);
    CHECK(!*tn_device_properties_of(bare).name && !*tn_device_properties_of(77).name);
    tn_device_reset_peak(null0); /* it does not count: nothing happens */
    tn_device_reset_peak(77);
    end(c);
}

static void a_wrong_backend_is_refused_and_says_why(void) {
    static tn_backend k[6];
    tn_context *c = begin();
    for (int i = 0; i < 6; i++) {
        k[i] = *tn_bare_backend();
        k[i].kind = "other";
    }
    k[0].version++;
    k[1].bytes--;
    k[2].kind = "null";
    k[3].count = 65;
    k[4].elements = NULL;
    REFUSED(tn_backend_add(NULL), TN_INVALID, "tn_backend_add: it is NULL");
    REFUSED(tn_backend_add(&k[0]), TN_INVALID, "compiled with another version of the header");
    REFUSED(tn_backend_add(&k[1]), TN_INVALID, "compiled with another version of the header");
    REFUSED(tn_backend_add(&k[2]), TN_INVALID, "another one has its kind");
    REFUSED(tn_backend_add(&k[3]), TN_INVALID, "1 to 64 devices");
    REFUSED(tn_backend_add(&k[4]), TN_INVALID, "one of its functions is NULL");
    k[4] = k[5];
    k[4].kind = "cpu";
    REFUSED(tn_backend_add(&k[4]), TN_INVALID, "neither cpu nor meta");
    k[5].open = never_opens;
    CHECK(tn_backend_add(&k[5]));
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2));
        REFUSED(tn_to(x, tn_device("other")), TN_UNSUPPORTED,
                "other:0 cannot be used: driver 7 is too old");
        CHECK(at(tn_exp(x), 0) > 2.7);
    }
    end(c);
}

/* --- the host reads --------------------------------------------------------------------------- */

static void elements_of_a_device_are_read_by_copies(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, TN_DIMS(2, 3)), *turned = tn_t(x);
        int64_t whole[6];
        float single[6];
        char *text;
        CHECK(tn_device_of(x) == null0 && !tn_data(x) && tn_device_data(x));
        CHECK(tn_item(tn_sum(x)) == 15 && tn_item_int(tn_select(tn_select(x, 0, 1), 0, 1)) == 4);
        CHECK(at(turned, 1) == 3 && at(turned, 2) == 1);
        CHECK(tn_read_i64(turned, whole, 6) && whole[5] == 5 && tn_read_f32(x, single, 6));
        text = tn_to_text(tn_select(x, 0, 1), NULL);
        CHECK_TEXT(text, "tensor([3., 4., 5.], device='null:0')");
        tn_alloc_free(text, strlen(text) + 1);
        text = tn_to_text(tn_requires_grad(tn_zeros(TN_DIMS(0), .device = null1)), NULL);
        CHECK_TEXT(text, "tensor([], device='null:1', requires_grad=True)");
        tn_alloc_free(text, strlen(text) + 1);
        REFUSED(tn_item(x), TN_INVALID, "tn_item: expected one element");
    }
    end(c);
}

static void data_move_between_all_devices_in_any_layout(void) {
    tn_context *c = begin();
    TN_SCOPE {
        const tn_device_id places[] = {TN_CPU, null0, null1, bare};
        for (int from = 0; from < 4; from++)
            for (int to = 0; to < 4; to++)
                for (int way = 0; way < 8; way++) {
                    tn_tensor *x = range(places[from], TN_DIMS(4, 6)), *y, *z;
                    if (way & 1) x = tn_t(x);
                    if (way & 2) x = tn_slice(x, .dim = 1, .start = 1, .step = 2);
                    y = tn_to(x, places[to], .dtype = way & 4 ? TN_I32 : TN_F32);
                    CHECK(tn_device_of(y) == places[to] &&
                          tn_is_view(y) == (from == to && way < 4));
                    for (int64_t i = 0; i < tn_numel(x); i++) CHECK(at(x, i) == at(y, i));
                    z = tn_t(tn_zeros(TN_DIMS(tn_size(x, 1), tn_size(x, 0)), .device = places[to]));
                    CHECK(tn_copy_(z, x) == z && tn_device_of(z) == places[to]);
                    for (int64_t i = 0; i < tn_numel(x); i++) CHECK(at(x, i) == at(z, i));
                    CHECK(tn_to(x, TN_META) && tn_device_of(tn_to(x, TN_META)) == TN_META);
                }
    }
    end(c);
}

static void data_are_exchanged_between_devices(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, TN_DIMS(3)), *y = tn_zeros(TN_DIMS(3)), *z;
        CHECK(tn_swap_data(x, y) && tn_device_of(x) == TN_CPU && tn_device_of(y) == null0);
        CHECK(at(x, 2) == 0 && at(y, 2) == 2 && tn_data(x) && !tn_data(y));
        z = tn_zeros(TN_DIMS(3));
        CHECK(tn_set_data(z, y) && tn_device_of(z) == null0 && at(z, 2) == 2 && !tn_data(z));
        CHECK(tn_add_scalar_(z, 1) && at(y, 2) == 3);
        CHECK(tn_set_data(z, x) && tn_device_of(z) == TN_CPU && tn_data(z) && at(z, 2) == 0);
    }
    end(c);
}

static void memory_goes_with_the_context(void) {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = tn_keep(tn_zeros(TN_DIMS(1000), .device = null0));
    CHECK(range(null1, TN_DIMS(9)) && null_blocks == 2);
    tn_scope_end(mark);
    CHECK(null_blocks == 1 && !tn_is_wrapped(x) && tn_storage_bytes(x) == 4000);
    end(c);
}

/* --- gradients -------------------------------------------------------------------------------- */

static void gradients_cross_devices(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(2, 3), 3.0)),
                  *s = tn_requires_grad(tn_full(TN_DIMS(1), 2.0)), *number, *y;
        number = tn_requires_grad(tn_full(tn_empty_dims(), 2.0));
        y = tn_mul(tn_to(tn_mul(tn_to(x, null0), number), null1), tn_to(s, null1));
        CHECK(tn_device_of(y) == null1 && tn_backward(tn_sum(y)));
        CHECK(tn_device_of(tn_grad_of(x)) == TN_CPU && at(tn_grad_of(x), 5) == 4);
        CHECK(tn_device_of(tn_grad_of(number)) == TN_CPU && at(tn_grad_of(number), 0) == 36);
        CHECK(tn_device_of(tn_grad_of(s)) == TN_CPU && at(tn_grad_of(s), 0) == 36);
        CHECK(tn_backward(tn_sum(tn_unbind(tn_to(x, null0)).at[1]))); /* nothing came into [0] */
        CHECK(at(tn_grad_of(x), 0) == 4 && at(tn_grad_of(x), 5) == 5);
        CHECK(tn_backward(tn_sum(tn_exp(x))) && at(tn_grad_of(x), 0) > 24); /* adds up */
    }
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(range(null0, TN_DIMS(4))), *v = tn_mul_scalar(w, 1);
        tn_zero_(tn_slice(v, .end = 2)); /* the base of a view that is written */
        tn_copy_(tn_slice(v, .start = 3), tn_ones(TN_DIMS(1)));
        CHECK(tn_backward(tn_sum(tn_mul(v, v))) && tn_device_of(tn_grad_of(w)) == null0);
        CHECK(at(tn_grad_of(w), 0) == 0 && at(tn_grad_of(w), 2) == 4 && at(tn_grad_of(w), 3) == 0);
    }
    end(c);
}

/* --- wrong arguments -------------------------------------------------------------------------- */

static void devices_that_are_mixed_are_named(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, TN_DIMS(2, 3)), *host = tn_zeros(TN_DIMS(2, 3)),
                  *list[2] = {x, NULL};
        REFUSED(tn_add(x, host), TN_INVALID,
                "arguments are on different devices, null:0 and cpu: 'self' and 'other'");
        REFUSED(tn_add(host, x), TN_INVALID, "null:0 and cpu: 'other' and 'self'");
        REFUSED(tn_matmul(x, range(null1, TN_DIMS(3, 2))), TN_INVALID,
                "arguments are on different devices, null:0 and null:1");
        REFUSED(tn_mul(x, tn_empty(TN_DIMS(2, 3), .device = TN_META)), TN_INVALID,
                "arguments are on different devices, null:0 and meta");
        list[1] = host;
        REFUSED(tn_cat(tn_tensors_of(list, 2)), TN_INVALID,
                "null:0 and cpu: 'tensors[0]' and 'tensors[1]'");
        REFUSED(tn_add(x, x, .out = host), TN_INVALID,
                "out is on a different device: cpu, but the result is on null:0");
        REFUSED(tn_add_(host, x), TN_INVALID, "arguments are on different devices");
        CHECK(at(tn_add(x, tn_full(tn_empty_dims(), 2.0)), 0) == 2);
        CHECK(at(tn_add_scalar(x, 2), 1) == 3);
    }
    end(c);
}

static bool doubles(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    *nout = nin;
    *out = tn_mul_scalar(user ? tn_to(in[0], null0) : in[0], 2);
    return *out != NULL;
}
static void what_reads_memory_refuses_a_device(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(2), 1.0, .dtype = TN_F64)),
                  *y = tn_requires_grad(tn_full(TN_DIMS(2), 1.0, .dtype = TN_F64, .device = null0));
        tn_named one = {"x", y};
        REFUSED(tn_gradcheck(doubles, tn_tensors_of(&y, 1), NULL, NULL), TN_UNSUPPORTED,
                "gradcheck: input 0 is on null:0; copy it to the CPU");
        REFUSED(tn_gradcheck(doubles, tn_tensors_of(&x, 1), x, NULL), TN_UNSUPPORTED,
                "gradcheck: output 0 is on null:0; copy it to the CPU");
        REFUSED(tn_gradgradcheck(doubles, tn_tensors_of(&y, 1), NULL, NULL), TN_UNSUPPORTED,
                "is on null:0");
        CHECK(tn_gradcheck(doubles, tn_tensors_of(&x, 1), NULL, NULL));
        REFUSED(tn_safetensors_save("build/device/never", &one, 1), TN_UNSUPPORTED,
                "is not on the CPU");
    }
    end(c);
}

static void a_wrong_index_is_an_error_of_its_line(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, TN_DIMS(4)), *i = tn_to(tn_tensor_of(TN_DIMS(2), 1, 9), null0);
        tn_error_info e;
        const int line = __LINE__ + 1;
        CHECK(!tn_index_select(x, 0, i) && tn_error_take(&e));
        CHECK(e.code == TN_INDEX && e.line == line && strstr(e.message, "9"));
        CHECK(strstr(e.message, "index_select(self=float32 (4) on null:0"));
        CHECK(at(tn_index_select(x, 0, tn_to(tn_tensor_of(TN_DIMS(1), 3), null0)), 0) == 3);
    }
    end(c);
}

static void a_row_without_a_kernel_is_refused_or_falls_back(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(range(bare, TN_DIMS(2, 3))), *y;
        REFUSED(tn_cumsum(x, 1), TN_UNSUPPORTED,
                "cumsum has no kernel on bare:0; copy its arguments to the CPU, or call "
                "tn_device_fallback(true)");
        CHECK(!tn_device_fallback(true));
        y = tn_cumsum(x, 1);
        CHECK(tn_device_of(y) == bare && at(y, 5) == 12);
        CHECK(tn_backward(tn_sum(y)) && tn_device_of(tn_grad_of(x)) == bare);
        CHECK(at(tn_grad_of(x), 0) == 3 && at(tn_grad_of(x), 5) == 1);
        REFUSED(tn_cumsum(tn_detach(x), 1, .out = tn_zeros(TN_DIMS(2, 3), .device = bare)),
                TN_UNSUPPORTED, "does not run on copies");
        CHECK(tn_device_fallback(false));
        REFUSED(tn_cumsum(x, 1), TN_UNSUPPORTED, "has no kernel on bare:0");
    }
    end(c);
}

static void a_broken_device_is_an_error_of_what_waits(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2), .device = null0);
        null_broken = "an illegal address was read";
        REFUSED(tn_device_wait(null0), TN_INTERNAL, "null:0: an illegal address was read");
        REFUSED(tn_item(tn_sum(x)), TN_INTERNAL, "null:0: an illegal address was read");
        null_broken = NULL;
        CHECK(tn_device_wait(null0) && tn_item(tn_sum(x)) == 2);
    }
    end(c);
}

static void memory_of_a_lost_device_is_not_said_to_be_used_up(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(4));
        const int64_t trims = null_trims;
        null_lost = "it fell off the bus";
        REFUSED(tn_zeros(TN_DIMS(30), .device = null0), TN_INTERNAL,
                "a request of 120 bytes on null:0 failed: it fell off the bus");
        REFUSED(tn_pin(x), TN_INTERNAL, "16 bytes on null:0 failed: it fell off the bus");
        CHECK(null_trims == trims);
        null_lost = NULL;
        CHECK(tn_zeros(TN_DIMS(30), .device = null0) && tn_pin(x));
    }
    end(c);
}

/* --- the k-th allocation or copy fails -------------------------------------------------------- */

/* A program of copies, kernels, views, moves and gradients; false at its first error. */
static bool program(double *result) {
    static const float half[] = {0.5f, 0.25f};
    tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(3, 2), 2.0)), *on = tn_to(x, null0), *y, *z,
              *from = NULL, *pinned = tn_pin(tn_full(TN_DIMS(2), 0.5));
    pinned = tn_to(tn_to(pinned, null0, .non_blocking = true), TN_CPU, .non_blocking = true);
    if (!pinned || at(pinned, 1) != 0.5) return false;
    y = tn_matmul(on, tn_t(tn_exp(on)));
    y = tn_contiguous(tn_t(y));
    tn_with_device(null1) from = tn_from_f32(half, TN_DIMS(2));
    if (from) y = tn_add(y, tn_to(tn_sum(from), null0));
    z = tn_sum(tn_mul(tn_to(y, null1), tn_to(tn_full(TN_DIMS(3, 3), 0.5, .dtype = TN_F64), null1)));
    if (!z || !tn_backward(z)) return false;
    *result = at(tn_grad_of(x), 0) + tn_item(z);
    return tn_ok();
}

/* --- the default device ----------------------------------------------------------------------- */

/* Whether calls without a device make all of these there. */
static bool all_are_made(tn_device_id there) {
    const float v[] = {1, 2, 3};
    const tn_tensor *made[] = {
        tn_zeros(TN_DIMS(2)),          tn_ones(TN_DIMS(2, 3)),
        tn_empty(TN_DIMS(0)),          tn_full(TN_DIMS(2), 3),
        tn_full(TN_EMPTY_DIMS, 3),     tn_arange(4),
        tn_linspace(0, 1, 3),          tn_eye(2),
        tn_rand(TN_DIMS(2)),           tn_randn(TN_DIMS(2)),
        tn_randint(5, TN_DIMS(2)),     tn_randperm(3),
        tn_from_f32(v, TN_DIMS(3)),    tnp_from(v, TN_DIMS(3), TN_F32, TN_NO_DEVICE),
        tn_tensor_of(TN_DIMS(2), 1, 2)};
    int right = 0;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) right += tn_device_of(made[i]) == there;
    return right == (int)(sizeof made / sizeof *made) && tn_ok();
}

/* Whether calls that name a device, or have a tensor x of theirs, do not go where the others do. */
static bool others_stay(tn_tensor *x) {
    const tn_device_id at = tn_device_of(x);
    static float memory[2];
    const tn_scalar one = tn_int(1);
    return tn_device_of(tn_zeros(TN_DIMS(2), .device = TN_CPU)) == TN_CPU &&
           tn_device_of(tnp_from(memory, TN_DIMS(2), TN_F32, TN_CPU)) == TN_CPU &&
           tn_device_of(tn_wrap(memory, TN_DIMS(2), TN_F32, NULL)) == TN_CPU &&
           tn_device_of(tn_number_at(NULL, 0, TN_F32, &one)) == TN_CPU &&
           tn_device_of(tn_rand(TN_DIMS(2), .device = null1)) == null1 &&
           tn_device_of(tn_zeros_like(x)) == at && tn_device_of(tn_full_like(x, 2)) == at &&
           tn_device_of(tn_rand_like(x)) == at && tn_device_of(tn_new_ones(x, TN_DIMS(3))) == at &&
           tn_device_of(tn_add(x, x)) == at && tn_device_of(tn_cumsum(x, 0)) == at && tn_ok();
}

static void what_is_made_from_nothing_is_on_the_default_device(void) {
    tn_context *c = begin();
    CHECK(tn_default_device() == TN_CPU);
    TN_SCOPE {
        const tn_device_id places[] = {null0, TN_META, TN_CPU, null1};
        tn_tensor *x = tn_ones(TN_DIMS(2)), *y = tn_ones(TN_DIMS(2), .device = null0);
        for (int i = 0; i < 4; i++) {
            CHECK(all_are_made(TN_CPU));
            CHECK(tn_set_default_device(places[i]) == TN_CPU);
            CHECK(tn_default_device() == places[i] && all_are_made(places[i]));
            CHECK(others_stay(x) && others_stay(y));
            CHECK(tn_set_default_device(TN_CPU) == places[i]);
        }
        tn_with_device(null0) {
            const float v[] = {1, 2, 3};
            CHECK(at(tn_from_f32(v, TN_DIMS(3)), 2) == 3 &&
                  at(tn_tensor_of(TN_DIMS(2), 4, 5), 1) == 5);
            CHECK(at(tn_arange(4), 3) == 3);
            REFUSED(tn_zeros(TN_DIMS(2), .out = x), TN_INVALID,
                    "on a different device: cpu, but the result is on null:0");
        }
    }
    end(c);
}

static tn_tensor *makes_in_a_block(tn_device_id device) {
    tn_with_device(device) return tn_zeros(TN_DIMS(2));
    return NULL;
}

static tn_tensor *leaves_a_device(tn_tensor *g, void *user) {
    (void)user;
    tn_set_default_device(TN_META);
    return g;
}

static void default_devices_nest_and_end_with_their_block(void) {
    tn_context *c = begin();
    tn_with_device(null1) {
        tn_with_device(TN_CPU) { CHECK(tn_default_device() == TN_CPU); }
        CHECK(tn_default_device() == null1);
        TN_SCOPE {
            CHECK(tn_device_of(makes_in_a_block(TN_META)) == TN_META);
        }
        CHECK(tn_set_default_device(TN_NO_DEVICE) == null1 && tn_default_device() == null1);
        REFUSED(tn_set_default_device(77) != null1, TN_INVALID,
                "tn_set_default_device: device number 77 does not exist");
        REFUSED(tnp_from("", TN_DIMS(1), TN_U8, 77) != NULL, TN_UNSUPPORTED,
                "device number 77 does not exist");
        CHECK(tn_default_device() == null1);
        tn_error_set(TN_INVALID, NULL, 0, "waits"); /* a block ends beside an error, too */
    }
    CHECK(tn_error_take(NULL) && tn_default_device() == TN_CPU);
    TN_SCOPE { /* a hook that leaves a device set */
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2)));
        CHECK(tn_hook_add(x, leaves_a_device, NULL, NULL) && tn_backward(tn_sum(x)));
        CHECK(tn_default_device() == TN_CPU);
    }
    tn_set_default_device(null1); /* of this context alone */
    tn_context_use(NULL);
    CHECK(tn_default_device() == TN_CPU);
    tn_context_use(c);
    CHECK(tn_default_device() == null1);
    end(c);
}

static void a_module_is_made_on_the_default_device(void) {
    tn_context *c = begin();
    tn_module *m = NULL, *cpu = NULL;
    tn_with_device(null0) {
        m = tn_nn_linear(3, 4);
        cpu = tn_nn_linear(3, 4, .device = TN_CPU);
    }
    TN_SCOPE {
        CHECK(m && tn_device_of(tn_module_tensor(m, "weight")) == null0);
        CHECK(cpu && tn_device_of(tn_module_tensor(cpu, "bias")) == TN_CPU);
        CHECK(tn_device_of(tn_forward(m, tn_ones(TN_DIMS(2, 3), .device = null0))) == null0);
    }
    tn_module_free(m);
    tn_module_free(cpu);
    end(c);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void memory_that_a_device_keeps_serves_a_call(void) {
    tn_context *c = begin();
    TN_SCOPE {
        const int64_t trims = null_trims;
        tn_tensor *x = tn_zeros(TN_DIMS(100), .device = null0);
        null_kept = 1000;
        CHECK(tn_zeros(TN_DIMS(100), .device = null0) != NULL);
        CHECK(null_trims == trims + 1 && null_kept == 0);
        null_kept = 1000;
        CHECK(tn_device_memory(null0).reserved == tn_device_memory(null0).used + 1000);
        CHECK(tn_memory_trim() >= 1000 && null_kept == 0); /* of devices as well */
        CHECK(x && tn_device_memory(null0).reserved == tn_device_memory(null0).used);
    }
    end(c);
}

static void an_error_of_memory_names_the_largest_tensors(void) {
    tn_context *c = begin();
    TN_SCOPE {
        char line[80];
        tn_error_info e;
        tn_tensor *small = tn_zeros(TN_DIMS(10), .device = null0), *view, *large;
        tn_tensor *other = tn_zeros(TN_DIMS(5000), .device = null1);
        const int at = __LINE__ + 1;
        large = tn_zeros(TN_DIMS(30, 40), .device = null0);
        view = tn_t(large);
        CHECK(small && view && other && tn_device_memory_limit(null0, 6000));
        CHECK(tn_device_memory(null0).limit == 6000);
        CHECK(!tn_add(large, large) && tn_error_take(&e) && e.code == TN_MEMORY);
        CHECK(strstr(e.message, "out of memory on null:0: 4800 bytes were requested with 4864 in "
                                "use, 4864 reserved and a limit of 6000; the largest tensors: "));
        snprintf(line, sizeof line, "4800 bytes made at tests/device/calls.c:%d, ", at);
        CHECK(strstr(e.message, line) && strstr(e.message, "(30, 40)"));
        CHECK(strstr(e.message, "(10)") &&
              !strstr(e.message, "(40, 30)")); /* its memory is large's */
        CHECK(!strstr(e.message, "5000"));     /* on another device */
        CHECK(tn_device_memory_limit(null0, 0) && tn_add(large, large));
    }
    REFUSED(tn_device_memory_limit(null0, -1), TN_INVALID, "expected 0 bytes or more, got -1");
    REFUSED(tn_device_memory_limit(bare, 9), TN_UNSUPPORTED, "bare:0 has no limit of memory");
    REFUSED(tn_device_memory_limit(TN_CPU, 9), TN_UNSUPPORTED, "cpu has no limit of memory");
    REFUSED(tn_device_memory_limit(77, 9), TN_INVALID, "device number 77 does not exist");
    end(c);
}

static void add_bytes(const tn_device_piece *piece, void *sum) {
    if (piece->used) *(int64_t *)sum += piece->bytes;
}

static void a_device_tells_peak_and_pieces(void) {
    tn_context *c = begin();
    int64_t sum = 0;
    TN_SCOPE {
        tn_tensor *x = tn_zeros(TN_DIMS(16), .device = null0), *y;
        tn_device_reset_peak(null0);
        CHECK_EQ(tn_device_memory(null0).peak, 64);
        y = tn_zeros(TN_DIMS(32), .device = null0);
        CHECK_EQ(tn_device_snapshot(null0, add_bytes, &sum), 2);
        CHECK_EQ(sum, 64 + 128);
        tn_free(y);
        CHECK(x && tn_device_memory(null0).used == 64 && tn_device_memory(null0).peak == 192);
        tn_device_reset_peak(null0);
        CHECK_EQ(tn_device_memory(null0).peak, 64);
    }
    CHECK(!tn_device_snapshot(bare, add_bytes, &sum) && !tn_device_snapshot(77, add_bytes, &sum));
    end(c);
}

static void copies_of_pinned_memory_are_not_waited_for(void) {
    tn_context *c = begin();
    TN_SCOPE {
        int64_t later = null_laters;
        tn_tensor *x = tn_reshape(tn_arange(6), TN_DIMS(2, 3)), *p = tn_pin(tn_t(x)), *up, *down;
        CHECK(tn_is_pinned(p) && !tn_is_pinned(x) && tn_is_pinned(tn_t(p)) && null_pinned == 1);
        CHECK(at(p, 1) == 3 && tn_strides(p).at[0] == 1 && tn_size(p, 0) == 3);
        up = tn_to(p, null0, .non_blocking = true);
        CHECK_EQ(null_laters, ++later);
        CHECK(at(tn_to(p, null0), 1) == 3 && null_laters == later); /* it was not asked for */
        CHECK(at(tn_to(x, null0, .non_blocking = true), 1) == 1 && null_laters == later);
        CHECK(at(tn_to(p, bare, .non_blocking = true), 1) == 3 && null_laters == later);
        CHECK(at(tn_to(p, null0, .dtype = TN_F64, .non_blocking = true), 5) == 5);
        CHECK_EQ(null_laters, later); /* a conversion is a copy of its own */
        down = tn_to(up, TN_CPU, .non_blocking = true);
        CHECK_EQ(null_laters, ++later);
        CHECK(tn_device_wait(null0) && tn_is_pinned(down) && at(down, 4) == 2);
        CHECK(!tn_is_pinned(tn_to(up, TN_CPU)) && null_laters == later);
        down = tn_to(tn_zeros(TN_DIMS(2), .device = bare), TN_CPU, .non_blocking = true);
        CHECK(at(down, 1) == 0 && !tn_is_pinned(down)); /* it has no such memory */
        CHECK(tn_numel(tn_pin(tn_zeros(TN_DIMS(0, 3)))) == 0);
        REFUSED(tn_pin(up), TN_INVALID, "tn_pin: expected a tensor of the CPU, got one of null:0");
        REFUSED(tn_pin(NULL), TN_INVALID, "tn_pin: the tensor is NULL");
    }
    CHECK_EQ(null_pinned, 0);
    end(c);
    c = tn_context_new(NULL);
    tn_context_use(c);
    TN_SCOPE
        REFUSED(tn_pin(tn_zeros(TN_DIMS(2))), TN_UNSUPPORTED, "no device with pinned memory");
    end(c);
}

static void any_allocation_or_copy_may_fail(void) {
    tn_context *c = begin();
    double want = 0, got = 0;
    int ran = 0;
    TN_SCOPE
        CHECK(program(&want));
    for (int kind = 0; kind < 2; kind++)
        for (int64_t k = 0, done = 0; !done && k < 1000; k++, ran++) {
            tn_error_info e;
            const int64_t before = null_blocks;
            int64_t *fail = kind ? &null_fail_copy : &null_fail_alloc;
            TN_SCOPE {
                *fail = k;
                done = program(&got);
                *fail = -1;
                if (!done) {
                    CHECK(tn_error_take(&e) && e.code == (kind ? TN_INTERNAL : TN_MEMORY));
                    CHECK(e.file && strstr(e.file, "calls.c") && e.line);
                    CHECK(strstr(e.message, kind ? " null:" : "out of memory on null:"));
                    CHECK(!kind || strstr(e.message, "failed: the bus is on fire"));
                }
            }
            CHECK_EQ(null_blocks, before);
            TN_SCOPE
                CHECK(program(&got) && got == want); /* usable */
        }
    CHECK(ran > 20);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(devices_are_found_by_kind_and_number),
        CHECK_TEST(a_device_says_what_it_is),
        CHECK_TEST(a_wrong_backend_is_refused_and_says_why),
        CHECK_TEST(elements_of_a_device_are_read_by_copies),
        CHECK_TEST(data_move_between_all_devices_in_any_layout),
        CHECK_TEST(data_are_exchanged_between_devices),
        CHECK_TEST(memory_goes_with_the_context),
        CHECK_TEST(gradients_cross_devices),
        CHECK_TEST(devices_that_are_mixed_are_named),
        CHECK_TEST(what_reads_memory_refuses_a_device),
        CHECK_TEST(a_wrong_index_is_an_error_of_its_line),
        CHECK_TEST(a_row_without_a_kernel_is_refused_or_falls_back),
        CHECK_TEST(a_broken_device_is_an_error_of_what_waits),
        CHECK_TEST(memory_of_a_lost_device_is_not_said_to_be_used_up),
        CHECK_TEST(what_is_made_from_nothing_is_on_the_default_device),
        CHECK_TEST(default_devices_nest_and_end_with_their_block),
        CHECK_TEST(a_module_is_made_on_the_default_device),
        CHECK_TEST(memory_that_a_device_keeps_serves_a_call),
        CHECK_TEST(an_error_of_memory_names_the_largest_tensors),
        CHECK_TEST(a_device_tells_peak_and_pieces),
        CHECK_TEST(copies_of_pinned_memory_are_not_waited_for),
        CHECK_TEST(any_allocation_or_copy_may_fail),
    };
    return CHECK_MAIN(tests, argc, argv);
}
