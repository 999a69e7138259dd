"""Writes optim.json: what torch's optimizers and schedules give. Run: python make_optim.py

run(torch) makes the same with any module that is spelled like torch; test_optim.py compares.
"""

import itertools
import json
import math
import pathlib
import warnings

SHAPES = ((2, 3), (2,), ())
STEPS = 50
# Optimizers whose options meet in a few cases only.
MORE = {
    "Adagrad": {
        "lr": (0.1, 0.02),
        "lr_decay": (0, 0.1),
        "weight_decay": (0, 0.05),
        "initial_accumulator_value": (0, 0.5),
        "eps": (1e-10, 1e-4),
        "maximize": (False, True),
    },
    "RMSprop": {
        "lr": (0.01, 0.02),
        "alpha": (0.99, 0.9),
        "weight_decay": (0, 0.05),
        "momentum": (0, 0.9),
        "centered": (False, True),
        "maximize": (False, True),
    },
    "Adadelta": {
        "lr": (1.0, 0.2),
        "rho": (0.9, 0.6),
        "weight_decay": (0, 0.05),
        "maximize": (False, True),
    },
    "Adamax": {
        "lr": (0.002, 0.02),
        "betas": ((0.9, 0.999), (0.6, 0.9)),
        "weight_decay": (0, 0.05),
        "maximize": (False, True),
    },
    "NAdam": {
        "lr": (0.002, 0.02),
        "betas": ((0.9, 0.999), (0.6, 0.9)),
        "weight_decay": (0, 0.05),
        "momentum_decay": (0.004, 0.1),
        "decoupled_weight_decay": (False, True),
        "maximize": (False, True),
    },
    "RAdam": {
        "lr": (0.002, 0.02),
        "betas": ((0.9, 0.999), (0.6, 0.9)),
        "weight_decay": (0, 0.05),
        "decoupled_weight_decay": (False, True),
        "maximize": (False, True),
    },
    "Adafactor": {
        "lr": (0.01, 0.1),
        "beta2_decay": (-0.8, -0.3),
        "eps": ((None, 1e-3), (1e-6, 0.1)),
        "d": (1.0, 2.0),
        "weight_decay": (0.0, 0.05),
        "maximize": (False, True),
    },
    "Rprop": {
        "lr": (0.01, 0.02),
        "etas": ((0.5, 1.2), (0.3, 1.5)),
        "step_sizes": ((1e-6, 50), (1e-3, 0.1)),
        "maximize": (False, True),
    },
    "ASGD": {
        "lr": (0.01, 0.05),
        "lambd": (1e-4, 0.1),
        "alpha": (0.75, 0.0),
        "t0": (1e6, 3),
        "weight_decay": (0, 0.05),
        "maximize": (False, True),
    },
}


def optimizer_cases():
    """(class, options) over all combinations of what can be switched."""
    bools = (False, True)
    for momentum, damp, decay, nesterov, most in itertools.product(
        (0, 0.9), (0, 0.1), (0, 0.01), bools, bools
    ):
        if not (nesterov and (momentum == 0 or damp)):
            options = {"momentum": momentum, "dampening": damp, "weight_decay": decay}
            yield "SGD", {"lr": 0.02, **options, "nesterov": nesterov, "maximize": most}
    for name, decay, amsgrad, most in itertools.product(("Adam", "AdamW"), (0, 0.05), bools, bools):
        options = {"weight_decay": decay, "amsgrad": amsgrad, "maximize": most}
        yield name, {"lr": 0.02, "betas": (0.8, 0.99), "eps": 1e-6, **options}
    for name, options in MORE.items():
        for pick in (0, 1):
            yield name, {o: values[pick] for o, values in options.items()}
            yield name, {o: values[(pick + i) % 2] for i, (o, values) in enumerate(options.items())}


def parameters(torch):
    """Leaves with values that need no generator."""
    at, out = 0, []
    for shape in SHAPES:
        n = math.prod(shape)
        values = [math.sin(1.7 * (at + i)) for i in range(n)]
        out.append(torch.tensor(values).reshape(shape).requires_grad_(True))
        at += n
    return out


def set_gradients(torch, params, step):
    """Gradients of a bowl that moves with the step; the last parameter has none at first."""
    for k, p in enumerate(params):
        if k == 2 and step < 3:
            continue
        p.grad = (p.detach() * 0.3 + math.cos(step * 0.9 + k) * 0.2).reshape(SHAPES[k])


def numbers(t):
    """Elements with as many digits as float32 has."""
    return [float(f"{v:.8g}") for v in t.detach().reshape(-1).tolist()]


def optimize(torch, name, options):
    """A run with two groups and an edited rate: values of the parameters and of all states."""
    params = parameters(torch)
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.01}]
    o = getattr(torch.optim, name)(groups, **options)
    for step in range(STEPS):
        if step == 20:
            o.param_groups[0]["lr"] = 0.005
        o.zero_grad()
        set_gradients(torch, params, step)
        o.step()
    state = o.state_dict()["state"]
    return {
        "params": [numbers(p) for p in params],
        "state": {str(i): {k: numbers(v) for k, v in s.items()} for i, s in state.items()},
        "repr": repr(o),
    }


SCHEDULES = {
    "StepLR": ("StepLR", {"step_size": 7, "gamma": 0.5}),
    "MultiStepLR": ("MultiStepLR", {"milestones": [3, 3, 10, 30]}),
    "ConstantLR": ("ConstantLR", {"factor": 0.3, "total_iters": 9}),
    "LinearLR": ("LinearLR", {"start_factor": 0.2, "total_iters": 11}),
    "ExponentialLR": ("ExponentialLR", {"gamma": 0.93}),
    "CosineAnnealingLR": ("CosineAnnealingLR", {"T_max": 13, "eta_min": 0.001}),
    "Restarts": ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 2, "eta_min": 0.01}),
    "Restarts, equal": ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    "LambdaLR": ("LambdaLR", {"lr_lambda": lambda e: 0.95**e}),
    "MultiplicativeLR": ("MultiplicativeLR", {"lr_lambda": lambda e: 0.9 + 0.01 * (e % 5)}),
    "PolynomialLR": ("PolynomialLR", {"total_iters": 40, "power": 1.7}),
    "CyclicLR": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 5, "step_size_down": 8}
        | {"mode": "triangular2"},
    ),
    "CyclicLR, exponential": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": [0.1, 0.2], "step_size_up": 5, "mode": "exp_range"}
        | {"gamma": 0.98},
    ),
    "CyclicLR, own": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 5, "cycle_momentum": False}
        | {"scale_fn": lambda x: 1 / x},
    ),
    "OneCycleLR": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 61}),
    "OneCycleLR, three": (
        "OneCycleLR",
        {"max_lr": 0.5, "epochs": 10, "steps_per_epoch": 7, "three_phase": True}
        | {"anneal_strategy": "linear"},
    ),
    "plateau": ("ReduceLROnPlateau", {"patience": 2, "cooldown": 1, "min_lr": [1e-4, 1e-3]}),
    "plateau, max": (
        "ReduceLROnPlateau",
        {"patience": 2, "mode": "max", "threshold_mode": "abs", "threshold": 1e-3},
    ),
    "swa": ("SWALR", {"swa_lr": [0.02, 0.5], "anneal_epochs": 12}),
    "swa, line": ("SWALR", {"swa_lr": 0.02, "anneal_epochs": 30, "anneal_strategy": "linear"}),
    "swa, at once": ("SWALR", {"swa_lr": 0.02, "anneal_epochs": 0}),
    "sequence": ("sequence", {}),
    "chain": ("chain", {}),
}


def make_schedule(torch, o, key):
    """The schedule of that name over optimizer o."""
    all_of = torch.optim.lr_scheduler
    name, options = SCHEDULES[key]
    if name == "sequence":
        parts = [all_of.LinearLR(o, 0.1, total_iters=10), all_of.CosineAnnealingLR(o, 20)]
        return all_of.SequentialLR(o, [*parts, all_of.ExponentialLR(o, 0.9)], [10, 35])
    if name == "chain":
        return all_of.ChainedScheduler([all_of.ConstantLR(o, 0.1, 4), all_of.ExponentialLR(o, 0.9)])
    if name == "SWALR":
        all_of = torch.optim.swa_utils
    return getattr(all_of, name)(o, **options)


def schedule(torch, key, optimizer="SGD"):
    """Rates (and momentum) of two groups over 60 steps; somebody edits a rate in between."""
    params = [torch.tensor([1.0]), torch.tensor([2.0])]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.03}]
    o = getattr(torch.optim, optimizer)(groups, lr=0.1)
    s, rows = make_schedule(torch, o, key), []
    for step in range(60):
        o.step()
        s.step(*([abs(math.sin(step * 0.7)) * 0.97**step] if "plateau" in key else []))
        row = [g["lr"] for g in o.param_groups] + s.get_last_lr()
        rows.append(row + [o.param_groups[0].get("momentum"), o.param_groups[0].get("betas")])
        if step == 20:
            o.param_groups[0]["lr"] = 0.07
    return rows


MUON = (
    {"lr": 0.05},
    {"lr": 0.05, "nesterov": False, "weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"},
    {"lr": 0.05, "ns_steps": 2, "momentum": 0.5, "adjust_lr_fn": "spectral_unclamped"},
)


def muon(torch, options):
    """Ten steps of a tall, a wide and a square matrix: parameters and buffers."""
    params = [
        torch.tensor([math.sin(1.3 * i + k) for i in range(m * n)]).reshape(m, n).requires_grad_()
        for k, (m, n) in enumerate(((7, 4), (3, 6), (5, 5)))
    ]
    o = torch.optim.Muon(params, **options)
    for step in range(10):
        for p in params:
            g = [math.cos(0.7 * i + 1.1 * step) for i in range(p.numel())]
            p.grad = torch.tensor(g).reshape(p.shape)
        o.step()
    buffers = [numbers(o.state[p]["momentum_buffer"]) for p in params]
    return {"params": [numbers(p) for p in params], "buffers": buffers, "repr": repr(o)}


LBFGS = (
    {"lr": 0.002},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 5, "maximize": True},
    {"line_search_fn": "strong_wolfe", "max_eval": 4, "lr": 0.5},
)


def lbfgs(torch, options):
    """Six steps down Rosenbrock's valley in float64: losses, counts, where it ends."""
    p = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([[2.0], [-3.0]], dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([p, q], **options)

    def closure():
        o.zero_grad()
        loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum() + (q * q).sum()
        loss = -loss if options.get("maximize") else loss
        loss.backward()
        return loss

    losses = [float(o.step(closure).detach()) for _ in range(6)]
    state = o.state[p]
    counts = [state["func_evals"], state["n_iter"], len(state["old_dirs"])]
    names = sorted(state)
    return {"losses": losses, "counts": counts, "names": names, "repr": repr(o)} | {
        "end": p.tolist() + q.reshape(-1).tolist()
    }


AVERAGES = ("swa", "swa buffers", "swa each", "ema", "ema buffers", "ema each")


def averages(torch, key):
    """An average of five models with batch norm, then update_bn: its state dict."""
    utils = torch.optim.swa_utils
    kind, *rest = key.split()
    options = {"use_buffers": "buffers" in rest}
    if "each" in rest:
        options["avg_fn"] = utils.get_ema_avg_fn(0.9) if kind == "ema" else utils.get_swa_avg_fn()
    elif kind == "ema":
        options["multi_avg_fn"] = utils.get_ema_multi_avg_fn(0.9)

    def model(k):
        made = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        values = {}
        for name, t in made.state_dict().items():
            v = torch.tensor([math.sin(i * (k + 1) * 0.7 + len(name)) for i in range(t.numel())])
            values[name] = v.reshape(t.shape) if t.is_floating_point() else t
        made.load_state_dict(values)
        return made

    def batch(k):
        return torch.tensor([math.cos(i * (k + 1) * 0.3) for i in range(18)]).reshape(6, 3)

    average = utils.AveragedModel(model(0), **options)
    for k in range(5):
        one = model(k)
        one(batch(k))
        average.update_parameters(one)
    before = {name: numbers(t) for name, t in average.state_dict().items()}
    utils.update_bn([(batch(k), 0) for k in range(4)], average)
    return [before, {name: numbers(t) for name, t in average.state_dict().items()}]


def run(torch):
    """Everything, as in optim.json."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "optimizers": [optimize(torch, n, o) for n, o in optimizer_cases()],
            "schedules": {key: schedule(torch, key) for key in SCHEDULES},
            "muon": [muon(torch, o) for o in MUON],
            "lbfgs": [lbfgs(torch, o) for o in LBFGS],
            "averages": {key: averages(torch, key) for key in AVERAGES},
        }


if __name__ == "__main__":
    import torch

    result = {"torch": torch.__version__} | run(torch)
    path = pathlib.Path(__file__).with_name("optim.json")
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n")
