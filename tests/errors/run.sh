#!/bin/sh
# What happens when a call is wrong: messages and places from C and C++, every row with spoilt arguments under ASan and
# UBSan (samples a row: 2, TN_QUICK=1: 1, TN_FULL=1: all), and the unit tests once more in one program over that library
# (those whose business is refused calls, and others by TN_SEED; TN_QUICK=1: without these; TN_FULL=1: all). It watches: a call that has
# failed leaves the thread as it was and keeps no memory, and what its text says of functions and arguments is so (texts.c; names.awk for
# what stands in the source).
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/errors
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
mkdir -p "$out"
passed=0 failed=0
. tests/shared.sh

add() { # log, status: its last line is a sum
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$1" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || tail -60 "$1" | sed 's/^/  /'
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}

# Messages, over the packed headers.
flags=${CFLAGS:--O1 -g}
if [ -n "${TN_ROW:-}" ]; then
    echo "messages and unit tests: left out, for they know no row"
elif packed; then
    rm -f "$out/c" "$out/cxx"
    ${CC:-cc} -std=gnu99 $flags $warnings -I. tests/errors/misuse.c "$object" -o "$out/c" -lm -pthread
    "$out/c" > "$out/c.log" 2>&1
    add "$out/c.log" $?
    if command -v "${CXX:-c++}" > /dev/null; then
        "${CXX:-c++}" -std=c++11 $flags $warnings -I. -x c++ tests/errors/misuse.c -x none "$object" -o "$out/cxx" -lm -pthread
        "$out/cxx" > "$out/cxx.log" 2>&1
        add "$out/cxx.log" $?
    else
        echo "no C++ compiler: left out"
    fi
else
    failed=$((failed + 1))
fi
echo "messages: $passed passed, $failed failed"

# Names in the library's texts, in its source.
awk -f tests/errors/names.awk $(ls src/*/*.c src/*/*/*.c | grep -v -e src/gen/ -e src/py/) > "$out/names.log"
add "$out/names.log" $?
sed -n '/names of functions/p' "$out/names.log"

# Spoilt arguments, over the objects. The texts of all errors from here on are kept.
sanitized
rm -f "$out/texts"
case $out in /*) TN_TEXTS=$out/texts ;; *) TN_TEXTS=$PWD/$out/texts ;; esac
export TN_TEXTS
samples=2
[ -z "${TN_QUICK:-}" ] || samples=1
[ -z "${TN_FULL:-}" ] || samples=0
if ${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Wall -Wextra tests/errors/spoilt.c tests/ops/sample.c \
    "${BUILD:-build}/sanitized/libtensor.a" -o "$out/spoilt" -lm -pthread; then
    export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
    part=0 pids=
    while [ "$part" -lt "$jobs" ] && rows=$(sample operator 250 200); do
        "$out/spoilt" samples=$samples $rows part=$part/"$jobs" > "$out/spoilt.$part.txt" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    part=0
    for pid in $pids; do
        wait "$pid"
        add "$out/spoilt.$part.txt" $?
        sed -n '/rows,.*spoilt calls/p' "$out/spoilt.$part.txt"
        part=$((part + 1))
    done
else
    failed=$((failed + 1))
fi

# Unit tests in one program; those of base stand in for the room above, steady and realtime for functions of libc, frames and
# host_promises, plan need the caches that sanitizers bypass, two count what the whole process has, two take too long. In groups and
# parallel other threads work on when a call has failed.
unit_tests() {
    units=$(grep -l '"\(\.\./\)*refused\.h"' tests/unit/*.c | grep -v /io_edges)
    [ -n "${TN_QUICK:-}" ] || units=$({ echo "$units"; drawn 40 $(ls tests/unit/*.c |
        grep -v -e /base -e /engine -e /nn_train -e /nn_memory -e /special -e /steady -e /lifetimes \
        -e /realtime -e /frames -e /host_promises -e /plan -e /groups -e /parallel) | tr ' ' '\n'; } | sort -u)
    [ -n "${TN_QUICK:-}" ] || echo "sample: TN_SEED=$TN_SEED, unit tests:" $(for unit in $units; do basename "$unit" .c; done) | fold -s -w 160
    mkdir -p "$out/unit"
    say() { printf '%s\n' "$@"; }
    {
        say '#include "../../../tests/check.h"'
        for unit in $units; do unit=$(basename "$unit" .c) && say "int run_$unit(int, char **);"; done
        say 'int main(void) {' '    int failed = 0, last;' '    char name[] = "units", *argv[] = {name, NULL};'
        say '    (void)check_run, (void)check_equal, (void)check_text;'
        for unit in $units; do
            unit=$(basename "$unit" .c)
            say "    puts(\"$unit\"), last = run_$unit(1, argv), failed += last != 0;" "    if (last) puts(\"FAILED $unit\");"
        done
        say "    printf(\"%d passed, %d failed\\n\", $(say $units | grep -c .) - failed, failed);" '    return failed != 0;' '}'
    } > "$out/unit/main.c"
    rm -f "$out/units" "$out"/unit/*.o "$out/unit/watched"
    for unit in $units; do echo "-Dmain=run_$(basename "$unit" .c) $unit -o $out/unit/$(basename "$unit" .c).o"; done |
        xargs -P "$jobs" -L 1 ${CC:-cc} -std=gnu99 -O0 -g1 -w -DTNI_OBJECTS -DTNI_COUNT_POLLS -Isrc -Itests -c &&
        ${CC:-cc} -std=gnu99 $sanitize -w "$out/unit/main.c" "$out"/unit/*.o "${BUILD:-build}/sanitized/libtensor.a" -o "$out/units" -lm -pthread
    TN_WATCH=$out/unit/watched "$out/units" > "$out/units.txt" 2>&1
    add "$out/units.txt" $?
    if [ -n "$watch" ] && [ "$(cat "$out/unit/watched")" -lt 200 ] 2> /dev/null; then
        echo "FAILED the library has watched less than 200 failed calls"
        failed=$((failed + 1))
    fi
}
[ -n "${TN_ROW:-}" ] || unit_tests
unset TN_TEXTS
if [ -n "$watch" ]; then # whom and what the texts name
    rm -f "$out/texts.run"
    ${CC:-cc} -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS $warnings tests/errors/texts.c "${BUILD:-build}/sanitized/libtensor.a" \
        -o "$out/texts.run" -lm -pthread
    "$out/texts.run" "$out/texts" > "$out/texts.log" 2>&1
    add "$out/texts.log" $?
    sed -n '/texts of errors/p' "$out/texts.log"
fi
[ -n "${TN_ROW:-}" ] ||
    echo "unit tests: $(say $units | grep -c .), calls that failed and were watched: $(cat "$out/unit/watched")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
