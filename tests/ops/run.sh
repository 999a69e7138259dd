#!/bin/sh
# The operator table walked: forms, meta, replay, layouts, gradients, failing allocations; then torch's values.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
mkdir -p "$build/ops"
for program in walk oracle; do
    ${CC:-cc} -std=gnu99 ${CFLAGS:--O2 -g} -DTNI_OBJECTS -Wall -Wextra tests/ops/$program.c tests/ops/sample.c \
        "$build/libtensor.a" -lm -pthread -o "$build/ops/$program" || { echo "0 passed, 1 failed"; exit 1; }
done
: > "$build/ops/walk.log"
for lane in ${*:-forms meta replay layout grad memory}; do # each in a process of its own: a crash is one failure
    "$build/ops/walk" "$lane" >> "$build/ops/walk.log" 2>&1
    [ $? -le 1 ] || { echo "FAILED the lane $lane crashed"; echo "0 passed, 1 failed"; } >> "$build/ops/walk.log"
done
"$build/ops/oracle" tests/oracle/data > "$build/ops/oracle.log" 2>&1
grep -h FAILED "$build/ops/walk.log" "$build/ops/oracle.log" | head -40
cat "$build/ops/walk.log" "$build/ops/oracle.log" | awk '
    /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; seen++ }
    END { if (seen < 2) f++; printf "%d passed, %d failed\n", p, f }'
