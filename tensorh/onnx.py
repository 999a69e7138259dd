"""torch.onnx for programs that ask whether an export is under way. None ever is: models are saved
as safetensors or .pt."""

__path__ = []  # below it are modules of _absent.py
__all__ = ["export", "is_in_onnx_export", "is_onnxrt_backend_supported"]


def is_in_onnx_export():
    """False."""
    return False


def is_onnxrt_backend_supported():
    """False."""
    return False


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version, custom_opsets=None):
    """Nothing: no exporter would ask."""


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Nothing: no exporter would ask."""


def export(*args, **kwargs):
    """Refused: there is no exporter."""
    raise NotImplementedError("there is no ONNX exporter: models are saved as safetensors or .pt")


def __getattr__(name):
    from ._absent import below

    module = below(__name__, name)
    if module is not None:
        return module
    from ._absent import name_of

    return name_of("onnx", name)
