"""torch.optim.lbfgs - L-BFGS (Nocedal, 1980; Liu, Nocedal, 1989) over one vector of all parameters.

The line search is that of Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6, with
the safeguards of minFunc (M. Schmidt), whose constants torch has, too.
"""

from .. import _C
from .optimizer import Optimizer

__all__ = ["LBFGS"]


class _Point:
    """A point of a line: step, loss, gradient, slope along the direction."""

    __slots__ = ("gradient", "loss", "slope", "t")

    def __init__(self, t, loss, gradient, slope):
        self.t, self.loss, self.gradient, self.slope = t, loss, gradient, slope


def _interpolated(a, b, bounds=None):
    """The minimum of the cubic through two points with their slopes, within bounds."""
    left, right = (a, b) if a.t <= b.t else (b, a)
    low, high = bounds or (left.t, right.t)
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square.sqrt()
    part = (right.slope + root - mean) / (right.slope - left.slope + 2 * root)
    return min(max(right.t - (right.t - left.t) * part, low), high)


class _Search:
    """A step for which the loss falls enough and the slope is small enough (strong Wolfe)."""

    def __init__(self, at, start, size, tolerance, most):
        self.at, self.start, self.size = at, start, size
        self.tolerance, self.most = tolerance, most
        self.turns = 0

    def too_high(self, p):
        return p.loss > self.start.loss + 1e-4 * p.t * self.start.slope

    def is_flat(self, p):
        return abs(p.slope) <= -0.9 * self.start.slope

    def bracket(self, t):
        """Two points with such a step between them, or the one that it is."""
        before, now = self.start, self.at(t)
        while self.turns < self.most:
            if self.too_high(now) or (self.turns > 1 and now.loss >= before.loss):
                return [before, now]
            if self.is_flat(now):
                return [now]
            if now.slope >= 0:
                return [before, now]
            bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
            t = _interpolated(before, now, bounds)
            before, now = now, self.at(t)
            self.turns += 1
        return [self.start, now]

    def inner(self, ends, stuck):
        """A step between two ends, away from both after a small advance; whether it is one."""
        t = _interpolated(*ends)
        top, bottom = max(p.t for p in ends), min(p.t for p in ends)
        margin = 0.1 * (top - bottom)
        if not min(top - t, t - bottom) < margin:
            return t, False
        if not (stuck or t >= top or t <= bottom):
            return t, True
        return (top - margin if abs(t - top) < abs(t - bottom) else bottom + margin), False

    def found(self, t):
        """The point of the step that is taken."""
        ends, stuck = self.bracket(t), False
        low = 0 if ends[0].loss <= ends[-1].loss else 1
        done = len(ends) == 1
        while not done and self.turns < self.most:
            if abs(ends[1].t - ends[0].t) * self.size < self.tolerance:
                break
            t, stuck = self.inner(ends, stuck)
            now = self.at(t)
            self.turns += 1
            high = 1 - low
            if self.too_high(now) or now.loss >= ends[low].loss:
                ends[high] = now
                low = 0 if ends[0].loss <= ends[1].loss else 1
                continue
            done = bool(self.is_flat(now))
            if not done and now.slope * (ends[high].t - ends[low].t) >= 0:
                ends[high] = ends[low]
            ends[low] = now
        return ends[low]


class LBFGS(Optimizer):
    """L-BFGS with one group of parameters; step() takes a closure and calls it several times.

    max_eval: the most calls of the closure a step, max_iter * 5 // 4 if it is not given.
    line_search_fn: "strong_wolfe", or None for steps of length lr. The state is that of the first
    parameter, by torch's names: func_evals, n_iter, the last step and the history.
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
        *,
        maximize=False,
    ):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self):
        return self.param_groups[0]["params"]

    # --- all parameters as one vector -------------------------------------------------------------

    def _gradient(self):
        from .. import cat, view_as_real, zeros_like

        parts = []
        for p in self._params:
            g = zeros_like(p, requires_grad=False) if p.grad is None else p.grad
            parts.append((view_as_real(g) if g.is_complex() else g).reshape(-1))
        flat = cat(parts)
        return -flat if self.param_groups[0].get("maximize", False) else flat

    def _move(self, t, direction):
        from .. import view_as_real

        at = 0
        for p in self._params:
            own = view_as_real(p) if p.is_complex() else p
            part = direction[at : at + own.numel()].view_as(own)
            own.add_(part, alpha=t.item() if hasattr(t, "item") else t)
            at += own.numel()

    def _loss(self, closure):
        """The value of the closure, and the number that gets smaller."""
        from .. import enable_grad

        with enable_grad():
            value = closure()
        return value, -float(value) if self.param_groups[0].get("maximize", False) else float(value)

    def _points(self, closure, direction):
        """A function that gives the point of a step from where the parameters are now."""
        begin = [p.clone() for p in self._params]

        def at(t):
            self._move(t, direction)
            loss = self._loss(closure)[1]
            gradient = self._gradient()
            for p, value in zip(self._params, begin, strict=True):
                p.copy_(value)
            return _Point(t, loss, gradient.clone(), gradient.dot(direction))

        return at

    # --- directions -------------------------------------------------------------------------------

    def _remember(self, state, gradient):
        """The change of the gradient by the last step, where its curvature is positive."""
        y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = y.dot(s)
        if not curvature > 1e-10:
            return
        if len(state["old_dirs"]) == self.param_groups[0]["history_size"]:
            for name in ("old_dirs", "old_stps", "ro"):
                state[name].pop(0)
        state["old_dirs"].append(y)
        state["old_stps"].append(s)
        state["ro"].append(1.0 / curvature)
        state["H_diag"] = curvature / y.dot(y)

    def _direction(self, state, gradient):
        """Minus the gradient times the inverse Hessian that the history gives (two loops)."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -gradient
        self._remember(state, gradient)
        dirs, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        al = state.setdefault("al", [None] * self.param_groups[0]["history_size"])
        q = -gradient
        for i in reversed(range(len(dirs))):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-al[i].item())
        q = q * state["H_diag"]
        for i in range(len(dirs)):
            be = dirs[i].dot(q) * ro[i]
            q.add_(steps[i], alpha=(al[i] - be).item())
        return q

    # --- the step ---------------------------------------------------------------------------------

    def step(self, closure):
        """Up to max_iter moves; closure computes loss and gradients again and returns the loss."""
        from .. import no_grad

        with no_grad():
            value, loss = self._loss(closure)
            if not self._params:
                return value
            state = self.state[self._params[0]]
            state.setdefault("func_evals", 0)
            state.setdefault("n_iter", 0)
            state["func_evals"] += 1
            gradient = self._gradient()
            if not gradient.abs().max() <= self.param_groups[0]["tolerance_grad"]:
                self._moves(closure, state, loss, gradient)
            return value

    def _moves(self, closure, state, loss, gradient):
        group, evaluations = self.param_groups[0], 1
        small = group["tolerance_change"]
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            state["d"] = d = self._direction(state, gradient)
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            t = group["lr"]
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / gradient.abs().sum()) * t
            state["t"] = t
            slope = gradient.dot(d)
            if slope > -small:
                break
            before, calls = loss, 0
            last = n == group["max_iter"]
            if group["line_search_fn"] is not None:
                start = _Point(0, loss, gradient.clone(), slope)
                end, calls = self._searched(closure, start, t, d, group["max_eval"] - evaluations)
                loss, gradient, t = end.loss, end.gradient, end.t
                state["t"] = t
                self._move(t, d)
            else:
                self._move(t, d)
                if not last:
                    loss, calls = self._loss(closure)[1], 1
                    gradient = self._gradient()
            evaluations += calls
            state["func_evals"] += calls
            if last or evaluations >= group["max_eval"]:
                break
            if gradient.abs().max() <= group["tolerance_grad"]:
                break
            if (d * t).abs().max() <= small or abs(loss - before) < small:
                break

    def _searched(self, closure, start, t, direction, most):
        if self.param_groups[0]["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        calls, point = [], self._points(closure, direction)

        def at(step):
            calls.append(step)
            return point(step)

        small = self.param_groups[0]["tolerance_change"]
        search = _Search(at, start, direction.abs().max(), small, most)
        return search.found(t), len(calls)
