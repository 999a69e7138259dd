# models.sh - the models in one file each; read by run.sh. The losses of gpt, dqn, gan, lstm, vae and maml are those of torch, or of the same
# program in Python, whose losses tests/python/test_traces.py compares with torch's.
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; false; }; }

check "gpt ends with 0" run gpt "$out/gpt" LICENSE "$out/gpt.safetensors" 200
check "gpt: the losses are torch's" is "$(sed -n 's/^step .*loss //p' "$log" | tr '\n' ' ')" "5.0087 2.7186 1.9962 "
check "gpt: it writes 500 letters" test "$(sed 1,4d "$log" | wc -c)" -ge 500
check "gpt: it writes on from its file" run gpt_one "$out/gpt" --write "$out/gpt.safetensors" "THE SOFT" 200
check "gpt: from the words that it is given" grep -q '^THE SOFT' "$log"
check "gpt: and again" run gpt_two "$out/gpt" --write "$out/gpt.safetensors" "THE SOFT" 200
check "gpt: the same letters" cmp "$out/gpt_one.log" "$out/gpt_two.log"
check "gpt: a text that is missing ends with 1" fails 1 "none.md" "$out/gpt" none.md "$out/none.safetensors"
check "gpt: it leaves no file then" test ! -e "$out/none.safetensors"
printf 'too short' > "$out/short.txt"
check "gpt: a text that is too short ends with 1" fails 1 "more than 64 letters" "$out/gpt" "$out/short.txt" "$out/none.safetensors"
check "gpt: a file that is missing ends with 1" fails 1 "none.safetensors" "$out/gpt" --write "$out/none.safetensors" "A" 9
check "lstm ends with 0" run lstm "$out/lstm"
check "lstm: the loss falls as in Python" is "$(sed -n 's/^step .*loss //p' "$log" | tr '\n' ' ')" "1.8564 0.4913 0.2203 0.1470 "
check "lstm: it recites to the end" \
    grep -q '^This is the cow with the crumpled horn that tossed .* the house that Jack built\.$' "$log"
check "dqn ends with 0" run dqn "$out/dqn"
check "dqn: at first the pole falls within 40 steps" below "$(sed -n '1s/.*of *\([0-9.]*\) steps$/\1/p' "$log")" 40
check "dqn: in the end it stays up for 100 and more" below 100 "$(sed -n 's/^step.*of *\([0-9.]*\) steps$/\1/p' "$log" | tail -1)"
check "dqn: it catches a leaning pole" below 100 "$(sed -n 's/^caught.* for \([0-9]*\) steps.*/\1/p' "$log")"
check "gan ends with 0" run gan "$out/gan"
check "gan: the critic's lead falls below 0.3" below "$(last_number distance "$log")" 0.3
check "gan: more than 80 % of the points lie in heaps, and in all" \
    below 80 "$(sed -n 's/^\([0-9]*\) % of the points lie in 8 of 8 heaps$/\1/p' "$log")"
check "vae ends with 0" run vae "$out/vae"
check "vae: the losses of Python's first steps" \
    is "$(sed -n '1,3s/^step //p' "$log" | tr '\n' ' ')" "  20: rebuilt 31.35, code 1.82   40: rebuilt 28.50, code 1.49   60: rebuilt 27.09, code 1.44 "
check "vae: it rebuilds digits" below "$(last_number rebuilt "$log")" 23
check "vae: it draws two rows of digits" test "$(grep -c '@@' "$log")" -ge 8
check "vae: a file that is missing ends with 1" fails 1 "none" "$out/vae" none
check "maml ends with 0" run maml "$out/maml"
check "maml: the losses of Python's first steps" \
    is "$(sed -n '1,4s/.*adapting \([0-9.]*\),.*/\1/p' "$log" | tr '\n' ' ')" "1.5358 1.2913 1.5427 1.1596 "
check "maml: it says what two steps leave" grep -q '^on new sines: [0-9.]*, after one step [0-9.]*, after two [0-9.]*$' "$log"
check "hogwild ends with 0" run hogwild "$out/hogwild"
check "hogwild: a line for one process and for two" test "$(grep -c '% right$' "$log")" = 2
check "hogwild: it says how much faster two are" grep -q '^two processes are [0-9.]* times as fast as one$' "$log"
check "hogwild: a folder that is missing ends with 1" fails 1 "none/images" "$out/hogwild" "$out/none"

# The made weights are those that torch draws from the same seed. PYTHON that has torch: all of them and the scores are compared.
pixels() { # a picture of 300 x 300
    printf 'P6\n300 300\n255\n'
    LC_ALL=C awk 'BEGIN { for (i = 0; i < 270000; i++) printf "%c", 33 + (i * i / 5000 + i % 3 * 40) % 90 }'
}
check "resnet18 ends with 0" run resnet18 "$out/resnet18" --save "$out/resnet18.safetensors"
check "resnet18: torchvision's number of parameters" grep -q '^all *11689512$' "$log"
check "resnet18: the class that torch finds" grep -q '^class  913    2.2570 %$' "$log"
pixels > "$out/pixels.ppm"
check "resnet18 reads its weights and a picture" \
    run resnet18_picture "$out/resnet18" "$out/resnet18.safetensors" "$out/pixels.ppm"
if "${PYTHON:-python3}" -c 'import torch' 2> /dev/null; then
    check "resnet18: names, weights and scores are torch's" run resnet18_torch "${PYTHON:-python3}" tests/examples/resnet18.py \
        "$out/resnet18.safetensors" "$out/resnet18.log" "$out/pixels.ppm" "$out/resnet18_picture.log"
fi
head -c 1000 "$out/pixels.ppm" > "$out/cut.ppm"
check "resnet18: a picture that is cut ends with 1" fails 1 "cut.ppm" "$out/resnet18" "$out/resnet18.safetensors" "$out/cut.ppm"
check "resnet18: a file that is missing ends with 1" fails 1 "none.safetensors" "$out/resnet18" "$out/none.safetensors"

# A small BERT of random weights; its numbers, and words for letters, by Python's standard library.
if command -v "${PYTHON:-python3}" > /dev/null; then
    beside() { "${PYTHON:-python3}" tests/examples/sentences.py "$@"; }
    check "sentences: a small BERT is made" run bert beside make "$out/bert"
    set -- "The cat sat on the mat." "the CAT  sat, on “the” mat!" "Dogs running — UNWANTED" \
        "Café, Naïve Über crème 猫 straße Æ" "" "a b c d e i o u s z a b c d e i o u s z a b c d e i o u s z a b c d e"
    check "sentences ends with 0" run sentences "$out/sentences" --save "$out/bert.safetensors" "$out/bert" "$@"
    check "sentences: a line for each, and the names" test "$(wc -l < "$log")" = 7
    check "sentences: each is like itself" test "$(grep -c ' 1\.00  *[a-f]  ' "$log")" = 6
    check "sentences: the numbers are those of float64" run bert_check beside check "$out/bert" "$out/bert.safetensors" "$@"
    check "wordpiece ends with 0" run wordpiece "$out/wordpiece"
    check "wordpiece: letters as in Python" run letters beside letters
    check "wordpiece: the same words" cmp "$out/wordpiece.log" "$out/letters.log"
    printf 'the\ncat\n' > "$out/bert/vocab.txt"
    check "sentences: a vocabulary without [UNK] ends with 1" fails 1 "no [UNK]" "$out/sentences" "$out/bert" "the"
fi
check "sentences: a folder that is missing ends with 1" fails 1 "none/config.json" "$out/sentences" none "the"
check "sentences: no arguments end with 2" fails 2 "usage" "$out/sentences"
