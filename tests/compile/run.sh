#!/bin/sh
# The headers in every language, compiler and use that they promise: no warning in right use, an error
# in wrong use; and a real program, with the same files and results, by each compiler and on other
# targets (emulated). A compiler that is not there is left out with a word. A run takes gcc and g++ or clang and
# clang++, one standard of each language, three of the cases that compile the whole library and two or three targets, by TN_SEED.
# TN_FULL=1: all of them, every form by every compiler, the real program whole in each, more targets.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
top=$(pwd)
out=$top/$BUILD/compile
here=$top/tests/compile
rm -rf "$out" && mkdir -p "$out/cases" || exit 1

# Compilers for other targets, where this may install them; what is missing then is left out below.
. tests/shared.sh
[ -n "${TN_QUICK:-}" ] || need tcc qemu-aarch64:qemu-user -m32 \
    aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross s390x-linux-gnu-gcc:gcc-s390x-linux-gnu,libc6-dev-s390x-cross
[ -z "${TN_FULL:-}" ] || need clang-19 x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 wine:wine,wine64 emcc:emscripten
. "$here/cases.sh"

# Each case is a script; it passes when it ends with 0 and writes nothing to stderr.
ls "$out"/cases/*.sh | xargs -P "$jobs" -n 1 sh -c '
    name=${1%.sh}
    mkdir -p "$name.dir" && cd "$name.dir" || exit
    sh "$1" > "$name.out" 2> "$name.err"
    echo $? > "$name.status"' case
passed=0 failed=0 built=0 ran=0
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
    ran=$((ran + $(grep -c '^ran: ' "$name.out")))
    sed 1q "$script" | grep -qE '^# (callers|implementation|a real program|.*x86|tcc|mingw|aarch64|s390x|wasm|one thread)' &&
        built=$((built + 1))
done
quieted=$(grep -hoE '(diagnostic ignored|NOLINT|cppcheck-suppress)' $(find src -name "*.[ch]" -o -name "*.inl") | grep -c .)
echo "promise 23: $built configurations of compiler, language and target, $failed with a warning or an error;" \
    "$ran ran the real program with the same files and the same sum; $quieted warnings silenced in src/"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
