"""The PEP 517 backend of the wheel with the CUDA module alone; that of tensorh does the work."""

import importlib.util
import os

HERE = os.path.dirname(os.path.abspath(__file__))
_path = os.path.join(HERE, "..", "..", "tools", "python", "backend.py")
_spec = importlib.util.spec_from_file_location("tensorh_backend", _path)
_tensorh = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_tensorh)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    init = "tensorh_cuda/__init__.py"
    files = [
        (init, _tensorh.read(os.path.join(HERE, init))),
        ("tensorh_cuda/libtensor_cuda.so", _tensorh.cuda_module()),
    ]
    return _tensorh.write_wheel(wheel_directory, files, HERE, "py3-none")
