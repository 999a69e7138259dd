#!/bin/sh
# The operator table walked, row after row: tests/README.md says what each part asks. Every part is a program of its own in one file,
# `build/ops/ops PART ARGUMENT...`, and runs in a process of its own: a crash is one failure.
#     sh tests/ops/run.sh [LANE-OF-WALK...]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
out=$build/ops
cc=${CC:-cc}
flags="${CFLAGS:--O2 -g} -DTNI_OBJECTS"
mkdir -p "$out/paths"
. tests/shared.sh
. tests/random/sources.sh
list_optimizers "$out"

stop() { # WHAT
    echo "FAILED $1"
    echo "0 passed, 1 failed"
    exit 1
}
parts="walk batched memory loads groups fused far indexing views aliases twin replayed sizes oracle vectors special dtypes pairs mpairs"
common="sample msample record digest compositions"
sources() { for name in "$@"; do echo "tests/ops/$name.c"; done; }
gather "$out/ops" "${CFLAGS:--O2 -g} -Wall -Wextra -I$out" "$build/libtensor.a" $(sources $parts $common) || stop "the parts do not build"

logs=
part() { # LOG KIND N,QUICK PART ARGUMENT...: KIND -: it takes no rows
    log=$1 kind=$2 most=$3 rows=
    shift 3
    if [ "$kind" = - ]; then
        [ -z "${TN_ROW:-}" ] || return
    else
        rows=$(sample "$kind" $(echo "$most" | tr , ' ')) || return
    fi
    "${program:-$out/ops}" "$@" $rows >> "$out/$log.log" 2>&1
    [ $? -le 1 ] || { echo "FAILED $* crashed"; echo "0 passed, 1 failed"; } >> "$out/$log.log"
    case " $logs " in *" $log.log "*) ;; *) logs="$logs $log.log" ;; esac
}
rm -f "$out"/*.log
full() { [ -z "${TN_FULL:-}" ] || echo "$1"; }
depth() { # QUICK DEFAULT FULL
    if [ -n "${TN_FULL:-}" ]; then echo "$3"; elif [ -n "${TN_QUICK:-}" ]; then echo "$1"; else echo "$2"; fi
}

[ $# -gt 0 ] || set -- forms writes missing meta replay layout grad_in_place
for lane in "$@"; do part walk operator 300,300 walk "$lane"; done
part walk operator 150,60 walk grad
part batched operator 100,60 batched
part memory row 100,100 memory $(depth samples=1 samples=0 samples=0)
part loads module 200 loads
part groups - 0 groups
part fused operator 300,300 fused
part far operator 300,300 far
part indexing - 0 indexing $(full count=2000000)
part views - 0 views $(full count=2000000)
part aliases operator 150,100 aliases count=$(depth 10 40 1000)
part twin operator 300,300 twin
part replayed operator 300,300 replayed
part sizes operator 30,30 sizes depth=$(depth 0 1 2)
part oracle operator 1000 oracle tests/oracle/data
part grids operator 1000 oracle tests/oracle/data grids=tests/oracle/grids
part pairs operator 1000,300 pairs tests/oracle/pairs
part mpairs module 200 mpairs tests/oracle/mpairs
part vectors operator 300 vectors step=$(depth 30 9 1)
part special operator 100,60 special places=$(depth 1 3 67)
part dtypes operator 300,300 dtypes step=1

# Failing allocations once more over the library that watches failed calls.
sanitized
if rows=$(sample row 100 40); then
    ${cc} -std=gnu99 -O1 -g -DTNI_OBJECTS -DTNI_COUNT_POLLS $sanitize -I"$out" $(sources memory sample msample) "$build/sanitized/libtensor.a" \
        -lm -pthread -o "$out/watched" || stop "the watched part does not build"
    program=$out/watched
    export ASAN_OPTIONS=allocator_may_return_null=1
    part watched row 150,40 once samples=$(depth 1 1 0)
    program=
fi

# Whether every path that kernels choose among has run for one of torch's values, on each instruction set of this machine. Objects that
# count paths stand for those of the files that have some; $out/paths.all: name, number of the instruction set or -1.
count_paths() {
    files="$(grep -lE '^[^#*]*TNI_PATH\(' src/*/*.c src/*/*/*.c) src/kernels/kernels.c"
    for file in $files; do
        object=$out/paths/$(echo "${file%.c}" | tr / _).o
        [ "$object" -nt "$build/libtensor.a" ] || echo "$file -o $object"
    done > "$out/paths.old"
    [ ! -s "$out/paths.old" ] || xargs -P "$jobs" -L 1 $cc -std=c99 $flags $(runnable) -DTNI_COUNT_PATHS -c < "$out/paths.old" ||
        stop "the paths do not build"
    for file in $files; do $cc -std=c99 $flags -DTNI_COUNT_PATHS -E "$file"; done |
        grep -oE 'tni_path_ran\("[a-z0-9_]+", *-?[0-9]+\)' | sed 's/.*"\(.*\)", *\(.*\))/\1 \2/' | sort -u > "$out/paths.all"
    $cc -std=gnu99 $flags -DTNI_COUNT_PATHS $(sources oracle sample) "$out"/paths/*.o "$build/libtensor.a" -lm -pthread -o "$out/oracle_paths" ||
        stop "the paths do not link"
}
check_paths() {
    : > "$out/paths.ran"
    n=0
    for isa in scalar avx2 avx512 neon; do
        if TN_ISA=$isa "$out/oracle_paths" tests/oracle/data row=relu > /dev/null 2>&1; then
            TN_ISA=$isa "$out/oracle_paths" tests/oracle/data paths="$out/paths.ran" | sed "s/FAILED/& ($isa)/"
        elif grep -q " $n\$" "$out/paths.all"; then
            echo "left out: $(grep -c " $n\$" "$out/paths.all") paths of $isa, which this machine does not run"
            grep -v " $n\$" "$out/paths.all" > "$out/paths.here"
            mv "$out/paths.here" "$out/paths.all"
        fi
        n=$((n + 1))
    done
    sort -u "$out/paths.ran" | comm -13 - "$out/paths.all" > "$out/paths.never"
    sed 's/^/FAILED path never ran for a value of torch (instruction set: 0 scalar, 1 avx2, 2 avx512, 3 neon; -1 any): /' \
        "$out/paths.never"
    all=$(wc -l < "$out/paths.all") never=$(wc -l < "$out/paths.never")
    [ "$all" -gt 100 ] || { echo "FAILED the list of paths has only $all"; never=$((never + 1)); }
    echo "paths: $((all - never)) of $all ran for a value of torch"
    echo "$((all - never)) passed, $((never)) failed"
}
if [ -z "${TN_ROW:-}" ]; then
    count_paths
    check_paths > "$out/paths.log" 2>&1
    logs="$logs paths.log"
fi

cd "$out" || exit 1
: > early
grep -h FAILED $logs | head -60
grep -hE '^(left out|paths|promise|short)' $logs
sed -n 's/^m*pairs: /options in pairs: /p' $logs
grep -h '^sample: ' $logs | sort -u
[ -n "${TN_ROW:-}" ] || cat vectors.log special.log dtypes.log | awk '
    /^vectors:/ { models = $2; results = $4; none = $6 }
    /^special:/ { rows = $2; calls = $4 }
    /^dtypes:/ { with = $2; alike = $4 }
    END { printf "promise 9: %d rows that read vectors as by scalar models (%.0f results in 4 layouts, NaN, +-0, +-Inf, ", models, results
          printf "denormal, MAX at every index, alone, in pairs, everywhere; %d rows without a model); ", none
          printf "scalar = SIMD bitwise, with backward: %d rows, %d calls; ", rows, calls
          printf "dtype= as the input converted: %d rows, %d calls\n", with, alike }'
for log in $logs; do # each has come to its end, and says so
    grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$log" && continue
    echo "FAILED ${log%.log} ended early: $(tail -1 "$log")"
    echo "$log" >> early
done
cat $logs | awk -v early="$(grep -c . early)" '
    /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
    END { printf "%d passed, %d failed\n", p, f + early; exit f + early != 0 }'
