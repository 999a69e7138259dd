"""Writes torch_*.pt: files as torch.save makes them. Run: python make_files.py"""

import pathlib
import zipfile
from collections import Counter, OrderedDict

HERE = pathlib.Path(__file__).parent
DTYPES = (
    "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 "
    "uint16 uint32 uint64 float8_e5m2 float8_e4m3fn"
).split()


def zoo(torch):
    """Everything that a file holds but parameters, made with any module spelled like torch."""
    x = torch.tensor([[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    inner = {"deep": [1, {"text": "ü\n"}], "none": None}
    loop = [1]
    loop.append(loop)
    ordered = OrderedDict(a=1, b=x)
    ordered._metadata = OrderedDict(version=1)
    return {
        "views": [x, x.t(), x[1:, 2:], torch.ones(1, 3).expand(4, 3)],
        "same": x,
        "grad": torch.ones(2, requires_grad=True),
        "empty": torch.zeros(0, 3),
        "number": torch.tensor(3),
        "dtypes": {n: getattr(torch, n) for n in DTYPES},
        "tensors": {n: torch.tensor([1, 0, 3]).to(getattr(torch, n)) for n in DTYPES},
        "size": x.shape,
        "device": torch.device("cpu"),
        "ints": [0, -1, 255, 256, 65535, 65536, -(2**40), 10**30],
        "floats": [1.5, float("inf"), -0.0],
        "bytes": [b"", b"ab\xff", bytearray(b"xy")],
        "complex": 1 + 2j,
        "truth": [True, False],
        "set": {1, "a", (2, 3)},
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "shared": [inner, inner],
        "ordered": ordered,
        "counter": Counter([1, 1, 2]),
        "loop": loop,
        7: "a key that is no text",
    }


def optimizer_state(torch):
    """The state of Adam after one step, and of a schedule."""
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    o = torch.optim.Adam([p], lr=0.5)
    s = torch.optim.lr_scheduler.MultiStepLR(o, [2, 2, 3])
    p.grad = torch.tensor([1.0, -1.0])
    o.step()
    s.step()
    return {"optimizer": o.state_dict(), "schedule": s.state_dict(), "param": p}


def scripted(torch):
    """A program of TorchScript: a layer twice, a buffer, numbers and texts."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
            self.again = self.body[0]
            self.register_buffer("place", torch.arange(3))
            self.sizes, self.note, self.k = [1, 2], "x", 7

        def forward(self, x):
            y = self.again(self.body(x)[:, :2]) * self.twice(self.k)
            return y + len(self.sizes) + self.place

        @torch.jit.export
        def twice(self, x: int):
            return 2 * x

    net = Net().eval()
    with torch.no_grad():
        net.again.weight.copy_(torch.arange(6.0).reshape(3, 2))
        net.again.bias.copy_(torch.tensor([0.5, -0.5, 0.0]))
    return torch.jit.script(net)


def without_places(path):
    """Drops what an archive says about the sources of its program, which are paths of a machine."""
    with zipfile.ZipFile(path) as z:
        parts = [(i, z.read(i)) for i in z.infolist() if not i.filename.endswith(".debug_pkl")]
    with zipfile.ZipFile(path, "w") as z:
        for info, data in parts:
            z.writestr(info, data, info.compress_type)


if __name__ == "__main__":
    import torch

    torch.save(zoo(torch), HERE / "torch_zoo.pt")
    torch.save(optimizer_state(torch), HERE / "torch_adam.pt")
    module = torch.nn.Linear(3, 2)
    with torch.no_grad():
        module.weight.copy_(torch.arange(6.0).reshape(2, 3))
        module.bias.copy_(torch.tensor([0.5, -0.5]))
    module.weight.note = "kept"
    torch.save(
        {"state": module.state_dict(), "list": list(module.parameters())},
        HERE / "torch_module.pt",
    )
    torch.save({"x": torch.ones(2)}, HERE / "torch_old.pt", _use_new_zipfile_serialization=False)
    torch.jit.save(scripted(torch), HERE / "torch_scripted.pt")
    without_places(HERE / "torch_scripted.pt")
    torch.serialization.set_crc32_options(False)
    torch.save({"x": torch.ones(2)}, HERE / "torch_nocrc.pt")
