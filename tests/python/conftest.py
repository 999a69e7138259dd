"""Finds rows.py beside the tests; makes every test begin with the same random numbers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def seeded():
    """The default generator, seeded."""
    import tensorh

    tensorh.manual_seed(0)


# Forms of calls that are in Python (tensorh/_overloads.py) take more than the row does, or are the
# last frame of an error; docs/plan.md has them among what is known to be wrong.
LENIENT = {
    "test_a_stranger_by_place_is_told_with_its_place[clamp_tensor]",
    "test_missing_argument[meshgrid]",
    "test_argument_given_twice[copy]",
    "test_argument_given_twice[split]",
    "test_too_many_arguments[bernoulli]",
    "test_too_many_arguments[contiguous]",
    "test_too_many_arguments[copy]",
}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.name in LENIENT:
            item.add_marker(pytest.mark.xfail(reason="a form in Python", strict=True))
