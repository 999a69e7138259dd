"""A PEP 517 build backend that needs Python and a C compiler, and nothing from the network.

`pip install .` calls build_wheel: the C compiler of Python's own configuration (or $CC) makes
tensorh/_C.abi3.so of tensor_py.c, and the files are put into a wheel for CPython 3.11 and later.
With TENSORH_CUDA=1 in the environment nvcc makes the module of CUDA's devices, too.
"""
import base64
import hashlib
import io
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ("tensor.h", "tensor_nn.h", "tensor_py.c")


def project(folder=ROOT):
    with open(os.path.join(folder, "pyproject.toml"), "rb") as f:
        return tomllib.load(f)["project"]


def metadata_text(folder=ROOT):
    p = project(folder)
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    needs = "".join(f"Requires-Dist: {d}\n" for d in p.get("dependencies", []))
    return (
        f"Metadata-Version: 2.1\nName: {p['name']}\nVersion: {p['version']}\n"
        f"Summary: {p['description']}\nLicense: {p['license']}\n"
        f"Requires-Python: {p['requires-python']}\n{needs}"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )


def tag(python):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{platform}"


def thread_flags(cc):
    """The flag by which an extension finds what belongs to a thread without a call, or none."""
    flag = "-mtls-dialect=gnu2"
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return []
    done = subprocess.run([*cc, flag, "-E", "-x", "c", os.devnull], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return [] if done.returncode else [flag]


def compile_extension(target, flags=()):
    """Compiles tensor_py.c into the file `target`."""
    cc = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    include = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise SystemExit(f"Python.h is not in {include}: install Python's development files")
    command = [*cc, "-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I", include]
    command += thread_flags(cc)
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    command += [*flags, *shlex.split(os.environ.get("CFLAGS", "")), "-I", ROOT]
    command += [os.path.join(ROOT, "tensor_py.c"), "-o", target, "-lm", "-pthread"]
    os.makedirs(os.path.dirname(target), exist_ok=True)
    subprocess.run(command, check=True)


def cuda_module():
    """libtensor_cuda.so, compiled by nvcc: its bytes."""
    target = os.path.join(ROOT, "build", "wheel", "libtensor_cuda.so")
    command = ["sh", os.path.join(ROOT, "tools", "cuda.sh"), target]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("the CUDA module was not built: nvcc says above why")
    return read(target)


def with_cuda():
    return os.environ.get("TENSORH_CUDA", "0") not in ("", "0")


def package_files():
    top = os.path.join(ROOT, "tensorh")
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(d for d in folders if d != "__pycache__")
        for name in sorted(files):
            if name.endswith((".py", ".pyi", ".typed", ".h")) and name not in HEADERS:
                path = os.path.join(folder, name)
                yield os.path.relpath(path, ROOT).replace(os.sep, "/"), path


def write_wheel(directory, files, folder=ROOT, python="cp311-abi3"):
    """files: (name in the wheel, bytes); RECORD is added. folder: of the project; python: the tags
    of what it runs on."""
    p = project(folder)
    info = f"{p['name']}-{p['version']}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: tensorh\nRoot-Is-Purelib: false\nTag: {tag(python)}\n"
    files = [*files, (f"{info}/METADATA", metadata_text(folder).encode()),
             (f"{info}/WHEEL", wheel.encode())]
    record = io.StringIO()
    name = f"{p['name']}-{p['version']}-{tag(python)}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files:
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.write(f"{path},sha256={digest},{len(data)}\n")
        record.write(f"{info}/RECORD,,\n")
        z.writestr(f"{info}/RECORD", record.getvalue())
    return name


def read(path):
    with open(path, "rb") as f:
        return f.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = os.path.join(ROOT, "build", "wheel", "_C.abi3.so")
    compile_extension(library, ["-Wl,-s"] if sys.platform.startswith("linux") else [])
    files = [(name, read(path)) for name, path in package_files()]
    files.append(("tensorh/_C.abi3.so", read(library)))
    files += [(f"tensorh/include/{name}", read(os.path.join(ROOT, name))) for name in HEADERS[:2]]
    if with_cuda():
        files.append(("tensorh/libtensor_cuda.so", cuda_module()))
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    compile_extension(os.path.join(ROOT, "tensorh", "_C.abi3.so"))
    if with_cuda():
        with open(os.path.join(ROOT, "tensorh", "libtensor_cuda.so"), "wb") as f:
            f.write(cuda_module())
    return write_wheel(wheel_directory, [("tensorh.pth", (ROOT + "\n").encode())])


def build_sdist(sdist_directory, config_settings=None):
    p = project()
    top = f"{p['name']}-{p['version']}"
    own = ["LICENSE", "README.md", "pyproject.toml", "tools/python/backend.py", "tools/cuda.sh",
           "tensor_cuda.cu.h", *HEADERS]
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz") as t:
        for name in [*own, *(name for name, _ in package_files())]:
            t.add(os.path.join(ROOT, name), f"{top}/{name}")
        data = metadata_text().encode()
        info = tarfile.TarInfo(f"{top}/PKG-INFO")
        info.size = len(data)
        t.addfile(info, io.BytesIO(data))
    return top + ".tar.gz"


if __name__ == "__main__":  # python backend.py FILE [FLAG...]: the extension alone
    compile_extension(os.path.abspath(sys.argv[1]), sys.argv[2:])
