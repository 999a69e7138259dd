#!/bin/sh
# row.sh ROW... - `make test-row ROW="erf linear"`: these rows through every lane that takes rows (tests/README.md). An operator
# needs torch's answers in tests/oracle/data; where they are missing it says how they are made.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || { echo 'usage: make test-row ROW="erf linear"'; echo "0 passed, 1 failed"; exit 1; }
lanes="ops errors edges random"
for name in "$@"; do
    kind=$(awk -v name="$name" '/^[{]*"[a-z]*": *[[]/ { kind = $0; gsub(/[^a-z]/, "", kind) }
        index($0, " {\"name\": \"" name "\",") == 1 { print kind }' src/gen/table.json)
    [ -n "$kind" ] || {
        row=$(sed -n "s/^ {\"name\": \"\([a-z0-9_]*\)\", \"class\": \"$name\",.*/\1/p" src/gen/table.json)
        [ -z "$row" ] || { echo "FAILED $name is the class of the row $row: give that name"; echo "0 passed, 1 failed"; exit 1; }
        start=$(echo "$name" | tr '[:upper:]' '[:lower:]' | cut -c 1-3)
        near=$(grep -oE "^ [{]\"name\": \"$start[a-z0-9_]*" src/gen/table.json | sed 's/.*"//' | sort -u | paste -sd ' ' -)
        echo "FAILED no operator, module or optimizer is called $name${near:+; there are: $near}"
        echo "0 passed, 1 failed"
        exit 1
    }
    case " $(echo $kind) " in *" operators "*)
        [ -f "tests/oracle/data/$name.txt" ] || {
            echo "FAILED $name has no answers of torch: run 'python tests/oracle/make.py $name' with a python that has torch"
        } ;;
    esac
done
TN_ROW="$*" sh tests/run.sh $lanes | tee "${BUILD:-build}/row.log"
sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "${BUILD:-build}/row.log")
[ -n "$sum" ] || sum="0 1"
[ "${sum#* }" = 0 ] # what is missing is counted by the lane ops
