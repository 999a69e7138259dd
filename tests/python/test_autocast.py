"""torch.autocast of the CPU: which calls cast, gradients, blocks and the state of a thread."""

import threading

import pytest

import tensorh as torch
from tensorh.nn import functional as F  # noqa: N812

HALF, SINGLE = torch.bfloat16, torch.float32


def on(**options):
    return torch.autocast("cpu", **options)


def numbers(*size):
    torch.manual_seed(1)
    return torch.randn(*size)


CALLS = {
    "mm": (HALF, lambda x: torch.mm(x, x)),
    "matmul": (HALF, lambda x: x @ x[0]),
    "bmm": (HALF, lambda x: torch.bmm(x[None], x[None])),
    "addmm": (HALF, lambda x: torch.addmm(x, x, x)),
    "linear": (HALF, lambda x: F.linear(x, x, x[0])),
    "einsum": (HALF, lambda x: torch.einsum("ij,kj", x, x)),
    "conv1d": (HALF, lambda x: F.conv1d(x[None], x[None])),
    "conv2d": (HALF, lambda x: F.conv2d(x[None, None], x[None, None])),
    "attention": (HALF, lambda x: F.scaled_dot_product_attention(x, x, x)),
    "add": (SINGLE, lambda x: x + x),
    "sum": (SINGLE, lambda x: x.sum()),
    "softmax": (SINGLE, lambda x: x.softmax(-1)),
    "layer_norm": (SINGLE, lambda x: F.layer_norm(x, [4])),
}
LOSSES = {
    "mse_loss": lambda x: F.mse_loss(x, x),
    "l1_loss": lambda x: F.l1_loss(x, x),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.arange(4)),
    "nll_loss": lambda x: F.nll_loss(x, torch.arange(4)),
    "prod": lambda x: x.prod(),
    "svdvals": lambda x: torch.linalg.svdvals(x),
    "rfft": lambda x: torch.fft.rfft(x).real,
}


@pytest.mark.parametrize("name", CALLS)
def test_products_cast_to_half_precision_and_others_do_not(name):
    expected, call = CALLS[name]
    x = numbers(4, 4)
    with on():
        inside = call(x)
    assert inside.dtype == expected
    assert call(x).dtype == SINGLE
    if expected == HALF:
        assert torch.equal(inside, call(x.bfloat16()))
        with on(dtype=torch.float16):
            assert call(x).dtype == torch.float16


@pytest.mark.parametrize("name", LOSSES)
def test_what_loses_too_much_in_half_precision_is_cast_to_float32(name):
    x = numbers(4, 4).bfloat16()
    with on():
        inside = LOSSES[name](x)
    assert inside.dtype == SINGLE
    assert torch.equal(inside, LOSSES[name](x.float()))


def test_float64_and_integers_stay():
    x = numbers(3, 3)
    with on():
        assert (x.double() @ x.double()).dtype == torch.float64
        assert (x.long() @ x.long()).dtype == torch.int64


def test_out_and_in_place_forms_do_not_cast():
    x, out = numbers(3, 3), torch.zeros(3, 3)
    with on():
        torch.mm(x, x, out=out)
        assert out.dtype == SINGLE and torch.equal(out, _plain(lambda: x @ x))
        out.addmm_(x, x)
    assert out.dtype == SINGLE


def _plain(call):
    with on(enabled=False):
        return call()


def test_modules_and_gradients():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    x = numbers(5, 4)
    with on():
        y = net(x)
        loss = F.mse_loss(y, torch.zeros(5, 2))
    assert (y.dtype, loss.dtype) == (HALF, SINGLE)
    loss.backward()
    inside = [p.grad.clone() for p in net.parameters()]
    assert {g.dtype for g in inside} == {SINGLE}
    net.zero_grad()
    F.mse_loss(net(x), torch.zeros(5, 2)).backward()
    for a, p in zip(inside, net.parameters(), strict=True):
        assert torch.allclose(a, p.grad, rtol=0.1, atol=0.02)


def test_backward_inside_computes_as_outside():
    w = numbers(3, 3).requires_grad_()
    loss = (w @ w).sum()
    with on():
        loss.backward()
    inside, w.grad = w.grad, None
    (w @ w).sum().backward()
    assert torch.equal(inside, w.grad)


def test_checkpoints_compute_again_as_the_first_time():
    from tensorh.utils.checkpoint import checkpoint

    w, x, seen = numbers(3, 3).requires_grad_(), numbers(2, 3), []

    def part(x):
        y = x @ w
        seen.append(y.dtype)
        return y

    with on():
        y = checkpoint(part, x, use_reentrant=False)
    y.float().sum().backward()
    assert seen and set(seen) == {HALF} and w.grad.dtype == SINGLE


def test_blocks_nest_and_end():
    x = numbers(2, 2)
    with on():
        with on(enabled=False):
            assert (x @ x).dtype == SINGLE
            with on(dtype=torch.float16):
                assert (x @ x).dtype == torch.float16
        assert (x @ x).dtype == HALF
        with pytest.raises(ZeroDivisionError), on(enabled=False):
            1 / 0  # noqa: B018
        assert torch.is_autocast_enabled("cpu")
    assert not torch.is_autocast_enabled("cpu") and (x @ x).dtype == SINGLE

    @on()
    def product(x):
        return x @ x

    assert product(x).dtype == HALF and product.__name__ == "product"
    with pytest.raises(TypeError, match="requires a callable"):
        on()(3)
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        block = on(dtype=torch.float32)
    with block:
        assert (x @ x).dtype == SINGLE


def test_the_state_is_of_a_thread():
    x, seen = numbers(2, 2), []
    with on():
        t = threading.Thread(target=lambda: seen.append((x @ x).dtype))
        t.start()
        t.join()
    assert seen == [SINGLE]


def test_functions_of_the_state():
    assert torch.get_autocast_dtype("cpu") == HALF
    assert torch.get_autocast_dtype("cuda") == torch.float16
    assert torch.amp.is_autocast_available("cpu") and not torch.amp.is_autocast_available("meta")
    x = numbers(2, 2)
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert (x @ x).dtype == torch.float16 and torch.is_autocast_enabled("cpu")
        assert not torch.is_autocast_enabled()
        with pytest.warns(DeprecationWarning, match="is_autocast_cpu_enabled"):
            assert torch.is_autocast_cpu_enabled()
    finally:
        torch.set_autocast_dtype("cpu", HALF)
        torch.set_autocast_enabled("cpu", False)
    assert torch.is_autocast_cache_enabled()
    torch.clear_autocast_cache()
    assert torch.autocast_increment_nesting() == 1 and torch.autocast_decrement_nesting() == 0
    for call in (
        lambda: torch.is_autocast_enabled(3),
        lambda: torch.set_autocast_enabled("cpu", 1),
        lambda: torch.set_autocast_enabled("cpu"),
        lambda: torch.set_autocast_dtype("cpu", "half"),
    ):
        with pytest.raises(TypeError):
            call()
    for kind in ("meta", "toaster"):
        with pytest.raises(RuntimeError):
            torch.is_autocast_enabled(kind)


def test_functions_of_autograd():
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            seen.append((g @ w.t()).dtype)
            return (g @ w.t()).to(x.dtype), (x.t() @ g.to(x.dtype)).to(w.dtype)

    class Single(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            return x @ x

        @staticmethod
        def backward(ctx, g):
            return g

    seen, x = [], numbers(2, 2).requires_grad_()
    with on():
        y = Product.apply(x, x.detach())
        assert Single.apply(x.detach().bfloat16()).dtype == SINGLE
    assert y.dtype == HALF
    y.sum().backward()
    assert seen == [HALF] and x.grad.dtype == SINGLE


# --- the rows' policies ---------------------------------------------------------------------------


def test_rows_have_a_policy_where_torch_has_one():
    import json
    import pathlib
    import re

    root = pathlib.Path(__file__).resolve().parents[2]
    lines = (root / "tests/oracle/autocast.txt").read_text().splitlines()
    lists = {line.split()[0]: set(line.split()[1:]) for line in lines}
    rows = json.loads((root / "src/gen/table.json").read_text())["operators"]
    wrong, both = [], re.compile(r"TN_(LOWER|WIDE|WIDEST|UNCAST)\b(?!_)")
    for row in rows:
        name, words = row["torch"].split(".")[0], row["autocast"] or ""
        if row["inplace_only"]:
            continue
        for kind, names in lists.items():
            has = bool(both.search(words)) or f"_{kind}" in words
            if name in names and not has:
                wrong.append((row["name"], kind))
    assert not wrong


# --- casts of weights that are kept ---------------------------------------------------------------


def casts(y):
    """The casts that a product is made of."""
    return [f for f, _ in y.grad_fn.next_functions if f]


def test_a_weight_is_cast_once_in_a_block():
    w, x = numbers(3, 3).requires_grad_(), numbers(2, 3)
    with on():
        a, b = x @ w, x @ w
        with on():
            c = x @ w
        assert casts(a) == casts(b) == casts(c)
        torch.clear_autocast_cache()
        assert casts(x @ w) != casts(a)
    with on():
        assert casts(x @ w) != casts(a)
    with on(cache_enabled=False):
        assert casts(x @ w) != casts(x @ w)
    a.sum().backward()
    b.sum().backward()
    assert torch.equal(w.grad, 2 * (x.bfloat16().t() @ torch.ones_like(a)).float())


def test_a_cast_is_made_again_after_a_write_and_after_no_grad():
    w, x = numbers(3, 3).requires_grad_(), numbers(2, 3)
    with on():
        with torch.no_grad():
            before = x @ w
        assert (x @ w).requires_grad
        with torch.no_grad():
            w.mul_(2)
        assert torch.equal(x @ w, 2 * before)


def test_functions_of_several_rows_cast_as_torch_does():
    x = numbers(3, 3)
    with on():
        assert torch.baddbmm(x[None], x[None], x[None]).dtype == HALF
        assert torch.addbmm(x, x[None], x[None]).dtype == HALF
        assert torch.linalg.vecdot(x, x).dtype == HALF
        assert torch.trace(x.bfloat16()).dtype == SINGLE
        assert torch.polar(x.bfloat16(), x.bfloat16()).dtype == torch.complex64
        assert torch.mv(x, x[0]).dtype == torch.dot(x[0], x[0]).dtype == SINGLE
