"""The three operators that a stranger added, as Python has them from their rows."""

import math

import tensorh as torch

x = torch.tensor([[0.0, 3.0], [-4.0, 5.0]], dtype=torch.float64, requires_grad=True)
y = torch.stranger_logaddexp(x, torch.zeros(2, dtype=torch.float64))
assert abs(y[1, 1].item() - math.log(math.exp(5) + 1)) < 1e-14, y
y.sum().backward()
assert abs(x.grad[0, 1].item() - 1 / (1 + math.exp(-3))) < 1e-14, x.grad
x = x.detach()
assert x.stranger_logaddexp(x).tolist() == (x + math.log(2)).tolist()
assert x.clone().stranger_logaddexp_(x).tolist() == x.stranger_logaddexp(x).tolist()

assert x.stranger_count_nonzero().item() == 3
assert torch.stranger_count_nonzero(x, dim=[1]).tolist() == [1, 2]
out = torch.zeros(2, dtype=torch.int64)
assert torch.stranger_count_nonzero(x, 0, out=out) is out and out.tolist() == [1, 2]

spread, mean = result = torch.stranger_std_mean(x, dim=1, correction=0)
assert spread.tolist() == [1.5, 4.5] and result.mean.tolist() == [1.5, 0.5]
assert "one pass" in torch.stranger_std_mean.__doc__

try:
    torch.stranger_std_mean(x, correct=0)
    raise AssertionError("an unknown keyword was taken")
except TypeError as error:
    assert "stranger_std_mean" in str(error)
