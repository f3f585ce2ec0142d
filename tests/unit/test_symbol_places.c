/* Places from which a file comes without being listed: symbol servers that have it, folders with
 * the layout of one, and the system's own folders. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "file_server.h"
#include "symbol/symbol_store.h"
#include "test.h"

#define APP "Native_x64_VS2022_EnabledExplicitly"
#define SMALL "native_x64_vs2022_enabledexplicitly"
#define APP_ID "3F1874FD0B8040EA9EAABAFD6A98BF732" /* of its PDB */
#define CODE_ID "62F14F628000"
#define PLACE "g16-age-trap/" APP
#define OTHER_PDB "g16-age-trap/Native_x64_VS2022_DisabledExplicitly.pdb"
#define CABINET_ID "34060D222DBB44E5AA72243CE8326C2F2" /* of basic32.pdb */
#define RULES "MODULE windows x86_64 " APP_ID " " APP ".pdb\nFUNC 1000 100 0 of_a_text\n"

static struct module module_of(const char *name, const char *debug_id, const char *code_id)
{
    struct module module = {.name = name, .unloaded_at_ns = MODULE_STILL_LOADED};
    (void)snprintf(module.debug_id, sizeof module.debug_id, "%s", debug_id);
    (void)snprintf(module.code_id, sizeof module.code_id, "%s", code_id);
    return module;
}

static const char *in_scratch(const char *name)
{
    static char paths[8][700];
    static unsigned next;
    char *path = paths[next++ % COUNT_OF(paths)];
    (void)snprintf(path, sizeof paths[0], "%s/%s", test_scratch(), name);
    return path;
}

static void make_folder_of(const char *path)
{
    struct fault fault = FAULT_INIT;
    char folder[700];
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
}

static void place(const char *fixture, const char *path)
{
    struct fault fault = FAULT_INIT;
    make_folder_of(path);
    REQUIRE(file_copy(test_fixture(fixture), path, &fault) == ERR_NONE);
}

static void place_text(const char *text, const char *path)
{
    make_folder_of(path);
    test_write(path, text, strlen(text));
}

static struct symbol_store *open_store(struct symbol_store_options options, const char *root)
{
    const char *roots[] = {root};
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    options.roots = roots;
    options.root_count = root != NULL;
    options.cache = "none";
    const enum status opened = symbol_store_open(&options, &store, &fault);
    if (opened == ERR_UNSUPPORTED)
        SKIP("libcurl");
    REQUIRE(opened == ERR_NONE);
    return store;
}

/* The frame at an offset which is code in all of these files. */
static struct frame resolve(struct symbol_store *store, const struct module *module)
{
    static struct arena keep;
    struct frame in = {.module = module, .module_name = module->name, .offset = 0x1040};
    const struct stack stack = {.frames = &in, .frame_count = 1};
    struct stack out;
    struct fault fault = FAULT_INIT;
    arena_free(&keep);
    arena_init(&keep, 0);
    REQUIRE(symbol_resolve_stack(store, &stack, &keep, &out, &fault) == ERR_NONE);
    REQUIRE(out.frame_count >= 1);
    return out.frames[out.frame_count - 1];
}

/* ---- servers -------------------------------------------------------------------------- */

static const struct {
    const char *name, *module, *debug_id, *code_id;
    struct {
        const char *key, *fixture, *text; /* a file, or a text */
    } has[2];
    enum symbols_from symbols;
    enum frame_note note; /* of a frame without a function */
    const char *kept;     /* the file in the cache; NULL: none */
    const char *as;       /* a fixture with the same bytes; NULL: the first file that it has */
} offers[] = {
    {"a PDB",
     APP ".exe",
     APP_ID,
     "",
     {{APP ".pdb/" APP_ID "/" APP ".pdb", PLACE ".pdb", NULL}},
     SYMBOLS_PDB,
     NOTE_NONE,
     APP ".pdb/" APP_ID "/" APP ".pdb",
     NULL},
    {"a PDB in a cabinet, which is kept unpacked",
     "basic32.dll",
     CABINET_ID,
     "",
     {{"basic32.pdb/" CABINET_ID "/basic32.pd_", "g02-basic32-x86/basic32.pd_", NULL}},
     SYMBOLS_PDB,
     NOTE_NONE,
     "basic32.pdb/" CABINET_ID "/basic32.pdb",
     "g02-basic32-x86/basic32.pdb"},
    {"an image, and the PDB that it names",
     APP ".exe",
     "",
     CODE_ID,
     {{APP ".exe/" CODE_ID "/" APP ".exe", PLACE ".exe", NULL},
      {"BinskimRepro.pdb/" APP_ID "/BinskimRepro.pdb", PLACE ".pdb", NULL}},
     SYMBOLS_PDB,
     NOTE_NONE,
     APP ".exe/" CODE_ID "/" APP ".exe",
     NULL},
    {"a Breakpad file",
     APP ".exe",
     APP_ID,
     "",
     {{APP ".pdb/" APP_ID "/" APP ".sym", NULL, RULES}},
     SYMBOLS_BREAKPAD,
     NOTE_NONE,
     APP ".pdb/" APP_ID "/" APP ".sym",
     NULL},
    {"the PDB of another build",
     APP ".exe",
     APP_ID,
     "",
     {{APP ".pdb/" APP_ID "/" APP ".pdb", OTHER_PDB, NULL}},
     SYMBOLS_NONE,
     NOTE_SERVER_WRONG_FILE,
     NULL,
     NULL},
    {"a text that is no PDB",
     APP ".exe",
     APP_ID,
     "",
     {{APP ".pdb/" APP_ID "/" APP ".pdb", NULL, "<html>"}},
     SYMBOLS_NONE,
     NOTE_SERVER_WRONG_FILE,
     NULL,
     NULL},
    {"nothing",
     APP ".exe",
     APP_ID,
     "",
     {{NULL, NULL, NULL}},
     SYMBOLS_NONE,
     NOTE_NO_SYMBOL_FILE,
     NULL,
     NULL},
};

static void check_kept(const char *cache, size_t i)
{
    const char *fixture = offers[i].as != NULL ? offers[i].as : offers[i].has[0].fixture;
    char path[900];
    (void)snprintf(path, sizeof path, "%s/%s", cache, offers[i].kept);
    if (!CHECK(path_is_file(path)) || fixture == NULL)
        return;
    size_t bytes, want_bytes;
    const uint8_t *data = test_read(path, &bytes);
    const uint8_t *want = test_read(test_fixture(fixture), &want_bytes);
    if (CHECK_EQ(bytes, want_bytes))
        CHECK(memcmp(data, want, bytes) == 0);
}

TEST(what_a_server_has_names_a_module)
{
    for (size_t i = 0; i < COUNT_OF(offers); i++) {
        static const struct file_route none[] = {{NULL, NULL}};
        const struct module module =
            module_of(offers[i].module, offers[i].debug_id, offers[i].code_id);
        char folder[64], cache[700], path[900];
        (void)snprintf(folder, sizeof folder, "server%zu", i);
        for (size_t k = 0; k < COUNT_OF(offers[i].has) && offers[i].has[k].key != NULL; k++) {
            char file[300];
            (void)snprintf(file, sizeof file, "%s/%s", folder, offers[i].has[k].key);
            if (offers[i].has[k].fixture != NULL)
                place(offers[i].has[k].fixture, in_scratch(file));
            else
                place_text(offers[i].has[k].text, in_scratch(file));
        }
        struct file_server server = {.routes = none, .folder = in_scratch(folder)};
        (void)snprintf(cache, sizeof cache, "%s/cache%zu", test_scratch(), i);
        test_row(offers[i].name);
        file_serve(&server);
        (void)snprintf(path, sizeof path, "srv*%s*%s", cache, server.url);
        for (int again = 0; again < 2; again++) { /* the second time the server is gone */
            const struct symbol_store_options options = {.fetch.offline = again == 1};
            struct symbol_store *store = open_store(options, path);
            const struct frame frame = resolve(store, &module);
            if (again == 0 || offers[i].symbols != SYMBOLS_NONE) {
                CHECK_STR(symbols_from_name(frame.symbols), symbols_from_name(offers[i].symbols));
                CHECK_EQ(frame.function != NULL, offers[i].symbols != SYMBOLS_NONE);
                if (frame.function == NULL)
                    CHECK_EQ(frame.note, offers[i].note);
                else
                    CHECK_EQ(frame.identity, IDENTITY_CHECKED);
            } else {
                CHECK_EQ(frame.note, NOTE_OFFLINE);
            }
            symbol_store_close(store);
            if (again == 0)
                (void)file_serve_end(&server);
        }
        if (offers[i].kept != NULL)
            check_kept(cache, i);
    }
}

/* ---- folders with the layout of a server ----------------------------------------------- */

static void take_text(void *context, const struct fetch_event *event)
{
    if (event->kind == FETCH_EVENT_FAULT)
        (void)snprintf(context, 64, "%s", event->text);
}

/* Microsoft's "Using SymStore": a file.ptr beside the missing file has "PATH:" and its place, or
 * "MSG:" and why there is none. */
TEST(pointers_of_a_folder_lead_to_the_file)
{
    static const struct {
        const char *name, *prefix, *target, *rest; /* TARGET: below the scratch folder */
        bool found;
        const char *said;
    } rows[] = {
        {"a whole path", "PATH:", "moved.pdb", "", true, ""},
        {"the end of a line", "PATH:", "moved.pdb", "\r\nmore", true, ""},
        {"beside the pointer", "PATH:near.pdb", NULL, "", true, ""},
        {"a file that is not there", "PATH:", "gone.pdb", "", false, ""},
        {"no path", "PATH:", NULL, "", false, ""},
        {"another word", "path:", "moved.pdb", "", false, ""},
        {"a message", "MSG:deleted in 2020", NULL, "\r\n", false, "deleted in 2020"},
    };
    const char *root = in_scratch("root");
    char folder[800], pointer[900], near[900], text[900];
    (void)snprintf(folder, sizeof folder, "%s/" APP ".pdb/" APP_ID, root);
    (void)snprintf(pointer, sizeof pointer, "%s/file.ptr", folder);
    (void)snprintf(near, sizeof near, "%s/near.pdb", folder);
    place(PLACE ".pdb", in_scratch("moved.pdb"));
    place(PLACE ".pdb", near);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module module = module_of(APP ".exe", APP_ID, "");
        char said[64] = "";
        test_row(rows[i].name);
        (void)snprintf(text, sizeof text, "%s%s%s", rows[i].prefix,
                       rows[i].target != NULL ? in_scratch(rows[i].target) : "", rows[i].rest);
        test_write(pointer, text, strlen(text));
        const struct symbol_store_options options = {
            .fetch = {.event = take_text, .context = said}};
        char path[900];
        (void)snprintf(path, sizeof path, "srv*%s", root);
        struct symbol_store *store = open_store(options, path);
        const struct frame frame = resolve(store, &module);
        CHECK_EQ(frame.function != NULL, rows[i].found);
        CHECK_STR(said, rows[i].said);
        if (!rows[i].found)
            CHECK_EQ(frame.note, said[0] != '\0' ? NOTE_STORE_MESSAGE : NOTE_NO_SYMBOL_FILE);
        symbol_store_close(store);
    }
}

/* ---- the system's own folders ---------------------------------------------------------- */

TEST(images_of_the_system_are_found_by_name_and_identity)
{
    static const struct {
        const char *name, *file, *variable, *value; /* FILE: below the folder of VARIABLE */
        const char *module, *debug_id, *code_id;
        bool system, found;
    } rows[] = {
        {"of Windows", "System32/App.exe", "SystemRoot", "", "App.exe", "", CODE_ID, true, true},
        {"of 32 bits", "SysWOW64/App.exe", "SystemRoot", "", "App.exe", "", CODE_ID, true, true},
        {"of Wine", "drive_c/windows/system32/App.exe", "WINEPREFIX", "", "App.exe", "", CODE_ID,
         true, true},
        {"of Wine, of 32 bits", "drive_c/windows/syswow64/App.exe", "WINEPREFIX", "", "App.exe", "",
         CODE_ID, true, true},
        {"in lower case", "System32/app.exe", "SystemRoot", "", "APP.Exe", "", CODE_ID, true, true},
        {"in upper case", "System32/APP.EXE", "SystemRoot", "", "App.exe", "", CODE_ID, true,
         false},
        {"by its PDB", "System32/App.exe", "SystemRoot", "", "App.exe", APP_ID, "", true, true},
        {"of another PDB", "System32/App.exe", "SystemRoot", "", "App.exe",
         "3F1874FD0B8040EA9EAABAFD6A98BF733", "", true, false},
        {"of another build", "System32/App.exe", "SystemRoot", "", "App.exe", "", "62F14F629000",
         true, false},
        {"without an identity", "System32/App.exe", "SystemRoot", "", "App.exe", "", "", true,
         false},
        {"a path", "System32/x/App.exe", "SystemRoot", "", "x/App.exe", "", CODE_ID, true, false},
        {"switched off", "System32/App.exe", "SystemRoot", "0", "App.exe", "", CODE_ID, true,
         false},
        {"switched on", "System32/App.exe", "SystemRoot", "1", "App.exe", "", CODE_ID, true, true},
        {"not asked for", "System32/App.exe", "SystemRoot", "", "App.exe", "", CODE_ID, false,
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module module = module_of(rows[i].module, rows[i].debug_id, rows[i].code_id);
        const struct module longer = module_of("AN_IMAGE_WITH_A_LONGER_NAME.EXE", "", CODE_ID);
        const struct symbol_store_options options = {.system = rows[i].system};
        char folder[64], file[128];
        (void)snprintf(folder, sizeof folder, "system%zu", i);
        (void)snprintf(file, sizeof file, "%s/%s", folder, rows[i].file);
        test_row(rows[i].name);
        place(PLACE ".exe", in_scratch(file));
        test_environment("SystemRoot", NULL);
        test_environment("WINEPREFIX", in_scratch("no_prefix"));
        test_environment("TWINSTACK_SYSTEM_SYMBOLS", rows[i].value);
        test_environment(rows[i].variable, in_scratch(folder));
        struct symbol_store *store = open_store(options, NULL);
        CHECK(symbol_store_image(store, &longer) == NULL);
        CHECK_EQ(symbol_store_image(store, &module) != NULL, rows[i].found);
        symbol_store_close(store);
    }
}

TEST(symbol_paths_of_the_environment_are_searched)
{
    static const struct {
        const char *name, *variable, *value; /* below the scratch folder */
        bool found;
        enum status status;
    } rows[] = {
        {"ours", "TWINSTACK_SYMBOLS", "symbols", true, ERR_NONE},
        {"Microsoft's", "_NT_SYMBOL_PATH", "symbols", true, ERR_NONE},
        {"neither", "TWINSTACK_OTHER", "symbols", false, ERR_NONE},
    };
    place(PLACE ".pdb", in_scratch("symbols/" APP ".pdb/" APP_ID "/" APP ".pdb"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module module = module_of(APP ".exe", APP_ID, "");
        const struct symbol_store_options options = {.system = true};
        test_row(rows[i].name);
        test_environment("TWINSTACK_SYSTEM_SYMBOLS", NULL);
        test_environment("TWINSTACK_SYMBOLS", NULL);
        test_environment("_NT_SYMBOL_PATH", NULL);
        test_environment(rows[i].variable, in_scratch(rows[i].value));
        struct symbol_store *store = open_store(options, NULL);
        CHECK_EQ(resolve(store, &module).function != NULL, rows[i].found);
        CHECK_EQ(symbol_store_path_fault(store)->code, rows[i].status);
        symbol_store_close(store);
    }
}
