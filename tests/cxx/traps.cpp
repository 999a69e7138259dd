/* traps.cpp - what C++ makes easy to write and hard to get right: {} for options, objects that are
 * moved in part, arrays, static objects that end after their context. */
#include "told.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

static tn::nn::linear static_module(3, 4);
static tn::optim::sgd static_optimizer(static_module.parameters(), 0.1);
static tn::data::loader static_loader(tn::data::tensors({tn::ones({4, 3}), tn::ones({4, 1})}));

static void braces_are_the_default_options() {
    const tn::nn::linear l(2, 3, {});
    const tn::optim::adam o(l.parameters(), {});
    const tn::tensor x = tn::ones({2});
    CHECK(l.bias().defined() && o.lr() == 1e-3);
    CHECK(x.add(x, {})[0].item() == 2);
}

static void arrays_are_copied_whole_or_refused() {
    const float a[6] = {1, 2, 3, 4, 5, 6};
    CHECK(tn::from(a, {2, 3}).size(1) == 3 && tn::from(a).size(0) == 6);
    CHECK(tn::from(&a[4], {2})[1].item() == 6);
    CHECK(tells(told_by([&] { tn::from(a, {7}); }), "has 6 elements, the shape another number"));
}

static void a_schedule_keeps_its_function_where_it_goes() {
    std::vector<tn::optim::schedule> all;
    const std::vector<double> rates(3, 0.5);
    tn::optim::sgd o(tn::nn::linear(2, 2).parameters(), 0.1);
    all.push_back(tn::optim::lambda_lr(o, [rates](int64_t i) { return rates.at((size_t)i); }));
    CHECK(all[0].step() && o.lr() == 0.05);
}

struct net : tn::nn::custom {
    tn::nn::linear fc = add("fc", tn::nn::linear(2, 2));
    net() : custom("Net") {}
    tn::tensor forward(const tn::tensor &x) override { return fc(x); }
};
static void a_module_that_outlives_its_object_says_so() {
    net *n = new net;
    const tn::nn::module taken = std::move(*n);
    delete n;
    CHECK(tells(told_by([&] { taken(tn::ones({1, 2})); }), "its C++ object has ended"));
    CHECK(tn::nn::make<net>()(tn::ones({1, 2})).size(1) == 2);
}

static void integers_that_do_not_fit_are_refused() {
    CHECK(tells(told_by([] { tn::tensor({-1})[0].item<unsigned long>(); }), "-1 does not fit"));
    CHECK(tells(told_by([] { tn::tensor(1e30).item<int64_t>(); }), "does not fit"));
    CHECK(tells(told_by([] { tn::tensor().size(0); }), "dimension 0"));
}

static void sizes_are_a_range() {
    const tn::tensor x = tn::ones({2, 3});
    int64_t product = 1;
    for (int64_t n : x.sizes()) product *= n;
    CHECK(product == 6 && x.sizes()[1] == 3 && x.sizes() == tn::int_list({2, 3}));
    CHECK(x.sizes() != tn::int_list({3, 2}) && x.sizes().size() == 2);
}

static void options_keep_the_lists_they_are_given() {
    const tn::tensor x = tn::ones({2, 3, 4});
    tn::sum_options o = tn::sum_options().set_dim({0, 2}), copy;
    copy = o;
    o.dim = {1};
    const tn::sum_options other = copy;
    CHECK(x.sum(copy).sizes() == tn::int_list({3}) && x.sum(o).sizes() == tn::int_list({2, 4}));
    CHECK(x.sum(other).sizes() == tn::int_list({3}));
    const std::vector<int64_t> all(40, 0); /* kept in part, and refused as a whole */
    CHECK(tells(told_by([&] { x.sum(tn::sum_options().set_dim(all)); }), "dim"));
    tn::conv2d_options c = tn::conv2d_options().set_padding(1), d = c;
    c.padding = 2;
    const tn::tensor w = tn::ones({1, 1, 3, 3}), y = tn::ones({1, 1, 4, 4});
    CHECK(tn::conv2d(y, w, d).size(2) == 4 && tn::conv2d(y, w, c).size(3) == 6);
    const tn::tensor z = tn::ones({2}).requires_grad_();
    const tn::grad_options g = tn::grad_options().set_seeds({tn::tensor({2.0, 3.0})});
    CHECK(tn::grad({z * z}, {z}, g)[0][1].item() == 6);
}

static void a_write_to_a_temporary_gives_an_owner() {
    const tn::tensor x = tn::ones({2, 2});
    double sum = 0;
    for (tn::tensor row : x.clone().add_(1)) sum += row.sum().item();
    for (tn::tensor row : x.clone() += 2) sum += row.sum().item();
    const tn::tensor &w = tn::zeros({2}).requires_grad_();
    CHECK(sum == 20 && w.requires_grad() && x.sum().item() == 4);
    tn::tensor y = x;
    CHECK(y.add_(1).is_same(x) && (y += 1).is_same(x) && x[0][0].item() == 3);
}

static void a_stored_index_follows_its_tensor() {
    tn::tensor x = tn::tensor({1.0, 2.0, 3.0});
    auto large = x[x > 1];
    large += 1;
    large += 1;
    CHECK(equal(x, tn::tensor({1.0, 4.0, 5.0})) && equal(large, tn::tensor({4.0, 5.0})));
    x *= 2;
    large -= 1;
    CHECK(equal(x, tn::tensor({2.0, 7.0, 9.0})));
    large = 0;
    CHECK(x.sum().item() == 2 && large.sum().item() == 0);
}

static void elements_that_do_not_fit_are_refused() {
    const tn::tensor x = tn::tensor({1, 300}), f = tn::tensor({-0.5, 2.9, NAN});
    CHECK(tells(told_by([&] { x.as<std::vector<unsigned char>>(); }), "element 1, 300, does not fit"));
    CHECK(tells(told_by([&] { (-x).as<std::vector<unsigned>>(); }), "element 0, -1, does not fit"));
    CHECK(tells(told_by([&] { f.as<std::vector<int>>(); }), "element 2, nan, does not fit"));
    CHECK(tells(told_by([&] { (f * 1e30).as<std::vector<int64_t>>(); }), "does not fit"));
    CHECK(f[tn::slice(0, 2)].as<std::vector<unsigned>>() == std::vector<unsigned>({0, 2}));
    const std::vector<uint64_t> most = {UINT64_MAX, 1};
    const tn::tensor u = tn::from(most);
    CHECK(u.as<std::vector<uint64_t>>() == most && u[0].item<uint64_t>() == UINT64_MAX);
    CHECK(tells(told_by([&] { u.as<std::vector<int64_t>>(); }), "element 0, 1.8446744073709552e+19"));
    CHECK(tells(told_by([&] { u[0].item<int64_t>(); }), "18446744073709551615 does not fit"));
    CHECK(tn::tensor(1.2e19).as<std::vector<uint64_t>>()[0] > INT64_MAX);
    std::array<bool, 2> truth;
    CHECK(x.copy_to(truth) && truth[1]);
}

struct counted : tn::nn::custom {
    int &ended;
    explicit counted(int &n) : custom("Counted"), ended(n) {}
    ~counted() override { ended++; }
};
static void a_list_of_modules_holds_none_before_its_use() {
    int ended = 0;
    {
        const std::vector<tn::nn::module> one = {tn::nn::make<counted>(ended)};
        const tn::modules_ref list(one);
        const tn::nn::sequential a(list), b(list); /* and may be used twice */
        CHECK(a.size() == 1 && b.size() == 1 && a[0].is_same(b[0]));
    }
    CHECK(ended == 1);
    {
        const std::vector<tn::nn::module> one = {tn::nn::make<counted>(ended)};
        const tn::modules_ref unused(one);
    }
    CHECK(ended == 2);
}

#ifdef TN_EXCEPTIONS
static void what_release_throws_waits_for_the_next_call() {
    float memory[2] = {1, 2};
    {
        const tn::tensor x = tn::wrap(memory, {2}, [](float *) { throw std::range_error("late"); });
        CHECK(x.sum().item() == 3);
    }
    CHECK(tells(told_by([] { used(tn::ones({1})); }), "late"));
    CHECK(tn::ones({1}).item() == 1);
}
#endif

static const check_test tests[] = {
#ifdef TN_EXCEPTIONS
    CHECK_TEST(what_release_throws_waits_for_the_next_call),
#endif
    CHECK_TEST(options_keep_the_lists_they_are_given),
    CHECK_TEST(a_write_to_a_temporary_gives_an_owner),
    CHECK_TEST(a_stored_index_follows_its_tensor),
    CHECK_TEST(elements_that_do_not_fit_are_refused),
    CHECK_TEST(a_list_of_modules_holds_none_before_its_use),
    CHECK_TEST(braces_are_the_default_options),
    CHECK_TEST(arrays_are_copied_whole_or_refused),
    CHECK_TEST(a_schedule_keeps_its_function_where_it_goes),
    CHECK_TEST(a_module_that_outlives_its_object_says_so),
    CHECK_TEST(integers_that_do_not_fit_are_refused),
    CHECK_TEST(sizes_are_a_range),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    (void)static_loader; /* the static objects end after the context */
    tn_context_free(nullptr);
    return failed;
}
