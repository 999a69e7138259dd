#!/bin/sh
# A program compiles what it uses: TENSOR_TRIM, headers of tools/trim, and switches change no bit; what is left out says so.
#
# Examples and README: full, TENSOR_TRIM (one file), trimmed; the rows that trim lists are those that the compiler reaches.
# Rows alone: a program that calls one by name, its samples and gradients; a sample that rotates with the commit, TN_FULL=1: all,
# by three compilers at two levels. TN_QUICK=1: README and one row.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
here=tests/trim out=$BUILD/trim
. tests/shared.sh
rm -rf "$out" && mkdir -p "$out/full" "$out/rows" || exit 1
cc=${CC:-cc}
passed=0 failed=0
check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" > "$out/log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED  $what"
        sed 's/^/    | /' "$out/log" | cut -c1-200 | head -15
    fi
}
quiet() { "$@" > "$out/quiet" 2>&1; status=$?; cat "$out/quiet"; [ $status = 0 ] && [ ! -s "$out/quiet" ]; } # no warning
same() { diff "$1" "$2"; }
trim=$out/trim
check "trim compiles without a warning" quiet $cc -std=c99 -O1 -Wall -Wextra -pedantic -Wshadow -Wconversion tools/trim.c -o "$trim"
flags="-Wall -Wextra ${TRIM_FLAGS:--O1} $(runnable)"
run() { # PROGRAM FOLDER: in a folder of its own, what it prints and writes
    rm -rf "$2" && mkdir -p "$2" && (cd "$2" && "$1" > printed 2>&1)
}
rows_of() { awk '{ print $1 }' "$1" | sort; }
# Without inlining, for a branch that no call of the program takes would be dropped with its rows.
reached() { nm "$1" | awk '{ print $3 }' | sort -u > "$out/names"; sort -u "$out/all" | comm -12 - "$out/names"; }

# --- programs -----------------------------------------------------------------------------------------
sed -n '/^```c$/,/^```$/p' README.md | sed '1d; /^```$/q' | sed '$d' > "$out/readme.c"
sed -n 's/^ *&\(tni_\(row\|module\|optimizer\)_[a-z_0-9]*\),$/\1/p' tensor.h tensor_nn.h > "$out/all"
case $out in /*) absolute=$out ;; *) absolute=$(pwd)/$out ;; esac
one_file() { # NAME SOURCE
    mkdir -p "$out/$1"
    check "$1: trim" eval "$trim -o $out/$1 --list tensor.h tensor_nn.h -- $2 > $out/$1.list"
    check "$1: trimmed, no warning" quiet $cc -std=c99 $flags -I"$out/$1" "$2" -o "$out/$1.trimmed" -lm -pthread
    check "$1: TENSOR_TRIM, no warning" quiet $cc -std=c99 $flags -fno-inline -DTENSOR_TRIM -I. "$2" -o "$out/$1.static" -lm -pthread
    check "$1: full" $cc -std=c99 $flags -I. "$2" -o "$out/$1.full" -lm -pthread
    for form in full static trimmed; do check "$1: $form runs" run "$absolute/$1.$form" "$out/ran.$form"; done
    check "$1: TENSOR_TRIM gives the same output and files" diff -r "$out/ran.full" "$out/ran.static"
    check "$1: trimmed gives the same output and files" diff -r "$out/ran.full" "$out/ran.trimmed"
    rows_of "$out/$1.list" > "$out/$1.rows"
    reached "$out/$1.static" > "$out/$1.reached"
    check "$1: trim lists the rows that the compiler reaches" same "$out/$1.rows" "$out/$1.reached"
    check "$1: fewer rows than all" test "$(wc -l < "$out/$1.rows")" -lt "$(wc -l < "$out/all")"
}
one_file readme "$out/readme.c"
if [ -z "${TN_QUICK:-}" ]; then
    for name in text physics game; do one_file $name examples/$name.c; done
    mkdir -p "$out/fashion"
    printf '#define FASHION_DATA "%s/none"\n' "$absolute" > "$out/digits.h" # the digits, also after `make data`
    check "fashion: trim" "$trim" -o "$out/fashion" tensor.h tensor_nn.h -- examples/fashion/*.c
    for form in fashion full; do
        include=$out/fashion
        [ $form = fashion ] || include=.
        check "fashion: $form, no warning" quiet $cc -std=c99 $flags -include "$out/digits.h" -I"$include" examples/fashion/*.c \
            -o "$out/fashion.$form" -lm -pthread
        "$out/fashion.$form" --seed 1 --epochs 1 --out "$out/learnt.$form" > "$out/fashion.$form.printed"
    done
    check "fashion: the same weights" cmp "$out/learnt.fashion/model.safetensors" "$out/learnt.full/model.safetensors"
    if command -v g++ > /dev/null; then
        mkdir -p "$out/mixed"
        check "mixed: trim" "$trim" -o "$out/mixed" tensor.h tensor_nn.h -- examples/mixed/main.cpp examples/mixed/model.c
        for form in mixed full; do
            include=$out/mixed
            [ $form = mixed ] || include=.
            check "mixed: $form, C" quiet $cc -std=c99 $flags -I"$include" -c examples/mixed/model.c -o "$out/model.o"
            check "mixed: $form, C++" quiet g++ -std=c++11 $flags -I"$include" examples/mixed/main.cpp "$out/model.o" -o "$out/mixed.$form" -lm -pthread
            "$out/mixed.$form" > "$out/mixed.$form.printed"
        done
        check "mixed: the same output" same "$out/mixed.full.printed" "$out/mixed.mixed.printed"
    fi
fi

# --- rows alone -----------------------------------------------------------------------------------------
cp $here/alone.c "$out/rows/"
for file in tests/ops/sample.[ch] tests/ops/elements.[ch]; do
    sed '/#include "..\/..\/src/d' "$file" > "$out/rows/$(basename "$file")"
done
echo 'DIFFERS("", "", "", false, "", "")' > "$out/rows/rows.inl" # the true one names every row
turn=$(git rev-list --count HEAD 2> /dev/null || echo 0)
sed -n 's/^tni_row_//p' "$out/all" | sort -u > "$out/names_of_rows"
if [ -n "${TN_FULL:-}" ]; then cp "$out/names_of_rows" "$out/some"; else
    step=60
    [ -z "${TN_QUICK:-}" ] || step=300
    awk -v step=$step -v turn="$turn" '(NR + turn) % step == 0' "$out/names_of_rows" > "$out/some"
    [ -s "$out/some" ] || echo add > "$out/some"
fi
program() { # FILE ROW...
    file=$1
    shift
    printf '#define TENSOR_IMPLEMENTATION\n#include "tensor.h"\n#define ROWS' > "$file"
    for row in "$@"; do printf ' "%s",' "$row"; done >> "$file"
    printf '\n#include "alone.c"\n' >> "$file"
}
program "$out/rows/every.c" $(cat "$out/some")
check "rows: the whole header" $cc -std=gnu99 -O0 -w -I. "$out/rows/every.c" -o "$out/rows/every" -lm -pthread
check "rows: it runs" eval "$out/rows/every > $out/rows/every.printed"
for row in $(cat "$out/some"); do
    mkdir -p "$out/rows/$row"
    program "$out/rows/$row.c" "$row"
    awk -v row="$row" '/^[a-z]/ { on = $1 == row } on' "$out/rows/every.printed" > "$out/rows/$row.full"
    check "$row alone: it has samples" test -s "$out/rows/$row.full"
    check "$row alone: trim" "$trim" -o "$out/rows/$row" tensor.h -- "$out/rows/$row.c"
    forms="cc:-O0"
    [ -n "${TN_QUICK:-}" ] || forms="cc:-O0 clang:-O0"
    [ -z "${TN_FULL:-}" ] || forms="gcc:-O0 gcc:-O2 clang:-O0 clang:-O2"
    for form in $forms; do
        compiler=${form%:*}
        command -v "$compiler" > /dev/null || continue
        [ "$compiler" != cc ] || compiler=$cc
        check "$row alone: $form" $compiler ${form#*:} -std=gnu99 -w -I"$out/rows/$row" "$out/rows/$row.c" -o "$out/rows/$row.program" -lm -pthread
        check "$row alone: runs" eval "$out/rows/$row.program > $out/rows/$row.printed"
        check "$row alone: the bits of the whole header, $form" same "$out/rows/$row.full" "$out/rows/$row.printed"
    done
done
echo "rows alone: $(wc -l < "$out/some") of $(wc -l < "$out/names_of_rows")"

. $here/left_out.sh
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
