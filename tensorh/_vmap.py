"""torch.vmap: a function of one sample, called once for all of a batch (src/api/vmap.h)."""

import contextlib
import functools
from collections import namedtuple

from . import _C
from .utils import _pytree

_RANDOMNESS = ("error", "same", "different")


@contextlib.contextmanager
def batch(size, randomness="error"):
    """A batch of `size` samples in this thread, until the block ends."""
    _C._vmap_begin(size, _RANDOMNESS.index(randomness))
    try:
        yield
    finally:
        _C._vmap_end()


def each(t):
    """t with samples of its own in every open batch."""
    return _C._batch_each(t) if _C._vmap_depth() else t


# --- arguments and results -----------------------------------------------------------------------


def _spread(prefix, tree):
    """A value for each leaf of tree, from a tree of which it is a part below each leaf of prefix;
    None if it is not."""
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(_pytree.tree_leaves(tree))
    _, ours = _pytree.tree_flatten(prefix)
    _, theirs = _pytree.tree_flatten(tree)
    if not ours.children_specs or len(ours.children_specs) != len(theirs.children_specs):
        return None if ours.children_specs or theirs.children_specs else [prefix]
    if (ours.type, ours.type is dict and ours.context) != (
        theirs.type, theirs.type is dict and theirs.context):
        return None
    values = []
    for p, t in zip(_children(prefix), _children(tree), strict=True):
        below = _spread(p, t)
        if below is None:
            return None
        values += below
    return values


def _children(tree):
    return list(tree.values()) if isinstance(tree, dict) else list(tree)


def _name(func):
    return getattr(func, "__name__", repr(func))


def _in_dims(func, in_dims, args):
    """(the dimension of each leaf of args that counts samples, or None; their number)."""
    called = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{called}expected `in_dims` to be int or a (potentially nested) tuple "
                         f"matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add "
                         "inputs, or you are trying to vmap over a function with no inputs. The "
                         "latter is unsupported.")
    leaves, dims = _pytree.tree_leaves(args), _spread(in_dims, args)
    if dims is None:
        raise ValueError(f"{called}in_dims is not compatible with the structure of `inputs`.")
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(f"{called}Got in_dim={dim} for an input but in_dim must be either an "
                             "integer dimension or None.")
        if not isinstance(leaf, _C.Tensor):
            raise ValueError(f"{called}Got in_dim={dim} for an input but the input is of type "
                             f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use "
                             "None as the respective in_dim")
        n = leaf.dim()
        if not -n <= dim < n:
            raise ValueError(f"{called}Got in_dim={dim} for some input, but that input is a Tensor "
                             f"of dimensionality {n} so expected in_dim to satisfy -{n} <= in_dim "
                             f"< {n}.")
        dims[i] = dim % n
    return dims, _size(leaves, dims)


def _size(leaves, dims):
    sizes = [t.shape[d] for t, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes):
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def _out_dims(func, out_dims, output):
    """The dimension of each leaf of the output that will count samples, or None."""
    if isinstance(out_dims, int) and isinstance(output, _C.Tensor):
        return [out_dims]
    dims = _spread(out_dims, output)
    if dims is None and isinstance(out_dims, (tuple, list)) and len(out_dims) == 1 and isinstance(
            output, _C.Tensor):
        dims = list(out_dims)
    if dims is None:
        raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): out_dims is not "
                         "compatible with the structure of the outputs.")
    return dims


def _leave(func, out, dim):
    """A result for all samples."""
    if dim is None:
        if isinstance(out, _C.Tensor) and _C._is_batched(out):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a "
                             "BatchedTensor when out_dim is None")
        return out
    if not isinstance(out, _C.Tensor):
        raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got "
                         f"type {type(out)}. Did you mean to set out_dims= to None for output?")
    return _C._unbatched(out, dim)


def _named(kwargs, size):
    """Tensors by keyword count samples in dimension 0."""
    sizes = [t.shape[0] if t.dim() else None for t in _pytree.tree_leaves(kwargs)
             if isinstance(t, _C.Tensor)]
    if any(n != size for n in sizes):
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {[size, *sizes]} for the mapped dimension")


def _call(func, dims, size, out_dims, randomness, args, kwargs):
    leaves, spec = _pytree.tree_flatten(args)
    named, names = _pytree.tree_flatten(kwargs)
    with batch(size, randomness):
        mine = [t if d is None else _C._batched(t, d) for t, d in zip(leaves, dims, strict=True)]
        named = [_C._batched(t, 0) if isinstance(t, _C.Tensor) else t for t in named]
        output = func(*_pytree.tree_unflatten(mine, spec), **_pytree.tree_unflatten(named, names))
        out, shape = _pytree.tree_flatten(output)
        each_dim = _out_dims(func, out_dims, output)
        out = [_leave(func, t, d) for t, d in zip(out, each_dim, strict=True)]
    return _pytree.tree_unflatten(out, shape), each_dim


def _chunks(func, dims, size, chunk, out_dims, randomness, args, kwargs):
    """The same in parts of at most `chunk` samples."""
    leaves, spec = _pytree.tree_flatten(args)
    from .random import get_rng_state, set_rng_state

    parts, drawn = [], get_rng_state() if randomness == "same" else None
    for first in range(0, size, chunk):
        n = min(chunk, size - first)
        if drawn is not None:
            set_rng_state(drawn)
        some = [t if d is None else t.narrow(d, first, n)
                for t, d in zip(leaves, dims, strict=True)]
        named = _pytree.tree_map_only(_C.Tensor, lambda t, a=first, n=n: t.narrow(0, a, n), kwargs)
        output, each_dim = _call(func, dims, n, out_dims, randomness,
                                 _pytree.tree_unflatten(some, spec), named)
        parts.append(_pytree.tree_flatten(output))
    shape = parts[0][1]
    columns = zip(*(p[0] for p in parts), strict=True)
    joined = [c[0] if d is None else _C.cat(c, d) for c, d in zip(columns, each_dim, strict=True)]
    return _pytree.tree_unflatten(joined, shape)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func once for all samples of its tensors.

    in_dims: which dimension of each input counts samples, None: the input is the same for all; a
    number for all inputs, or a tuple that follows their structure. Inputs by keyword count samples
    in dimension 0. out_dims: the same of the results. Inside of func a tensor has the shape of one
    sample. randomness: what random numbers do there, "error", "same" or "different" in each sample.
    chunk_size: at most so many samples at a time.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError("Only allowed values for randomness are 'error', 'different', or "
                           f"'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        dims, size = _in_dims(func, in_dims, args)
        _named(kwargs, size)
        if chunk_size is not None and size > chunk_size:
            return _chunks(func, dims, size, chunk_size, out_dims, randomness, args, kwargs)
        return _call(func, dims, size, out_dims, randomness, args, kwargs)[0]

    return wrapped


# --- gradients -----------------------------------------------------------------------------------


def grads(outputs, inputs, seeds, **options):
    """autograd.grad for a batch of seeds, whose dimension 0 counts them."""
    sizes = {s.shape[0] if s.dim() else None for s in seeds if s is not None}
    if len(sizes) != 1 or None in sizes:
        raise RuntimeError("grad(): is_grads_batched=True expects grad_outputs with as many "
                           "samples in dimension 0 of each")
    for i, (o, s) in enumerate(zip(outputs, seeds, strict=True)):
        if s is not None and s.shape[1:] != o.shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                f"as the batch dimension. The sizes of the remaining dimensions are expected to "
                f"match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a shape of {s.shape} and output[{i}] has a shape of "
                f"{o.shape}.")
    with batch(sizes.pop()):
        mine = [None if s is None else _C._batched(s, 0) for s in seeds]
        found = _C._grad(outputs, inputs, mine, **options)
        return tuple(None if g is None else _C._unbatched(g, 0) for g in found)


def seeded(outputs, inputs, seeds, retain, create, unused, materialize):
    """What autograd.grad does with is_grads_batched=True."""
    def listed(x):
        return [x] if isinstance(x, _C.Tensor) or x is None else list(x)

    return grads(listed(outputs), listed(inputs), listed(seeds),
                 retain_graph=create if retain is None else retain, create_graph=create,
                 allow_unused=unused, materialize_grads=materialize)


# --- autograd.Function ---------------------------------------------------------------------------

VmapInfo = namedtuple("VmapInfo", "batch_size randomness")


def apply(cls, *args):
    """cls.apply(*args) where one of them is a sample of the innermost batch."""
    from .autograd import Function

    mine = [isinstance(a, _C.Tensor) and _C._is_batched(a) for a in args]
    if not any(mine):
        raise NotImplementedError(f"{cls.__name__}: its arguments are samples of an outer batch "
                                  "alone, which a Function does not take")
    whole = [_C._unbatched(a, 0) if m else a for a, m in zip(args, mine, strict=True)]
    size = whole[mine.index(True)].shape[0]
    if cls.vmap is not Function.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it has both "
                               "generate_vmap_rule=True and an overridden vmap staticmethod. "
                               "Please set generate_vmap_rule=False or delete the overridden vmap "
                               "staticmethod to avoid ambiguity.")
        dims = tuple(0 if m else None for m in mine)
        info = VmapInfo(size, _RANDOMNESS[_C._vmap_randomness()])
        output, out_dims = cls.vmap(info, dims, *whole)
    elif cls.generate_vmap_rule:
        output, out_dims = _one_by_one(cls, whole, mine, size), 0
    else:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it does not have vmap "
                           "support. Please override and implement the vmap staticmethod or set "
                           "generate_vmap_rule=True.")
    leaves, spec = _pytree.tree_flatten(output)
    dims = _spread(out_dims, output)
    return _pytree.tree_unflatten(
        [t if d is None else _C._batched(t, d) for t, d in zip(leaves, dims, strict=True)], spec)


def _one_by_one(cls, whole, mine, size):
    rows = [cls.apply(*(w[i] if m else w for w, m in zip(whole, mine, strict=True)))
            for i in range(size)]
    if isinstance(rows[0], tuple):
        return tuple(_C.stack(column) for column in zip(*rows, strict=True))
    return _C.stack(rows)
