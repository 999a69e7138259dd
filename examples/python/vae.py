"""A variational autoencoder of digits: the reparameterisation trick, KL in closed form.
examples/vae.c is the same program and prints the same figures."""

import digits

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn


class VAE(nn.Module):
    def __init__(self, pixels, hidden=64, latent=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decode = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, pixels))

    def forward(self, x):
        h = self.encode(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar


def main(steps=60):
    torch.manual_seed(3)
    images, _ = digits.load(torch)
    x_all = images.flatten(1)
    model = VAE(x_all.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for step in range(steps):
        x = x_all[torch.randint(0, len(x_all), (128,))]
        logits, mu, logvar = model(x)
        rebuilt = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
        divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
        loss = rebuilt + divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 19:
            print(f"step {step + 1}: rebuilt {rebuilt.item():.2f}, code {divergence.item():.2f}")
    return losses


if __name__ == "__main__":
    main()
