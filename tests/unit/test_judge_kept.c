/* What judges' programs print is kept in the cache: versions, and answers of llvm-symbolizer. Each
 * program here notes its starts. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "engine/judges.h"
#include "symbol/symbol_store.h"
#include "test.h"

static void write_program(const char *path, const char *text)
{
    test_write(path, text, strlen(text));
    REQUIRE(chmod(path, 0755) == 0);
}

/* A program that notes each start and prints VERSION. */
static void make_program(const char *path, const char *version)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "#!/bin/sh\necho >> '%s.starts'\necho 'tool version %s'\n",
                   path, version);
    write_program(path, text);
}

TEST(a_version_is_asked_once_for_each_program)
{
    struct symbol_store *store;
    struct fault fault = FAULT_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    const char *cache = arena_printf(&arena, "%s/cache", test_scratch());
    const char *program = arena_printf(&arena, "%s/tool", test_scratch());
    const char *starts = arena_printf(&arena, "%s.starts", program);
    const struct symbol_store_options options = {.cache = cache};
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    make_program(program, "1");
    for (int i = 0; i < 3; i++)
        CHECK_STR(judge_version(program, store, &arena), "tool version 1");
    CHECK_EQ(path_bytes(starts), 1);
    CHECK_STR(judge_version(program, NULL, &arena), "tool version 1");
    CHECK_EQ(path_bytes(starts), 2);
    make_program(program, "2.0"); /* an update */
    for (int i = 0; i < 3; i++)
        CHECK_STR(judge_version(program, store, &arena), "tool version 2.0");
    CHECK_EQ(path_bytes(starts), 3);
    symbol_store_close(store);
    arena_free(&arena);
}

/* A program in PATH that notes each start that is no `--version`, and names every function NAME. */
static void make_symbolizer(const char *name, int exit_code)
{
    char path[600], text[1400];
    (void)snprintf(path, sizeof path, "%s/llvm-symbolizer-19", test_scratch());
    (void)snprintf(
        text, sizeof text,
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'tool version 1'; exit; }\n"
        "echo >> '%s/starts'\nwhile read -r line; do\n"
        "echo '{\"Symbol\":[{\"FunctionName\":\"%s\",\"FileName\":\"a.c\",\"Line\":7}]}'\n"
        "done\nexit %d\n",
        test_scratch(), name, exit_code);
    write_program(path, text);
    (void)snprintf(path, sizeof path, "%s:/usr/bin:/bin", test_scratch());
    test_environment("PATH", path);
}

struct asked {
    struct arena arena;
    struct symbol_store *symbols;
    struct crash_case crash;
    struct opened_case opened;
    struct case_file *pdb;
};

static void open_case(struct asked *a)
{
    struct fault fault = FAULT_INIT;
    arena_init(&a->arena, 0);
    const char *const roots[] = {test_source("corpus/symbols")};
    const struct symbol_store_options options = {
        .roots = roots,
        .root_count = 1,
        .cache = arena_printf(&a->arena, "%s/cache", test_scratch())};
    REQUIRE(symbol_store_open(&options, &a->symbols, &fault) == ERR_NONE);
    REQUIRE(case_read(test_source("corpus/cases/inline_chain.ob2"), &a->arena, &a->crash, &fault) ==
            ERR_NONE);
    a->pdb = &a->crash.files[a->crash.file_count - 1];
    REQUIRE(a->pdb->role == ROLE_PDB);
    REQUIRE(opened_case_open(&a->crash, a->symbols, &a->arena, &a->opened, &fault) == ERR_NONE);
}

static void close_case(struct asked *a)
{
    opened_case_close(&a->opened);
    symbol_store_close(a->symbols);
    arena_free(&a->arena);
}

/* The name of the first function; NULL: no answer. *TIMED: the program was started for it. */
static const char *first_name(struct asked *a, bool *timed)
{
    struct engine_result result;
    struct fault fault = FAULT_INIT;
    const struct engine_input in = {.opened = &a->opened, .symbols = a->symbols};
    if (judge_symbolizer.engine.run(&judge_symbolizer.engine, &in, &a->arena, &result, &fault) !=
        ERR_NONE)
        return NULL;
    REQUIRE(result.stack_count == 1 && result.stacks[0].frame_count > 1);
    CHECK_STR(result.version, "tool version 1");
    CHECK_EQ(result.stacks[0].frames[0].line, 7);
    CHECK_EQ(result.cost.total_ns, result.cost.resolve_ns);
    *timed = result.cost.total_ns > 0;
    return result.stacks[0].frames[0].function;
}

/* Changes the last byte of the answers, or writes another text under their names. */
static void damage_answers(struct asked *a, const char *text)
{
    struct fault fault = FAULT_INIT;
    const char **names, *folder = arena_printf(&a->arena, "%s/cache/index", test_scratch());
    size_t count, bytes, damaged = 0;
    REQUIRE(folder_list(folder, &a->arena, &names, &count, &fault) == ERR_NONE);
    for (size_t i = 0; i < count; i++) {
        const char *end = strrchr(names[i], '.'), *path = path_join(&a->arena, folder, names[i]);
        if (end == NULL || strcmp(end, ".answer") != 0)
            continue;
        uint8_t *data = test_read(path, &bytes);
        data[bytes - 2] ^= 1;
        test_write(path, text != NULL ? text : (const char *)data,
                   text != NULL ? strlen(text) : bytes);
        damaged++;
    }
    CHECK(damaged > 0);
}

TEST(an_answer_is_asked_once_for_each_program_and_file)
{
    enum what { NOTHING, OTHER_PDB, OTHER_PROGRAM, OPTIONS, NO_PDB, DAMAGE, CUT, FAILS };
    static const struct {
        const char *name;
        enum what what;
        const char *function;
        bool asks, asks_again;
    } rows[] = {{"the first time", NOTHING, "one", true, false},
                {"the same", NOTHING, "one", false, false},
                {"a PDB of other bytes", OTHER_PDB, "one", true, false},
                {"an image without a PDB", NO_PDB, "one", true, true},
                {"options of the environment", OPTIONS, "one", true, true},
                {"a damaged file", DAMAGE, "one", true, false},
                {"a cut file", CUT, "one", true, false},
                {"another program", OTHER_PROGRAM, "two", true, false},
                {"a program that fails", FAILS, NULL, true, true}};
    struct asked a;
    uint64_t starts = 0;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/starts", test_scratch());
    make_symbolizer("one", 0);
    open_case(&a);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const enum what what = rows[i].what;
        test_row(rows[i].name);
        if (what == OTHER_PROGRAM || what == FAILS)
            make_symbolizer(what == FAILS ? "three" : "two", what == FAILS);
        if (what == DAMAGE || what == CUT)
            damage_answers(&a, what == CUT ? "" : NULL);
        if (what == OTHER_PDB)
            a.pdb->sha256[0] ^= 1;
        a.pdb->role = what == NO_PDB ? ROLE_OTHER : ROLE_PDB;
        test_environment("LLVM_SYMBOLIZER_OPTS", what == OPTIONS ? "--no-demangle" : NULL);
        for (int again = 0; again < 2; again++) {
            const bool asks = again ? rows[i].asks_again : rows[i].asks;
            bool timed = asks;
            CHECK_STR(first_name(&a, &timed), rows[i].function);
            CHECK_EQ(timed, asks); /* a time is of a start */
            starts += asks;
            CHECK_EQ(path_bytes(path), starts);
        }
    }
    close_case(&a);
}
