/* ranks.cc - two ranks with a device each: the calls that src/cuda/nccl.cu makes, on its stand-in
 * for NCCL; what it refuses; ranks that differ. */
#include "../../src/api/cuda.h"
#include "../../src/api/group.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "emulation.h"

static tn_device_id cuda[2];

static bool failed_with(tn_code code, const char *part) {
    tn_error_info e;
    bool right;
    if (!tn_error_take(&e)) return printf("no error: %s\n", part), false;
    right = e.code == code && strstr(e.message, part);
    if (!right) printf("    \"%s\" (%s)\n", e.message, tn_code_name(e.code));
    return right;
}
static tn_tensor *row(tn_device_id device, double a, double b, tn_dtype dtype = TN_F32) {
    const double at[2] = {a, b};
    const int64_t n = 2;
    return tnp_to(tnp_from(at, tn_ints_of(&n, 1), TN_F64, TN_CPU), device, dtype, false, false);
}
static tn_tensor *none(tn_device_id device, int64_t n) {
    return tnp_zeros(tn_ints_of(&n, 1), TN_F32, device);
}
static bool holds(tn_tensor *t, double a, double b) {
    double at[2];
    return tnp_read_f64(tnp_to_dtype(t, TN_F64, false, false), at, 2) && at[0] == a && at[1] == b;
}

static bool calls(int32_t r, void *user) {
    const tn_device_id d = cuda[r];
    tn_tensor *x = row(d, r, 10 * r), *all = none(d, 4), *part = none(d, 1), *y = none(d, 2);
    CHECK(tnp_distributed_all_reduce(x, TN_REDUCE_OP_SUM) && holds(x, 1, 10));
    x = row(d, r + 1, 3, TN_I64);
    CHECK(tnp_distributed_all_reduce(x, TN_REDUCE_OP_PRODUCT) && holds(x, 2, 9));
    x = row(d, r, -r, TN_F64);
    CHECK(tnp_distributed_all_reduce(x, TN_REDUCE_OP_AVG) && holds(x, 0.5, -0.5));
    x = row(d, r, -r);
    CHECK(tnp_distributed_reduce(x, 1, TN_REDUCE_OP_MAX) && holds(x, r, r ? 0 : 0));
    x = row(d, r, 5 + r);
    CHECK(tnp_distributed_broadcast(x, 1) && holds(x, 1, 6));
    x = row(d, r, 5 + r);
    CHECK(tnp_distributed_all_gather(all, x) && tnp_distributed_barrier());
    CHECK(holds(tnp_narrow(all, 0, 0, 2), 0, 5) && holds(tnp_narrow(all, 0, 2, 2), 1, 6));
    CHECK(tnp_distributed_reduce_scatter(part, x, TN_REDUCE_OP_SUM));
    CHECK(tn_item(part) == (r ? 11 : 1));
    CHECK(tnp_distributed_all_to_all(y, x) && holds(y, r ? 5 : 0, r ? 6 : 1));
    (void)user;
    return tn_ok();
}
static void two_devices_exchange_what_the_cpu_would() {
    CHECK(tn_group_spawn(2, calls, NULL) && !tn_error_print());
}

static bool refuses(int32_t r, void *user) {
    const tn_device_id d = cuda[r];
    const int64_t two = 2, three = 3, square[2] = {2, 2};
    tn_tensor *bits = tnp_zeros(tn_ints_of(&two, 1), TN_I32, d),
              *bad = tnp_zeros(tn_ints_of(r ? &three : &two, 1), TN_F32, d),
              *gaps = tnp_transpose(tnp_reshape(none(d, 4), tn_ints_of(square, 2)), 0, 1);
    CHECK(!tnp_distributed_all_reduce(bits, TN_REDUCE_OP_BOR) &&
          failed_with(TN_UNSUPPORTED, "NCCL has no such reduction of int32"));
    CHECK(!tnp_distributed_all_reduce(bad, TN_REDUCE_OP_SUM) &&
          failed_with(TN_INVALID, "rank 1 calls all_reduce(op=sum) of float32 (3)"));
    CHECK(!tnp_distributed_all_reduce(gaps, TN_REDUCE_OP_SUM) &&
          failed_with(TN_UNSUPPORTED, "must be contiguous"));
    (void)user;
    CHECK(tnp_distributed_all_reduce(bits, TN_REDUCE_OP_MAX));
    return tn_ok();
}
static void what_nccl_cannot_is_an_error_of_all_ranks() {
    CHECK(tn_group_spawn(2, refuses, NULL) && !tn_error_print());
}

static bool shares(int32_t r, void *user) {
    tn_tensor *x = row(cuda[0], r, r);
    CHECK(!tnp_distributed_all_reduce(x, TN_REDUCE_OP_SUM) &&
          failed_with(TN_UNSUPPORTED, "ranks 0 and 1 use the same device"));
    (void)user;
    return true;
}
static void a_device_has_one_rank() { CHECK(tn_group_spawn(2, shares, NULL) && !tn_error_print()); }

static void one_rank_needs_no_library() {
    tn_tensor *x = row(cuda[0], 3, 4), *y = none(cuda[0], 2);
    CHECK(tnp_distributed_all_reduce(x, TN_REDUCE_OP_SUM) && holds(x, 3, 4));
    CHECK(tnp_distributed_all_gather(y, x) && holds(y, 3, 4));
    CHECK(!tn_error_print());
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(two_devices_exchange_what_the_cpu_would),
        CHECK_TEST(what_nccl_cannot_is_an_error_of_all_ranks),
        CHECK_TEST(a_device_has_one_rank),
        CHECK_TEST(one_rank_needs_no_library),
    };
    char why[200] = "";
    (void)argc, (void)argv;
    setenv("EMU_DEVICES", "2", 1);
    setenv("TN_CUDA_EXACT", "0", 1); /* sums of floats go to NCCL */
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda[0] = tn_device("cuda:0");
    cuda[1] = tn_device("cuda:1");
    return CHECK_MAIN(tests, 1, NULL);
}
