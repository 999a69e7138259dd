#!/bin/sh
# CUDA without a GPU: the emulation of README.md, and what runs on it. Its own test: each word of kernels and each function of the
# runtime means what CUDA says, and each rule stops what breaks it (words.cc, runtime.cc). With ASan and UBSan;
# TN_FULL=1: with plain g++ and clang++ as well.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/cuda_host
mkdir -p "$out"
passed=0 failed=0
command -v g++ > /dev/null || { echo "no g++: left out" && echo "0 passed, 0 failed" && exit; }

# A program for a way of building: NAME_WAY; compiled without a warning.
build() { # WAY NAME SOURCE...
    way=$1 name=$2
    shift 2
    flags="-std=c++17 -g -DTNC_EMULATION -Itests/cuda_host $strict"
    rm -f "$out/${name}_$way"
    case $way in
    gcc) g++ $flags -O1 "$@" -o "$out/${name}_$way" -pthread ;;
    asan) g++ $flags -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all "$@" -o "$out/${name}_$way" -pthread ;;
    clang) clang++ $flags -O1 "$@" -o "$out/${name}_$way" -pthread ;;
    esac > "$out/${name}_$way.said" 2>&1
}
add() { # NAME STATUS: what the program of this log says at its end
    log=$out/$1.log
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || { echo "FAILED $1, status $2" && tail -40 "$log" | cut -c 1-300 | sed 's/^/    /'; }
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
program() { # WAY NAME: one that was built is run
    if [ -x "$out/$2_$1" ] && [ ! -s "$out/$2_$1.said" ]; then
        "$out/$2_$1" > "$out/$2_$1.log" 2>&1
        add "$2_$1" $?
    else
        echo "FAILED $2_$1: compiles" && head -20 "$out/$2_$1.said" | cut -c 1-300 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

ways="asan"
[ -z "${TN_FULL:-}" ] || ways="gcc asan"
[ -z "${TN_FULL:-}" ] || ! command -v clang++ > /dev/null || ways="$ways clang"

# --- the emulation itself -----------------------------------------------------------------------
for way in $ways; do
    build "$way" words tests/cuda_host/words.cc tests/cuda_host/other.cc &
    build "$way" runtime tests/cuda_host/runtime.cc
    wait
    program "$way" words
    program "$way" runtime
done

# --- the backend on it ----------------------------------------------------------------------------
# Each row by its samples, bit for bit the CPU's: a sample of the rows, with threads in another order, grids of few blocks and lazy
# streams; TN_FULL=1: all rows in each of these ways. Programs of the backend (NAME.cc), and which way each row comes (missing.txt).
backend() { # NAME COMMAND...
    name=$1
    shift
    "$@" > "$out/$name.log" 2>&1
    add "$name" $?
    grep -E '^(ways|missing|sample|survives|caught)' "$out/$name.log" | cut -c 1-200 | head -40
}
programs="products convolutions $(ls tests/cuda_host/*.cc | sed 's|.*/||; s|\.cc$||' | grep -v -x -e words -e other -e runtime -e tested)"
if make -s -j"$jobs" "$out/rows" $(for p in $programs; do echo "$out/program_$p"; done) > "$out/make.log" 2>&1; then
    sort -u "$out/make.log"
    for way in "EMU_ORDER=0" "EMU_ORDER=7 EMU_LAZY=1 EMU_BLOCKS=3 EMU_GUARD=0 EMU_PRODUCT_WAY=4 EMU_PIECE=37 TN_CAPTURED=1" ${TN_FULL:+"EMU_ORDER=1 EMU_BLOCKS=1 EMU_GUARD=0"}; do
        if rows=$(sample operator 60 30); then
            # shellcheck disable=SC2086
            backend "rows_$(echo "$way" | tr -c 'A-Z0-9\n' _)" env $way "$out/rows" $rows
        fi
    done
    # Samples that are larger than the rows' own, so that grids go round and blocks end within (larger.h).
    if rows=$(sample operator 30 20); then
        # shellcheck disable=SC2086
        backend rows_larger env TN_QUICK=1 TN_LARGER=2 EMU_GUARD=0 EMU_ORDER=7 EMU_BLOCKS=3 EMU_PRODUCT_WAY=5 "$out/rows" $rows
    fi
    # Faults in kernels, of which nine of ten must be caught: TN_MUTANTS=n, on demand.
    [ -z "${TN_MUTANTS:-}" ] || backend mutants python3 tests/cuda_host/mutants.py "$TN_MUTANTS" "$TN_SEED"
    backend equivalent python3 tests/cuda_host/mutants.py 0
    for p in $programs; do
        [ -n "${TN_ROW:-}" ] || backend "$p" "$out/program_$p" tests/cuda_host/missing.txt
    done
else
    tail -30 "$out/make.log"
    failed=$((failed + 1))
fi

# A program and the backend as a module, both as a user builds them: training gives the CPU's weights to the bit (TN_FULL=1).
fashion() {
    module=$out/module
    rm -rf "$module" && mkdir -p "$module" || return
    printf '#define TN_IMPORT\n#include "tensor.h"\n#define TENSOR_CUDA_IMPLEMENTATION\n#include "tensor_cuda.cu.h"\n' > "$module/cuda.cu"
    g++ -x c++ -std=c++17 -O1 -ffp-contract=off -shared -fPIC -fvisibility=hidden -I. -Itests/cuda_host '-DTNC_EMULATION="emulation.h"' \
        "$module/cuda.cu" -o "$module/libtensor_cuda.so" -pthread || return
    ${CC:-cc} -std=gnu99 -O2 -DTN_EXPORT -I. examples/fashion/*.c -o "$module/fashion" -lm -pthread -ldl || return
    for device in cpu cuda; do
        LD_LIBRARY_PATH=$module TN_CUDA_EXACT=1 "$module/fashion" --device $device --epochs 1 --batch 600 --out "$module/$device" \
            > "$module/$device.printed" || return
        sed -n 's/ *[0-9]* images\/s//; s/.*loss/loss/p' "$module/$device.printed" > "$module/$device.losses"
    done
    cat "$module/cuda.losses"
    [ -s "$module/cpu.losses" ] && cmp "$module/cpu.losses" "$module/cuda.losses" &&
        cmp "$module/cpu/model.safetensors" "$module/cuda/model.safetensors"
}
if [ -n "${TN_FULL:-}" ]; then
    if fashion; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED fashion --device cuda: not the weights and losses of the CPU"
    fi
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
