"""torch.onnx for programs that ask whether an export is under way. None ever is: models are saved
as safetensors or .pt."""

__all__ = ["export", "is_in_onnx_export", "is_onnxrt_backend_supported"]


def is_in_onnx_export():
    """False."""
    return False


def is_onnxrt_backend_supported():
    """False."""
    return False


def export(*args, **kwargs):
    """Refused: there is no exporter."""
    raise NotImplementedError("there is no ONNX exporter: models are saved as safetensors or .pt")


def __getattr__(name):
    from ._missing import error

    raise error("torch.onnx", name)
