#!/bin/sh
# wide.sh N FOLDER - a copy of this tree in FOLDER in which each operator stands N times: beside abs there are abs_v2 to abs_vN, with
# the same functions, kernels of their own where the row is an expression, and oracle data of their own. What the lanes cost there is what
# they will cost with N times as many rows: `make -C FOLDER test-quick`, then `sh tests/cost.sh build FOLDER/build`.
cd "$(dirname "$0")/.." || exit 1
n=$1 to=$2
[ "$n" -ge 1 ] && [ -n "$to" ] || { sed -n '2,4s/^# //p' tests/wide.sh; exit 2; }
rm -rf "$to"
mkdir -p "$to" || exit 1
git ls-files -c -o --exclude-standard | tar -cf - -T - | tar -xf - -C "$to"
for file in "$to"/src/ops/*/*.c; do
    grep -q '^TN_OPERATOR(' "$file" || continue
    awk -v n="$n" '
        # A row is TN_OPERATOR(name, "name(..., to the parenthesis that closes it; its comment stands before it.
        function flush(k, text) {
            printf "%s", row
            for (k = 2; k <= n; k++) {
                text = comment row
                sub(/^\n*/, "\n", text)
                text = renamed(text, k)
                printf "%s", text
            }
            row = comment = ""
        }
        function renamed(text, k, at, name, schema) {
            at = match(text, /TN_OPERATOR\([ \n]*[a-z0-9_]+,[ \n]*"/)
            name = substr(text, RSTART, RLENGTH)
            sub(/^TN_OPERATOR\([ \n]*/, "", name)
            sub(/,.*/, "", name)
            schema = substr(text, at + RLENGTH)
            sub(/^[a-zA-Z0-9_]*[a-zA-Z0-9]/, "&_v" k, schema)
            gsub("tn_" name "[(]", "tn_" name "_v" k "(", schema) # the example
            gsub("tn_" name "_[(]", "tn_" name "_v" k "_(", schema)
            gsub("tn_" name "_scalar", "tn_" name "_v" k "_scalar", schema)
            return substr(text, 1, at - 1) "TN_OPERATOR(" name "_v" k ", \"" schema
        }
        depth == 0 && /^\/\*/ { comment = "" ; incomment = 1 }
        incomment { comment = comment $0 "\n"; if (/\*\//) incomment = 0 }
        /^TN_OPERATOR\(/ { inrow = 1 }
        inrow {
            row = row $0 "\n"
            line = $0
            gsub(/\\./, "", line); gsub(/"[^"]*"/, "", line)
            depth += gsub(/\(/, "", line) - gsub(/\)/, "", line)
            if (depth == 0) { inrow = 0; flush() }
            next
        }
        { print }' "$file" > "$file.wide" && mv "$file.wide" "$file"
done
sed -n 's/^TN_OPERATOR(\([a-z0-9_]*\)_v\([0-9]*\),.*/\1 \2/p' "$to"/src/ops/*/*.c | while read -r name k; do
    for kind in data grids pairs; do
        file=$to/tests/oracle/$kind/$name
        [ ! -f "$file.txt" ] || cp "$file.txt" "${file}_v$k.txt"
    done
done
