"""Tensor's methods that are not called in a loop: conversions, copies, pickles, what Python asks
an object for. Attached to the class when the package is imported."""
import copyreg

from . import _C, _missing
from ._C import Tensor

# --- to and from other libraries ------------------------------------------------------------------


def numpy(self, *, force=False):
    """An array over the same memory; with force, of a copy where it has to be one."""
    if force:
        self = self.detach().cpu()
    elif not self.is_cpu:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )
    elif self.requires_grad and not _C.is_grad_enabled():
        self = self.detach()  # torch asks for detach() while calls are recorded
    elif self.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    elif _C._batch_depth(self):
        raise RuntimeError("vmap: numpy() of a tensor that stands for all samples of a batch is "
                           "not possible")
    import numpy

    return numpy.asarray(memoryview(self))


def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy() if copy else array


def __array_wrap__(self, array, context=None, return_scalar=False):
    """Results of NumPy's functions of tensors are tensors; of a predicate uint8, as torch's."""
    if array.dtype == bool:
        array = array.astype("uint8")
    return _C.from_numpy(array) if array.shape else _C.tensor(array)


# --- other dtypes and devices ---------------------------------------------------------------------


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a GPU: the current one, or that of a number or a device."""
    to = _C.device("cuda" if device is None else device)
    if to.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return self.to(to) if memory_format is None else self.to(to, memory_format=memory_format)


def pin_memory(self, device=None):
    """Refused without a GPU, as torch does, and with one: memory is not pinned here."""
    from . import cuda

    if not cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    raise NotImplementedError("pin_memory: memory is not pinned; copies to a GPU wait")


def record_stream(self, stream):
    """The memory is used in a stream by other code than this library's: it is given out again when
    what was asked there before the tensor's end is done. The library's own calls need none."""
    _C._stream_record(self, stream._at)


def type_(self, dtype=None, non_blocking=False):
    """The name of the tensor's type, or the tensor converted to a dtype or type."""
    from ._functions import dtypes

    if dtype is None:
        space = ".cuda" * self.is_cuda + ".sparse" * (self.layout is _C.sparse_coo)
        return f"torch{space}.{dtypes._scalar_type(self.dtype)}Tensor"
    dtype, kind = dtypes._dtype_of(dtype), dtypes._device_of(dtype)
    device = kind if kind and kind != self.device.type else self.device
    return self.to(device=device, dtype=dtype, non_blocking=non_blocking)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A new tensor of data, of self's dtype and device unless others are given."""
    device = self.device if device is None else device
    return _C.tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def new(self, *args, device=None, size=None):
    """A new tensor of self's dtype: of sizes (not initialised), or of data."""
    if size is not None:
        return _C.empty(tuple(size), dtype=self.dtype)
    data = args[0] if len(args) == 1 else None
    if isinstance(data, Tensor):
        if data.dtype is not self.dtype:
            raise TypeError(f"expected {self.dtype} (got {data.dtype})")
        return data.detach()
    if hasattr(data, "_as_tensor"):  # a storage
        return data._as_tensor(self.dtype)
    if hasattr(data, "__len__") and not isinstance(data, (str, _C.Size)):
        return _C.tensor(data, dtype=self.dtype)
    return Tensor(*args).to(self.dtype) if args else _C.empty(0, dtype=self.dtype)


def itself(self):
    """The tensor itself."""
    return self


def never(self, *args):
    """False."""
    return False


# --- layouts --------------------------------------------------------------------------------------


def _of_layout(name, layout):
    """A method that only sparse tensors have: their class overrides it."""

    def method(self, *args, **kwargs):
        raise RuntimeError(f"{name} expected {layout} tensor layout but got Strided")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name} of a sparse tensor."
    return method


def sparse_dim(self):
    """0: a strided tensor has dense dimensions alone."""
    return 0


def dense_dim(self):
    """The number of dimensions, all of which are dense."""
    return self.dim()


def _to_layout(name):
    def method(self, *args, **kwargs):
        from ._sparse import calls

        return calls()[name](self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}, of torch.sparse."
    return method


_ONLY_SPARSE = {
    "coalesce": "sparse coordinate", "is_coalesced": "sparse coordinate",
    "indices": "sparse coordinate", "_indices": "sparse coordinate", "values": "sparse",
    "_values": "sparse", "_nnz": "sparse",
    "crow_indices": "sparse row compressed", "col_indices": "sparse row compressed",
    "ccol_indices": "sparse column compressed", "row_indices": "sparse column compressed",
}  # fmt: skip


# --- views that change the tensor itself ----------------------------------------------------------


def _view_in_place(name):
    view = vars(Tensor)[name]

    def method(self, *args, **kwargs):
        if not self.requires_grad or _C.is_grad_enabled():
            return self._become(view(self, *args, **kwargs))
        if self.is_leaf:  # it stays one
            return self._become(view(self.detach(), *args, **kwargs).requires_grad_())
        with _C.inference_mode(False):  # its history goes on
            return self._become(view(self, *args, **kwargs))

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"{name}, of the tensor itself."
    return method


# --- Python's protocols ---------------------------------------------------------------------------


def __format__(self, spec):
    if self.dim() == 0 and type(self) is Tensor and not self.is_meta:
        return self.item().__format__(spec)
    return object.__format__(self, spec)


def __contains__(self, element):
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, "
            f"but you passed in a {type(element)}."
        )
    return bool((element == self).any())


def __reversed__(self):
    return self.flip(0) if self.dim() else self


def __complex__(self):
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return complex(self.item())


def __array_namespace__(self, *, api_version=None):
    """The functions of the Python array API standard."""
    from . import array_api

    return array_api._of_version(api_version)


def to_device(self, device, /, *, stream=None):
    """The tensor on a device, as the array API standard calls it."""
    if stream is not None:
        raise ValueError("to_device(): there are no streams here")
    return self.to(device)


def __copy__(self):
    other = self.detach()
    if self.requires_grad:
        other.requires_grad_()
    return _dressed(other, type(self), dict(self.__dict__))


def check_leaf(t):
    """deepcopy() is of leaves alone."""
    if not t.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment."
        )


def __deepcopy__(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    check_leaf(self)
    import copy

    other = _copied(self.detach(), memo, type(self))
    if self.requires_grad:
        other.requires_grad_()
    other = _dressed(other, type(self), {})
    memo[id(self)] = other
    if self.grad is not None:
        other.grad = copy.deepcopy(self.grad, memo)
    for name, value in self.__dict__.items():
        other.__dict__[name] = copy.deepcopy(value, memo)
    if type(self) is not _C.Tensor:
        import copyreg

        for name in copyreg._slotnames(type(self)):
            if hasattr(self, name):
                setattr(other, name, copy.deepcopy(getattr(self, name), memo))
    return other


def _copied(plain, memo, cls):
    """A copy of plain over a copy of its memory, which is made once for a memo, as tensors that
    share memory share it afterwards; a Parameter is a copy by itself, as torch's."""
    size = plain.itemsize
    whole = _C._memory_bytes(plain) // size
    if issubclass(cls, _C.Parameter) or not plain.is_cpu or not plain.numel():
        return _C.Tensor.clone(plain)
    key = "memory", plain.data_ptr() - plain.storage_offset() * size, plain.dtype
    if key not in memo:
        copy = _C.Tensor.clone(plain)
        if (copy.numel(), copy.stride(), 0) == (whole, plain.stride(), plain.storage_offset()):
            memo[key] = copy, plain  # whose address is another's after its end
            return copy
        memo[key] = plain.as_strided((whole,), (1,), 0).clone(), plain
    memory, _ = memo[key]
    return memory.as_strided(plain.shape, plain.stride(), plain.storage_offset()).detach()


def __reduce_ex__(self, protocol):
    if self.is_meta:
        args = (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)
        if type(self) is Tensor and not self.__dict__:
            return _rebuild_meta, args
        return _rebuild_as, (None if type(self) is Tensor else type(self), self.__dict__, *args)
    plain, order = _lying(self.detach())
    data = _bytes_of(plain.contiguous().cpu(), protocol)
    args = (data, self.dtype, tuple(plain.shape), self.requires_grad, order)
    if not self.is_cpu:
        args += (self.device,)
    if type(self) is Tensor and not self.__dict__:
        return _rebuild, args
    cls = None if type(self) is Tensor else type(self)
    return _rebuild_as, (cls, self.__dict__, *args)


def _lying(plain):
    """plain with its dimensions as the elements lie in memory, and these dimensions' numbers: none
    where they lie in order or not densely."""
    if plain.is_contiguous():
        return plain, ()
    order = tuple(sorted(range(plain.dim()), key=lambda d: -plain.stride(d)))
    lying = plain.permute(order)
    return (lying, order) if lying.is_contiguous() else (plain, ())


def __dir__(self):
    return sorted({*dir(type(self)), *self.__dict__})


def _bytes_of(plain, protocol):
    import pickle

    raw = _C._raw(plain)
    if protocol >= 5:
        return pickle.PickleBuffer(raw)
    return bytes(memoryview(raw))


def _rebuild(data, dtype, shape, requires_grad, order=(), device="cpu"):
    """What a pickle of a tensor calls; order: which dimension of the tensor each of shape is."""
    if 0 in shape:
        t = _C.empty(shape, dtype=dtype)
    else:
        t = _C.frombuffer(data, dtype=dtype).reshape(shape).clone()
    t = t.permute([order.index(d) for d in range(len(order))]) if order else t
    t = t.to(device)
    return t.requires_grad_() if requires_grad else t


def _rebuild_meta(dtype, shape, stride, requires_grad):
    """The same of a tensor without memory."""
    from ._functions.creation import empty_strided

    t = empty_strided(shape, stride, dtype=dtype, device="meta")
    return t.requires_grad_() if requires_grad else t


def _rebuild_as(cls, attributes, *args):
    """The same, of a subclass or with attributes; of meta tensors the dtype comes first."""
    rebuild = _rebuild_meta if isinstance(args[0], _C.dtype) else _rebuild
    return _dressed(rebuild(*args), cls or Tensor, attributes)


def _function_state(f):
    """torch.add is pickled by its name, as torch pickles it; other functions in C as always."""
    if getattr(_C, f.__name__, None) is f and not getattr(f.__self__, "__name__", None):
        return _function_named, (f.__name__,)
    return f.__reduce__()


def _function_named(name):
    return getattr(_C, name)


def _generator_state(generator):
    """What a copy or a pickle of a generator is made of."""
    if generator.device.type == "cpu":
        return _generator_again, (generator.get_state(),)
    return _generator_again, (generator.get_state(), generator.device)


def _generator_again(state, device="cpu"):
    generator = _C.Generator(device)
    generator.set_state(state)
    return generator


def _dressed(t, cls, attributes):
    if cls is not Tensor:
        t = Tensor._make_subclass(cls, t, t.requires_grad)
    if attributes:
        t.__dict__.update(attributes)
    return t


# --- subclasses with a __torch_function__ of their own --------------------------------------------

# What is not asked about: how a class works, and what C asks by itself.
_SILENT = frozenset(
    """__class__ __new__ __init__ __init_subclass__ __subclasshook__ __torch_function__ __dict__
    __doc__ __module__ __weakref__ __hash__ __setattr__ __getattribute__ __delattr__ __dictoffset__
    __weaklistoffset__ __getitem__ __setitem__ __delitem__ __iter__ __array_priority__ __slots__
    __reduce__ __sizeof__ __getstate__ __getattr__ __annotations__ __basicsize__ __itemsize__
    as_subclass _make_subclass""".split()
)


def __init_subclass__(cls, **kwargs):
    """A subclass whose __torch_function__ is neither Tensor's nor disabled hears of attributes and
    methods, too, that no row gives."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    name = "__torch_function__"
    own = next(vars(c)[name] for c in cls.__mro__ if name in vars(c))
    if own is vars(Tensor)[name] or own is _C._disabled_torch_function_impl:
        return
    from .overrides import _dress

    _dress(cls)


# --- names ----------------------------------------------------------------------------------------

# Other names of rows: torch has them as functions, methods and in-place methods.
ALIASES = {
    "absolute": "abs", "arccos": "acos", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2",
    "clip": "clamp", "concat": "cat", "concatenate": "cat", "divide": "div", "fix": "trunc",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "moveaxis": "movedim",
    "multiply": "mul", "negative": "neg", "not_equal": "ne", "subtract": "sub",
    "swapaxes": "transpose", "swapdims": "transpose", "true_divide": "div",
    "unsafe_chunk": "chunk", "unsafe_split": "split", "unsafe_split_with_sizes":
    "split_with_sizes",
}  # fmt: skip

# Methods of _functions, which is loaded at the first use of one of them.
LATER = """
acosh acosh_ addbmm addbmm_ addmm_ addmv addmv_ addr addr_ adjoint apply_ arccosh arccosh_
arctanh arctanh_ argwhere atanh atanh_ baddbmm baddbmm_ bernoulli_ bincount
conj_physical conj_physical_ cross cumsum_ diag diag_embed diagflat diagonal_scatter diff
dim_order dist
dsplit fill_diagonal_ fliplr flipud ger hsplit index_copy index_copy_
index_fill index_fill_ inner is_nonzero is_same_size istft kron lu msort nanmean nansum narrow_copy
new_empty_strided resize_ resize_as_
polygamma polygamma_ positive put put_ random_ ravel repeat_interleave reshape_as rot90
select_scatter slice_scatter stft sum_to_size take tensor_split tile trace unique
unique_consecutive vdot
view_as vsplit where
""".split()


class _Later:
    """Stands for a method until _functions is loaded."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __get__(self, obj, cls=None):
        load()
        return getattr(cls if obj is None else obj, self.name)


def load():
    """Attaches what _functions gives."""
    from . import _functions, storage

    for name, f in (_functions._methods() | storage.METHODS).items():
        setattr(Tensor, name, f)


def aliases():
    """Rows by their other names, as functions."""
    own = {}
    for alias, name in ALIASES.items():
        for end in ("", "_"):
            f = getattr(_C, name + end, None)
            if f is not None:
                own[alias + end] = f
    return own


# --- attaching ------------------------------------------------------------------------------------


def _attach():
    special = (
        numpy, __array__, __array_wrap__, cuda, pin_memory, new_tensor, new, __format__,
        __array_namespace__, to_device, record_stream,
        __contains__, __reversed__, __complex__, __copy__, __deepcopy__, __reduce_ex__, __dir__,
        sparse_dim, dense_dim,
    )  # fmt: skip
    for f in special:
        f.__qualname__ = "Tensor." + f.__name__
        setattr(Tensor, f.__name__, f)
    copyreg.pickle(_C.Generator, _generator_state)
    copyreg.pickle(type(_C.add), _function_state)
    Tensor.type = type_
    Tensor.__init_subclass__ = classmethod(__init_subclass__)
    Tensor.__array_priority__ = 1000
    Tensor.__rdiv__ = Tensor.__rtruediv__  # torch's older name
    for name in ("resolve_conj", "resolve_neg", "to_dense"):
        setattr(Tensor, name, itself)
    for name in ("is_pinned", "is_conj", "is_neg"):
        setattr(Tensor, name, never)
    for name, layout in _ONLY_SPARSE.items():
        setattr(Tensor, name, _of_layout(name, layout))
    for name in ("smm", "sparse_mask", "sspaddmm", "to_sparse", "to_sparse_coo", "to_sparse_csc",
                 "to_sparse_csr"):  # fmt: skip
        setattr(Tensor, name, _to_layout(name))
    for name in LATER:
        setattr(Tensor, name, _Later(name))
    for name in ("is_set_to", "is_shared", "set_", "share_memory_", "storage", "storage_type",
                 "untyped_storage"):  # fmt: skip
        setattr(Tensor, name, _Later(name))
    own = vars(Tensor)  # getattr between two setattr costs Python a cache of the class
    for name in (_missing.PLANNED["Tensor"] + _missing.TENSOR_LEFT_OUT).split():
        if name not in own:
            setattr(Tensor, name, _missing.Missing("Tensor", name))
    for alias, name in ALIASES.items():
        for end in ("", "_"):
            f = own.get(name + end)
            if f is not None:
                setattr(Tensor, alias + end, f)
    for name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"):
        setattr(Tensor, name + "_", _view_in_place(name))


_attach()
