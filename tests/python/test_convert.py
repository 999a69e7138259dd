"""Tensors to and from NumPy, DLPack, buffers, pickles, copies; dtypes and devices."""
import copy
import ctypes
import gc
import io
import pickle
import sys
import weakref

import numpy as np
import pytest

import tensorh as torch

NUMPY = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
         "complex64", "complex128", "uint16", "uint32", "uint64"]  # fmt: skip
ALL = [*NUMPY, "bfloat16"]


def array(name, shape=(2, 3)):
    return (np.arange(int(np.prod(shape))) % 2 if name == "bool" else np.arange(
        int(np.prod(shape)))).astype(name).reshape(shape)  # fmt: skip


# --- NumPy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_shares_memory_both_ways(name):
    a = array(name)
    t = torch.from_numpy(a)
    assert t.dtype is getattr(torch, name) and tuple(t.shape) == a.shape
    b = t.numpy()
    assert b.dtype == a.dtype and np.shares_memory(a, b) and (a == b).all()
    a[0, 1] = 1
    assert t[0, 1].item() == 1 and b[0, 1] == 1


@pytest.mark.parametrize("name", NUMPY)
def test_strides_are_kept(name):
    a = array(name, (4, 6))[::2, 1::2].T
    t = torch.from_numpy(a)
    assert tuple(s * a.itemsize for s in t.stride()) == a.strides and t.tolist() == a.tolist()
    assert np.asarray(t).strides == a.strides


def test_the_array_outlives_and_is_released():
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    t = torch.from_numpy(a)
    u = t[1:]
    assert sys.getrefcount(a) > before
    del t
    assert u.tolist() == [1, 2] and sys.getrefcount(a) > before
    del u
    assert sys.getrefcount(a) == before


def test_the_tensor_outlives_its_array():
    t = torch.arange(4.0)
    b = t.numpy()
    del t
    gc.collect()
    assert b.tolist() == [0, 1, 2, 3]


def test_array_protocol():
    t = torch.tensor([[1.5, 2.5]])
    assert np.array(t).tolist() == [[1.5, 2.5]] and not np.shares_memory(np.array(t), t.numpy())
    assert np.asarray(t, dtype=np.int32).dtype == np.int32
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert t.__array__(np.float64).dtype == np.float64
    assert np.array(torch.tensor(3)).shape == ()


def test_numpys_functions_of_tensors_give_tensors():
    t = torch.tensor([0.0, 1.0])
    assert isinstance(np.sin(t), torch.Tensor) and np.sin(t)[1] == np.sin(np.float32(1))
    assert np.less(t, 1).dtype is torch.uint8
    assert np.concatenate([t, t]).shape == (4,)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "<", "=="])
def test_operators_with_arrays_and_their_numbers(op):
    t, a = torch.tensor([1.0, 4.0]), np.array([3.0, 2.0])
    for x, y in ((t, a), (a, t), (t, np.float64(2)), (np.float64(2), t), (t, np.float32(3)),
                 (np.float32(3), t), (np.int64(3), t), (t, np.int64(3))):  # fmt: skip
        got = eval(f"x {op} y", {"x": x, "y": y})
        p, q = (v.numpy() if isinstance(v, torch.Tensor) else v for v in (x, y))
        expected = eval(f"p {op} q", {"p": p, "q": q})
        assert isinstance(got, torch.Tensor)
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)
    assert (t @ a).item() == 11 and (a @ t).item() == 11


def test_what_numpy_cannot_have():
    with pytest.raises(TypeError, match="bfloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(x)
    assert x.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(BufferError):
        memoryview(x)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: np.ones(3)[::-1], ValueError), (lambda: np.array(["a"]), TypeError),
        (lambda: np.ones(2, ">f4"), ValueError), (lambda: [1], TypeError),
        (lambda: np.array([object()]), TypeError), (lambda: np.array(["2020"], "M8[D]"), TypeError),
        (lambda: b"ab", TypeError), (lambda: None, TypeError),
    ],
)  # fmt: skip
def test_arrays_that_are_no_tensor(make, error):
    with pytest.raises(error):
        torch.from_numpy(make())


def test_read_only_memory_stays_so():
    a = np.arange(3.0)
    a.flags.writeable = False
    t = torch.from_numpy(a)
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)
    assert not t.numpy().flags.writeable and not t[1:].numpy().flags.writeable
    assert (t + 1).numpy().flags.writeable
    with pytest.raises((BufferError, TypeError)):
        (ctypes.c_char * 24).from_buffer(t)  # which asks for memory to write


def test_a_tensor_is_a_buffer():
    t = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    m = memoryview(t)
    assert m.format == "i" and m.shape == (2, 3) and m.tolist() == t.tolist()
    assert bytes(m) == np.arange(6, dtype=np.int32).tobytes() and not m.readonly
    assert memoryview(t.t()).strides == (4, 12)
    with pytest.raises(BufferError):
        io.BytesIO().write(t.t())
    t.t_()
    assert m.shape == (2, 3) and m.tolist()[1] == [3, 4, 5]


@pytest.mark.parametrize("name", "int64 uint64 int32 uint8 float64 bool".split())
def test_an_array_prints_as_one_of_numpys_own_type(name):
    t = torch.arange(2, dtype=torch.uint8).to(getattr(torch, name))
    own = np.arange(2, dtype=np.uint8).astype(name)
    assert repr(t.numpy()) == repr(own) and t.numpy().dtype.char == own.dtype.char
    assert repr(np.asarray(t[1])) == repr(np.asarray(own[1]))


def test_memory_formats_of_cpu_and_is_contiguous():
    t = torch.ones(2, 3, 4, 4)
    assert t.cpu(memory_format=torch.preserve_format) is t is t.cpu()
    last = t.cpu(memory_format=torch.channels_last)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert not last.is_contiguous(memory_format=torch.preserve_format)
    assert t.is_contiguous(memory_format=torch.preserve_format)
    with pytest.raises(RuntimeError, match="rank 4"):
        torch.ones(2).cpu(memory_format=torch.channels_last)
    for bad in ((1,), ()):
        with pytest.raises(TypeError):
            t.cpu(*bad, other=2)


def test_memory_that_is_not_aligned_is_copied_where_that_is_asked_for_and_else_refused():
    data = bytearray(range(9))
    with pytest.raises(RuntimeError, match="aligned to 2 bytes, as bfloat16 needs; copy it"):
        torch.frombuffer(data, dtype=torch.bfloat16, offset=1)
    odd = np.frombuffer(data, np.int32, offset=1)
    for make in (torch.tensor, torch.as_tensor, torch.asarray):
        assert make(odd).tolist() == odd.tolist()
    with pytest.raises(RuntimeError, match="aligned to 4 bytes, as int32 needs"):
        torch.from_numpy(odd)
    with pytest.raises(RuntimeError, match="aligned to 4 bytes, as int32 needs"):
        torch.asarray(odd, copy=False)


def test_frombuffer():
    data = bytearray(range(8))
    t = torch.frombuffer(data, dtype=torch.int16)
    assert t.tolist() == np.frombuffer(data, np.int16).tolist()
    t[0] = -1
    assert data[0] == 255
    assert torch.frombuffer(data, dtype=torch.uint8, count=2, offset=3).tolist() == [3, 4]
    assert torch.frombuffer(data, dtype=torch.bfloat16).numel() == 4
    with pytest.raises(BufferError):
        data.append(1)
    del t
    gc.collect()
    for bad in ({"count": 9}, {"offset": 8}, {"offset": 1}, {"count": 0}, {"offset": -1}):
        with pytest.raises(ValueError):
            torch.frombuffer(data, dtype=torch.int32, **bad)
    with pytest.raises(RuntimeError, match="read-only"):
        torch.frombuffer(b"abcd", dtype=torch.uint8).zero_()
    with pytest.raises(TypeError, match='"dtype"'):
        torch.frombuffer(bytearray(8))


def test_buffers_without_strides_or_with_pointers_are_refused():
    for scalar in (np.datetime64("2020-01-01"), np.timedelta64(3)):
        for take in (torch.tensor, torch.as_tensor, lambda o: torch.tensor([o]), torch.Tensor):
            with pytest.raises(TypeError):
                take(scalar)
        with pytest.raises(TypeError):
            torch.ones(2)[scalar]
    given = pytest.importorskip("_testbuffer")
    rows = given.ndarray(list(range(6)), shape=[2, 3], format="l", flags=given.ND_PIL)
    with pytest.raises(BufferError):
        torch.tensor(rows)


# --- DLPack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMPY)
def test_dlpack_to_numpy_and_back(name):
    t = torch.from_numpy(array(name, (4, 6)))[::2, 1:4]
    a = np.from_dlpack(t)
    assert a.dtype == np.dtype(name) and a.tolist() == t.tolist()
    assert np.shares_memory(a, t.numpy())
    u = torch.from_dlpack(a)
    assert u.dtype is t.dtype and u.stride() == t.stride() and u.data_ptr() == t.data_ptr()
    assert torch.from_dlpack(array(name).T).tolist() == array(name).T.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1), (2, 3, 4, 5)])
def test_dlpack_shapes(shape):
    a = np.random.default_rng(0).random(shape)
    t = torch.from_dlpack(a)
    assert t.shape == shape and t.tolist() == a.tolist()
    assert np.from_dlpack(t).shape == shape
    assert torch.from_dlpack(t).tolist() == a.tolist()


def test_dlpack_of_bfloat16():
    t = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    assert torch.from_dlpack(t.__dlpack__(max_version=(1, 0))).tolist() == [1.5, -2.0]
    assert torch.from_dlpack(t).dtype is torch.bfloat16


def test_dlpack_owners():
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    t = torch.from_dlpack(a)
    assert sys.getrefcount(a) > before
    v = t[1:]
    del t
    assert v.tolist() == [1, 2]
    del v
    assert sys.getrefcount(a) == before
    t = torch.arange(3.0)
    b = np.from_dlpack(t)
    del t
    gc.collect()
    assert b.tolist() == [0, 1, 2]


def test_a_dlpack_capsule_is_taken_once():
    t = torch.arange(3)
    capsule = t.__dlpack__()
    assert torch.utils.dlpack.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="only once"):
        torch.from_dlpack(capsule)
    del t, capsule
    t = torch.arange(3)
    unused = t.__dlpack__(max_version=(1, 0)), torch.utils.dlpack.to_dlpack(t)
    del unused, t
    gc.collect()


def test_dlpack_requests():
    t = torch.arange(3.0)
    assert tuple(t.__dlpack_device__()) == (1, 0)
    copied = torch.from_dlpack(t.__dlpack__(max_version=(1, 0), copy=True))
    assert copied.data_ptr() != t.data_ptr() and copied.tolist() == t.tolist()
    assert torch.from_dlpack(t, copy=True).data_ptr() != t.data_ptr()
    with pytest.raises(BufferError, match="gradient"):
        torch.ones(1, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError):
        t.__dlpack__(stream=3)
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        t.__dlpack__(max_version=1)
    with pytest.raises((AttributeError, TypeError)):
        torch.from_dlpack(3)
    with pytest.raises(BufferError):
        torch.from_dlpack(np.ones(3)[::-1])


def test_dlpack_of_read_only_memory():
    a = np.arange(3.0)
    a.flags.writeable = False
    t = torch.from_dlpack(a)
    with pytest.raises(RuntimeError, match="read-only"):
        t.zero_()
    assert not np.from_dlpack(t).flags.writeable
    with pytest.raises(BufferError):
        t.__dlpack__()
    assert torch.from_dlpack(t.__dlpack__(copy=True)).add_(1).tolist() == [1, 2, 3]


# --- pickles and copies ---------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ALL)
def test_pickles(name, protocol):
    for t in (torch.arange(6).to(getattr(torch, name)).reshape(2, 3).t(), torch.zeros(0, 2).to(
            getattr(torch, name)), torch.ones((), dtype=getattr(torch, name))):  # fmt: skip
        u = pickle.loads(pickle.dumps(t, protocol))
        assert u.dtype is t.dtype and u.shape == t.shape and u.tolist() == t.tolist()
        u.fill_(1)
    assert t.item() == 1


def test_pickles_of_small_types():
    for x in (torch.float32, torch.device("cpu"), torch.Size([2, 3]), torch.channels_last,
              torch.strided):  # fmt: skip
        y = pickle.loads(pickle.dumps(x))
        assert y == x and type(y) is type(x)
        assert copy.deepcopy(x) == x
    assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32


class Named(torch.Tensor):
    pass


def test_pickles_keep_grad_attributes_and_class():
    t = torch.ones(2, requires_grad=True)
    t.label = "w"
    u = pickle.loads(pickle.dumps(t))
    assert u.requires_grad and u.label == "w" and type(u) is torch.Tensor
    n = Named([1.0, 2.0])
    n.label = [n.dtype]
    m = pickle.loads(pickle.dumps(n))
    assert type(m) is Named and m.label == [torch.float32] and m.tolist() == [1, 2]


def test_pickles_out_of_band():
    buffers = []
    t = torch.arange(1000.0)
    text = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(text) < 300 and len(buffers) == 1
    assert pickle.loads(text, buffers=buffers).tolist() == t.tolist()


def test_copies():
    t = torch.ones(2, requires_grad=True)
    t.grad, t.label = torch.tensor([3.0, 4.0]), [1]
    shallow, deep = copy.copy(t), copy.deepcopy(t)
    assert shallow.data_ptr() == t.data_ptr() and shallow.label is t.label and shallow.requires_grad
    assert deep.data_ptr() != t.data_ptr() and deep.label == [1] and deep.label is not t.label
    assert deep.requires_grad and deep.is_leaf and deep.grad.tolist() == [3, 4]
    assert deep.grad.data_ptr() != t.grad.data_ptr()
    a, b = copy.deepcopy([t, t])
    assert a is b
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(t * 2)
    assert type(copy.deepcopy(Named([1.0]))) is Named


# --- dtypes and devices ---------------------------------------------------------------------------

METHODS = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
           "long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8",
           "bool": "bool", "cfloat": "complex64", "cdouble": "complex128"}  # fmt: skip


@pytest.mark.parametrize("method, name", METHODS.items())
def test_conversions_by_method(method, name):
    t = torch.tensor([0.0, 1.0, 2.5])
    u = getattr(t, method)()
    assert u.dtype is getattr(torch, name) and getattr(u, method)() is u
    if name != "bfloat16":
        assert u.tolist() == np.array([0, 1, 2.5]).astype(name).tolist()
    assert getattr(t, method)(memory_format=torch.preserve_format).dtype is u.dtype


def test_every_form_of_to():
    t, i = torch.ones(2), torch.ones(2, dtype=torch.int64)
    same = [t.to(), t.to("cpu"), t.to(torch.float32), t.to(t), t.to(torch.device("cpu")),
            t.to(device="cpu"), t.to(dtype=torch.float32), t.to("cpu", torch.float32),
            t.to("cpu", non_blocking=True), t.to(None), t.cpu(), t.contiguous(),
            t.type_as(t), t.type(torch.float32)]  # fmt: skip
    assert all(s is t for s in same)
    changed = [t.to(torch.int64), t.to("cpu", torch.int64), t.to(i), t.to(dtype=torch.int64),
               t.to(torch.int64, True, True), t.to("cpu", torch.int64, True, True), t.type_as(i),
               t.to(torch.int64, memory_format=torch.contiguous_format), t.type(torch.int64),
               t.type("torch.LongTensor"), t.type(torch.LongTensor)]  # fmt: skip
    assert all(c.dtype is torch.int64 and c.tolist() == [1, 1] for c in changed)
    copied = t.to(torch.float32, copy=True)
    assert copied is not t and copied.data_ptr() != t.data_ptr()
    assert t.to("meta").device.type == "meta" and t.to("meta").shape == (2,)
    for bad in (1.5, "float32", "nowhere", object()):
        with pytest.raises((TypeError, RuntimeError)):
            t.to(bad)
    with pytest.raises(RuntimeError):
        t.cuda()
    p = torch.nn.Parameter(t)
    assert p.to("cpu") is p and p.to(torch.float32) is p and p.contiguous() is p and p.float() is p
    w = torch.ones(2, requires_grad=True)
    assert w.to("cpu").is_leaf and not w.to(torch.float64).is_leaf


def test_memory_formats():
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.stride() == (24, 1, 8, 2) and y.tolist() == x.tolist()
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert x.to(memory_format=torch.channels_last).stride() == y.stride()
    assert torch.empty(1, 2, 3, 4, memory_format=torch.channels_last).stride() == y.stride()
    assert torch.zeros_like(x, memory_format=torch.channels_last).stride() == y.stride()
    assert x.clone(memory_format=torch.channels_last).stride() == y.stride()
    with pytest.raises(RuntimeError, match="rank 4"):
        torch.ones(2).contiguous(memory_format=torch.channels_last)
    with pytest.raises(TypeError):
        x.is_contiguous("channels_last")
    assert repr(torch.channels_last) == "torch.channels_last"
    assert x.layout is torch.strided and repr(torch.strided) == "torch.strided"


def test_limits_are_numpys():
    for name in ("float16", "float32", "float64"):
        mine, theirs = torch.finfo(getattr(torch, name)), np.finfo(name)
        for word in ("bits", "eps", "max", "min", "tiny", "resolution"):
            assert getattr(mine, word) == pytest.approx(float(getattr(theirs, word)), rel=1e-3)
    for name in ("uint8", "int8", "int16", "int32", "int64"):
        mine, theirs = torch.iinfo(getattr(torch, name)), np.iinfo(name)
        assert (mine.bits, mine.min, mine.max) == (theirs.bits, theirs.min, theirs.max)
    assert torch.finfo(torch.bfloat16).max == 3.3895313892515355e38 and torch.finfo().bits == 32
    assert repr(torch.finfo(torch.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    for bad in (lambda: torch.finfo(torch.int8), lambda: torch.iinfo(torch.float32)):
        with pytest.raises(TypeError):
            bad()


def test_promotion():
    t, i = torch.ones(2), torch.ones(2, dtype=torch.int32)
    table = [((t, i), "float32"), ((i, 1.5), "float32"), ((i, 2), "int32"), ((1, 2), "int64"),
             ((i, torch.tensor(1.0, dtype=torch.float64)), "float64"), ((t, 1j), "complex64"),
             ((t.double(), 1j), "complex128"), ((True, i), "int32")]  # fmt: skip
    for (a, b), name in table:
        assert torch.result_type(a, b) is getattr(torch, name)
    assert torch.promote_types(torch.int8, torch.uint8) is torch.int16
    assert torch.can_cast(torch.int32, torch.float16)
    assert not torch.can_cast(torch.float16, torch.int8)
    assert torch.float64.to_complex() is torch.complex128
    assert torch.complex64.to_real() is torch.float32
    with pytest.raises(RuntimeError):
        torch.int8.to_complex()


def test_default_dtype():
    assert torch.get_default_dtype() is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor([1.0]).dtype is torch.float64 and torch.zeros(1).dtype is torch.float64
        assert torch.tensor(1j).dtype is torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)
    for bad in (torch.int32, "float32", None):
        with pytest.raises(TypeError):
            torch.set_default_dtype(bad)


def test_no_wrapper_and_no_memory_is_left():
    t = Named([1.0, 2.0])
    seen = weakref.ref(t)
    capsule, m, u = t.__dlpack__(), memoryview(t), t.numpy()
    del t
    gc.collect()
    assert seen() is not None
    del capsule, m, u
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    "args",
    [
        ("cpu", "float64"),
        (torch.float64, "cpu"),
        ("cpu", torch.int8, 1),
        ("cpu", torch.int8, False, False, False),
    ],
)
def test_to_takes_no_other_words(args):
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        torch.ones(2).to(*args)


def test_types_that_are_none():
    x = torch.ones(2)
    with pytest.raises(ValueError, match="invalid type: 'foo'"):
        x.type("foo")
    with pytest.raises(TypeError, match="dtype must be"):
        x.type(3)
    assert x.type(float).dtype == x.type("torch.DoubleTensor").dtype == torch.float64
    assert x.view(torch.float32).data_ptr() == x.data_ptr()
    assert x.view(torch.int32).tolist() == [0x3F800000] * 2  # the bits of 1.0
    with pytest.raises(TypeError, match="size"):
        x.view("a")


def test_a_generator_is_on_the_cpu():
    for device in (None, "cpu", torch.device("cpu")):
        assert torch.Generator(device=device).device == torch.device("cpu")
    for device in ("cuda", "foo", "meta"):
        with pytest.raises(RuntimeError):
            torch.Generator(device)
    with pytest.raises(TypeError, match="device"):
        torch.Generator([])


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_pickles_of_meta_tensors(protocol):
    plain = torch.ones(2, 3, device="meta")
    for t in (plain, plain.double().t(), plain[:, 1:], torch.empty(0, 2, device="meta")):
        for given in (t, t.detach().requires_grad_(t.is_floating_point())):
            got = pickle.loads(pickle.dumps(given, protocol))
            assert (got.device, got.dtype, got.shape) == (given.device, given.dtype, given.shape)
            assert got.stride() == given.stride() and got.requires_grad == given.requires_grad
    linear = pickle.loads(pickle.dumps(torch.nn.Linear(2, 3, device="meta"), max(protocol, 2)))
    assert linear.weight.is_meta and type(linear.weight) is torch.nn.Parameter
    plain.note = "kept"
    assert pickle.loads(pickle.dumps(plain, protocol)).note == "kept"


def test_deepcopy_keeps_that_memory_is_shared():
    x = torch.arange(6.0).view(2, 3)
    parts = [x, x.view(-1), x[1], x.t(), x[:, 1:], x.detach(), x.expand(2, 2, 3), x[:0]]
    for order in (parts, parts[::-1], parts[2:] + parts[:2]):
        copies = copy.deepcopy(order)
        for c, o in zip(copies, order, strict=True):
            assert torch.equal(c, o) and c.stride() == o.stride()
            assert c.storage_offset() == o.storage_offset() or not o.numel()
            assert c.is_leaf and not c._is_view()
        copies[next(i for i, o in enumerate(order) if o is x)].fill_(9)
        shared = [c.reshape(-1)[-1].item() for c in copies if c.numel()]
        assert shared == [9] * len(shared)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    apart = copy.deepcopy(x), copy.deepcopy(x[1])
    apart[0].zero_()
    assert apart[1].tolist() == [3, 4, 5]


def test_deepcopy_of_storages_and_of_sparse_gradients():
    a = torch.arange(6.0)
    x, (s, u), y = copy.deepcopy([a, [a.storage(), a.untyped_storage()], a[2:]])
    x.add_(1)
    assert list(s) == x.tolist() and y.tolist() == x[2:].tolist()
    assert u.data_ptr() == s.data_ptr() == x.data_ptr() != a.data_ptr() and a[0] == 0
    p = torch.tensor([0.0, 2.0]).to_sparse().requires_grad_()
    (p * 3).to_dense().sum().backward()
    assert copy.deepcopy(p).grad.to_dense().tolist() == [0, 3]


def test_deepcopy_of_modules_and_gradients():
    m = torch.nn.Module()
    m.register_buffer("a", torch.zeros(4))
    m.b = m.a[1:]
    m.p = torch.nn.Parameter(torch.zeros(2))
    m.q = torch.nn.Parameter(m.p.data)
    c = copy.deepcopy(m)
    c.a.fill_(3)
    c.p.data.fill_(3)  # a Parameter is a copy by itself
    assert c.b.tolist() == [3] * 3 and c.q.tolist() == [0, 0] and m.a.tolist() == [0] * 4
    x = torch.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    y, again = copy.deepcopy([x, x])
    assert y is again and y.requires_grad and y.grad.tolist() == [2] * 3 and y.grad is not x.grad
    (y * 3).sum().backward()
    assert y.grad.tolist() == [5] * 3 and x.grad.tolist() == [2] * 3
    small = [copy.deepcopy(torch.tensor(v)) for v in (1, 2.5, True)]
    assert [t.item() for t in small] == [1, 2.5, True]
    many = copy.deepcopy([torch.ones(2) * i for i in range(50)])  # addresses do not come again
    assert [t.tolist() for t in many] == [[i, i] for i in range(50)]
