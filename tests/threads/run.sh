#!/bin/sh
# Concurrent use under ThreadSanitizer, 8 threads, no suppressions. TN_FULL=1: with gcc and clang, and
# more rounds.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/threads
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
sanitize="-fsanitize=thread"
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
passed=0 failed=0 reports=0 with=
compilers=${CC:-cc}
[ -z "${TN_FULL:-}" ] || compilers="gcc clang"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"

one() { # COMPILER PROGRAM: runs it, adds to the sums
    log=$out/$1-$2.txt
    rm -f "$out/$1-$2"
    if ! $1 -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS $warnings "tests/threads/$2.c" \
        "$out/$1/libtensor.a" -o "$out/$1-$2" -lm -pthread; then
        failed=$((failed + 1))
        return
    fi
    LIFE_FOLDER=$out TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$out/$1-$2" > "$log" 2>&1
    status=$?
    found=$(grep -c "^WARNING: ThreadSanitizer" "$log")
    sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -1)
    [ -n "$sum" ] || sum="0 1"
    bad=$((${sum#* } + found))
    [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || { echo "FAILED $2 with $1"; head -c 6000 "$log"; }
    passed=$((passed + ${sum% *})) failed=$((failed + bad)) reports=$((reports + found))
}

for compiler in $compilers; do
    if ! { $compiler $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
        echo "left out: $compiler has no ThreadSanitizer here"
        continue
    fi
    with="$with${with:+ and }$compiler"
    make -s -j"$jobs" objects CC="$compiler" BUILD="$out/$compiler" CFLAGS="-O1 -g $sanitize" \
        > "$out/make.log" 2>&1 || cat "$out/make.log"
    one "$compiler" races
    one "$compiler" beside
done
[ -z "$with" ] || echo "promise 15: $passed programs of 8 threads under ThreadSanitizer with $with: $reports reports, 0 suppressions"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
