# shared.sh - sourced by lanes: what several of them build, once, also where they run at the same time.
# What tests/rows.h draws rows by: TN_SEED, HEAD's hash unless it is set, and TN_CHANGED, the rows whose files differ from HEAD~1;
# TN_TOUCHED: files of src/ that do.
changed_files() {
    { git diff --name-only HEAD~1 || git diff --name-only HEAD && git ls-files -o --exclude-standard src tests/oracle; } 2> /dev/null
}
changed_rows() {
    changed_files |
        awk 'NR == FNR { file[$0]; next }
            match($0, /^ [{]"name": "[^"]*"/) { name = substr($0, 12, RLENGTH - 12) }
            match($0, /"file": "[^"]*"/) { if (substr($0, RSTART + 9, RLENGTH - 10) in file) print name }
            END { for (f in file) if (f ~ /^tests\/oracle\/(data|grids|m?pairs)\//) { gsub(/.*\/|[.]txt$/, "", f); print f } }' \
            - src/gen/table.json | sort -u | tr '\n' ' '
}
[ -n "${TN_SEED:-}" ] || TN_SEED=$(git rev-parse --short=12 HEAD 2> /dev/null || echo 1)
[ -n "${TN_CHANGED+set}" ] || TN_CHANGED=$(changed_rows)
[ -n "${TN_TOUCHED+set}" ] || TN_TOUCHED=$(changed_files | grep ^src/ | sort -u | tr '\n' ' ')
export TN_SEED TN_CHANGED TN_TOUCHED

# What is no row, as compilers, standards, flags, targets and files, rotates likewise. drawn N WORD...: N of the words in their
# order, on one line, others with another commit, and files of TN_TOUCHED; all with TN_FULL=1. What a lane has drawn it prints.
drawn() {
    printf '%s\n' "$@" | awk -v seed="$TN_SEED" -v full="${TN_FULL:-}" -v touched=" $TN_TOUCHED" '
        function scatter(h) { h = (h * h + 977 * h) % 67108859; return (h * h + 313 * h + 7) % 67108859 }
        BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
        NR == 1 { most = $0; next }
        { word[++n] = $0; h = 5381; text = seed " " $0
          for (i = 1; i <= length(text); i++) h = (h * 523 + code[substr(text, i, 1)]) % 67108859
          hash[n] = scatter(scatter(h)) }
        END { for (i = 1; i <= n; i++) { before = 0
                  for (j = 1; j <= n; j++) before += hash[j] < hash[i] || (hash[j] == hash[i] && j < i)
                  if (full != "" || before < most || index(touched, " " word[i] " ")) { printf "%s%s", sep, word[i]; sep = " " } }
              print "" }'
}
turn=$(printf %s "$TN_SEED" | cksum | cut -d' ' -f1) # a number of this commit
among() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac; } # WORD "WORDS"

# sample KIND N [QUICK]: what a program that looks at rows of KIND (operator, module, row: of any) is told of tests/rows.h: N of them,
# QUICK with TN_QUICK=1, all with TN_FULL=1; those that TN_ROW names where it is set. Status 1: TN_ROW names none of this kind.
sample() {
    if [ -z "${TN_ROW:-}" ]; then
        n=$2
        [ -z "${TN_QUICK:-}" ] || n=${3:-$n}
        [ -n "${TN_FULL:-}" ] || echo "rows=$n"
        return
    fi
    for name in $TN_ROW; do
        kinds=$(awk -v name="$name" '/^[{]*"[a-z]*": *[[]/ { kind = $0; gsub(/[^a-z]/, "", kind); sub(/s$/, "", kind) }
            index($0, " {\"name\": \"" name "\",") == 1 { print kind }' src/gen/table.json)
        case " $(echo ${kinds:-$1}) row " in *" $1 "*) echo "row=$name" ;; esac
    done | grep .
}

# What passed in full depth, in the file $memory: the name of a program, $key over what it is made of, its number of checks.
remembered() { # NAME: whether it passed before, as it is; counts its checks
    [ -n "${TN_FULL:-}" ] || return 1
    sum=$(awk -v name="$1" -v key="$key" '$1 == name && $2 == key { print $3 }' "$memory")
    [ -n "$sum" ] || return 1
    passed=$((passed + sum))
}
remember() { # NAME CHECKS
    [ -n "${TN_FULL:-}" ] || return 0
    awk -v name="$1" '$1 != name' "$memory" > "$memory.new"
    echo "$1 $key $2" >> "$memory.new"
    mv "$memory.new" "$memory"
}

export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}" # where Debian's emcc finds its modules, whoever packed node
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
    built="-O1 -g1 -fno-omit-frame-pointer -DTNI_COUNT_POLLS $(runnable) $sanitize"
    if [ -L "$objects" ]; then # another lane's objects under this name, as coverage has it
        make -s -j"$jobs" objects CC="$1" BUILD="$objects" CFLAGS="$built"
        return
    fi
    if [ "$(cat "$objects/flags" 2> /dev/null)" != "$1 $built $watch" ]; then
        rm -rf "$objects/src" "$objects/libtensor.a"
        echo "$1 $built $watch" > "$objects/flags"
    fi
    make -s -j"$jobs" objects CC="$1" BUILD="$objects" CFLAGS="$built $watch" || return
    if [ -n "$watch" ] && [ -n "$(find "$objects/libtensor.a" tests/watch.c -newer "$objects/watched_calls.o" 2>&1)" ]; then
        nm "$objects/libtensor.a" 2> /dev/null | sed -n 's/.* T \(tnp*_[a-z0-9_]*\)$/WATCHED(\1)/p' > "$objects/watched.inc"
        $1 -std=gnu99 -O2 -g -fno-omit-frame-pointer -DTNI_OBJECTS -Wall -Wextra -I"$objects" -c tests/watch.c -o "$objects/watched_calls.o" &&
            ar rs "$objects/libtensor.a" "$objects/watched_calls.o" && touch "$objects/watched_calls.o"
    fi
}

# library COMPILER FLAGS...: both packed headers as a user compiles them (tests/packed.c), once for all lanes. Sets object to the
# object; $object.said has what the compiler said. Status 1: it does not compile. Lanes that give the same flags share it.
strict="-Wall -Wextra -pedantic -Wshadow -Wconversion"
library() {
    object=${BUILD:-build}/shared/$( ($1 --version | sed 's/^[^ ]* //;1q'; $1 -dumpmachine; shift; printf '%s\n' "$@" | sort) 2>&1 |
        cksum | tr ' ' -).o # cc and gcc are one
    locked "${object##*/}" library_build "$@"
}
library_build() {
    [ -n "$(find tensor.h tensor_nn.h tests/packed.c -newer "$object" 2>&1)" ] || return 0
    by=$1
    shift
    mkdir -p "${object%/*}"
    rm -f "$object"
    $by "$@" -I. -c tests/packed.c -o "$object" > "$object.said" 2>&1
}
packed() { # the library of most lanes; TN_QUICK=1: without optimization
    level=-O2
    [ -z "${TN_QUICK:-}" ] || level=-O0
    library "${CC:-cc}" -std=gnu99 $level $strict || cat "$object.said"
    [ -s "$object" ]
}

# gather OUT "FLAGS" "LIBRARIES" SOURCE...: the program OUT, which `OUT NAME ARGUMENT...` runs as SOURCE's main; a SOURCE without
# main is a part of all. Each source is compiled once, next to OUT.
gather() {
    out_of=$1 flags_of=$2 libraries_of=$3
    shift 3
    folder=$out_of.d
    mkdir -p "$folder"
    rm -f "$out_of" "$folder"/*.o
    mains=
    for source in "$@"; do ! grep -q '^int main(' "$source" || mains="$mains $(basename "$source" .c)"; done
    {
        echo '#include <string.h>'
        echo '#include <stdio.h>'
        for name in $mains; do echo "int run_$name(int, char **);"; done
        echo 'int main(int argc, char **argv) {'
        for name in $mains; do echo "    if (argc > 1 && !strcmp(argv[1], \"$name\")) return run_$name(argc - 1, argv + 1);"; done
        echo "    return puts(\"one of$mains\"), 2;"
        echo '}'
    } > "$folder/main.c"
    for source in "$folder/main.c" "$@"; do
        name=$(basename "$source" .c)
        case " $mains " in *" $name "*) echo "-Dmain=run_$name $source -o $folder/$name.o" ;; *) echo "$source -o $folder/$name.o" ;; esac
    done | xargs -P "$jobs" -L 1 ${CC:-cc} -std=gnu99 $flags_of -DTNI_OBJECTS -c && ${CC:-cc} $flags_of "$folder"/*.o $libraries_of -o "$out_of" -lm -pthread
}
