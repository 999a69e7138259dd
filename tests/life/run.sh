#!/bin/sh
# Depth, fork, hooks, requests to stop, unloading: what a long-lived process needs. Hooks and requests
# run with AddressSanitizer and UBSan on a build that counts polls. TN_QUICK=1: on the usual objects,
# without that build and without the library that is loaded and unloaded.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
out=$BUILD/life
mkdir -p "$out"
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
flags="-std=gnu99 -g -O1 -Wall -Wextra -pedantic -Wshadow -Wconversion"
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"
passed=0 failed=0
LIFE_FOLDER=$out
export LIFE_FOLDER

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}
run() { # NAME COMMAND...: its sum and its figures
    log=$out/$1.log
    shift
    "$@" > "$log" 2>&1
    status=$?
    sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -1)
    [ -n "$sum" ] || sum="0 1"
    bad=${sum#* }
    [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || { echo "FAILED $*"; head -c 6000 "$log"; }
    passed=$((passed + ${sum% *})) failed=$((failed + bad))
    grep -E '^(promise|short) [0-9]+: ' "$log"
}
program() { # NAME FLAGS LIBRARY: builds it
    ${CC:-cc} $flags -DTNI_OBJECTS $2 "tests/life/$1.c" "$3" -o "$out/$1" -lm -pthread && return
    failed=$((failed + 1))
    return 1
}

make -s -j"$jobs" objects BUILD="$BUILD" || { failed=1; finish; }
plain=$BUILD/libtensor.a checked=$BUILD/libtensor.a extra=
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
if [ -n "${TN_QUICK:-}" ]; then
    :
elif { ${CC:-cc} $sanitize "$out/probe.c" -o "$out/probe" && "$out/probe"; } 2> /dev/null; then
    checked=$out/checked/libtensor.a extra="$sanitize -DTNI_COUNT_POLLS"
    make -s -j"$jobs" objects BUILD="$out/checked" CFLAGS="-O1 -g $extra" > "$out/make.log" 2>&1 || cat "$out/make.log"
else
    echo "left out: ${CC:-cc} has no AddressSanitizer here"
fi
program depth "" "$plain" && run depth "$out/depth"
program forks "" "$plain" && run forks "$out/forks"
program hooks "$extra" "$checked" && run hooks "$out/hooks"
program cancel "$extra" "$checked" && run cancel "$out/cancel"

if [ -z "${TN_QUICK:-}" ] && [ "$(uname)" = Linux ]; then
    if ${CC:-cc} -std=gnu99 -O0 -fPIC -shared tests/life/plugin.c -o "$out/plugin.so" -lm -pthread &&
        ${CC:-cc} $flags tests/life/unload.c -o "$out/unload" -ldl -pthread; then
        run unload "$out/unload" "$(pwd)/$out/plugin.so"
    else
        failed=$((failed + 1))
    fi
fi
finish
