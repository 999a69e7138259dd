"""torch.jit for programs that compile where they can: nothing is compiled here, so what would be
scripted or traced is returned as it is and runs as Python. C records and replays calls."""

from typing import Final  # noqa: F401

from .nn import Module

__path__ = []  # below it are modules of _absent.py
__all__ = [
    "CompilationUnit", "Error", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate",
    "export", "fork", "freeze", "ignore", "interface", "is_scripting", "is_tracing", "isinstance",
    "load", "optimize_for_inference", "save", "script", "script_if_tracing", "script_method",
    "trace", "trace_module", "unused", "wait",
]  # fmt: skip
_NO_FILES = "TorchScript archives are not written: save state_dict() by torch.save"
_isinstance = isinstance


class Error(RuntimeError):
    """Never raised here: nothing is interpreted."""


class TracerWarning(Warning):
    """Never given here: nothing is traced."""


class ScriptModule(Module):
    """A base for classes that name it; it adds nothing to Module."""


class ScriptFunction:
    """What a scripted function is in torch. Nothing here is one."""


class CompilationUnit:
    """Source of TorchScript, which is not compiled here."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("there is no compiler of TorchScript")


def script(obj=None, optimize=None, example_inputs=None, **unused):
    """obj as it is; also a decorator."""
    return obj if obj is not None else script


def script_if_tracing(fn):
    """fn as it is."""
    return fn


_script_if_tracing = script_if_tracing


def script_method(fn):
    """fn as it is."""
    return fn


def trace(func, example_inputs=None, *args, **kwargs):
    """func as it is; the inputs are not needed."""
    return func


def trace_module(mod, inputs, *args, **kwargs):
    """mod as it is."""
    return mod


def ignore(drop=False, **kwargs):
    """A decorator that changes nothing, with or without arguments."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    """fn as it is."""
    return fn


def export(fn):
    """fn as it is."""
    return fn


_overload = _overload_method = export


def interface(obj):
    """The class as it is."""
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """mod as it is; it has to be in evaluation, as torch demands."""
    if getattr(mod, "training", False):
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. "
                           "Please call .eval() on your module before freezing.")  # fmt: skip
    return mod


def optimize_for_inference(mod, other_methods=None):
    """mod as it is."""
    return mod


def is_scripting():
    """False."""
    return False


def is_tracing():
    """False."""
    return False


def annotate(the_type, the_value):
    """the_value."""
    return the_value


def isinstance(obj, target_type):
    """Python's isinstance, of a class or a tuple of classes."""
    return _isinstance(obj, target_type)


class _Done:
    """What fork returns: the call has been made."""

    def __init__(self, value):
        self.value_ = value

    def wait(self):
        """The result of the call."""
        return self.value_


def fork(func, *args, **kwargs):
    """Calls func at once; wait returns what it gave."""
    return _Done(func(*args, **kwargs))


def wait(future):
    """The result of a fork."""
    return future.wait()


def save(m, f, **kwargs):
    """Refused: there are no archives of TorchScript."""
    raise NotImplementedError(_NO_FILES)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """The modules of a TorchScript archive, a path or a file that can seek, as data: parameters,
    buffers and plain attributes. Their programs are not run: what calls one is refused."""
    from ._script import load as read

    return read(f, map_location)


def __getattr__(name):
    from ._absent import below

    module = below(__name__, name)
    if module is not None:
        return module
    from ._missing import error

    raise error("torch.jit", name)
