"""Writes tests/oracle/nn_values.inc: what torch gives for modules, optimizers, schedules and data loading.

    python tests/oracle/nn.py        needs torch; tests/unit/nn_*.c need only what this writes

Modules: state dict names, shapes, the values a seed gives, the printed text, and outputs for inputs
x[i] = sin(0.7 i + 0.3) (integers: (7 i + 3) % classes). Optimizers: parameters after steps with
gradients g[i] = cos(i + step). All as numbers that C reads.
"""

import math
import os

import torch
import torch.nn as nn

HERE = os.path.dirname(os.path.abspath(__file__))
out = []


def c_floats(name, values, kind="double"):
    values = list(values)
    text = ", ".join(repr(float(v)) for v in values) or "0"
    out.append(f"static const {kind} {name}[] = {{{wrap(text)}}};")


def wrap(text, width=96):
    lines, line = [], ""
    for part in text.split(", "):
        if len(line) + len(part) + 2 > width:
            lines.append(line.rstrip())
            line = ""
        line += part + ", "
    lines.append(line.rstrip(", "))
    return "\n    ".join(lines)


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n    "') + '"'


def values(shape, start=0):
    n = math.prod(shape)
    return torch.tensor([math.sin(0.7 * (i + start) + 0.3) for i in range(n)], dtype=torch.float32).reshape(shape)


def classes(shape, n):
    count = math.prod(shape)
    return torch.tensor([(7 * i + 3) % n for i in range(count)], dtype=torch.int64).reshape(shape)


CASES = [
    # name, constructor, inputs, eval too
    ("linear", lambda: nn.Linear(5, 4), [values((3, 5))]),
    ("conv2d", lambda: nn.Conv2d(4, 6, (3, 2), stride=2, padding=(1, 0), groups=2), [values((2, 4, 7, 6))]),
    ("batch_norm2d", lambda: nn.BatchNorm2d(3), [values((2, 3, 4, 2))]),
    ("batch_norm1d", lambda: nn.BatchNorm1d(3, momentum=None), [values((4, 3))]),
    ("layer_norm", lambda: nn.LayerNorm((3, 4)), [values((2, 3, 4))]),
    ("embedding", lambda: nn.Embedding(9, 3, padding_idx=2), [classes((2, 4), 9)]),
    ("lstm", lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True), [values((5, 2, 3))]),
    ("lstm_first", lambda: nn.LSTM(3, 4, batch_first=True),
     [values((2, 5, 3)), values((1, 2, 4), 100), values((1, 2, 4), 200)]),
    ("attention", lambda: nn.MultiheadAttention(6, 2), [values((3, 2, 6)), values((4, 2, 6), 50), values((4, 2, 6), 90)]),
    ("sequential", lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 8), nn.GELU()), nn.Linear(8, 2)),
     [values((3, 4))]),
    ("max_pool2d", lambda: nn.MaxPool2d(2), [values((1, 2, 4, 6))]),
    ("avg_pool2d", lambda: nn.AvgPool2d(3, stride=2, padding=1), [values((1, 2, 5, 5))]),
    ("adaptive_avg_pool2d", lambda: nn.AdaptiveAvgPool2d((3, 2)), [values((1, 2, 5, 7))]),
    ("leaky_relu", lambda: nn.LeakyReLU(0.2), [values((2, 3))]),
    ("silu", lambda: nn.SiLU(), [values((2, 3))]),
    ("softplus", lambda: nn.Softplus(), [values((2, 3))]),
    ("softmax", lambda: nn.Softmax(1), [values((2, 3))]),
    ("log_softmax", lambda: nn.LogSoftmax(1), [values((2, 3))]),
    ("cross_entropy_loss", lambda: nn.CrossEntropyLoss(label_smoothing=0.1), [values((4, 5)), classes((4,), 5)]),
    ("mse_loss", lambda: nn.MSELoss(), [values((2, 3)), values((2, 3), 7)]),
    ("l1_loss", lambda: nn.L1Loss(reduction="sum"), [values((2, 3)), values((2, 3), 7)]),
    ("bce_with_logits_loss", lambda: nn.BCEWithLogitsLoss(), [values((2, 3)), values((2, 3), 7).abs()]),
]


def modules():
    rows = []
    for name, make, inputs in CASES:
        torch.manual_seed(1234)
        m = make()
        state = list(m.state_dict().items())
        c_floats(f"init_{name}", [x for _, t in state for x in t.flatten().tolist()])
        after = torch.randint(0, 1 << 30, (1,)).item()
        if name.startswith("lstm") and len(inputs) == 3:
            result = m(inputs[0], (inputs[1], inputs[2]))
        else:
            result = m(*inputs)
        flat = []

        def collect(r):
            if isinstance(r, torch.Tensor):
                flat.extend(r.detach().double().flatten().tolist())
            else:
                for e in r:
                    collect(e)

        collect(result)
        c_floats(f"output_{name}", flat)
        keys = ";".join(f"{k}{tuple(t.shape)}" for k, t in state).replace(" ", "")
        rows.append(
            f'    {{"{name}", {c_string(keys)}, init_{name}, {sum(t.numel() for _, t in state)}, {after},\n'
            f"     output_{name}, {len(flat)}, {c_string(str(m))}}},"
        )
    out.append("static const oracle_module oracle_modules[] = {")
    out.extend(rows)
    out.append("};")


def optimizers():
    cases = [
        ("sgd", lambda p: torch.optim.SGD(p, lr=0.1)),
        ("sgd_momentum", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.2, weight_decay=0.01)),
        ("sgd_nesterov", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, nesterov=True, maximize=True)),
        ("adam", lambda p: torch.optim.Adam(p, lr=0.02, weight_decay=0.1)),
        ("adam_amsgrad", lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), amsgrad=True)),
        ("adamw", lambda p: torch.optim.AdamW(p, lr=0.02, eps=1e-6, weight_decay=0.05)),
    ]
    for name, make in cases:
        params = [values((2, 3)).double().requires_grad_(), values((4,), 30).double().requires_grad_()]
        o = make(params)
        for step in range(6):
            for k, p in enumerate(params):
                p.grad = torch.tensor([math.cos(i + step + 3 * k) for i in range(p.numel())], dtype=torch.float64).reshape(p.shape)
            o.step()
        c_floats(f"after_{name}", [x for p in params for x in p.detach().flatten().tolist()])


def schedules():
    def run(make, steps):
        p = torch.zeros(1, requires_grad=True)
        o = torch.optim.SGD([p], lr=0.3)
        s = make(o)
        lrs = []
        for _ in range(steps):
            lrs.append(o.param_groups[0]["lr"])
            o.step()
            s.step()
        return lrs

    c_floats("rates_step", run(lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5), 11))
    c_floats("rates_cosine", run(lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 4, 0.01), 14))


def loading():
    data = torch.utils.data.TensorDataset(torch.arange(23))
    for name, generator in (("default", None), ("given", torch.Generator().manual_seed(77))):
        torch.manual_seed(5)
        loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, generator=generator)
        order = [x for _ in range(3) for (b,) in loader for x in b.tolist()]
        after = torch.randint(0, 1 << 30, (1,)).item()
        given = torch.randint(0, 1 << 30, (1,), generator=generator).item() if generator else 0
        out.append(f"static const int64_t order_{name}[] = {{{wrap(', '.join(map(str, order)))}}};")
        out.append(f"static const int64_t order_{name}_after[] = {{{after}, {given}}};")
    torch.manual_seed(5)
    for _ in range(2):
        for (b,) in torch.utils.data.DataLoader(data, batch_size=4):
            pass
    out.append(f"static const int64_t order_plain_after = {torch.randint(0, 1 << 30, (1,)).item()};")


def clipping():
    ps = [values((2, 3)).requires_grad_(), values((4,), 30).requires_grad_()]
    for p in ps:
        p.grad = p.detach() * 3
    norm = torch.nn.utils.clip_grad_norm_(ps, 1.5)
    c_floats("clipped", [norm.item()] + [x for p in ps for x in p.grad.flatten().tolist()])


def initial():
    cases = [
        ("xavier_uniform", lambda t: nn.init.xavier_uniform_(t, 1.5)),
        ("xavier_normal", lambda t: nn.init.xavier_normal_(t)),
        ("kaiming_uniform", lambda t: nn.init.kaiming_uniform_(t, nonlinearity="relu")),
        ("kaiming_normal", lambda t: nn.init.kaiming_normal_(t, mode="fan_out", a=0.2)),
        ("uniform", lambda t: nn.init.uniform_(t, -2, 3)),
        ("normal", lambda t: nn.init.normal_(t, 1, 0.5)),
    ]
    for name, fill in cases:
        torch.manual_seed(9)
        c_floats(f"fill_{name}", fill(torch.empty(3, 4, 2)).flatten().tolist())


out.append("/* nn_values.inc - what torch " + torch.__version__.split("+")[0] + " gives; written by tests/oracle/nn.py. */")
out.append("""#include <stdint.h>

typedef struct oracle_module {
    const char *name, *keys; /* "weight(4,5);bias(4,)" */
    const double *init;      /* all state tensors for seed 1234, in order */
    int ninit;
    long long after;         /* the next randint(0, 2^30) */
    const double *output;
    int noutput;
    const char *text;        /* as printed */
} oracle_module;
""")
modules()
optimizers()
schedules()
loading()
clipping()
initial()
with open(os.path.join(HERE, "nn_values.inc"), "w") as f:
    f.write("\n".join(out) + "\n")
