// operators.cc - for run.sh: every operator of tensors once, where a text of numbers, templates or streams is beside it.
#define TENSOR_IMPLEMENTATION
#include "tensor.h"
#include <iostream>
#include <vector>

#define SHIFTED(a, b) a << b
typedef tn::tensor array;
struct cell {
    array n;
};
template <class T>
static T product(const std::vector<T> &all) {
    T p = all[0];
    for (size_t i = 1; i < all.size(); i++) p = p * all.at(i);
    return p;
}
static tn::tensor both(const tn::tensor &x, tn::tensor &y) { return x&y; }
int main() {
    int i = 1, k = 2;
    tn::tensor x = tn::ones({2}, {}), y = tn::zeros({2}), z;
    cell c = {x};
    std::vector<tn::tensor> all = {x, y};
    std::cout << (x<y) << 1 - x << "\n";
    std::cout << (i < k ? y : y > k) << both(x, y);
    if ((c.n >= i).any() && (k <= c.n).any()) std::cout << product(all);
    const auto m = x == 1;
    z = i != y, z = m | m, z = ~m, z = m ^ true, z = -x, z = x + i;
    for (const auto &a : all) z = i / a;
    z = 7 % (x + 1), z = SHIFTED(x, k), z = tn::ones({2}) >> k;
    z += i, z -= x, z *= 2, z /= 3;
    x[0] += 1;
    return i < k ? 0 : 1;
}
