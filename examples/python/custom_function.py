"""A custom autograd.Function: a rounding that lets the gradient through, checked and trained."""
import tensorh as torch
from tensorh.autograd import Function, gradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


class Quantise(Function):
    """Rounds to multiples of `step`; its gradient is that of the identity."""

    @staticmethod
    def forward(ctx, x, step):
        return (x / step).round() * step

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def main(steps=80):
    torch.manual_seed(6)
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(Cube.apply, (x,))
    second = torch.autograd.grad(
        torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)[0].sum(), x
    )[0]
    assert torch.allclose(second, 6 * x)
    target = torch.randn(8)
    w = torch.zeros(8, requires_grad=True)
    losses = []
    for _ in range(steps):
        loss = (Quantise.apply(w, 0.25) - target).pow(2).sum() + 0.01 * Cube.apply(w).sum()
        (grad,) = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w -= 0.05 * grad
        losses.append(loss.item())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    main()
