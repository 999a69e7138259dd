"""torch.library: operators in Python."""

import pytest

import tensorh as torch
from tensorh import library


@pytest.fixture
def cube():
    @library.custom_op("tests::cube", mutates_args=())
    def cube(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return x**3 * scale

    yield cube
    library._operators.clear()


def test_calls(cube):
    x = torch.tensor([1.0, 2.0])
    assert cube(x).tolist() == [1, 8] and torch.ops.tests.cube(x, scale=2.0).tolist() == [2, 16]
    assert torch.ops.tests.cube.default(x, 3.0).tolist() == [3, 24]
    assert cube._schema == "(Tensor x, float scale=1.0) -> Tensor"
    with pytest.raises(AttributeError, match="_OpNamespace"):
        torch.ops.tests.square  # noqa: B018


def test_gradients(cube):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        cube(x).sum().backward()

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    cube.register_autograd(
        lambda ctx, g: (g * 3 * ctx.saved_tensors[0] ** 2 * ctx.scale, None), setup_context=setup
    )
    y = cube(x, scale=2.0)
    y.sum().backward()
    assert x.grad.tolist() == [6, 24]
    assert torch.autograd.gradcheck(lambda x: cube(x, scale=2.0), (x,))


def test_shapes(cube):
    with pytest.raises(NotImplementedError, match="register_fake"):
        cube(torch.ones(2, device="meta"))
    cube.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    assert cube(torch.ones(2, device="meta")).shape == (2,)
    assert library.opcheck(cube, (torch.ones(2),)) == {"test_faketensor": "SUCCESS"}
    cube.register_fake(lambda x, scale=1.0: x.new_empty(3))
    with pytest.raises(AssertionError, match=r"\(3,\)"):
        library.opcheck(cube, (torch.ones(2),))


def test_libraries():
    lib = library.Library("own", "DEF")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    x = torch.ones(2, requires_grad=True)
    torch.ops.own.twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    library.define("own::other", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="Could not run 'own::other'"):
        torch.ops.own.other(x)

    @library.impl("own::other", "cpu")
    def other(x):
        return x + 1

    assert torch.ops.own.other(torch.ones(1)).tolist() == [2]
    with pytest.raises(ValueError, match="namespace::name"):
        library.define("name", "() -> ()")
    library._operators.clear()


def test_schemas():
    def f(x: torch.Tensor, n: list[int], w: torch.Tensor | None = None, *, s: str = "a") -> None:
        pass

    said = library.infer_schema(f, mutates_args={"x"})
    assert said == '(Tensor(a0!) x, SymInt[] n, Tensor? w=None, *, str s="a") -> ()'
    with pytest.raises(ValueError, match="must have a type annotation"):
        library.infer_schema(lambda x: x, mutates_args=())


def test_futures():
    import threading

    from tensorh.futures import Future, collect_all, wait_all

    a, b = Future(), Future()
    later = a.then(lambda f: f.wait() + 1)
    threading.Thread(target=a.set_result, args=(1,)).start()
    assert a.wait() == 1 and later.wait() == 2 and a.done() and not b.done()
    every = collect_all([a, b])
    b.set_exception(ValueError("no"))
    assert len(every.wait()) == 2 and wait_all([a]) == [1]
    with pytest.raises(ValueError, match="no"):
        b.wait()
    with pytest.raises(RuntimeError, match="once"):
        a.set_result(2)
