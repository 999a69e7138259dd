"""Batches from items: torch's default_collate and default_convert."""

import copy
import sys
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

from ... import _C

_UNKNOWN = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _is_numpy(o):
    """Whether o is an array or a number of NumPy, which is not imported for this."""
    return any(c.__module__ == "numpy" and c.__name__ in _NUMPY for c in type(o).__mro__)


_NUMPY = ("ndarray", "number", "bool", "bool_")


def _fill_mapping(elem, values):
    try:
        if isinstance(elem, MutableMapping):  # which may have more than its items
            clone = copy.copy(elem)
            clone.update(values)
            return clone
        return type(elem)(values)
    except TypeError:
        return values


def _fill_sequence(elem, values):
    try:
        if isinstance(elem, MutableSequence):
            clone = copy.copy(elem)
            for i, v in enumerate(values):
                clone[i] = v
            return clone
        return type(elem)(values)
    except TypeError:
        return values


def _collate_array(batch):
    if getattr(batch[0], "shape", ()) == () and not hasattr(batch[0], "__len__"):
        return _C.as_tensor(sys.modules["numpy"].asarray(batch))  # whose number this is
    if batch[0].dtype.kind in "SaUO":
        raise TypeError(_UNKNOWN.format(batch[0].dtype))
    return _C.stack([_C.as_tensor(b) for b in batch])


def default_collate(batch):
    """Puts the items of a batch together, with a new first dimension.

    Tensors and arrays are stacked, numbers become a tensor, texts stay; of tuples, lists and
    dictionaries each member is put together by itself.
    """
    elem = batch[0]
    if isinstance(elem, _C.Tensor):
        return _C.stack(list(batch), 0)
    if _is_numpy(elem):
        return _collate_array(batch)
    if isinstance(elem, float):
        return _C.tensor(batch, dtype=_C.float64)
    if isinstance(elem, int):
        return _C.tensor(batch)
    if isinstance(elem, (str, bytes)):
        return batch
    if isinstance(elem, Mapping):
        return _fill_mapping(elem, {k: default_collate([d[k] for d in batch]) for k in elem})
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return type(elem)(*(default_collate(s) for s in zip(*batch, strict=False)))
    if isinstance(elem, Sequence):
        if any(len(b) != len(elem) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        values = [default_collate(s) for s in zip(*batch, strict=True)]
        return values if isinstance(elem, tuple) else _fill_sequence(elem, values)
    raise TypeError(_UNKNOWN.format(type(elem)))


def default_convert(data):
    """Arrays and numbers of NumPy as tensors, also inside of containers; all else as it is."""
    if isinstance(data, _C.Tensor):
        return data
    if _is_numpy(data):
        return data if data.dtype.kind in "SaUO" else _C.as_tensor(data)
    if isinstance(data, Mapping):
        return _fill_mapping(data, {k: default_convert(data[k]) for k in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _fill_sequence(data, [default_convert(d) for d in data])
    return data
