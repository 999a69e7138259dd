#!/bin/sh
# Unpacks Debian's Fashion-MNIST (package dataset-fashion-mnist) into build/fashion-mnist; installs it where root is there.
set -eu
from=/usr/share/datasets/fashion-mnist
to=build/fashion-mnist
if [ ! -d "$from" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y dataset-fashion-mnist || { apt-get update && apt-get install -y dataset-fashion-mnist; }
    else
        echo "Fashion-MNIST is not here. On Debian: sudo apt-get install dataset-fashion-mnist"
        echo "Else put its four IDX files, unpacked, into a folder and say: build/fashion --data FOLDER"
        exit 1
    fi
fi
mkdir -p "$to"
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    gzip -dc "$from/$file-ubyte.gz" > "$to/$file-ubyte"
done
echo "unpacked into $to; make run learns them"
