#!/bin/sh
# programs.sh [ROUNDS [BASE]] - what six programs take: bytes, stripped and dynamic, by gcc -O2 (or $CC); with ROUNDS, seconds of
# processor time to compile each, the least of so many interleaved rounds, for other work only adds to it, and as multiples of
# compiling yardstick.txt in the same rounds. BASE, another tree: also with that tree's whole headers. Prints tables in markdown.
cd "$(dirname "$0")/../.." || exit 1
rounds=${1:-0} base=${2:-}
BUILD=${BUILD:-build}
out=$(pwd)/$BUILD/programs here=tests/budget cc=${CC:-gcc}
rm -rf "$out" && mkdir -p "$out" || exit 1
$cc -O1 $here/stopwatch.c -o "$out/stopwatch" && $cc -O1 tools/trim.c -o "$out/trim" || exit 1
readme_of() { sed -n '/^```c$/,/^```$/p' "$1/README.md" | sed '1d; /^```$/q' | sed '$d'; } # TREE: the program that its README shows
readme_of . > "$out/readme.c"
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
printf '%s\n' '#define TENSOR_IMPLEMENTATION' '#define TENSOR_NN_IMPLEMENTATION' '#include "tensor_nn.h"' > "$out/library.c"
switches="-DTN_NO_AVX512 -DTN_ISA_ONLY_AVX2 -DTN_NO_COMPLEX -DTN_NO_HALF -DTN_NO_DEVICES"

# The programs: sources, flags, trim's options, and the forms that apply. `static` is TENSOR_TRIM, for a program of one file.
game="examples/fireflies/main.cpp $out/library.c"
program() { # NAME: sets sources flags options forms libraries
    flags="" options="" libraries="-lm -pthread"
    case $1 in
        readme) sources=$out/readme.c forms="full static trim all" ;;
        mlp) sources=$out/mlp.c options=--inference forms="full static trim all" ;;
        classify) sources=examples/classify.c flags=-DNO_STB forms="full static trim all" ;;
        fashion) sources=$(echo examples/fashion/*.c) forms="full trim all" ;;
        fireflies)
            sources=$game forms="full trim all"
            flags=$(sdl2-config --cflags 2> /dev/null) || return 1
            libraries="$(sdl2-config --libs) $libraries"
            ;;
        lua) # reaches every operator by name, so that nothing can be left out but by switches
            sources=examples/lua/tensor_core.c forms="full switches"
            flags=$(pkg-config --cflags lua5.4 2> /dev/null || echo -I/usr/include/lua5.4)
            echo '#include <lauxlib.h>' | $cc $flags -fsyntax-only -x c - 2> /dev/null || return 1
            flags="$flags -fPIC" libraries="-shared -Wl,-z,nodelete $libraries"
            ;;
    esac
}
say() {
    case $1 in
        readme) echo "README's program" ;;
        mlp) echo "inference of two layers (\`--inference\`)" ;;
        classify) echo "\`examples/classify.c\`" ;;
        fashion) echo "\`examples/fashion\`: layers, trainer, checkpoints" ;;
        fireflies) echo "\`examples/fireflies\`, C++" ;;
        lua) echo "\`examples/lua\`: every operator by name" ;;
    esac
}
trimmed() { # NAME: its headers, once
    [ -d "$out/$1.small" ] && return
    mkdir -p "$out/$1.small"
    # shellcheck disable=SC2086
    "$out/trim" -o "$out/$1.small" $options tensor.h tensor_nn.h -- $sources || exit 1
}
of_base() { # NAME: the program as the tree BASE has it; fails where it has none
    case $1 in
        readme) readme_of "$base" > "$out/readme.base.c" && echo "$out/readme.base.c" ;;
        mlp) echo "$out/mlp.c" ;;
        fashion) echo "$base"/examples/fashion/*.c ;;
        *) return 1 ;;
    esac
}
compile() { # NAME FORM: the program, and its time where rounds are asked for
    case $2 in
        base) include=-I$base sources=$(of_base "$1") || return ;;
        full) include=-I. ;;
        switches) include="-I. $switches" ;;
        static) include="-I. -DTENSOR_TRIM" ;;
        trim) trimmed "$1" && include=-I$out/$1.small ;;
        all) trimmed "$1" && include="-I$out/$1.small $switches" ;;
    esac
    objects="" linker=$cc
    for source in $sources; do
        compiler="$cc -std=c99"
        case $source in *.cpp) compiler="g++ -std=c++11" linker=g++ ;; esac
        object=$out/$(basename "$source").o objects="$objects $out/$(basename "$source").o"
        # shellcheck disable=SC2086
        "$out/stopwatch" $compiler -O2 -w $include $flags -c "$source" -o "$object" || exit 1
    done > "$out/seconds"
    awk '{ s += $1 } END { print s }' "$out/seconds" >> "$out/$1.$2.times"
    # shellcheck disable=SC2086
    $linker $objects -s -o "$out/$1.$2" $libraries || exit 1
}
least() { sort -n "$out/$1.times" | head -1; }
bytes() { wc -c < "$out/$1" 2> /dev/null | awk '{ printf "%.0f", $1 / 1000 }'; }
ratio() { echo "$(least "$1") $(least yardstick)" | awk '{ printf "%.1f (%.1f s)", $1 / $2, $1 }'; }
table() { # TITLE CELL: one row a program, the cell of each form
    printf '%s\n\n' "$1"
    echo "| program | ${base:+base | }whole headers | \`TENSOR_TRIM\` | \`trim\` | all switches |"
    echo "| --- | ${base:+--- | }--- | --- | --- | --- |"
    for name in $programs; do
        program $name
        line="| $(say $name) |"
        for form in ${base:+base} full static trim all; do
            cell=""
            case " $forms " in *" $form "*) cell=$($2 $name.$form) ;; esac
            [ $form != base ] || { [ -f "$out/$name.base" ] && cell=$($2 $name.base) || cell=none; }
            [ $form != all ] || case $forms in *switches) cell="$($2 $name.switches)" ;; esac
            [ -n "$cell" ] || case $form.$forms in
                static.*switches | trim.*switches) cell="calls by name" ;;
                *) cell="more than one file" ;;
            esac
            line="$line $cell |"
        done
        echo "$line"
    done
    echo
}

programs=""
for name in readme mlp classify fashion fireflies lua; do
    if program $name; then programs="$programs $name"; else echo "$name: its libraries are missing, left out" >&2; fi
done
for round in $(seq "$((rounds > 0 ? rounds : 1))"); do
    [ "$rounds" = 0 ] || "$out/stopwatch" $cc -std=c99 -O2 -x c -c $here/yardstick.txt -o "$out/yardstick.o" >> "$out/yardstick.times"
    for name in $programs; do
        program $name
        for form in ${base:+base} $forms; do program $name; compile $name $form; done
    done
done
table "kB, stripped, dynamic, $($cc --version | head -1), -O2" bytes
[ "$rounds" = 0 ] || table "Time to compile, times the yardstick, which takes $(least yardstick) s of processor time here ($(
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2> /dev/null | head -1); least of $rounds rounds)" ratio
