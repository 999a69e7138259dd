"""autograd: warnings and words that programs look for, x.data, checks of gradients."""

import copy
import warnings

import pytest

import tensorh as torch
from tensorh.autograd import Function, forward_ad, gradcheck


def leaf(*values):
    return torch.tensor([float(v) for v in values], requires_grad=True)


# --- x.data ---------------------------------------------------------------------------------------


def test_writes_through_data_are_not_those_of_the_tensor():
    x = leaf(1, 2)
    y = (x * x).sum()
    x.data.add_(1)
    assert x._version == 0 and x.tolist() == [2, 3]
    y.backward()
    assert x.grad.tolist() == [4, 6]  # of the values that are there now, as torch's


def test_data_and_its_views_count_their_own_writes():
    x = torch.zeros(4)
    d = x.data
    before = d._version
    d[1:3].fill_(5)
    d.detach().mul_(2)
    assert d._version == before + 2 and x._version == 0 and x.tolist() == [0, 10, 10, 0]
    x.add_(1)
    assert x._version == 1 and d._version == before + 2
    w = leaf(1, 1, 1, 1)
    y = (d * w).sum()
    d.mul_(3)
    with pytest.raises(RuntimeError, match="modified in place"):
        y.backward()


def test_views_of_data_have_a_history_of_their_own():
    d = torch.zeros(4).data
    v, w = d[1:], leaf(1, 2, 3)
    v.mul_(0).add_(w)
    assert d.tolist() == [0, 1, 2, 3] and d.requires_grad
    d.sum().backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_clipped_weights_between_two_passes():
    w, x = leaf(3, -3), torch.tensor([1.0, 1.0])
    one = (w * x).exp().sum()
    w.data.clamp_(-1, 1)
    two = (w * x).sum()
    (one + two).backward()
    assert w.tolist() == [1, -1] and w.grad[0].item() == pytest.approx(21.085537)


# --- warnings and words ---------------------------------------------------------------------------


def test_backward_with_a_graph_warns_once():
    def warned(run):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run()
        return [str(w.message) for w in told if "create_graph=True" in str(w.message)]

    x = leaf(1)
    torch.set_warn_always(True)
    try:
        assert len(warned(lambda: (x * x).sum().backward(create_graph=True))) == 1
        assert len(warned(lambda: (x * x).sum().backward(create_graph=True))) == 1
    finally:
        torch.set_warn_always(False)
    assert not warned(lambda: (x * x).sum().backward(create_graph=True))
    assert not warned(lambda: torch.autograd.grad((x * x).sum(), x, create_graph=True))
    x.grad = None


def test_a_warning_that_is_an_error_comes_out():
    x = leaf(1)
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="reference cycle"):
                (x * x).sum().backward(create_graph=True)
    finally:
        torch.set_warn_always(False)
    assert x.grad is None


def test_the_shape_of_a_seed():
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    said = (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a "
        "shape of torch.Size([2, 2])."
    )
    for run in (
        lambda: torch.autograd.grad([y], [x], [torch.ones(2)]),
        lambda: torch.autograd.backward([y], [torch.ones(2)]),
        lambda: y.backward(torch.ones(2)),
    ):
        with pytest.raises(RuntimeError) as error:
            run()
        assert str(error.value) == said
    with pytest.raises(RuntimeError, match=r"grad_output\[1\].*output\[1\]"):
        torch.autograd.grad([y, x * 3], [x], [torch.ones(2, 2), torch.ones(4)])


def test_anomaly_mode_says_that_it_is_on():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        with torch.autograd.detect_anomaly():
            pass


class Half(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x / 2
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        with pytest.warns(DeprecationWarning, match="saved_variables"):
            (x,) = ctx.saved_variables
        return grad * x


def test_old_names_of_a_function_and_what_it_may_mark():
    x = leaf(4)
    with pytest.warns(UserWarning, match="Only input Tensors should be given"):
        y = Half.apply(x)
    y.sum().backward()
    assert x.grad.item() == 4


# --- gradcheck, Hessians, tangents ----------------------------------------------------------------


def test_gradcheck_names_the_part_of_a_complex_output():
    def wrong(x):
        y = x.clone()
        y.register_hook(lambda g: g + 1e-2)
        return y

    x = torch.ones(2, 2, requires_grad=True, dtype=torch.complex128)
    said = "While considering the imaginary part of complex outputs only, Jacobian mismatch"
    with pytest.raises(RuntimeError, match=said):
        gradcheck(wrong, (x,))
    single = torch.ones(2, 2, requires_grad=True)
    for _ in range(5):
        with pytest.warns(UserWarning, match="double precision"):
            assert not gradcheck(wrong, (single,), raise_exception=False, fast_mode=True)


def test_gradcheck_of_outputs_that_change():
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match="the same shape when inputs are perturbed"):
        gradcheck(lambda x: torch.cat([x, x]) if bool((x >= 1).all()) else x, (x,))
    with pytest.raises(AssertionError, match="the same dtype when inputs are perturbed"):
        gradcheck(lambda x: x.float() if bool((x >= 1).all()) else x, (x,))


def test_what_a_function_given_to_hessian_may_return():
    hessian, x = torch.autograd.functional.hessian, torch.ones(3)
    with pytest.raises(TypeError, match="outputs of the user-provided function given to hessian"):
        hessian(lambda a: (a, "text"), x)
    with pytest.raises(RuntimeError, match="should return a single Tensor"):
        hessian(lambda a: (a, a), x)
    with pytest.raises(RuntimeError, match="contain a single element"):
        hessian(lambda a: a, x)


def test_a_tangent_is_no_dual_tensor():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            forward_ad.make_dual(torch.ones(2), dual)


# --- the rest -------------------------------------------------------------------------------------


class Slotted(torch.Tensor):
    __slots__ = ("element",)


def test_slots_of_a_subclass_are_copied():
    t = torch.ones(2).as_subclass(Slotted)
    t.element = [torch.zeros(2)]
    other = copy.deepcopy(t)
    assert type(other) is Slotted and other.element[0].tolist() == [0, 0]
    assert other.element is not t.element


class Wrapper(torch.Tensor):
    __slots__ = ("inner",)

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_subclass(cls, inner.to("meta"), inner.requires_grad)
        made.inner = inner
        return made

    def clone(self):
        return type(self)(self.inner.clone())


def test_a_subclass_with_a_clone_of_its_own_is_copied():
    t = Wrapper(torch.ones(2))
    t.note = "text"
    other = copy.deepcopy(t)
    assert type(other) is Wrapper and other.inner.tolist() == [1, 1] and other.note == "text"


def test_embedding_bag_takes_its_old_order():
    table, at = torch.arange(6.0).reshape(3, 2), torch.tensor([0, 2, 1])
    offsets = torch.tensor([0, 2])
    with pytest.warns(UserWarning, match="Argument order"):
        old = torch.nn.functional.embedding_bag(table, at, offsets, mode="sum")
    assert old.tolist() == [[4, 6], [2, 3]]


@pytest.mark.parametrize("run, kind, said", [
    (lambda f, x: f.max_pool2d(x, 2, stride=0), RuntimeError, "stride should not be zero"),
    (lambda f, x: f.avg_pool2d(x, 2, stride=0), RuntimeError, "stride should not be zero"),
    (lambda f, x: f.adaptive_avg_pool2d(x, (-1, 0)), RuntimeError,
     "elements of output_size must be greater than or equal to 0"),
    (lambda f, x: f.adaptive_max_pool2d(x[0, 0], 2), ValueError, "Input dimension should be"),
    (lambda f, x: f.fractional_max_pool2d(x[:, :0], 2, output_size=1), RuntimeError,
     "Expected input"),
    (lambda f, x: f.fractional_max_pool2d(x, (), output_size=1), RuntimeError,
     "kernel_size must either"),
    (lambda f, x: f.max_unpool2d(x, torch.zeros(1, 1, 4, 4, dtype=torch.int64), 2,
                                 output_size=(1, 1)), ValueError, "invalid output_size"),
])  # fmt: skip
def test_words_of_poolings(run, kind, said):
    with pytest.raises(kind, match=said):
        run(torch.nn.functional, torch.ones(1, 1, 4, 4))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_views_in_place_keep_leaves_and_history(mode):
    x = torch.arange(6.0).view(1, 2, 3).requires_grad_()
    p, y, z = torch.nn.Parameter(torch.ones(2, 3)), x * x, x * x
    w = z * 2
    with mode():
        p.t_()
        y.transpose_(0, 1)
        z.squeeze_()
    assert p.shape == (3, 2) and p.requires_grad and p.is_leaf and type(p) is torch.nn.Parameter
    assert y.shape == (2, 1, 3) and y.requires_grad and not y.is_leaf and not y.is_inference()
    (y * torch.tensor([[[1.0]], [[2.0]]])).sum().backward()
    assert x.grad.tolist() == [[[0, 2, 4], [12, 16, 20]]]
    w.sum().backward()
    (p * 2).sum().backward()
    assert p.grad.tolist() == [[2.0] * 2] * 3 and z.shape == (2, 3)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_of_inference_mode_are_no_views_and_are_not_turned_outside(requires_grad):
    with torch.inference_mode():
        x = torch.ones(1, 2, 3, requires_grad=requires_grad)
        for change in (lambda: x.add_(2), lambda: x.transpose_(0, 1), lambda: x.squeeze_()):
            change()
            assert x.is_inference() and x.requires_grad is requires_grad and not x._is_view()
    view = x.view(-1)
    assert view.is_inference() and view.requires_grad is requires_grad
    assert not view._is_view() and view._base is None
    for change in (lambda: x.t_(), lambda: x.unsqueeze_(0), lambda: view.unsqueeze_(0)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            change()
    assert x.shape == (2, 3) and view.shape == (6,)


def test_what_is_saved_is_made_by_calls_alone():
    with pytest.raises(RuntimeError, match="create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()
    x = torch.ones(2, requires_grad=True)
    assert isinstance((x * x).grad_fn._raw_saved_self, torch.autograd.SavedTensor)


def test_rows_are_asked_for_wanted_gradients_alone():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.special.gammainc(a * 2, x)  # which has no gradient for its first argument
    for wanted in x, y:
        torch.autograd.grad(y.sum(), wanted, retain_graph=True)
    y.sum().backward(inputs=[x], retain_graph=True)
    wanted = torch.exp(-x) * x ** (2 * a - 1) / torch.exp(torch.lgamma(2 * a))
    torch.testing.assert_close(x.grad, wanted.detach())
    (d,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(d.sum(), x, retain_graph=True)
    torch.testing.assert_close(second, (d * ((2 * a - 1) / x - 1)).detach())
    for inputs in ([a], [a, x]):
        with pytest.raises(NotImplementedError, match="igamma: input"):
            torch.autograd.grad(y.sum(), inputs, retain_graph=True)


def test_hooks_and_functions_see_gradients_that_are_not_wanted():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            asked.append(ctx.needs_input_grad)
            return g * b, g * a

    asked, seen = [], []
    a, b = (torch.tensor(x, requires_grad=True) for x in (2.0, 3.0))
    y = a * b
    y.grad_fn.register_hook(lambda given, got: seen.append(given))
    assert torch.autograd.grad(y, a)[0] == 3 and [x.item() for x in seen[0]] == [3, 2]
    assert torch.autograd.grad(Product.apply(a, b), b)[0] == 2 and asked == [(True, True)]
