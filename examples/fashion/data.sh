#!/bin/sh
# data.sh [FROM [TO]] - unpacks Fashion-MNIST from Debian's package dataset-fashion-mnist into build/fashion-mnist. As root
# it installs the package first. TO is complete or absent.
set -eu
from=${1:-/usr/share/datasets/fashion-mnist}
to=${2:-build/fashion-mnist}
if [ ! -d "$from" ]; then
    if [ $# = 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y dataset-fashion-mnist || { apt-get update && apt-get install -y dataset-fashion-mnist; }
    else
        echo "Fashion-MNIST is not in $from. On Debian: sudo apt-get install dataset-fashion-mnist" >&2
        echo "Or put its four IDX files, unpacked, into a folder and run: build/fashion --data FOLDER" >&2
        exit 1
    fi
fi
part=$to.part
trap 'rm -rf "$part"' EXIT
rm -rf "$part"
mkdir -p "$part"
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    gzip -dc "$from/$file-ubyte.gz" > "$part/$file-ubyte" || { echo "$from/$file-ubyte.gz: does not unpack" >&2; exit 1; }
done
rm -rf "$to"
mv "$part" "$to"
echo "unpacked into $to; make run trains on it"
