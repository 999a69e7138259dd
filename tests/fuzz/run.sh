#!/bin/sh
# Every format that takes a stranger's bytes: the corpus of each is replayed under ASan and UBSan, then libFuzzer looks for
# more, where clang has it, in three of the formats: as many inputs as take some seconds, drawn by TN_SEED, so that a run can be
# repeated; TN_QUICK=1: the corpora alone, TN_FULL=1: all formats, 15 times as many.
# FUZZ_KEEP=1 merges what was found into tests/fuzz/corpus/FORMAT.tar, as little as keeps the coverage. An input that must be taken is
# named valid-*, one that must be refused refused-*; to add one, put it into build/fuzz/corpus/FORMAT and run with FUZZ_PACK=1.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/fuzz
formats="safetensors checkpoint idx numpy schema module call"
. tests/shared.sh
flags="-std=gnu99 -O1 -g -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion"
passed=0 failed=0 files=0 inputs=0
mkdir -p "$out"
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

pack() { # FORMAT: the archive of its inputs, whose bytes follow from theirs
    (cd "$out/corpus/$1" && ls | LC_ALL=C sort > "../$1.names") &&
        tar --format=ustar --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$out/corpus/$1" -cf "tests/fuzz/corpus/$1.tar" -T "$out/corpus/$1.names"
}

# --- replay ---
sanitized
for format in $formats; do
    if [ -n "${FUZZ_PACK:-}" ]; then pack "$format"; fi
    rm -rf "$out/corpus/$format"
    mkdir -p "$out/corpus/$format"
    tar -C "$out/corpus/$format" -xf "tests/fuzz/corpus/$format.tar"
    rm -f "$out/replay-$format"
    ${CC:-cc} $flags $sanitize -DFUZZ_REPLAY tests/fuzz/$format.c tests/fuzz/fuzz.c "$build/sanitized/libtensor.a" \
        -o "$out/replay-$format" -lm -pthread
    if "$out/replay-$format" "$out/corpus/$format"/* > "$out/$format.txt" 2> "$out/$format.err"; then
        sum=$(sed -n '$s/ passed, 0 failed$//p' "$out/$format.txt")
        [ "$sum" -ge 50 ] || { failed=$((failed + 1)) && echo "FAILED $format: the corpus has only $sum inputs"; }
        passed=$((passed + sum)) files=$((files + sum))
        echo "$format: $sum inputs of the corpus"
    else
        failed=$((failed + 1))
        cat "$out/$format.txt"
        tail -40 "$out/$format.err"
    fi
done

# --- fuzz ---
times=1
[ -z "${TN_FULL:-}" ] || times=15
[ -z "${TN_QUICK:-}" ] || times=0
runs="safetensors=30000 checkpoint=3000 idx=300000 numpy=100000 schema=100000 module=30000 call=30000" # some 5 s each, the corpus included
seed=$(printf %d "0x$(printf %s "$TN_SEED" | tr -dc 0-9a-f | cut -c1-7)")
printf '#include <stddef.h>\n#include <stdint.h>\n
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d && n ? 0 : 0; }\n' > "$out/probe.c"
find_clang() {
    for clang in ${CLANG:-} clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
        $clang -fsanitize=fuzzer,address,undefined "$out/probe.c" -o "$out/probe" 2> /dev/null &&
            "$out/probe" -runs=1 > /dev/null 2>&1 && return 0
    done
    return 1
}
fuzzer() { # instrumented: the rooms that read; what calculates is the library's own objects
    rooms="base tensor call io data nn optim" objects= others=
    for at in $(ls src/*/*.c src/*/*/*.c | grep -v ^src/py/); do # src/py needs Python
        object=${at%.c}.o room=${at#src/}
        room=${room%%/*}
        case " $rooms " in
        *" $room "*) objects="$objects $out/clang/$object" ;;
        *) others="$others $build/$object" ;;
        esac
    done
    make -s -j"$jobs" BUILD="$out/clang" CC="$clang" \
        CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" $objects > "$out/make.log" 2>&1 ||
        { cat "$out/make.log"; return 1; }
    printf '%s\n' $fuzzed | xargs -P "$jobs" -I @ $clang $flags -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all tests/fuzz/@.c tests/fuzz/fuzz.c $objects $others -o "$out/fuzz-@" -lm -pthread
}
if [ "$times" != 0 ]; then
    find_clang || need libfuzzer:clang,libclang-rt-dev
    find_clang || { echo "left out: fuzzing, which wants a clang with libFuzzer"; times=0; }
fi
if [ "$times" != 0 ]; then
    fuzzed=$(drawn 3 $formats)
    for format in $fuzzed; do
        rm -rf "$out/found-$format" "$out/fuzz-$format"
        mkdir -p "$out/found-$format"
    done
    fuzzer || failed=$((failed + 1))
    for run in $runs; do ! among "${run%=*}" "$fuzzed" || echo "$run"; done | xargs -P "$jobs" -n 1 sh -c '
        out=$1 seed=$2 times=$3 format=${4%=*} runs=${4#*=}
        "$out/fuzz-$format" -seed="$seed" -runs=$((runs * times)) -timeout=20 -rss_limit_mb=3000 -max_len=8192 -print_final_stats=1 \
            -artifact_prefix="$out/$format." "$out/found-$format" "$out/corpus/$format" > "$out/$format.log" 2>&1
        echo $? > "$out/$format.status"' fuzz "$out" "$seed" "$times"
    for format in $fuzzed; do
        count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$format.log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$format.log" | tail -1)
        inputs=$((inputs + ${count:-0}))
        echo "$format: ${count:-0} inputs drawn by -seed=$seed, ${coverage:-0} edges"
        if [ "$(cat "$out/$format.status")" = 0 ] && [ -n "$count" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            tail -40 "$out/$format.log" | cut -c1-200
        fi
        [ -z "${FUZZ_KEEP:-}" ] || "$out/fuzz-$format" -merge=1 -max_len=4096 "$out/corpus/$format" "$out/found-$format" \
            2>&1 | tail -1 && pack "$format"
    done
fi
formats=$(echo $formats | tr ' ' '\n' | grep -c .)
echo "promise 3: $formats formats, $files inputs of the corpora and $inputs of libFuzzer: $failed findings; each within its" \
    "file's size and 1 MiB, nothing left"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
