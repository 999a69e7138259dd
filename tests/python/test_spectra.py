"""Windows and short-time spectra: what Python decides beside the rows, and torch's words."""

import math

import pytest

import tensorh as torch


def test_window_of_signal_equals_row():
    for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
        row, function = getattr(torch, name + "_window"), getattr(torch.signal.windows, name)
        for n in (0, 1, 2, 9):
            assert torch.allclose(function(n), row(n, False))
            assert torch.allclose(function(n, sym=False), row(n, True))


def test_windows_of_signal_have_torch_values():
    w = torch.signal.windows
    assert w.cosine(3).tolist() == pytest.approx([0.5, 1, 0.5])
    assert w.exponential(3, tau=2.0).tolist() == pytest.approx([math.exp(-0.5), 1, math.exp(-0.5)])
    assert w.exponential(4, center=1.0, sym=False, tau=2).tolist() == pytest.approx(
        [math.exp(-0.5), 1, math.exp(-0.5), math.exp(-1)]
    )
    assert w.gaussian(3, std=0.5).tolist() == pytest.approx([math.exp(-2), 1, math.exp(-2)])
    assert w.nuttall(5)[2].item() == pytest.approx(1)
    assert w.general_cosine(5, a=[0.46, 0.23, 0.31], sym=False)[0].item() == pytest.approx(0.54)
    assert w.general_hamming(4, alpha=0.6, dtype=torch.float64).dtype is torch.float64
    assert w.hann(4, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.hann(-1),
        lambda w: w.hann(3, dtype=torch.int64),
        lambda w: w.gaussian(3, std=0),
        lambda w: w.kaiser(3, beta=-1),
        lambda w: w.exponential(3, tau=0),
        lambda w: w.exponential(3, center=1),
        lambda w: w.general_cosine(3, a=[]),
    ],
)
def test_windows_refuse_by_value_error(call):
    with pytest.raises(ValueError):
        call(torch.signal.windows)


def test_stft_asks_for_return_complex_of_real_input():
    x = torch.arange(20.0)
    with pytest.raises(RuntimeError, match="return_complex"):
        torch.stft(x, 4)
    s = torch.stft(x, 4, return_complex=True)
    assert s.shape == (3, 21) and s.dtype is torch.complex64
    parts = x.stft(4, return_complex=False)
    assert parts.shape == (3, 21, 2) and torch.equal(parts, torch.view_as_real(s))
    assert torch.stft(x.to(torch.complex64), 4).shape == (4, 21)
    window = torch.ones(4, dtype=torch.complex64)
    assert torch.stft(x, 4, window=window).shape == (4, 21)


def test_stft_aligned_to_the_window():
    x = torch.arange(20.0)
    kw = {"win_length": 4, "hop_length": 4, "center": False, "return_complex": True}
    assert torch.stft(x, 8, **kw).shape == (5, 4)
    assert torch.stft(x, 8, align_to_window=True, **kw).shape == (5, 5)
    with pytest.raises(RuntimeError, match="align_to_window"):
        torch.stft(x, 8, return_complex=True, align_to_window=False)


def test_istft_gives_the_signal_back():
    x = torch.sin(torch.arange(40, dtype=torch.float64))
    window = torch.hann_window(8, dtype=torch.float64)
    s = torch.stft(x, 8, 2, window=window, return_complex=True)
    assert torch.allclose(torch.istft(s, 8, 2, window=window), x)
    assert torch.istft(s, 8, 2, window=window, length=50).shape == (50,)
    both = torch.stft(torch.stack([x, -x]).to(torch.complex128), 8, 2, window=window)
    back = both.istft(8, 2, window=window, return_complex=True)
    assert back.dtype is torch.complex128 and torch.allclose(back[0].real, x)
    with pytest.raises(TypeError):
        torch.istft(s.real, 8)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        torch.istft(s, 8, 2, window=torch.zeros(8, dtype=torch.float64))


def test_stft_is_differentiable():
    x = torch.rand(16, dtype=torch.float64, requires_grad=True)
    torch.stft(x, 4, return_complex=True).abs().square().sum().backward()
    assert x.grad.shape == x.shape and bool(x.grad.isfinite().all())
