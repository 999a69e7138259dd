"""The weights and scores of examples/resnet18.c beside torch: the names are torchvision's, the
made weights and noise are those that torch draws from the same seed, and so are the scores.

python resnet18.py WEIGHTS LOG [PICTURE LOG]: what the program wrote and printed."""

import json
import re
import struct
import sys

import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample = None
        if stride > 1:
            shrink = nn.Conv2d(n_in, n_out, 1, stride, bias=False)
            self.downsample = nn.Sequential(shrink, nn.BatchNorm2d(n_out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    """torchvision.models.resnet18, for machines without torchvision."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        sizes = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
        for i, (n_in, n_out, stride) in enumerate(sizes):
            layer = nn.Sequential(BasicBlock(n_in, n_out, stride), BasicBlock(n_out, n_out, 1))
            setattr(self, f"layer{i + 1}", layer)
        self.fc = nn.Linear(512, 1000)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def safetensors(path):
    kinds = {"F32": torch.float32, "I64": torch.int64}
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        head, data = json.loads(f.read(n)), bytearray(f.read())
    head.pop("__metadata__", None)
    state = {}
    for name, of in head.items():
        begin, end = of["data_offsets"]
        part = torch.frombuffer(data[begin:end], dtype=kinds[of["dtype"]])
        state[name] = part.reshape(of["shape"])
    return state


def picture(path):
    """torchvision's Resize, CenterCrop, ToTensor and Normalize, for a square picture."""
    with open(path, "rb") as f:
        _, w, h, _, pixels = f.read().split(maxsplit=4)
    x = torch.frombuffer(bytearray(pixels), dtype=torch.uint8).reshape(1, int(h), int(w), 3)
    x = F.interpolate(x.permute(0, 3, 1, 2).float(), (224, 224), mode="bilinear", antialias=True)
    mean, spread = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    return (x / 255 - mean.view(3, 1, 1)) / spread.view(3, 1, 1)


def compare(net, x, log):
    with torch.no_grad():
        chance, which = net(x).softmax(1)[0].topk(5)
    with open(log) as f:
        said = re.findall(r"^class +(\d+) +([\d.]+) %$", f.read(), re.M)
    assert [int(c) for c, _ in said] == which.tolist(), (said, which)
    worst = max(abs(float(p) - 100 * c) for (_, p), c in zip(said, chance.tolist(), strict=True))
    assert worst < 2e-4, worst


def main(weights, log, *of_picture):
    torch.manual_seed(1)
    net, state = ResNet(), safetensors(weights)
    assert sum(p.numel() for p in net.parameters()) == 11_689_512
    assert set(state) == set(net.state_dict())
    drawn = net.state_dict()
    worst = max((state[name] - drawn[name]).abs().max().item() for name in drawn)
    assert worst < 1e-6, worst
    net.load_state_dict(state)
    net.eval()
    compare(net, torch.randn(1, 3, 224, 224), log)
    if of_picture:
        compare(net, picture(of_picture[0]), of_picture[1])
    print(f"as torch {torch.__version__}; largest difference of a weight: {worst:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
