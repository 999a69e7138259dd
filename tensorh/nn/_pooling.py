"""Pooling of torch.nn.functional that takes more arguments than the library's rows."""

from .. import _C


def _fixed(dims):
    """max_pool1d to max_pool3d and the functions that give indices as well."""
    plain = getattr(_C, f"max_pool{dims}d")
    places = getattr(_C, f"max_pool{dims}d_with_indices")

    def max_pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        if return_indices:
            return with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return plain(input, kernel_size, stride, padding, dilation, ceil_mode)

    def with_indices(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        return tuple(places(input, kernel_size, stride, padding, dilation, ceil_mode))

    return (
        _named(max_pool, f"max_pool{dims}d", "The largest element of each window."),
        _named(with_indices, f"max_pool{dims}d_with_indices", "max_pool and flat places."),
    )


def _adaptive_sizes(input, output_size, dims):
    """The output's sizes, where None is the input's."""
    if not isinstance(output_size, (tuple, list)) or dims == 1:
        return output_size
    if isinstance(input, _C.Tensor) and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if None not in output_size:
        return output_size
    pairs = zip(output_size, input.shape[-len(output_size) :], strict=True)
    return [size if n is None else n for n, size in pairs]


def adaptive_avg_pool2d(input, output_size):
    """Means of windows that cover the input; None in output_size is the input's size."""
    return _C._row("adaptive_avg_pool2d")(input, _adaptive_sizes(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    """Means of windows that cover the input; None in output_size is the input's size."""
    return _C._row("adaptive_avg_pool3d")(input, _adaptive_sizes(input, output_size, 3))


def _adaptive(dims):
    """adaptive_max_pool1d to adaptive_max_pool3d, and those that give indices as well."""
    places = getattr(_C, f"adaptive_max_pool{dims}d")

    def max_pool(input, output_size, return_indices=False):
        both = with_indices(input, output_size)
        return both if return_indices else both[0]

    def with_indices(input, output_size, return_indices=False):
        return tuple(places(input, _adaptive_sizes(input, output_size, dims)))

    name = f"adaptive_max_pool{dims}d"
    return (
        _named(max_pool, name, "The largest elements of windows that cover the input."),
        _named(with_indices, f"{name}_with_indices", f"{name} and flat places."),
    )


def _fractional(dims):
    """fractional_max_pool2d and fractional_max_pool3d, and those that give indices as well."""
    places = getattr(_C, f"fractional_max_pool{dims}d")
    name = f"fractional_max_pool{dims}d"

    def fits(sizes, argument):
        """Refuses a tuple of another length than the windows' dimensions."""
        if isinstance(sizes, (tuple, list)) and len(sizes) != dims:
            many = "three Ints" if dims == 3 else "Ints"
            raise RuntimeError(f"{name}: {argument} must either be a single Int or tuple of {many}")

    def max_pool(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        both = with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)
        return both if return_indices else both[0]

    def with_indices(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        fits(kernel_size, "kernel_size")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            one = not isinstance(output_ratio, (tuple, list))
            ratio = (output_ratio,) * dims if one else output_ratio
            if len(ratio) != dims:
                raise ValueError(
                    f"{name} requires output_ratio to either be a single Int or tuple of Ints."
                )
            output_size = [int(n * r) for n, r in zip(input.shape[-dims:], ratio, strict=True)]
        fits(output_size, "output_size")
        if _random_samples is None:
            batch = 1 if input.dim() == dims + 1 else input.size(0)
            _random_samples = _C.rand(
                batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device
            )
        return tuple(places(input, kernel_size, output_size, _random_samples))

    return (
        _named(max_pool, name, "The largest elements of windows at random places."),
        _named(with_indices, f"{name}_with_indices", f"{name} and flat places."),
    )


def _named(function, name, text):
    function.__name__ = function.__qualname__ = name
    function.__module__ = "tensorh.nn.functional"
    function.__doc__ = text
    return function


max_pool1d, max_pool1d_with_indices = _fixed(1)
max_pool2d, max_pool2d_with_indices = _fixed(2)
max_pool3d, max_pool3d_with_indices = _fixed(3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive(3)
fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3)
