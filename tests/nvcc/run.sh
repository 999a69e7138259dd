#!/bin/sh
# Does nvcc compile the CUDA backend without a warning? A run takes two files of src/cuda, in turn by TN_SEED, one for sm_80 and one
# for sm_90 or sm_100; TN_FULL=1: each file for all three, and tensor_cuda.cu.h as a user compiles it, by gcc and by clang as hosts.
# Nothing is run. Where there is no nvcc: left out.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/nvcc
rm -rf "$out" && mkdir -p "$out" || exit 1
passed=0 failed=0
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null)}
[ -n "$nvcc" ] || { echo "no nvcc on PATH or in /usr/local/cuda/bin: left out" && echo "0 passed, 0 failed" && exit; }
"$nvcc" --version | grep release

# What nvcc says beside errors is a failure: warnings of the device's compiler, of the host's, and of ptxas (spilled registers are none).
compiles() { # NAME ARCH FLAGS...
    name=$1 arch=$2
    shift 2
    begin=$(date +%s)
    "$nvcc" -std=c++17 -O2 -fmad=false -arch="$arch" -Werror all-warnings -Xcompiler -Wall,-Wextra -I. "$@" -o "$out/$name.o" \
        > "$out/$name.said" 2>&1
    status=$?
    if [ $status = 0 ] && [ ! -s "$out/$name.said" ]; then
        passed=$((passed + 1))
        echo "ok      $name: $(($(wc -c < "$out/$name.o") / 1024)) kB of object, $(($(date +%s) - begin)) s"
    else
        failed=$((failed + 1))
        echo "FAILED  $name, status $status"
        head -20 "$out/$name.said" | cut -c1-300 | sed 's/^/    /'
    fi
}

files=$(ls src/cuda/*.cu)
if [ -n "${TN_FULL:-}" ]; then
    for file in $files; do
        for arch in sm_80 sm_90 sm_100; do compiles "$(basename "$file" .cu)-$arch" $arch -DTNI_OBJECTS -c "$file"; done
    done
    printf '%s\n' '#define TENSOR_CUDA_IMPLEMENTATION' '#include "tensor_cuda.cu.h"' > "$out/header.cu"
    for host in g++ clang++; do
        ! command -v $host > /dev/null || compiles "header-$host" sm_90 -ccbin $host -c "$out/header.cu"
    done
else
    count=$(echo "$files" | wc -l)
    for k in 0 1; do
        arch=sm_80
        [ $k = 0 ] || arch=$(echo sm_90 sm_100 | cut -d' ' -f$((turn % 2 + 1)))
        file=$(echo "$files" | sed -n "$(((turn / 2 + k * count / 2) % count + 1))p")
        compiles "$(basename "$file" .cu)-$arch" $arch -DTNI_OBJECTS -c "$file"
    done
fi
# Numbers of a vendor's library, where its header is there.
if [ -f "$(dirname "$nvcc")/../include/cudnn_graph.h" ]; then compiles numbers sm_80 -DTNI_OBJECTS -c tests/nvcc/numbers.cu; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
