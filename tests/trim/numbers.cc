// numbers.cc - for run.sh: operators of numbers, templates, streams and references alone, which keep no operator of tensors.
#define TENSOR_IMPLEMENTATION
#include "tensor.h"
#include <iostream>
#include <vector>

enum { SIDE = 8, half = SIDE / 2 };
#define LIMIT 100
struct point {
    float x, y, speed[3];
    explicit point(float at) : x(at), y(-at), speed() {}
    ~point() {}
};
template <class T>
static T larger(const T &a, T &b) {
    b = a;
    return b;
}
static double mean(const std::vector<std::vector<double>> &all, int64_t n) {
    double sum = 0, worst = -1;
    for (size_t i = 0; i < all.size(); i++) sum += double(n) * all.size() - 1.0;
    for (int i = SIDE, k = 2; i >= 0 && k != n % 7; i -= half) worst /= i == k ? 1 << k : i ^ 3;
    return sum / static_cast<double>(n) + worst * LIMIT;
}
int main(int argc, char **argv) {
    std::vector<double> row(3);
    std::vector<std::vector<double>> all;
    int bits = 5 | (argc & ~3), *at = &bits;
    point p(1);
    const point &same = p;
    p.speed[0] = p.x * 2 - same.y;
    tn::tensor t = tn::ones({2});
    std::cout << t << " " << larger<int>(1, *at) << "\n" << mean(all, t.numel() + 1) << argv;
    if (t.size(0) > 2 || t.item<double>() <= 0.5 || p.x < 3 || *at == 7) std::cerr << (bits >> 1) << p.speed[1];
    return bits != 5;
}
