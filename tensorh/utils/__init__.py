"""torch.utils: loaded part by part."""


def __getattr__(name):
    import importlib
    import importlib.util

    if importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module("." + name, __name__)
    from .._missing import error

    raise error("torch.utils", name)
