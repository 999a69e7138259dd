"""torch.autograd.Function: a call whose gradient is written in Python."""

import functools

from .. import _C

FunctionCtx = _C._FunctionCtx


def _save_for_forward(ctx, *tensors):
    """Keeps tensors for a jvp, as ctx.saved_for_forward; jvp itself is not called here."""
    ctx.saved_for_forward = tensors


FunctionCtx.save_for_forward = _save_for_forward


def _not_static(*args, **kwargs):
    raise RuntimeError(
        "Legacy autograd function with non-static forward method is deprecated. Please use "
        "new-style autograd function with static forward method."
    )


def _both(ctx, *grad_outputs):
    raise RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
        "only implement one of them."
    )


class Function(_C._FunctionBase):
    """Base of functions with a gradient of one's own: write `forward` and `backward` as static
    methods and call `apply`.

    `forward(ctx, *args)` returns tensors; `backward(ctx, *grads)` returns one gradient, or None,
    for each argument of forward. With `setup_context(ctx, inputs, output)` forward has no ctx.
    """

    generate_vmap_rule = False
    _separate = False
    _backward_cls = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._separate = cls.setup_context is not Function.setup_context
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            cls.backward = staticmethod(_both)
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})
        defaults = getattr(cls.forward, "__defaults__", None)
        if cls._separate and (defaults or getattr(cls.forward, "__kwdefaults__", None)):
            cls.apply = classmethod(_apply_with_names)

    __call__ = _not_static

    @staticmethod
    def forward(*args, **kwargs):
        """The value: tensors, made of the arguments; not recorded."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keeps in ctx what backward needs, where forward has no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of forward's arguments."""
        vjp = ctx._forward_cls.vjp
        if vjp is not Function.vjp:
            return vjp(ctx, *grad_outputs)
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """The call for all samples of a batch (torch.vmap): (output, out_dims). args whose in_dims
        is a number have the samples in that dimension; info.batch_size is their number."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method "
            "or set generate_vmap_rule=True"
        )

    @staticmethod
    def vjp(ctx, *grad_outputs):
        """Another name of backward."""
        return ctx._forward_cls.backward(ctx, *grad_outputs)


def _apply_with_names(cls, *args, **kwargs):
    """apply by keyword, or with defaults, which setup_context sees in place of what is missing."""
    import inspect

    if not cls._separate:
        raise TypeError("apply() takes keyword arguments only where setup_context is overridden")
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return super(Function, cls).apply(*bound.args)


class InplaceFunction(Function):
    """A Function that may write its inputs (mark_dirty), as every Function may."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class _Undifferentiable(Function):
    """Passes tensors on, and fails where their gradient is asked for."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(fn):
    """A backward that is not recorded: what it returns has no gradient, and says so when asked."""

    @functools.wraps(fn)
    def backward(ctx, *args):
        with _C.no_grad():
            given = fn(ctx, *args)
        if not _C.is_grad_enabled() or not any(getattr(a, "requires_grad", False) for a in args):
            return given
        outputs = given if isinstance(given, tuple) else (given,)
        places = [i for i, o in enumerate(outputs) if isinstance(o, _C.Tensor)]
        marked = _Undifferentiable.apply(
            *(outputs[i].detach().requires_grad_() for i in places)
        )
        outputs = list(outputs)
        for i, tensor in zip(places, marked, strict=True):
            outputs[i] = tensor
        return tuple(outputs) if isinstance(given, tuple) else outputs[0]

    return backward
