"""Sobol sequences beside torch's and SciPy's, and what makes them even."""

import pytest

import tensorh as torch
from tensorh.quasirandom import SobolEngine


def test_points_of_torchs_example():
    # torch.quasirandom.SobolEngine(5), points 1, 2, and number 1,000 of dimensions 5, 20, 100, 481
    engine = SobolEngine(5)
    assert engine.draw().tolist() == [[0] * 5]
    assert engine.draw(2).tolist() == [[0.5] * 5, [0.75, 0.25, 0.25, 0.25, 0.75]]
    point = SobolEngine(481).fast_forward(1000).draw(dtype=torch.float64)[0]
    assert [point[d].item() * 1024 for d in (4, 19, 99, 480)] == [287, 743, 191, 771]


def test_each_dimension_takes_every_part_once():
    for engine in SobolEngine(481), SobolEngine(7, scramble=True, seed=1):
        points = engine.draw(256)
        parts = (points * 256).long().sort(0).values
        assert torch.equal(parts, torch.arange(256)[:, None].expand_as(parts))
    pairs = (SobolEngine(2).draw(64) * 8).long()  # every square of 8 x 8 once
    assert (pairs[:, 0] * 8 + pairs[:, 1]).sort().values.tolist() == list(range(64))


def test_engines_go_on_forward_and_back():
    engine, other = SobolEngine(3), SobolEngine(3)
    points = engine.draw(10)
    parts = [other.draw(n) for n in (1, 3, 6)]
    assert torch.equal(torch.cat(parts), points)
    assert torch.equal(engine.reset().fast_forward(7).draw(3), points[7:])
    out = torch.empty(0)
    assert engine.reset().draw(4, out=out) is out and torch.equal(out, points[:4])
    assert torch.equal(engine.draw_base2(2), points[4:8])
    with pytest.raises(ValueError, match="power of 2"):
        engine.reset().fast_forward(3).draw_base2(2)


def test_what_engines_refuse():
    assert repr(SobolEngine(2, True, 5)) == "SobolEngine(dimension=2, scramble=True, seed=5)"
    for dimension in (0, SobolEngine.MAXDIM + 1):
        with pytest.raises(ValueError, match="Supported range"):
            SobolEngine(dimension)
    with pytest.raises(ValueError, match="points"):
        SobolEngine(1).fast_forward(2**30).draw()


@pytest.mark.parametrize("scramble", [False, True])
def test_points_are_torchs(scramble):
    theirs = pytest.importorskip("torch").quasirandom.SobolEngine
    for dimension in (1, 6, 481):
        engine = SobolEngine(dimension, scramble, seed=3)
        oracle = theirs(dimension, scramble, seed=3)
        oracle.fast_forward(100)
        assert engine.fast_forward(100).draw(40).tolist() == oracle.draw(40).tolist()


def test_points_are_scipys():
    qmc = pytest.importorskip("scipy.stats").qmc
    wanted = qmc.Sobol(60, scramble=False, bits=30).random(64)
    assert SobolEngine(60).draw(64, dtype=torch.float64).tolist() == wanted.tolist()
