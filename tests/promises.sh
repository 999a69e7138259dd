#!/bin/sh
# promises.sh LOGS - writes to stdout docs/promises.md: each promise of tests/promises.txt with the figures and shortfalls that
# the lanes printed into LOGS/<lane> or keep in tests/<lane>/table.md. Status 1 if a promise has no figure.
cd "$(dirname "$0")/.." || exit 1
logs=$1
cat << 'head'
# The promises and their figures

What this library promises, how it is tested, and what the tests found: each lane's last run. `make test-all` runs every lane in its full
depth, hours of them, and writes this page; `make test` runs a sample of each, `make test-quick` a smaller one, and
`sh tests/promises.sh build/logs` writes the page from what has been run. The second table says of which depth a lane's figures are.

head
echo "Measured on $(date -u +%F), $(uname -m), $(getconf _NPROCESSORS_ONLN) cores, $(${CC:-cc} --version | sed 1q)."
echo
echo "| # | promise | test | figure | falls short |"
echo "| --- | --- | --- | --- | --- |"
missing=0
lines() { # KIND NUMBER LANES: what these lanes printed, parted by <br>
    for lane in $3; do
        sed -n "s/^ *$1 $2: //p" "$logs/$lane" "tests/$lane/table.md" 2> /dev/null
    done | awk '!seen[$0]++ { gsub(/\|/, "\\|"); printf "%s%s", (n++ ? "<br>" : ""), $0 }'
}
failures() { # LANES: those whose figures are worth less than they say
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
