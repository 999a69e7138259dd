#!/bin/sh
# TN_USE_LAPACK: the factorizations of all dtypes by the LAPACK that is installed, OpenBLAS's before the reference one (TN_LAPACK="-lmkl_rt":
# by another). Without one only whether the files compile, also in C++ and with integers of 64 bits.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
out=$BUILD/lapack
mkdir -p "$out"
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
passed=0 failed=0

tell() { # STATUS WHAT
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED $2"; fi
}
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

make -s built CC="${CC:-cc}" BUILD="$BUILD" || { echo "0 passed, 1 failed"; exit 1; }
core="-include src/base/exact.inl -DTNI_OBJECTS -DTN_USE_LAPACK"
${CC:-cc} -std=c99 $warnings $core -DTN_LAPACK_INT=int64_t -fsyntax-only src/cpu/lapack.c
tell $? "integers of 64 bits"
! command -v ${CXX:-c++} > /dev/null || ${CXX:-c++} -x c++ -std=c++11 $warnings $core -fsyntax-only src/cpu/lapack.c
tell $? "C++"

# The files that call LAPACK once more, and before the library those of the program.
objects=
for file in cpu/lapack cpu/lu cpu/householder cpu/tridiagonal cpu/bidiagonal cpu/eigen ops/linalg/cholesky ops/linalg/qr; do
    object=$out/$(basename $file).o
    ${CC:-cc} -std=c99 ${CFLAGS:--O2 -g} $warnings $core "-DTN_LAPACK_NAME(name)=seen_##name" -c "src/$file.c" -o "$object" || { tell 1 "$file"; finish; }
    objects="$objects $object"
done
echo 'int main(void) { return 0; }' > "$out/none.c"
library= found=
for library in ${TN_LAPACK:+"$TN_LAPACK"} -lopenblas "-llapack -lblas"; do
    ${CC:-cc} "$out/none.c" $library -o "$out/none" -lm -pthread > "$out/link.log" 2>&1 && found=1 && break
done
if [ -z "$found" ]; then
    echo "no LAPACK to link with (Debian: libopenblas-dev): its results are left out"
    finish
fi
echo "LAPACK of $library"
${CC:-cc} -std=gnu99 -O1 -g $warnings -Isrc -Itests -DTNI_OBJECTS tests/lapack/lapack.c tests/lapack/seen.c $objects "$BUILD/libtensor.a" \
    $library -o "$out/lapack" -lm -pthread || { tell 1 "lapack.c"; finish; }
"$out/lapack" > "$out/lapack.log" 2>&1
status=$?
sum=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/lapack.log")
[ -n "$sum" ] || sum="0 1"
[ "$status" = 0 ] || [ "${sum#* }" != 0 ] || sum="${sum% *} 1"
[ "${sum#* }" = 0 ] || head -c 6000 "$out/lapack.log"
grep '^LAPACK computed' "$out/lapack.log" | fold -s -w 140
passed=$((passed + ${sum% *})) failed=$((failed + ${sum#* }))
finish
