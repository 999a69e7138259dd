"""What does not fit is refused with torch's kinds of errors, which name the function, the argument
and the user's line; nothing crashes."""

import math
import re
import traceback

import numpy as np
import pytest
import rows

import tensorh as th

ROWS = rows.rows()
ALONE = {r.torch for r in ROWS if sum(r.torch == s.torch for s in ROWS) == 1}
OVERFLOW = 2**70
# OverflowError: a number of more than 64 bits, as torch
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)


class Stranger:
    """Nothing that any argument can be."""


class Evil:
    """Its conversions raise what no conversion should."""

    def __index__(self):
        raise KeyError("index")

    def __float__(self):
        raise KeyError("float")

    def __len__(self):
        raise KeyError("len")


def menagerie():
    """Objects of many kinds; none is large when taken for a size."""
    x = th.tensor([[1.0, 2.0], [3.0, 4.0]])
    return [
        None, True, 0, 1, -1, 3, 99, -99, OVERFLOW, -OVERFLOW, 1.5, math.nan, math.inf, 1j,
        "text", "", "mean", "cpu", "meta", b"bytes", [], (), {}, [1], [1, 2], [[1], [2]], ["a"],
        [None], [x], (x, None), [x, 1], x, x[0], x[0, 0], th.tensor(1), th.tensor([True, False]),
        th.tensor([0, 1]), th.tensor(1j), th.zeros(0), th.zeros(2, device="meta"), th.float16,
        th.int64, th.bool, float, int, th.device("cpu"), th.Generator(), np.float32(2),
        np.int64(1), np.bool_(True), np.ones((2, 2)), np.array(["a"]), slice(0, 1), range(3),
        object, Stranger(), Evil(), [Evil()], lambda: 1, iter([1]), {1, 2}, NotImplemented, ...,
    ]  # fmt: skip


def refused(call, *args, **kwargs):
    """The exception of a call that has to fail; its last frame is here."""
    with pytest.raises(REFUSALS) as caught:
        call(*args, **kwargs)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].filename == __file__
    assert "call(*args, **kwargs)" in frames[-1].line
    return caught.value


def names(row):
    """Arguments of the first sample, all that have a name, and how torch says each name."""
    given = rows.arguments(row, row.samples[0])
    return given, {p.name: "input" if p.name == "self" else p.name for p in row.params}


@each_row
def test_a_stranger_is_a_type_error_that_names_function_and_argument(row):
    given, say = names(row)
    for p in row.params:
        error = refused(row.function, **{**given, p.name: Stranger()})
        assert type(error) is TypeError
        assert str(error).startswith(row.torch + "()")
        assert "Stranger" in str(error)
        if row.torch in ALONE:
            assert f"argument '{say[p.name]}' must be" in str(error)
        else:
            assert f"{p.name}=Stranger" in str(error)


@each_row
def test_a_stranger_by_place_is_told_with_its_place(row):
    given, say = names(row)
    place, named = rows.split(row, given)
    for i, p in enumerate(row.params[: len(place)]):
        error = refused(row.function, *place[:i], Stranger(), *place[i + 1 :], **named)
        assert type(error) is TypeError
        if row.torch in ALONE:
            what = f"{row.torch}(): argument '{say[p.name]}' (position {i + 1}) must be"
            assert what in str(error)


@each_row
def test_missing_argument(row):
    given, say = names(row)
    for p in row.params:
        if not p.required:
            continue
        less = {n: v for n, v in given.items() if n != p.name}
        if row.torch in ALONE:
            error = refused(row.function, **less)
            assert type(error) is TypeError
            assert re.match(rf"{row.torch}\(\) missing \d required positional.*", str(error))
            assert f'"{say[p.name]}"' in str(error)
    if row.torch in ALONE and any(p.required for p in row.params):
        assert type(refused(row.function)) is TypeError


@each_row
def test_argument_given_twice(row):
    given, say = names(row)
    place, named = rows.split(row, given)
    if row.torch not in ALONE:  # arange(5, end=6) is another row
        return
    for p, value in zip(row.params, place, strict=False):
        error = refused(row.function, *place, **named, **{p.name: value})
        assert type(error) is TypeError
        what = f"{row.torch}() got multiple values for argument '{say[p.name]}'"
        assert str(error) == what


@each_row
def test_unknown_keyword(row):
    given, _ = names(row)
    error = refused(row.function, **given, no_such=1)
    assert type(error) is TypeError
    if row.torch in ALONE:
        assert str(error) == f"{row.torch}() got an unexpected keyword argument 'no_such'"


@each_row
def test_too_many_arguments(row):
    given, _ = names(row)
    place, named = rows.split(row, given)
    most = sum(not p.keyword for p in row.params)
    if row.torch not in ALONE or len(place) < most:
        return
    if most and "int[" in row.params[most - 1].type and most <= 2 or row.torch == "bernoulli":
        return  # further ints are members of the list; bernoulli(input, p)
    error = refused(row.function, *place, 1, **named)
    assert re.match(rf"{row.torch}\(\) takes .*positional argument.* {most + 1} w", str(error))


@each_row
def test_dimension_out_of_range_is_an_index_error(row):
    for sample in row.samples:
        given = rows.arguments(row, sample)
        for name, value in given.items():
            if not re.fullmatch("(start_|end_)?dim[01]?|axis", name):
                continue
            for dim in (77, -78):
                bad = {**given, name: [dim] if isinstance(value, list) else dim}
                error = refused(row.function, **bad)
                assert isinstance(error, IndexError), (sample, name)
                assert row.torch.rstrip("_") in str(error) or row.name in str(error)


@each_row
def test_no_argument_crashes(row):
    for sample in row.samples[:2]:
        for p in row.params:
            for thing in menagerie():
                th.manual_seed(0)
                given = rows.arguments(row, sample)
                try:
                    row.function(**{**given, p.name: thing})
                except REFUSALS as error:
                    assert str(error)


@pytest.mark.parametrize("row", [r for r in ROWS if r.method], ids=lambda r: r.name)
def test_no_method_takes_self_of_another_kind(row):
    for thing in menagerie():
        if not isinstance(thing, th.Tensor):
            with pytest.raises(TypeError):
                getattr(th.Tensor, row.torch)(thing)


# What would write files, begin threads or wait; or is no function of arguments.
LEFT_OUT = {"save", "load", "set_num_threads", "set_num_interop_threads", "set_printoptions"}


def functions():
    for owner, label in ((th, "torch"), (th.Tensor, "Tensor")):
        for name in dir(owner):
            thing = getattr(owner, name, None)
            if callable(thing) and not name.startswith("_") and name not in LEFT_OUT:
                yield pytest.param(thing, id=f"{label}.{name}")


@pytest.mark.parametrize("function", list(functions()))
def test_no_function_or_method_crashes(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = th.get_default_dtype() if hasattr(th, "get_default_dtype") else None
    things = [x for x in menagerie() if not (type(x) is int and abs(x) > 2**32)]  # counts, to some
    for args in [()] + [(x,) for x in things] + [(th.ones(2, 2), x) for x in things]:
        try:
            function(*args)
        except (*REFUSALS, AttributeError, BufferError, KeyError, StopIteration, AssertionError):
            pass
    if before is not None:
        th.set_default_dtype(before)
    th.set_default_device(None)


def test_slots_do_not_crash():
    x = th.ones(2, 2)
    for thing in menagerie():
        for how in (
            lambda t: x[t], lambda t: x + t, lambda t: t + x, lambda t: x @ t, lambda t: x**t,
            lambda t: x == t, lambda t: x < t, lambda t: x // t, lambda t: x % t,
            lambda t: x & t, lambda t: x << t, lambda t: x.__setitem__(0, t),
            lambda t: x.__setitem__(t, 1), lambda t: x.__delitem__(t), lambda t: x.__iadd__(t),
            lambda t: setattr(x, "grad", t), lambda t: setattr(x, "requires_grad", t),
            lambda t: t in x, lambda t: format(x, t), lambda t: divmod(x, t),
            lambda t: th.tensor(t),
            lambda t: th.tensor([t, t]), lambda t: th.tensor(1, dtype=t), lambda t: th.Size(t),
            lambda t: th.device(t), lambda t: th.Generator(t),
            lambda t: th.Generator().set_state(t),
            lambda t: th.Generator().manual_seed(t), lambda t: th.Tensor(t),
            lambda t: x.__array__(t),
            lambda t: x.size(t), lambda t: x.stride(t), lambda t: delattr(x, "grad"),
        ):  # fmt: skip
            try:
                how(thing)
            except (*REFUSALS, AttributeError, KeyError):
                pass


def test_an_error_of_the_library_names_the_operator_and_its_arguments():
    error = refused(th.mm, th.ones(2, 3), th.ones(2, 3))
    assert isinstance(error, RuntimeError)
    assert "matmul(self=float32 (2, 3), other=float32 (2, 3)), called by mm" in str(error)


def test_an_exception_of_a_users_function_comes_out_as_it_is():
    class Half:
        def __float__(self):
            raise ZeroDivisionError

    assert isinstance(refused(th.full, (2,), Half()), TypeError)  # not of that kind, as torch


def test_no_error_is_left_for_the_next_call():
    """What a 0-dim meta tensor cannot tell is an error of the call that asked."""
    meta = th.ones((), device="meta")
    refused(th.allclose, meta, meta)
    refused(th.ones(3).__getitem__, th.tensor(True).to("meta"))
    assert th._C._pending() is None
    assert th.ones(2).tolist() == [1.0, 1.0]


def test_out_may_be_a_list():
    out = [th.empty(2), th.empty(2, dtype=th.int64)]
    r = th.max(th.tensor([[1.0, 4], [3, 2]]), 0, out=out)
    assert r[0] is out[0] and out[0].tolist() == [3, 4] and out[1].tolist() == [1, 0]
    for bad in (out[:1], [1, 2], []):
        with pytest.raises(TypeError):
            th.max(th.ones(2, 2), 0, out=bad)


X = th.ones(2, 3)
AT = th.zeros(1, 3, dtype=th.int64)
WIDE, PLACES = th.empty(3, dtype=th.float64), th.empty(3, dtype=th.int32)


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.amax(X, 0, out=WIDE), lambda: th.amin(X, 0, out=WIDE),
        lambda: th.aminmax(X, dim=0, out=(th.empty(3), WIDE)),
        lambda: th.max(X, 0, out=(WIDE, th.empty(3, dtype=th.int64))),
        lambda: th.min(X, 0, out=(th.empty(3), PLACES)), lambda: th.argmax(X, 0, out=PLACES),
        lambda: th.mode(X, 0, out=(WIDE, th.empty(3, dtype=th.int64))),
        lambda: th.kthvalue(X, 1, 0, out=(WIDE, th.empty(3, dtype=th.int64))),
        lambda: th.sort(X[0], out=(WIDE, th.empty(3, dtype=th.int64))),
        lambda: th.topk(X[0], 3, out=(th.empty(3), PLACES)),
        lambda: th.gather(X, 0, AT, out=WIDE[None]),
        lambda: th.index_select(X, 0, AT[0, :1], out=WIDE[None]),
        lambda: th.multinomial(X, 1, out=th.empty(2, 1)),
    ],
)  # fmt: skip
def test_what_is_chosen_is_written_as_it_is(call):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        call()


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin", "max", "min"])
def test_nothing_to_choose_from(name):
    with pytest.raises(IndexError, match="Expected reduction dim 1 to have non-zero size"):
        getattr(th, name)(th.empty(2, 0), 1)
    with pytest.raises(IndexError if name[0:3] == "arg" else RuntimeError):
        getattr(th, name)(th.empty(0))
    assert getattr(th.empty(0, 3), name)(1) is not None


def test_values_of_cat_and_aminmax():
    with pytest.raises(ValueError, match="expected a non-empty list of Tensors"):
        th.cat([])
    both = th.empty(3)
    with pytest.raises(ValueError, match="must not overlap"):
        th.aminmax(X, dim=0, out=(both, both))


def test_names_of_words_that_a_program_makes():
    out, made = th.empty(2), "".join  # what it makes is not interned
    assert th.add(th.ones(2), 1, **{made(["o", "ut"]): out}) is out
    assert th.zeros(2, **{made(["requires", "_grad"]): True}).requires_grad
    more = {made(["pin", "_memory"]): False, made(["lay", "out"]): th.strided}
    assert th.zeros(2, **more).numel() == 2
    assert th.sum(**{made(["in", "put"]): th.ones(2), made(["ax", "is"]): 0}) == 2
    assert th.sum(th.ones(2), 0, **{made(["keep", "dims"]): True}).shape == (1,)


def test_an_index_of_no_dimensions_needs_a_source_that_has_an_element():
    for name in ("scatter", "scatter_add"):
        error = refused(getattr(th, name), th.zeros(3), 0, th.tensor(0), th.zeros(0))
        assert "no larger than src (0)" in str(error)


def test_writing_into_a_view_of_a_leaf_that_is_a_view_is_refused():
    leaf = th.zeros(5, 2)[0]
    leaf.requires_grad = True
    error = refused(leaf.__setitem__, 0, 1.0)
    assert "view of a leaf" in str(error)
    assert leaf.tolist() == [0.0, 0.0]


WRONG = [
    "t.softmax(x, object())", "t.softmax(object(), 1)", "t.softmax(object(), dim=1)",
    "x.softmax(object())", "t.softmax(x, dim=0, dtype=5)", "x.uniform_('a')", "t.gather(x)",
    "x.gather()", "t.gather()", "t.gather(x, dim=0, index=x, foo=1)", "x.mm()", "x.mm(1)",
    "x.mm(mat2=1)", "x.mm(x, mat2=x)", "x.uniform_(1, 2, 3)", "x.normal_(generator=4)",
    "t.zeros(['a'])", "x.permute(['a', 1])", "t.zeros_like(5)", "t.zeros(2, dtype='float')",
    "t.zeros(2, requires_grad=5)", "x.flatten('a')", "t.zeros()", "t.full((2,))", "t.abs()",
    "t.add(x, 1, foo=2)", "t.add(x, 1, input=x)", "t.cat(5)", "x.add(1, out=x)", "t.softmax(x)",
]  # fmt: skip
SAME_KIND = [
    "x.sum(2**70)", "t.zeros(2**70)", "t.full((2,), 2**70)", "x.add(2**70)", "x.unsqueeze(2**70)",
    "x.sum(5)", "x.softmax(5)", "x.unsqueeze(5)", "x.transpose(0, 9)", "t.cat([1])",
    "t.gather(x, 0, x)", "t.zeros(-1)", "t.clamp(x, object())", "t.max(x, object())", "x.mm(x)",
    "x + object()", "x.view(7)", "x.expand(5)", "t.mm(x, x, x)", "x[5]", "x[0, 0, 0]", "t.eye()",
]  # fmt: skip


def complaint(t, text):
    x = t.zeros(2, 3)
    try:
        eval(text, {"t": t, "x": x})
    except Exception as error:
        return error
    raise AssertionError(f"{text} is not refused")


@pytest.mark.parametrize("text", WRONG + SAME_KIND)
def test_errors_are_torchs(text):
    torch = pytest.importorskip("torch")
    ours, theirs = complaint(th, text), complaint(torch, text)
    assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
    if text in WRONG:
        assert str(ours).splitlines()[0] == str(theirs).splitlines()[0]


def test_sizes_that_were_forgotten():
    for call in (lambda: th.randint(0, 10), lambda: th.randint(3, 4), lambda: th.normal(0, 1)):
        with pytest.raises(TypeError, match="size"):
            call()
    assert th.randint(0, 10, size=(2,)).shape == th.normal(0, 1, (2,)).shape == (2,)


def test_a_word_that_is_none_of_those_is_what_torch_raises():
    x = th.ones(3)
    for call in (
        lambda: th.div(x, 2, rounding_mode="up"),
        lambda: th.nn.functional.gelu(x, approximate="up"),
        lambda: th.meshgrid(x, indexing="up"),
    ):
        with pytest.raises(RuntimeError, match="up"):
            call()
    with pytest.raises(ValueError, match="up is not a valid value for reduction"):
        th.nn.functional.mse_loss(x, x, reduction="up")


def test_texts_have_pythons_names():
    with pytest.raises(RuntimeError, match=r"Use reshape\(\.\.\.\) instead") as caught:
        th.ones(3, 4).t().view(12)
    assert "tn_" not in str(caught.value)


@pytest.mark.parametrize(
    ("space", "name", "why"),
    [
        ("Tensor", "map_", "memory is its own"),
        ("Tensor", "to_sparse_bsr", "layouts are"), ("Tensor", "qscheme", "kernels"),
        ("Tensor", "grad_dtype", "planned"), ("", "while_loop", "Python compiler"),
        ("", "classes", "built inside"),
        ("serialization", "skip_data", "nothing in them is imported"),
    ],
)  # fmt: skip
def test_a_name_that_is_left_out_says_why(space, name, why):
    where = getattr(th, space) if space else th
    with pytest.raises(AttributeError, match=f"'{name}'.*\\(.*{why}"):
        getattr(th.ones(2) if space == "Tensor" else where, name)
    assert not hasattr(where, name)


def test_names_of_torchs_other_files():
    import tensorh.backends.cudnn as cudnn
    from tensorh.optim.adam import Adam

    from tensorh.types import Device, Number, _size

    assert cudnn is th.backends.cudnn and Adam is th.optim.Adam
    assert isinstance(1.5, Number) and isinstance("cpu", Device) and _size
    assert th.version.__version__ == th.__version__ and th.version.cuda is None
    assert not th.backends.openmp.is_available() and not hasattr(th.backends, "nope")


def test_a_matrix_without_a_factor_is_torchs_error():
    a, out = th.stack([th.eye(2), -th.eye(2)]), th.ones(2, 2, 2)
    with pytest.raises(th.linalg.LinAlgError, match=r"\(Batch element 1\): .* order 1"):
        th.linalg.cholesky(a, out=out)
    assert out.tolist() == th.ones(2, 2, 2).tolist()
    assert th.linalg.cholesky_ex(a).info.tolist() == [0, 1]
    assert th.linalg.LinAlgError is th._C._LinAlgError and "LinAlgError" in dir(th.linalg)
    assert str(th.linalg.LinAlgError) == "<class 'torch._C._LinAlgError'>"


def test_out_of_memory_is_caught_by_each_of_its_names():
    for kind in (th.OutOfMemoryError, th.cuda.OutOfMemoryError, MemoryError, RuntimeError):
        with pytest.raises(kind, match="bytes"):
            th.empty(2**55)
    assert th.ones(2).tolist() == [1.0, 1.0]


def test_settings_say_what_they_do():
    assert th.get_num_interop_threads() == 1 and th.set_num_interop_threads(3) is None
    assert not th.set_flush_denormal(True)
    assert th.tensor([1e-323], dtype=th.float64).item() != 0
    for f, bad, kind in (
        (th.set_num_interop_threads, 0, RuntimeError),
        (th.set_num_interop_threads, 1.0, TypeError),
        (th.set_flush_denormal, 1, RuntimeError),
    ):
        with pytest.raises(kind, match="expects"):
            f(bad)
    th.set_anomaly_enabled(True, False)
    assert not th.is_anomaly_enabled() and not th.is_anomaly_check_nan_enabled()
    th.set_anomaly_enabled(True)
    assert th.is_anomaly_enabled() and th.is_anomaly_check_nan_enabled()
    th.set_anomaly_enabled(False)
    assert not th.is_anomaly_enabled()
