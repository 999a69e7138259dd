"""Beside other packages (examples/python/interop.py), and operators of one's own in C
(examples/python/custom_operator), built with what the package brings."""

import importlib.util
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import tensorh as th

ROOT = Path(__file__).resolve().parents[2]
INTEROP = ROOT / "examples" / "python" / "interop.py"
MYOPS = ROOT / "examples" / "python" / "custom_operator" / "myops.c"
CC = shlex.split(os.environ.get("CC") or "cc")


@pytest.fixture(scope="module")
def interop():
    spec = importlib.util.spec_from_file_location("interop", INTEROP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numpy_shares_memory(interop):
    assert interop.with_numpy() == 30


def test_scipy_takes_gradients(interop):
    pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    assert 0 <= interop.with_scipy() < 1e-6


def test_scikit_learn_gives_data_and_judges(interop):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    assert interop.with_sklearn() == 144 / 150


def test_matplotlib_draws_tensors(interop, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    import matplotlib.image

    path = tmp_path / "chart.png"
    assert interop.with_matplotlib(path) == pytest.approx(0.99978376)
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">2I", data[16:24]) == (800, 300)
    pixels = (matplotlib.image.imread(path)[..., :3] * 255).round()
    blue = (pixels == [0x1F, 0x77, 0xB4]).all(-1)  # the line: on the left, on every column of it
    assert blue[:, 115:365].any(0).all() and not blue[:, 400:].any()
    yellow = (abs(pixels - [0xFD, 0xE7, 0x25]) <= 3).all(-1)  # the highest of the picture
    assert yellow[:, 460:700].sum() > 100 and not yellow[:, :400].any()


def test_started_as_it_is_it_says_what_is_left_out(tmp_path):
    """Under names that cannot be found, as where nothing is installed."""
    text = INTEROP.read_text()
    for name in ("scipy", "sklearn", "matplotlib"):
        text = text.replace(f'there("{name}")', f'there("no_{name}")')
    (tmp_path / "interop.py").write_text(text)
    done = subprocess.run(
        [sys.executable, tmp_path / "interop.py"], capture_output=True, text=True, check=True
    )
    first, *rest = done.stdout.splitlines()
    assert first == "NumPy: an array and a tensor over one memory, sum 30"
    assert rest == [
        f"no_{n} is not installed: skipped" for n in ("scipy", "sklearn", "matplotlib")
    ]


# --- an operator of one's own ---------------------------------------------------------------------

WANTING = {  # what a build needs
    "no C compiler": shutil.which(CC[0]),
    "no Python.h": Path(sysconfig.get_paths()["include"], "Python.h").exists(),
    "a package of separate objects hands over no functions": hasattr(th._C, "_api"),
}
compiled = pytest.mark.skipif(
    not all(WANTING.values()), reason=", ".join(why for why, there in WANTING.items() if not there)
)


def includes():
    """Where the package says its headers and Python's are."""
    done = subprocess.run(
        [sys.executable, "-m", "tensorh", "--cflags"], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def build(folder, text, flags):
    (folder / "myops.c").write_text(text)
    done = subprocess.run(
        [*CC, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", *flags, "myops.c", "-o", "myops.so"]
        + ["-lm"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr


def python(folder, text):
    """What a program prints that finds the module beside it."""
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rounded(text):
    return re.sub(r"\d+\.\d+", lambda n: f"{float(n[0]):.4f}", text)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("myops")
    build(folder, MYOPS.read_text(), includes())
    return folder


@compiled
def test_the_operator_computes_and_has_gradients(built):
    said = python(
        built,
        """
import inspect, tensorh as torch, myops
a = torch.tensor([0.0, 1.0, -200.0], requires_grad=True)
b = torch.tensor([0.0, 3.0, 100.0], requires_grad=True)
y = myops.smooth_max(a, b)
print(y.tolist(), y.grad_fn.name())
y.sum().backward()
print(a.grad.tolist(), b.grad.tolist())
first = torch.tensor([0.0, 1.0], requires_grad=True)
(one,) = torch.autograd.grad(
    myops.smooth_max(first, torch.zeros(2)).sum(), first, create_graph=True)
(two,) = torch.autograd.grad(one.sum(), first)
print(one.tolist(), two.tolist())
out = torch.zeros(3)
print(myops.smooth_max(a.detach(), other=b.detach(), out=out) is out, torch.equal(out, y))
print(inspect.signature(myops.smooth_max), myops.smooth_max.__doc__.splitlines()[0])
""",
    )
    values, grads, twice, out, text = rounded(said).splitlines()
    assert values == "[0.6931, 3.1269, 100.0000] SmoothMaxBackward0"
    assert grads == "[0.5000, 0.1192, 0.0000] [0.5000, 0.8808, 1.0000]"
    assert twice == "[0.5000, 0.7311] [0.2500, 0.1966]"
    assert out == "True True"
    assert text == "(input, other, *, out=None) smooth_max(Tensor self, Tensor other) -> Tensor"


@compiled
def test_a_class_may_take_the_operator_over(built):
    said = python(
        built,
        """
import tensorh as torch, myops
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args)
x = torch.ones(2).as_subclass(Mine)
print(myops.smooth_max(x, x))
""",
    )
    assert said == "('smooth_max', 2)\n"


@compiled
def test_its_errors_are_those_of_every_operator_and_name_the_line(built):
    said = python(
        built,
        """
import traceback, tensorh as torch, myops
a = torch.ones(3)
for call in (
    lambda: myops.smooth_max(a.double(), a),
    lambda: myops.smooth_max(a, torch.ones(4)),
    lambda: myops.smooth_max(a),
    lambda: myops.smooth_max(a, "a"),
    lambda: myops.smooth_max(a, a, a),
):
    try:
        call()
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        print(f"{last.lineno} {type(e).__name__}: {e}".replace("\\n", ";"))
""",
    )
    assert said.splitlines() == [
        "5 RuntimeError: expected float32;  in smooth_max(self=float64 (3), other=float32 (3))",
        "6 RuntimeError: expected contiguous tensors of the same shape;"
        "  in smooth_max(self=float32 (3), other=float32 (4))",
        '7 TypeError: smooth_max() missing 1 required positional arguments: "other"',
        "8 TypeError: smooth_max(): argument 'other' (position 2) must be Tensor, not str",
        "9 TypeError: smooth_max() takes 2 positional arguments but 3 were given",
    ]


@compiled
def test_an_error_in_its_gradient_names_the_line_of_the_forward_call(tmp_path):
    text = MYOPS.read_text()
    wrong = text.replace("        if (g->want[k])\n", "")
    assert wrong != text
    build(tmp_path, wrong, includes())
    said = python(
        tmp_path,
        """
import tensorh as torch, myops
y = myops.smooth_max(torch.ones(2, requires_grad=True), torch.ones(2))
try:
    y.sum().backward()
except RuntimeError as e:
    print(e)
""",
    )
    assert "in the gradient of smooth_max\n" in said
    assert re.search(r"forward call: smooth_max at \S*program\.py:3\b", said), said


@compiled
@pytest.mark.parametrize(
    "pattern, other",
    [(r'(strcmp\(e->layout, )"\w', r'\1"z'), (r"(e->n != )\d", r"\g<1>7")],
    ids=["layout", "functions"],
)
def test_a_module_of_another_layout_is_refused(tmp_path, pattern, other):
    text = Path(th.get_include(), "tensor.h").read_text()
    changed, count = re.subn(pattern, other, text)
    assert count == 1 and changed != text
    (tmp_path / "tensor.h").write_text(changed)
    shutil.copy(Path(th.get_include(), "tensorh.h"), tmp_path)
    build(tmp_path, MYOPS.read_text(), [f"-I{tmp_path}", *includes()])
    said = python(
        tmp_path,
        """
import tensorh as torch
try:
    import myops
except ImportError as e:
    print(e)
print(torch.ones(2).sum().item())
""",
    )
    assert said == "myops was compiled for another version of tensorh\n2.0\n"
