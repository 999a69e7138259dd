"""torch.__config__: how the package was built, as texts."""

from . import _C


def show():
    """The versions of the package and of its compiler, and what it may use."""
    from . import version

    return "\n".join((
        "PyTorch's interface built with:",
        f"  - tensor.h {_C.__version__}",
        "  - CUDA " + (version.cuda or "without a device"),
        "",
    ))  # fmt: skip


def parallel_info():
    """How many threads compute."""
    import os

    return (
        "ATen/Parallel:\n"
        f"\tat::get_num_threads() : {_C.get_num_threads()}\n"
        f"std::thread::hardware_concurrency() : {os.cpu_count()}\n"
        "ATen parallel backend: native thread pool\n"
    )
