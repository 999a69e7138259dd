/* optim.cpp - optimizers, schedules and clipping in C++. Every loss must be the same number as from
 * the same calls in C. */
#include "told.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { STEPS = 5 };
static const double the_rate = 0.05;

/* Five steps of each optimizer on one problem, as a C program writes them. */
static void losses_in_c(tn_optimizer *(*make)(tn_tensors), double *losses) {
    tn_manual_seed(1);
    tn_module *net = tn_sequential(tn_nn_linear(3, 8), tn_nn_tanh(), tn_nn_linear(8, 1));
    tn_tensor *x = tn_randn(TN_DIMS(16, 3)), *y = tn_randn(TN_DIMS(16, 1));
    tn_optimizer *opt = make(tn_parameters(net));
    for (int i = 0; i < STEPS; i++)
        TN_SCOPE {
            tn_tensor *loss = tn_mse_loss(tn_forward(net, x), y);
            losses[i] = tn_item(loss);
            tn_optimizer_zero_grad(opt);
            tn_backward(loss);
            tn_optimizer_step(opt);
        }
    tn_optimizer_free(opt);
    tn_module_free(net);
    tn_free(x);
    tn_free(y);
}
template <class O>
static void losses_in_cxx(O make, double *losses) {
    tn_manual_seed(1);
    tn::nn::sequential net{tn::nn::linear(3, 8), tn::nn::tanh(), tn::nn::linear(8, 1)};
    const tn::tensor x = tn::randn({16, 3}), y = tn::randn({16, 1});
    auto opt = make(net);
    for (int i = 0; i < STEPS; i++) {
        tn::tensor loss = tn::mse_loss(net(x), y);
        losses[i] = loss.item();
        opt.zero_grad();
        loss.backward();
        CHECK(opt.step());
    }
}
static bool same_losses(const double *a, const double *b) {
    return !memcmp(a, b, STEPS * sizeof *a) && a[STEPS - 1] < a[0];
}

static tn_optimizer *adam_in_c(tn_tensors p) { return tn_optim_adam(p, the_rate); }
static tn_optimizer *adamw_in_c(tn_tensors p) {
    return tn_optim_adamw(p, tn::optim::adamw_options().set_lr(the_rate));
}
static tn_optimizer *sgd_in_c(tn_tensors p) { return tn_optim_sgd(p, the_rate, 0.9); }

static void losses_equal_those_of_c() {
    double c[STEPS], cxx[STEPS];
    losses_in_c(&adam_in_c, c);
    losses_in_cxx([](const tn::nn::module &m) { return tn::optim::adam(m.parameters(), the_rate); },
                  cxx);
    CHECK(same_losses(c, cxx));
    losses_in_cxx(
        [](const tn::nn::module &m) {
            return tn::optim::adam(m.parameters(), tn::optim::adam_options().set_lr(the_rate));
        },
        cxx);
    CHECK(same_losses(c, cxx));
#if __cplusplus >= 202002L
    losses_in_cxx(
        [](const tn::nn::module &m) { return tn::optim::adam(m.parameters(), {.lr = the_rate}); },
        cxx);
    CHECK(same_losses(c, cxx));
#endif
    losses_in_c(&adamw_in_c, c);
    losses_in_cxx(
        [](const tn::nn::module &m) { return tn::optim::adamw(m.parameters(), the_rate); }, cxx);
    CHECK(same_losses(c, cxx));
    losses_in_c(&sgd_in_c, c);
    losses_in_cxx(
        [](const tn::nn::module &m) {
            return tn::optim::sgd(m.parameters(),
                                  tn::optim::sgd_options().set_lr(the_rate).set_momentum(0.9));
        },
        cxx);
    CHECK(same_losses(c, cxx));
    CHECK(tn_ok());
}

static void groups_have_options_of_their_own() {
    const tn::tensor a = tn::ones({2}), b = tn::ones({2});
    a.requires_grad_();
    b.requires_grad_();
    tn::optim::sgd opt({a}, 0.5);
    CHECK(opt.add_group({b}, {{"lr", 0.25}}) == 1 && opt.groups() == 2);
    CHECK(opt.lr() == 0.5 && opt.lr(1) == 0.25 && opt.get("momentum") == 0);
    (a.sum() + b.sum()).backward();
    CHECK(opt.step());
    CHECK(a.as<std::vector<double>>() == std::vector<double>({0.5, 0.5}));
    CHECK(b.as<std::vector<double>>() == std::vector<double>({0.75, 0.75}));
    CHECK(opt.set_lr(1) && opt.lr(1) == 1 && opt.set("lr", 2, 1) && opt.lr(0) == 1);
    opt.zero_grad();
    CHECK(!a.grad().defined());
    CHECK(tells(told_by([&] { opt.set("speed", 1); }), "speed"));
    CHECK(tells(told_by([&] { opt.get("lr", 7); }), "7"));
    CHECK(tells(told_by([&] { tn::optim::sgd wrong({a}, -1.0); }), "lr"));
    tn::optim::optimizer moved(static_cast<tn::optim::sgd &&>(opt));
    CHECK(moved.defined() && !opt.defined() && moved.groups() == 2);
    CHECK(tn_ok());
}

static void a_step_with_a_closure_gives_its_loss() {
    const tn::tensor w = tn::tensor({3.0, 4.0});
    w.requires_grad_();
    tn::optim::sgd opt({w}, 0.1);
    tn::no_grad guard; /* the closure records all the same */
    const tn::tensor loss = opt.step([&] {
        opt.zero_grad();
        tn::tensor l = (w * w).sum();
        l.backward();
        return l;
    });
    CHECK(loss.item() == 25);
    CHECK((w - tn::tensor({2.4, 3.2})).abs().sum().item() < 1e-6);
}

static void the_state_goes_to_another_optimizer() {
    const tn::tensor w = tn::ones({2}), v = tn::ones({2});
    w.requires_grad_();
    v.requires_grad_();
    tn::optim::adam one({w}, 0.1), two({v}, 0.2), three({v}, 0.3);
    (w * w).sum().backward();
    one.step();
    CHECK(two.load(one.state_dict()) && two.lr() == 0.1);
    CHECK(
        equal(two.state_dict().find("state.0.exp_avg"), one.state_dict().find("state.0.exp_avg")));
    const char *path = "build/cxx_optim.safetensors";
    CHECK(one.save(path) && three.load(path) && three.lr() == 0.1);
    remove(path);
    CHECK(tells(told_by([&] { three.load("build/no such file"); }), "no such file"));
    CHECK(tn_ok());
}

static void schedules_set_the_rate() {
    const tn::tensor w = tn::ones({1});
    w.requires_grad_();
    tn::optim::sgd opt({w}, 1.0);
    {
        tn::optim::step_lr steps(opt, 2, 0.5);
        CHECK(steps.step() && opt.lr() == 1 && steps.step() && opt.lr() == 0.5);
        CHECK(steps.count() == 2 && steps.initial() == 1);
        CHECK(steps.resume(3, {1.0}) && steps.count() == 3 && steps.step() && opt.lr() == 0.25);
    }
    opt.set_lr(1);
    {
        tn::optim::cosine_lr half(opt, 2);
        CHECK(half.step() && opt.lr() > 0.49 && opt.lr() < 0.51);
    }
    opt.set_lr(2);
    {
        double slope = 0.25;
        tn::optim::lambda_lr falling(
            opt, [slope](int64_t i) { return 1 - slope * static_cast<double>(i); });
        CHECK(opt.lr() == 2 && falling.step() && opt.lr() == 1.5);
        for (int i = 0; i < 3; i++) falling.step();
        CHECK(opt.lr() == 0 && tells(told_by([&] { falling.step(); }), "lr"));
        CHECK(falling.count() == 4);
    }
    CHECK(tells(told_by([&] { tn::optim::step_lr wrong(opt, 0); }), "every"));
#ifdef TN_EXCEPTIONS
    tn::optim::lambda_lr throwing(opt, [](int64_t i) {
        if (i) throw std::runtime_error("mine");
        return 1.0;
    });
    bool caught = false;
    try {
        throwing.step();
    } catch (const std::runtime_error &e) {
        caught = !strcmp(e.what(), "mine");
    }
    CHECK(caught && throwing.count() == 0);
#endif
    CHECK(tn_ok());
}

static void clipping_scales_to_the_norm() {
    const tn::tensor w = tn::zeros({2});
    w.requires_grad_();
    (w * tn::tensor({3.0, 4.0})).sum().backward();
    CHECK(tn::nn::clip_grad_norm_({w}, 1) == 5);
    CHECK((w.grad() - tn::tensor({0.6, 0.8})).abs().sum().item() < 1e-5);
}

/* --- L-BFGS ----------------------------------------------------------------------------------- */

static tn::tensor rosenbrock(const tn::tensor &w) {
    return (1 - w[0]).square() + 100 * (w[1] - w[0].square()).square();
}
static tn_tensor *rosenbrock_in_c(void *user) {
    tn_tensor *w = static_cast<tn_tensor *>(user), *loss;
    tn_zero_grad(w);
    loss = rosenbrock(tn::tensor(w)).release();
    return tn_backward(loss) ? loss : nullptr;
}

static void lbfgs_takes_the_steps_of_c() {
    const tn::tensor w = tn::tensor({-1.2, 1.0}), v = w.clone();
    w.requires_grad_();
    v.requires_grad_();
    tn::optim::lbfgs opt(
        {w}, tn::optim::lbfgs_options().set_strong_wolfe(true).set_max_iter(9).set_history_size(5));
    tn_tensor *list[] = {v.get()};
    tn_lbfgs_args a = tn_lbfgs_args();
    a.params = tn_tensors_of(list, 1);
    a.strong_wolfe = true;
    a.max_iter = 9;
    a.history_size = 5;
    tn_lbfgs *c = tn_lbfgs_new_at(__FILE__, __LINE__, &a);
    for (int i = 0; i < 4; i++) {
        const tn::tensor loss = opt.step([&] {
            opt.zero_grad();
            CHECK(!w.grad().defined() && tn_grad_mode());
            tn::tensor l = rosenbrock(w);
            l.backward();
            return l;
        });
        TN_SCOPE {
            CHECK(loss.item() == tn_lbfgs_step(c, rosenbrock_in_c, v.get()));
        }
        CHECK(equal(w, v) && opt.evaluations() == tn_lbfgs_evaluations(c));
    }
    CHECK(rosenbrock(w).item() < 1e-3 && tn_ok());
    tn_lbfgs_free(c);
}

static void lbfgs_takes_zeros_as_they_are() {
    const tn::tensor w = tn::tensor({3.0});
    w.requires_grad_();
    const auto parabola = [&] {
        w.zero_grad();
        tn::tensor l = w.square().sum();
        l.backward();
        return l;
    };
    tn::optim::lbfgs still({w}, tn::optim::lbfgs_options().set_lr(0));
    CHECK(still.step(parabola).item() == 9 && w.item() == 3);
#ifdef __SSE2__
    const unsigned rounding = _mm_getcsr();
    _mm_setcsr(rounding | 0x8040); /* denormals are zero, also for those who read them */
    tn::optim::lbfgs flushed({w}, tn::optim::lbfgs_options().set_lr(0));
    CHECK(flushed.step(parabola).item() == 9 && w.item() == 3);
    _mm_setcsr(rounding);
#endif
#if __cplusplus >= 202002L
    tn::optim::lbfgs one({w}, {.max_iter = 1});
#else
    tn::optim::lbfgs one({w}, tn::optim::lbfgs_options().set_max_iter(1));
#endif
    CHECK(one.step(parabola).item() == 9 && w.item() < 3 && one.evaluations() == 1);
    const tn::optim::lbfgs moved(static_cast<tn::optim::lbfgs &&>(one));
    CHECK(moved.defined() && !one.defined() && one.evaluations() == 0 && moved.evaluations() == 1);
    CHECK(tells(told_by([&] { tn::optim::lbfgs({w}, tn::optim::lbfgs_options().set_max_iter(0)); }),
                "max_iter"));
    CHECK(tells(told_by([] { tn::optim::lbfgs({}); }), "empty"));
    CHECK(tells(told_by([&] { one.step(parabola); }), "NULL"));
    CHECK(tells(told_by([&] { still.step([] { return tn::tensor(); }); }), "NULL"));
    CHECK(tells(told_by([&] { still.step([&] { return w + tn::zeros({2, 2}).sum({2}); }); }), "2"));
#ifdef TN_EXCEPTIONS
    bool caught = false;
    try {
        still.step([]() -> tn::tensor { throw std::runtime_error("mine"); });
    } catch (const std::runtime_error &e) {
        caught = !strcmp(e.what(), "mine");
    }
    CHECK(caught && tn_grad_mode());
#endif
    CHECK(still.step(parabola).defined() && tn_ok());
}

/* --- the scaler of losses --------------------------------------------------------------------- */

static void a_scaler_scales_and_skips_what_overflows() {
    const tn::tensor w = tn::ones({2});
    w.requires_grad_();
    tn::optim::sgd opt({w}, 0.5);
    tn::scaler scaler(tn::scaler_options().set_init_scale(8).set_growth_interval(2));
    for (int i = 0; i < 2; i++) {
        opt.zero_grad();
        const tn::tensor loss = scaler.scale(w.sum());
        CHECK(loss.item() == 8 * w.sum().item());
        loss.backward();
        CHECK(scaler.unscale_(opt) && w.grad()[0].item() == 1);
        CHECK(scaler.step(opt) && scaler.update());
    }
    CHECK(w[0].item() == 0 && scaler.get_scale() == 16 && scaler.count() == 0);
    opt.zero_grad();
    scaler.scale(w.sum() * 1e39).backward();
    CHECK(scaler.step(opt) && w[1].item() == 0 && scaler.update() && scaler.get_scale() == 8);
    CHECK(scaler.resume(4, 1) && scaler.get_scale() == 4 && scaler.count() == 1);
    tn::scaler usual, moved(static_cast<tn::scaler &&>(usual));
    CHECK(moved.get_scale() == 65536 && !usual.defined() && tn_ok());
#if __cplusplus >= 202002L
    CHECK(tn::scaler({.init_scale = 2}).get_scale() == 2);
#endif
    CHECK(tells(told_by([] { tn::scaler(tn::scaler_options().set_init_scale(0)); }),
                "init_scale is 0"));
    CHECK(tells(told_by([] { tn::scaler(tn::scaler_options().set_growth_factor(0)); }),
                "growth_factor is 0"));
    CHECK(tells(told_by([] { tn::scaler(tn::scaler_options().set_backoff_factor(0)); }),
                "backoff_factor is 0"));
    CHECK(tells(told_by([] { tn::scaler(tn::scaler_options().set_growth_interval(0)); }),
                "growth_interval is 0"));
    CHECK(tells(told_by([&] { moved.update(); }), "no optimizer"));
    CHECK(tells(told_by([&] { usual.step(opt); }), "NULL"));
    CHECK(tells(told_by([&] { moved.scale(tn::tensor()); }), "NULL"));
    CHECK(tn_ok());
}

static const check_test tests[] = {
    CHECK_TEST(losses_equal_those_of_c),
    CHECK_TEST(groups_have_options_of_their_own),
    CHECK_TEST(a_step_with_a_closure_gives_its_loss),
    CHECK_TEST(the_state_goes_to_another_optimizer),
    CHECK_TEST(schedules_set_the_rate),
    CHECK_TEST(clipping_scales_to_the_norm),
    CHECK_TEST(lbfgs_takes_the_steps_of_c),
    CHECK_TEST(lbfgs_takes_zeros_as_they_are),
    CHECK_TEST(a_scaler_scales_and_skips_what_overflows),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
