#!/bin/sh
# The library in WebAssembly: its numbers are those of this machine, and examples/page learns digits in headless Chromium.
#
# Numbers, under node: sums that must be rounded once, the hash of tests/hash, and with TN_FULL=1 the parts of tests/ops that compare
# rows with torch's values and with scalar code, of a sample of rows without it. Page: its size, and what tests/page/page.py asks.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
here=tests/page out=$BUILD/page
cc=${CC:-cc}
. tests/shared.sh
mkdir -p "$out" || exit 1
need emcc:emscripten chromium node:nodejs python3
for tool in emcc chromium node python3; do
    command -v $tool > /dev/null || { echo "left out: no $tool"; echo "0 passed, 0 failed"; exit 0; }
done
passed=0 failed=0
check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" > "$out/log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED  $what"
        sed 's/^/    | /' "$out/log" | cut -c1-300 | head -15
    fi
}
quiet() { "$@" > "$out/quiet" 2>&1; status=$?; cat "$out/quiet"; [ $status = 0 ] && [ ! -s "$out/quiet" ]; } # no warning
ends() { tail -5 "$1"; tail -1 "$1" | grep -q "$2"; }

# --- numbers --------------------------------------------------------------------------------------
# getenv reads what the shell has set
echo 'Module["preRun"] = () => { if (process.env.TN_ISA) ENV.TN_ISA = process.env.TN_ISA; };' > "$out/isa.js"
linked="-s ALLOW_MEMORY_GROWTH=1 -s ENVIRONMENT=node -s NODERAWFS=1 -s EXIT_RUNTIME=1 --pre-js $out/isa.js"
wasm() { node --no-experimental-fetch "$@"; } # TN_ISA=SET wasm PROGRAM.js ARGUMENT...

packed # the library of this machine
printf '#define TENSOR_IMPLEMENTATION\n#define TENSOR_NN_IMPLEMENTATION\n#include "tensor_nn.h"\n' > "$out/library.c"
check "emcc compiles the implementation without a warning" \
    quiet emcc -std=gnu99 -O1 -msimd128 -Wall -Wextra -I. -c "$out/library.c" -o "$out/library.o"
for program in page/fma hash/hash; do
    name=${program#*/}
    check "$name: this machine's" $cc -std=gnu99 -O1 -I. tests/$program.c "$object" -o "$out/$name" -lm -pthread
    check "$name: wasm's" emcc -std=gnu99 -O1 -I. tests/$program.c "$out/library.o" -o "$out/$name.js" $linked
done
"$out/fma" > "$out/fma.said" 2>&1
check "fma.c has sums that rounding twice would spoil" awk '{ exit !($3 > 1000 && $6 > 1000) }' "$out/fma.said"
"$out/hash" 2 > "$out/hash.said" 2>&1
check "this machine hashes" grep -q '^all ' "$out/hash.said"
for isa in scalar wasm128; do
    for name in fma hash; do
        threads=
        [ $name = fma ] || threads=2
        TN_ISA=$isa wasm "$out/$name.js" $threads > "$out/$name.$isa" 2>&1
        check "$name: $isa gives the bits of this machine" diff "$out/$name.said" "$out/$name.$isa"
    done
done
. $here/rows.sh

# --- the page -------------------------------------------------------------------------------------
rm -f "$out/index.html"
check "the page builds without a warning" sh examples/page/build.sh "$out"
check "the compiler says nothing" test ! -s "$out/emcc.log"
size() { cat "$@" | wc -c; }
check "the page is one file of at most 500,000 bytes" test "$(size "$out/index.html")" -le 500000 -a "$(size "$out/index.html")" -gt 100000
unpacked=$(($(size "$out/page.wasm") + $(size examples/page/index.html examples/page/page.css examples/page/page.js)))
check "nothing compressed, it has at most 500,000 bytes, too" test "$unpacked" -le 500000
check "the same program for this machine" quiet $cc -std=gnu99 -O1 -Wall -Wextra $(runnable) -I. -I"$out" -Iexamples/page \
    $here/native.c -o "$out/native" -lm -pthread
if python3 $here/page.py "$out" "$out/native" > "$out/page.said" 2>&1; then
    set -- $(tail -1 "$out/page.said")
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
    sed '$d' "$out/page.said"
else
    failed=$((failed + 1))
    echo "FAILED  page.py"
    tail -15 "$out/page.said"
fi
echo "index.html: $(size "$out/index.html") bytes; not compressed: $unpacked, of them $(size "$out/page.wasm") of page.wasm"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
