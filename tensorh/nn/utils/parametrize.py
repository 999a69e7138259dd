"""torch.nn.utils.parametrize: a tensor of a module as a function of other tensors, computed when it
is read."""

from contextlib import contextmanager

from ... import _C
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip
_cache_depth = 0
_cache = {}


@contextmanager
def cached():
    """Within it each parametrized tensor is computed once."""
    global _cache_depth, _cache
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache = {}


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set(t, new):
    """Lets the tensor object t show new's data; another shape or dtype is refused by data."""
    t.data = new.data if t.dtype == new.dtype else new.data.to(t.dtype)


class ParametrizationList(ModuleList):
    """The parametrizations of a tensor, first to last, and the tensors from which it is computed:
    `original`, or original0, original1, .. where right_inverse gives several.

    unsafe: dtypes and shapes are not compared.
    """

    def __init__(self, modules, original, unsafe=False):
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with _C.no_grad():
            new = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, _C.Tensor) and not isinstance(new, (list, tuple)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, _C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            with _C.no_grad():
                if new is not original:
                    _set(original, new)
            _register(self, "original", original)
        else:
            for i, one in enumerate(new):
                if not isinstance(one, _C.Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors "
                        f"(list, tuple...). Got element {i} of the sequence with type "
                        f"{type(one).__name__}."
                    )
                if isinstance(original, Parameter):
                    one = Parameter(one, original.requires_grad)
                one.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", one)
        if not self.unsafe:
            z = self()
            if not isinstance(z, _C.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(z).__name__}.")
            for what, was, now in (("dtype", dtype, z.dtype), ("shape", shape, z.shape)):
                if was != now:
                    raise ValueError(
                        f"Registering a parametrization may not change the {what} of the tensor, "
                        f"unless `unsafe` flag is enabled.\nunparametrized {what}: {was}\n"
                        f"parametrized {what}: {now}"
                    )

    def _originals(self):
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the tensor becomes value, by right_inverse of the last to the
        first."""
        with _C.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, _C.Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                    )
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                        f"`original` has dtype {self.original.dtype}"
                    )
                _set(self.original, value)
                return
            if not isinstance(value, (list, tuple)):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors. "
                    f"Got {type(value).__name__}."
                )
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for original, new in zip(self._originals(), value, strict=True):
                _set(original, new)

    def forward(self):
        """The tensor."""
        x = self[0](*self._originals())
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _inject_new_class(module):
    """Gives the module a class of its own, in which the properties can stand."""
    cls = module.__class__

    def getstate(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    members = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _deepcopy(self, memo):
    import copy

    new = memo.get(id(self))
    if new is not None:
        return new
    base = type(self).__mro__[1]
    new = base.__new__(base)
    memo[id(self)] = new
    state = {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()}
    Module.__setstate__(new, state)
    _inject_new_class(new)
    for name in self.parametrizations:
        _inject_property(new, name)
    return new


def _inject_property(module, name):
    def compute(self):
        return self.parametrizations[name]()

    def get(self):
        if not _cache_depth:
            return compute(self)
        key = id(self), name
        if key not in _cache:
            _cache[key] = compute(self)
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(module.__class__, name, property(get, put))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Makes module.tensor_name what parametrization, a module, computes of it; returns module."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        all_of = module.parametrizations[tensor_name]
        if unsafe:
            all_of.unsafe = True
        else:
            y = getattr(module, tensor_name)
            x = parametrization(y)
            if not isinstance(x, _C.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
            for what in "dtype", "shape":
                if getattr(x, what) != getattr(y, what):
                    raise ValueError(
                        f"Registering a parametrization may not change the {what} of the tensor, "
                        f"unless the `unsafe` flag is enabled.\nmodule.{tensor_name}.{what}: "
                        f"{getattr(y, what)}\nparametrization(module.{tensor_name}).{what}: "
                        f"{getattr(x, what)}"
                    )
            if hasattr(parametrization, "right_inverse"):
                try:
                    z = parametrization.right_inverse(x)
                except NotImplementedError:
                    pass
                else:
                    if not isinstance(z, _C.Tensor):
                        raise ValueError(
                            "parametrization.right_inverse must return a tensor. Got: "
                            f"{type(z).__name__}"
                        )
                    for what in "dtype", "shape":
                        if getattr(z, what) != getattr(y, what):
                            raise ValueError(
                                "The tensor returned by parametrization.right_inverse must have "
                                f"the same {what} as module.{tensor_name}, unless the `unsafe` "
                                f"flag is enabled.\nmodule.{tensor_name}.{what}: "
                                f"{getattr(y, what)}\nreturned {what}: {getattr(z, what)}"
                            )
        all_of.append(parametrization)
        return module
    if tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        all_of = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = all_of
        return module
    raise ValueError(
        f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with "
        f"name '{tensor_name}'"
    )


def is_parametrized(module, tensor_name=None):
    """Whether the module has parametrizations, or one of this tensor."""
    found = getattr(module, "parametrizations", None)
    if found is None or not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Undoes register_parametrization: the tensor keeps the computed value, or with
    leave_parametrized False the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    all_of = module.parametrizations[tensor_name]
    if all_of.is_tensor:
        original = all_of.original
        if leave_parametrized:
            with _C.no_grad():
                value = getattr(module, tensor_name)
                _set(original, value)
    else:
        if not leave_parametrized:
            raise ValueError(
                "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
                "parametrized in terms of a sequence of tensors."
            )
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__mro__[1]
    return module


def type_before_parametrizations(module):
    """The module's class without what a parametrization put over it."""
    return module.__class__.__mro__[1] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Registers from_module's parametrizations of a tensor, or of all, on to_module as well."""
    if not is_parametrized(from_module):
        return to_module
    names = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in list(names):
        if not hasattr(to_module, name):
            value = getattr(from_module, name)
            setattr(to_module, name, Parameter(value))
        for one in from_module.parametrizations[name]:
            register_parametrization(to_module, name, one)
        ours, theirs = to_module.parametrizations[name], from_module.parametrizations[name]
        if theirs.is_tensor:
            ours.original = theirs.original
        else:
            for i in range(theirs.ntensors):
                setattr(ours, f"original{i}", getattr(theirs, f"original{i}"))
    return to_module
