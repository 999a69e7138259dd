"""Trains in torch what run.c runs in C: writes net.safetensors, a state dict, and check.safetensors,
some pictures with torch's answers. Needs torch and safetensors, or else tensorh alone:

    python examples/from_torch/train.py [FOLDER]
"""

import os
import sys

try:
    import torch
    from safetensors.torch import save_file
except ImportError:
    import tensorh as torch
    from tensorh.safetensors import save_file
nn = torch.nn

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "fashion", "digits")


def load(name, header):
    with open(os.path.join(DIGITS, name), "rb") as f:
        return torch.frombuffer(bytearray(f.read()[header:]), dtype=torch.uint8)


torch.manual_seed(1)
images = load("images-idx3-ubyte", 16).reshape(-1, 1, 8, 8).to(torch.float32) / 16
labels = load("labels-idx1-ubyte", 8).to(torch.int64)
train, test = slice(0, 1438), slice(1438, None)

# run.c builds the same network: the names of the state dict are the places in Sequential.
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.GELU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.GELU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)  # fmt: skip
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(10):
    for some in torch.randperm(1438).split(32):
        loss = nn.functional.cross_entropy(net(images[train][some]), labels[train][some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1:2d}  loss {loss.item():.4f}")

net.eval()
with torch.no_grad():
    right = (net(images[test]).argmax(1) == labels[test]).sum().item()
    some = slice(1438, 1438 + 32)
    check = {"input": images[some], "output": net(images[some]), "label": labels[some]}
print(f"reads {right} of {len(labels[test])} digits that it has not seen")

folder = sys.argv[1] if len(sys.argv) > 1 else HERE
maker = {"made by": f"examples/from_torch/train.py, {torch.__name__} {torch.__version__}"}
save_file(net.state_dict(), os.path.join(folder, "net.safetensors"), metadata=maker)
save_file(check, os.path.join(folder, "check.safetensors"), metadata=maker)
