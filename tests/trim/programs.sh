# programs.sh - sourced by run.sh: examples and README, whole and trimmed, in C and C++.
sed -n '/^```c$/,/^```$/p' README.md | sed '1d; /^```$/q' | sed '$d' > "$out/readme.c"
case $out in /*) absolute=$out ;; *) absolute=$(pwd)/$out ;; esac
packed # the implementation of both headers, whole
one_file() { # NAME SOURCE COMPILER
    mkdir -p "$out/$1"
    check "$1: trim" eval "$trim -o $out/$1 --list tensor.h tensor_nn.h -- $2 > $out/$1.list"
    check "$1: trimmed, no warning" quiet $3 $flags -I"$out/$1" "$2" -o "$out/$1.trimmed" -lm -pthread
    check "$1: TENSOR_TRIM, no warning" quiet $3 $flags -fno-inline -DTENSOR_TRIM -I. "$2" -o "$out/$1.static" -lm -pthread
    sed '/^#define TENSOR_.*IMPLEMENTATION$/d' "$2" > "$out/$1.caller.${2##*.}"
    check "$1: full" $3 -w -include stdio.h -I. -I"$(dirname "$2")" "$out/$1.caller.${2##*.}" "$object" -o "$out/$1.full" -lm -pthread
    for form in full static trimmed; do check "$1: $form runs" run "$absolute/$1.$form" "$out/ran.$form"; done
    check "$1: TENSOR_TRIM gives the same output and files" diff -r "$out/ran.full" "$out/ran.static"
    check "$1: trimmed gives the same output and files" diff -r "$out/ran.full" "$out/ran.trimmed"
    rows_of "$out/$1.list" > "$out/$1.rows"
    # Words that trim does not find (capturable, ..) leave out rows that the compiler alone reaches.
    words=$(sed -n 's/^#define \(TNI_NAMES_[a-z_]*\) 0$/-D\1=0/p' "$out/$1"/tensor*.h | sort -u)
    check "$1: TENSOR_TRIM without these words" $3 $flags -w $words -fno-inline -DTENSOR_TRIM -I. "$2" -o "$out/$1.words" -lm -pthread
    reached "$out/$1.words" > "$out/$1.reached"
    case $3 in # C++: a method's word may mean more, and tn::tensor mentions the rows of its operators
        *++*) check "$1: trim lists what the compiler reaches" eval "! comm -13 $out/$1.rows $out/$1.reached | grep ." ;;
        *) check "$1: trim lists the rows that the compiler reaches" same "$out/$1.rows" "$out/$1.reached" ;;
    esac
    check "$1: fewer rows than all" test "$(wc -l < "$out/$1.rows")" -lt "$(wc -l < "$out/all")"
}
one_file readme "$out/readme.c" "$cc -std=c99"
cp -R "$out/ran.full" "$out/ran.readme"

# In C++ options are positional.
{
    sed 's/, \.[a-z]* = /, /' "$out/readme.c"
} > "$out/readme.cc"
cat > "$out/objects.cc" << 'CXX' # methods, options, operators, several results, C's names
#define TENSOR_IMPLEMENTATION
#include "tensor.h"
int main() {
    tn::tensor x = tn::tensor({{1, 2, 3}, {4, 5, 6}}) * 0.5, y = x.cumsum(1) - x[0];
    y.clamp_(0.25, 4).add_(1);
    tn_print((y / tn::sum(x, {0}, true)).get());
    tn_print(x.softmax(1, tn::softmax_options().set_dtype(TN_F64)).get());
    tn_print(y.sort(0).values.get());
    tn_print(tn_sum(x, {0, 1}));
    return tn_error_print();
}
CXX
cxx_compilers="g++ clang++"
[ -n "${TN_FULL:-}" ] || [ $((turn % 2)) = 0 ] || cxx_compilers="clang++ g++"
for compiler in $cxx_compilers; do
    have $compiler || continue
    one_file objects_$compiler "$out/objects.cc" "$compiler -std=c++11"
    check "objects_$compiler: at most 8 operators more than the compiler reaches" test \
        "$(grep -c tni_row_ "$out/objects_$compiler.rows")" -le $(($(grep -c tni_row_ "$out/objects_$compiler.reached") + 8))
    if [ -z "${TN_QUICK:-}" ]; then
        one_file readme_$compiler "$out/readme.cc" "$compiler -std=c++11"
        check "readme_$compiler: the output of C" diff -r "$out/ran.full" "$out/ran.readme"
    else
        mkdir -p "$out/readme_$compiler"
        check "readme_$compiler: trim" "$trim" -o "$out/readme_$compiler" tensor.h tensor_nn.h -- "$out/readme.cc"
        check "readme_$compiler: no warning" quiet $compiler -std=c++11 -fsyntax-only $flags -I"$out/readme_$compiler" "$out/readme.cc"
    fi
    [ -n "${TN_FULL:-}" ] || break
done


# Operators of C++: kept where a tensor may stand beside them.
for name in numbers operators; do
    mkdir -p "$out/$name"
    check "$name.cc: trim" eval "$trim -o $out/$name --list tensor.h -- $here/$name.cc > $out/$name.list"
    for compiler in g++ clang++; do
        ! have $compiler || check "$name.cc: $compiler, no warning" quiet $compiler -std=c++11 -fsyntax-only $flags -I"$out/$name" $here/$name.cc
    done
done
check "numbers.cc: no operator of tensors" eval "! grep -E '<- (operator [^[]|unary) ' $out/numbers.list"
for row in add sub rsub mul div remainder neg eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift; do
    check "operators.cc: $row" grep -q "^tni_row_$row <-" "$out/operators.list"
done
check "--also '%'" eval "$trim --list --also % tensor.h -- $here/numbers.cc | grep '^tni_row_remainder <-'"

mkdir -p "$out/inference"
check "inference: trim" "$trim" --inference -o "$out/inference" tensor.h tensor_nn.h -- "$out/readme.c"
check "inference: no warning" quiet $least -std=c99 -O0 -Wall -Wextra -I"$out/inference" "$out/readme.c" -o "$out/learns" -lm -pthread
"$out/learns" > "$out/learns.printed" 2>&1
check "inference: a program that learns is told why it cannot" grep -q "this build is without gradients" "$out/learns.printed"
if [ -z "${TN_QUICK:-}" ]; then
    some=$(drawn 1 text physics game)
    echo "examples: $some, fashion, mixed, fireflies"
    for name in $some; do one_file $name examples/$name.c "$cc -std=c99"; done
    mkdir -p "$out/fashion"
    printf '#define FASHION_DATA "%s/none"\n' "$absolute" > "$out/digits.h" # the digits, also after `make data`
    check "fashion: trim" "$trim" -o "$out/fashion" tensor.h tensor_nn.h -- examples/fashion/*.c
    for form in fashion full; do # full: the library of all lanes in the place of impl.c
        include=$out/fashion implementation=examples/fashion/impl.c
        [ $form = fashion ] || { include=. implementation=$object; }
        check "fashion: $form, no warning" quiet $cc -std=c99 $flags -include "$out/digits.h" -I"$include" \
            $(echo examples/fashion/*.c | sed 's|[^ ]*/impl.c||') "$implementation" -o "$out/fashion.$form" -lm -pthread
        "$out/fashion.$form" --seed 1 --epochs 1 --out "$out/learnt.$form" > "$out/fashion.$form.printed"
    done
    check "fashion: the same weights" cmp "$out/learnt.fashion/model.safetensors" "$out/learnt.full/model.safetensors"
    if command -v g++ > /dev/null; then
        mkdir -p "$out/mixed"
        check "mixed: trim" "$trim" -o "$out/mixed" tensor.h tensor_nn.h -- examples/mixed/main.cpp examples/mixed/model.c
        for form in mixed full; do
            include=$out/mixed library= model=examples/mixed/model.c
            if [ $form = full ]; then
                include=. library=$object model=$out/model.c
                sed '/^#define TENSOR_.*IMPLEMENTATION$/d' examples/mixed/model.c > "$model"
            fi
            check "mixed: $form, C" quiet $cc -std=c99 $flags -Iexamples/mixed -I"$include" -c "$model" -o "$out/model.o"
            check "mixed: $form, C++" quiet g++ -std=c++11 $flags -I"$include" examples/mixed/main.cpp "$out/model.o" $library -o "$out/mixed.$form" -lm -pthread
            "$out/mixed.$form" > "$out/mixed.$form.printed"
        done
        check "mixed: the same output" same "$out/mixed.full.printed" "$out/mixed.mixed.printed"
    fi
    if command -v g++ > /dev/null && command -v sdl2-config > /dev/null; then # its time differs from run to run
        mkdir -p "$out/fireflies"
        printf '%s\n' '#define TENSOR_IMPLEMENTATION' '#define TENSOR_NN_IMPLEMENTATION' '#include "tensor_nn.h"' > "$out/library.c"
        game=examples/fireflies/main.cpp
        check "fireflies: trim" "$trim" -o "$out/fireflies" tensor.h tensor_nn.h -- $game "$out/library.c"
        check "fireflies: trimmed, C" quiet $cc -std=c99 $flags -I"$out/fireflies" -c "$out/library.c" -o "$out/library.o"
        for form in fireflies full; do
            include=$out/fireflies library=$out/library.o
            [ $form = fireflies ] || { include=. library=$object; }
            check "fireflies: $form, C++" quiet g++ $flags -I"$include" $game "$library" $(sdl2-config --cflags --libs) \
                -o "$out/fireflies.$form" -lm -pthread
            SDL_VIDEODRIVER=dummy "$out/fireflies.$form" 1800 "$out/fireflies.$form.bmp" 2>&1 |
                grep -v ' ms a frame' > "$out/fireflies.$form.printed"
        done
        check "fireflies: it plays" grep -q '^1800 frames: ' "$out/fireflies.full.printed"
        check "fireflies: the same output" same "$out/fireflies.full.printed" "$out/fireflies.fireflies.printed"
        check "fireflies: the same picture" cmp "$out/fireflies.full.bmp" "$out/fireflies.fireflies.bmp"
    else
        echo "no g++ or no SDL2 (libsdl2-dev): fireflies is not trimmed"
    fi
fi
