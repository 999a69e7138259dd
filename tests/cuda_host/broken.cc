/* broken.cc - devices that fail, in emulation: what a call or a wait then says. Each test is a
 * process of its own, for a device that broke stays so. */
#include "../../src/api/cuda.h"
#include "../../src/api/device.h"
#include "../../src/api/ops.h"
#include "../refused.h"
#include "alone.h"

#include <stdlib.h>

static tn_device_id cuda;

static void begin() {
    char why[200] = "";
    tn_context_use(tn_context_new(NULL));
    CHECK(tn_backend_add(tn_cuda_backend(why, sizeof why)));
    cuda = tn_device("cuda:0");
    CHECK(tn_device_wait(cuda));
}
static tn_ints dims(int64_t n) {
    static int64_t size;
    size = n;
    return tn_ints_of(&size, 1);
}
static tn_tensor *full(int64_t n, double value) {
    return tnp_full(dims(n), tn_float(value), TN_F32, cuda);
}

/* Memory that the driver does not give since the device is lost is not said to be used up. */
static void a_lost_device_is_no_lack_of_memory() {
    begin();
    tn_tensor *x = full(10, 1), *c = tnp_zeros(dims(4), TN_F32, TN_CPU);
    emu_settings().sticky = true;
    CHECK(x && tn_device_wait(cuda));
    emu_fail_at(1, EMU_LAUNCH);
    tnp_fill_(x, tn_float(2));
    REFUSED(tn_device_wait(cuda), TN_INTERNAL, "cuda:0: unspecified launch failure");
    REFUSED(full(1 << 20, 1), TN_INTERNAL,
            "a request of 4194304 bytes on cuda:0 failed: unspecified launch failure");
    REFUSED(tnp_pin(c), TN_INTERNAL,
            "a request of 16 bytes on cuda:0 failed: unspecified launch failure");
    REFUSED(tnp_nonzero(x), TN_INTERNAL, "the device failed: unspecified launch failure");
}
/* Copies of a lost device are over. */
static void pinned_memory_of_a_lost_device_is_given_back() {
    begin();
    tn_tensor *p = tnp_pin(tnp_zeros(dims(4), TN_F32, TN_CPU)), *y = full(10, 1);
    CHECK(p && y && tnp_to(p, cuda, TN_NO_DTYPE, true, false));
    emu_settings().sticky = true;
    emu_fail_at(1, EMU_LAUNCH);
    tnp_fill_(y, tn_float(2));
    REFUSED(tn_device_wait(cuda), TN_INTERNAL, "cuda:0: unspecified launch failure");
    tn_free(p);
    const long long before = emu_counts().unpinned;
    tn_memory_trim();
    CHECK(emu_counts().unpinned > before);
}
static void no_memory_is_still_told_as_that() {
    begin();
    tn_tensor *x = full(1 << 20, 1);
    CHECK(x && tn_device_memory_limit(cuda, tn_device_memory(cuda).reserved));
    REFUSED(full(1 << 23, 1), TN_MEMORY, "out of memory on cuda:0: 33554432 bytes were requested");
    CHECK(tn_device_memory_limit(cuda, 0) && full(1 << 23, 1));
}

/* What the host has drawn did not come up: the next wait says so. Exact mode. */
static void numbers_that_did_not_come_up_are_told_at_the_next_wait() {
    begin();
    emu_fail_at(1, EMU_COPY);
    CHECK(tnp_rand(dims(5), NULL, TN_F32, cuda) != NULL);
    cudaGetLastError(); /* which another thread would not see */
    REFUSED(tn_device_wait(cuda), TN_INTERNAL, "cuda:0: unknown error");
}
static void a_mask_of_dropout_that_did_not_come_up_is_told_at_the_next_wait() {
    begin();
    tn_tensor *x = full(64, 1);
    CHECK(tn_device_wait(cuda));
    emu_fail_at(1, EMU_COPY);
    CHECK(tnp_dropout(x, 0.5, true) != NULL);
    cudaGetLastError();
    REFUSED(tn_device_wait(cuda), TN_INTERNAL, "cuda:0: unknown error");
}
/* Of the fill and the copy down, whichever fails. */
static void probabilities_that_cannot_be_looked_at_are_refused() {
    begin();
    tn_tensor *x = full(64, 0.5);
    CHECK(tn_device_wait(cuda));
    emu_fail_at(2, EMU_COPY);
    REFUSED(tnp_bernoulli(x, NULL), TN_INTERNAL, "the device failed: unknown error");
}

/* A module without code for a GPU is told so before it launches anything; the CPU stays. */
static void a_module_without_code_for_the_device_says_so() {
    char why[200] = "";
    const int64_t size = 3;
    emu_settings().code = false;
    tn_context_use(tn_context_new(NULL));
    CHECK(tn_backend_add(tn_cuda_backend(why, sizeof why)));
    cuda = tn_device("cuda:0");
    REFUSED(full(3, 1), TN_UNSUPPORTED,
            "cuda:0 cannot be used: the backend was compiled without code for compute capability "
            "9.0");
    CHECK(tnp_zeros(tn_ints_of(&size, 1), TN_F32, TN_CPU) != NULL);
    emu_settings().code = true;
    CHECK(full(3, 1) && tn_device_wait(cuda));
}

static const check_test tests[] = {
    ALONE_TEST(a_lost_device_is_no_lack_of_memory),
    ALONE_TEST(pinned_memory_of_a_lost_device_is_given_back),
    ALONE_TEST(no_memory_is_still_told_as_that),
    ALONE_TEST(numbers_that_did_not_come_up_are_told_at_the_next_wait),
    ALONE_TEST(a_mask_of_dropout_that_did_not_come_up_is_told_at_the_next_wait),
    ALONE_TEST(probabilities_that_cannot_be_looked_at_are_refused),
    ALONE_TEST(a_module_without_code_for_the_device_says_so),
};
int main(int argc, char **argv) {
    (void)argc; /* arguments of other programs of this folder are no names of tests */
    return CHECK_MAIN(tests, 1, argv);
}
