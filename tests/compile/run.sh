#!/bin/sh
# The headers in every language, compiler and use that they promise: no warning in right use, an error
# in wrong use. A compiler that is not there is left out with a word. TN_QUICK=1: oldest and newest
# language only.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
top=$(pwd)
out=$top/$BUILD/compile
here=$top/tests/compile
rm -rf "$out" && mkdir -p "$out/cases" || exit 1

# Compilers for other targets, where this may install them; what is missing then is left out below.
if [ -z "${TN_QUICK:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    for wanted in tcc:tcc x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 \
        "aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu libc6-dev-arm64-cross" qemu-aarch64:qemu-user; do
        command -v "${wanted%%:*}" > /dev/null || DEBIAN_FRONTEND=noninteractive timeout 180 \
            apt-get install -y -q --no-install-recommends ${wanted#*:} >> "$out/apt.log" 2>&1
    done
fi
. "$here/cases.sh"

# Each case is a script; it passes when it ends with 0 and writes nothing to stderr.
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
ls "$out"/cases/*.sh | xargs -P "$jobs" -n 1 sh -c '
    name=${1%.sh}
    mkdir -p "$name.dir" && cd "$name.dir" || exit
    sh "$1" > "$name.out" 2> "$name.err"
    echo $? > "$name.status"' case
passed=0 failed=0
for script in "$out"/cases/*.sh; do
    name=${script%.sh}
    if [ "$(cat "$name.status")" = 0 ] && [ ! -s "$name.err" ]; then
        passed=$((passed + 1))
        rm -rf "$name.dir"
    else
        failed=$((failed + 1))
        sed -n '1s/^# /FAILED /p' "$script"
        sed '1d;s/^/    /' "$script"
        head -12 "$name.err" | cut -c1-300 | sed 's/^/    | /'
    fi
    sed -n 's/^note: //p' "$name.out"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
