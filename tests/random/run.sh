#!/bin/sh
# Random programs against a reference model, random arguments, damaged files and failing disks, under ASan and UBSan with
# the caches bypassed. Of each 20,000, TN_QUICK=1: 3,000, TN_FULL=1: 300,000.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/random
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
passed=0 failed=0
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
if ! { ${CC:-cc} $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
    echo "note: ${CC:-cc} has no sanitizers here: programs without them"
    sanitize=
fi
make -s -j"$jobs" objects BUILD="${BUILD:-build}/sanitized" CFLAGS="-O1 -g -fno-omit-frame-pointer $sanitize" \
    > "$out/make.log" 2>&1 || cat "$out/make.log"
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
count=20000
[ -z "${TN_QUICK:-}" ] || count=3000
[ -z "${TN_FULL:-}" ] || count=300000
for name in programs calls files; do
    sources=tests/random/$name.c
    [ $name != programs ] || sources="$sources tests/random/model.c"
    rm -f "$out/$name"
    ${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion \
        $sources "${BUILD:-build}/sanitized/libtensor.a" -o "$out/$name" -lm -pthread || failed=$((failed + 1))
    part=0 pids=
    while [ -x "$out/$name" ] && [ "$part" -lt "$jobs" ]; do
        "$out/$name" $((1 + part * 1000000)) $((count / jobs)) > "$out/$name.$part" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    part=0
    for pid in $pids; do
        wait "$pid" || failed=$((failed + 1))
        tail -n 20 "$out/$name.$part" | sed '$d'
        sum=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$out/$name.$part")
        passed=$((passed + ${sum:-0})) part=$((part + 1))
    done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
