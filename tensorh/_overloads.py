"""Forms of calls that torch takes and no row does. C asks here by name when no row fits; a form
that is not here either returns NotImplemented or raises a TypeError, and the caller gets the rows'
one; a TypeError that is returned is the caller's. Rows are called by _row, which asks for no
overload again."""

from . import _C
from ._C import Tensor

OVERLOADS = {}
_row = _C._row
_CHANNELS = {4: _C.channels_last, 5: _C.channels_last_3d}


_told = set()


def warn_once(text, what):
    """A UserWarning that comes once a process, or each time after set_warn_always(True)."""
    from ._functions.settings import is_warn_always_enabled

    if what in _told and not is_warn_always_enabled():
        return
    _told.add(what)
    import warnings

    warnings.warn(text, stacklevel=4)


def _written(out, result, name):
    from ._functions._out import written

    return written(out, result, name)


def _for(*names):
    def add(f):
        for name in names:
            OVERLOADS[name] = f
        return f

    return add


# --- two tensors, lists, several results ----------------------------------------------------------


@_for("where")
def where(condition, input=None, other=None):
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return NotImplemented


@_for("nonzero")
def nonzero(input, *, as_tuple=False, out=None):
    if not as_tuple:
        found = _row("nonzero")(input)
        if out is not None and isinstance(out, Tensor) and out.dtype is not found.dtype:
            raise RuntimeError(
                f"nonzero: Expected out tensor to have scalar type Long but got {out.dtype}"
            )
        return found if out is None else _written(out, found, "nonzero")
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    found = _row("nonzero")(input)
    return _row("nonzero")(input.reshape(1)).unbind(1) if not input.dim() else found.unbind(1)


@_for("split")
def split(tensor, split_size_or_sections=None, dim=0, split_size=None):
    if split_size is not None and split_size_or_sections is not None:
        return NotImplemented
    sizes = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(sizes, (list, tuple)):
        return _row("split_with_sizes")(tensor, sizes, dim)
    return _row("split")(tensor, sizes, dim)


@_for("meshgrid")
def meshgrid(*tensors, indexing=None):
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            "meshgrid",
        )
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return _row("meshgrid")(list(tensors), indexing=indexing)
    if not tensors or not all(isinstance(t, Tensor) for t in tensors):
        return NotImplemented
    if len({t.device for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    return _row("meshgrid")(tensors, indexing=indexing)


@_for("movedim")
def movedim(input, source, destination):
    return _row("movedim")(input, (source,), (destination,))


# --- torch's older and wider forms ----------------------------------------------------------------


def _deprecated(name):
    """torch's warning of a form with the number before the tensors."""
    warn_once(
        f"This overload of {name} is deprecated: give the number by name, behind the tensors",
        name,
    )


def _add(name):
    def older(input, alpha, other=None, *, out=None):
        numbers = isinstance(alpha, (int, float)) and isinstance(other, (Tensor, int, float))
        if out is None and numbers:
            _deprecated(name)
            return _row(name)(input, other, alpha=alpha)
        return NotImplemented

    return older


for _name in ("add", "sub", "add_", "sub_"):
    OVERLOADS[_name] = _add(_name)


def _given(out):
    return {} if out is None else {"out": out}


def _is_number(x):
    return isinstance(x, (int, float, complex))


def _value_first(name):
    def older(*args, value=None, out=None):
        if value is None and len(args) == 4 and _is_number(args[1]):
            input, value, tensor1, tensor2 = args
            _deprecated(name)
        elif len(args) == 3:
            input, tensor1, tensor2 = args
        else:
            return NotImplemented
        if not isinstance(value, complex):
            return _row(name)(input, tensor1, tensor2, value=value, **_given(out))
        if not all(isinstance(t, Tensor) for t in args if t is not value):
            return NotImplemented
        from ._functions.products import _plus

        of = tensor1 * tensor2 if name.startswith("addcmul") else tensor1 / tensor2
        r = _plus(input, of, 1, value)
        if name.endswith("_"):
            return input.copy_(r)
        return r if out is None else _written(out, r, name)

    return older


def _beta_first(name):
    """f(beta, input, [alpha,] a, b) as a function, f(input, beta, [alpha,] a, b) as a method."""

    def older(*args, out=None, **factors):
        if factors:
            return _complex_factors(name, *args, out=out, **factors)
        if not 4 <= len(args) <= 5:
            return NotImplemented
        first, second, *rest = args
        alpha = rest.pop(0) if len(rest) == 3 else 1
        input, beta = (second, first) if _is_number(first) else (first, second)
        if not (_is_number(beta) and _is_number(alpha) and isinstance(input, Tensor)):
            return NotImplemented
        _deprecated(name)
        more = {} if out is None else {"out": out}
        return _row(name)(input, *rest, beta=beta, alpha=alpha, **more)

    return older


def _complex_factors(name, input=None, mat1=None, mat2=None, *, out=None, beta=1, alpha=1, **rest):
    """addmm with complex beta or alpha, which its row does not take."""
    numbers = _is_number(beta) and _is_number(alpha)
    if rest or not numbers or not (isinstance(beta, complex) or isinstance(alpha, complex)):
        return NotImplemented
    if not all(isinstance(t, Tensor) for t in (input, mat1, mat2)):
        return NotImplemented
    from ._functions.products import _plus

    r = _plus(input, _row("mm")(mat1, mat2), beta, alpha)
    if name == "addmm_":
        return input.copy_(r)
    return r if out is None else _written(out, r, name)


for _name in ("addcmul", "addcdiv"):
    for _form in (_name, _name + "_"):
        OVERLOADS[_form] = _value_first(_form)
for _form in ("addmm", "addmm_"):
    OVERLOADS[_form] = _beta_first(_form)


def _statistic(name):
    row = _row(name)

    def f(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        if out is not None:
            return row(input, dim, correction=correction, keepdim=keepdim, out=out)
        return row(input, dim, correction=correction, keepdim=keepdim)

    f.__name__ = name
    return f


for _name in ("std", "var", "var_mean"):
    OVERLOADS[_name] = _statistic(_name)


@_for("norm")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    if p == "fro" or p is None:
        p = 2
    if p == "nuc":
        from .linalg import matrix_norm

        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if not isinstance(p, (int, float)):
        return NotImplemented
    return _row("linalg_vector_norm")(input, p, dim, keepdim, dtype=dtype, out=out)


@_for("sort")
def sort(input, *args, stable=None, dim=-1, descending=False):
    if args and (isinstance(args[0], bool) or args[0] is None) and len(args) > 1:
        args = args[1:]
    args = (*args, *(dim, descending)[len(args) :])
    return _row("sort")(input, *args)


@_for("argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    return _row("argsort")(input, dim, descending)


@_for("round")
def round(input, *, decimals=0, out=None):
    scale, x = 10.0 ** abs(decimals), input
    if decimals and x.dtype in (_C.float16, _C.bfloat16):  # rounded to 16 bits once, at the end
        x = x.float()
    if not decimals:
        r = _row("round")(x)
    elif decimals > 0:
        r = _row("round")(x * scale) / scale
    else:
        r = _row("round")(x / scale) * scale
    r = r.to(input.dtype) if x is not input else r
    return r if out is None else _written(out, r, "round")


@_for("round_")
def round_(input, *, decimals=0):
    return input.copy_(round(input, decimals=decimals))


@_for("bernoulli")
def bernoulli(input, p=None, *, generator=None):
    r = _C.empty(input.shape, dtype=input.dtype, device=input.device)
    return _row("bernoulli_")(r, p, generator=generator)


@_for("fill_")
def fill_(input, value):
    if not isinstance(value, Tensor) or value.dim():
        return NotImplemented
    return input.copy_(value)


@_for("copy_")
def copy_(input, src, non_blocking=False):
    if not isinstance(non_blocking, bool):
        return NotImplemented
    if isinstance(src, (bool, int, float, complex)):
        wide = {float: _C.float64, complex: _C.complex128}
        src = _C.tensor(src, dtype=wide.get(type(src)))
    if not isinstance(src, Tensor):
        return NotImplemented
    return _row("copy_")(input, src)


@_for("full")
def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, **kwargs):
    if isinstance(size, int):
        return _row("full")((size,), fill_value, dtype=dtype, device=device, **kwargs)
    return NotImplemented


@_for("linspace")
def linspace(
    start, end, steps, *, out=None, dtype=None, device=None, layout=None, pin_memory=False,
    requires_grad=False,
):  # fmt: skip
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        return NotImplemented
    dtype = dtype or (_C.get_default_dtype() if out is None else out.dtype)
    ends = [x if isinstance(x, Tensor) else _C.tensor(x, dtype=dtype) for x in (start, end)]
    for name, x in zip(("start", "end"), ends, strict=True):
        if x.dim():
            raise RuntimeError(
                "linspace only supports 0-dimensional start and end tensors, but got "
                f"{name} with {x.dim()} dimension(s)."
            )
    wide = dtype if dtype.is_floating_point or dtype.is_complex else _C.float64
    weight = _row("linspace")(0, 1, steps, dtype=wide, device=device)
    r = _row("lerp")(*(x.to(wide) for x in ends), weight).to(dtype)
    r = r if out is None else _written(out, r, "linspace")
    return r.requires_grad_() if requires_grad else r


@_for("logspace")
def logspace(start, end, steps, base=10.0, **options):
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        return NotImplemented
    for name, x in ("start", start), ("end", end):
        if isinstance(x, Tensor) and x.dim():
            raise RuntimeError(
                "logspace only supports 0-dimensional start and end tensors, but got "
                f"{name} with {x.dim()} dimension(s)."
            )
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    return _C.logspace(start, end, steps, base, **options)


@_for("masked_select")
def masked_select(input, mask, *, out):
    return _written(out, _row("masked_select")(input, mask), "masked_select")


@_for("linalg_pinv")
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    rtol = rcond if rtol is None else rtol
    if not any(isinstance(x, Tensor) for x in (atol, rtol)):
        return NotImplemented
    _check_real("pinv", atol=atol, **{"rtol" if rcond is None else "rcond": rtol})
    linalg = _C._spaces["linalg"]
    if hermitian:
        values, v = linalg["eigh"](A)
        u, sizes = v, values.abs()
    else:
        u, values, vh = linalg["svd"](A, full_matrices=False)
        v, sizes = vh.mH, values
    least = _least_kept(sizes, A.shape, atol, rtol).unsqueeze(-1)
    inverse = _C.where(sizes > least, values.reciprocal(), 0)
    r = (v * inverse.unsqueeze(-2).to(v.dtype)) @ u.mH
    return r if out is None else _written(out, r, "pinv")


def _check_real(name, **bounds):
    for bound, x in bounds.items():
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(
                f"torch.linalg.{name}: {bound} tensor of complex type is not supported."
            )


def _least_kept(values, shape, atol, rtol):
    """The bounds above which singular values of matrices of this shape count."""
    if not values.shape[-1]:
        return values.sum(-1)
    if rtol is None:
        from ._functions.dtypes import finfo

        none = finfo(values.dtype).eps * max(shape[-2:])
        rtol = none if atol is None else _C.where(_C.as_tensor(atol) > 0, 0.0, none)
    return _C.maximum(_C.as_tensor(0.0 if atol is None else atol), values.amax(-1) * rtol)


@_for("triangular_solve")
def triangular_solve(input, *args, out=None, **kwargs):
    if out is None:
        return NotImplemented
    if isinstance(out, Tensor):
        raise TypeError("triangular_solve(): argument 'out' must be tuple of Tensors, not Tensor")
    r = _row("triangular_solve")(input, *args, **kwargs)
    from ._functions.dtypes import can_cast

    for o, x in zip(out, r, strict=True):
        if not can_cast(x.dtype, o.dtype):
            raise RuntimeError(
                f"Expected out tensor to have dtype {x.dtype}, but got {o.dtype} instead"
            )
    return type(r)([_written(o, x, "triangular_solve") for o, x in zip(out, r, strict=True)])


@_for("linalg_matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    if not any(isinstance(x, Tensor) for x in (tol, atol, rtol)):
        return NotImplemented
    atol = tol if atol is None else atol
    _check_real("matrix_rank", atol=atol, rtol=rtol)
    linalg = _C._spaces["linalg"]
    values = linalg["eigvalsh"](A).abs() if hermitian else linalg["svdvals"](A)
    r = (values > _least_kept(values, A.shape, atol, rtol).unsqueeze(-1)).sum(-1)
    return r if out is None else _written(out, r, "linalg.matrix_rank")


@_for("narrow")
def narrow(input, dim, start, length):
    if not isinstance(start, Tensor):
        return NotImplemented
    if start.dim() or start.is_floating_point() or start.is_complex() or start.dtype is _C.bool:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return _row("narrow")(input, dim, start.item(), length)


_BOUNDS = (Tensor, int, float, type(None))


def _clamp(name):
    def f(input, min=None, max=None, *, out=None):
        kinds = [isinstance(x, Tensor) for x in (min, max)]
        if not any(kinds) or not all(isinstance(x, _BOUNDS) for x in (min, max)):
            return NotImplemented
        both = [
            x if x is None or isinstance(x, Tensor) else _C.tensor(x, dtype=_beside(x, input))
            for x in (min, max)
        ]
        return _row(name)(input, *both, **({} if out is None else {"out": out}))

    f.__name__ = name
    return f


for _name in ("clamp", "clamp_"):
    OVERLOADS[_name] = _clamp(_name)


# --- to, and memory formats -----------------------------------------------------------------------


def _is_dtype(a):
    return isinstance(a, _C.dtype) or a is float or a is int or a is bool or a is complex


def to_what(
    *args, device=None, dtype=None, non_blocking=False, copy=None, memory_format=None, other=None
):  # fmt: skip
    """(device, dtype, copy, memory_format) of the arguments of to(), copy None where it is not
    given; None: they are no such."""
    args = list(args)
    if args and isinstance(args[0], Tensor) and other is None:
        other = args.pop(0)
    elif args and _is_dtype(args[0]) and dtype is None:
        dtype = args.pop(0)
    elif args and other is None and device is None:
        device = args.pop(0)
        if args and dtype is None:
            dtype = args.pop(0)
    if len(args) > 2 or (other is not None and not (device is dtype is None)):
        return None
    non_blocking, copy = (*args, *(non_blocking, copy)[len(args) :])
    if not (
        isinstance(other, (Tensor, type(None)))
        and isinstance(device, (str, int, _C.device, type(None)))
        and not isinstance(device, bool)
        and (dtype is None or _is_dtype(dtype))
        and isinstance(non_blocking, bool)
        and isinstance(copy, (bool, type(None)))
        and isinstance(memory_format, (_C.memory_format, type(None)))
    ):
        return None
    if other is not None:
        return other.device, other.dtype, copy, memory_format
    return device, dtype, copy, memory_format


@_for("to")
def to(input, *args, **kwargs):
    what = to_what(*args, **kwargs)
    if what is None:
        return NotImplemented
    device, dtype, copy, memory_format = what
    device = input.device if device is None else device
    r = _row("to")(input, device, dtype or input.dtype, False, bool(copy))
    if memory_format is None or memory_format is _C.preserve_format:
        return r
    return contiguous(r, memory_format)


@_for("contiguous")
def contiguous(input, memory_format=_C.contiguous_format):
    if not isinstance(memory_format, _C.memory_format):
        return NotImplemented
    if memory_format not in (_C.contiguous_format, *_CHANNELS.values()):
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if memory_format is not _C.contiguous_format:
        ndim = 4 if memory_format is _C.channels_last else 5
        if input.dim() != ndim:
            raise RuntimeError(f"required rank {ndim} tensor to use {memory_format} format")
    if input.is_contiguous(memory_format=memory_format):
        return input
    return _row("clone")(input, memory_format=memory_format)


def _sparse_made(name, args, layout, size=None, memory_format=None, **kwargs):
    """zeros or empty of a sparse layout: a tensor without elements."""
    from . import _sparse

    if memory_format is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    if name.endswith("_like"):
        like = args[0] if args else kwargs.pop("input")
        kwargs = {"dtype": like.dtype, "device": like.device} | {
            k: v for k, v in kwargs.items() if v is not None
        }
        size = like.shape
    elif size is None:
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return _sparse.nothing(layout, tuple(size), **kwargs)


def _made(name):
    row = _row(name)

    def f(*args, memory_format=None, **kwargs):
        if isinstance(kwargs.get("layout"), _C.layout) and kwargs["layout"] is not _C.strided:
            if "ones" in name or "full" in name:
                return NotImplemented
            return _sparse_made(name, args, memory_format=memory_format, **kwargs)
        if memory_format is None:
            return NotImplemented
        grad = kwargs.pop("requires_grad", False)
        r = row(*args, **kwargs)
        if memory_format is not _C.preserve_format:
            made, r = r, contiguous(r, memory_format)
            if r is made and r.dim() and min(r.shape) < 2:  # strides of sizes 1 as well
                r = _row("clone")(r, memory_format=memory_format)
        return r.requires_grad_() if grad else r

    f.__name__ = name
    return f


for _name in ("empty", "zeros", "empty_like", "zeros_like", "ones_like", "full_like"):
    OVERLOADS[_name] = _made(_name)


def _random_like(name):
    def f(
        input, *, dtype=None, device=None, generator=None, requires_grad=False, layout=None,
        memory_format=_C.preserve_format,
    ):  # fmt: skip
        r = OVERLOADS["empty_like"](
            input, dtype=dtype, device=device, memory_format=memory_format or _C.preserve_format
        )
        (r.uniform_ if name == "rand" else r.normal_)(generator=generator)
        return r.requires_grad_() if requires_grad else r

    f.__name__ = name + "_like"
    return f


for _name in ("rand", "randn"):
    OVERLOADS[_name + "_like"] = _random_like(_name)


# --- a number before a tensor ---------------------------------------------------------------------


_TWO_NUMBERS = {"add", "sub", "mul", "div", "floor_divide"}  # torch takes no others of two numbers


def _number_first(name, otherwise=None):
    def f(input, other, *args, out=None, **kwargs):
        if not _is_number(input):
            if otherwise is None:
                return NotImplemented
            return otherwise(input, other, *args, out=out, **kwargs)
        if not (isinstance(other, Tensor) or _is_number(other)) or args:
            return NotImplemented
        if not isinstance(other, Tensor) and name not in _TWO_NUMBERS:
            return NotImplemented
        first = _C.tensor(input, dtype=_beside(input, other))
        return _row(name)(first, other, out=out, **kwargs)

    f.__name__ = name
    return f


def _beside(number, other):
    from ._functions.dtypes import result_type

    return result_type(number, other)


for _name in (
    "add", "sub", "mul", "div", "remainder", "floor_divide", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
):  # fmt: skip
    OVERLOADS[_name] = _number_first(_name, OVERLOADS.get(_name))


# --- who may ask ----------------------------------------------------------------------------------

_OF_NUMBERS = {
    "addmm", "addmm_", "full", "linspace", "meshgrid", "empty", "zeros", "add", "sub", "mul", "div",
    "remainder", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "logspace",
}  # fmt: skip


def _of_tensors(f):
    """f, for calls whose first argument is a tensor."""

    def call(*args, **kwargs):
        first = args[0] if args else next((kwargs[k] for k in _FIRST if k in kwargs), None)
        return f(*args, **kwargs) if isinstance(first, Tensor) else NotImplemented

    return call


_FIRST = ("input", "tensor", "condition")
for _name, _f in list(OVERLOADS.items()):
    if _name not in _OF_NUMBERS:
        OVERLOADS[_name] = _of_tensors(_f)
