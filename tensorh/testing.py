"""torch.testing: assert_close, assert_allclose, which came before it, and make_tensor."""
import math
import sys
import warnings
from collections.abc import Mapping, Sequence

from . import _C
from ._C import Tensor
from ._functions.dtypes import finfo, iinfo

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_TOLERANCES = {  # rtol, atol
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
    _C.complex64: (1.3e-6, 1e-5),
    _C.complex128: (1e-7, 1e-7),
}
_OLDER = {_C.float16: (1e-3, 1e-3), _C.float32: (1e-4, 1e-5), _C.float64: (1e-5, 1e-8)}
_NUMBERS = (bool, int, float, complex)


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False,
    check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Without rtol and atol they follow from the dtypes. Sequences and mappings are compared member by
    member. msg: a text, or a function of the text that would be raised."""
    if (rtol is None) != (atol is None):
        raise ValueError(
            "rtol and atol must both be specified or both be unspecified, "
            f"but got no {'rtol' if rtol is None else 'atol'}"
        )
    how = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_device": check_device, "check_dtype": check_dtype, "check_stride": check_stride,
    }  # fmt: skip
    _compare(actual, expected, how, (), msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """As assert_close of two tensors, of any dtypes, with wider bounds and NaN equal to NaN."""
    warnings.warn(
        "torch.testing.assert_allclose() is deprecated: use torch.testing.assert_close()",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = _C.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = _C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        both = [{**_TOLERANCES, **_OLDER}.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(pair) for pair in zip(*both, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
        msg=msg or None,
    )  # fmt: skip


def make_tensor(
    *shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False,
    exclude_zero=False, memory_format=None,
):  # fmt: skip
    """A tensor of values drawn evenly from [low, high), by default [-9, 9) of floats, -9 to 9 of
    integers, 0 to 9 of unsigned ones.

    noncontiguous: each second element of a larger tensor. exclude_zero: 1, or the smallest normal
    number, in the place of zeros."""
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    shape = tuple(shape)
    floating = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not floating:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    low, high = _range_of(dtype, low, high)
    apart = noncontiguous and math.prod(shape) > 1
    if apart:
        shape = (*shape[:-1], 2 * shape[-1])
    result = _drawn(shape, low, high, dtype, device)
    if apart:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        tiny = finfo(dtype).tiny if floating else 1
        result[result == 0] = complex(tiny, tiny) if dtype.is_complex else tiny
    return result.requires_grad_(requires_grad) if requires_grad else result


def _drawn(shape, low, high, dtype, device):
    """Values from [low, high)."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return _C.randint(int(low), int(high), shape, dtype=dtype, device=device)
    result = _C.empty(shape, dtype=dtype, device=device)
    parts = _C.view_as_real(result) if dtype.is_complex else result
    if high - low > finfo(dtype).max:  # the width has no number
        parts.uniform_(low / 2, high / 2).mul_(2)
    else:
        parts.uniform_(low, high)
    return result


def _range_of(dtype, low, high):
    """low and high of make_tensor, within what dtype holds; high itself is not drawn."""
    if any(isinstance(x, float) and math.isnan(x) for x in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if dtype is _C.bool:
        least, most, usual = 0, 2, (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        info = finfo(dtype)
        least, most, usual = info.min, info.max, (-9, 9)
    else:
        info = iinfo(dtype)
        least, most = info.min, min(info.max, 2**63 - 2) + 1
        usual = (-9, 10) if info.min else (0, 10)
    low = usual[0] if low is None else low
    high = usual[1] if high is None else high
    if low > high or (low == high and not (dtype.is_floating_point or dtype.is_complex)):
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {low} >= {high}")
    if high < least or low > most:
        raise ValueError(
            f"make_tensor: the range from {low} to {high} is outside of what {dtype} holds"
        )
    low, high = max(low, least), min(high, most)
    if not (dtype.is_floating_point or dtype.is_complex):
        low, high = math.ceil(low), math.ceil(high)
    return low, high


def _fail(text, where, msg, error=AssertionError):
    if where:
        items = "".join(f"[{k!r}]" for k in where)
        text += f"\n\nThe failure occurred for item {items}"
    if msg is not None and error is AssertionError:
        text = msg(text) if callable(msg) else msg
    raise error(text)


def _compare(actual, expected, how, where, msg):
    actual, expected = _number(actual), _number(expected)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            text = f"The keys of the mappings do not match:\n\n{_keys(actual, expected)}"
            _fail(text, where, msg)
        for k in actual:
            _compare(actual[k], expected[k], how, (*where, k), msg)
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            _fail(text, where, msg)
        for k, (a, b) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, b, how, (*where, k), msg)
    elif actual is None or expected is None:
        if actual is not expected:
            _fail(f"None mismatch: {actual} is not {expected}", where, msg)
    elif isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        _compare_numbers(actual, expected, how, where, msg)
    else:
        kinds = type(actual), type(expected)
        related = issubclass(*kinds) or issubclass(*reversed(kinds))
        related = related if how["allow_subclasses"] else kinds[0] is kinds[1]
        a, b = (_tensor(x) if related else None for x in (actual, expected))
        if a is None or b is None:
            text = f"No comparison pair was able to handle inputs of type {type(actual)} and "
            _fail(text + f"{type(expected)}.", where, msg, TypeError)
        _compare_tensors(a, b, how, where, msg)


def _is_sequence(x):
    return isinstance(x, Sequence) and not isinstance(x, str)


def _number(x):
    """x, if it is a number of NumPy as Python's."""
    numpy = sys.modules.get("numpy")
    return x.item() if numpy is not None and isinstance(x, numpy.generic) else x


def _keys(actual, expected):
    only = [f"Missing keys in the actual mapping: {[k for k in expected if k not in actual]}"]
    only.append(f"Missing keys in the expected mapping: {[k for k in actual if k not in expected]}")
    return "\n".join(only)


def _tensor(x):
    if isinstance(x, Tensor):
        return x.detach()
    try:
        return _C.as_tensor(x)
    except (TypeError, ValueError, RuntimeError):
        return None


def _tolerances(how, *dtypes):
    if how["rtol"] is not None:
        return how["rtol"], how["atol"]
    pairs = [_TOLERANCES.get(d, (0.0, 0.0)) for d in dtypes]
    return max(r for r, _ in pairs), max(a for _, a in pairs)


def _compare_numbers(actual, expected, how, where, msg):
    if how["check_dtype"] and type(actual) is not type(expected):
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", where, msg)
    dtypes = [{float: _C.float64, complex: _C.complex128}.get(type(x)) for x in (actual, expected)]
    rtol, atol = _tolerances(how, *dtypes)
    if actual == expected or (how["equal_nan"] and actual != actual and expected != expected):
        return
    difference = abs(actual - expected)
    if math.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    text = f"Scalars are not {'equal' if rtol == atol == 0 else 'close'}!\n\n"
    text += f"Expected {expected} but got {actual}.\nAbsolute difference: {difference}"
    text += "" if rtol == atol == 0 else f" (up to {atol} allowed)"
    relative = difference / abs(expected) if expected else math.inf
    text += f"\nRelative difference: {relative}"
    _fail(text + ("" if rtol == atol == 0 else f" (up to {rtol} allowed)"), where, msg)


def _compare_tensors(a, b, how, where, msg):
    if a.shape != b.shape:
        _fail(f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.", where, msg)
    for word in ("device", "dtype"):
        x, y = getattr(a, word), getattr(b, word)
        if how["check_" + word] and x != y:
            text = f"The values for attribute '{word}' do not match: {x} != {y}."
            _fail(text, where, msg)
    if how["check_stride"] and a.stride() != b.stride():
        text = f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
        _fail(text, where, msg)
    if a.is_meta or b.is_meta:
        return
    rtol, atol = _tolerances(how, a.dtype, b.dtype)
    dtype = _C.promote_types(a.dtype, b.dtype)
    if dtype == _C.bool:
        dtype = _C.uint8
    a, b = a.to(dtype), b.to(dtype)
    exact = rtol == atol == 0
    close = _C.isclose(a, b, rtol=rtol, atol=atol, equal_nan=how["equal_nan"])
    if not bool(close.all()):
        _fail(_differences(a, b, close, rtol, atol, exact), where, msg)


def _differences(a, b, close, rtol, atol, exact):
    wide = _C.complex128 if a.is_complex() else _C.int64
    wide = _C.float64 if a.is_floating_point() else wide
    a, b = a.to(wide), b.to(wide)
    text = f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
    if not a.dim():
        difference = (a - b).abs().item()
        relative = difference / abs(b.item()) if b.item() else math.inf
        text = f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        text += f"Expected {b.item()} but got {a.item()}.\nAbsolute difference: {difference}"
        text += "" if exact else f" (up to {atol} allowed)"
        text += f"\nRelative difference: {relative}"
        return text + ("" if exact else f" (up to {rtol} allowed)")
    n = a.numel() - int(close.sum())
    text += f"Mismatched elements: {n} / {a.numel()} ({n / a.numel():.1%})\n"
    difference = (a - b).abs().masked_fill(close, 0)
    relative = difference.double() / b.abs()
    relative = relative.masked_fill(close, 0)
    for word, values, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
        flat = values.reshape(-1)
        at = int(flat.argmax())
        index = tuple(int(i) for i in _unravel(at, a.shape))
        text += f"Greatest {word} difference: {flat[at].item()} at index {index}"
        text += "\n" if exact else f" (up to {allowed} allowed)\n"
    return text.rstrip("\n")


def _unravel(at, shape):
    index = []
    for n in reversed(shape):
        index.append(at % n)
        at //= n
    return reversed(index)


def __getattr__(name):
    from ._missing import error

    raise error("torch.testing", name)
