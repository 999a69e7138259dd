#!/bin/sh
# Options in pairs, beside torch's values: operators (rows.c, tests/oracle/pairs.py) and modules (modules.c,
# tests/oracle/mpairs.py). Seconds, at any depth.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/pairs
mkdir -p "$out"
passed=0 failed=0
run() { # NAME FOLDER [more sources]
    name=$1 folder=$2
    shift 2
    rm -f "$out/$name"
    ${CC:-cc} -std=gnu99 ${CFLAGS:--O2 -g} -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion "tests/pairs/$name.c" \
        tests/pairs/digest.c tests/ops/sample.c "$@" "$build/libtensor.a" -o "$out/$name" -lm -pthread &&
        "$out/$name" "$folder" > "$out/$name.log" 2>&1
    status=$?
    [ -x "$out/$name" ] || : > "$out/$name.log"
    grep -A1 FAILED "$out/$name.log" | head -60
    sed -n "s/^$name: /options in pairs, $name: /p" "$out/$name.log"
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name.log")
    [ -n "$sum" ] || sum="0 1"
    [ "${sum#* }" != 0 ] || [ $status = 0 ] || sum="${sum% *} 1"
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
run rows tests/oracle/pairs
run modules tests/oracle/mpairs tests/ops/msample.c
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
