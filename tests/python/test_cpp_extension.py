"""torch.utils.cpp_extension: operators in C and C++ that are compiled when a program runs."""

import ctypes
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import tensorh as torch
from tensorh.utils import cpp_extension as ext

MYOPS = Path(__file__).resolve().parents[2] / "examples/python/custom_operator/myops.c"
CC = shlex.split(os.environ.get("CC") or "cc")
WANTING = {
    "no C compiler": shutil.which(CC[0]),
    "no Python.h": Path(sysconfig.get_paths()["include"], "Python.h").exists(),
    "a package of separate objects hands over no functions": hasattr(torch._C, "_api"),
}
makes_libraries = pytest.mark.skipif(
    not all(list(WANTING.values())[:2]), reason="no C compiler, or no Python.h"
)
compiled = pytest.mark.skipif(
    not all(WANTING.values()), reason=", ".join(why for why, there in WANTING.items() if not there)
)

ROW = """
static bool NAME_check(tn_frame *f) { return tn_announce_like(f, 0, f->in[0], TN_F64); }
static void NAME_run(tn_frame *f) {
    const double *x = (const double *)tn_data(f->in[0]);
    double *y = (double *)tn_data(f->out[0]);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) y[i] = FACTOR * x[i];
}
static tn_row NAME = {.name = "NAME", .schema = "NAME(Tensor self) -> Tensor",
                      .check = NAME_check, .run = NAME_run};
"""


def row(name, factor=2):
    """The text of an operator that multiplies."""
    return ROW.replace("NAME", name).replace("FACTOR", str(factor))


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A file to which each call of the C compiler adds a line."""
    log, cc = tmp_path / "calls", tmp_path / "cc.sh"
    cc.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nexec {shlex.join(CC)} "$@"\n')
    cc.chmod(0o755)
    log.touch()
    monkeypatch.setenv("CC", str(cc))
    return lambda: len(log.read_text().splitlines())


X = torch.arange(3, dtype=torch.float64)


@compiled
def test_the_example(tmp_path):
    m = ext.load("myops", MYOPS, build_directory=tmp_path, verbose=False)
    x = torch.ones(3, requires_grad=True)
    y = m.smooth_max(x, torch.ones(3))
    y.sum().backward()
    assert x.grad.tolist() == [0.5] * 3 and m.__name__ == "myops"
    assert m.__file__.startswith(str(tmp_path)) and m.__file__.endswith(".so")


@pytest.mark.skipif(hasattr(torch._C, "_api"), reason="the package hands over its functions")
def test_a_package_of_separate_objects_says_so(tmp_path):
    (tmp_path / "a.c").write_text("int a;\n")
    if not all(list(WANTING.values())[:2]):
        pytest.skip("nothing is compiled here")
    with pytest.raises(RuntimeError, match="separate objects"):
        ext.load("a", tmp_path / "a.c", build_directory=tmp_path)


@compiled
def test_it_is_compiled_when_something_has_changed(tmp_path, calls, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "cache"))
    source, header = tmp_path / "with space.c", tmp_path / "own.h"
    text = '#include "tensorh.h"\n#include "own.h"\n' + row("ext_own", "OWN")
    source.write_text(text + "TN_PYTHON_MODULE(TORCH_EXTENSION_NAME, &ext_own)\n")
    header.write_text("#define OWN 3\n")

    def path(**more):
        return ext.load("ext_own", str(source), is_python_module=False, **more)

    first = path()
    assert calls() == 2 and Path(first).parent == tmp_path / "cache" / "ext_own"
    assert path() == first and calls() == 2
    m = ext.load("ext_own", [str(source)])
    assert m.ext_own(X).tolist() == [0, 3, 6] and calls() == 2
    header.write_text("#define OWN 4\n")
    second = path()
    assert second != first and calls() == 4
    with pytest.raises(ImportError, match="ext_own"):  # the row's name is taken
        ext.load("ext_own", source)
    header.write_text("#define OWN 3\n")
    assert path() == first and calls() == 6  # one compilation is remembered
    assert path(extra_cflags=["-DOTHER"]) != first and calls() == 8
    left = {p.suffix for p in (tmp_path / "cache/ext_own").iterdir()}
    assert left == {".so", ".json"}


@compiled
def test_errors_have_what_the_compiler_said(tmp_path, capfd):
    source = tmp_path / "wrong.c"
    source.write_text('#include "tensorh.h"\nint f(void) { return no_such_thing; }\n')
    with pytest.raises(RuntimeError, match="(?s)'wrong'.*wrong.c:2.*no_such_thing") as e:
        ext.load("wrong", source, build_directory=tmp_path / "b")
    assert " -c " in str(e.value) and not list((tmp_path / "b").iterdir())
    assert capfd.readouterr() == ("", "")
    source.write_text("int f(void) { return 1; }\n")
    with pytest.raises(RuntimeError, match="no-such-library"):
        ext.load("wrong", source, build_directory=tmp_path, extra_ldflags=["-lno-such-library"])
    with pytest.raises(ImportError, match="PyInit_wrong"):
        ext.load("wrong", source, build_directory=tmp_path, verbose=True)
    assert "-shared" in capfd.readouterr().out
    with pytest.raises(FileNotFoundError, match="nothing.c"):
        ext.load("wrong", tmp_path / "nothing.c")
    for name in ("a-b", "", "a.b", "1a", "\u00e9"):
        with pytest.raises(ValueError, match="name"):
            ext.load(name, source)
    with pytest.raises(ValueError, match="no sources"):
        ext.load("wrong", [])
    for more in ({"with_cuda": True}, {"is_standalone": True}):
        with pytest.raises(RuntimeError):
            ext.load("wrong", source, **more)
    with pytest.raises(RuntimeError, match="CUDA"):
        ext.load("wrong", [source, "kernel.cu"])


def test_without_a_compiler(tmp_path, monkeypatch):
    (tmp_path / "a.c").write_text("int a;\n")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        pytest.skip("no Python.h")
    with pytest.raises(RuntimeError, match="no compiler"):
        ext.load("a", tmp_path / "a.c", build_directory=tmp_path)
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no-such-compiler"):
        ext.load("a", tmp_path / "a.c", build_directory=tmp_path)


@compiled
def test_a_library_that_is_no_module(tmp_path):
    (tmp_path / "a.c").write_text('#include "b.h"\nint twice(int x) { return B(x) * 2; }\n')
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers/b.h").write_text("#define B(x) ((x) + ONE)\n")
    path = ext.load(
        "a", [tmp_path / "a.c"], extra_cflags=["-DONE=1"], is_python_module=False,
        extra_include_paths=[tmp_path / "headers"], build_directory=tmp_path,
    )  # fmt: skip
    assert ctypes.CDLL(path).twice(4) == 10


@compiled
def test_a_cache_that_is_damaged(tmp_path, calls):
    source = tmp_path / "a.c"
    source.write_text("int a;\n")

    def load():
        return ext.load("a", source, is_python_module=False, build_directory=tmp_path / "b")

    first, facts = load(), tmp_path / "b/a.json"
    whole = facts.read_bytes()
    for i, wrong in enumerate((b"", b"[]", b"{", b"\xff\xfe", b'{"library": 3}', whole[:50])):
        facts.write_bytes(wrong)
        assert load() == first and calls() == 4 + 2 * i
        assert json.loads(facts.read_bytes()) == json.loads(whole)
    os.unlink(first)
    assert load() == first and os.path.exists(first)


@makes_libraries
@pytest.mark.parametrize("changed", ["a.c", "own.h"])
def test_files_that_change_while_the_compiler_runs(tmp_path, monkeypatch, changed):
    """What is imported later is made of what the files have then."""
    log, cc = tmp_path / "calls", tmp_path / "cc.sh"
    source = tmp_path / "a.c"
    text = '#include "own.h"\nint value(void) { return 1 + OWN; }\n'
    source.write_text(text)
    (tmp_path / "own.h").write_text("#define OWN 10\n")
    new = {"a.c": text.replace("1 +", "2 +"), "own.h": "#define OWN 11\n"}[changed]
    (tmp_path / "new").write_text(new)
    cc.write_text(f"""#!/bin/sh
echo x >> "{log}"
{shlex.join(CC)} "$@" || exit
[ -e "{tmp_path}/new" ] && sleep 0.1 && mv "{tmp_path}/new" "{tmp_path}/{changed}"
exit 0
""")
    cc.chmod(0o755)
    monkeypatch.setenv("CC", str(cc))

    def load():
        path = ext.load("a", source, is_python_module=False, build_directory=tmp_path / "b")
        return ctypes.CDLL(path).value()

    assert load() == 12 and len(log.read_text().split()) == 3
    assert load() == 12 and len(log.read_text().split()) == 3


@makes_libraries
def test_files_that_never_rest_are_not_recorded(tmp_path, monkeypatch):
    source, cc = tmp_path / "a.c", tmp_path / "cc.sh"
    source.write_text("int a;\n")
    cc.write_text(f'#!/bin/sh\n{shlex.join(CC)} "$@"\necho "// more" >> "{source}"\n')
    cc.chmod(0o755)
    monkeypatch.setenv("CC", str(cc))
    path = ext.load("a", source, is_python_module=False, build_directory=tmp_path / "b")
    assert os.path.exists(path) and not (tmp_path / "b/a.json").exists()


@makes_libraries
def test_names_of_files_that_make_escapes(tmp_path, calls):
    folder = tmp_path / "a #b $c"
    folder.mkdir()
    source, header = folder / "a.c", folder / "o w#n$.h"
    source.write_text('#include "o w#n$.h"\nint value(void) { return OWN; }\n')
    header.write_text("#define OWN 1\n")

    def load(**more):
        path = ext.load(
            "a", source, is_python_module=False, build_directory=tmp_path / "b", **more
        )  # fmt: skip
        return ctypes.CDLL(path).value()

    assert load() == 1 and load() == 1 and calls() == 2
    header.write_text("#define OWN 2\n")
    assert load() == 2 and calls() == 4
    assert load(extra_cflags=["-MP"]) == 2 and calls() == 6
    assert load(extra_cflags=["-MP"]) == 2 and calls() == 6
    facts = json.loads((tmp_path / "b/a.json").read_text())
    assert set(facts["files"]) == {str(source), str(header)}
    facts["files"][str(tmp_path / "none")] = None
    (tmp_path / "b/a.json").write_text(json.dumps(facts))
    assert load(extra_cflags=["-MP"]) == 2 and calls() == 8


def test_a_name_is_looked_at_before_anything_is_written(tmp_path):
    for name in ("../../x", "../x", "a-b", "", 3):
        with pytest.raises(ValueError, match="name"):
            ext.load_inline(name, c_sources="int a;", build_directory=tmp_path / "b" / "c")
    assert not list(tmp_path.iterdir())


@compiled
def test_texts(tmp_path, calls):
    def load(functions=("ext_inline",), **more):
        return ext.load_inline("ext_inline", functions=functions, build_directory=tmp_path, **more)

    m = load(c_sources=row("ext_inline", 5))
    assert m.ext_inline(X).tolist() == [0, 5, 10] and calls() == 2
    assert load("ext_inline", c_sources=[row("ext_inline", 5)]).ext_inline(X)[1] == 5
    assert calls() == 2
    with pytest.raises(ValueError, match="one language"):
        load(c_sources="a", cpp_sources="b")
    with pytest.raises(RuntimeError, match="CUDA"):
        ext.load_inline("x", "", "cuda")
    text = row("ext_whole", 7) + "TN_PYTHON_MODULE(TORCH_EXTENSION_NAME, &ext_whole)"
    whole = ext.load_inline("ext_w", c_sources=text, build_directory=str(tmp_path / "w"))
    assert whole.ext_whole(X).tolist() == [0, 7, 14]


@compiled
def test_cpp(tmp_path):
    try:
        cxx = shlex.split(ext.get_cxx_compiler())
    except RuntimeError as e:
        pytest.skip(str(e))
    twenty = tmp_path / "twenty.cpp"
    twenty.write_text("int main() { struct { int a; } x = {.a = 1}; (void)x; }\n")
    done = subprocess.run([*cxx, "-std=c++20", "-fsyntax-only", twenty], check=False)
    if done.returncode:
        pytest.skip("no compiler of C++20")
    text = "#include <vector>\nstatic std::vector<double> factors = {9.0};\n"
    m = ext.load_inline(
        "ext_cpp", text + row("ext_cpp", "factors[0]"), functions={"ext_cpp": "multiplies"},
        build_directory=tmp_path, extra_cflags=["-Wall", "-Werror"],
    )  # fmt: skip
    assert m.ext_cpp(X).tolist() == [0, 9, 18]


@compiled
def test_several_processes_at_once(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys, tensorh as torch\nfrom tensorh.utils.cpp_extension import load\n"
        f"m = load('myops', {str(MYOPS)!r}, build_directory={str(tmp_path)!r})\n"
        "print(m.smooth_max(torch.zeros(1), torch.full((1,), -100.0)).item())\n"
    )
    command = [sys.executable, tmp_path / "program.py"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = f"{torch.full((), -100.0).exp().item()}\n"
    assert [p.communicate(timeout=300)[0] for p in running] == [said] * 3
    assert not list(tmp_path.glob(".build*"))


SETUP = """
from setuptools import setup
from tensorh.utils.cpp_extension import BuildExtension, CppExtension
setup(name="myops", version="1", ext_modules=[CppExtension("ext_pack.myops", ["myops.c"])],
      packages=["ext_pack"],
      cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)})
"""


@compiled
def test_setup(tmp_path):
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    text = MYOPS.read_text().replace("MODULE(myops", "MODULE(TORCH_EXTENSION_NAME")
    (tmp_path / "myops.c").write_text(text)
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "ext_pack").mkdir()
    (tmp_path / "ext_pack/__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "ext_pack/myops.so").exists()
    program = "import tensorh as t, ext_pack.myops as m; print(m.smooth_max(t.ones(1), t.ones(1)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "tensor([1.6931])\n"


def test_what_there_is(monkeypatch, tmp_path):
    paths = ext.include_paths()
    assert any(os.path.exists(os.path.join(p, "tensorh.h")) for p in paths)
    if hasattr(torch._C, "_api"):
        assert any(os.path.exists(os.path.join(p, "tensor.h")) for p in paths)
    assert ext.include_paths(torch_include_dirs=False) == [] == ext.library_paths()
    assert not ext.is_ninja_available() and ext.CUDA_HOME is None and ext.ROCM_HOME is None
    with pytest.raises(RuntimeError):
        ext.verify_ninja_availability()
    for call in (lambda: ext.include_paths("cuda"), lambda: ext.CUDAExtension("a", ["a.cu"])):
        with pytest.raises(RuntimeError, match="CUDA"):
            call()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    assert ext.get_default_build_root() == str(tmp_path)
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ext.get_default_build_root() == str(tmp_path / "tensorh_extensions")
    with pytest.raises(AttributeError, match="no_such"):
        ext.no_such  # noqa: B018
