#!/bin/sh
# Nothing uninitialised is looked at or leaks out: clang's MemorySanitizer, with the caches bypassed,
# over torch's values of all rows, the walk over their forms, random calls and programs. (Each sample twice,
# in memory filled with 0x00 and with 0xff, for the same bits: tests/ops/twin.c.)
#     TN_FULL=1    also layouts and gradients of the walk, the unit tests, and more of what is random
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/memory
mkdir -p "$out"
sanitize="-fsanitize=memory -fno-omit-frame-pointer -fsanitize-memory-track-origins=0"
passed=0 failed=0

. tests/shared.sh
need clang
cc=
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
for wanted in clang-19 clang; do
    [ -z "$cc" ] && $wanted $sanitize "$out/probe.c" -o "$out/probe" 2> /dev/null && "$out/probe" &&
        cc=$wanted
done

# The sanitizer of these clangs takes what AVX2's masked stores write for unwritten: the kernels run as
# scalar code, which is the same text; the twins run them as they are.
# check NAME COMMAND...: a program that ends with 0 and without a report
reports=0 checked=
check() {
    name=$1 && shift
    TN_ISA=scalar MSAN_OPTIONS=halt_on_error=1:exitcode=86:allocator_may_return_null=1 "$@" > "$out/$name.txt" 2>&1
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name: status $status"
        grep -A 12 "WARNING: MemorySanitizer" "$out/$name.txt" | cut -c1-160
        grep "FAILED" "$out/$name.txt" | head -20
        tail -3 "$out/$name.txt" | cut -c1-300
    fi
    reports=$((reports + $(grep -c "WARNING: MemorySanitizer" "$out/$name.txt")))
    of=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$out/$name.txt")
    checked="$checked $name $of,"
}
link() { # PROGRAM SOURCES
    to=$1 && shift
    $cc -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Isrc -Itests "$@" "$out/objects/libtensor.a" \
        -o "$out/$to" -lm -pthread || { failed=$((failed + 1)) && return 1; }
}

if [ -n "$cc" ]; then
    make -s -j"$jobs" objects BUILD="$out/objects" CC=$cc CFLAGS="-O1 -g $sanitize" \
        > "$out/make.log" 2>&1 || cat "$out/make.log"
    count=1000
    [ -z "${TN_FULL:-}" ] || count=50000
    link oracle tests/ops/oracle.c tests/ops/sample.c && check oracle "$out/oracle" tests/oracle/data $(sample operator 300)
    link walk tests/ops/walk.c tests/ops/sample.c && check forms "$out/walk" forms $(sample operator 300)
    . tests/random/sources.sh
    list_optimizers "$out"
    link calls -I"$out" $calls &&
        check calls "$out/calls" 1 $((count / 200)) $(sample row 300)
    link programs $programs &&
        check programs "$out/programs" 1 $count
    if [ -n "${TN_FULL:-}" ]; then
        check layout "$out/walk" layout
        check grad "$out/walk" grad
        for source in tests/unit/*.c; do
            name=$(basename "$source" .c)
            case $name in
            faults | places_core | steady) continue ;; # count allocations of the cache, which is bypassed here
            lifetimes) continue ;;                     # looks at freed headers in it
            base_system) continue ;;                   # fails sysconf, which the sanitizer's start calls
            esac
            link "unit_$name" "$source" && check "unit_$name" "$out/unit_$name"
        done
    fi
    echo "promise 24: $reports reports of MemorySanitizer ($cc);$(echo "$checked" | sed 's/,$//') checks"
    echo "short 24: under MemorySanitizer the kernels run as scalar code: it knows no masked store"
else
    echo "left out: no clang with MemorySanitizer"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
