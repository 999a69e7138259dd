#!/bin/sh
# A program compiles what it uses: TENSOR_TRIM, headers of tools/trim, and switches change no bit; what is left out says so.
#
# Examples and README, in C and C++: full, TENSOR_TRIM (one file), trimmed; the rows that trim lists are those that the compiler
# reaches. Rows alone: a program that calls one by name, its samples and gradients, and one without gradients (--inference). A
# sample that rotates with the commit, each row by one compiler at one level; TN_FULL=1: each row alone by three compilers at -O0,
# in groups of eight at -O2. That takes hours and may be run in pieces: what passed is not built again until its trimmed header
# changes (build/logs/trim.passed). TN_PART=2/8: the second of eight pieces (the first has the programs); TN_SECONDS=n: a run
# ends after n seconds.
# TN_QUICK=1: README and one row. TN_ROW="erf linear": these rows alone; with TN_FULL=1, at both levels each.
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
reached() { nm -C "$1" | sed 's/.*[ :]//' | sort -u > "$out/names"; sort -u "$out/all" | comm -12 - "$out/names"; }
have() { command -v "$1" > /dev/null; }
turn=$(git rev-list --count HEAD 2> /dev/null || echo 0)
least=$cc # compiles fastest
! have clang || least=clang

sed -n 's/^ *&\(tni_\(row\|module\|optimizer\)_[a-z_0-9]*\),$/\1/p' tensor.h tensor_nn.h > "$out/all"
programs() { [ -z "${TN_ROW:-}" ] && case ${TN_PART:-1} in 1 | 1/*) true ;; *) false ;; esac; } # whether this run has them
! programs || . $here/programs.sh

# --- rows alone -----------------------------------------------------------------------------------------
cp $here/alone.c "$out/rows/"
samples="$here/alone.c $(echo tests/ops/sample.[ch] tests/ops/elements.[ch])"
for file in tests/ops/sample.[ch] tests/ops/elements.[ch]; do
    sed '/#include "..\/..\/src/d' "$file" > "$out/rows/$(basename "$file")"
done
echo 'DIFFERS("", "", "", false, "", "")' > "$out/rows/rows.inl" # the true one names every row
sed -n 's/^tni_row_//p' "$out/all" | sort -u > "$out/names_of_rows"
if [ -n "${TN_ROW:-}" ]; then
    for row in $TN_ROW; do
        check "$row is an operator" grep -qx "$row" "$out/names_of_rows"
        echo "$row" >> "$out/some"
    done
elif [ -n "${TN_FULL:-}" ]; then
    part=${TN_PART:-1/1} # the rows of a piece are neighbours, so that its groups are those of the whole
    awk -v k="${part%/*}" -v n="${part#*/}" 'int((NR - 1) / 8) % n == k - 1' "$out/names_of_rows" > "$out/some"
else
    step=$(($(wc -l < "$out/names_of_rows") / 3)) # a number that does not grow with the table
    [ -z "${TN_QUICK:-}" ] || step=$(wc -l < "$out/names_of_rows")
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
check "rows: the whole header" $least -std=gnu99 -O0 -w -I. "$out/rows/every.c" -o "$out/rows/every" -lm -pthread
check "rows: it runs" eval "$out/rows/every > $out/rows/every.printed"
memory=${BUILD:-build}/logs/trim.passed started=$(date +%s) left=0
mkdir -p "${memory%/*}" && touch "$memory"
late() { # whether the time of this run is over
    [ -n "${TN_SECONDS:-}" ] && [ $(($(date +%s) - started)) -gt "$TN_SECONDS" ] && left=$((left + 1))
}
key_of() { # COMMAND...: of the program that is made of $source and the headers in $folder, and shall give the bits of $name
    { cat "$folder"/* "$out/rows/$source" "$out/rows/$name.full" $samples && "$compiler" --version && echo "$*"; } | cksum | tr ' ' -
}
trimmed_for() { # NAME EXTENSION ROW...: the source of a program and its headers, once
    source=$1.$2 folder=$out/rows/$1.$2.d
    [ ! -d "$folder" ] || return 0
    mkdir -p "$folder"
    name=$1
    shift 2
    program "$out/rows/$source" "$@"
    check "$name alone: trim for $source" "$trim" -o "$folder" tensor.h -- "$out/rows/$source"
}
row_by() { # NAME COMPILER:LEVEL ROW...: their bits
    compiler=${2%:*} level=${2#*:} form=$2 name=$1 extension=c cxx= standard=-std=gnu99
    have "$compiler" || return 0
    case $compiler in *++) cxx=-xc++ extension=cc standard=-std=gnu++11 ;; esac
    ! late || return 0
    shift 2
    trimmed_for "$name" $extension "$@"
    key=$(key_of "$standard" "$level")
    ! remembered "$name:$form" || return 0
    bad=$failed
    check "$name alone: $form" "$compiler" $level $cxx $standard -w -I"$folder" "$out/rows/$source" \
        -o "$out/rows/$name.program" -lm -pthread
    check "$name alone: runs, $form" eval "$out/rows/$name.program > $out/rows/$name.printed"
    check "$name alone: the bits of the whole header, $form" same "$out/rows/$name.full" "$out/rows/$name.printed"
    [ $failed != $bad ] || remember "$name:$form" 3
}
# Without gradients: the forward's bits; each sample that has a gradient in the whole header is refused.
samples_with() { awk -v line="$1" '/^[a-z]/ { name = $0 } $0 ~ line { print name }' "$2" | sort -u; }
inference_of() { # ROW
    mkdir -p "$out/rows/$1.inference"
    program "$out/rows/$1.c" "$1"
    ! late || return 0
    name=$1 compiler=$least folder=$out/rows/$1.inference source=$1.c
    check "$1, --inference: trim" "$trim" --inference -o "$out/rows/$1.inference" tensor.h -- "$out/rows/$1.c"
    key=$(key_of)
    ! remembered "$1:inference" || return 0
    bad=$failed
    check "$1, --inference" $least -O0 -std=gnu99 -w -I"$out/rows/$1.inference" "$out/rows/$1.c" -o "$out/rows/$1.program" -lm -pthread
    check "$1, --inference: runs" eval "$out/rows/$1.program > $out/rows/$1.printed"
    for of in full printed; do
        sed '/^  grad /d; /^  refused: this build is without gradients/d; /^  refused: the operator has no gradient/d
            /^  refused: .* is a leaf that requires/d' "$out/rows/$1.$of" > "$out/forward.$of"
    done
    check "$1, --inference: the forward's bits" same "$out/forward.full" "$out/forward.printed"
    samples_with '^  grad [a-z0-9]* \\(' "$out/rows/$1.full" > "$out/have_gradients"
    samples_with '^  refused: this build is without gradients' "$out/rows/$1.printed" > "$out/are_refused"
    check "$1, --inference: a gradient is refused" eval "! comm -23 $out/have_gradients $out/are_refused | grep ."
    [ $failed != $bad ] || remember "$1:inference" 4
}
bits_of() { # NAME ROW...: what the whole header prints for them
    name=$1
    shift
    for row in "$@"; do awk -v row="$row" '/^[a-z]/ { on = $1 == row } on' "$out/rows/every.printed"; done > "$out/rows/$name.full"
    check "$name alone: it has samples" test -s "$out/rows/$name.full"
}
forget() { rm -rf "$out/rows/$1".*.d "$out/rows/$1.inference" "$out/rows/$1.program"; } # NAME
together() { # ROW...: in one program, optimized
    group=with_$1
    bits_of "$group" "$@"
    for form in gcc:-O2 clang:-O2 g++:-O2; do row_by "$group" $form "$@"; done
    forget "$group"
}
number=0
for row in $(cat "$out/some"); do
    bits_of "$row" "$row"
    forms=${TRIM_FORMS:-gcc:-O0 clang:-O0 g++:-O0}
    [ -z "${TN_ROW:-}" ] || forms=${TRIM_FORMS:-gcc:-O0 clang:-O0 g++:-O0 clang:-O2 gcc:-O2 g++:-O2}
    if [ -z "${TN_FULL:-}" ]; then # at -O2 the first, without optimization the others
        kind=$((turn + number))
        if [ -n "${TN_QUICK:-}" ]; then forms=$least:-O0
        elif [ $number = 0 ]; then forms=$(echo "clang:-O2 gcc:-O2 g++:-O2" | cut -d' ' -f$((kind % 3 + 1)))
        else forms=$(echo "g++:-O0 gcc:-O0 clang++:-O0" | cut -d' ' -f$((kind % 3 + 1))); fi
    fi
    number=$((number + 1))
    for form in $forms; do row_by "$row" $form "$row"; done
    [ -n "${TN_QUICK:-}" ] || inference_of "$row"
    forget "$row"
done
if [ -n "${TN_FULL:-}" ] && [ -z "${TN_ROW:-}" ]; then
    xargs -n 8 < "$out/some" > "$out/groups"
    while read -r group; do together $group < /dev/null; done < "$out/groups"
fi
echo "rows alone: $(wc -l < "$out/some") of $(wc -l < "$out/names_of_rows")"

! programs || . $here/left_out.sh
[ $left = 0 ] || echo "note: $left programs did not run in $TN_SECONDS seconds: run it again"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ $left = 0 ]
