"""Where elements lie: strides of gradients and of joined images, as torch 2.15 lays them out."""

import pytest

import tensorh as torch
from tensorh.utils.data import default_collate


def images(last=True):
    x = torch.arange(120.0).view(2, 3, 4, 5)
    return x.to(memory_format=torch.channels_last) if last else x


def columns(n, m):
    return torch.arange(float(n * m)).view(m, n).t()


# A leaf, and what makes a loss of it whose backward leaves a gradient of other strides.
LEAVES = {
    "rows": (lambda: torch.ones(3, 4), lambda x: x.t() * columns(3, 4).t().contiguous(), (4, 1)),
    "columns": (lambda: columns(3, 4), lambda x: x * torch.ones(3, 4), (1, 3)),
    "columns, expanded": (lambda: columns(3, 4), lambda x: x, (1, 3)),
    "gaps": (lambda: torch.ones(4, 6)[:, ::2], lambda x: (x * x).t(), (3, 1)),
    "overlap": (lambda: torch.ones(4, 1, 1).expand(4, 3, 2), lambda x: x * x, (6, 2, 1)),
    "channels last": (images, lambda x: x * images(False), (60, 1, 15, 3)),
    "channels first": (lambda: images(False), lambda x: x * images(), (60, 20, 5, 1)),
    "one channel": (lambda: torch.ones(3, 1, 4), lambda x: x.permute(2, 1, 0) * 2, (4, 4, 1)),
}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("name", LEAVES)
def test_grad_lies_as_its_leaf(name, create):
    make, use, strides = LEAVES[name]
    x = make().requires_grad_()
    use(x).sum().backward(create_graph=create)
    assert x.grad.stride() == strides
    (g,) = torch.autograd.grad(use(x).sum(), x)
    assert torch.equal(x.grad, g)
    x.grad = None


def test_grad_of_a_seed_lies_as_its_leaf():
    x = torch.ones(3, 4, requires_grad=True)
    seed = columns(3, 4)
    x.backward(seed)
    assert x.grad.stride() == (4, 1) and torch.equal(x.grad, seed)
    assert x.grad.view(-1).tolist() == seed.flatten().tolist()
    x.backward(seed)
    assert x.grad.stride() == (4, 1) and torch.equal(x.grad, 2 * seed)


def test_a_retained_gradient_is_row_major():
    x = columns(3, 4).requires_grad_()
    y = x * 1
    y.retain_grad()
    (y * columns(3, 4)).sum().backward()
    assert y.stride() == (1, 3) and y.grad.stride() == (4, 1)
    assert x.grad.stride() == (1, 3) and torch.equal(x.grad, y.grad)


def test_first_gradients_of_chosen_inputs():
    x = columns(3, 4).requires_grad_()
    y = x * 1
    (y * columns(3, 4)).sum().backward(inputs=[x, y])
    assert x.grad.stride() == (1, 3) and y.grad.stride() == (4, 1)
    assert torch.equal(x.grad, y.grad) and torch.equal(x.grad, columns(3, 4))


def test_grad_does_not_share_the_seed():
    x = torch.ones(3, 4, requires_grad=True)
    seed = torch.ones(3, 4)
    x.backward(seed)
    seed.zero_()
    assert x.grad.sum() == 12


@pytest.mark.parametrize(
    ("joined", "strides"),
    [
        (lambda a: torch.cat([a, a]), (60, 1, 15, 3)),
        (lambda a: torch.cat([a, a], 1), (120, 1, 30, 6)),
        (lambda a: torch.cat([a, a], 3), (120, 1, 30, 3)),
        (lambda a: torch.cat([a, a.contiguous()]), (60, 20, 5, 1)),
        (lambda a: torch.cat([a.contiguous(), a]), (60, 20, 5, 1)),
        (lambda a: torch.cat([a[:1], a[:, :, :, :]]), (60, 1, 15, 3)),
        (lambda a: torch.stack([a[0], a[1]]), (60, 20, 5, 1)),
        (lambda a: torch.stack([a[0], a[1]], 1), (40, 20, 5, 1)),
        (lambda a: torch.cat([a[0].unsqueeze(0), a[1].unsqueeze(0)]), (60, 20, 5, 1)),
        (lambda a: default_collate([a[0], a[1]]), (60, 20, 5, 1)),
        (lambda a: default_collate([a[0].mul(2), a[1]]), (60, 20, 5, 1)),
    ],
)
def test_joined_images(joined, strides):
    a = images()
    made = joined(a)
    assert made.stride() == strides
    plain = joined(images(False))
    assert torch.equal(made, plain)


def test_joined_volumes():
    a = torch.arange(120.0).view(1, 3, 4, 5, 2).permute(0, 4, 1, 2, 3)
    assert torch.cat([a, a]).stride() == (120, 1, 40, 10, 2)
    assert torch.cat([a, a.contiguous()]).stride() == (120, 60, 20, 5, 1)
    assert torch.equal(torch.cat([a, a]), torch.cat([a.contiguous(), a.contiguous()]))


def test_data_of_another_shape_since_the_call():
    for shape in ((1, 1, 2, 3), (2,), (3, 1)):
        x = torch.ones(1, 1, 3, 2, requires_grad=True)
        x.data = torch.ones(3)
        y = x * 2
        x.data = torch.ones(shape).transpose(0, -1)
        with pytest.raises(RuntimeError, match="its data was replaced after the call that used it"):
            y.sum().backward()
        assert x.grad is None
