"""Backward hooks: what goes into and out of a forward passes through calls that see gradients."""

import warnings

from ... import _C


def _spread(values, at, n):
    """n gradients of which those at some places are known."""
    out = [None] * n
    for i, value in zip(at, values, strict=True):
        out[i] = value
    return tuple(out)


class Backward:
    """The backward hooks of one call of a module."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.inputs_at = None  # places of inputs that are tensors; None: no gradient comes there
        self.n_inputs = -1
        self.grad_outputs = None

    def _tap(self, values, see):
        """The values, those that require grad under `see`, and the places of these."""
        at = [i for i, v in enumerate(values) if isinstance(v, _C.Tensor) and v.requires_grad]
        tensors = tuple(values[i] for i in at)
        if not at:
            return values, None
        tapped = _C._tap(tensors, see)
        if not tapped[0].requires_grad:
            return values, None  # nothing is recorded now
        values = list(values)
        for i, t in zip(at, tapped, strict=True):
            values[i] = t
        return tuple(values), at

    def inputs(self, args):
        """The arguments that forward gets."""
        self.n_inputs = len(args)
        args, self.inputs_at = self._tap(args, self._see_inputs)
        return args

    def outputs(self, result):
        """The result that the caller gets."""
        if not isinstance(result, (_C.Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
            return result
        single = not isinstance(result, tuple)
        values = (result,) if single else result
        self.n_outputs = len(values)
        values, self.outputs_at = self._tap(values, self._see_outputs)
        return values[0] if single else values

    def _see_inputs(self, grads):
        if self.grad_outputs is None:
            return grads  # no output was used
        grad_inputs = _spread(grads, self.inputs_at, self.n_inputs)
        for hook in self.hooks:
            out = hook(self.module, grad_inputs, self.grad_outputs)
            if out is None:
                continue
            out = out if isinstance(out, tuple) else (out,)
            if len(out) != len(grad_inputs):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(out)}, but expected {len(grad_inputs)}"
                )
            grad_inputs = out
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs_at)

    def _see_outputs(self, grads):
        self.grad_outputs = _spread(grads, self.outputs_at, self.n_outputs)
        for hook in self.pre_hooks:
            out = hook(self.module, self.grad_outputs)
            if out is None:
                continue
            out = out if isinstance(out, tuple) else (out,)
            if len(out) != len(self.grad_outputs):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(out)}, but expected {len(self.grad_outputs)}"
                )
            self.grad_outputs = out
        result = tuple(self.grad_outputs[i] for i in self.outputs_at)
        if self.inputs_at is None:
            self._without_inputs()
        return result

    def _without_inputs(self):
        """No input needs a gradient: the hooks are called with the outputs' alone."""
        for hook in self.hooks:
            out = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if out is not None and not all(g is None for g in out):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None
