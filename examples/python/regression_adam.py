"""Regression with Adam: a cubic through noisy points, written with tensors alone."""
import math

import tensorh as torch


def main(steps=200):
    torch.manual_seed(4)
    x = torch.linspace(-math.pi, math.pi, 200)
    y = torch.sin(x) + 0.1 * torch.randn(200)
    powers = torch.stack([x**k for k in range(4)], dim=1)
    weights = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=0.05)
    losses = []
    for _ in range(steps):
        loss = (powers @ weights - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    a, b, c, d = weights.tolist()
    print(f"y = {a:.3f} + {b:.3f} x + {c:.3f} x^2 + {d:.3f} x^3, loss {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    main()
