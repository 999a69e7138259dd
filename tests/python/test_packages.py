"""Packages that programs import beside the operators: what they say is true."""

import pickle
import warnings
from collections import OrderedDict, deque, namedtuple
from functools import partial

import pytest

import tensorh as torch
from tensorh.nn.utils import rnn
from tensorh.utils import _pytree as pytree

nn = torch.nn


def test_the_version_is_torchs_and_compares_as_one():
    v = torch.__version__
    assert v.startswith("2.15.0+tensorh") and torch.version.__version__ == v
    assert v >= "2.9" and v > (2, 10) and v >= (2, 15) and v > "2.15.0rc1" and not v < "2.15"
    assert v < "2.15.1" and v < "3" and v != "2.15.0" and v == str(v)
    assert v < "not a version" and isinstance(v, str)


def test_what_would_be_compiled_stays_as_it_is():
    def f(x):
        return x * 2

    model = nn.Linear(2, 2)
    assert torch.compile(f) is f and torch.compile(model, mode="max-autotune") is model
    assert torch.compile(fullgraph=True)(f) is f and model.compile() is None
    assert torch.jit.script(model) is model and torch.jit.trace(f, torch.ones(1)) is f
    assert torch.jit.ignore(f) is f and torch.jit.ignore(drop=True)(f) is f
    assert torch.compiler.disable(f) is f and torch.compiler.disable(recursive=False)(f) is f
    assert torch._dynamo.optimize("eager")(f) is f
    with torch.compiler.set_stance("force_eager"):
        assert not torch.compiler.is_compiling() and not torch.jit.is_scripting()
    assert not torch.onnx.is_in_onnx_export() and torch.jit.wait(torch.jit.fork(f, 3)) == 6
    for refused in (
        lambda: torch.jit.save(model, "x.pt"), lambda: torch.onnx.export(model, (), "x.onnx")
    ):  # fmt: skip
        with pytest.raises(NotImplementedError):
            refused()
    with pytest.raises(RuntimeError, match="eval mode"):
        torch.jit.freeze(model)
    with pytest.raises(RuntimeError, match="stance"):
        torch.compiler.set_stance("fast")


def test_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(torch.add)) is torch.add
    twice = pickle.loads(pickle.dumps(partial(torch.add, alpha=2)))
    assert twice(torch.ones(1), torch.ones(1)).tolist() == [3.0]
    assert pickle.loads(pickle.dumps(len)) is len
    assert pickle.loads(pickle.dumps("x".join))(["a", "b"]) == "axb"


def test_a_module_names_what_it_has():
    model = nn.Linear(2, 2)
    assert [n for n in dir(model) if not hasattr(model, n)] == []


# --- amp ------------------------------------------------------------------------------------------


def _step(scaler, value):
    p = nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([p], 1.0)
    scaler.scale((p * value).sum()).backward()
    scaler.unscale_(opt)
    grad = p.grad.clone()
    scaler.step(opt)
    scaler.update()
    return grad, p.detach()


def test_a_scaler_skips_steps_that_overflow_and_adapts():
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    grad, p = _step(scaler, 3.0)
    assert grad.tolist() == [3.0, 3.0] and p.tolist() == [-2.0, -2.0]
    _, p = _step(scaler, float("inf"))
    assert p.tolist() == [1.0, 1.0] and scaler.get_scale() == 4.0
    _step(scaler, 1.0)
    _step(scaler, 1.0)
    assert scaler.get_scale() == 8.0
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    opt = torch.optim.SGD([nn.Parameter(torch.ones(1))], 1.0)
    scaler.unscale_(opt)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(opt)
    with pytest.raises(AssertionError):
        torch.amp.GradScaler("cpu").update()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_amp_of_a_gpu_that_is_not_there_is_off():
    from tensorh.cuda.amp import GradScaler, autocast

    with pytest.warns(UserWarning, match="not available"):
        scaler, block = GradScaler(), autocast()
    assert not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    with block:
        assert (torch.ones(1) * 2).dtype == torch.float32
    grad, p = _step(scaler, 3.0)
    assert p.tolist() == [-2.0, -2.0]
    with torch.autocast("cpu", enabled=False):
        pass
    with pytest.raises(RuntimeError, match="toaster"):
        torch.autocast("toaster")


# --- packed sequences -----------------------------------------------------------------------------

LENGTHS = (2, 5, 3, 5, 1)


def _sequences():
    torch.manual_seed(0)
    return [torch.randn(n, 3) for n in LENGTHS]


def test_sequences_are_packed_and_padded_and_back():
    sequences = _sequences()
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [5, 4, 3, 2, 2] and packed.data.shape == (16, 3)
    assert torch.equal(packed.data[0], sequences[1][0])
    assert torch.equal(packed.data[5], sequences[1][1])
    for one, other in zip(rnn.unpack_sequence(packed), sequences, strict=True):
        assert torch.equal(one, other)
    padded, lengths = rnn.pad_packed_sequence(packed, True, -1.0, total_length=6)
    assert padded.shape == (5, 6, 3) and lengths.tolist() == list(LENGTHS)
    assert (padded[0, 2:] == -1).all() and torch.equal(padded[1, :5], sequences[1])
    left = rnn.pad_sequence(sequences, batch_first=True, padding_side="left")
    assert torch.equal(left[4, 4:], sequences[4]) and (left[4, :4] == 0).all()
    assert packed.to(torch.float64).data.dtype == torch.float64 and packed.cpu() is packed
    for name in "short", "char", "byte", "half":
        assert getattr(packed, name)().data.dtype == getattr(packed.data, name)().dtype
    for wrong, words in (
        (lambda: rnn.pack_sequence(sequences), "decreasing"),
        (lambda: rnn.pack_padded_sequence(torch.ones(3, 2, 1), [3]), "equal to batch_size"),
        (lambda: rnn.pack_padded_sequence(torch.ones(3, 2, 1), [3, 0]), "greater than 0"),
        (lambda: rnn.pack_padded_sequence(torch.ones(3, 2, 1), [4, 1]), "at most 3"),
        (lambda: rnn.pad_sequence([]), "empty"),
    ):
        with pytest.raises(RuntimeError, match=words):
            wrong()


@pytest.mark.parametrize(
    "options", [{}, {"bidirectional": True, "num_layers": 2}, {"batch_first": True}]
)
def test_an_lstm_gives_each_packed_sequence_what_it_has_alone(options):
    sequences = _sequences()
    lstm = nn.LSTM(3, 4, **options).double()
    sequences = [s.double() for s in sequences]
    n = 4 if options.get("bidirectional") else 1
    h0 = torch.arange(n * 5 * 4, dtype=torch.float64).reshape(n, 5, 4) / 50
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    out, (h, c) = lstm(packed, (h0, -h0))
    out.data.sum().backward()
    grad, total = lstm.weight_hh_l0.grad.clone(), 0
    for k, (s, y) in enumerate(zip(sequences, rnn.unpack_sequence(out), strict=True)):
        alone, (h1, c1) = lstm(s, (h0[:, k], -h0[:, k]))
        total = total + alone.sum()
        assert torch.allclose(y, alone, rtol=1e-12) and torch.allclose(h[:, k], h1, rtol=1e-12)
        assert torch.allclose(c[:, k], c1, rtol=1e-12)
    lstm.zero_grad()
    total.backward()
    assert torch.allclose(lstm.weight_hh_l0.grad, grad, rtol=1e-10)


# --- trees, storages, operators by name, hub ------------------------------------------------------


def test_trees_are_taken_apart_and_put_together():
    pair = namedtuple("pair", "a b")
    tree = {"x": [1, (2, pair(3, 4))], "y": None, "z": OrderedDict(q=deque([5], maxlen=3))}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4, None, 5] and spec.num_leaves == 6
    assert pytree.tree_unflatten(leaves, spec) == tree
    doubled = pytree.tree_map_only(int, lambda v: 2 * v, tree)
    assert doubled["x"] == [2, (4, pair(6, 8))] and doubled["z"]["q"].maxlen == 3
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [3, (4,)]) == [4, (6,)]
    assert pytree.tree_leaves([1, [2]], is_leaf=lambda v: v == [2]) == [1, [2]]
    two = pytree.tree_structure([1, 2])
    assert two == pytree.tree_structure([3, 4]) != pytree.tree_structure([1])
    with pytest.raises(ValueError):
        pytree.tree_map(max, [1], [1, 2])
    with pytest.raises(ValueError):
        pytree.tree_unflatten([1], spec)


def test_a_storage_is_the_memory_that_views_share():
    x = torch.arange(6.0)
    s = x[2:].untyped_storage()
    assert s.nbytes() == len(s) == 24 and s.data_ptr() == x.data_ptr() and s == x.untyped_storage()
    assert bytes(s.tolist()) == x.numpy().tobytes() and torch.is_storage(s)
    s.fill_(0)
    assert x.tolist() == [0.0] * 6 and s.clone().data_ptr() != s.data_ptr()
    with pytest.warns(UserWarning, match="TypedStorage"):
        typed = x.storage()
    typed[1] = 5
    assert x[1] == 5 and typed.size() == 6 and typed.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="size does not match"):
        s.copy_(torch.ones(2).untyped_storage())


def test_storages_are_made_of_sizes_sequences_and_buffers():
    s = torch.IntStorage([-1, 0, 4])
    assert type(s) is torch.TypedStorage and isinstance(s, torch.IntStorage)
    assert not isinstance(s, torch.FloatStorage) and s.type() == "torch.IntStorage"
    assert s.byte().tolist() == [255, 0, 4] and s.float().dtype is torch.float32
    assert len(torch.FloatStorage(5)) == 5 and torch.TypedStorage(dtype=torch.int8).nbytes() == 0
    assert torch.ShortStorage.from_buffer(bytearray([1, 2, 3, 4]), "big").tolist() == [258, 772]
    data = bytearray(range(8))
    assert torch.ShortStorage.from_buffer(data, "little", 1, 6).tolist() == [0x706]
    assert len(torch.ShortStorage.from_buffer(data, "little", offset=8)) == 0
    for count, offset, said in (
        (5, 0, "has only 4"), (2, 6, "has only 1"), (1 << 62, 0, "has only 4"),
        (-1, 9, "offset must"), (0, 9, "offset must"), (1, -2, "offset must"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            torch.ShortStorage.from_buffer(data, "little", count, offset)
    with pytest.raises(ValueError, match="has only 8"):
        torch.UntypedStorage.from_buffer(data, count=9)
    assert torch.UntypedStorage([1, 2, 300 % 256])[2] == 44
    s[1:] = 7
    assert torch.tensor(s, dtype=torch.int32).tolist() == [-1, 7, 7]
    assert torch.ones(3).storage_type() is torch.FloatStorage
    with pytest.raises(RuntimeError, match="Expected a Storage of type LongStorage"):
        torch.tensor(s, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="'device' cannot be specified"):
        torch.FloatStorage(2, device="cpu")
    with pytest.raises(TypeError, match="must be UntypedStorage"):
        torch.TypedStorage(wrap_storage=s, dtype=torch.int32)
    none = torch.TypedStorage([1, 2], dtype=torch.float16, device="meta")
    assert none.nbytes() == 4 and none.data_ptr() == 0
    with pytest.raises(NotImplementedError, match="Not available"):
        none[0]


def test_a_tensor_takes_the_memory_of_another_by_set_():
    x, t = torch.arange(6.0), torch.tensor([])
    assert t.set_(x) is t and t.is_set_to(x) and t.data_ptr() == x.data_ptr()
    t.set_(x.untyped_storage(), 1, (2, 2), (1, 2))
    assert t.tolist() == [[1, 3], [2, 4]] and t.untyped_storage() == x.untyped_storage()
    assert torch.FloatTensor(x).data_ptr() == x.data_ptr() and x.new(size=(2, 0)).shape == (2, 0)
    with pytest.raises(RuntimeError, match="Could not set"):
        t.set_(torch.ones(2, dtype=torch.int32))
    assert t.set_().shape == (0,)


def test_what_torchs_own_test_files_asked_for():
    p = torch.tensor([0.0, 1.0, 1.0])
    assert torch.bernoulli(p, out=torch.empty(3, dtype=torch.int8)).tolist() == [0, 1, 1]
    z = torch.ones(2, dtype=torch.complex64)
    assert torch.addcmul(z, z, z, value=2j).tolist() == [1 + 2j] * 2
    assert torch.addcdiv(z, z, 2 * z, value=2j).tolist() == [1 + 1j] * 2
    assert torch.full((2,), 3.0, out=torch.empty(0, dtype=torch.int64)).tolist() == [3, 3]
    assert torch.randint(7, (3,), dtype=torch.uint16).dtype is torch.uint16
    assert torch.asarray(torch.ones(2).__dlpack__(), copy=False).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="scalar type Long"):
        torch.nonzero(p, out=torch.empty(0))
    with pytest.raises(RuntimeError, match="same dimension as input"):
        torch.diff(p, prepend=torch.ones(1, 1))
    with pytest.raises(RuntimeError, match="complex Scalar to non-complex"):
        p.index_fill(0, torch.tensor([0]), 1j)
    with pytest.raises(RuntimeError, match="'from' to be less than 'to'"):
        p.random_(3, 3)
    with pytest.raises(RuntimeError, match="desired output type Int"):
        torch.add(p, p, out=torch.empty(3, dtype=torch.int32))
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        assert p[torch.tensor([1, 0, 1], dtype=torch.uint8)].tolist() == [0, 1]
    with pytest.raises(NotImplementedError, match="no data"):
        torch.ones(2, device="meta").cpu()


def test_gradcheck_of_a_batch():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x.sin() * x.unsqueeze(1), x, check_batched_grad=True)


def test_make_tensor_draws_within_its_range():
    make = torch.testing.make_tensor
    x = make((50,), dtype=torch.int8, device="cpu", low=-2, high=3, exclude_zero=True)
    assert -2 <= x.min() and x.max() <= 2 and not (x == 0).any()
    y = make(3, 4, dtype=torch.complex64, device="cpu", noncontiguous=True, requires_grad=True)
    assert y.shape == (3, 4) and not y.is_contiguous() and y.is_leaf
    with pytest.raises(ValueError, match="NaN"):
        make(2, dtype=torch.float32, device="cpu", low=float("nan"))


def test_from_file_shares_the_memory_of_a_file(tmp_path):
    name = str(tmp_path / "x")
    a = torch.from_file(name, True, 4, dtype=torch.int32)
    b = torch.IntStorage.from_file(name, True, 4)
    a.copy_(torch.arange(4))
    assert b.tolist() == [0, 1, 2, 3] and b.filename == name
    c = torch.from_file(name, size=3, dtype=torch.int32)
    c.fill_(9)
    assert b.tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="too few"):
        torch.from_file(name, size=5, dtype=torch.int32)
    d = torch.from_file(
        name, size=4, dtype=torch.float32, layout=torch.strided, device="cpu", requires_grad=True
    )
    assert d.requires_grad and d.is_leaf and torch.from_file(name).shape == (0,)
    for options, error in (
        ({"device": "meta"}, NotImplementedError),
        ({"layout": torch.sparse_coo}, NotImplementedError),
        ({"pin_memory": True}, RuntimeError),
        ({"sizes": 3}, TypeError),
    ):
        with pytest.raises(error):
            torch.from_file(name, size=2, **options)


def test_operators_have_the_names_that_they_have_inside_torch():
    x = torch.ones(2)
    assert torch.equal(torch.ops.aten.add.Tensor(x, x), x + x)
    assert torch.equal(torch.ops.aten.relu(x), x) and torch.ops.aten.linalg_qr.default is not None
    with pytest.raises(AttributeError, match="no attribute 'nms'"):
        torch.ops.torchvision.nms(x)
    with pytest.raises(OSError):
        torch.ops.load_library("x.so")


def test_hub_loads_from_a_folder(tmp_path):
    (tmp_path / "beside.py").write_text("SIZE = 3\n")
    (tmp_path / "hubconf.py").write_text(
        'from beside import SIZE\n\ndef net(n=SIZE):\n    """A net."""\n    return n\n'
    )
    torch.hub.set_dir(str(tmp_path / "kept"))
    folder = str(tmp_path)
    assert torch.hub.load(folder, "net", source="local") == 3
    assert torch.hub.load(folder, "net", 5, source="local") == 5
    assert torch.hub.list(folder, source="local") == ["net"]
    assert torch.hub.help(folder, "net", source="local") == "A net."
    with pytest.raises(RuntimeError, match="Cannot find callable other"):
        torch.hub.load(folder, "other", source="local")
    with pytest.raises(NotImplementedError, match="local"):
        torch.hub.load("pytorch/vision", "resnet18")
    weights = tmp_path / "w.pt"
    torch.save({"a": torch.ones(2)}, weights)
    loaded = torch.hub.load_state_dict_from_url(weights.as_uri())
    assert loaded["a"].tolist() == [1.0, 1.0] and (tmp_path / "kept/checkpoints/w.pt").exists()
    with pytest.raises(RuntimeError, match="invalid hash"):
        torch.hub.download_url_to_file(weights.as_uri(), str(tmp_path / "x"), "00")
    assert not (tmp_path / "x").exists() and len(list(tmp_path.glob("tmp*"))) == 0


def test_how_it_was_built_is_a_text():
    assert "tensor.h" in torch.__config__.show()
    assert str(torch.get_num_threads()) in torch.__config__.parallel_info()


def test_missing_packages_say_why():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("sparse_bsr_tensor", "mtia"):
            with pytest.raises(AttributeError, match="planned|left out"):
                getattr(torch, name)
