#!/bin/sh
# make test-python-torch: beside torch itself. The programs of examples/python under both packages, by the import line alone, with the
# largest relative difference of their losses; then the tests that compare with torch, which tests/python/run.sh skips.
# Installs PyPI's torch (about 5 GB with its CUDA libraries) into $BUILD/venv-torch; TORCH_PYTHON=python that has torch and NumPy:
# uses that one. Further arguments are pytest's.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
mkdir -p "$BUILD/python/empty" && build=$(cd "$BUILD" && pwd) || exit 1
. tests/python/wheel.sh
unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
python=${TORCH_PYTHON:-}
if [ -z "$python" ]; then
    python=$build/venv-torch/bin/python
    [ -x "$python" ] || "${PYTHON:-python3}" -m venv "$build/venv-torch" || exit 1
    "$python" -c 'import torch' 2> /dev/null || "$python" -m pip install torch numpy || exit 1
fi
"$python" -c 'import sys, numpy, torch; print("torch", torch.__version__, "Python", sys.version.split()[0])' || exit 1

# pytest, hypothesis and the package stand beside it, in a folder of their own.
site=$build/torch-site
[ -d "$site/pytest" ] || "$python" -m pip install -q --target "$site" pytest hypothesis || exit 1
wheel "$python" || { tail -40 "$build/python/build.txt"; exit 1; }
rm -rf "$site"/tensorh*
"$python" -m pip install -q --no-index --no-deps --target "$site" "$TENSORH_WHEEL" || exit 1

root=$PWD
cd "$build/python/empty" || exit 1
export PYTHONPATH="$site"
bad=0
"$python" "$root/examples/python/traces.py" || { echo "FAILED: losses outside of their bounds"; bad=1; }
files=$(grep -l 'importorskip("torch")' "$root"/tests/python/test_*.py)
"$python" -m pytest -q -p no:cacheprovider --tb=short -rs --disable-warnings $files "$@" || bad=1
exit $bad
