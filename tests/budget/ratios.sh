#!/bin/sh
# ratios.sh BASE [ROUNDS] - processor time and size of trimmed programs, as ratios to the whole header of the tree BASE (its tensor.h
# and tensor_nn.h), by gcc and clang -O2, stripped, dynamic. Rounds are interleaved; the least time of each counts, for other
# work only adds to it.
cd "$(dirname "$0")/../.." || exit 1
base=${1:?ratios.sh BASE [ROUNDS]} rounds=${2:-3}
BUILD=${BUILD:-build}
out=$(pwd)/$BUILD/ratios here=tests/budget
rm -rf "$out" && mkdir -p "$out/readme" "$out/mlp" "$out/fashion" || exit 1
cc -O1 $here/stopwatch.c -o "$out/stopwatch" && cc -O1 tools/trim.c -o "$out/trim" || exit 1
sed -n '/^```c$/,/^```$/p' README.md | sed '1d; /^```$/q' | sed '$d' > "$out/readme.c"
cat > "$out/mlp.c" << 'C'
#define TENSOR_IMPLEMENTATION
#include "tensor.h"
int main(void) { /* two layers and a softmax of what is loaded */
    tn_tensor *w1 = tn_ones(TN_DIMS(32, 16)), *b1 = tn_ones(TN_DIMS(32)), *w2 = tn_ones(TN_DIMS(4, 32));
    tn_tensor *x = tn_ones(TN_DIMS(8, 16));
    tn_set_grad_mode(false);
    tn_print(tn_softmax(tn_linear(tn_relu(tn_linear(x, w1, .bias = b1)), w2), 1));
    return tn_error_print();
}
C
all="-DTN_NO_AVX512 -DTN_ISA_ONLY_AVX2 -DTN_NO_COMPLEX -DTN_NO_HALF"
"$out/trim" -o "$out/readme" tensor.h tensor_nn.h -- "$out/readme.c" || exit 1
"$out/trim" -o "$out/mlp" --inference tensor.h tensor_nn.h -- "$out/mlp.c" || exit 1
"$out/trim" -o "$out/fashion" tensor.h tensor_nn.h -- examples/fashion/*.c || exit 1
build() { # NAME COMPILER FLAGS SOURCES...: one round
    name=$1 compiler=$2 flags=$3
    shift 3
    for source in "$@"; do
        # shellcheck disable=SC2086
        "$out/stopwatch" $compiler -std=c99 -O2 -w $flags -c "$source" -o "$out/$(basename "$source" .c).o" || exit 1
    done | awk '{ s += $1 } END { print s }' >> "$out/$name.times"
    $compiler $(for source in "$@"; do echo "$out/$(basename "$source" .c).o"; done) -s -o "$out/$name" -lm -pthread
}
least() { sort -n "$out/$1.times" | head -1; }
for compiler in gcc clang; do
    command -v $compiler > /dev/null || continue
    for round in $(seq "$rounds"); do
        build $compiler.readme.base $compiler "-I$base" "$out/readme.c"
        build $compiler.readme.full $compiler "-I." "$out/readme.c"
        build $compiler.readme.static $compiler "-I. -DTENSOR_TRIM" "$out/readme.c"
        build $compiler.readme.all $compiler "-I$out/readme -DTENSOR_TRIM $all" "$out/readme.c"
        build $compiler.mlp.base $compiler "-I$base" "$out/mlp.c"
        build $compiler.mlp.inference $compiler "-I$out/mlp -DTENSOR_TRIM $all" "$out/mlp.c"
        build $compiler.fashion.base $compiler "-I$base" examples/fashion/*.c
        build $compiler.fashion.full $compiler "-I." examples/fashion/*.c
        build $compiler.fashion.trimmed $compiler "-I$out/fashion" examples/fashion/*.c
    done
    for one in readme.full readme.static readme.all mlp.inference fashion.full fashion.trimmed; do
        echo "$compiler $one: $(awk -v a="$(least $compiler.$one)" -v b="$(least $compiler.${one%.*}.base)" \
            'BEGIN { printf "%.3f of the time of the base (%.1f of %.1f s)", a / b, a, b }'), $(wc -c < "$out/$compiler.$one") bytes"
    done
done
