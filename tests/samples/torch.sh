#!/bin/sh
# make test-torch-samples: torch's own samples over every operator, in torch and in this checkout's package at once.
# samples.py says what the columns are. TORCH_PYTHON has torch and NumPy (default: PYTHON); what torch's tests need
# beside it, expecttest, is installed in $BUILD/samples. Arguments go to samples.py; unless they say otherwise, HEAD
# draws 6 samples of each operator and dtype. Fails if one differs that known.txt does not list.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
python=${TORCH_PYTHON:-${PYTHON:-python3}}
site=$BUILD/samples
"$python" -c 'import numpy, torch' || { echo "TORCH_PYTHON= names a Python that has torch and NumPy"; exit 1; }
[ -d "$site/expecttest" ] || "$python" -c 'import expecttest' 2> /dev/null ||
    "$python" -m pip install -q --no-deps --target "$site" expecttest || exit 1
make -s python CC="${CC:-cc}" BUILD="$BUILD" PYTHON="$python" || exit 1
seed=$(git rev-parse --short=6 HEAD 2> /dev/null || echo 0)
export PYTHONPATH=".:tests/samples:$site" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
exec "$python" tests/samples/samples.py --seed $((0x$seed)) "$@"
