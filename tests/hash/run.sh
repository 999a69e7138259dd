#!/bin/sh
# Same seed, same bits: one SHA-256 for any number of threads, instruction set, compiler, level of
# optimization, byte order and library of mathematics. Beyond x86-64 the programs run in emulators:
# there a run takes the parts of the hash that are quick.
# A run takes -O2 of the first compiler, one more of compilers and levels, one target and files for contraction, by TN_SEED.
#     TN_QUICK=1   -O2 of the first compiler, and the furthest from it: scalar code of the last at -O0
#     TN_FULL=1    all levels, 0 (what a context takes), 1, 2, 3, 8 threads, all targets, all parts
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/hash
rm -rf "$out" && mkdir -p "$out/log" || exit 1
depth=sample
[ -z "${TN_FULL:-}" ] || depth=full
[ -z "${TN_QUICK:-}" ] || depth=quick
have() { command -v "$1" > /dev/null 2>&1; }
export WINEPREFIX="$(pwd)/$out/wine" WINEDEBUG=-all
passed=0 failed=0

. tests/shared.sh
[ $depth = quick ] || need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross \
    s390x-linux-gnu-gcc:gcc-s390x-linux-gnu,libc6-dev-s390x-cross qemu-aarch64:qemu-user
[ $depth != full ] || need -m32

# --- what is compiled, and how each program is run ------------------------------------------------
# build NAME COMPILER FLAGS; run FMA NAME ISA THREADS RUNNER PARTS. FMA: yes where the CPU has it,
# no where the library of mathematics stands for it.
build() { name=$1; shift; printf '%s\t%s\n' "$name" "$*" >> "$out/builds"; }
run() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$6" >> "$out/runs"; }

compilers=
cc=${CC:-cc}
for cc in ${cc##* } gcc clang; do # CC may be "ccache cc"
    have "$cc" || continue
    version=$("$cc" --version 2> /dev/null | sed 's/^[^ ]* //;1q') # cc may be gcc or clang
    case "$compilers" in *"<$version>"*) ;; *) compilers="$compilers$cc <$version>
" ;; esac
done
names=$(printf %s "$compilers" | sed 's/ <.*//')
last=$(printf '%s\n' $names | tail -1)
first=$(printf '%s\n' $names | head -1)

case $depth in
quick) levels="-O0 -O2" counts="1 2" ;;
sample) levels="-O0 -O2" counts="1 3" ;;
full) levels="-O0 -O2 -O3" counts="0 1 2 3 8" ;;
esac
one_more=$(drawn 1 $(for cc in $names; do for level in $levels; do [ $cc$level = "$first-O2" ] || echo "$cc$level"; done; done))
targets=$(drawn 1 aarch64 s390x) # as the lane compile
[ $depth != sample ] || echo "sample: $first-O2, $one_more, $targets, TN_SEED=$TN_SEED"
for cc in $names; do
    for level in $levels; do
        [ $depth != sample ] || among "$cc$level" "$first-O2 $one_more" || continue
        isas="scalar avx2 avx512 neon" threads=$counts
        if [ $depth = quick ]; then
            case $cc$level in
            $first-O2) ;;
            $last-O0) isas=scalar threads=2 ;;
            *) continue ;;
            esac
        fi
        name=$(basename "$cc")$level
        build "$name" "$cc" "$level" $strict
        for isa in $isas; do
            for n in $threads; do run yes "$name" $isa "$n" "" ""; done
        done
    done
    if [ $depth = full ]; then # here a * b + c outside of the kernels could become one instruction
        build "$(basename "$cc")-native" "$cc" -O3 -march=native
        run yes "$(basename "$cc")-native" "" 2 "" ""
    fi
done

# elsewhere NAME FMA COMPILER RUNNER ISAS PARTS FLAGS: a target, where compiler and emulator are there
echo 'int main(void) { return 0; }' > "$out/probe.c"
elsewhere() {
    name=$1 fma=$2 cc=$3 runner=$4 isas=$5 parts=$6
    shift 6
    for tool in "$cc" ${runner%% *}; do
        have "$tool" || { echo "left out: $name: no $tool"; return; }
    done
    "$cc" "$@" "$out/probe.c" -o "$out/probe" > "$out/probe.log" 2>&1 ||
        { echo "left out: $name: $cc $* makes no program"; return; }
    build "$name" "$cc" "$@"
    for isa in $isas; do run "$fma" "$name" "$isa" 2 "$runner" "$parts"; done
}
emulated="random net"
kernel=/usr/include/x86_64-linux-gnu # -m32 needs the kernel's headers of x86-64
case $depth in
sample)
    ! among aarch64 "$targets" || elsewhere aarch64 yes aarch64-linux-gnu-gcc qemu-aarch64 neon "$emulated" -O1 -static -Wall -Wextra # as the lane compile has them
    ! among s390x "$targets" || elsewhere s390x yes s390x-linux-gnu-gcc qemu-s390x scalar "$emulated" -O1 -static -Wall -Wextra
    ;;
full)
    elsewhere aarch64-O0 yes aarch64-linux-gnu-gcc qemu-aarch64 "neon scalar" "$emulated" -O0 -static
    elsewhere aarch64-O2 yes aarch64-linux-gnu-gcc qemu-aarch64 "neon scalar" "" -O2 -static
    elsewhere s390x-O0 yes s390x-linux-gnu-gcc qemu-s390x scalar "$emulated" -O0 -static
    elsewhere s390x-O2 yes s390x-linux-gnu-gcc qemu-s390x scalar "" -O2 -static
    elsewhere nehalem no "$first" "qemu-x86_64 -cpu Nehalem" scalar "$emulated" -O2 -DTN_NO_FMA -static
    elsewhere i386-sse no "$first" "" scalar "" -m32 -O2 -msse2 -mfpmath=sse -idirafter $kernel
    ! have wine || wineboot > "$out/log/wineboot" 2>&1 # what it says of a new folder is none of a program's output
    elsewhere mingw yes x86_64-w64-mingw32-gcc wine "scalar avx2" "" -O2
    elsewhere wasm no emcc "node --no-experimental-fetch" "" "" -O2 \
        -s ALLOW_MEMORY_GROWTH=1 -s ENVIRONMENT=node
    ;;
esac

# --- building, running, comparing -----------------------------------------------------------------
export out
tr '\n' '\0' < "$out/builds" | xargs -0 -P "$jobs" -n 1 sh -c '
    name=${1%%	*} command=${1#*	} suffix=exe libs="-lm -pthread"
    case $name in wasm*) suffix=js libs=-lm ;; esac
    . tests/shared.sh
    library $command -std=gnu99 &&
        $command -std=gnu99 -I. tests/hash/hash.c "$object" -o "$out/$name.$suffix" $libs > "$out/log/$name.compiler" 2>&1 ||
        echo "FAILED $command does not compile"' build > "$out/refused"
cat "$out/refused"
failed=$(grep -c . "$out/refused")

sed = "$out/runs" | paste - - | tr '\n' '\0' | xargs -0 -P "$jobs" -n 1 sh -c '
    tab=$(printf "\t")
    number=${1%%$tab*} rest=${1#*$tab}
    name=$(echo "$rest" | cut -f 2) isa=$(echo "$rest" | cut -f 3)
    threads=$(echo "$rest" | cut -f 4) runner=$(echo "$rest" | cut -f 5)
    parts=$(echo "$rest" | cut -f 6)
    [ -z "$isa" ] || export TN_ISA=$isa
    program=$out/$name.exe
    [ -f "$program" ] || program=$out/$name.js
    [ -f "$program" ] || exit 0
    case $runner in "") program=./$program ;; esac
    $runner "$program" $threads $parts 2>&1 | tr -d "\r" > "$out/log/$number"' run

number=0 with=0 without=0
while IFS= read -r line; do
    number=$((number + 1))
    log=$out/log/$number
    text=$(echo "$line" | cut -f 2-5 | tr '\t' ' ')
    [ -s "$log" ] || { [ -f "$log" ] && failed=$((failed + 1)) && echo "FAILED $text: no word"; continue; }
    [ "$(tail -1 "$log")" != absent ] || continue
    [ -f "$out/first" ] || { grep '^all ' "$log" > /dev/null && cp "$log" "$out/first"; }
    if [ -f "$out/first" ] && ! grep -vxF -f "$out/first" "$log" > "$out/differ"; then
        passed=$((passed + 1))
        case $line in yes*) with=$((with + 1)) ;; *) without=$((without + 1)) ;; esac
        echo "$text: $(tail -1 "$log")"
    else
        failed=$((failed + 1))
        echo "FAILED $text: another hash; the parts that differ:"
        sed 's/^/    /' "$out/differ"
    fi
done < "$out/runs"

# --- contraction ----------------------------------------------------------------------------------
# Outside of the kernels no a * b + c of floats may be left to the compiler: on a target with FMA it
# would be one rounding there and two elsewhere. The same instructions come out when it may.
# Allowed, since it cannot be seen in a result: range_write (there the sum is exact), tni_clock (time),
# pool_ and tni_pool (estimates of work).
contracted=0
contraction() {
    $1 -std=gnu99 -O2 $2 -DTNI_OBJECTS -ffp-contract=$3 -S "$4" -o - 2> /dev/null | awk '
        /^[A-Za-z_][A-Za-z0-9_.]*:/ { f = $1; sub(/[.:].*/, "", f) }
        /vfn?m(add|sub)|\tfn?m(add|sub|la|ls)/ { n[f]++ }
        END { for (f in n) print f, n[f] }' | grep -vE '^(range_write|tni_clock|pool_[a-z0-9_]*) ' | sort
}
machine="" fused=
case $(uname -m) in
x86_64) machine=-mfma fused=1 ;;
aarch64 | arm64) fused=1 ;;
esac
[ $depth != quick ] || fused=
if [ -n "$fused" ] && [ "$failed" = 0 ]; then
    : > "$out/contracted"
    export machine first
    for source in $(drawn 60 src/*/*.c src/*/*/*.c); do
        case $source in src/kernels/* | src/py/*) continue ;; esac
        grep -q '[a-z0-9_)] [*] .*[-+]\|[-+] .* [*] \|[-+]= .* [*] ' "$source" || continue
        contraction "$first" "$machine" fast "$source" > "$out/fast"
        [ -s "$out/fast" ] || continue
        contraction "$first" "$machine" off "$source" > "$out/off"
        diff "$out/off" "$out/fast" | sed -n "s|^> \([^ ]*\) .*|$source: \1|p" >> "$out/contracted"
    done
    contracted=$(grep -c . "$out/contracted")
    sed 's/$/: a product and a sum that the compiler may round once or twice; write fma()/; s/^/FAILED /' \
        "$out/contracted"
    [ "$contracted" = 0 ] && passed=$((passed + 1)) || failed=$((failed + contracted))
fi

[ "$passed" -gt 1 ] || failed=$((failed + 1))
echo "promise 10: one SHA-256 ($(sed -n 's/^all //p' "$out/first" 2> /dev/null | cut -c1-16)...) over $with configurations with FMA," \
    "$without without; $contracted functions whose bits depend on contraction"
[ $depth != full ] || [ "$with" -ge 24 ] || echo "short 10: $with configurations with FMA, 24 are wanted"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
