"""What inspect.signature says of a module and of its class."""

from ... import _C


class CallSignature:
    """inspect.signature(model): of the call, which is C; of the class it is __init__'s."""

    def __get__(self, instance, owner):
        if instance is None:
            return self.of_class(owner)
        from inspect import Parameter, Signature, signature

        if owner.__call__ is not _C._Module.__call__:
            return signature(instance.__call__)
        kinds = {"args": Parameter.VAR_POSITIONAL, "kwargs": Parameter.VAR_KEYWORD}
        return Signature([Parameter(name, kind) for name, kind in kinds.items()])

    def of_class(self, owner):
        raise AttributeError("__signature__")
