# classify.sh - pictures on a command line; read by run.sh behind embed.sh, whose program it takes.
classify=$out/classify
mkdir -p "$out/src"
sed '/^#define TENSOR_.*IMPLEMENTATION$/d' examples/classify.c > "$out/src/classify.c" # over the object of embed.sh
check "classify learns" run learned "$classify" --train "$out/digits.safetensors"
check "classify: more than 90 % of unseen digits are right" below 90 "$(sed -n 's/.* \([0-9.]*\) % of unseen.*/\1/p' "$log" | tail -1)"
check "classify: a line for each epoch" test "$(grep -c '^epoch' "$log")" = 12
# Digits as pictures: their own 8 x 8 pixels; ten times as large, dark on light, with a comment and in colours.
label() { od -An -v -tu1 -j$((8 + $1)) -N1 examples/fashion/digits/labels-idx1-ubyte | tr -d ' '; }
large() { # INDEX KIND: a PNM file of 80 x 80 pixels; P5: grey, P6: the same in three colours
    printf '%s\n# a digit, dark on light\n80 80\n# of 17 levels\n255\n' "$2"
    printf "$(od -An -v -tu1 -w8 -j$((16 + 64 * $1)) -N64 examples/fashion/digits/images-idx3-ubyte |
        awk -v wide="$([ "$2" = P6 ] && echo 30 || echo 10)" '{
            row = ""
            for (i = 1; i <= NF; i++) for (k = 0; k < wide; k++) row = row sprintf("\\%03o", 255 - int($i * 255 / 16))
            for (k = 0; k < 10; k++) print row }' | tr -d '\n')"
}
pictures=
for index in 7 160 803 1500; do # of the learned ones and of the others
    pgm $index 16 > "$out/small-$index.pgm"
    large $index P5 > "$out/grey-$index.pgm"
    large $index P6 > "$out/colour-$index.ppm"
    pictures="$pictures $out/small-$index.pgm $out/grey-$index.pgm $out/colour-$index.ppm"
done
check "classify says what is in pictures" run classified "$classify" "$out/digits.safetensors" $pictures
check "classify: a table of 12 lines below a head" test "$(wc -l < "$log")" = 13
for index in 7 160 803 1500; do
    check "classify: three times a $(label $index)" test \
        "$(awk -v index_="-$index." -v label="$(label $index)" 'index($1, index_) && $2 == label && $3 > 50' "$log" | wc -l)" = 3
done
cp "$log" "$out/classified"
# The model inside the program.
"$out/embed" "$out/digits.safetensors" model > "$out/model.h"
check "classify with its model compiles" $c "-I$out" -DMODEL='"model.h"' "$out/src/classify.c" "$object" -o "$out/carries" -lm -pthread
check "classify with its model needs no file" run carried "$out/carries" $pictures
check "classify with its model says the same" cmp "$log" "$out/classified"
# Without stb_image.h PNG is refused.
check "classify compiles without stb_image.h" $c -DNO_STB "$out/src/classify.c" "$object" -o "$out/plain" -lm -pthread
printf 'P5\n80 80\n255\nshort' > "$out/bad-short.pgm"
printf 'P5\n80000 80000\n255\n' > "$out/bad-large.pgm"
printf 'P5\n0 8\n255\n' > "$out/bad-none.pgm"
printf 'P6\n8 8\n65535\n' > "$out/bad-deep.ppm"
printf 'no picture' > "$out/bad.txt"
: > "$out/bad-empty.pgm"
for wrong in "bad-short.pgm|the file ends too early" "bad-large.pgm|no header of a PNM" "bad-none.pgm|no header of a PNM" \
    "bad-deep.ppm|no header of a PNM" "bad.txt|no picture" "bad-empty.pgm|no picture" "none.pgm|No such file"; do
    check "classify refuses ${wrong%%|*}" fails 1 "${wrong%%|*}: ${wrong#*|}" "$classify" "$out/digits.safetensors" "$out/${wrong%%|*}"
done
check "classify goes on behind a wrong picture" sh -c '"$1" "$2/digits.safetensors" "$2/bad.txt" "$2/small-7.pgm" 2>&1 | grep -q "small-7.pgm .* %"' \
    goes "$classify" "$out"
check "classify: a picture is no model" fails 1 "not a valid safetensors file" "$classify" "$out/small-7.pgm" "$out/small-7.pgm"
check "classify: another model is none of its own" fails 1 "no model of this program" "$classify" "$out/net.safetensors" "$out/small-7.pgm"
check "classify: a damaged model" sh -c 'head -c 20000 "$1/digits.safetensors" > "$1/cut.safetensors"' cut "$out"
check "classify refuses it" fails 1 "cut.safetensors" "$classify" "$out/cut.safetensors" "$out/small-7.pgm"
check "classify without arguments says how it is used" fails 2 "MODEL PICTURE" "$classify"
check "classify cannot write" fails 1 "nowhere" "$classify" --train "$out/nowhere/digits.safetensors"
# PNG, where there is something that writes one.
if ! echo '#include <stb/stb_image.h>' | $c -x c -fsyntax-only - 2> /dev/null; then
    echo "no stb_image.h: PNG is left out"
elif command -v python3 > /dev/null; then
    python3 - "$out" << 'E'
import struct, sys, zlib
pixels = open("examples/fashion/digits/images-idx3-ubyte", "rb").read()[16 + 64 * 803 :][:64]
rows = b"".join(b"\0" + bytes(c * 15 for c in pixels[8 * r : 8 * r + 8]) for r in range(8))
part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with open(sys.argv[1] + "/digit-803.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)))
    f.write(part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
E
    check "classify reads PNG" run png "$classify" "$out/digits.safetensors" "$out/digit-803.png"
    check "classify: the PNG is a $(label 803)" grep -q "digit-803.png *$(label 803) " "$log"
    check "without stb_image.h it refuses PNG" fails 1 "digit-803.png: no picture" "$out/plain" "$out/digits.safetensors" "$out/digit-803.png"
fi
