"""Functions of each element."""

from math import frexp as _frexp
from math import inf as _inf
from math import nan as _nan

from .. import _C
from .._C import Tensor
from ._marks import _METHODS, both, both_of_numbers, function, method
from ._out import with_out
from .creation import _alike
from .creation import complex as _complex_of
from .dtypes import finfo, result_type


@both
def positive(input):
    """input itself."""
    return input


@both
@with_out
def conj_physical(input):
    """The complex conjugate."""
    return input.conj() if input.is_complex() else input.clone()


@function
def fill(input: Tensor, value):
    """A tensor like input, of one number."""
    return input.clone().fill_(value)


@both
@with_out
def asinh(input):
    """The inverse of sinh: log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))), log 2|x| far out, with the sign
    of x; of complex numbers -i asin(i z)."""
    if input.is_complex():
        return _back(_turned(input).asin())
    input = _floating(input)
    x = input.abs()
    far = x > (1e9 if input.dtype.itemsize > 2 else 1e2)
    a = _C.where(far, 1, x)  # no branch meets an infinity: its gradient would be NaN
    near = (a + a * a / (1 + (a * a + 1).sqrt())).log1p()
    magnitude = _C.where(far, _C.where(far, x, 1).log() + 0.6931471805599453, near)
    return _C.where(input == 0, input, _C.where(input < 0, -magnitude, magnitude))


@both
@with_out
def acosh(input):
    """The inverse of cosh: log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1, NaN below 1, where below -1
    the gradient is that of -acosh(-x); of complex numbers i acos(z) or -i acos(z), the one to the
    right."""
    if input.is_complex():
        r = input.acos()
        below = (r.imag > 0) | (1 / r.imag > 0)  # the cut has a side: that of 0 or -0
        return _complex_of(_C.where(below, r.imag, -r.imag), _C.where(below, -r.real, r.real))
    input = _floating(input)
    if not input.requires_grad:
        return _acosh(input)
    below = input <= -1
    other = _nan - _acosh(_C.where(below, -input, 2))
    return _C.where(below, other, _acosh(_C.where(below, 2, input)))


def _acosh(input):
    t = input - 1
    far = t > (1e9 if t.dtype.itemsize > 2 else 1e2)
    a = _C.where(far, 1, t)  # no branch meets an infinity: its gradient would be NaN
    near = (a + a.sqrt() * (a + 2).sqrt()).log1p()
    return _C.where(far, _C.where(far, input, 1).log() + 0.6931471805599453, near)


@both
@with_out
def atanh(input):
    """The inverse of tanh: (log1p(x) - log1p(-x)) / 2; of complex numbers -i atan(i z)."""
    if input.is_complex():
        return _back(_turned(input).atan())
    input = _floating(input)
    return (input.log1p() - (-input).log1p()) / 2


def _floating(input):
    whole = not (input.is_floating_point() or input.is_complex())
    return input.to(_C.get_default_dtype()) if whole else input


def _turned(z):
    return _complex_of(-z.imag, z.real)


def _back(z):
    return _complex_of(z.imag, -z.real)


arcsinh, arccosh, arctanh = asinh, acosh, atanh
_METHODS.update({"arc" + name[1:]: _METHODS[name] for name in ("asinh", "acosh", "atanh")})


@both
@with_out
def deg2rad(input):
    """Degrees as radians."""
    return input * (3.141592653589793 / 180)


@both
@with_out
def rad2deg(input):
    """Radians as degrees."""
    return input * (180 / 3.141592653589793)


@both
@with_out
def exp2(input):
    """2 to the power of each element."""
    return _C.pow(2.0, input)


@both
@with_out
def sinc(input):
    """sin(pi x) / (pi x), 1 at 0."""
    x = input * 3.141592653589793
    one = _C.ones_like(x)
    zero = x == 0
    return _C.where(zero, one, x.sin() / _C.where(zero, one, x))


@both
@with_out
def ldexp(input, other: Tensor):
    """input * 2**other; of whole exponents without overflow on the way."""
    if other.is_floating_point() or other.is_complex():
        return input * _C.pow(2.0, other)
    input = input.to(_dtype_with(input, other))
    real, rest = input.dtype.to_real(), other.to(_C.int64)
    top = _frexp(finfo(real).max)[1] - 1
    for parts in (3, 2, 1):  # from the smallest number to the largest is less than 3 * top
        part = _C.div(rest, parts, rounding_mode="trunc").clamp(-top, top)
        input, rest = input * _C.pow(2.0, part.to(real)), rest - part
    return input


@both
@with_out
def logit(input, eps=None):
    """log(x / (1 - x)), of x clamped to [eps, 1 - eps] where eps is given."""
    x = input
    if eps is not None:  # the bounds themselves keep the gradient
        x = _C.where(x < eps, eps, _C.where(x > 1 - eps, 1 - eps, x))
    r = x.log() - (1 - x).log()
    if not r.requires_grad:
        return r
    outside = (x < 0) | (x > 1)  # where the gradient is NaN, too
    return r * _C.ones_like(r).masked_fill(outside, _nan)


@both_of_numbers
@with_out
def xlogy(input, other):
    """input * log(other); 0 where input is 0 and other no NaN."""
    _one_tensor("xlogy", input, other)
    input, other = _two(input, other)
    least = other == 0 if other.is_complex() else other <= 0
    zero = (input == 0) & (least | (other == _inf))  # elsewhere the product is 0 by itself
    one = _C.ones_like(other)
    return _C.where(zero, _C.zeros_like(input), input * _C.where(zero, one, other).log() + 0)


def _one_tensor(name, a, b):
    """Refuses what are not two tensors, or one and a number."""
    there = [isinstance(x, Tensor) for x in (a, b)]
    numbers = all(isinstance(x, (Tensor, bool, int, float, complex)) for x in (a, b))
    if not any(there) or not numbers:
        raise TypeError(
            f"{name}() takes two tensors, or one and a number, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )


def _two(a, b):
    """Both in the dtype and shape of their sum; one may be a number."""
    dtype = result_type(a, b)
    made = (x.to(dtype) if isinstance(x, Tensor) else _C.tensor(x, dtype=dtype) for x in (a, b))
    return _alike(*made)


def _dtype_with(a, b):
    """The dtype of their sum, floating: the default one for integers."""
    dtype = result_type(a, b)
    return dtype if dtype.is_floating_point or dtype.is_complex else _C.get_default_dtype()


@both_of_numbers
@with_out
def float_power(input, exponent):
    """input to the power, in float64 or complex128."""
    given = (input, exponent)
    _one_tensor("float_power", *given)
    wide = _C.float64
    if any(type(x) is complex or isinstance(x, Tensor) and x.is_complex() for x in given):
        wide = _C.complex128
    a, b = (x.to(wide) if isinstance(x, Tensor) else x for x in given)
    return _C.pow(a, b)


@both
@with_out
def heaviside(input, values: Tensor):
    """0 below 0, values at 0, 1 above."""
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    r = _C.where(input > 0, _C.ones_like(input), _C.zeros_like(input))
    return _C.where(input == 0, values, r)


@both
@with_out
def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers."""
    if not (input.is_floating_point() or input.is_complex()):
        return input.clone()
    if input.is_complex():
        parts = nan_to_num(_C.view_as_real(input), nan, posinf, neginf)
        return _C.view_as_complex(parts)
    info = finfo(input.dtype)
    r = input.masked_fill(input.isnan(), 0.0 if nan is None else nan)
    r = r.masked_fill(input == _inf, info.max if posinf is None else posinf)
    return r.masked_fill(input == -_inf, info.min if neginf is None else neginf)


@both
@with_out
def isposinf(input):
    """Whether an element is +_inf."""
    return input == _inf


@both
@with_out
def isneginf(input):
    """Whether an element is -_inf."""
    return input == -_inf


@both
def isreal(input):
    """Whether an element has no imaginary part."""
    return input.imag == 0 if input.is_complex() else _C.ones_like(input, dtype=_C.bool)


@both
def is_nonzero(input):
    """Whether the only element is not 0."""
    return bool(input)


@both
def is_same_size(input, other: Tensor):
    """Whether both have one shape."""
    return input.shape == other.shape


def _pick(input, other, row):
    input, other = _two(input, other)
    r = row(other, input)  # of equals the second, as torch: 0 of 0 and -0
    return _C.where(other.isnan(), input, _C.where(input.isnan(), other, r))


@both
@with_out
def fmax(input, other: Tensor):
    """maximum, but NaN counts as absent."""
    return _pick(input, other, _C.maximum)


@both
@with_out
def fmin(input, other: Tensor):
    """minimum, but NaN counts as absent."""
    return _pick(input, other, _C.minimum)


@function
@with_out
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among test_elements."""
    _one_tensor("isin", elements, test_elements)
    elements = elements if isinstance(elements, Tensor) else _C.tensor(elements)
    tests = test_elements if isinstance(test_elements, Tensor) else _C.tensor(test_elements)
    if elements.numel() * tests.numel() < 1 << 16:
        r = (elements.unsqueeze(-1) == tests.reshape(-1)).any(-1)
    else:
        r = _isin_sorted(elements.reshape(-1), tests.reshape(-1)).reshape(elements.shape)
    return r.logical_not() if invert else r


def _isin_sorted(elements, tests):
    """isin by sorting both together: which runs of equals have a member of tests?"""
    n = elements.numel()
    values, order = _C.cat([elements, tests]).sort()
    begins = _C.ones(values.numel(), dtype=_C.bool)
    begins[1:] = values[1:] != values[:-1]
    run = begins.to(_C.int64).cumsum(0) - 1
    found = _C.zeros(values.numel(), dtype=_C.bool)
    found[run[order >= n]] = True
    return _C.empty(values.numel(), dtype=_C.bool).scatter_(0, order, found[run])[:n]


@method
def where(self, condition, other=None):
    """self where condition, else other."""
    return _C.where(condition, self, other)
