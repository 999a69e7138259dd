"""Deep Q-learning (Mnih et al. 2015): a pole is balanced on a cart that is written out here.
examples/dqn.c is the same program and prints the same figures."""

import copy
import math

import tensorh as torch
from tensorh import nn

BATCH, HIDDEN, FIRST, LONGEST = 128, 64, 500, 500


def start():
    """Place, speed, angle and turn, near 0."""
    return torch.empty(4, dtype=torch.float32).uniform_(-0.05, 0.05).tolist()


def move(cart, right):
    """The cart after 1/50 s of a push of 10 N, and if the pole still stands (Barto et al. 1983)."""
    place, speed, angle, turn = cart
    gravity, pole, total, half, time = 9.8, 0.1, 1.1, 0.5, 0.02
    sine, cosine = math.sin(angle), math.cos(angle)
    push = ((10 if right else -10) + pole * half * turn * turn * sine) / total
    swing = (gravity * sine - cosine * push) / (half * (4 / 3 - pole * cosine * cosine / total))
    cart = (
        place + time * speed,
        speed + time * (push - pole * half * swing * cosine / total),
        angle + time * turn,
        turn + time * swing,
    )
    return cart, abs(cart[0]) < 2.4 and abs(cart[2]) < 0.21


def best(net, cart):
    with torch.no_grad():
        return net(torch.tensor(cart)).argmax().item()


def loss_of(net, slow, memory, remembered):
    """How far the network's word is from the truth: a step gives 0.01, what follows counts 0.99."""
    at = torch.randint(remembered, (BATCH,))
    with torch.no_grad():
        worth = slow(memory["after"][at]).amax(dim=1)
        goal = worth * memory["alive"][at] * 0.99 + 0.01
    said = net(memory["before"][at]).gather(1, memory["action"][at]).squeeze(1)
    return nn.functional.smooth_l1_loss(said, goal)


def network():
    return nn.Sequential(
        nn.Linear(4, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, 2),
    )


def main(steps=1000, report=2000):
    torch.manual_seed(1)
    net = network()
    slow = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
    memory = {
        "before": torch.zeros(steps, 4),
        "after": torch.zeros(steps, 4),
        "alive": torch.zeros(steps),
        "action": torch.zeros(steps, 1, dtype=torch.int64),
    }
    losses, lengths, length, cart = [], [], 0, start()
    for step in range(steps):
        explore = torch.rand(1).item() < max(0.02, 1 - step / 3000)
        action = torch.randint(2, (1,)).item() if explore else best(net, cart)
        memory["before"][step] = torch.tensor(cart)
        memory["action"][step] = action
        cart, alive = move(cart, action)
        memory["after"][step] = torch.tensor(cart)
        memory["alive"][step] = float(alive)
        length += 1
        if not alive or length == LONGEST:
            lengths.append(length)
            length, cart = 0, start()
        if step >= FIRST:
            loss = loss_of(net, slow, memory, step + 1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for mine, its in zip(slow.parameters(), net.parameters(), strict=True):
                    mine.mul_(0.995).add_(its, alpha=0.005)
            losses.append(loss.item())
        if (step + 1) % report == 0:
            mean = sum(lengths) / len(lengths)
            print(f"step {step + 1:5}  {len(lengths):3} episodes of {mean:5.1f} steps")
            lengths = []
    cart, alive, length = (0.0, 0.0, 0.16, 0.0), True, 0  # a pole that leans by 9 degrees
    while alive and length < LONGEST:
        cart, alive = move(cart, best(net, cart))
        length += 1
    print(f"caught: the leaning pole stays up for {length} steps of at most {LONGEST}")
    return losses


if __name__ == "__main__":
    main(steps=24000)
