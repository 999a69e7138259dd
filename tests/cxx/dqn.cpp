// dqn.cpp - deep Q-learning on a cart with a pole (the equations of Barto, Sutton and Anderson, 1983, as gym has them): the last
// 20 of 150 episodes last three times as long as the first 20.
#include "show.h"

#include <cmath>
#include <deque>
#include <random>

struct cart_pole {
    double x, v, angle, spin;
    void reset(std::mt19937 &draw) {
        for (double *each : {&x, &v, &angle, &spin}) *each = static_cast<double>(draw() % 1000) / 10000 - 0.05;
    }
    /* False: it fell. */
    bool step(int action) {
        const double force = action ? 10 : -10, c = std::cos(angle), s = std::sin(angle), total = 1.1, half = 0.5, pole = 0.05;
        const double pull = (force + pole * spin * spin * s) / total;
        const double turn = (9.8 * s - c * pull) / (half * (4.0 / 3 - 0.1 * c * c / total));
        const double push = pull - pole * turn * c / total, dt = 0.02;
        x += dt * v, v += dt * push, angle += dt * spin, spin += dt * turn;
        return std::fabs(x) < 2.4 && std::fabs(angle) < 0.2095;
    }
    tn::tensor state() const { return tn::tensor({x, v, angle, spin}, TN_F32); }
};

struct memory {
    tn::tensor state, next;
    int action;
    bool fell;
};

class agent {
    tn_module *net_, *target_;
    tn_optimizer *adam_;
    std::deque<memory> past_;
    std::mt19937 &draw_;

    static tn_module *layers() { return tn_sequential(tn_nn_linear(4, 32), tn_nn_relu(), tn_nn_linear(32, 2)); }
    static tn::tensor run(tn_module *m, const tn::tensor &x) { return tn::tensor::take(tn_forward(m, x.get())); }

  public:
    explicit agent(std::mt19937 &draw)
        : net_(layers()), target_(layers()), adam_(tn_optim_adam(tn_parameters(net_), 2e-3)), draw_(draw) {
        update(1);
    }
    agent(const agent &) = delete;
    agent &operator=(const agent &) = delete;
    ~agent() {
        tn_optimizer_free(adam_);
        tn_module_free(net_);
        tn_module_free(target_);
    }
    void update(double tau) { tn_module_copy_from(target_, net_, tau); }
    int act(const tn::tensor &state, unsigned percent_random) {
        tn::no_grad off;
        if (draw_() % 100 < percent_random) return static_cast<int>(draw_() % 2);
        return run(net_, state.unsqueeze(0)).argmax(1)[0].item<int>();
    }
    void remember(memory m) {
        past_.push_back(std::move(m));
        if (past_.size() > 5000) past_.pop_front();
    }
    void learn() {
        std::vector<tn::tensor> states, nexts;
        std::vector<int64_t> actions;
        std::vector<float> going;
        if (past_.size() < 100) return;
        for (int i = 0; i < 64; i++) {
            const memory &m = past_[draw_() % past_.size()];
            states.push_back(m.state), nexts.push_back(m.next);
            actions.push_back(m.action), going.push_back(m.fell ? 0.0f : 1.0f);
        }
        tn::tensor goal;
        {
            tn::no_grad off;
            goal = 1 + 0.98 * tn::from(going) * run(target_, tn::stack(nexts)).max(1).values;
        }
        tn::tensor q = run(net_, tn::stack(states)).gather(1, tn::from(actions, {64, 1})).squeeze(1);
        tn_optimizer_zero_grad(adam_);
        tn::smooth_l1_loss(q, goal).backward();
        tn_optimizer_step(adam_);
        update(0.02);
    }
};

static void an_agent_learns_to_hold_a_pole() {
    tn_manual_seed(2);
    std::mt19937 draw(3);
    agent player(draw);
    cart_pole world = {0, 0, 0, 0};
    std::vector<int> lengths;
    for (int episode = 0; episode < 150; episode++) {
        int n = 0;
        bool up = true;
        world.reset(draw);
        for (tn::tensor state = world.state(); up && n < 200; n++) {
            const int action = player.act(state, episode < 45 ? 100 - 2 * static_cast<unsigned>(episode) : 5);
            up = world.step(action);
            const tn::tensor next = world.state();
            player.remember({state, next, action, !up});
            player.learn();
            state = next;
        }
        lengths.push_back(n);
    }
    double first = 0, last = 0;
    for (size_t i = 0; i < 20; i++) first += lengths[i], last += lengths[lengths.size() - 1 - i];
    if (!CHECK(last > 3 * first)) printf("    %g, then %g\n", first / 20, last / 20);
    CHECK(tn_ok());
}

static const check_test tests[] = {CHECK_TEST(an_agent_learns_to_hold_a_pole)};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    const int64_t left = tn_memory().live_tensors;
    if (left) printf("%lld tensors are left\n", static_cast<long long>(left));
    tn_context_free(nullptr);
    return failed || left;
}
