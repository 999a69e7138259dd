#!/bin/sh
# promises.sh LOGS - writes docs/promises.md to stdout: each promise of tests/promises.txt with the figures and shortfalls
# that its lanes printed into LOGS/<lane> or keep in tests/<lane>/table.md. Ends with 1 if a promise has no figure.
cd "$(dirname "$0")/.." || exit 1
logs=$1
cat << 'head'
# The promises and their figures

What this library promises, which tests hold it to each promise, and what they found when they last ran. `make test-all` runs
every lane in full, which takes hours, and writes this page. `make test` and `make test-quick` run samples of the lanes;
`sh tests/promises.sh build/logs` then writes this page from them. The second table says how deep each lane went.

head
echo "Measured on $(date -u +%F), $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(${CC:-cc} --version | sed 1q)."
echo
echo "| # | promise | test | figure | falls short |"
echo "| --- | --- | --- | --- | --- |"
missing=0
lines() { # KIND NUMBER LANES: what these lanes printed, separated by <br>
    for lane in $3; do
        sed -n "s/^ *$1 $2: //p" "$logs/$lane" "tests/$lane/table.md" 2> /dev/null
    done | awk '!seen[$0]++ { gsub(/\|/, "\\|"); printf "%s%s", (n++ ? "<br>" : ""), $0 }'
}
failures() { # LANES: those that failed, whose figures count for less
    for lane in $1; do
        tail -1 "$logs/$lane" 2> /dev/null | sed -n "s/^[0-9]* passed, \([1-9][0-9]*\) failed\$/**\1 failed in test-$lane**<br>/p"
    done | tr -d '\n'
}
while IFS='|' read -r number promise lanes; do
    case $number in '#'* | '') continue ;; esac
    number=${number% }
    figure=$(lines promise "$number" "$lanes")
    [ -n "$figure" ] || { figure="not measured"; missing=$((missing + 1)); }
    tests=$(printf '`make test-%s` ' $lanes)
    echo "| $number |${promise% } | $tests| $figure | $(failures "$lanes")$(lines short "$number" "$lanes") |"
done < tests/promises.txt
echo
echo "| lane | result | depth |"
echo "| --- | --- | --- |"
for lane in $(ls tests/*/run.sh | sed 's|tests/||; s|/run.sh||'); do
    depth=$(cat "$logs/$lane.depth" 2> /dev/null)
    [ ! -f "$logs/$lane" ] || echo "| $lane | $(tail -1 "$logs/$lane") | ${depth:-sample} |"
done
[ "$missing" = 0 ]
