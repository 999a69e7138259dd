# left_out.sh - sourced by run.sh: what a build leaves out is an error that says so.
json='{"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}'
{ printf "\\$(printf %03o ${#json})\0\0\0\0\0\0\0%s\1\2\3\4" "$json"; } > "$out/half.safetensors"
refused() { # NAME FLAGS...: builds refused.c, prints what it says
    name=$1
    shift
    $cc -std=c99 -O0 -w -DPART='"Linear"' "$@" $here/refused.c -o "$out/refused.$name" -lm -pthread &&
        "$out/refused.$name" "$out/half.safetensors" matmul Linear > "$out/refused.$name.said"
}
says() { # NAME TEXT: a line that begins so
    grep -qF "$2" "$out/refused.$1.said" || { echo "wanted: $2"; cat "$out/refused.$1.said"; return 1; }
}
check "TN_NO_COMPLEX, TN_NO_HALF, TN_NO_DEVICES: built" refused switches -I. $(runnable) -DTN_NO_COMPLEX -DTN_NO_HALF -DTN_NO_DEVICES
for line in "context: no error" \
    "zeros of complex64: 2 complex64 is not in this build (TN_NO_COMPLEX)" \
    "zeros of float16 on meta: 2 float16 is not in this build (TN_NO_HALF)" \
    "to bfloat16: 2 bfloat16 is not in this build (TN_NO_HALF)" \
    "mul by a complex number: 2 complex64 is not in this build (TN_NO_COMPLEX)" \
    "eq to a complex number: 2 complex64 is not in this build (TN_NO_COMPLEX)" \
    "full of a complex number: 2 complex64 is not in this build (TN_NO_COMPLEX)" \
    "softmax in float16: 2 float16 is not in this build (TN_NO_HALF)" \
    "view_as_complex: 2 complex64 is not in this build (TN_NO_COMPLEX)" \
    "default float16: 2 float16 is not in this build" \
    "from data of bfloat16: 2 bfloat16 is not in this build (TN_NO_HALF)" \
    "another device: 1 tn_device: device 'null:0' does not exist; expected cpu, meta; others are not in this build (TN_NO_DEVICES)" \
    "backend: 5 tn_backend_add: devices are not in this build (TN_NO_DEVICES)" \
    "row by name: no error" "module by name: 2 Linear: argument" "part by name: no error"; do
    check "switches: $line" says switches "$line"
done
check "switches: loading float16 is refused" says switches "float16 is not in this build (TN_NO_HALF)"

trimmed="or was trimmed from this build"
mkdir -p "$out/refused"
check "refused.c: trim" "$trim" -o "$out/refused" tensor.h tensor_nn.h -- $here/refused.c
check "trimmed: built" refused trimmed -I"$out/refused" $(runnable)
check "TENSOR_TRIM: built" refused static -I. -DTENSOR_TRIM $(runnable)
for form in trimmed static; do
    for line in "zeros of complex64: no error" "load float16: no error" "mul by a complex number: no error" \
        "row by name: 5 operator 'matmul' does not exist, $trimmed" "call by name: 1 operator 'matmul' does not exist, $trimmed" \
        "module by name: 1 module class \"Linear\" does not exist, $trimmed" \
        "backend: 1 tn_backend_add: it is NULL"; do
        check "$form: $line" says $form "$line"
    done
    check "$form: the part is named" says $form "this class does not exist, $trimmed"
done
mkdir -p "$out/also"
check "--also: trim" "$trim" -o "$out/also" --also matmul --also Linear tensor.h tensor_nn.h -- $here/refused.c
check "--also: built" refused also -I"$out/also" $(runnable)
for line in "row by name: no error" "module by name: 2 Linear: argument" "part by name: no error"; do
    check "--also: $line" says also "$line"
done

if [ "$(uname -m)" = x86_64 ]; then
    check "TN_ISA_ONLY_AVX2: built" refused avx2 -I"$out/refused" -DTN_ISA_ONLY_AVX2
    check "TN_ISA_ONLY_SCALAR: built" refused scalar -I"$out/refused" -DTN_ISA_ONLY_SCALAR
    check "TN_ISA_ONLY_SCALAR: it is scalar" says scalar "isa scalar"
    ! grep -q avx2 /proc/cpuinfo 2> /dev/null || check "TN_ISA_ONLY_AVX2: it is AVX2" says avx2 "isa avx2"
    TN_ISA=scalar "$out/refused.avx2" "$out/half.safetensors" matmul Linear > "$out/refused.avx2.said"
    check "TN_ISA names a set that is left out" says avx2 \
        "context: 5 TN_ISA: that instruction set is not in this build"
    printf '#include <cpuid.h>\n#define __get_cpuid_count(a, b, c, d, e, f) 0\n' > "$out/old.h" # an old CPU
    check "AVX2 alone, an old CPU: built" refused old -include "$out/old.h" -I"$out/refused" -DTN_ISA_ONLY_AVX2
    check "AVX2 alone, an old CPU" says old \
        "context: 5 this build has kernels for AVX2 only, which this CPU cannot run"
fi

# What was trimmed apart does not link.
printf '#include "tensor.h"\nint main(void) { tn_print(tn_ones(TN_DIMS(1))); return 0; }\n' > "$out/user.c"
printf '#define TENSOR_IMPLEMENTATION\n#include "tensor.h"\n' > "$out/library.c"
mkdir -p "$out/apart"
apart() {
    "$trim" -o "$out/apart" tensor.h -- "$out/user.c" "$out/library.c" &&
        $cc -std=c99 -O0 -w -I"$out/apart" -c "$out/library.c" -o "$out/library.o" &&
        $cc -std=c99 -w -I"$1" "$out/user.c" "$out/library.o" -o "$out/apart.program" -lm -pthread
}
check "trimmed together links" apart "$out/apart"
for switch in TN_NO_DEVICES "TNI_REPLAYS 0" "TNI_PROFILES 0"; do
    check "trim defines $switch where nothing names them" grep -qx "#define $switch" "$out/apart/tensor.h"
done
check "trim keeps devices for tn_backend_add" eval "! grep -qx '#define TN_NO_DEVICES' $out/refused/tensor.h"
check "trimmed apart does not link" eval "! apart $out/refused"
check "with the whole header it does not link" eval "! apart ."

# Options and ways that are kept where the sources name them: optional.c has their words from the command line.
optional() { # NAME OPTIONS OF TRIM...: prints what it says with padding and clipping
    name=$1
    shift
    mkdir -p "$out/optional.$name" &&
        "$trim" -o "$out/optional.$name" "$@" tensor.h tensor_nn.h -- $here/optional.c &&
        optional_of "$name" "-I$out/optional.$name"
}
optional_of() {
    $cc -std=c99 -O0 -Wall -Wextra -Werror $2 $(runnable) '-DMORE=,.padding_mode=TN_PADDING_MODE_CIRCULAR' '-DTRAIN=,.clip_norm=0.01' \
        $here/optional.c -o "$out/optional" -lm -pthread && "$out/optional" > "$out/refused.$1.said"
}
check "optional.c: the whole header" optional_of whole -I.
check "optional.c: trimmed without its words" optional without
for word in padding_mode clip_norm autocast scaler tni_vmap_call; do
    check "trim leaves out $word" grep -qx "#define TNI_NAMES_$word 0" "$out/optional.without/tensor.h"
done
check "padding_mode is not in this build" says without "conv: 1 Conv2d: padding_mode is not in this build, but for zeros"
check "clip_norm is not in this build" says without "train: 5 train: clip_norm is not in this build"
check "optional.c: trimmed --also its words" optional with --also padding_mode --also clip_norm
check "optional.c: the same output" same "$out/refused.whole.said" "$out/refused.with.said"
mkdir -p "$out/vmaps"
check "--also tn_vmap_at: trim" "$trim" -o "$out/vmaps" --also tn_vmap_at tensor.h tensor_nn.h -- $here/optional.c
check "--also tn_vmap_at: rows keep their ways of batches" eval "! grep -q TNI_NAMES_tni_vmap_call.0 $out/vmaps/tensor.h"
check "--also tn_vmap_at: it compiles" $least -std=c99 -O0 -w -I"$out/vmaps" -DMORE= -DTRAIN= -c $here/optional.c -o "$out/vmaps.o"
