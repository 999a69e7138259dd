#!/bin/sh
# A user's own operators at run time, over the packed header: one source as C and as C++. TN_QUICK=1: also the headers'
# implementation as C++, which else the lane compile asks.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/kinds
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
mkdir -p "$out"
passed=0 failed=0

one() { # name, command
    name=$1
    shift
    if "$@" && "$out/$name" > "$out/$name.log" 2>&1; then status=0; else status=1; fi
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name.log" 2>/dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$status" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || sed 's/^/  /' "$out/$name.log" 2>/dev/null | tail -30
    echo "$name: ${sum% *} passed, ${sum#* } failed"
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}

. tests/shared.sh
rm -f "$out"/*.log "$out/c" "$out/cxx"
flags=${CFLAGS:--O1 -g}
packed || { echo "0 passed, 1 failed"; exit 1; }
one c ${CC:-cc} -std=gnu99 $flags $warnings -I. tests/kinds/kinds.c "$object" -o "$out/c" -lm -pthread
if command -v ${CXX:-c++} > /dev/null; then
    one cxx ${CXX:-c++} -std=c++11 $flags $warnings -I. -x c++ tests/kinds/kinds.c -x none "$object" -o "$out/cxx" -lm -pthread
    if [ -z "${TN_QUICK:-}" ]; then
        : # compile has it in each language
    elif ${CXX:-c++} -std=c++11 -Wall -Wextra -pedantic -Wshadow -Werror -I. -DWITH_NN -fsyntax-only -x c++ tests/compile/implementation.c; then
        passed=$((passed + 1)) # all of it is C++, too
    else
        echo "FAILED the implementation is no C++"
        failed=$((failed + 1))
    fi
else
    echo "no C++ compiler: left out"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
