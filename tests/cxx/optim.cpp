/* optim.cpp - optimizers, schedules and clipping in C++. Every loss must be the same number as from
 * the same calls in C. */
#include "told.h"

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

static const check_test tests[] = {
    CHECK_TEST(losses_equal_those_of_c),
    CHECK_TEST(groups_have_options_of_their_own),
    CHECK_TEST(a_step_with_a_closure_gives_its_loss),
    CHECK_TEST(the_state_goes_to_another_optimizer),
    CHECK_TEST(schedules_set_the_rate),
    CHECK_TEST(clipping_scales_to_the_norm),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
