"""A small residual network on real images: blocks, AdamW, a state dict saved and loaded."""
import os
import tempfile

import digits

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn


class Block(nn.Module):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Identity()
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride=stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, width=8, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.layers = nn.ModuleList(
            [Block(width, width), Block(width, 2 * width, stride=2), Block(2 * width, 2 * width)]
        )
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(dim=(2, 3)))


def main(steps=30):
    torch.manual_seed(2)
    images, labels = digits.load(torch)
    net = ResNet()
    print(f"{sum(p.numel() for p in net.parameters())} parameters")
    decay = [p for p in net.parameters() if p.dim() > 1]
    rest = [p for p in net.parameters() if p.dim() <= 1]
    groups = [{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=2e-3)
    losses = []
    for step in range(steps):
        x, y = images[step * 32 : step * 32 + 32], labels[step * 32 : step * 32 + 32]
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.pt")
        torch.save(net.state_dict(), path)
        again = ResNet()
        again.load_state_dict(torch.load(path, weights_only=True))
    net.eval()
    again.eval()
    with torch.no_grad():
        a, b = net(images[:100]), again(images[:100])
    assert torch.equal(a, b)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    return losses + [a.square().mean().item()]


if __name__ == "__main__":
    main()
