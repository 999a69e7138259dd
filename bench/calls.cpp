// calls.cpp - what a call of libtorch costs: the twin of calls.c, case by case.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

static at::Tensor a, b, p, q, x, w, bias, m;

#define CASE(name, call)                                                \
    extern "C" __attribute__((noinline)) void case_##name(long calls) { \
        for (long i = 0; i < calls; i++) {                              \
            call;                                                       \
        }                                                               \
    }
CASE(add, at::add(a, b))
CASE(add_recording, at::add(p, b))
CASE(mul_sum_backward, at::mul(p, q).sum().backward())
CASE(linear, at::linear(x, w, bias))
CASE(transpose, m.transpose(0, 1))
CASE(add_in_place, a.add_(b))

static const struct {
    const char *name;
    void (*run)(long calls);
} cases[] = {{"add", case_add},
             {"add_recording", case_add_recording},
             {"mul_sum_backward", case_mul_sum_backward},
             {"linear", case_linear},
             {"transpose", case_transpose},
             {"add_in_place", case_add_in_place}};

static double now() { // ns
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// ns a call: the median of batches of about 3 ms.
static double measure(void (*run)(long calls)) {
    double batch[15];
    long calls = 100;
    for (;; calls *= 2) {
        double start = now();
        run(calls);
        if (now() - start > 3e6) break;
    }
    for (double &t : batch) {
        double start = now();
        run(calls);
        t = (now() - start) / (double)calls;
    }
    std::sort(batch, batch + 15);
    return batch[7];
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 0;
    at::manual_seed(1);
    a = at::randn({4}), b = at::tensor({1e-6f, 2e-6f, 3e-6f, 4e-6f});
    p = at::randn({4}).requires_grad_(), q = at::randn({4}).requires_grad_();
    x = at::randn({1, 4}), w = at::randn({4, 4}), bias = at::randn({4}), m = at::randn({2, 2});
    for (const auto &c : cases)
        if (count)
            c.run(count), c.run(count);
        else
            std::printf("%s %.3f\n", c.name, measure(c.run));
    cases[0].run(0); // callgrind closes a case as the next begins
    std::fflush(stdout);
    std::quick_exit(0); // without libtorch's slow farewell
}
