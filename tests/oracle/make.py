"""Writes tests/oracle/data/<row>.txt: what torch gives for the samples of every row.

    python tests/oracle/make.py [grids] [ROW ...]      needs torch; the tests need only what this writes

For each sample and dtype that torch takes: dtype, sizes, strides and values of every output, and of the tensors that the call
changes ("after"); in float64 and complex128 also the
gradients of sum(w . outputs) with fixed weights. Values of float32 and the 16-bit types are computed in float64 from inputs
rounded to the type (dtype and strides come from the call in the type itself); random rows are kept as torch draws them, and
steps from one number of the type to the next.
"""

import inspect
import json
import math
import os
import re
import struct
import sys
import traceback

import mpmath
import torch
import torch.nn.functional as F

from elements import is_structure, splitmix, tensor_elements

mpmath.mp.prec = 160  # a logarithm of what is near 1 keeps its digits
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
M64 = (1 << 64) - 1
ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, LookupError, AssertionError, AttributeError)
OURS = re.compile(r"NoneType|(list|tuple|string|range) index|positional argument|unexpected keyword|not subscriptable|not iterable|"
                  r"unsupported operand|not callable|interpreted as an integer|unpack")  # what Python says of code, not torch of tensors
KEEP = 48  # elements of an output that are kept
SHORT = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
    "c64": torch.complex64, "c128": torch.complex128,
}
NAME = {v: k for k, v in SHORT.items()}
UP = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
      torch.complex64: torch.complex128}
STEPS = ("nextafter", "view_dtype")  # exact in each type, and not the same in a wider one


class Refused(Exception):
    """torch does not take what it was asked: the one exception that means a refusal. All others are errors of these programs."""


def ask(f, args, kwargs):
    """f(*args, **kwargs), of torch or of a function here that stands for it."""
    here = os.path.dirname(getattr(getattr(f, "__code__", None), "co_filename", "")) == HERE
    if here:
        inspect.signature(f).bind(*args, **kwargs)
    try:
        return f(*args, **kwargs)
    except ERRORS as e:
        at = traceback.extract_tb(e.__traceback__)[-1].filename
        if here and os.path.dirname(at) == HERE and (isinstance(e, (AttributeError, KeyError, AssertionError)) or OURS.search(str(e))):
            raise
        raise Refused(str(e)) from e


def weight(i):
    z = ((i + 1) * 0x9E3779B97F4A7C15) & M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    z ^= z >> 31
    return (0.5 + (z >> 11) * 2.0**-53) * (1 if z & 1 else -1)


def torch_div_trunc(self, other):
    return torch.div(self, other, rounding_mode="trunc")


def exactly(name, of):
    """torch's function with values of mpmath where both are finite and not huge: torch's have 9 to 15 digits. The gradient is
    torch's."""
    f = getattr(torch if name.startswith("_") else torch.special, name)

    def call(self, *other):
        y = f(self, *other)
        args = torch.broadcast_tensors(*(torch.as_tensor(t) for t in (self, *other)))
        flat = [a.detach().reshape(-1).tolist() for a in args]
        new = y.detach().double().reshape(-1).clone()
        for i, v in enumerate(new.tolist()):
            if all(abs(float(a[i])) < 1e3 for a in flat) and abs(v) < math.inf:
                new[i] = float(of(*(mpmath.mpf(float(a[i])) for a in flat)))
        y.data.copy_(new.reshape(y.shape))
        return y

    call.__name__ = "torch_special_" + name
    return call


def degree(f):
    return lambda x, n: mpmath.re(f(int(n), x)) if n >= 0 else 0


torch_special_ndtr = exactly("ndtr", mpmath.ncdf)
torch_special_log_ndtr = exactly("log_ndtr", lambda x: mpmath.log(mpmath.ncdf(x)))
torch_special_airy_ai = exactly("airy_ai", mpmath.airyai)
torch_special_bessel_j0 = exactly("bessel_j0", lambda x: mpmath.besselj(0, x))
torch_special_bessel_j1 = exactly("bessel_j1", lambda x: mpmath.besselj(1, x))
torch_special_bessel_y0 = exactly("bessel_y0", lambda x: mpmath.bessely(0, x))
torch_special_bessel_y1 = exactly("bessel_y1", lambda x: mpmath.bessely(1, x))
torch_special_i1 = exactly("i1", lambda x: mpmath.besseli(1, x))
torch_special_i1e = exactly("i1e", lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)))
torch_special_scaled_modified_bessel_k0 = exactly("scaled_modified_bessel_k0", lambda x: mpmath.besselk(0, x) * mpmath.exp(x))
torch_special_scaled_modified_bessel_k1 = exactly("scaled_modified_bessel_k1", lambda x: mpmath.besselk(1, x) * mpmath.exp(x))
torch_igamma = exactly("gammainc", lambda a, x: mpmath.gammainc(a, 0, x, regularized=True))
torch_igammac = exactly("gammaincc", lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True))


def moved(cdf, density):  # at a fixed value of the distribution function
    def of(a, x):
        with mpmath.workdps(40):
            return -mpmath.diff(lambda a: cdf(a, x), a) / density(a, x)

    return of


def beta_moved(x, a, total):
    b = total - a
    of = moved(lambda a, x: mpmath.betainc(a, b, 0, x, regularized=True),
               lambda a, x: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b))  # fmt: skip
    return of(a, x) / (1 - x)


torch_standard_gamma_grad = exactly("_standard_gamma_grad", moved(
    lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), lambda a, x: x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)))
torch_dirichlet_grad = exactly("_dirichlet_grad", beta_moved)
torch_special_laguerre_polynomial_l = exactly("laguerre_polynomial_l", degree(lambda n, x: mpmath.laguerre(n, 0, x)))
torch_special_legendre_polynomial_p = exactly("legendre_polynomial_p", degree(mpmath.legendre))
torch_special_chebyshev_polynomial_t = exactly("chebyshev_polynomial_t", degree(mpmath.chebyt))
torch_special_chebyshev_polynomial_u = exactly("chebyshev_polynomial_u", degree(mpmath.chebyu))


def third(sign):  # V and W
    return degree(lambda n, x: mpmath.chebyu(n, x) + sign * (mpmath.chebyu(n - 1, x) if n else 0))


torch_special_chebyshev_polynomial_v = exactly("chebyshev_polynomial_v", third(-1))
torch_special_chebyshev_polynomial_w = exactly("chebyshev_polynomial_w", third(1))


def torch_clone(self, memory_format=torch.preserve_format):
    return self.clone(memory_format=memory_format)


def torch_view_dtype(self, dtype):
    return self.view(dtype)


def torch_unfold(self, dimension, size, step):
    return self.unfold(dimension, size, step)  # not nn.functional.unfold


def conv_input_grad(conv):
    def f(grad, weight, input_size, stride=1, padding=0, dilation=1, groups=1):
        x = torch.zeros(input_size, dtype=grad.dtype, requires_grad=True)
        return torch.autograd.grad(conv(x, weight, None, stride, padding, dilation, groups), x, grad, create_graph=True)[0]
    return f


def conv_weight_grad(conv):
    def f(grad, input, weight_size, stride=1, padding=0, dilation=1, groups=1):
        w = torch.zeros(weight_size, dtype=grad.dtype, requires_grad=True)
        return torch.autograd.grad(conv(input, w, None, stride, padding, dilation, groups), w, grad, create_graph=True)[0]
    return f


torch_conv2d_input_grad, torch_conv2d_weight_grad = conv_input_grad(F.conv2d), conv_weight_grad(F.conv2d)
torch_conv3d_input_grad, torch_conv3d_weight_grad = conv_input_grad(F.conv3d), conv_weight_grad(F.conv3d)


def torch_linalg_lstsq_matrix(self, b, rcond=None, full_rank=False):
    x, _, rank, _ = torch.linalg.lstsq(self, b, rcond, driver="gels" if full_rank else "gelsy")
    below = torch.zeros(*x.shape[:-2], max(0, self.shape[-2] - x.shape[-2]), x.shape[-1], dtype=x.dtype)
    return torch.cat([x, below], -2).mT.contiguous().mT, rank


def torch_linalg_eig_phases(self):
    if not (self.is_complex() or self.dtype in (torch.float32, torch.float64)):
        raise RuntimeError("eigenvectors are complex")
    diagonal = self.diagonal(dim1=-2, dim2=-1)
    if self.is_complex() and not bool((diagonal.imag.abs() <= 0.01).all()):
        raise RuntimeError("the loss depends on the phases")
    real = diagonal.real if self.is_complex() else diagonal
    return real + torch.zeros(real.shape, dtype=real.dtype)


def torch_linalg_solve_lu(A, B, left=True, check_errors=False):
    return torch.linalg.solve_ex(A, B, left=left, check_errors=check_errors)


def torch_conv_tbc(self, weight, bias, pad=0):  # torch views parts, which some strides do not allow
    return torch.conv_tbc(self.contiguous(), weight.contiguous(), bias, pad)


def torch_segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    by, at = lengths if offsets is None else offsets, axis % max(data.dim(), 1)
    if by is not None and by.dim() == at + 1 <= data.dim():
        steps = by if offsets is None else by.diff(dim=-1)
        ends = steps.sum(-1) if offsets is None else offsets
        if by.shape[:-1] != data.shape[:at] or (steps < 0).any() or (ends < 0).any() or (ends > data.shape[at]).any():
            raise RuntimeError("torch reads beyond its memory")
        unsafe |= by.numel() == 0  # torch asks for the least of nothing
    return torch.segment_reduce(data, reduce, lengths=lengths, indices=indices, offsets=offsets, axis=axis, unsafe=unsafe, initial=initial)


def sparse_of(indices, values, size):
    if indices.dim() != 2 or indices.dtype not in (torch.int64, torch.int32):
        raise RuntimeError("torch takes all integers, and one vector")
    return torch.sparse_coo_tensor(indices.long(), values, size, check_invariants=True)


def torch_sparse_keys(indices, size):
    sparse_of(indices, torch.zeros(indices.shape[-1]), size)
    keys = torch.zeros(indices.shape[1], dtype=torch.int64)
    for row, n in zip(indices, size, strict=True):
        keys = keys * n + row
    return keys


def torch_sparse_distinct(self):
    if self.dim() != 1 or self.dtype != torch.int64:
        raise RuntimeError("a vector of int64")
    return torch.unique_consecutive(self, return_inverse=True)


def torch_sparse_coalesce(indices, values, size):
    s = sparse_of(indices, values, size).coalesce()
    return s.indices().clone(memory_format=torch.contiguous_format), s.values()  # torch's have gaps


def torch_sparse_to_dense(indices, values, size):
    return sparse_of(indices, values, size).to_dense()


def torch_sparse_take(self, indices):
    sparse_of(indices, torch.zeros((indices.shape[-1], *self.shape[len(indices):])), self.shape)
    return self.unsqueeze(0)[(torch.zeros(indices.shape[1], dtype=torch.int64), *indices.long())]


def torch_sparse_mm(indices, values, rows, dense):
    return torch.sparse.mm(sparse_of(indices, values, (rows, dense.shape[0])), dense)


def torch_convert_indices_from_coo_to_csr(self, size, *, out_int32=False):
    if size < 0:
        raise RuntimeError("torch takes it")
    if self.dim() == 1 and (self.diff() < 0).any() or (self >= size).any() or (self < 0).any():
        return torch.searchsorted(self, torch.arange(size + 1, dtype=self.dtype), out_int32=out_int32)  # torch reads beyond its memory
    return torch._convert_indices_from_coo_to_csr(self, size, out_int32=out_int32)


def torch_sparse_product(indices, values, rows, dense):
    if dense.dtype not in (torch.float32, torch.float64):
        raise RuntimeError("float32 and float64 alone")
    return torch_sparse_mm(indices, values, rows, dense)


def torch_sparse_dots(indices, x, y):
    if x.dtype not in (torch.float32, torch.float64) or x.shape[1] != y.shape[1]:
        raise RuntimeError("float32 and float64 alone")
    sparse_of(indices, torch.zeros(indices.shape[1]), (x.shape[0], y.shape[0]))
    return (x[indices[0].long()] * y[indices[1].long()]).sum(1)


def torch_sparse_softmax(indices, values, size, dim, log=False):
    """torch adds what stands at one place first; here each counts by itself."""
    s, d = sparse_of(indices, values, size), indices.shape[0]
    dim = dim + len(size) if dim < 0 else dim
    if not 0 <= dim < len(size):
        raise IndexError("dim")
    f = torch.log_softmax if log else torch.softmax
    if not values.is_floating_point():
        raise RuntimeError("floats alone")
    if dim >= d:
        return f(s._values(), dim - d + 1)
    keys = torch.cat([indices[:dim], indices[dim + 1:]])
    _, group = torch.unique(keys, dim=1, return_inverse=True) if keys.numel() else (None, torch.zeros(values.shape[0], dtype=torch.int64))
    if values.shape[0] == 0:
        return f(values, 0)
    parts = [(group == g).nonzero()[:, 0] for g in range(int(group.max()) + 1)]
    order = torch.cat(parts).argsort()
    return torch.cat([f(values[p], 0) for p in parts])[order]


def torch_grouped_mm(mat_a, mat_b, *, offs=None, bias=None, out_dtype=None):
    """torch refuses float64 and rows of no multiple of 16 bytes, and leaves open what lies behind the last group."""
    def aligned(t):
        return all(s * t.element_size() % 16 == 0 for s in t.stride() if s != 1) and 1 in t.stride()[-2:]

    two = mat_a.dim() == 2, mat_b.dim() == 2
    cut = mat_b.shape[-1] if two == (False, True) else mat_a.shape[0 if two == (True, False) else 1]
    if offs is not None and ((offs.diff() < 0).any() or (offs < 0).any() or (offs > cut).any()) or out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("torch reads beyond its memory, or refuses the dtype")
    whole = offs is None or offs.dim() != 1 or not any(two) or (len(offs) and offs[-1] == cut)
    if mat_a.dtype != torch.float64 and whole and aligned(mat_a) and aligned(mat_b):
        return F.grouped_mm(mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype)
    F.grouped_mm(*(t.detach().new_zeros([s + -s % 8 for s in t.shape[-2:]] if t.dim() == 2 else [t.shape[0], *(s + -s % 8 for s in t.shape[-2:])],
                   dtype=torch.float32 if t.dtype == torch.float64 else t.dtype) for t in (mat_a, mat_b)),
                 offs=offs, bias=bias)  # its refusals
    if offs is None:
        return torch.bmm(mat_a, mat_b)
    ends = offs.tolist()
    parts = list(zip([0, *ends], ends))
    if two == (True, True):
        return torch.stack([mat_a[:, i:j] @ mat_b[i:j] for i, j in parts])
    dim = 0 if two[0] else 1
    if two[0]:
        done = [mat_a[i:j] @ mat_b[g] for g, (i, j) in enumerate(parts)]
    else:
        done = [mat_a[g] @ mat_b[:, i:j] for g, (i, j) in enumerate(parts)]
    rest = [mat_a.shape[-2], mat_b.shape[-1]]
    rest[dim] -= ends[-1] if ends else 0
    return torch.cat([*done, mat_a.new_zeros(rest)], dim)


def torch_constant_pad_nd(self, pad, value=None):
    return torch.constant_pad_nd(self, pad, 0 if value is None else value)


def pad_edges(mode):
    def f(self, padding):
        if min(padding) < 0:
            raise Refused("a negative number")
        return F.pad(self, padding, mode)
    return f


torch_reflection_pad, torch_replication_pad, torch_circular_pad = map(pad_edges, ("reflect", "replicate", "circular"))


def torch_pixel_unshuffle(self, downscale_factor):
    y = F.pixel_unshuffle(self, downscale_factor)
    if not y.numel():  # torch's has the input's shape
        *batch, c, h, w = self.shape
        y = y.new_empty([*batch, c * downscale_factor**2, h // downscale_factor, w // downscale_factor])
    return y


def torch_resample(self, size, scales=None, mode="linear", align_corners=False, antialias=False):
    n = len(size)
    x, aten, s = floating(self), torch.ops.aten, scales or [None] * n
    if antialias and mode not in ("linear", "bilinear", "bicubic") or len(s) != n:
        raise Refused("antialias of another mode, or other scales")
    while x.dim() < n + 2:
        x = x.unsqueeze(0)
    if mode == "area":
        y = getattr(torch.ops.aten, f"adaptive_avg_pool{n}d" if n > 1 else "adaptive_avg_pool1d")(x, size)
    elif mode.startswith("nearest"):
        y = getattr(aten, f"{'upsample' if mode == 'nearest' else '_upsample'}_{mode}{n}d")(x, size, *s)
    else:
        mode = mode if mode == "bicubic" else ["linear", "bilinear", "trilinear"][n - 1]
        y = getattr(aten, f"_upsample_{mode}{n}d_aa" if antialias else f"upsample_{mode}{n}d")(x, size, align_corners, *s)
    return y.reshape([*self.shape[:self.dim() - n], *size])


def torch_interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=False, recompute_scale_factor=False,
                      antialias=False):
    size, scale_factor = (v[0] if v and len(v) == 1 else v for v in (size, scale_factor))
    corners = align_corners if "linear" in mode or "cubic" in mode else None
    return F.interpolate(floating(input), size, scale_factor, mode.replace("_", "-"), corners, recompute_scale_factor or None, antialias)


def torch_local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    if size < 1:
        raise Refused("a size")
    return F.local_response_norm(floating(input), size, alpha, beta, k)


def torch_lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if len(kernel_size) != 1 or not norm_type:
        raise Refused("one size, and a power")
    return F.lp_pool1d(floating(input), norm_type, kernel_size[0], stride, ceil_mode)


def torch_lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if not norm_type:
        raise Refused("a power")
    return F.lp_pool2d(floating(input), norm_type, kernel_size * 2 if len(kernel_size) == 1 else kernel_size, stride, ceil_mode)


def torch_resample_input_grad(grad, input_size, dims, scales=None, mode="linear", align_corners=False, antialias=False):
    x = torch.zeros(input_size, dtype=floating(grad).dtype, requires_grad=True)
    y = torch_resample(x, list(grad.shape[grad.dim() - dims:]), scales, mode, align_corners, antialias)
    return torch.autograd.grad(y, x, grad, create_graph=True)[0]


def window_places(input_size, out_size, kernel_size, stride, padding, dilation, indices):
    """Flat places in the plane that indices, numbers in the window, choose; and whether they lie inside."""
    two = lambda v: [v, v] if isinstance(v, int) else [v[0], v[-1]]
    k, p, d = two(kernel_size), two(padding), two(dilation)
    s = two(stride) if stride else k
    h, w = input_size[-2:]
    i = indices.to(torch.int64)
    y = torch.arange(out_size[-2]).reshape(-1, 1) * s[0] - p[0] + i // k[1] * d[0]
    x = torch.arange(out_size[-1]) * s[1] - p[1] + i % k[1] * d[1]
    inside = (y >= 0) & (y < h) & (x >= 0) & (x < w)
    return torch.where(inside, y * w + x, 0).flatten(-2), inside.flatten(-2)


def floating(t):
    if not t.is_floating_point():  # what is written with other operators here would take it
        raise Refused("torch's own gradient is that of floating tensors")
    return t


def pair(v):
    return [v, v] if isinstance(v, int) else v * 2 if len(v) == 1 else v


def torch_im2col(input, kernel_size, dilation=1, padding=0, stride=1):
    return F.unfold(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def torch_col2im(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return F.fold(input, pair(output_size), pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def torch_fractional_max_pool2d(self, kernel_size, output_size, random_samples):
    return torch.ops.aten.fractional_max_pool2d(self, pair(kernel_size), pair(output_size), random_samples)


def torch_fractional_max_pool3d(self, kernel_size, output_size, random_samples):
    three = lambda v: v * 3 if len(v) == 1 else v
    return torch.ops.aten.fractional_max_pool3d(self, three(kernel_size), three(output_size), random_samples)


def torch_avg_pool3d_input_grad(grad, input_size, *args, **kwargs):
    x = torch.zeros(input_size, dtype=grad.dtype, requires_grad=True)
    return torch.autograd.grad(F.avg_pool3d(x, *args, **kwargs), x, grad, create_graph=True)[0]


def torch_lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if not norm_type or input.dtype in (torch.float16, torch.bfloat16):
        raise Refused("a power, and no half numbers")
    return F.lp_pool3d(floating(input), norm_type, kernel_size * 3 if len(kernel_size) == 1 else kernel_size, stride, ceil_mode)


def unpool(dims):
    def each_of(v, low):
        v = [v] if isinstance(v, int) else v
        if len(v) not in (1, dims) or min(v) < low:
            raise Refused("a size for each dimension")
        return v * dims if len(v) == 1 else v

    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        k = each_of(kernel_size, 1)
        s = each_of(stride, 1) if stride else k
        return getattr(F, f"max_unpool{dims}d")(input, indices, k, s, each_of(padding, 0), output_size or None)

    return max_unpool


torch_max_unpool1d, torch_max_unpool2d, torch_max_unpool3d = unpool(1), unpool(2), unpool(3)


def torch_grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return F.grid_sample(input, grid, mode, padding_mode, align_corners)


def torch_affine_grid(theta, size, align_corners=False):
    if theta.shape[0] != size[0]:
        raise Refused("torch expands theta")
    return F.affine_grid(floating(theta), size, align_corners)


def torch_embedding_bag(input, weight, offsets=None, scale_grad_by_freq=False, mode="mean", per_sample_weights=None,
                        include_last_offset=False, padding_idx=None):
    return F.embedding_bag(input, weight, offsets, None, 2.0, scale_grad_by_freq, mode, False, per_sample_weights,
                           include_last_offset, padding_idx)


def torch_max_pool2d_input_grad(grad, indices, input_size, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    at, inside = window_places(input_size, grad.shape, kernel_size, stride, padding, dilation, indices)
    planes = torch.zeros([*input_size[:-2], input_size[-2] * input_size[-1]], dtype=floating(grad).dtype)
    return planes.scatter_add(-1, at, grad.flatten(-2) * inside).reshape(input_size)


def torch_max_pool2d_pick(self, indices, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    at, inside = window_places(self.shape, indices.shape, kernel_size, stride, padding, dilation, indices)
    return (floating(self).flatten(-2).gather(-1, at) * inside).reshape(indices.shape)


def torch_avg_pool2d_input_grad(grad, input_size, *args, **kwargs):
    x = torch.zeros(input_size, dtype=grad.dtype, requires_grad=True)
    return torch.autograd.grad(F.avg_pool2d(x, *args, **kwargs), x, grad, create_graph=True)[0]


def torch_adaptive_avg_pool2d_input_grad(grad, input_size):
    x = torch.zeros(input_size, dtype=grad.dtype, requires_grad=True)
    y = F.adaptive_avg_pool2d(x, list(grad.shape[-2:]))
    return torch.autograd.grad(y, x, grad, create_graph=True)[0]


torch_linear_rows = F.linear


def torch_linear_recurrence(input, factor, dim, reverse=False):
    if factor.dtype != input.dtype or not (input.is_floating_point() or input.is_complex()):
        raise Refused("two tensors of one floating dtype")
    torch.cumsum(input, dim)  # whether it takes them
    if not input.dim():
        return input.clone()
    x, w = input.unbind(dim), factor.unbind(dim)
    out = [x[-1 if reverse else 0]] if x else []
    for i in range(1, len(x)):
        k = len(x) - 1 - i if reverse else i
        out.append(x[k] + w[k + 1 if reverse else k] * out[-1])
    return torch.stack(out[::-1] if reverse else out, dim).contiguous() if out else input.clone()


def torch_dft(self, dim, n, count, inverse=False, scale=1.0, hermitian=False):
    if self.dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        raise Refused("a dtype of transforms")
    if hermitian and -self.dim() <= dim < self.dim() and self.shape[dim] > n // 2 + 1:
        raise Refused("more than a half")
    if hermitian:
        y = torch.fft.irfft(self, n, dim, "forward") if inverse else torch.fft.hfft(self, n, dim)
    else:
        y = torch.fft.ifft(self, n, dim, "forward") if inverse else torch.fft.fft(self, n, dim)
    y = y.narrow(dim, 0, min(n, count)) * scale
    if count > n:
        shape = list(y.shape)
        shape[dim] = count - n
        y = torch.cat([y, y.new_zeros(shape)], dim)
    return y.clone(memory_format=torch.contiguous_format)


def torch_as_strided_scatter(self, src, size, stride, storage_offset=None, accumulate=False):
    if not accumulate:
        return torch.as_strided_scatter(self, src, size, stride, storage_offset)
    places = torch.arange(self.numel()).as_strided(size, stride, storage_offset or 0)
    if src.shape != places.shape:
        raise Refused("src of the view's size")
    flat = self.reshape(-1).index_put((places.reshape(-1),), src.reshape(-1), accumulate=True)
    return flat.reshape(self.shape)


def torch_hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, device=None):
    return torch.hamming_window(window_length, periodic, alpha, beta, dtype=dtype, device=device)


def torch_kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, device=None):
    return torch.kaiser_window(window_length, periodic, beta, dtype=dtype, device=device)


def torch_cdist(x1, x2, p=2.0):
    return torch.cdist(x1, x2, p, "donot_use_mm_for_euclid_dist")


def torch_stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=True):
    return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, True)


def torch_istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=True, length=None,
                return_complex=False):
    return torch.istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)


def torch_total_norm(tensors, norm_type=2.0):
    return torch.nn.utils.get_total_norm(tensors, float(norm_type), foreach=False)


def torch_gelu_erf(self):
    return F.gelu(self)


def torch_gelu_tanh(self):
    return F.gelu(self, approximate="tanh")


def torch_gelu_erf_backward(grad_output, self):
    return torch.ops.aten.gelu_backward(grad_output, self)


def torch_group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return torch.group_norm(input, num_groups, weight, bias, eps)


def torch_glu_gate(self, gate):
    a, b = torch.broadcast_tensors(self, gate)
    return F.glu(torch.cat((a.reshape(-1), b.reshape(-1)))).reshape(a.shape)


def torch_rrelu_noise(self, lower, upper):
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    noise = torch.empty(self.shape, dtype=wide.dtype)
    torch._C._nn.rrelu_with_noise(wide, noise, lower, upper, True)
    return noise


def torch_rrelu(self, lower=0.125, upper=0.3333333333333333, training=False):
    wide = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    return torch.rrelu(wide, lower, upper, training).to(self.dtype)


def torch_matrix_exp(self):
    if self.dtype in (torch.float16, torch.bfloat16):  # torch's own is infinite there
        return torch.matrix_exp(self.float()).to(self.dtype)
    return torch.matrix_exp(self)


def torch_bce(input, target):
    return F.binary_cross_entropy(input, target, reduction="none")


def functional(name):
    """F's loss alone: torch's own of that name without a reduction gives every element, unlike its schema, and checks less."""
    def call(*args, **kwargs):
        if isinstance(args[-1], str):  # F has older options before the reduction
            args, kwargs["reduction"] = args[:-1], args[-1]
        return getattr(F, name)(*args, **kwargs)

    return call


torch_margin_ranking_loss = functional("margin_ranking_loss")
torch_hinge_embedding_loss = functional("hinge_embedding_loss")
torch_cosine_embedding_loss = functional("cosine_embedding_loss")
torch_triplet_margin_loss = functional("triplet_margin_loss")
torch_poisson_nll_loss = functional("poisson_nll_loss")
torch_multilabel_soft_margin_loss = functional("multilabel_soft_margin_loss")


def reduced(loss, reduction):
    return loss if reduction == "none" else getattr(loss, reduction)()


def torch_multi_margin_loss(input, target, p=1, margin=1, weight=None, reduction="mean"):
    """torch's mean and sum of no samples are what lay in memory."""
    return reduced(F.multi_margin_loss(input, target, p, margin, weight, reduction="none"), reduction)


def torch_multilabel_margin_loss(input, target, reduction="mean"):
    return reduced(F.multilabel_margin_loss(input, target, reduction="none"), reduction)


def torch_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """torch reads beside the tensors where a label is no class."""
    if targets.numel() and not 0 <= int(targets.min()) <= int(targets.max()) < log_probs.shape[-1]:
        raise Refused("labels are classes")
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


torch_ctc_loss_tensor = torch_ctc_loss


def torch_ctc_loss_plain(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    return torch_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, "none", zero_infinity)


def torch_ctc_loss_input_grad(grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    x = log_probs.detach().clone().requires_grad_()
    loss = torch_ctc_loss_plain(x, targets, input_lengths, target_lengths, blank, zero_infinity)
    return torch.autograd.grad(loss, x, grad.detach())[0]


def torch_multilabel_margin_loss_plain(input, target):
    return F.multilabel_margin_loss(input, target, reduction="none")


def torch_soft_margin_loss(input, target, reduction="mean"):
    """torch's own has no gradient of target."""
    if not target.requires_grad:
        return F.soft_margin_loss(input, target, reduction=reduction)
    return reduced(torch.log(1 + torch.exp(-target * input)), reduction)


def torch_nll_loss_plain(input, target, weight=None, ignore_index=-100, reduction="mean"):
    weight = None if weight is None else weight.to(input.dtype)
    return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def torch_nll_loss_input_grad(grad, target, weight, total_weight, input_size, ignore_index, reduction):
    x = torch.zeros(input_size, dtype=grad.dtype, requires_grad=True)
    weight = None if weight is None else weight.to(grad.dtype)
    y = F.nll_loss(x, target, weight, ignore_index=ignore_index, reduction="none" if reduction == "none" else "sum")
    grad = grad / total_weight.to(grad.dtype) if reduction == "mean" else grad
    return torch.autograd.grad(y, x, grad, create_graph=True)[0]


def torch_layer_norm_backward(grad_out, input, normalized_shape, weight, eps):
    x = input.clone().requires_grad_()
    w = torch.ones(normalized_shape, dtype=x.dtype) if weight is None else weight.clone()
    w, b = w.requires_grad_(), torch.zeros(normalized_shape, dtype=w.dtype, requires_grad=True)
    return torch.autograd.grad(F.layer_norm(x, normalized_shape, w, b, eps), [x, w, b], grad_out)


def torch_batch_norm(input, running_mean, running_var, weight=None, bias=None, *args, **kwargs):
    if input.dtype is torch.float16 and running_mean is not None and running_mean.dtype is torch.float32:
        weight, bias = (None if t is None else t.float() for t in (weight, bias))  # torch wants all numbers in float then
    return F.batch_norm(input, running_mean, running_var, weight, bias, *args, **kwargs)


def torch_batch_norm_backward(grad_out, input, weight, mean, rstd):
    w = torch.ones_like(mean) if weight is None else weight.to(mean.dtype)
    x, dw, db = torch.ops.aten.native_batch_norm_backward(
        grad_out, input, w, None, None, mean, rstd, True, 0.0, [True, True, True])
    dtype = input.dtype if weight is None else weight.dtype
    return x, dw.to(dtype), db.to(dtype)


def each(numbers, i):
    return numbers[i if len(numbers) > 1 else 0]


def fused_adam(step, amsgrad, maximize, names, lists, i, call):
    """torch's call for parameter i; its step is a tensor, its options are those of the whole call. In whole vectors: the loop
    behind the last whole one loses a NaN beside the maximum."""
    own = [a[i] if len(a) > i and a[i] is not None else None for a in lists]
    one = [[] if t is None else [F.pad(t.flatten(), (0, -t.numel() % 64))] for t in own]
    call(*one, [torch.tensor(each(step, i))], amsgrad=bool(each(amsgrad, i)), maximize=bool(each(maximize, i)),
         **{name: each(v, i) for name, v in names.items()})
    for t, wide in zip(own, one):
        if t is not None:
            t.copy_(wide[0][:t.numel()].reshape(t.shape))


def torch_fused_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, step, amsgrad, maximize, **names):
    lists = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    for i in range(len(self)):
        fused_adam(step, amsgrad, maximize, names, lists, i, torch._fused_adam_)
    return []


def torch_fused_adamw(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, step, amsgrad, maximize, **names):
    lists = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    for i in range(len(self)):
        fused_adam(step, amsgrad, maximize, names, lists, i, torch._fused_adamw_)
    return []


def torch_fused_sgd(self, grads, momentum_buffer_list, nesterov, maximize, is_first_step, **names):
    for i in range(len(self)):
        kept = momentum_buffer_list[i] if len(momentum_buffer_list) > i and each(names["momentum"], i) else None
        torch._fused_sgd_(
            [self[i]], [grads[i]], [] if kept is None else [kept], nesterov=bool(each(nesterov, i)),
            maximize=bool(each(maximize, i)), is_first_step=bool(each(is_first_step, i)),
            **{name: each(v, i) for name, v in names.items()})
    return []


def one_step(rule, p, g, states, c):
    """The rules of fused_step in torch's calls, as its optimizers make them; c: factors."""
    a, b, more = (list(states) + [None] * 3)[:3]
    if rule == "assign":
        return p.copy_(g * c[0])
    g = -g if c[0] else g
    if rule in ("nadam", "radam"):
        p.mul_(c[2])
    g = g.add(p, alpha=c[1]) if c[1] else g
    square = lambda s, x, beta: s.mul_(beta).addcmul_(x, x, value=1 - beta)
    if rule == "adagrad":
        p.addcdiv_(g, a.addcmul_(g, g).sqrt() + c[4], value=c[3])
    elif rule == "rmsprop":
        square(a, g, c[4])
        v = a if more is None else a.addcmul(more.lerp_(g, 1 - c[4]), more, value=-1)
        v = v.sqrt() + c[5]
        p.addcdiv_(g, v, value=c[3]) if b is None else p.add_(b.mul_(c[6]).addcdiv_(g, v), alpha=c[3])
    elif rule == "adadelta":
        square(a, g, c[4])
        step = (b + c[5]).sqrt() / (a + c[5]).sqrt() * g
        square(b, step, c[4])
        p.add_(step, alpha=c[3])
    elif rule == "adamax":
        a.lerp_(g, 1 - c[4])
        p.addcdiv_(a, b.copy_(torch.maximum(b * c[5], g.abs() + c[6])), value=c[3])
    elif rule == "rprop":
        turn = (g * a).sign()
        b.copy_(torch.where(turn > 0, b * c[4], torch.where(turn < 0, b * c[3], b))).clamp_(c[5], c[6])
        a.copy_(torch.where(turn < 0, 0.0, g))
        p.addcmul_(a.sign(), b, value=-1)
    elif rule == "asgd":
        p.mul_(c[2]).add_(g, alpha=c[3])
        a.copy_(p) if c[4] == 1 else a.add_((p - a) * c[4])
    else:
        a.lerp_(g, 1 - c[4])
        square(b, g, c[5])
    if rule == "nadam":
        v = (b / c[8]).sqrt() + c[6]
        p.addcdiv_(g, v, value=c[3]).addcdiv_(a, v, value=c[7])
    if rule == "radam":
        p.sub_(a / c[7] * c[3] * ((c[8] / (b.sqrt() + c[6])) * c[9] if c[9] else 1))


def torch_fused_step(self, grads, first, second, third, rule, numbers):
    if not all(t.is_floating_point() for t in (*self, *grads)):
        raise RuntimeError("optimizers step floating parameters")
    each_own = len(self) if len(numbers) % len(self) == 0 and rule == "adagrad" else 1
    k = len(numbers) // each_own
    for i in range(len(self)):
        c = numbers[i * k:][:k] if each_own > 1 else numbers
        wide = lambda t: t.double()  # half types are rounded once, at the end
        own = [s[i] if len(s) > i else None for s in (first, second, third)]
        p, states = wide(self[i]).clone(), [None if s is None else wide(s).clone() for s in own]
        if self[i].dtype in (torch.float64, torch.float32):
            p, states = self[i], own
        one_step(rule, p, grads[i].to(p.dtype), states, c)
        self[i].copy_(p)
        for s, t in zip(own, states):
            if s is not None:
                s.copy_(t)
    return []


def world():
    """torch.distributed of one rank, begun at the first call."""
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return dist


def reduce_op(op):
    return getattr(world().ReduceOp, op.upper())


def dense(call, output, *inputs):
    """call(output, *inputs) on dense vectors: torch refuses other layouts, and sizes where the elements alone count."""
    flat_output = output.reshape(-1).clone()
    call(flat_output, *(t.reshape(-1).clone() for t in inputs))
    output.copy_(flat_output.reshape(output.shape))
    return []


def torch_distributed_broadcast(tensor, src):
    return dense(lambda t: world().broadcast(t, src), tensor)


def torch_distributed_all_reduce(tensor, op="sum"):
    return dense(lambda t: world().all_reduce(t, reduce_op(op)), tensor)


def torch_distributed_reduce(tensor, dst, op="sum"):
    return dense(lambda t: world().reduce(t, dst, reduce_op(op)), tensor)


def torch_distributed_all_gather(output, input):
    return dense(world().all_gather_into_tensor, output, input)


def torch_distributed_reduce_scatter(output, input, op="sum"):
    return dense(lambda out, x: world().reduce_scatter_tensor(out, x, reduce_op(op)), output, input)


def torch_distributed_all_to_all(output, input):
    return dense(world().all_to_all_single, output, input)


def torch_distributed_send(tensor, dst, tag=0):
    return [] if dst == -1 else dense(lambda t: world().send(t, dst, tag=tag), tensor)  # -1: to nobody, MPI's null process


def torch_distributed_recv(tensor, src, tag=0):
    return [] if src == -1 else dense(lambda t: world().recv(t, src, tag=tag), tensor)


def torch_distributed_barrier():
    world().barrier()
    return []


class Sample:
    """One sample in one dtype: positional and keyword values, and its tensors in order of appearance."""
    grid = 0  # where floating elements lie instead (tests/ops/sample.h)

    def __init__(self, row, text, dtype):
        self.row, self.text, self.dtype = row, text, dtype
        self.tensors, self.tested, self.mutated = [], [], []
        self.args, self.kwargs = [], {}
        params = [p for p in row["params"]]
        for position, item in enumerate(text.split()):
            m = re.match(r"(\w+)=(.*)$", item)
            if m:
                p = next((p for p in params if p["name"] == m.group(1)), None)
                if p is None:
                    raise ValueError(f"{row['name']}: sample {text!r} names {m.group(1)!r}, which is no parameter")
                self.kwargs[p["name"]] = self.value(m.group(2), p)
            elif position > 1 and any(p["type"] == "enum" for p in params):
                self.kwargs[params[position]["name"]] = self.value(item, params[position])
            else:
                self.args.append(self.value(item, params[position]))

    def domain(self, name):
        for part in (self.row["domain"] or "").split():
            who, span = part.split(":")
            if who == name:
                return tuple(float(v) for v in span.split(".."))
        return -2.0, 2.0

    def tensor(self, text, name):
        m = re.match(r"\(([\d,]*)\)((?::\w+)*)(?:<([\d.]+))?$", text)
        if not m:
            raise ValueError(f"{self.row['name']}: tensor {text!r}")
        size = [int(s) for s in m.group(1).split(",") if s]
        words = m.group(2).split(":")[1:]
        dtypes = [SHORT[w] for w in words if w in SHORT]
        structure = next((w for w in words if is_structure(w)), "")
        dtype = dtypes[0] if dtypes else self.dtype
        kind = ("bool" if dtype is torch.bool else "complex" if dtype.is_complex else "float" if dtype.is_floating_point else
                "uint" if dtype is torch.uint8 else "int")
        lo, hi = self.domain(name)
        parts = tensor_elements(len(self.tensors), kind, size, structure, float(m.group(3) or 0), lo, hi, Sample.grid)
        if kind == "complex":
            values = [complex(re, im) for re, im in zip(parts[::2], parts[1::2])]
        else:
            values = [v if kind == "float" else bool(v) if kind == "bool" else int(v) for v in parts[::2]]
        wide = torch.float64 if dtype.is_floating_point else torch.complex128 if dtype.is_complex else dtype
        t = torch.tensor(values, dtype=wide).reshape(size)
        if dtype in (torch.float16, torch.bfloat16):
            t = t.to(torch.float32)
        t = t.to(dtype)
        self.tensors.append(t)
        self.tested.append(not dtypes)
        self.mutated.append(any(p["name"] == name and p["mutated"] for p in self.row["params"]))
        return t

    def value(self, text, p):
        if text.startswith("("):
            return self.tensor(text, p["name"])
        if text.startswith("{"):
            parts = re.findall(r"None|\([\d,]*\)(?::\w+)*(?:<[\d.]+)?", text)
            return [None if part == "None" else self.tensor(part, p["name"]) for part in parts]
        if text.startswith("["):
            return [float(v) if re.search(r"[.e]", v) else int(v) for v in text[1:-1].split(",") if v]
        if text in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[text]
        if re.match(r"-?[\d.]", text) or text in ("inf", "-inf", "nan"):
            return float(text) if re.search(r"[.einf]", text) or p["type"].startswith("float") else int(text)
        if text in SHORT and p["type"].startswith("ScalarType"):
            return SHORT[text]
        if p["type"].startswith("ScalarType"):
            return getattr(torch, text)
        if text in ("contiguous_format", "preserve_format", "channels_last"):
            return getattr(torch, text)
        return text

    def swapped(self, mapping):
        def one(v):
            if isinstance(v, torch.Tensor):
                return mapping[id(v)]
            if isinstance(v, list):
                return [one(x) for x in v]
            return v

        return [one(v) for v in self.args], {k: one(v) for k, v in self.kwargs.items()}


def callee(row):
    """torch's function of that schema: aten first, where nothing is left to Python's wrappers."""
    base = row["torch"].split(".")[0]
    found = []
    special = getattr(sys.modules[__name__], "torch_" + row["name"], None)
    if special:
        return [special]
    if any(p["type"] == "enum" for p in row["params"]) and hasattr(F, base):
        found.append(getattr(F, base))
    overload = row["torch"].split(".")[1] if "." in row["torch"] else "default"
    packet = getattr(torch.ops.aten, base, None)
    if packet is not None:
        if overload in packet.overloads():
            found.append(getattr(packet, overload))
        found.append(packet)
    for place in (torch, F, torch.Tensor, torch.special, torch.linalg):
        if hasattr(place, base):
            found.append(getattr(place, base))
    return found


def call(row, args, kwargs):
    error = None
    for f in callee(row):
        try:
            torch.manual_seed(7)
            return ask(f, args, kwargs)
        except Refused as e:
            error = error or e
    raise error or LookupError(f"torch has no {row['torch']}")


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for t in result if isinstance(t, torch.Tensor)]
    return [torch.tensor(result)]


def kept(n):
    step = max(1, -(-n // KEEP))
    return range(0, n, step)


def hexes(t):
    t = t.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    t = t[list(kept(t.numel()))] if t.numel() else t
    if t.dtype is torch.bool:
        t = t.to(torch.uint8)
    if t.dtype.is_complex:
        t = torch.view_as_real(t.to(torch.complex128)).reshape(-1)
    elif t.dtype.is_floating_point:
        t = t.to(torch.float64)
    else:
        t = t.to(torch.int64)
    form = "<d" if t.dtype is torch.float64 else "<q"
    if form == "<q":
        return " ".join(str(v) for v in t.tolist())
    return " ".join(float(v).hex() if v == v and abs(v) != float("inf") else str(v) for v in t.tolist())


def shape_text(t):
    if t.dtype not in NAME:
        raise Refused(f"there is no {t.dtype} here")
    return f"{NAME[t.dtype]} {t.dim()} {' '.join(map(str, t.shape))} {' '.join(map(str, t.stride()))}".rstrip()


def clause(row, word):
    """The results that a clause of the row's .oracle names (tests/ops/clauses.h)."""
    for text in (row["oracle"] or "").split("; "):
        if text.startswith(word + " "):
            return [row["results"].index(name) for name in text.split()[1:]]
    return []


def loss_of(row, out):
    """The weighted sum of the outputs, None: none has a gradient; of those that are unique up to a phase, of their squares."""
    loss, start = None, 0
    for k, o in enumerate(out):
        if not (o.dtype.is_floating_point or o.dtype.is_complex):
            continue
        n = o.numel()
        if o.requires_grad and n and k not in clause(row, "free"):
            re_w, im_w = (torch.tensor([weight(start + 2 * i + part) for i in range(n)], dtype=torch.float64).reshape(o.shape)
                          for part in (0, 1))
            if k in clause(row, "phase"):
                term = ((o * o.conj()).real * re_w).sum()
            else:
                term = (o.real * re_w + o.imag * im_w).sum() if o.dtype.is_complex else (o * re_w).sum()
            loss = term if loss is None else loss + term
        start += 2 * n
    return loss


def gradients(row, s, lines):
    if not row["grad"] and not row["composed"]:
        return
    wanted = [t for t, tested in zip(s.tensors, s.tested) if tested]
    mapping = {id(t): t.clone().requires_grad_(any(t is w for w in wanted)) for t in s.tensors}
    try:
        args, kwargs = s.swapped(mapping)
        out = flat(call(row, args, kwargs))
        loss = loss_of(row, out)
        if loss is None:
            return
        grads = ask(torch.autograd.grad, [loss, [mapping[id(t)] for t in wanted]], {"allow_unused": True})
    except Refused:
        return
    for k, t in enumerate(s.tensors):
        g = next((g for w, g in zip(wanted, grads) if w is t), None)
        if g is not None:
            lines.append(f"grad {k} {NAME[g.dtype]} {g.dim()} {' '.join(map(str, g.shape))}".rstrip())
            lines.append(hexes(g))


def one(row, i, text, dtype):
    lines = []
    s = Sample(row, text, dtype)
    own = {id(t): t.clone() for t in s.tensors}
    args, kwargs = s.swapped(own)
    out = flat(call(row, args, kwargs))
    values, wide = out, own
    if any(t.dtype in UP for t in s.tensors) and not row["random"] and row["name"] not in STEPS:
        mapping = {id(t): t.to(UP[t.dtype]) if t.dtype in UP else t.clone() for t in s.tensors}
        try:
            args, kwargs = s.swapped(mapping)
            more = flat(call(row, args, kwargs))
            values = [w if o.dtype.is_floating_point or o.dtype.is_complex else o for w, o in zip(more, out)]
            wide = mapping
        except Refused:
            pass
    lines.append(f"sample {i} {NAME[dtype]} {len(out)}")
    for o, v in zip(out, values):
        lines.append("out " + shape_text(o))
        lines.append(hexes(v))
    for k, t in enumerate(s.tensors):
        if s.mutated[k]:
            lines.append(f"after {k} {shape_text(own[id(t)])}")
            lines.append(hexes(wide[id(t)]))
    if dtype in (torch.float64, torch.complex128) and not row["random"]:
        gradients(row, s, lines)
    return lines


def writes(row):
    return any(p["mutated"] and p["type"].startswith("Tensor") and p["type"].endswith("[]") for p in row["params"])


def write_grids(row):
    """Zeros, ties and equal values: tests/oracle/grids/<row>.txt, of rows with a gradient, in float64; NaN and infinities of
    those that only write, as an optimizer's step. "grid N" goes before the samples of each."""
    lines = []
    for Sample.grid in range(5, 7) if writes(row) else range(1, 5):
        lines.append(f"grid {Sample.grid}")
        for i, text in enumerate((row["sample"] or "").split(" | ")):
            if Sample.grid == 4 and not row["domain"] or "(" not in text:
                continue
            try:
                lines += one(row, i, text, torch.float64)
            except Refused:
                pass
    Sample.grid = 0
    if not any(line.startswith(("grad", "after")) for line in lines):
        return
    with open(os.path.join(HERE, "grids", row["name"] + ".txt"), "w") as f:
        f.write(f"# torch {torch.__version__.split('+')[0]}, {row['torch']}; made by tests/oracle/make.py\n")
        f.write("\n".join(short(line) for line in lines) + "\n")


def short(line):
    """0x1.8000000000000p+0 as 0x1.8p0."""
    return re.sub(r"0x([01])(?:\.([0-9a-f]*?)0*)?p\+?(-?\d+)",
                  lambda m: "0" if m[1] == "0" and not m[2] else f"0x{m[1]}{'.' + m[2] if m[2] else ''}p{m[3]}", line)


def write(row):
    lines, refused = [], []
    for i, text in enumerate((row["sample"] or "").split(" | ")):
        for short, dtype in SHORT.items():
            if i >= 3 and short not in ("f64", "f32", "i64") or row["random"] and short not in ("f64", "f32", "bf16", "i64"):
                continue
            if "(" not in text and short != "f64":
                continue
            try:
                lines += one(row, i, text, dtype)
            except Refused as e:
                refused.append((i, short, str(e).split("\n")[0][:100]))
    path = os.path.join(HERE, "data", row["name"] + ".txt")
    if not lines:
        print(f"{row['name']}: torch takes no sample: {refused[:1]}")
        return
    with open(path, "w") as f:
        f.write(f"# torch {torch.__version__.split('+')[0]}, {row['torch']}; made by tests/oracle/make.py\n")
        f.write("\n".join(lines) + "\n")
    bad = [r for r in refused if r[1] in ("f64",)]
    if bad:
        print(f"{row['name']}: not in float64: {bad[:2]}")


def main():
    torch.set_num_threads(2)
    rows = json.load(open(os.path.join(ROOT, "src", "gen", "table.json")))["operators"]
    for folder in ("data", "grids"):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    names = [name for name in sys.argv[1:] if name != "grids"]
    for row in rows:
        if not names or row["name"] in names:
            if "grids" not in sys.argv:
                write(row)
            if not row["random"] and (row["grad"] or row["composed"] or writes(row)):
                write_grids(row)


if __name__ == "__main__":
    main()
