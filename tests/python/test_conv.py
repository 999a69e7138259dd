"""Paddings of a convolution by word and by mode, against NumPy's pads."""

import copy
import inspect
import itertools
import pickle

import numpy as np
import pytest

import tensorh as torch
from tensorh import nn

MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
conv2d = nn.functional.conv2d


def padded(x, sides, mode):
    return torch.from_numpy(np.pad(x.numpy(), [(0, 0), (0, 0), *sides], mode=MODES[mode]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", [(1, 1), (2, 2), (4, 3), (2, 5)])
def test_same_puts_the_odd_one_on_the_right(kernel, mode):
    torch.manual_seed(0)
    x = torch.randn(2, 2, 13, 14, dtype=torch.float64)
    for dilation, groups in itertools.product((1, 2, 3), (1, 2)):
        c = nn.Conv2d(2, 4, kernel, 1, "same", dilation, groups, padding_mode=mode).double()
        totals = [dilation * (k - 1) for k in kernel]
        given = padded(x, [(t // 2, t - t // 2) for t in totals], mode)
        y = c(x)
        assert y.shape == (2, 4, 13, 14) and y.is_contiguous()
        want = conv2d(given, c.weight, c.bias, 1, 0, dilation, groups)
        torch.testing.assert_close(y, want, rtol=0, atol=1e-12)
        if mode == "zeros":
            assert conv2d(x, c.weight, c.bias, 1, "same", dilation, groups).equal(y)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_pads_by_the_numbers_given(mode):
    x = torch.arange(24, dtype=torch.float64).reshape(1, 1, 4, 6)
    c = nn.Conv2d(1, 2, 3, stride=2, padding=(1, 3), padding_mode=mode, dtype=torch.float64)
    want = conv2d(padded(x, [(1, 1), (3, 3)], mode), c.weight, c.bias, 2)
    assert c(x).equal(want)
    assert c(x[0]).equal(want[0])


def test_valid_pads_nothing_and_takes_a_stride():
    x, w = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 2, 2)
    assert conv2d(x, w, stride=2, padding="valid").equal(conv2d(x, w, stride=2))
    c = nn.Conv2d(2, 3, 2, stride=2, padding="valid")
    assert c(x).equal(conv2d(x, c.weight, c.bias, 2))
    assert repr(c) == "Conv2d(2, 3, kernel_size=(2, 2), stride=(2, 2), padding=valid)"


def test_gradients_go_through_the_padding():
    for mode in MODES:
        c = nn.Conv2d(1, 2, (2, 3), padding="same", padding_mode=mode, dtype=torch.float64)
        x = torch.randn(1, 1, 3, 4, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(c, (x,))


def test_a_word_is_an_option_as_another_is():
    torch.manual_seed(1)
    c = nn.Conv2d(1, 2, 2, padding="same", padding_mode="reflect")
    torch.manual_seed(1)
    assert c.weight.equal(nn.Conv2d(1, 2, 2).weight)  # nothing else is drawn
    assert (c.padding, c.padding_mode) == ("same", "reflect")
    text = "Conv2d(1, 2, kernel_size=(2, 2), stride=(1, 1), padding=same, padding_mode=reflect)"
    assert repr(c) == text
    x = torch.randn(1, 1, 3, 3)
    y = c(x)
    for other in (copy.deepcopy(c), pickle.loads(pickle.dumps(c)), nn.Sequential(c)):
        assert other(x).equal(y)
    assert c(input=x).equal(y)
    torch.manual_seed(1)
    c.reset_parameters()
    assert c(x).equal(y) and c.padding == "same"
    c.padding, c.padding_mode = (1, 1), "zeros"
    assert c(x).shape == (1, 2, 4, 4)
    c.padding = "same"
    assert c(x).shape == (1, 2, 3, 3)
    assert list(inspect.signature(nn.Conv2d).parameters)[3:5] == ["stride", "padding"]


@pytest.mark.parametrize(
    "options, text",
    [
        ({"padding": "some"}, "Invalid padding string 'some', should be one of"),
        (
            {"padding": "same", "stride": (1, 2)},
            "padding='same' is not supported for strided convolutions",
        ),
        ({"padding_mode": "x"}, "padding_mode must be one of .* but got padding_mode='x'"),
        ({"padding_mode": None}, "padding_mode must be one of .* but got padding_mode=None"),
        ({"padding_mode": ["zeros"]}, "padding_mode must be one of"),
    ],
)
def test_options_that_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        nn.Conv2d(1, 2, 2, **options)


def test_calls_that_are_refused():
    x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    with pytest.raises(RuntimeError, match="not supported for strided convolutions"):
        conv2d(x, w, stride=2, padding="same")
    with pytest.raises(RuntimeError, match="Invalid padding string x, should be one of"):
        conv2d(x, w, padding="x")
    c = nn.Conv2d(1, 1, 2, padding=3, padding_mode="reflect")
    with pytest.raises(RuntimeError, match=r"padding 3 and 3 at dimension 3 of input"):
        c(x)
    c.padding_mode = "circular"
    c(x)
    c.padding = 4
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        c(x)


@pytest.mark.parametrize(
    "args, named, text",
    [
        ((1, "same", 1, 1, True, "zeros", None, None, 5), {}, "positional arguments but 12"),
        ((1, "same"), {"padding": "same"}, "multiple values for argument 'padding'"),
        ((1, "same"), {"pad": 1}, "unexpected keyword argument 'pad'"),
        ((), {"stride": None, "padding": "same"}, "argument 'stride' must be tuple of ints"),
        ((), {"dilation": "a", "padding": "same"}, "argument 'dilation' must be tuple of ints"),
    ],
)
def test_what_is_wrong_beside_a_word_is_said_by_the_row(args, named, text):
    with pytest.raises(TypeError, match=text):
        nn.Conv2d(1, 1, 2, *args, **named)


COMBINATION = "conv2d.. received an invalid combination of arguments"


@pytest.mark.parametrize(
    "args, named, error, text",
    [
        (([1],), {}, TypeError, COMBINATION),
        ((torch.ones(2),), {}, RuntimeError, r"expected weight .* got \(2\)"),
        ((torch.ones(1, 1, 2, 2),), {"dilation": "a"}, TypeError, COMBINATION),
        ((torch.ones(1, 1, 2, 2),), {"stride": None}, TypeError, COMBINATION),
        ((torch.ones(1, 1, 2, 2),), {"other": 1}, TypeError, COMBINATION),
        ((torch.ones(1, 1, 2, 2),), {"dilation": (1, 2, 3)}, RuntimeError, "dilation must have"),
        ((torch.ones(1, 1, 2, 2),), {"stride": ()}, RuntimeError, "stride must have 1 or 2"),
    ],
)
def test_conv2d_with_a_word_names_what_is_wrong(args, named, error, text):
    with pytest.raises(error, match=text):
        conv2d(torch.ones(1, 1, 3, 3), *args, padding="same", **named)


def test_strides_and_dilations_beside_a_word_are_what_a_row_takes():
    x, w = torch.randn(1, 1, 5, 5), torch.randn(1, 1, 3, 2)
    want = conv2d(x, w, padding="same", dilation=2)
    for two in (np.int64(2), [2], (np.int64(2), 2), torch.tensor(2)):
        assert conv2d(x, w, stride=np.int64(1), padding="same", dilation=two).equal(want)
    c = nn.Conv2d(1, 1, 2, stride=np.int64(1), padding="same")
    assert c(x).shape == x.shape
    with pytest.raises(ValueError, match="strided convolutions"):
        nn.Conv2d(1, 1, 2, stride=np.int64(2), padding="same")


def test_calls_of_a_module_with_a_mode_name_what_is_wrong():
    for mode in MODES:
        c = nn.Conv2d(1, 1, 2, padding="same", padding_mode=mode)
        for x in ("abc", [1], None, np.ones((1, 1, 3, 3), np.float32)):
            with pytest.raises(TypeError, match=COMBINATION):
                c(x)
        for shape, text in (((4,), "4"), ((4, 4), "4, 4"), ((1, 1, 2, 4, 4), "1, 1, 2, 4, 4")):
            with pytest.raises(RuntimeError, match=rf"but got input of size: \({text}\)"):
                c(torch.ones(shape))
        x = torch.ones(1, 1, 3, 3)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'input'"):
            c()
        with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
            c(x, x)
        with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
            c(x=x)


def test_words_and_modes_that_a_module_was_given_later_are_refused():
    x = torch.ones(1, 1, 3, 3)
    c = nn.Conv2d(1, 1, 2, padding=1)
    c.padding_mode = "other"
    with pytest.raises(NotImplementedError, match="but got padding_mode='other'"):
        c(x)
    c.padding_mode, c.padding = "reflect", "some"
    with pytest.raises(RuntimeError, match="Invalid padding string 'some'"):
        c(x)
    c.padding = (1, 1, 1)
    with pytest.raises(RuntimeError, match="padding must have 1 or 2 elements, got 3"):
        c(x)
