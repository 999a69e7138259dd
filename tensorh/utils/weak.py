"""torch.utils.weak: dictionaries whose keys are objects by identity, and do not keep them.

A tensor can be such a key: weakref.WeakKeyDictionary would compare it element by element."""

import weakref as _weakref
from collections.abc import Mapping as _Mapping
from collections.abc import MutableMapping as _MutableMapping

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(_weakref.ref):
    """A weak reference that is equal to another one of the same object, also when it has died."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        if not isinstance(other, WeakIdRef):
            return NotImplemented
        a, b = self(), other()
        return a is b if a is not None and b is not None else self is other

    def __ne__(self, other):  # that of weakref.ref compares the objects
        return not self == other


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor):
        self.ref = WeakIdRef(tensor)

    def __call__(self):
        return self.ref()


class WeakIdKeyDictionary(_MutableMapping):
    """A dictionary of weak references; ref_type makes one of an object."""

    def __init__(self, dict=None, ref_type=WeakIdRef):  # noqa: A002 - torch's name
        self.data, self.ref_type = {}, ref_type
        data = self.data

        def remove(ref):
            data.pop(ref, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def _ref(self, key):
        return self.ref_type(key, self._remove)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self._ref(key)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing can refer to it weakly
            return False

    def __iter__(self):
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self):
        return sum(ref() is not None for ref in list(self.data))

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The weak references."""
        return list(self.data)

    def copy(self):
        """The same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy

        made = type(self)(ref_type=self.ref_type)
        made.update((key, deepcopy(value, memo)) for key, value in self.items())
        return made

    def __or__(self, other):
        if not isinstance(other, _Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, _Mapping):
            return NotImplemented
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self


WeakTensorKeyDictionary = WeakIdKeyDictionary
