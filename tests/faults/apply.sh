#!/bin/sh
# apply.sh [PATCH...] - what `make test-faults` runs: each seeded fault of this folder alone, in a scratch copy of the committed tree;
# the tests stop at the first lane that fails. First `make test-quick`, then, for a fault that it misses, `make test`.
# Asked for: 7 of 10 by the first, 9 of 10 by both. What they find takes its place in tests/faults/table.md, with the commit whose tests
# they were. TN_QUICK=1: no `make test` for those missed.
# What a fault was caught by is kept below build/faults for the committed tree, so that the run of all may be broken off and gone on with.
cd "$(dirname "$0")/../.." || exit 1
top=$(pwd)
work=${BUILD:-build}/faults
mkdir -p "$work/logs" || exit 1
case $work in /*) ;; *) work=$top/$work ;; esac
[ $# != 0 ] || set -- tests/faults/[0-9]*.patch
order="unit kinds values ops random errors"
for lane in $(ls tests/*/run.sh | sed 's|tests/||; s|/run.sh||'); do
    case " $order budget " in *" $lane "*) ;; *) order="$order $lane" ;; esac
done

copy() { # the committed tree, with what was built of it before, so that little is compiled again
    rm -rf "$work/tree"
    mkdir -p "$work/tree"
    git ls-files -z | xargs -0 cp -p --parents -t "$work/tree"
    [ ! -d "$work/built" ] || cp -a "$work/built" "$work/tree/build"
}
tree=$(git rev-parse HEAD:src HEAD:tests HEAD:tools HEAD:Makefile | git hash-object --stdin)
caught_by() { # TARGET: the lane that failed, "none", or how it ended else; from the run before, if that ended
    said=$work/logs/$name.$1.$tree
    [ -f "$said" ] || { catch "$1" > "$said.new" && mv "$said.new" "$said"; }
    cat "$said"
}
catch() { # TARGET
    limit=5400
    [ "$1" = test ] || limit=900
    (cd "$work/tree" && TN_STOP=1 timeout -k 10 $limit make "$1" LANES="$order" BUILD=build) > "$work/logs/$name.$1" 2>&1
    status=$?
    lane=$(sed -n 's/^lanes that failed: //p' "$work/logs/$name.$1")
    case $status in
    0) echo none ;;
    124 | 137) echo "$lane (hangs)" ;;
    *) echo "${lane:-build}" ;;
    esac
}

missed="**missed**"
[ -z "${TN_QUICK:-}" ] || missed="not tried"

copy
name=clean
[ -d "$work/built" ] || { # the tests pass without a fault, and leave behind what they built
    [ "$(caught_by test-quick)" = none ] || { echo "the tests fail without a fault: $work/logs/clean.test-quick"; exit 1; }
    cp -a "$work/tree/build" "$work/built"
}
count=0 quick=0 full=0 bad=0 at=$(git rev-parse --short HEAD)
: > "$work/table"
for patch in "$@"; do
    name=$(basename "$patch" .patch)
    kind=$(sed -n '1s/^# *//p' "$patch")
    copy
    count=$((count + 1))
    if ! patch -s -p1 -d "$work/tree" < "$patch" > "$work/logs/$name.patch" 2>&1; then
        echo "FAILED $name does not apply"
        bad=$((bad + 1))
        continue
    fi
    by=$(caught_by test-quick) depth=quick
    if [ "$by" = none ] && [ -z "${TN_QUICK:-}" ]; then
        by=$(caught_by test) depth=full
    fi
    [ "$by" = none ] && depth=missed
    [ $depth != quick ] || quick=$((quick + 1))
    [ $depth = missed ] || full=$((full + 1))
    echo "$name: $by ($depth)"
    case $depth in
    quick) echo "| $name | $kind | $by | | $at |" ;;
    full) echo "| $name | $kind | | $by | $at |" ;;
    missed) echo "| $name | $kind | | $missed | $at |" ;;
    esac >> "$work/table"
done
echo "promise 22: $quick of $count seeded faults caught by \`make test-quick\`, $full by both depths"

# --- the table: rows of faults that were not run now stay ---------------------------------------------
cut -d '|' -f 2 "$work/table" > "$work/names"
{ cat "$work/table"; grep '^| [0-9]' tests/faults/table.md 2> /dev/null | grep -vFf "$work/names"; } | sort -t '|' -k 2n > "$work/rows"
sums() { # FIRST LAST WHEN: of these faults
    awk -F'|' -v first="$1" -v last="$2" -v when="$3" '
        $2 + 0 >= first && $2 + 0 <= last { n++; quick += $4 !~ /^ *$/; any += $4 $5 !~ /missed|not tried|miss it/ }
        END { if (n) printf "%d to %d, written %s: of %d tried now, %d by `make test-quick`, %d by both depths.\n\n", first, last, when, n, quick, any }' \
        "$work/rows"
}
{
    printf '# Seeded faults and what catches them\n\nWritten by `make test-faults`: each fault alone, tests stop at the first lane that fails.\n\n'
    printf '| fault | kind | caught by `make test-quick` | caught by `make test` | tests of |\n| --- | --- | --- | --- | --- |\n'
    cat "$work/rows"
    echo
    grep -v '^#' tests/faults/sets.txt | while read -r first last when; do sums "$first" "$last" "$when"; done
    without=$(ls tests/faults | sed -n 's/^\([0-9]*\)-.*[.]patch$/\1/p' | sort -n | while read -r number; do
        grep -q "^| $number-" "$work/rows" || echo "$number"
    done | paste -sd ' ' -)
    [ -z "$without" ] || printf 'No run is on record for %s.\n\n' "$without" | fold -s -w 130 | sed "s, $,,"
    awk -F'|' '{ n++; quick += $4 !~ /^ *$/; any += $4 $5 !~ /missed|not tried|miss it/ }
        END { printf "promise 22: %d of %d seeded faults caught by `make test-quick`, %d by both depths\n", quick, n, any }' "$work/rows"
} > tests/faults/table.md
[ "$bad" = 0 ] && [ $((quick * 10)) -ge $((count * 7)) ] && [ $((full * 10)) -ge $((count * 9)) ]
