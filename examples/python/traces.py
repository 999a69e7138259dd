"""Losses of the examples under torch, for tests without torch: `python traces.py OUT.json`.

Each example is run with its imports of tensorh replaced by torch, as a user would do it; the file
says which torch it was."""
import contextlib
import importlib.util
import io
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = (
    "fashion_mlp fashion_cnn resnet vae regression_adam pinn custom_function maml char_transformer"
).split()


def run(name, package):
    """The losses of an example with `package`, "tensorh" or "torch"."""
    with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as f:
        text = f.read().replace("tensorh", package)
    sys.path.insert(0, HERE)
    spec = importlib.util.spec_from_loader(f"{package}_{name}", loader=None)
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
        losses = module.main()
    sys.path.remove(HERE)
    return losses


def main(out):
    import torch

    torch.set_num_threads(1)
    traces = {"torch": torch.__version__, **{name: run(name, "torch") for name in NAMES}}
    with open(out, "w", encoding="utf-8") as f:
        json.dump(traces, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
