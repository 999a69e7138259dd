"""torch.cuda: what a program sees without the module of CUDA's devices, and, in a process of their
own (cuda_programs.py), programs with the module in emulation (tests/cuda_host)."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cuda_programs import PROGRAMS, PROGRAMS_OF_THE_EMULATION, PROGRAMS_OF_TWO

import tensorh as torch

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """#define TN_IMPORT
#include "tensor.h"
#define TENSOR_CUDA_IMPLEMENTATION
#include "tensor_cuda.cu.h"
"""


@pytest.fixture(scope="session")
def module():
    """The path of the emulated module, which is compiled when what it is made of is newer."""
    if not shutil.which("g++"):
        pytest.skip("no g++ for the emulation of CUDA")
    probe = "from tensorh import _C; print(_C._cuda_load('/'))"
    if "make python" in run(["-c", probe]):
        pytest.skip("an extension of separate objects loads no modules")
    folder = ROOT / "build" / "python"
    made = folder / "emulated" / "libtensor_cuda.so"
    sources = [ROOT / "tensor.h", ROOT / "tensor_cuda.cu.h"]
    sources += (ROOT / "tests/cuda_host").glob("*.h")
    if not made.exists() or made.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        made.parent.mkdir(parents=True, exist_ok=True)
        (folder / "emulated.cu").write_text(SOURCE)
        flags = "-x c++ -std=c++17 -O0 -ffp-contract=off -shared -fPIC -fvisibility=hidden".split()
        flags += ["-I", ROOT, "-I", ROOT / "tests/cuda_host", '-DTNC_EMULATION="emulation.h"']
        new = made.with_suffix(f".{os.getpid()}")
        subprocess.run(["g++", *flags, folder / "emulated.cu", "-o", new], check=True)
        new.rename(made)
    return made


def run(arguments, **environment):
    """What Python prints; its failure is the test's."""
    usual = {k: v for k, v in os.environ.items() if k != "TENSORH_CUDA_LIBRARY"}
    done = subprocess.run(
        [sys.executable, *arguments], env=usual | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


ALL = PROGRAMS + PROGRAMS_OF_TWO + PROGRAMS_OF_THE_EMULATION


@pytest.mark.parametrize("program", [p.__name__ for p in ALL])
def test_with_devices(module, program):
    run([ROOT / "tests/python/cuda_programs.py", program], TENSORH_CUDA_LIBRARY=str(module),
        EMU_DEVICES="2")  # fmt: skip


@pytest.mark.parametrize("order", ["0", "1", "9"])
def test_streams_go_on_in_any_order(module, order):
    for program in ("events", "streams_and_gradients", "graphs", "graphed_callables",
                    "copies_between", "messages"):  # fmt: skip
        run([ROOT / "tests/python/cuda_programs.py", program], TENSORH_CUDA_LIBRARY=str(module),
            EMU_DEVICES="2", EMU_LAZY="1", EMU_ORDER=order)  # fmt: skip


ASK = """
import tensorh as torch
print(torch.cuda.is_available())
try:
    torch.ones(1, device="cuda")
except RuntimeError as e:
    print(e)
"""


def test_the_module_of_its_wheel_is_found(module, tmp_path):
    nvcc = tmp_path / "nvcc"  # whose product is the emulated module
    nvcc.write_text(f'#!/bin/sh\nfor to; do :; done\ncp "{module}" "$to"\n')
    nvcc.chmod(0o755)
    project = ROOT / "packaging" / "tensorh_cuda"
    build = f"import backend; print(backend.build_wheel({str(tmp_path)!r}))"
    name = run(["-c", build], PYTHONPATH=str(project), NVCC=str(nvcc))
    version = torch.__version__.partition("+tensorh")[2]
    assert name.startswith(f"tensorh_cuda-{version}-py3-none-")
    with zipfile.ZipFile(tmp_path / name.splitlines()[-1]) as wheel:
        wheel.extractall(tmp_path)
        metadata = wheel.read(f"tensorh_cuda-{version}.dist-info/METADATA").decode()
    assert f"Requires-Dist: tensorh=={version}\n" in metadata
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    assert run(["-c", ASK], PYTHONPATH=path) == "True"
    no = run(["-c", ASK], PYTHONPATH=path, TENSORH_CUDA_LIBRARY=str(tmp_path / "none.so"))
    assert no.startswith("False\nthere is no device 'cuda' here: ")
    assert f"{tmp_path}/none.so: cannot open" in no
    no = run(["-c", ASK], PYTHONPATH=path, EMU_DEVICES="0")
    assert no == "False\nthere is no device 'cuda' here: no CUDA-capable device is detected"


def test_a_module_of_another_version_says_so(module, tmp_path):
    other = tmp_path / "other.so"
    source = tmp_path / "other.c"
    source.write_text(
        "#include <stdio.h>\nconst void *tn_backend_of_module(const void *e, char *why, size_t n) "
        '{ (void)e; snprintf(why, n, "%s", "it is another"); return NULL; }\n'
    )
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", source, "-o", other], check=True)
    said = run(["-c", ASK], TENSORH_CUDA_LIBRARY=str(other))
    assert said == "False\nthere is no device 'cuda' here: it is another"
    source.write_text("int nothing;\n")
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", source, "-o", other], check=True)
    assert "undefined symbol: tn_backend_of_module" in run(
        ["-c", ASK], TENSORH_CUDA_LIBRARY=str(other)
    )


# --- without the module ---------------------------------------------------------------------------


@pytest.fixture
def none(monkeypatch):
    monkeypatch.delenv("TENSORH_CUDA_LIBRARY", raising=False)
    if torch.cuda.is_available():
        pytest.skip("there is a device here")


NO_DEVICE = "there is no device 'cuda' here: there is no .*tensor_cuda.* TENSORH_CUDA_LIBRARY"


def test_a_device_that_is_not_there_can_be_named(none):
    cuda = torch.device("cuda")
    assert repr(cuda) == "device(type='cuda')" and (cuda.type, cuda.index) == ("cuda", None)
    assert repr(torch.device("cuda", 1)) == "device(type='cuda', index=1)"
    assert torch.device("cuda:0") == torch.device(0) != cuda == torch.device("cuda")
    for name in ("cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:1234567"):
        with pytest.raises(RuntimeError, match="Invalid device string: 'cuda:"):
            torch.device(name)
    with pytest.raises(RuntimeError, match="Device index must not be negative"):
        torch.device(-1)
    assert torch.get_default_device() == torch.device("cpu")


@pytest.mark.parametrize("use", [
    lambda: torch.ones(1, device="cuda"), lambda: torch.tensor([1.0], device="cuda:1"),
    lambda: torch.ones(1).cuda(), lambda: torch.ones(1).to(0), lambda: torch.ones(1).to("cuda"),
    lambda: torch.nn.Linear(2, 2).cuda(), lambda: torch.nn.Linear(2, 2, device="cuda"),
    lambda: torch.Generator("cuda"), lambda: torch.set_default_device("cuda"),
    torch.device("cuda").__enter__, torch.cuda.init, torch.cuda.current_device,
    torch.cuda.synchronize, torch.cuda.get_device_name, torch.cuda.mem_get_info,
    torch.cuda.reset_peak_memory_stats, lambda: torch.cuda.set_device(0),
])  # fmt: skip
def test_its_use_says_why_it_is_not_there(none, use):
    with pytest.raises(RuntimeError, match=NO_DEVICE):
        use()
    assert torch.get_default_device() == torch.device("cpu") and torch._C._pending() is None


def test_asking_is_no_error(none):
    cuda = torch.cuda
    assert not cuda.is_available() and not cuda.is_initialized() and cuda.device_count() == 0
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == 0
    cuda.empty_cache()
    before = torch.initial_seed()
    cuda.manual_seed(7), cuda.manual_seed_all(7)
    assert torch.initial_seed() == before
    with cuda.device(0):
        assert torch.ones(1).is_cpu
    assert torch.version.cuda is None and not torch.backends.cuda.is_built()
    assert cuda.OutOfMemoryError is torch.OutOfMemoryError
    with pytest.raises(AttributeError, match="within the module of CUDA"):
        cuda.cudart  # noqa: B018
