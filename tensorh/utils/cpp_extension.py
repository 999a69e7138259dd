"""torch.utils.cpp_extension: operators of one's own in C or C++, compiled when a program runs.

Sources include "tensorh.h" and end with TN_PYTHON_MODULE(name, &row, ..), where name may be
TORCH_EXTENSION_NAME (docs/rows.md says what a row is). The compilers are $CC and $CXX, or the
system's. What is compiled stays in a folder; it is compiled again where a source, a header beside
it, a flag, a compiler or this package has changed."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from .. import _C, __version__, get_include

__all__ = [  # noqa: F822 - BuildExtension is made when it is asked for
    "BuildExtension", "CUDAExtension", "CppExtension", "check_compiler_is_gcc",
    "check_compiler_ok_for_platform", "get_cxx_compiler", "get_default_build_root",
    "include_paths", "is_ninja_available", "library_paths", "load", "load_inline",
    "verify_ninja_availability",
]  # fmt: skip
CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False
_ATTEMPTS = 3  # compilations of files that change meanwhile
_CXX = (".cpp", ".cc", ".cxx", ".c++", ".C", ".cppm", ".mm")
_CUDA = "CUDA's kernels are in a module of their own (docs/python.md): only C and C++ are compiled"


# --- what there is --------------------------------------------------------------------------------


def _compiler(variable, *names):
    """The command of a compiler as a list: of the environment, Python's own, or by these names."""
    given = shlex.split(os.environ.get(variable) or "")
    if given:
        return given
    own = shlex.split(sysconfig.get_config_var(variable) or "")[:1]
    for name in (*own, *names):
        if shutil.which(name):
            return [name]
    raise RuntimeError(f"there is no compiler: {', '.join(names)} are not found, nor ${variable}")


def get_cxx_compiler():
    """The command that compiles C++."""
    return shlex.join(_compiler("CXX", "c++", "g++", "clang++"))


def check_compiler_ok_for_platform(compiler):
    """Whether there is this compiler; any one will do."""
    return shutil.which(shlex.split(compiler)[0]) is not None


def check_compiler_is_gcc(compiler):
    """Whether it is gcc."""
    done = subprocess.run(
        [*shlex.split(compiler), "--version"], capture_output=True, text=True, check=False
    )
    return "gcc" in done.stdout.lower() or "g++" in done.stdout.lower()


def is_ninja_available():
    """False: the compiler is called without Ninja."""
    return False


def verify_ninja_availability():
    """Raises, because Ninja is not used."""
    raise RuntimeError("Ninja is not used here: extensions are compiled without it")


def include_paths(device_type="cpu", torch_include_dirs=True):
    """The folders of tensorh.h and tensor.h."""
    _no_cuda(device_type != "cpu")
    if not torch_include_dirs:
        return []
    own = get_include()
    if os.path.exists(os.path.join(own, "tensor.h")):
        return [own]
    return [own, os.path.dirname(os.path.dirname(own))]  # a checkout


def library_paths(device_type="cpu", torch_include_dirs=True, cross_target_platform=None):
    """None: the library is the package's own, which is loaded already."""
    _no_cuda(device_type != "cpu")
    return []


def get_default_build_root():
    """The folder of what load() compiles: $TORCH_EXTENSIONS_DIR, or one of the user's caches."""
    given = os.environ.get("TORCH_EXTENSIONS_DIR")
    if given:
        return given
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.realpath(os.path.join(cache, "tensorh_extensions"))


def _no_cuda(asked):
    if asked:
        raise RuntimeError(_CUDA)


# --- compiling ------------------------------------------------------------------------------------


def _is_cxx(source):
    return source.endswith(_CXX)


def _hash(path):
    try:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return None


class _Build:
    """What one extension is made of."""

    def __init__(self, name, sources, cflags, ldflags, includes, folder, verbose):
        self.name, self.folder, self.verbose = name, folder, verbose
        self.sources, self.ldflags = sources, ldflags
        self.headers = [*includes, *include_paths(), sysconfig.get_paths()["include"]]
        if not any(os.path.exists(os.path.join(p, "Python.h")) for p in self.headers):
            raise RuntimeError(f"Python.h is not in {self.headers[-1]}: install Python's headers")
        self.cc = _compiler("CC", "cc", "gcc", "clang")
        mixed = any(map(_is_cxx, sources))
        self.cxx = _compiler("CXX", "c++", "g++", "clang++") if mixed else self.cc
        self.flags = ["-O2", "-fPIC", f"-DTORCH_EXTENSION_NAME={name}", *cflags]
        made_of = [self.cc, self.cxx, self.flags, ldflags, self.headers, sources, __version__,
                   sys.version, sysconfig.get_platform()]  # fmt: skip
        self.key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
        self.facts = os.path.join(folder, name + ".json")

    def library(self):
        """The path of the library, which is compiled if there is none of these sources."""
        try:
            with open(self.facts, encoding="utf-8") as f:
                facts = json.load(f)
            path = os.path.join(self.folder, facts["library"])
            if facts["key"] == self.key and os.path.exists(path):
                if all(h and _hash(p) == h for p, h in facts["files"].items()):
                    return path
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # there is none, or it was damaged
        return self.make()

    def make(self):
        """Compiles in a folder of its own, so that others meanwhile see a whole library or none.

        What it is made of is recorded only if no file changed while the compiler ran."""
        with tempfile.TemporaryDirectory(prefix=".build-", dir=self.folder) as work:
            files, same = {p: _hash(p) for p in self.sources}, False
            for _ in range(_ATTEMPTS):
                objects, files, same = self.compile_all(work, files)
                if same or None in files.values():
                    break
            made = hashlib.sha256(json.dumps([self.key, files], sort_keys=True).encode())
            if not same:  # a name that no other library has
                made.update(os.urandom(16))
            library = f"{self.name}.{made.hexdigest()[:16]}.so"
            out = os.path.join(work, library)
            lazy = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
            self.run([*self.cxx, "-shared", *objects, *lazy, *self.ldflags, "-lm", "-o", out])
            os.replace(out, os.path.join(self.folder, library))
            if same:
                facts = os.path.join(work, "facts")
                with open(facts, "w", encoding="utf-8") as f:
                    json.dump({"key": self.key, "library": library, "files": files}, f)
                os.replace(facts, self.facts)
        return os.path.join(self.folder, library)

    def compile_all(self, work, before):
        """Objects, {path: hash} of what they are made of, and whether all of that is what it was
        before: by the hash then, or, of a header that was not known, by the time of its change."""
        marker = os.path.join(work, "begin")
        with open(marker, "w", encoding="utf-8"):
            os.utime(marker)
        begin = os.stat(marker).st_ctime_ns
        objects = [self.compile(work, i, s) for i, s in enumerate(self.sources)]
        files = {p: _hash(p) for o in objects for p in _dependencies(o[:-1] + "d")}
        same = all(
            h and (before[p] == h if p in before else os.stat(p).st_ctime_ns <= begin)
            for p, h in files.items()
        )
        return objects, files, same

    def compile(self, work, i, source):
        out = os.path.join(work, f"{i}.o")
        flags = [*self.flags, *(f"-I{p}" for p in self.headers)]
        compiler = self.cc
        if _is_cxx(source):
            compiler = self.cxx
            if not any(f.startswith("-std=") for f in flags):
                flags.append("-std=c++20")  # which a row in braces needs
        self.run([*compiler, *flags, "-MMD", "-MF", f"{out[:-1]}d", "-c", source, "-o", out])
        return out

    def run(self, command):
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except OSError as e:
            raise RuntimeError(f"Error building extension '{self.name}': {e}") from e
        if self.verbose:
            print(shlex.join(command) + "\n" + done.stdout, end="", flush=True)
        if done.returncode:
            raise RuntimeError(
                f"Error building extension '{self.name}': {shlex.join(command)}\n"
                f"{done.stdout}(status {done.returncode})"
            )


def _dependencies(path):
    """The files that a compiler's file for make names, but those of the system."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        text = f.read().replace("\\\n", " ").partition(": ")[2]
    names = re.findall(r"(?:\\\s|\S)+", text)
    return [os.path.abspath(_unescaped(p)) for p in names if not p.endswith(":")]  # -MP's rules


def _unescaped(name):
    """A name of a file for make: backslashes are twice before a space alone."""
    name = re.sub(r"(\\*)\\(\s)", lambda m: m[1][: len(m[1]) // 2] + m[2], name)
    return re.sub(r"\\([#:])", r"\1", name).replace("$$", "$")


def _import(name, path, is_python_module):
    if not is_python_module:
        import ctypes

        ctypes.CDLL(path)
        return path
    if not hasattr(_C, "_api"):
        raise RuntimeError(
            f"extension '{name}': this tensorh was built from separate objects, which hands over "
            "no functions; pip install it"
        )
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _check_name(name):
    if not isinstance(name, str) or not (name.isidentifier() and name.isascii()):
        raise ValueError(f"an extension's name is a name of C: not {name!r}")


def load(
    name,
    sources,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    is_standalone=False,
    keep_intermediates=True,
):
    """Compiles sources, a path or several, and imports the module; with is_python_module=False the
    library is loaded alone and its path returned. A RuntimeError has what the compiler said."""
    sources = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    sources = [os.path.abspath(os.fspath(s)) for s in sources]
    _no_cuda(with_cuda or with_sycl or any(s.endswith((".cu", ".cuh", ".sycl")) for s in sources))
    if is_standalone:
        raise RuntimeError("is_standalone: programs are not made here")
    _check_name(name)
    if not sources:
        raise ValueError("load(): there are no sources")
    for s in sources:
        if not os.path.isfile(s):
            raise FileNotFoundError(f"load(): there is no file {s}")
    folder = build_directory or os.path.join(get_default_build_root(), name)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    build = _Build(
        name,
        sources,
        list(extra_cflags or ()),
        list(extra_ldflags or ()),
        [os.path.abspath(os.fspath(p)) for p in extra_include_paths or ()],
        os.path.abspath(folder),
        verbose,
    )
    return _import(name, build.library(), is_python_module)


def load_inline(
    name,
    cpp_sources=(),
    cuda_sources=None,
    sycl_sources=None,
    functions=None,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose=False,
    with_cuda=None,
    with_sycl=None,
    is_python_module=True,
    with_pytorch_error_handling=True,
    keep_intermediates=True,
    use_pch=False,
    no_implicit_headers=False,
    gil_not_used=False,
    *,
    c_sources=(),
):
    """load() of texts, in C++ or C. functions: a name or names of `static tn_row` variables, for
    which the line TN_PYTHON_MODULE is written; "tensorh.h" is included before the text."""
    _check_name(name)
    _no_cuda(cuda_sources or sycl_sources or with_cuda or with_sycl)
    texts = [(".cpp", cpp_sources), (".c", c_sources)]
    texts = [(end, [t] if isinstance(t, str) else list(t)) for end, t in texts]
    texts = [(end, "\n".join(t)) for end, t in texts if t]
    if functions is not None:
        names = [functions] if isinstance(functions, str) else list(functions)
        if len(texts) != 1:
            raise ValueError("load_inline(): functions need sources of one language")
        end, text = texts[0]
        rows = ", ".join("&" + n for n in names)
        texts = [(end, f"{text}\nTN_PYTHON_MODULE({name}, {rows})\n")]
    folder = build_directory or os.path.join(get_default_build_root(), str(name))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    paths = []
    for end, text in texts:
        head = "" if no_implicit_headers else '#include "tensorh.h"\n'
        paths.append(os.path.join(folder, f"{name}_inline{end}"))
        _write(paths[-1], head + text)
    return load(
        name,
        paths,
        extra_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=folder,
        verbose=verbose,
        is_python_module=is_python_module,
    )


def _write(path, text):
    """The file with this text; it is left alone where it has it."""
    data = text.encode()
    try:
        with open(path, "rb") as f:
            if f.read() == data:
                return
    except OSError:
        pass
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".")
    with os.fdopen(fd, "wb") as f:
        f.write(data)
    os.replace(temporary, path)


# --- setup.py -------------------------------------------------------------------------------------


def CppExtension(name, sources, *args, **kwargs):
    """A setuptools.Extension that finds tensorh.h; build_ext must be BuildExtension."""
    from setuptools import Extension

    kwargs["include_dirs"] = [*(kwargs.get("include_dirs") or ()), *include_paths()]
    if any(_is_cxx(os.fspath(s)) for s in sources):
        kwargs.setdefault("language", "c++")
    return Extension(name, sources, *args, **kwargs)


def CUDAExtension(name, sources, *args, **kwargs):
    """Refused."""
    raise RuntimeError(_CUDA)


def _build_extension():
    from setuptools.command.build_ext import build_ext

    class BuildExtension(build_ext):
        """setuptools' build_ext: defines TORCH_EXTENSION_NAME, and C++20 where all is C++."""

        @classmethod
        def with_options(cls, **options):
            """The class with use_ninja and no_python_abi_suffix given."""

            class Configured(cls):
                def __init__(self, *args, **kwargs):
                    super().__init__(*args, **{**kwargs, **options})

            Configured.__name__ = cls.__name__
            return Configured

        def __init__(self, *args, **kwargs):
            self.no_python_abi_suffix = kwargs.pop("no_python_abi_suffix", False)
            kwargs.pop("use_ninja", None)
            super().__init__(*args, **kwargs)

        def build_extension(self, ext):
            flags = ext.extra_compile_args
            if isinstance(flags, dict):
                flags = flags.get("cxx", [])
            flags = [*(flags or ()), f"-DTORCH_EXTENSION_NAME={ext.name.rpartition('.')[2]}"]
            cxx = all(_is_cxx(s) for s in ext.sources)
            if cxx and not any(f.startswith("-std=") for f in flags):
                flags.append("-std=c++20")
            ext.extra_compile_args = flags
            super().build_extension(ext)

        def get_ext_filename(self, ext_name):
            name = super().get_ext_filename(ext_name)
            parts = name.split(".")
            return ".".join([parts[0], parts[-1]]) if self.no_python_abi_suffix else name

    BuildExtension.__module__ = __name__
    return BuildExtension


def __getattr__(name):
    if name == "BuildExtension":
        return globals().setdefault(name, _build_extension())
    from .._missing import error

    raise error("torch.utils.cpp_extension", name)
