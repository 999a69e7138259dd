"""A physics-informed network: u'' = -u with u(0) = 0, u'(0) = 1, from second derivatives."""

import tensorh as torch
from tensorh import nn


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def main(steps=150):
    torch.manual_seed(5)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    x = torch.linspace(0, 3, 40).unsqueeze(1).requires_grad_()
    start = torch.zeros(1, 1, requires_grad=True)
    losses = []
    for step in range(steps):
        u = net(x)
        residual = derivative(derivative(u, x), x) + u
        u0 = net(start)
        loss = (
            residual.square().mean()
            + u0.square().sum()
            + (derivative(u0, start) - 1).square().sum()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 49:
            off = (net(x) - x.sin()).abs().max().item()
            print(f"step {step + 1}: loss {loss.item():.5f}, at most {off:.3f} from sin")
    return losses


if __name__ == "__main__":
    main()
