"""Order along a lane: long ones, keys that differ in low bits, the first few, one place."""

import math
import random

import pytest

import tensorh as torch

LENGTHS = (1, 2, 11, 12, 13, 24, 25, 99, 2047, 2048, 5000)
DTYPES = ("float64", "float32", "float16", "int64", "int32", "uint8", "bool")


def values(kind, n, dtype):
    """Numbers that dtype holds: spread, few, or near each other with ends far away."""
    draw = random.Random(n * 10 + kind)
    if not dtype.startswith("float"):
        most = {"int64": 2**62, "int32": 2**31 - 1, "uint8": 255, "bool": 1}[dtype]
        least = 0 if dtype in ("uint8", "bool") else -most
        ends = (least, most) if kind == 0 else (0, min(5, most))
        x = [draw.randint(*ends) for _ in range(n)]
        if kind == 2:
            x[0], x[-1] = most, least
        return x
    if kind == 1:
        return [draw.randint(-3, 5) / 2 for _ in range(n)]
    x = [draw.gauss(0, 1) if kind == 0 else 1 + draw.random() * 1e-13 for _ in range(n)]
    if kind == 2 and n > 6:
        x[0], x[1], x[n // 2], x[n // 3], x[-1] = 0.0, -math.inf, math.nan, math.inf, -0.0
    return x


def ordered(x, descending):
    """The places of x in order: equal ones in theirs, NaN the largest."""
    sign = -1 if descending else 1
    key = [(sign * math.isnan(v), 0 if math.isnan(v) else sign * v) for v in x]
    return sorted(range(len(x)), key=lambda i: (key[i], i))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", (0, 1, 2))
def test_places_of_a_lane(dtype, kind):
    for n in LENGTHS:
        t = torch.tensor(values(kind, n, dtype), dtype=getattr(torch, dtype))
        x = t.tolist()
        for descending in (False, True):
            want = ordered(x, descending)
            assert torch.argsort(t, descending=descending).tolist() == want
            for k in {1, (n + 5) // 6, (n + 2) // 3, n}:
                assert torch.topk(t, k, largest=descending).indices.tolist() == want[:k]
        want = ordered(x, False)
        if dtype == "bool":
            continue
        for k in {1, n // 5 + 1, n}:
            assert torch.kthvalue(t, k).indices.item() == want[k - 1]
        nans = sum(map(math.isnan, x))
        assert torch.nanmedian(t, 0).indices.item() == want[(n - nans - 1) // 2]
        assert torch.median(t, 0).indices.item() == want[n - nans if nans else (n - 1) // 2]


def test_lanes_of_any_strides_and_threads():
    t = torch.randint(0, 50, (37, 300, 5)).float()
    threads = torch.get_num_threads()
    for x in (t, t.transpose(0, 2), t[::2, :, 1:3]):
        for dim in range(3):
            got = []
            for n in (1, 3):
                torch.set_num_threads(n)
                got.append(torch.sort(x, dim).indices.tolist())
            assert got[0] == got[1]
            assert torch.equal(torch.sort(x.contiguous(), dim).indices, torch.tensor(got[0]))
            least = torch.sort(x, dim).values.narrow(dim, 0, 2)
            assert torch.equal(torch.topk(x, 2, dim, False).values, least)
    torch.set_num_threads(threads)
