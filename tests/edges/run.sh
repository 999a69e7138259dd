#!/bin/sh
# Scopes and numbers, on the library of the sanitizers: what outlives the scope in which it was made, every operator in its samples
# (TN_QUICK=1: the first of each; default: two) and every function that makes something; and numbers at the ends of their ranges in
# every function that is no row, there also with each allocation failing: no memory is kept (4). Both know the functions of the headers:
# one that is added there fails until it has a line.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/edges
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Wno-unused-function"
mkdir -p "$out"
passed=0 failed=0
. tests/shared.sh
sanitized
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
rm -f "$out"/watched

run() { # NAME ARGUMENTS...: builds it, its sum
    name=$1 status=1
    shift
    rm -f "$out/$name"
    ${CC:-cc} -std=gnu99 -O1 -g $sanitize $warnings -DTNI_OBJECTS -DTNI_COUNT_POLLS "tests/edges/$name.c" tests/ops/sample.c tests/ops/msample.c \
        "${BUILD:-build}/sanitized/libtensor.a" -o "$out/$name" -lm -pthread &&
        TN_WATCH=$out/watched "$out/$name" "$@" > "$out/$name.log" 2>&1
    status=$?
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name.log" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$status" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || tail -60 "$out/$name.log" | cut -c 1-400 | sed 's/^/  /'
    echo "$name: ${sum% *} passed, ${sum#* } failed"
    grep '^promise' "$out/$name.log"
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}

samples=2
[ -z "${TN_QUICK:-}" ] || samples=1
[ -z "${TN_FULL:-}" ] || samples=100
! rows=$(sample operator 250 200) || run scopes "$samples" $rows
echo "promise 12: ${sum% *} checks of what outlives the scope in which it was made, every operator in 21 places"
if [ -z "${TN_ROW:-}" ]; then
    run objects
    run ranges
fi
[ ! -f "$out/watched" ] || echo "calls that failed and were watched: $(awk '{ n += $1 } END { print n }' "$out/watched")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
