/* Which files are asked of symbol servers for a module, by a server that has none. Keys:
 * Microsoft's "Using SymStore" and the Simple Symbol Query Protocol
 * (https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md); debuginfod(8).
 */
#include <stdio.h>
#include <string.h>

#include "file_server.h"
#include "symbol/symbol_store.h"
#include "test.h"

#define GUID "3249D99D0C4049318610F4E4FB0B6936"
#define SMALL "3249d99d0c4049318610f4e4fb0b6936"
#define BUILD_ID "9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012"

static const struct {
    const char *name, *server, *module, *pdb_name, *build_id, *debug_id, *code_id;
    /* Besides "index2.txt", by which a server says that its folders have two tiers; in any order:
     * several are asked for at once. */
    const char *asked[16];
} rows[] = {
    {"an image of Windows and its PDB",
     "srv",
     "App.exe",
     "My.pdb",
     NULL,
     GUID "a",
     "5AB380779000",
     {"My.pdb/" GUID "a/My.pdb", "My.pdb/" GUID "a/My.pd_", "My.pdb/" GUID "a/file.ptr",
      "my.pdb/" SMALL "a/my.pdb", "my.pdb/" SMALL "FFFFFFFF/my.pdb",
      "My.pdb/" SMALL "FFFFFFFF/My.pdb", "App.exe/5AB380779000/App.exe",
      "App.exe/5AB380779000/App.ex_", "App.exe/5AB380779000/file.ptr",
      "app.exe/5AB380779000/app.exe"}},
    {"a name in lower case is asked for once",
     "srv",
     "app.dll",
     "app.pdb",
     NULL,
     "",
     "5AB380779000",
     {"app.dll/5AB380779000/app.dll", "app.dll/5AB380779000/app.dl_",
      "app.dll/5AB380779000/file.ptr"}},
    {"ELF by its build id",
     "srv",
     "libx.so",
     NULL,
     BUILD_ID,
     "",
     "",
     {"_.debug/elf-buildid-sym-" BUILD_ID "/_.debug", "libx.so/elf-buildid-" BUILD_ID "/libx.so"}},
    {"ELF of debuginfod",
     "debuginfod",
     "libx.so",
     NULL,
     BUILD_ID,
     "",
     "",
     {"buildid/" BUILD_ID "/debuginfo", "buildid/" BUILD_ID "/executable"}},
    {"debuginfod has nothing of Windows",
     "debuginfod",
     "App.exe",
     "My.pdb",
     NULL,
     GUID "a",
     "5AB380779000",
     {NULL}},
    {"Mach-O by its UUID",
     "srv",
     "Foo",
     NULL,
     NULL,
     GUID "0",
     "",
     {"_.dwarf/mach-uuid-sym-" SMALL "/_.dwarf", "Foo/mach-uuid-" SMALL "/Foo"}},
    {"an extension of Windows outweighs age 0",
     "srv",
     "foo.sys",
     "foo.pdb",
     NULL,
     GUID "0",
     "",
     {"foo.pdb/" GUID "0/foo.pdb", "foo.pdb/" GUID "0/foo.pd_", "foo.pdb/" GUID "0/file.ptr",
      "foo.pdb/" SMALL "0/foo.pdb", "foo.pdb/" SMALL "FFFFFFFF/foo.pdb"}},
    {"no identity", "srv", "app.exe", NULL, NULL, "", "", {NULL}},
};

static struct symbol_store *open_store(const char *kind, const struct file_server *server)
{
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    char path[900];
    (void)snprintf(path, sizeof path, "%s*%s/cache*%s", kind, test_scratch(), server->url);
    const char *roots[] = {path};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1};
    const enum status opened = symbol_store_open(&options, &store, &fault);
    if (opened == ERR_UNSUPPORTED)
        SKIP("libcurl");
    REQUIRE(opened == ERR_NONE);
    return store;
}

static void count_missing(void *context, const struct fetch_file *file)
{
    *(uint32_t *)context += file->result == FETCH_ABSENT;
}

#define TIERS "index2.txt "

TEST(each_kind_of_module_is_asked_for_by_its_keys)
{
    static const struct file_route none[] = {{NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct module module = {.name = rows[i].module,
                                .pdb_name = rows[i].pdb_name,
                                .build_id = rows[i].build_id,
                                .unloaded_at_ns = MODULE_STILL_LOADED};
        const struct module *const modules[] = {&module};
        struct fault fault = FAULT_INIT;
        struct file_server server = {.routes = none};
        uint32_t missing = 0, want = 0;
        (void)snprintf(module.debug_id, sizeof module.debug_id, "%s", rows[i].debug_id);
        (void)snprintf(module.code_id, sizeof module.code_id, "%s", rows[i].code_id);
        test_row(rows[i].name);
        file_serve(&server);
        struct symbol_store *store = open_store(rows[i].server, &server);
        CHECK_EQ(symbol_store_fetch(store, modules, 1, count_missing, &missing, &fault), ERR_NONE);
        symbol_store_close(store);
        const char *asked = file_serve_end(&server);
        const bool has_tiers = rows[i].asked[0] != NULL && strcmp(rows[i].server, "srv") == 0;
        size_t bytes = 0;
        for (const char *at = asked; has_tiers && (at = strstr(at, TIERS)) != NULL;
             at += strlen(TIERS))
            bytes += strlen(TIERS); /* two keys at once may both ask for it */
        for (; want < COUNT_OF(rows[i].asked) && rows[i].asked[want] != NULL; want++) {
            char word[300];
            (void)snprintf(word, sizeof word, "%s ", rows[i].asked[want]);
            CHECK_HAS(asked, word);
            bytes += strlen(word);
        }
        if (!CHECK_EQ(strlen(asked), bytes)) /* and nothing else */
            FAIL("%s", asked);
        CHECK(want == 0 || missing > 0);
    }
}

TEST(without_a_server_nothing_can_be_asked_for)
{
    const struct symbol_store_options options = {.root_count = 0};
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    CHECK_EQ(symbol_store_fetch(store, NULL, 0, NULL, NULL, &fault), ERR_ABSENT);
    symbol_store_close(store);
}
