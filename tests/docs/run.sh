#!/bin/sh
# The documents' C code: every block is compiled without a warning, run, and prints what the document says; every cell of the tables
# from torch to C runs. extract.awk says which blocks there are; one that it does not know is a failure. TN_QUICK=1: no file that
# compiles the implementation.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
CC=${CC:-cc}
out=$BUILD/docs
rm -rf "$out" && mkdir -p "$out" || exit 1
. tests/shared.sh
passed=0 failed=0
log=$out/log
check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" > "$log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $what"
        head -30 "$log" | sed 's/^/    | /'
    fi
}
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

documents="README.md docs/c.md docs/torch-to-c.md docs/embedding.md docs/trim.md docs/modules.md docs/rows.md docs/distributed.md"
for document in $documents; do
    name=$(basename "$document" .md | tr -d -)
    check "$document: every block is known" sh -c 'awk -f tests/docs/extract.awk -v name="$1" -v out="$2" "$3" >> "$2/list"' \
        extract "$name" "$out" "$document"
    check "$document has C code" grep -q " ${name}_" "$out/list"
done
packed || { failed=$((failed + 1)); finish; }

# --- programs, fragments, tables: each compiled, all linked into one program --------------------------
flags="-std=c99 $(echo $strict | sed 's/-Wshadow//') -Werror -O1 -I. -Itests/docs"
runs=$(awk '$1 == "program" || $1 == "fragment" || $1 == "table" { print $2 }' "$out/list")
for id in $runs; do echo "$id"; done |
    xargs -P "$jobs" -I ID sh -c "$CC $flags -Dmain=run_ID -c $out/ID.c -o $out/ID.o > $out/ID.said 2>&1"
{
    echo '#include <string.h>'
    for id in $runs; do [ ! -f "$out/$id.o" ] || echo "int run_$id(void);"; done
    echo 'int main(int argc, char **argv) {'
    for id in $runs; do [ ! -f "$out/$id.o" ] || echo "    if (argc > 1 && !strcmp(argv[1], \"$id\")) return run_$id();"; done
    echo '    return 99;'
    echo '}'
} > "$out/main.c"
check "the programs link" $CC "$out/main.c" "$out"/*.o "$object" -o "$out/main" -lm -pthread

absolute=$(cd "$out" && pwd)
said() { # KIND ID: what it prints is what the document says
    cat "$out/$2.said"
    [ -f "$out/$2.o" ] || return 1
    rm -rf "$out/$2.d" && mkdir -p "$out/$2.d" # it may write files
    (cd "$out/$2.d" && "$absolute/main" "$2") > "$out/$2.printed" 2>&1
    status=$?
    [ $status = 0 ] || [ "$1" = fragment ] || { echo "status $status"; cat "$out/$2.printed"; return 1; }
    [ $status -le 1 ] || { echo "status $status"; return 1; }
    [ -f "$out/$2.expected" ] || return 0
    diff "$out/$2.expected" "$out/$2.printed"
}
ran() { # ID: status 0, whatever it prints
    cat "$out/$1.said"
    rm -rf "$out/$1.d" && mkdir -p "$out/$1.d"
    (cd "$out/$1.d" && "$absolute/main" "$1")
}
plain() { # without comments, defines of the implementation's kind and white space
    sed 's|//.*||' "$1" | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' | tr -d ' \t'
}
same() { # ID FILE
    plain "$out/$1.c" > "$out/$1.plain"
    plain "$2" > "$out/$1.of"
    awk 'NR == FNR { part = part $0; next } { all = all $0 } END { exit !(part != "" && index(all, part)) }' "$out/$1.plain" "$out/$1.of"
}
refused() { # ID: for its types, not for anything else
    ! $CC -std=c99 -I. -Itests/docs -fsyntax-only "$out/$1.c" > "$out/$1.said" 2>&1 && grep -q integer "$out/$1.said"
}
whole() { $CC -std=c99 -O0 $strict -Werror -I. -c "$out/$1.c" -o "$out/$1.whole"; }
# The row in a copy of the sources: the generator takes it and its file compiles.
row() { # ID FAMILY
    rm -rf "$out/copy" && mkdir -p "$out/copy" && cp -R src tools docs "$out/copy" && mkdir -p "$out/copy/tests/ops" &&
        printf '/* snippet.c - the row of a document. */\n#include "../../api/ops/%s.h"\n#include "../../call/rowform.h"\n%s\n' "$2" \
            "$(sed 's/{ \.\.\. }/{ (void)f; }/' "$out/$1.c")" > "$out/copy/src/ops/$2/snippet.c" &&
        "$BUILD/tools/optable" "$out/copy" && $CC -std=c99 -O0 -DTNI_OBJECTS $strict -Werror -c "$out/copy/src/ops/$2/snippet.c" -o "$out/$1.row"
}
while read -r kind id words; do
    case $kind in
    table) check "every cell of $id runs" ran "$id" ;;
    program | fragment)
        if [ "$words" = any ]; then check "$id runs" ran "$id"; else check "$id prints what the document says" said "$kind" "$id"; fi
        ;;
    refused) check "$id does not compile" refused "$id" ;;
    same) check "$id is what $words has" same "$id" "$words" ;;
    file) [ -n "${TN_QUICK:-}" ] || check "$id compiles" whole "$id" ;;
    row) check "$id is a row" row "$id" "$words" ;;
    esac
done < "$out/list"

# --- names that the documents use -----------------------------------------------------------------------
# A function or macro that a document names exists in the headers.
names() { grep -v '^#' "$1" | grep -oE '\b(tn_[a-z0-9_]+|TN_[A-Z0-9_]+|TENSOR_[A-Z0-9_]+)\b' | sort -u; }
cat tensor.h tensor_nn.h tensor_cuda.cu.h | grep -oE '\b(tn_[a-z0-9_]+|TN_[A-Z0-9_]+|TENSOR_[A-Z0-9_]+)\b' | sort -u > "$out/all"
for document in $documents docs/design.md; do
    names "$document" | grep -vxE 'TN_(QUICK|FULL|ROW|SEED|ISA|JOBS)|tn_scale' > "$out/used" # variables of tests; the row of rows.md
    check "the names in $document exist" awk 'NR == FNR { known[$0]; all = all "\n" $0; next }
        !($0 in known) && !(/_$/ && index(all, "\n" $0)) { print; bad = 1 } # tn_module_: the beginning of names
        END { exit bad }' "$out/all" "$out/used"
done
finish
