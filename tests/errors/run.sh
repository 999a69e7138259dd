#!/bin/sh
# What happens when a call is wrong: messages and places from C and C++, then every row with spoilt arguments under
# ASan and UBSan. Samples a row: 2, TN_QUICK=1: 1, TN_FULL=1: all.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/errors
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
mkdir -p "$out"
passed=0 failed=0
. tests/shared.sh

add() { # log, status: its last line is a sum
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || tail -60 "$1" | sed 's/^/  /'
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}

# Messages, over the packed headers.
flags=${CFLAGS:--O1 -g}
library=${BUILD:-build}/packed.o
if packed; then
    rm -f "$out/c" "$out/cxx"
    ${CC:-cc} -std=gnu99 $flags $warnings -I. tests/errors/misuse.c "$library" -o "$out/c" -lm -pthread
    "$out/c" > "$out/c.log" 2>&1
    add "$out/c.log" $?
    if command -v "${CXX:-c++}" > /dev/null; then
        "${CXX:-c++}" -std=c++11 $flags $warnings -I. -x c++ tests/errors/misuse.c -x none "$library" -o "$out/cxx" -lm -pthread
        "$out/cxx" > "$out/cxx.log" 2>&1
        add "$out/cxx.log" $?
    else
        echo "no C++ compiler: left out"
    fi
else
    failed=$((failed + 1))
fi
echo "messages: $passed passed, $failed failed"

# Spoilt arguments, over the objects.
sanitized
samples=2
[ -z "${TN_QUICK:-}" ] || samples=1
[ -z "${TN_FULL:-}" ] || samples=0
if ${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Wall -Wextra tests/errors/spoilt.c tests/ops/sample.c \
    "${BUILD:-build}/sanitized/libtensor.a" -o "$out/spoilt" -lm -pthread; then
    export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
    part=0 pids=
    while [ "$part" -lt "$jobs" ]; do
        "$out/spoilt" samples=$samples part=$part/"$jobs" > "$out/spoilt.$part.txt" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    part=0
    for pid in $pids; do
        wait "$pid"
        add "$out/spoilt.$part.txt" $?
        sed -n '/rows,.*spoilt calls/p' "$out/spoilt.$part.txt"
        part=$((part + 1))
    done
else
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
