"""Functions of each element."""

from math import nan as _nan

from .. import _C
from .._C import Tensor
from ._marks import _METHODS, both, function, method
from ._out import with_out
from .creation import complex as _complex_of


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
    other = _nan - _acosh_recorded(_C.where(below, -input, 2))
    return _C.where(below, other, _acosh_recorded(_C.where(below, 2, input)))


def _acosh_recorded(input):
    edge = input == 1  # like sqrt(2 (x - 1)), whose derivatives are infinite
    root = (2 * (_C.where(edge, input, 2) - 1)).sqrt()
    return _C.where(edge, root, _acosh(_C.where(edge, 2, input)))


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


arccosh, arctanh = acosh, atanh
_METHODS.update({"arc" + name[1:]: _METHODS[name] for name in ("acosh", "atanh")})


def _one_tensor(name, a, b):
    """Refuses what are not two tensors, or one and a number."""
    there = [isinstance(x, Tensor) for x in (a, b)]
    numbers = all(isinstance(x, (Tensor, bool, int, float, complex)) for x in (a, b))
    if not any(there) or not numbers:
        raise TypeError(
            f"{name}() takes two tensors, or one and a number, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )


@both
def is_nonzero(input):
    """Whether the only element is not 0."""
    return bool(input)


@both
def is_same_size(input, other: Tensor):
    """Whether both have one shape."""
    return input.shape == other.shape


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


@method
def polygamma(self, n):
    """torch.polygamma(n, self)."""
    return _C.polygamma(n, self)


@method
def polygamma_(self, n):
    """polygamma in self's place."""
    return self.copy_(_C.polygamma(n, self))
