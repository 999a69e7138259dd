#!/bin/sh
# sh tools/cuda.sh FILE: the module of CUDA's devices, libtensor_cuda.so, from tensor_cuda.cu.h by nvcc. CUDA_ARCHS: compute
# capabilities that get code of their own; all newer ones than 8.0 run what the driver makes of the PTX. NVCC: the compiler.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
out=${1:?expected the file to write}
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null)}
[ -n "$nvcc" ] || { echo "no nvcc on PATH or in /usr/local/cuda/bin: the CUDA module needs it (NVCC= names one)" >&2; exit 1; }
code=compute_80
for arch in ${CUDA_ARCHS:-80 90 100}; do code=sm_$arch,$code; done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat > "$folder/cuda.cu" << 'END'
#define TN_IMPORT
#include "tensor.h"
#define TENSOR_CUDA_IMPLEMENTATION
#include "tensor_cuda.cu.h"
END
mkdir -p "$(dirname "$out")"
"$nvcc" -std=c++17 -O2 -fmad=false -Xcompiler -fPIC,-fvisibility=hidden -cudart static -gencode "arch=compute_80,code=[$code]" \
    -I "$root" -shared "$folder/cuda.cu" -o "$out"
