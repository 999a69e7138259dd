"""A GAN with a penalty on the critic's gradient (WGAN-GP, Gulrajani et al. 2017): the points of
eight heaps. examples/gan.c is the same program and prints the same figures."""

import math

import tensorh as torch
from tensorh import nn

HEAPS, NOISE, BATCH = 8, 4, 128


def network(inputs, outputs, hidden=64):
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.LeakyReLU(),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(),
        nn.Linear(hidden, outputs),
    )


def middles():
    angle = torch.arange(HEAPS) * (2 * math.pi / HEAPS)
    return 2 * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)


def data(n):
    return middles()[torch.randint(HEAPS, (n,))] + 0.1 * torch.randn(n, 2)


def penalty(critic, truth, fake):
    """How far the critic's slope is from 1, squared, at places between true and false points."""
    between = torch.lerp(truth, fake, torch.rand(len(truth), 1)).detach().requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (torch.linalg.vector_norm(slope, dim=1) - 1).square().mean()


def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(steps=250, critic_steps=3):
    torch.manual_seed(1)
    generator, critic = network(NOISE, 2), network(2, 1)
    torch.randn(500, NOISE)  # those of gan.c's first picture
    make = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    judge = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    losses = []
    for step in range(1, steps + 1):
        for _ in range(critic_steps):
            truth, fake = data(BATCH), generator(torch.randn(BATCH, NOISE)).detach()
            lead = critic(truth).mean() - critic(fake).mean()
            update(judge, penalty(critic, truth, fake) - lead)
        update(make, -critic(generator(torch.randn(BATCH, NOISE))).mean())
        losses.append(lead.item())
        if step % 250 == 0:
            print(f"step {step:4}  distance {lead.item():.4f}")
    with torch.no_grad():
        inside = torch.cdist(generator(torch.randn(500, NOISE)), middles()) < 0.4
    share, heaps = inside.sum().item() / 500, inside.any(0).sum().item()
    print(f"{100 * share:.0f} % of the points lie in {heaps} of {HEAPS} heaps")
    return losses


if __name__ == "__main__":
    main(steps=2000)
