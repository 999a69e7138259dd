"""Learning to learn (MAML, Finn et al. 2017): gradients through steps of gradient descent."""

import math

import tensorh as torch


def network(x, w):
    h = torch.tanh(x @ w[0] + w[1])
    h = torch.tanh(h @ w[2] + w[3])
    return h @ w[4] + w[5]


def task():
    """Points of a sine of random height and phase: ten to adapt to, ten to be judged by."""
    height, phase = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)
    x = 10 * torch.rand(20, 1) - 5
    y = height * torch.sin(x + phase)
    return x[:10], y[:10], x[10:], y[10:]


def main(steps=40, inner=2, rate=0.02):
    torch.manual_seed(7)
    sizes = [(1, 24), (24,), (24, 24), (24,), (24, 1), (1,)]
    weights = [
        (torch.randn(s) * (s[0] ** -0.5 if len(s) == 2 else 0)).requires_grad_() for s in sizes
    ]
    optimizer = torch.optim.Adam(weights, lr=2e-3)
    losses = []
    for step in range(steps):
        total = torch.zeros(())
        for _ in range(4):
            x, y, x_test, y_test = task()
            fast = weights
            for _ in range(inner):
                loss = (network(x, fast) - y).square().mean()
                grads = torch.autograd.grad(loss, fast, create_graph=True)
                fast = [w - rate * g for w, g in zip(fast, grads, strict=True)]
            total = total + (network(x_test, fast) - y_test).square().mean()
        optimizer.zero_grad()
        (total / 4).backward()
        optimizer.step()
        losses.append(total.item() / 4)
        if step % 10 == 9:
            print(f"step {step + 1}: loss after adapting {sum(losses[-10:]) / 10:.4f}, mean of ten")
    return losses


if __name__ == "__main__":
    main()
