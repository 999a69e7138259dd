"""torch.utils.hooks: what registering a hook of a module or an optimizer returns."""

import weakref
from collections import OrderedDict

__all__ = ["RemovableHandle", "unserializable_hook"]


def unserializable_hook(f):
    """Marks a hook that other processes do not get. Hooks of tensors are never sent."""
    f.__torch_unserializable__ = True
    return f


class RemovableHandle:
    """Takes a hook out again: by `remove()`, or at the end of a `with` block."""

    next_id = 0

    def __init__(self, hooks, *, extra_dict=()):
        others = extra_dict if isinstance(extra_dict, (list, tuple)) else (extra_dict,)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.__setstate__((self.id, hooks, *others))

    def remove(self):
        """Takes the hook out; a second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            d = ref()
            if d is not None:
                d.pop(self.id, None)

    def __getstate__(self):
        return self.id, self.hooks_dict_ref(), *(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state):
        self.id, *hooks = state  # None: gone, and with it the hook
        refs = [weakref.ref(OrderedDict() if d is None else d) for d in hooks]
        self.hooks_dict_ref, *others = refs
        self.extra_dict_ref = tuple(others)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.remove()
