/* tensor_core.c - the library in Lua 5.4. No operator is named here: Lua reaches all rows by name.
 * tensor.lua, its only caller, says which row each sign of Lua calls; learn.lua is a program. Here:
 *
 *   cc -O2 -fPIC -shared -I../.. -I/usr/include/lua5.4 tensor_core.c -o tensor_core.so -lm \
 *       -pthread -Wl,-z,nodelete && lua5.4 learn.lua     (its threads outlive a state of Lua) */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"
#include <lauxlib.h>
#include <string.h>
enum { VALUES = 32, RESULTS = 64 };
/* Raises an error of Lua, that of the library without a message, at the line of the script. */
static int raise_error(lua_State *L, const char *message) {
    const char *place = "";
    tn_error_info e;
    for (int up = 1; up < 20 && (!*place || strstr(place, "tensor.lua:")); up++)
        luaL_where(L, up), place = lua_tostring(L, -1);
    if (!message) message = tn_error_take(&e) ? e.message : "failed";
    lua_pushfstring(L, "%s%s", place, message);
    return lua_error(L);
}
#define CHECK(ok) (void)((ok) || raise_error(L, NULL))
/* An object of Lua is a pointer that owns what the library made; Lua's collector frees it. */
static void *object(lua_State *L, int at, const char *type) {
    void **it = luaL_testudata(L, at, type);
    if (it) return *it;
    return raise_error(L, lua_pushfstring(L, "no %s, but a %s", type, luaL_typename(L, at))), NULL;
}
#define TENSOR(at) ((tn_tensor *)object(L, at, "tensor"))
#define MODULE(at) ((tn_module *)object(L, at, "module"))
static int push(lua_State *L, void *made, const char *type) {
    CHECK(made != NULL);
    *(void **)lua_newuserdatauv(L, sizeof made, 0) = made;
    luaL_setmetatable(L, type);
    return 1;
}
/* Results are new, or the script's own: Lua becomes one more owner of each. */
static int push_results(lua_State *L, int64_t scope, bool ok, tn_tensor *const *out, int n) {
    for (int k = 0; ok && k < n; k++) tn_hold(out[k]);
    tn_scope_end(scope);
    CHECK(ok);
    for (int k = 0; k < n; k++) {
        push(L, out[k], "tensor");
        lua_gc(L, LUA_GCSTEP, 1 + (int)(tn_storage_bytes(out[k]) >> 10)); /* memory unseen by Lua */
    }
    return n;
}

/* A list of tensors, integers or floats, as its first is; its memory stays on Lua's stack. */
static void read_list(lua_State *L, int at, tn_value *v) {
    const int n = (int)lua_rawlen(L, at), first = lua_rawgeti(L, at, 1);
    const bool whole = n == 0 || lua_isinteger(L, -1);
    void *list = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof(int64_t), 0);
    v->type = first == LUA_TUSERDATA ? TN_T_TENSORS : whole ? TN_T_INTS : TN_T_FLOATS;
    v->as.ints = tn_ints_of(list, n); /* every list is an address and a count */
    for (int i = 0; i < n; i++, lua_pop(L, 1)) {
        const int type = lua_rawgeti(L, at, i + 1);
        if (type != first || whole != lua_isinteger(L, -1)) raise_error(L, "a list of two types");
        if (v->type == TN_T_TENSORS) ((tn_tensor **)list)[i] = TENSOR(-1);
        if (v->type == TN_T_INTS) ((int64_t *)list)[i] = lua_tointeger(L, -1);
        if (v->type == TN_T_FLOATS) ((double *)list)[i] = lua_tonumber(L, -1);
    }
}
static tn_value read_value(lua_State *L, int at, const char *name) {
    tn_value v = {.name = name};
    const int type = lua_type(L, at), whole = lua_isinteger(L, at);
    if (type == LUA_TBOOLEAN) v.type = TN_T_BOOL, v.as.boolean = lua_toboolean(L, at);
    if (type == LUA_TNUMBER && whole) v.type = TN_T_INT, v.as.integer = lua_tointeger(L, at);
    if (type == LUA_TNUMBER && !whole) v.type = TN_T_FLOAT, v.as.real = lua_tonumber(L, at);
    if (type == LUA_TSTRING) v.type = TN_T_STRING, v.as.string = lua_tostring(L, at);
    if (type == LUA_TSTRING && tn_dtype_named(v.as.string))
        v.type = TN_T_DTYPE, v.as.dtype = tn_dtype_named(v.as.string);
    if (type == LUA_TTABLE) read_list(L, at, &v);
    if (type > LUA_TTABLE) v.type = TN_T_TENSOR, v.as.tensor = TENSOR(at);
    return v; /* nil is None */
}
/* The arguments from the second on; a table without a list, at the end, is keywords. */
static int read_values(lua_State *L, tn_value *v) {
    int n = 0, last = lua_gettop(L), names = lua_istable(L, last) && !lua_rawlen(L, last);
    luaL_checkstack(L, 4 * VALUES, NULL);
    for (int at = 2; at <= last - names && n < VALUES; at++) v[n++] = read_value(L, at, NULL);
    for (lua_pushnil(L); names && n < VALUES && lua_next(L, last); n++) {
        const int key = lua_gettop(L) - 1; /* stays on the stack, with its value */
        v[n] = read_value(L, key + 1, luaL_checkstring(L, key));
        lua_pushvalue(L, key);
    }
    if (names && n == last - 2) v[n++] = read_value(L, last, NULL); /* {}: an empty list */
    return n < VALUES ? n : raise_error(L, "too many values");
}
static int call_values(lua_State *L) { /* a row's name or a module, VALUES.. */
    tn_module **m = luaL_testudata(L, 1, "module");
    tn_tensor *out[RESULTS];
    tn_value v[VALUES];
    int n = read_values(L, v), count = 1;
    if (m && (*m)->gen && (*m)->gen->call) count = (*m)->gen->call->nresults;
    const int64_t scope = tn_scope_begin();
    const bool ok = m ? tn_module_call_values(NULL, 0, *m, v, n, out, count)
                      : tn_call_named(NULL, 0, lua_tostring(L, 1), v, n, out, RESULTS, &count);
    return push_results(L, scope, ok, out, count);
}
static int make_optimizer(lua_State *L) { /* "Adam(", PARAMETERS, VALUES.. */
    const char *name = luaL_checkstring(L, 1);
    const tn_orow *row = NULL;
    tn_value v[VALUES];
    const int n = read_values(L, v);
    for (int i = 0; (row = tn_orow_at(i)) && strncmp(row->schema, name, strlen(name));) i++;
    if (!row) return raise_error(L, "no such optimizer");
    void *args = lua_newuserdatauv(L, row->gen->args_size, 0);
    CHECK(tn_bind(NULL, 0, row->name, row->gen, v, n, true, args));
    return push(L, tn_optimizer_make(NULL, 0, row, args), "optimizer");
}

/* clang-format off */
#define FUNCTIONS(X) /* name, what it does with the values on L, the number of its results */ \
    X(call, , call_values(L)) \
    X(optimizer, , make_optimizer(L)) \
    X(module, tn_value v[VALUES]; const int n = read_values(L, v); \
        push(L, tn_module_named(luaL_checkstring(L, 1), v, n), "module"), 1) \
    X(sequential, push(L, tn_nn_sequential({(tn_module *[1]){NULL}, 0}), "module"), 1) \
    X(append, CHECK(tn_module_append(MODULE(1), tn_module_hold(MODULE(2)))), 0) \
    X(parameters, tn_tensors p = tn_parameters(MODULE(1)); luaL_checkstack(L, (int)p.n, NULL), \
        push_results(L, tn_scope_begin(), p.n >= 0, p.at, (int)p.n)) \
    X(train, tn_module_train(MODULE(1), lua_toboolean(L, 2)), 0) \
    X(save, CHECK(tn_module_save_file(MODULE(1), luaL_checkstring(L, 2))), 0) \
    X(load, CHECK(tn_module_load_file(MODULE(1), luaL_checkstring(L, 2))), 0) \
    X(step, CHECK(tn_optimizer_step(object(L, 1, "optimizer"))), 0) \
    X(zero_grad, tn_optimizer_zero_grad(object(L, 1, "optimizer")), 0) \
    X(backward, CHECK(tn_backward(TENSOR(1))), 0) \
    X(requires_grad, CHECK(tn_requires_grad(TENSOR(1)) != NULL), 0) \
    X(grad, tn_tensor *g = tn_grad_of(TENSOR(1)), push_results(L, tn_scope_begin(), 1, &g, !!g)) \
    X(item, lua_pushnumber(L, tn_item(TENSOR(1))); CHECK(tn_ok()), 1) \
    X(shape, const tn_ints s = tn_shape(TENSOR(1)); \
        for (int i = 0; i < s.n; i++) lua_pushinteger(L, s.at[i]), (int)s.n) \
    X(text, tn_module **m = luaL_testudata(L, 1, "module"); \
        char *text = m ? tn_module_text(*m) : tn_to_text(TENSOR(1), NULL); CHECK(text != NULL); \
        lua_pushstring(L, text); tn_alloc_free(text, strlen(text) + 1), 1) \
    X(load_idx, push(L, tn_load_idx(luaL_checkstring(L, 1)), "tensor"), 1) \
    X(manual_seed, tn_manual_seed((uint64_t)luaL_checkinteger(L, 1)), 0) \
    X(grad_mode, lua_pushboolean(L, tn_set_grad_mode(lua_toboolean(L, 1))), 1) \
    X(free_tensor, tn_free(TENSOR(1)), 0) \
    X(free_module, tn_module_free(MODULE(1)), 0) \
    X(free_optimizer, tn_optimizer_free(object(L, 1, "optimizer")), 0) \
    X(type, luaL_newmetatable(L, luaL_checkstring(L, 1)), 1)
#define DEFINE(name, does, results) static int core_##name(lua_State *L) { does; return results; }
#define ENTRY(name, ...) {#name, core_##name},
FUNCTIONS(DEFINE)
int luaopen_tensor_core(lua_State *L) {
    static const luaL_Reg functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
    return luaL_newlib(L, functions), 1;
}
