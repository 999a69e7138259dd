"""will_it_fit: the plan's peak is that of the real run, and its parts name the program's lines."""

import gc
from pathlib import Path

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn import functional as F

HERE = Path(__file__).name


def real_peak(fn):
    """Most bytes that fn() takes beyond what is in use."""
    gc.collect()
    before = torch._C._memory()[0]
    torch._C._peak()
    fn()
    return torch._C._peak() - before


def train(net, loss, optimizer, **options):
    opt = optimizer(net.parameters(), **options)
    for _ in range(2):
        opt.zero_grad()
        loss(net).backward()
        opt.step()


def mlp(optimizer, **options):
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(),
                        nn.Linear(512, 10))  # fmt: skip
    classes = torch.zeros(512, dtype=torch.int64)
    train(net, lambda net: F.cross_entropy(net(torch.randn(512, 256)), classes), optimizer,
          **options)  # fmt: skip


def mlp_sgd():
    mlp(torch.optim.SGD, lr=0.1, momentum=0.9)


def mlp_adam():
    mlp(torch.optim.Adam)


def cnn():
    """The network of examples/fashion."""
    net = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    classes = torch.zeros(64, dtype=torch.int64)
    train(net, lambda net: F.cross_entropy(net(torch.rand(64, 1, 28, 28)), classes),
          torch.optim.Adam)  # fmt: skip


def lstm():
    net = nn.LSTM(64, 128, num_layers=2)
    train(net, lambda net: net(torch.randn(20, 32, 64))[0].square().mean(), torch.optim.SGD, lr=0.1)


class Block(nn.Module):
    def __init__(self, width=128, heads=4):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width), nn.Dropout(0.1))  # fmt: skip

    def forward(self, x):
        h = self.norm(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.feed(self.norm2(x))


def transformer():
    train(Block(), lambda net: net(torch.randn(8, 64, 128)).square().mean(), torch.optim.AdamW)


@pytest.mark.parametrize("step", [mlp_sgd, mlp_adam, cnn, lstm, transformer])
def test_the_peak_is_within_5_percent_of_the_real_run(step):
    plan = torch.will_it_fit(step)
    real = real_peak(step)
    off = 100 * plan.peak / real - 100
    print(f"{step.__name__}: planned {plan.peak}, real {real}: {off:+.2f} %")
    assert plan.peak == pytest.approx(real, rel=0.05)


def test_parts_name_operator_shape_and_line():
    def step():
        x = torch.empty(1000)
        return [torch.exp(x) for _ in range(3)]

    plan = torch.will_it_fit(step)
    line = step.__code__.co_firstlineno + 2
    first, second = plan.parts
    assert (first.bytes, first.count, first.what) == (12000, 3, "exp")
    assert (first.tensor, first.line) == ("float32 (1000)", line)
    assert first.file.endswith(HERE)
    assert (second.bytes, second.what, second.line) == (4000, "empty", line - 1)


def test_arguments_are_planned_as_copies_on_meta():
    net, x = nn.Linear(300, 200), torch.ones(100, 300)
    seen = []

    def step(net, x, more):
        assert net.weight.is_meta and x.is_meta and more["x"][0] is x and net.weight.requires_grad
        assert isinstance(net.weight, nn.Parameter) and net.weight.shape == (200, 300)
        net(x).sum().backward()
        seen.append(net.weight.grad.shape)

    plan = torch.will_it_fit(step, net, x, {"x": [x]}, device="cuda")
    assert seen == [(200, 300)] and net.weight.grad is None and not net.weight.is_meta
    # weight, its gradient, x, the result, and 200 of bias and of its gradient at most
    assert plan.peak == pytest.approx(4 * (2 * 60000 + 30000 + 20000 + 400), rel=0.05)
    assert torch.ones(1).device.type == "cpu"


def test_a_plan_is_true_where_its_peak_fits():
    def step():
        return torch.ones(1000, 1000)

    assert torch.will_it_fit(step, memory=5_000_000)
    small = torch.will_it_fit(step, memory=3_000_000)
    assert not small and "peak 4.0 MB on cpu: is more than 3.0 MB" in str(small)
    with pytest.raises(TypeError, match="memory was not given"):
        bool(torch.will_it_fit(step))


def test_a_plan_is_printed_as_a_table():
    def step():
        return [torch.ones(1000 + i) for i in range(20)]

    lines = str(torch.will_it_fit(step, device="cuda")).split("\n")
    assert lines[0] == "peak 80.8 kB on cuda"
    assert lines[1].split() == ["memory", "count", "tensor", "made", "by", "at"]
    assert lines[2].split()[:6] == ["4.1", "kB", "1", "float32", "(1019)", "ones"]
    assert len(lines) == 19 and lines[18].split() == ["16.0", "kB", "smaller", "ones"]


def test_memory_may_be_given_for_each_device():
    def step():
        return torch.ones(1000, 1000)

    assert torch.will_it_fit(step, memory={"cpu": 5_000_000, "cuda:0": 1})
    assert not torch.will_it_fit(step, memory={"cpu": 3_000_000})
    plan = torch.will_it_fit(step, device="cuda:0", memory={"cuda:0": 3_000_000})
    assert not plan and plan["cuda:0"] is plan.devices[0] and len(plan.devices) == 1
    with pytest.raises(KeyError, match="no device 'cuda:1'"):
        plan["cuda:1"]


def test_memory_is_given_by_devices_however_they_are_named():
    def step():
        return torch.ones(1000, 1000)

    for key in ("cuda", "cuda:0", torch.device("cuda"), torch.device("cuda:0")):
        for device in ("cuda", "cuda:0", torch.device("cuda", 0)):
            plan = torch.will_it_fit(step, device=device, memory={key: 3_000_000})
            assert not plan and plan["cuda"] is plan["cuda:0"] is plan.devices[0]
    assert not torch.will_it_fit(step, memory={torch.device("cpu"): 3_000_000})
    for key in ("gpu", "Cpu", 1.5, None):
        with pytest.raises(ValueError, match="is no device"):
            torch.will_it_fit(step, memory={key: 1})
    with pytest.raises(ValueError, match="cuda:0 is given twice"):
        torch.will_it_fit(step, memory={"cuda": 1, "cuda:0": 1})


def test_what_needs_data_is_an_error_and_ends_the_plan():
    def step():
        return torch.ones(5).nonzero()

    with pytest.raises(Exception, match="nonzero"):
        torch.will_it_fit(step)
    assert torch.will_it_fit(lambda: torch.ones(1000)).peak >= 4000
    assert torch.ones(1).device.type == "cpu"


def test_plans_do_not_nest():
    with pytest.raises(RuntimeError, match="a plan is already in progress"):
        torch.will_it_fit(lambda: torch.will_it_fit(lambda: None))
    assert torch.will_it_fit(lambda: None).parts == []
