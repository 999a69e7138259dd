#!/bin/sh
# C++ programs over tn::tensor: as C++11 to C++20 by g++ and clang++, without a warning, with and without TN_EXCEPTIONS; programs that
# must not compile; the blocks of docs/cpp.md. A run takes one standard for each compiler, in turn by TN_SEED (TN_QUICK=1: one compiler);
# TN_FULL=1: all of them, and under ASan, UBSan and TSan. That takes an hour and may be run in pieces: a program that passed is not run
# again until a header, a test or its command changes (build/logs/cxx.passed has their names). TN_PIECE='clang++:sanitized': the pieces
# that this pattern names, of g++ and clang++ with 11, 14, 17, 20, rest, sanitized, threads. A piece ends after TN_SECONDS=n, if given.
cd "$(dirname "$0")/../.." || exit 1
. tests/shared.sh
out=${BUILD:-build}/cxx
rm -rf "$out" && mkdir -p "$out" || exit 1
passed=0 failed=0

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
piece() { # COMPILER:KIND: whether this run has it
    case $1 in ${TN_PIECE:-*}) return 0 ;; *) return 1 ;; esac
}
standard() { # TURN: one of the four
    echo 11 14 17 20 | cut -d' ' -f$(($1 % 4 + 1))
}
pairs="" more=0
for c in $compilers; do
    if [ -n "${TN_FULL:-}" ]; then
        for s in 11 14 17 20; do ! piece $c:$s || pairs="$pairs $c:$s"; done
    else
        pairs="$pairs $c:$(standard $((turn / 2 + more)))"
        more=$((more + 2))
    fi
done
echo "sample:$pairs, TN_SEED=$TN_SEED"
plain=$pairs # what needs the library without sanitizers
for c in $compilers; do ! piece "$c:rest" || plain="$plain $c"; done
[ -z "$plain" ] || packed || { echo "0 passed, 1 failed" && exit 1; }
library_object=$object

# --- the programs -------------------------------------------------------------------------------
# What a mode precompiles: show.h, which has the headers. gcc finds show.h.gch in a folder, clang is told.
programs="traps:quiet traps:throws nn:quiet nn:throws optim:quiet optim:throws data:quiet data:throws cnn:quiet cnn:throws dqn:quiet dqn:throws first_steps:quiet autograd:quiet autograd:throws exceptions:throws ownership:quiet ownership:throws threads:quiet threads:throws"
precompiled() { # FOLDER COMPILER FLAGS...: sets using to what a program gives the compiler, and to_precompile, for the first program
    mkdir -p "$1"
    case $2 in
    clang*) pch=$1/show.pch using="-include-pch $1/show.pch" ;;
    *) pch=$1/show.h.gch using="-I$1 -include show.h -Winvalid-pch" ;;
    esac
    shift
    to_precompile="$*"
}
precompile() {
    [ -n "$to_precompile" ] || return 0
    $to_precompile $strict -pthread -I. -Itests/cxx -x c++-header tests/cxx/show.h -o "$pch" 2> "$pch.said"
    note "show.h: $to_precompile" $? "$pch.said"
    to_precompile=
}
memory=${BUILD:-build}/logs/cxx.passed to_precompile="" started=$(date +%s) left=0
mkdir -p "${memory%/*}" && touch "$memory"
state=$(cat tensor.h tensor_nn.h tests/packed.c tests/check.[ch] tests/cxx/*.[ch]* tests/cxx/units/* 2> /dev/null | cksum | tr ' ' -)
passed_before() { # NAME COMMAND...
    known=$1
    shift
    key=$state-$({ "$1" --version && echo "$*"; } | cksum | tr ' ' -)
    remembered "$known"
}
program() { # NAME SOURCE LIBRARIES COMMAND...: one that is compiled without a warning, and run
    name=$1 source=$2 libraries=$3
    shift 3
    ! passed_before "${name#"$out"/}" "$@" "$source" || return 0
    if [ -n "${TN_SECONDS:-}" ] && [ $(($(date +%s) - started)) -gt "${TN_SECONDS:-}" ]; then
        left=$((left + 1))
        return 0
    fi
    before=$passed bad=$failed
    precompile
    "$@" $strict -I. "$source" $libraries -o "$name" -lm -pthread > "$name.said" 2>&1
    note "$name: compiles" $? "$name.said"
    [ -x "$name" ] || return 0
    "$name" > "$name.log" 2>&1 || echo "status $?" >> "$name.log"
    count "$name" "$name.log"
    [ $failed != $bad ] || remember "${name#"$out"/}" $((passed - before))
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
    to_precompile=
    program "$here/units" "$here/main.o" "$here/quiet.o $here/throws.o $here/c_file.o $library_object" "$c"
done

# --- the rest: by the compiler c, whose last standard is std ------------------------------------
two_prefixes() { # two versions of the library, told apart by TN_PREFIX, have no inline function in common
    for version in first second; do
        $c $std -O0 -DTN_PREFIX=${version}_ -I. -c tests/cxx/units/throws.cpp -o "$out/$version.o" &&
            nm "$out/$version.o" | sed -n 's/.* [WVu] //p' | sort > "$out/$version.names"
    done 2> "$out/prefix.said"
    [ -s "$out/first.names" ] || echo "no names" >> "$out/prefix.said"
    comm -12 "$out/first.names" "$out/second.names" | grep -E 'tn[0-9]*|tensor' >> "$out/prefix.said"
    note "TN_PREFIX: two versions share no function" 0 "$out/prefix.said"
}
misuse() { # what must not compile
    precompiled "$out/misuse-$c" "$c" "$std" -O0
    precompile
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
}
options() { # each function, method and class with each of its options alone: no other overload takes the braces
    {
        printf '#include "tensor_nn.h"\nvoid f(tn::tensor x);\nvoid f(tn::tensor x) {\n'
        cat src/gen/options.inl src/gen/options_nn.inl
        echo '}'
    } > "$out/options.cpp"
    "$c" -std=c++20 -I. -fsyntax-only "$out/options.cpp" > "$out/options.said" 2>&1
    note "one option in braces by $c" $? "$out/options.said"
}
documents() { # docs/cpp.md and README.md
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
}
for c in $compilers; do
    ! piece "$c:rest" || options
done
[ -n "${TN_FULL:-}" ] || compilers_of_rest=$(echo $compilers | cut -d' ' -f$((turn % $(echo $compilers | wc -w) + 1)))
for c in ${compilers_of_rest:-$compilers}; do
    piece "$c:rest" || continue
    std=-std=c++20
    for pair in $pairs; do [ "${pair%:*}" != "$c" ] || std=-std=c++${pair#*:}; done
    two_prefixes
    misuse
    documents
done

# --- sanitizers ---------------------------------------------------------------------------------
sanitize="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
checked() { # NAME FLAGS PROGRAM:MODE...: by this compiler with these flags, the library as well
    label=$1 flags=$2
    shift 2
    # Kernels of one instruction set, without optimization: other lanes check them, and clang took half an hour for all.
    library "$lang" -std=gnu99 -O0 -g1 -DTN_ISA_ONLY_SCALAR $flags || cat "$object.said"
    checked_library=$object
    for mode in quiet throws; do
        flag=""
        [ $mode = quiet ] || flag=-DTN_EXCEPTIONS
        here=$out/$label-$c/$mode
        precompiled "$here" "$c" -std=c++17 -O0 -g1 $flags $flag
        for each in "$@"; do
            [ "${each#*:}" != $mode ] ||
                program "$here/${each%:*}" "tests/cxx/${each%:*}.cpp" "$checked_library" "$c" -std=c++17 -O0 -g1 $flags $flag $using
        done
    done
}
if [ -n "${TN_FULL:-}" ]; then
    for c in $compilers; do
        lang=$(echo "$c" | sed 's/clang++/clang/;s/g++/gcc/')
        ! piece "$c:sanitized" || checked sanitized "$sanitize" $programs
        ! piece "$c:threads" || checked threads -fsanitize=thread threads:quiet threads:throws exceptions:throws
    done
fi

[ $left = 0 ] || echo "note: $left programs did not run in $TN_SECONDS seconds: run it again"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ $left = 0 ]
