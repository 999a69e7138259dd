# weights.sh - models with the weights that others trained, where examples/weights.sh has fetched them; read by run.sh. speech also hears
# with made ones. The numbers beside them are those of float64, by Python's standard library.
weights=build/weights
fetched() { # NAME FILE
    [ -e "$weights/$2" ] || { echo "no $weights/$2 (sh examples/weights.sh $1): its checks are left out"; false; }
}
speech=$out/speech
if command -v "${PYTHON:-python3}" > /dev/null; then
    heard() { "${PYTHON:-python3}" tests/examples/speech.py "$@"; }
    check "speech: weights and a sound are made" run made heard make "$out/made.safetensors" "$out/made.wav"
    check "speech ends with 0" run speech "$speech" --save "$out/heard.safetensors" "$out/made.safetensors" "$out/made.wav"
    check "speech: 18 windows of 9,000 samples" grep -q '^18 windows$' "$log"
    check "speech: the chances are those of float64" \
        run heard heard check "$out/made.safetensors" "$out/heard.safetensors" "$out/made.wav"
    head -c 30 "$out/made.wav" > "$out/cut.wav"
    check "speech: a sound that is cut ends with 1" fails 1 "no WAV file" "$speech" "$out/made.safetensors" "$out/cut.wav"
    cp "$out/made.wav" "$out/slow.wav" && bytes '\100\37' "$out/slow.wav" 24 # 8,000 a second
    check "speech: another rate ends with 1" fails 1 "16000 a second" "$speech" "$out/made.safetensors" "$out/slow.wav"
    check "speech: weights of another model end with 1" fails 1 "missing" "$speech" "$out/heard.safetensors"
    if fetched silero silero_vad_16k.safetensors; then
        check "speech hears vowels" run vowels "$speech" --save "$out/vowels.safetensors" "$weights/silero_vad_16k.safetensors"
        check "speech: from 0.75 s on, and not at the end" awk '/^speech/ { n++; if ($3 < 0.75 || $6 > 2.5) bad = 1 }
            END { exit !(n > 1 && !bad) }' "$log"
        check "speech: the chances of vowels are those of float64" \
            run vowels_heard heard check "$weights/silero_vad_16k.safetensors" "$out/vowels.safetensors"
    fi
    if fetched minilm minilm; then
        set -- "Café owners in Zürich naïvely expected visitors." "猫 is Japanese for cat."
        check "sentences reads all-MiniLM-L6-v2" run minilm "$out/sentences" --save "$out/minilm.safetensors" "$weights/minilm" "$@"
        check "sentences: its vectors are those of float64" run minilm_check beside check "$weights/minilm" "$out/minilm.safetensors" "$@"
        set -- "Interest rates rose again this spring." "The central bank raised its key rate by half a point." "A cat purrs."
        check "sentences: rates are like rates" run alike "$out/sentences" "$weights/minilm" "$@"
        check "sentences: and not like a cat" awk 'NR == 2 { rates = $1 } NR == 3 { exit !(rates > 0.4 && $1 < 0.2 && $2 < 0.2) }' "$log"
    fi
fi
check "speech: weights that are missing end with 1" fails 1 "none.safetensors" "$speech" "$out/none.safetensors"
check "speech: no arguments end with 2" fails 2 "usage" "$speech"
