#!/bin/sh
# The operator table walked: forms, meta, replay, layouts, gradients, also through calls in place; failing allocations of every row of operators,
# modules and optimizers (of every sample, TN_QUICK=1: the first; of that once more over the library that watches failed
# calls); states loaded into every module row; groups of every optimizer; fused rows against formulas in primitive ones; fresh memory of two fills; gradients
# far out; lists of indices, chains of views and calls in shared memory beside models; gradients after a replay; other sizes on other instruction sets and threads; then
# torch's values, its gradients where elements are zero or equal, and whether every path that kernels choose among has run for one of them, on each instruction set of
# this machine.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
cc=${CC:-cc}
flags="${CFLAGS:--O2 -g} -DTNI_OBJECTS"
mkdir -p "$build/ops/paths"

link() { # PROGRAM FROM [objects and flags]
    to=$1 from=$2
    shift 2
    $cc -std=gnu99 $flags -Wall -Wextra -I"$build/ops" "tests/ops/$from.c" "$build/ops/sample.o" "$@" "$build/libtensor.a" \
        -lm -pthread -o "$build/ops/$to" || { echo "0 passed, 1 failed"; exit 1; }
}

# Objects that count paths, of the files that have some; and the list of all: name, number of the instruction set or -1.
count_paths() {
    files="$(grep -lE '^[^#*]*TNI_PATH\(' src/*/*.c) src/kernels/kernels.c"
    : > "$build/ops/expressions"
    for file in $files; do
        object=$build/ops/paths/$(basename "$file" .c).o
        $cc -std=c99 $flags -DTNI_COUNT_PATHS -E "$file" | grep -oE 'tni_path_ran\("[a-z0-9_]+", *-?[0-9]+\)' \
            >> "$build/ops/expressions"
        [ "$object" -nt "$build/libtensor.a" ] || $cc -std=c99 $flags $(runnable) -DTNI_COUNT_PATHS -c "$file" -o "$object" ||
            { echo "0 passed, 1 failed"; exit 1; }
    done
    sed 's/.*"\(.*\)", *\(.*\))/\1 \2/' "$build/ops/expressions" | sort -u > "$build/ops/paths.all"
}

check_paths() {
    : > "$build/ops/paths.ran"
    n=0
    for isa in scalar avx2 avx512 neon; do
        if TN_ISA=$isa "$build/ops/oracle_paths" tests/oracle/data row=relu > /dev/null 2>&1; then
            TN_ISA=$isa "$build/ops/oracle_paths" tests/oracle/data paths="$build/ops/paths.ran" | sed "s/FAILED/& ($isa)/"
        elif grep -q " $n\$" "$build/ops/paths.all"; then
            echo "left out: $(grep -c " $n\$" "$build/ops/paths.all") paths of $isa, which this machine does not run"
            grep -v " $n\$" "$build/ops/paths.all" > "$build/ops/paths.here"
            mv "$build/ops/paths.here" "$build/ops/paths.all"
        fi
        n=$((n + 1))
    done
    sort -u "$build/ops/paths.ran" | comm -13 - "$build/ops/paths.all" > "$build/ops/paths.never"
    sed 's/^/FAILED path never ran for a value of torch (instruction set: 0 scalar, 1 avx2, 2 avx512, 3 neon; -1 any): /' \
        "$build/ops/paths.never"
    all=$(wc -l < "$build/ops/paths.all") never=$(wc -l < "$build/ops/paths.never")
    [ "$all" -gt 100 ] || { echo "FAILED the list of paths has only $all"; never=$((never + 1)); }
    echo "paths: $((all - never)) of $all ran for a value of torch"
    echo "$((all - never)) passed, $((never)) failed"
}

for part in sample msample record; do
    $cc -std=gnu99 $flags -Wall -Wextra -c "tests/ops/$part.c" -o "$build/ops/$part.o" || { echo "0 passed, 1 failed"; exit 1; }
done
link walk walk
[ $# -gt 0 ] || set -- forms writes missing meta replay layout grad_in_place grad
for lane in "$@"; do # each in a process of its own: a crash is one failure
    "$build/ops/walk" "$lane"
    [ $? -le 1 ] || { echo "FAILED the lane $lane crashed"; echo "0 passed, 1 failed"; }
done > "$build/ops/walk.log" 2>&1
. tests/random/sources.sh
list_optimizers "$build/ops"
link memory memory "$build/ops/msample.o"
"$build/ops/memory" ${TN_QUICK:+samples=1} > "$build/ops/memory.log" 2>&1
. tests/shared.sh
sanitized
checked="$build/ops/msample.o $build/sanitized/libtensor.a $sanitize"
all=1
[ -z "${TN_FULL:-}" ] || all=0
link watched memory $checked
ASAN_OPTIONS=allocator_may_return_null=1 "$build/ops/watched" once samples=$all > "$build/ops/watched.log" 2>&1
link loads loads "$build/ops/msample.o"
"$build/ops/loads" > "$build/ops/loads.log" 2>&1
link groups groups
"$build/ops/groups" > "$build/ops/groups.log" 2>&1
link fused fused tests/ops/compositions.c
"$build/ops/fused" > "$build/ops/fused.log" 2>&1
link far far
"$build/ops/far" > "$build/ops/far.log" 2>&1
link indexing indexing
"$build/ops/indexing" ${TN_FULL:+count=2000000} > "$build/ops/indexing.log" 2>&1
link views views
"$build/ops/views" ${TN_FULL:+count=2000000} > "$build/ops/views.log" 2>&1
link aliases aliases
"$build/ops/aliases" ${TN_QUICK:+count=10} ${TN_FULL:+count=1000} > "$build/ops/aliases.log" 2>&1
link twin twin "$build/ops/record.o"
"$build/ops/twin" > "$build/ops/twin.log" 2>&1
link replayed replayed "$build/ops/record.o"
"$build/ops/replayed" > "$build/ops/replayed.log" 2>&1
depth=1
[ -z "${TN_QUICK:-}" ] || depth=0
[ -z "${TN_FULL:-}" ] || depth=2
link sizes sizes "$build/ops/record.o"
"$build/ops/sizes" depth=$depth > "$build/ops/sizes.log" 2>&1
link oracle oracle
"$build/ops/oracle" tests/oracle/data > "$build/ops/oracle.log" 2>&1
"$build/ops/oracle" tests/oracle/data grids=tests/oracle/grids > "$build/ops/grids.log" 2>&1
count_paths
link oracle_paths oracle -DTNI_COUNT_PATHS "$build"/ops/paths/*.o
check_paths > "$build/ops/paths.log" 2>&1
cd "$build/ops" || exit 1
: > early
set -- walk.log memory.log watched.log loads.log groups.log fused.log far.log indexing.log views.log aliases.log twin.log replayed.log sizes.log oracle.log grids.log paths.log
grep -h FAILED "$@" | head -60
grep -hE '^(left out|paths|promise|short)' "$@"
for log in "$@"; do # each has come to its end, and says so
    grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$log" && continue
    echo "FAILED ${log%.log} ended early: $(tail -1 "$log")"
    echo "$log" >> early
done
cat "$@" | awk -v early="$(grep -c . early)" '
    /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
    END { printf "%d passed, %d failed\n", p, f + early }'
