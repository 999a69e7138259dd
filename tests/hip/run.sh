#!/bin/sh
# Does hipcc compile the CUDA backend for AMD's GPUs (src/cuda/hip.h) without a warning? For gfx90a, host code and kernels. A run takes two
# files of src/cuda, in turn by TN_SEED; TN_FULL=1: each file, and tensor_cuda.cu.h as a user compiles it. Nothing is run, and nobody has
# run it. Where there is no hipcc: left out.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/hip
rm -rf "$out" && mkdir -p "$out" || exit 1
passed=0 failed=0
hipcc=${HIPCC:-$(command -v hipcc)}
[ -n "$hipcc" ] || { echo "no hipcc on PATH: left out" && echo "0 passed, 0 failed" && exit; }

# HIP's functions must not be ignored (nodiscard); the backend asks for the last error behind such calls.
compiles() { # NAME FILE FLAGS...
    name=$1 file=$2
    shift 2
    "$hipcc" -x hip --offload-arch=gfx90a -std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Wno-unused-result -I. "$@" -c "$file" \
        -o "$out/$name.o" > "$out/$name.said" 2>&1
    status=$?
    if [ $status = 0 ] && [ ! -s "$out/$name.said" ]; then
        passed=$((passed + 1))
        echo "ok      $name: $(($(wc -c < "$out/$name.o") / 1024)) kB of object"
    else
        failed=$((failed + 1))
        echo "FAILED  $name, status $status"
        head -20 "$out/$name.said" | cut -c1-300 | sed 's/^/    /'
    fi
}

files=$(ls src/cuda/*.cu)
if [ -n "${TN_FULL:-}" ]; then
    for file in $files; do compiles "$(basename "$file" .cu)" "$file" -DTNI_OBJECTS; done
    printf '%s\n' '#define TENSOR_CUDA_IMPLEMENTATION' '#include "tensor_cuda.cu.h"' > "$out/header.cu"
    compiles header "$out/header.cu"
else
    count=$(echo "$files" | wc -l)
    for k in 0 1; do
        file=$(echo "$files" | sed -n "$(((turn / 2 + k * count / 2) % count + 1))p")
        compiles "$(basename "$file" .cu)" "$file" -DTNI_OBJECTS
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
