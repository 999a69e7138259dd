# embed.sh - a model inside a program (tools/embed.c); read by run.sh.
embedded() { # NAME FLAGS...: the program with that model; its output is $log
    name=$1
    shift
    $c "-I$out" "$@" "$object" -o "$out/$name" -lm -pthread > "$out/$name.said" 2>&1
    check "$name compiles without a warning" test ! -s "$out/$name.said"
    run "$name" "$out/$name"
}
same_output() { [ "$(head -1 "$out/written.log")" = "$(head -1 "$1")" ]; }
program=tests/examples/embedded.c
packed || { echo "0 passed, 1 failed"; exit 1; }
$CC -std=c99 -O2 $warnings -Werror tools/embed.c -o "$out/embed" && $c $program "$object" -o "$out/written" -lm -pthread
check "a model is written" run written "$out/written" "$out/net.safetensors"
check "embed writes an array" sh -c '"$1/embed" "$1/net.safetensors" net > "$1/net.h"' embed "$out"
embedded inside -DMODEL='"net.h"' $program
check "the program computes what the model did" same_output "$log"
check "all is borrowed, no file is opened" grep -q '^9 borrowed, 0 files opened$' "$log"
# In a file of its own, which C++ and C declare.
"$out/embed" -e "$out/net.safetensors" net > "$out/net.c"
printf '#include <stddef.h>\nextern const unsigned char net[];\nextern const size_t net_bytes;\n' > "$out/apart.h"
embedded apart -DMODEL='"apart.h"' $program "$out/net.c"
check "an array in a file of its own" grep -q '^9 borrowed, 0 files opened$' "$log"
check "it computes the same" same_output "$log"
[ -z "$have_cxx" ] || check "C++ compiles the array" $CXX -std=c++11 $warnings -Werror -c -x c++ "$out/net.c" -o "$out/net.o"
# As xxd -i writes it, at an odd address: what is not aligned is copied.
{
    printf '#include <stddef.h>\nstatic const struct { char odd; unsigned char net[%d]; } xxd = { 0, {\n' "$(wc -c < "$out/net.safetensors")"
    od -An -v -tx1 "$out/net.safetensors" | sed 's/ \([0-9a-f][0-9a-f]\)/ 0x\1,/g'
    printf '} };\nstatic const size_t net_bytes = sizeof xxd.net;\n#define net xxd.net\n'
} > "$out/xxd.h"
embedded unaligned -DMODEL='"xxd.h"' $program
check "an array at an odd address is copied" grep -q '^0 borrowed, 0 files opened$' "$log"
check "copied, it computes the same" same_output "$log"
# What embed refuses.
for wrong in "9net|no name|$out/net.safetensors" "net|cannot read|$out/nothing" "net|is empty|/dev/null"; do
    name=${wrong%%|*} words=${wrong#*|}
    log=$out/embed.log
    ! "$out/embed" "${words#*|}" "$name" > /dev/null 2> "$log"
    check "embed says: ${words%%|*}" grep -q "${words%%|*}" "$log"
done
