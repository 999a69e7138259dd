"""The writer of the oracle's data: only what torch refuses is a refusal."""

import importlib.util
import pathlib
import sys

import pytest

import tensorh as torch

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def make(monkeypatch, tmp_path):
    """tests/oracle/make.py, which writes into tmp_path; tensorh stands for torch."""
    nn = {"torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional}
    for name, module in nn.items():
        monkeypatch.setitem(sys.modules, name, module)
    path = ROOT / "tests" / "oracle" / "make.py"
    spec = importlib.util.spec_from_file_location("oracle_make", path)
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "oracle_make", made)
    monkeypatch.setattr(made, "__name__", "oracle_make")
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "HERE", str(path.parent))
    (tmp_path / "data").mkdir()
    return made


def row(sample):
    common = {"optional": False, "required": True, "keyword": False, "mutated": False}
    params = [dict(common, name=name, type="Tensor") for name in ("self", "mat2")]
    flags = dict.fromkeys(("random", "domain", "grad", "composed"))
    return {"name": "product", "torch": "mm", "sample": sample, "params": params, **flags}


def written(make, monkeypatch, tmp_path, function, sample):
    monkeypatch.setattr(make, "callee", lambda row: [function])
    monkeypatch.setattr(make.os.path, "join", lambda here, *parts: str(tmp_path.joinpath(*parts)))
    make.write(row(sample))
    return sorted(p.name for p in (tmp_path / "data").iterdir())


def test_a_refusal_by_torch_leaves_the_sample_out(make, monkeypatch, tmp_path):
    files = written(make, monkeypatch, tmp_path, torch.mm, "(2,3) (3,2) | (2,3) (2,3)")
    assert files == ["product.txt"]
    text = (tmp_path / "data" / "product.txt").read_text()
    assert "sample 0 f64" in text and "sample 1 f64" not in text


WRONG = [("(2,3) (3,2", "tensor"), ("(2,3) mat3=(3,2)", "no parameter"), ("(2) (2) (2)", "index")]


@pytest.mark.parametrize("sample, said", WRONG)
def test_a_sample_that_cannot_be_read_is_an_error(make, monkeypatch, tmp_path, sample, said):
    with pytest.raises((ValueError, IndexError), match=said):
        written(make, monkeypatch, tmp_path, torch.mm, sample)


def of_none(self, mat2):
    return self.fill_(None.real)


def of_index(self, mat2):
    return [self][1]


def of_one(self):
    return self


@pytest.mark.parametrize("function", [of_none, of_index, of_one])
def test_an_error_of_what_stands_for_torch_is_an_error(make, monkeypatch, tmp_path, function):
    there = function.__code__.replace(co_filename=make.__file__)
    monkeypatch.setattr(function, "__code__", there)
    with pytest.raises((AttributeError, IndexError, TypeError)):
        written(make, monkeypatch, tmp_path, function, "(2,3) (3,2)")
