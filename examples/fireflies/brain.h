// brain.h - one network for all fireflies, which learns from every frame (deep Q-learning: Mnih et
// al. 2015, doi:10.1038/nature14236, with a target network that follows slowly).
#ifndef BRAIN_H
#define BRAIN_H

#include "tensor_nn.h"
#include "world.h"

#include <array>
#include <vector>

class brain {
    enum { remembered = 32768, batch = 64 };
    struct memory {
        float before[senses], after[senses], reward;
        int64_t move;
    };
    std::vector<memory> memory_;
    int at_, filled_;
    double curious_; // how often a move is drawn instead of chosen
    tn::nn::sequential net_, slow_;
    tn::optim::adam optimizer_;

    static tn::nn::sequential network() {
        return tn::nn::sequential{tn::nn::linear(senses, 32), tn::nn::relu(),
                                  tn::nn::linear(32, 32), tn::nn::relu(),
                                  tn::nn::linear(32, moves)};
    }

  public:
    brain()
        : memory_(remembered), at_(0), filled_(0), curious_(1), net_(network()), slow_(network()),
          optimizer_(net_.parameters(), 1e-3) {
        slow_.copy_from(net_);
    }

    // The move of each firefly.
    void choose(world &w, long long *move) {
        tn::no_grad guard;
        const tn::tensor best = net_(tn::wrap(&w.sense[0][0], {fireflies, senses})).argmax(1);
        std::array<int64_t, fireflies> chosen;
        best.copy_to(chosen);
        for (int i = 0; i < fireflies; i++) {
            const bool drawn = std::rand() < curious_ * RAND_MAX;
            move[i] = drawn ? std::rand() % moves : chosen[std::size_t(i)];
        }
        curious_ = curious_ > 0.05 ? 0.998 * curious_ : 0.05;
    }

    // Keeps what a frame has shown.
    void remember(const float (*before)[senses], const long long *move, const world &w) {
        for (int i = 0; i < fireflies; i++, at_ = (at_ + 1) % remembered) {
            memory &m = memory_[std::size_t(at_)];
            for (int k = 0; k < senses; k++) m.before[k] = before[i][k], m.after[k] = w.sense[i][k];
            m.move = move[i];
            m.reward = w.reward[i];
            if (filled_ < remembered) filled_++;
        }
    }

    // One step of learning from memories drawn at random; the loss.
    double learn() {
        float before[batch][senses], after[batch][senses], reward[batch];
        int64_t move[batch];
        for (int i = 0; i < batch; i++) {
            const memory &m = memory_[std::size_t(std::rand() % filled_)];
            for (int k = 0; k < senses; k++) before[i][k] = m.before[k], after[i][k] = m.after[k];
            reward[i] = m.reward;
            move[i] = m.move;
        }
        const tn::tensor moved = tn::wrap(move, {batch, 1}), gained = tn::wrap(reward, {batch, 1});
        tn::tensor goal;
        {
            tn::no_grad guard;
            goal = gained + 0.9 * slow_(tn::wrap(&after[0][0], {batch, senses})).amax({1}, true);
        }
        const tn::tensor value = net_(tn::wrap(&before[0][0], {batch, senses})).gather(1, moved);
        const tn::tensor loss = tn::smooth_l1_loss(value, goal);
        optimizer_.zero_grad();
        loss.backward();
        optimizer_.step();
        slow_.copy_from(net_, 0.01);
        return loss.item();
    }
};

#endif
