// ownership.cpp - who owns a tensor: copies, moves, containers, C's scopes, rows of x[..], statics after the context's end.
// Built with and without TN_EXCEPTIONS.
#include "show.h"

#if __cplusplus >= 201703L
#include <optional>
#endif
#include <type_traits>

static_assert(std::is_nothrow_move_constructible<tn::tensor>::value, "std::vector moves when it grows");
static_assert(std::is_nothrow_move_assignable<tn::tensor>::value, "so does std::vector::erase");
static_assert(std::is_nothrow_move_constructible<tn::tensors>::value, "");
static_assert(sizeof(tn::tensor) == sizeof(void *), "an object is a pointer");

static tn::tensor at_the_end = tn::ones({3}); // destructed after main, which frees the context
static tn::tensors list_at_the_end;

static void copies_share_and_moves_take() {
    tn::tensor a = tn::zeros({2}), b = a;
    CHECK(a.is_same(b));
    CHECK_EQ(tn_owners(a.get()), 2);
    b[0] = 1;
    CHECK_SHOWS(a, "float32[2] 1 0");
    tn::tensor c = std::move(b);
    CHECK(!b.defined());
    CHECK_EQ(tn_owners(a.get()), 2);
    tn::tensor &self = a;
    a = self;
    CHECK_SHOWS(a, "float32[2] 1 0");
    a = std::move(self);
    CHECK_SHOWS(a, "float32[2] 1 0");
    b = tn::ones({1});
    std::swap(a, b);
    CHECK_SHOWS(a, "float32[1] 1");
    a.swap(b);
    CHECK_SHOWS(b, "float32[1] 1");
    c = c[0];
    CHECK_SHOWS(c, "float32[] 1");
    a = a + a;
    CHECK_SHOWS(a, "float32[2] 2 0");
    CHECK_EQ(tn_owners(a.get()), 1);
    CHECK(tn_ok());
}

static void a_moved_object_is_a_clear_error() {
    tn::tensor a = tn::zeros({2}), b = std::move(a);
#ifdef TN_EXCEPTIONS
    try {
        a + b;
        CHECK_NOT_HERE();
    } catch (const tn::error &e) {
        CHECK(e.line == __LINE__ - 3 && strstr(e.message(), "'self' is NULL") && strstr(e.message(), "add"));
    }
#else
    a + b;
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "'self' is NULL");
    a = b.matmul(a);
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "'other' is NULL");
#endif
}

static tn::tensor returned(bool which) {
    tn::tensor a = tn::zeros({1}), b = tn::ones({1});
    if (which) return a;
    return b[0];
}
static tn::tensor passed(tn::tensor x) { return x + 1; }

static void objects_live_in_containers() {
    std::vector<tn::tensor> v;
    for (int i = 0; i < 20; i++) v.push_back(tn::full({1}, i));
    for (const tn::tensor &t : v) CHECK_EQ(tn_owners(t.get()), 1);
    v.erase(v.begin());
    v.insert(v.begin() + 3, v[0]);
    CHECK_SHOWS(tn::cat(v)[tn::slice(0, 5)], "int64[5] 1 2 3 1 4");
    std::map<std::string, tn::tensor> m;
    m["a"] = v[0];
    CHECK(!m["b"].defined());
    m.at("a") += 1;
    CHECK_EQ(v[0].item(), 2);
#if __cplusplus >= 201703L
    std::optional<tn::tensor> o;
    o = returned(true);
    o->add_(3);
    CHECK_SHOWS(*o, "float32[1] 3");
    o.reset();
#endif
    std::array<tn::tensor, 2> two = {{tn::zeros({1}), tn::ones({1})}};
    CHECK_SHOWS(tn::stack(two), "float32[2,1] 0 1");
    CHECK_SHOWS(passed(returned(false)), "float32[] 2");
    tn::tensors list = {two[0], two[1]}, copy = list, moved = std::move(list);
    CHECK(list.size() == 0 && copy[1].is_same(moved[1]));
    list = copy;
    tn::tensors &same = list;
    list = same;
    list[0] = tn::tensor();
    CHECK(copy[0].defined() && !list[0].defined());
    for (tn::tensor &t : copy) t = t + 1;
    CHECK_SHOWS(tn::cat(copy), "float32[2] 1 2");
    list_at_the_end = copy;
    CHECK(tn_ok());
}

static void pointers_go_to_c_and_come_back() {
    tn::tensor a = tn::ones({2});
    tn_tensor *p = a.get();
    CHECK_EQ(tn_owners(p), 1);
    tn::tensor b(p);
    CHECK_EQ(tn_owners(p), 2);
    p = b.release();
    CHECK(!b.defined());
    tn_free(p);
    CHECK_EQ(tn_owners(a.get()), 1);
    tn::tensor c = tn::tensor::take(tn_add(a, 1));
    CHECK_EQ(tn_owners(c.get()), 1);
    CHECK(!tn::tensor(static_cast<tn_tensor *>(nullptr)).defined());
    CHECK(!tn::tensor::take(nullptr).defined());
    {
        tn::scope s;
        c = tn::tensor::take(tn_mul(c, 10)); // leaves the scope
        b = tn::tensor(tn_mul(c, 2));        // one more owner than the scope
        CHECK_EQ(tn_owners(c.get()), 1);
        CHECK_EQ(tn_owners(b.get()), 2);
    }
    CHECK_SHOWS(c, "float32[2] 20 20");
    CHECK_SHOWS(b, "float32[2] 40 40");
    CHECK_EQ(tn_owners(b.get()), 1);
    tn_tensor *returned_to_c = (c + 1).release();
    CHECK_EQ(tn::tensor(returned_to_c)[0].item(), 21);
    tn_free(returned_to_c);
    CHECK(tn_ok());
}

static void objects_in_a_scope_outlive_it() {
    tn::tensor kept;
    tn::tensor view;
    TN_SCOPE {
        tn::tensor x = tn::arange(4);
        kept = x * 2;
        view = x[1];
        tn_tensor *c = tn_add(x, 5);
        TN_SCOPE { view += tn::tensor(c)[0]; }
    }
    CHECK_SHOWS(kept, "int64[4] 0 2 4 6");
    CHECK_SHOWS(view, "int64[] 6");
}

static void rows_by_auto_write_and_rows_by_tensor_point() {
    tn::tensor x = tn::arange(4).reshape({2, 2}), y = tn::tensor({7, 8});
    auto row = x[0];
    row = y; // writes into x
    CHECK_SHOWS(x, "int64[2,2] 7 8 2 3");
    tn::tensor other = x[1];
    other = y; // points at y
    CHECK_SHOWS(x, "int64[2,2] 7 8 2 3");
    CHECK(other.is_same(y));
    auto of_a_temporary = (x + 1)[0]; // owns what it needs
    of_a_temporary = 5;
    CHECK_SHOWS(of_a_temporary, "int64[2] 5 5");
    auto gone = x[1];
    x = tn::tensor();
    gone += 1;
    CHECK_SHOWS(gone, "int64[2] 3 4");
    auto masked = y[y > 7];
    y = tn::zeros({1});
    masked = 0;
    CHECK_SHOWS(other, "int64[2] 7 0");
    CHECK(tn_ok());
}

static void nothing_is_left() {
    const int64_t before = tn_memory().live_tensors;
    {
        tn::tensor a = tn::zeros({3, 3}), b;
        b = a;
        auto r = a[{tn::slice(), tn::tensor({0, 1})}];
        r = 1;
        std::vector<tn::tensor> v(5, a);
        tn::values_indices m = a.max(0);
        tn::tensors l = a.unbind();
        for (tn::tensor row : a) v.push_back(row);
    }
    CHECK_EQ(tn_memory().live_tensors, before);
}

static const check_test tests[] = {
    CHECK_TEST(copies_share_and_moves_take),
    CHECK_TEST(a_moved_object_is_a_clear_error),
    CHECK_TEST(objects_live_in_containers),
    CHECK_TEST(pointers_go_to_c_and_come_back),
    CHECK_TEST(objects_in_a_scope_outlive_it),
    CHECK_TEST(rows_by_auto_write_and_rows_by_tensor_point),
    CHECK_TEST(nothing_is_left),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    static tn::tensor in_main = tn::arange(3);
    at_the_end = at_the_end + 1;
    if (tn_memory().live_tensors != 4) printf("%lld tensors\n", static_cast<long long>(tn_memory().live_tensors));
    tn_context_free(nullptr);
    return failed;
}
