// exceptions.cpp - TN_EXCEPTIONS: each way in which a call fails throws tn::error with code, message and the caller's line;
// what a user's function throws arrives as it was; modes, scopes and memory are then as before. run.sh gives TN_EXCEPTIONS.
#include "show.h"

#include <stdexcept>
#include <vector>

/* Runs f, which must throw a tn::error of this code, words and line (0: any) and leave no error. */
template <class F>
static int throws(F f, tn_code code, const char *words, int of_line, int line) {
    const int64_t before = tn_memory().live_tensors;
    int good = 0;
    try {
        f();
        printf("    nothing was thrown\n");
    } catch (const tn::error &e) {
        const std::string what = e.what(), place = std::string("exceptions.cpp:") + std::to_string(of_line) + ": ";
        good = e.code == code && strstr(e.message(), words) && what.find(e.message()) != what.npos &&
               (!of_line || (e.file && e.line == of_line && what.find(place) != what.npos));
        if (!good) printf("    %d %d: %s\n", static_cast<int>(e.code), e.line, e.what());
    }
    return check_report(good, __FILE__, line, words) & check_report(tn_ok(), __FILE__, line, "no error is left") &
           check_report(tn_memory().live_tensors == before, __FILE__, line, "as many tensors as before");
}
#define CHECK_THROWS(code, words, ...) throws([&] { __VA_ARGS__; }, code, words, __LINE__, __LINE__)
#define CHECK_THROWS_ANYWHERE(code, words, ...) throws([&] { __VA_ARGS__; }, code, words, 0, __LINE__)

static tn::tensor leaf(double v) { return tn::tensor({v}, TN_F64).requires_grad_(); }

static void calls_throw_at_their_line() {
    tn::tensor x = tn::arange(6).reshape({2, 3}), f = tn::zeros({2}), none;
    const std::vector<float> v(6);
    float small[2];
    (void)small;
    std::array<float, 2> two;
    CHECK_THROWS(TN_INVALID, "add", x + f);
    CHECK_THROWS(TN_INVALID, "sub", 1 - none);
    CHECK_THROWS(TN_INVALID, "neg", -none);
    CHECK_THROWS(TN_TYPE, "bitwise_not", ~f);
    CHECK_THROWS(TN_INVALID, "eq", (void)(none == x));
    CHECK_THROWS(TN_INVALID, "matmul", used(x.matmul(x)));
    CHECK_THROWS(TN_INVALID, "matmul", used(tn::matmul(x, x)));
    CHECK_THROWS(TN_INDEX, "sum", used(x.sum({5})));
    CHECK_THROWS(TN_INDEX, "max", used(x.max(7)));
    CHECK_THROWS(TN_INVALID, "cat", used(tn::cat({x, f})));
    CHECK_THROWS_ANYWHERE(TN_INVALID, "split", used(x.split(-1)));
    CHECK_THROWS(TN_TYPE, "add", x += 0.5);
    CHECK_THROWS(TN_INVALID, "add", f += x);
    CHECK_THROWS(TN_INVALID, "add", f.add_(x));
    CHECK_THROWS(TN_INVALID, "out has shape", used(f.add(f, tn::add_options().set_out(x[0]))));
    CHECK_THROWS(TN_INDEX, "select", x[2]);
    CHECK_THROWS(TN_INDEX, "many", x[{0, 0, 0}]);
    CHECK_THROWS(TN_INVALID, "step", x[tn::slice(0, 2, -1)]);
    CHECK_THROWS(TN_INVALID, "copy", x[0] = tn::zeros({4}));
    CHECK_THROWS(TN_INDEX, "select", x[2] = 1);
    CHECK_THROWS(TN_TYPE, "add", x[0] += 0.5);
    CHECK_THROWS(TN_INVALID, "tensor", tn::tensor({{1, 2}, {3}}));
    CHECK_THROWS(TN_INVALID, "from", tn::from(v, {5}));
    CHECK_THROWS(TN_TYPE, "data", f.data<double>());
    CHECK_THROWS(TN_INVALID, "", x.copy_to(two));
    CHECK_THROWS(TN_INVALID, "", none.as<std::vector<float>>());
    CHECK_THROWS(TN_INVALID, "", x.item());
    CHECK_THROWS(TN_INVALID, "", x.item<int>());
    CHECK_THROWS(TN_INVALID, "", x.item<bool>());
    CHECK_THROWS(TN_INVALID, "", none.item<float>());
    CHECK_THROWS(TN_INVALID, "300", tn::tensor(300).item<signed char>());
    CHECK_THROWS_ANYWHERE(TN_INVALID, "", if (x == x) f += 1);
    CHECK_THROWS(TN_INDEX, "2", x.size(2));
    CHECK_THROWS(TN_INDEX, "-3", x.stride(-3));
    CHECK_THROWS(TN_INVALID, "0 dimensions", for (tn::tensor row : tn::tensor(1)) row += 1);
    CHECK_THROWS(TN_TYPE, "allclose", used(x.allclose(tn::zeros({4}))));
    CHECK_THROWS(TN_TYPE, "", x.requires_grad_());
    CHECK_THROWS(TN_INVALID, "", f.set_grad(tn::zeros({5})));
    CHECK_THROWS(TN_AUTOGRAD, "", f.backward());
    CHECK_THROWS(TN_AUTOGRAD, "", tn::grad({f}, {f}));
    CHECK_THROWS(TN_INVALID, "seeds", tn::grad({f}, {f}, tn::grad_options().set_seeds({f, f})));
    CHECK_THROWS(TN_FILE, "", tn::load("/nowhere/at/all", "x"));
    CHECK_THROWS(TN_LINALG, "", used(tn::linalg::cholesky(tn::zeros({2, 2}))));
    CHECK_THROWS(TN_INVALID, "zeros", used(tn::zeros({-1})));
    CHECK_SHOWS(x, "int64[2,3] 0 1 2 3 4 5");
    CHECK_SHOWS(f, "float32[2] 0 0");
}

static void false_is_no_error() {
    tn::tensor x = tn::arange(3);
    CHECK(!x.equal(x + 1) && !x.allclose(x + 1));
    CHECK(!x.remove_hook(5));
    CHECK(!tn::tensor(0.0) && tn::tensor(0).item() == 0);
}

static void names_of_c_do_not_throw() {
    tn::tensor x = tn::zeros({2}), y = tn::zeros({3});
    try {
        tn_tensor *sum = tn_add(x, y);
        CHECK(!sum);
        CHECK_FAILS_AT(__LINE__ - 2, TN_INVALID, "add");
        tn_add_(x, y);
        CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "add");
        CHECK(!tn_backward(x));
        CHECK_FAILS_AT(__LINE__ - 1, TN_AUTOGRAD, "");
        used(tn_max(x, 4));
        CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "max");
        tn_item(x.get());
        CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    } catch (...) { CHECK_NOT_HERE(); }
    used(tn_add(x, y)); // C's error waits for the next call of tn::
    CHECK_THROWS_ANYWHERE(TN_INVALID, "add", x + 1);
    used(tn_add(x, y));
    CHECK_THROWS_ANYWHERE(TN_INVALID, "add", tn::tensor::take(tn_mul(x, 2)));
    CHECK_SHOWS(x, "float32[2] 0 0");
}

struct own {
    int value;
};
struct derived : std::runtime_error {
    derived() : std::runtime_error("derived") {}
};

static void exceptions_of_any_type_cross_backward() {
    tn::tensor x = leaf(1), y = x * 2;
    const int64_t before = tn_memory().live_tensors;
    int which = 0;
    const int64_t n = y.hook([&which](const tn::tensor &g) {
        tn::no_grad off; // ends with the exception
        tn::scope s;
        used(tn_zeros({4}));
        if (which == 0) throw own{7};
        if (which == 1) throw derived();
        if (which == 2) throw 5;
        if (which == 3) throw std::string("text");
        if (which == 4) g + tn::zeros({3, 4}).select(0, 9);
    });
    try {
        y.backward(tn::tensor_ref(), true);
        CHECK_NOT_HERE();
    } catch (const own &o) { CHECK_EQ(o.value, 7); }
    which++;
    try {
        y.backward(tn::tensor_ref(), true);
        CHECK_NOT_HERE();
    } catch (const derived &d) { CHECK_TEXT(d.what(), "derived"); }
    which++;
    try {
        y.backward(tn::tensor_ref(), true);
        CHECK_NOT_HERE();
    } catch (int i) { CHECK_EQ(i, 5); }
    which++;
    try {
        tn::grad({y}, {x}, tn::grad_options().set_retain_graph(true));
        CHECK_NOT_HERE();
    } catch (const std::string &s) { CHECK_TEXT(s.c_str(), "text"); }
    which++;
    CHECK_THROWS_ANYWHERE(TN_INDEX, "select", y.backward(tn::tensor_ref(), true));
    which++;
    CHECK(tn_ok() && tn_grad_mode() && !x.grad().defined());
    CHECK_EQ(tn_memory().live_tensors, before);
    y.remove_hook(n);
    y.backward();
    CHECK_SHOWS(x.grad(), "float64[1] 2");
}

struct thrower : tn::function<thrower, 1, int> {
    static tn::tensors forward(tn::function_call &c, const tn::tensors &in) {
        if (c.data<int>() == 1) throw own{1};
        if (c.data<int>() == 3) return tn::tensors(2);
        if (c.data<int>() == 4) return tn::tensors(1);
        return in[0] * 2;
    }
    static tn::tensors backward(tn::function_call &c, const tn::tensors &g) {
        if (c.data<int>() == 2) throw own{2};
        if (c.data<int>() == 5) return {g[0], g[0]};
        if (c.data<int>() == 6) return c.saved(3);
        return g[0] * 2;
    }
};

static void exceptions_cross_functions_of_the_user() {
    tn::tensor x = leaf(1);
    const int64_t before = tn_memory().live_tensors;
    for (int where = 1; where <= 2; where++) {
        try {
            thrower::apply({x}, where)[0].backward();
            CHECK_NOT_HERE();
        } catch (const own &o) { CHECK_EQ(o.value, where); }
        CHECK(tn_ok());
        CHECK_EQ(tn_memory().live_tensors, before);
    }
    CHECK_THROWS_ANYWHERE(TN_INVALID, "forward gave 2 tensors, expected 1", thrower::apply({x}, 3));
    CHECK_THROWS_ANYWHERE(TN_INVALID, "", thrower::apply({x}, 4));
    CHECK_THROWS_ANYWHERE(TN_INVALID, "backward gave 2 tensors, expected 1", thrower::apply({x}, 5)[0].backward());
    CHECK_THROWS_ANYWHERE(TN_INDEX, "", thrower::apply({x}, 6)[0].backward());
    CHECK_THROWS_ANYWHERE(TN_INVALID, "mul", thrower::apply({tn::tensor_ref()}, 0));
    CHECK(!x.grad().defined());
}

static void an_inner_exception_may_be_caught_within_a_hook() {
    tn::tensor x = leaf(1), y = x * 2, inner = leaf(1) * 3;
    inner.hook([](const tn::tensor &) { throw own{3}; });
    int caught = 0;
    y.hook([&](const tn::tensor &) {
        try {
            inner.backward();
        } catch (const own &o) { caught = o.value; }
    });
    y.backward();
    CHECK_EQ(caught, 3);
    CHECK_SHOWS(x.grad(), "float64[1] 2");

    tn::tensor z = x * 2; // and one that replaces it arrives instead
    z.hook([&](const tn::tensor &) {
        try {
            const tn::enable_grad on;
            leaf(1).backward();
            inner = leaf(1) * 3;
            inner.hook([](const tn::tensor &) { throw own{4}; });
            inner.backward();
        } catch (const own &) { throw derived(); }
    });
    try {
        z.backward();
        CHECK_NOT_HERE();
    } catch (const derived &) {}
    CHECK(tn_ok());
}

static void guards_end_by_exceptions() {
    const int64_t before = tn_memory().live_tensors;
    try {
        tn::no_grad off;
        tn::inference also;
        tn::scope s;
        tn::tensor x = tn::tensor::take(tn_zeros({2}));
        used(tn_ones({3}));
        {
            tn::enable_grad on;
            x + tn::zeros({3});
        }
        CHECK_NOT_HERE();
    } catch (const std::exception &e) { CHECK(strstr(e.what(), "add")); }
    CHECK(tn_grad_mode() && !tn_is_inference(tn::zeros({1}).get()));
    CHECK_EQ(tn_memory().live_tensors, before);
}

static void constructors_that_throw_leave_no_object() {
    struct holds {
        tn::tensor a, b;
        holds() : a(tn::zeros({2})), b(a + tn::zeros({3})) {}
    };
    CHECK_THROWS_ANYWHERE(TN_INVALID, "add", holds());
    CHECK_THROWS_ANYWHERE(TN_INVALID, "add", std::vector<tn::tensor>{tn::zeros({2}), tn::zeros({2}) + tn::zeros({3})});
    tn::tensor x = tn::zeros({2}), same = x;
    CHECK_THROWS(TN_INVALID, "add", x = x + tn::zeros({3}));
    CHECK(x.is_same(same));
}

static void an_error_is_copied_and_outlives_the_next_one() {
    std::exception_ptr kept;
    try {
        tn::zeros({2}) + tn::zeros({3});
    } catch (...) { kept = std::current_exception(); }
    try {
        used(tn::zeros({2}).matmul(tn::zeros({3})));
    } catch (const tn::error &e) { CHECK(strstr(e.message(), "matmul")); }
    try {
        std::rethrow_exception(kept);
    } catch (const tn::error &e) {
        const tn::error copy = e;
        CHECK(strstr(copy.message(), "add") && strstr(copy.what(), "add") && copy.code == TN_INVALID);
    }
}

static const check_test tests[] = {
    CHECK_TEST(calls_throw_at_their_line),
    CHECK_TEST(false_is_no_error),
    CHECK_TEST(names_of_c_do_not_throw),
    CHECK_TEST(exceptions_of_any_type_cross_backward),
    CHECK_TEST(exceptions_cross_functions_of_the_user),
    CHECK_TEST(an_inner_exception_may_be_caught_within_a_hook),
    CHECK_TEST(guards_end_by_exceptions),
    CHECK_TEST(constructors_that_throw_leave_no_object),
    CHECK_TEST(an_error_is_copied_and_outlives_the_next_one),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    const int64_t left = tn_memory().live_tensors;
    if (left) printf("%lld tensors are left\n", static_cast<long long>(left));
    tn_context_free(nullptr);
    return failed || left;
}
