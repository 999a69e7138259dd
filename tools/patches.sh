#!/bin/sh
# patches.sh - fails when a patch of tests/faults or tests/stranger no longer applies to src/ exactly, or a line of
# tests/mutants/survivors.txt is no longer in its file. Edit the patch's hunk then, so that it does the same to the new lines
# (one line of context is enough: `diff -U1`), and take out the survivor.
cd "$(dirname "$0")/.." || exit 1
status=0
awk -F ' -- ' '
    /^src[/]/ && !($1 in text) { text[$1] = ""; while ((getline line < $1) > 0) text[$1] = text[$1] line "\n" }
    /^src[/]/ && !index(text[$1], $2) { print FILENAME ": no longer in " $1 ": " $2; bad = 1 }
    END { exit bad }' tests/mutants/survivors.txt || status=1
command -v patch > /dev/null || { echo "patches of the tests are not checked: there is no patch"; exit $status; }
for patch in tests/faults/*.patch tests/stranger/*.patch; do
    patch -p1 -F0 -f -N --dry-run < "$patch" > /dev/null 2>&1 && continue
    echo "$patch no longer applies to $(sed -n 's|^+++ b/||p' "$patch" | paste -sd ' ' -): edit it as tools/patches.sh says"
    status=1
done
exit $status
