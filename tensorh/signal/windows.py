"""torch.signal.windows: windows of M points, symmetric or (sym=False) periodic.

F. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", 1978.
"""

from math import pi as _pi

from .. import _C

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def _window(name, M, sym, dtype, layout, device, requires_grad, points):
    """points(k, steps) of k = 0 to M - 1 in float64, rounded; the checks of all windows."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not _C.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M == 0:
        r = _C.empty((0,), dtype=dtype, device=device)
    else:
        span = M - 1 if sym else M  # the steps from the first point to its like
        k = _C.arange(M, dtype=_C.float64, device=device)
        r = points(k, span).to(dtype) if M > 1 else _C.ones((1,), dtype=dtype, device=device)
    return r.requires_grad_() if requires_grad else r


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """exp(-|k - center| / tau)."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def points(k, span):
        return (-(k - (span / 2 if center is None else center)).abs() / tau).exp()

    return _window("exponential", M, sym, dtype, layout, device, requires_grad, points)


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """sin(pi (k + 1/2) / M)."""

    def points(k, span):
        return ((k + 0.5) * (_pi / (span + 1))).sin()

    return _window("cosine", M, sym, dtype, layout, device, requires_grad, points)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-(k - (M - 1) / 2)^2 / (2 std^2))."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def points(k, span):
        return (-((k - span / 2) ** 2) / (2 * std * std)).exp()

    return _window("gaussian", M, sym, dtype, layout, device, requires_grad, points)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """I0(beta sqrt(1 - (2 k / (M - 1) - 1)^2)) / I0(beta)."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def points(k, span):
        return _C.kaiser_window(len(k), not sym, float(beta), dtype=_C.float64, device=device)

    return _window("kaiser", M, sym, dtype, layout, device, requires_grad, points)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi k / (M - 1))."""
    return general_hamming(
        M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.5 - 0.5 cos(2 pi k / (M - 1))."""
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1))."""
    return general_cosine(
        M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """1 - |2 k / (M - 1) - 1|."""

    def points(k, span):
        return 1 - (k * (2 / span) - 1).abs()

    return _window("bartlett", M, sym, dtype, layout, device, requires_grad, points)


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The sum of (-1)^i a_i cos(2 pi i k / (M - 1))."""

    def points(k, span):
        angles = k * (2 * _pi / span)
        return sum((angles * i).cos() * ((-1) ** i * float(c)) for i, c in enumerate(a))

    if M >= 0:
        if not isinstance(a, (list, tuple)):
            raise TypeError("Coefficients must be a list/tuple")
        if not a:
            raise ValueError("Coefficients cannot be empty")
        for c in a:
            float(c) if isinstance(c, (int, float)) else _C.full((), c, dtype=_C.float64)
    return _window("general_cosine", M, sym, dtype, layout, device, requires_grad, points)


def general_hamming(
    M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False
):
    """alpha - (1 - alpha) cos(2 pi k / (M - 1))."""
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Nuttall's four terms of least sidelobes."""
    return general_cosine(
        M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
        device=device, requires_grad=requires_grad,
    )  # fmt: skip
