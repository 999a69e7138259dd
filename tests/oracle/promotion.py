"""torch's type promotion: writes tests/oracle/promotion.txt, a line for each default dtype and first operand:

    DEFAULT DTYPE tensor|zero: RESULT ...

with the dtype of the sum of a tensor of DTYPE (`zero`: of no dimensions) and, in this order, a tensor of each of the
dtypes of the first line, one of no dimensions of each, and the Python numbers True, 1, 0.5, 1j. Run with torch:
    python tests/oracle/promotion.py
"""

import os

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


def name(dtype):
    return str(dtype).removeprefix("torch.")


def main():
    dtypes = [getattr(torch, n) for n in NAMES]
    lines = [f"# torch {torch.__version__}, by tests/oracle/promotion.py", " ".join(NAMES)]
    for default in ("float16", "bfloat16", "float32", "float64"):
        torch.set_default_dtype(getattr(torch, default))
        for a in dtypes:
            for kind, shape in (("tensor", (2,)), ("zero", ())):
                x = torch.ones(shape, dtype=a)
                others = [torch.ones(s, dtype=b) for s in ((2,), ()) for b in dtypes] + [True, 1, 0.5, 1j]
                results = [name(torch.result_type(x, y)) for y in others]
                lines.append(f"{default} {name(a)} {kind}: " + " ".join(results))
    with open(os.path.join(HERE, "promotion.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
