"""What Embedding and EmbeddingBag have beside their rows: tables that are given, and max_norm.

With max_norm, and of bags, forward is torch.nn.functional's.
"""

from ... import _C
from . import _beside

_OWN = ("max_norm", "norm_type", "_weight", "_freeze")


class _MaxNorm:
    """An attribute that takes the row's place once it is set: see `_otherwise` of rows.py."""

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__.get("_max_norm")

    def __set__(self, instance, value):
        instance.__dict__["_max_norm"] = None if value is None else float(value)
        instance.scale_grad_by_freq = instance.scale_grad_by_freq  # the row is made again


def _init(self, *args, **kwargs):
    args, kwargs = _beside.given(self, args, kwargs)
    own = {name: kwargs.pop(name, self._beside[name][1]) for name in _OWN if name in self._beside}
    weight = own.pop("_weight")
    rows = (*args, kwargs.get("num_embeddings"))[0]
    padding = kwargs.get("padding_idx", args[2] if len(args) > 2 else None)
    if padding is not None and type(rows) is int and type(padding) is int:
        if not -rows <= padding < rows:
            what = "padding_idx" if type(self).__name__ == "EmbeddingBag" else "Padding_idx"
            raise AssertionError(f"{what} must be within num_embeddings")
    if weight is None:
        self._row_init(*args, **kwargs)
        self.weight.requires_grad_(not own.get("_freeze", False))
    else:  # on a device where no table is drawn
        self._row_init(*args, **{**kwargs, "device": "meta"})
        if list(weight.shape) != [self.num_embeddings, self.embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = _C.Parameter(weight, requires_grad=not own.get("_freeze", False))
    self.norm_type = own["norm_type"]
    if own["max_norm"] is not None:
        self.max_norm = own["max_norm"]


def _extra_repr(self):
    text = f"{self.num_embeddings}, {self.embedding_dim}"
    if type(self)._otherwise is _otherwise and self.padding_idx is not None:
        text += f", padding_idx={self.padding_idx}"
    for name, default in (("max_norm", None), ("norm_type", 2.0), ("scale_grad_by_freq", False)):
        value = getattr(self, name)
        text += f", {name}={value}" if value != default else ""
    if type(self)._otherwise is _otherwise:
        return text + (", sparse=True" if self.sparse else "")
    text += f", mode={self.mode!r}"
    return text + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")


def _otherwise(self, input):
    if self.max_norm is None:
        return NotImplemented
    from .. import functional

    return functional.embedding(
        input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
        self.scale_grad_by_freq, self.sparse)  # fmt: skip


def _bag_forward(self, input, offsets=None, per_sample_weights=None):
    from .. import functional

    return functional.embedding_bag(
        input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
        self.mode, self.sparse, per_sample_weights, self.include_last_offset,
        self.padding_idx)  # fmt: skip


def _table(cls, embeddings, freeze, options):
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    self = cls(rows, columns, _weight=embeddings, **options)
    self.weight.requires_grad_(not freeze)
    return self


def _from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
                     scale_grad_by_freq=False, sparse=False):  # fmt: skip
    """An Embedding over a given table."""
    return _table(cls, embeddings, freeze, {
        "padding_idx": padding_idx, "max_norm": max_norm, "norm_type": norm_type,
        "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse})  # fmt: skip


def _bag_from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0,
                         scale_grad_by_freq=False, mode="mean", sparse=False,
                         include_last_offset=False, padding_idx=None):  # fmt: skip
    """An EmbeddingBag over a given table."""
    return _table(cls, embeddings, freeze, {
        "max_norm": max_norm, "norm_type": norm_type, "scale_grad_by_freq": scale_grad_by_freq,
        "mode": mode, "sparse": sparse, "include_last_offset": include_last_offset,
        "padding_idx": padding_idx})  # fmt: skip


EMBEDDING = {
    "__init__": _init, "max_norm": _MaxNorm(), "norm_type": 2.0,
    "_otherwise": _otherwise, "extra_repr": _extra_repr,
    "from_pretrained": classmethod(_from_pretrained),
}  # fmt: skip
EMBEDDING_BAG = {
    **EMBEDDING, "_otherwise": None, "forward": _bag_forward,
    "from_pretrained": classmethod(_bag_from_pretrained),
}  # fmt: skip
