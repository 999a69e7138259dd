"""Short-time Fourier transforms, whose rows have no options that depend on the input."""

from .. import _C
from .._C import Tensor
from ._marks import both


@both
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window: Tensor = None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The spectra of frames of a signal; see docs/reference.md."""
    complex_ = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not complex_:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if align_to_window and win_length is not None and 0 < win_length < n_fft:
        left = (n_fft - win_length) // 2
        input = _C.pad(input, (left, n_fft - win_length - left))
    r = _C._stft(
        input, n_fft, hop_length, win_length, window, center, pad_mode, bool(normalized),
        not complex_ if onesided is None else bool(onesided),
    )  # fmt: skip
    return r if return_complex else _C.view_as_real(r)


@both
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window: Tensor = None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal of such spectra; see docs/reference.md."""
    if not input.is_complex():
        raise TypeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if onesided is None:
        onesided = input.dim() < 2 or input.shape[-2] != n_fft
    return _C._istft(
        input, n_fft, hop_length, win_length, window, center, bool(normalized), bool(onesided),
        length, return_complex,
    )  # fmt: skip
