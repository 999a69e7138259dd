#!/bin/sh
# goals.sh [ROUNDS [BASE]] - what trimmed programs cost beside their goals, by gcc and clang at -O2: one table.
#
# Compiling is a ratio to the same program with the whole headers of commit BASE, in instructions of the compiler where
# `perf stat` counts them, otherwise in seconds of processor time: the least of ROUNDS (3) interleaved rounds, and behind it
# the range that the rounds gave. Bytes are those of the program, stripped and linked dynamically. No goal met is no failure:
# budget/run.sh holds the sizes.
cd "$(dirname "$0")/../.." || exit 1
rounds=${1:-3} base=${2:-0f87196}
BUILD=${BUILD:-build}
out=$(pwd)/$BUILD/goals here=tests/budget
rm -rf "$out" && mkdir -p "$out/base" || exit 1
git archive "$base" tensor.h tensor_nn.h README.md examples/fashion | tar -x -C "$out/base" || exit 1
cc -O1 $here/stopwatch.c -o "$out/stopwatch" && cc -O1 tools/trim.c -o "$out/trim" || exit 1
readme_of() { sed -n '/^```c$/,/^```$/p' "$1/README.md" | sed '1d; /^```$/q' | sed '$d'; } # TREE
readme_of . > "$out/readme.c"
readme_of "$out/base" > "$out/readme.base.c"
sed -n '/^cat > "$out\/mlp.c"/,/^C$/p' $here/programs.sh | sed '1d;$d' > "$out/mlp.c"
[ -s "$out/mlp.c" ] || exit 1
switches="-DTN_NO_AVX512 -DTN_ISA_ONLY_AVX2 -DTN_NO_COMPLEX -DTN_NO_HALF -DTN_NO_DEVICES"
fashion=$(echo examples/fashion/*.c)
trimmed() { # NAME SOURCES AND OPTIONS...
    mkdir -p "$out/$1.small"
    folder=$out/$1.small
    shift
    "$out/trim" -o "$folder" "$@" || exit 1
}
trimmed readme tensor.h tensor_nn.h -- "$out/readme.c"
trimmed mlp --inference tensor.h tensor_nn.h -- "$out/mlp.c"
# shellcheck disable=SC2086
trimmed fashion tensor.h tensor_nn.h -- $fashion

unit=seconds
case $(perf stat -x, -e instructions:u true 2>&1 | cut -d, -f1) in *[!0-9]* | '') ;; *) unit=instructions ;; esac
cost() { # COMMAND...: what it takes
    if [ $unit = seconds ]; then "$out/stopwatch" "$@"; else
        perf stat -x, -e instructions:u -o "$out/perf" "$@" && awk -F, '/instructions/ { print $1 }' "$out/perf"
    fi
}
# Forms: the flags and sources of each; the base first.
forms="readme.base readme.full readme.trim readme.all mlp.base mlp.all fashion.base fashion.small"
form() { # NAME: sets sources flags
    case $1 in
        readme.base) flags=-I$out/base sources=$out/readme.base.c ;;
        readme.full) flags=-I. sources=$out/readme.c ;;
        readme.trim) flags="-I. -DTENSOR_TRIM" sources=$out/readme.c ;;
        readme.all) flags="-I$out/readme.small $switches" sources=$out/readme.c ;;
        mlp.base) flags=-I$out/base sources=$out/mlp.c ;;
        mlp.all) flags="-I$out/mlp.small $switches" sources=$out/mlp.c ;;
        fashion.base) flags=-I$out/base sources=$(echo "$out"/base/examples/fashion/*.c) ;;
        fashion.small) flags=-I$out/fashion.small sources=$fashion ;;
    esac
}
# shellcheck disable=SC2086
measure() { # COMPILER FORM
    form "$2"
    objects=""
    for source in $sources; do
        object=$out/$1.$2.$(basename "$source").o objects="$objects $out/$1.$2.$(basename "$source").o"
        cost "$1" -std=c99 -O2 -w $flags -c "$source" -o "$object" || exit 1
    done | awk '{ s += $1 } END { print s }' >> "$out/$1.$2.cost"
    for source in $sources; do objects="$objects $out/$1.$2.$(basename "$source").o"; done
    "$1" $objects -s -o "$out/$1.$2" -lm -pthread || exit 1
}
cell() { # COMPILER FORM BASE: ratio, range, bytes
    paste "$out/$1.$2.cost" "$out/$1.$3.cost" | awk -v bytes="$(wc -c < "$out/$1.$2")" '
        NR == 1 || $1 < least { least = $1 } NR == 1 || $2 < base { base = $2 }
        { r = $1 / $2 } NR == 1 || r < low { low = r } NR == 1 || r > high { high = r }
        END { printf "%.3f (%.3f..%.3f); %d", least / base, low, high, bytes }'
}
compilers=""
for compiler in gcc clang; do command -v $compiler > /dev/null && compilers="$compilers $compiler"; done
for round in $(seq "$rounds"); do
    for compiler in $compilers; do
        for name in $forms; do measure $compiler $name; done
    done
done
echo "Ratio of $unit to compile to those of commit $base, least of $rounds rounds (range); bytes stripped"
echo
echo "| program | goal |$(for c in $compilers; do printf ' %s |' "$($c --version | head -1)"; done)"
echo "| --- | --- |$(for c in $compilers; do printf ' --- |'; done)"
line() { # WHAT GOAL FORM BASE
    printf '| %s | %s |' "$1" "$2"
    for compiler in $compilers; do printf ' %s |' "$(cell $compiler "$3" "$4")"; done
    echo
}
line "README's program, whole header" "0.85" readme.full readme.base
line "README's program, \`TENSOR_TRIM\`" "0.33; 360000" readme.trim readme.base
line "README's program, \`trim\`, all switches" "0.22; 310000" readme.all readme.base
line "inference of two layers, \`trim --inference\`, all switches" "0.17; 230000" mlp.all mlp.base
line "\`examples/fashion\`, \`trim\`" "0.42; 700000" fashion.small fashion.base
