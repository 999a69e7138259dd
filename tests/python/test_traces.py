"""The programs of examples/python: the losses that torch gave, by the import line alone; and what
a user sees who starts them."""

import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"


def load(path):
    """A program's module, from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


traces = load(EXAMPLES / "traces.py")
KNOWN = json.loads((ROOT / "tests/python/data/traces.json").read_text())
ALONE = {"digits", "hogwild", "interop", "sentences", "speech", "traces"}  # without losses
each_program = pytest.mark.parametrize("name", traces.BOUNDS)


def start(path):
    """What a program prints when it is started as it is."""
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("dtype", traces.DTYPES)
@each_program
def test_the_losses_are_torchs(name, dtype):
    worst, place, bound = traces.compare(
        name, dtype, traces.run(name, "tensorh", dtype), KNOWN[dtype][name]
    )
    assert worst <= bound, f"loss {place} is {worst:.1e} from that of torch {KNOWN['torch']}"


def test_the_traces_are_of_a_named_torch_and_of_every_program():
    assert KNOWN["torch"].startswith("2.15.0")
    programs = {p.stem for p in EXAMPLES.glob("*.py")} - ALONE
    for dtype in traces.DTYPES:
        assert set(KNOWN[dtype]) == set(traces.BOUNDS) == programs


def test_one_step_that_is_wrong_is_seen():
    """A hundredth of the learning rate more is outside of every bound."""
    losses = KNOWN["float32"]["vae"]
    text = (EXAMPLES / "vae.py").read_text().replace("lr=3e-3", "lr=3.03e-3")
    module = {"__name__": "vae"}
    sys.path.insert(0, str(EXAMPLES))
    exec(text, module)
    sys.path.remove(str(EXAMPLES))
    assert traces.compare("vae", "float32", module["main"](), losses)[0] > 1e-4


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The programs and their digits in a folder of their own, without Fashion-MNIST."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(EXAMPLES, folder / "examples" / "python")
    shutil.copytree(EXAMPLES.parent / "fashion" / "digits", folder / "examples/fashion/digits")
    return folder


LAST = {  # the last line, the numbers cut off
    "fashion_mlp": "epoch 3: loss",
    "fashion_cnn": "step 40: loss",
    "resnet": "loss 2.374 -> ",
    "vae": "step 60: rebuilt 27.09, code 1.44",
    "regression_adam": "y = -0.003 + 0.841 x + -0.002 x^2 + -0.092 x^3, loss 0.0136",
    "pinn": "step 150: loss 0.0000",
    "custom_function": "loss 8.9860 -> 0.2114",
    "maml": "step 40: loss after adapting 1.1596",
    "char_transformer": "It was the ",
    "lstm_lm": "This is the man all tattered and torn that ",
    "dqn": "caught: the leaning pole stays up for ",
    "gan_gp": "92 % of the points lie in 8 of 8 heaps",
}


@each_program
def test_started_as_it_is_a_program_tells_what_it_learnt(name, alone):
    said, errors = start(alone / "examples" / "python" / f"{name}.py")
    assert said.splitlines()[-1].startswith(LAST[name]), said
    assert errors == ""
    digits = "pictures: the digits (`make data` fetches Fashion-MNIST)"
    assert (digits in said) == name.startswith("fashion")


def test_two_processes_train_one_network(alone):
    said, errors = start(alone / "examples" / "python" / "hogwild.py")
    one, two, speed = said.splitlines()
    assert one.startswith("1 x 8000 steps: ") and two.startswith("2 x 4000 steps: ")
    for line in (one, two):
        assert float(line.split(", ")[1].split(" %")[0]) > 88
    assert speed.startswith("two processes are ") and speed.endswith(" times as fast as one")
    assert errors == ""


def test_fashion_mnist_is_taken_where_it_is(tmp_path, alone):
    shutil.copytree(alone, tmp_path / "tree")
    data = tmp_path / "tree" / "build" / "fashion-mnist"
    data.mkdir(parents=True)
    image = bytes(range(256)) + bytes(28 * 28 - 256)
    (data / "train-images-idx3-ubyte").write_bytes(
        struct.pack(">4I", 0x803, 70, 28, 28) + 70 * image
    )
    (data / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 70) + bytes([3] * 70))
    said, _ = start(tmp_path / "tree" / "examples" / "python" / "fashion_mlp.py")
    assert said.startswith("pictures: Fashion-MNIST, unpacked by `make data`\n")
    assert said.endswith("70 of 70 right\n")
