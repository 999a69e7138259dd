"""fashion.py - the training step of examples/fashion in torch: the twin of fashion.c."""
import sys
import time

import torch
from torch import nn

BATCH, WARM = 64, 5


def memory(name):
    """MB of a line of /proc/self/status; 0 where there is none."""
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith(name))
    except (OSError, StopIteration):
        return 0


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


def main():
    steps, threads = (int(a) for a in (sys.argv[1:] + ["20", "2"][len(sys.argv) - 1:]))
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(BATCH, 1, 28, 28), torch.randint(0, 10, (BATCH,))
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    forget_peak()
    resident, anonymous = memory("VmRSS:"), memory("RssAnon:")
    times, losses = [], []
    for _ in range(WARM + steps):
        start = time.perf_counter()
        adam.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        losses.append(loss.item())
        adam.step()
        times.append((time.perf_counter() - start) * 1e3)
    peak = memory("VmHWM:")
    own = peak - memory("RssFile:") - memory("RssShmem:")
    print(f"step {sorted(times[WARM:])[steps // 2]:.4f}")
    print(f"peak {peak - resident:.3f}\nown {own - anonymous:.3f}")
    print(f"loss_first {losses[0]:.6f}\nloss_last {losses[-1]:.6f}")


main()
