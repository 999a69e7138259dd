"""Programs that import torch: what `import torch` finds, and names that only say the truth."""

import os
import subprocess
import sys

import pytest

import tensorh as torch
from tensorh import nn


def run(program, *args):
    env = os.environ | {"PYTHONWARNINGS": "error"}
    return subprocess.run([sys.executable, *args, "-c", program], capture_output=True, text=True,
                          env=env, check=False)  # fmt: skip


def test_import_torch_finds_tensorh():
    r = run("""
import tensorh.as_torch
import importlib.metadata
import torch, torch.nn as nn, torch.backends.cudnn, torch.utils.data
import torch.nn.functional as F
import tensorh
from torch.optim.lr_scheduler import StepLR
assert torch is tensorh and nn is tensorh.nn and F is tensorh.nn.functional
assert torch.__name__ == "torch" and torch.torch is torch
assert importlib.metadata.version("torch") == torch.__version__
assert torch.backends.cudnn.__name__ == "torch.backends.cudnn"
try:
    import torch.mtia
except ModuleNotFoundError as e:
    print(e)
""")
    assert r.returncode == 0, r.stderr
    assert r.stdout.startswith("No module named 'torch.mtia' (left out on purpose")


def test_a_program_is_run(tmp_path):
    (tmp_path / "beside.py").write_text("x = 2\n")
    path = tmp_path / "program.py"
    path.write_text("import sys, torch, beside\nprint(torch.ones(beside.x).sum().item(), sys.argv)")
    command = [sys.executable, "-m", "tensorh.as_torch", str(path), "a"]
    r = subprocess.run(command, capture_output=True, text=True, check=False)
    assert r.stdout == f"2.0 {[str(path), 'a']}\n", r.stderr


def test_another_torch_is_not_hidden():
    r = run("import sys, types; sys.modules['torch'] = types.ModuleType('torch')\n"
            "import tensorh.as_torch")  # fmt: skip
    assert "ImportError: torch has been imported already" in r.stderr


def every():
    from tensorh import _absent

    return sorted(_absent._MODULES)


@pytest.mark.parametrize("name", every())
def test_modules_of_names_alone(name):
    """Each of them can be imported, its classes have no objects, its functions say why."""
    import importlib

    if name in ("cuda", "onnx"):  # files, to which the table adds
        return
    module = importlib.import_module("tensorh." + name)
    for word, value in vars(module).items():
        if word.startswith("__") or getattr(value, "__module__", "").startswith("tensorh"):
            continue
        if isinstance(value, type) and issubclass(value, Exception):
            continue
        if isinstance(value, type) and value.__doc__ and value.__doc__.startswith("Not here"):
            assert not isinstance(torch.ones(1), value) and not isinstance(nn.Linear(1, 1), value)
            with pytest.raises(NotImplementedError, match=f"torch.*{word} is not here: "):
                value(1, a=2)


def test_answers_that_are_true():
    from tensorh.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, StateDictType
    from tensorh.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
    from tensorh.fx import wrap
    from tensorh.fx.experimental.symbolic_shapes import free_symbols, guard_or_false

    assert not isinstance(torch.ones(1), DTensor)
    assert wrap("name") == "name" and guard_or_false(3 > 2) and free_symbols(3) == set()
    assert Shard(0) == Shard(0) != Shard(1) and repr(Shard(dim=1)) == "Shard(dim=1)"
    assert Replicate() != Shard(0) and ShardingStrategy.FULL_SHARD.name == "FULL_SHARD"
    assert StateDictType.FULL_STATE_DICT is torch.distributed.fsdp.StateDictType.FULL_STATE_DICT
    fx, nested = torch.fx.symbolic_trace, torch.nested.nested_tensor
    for call in (distribute_tensor, FullyShardedDataParallel, fx, nested, torch.onnx.ONNXProgram):
        with pytest.raises(NotImplementedError, match=r"torch\.\S+ is not here: "):
            call(nn.ReLU())
    with pytest.raises(AttributeError, match="within the module of CUDA"):
        torch.cuda.jiterator  # noqa: B018


def test_bases_of_modules():
    from tensorh.nn.modules.batchnorm import _BatchNorm
    from tensorh.nn.modules.conv import _ConvNd, _ConvTransposeNd
    from tensorh.nn.modules.dropout import _DropoutNd

    from tensorh.nn.modules.loss import _Loss, _WeightedLoss

    assert isinstance(nn.BatchNorm2d(2), _BatchNorm) and isinstance(nn.Conv1d(1, 1, 1), _ConvNd)
    assert isinstance(nn.ConvTranspose2d(1, 1, 1), _ConvTransposeNd)
    assert not isinstance(nn.Conv2d(1, 1, 1), _ConvTransposeNd)
    assert isinstance(nn.Dropout2d(), _DropoutNd) and isinstance(nn.MSELoss(), _Loss)
    assert isinstance(nn.CrossEntropyLoss(), _WeightedLoss)
    assert isinstance(nn.LSTM(1, 1), nn.RNNBase) and isinstance(nn.GRUCell(1, 1), nn.RNNCellBase)

    class Own(_BatchNorm):
        def _check_input_dim(self, input):
            assert input.dim() == 2

    torch.manual_seed(0)
    own, known, x = Own(3), nn.BatchNorm1d(3), torch.randn(5, 3)
    for _ in range(2):
        assert own(x).equal(known(x))
    assert own.state_dict().keys() == known.state_dict().keys()
    assert all(a.equal(b) for a, b in zip(own.buffers(), known.buffers(), strict=True))
    own.eval(), known.eval()
    assert own(x).equal(known(x)) and repr(own) == repr(known).replace("BatchNorm1d", "Own")


def test_sync_batch_norm_of_one_rank():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    made, x = nn.SyncBatchNorm.convert_sync_batchnorm(model), torch.randn(2, 1, 5, 5)
    assert type(made[1]) is nn.SyncBatchNorm
    known = nn.BatchNorm2d(2)
    assert made(x).equal(known(made[0](x)))
    assert made[1].running_mean.equal(known.running_mean)


def test_small_names():
    assert torch.hub._get_torch_home().endswith("torch")
    with torch.serialization.safe_globals([set]):
        assert torch.serialization.get_safe_globals() == [set]
    assert torch.serialization.get_safe_globals() == []
    from tensorh.nn.modules.transformer import _get_activation_fn
    from tensorh.optim.optimizer import ParamsT, _use_grad_for_differentiable

    assert _get_activation_fn("relu")(torch.tensor(-1.0)) == 0 and ParamsT
    optimizer = torch.optim.SGD([torch.ones(1)], 0.1)
    assert not _use_grad_for_differentiable(lambda self: torch.is_grad_enabled())(optimizer)
    with pytest.raises(RuntimeError, match="accelerator device"):
        torch.ones(1).pin_memory()
    with pytest.raises(RuntimeError, match="xpu"):
        nn.Linear(1, 1).xpu()
    assert torch.distributions.constraints.interval(lower_bound=0, upper_bound=1).check(
        torch.tensor(0.5))  # fmt: skip


def test_names_of_torch_c():
    from tensorh import _C
    from tensorh.utils._foreach_utils import _group_tensors_by_device_and_dtype as group

    assert _C._get_tracing_state() is None and _C._log_api_usage_once("a") is None
    assert _C.DispatchKeySet(_C.DispatchKey.CPU).has("CPU")
    with pytest.raises(AttributeError, match=r"'torch\._C' has no attribute 'nothing'"):
        _C.nothing  # noqa: B018
    a, b = torch.ones(1), torch.ones(1, dtype=torch.float64)
    lists = group([[a, b, a], [b, a, b]], with_indices=True)
    assert lists[a.device, a.dtype][1] == [0, 2] and lists[b.device, b.dtype][0][1][0] is a
    assert torch.distributed.Backend.NCCL == "nccl"


def test_foreach():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([[3.0]])
    lists = torch._foreach_add([a, b], [b[0], a[:1]], alpha=2)
    assert [t.tolist() for t in lists] == [[7, 8], [[5]]]
    assert torch._foreach_mul_([a, b], [2.0, 3.0]) is None and a.tolist() == [2, 4]
    torch._foreach_addcdiv_([a], [torch.ones(2)], [torch.tensor([2.0, 4.0])], value=-2)
    assert a.tolist() == [1, 3.5]
    torch._foreach_addcmul_([a], [a], [a], [2.0])
    assert a.tolist() == [3, 28]
    assert [t.item() for t in torch._foreach_norm([torch.tensor([3.0, 4.0])])] == [5]
    torch._foreach_maximum_([a], [torch.tensor([5.0, 5.0])])
    assert a.tolist() == [5, 28] and torch._foreach_minimum([a], 6.0)[0].tolist() == [5, 6]
    assert torch._foreach_pow(2.0, [a[:1]])[0].tolist() == [32]
    torch._foreach_copy_([a], [torch.zeros(2)])
    torch._foreach_zero_([b])
    assert a.tolist() == [0, 0] and b.item() == 0
    with pytest.raises(RuntimeError, match="same number of tensors"):
        torch._foreach_add([a], [a, a])
    with pytest.raises(AttributeError):
        torch._foreach_nothing  # noqa: B018


def test_more_names():
    from tensorh.utils.flop_counter import FlopCounterMode

    from tensorh import _C
    from tensorh.utils.data.dataloader import _BaseDataLoaderIter, _DatasetKind

    assert not torch.is_autocast_enabled("mps") and not isinstance(3, torch.SymInt)
    assert _C._nn._parse_to("cpu", torch.float64)[:2] == (torch.device("cpu"), torch.float64)
    assert _C._nn.gelu(torch.zeros(1)) == 0 and _DatasetKind.Iterable == 1
    loader = torch.utils.data.DataLoader([1, 2])
    assert isinstance(iter(loader), _BaseDataLoaderIter)
    with pytest.raises(NotImplementedError, match="mode"):
        FlopCounterMode()
    with pytest.raises(NotImplementedError, match="mode"), torch.overrides.TorchFunctionMode():
        pass
    with pytest.warns(FutureWarning, match="normal_"):
        torch.nn.init.normal(torch.empty(2))
    if not torch.cuda.is_available():
        torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())


def test_scatter_and_gather():
    from tensorh.nn.parallel.scatter_gather import gather, scatter

    x = torch.arange(6).view(3, 2)
    parts = scatter((x, {"a": 1}), ["cpu", "cpu"])
    assert [p[0].tolist() for p in parts] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert parts[1][1] == {"a": 1}
    assert gather([{"x": p[0]} for p in parts], "cpu")["x"].equal(x)


def test_paths_of_pytrees():
    from collections import namedtuple

    from tensorh.utils import _pytree as tree

    P = namedtuple("P", "x y")
    data = {"a": [1, 2], "b": P(3, (4,))}
    paths = [tree.keystr(path) for path, _ in tree.tree_leaves_with_path(data)]
    assert paths == ["['a'][0]", "['a'][1]", "['b'].x", "['b'].y[0]"]
    assert tree.tree_map_with_path(lambda p, x: x * len(p), data) == {"a": [2, 4], "b": P(6, (12,))}
    assert all(tree.key_get(data, p) == x for p, x in tree.tree_flatten_with_path(data)[0])
    assert list in tree.SUPPORTED_NODES and tree._get_node_type(data) is dict


def test_multi_grad_hook():
    from tensorh.autograd.graph import Node, register_multi_grad_hook

    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    seen = []
    with register_multi_grad_hook((a, b), lambda grads: seen.append([g.tolist() for g in grads])):
        (a * 2 + b * 3).sum().backward()
    (a * 2 + b * 3).sum().backward()
    assert seen == [[[2.0, 2.0], [3.0, 3.0]]]
    assert isinstance((a * 2).grad_fn, Node)


# --- attention ------------------------------------------------------------------------------------


def test_flex_attention():
    from tensorh.nn.attention import SDPBackend, sdpa_kernel
    from tensorh.nn.attention.flex_attention import create_block_mask, flex_attention

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 9, 8, dtype=torch.float64, requires_grad=True) for _ in range(3))
    causal = lambda b, h, i, j: i >= j  # noqa: E731
    mask = create_block_mask(causal, None, None, 9, 9, BLOCK_SIZE=4)
    with sdpa_kernel(SDPBackend.MATH):
        known = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=mask), known)
    slopes = torch.tensor([0.5, 0.25, 0.1, 0.0], dtype=torch.float64)
    bias = lambda s, b, h, i, j: s + slopes[h] * (j - i)  # noqa: E731
    places = torch.arange(9)
    added = slopes.view(4, 1, 1) * (places - places.view(9, 1))
    known = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=added)
    r, lse = flex_attention(q, k, v, score_mod=bias, return_lse=True)
    torch.testing.assert_close(r, known)
    torch.testing.assert_close(lse, (q @ k.mT / 8**0.5 + added).logsumexp(-1))
    r.sum().backward()
    assert q.grad.isfinite().all() and k.grad.abs().sum() > 0
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]] and mask.shape == (1, 1, 9, 9)


def test_flex_attention_of_queries_that_see_nothing():
    from tensorh.nn.attention.flex_attention import create_block_mask, flex_attention

    q = torch.randn(1, 2, 4, 8, requires_grad=True)
    k = torch.randn(1, 1, 4, 8)
    mask = create_block_mask(lambda b, h, i, j: i > j, 1, 1, 4, 4)
    r, lse = flex_attention(q, k, k, block_mask=mask, enable_gqa=True, return_lse=True)
    assert r[:, :, 0].eq(0).all() and lse[0, 0, 0] == -torch.inf
    r.sum().backward()
    assert q.grad.isfinite().all() and q.grad[:, :, 0].eq(0).all()
    with pytest.raises(ValueError, match="enable_gqa"):
        flex_attention(q, k, k)


# --- what packages of others ask for --------------------------------------------------------------


def test_torch_functional():
    from tensorh.functional import cdist, einsum

    assert torch.functional.tensordot is torch.tensordot and einsum is torch.einsum
    assert cdist is torch.cdist and len(torch.functional.__all__) == 22
    with pytest.raises(AttributeError, match=r"'torch\.functional' has no attribute 'nothing'"):
        torch.functional.nothing  # noqa: B018


def test_names_below_torch_c():
    from tensorh._C._functorch import is_batchedtensor

    from tensorh import _C

    seen = []
    torch.vmap(lambda x: seen.append(is_batchedtensor(x)) or x * 2)(torch.ones(3))
    assert seen == [True] and not is_batchedtensor(torch.ones(3)) and not is_batchedtensor(3)
    assert _C._functorch.is_batchedtensor is is_batchedtensor
    with pytest.raises(NotImplementedError, match="vmap"):
        _C._functorch._add_batch_dim(torch.ones(1), 0, 1)


def test_signatures_of_calls():
    """inspect.signature of a model is that of its call, of a class that of __init__."""
    from inspect import getfullargspec, signature

    class Own(nn.Module):
        def __init__(self, a, b=2):
            super().__init__()

    class Called(Own):
        def __call__(self, x, y=3):
            return x

    for model in (nn.Linear(1, 1), nn.Sequential(), Own(1)):
        assert str(signature(model)) == "(*args, **kwargs)"
    assert str(signature(Own)) == "(a, b=2)" and str(signature(Called(1))) == "(x, y=3)"
    assert list(signature(nn.Linear).parameters)[:2] == ["in_features", "out_features"]
    assert getfullargspec(nn.Sequential().forward).args == ["self", "input"]


def test_parts_of_checkpoints():
    from tensorh.utils import checkpoint as c

    x, y = torch.ones(2, requires_grad=True) * 2, torch.ones(2)
    a, b, n = c.detach_variable((x, y, 3))
    assert a.is_leaf and a.requires_grad and a.equal(x) and not b.requires_grad and n == 3
    with pytest.raises(RuntimeError, match="list"):
        c.detach_variable([x])
    c.check_backward_validity((x, 1))
    with pytest.warns(UserWarning, match="None of the inputs"):
        c.check_backward_validity((y, 1))
    assert c.get_device_states(x, [y]) == ([], []) and c.set_device_states([], []) is None
    w = torch.ones(2, requires_grad=True)
    with c.set_checkpoint_early_stop(False):
        out = c.checkpoint(torch.exp, w, use_reentrant=False, context_fn=c.noop_context_fn)
    out.sum().backward()
    assert w.grad.equal(w.detach().exp())


def test_dictionaries_of_tensors():
    from copy import deepcopy

    from tensorh.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef

    a, b = torch.ones(2), torch.ones(2)
    d = WeakIdKeyDictionary({a: 1})
    d[b] = [2]
    ref, left = TensorWeakRef(a), WeakIdRef(b)
    assert d[a] == 1 and len(d) == 2 and a in d and 3 not in d and torch.ones(2) not in d
    assert ref() is a and left == WeakIdRef(b) and left != WeakIdRef(a)
    other = deepcopy(d)
    assert other[b] == [2] and other[b] is not d[b] and d.copy()[b] is d[b]
    assert (d | {a: 5})[a] == 5 and ({a: 5} | d)[a] == 1 and len(d.keyrefs()) == 2
    del b
    assert len(d) == 1 and [k is a for k in d] == [True] and left() is None and left != ref.ref
    del d[a]
    assert not d
    with pytest.raises(TypeError, match="weak reference to 'int'"):
        d[3] = 1


def test_inner_operators():
    x = torch.arange(3.0)
    copy = torch.ops.aten._to_copy.default(x, dtype=torch.int32)
    assert copy.dtype is torch.int32 and torch.ops.aten._to_copy(x).data_ptr() != x.data_ptr()
    assert torch.ops.aten.alias(x).data_ptr() == x.data_ptr()
    eye = torch.eye(2).to_sparse()
    assert torch.ops.aten._sparse_addmm(torch.ones(2, 2), eye, torch.ones(2, 2)).sum() == 8


def test_small_names_of_packages():
    from tensorh import Future, TensorType
    from tensorh._tensor_str import PRINT_OPTS, _tensor_str
    from tensorh.nn.init import _no_grad_fill_
    from tensorh.utils.data._utils.worker import _generate_state
    from tensorh.utils.data.dataloader import _collate_fn_t, _worker_init_fn_t

    assert isinstance(torch.futures.Future(), Future) and not isinstance(torch.ones(1), TensorType)
    assert _tensor_str(torch.ones(2, 2), 0) == "[[1., 1.],\n [1., 1.]]"
    assert _tensor_str(torch.ones(2, 2), 9) == "[[1., 1.],\n          [1., 1.]]"
    assert _tensor_str(torch.tensor(3.5, dtype=torch.float64), 0) == "3.5000"
    assert PRINT_OPTS.threshold == 1000
    with pytest.raises(AssertionError, match="why"):
        torch._assert(torch.tensor(False), "why")
    assert torch._assert(True, "") is None and _no_grad_fill_(torch.ones(1), 2) == 2
    assert torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    assert not torch.cuda._initialized or torch.cuda.is_available()
    words = _generate_state(12345678901234567, 3)  # torch's
    assert words == [2377215042, 2522568625, 962964186, 3121645664]
    assert _collate_fn_t and _worker_init_fn_t
