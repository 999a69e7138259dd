"""Steps with sparse gradients: SparseAdam, and what SGD and Adagrad do with them."""

import math

from .. import _C
from .optimizer import Optimizer


def is_sparse(t):
    """Whether t is a gradient that has only some rows."""
    return t is not None and _C._sparse_layout(t) != 0


def _like(grad, values):
    """A sparse tensor at the places of grad."""
    from .._sparse import again

    return again(grad, values)


class SparseAdam(Optimizer):
    """Adam (D. Kingma, J. Ba, 2015) for sparse gradients: of the moments and the parameter only the
    rows change that have a gradient.

    State of a parameter: step, exp_avg, exp_avg_sq.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [[k, i] for k, g in enumerate(self.param_groups)
                  for i, p in enumerate(g["params"]) if is_sparse(p)]  # fmt: skip
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )
        if any(p.is_complex() for g in self.param_groups for p in g["params"]):
            raise ValueError("SparseAdam does not support complex parameters")

    def step(self, closure=None):
        """One step of all parameters that have a gradient, which has to be sparse.

        closure, where given, computes the loss again; its value is returned.
        """
        loss = None
        if closure is not None:
            with _C.enable_grad():
                loss = closure()
        with _C.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None and not is_sparse(p.grad):
                        raise RuntimeError("SparseAdam does not support dense gradients, please "
                                           "consider Adam instead")  # fmt: skip
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, group)
        return loss

    def _update(self, p, group):
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"] = _C.zeros_like(p)
            state["exp_avg_sq"] = _C.zeros_like(p)
        state["step"] += 1
        grad = -p.grad if group["maximize"] else p.grad
        grad = grad.coalesce()
        values, (beta1, beta2) = grad._elements(), group["betas"]
        if not values.numel():
            return
        first, second = state["exp_avg"], state["exp_avg_sq"]
        old = _C.sparse_take(first, grad._indices())
        old_square = _C.sparse_take(second, grad._indices())
        change = (values - old) * (1 - beta1)
        change_square = (values.pow(2) - old_square) * (1 - beta2)
        first.add_(_like(grad, change))
        second.add_(_like(grad, change_square))
        numerator = change + old
        denominator = (change_square + old_square).sqrt() + group["eps"]
        correction1 = 1 - beta1 ** state["step"]
        correction2 = 1 - beta2 ** state["step"]
        size = group["lr"] * math.sqrt(correction2) / correction1
        p.add_(_like(grad, numerator / denominator * -size))


# --- optimizers of rows ---------------------------------------------------------------------------


def parts(groups):
    """The parameters that have sparse gradients, each with its group."""
    return [(p, g) for g in groups for p in g["params"] if is_sparse(p.grad)]


def step(optimizer, dense_step):
    """The step of an optimizer of a row where some gradients are sparse: dense_step for the other
    parameters, then these."""
    kinds = [kind.__name__ for kind in type(optimizer).__mro__]
    found = parts(optimizer.param_groups)
    if not found:
        dense_step()
        return
    one = next((_STEPS[kind] for kind in kinds if kind in _STEPS), None)
    if one is None:
        adam = "Adam" in kinds or "AdamW" in kinds
        kind, rest = ("Adam", ", please consider SparseAdam instead") if adam else (kinds[0], "")
        raise RuntimeError(f"{kind} does not support sparse gradients{rest}")
    with _C.no_grad():
        updates = [one(optimizer, p, g) for p, g in found]  # what can fail, first
        grads = [p.grad for p, _ in found]
        try:
            for p, _ in found:
                p.grad = None
            dense_step()
        finally:
            for (p, _), grad in zip(found, grads, strict=True):
                p.grad = grad
        for update in updates:
            update()


def _sgd(optimizer, p, group):
    """weight_decay and sparse gradients cannot be added; a momentum is sparse as they are."""
    grad = -p.grad if group["maximize"] else p.grad
    if group["weight_decay"]:
        grad = grad + p * group["weight_decay"]
    momentum, state = group["momentum"], optimizer.state[p]
    buffer = None
    if momentum:
        buffer = state.get("momentum_buffer")
        buffer = grad.clone() if buffer is None else buffer * momentum + grad * (
            1 - group["dampening"])  # fmt: skip
        buffer = buffer.coalesce() if buffer.is_sparse else buffer  # or each step adds elements
        grad = grad + buffer * momentum if group["nesterov"] else buffer

    def update():
        if buffer is not None:
            state["momentum_buffer"] = buffer
        p.add_(grad, alpha=-float(group["lr"]))

    return update


def _adagrad(optimizer, p, group):
    if group["weight_decay"]:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    grad = (-p.grad if group["maximize"] else p.grad).coalesce()
    values, state = grad._elements(), optimizer.state[p]

    def update():
        state["step"] += 1
        rate = float(group["lr"]) / (1 + (float(state["step"]) - 1) * group["lr_decay"])
        if not values.numel():
            return
        state["sum"].add_(_like(grad, values.pow(2)))
        root = _C.sparse_take(state["sum"], grad._indices()).sqrt() + group["eps"]
        p.add_(_like(grad, values / root), alpha=-rate)

    return update


_STEPS = {"SGD": _sgd, "Adagrad": _adagrad}
