#!/bin/sh
# wide.sh OUT ROWS - packs into OUT the headers that the library would have with so many operators: files of src/ops are there
# again, their rows under other names, until there are enough. They are for including: the implementation would not compile.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 1
tools=$(cd "$BUILD/tools" && pwd) || exit 1
rm -rf "$out/src" "$out/docs" "$out/tests" && mkdir -p "$out/docs" "$out/tests/ops" && cp -R src "$out" &&
    cp docs/differences.md "$out/docs" || exit 1 # what optable writes into
rows=$(cat src/ops/*/*.c | grep -c '^TN_OPERATOR(')
for suffix in second third fourth; do
    for file in src/ops/*/*.c; do
        [ "$rows" -lt "$2" ] || break 2
        rows=$((rows + $(grep -c '^TN_OPERATOR(' "$file")))
        # TN_OPERATOR(add, "add.Tensor(..", TN_DOC(.. tn_add(x, y) ..) becomes add_second and tn_add_second
        awk -v suffix="_$suffix" 'BEGIN { RS = "\001" } {
            n = split($0, part, /TN_OPERATOR\(/)
            printf "%s", part[1]
            for (i = 2; i <= n; i++) {
                row = part[i]
                match(row, /[a-z0-9_]+/)
                name = substr(row, RSTART, RLENGTH)
                row = substr(row, RSTART + RLENGTH)
                gsub("tnp?_(nn_)?" name, "&" suffix, row)
                match(row, /"[a-z0-9_]*[a-z0-9]/)
                printf "TN_OPERATOR(%s%s%s%s", name suffix, substr(row, 1, RSTART + RLENGTH - 1), suffix, substr(row, RSTART + RLENGTH)
            }
        }' "$file" > "$out/${file%.c}_$suffix.c"
    done
done
cd "$out" && "$tools/optable" --no-sample-check . && "$tools/amalgamate" src/tensor.c tensor.h &&
    "$tools/amalgamate" --on src/tensor.c src/tensor_nn.c tensor_nn.h && echo "$rows"
