#!/bin/sh
# The stranger test: patches that add an operator each are applied to a scratch copy of the sources. Prints what they
# touch (pointwise: one file; the others at most three), builds, and checks that the new operators are there in C, C++, by
# name, on meta, in place, with out=, with gradients and right values, in Python, in the reference and in the walk over all
# rows, and that nothing but generated files has changed beside the patches. Their names are none of torch's, so that a real
# row never has one of them.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
mkdir -p "$BUILD/stranger"
out=$(cd "$BUILD/stranger" && pwd)
copy=$out/copy
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
flags="-O0 -g" # nothing here runs long
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
passed=0 failed=0
names="stranger_logaddexp stranger_count_nonzero stranger_std_mean"
rm -rf "$copy" && mkdir -p "$copy" || exit 1
cp -R src tools tests docs examples bench tensorh Makefile "$copy"
cp -R "$copy/src" "$out/before.$$" && rm -rf "$out/before" && mv "$out/before.$$" "$out/before"

ok() { # what, command...
    what=$1
    shift
    if "$@" > "$out/step" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $what"
        tail -20 "$out/step" | sed 's/^/  /'
    fi
}
sum_of() { # log, status
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || tail -30 "$1" | sed 's/^/  /'
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
apply() {
    if command -v patch > /dev/null; then
        patch -s -p1 -d "$copy" < "$1" && find "$copy/src" -name '*.orig' -exec rm -f {} +
    else (cd "$copy" && git apply -p1 --unsafe-paths --directory=. "$1"); fi
}

here=$(pwd)
for name in $names; do
    patch=$here/tests/stranger/$name.patch
    files=$(grep -c '^+++ ' "$patch")
    added=$(grep -c '^+[^+]' "$patch") empty=$(grep -c '^+$' "$patch") removed=$(grep -c '^-[^-]' "$patch")
    echo "$name: $files file, $((added + empty)) lines added, $removed removed: $(sed -n 's/^+++ b\///p' "$patch" | tr '\n' ' ')"
    most=3
    [ $name != stranger_logaddexp ] || most=1
    ok "$name touches more than $most files" [ "$files" -le $most ]
    ok "$name does not apply" apply "$patch"
done

ok "make headers" make -s -C "$copy" headers BUILD="$out/build"
# What differs from the sources but for the patched files is written by the generator.
differ() {
    sed -n 's|^+++ b/src/||p' tests/stranger/*.patch > "$out/patched"
    ! diff -rqN "$out/before" "$copy/src" | sed "s|^Files $out/before/\(.*\) and .* differ\$|\1|" |
        grep -vxF -f "$out/patched" | grep -v -e '^gen/' -e '^api/ops\.h$' -e '^api/ops/' -e '^api/modules\.h$'
}
ok "files that no patch names have changed" differ
for name in $names; do
    ok "the reference does not know $name" grep -q "$name" "$copy/docs/reference.md"
done

printf '#define TENSOR_IMPLEMENTATION\n#include "tensor.h"\n' > "$out/library.c"
rm -f "$out/c" "$out/cxx" "$out/walk"
if ${CC:-cc} -std=c99 $flags -I"$copy" -c "$out/library.c" -o "$out/library.o"; then
    ${CC:-cc} -std=gnu99 $flags $warnings -I"$copy" tests/stranger/stranger.c "$out/library.o" -o "$out/c" -lm -pthread
    "$out/c" > "$out/c.log" 2>&1
    sum_of "$out/c.log" $?
    if command -v "${CXX:-c++}" > /dev/null; then
        "${CXX:-c++}" -std=c++11 $flags $warnings -I"$copy" -x c++ tests/stranger/stranger.c -x none "$out/library.o" -o "$out/cxx" \
            -lm -pthread
        "$out/cxx" > "$out/cxx.log" 2>&1
        sum_of "$out/cxx.log" $?
    else
        echo "no C++ compiler: left out"
    fi
else
    failed=$((failed + 1))
fi

# The walk over all rows finds them by itself: forms, meta, replay, layouts, gradients, failing allocations.
make -s -j"$jobs" -C "$copy" objects BUILD="$out/build" CFLAGS="$flags -fPIC -fvisibility=hidden" > "$out/make.log" 2>&1 || tail "$out/make.log"
if (cd "$copy" && ${CC:-cc} -std=gnu99 $flags -DTNI_OBJECTS tests/ops/walk.c tests/ops/sample.c "$out/build/libtensor.a" -o "$out/walk" \
    -lm -pthread); then
    for name in $names; do
        "$out/walk" row=$name > "$out/walk.log" 2>&1
        status=$?
        ok "the walk does not find $name" grep -q '^[1-9][0-9]* passed' "$out/walk.log"
        sum_of "$out/walk.log" $status
    done
else
    failed=$((failed + 1))
fi

# In Python: functions, methods, in place, named results, keywords, a gradient, the docstring.
for python in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.14 ""; do
    "${python:-true}" -c 'import sys, os, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2> /dev/null && break
done
in_python() {
    make -s -j"$jobs" -C "$copy" python-extension BUILD="$out/build" CFLAGS="$flags -fPIC -fvisibility=hidden" PYTHON="$python" \
        PY_OUT=tensorh/_C.abi3.so && PYTHONPATH=$copy PYTHONDONTWRITEBYTECODE=1 "$python" tests/stranger/stranger.py
}
if [ -n "$python" ]; then ok "the operators are not in Python" in_python; else echo "no Python of 3.11 or later with Python.h: left out"; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
