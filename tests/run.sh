#!/bin/sh
# run.sh LANE... - runs tests/LANE/run.sh for each and ends with the sum, "N passed, N failed", alone on a line.
# TN_QUICK=1: lanes leave out what takes long; a lane with a file `slow` is left out as a whole. TN_FULL=1: the full figures.
# TN_STOP=1: nothing more after the first lane that fails.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
passed=0 failed=0
mkdir -p "$BUILD/logs"
for lane in "$@"; do
    if [ -n "${TN_QUICK:-}" ] && [ -f "tests/$lane/slow" ]; then
        echo "== $lane: left out of the quick run"
        continue
    fi
    echo "== $lane"
    log=$BUILD/logs/$lane
    { sh "tests/$lane/run.sh" 2>&1; echo $? > "$log.rc"; } | tee "$log"
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")
    if [ -z "$sum" ]; then
        echo "tests/$lane/run.sh ended without 'N passed, N failed' (status $(cat "$log.rc"))"
        sum="0 1"
    elif [ "${sum#* }" = 0 ] && [ "$(cat "$log.rc")" != 0 ]; then
        echo "tests/$lane/run.sh: status $(cat "$log.rc") though nothing failed"
        sum="${sum% *} 1"
    fi
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
    [ -z "${TN_STOP:-}" ] || [ "$failed" = 0 ] || break
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
