#!/bin/sh
# What the tests reach: branches and MC/DC of the rooms that every other one stands on. The lanes below run once more
# over objects that count (clang >= 19), without sanitizers, and their counts are put together. A room below the bound
# fails; what was not reached is listed in build/coverage/uncovered.txt. It builds and runs what other lanes run, so it is
# left out where neither TN_FULL=1 nor TN_COVERAGE=1 is set.
cd "$(dirname "$0")/../.." || exit 1
if [ -z "${TN_FULL:-}${TN_COVERAGE:-}" ]; then
    echo "left out: branches are counted with TN_COVERAGE=1, and in make test-all"
    echo "0 passed, 0 failed"
    exit 0
fi
BUILD=${BUILD:-build}
mkdir -p "$BUILD/coverage"
out=$(cd "$BUILD/coverage" && pwd)
top=$(pwd)
lanes="unit random errors kinds threads life fuzz disk edges state" # of tests/, as in the quick run
rooms="base tensor call autograd io" # held to
at_least=95                          # percent of the branches of each
also="data"                          # told

. tests/shared.sh
need clang-19:clang-19,llvm-19,libclang-rt-19-dev
printf 'int main(void) { return 0; }\n' > "$out/probe.c"
count="-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc"
export LLVM_PROFILE_FILE="$out/raw/%4m.profraw"
rm -rf "$out/raw" && mkdir -p "$out/raw"
if ! { clang-19 $count "$out/probe.c" -o "$out/probe" && "$out/probe" && llvm-profdata-19 --version && llvm-cov-19 --version; } \
    > "$out/probe.log" 2>&1; then
    echo "left out: no clang 19 with its profile library, llvm-profdata-19 and llvm-cov-19"
    echo "0 passed, 0 failed"
    exit 0
fi

# The compiler that the lanes get: it counts, in all but the kernels, and leaves sanitizers out. A lane for the packed
# header gets that header's public part and the same objects as the others.
export BUILD="$out/tree" CC="$out/cc" CXX=none CFLAGS="-O1 -g"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES # what make was told on its command line would win over these
mkdir -p "$out/packed"
for name in tensor tensor_nn; do
    { [ $name = tensor ] || echo '#include "tensor.h"'; sed -n "s|^#include \"api/|#include \"$top/src/api/|p" src/$name.c; } \
        > "$out/packed/$name.h"
done
# A child of fork that ends with _exit writes its counts first.
cat > "$out/exit.c" << SOURCE
int __llvm_profile_write_file(void);
void __real__exit(int status);
void __wrap__exit(int status) {
    __llvm_profile_write_file();
    __real__exit(status);
}
SOURCE
clang-19 -c "$out/exit.c" -o "$out/exit.o" || exit 1
cat > "$out/cc.now" << WRAPPER
#!/bin/sh
count="$count -DTNI_COVERAGE" library=$BUILD/libtensor.a sources=0 name=
ends="$out/exit.o -Wl,--wrap=_exit -fprofile-instr-generate -lm"
for one; do
    shift
    case \$one in
    -fsanitize=* | -fno-sanitize-recover=*) continue ;;
    *kernels.c) count= ;;
    *.c) sources=\$((sources + 1)) name=\$one ;;
    -c | -E | *tools/*) library= ends= ;;
    *libtensor.a) library= ;;
    esac
    set -- "\$@" "\$one"
done
# Static functions are known by their file: by its path, as a test may have the name of what it tests.
[ \$sources != 1 ] || set -- "\$@" -Xclang -main-file-name -Xclang "\$name"
exec clang-19 -I$out/packed \$count "\$@" \$library \$ends
WRAPPER
cmp -s "$out/cc.now" "$out/cc" || rm -rf "$BUILD"
mv "$out/cc.now" "$out/cc" && chmod +x "$out/cc"
mkdir -p "$BUILD/threads" "$BUILD/ops"
# What other lanes build again for their sanitizers is the same here.
ln -sfn . "$BUILD/sanitized"
ln -sfn .. "$BUILD/threads/objects"
make -s -j"$jobs" objects BUILD="$BUILD" CC="$CC" CFLAGS="$CFLAGS" > "$out/make.log" 2>&1 || {
    tail "$out/make.log"
    echo "0 passed, 1 failed"
    exit 1
}
# Whether a lane passes is for its own run to say (some know gcc's line numbers); here it must have run to its end.
passed=0 failed=0
ended() { # NAME: its log ends with a sum
    if tail -n 1 "$out/$1.log" | grep -q '^[1-9][0-9]* passed, [0-9]* failed$'; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $1 did not run to its end: see $out/$1.log"
    fi
}
unset TN_FULL
export TN_QUICK=1 # more of the same reaches no more branches
for lane in $lanes; do
    [ -f "tests/$lane/run.sh" ] || continue
    TN_QUICK=1
    [ $lane != threads ] || TN_QUICK= # which runs one program alone then
    sh "tests/$lane/run.sh" > "$out/$lane.log" 2>&1
    ended "$lane"
done
# Of the operators' lane the walk alone.
{ "$CC" -std=gnu99 $CFLAGS -DTNI_OBJECTS tests/ops/walk.c tests/ops/sample.c "$BUILD/libtensor.a" -pthread -o "$BUILD/ops/walk" &&
    "$BUILD/ops/walk"; } > "$out/walk.log" 2>&1
ended walk

# The counts of all runs, read with the programs that have these objects: those linked since the library was made.
llvm-profdata-19 merge -sparse "$out"/raw/*.profraw -o "$out/profile" > "$out/merge.log" 2>&1
programs=$(find "$BUILD" -type f -perm -u+x -newer "$BUILD/libtensor.a" ! -name '*.*' ! -path '*/tools/*' | sort)
set --
for program in $programs; do set -- "$@" -object "$program"; done
shift
llvm-cov-19 export -skip-expansions -instr-profile="$out/profile" "$@" > "$out/export.json" 2> "$out/export.log"
if ${HOSTCC:-cc} -std=c99 -O2 "tests/coverage/figures.c" -o "$out/figures" &&
    "$out/figures" "$out/export.json" $at_least "$out/uncovered.txt" $rooms + $also; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
