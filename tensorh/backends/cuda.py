"""torch.backends.cuda: switches of GPUs, whose kernels are in a module of their own. They are kept
and change nothing: products are not computed in TF32 or summed in 16 bits, attention goes one way,
and of cuFFT there is nothing."""

import contextlib
import enum
import warnings

from ..nn.attention import SDPBackend, _enabled, sdpa_kernel
from . import _Backend

__all__ = [
    "SDPAParams",
    "allow_fp16_bf16_reduction_math_sdp",
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cuBLASModule",
    "cuFFTPlanCache",
    "cuFFTPlanCacheManager",
    "cudnn_sdp_enabled",
    "cufft_plan_cache",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_ck_sdpa_available",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "preferred_rocm_fa_library",
    "sdp_kernel",
]


def is_available():
    """Whether there is a device."""
    from .. import cuda

    return cuda.is_available()


def is_built():
    """Whether the module with the kernels is there."""
    from .. import _cuda

    return _cuda.path() is not None


# --- attention ------------------------------------------------------------------------------------


class SDPAParams:
    """Arguments of scaled_dot_product_attention, for can_use_flash_attention and its like."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def cudnn_sdp_enabled():
    """Whether the program allows cuDNN's way."""
    return _enabled["cudnn"]


def flash_sdp_enabled():
    """Whether the program allows torch's flash attention."""
    return _enabled["flash"]


def mem_efficient_sdp_enabled():
    """Whether the program allows torch's attention that saves memory."""
    return _enabled["mem_efficient"]


def math_sdp_enabled():
    """Whether the program allows torch's plain way."""
    return _enabled["math"]


def _enable(name, enabled):
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_{name} expects a bool, but got {type(enabled).__name__}")
    _enabled[name] = enabled


def enable_cudnn_sdp(enabled):
    """Allows cuDNN's way or not; it changes nothing else."""
    _enable("cudnn", enabled)


def enable_flash_sdp(enabled):
    """Allows torch's flash attention or not; it changes nothing else."""
    _enable("flash", enabled)


def enable_mem_efficient_sdp(enabled):
    """Allows torch's attention that saves memory or not; it changes nothing else."""
    _enable("mem_efficient", enabled)


def enable_math_sdp(enabled):
    """Allows torch's plain way or not; it changes nothing else."""
    _enable("math", enabled)


_kept = {"reduction": False}


def fp16_bf16_reduction_math_sdp_allowed():
    """Whether the program allows sums of 16 bits; there are none."""
    return _kept["reduction"]


def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Allows sums of 16 bits or not; there are none."""
    _kept["reduction"] = bool(enabled)


def is_flash_attention_available():
    """False: torch's kernels are not here."""
    return False


def is_ck_sdpa_available():
    """False: AMD's kernels are not here."""
    return False


def can_use_flash_attention(params, debug=False):
    """False: torch's kernels are not here; debug says so as a warning."""
    return _cannot("flash", debug)


def can_use_efficient_attention(params, debug=False):
    """False: torch's kernels are not here; debug says so as a warning."""
    return _cannot("memory-efficient", debug)


def can_use_cudnn_attention(params, debug=False):
    """False: cuDNN is not used; debug says so as a warning."""
    return _cannot("cuDNN's", debug)


def _cannot(name, debug):
    if debug:
        warnings.warn(f"{name} attention is not here: there is one way for all", stacklevel=3)
    return False


@contextlib.contextmanager
def _sdp_kernel(chosen):
    with sdpa_kernel(chosen) as context:
        yield context


def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """A block in which the program allows some ways of attention; it changes nothing else."""
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
        stacklevel=2,
    )
    ways = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.MATH: enable_math,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    return _sdp_kernel([way for way, allowed in ways.items() if allowed])


# --- libraries ------------------------------------------------------------------------------------


class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = 0, 1, 2


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = 0, 1, 2, 3


class _ROCmFABackend(enum.Enum):
    Default, AOTriton, Ck = 0, 1, 2


_LIBRARIES = {
    _LinalgBackend: {"default": "Default", "cusolver": "Cusolver", "magma": "Magma"},
    _BlasBackend: {
        "default": "Cublas", "cublas": "Cublas", "hipblas": "Cublas", "cublaslt": "Cublaslt",
        "hipblaslt": "Cublaslt", "ck": "Ck",
    },
    _ROCmFABackend: {"default": "Default", "aotriton": "AOTriton", "ck": "Ck"},
}  # fmt: skip
_preferred = {kind: kind[names["default"]] for kind, names in _LIBRARIES.items()}


def _prefer(kind, backend):
    names = _LIBRARIES[kind]
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        backend = kind[names[backend]]
    if isinstance(backend, kind):
        _preferred[kind] = backend
    elif backend is not None:
        raise RuntimeError("Unknown input value type.")
    return _preferred[kind]


def preferred_linalg_library(backend=None):
    """Keeps and gives the library that a program prefers; none is used for factorizations."""
    return _prefer(_LinalgBackend, backend)


def preferred_blas_library(backend=None):
    """Keeps and gives the library that a program prefers; it changes nothing."""
    return _prefer(_BlasBackend, backend)


def preferred_rocm_fa_library(backend=None):
    """Keeps and gives the library that a program prefers; none is used for attention."""
    return _prefer(_ROCmFABackend, backend)


class cuFFTPlanCache:
    """Plans of a device: there are none, so there is nothing to clear. max_size is kept."""

    size = property(lambda self: 0)

    def __init__(self, device_index):
        self.device_index, self.max_size = device_index, 4096

    def clear(self):
        """Returns: there are no plans."""


class cuFFTPlanCacheManager:
    """The plans of each device; its attributes are those of the current one."""

    def __init__(self):
        self.__dict__["caches"] = {}

    def __getitem__(self, device):
        from .. import _cuda, cuda

        index, count = _cuda.number(device), cuda.device_count()
        index = cuda.current_device() if index < 0 and count else index
        if not 0 <= index < count:
            raise RuntimeError(
                f"cufft_plan_cache: expected 0 <= device index < {count}, but got device with "
                f"index {index}"
            )
        return self.caches.setdefault(index, cuFFTPlanCache(index))

    def __getattr__(self, name):
        from .. import cuda

        return getattr(self[cuda.current_device()], name)

    def __setattr__(self, name, value):
        from .. import cuda

        setattr(self[cuda.current_device()], name, value)


class cuBLASModule(_Backend):
    """Switches of products, which say what is done: they are summed in float32, not in TF32 and not
    in 16 bits."""

    def __init__(self):
        super().__init__(
            "cuda.matmul",
            allow_tf32=False,
            allow_fp16_reduced_precision_reduction=False,
            allow_bf16_reduced_precision_reduction=False,
            allow_fp16_accumulation=False,
            fp32_precision="none",
        )


cufft_plan_cache = cuFFTPlanCacheManager()
matmul = cuBLASModule()


def __getattr__(name):
    from .._missing import error

    raise error("torch.backends.cuda", name)
