#!/bin/sh
# subjects.sh [LOG] - fails when the subject of a commit has more than 72 characters. It reads the commits that follow the
# one that added this file, or "hash subject" lines from the file LOG. Without a history there is nothing to check, and it
# says so.
cd "$(dirname "$0")/.." || exit 1
most=72

long() { # stdin: lines "hash subject"; prints those that are too long; bytes that continue a UTF-8 character do not count
    LC_ALL=C awk -v most=$most '
        { subject = substr($0, index($0, " ") + 1); gsub(/[\200-\277]/, "", subject) }
        length(subject) > most { printf "%s: the subject has %d characters, %d at most\n", $0, length(subject), most; n++ }
        END { exit n > 0 }'
}

[ $# = 0 ] || { long < "$1"; exit; }
if [ "$(git rev-parse --show-cdup 2> /dev/null || echo none)" ]; then
    echo "commit subjects are not checked: this is no clone of the repository"
    exit 0
fi
first=$(git log --diff-filter=A --format=%H -- tools/subjects.sh | tail -n 1)
if [ -z "$first" ]; then
    echo "commit subjects are not checked: tools/subjects.sh is not committed"
    exit 0
fi
git log --no-merges --format='%h %s' "$first..HEAD" | long || exit 1
count=$(git rev-list --no-merges --count "$first..HEAD")
cut=
[ "$(git rev-parse --is-shallow-repository)" != true ] || cut=" (the clone is shallow: there may be earlier ones)"
echo "commit subjects: $count have $most characters or fewer$cut"
