# rows.sh - sourced by run.sh: rows compared with torch's values and with scalar code, by the parts of tests/ops, in wasm128.
#
# They call the library's inside, so its sources are compiled as one file with what they share visible (TNI_OBJECTS).
ls src/*/*.c src/*/*/*.c | grep -v '^src/py/' | sed 's/.*/#include "&"/' > "$out/inside.c"
. tests/random/sources.sh
list_optimizers "$out"
check "emcc compiles the sources" quiet emcc -std=gnu99 -O1 -msimd128 -DTNI_OBJECTS -I. -c "$out/inside.c" -o "$out/inside.o"
common=$(printf "tests/ops/%s.c " sample msample record digest compositions)
for part in oracle sizes special vectors; do
    check "$part: wasm's" emcc -std=gnu99 -O1 -DTNI_OBJECTS -I"$out" tests/ops/$part.c $common "$out/inside.o" \
        -o "$out/$part.js" $linked
done
rows() { # PART N ARGUMENT...: the part's last line has how many passed
    part=$1 most=$2
    shift 2
    rows=$(sample operator $most) || return
    wasm "$out/$part.js" "$@" $rows > "$out/$part.said" 2>&1
    check "$part" ends "$out/$part.said" '^[1-9][0-9]* passed, 0 failed$'
    echo "$part: $(tail -1 "$out/$part.said")"
}
rows oracle 60 tests/oracle/data
rows sizes 20 depth=0
rows special 20 places=1
rows vectors 60 step=9
