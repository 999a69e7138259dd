/* nn_torch.c - modules against torch: state dict, the weights that a seed gives, outputs, printed
 * text; initial values; optimizers, schedules, clipping, and the order in which data are loaded.
 * Values: tests/oracle/nn.py. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "../oracle/nn_values.inc"

#include <math.h>

static bool close_to(double a, double b, double rtol, double atol) {
    return a == b || fabs(a - b) <= atol + rtol * fabs(b);
}
/* Compares count numbers of t with expected ones; tells the first that differs. */
static bool same_numbers(const char *name, const tn_tensor *t, const double *expected, double rtol,
                         double atol) {
    static double got[4096];
    int64_t n = tn_numel(t);
    if (!t || n > 4096 || !tn_read_f64(t, got, n)) return false;
    for (int64_t i = 0; i < n; i++)
        if (!close_to(got[i], expected[i], rtol, atol)) {
            printf("    %s: element %d is %.9g, torch gives %.9g\n", name, (int)i, got[i],
                   expected[i]);
            return false;
        }
    return true;
}

/* The inputs of tests/oracle/nn.py. */
static tn_tensor *values(tn_ints shape, int start) {
    static float data[1024];
    int64_t n = 1;
    for (int64_t i = 0; i < shape.n; i++) n *= shape.at[i];
    for (int64_t i = 0; i < n; i++) data[i] = (float)sin(0.7 * (double)(i + start) + 0.3);
    return tn_from(data, shape, TN_F32);
}
static tn_tensor *classes(tn_ints shape, int64_t limit) {
    static int64_t data[64];
    int64_t n = 1;
    for (int64_t i = 0; i < shape.n; i++) n *= shape.at[i];
    for (int64_t i = 0; i < n; i++) data[i] = (7 * i + 3) % limit;
    return tn_from(data, shape, TN_I64);
}
#define VALUES(...) values(TN_DIMS(__VA_ARGS__), 0)
#define MORE(start, ...) values(TN_DIMS(__VA_ARGS__), start)

static tn_module *make(const char *name) {
#define IS(text) (strcmp(name, text) == 0)
    if (IS("linear")) return tn_nn_linear(5, 4);
    if (IS("conv2d"))
        return tn_nn_conv2d(4, 6, TN_DIMS(3, 2), .stride = TN_DIMS(2), .padding = TN_DIMS(1, 0),
                            .groups = 2);
    if (IS("batch_norm2d")) return tn_nn_batch_norm2d(3);
    if (IS("batch_norm1d")) return tn_nn_batch_norm1d(3, .momentum = TN_NO_FLOAT);
    if (IS("layer_norm")) return tn_nn_layer_norm(TN_DIMS(3, 4));
    if (IS("embedding")) return tn_nn_embedding(9, 3, .padding_idx = 2);
    if (IS("lstm")) return tn_nn_lstm(3, 4, .num_layers = 2, .bidirectional = true);
    if (IS("lstm_first")) return tn_nn_lstm(3, 4, .batch_first = true);
    if (IS("attention")) return tn_nn_multihead_attention(6, 2);
    if (IS("sequential"))
        return tn_sequential(tn_nn_linear(4, 8), tn_nn_relu(),
                             tn_sequential(tn_nn_linear(8, 8), tn_nn_gelu()), tn_nn_linear(8, 2));
    if (IS("max_pool2d")) return tn_nn_max_pool2d(TN_DIMS(2));
    if (IS("avg_pool2d"))
        return tn_nn_avg_pool2d(TN_DIMS(3), .stride = TN_DIMS(2), .padding = TN_DIMS(1));
    if (IS("adaptive_avg_pool2d")) return tn_nn_adaptive_avg_pool2d(TN_DIMS(3, 2));
    if (IS("leaky_relu")) return tn_nn_leaky_relu(.negative_slope = 0.2);
    if (IS("silu")) return tn_nn_silu();
    if (IS("softplus")) return tn_nn_softplus();
    if (IS("softmax")) return tn_nn_softmax(.dim = 1);
    if (IS("log_softmax")) return tn_nn_log_softmax(.dim = 1);
    if (IS("cross_entropy_loss")) return tn_nn_cross_entropy_loss(.label_smoothing = 0.1);
    if (IS("mse_loss")) return tn_nn_mse_loss();
    if (IS("l1_loss")) return tn_nn_l1_loss(.reduction = TN_REDUCTION_SUM);
    if (IS("bce_with_logits_loss")) return tn_nn_bce_with_logits_loss();
    return NULL;
}

/* The output; several results one after the other in more[]. */
static tn_tensor *call(const char *name, tn_module *m, tn_tensor *more[3]) {
    more[0] = more[1] = more[2] = NULL;
    if (IS("linear")) return tn_forward(m, VALUES(3, 5));
    if (IS("conv2d")) return tn_forward(m, VALUES(2, 4, 7, 6));
    if (IS("batch_norm2d")) return tn_forward(m, VALUES(2, 3, 4, 2));
    if (IS("batch_norm1d")) return tn_forward(m, VALUES(4, 3));
    if (IS("layer_norm")) return tn_forward(m, VALUES(2, 3, 4));
    if (IS("embedding")) return tn_forward(m, classes(TN_DIMS(2, 4), 9));
    if (IS("lstm")) {
        tn_output_h_n_c_n r = tn_nn_lstm_forward(m, VALUES(5, 2, 3));
        more[0] = r.h_n, more[1] = r.c_n;
        return r.output;
    }
    if (IS("lstm_first")) {
        tn_tensor *h = MORE(100, 1, 2, 4), *c = MORE(200, 1, 2, 4);
        tn_output_h_n_c_n r = tn_nn_lstm_forward(m, VALUES(2, 5, 3), .h = h, .c = c);
        more[0] = r.h_n, more[1] = r.c_n;
        return r.output;
    }
    if (IS("attention")) {
        tn_tensor *k = MORE(50, 4, 2, 6), *v = MORE(90, 4, 2, 6);
        tn_attn_output_attn_output_weights r =
            tn_nn_multihead_attention_forward(m, VALUES(3, 2, 6), k, v);
        more[0] = r.attn_output_weights;
        return r.attn_output;
    }
    if (IS("sequential")) return tn_forward(m, VALUES(3, 4));
    if (IS("max_pool2d")) return tn_forward(m, VALUES(1, 2, 4, 6));
    if (IS("avg_pool2d")) return tn_forward(m, VALUES(1, 2, 5, 5));
    if (IS("adaptive_avg_pool2d")) return tn_forward(m, VALUES(1, 2, 5, 7));
    if (IS("cross_entropy_loss"))
        return tn_nn_cross_entropy_loss_forward(m, VALUES(4, 5), classes(TN_DIMS(4), 5));
    if (IS("mse_loss")) return tn_nn_mse_loss_forward(m, VALUES(2, 3), MORE(7, 2, 3));
    if (IS("l1_loss")) return tn_nn_l1_loss_forward(m, VALUES(2, 3), MORE(7, 2, 3));
    if (IS("bce_with_logits_loss"))
        return tn_nn_bce_with_logits_loss_forward(m, VALUES(2, 3), tnp_abs(MORE(7, 2, 3)));
    return tn_forward(m, VALUES(2, 3));
#undef IS
}

/* "weight(4,5);bias(4,)" */
static const char *keys(tn_named_list list) {
    static char text[1000];
    size_t at = 0;
    text[0] = 0;
    for (int64_t i = 0; i < list.n; i++) {
        tn_ints shape = tn_shape(list.at[i].tensor);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s(", i ? ";" : "", list.at[i].name);
        for (int64_t k = 0; k < shape.n; k++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", k ? "," : "",
                                   (int)shape.at[k]);
        at += (size_t)snprintf(text + at, sizeof text - at, shape.n == 1 ? ",)" : ")");
    }
    return text;
}

static void modules_are_torchs(void) {
    for (size_t i = 0; i < sizeof oracle_modules / sizeof *oracle_modules; i++) {
        const oracle_module *o = &oracle_modules[i];
        tn_module *m;
        tn_named_list state;
        int64_t mark = tn_scope_begin();
        const double *expected = o->init;
        char *text;
        tn_tensor *y, *more[3];
        bool ok;
        tn_manual_seed(1234);
        m = make(o->name);
        ok = CHECK(m != NULL);
        state = tn_module_state_dict(m);
        ok = ok && CHECK_TEXT(keys(state), o->keys);
        for (int64_t k = 0; ok && k < state.n; k++) {
            /* draws from a uniform distribution are torch's bits; normal ones pass through own log
             * and cos */
            double rtol = strcmp(o->name, "embedding") == 0 ? 4e-7 : 0;
            ok = CHECK(same_numbers(state.at[k].name, state.at[k].tensor, expected, rtol, 0));
            expected += tn_numel(state.at[k].tensor);
        }
        ok = ok &&
             CHECK_EQ(tn_item_int(tnp_randint(1 << 30, TN_DIMS(1), NULL, TN_I64, TN_NO_DEVICE)),
                      o->after);
        text = m ? tn_module_text(m) : NULL;
        ok = CHECK_TEXT(text, o->text) && ok;
        if (text) tn_alloc_free(text, strlen(text) + 1);
        y = m ? call(o->name, m, more) : NULL;
        ok = CHECK(y != NULL) && ok;
        expected = o->output;
        if (y) ok = CHECK(same_numbers(o->name, y, expected, 3e-6, 3e-7)) && ok;
        for (int k = 0; y && k < 3 && more[k]; k++) {
            expected += tn_numel(k ? more[k - 1] : y);
            ok = CHECK(same_numbers(o->name, more[k], expected, 3e-6, 3e-7)) && ok;
        }
        if (!ok) printf("    module %s\n", o->name);
        tn_named_free(state);
        tn_module_free(m);
        tn_scope_end(mark);
        tn_error_print();
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void initial_values_are_torchs(void) {
    TN_SCOPE {
        tn_tensor *t = tn_requires_grad(tn_zeros(TN_DIMS(3, 4, 2)));
        tn_manual_seed(9), tn_nn_init_xavier_uniform_(t, 1.5);
        CHECK(same_numbers("xavier_uniform", t, fill_xavier_uniform, 0, 0));
        tn_manual_seed(9), tn_nn_init_xavier_normal_(t, 1);
        CHECK(same_numbers("xavier_normal", t, fill_xavier_normal, 4e-7, 1e-9));
        tn_manual_seed(9), tn_nn_init_kaiming_uniform_(t, 0, TN_FAN_IN, TN_INIT_RELU);
        CHECK(same_numbers("kaiming_uniform", t, fill_kaiming_uniform, 0, 0));
        tn_manual_seed(9), tn_nn_init_kaiming_normal_(t, 0.2, TN_FAN_OUT, TN_INIT_LEAKY_RELU);
        CHECK(same_numbers("kaiming_normal", t, fill_kaiming_normal, 4e-7, 1e-9));
        tn_manual_seed(9), tn_nn_init_uniform_(t, -2, 3);
        CHECK(same_numbers("uniform", t, fill_uniform, 0, 0));
        tn_manual_seed(9), tn_nn_init_normal_(t, 1, 0.5);
        CHECK(same_numbers("normal", t, fill_normal, 4e-7, 1e-7));
        CHECK(tn_needs_grad(t) && tn_is_leaf(t));
        CHECK(!tn_nn_init_xavier_normal_(tn_zeros(TN_DIMS(3)), 1) && tn_error_take(NULL));
        CHECK(!tn_nn_init_normal_(NULL, 0, 1) && tn_ok());
    }
}

/* --- optimizers ------------------------------------------------------------------------------- */

static tn_tensor *parameter(tn_ints shape, int start) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tnp_to_dtype(values(shape, start), TN_F64, false, false);
    t = tn_hold(tn_requires_grad(t));
    tn_scope_end(mark);
    return t;
}

static void set_gradient(tn_tensor *p, int step) {
    double data[8];
    TN_SCOPE {
        for (int i = 0; i < 8; i++) data[i] = cos((double)(i + step));
        tn_set_grad(p, tn_from(data, tn_shape(p), TN_F64));
    }
}

static tn_optimizer *optimizer(int which, tn_tensors params) {
    switch (which) {
    case 0: return tn_optim_sgd(params, .lr = 0.1);
    case 1:
        return tn_optim_sgd(params, .lr = 0.1, .momentum = 0.9, .dampening = 0.2,
                            .weight_decay = 0.01);
    case 2:
        return tn_optim_sgd(params, .lr = 0.05, .momentum = 0.8, .nesterov = true,
                            .maximize = true);
    case 3: return tn_optim_adam(params, .lr = 0.02, .weight_decay = 0.1);
    case 4:
        return tn_optim_adam(params, .lr = 0.02, .betas = TN_FLOATS(0.8, 0.95), .amsgrad = true);
    default: return tn_optim_adamw(params, .lr = 0.02, .eps = 1e-6, .weight_decay = 0.05);
    }
}

static void optimizers_are_torchs(void) {
    static const double *const after[] = {after_sgd,  after_sgd_momentum, after_sgd_nesterov,
                                          after_adam, after_adam_amsgrad, after_adamw};
    for (int which = 0; which < 6; which++)
        for (int resumed = 0; resumed < 2;
             resumed++) { /* once as it is, once through its state dict */
            tn_tensor *p[2];
            tn_optimizer *o;
            p[0] = parameter(TN_DIMS(2, 3), 0), p[1] = parameter(TN_DIMS(4), 30);
            o = optimizer(which, tn_tensors_of(p, 2));
            for (int step = 0; step < 6; step++) {
                set_gradient(p[0], step);
                set_gradient(p[1], step + 3);
                CHECK(tn_optimizer_step(o));
                if (resumed && step == 2) {
                    tn_named_list state = tn_optimizer_state_dict(o);
                    tn_optimizer *other = optimizer(which, tn_tensors_of(p, 2));
                    CHECK(state.n > 0 && tn_optimizer_load(other, state.at, state.n));
                    tn_named_free(state);
                    tn_optimizer_free(o);
                    o = other;
                }
            }
            if (!CHECK(same_numbers("first", p[0], after[which], 1e-14, 1e-15)) ||
                !CHECK(same_numbers("second", p[1], after[which] + 6, 1e-14, 1e-15)))
                printf("    optimizer %d, resumed %d\n", which, resumed);
            tn_optimizer_free(o);
            tn_free(p[0]);
            tn_free(p[1]);
            tn_error_print();
        }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void schedules_are_torchs(void) {
    for (int which = 0; which < 2; which++) {
        tn_tensor *p = parameter(TN_DIMS(1), 0);
        tn_optimizer *o = tn_optim_sgd(tn_tensors_of(&p, 1), .lr = 0.3);
        tn_schedule *s = which ? tn_optim_cosine_lr(o, 4, 0.01) : tn_optim_step_lr(o, 3, 0.5);
        for (int step = 0; step < (which ? 14 : 11); step++) {
            CHECK(close_to(tn_optimizer_get(o, 0, "lr"),
                           which ? rates_cosine[step] : rates_step[step], 1e-15, 0));
            CHECK(tn_schedule_step(s));
        }
        tn_schedule_free(s);
        tn_optimizer_free(o);
        tn_free(p);
    }
}

/* torch computes what follows in Python, where each product is rounded. */
static double product(double a, double b) {
    volatile double rounded = a * b;
    return rounded;
}
static double decayed(double lr, double decay) {
    double one = 1;
    tn_tensor *p = tn_requires_grad(tn_from(&one, TN_DIMS(1), TN_F64));
    tn_optimizer *o = tn_optim_adamw(tn_tensors_of(&p, 1), .lr = lr, .weight_decay = decay);
    tn_set_grad(p, tn_zeros(TN_DIMS(1), .dtype = TN_F64));
    CHECK(tn_optimizer_step(o));
    tn_optimizer_free(o);
    return tn_item(p);
}
static void schedule_once_more(int t_max, double lr, double least) {
    const double pi = 3.14159265358979323846;
    tn_tensor *p = parameter(TN_DIMS(1), 0);
    tn_optimizer *o = tn_optim_sgd(tn_tensors_of(&p, 1), .lr = lr);
    tn_schedule *s = tn_optim_cosine_lr(o, t_max, least);
    double expected = lr;
    for (int n = 1; n < 4 * t_max; n++) {
        double by = (1 + cos(pi * n / t_max)) / (1 + cos(pi * (n - 1) / t_max));
        if ((n - 1 - t_max) % (2 * t_max))
            expected = product(by, expected - least) + least;
        else
            expected += product(lr - least, 1 - cos(pi / t_max)) / 2;
        if (!CHECK(tn_schedule_step(s)) || !CHECK(tn_optimizer_get(o, 0, "lr") == expected))
            printf("    t_max %d, lr %g, least %g: step %d\n", t_max, lr, least, n);
    }
    tn_schedule_free(s);
    tn_optimizer_free(o);
    tn_free(p);
}
static void rates_are_rounded_as_torchs(void) {
    for (int i = 1; i < 40; i++) {
        double lr = 0.003 * i, decay = 0.01 * (41 - i);
        int64_t mark = tn_scope_begin();
        CHECK(decayed(lr, decay) == 1 - product(lr, decay));
        tn_scope_end(mark);
        schedule_once_more(i / 4 + 3, lr, 0.0007 * (i % 4));
    }
}

static void clipping_is_torchs(void) {
    tn_tensor *p[2];
    int64_t mark = tn_scope_begin();
    double norm;
    for (int i = 0; i < 2; i++) {
        p[i] = tn_requires_grad(i ? values(TN_DIMS(4), 30) : values(TN_DIMS(2, 3), 0));
        tn_set_grad(p[i], tnp_mul_scalar(tnp_detach(p[i]), tn_int(3)));
    }
    norm = tn_nn_clip_grad_norm_(tn_tensors_of(p, 2), 1.5);
    CHECK(close_to(norm, clipped[0], 2e-7, 0));
    CHECK(same_numbers("first", tn_grad_of(p[0]), clipped + 1, 4e-7, 0) &&
          same_numbers("second", tn_grad_of(p[1]), clipped + 7, 4e-7, 0));
    tn_scope_end(mark);
}

/* --- loading ---------------------------------------------------------------------------------- */

static tn_dataset *numbers(int64_t n) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tnp_arange(tn_int(n), TN_I64, TN_NO_DEVICE);
    tn_dataset *d = tn_dataset_tensors(tn_tensors_of(&t, 1));
    tn_scope_end(mark);
    return d;
}

static bool order_is(tn_loader *l, const int64_t *expected, int epochs) {
    int64_t at = 0, got[8];
    bool same = true;
    for (int e = 0; e < epochs; e++) {
        tn_batch b;
        int64_t mark = tn_scope_begin();
        while (tn_loader_next(l, &b)) {
            same = same && tn_read_i64(b.field[0], got, b.n) &&
                   memcmp(got, expected + at, (size_t)b.n * sizeof *got) == 0;
            at += b.n;
            tn_scope_end(mark);
            mark = tn_scope_begin();
        }
        tn_scope_end(mark);
    }
    return same && tn_ok();
}

static int64_t next_number(tn_generator *g) {
    int64_t mark = tn_scope_begin(),
            v = tn_item_int(tnp_randint(1 << 30, TN_DIMS(1), g, TN_I64, TN_NO_DEVICE));
    tn_scope_end(mark);
    return v;
}

static void three_epochs_are_loaded_in_torchs_order(void) {
    for (int workers = 0; workers < 4; workers++) {
        tn_loader *l = tn_loader_new(numbers(23), .batch_size = 4, .shuffle = true,
                                     .workers = workers, .prefetch = 1 + workers % 2);
        tn_generator *g = tn_generator_new(77);
        CHECK_EQ(tn_loader_batches(l), 6);
        tn_manual_seed(5);
        CHECK(order_is(l, order_default, 3));
        CHECK_EQ(next_number(NULL), order_default_after[0]);
        tn_loader_free(l);
        l = tn_loader_new(numbers(23), .batch_size = 4, .shuffle = true, .workers = workers,
                          .generator = g);
        tn_manual_seed(5);
        CHECK(order_is(l, order_given, 3));
        CHECK_EQ(next_number(NULL), order_given_after[0]);
        CHECK_EQ(next_number(g), order_given_after[1]);
        tn_loader_free(l);
        tn_generator_free(g);
        l = tn_loader_new(numbers(23), .batch_size = 4, .workers = workers);
        tn_manual_seed(5);
        {
            int64_t plain[46];
            for (int64_t i = 0; i < 46; i++) plain[i] = i % 23;
            CHECK(order_is(l, plain, 2));
        }
        CHECK_EQ(next_number(NULL), order_plain_after);
        tn_loader_free(l);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(modules_are_torchs),
    CHECK_TEST(initial_values_are_torchs),
    CHECK_TEST(optimizers_are_torchs),
    CHECK_TEST(schedules_are_torchs),
    CHECK_TEST(rates_are_rounded_as_torchs),
    CHECK_TEST(clipping_is_torchs),
    CHECK_TEST(three_epochs_are_loaded_in_torchs_order),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
