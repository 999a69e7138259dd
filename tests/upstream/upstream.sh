#!/bin/sh
# make test-upstream: PyTorch's own test files, with torch and with this checkout's package; upstream.py says how they are counted.
# TORCH_PYTHON has torch, NumPy, pytest and expecttest (default: PYTHON); TORCH_SOURCE is a tree of PyTorch's sources, 1.13.1 as Debian's
# `apt-get source pytorch` has it. Arguments go to upstream.py.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
python=${TORCH_PYTHON:-${PYTHON:-python3}}
"$python" -c 'import expecttest, numpy, pytest, torch' || { echo "TORCH_PYTHON= names a Python that has torch, NumPy, pytest and expecttest"; exit 1; }
[ -d "${TORCH_SOURCE:-}/test" ] || { echo "TORCH_SOURCE= names a tree of PyTorch's sources"; exit 1; }
make -s python CC="${CC:-cc}" BUILD="$BUILD" PYTHON="$python" || exit 1
export BUILD PYTHONPATH=".:tests/upstream" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
exec "$python" tests/upstream/upstream.py "$TORCH_SOURCE" "$@"
