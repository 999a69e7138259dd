# shared.sh - sourced by lanes: what several of them build, once, also where they run at the same time.
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

locked() { # NAME COMMAND...: the command, while no other lane is in one of this name
    lock=${BUILD:-build}/$1.lock
    shift
    until mkdir "$lock" 2> /dev/null; do sleep 0.2; done # tests/run.sh clears away what a killed run left
    "$@"
    set -- $?
    rmdir "$lock"
    return "$1"
}

# need COMMAND[:PACKAGE,...]...: installs what is missing where this may, by Debian's packages (PACKAGE: else as the command); the lane
# leaves out what is missing then. COMMAND -m32: what gcc needs for programs of 32 bits (gcc-multilib displaces compilers for others).
need() {
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 0
    for tool in "$@"; do
        case $tool in
        -m32) [ -e /usr/include/x86_64-linux-gnu/gnu/stubs-32.h ] || locked apt need_packages libc6-dev-i386 "lib32gcc-$(gcc -dumpversion)-dev" ;;
        *) command -v "${tool%%:*}" > /dev/null || locked apt need_packages $(echo "${tool#*:}" | tr , ' ') ;;
        esac
    done
}
need_packages() {
    [ -e "${BUILD:-build}/apt.log" ] || timeout 300 apt-get update > "${BUILD:-build}/apt.log" 2>&1
    DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends "$@" \
        >> "${BUILD:-build}/apt.log" 2>&1
}

# -DTN_NO_AVX512 where this machine could not run these kernels, which take a while to compile; else nothing.
runnable() {
    [ "$(uname -m)" != x86_64 ] || [ ! -r /proc/cpuinfo ] || grep -q avx512f /proc/cpuinfo || echo -DTN_NO_AVX512
}

# sanitized [COMPILER FOLDER]: FOLDER/libtensor.a with ASan and UBSan, where polls can be counted and failed calls are watched (tests/watch.c); sets
# sanitize to their flags, to nothing where the compiler has none. FOLDER: build/sanitized, which the lanes share.
sanitized() {
    objects=${2:-${BUILD:-build}/sanitized}
    sanitize="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
    mkdir -p "$objects"
    printf 'int main(void) { return 0; }\n' > "$objects/probe.$$.c"
    if ! { ${1:-${CC:-cc}} $sanitize "$objects/probe.$$.c" -o "$objects/probe.$$" && "$objects/probe.$$"; } 2> /dev/null; then
        echo "note: ${1:-${CC:-cc}} has no sanitizers here: programs without them"
        sanitize=
    fi
    watch=
    for one in -finstrument-functions-after-inlining "-finstrument-functions -finstrument-functions-exclude-function-list=tni_ \
        -finstrument-functions-exclude-file-list=src/kernels,src/simd"; do
        ! ${1:-${CC:-cc}} -Werror $one -c "$objects/probe.$$.c" -o "$objects/probe.$$" 2> /dev/null || watch=$(echo $one)
    done
    rm -f "$objects/probe.$$" "$objects/probe.$$.c"
    locked "$(basename "$objects")" sanitized_build "${1:-${CC:-cc}}" > "$objects/make.$$.log" 2>&1 || cat "$objects/make.$$.log"
    rm -f "$objects/make.$$.log"
}
sanitized_build() { # COMPILER
    built="-O1 -g -fno-omit-frame-pointer -DTNI_COUNT_POLLS $(runnable) $sanitize"
    if [ -L "$objects" ]; then # another lane's objects under this name, as coverage has it
        make -s -j"$jobs" objects CC="$1" BUILD="$objects" CFLAGS="$built"
        return
    fi
    if [ "$(cat "$objects/flags" 2> /dev/null)" != "$1 $built $watch" ]; then
        rm -f "$objects"/*/*.o "$objects/libtensor.a"
        echo "$1 $built $watch" > "$objects/flags"
    fi
    make -s -j"$jobs" objects CC="$1" BUILD="$objects" CFLAGS="$built $watch" || return
    if [ -n "$watch" ] && [ -n "$(find "$objects/libtensor.a" tests/watch.c -newer "$objects/watch.o" 2>&1)" ]; then
        nm "$objects/libtensor.a" 2> /dev/null | sed -n 's/.* T \(tnp*_[a-z0-9_]*\)$/WATCHED(\1)/p' > "$objects/watched.inc"
        $1 -std=gnu99 -O2 -g -fno-omit-frame-pointer -DTNI_OBJECTS -Wall -Wextra -I"$objects" -c tests/watch.c -o "$objects/watch.o" &&
            ar rs "$objects/libtensor.a" "$objects/watch.o" && touch "$objects/watch.o"
    fi
}

packed() { # build/packed.o: both packed headers, as a user compiles them; TN_QUICK=1: without optimization
    locked packed make -s "${BUILD:-build}/packed.o" BUILD="${BUILD:-build}" ${TN_QUICK:+CFLAGS="-O0 -g"}
}
