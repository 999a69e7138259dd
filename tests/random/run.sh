#!/bin/sh
# Arguments at the ends of their ranges for every row, random programs against a reference model, damaged files and
# failing disks, under ASan and UBSan with the caches bypassed. Tuples a row: 40, TN_QUICK=1: 5, TN_FULL=1: 500 by the
# compiler and 500 by clang. Programs: 8,000 (3,000; 300,000), files likewise.
cd "$(dirname "$0")/../.." || exit 1
out=${BUILD:-build}/random
mkdir -p "$out"
. tests/shared.sh
passed=0 failed=0
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
count=8000 tuples=40 more=
[ -z "${TN_QUICK:-}" ] || count=3000 tuples=5
if [ -n "${TN_FULL:-}" ]; then
    count=300000 tuples=500
    need clang:clang,libclang-rt-dev
    if command -v clang > /dev/null; then more=clang; else echo "left out: clang, which is not here"; fi
fi
. tests/random/sources.sh
list_optimizers "$out"

# The library and the programs by one compiler, into $to; sanitizers where it has them.
prepare() { # COMPILER OBJECTS PROGRAM...
    compiler=$1
    sanitized "$1" "$2"
    shift 2
    for name in "$@"; do
        sources="tests/random/$name.c"
        [ $name != programs ] || sources=$programs
        [ $name != calls ] || sources=$calls
        rm -f "$to/$name"
        $compiler -std=gnu99 -O1 -g $sanitize -DTNI_OBJECTS -Wall -Wextra -pedantic -Wshadow -Wconversion -I"$out" \
            $sources "$objects/libtensor.a" -o "$to/$name" -lm -pthread || failed=$((failed + 1))
    done
}

collect() { # NAME: its parts are running as $pids
    part=0
    for pid in $pids; do
        wait "$pid" || failed=$((failed + 1))
        grep -vE '^(tuples|programs|sample:) ' "$to/$1.$part" | tail -n 20 | sed '$d'
        sum=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$to/$1.$part")
        passed=$((passed + ${sum:-0})) part=$((part + 1))
    done
}

# Different tuples a row, how many were taken, and rows that took none of those that were drawn.
count_tuples() { # COMPILER
    cat "$to"/calls.[0-9]* | awk -v by="$1" '
        $1 == "tuples" { rows[$2]++; n[$2] += $4; taken[$2] += $6; if (!($2 in least) || $4 < least[$2]) least[$2] = $4
                         if ($8 == 0) never = never " " $3; if (!all++ || $4 < few) few = $4 }
        END { if (!all) exit
              printf "promise 1: %d operators x %d tuples or more", rows["operator"], least["operator"]
              printf " (%d %% taken), %d modules x %d (%d %%)", 100 * taken["operator"] / n["operator"],
                     rows["module"], least["module"], 100 * taken["module"] / n["module"]
              printf ", %d optimizers x %d (%d %%), ASan + UBSan, %s\n", rows["optimizer"], least["optimizer"],
                     100 * taken["optimizer"] / n["optimizer"], by
              if (never != "" && few >= 500) print "short 1: no drawn tuple was taken, only refused:" never }'
}

calls() { # COMPILER
    compiler=$1 to=$out objects=${BUILD:-build}/sanitized chosen="calls programs files"
    [ -z "${TN_ROW:-}" ] || chosen=calls
    [ "$compiler" = "${CC:-cc}" ] || to=$out/$compiler objects=${BUILD:-build}/sanitized-$compiler chosen=calls
    mkdir -p "$to"
    prepare "$compiler" "$objects" $chosen
    part=0 pids=
    while [ -x "$to/calls" ] && [ "$part" -lt "$jobs" ] && rows=$(sample row 200 200); do
        "$to/calls" 1 $tuples $rows part=$part/"$jobs" > "$to/calls.$part" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    collect calls
    [ -n "${TN_ROW:-}" ] || count_tuples "$compiler"
}
calls "${CC:-cc}"
[ -z "$more" ] || calls "$more"
to=$out
chosen="programs files"
[ -z "${TN_ROW:-}" ] || chosen=
for name in $chosen; do
    part=0 pids=
    while [ -x "$out/$name" ] && [ "$part" -lt "$jobs" ]; do
        "$out/$name" $((1 + part * 1000000)) $((count / jobs)) > "$out/$name.$part" 2>&1 &
        pids="$pids $!"
        part=$((part + 1))
    done
    collect $name
done
[ -n "${TN_ROW:-}" ] || cat "$out"/programs.[0-9]* | awk '
    $1 == "programs" { for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) }
    END { printf "promise 12: %d programs, 0 tensors left, ASan + UBSan: %d frees by hand, %d by hooks, %d exchanges of data, ",
                 n["programs"], n["frees"], n["hook_frees"], n["exchanges"]
          printf "%d custom functions, %d hooks run, the rest by scopes\n", n["functions"], n["hooks"]
          printf "promise 13: %d programs with in-place edits through views and no-grad, 0 silent differences: ", n["programs"]
          printf "%d backwards right (%d gradients), %d refused, %d writes refused\n", n["right"], n["gradients"], n["refused"],
                 n["writes_refused"] }'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
