"""Writes nn.json beside it: what torch gives for tests/python/nn_programs.py.

python tests/python/data/make_nn.py        (a Python that has torch)
"""

import json
import pathlib
import sys

import torch

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parent))
from nn_programs import PROGRAMS  # noqa: E402


def shorter(o):
    """Floats as float32 has them."""
    if isinstance(o, float):
        return float(f"{o:.7g}")
    if isinstance(o, (list, tuple)):
        return [shorter(v) for v in o]
    if isinstance(o, dict):
        return {k: shorter(v) for k, v in o.items()}
    return o


results = {"torch": torch.__version__}
for name, program in PROGRAMS.items():
    results[name] = shorter(program(torch))
(here / "nn.json").write_text(json.dumps(results, separators=(",", ":")) + "\n")
