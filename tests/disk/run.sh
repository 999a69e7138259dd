#!/bin/sh
# Files on the real disk: saves that are killed, full disks, modes and links (5); files of 5 GB and files that shrink while
# they are read, under ASan and UBSan (6); what loading costs (3); saves and loads that fail keep no memory (4). Kills at random
# moments: 200, TN_QUICK=1: 20, TN_FULL=1: 2,000. The files of 5 GB are holes, in /dev/shm where there is one.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/disk
rm -rf "$out" && mkdir -p "$out" || exit 1
. tests/shared.sh
flags="-std=gnu99 -O1 -g -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion"
passed=0 failed=0
sanitized
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
count=200
[ -z "${TN_QUICK:-}" ] || count=20
[ -z "${TN_FULL:-}" ] || count=2000
shm=$out
[ ! -d /dev/shm ] || [ ! -w /dev/shm ] || shm=/dev/shm

run() { # program, arguments: its last line is a sum
    "$@" > "$1.txt" 2>&1
    status=$?
    sed '$d' "$1.txt" | tail -40
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1.txt")
    [ -n "$sum" ] || { tail -3 "$1.txt"; sum="0 1"; }
    [ "$status" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
${CC:-cc} $flags tests/disk/kill.c tests/disk/disk.c "$build/libtensor.a" -o "$out/kill" -lm -pthread
${CC:-cc} $flags $sanitize tests/disk/huge.c tests/disk/disk.c "$build/sanitized/libtensor.a" -o "$out/huge" -lm -pthread
${CC:-cc} $flags tests/disk/huge.c tests/disk/disk.c "$build/libtensor.a" -o "$out/cost" -lm -pthread
${CC:-cc} $flags $sanitize tests/disk/balance.c tests/disk/disk.c "$build/sanitized/libtensor.a" -o "$out/balance" -lm -pthread
run "$out/kill" "$out" "$count"
run "$out/cost" "$out"
run "$out/huge" "$out" "$shm"
run "$out/balance" "$shm"
rm -f "$out"/big-*
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
