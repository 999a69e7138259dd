#!/bin/sh
# Concurrent use: programs of 8 threads under ThreadSanitizer, no suppressions; and memory that several threads
# give back at once to its owner (returned.c), also as a plain build with many bursts of frees, for a lost update of
# an atomic list is no race to the sanitizer. TN_QUICK=1: the plain program alone. TN_FULL=1: with gcc and clang, and
# more rounds.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/threads
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
sanitize="-fsanitize=thread"
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
passed=0 failed=0 reports=0 with= watched_passed=0
compilers=${CC:-cc}
bursts=3000 watched=200
[ -z "${TN_QUICK:-}" ] || bursts=1500 compilers=
[ -z "${TN_FULL:-}" ] || bursts=30000 watched=2000
[ -z "${TN_FULL:-}" ] || compilers="gcc clang"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"

add() { # NAME STATUS REPORTS LOG: to the sums
    sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$4" | tail -1)
    [ -n "$sum" ] || sum="0 1"
    bad=$((${sum#* } + $3))
    [ "$2" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || { echo "FAILED $1, status $2"; head -c 6000 "$4"; }
    passed=$((passed + ${sum% *})) failed=$((failed + bad)) reports=$((reports + $3))
}

plain() { # the development build's objects
    rm -f "$out/returned"
    make -s -j"$jobs" objects > "$out/make.log" 2>&1 || cat "$out/make.log"
    if ! ${CC:-cc} -std=gnu99 -O2 -g -DTNI_OBJECTS $warnings tests/threads/returned.c "${BUILD:-build}/libtensor.a" \
        -o "$out/returned" -lm -pthread; then
        failed=$((failed + 1))
        return
    fi
    "$out/returned" $bursts > "$out/returned.txt" 2>&1
    add returned $? 0 "$out/returned.txt"
    grep "^promise" "$out/returned.txt"
}

one() { # COMPILER PROGRAM [ARGUMENT]: runs it, adds to the sums
    log=$out/$1-$2.txt
    rm -f "$out/$1-$2"
    if ! $1 -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS $warnings "tests/threads/$2.c" \
        "$out/$1/libtensor.a" -o "$out/$1-$2" -lm -pthread; then
        failed=$((failed + 1))
        return
    fi
    LIFE_FOLDER=$out TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$out/$1-$2" ${3:+"$3"} > "$log" 2>&1
    add "$2 with $1" $? "$(grep -c "^WARNING: ThreadSanitizer" "$log")" "$log"
    watched_passed=$((watched_passed + ${sum% *}))
}

plain
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
    one "$compiler" returned $watched
done
[ -z "$with" ] || echo "promise 15: $watched_passed programs of 8 threads under ThreadSanitizer with $with: $reports reports, 0 suppressions"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
