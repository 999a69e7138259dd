"""nn: calls with hooks of all modules, the weights of an LSTM, conversions, clipping."""

import copy
import gc
import math
import pickle
import warnings

import pytest

import tensorh as torch
from tensorh import nn


def test_two_dtypes_or_devices_are_not_one_way_to_convert():
    one, f32, f64 = torch.ones(1), torch.float32, torch.float64
    for args, named in (
        ((f32, f64), {}),
        ((f32,), {"dtype": f64}),
        (("cpu", "cpu"), {}),
        (("cpu",), {"device": "cpu"}),
        ((one, f64), {}),
        ((one,), {"dtype": f64}),
    ):
        for what in (one, nn.Linear(1, 1)):
            with pytest.raises(TypeError, match="invalid combination of arguments"):
                what.to(*args, **named)


@pytest.mark.parametrize(
    "args, named, given",
    [
        ((3.5,), {}, "float"),
        ((True,), {}, "bool"),
        (("cpu", True), {}, "str, bool"),
        ((torch.float64, "cpu"), {}, "dtype, str"),
        (("cpu", torch.float64, 1), {}, "str, dtype, int"),
        ((), {"dtype": "float64"}, "dtype=str"),
        ((), {"dtype": list}, "dtype=type"),
        ((), {"device": torch.float64}, "device=dtype"),
        (("cpu",), {"non_blocking": "x"}, "str, non_blocking=str"),
        (("cpu",), {"memory_format": "x"}, "str, memory_format=str"),
    ],
)
def test_what_no_conversion_takes_is_told(args, named, given):
    for what in (torch.ones(1), nn.Linear(1, 1), nn.ReLU()):
        with pytest.raises(TypeError, match=rf"invalid combination .* got \({given}\)"):
            what.to(*args, **named)


def test_a_module_is_converted_as_a_tensor_is():
    for args, named in (
        ((float,), {}),
        ((None, torch.float64), {}),
        (("cpu", torch.float64, True), {}),
        ((torch.ones(1).double(), True), {}),
        ((), {"dtype": float}),
        ((), {"tensor": torch.ones(1).double(), "non_blocking": True}),
    ):
        m = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)).to(*args, **named)
        assert m[0].weight.dtype is m[1].running_mean.dtype is torch.float64
        assert m[1].num_batches_tracked.dtype is torch.int64
    for named in ({"other": torch.ones(1)}, {"tensor": 3}, {"nope": 3}):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            nn.Linear(1, 1).to(**named)
    with pytest.raises(RuntimeError, match="device 'nowhere' does not exist"):
        nn.ReLU().to("nowhere")


def test_a_memory_format_is_for_pictures():
    x = torch.randn(2, 3, 5, 5)
    m = nn.Sequential(nn.Conv2d(3, 4, 2), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(64, 2))
    want, p = m(x), m[0].weight
    assert m.to(memory_format=torch.channels_last)[0].weight is p
    assert p.is_contiguous(memory_format=torch.channels_last) and not p.is_contiguous()
    optimizer = torch.optim.Adam(m.parameters())
    y = m(x)
    torch.testing.assert_close(y, want)
    y.sum().backward()
    optimizer.step()
    assert p.is_contiguous(memory_format=torch.channels_last) and m(x).shape == (2, 2)


def test_the_weights_of_an_lstm_by_layer():
    m = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    shapes = [[tuple(w.shape) for w in one] for one in m.all_weights]
    rest = [(16, 4), (16,), (16,)]
    assert shapes == [[(16, 3), *rest]] * 2 + [[(16, 8), *rest]] * 2
    assert m.all_weights[1][0] is m.weight_ih_l0_reverse
    assert [len(one) for one in nn.LSTM(3, 4, 2, bias=False).all_weights] == [2, 2]


def test_hooks_of_all_modules_run_before_a_modules_own():
    of_all, seen = nn.modules.module, []

    def note(name):
        return lambda module, *rest: seen.append((name, type(module).__name__, len(rest)))

    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    handles = [
        of_all.register_module_forward_pre_hook(note("before")),
        of_all.register_module_forward_hook(note("after")),
        of_all.register_module_forward_hook(note("with"), with_kwargs=True),
        of_all.register_module_full_backward_pre_hook(note("pre")),
        of_all.register_module_full_backward_hook(note("back")),
        net[0].register_forward_hook(note("own")),
    ]
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    linear = [("before", "Linear", 1), ("after", "Linear", 2), ("with", "Linear", 3)]
    forward = [("before", "Sequential", 1), *linear, ("own", "Linear", 2)]
    assert seen[:5] == forward
    assert seen[5:11] == [
        (name, kind, n)
        for kind in ("ReLU", "Sequential")
        for name, n in (("before", 1), ("after", 2), ("with", 3))
        if (name, kind) != ("before", "Sequential")
    ] + [("pre", "Sequential", 1)]
    assert sorted(seen[11:]) == sorted(
        [(name, kind, n) for kind in ("ReLU", "Linear") for name, n in (("pre", 1), ("back", 2))]
        + [("back", "Sequential", 2)]
    )
    for handle in handles:
        handle.remove()
    seen.clear()
    assert net(torch.ones(1, 2)).shape == (1, 2) and not seen
    assert "_hooked" not in net[1].__dict__  # a module without hooks stays as it was


def test_hooks_of_all_modules_change_arguments_and_results():
    of_all = nn.modules.module
    with of_all.register_module_forward_pre_hook(lambda m, args: args[0] + 1):
        assert nn.ReLU()(torch.zeros(1)) == 1
    with of_all.register_module_forward_hook(lambda m, args, y: y * 3):
        assert nn.Identity()(torch.ones(1)) == 3
    called = []
    with of_all.register_module_forward_hook(lambda m, *rest: called.append(m), always_call=True):
        m = nn.Linear(2, 2)
        with pytest.raises(RuntimeError):
            m(torch.ones(3))
    assert called == [m]
    assert nn.Identity()(torch.ones(1)) == 1


def test_a_hook_that_another_thread_adds_while_others_are_looked_for_is_called():
    of_all, seen = nn.modules.module, []

    class Meanwhile(dict):  # empty, and a thread adds a hook once that was seen
        def __len__(self):
            if not seen:
                seen.append(nn.modules.module.register_module_forward_hook(hook))
            return 0

    def hook(module, args, y):
        return y + 1

    own, of_all._global_backward_hooks = of_all._global_backward_hooks, Meanwhile()
    try:
        of_all._hooks_of_all.look()
    finally:
        of_all._global_backward_hooks = own
    with seen[0]:
        assert nn.Identity()(torch.ones(1)) == 2
    assert nn.Identity()(torch.ones(1)) == 1


def noted(module, args, y):
    module.seen = True


def test_a_module_may_hold_the_handle_of_its_hook():
    m = nn.Linear(1, 1)
    m.handle = m.register_forward_hook(noted, always_call=True)
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        other(torch.ones(1))
        assert other.__dict__.pop("seen") and not hasattr(m, "seen")
        other.handle.remove()
        other(torch.ones(1))
        assert not hasattr(other, "seen") and not other._forward_hooks_always_called
    m(torch.ones(1))
    assert m.seen  # the handles of copies took out their own


def test_handles_of_modules_and_optimizers_are_of_one_class():
    m = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(m.parameters(), lr=1.0)
    handles = [m.register_forward_hook(noted), optimizer.register_step_post_hook(print)]
    assert {type(h) for h in handles} == {torch.utils.hooks.RemovableHandle}
    state = pickle.dumps(handles[0])
    del m, optimizer
    gc.collect()
    for handle in (*handles, pickle.loads(state)):  # a handle keeps nothing
        assert handle.remove() is None and handle.hooks_dict_ref() is None
    handles[0].__setstate__((10**6, None))  # of another process: numbers stay apart
    assert nn.ReLU().register_forward_hook(noted).id == 10**6 + 1


@pytest.mark.parametrize(
    "order, norm", [(0, 2), (math.inf, 4), (-math.inf, 0), (-1, 0), (1, 9), (2, math.sqrt(29))]
)
def test_gradients_are_clipped_by_any_norm(order, norm):
    p, q = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(1))
    p.grad, q.grad = torch.tensor([3.0, 0.0, -4.0]), torch.tensor([2.0])
    assert nn.utils.clip_grad_norm_([p, q], 1.5, norm_type=order).item() == pytest.approx(norm)
    factor = min(1, 1.5 / (norm + 1e-6))
    assert p.grad.tolist() == pytest.approx([3 * factor, 0, -4 * factor])
    assert q.grad.item() == pytest.approx(2 * factor)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_a_norm_that_is_not_finite_may_be_an_error(bad):
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.tensor([1.0, bad])
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients"):
        nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert p.grad[0] == 1
    assert not math.isfinite(nn.utils.clip_grad_norm_(p, 1.0))


@pytest.mark.parametrize("max_norm, order", [(-1.0, 2), (math.nan, 2), (1.0, math.nan)])
def test_bounds_that_are_none_are_refused(max_norm, order):
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="max_norm must be 0 or more, and norm_type"):
        nn.utils.clip_grad_norm_(p, max_norm, norm_type=order)
    assert nn.utils.clip_grad_norm_(p, 0.0) > 1 and p.grad.tolist() == [0, 0]


def test_an_embedding_of_a_given_table_draws_nothing_and_takes_torchs_arguments():
    table = torch.arange(6.0).view(3, 2)
    state = torch.get_rng_state().tolist()
    e = nn.Embedding.from_pretrained(table, False, -1, None, 2.0, True, False)
    assert torch.get_rng_state().tolist() == state
    assert e.weight.data_ptr() == table.data_ptr() and e.weight.requires_grad
    assert e.padding_idx == 2 and e.scale_grad_by_freq is True
    e(torch.tensor([0, 0, 2])).sum().backward()
    assert e.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0]]
    frozen = nn.Embedding.from_pretrained(table.double())
    assert not frozen.weight.requires_grad
    assert frozen(torch.tensor(1)).tolist() == [2, 3] and frozen.weight.dtype == torch.float64
    short = nn.Embedding.from_pretrained(table.clone(), max_norm=1.0, norm_type=1.0, sparse=True)
    assert (short.max_norm, short.norm_type, short.sparse) == (1.0, 1.0, True)
    assert short(torch.tensor([1, 0]))[0].sum().item() == pytest.approx(1.0)
    assert short.weight[2].tolist() == [4, 5]  # not taken, so it is as it was


def test_parameters_share_the_memory_of_the_vector_that_was_put_into_them():
    m = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    x, vector = torch.ones(1, 2), torch.arange(9.0, requires_grad=True)
    assert m(x).shape == (1, 1)
    nn.utils.vector_to_parameters(vector, m.parameters())
    assert all(p.is_leaf and p.requires_grad for p in m.parameters())
    assert m[0].weight.tolist() == [[0, 1], [2, 3]] and m[2].bias.tolist() == [8]
    with torch.no_grad():
        vector.zero_()
    assert m(x).item() == 0
    m(x).backward()
    torch.optim.SGD(m.parameters(), lr=1.0).step()
    assert vector.tolist() == [0.0] * 8 + [-1.0] and m(x).item() == -1
    assert nn.utils.parameters_to_vector(m.parameters()).tolist() == vector.tolist()
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        nn.utils.vector_to_parameters(torch.ones(5), m.parameters())


# --- options that torch has and no row ------------------------------------------------------------


def test_positions_of_options_are_torchs():
    assert not nn.MultiheadAttention(4, 2, 0.0, True, False).batch_first
    assert nn.MultiheadAttention(4, 2, 0.0, True, False, False, 4, None, True).batch_first
    assert nn.Embedding(5, 3, None, None, 2.0, True).scale_grad_by_freq
    assert nn.Embedding(5, 3, 1, None, 2.0, False, False, None, False, "meta").weight.is_meta
    assert nn.LSTM(2, 3, 1, True, False, 0.0, False, 0, "meta").weight_ih_l0.is_meta
    assert nn.BatchNorm1d(3, 1e-5, 0.1, True, True, "meta", torch.float64, bias=False).bias is None
    assert nn.MSELoss(None, None, "sum")(torch.ones(3), torch.zeros(3)).item() == 3
    assert nn.NLLLoss(None, None, -1, None, "none").ignore_index == -1
    loss = nn.CrossEntropyLoss(None, None, -100, None, "sum", 0.25)
    assert (loss.reduction, loss.label_smoothing) == ("sum", 0.25)
    loss = nn.BCEWithLogitsLoss(None, None, None, "sum", torch.ones(2))
    assert loss.pos_weight.tolist() == [1, 1]


def test_tables_shrink_the_rows_that_are_taken():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    e = nn.Embedding(3, 2, max_norm=1, _weight=table)
    assert repr(e) == "Embedding(3, 2, max_norm=1.0)" and copy.deepcopy(e).max_norm == 1.0
    taken = e(torch.tensor([0, 1]))
    assert torch.allclose(taken, torch.tensor([[0.6, 0.8], [0.3, 0.4]]))
    assert torch.allclose(table[0], taken[0]) and table[2].tolist() == [6, 8]
    taken.sum().backward()
    assert e.weight.grad.tolist() == [[1, 1], [1, 1], [0, 0]]
    bag = nn.EmbeddingBag(3, 2, max_norm=5.0, mode="sum", _weight=table)
    assert torch.allclose(bag(torch.tensor([[2, 2]])), torch.tensor([[6.0, 8.0]]))
    assert nn.Embedding(5, 3, sparse=True)(torch.tensor([1])).shape == (1, 3)
    assert not nn.Embedding(3, 2, _weight=table, _freeze=True).weight.requires_grad
    with pytest.raises(AssertionError, match="does not match num_embeddings"):
        nn.Embedding(5, 3, _weight=table)


def test_bags_refuse_what_torch_refuses():
    bag, numbers = nn.EmbeddingBag(4, 2, mode="sum"), torch.tensor([0, 3, 1])
    starts = torch.tensor([0, 1], dtype=torch.int32)
    assert bag(numbers, starts).shape == (2, 2)
    for given in ((numbers,), (numbers, starts[None]), (numbers[None], starts)):
        with pytest.raises(ValueError, match="offsets has to be"):
            bag(*given)
    with pytest.raises(ValueError, match="same shape as the input"):
        bag(numbers, starts, torch.ones(2))
    with pytest.raises(RuntimeError, match="Expected idx >= 0 && idx < num_embeddings"):
        bag(numbers + 1, starts)


def test_options_of_modules_are_refused_as_torch_does():
    for make, text in (
        (lambda: nn.Dropout(-0.1), "between 0 and 1"),
        (lambda: nn.Conv2d(1, 1, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv1d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.ConvTranspose2d(3, 3, 3, padding_mode="reflect"), 'Only "zeros" padding mode'),
        (lambda: nn.BatchNorm1d(4)(torch.ones(1, 4)), "more than 1 value per channel"),
        (lambda: nn.ConvTranspose1d(1, 1, 3)(torch.ones(1, 1, 3), (9,)), "output size"),
        (lambda: nn.utils.weight_norm(nn.LazyLinear(2)), "uninitialized parameters"),
        (lambda: nn.utils.spectral_norm(nn.LazyLinear(2)), "uninitialized parameters"),
    ):
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(RuntimeError, match="negative"):
        nn.Linear(-1, 2)
    with pytest.warns(UserWarning, match="Received a 5-D input to dropout2d"):
        nn.Dropout2d()(torch.ones(1, 2, 2, 2, 2))
    with pytest.raises(RuntimeError, match="Expected 2D or 3D input"):
        nn.Dropout1d()(torch.ones(1, 2, 2, 2))


def test_older_options_of_losses_are_translated():
    for named, word in (
        ({"size_average": False}, "sum"),
        ({"size_average": True, "reduce": True}, "mean"),
        ({"reduce": False}, "none"),
        ({"reduce": False, "reduction": "sum"}, "none"),
    ):
        for loss in (nn.MSELoss, nn.CrossEntropyLoss, nn.KLDivLoss, nn.TripletMarginLoss):
            with pytest.warns(UserWarning, match=f"please use reduction='{word}'"):
                assert loss(**named).reduction == word


def test_losses_of_margins_refuse_what_torch_refuses():
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="2, 2 and 1 dimensions"):
        nn.MarginRankingLoss()(x, x, x[0])
    with pytest.raises(ValueError, match="margin is -1, expected a positive number"):
        nn.TripletMarginLoss(margin=-1)
    with pytest.raises(RuntimeError, match="1D target tensor expects 2D input tensors"):
        nn.CosineEmbeddingLoss()(x[0], x[0], torch.ones(2))
    with pytest.raises(RuntimeError, match="All inputs should have same dimension"):
        nn.TripletMarginLoss()(x, x, x[0])
    with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix"):
        nn.MultiMarginLoss()(torch.ones(0), torch.tensor([1]))
    with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix"):
        nn.MultiLabelMarginLoss()(torch.ones(2, 0), torch.ones(2, 0, dtype=torch.long))
    for loss in (nn.functional.poisson_nll_loss, nn.functional.gaussian_nll_loss):
        with pytest.raises(ValueError, match="total is not (valid$|a valid value)"):
            loss(x, x, x, reduction="total")
    with pytest.raises(RuntimeError, match="target does not broadcast to the shape of input"):
        nn.SoftMarginLoss()(x[0], x)
    with pytest.raises(RuntimeError, match="expected a common dtype that is floating, got int64"):
        nn.functional.cosine_similarity(x.long(), x.long())
    hinge = nn.functional.hinge_embedding_loss
    assert hinge(x.long() * 0, -x.long(), margin=1.7, reduction="sum") == 6


def test_losses_of_classes_and_likelihoods_refuse_what_torch_refuses():
    x, f = torch.rand(2, 3), nn.functional
    label = torch.tensor([0, 2])
    with pytest.raises(ValueError, match="only p == 1 and p == 2 supported"):
        f.multi_margin_loss(x, label, p=3)
    with pytest.raises(ValueError, match="weight must be one-dimensional"):
        f.multi_margin_loss(x, label, weight=x)
    with pytest.raises(RuntimeError, match="index 3 is out of bounds"):
        f.multi_margin_loss(x, label + 1)
    with pytest.raises(RuntimeError, match="target 3 is out of range for 3 classes"):
        f.multilabel_margin_loss(x[0], torch.tensor([0, -1, 3]))
    for loss in (nn.GaussianNLLLoss(), f.gaussian_nll_loss):
        with pytest.raises(ValueError, match="var has negative entry/entries"):
            loss(x, x, -x)
    with pytest.raises(ValueError, match="up is not a valid value for reduction"):
        f.triplet_margin_with_distance_loss(x, x, x, reduction="up")


def test_ctc_loss_takes_lengths_in_tuples_and_tensors():
    p = torch.tensor([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]).log().unsqueeze(1)
    for lengths in (((2,), (1,)), (torch.tensor([2]), torch.tensor([1]))):
        for targets in (torch.tensor([[1, 0]]), torch.tensor([1]), torch.tensor([1]).int()):
            got = nn.CTCLoss(reduction="sum")(p, targets, *lengths)  # 1_, _1, 11
            assert got.item() == pytest.approx(-math.log(2 * 0.125 + 0.0625))
    long = nn.functional.ctc_loss(p, torch.tensor([[1, 1]]), (2,), (2,))
    assert long == math.inf
    assert nn.CTCLoss(zero_infinity=True)(p, torch.tensor([1, 1]), (2,), (2,)) == 0
    with pytest.raises(RuntimeError, match=r"targets has label 3, expected labels in \[0, 3\)"):
        nn.functional.ctc_loss(p, torch.tensor([3]), (2,), (1,))
    with pytest.raises(RuntimeError, match="target_lengths has 2, but targets has 1 labels left"):
        nn.functional.ctc_loss(p, torch.tensor([1]), (2,), (2,))


def test_an_adaptive_softmax_is_a_distribution():
    torch.manual_seed(0)
    x = torch.randn(30, 8)
    m = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [2, 5, 9], div_value=2.0, head_bias=True)
    log_p = m.log_prob(x)
    assert log_p.shape == (30, 12) and torch.allclose(log_p.exp().sum(1), torch.ones(30))
    assert torch.equal(m.predict(x), log_p.argmax(1))
    target = torch.arange(30) % 12
    output, loss = m(x, target)
    assert torch.allclose(output, log_p.gather(1, target.unsqueeze(1)).squeeze(1))
    assert torch.allclose(loss, -output.mean())
    loss.backward()
    assert all(p.grad.abs().sum() > 0 for p in m.parameters())
    one = m(x[3], target[3])
    assert one.output.shape == () and torch.allclose(one.output, output[3])
    with pytest.raises(RuntimeError, match=r"Target values should be in \[0, 11\]"):
        m(x, target + 1)
    for cutoffs in ([], [2, 2], [0, 3], [5, 12], [2.5]):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs)


def test_linear_cross_entropy_is_that_of_its_logits():
    torch.manual_seed(0)
    x, target = torch.randn(6, 4), torch.randint(0, 3, (6, 2))
    m = nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True, reduction="none")
    logits = m.linear(x).reshape(6, 3, 2)
    plain = nn.functional.cross_entropy(logits, target, reduction="none")
    assert torch.allclose(m(x, target), plain)
    f = nn.functional.linear_cross_entropy
    with pytest.raises(RuntimeError, match="ignore_index cannot be given where target contains"):
        f(x, torch.ones(3, 4), torch.ones(6, 3), ignore_index=1)
    with pytest.raises(RuntimeError, match="so input needs a batch"):
        f(x[0], torch.ones(3, 2, 4), target[0])
    with pytest.raises(TypeError, match="options is a LinearCrossEntropyOptions or None"):
        f(x, torch.ones(3, 4), target[:, 0], options=1)


def test_a_triplet_margin_with_a_distance_of_its_own():
    x, y, z = torch.rand(3, 4, 2).unbind(0)
    own = nn.TripletMarginWithDistanceLoss(swap=True)
    assert own(x, y, z) == nn.TripletMarginLoss(swap=True)(x, y, z)
    assert "(distance_function): PairwiseDistance()" in repr(own)
    loss = nn.TripletMarginWithDistanceLoss(
        distance_function=lambda a, b: (a - b).abs().sum(-1), margin=2, reduction="sum"
    )
    assert torch.allclose(loss(x, y, z), nn.TripletMarginLoss(2, 1, 0.0, reduction="sum")(x, y, z))
    with pytest.raises(ValueError, match="expected margin to be greater than 0, got 0 instead"):
        nn.TripletMarginWithDistanceLoss(margin=0)


def test_arguments_given_twice_or_too_many_are_refused():
    with pytest.raises(TypeError, match="multiple values for argument 'reduction'"):
        nn.MSELoss(None, None, "sum", reduction="mean")
    with pytest.raises(TypeError, match="takes 5 positional arguments but 6 were given"):
        nn.MSELoss(*[None] * 6)
    with pytest.raises(TypeError, match="takes from 1 to 7 positional"):
        nn.BatchNorm1d(3, 1e-5, 0.1, True, True, None, None, False)


def test_attributes_that_torch_has_beside_the_rows():
    conv, table = nn.Conv2d(1, 1, 3), nn.Embedding(5, 3)
    assert (conv.transposed, conv.output_padding) == (False, (0, 0))
    assert (table.max_norm, table.norm_type, table.sparse) == (None, 2.0, False)
    table.sparse = False
    table.max_norm = 1.0
    assert table(torch.tensor([0, 1])).norm(dim=1).max() < 1.001
    attention = pickle.loads(pickle.dumps(nn.MultiheadAttention(6, 2)))
    assert (attention.head_dim, attention.kdim, attention.vdim) == (3, 6, 6)
    assert attention.bias_k is attention.bias_v is None and nn.LSTM(1, 1).proj_size == 0
    kept = nn.modules.linear.NonDynamicallyQuantizableLinear
    assert type(attention.out_proj) is kept and issubclass(kept, nn.Linear)


def test_conv_forward_takes_another_weight():
    x, twice = torch.arange(9.0).reshape(1, 1, 3, 3), torch.full((1, 1, 3, 3), 2.0)
    assert nn.Conv2d(1, 1, 3)._conv_forward(x, twice, None).tolist() == [[[[72]]]]
    around = nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular")
    assert around._conv_forward(x, twice, None).tolist() == [[[[72] * 3] * 3]]

    class Scaled(nn.Conv2d):
        def forward(self, input):
            return self._conv_forward(input, self.weight * 0 + 2, None)

    assert Scaled(1, 1, 3)(x).tolist() == [[[[72]]]]


def test_dropout_of_one_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1, but got dropout=0.5"):
        nn.LSTM(2, 3, dropout=0.5)


# --- what is given and what is shown --------------------------------------------------------------


def test_numbers_are_shown_as_they_were_given():
    for m, text in (
        (nn.Softplus(2, 10), "Softplus(beta=2, threshold=10)"),
        (nn.Softplus(2.0, threshold=10), "Softplus(beta=2.0, threshold=10)"),
        (nn.LeakyReLU(1), "LeakyReLU(negative_slope=1)"),
        (nn.Dropout(0), "Dropout(p=0, inplace=False)"),
        (nn.LayerNorm(3, 1), "LayerNorm((3,), eps=1, elementwise_affine=True, bias=True)"),
        (nn.LSTM(3, 1, 2, dropout=1), "LSTM(3, 1, num_layers=2, dropout=1.0)"),
    ):
        assert repr(m) == text == repr(pickle.loads(pickle.dumps(m))) == repr(copy.deepcopy(m))
    softplus = nn.Softplus(2, 10)
    softplus.threshold = 1
    assert softplus(torch.tensor([3.0])).tolist() == [3]


def test_batch_norm_1d_takes_two_or_three_dimensions():
    norm = nn.BatchNorm1d(3)
    assert norm(torch.arange(6.0).reshape(2, 3)).shape == (2, 3)
    assert norm.eval()(torch.ones(2, 3, 4)).shape == (2, 3, 4)
    for m in (norm, nn.Sequential(nn.ReLU(), nn.BatchNorm1d(3)), copy.deepcopy(norm).train()):
        with pytest.raises(RuntimeError, match=r"input: expected \(_, 3, \?\), got float32"):
            m(torch.ones(2, 3, 4, 5))
    assert norm.num_batches_tracked.item() == 1


def test_a_module_that_changes_nothing_gives_its_input():
    plain, leaf = torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)
    still = [nn.Dropout(0.5).eval(), nn.Dropout(0.0), nn.Dropout(0.5, inplace=True).eval()]
    still += [nn.Sequential(nn.Dropout(0.5), nn.Identity()).eval(), nn.Flatten(), nn.Flatten(0, 0)]
    for x in (plain, leaf, nn.Parameter(torch.ones(2, 3))):
        for m in still:
            assert m(x) is x
        for m in (nn.Dropout(0.5), nn.Dropout(1.0), nn.Flatten(0)):
            assert m(x) is not x
    assert leaf.is_leaf and plain.tolist() == [[1] * 3] * 2
    for m in (nn.ReLU(inplace=True), nn.Dropout(1.0, inplace=True)):
        assert m(plain) is plain
    assert plain.tolist() == [[0] * 3] * 2
    many = [nn.Dropout(0.5).eval()(plain) for _ in range(1000)]  # counts are right at the end
    del many, plain
    gc.collect()
    kept = nn.Dropout(0.5).eval()(leaf * 2)
    assert kept.grad_fn.name() == "MulBackward0"


def test_masks_of_attention_are_bool_or_floating():
    m, x = nn.MultiheadAttention(4, 2), torch.randn(3, 2, 4)
    for dtype in (torch.int64, torch.uint8):
        for masks in {"attn_mask": torch.ones(3, 3)}, {"key_padding_mask": torch.zeros(2, 3)}:
            with pytest.raises(AssertionError, match="only bool and floating types of"):
                m(x, x, x, **{name: mask.to(dtype) for name, mask in masks.items()})
    f, mask = nn.functional.scaled_dot_product_attention, torch.randn(3, 3)
    q = x.transpose(0, 1)
    for bad in (torch.ones(3, 3, dtype=torch.int64), mask.double()):
        with pytest.raises(RuntimeError, match="Expected attn_mask dtype to be bool or float or"):
            f(q, q, q, attn_mask=bad)
    assert torch.allclose(f(q.double(), q.double(), q.double(), mask).float(), f(q, q, q, mask))
    assert f(*[q.bfloat16()] * 3, mask).dtype is torch.bfloat16


def test_is_causal_of_attention_says_what_the_mask_is():
    torch.manual_seed(1)
    m, x = nn.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
    other = torch.zeros(3, 3, dtype=torch.bool)
    causal = m(x, x, x, attn_mask=mask)[0]
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        m(x, x, x, is_causal=True)
    y, w = m(x, x, x, attn_mask=mask, need_weights=False, is_causal=True)
    assert w is None and torch.allclose(y, causal)
    # The hint counts where no weights are asked for, and nothing else is masked; else the mask.
    y = m(x, x, x, None, False, other, True, True)[0]
    assert torch.allclose(y, causal)
    y = m(x, x, x, attn_mask=other, is_causal=True)[0]
    assert torch.allclose(y, m(x, x, x)[0])
    pad = torch.zeros(2, 3, dtype=torch.bool)
    y = m(x, x, x, pad, need_weights=False, attn_mask=other, is_causal=True)[0]
    assert torch.allclose(y, m(x, x, x)[0])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_softmax_without_dim_warns_and_takes_torchs(name):
    kind = {"softmax": nn.Softmax, "log_softmax": nn.LogSoftmax}[name]
    text = f"Implicit dimension choice for {name} has been deprecated. Change the call to include"
    for ndim, dim in enumerate([0, 0, 1, 0, 1]):
        x = torch.arange(2.0**ndim).reshape((2,) * ndim)
        m = kind()
        for each in (m, copy.deepcopy(m), pickle.loads(pickle.dumps(m)), nn.Sequential(m)):
            with pytest.warns(UserWarning, match=text) as caught:
                y = each(x)
            assert torch.equal(y, getattr(nn.functional, name)(x, dim))
            assert [w.filename for w in caught] == [__file__]
    assert repr(m) == f"{kind.__name__}(dim=None)"
    m.dim = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(m(x), kind(1)(x))
    m.dim = None
    with pytest.warns(UserWarning, match=text):
        m(x)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_messages_name_what_the_user_wrote():
    x, image = torch.ones(2, 3), torch.ones(1, 2, 5, 5)
    attention, q = nn.MultiheadAttention(4, 2), torch.ones(2, 1, 4)
    hx = (torch.ones(1, 2, 5), torch.ones(1, 2, 5))
    F = nn.functional
    for call, text in (
        (lambda: x.view(-1, 4), "shape '(-1, 4)' is invalid for input of size 6"),
        (lambda: torch.empty(2, -1), "negative dimension -1: (2, -1)"),
        (lambda: x.squeeze(3), "in squeeze(self=float32 (2, 3), dim=3)"),
        (lambda: x.max(3), "in max(self=float32 (2, 3), dim=3)"),
        (lambda: torch.arange(0, 5, -1), "in arange(start=0, end=5, step=-1)"),
        (lambda: torch.ones(3).copy_(x), "in copy_(self=float32 (3), src=float32 (2, 3))"),
        (lambda: F.cross_entropy(x, x[:, 0]), "expected int64 or uint8, got float32"),
        (lambda: F.cross_entropy(x, x.long()), "expected a floating dtype, got int64"),
        (lambda: nn.CrossEntropyLoss()(x, x[:, 0]), "expected int64 or uint8, got float32"),
        (lambda: F.mse_loss(x, torch.ones(4)), "input has shape (2, 3), but target has shape (4,)"),
        (lambda: F.huber_loss(x, torch.ones(4, 1)), "but target has shape (4, 1)"),
        (lambda: nn.MaxPool2d(7, return_indices=True)(image), "kernel size 7 is larger than"),
        (lambda: F.max_pool2d(image, 7), "in max_pool2d(self=float32 (1, 2, 5, 5), kernel_size="),
        (lambda: attention(q, q, q, attn_mask=x), "attn_mask: expected (2, 2) or (2, 2, 2), got"),
        (lambda: attention(q, q, q, x), "key_padding_mask shape of (1, 2), but got (2, 3)"),
        (lambda: nn.LSTM(3, 5)(torch.ones(2, 3, 3), hx), "hx: expected a batch of 3, got 2 and"),
    ):
        with pytest.raises((RuntimeError, IndexError, AssertionError)) as caught:
            call()
        assert text in str(caught.value) and " tn_" not in str(caught.value)


def test_prelu_and_softshrink_refuse_as_torch():
    x = torch.ones(3)
    for weight in (torch.ones(1).half(), torch.ones(1).double(), torch.ones(1).long()):
        with pytest.raises(RuntimeError, match="Type promoting not supported"):
            nn.functional.prelu(x, weight)
    for lambd in (-1, float("inf"), float("nan"), 1e39):
        with pytest.raises(RuntimeError, match="lambda must be"):
            nn.functional.softshrink(x, lambd)
    values, at = torch.ones(2, 3, requires_grad=True).max(1)
    at.add_(1)
    with pytest.raises(RuntimeError, match="gradient of max ") as caught:
        values.sum().backward()
    assert "max_dim" not in str(caught.value)
    with pytest.raises(RuntimeError, match="called by linear"):
        nn.functional.linear(torch.ones(2, 2).bool(), torch.ones(2, 2).bool())
    half = torch.zeros(3, dtype=torch.float16)
    half[0:1] = 1e6
    assert half[0] == float("inf")


def test_calls_of_images_refuse_as_torch():
    f, grid = nn.functional, torch.ones(1, 1, 1, 2)
    blocks = r"calculated shape of the array of sliding blocks as \("
    for call, words in (
        (lambda: f.grid_sample(torch.ones(1, 2, 2), grid), "grid to have size 1 in last dim"),
        (lambda: f.grid_sample(torch.ones(1, 1, 2, 2), grid[0]), "same number of dimensions"),
        (lambda: f.grid_sample(torch.ones(2, 1, 2, 2), grid), "to have same batch size"),
        (
            lambda: f.grid_sample(torch.ones(1).expand(1, 1, 1 << 16, 1 << 15), grid),
            "fewer than 2\\^31 elements a channel",
        ),
        (lambda: f.unfold(torch.ones(1, 2, 2, 2), (8, 3), stride=2), blocks + "-2, 0"),
        (lambda: f.fold(torch.ones(1, 12, 12), (4, 5), 2, dilation=8), blocks + "-4, -3"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    out = torch.empty(3)
    assert f.softshrink(torch.ones(3), 0.25, out=out) is out and out.tolist() == [0.75] * 3


def test_rms_norm_calls_its_input_x():
    x = torch.ones(2, 3)
    norm = nn.RMSNorm(3)
    assert torch.equal(norm(x=x), norm(x))
