"""Modules whose number of inputs is what the first call has: LazyLinear, LazyConv1d and others."""

import warnings

from ... import _C
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from . import rows

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
    "LazyModuleMixin",
]  # fmt: skip


class LazyModuleMixin:
    """For a class of modules before nn.Module: parameters that the first call makes by
    initialize_parameters(*args), after which the module has the class cls_to_become."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._begin_lazy()

    def _begin_lazy(self):
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )
        warnings.warn(
            "Lazy modules are a new feature under heavy development so changes to the API or "
            "functionality can happen at any moment.",
            stacklevel=4,
        )

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for kind in (self._parameters, self._buffers):
            for name, value in kind.items():
                if value is not None and name not in self._non_persistent_buffers_set:
                    kept = value if keep_vars or is_lazy(value) else value.detach()
                    destination[prefix + name] = kept

    def _lazy_load_hook(self, state_dict, prefix, *others):
        for kind in (self._parameters, self._buffers):
            for name, value in kind.items():
                given = state_dict.get(prefix + name)
                if value is not None and given is not None and is_lazy(value):
                    if not is_lazy(given):
                        with _C.no_grad():
                            value.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Makes the parameters for a call with these arguments."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {self.__class__.__name__}"
        )

    def has_uninitialized_params(self):
        """Whether some parameter or buffer has no shape yet."""
        return any(is_lazy(v) for v in (*self._parameters.values(), *self._buffers.values()))

    @staticmethod
    def _infer_parameters(module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def reset_parameters(self):
        """Draws initial values where there are parameters already."""
        if not self.has_uninitialized_params():
            self._reset_of_row()

    def _reset_of_row(self):
        self.cls_to_become.reset_parameters(self)


def _lazy_linear(self, out_features, bias=True, device=None, dtype=None):
    type(self).cls_to_become.__init__(self, 1, 1, False, device="meta")
    where = {"device": device, "dtype": dtype}
    self.weight = UninitializedParameter(**where)
    self.in_features, self.out_features = 0, out_features
    self.bias = UninitializedParameter(**where) if bias else None
    self._begin_lazy()


class LazyLinear(LazyModuleMixin, rows.get("Linear")):
    """Linear, whose in_features is the last size of the first input."""

    cls_to_become = rows.get("Linear")
    __init__ = _lazy_linear

    def initialize_parameters(self, input):
        """Makes weight and bias for this input."""
        if self.has_uninitialized_params():
            with _C.no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    def _begin(self, kind, out_channels, kernel_size, *args, **kwargs):
        given = dict(zip(kind._options[2:], (kernel_size, *args), strict=False)) | kwargs
        where = {"device": given.pop("device", None), "dtype": given.pop("dtype", None)}
        bias, groups = given.pop("bias", True), given.get("groups", 1)
        kind.__init__(self, groups, groups, **given, bias=False, device="meta")
        self.weight = UninitializedParameter(**where)
        self.in_channels, self.out_channels = 0, out_channels
        self.bias = UninitializedParameter(**where) if bias else None
        self._begin_lazy()

    def _get_in_channels(self, input):
        n = len(self.kernel_size)
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{self.__class__.__name__}, but got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == n + 2 else input.shape[0]

    def initialize_parameters(self, input, *args, **kwargs):
        """Makes weight and bias for this input."""
        if not self.has_uninitialized_params():
            return
        with _C.no_grad():
            self.in_channels = self._get_in_channels(input)
            if self.in_channels % self.groups:
                raise ValueError("in_channels must be divisible by groups")
            first, second = self.out_channels, self.in_channels
            if "Transpose" in type(self).__name__:
                first, second = second, first
            self.weight.materialize((first, second // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


class _LazyNorm(LazyModuleMixin):
    def _begin(self, kind, *args, **kwargs):
        given = dict(zip(kind._options[1:], args, strict=False)) | kwargs
        where = {"device": given.pop("device", None), "dtype": given.pop("dtype", None)}
        affine, bias = given.pop("affine", True), given.pop("bias", True)
        track = given.pop("track_running_stats", True)
        kind.__init__(self, 1, **given, affine=False, track_running_stats=False, device="meta")
        self.num_features, self.affine, self.track_running_stats = 0, affine, track
        if affine:
            self.weight = UninitializedParameter(**where)
            if bias:
                self.bias = UninitializedParameter(**where)
        if track:
            self.running_mean = UninitializedBuffer(**where)
            self.running_var = UninitializedBuffer(**where)
            self.num_batches_tracked = _C.tensor(0, device=where["device"])
        self._begin_lazy()

    def initialize_parameters(self, input):
        """Makes parameters and statistics for this input."""
        if self.num_features:
            return
        kind = type(self).__name__
        spatial = int(kind[-2])
        batched = input.dim() - spatial - 1
        at = 1 if "BatchNorm" in kind or batched else 0
        self.num_features = input.shape[at]
        with _C.no_grad():
            for t, value in (
                (self.weight, 1), (self.bias, 0), (self.running_mean, 0), (self.running_var, 1),
            ):  # fmt: skip
                if t is not None and is_lazy(t):
                    t.materialize((self.num_features,))
                    t.fill_(value)

    def _reset_of_row(self):
        pass


def _class(name):
    kind = rows.get(name)
    base = _LazyConv if "Conv" in name else _LazyNorm

    def __init__(self, *args, **kwargs):
        self._begin(kind, *args, **kwargs)

    doc = f"{name}, whose number of channels is the one of the first input."
    body = {"__init__": __init__, "cls_to_become": kind, "__doc__": doc, "__module__": __name__}
    return type("Lazy" + name, (base, kind), body)


LazyBatchNorm1d = _class("BatchNorm1d")
LazyBatchNorm2d = _class("BatchNorm2d")
LazyBatchNorm3d = _class("BatchNorm3d")
LazyConv1d = _class("Conv1d")
LazyConv2d = _class("Conv2d")
LazyConv3d = _class("Conv3d")
LazyConvTranspose1d = _class("ConvTranspose1d")
LazyConvTranspose2d = _class("ConvTranspose2d")
LazyConvTranspose3d = _class("ConvTranspose3d")
LazyInstanceNorm1d = _class("InstanceNorm1d")
LazyInstanceNorm2d = _class("InstanceNorm2d")
LazyInstanceNorm3d = _class("InstanceNorm3d")
