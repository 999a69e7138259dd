#!/bin/sh
# The examples as a user builds and runs them: no warning, the results that they promise, exact resume, and for wrong
# input a message that names it, status 1 and the last checkpoint as it was.
# One library for all programs; TN_FULL=1: one each, as the examples are written. TN_QUICK=1: fewer epochs.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
CC=${CC:-cc} CXX=${CXX:-c++}
out=$BUILD/examples
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion"
flags=${CFLAGS:--O2}
rm -rf "$out" && mkdir -p "$out" || exit 1
. tests/shared.sh
. tests/examples/checks.sh

[ -e /usr/include/stb/stb_image.h ] || need none:libstb-dev # classify reads PNG by it

# --- build ----------------------------------------------------------------------------------------
c="$CC -std=c99 $flags $warnings -I."
cxx="$CXX -std=c++11 $flags $warnings -I."
have_cxx=
command -v "$CXX" > /dev/null && have_cxx=1 || echo "no C++ compiler: mixed is left out"
one_file="text physics game replay audio classify gpt lstm dqn gan vae maml hogwild resnet18 speech from_torch/run plugin/host" # programs of one file
fashion=$(ls examples/fashion/*.c | tr '\n' ' ')
printf '#define FASHION_DATA "%s/none"\n' "$out" > "$out/digits.h" # the digits, also after `make data`
if [ -z "${TN_FULL:-}" ]; then # the same texts less their two first defines
    packed || { echo "0 passed, 1 failed"; exit 1; } # as examples/fashion/impl.c has it
    mkdir -p "$out/src/mixed" "$out/src/sentences" "$out/src/from_torch" "$out/src/plugin" "$out/from_torch" "$out/plugin"
    for name in $one_file mixed/model sentences/main; do
        sed '/^#define TENSOR_.*IMPLEMENTATION$/d' "examples/$name.c" > "$out/src/$name.c"
    done
    for name in $one_file; do
        echo "$c $out/src/$name.c $object -o $out/$name -lm -ldl -pthread"
    done > "$out/commands"
    sources=$(echo "$fashion" | sed 's|[^ ]*/impl.c||')
    echo "$c -include $out/digits.h $sources $object -o $out/fashion -lm -pthread" >> "$out/commands"
    echo "$c -Iexamples/sentences $out/src/sentences/main.c $object -o $out/sentences -lm -pthread" >> "$out/commands"
    mixed="$c -Iexamples/mixed -c $out/src/mixed/model.c -o $out/model.o"
    library=$object
else
    mkdir -p "$out/from_torch" "$out/plugin"
    for name in fashion $one_file; do
        sources=examples/$name.c
        [ $name != fashion ] || sources="-include $out/digits.h $fashion"
        echo "$c $sources -o $out/$name -lm -ldl -pthread"
    done > "$out/commands"
    echo "$c examples/sentences/main.c -o $out/sentences -lm -pthread" >> "$out/commands"
    mixed="$c -c examples/mixed/model.c -o $out/model.o"
    library=
fi
echo "$c -Iexamples/sentences tests/examples/wordpiece.c -o $out/wordpiece" >> "$out/commands"
echo "$c -shared -fPIC examples/plugin/plugin.c -o $out/plugin/plugin.so" >> "$out/commands"
[ -z "$have_cxx" ] ||
    echo "$mixed && $cxx examples/mixed/main.cpp $out/model.o $library -o $out/mixed -lm -pthread" >> "$out/commands"
tr '\n' '\0' < "$out/commands" | xargs -0 -P "$jobs" -n 1 sh -c 'eval "$1"' build > "$out/build.log" 2>&1
check "the examples compile without a warning" test ! -s "$out/build.log"
head -20 "$out/build.log"

# --- programs of one file ---------------------------------------------------------------------------
check "text ends with 0" run text "$out/text"
check "text: the loss falls below 0.2" below "$(last_number loss "$log")" 0.2
check "text: it began above 1" below 1 "$(sed -n '1s/.*loss //p' "$log")"
check "text: it writes the poem's words" grep -q "vorpal\|Jabberwock\|slithy\|uffish" "$log"
check "physics ends with 0" run physics "$out/physics"
check "physics: the largest difference is below 0.02" below "$(sed -n 's/^largest difference from sin: //p' "$log")" 0.02
check "physics: the residual falls below 0.01" below "$(last_number residual "$log")" 0.01
check "game ends with 0" run game "$out/game"
check "game: no allocation after the third frame" grep -q 'allocations after the third frame: 0$' "$log"
check "game: work ran on the host's jobs" grep -q '^120 frames, [1-9]' "$log"
check "replay ends with 0" run replay "$out/replay"
check "replay: no allocation" grep -q '^10000 steps, allocations while replaying: 0$' "$log"
check "replay: the bits of the calls" grep -q '^calls and replays: the same bits$' "$log"
check "replay: it prints the ratio" grep -q '^a replay is [0-9.]* times as fast' "$log"
check "audio ends with 0" run audio "$out/audio" "$out"
check "audio: the error on new notes is below 2 % of the sound" below "$(last_number ratio "$log")" 2
check "audio: it began above 10 %" below 10 "$(sed -n 's/^epoch  1 .*ratio *\([0-9.]*\) %$/\1/p' "$log")"
check "audio: no allocation while it plays" grep -q '^played 2048 blocks of 64 samples, allocations: 0$' "$log"
check "audio: it prints its speed" grep -q '^[0-9.]* times as fast as real time$' "$log"
for sound in dry amp learned; do check "audio: $sound.wav has sound" wav "$out/$sound.wav" 131072; done
check "audio: a folder that is missing ends with 1" fails 1 "none/dry.wav" "$out/audio" "$out/none"
check "plugin: the host ends with 0" run plugin "$out/plugin/host" "$out/plugin/plugin.so"
check "plugin: the operator reads its number" grep -q '^cubic(2, 0.5) = 9$' "$log"
check "plugin: its gradient trains" grep -q '^0.800 x + 0.300$' "$log"
check "plugin: a file that is missing ends with 1" fails 1 "none.so" "$out/plugin/host" "$out/none.so"
. tests/examples/models.sh
if [ -n "$have_cxx" ]; then
    check "mixed ends with 0" run mixed "$out/mixed"
    check "mixed: the loss falls to a tenth" awk '{ exit !($4 + 0 < $2 / 10) }' "$log"
fi

# --- fashion: learn, see ----------------------------------------------------------------------------
f=$out/fashion model=model.safetensors
epochs=3 bound=90
[ -z "${TN_QUICK:-}" ] || epochs=1 bound=70
check "help ends with 0" run help "$f" --help
check "help names the options" grep -q -e '--resume' "$log"
check "fashion learns" run learn "$f" --seed 1 --epochs $epochs --out "$out/one"
check "it learns the digits" grep -q "^digits: 1438 pictures" "$log"
check "test accuracy after $epochs epochs is above $bound %" \
    below $bound "$(sed -n 's/.*test *\([0-9.]*\) %.*/\1/p' "$log" | tail -1)"
check "a line for each epoch, none above 80 columns" lines_of_epochs $epochs
check "not on a terminal there are plain lines" plain "$log"
for svg in curve grid; do
    check "$svg.svg is well-formed" well_formed "$out/one/$svg.svg"
done
check "curve.svg has a point for each epoch" test "$(grep -c '<circle' "$out/one/curve.svg")" = $epochs
check "grid.svg has 48 pictures" test "$(grep -c '</g>' "$out/one/grid.svg")" = 48
check "predict a test picture" run number "$f" --out "$out/one" predict 5
check "it says three guesses and the truth" three_guesses 1
# The same picture as a PGM file with 16 levels: the same guesses. The digits' test part is drawn by the program, so a
# picture of the file is taken; its label stands in the other file.
pgm 700 16 > "$out/picture.pgm"
check "predict a PGM file" run pgm "$f" --out "$out/one" predict "$out/picture.pgm"
check "it says three guesses" three_guesses 0

# --- the same bits, broken and unbroken -------------------------------------------------------------
broken_run "$out/broken" --seed 3 --epochs 400 # killed in its fourth epoch or later
check "the broken run left a checkpoint" test -s "$out/broken/$model"
check "it was broken before the end" below "$(grep -c '^epoch' "$out/broken.log")" 390
cp -R "$out/broken" "$out/again"
last=$(($(grep -c '^epoch' "$out/broken.log") + 2))
for threads in 1 2; do # the seed, too, comes from the checkpoint
    name=broken
    [ $threads = 1 ] || name=again
    check "resume with $threads threads" run resume \
        "$f" --seed 99 --epochs $last --threads $threads --resume --out "$out/$name"
    check "it says that it resumes" grep -q '^resuming after epoch [1-9]' "$log"
    check "it makes the last two epochs only, or three" below "$(grep -c '^epoch' "$log")" 4
done
check "an unbroken run" run unbroken "$f" --seed 3 --epochs $last --workers 2 --out "$out/unbroken"
check "resumed and unbroken weights are the same bytes" cmp "$out/broken/$model" "$out/unbroken/$model"
check "with another number of threads, too" cmp "$out/again/$model" "$out/unbroken/$model"
check "another seed gives other bytes" differ "$out/one/$model" "$out/unbroken/$model"

# --- a model inside a program ------------------------------------------------------------------------
. tests/examples/embed.sh

# --- wrong input ----------------------------------------------------------------------------------
. tests/examples/wrong.sh

# --- weights that others trained ------------------------------------------------------------------
. tests/examples/weights.sh

# --- a game, pictures on a command line, a network of torch, Lua, gdb --------------------------------
. tests/examples/fireflies.sh
. tests/examples/classify.sh
. tests/examples/from_torch.sh
. tests/examples/lua.sh
. tests/examples/gdb.sh

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
