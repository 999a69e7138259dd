# cases.sh - the cases of run.sh, which reads this: add NAME COMMANDS, sh commands run in a folder of their own.
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
libs="-lm -pthread"
number=100

add() {
    number=$((number + 1))
    printf '# %s\nset -e\n%s\n' "$1" "$2" > "$out/cases/$number.sh"
}
# The command must fail, with words that match.
refuse() { add "$1" "if $2 > log 2>&1; then echo 'it was accepted' >&2; exit 1; fi
grep -qE '$3' log || cat log >&2"; }
have() { command -v "$1" > /dev/null 2>&1; }
leave_out() { echo "left out: $1"; }

c_compilers="" cxx_compilers=""
for c in gcc clang; do have $c && c_compilers="$c_compilers $c" || leave_out "$c is not installed"; done
for c in g++ clang++; do have $c && cxx_compilers="$cxx_compilers $c" || leave_out "$c is not installed"; done
have gcc || have clang || c_compilers=${CC:-cc}
first=$(echo $c_compilers | cut -d' ' -f1)
c_modes="c99 c11 c17 gnu17" cxx_modes="c++11 c++14 c++17 c++20"
[ -n "${TN_QUICK:-}" ] && c_modes="c99 gnu17" cxx_modes="c++11 c++20"
headers=tensor.h
[ -f tensor_nn.h ] && headers="tensor.h tensor_nn.h"
nn=$([ -f tensor_nn.h ] && echo -DWITH_NN)

# --- the public part, and the implementation, without a warning -----------------------------------
for c in $c_compilers; do
    for mode in $c_modes; do
        add "callers: $c -std=$mode" "$c -std=$mode -O1 $warnings -I$top -c $here/use.c -o use.o"
        add "implementation: $c -std=$mode" \
            "$c -std=$mode $warnings -I$top $nn -c $here/implementation.c -o tensor.o"
    done
    add "implementation: $c -O2" "$c -std=c99 -O2 $warnings -I$top $nn -c $here/implementation.c -o tensor.o"
    for h in $headers; do
        add "$h alone, twice: $c" "printf '#include \"$h\"\\n#include \"$h\"\\nint main(void) { return 0; }\\n' > t.c
$c -std=c99 $warnings -I$top -fsyntax-only t.c"
    done
done
for c in $cxx_compilers; do
    for mode in $cxx_modes; do
        add "callers: $c -std=$mode" "$c -x c++ -std=$mode -O1 $warnings -I$top -c $here/use.c -o use.o"
        add "implementation: $c -std=$mode" "$c -x c++ -std=$mode -Wall -Wextra -pedantic -Wshadow -Werror \\
    -I$top $nn -c $here/implementation.c -o tensor.o"
    done
done

# --- one program ----------------------------------------------------------------------------------
program() { # NAME COMPILER FLAGS: implementation and a caller, linked and run
    add "$1" "$2 $3 -c $here/implementation.c -o tensor.o
$2 $3 -DUSE=first -c $here/use.c -o first.o
$2 $3 -DUSE=second -c $here/use.c -o second.o
$2 $3 -DFIRST=first -DSECOND=second $here/main.c first.o second.o tensor.o -o main $libs
./main"
}
for c in $c_compilers; do program "a program of three files: $c" $c "-std=c99 -O1 -I$top $nn"; done
for c in $cxx_compilers; do program "a program of three files: $c" $c "-x c++ -std=c++11 -O1 -I$top $nn"; done
for c in $cxx_compilers; do
    cc=$(echo $c | sed 's/g++/gcc/;s/clang++/clang/')
    add "a C library and a C++ caller: $c" "$cc -std=c99 -I$top -c $here/implementation.c -o tensor.o
$cc -std=c99 -I$top -DUSE=first -c $here/use.c -o first.o
$c -x c++ -std=c++17 -I$top -DUSE=second -c $here/use.c -o second.o
$cc -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o tensor.o -o main $libs
./main"
done

# --- symbols --------------------------------------------------------------------------------------
for c in $c_compilers $cxx_compilers; do
    case $c in *++) lang="-x c++" ;; *) lang="-std=c99" ;; esac
    add "every symbol begins with tn_ or tnp_: $c" "$c $lang -I$top $nn -c $here/implementation.c -o tensor.o
nm -g --defined-only tensor.o | awk '\$2 != \"W\" && \$2 != \"V\" { print \$3 }' > names
grep -q '^tn_scope_begin\$' names
! grep -vE '^(tn|tnp)_' names >&2"
    add "TENSOR_STATIC in two files of a program, no symbol outside: $c" \
        "for f in first second; do $c $lang -Wall -Wextra -Werror -DTENSOR_STATIC -DUSE=\$f -I$top \\
    -c $here/whole.c -o \$f.o; done
! nm -g --defined-only first.o | grep -E ' [A-Z] (tn|tnp|tni)_' >&2
$c $lang -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o -o main $libs
./main"
    # a second version: one function more in the public part, so another layout
    add "two versions in one program, told apart by TN_PREFIX: $c" "mkdir old
hash=\$(sed -n 's/.*tn_layout_\\([0-9a-f]*\\).*/\\1/p' $top/tensor.h | head -1)
sed \"s/\$hash/0123456789ab/g; s/define TN_VERSION \\\".*\\\"/define TN_VERSION \\\"0.0.9\\\"/\" $top/tensor.h > old/tensor.h
cmp -s old/tensor.h $top/tensor.h && exit 1
for f in first second; do
    i=$top; [ \$f = second ] && i=old
    $c $lang -I\$i -DTN_PREFIX=\${f}_ -c $here/implementation.c -o tensor_\$f.o
    $c $lang -I\$i -DTN_PREFIX=\${f}_ -DUSE=\$f -c $here/use.c -o \$f.o
done
nm -g --defined-only tensor_second.o | grep -q ' second_tn_scope_begin\$'
$c $lang -DFIRST=first -DSECOND=second $here/main.c -c -o main.o
$c main.o first.o second.o tensor_first.o tensor_second.o -o main $libs
./main"
    refuse "objects of two layouts do not link: $c" "sh -c 'mkdir old
hash=\$(sed -n \"s/.*tn_layout_\\([0-9a-f]*\\).*/\\1/p\" $top/tensor.h | head -1)
sed \"s/\$hash/0123456789ab/g\" $top/tensor.h > old/tensor.h
$c $lang -Iold -DUSE=first -c $here/use.c -o first.o && $c $lang -I$top -c $here/implementation.c -o tensor.o &&
$c $lang -DFIRST=first -DSECOND=first -c $here/main.c -o main.o && $c main.o first.o tensor.o -o main $libs'" \
        "undefined reference to .*tn_layout_0123456789ab"
done

# --- forms of the header --------------------------------------------------------------------------
for c in $c_compilers; do
    add "renamed, with TN_HEADER_NAME: $c" "cp $top/tensor.h other.h
sed 's/tensor.h/other.h/' $here/use.c > use.c
$c -std=c99 -I. -DTENSOR_IMPLEMENTATION '-DTN_HEADER_NAME=\"other.h\"' -c use.c -o use.o"
    refuse "renamed, without: the error says what to define: $c" "sh -c 'cp $top/tensor.h other.h
printf \"#define TENSOR_IMPLEMENTATION\\n#include \\\"other.h\\\"\\n\" > t.c
$c -std=c99 -I. -c t.c'" "#define TN_HEADER_NAME"
    add "--flat does not include itself: $c" "cd $top && $BUILD/tools/amalgamate --flat src/tensor.c $out/flat_$c.h
$c -std=c99 -DUSE=main -DTENSOR_IMPLEMENTATION -I$top -include $out/flat_$c.h $here/use.c -o $out/flat_$c $libs
$out/flat_$c"
    add "--split gives a .h and a .c: $c" "mkdir split && d=\$(pwd)/split && cd $top
$BUILD/tools/amalgamate --split src/tensor.c \$d/tensor.h && cd \$d
$c -std=c99 -DUSE=main -I. $here/use.c tensor.c -o main $libs
./main"
    add "--lines points into src/: $c" "d=\$(pwd) && cd $top
$BUILD/tools/amalgamate --lines src/tensor.c \$d/tensor.h && cd \$d
$c -E -std=c99 -I. -DTENSOR_IMPLEMENTATION $here/use.c | grep -q '\"src/base/error.c\"'"
done
add "--check finds an edited header and says what to do" "cp $top/tensor.h edited.h && echo >> edited.h && d=\$(pwd)
cd $top && $BUILD/tools/amalgamate --check src/tensor.c tensor.h
if $BUILD/tools/amalgamate --check src/tensor.c \$d/edited.h 2> \$d/log; then exit 1; fi
grep -q 'make headers' \$d/log"

# --- misuse, the first screen, the wrong flags ----------------------------------------------------
cases=$(sed -n 's/^#elif CASE == \([0-9]*\).*/\1/p' "$here/misuse.c")
for c in $c_compilers; do
    add "misuse.c, the case that is right: $c" \
        "$c -std=c99 -Wall -Wextra -Werror -I$top -DCASE=0 -fsyntax-only $here/misuse.c"
    for n in $cases; do
        # an excess element is a warning that is always on in gcc
        refuse "misuse.c, case $n: $c" "$c -std=c99 -Werror -I$top -DCASE=$n -fsyntax-only $here/misuse.c" "misuse.c:"
    done
    refuse "-ffast-math is refused with the reason: $c" \
        "$c -std=c99 -ffast-math -I$top -fsyntax-only $here/use.c" "same bits everywhere"
    add "the program on the first screen of tensor.h: $c" "sed -n '/ \\*\\/\$/q; s/^ \\*     \\(.*\\)/\\1/p' $top/tensor.h |
    sed '1,2d' > fit.c
$c -std=c99 $warnings -I$top fit.c -o fit $libs
./fit > line; cat line
grep -q '^y = [23]\\.[09]. x + [12]\\.[09].\$' line"
done

# --- other targets --------------------------------------------------------------------------------
target() { # NAME COMPILER RUNNER FLAGS
    if ! have "$(echo $2 | cut -d' ' -f1)"; then leave_out "$1: no $2"; return; fi
    echo 'int main(void) { return 0; }' > "$out/probe.c"
    if ! $2 $4 "$out/probe.c" -o "$out/probe" > /dev/null 2>&1; then leave_out "$1: $2 $4 makes no program"; return; fi
    run="$3 ./main"
    [ "$3" = none ] || { [ -n "$3" ] && ! have "$3"; } && run=":"
    add "$1" "$2 $4 -DUSE=main -I$top $here/whole.c -o main $libs
$run"
}
target "32-bit x86" "gcc -m32" "" "-std=c99 -Wall -Wextra -Werror"
target "tcc: scalar, one thread" tcc "" "-DTN_NO_THREADS"
target "mingw-w64" x86_64-w64-mingw32-gcc none "-std=c99 -Wall -Wextra -Werror"
target "aarch64" "aarch64-linux-gnu-gcc" qemu-aarch64 "-std=c99 -static -Wall -Wextra -Werror"
target "wasm32" emcc none "-std=c99 -Wall -Wextra -Werror"
target "one thread" "$first" "" "-std=c99 -DTN_NO_THREADS -Wall -Wextra -Werror"

# what an include costs, to read, not to judge
for what in "-fsyntax-only $here/use.c" "-O2 -c $here/implementation.c -o t.o"; do
    add "the price of an include: $what" "sh -c '$first -std=c99 -I$top $nn $what; times' > seconds
echo \"note: \$(tail -1 seconds) user and system: $first \$(echo '$what' | sed 's|$here/||')\""
done
