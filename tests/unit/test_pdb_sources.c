/* Where a PDB made here says that its sources are: source link, and sources that are embedded. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "conduct/analysis.h"
#include "made_world.h"
#include "symbol/symbol_store.h"
#include "test.h"

/* A case whose frame names FILE keeps the address WANT; NULL: none. */
static void check_kept(struct symbol_store *store, const struct module *module, const char *file,
                       const char *want)
{
    const struct analysis analysis = {.symbols = store};
    const struct crash_case crash = {0};
    struct frame frame = {.symbols = SYMBOLS_PDB, .module = module, .file = file, .line = 1};
    struct stack stack = {.frames = &frame, .frame_count = 1};
    struct engine_claim claim = {.stacks = &stack, .stack_count = 1};
    struct run_case c = {.claims = &claim, .claim_count = 1};
    struct fault fault = FAULT_INIT;
    struct arena keep;

    arena_init(&keep, 0);
    REQUIRE(analysis_keep_files(&analysis, &crash, &keep, &c, &fault) == ERR_NONE);
    CHECK_EQ(c.artifact_count, want != NULL ? 1 : 0);
    if (want != NULL && c.artifact_count == 1) {
        CHECK_EQ(c.artifacts[0].role, ARTIFACT_SOURCE_LINK);
        CHECK_STR(arena_text(&keep, c.artifacts[0].data, c.artifacts[0].bytes), want);
    }
    arena_free(&keep);
}

TEST(a_native_pdb_says_where_its_sources_are)
{
    static const char one[] = "{\"documents\":{\"c:\\\\src\\\\*\":\"https://host/one/*\"}}";
    static const char two[] = "{\"documents\":{\"d:\\\\src\\\\*\":\"https://host/two/*\"}}";
    static const struct {
        const char *name, *stream[2], *json[2], *file, *want;
    } rows[] = {
        {"one document", {"sourcelink"}, {one}, "c:\\src\\a.c", "https://host/one/a.c"},
        {"of another folder", {"sourcelink"}, {one}, "d:\\src\\a.c", NULL},
        {"two documents",
         {"sourcelink$1", "sourcelink$2"},
         {one, two},
         "d:\\src\\sub\\a.c",
         "https://host/two/sub/a.c"},
        {"a gap ends them", {"sourcelink$1", "sourcelink$3"}, {one, two}, "d:\\src\\a.c", NULL},
        {"no address of the web",
         {"sourcelink"},
         {"{\"documents\":{\"*\":\"file:///*\"}}"},
         "a.c",
         NULL},
        {"no JSON", {"sourcelink"}, {"{\"documents\":{"}, "a.c", NULL},
        {"none", {NULL}, {NULL}, "c:\\src\\a.c", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        struct fault fault = FAULT_INIT;
        struct symbol_store *store = NULL;
        struct symbol_source found;
        test_row(rows[i].name);
        make_pdb_start(&m);
        for (int k = 0; k < 2; k++) {
            m.source_links[k].stream = rows[i].stream[k];
            m.source_links[k].json = rows[i].json[k];
        }
        make_contribution(&m, 0, 0x10, 0x20);
        made_open(&w, &m);
        const char *roots[] = {path_join(&w.keep, test_scratch(), "made.pdb")};
        const struct symbol_store_options options = {.roots = roots, .root_count = 1};
        REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
        const struct module module = {.name = "made.exe", .pdb_name = "made.pdb"};
        symbol_source(symbol_store_module(store, &module), rows[i].file, &w.keep, &found);
        CHECK(found.text == NULL);
        CHECK_EQ(found.url == NULL, rows[i].want == NULL);
        if (found.url != NULL && rows[i].want != NULL)
            CHECK_STR(found.url, rows[i].want);
        check_kept(store, &module, rows[i].file, rows[i].want);
        symbol_store_close(store);
        made_close(&w);
    }
}

/* The text that was built counts, not what the file on disk says by now. */
TEST(an_embedded_source_is_kept_and_not_the_file)
{
    static const char name[] = "victims/managed/scenarios.cs";
    struct fault fault = FAULT_INIT;
    struct symbol_store *store = NULL;
    struct arena keep;
    size_t bytes = 0;
    const uint8_t *built = test_read(test_source(name), &bytes);
    arena_init(&keep, 0);
    const char *folder = path_join(&keep, test_scratch(), "victims/managed");
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    test_write(path_join(&keep, folder, "scenarios.cs"), "changed since", 13);
    const char *roots[] = {test_source("victims/managed")};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1};
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    const struct module module = {.name = "managed.dll", .pdb_name = "managed.pdb"};
    struct frame frames[] = {{.symbols = SYMBOLS_PPDB,
                              .module = &module,
                              .file = name,
                              .line = 93,
                              .frame_class = CLASS_OWN}};
    struct stack stack = {.frames = frames, .frame_count = 1};
    struct engine_claim claim = {.stacks = &stack, .stack_count = 1};
    const struct analysis analysis = {.symbols = store, .source_root = test_scratch()};
    for (int row = 0; row < 2; row++) { /* with the PDB's word, and without */
        struct run_case c = {.claims = &claim, .claim_count = 1};
        test_row(row == 0 ? "embedded" : "a native PDB has no text, so the file is kept");
        frames[0].symbols = row == 0 ? SYMBOLS_PPDB : SYMBOLS_NONE;
        REQUIRE(analysis_keep_files(&analysis, &(struct crash_case){0}, &keep, &c, &fault) ==
                ERR_NONE);
        REQUIRE(c.artifact_count == 1);
        CHECK_EQ(c.artifacts[0].role, ARTIFACT_SOURCE);
        CHECK_STR(c.artifacts[0].name, name);
        CHECK_STR(arena_text(&keep, c.artifacts[0].data, c.artifacts[0].bytes),
                  row == 0 ? arena_text(&keep, (const char *)built, bytes) : "changed since");
    }
    symbol_store_close(store);
    arena_free(&keep);
}
