"""Compares the losses of these programs under torch and under tensorh.

    python traces.py               runs both, prints each program's largest relative difference
    python traces.py --write OUT   writes torch's losses and version, for tests without torch

Only a program's import changes, from tensorh to torch, as a user would change it. In float64 a
wrong step shows far above rounding, so every loss must agree closely. In float32 the order of
additions shows, and some programs amplify it: BOUNDS says which and why.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))

# name: (relative bound in float32, how many losses it holds for (None: all), in float64)
#
# fashion_cnn: the gradient of a bias before batch norm is 0, so only rounding is computed, and Adam
#     makes full steps of it. The 40 training losses do not see the bias; the last loss does,
#     because running means lag behind. Without the bias it agrees like the others.
# pinn: from step 90 on a loss of 1e-3 is a difference of larger numbers and the steps overshoot.
#     Changing the last bit of one weight changes torch's own losses by 3 % there.
# gan_gp: the two networks chase each other, which amplifies rounding a thousandfold in 50 steps.
BOUNDS = {
    "fashion_mlp": (5e-6, None, 1e-13),
    "fashion_cnn": (5e-6, 40, 1e-9),
    "resnet": (5e-6, None, 1e-12),
    "vae": (5e-6, None, 1e-13),
    "regression_adam": (5e-6, None, 1e-13),
    "pinn": (1e-5, 90, 1e-12),
    "custom_function": (5e-6, None, 1e-13),
    "maml": (5e-6, None, 1e-13),
    "char_transformer": (5e-6, None, 1e-13),
    "lstm_lm": (5e-6, None, 1e-13),
    "dqn": (5e-6, None, 1e-13),
    "gan_gp": (5e-6, 20, 1e-11),
}
DTYPES = ("float32", "float64")


def run(name, package, dtype="float32"):
    """The losses of a program with the default dtype and `package`, "tensorh" or "torch"."""
    with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as f:
        text = f.read().replace("tensorh", package)
    torch = importlib.import_module(package)
    module = types.ModuleType(f"{package}_{name}")
    was = torch.get_default_dtype()
    sys.path.insert(0, HERE)
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, f"{name}.py", "exec"), module.__dict__)
            return module.main()
    finally:
        torch.set_default_dtype(was)
        sys.path.remove(HERE)


def compare(name, dtype, ours, theirs):
    """(largest relative difference, its place, bound) of the compared losses."""
    float32, count, float64 = BOUNDS[name]
    if len(ours) != len(theirs):
        raise ValueError(f"{name}: {len(ours)} losses and {len(theirs)}")
    if dtype == "float64":
        float32, count = float64, None
    apart = [abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True)][:count]
    worst = max(apart, key=lambda d: float("inf") if d != d else d)
    return worst, apart.index(worst), float32


def write(out):
    import torch

    torch.set_num_threads(1)
    traces = {"torch": torch.__version__}
    for dtype in DTYPES:
        traces[dtype] = {name: run(name, "torch", dtype) for name in BOUNDS}
    with open(out, "w", encoding="utf-8") as f:
        json.dump(traces, f, indent=0)
        f.write("\n")


def beside():
    """Prints the table; True if all losses are within the bounds."""
    import torch

    import tensorh

    print(f"losses of tensorh {tensorh.__version__} beside torch {torch.__version__}:")
    print(f"{'':18}{'losses':>8}{'float32':>12}{'bound':>8}{'float64':>12}{'bound':>8}")
    right = True
    for name, (_, count, _) in BOUNDS.items():
        line = ""
        for dtype in DTYPES:
            ours, theirs = (run(name, package, dtype) for package in ("tensorh", "torch"))
            worst, _, bound = compare(name, dtype, ours, theirs)
            line += f"{worst:12.1e}{bound:8.0e}"
            right = right and worst <= bound
        many = len(ours) if count is None else f"{count}, {len(ours)}"
        print(f"{name:18}{many:>8}{line}", flush=True)
    print("40, 41: so many of the losses are compared in float32, and all in float64; BOUNDS in")
    print("examples/python/traces.py says why.")
    return right


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"] and len(sys.argv) == 3:
        write(sys.argv[2])
    elif len(sys.argv) == 1:
        sys.exit(not beside())
    else:
        sys.exit(__doc__)
