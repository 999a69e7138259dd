"""Writes tests/oracle/optim_values.inc: what torch gives for optimizers with their options in pairs, and for schedules.

    python tests/oracle/optim.py        needs torch; tests/unit/optim_pairs.c needs only what this writes

Each two values of any two options of an optimizer occur together in one case (greedy, seeded). A case: five parameters in
two groups, (2,3) () | (0,3) (19) (3,2), 6 steps; p[i] = ((11 i + 3 k) % 17 - 8) / 16, gradients ((7 i + 5 step + 3 k) % 13 - 6) / 8,
exact in every dtype; some without gradient in some steps; one option changed before the fourth step. Then all elements, and of
each state sum (i + 1) x[i]. bfloat16 and float16: torch's fused step, which rounds once a step as the library does.
"""

import itertools
import math
import os
import random

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, SHAPES, GROUPS = 6, [(2, 3), (), (0, 3), (19,), (3, 2)], [0, 0, 1, 1, 1]
DTYPES = ["float64", "float32", "bfloat16", "float16"]
SGD = {
    "lr": [0.1, 0.03],
    "momentum": [0.0, 0.9],
    "dampening": [0.0, 0.3],
    "weight_decay": [0.0, 0.1],
    "nesterov": [False, True],
    "maximize": [False, True],
    "absent": [0, 1, 2],
    "dtype": DTYPES,
    "group": [None, ("lr", 0.25), ("momentum", 0.5), ("weight_decay", 0.2), ("maximize", True), ("maximize", False), ("dampening", 0.0),
              ("nesterov", False)],
    "later": [None, ("lr", 0.0), ("momentum", 0.0), ("momentum", 0.7), ("weight_decay", 0.05), ("maximize", True)],
}
ADAM = {
    "lr": [0.02, 0.1],
    "betas": [(0.9, 0.999), (0.5, 0.9), (0.0, 0.99), (0.8, 0.0)],
    "eps": [1e-8, 1e-3],
    "weight_decay": [0.0, 0.1],
    "amsgrad": [False, True],
    "maximize": [False, True],
    "absent": [0, 1, 2],
    "dtype": DTYPES,
    "group": [None, ("lr", 0.25), ("betas", (0.7, 0.8)), ("eps", 0.1), ("weight_decay", 0.3), ("maximize", True), ("amsgrad", True),
              ("amsgrad", False)],
    "later": [None, ("lr", 0.0), ("weight_decay", 0.05), ("maximize", True), ("eps", 0.01)],
}
def common(lr, **own):
    """Options of an optimizer that torch steps in float64 and float32 alone."""
    first, second = lr
    return {"lr": lr, **own, "maximize": [False, True], "absent": [0, 1, 2], "dtype": DTYPES[:2],
            "group": [("lr", 2 * second), *((k, v[-1]) for k, v in own.items() if k not in FIRST)],
            "later": [None, ("lr", first / 2), *((k, v[0]) for k, v in own.items() if k in LATER)]}


LATER = ("lr_decay", "alpha", "rho", "momentum_decay", "lambd", "d")  # numbers that any state goes on with
FIRST = ("initial_accumulator_value",)  # torch takes the constructor's for all groups, the library each group's
DECAY, EPS, BETAS = [0.1, 0.0], [1e-8, 1e-3], [(0.9, 0.999), (0.4, 0.8)]
ROWS = [
    ("sgd", torch.optim.SGD, SGD), ("adam", torch.optim.Adam, ADAM), ("adamw", torch.optim.AdamW, ADAM),
    ("adagrad", torch.optim.Adagrad, common([0.1, 0.03], lr_decay=[0.0, 0.1], weight_decay=DECAY, eps=[1e-10, 1e-3],
                                            initial_accumulator_value=[0.0, 0.5])),
    ("rmsprop", torch.optim.RMSprop, common([0.1, 0.03], alpha=[0.99, 0.5], weight_decay=DECAY, eps=EPS, momentum=[0.0, 0.9],
                                            centered=[False, True])),
    ("adadelta", torch.optim.Adadelta, common([1.0, 0.3], rho=[0.9, 0.5], weight_decay=DECAY, eps=[1e-6, 1e-3])),
    ("adamax", torch.optim.Adamax, common([0.02, 0.1], betas=BETAS, weight_decay=DECAY, eps=EPS)),
    ("nadam", torch.optim.NAdam, common([0.02, 0.1], betas=BETAS, weight_decay=DECAY, eps=EPS, momentum_decay=[0.004, 0.1],
                                        decoupled_weight_decay=[False, True])),
    ("radam", torch.optim.RAdam, common([0.02, 0.1], betas=BETAS, weight_decay=DECAY, eps=EPS, decoupled_weight_decay=[False, True])),
    ("rprop", torch.optim.Rprop, common([0.1, 0.03], etas=[(0.5, 1.2), (0.1, 2.0)], step_sizes=[(1e-6, 50.0), (0.02, 0.05)])),
    ("asgd", torch.optim.ASGD, common([0.1, 0.03], lambd=[1e-4, 0.1], alpha=[0.75, 0.0, 2.0], t0=[1e6, 3.0], weight_decay=DECAY)),
]
out = []


def allowed(case):
    """What torch takes: nesterov wants momentum and no dampening, in both groups and after the change."""
    if "nesterov" not in case:
        return True
    changes = [case["momentum"], dict([case["group"] or (0, 0)]).get("momentum"), dict([case["later"] or (0, 0)]).get("momentum")]
    if case["dtype"] in ("bfloat16", "float16") and (changes[1] is not None or changes[2] is not None or (changes[0] and case["absent"])):
        return False  # the fused step of torch wants buffers for all or none
    groups = [dict(case), dict(case)]
    if case["group"]:
        groups[1][case["group"][0]] = case["group"][1]
    for g in groups:
        for change in (None, case["later"]):
            h = dict(g)
            if change:
                h[change[0]] = change[1]
            if h["nesterov"] and (h["momentum"] <= 0 or h["dampening"] != 0):
                return False
    return True


def pairs_of(case):
    return {((a, case[a]), (b, case[b])) for a, b in itertools.combinations(sorted(case), 2)}


def pairwise(options, seed):
    rng = random.Random(seed)
    draw = lambda: {k: rng.choice(v) for k, v in options.items()}
    possible = set()
    for _ in range(60000):
        c = draw()
        if allowed(c):
            possible |= pairs_of(c)
    cases, count = [], len(possible)
    while possible:
        best = max((c for c in (draw() for _ in range(800)) if allowed(c)), key=lambda c: len(pairs_of(c) & possible))
        if pairs_of(best) & possible:
            cases.append(best)
            possible -= pairs_of(best)
    return cases, count


def numbers(name, values):
    text, line = [], "   "
    for v in values:
        item = " NAN," if v != v else f" {v:.17g}," if isinstance(v, float) else f" {v},"
        if len(line) + len(item) > 98:
            text.append(line)
            line = "   "
        line += item
    out.append(f"static const double {name}[] = {{\n" + "\n".join(text + [line]) + "};")


def present(absent, step, k):
    return absent == 0 or (absent == 1 and (step + k) % 3 != 0) or (absent == 2 and (k % 2 == 0 or step >= 2))


def run(kind, case):
    dtype = getattr(torch, case["dtype"])
    params = []
    for k, shape in enumerate(SHAPES):
        n = math.prod(shape)
        t = torch.tensor([((11 * i + 3 * k) % 17 - 8) / 16 for i in range(n)], dtype=torch.float64).to(dtype).reshape(shape)
        params.append(t.requires_grad_())
    options = {k: v for k, v in case.items() if k not in ("absent", "dtype", "group", "later")}
    first, second = ({"params": [p for p, g in zip(params, GROUPS) if g == which]} for which in (0, 1))
    if case["group"]:
        second[case["group"][0]] = case["group"][1]
    fused = {"fused": True} if case["dtype"] in ("bfloat16", "float16") else {}
    o = kind([first, second], **fused, **options)
    for step in range(STEPS):
        if step == 3 and case["later"]:
            for g in o.param_groups:
                g[case["later"][0]] = case["later"][1]
        for k, p in enumerate(params):
            n = p.numel()
            grad = torch.tensor([((7 * i + 5 * step + 3 * k) % 13 - 6) / 8 for i in range(n)], dtype=torch.float64).to(dtype).reshape(p.shape)
            p.grad = grad if present(case["absent"], step, k) else None
        o.step()
    values = [float(x) for p in params for x in p.detach().double().flatten()]
    keys = []
    for i, p in enumerate(params):
        state = o.state[p] if p in o.state else {}
        for name, s in state.items():
            if s is None or ("step" in state and state["step"] == 0):  # Adagrad has its state from the beginning
                continue
            keys.append(f"state.{i}.{name}")
            values.append(sum((e + 1) * float(x) for e, x in enumerate(s.double().flatten())))
    return values, " ".join(keys)


def written(name, value):
    """An option as the test reads it: a truth, a number, or several numbers."""
    if isinstance(value, bool):
        return f"{name}={str(value).lower()}"
    return f"{name}=" + "/".join(f"{v:.17g}" for v in (value if isinstance(value, tuple) else [value]))


def optimizers():
    rows = []
    for which, (name, kind, options) in enumerate(ROWS):
        cases, count = pairwise(options, which)
        print(name, len(cases), "cases for", count, "pairs")
        for number, case in enumerate(cases):
            values, keys = run(kind, case)
            at = f"{name}_{number}"
            numbers(f"pairs_{at}", values)
            dtype = {"float64": "F64", "float32": "F32", "bfloat16": "BF16", "float16": "F16"}[case["dtype"]]
            own = [(k, v) for k, v in case.items() if k not in ("absent", "dtype", "group", "later")]
            texts = ['"' + " ".join(written(k, v) for k, v in l) + '"'
                     for l in (own, [case["group"]] if case["group"] else [], [case["later"]] if case["later"] else [])]
            parts = keys.split(" ")
            half = len(parts) // 2
            keys = f'"{keys}"' if not half else '"' + " ".join(parts[:half]) + ' "\n     "' + " ".join(parts[half:]) + '"'
            rows.append(f'    {{"{at}", "{name}", TN_{dtype}, {case["absent"]},\n     {texts[0]},\n     {texts[1]}, {texts[2]},'
                        f' pairs_{at}, {len(values)},\n     {keys}}},')
    out.append("static const pairs_case pairs_cases[] = {")
    out.extend(rows)
    out.append("};")


def schedules():
    """Two groups; 3 turns and some; once with an lr that somebody else sets in between (the recursive form goes on from it)."""
    rows = []
    kinds = [("step", e, g) for e in (1, 2, 3, 7) for g in (0.5, 1.0, 0.0)] + [("cosine", t, m) for t in (1, 2, 3, 4, 5, 10) for m in (0.0, 0.01, 0.5)]
    kinds += [("lambda", 0, 0.0)]
    for kind, every, value in kinds:
        for touched in (0, 1)[: 1 if value == 0.5 and kind == "cosine" else 2]:  # below eta_min: rates that are negative, refused here
            o = torch.optim.SGD([{"params": [torch.zeros(1, requires_grad=True)]}, {"params": [torch.zeros(1, requires_grad=True)], "lr": 0.7}], lr=0.3)
            s = {
                "step": lambda: torch.optim.lr_scheduler.StepLR(o, every, value),
                "cosine": lambda: torch.optim.lr_scheduler.CosineAnnealingLR(o, every, value),
                "lambda": lambda: torch.optim.lr_scheduler.LambdaLR(o, lambda n: 1.0 / (1 + n) if n % 4 else 0.25 * n + 1),
            }[kind]()
            rates = []
            steps = 6 * every + 3 if every else 12
            for n in range(steps):
                rates += [g["lr"] for g in o.param_groups]
                if touched and n == every:
                    o.param_groups[1]["lr"] = 0.09
                o.step()
                s.step()
            at = f"rates_{kind}_{every}_{str(value).replace('.', '_')}_{touched}"
            numbers(at, rates)
            rows.append(f'    {{"{at}", \'{kind[0]}\', {every}, {value}, {touched}, {at}, {steps}}},')
    out.append("static const rates_case rates_cases[] = {")
    out.extend(rows)
    out.append("};")


out.append("/* optim_values.inc - what torch " + torch.__version__.split("+")[0] + " gives; written by tests/oracle/optim.py. */")
out.append("""#include <math.h>\n#include <stdbool.h>

typedef struct pairs_case {
    const char *name, *row;
    tn_dtype dtype;
    int absent;
    /* "lr=0.1 betas=0.9/0.99 maximize=true": of all; of the second group; of both, before the fourth
     * step */
    const char *options, *group, *later;
    const double *values;
    int n;
    const char *keys;
} pairs_case;
typedef struct rates_case {
    const char *name;
    char kind;
    int every;
    double value;
    bool touched;
    const double *values; /* two a step */
    int steps;
} rates_case;
""")
optimizers()
schedules()
with open(os.path.join(HERE, "optim_values.inc"), "w") as f:
    f.write("\n".join(out) + "\n")
