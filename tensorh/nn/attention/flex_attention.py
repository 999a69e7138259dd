"""torch.nn.attention.flex_attention: attention whose scores a function of the program changes.

The function is called once, with all scores and with indices that broadcast to them, where torch
calls it for each score (by vmap). So it may use operators, torch.where and indexing of its own
tensors, as torch demands; the results are the same. Nothing is skipped: a block mask saves no time.
"""

import math
from typing import NamedTuple

from ... import _C
from .. import functional as F

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask",
    "create_nested_block_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip
_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What flex_attention should give beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What it gave."""

    lse: object = None
    max_scores: object = None


def _identity(score, batch, head, token_q, token_kv):
    return score


def noop_mask(batch, head, token_q, token_kv):
    """True for all."""
    return batch.new_ones(size=(), dtype=_C.bool, device=batch.device)


def _combined(masks, how):
    if not all(callable(m) for m in masks):
        raise RuntimeError("All inputs should be callable mask_mods")

    def mask(*indices):
        result = masks[0](*indices)
        for m in masks[1:]:
            result = how(result, m(*indices))
        return result

    return mask


def and_masks(*mask_mods):
    """A mask_mod that is True where all are."""
    return _combined(mask_mods, lambda a, b: a & b)


def or_masks(*mask_mods):
    """A mask_mod that is True where one is."""
    return _combined(mask_mods, lambda a, b: a | b)


def _indices(sizes, device):
    """An index of each of four dimensions, which broadcast."""
    made = []
    for d, n in enumerate(sizes):
        shape = [1] * 4
        shape[d] = n
        made.append(_C.arange(n, dtype=_C.int32, device=device).view(shape))
    return made


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask of a mask_mod, bool (B, H, Q_LEN, KV_LEN); of a score_mod what it makes of 0."""
    import inspect

    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    positional = [p for p in inspect.signature(mod_fn).parameters.values()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
                  and p.default is p.empty]  # fmt: skip
    indices = _indices(sizes, device)
    if len(positional) == 5:
        return mod_fn(_C.zeros(sizes, device=device), *indices).expand(sizes)
    return mod_fn(*indices).expand(sizes)


class BlockMask:
    """A mask_mod, and which blocks of the mask have something in them."""

    def __init__(self, seq_lengths, mask_mod, block_size, blocks, full, batch, heads):
        self.seq_lengths, self.mask_mod, self.BLOCK_SIZE = seq_lengths, mask_mod, block_size
        self._blocks, self._full = blocks, full
        self._batch, self._heads = batch, heads

    @property
    def shape(self):
        """(B, H, Q_LEN, KV_LEN)."""
        return (self._batch, self._heads, *self.seq_lengths)

    def _listed(self, blocks):
        order = blocks.to(_C.int32).argsort(dim=-1, descending=True, stable=True)
        return blocks.sum(-1).to(_C.int32), order.to(_C.int32)

    @property
    def _partial(self):
        return self._blocks & ~self._full

    kv_num_blocks = property(lambda self: self._listed(self._partial)[0])
    kv_indices = property(lambda self: self._listed(self._partial)[1])
    full_kv_num_blocks = property(lambda self: self._listed(self._full)[0])
    full_kv_indices = property(lambda self: self._listed(self._full)[1])
    q_num_blocks = property(lambda self: self._listed(self._partial.transpose(-2, -1))[0])
    q_indices = property(lambda self: self._listed(self._partial.transpose(-2, -1))[1])

    def to_dense(self):
        """1 for each block that has something in it."""
        return self._blocks.to(_C.int32)

    def numel(self):
        """Elements of the whole mask."""
        return math.prod(self.shape)

    def sparsity(self):
        """Percents of the blocks that have nothing in them."""
        return 100 * (1 - self._blocks.sum().item() / max(self._blocks.numel(), 1))

    def to(self, device):
        """The mask on a device."""
        return BlockMask(self.seq_lengths, self.mask_mod, self.BLOCK_SIZE, self._blocks.to(device),
                         self._full.to(device), self._batch, self._heads)  # fmt: skip

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False,
                      **unused):  # fmt: skip
    """The BlockMask of a mask_mod(b, h, q_idx, kv_idx)."""
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    down, right = -Q_LEN % rows, -KV_LEN % columns
    shape = (*mask.shape[:2], (Q_LEN + down) // rows, rows, (KV_LEN + right) // columns, columns)
    count = F.pad(mask.to(_C.int64), (0, right, 0, down)).reshape(shape).sum((3, 5))
    return BlockMask((Q_LEN, KV_LEN), mask_mod, (rows, columns), count > 0,
                     count == rows * columns, *mask.shape[:2])  # fmt: skip


def create_nested_block_mask(*args, **kwargs):
    """Refused: there are no nested layouts."""
    raise NotImplementedError("there are no nested layouts")


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None,
                   enable_gqa=False, return_lse=False, kernel_options=None, *,
                   return_aux=None):  # fmt: skip
    """softmax(score_mod(query key^T scale, b, h, q_idx, kv_idx)) value, where block_mask is True.

    query: (B, H, L, E); key, value: (B, H, S, E) or, with enable_gqa, (B, H / n, S, E). A query
    that sees nothing gets zeros. With return_lse also the logarithm of the sum of exponentials."""
    if any(t.dim() != 4 for t in (query, key, value)):
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads = query.size(1)
    if heads != key.size(1):
        if not enable_gqa:
            raise ValueError(
                f"Expect query and key/value to have the same number of heads but got "
                f"Hq={heads} and Hkv={key.size(1)}. Try setting enable_gqa=True for GQA."
            )
        key = key.repeat_interleave(heads // key.size(1), 1)
        value = value.repeat_interleave(heads // value.size(1), 1)
    if key.size(0) != query.size(0):
        key, value = (t.expand(query.size(0), -1, -1, -1) for t in (key, value))
    scale = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)).to(_C.promote_types(query.dtype, _C.float32)) * scale
    indices = _indices(scores.shape, query.device)
    if score_mod is not None:
        scores = score_mod(scores, *indices)
    if block_mask is not None:
        mask = block_mask.mask_mod(*indices)
        scores = _C.where(mask, scores, _C.full((), -math.inf, dtype=scores.dtype,
                                                device=scores.device))  # fmt: skip
    highest = scores.detach().amax(-1, keepdim=True)
    seen = highest > -math.inf
    shifted = (scores - highest.masked_fill(~seen, 0.0)).exp()
    total = shifted.sum(-1, keepdim=True)
    weights = shifted / total.masked_fill(~seen, 1.0)
    result = (weights.to(query.dtype) @ value).to(query.dtype)
    if return_aux is None and not return_lse:
        return result
    lse = (total.log() + highest).masked_fill(~seen, -math.inf).squeeze(-1)
    if return_aux is None:
        return result, lse
    return result, AuxOutput(lse if return_aux.lse else None,
                             highest.squeeze(-1) if return_aux.max_scores else None)  # fmt: skip
