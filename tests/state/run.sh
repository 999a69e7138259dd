#!/bin/sh
# Random programs over what holds state or formats text, beside torch's stored answers (streams.py, texts.py wrote them) and
# beside models. Programs of the models: 4,000 each; TN_QUICK=1: 1,000; TN_FULL=1: 60,000.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
out=$BUILD/state
mkdir -p "$out"
passed=0 failed=0 count=4000
[ -z "${TN_QUICK:-}" ] || count=1000
[ -z "${TN_FULL:-}" ] || count=60000

run() { # NAME ARGUMENT...: builds it and runs it
    name=$1
    shift
    rm -f "$out/$name"
    ${CC:-cc} -std=gnu99 ${CFLAGS:--O1 -g} -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion "tests/state/$name.c" \
        "$BUILD/libtensor.a" -o "$out/$name" -lm -pthread || { failed=$((failed + 1)) && return; }
    "$out/$name" "$@" > "$out/$name.log" 2>&1
    status=$?
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/$name.log")
    [ -n "$sum" ] || sum="0 1"
    bad=${sum#* }
    [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || { echo "FAILED $name"; head -c 4000 "$out/$name.log"; }
    passed=$((passed + ${sum% *})) failed=$((failed + bad))
    sed -n "s/^$name: /${as:-$name}: /p" "$out/$name.log"
}
run streams tests/state/streams.txt
run texts tests/state/texts.txt
as="promise 12: values kept, lent and given back beside a model"
run memory 1 $count
as="promise 17: hooks beside a model"
run hooks 1 $count
as="promise 13: recordings replayed beside eager programs"
run replay 1 $count
as="promise 5: training stopped and resumed beside a model"
run trainer "$out/trainer.safetensors" 1 $((count / 5))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
