#!/bin/sh
# Concurrent use under ThreadSanitizer, no suppressions.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/threads
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
sanitize="-fsanitize=thread"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
if ! { ${CC:-cc} $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
    echo "left out: ${CC:-cc} has no ThreadSanitizer here"
    echo "0 passed, 0 failed"
    exit 0
fi
make -s -j"$jobs" objects BUILD="$out/objects" CFLAGS="-O1 -g $sanitize" > "$out/make.log" 2>&1 || cat "$out/make.log"
rm -f "$out/races"
${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion \
    tests/threads/races.c "$out/objects/libtensor.a" -o "$out/races" -lm -pthread || { echo "0 passed, 1 failed"; exit 1; }
TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$out/races" > "$out/races.txt" 2>&1
status=$?
reports=$(grep -c "^WARNING: ThreadSanitizer" "$out/races.txt")
sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/races.txt" | tail -1)
[ -n "$sum" ] || sum="0 1"
passed=${sum% *} failed=$((${sum#* } + reports))
[ "$status" = 0 ] || [ "$failed" != 0 ] || failed=1
[ "$failed" = 0 ] || head -c 6000 "$out/races.txt"
echo "$reports reports"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
