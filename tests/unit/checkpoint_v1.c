/* checkpoint_v1.c - a checkpoint of version 1, committed as the library wrote it, loads for ever:
 * exact values, and the next training step has the bits that the unbroken run had.
 *
 * `checkpoint_v1 write FILE` made the file, which never changes. `checkpoint_v1 numbers` prints
 * what is below from it: the second part follows the kernels, should their rounding ever change. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

static const char path[] = "tests/unit/data/checkpoint-1.safetensors";

typedef struct run {
    tn_module *model;
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_named_number number[2];
    tn_state state;
} run;

static void run_begin(run *r, uint64_t seed) {
    memset(r, 0, sizeof *r);
    tn_manual_seed(seed);
    r->model = tn_sequential(tn_nn_linear(3, 4), tn_nn_batch_norm1d(4), tn_nn_tanh(),
                             tn_nn_dropout(.p = 0.5), tn_nn_linear(4, 2));
    r->optimizer = tn_optim_adam(tn_parameters(r->model), .lr = 0.0625);
    r->schedule = tn_optim_step_lr(r->optimizer, 2, 0.5);
    r->number[0].name = "epoch", r->number[0].value = -1;
    r->number[1].name = "best", r->number[1].value = -1;
    r->state.model = r->model, r->state.optimizer = r->optimizer, r->state.schedule = r->schedule;
    r->state.generator = tn_default_generator();
    r->state.numbers = r->number, r->state.nnumbers = 2;
}
static void run_end(run *r) {
    tn_schedule_free(r->schedule);
    tn_optimizer_free(r->optimizer);
    tn_module_free(r->model);
}
static void run_step(run *r) {
    static const float x[] = {1, 2, 3, 0.5f, -1, 2, -1, -2, -3, 0.25f, 0.125f, 4};
    static const int64_t y[] = {0, 1, 1, 0};
    TN_SCOPE {
        tn_tensor *guess = tn_forward(r->model, tn_from(x, TN_DIMS(4, 3), TN_F32));
        tn_optimizer_zero_grad(r->optimizer);
        tn_backward(tn_cross_entropy(guess, tn_from(y, TN_DIMS(4), TN_I64)));
        tn_optimizer_step(r->optimizer);
        tn_schedule_step(r->schedule);
    }
}

static uint32_t bits_of(const tn_tensor *t, int64_t i) {
    uint32_t bits = 0;
    if (t && tn_data(t) && i < tn_numel(t))
        memcpy(&bits, (const float *)tn_data(t) + i, sizeof bits);
    return bits;
}
/* FNV-1a of names, dtypes and bytes, in order. */
static uint64_t hash_list(tn_named_list list) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < list.n; i++) {
        const tn_tensor *t = list.at[i].tensor;
        const uint8_t *at = (const uint8_t *)tn_data(t);
        int64_t n = tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t));
        for (const char *c = list.at[i].name; *c; c++) h = (h ^ (uint8_t)*c) * 0x100000001b3u;
        h = (h ^ (uint8_t)tn_ndim(t)) * 0x100000001b3u;
        for (int64_t k = 0; k < n; k++) h = (h ^ at[k]) * 0x100000001b3u;
    }
    return h;
}
static uint64_t hash_model(run *r) {
    tn_named_list list = tn_module_state_dict(r->model);
    uint64_t h = hash_list(list);
    tn_named_free(list);
    return h;
}
static uint64_t hash_optimizer(run *r) {
    tn_named_list list = tn_optimizer_state_dict(r->optimizer);
    uint64_t h = hash_list(list);
    tn_named_free(list);
    return h;
}
static uint64_t hash_generator(void) {
    uint8_t state[TN_GENERATOR_BYTES];
    uint64_t h = 0xcbf29ce484222325u;
    tn_generator_state(tn_default_generator(), state);
    for (int k = 0; k < TN_GENERATOR_BYTES; k++) h = (h ^ state[k]) * 0x100000001b3u;
    return h;
}

/* What the file holds (0) and what is there after one more step (1). */
typedef struct moment {
    uint32_t weight[12]; /* of the first layer, bits of float32 */
    uint64_t model, optimizer, generator;
    double lr;
} moment;
static const moment moments[2] = {
    {{0xbef570eeu, 0xbe277610u, 0x3ed635fcu, 0xbec11c52u, 0x3e772d62u, 0x3e6105b2u, 0x3dcc086bu,
      0xbedbaf2cu, 0x3dac82dau, 0x3ed62708u, 0xbe05071eu, 0x3ee72724u},
     0x940af4d3caf628a3u,
     0x17be99a00f0a8b3cu,
     0x3e71d191bd4a8726u,
     0.03125},
    {{0xbefcc44fu, 0xbe3ef8c7u, 0x3ecc1b2du, 0xbec9ddc6u, 0x3e83f43fu, 0x3e4eb501u, 0x3db3f6b1u,
      0xbee2a860u, 0x3d919ac1u, 0x3ed0e475u, 0xbdd438aau, 0x3ef16603u},
     0x0062af6d3500b46au,
     0x1c6e864011a9d27du,
     0xef92d77d60858c26u,
     0.015625},
};

static moment moment_of(run *r) {
    tn_named_list list = tn_module_state_dict(r->model);
    moment m;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 12; i++) m.weight[i] = bits_of(tn_named_find(list, "0.weight"), i);
    tn_named_free(list);
    m.model = hash_model(r), m.optimizer = hash_optimizer(r), m.generator = hash_generator();
    m.lr = tn_optimizer_get(r->optimizer, 0, "lr");
    return m;
}
static void check_moment(run *r, const moment *wanted) {
    moment m = moment_of(r);
    for (int i = 0; i < 12; i++) CHECK_EQ(m.weight[i], wanted->weight[i]);
    CHECK_EQ(m.model, wanted->model);
    CHECK_EQ(m.optimizer, wanted->optimizer);
    CHECK_EQ(m.generator, wanted->generator);
    CHECK(m.lr == wanted->lr);
}

static void version_1_loads_with_exact_values(void) {
    run r;
    run_begin(&r, 99);
    CHECK(tn_checkpoint_load(path, &r.state));
    check_moment(&r, &moments[0]);
    CHECK(r.number[0].value == 3 && r.number[1].value == 0.1);
    run_end(&r);
    CHECK(!tn_error_print());
}
static void training_goes_on_from_it_with_the_same_bits(void) {
    run r;
    run_begin(&r, 99);
    CHECK(tn_checkpoint_load(path, &r.state));
    run_step(&r);
    check_moment(&r, &moments[1]);
    run_end(&r);
    CHECK(!tn_error_print());
}
/* The names are the format's, docs/formats.md. */
static void version_1_has_the_documented_names(void) {
    static const struct {
        const char *name;
        tn_dtype dtype;
        int64_t numel;
    } wanted[] = {
        {"model.0.weight", TN_F32, 12},
        {"model.1.running_mean", TN_F32, 4},
        {"model.1.num_batches_tracked", TN_I64, 1},
        {"model.4.bias", TN_F32, 2},
        {"optimizer.state.0.exp_avg", TN_F32, 12},
        {"optimizer.state.0.exp_avg_sq", TN_F32, 12},
        {"optimizer.state.5.step", TN_F32, 1},
        {"optimizer.group.0.lr", TN_F64, 1},
        {"schedule.count", TN_I64, 1},
        {"schedule.initial", TN_F64, 1},
        {"rng.cpu", TN_U8, TN_GENERATOR_BYTES},
        {"train.epoch", TN_F64, 1},
        {"train.best", TN_F64, 1},
    };
    tn_named_list list = tn_safetensors_load(path);
    tn_safetensors *f = tn_safetensors_open(path);
    CHECK_TEXT(tn_safetensors_note(f, "format"), "tensor.h checkpoint");
    CHECK_TEXT(tn_safetensors_note(f, "version"), "1");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const tn_tensor *t = tn_named_find(list, wanted[i].name);
        if (!CHECK(t && tn_dtype_of(t) == wanted[i].dtype && tn_numel(t) == wanted[i].numel))
            printf("    %s\n", wanted[i].name);
    }
    tn_safetensors_close(f);
    tn_named_free(list);
    CHECK(!tn_error_print());
}

/* --- how file and numbers were made ----------------------------------------------------------- */

static void write_file(run *r, const char *to) {
    for (int i = 0; i < 3; i++) run_step(r);
    r->number[0].value = 3, r->number[1].value = 0.1;
    tn_checkpoint_save(to, &r->state);
}
static void print_moment(run *r) {
    moment m = moment_of(r);
    for (int i = 0; i < 12; i++) printf("0x%08xu, ", (unsigned)m.weight[i]);
    printf("\n0x%016llxu, 0x%016llxu, 0x%016llxu, %.17g\n", (unsigned long long)m.model,
           (unsigned long long)m.optimizer, (unsigned long long)m.generator, m.lr);
}
static int make(const char *to) {
    run r;
    run_begin(&r, 11);
    if (to)
        write_file(&r, to);
    else
        tn_checkpoint_load(path, &r.state);
    print_moment(&r);
    run_step(&r);
    print_moment(&r);
    run_end(&r);
    return tn_error_print();
}

static const check_test tests[] = {
    CHECK_TEST(version_1_loads_with_exact_values),
    CHECK_TEST(training_goes_on_from_it_with_the_same_bits),
    CHECK_TEST(version_1_has_the_documented_names),
};
int main(int argc, char **argv) {
    int failed;
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        failed = make(argv[2]);
    else if (argc == 2 && strcmp(argv[1], "numbers") == 0)
        failed = make(NULL);
    else
        failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
