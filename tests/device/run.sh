#!/bin/sh
# Devices beside the CPU, without one: null.c is a backend in memory of the host that the host may not read. Every row by its samples,
# bit for bit the CPU's, and on a device with few kernels the same or a clear error (rows.c; TN_QUICK=1: fewer rows and dtypes); names,
# errors, copies and gradients between devices, each allocation and copy failing (calls.c); streams and events, whose missing waits
# the device sees (streams.c, order.c); record and replay with graphs and without (graphs.c); plans of memory (plans.c).
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/device
mkdir -p "$out"
. tests/shared.sh
passed=0 failed=0

add() { # NAME STATUS
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$1.log" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || grep -A3 -E 'FAILED|failed' "$out/$1.log" | head -60 | cut -c 1-400 | sed 's/^/  /'
    grep -E '^(sample|ways)' "$out/$1.log"
    echo "$1: ${sum% *} passed, ${sum#* } failed"
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}

if gather "$out/device" "${CFLAGS:--O2 -g} -Wall -Wextra -Wshadow" "${BUILD:-build}/libtensor.a" \
    tests/device/rows.c tests/device/calls.c tests/device/streams.c tests/device/graphs.c tests/device/plans.c tests/device/null.c tests/device/order.c tests/ops/sample.c; then
    if rows=$(sample operator 120 50); then
        "$out/device" rows $rows > "$out/rows.log" 2>&1
        add rows $?
    fi
    if [ -z "${TN_ROW:-}" ]; then
        for program in calls streams graphs plans; do
            "$out/device" $program > "$out/$program.log" 2>&1
            add $program $?
        done
    fi
else
    failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
