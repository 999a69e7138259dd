# worker.sh - for run.sh: one of two workers, who takes mutants from $out/sample.K until its share has a verdict each.
# $out/wK/verdicts: `killed TAB program TAB mutant`, `survived TAB mutant`, `stillborn TAB mutant`, `same TAB mutant`.

worker_begin() { # K: everything that a mutant writes lies in its worker's folder
    rm -rf "$out/w$1"
    mkdir -p "$out/w$1/tmp"
    ln -s "$root/tests" "$root/src" "$out/w$1"
    cd "$out/w$1" || exit 1
}

link_mutant() { # flavour, program, object: which stands for its namesake in the library
    case $1 in
    plain) library=$build/libtensor.a more= ;;
    *) library=$build/sanitized/libtensor.a more=$sanitize ;;
    esac
    objects=$out/$1/$2.o
    [ "$2" != all ] || objects=$(cat "$out/$1/all")
    $cc $linker $more "$3" $objects "$library" -o "$1.$2" -lm -pthread > link.log 2>&1
}

in_limits() { # flavour, seconds of wall clock, seconds of processor, "program arguments"
    megabytes=6000
    [ "$1" = plain ] || [ -z "$sanitize" ] || megabytes=0
    TN_QUICK=1 LIFE_FOLDER=. ASAN_OPTIONS=allocator_may_return_null=1:hard_rss_limit_mb=3000 \
        "$out/guard" "$2" "$3" $megabytes "./$1."$4 > log 2>&1
}

compile_mutant() { # flags: x.c, as if it stood at $file
    $cc -std=c99 $1 -DTNI_OBJECTS $types -iquote "$root/$(dirname "$file")" -x c -c - -o "$2" < "$3" > compile.log 2>&1
}

# The program that killed the file's last mutant first, then by the time they take.
ordered() { # flavour
    cat "last.$(basename "$file")" 2> /dev/null
    case $file in
    src/base/*) cat "$out/$1/programs" ;;
    *) grep ' all ' "$out/$1/programs" ;;
    esac
}

meets() { # flavour, object: 1 and its killer's name when a program fails
    link_mutant "$1" all "$2" || return 0
    case $file in src/base/*) for test in $alone; do link_mutant "$1" "$test" "$2"; done ;; esac
    ordered "$1" > order
    while read -r seconds program; do
        most=$((${seconds%.*} * 5 + 3)) # of its own time; of the clock's, with a busy machine in mind
        in_limits "$1" $((most * 5)) $most "$program" && continue
        echo "$seconds $program" > "last.$(basename "$file")"
        killer="$1 $program"
        return 1
    done < order
}

judge() { # the mutant in x.c
    flags="${CFLAGS:--O2} -g0"
    compile_mutant "$flags" x.o x.c || { printf "%s\n" "stillborn	$name"; return; }
    [ -f "$original.o" ] || compile_mutant "$flags" "$original.o" "$root/$file"
    ! cmp -s x.o "$original.o" || { printf "%s\n" "same	$name"; return; }
    meets plain x.o || { printf "%s\n" "killed	$killer	$name"; return; }
    if [ -n "$sanitize" ]; then
        compile_mutant "-O1 -g0 -DTNI_COUNT_POLLS $sanitize" x.o x.c
        meets checked x.o || { printf "%s\n" "killed	$killer	$name"; return; }
    fi
    printf "%s\n" "survived	$name"
}

worker() { # K, how many
    worker_begin "$1"
    types="-Werror=int-conversion -Werror=incompatible-pointer-types -Werror=implicit-function-declaration"
    types="$types -Werror=discarded-qualifiers"
    done=0 all=$2
    : > verdicts
    while [ $done -lt "$all" ] && IFS='	' read -r rank id line kind name; do
        file=${name%% -- *} original=$(basename "${name%% -- *}")
        "$out/mutate" "$root/$file" "$id" > x.c
        verdict=$(judge)
        printf "%s\n" "$verdict" >> verdicts
        case $verdict in killed* | survived*) done=$((done + 1)) ;; esac
    done < "$out/sample.$1"
    : "$rank $line $kind"
}
