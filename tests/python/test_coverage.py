"""tensorh/_missing.py and tests/samples/names.txt, torch's public names, belong together."""

import sys
from pathlib import Path

import pytest

import tensorh
from tensorh import _missing

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
sys.path.insert(0, str(SAMPLES))
import surface  # noqa: E402

sys.path.remove(str(SAMPLES))


@pytest.mark.parametrize("space", _missing.PLANNED)
def test_what_is_listed_as_missing_does_not_exist(space):
    owner = surface.owner("tensorh", space)
    words = _missing.PLANNED[space].split()
    assert [w for w in words if owner is not None and hasattr(owner, w)] == []
    assert len(set(words)) == len(words)


def test_methods_and_spaces_that_are_listed_as_missing_do_not_exist():
    assert [n for n in _missing.TENSOR_LEFT_OUT.split() if hasattr(tensorh.Tensor, n)] == []
    assert [n for n in _missing._SPACES.split() if hasattr(tensorh, n)] == []


def test_every_name_that_is_absent_has_a_reason():
    for group, (_, absent) in surface.compared(surface.of_list()).items():
        assert "unknown" not in absent, (group, absent["unknown"])


def test_torch_has_the_names_of_the_list():
    torch = pytest.importorskip("torch")
    found, listed = surface.of_torch(), surface.of_list()
    assert f"torch {torch.__version__.partition('+')[0]};" in surface.text_of_list()
    assert [g for g in found if found[g] != listed[g]] == []
