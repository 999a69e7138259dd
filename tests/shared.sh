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

# sanitized [COMPILER FOLDER]: FOLDER/libtensor.a with ASan and UBSan, where polls can be counted; sets sanitize to their flags, to nothing where the
# compiler has none. FOLDER: build/sanitized, which the lanes share.
sanitized() {
    objects=${2:-${BUILD:-build}/sanitized}
    sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"
    mkdir -p "$objects"
    printf 'int main(void) { return 0; }\n' > "$objects/probe.$$.c"
    if ! { ${1:-${CC:-cc}} $sanitize "$objects/probe.$$.c" -o "$objects/probe.$$" && "$objects/probe.$$"; } 2> /dev/null; then
        echo "note: ${1:-${CC:-cc}} has no sanitizers here: programs without them"
        sanitize=
    fi
    rm -f "$objects/probe.$$" "$objects/probe.$$.c"
    locked "$(basename "$objects")" make -s -j"$jobs" objects CC="${1:-${CC:-cc}}" BUILD="$objects" \
        CFLAGS="-O1 -g -fno-omit-frame-pointer -DTNI_COUNT_POLLS $sanitize" > "$objects/make.$$.log" 2>&1 || cat "$objects/make.$$.log"
    rm -f "$objects/make.$$.log"
}

packed() { # build/packed.o: both packed headers, as a user compiles them
    locked packed make -s "${BUILD:-build}/packed.o" BUILD="${BUILD:-build}"
}
