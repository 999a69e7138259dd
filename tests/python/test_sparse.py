"""Sparse tensors: layouts, what calls do with them, gradients, optimizers, text and files."""

import copy
import importlib
import io
import pickle
import subprocess
import sys

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn import functional as F

INDICES = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])  # (0, 2) stands there twice
VALUES = [3.0, 4.0, 5.0, 0.5]
DENSE = torch.tensor([[0.0, 0.0, 3.5], [4.0, 0.0, 5.0]])


def coo(requires_grad=False, dtype=torch.float32):
    return torch.sparse_coo_tensor(INDICES, VALUES, (2, 3), dtype=dtype,
                                   requires_grad=requires_grad)  # fmt: skip


def test_attributes():
    s, c = coo(), coo().to_sparse_csr()
    assert isinstance(s, torch.Tensor) and s.layout is torch.sparse_coo and s.is_sparse
    assert c.layout is torch.sparse_csr and c.is_sparse_csr and not c.is_sparse
    assert s.shape == (2, 3) and s.numel() == 6 and s.dtype is torch.float32 and s.ndim == 2
    assert s._nnz() == 4 and (s.sparse_dim(), s.dense_dim()) == (2, 0) and not s.is_coalesced()
    assert not torch.ones(2).is_sparse and torch.ones(2).layout is torch.strided
    assert torch.ones(2).sparse_dim() == 0 and torch.ones(2).dense_dim() == 1
    assert s.coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert s.coalesce().values().tolist() == [3.5, 4.0, 5.0]
    assert c.crow_indices().tolist() == [0, 1, 3] and c.col_indices().tolist() == [2, 0, 2]
    assert s.device.type == "cpu" and not s.is_meta and not s.is_contiguous()
    with pytest.raises(RuntimeError, match="uncoalesced"):
        s.indices()
    with pytest.raises(RuntimeError, match="crow_indices expected sparse row compressed"):
        s.crow_indices()
    with pytest.raises(RuntimeError, match="indices expected sparse coordinate.*SparseCsr"):
        c.indices()
    with pytest.raises(RuntimeError, match="coalesce expected.*Strided"):
        torch.ones(2).coalesce()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64, torch.complex64])
def test_layouts_and_back(dtype):
    want = DENSE.to(dtype) if dtype is not torch.int64 else torch.tensor([[0, 0, 3], [4, 0, 5]])
    s = coo(dtype=dtype)
    for t in (s, s.coalesce(), s.to_sparse_csr(), s.to_sparse_csc(), s.t().t(), want.to_sparse(),
              want.to_sparse_csr(), want.to_sparse(1), s.to_sparse_csr().to_sparse_csc(),
              s.to_sparse_csr().to_sparse()):  # fmt: skip
        assert torch.equal(t.to_dense(), want), t
    assert torch.equal(s.to_sparse_csr().t().to_dense(), want.t())
    hybrid = torch.sparse_coo_tensor([[1, 1]], [[1, 2], [3, 4]], (3, 2), dtype=dtype)
    assert hybrid.dense_dim() == 1 and hybrid.to_dense().tolist()[1] == [4, 6]
    assert torch.sparse_coo_tensor((2, 3)).to_dense().tolist() == [[0.0] * 3] * 2
    assert torch.sparse_coo_tensor(INDICES, VALUES).shape == (2, 3)


def test_arithmetic():
    s, d = coo(), torch.arange(6.0).reshape(2, 3)
    for x in (s, s.coalesce(), s.to_sparse_csr()):
        assert torch.equal((x + x).to_dense(), 2 * DENSE) and (x + x).layout is x.layout
        assert torch.equal((x - x).to_dense(), 0 * DENSE)
        assert torch.equal((x * 2).to_dense(), 2 * DENSE) and torch.equal((-x).to_dense(), -DENSE)
        assert torch.equal((2 * x / 4).to_dense(), DENSE / 2)
        assert torch.equal((x * d).to_dense(), DENSE * d) and (d * x).layout is x.layout
        assert torch.equal((x * x).to_dense(), DENSE**2)
        assert torch.equal((x**2).to_dense(), DENSE**2)
        assert torch.equal(d + x, DENSE + d) and torch.equal(d - x, d - DENSE)
        assert torch.equal(torch.sin(x).to_dense(), DENSE.sin())
        assert x.sum().item() == 12.5
        assert torch.sparse.sum(x.to_sparse(), 0).to_dense().tolist() == [4.0, 0.0, 8.5]
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        s + d
    a = s.clone()
    a.mul_(2).add_(s).div_(3)
    torch.testing.assert_close(a.to_dense(), DENSE)
    a.zero_()
    assert a._nnz() == 0 and a.to_dense().count_nonzero() == 0
    d.add_(s, alpha=2)
    assert torch.equal(d, torch.arange(6.0).reshape(2, 3) + 2 * DENSE)
    assert d.mul_(s) is d and torch.equal(d, (torch.arange(6.0).reshape(2, 3) + 2 * DENSE) * DENSE)
    for f in (lambda: s.add_(1), lambda: s.sub_(d), lambda: s.add_(2.5)):
        with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
            f()
    for f in (lambda x, y: x.add_(y), lambda x, y: x.mul_(y)):  # in x's own dtype
        x = f(s.clone(), s.double())
        assert x.dtype is torch.float32 and torch.equal(x.to_dense(), f(DENSE.clone(), DENSE))
    with pytest.raises(RuntimeError, match="can't be cast to torch.int64"):
        torch.ones(2, 3, dtype=torch.int64).mul_(s)


def test_products():
    d, v = torch.arange(12.0).reshape(3, 4), torch.arange(3.0)
    for s in (coo(), coo().to_sparse_csr(), coo().to_sparse_csc()):
        for y in (s @ d, torch.mm(s, d), torch.matmul(s, d), torch.sparse.mm(s, d)):
            assert y.layout is torch.strided and torch.equal(y, DENSE @ d)
        assert torch.equal(s @ v, DENSE @ v) and torch.equal(s.mv(v), DENSE @ v)
        assert torch.equal(d.t() @ s.t(), d.t() @ DENSE.t())
        both = torch.sparse.mm(s, s.t())
        assert both.layout is s.layout and torch.equal(both.to_dense(), DENSE @ DENSE.t())
        b = torch.ones(2, 4)
        assert torch.equal(torch.sparse.addmm(b, s, d, beta=2, alpha=3), 2 * b + 3 * DENSE @ d)
        assert torch.equal(F.linear(torch.ones(2, 3), s), DENSE.sum(1).expand(2, 2))
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 4x3\)"):
        torch.sparse.mm(coo(), d.t())
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.sparse.mm(coo(), d.double())
    c = coo().to_sparse_csr()
    sampled = torch.sparse.sampled_addmm(c, torch.ones(2, 5), torch.ones(5, 3), alpha=2.0)
    assert torch.equal(sampled.to_dense(), torch.where(DENSE == 0, 0, DENSE + 10))


def test_shapes():
    s = coo()
    assert torch.equal(s[0].to_dense(), DENSE[0]) and torch.equal(s[:, 1:].to_dense(), DENSE[:, 1:])
    assert torch.equal(s.select(1, 2).to_dense(), DENSE[:, 2]) and s[1][2].item() == 5
    at = torch.tensor([2, 0, 2])
    assert torch.equal(s.index_select(1, at).to_dense(), DENSE[:, at])
    assert torch.equal(torch.cat([s, s]).to_dense(), torch.cat([DENSE, DENSE]))
    assert torch.equal(torch.stack([s, s], 1).to_dense(), torch.stack([DENSE, DENSE], 1))
    assert torch.equal(s.unsqueeze(1).to_dense(), DENSE.unsqueeze(1))
    assert torch.equal(s.permute(1, 0).to_dense(), DENSE.t())
    assert torch.equal(DENSE.sparse_mask(s.coalesce()).to_dense(), DENSE)
    diagonals = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    made = torch.sparse.spdiags(diagonals, torch.tensor([0, 1]), (3, 3))
    assert made.to_dense().tolist() == [[1, 5, 0], [0, 2, 6], [0, 0, 3]]


def test_softmax():
    s = torch.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 1.0, 7.0], (2, 3))
    assert torch.sparse.softmax(s, 1).coalesce().values().tolist() == [0.5, 0.5, 1.0]
    logs = torch.sparse.log_softmax(s, 0, dtype=torch.float64).coalesce().values()
    assert logs.dtype is torch.float64 and logs.tolist() == [0.0, 0.0, 0.0]


def test_gradients_of_both_factors():
    s = coo(True)
    d = torch.arange(6.0).reshape(3, 2).requires_grad_()
    y = torch.sparse.mm(s, d)
    y.backward(torch.tensor([[1.0, 2], [3, 4]]))
    assert torch.equal(d.grad, DENSE.t() @ torch.tensor([[1.0, 2], [3, 4]]))
    assert s.is_leaf and s.grad.layout is torch.sparse_coo
    want = torch.tensor([[1.0, 2], [3, 4]]) @ d.detach().t()
    assert torch.equal(s.grad.to_dense(), torch.where(DENSE == 0, 0, want))
    v = torch.tensor(VALUES, requires_grad=True)
    made = torch.sparse_coo_tensor(INDICES, v, (2, 3))
    assert made.requires_grad and not made.is_leaf
    (made * 2).to_dense().square().sum().backward()
    assert v.grad.tolist() == [28.0, 32.0, 40.0, 28.0]
    assert torch.autograd.gradcheck(
        lambda v, d: torch.sparse.mm(torch.sparse_coo_tensor(INDICES, v, (2, 3)), d),
        (v.detach().double().requires_grad_(), d.detach().double().requires_grad_()),
    )
    assert s.detach().requires_grad is False and s.requires_grad_(False).requires_grad is False


def test_what_has_no_way_names_function_and_layout():
    s, c = coo(), coo().to_sparse_csr()
    for f in (torch.exp, torch.cos, lambda t: t.reshape(6), lambda t: t == t, torch.det,
              lambda t: t.max(), lambda t: torch.where(t > 0, t, t), lambda t: t.mean(),
              lambda t: F.conv1d(t, t), lambda t: t.fill_(1), lambda t: torch.einsum("ij->ji", t),
              lambda t: torch.nn.functional.softmax(t, 0), lambda t: t.view(3, 2)):  # fmt: skip
        for t, layout in ((s, "sparse_coo"), (c, "sparse_csr")):
            with pytest.raises(NotImplementedError, match=layout):
                f(t)
    for f in (lambda: s.numpy(), lambda: memoryview(s)):
        with pytest.raises((TypeError, BufferError, RuntimeError, NotImplementedError)):
            f()
    with torch._C.DisableTorchFunctionSubclass(), pytest.raises(
        NotImplementedError, match="argument 'self' has layout sparse_coo, of which exp"
    ):
        torch.exp(s)
    assert torch.zeros_like(s)._nnz() == 0


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: torch.sparse_coo_tensor([[0, 2]], [1, 2], (2,)), RuntimeError, "found index 2"),
        (lambda: torch.sparse_coo_tensor([[0, -1]], [1, 2], (2,)), RuntimeError, "negative index"),
        (lambda: torch.sparse_coo_tensor([[0, 1]], [1], (2,)), RuntimeError, "same nnz"),
        (lambda: torch.sparse_coo_tensor([0, 1], [1, 2], (2,)), RuntimeError, "sparse_dim x nnz"),
        (lambda: torch.sparse_coo_tensor([[0]], [1], (2, 2)), RuntimeError, "sparse_dim = 1"),
        (lambda: torch.sparse_coo_tensor([[0]], [[1]], (2, 2)), RuntimeError, "incorrect size"),
        (lambda: torch.sparse_coo_tensor([[0]], [1], (2**62, 2**62)), RuntimeError, "too large"),
        (lambda: torch.sparse_csr_tensor([0, 1, 5], [0, 1], [1, 2], (2, 2)), RuntimeError, "nnz`"),
        (lambda: torch.sparse_csr_tensor([0, 1, 2], [0, 2], [1, 2], (2, 2)), RuntimeError, "ncols"),
        (lambda: torch.sparse_csr_tensor([0, 2, 2], [1, 0], [1, 2], (2, 2)), RuntimeError, "sort"),
        (lambda: torch.sparse_csr_tensor([0, 2], [1, 0], [1, 2], (2, 2)), RuntimeError, "crow_ind"),
        (lambda: coo() + torch.sparse_coo_tensor((3, 2)), RuntimeError, "same sizes"),
        (lambda: coo().backward(), RuntimeError, "scalar outputs"),
        (lambda: coo().t().t()[5], IndexError, "out of range"),
    ],
)
def test_errors(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


def test_text():
    assert repr(coo(True)) == (
        "tensor(indices=tensor([[0, 1, 1, 0],\n"
        "                       [2, 0, 2, 2]]),\n"
        "       values=tensor([3.0000, 4.0000, 5.0000, 0.5000]),\n"
        "       size=(2, 3), nnz=4, layout=torch.sparse_coo, requires_grad=True)"
    )
    assert repr(coo(dtype=torch.int32).to_sparse_csr()) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([2, 0, 2]),\n"
        "       values=tensor([3, 4, 5]), size=(2, 3), nnz=3, dtype=torch.int32,\n"
        "       layout=torch.sparse_csr)"
    )
    assert str(torch.sparse_coo_tensor((2, 3), dtype=torch.float64)) == (
        "tensor(indices=tensor([], size=(2, 0)),\n"
        "       values=tensor([], size=(0,)),\n"
        "       size=(2, 3), nnz=0, dtype=torch.float64, layout=torch.sparse_coo)"
    )


def test_copies_pickles_and_files():
    for s in (coo(), coo().coalesce(), coo().to_sparse_csr(), coo().to_sparse_csc()):
        file = io.BytesIO()
        torch.save({"s": s}, file)
        file.seek(0)
        for other in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.clone(),
                      torch.load(file)["s"], s.to(torch.float32, copy=True)):  # fmt: skip
            assert repr(other) == repr(s) and other is not s
            if s.is_sparse:
                assert other.is_coalesced() == s.is_coalesced()
    assert copy.deepcopy(coo(True)).requires_grad
    assert coo().double().dtype is torch.float64 and coo().to(torch.int64).dtype is torch.int64


@pytest.mark.parametrize("bag", [False, True])
def test_embeddings_have_sparse_gradients(bag):
    at = torch.tensor([[1, 2, 2], [4, 0, 2]])
    tables = [nn.EmbeddingBag(5, 2, mode="sum", sparse=sparse) if bag
              else nn.Embedding(5, 2, padding_idx=1, sparse=sparse) for sparse in (True, False)]
    tables[1].load_state_dict(tables[0].state_dict())
    for table in tables:
        for _ in range(2):  # gradients are added
            (table(at) ** 2).sum().backward()
    sparse, dense = (t.weight.grad for t in tables)
    assert sparse.layout is torch.sparse_coo and sparse.shape == (5, 2)
    torch.testing.assert_close(sparse.to_dense(), dense)
    weight = tables[0].weight
    (weight * 2).sum().backward()  # and a dense one
    torch.testing.assert_close(weight.grad, dense + 2)
    seen = []
    weight.register_hook(lambda g: seen.append(g.layout))
    (g,) = torch.autograd.grad(tables[0](at).sum(), weight)
    assert g.is_sparse and seen == [torch.sparse_coo]
    weight.grad = g
    assert weight.grad.is_sparse and weight.grad.zero_()._nnz() == 0
    w = torch.ones(5, 2, requires_grad=True)
    F.embedding(at, w * 3, sparse=True).sum().backward()  # through another call: dense
    assert w.grad.layout is torch.strided and w.grad[2].tolist() == [9, 9]


def test_sums_of_sparse_gradients_are_bounded():
    weight = torch.ones(4, 1, requires_grad=True)
    for i in range(1, 9):
        F.embedding(torch.tensor([3, 1, 3]), weight, sparse=True).sum().backward()
        assert weight.grad.is_sparse and weight.grad._nnz() <= 4
        assert weight.grad.to_dense().flatten().tolist() == [0, i, 0, 2 * i]


def test_a_gradient_of_an_embedding_keeps_its_places():
    weight, at = torch.ones(4, 1, requires_grad=True), torch.tensor([3, 1])
    F.embedding(at, weight, sparse=True).sum().backward()
    at[0] = 0
    assert weight.grad._indices().tolist() == [[3, 1]]


def test_gradients_by_rows_are_refused():
    weight, rows = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3).to_sparse_csr()
    with pytest.raises(RuntimeError, match="sparse_csr"):
        weight.grad = rows
    with pytest.raises(RuntimeError, match="sparse_csr"):
        weight.backward(rows)
    with pytest.raises(RuntimeError, match="sparse_csr"):
        (weight * 1).backward(rows)
    assert weight.grad is None


@pytest.mark.parametrize("call", ["torch.ones(2).to_sparse()", "torch.ones(2, 2).to_sparse_csr()",
                                  "torch.sparse_coo_tensor([[0]], [1.0])"])  # fmt: skip
def test_any_call_may_be_the_first(call):
    subprocess.run([sys.executable, "-c", f"import tensorh as torch; {call}"], check=True)


def losses(make, sparse, steps=5):
    emb, lin = nn.Embedding(8, 3, sparse=sparse), nn.Linear(3, 2)
    with torch.no_grad():
        emb.weight.copy_(torch.arange(24.0).reshape(8, 3) / 12 - 1)
        lin.weight.copy_(torch.arange(6.0).reshape(2, 3) / 6 - 0.4)
        lin.bias.zero_()
    optimizer = make([emb.weight])
    found = []
    for _ in range(steps):
        y = lin(emb(torch.arange(8)))
        loss = (y**2).sum() + y.sum()
        optimizer.zero_grad()
        loss.backward()
        assert emb.weight.grad.is_sparse is sparse
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize(
    ("name", "dense", "options"),
    [
        ("SparseAdam", "Adam", {}),
        ("SparseAdam", "Adam", {"betas": (0.8, 0.9), "maximize": True}),
        ("SGD", "SGD", {}),
        ("SGD", "SGD", {"momentum": 0.9, "nesterov": True}),
        ("Adagrad", "Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    ],
)
def test_optimizers_where_every_row_is_taken(name, dense, options):
    a = losses(lambda p: getattr(torch.optim, name)(p, lr=0.05, **options), True)
    b = losses(lambda p: getattr(torch.optim, dense)(p, lr=0.05, **options), False)
    assert a == pytest.approx(b, rel=1e-4)


def test_optimizers_and_rows_that_are_not_taken():
    weight = torch.ones(4, 2, requires_grad=True)
    optimizer = torch.optim.SparseAdam([weight], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        F.embedding(torch.tensor([1, 1]), weight, sparse=True).sum().backward()
        optimizer.step()
    assert weight[0].tolist() == [1, 1] and weight[1, 0].item() == pytest.approx(0.8)
    assert optimizer.state[weight]["step"] == 2 and set(optimizer.state[weight]) == {
        "step", "exp_avg", "exp_avg_sq"}  # fmt: skip
    weight.grad = torch.ones(4, 2)
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        optimizer.step()
    weight.grad = coo_of_weight()
    for name, text in (("Adam", "please consider SparseAdam"), ("RMSprop", "RMSprop does not")):
        with pytest.raises(RuntimeError, match=text):
            getattr(torch.optim, name)([weight]).step()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
        torch.optim.Adagrad([weight], weight_decay=0.1).step()
    with pytest.raises(ValueError, match="Invalid beta"):
        torch.optim.SparseAdam([weight], betas=(1.0, 0.9))
    with pytest.raises(ValueError, match=r"indices \[\[0, 0\]\]"):
        torch.optim.SparseAdam([coo()])


def coo_of_weight():
    return torch.sparse_coo_tensor([[1]], [[1.0, 2.0]], (4, 2))


class Layer(nn.Module):
    """A graph convolution."""

    def __init__(self, inner, outer):
        super().__init__()
        steps = torch.arange(inner).unsqueeze(1) * 13 + torch.arange(outer) * 5
        self.weight = nn.Parameter((steps % 17) / 17.0 - 0.5)
        self.bias = nn.Parameter(torch.zeros(outer))

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


def test_a_graph_network_has_the_losses_of_torch():
    n, k = 30, torch.arange(90)
    edges = torch.stack((k * 7 % n, (k * k + 3 * k) % n))
    degree = torch.zeros(n).index_add(0, edges[0], torch.ones(90))
    values = 1 / degree[edges[0]].sqrt() / (degree[edges[1]] + 1).sqrt()
    adj = torch.sparse_coo_tensor(edges, values, (n, n)).coalesce()
    x = (torch.arange(n).unsqueeze(1) * 3 + torch.arange(5) * 7) % 13 / 13.0
    labels = torch.arange(n) % 3
    for a in (adj, adj.to_sparse_csr()):
        first, second, found = Layer(5, 8), Layer(8, 3), []
        params = [*first.parameters(), *second.parameters()]
        optimizer = torch.optim.Adam(params, lr=0.02)
        for _ in range(30):
            optimizer.zero_grad()
            y = F.log_softmax(second(F.relu(first(x, a)), a), dim=1)
            loss = F.nll_loss(y, labels)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        # torch 2.15
        assert found[::6] == pytest.approx([1.09147, 1.05168, 0.99472, 0.91919, 0.82993], abs=2e-5)


def test_older_names_and_products_of_batches():
    s, d = coo().coalesce(), torch.arange(6.0).reshape(3, 2)
    assert torch.equal(torch.spmm(s, d), DENSE @ d)
    assert torch.equal(torch.smm(s, d).to_dense(), DENSE @ d)
    assert torch.equal(torch.hspmm(s, d).to_dense(), DENSE @ d)
    square = torch.sspaddmm(torch.eye(2).to_sparse(), s, d, alpha=2)
    assert torch.equal(square.to_dense(), torch.eye(2) + 2 * DENSE @ d)
    made = torch.sparse.FloatTensor(s.indices(), s.values(), torch.Size([2, 3]))
    assert isinstance(made, torch.sparse.FloatTensor) and torch.equal(made.to_dense(), DENSE)
    batch, other = torch.stack([DENSE, 2 * DENSE]), torch.stack([d, d + 1])
    assert torch.equal(torch.bmm(batch.to_sparse(), other), torch.bmm(batch, other))
    c = s.to_sparse_csr()
    assert torch.equal(torch.sparse.mm(c, d, "sum"), DENSE @ d)
    assert torch.sparse.mm(c, torch.ones(3, 1), "amax").tolist() == [[3.5], [5.0]]
    assert torch.sparse.mm(c, torch.ones(3, 1), "mean").tolist() == [[3.5], [4.5]]


def test_gradients_that_are_asked_for():
    s, x = coo(True), torch.ones(3, 2)
    (g,) = torch.autograd.grad(torch.sparse.mm(s, x).square().sum(), s)
    assert g.is_sparse and torch.equal(g.to_dense(), torch.where(
        DENSE == 0, 0, 4 * DENSE.sum(1, keepdim=True).expand(2, 3)))  # fmt: skip
    model = nn.Linear(3, 3)
    model.register_buffer("adj", coo())
    model.double().load_state_dict(copy.deepcopy(model).state_dict())
    assert model.adj.dtype is torch.float64 and torch.equal(model.adj.to_dense(), DENSE.double())


@pytest.mark.parametrize("layout", ["uncoalesced", "coalesced", "csr"])
@pytest.mark.parametrize(("options", "want"), [
    ({}, [-1.0, 3.5, 0.5]),  # torch 2.15
    ({"momentum": 0.9}, [-8.32969, 2.68559, -6.82969]),
    ({"momentum": 0.5, "nesterov": True}, [-4.628125, 3.096875, -3.128125]),
])  # fmt: skip
def test_steps_of_a_sparse_leaf(layout, options, want):
    s = {"uncoalesced": coo(), "coalesced": coo().coalesce(), "csr": coo().to_sparse_csr()}[layout]
    s.requires_grad_()
    optimizer = torch.optim.SGD([s], lr=0.1, **options)
    for _ in range(5):
        optimizer.zero_grad()
        assert s.grad is None
        torch.sparse.mm(s, torch.arange(6.0).reshape(3, 2)).sum().backward()
        optimizer.step()
        assert s.requires_grad and s.is_leaf and s._nnz() <= 4
        assert s.grad.to_dense().tolist() == [[0, 0, 9], [1, 0, 9]]
    assert s.to_dense()[DENSE != 0].tolist() == pytest.approx(want)
    optimizer.zero_grad(set_to_none=False)
    assert not s.grad.to_dense().any()
    optimizer.zero_grad()
    optimizer.step()  # without a gradient
    assert s.to_dense()[DENSE != 0].tolist() == pytest.approx(want)


def test_a_leaf_that_is_written_stays_one():
    s = coo(True)
    torch.sparse.mm(s, torch.arange(6.0).reshape(3, 2)).sum().backward()
    with torch.no_grad():
        for write in (lambda: s.mul_(2), lambda: s.copy_(s * 2), lambda: s.add_(s),
                      lambda: s.sub_(s, alpha=2), lambda: s.abs_(), lambda: s.div_(4)):  # fmt: skip
            assert write() is s and s.requires_grad and s.is_leaf
            assert s.grad.to_dense().tolist() == [[0, 0, 9], [1, 0, 9]]
        assert torch.equal(s.to_dense(), 2 * DENSE)
        s.zero_()
    assert s.requires_grad and s.is_leaf and s._nnz() == 0
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        s.mul_(2)


def test_sums_do_not_grow_without_bound():
    weight = torch.zeros(4, 2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    for k in range(20):
        optimizer.zero_grad()
        F.embedding(torch.tensor([k % 3, 1, 1]), weight, sparse=True).sum().backward()
        optimizer.step()
        assert optimizer.state[weight]["momentum_buffer"]._nnz() <= 4
    t = coo()
    for _ in range(20):
        t = t + coo()
        assert t._nnz() <= 10  # places and what was added last
    assert torch.equal(t.to_dense(), 21 * DENSE)


def test_keys_behind_the_last_sparse_dimension():
    h = torch.sparse_coo_tensor([[0, 2, 2]], [[1.0, 2], [3, 4], [5, 6]], (3, 2))
    d, v = h.to_dense(), torch.sparse_coo_tensor([[0, 2, 2]], [1.0, 2, 3], (4,))
    for key in ((2, 1), (2, slice(0, 1)), (2, None), (2, None, 1), (2, ...), (2, ..., 1),
                (2, ..., None), (2, [1, 0]), (1, 0), (-1, -1)):  # fmt: skip
        made = h[key]
        assert made.layout is torch.strided and torch.equal(made, d[key]), key
    for key in ((1, 2), (1, 0), (..., 1, 2), (1, ..., 2), (1, 2, None), (1, 2, ...)):
        assert torch.equal(coo()[key], DENSE[key]), key
    assert v[2].item() == 5 and v[2, None].tolist() == [5] and v[..., 2].item() == 5
    for f in (lambda: v[2, 0], lambda: h[2, 0, 0], lambda: coo()[1, 2, 0], lambda: h[2, 5]):
        with pytest.raises(IndexError):
            f()
    with pytest.raises(TypeError, match="index_select: expected a sparse tensor.*strided"):
        torch.index_select(DENSE, 0, v.to(torch.int64))


def test_arguments_out_of_range():
    m, i = torch.eye(3).to_sparse(), (2 * torch.eye(3)).long().to_sparse()
    d = torch.ones(3, 3, dtype=torch.int64)
    for dims, kind, text in (((2, 3), IndexError, "but got 2"), ((0, 0), RuntimeError, "duplicate"),
                             ((-3, 0), IndexError, "but got -3"), ((0,), RuntimeError, "length")):
        with pytest.raises(kind, match=text):
            m.permute(*dims)
    assert torch.equal(m.permute(-1, 0).to_dense(), torch.eye(3))
    for f in (lambda: torch.add(i, i, alpha=1.5), lambda: torch.sub(i, i, alpha=2.0),
              lambda: torch.add(d, i, alpha=1.5), lambda: d.add_(i, alpha=1.5),
              lambda: i.add_(i, alpha=1.5), lambda: torch.sub(d, i, alpha=1.5)):  # fmt: skip
        with pytest.raises(RuntimeError, match="argument alpha must not be a floating point"):
            f()
    with pytest.raises(RuntimeError, match="Boolean alpha only"):
        torch.add(m, m, alpha=True)
    with pytest.raises(RuntimeError, match="must not be a complex"):
        torch.add(m, m, alpha=1j)
    with pytest.raises(RuntimeError, match="can't be cast to torch.int64"):
        i.add_(m)
    assert torch.add(i, m, alpha=1.5).to_dense()[0, 0].item() == 3.5
    assert torch.add(i, i, alpha=torch.tensor(2)).to_dense()[0, 0].item() == 6
    assert torch.sparse.addmm(d, i, d, alpha=1.5, beta=1.5).tolist() == [[3] * 3] * 3  # as torch's


def test_places_alone_are_looked_up():
    """Of shapes that no memory holds."""
    n = 2**25
    s = torch.sparse_coo_tensor([[5, n - 1, 7], [n - 2, 3, 7]], [1.0, 2.0, 3.0], (n, n))
    s = s.coalesce().requires_grad_()
    mask = torch.sparse_coo_tensor([[7, 8, n - 1], [7, 8, 3]], [1.0, 1.0, 1.0], (n, n)).coalesce()
    made = s.sparse_mask(mask)
    assert made._values().tolist() == [3.0, 0.0, 2.0] and made._indices().equal(mask._indices())
    made.sum().backward()
    assert s.grad.coalesce()._values().tolist() == [0.0, 1.0, 1.0]
    s.grad = mask * 4
    assert s.grad.coalesce()._values().tolist() == [0.0, 4.0, 4.0]
    assert s.any() and not (s * 0).any() and not torch.sparse_coo_tensor((n, n)).any()
    assert not torch.sparse_coo_tensor((n, n)).sparse_mask(mask)._values().any()
    h = torch.sparse_coo_tensor([[0, 2]], [[1.0, 2], [3, 4]], (3, 2))  # of other dense dimensions
    assert h.sparse_mask(torch.ones(3, 2).to_sparse()).to_dense().equal(h.to_dense())
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(9.0).reshape(3, 3)
    for dtype in (torch.float32, torch.float64, torch.complex64):
        c = torch.ones(2, 3, dtype=dtype).to_sparse_csr()
        z = torch.sparse.sampled_addmm(c, x.to(dtype), y.to(dtype), beta=0.0)
        assert z.dtype is dtype and torch.equal(z.to_dense(), (x @ y).to(dtype))


class Watched:
    """tensorh._C, whose functions that make tensors are told where."""

    def __getattr__(self, name):
        f = getattr(torch._C, name)
        return self.told(f) if name in ("arange", "zeros", "ones", "empty", "full") else f

    @staticmethod
    def told(f):
        def g(*args, device, **kwargs):
            assert device is not None
            return f(*args, device=device, **kwargs)

        return g


def test_places_are_where_the_values_are(monkeypatch):
    s, d, v = coo(), torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0, 2])
    for name in ("sparse", "_sparse_calls", "_sparse_products"):
        monkeypatch.setattr(importlib.import_module(f"tensorh.{name}"), "_C", Watched())
    assert torch.tensor(3.0).to_sparse()._indices().shape == (0, 1)
    assert torch.equal(torch.sparse.mm(s, s.t()).to_dense(), DENSE @ DENSE.t())
    assert torch.equal(s.index_select(1, v).to_dense(), DENSE[:, v])
    assert torch.sparse.sum(s, (0, 1)).item() == s.sum((0, 1)).item() == 12.5
    made = torch.sparse.spdiags(d.t(), torch.tensor([0, 1]), (3, 3))
    assert made._nnz() == 5 and s.unsqueeze(0)._nnz() == 4 and s.new_zeros(2, 2)._nnz() == 0
    assert torch.zeros_like(s)._nnz() == torch.zeros_like(s.to_sparse_csr())._nnz() == 0
    away = s.to("meta")
    assert away.device.type == away._indices().device.type == "meta" and s.cpu() is s
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        s.cuda("cpu")


def test_the_first_sparse_call_of_a_program():
    code = "import tensorh as torch; print(torch.eye(2).to_sparse()._nnz())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "2\n"


def test_values_without_history_and_with_it():
    x = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)).requires_grad_()
    for s in (x, x * 2):
        assert s.requires_grad and not s._values().requires_grad and s._values().grad_fn is None
        with pytest.raises(RuntimeError, match="does not have a grad_fn"):
            s._values().backward(torch.ones(2))
    x._values().mul_(3)  # the same memory
    assert x.to_dense().tolist() == [3.0, 6.0, 0.0]
    made = x.coalesce().values()
    assert made.requires_grad
    made.backward(torch.tensor([1.0, 5.0]))
    assert x.grad.to_dense().tolist() == [1.0, 5.0, 0.0]


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_zeros_and_empty_take_sparse_layouts(layout):
    dense = torch.ones(2, 3, dtype=torch.float64)
    for t in (
        torch.zeros(2, 3, layout=layout, dtype=torch.float64, requires_grad=True),
        torch.empty((2, 3), layout=layout, dtype=torch.float64),
        torch.zeros_like(dense, layout=layout),
    ):
        assert t.layout is layout and t.shape == (2, 3) and t.dtype == torch.float64
        assert t.values().numel() == 0 if layout is not torch.sparse_coo else t._nnz() == 0
        assert torch.equal(t.detach().to_dense(), torch.zeros(2, 3, dtype=torch.float64))
    with pytest.raises(TypeError, match="layout"):
        torch.ones(2, 3, layout=layout)


def test_old_constructors_of_sparse_tensors_keep_the_dtype_of_values():
    t = torch.sparse.DoubleTensor(torch.tensor([[0, 1]]), torch.tensor([1.0, 2.0]), (2,))
    assert t.dtype == torch.float32


def test_out_takes_a_sparse_result():
    x = torch.tensor([[0.0, -1.0], [2.0, 0.0]]).to_sparse()
    out = torch.zeros(2, 2, layout=torch.sparse_coo)
    assert torch.abs(x, out=out) is out and out.to_dense().tolist() == [[0, 1], [2, 0]]
    torch.mul(x, x, out=out)
    assert out.to_dense().tolist() == [[0, 1], [4, 0]]
    dense = torch.zeros(2, 2)
    torch.mm(x, torch.eye(2), out=dense)
    assert dense.tolist() == [[0, -1], [2, 0]]
    with pytest.raises(RuntimeError, match="layout"):
        torch.abs(x, out=dense)


def test_results_that_an_integer_tensor_cannot_hold_are_refused():
    x = torch.tensor([0, 1]).to_sparse()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to .* Long"):
        x.asin_()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to .* Long"):
        torch.sin(x, out=torch.zeros(2, dtype=torch.int64, layout=torch.sparse_coo))


def test_new_of_a_sparse_tensor_is_sparse():
    x = torch.tensor([0.0, 2.0], dtype=torch.float64).to_sparse()
    assert x.new().shape == (0,) and x.new(2, 3).shape == (2, 3)
    y = x.new(x._indices(), x._values(), (4,))
    assert y.dtype == torch.float64 and y.to_dense().tolist() == [0, 2, 0, 0]


def test_a_gradient_that_holds_a_place_twice_is_the_sum():
    x = torch.sparse_coo_tensor([[0, 0, 1]], [1.0, 2.0, 3.0], (3,), requires_grad=True)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.to_dense().tolist()))
    y.backward(torch.sparse_coo_tensor([[0, 0, 1]], [1.0, 2.0, 3.0], (3,)))
    assert x.grad.to_dense().tolist() == [6, 6, 0] and seen == [[3, 3, 0]]
    x = torch.sparse_coo_tensor([[0, 0, 1]], [1.0, 2.0, 3.0], (3,), requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.backward(torch.ones(3))
    assert x.grad.to_dense().tolist() == [20, 20, 0]


def test_a_sparse_number_multiplies_as_a_number():
    x = torch.tensor([0.0, 2.0]).to_sparse()
    three = torch.tensor(3.0).to_sparse()
    assert (x * three).to_dense().tolist() == (three * x).to_dense().tolist() == [0, 6]


def test_zeros_like_with_strides_take_a_memory_format():
    images = torch.zeros(2, 3, 4, 5).to_sparse()
    like = torch.zeros_like(images, layout=torch.strided, memory_format=torch.channels_last)
    assert like.is_contiguous(memory_format=torch.channels_last)
