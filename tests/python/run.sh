#!/bin/sh
# The Python package as a user gets it: a wheel of it, without the network, in a venv of its own ($BUILD/venv), where pytest,
# hypothesis, NumPy and ruff are installed once, and the packages to stand beside where pip finds them; then tests/python against the
# installed package, ruff, the stubs.
# TN_FULL=1: also rows, errors and 100,000 random calls under ASan and UBSan. PYTHON: 3.11 or later with venv and Python.h.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
BUILD=${BUILD:-build}
mkdir -p "$BUILD/python" && build=$(cd "$BUILD" && pwd) || exit 1
out=$build/python
. tests/shared.sh
. tests/python/wheel.sh
passed=0 failed=0
unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
skip() {
    echo "skipped: $1"
    echo "0 passed, 0 failed"
    exit 0
}
check() { # WHAT COMMAND...: counted; what it printed is shown when it fails
    what=$1
    shift
    if "$@" > "$out/check.txt" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        head -40 "$out/check.txt"
    fi
}

# --- an interpreter, and what the tests need --------------------------------------------------------
find_python() {
    for python in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.14; do
        "$python" -c 'import sys, ensurepip, os, sysconfig, venv
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2> /dev/null && return
    done
    return 1
}
find_python || skip "no Python of 3.11 or later with venv, ensurepip and Python.h"
venv=$build/venv
stamp=$({ "$python" -c 'import sys; print(sys.version, sys.prefix)'; cat tests/python/requirements*.txt; } | cksum)
if [ "$(cat "$venv/stamp" 2> /dev/null)" != "$stamp" ]; then
    rm -rf "$venv"
    "$python" -m venv "$venv" > "$out/venv.txt" 2>&1 || skip "no venv: $(tail -1 "$out/venv.txt")"
    "$venv/bin/pip" install -q -r tests/python/requirements.txt > "$out/pip.txt" 2>&1 ||
        skip "pip could not install pytest, hypothesis, NumPy and ruff: $(tail -1 "$out/pip.txt")"
    "$venv/bin/pip" install -q -r tests/python/requirements-interop.txt > "$out/interop.txt" 2>&1 ||
        echo "note: without packages to stand beside: $(tail -1 "$out/interop.txt")"
    echo "$stamp" > "$venv/stamp"
fi
python=$venv/bin/python

# --- the package --------------------------------------------------------------------------------
wheel "$python" || { tail -40 "$out/build.txt"; echo "0 passed, 1 failed"; exit 1; }
if [ "$(cat "$venv/wheel.stamp" 2> /dev/null)" != "$wheel_stamp" ]; then
    "$python" -m pip install -q --no-index --no-deps --force-reinstall "$TENSORH_WHEEL" > "$out/install.txt" 2>&1 ||
        { tail -40 "$out/install.txt"; echo "0 passed, 1 failed"; exit 1; }
    echo "$wheel_stamp" > "$venv/wheel.stamp"
fi

# --- tests ----------------------------------------------------------------------------------------
number() { # WORD: how many the sum has of it
    echo " $sum" | sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p" | grep . || echo 0
}
tests() { # NAME ARGUMENTS...: pytest, away from the checkout's own tensorh; its sum is added
    name=$1
    shift
    mkdir -p "$out/empty"
    (cd "$out/empty" && "$@") > "$out/$name.txt" 2>&1
    rc=$?
    sum=$(grep -E '^=*.*(passed|failed|error).* in [0-9.]+s' "$out/$name.txt" | tail -1)
    good=$(number passed) bad=$(($(number failed) + $(number error)))
    [ $rc = 0 ] || [ "$bad" -gt 0 ] || bad=1 # it did not come to its end
    passed=$((passed + good)) failed=$((failed + bad))
    sed -n 's/^SKIPPED \[\([0-9]*\)\] [^ ]*: /\1 /p' "$out/$name.txt" | awk '{ n = $1; $1 = ""; count[$0] += n }
        END { for (why in count) print "skipped, " count[why] ":" why }'
    [ "$bad" = 0 ] || grep -E '^(FAILED|ERROR|E  |SUMMARY)|Error|==ERROR' "$out/$name.txt" | head -60
    echo "$name: ${sum:-ended with status $rc}"
    [ -n "$sum" ] || tail -20 "$out/$name.txt"
}
pytest="$python -m pytest -q -p no:cacheprovider --tb=short -rsfE"
tests pytest $pytest "$root/tests/python"

echo "wheel: $(wc -c < "$TENSORH_WHEEL" | awk '{ printf "%.2f MB", $1 / 1e6 }')" # test_build.py says how much it may be
"$python" bench/import.py --rounds 3 tensorh | grep .

folders="tensorh tools/python tests/python"
[ ! -d examples/python ] || folders="$folders examples/python"
check "ruff" "$venv/bin/ruff" check --no-cache -q $folders
files=$(find $folders -name '*.py')
check "no file of more than 800 lines" awk 'FNR > 800 { print FILENAME; exit 1 }' $files
check "the stubs are current (make stubs)" "$python" tools/python/stubs.py --check tensorh
for stub in $(find tensorh -name "*.pyi"); do
    check "$stub is Python" "$python" -m ast "$stub"
done

# --- the same under ASan and UBSan ----------------------------------------------------------------
sanitize="-fsanitize=address,undefined,float-cast-overflow"
libraries() { # what the interpreter has to load first
    for library in libasan.so libubsan.so; do
        at=$(${CC:-cc} -print-file-name=$library)
        [ "$at" = $library ] || printf '%s ' "$at"
    done
}
if [ -n "${TN_FULL:-}" ] && [ -n "$(libraries)" ]; then
    folder=$build/sanitized-pic
    flags="-O1 -g -fno-omit-frame-pointer -fPIC -fvisibility=hidden $sanitize -fno-sanitize-recover=all"
    mkdir -p "$folder/package/tensorh" && cp -R tensorh/. "$folder/package/tensorh"
    locked sanitized-pic make -s -j"$jobs" objects BUILD="$folder" CFLAGS="$flags" &&
        make -s -j"$jobs" python-extension BUILD="$folder" CFLAGS="$flags" PYTHON="$python" \
            PY_OUT="$folder/package/tensorh/_C.abi3.so" || failed=$((failed + 1))
    under="env LD_PRELOAD=$(libraries | sed 's/ $//; s/ /:/g') PYTHONMALLOC=malloc PYTHONPATH=$folder/package UBSAN_OPTIONS=print_stacktrace=1"
    asan=ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=1
    # test_memory_is_flat counts the pages of the allocator that ASan replaces
    tests sanitized $under $asan:max_allocation_size_mb=4096 $pytest -p no:faulthandler "$root/tests/python" \
        --ignore="$root/tests/python/test_memory.py" --ignore="$root/tests/python/test_build.py" \
        --ignore="$root/tests/python/test_interop.py" --ignore="$root/tests/python/test_killed.py" -k "not test_memory_is_flat"
    for seed in 1 2 3 4 5; do
        check "20,000 random calls under ASan and UBSan, seed $seed" $under $asan:max_allocation_size_mb=512 TENSORH_TEST_ALLOCATOR=1 \
            "$python" tests/python/fuzz.py --calls 20000 --seed $seed
        tail -1 "$out/check.txt"
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
