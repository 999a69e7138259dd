#!/bin/sh
# What can be known of src/ without running it, and size arithmetic that may not wrap: gcc's analyzer,
# cppcheck, clang-tidy; a look at how memory is asked for; 32-bit builds of the tests; unsigned
# arithmetic that wraps and conversions that lose. A finding is mended, or stands in `allowed`, one
# line with the reason.
# Of the files a run takes some, by TN_SEED, and those that were changed.
#     TN_FULL=1    all files; cppcheck over all rooms, clang-tidy over call and autograd, too; unit tests on 32 bits, wrapping arithmetic
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/analyze
here=tests/analyze
rm -f "$out"/*.log "$out"/found*
mkdir -p "$out/one" || exit 1
have() { command -v "$1" > /dev/null 2>&1; }
passed=0 failed=0
. tests/shared.sh
need cppcheck clang-tidy -m32
hand=$(ls src/*/*.c src/*/*/*.c | grep -vE '^src/(gen|kernels|py)/') # kernels are checked by their values, src/py by the lane python
core=$(ls src/base/*.c src/tensor/*.c src/io/*.c)
[ -z "${TN_FULL:-}" ] || core=$(ls src/base/*.c src/tensor/*.c src/io/*.c src/call/*.c src/autograd/*.c)
analyzed=$(drawn 70 $hand) read_by_tidy=$(drawn 14 $core)
echo "sample: TN_SEED=$TN_SEED; gcc: $(echo $analyzed | sed 's|src/||g; s|[.]c||g'); clang-tidy: $read_by_tidy" | fold -s -w 160
reasons() { awk -F ' [|] ' -v tool="$1" '$1 == tool && NF == 3 { print $2 }' "$here/allowed"; }

# findings TOOL FILE: lines `path:line: text`; each is allowed by a line of that tool, or fails
allowed=0 size=0
findings() {
    sort -u "$2" | grep . > "$out/found.$1"
    count=0 right=0
    while IFS= read -r line; do
        if reasons "$1" > "$out/patterns" && [ -s "$out/patterns" ] &&
            echo "$line" | grep -qE -f "$out/patterns"; then
            right=$((right + 1))
        else
            count=$((count + 1))
            echo "FAILED $1: $line"
        fi
    done < "$out/found.$1"
    allowed=$((allowed + right)) failed=$((failed + count)) tools="$tools $1"
    [ $count != 0 ] || passed=$((passed + 1))
    [ "$1" != size ] || size=$count
    echo "$1: $count findings, $right allowed"
}
each() { printf '%s\n' "$@"; }

# --- memory is asked for in one way ---------------------------------------------------------------
# malloc and its kin are called by base alone; a count that is a product goes through tni_mul or
# tni_bytes (the element's size is the other argument, or a sizeof).
grep -nE '(^|[^a-z_])(malloc|calloc|realloc|alloca|strdup)\(' $(find src -name "*.[ch]" -o -name "*.inl") > "$out/asked.log"
grep -nE 'tn_scratch\([a-z]+, [^,;]*[^,; ] \* [^,;]*,' src/*/*.c src/*/*/*.c >> "$out/asked.log"
grep -nE '(tni_need|tni_get|tni_get_apart|tni_raw_get|tn_alloc)\(.* \* ' src/*/*.c src/*/*/*.c |
    grep -vE ' \* (\(int64_t\))?sizeof ?(\*|\()' | grep -vE '^[^:]*:[0-9]*:(TN|static| \*)' >> "$out/asked.log"
findings size "$out/asked.log"

# --- analyzers ------------------------------------------------------------------------------------
export out
if have gcc; then
    rm -f "$out"/one/gcc.*
    each $analyzed | xargs -P "$jobs" -n 1 sh -c '
        gcc -std=c99 -O1 -DTNI_OBJECTS -fanalyzer -c "$1" -o /dev/null \
            2> "$out/one/gcc.$(echo "$1" | tr / _)"' one
    cat "$out"/one/gcc.* | grep -E '^[^ ]*: (warning|error):' > "$out/gcc.log"
    findings gcc "$out/gcc.log"
else
    echo "left out: gcc is not installed"
fi
if have cppcheck; then
    every=$core
    [ -z "${TN_FULL:-}" ] || every=$(ls src/*/*.c src/*/*/*.c)
    each $every | xargs -P "$jobs" -n 6 cppcheck --quiet --std=c99 --enable=warning,portability \
        -DTNI_OBJECTS -DPy_RETURN_NONE='return 0' -DPy_RETURN_FALSE='return 0' -DPy_RETURN_NOTIMPLEMENTED='return 0' \
        -D__GNUC__=12 -D__x86_64__ --max-configs=1 \
        --template='{file}:{line}: {severity}: {message} [{id}]' > "$out/cppcheck.all" 2>&1
    grep -E '^src/' "$out/cppcheck.all" > "$out/cppcheck.log"
    findings cppcheck "$out/cppcheck.log"
else
    echo "left out: cppcheck is not installed"
fi
if have clang-tidy; then
    checks="-*,bugprone-*,clang-analyzer-*,cert-*$(reasons tidy-check | sed 's/^/,-/' | tr -d '\n')"
    each $read_by_tidy | xargs -P "$jobs" -n 4 sh -c '
        checks=$1 && shift
        clang-tidy --quiet --checks="$checks" "$@" -- -std=c99 -DTNI_OBJECTS \
            > "$out/one/tidy.$$" 2> "$out/one/tidy.$$.err"' tidy "$checks"
    sed -n "s|^$(pwd)/||;/: warning:/p" "$out"/one/tidy.* > "$out/tidy.log"
    findings tidy "$out/tidy.log"
    rm -f "$out"/one/tidy.*
    echo "short 23: clang-tidy reads $(each $core | sed 's|src/||;s|/.*||' | sort -u | tr '\n' ' ')only"
    turned_off=$(reasons tidy-check | grep -c .)
    echo "tidy: $turned_off checks turned off, each with its reason"
else
    echo "left out: clang-tidy is not installed"
fi
explained=$(grep -vE '^#|^$' "$here/allowed" | awk -F ' [|] ' 'NF == 3 && length($3) > 9' | grep -c .)
unexplained=$(($(grep -cvE '^#|^$' "$here/allowed") - explained))
failed=$((failed + unexplained))
echo "promise 23:$tools over $(each $analyzed | grep -c .) files: $failed findings," \
    "$allowed false ones under $explained lines with a reason, $unexplained without"

# check NAME COMMAND...: a program that must end with 0
check() {
    name=$1 && shift
    if timeout 500 "$@" > "$out/$name.txt" 2>&1 && ! grep -q 'runtime error' "$out/$name.txt"; then
        passed=$((passed + 1))
        echo "$name: $(tail -1 "$out/$name.txt")"
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        grep -E 'runtime error|FAILED' "$out/$name.txt" | sort -u | head -20 | cut -c1-250
        tail -2 "$out/$name.txt" | cut -c1-250
    fi
}
. tests/random/sources.sh
list_optimizers "$out"
try_programs() { # PREFIX COUNT COMPILER FLAGS: torch's values, the forms, random calls and programs
    kind=$1 count=$2
    shift 2
    for program in "oracle tests/ops/oracle.c tests/ops/sample.c" "walk tests/ops/walk.c tests/ops/sample.c" \
        "calls $calls" "programs $programs"; do
        "$@" -std=gnu99 -DTNI_OBJECTS -w -I"$out" ${program#* } "$out/$kind/libtensor.a" \
            -o "$out/$kind/${program%% *}" -lm -pthread || failed=$((failed + 1))
    done
    check "$kind-oracle" "$out/$kind/oracle" tests/oracle/data $(sample operator 200)
    check "$kind-forms" "$out/$kind/walk" forms $(sample operator 200)
    check "$kind-calls" "$out/$kind/calls" 1 $((count / 50)) $(sample row 200)
    check "$kind-programs" "$out/$kind/programs" 1 "$count"
}
units() { # PREFIX COMPILER FLAGS
    kind=$1 && shift
    for source in tests/unit/*.c; do
        name=$(basename "$source" .c)
        "$@" -std=gnu99 -DTNI_OBJECTS -w -Isrc -Itests "$source" "$out/$kind/libtensor.a" \
            -o "$out/$kind/unit_$name" -lm -pthread || failed=$((failed + 1))
        check "$kind-$name" "$out/$kind/unit_$name"
    done
}
objects() { # PREFIX COMPILER AND FLAGS
    kind=$1 && shift
    [ "$(cat "$out/$kind.flags" 2> /dev/null)" = "$* $level" ] || rm -rf "${out:?}/$kind"
    echo "$* $level" > "$out/$kind.flags"
    make -s -j"$jobs" objects BUILD="$out/$kind" CC="$*" CFLAGS="$level" OPTABLE="$build/tools/optable" \
        > "$out/$kind.make" 2>&1 || { cat "$out/$kind.make"; failed=$((failed + 1)); }
    [ ! -s "$out/$kind.make" ] || cat "$out/$kind.make"
}
before=$failed
level="-O0 -g1 -DTN_ISA_ONLY_SCALAR" # soon compiled; instruction sets on 32 bits: the lane compile
[ -z "${TN_FULL:-}" ] || level="-O1 -g"

# --- 32 bits --------------------------------------------------------------------------------------
kernel=/usr/include/x86_64-linux-gnu # where Debian keeps the kernel's headers that -m32 needs, too
narrow="gcc -m32 -msse2 -mfpmath=sse -idirafter $kernel"
bits="none"
echo 'int main(void) { return 0; }' > "$out/probe.c"
if $narrow "$out/probe.c" -o "$out/probe" 2> "$out/probe.err"; then
    count=500
    [ -z "${TN_FULL:-}" ] || count=20000
    sane="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer"
    export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
    if $narrow $sane "$out/probe.c" -o "$out/probe" 2> "$out/probe.err" && "$out/probe"; then
        watched=" under ASan and UBSan"
    else
        sane= watched=
    fi
    objects bits32 $narrow $sane
    try_programs bits32 $count $narrow $sane ${level% -D*}
    if [ -n "${TN_FULL:-}" ]; then # as they are: some count what the caches do
        objects units32 $narrow
        units units32 $narrow -O1
    fi
    bits="$((count / 50)) tuples a row, $count programs, torch's values and the forms of all rows$watched"
else
    echo "left out: 32 bits: gcc -m32 makes no program"
fi

# --- wrapping -------------------------------------------------------------------------------------
wrap="not run (TN_FULL)"
if [ -n "${TN_FULL:-}" ] && have clang; then
    { echo "[unsigned-integer-overflow]"; reasons wrap | sed 's/^/fun:/'; echo "src:*/lib/clang/*"
      echo "[implicit-conversion]"; reasons narrows | sed 's/^/fun:/'; echo "src:*/lib/clang/*"
    } > "$out/ignore"
    wrapping="clang -fsanitize=signed-integer-overflow,unsigned-integer-overflow,implicit-conversion"
    wrapping="$wrapping -fsanitize-ignorelist=$(pwd)/$out/ignore"
    objects wrap $wrapping
    for program in "oracle tests/ops/oracle.c tests/ops/sample.c" "calls $calls"; do
        name=${program%% *}
        $wrapping -O1 -std=gnu99 -DTNI_OBJECTS -w -I"$out" ${program#* } "$out/wrap/libtensor.a" \
            -o "$out/wrap/$name" -lm -pthread || failed=$((failed + 1))
    done
    timeout 300 "$out/wrap/oracle" tests/oracle/data > "$out/wrap-oracle.txt" 2>&1
    timeout 300 "$out/wrap/calls" 1 40 > "$out/wrap-calls.txt" 2>&1
    cat "$out"/wrap-*.txt | sed -n 's/.*\(src\/[^ ]*\): runtime error: \([a-z ]*\).*/\1: \2/p' |
        sort -u > "$out/wraps"
    wrap="$(grep -c . "$out/wraps") places, beside $(reasons wrap | grep -c .) functions that mean it"
    [ ! -s "$out/wraps" ] || echo "short 2: $(grep -c . "$out/wraps") places that wrap or narrow are" \
        "not yet read; they stand in $out/wraps"
fi
echo "promise 2: size arithmetic: $size unchecked requests for memory;" \
    "32 bits: $bits, $((failed - before)) failures; clang unsigned-integer-overflow: $wrap"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
