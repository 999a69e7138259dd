#!/bin/sh
# Loaders with workers under ThreadSanitizer, no suppressions: base, tensor, call and data are compiled with it, the other
# rooms are the development build's objects. Rounds: TN_QUICK=1 60, else 300, TN_FULL=1 3000. A round that hangs ends by alarm.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/loader
mkdir -p "$out"
passed=0 failed=0
. tests/shared.sh
rounds=300
[ -z "${TN_QUICK:-}" ] || rounds=60
[ -z "${TN_FULL:-}" ] || rounds=3000
sanitize="-fsanitize=thread"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
if ! { ${CC:-cc} $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
    echo "left out: ${CC:-cc} has no ThreadSanitizer here; without it"
    sanitize=
fi
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
rm -f "$out"/*.o "$out/stress"
make -s -j"$jobs" objects > "$out/make.log" 2>&1 || cat "$out/make.log"
if ls tests/loader/stress.c src/base/*.c src/tensor/*.c src/call/*.c src/data/*.c |
    while read -r source; do echo "$source -o $out/$(echo "$source" | tr / - | sed 's/c$/o/')"; done |
    xargs -P "$jobs" -L 1 ${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS $warnings -c &&
    ${CC:-cc} $sanitize "$out"/*.o "${BUILD:-build}/libtensor.a" -o "$out/stress" -lm -pthread; then
    TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$out/stress" $rounds > "$out/log" 2>&1
    status=$?
    reports=$(grep -c "^WARNING: ThreadSanitizer" "$out/log")
    sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/log" | tail -1)
    [ -n "$sum" ] || sum="0 1"
    bad=$((${sum#* } + reports))
    [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || { echo "FAILED, status $status"; head -c 6000 "$out/log"; }
    passed=${sum% *} failed=$bad
    echo "promise 15: loaders with workers, $rounds rounds, $reports reports of ThreadSanitizer"
else
    failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
