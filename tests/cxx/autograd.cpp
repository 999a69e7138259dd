// autograd.cpp - backward, grad, hooks that are lambdas, functions with gradients of their own, guards. Built with and
// without TN_EXCEPTIONS.
#include "show.h"

static tn::tensor leaf(double v) { return tn::tensor({v}, TN_F64).requires_grad_(); }

static void backward_adds_to_grad() {
    tn::tensor w = tn::tensor({1.0, 2.0}).requires_grad_(), y = (w * w * 3).sum();
    CHECK(w.requires_grad() && w.is_leaf() && !y.is_leaf() && !w.grad().defined());
    CHECK(y.backward(tn::tensor_ref(), true));
    CHECK_SHOWS(w.grad(), "float32[2] 6 12");
    CHECK(y.backward());
    CHECK_SHOWS(w.grad(), "float32[2] 12 24");
    w.zero_grad();
    CHECK(!w.grad().defined());
    tn::tensor z = w * 2;
    CHECK(z.retain_grad() && z.backward(tn::tensor({1.0, 10.0})));
    CHECK_SHOWS(w.grad(), "float32[2] 2 20");
    CHECK_SHOWS(z.grad(), "float32[2] 1 10");
    CHECK(w.set_grad(tn::zeros({2})));
    CHECK_SHOWS(w.grad(), "float32[2] 0 0");
    tn::tensor picked = (w[tn::tensor({1, 1})] * tn::tensor({1.0, 2.0})).sum() + w[0] * 5;
    CHECK(picked.backward());
    CHECK_SHOWS(w.grad(), "float32[2] 5 3");
    CHECK(tn_ok());
}

static void writing_through_an_index_is_recorded() {
    tn::tensor w = tn::tensor({1.0, 2.0, 3.0}).requires_grad_(), x = w * 1;
    x[0] = 7;
    x[{tn::slice(1, 2)}] *= 10;
    x[x == 3] = tn::tensor(0.0);
    x.sum().backward();
    CHECK_SHOWS(x, "float32[3] 7 20 0");
    CHECK_SHOWS(w.grad(), "float32[3] 0 10 0");
    CHECK(tn_ok());
}

static void grad_gives_derivatives_of_any_order() {
    tn::tensor x = leaf(3), unused = leaf(1), y = x * x * x;
    tn::tensors first = tn::grad({y}, {x}, tn::grad_options().set_create_graph(true));
    CHECK_SHOWS(first[0], "float64[1] 27");
    tn::tensor second = tn::grad({first[0]}, {x}, tn::grad_options().set_create_graph(true))[0];
    CHECK_SHOWS(second, "float64[1] 18");
    CHECK_SHOWS(tn::grad({second}, {x})[0], "float64[1] 6");
    CHECK(!x.grad().defined());
    y = x * x;
    tn::tensors some = tn::grad({y}, {x, unused}, tn::grad_options().set_allow_unused(true).set_retain_graph(true));
    CHECK(some.size() == 2 && !some[1].defined());
    CHECK_SHOWS(some[0], "float64[1] 6");
    CHECK_SHOWS(tn::grad({y, x * 2}, {x}, tn::grad_options().set_seeds({tn::tensor({10.0}, TN_F64), tn::tensor_ref()}))[0],
                "float64[1] 62");
#if __cplusplus >= 202002L
    CHECK_SHOWS(tn::grad({x * x}, {x}, {.create_graph = true})[0], "float64[1] 6");
#endif
    CHECK(tn_ok());
}

#ifndef TN_EXCEPTIONS
static void wrong_gradients_leave_an_error_of_their_line() {
    tn::tensor x = leaf(3), y = x * x;
    CHECK_EQ(tn::grad({y}, {leaf(1)}).size(), 0);
    CHECK_FAILS_AT(__LINE__ - 1, TN_AUTOGRAD, "");
    CHECK_EQ(tn::grad({y}, {x}, tn::grad_options().set_seeds({y, y})).size(), 0);
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "1 outputs, but 2 seeds");
    CHECK(!tn::zeros({2}).requires_grad_().backward());
    CHECK_FAILS_AT(__LINE__ - 1, TN_AUTOGRAD, "");
    tn::arange(2).requires_grad_();
    CHECK_FAILS_AT(__LINE__ - 1, TN_TYPE, "");
    CHECK(!x.set_grad(tn::zeros({2})));
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    x += 1;
    CHECK_FAILS_AT(__LINE__ - 1, TN_AUTOGRAD, "");
}
#endif

static void hooks_are_lambdas() {
    tn::tensor x = leaf(3);
    int seen = 0;
    double got = 0;
    const int64_t doubles = x.hook([](tn::tensor g) { return g * 2; });
    const int64_t looks = x.hook([&](const tn::tensor &g) {
        seen++;
        got = g.item();
    });
    CHECK(doubles != 0 && looks != 0);
    (x * 5).backward();
    CHECK(seen == 1 && got == 10);
    CHECK_SHOWS(x.grad(), "float64[1] 10");
    CHECK(x.remove_hook(doubles) && !x.remove_hook(doubles));
    (x * 5).backward();
    CHECK(seen == 2 && got == 5);
    CHECK_SHOWS(x.grad(), "float64[1] 15");
    tn::tensor y = x * 1;
    y.hook([](tn::tensor g) { return g; }); // the gradient itself, from another object
    y.hook([](const tn::tensor &) { return tn::tensor({7.0}, TN_F64); });
    y.backward();
    CHECK_SHOWS(x.grad(), "float64[1] 22");
    CHECK(tn_ok());
}

struct counted {
    int *alive;
    explicit counted(int *n) : alive(n) { ++*alive; }
    counted(const counted &o) : alive(o.alive) { ++*alive; }
    counted &operator=(const counted &) = delete;
    ~counted() { --*alive; }
};
static void what_a_hook_captured_ends_with_it() {
    int alive = 0;
    {
        tn::tensor x = leaf(1), y = x * 2;
        const counted c(&alive);
        const int64_t n = x.hook([c](const tn::tensor &) {});
        y.hook([c](const tn::tensor &) {});
        CHECK_EQ(alive, 3);
        x.remove_hook(n);
        CHECK_EQ(alive, 2);
        y.backward();
    }
    CHECK_EQ(alive, 0);
}

/* y = x^3, with a gradient written with operators: it can be differentiated again. */
struct cube : tn::function<cube> {
    static const char *name() { return "cube"; }
    static tn::tensors forward(tn::function_call &c, const tn::tensors &in) {
        c.save(in[0]);
        return in[0] * in[0] * in[0];
    }
    static tn::tensors backward(tn::function_call &c, const tn::tensors &g) { return 3 * c.saved(0) * c.saved(0) * g[0]; }
};
struct scale {
    double by;
    int *backwards;
};
/* (a + b, a * b) times a number, of which the gradient counts. */
struct both : tn::function<both, 2, scale> {
    static tn::tensors forward(tn::function_call &c, const tn::tensors &in) {
        c.save(in[0]), c.save(in[1]);
        const double by = c.data<scale>().by;
        return {(in[0] + in[1]) * by, in[0] * in[1] * by};
    }
    static tn::tensors backward(tn::function_call &c, const tn::tensors &g) {
        const scale &s = c.data<scale>();
        ++*s.backwards;
        tn::tensors in(2);
        for (size_t i = 0; i < 2; i++) {
            if (g[0].defined()) in[i] = g[0] * s.by;
            if (g[1].defined()) {
                tn::tensor d = g[1] * c.saved(i ? 0 : 1) * s.by;
                in[i] = in[i].defined() ? in[i] + d : d;
            }
        }
        return in;
    }
};
/* The identity, whose second input has no gradient. */
struct first_of : tn::function<first_of> {
    static tn::tensors forward(tn::function_call &, const tn::tensors &in) { return in[0].clone(); }
    static tn::tensors backward(tn::function_call &, const tn::tensors &g) { return {g[0], tn::tensor()}; }
};

static void functions_have_gradients_of_their_own() {
    tn::tensor x = leaf(2), b = leaf(5);
    int backwards = 0;
    tn::tensor y = cube::apply({x})[0];
    CHECK_SHOWS(y, "float64[1] 8");
    CHECK_TEXT(tn_grad_fn(y.get()), "cube");
    tn::tensor g = tn::grad({y}, {x}, tn::grad_options().set_create_graph(true))[0];
    CHECK_SHOWS(g, "float64[1] 12");
    CHECK_SHOWS(tn::grad({g}, {x})[0], "float64[1] 12");

    tn::tensors two = both::apply({x, b}, scale{10, &backwards});
    CHECK_SHOWS(two[0], "float64[1] 70");
    CHECK_SHOWS(two[1], "float64[1] 100");
    CHECK_TEXT(tn_grad_fn(two[0].get()), "function");
    (two[0] + two[1]).backward();
    CHECK_SHOWS(x.grad(), "float64[1] 60");
    CHECK_SHOWS(b.grad(), "float64[1] 30");
    x.zero_grad();
    both::apply({x, b}, scale{1, &backwards})[1].backward(); // the other result's gradient is undefined
    CHECK_SHOWS(x.grad(), "float64[1] 5");
    CHECK_EQ(backwards, 2);

    x.zero_grad(), b.zero_grad();
    first_of::apply({x, b})[0].backward();
    CHECK_SHOWS(x.grad(), "float64[1] 1");
    CHECK(!b.grad().defined() || b.grad().item() == 0);
    {
        tn::no_grad off;
        CHECK(!cube::apply({x})[0].requires_grad());
    }
    CHECK(tn_ok());
}

static void guards_nest_and_end_with_their_block() {
    tn::tensor w = leaf(1);
    {
        tn::no_grad off;
        CHECK(!tn_grad_mode() && !(w * 2).requires_grad());
        {
            tn::enable_grad on;
            CHECK(tn_grad_mode() && (w * 2).requires_grad());
            tn::inference also;
            CHECK(tn_is_inference((w * 2).get()));
        }
        CHECK(!tn_grad_mode());
        w -= 0.5;
    }
    CHECK(tn_grad_mode() && (w * 2).requires_grad() && !tn_is_inference((w * 2).get()));
    CHECK(w.item() == 0.5);
    for (int i = 0; i < 3; i++) {
        tn::no_grad off;
        if (i == 1) continue;
        if (i == 2) break;
    }
    CHECK(tn_grad_mode() && tn_ok());
}

static void autocast_casts_while_it_lives() {
    const tn::tensor w = tn::ones({2, 2}).requires_grad_(), x = tn::ones({2, 2});
    tn::tensor y;
    {
        const tn::autocast guard;
        y = x.matmul(w);
        CHECK(y.dtype() == TN_BF16 && (y + x).dtype() == TN_F32);
        {
            const tn::autocast half(TN_F16), off(TN_NO_DTYPE);
            CHECK(x.matmul(w).dtype() == TN_F32);
        }
        CHECK(x.matmul(w).dtype() == TN_BF16);
    }
    CHECK(x.matmul(w).dtype() == TN_F32 && tn_autocast() == TN_NO_DTYPE);
    y.sum().backward();
    CHECK(w.grad().dtype() == TN_F32 && w.grad().sum().item() == 8);
}

static void a_device_guard_says_where_tensors_are_made() {
    tn::tensor x = tn::ones({2});
    {
        tn::device_guard meta("meta");
        CHECK(tn::rand({2, 3}).device() == TN_META && tn::tensor({1.5, 2}).device() == TN_META);
        CHECK(tn::tensor(3).device() == TN_META &&
              tn::from(std::vector<float>(3)).device() == TN_META);
        CHECK(tn::zeros({2}, tn::zeros_options().set_device(TN_CPU)).device() == TN_CPU);
        CHECK(tn::zeros_like(x).device() == TN_CPU);
        CHECK_SHOWS(2 * x + 1, "float32[2] 3 3"); /* numbers stand beside any tensor */
        x[x > 0] = 5;
        CHECK_SHOWS(x, "float32[2] 5 5");
        {
            tn::device_guard cpu(TN_CPU);
            CHECK(tn::eye(2).device() == TN_CPU);
        }
        CHECK(tn_default_device() == TN_META);
        tn_with_device(TN_CPU) {
            CHECK(tn_default_device() == TN_CPU);
            break;
        }
        CHECK(tn_default_device() == TN_META);
#ifndef TN_EXCEPTIONS
        {
            tn::device_guard none("nowhere");
            CHECK(tn_default_device() == TN_META);
            CHECK_FAILS(TN_INVALID, "device 'nowhere' does not exist");
        }
#else
        try {
            tn::device_guard none("nowhere");
            CHECK(false);
        } catch (const tn::error &) {
            CHECK(tn_default_device() == TN_META);
        }
#endif
    }
    CHECK(tn_default_device() == TN_CPU && tn_ok());
}

static void a_scope_frees_what_c_made_and_no_object() {
    const int64_t before = tn_memory().live_tensors;
    tn::tensor kept;
    {
        tn::scope s;
        tn_tensor *c = tn_zeros({2});
        kept = tn::tensor(c) + 1;
        tn::scope inner;
        used(tn_ones({3}));
    }
    CHECK_SHOWS(kept, "float32[2] 1 1");
    kept = tn::tensor();
    CHECK_EQ(tn_memory().live_tensors, before);
}

static void a_step_of_gradient_descent() {
    tn_manual_seed(1);
    tn::tensor x = tn::randn({64, 3}), truth = tn::tensor({{1.0, -2.0, 0.5}}).t(), y = x.matmul(truth) + 3;
    tn::tensor w = tn::zeros({3, 1}).requires_grad_(), b = tn::zeros({1}).requires_grad_();
    for (int i = 0; i < 200; i++) {
        (x.matmul(w) + b - y).square().mean().backward();
        tn::no_grad off;
        w -= 0.1 * w.grad();
        b -= 0.1 * b.grad();
        w.zero_grad();
        b.zero_grad();
    }
    CHECK((w - truth).abs().max().item() < 1e-3 && (b - 3).abs().item() < 1e-3);
    CHECK(tn_ok());
}

static void a_lambda_of_one_sample() {
    tn::tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), c = tn::tensor({1.0, 10.0});
    tn::tensors d = tn::vmap([](const tn::tensors &in) { return in[0].dot(in[1]); }, {x, c}, {0, TN_NONE});
    CHECK(d.size() == 1 && tn::allclose(d[0], x.matmul(c)).item() != 0);
    /* Gradients of each sample, of what is the same for all. */
    tn::tensors g = tn::vmap(
        [](const tn::tensors &in) {
            tn::tensor w = tn::tensor::take(tn_batch_each(in[1].get())).detach().requires_grad_();
            return tn::grad({(in[0] * w).sum().square()}, {w});
        },
        {x, c}, {0, TN_NONE});
    CHECK(tn::allclose(g[0], 2 * x.matmul(c).unsqueeze(1) * x).item() != 0);
    tn::tensors both = tn::vmap([](const tn::tensors &in) { return tn::tensors{in[0] * 2, in[0].sum()}; }, {x});
    CHECK(both.size() == 2 && both[1].size(0) == 3 && tn_ok());
#ifndef TN_EXCEPTIONS
    CHECK(!tn::vmap([](const tn::tensors &in) { return in[0].matmul(in[0]).matmul(in[0]); }, {x}).size());
    CHECK(!tn_ok() && tn_error_take(nullptr) && tn_vmap_depth() == 0);
    CHECK(!tn::vmap([](const tn::tensors &in) { return in[0]; }, {x}, {0, 0}).size());
    CHECK(tn_error_take(nullptr));
#endif
}

static const check_test tests[] = {
    CHECK_TEST(backward_adds_to_grad),
    CHECK_TEST(writing_through_an_index_is_recorded),
    CHECK_TEST(grad_gives_derivatives_of_any_order),
#ifndef TN_EXCEPTIONS
    CHECK_TEST(wrong_gradients_leave_an_error_of_their_line),
#endif
    CHECK_TEST(hooks_are_lambdas),
    CHECK_TEST(what_a_hook_captured_ends_with_it),
    CHECK_TEST(functions_have_gradients_of_their_own),
    CHECK_TEST(guards_nest_and_end_with_their_block),
    CHECK_TEST(autocast_casts_while_it_lives),
    CHECK_TEST(a_device_guard_says_where_tensors_are_made),
    CHECK_TEST(a_scope_frees_what_c_made_and_no_object),
    CHECK_TEST(a_step_of_gradient_descent),
    CHECK_TEST(a_lambda_of_one_sample),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    const int64_t left = tn_memory().live_tensors;
    if (left) printf("%lld tensors are left\n", static_cast<long long>(left));
    tn_context_free(nullptr);
    return failed || left;
}
