"""Eigenvalues of matrices that are not symmetric, beside LAPACK's of NumPy on hard matrices."""

import numpy
import pytest

import tensorh as torch

N = 32
EPS = 2.0**-52


def grcar():
    return numpy.tril(numpy.triu(numpy.ones((N, N))), 3) - numpy.eye(N, k=-1)


def frank():
    i = numpy.arange(N, dtype=float)
    return numpy.triu(N - numpy.maximum(i[:, None], i), -1)


def companion():
    a = numpy.eye(N, k=-1)
    a[0] = -numpy.poly(numpy.arange(1, N + 1))[1:]
    return a


def hidden_jordan():
    q = numpy.linalg.qr(numpy.random.default_rng(1).normal(size=(N, N)))[0]
    return q @ (numpy.eye(N) * 2 + numpy.eye(N, k=1)) @ q.T


def graded(power):
    d = numpy.logspace(0, -20, N)
    a = numpy.random.default_rng(2).normal(size=(N, N))
    return {1: d[:, None] * a, 2: d[:, None] * a / d, 3: numpy.sqrt(d[:, None] * d) * a}[power]


def random(kind):
    a = numpy.random.default_rng(3).normal(size=(2, N, N))
    return a[0] if kind == "real" else a[0] + 1j * a[1]


HARD = {
    "jordan": lambda: numpy.eye(N) * 2 + numpy.eye(N, k=1),
    "jordan from below": lambda: numpy.eye(N) * 2 + numpy.eye(N, k=-1),
    "hidden jordan": hidden_jordan,
    "grcar": grcar,
    "complex grcar": lambda: grcar() * (1 + 2j),
    "frank": frank,
    "companion": companion,
    "graded rows": lambda: graded(1),
    "similar to random": lambda: graded(2),
    "graded": lambda: graded(3),
    "cyclic": lambda: numpy.roll(numpy.eye(N), 1, 0),
    "ones": lambda: numpy.ones((N, N)),
    "real": lambda: random("real"),
    "complex": lambda: random("complex"),
}


def backward_error(a, values, vectors):
    """|A V - V L| in units of n eps |A|."""
    off = numpy.linalg.norm(a @ vectors - vectors * values)
    return off / (numpy.linalg.norm(a) * EPS * len(a))


@pytest.mark.parametrize("name", HARD)
def test_backward_error_is_near_that_of_lapack(name):
    a = HARD[name]()
    values, vectors = (t.numpy() for t in torch.linalg.eig(torch.from_numpy(a)))
    theirs = backward_error(a, *numpy.linalg.eig(a))
    assert backward_error(a, values, vectors) <= 4 * theirs + 0.1
    assert numpy.abs(numpy.linalg.norm(vectors, axis=0) - 1).max() < N * EPS
    assert (torch.linalg.eigvals(torch.from_numpy(a)).numpy() == values).all()


@pytest.mark.parametrize("name", ["grcar", "graded", "cyclic", "real", "complex"])
def test_eigenvalues_are_lapack_s_in_its_order(name):
    a = HARD[name]()
    values = torch.linalg.eigvals(torch.from_numpy(a)).numpy()
    theirs = numpy.linalg.eigvals(a)
    assert numpy.abs(values - theirs).max() <= 1e-11 * numpy.abs(theirs).max()


def test_pairs_are_conjugate():
    values, vectors = torch.linalg.eig(torch.from_numpy(random("real")))
    k = int((values.imag > 0).nonzero()[0])
    assert values[k + 1] == values[k].conj()
    assert torch.equal(vectors[:, k + 1], vectors[:, k].conj())


def test_gradient_of_phases_is_refused():
    a = torch.tensor([[0.0, 1.0], [-1.0, 0.5]], requires_grad=True)
    vectors = torch.linalg.eig(a).eigenvectors
    with pytest.raises(RuntimeError, match="the loss|The specified loss function depends"):
        vectors.imag.sum().backward()


def test_gradient_of_eigenvalues_is_that_of_the_trace():
    a = torch.from_numpy(random("real")).requires_grad_()
    torch.linalg.eigvals(a).sum().real.backward()
    assert torch.allclose(a.grad, torch.eye(N, dtype=torch.float64), atol=1e-10)
