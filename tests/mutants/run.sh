#!/bin/sh
# Do the tests notice? Small faults (tools/mutate.c), one at a time, in a sample of the sources of base, tensor, call,
# autograd and io: each is compiled, linked with the rest of the library into the test programs, and killed when one of
# them fails, crashes or hangs. Not counted are those that do not compile or compile to the same code.
# TN_FULL=1: 400 mutants, of which 90 % have to be killed. TN_MUTANTS=n: so many; left out where neither is set.
# TN_SEED=n draws another sample, TN_ROOM="src/io/*.c" from there.
# survivors.txt lists mutants that mean the same, with the reason: they are counted apart.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
mkdir -p "$BUILD"
root=$(pwd) build=$(cd "$BUILD" && pwd)
out=$build/mutants
cc=${CC:-cc}
count=${TN_MUTANTS:-${TN_FULL:+400}}
if [ -z "$count" ]; then
    echo "left out: mutants are tried with TN_MUTANTS=n, and in make test-all"
    echo "0 passed, 0 failed"
    exit 0
fi
. tests/shared.sh
rm -rf "$out"
mkdir -p "$out/plain" "$out/checked"
die() {
    echo "$1"
    echo "0 passed, 1 failed"
    exit 1
}
[ "$(uname)" = Linux ] || { echo "left out: mutants are held in check by Linux"; echo "0 passed, 0 failed"; exit 0; }

# --- what is built once -------------------------------------------------------------------------------
$cc -std=c99 -O1 -Wall -Wextra tools/mutate.c -o "$out/mutate" && $cc -std=gnu99 -O1 -Wall tests/mutants/guard.c -o "$out/guard" ||
    die "the tools do not compile"
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
linker=-fuse-ld=lld
$cc $linker "$out/probe.c" -o "$out/probe" 2> /dev/null || linker=
sanitized
[ -f "$BUILD/sanitized/libtensor.a" ] || die "the sanitized objects do not build"

# Most tests are one program, `all NAME ARGUMENTS`: a mutant is linked once. Those of base have a stand-in for the room
# above and are programs of their own; nn_memory, special and walk's gradients take too long; steady replaces
# pthread_create. Checked are those under sanitizers.
alone=$(cd tests/unit && echo base*.c | sed 's/\.c//g')
units=$(cd tests/unit && ls *.c | sed 's/\.c$//' | grep -v -e '^base' -e '^nn_memory$' -e '^special$' -e '^steady$')
others="ops/walk ops/far ops/memory ops/oracle random/programs random/calls random/files errors/spoilt errors/misuse kinds/kinds threads/races"
others="$others ops/fused ops/loads ops/groups life/hooks life/cancel life/depth disk/kill state/replay edges/objects edges/ranges"
texts="ops/sample ops/msample ops/compositions random/model random/tuples disk/disk"
. tests/random/sources.sh
list_optimizers "$out"

twice=$(for n in $alone $units $others $texts; do echo "${n##*/}"; done | sort | uniq -d)
[ -z "$twice" ] || die "two programs are called $twice"

compile_test() { # flavour, flags, path below tests/: in a copy whose files in /tmp are the worker's own
    to=$out/$1/$(basename "$3") entry=
    case " $alone $texts " in *" ${3#unit/} "*) ;; *) entry=-Dmain=run_$(basename "$3") ;; esac
    { echo "#line 1 \"tests/$3.c\""; sed 's|"/tmp/|"tmp/|g' "tests/$3.c"; } > "$to.c"
    $cc -std=gnu99 -O1 $2 -DTNI_OBJECTS $entry -I. -I"$out" -iquote "$(dirname "tests/$3")" -c "$to.c" -o "$to.o"
}
compile_tests() { # flavour, flags
    for path in $(printf 'unit/%s ' $alone $units) $others $texts; do
        compile_test "$1" "$2" "$path" &
        [ $(($(jobs | wc -l) % 2)) = 1 ] || wait
    done
    wait
    {
        echo '#include <string.h>'
        for path in $units $others; do echo "int run_${path##*/}(int, char **);"; done
        nm "$out/$1"/misuse.o "$out/$1"/kinds.o | awk '$1 == "U" && /_layout_/ { print "char " $2 ";" }' | sort -u # the packed headers' own check
        echo 'int main(int argc, char **argv) {'
        for path in $units $others; do
            echo "if (argc > 1 && !strcmp(argv[1], \"${path##*/}\")) return run_${path##*/}(argc - 1, argv + 1);"
        done
        echo 'return 2; }'
    } > "$out/$1/main.c"
    $cc $2 -c "$out/$1/main.c" -o "$out/$1/main.o" || die "the tests do not compile"
    : > "$out/$1/all"
    for name in $(for n in $units $others $texts; do echo "${n##*/}"; done) main; do echo "$out/$1/$name.o" >> "$out/$1/all"; done
}

# What is run, each line a program: `-` for those that are `all`.
list_programs() { # flavour
    for name in $alone; do
        case $1$name in checkedbase_system) ;; *) echo "$name" ;; esac # it looks at the cache, which is bypassed
    done
    for name in $units; do
        case $1$name in checkedtape | checkedoverlap) ;; *) echo "all $name" ;; esac
    done
    echo "all programs 1 2000
all calls 1 3
all files 1 300
all misuse
all kinds"
    [ "$1" = plain ] || return
    for lane in forms writes meta replay layout grad_in_place; do echo "all walk $lane"; done
    for row in mul sum softmax; do echo "all walk grad row=$row"; done
    echo "all oracle tests/oracle/data
all far
all memory samples=1
all spoilt samples=1
all fused
all loads
all groups
all objects
all ranges
all replay 1 300
all hooks
all cancel
all depth
all kill . 3"
}
. tests/mutants/worker.sh

compile_tests plain "-g0"
compile_tests checked "-g0 $sanitize"
: > "$out/none.c"
$cc -c "$out/none.c" -o "$out/none.o"
try() { # worker, flavour: every program has to pass while there is no mutant, and takes its time
    worker_begin "$1"
    for name in all $alone; do
        link_mutant "$2" "$name" "$out/none.o" || echo "$2 $name does not link" >> "$out/broken"
    done
    list_programs "$2" | while read -r program; do
        GUARD_TIME=$out/time.$2 in_limits "$2" 300 120 "$program" || {
            echo "$2 $program fails without any mutant"
            tail -5 log
        } >> "$out/broken"
        echo "$(cat "$out/time.$2") $program"
    done | sort -n > "$out/$2/programs"
}
try 0 plain &
try 1 checked &
wait
[ ! -s "$out/broken" ] || { cat "$out/broken"; die "the tests do not pass"; }

# --- the sample ---------------------------------------------------------------------------------------
for file in ${TN_ROOM:-src/base/*.c src/tensor/*.c src/call/*.c src/autograd/*.c src/io/*.c}; do
    "$out/mutate" "$file" list "${TN_SEED:-1}"
done > "$out/list"
sort "$out/list" > "$out/sample"
for k in 0 1; do
    awk -v k=$k 'NR % 2 == k' "$out/sample" > "$out/sample.$k"
    worker $k $(((count + k) / 2)) &
done
wait

# --- the figure ---------------------------------------------------------------------------------------
cat "$out/w0/verdicts" "$out/w1/verdicts" > "$out/verdicts"
grep '^survived' "$out/verdicts" | cut -f2- | sort > "$out/survivors"
sed -n 's/^\(src[^ ]* -- .* => .*\) -- .*/\1/p' tests/mutants/survivors.txt | sort -u > "$out/excuses"
cut -f5 "$out/list" | sort -u > "$out/names"
sort -u "$out/survivors" | comm -12 - "$out/excuses" > "$out/excused.names"
grep -Fxf "$out/excused.names" "$out/survivors" > "$out/excused"
: > "$out/stale"
[ -n "${TN_ROOM:-}" ] || comm -13 "$out/names" "$out/excuses" | sed 's/^/FAILED survivors.txt has what is no mutant: /' > "$out/stale"
cat "$out/stale"
number() { grep -c "$1" "$out/verdicts"; }
killed=$(number '^killed') survived=$(number '^survived') excused=$(wc -l < "$out/excused")
all=$((killed + survived))
rooms=
for room in base tensor call autograd io; do
    k=$(number "^killed.*	src/$room/") s=$(number "^survived	src/$room/")
    rooms="$rooms, $room $k of $((k + s))"
done
percent() { awk -v k="$1" -v n="$2" 'BEGIN { printf "%.1f", n ? 100 * k / n : 0 }'; }
echo "of $(wc -l < "$out/list") mutants $all sampled (seed ${TN_SEED:-1}); beside them $(number '^stillborn') do not compile and $(number '^same') are the same code"
head -60 "$out/survivors" | sed 's/^/  survived: /'
echo "promise 22: $killed of $all sampled mutants killed ($(percent $killed $all) %; $(percent $killed $((all - excused))) % without" \
    "$excused that mean the same)${rooms}; survivors: $BUILD/mutants/survivors"
enough=$((killed * 10 >= (all - excused) * 9))
[ $enough = 1 ] || echo "short 22: fewer than 90 % of the sampled mutants are killed: the tests miss what $BUILD/mutants/survivors lists"
failed=$(wc -l < "$out/stale")
[ "$all" -ge "$count" ] || [ -n "${TN_ROOM:-}" ] || failed=$((failed + 1))
[ $enough = 1 ] || [ -z "${TN_FULL:-}" ] || failed=$((failed + survived - excused))
echo "$killed passed, $failed failed"
[ "$failed" = 0 ]
