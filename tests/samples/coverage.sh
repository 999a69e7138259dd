#!/bin/sh
# make coverage: surface.py over this checkout's package; TORCH_PYTHON has torch, whose names are asked then.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
python=${TORCH_PYTHON:-${PYTHON:-python3}}
make -s python CC="${CC:-cc}" BUILD="$BUILD" PYTHON="$python" || exit 1
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 exec "$python" tests/samples/surface.py "$@"
