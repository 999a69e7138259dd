#!/bin/sh
# make test-python-torch: the tests that compare with torch itself, which tests/python/run.sh leaves out. Installs PyPI's torch
# (about 5 GB with its CUDA libraries) into $BUILD/venv-torch; TORCH_PYTHON=python that has torch and NumPy: uses that one.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
mkdir -p "$BUILD/python" && build=$(cd "$BUILD" && pwd) || exit 1
unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
python=${TORCH_PYTHON:-}
if [ -z "$python" ]; then
    python=$build/venv-torch/bin/python
    [ -x "$python" ] || "${PYTHON:-python3}" -m venv "$build/venv-torch" || exit 1
    "$python" -c 'import torch' 2> /dev/null || "$python" -m pip install torch numpy || exit 1
fi
"$python" -c 'import sys, torch; print("torch", torch.__version__, "Python", sys.version.split()[0])' || exit 1

# pytest, hypothesis and the package stand beside it, in a folder of their own.
site=$build/torch-site
[ -d "$site/pytest" ] || "$python" -m pip install -q --target "$site" pytest hypothesis || exit 1
rm -rf "$site"/tensorh*
env -u CFLAGS "$python" -m pip install -q --no-index --no-deps --target "$site" . || exit 1

mkdir -p "$build/python/empty"
tests=$PWD/tests/python
cd "$build/python/empty" || exit 1
PYTHONPATH=$site exec "$python" -m pytest -q -p no:cacheprovider --tb=short -rs "$tests" --ignore="$tests/test_rows.py" \
    --ignore="$tests/test_memory.py" --ignore="$tests/test_build.py" "$@"
