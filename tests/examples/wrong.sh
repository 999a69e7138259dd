# wrong.sh - wrong input of the fashion example; read by run.sh.
# refuse WHAT WORD OPTIONS...: status 1, a message with WORD, no crash, the checkpoint in $out/one as it was.
refuse() {
    wrong=$1 word=$2
    shift 2
    log=$out/wrong.log
    "$f" "$@" > "$log" 2>&1
    status=$?
    check "$wrong: status 1 (is $status)" test $status = 1
    check "$wrong: the message names $word" grep -q -F -e "$word" "$log"
    check "$wrong: the checkpoint is as it was" cmp "$out/kept" "$out/one/$model"
}
cp "$out/one/$model" "$out/kept"
digits=examples/fashion/digits
bytes() { printf "$1" | dd of="$2" bs=1 seek="$3" conv=notrunc 2> /dev/null; }
folder() { # NAME: a data folder of digits under the names of Fashion-MNIST
    data=$out/data-$1
    mkdir -p "$data"
    for part in train t10k; do
        cp $digits/images-idx3-ubyte "$data/$part-images-idx3-ubyte"
        cp $digits/labels-idx1-ubyte "$data/$part-labels-idx1-ubyte"
    done
}
with_data() { refuse "$1" "$2" --data "$data" --out "$out/one" --epochs 9; }

folder whole
check "a whole data folder is taken" run whole "$f" --data "$data" --epochs 1 --out "$out/whole"
data=$out/nowhere
with_data "no data folder" "nowhere/train-images-idx3-ubyte"
folder lacks && rm "$data/t10k-labels-idx1-ubyte"
with_data "a data file is missing" "t10k-labels-idx1-ubyte"
folder short && head -c 5000 $digits/images-idx3-ubyte > "$data/train-images-idx3-ubyte"
with_data "truncated pictures" "train-images-idx3-ubyte"
folder empty && : > "$data/t10k-images-idx3-ubyte"
with_data "an empty file" "t10k-images-idx3-ubyte"
folder magic && bytes '\1' "$data/train-images-idx3-ubyte" 0
with_data "a damaged IDX magic" "train-images-idx3-ubyte"
folder dtype && bytes '\377' "$data/train-labels-idx1-ubyte" 2
with_data "an IDX dtype that is none" "train-labels-idx1-ubyte"
folder count && bytes '\177\377\377\377' "$data/train-images-idx3-ubyte" 4
with_data "an IDX size beyond the file" "train-images-idx3-ubyte"
folder label && bytes '\115' "$data/t10k-labels-idx1-ubyte" 40
with_data "a label beyond the classes" "t10k-labels-idx1-ubyte"
folder mixed && cp "$data/train-images-idx3-ubyte" "$data/train-labels-idx1-ubyte"
with_data "pictures in place of labels" "train-labels-idx1-ubyte"
folder gzip && gzip -c $digits/images-idx3-ubyte > "$data/train-images-idx3-ubyte"
with_data "a file still packed" "train-images-idx3-ubyte"

# Unpacking: all or nothing.
packed=$out/packed
folder tounpack && mkdir -p "$packed"
for file in "$data"/*; do gzip -c "$file" > "$packed/${file##*/}.gz"; done
check "data.sh unpacks" run unpack sh examples/fashion/data.sh "$packed" "$out/unpacked"
check "data.sh writes the same bytes" cmp "$data/t10k-images-idx3-ubyte" "$out/unpacked/t10k-images-idx3-ubyte"
head -c 9000 "$packed/t10k-images-idx3-ubyte.gz" > "$out/cut" && mv "$out/cut" "$packed/t10k-images-idx3-ubyte.gz"
log=$out/unpack.log
sh examples/fashion/data.sh "$packed" "$out/unpacked-part" > "$log" 2>&1
check "data.sh: a damaged gzip ends with 1" test $? = 1
check "data.sh: the message names it" grep -q 't10k-images-idx3-ubyte.gz' "$log"
check "data.sh: nothing is left" test ! -e "$out/unpacked-part" -a ! -e "$out/unpacked-part.part"

# Folders and disks that cannot be written.
refuse "an output folder below a file" "kept/below" --out "$out/kept/below" --epochs 1
refuse "an output folder whose parent is missing" "none/below" --out "$out/none/below" --epochs 1
if [ "$(id -u)" != 0 ]; then
    mkdir -p "$out/locked" && chmod 555 "$out/locked"
    refuse "an output folder without permission" "locked" --out "$out/locked" --epochs 1
fi
(
    trap '' XFSZ # files of 51,200 bytes at most: writing beyond fails as on a full disk
    ulimit -f 100
    "$f" --out "$out/one" --resume --epochs 5
) > "$out/wrong.log" 2>&1
check "a limit on files: status 1" test $? = 1
log=$out/wrong.log
check "a limit on files: the message names the checkpoint" grep -q "one/$model" "$log"
check "a limit on files: the checkpoint is as it was" cmp "$out/kept" "$out/one/$model"
check "a limit on files: nothing is left beside it" test "$(ls "$out/one" | wc -l)" = 3
disk=$out/disk
mkdir -p "$disk"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=800k none "$disk" 2> /dev/null; then
    cp "$out/kept" "$disk/$model" # 644,600 bytes: a second one does not fit
    refuse "a full disk" "disk/$model" --out "$disk" --resume --epochs 5
    check "a full disk: its checkpoint is as it was" cmp "$out/kept" "$disk/$model"
    umount "$disk"
fi
if [ -c /dev/full ]; then
    mkdir -p "$out/full" && ln -s /dev/full "$out/full/curve.svg"
    refuse "a chart on a full disk" "full/curve.svg" --out "$out/full" --epochs 1
    "$f" --out "$out/one" predict 1 > /dev/full 2> "$log"
    check "standard output on a full disk: status 1" test $? = 1
    check "standard output on a full disk: the message" grep -q "standard output" "$log"
fi

# Checkpoints.
damaged() { # WHAT: $out/bad holds a damaged one
    cp "$out/bad/$model" "$out/bad.before"
    refuse "$1, resume" "bad/$model" --out "$out/bad" --resume --epochs 9
    refuse "$1, predict" "bad/$model" --out "$out/bad" predict 1
    check "$1: it is as it was" cmp "$out/bad.before" "$out/bad/$model"
}
mkdir -p "$out/bad"
refuse "no checkpoint" "bad/$model" --out "$out/bad" predict 1
head -c 300000 "$out/kept" > "$out/bad/$model" && damaged "a truncated checkpoint"
: > "$out/bad/$model" && damaged "an empty checkpoint"
cp "$out/kept" "$out/bad/$model" && bytes '\377\377\377\377\377\377\377\177' "$out/bad/$model" 0
damaged "a checkpoint with a damaged length"
cp "$out/kept" "$out/bad/$model" && bytes '}' "$out/bad/$model" 9 && damaged "a checkpoint with a damaged header"
sed 's/"version":"1"/"version":"7"/' "$out/kept" > "$out/bad/$model" && damaged "a checkpoint of another version"
sed 's/model\.7\.weight/model.7.heights/' "$out/kept" > "$out/bad/$model" && damaged "a checkpoint with another name"
{
    printf '\225\0\0\0\0\0\0\0{"__metadata__":{"format":"tensor.h checkpoint","version":"1"},'
    printf '"model.7.weight":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}'
} > "$out/bad/$model"
damaged "a checkpoint of endless pictures"

# What to predict.
refuse "an index beyond the pictures" "400" --out "$out/one" predict 400
refuse "a huge index" "99999999999999999999" --out "$out/one" predict 99999999999999999999
refuse "a negative index" "-1" --out "$out/one" predict -1
refuse "a PGM that is not there" "nothing.pgm" --out "$out/one" predict "$out/nothing.pgm"
{ printf 'P5\n9 8\n255\n' && dd if=/dev/zero bs=72 count=1; } > "$out/wide.pgm" 2> /dev/null
refuse "a PGM of the wrong size" "wide.pgm" --out "$out/one" predict "$out/wide.pgm"
head -c 50 "$out/picture.pgm" > "$out/short.pgm"
refuse "a truncated PGM" "short.pgm" --out "$out/one" predict "$out/short.pgm"
printf 'P2\n8 8\n255\n' > "$out/text.pgm"
refuse "a PGM of text" "text.pgm" --out "$out/one" predict "$out/text.pgm"
refuse "a folder as PGM" "data-whole" --out "$out/one" predict "$out/data-whole"
check "words that it does not know end with 2" sh -c "'$f' --eppochs 3 > '$out/wrong.log' 2>&1; test \$? = 2"
check "the message names them" grep -q -- '--eppochs' "$out/wrong.log"
