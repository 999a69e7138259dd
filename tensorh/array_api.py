"""The names and rules of the Python array API standard over tensorh: `Tensor.__array_namespace__`.

Arrays are tensors. What the standard and torch call alike is torch's function itself; here is the
rest: other names and arguments, and results that depend on dtypes alone, where torch gives tensors
without dimensions less weight. Operators and methods of Tensor stay torch's. Dtypes without
arithmetic (uint16, uint32, uint64) are left out; a function without rows is an AttributeError.
"""
from collections import namedtuple as _namedtuple
from math import e, inf, nan, pi  # noqa: F401

import tensorh as _torch
from tensorh import Tensor as _Tensor
from tensorh._missing import error as _error

__array_api_version__ = "2025.12"
newaxis = None

# Python's own; all, any, bool, max, min, sum and others are the standard's in this file.
_any, _numbers = any, (bool, int, float, complex)

# Dtypes by the standard's kinds.
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8",),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


def _named(names, **others):
    return {**dict(zip(names.split(), names.split(), strict=True)), **others}


# torch's names by the standard's: functions as they are, of two arrays that promote, running ones.
_SAME = _named(
    "abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor imag isfinite isinf "
    "isnan log log10 log1p log2 logical_not negative positive real reciprocal signbit sin sinh "
    "square sqrt tan tanh trunc empty_like from_dlpack moveaxis searchsorted",
    bitwise_invert="bitwise_not",
    broadcast_arrays="broadcast_tensors",
)
_SAME.update({name: name for kind in ("bool", "numeric") for name in _KINDS[kind]})
_OF_TWO = _named(
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign "
    "divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or "
    "logical_xor maximum minimum multiply nextafter not_equal pow subtract",
    equal="eq",
)
_CUMULATIVE = {"cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}


def __getattr__(name):
    if name in _SAME:
        value = getattr(_torch, _SAME[name])
    elif name in _OF_TWO:
        value = _of_two(name, getattr(_torch, _OF_TWO[name]))
    elif name in _CUMULATIVE:
        value = _cumulative(name, getattr(_torch, _CUMULATIVE[name]))
    elif name == "fft":
        from . import _array_fft as value
    else:
        raise _error("torch", name)
    globals()[name] = value
    return value


def __dir__():
    names = {"fft", *_SAME, *_OF_TWO, *_CUMULATIVE, *(name for name in globals() if name[0] != "_")}
    own = {"__array_api_version__", "__array_namespace_info__"}
    return sorted(own | {name for name in names if hasattr(_torch.array_api, name)})


def _of_version(version):
    """This module, if it is of that version of the standard."""
    if version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__):
        raise ValueError(f"there is no version {version!r} of the array API standard here")
    return _torch.array_api


# --- dtypes ---------------------------------------------------------------------------------------


def _kind(dtype):
    if dtype.is_complex or dtype.is_floating_point:
        return "complex floating" if dtype.is_complex else "real floating"
    if dtype == _torch.bool:
        return "bool"
    return "signed integer" if dtype.is_signed else "unsigned integer"


def isdtype(dtype, kind):
    """Whether dtype is of a kind, a dtype, or one of a tuple of these."""
    if isinstance(kind, tuple):
        return _any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        return dtype == kind
    if kind not in _KINDS:
        raise ValueError(f"isdtype(): there is no kind {kind!r}")
    own = _kind(dtype)
    groups = {"integral": own.endswith("integer"), "numeric": own != "bool"}
    return groups.get(kind, own == kind)


def result_type(*arrays_and_dtypes):
    """The dtype that arrays, dtypes and Python's numbers promote to; shapes do not count."""
    given, numbers = [], []
    for a in arrays_and_dtypes:
        (numbers if isinstance(a, _numbers) else given).append(a)
    if not given:
        raise ValueError("result_type(): at least one array or dtype is required")
    result = None
    for a in given:
        dtype = a.dtype if isinstance(a, _Tensor) else a
        result = dtype if result is None else _torch.promote_types(result, dtype)
    for number in numbers:
        result = _torch.result_type(_torch.empty(1, dtype=result), number)
    return result


def can_cast(from_, to, /):
    """Whether from_, a dtype or an array, promotes to `to`."""
    from_ = from_.dtype if isinstance(from_, _Tensor) else from_
    return _torch.promote_types(from_, to) == to


def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype, a copy unless copy is False and nothing changes."""
    if x.is_complex() and isdtype(dtype, ("integral", "real floating")):
        raise TypeError("astype(): complex numbers to real ones: take real(x) or imag(x)")
    return x.to(device=x.device if device is None else device, dtype=dtype, copy=copy)


finfo_object = _namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
iinfo_object = _namedtuple("iinfo_object", "bits max min dtype")


def finfo(type, /):
    """Limits of a floating dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, _Tensor) else type
    f = _torch.finfo(dtype)
    return finfo_object(f.bits, f.eps, f.max, f.min, f.smallest_normal, dtype.to_real())


def iinfo(type, /):
    """Limits of an integer dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, _Tensor) else type
    i = _torch.iinfo(dtype)
    return iinfo_object(i.bits, i.max, i.min, dtype)


class __array_namespace_info__:
    """What the namespace can do."""

    def capabilities(self):
        """What is optional in the standard."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        """Where tensors are made."""
        return _torch.get_default_device()

    def devices(self):
        """All devices, the default one first."""
        return (self.default_device(),)

    def default_dtypes(self, *, device=None):
        """The dtypes that functions choose."""
        real = _torch.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": _torch.promote_types(real, _torch.complex64),
            "integral": _torch.int64,
            "indexing": _torch.int64,
        }

    def dtypes(self, *, device=None, kind=None):
        """Dtypes by name, of a kind or of some kinds."""
        kinds = ("bool", "numeric") if kind is None else kind
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        return {name: getattr(_torch, name) for k in kinds for name in _KINDS[k]}


# --- elementwise ----------------------------------------------------------------------------------


def _pair(x1, x2):
    """Two arrays, or an array and a number, as torch promotes them as the standard does."""
    if isinstance(x1, _Tensor) and isinstance(x2, _Tensor):
        if x1.dtype == x2.dtype or (x1.dim() == 0) == (x2.dim() == 0):
            return x1, x2
        dtype = _torch.promote_types(x1.dtype, x2.dtype)
        return x1.to(dtype), x2.to(dtype)
    dtype = result_type(x1, x2)
    return tuple(
        x.to(dtype) if isinstance(x, _Tensor) else _torch.tensor(x, dtype=dtype) for x in (x1, x2)
    )


def _of_two(name, operator):
    def f(x1, x2, /):
        return operator(*_pair(x1, x2))

    f.__name__, f.__qualname__, f.__doc__ = name, name, operator.__doc__
    return f


def clip(x, /, min=None, max=None):
    """x between bounds, in x's dtype."""
    for bound, choose in ((min, _torch.maximum), (max, _torch.minimum)):
        if bound is not None:
            x = choose(x, _torch.asarray(bound, dtype=x.dtype))
    return x


def round(x, /):
    """The nearest integers, ties to even; of complex numbers by parts."""
    return _torch.complex(x.real.round(), x.imag.round()) if x.is_complex() else x.round()


def sign(x, /):
    """-1, 0 or 1, NaN of NaN; x / abs(x) of complex numbers."""
    if x.is_complex():
        return _torch.sgn(x)
    return _torch.where(x.isnan(), x, x.sign()) if x.is_floating_point() else x.sign()


def floor_divide(x1, x2, /):
    """floor(x1 / x2), also of infinities, where torch has Python's NaN or -1."""
    x1, x2 = _pair(x1, x2)
    r = _torch.floor_divide(x1, x2)
    if not r.is_floating_point():
        return r
    return _torch.where(x1.isinf() | x2.isinf(), _torch.floor(x1 / x2), r)


def remainder(x1, x2, /):
    """The remainder of floor_divide, with the sign of x2 even if it is zero."""
    x1, x2 = _pair(x1, x2)
    r = _torch.remainder(x1, x2)
    if not r.is_floating_point():
        return r
    return _torch.where(r == 0, _torch.where(x2 < 0, -r.abs(), r.abs()), r)


def where(condition, x1, x2, /):
    """x1 where condition, else x2."""
    return _torch.where(condition, *_pair(x1, x2))


# --- creation -------------------------------------------------------------------------------------


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from start to before stop."""
    start, stop = (0, start) if stop is None else (start, stop)
    if (step > 0 and stop < start) or (step < 0 and stop > start):
        start = stop = 0 * (start + stop)  # nothing, of the same kind of number
    return _torch.arange(start, stop, step, dtype=dtype, device=device)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """obj as an array, over the same memory where that is possible."""
    if copy is False and isinstance(obj, (*_numbers, list, tuple)):
        raise ValueError("asarray(): Python's numbers and lists have to be copied")
    return _torch.asarray(obj, dtype=dtype, device=device, copy=copy)


def empty(shape, *, dtype=None, device=None):
    """Not initialised."""
    return _torch.empty(shape, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the k-th diagonal."""
    r = _torch.zeros(n_rows, n_rows if n_cols is None else n_cols, dtype=dtype, device=device)
    if -r.shape[0] < k < r.shape[1]:
        r.diagonal(k).fill_(1)
    return r


def full(shape, fill_value, *, dtype=None, device=None):
    """Filled with a number."""
    shape = (shape,) if isinstance(shape, int) else shape
    return _torch.full(shape, fill_value, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """Of x's shape, filled with a number."""
    return _torch.full_like(x, fill_value, dtype=dtype, device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers from start to stop, or to the one before."""
    if endpoint:
        return _torch.linspace(start, stop, num, dtype=dtype, device=device)
    return _torch.linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]


def meshgrid(*arrays, indexing="xy"):
    """Coordinates of a grid."""
    return _torch.meshgrid(*arrays, indexing=indexing)


def ones(shape, *, dtype=None, device=None):
    """Ones."""
    return _torch.ones(shape, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones, of x's shape."""
    return _torch.ones_like(x, dtype=dtype, device=device)


def tril(x, /, *, k=0):
    """The lower triangle."""
    return _torch.tril(x, k)


def triu(x, /, *, k=0):
    """The upper triangle."""
    return _torch.triu(x, k)


def zeros(shape, *, dtype=None, device=None):
    """Zeros."""
    return _torch.zeros(shape, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros, of x's shape."""
    return _torch.zeros_like(x, dtype=dtype, device=device)


# --- shapes and places ----------------------------------------------------------------------------


def _promoted(arrays):
    dtype = result_type(*arrays)
    return [x.to(dtype) for x in arrays]


def broadcast_shapes(*shapes):
    """The shape that shapes broadcast to."""
    try:
        return tuple(_torch.broadcast_shapes(*shapes))
    except MemoryError:
        raise
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def broadcast_to(x, /, shape):
    """x in a shape it broadcasts to, a view."""
    return _torch.broadcast_to(x, tuple(shape))


def concat(arrays, /, *, axis=0):
    """Arrays one after the other along axis; all elements without one."""
    arrays = _promoted(arrays)
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    return _torch.concat(arrays, axis)


def stack(arrays, /, *, axis=0):
    """Arrays along a new axis."""
    return _torch.stack(_promoted(arrays), axis)


def expand_dims(x, /, axis):
    """New dimensions of length 1."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = x.dim() + len(axes)
    if _any(not -ndim <= a < ndim for a in axes):
        raise IndexError(f"expand_dims(): axis {axis} is not in {ndim} dimensions")
    if len({a % ndim for a in axes}) < len(axes):
        raise ValueError(f"expand_dims(): repeated axis in {axis}")
    for a in sorted(a % ndim for a in axes):
        x = x.unsqueeze(a)
    return x


def flip(x, /, *, axis=None):
    """The order reversed along some axes, or all."""
    axes = tuple(range(x.dim())) if axis is None else axis
    return _torch.flip(x, axes if isinstance(axes, tuple) else (axes,))


def permute_dims(x, /, axes):
    """The dimensions in another order, a view."""
    return _torch.permute(x, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated."""
    return _torch.repeat_interleave(x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """x in another shape."""
    if copy:
        return x.clone().reshape(shape)
    r = x.reshape(shape)
    if copy is False and r.data_ptr() != x.data_ptr():
        raise ValueError("reshape(): this shape needs a copy")
    return r


def roll(x, /, shift, *, axis=None):
    """Elements moved on along axes, those beyond the end to the front."""
    if axis is None:
        return _torch.roll(x.reshape(-1), shift).reshape(x.shape)
    axis, shift = (a if isinstance(a, tuple) else (a,) for a in (axis, shift))
    return _torch.roll(x, shift * len(axis) if len(shift) == 1 else shift, axis)


def squeeze(x, /, axis):
    """Without some dimensions, which are of length 1."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if _any(x.shape[a] != 1 for a in axes):
        raise ValueError(f"squeeze(): a dimension of {axis} is not of length 1 in {x.shape}")
    return _torch.squeeze(x, axes)


def tile(x, repetitions, /):
    """The whole repeated along each axis."""
    return _torch.tile(x, tuple(repetitions))


def unstack(x, /, *, axis=0):
    """The slices along axis."""
    return x.unbind(axis)


def take(x, indices, /, *, axis=None):
    """Elements along axis at indices."""
    if axis is None and x.dim() != 1:
        raise ValueError("take(): axis is required for an array of more than one dimension")
    axis = 0 if axis is None else axis
    return _torch.index_select(x, axis, _from_the_front(indices, x.shape[axis]))


def _from_the_front(indices, n):
    return _torch.where(indices < 0, indices + n, indices)


def take_along_axis(x, indices, /, *, axis=-1):
    """Elements along axis at indices of their own for each row."""
    indices = _from_the_front(indices.to(_torch.int64), x.shape[axis])
    return _torch.take_along_dim(x, indices, axis)


# --- searching, sets, sorting ---------------------------------------------------------------------


def argmax(x, /, *, axis=None, keepdims=False):
    """Where the greatest element is."""
    return _torch.argmax(x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """Where the least element is."""
    return _torch.argmin(x, axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero."""
    return sum(x != 0, axis=axis, dtype=_torch.int64, keepdims=keepdims)


def nonzero(x, /):
    """Where elements are not zero, an array for each dimension."""
    if x.dim() == 0:
        raise ValueError("nonzero(): an array without dimensions")
    return _torch.nonzero(x, as_tuple=True)


def isin(x1, x2, /, *, invert=False):
    """Whether elements of x1 are among x2."""
    return _torch.isin(*_pair(x1, x2), invert=invert)


unique_all_result = _namedtuple("unique_all_result", "values indices inverse_indices counts")
unique_counts_result = _namedtuple("unique_counts_result", "values counts")
unique_inverse_result = _namedtuple("unique_inverse_result", "values inverse_indices")


def _unique(x):
    """values, inverse, counts; complex numbers in the order of the real parts."""
    if not x.is_complex():
        return _torch.unique(x, return_inverse=True, return_counts=True)
    real, first = _torch.unique(x.real, return_inverse=True)
    imag, second = _torch.unique(x.imag, return_inverse=True)
    pairs = first * imag.numel() + second
    found, inverse, counts = _torch.unique(pairs, return_inverse=True, return_counts=True)
    n = imag.numel() or 1
    return _torch.complex(real[found // n], imag[found % n]), inverse, counts


def unique_all(x, /):
    """Values, where each is first, which of them each element is, how often each is there."""
    values, inverse, counts = _unique(x)
    order = _torch.argsort(inverse.reshape(-1), stable=True)
    return unique_all_result(values, order[counts.cumsum(0) - counts], inverse, counts)


def unique_counts(x, /):
    """Values and how often each is there."""
    values, _, counts = _unique(x)
    return unique_counts_result(values, counts)


def unique_inverse(x, /):
    """Values and which of them each element is."""
    return unique_inverse_result(*_unique(x)[:2])


def unique_values(x, /):
    """Values, each once."""
    return _unique(x)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Indices that sort x."""
    return _torch.argsort(x, axis, descending, stable)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x in order."""
    return _torch.sort(x, stable=stable, dim=axis, descending=descending)[0]


# --- statistics -----------------------------------------------------------------------------------


def _axes(x, axis):
    return tuple(range(x.dim())) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def _over(name):
    """torch's reduction of that name over an axis, a tuple of axes, or all."""
    reduction = getattr(_torch, {"max": "amax", "min": "amin"}.get(name, name))

    def f(x, /, *, axis=None, keepdims=False):
        axes = _axes(x, axis)
        x = x != 0 if name in ("all", "any") else x
        return reduction(x, axes, keepdims) if axes else reduction(x.unsqueeze(0), (0,))

    f.__name__, f.__qualname__, f.__doc__ = name, name, reduction.__doc__
    return f


all, any, max, mean, min = (_over(name) for name in "all any max mean min".split())


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum."""
    axes = _axes(x, axis)
    if not axes and x.dim():
        return x.to(dtype or _summed(x.dtype))
    return _torch.sum(x, axes, keepdims, dtype=dtype)


def _summed(dtype):
    return _torch.int64 if isdtype(dtype, "integral") else dtype


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product."""
    axes = sorted(a % x.dim() for a in _axes(x, axis))
    dtype = dtype or _summed(x.dtype)
    x = x.to(dtype)
    for a in reversed(axes):
        x = _torch.prod(x, a, keepdims, dtype=dtype)
    return x


def _spread(name):
    def f(x, /, *, axis=None, correction=0.0, keepdims=False):
        axes = _axes(x, axis)
        if not axes:
            x, axes, keepdims = x.unsqueeze(0), (0,), False
        return getattr(_torch, name)(x, axes, correction=correction, keepdim=keepdims)

    f.__name__, f.__qualname__, f.__doc__ = name, name, getattr(_torch, name).__doc__
    return f


std, var = _spread("std"), _spread("var")


def _cumulative(name, function):
    first = {"cumulative_sum": 0, "cumulative_prod": 1}[name]

    def f(x, /, *, axis=None, dtype=None, include_initial=False):
        if axis is None and x.dim() > 1:
            raise ValueError(f"{name}(): axis is required for more than one dimension")
        axis = 0 if axis is None else axis
        r = function(x, axis, dtype=dtype or _summed(x.dtype))
        if not include_initial:
            return r
        shape = list(r.shape)
        shape[axis] = 1
        return _torch.concat([r.new_full(shape, first), r], axis)

    f.__name__, f.__qualname__, f.__doc__ = name, name, function.__doc__
    return f


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours, n times."""
    return _torch.diff(x, n, axis, prepend, append)


# --- linear algebra -------------------------------------------------------------------------------


def matmul(x1, x2, /):
    """The product of matrices."""
    return _torch.matmul(*_promoted((x1, x2)))


def matrix_transpose(x, /):
    """The last two dimensions exchanged."""
    return x.mT


def tensordot(x1, x2, /, *, axes=2):
    """Products summed over axes of both."""
    return _torch.tensordot(*_promoted((x1, x2)), axes)


def vecdot(x1, x2, /, *, axis=-1):
    """Dot products along axis, the first conjugated."""
    x1, x2 = _promoted((x1, x2))
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot(): axis {axis} of {x1.shape} and {x2.shape} differs")
    return _torch.sum(x1.conj() * x2, axis, dtype=x1.dtype)


class _Linalg:
    """The extension: torch.linalg, as far as it reaches."""

    matmul, matrix_transpose, tensordot, vecdot = map(
        staticmethod, (matmul, matrix_transpose, tensordot, vecdot)
    )

    def __getattr__(self, name):
        if name[0] == "_":
            raise AttributeError(name)
        return getattr(_torch.linalg, name)

    def cross(self, x1, x2, /, *, axis=-1):
        """The cross products of vectors of length 3 along axis."""
        return _torch.linalg.cross(*_promoted((x1, x2)), dim=axis)

    def diagonal(self, x, /, *, offset=0):
        """The diagonals of matrices."""
        return _torch.linalg.diagonal(x, offset=offset)

    def matrix_norm(self, x, /, *, keepdims=False, ord="fro"):
        """The norms of matrices."""
        return _torch.linalg.matrix_norm(x, ord, (-2, -1), keepdims)

    def matrix_power(self, x, n, /):
        """Matrices multiplied by themselves."""
        return _torch.matrix_power(x, n)

    def outer(self, x1, x2, /):
        """The products of all pairs of elements."""
        return _torch.outer(*_promoted((x1, x2)))

    def trace(self, x, /, *, offset=0, dtype=None):
        """The sums of diagonals."""
        return sum(_torch.linalg.diagonal(x, offset=offset), axis=-1, dtype=dtype)

    def vector_norm(self, x, /, *, axis=None, keepdims=False, ord=2):
        """The norms of vectors along axes, of all elements without."""
        axes = _axes(x, axis)
        if not axes:
            x, axes, keepdims = x.unsqueeze(0), (0,), False
        return _torch.linalg.vector_norm(x, ord, axes, keepdims)


linalg = _Linalg()
