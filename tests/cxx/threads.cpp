// threads.cpp - tensors handed between std::threads, each with scopes, modes and errors of its own. Runs under ThreadSanitizer
// in full; with and without TN_EXCEPTIONS.
#include "show.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

/* A queue of tensors, whose lock is all that orders the threads. */
class channel {
    std::deque<tn::tensor> all_;
    std::mutex lock_;
    std::condition_variable some_;

  public:
    void put(tn::tensor t) {
        std::lock_guard<std::mutex> held(lock_);
        all_.push_back(std::move(t));
        some_.notify_one();
    }
    tn::tensor get() {
        std::unique_lock<std::mutex> held(lock_);
        some_.wait(held, [this] { return !all_.empty(); });
        tn::tensor t = std::move(all_.front());
        all_.pop_front();
        return t;
    }
};

static void tensors_go_from_thread_to_thread() {
    channel there, back;
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; w++)
        workers.emplace_back([&] {
            for (tn::tensor t = there.get(); t.defined(); t = there.get()) {
                tn::scope s;
                tn::tensor of_c(tn_mul(t, 2)); // the scope's and the object's
                back.put(of_c + 1);
                t.add_(1); // this thread is the only one that has it
            }
        });
    double sum = 0;
    for (int i = 0; i < 200; i++) there.put(tn::full({3}, i, TN_F64));
    for (int i = 0; i < 200; i++) sum += back.get().sum().item();
    for (int w = 0; w < 4; w++) there.put(tn::tensor());
    for (std::thread &w : workers) w.join();
    CHECK(sum == 3 * (2 * 199 * 200 / 2 + 200));
    CHECK(tn_ok());
}

static void copies_share_across_threads() {
    const tn::tensor shared = tn::arange(100);
    std::vector<std::thread> all;
    std::vector<int64_t> sums(4);
    for (size_t w = 0; w < 4; w++)
        all.emplace_back([&shared, &sums, w] {
            for (int i = 0; i < 50; i++) {
                tn::tensor mine = shared, view = mine[tn::slice(0, 50)];
                for (tn::tensor x : view[tn::slice(0, 3)]) sums[w] += x.item<int64_t>();
                sums[w] += view.sum().item<int64_t>();
            }
        });
    for (std::thread &t : all) t.join();
    for (int64_t s : sums) CHECK_EQ(s, 50 * (1225 + 3));
    CHECK_EQ(tn_owners(shared.get()), 1);
}

static void modes_and_errors_belong_to_a_thread() {
    tn::no_grad off;
    tn::tensor x = tn::zeros({2}), y = tn::zeros({3});
    std::thread([&] {
        CHECK(tn_grad_mode());
#ifdef TN_EXCEPTIONS
        try {
            x + y;
            CHECK_NOT_HERE();
        } catch (const tn::error &e) { CHECK_EQ(e.line, __LINE__ - 2); }
#else
        CHECK(!(x + y).defined());
        CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "add");
#endif
    }).join();
    CHECK(tn_ok() && !tn_grad_mode());
}

static void a_future_returns_a_tensor_or_an_exception() {
    std::future<tn::tensor> f = std::async(std::launch::async, [] { return tn::ones({2, 2}).matmul(tn::ones({2, 2})); });
    CHECK_SHOWS(f.get(), "float32[2,2] 2 2 2 2");
#ifdef TN_EXCEPTIONS
    f = std::async(std::launch::async, [] { return tn::ones({2, 2}).matmul(tn::ones({3, 2})); });
    try {
        f.get();
        CHECK_NOT_HERE();
    } catch (const tn::error &e) { CHECK(e.line == __LINE__ - 4 && strstr(e.message(), "matmul")); }
#endif
}

static void each_thread_trains_its_network() {
    std::vector<std::thread> all;
    std::vector<double> w(3);
    for (size_t k = 0; k < w.size(); k++)
        all.emplace_back([&w, k] {
            tn::tensor p = tn::zeros({1}).requires_grad_(), x = tn::arange(8).to(TN_F32) / 8;
            int hooked = 0;
            p.hook([&hooked](const tn::tensor &) { hooked++; });
            for (int i = 0; i < 60; i++) {
                (x * p - x * static_cast<double>(k)).square().sum().backward();
                tn::no_grad off;
                p -= 0.1 * p.grad();
                p.zero_grad();
            }
            w[k] = hooked == 60 ? p.item() : -1;
        });
    for (std::thread &t : all) t.join();
    for (size_t k = 0; k < w.size(); k++) CHECK(w[k] > static_cast<double>(k) - 1e-3 && w[k] < static_cast<double>(k) + 1e-3);
}

static const check_test tests[] = {
    CHECK_TEST(tensors_go_from_thread_to_thread),
    CHECK_TEST(copies_share_across_threads),
    CHECK_TEST(modes_and_errors_belong_to_a_thread),
    CHECK_TEST(a_future_returns_a_tensor_or_an_exception),
    CHECK_TEST(each_thread_trains_its_network),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
