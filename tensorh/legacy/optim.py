"""torch.legacy.optim: optimizers of one vector.

Each is called as `name(opfunc, x, config, state=None)`: opfunc(x) gives the loss and its gradient;
x is changed in place and returned with the losses. What is kept between calls lies in state, or in
config. Rules and options are those of Torch7's optim."""

import tensorh as torch

__all__ = ["adadelta", "adagrad", "adam", "nag", "rmsprop", "sgd"]


def _begin(name, opfunc, x, config, state):
    """config, state, the loss and the gradient with the decay of weights."""
    if config is None and state is None:
        raise ValueError(f"{name} requires a dictionary to retain state between iterations")
    config = {} if config is None else config
    state = config if state is None else state
    fx, dfdx = opfunc(x)
    decay = config.get("weightDecay", 0)
    return config, state, fx, dfdx.add(x, alpha=decay) if decay else dfdx


def _rate(config, state, default, decay=0):
    """The rate of this call; counts the calls."""
    n = state["evalCounter"] = state.get("evalCounter", 0) + 1
    lr = config.get("learningRate", default)
    return lr / (1 + (n - 1) * config.get("learningRateDecay", decay))


def _kept(state, name, x):
    if name not in state:
        state[name] = torch.zeros_like(x)
    return state[name]


def sgd(opfunc, x, config, state=None):
    """learningRate=1e-3, learningRateDecay, weightDecay, momentum, dampening=momentum, nesterov,
    learningRates: a vector of factors."""
    config, state, fx, g = _begin("sgd", opfunc, x, config, state)
    momentum = config.get("momentum", 0)
    dampening = config.get("dampening", momentum)
    nesterov = config.get("nesterov", False)
    if nesterov and (momentum <= 0 or dampening != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")
    rate = _rate(config, state, 1e-3)
    if momentum:
        if "dfdx" not in state:
            state["dfdx"] = g.clone()
        else:
            state["dfdx"].mul_(momentum).add_(g, alpha=1 - dampening)
        g = g.add(state["dfdx"], alpha=momentum) if nesterov else state["dfdx"]
    if config.get("learningRates") is not None:
        g = g * config["learningRates"]
    x.sub_(g, alpha=rate)
    return x, fx


def nag(opfunc, x, config, state=None):
    """Nesterov's gradient: learningRate=1e-3, learningRateDecay, weightDecay, momentum=0.9."""
    given = state if state is not None else config
    momentum = (config or {}).get("momentum", 0.9)
    if given and "dfdx" in given:
        x.add_(given["dfdx"], alpha=momentum)  # the gradient is taken where momentum leads
    config, state, fx, g = _begin("nag", opfunc, x, config, state)
    rate = _rate(config, state, 1e-3)
    x.sub_(g, alpha=rate)
    _kept(state, "dfdx", x).mul_(momentum).sub_(g, alpha=rate)
    return x, fx


def adam(opfunc, x, config, state=None):
    """learningRate=1e-3, learningRateDecay, beta1=0.9, beta2=0.999, epsilon=1e-8, weightDecay."""
    config, state, fx, g = _begin("adam", opfunc, x, config, state)
    one, two = config.get("beta1", 0.9), config.get("beta2", 0.999)
    rate = _rate(config, state, 1e-3)
    t = state["t"] = state.get("t", 0) + 1
    mean = _kept(state, "m", x).mul_(one).add_(g, alpha=1 - one)
    square = _kept(state, "v", x).mul_(two).addcmul_(g, g, value=1 - two)
    size = rate * (1 - two**t) ** 0.5 / (1 - one**t)
    x.addcdiv_(mean, square.sqrt().add_(config.get("epsilon", 1e-8)), value=-size)
    return x, fx


def adagrad(opfunc, x, config, state=None):
    """learningRate=1e-3, learningRateDecay, weightDecay."""
    config, state, fx, g = _begin("adagrad", opfunc, x, config, state)
    rate = _rate(config, state, 1e-3)
    total = _kept(state, "paramVariance", x).addcmul_(g, g)
    x.addcdiv_(g, total.sqrt().add_(1e-10), value=-rate)
    return x, fx


def adadelta(opfunc, x, config, state=None):
    """rho=0.9, eps=1e-6, weightDecay."""
    config, state, fx, g = _begin("adadelta", opfunc, x, config, state)
    rho, eps = config.get("rho", 0.9), config.get("eps", 1e-6)
    _rate(config, state, 1)
    square = _kept(state, "paramVariance", x).mul_(rho).addcmul_(g, g, value=1 - rho)
    moved = _kept(state, "accDelta", x)
    step = (moved + eps).sqrt_().div_((square + eps).sqrt_()).mul_(g)
    x.sub_(step)
    moved.mul_(rho).addcmul_(step, step, value=1 - rho)
    return x, fx


def rmsprop(opfunc, x, config, state=None):
    """learningRate=1e-2, learningRateDecay, alpha=0.99, epsilon=1e-8, weightDecay."""
    config, state, fx, g = _begin("rmsprop", opfunc, x, config, state)
    alpha, rate = config.get("alpha", 0.99), _rate(config, state, 1e-2)
    square = _kept(state, "m", x).mul_(alpha).addcmul_(g, g, value=1 - alpha)
    x.addcdiv_(g, square.sqrt().add_(config.get("epsilon", 1e-8)), value=-rate)
    return x, fx


def __getattr__(name):
    text = f"module 'torch.legacy.optim' has no attribute '{name}'"
    if name in ("adamax", "asgd", "cg", "lbfgs", "rprop"):
        text += " (not written: see torch.optim)"
    raise AttributeError(text)
