# lua.sh - the library in Lua 5.4; read by run.sh. TN_FULL=1: as a module of lua5.4, as the example says; else inside a program.
[ -e /usr/include/lua5.4/lauxlib.h ] || need none:liblua5.4-dev,lua5.4
lua_include=/usr/include/lua5.4 lua=examples/lua
export LUA_PATH="$lua/?.lua" LUA_CPATH="$out/?.so"
if [ ! -e $lua_include/lauxlib.h ]; then
    echo "no Lua 5.4 (liblua5.4-dev): its binding is left out"
else
    if [ -n "${TN_FULL:-}" ]; then
        $c -I$lua_include -fPIC -shared $lua/tensor_core.c -o "$out/tensor_core.so" -lm -pthread -Wl,-z,nodelete > "$out/lua.said" 2>&1
        host=lua5.4
    else
        sed '/^#define TENSOR_.*IMPLEMENTATION$/d' $lua/tensor_core.c > "$out/src/tensor_core.c"
        $c -I$lua_include "$out/src/tensor_core.c" tests/examples/lua_host.c "$object" -o "$out/lua_host" -llua5.4 -lm -pthread \
            > "$out/lua.said" 2>&1
        host=$out/lua_host
    fi
    check "the binding compiles without a warning" test ! -s "$out/lua.said"
    head -5 "$out/lua.said"
    sed -n 's/^ {"name": "\([^"]*\)".*/\1/p' src/gen/table.json > "$out/rows"
    check "the binding has at most 150 lines" test "$(wc -l < $lua/tensor_core.c)" -le 150
    check "the binding names no operator" sh -c '! grep -oE "\"[a-z_0-9.]+\"|tnp?_[a-z0-9_]+\(" "$1" | sed "s/^tnp*_//" | tr -d "\"(" |
        grep -x -F -f "$2"' names $lua/tensor_core.c "$out/rows"
    check "learn.lua has at most 40 lines" test "$(wc -l < $lua/learn.lua)" -le 40
    check "learn.lua learns" run lua "$host" $lua/learn.lua examples/fashion/digits
    check "learn.lua: it reads more than 330 of 359 digits" below 330 "$(sed -n 's/.*reads \([0-9]*\) of 359$/\1/p' "$log" | tail -1)"
    check "learn.lua: the loss is printed while it learns" test "$(tr '\r' '\n' < "$log" | grep -c '^epoch .*loss')" -gt 600
    check "learn.lua: the loss falls below 0.1" below "$(tr '\r' '\n' < "$log" | sed -n 's/.*loss \([0-9.]*\).*/\1/p' | tail -1)" 0.1
    check "learn.lua names a file that is missing" fails 1 "nowhere/images-idx3-ubyte" "$host" $lua/learn.lua "$out/nowhere"
    run binding "$host" tests/examples/binding.lua "$out"
    check "the binding keeps its promises" grep -q '^[1-9][0-9]* passed, 0 failed$' "$log"
    grep '^FAILED' "$log"
fi
