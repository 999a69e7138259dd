# cases.sh - the cases of run.sh, which reads this. `add NAME <<'E'` takes a script that runs in a
# folder of its own and knows $c (compiler), $lang, $mode and the paths below; `refuse NAME WORDS`
# takes one that must fail with a message that has the words.
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
libs="-lm -pthread"
number=100 objects="" c="" lang="" mode="" h="" n="" run="" flags="" call=""
# Where the question is the form of the headers, a run has the kernels once.
scalar=-DTN_ISA_ONLY_SCALAR
[ -z "${TN_FULL:-}" ] || scalar=

head_of_case() {
    number=$((number + 1))
    printf '# %s\nset -e\n' "$1"
    printf "%s='%s'\n" top "$top" here "$here" BUILD "$BUILD" warnings "$warnings" libs "$libs" \
        nn "$nn" objects "$objects" c "$c" lang "$lang" mode "$mode" h "$h" n "$n" run "$run" flags "$flags" call "$call" scalar "$scalar"
}
add() {
    head_of_case "$1" > "$out/head"
    cat "$out/head" - > "$out/cases/$number.sh"
}
refuse() {
    head_of_case "$1" > "$out/head"
    { cat "$out/head" && echo 'attempt() {' && cat && echo '}'
      echo 'if (attempt) > log 2>&1; then echo "it was accepted" >&2; exit 1; fi'
      printf "grep -qE '%s' log || cat log >&2\n" "$2"; } > "$out/cases/$number.sh"
}
have() { command -v "$1" > /dev/null 2>&1; }
leave_out() { echo "left out: $1"; }

c_compilers="" cxx_compilers=""
for c in gcc clang; do
    if have $c; then c_compilers="$c_compilers $c"; else leave_out "$c is not installed"; fi
done
for c in g++ clang++; do
    if have $c; then cxx_compilers="$cxx_compilers $c"; else leave_out "$c is not installed"; fi
done
[ -n "$c_compilers" ] || c_compilers=${CC:-cc}
# A run takes gcc and g++ or clang and clang++, one standard of each language, and of what compiles the whole library some, by TN_SEED.
if [ -z "${TN_FULL:-}" ]; then
    family=$(drawn 1 $c_compilers)
    c_compilers=$family
    for c in $cxx_compilers; do
        case $family$c in gccg++ | clangclang++) cxx_compilers=$c ;; esac
    done
    cxx_compilers=${cxx_compilers##* }
fi
both=$(echo $c_compilers $cxx_compilers)
c_modes=$(drawn 1 c99 c11 c17 gnu17) cxx_modes=$(drawn 1 c++11 c++14 c++17 c++20)
alone_by=$(drawn 1 $both) # what compiles the library anew
whole=$(drawn 3 checked-file checked-callers static prefix screen flat split parts words)
targets="$(drawn 1 m32 one-thread) $(drawn 1 aarch64 s390x)" # the lane hash draws the same of these two
echo "sample: $both, $c_modes, $cxx_modes, cases $whole, targets $targets, TN_SEED=$TN_SEED"
# What is the same text for every compiler is tried with the first; what only has to run is compiled by the one that is done soonest.
first=$(echo $c_compilers | cut -d' ' -f1) least=$first
! have clang || least=clang
[ -z "${TN_FULL:-}" ] || first=$c_compilers least=$c_compilers
takes() { among "$1" "$whole $targets"; } # CASE
headers=tensor.h nn=""
[ -f tensor_nn.h ] && headers="tensor.h tensor_nn.h" nn=-DWITH_NN

# The implementation by each compiler, for the cases below; compiled while these are listed.
objects=$out/objects
mkdir -p "$objects"
keep() { # NAME COMPILER FLAGS...
    (
        name=$objects/$1
        shift
        ! library "$@" || ln -sf "$top/$object" "$name.o"
        ln -sf "$top/$object.said" "$name.said"
    ) &
}

# --- the public part, and the implementation, without a warning ---------------------------------
# What a compiler knows of a variable depends on what it takes into its function. gcc's -O2 is the lanes' library; a C compiler that
# has none of them makes the library of the cases below without optimization, as its standard has it.
levels=-O2 levels_by=gcc with_object=""
have gcc || levels_by=$first
among "$levels_by" "$c_compilers" || with_object=$c_compilers$c_modes
[ -z "${TN_FULL:-}" ] || levels="-Og -Os -O2 -O3" levels_by=$c_compilers with_object=""
for c in $c_compilers; do
    for mode in $c_modes; do
        add "callers: $c -std=$mode" << 'E'
$c -std=$mode -O1 $warnings -I$top -c $here/use.c -o use.o
E
        if [ $c$mode = "$with_object" ]; then
            add "implementation: $c -std=$mode" << 'E'
test -s $objects/$c.o && cat $objects/$c.said >&2
E
        else
            add "implementation: $c -std=$mode" << 'E'
$c -std=$mode $warnings -I$top $nn -fsyntax-only $here/implementation.c
E
        fi
        add "examples of the rows: $c -std=$mode" << 'E'
$c -std=$mode $warnings -Wno-shadow -I$top -fsyntax-only $top/tests/unit/examples.c
E
    done
    for h in $headers; do
        add "$h alone, twice: $c" << 'E'
printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' $h $h > t.c
$c -std=c99 $warnings -I$top -fsyntax-only t.c
E
    done
done
for c in $levels_by; do
    for flags in $levels; do
        keep "$c$flags" $c -std=gnu99 "$flags" $strict
        add "implementation: $c $flags" << 'E'
test -s $objects/$c$flags.o && cat $objects/$c$flags.said >&2
E
    done
done
# words.h comes before all, as what a user includes does
! takes words || for c in $first $(echo $cxx_compilers | cut -d' ' -f1); do
    case $c in *++) lang="-x c++ -std=c++11" ;; *) lang="-std=c99" ;; esac
    add "words that are macros elsewhere: $c" << 'E'
$c $lang -include $here/words.h -I$top $nn -fsyntax-only $here/implementation.c
$c $lang -include $here/words.h -DCALLERS -I$top -fsyntax-only $here/use.c
E
done
for c in $cxx_compilers; do
    for mode in $cxx_modes; do
        add "callers: $c -std=$mode" << 'E'
$c -x c++ -std=$mode -O1 $warnings -I$top -c $here/use.c -o use.o
E
        add "callers without overloads: $c -std=$mode" << 'E'
printf '#include "tensor_nn.h"\ntn_tensor *f(tn_tensor *x) { return tnp_add(x, tnp_relu(x), 1); }\n' > use.cc
$c -std=$mode -DTN_NO_OVERLOADS $warnings -I$top -fsyntax-only use.cc
printf 'tn_tensor *g(tn_tensor *x) { return tn_add(x, x); }\n' >> use.cc
! $c -std=$mode -DTN_NO_OVERLOADS -I$top -fsyntax-only use.cc 2> /dev/null
E
        add "examples of the rows: $c -std=$mode" << 'E'
$c -x c++ -std=$mode $warnings -Wno-shadow -I$top -fsyntax-only $top/tests/unit/examples.c
E
        if [ "$mode" = "${cxx_modes%% *}" ]; then # the object of the cases below
            add "implementation: $c -std=$mode" << 'E'
test -s $objects/$c.o && cat $objects/$c.said >&2
E
        else
            add "implementation: $c -std=$mode" << 'E'
$c -x c++ -std=$mode -Wall -Wextra -pedantic -Wshadow -Werror -I$top $nn \
    -fsyntax-only $here/implementation.c
E
        fi
    done
done

# --- one program, one library -------------------------------------------------------------------
for c in $c_compilers; do
    if [ -n "${TN_FULL:-}" ]; then keep $c $c -std=gnu99 -O0 $strict
    elif [ -n "$with_object" ]; then keep $c $c -std="$c_modes" -O0 $strict
    else keep $c $c -std=gnu99 -O2 $strict; fi
done
for c in $cxx_compilers; do keep $c $c -x c++ -std="${cxx_modes%% *}" -Wall -Wextra -pedantic -Wshadow; done
wait
for c in $c_compilers $cxx_compilers; do
    case $c in *++) lang="-x c++ -std=c++11" ;; *) lang="-std=c99" ;; esac
    add "a program of three files: $c" << 'E'
$c $lang -O1 -I$top -DUSE=first -c $here/use.c -o first.o
$c $lang -O1 -I$top -DUSE=second -c $here/use.c -o second.o
$c $lang -DFIRST=first -DSECOND=second -c $here/main.c -o main.o
$c main.o first.o second.o $objects/$c.o -o main $libs
./main
E
    add "every symbol begins with tn_ or tnp_: $c" << 'E'
nm -g --defined-only $objects/$c.o | awk '$2 != "W" && $2 != "V" { print $3 }' > names
grep -q '^tn_scope_begin$' names
! grep -vE '^(tn|tnp)_' names >&2
E
    refuse "objects of two layouts do not link: $c" "undefined.*tn_layout_0123456789ab" << 'E'
mkdir old
hash=$(sed -n 's/.*tn_layout_\([0-9a-f]*\).*/\1/p' $top/tensor.h | head -1)
sed "s/$hash/0123456789ab/g" $top/tensor.h > old/tensor.h
$c $lang -Iold -DUSE=first -c $here/use.c -o first.o || exit 0
$c $lang -DFIRST=first -DSECOND=first -c $here/main.c -o main.o || exit 0
$c main.o first.o $objects/$c.o -o main $libs
E
    ! takes static || ! among "$c" "$alone_by" || add "TENSOR_STATIC in two files of a program, no symbol outside: $c" << 'E'
$c $lang $scalar -Wall -Wextra -Werror -DTENSOR_STATIC -DUSE=first -I$top -c $here/whole.c -o first.o
objcopy --redefine-sym first=second first.o second.o # what -DUSE=second gives
! nm -g --defined-only first.o | grep -E ' [A-Z] (tn|tnp|tni)_' >&2
$c $lang -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o -o main $libs
./main
E
    # the other version is this one with another hash
    ! takes prefix || ! among "$c" "$alone_by" || add "two versions in one program, told apart by TN_PREFIX: $c" << 'E'
mkdir old
hash=$(sed -n 's/.*tn_layout_\([0-9a-f]*\).*/\1/p' $top/tensor.h | head -1)
sed "s/$hash/0123456789ab/g" $top/tensor.h > old/tensor.h
for f in first second; do
    i=$top; [ $f = second ] && i=old
    $c $lang $scalar -I$i -DTN_PREFIX=${f}_ -c $here/implementation.c -o tensor_$f.o
    $c $lang -I$i -DTN_PREFIX=${f}_ -DUSE=$f -c $here/use.c -o $f.o
done
nm -g --defined-only tensor_second.o | grep -q ' second_tn_scope_begin$'
! nm -g --defined-only tensor_second.o | grep -E ' [A-UX-Z] (tn|tnp|tni)_' >&2
nm -g --defined-only first.o | sed -n 's/.* [WV] //p' | sort > inline_first
nm -g --defined-only second.o | sed -n 's/.* [WV] //p' | sort > inline_second
! comm -12 inline_first inline_second | grep tn_ >&2
$c $lang -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o tensor_first.o tensor_second.o -o main $libs
./main
E
done
for c in $cxx_compilers; do
    lang=$(echo $c | sed 's/clang++/clang/;s/g++/gcc/')
    add "a C library, a C caller and a C++ caller: $c" << 'E'
$lang -std=c99 -I$top -DUSE=first -c $here/use.c -o first.o
$c -x c++ -std=c++17 -I$top -DUSE=second -c $here/use.c -o second.o
$lang -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o $objects/$lang.o -o main $libs
./main
E
done

# --- TN_CHECK -----------------------------------------------------------------------------------
# The implementation in the same file, and callers of either language over it as an object.
c=${least%% *}
freed="argument 'self' of mul was freed at the end of the scope that begins at freed.c:16 (it was made at freed.c:17)
argument 'other' of mul was freed at freed.c:23 (its scope ended there; it was made at freed.c:22)
tn_item: the tensor was freed at freed.c:26 (it was made at freed.c:15)
freed twice: the tensor was freed at freed.c:26 (it was made at freed.c:15)"
echo "$freed" > "$out/freed"
! takes checked-file || add "TN_CHECK in a program of one file: $c" << 'E'
cp $here/freed.c .
$c -std=gnu99 -O0 $warnings -DTN_CHECK -DTENSOR_IMPLEMENTATION -DTN_ISA_ONLY_SCALAR -I$top freed.c -o main $libs
./main | diff - ../../freed >&2
E
! takes checked-callers || keep checked $c -std=gnu99 -O0 -DTN_CHECK -DTN_ISA_ONLY_SCALAR $strict
wait
! takes checked-callers || for c in $c_compilers $cxx_compilers; do
    case $c in *++) lang="-x c++ -std=c++11" ;; *) lang="-std=gnu99" ;; esac
    add "TN_CHECK in callers: $c" << 'E'
cp $here/freed.c .
$c $lang $warnings -DTN_CHECK -I$top -c freed.c -o freed.o
$c freed.o $objects/checked.o -o main $libs
./main | diff - ../../freed >&2
E
done
for c in $first; do
    for flags in $(drawn 1 -DTN_NO_THREADS -DTENSOR_STATIC -DTN_PREFIX=my_ -DTENSOR_PART=2); do
        add "implementation with TN_CHECK: $c $flags" << 'E'
$c -std=c99 $flags -DTN_CHECK $warnings -I$top $nn -fsyntax-only $here/implementation.c
case $flags in *STATIC*) ;; *) $c -std=c99 $flags -DTN_CHECK $warnings -I$top -fsyntax-only $here/use.c ;; esac
E
    done
done

# --- forms of the header ------------------------------------------------------------------------
for c in $least; do
    add "renamed, with TN_HEADER_NAME: $c" << 'E'
cp $top/tensor.h other.h
sed 's/tensor.h/other.h/' $here/use.c > use.c
$c -std=c99 -I. -DTENSOR_IMPLEMENTATION '-DTN_HEADER_NAME="other.h"' -fsyntax-only use.c
E
    refuse "renamed, without: the error says what to define: $c" "#define TN_HEADER_NAME" << 'E'
cp $top/tensor.h other.h
printf '#define TENSOR_IMPLEMENTATION\n#include "other.h"\n' > t.c
$c -std=c99 -I. -c t.c
E
    ! takes flat || add "--flat does not include itself: $c" << 'E'
d=$(pwd)
cd $top && $BUILD/tools/amalgamate --flat src/tensor.c $d/flat.h && cd $d
sed 's/tensor.h/flat.h/' $here/use.c > use.c
$c -std=c99 $scalar -DUSE=main -DTENSOR_IMPLEMENTATION -I. use.c -o main $libs
./main
E
    ! takes split || add "--split gives a .h and a .c: $c" << 'E'
mkdir split
d=$(pwd)/split
cd $top && $BUILD/tools/amalgamate --split src/tensor.c $d/tensor.h && cd $d
$c -std=c99 $scalar -DUSE=main -I. $here/use.c tensor.c -o main $libs
./main
E
    add "--lines points into src/: $c" << 'E'
d=$(pwd)
cd $top && $BUILD/tools/amalgamate --lines src/tensor.c $d/tensor.h && cd $d
$c -E -std=c99 -I. -DTENSOR_IMPLEMENTATION $here/use.c | grep '"src/base/error.c"' > found
E
done
refuse "--check finds an edited header and says what to do" "edited.h is not .*make headers" << 'E'
d=$(pwd)
cp $top/tensor.h edited.h && echo >> edited.h
cd $top && $BUILD/tools/amalgamate --check src/tensor.c $d/edited.h
E

# --- misuse -------------------------------------------------------------------------------------
for c in $c_compilers $cxx_compilers; do
    case $c in *++) lang="-x c++ -std=c++11" ;; *) lang="-std=c99" ;; esac
    add "right.c, next to the misuse: $c" << 'E'
$c $lang -O1 $warnings -I$top -c $here/right.c -o right.o
$c right.o $objects/$c.o -o right $libs
./right >&2
E
done
while IFS='|' read -r language call gcc_says clang_says; do
    case $language in c*) ;; *) continue ;; esac
    call=$(echo "$call" | sed 's/^ *//; s/ *$//')
    case $language in c++*) by=$cxx_compilers lang="-x c++ -std=c++11" ;; *) by=$c_compilers lang=-std=c99 ;; esac
    for c in $by; do
        case $c in clang*) says=$clang_says ;; *) says=$gcc_says ;; esac
        says=$(echo "$says" | sed 's/^ *//; s/ *$//') flags= mode=
        case $says in *unused-result*) flags=-Werror=unused-result ;; *" now") mode="&& false" ;; esac
        refuse "misuse: $call: $c" "$says" << 'E'
eval '$c $lang $flags -I$top "-DCALL=$call" -c $here/misuse.c -o misuse.o' "$mode"
E
    done
done < "$here/misuse.txt"
call= mode=

# --- the wrong flags, the first screen ----------------------------------------------------------
# -ffast-math is the program's own business: the implementation refuses it, in each form.
for c in $c_compilers $cxx_compilers; do
    case $c in *++) lang="-x c++ -std=c++11" ;; *) lang="-std=c99" ;; esac
    add "callers with -ffast-math: $c" << 'E'
for use in first second; do $c $lang -O2 -ffast-math $warnings -I$top -DUSE=$use -c $here/use.c -o $use.o; done
$c $lang -DFIRST=first -DSECOND=second -c $here/main.c -o main.o
$c main.o first.o second.o $objects/$c.o -o main $libs
./main
E
done
for c in $c_compilers; do
    for flags in "tensor.h -DTENSOR_IMPLEMENTATION" "tensor.h -DTENSOR_IMPLEMENTATION -DTENSOR_TRIM" \
        "tensor.h -DTENSOR_IMPLEMENTATION -DTENSOR_PART=2" "tensor_nn.h -DTENSOR_NN_IMPLEMENTATION" \
        "tensor_nn.h -DTENSOR_IMPLEMENTATION -DTENSOR_NN_IMPLEMENTATION -DTENSOR_PART=4" \
        src/tensor.c src/tensor_nn.c tensor_py.c; do
        refuse "the implementation with -ffast-math: $c $flags" "error.*same bits everywhere" << 'E'
set -- $flags
touch Python.h structmember.h # enough to come as far as the library
echo "#include \"$top/$1\"" > form.c
shift
$c -std=c99 -ffast-math -Wfatal-errors "$@" -I. -I$top -fsyntax-only form.c
E
    done
    refuse "the implementation with -ffast-math, behind its public part: $c" "error.*same bits everywhere" << 'E'
printf '#include "tensor_nn.h"\n#define TENSOR_IMPLEMENTATION\n#include "tensor.h"\n' > form.c
$c -std=c99 -ffast-math -Wfatal-errors -I$top -fsyntax-only form.c
E
    refuse "an object of src/ with -ffast-math: $c" "error.*same bits everywhere" << 'E'
command=$(make -n -C $top BUILD=$BUILD CC=$c CFLAGS=-ffast-math -W src/base/clock.c $BUILD/src/base/clock.o | grep -e '-c src/base/clock.c')
cd $top && eval "${command%-o *} -o /dev/null"
E
    case " $first " in *" $c "*) ;; *) continue ;; esac
    ! takes screen || add "the program on the first screen of tensor.h: $c" << 'E'
sed -n '/ \*\/$/q; s/^ \*     \(.*\)/\1/p' $top/tensor.h | sed '1,2d' > fit.c
$c -std=c99 $scalar $warnings -I$top fit.c -o fit $libs
./fit > line
cat line
grep -q '^y = [23]\.[09]. x + [12]\.[09].$' line
E
    add "README.md shows the program on the first screen of tensor.h: $c" << 'E'
sed -n '/ \*\/$/q; s/^ \*     \(.*\)/\1/p' $top/tensor.h | sed '1,2d' > screen.c
sed -n '/^```c$/,/^```$/p' $top/README.md | sed '1d; /^```$/q' | sed '$d' | diff screen.c - >&2
E
done

# --- a real program, on other targets, too ------------------------------------------------------
# real.c learns, saves, loads and goes on: the same files and the same checksum from each.
real=$out/real
mkdir -p "$real"
c=$(echo $c_compilers | cut -d' ' -f1)
$c -std=c99 -DAPART -I"$top" "$here/real.c" "$objects/$c.o" -o "$real/main" $libs &&
    "$real/main" save "$real" > "$real/sum" || echo "the real program fails here: $c" >&2
same='same() { # the program: saves what the others save, reads what they saved, and they what it saved
    mkdir -p own
    $run "$@" save own | tr -d "\r" > sum.save
    $run "$@" load $out/real | tr -d "\r" > sum.load
    for of in sum.save sum.load; do cmp $of $out/real/sum >&2; done
    for of in state values; do cmp own/$of $out/real/$of >&2; done
    $out/real/main load own | cmp - $out/real/sum >&2
    echo "ran: $real_name"
}'
real_case() { # NAME; the script follows
    { printf "out='%s'\nreal_name='%s'\n%s\n" "$out" "$1" "$same" && cat; } > "$out/body"
    add "$1" < "$out/body"
}
echo 'int main(void) { return 0; }' > "$out/probe.c"
for c in $c_compilers; do
    newest=
    for mode in c23 c2x; do
        [ -n "$newest" ] || ! $c -std=$mode -c "$out/probe.c" -o "$out/probe.o" 2> "$out/probe.log" ||
            newest=$mode
    done
    for mode in $c_modes $newest; do
        real_case "a real program: $c -std=$mode" << 'E'
$c -std=$mode -O1 $warnings -DAPART -I$top $here/real.c $objects/$c.o -o main $libs
same ./main
E
    done
done
for c in $cxx_compilers; do
    lang=$(echo $c | sed 's/clang++/clang/;s/g++/gcc/')
    real_case "a real program over a library that is C++: $c" << 'E'
$lang -std=c99 -O1 $warnings -DAPART -I$top -c $here/real.c -o real.o
$c real.o $objects/$c.o -o main $libs
same ./main
E
done
# The library in four parts (TENSOR_PART), by a compiler of each language.
! takes parts || for c in $alone_by; do
    case $c in *++) lang="-x c++ -std=c++11" flags=-DTN_ISA_ONLY_SCALAR ;; *) lang="-std=c99" flags=$scalar ;; esac
    real_case "a real program over a library of four parts: $c" << 'E'
for n in 1 2 3 4; do
    $c $lang $flags -Wall -Wextra -pedantic -Wshadow -Werror -DTENSOR_PART=$n -I$top $nn -c $here/implementation.c -o part$n.o
done
$(echo $c | sed 's/clang++/clang/; s/g++/gcc/') -w -DAPART -I$top -c $here/real.c -o real.o
$c real.o part1.o part2.o part3.o part4.o -o main $libs
same ./main
for n in 1 2 3 4; do # without one of them it does not link
    ! $c real.o $(ls part?.o | grep -v part$n) -o less $libs 2> less.log || echo "without part $n it links" >&2
    grep -q 'undefined reference' less.log
done
E
done
for c in $first; do
    for flags in "-DTENSOR_PART=1 -DTENSOR_TRIM" "-DTENSOR_PART=1 -DTENSOR_STATIC" "-DTENSOR_PART=1 -DTN_PREFIX=my_"; do
        refuse "parts of what cannot be in parts: $c $flags" "parts refer to each other" << 'E'
$c -std=c99 $flags -Wfatal-errors -I$top $nn -fsyntax-only $here/implementation.c
E
    done
    for flags in -DTENSOR_PART=5 -DTENSOR_PART=0 -DTENSOR_PART=x; do
        refuse "a part that is not there: $c $flags" "TENSOR_PART is 1, 2, 3 or 4" << 'E'
$c -std=c99 $flags -Wfatal-errors -I$top $nn -fsyntax-only $here/implementation.c
E
    done
done
if [ -n "${TN_FULL:-}" ]; then
    for c in $c_compilers clang-19; do
        have $c || { leave_out "$c is not installed"; continue; }
        for mode in $c_modes; do
            real_case "a real program, whole and optimised: $c -std=$mode" << 'E'
$c -std=$mode -O2 $warnings -I$top $here/real.c -o main $libs
same ./main
E
        done
    done
    for c in $cxx_compilers clang++-19; do
        have $c || { leave_out "$c is not installed"; continue; }
        lang=$(echo $c | sed 's/clang++/clang/;s/g++/gcc/')
        for mode in $cxx_modes; do
            real_case "a real program over a library that is C++: $c -std=$mode" << 'E'
$c -x c++ -std=$mode -O1 -Wall -Wextra -pedantic -Wshadow -Werror -I$top $nn \
    -c $here/implementation.c -o tensor.o
$lang -std=c99 -DAPART -I$top -c $here/real.c -o real.o
$c real.o tensor.o -o main $libs
same ./main
E
        done
    done
fi

target() { # NAME COMPILER RUNNER FLAGS [FLAGS OF THE LIBRARY: then an object of its own, which the lane hash takes, too]
    c=$2 run=$3 flags=$4 n=
    for tool in $c ${run%% *}; do
        have "$tool" || { leave_out "$1: no $tool"; return; }
    done
    if ! $c $flags "$out/probe.c" -o "$out/probe" > "$out/probe.log" 2>&1; then
        leave_out "$1: $c $flags makes no program"
        return
    fi
    if [ -n "${5:-}" ]; then
        keep "$c" "$c" $5
        flags="$flags -DAPART" n=$objects/$c.o
    fi
    real_case "$1" << 'E'
program=./main.exe
[ -z "$n" ] || cat ${n%.o}.said >&2
[ $c != emcc ] || program=./main.js libs=-lm
$c $flags -I$top $here/real.c $n -o $program $libs
export WINEPREFIX=$(pwd)/wine WINEDEBUG=-all
[ "$run" != wine ] || wineboot > first.log 2>&1
same $program
E
}
# Names of files beyond ASCII, over the library of the last `target`: $c, $run, $n.
paths_of() { # NAME
    [ -z "$n" ] || add "paths are UTF-8: $1" << 'E'
$c -std=c99 -O1 -Wall -Wextra -Werror -I$top $here/paths.c $n -o paths.exe $libs
mkdir folder
export LC_ALL=C.UTF-8 WINEPREFIX=$(pwd)/wine WINEDEBUG=-all
[ "$run" != wine ] || wineboot > first.log 2>&1
$run ./paths.exe folder > said 2>&1 || cat said >&2
grep -q '^paths are UTF-8' said
E
}
c=$(echo $c_compilers | cut -d' ' -f1) run=
n=$objects/$c.o
paths_of "$c"
careful="-std=c99 -O1 -Wall -Wextra -Werror"
soon="$careful -O0"
[ -z "${TN_FULL:-}" ] || soon=$careful
# A compiler for another target displaces Debian's link to the kernel's headers that -m32 needs.
kernel=/usr/include/x86_64-linux-gnu
[ ! -d $kernel ] || kernel="-idirafter $kernel"
emulated="-O1 -static -Wall -Wextra -std=gnu99" # as the lane hash has them
if [ -z "${TN_QUICK:-}" ]; then
    ! takes m32 || target "32-bit x86 with SSE" gcc "" "-m32 -msse2 -mfpmath=sse $kernel $soon"
    target "tcc: scalar, one thread" tcc "" "-DTN_NO_THREADS"
    ! takes aarch64 || target "aarch64" aarch64-linux-gnu-gcc qemu-aarch64 "-static $careful" "$emulated"
    # in its strict modes gcc for s390x computes float in double: other bits (FLT_EVAL_METHOD 1)
    ! takes s390x || target "s390x, big-endian" s390x-linux-gnu-gcc qemu-s390x "-static $careful -std=gnu99" "$emulated"
    echo "short 23: s390x keeps the same bits in gnu modes, not in gcc's strict -std=c99 there"
    ! takes one-thread || target "one thread" ${least%% *} "" "-DTN_NO_THREADS $scalar $soon"
fi
if [ -n "${TN_FULL:-}" ]; then
    target "mingw-w64" x86_64-w64-mingw32-gcc wine "$careful" "$careful"
    paths_of "mingw-w64"
    target "wasm32" emcc "node --no-experimental-fetch" \
        "$careful -s NODERAWFS=1 -s ALLOW_MEMORY_GROWTH=1"
    target "an x86-64 without FMA" gcc "qemu-x86_64 -cpu Nehalem" "-static -DTN_NO_FMA $careful"
    target "32-bit x86 with SSE, clang" clang "" "-m32 -msse2 -mfpmath=sse $kernel $careful"
fi
wait

# what an include costs, to read, not to judge
[ -z "${TN_FULL:-}" ] || for flags in "-fsyntax-only $here/use.c" "-O2 -c $here/implementation.c -o t.o"; do
    c=$(echo $c_compilers | cut -d' ' -f1)
    add "the price of an include: $flags" << 'E'
sh -c "$c -std=c99 -I$top $nn $flags; times" > seconds
echo "note: $(tail -1 seconds) user and system: $c $flags" | sed "s|$here/||g"
E
done
