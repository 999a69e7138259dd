"""Transformer, its stacks of layers and its layers (Vaswani et al. 2017, Attention Is All You
Need), of MultiheadAttention, Linear, LayerNorm and Dropout."""

import copy
import math

from ... import _C
from .. import init
from . import rows
from .container import ModuleList
from .module import Module


def _relu(x):
    return _C.relu(x)


def _gelu(x):
    return _C.gelu(x)


def _get_activation_fn(activation):
    """relu or gelu, by its name."""
    return _function(str(activation))


def _function(activation):
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return _relu if activation == "relu" else _gelu


def _mask(mask, name, other, other_name, dtype, check=True):
    from .._attention import canonical_mask

    return canonical_mask(mask, name, other, other_name, dtype, check)


def causal_mask(sz, device=None, dtype=None):
    """(sz, sz): -inf above the diagonal, where a position would see what comes after, else 0."""
    return _C.triu(_C.full((sz, sz), -math.inf, dtype=dtype, device=device), 1)


def _is_causal(mask, is_causal, size):
    """Whether the mask is the causal one: as said, or by its numbers."""
    if is_causal is None and mask is not None:
        n = size if size is not None else mask.size(-2)
        want = causal_mask(n, mask.device, mask.dtype if mask.is_floating_point() else None)
        return mask.size() == want.size() and bool((mask == want).all())
    return bool(is_causal)


def _length(x, batch_first):
    """How long the sequences are; None of more than one batch."""
    return None if x.dim() not in (2, 3) else x.size(1 if batch_first and x.dim() == 3 else 0)


class _Layer(Module):
    """What both layers share: the feedforward part, the norms, the order of norm and residue."""

    __constants__ = ["norm_first"]

    def _end(self, norms, d, width, dropout, activation, eps, norm_first, bias, where):
        linear, norm, drop = rows.get("Linear"), rows.get("LayerNorm"), rows.get("Dropout")
        self.linear1 = linear(d, width, bias=bias, **where)
        self.dropout = drop(dropout)
        self.linear2 = linear(width, d, bias=bias, **where)
        self.norm_first = norm_first
        for i in range(norms):
            setattr(self, f"norm{i + 1}", norm(d, eps=eps, bias=bias, **where))
        for i in range(norms):
            setattr(self, f"dropout{i + 1}", drop(dropout))
        self.activation = _function(activation)

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = _relu

    def _step(self, x, norm, part):
        """x and what a part makes of it, with the norm before the part or behind the sum."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _attend(self, attention, drop, x, memory, mask, padding, causal):
        y = attention(
            x, x if memory is None else memory, x if memory is None else memory,
            attn_mask=mask, key_padding_mask=padding, is_causal=causal, need_weights=False,
        )[0]  # fmt: skip
        return drop(y)

    def _feed(self, drop, x):
        return drop(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then a network of two Linear, each with a residue and a LayerNorm."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=_relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = rows.get("MultiheadAttention")(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where
        )
        self._end(2, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first,
                  bias, where)  # fmt: skip

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """src (S, N, E), or (N, S, E) with batch_first; the same shape."""
        padding = _mask(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask",
                        src.dtype)  # fmt: skip
        mask = _mask(src_mask, "src_mask", None, "", src.dtype, False)
        x = self._step(src, self.norm1, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._step(x, self.norm2, self._ff_block)

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self._attend(self.self_attn, self.dropout1, x, None, attn_mask, key_padding_mask,
                            is_causal)  # fmt: skip

    def _ff_block(self, x):
        return self._feed(self.dropout2, x)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to an encoder's output, then a network of two Linear."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=_relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn"):
            attention = rows.get("MultiheadAttention")(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where
            )
            setattr(self, name, attention)
        self._end(3, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first,
                  bias, where)  # fmt: skip

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        """tgt (T, N, E) and memory (S, N, E), or with N first; tgt's shape."""
        x = self._step(
            tgt, self.norm1,
            lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal),
        )  # fmt: skip
        x = self._step(
            x, self.norm2,
            lambda x: self._mha_block(
                x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
            ),
        )  # fmt: skip
        return self._step(x, self.norm3, self._ff_block)

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self._attend(self.self_attn, self.dropout1, x, None, attn_mask, key_padding_mask,
                            is_causal)  # fmt: skip

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return self._attend(self.multihead_attn, self.dropout2, x, mem, attn_mask,
                            key_padding_mask, is_causal)  # fmt: skip

    def _ff_block(self, x):
        return self._feed(self.dropout3, x)


class _Stack(Module):
    __constants__ = ["norm"]

    def _begin(self, layer, num_layers, norm):
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _batch_first(self):
        first = self.layers[0] if len(self.layers) else None
        return bool(getattr(getattr(first, "self_attn", None), "batch_first", False))


class TransformerEncoder(_Stack):
    """num_layers copies of a layer, one after the other, and a norm behind them.

    enable_nested_tensor and mask_check: accepted; there are no nested tensors.
    """

    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self._begin(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = False

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """src through all layers."""
        padding = _mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src.dtype)
        mask = _mask(mask, "mask", None, "", src.dtype, False)
        causal = _is_causal(mask, is_causal, _length(src, self._batch_first()))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """num_layers copies of a layer, one after the other, and a norm behind them."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self._begin(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        """tgt through all layers, each of which sees memory."""
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self._batch_first()))
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal, memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=_relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                   batch_first, norm_first, bias, device, dtype)  # fmt: skip

        def norm():
            return rows.get("LayerNorm")(d_model, eps=layer_norm_eps, bias=bias, **where)

        if custom_encoder is None:
            layer = TransformerEncoderLayer(*options)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*options)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        """src (S, N, E) and tgt (T, N, E), or with N first; tgt's shape."""
        at = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(at) != tgt.size(at):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip

    generate_square_subsequent_mask = staticmethod(causal_mask)

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
