"""Dtypes: names, kinds, ranges, promotion."""

from .. import _C
from .._C import Tensor
from ._marks import function

_TYPE_NAMES = {
    _C.float32: "FloatTensor", _C.float64: "DoubleTensor", _C.float16: "HalfTensor",
    _C.bfloat16: "BFloat16Tensor", _C.int64: "LongTensor", _C.int32: "IntTensor",
    _C.int16: "ShortTensor", _C.int8: "CharTensor", _C.uint8: "ByteTensor",
    _C.bool: "BoolTensor", _C.complex64: "ComplexFloatTensor",
    _C.complex128: "ComplexDoubleTensor",
}  # fmt: skip
_LEGACY = {name: dtype for dtype, name in _TYPE_NAMES.items()}


def _scalar_type(dtype):
    """The dtype as torch's messages call it: Float, Long, UInt16, Float8_e5m2, .."""
    if dtype in _TYPE_NAMES:
        return _TYPE_NAMES[dtype].removesuffix("Tensor")
    name = repr(dtype).removeprefix("torch.")
    return "UInt" + name[4:] if name.startswith("uint") else name.capitalize()


class _LegacyMeta(type):
    def __instancecheck__(cls, obj):
        if not isinstance(obj, Tensor) or obj.dtype != cls.dtype:
            return False
        return obj.is_cuda == cls.is_cuda and obj.layout == cls.layout

    def __call__(cls, *args, device=None):
        kind = "cuda" if cls.is_cuda else "cpu"
        if device is not None and _C.device(device).type != kind:
            raise RuntimeError(
                f"legacy constructor expects device type: {kind} but device type: "
                f"{_C.device(device).type} was passed"
            )
        if cls.is_cuda:
            from .. import _cuda, sparse

            _cuda.open()
            space = vars(sparse) if cls.layout is _C.sparse_coo else types_of("torch")
            return space[cls.__name__](*args).to(device or kind)
        data = args[0] if len(args) == 1 else ()
        if not args or isinstance(args[0], (int, _C.Size)):
            return _C.empty(data if isinstance(data, _C.Size) else args or 0, dtype=cls.dtype)
        if len(args) > 1 or isinstance(data, float):
            raise TypeError("new(): data must be a sequence")
        if isinstance(data, Tensor) and data.dtype is not cls.dtype:
            raise TypeError(f"new(): expected a {cls.__name__}, but got {data.type()}")
        if isinstance(data, Tensor):
            return data.detach()
        if hasattr(data, "_as_tensor"):  # a storage
            return data._as_tensor(cls.dtype)
        return _C.tensor(data, dtype=cls.dtype)


def _legacy(name, module="torch"):
    """torch.FloatTensor and its like: of sizes or of data."""
    layout = _C.sparse_coo if module.endswith(".sparse") else _C.strided
    own = {"dtype": _LEGACY[name], "is_cuda": ".cuda" in module, "layout": layout}
    made = _LegacyMeta(name, (), {**own, "__module__": module})

    def refuse(cls):
        raise TypeError(f"type '{module}.{name}' is not an acceptable base type")

    made.__init_subclass__ = classmethod(refuse)
    return made


def types_of(module):
    """{name: type} of a module of types: torch, torch.cuda or torch.cuda.sparse."""
    without = {"torch": "no", "torch.cuda": "Complex"}.get(module, "Complex Bool").split()
    names = [name for name in _LEGACY if not any(name.startswith(w) for w in without)]
    return {name: _legacy(name, module) for name in names}


def _dtype_of(given):
    """A dtype, of a dtype, a type or a type's name."""
    if isinstance(given, str):
        name = given.removeprefix("torch.").removeprefix("cuda.")
        if name not in _LEGACY:
            raise ValueError(f"invalid type: {given!r}")
        return _LEGACY[name]
    if isinstance(given, _LegacyMeta):
        return given.dtype
    if not isinstance(given, (type, _C.dtype)):
        raise TypeError("dtype must be a type, str, or dtype object")
    return _C.float32 if given is Tensor else given


def _device_of(given):
    """The kind of device of a type or a type's name; None of a dtype."""
    if isinstance(given, str):
        return "cuda" if given.startswith("torch.cuda.") else "cpu"
    return ("cuda" if given.is_cuda else "cpu") if isinstance(given, _LegacyMeta) else None


@function
def is_inference(input: Tensor):
    """Whether inference mode made the tensor, or what it is a view of."""
    return Tensor.is_inference(input)


def is_floating_point(input: Tensor):
    """Whether the elements are floating."""
    return Tensor.is_floating_point(input)


@function
def is_complex(input: Tensor):
    """Whether the elements are complex."""
    return Tensor.is_complex(input)


@function
def is_signed(input: Tensor):
    """Whether the elements have a sign."""
    return Tensor.is_signed(input)


@function
def is_conj(input: Tensor):
    """False: conjugates are computed at once."""
    return False


is_neg = is_conj


@function
def resolve_conj(input: Tensor):
    """input: conjugates are computed at once."""
    return input


resolve_neg = resolve_conj


def _kind(dtype):
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else 0 if dtype == _C.bool else 1


def can_cast(from_, to):
    """Whether the conversion keeps the kind of number: complex, floating, integer, bool."""
    _check_dtype("can_cast", "'from_' (position 1)", from_)
    _check_dtype("can_cast", "'to' (position 2)", to)
    return _kind(from_) <= _kind(to)


def _check_dtype(name, parameter, given):
    if not isinstance(given, _C.dtype):
        raise TypeError(
            f"{name}(): argument {parameter} must be torch.dtype, not {type(given).__name__}"
        )


def result_type(tensor1, tensor2):
    """The dtype that an operator of both gives."""
    return _common((tensor1, tensor2))


def _common(given):
    """The dtype of all together: that of those with dimensions, of which 0-dim tensors and then
    numbers lift the kind of number, but not the width."""
    groups = {}
    for x in given:
        rank, dtype = _rank_of(x)
        groups[rank] = _C.promote_types(groups.get(rank, dtype), dtype)
    r = None
    for rank in sorted(groups, reverse=True):
        r = groups[rank] if r is None else _lifted(groups[rank], r)
    return r


def _lifted(dtype, beside):
    if _kind(beside) <= _kind(dtype):
        return dtype
    return _C.promote_types(dtype, _C.complex64) if dtype.is_floating_point else beside


def _rank_of(x):
    if isinstance(x, Tensor):
        return 0 if x.dim() else 1, x.dtype
    return 2, _C.tensor(x).dtype


class finfo:
    """Limits of a floating dtype."""

    _digits = {  # mantissa bits, exponents of the largest and smallest normal number
        _C.float64: (52, 1023, -1022), _C.float32: (23, 127, -126), _C.float16: (10, 15, -14),
        _C.bfloat16: (7, 127, -126), _C.float8_e4m3fn: (3, 8, -6), _C.float8_e5m2: (2, 15, -14),
    }  # fmt: skip

    def __init__(self, type=None):
        type = _C.get_default_dtype() if type is None else type
        _check_dtype("finfo", "'type' (position 1)", type)
        dtype = type.to_real()
        if dtype not in self._digits:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        bits, high, low = self._digits[dtype]
        self.dtype = repr(dtype).removeprefix("torch.")
        self.bits = dtype.itemsize * 8
        self.eps = 2.0**-bits
        top = 2 - self.eps * (2 if dtype == _C.float8_e4m3fn else 1)
        self.max = top * 2.0**high
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = 10.0 ** -int(bits * 0.30102999566398120)

    def __repr__(self):
        words = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{w}={getattr(self, w):g}" for w in words)
        return f"finfo({values}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


class iinfo:
    """Limits of an integer dtype."""

    def __init__(self, type):
        _check_dtype("iinfo", "'type' (position 1)", type)
        if _kind(type) != 1:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        self.dtype = repr(type).removeprefix("torch.")
        self.bits = type.itemsize * 8
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -self.max - 1 if type.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)
