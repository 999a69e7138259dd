"""Every row is callable from Python: by place, by keyword, as a method, in place, with out=; all
ways give the same bits. What the rows say is not repeated here: it comes from tensorh._C._rows."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import rows

import tensorh as th

ROWS = rows.rows()
CASES = [(row, sample) for row in ROWS for sample in row.samples]
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
each_case = pytest.mark.parametrize(
    "row, sample", CASES, ids=[f"{r.name}-{s.replace(' ', '_')}" for r, s in CASES]
)


def run(row, sample, how):
    """how(arguments by name) with fresh arguments: what it gave and the arguments after it."""
    th.manual_seed(7)
    given = rows.arguments(row, sample)
    result = how(given)
    return result, rows.bits(result) if row.defined else None, rows.bits(given)


def by_place(row):
    def how(given):
        place, named = rows.split(row, given)
        return row.function(*place, **named)

    return how


def by_keyword(row):
    return lambda given: row.function(**given)


def with_defaults(row):
    def how(given):
        defaults = {p.name: p.default_value for p in row.params if p.default is not None}
        return row.function(**{**defaults, **given})

    return how


def as_method(row, name=None):
    def how(given):
        place, named = rows.split(row, given)
        method = getattr(place[0], name or row.torch)
        return method(*place[1:], **named) if callable(method) else method  # x.real

    return how


def inplace(row, name):
    if row.method:
        return as_method(row, name)

    def how(given):
        place, named = rows.split(row, given)
        return getattr(th, name)(*place, **named)

    return how


def test_there_are_rows_and_samples():
    assert len(ROWS) >= 250
    assert [row.name for row in ROWS if not row.samples] == []


@each_case
def test_place_keyword_and_method_give_the_same_bits(row, sample):
    _, result, after = run(row, sample, by_place(row))
    ways = [by_keyword, with_defaults]
    if row.method and isinstance(rows.arguments(row, sample)["self"], th.Tensor):  # not 2 ** x
        ways.append(as_method)
    for how in ways:
        assert run(row, sample, how(row))[1:] == (result, after), how.__name__


@each_row
def test_torchs_other_names_of_arguments(row):
    """input for self, axis for dim, keepdims for keepdim."""
    other = {"self": "input", "dim": "axis", "keepdim": "keepdims"}
    for sample in row.samples:
        plain = run(row, sample, by_place(row))
        if not other.keys() & rows.arguments(row, sample).keys():
            continue

        def how(given):
            return row.function(**{other.get(n, n): v for n, v in given.items()})

        assert run(row, sample, how)[1:] == plain[1:]


@each_row
def test_results_are_tensors_named_as_the_schema_says(row):
    result = run(row, row.samples[0], by_place(row))[0]
    if row.results == -1:
        assert isinstance(result, tuple) and all(isinstance(t, th.Tensor) for t in result)
    elif row.results > 1:
        names = [part.split()[-1] for part in row.schema.split("-> (")[1].rstrip(")").split(", ")]
        assert len(result) == row.results
        if row.torch == "var_mean":  # torch's has no names
            assert type(result) is tuple
            return
        for i, name in enumerate(names):
            assert getattr(result, name) is result[i]
    elif row.results == 0:
        assert result is None
    elif row.schema.endswith("-> bool"):
        assert isinstance(result, bool)
    else:
        assert isinstance(result, th.Tensor)


@pytest.mark.parametrize("row", [r for r in ROWS if r.inplace], ids=lambda r: r.name)
def test_in_place_writes_into_self_and_returns_it(row):
    written = 0
    name = row.torch if row.torch.endswith("_") else row.torch + "_"
    for sample in row.samples:
        if name == row.torch:
            result, _, after = run(row, sample, as_method(row))
        else:
            plain, expected, _ = run(row, sample, by_place(row))
            to = next(iter(rows.arguments(row, sample).values()))
            if not isinstance(to, th.Tensor):
                continue
            same = (plain.dtype, plain.shape) == (to.dtype, to.shape)
            try:
                result, got, after = run(row, sample, inplace(row, name))
            except RuntimeError:
                assert not same or to.dtype.is_complex
                continue
            assert got == expected or not same
        written += 1
        assert rows.bits(result) == next(iter(after.values()))
    assert written or row.torch in ("copy",)


@pytest.mark.parametrize("row", [r for r in ROWS if r.out], ids=lambda r: r.name)
def test_out_is_written_and_returned(row):
    for sample in row.samples:
        plain, expected, _ = run(row, sample, by_place(row))
        several = row.results != 1
        fresh = [th.empty_like(t) for t in (plain if several else [plain])]
        out = tuple(fresh) if several else fresh[0]

        def how(given, out=out):
            place, named = rows.split(row, given)
            return row.function(*place, **named, out=out)

        result, got, _ = run(row, sample, how)
        assert got == expected
        assert all(a is b for a, b in zip(result, fresh, strict=True)) if several else result is out


@each_row
def test_function_has_a_signature_and_a_docstring(row):
    function = row.function
    names = list(inspect.signature(function).parameters)
    assert row.schema in function.__doc__
    if row.params and names[-1] != "kwargs":
        say = {"self": "input", "from": "from_", "lambda": "lambda_"}
        assert names[: len(row.params)] == [say.get(p.name, p.name) for p in row.params]
        assert not row.out or "out" in names
    for p in inspect.signature(function).parameters.values():
        if p.name in [q.name for q in row.params if q.name not in ("self", "input")]:
            q = row.param(p.name)
            assert q.required or names[-1] == "kwargs" or p.default == q.default_value


@pytest.mark.parametrize("row", [r for r in ROWS if r.places], ids=lambda r: r.name)
def test_a_row_stands_at_its_places(row):
    for place in row.places.split():
        *spaces, name = place.split(".")
        space = th
        for part in spaces:
            space = getattr(space, part)
        given = row.torch if name.endswith("_") == row.torch.endswith("_") else row.torch + "_"
        assert getattr(space, name).__name__ == given and name in dir(space)


def test_names_with_a_namespace_are_neither_in_torch_nor_methods():
    own = [r for r in ROWS if r.places and r.places.split()[0].replace(".", "_") == r.torch]
    assert {"linalg_cholesky", "linalg_vector_norm"} <= {r.torch for r in own}
    assert not {r.torch for r in own} & ({*dir(th)} | {*dir(th.Tensor)})


# --- names ----------------------------------------------------------------------------------------

IN_C = {"contiguous", "to"}  # methods that src/py/convert.c writes around their rows
SPACES = sorted({*th._C._spaces, *th._LAZY, "nn.functional", "nn.utils", "optim.lr_scheduler"})


def test_namespaces_are_imported_by_statements():
    """Each in a new process' first import of it, as `import torch.nn.functional as F`."""
    lines = [f"import tensorh.{s} as m\nassert m is sys.modules['tensorh.{s}'], m" for s in SPACES]
    code = "\n".join(["import sys", *lines, "from tensorh.linalg import cholesky"])
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_namespace_of_rows_alone_is_a_module_without_a_file(monkeypatch):
    name = "tensorh.no_file.below"
    monkeypatch.setitem(th._C._spaces, "no_file.below", {"add": th.add})
    try:
        assert importlib.import_module(name).add is th.add
        assert th.no_file.below is sys.modules[name] and dir(th.no_file.below).count("add") == 1
        with pytest.raises(AttributeError, match="nothing"):
            th.no_file.below.nothing  # noqa: B018
    finally:
        for module in (name, "tensorh.no_file"):
            sys.modules.pop(module, None)
        vars(th).pop("no_file", None)


@pytest.mark.parametrize("name", ["tensorh.no_such_space", "tensorh.nn.no_such_space"])
def test_a_namespace_that_does_not_exist_is_named(name):
    with pytest.raises(ModuleNotFoundError, match=name) as error:
        importlib.import_module(name)
    assert error.value.name == name


def by_hand():
    """(namespace, name, what Python defines there) of all that a row of that name would meet."""
    from tensorh import _functions, _tensor

    members = vars(th.Tensor).items()
    yield from (("Tensor", n, f) for n, f in _functions._methods().items())
    yield from (("Tensor", n, f) for n, f in members if inspect.isfunction(f))
    yield from (("Tensor", n, f) for n, f in members if type(f).__name__ == "method_descriptor")
    yield from (("", n, f) for n, f in _functions._names().items())
    yield from (("", n, f"an alias of {f}") for n, f in _tensor.ALIASES.items())
    yield from (("", n, "a module of tensorh") for n in th._LAZY)
    yield from (("", n, f"of tensorh.{s}") for n, s in th._LAZY_NAMES.items())
    for s in th._C._spaces:
        yield from ((s, n, f) for n, f in vars(importlib.import_module("tensorh." + s)).items())


def place_of(thing):
    f = inspect.unwrap(thing) if callable(thing) else None
    if not inspect.isfunction(f):
        return getattr(thing, "__doc__", None) if f else thing
    return f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}"


def place_of_row(row):
    """src/ops/.../file.c:line, in a checkout."""
    for path in sorted((Path(__file__).parents[2] / "src" / "ops").rglob("*.c")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if '"' + row.schema[:20] in line:
                return f"{path}:{number}"
    return f"the row {row.name}"


def is_of_its_row(row, name, thing):
    """It is the row's own, or says that it is written around it: _row("bernoulli_")."""
    f = inspect.unwrap(thing) if callable(thing) else thing
    if inspect.isfunction(f):
        return f'_row("{name}")' in inspect.getsource(f)
    return name in IN_C or row.schema in (getattr(thing, "__doc__", None) or "")


def test_no_name_by_hand_is_also_the_name_of_a_row():
    """One of the two would never be called. Take the Python function out, or write it around its
    row by _row(name)."""
    named = {}
    for row in ROWS:
        for end in {"", "_"} if row.inplace and not row.torch.endswith("_") else {""}:
            named.setdefault(("", row.torch + end), []).append(row)
            if row.method:
                named.setdefault(("Tensor", row.torch + end), []).append(row)
        for place in (row.places or "").split():
            named.setdefault(tuple(place.rpartition(".")[::2]), []).append(row)
    clashes = [
        f"{space or 'torch'}.{name}: by hand {place_of(thing)}, row {place_of_row(owners[0])}"
        for space, name, thing in by_hand()
        for owners in [named.get((space, name), ())]
        if owners and not any(is_of_its_row(row, name, thing) for row in owners)
    ]
    assert not clashes, "\n".join(clashes)


@pytest.mark.parametrize("row", [r for r in ROWS if r.method], ids=lambda r: r.name)
def test_method_has_a_signature_and_a_docstring(row):
    forms = [row.torch] + [row.torch + "_"] * (row.inplace and not row.torch.endswith("_"))
    for name in forms:
        method = th.Tensor.__dict__[name]
        if not callable(method):
            continue
        assert list(inspect.signature(method).parameters)[0] == "self"
        assert method.__doc__


def test_what_is_no_row_has_a_docstring_too():
    for owner in (th._C, th.Tensor):
        for name, thing in vars(owner).items():
            if callable(thing) and not isinstance(thing, type) and not name.startswith("_"):
                assert thing.__doc__, name
