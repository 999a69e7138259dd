#!/bin/sh
# run.sh LANE... - runs tests/LANE/run.sh for each, as many at a time as there are cores (4 at most; TN_JOBS=n), and ends with
# the sum, "N passed, N failed", alone on a line. What a lane prints is shown when it has ended. tests/README.md says what each asks.
# Rows are drawn by TN_SEED, HEAD's hash unless it is set; those whose files were changed are always taken. TN_ROW="NAME ...": the lanes
# look at these rows alone. BUILD/logs/LANE.cpu: seconds of processor time.
# TN_QUICK=1: lanes leave out what takes long; a lane with a file `slow` is left out as a whole. TN_FULL=1: the full figures.
# TN_STOP=1: nothing goes on after a lane has failed. A full lane that passed on the same committed tree is not run again: what
# it printed then is shown (BUILD/logs/LANE.full has the tree), so that hours of them may be run in pieces.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
. tests/shared.sh
jobs=${TN_JOBS:-$jobs}
[ "$jobs" -le 4 ] || jobs=4
passed=0 failed=0 running= count=0 bad=
limit=3600 # seconds that a lane may take
[ -z "${TN_FULL:-}" ] || limit=36000
mkdir -p "$BUILD/logs"
rm -rf "$BUILD"/*.lock
tree=
[ -z "${TN_FULL:-}" ] || [ -n "$(git status --porcelain src tests tools 2>&1)" ] ||
    tree=$(git rev-parse HEAD:src HEAD:tests HEAD:tools | git hash-object --stdin)
trap 'trap - INT TERM; kill 0; exit 130' INT TERM

end() { # PROCESS and those it has begun
    set -- "$1" $(ps -o pid= --ppid "$1" 2> /dev/null)
    kill "$1" 2> /dev/null
    shift
    for child in "$@"; do (end "$child"); done
}

timed() { # LOG: runs the lane of this log
    (
        sh "tests/${1##*/}/run.sh"
        status=$?
        times > "$1.times"
        awk 'NR == 2 { split($1, u, "m"); split($2, s, "m"); print 60 * (u[1] + s[1]) + u[2] + s[2] }' "$1.times" > "$1.cpu"
        rm -f "$1.times"
        exit $status
    )
}
begin() { # LANE
    log=$BUILD/logs/$1
    if [ -n "$tree" ] && [ "$(cat "$log.full" 2> /dev/null)" = "$tree" ]; then # passed before
        running="$running $1" count=$((count + 1))
        return
    fi
    rm -f "$log.rc" "$log.full"
    echo "${TN_FULL:+full}${TN_QUICK:+quick}" > "$log.depth" # what tests/promises.sh says of its figures
    if [ $# = 2 ]; then # alone: what it prints is seen at once
        echo "== $1"
        { timed "$log" 2>&1; echo $? > "$log.rc"; } | tee "$log"
    else
        { timed "$log" > "$log" 2>&1; echo $? > "$log.new"; mv "$log.new" "$log.rc"; } &
        echo "$! $(($(date +%s) + limit))" > "$log.pid"
    fi
    running="$running $1" count=$((count + 1))
}
report() { # LANE, which has ended
    log=$BUILD/logs/$1
    [ "$alone" ] || { echo "== $1"; cat "$log"; }
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")
    if [ -z "$sum" ]; then
        echo "tests/$1/run.sh ended without 'N passed, N failed' (status $(cat "$log.rc"))"
        sum="0 1"
    elif [ "${sum#* }" = 0 ] && [ "$(cat "$log.rc")" != 0 ]; then
        echo "tests/$1/run.sh: status $(cat "$log.rc") though nothing failed"
        sum="${sum% *} 1"
    fi
    if [ "${sum#* }" = 0 ]; then echo "$tree" > "$log.full"; else bad="$bad $1"; fi
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
reap() { # reports what has ended, or hangs, or waits a moment
    still= ended= now=$(date +%s)
    for at in $running; do
        log=$BUILD/logs/$at
        if [ ! -f "$log.rc" ] && [ -f "$log.pid" ] && [ "$now" -gt "$(cut -d ' ' -f 2 "$log.pid")" ]; then
            end "$(cut -d ' ' -f 1 "$log.pid")"
            echo "hangs: it has taken $limit s" >> "$log"
            echo 124 > "$log.rc"
        fi
        if [ -f "$log.rc" ]; then
            report "$at"
            ended=1 count=$((count - 1))
        else
            still="$still $at"
        fi
    done
    running=$still
    [ "$ended" ] || sleep 0.2
}

alone=
[ $# != 1 ] || alone=1
[ -n "${TN_FULL:-}${TN_ROW:-}" ] || echo "rows: samples by TN_SEED=$TN_SEED; always, for they were changed: ${TN_CHANGED:-none}" | fold -s -w 160
for lane in "$@"; do
    if [ -n "${TN_QUICK:-}" ] && [ -f "tests/$lane/slow" ]; then
        echo "== $lane: left out of the quick run"
        continue
    fi
    while [ $count -ge "$jobs" ]; do reap; done
    [ -z "${TN_STOP:-}" ] || [ "$failed" = 0 ] || break
    begin "$lane" ${alone:+1}
done
while [ $count -gt 0 ]; do
    if [ -n "${TN_STOP:-}" ] && [ "$failed" != 0 ]; then # what still runs would say no more
        for lane in $running; do end "$(cut -d ' ' -f 1 "$BUILD/logs/$lane.pid")"; done
        break
    fi
    reap
done
[ -z "$bad" ] || echo "lanes that failed:$bad"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
