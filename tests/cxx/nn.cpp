/* nn.cpp - modules in C++: the classes of rows, modules by inheritance, ownership, errors with
 * paths. Values are those of the same calls in C, whose seed gives torch's. */
#include "told.h"

#include <type_traits>

/* --- classes of rows -------------------------------------------------------------------------- */

static void a_class_and_its_name_in_c_make_the_same_module() {
    tn_manual_seed(3);
    tn_module *c = tn_nn_linear(4, 3);
    tn_manual_seed(3);
    tn::nn::linear fc(4, 3);
    CHECK(equal(fc.weight(), tn::tensor(tn_module_tensor(c, "weight"))));
    CHECK(equal(fc.bias(), tn::nn::module(c).part("bias")));
    CHECK(fc.options().in_features == 4 && fc.options().out_features == 3 && fc.options().bias);
    CHECK(!strcmp(fc.type(), "Linear"));
    const tn::tensor x = tn::ones({2, 4});
    tn::tensor y = tn::tensor::take(tn_forward(c, x.get()));
    CHECK(equal(fc(x), y));
    CHECK(equal(fc(x), tn::linear(x, fc.weight(), fc.bias())));
    tn_module_free(c);
    CHECK(tn_ok());
}

static void options_come_by_position_and_by_name() {
    tn::nn::linear positional(4, 3, false);
    tn::nn::linear named(4, 3, tn::nn::linear_options().set_bias(false).set_dtype(TN_F64));
    CHECK(!positional.bias().defined() && !named.bias().defined());
    CHECK(named.weight().dtype() == TN_F64);
#if __cplusplus >= 202002L
    tn::nn::linear designated(4, 3, {.bias = false});
    CHECK(!designated.bias().defined() && designated.weight().defined());
#endif
    tn::nn::conv2d conv(1, 2, 3), padded(1, 2, {3, 3}, tn::nn::conv2d_options().set_padding(1));
    CHECK(conv(tn::ones({1, 1, 5, 5})).size(2) == 3);
    CHECK(padded(tn::ones({1, 1, 5, 5})).size(2) == 5);
    tn::nn::relu relu;
    CHECK(relu(tn::tensor({-1.0, 2.0})).as<std::vector<float>>() == std::vector<float>({0, 2}));
    CHECK(tn_ok());
}

static void calls_of_rows_take_inputs_options_and_give_structs() {
    tn::nn::lstm lstm(3, 5);
    const tn::tensor x = tn::ones({7, 1, 3});
    tn::output_h_n_c_n r = lstm(x), again = lstm(x, r.h_n, r.c_n);
    CHECK(r.output.size(0) == 7 && r.h_n.size(2) == 5 && equal(r.output[6], r.h_n[0]));
    CHECK(!equal(again.h_n, r.h_n));
    r = lstm(x, tn::nn::lstm_forward_options().set_h(again.h_n).set_c(again.c_n));
    CHECK(!equal(again.h_n, r.h_n));
#if __cplusplus >= 201703L
    auto [out, h, c] = lstm(x);
    CHECK(equal(out[6], h[0]) && c.defined());
#endif
    tn::nn::cross_entropy_loss loss;
    const tn::tensor logits = tn::tensor({{0.0, 0.0}, {0.0, 0.0}}), target = tn::tensor({0, 1});
    CHECK(loss(logits, target).item<float>() == 0.693147180559945f);
    tn_output_h_n_c_n in_c = tn_nn_lstm_forward(lstm.get(), x);
    CHECK(equal(tn::tensor(in_c.output), lstm(x).output));
    tn_free(in_c.output);
    tn_free(in_c.h_n);
    tn_free(in_c.c_n);
    CHECK(tn_ok());
}

static void sequential_takes_modules_of_any_class_and_holds_them() {
    tn::nn::linear first(4, 8);
    tn::nn::sequential net{first, tn::nn::relu(), tn::nn::linear(8, 2)};
    CHECK(net.size() == 3 && net[0].is_same(first));
    CHECK(first.get()->count == 2);
    CHECK(!net[3].defined() && !net[-1].defined());
    tn::nn::linear back(net[2]);
    CHECK(back.options().in_features == 8);
    std::vector<tn::nn::module> list(2, tn::nn::relu());
    tn::nn::sequential of_vector(list), empty, nested{net, of_vector};
    CHECK(of_vector.size() == 2 && empty.size() == 0 && nested.size() == 2);
    CHECK(empty.append(tn::nn::tanh()) && empty.size() == 1);
    tn::nn::sequential of_c({tn_nn_linear(4, 4), tn_nn_relu()});
    CHECK(of_c.size() == 2 && of_c[0].get()->count == 2); /* the tree's and this one's */
    tn_module *c = tn_sequential(tn_nn_linear(4, 4), tn_nn_relu());
    CHECK(c && c->nparts == 2);
    tn_module_free(c);
    std::ostringstream text;
    text << nested;
    CHECK(text.str() == "Sequential(\n  (0): Sequential(\n"
                        "    (0): Linear(in_features=4, out_features=8, bias=True)\n"
                        "    (1): ReLU()\n"
                        "    (2): Linear(in_features=8, out_features=2, bias=True)\n"
                        "  )\n  (1): Sequential(\n    (0): ReLU()\n    (1): ReLU()\n  )\n)");
    CHECK(tells(told_by([&] { tn::nn::relu not_this(net[0]); }), "the module is Linear"));
}

/* The line of the error that `call` leaves, or throws; 0 if there is none. */
template <class F>
static int line_of(F call) {
    tn_error_info e;
#ifdef TN_EXCEPTIONS
    try {
        call();
    } catch (const tn::error &error) {
        return error.line;
    }
#else
    call();
#endif
    return tn_error_take(&e) ? e.line : 0;
}
static void sequential_of_arguments_tells_its_line() {
    const tn::nn::relu relu;
    const tn::nn::module none;
    CHECK_EQ(line_of([&] { tn::nn::sequential{relu, none}; }), __LINE__);
    CHECK_EQ(line_of([&] { tn::nn::sequential(relu, none); }), __LINE__);
    CHECK_EQ(line_of([&] { tn::nn::sequential(none, relu, tn::nn::tanh()); }), __LINE__);
    CHECK_EQ(line_of([&] { tn::nn::module_list(relu, relu, relu, relu, none); }), __LINE__);
    CHECK(tn_ok());
}

/* What an iterator that ends at once gives outlives it; one that stays gives a reference. */
template <class R>
static bool gives_values(const R &range) {
    auto it = range.begin();
    const auto still = it;
    static_assert(!std::is_reference<decltype(*range.begin())>::value, "of a temporary");
    static_assert(!std::is_reference<decltype(*still)>::value, "of a constant");
    static_assert(std::is_reference<decltype(*it)>::value, "for auto &");
    return &*it == &*it;
}
static void what_an_iterator_gives_outlives_it() {
    const tn::nn::linear first(2, 3);
    const tn::nn::sequential net{first, tn::nn::relu()};
    const tn::nn::module_list list{first};
    const tn::named_tensors all = net.named_parameters();
    CHECK(gives_values(net) && gives_values(list) && gives_values(all));
    CHECK(gives_values(net.children()));
    auto &&child = *net.children().begin();
    auto &&member = *net.begin();
    const tn::named_tensor &weight = *all.begin();
    auto &&value = (*net.named_parameters().begin()).value;
    CHECK(child.value.is_same(first) && !strcmp(child.name, "0") && member.is_same(first));
    CHECK(weight.value.is_same(first.weight()) && !strcmp(weight.name, "0.weight"));
    CHECK(value.is_same(first.weight()) && tn_ok());
}

static void a_constructor_holds_the_module_it_is_given() {
    tn::nn::transformer_encoder_layer layer(4, 2, 6);
    CHECK(layer.get()->count == 1);
    {
        tn::nn::transformer_encoder stack(layer, 2, tn::nn::layer_norm({4}));
        CHECK(layer.get()->count == 1); /* its copies are in the tree */
        tn::nn::transformer both(4, 2, 1, 1, 6, 0, TN_ACTIVATION_RELU, stack);
        CHECK(stack.get()->count == 2 && both.child("encoder").is_same(stack));
        const tn::tensor x = tn::ones({3, 2, 4});
        CHECK(both(x, stack(x)).sizes() == x.sizes());
    }
    CHECK(layer.get()->count == 1);
    tn_module *c = tn_nn_transformer_encoder(tn_nn_transformer_encoder_layer(4, 2), 1);
    CHECK(c && c->nparts == 1);
    tn_module_free(c);
    CHECK(tells(told_by([&] { tn::nn::transformer_encoder not_this(tn::nn::relu(), 1); }),
                "must be a TransformerEncoderLayer"));
    CHECK(tn_ok());
}

/* --- the methods of module -------------------------------------------------------------------- */

static void names_paths_and_children() {
    tn::nn::sequential net{tn::nn::linear(2, 3), tn::nn::batch_norm1d(3)};
    std::string names, buffers, state, below;
    for (tn::named_tensor each : net.named_parameters()) names += std::string(each.name) + " ";
    for (tn::named_tensor each : net.named_buffers()) buffers += std::string(each.name) + " ";
    const tn::named_tensors all = net.state_dict();
    for (size_t i = 0; i < all.size(); i++) state += std::string(all[i].name) + " ";
    for (tn::nn::named_module each : net.children())
        below += std::string(each.name) + "=" + each.value.type() + " ";
    CHECK(names == "0.weight 0.bias 1.weight 1.bias ");
    CHECK(buffers == "1.running_mean 1.running_var 1.num_batches_tracked ");
    CHECK(state == names + buffers);
    CHECK(below == "0=Linear 1=BatchNorm1d ");
    CHECK(all.find("0.bias").is_same(net.part("0.bias")) && !all.find("2").defined());
    CHECK(net.parameters().size() == 4 && net.child("1").is_same(net[1]));
    CHECK(net.set_part("0.bias", tn::zeros({3})) && !net.part("0.bias").requires_grad());
    std::string paths;
    CHECK(net.apply([&](tn::nn::module m, const char *path) {
        paths += std::string(path) + ":" + m.type() + " ";
    }));
    CHECK(paths == ":Sequential 0:Linear 1:BatchNorm1d ");
    CHECK(tells(told_by([&] { net.part("0.none"); }), "0.none"));
    CHECK(tells(told_by([&] { net.child("7"); }), "7"));
}

static void modes_dtypes_copies_and_files() {
    tn::nn::sequential net{tn::nn::linear(2, 3), tn::nn::dropout(0.5)};
    CHECK(net.is_training() && !net.eval().is_training() && !net[1].is_training());
    CHECK(net.train().is_training());
    net.requires_grad_(false);
    CHECK(!net.part("0.weight").requires_grad());
    net.requires_grad_();
    const tn::tensor weight = net.part("0.weight");
    net.to(TN_F64);
    CHECK(weight.dtype() == TN_F64 && net.part("0.weight").is_same(weight));
    net.eval();
    net(tn::ones({1, 2}, TN_F64)).sum().backward();
    CHECK(weight.grad().defined());
    net.zero_grad();
    CHECK(!weight.grad().defined());
    tn::nn::module copy = net.copy(), same = net;
    CHECK(same.is_same(net) && !copy.is_same(net) && equal(copy.part("0.weight"), weight));
    CHECK(net.reset() && !equal(copy.part("0.weight"), weight));
    tn::tensor half = 0.5 * copy.part("0.weight") + 0.5 * weight;
    CHECK(copy.copy_from(net, 0.5) && tn::allclose(copy.part("0.weight"), half));
    const char *path = "build/cxx_nn.safetensors";
    CHECK(net.save(path) && copy.load(path) && equal(copy.part("0.weight"), weight));
    remove(path);
    net.reset();
    CHECK(copy.load(net.state_dict()) && equal(copy.part("0.weight"), weight));
    tn::nn::linear other(3, 3);
    CHECK(tells(told_by([&] { other.load(net.state_dict()); }), "0.weight"));
    CHECK(tells(told_by([&] { net.load("build/no such file"); }), "no such file"));
    tn::nn::module undefined;
    CHECK(tells(told_by([&] { undefined(weight); }), "NULL"));
}

static void hooks_see_and_replace() {
    tn::nn::linear fc(2, 2);
    int before = 0;
    const tn::tensor x = tn::ones({1, 2}), y = fc(x);
    const int64_t first = fc.hook_before([&before](tn::nn::module m, const tn::tensor &input) {
        before += m.defined() && input.defined();
    });
    const int64_t twice =
        fc.hook_after([](tn::nn::module, tn::tensor, const tn::tensor &out) { return out * 2; });
    CHECK(first && twice && equal(fc(x), y * 2) && before == 1);
    CHECK(fc.remove_hook(twice) && equal(fc(x), y) && before == 2);
    int after = 0;
    fc.hook_after(
        [&after](const tn::nn::module &, const tn::tensor &, const tn::tensor &) { after++; });
    CHECK(equal(fc(x), y) && after == 1);
    CHECK(tells(told_by([&] { fc.remove_hook(99); }), "99"));
#ifdef TN_EXCEPTIONS
    fc.hook_before(
        [](const tn::nn::module &, const tn::tensor &) { throw std::runtime_error("mine"); });
    bool caught = false;
    try {
        fc(x);
    } catch (const std::runtime_error &e) {
        caught = !strcmp(e.what(), "mine");
    }
    CHECK(caught && tn_ok());
#endif
}

/* --- modules by inheritance ------------------------------------------------------------------- */

static int alive;
struct net : tn::nn::custom {
    tn::nn::linear fc1 = add("fc1", tn::nn::linear(4, 8));
    tn::nn::linear fc2{8, 2};
    tn::tensor scale = add_parameter("scale", tn::full({2}, 0.5));
    tn::tensor calls = add_buffer("calls", tn::zeros({1}));
    explicit net(const char *name = "Net") : custom(name) {
        add("fc2", fc2);
        alive++;
    }
    ~net() override { alive--; }
    tn::tensor forward(const tn::tensor &x) override {
        tn::no_grad guard;
        calls += 1;
        tn::enable_grad recorded;
        return fc2(fc1(x).relu()) * scale;
    }
    void reset_parameters() override { tn::nn::init::constant_(scale, 0.5); }
};

static void an_own_module_is_a_module() {
    net n;
    const tn::tensor x = tn::ones({3, 4}), y = n(x);
    CHECK(equal(y, n.fc2(n.fc1(x).relu()) * 0.5) && n.calls.item() == 1);
    CHECK(n.parameters().size() == 5 && n.part("scale").is_same(n.scale));
    y.sum().backward();
    CHECK(n.scale.grad().defined() && n.fc1.weight().grad().defined());
    const char *path = "build/cxx_own.safetensors";
    net other;
    CHECK(!equal(other(x), y));
    CHECK(n.save(path) && other.load(path) && equal(other(x), y));
    remove(path);
    tn::nn::init::constant_(n.scale, 3);
    CHECK(n.reset() && n.scale[0].item() == 0.5);
    n.to(TN_F64);
    CHECK(n(x.to(TN_F64)).dtype() == TN_F64 && n.scale.dtype() == TN_F64);
    std::ostringstream text;
    text << n;
    CHECK(text.str() == "Net(\n  (fc1): Linear(in_features=4, out_features=8, bias=True)\n"
                        "  (fc2): Linear(in_features=8, out_features=2, bias=True)\n)");
}

struct deep : tn::nn::custom {
    net inner;
    deep() : custom("Deep") { add("inner", inner); }
    tn::tensor forward(const tn::tensor &x) override { return inner(x); }
};
struct forgetful : tn::nn::custom {
    forgetful() : custom("Forgetful") {}
};
struct empty_handed : tn::nn::custom {
    empty_handed() : custom("EmptyHanded") {}
    tn::tensor forward(const tn::tensor &) override { return tn::tensor(); }
};
struct handing_on : tn::nn::custom {
    handing_on() : custom("HandingOn") {}
    tn::tensor forward(const tn::tensor &x) override { return x; }
};

static void errors_of_own_modules_have_path_and_class() {
    deep d;
    const std::string text = told_by([&] { d(tn::ones({1, 5})); });
    const std::string place = text.substr(0, text.find("inner")); /* "nn.cpp:12: " of what() */
    CHECK_TEXT(text.c_str() + place.size(),
               "inner.fc1 (Linear): input: expected (*, 4), got float32 (1, 5)");
    forgetful f;
    empty_handed e;
    handing_on h;
    CHECK(tells(told_by([&] { f(tn::ones({1})); }), "Forgetful: has no forward of one tensor"));
    CHECK(tells(told_by([&] { e(tn::ones({1})); }), "EmptyHanded: forward returned an undefined"));
    const tn::tensor x = tn::ones({1});
    CHECK(equal(h(x), x) && h.get()->count == 2);
    CHECK(tells(told_by([&] { d.add("inner", tn::nn::relu()); }), "already exists"));
    CHECK(tells(told_by([&] { d.add("a.b", tn::nn::relu()); }), "a.b"));
    CHECK(tells(told_by([&] { d.copy(); }), "cannot be copied"));
}

static void a_module_that_outlives_its_object_is_an_error() {
    tn::nn::sequential kept;
    {
        net n;
        kept.append(n);
        CHECK(kept(tn::ones({1, 4})).size(1) == 2);
    }
    CHECK(alive == 0 && kept.parameters().size() == 5);
    CHECK(tells(told_by([&] { kept(tn::ones({1, 4})); }), "0 (Net): its C++ object has ended"));
}

static void make_gives_a_module_that_owns_its_object() {
    {
        tn::nn::holder<net> n = tn::nn::make<net>("Made");
        CHECK(alive == 1 && !strcmp(n.type(), "Made") && n->fc1.defined() && (*n).fc2.defined());
        tn::nn::sequential both{n, tn::nn::make<net>()};
        CHECK(alive == 2 && both.parameters().size() == 10);
        n = tn::nn::holder<net>(nullptr);
        CHECK(alive == 2 && both[0](tn::ones({1, 4})).size(1) == 2);
    }
    CHECK(alive == 0 && tn_ok());
}

#ifdef TN_EXCEPTIONS
struct throwing : tn::nn::custom {
    throwing() : custom("Throwing") {}
    tn::tensor forward(const tn::tensor &) override { throw std::runtime_error("mine"); }
};
static void exceptions_cross_the_tree_and_leave_no_error() {
    tn::nn::sequential s{tn::nn::make<throwing>()};
    bool caught = false;
    try {
        s(tn::ones({1}));
    } catch (const std::runtime_error &e) {
        caught = !strcmp(e.what(), "mine");
    }
    CHECK(caught && tn_ok());
    const tn::tensor x = tn::ones({1});
    CHECK(!tn_forward(s.get(), x.get())); /* C's names do not throw */
    CHECK(!tn_ok());
    tn_error_info e;
    CHECK(tn_error_take(&e) && tells(e.message, "mine"));
}
#endif

static void modules_are_visited_as_torch_does() {
    tn::nn::sequential net(tn::nn::linear(2, 3), tn::nn::relu(), tn::nn::linear(3, 1));
    const tn::nn::module_list all{tn::nn::linear(2, 2), tn::nn::linear(2, 2)};
    tn::tensor x = tn::ones({1, 2});
    int named = 0, visited = 0;
    for (auto &m : all) x = m(x);
    for (const auto &m : net) visited += m.type()[0] == 'L';
    CHECK(net.size() == 3 && net(x).size(1) == 1 && visited == 2 && x.size(1) == 2);
    for (auto &each : net.named_parameters()) named += each.value.requires_grad();
    for (auto &each : net.children()) named += each.value.defined();
    CHECK(named == 4 + 3);
    CHECK(net.apply([](tn::nn::module &m) { m.eval(); }) && !net.is_training());
    CHECK(net.apply([&](const tn::nn::module &m, const char *) { visited += m.defined(); }));
    CHECK(visited == 2 + 4 && tn_ok());
}

struct counter {
    int &with_path;
    void operator()(tn::nn::module &, const char *path = nullptr) const {
        with_path += path != nullptr;
    }
};
struct either {
    int &with_path;
    void operator()(tn::nn::module &) const { with_path -= 100; }
    void operator()(tn::nn::module &, const char *) { with_path++; }
};
static void a_visit_that_may_have_the_path_has_it() {
    const tn::nn::sequential net{tn::nn::relu(), tn::nn::tanh()};
    int n = 0;
    CHECK(net.apply(counter{n}) && n == 3);
    CHECK(net.apply(either{n}) && n == 6);
#if __cplusplus >= 201402L
    CHECK(net.apply([&](auto &&...each) { n += static_cast<int>(sizeof...(each)); }) && n == 12);
    const auto two = [&](tn::nn::module &m, const char *path) { n += m.defined() && path; };
    CHECK(net.apply([&](auto &&...each) { two(each...); }) && n == 15); /* is no call of one */
    CHECK(net.apply([&](auto &m) { n += m.defined(); }) && n == 18);
#endif
    CHECK(tn_ok());
}

/* One option alone, in braces, stands beside a list that one number would do as well (g++). */
static void one_option_in_braces_is_an_option() {
    const tn::tensor x = tn::ones({1, 1, 6, 6});
    CHECK(tn::nn::conv1d(1, 2, 3)(tn::ones({1, 1, 6})).sizes() == tn::int_list({1, 2, 4}));
    CHECK(tn::nn::conv2d(1, 2, 3, 2)(x).sizes() == tn::int_list({1, 2, 2, 2}));
    CHECK(tn::nn::conv2d(1, 2, {3, 3}, {2, 2}, {1, 1})(x).sizes() == tn::int_list({1, 2, 3, 3}));
#if __cplusplus >= 202002L
    CHECK(tn::nn::conv2d(1, 2, 3, {.padding = 1})(x).sizes() == tn::int_list({1, 2, 6, 6}));
    CHECK(tn::nn::conv2d(1, 2, {3, 3}, {.padding = {1, 1}})(x).size(3) == 6);
    CHECK(tn::nn::max_pool2d(2, {.padding = 1})(x).sizes() == tn::int_list({1, 1, 4, 4}));
    CHECK(tn::nn::max_pool2d({2, 2}, {.stride = {1, 1}})(x).size(2) == 5);
    const tn::nn::conv1d line(1, 2, 3, {.padding = 1});
    CHECK(line(tn::ones({1, 1, 6})).size(2) == 6);
#endif
    CHECK(tn_ok());
}

static const check_test tests[] = {
    CHECK_TEST(a_class_and_its_name_in_c_make_the_same_module),
    CHECK_TEST(options_come_by_position_and_by_name),
    CHECK_TEST(calls_of_rows_take_inputs_options_and_give_structs),
    CHECK_TEST(sequential_takes_modules_of_any_class_and_holds_them),
    CHECK_TEST(sequential_of_arguments_tells_its_line),
    CHECK_TEST(what_an_iterator_gives_outlives_it),
    CHECK_TEST(a_constructor_holds_the_module_it_is_given),
    CHECK_TEST(names_paths_and_children),
    CHECK_TEST(modes_dtypes_copies_and_files),
    CHECK_TEST(hooks_see_and_replace),
    CHECK_TEST(an_own_module_is_a_module),
    CHECK_TEST(errors_of_own_modules_have_path_and_class),
    CHECK_TEST(a_module_that_outlives_its_object_is_an_error),
    CHECK_TEST(make_gives_a_module_that_owns_its_object),
    CHECK_TEST(modules_are_visited_as_torch_does),
    CHECK_TEST(a_visit_that_may_have_the_path_has_it),
    CHECK_TEST(one_option_in_braces_is_an_option),
#ifdef TN_EXCEPTIONS
    CHECK_TEST(exceptions_cross_the_tree_and_leave_no_error),
#endif
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
