"""torch.nn.attention.bias: masks by name."""

from enum import IntEnum, auto

from ... import _C

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the diagonal of the mask begins or ends."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


def CausalBias(variant, seq_len_q, seq_len_kv):
    """The mask as a bool tensor, True where a query may look."""
    first = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
    return _C.ones(seq_len_q, seq_len_kv, dtype=_C.bool).tril(first)


def causal_upper_left(*size):
    """Query i sees keys 0..i."""
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """The last query sees all keys."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
