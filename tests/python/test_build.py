"""The wheel: small, one for every CPython from 3.11 on, without dependencies; the import: light."""

import base64
import email
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tensorh as th

WHEEL = os.environ.get("TENSORH_WHEEL")
PACKAGE = Path(th.__file__).parent
EXTENSION = Path(th._C.__file__)
of_a_wheel = pytest.mark.skipif(not WHEEL, reason="the lane says where the wheel is")


def child(code, python=sys.executable, **env):
    """What a program of one text prints."""
    done = subprocess.run(
        [python, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@of_a_wheel
def test_the_installed_package_is_what_is_tested():
    assert "site-packages" in PACKAGE.parts
    assert th.__version__ == "2.15.0+tensorh" + importlib.metadata.version("tensorh")


@of_a_wheel
def test_the_wheel_is_small_and_serves_every_later_python():
    assert Path(WHEEL).stat().st_size <= 3 << 20
    assert "-cp311-abi3-" in Path(WHEEL).name
    assert EXTENSION.name == "_C.abi3.so"


@of_a_wheel
def test_the_wheel_holds_what_its_record_says_and_needs_nothing():
    with zipfile.ZipFile(WHEEL) as z:
        names = set(z.namelist())
        record = next(n for n in names if n.endswith("/RECORD"))
        metadata = email.message_from_bytes(z.read(record.replace("RECORD", "METADATA")))
        for line in z.read(record).decode().splitlines():
            name, digest, size = line.rsplit(",", 2)
            names.remove(name)
            if digest:
                data = z.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                assert (digest, int(size)) == ("sha256=" + found.decode(), len(data)), name
        assert not names
        for name in ("py.typed", "_C.pyi", "__init__.pyi", "include/tensor.h"):
            assert f"tensorh/{name}" in z.namelist()
    assert metadata.get_all("Requires-Dist") is None
    assert metadata["Requires-Python"] == ">=3.11"


def test_import_loads_little_and_no_numpy():
    code = "import os, sys; a = set(sys.modules); import tensorh; print(*set(sys.modules) - a)"
    loaded = child(code).split()
    assert "tensorh._C" in loaded
    assert "numpy" not in loaded
    assert len(loaded) <= 12, loaded


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc/self/status")
def test_import_takes_little_memory():
    code = "import tensorh; print(open('/proc/self/status').read())"
    line = next(s for s in child(code).splitlines() if s.startswith("VmRSS"))
    assert int(line.split()[1]) <= 20 << 10, line


@pytest.mark.skipif(not shutil.which("nm"), reason="no nm")
def test_the_extension_exports_nothing_but_its_beginning():
    done = subprocess.run(
        ["nm", "-D", "--defined-only", EXTENSION], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["PyInit__C"]


LATER = """
import tensorh as th, gc, inspect, operator
x = th.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = (x @ x.T + 1)[0, 1:] * 2
assert y.tolist() == [24.0] and y.requires_grad, y
x.me = x
del x, y
gc.collect()
for row in th._C._rows():
    if hasattr(th._C, row["torch"]):
        function = getattr(th._C, row["torch"])
    else: # below torch alone
        function = operator.attrgetter(row["places"].split()[0])(th)
    assert inspect.signature(function) and not th._C._pending()
    try:
        function(object())
    except TypeError as e:
        continue
    raise SystemExit(row["torch"])
assert th.max(th.ones(2, 3), dim=1).indices.tolist() == [0, 0]
print("right")
"""


def interpreter(version):
    """A Python of that version, on the path or pyenv's; None: there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which("python" + version), *pyenv.glob(f"versions/{version}.*/bin/python")]
    for python in filter(None, found):
        probe = [python, "-c", "import sys; print(sys.version)"]
        said = subprocess.run(probe, capture_output=True, text=True, check=False).stdout
        if said.startswith(version):
            return python
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_same_file_serves_other_pythons(version, tmp_path):
    python = interpreter(version) or pytest.skip(f"no python{version}")
    (tmp_path / "tensorh").symlink_to(PACKAGE)
    assert child(LATER, python, PYTHONPATH=str(tmp_path)) == "right\n"
