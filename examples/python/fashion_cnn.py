"""A convolutional network with batch norm learns pictures: Adam, a learning-rate schedule."""
import digits

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return F.log_softmax(self.fc(x), dim=1)


def main(steps=40, folder=digits.DIGITS):
    torch.manual_seed(1)
    images, labels = digits.load(torch, folder)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    losses = []
    for step in range(steps):
        pick = torch.randperm(len(images))[:64]
        loss = F.nll_loss(net(images[pick]), labels[pick])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}, lr {schedule.get_last_lr()[0]:.5f}")
    net.eval()
    with torch.no_grad():
        losses.append(F.nll_loss(net(images[:200]), labels[:200]).item())
    return losses


if __name__ == "__main__":
    main(folder=digits.fashion())
