/* lua_host.c - lua5.4 with tensor_core inside, so that lua.sh need not compile the library as a
 * shared one, too: lua_host SCRIPT ARGUMENT... */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

int luaopen_tensor_core(lua_State *L);

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    if (!L || argc < 2) return 2;
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_tensor_core);
    lua_setfield(L, -2, "tensor_core");
    lua_newtable(L);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1);
    }
    lua_setglobal(L, "arg");
    const int failed = luaL_dofile(L, argv[1]);
    if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed;
}
