#!/bin/sh
# What the headers cost those who use them: work of the compiler, size of a program. TN_QUICK=1: the size alone.
#
# What an include costs is instructions of gcc's compiler under valgrind, as a multiple of those for yardstick.txt: a fixed C
# text (not named .c, for the rules on files do not apply to it). Instructions are the same whatever else runs. Compiling
# the implementation under valgrind would take an hour, so its bytes of code stand for it; programs.sh measures times. Of the wider
# headers and of the programs a run takes some, by TN_SEED; TN_FULL=1: all.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
BUILD=${BUILD:-build}
out=$BUILD/budget here=tests/budget
# Above what was reached, the bounds leave a twentieth, for each operator beyond 277 about what those up to 439 took, and for each module
# and optimizer beyond 51 about what those up to 141 took.
rows=$(cat src/ops/*/*.c | grep -c '^TN_OPERATOR(') more=$((rows - 277))
others=$(($(cat src/nn/*.c src/optim/*.c | grep -cE '^TN_(MODULE|OPTIMIZER)\(') - 51))
# The last terms of code_bound, which are no rows: Fourier transforms computed in float32 as well; erfinv and lgamma in two
# numbers, within half a unit; transforms that take two stages of radix 4 in one pass, each for three instruction sets; images that
# stay channels-last, optimizers whose steps are counted on devices, transforms of several dimensions without copies; running sums of
# three dtypes that work in place, grid_sample as a loop with gradients of its own; its places as vectors, for two instruction sets
# and two types; means of runs for pools likewise.
# Of short rows many at a time are summed, compared and made softmax, for two instruction sets and two types; products ask for what comes next.
# The trainer: steps of several batches, half precision, the best epoch; its table and picture (6,000).
# NumPy's files are read, also deflated ones, and written (8,700); tables as text are read (2,500), and
# indices of safetensors files (2,000). Channels-last convolutions of 1 x 1 and of single channels, interpolation and transposed copies
# as they lie, for two instruction sets and two types (12,500). Plans of memory of each device, copies between devices, rates of
# optimizers in tensors (5,800).
# Taken back: conversions by intrinsics, nothing filled up before functions and behind jumps of kernels and most rows (48,000).
# include_bound: streams of devices, graphs of recordings; the tokens that the last terms of code_bound add.
code_bound=$((1070000 + more * 1250 + others * 1200 + 32000 + 10000 + 28000 + 12000 + 8000 + 5000 + 3000 + 18000 + 6000 + 8700 + 2500 + 2000 + 12500 + 5800 - 48000))
include_bound=$(awk "BEGIN { print 0.0897 + $more * 0.000148 + $others * 0.00009 }")
# The headers with 800 operators (wide.sh). Goals: 60 ms in C, 150 ms in g++ where the yardstick takes 0.9 s.
# Neither is reached: gcc reads past each token of the implementation, 62 % of its instructions in C and 36 % in C++. By
# `amalgamate --split`, which puts the sources into another file, both are (0.045 and 0.13).
wide_c_bound=0.1675 wide_c_goal=0.067 wide_cxx_bound=0.4195 wide_bare_bound=0.2045 wide_cxx_goal=0.167
# The last terms of size_bound, which are no rows: sparse tensors and hooks of saved tensors; dtypes of given results; replays of graphs;
# channels-last, counted steps; rows of weights that are read ahead, places of grid_sample and short rows of sums, maxima, softmax as
# vectors, averages in chains; the trainer; channels-last as above.
objects_bound=1.05 size_bound=$((1500000 + more * 600 + others * 2000 + 9000 + 2000 + 4000 + 12000 + 18000 + 17000))
rm -rf "$out" && mkdir -p "$out" || exit 1
if command -v gcc > /dev/null; then cc=gcc; else cc=${CC:-cc}; fi

printf '%s\n' '#define TENSOR_IMPLEMENTATION' '#define TENSOR_NN_IMPLEMENTATION' '#include "tensor_nn.h"' > "$out/implementation.c"
printf '%s\n' '#include "tensor.h"' '#include "tensor_nn.h"' 'int nothing;' > "$out/include.c"
wide=$(drawn 1 c cxx bare) programs=$(drawn 2 readme game fashion smallest) modes=$(drawn 1 alone scope)
echo "sample: 800 operators $wide, programs $programs, objects $modes, TN_SEED=$TN_SEED"
[ -n "${TN_QUICK:-}" ] || sh "$here/wide.sh" "$out/wide" 800 > "$out/wide.rows" && cp "$out/include.c" "$out/wide" || exit 1

passed=0 failed=0
check() { # WHAT VALUE BOUND: value <= bound
    if [ -n "$2" ] && awk "BEGIN { exit !($2 <= $3) }"; then
        passed=$((passed + 1)) && echo "ok      $1: $2, at most $3"
    else
        failed=$((failed + 1)) && echo "FAILED  $1: ${2:-nothing}, at most $3"
    fi
}
compile() { # NAME COMPILER FLAGS...: the instructions of its compiler into $out/NAME.count
    name=$1
    shift
    rm -f "$out/$name.count"
    "$@" -S -I. -o "$out/$name.s" \
        -wrapper "valgrind,--tool=callgrind,--callgrind-out-file=/dev/null,--log-file=$out/$name.log" || return
    sed -n 's/.*Collected : //p' "$out/$name.log" > "$out/$name.count"
}
# The bounds are multiples of the yardstick at -O2, which is 5.118 times that at -O0 and would take valgrind a minute.
ratio() {
    cat "$out/$1.count" "$out/yardstick.count" 2> /dev/null | awk '{ n[NR] = $1 } END { if (NR == 2) printf "%.4f", n[1] / n[2] / 5.118 }'
}

counted=
[ -n "${TN_QUICK:-}" ] || ! command -v valgrind > /dev/null || [ $cc != gcc ] || counted=1
if [ "$counted" ]; then
    library gcc -std=gnu99 -O2 $strict # that of the other lanes
    implementation=$object
    check "the implementation of both headers, bytes of code" \
        "$(size -A "$implementation" | awk '/^\.text/ { n += $2 } END { print n }')" $code_bound
    compile yardstick gcc -std=c99 -O0 -x c "$here/yardstick.txt"
    compile include gcc -std=c99 -O2 "$out/include.c"
    check "plain include of both headers in C, times the yardstick" "$(ratio include)" $include_bound
    for form in $wide; do
        case $form in
        c)
            compile wide gcc -std=c99 -O2 "$out/wide/include.c"
            check "the same with 800 operators, C" "$(ratio wide)" $wide_c_bound
            echo "        its goal: $wide_c_goal times"
            ;;
        cxx)
            ! command -v g++ > /dev/null || compile wide_cxx g++ -O2 -x c++ "$out/wide/include.c"
            ! command -v g++ > /dev/null || check "with 800 operators, g++" "$(ratio wide_cxx)" $wide_cxx_bound
            echo "        its goal: $wide_cxx_goal times"
            ;;
        bare)
            ! command -v g++ > /dev/null || compile wide_bare g++ -O2 -x c++ -DTN_NO_OVERLOADS "$out/wide/include.c"
            ! command -v g++ > /dev/null || check "with 800 operators, g++ -DTN_NO_OVERLOADS" "$(ratio wide_bare)" $wide_bare_bound
            echo "        its goal: $wide_cxx_goal times"
            ;;
        esac
    done
else
    echo "quick, or no gcc with valgrind: what an include costs is not counted"
fi

# Objects of C++ beside pointers of C, in instructions of a round: exact, whatever else runs.
instructions() { # MODE
    for rounds in 100 1100; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/objects" "$1" $rounds 2>&1 | sed -n 's/.*Collected : //p'
    done | awk '{ n[NR] = $1 } END { if (NR == 2 && n[2] > n[1]) print (n[2] - n[1]) / 1000 }'
}
objects() { # WHAT SUFFIX
    c=$(instructions "c$2") cxx=$(instructions "cxx$2")
    check "a + b * 2 of tn::tensor, $1, times C's instructions" \
        "$(echo "$cxx $c" | awk 'NF == 2 { printf "%.3f", $1 / $2 }')" $objects_bound
}
if [ "$counted" ] && command -v g++ > /dev/null; then
    g++ -std=c++11 -O2 -I. $here/objects.cpp "$implementation" -o "$out/objects" -lm -pthread
    ! among alone "$modes" || objects "in no scope" ""
    ! among scope "$modes" || objects "in a scope" _scope
else
    echo "no g++ with valgrind, or quick: the instructions of tn::tensor are not counted"
fi

# Trimmed programs, dynamic and stripped: what tools/trim leaves of the headers. The bounds leave 2 to 5 % above
# what was reached.
trimmed() { # NAME BYTES SOURCES...
    name=$1 bound=$2
    among "$1" "$programs" || return 0
    shift 2
    mkdir -p "$out/$name.small"
    "$out/trim" -o "$out/$name.small" tensor.h tensor_nn.h -- "$@" &&
        $cc -std=c99 -O2 -w -I"$out/$name.small" "$@" -s -o "$out/$name" -lm -pthread
    check "$name trimmed, bytes" "$(wc -c < "$out/$name" | tr -d ' ')" "$bound"
}
$cc -O1 tools/trim.c -o "$out/trim" || exit 1
sed -n '/^```c$/,/^```$/p' README.md | sed '1d; /^```$/q' | sed '$d' > "$out/readme.c"
trimmed readme 366500 "$out/readme.c"
trimmed game 354000 examples/game.c
trimmed fashion 730000 examples/fashion/*.c

# The smallest fashion: linked statically where the system has a static C library, built for size.
small="-Os -DTN_NO_AVX512 -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables"
small="$small -Wl,--gc-sections"
smallest() {
    for static in -static ''; do
        if $cc -std=c99 $small -I. $static -s examples/fashion/*.c -o "$out/smallest" -lm -pthread 2> "$out/link"; then break; fi
    done
    [ -n "$static" ] || echo "no static C library: fashion is linked dynamically"
    if [ -f "$out/smallest" ]; then
        size "$out/smallest" 2> /dev/null
        bytes=$(wc -c < "$out/smallest" | tr -d ' ')
    else
        head -5 "$out/link" && bytes=
    fi
    check "a stripped${static:+ static} fashion, bytes" "$bytes" $size_bound
}
! among smallest "$programs" || smallest
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
