"""Functions and methods of torch that are a few calls of rows: what a training loop does not call.

A function marked `both` is torch.f and Tensor.f, `method` Tensor.f alone, the rest torch.f alone.
Names in IN_PLACE are methods f_, too. Those marked hear of __torch_function__ as rows do.
"""
from . import _C
from ._C import Tensor

_METHODS = {}
_NO_FUNCTIONS = {"Tensor", "both", "both_of_numbers", "method", "function", "IN_PLACE"}
_inf = float("inf")
_MANY = 60000  # tensors in a list, as the library has it
_bool, _int, _float, _complex = bool, int, float, complex


def _overridable(f):
    """f, or what a class with __torch_function__ among its arguments makes of the call."""

    def call(*args, **kwargs):
        given = [*args, *kwargs.values()]
        for a in args:
            if type(a) in (tuple, list):
                given += a
        if _C._has_torch_function(given):
            return _C._handle_torch_function(call, given, args, kwargs)
        return f(*args, **kwargs)

    call.__name__, call.__doc__, call.__wrapped__ = f.__name__, f.__doc__, f
    call.__qualname__, call.__module__ = f.__qualname__, f.__module__
    return call


def both(f):
    _METHODS[f.__name__] = call = _overridable(_of_a_tensor(f))
    return call


def _of_a_tensor(f, others=()):
    """f, which refuses a first argument that is no tensor as rows do."""
    of = (Tensor, *others)

    def call(*args, **kwargs):
        if args and not isinstance(args[0], of):
            raise TypeError(
                f"{f.__name__}(): argument 'input' (position 1) must be Tensor, "
                f"not {type(args[0]).__name__}"
            )
        return f(*args, **kwargs)

    call.__name__, call.__doc__, call.__wrapped__ = f.__name__, f.__doc__, f
    call.__qualname__, call.__module__ = f.__qualname__, f.__module__
    return call


def both_of_numbers(f):
    """The same, where a number may be the first argument."""
    others = (_bool, _int, _float, _complex)
    _METHODS[f.__name__] = call = _overridable(_of_a_tensor(f, others))
    return call


def method(f):
    _METHODS[f.__name__] = call = _overridable(f)
    _NO_FUNCTIONS.add(f.__name__)
    return call


function = _overridable

# Functions that are methods f_, too, and functions torch.f_ where torch has them.
IN_PLACE = (
    "acosh arccosh arcsinh arctanh asinh atanh conj_physical addbmm addmm addmv addr baddbmm "
    "cumsum deg2rad rad2deg exp2 float_power heaviside index_copy "
    "index_fill ldexp logit nan_to_num put sinc xlogy"
).split()

# --- shapes ---------------------------------------------------------------------------------------


@both
def adjoint(input):
    """The last two dimensions exchanged, conjugated."""
    return input.mT.conj() if input.is_complex() else input.mT


@both
def ravel(input):
    """input in one dimension."""
    return input.reshape(-1)


@method
def view_as(self, other):
    """A view of other's shape."""
    return self.view(other.shape)


@method
def reshape_as(self, other):
    """In the shape of another tensor."""
    return self.reshape(other.shape)


@method
def sum_to_size(self, *size):
    """Summed to a size from which self broadcasts."""
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = self.dim() - len(size)
    kept = self.shape[max(lead, 0) :]
    if lead < 0 or any(n not in (1, have) for n, have in zip(size, kept, strict=True)):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(self.shape)}.")
    dims = list(range(lead))
    dims += [i for i in range(lead, self.dim()) if size[i - lead] == 1 and self.shape[i] != 1]
    r = self.sum(dims, keepdim=True) if dims else self
    return r.reshape(size) if lead else r


@both
def tile(input, *dims):
    """Repeated dims times; dims are completed by ones in front."""
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return input.repeat((1,) * (input.dim() - len(dims)) + dims)


@both
def fliplr(input):
    """The order of the columns reversed."""
    if input.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return input.flip(1)


@both
def flipud(input):
    """The order of the rows reversed."""
    if input.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return input.flip(0)


@both
def rot90(input, k=1, dims=(0, 1)):
    """Turned k times by 90 degrees in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(
            f"expected total rotation dims == 2, but got dims = {len(dims)}"
        )
    a, b = dims
    if _dim(a, input.dim()) == _dim(b, input.dim()):
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"
        )
    k %= 4
    if k == 2:
        return input.flip(dims)
    if k == 0:
        return input.clone()
    return input.flip(b).transpose(a, b) if k == 1 else input.flip(a).transpose(a, b)


@both
def diag(input, diagonal=0):
    """The diagonal of a matrix, a copy; or the matrix with that diagonal."""
    if input.dim() == 2:
        return input.diagonal(diagonal).clone()
    if input.dim() != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return diag_embed(input, diagonal)


@both
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices whose diagonals are the last dimension of input."""
    n = input.shape[-1] + abs(offset)
    ndim = input.dim() + 1
    r = input.new_zeros((*input.shape[:-1], n, n))
    r.diagonal(offset, -2, -1).copy_(input)
    return r.movedim((-2, -1), (_dim(dim1, ndim), _dim(dim2, ndim)))


@both
def diagflat(input, offset=0):
    """The matrix whose diagonal is input in one dimension."""
    return diag_embed(input.reshape(-1), offset)


@both
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of input with src on its diagonal."""
    r = input.clone()
    r.diagonal(offset, dim1, dim2).copy_(src)
    return r


@both
def select_scatter(input, src, dim, index):
    """A copy of input with src at index."""
    r = input.clone()
    r.select(dim, index).copy_(src)
    return r


@both
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of input with src in the slice."""
    r = input.clone()
    _C.slice(r, dim, start, end, step).copy_(src)
    return r


@both
def narrow_copy(input, dim, start, length):
    """narrow, a copy."""
    return input.narrow(dim, start, length).clone()


@method
def unfold(self, dimension, size, step):
    """All slices of length size, step apart, as a last dimension: a view."""
    if not self.dim():
        return self.as_strided((size,), (1,))
    d = _dim(dimension, self.dim())
    n, stride = self.shape[d], self.stride()
    if size < 0 or size > n:
        raise RuntimeError(
            f"maximum size for tensor at dimension {d} is {n} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    shape = (*self.shape[:d], (n - size) // step + 1, *self.shape[d + 1 :], size)
    strides = (*stride[:d], stride[d] * step, *stride[d + 1 :], stride[d])
    return self.as_strided(shape, strides, self.storage_offset())


@both
def tensor_split(input, indices_or_sections, dim=0):
    """Split into nearly equal sections, or at the indices."""
    n = input.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, _int):
        k = indices_or_sections
        if k <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {k}")
        if k > _MANY:
            raise RuntimeError(f"number of sections must be at most {_MANY}, got {k}")
        sizes = [n // k + (i < n % k) for i in range(k)]
        return input.split_with_sizes(sizes, dim)
    starts = [0, *indices_or_sections]
    ends = [*indices_or_sections, n]
    return tuple(
        _C.slice(input, dim, a, b) if b > a or a < 0 or b < 0 else input.narrow(dim, 0, 0)
        for a, b in zip(starts, ends, strict=True)
    )


def _split_along(name, dim_of, least):
    def f(input, indices_or_sections):
        if input.dim() < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {input.dim()} dimensions!"
            )
        dim = dim_of(input)
        k = indices_or_sections
        if isinstance(k, _int) and (k <= 0 or input.shape[dim] % k):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {input.shape[dim]} is not divisible by the split_size {k}!"
            )
        return tensor_split(input, k, dim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"tensor_split along dimension {least - 1} into equal sections, or at the indices."
    return both(f)


hsplit = _split_along("hsplit", lambda x: 0 if x.dim() == 1 else 1, 1)
vsplit = _split_along("vsplit", lambda x: 0, 2)
dsplit = _split_along("dsplit", lambda x: 2, 3)


def _each(tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tensors[0], False
    return tensors, len(tensors) == 1


@function
def atleast_1d(*tensors):
    """With at least one dimension."""
    tensors, one = _each(tensors)
    r = tuple(t if t.dim() else t.reshape(1) for t in tensors)
    return r[0] if one else r


@function
def atleast_2d(*tensors):
    """With at least two dimensions."""
    tensors, one = _each(tensors)
    r = tuple(t if t.dim() > 1 else t.reshape(1, -1) for t in tensors)
    return r[0] if one else r


def _three(t):
    if t.dim() < 2:
        return t.reshape(1, -1, 1)
    return t.unsqueeze(-1) if t.dim() == 2 else t


@function
def atleast_3d(*tensors):
    """With at least three dimensions."""
    tensors, one = _each(tensors)
    r = tuple(map(_three, tensors))
    return r[0] if one else r


@function
def hstack(tensors, *, out=None):
    """Joined along the second dimension; along the first where there is one alone."""
    tensors = [t if t.dim() else t.reshape(1) for t in tensors]
    if not tensors:
        raise RuntimeError("hstack expects a non-empty TensorList")
    return _C.cat(tensors, 0 if tensors[0].dim() == 1 else 1, out=out)


@function
def vstack(tensors, *, out=None):
    """Joined along the first dimension, of rows."""
    return _C.cat([t if t.dim() > 1 else t.reshape(1, -1) for t in tensors], 0, out=out)


row_stack = vstack


@function
def dstack(tensors, *, out=None):
    """Joined along the third dimension."""
    return _C.cat([_three(t) for t in tensors], 2, out=out)


@function
def column_stack(tensors, *, out=None):
    """Joined as columns."""
    return _C.cat([t if t.dim() > 1 else t.reshape(-1, 1) for t in tensors], 1, out=out)


@function
def block_diag(*tensors):
    """The matrix with the tensors on its diagonal."""
    blocks = [t if t.dim() == 2 else t.reshape(1, -1) for t in tensors]
    if not blocks:
        return _C.empty(1, 0)
    dtype = blocks[0].dtype
    for b in blocks:
        dtype = _C.promote_types(dtype, b.dtype)
    r = _C.zeros(sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks), dtype=dtype)
    row = column = 0
    for b in blocks:
        r[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return r


@function
def broadcast_tensors(*tensors):
    """The tensors expanded to one shape."""
    tensors, _ = _each(tensors)
    shape = broadcast_shapes(*[t.shape for t in tensors])
    return tuple(t.expand(shape) for t in tensors)


def broadcast_shapes(*shapes):
    """The shape to which all the shapes broadcast."""
    shapes = [(s,) if isinstance(s, _int) else tuple(s) for s in shapes]
    n = max(map(len, shapes), default=0)
    r = [1] * n
    for s in shapes:
        for i, size in enumerate(s, n - len(s)):
            if size not in (1, r[i]):
                if r[i] != 1:
                    raise RuntimeError(
                        "Shape mismatch: objects cannot be broadcast to a single shape"
                    )
                r[i] = size
    return _C.Size(r)


@function
def cartesian_prod(*tensors):
    """All combinations of one element each, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    grids = _C.meshgrid(list(tensors), indexing="ij")
    return _C.stack([g.reshape(-1) for g in grids], 1)


@function
def combinations(input, r=2, with_replacement=False):
    """Combinations of length r of the elements, as rows."""
    import itertools

    if not 0 <= r <= _MANY:
        raise RuntimeError(f"Expect a non-negative number of elements, at most {_MANY}, got {r}")
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    at = [i for one in pick(range(input.numel()), r) for i in one]
    return input[_C.tensor(at, dtype=_C.int64)].reshape(-1, r)


def _diagonal_indices(row, col, offset, dtype, upper):
    ones = _C.ones(row, col, dtype=_C.bool)
    keep = ones.triu(offset) if upper else ones.tril(offset)
    return keep.nonzero().t().contiguous().to(dtype or _C.int64)


def tril_indices(row, col, offset=0, *, dtype=None, device="cpu", layout=None):
    """Row and column numbers of the lower triangle."""
    return _diagonal_indices(row, col, offset, dtype, False).to(device)


def triu_indices(row, col, offset=0, *, dtype=None, device="cpu", layout=None):
    """Row and column numbers of the upper triangle."""
    return _diagonal_indices(row, col, offset, dtype, True).to(device)


@both
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element repeated."""
    if repeats is None:
        return _C.arange(input.numel()).to(input.dtype).repeat_interleave(input)
    if dim is None:
        input, dim = input.reshape(-1), 0
    n = input.shape[dim]
    if not isinstance(repeats, Tensor):
        repeats = _C.full((n,), repeats, dtype=_C.int64)
    if _kind(repeats.dtype) != 1:
        raise NotImplementedError(f"repeat_interleave(): repeats of {repeats.dtype}")
    if repeats.dim() > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    times = repeats.to(_C.int64).reshape(-1)
    times = times.expand(n) if times.numel() == 1 else times
    if times.numel() != n:
        raise RuntimeError("repeats must have the same size as input along dim")
    if n and times.amin().item() < 0:
        raise RuntimeError("repeats can not be negative")
    ends = times.cumsum(0)  # element i stands from ends[i - 1] to ends[i]
    total = ends[-1].item() if n else 0
    marks = _C.zeros(total + 1, dtype=_C.int64).index_add(0, ends, _C.ones(n, dtype=_C.int64))
    return input.index_select(dim, marks.cumsum(0)[:total])


# --- creation -------------------------------------------------------------------------------------


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A 0-dim tensor of the default dtype."""
    dtype = dtype or _C.get_default_dtype()
    return _C.full((), s, dtype=dtype, device=device, requires_grad=requires_grad)


def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False):
    """steps numbers from base**start to base**end, evenly spaced in the exponent."""
    dtype = dtype or _C.get_default_dtype()
    r = _C.pow(base, _C.linspace(start, end, steps, dtype=_C.float64)).to(dtype)
    r = r.to(device) if device else r
    return r.requires_grad_() if requires_grad else r


def range_(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """start, start + step, .. to end, which belongs to it."""
    if end is None:
        start, end = 0, start
    n = _int((end - start) / step) + 1
    r = _C.arange(n, dtype=_C.float64) * step + start
    r = r.to(dtype or _C.get_default_dtype())
    return r.requires_grad_() if requires_grad else r


def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False):
    """Not initialised, of that size and stride."""
    n = 1 + sum((a - 1) * b for a, b in zip(size, stride, strict=True)) if 0 not in size else 0
    r = _C.empty(n, dtype=dtype, device=device).as_strided(size, stride)
    return r.requires_grad_() if requires_grad else r


@function
def complex(real, imag):
    """The complex tensor of two real ones."""
    if real.dtype != imag.dtype:
        raise RuntimeError(
            "Expected object of scalar type "
            f"{real.dtype} but got scalar type {imag.dtype} for second argument"
        )
    return _C.view_as_complex(_C.stack(_alike(real, imag), -1))


def _alike(*tensors):
    return list(broadcast_tensors(*tensors))


@function
def polar(abs, angle):
    """abs * exp(i angle)."""
    return complex(abs * angle.cos(), abs * angle.sin())


def vander(x, N=None, increasing=False):
    """Powers of x as columns."""
    n = x.numel() if N is None else N
    powers = _C.arange(n) if increasing else _C.arange(n - 1, -1, -1)
    return x.unsqueeze(-1) ** powers


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """obj as a tensor, over the same memory where that is possible."""
    if isinstance(obj, Tensor):
        r = obj if requires_grad else obj.detach() if obj.requires_grad else obj
    elif not isinstance(obj, (_bool, _int, _float, list, tuple)) and hasattr(obj, "__dlpack__"):
        over = _C.from_numpy if copy is False else _C.as_tensor  # that copies what is not aligned
        r = over(obj) if _is_buffer(obj) else _C.from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        r = _C.frombuffer(obj, dtype=dtype or _C.from_numpy(memoryview(obj)).dtype)
    else:
        r, copy = _C.as_tensor(obj, dtype=dtype), None if copy is False else copy
    given = r
    if dtype is not None or device is not None:
        r = r.to(device=device or r.device, dtype=dtype or r.dtype)
    if copy is False and r is not given:
        raise ValueError("can't alias tensor with a different dtype or device")
    if copy and r is given:
        r = r.clone()
    return r.detach().requires_grad_() if requires_grad else r


def _is_buffer(obj):
    try:
        memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return False
    return True


@function
def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, out=None):
    """Normal random numbers of that mean and standard deviation, which may be tensors."""
    if size is not None:
        r = _C.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    elif not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise TypeError("normal(): of two numbers argument 'size' must be given")
    else:
        a, b = _alike(_tensor_of(mean, std), _tensor_of(std, mean))
        r = _C.empty(a.shape, dtype=a.dtype).normal_(generator=generator) * b + a
    return r if out is None else out.copy_(r)


def _tensor_of(x, like):
    return x if isinstance(x, Tensor) else _C.tensor(_float(x), dtype=like.dtype)


@function
def randint_like(input, low, high=None, *, dtype=None, device=None):
    """Random integers in [low, high) of input's shape and dtype."""
    low, high = (0, low) if high is None else (low, high)
    return _C.randint(low, high, input.shape, dtype=dtype or input.dtype, device=device)


@method
def random_(self, *bounds, generator=None, **named):
    """Random integers in [from, to), in place; without bounds, all that the dtype holds from 0 on
    (of floats: that it holds exactly)."""
    low, high = _bounds_of(*bounds, **named)
    dtype = _C.int64
    if low is None and high is None:
        whole = {_C.float32: 2**24, _C.float64: 2**53, _C.float16: 2**11, _C.bfloat16: 2**8}
        most = 1 if self.dtype is _C.bool else whole.get(self.dtype) or iinfo(self.dtype).max
        low, high = 0, most + 1
        if self.dtype is _C.int64:  # [0, 2^63), whose end is no int64
            half = 2**62
            return self.copy_(
                _C.randint(-half, half, self.shape, generator=generator, dtype=dtype) + half
            )
    elif not self.dtype.is_floating_point:
        least, most = (0, 1) if self.dtype is _C.bool else _ends_of(self.dtype)
        for name, at in ("from", low), ("to - 1", high - 1):
            if not least <= at <= most:
                raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
    return self.copy_(_C.randint(low, high, self.shape, generator=generator, dtype=dtype))


def _ends_of(dtype):
    return iinfo(dtype).min, iinfo(dtype).max


def _bounds_of(*bounds, to=None, **named):
    """What random_ is given: (), (to) or (from, to); from may be a keyword."""
    low = named.pop("from", None)
    if named or len(bounds) > 2 or (low is not None and len(bounds) > 1):
        raise TypeError("random_() takes (), (to) or (from, to), and generator")
    if len(bounds) == 2:
        low, to = bounds
    elif bounds and to is None and low is None:
        low, to = 0, bounds[0]
    elif bounds:
        low, to = (low, bounds[0]) if low is not None else (bounds[0], to)
    if low is not None and to is None:
        raise TypeError("random_(): from is given, to is not")
    return (0 if to is not None and low is None else low), to


# --- elements -------------------------------------------------------------------------------------


@both
def positive(input):
    """input itself."""
    return input


@both
def conj_physical(input):
    """The complex conjugate."""
    return input.conj() if input.is_complex() else input.clone()


def fill(input, value):
    """A tensor like input, of one number."""
    return input.clone().fill_(value)


@both
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
def acosh(input):
    """The inverse of cosh: log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1; of complex numbers i acos(z)
    or -i acos(z), the one to the right."""
    if input.is_complex():
        r = input.acos()
        below = (r.imag > 0) | (1 / r.imag > 0)  # the cut has a side: that of 0 or -0
        return complex(_C.where(below, r.imag, -r.imag), _C.where(below, -r.real, r.real))
    t = _floating(input) - 1
    return (t + t.sqrt() * (t + 2).sqrt()).log1p()


@both
def atanh(input):
    """The inverse of tanh: (log1p(x) - log1p(-x)) / 2; of complex numbers -i atan(i z)."""
    if input.is_complex():
        return _back(_turned(input).atan())
    input = _floating(input)
    return (input.log1p() - (-input).log1p()) / 2


def _floating(input):
    return input if input.is_floating_point() else input.to(_C.get_default_dtype())


def _turned(z):
    return complex(-z.imag, z.real)


def _back(z):
    return complex(z.imag, -z.real)


arcsinh = _METHODS["arcsinh"] = asinh
arccosh = _METHODS["arccosh"] = acosh
arctanh = _METHODS["arctanh"] = atanh


@both
def deg2rad(input):
    """Degrees as radians."""
    return input * (3.141592653589793 / 180)


@both
def rad2deg(input):
    """Radians as degrees."""
    return input * (180 / 3.141592653589793)


@both
def exp2(input):
    """2 to the power of each element."""
    return _C.pow(2.0, input)


@both
def sinc(input):
    """sin(pi x) / (pi x), 1 at 0."""
    x = input * 3.141592653589793
    one = _C.ones_like(x)
    zero = x == 0
    return _C.where(zero, one, x.sin() / _C.where(zero, one, x))


@both
def ldexp(input, other):
    """input * 2**other."""
    return input * _C.pow(2.0, other)


@both
def logit(input, eps=None):
    """log(x / (1 - x)), of x clamped to [eps, 1 - eps] where eps is given."""
    x = _C.clone(input) if eps is None else _C.clamp(input, eps, 1 - eps)
    return (x / (1 - x)).log()


@both
def logaddexp(input, other):
    """log(exp(input) + exp(other)), without overflow."""
    top = _C.maximum(input, other)
    gap = (input - other).abs()
    finite = top + _C.exp(-gap).log1p()
    return _C.where(input == other, input + 0.6931471805599453, finite)


@both_of_numbers
def xlogy(input, other):
    """input * log(other); 0 where input is 0 and other no NaN."""
    input, other = _two(input, other)
    zero = (input == 0) & ~other.isnan()
    one = _C.ones_like(other)
    return _C.where(zero, _C.zeros_like(input), input * _C.where(zero, one, other).log())


def _two(a, b):
    if not isinstance(a, Tensor):
        a = _C.full((), a, dtype=result_type(a, b))
    if not isinstance(b, Tensor):
        b = _C.full((), b, dtype=result_type(a, b))
    return _alike(a, b)


@both_of_numbers
def float_power(input, exponent):
    """input to the power, in float64 or complex128."""
    given = [x for x in (input, exponent)]
    wide = _C.float64
    if any(type(x) is _complex or isinstance(x, Tensor) and x.is_complex() for x in given):
        wide = _C.complex128
    a, b = (x.to(wide) if isinstance(x, Tensor) else x for x in given)
    return _C.pow(a, b)


@both
def heaviside(input, values):
    """0 below 0, values at 0, 1 above."""
    r = _C.where(input > 0, _C.ones_like(input), _C.zeros_like(input))
    return _C.where(input == 0, values.to(input.dtype), r)


@both
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
def isposinf(input):
    """Whether an element is +inf."""
    return input == _inf


@both
def isneginf(input):
    """Whether an element is -inf."""
    return input == -_inf


@both
def isreal(input):
    """Whether an element has no imaginary part."""
    return input.imag == 0 if input.is_complex() else _C.ones_like(input, dtype=_C.bool)


@both
def is_nonzero(input):
    """Whether the only element is not 0."""
    return _bool(input)


@both
def is_same_size(input, other):
    """Whether both have one shape."""
    return input.shape == other.shape


def _pick(input, other, chosen):
    input, other = _two(input, other)
    r = _C.where(chosen(input, other), input, other)
    return _C.where(other.isnan(), input, _C.where(input.isnan(), other, r))


@both
def fmax(input, other):
    """maximum, but NaN counts as absent."""
    return _pick(input, other, _C.ge)


@both
def fmin(input, other):
    """minimum, but NaN counts as absent."""
    return _pick(input, other, _C.le)


@function
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among test_elements."""
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


# --- reductions -----------------------------------------------------------------------------------


@both
def count_nonzero(input, dim=None):
    """How many elements are not 0."""
    return (input != 0).sum() if dim is None else (input != 0).sum(dim)


@both
def trace(input):
    """The sum of the diagonal of a matrix."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return input.diagonal().sum()


@both
def dist(input, other, p=2):
    """The p-norm of input - other."""
    return _C.norm(input - other, p)


@both
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum without NaN."""
    x = input.masked_fill(input.isnan(), 0) if input.is_floating_point() else input
    return x.sum(dim, keepdim, dtype=dtype)


@both
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean without NaN."""
    there = input.isnan().logical_not().sum(dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / there


@function
def std_mean(input, dim=None, unbiased=None, *, correction=None, keepdim=False):
    """(standard deviation, mean)."""
    if isinstance(dim, _bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = _int(unbiased)
    var, mean = _C.var_mean(input, dim, correction=correction, keepdim=keepdim)
    return var.sqrt(), mean


@both
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours along dim, n times."""
    parts = [t for t in (prepend, input, append) if t is not None]
    r = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, r.shape[dim])):
        a, b = r.narrow(dim, 1, r.shape[dim] - 1), r.narrow(dim, 0, r.shape[dim] - 1)
        r = a.logical_xor(b) if r.dtype == _C.bool else a - b
    return r.clone() if r is input else r


@function
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along dim by the trapezoid rule."""
    n = y.shape[dim]
    if n == 0:
        return y.sum(dim)
    pairs = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    if x is None:
        return pairs.sum(dim) * (dx / 2)
    shape = [1] * y.dim()
    shape[dim] = -1
    steps = diff(x, dim=-1 if x.dim() == 1 else dim)
    return (pairs * (steps.reshape(shape) if x.dim() == 1 else steps)).sum(dim) / 2


trapz = trapezoid


@both
def bincount(input, weights=None, minlength=0):
    """How often each number occurs, or the sum of its weights."""
    if input.dim() != 1 or input.is_floating_point():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if input.numel() and input.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    n = max(minlength, _int(input.max()) + 1 if input.numel() else 0)
    if weights is None:
        weights = _C.ones(input.numel(), dtype=_C.int64)
    elif weights.dtype != _C.float32:
        weights = weights.to(_C.float64)
    return _C.zeros(n, dtype=weights.dtype).index_add_(0, input.to(_C.int64), weights)


def _unique(flat, sorted_, return_inverse, return_counts, shape):
    values, order = flat.sort(stable=True) if sorted_ else (flat, _C.arange(flat.numel()))
    n = values.numel()
    new = _C.ones(n, dtype=_C.bool)
    if n > 1:
        new[1:] = values[1:] != values[:-1]
    r = [values[new]]
    if return_inverse:
        number = new.to(_C.int64).cumsum(0) - 1
        r.append(_C.empty(n, dtype=_C.int64).scatter_(0, order, number).reshape(shape))
    if return_counts:
        starts = new.nonzero().reshape(-1)
        r.append(diff(starts, append=_C.tensor([n])) if n else starts)
    return r[0] if len(r) == 1 else tuple(r)


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in ascending order."""
    if dim is not None:
        raise NotImplementedError("unique() along a dimension is planned")
    return _unique(input.reshape(-1), True, return_inverse, return_counts, input.shape)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements without repetitions of the one before."""
    if dim is not None:
        raise NotImplementedError("unique_consecutive() along a dimension is planned")
    return _unique(input.reshape(-1), False, return_inverse, return_counts, input.shape)


@both
def msort(input):
    """Sorted along the first dimension."""
    return input.sort(0).values


# --- products -------------------------------------------------------------------------------------


@both
def outer(input, vec2):
    """The outer product of two vectors."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(
            f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D tensors"
        )
    return input.unsqueeze(1) * vec2


@both
def ger(input, vec2):
    """outer."""
    return outer(input, vec2)


@both
def inner(input, other):
    """Sums of products along the last dimensions."""
    if not input.dim() or not other.dim():
        return input * other
    return tensordot(input, other, ([-1], [-1]))


@both
def vdot(input, other):
    """The dot product with the conjugate of input."""
    return (input.conj() if input.is_complex() else input).dot(other)


@both
def kron(input, other):
    """The Kronecker product."""
    n = max(input.dim(), other.dim())
    a = input.reshape((1,) * (n - input.dim()) + tuple(input.shape))
    b = other.reshape((1,) * (n - other.dim()) + tuple(other.shape))
    shape = [x * y for x, y in zip(a.shape, b.shape, strict=True)]
    a = a.reshape([s for size in a.shape for s in (size, 1)])
    b = b.reshape([s for size in b.shape for s in (1, size)])
    return (a * b).reshape(shape)


@both
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * (mat @ vec)."""
    return _plus(input, _C.mv(mat, vec), beta, alpha)


@both
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * outer(vec1, vec2)."""
    return _plus(input, outer(vec1, vec2), beta, alpha)


@both
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * bmm(batch1, batch2)."""
    return _plus(input, _C.bmm(batch1, batch2), beta, alpha)


@both
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of bmm(batch1, batch2)."""
    return _plus(input, _C.bmm(batch1, batch2).sum(0), beta, alpha)


def _plus(input, product, beta, alpha):
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product.expand(broadcast_shapes(input.shape, product.shape))
    return (input if beta == 1 else input * beta) + product


@function
def chain_matmul(*matrices):
    """The product of the matrices."""
    from .linalg import multi_dot

    return multi_dot(_each(matrices)[0])


@function
def tensordot(a, b, dims=2, out=None):
    """Sums of products over dims: the last of a and the first of b, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, _int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    da, db = ([d] if isinstance(d, _int) else list(d) for d in dims)
    for t, ds in ((a, da), (b, db)):
        for d in ds:
            if not -t.dim() <= d < t.dim():
                raise IndexError(f"Dimension out of range: {d} of a tensor of {t.dim()}")
    da, db = [d % a.dim() for d in da], [d % b.dim() for d in db]
    if [a.shape[d] for d in da] != [b.shape[d] for d in db]:
        raise RuntimeError(
            "contracted dimensions need to match, but first has size "
            f"{[a.shape[d] for d in da]} and second has size {[b.shape[d] for d in db]}"
        )
    ra = [d for d in range(a.dim()) if d not in da]
    rb = [d for d in range(b.dim()) if d not in db]
    shape = [a.shape[d] for d in ra] + [b.shape[d] for d in rb]
    n = 1
    for d in da:
        n *= a.shape[d]
    m = _C.mm(
        a.permute(ra + da).reshape(_numel(a, ra), n), b.permute(db + rb).reshape(n, _numel(b, rb))
    )
    r = m.reshape(shape)
    return r if out is None else out.copy_(r)


def _dim(d, n):
    """The number of dimension d of n, which may be negative."""
    if not -n <= d < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})"
        )
    return d % n


def _numel(t, dims):
    n = 1
    for d in dims:
        n *= t.shape[d]
    return n


@function
def einsum(*args):
    """Sums of products as Einstein wrote them: einsum("bij,bjk->bik", x, y)."""
    from ._einsum import einsum

    return einsum(*args)


@function
def cdist(x1, x2, p=2.0, compute_mode=None):
    """The p-norms of all differences of rows."""
    return _C.linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@both
def cross(input, other, dim=None):
    """The cross product of vectors of length 3 along dim; None: the first of that length."""
    if dim is None:
        dims = [i for i, n in enumerate(input.shape) if n == 3]
        if not dims:
            raise RuntimeError("no dimension of size 3 in input")
        dim = dims[0]
    from .linalg import cross as along

    return along(input, other, dim=dim)


@both
def matrix_power(input, n):
    """The power n >= 0 of square matrices."""
    from .linalg import matrix_power as power

    return power(input, n)


# --- indexing -------------------------------------------------------------------------------------


@both
def argwhere(input):
    """Indices of the elements that are not 0, as rows."""
    return input.nonzero()


@both
def take(input, index):
    """Elements at positions in input as one dimension."""
    return input.reshape(-1)[index]


@both
def put(input, index, source, accumulate=False):
    """A copy with source at positions in input as one dimension."""
    flat = input.reshape(-1).clone()
    index = index.reshape(-1)
    flat.index_put_((index,), source.reshape(-1), accumulate)
    return flat.reshape(input.shape)


@both
def index_copy(input, dim, index, source):
    """A copy with source's slices at index along dim."""
    r = input.clone()
    if not r.dim():
        return r.copy_(source.reshape(()))
    r.movedim(dim, 0)[index] = source.movedim(dim, 0)
    return r


@both
def index_fill(input, dim, index, value):
    """A copy with value at index along dim."""
    r = input.clone()
    if not r.dim():
        return r.fill_(value)
    r.movedim(dim, 0)[index] = value
    return r


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """fill_value on the main diagonal; with wrap again below the square of a tall matrix."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, n = sum(self.stride()), min(self.shape)
    self.as_strided((n,), (step,), self.storage_offset()).fill_(fill_value)
    rows, columns = self.shape[0], self.shape[1]
    if wrap and self.dim() == 2:
        for top in range(columns + 1, rows, columns + 1):
            self[top : top + columns].fill_diagonal_(fill_value)
    return self


@function
def unravel_index(indices, shape):
    """Coordinates of positions in a tensor of that shape."""
    r = []
    for n in reversed([shape] if isinstance(shape, _int) else shape):
        r.append(indices.remainder(n))
        indices = indices.floor_divide(n)
    return tuple(reversed(r))


@function
def numel(input):
    """The number of elements."""
    return input.nelement()


# --- dtypes ---------------------------------------------------------------------------------------

_TYPE_NAMES = {
    _C.float32: "FloatTensor", _C.float64: "DoubleTensor", _C.float16: "HalfTensor",
    _C.bfloat16: "BFloat16Tensor", _C.int64: "LongTensor", _C.int32: "IntTensor",
    _C.int16: "ShortTensor", _C.int8: "CharTensor", _C.uint8: "ByteTensor",
    _C.bool: "BoolTensor", _C.complex64: "ComplexFloatTensor",
    _C.complex128: "ComplexDoubleTensor",
}  # fmt: skip
_LEGACY = {name: dtype for dtype, name in _TYPE_NAMES.items()}


class _LegacyMeta(type):
    def __instancecheck__(cls, obj):
        return isinstance(obj, Tensor) and obj.dtype == cls.dtype

    def __call__(cls, *args):
        if args and not isinstance(args[0], _int):
            return _C.tensor(args[0], dtype=cls.dtype)
        return _C.empty(args or 0, dtype=cls.dtype)


def _legacy(name):
    """torch.FloatTensor and its like: of sizes or of data."""
    return _LegacyMeta(name, (), {"dtype": _LEGACY[name], "__module__": "torch"})


def _dtype_of(given):
    """A dtype, of a dtype, a type or a type's name."""
    if isinstance(given, str):
        name = given.removeprefix("torch.")
        if name not in _LEGACY:
            raise ValueError(f"invalid type: {given!r}")
        return _LEGACY[name]
    if isinstance(given, _LegacyMeta):
        return given.dtype
    if not isinstance(given, (type, _C.dtype)):
        raise TypeError("dtype must be a type, str, or dtype object")
    return _C.float32 if given is Tensor else given


@function
def is_floating_point(input):
    """Whether the elements are floating."""
    return Tensor.is_floating_point(input)


@function
def is_complex(input):
    """Whether the elements are complex."""
    return Tensor.is_complex(input)


@function
def is_signed(input):
    """Whether the elements have a sign."""
    return Tensor.is_signed(input)


def is_conj(input):
    """False: conjugates are computed at once."""
    return False


is_neg = is_conj


def resolve_conj(input):
    """input: conjugates are computed at once."""
    return input


resolve_neg = resolve_conj


def _kind(dtype):
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else 0 if dtype == _C.bool else 1


def can_cast(from_, to):
    """Whether the conversion keeps the kind of number: complex, floating, integer, bool."""
    return _kind(from_) <= _kind(to)


def result_type(tensor1, tensor2):
    """The dtype that an operator of both gives."""
    groups = {}
    for x in (tensor1, tensor2):
        if isinstance(x, Tensor):
            dtype, rank = x.dtype, 0 if x.dim() else 1
        else:
            rank = 2
            dtype = _C.tensor(x).dtype
        groups[rank] = _C.promote_types(groups.get(rank, dtype), dtype)
    r = None
    for rank in sorted(groups):
        if r is None or _kind(groups[rank]) > _kind(r):
            r = groups[rank] if r is None or rank < 2 else _number_dtype(groups[rank], r)
    return r


def _number_dtype(number, beside):
    if not number.is_complex:
        return number
    return beside.to_complex() if beside in (_C.float32, _C.float64) else number


class finfo:
    """Limits of a floating dtype."""

    _digits = {  # mantissa bits, exponents of the largest and smallest normal number
        _C.float64: (52, 1023, -1022), _C.float32: (23, 127, -126), _C.float16: (10, 15, -14),
        _C.bfloat16: (7, 127, -126), _C.float8_e4m3fn: (3, 8, -6), _C.float8_e5m2: (2, 15, -14),
    }  # fmt: skip

    def __init__(self, type=None):
        dtype = (type or _C.get_default_dtype()).to_real()
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
        self.resolution = 10.0 ** -_int(bits * 0.30102999566398120)

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


# --- settings -------------------------------------------------------------------------------------

_printing = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_profiles = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": _inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """How tensors are printed."""
    o = {**_printing, **_profiles[profile]} if profile is not None else dict(_printing)
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    o.update({k: v for k, v in given.items() if v is not None})
    o["sci_mode"] = sci_mode
    small = [min(max(o[k], 1), 2**31 - 1) for k in given]
    _C._set_printing(*map(_int, small), {None: 0, True: 1, False: -1}[sci_mode])
    _printing.update(o)


def set_default_tensor_type(t):
    """Sets the default dtype to a floating type's."""
    _C.set_default_dtype(_dtype_of(t))


def get_default_device():
    """The device of new tensors."""
    return _C.device("cpu")


def get_rng_state():
    """The default generator's state."""
    return _C.default_generator.get_state()


def set_rng_state(new_state):
    """Continues the default generator from a state."""
    _C.default_generator.set_state(new_state)


def seed():
    """Seeds the default generator with a random number, which it returns."""
    return _C.default_generator.seed()


def initial_seed():
    """The default generator's seed."""
    return _C.default_generator.initial_seed()


def typename(obj):
    """The name of obj's type."""
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = getattr(cls, "__module__", "")
    return f"{module}.{cls.__qualname__}" if module not in ("", "builtins") else cls.__qualname__


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Nothing changes: all algorithms here are deterministic."""
    _settings["deterministic"] = _bool(mode)


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _settings["deterministic"]


def set_float32_matmul_precision(precision):
    """Nothing changes: products of float32 are computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"precision: expected highest, high or medium, not {precision!r}")
    _settings["matmul"] = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told."""
    return _settings["matmul"]


_settings = {"deterministic": False, "matmul": "highest"}


@function
def get_device(input):
    """The number of the device; -1 for the CPU."""
    return input.get_device()


@method
def apply_(self, callable):
    """Each element replaced by callable of it, a Python number."""
    values = [callable(x) for x in self.reshape(-1).tolist()]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


# --- attaching ------------------------------------------------------------------------------------


def _in_place(name):
    f = _METHODS.get(name) or getattr(Tensor, name)

    def method(self, *args, **kwargs):
        return self.copy_(f(self, *args, **kwargs))

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"{name}, in place."
    return method


def _methods():
    """The methods of Tensor that this file gives, by name."""
    return {**_METHODS, **{name + "_": _in_place(name) for name in IN_PLACE}}


def _names():
    """The functions of torch that this file gives, by name."""
    own = {k: v for k, v in globals().items() if k[0] != "_" and k not in _NO_FUNCTIONS}
    own["range"] = own.pop("range_")
    for name in IN_PLACE:
        if name not in ("float_power", "heaviside", "index_copy", "index_fill", "put", "cumsum"):
            own[name + "_"] = _in_place(name)
    for name in _LEGACY:
        own[name] = _legacy(name)
    return own
