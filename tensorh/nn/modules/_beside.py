"""What torch's built-in classes have beside their rows: options at torch's places, attributes."""

from ... import _C

# {class: {option that its row has not: (its place, torch's default)}}
OPTIONS = {
    "BCELoss": {"size_average": (1, None), "reduce": (2, None)},
    "BCEWithLogitsLoss": {"size_average": (1, None), "reduce": (2, None)},
    "CosineEmbeddingLoss": {"size_average": (1, None), "reduce": (2, None)},
    "CrossEntropyLoss": {"size_average": (1, None), "reduce": (3, None)},
    "Embedding": {
        "max_norm": (3, None),
        "norm_type": (4, 2.0),
        "_weight": (7, None),
        "_freeze": (8, False),
    },
    "HingeEmbeddingLoss": {"size_average": (1, None), "reduce": (2, None)},
    "EmbeddingBag": {
        "max_norm": (2, None),
        "norm_type": (3, 2.0),
        "_weight": (7, None),
    },
    "KLDivLoss": {"size_average": (0, None), "reduce": (1, None)},
    "Hardtanh": {"min_value": (3, None), "max_value": (4, None)},
    "L1Loss": {"size_average": (0, None), "reduce": (1, None)},
    "MarginRankingLoss": {"size_average": (1, None), "reduce": (2, None)},
    "MSELoss": {"size_average": (0, None), "reduce": (1, None)},
    "MultiLabelMarginLoss": {"size_average": (0, None), "reduce": (1, None)},
    "MultiLabelSoftMarginLoss": {"size_average": (1, None), "reduce": (2, None)},
    "MultiMarginLoss": {"size_average": (3, None), "reduce": (4, None)},
    "MultiheadAttention": {
        "add_bias_kv": (4, False),
        "add_zero_attn": (5, False),
        "kdim": (6, None),
        "vdim": (7, None),
    },
    "NLLLoss": {"size_average": (1, None), "reduce": (3, None)},
    "PoissonNLLLoss": {"size_average": (2, None), "reduce": (4, None)},
    "SmoothL1Loss": {"size_average": (0, None), "reduce": (1, None)},
    "SoftMarginLoss": {"size_average": (0, None), "reduce": (1, None)},
    "TripletMarginLoss": {"size_average": (4, None), "reduce": (5, None)},
}
# Classes that torch has for parts of its modules: rows under another name.
PARTS = {"NonDynamicallyQuantizableLinear": "Linear"}
_AS = {"kdim": "embed_dim", "vdim": "embed_dim"}  # options that may also be what another one is
_LEGACY = ("size_average", "reduce")


def merged(name, options, defaults):
    """The row's options and defaults with those that torch has beside them."""
    options, defaults = list(options), dict(defaults)
    for option, (place, default) in OPTIONS.get(name, {}).items():
        options.insert(place, option)
        defaults[option] = default
    return tuple(options), defaults


def _same(value, default):
    return value is default or (not isinstance(value, _C.Tensor) and value == default)


def given(self, args, kwargs):
    """(positional, named) arguments: what stands behind the row's first ones is named."""
    cls, names = type(self).__name__, self._options
    if len(args) > len(names):
        taken = f"takes {len(names)} positional arguments but {len(args)} were given"
        raise TypeError(f"{cls}() {taken}")
    first = min(place for place, _ in self._beside.values())
    named = dict(zip(names[first:], args[first:], strict=False))
    for name in named.keys() & kwargs.keys():
        raise TypeError(f"{cls}() got multiple values for argument '{name}'")
    return args[:first], {**named, **kwargs}


def init(self, *args, **kwargs):
    """As the row's, with torch's other options: those of losses count, others have one value."""
    args, kwargs = given(self, args, kwargs)
    named = {**dict(zip(self._options, args, strict=False)), **kwargs}
    legacy = []
    for name, (_, default) in self._beside.items():
        value = kwargs.pop(name, default)
        if name in _LEGACY:
            legacy.append(value)
        elif not _same(value, default) and not (name in _AS and _same(value, named.get(_AS[name]))):
            row = next(cls for cls in type(self).__mro__ if "_row" in cls.__dict__).__name__
            raise NotImplementedError(f"{row}: {name} is supported as {default!r} alone")
    if legacy.count(None) < len(legacy):
        from ..functional import _reduction

        kwargs["reduction"] = _reduction(*legacy, "mean")
    self._row_init(*args, **kwargs)


class Only:
    """An attribute that has one value here: in torch another would count."""

    def __init__(self, value):
        self.value = value

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return self.value(instance) if callable(self.value) else self.value

    def __set__(self, instance, value):
        if not _same(value, self.__get__(instance)):
            what = f"{type(instance).__name__}.{self.name}"
            raise NotImplementedError(f"{what} = {value!r} is not supported")


ATTRIBUTES = {
    **{
        f"Conv{n}d": {"output_padding": Only((0,) * n), "transposed": Only(False)}
        for n in (1, 2, 3)
    },
    **{f"ConvTranspose{n}d": {"transposed": Only(True)} for n in (1, 2, 3)},
    "MultiheadAttention": {
        "_qkv_same_embed_dim": Only(True),
        "add_zero_attn": Only(False),
        "bias_k": Only(None),
        "bias_v": Only(None),
        "head_dim": Only(lambda self: self.embed_dim // self.num_heads),
        "kdim": Only(lambda self: self.embed_dim),
        "vdim": Only(lambda self: self.embed_dim),
    },
}
