"""nn.Module: what is called seldom. Attributes and the call are C (src/py/module.c)."""

import warnings
from collections import OrderedDict, namedtuple

from ... import _C
from ...utils.hooks import RemovableHandle
from ..parameter import is_lazy
from ._signature import CallSignature

_without_grad = _C._without_grad
_EXTRA_STATE = "_extra_state"


def _typename(o):
    """torch.typename: 'torch.FloatTensor' for a tensor, the class's name for others."""
    if type(o) in (_C.Tensor, _C.Parameter):
        from ..._functions import dtypes

        return f"torch.{dtypes._TYPE_NAMES.get(o.dtype, 'Tensor')}"
    module = type(o).__module__
    name = type(o).__qualname__
    return name if module in ("builtins", "") else f"{module}.{name}"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def _to_what(args, kwargs):
    """(device, dtype, memory_format) of the arguments of to()."""
    from ..._overloads import to_what

    names = {"tensor": "other", "other": "tensor"}  # what the one of a Tensor calls `other`
    try:
        what = to_what(*args, **{names.get(name, name): a for name, a in kwargs.items()})
    except TypeError:  # a name that is none
        what = None
    if what is not None and what[2] is not None:  # a module is converted in place
        raise RuntimeError(".to() does not accept copy argument")
    if what is None:
        given = [type(a).__name__ for a in args]
        given += [f"{name}={type(a).__name__}" for name, a in kwargs.items()]
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(given)}), but "
            "expected (device, dtype, non_blocking), (dtype, non_blocking), (tensor, non_blocking)"
        )
    device, dtype, _, memory_format = what
    device = None if device is None else _C.device(device)
    return device, None if dtype is None else _C.empty(0, dtype=dtype).dtype, memory_format


class _OneKind(OrderedDict):
    """Hooks of all modules, of one kind; whoever puts one there lets calls look."""

    def __setitem__(self, number, hook):
        super().__setitem__(number, hook)
        _C._hook_all(True)


# Under torch's names: programs put empty dictionaries there, and hooks into them.
_global_forward_pre_hooks = _OneKind()
_global_forward_hooks = _OneKind()
_global_forward_hooks_with_kwargs = _OneKind()
_global_forward_hooks_always_called = _OneKind()
_global_backward_pre_hooks = _OneKind()
_global_backward_hooks = _OneKind()
_KINDS_OF_HOOKS = [n for n in globals() if n.startswith("_global_")]


class _HooksOfAll:
    """Hooks that every module's call heeds, before its own; _C._hook_all says that there are some.

    The names are those of a module's own hooks.
    """

    def __getattr__(self, name):
        return globals()["_global" + name]

    def add(self, name, hook, *also):
        """Adds a hook to a dictionary, and its number to others."""
        hooks = getattr(self, name)
        handle = RemovableHandle(hooks, extra_dict=[getattr(self, d) for d in also])
        hooks[handle.id] = hook
        for d in also:
            getattr(self, d)[handle.id] = True
        _C._hook_all(True)
        return handle

    def some(self):
        """Whether there are hooks of any kind."""
        return any(globals()[name] for name in _KINDS_OF_HOOKS)

    def look(self):
        """Where all have been removed, calls look here no more."""
        if not self.some():
            _C._hook_all(False)
            if self.some():  # another thread has added one just now
                _C._hook_all(True)


_hooks_of_all = _HooksOfAll()


def register_module_forward_pre_hook(hook):
    """hook(module, args) before the forward of every module; it may return other arguments."""
    return _hooks_of_all.add("_forward_pre_hooks", hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """hook(module, args[, kwargs], output) after the forward of every module."""
    also = ("_forward_hooks_with_kwargs",) if with_kwargs else ()
    also += ("_forward_hooks_always_called",) if always_call else ()
    return _hooks_of_all.add("_forward_hooks", hook, *also)


def register_module_full_backward_pre_hook(hook):
    """hook(module, grad_output) before the gradient goes through any module."""
    return _hooks_of_all.add("_backward_pre_hooks", hook)


def register_module_backward_hook(hook):
    """register_module_full_backward_hook, as Module.register_backward_hook is."""
    return register_module_full_backward_hook(hook)


def register_module_full_backward_hook(hook):
    """hook(module, grad_input, grad_output) when the gradients of any module's inputs are known."""
    return _hooks_of_all.add("_backward_hooks", hook)


def _with_getattr(bases):
    """The bases with _WithGetattr in Module's place, or behind the last that leads there."""
    at = max(i for i, base in enumerate(bases) if issubclass(base, Module))
    before = bases[:at] if bases[at] is Module else bases[: at + 1]
    return (*before, _WithGetattr, *bases[at + 1 :])


class Module(_C._Module):
    """Base class of all neural network modules: a tree of parameters, buffers and modules."""

    __signature__ = CallSignature()
    _version = 1
    training: bool
    call_super_init = False
    dump_patches = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # A class with __getattr__ may call super().__getattr__. Module has none, as a class that
        # has one looks up attributes slowly: it comes in as one more base.
        if _WithGetattr and not issubclass(cls, _WithGetattr):
            if any("__getattr__" in c.__dict__ for c in cls.__mro__):
                cls.__bases__ = _with_getattr(cls.__bases__)

    def forward(self, *input):
        """The computation; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # --- registering ---------------------------------------------------------------------------

    def _check_name(self, kind, name, holder):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        if kind == "module" and hasattr(self, name) and name not in holder:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in holder and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def _refuse(self, kind, name, value):
        wanted = {
            "parameter": "torch.nn.Parameter or None",
            "child module": "torch.nn.Module or None",
            "buffer": "torch.nn.Buffer, torch.Tensor or None",
        }[kind]
        raise TypeError(
            f"cannot assign '{_typename(value)}' as {kind} '{name}' ({wanted} expected)"
        )

    def register_parameter(self, name, param):
        """Adds a parameter; None: a place that is empty."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, _C.Parameter):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a buffer: state that is no parameter. Not persistent: not in the state dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, _C.Tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def _assign_buffer(self, name, value):
        persistent = name not in self.__dict__.get("_non_persistent_buffers_set", ())
        if getattr(value, "_is_buffer", False):
            persistent = value.persistent
            for d in (self.__dict__, self._parameters, self._modules):
                d.pop(name, None)
        self.register_buffer(name, value, *(() if persistent else (False,)))

    def add_module(self, name, module):
        """Adds a child module; None: a place that is empty."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    register_module = add_module

    # --- finding -------------------------------------------------------------------------------

    def get_submodule(self, target):
        """The module of a path, "layers.0.attn"."""
        module = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts another module at a path. strict: only where there is one already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_leaf(self, target, what):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target):
        """The parameter of a path."""
        _, name, value = self._get_leaf(target, "parameter")
        if not isinstance(value, _C.Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return value

    def get_buffer(self, target):
        """The buffer of a path."""
        module, name, value = self._get_leaf(target, "buffer")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return value

    def get_extra_state(self):
        """State that is no tensor, for the state dict; defined by subclasses that have some."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state):
        """Takes what get_extra_state gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield path + ("." if path else "") + name, value

    def parameters(self, recurse=True):
        """All parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """All parameters with their paths."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse=True):
        """All buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """All buffers with their paths."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self):
        """The modules right below."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """The modules right below with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate=True):
        """This module and all below."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all below with their paths."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, below, remove_duplicate)

    # --- changing ------------------------------------------------------------------------------

    def train(self, mode=True):
        """Training mode on or off, here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Training mode off, here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether the parameters gather gradients."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of all parameters, or makes them zero."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    _without_grad(p.grad.zero_)

    def apply(self, fn):
        """Calls fn(module) for all modules below, then for this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            applied, grad = _without_grad(fn, param), param.grad
            if applied is not param:
                if grad is not None:
                    param.grad = None
                if not _C._take_data(param, applied):
                    param = _C.Parameter(applied, param.requires_grad)
                    self._parameters[name] = param
            if grad is not None:
                param.grad = _without_grad(fn, grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """to(device), to(dtype), to(device, dtype), to(tensor): converts in place.

        A dtype is for floating and complex parameters and buffers alone, a memory_format for those
        of four or five dimensions.
        """
        device, dtype, memory_format = _to_what(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors as "
                "parameters or buffers.",
                stacklevel=2,
            )

        def convert(t):
            to = dtype if t.dtype.is_floating_point or t.dtype.is_complex else None
            pictures = memory_format if memory_format and t.dim() in (4, 5) else None
            return t.to(device or t.device, to or t.dtype, memory_format=pictures)

        return self._apply(convert)

    def type(self, dst_type):
        """Converts all parameters and buffers to a dtype, a type or a type's name."""
        return self._apply(lambda t: t.type(dst_type))

    def _to_floating(self, dtype):
        return self._apply(lambda t: _C.to(t, t.device, dtype) if t.dtype.is_floating_point else t)

    def float(self):
        """Floating parameters and buffers to float32."""
        return self._to_floating(_C.float32)

    def double(self):
        """Floating parameters and buffers to float64."""
        return self._to_floating(_C.float64)

    def half(self):
        """Floating parameters and buffers to float16."""
        return self._to_floating(_C.float16)

    def bfloat16(self):
        """Floating parameters and buffers to bfloat16."""
        return self._to_floating(_C.bfloat16)

    def cpu(self):
        """Parameters and buffers to the CPU."""
        return self._apply(lambda t: _C.to(t, "cpu"))

    def cuda(self, device=None):
        """Parameters and buffers to a CUDA device."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device, recurse=True):
        """Parameters and buffers to a device, without their values."""
        return self._apply(lambda t: _C.empty_like(t, device=device), recurse=recurse)

    # --- the state dict ------------------------------------------------------------------------

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        transient = self._non_persistent_buffers_set
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in transient:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by path; they share memory with the module's."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead.", FutureWarning, 2
            )
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self.__dict__.get("_state_dict_pre_hooks", {}).values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars
                )
        for hook in self.__dict__.get("_state_dict_hooks", {}).values():
            out = hook(self, destination, prefix, metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = out if out is not None else destination
            elif out is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _load_one(self, name, param, given, key, assign, errors):
        if not isinstance(given, _C.Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(given)}"
            )
            return
        if is_lazy(param):
            if is_lazy(given):
                return
        elif param.ndim == 0 and tuple(given.shape) == (1,):
            given = given[0]
        if given.shape != param.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from "
                f"checkpoint, the shape in current model is {param.shape}."
            )
            return
        try:
            if not assign:
                _without_grad(param.copy_, given)
                return
            if isinstance(param, _C.Parameter):
                if not isinstance(given, _C.Parameter):
                    given = _C.Parameter(given, requires_grad=param.requires_grad)
                else:
                    given.requires_grad_(param.requires_grad)
            setattr(self, name, given)
        except Exception as error:
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{param.size()} and whose dimensions in the checkpoint are {given.size()}, an "
                f"exception occurred : {error.args}."
            )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Loads this module's own parameters and buffers; subclasses may do it otherwise."""
        given = (state_dict, prefix, local_metadata, strict)
        given += (missing_keys, unexpected_keys, error_msgs)
        for hook, with_module in self.__dict__.get("_load_state_dict_pre_hooks", {}).values():
            hook(self, *given) if with_module else hook(*given)
        transient = self._non_persistent_buffers_set
        own = {k: v for k, v in self._parameters.items() if v is not None}
        for k, v in self._buffers.items():
            if v is not None and k not in transient:
                own[k] = v
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, param, state_dict[key], key, assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _load_below(self, state, prefix, metadata, assign, found):
        local = dict({} if metadata is None else metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = assign
        self._load_from_state_dict(state, prefix, local, True, *found)
        for name, child in self._modules.items():
            if child is not None:
                below = prefix + name + "."
                part = {k: v for k, v in state.items() if k.startswith(below)}
                child._load_below(part, below, metadata, assign, found)
        keys = _IncompatibleKeys(*found[:2])
        for hook in self.__dict__.get("_load_state_dict_post_hooks", {}).values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, if incompatible_keys need to be modified, "
                    "it should be done inplace."
                )

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies the tensors of a state dict into this module's, or puts them there (assign).

        strict: the keys must be this module's own. Returns the missing and unexpected ones.
        """
        if not hasattr(state_dict, "items") or not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        self._load_below(state_dict, "", metadata, assign, (missing, unexpected, errors))
        if strict:
            for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    text = ", ".join(f'"{k}"' for k in keys)
                    errors.insert(0, f"{what} key(s) in state_dict: {text}. ")
        if errors:
            text = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}"
            )
        return _IncompatibleKeys(missing, unexpected)

    # --- hooks ---------------------------------------------------------------------------------

    def _add_hook(self, hooks, hook, prepend=False, also=()):
        handle = RemovableHandle(hooks, extra_dict=also)
        hooks[handle.id] = hook
        for d in also:
            d[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args[, kwargs]) before forward; it may return other arguments."""
        also = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return self._add_hook(self._forward_pre_hooks, hook, prepend, also)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args[, kwargs], output) after forward; it may return another output."""
        also = (self._forward_hooks_with_kwargs,) if with_kwargs else ()
        also += (self._forward_hooks_always_called,) if always_call else ()
        return self._add_hook(self._forward_hooks, hook, prepend, also)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) before the gradient goes through this module."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) when the inputs' gradients are known."""
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook):
        """hook(module, prefix, keep_vars) before state_dict."""
        return self._add_hook(self._state_dict_pre_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return self._add_hook(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata) after state_dict."""
        hook._from_public_api = True
        return self._add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, ..) before this module's tensors are loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return self._add_hook(self._load_state_dict_pre_hooks, (hook, with_module))

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys) after loading."""
        return self._add_hook(self._load_state_dict_post_hooks, hook)

    def _call_hooked(self, args, kwargs):
        """The call of a module that has hooks."""
        from ._hooked import call

        return call(self, args, kwargs)

    def _place(self, error):
        """The path of the module in which the error was raised, as far as it lies below self."""
        below = error._module
        for path, module in self.named_modules():
            if module is below and path and isinstance(error.args[0], str):
                head, colon, rest = error.args[0].partition(": ")
                head = f"{path}.{head}" if " (" in head else f"{path} ({head})"
                error.args = (head + colon + rest, *error.args[1:])
                error._module = self
                return

    # --- copying and printing ------------------------------------------------------------------

    def __getstate__(self):
        return self.__dict__.copy()

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What is printed of this module beside its children."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) <= 1 and not self._modules:
            return f"{self._get_name()}({extra})"
        for name, module in self._modules.items():
            lines.append(f"({name}): " + repr(module).replace("\n", "\n  "))
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    def register_backward_hook(self, hook):
        """register_full_backward_hook: torch's older one may show the gradients of the last call
        within the module in place of those of its inputs."""
        return self.register_full_backward_hook(hook)

    def share_memory(self):
        """Moves parameters and buffers to memory that other processes may have."""
        return self._apply(lambda t: t.share_memory_())

    def ipu(self, device=None):
        """to("ipu"): an error where there is no such device."""
        return self.to(_device_of("ipu", device))

    def xpu(self, device=None):
        """to("xpu"): an error where there is no such device."""
        return self.to(_device_of("xpu", device))

    def mtia(self, device=None):
        """to("mtia"): an error where there is no such device."""
        return self.to(_device_of("mtia", device))

    def compile(self, *args, **kwargs):
        """Nothing is compiled: the module stays as it is."""

    def __dir__(self):
        kind = type(self)
        names = [*dir(kind), *self.__dict__]
        names += [*self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())


def _device_of(kind, device):
    return f"{kind}:{device}" if isinstance(device, int) else device or kind

_WithGetattr = None


class _WithGetattr(Module):
    """Stands between Module and classes that define __getattr__, for their super().__getattr__.
    Parameters, buffers and modules are found there, not before: the class's own sees them all."""

    __getattribute__ = object.__getattribute__

    def __getattr__(self, name):
        own = self.__dict__
        for part in ("_parameters", "_buffers", "_modules"):
            if name in own.get(part, ()):
                return own[part][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
