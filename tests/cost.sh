#!/bin/sh
# cost.sh [ROWS] TREE WIDER-TREE - processor seconds of each lane as last run in the two trees (build/logs/LANE.cpu), and what a straight
# line through both gives for ROWS rows (1000). tests/wide.sh makes the wider tree; run the same lanes at the same depth in both:
#     sh tests/wide.sh 4 /tmp/wide && make test-quick && make -C /tmp/wide test-quick && sh tests/cost.sh . /tmp/wide
at=1000
case ${1:-} in [0-9]*) at=$1 && shift ;; esac
[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
rows() { awk '/^"modules"/ { exit } /^ [{]"name"/ { n++ } END { print n }' "$1/src/gen/table.json"; }
narrow=$(rows "$1") wide=$(rows "$2")
for log in "$1"/build/logs/*.cpu; do
    lane=$(basename "$log" .cpu)
    [ ! -f "$2/build/logs/$lane.cpu" ] || echo "$lane $(cat "$log") $(cat "$2/build/logs/$lane.cpu") $(tail -1 "$2/build/logs/$lane" | tr ' ' '_')"
done | awk -v a="$narrow" -v b="$wide" -v at="$at" '
    BEGIN { printf "%-10s %12s %12s %14s %12s\n", "lane", a " rows", b " rows", "a row, ms", at " rows" }
    { each = ($3 - $2) / (b - a); there = $2 + each * (at - a); x += $2; y += $3; z += there
      printf "%-10s %10.1f s %10.1f s %14.1f %10.1f s  %s\n", $1, $2, $3, 1000 * each, there, $4 ~ /_0_failed/ ? "" : $4 }
    END { printf "%-10s %10.1f s %10.1f s %14.1f %10.1f s: %.1f minutes on 2 cores\n", "all", x, y, 1000 * (y - x) / (b - a), z, z / 120 }'
