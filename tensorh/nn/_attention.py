"""multi_head_attention_forward, and MultiheadAttention with options that its row has not: keys and
values of other sizes, biases of keys and values, a key of zeros."""

import math
import warnings

from .. import _C


def canonical_mask(mask, name, other, other_name, dtype, check_other=True):
    """A mask as numbers to add: of bool ones, -inf where they are true."""
    if mask is None:
        return None
    if mask.dtype is not _C.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=4,
        )
    if mask.dtype is _C.bool:
        zeros = _C.zeros(mask.shape, dtype=dtype, device=mask.device)
        mask = zeros.masked_fill_(mask, -math.inf)
    return mask


def _require(truth, text):
    if not truth:
        raise AssertionError(text)


def _check_shapes(query, key, value, padding, mask, heads):
    """Whether there is a batch."""
    n = query.dim()
    _require(n in (2, 3), f"query should be unbatched 2D or batched 3D tensor but received {n}-D "
             "query tensor")  # fmt: skip
    word = "batched" if n == 3 else "unbatched"
    _require(
        key.dim() == n and value.dim() == n,
        f"For {word} ({n}-D) `query`, expected `key` and `value` to be {n}-D but found "
        f"{key.dim()}-D and {value.dim()}-D tensors respectively",
    )
    if padding is not None:
        _require(
            padding.dim() == n - 1,
            f"For {word} ({n}-D) `query`, expected `key_padding_mask` to be `None` or {n - 1}-D "
            f"but found {padding.dim()}-D tensor instead",
        )
    if mask is not None:
        _require(
            mask.dim() in (2, 3),
            f"For {word} ({n}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.dim()}-D tensor instead",
        )
        if n == 2 and mask.dim() == 3:
            want = (heads, query.shape[0], key.shape[0])
            _require(
                tuple(mask.shape) == want,
                f"Expected `attn_mask` shape to be {want} but got {tuple(mask.shape)}",
            )
    return n == 3


def _check_sizes(query, key, value, embed_dim, same):
    """same: which sizes key and value share."""
    width = query.shape[-1]
    _require(
        width == embed_dim, f"was expecting embedding dimension of {embed_dim}, but got {width}"
    )
    _require(
        key.shape[same] == value.shape[same],
        f"key shape {tuple(key.shape)} does not match value shape {tuple(value.shape)}",
    )


def _check_padding(padding, batch, source):
    _require(
        tuple(padding.shape) == (batch, source),
        f"expecting key_padding_mask shape of {(batch, source)}, but got {tuple(padding.shape)}",
    )


def _attn_mask(mask, length, source, batch):
    """(1, L, S) or (N * H, L, S) of a mask (L, S) or (N * H, L, S)."""
    want = (length, source) if mask.dim() == 2 else (batch, length, source)
    if tuple(mask.shape) != want:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{want}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _heads(x, given, name, batch, heads, size):
    """x (T, N, E) as (N * H, T, E / H), or what is given in its place."""
    if given is None:
        return x.reshape(x.shape[0], batch * heads, size).transpose(0, 1)
    for at, want, what in (0, batch * heads, "expecting {0}.size(0) of"), (
        2, size, "expecting {0}.size(2) of"):  # fmt: skip
        _require(given.size(at) == want, f"{what.format(name)} {want}, but got {given.size(at)}")
    return given


def _longer(mask, by=1):
    return None if mask is None else _C.cat([mask, mask.new_zeros((*mask.shape[:-1], by))], -1)


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """(output, weights or None) of attention with projections: query (L, N, E), key and value
    (S, N, *). A mask is added to the scores, or bool: true is not seen."""
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    padding = canonical_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask",
                             query.dtype)  # fmt: skip
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    causal = is_causal and padding is None and not need_weights
    mask = None if causal else canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    is_causal = causal
    same = slice(0, 2) if use_separate_proj_weight else slice(None)
    _check_sizes(query, key, value, embed_dim_to_check, same)
    size = width // num_heads
    _require(size * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    if use_separate_proj_weight:
        for name, w in zip(names, weights, strict=True):
            _require(w is not None, f"use_separate_proj_weight is True but {name} is None")
    else:
        _require(in_proj_weight is not None,
                 "use_separate_proj_weight is False but in_proj_weight is None")  # fmt: skip
        weights = in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (
        _C.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases, strict=True)
    )
    if mask is not None:
        mask = _attn_mask(mask, length, k.shape[0], batch * num_heads)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v are given together")
    if bias_k is not None:
        _require(static_k is None, "bias cannot be added to static key.")
        _require(static_v is None, "bias cannot be added to static value.")
        k = _C.cat([k, bias_k.expand(1, batch, width)])
        v = _C.cat([v, bias_v.expand(1, batch, width)])
        mask, padding = _longer(mask), _longer(padding)
    q = _heads(q, None, "", batch, num_heads, size)
    k = _heads(k, static_k, "static_k", batch, num_heads, size)
    v = _heads(v, static_v, "static_v", batch, num_heads, size)
    if add_zero_attn:
        zero = k.new_zeros((batch * num_heads, 1, size))
        k, v = _C.cat([k, zero], 1), _C.cat([v, zero], 1)
        mask, padding = _longer(mask), _longer(padding)
    source = k.shape[1]
    if padding is not None:
        _check_padding(padding, batch, source)
        padding = padding.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, source)
        mask = padding if mask is None else mask + padding
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = _C.matmul(q * math.sqrt(1.0 / size), k.transpose(-2, -1))
        w = _C.softmax(scores if mask is None else scores + mask, -1)
        w = _C.dropout(w, dropout_p, True) if dropout_p > 0.0 else w
        out = _C.matmul(w, v)
    else:
        if mask is not None:
            mask = mask if mask.shape[0] == 1 else mask.reshape(batch, num_heads, -1, source)
            mask = mask.unsqueeze(0) if mask.dim() == 3 else mask
        q, k, v = (t.reshape(batch, num_heads, -1, size) for t in (q, k, v))
        attend = _C._spaces["nn.functional"]["scaled_dot_product_attention"]
        out = attend(q, k, v, mask, dropout_p, is_causal)
        out, w = out.reshape(batch * num_heads, length, size), None
    out = out.transpose(0, 1).reshape(length, batch, width)
    out = _C.linear(out, out_proj_weight, out_proj_bias)
    if w is not None:
        w = w.reshape(batch, num_heads, length, source)
        w = w.mean(1) if average_attn_weights else w
        w = w if batched else w.squeeze(0)
    return (out if batched else out.squeeze(1)), w


# --- what the module has beside its row ----------------------------------------------------------


def init(
    self,
    embed_dim,
    num_heads,
    dropout=0.0,
    bias=True,
    add_bias_kv=False,
    add_zero_attn=False,
    kdim=None,
    vdim=None,
    batch_first=False,
    device=None,
    dtype=None,
):
    """As the row's; the parameters of other options are drawn where torch draws them."""
    from .. import random
    from . import init as values

    if embed_dim <= 0 or num_heads <= 0:
        raise ValueError(
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
            f"num_heads={num_heads} instead"
        )
    if embed_dim % num_heads:
        raise AssertionError("embed_dim must be divisible by num_heads")
    kdim = embed_dim if kdim is None else kdim
    vdim = embed_dim if vdim is None else vdim
    same, state = kdim == vdim == embed_dim, None if device == "meta" else random.get_rng_state()
    self._row_init(embed_dim, num_heads, dropout, bias, batch_first, dtype=dtype, device=device)
    own = {"kdim": kdim, "vdim": vdim, "_qkv_same_embed_dim": same, "add_zero_attn": add_zero_attn}
    self.__dict__.update(own, head_dim=embed_dim // num_heads)
    like = self.in_proj_weight
    if not same:
        if state is not None:  # the common weight has not been drawn, but out_proj's has
            random.set_rng_state(state)
            self.out_proj.reset_parameters()
            if self.out_proj.bias is not None:
                values.zeros_(self.out_proj.bias)
        later = dict(self._parameters)
        self._parameters.clear()
        for name, width in zip("qkv", (embed_dim, kdim, vdim), strict=True):
            weight = _C.Parameter(like.new_empty((embed_dim, width)))
            self._parameters[name + "_proj_weight"] = weight
            if state is not None:
                values.xavier_uniform_(weight)
        self._parameters.update(later, in_proj_weight=None)
    else:
        for name in "qkv":
            self._parameters[name + "_proj_weight"] = None
    for name in ("bias_k", "bias_v"):
        value = _C.Parameter(like.new_empty((1, 1, embed_dim))) if add_bias_kv else None
        self._parameters[name] = value
        if value is not None and state is not None:
            values.xavier_normal_(value)


def _check_call(self, query, key, value, padding, mask):
    canonical_mask(padding, "key_padding_mask", None, "", query.dtype)
    canonical_mask(mask, "attn_mask", None, "", query.dtype)
    _check_shapes(query, key, value, padding, mask, self.num_heads)
    _check_sizes(query, key, value, self.embed_dim, slice(None))
    if padding is not None and query.dim() == 3:
        turn = 1 if self.batch_first else -1
        _check_padding(padding, *key.shape[:2][::turn])


def forward(
    self,
    query,
    key,
    value,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    average_attn_weights=True,
    is_causal=False,
):
    """(output, weights): the row's, or with the other options the function's."""
    parts = self._parameters
    if (
        self._qkv_same_embed_dim
        and parts.get("bias_k") is None
        and parts.get("bias_v") is None
        and not self.add_zero_attn
        and query.dim() in (2, 3)
    ):
        try:
            return _C._Module._row_forward(
                self, query, key, value, key_padding_mask, need_weights, attn_mask,
                average_attn_weights, is_causal,
            )  # fmt: skip
        except RuntimeError:  # sizes that do not fit are torch's AssertionError
            _check_call(self, query, key, value, key_padding_mask, attn_mask)
            raise
    turn = self.batch_first and query.dim() == 3
    if turn:
        query, key, value = (t.transpose(0, 1) for t in (query, key, value))
    out, weights = multi_head_attention_forward(
        query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
        self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
        self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask,
        not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
        None, None, average_attn_weights, is_causal,
    )  # fmt: skip
    return (out.transpose(0, 1) if turn else out), weights
