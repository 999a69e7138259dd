#!/bin/sh
# Special values: what reads whole vectors beside scalar models; every row by the scalar loops and the best instruction set;
# whole numbers and bool asked for by `dtype=` of what they cannot hold. Lengths 1..4 and every 9th up to 67, 3 places a tensor;
# TN_QUICK=1: every 30th, 1 place; TN_FULL=1: all, 67 places.
# (Pointwise rows at every place: tests/unit/special.c.)
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/values
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
passed=0 failed=0 step=9 places=3
[ -z "${TN_QUICK:-}" ] || step=30 places=1
[ -z "${TN_FULL:-}" ] || step=1 places=67
run() { # NAME ARGUMENT, in as many parts as there are cores
    rm -f "$out/$1"
    ${CC:-cc} -std=gnu99 ${CFLAGS:--O2 -g} -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion \
        "tests/values/$1.c" tests/ops/sample.c tests/ops/record.c "$build/libtensor.a" -o "$out/$1" -lm -pthread || failed=$((failed + 1))
    part=0 pids=
    while [ -x "$out/$1" ] && [ "$part" -lt "$jobs" ]; do
        "$out/$1" "$2" part=$part/"$jobs" > "$out/$1.$part" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    part=0 before=$passed
    for pid in $pids; do
        wait "$pid" || failed=$((failed + 1))
        grep -E '^(FAILED|short)' "$out/$1.$part" | head -20
        sum=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$out/$1.$part")
        [ -n "$sum" ] || { failed=$((failed + 1)) && tail -5 "$out/$1.$part"; }
        passed=$((passed + ${sum:-0})) part=$((part + 1))
    done
    [ "$passed" -gt "$before" ] || { failed=$((failed + 1)) && echo "FAILED $1 compared nothing"; }
}
run vectors step=$step
run rows places=$places
run dtypes step=1
cat "$out"/vectors.[0-9]* "$out"/rows.[0-9]* "$out"/dtypes.[0-9]* | awk '
    /^vectors:/ { models = $2; results += $4; none = $6 }
    /^rows:/ { rows += $2; calls += $4 }
    /^dtypes:/ { with += $2; alike += $4 }
    END { printf "promise 9: %d rows that read vectors as by scalar models (%.0f results in 4 layouts, NaN, +-0, +-Inf, ", models, results
          printf "denormal, MAX at every index, alone, in pairs, everywhere; %d rows without a model); ", none
          printf "scalar = SIMD bitwise, with backward: %d rows, %d calls; ", rows, calls
          printf "dtype= as the input converted: %d rows, %d calls\n", with, alike }'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
