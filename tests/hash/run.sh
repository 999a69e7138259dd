#!/bin/sh
# Same seed, same bits: one SHA-256 for any number of threads, instruction set, compiler and level of optimization.
# TN_QUICK=1: -O2 of the first compiler, and the furthest from it: scalar code of the last at -O0.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/hash
mkdir -p "$out"
rm -f "$out"/*
compilers=
for cc in ${CC:-cc} gcc clang; do
    command -v "$cc" > /dev/null || continue
    version=$("$cc" --version 2> /dev/null | sed 1q)
    case "$compilers" in *"<$version>"*) ;; *) compilers="$compilers$cc <$version>
" ;; esac
done
names=$(printf %s "$compilers" | sed 's/ <.*//')
last=$(printf '%s\n' $names | tail -1)
first=$(printf '%s\n' $names | head -1)
passed=0 failed=0 hash=

for cc in $names; do
    for level in -O0 -O2; do
        isas="scalar avx2 avx512 neon" counts="1 2"
        if [ -n "${TN_QUICK:-}" ]; then
            case $cc$level in
            $first-O2) ;;
            $last-O0) isas=scalar counts=2 ;;
            *) continue ;;
            esac
        fi
        program=$out/hash$level-$(basename "$cc")
        if ! "$cc" -std=gnu99 $level -DTENSOR_IMPLEMENTATION -DTENSOR_NN_IMPLEMENTATION -I. tests/hash/hash.c -o "$program" -lm -pthread; then
            echo "FAILED $cc $level does not compile"
            failed=$((failed + 1))
            continue
        fi
        for isa in $isas; do
            for threads in $counts; do
                TN_ISA=$isa "$program" $threads > "$out/log" 2>&1 || echo "failed" >> "$out/log"
                got=$(tail -1 "$out/log")
                [ "$got" != absent ] || continue
                echo "$cc $level, $isa, $threads threads: $got"
                [ -n "$hash" ] || { hash=$got; cp "$out/log" "$out/first"; }
                if [ "$got" = "$hash" ] && [ ${#got} = 64 ]; then
                    passed=$((passed + 1))
                else
                    failed=$((failed + 1))
                    echo "FAILED: another hash; the parts that differ:"
                    diff "$out/first" "$out/log" | sed -n 's/^[<>]/  &/p'
                fi
            done
        done
    done
done
[ "$passed" -gt 1 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
