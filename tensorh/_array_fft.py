"""The extension fft of the array API standard: torch.fft with an axis where torch has a dim."""

from . import fft as _torch_fft

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip


def _of_one(name):
    along = getattr(_torch_fft, name)

    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        return along(x, n, axis, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"torch.fft.{name} along an axis."
    return transform


def _of_several(name):
    along = getattr(_torch_fft, name)

    def transform(x, /, *, s=None, axes=None, norm="backward"):
        return along(x, s, axes, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"torch.fft.{name} along axes."
    return transform


fft = _of_one("fft")
ifft = _of_one("ifft")
rfft = _of_one("rfft")
irfft = _of_one("irfft")
hfft = _of_one("hfft")
ihfft = _of_one("ihfft")
fftn = _of_several("fftn")
ifftn = _of_several("ifftn")
rfftn = _of_several("rfftn")
irfftn = _of_several("irfftn")


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's results for n numbers at a distance d."""
    return _torch_fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's results for n numbers at a distance d."""
    return _torch_fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x, /, *, axes=None):
    """Moves frequency 0 to the middle."""
    return _torch_fft.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """Moves frequency 0 from the middle to the front."""
    return _torch_fft.ifftshift(x, axes)
