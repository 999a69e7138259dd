// first_steps.cpp - torch's tensor tutorial in C++: creation, containers, views, indices, operators, options, printing.
#include "show.h"

#include <list>
#include <type_traits>
#if __cplusplus >= 202002L
#include <span>
#endif

static const double nan_ = strtod("nan", NULL);

static void brace_lists_make_tensors_as_torch_does() {
    CHECK_SHOWS((tn::tensor({1, 2, 3})), "int64[3] 1 2 3");
    CHECK_SHOWS((tn::tensor({{1, 2, 3}, {4, 5, 6}})), "int64[2,3] 1 2 3 4 5 6");
    CHECK_SHOWS((tn::tensor({{{1.5}, {2}}})), "float32[1,2,1] 1.5 2");
    CHECK_SHOWS((tn::tensor({true, false})), "bool[2] 1 0");
    CHECK_SHOWS((tn::tensor({true, false, true}, TN_U8)), "uint8[3] 1 0 1");
    CHECK_SHOWS((tn::tensor({true, 2})), "int64[2] 1 2");
    CHECK_SHOWS((tn::tensor({1, 2}, TN_F64)), "float64[2] 1 2");
    CHECK_SHOWS((tn::tensor({{1}, {2}})), "int64[2,1] 1 2");
    CHECK_SHOWS((tn::tensor({{1, 2}})), "int64[1,2] 1 2");
    CHECK_SHOWS(tn::tensor({7}), "int64[1] 7");
    CHECK_SHOWS((tn::tensor({0, 0})), "int64[2] 0 0");
    CHECK_SHOWS((tn::tensor({{0, 0}, {0, 0}})), "int64[2,2] 0 0 0 0");
    CHECK_SHOWS(tn::tensor(5), "int64[] 5");
    CHECK_SHOWS(tn::tensor(0), "int64[] 0");
    CHECK_SHOWS(tn::tensor(5.5), "float32[] 5.5");
    CHECK_SHOWS(tn::tensor(true), "bool[] 1");
    CHECK_SHOWS(tn::tensor(5, TN_F64), "float64[] 5");
    tn::tensor listed = {1, 2}, braced{3};
    CHECK_SHOWS(listed, "int64[2] 1 2");
    CHECK_SHOWS(braced, "int64[1] 3");
    CHECK_EQ(tn::tensor({9007199254740993}).item<int64_t>(), 9007199254740993);
    CHECK(!tn::tensor().defined());
    CHECK(tn_ok());
    CHECK(!tn::tensor({{1, 2}, {3}}).defined());
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "lists of one length");
    CHECK(!tn::tensor({{1, 2}, 3}).defined());
    CHECK_FAILS(TN_INVALID, "lists of one length");
}

static void functions_make_tensors() {
    CHECK_SHOWS((tn::zeros({2, 2})), "float32[2,2] 0 0 0 0");
    CHECK_SHOWS(tn::ones({0}), "float32[0]");
    CHECK_SHOWS(tn::zeros({}), "float32[] 0");
    CHECK_SHOWS(tn::full({2}, 7), "int64[2] 7 7");
    CHECK_SHOWS(tn::arange(3), "int64[3] 0 1 2");
    CHECK_SHOWS(tn::arange(1, 2, 0.5), "float32[2] 1 1.5");
    CHECK_SHOWS(tn::eye(2), "float32[2,2] 1 0 0 1");
    CHECK_SHOWS(tn::linspace(0, 1, 3, TN_F64), "float64[3] 0 0.5 1");
    CHECK_SHOWS(tn::zeros_like(tn::arange(2)), "int64[2] 0 0");
    tn_manual_seed(0);
    tn::tensor a = tn::randn({3});
    tn_manual_seed(0);
    CHECK(tn::equal(a, tn::randn({3})));
    CHECK(tn_ok());
}

static void containers_go_in_and_out() {
    const std::vector<float> v = {1, 2, 3, 4, 5, 6};
    CHECK_SHOWS(tn::from(v), "float32[6] 1 2 3 4 5 6");
    CHECK_SHOWS((tn::from(v, {2, 3})), "float32[2,3] 1 2 3 4 5 6");
    CHECK_SHOWS((tn::from(std::array<int64_t, 2>{{8, 9}})), "int64[2] 8 9");
    CHECK_SHOWS((tn::from(std::vector<unsigned char>{1, 255})), "uint8[2] 1 255");
    CHECK_SHOWS(tn::from(std::vector<double>()), "float64[0]");
    CHECK_SHOWS(tn::from(v.data() + 1, {2}), "float32[2] 2 3");
#if __cplusplus >= 202002L
    CHECK_SHOWS(tn::from(std::span<const float>(v).subspan(4)), "float32[2] 5 6");
#endif
    CHECK(!tn::from(v, {INT64_MAX, 0, 2}).defined());
    CHECK_FAILS(TN_INVALID, "the container has 6 elements");
    CHECK(!tn::from(v, {INT64_MAX, 6, 2}).defined());
    CHECK_FAILS(TN_INVALID, "the container has 6 elements");
    CHECK(!tn::from(v, {4}).defined());
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "the container has 6 elements");

    tn::tensor x = tn::from(v, {2, 3});
    CHECK(x.as<std::vector<float>>() == v);
    CHECK((x.t().as<std::vector<int>>() == std::vector<int>{1, 4, 2, 5, 3, 6}));
    CHECK((x.select(0, 1).as<std::vector<double>>() == std::vector<double>{4, 5, 6}));
    CHECK((x.as<std::vector<short>>()[5] == 6));
    CHECK((x.as<std::vector<long long>>()[5] == 6));
    std::array<double, 6> to;
    CHECK(x.copy_to(to) && to[5] == 6);
    std::array<double, 5> small;
    CHECK(!x.copy_to(small));
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "5");
    CHECK(tn::zeros({0}).as<std::vector<float>>().empty());

    CHECK_EQ(x.data<float>()[2], 3);
    x.data<float>()[2] = 30;
    CHECK_EQ((x[{0, 2}].item()), 30);
    CHECK_EQ(v[2], 3);
    CHECK(!x.data<double>());
    CHECK_FAILS_AT(__LINE__ - 1, TN_TYPE, "float32, not float64");

    float frame[4] = {1, 2, 3, 4};
    int released = 0;
    {
        tn::tensor w = tn::wrap(frame, {2, 2}, [&released](float *) { released++; });
        w[0] = 9;
        tn::tensor row = w[1];
        w = tn::tensor();
        CHECK_EQ(released, 0);
    }
    CHECK_EQ(released, 1);
    CHECK(frame[0] == 9 && frame[1] == 9 && frame[2] == 3);
    tn::wrap(frame, {4}) *= 2;
    CHECK_EQ(frame[3], 8);
    CHECK(tn_ok());
}

static void items_are_numbers_of_the_asked_type() {
    CHECK(tn::tensor(2.5).item() == 2.5);
    CHECK_EQ(tn::tensor({7}).item<int>(), 7);
    CHECK(tn::tensor(2.5, TN_F64).item<float>() == 2.5f);
    CHECK(tn::tensor(1).item<bool>() && !tn::tensor(0.0).item<bool>());
    CHECK(tn::tensor(nan_).item<bool>());
    CHECK(tn::tensor(3) ? true : false);
    CHECK(!(tn::tensor(0.0) || tn::tensor()));
    CHECK(tn_ok());
    tn::tensor({1, 2}).item();
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    tn::tensor(300).item<signed char>();
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "300");
    tn::tensor(-1).item<unsigned char>();
    CHECK_FAILS(TN_INVALID, "-1");
    CHECK_EQ(tn::tensor(-128).item<signed char>(), -128);
    CHECK(!tn::tensor({1, 2}));
    CHECK_FAILS(TN_INVALID, "");
}

static void indices_give_views() {
    tn::tensor x = tn::arange(24).reshape({2, 3, 4});
    CHECK_SHOWS((x[{1, 2, 3}]), "int64[] 23");
    CHECK_SHOWS(x[-1][0], "int64[4] 12 13 14 15");
    CHECK_SHOWS(x[static_cast<size_t>(1)][0u][3l], "int64[] 15");
    CHECK_SHOWS((x[{0, 1, tn::slice(1, 3)}]), "int64[2] 5 6");
    CHECK_SHOWS((x[{0, tn::slice(), 1}]), "int64[3] 1 5 9");
    CHECK_SHOWS((x[{0, 0, tn::slice(TN_NONE, -1)}]), "int64[3] 0 1 2");
    CHECK_SHOWS((x[{0, 0, tn::slice(0, TN_NONE, 3)}]), "int64[2] 0 3");
    CHECK_SHOWS((x[{tn::ellipsis, 0}]), "int64[2,3] 0 4 8 12 16 20");
    CHECK_SHOWS((x[{1, tn::ellipsis, 0}]), "int64[3] 12 16 20");
    CHECK_SHOWS((x[{1, 1, tn::ellipsis}]), "int64[4] 16 17 18 19");
    CHECK_SHOWS((x[{1, 1, tn::ellipsis, 2}]), "int64[] 18");
    CHECK_SHOWS((x[{0, 0, tn::newaxis, tn::slice(0, 2)}]), "int64[1,2] 0 1");
    CHECK_SHOWS((x[{tn::newaxis, 1, 1, 1, tn::newaxis}]), "int64[1,1] 17");
    CHECK_SHOWS((x[{tn::newaxis, tn::ellipsis, 3}][{0, 0}]), "int64[3] 3 7 11");
    CHECK_SHOWS(x[tn::slice(1)][0][0], "int64[4] 12 13 14 15");
    CHECK_EQ(x[{}].numel(), 24);
    CHECK((x[0].data<int64_t>() == x.data<int64_t>()));
    CHECK((x[{tn::slice(), tn::slice(1)}].data<int64_t>() == x.data<int64_t>() + 4));
    CHECK(tn_ok());
}

static void wrong_indices_are_refused_at_their_line() {
    tn::tensor x = tn::arange(6).reshape({2, 3}), mask = x > 2;
    x[2];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "2");
    x[{0, 0, 0}];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "indices");
    x[{tn::slice(), tn::slice(), tn::slice()}];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "indices");
    x[{tn::ellipsis, tn::slice(0, 1), tn::slice(0, 1), tn::slice(0, 1)}];
    CHECK_FAILS(TN_INDEX, "indices");
    x[{tn::ellipsis, 0, 0, 0}];
    CHECK_FAILS(TN_INDEX, "indices");
    x[{tn::ellipsis, 0, tn::ellipsis}];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "ellipsis");
    x[tn::slice(0, 2, -1)];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "step");
    x[tn::slice(0, 2, 0)];
    CHECK_FAILS(TN_INVALID, "step");
    x[tn::tensor()];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "undefined");
    x[{mask, 0}];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "indices");
    x[tn::tensor({true, false, true})];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "mask");
    x[tn::tensor({0, 5})];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "5");
    x[tn::tensor({0.5})];
    CHECK_FAILS(TN_INDEX, "long, int, byte or bool");
    tn::tensor()[0];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "undefined");
    CHECK(tn_ok());
}

static void tensors_among_the_indices_take_copies() {
    tn::tensor x = tn::arange(24).reshape({2, 3, 4});
    tn::tensor i = tn::tensor({2, 0}), j = tn::tensor({3, 1}), m = tn::tensor({true, false, true});
    CHECK_SHOWS(x[0][i], "int64[2,4] 8 9 10 11 0 1 2 3");
    CHECK_SHOWS((x[{0, i, j}]), "int64[2] 11 1");
    CHECK_SHOWS((x[{tn::slice(), i, 0}]), "int64[2,2] 8 0 20 12");
    CHECK_SHOWS((x[{1, m, tn::slice(0, 2)}]), "int64[2,2] 12 13 20 21");
    CHECK_SHOWS((x[{tn::ellipsis, j}][{0, 0}]), "int64[2] 3 1");
    CHECK_SHOWS((x[{0, tn::slice(1), i.unsqueeze(1)}]), "int64[2,2,1] 6 4 10 8");
    CHECK_SHOWS((x[{0, i, tn::newaxis, tn::slice(0, 1)}]), "int64[2,1,1] 8 0");
    CHECK_SHOWS(x[x > 21], "int64[2] 22 23");
    CHECK_SHOWS((x[{0, x[0] > 100}]), "int64[0]");
    tn::tensor two =
        tn::tensor({{true, false, false}, {false, false, true}}); // of dimensions 0 and 1
    CHECK_SHOWS(x[two], "int64[2,4] 0 1 2 3 20 21 22 23");
    CHECK_SHOWS((x[{two, j}]), "int64[2] 3 21");
    CHECK_SHOWS((x[{two, tn::slice(0, 1)}]), "int64[2,1] 0 20");
    CHECK_SHOWS((x[{tn::ellipsis, two, 1}]), "int64[2] 1 21");
    CHECK_SHOWS(x[tn::tensor(1)][0], "int64[4] 12 13 14 15");
    CHECK_SHOWS((tn::tensor({4, 5})[tn::tensor(true)]), "int64[1,2] 4 5");
    CHECK_SHOWS((tn::tensor({4, 5})[tn::tensor(false)]), "int64[0,2]");
    CHECK(tn_ok());
}

/* Each kind of assignment, for a view and for elements at tensors. */
static void assigning_to_an_index_writes_into_the_tensor() {
    tn::tensor x = tn::zeros({2, 3}), m = tn::tensor({true, false, true}), i = tn::tensor({2, 0});
    x[0] = 1;
    CHECK_SHOWS(x, "float32[2,3] 1 1 1 0 0 0");
    x[1] = tn::tensor({4, 5, 6});
    CHECK_SHOWS(x, "float32[2,3] 1 1 1 4 5 6");
    x[0] = {7, 8, 9};
    CHECK_SHOWS(x, "float32[2,3] 7 8 9 4 5 6");
    x[0] = x[1];
    CHECK_SHOWS(x, "float32[2,3] 4 5 6 4 5 6");
    x[{tn::slice(), 1}] = 0.5;
    CHECK_SHOWS(x, "float32[2,3] 4 0.5 6 4 0.5 6");
    x[{0, m}] = 2;
    CHECK_SHOWS(x, "float32[2,3] 2 0.5 2 4 0.5 6");
    x[{1, i}] = tn::tensor({10.0, 20.0});
    CHECK_SHOWS(x, "float32[2,3] 2 0.5 2 20 0.5 10");
    x[x > 5] = 0;
    CHECK_SHOWS(x, "float32[2,3] 2 0.5 2 0 0.5 0");
    x[{0, tn::slice(0, 2)}] += 1;
    CHECK_SHOWS(x, "float32[2,3] 3 1.5 2 0 0.5 0");
    x[{tn::slice(), i}] -= 1;
    CHECK_SHOWS(x, "float32[2,3] 2 1.5 1 -1 0.5 -1");
    x[x < 0] *= x[x < 0];
    CHECK_SHOWS(x, "float32[2,3] 2 1.5 1 1 0.5 1");
    x[0] /= x[0];
    CHECK_SHOWS(x, "float32[2,3] 1 1 1 1 0.5 1");
    x[{tn::ellipsis, i}] = x[{tn::ellipsis, tn::tensor({1, 1})}] + tn::tensor({0, 2});
    CHECK_SHOWS(x, "float32[2,3] 3 1 1 2.5 0.5 0.5");
    x[{}] = 4;
    CHECK_SHOWS(x, "float32[2,3] 4 4 4 4 4 4");
    x[1][2] = 5;
    CHECK_SHOWS(x, "float32[2,3] 4 4 4 4 4 5");
    const tn::tensor shared = x;
    shared[0] = true;
    CHECK_SHOWS(x, "float32[2,3] 1 1 1 4 4 5");
    x[{0, 0}] = x[{1, 2}];
    CHECK_EQ((x[{0, 0}].item()), 5);
    tn::tensor n = tn::arange(4);
    n[0] = 1.5;
    n[n > 2] = 7.9;
    CHECK_SHOWS(n, "int64[4] 1 1 2 7");
    CHECK(tn_ok());
    x[0] = tn::zeros({4});
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    x[5] = 1;
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "5");
    x[5] += 1;
    CHECK_FAILS_AT(__LINE__ - 1, TN_INDEX, "5");
    x[0] = tn::tensor();
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "src");
    x[{1, i}] = tn::tensor({1, 2}); // as in torch, values at tensors have the dtype
    CHECK_FAILS_AT(__LINE__ - 1, TN_TYPE, "dtypes match");
    CHECK_SHOWS(x[1], "float32[3] 4 4 5");
    CHECK(tn_ok());
}

static void memory_that_overlaps_is_refused_as_in_torch() {
    tn::tensor x = tn::arange(5), z = tn::arange(4).reshape({2, 2});
    x[tn::slice(1)] = x[tn::slice(0, 4)];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "overlap");
    x[tn::slice(1)] += x[tn::slice(0, 4)];
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "overlap");
    CHECK_SHOWS(x, "int64[5] 0 1 2 3 4");
    x[tn::slice(1)] = x[tn::slice(0, 4)].clone();
    CHECK_SHOWS(x, "int64[5] 0 0 1 2 3");
    x[tn::slice(1)] = x[tn::slice(1)];
    z[0] += z[0];
    CHECK_SHOWS(z, "int64[2,2] 0 2 2 3");
    CHECK(tn_ok());
}

static void operators_promote_and_broadcast() {
    tn::tensor i = tn::tensor({1, 2, 3}), f = tn::tensor({0.5, 1.0, 2.0}), b = i > 1;
    CHECK_SHOWS(i + f, "float32[3] 1.5 3 5");
    CHECK_SHOWS(i + 1, "int64[3] 2 3 4");
    CHECK_SHOWS(1 + i, "int64[3] 2 3 4");
    CHECK_SHOWS(i + 0.5, "float32[3] 1.5 2.5 3.5");
    CHECK_SHOWS(i.to(TN_I8) + 1, "int8[3] 2 3 4");
    CHECK_SHOWS(10 - i, "int64[3] 9 8 7");
    CHECK_SHOWS(i - 1L, "int64[3] 0 1 2");
    CHECK_SHOWS(2 * f, "float32[3] 1 2 4");
    CHECK_SHOWS(i / 2, "float32[3] 0.5 1 1.5");
    CHECK_SHOWS(6 / i, "float32[3] 6 3 2");
    CHECK_SHOWS(6 / i.to(TN_F64), "float64[3] 6 3 2");
    CHECK_SHOWS(1.5 / f.to(TN_F16), "float16[3] 3 1.5 0.75");
    CHECK_SHOWS(i % 2, "int64[3] 1 0 1");
    CHECK_SHOWS(-7 % i, "int64[3] 0 1 2");
    CHECK_SHOWS(i << 2, "int64[3] 4 8 12");
    CHECK_SHOWS(1 << i, "int64[3] 2 4 8");
    CHECK_SHOWS(i >> 1, "int64[3] 0 1 1");
    CHECK_SHOWS((i & 1) | (i ^ 3), "int64[3] 3 1 1");
    CHECK_SHOWS(6 & i, "int64[3] 0 2 2");
    CHECK_SHOWS(~b & (f < 1), "bool[3] 1 0 0");
    CHECK_SHOWS(-f, "float32[3] -0.5 -1 -2");
    CHECK_SHOWS(i == 2, "bool[3] 0 1 0");
    CHECK_SHOWS(2 != i, "bool[3] 1 0 1");
    CHECK_SHOWS(i < f, "bool[3] 0 0 0");
    CHECK_SHOWS(2 < i, "bool[3] 0 0 1");
    CHECK_SHOWS(2 <= i, "bool[3] 0 1 1");
    CHECK_SHOWS(2 > i, "bool[3] 1 0 0");
    CHECK_SHOWS(2 >= i, "bool[3] 1 1 0");
    CHECK_SHOWS(i >= 2, "bool[3] 0 1 1");
    CHECK_SHOWS(i <= i[1], "bool[3] 1 1 0");
    CHECK_SHOWS(i.unsqueeze(1) * i[tn::slice(0, 2)], "int64[3,2] 1 2 2 4 3 6");
    CHECK_SHOWS(b + b, "bool[3] 0 1 1");
    CHECK_SHOWS(b + true, "bool[3] 1 1 1");
    CHECK((i == i).all() && !(i == 7).any());
    CHECK(tn_ok());
    const int before = __LINE__ + 1;
    tn::tensor wrong = i + tn::zeros({2});
    CHECK(!wrong.defined());
    CHECK_FAILS_AT(before, TN_INVALID, "add");
    (void)(tn::tensor() == i);
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    2 * tn::tensor();
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    -tn::tensor();
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "");
    ~f;
    CHECK_FAILS_AT(__LINE__ - 1, TN_TYPE, "bitwise_not");
}

static void compound_operators_write_in_place() {
    tn::tensor x = tn::tensor({2.0, 4.0}), same = x, i = tn::tensor({6, 9});
    ((x += 1) *= 2) -= tn::tensor({1, 1});
    x /= 5;
    CHECK_SHOWS(x, "float32[2] 1 1.8");
    CHECK(same.is_same(x));
    x.add_(1).mul_(10);
    CHECK_SHOWS(same, "float32[2] 20 28");
    (i += 1) -= 2;
    CHECK_SHOWS(i, "int64[2] 5 8");
    CHECK(tn_ok());
    i /= 2;
    CHECK_FAILS_AT(__LINE__ - 1, TN_TYPE, "");
    i += 0.5;
    CHECK_FAILS(TN_TYPE, "");
    CHECK_SHOWS(i, "int64[2] 5 8");
}

static void options_have_names_both_ways() {
    tn::tensor x = tn::arange(6).reshape({2, 3}), out = tn::zeros({3}, TN_I64);
    CHECK_SHOWS(x.sum({0}, true), "int64[1,3] 3 5 7");
    CHECK_SHOWS(x.sum(tn::sum_options().set_dim({0}).set_keepdim(true)), "int64[1,3] 3 5 7");
    CHECK_SHOWS(tn::sum(x, tn::sum_options().set_dim({1}).set_dtype(TN_F64)), "float64[2] 3 12");
    CHECK(x.sum(tn::sum_options().set_dim({0}).set_out(out)).is_same(out));
    const tn::tensor largest = tn::zeros(2, x.dtype()), at = tn::zeros(2, TN_I64);
    const tn::values_indices both = x.max(1, tn::max_dim_options().set_out({largest, at}));
    CHECK(both.values.is_same(largest) && both.indices.is_same(at));
    CHECK_SHOWS(largest, "int64[2] 2 5");
    CHECK_SHOWS(at, "int64[2] 2 2");
    CHECK_SHOWS(out, "int64[3] 3 5 7");
    CHECK_SHOWS(tn::add(x, x, 2)[1], "int64[3] 9 12 15");
    CHECK_SHOWS(tn::zeros({1}, tn::zeros_options().set_dtype(TN_BOOL)), "bool[1] 0");
#if __cplusplus >= 202002L
    CHECK_SHOWS(x.sum({.dim = {0}, .keepdim = true}), "int64[1,3] 3 5 7");
    CHECK_SHOWS((tn::zeros({1}, {.dtype = TN_F64})), "float64[1] 0");
    CHECK_SHOWS(tn::add(x, x, {.alpha = -1})[0], "int64[3] 0 0 0");
    CHECK_SHOWS(x.max(1, {.keepdim = true}).indices, "int64[2,1] 2 2");
    CHECK(tn::max(x, 1, {.out = {largest, at}}).indices.is_same(at));
#endif
    tn::values_indices m = x.max(1);
    CHECK_SHOWS(m.values, "int64[2] 2 5");
#if __cplusplus >= 201703L
    auto [values, indices] = x.sort(1, true);
    CHECK_SHOWS(values, "int64[2,3] 2 1 0 5 4 3");
    CHECK_SHOWS(indices[0], "int64[3] 2 1 0");
#endif
    tn::tensors parts = x.split(2, 1);
    CHECK_EQ(parts.size(), 2);
    CHECK_SHOWS(parts[1], "int64[2,1] 2 5");
    CHECK_SHOWS((tn::cat({x, parts[1]}, 1)[0]), "int64[4] 0 1 2 2");
    CHECK_SHOWS((tn::cat(std::vector<tn::tensor>{x, x})[3]), "int64[3] 3 4 5");
    CHECK_SHOWS(tn::stack(parts[1].unbind()), "int64[2,1] 2 5");
    CHECK_SHOWS(x.view(std::vector<int64_t>{3, 2})[2], "int64[2] 4 5");
    CHECK_SHOWS(x.reshape(tn::zeros({6}).sizes()), "int64[6] 0 1 2 3 4 5");
    CHECK(tn_ok());
}

static void iteration_gives_rows_that_write() {
    tn::tensor x = tn::arange(6).reshape({3, 2});
    int64_t sum = 0;
    for (tn::tensor row : x) row += 1;
    for (auto &row : x) row[0] += 0;
    for (const auto &row : x * 2) sum += row[0].item<int64_t>();
    for (auto row : (x * 2).add_(1).t())
        sum += row.numel(); // begin() holds the tensor that it goes through
    CHECK_EQ(sum, 2 + 6 + 10 + 6);
    CHECK_SHOWS(x, "int64[3,2] 1 2 3 4 5 6");
    auto it = (x + 1).begin();
    ++it;
    CHECK_SHOWS(*it, "int64[2] 4 5");
    const auto still = it;
    CHECK_SHOWS(*still, "int64[2] 4 5");
    const tn::tensor &first = *(x * 2).begin(); // a row of its own, since the iterator is gone
    auto &&second = *it;
    CHECK_SHOWS(first, "int64[2] 2 4");
    CHECK(&second == &*it);
    static_assert(!std::is_reference<decltype(*x.begin())>::value,
                  "a temporary's row is no reference");
    for (tn::tensor row : tn::zeros({0, 2})) CHECK(!row.defined());
    CHECK(tn_ok());
    for (tn::tensor row : tn::tensor(5)) CHECK(!row.defined());
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "0");
}

static void sizes_are_read() {
    tn::tensor x = tn::zeros({2, 3});
    CHECK_EQ(x.dim(), 2);
    CHECK_EQ(x.numel(), 6);
    CHECK_EQ(x.size(-1), 3);
    CHECK_EQ(x.stride(0), 3);
    CHECK(x.is_contiguous() && !x.t().is_contiguous());
    CHECK_EQ(x.sizes().value.at[1], 3);
    CHECK_EQ(tn::tensor().dim(), 0);
    CHECK(tn_ok());
    CHECK_EQ(x.size(2), 0);
    CHECK_FAILS(TN_INDEX, "2");
}

static void printing_is_tn_to_text() {
    const tn::tensor all[] = {tn::arange(6).reshape({2, 3}) / 4, tn::tensor(true), tn::zeros({0}),
                              tn::tensor({1e10, 1.0}), tn::arange(2000)};
    for (const tn::tensor &x : all) {
        std::ostringstream s;
        s << x << '!';
        char *text = tn_to_text(x.get(), NULL);
        CHECK_TEXT(s.str().c_str(), (std::string(text) + "!").c_str());
        tn_alloc_free(text, strlen(text) + 1);
    }
    std::ostringstream s;
    s << tn::tensor() << tn::tensor({1, 2})[0] << all[0].sizes() << tn::tensor(1).sizes();
    CHECK_TEXT(s.str().c_str(), "tensor()tensor(1)[2, 3][]");
}

/* One option in braces, where a list of numbers could stand as well (g++). */
static void one_option_in_braces_is_an_option() {
    tn::tensor x = tn::arange(6).reshape({2, 3});
    const tn::tensor c = x;
    CHECK(x.sum({0}).numel() == 3 && x.sum().item() == 15 && x.sum({}).item() == 15);
    CHECK(c.sum({1}, true).sizes() == tn::int_list({2, 1}) && x[0].sum({0}).item() == 3);
    CHECK(tn::sum(c, {0, 1}).item() == 15 && tn::sum(x.get(), {0}, true).numel() == 3);
#if __cplusplus >= 202002L
    CHECK(x.sum({.dim = {0}}).numel() == 3 && c.sum({.dim = {1}}).numel() == 2);
    CHECK((x + 1).sum({.dim = {1}}).numel() == 2 && x[0].sum({.dim = {0}}).item() == 3);
    CHECK(x.to(TN_F32).std({.dim = {0}}).numel() == 3 &&
          x.roll({1}, {.dims = {1}})[0][0].item() == 2);
    CHECK(tn::sum(x, tn::sum_options{.dim = {0}}).numel() == 3);
    const std::vector<int64_t> dims = {0};
    CHECK(tn::sum(x, {.dim = {0}}).numel() == 3 && tn::sum(c, {.dim = dims}).numel() == 3);
    CHECK(tn::sum(x[0], {.dim = {0}}).item() == 3 && tn::sum(x + 1, {.dim = {1}}).numel() == 2);
    CHECK(tn::sum(x.get(), {.dim = {1}}).numel() == 2 && tn::sum(x, {}).item() == 15);
    const tn::tensor image = tn::ones({1, 1, 4, 4});
    CHECK(tn::max_pool2d(image, {2, 2}, {.stride = 1}).numel() == 9);
    tn_tensor *p = tn_sum(x, {.dim = {1}});
    CHECK(tn_numel(p) == 2);
    tn_free(p);
#endif
}

/* A number stands for a list of one, where no other function takes a number. */
static void one_number_is_a_list_of_one() {
    const tn::tensor x = tn::arange(6).reshape({2, 3});
    CHECK_SHOWS(x.sum(0), "int64[3] 3 5 7");
    CHECK_SHOWS(tn::sum(x, -1, true), "int64[2,1] 3 12");
    CHECK_SHOWS(x.view(-1).amax(0), "int64[] 5");
    CHECK_SHOWS(x.flip(0).roll(1, 1), "int64[2,3] 5 3 4 2 0 1");
    CHECK_SHOWS(tn::zeros(2), "float32[2] 0 0");
    CHECK_SHOWS(tn::full(2, 7), "int64[2] 7 7");
    CHECK_SHOWS(tn::ones({1, 2, 1}).squeeze(0).squeeze({0, 1}), "float32[2] 1 1");
    CHECK_SHOWS(x.sum(tn::sum_options().set_dim(1)), "int64[2] 3 12");
    const std::vector<int64_t> sizes = {3, 2};
    CHECK(tn::randint(10, 3).size(0) == 3 && tn::randint(5, 9, {2, 2}).min().item() >= 5);
    CHECK(x.reshape(sizes).size(0) == 3 && x.reshape({x.numel()}).dim() == 1);
    CHECK(x.reshape({sizes.size(), 3u}).size(1) == 3 && x.cumsum(sizes.size() - 1).dim() == 2);
    const tn::tensor bits = x > 2;
    CHECK(tn::sum(bits, {}).item() == 3 && bits.any_dims({1}).sum().item() == 1);
}

static const check_test tests[] = {
    CHECK_TEST(brace_lists_make_tensors_as_torch_does),
    CHECK_TEST(functions_make_tensors),
    CHECK_TEST(containers_go_in_and_out),
    CHECK_TEST(items_are_numbers_of_the_asked_type),
    CHECK_TEST(indices_give_views),
    CHECK_TEST(wrong_indices_are_refused_at_their_line),
    CHECK_TEST(tensors_among_the_indices_take_copies),
    CHECK_TEST(assigning_to_an_index_writes_into_the_tensor),
    CHECK_TEST(memory_that_overlaps_is_refused_as_in_torch),
    CHECK_TEST(operators_promote_and_broadcast),
    CHECK_TEST(compound_operators_write_in_place),
    CHECK_TEST(options_have_names_both_ways),
    CHECK_TEST(iteration_gives_rows_that_write),
    CHECK_TEST(sizes_are_read),
    CHECK_TEST(printing_is_tn_to_text),
    CHECK_TEST(one_option_in_braces_is_an_option),
    CHECK_TEST(one_number_is_a_list_of_one),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
