#!/bin/sh
# Each tests/unit/*.c is a program over src/ as objects; its last line is "N passed, N failed".
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
passed=0 failed=0
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Without the library of this tree the programs would show what an older one did.
make -s -j"$jobs" objects BUILD="$BUILD" || { echo "src/ does not compile"; echo "0 passed, 1 failed"; exit 1; }
make -s -k -j"$jobs" unit BUILD="$BUILD" || echo "not everything compiles"
for source in tests/unit/*.c; do
    [ -f "$source" ] || continue
    name=$(basename "$source" .c)
    log=$BUILD/unit/$name.log
    if [ "$BUILD/unit/$name" -nt "$source" ] && "$BUILD/unit/$name" > "$log" 2>&1; then status=0; else status=$?; fi
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" 2>/dev/null)
    case $sum in
    "" ) sum="0 1" ;;
    *" 0") [ $status = 0 ] || sum="${sum% *} 1" ;;
    esac
    echo "$name: ${sum% *} passed, ${sum#* } failed"
    grep -E '^(promise|short) ' "$log" 2>/dev/null
    if [ "${sum#* }" != 0 ]; then
        echo "  status $status"
        tail -40 "$log" 2>/dev/null | sed 's/^/  /'
    fi
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
