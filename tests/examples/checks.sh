# checks.sh - what run.sh checks with; read by it.
passed=0 failed=0 log=

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $what"
        [ ! -f "$log" ] || tail -5 "$log" | cut -c1-200 | sed 's/^/    | /'
    fi
}
run() { # NAME COMMAND...: its output is $log
    log=$out/$1.log
    shift
    "$@" > "$log" 2>&1
}
fails() { # STATUS WORD COMMAND...: ends with this status and a message that has WORD
    expected=$1 word=$2
    shift 2
    log=$out/fails.log
    "$@" > "$log" 2>&1
    [ $? = "$expected" ] && grep -q -F -e "$word" "$log"
}
wav() { # FILE SAMPLES: mono, 16 bits, not silent
    [ "$(head -c 4 "$1")" = RIFF ] && [ "$(wc -c < "$1")" = $((44 + 2 * $2)) ] &&
        [ "$(od -An -v -td2 -j44 "$1" | awk '{ for (i = 1; i <= NF; i++) if ($i > 3000) n++ } END { print (n > 1000) }')" = 1 ]
}
below() { [ -n "$1" ] && [ -n "$2" ] && awk "BEGIN { exit !($1 < $2) }"; }
differ() { ! cmp -s "$1" "$2"; }
last_number() { sed -n "s/.*$1 *\([0-9.e+-]*\).*/\1/p" "$2" | tail -1; }
lines_of_epochs() {
    [ "$(grep -c '^epoch' "$log")" = "$1" ] && awk 'length > 80 && !/^wrote/ { exit 1 }' "$log"
}
plain() { # no carriage return, no escape code
    [ "$(tr -d '\r\033\b' < "$1" | wc -c)" = "$(wc -c < "$1")" ]
}
well_formed() {
    [ -s "$1" ] || return 1
    if command -v python3 > /dev/null; then
        python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$1" 2> /dev/null
    else # opened, closed once, at the end
        [ "$(grep -c '<svg ' "$1")" = 1 ] && [ "$(tail -1 "$1")" = '</svg>' ] &&
            [ "$(grep -o '<g ' "$1" | wc -l)" = "$(grep -o '</g>' "$1" | wc -l)" ] && ! grep -qi 'nan\|inf"' "$1"
    fi
}
three_guesses() { # TRUTH: chances of 0..100 % in falling order; TRUTH=1: and one line that says what it is
    awk -v truth="$1" 'BEGIN { last = 100.01 }
        /^[0-9] .* %$/ { if ($2 > last || $2 < 0) bad = 1; last = $2; n++ }
        /^it is: *[0-9]$/ { said++ }
        END { exit !(!bad && n == 3 && said + 0 == truth) }' "$log"
}
pgm() { # INDEX LEVELS: picture INDEX of the digits as PGM
    printf 'P5\n# a digit\n8 8\n%d\n' "$2"
    dd if=examples/fashion/digits/images-idx3-ubyte bs=1 skip=$((16 + 64 * $1)) count=64 2> /dev/null
}
# Trains into DIR and is killed when its third epoch is reported.
broken_run() { # DIR OPTIONS...
    dir=$1
    shift
    rm -f "$out/pipe" && mkfifo "$out/pipe" || return 1
    "$f" "$@" --out "$dir" > "$out/pipe" 2>&1 &
    pid=$!
    {
        while read -r line; do
            echo "$line"
            case $line in "epoch  3/"*) kill -9 $pid ;; esac
        done
    } < "$out/pipe" > "$dir.log"
    wait $pid 2> /dev/null
    return 0
}
