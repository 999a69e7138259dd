#!/bin/sh
# The CUDA backend on a GPU: each row by its samples beside the CPU, bit for bit, in exact mode, and programs of tests/cuda_host; products
# by cuBLASLt and convolutions by cuDNN within the bound of their error; random numbers by their moments; fashion's losses and weights
# beside the CPU's; programs in Python. Where there is no GPU or no nvcc: left out. TN_FULL=1: also under compute-sanitizer.
# TN_BUILT=1: what `make gpu` makes is there already, and no compiler is needed. PYTHON: a Python of 3.11 or later.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/gpu
mkdir -p "$out"
passed=0 failed=0
[ -n "$(nvidia-smi -L 2> /dev/null)" ] || { echo "no GPU: left out" && echo "0 passed, 0 failed" && exit; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

add() { # NAME STATUS: what the program of this log says at its end
    log=$out/$1.log
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "$2" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
    [ "${sum#* }" = 0 ] || { echo "FAILED $1, status $2" && grep -v '^ok' "$log" | head -40 | cut -c 1-300 | sed 's/^/    /'; }
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
if [ -z "${TN_BUILT:-}" ]; then
    command -v "${NVCC:-nvcc}" > /dev/null || [ -x /usr/local/cuda/bin/nvcc ] || { echo "no nvcc: left out" && echo "0 passed, 0 failed" && exit; }
    make -s -j"$jobs" gpu > "$out/make.log" 2>&1 || { tail -30 "$out/make.log" && echo "0 passed, 1 failed" && exit 1; }
fi

# The rows in as many parts as there are processors, dealt out in turn.
names=$(awk '/^[{]*"[a-z]*": *[[]/ { kind = $0; gsub(/[^a-z]/, "", kind) }
    kind == "operators" && /^ [{]"name": "/ { split($0, part, "\""); print part[4] }' src/gen/table.json)
rows() { # NAME COMMAND...
    name=$1
    shift
    for part in $(seq "$jobs"); do
        (
            # shellcheck disable=SC2046
            TN_CUDA_EXACT=1 "$@" "$out/rows" $(echo "$names" | awk "NR % $jobs == $part - 1 { print \"row=\" \$1 }") \
                > "$out/$name$part.log" 2>&1
            echo $? > "$out/$name$part.status"
        ) &
    done
    wait
    for part in $(seq "$jobs"); do add "$name$part" "$(cat "$out/$name$part.status")"; done
}
rows rows
for program in products convolutions random kernels large faults graphs streams stream_order; do
    case $program in products | convolutions | random) exact=0 ;; *) exact=1 ;; esac
    TN_CUDA_EXACT=$exact "$out/$program" > "$out/$program.log" 2>&1
    add "$program" $?
done
grep cuBLASLt "$out/products.log"
grep cuDNN "$out/convolutions.log"
# What users build: training in exact mode gives the CPU's losses and weights.
fashion() {
    for device in cpu cuda; do
        LD_LIBRARY_PATH=$out TN_CUDA_EXACT=1 "$out/fashion" --device $device --epochs 2 --out "$out/$device" > "$out/$device.printed" || return
        sed -n 's/ *[0-9]* images\/s//; s/.*loss/loss/p' "$out/$device.printed" > "$out/$device.losses"
    done
    [ -s "$out/cpu.losses" ] && cmp "$out/cpu.losses" "$out/cuda.losses" && cmp "$out/cpu/model.safetensors" "$out/cuda/model.safetensors"
}
if fashion; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED fashion --device cuda: not the weights and losses of the CPU"
fi
PYTHONPATH=$out/site TENSORH_CUDA_LIBRARY=$out/libtensor_cuda.so TN_CUDA_EXACT=1 ${PYTHON:-python3} tests/python/cuda_programs.py \
    > "$out/python.log" 2>&1
add python $?
if [ -n "${TN_FULL:-}" ] && command -v compute-sanitizer > /dev/null; then
    TN_QUICK=1 rows memcheck compute-sanitizer --tool memcheck --error-exitcode 1
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
