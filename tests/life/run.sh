#!/bin/sh
# Depth, fork, hooks, requests to stop, unloading: what a long-lived process needs. Hooks and requests
# run with AddressSanitizer and UBSan on a build that counts polls, hooks with TN_CHECK, too. TN_QUICK=1: without the libraries that are
# loaded and unloaded, one with tensor.h inside, one over the host's (TN_IMPORT).
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
out=$BUILD/life
mkdir -p "$out"
. tests/shared.sh
flags="-std=gnu99 -g -O1 -Wall -Wextra -pedantic -Wshadow -Wconversion"
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

plain=$BUILD/libtensor.a checked=$BUILD/sanitized/libtensor.a
sanitized
extra="$sanitize -DTNI_COUNT_POLLS"
program depth "" "$plain" && run depth "$out/depth"
program forks "" "$plain" && run forks "$out/forks"
program hooks "$extra" "$checked" && run hooks "$out/hooks"
program cancel "$extra" "$checked" && run cancel "$out/cancel"

# With TN_CHECK: its own program and some of others, over the files that know it.
make -s -j"$jobs" checked CC="${CC:-cc}" BUILD="$objects" CFLAGS="$built $watch" || failed=$((failed + 1))
for source in tests/unit/checked.c tests/life/hooks.c tests/unit/functions.c tests/unit/histories.c tests/unit/tape.c; do
    name=checked_$(basename "$source" .c)
    if ${CC:-cc} $flags -Isrc -Itests -DTNI_OBJECTS $extra -DTN_CHECK "$source" tests/unwatched.c "$objects"/checked/*/*.o "$checked" \
        -o "$out/$name" -lm -pthread; then
        run "$name" "$out/$name"
    else
        failed=$((failed + 1))
    fi
done

if [ -z "${TN_QUICK:-}" ] && [ "$(uname)" = Linux ]; then
    shared="${CC:-cc} -std=gnu99 -O0 -fPIC -shared tests/life/plugin.c"
    if packed && $shared -o "$out/plugin.so" -lm -pthread && $shared -DTN_IMPORT -o "$out/imported.so" -lm -pthread &&
        ${CC:-cc} $flags tests/life/unload.c -o "$out/unload" -ldl -pthread &&
        ${CC:-cc} $flags -DTN_EXPORT tests/life/unload.c "$object" -o "$out/host" -lm -ldl -pthread; then
        run unload "$out/unload" "$(pwd)/$out/plugin.so"
        run host "$out/host" "$(pwd)/$out/imported.so"
    else
        failed=$((failed + 1))
    fi
fi
finish
