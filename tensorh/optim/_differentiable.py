"""Steps with differentiable=True: written in operators that are recorded, so that a loss after the
step has gradients by what was before it. The parameter is written in place; its state gets new
tensors, so that steps of several rounds can be differentiated at once."""

from .. import _C


def _zeros(p):
    return _C.zeros_like(p, requires_grad=False).detach()


def _begin(state, p, *names, step=True):
    """The state of a parameter before its first step."""
    if step:
        state.setdefault("step", _C.tensor(0.0))
    for name in names:
        if name not in state:
            state[name] = _zeros(p)


def _count(state):
    state["step"] = state["step"] + 1
    return float(state["step"].item())


def _decayed(p, g, o):
    decay = o["weight_decay"]
    if isinstance(decay, _C.Tensor):
        return g + p.clone() * decay  # p is written later
    return g if decay == 0 else g + p * decay


def _decay(p, o):
    """Weight decay that is no part of the gradient."""
    if isinstance(o["weight_decay"], _C.Tensor) or o["weight_decay"] != 0:
        p.mul_(1 - o["lr"] * o["weight_decay"])


def _moments(state, g, beta1, beta2):
    """Running means of g and of its square."""
    state["exp_avg"] = state["exp_avg"] * beta1 + g * (1 - beta1)
    state["exp_avg_sq"] = state["exp_avg_sq"] * beta2 + g * g * (1 - beta2)
    return state["exp_avg"], state["exp_avg_sq"]


def _sgd(p, g, state, o):
    g, momentum = _decayed(p, g, o), o["momentum"]
    if momentum != 0:
        buf = state.get("momentum_buffer")
        # The first buffer is no function of the gradient, as in torch.
        buf = g.detach().clone() if buf is None else buf * momentum + g * (1 - o["dampening"])
        state["momentum_buffer"] = buf
        g = g + buf * momentum if o["nesterov"] else buf
    p.sub_(g * o["lr"])


def _either_decay(p, g, o):
    """The gradient, with the decay of weights in it unless that is decoupled."""
    if not o["decoupled_weight_decay"]:
        return _decayed(p, g, o)
    _decay(p, o)
    return g


def _adam(p, g, state, o):
    beta1, beta2 = o["betas"]
    _begin(state, p, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if o["amsgrad"] else []))
    _count(state)
    step = state["step"]  # a tensor of float32, in which torch computes the corrections
    g = _either_decay(p, g, o)
    mean, square = _moments(state, g, beta1, beta2)
    if o["amsgrad"]:
        square = state["max_exp_avg_sq"] = _C.maximum(state["max_exp_avg_sq"], square)
    size = -(o["lr"] / (1 - beta1**step))
    p.add_(mean / (square.sqrt() / ((1 - beta2**step).sqrt() * size) + o["eps"] / size))


def _nadam(p, g, state, o):
    beta1, beta2 = o["betas"]
    if "mu_product" not in state:
        state["step"], state["mu_product"] = _C.tensor(0.0), _C.tensor(1.0)
    _begin(state, p, "exp_avg", "exp_avg_sq")
    step = _count(state)
    g = _either_decay(p, g, o)
    mu, following = (
        beta1 * (1 - 0.5 * 0.96 ** (n * o["momentum_decay"])) for n in (step, step + 1)
    )
    product = state["mu_product"] = state["mu_product"] * mu
    mean, square = _moments(state, g, beta1, beta2)
    below = (square / (1 - beta2**step)).sqrt() + o["eps"]
    p.sub_(g * (o["lr"] * (1 - mu) / (1 - product)) / below)
    p.sub_(mean * (o["lr"] * following / (1 - product * following)) / below)


def _radam(p, g, state, o):
    beta1, beta2 = o["betas"]
    _begin(state, p, "exp_avg", "exp_avg_sq")
    step = _count(state)
    g = _either_decay(p, g, o)
    mean, square = _moments(state, g, beta1, beta2)
    second = 1 - beta2**step
    most = 2 / (1 - beta2) - 1
    rho = most - 2 * step * beta2**step / second
    update = mean / (1 - beta1**step) * o["lr"]
    if rho > 5:
        rectified = (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)
        update = update * (second**0.5 / (square.sqrt() + o["eps"])) * rectified**0.5
    p.sub_(update)


def _adamax(p, g, state, o):
    beta1, beta2 = o["betas"]
    _begin(state, p, "exp_avg", "exp_inf")
    step = _count(state)
    g = _decayed(p, g, o)
    state["exp_avg"] = state["exp_avg"] * beta1 + g * (1 - beta1)
    state["exp_inf"] = _C.maximum(state["exp_inf"] * beta2, g.abs() + o["eps"])
    p.sub_(state["exp_avg"] * (o["lr"] / (1 - beta1**step)) / state["exp_inf"])


def _adagrad(p, g, state, o):
    _begin(state, p, "sum")
    step = _count(state)
    g = _decayed(p, g, o)
    state["sum"] = state["sum"] + g * g
    p.sub_(g * (o["lr"] / (1 + (step - 1) * o["lr_decay"])) / (state["sum"].sqrt() + o["eps"]))


def _adadelta(p, g, state, o):
    rho, eps = o["rho"], o["eps"]
    _begin(state, p, "square_avg", "acc_delta")
    _count(state)
    g = _decayed(p, g, o)
    state["square_avg"] = state["square_avg"] * rho + g * g * (1 - rho)
    delta = (state["acc_delta"] + eps).sqrt() / (state["square_avg"] + eps).sqrt() * g
    state["acc_delta"] = state["acc_delta"] * rho + delta * delta * (1 - rho)
    p.sub_(delta * o["lr"])


def _rmsprop(p, g, state, o):
    alpha = o["alpha"]
    more = ["momentum_buffer"] if o["momentum"] > 0 else []
    _begin(state, p, "square_avg", *more, *(["grad_avg"] if o["centered"] else []))
    _count(state)
    g = _decayed(p, g, o)
    below = state["square_avg"] = state["square_avg"] * alpha + g * g * (1 - alpha)
    if o["centered"]:
        state["grad_avg"] = state["grad_avg"] * alpha + g * (1 - alpha)
        below = below - state["grad_avg"] * state["grad_avg"]
    update = g / (below.sqrt() + o["eps"])
    if o["momentum"] > 0:
        update = state["momentum_buffer"] = state["momentum_buffer"] * o["momentum"] + update
    p.sub_(update * o["lr"])


def _asgd(p, g, state, o):
    lr, lambd = o["lr"], o["lambd"]
    if "eta" not in state:
        state["step"] = _C.tensor(0.0)
        state["eta"] = _C.tensor(float(lr))
        state["mu"] = _C.tensor(1.0)
    _begin(state, p, "ax")
    step = _count(state)
    g = _decayed(p, g, o)
    eta, mu = state["eta"].item(), state["mu"].item()
    p.mul_(1 - lambd * eta)
    p.sub_(g * eta)
    state["ax"] = p.clone() if mu == 1 else state["ax"] + (p - state["ax"]) * mu
    state["eta"] = _C.tensor(float(lr / (1 + lambd * lr * step) ** o["alpha"]))
    state["mu"] = _C.tensor(1 / max(1, step - o["t0"]))


def _rprop(p, g, state, o):
    (less, more), (least, most) = o["etas"], o["step_sizes"]
    _begin(state, p, "prev")
    if "step_size" not in state:
        state["step_size"] = _zeros(p) + o["lr"]
    _count(state)
    same = (g * state["prev"]).sign()
    factor = _C.where(same > 0, more, _C.where(same < 0, less, 1.0)).to(p.dtype)
    state["step_size"] = (state["step_size"] * factor).clamp(least, most)
    state["prev"] = _C.where(same < 0, _C.zeros_like(g), g)
    p.sub_(state["prev"].sign() * state["step_size"])


_RULES = {
    "ASGD": _asgd, "Adadelta": _adadelta, "Adagrad": _adagrad, "Adam": _adam, "AdamW": _adam,
    "Adamax": _adamax, "NAdam": _nadam, "RAdam": _radam, "RMSprop": _rmsprop, "Rprop": _rprop,
    "SGD": _sgd,
}  # fmt: skip


def _real(t, shape):
    fits = isinstance(t, _C.Tensor) and t.is_complex() and t.shape == shape
    return _C.view_as_real(t) if fits else t


def _step_one(rule, p, g, state, group):
    if not p.is_complex():
        return rule(p, g, state, group)
    parts = {name: _real(t, p.shape) for name, t in state.items()}
    real = _C.view_as_real(p)
    rule(real, _C.view_as_real(g), parts, group)
    for name, t in parts.items():
        whole = isinstance(t, _C.Tensor) and t.shape == real.shape
        state[name] = _C.view_as_complex(t.contiguous()) if whole else t


def step(cls, groups, state):
    """One recorded step of an optimizer of this class."""
    rule = next(_RULES[kind.__name__] for kind in cls.__mro__ if kind.__name__ in _RULES)
    with _C.set_grad_enabled(True):
        for group in groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = -p.grad if group["maximize"] else p.grad
                _step_one(rule, p, g, state[p], group)
                if not state[p]:  # a rule that keeps nothing leaves no entry
                    del state[p]
