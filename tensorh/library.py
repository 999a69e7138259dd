"""torch.library: operators of a program's own in Python, called as torch.ops.space.name."""

import inspect
import re

from . import _C
from .autograd import Function

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autograd", "register_fake",
    "register_kernel", "register_vmap", "triton_op", "wrap_triton",
]  # fmt: skip
_operators = {}  # by "space::name"
_NAME = re.compile(r"^([\w.]+)::([\w.]+)$")
_KEYS = {  # the device of a dispatch key; None: any device
    "CPU": "cpu", "cpu": "cpu", "CUDA": "cuda", "cuda": "cuda", "Meta": "meta", "meta": "meta",
    "CompositeExplicitAutograd": None, "CompositeImplicitAutograd": None, "": None, "default": None,
}  # fmt: skip


class _Operator:
    """One operator: its kernels by device, its shape function and its gradient."""

    def __init__(self, name, schema=None):
        self.name, self.schema = name, schema
        self.kernels, self.fake, self.backward, self.setup = {}, None, None, None
        self.transparent = False  # the kernel's own calls are recorded
        self.autograd = None  # computes in place of the kernel what is to be recorded
        self.recorded, self.autocast = None, {}
        self.__name__ = name.rpartition("::")[2]

    def _signature(self):
        for f in (*self.kernels.values(), self.fake):
            if f is not None:
                return inspect.signature(f)
        return None

    def _arguments(self, args, kwargs):
        signature = self._signature()
        if not kwargs or signature is None:
            return args
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *bound.kwargs.values())

    def _split(self, args):
        """Arguments by place, and a dict of those that the signature has by keyword alone."""
        signature = self._signature()
        names = [p.name for p in signature.parameters.values()
                 if p.kind is p.KEYWORD_ONLY] if signature else []  # fmt: skip
        n = len(signature.parameters) - len(names) if names else len(args)
        return args[:n], dict(zip(names, args[n:], strict=False))

    def _run(self, kernel, args):
        args, named = self._split(args)
        return kernel(*args, **named)

    def _kernel(self, args):
        devices = {t.device.type for t in _tensors(args)} - {"cpu"} or {"cpu"}
        if "meta" in devices:
            f = self.kernels.get("meta", self.fake)
            if f is None and (self.transparent or self.autograd):
                f = self.kernels.get(None, self.autograd)
            if f is None:
                raise NotImplementedError(
                    f"{self.name}: there is no fake function for tensors of the device meta: "
                    "torch.library.register_fake gives it one"
                )
            return f
        for device in sorted(devices):
            f = self.kernels.get(device, self.kernels.get(None, self.autograd))
            if f is None:
                raise NotImplementedError(
                    f"Could not run '{self.name}' with arguments of the device {device!r}: it has "
                    f"kernels for {sorted(d for d in self.kernels if d)}"
                )
        return f

    def __call__(self, *args, **kwargs):
        args = self._arguments(args, kwargs)
        for device, cast in self.autocast.items():
            if _autocast(device):
                return self._run(cast, args)
        needed = any(t.requires_grad for t in _tensors(args)) and _C.is_grad_enabled()
        if needed and self.autograd is not None:
            return self._run(self.autograd, args)
        kernel = self._kernel(args)
        if not needed or (self.transparent and self.backward is None):
            return self._run(kernel, args)
        if not any(isinstance(a, _C.Tensor) and a.requires_grad for a in args):
            raise NotImplementedError(
                f"{self.name}: gradients of tensors in a list are not here: give them one by one"
            )
        if self.recorded is None:
            self.recorded = _recorded(self)
        return self.recorded.apply(*args)


def _autocast(device):
    from .amp.autocast_mode import is_autocast_enabled

    return is_autocast_enabled(device)


def _tensors(args):
    for a in args:
        if isinstance(a, _C.Tensor):
            yield a
        elif isinstance(a, (list, tuple)):
            yield from (t for t in a if isinstance(t, _C.Tensor))


def _recorded(operator):
    """The Function by which calls of the operator are recorded."""

    class Recorded(Function):
        @staticmethod
        def forward(ctx, *args):
            result = operator._run(operator._kernel(args), args)
            inputs, ctx._named = operator._split(args)
            if operator.setup is not None and ctx._named:
                operator.setup(ctx=ctx, inputs=inputs, keyword_only_inputs=ctx._named,
                               output=result)  # fmt: skip
            elif operator.setup is not None:
                operator.setup(ctx, args, result)
            return result

        @staticmethod
        def backward(ctx, *grads):
            if operator.backward is None:
                raise RuntimeError(
                    f"Trying to backward through {operator.name}.default but no autograd formula "
                    "was registered. Please use register_autograd to add one."
                )
            given = operator.backward(ctx, *grads)
            if not ctx._named:
                return given
            given = given if isinstance(given, tuple) else (given,)
            return given + (None,) * len(ctx._named)

    Recorded.__name__ = Recorded.__qualname__ = operator.__name__
    return Recorded


def _name_of(op):
    if isinstance(op, CustomOpDef):
        return op._qualname
    name = op if isinstance(op, str) else getattr(op, "name", None)
    if callable(name):
        name = name()
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"the name of an operator is 'namespace::name', not {op!r}")
    return name.partition(".")[0] if "." in name.partition("::")[2] else name


def _operator(op):
    """The operator of a name, which may get its kernels before it is defined."""
    name = _name_of(op)
    if name not in _operators:
        _operators[name] = _Operator(name)
    return _operators[name]


def find(space, name):
    """The operator torch.ops.space.name, or None."""
    return _operators.get(f"{space}::{name}")


def _decorate(f, take):
    """take(f) now, or as a decorator, which gives back the function."""

    def keep(f):
        take(f)
        return f

    return keep if f is None else keep(f)


# --- the functions of torch.library ---------------------------------------------------------------


class Library:
    """The operators of a namespace: DEF defines them, IMPL and FRAGMENT give kernels to them."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined = []

    def define(self, schema, alias_analysis="", *, tags=()):
        """An operator by its schema, "name(Tensor x, int n) -> Tensor"; its name."""
        name = schema.partition("(")[0].strip()
        full = name if "::" in name else f"{self.ns}::{name}"
        define(full, "(" + schema.partition("(")[2])
        self._defined.append(full)
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """fn computes the operator where the dispatch key says."""
        name = op_name if isinstance(op_name, str) else _name_of(op_name)
        name = name if "::" in name else f"{self.ns}::{name}"
        _implement(name, fn, dispatch_key or self.dispatch_key)

    def _destroy(self):
        for name in self._defined:
            _operators.pop(name, None)


def _implement(name, fn, key):
    operator = _operator(name)
    if key in ("Autograd", "AutogradCPU", "AutogradCUDA"):
        operator.autograd = fn
        return
    if key in ("AutocastCPU", "AutocastCUDA"):
        operator.autocast[key.removeprefix("Autocast").lower()] = fn
        return
    if key not in _KEYS:
        raise NotImplementedError(f"{name}: there is no dispatch key {key!r} here")
    operator.kernels[_KEYS[key]] = fn
    if key in ("CompositeImplicitAutograd", "", "default"):
        operator.transparent = key != "default"


def define(qualname, schema, *, lib=None, tags=()):
    """An operator "namespace::name" by its schema, "(Tensor x) -> Tensor"."""
    if not isinstance(qualname, str) or not _NAME.match(qualname):
        raise ValueError(f"the name of an operator is 'namespace::name', not {qualname!r}")
    _operators.setdefault(qualname, _Operator(qualname)).schema = schema


def impl(qualname, types, func=None, *, lib=None):
    """func computes an operator on devices: "cpu", "cuda", or "default" for all."""
    kinds = (types,) if isinstance(types, str) else tuple(types)

    def take(f):
        for kind in kinds:
            _implement(_name_of(qualname), f, kind)

    return _decorate(func, take)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """func gives empty results for tensors of the device meta, by shapes alone."""
    operator = _operator(op)

    def take(f):
        operator.fake = f

    return _decorate(func, take)


impl_abstract = register_fake


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """func computes an operator on these devices; None: on all."""
    kinds = ("default",) if device_types is None else device_types
    return impl(op, kinds, func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """backward(ctx, *grads) gives a gradient for each input; setup_context(ctx, inputs, output)
    keeps what it needs."""
    operator = _operator(op)
    operator.backward, operator.setup, operator.recorded = backward, setup_context, None


def register_vmap(op, func=None, /, *, lib=None):
    """Refused: a batch of samples calls the operator's Function, which has no rule of its own."""
    raise NotImplementedError("register_vmap is not here: see torch.autograd.Function.vmap")


_TYPES = {"Tensor": "Tensor", "int": "SymInt", "float": "float", "bool": "bool", "str": "str",
          "Scalar": "Scalar", "dtype": "ScalarType", "device": "Device"}  # fmt: skip


def _type(annotation):
    import types
    import typing

    if isinstance(annotation, str):
        annotation = annotation.rpartition(".")[2]
        return _TYPES.get(annotation, annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and type(None) in inner:
        return _type(next(a for a in inner if a is not type(None))) + "?"
    if origin in (list, tuple) or str(origin).endswith("Sequence"):
        return _type(inner[0]) + "[]"
    name = getattr(annotation, "__name__", str(annotation))
    if name not in _TYPES:
        raise ValueError(f"infer_schema(func): unsupported type {annotation}")
    return _TYPES[name]


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema that the annotations of a function say, "(Tensor x, SymInt n=1) -> Tensor"."""
    signature, parts, starred = inspect.signature(prototype_function), [], False
    for n, p in enumerate(signature.parameters.values()):
        if p.annotation is p.empty:
            raise ValueError(
                f"infer_schema(func): Parameter {p.name} must have a type annotation."
            )
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind = _type(p.annotation)
        if mutates_args == "unknown" or p.name in mutates_args:
            kind = kind.replace("Tensor", f"Tensor(a{n}!)", 1)
        default = "" if p.default is p.empty else "=" + (
            f'"{p.default}"' if isinstance(p.default, str) else str(p.default))  # fmt: skip
        parts.append(f"{kind} {p.name}{default}")
    result = signature.return_annotation
    import typing

    if result is None or result is signature.empty:
        back = "()"
    elif typing.get_origin(result) is tuple:
        back = "(" + ", ".join(_type(t) for t in typing.get_args(result)) + ")"
    else:
        back = _type(result)
    return f"{op_name or ''}({', '.join(parts)}) -> {back}"


class CustomOpDef:
    """An operator that custom_op made of a function."""

    def __init__(self, namespace, name, schema, fn, tags=None):
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self.__name__, self.__doc__ = name, fn.__doc__

    @property
    def _qualname(self):
        return f"{self._namespace}::{self._name}"

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return _operators[self._qualname](*args, **kwargs)

    def register_fake(self, fn, /):
        """register_fake of this operator."""
        return register_fake(self, fn)

    def register_kernel(self, device_types, fn=None, /):
        """register_kernel of this operator."""
        return register_kernel(self, device_types, fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        """register_autograd of this operator."""
        register_autograd(self, backward, setup_context=setup_context)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """An operator of a function, whose arguments have annotations; also a decorator."""

    def make(fn):
        match = _NAME.match(name)
        if not match:
            raise ValueError(f"the name of an operator is 'namespace::name', not {name!r}")
        said = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        define(name, said)
        made = CustomOpDef(match[1], match[2], said, fn, tags)
        register_kernel(made, (device_types,) if isinstance(device_types, str) else device_types,
                        fn)  # fmt: skip
        return made

    return make if fn is None else make(fn)


triton_op = custom_op


def wrap_triton(triton_kernel, /):
    """The kernel as it is: nothing is traced."""
    return triton_kernel


class _Key(str):
    """The name of a dispatch key."""


class _Keys(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Key(name)


class DispatchKey(metaclass=_Keys):
    """torch._C.DispatchKey: names of what torch dispatches by. Here devices and autocast choose."""


class DispatchKeySet:
    """torch._C.DispatchKeySet: a set of names."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key):
        """Whether a name is in it."""
        return key in self.keys


class _ExcludeDispatchKeyGuard:
    """A block in which autocast is off for the devices that the keys name."""

    def __init__(self, keys):
        self.off = [d for d in ("cpu", "cuda") if keys.has("Autocast" + d.upper())]

    def __enter__(self):
        from .amp.autocast_mode import set_autocast_enabled

        self.before = [_autocast(d) for d in self.off]
        for device in self.off:
            set_autocast_enabled(device, False)

    def __exit__(self, *exc):
        from .amp.autocast_mode import set_autocast_enabled

        for device, before in zip(self.off, self.before, strict=True):
            set_autocast_enabled(device, before)


def fallthrough_kernel(*args, **kwargs):
    """Not to be called: it marks that a dispatch key has no kernel."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_ctx():
    """Refused: shapes that depend on data do not exist on the device meta."""
    raise RuntimeError("get_ctx() may be called in a fake function of data-dependent shapes only, "
                       "which tensorh has not")  # fmt: skip


def opcheck(op, args, kwargs=None, *, test_utils=None, raise_exception=True, atol=None, rtol=None):
    """Runs an operator on its arguments and on the device meta, and compares shapes and dtypes."""
    operator, kwargs = _operator(op), kwargs or {}
    real = operator(*args, **kwargs)
    meta = operator(*(a.to("meta") if isinstance(a, _C.Tensor) else a for a in args),
                    **{k: a.to("meta") if isinstance(a, _C.Tensor) else a
                       for k, a in kwargs.items()})  # fmt: skip
    for a, b in zip(_tensors((real,)), _tensors((meta,)), strict=True):
        if a.shape != b.shape or a.dtype is not b.dtype:
            error = AssertionError(
                f"{operator.name}: its fake function gives {b.dtype} {tuple(b.shape)}, its kernel "
                f"{a.dtype} {tuple(a.shape)}"
            )
            if raise_exception:
                raise error
            return {"test_faketensor": error}
    return {"test_faketensor": "SUCCESS"}


def __getattr__(name):
    from ._missing import error

    raise error("torch.library", name)
