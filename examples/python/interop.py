"""Works with NumPy, SciPy, scikit-learn and Matplotlib: shared memory, a gradient for an optimizer,
a classifier's data, a chart. It names packages that are not installed and skips them.

    python interop.py [CHART.png]
"""

import importlib.util
import sys

import numpy as np

import tensorh as torch


def there(name):
    if importlib.util.find_spec(name):
        return True
    print(f"{name} is not installed: skipped")
    return False


def with_numpy():
    """An array and a tensor over the same memory."""
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = torch.from_numpy(a)
    t.mul_(2)
    assert a[1, 2] == 10 and np.shares_memory(a, t.numpy())
    assert np.array_equal(np.asarray(t) + 1, (t + 1).numpy())
    return float(t.sum())


def with_scipy():
    """SciPy's L-BFGS on Rosenbrock's function, with a gradient from autograd."""
    from scipy.optimize import minimize

    def value_and_gradient(at):
        x = torch.tensor(at, requires_grad=True)
        value = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        value.backward()
        return value.item(), x.grad.numpy()

    found = minimize(value_and_gradient, np.zeros(5), jac=True, method="L-BFGS-B")
    assert np.allclose(found.x, 1, atol=1e-3)
    return float(found.fun)


def with_sklearn():
    """A logistic regression in tensors on scikit-learn's data, judged by its metrics."""
    from sklearn.datasets import load_iris
    from sklearn.metrics import accuracy_score
    from sklearn.preprocessing import StandardScaler

    data = load_iris()
    x = torch.from_numpy(StandardScaler().fit_transform(data.data).astype(np.float32))
    y = torch.from_numpy(data.target.astype(np.int64))
    torch.manual_seed(9)
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(100):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = accuracy_score(data.target, model(x).argmax(1).numpy())
    assert right > 0.95
    return float(right)


def with_matplotlib(path=None):
    """A chart and a picture, drawn from tensors as from arrays."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x = torch.linspace(-3, 3, 121)
    y = x.sin().requires_grad_()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    (line,) = left.plot(x, y.detach(), label="sin x")
    left.fill_between(x, x.cos(), alpha=0.3, label="cos x")
    left.legend()
    right.imshow(torch.outer(x.sin(), x.cos()))
    if path:
        figure.savefig(path)
    plt.close(figure)
    return float(np.asarray(line.get_ydata()).max())


def main(path=None):
    results = {"numpy": with_numpy()}
    print(f"NumPy: an array and a tensor over one memory, sum {results['numpy']:g}")
    if there("scipy"):
        results["scipy"] = with_scipy()
        print(f"SciPy: the lowest point of Rosenbrock's function is {results['scipy']:.1e}")
    if there("sklearn"):
        results["sklearn"] = with_sklearn()
        print(f"scikit-learn: {100 * results['sklearn']:.0f} % of the irises are right")
    if there("matplotlib"):
        results["matplotlib"] = with_matplotlib(path)
        print(f"Matplotlib: a line up to {results['matplotlib']:.4f}" + f", {path}" * bool(path))
    return results


if __name__ == "__main__":
    main(*sys.argv[1:2])
