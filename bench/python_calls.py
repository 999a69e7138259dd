"""python_calls.py MODULE [CALLS] - what a call from Python costs, on tensors of four floats.

MODULE is tensorh, torch or magnetron. Prints a line "name ns" a case: the fastest of 41 batches of about half a
millisecond, less an empty loop; what else runs on the machine disturbs few of them. With CALLS each case runs twice
with so many calls, and getppid is called before each and behind both, for callgrind to count the second. A case
that MODULE cannot run is left out. Compared by run.py.
"""
import importlib
import importlib.util
import os
import sys
import time

CASES = {
    "empty": "pass",
    "add": "a + b",
    "add_recording": "p + b",
    "add_method": "a.add(b)",
    "add_alpha": "a.add(b, alpha=2)",
    "add_in_place": "a.add_(b)",
    "mul_number": "a * 2.0",
    "relu_function": "relu(a)",
    "mul_sum_backward": "(p * q).sum().backward()",
    "getitem": "a[3]",
    "view": "a.view(2, 2)",
    "module_relu": "module_relu(a)",
    "module_linear": "module_linear(x)",
}


def things(name):
    """The names that the cases know."""
    m = importlib.import_module(name)
    make = getattr(m, "tensor", m.Tensor)
    four = [1.0, -2.0, 3.0, -4.0]
    g = {"a": make(four), "b": make([1e-6, 2e-6, 3e-6, 4e-6]), "relu": getattr(m, "relu", None)}
    g["p"], g["q"] = make(four, requires_grad=True), make(four, requires_grad=True)
    g["x"] = g["a"].reshape(1, 4)
    if importlib.util.find_spec(name + ".nn"):
        importlib.import_module(name + ".nn")
        g["module_relu"], g["module_linear"] = m.nn.ReLU(), m.nn.Linear(4, 4)
    return g


def loop(statement, g):
    """A function of n that runs the statement n times; its names are local, as in a function of a user's."""
    names = [n for n in g if g[n] is not None]
    text = f"def run(n, {', '.join(f'{n}={n}' for n in names)}):\n for i in range(n):\n  {statement}\n"
    place = dict(g)
    exec(text, place)
    return place["run"]


def measure(run):
    """ns a turn of the loop."""
    n, clock = 100, time.perf_counter_ns
    while True:
        start = clock()
        run(n)
        if clock() - start > 4e5:
            break
        n *= 2
    batch = []
    for _ in range(41):
        start = clock()
        run(n)
        batch.append((clock() - start) / n)
    return min(batch)


def main():
    name, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    g, empty = things(name), 0
    for case, statement in CASES.items():
        run = loop(statement, g)
        try:
            run(3)
        except Exception as e:  # noqa: BLE001 - what another library has not
            print(f"{name} has no {case}: {e!r}", file=sys.stderr)
            continue
        if count:
            for _ in range(2):
                os.getppid()
                run(count)
            os.getppid()
            print(case, 0)
            continue
        ns = measure(run)
        empty = empty or ns
        if case != "empty":
            print(f"{case} {ns - empty:.1f}")


main()
