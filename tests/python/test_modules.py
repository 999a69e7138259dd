"""Modules that stand on the library's rows: what Python adds to them, and torch's answers."""

import copy
import inspect
import pickle

import pytest

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn
from tensorh.nn.utils import parametrizations, parametrize, prune

X = torch.tensor([-4.0, -1.0, -0.25, 0.0, 0.5, 2.0, 7.0])

# --- activations ---------------------------------------------------------------------------------

ACTIVATIONS = {  # module: what torch gives for X
    "ELU()": [-0.981684, -0.632121, -0.221199, 0.0, 0.5, 2.0, 7.0],
    "CELU(0.5)": [-0.499832, -0.432332, -0.196735, 0.0, 0.5, 2.0, 7.0],
    "SELU()": [-1.725899, -1.111331, -0.38889, 0.0, 0.525351, 2.101402, 7.354907],
    "Hardshrink()": [-4.0, -1.0, 0.0, 0.0, 0.0, 2.0, 7.0],
    "Softshrink(1)": [-3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 6.0],
    "Hardsigmoid()": [0.0, 0.333333, 0.458333, 0.5, 0.583333, 0.833333, 1.0],
    "Hardswish()": [0.0, -0.333333, -0.114583, 0.0, 0.291667, 1.666667, 7.0],
    "Hardtanh(-2, 3)": [-2.0, -1.0, -0.25, 0.0, 0.5, 2.0, 3.0],
    "LogSigmoid()": [-4.01815, -1.313262, -0.825939, -0.693147, -0.474077, -0.126928, -0.000911],
    "Mish()": [-0.072592, -0.303401, -0.129927, 0.0, 0.375245, 1.943959, 6.999989],
    "ReLU6()": [0.0, 0.0, 0.0, 0.0, 0.5, 2.0, 6.0],
    "Tanhshrink()": [-3.000671, -0.238406, -0.005081, 0.0, 0.037883, 1.035972, 6.000002],
    "Threshold(0.5, 20)": [20.0, 20.0, 20.0, 20.0, 20.0, 2.0, 7.0],
    "Softmin(0)": [0.904793, 0.045047, 0.021279, 0.016572, 0.010051, 0.002243, 1.5e-05],
    "RReLU().eval()": [-0.916667, -0.229167, -0.057292, 0.0, 0.5, 2.0, 7.0],
}


@pytest.mark.parametrize("text", ACTIVATIONS)
def test_activations_give_what_torch_gave(text):
    torch.testing.assert_close(
        eval("nn." + text)(X), torch.tensor(ACTIVATIONS[text]), rtol=1e-5, atol=1e-6
    )


def test_rrelu_draws_where_torch_draws():
    torch.manual_seed(1)
    y = nn.RReLU()(torch.tensor([-1.0, 2.0, -3.0]))
    after = torch.rand(1).item()
    torch.manual_seed(1)
    u = torch.rand(2, dtype=torch.float64) * (1 / 3 - 1 / 8) + 1 / 8  # two are not above 0
    assert after == torch.rand(1).item()
    torch.testing.assert_close(y, torch.tensor([-u[0].item(), 2.0, -3 * u[1].item()]))


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    y = F.alpha_dropout(torch.randn(20000), 0.3, True)
    assert abs(y.mean().item()) < 0.05 and abs(y.std().item() - 1) < 0.05
    y = F.feature_alpha_dropout(torch.ones(50, 4, 5), 0.5, True)
    assert all(len(set(channel.tolist())) == 1 for channel in y.flatten(0, 1))
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        F.alpha_dropout(X, 2)


def test_hardtanh_takes_what_its_limits_were_called_once():
    with pytest.warns(FutureWarning, match="min_value"):
        assert repr(nn.Hardtanh(min_value=-3)) == "Hardtanh(min_val=-3, max_val=1.0)"
    with pytest.raises(AssertionError, match="must be greater than min_val"):
        nn.Hardtanh(2, 1)


def test_softmax2d_takes_images_alone():
    assert nn.Softmax2d()(torch.zeros(4, 2, 2)).unique().tolist() == [0.25]
    with pytest.raises(ValueError, match="expected input to be 3D or 4D, got 1D instead"):
        nn.Softmax2d()(X)
    with pytest.warns(UserWarning, match="softmin"):
        nn.Softmin()(X)


# --- recurrent networks --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_a_cell_is_one_step_of_its_network(kind):
    torch.manual_seed(0)
    deep, cell = getattr(nn, kind)(3, 4), getattr(nn, kind + "Cell")(3, 4)
    cell.load_state_dict({k.replace("_l0", ""): v for k, v in deep.state_dict().items()})
    x, h = torch.randn(5, 2, 3), None
    for t in range(5):
        h = cell(x[t], h)
    last = h if kind != "LSTM" else h[0]
    torch.testing.assert_close(deep(x)[0][-1], last)
    torch.testing.assert_close(cell(x[0, 0]), [s[0] for s in cell(x[0])] if kind == "LSTM"
                               else cell(x[0])[0])  # fmt: skip
    with pytest.raises(ValueError, match=f"{kind}Cell: Expected input to be 1D or 2D, got 3D"):
        cell(x)
    with pytest.raises(ValueError, match=f"{kind}: Expected input to be 2D or 3D, got 1D"):
        deep(x[0, 0])


@pytest.mark.parametrize("text", [
    "nn.GRU(3, 4, 2, bidirectional=True)", "nn.RNN(3, 4, nonlinearity='relu', batch_first=True)",
    "nn.LSTM(3, 4, 2, proj_size=2)",
])  # fmt: skip
def test_packed_sequences_have_the_results_that_they_have_alone(text):
    torch.manual_seed(0)
    m, parts = eval(text), [torch.randn(n, 3) for n in (2, 4, 1)]
    packed, last = m(nn.utils.rnn.pack_sequence(parts, enforce_sorted=False))
    last = last if isinstance(last, torch.Tensor) else last[0]
    for i, (one, x) in enumerate(zip(nn.utils.rnn.unpack_sequence(packed), parts, strict=True)):
        y, h = m(x)
        torch.testing.assert_close(one, y)
        torch.testing.assert_close(last[:, i], h if isinstance(h, torch.Tensor) else h[0])


def test_options_of_recurrent_networks():
    m = nn.LSTM(3, 4, 2, proj_size=2)
    assert repr(m) == "LSTM(3, 4, proj_size=2, num_layers=2)"
    assert [tuple(w.shape) for w in m.all_weights[1]] == [(16, 2), (16, 2), (16,), (16,), (2, 4)]
    assert nn.RNN(3, 4, nonlinearity="relu").mode == "RNN_RELU" and nn.GRU(3, 4).proj_size == 0
    assert repr(nn.RNNCell(3, 4, False, "relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"
    for text, words in [
        ("nn.GRU(3, 4, proj_size=2)", "only supported for LSTM"),
        ("nn.LSTM(3, 4, proj_size=4)", "has to be smaller than hidden_size"),
        ("nn.LSTM(3, 4, proj_size=-1)", "positive integer or zero"),
        ("nn.RNN(3, 4, nonlinearity='elu')", "Unknown nonlinearity 'elu'"),
        ("nn.GRU(3, 0)", "hidden_size must be greater than zero"),
        ("nn.GRU(3, 4, 0)", "num_layers must be greater than zero"),
    ]:
        with pytest.raises(ValueError, match=words):
            eval(text)


# --- norms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
def test_a_cell_may_have_no_hidden_elements(kind):
    h = getattr(nn, kind)(3, 0)(torch.ones(2, 3))
    assert (h[0] if isinstance(h, tuple) else h).shape == (2, 0)


def test_norms_of_groups_and_of_the_mean_square():
    with pytest.raises(ValueError, match="more than 1 value per channel when training"):
        nn.GroupNorm(3, 3)(torch.ones(1, 3, 1))
    x = torch.arange(12.0).reshape(1, 4, 3)
    y = nn.GroupNorm(2, 4)(x).reshape(2, 6)
    torch.testing.assert_close(y.mean(1), torch.zeros(2))
    torch.testing.assert_close(y.var(1, correction=0), torch.ones(2))
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    y = nn.RMSNorm(3)(x)
    torch.testing.assert_close((y * y).mean(-1), torch.ones(1, 4))
    assert repr(nn.RMSNorm(4)) == "RMSNorm((4,), eps=None, elementwise_affine=True)"


# --- attention and transformers ------------------------------------------------------------------


def fill(module):
    """Parameters that do not depend on draws."""
    with torch.no_grad():
        for k, p in enumerate(module.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()) * 1.0 + k).reshape(p.shape) / 2)
    return module


def numbers(*size):
    n = torch.empty(size).numel()
    return torch.cos(torch.arange(n) * 0.7).reshape(size)


SUMS = {  # options of MultiheadAttention: the sums of output and weights times 1, 2, 3, ..
    "": [-46.10233, 86.61362, -46.09989],
    "kdim=5, vdim=3": [51.58848, 86.63924, 49.60322],
    "add_bias_kv=True": [45.36669, 112.21635, 46.71516],
    "add_zero_attn=True, batch_first=True": [-58.84298, 111.41266, -52.90923],
    "bias=False, kdim=5": [-0.48873, 86.62097, 2.86006],
}


def weighed(t):
    return (t * torch.arange(1.0, t.numel() + 1).reshape(t.shape)).sum().item()


def attention_sums(torch, nn, text):
    m = fill(eval(f"nn.MultiheadAttention(4, 2, {text})", {"nn": nn}))
    q, k, v = numbers(3, 2, 4), numbers(5, 2, m.kdim), numbers(5, 2, m.vdim)
    if m.batch_first:
        q, k, v = (t.transpose(0, 1) for t in (q, k, v))
    hidden = torch.tensor([[False] * 5, [False, False, False, True, True]])
    y, w = m(q, k, v, hidden, attn_mask=torch.ones(3, 5).triu(2).bool())
    alone = m(q, k, v, need_weights=False)
    assert alone[1] is None
    return [weighed(y), weighed(w), weighed(alone[0])]


@pytest.mark.parametrize("text", SUMS)
def test_attention_with_all_its_options(text):
    torch.testing.assert_close(attention_sums(torch, nn, text), SUMS[text], rtol=1e-4, atol=1e-4)


def test_attention_refuses_as_torch():
    m, q = nn.MultiheadAttention(4, 2, kdim=3), torch.ones(2, 1, 4)
    assert [name for name, _ in m.named_parameters()][:3] == [
        "q_proj_weight", "k_proj_weight", "v_proj_weight"]  # fmt: skip
    assert m.in_proj_weight is None and not m._qkv_same_embed_dim
    k, same = torch.ones(2, 1, 3), nn.MultiheadAttention(4, 2)
    for call, kind, words in [
        (lambda: m(q, k, q, attn_mask=torch.ones(3, 3)), RuntimeError, "should be"),
        (lambda: m(q, k, q, is_causal=True), RuntimeError, "Need attn_mask"),
        (lambda: m(q[0, 0], k, q), AssertionError, "2D or batched 3D"),
        (lambda: m(q, k[0], q), AssertionError, "to be 3-D"),
        (lambda: same(q, q[0], q), AssertionError, "to be 3-D"),
        (lambda: same(q, q, q[:1]), AssertionError, "does not match value shape"),
        (lambda: same(k, q, q), AssertionError, "was expecting embedding dimension of 4"),
        (lambda: same(q, q, q, q[0]), AssertionError, "expecting key_padding_mask shape of"),
        (lambda: same(q, q, q, attn_mask=q[0, 0]), AssertionError, "2-D or 3-D but found 1-D"),
        (lambda: nn.MultiheadAttention(5, 2), AssertionError, "divisible by num_heads"),
        (lambda: nn.MultiheadAttention(0, 2), ValueError, "greater than 0"),
    ]:
        with pytest.raises(kind, match=words):
            call()


TRANSFORMERS = {
    "": [92.26894, -0.46926, 27.26604, 52.0],
    "activation='gelu', norm_first=True, batch_first=True": [36.3018, 10.54933, 11.24557, 52.0],
    "bias=False, activation=nn.functional.silu": [3.4073, -4.26581, 27.16042, 26.0],
}


def transformer_sums(torch, nn, text):
    m = fill(eval(f"nn.Transformer(4, 2, 1, 2, 6, 0.0, {text})", {"nn": nn}))
    s, t = numbers(5, 2, 4), numbers(3, 2, 4)
    if m.batch_first:
        s, t = s.transpose(0, 1), t.transpose(0, 1)
    hidden = torch.tensor([[False] * 5, [False, False, False, True, True]])
    y = m(s, t, tgt_mask=m.generate_square_subsequent_mask(3), memory_key_padding_mask=hidden)
    y.square().sum().backward()
    grads = [p.grad for p in m.parameters()]
    return [weighed(y), weighed(grads[0]), weighed(grads[-1]), float(len(m.state_dict()))]


@pytest.mark.parametrize("text", TRANSFORMERS)
def test_transformers_give_what_torch_gave(text):
    sums = transformer_sums(torch, nn, text)
    torch.testing.assert_close(sums, TRANSFORMERS[text], rtol=1e-3, atol=1e-3)


def test_what_a_transformer_is_made_of():
    layer = nn.TransformerEncoderLayer(4, 2, 6)
    assert list(layer._modules) == [
        "self_attn", "linear1", "dropout", "linear2", "norm1", "norm2", "dropout1", "dropout2"
    ]  # fmt: skip
    seen = []
    layer.linear1.register_forward_hook(lambda *a: seen.append(1))
    stack = nn.TransformerEncoder(layer, 3, nn.LayerNorm(4))
    x = torch.ones(2, 1, 4)
    assert stack(x).shape == x.shape and len(seen) == 3  # copies have their hooks
    assert torch.equal(nn.Transformer.generate_square_subsequent_mask(2),
                       torch.tensor([[0.0, -float("inf")], [0.0, 0.0]]))  # fmt: skip
    with pytest.raises(RuntimeError, match="should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(4, 2, activation="tanh")
    with pytest.raises(RuntimeError, match="equal to d_model"):
        nn.Transformer(4, 2, 1, 1, 6)(torch.ones(1, 1, 3), torch.ones(1, 1, 3))
    with pytest.raises(RuntimeError, match="the batch number of src and tgt must be equal"):
        nn.Transformer(4, 2, 1, 1, 6)(torch.ones(1, 1, 4), torch.ones(1, 2, 4))


# --- parametrizations, pruning, fusion -----------------------------------------------------------


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def test_parametrized_tensors_are_computed_when_they_are_read():
    m = nn.Linear(3, 3)
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert type(m).__name__ == "ParametrizedLinear" and parametrize.is_parametrized(m, "weight")
    assert list(m.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert torch.equal(m.weight, m.weight.mT)
    x = torch.randn(2, 3)
    torch.testing.assert_close(m(x), F.linear(x, m.weight, m.bias))
    m(x).sum().backward()
    assert m.parametrizations.weight.original.grad is not None
    m.weight = torch.eye(3)
    assert torch.equal(m.weight, torch.eye(3))
    with parametrize.cached():
        assert m.weight is m.weight
    copied = copy.deepcopy(m)
    assert torch.equal(copied.weight, torch.eye(3)) and type(copied) is not type(m)
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear and isinstance(m.weight, nn.Parameter)
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(m, "weight")
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(m, "nope", Symmetric())
    with pytest.raises(RuntimeError, match="only supported through"):
        pickle.dumps(copied)


def test_a_second_parametrization_changes_nothing_but_what_is_computed():
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2

        def right_inverse(self, x):
            return x.long() if self.training else x / 2

    m = nn.Linear(3, 3).eval()
    parametrize.register_parametrization(m, "weight", Symmetric())
    original = m.parametrizations.weight.original.clone()
    parametrize.register_parametrization(m, "weight", Twice())
    assert torch.equal(m.parametrizations.weight.original, original)
    with pytest.raises(ValueError, match="must have the same dtype as module.weight"):
        parametrize.register_parametrization(m.train(), "weight", Twice())
    assert len(m.parametrizations.weight) == 2


@pytest.mark.parametrize("how", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("size", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal_weights_stay_orthogonal(how, size):
    m = parametrizations.orthogonal(nn.Linear(*size), orthogonal_map=how)
    for p in m.parameters():
        p.data.add_(torch.randn(p.shape).tril(-1) * 0.1 if p.ndim > 1 else 0)
    w = m.weight
    gram = w.mT @ w if w.shape[0] >= w.shape[1] else w @ w.mT
    torch.testing.assert_close(gram, torch.eye(min(size)), atol=1e-5, rtol=0)
    q = nn.init.orthogonal_(torch.empty(*size), 2.0)
    gram = q.mT @ q if q.shape[0] >= q.shape[1] else q @ q.mT
    torch.testing.assert_close(gram, 4 * torch.eye(min(size)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("new", [True, False])
def test_norms_of_weights(new):
    from tensorh.nn import utils

    x, m = torch.randn(2, 4), nn.Linear(4, 3)
    before, remove = m(x), utils.remove_weight_norm
    place = parametrizations if new else utils
    place.weight_norm(m)
    torch.testing.assert_close(m(x), before)
    first = m.parametrizations.weight.original0 if new else m.weight_g
    first.data.mul_(2)
    torch.testing.assert_close(m(x) - m.bias, 2 * (before - m.bias))
    parametrize.remove_parametrizations(m, "weight") if new else remove(m)
    assert sorted(m.state_dict()) == ["bias", "weight"]
    place.spectral_norm(m)
    for _ in range(50):
        m(x)
    m.eval()(x)
    assert abs(torch.linalg.matrix_norm(m.weight, 2).item() - 1) < 1e-3
    if not new:
        with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
            utils.spectral_norm(m)
        utils.remove_spectral_norm(m)
        with pytest.raises(ValueError, match="not found"):
            utils.remove_spectral_norm(m)


def test_pruning_masks_what_is_small():
    m = nn.Linear(3, 2)
    m.weight.data = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    prune.l1_unstructured(m, "weight", 2)
    assert m.weight.tolist() == [[0.0, 0.0, 3.0], [-4.0, 5.0, -6.0]] and prune.is_pruned(m)
    prune.ln_structured(m, "weight", 1, 2, 1)
    assert m.weight.tolist() == [[0.0, 0.0, 3.0], [0.0, 5.0, -6.0]]
    assert sorted(m.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    m(torch.ones(1, 3)).sum().backward()
    assert m.weight_orig.grad.tolist() == [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    prune.remove(m, "weight")
    assert m.weight.tolist()[0] == [0.0, 0.0, 3.0] and not prune.is_pruned(m)
    prune.random_unstructured(m, "bias", 1)
    assert m.bias_mask.sum().item() == 1
    for call, words in [
        (lambda: prune.l1_unstructured(m, "weight", 99), "smaller than the number"),
        (lambda: prune.l1_unstructured(m, "weight", 1.5), "should either be a float"),
        (lambda: prune.remove(m, "weight"), "has to be pruned"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=0.5)
    assert a.weight_mask.sum() + b.weight_mask.sum() == 4


def test_fusion_with_batch_norm():
    from tensorh.nn import utils

    conv, bn = nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3).eval()
    bn.running_mean.fill_(0.3), bn.running_var.fill_(2)
    x = torch.randn(1, 2, 4, 4)
    torch.testing.assert_close(utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
    line, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
    x = torch.randn(4, 2)
    torch.testing.assert_close(utils.fuse_linear_bn_eval(line, bn)(x), bn(line(x)))
    with pytest.raises(AssertionError, match="only for eval"):
        utils.fuse_linear_bn_eval(line, nn.BatchNorm1d(3))
    m = utils.skip_init(nn.Linear, 3, 4)
    assert m.weight.shape == (4, 3) and m.weight.device.type == "cpu"


# --- lazy modules --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Lazy modules")
@pytest.mark.parametrize("text, size", [
    ("LazyLinear(3)", (2, 4)), ("LazyConv2d(4, (3, 2), groups=2)", (4, 5, 5)),
    ("LazyConvTranspose3d(2, 2)", (1, 3, 2, 2, 2)), ("LazyBatchNorm1d()", (3, 4)),
    ("LazyInstanceNorm2d()", (3, 4, 5, 2)),
])  # fmt: skip
def test_lazy_modules_take_their_sizes_from_the_first_call(text, size):
    m, x = eval("nn." + text), torch.randn(size)
    assert m.has_uninitialized_params()
    assert repr(next(m.parameters())) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        next(m.parameters()).shape  # noqa: B018
    y = m(x)
    assert type(m).__name__ == text.partition("(")[0][4:] and not m._forward_pre_hooks
    y.sum().backward()
    other = eval("nn." + text)
    other.load_state_dict(m.state_dict())
    for a, b in zip(m.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_what_has_no_size_yet_is_refused():
    m, other = nn.LazyLinear(3), nn.LazyLinear(3)
    m.load_state_dict(other.state_dict())
    assert m.has_uninitialized_params()
    for call in (torch.empty_like, lambda p: p + 1, lambda p: torch.optim.Adagrad([p])):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            call(m.weight)
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        nn.Linear(2, 3).load_state_dict(other.state_dict())
    assert other.to("cpu", torch.float64).weight.dtype == torch.float64
    assert other.to("meta").weight.device.type == "meta"


def test_hooks_of_all_modules_may_be_emptied():
    seen, of_all = [], nn.modules.module
    of_all.register_module_forward_hook(lambda *a: seen.append(1))
    of_all._global_forward_hooks = type(of_all._global_forward_hooks)()
    nn.ReLU()(X)
    assert not seen
    handle = of_all.register_module_forward_hook(lambda *a: seen.append(2))
    nn.ReLU()(X)
    handle.remove()
    nn.ReLU()(X)
    assert seen == [2]
    for name in ("_global_forward_hooks", "_global_forward_pre_hooks"):  # as torch takes it
        getattr(of_all, name)[1000] = lambda *a: seen.append(3)
        nn.ReLU()(X)
        del getattr(of_all, name)[1000]
        nn.ReLU()(X)
    assert seen == [2, 3, 3]
    m = nn.ReLU()
    del m._forward_pre_hooks  # as old files have none
    assert m._forward_pre_hooks == {}
    with pytest.raises(AttributeError):
        del m._no_hooks


def test_a_module_is_converted_in_place():
    m = nn.Linear(2, 2)
    given = (("cpu",), {"copy": True}), ((), {"copy": False}), (("cpu", None, True, False), {})
    for args, options in given:
        with pytest.raises(RuntimeError, match="does not accept copy"):
            m.to(*args, **options)
    with pytest.warns(UserWarning, match="Complex modules are a new feature"):
        assert m.to(torch.complex64).weight.dtype == torch.complex64


def test_an_older_backward_hook():
    model, seen = nn.Linear(2, 2), []
    model.register_backward_hook(lambda m, into, out: seen.append(out[0].shape))
    model(torch.ones(1, 2)).sum().backward()
    assert seen == [(1, 2)]


def test_forward_has_the_parameters_of_its_row():
    def of(cls):
        return str(inspect.signature(cls.forward)).replace("/, ", "")

    assert of(nn.Linear) == of(nn.Conv2d) == of(nn.Softmax2d) == "(self, input)"
    assert of(nn.LSTM) == of(nn.LSTMCell) == "(self, input, hx=None)"
    assert of(nn.CosineEmbeddingLoss) == "(self, input1, input2, target)"
    assert of(nn.MultiheadAttention).endswith("average_attn_weights=True, is_causal=False)")
    assert "input" in of(nn.Sequential)

    class Mine(nn.Linear):
        pass

    module, x = Mine(2, 3), torch.ones(1, 2)
    assert str(inspect.signature(module.forward)) == "(input)"
    expected = module(x)
    for y in (module.forward(x), module.forward(input=x), nn.Linear.forward(module, x)):
        assert torch.equal(y, expected)
    with pytest.raises(TypeError, match="Linear"):
        nn.Linear.forward(nn.ReLU(), x)
    names = {name for name in nn.__all__ if isinstance(getattr(nn, name), type)}
    for cls in (getattr(nn, name) for name in names):
        if issubclass(cls, nn.Module) and cls.forward is not nn.Module.forward:
            assert "kwargs" not in inspect.signature(cls.forward).parameters, cls
