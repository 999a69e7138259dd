#!/bin/sh
# Options in pairs, beside torch's values: operators (rows.c, tests/oracle/pairs.py). Seconds, at any depth.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/pairs
mkdir -p "$out"
rm -f "$out/rows"
${CC:-cc} -std=gnu99 ${CFLAGS:--O2 -g} -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion tests/pairs/rows.c \
    tests/pairs/digest.c tests/ops/sample.c "$build/libtensor.a" -o "$out/rows" -lm -pthread || { echo "0 passed, 1 failed"; exit 1; }
"$out/rows" tests/oracle/pairs > "$out/rows.log" 2>&1
status=$?
grep -A1 FAILED "$out/rows.log" | head -60
sed -n 's/^rows: /options in pairs: /p' "$out/rows.log"
sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/rows.log")
[ -n "$sum" ] || sum="0 1"
[ "${sum#* }" != 0 ] || [ $status = 0 ] || sum="${sum% *} 1"
echo "${sum% *} passed, ${sum#* } failed"
[ "${sum#* }" = 0 ]
