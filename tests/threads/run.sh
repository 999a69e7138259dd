#!/bin/sh
# Concurrent use: programs of 8 threads, ranks of groups and loaders with workers under ThreadSanitizer, no suppressions; and memory that several threads
# give back at once to its owner (returned.c), also as a plain build with many bursts of frees, for a lost update of
# an atomic list is no race to the sanitizer. TN_QUICK=1: this one, and the loaders with the sanitizer in base,
# tensor, call, data, group and its rows alone. TN_FULL=1: with gcc and clang, and more rounds.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/threads
mkdir -p "$out"
. tests/shared.sh
sanitize="-fsanitize=thread"
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
passed=0 failed=0 reports=0 with= watched_passed=0
bursts=3000 returns=200 rounds=300
[ -z "${TN_QUICK:-}" ] || bursts=1500 rounds=60
[ -z "${TN_FULL:-}" ] || bursts=30000 returns=2000 rounds=3000
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

one() { # COMPILER LIBRARY PROGRAM [ARGUMENT]: runs it, adds to the sums
    program=$out/${1##*[ /]}-$3
    log=$program.txt
    rm -f "$program"
    if ! $1 -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS $warnings "tests/threads/$3.c" $2 -o "$program" -lm -pthread; then
        failed=$((failed + 1))
        return
    fi
    LIFE_FOLDER=$out TSAN_OPTIONS="halt_on_error=0 exitcode=66" "$program" ${4:+"$4"} > "$log" 2>&1
    add "$3 with $1" $? "$(grep -c "^WARNING: ThreadSanitizer" "$log")" "$log"
    watched_passed=$((watched_passed + ${sum% *}))
}

plain
watched() { # COMPILER
    compiler=$1
    if ! { $compiler $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
        echo "left out: $compiler has no ThreadSanitizer here"
        return
    fi
    with="$with${with:+ and }$compiler"
    objects=$out/${compiler##*[ /]} library= wanted=objects
    if [ -n "${TN_QUICK:-}" ]; then # rooms without rows
        wanted=$(ls src/base/*.c src/tensor/*.c src/call/*.c src/data/*.c src/group/*.c src/ops/distributed/*.c | sed "s|^\(.*\)c\$|$objects/\1o|")
        library="$wanted ${BUILD:-build}/libtensor.a"
    else
        library=$objects/libtensor.a
    fi
    make -s -j"$jobs" $wanted CC="$compiler" BUILD="$objects" OPTABLE="${BUILD:-build}/tools/optable" CFLAGS="-O1 -g $sanitize" \
        > "$out/make.log" 2>&1 || cat "$out/make.log"
    if [ -z "${TN_QUICK:-}" ]; then
        one "$compiler" "$library" races
        one "$compiler" "$library" beside
        one "$compiler" "$library" returned $returns
    fi
    one "$compiler" "$library" ranks
    one "$compiler" "$library" parallel
    before=$reports
    one "$compiler" "$library" loader $rounds
    echo "promise 15: loaders with workers, $rounds rounds with $compiler, $((reports - before)) reports of ThreadSanitizer"
}
if [ -n "${TN_FULL:-}" ]; then
    for each in gcc clang; do watched $each; done
else
    watched "${CC:-cc}"
fi
[ -z "$with" ] || [ -n "${TN_QUICK:-}" ] || echo "promise 15: $watched_passed programs of 8 threads under ThreadSanitizer with $with: $reports reports, 0 suppressions"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
