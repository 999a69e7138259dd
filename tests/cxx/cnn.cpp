// cnn.cpp - a convolutional network learns the 1,797 digits of examples/fashion: 95 of 100 that it has not seen are right.
#include "show.h"

/* The module and the optimizer of C as objects that end by themselves. */
struct network {
    tn_module *net;
    tn_optimizer *adam;
    explicit network(tn_module *m) : net(m), adam(tn_optim_adam(tn_parameters(m), 1e-2)) {}
    network(const network &) = delete;
    network &operator=(const network &) = delete;
    ~network() {
        tn_optimizer_free(adam);
        tn_module_free(net);
    }
    tn::tensor operator()(const tn::tensor &x) const { return tn::tensor::take(tn_forward(net, x.get())); }
};

static double accuracy(const network &net, const tn::tensor &x, const tn::tensor &labels) {
    tn::no_grad off;
    return (net(x).argmax(1) == labels).to(TN_F32).mean().item();
}

static void a_network_learns_digits() {
    tn_manual_seed(1);
    const std::string folder = "examples/fashion/digits/";
    tn::tensor all = tn::tensor::take(tn_load_idx((folder + "images-idx3-ubyte").c_str()));
    tn::tensor labels = tn::tensor::take(tn_load_idx((folder + "labels-idx1-ubyte").c_str())).to(TN_I64);
    CHECK_EQ(all.size(0), 1797);
    tn::tensor x = all.unsqueeze(1).to(TN_F32) / all.max();
    tn::tensor order = tn::randperm(all.size(0)), train = order[tn::slice(360)], test = order[tn::slice(0, 360)];
    const int64_t side = x.size(2) / 2;
    const network net(tn_sequential(tn_nn_conv2d(1, 16, {3, 3}, {1, 1}, {1, 1}), tn_nn_relu(), tn_nn_max_pool2d({2, 2}),
                                    tn_nn_flatten(), tn_nn_linear(16 * side * side, 10)));
    for (int epoch = 0; epoch < 10; epoch++) {
        const tn::tensors batches = train[tn::randperm(train.size(0))].split(64);
        for (const tn::tensor &batch : batches) {
            tn_optimizer_zero_grad(net.adam);
            tn::cross_entropy(net(x[batch]), labels[batch]).backward();
            tn_optimizer_step(net.adam);
        }
    }
    const double right = accuracy(net, x[test], labels[test]);
    if (!CHECK(right > 0.95)) printf("    %g\n", right);
    CHECK(tn_ok());
}

static const check_test tests[] = {CHECK_TEST(a_network_learns_digits)};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
