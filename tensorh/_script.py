"""Reads the modules of a TorchScript archive as data: torch.jit.load.

The pickle is read as that of any other file; the archive's programs say which of a module's tensors
are parameters and which are buffers, and nothing else is taken from them."""

import os
import re
from pickle import UnpicklingError

from . import _C
from ._unpickle import Maker, refuse, set_attributes
from ._zip import DamagedError
from ._zip import Reader as _ZipReader
from .jit import ScriptModule
from .nn import Parameter
from .serialization import _Loader, _named_in, _prefix

_CLASS = re.compile(
    r"(\w+)\(Module\):\n  __parameters__ = \[(.*)\]\n  __buffers__ = \[(.*)\]\n"
)
_METHOD = re.compile(r"^  def (\w+)\(self", re.M)
_WORD = re.compile(r'"([^"\\]*)"')
_LISTS = ("intlist", "doublelist", "boollist", "tensorlist")


class Scripted(ScriptModule):
    """A module of an archive. Each class of an archive is a subclass, which names its tensors."""

    _of_parameters = _of_buffers = frozenset()
    original_name = ""

    def forward(self, *args, **kwargs):
        """Refused: programs are not run."""
        raise NotImplementedError(
            f"the program of {self.original_name} is TorchScript, which is not run here: load its "
            "state_dict() into the module that it was scripted from"
        )

    def _get_name(self):
        return "RecursiveScriptModule"

    def extra_repr(self):
        return f"original_name={self.original_name}"


def _become(module, state):
    """__setstate__ of such a class, while its archive is read."""
    if type(state) is not dict or vars(module):
        refuse("the attributes of a module must be a dict")
    super(Scripted, module).__init__()
    plain = {}
    for name, value in state.items():
        if name == "training":
            module.training = value is True
        elif name in module._of_parameters or name in module._of_buffers:
            _put_tensor(module, name, value)
        elif isinstance(value, Scripted):
            if value is module or not vars(value):  # it has not been read yet
                refuse(f"{name!r} is a module within itself")
            _put(module.add_module, name, value)
        elif name != "_is_full_backward_hook":
            plain[name] = value
    set_attributes(module, plain)


def _put_tensor(module, name, value):
    if value is not None and not isinstance(value, _C.Tensor):
        refuse(f"{name!r} is not a tensor")
    if name in module._of_buffers:
        _put(module.register_buffer, name, value)
        return
    if value is not None:  # parameters that share all of their memory are one
        place = (value.data_ptr(), value.shape, value.stride(), value.dtype)
        made = Parameter(value.detach(), requires_grad=value.requires_grad)
        value = module._shared.setdefault(place, made) if value.numel() else made
    _put(module.register_parameter, name, value)


def _put(register, name, value):
    try:
        register(name, value)
    except (KeyError, TypeError) as e:
        refuse(f"a module's part has no such name: {e}")


class _Archive(_Loader):
    """An archive's modules: classes that its programs name, over the data of any other file."""

    def load(self):
        self._classes, self._shared = {}, {}
        for name in [*self._archive.members, *self._archive.deflated]:
            if name.startswith(f"{self._prefix}/code/") and name.endswith(".py"):
                self._read_classes(name)
        made = self._machine(self._classes).load()
        if not isinstance(made, Scripted) or not vars(made):
            refuse("the archive holds no module")
        for kind in self._classes.values():
            del kind.__setstate__  # copies are made as those of any module
        return made

    def _read_classes(self, member):
        module = member[len(f"{self._prefix}/code/") : -len(".py")].replace("/", ".")
        text = self._archive.program(member).decode("utf-8", "replace")
        for part in re.split("^class ", text, flags=re.M)[1:]:
            found = _CLASS.match(part)
            if not found:
                continue  # of a class that is no module
            name, parameters, buffers = found.groups()
            methods = [m for m in _METHOD.findall(part) if not hasattr(Scripted, m)]
            names = {
                **dict.fromkeys(methods, Scripted.forward),
                "_of_parameters": frozenset(_WORD.findall(parameters)),
                "_of_buffers": frozenset(_WORD.findall(buffers)),
                "original_name": name,
                "_shared": self._shared,
                "__setstate__": _become,
            }
            self._classes[f"{module}.{name}"] = type(name, (Scripted,), names)

    def _find(self, full):
        module, _, name = full.rpartition(".")
        if module == "torch.jit._pickle":
            if name.removeprefix("build_") in _LISTS:
                return Maker(full, _first)
            if name == "restore_type_tag":
                return Maker(full, _first)
        return super()._find(full)


def _first(machine, args):
    """What a list, or a value with the text of its type, is made of."""
    return args[0] if args else refuse("a list of nothing")


def load(f, map_location=None):
    """The module of an archive, a path or a file that can seek."""
    if hasattr(f, "read"):
        return _of_file(f, map_location)
    if not os.path.exists(f):
        raise ValueError(f"The provided filename {os.fsdecode(f)} does not exist")
    with open(f, "rb") as file:
        try:
            return _of_file(file, map_location)
        except (UnpicklingError, DamagedError, EOFError) as e:
            _named_in(e, os.fspath(f))
            raise


def _of_file(file, map_location):
    archive = _ZipReader(file)
    prefix = _prefix(archive)
    if f"{prefix}/constants.pkl" not in archive.members:
        raise RuntimeError("this is no TorchScript archive: torch.load reads it")
    return _Archive(archive, prefix, map_location, None).load()
