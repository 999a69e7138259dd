"""Containers: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

import operator
from collections import OrderedDict

from ... import _C
from .module import Module, _typename


class Identity(Module):
    """Gives its input back, whatever arguments it was made with."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """The input."""
        return input


class _Numbered(Module):
    """What Sequential and ModuleList share: children under the names 0, 1, .."""

    def _name_at(self, index):
        n, index = len(self), operator.index(index)
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def _renumber(self, modules):
        self._modules = dict(zip(map(str, range(len(modules))), modules, strict=True))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        names = list(self._modules)
        gone = names[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in gone:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def pop(self, index):
        """Removes a child and returns it."""
        module = self[index]
        del self[index]
        return module

    def append(self, module):
        """Adds a child at the end."""
        self.add_module(str(len(self)), module)
        return self


class Sequential(_Numbered):
    """Calls its children one after the other. Children are given in order or as an OrderedDict."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    forward = _C._Module._sequential

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return self.extend(other)

    def _check_times(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")

    def __mul__(self, times):
        self._check_times(times)
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times):
        self._check_times(times)
        return self.extend(list(self) * (times - 1))

    def insert(self, index, module):
        """Adds a child before the one at index."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + n if index < 0 else index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Adds the modules of another one at the end."""
        for module in list(sequential):
            self.append(module)
        return self


class ModuleList(_Numbered):
    """A list of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name_at(index)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self, *other])

    def insert(self, index, module):
        """Adds a module before the one at index."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules):
        """Adds modules at the end."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self):
        """Equal neighbours are printed once: (0-2): 3 x Linear(..)."""
        if len(self) == 0:
            return self._get_name() + "()"
        runs = []  # first, last, text
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = []
        for first, last, text in runs:
            text = text.replace("\n", "\n  ")
            many = f"({first}-{last}): {last - first + 1} x " if last > first else f"({first}): "
            lines.append(many + text)
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key):
        """Removes a module and returns it."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Names and modules."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds modules of a mapping or of pairs."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for i, pair in enumerate(pairs):
            if not hasattr(pair, "__iter__"):
                raise TypeError(
                    f"ModuleDict update sequence element #{i} should be Iterable; is "
                    + type(pair).__name__
                )
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{i} has length {len(pair)}; 2 is required"
                )
            self[pair[0]] = pair[1]


def _as_parameter(value):
    if isinstance(value, _C.Tensor) and not isinstance(value, _C.Parameter):
        return _C.Parameter(value)
    return value


def _describe(value, kind):
    """What extra_repr says of one member."""
    if not isinstance(value, _C.Tensor):
        return "Object of type: " + type(value).__name__
    size = "x".join(map(str, value.shape))
    what = "Parameter" if isinstance(value, _C.Parameter) else "Tensor"
    return f"{what} containing: [{kind} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors become parameters, other objects are kept as they are."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name_at(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def __getitem__(self, index):
        if isinstance(index, slice):
            out = type(self)()
            for i in range(*index.indices(len(self))):
                out.append(self[i])
            return out
        return getattr(self, self._name_at(index))

    def __setitem__(self, index, value):
        setattr(self, self._name_at(index), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values):
        """Adds values at the end."""
        if not hasattr(values, "__iter__") or isinstance(values, _C.Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                + type(values).__name__
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self):
        """One line for each value."""
        return "\n".join(
            f"  ({i}): {_describe(v, getattr(v, 'dtype', None))}" for i, v in enumerate(self)
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters; tensors become parameters, other objects are kept as they are."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _attribute(key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string "
                "keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other):
        copy = ParameterDict(other)
        copy.update(self)
        return copy

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """A dictionary with the same values."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key, default=None):
        """The value of a key, which is set first where it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key, default=None):
        """The value of a key, or default."""
        return self[key] if key in self else default

    def clear(self):
        """Removes all."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Removes a value and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Removes the last pair and returns it."""
        key, _ = self._keys.popitem()
        value = self[key]
        delattr(self, self._attribute(key))
        return key, value

    def fromkeys(self, keys, default=None):
        """A dictionary with one value for all keys."""
        return ParameterDict((k, default) for k in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Names and values."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters):
        """Adds values of a mapping or of pairs."""
        if not hasattr(parameters, "__iter__"):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but "
                "got " + type(parameters).__name__
            )
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        if hasattr(parameters, "items") and not isinstance(
            parameters, (OrderedDict, ParameterDict)
        ):
            pairs = sorted(pairs)  # torch's order, of the time when dictionaries had none
        for key, value in pairs:
            self[key] = value

    def extra_repr(self):
        """One line for each value."""
        return "\n".join(f"  ({k}): {_describe(v, _typename(v))}" for k, v in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
