#!/bin/sh
# C++ programs over tn::tensor: as C++11 to C++20 by g++ and clang++, without a warning, with and without TN_EXCEPTIONS; programs that
# must not compile; the blocks of docs/cpp.md. A run takes one standard for each compiler, in turn by TN_SEED (TN_QUICK=1: one compiler);
# TN_FULL=1: all of them, and under ASan, UBSan and TSan.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/cxx
rm -rf "$out" && mkdir -p "$out" || exit 1
passed=0 failed=0
turn=$(printf %s "$TN_SEED" | cksum | cut -d' ' -f1)

count() { # NAME FILE: what a program's last line says
    sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$2" 2> /dev/null)
    [ -n "$sum" ] || sum="0 1"
    [ "${sum#* }" = 0 ] || { echo "FAILED $1" && tail -40 "$2" | cut -c1-300 | sed 's/^/    /'; }
    passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
}
note() { # NAME STATUS FILE: one check, which holds if the status is 0 and the file is empty
    if [ "$2" = 0 ] && [ ! -s "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1" && head -20 "$3" | cut -c1-300 | sed 's/^/    /'
    fi
}

compilers=""
for c in g++ clang++; do ! command -v $c > /dev/null || compilers="$compilers $c"; done
[ -n "$compilers" ] || { echo "no g++ or clang++: left out" && echo "0 passed, 0 failed" && exit; }
[ -z "${TN_QUICK:-}" ] || compilers=$(echo $compilers | cut -d' ' -f$((turn % $(echo $compilers | wc -w) + 1)))
standard() { # TURN: one of the four
    echo 11 14 17 20 | cut -d' ' -f$(($1 % 4 + 1))
}
pairs="" more=0
for c in $compilers; do
    if [ -n "${TN_FULL:-}" ]; then
        for s in 11 14 17 20; do pairs="$pairs $c:$s"; done
    else
        pairs="$pairs $c:$(standard $((turn / 2 + more)))"
        more=$((more + 2))
    fi
done
echo "sample:$pairs, TN_SEED=$TN_SEED"
packed || { echo "0 passed, 1 failed" && exit 1; }
library_object=$object

# --- the programs -------------------------------------------------------------------------------
# What a mode precompiles: show.h, which has the headers. gcc finds show.h.gch in a folder, clang is told.
programs="traps:quiet traps:throws nn:quiet nn:throws optim:quiet optim:throws data:quiet data:throws cnn:quiet cnn:throws dqn:quiet dqn:throws first_steps:quiet autograd:quiet autograd:throws exceptions:throws ownership:quiet ownership:throws threads:quiet threads:throws"
precompiled() { # FOLDER COMPILER FLAGS...: sets using to what a program gives the compiler
    mkdir -p "$1"
    case $2 in
    clang*) pch=$1/show.pch using="-include-pch $1/show.pch" ;;
    *) pch=$1/show.h.gch using="-I$1 -include show.h -Winvalid-pch" ;;
    esac
    shift
    "$@" $strict -pthread -I. -Itests/cxx -x c++-header tests/cxx/show.h -o "$pch" 2> "$pch.said"
    note "show.h: $*" $? "$pch.said"
}
program() { # NAME SOURCE LIBRARIES COMMAND...: one that is compiled without a warning, and run
    name=$1 source=$2 libraries=$3
    shift 3
    "$@" $strict -I. "$source" $libraries -o "$name" -lm -pthread > "$name.said" 2>&1
    note "$name: compiles" $? "$name.said"
    [ -x "$name" ] || return 0
    "$name" > "$name.log" 2>&1 || echo "status $?" >> "$name.log"
    count "$name" "$name.log"
}
number=$((turn / 8))
for pair in $pairs; do
    c=${pair%:*} std=-std=c++${pair#*:}
    here=$out/$(echo "$pair" | tr : -)
    for mode in quiet throws; do
        flag=""
        [ $mode = quiet ] || flag=-DTN_EXCEPTIONS
        precompiled "$here/$mode" "$c" "$std" -O0 $flag
        for each in $programs; do
            [ "${each#*:}" = $mode ] || continue
            source=${each%:*}
            case "$programs" in # in one of its modes, in turn
            *"$source:quiet $source:throws"*)
                [ -n "${TN_FULL:-}" ] || [ $(((number + ${#source}) % 2)) = $([ $mode = quiet ] && echo 0 || echo 1) ] || continue ;;
            esac
            program "$here/$source-$mode" "tests/cxx/$source.cpp" "$library_object" "$c" "$std" -O0 $flag $using
        done
    done
    number=$((number + 1))

    # A program of files with and without TN_EXCEPTIONS, and one in C.
    lang=$(echo "$c" | sed 's/clang++/clang/;s/g++/gcc/')
    for source in main quiet throws; do
        "$c" "$std" -O0 $strict -I. -c "tests/cxx/units/$source.cpp" -o "$here/$source.o"
    done > "$here/units.said" 2>&1
    "$lang" -std=c99 $strict -I. -c tests/cxx/units/c_file.c -o "$here/c_file.o" >> "$here/units.said" 2>&1
    note "units: $pair compile" 0 "$here/units.said"
    program "$here/units" "$here/main.o" "$here/quiet.o $here/throws.o $here/c_file.o $library_object" "$c"
done

# Two versions of the library, told apart by TN_PREFIX, have no inline function in common.
for version in first second; do
    $c $std -O0 -DTN_PREFIX=${version}_ -I. -c tests/cxx/units/throws.cpp -o "$out/$version.o" &&
        nm "$out/$version.o" | sed -n 's/.* [WVu] //p' | sort > "$out/$version.names"
done 2> "$out/prefix.said"
[ -s "$out/first.names" ] || echo "no names" >> "$out/prefix.said"
comm -12 "$out/first.names" "$out/second.names" | grep -E 'tn[0-9]*|tensor' >> "$out/prefix.said"
note "TN_PREFIX: two versions share no function" 0 "$out/prefix.said"

# --- what must not compile ----------------------------------------------------------------------
mode=$out/$(echo "$pair" | tr : -)/quiet
case $c in clang*) using="-include-pch $mode/show.pch" ;; *) using="-I$mode -include show.h" ;; esac
line=0
while IFS= read -r text; do
    line=$((line + 1))
    words=${text%% ## *} code=${text#* ## }
    case $words in '#'* | '') continue ;; esac
    printf 'void f(tn::tensor x, tn_tensor *p, bool flag);\nvoid f(tn::tensor x, tn_tensor *p, bool flag) {\n(void)x, (void)p, (void)flag;\n%s\n}\n' \
        "$code" > "$out/misuse.cpp"
    "$c" $std $using -pthread -I. -fsyntax-only "$out/misuse.cpp" > "$out/misuse.log" 2>&1
    status=$?
    if [ "$words" = accept ]; then
        note "misuse.txt:$line by $c: $code" $status "$out/misuse.log"
    elif [ $status != 0 ] && grep -qE -e "error.*($words)" "$out/misuse.log"; then
        passed=$((passed + 1))
    else
        echo "no error that says: $words" >> "$out/misuse.log"
        note "misuse.txt:$line by $c: $code" 1 "$out/misuse.log"
    fi
done < tests/cxx/misuse.txt

# --- docs/cpp.md and README.md ------------------------------------------------------------------
# A block with main is a program, and what follows it indented is its output; all others are functions of one program.
for document in docs/cpp.md README.md; do
    folder=$out/$(basename $document .md)
    mkdir -p "$folder"
    awk -v folder="$folder" -f tests/cxx/blocks.awk $document
    for source in "$folder"/*.cpp; do
        name=${source%.cpp}
        "$c" -std=c++20 -O0 -Wall -Wextra -Wno-unused-variable -I. "$source" $library_object -o "$name" -lm -pthread > "$name.said" 2>&1
        note "$document: ${name##*/} compiles" $? "$name.said"
        [ -x "$name" ] || continue
        (cd "$folder" && ./"${name##*/}" > "${name##*/}.log" 2>&1) || echo "status $?" >> "$name.log"
        if [ -s "$name.output" ]; then
            diff "$name.output" "$name.log" > "$name.said"
        else
            : > "$name.said"
            ! grep -q '^status' "$name.log" || cp "$name.log" "$name.said"
        fi
        note "$document: ${name##*/} runs" 0 "$name.said"
    done
done

# --- sanitizers ---------------------------------------------------------------------------------
sanitize="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
checked() { # NAME FLAGS PROGRAM:MODE...: by this compiler with these flags, the library as well
    label=$1 flags=$2
    shift 2
    library "$lang" -std=gnu99 -O1 -g $flags || cat "$object.said"
    checked_library=$object
    for mode in quiet throws; do
        flag=""
        [ $mode = quiet ] || flag=-DTN_EXCEPTIONS
        here=$out/$label-$c/$mode
        precompiled "$here" "$c" -std=c++17 -O1 -g $flags $flag
        for each in "$@"; do
            [ "${each#*:}" != $mode ] ||
                program "$here/${each%:*}" "tests/cxx/${each%:*}.cpp" "$checked_library" "$c" -std=c++17 -O1 -g $flags $flag $using
        done
    done
}
if [ -n "${TN_FULL:-}" ]; then
    for c in $compilers; do
        lang=$(echo "$c" | sed 's/clang++/clang/;s/g++/gcc/')
        checked sanitized "$sanitize" $programs
        checked threads -fsanitize=thread threads:quiet threads:throws
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
