#!/bin/sh
# Builds the page: examples/page/build.sh FOLDER writes FOLDER/index.html, one file with everything in it. Needs emcc.
set -e
cd "$(dirname "$0")/../.."
to=${1:-build/page} here=examples/page data=examples/fashion/digits
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}" # where Debian's emcc finds its modules, whoever packed node
mkdir -p "$to"

# digits.h: 64 pixels of 4 bits (the highest level, 16, becomes 15), then the label
numbers() { od -An -v -tu1 -j "$1" "$2" | tr -s ' \n' '\n\n' | grep .; }
{
    numbers 8 $data/labels-idx1-ubyte
    numbers 16 $data/images-idx3-ubyte
} | awk -v n="$(numbers 8 $data/labels-idx1-ubyte | grep -c .)" '
    BEGIN { print "enum { DIGITS = " n " };\nstatic const unsigned char digits[DIGITS][33] = {" }
    NR <= n { label[NR] = $1; next }
    { v = $1 > 15 ? 15 : $1; i = (NR - n - 1) % 64 }
    i % 2 == 0 { high = v; next }
    { line = line (i == 1 ? "{" : "") 16 * high + v "," }
    i == 63 { print line label[(NR - n) / 64] "},"; line = "" }
    END { print "};" }' > "$to/digits.h"

emcc -std=gnu99 -Os -msimd128 -DTN_ISA_ONLY_WASM128 -Wall -Wextra -DTN_NO_COMPLEX -DTN_NO_HALF -I. -I"$to" $here/page.c -o "$to/page.wasm" \
    --no-entry -s STANDALONE_WASM=1 -s ALLOW_MEMORY_GROWTH=1 2> "$to/emcc.log" || { cat "$to/emcc.log"; exit 1; }

# lines of @include are replaced by the files that they name
gzip -9nc "$to/page.wasm" | base64 | tr -d '\n' | sed 's/.*/const WASM = "&";/' > "$to/wasm.js"
awk -v here="$here" -v to="$to" '
    /@include/ { file = $2; file = (file == "wasm.js" ? to : here) "/" file; while ((getline line < file) > 0) print line; next }
    { print }' $here/index.html > "$to/index.html"
echo "$to/index.html: $(wc -c < "$to/index.html") bytes, of them $(wc -c < "$to/wasm.js") for the module"
