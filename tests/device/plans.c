/* plans.c - plans of memory on devices: the peak of each device is that of the real step, parts
 * name what makes it, workspace of kernels counts, and nothing is computed or taken meanwhile. */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/plan.h"
#include "../../src/api/train.h"
#include "../refused.h"
#include "null.h"

#define MARGIN 5 /* % that a plan may be off */

static tn_device_id null0, null1, bare;

static tn_context *begin(void) {
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_backend_add(tn_null_backend()) && tn_backend_add(tn_bare_backend()));
    null0 = tn_device("null:0");
    null1 = tn_device("null:1");
    bare = tn_device("bare:0");
    tn_manual_seed(1);
    tn_free(tn_zeros(TN_DIMS(1)));
    tn_free(tn_zeros(TN_DIMS(1), .device = null0));
    tn_free(tn_zeros(TN_DIMS(1), .device = null1));
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(null_blocks, 0);
}

/* --- programs: they name devices, and know nothing of a plan ---------------------------------- */

static tn_module *on(tn_device_id device, tn_module *net) {
    CHECK(tn_module_to(net, TN_NO_DTYPE, device));
    return net;
}
static tn_tensor *labels(int64_t n) { return tn_zeros(TN_DIMS(n), .dtype = TN_I64); }

static void one_device(void) {
    tn_module *net =
        on(null0, tn_sequential(tn_nn_linear(256, 512), tn_nn_gelu(), tn_nn_linear(512, 10)));
    tn_optimizer *adam = tn_optim_adam(tn_parameters(net), .lr = 1e-3);
    for (int i = 0; i < 2; i++)
        TN_SCOPE {
            tn_tensor *x = tn_to(tn_randn(TN_DIMS(512, 256)), null0);
            tn_backward(tn_cross_entropy(tn_forward(net, x), tn_to(labels(512), null0)));
            tn_optimizer_step(adam);
            tn_optimizer_zero_grad(adam);
        }
    tn_optimizer_free(adam);
    tn_module_free(net);
}

/* The loss is on the CPU, and so is a part of the backward. */
static void two_devices(void) {
    tn_module *first = on(null0, tn_sequential(tn_nn_conv2d(3, 16, TN_DIMS(3)), tn_nn_relu(),
                                               tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten())),
              *second =
                  on(null1, tn_sequential(tn_nn_linear(16 * 15 * 15, 64), tn_nn_softmax(.dim = 1)));
    tn_optimizer *a = tn_optim_sgd(tn_parameters(first), .lr = 0.1, .momentum = 0.9),
                 *b = tn_optim_adam(tn_parameters(second), .lr = 1e-3);
    for (int i = 0; i < 2; i++)
        TN_SCOPE {
            tn_tensor *x = tn_rand(TN_DIMS(32, 3, 32, 32), .device = null0);
            tn_tensor *h = tn_to(tn_forward(first, x), null1);
            tn_tensor *y = tn_to(tn_forward(second, h), TN_CPU);
            tn_backward(tn_mean(tn_square(y)));
            tn_optimizer_step(a);
            tn_optimizer_step(b);
            tn_optimizer_zero_grad(a);
            tn_optimizer_zero_grad(b);
        }
    tn_optimizer_free(a);
    tn_optimizer_free(b);
    tn_module_free(first);
    tn_module_free(second);
}

/* Workspace of a kernel is what makes the peak. */
static void workspace(void) {
    TN_SCOPE (void) !tn_tril(tn_rand(TN_DIMS(100, 100), .device = null1));
}

static void in_bfloat16(void) {
    const tn_dtype before = tn_set_device_autocast(TN_BF16);
    TN_SCOPE {
        tn_tensor *w = tn_rand(TN_DIMS(200, 300), .device = null0);
        tn_requires_grad(w);
        tn_tensor *x = tn_rand(TN_DIMS(100, 200), .device = null0);
        tn_backward(tn_sum(tn_matmul(x, w)));
    }
    tn_set_device_autocast(before);
}

static void with_images(void) {
    TN_SCOPE {
        tn_tensor *x = tn_rand(TN_DIMS(8, 16, 20, 20), .device = null0);
        x = tn_clone(x, .memory_format = TN_MEMORY_FORMAT_CHANNELS_LAST);
        tn_tensor *w = tn_rand(TN_DIMS(16, 16, 3, 3), .device = null0);
        (void)!tn_max_pool2d(tn_conv2d(x, w), TN_DIMS(2));
    }
}

static void trained_on(tn_device_id device) {
    tn_tensor *field[2] = {tn_ones(TN_DIMS(96, 64), .dtype = TN_F32, .device = TN_CPU),
                           tn_zeros(TN_DIMS(96), .dtype = TN_I64, .device = TN_CPU)};
    tn_dataset *data = tn_dataset_tensors(tn_tensors_of(field, 2));
    tn_loader *loader = tn_loader_new(data, .batch_size = 32, .prefetch = 0);
    tn_module *net =
        on(device, tn_sequential(tn_nn_linear(64, 128), tn_nn_relu(), tn_nn_linear(128, 4)));
    tn_optimizer *adam = tn_optim_adam(tn_parameters(net));
    CHECK(tn_train(net, adam, loader, .epochs = 2, .test = loader, .clip_norm = 1));
    tn_loader_free(loader);
    tn_free(field[0]);
    tn_free(field[1]);
    tn_optimizer_free(adam);
    tn_module_free(net);
}
static void trained(void) { trained_on(null0); }
static void trained_here(void) { trained_on(tn_default_device()); }

/* --- a plan and the real run ------------------------------------------------------------------ */

enum { PLANS = 4 };
typedef struct peaks {
    tn_plan plan[PLANS];
    int32_t n;
} peaks;

static peaks planned(void (*program)(void)) {
    peaks p;
    tn_context *c = begin();
    const int64_t kernels = null_kernels, blocks = null_blocks, copies = null_copies;
    CHECK(tn_plan_begin());
    tn_with_device(TN_META) { program(); }
    p.n = tn_plan_end(p.plan, PLANS);
    CHECK_EQ(null_kernels, kernels);
    CHECK_EQ(null_blocks, blocks);
    CHECK_EQ(null_copies, copies);
    end(c);
    return p;
}
/* Of the CPU, null:0 and null:1. */
static void real_peaks(void (*program)(void), int64_t *peak) {
    tn_context *c = begin();
    const int64_t before = tn_memory().bytes_used;
    tn_memory_reset_peak();
    tn_device_reset_peak(null0);
    tn_device_reset_peak(null1);
    program();
    peak[0] = tn_memory().bytes_peak - before;
    peak[1] = tn_device_memory(null0).peak;
    peak[2] = tn_device_memory(null1).peak;
    end(c);
}
static void compare(const char *name, void (*program)(void)) {
    int64_t real[3];
    const peaks p = planned(program);
    int32_t n = 0;
    real_peaks(program, real);
    for (int k = 0; k < 3; k++) {
        const tn_plan *plan = &p.plan[n];
        const char *device = tn_device_name(plan->device);
        if (k && !real[k]) continue;
        const double off = 100 * ((double)plan->peak - (double)real[k]) / ((double)real[k] + 1);
        int64_t sum = plan->rest;
        for (int i = 0; i < plan->nparts; i++) sum += plan->part[i].bytes;
        printf("    %s on device %d: planned %lld, real %lld: %+.2f %%\n", name, k,
               (long long)plan->peak, (long long)real[k], off);
        (void)device;
        CHECK(n < p.n && off > -MARGIN && off < MARGIN);
        CHECK_EQ(sum, plan->tensor_peak);
        CHECK_EQ(plan->end, 0);
        n++;
    }
    CHECK_EQ(n, p.n);
}

static void a_model_on_one_device_takes_what_its_plan_says(void) {
    compare("one device", one_device);
}
static void a_model_on_two_devices_takes_what_its_plan_says(void) {
    compare("two devices", two_devices);
}
static void workspace_of_kernels_counts(void) { compare("workspace", workspace); }
static void images_take_what_their_plan_says(void) { compare("images", with_images); }
static void autocast_takes_what_its_plan_says(void) { compare("autocast", in_bfloat16); }
static void a_training_takes_what_its_plan_says(void) {
    compare("a training", trained);
    compare("a training on the CPU", trained_here);
}

/* --- what else a plan promises ---------------------------------------------------------------- */

static void parts_are_those_of_their_device(void) {
    tn_context *c = begin();
    tn_plan plan[2];
    CHECK(tn_plan_begin());
    TN_SCOPE {
        tn_tensor *x = tn_rand(TN_DIMS(1000), .device = null1), *y[3];
        int line = __LINE__ + 1;
        for (int i = 0; i < 3; i++) y[i] = tn_exp(x);
        CHECK(y[2] && tn_device_of(y[2]) == null1 && !tn_device_data(y[2]));
        CHECK_EQ(tn_plan_end(plan, 2), 2);
        CHECK(plan[0].device == TN_CPU && plan[0].tensor_peak == 0 && plan[0].nparts == 0);
        CHECK(plan[1].device == null1 && plan[1].peak == 4 * 4032 && plan[1].end == 4 * 4032);
        CHECK(plan[1].nparts == 2 && plan[1].part[0].count == 3 && plan[1].part[0].line == line);
        CHECK_TEXT(plan[1].part[0].what, "exp");
        CHECK_TEXT(plan[1].part[0].shape, "float32 (1000)");
        CHECK_TEXT(plan[1].part[1].what, "rand");
    }
    end(c);
}

static void what_has_no_data_stays_so(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *real = tn_ones(TN_DIMS(3), .device = null0), *x, *y;
        tn_tensor *before = tn_zeros(TN_DIMS(3), .device = null1);
        CHECK(tn_plan_begin());
        x = tn_add(real, tn_zeros(TN_DIMS(3), .device = null0));
        CHECK(!tn_device_data(x) && tn_device_of(tn_to(x, TN_CPU)) == TN_META);
        REFUSED(tn_fill_(real, 2), TN_INVALID, "cannot write a tensor of null:0 that has data");
        REFUSED(tn_copy_(real, tn_zeros(TN_DIMS(3))), TN_INVALID,
                "cannot write a tensor of null:0 that has data");
        REFUSED(tn_copy_(real, before), TN_INVALID, "cannot write a tensor of null:0");
        REFUSED(tn_item(tn_sum(real)), TN_UNSUPPORTED, "tn_item: a meta tensor has no data");
        REFUSED(tn_nonzero(x), TN_UNSUPPORTED, "size depends on data");
        y = tn_ones(TN_DIMS(2, 2), .device = bare);
        REFUSED(tn_matmul(y, y), TN_UNSUPPORTED, "no kernel on bare:0");
        y = tn_ones(TN_DIMS(3), .device = null1);
        REFUSED(tn_add(x, y), TN_INVALID, "different devices, null:0 and null:1");
        CHECK_EQ(tn_plan_end(NULL, 0), 4);
        CHECK_EQ((int64_t)tn_item(tn_sum(real)), 3);
        y = tn_exp(tn_mul(real, x));
        CHECK(y && !tn_device_data(y) && tn_device_of(y) == null0);
        REFUSED(tn_to(y, TN_CPU), TN_UNSUPPORTED, "no data");
        REFUSED(tn_copy_(real, x), TN_UNSUPPORTED, "no data");
        REFUSED(tn_add_(real, x), TN_INVALID, "cannot write a tensor of null:0");
        CHECK(tn_device_data(tn_ones(TN_DIMS(3), .device = null0)));
    }
    end(c);
}

/* Rprop's state begins with the rate, of which a plan knows nothing. */
static void a_rate_in_a_tensor_is_planned(void) {
    tn_context *c = begin();
    CHECK(tn_plan_begin());
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(3), .device = null0));
        tn_optimizer *o = tn_optim_rprop(tn_tensors_of(&w, 1), .capturable = true);
        tn_schedule *s = tn_optim_step_lr(o, 1, 0.5);
        CHECK(tn_optimizer_set_rate(o, 0, tn_ones(TN_DIMS(), .device = null0)));
        for (int i = 0; i < 2; i++) {
            CHECK(tn_set_grad(w, tn_ones_like(w)) && tn_optimizer_step(o));
            CHECK(tn_schedule_step(s));
        }
        tn_named_free(tn_optimizer_state_dict(o));
        tn_schedule_free(s);
        tn_optimizer_free(o);
    }
    CHECK_EQ(tn_plan_end(NULL, 0), 2);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_model_on_one_device_takes_what_its_plan_says),
        CHECK_TEST(a_model_on_two_devices_takes_what_its_plan_says),
        CHECK_TEST(workspace_of_kernels_counts),
        CHECK_TEST(images_take_what_their_plan_says),
        CHECK_TEST(autocast_takes_what_its_plan_says),
        CHECK_TEST(a_training_takes_what_its_plan_says),
        CHECK_TEST(parts_are_those_of_their_device),
        CHECK_TEST(what_has_no_data_stays_so),
        CHECK_TEST(a_rate_in_a_tensor_is_planned),
    };
    return CHECK_MAIN(tests, argc, argv);
}
