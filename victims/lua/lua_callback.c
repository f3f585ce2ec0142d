/* A crash in a C function that Lua calls from inside table.sort, which a Lua script called.
 *
 * Lua's own frames cannot note themselves, so they are stated here.  Their lines are facts of
 * Lua 5.4.4, whose archive is pinned by its hash (see `run`).  A change of version changes them.
 * LUA_FILES is the folder of its sources as the PDB spells it. */
#include "victims/victim.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const struct {
    const char *function, *file;
    uint32_t line;
} lua_frames[] = {
    /* outermost first: the protected call of the script */
    {"lua_pcallk", LUA_FILES "lapi.c", 1067},
    {"luaD_pcall", LUA_FILES "ldo.c", 926},
    {"luaD_rawrunprotected", LUA_FILES "ldo.c", 144}, /* the line on which LUAI_TRY begins */
    {"f_call", LUA_FILES "lapi.c", 1041},
    {"luaD_callnoyield", LUA_FILES "ldo.c", 627},
    {"ccall", LUA_FILES "ldo.c", 609},
    /* the script calls table.sort */
    {"luaV_execute", LUA_FILES "lvm.c", 1636},
    {"luaD_precall", LUA_FILES "ldo.c", 572},
    {"precallC", LUA_FILES "ldo.c", 506},
    {"sort", LUA_FILES "ltablib.c", 406},
    {"auxsort", LUA_FILES "ltablib.c", 353},
    {"sort_comp", LUA_FILES "ltablib.c", 283},
    {"lua_callk", LUA_FILES "lapi.c", 1023},
    {"luaD_callnoyield", LUA_FILES "ldo.c", 627},
    {"ccall", LUA_FILES "ldo.c", 609},
    /* the comparison, a Lua function, calls us */
    {"luaV_execute", LUA_FILES "lvm.c", 1636},
    {"luaD_precall", LUA_FILES "ldo.c", 572},
    {"precallC", LUA_FILES "ldo.c", 506},
};

enum { LUA_FRAMES = sizeof lua_frames / sizeof lua_frames[0] };

static const char script[] =
    "table.sort({3, 1, 2}, function(a, b) local less = compare(a, b) return less end) return 1";

static void push_lua_frames(void)
{
    for (size_t i = 0; i < LUA_FRAMES; i++)
        TRUTH_PUSH(lua_frames[i].function, lua_frames[i].file, lua_frames[i].line, 0);
}

static int write_result(volatile int *to, int value)
{
    return HERE(*to = value) + 1;
}

static int compare(lua_State *state)
{
    return HERE(write_result(victim_null, (int)lua_tointeger(state, 1))) + 1;
}

SCENARIO(lua_callback, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A callback of a script language crashes: large functions of another program lie "
             "between our own.")
{
    lua_State *state = luaL_newstate();
    if (state == NULL)
        return 1;
    luaL_openlibs(state);
    lua_register(state, "compare", compare);
    if (luaL_loadstring(state, script) != LUA_OK)
        return 1;
    return (TRUTH_SELF, push_lua_frames(),
            TRUTH_VALUE(lua_pcall(state, 0, 1, 0), 1 + (uint32_t)LUA_FRAMES)) +
           1;
}
