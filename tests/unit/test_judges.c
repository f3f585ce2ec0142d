/* Judges: the adapter's protocol with a program that answers from a file, llvm-symbolizer over a
 * real dump, and the message for a judge that is not available. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "engine/engines.h"
#include "engine/judge.h"
#include "engine/judge_stage_dump.h"
#include "engine/judges.h"
#include "format/minidump/minidump.h"
#include "judge_asked.h"
#include "symbol/symbol_store.h"
#include "test.h"

static const char own_form[] =
    "{\"schema_version\":1,\"version\":\"tool 1.0\",\"times\":{\"open_ns\":7},\"threads\":[{\"id\":"
    "3060,\"crashed\":true,\"left_out\":0,\"frames\":["
    "{\"index\":0,\"inline_depth\":1,\"module\":\"test_app.exe\",\"offset\":\"0x429e\","
    "\"function\":\"inner\",\"file\":\"a.c\",\"line\":58},"
    "{\"index\":0,\"inline_depth\":0,\"module\":\"test_app.exe\",\"offset\":\"0x429e\","
    "\"function\":\"outer\",\"file\":\"a.c\",\"line\":60},"
    "{\"index\":1,\"inline_depth\":0,\"module\":\"test_app.exe\",\"offset\":\"0x42a0\","
    "\"function\":\"near\",\"file\":null,\"line\":null,\"symbols\":\"export\"}]}]}";

TEST(the_adapter_reads_our_form)
{
    struct arena arena;
    struct engine_result result;
    arena_init(&arena, 0);
    REQUIRE(ask_adapter(own_form, sizeof(own_form) - 1, &arena, &result) == ERR_NONE);
    CHECK_STR(result.version, "tool 1.0");
    CHECK_EQ(result.cost.open_ns, 7);
    CHECK(result.cost.total_ns > 0);
    REQUIRE(result.stack_count == 1 && result.stacks[0].frame_count == 3);
    CHECK_EQ(result.stacks[0].frames[1].symbols, SYMBOLS_PDB);
    CHECK_EQ(result.stacks[0].frames[2].symbols, SYMBOLS_EXPORT);
    CHECK_EQ(result.stacks[0].role, THREAD_ROLE_SUSPECT);
    CHECK_STR(result.stacks[0].engine, "judge:tool");
    CHECK_STR(result.stacks[0].frames[0].function, "inner");
    CHECK_EQ(result.stacks[0].frames[0].inline_depth, 1);
    /* the module's identity comes from the dump */
    REQUIRE(result.stacks[0].frames[1].module != NULL);
    CHECK_STR(result.stacks[0].frames[1].module->debug_id, "5A9832E5287241C1838ED98914E9B7FF1");
    arena_free(&arena);
}

/* Tools number threads by their ids, or by their places in the dump's list, which
 * rust-minidump prints as 3060 and 4544. */
TEST(threads_of_an_answer_are_those_of_the_dump)
{
    static const struct {
        const char *name, *threads;
        uint32_t first, second; /* ids */
        enum thread_role role;  /* of the first */
    } rows[] = {
        {"by their ids", "{\"id\":3060,\"crashed\":true,%s},{\"id\":4544,\"crashed\":false,%s}",
         3060, 4544, THREAD_ROLE_SUSPECT},
        {"by their places", "{\"id\":0,\"crashed\":true,%s},{\"id\":1,\"crashed\":false,%s}", 0,
         4544, THREAD_ROLE_SUSPECT},
        {"the crashed one has another id",
         "{\"id\":77,\"crashed\":true,%s},{\"id\":0,\"crashed\":false,%s}", 0, 3060,
         THREAD_ROLE_SUSPECT},
        {"past the last place", "{\"id\":3060,\"crashed\":true,%s},{\"id\":2,\"crashed\":false,%s}",
         3060, 2, THREAD_ROLE_SUSPECT},
        {"none crashed: the first",
         "{\"id\":4544,\"crashed\":false,%s},{\"id\":3060,\"crashed\":false,%s}", 4544, 3060,
         THREAD_ROLE_SUSPECT},
    };
    static const char frames[] =
        "\"left_out\":0,\"frames\":[{\"index\":0,\"inline_depth\":0,\"module\":\"test_app.exe\","
        "\"offset\":\"0x429e\",\"function\":\"f\",\"file\":null,\"line\":null}]";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct engine_result result = {0};
        test_row(rows[i].name);
        arena_init(&arena, 0);
        const char *half = strstr(rows[i].threads, "%s");
        const char *text =
            arena_printf(&arena, "\n {\"schema_version\":1,\"threads\":[%.*s%s%.*s%s}]}",
                         (int)(half - rows[i].threads), rows[i].threads, frames,
                         (int)(strlen(half + 2) - strlen("%s}")), half + 2, frames);
        REQUIRE(ask_adapter(text, strlen(text), &arena, &result) == ERR_NONE);
        REQUIRE(result.stack_count == 2);
        CHECK_EQ(result.stacks[0].thread_id, rows[i].first);
        CHECK_EQ(result.stacks[1].thread_id, rows[i].second);
        CHECK_EQ(result.stacks[0].role, rows[i].role);
        arena_free(&arena);
    }
}

TEST(the_adapter_reads_breakpads_form)
{
    struct arena arena;
    struct engine_result result;
    size_t bytes;
    arena_init(&arena, 0);
    char *text = (char *)test_read(
        test_fixture("g05-minidump2-x86/minidump2.stackwalk.machine_readable.out"), &bytes);
    REQUIRE(ask_adapter(text, bytes, &arena, &result) == ERR_NONE);
    REQUIRE(result.stack_count >= 1 && result.stacks[0].frame_count == 4);
    CHECK_STR(result.stacks[0].frames[1].function, "main");
    arena_free(&arena);
}

TEST(an_answer_that_makes_no_sense_is_a_fault)
{
    static const char *const rows[] = {"", "no stack here", "{\"threads\":7}", "{\"threads\":[7]}",
                                       "{\"schema_version\":1}"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct engine_result result = {0};
        struct fault fault = FAULT_INIT;
        test_row(rows[i]);
        arena_init(&arena, 0);
        enum status status =
            judge_read_answer(rows[i], strlen(rows[i]), "judge:x", &arena, &result, &fault);
        CHECK(status != ERR_NONE || result.stacks[0].frame_count == 0);
        arena_free(&arena);
    }
}

/* What a judge states of its walk; rows that are out of order are refused, since pages and the
 * database find a row by its index. */
TEST(a_judge_states_how_it_found_its_frames)
{
    static const struct {
        const char *name, *evidence;
        enum status status;
        uint32_t count;
    } rows[] = {
        {"one row of all facts",
         "[{\"index\":0,\"sp\":\"0x10\",\"function_begin\":\"0x1000\",\"function_end\":\"0x1040\","
         "\"unwind_data\":\"0x140002000\",\"where\":\"epilogue\",\"caller_sp\":\"0x20\","
         "\"return_slot\":\"0x18\"}]",
         ERR_NONE, 1},
        {"a row is left out", "[{\"index\":0},{\"index\":2}]", ERR_NONE, 2},
        {"none", "[]", ERR_NONE, 0},
        {"no list", "7", ERR_NONE, 0},
        {"the same index twice", "[{\"index\":0},{\"index\":0}]", ERR_MALFORMED, 1},
        {"falling", "[{\"index\":1},{\"index\":0}]", ERR_MALFORMED, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct engine_result result = {0};
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        const char *text = arena_printf(
            &arena,
            "{\"schema_version\":1,\"threads\":[{\"id\":1,\"crashed\":true,\"frames\":[{\"index\":"
            "0,"
            "\"inline_depth\":0,\"module\":\"a.exe\",\"offset\":\"0x1\",\"found_by\":\"leaf\"}],"
            "\"evidence\":%s}]}",
            rows[i].evidence);
        REQUIRE(text != NULL);
        CHECK_EQ(judge_read_answer(text, strlen(text), "judge:x", &arena, &result, &fault),
                 rows[i].status);
        if (rows[i].status == ERR_NONE && result.stack_count == 1) {
            const struct stack *stack = &result.stacks[0];
            CHECK_EQ(stack->evidence_count, rows[i].count);
            CHECK_STR(found_by_name(stack->frames[0].found_by), "leaf");
        }
        if (i == 0 && result.stack_count == 1 && result.stacks[0].evidence_count == 1) {
            const struct frame_evidence *e = &result.stacks[0].evidence[0];
            CHECK_EQ(e->function_begin_rva, 0x1000);
            CHECK_EQ(e->function_end_rva, 0x1040);
            CHECK_EQ(e->unwind_data_va, 0x140002000);
            CHECK_EQ(e->caller_sp_va - e->sp_va, 0x10);
            CHECK_EQ(e->return_slot_va, 0x18);
            CHECK_STR(e->where, "epilogue");
        }
        arena_free(&arena);
    }
}

TEST(judges_that_are_not_there_say_why)
{
    struct crash_case crash;
    struct case_file file;
    const char *why = NULL;
    make_case("g05-minidump2-x86/minidump2.dmp", &crash, &file);
    const struct opened_case opened = {.crash = &crash};
    const struct engine_input in = {.opened = &opened};
    test_environment("TWINSTACK_ADAPTER", "");
    judge_adapter_configure();
    CHECK(!judge_adapter.engine.available(&judge_adapter.engine, &in, &why));
    CHECK_HAS(why, "TWINSTACK_ADAPTER");
    CHECK(!judge_dbghelp.engine.available(&judge_dbghelp.engine, &in, &why));
    CHECK(why != NULL && why[0] != '\0');
    const struct crash_case empty = {.folder = test_scratch()};
    const struct opened_case none = {.crash = &empty};
    const struct engine_input nothing = {.opened = &none};
    CHECK(!judge_symbolizer.engine.available(&judge_symbolizer.engine, &nothing, &why));
}

/* A case whose program writes no dump, since that would take too long, lacks none. */
TEST(why_there_is_no_dump)
{
    static const char *both[] = {"offset:rtl", "dump"};
    static const char *const why_not[] = {"the case has no dump", "its program writes no dump",
                                          "the case has no dump"};
    const struct engine *dump = engine_subject(ENGINE_KIND_DUMP);
    for (uint32_t declared = 0; declared < COUNT_OF(why_not); declared++) {
        const struct crash_case crash = {.folder = test_scratch(),
                                         .expect = {.subjects = both, .subject_count = declared}};
        const struct opened_case opened = {.crash = &crash};
        const struct engine_input in = {.opened = &opened};
        const char *why = NULL;
        CHECK(!dump->available(dump, &in, &why));
        CHECK_STR(why, why_not[declared]);
    }
}

static const struct engine *engine_named(const char *name)
{
    for (uint32_t i = 0; i < engine_count; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    REQUIRE(name == NULL);
    return engines[0];
}

/* An agreement of two engines says nothing about what both have in common. */
TEST(what_engines_share_is_in_their_rows)
{
    static const struct {
        const char *name, *a, *b;
        uint32_t shared; /* beside the symbol files, which all of them read */
    } rows[] = {
        {"the two ways", "offset:rtl", "dump", ENGINE_SHARES_SYMBOLS},
        {"two walks of the dying process", "offset:rtl", "offset:framepointer",
         ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_RECORD},
        {"StackWalk64, dying and dead", "offset:dbghelp", "judge:dbghelp",
         ENGINE_SHARES_SYSTEM_DBGHELP},
        {"our walk and the system's", "dump", "judge:dbghelp", ENGINE_SHARES_DUMP},
        {"Wine's library twice", "judge:dbghelp", "judge:winedbg",
         ENGINE_SHARES_DUMP | ENGINE_SHARES_SYSTEM_DBGHELP},
        {"Microsoft's library twice", "judge:dbghelp-microsoft", "judge:dbgeng",
         ENGINE_SHARES_DUMP | ENGINE_SHARES_MICROSOFT_DBGHELP},
        {"Wine's and Microsoft's", "judge:dbghelp", "judge:dbghelp-microsoft", ENGINE_SHARES_DUMP},
        {"LLVM twice", "judge:lldb", "judge:llvm-symbolizer", ENGINE_SHARES_LLVM},
        {"our module list", "judge:lldb", "dump", ENGINE_SHARES_DUMP | ENGINE_SHARES_DUMP_READER},
        {"frames of the record", "offset:rtl", "judge:llvm-symbolizer", ENGINE_SHARES_RECORD},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(engine_named(rows[i].a)->parts & engine_named(rows[i].b)->parts,
                 rows[i].shared | ENGINE_SHARES_SYMBOL_FILES);
    }
}

TEST(llvm_symbolizer_names_a_real_dump)
{
    struct arena arena;
    struct crash_case crash;
    struct case_file file;
    struct engine_result result;
    struct fault fault = FAULT_INIT;
    struct symbol_store *symbols;
    const char *why = NULL;
    const char *const roots[] = {test_fixture("g01-crash-x86/crash.exe"),
                                 test_fixture("g01-crash-x86/crash.pdb")};
    const struct symbol_store_options options = {.roots = roots, .root_count = 2};
    make_case("g01-crash-x86/windows.dmp", &crash, &file);
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    arena_init(&arena, 0);
    struct opened_case opened;
    REQUIRE(opened_case_open(&crash, symbols, &arena, &opened, &fault) == ERR_NONE);
    const struct engine_input in = {.opened = &opened, .symbols = symbols};
    if (!judge_symbolizer.engine.available(&judge_symbolizer.engine, &in, &why))
        SKIP(why);
    REQUIRE(judge_symbolizer.engine.run(&judge_symbolizer.engine, &in, &arena, &result, &fault) ==
            ERR_NONE);
    REQUIRE(result.stack_count == 1 && result.stacks[0].frame_count == 8);
    CHECK_HAS(result.stacks[0].frames[0].function, "crash");
    CHECK_EQ(result.stacks[0].frames[0].line, 24);
    CHECK_STR(result.stacks[0].frames[2].function, "main");
    CHECK_EQ(result.stacks[0].frames[2].line, 35);
    CHECK_HAS(result.version, "19");
    opened_case_close(&opened);
    symbol_store_close(symbols);
    arena_free(&arena);
}

/* The truth that the victim of corpus/cases/inline_chain.ob2 stated: its innermost function and
 * three callers are inlined. */
TEST(llvm_symbolizer_names_inlined_frames)
{
    static const struct {
        const char *function;
        uint32_t line, index;
    } truth[] = {{"chain_four", 8, 0}, {"chain_three", 13, 0},      {"chain_two", 9, 0},
                 {"chain_one", 5, 0},  {"run_inline_chain", 12, 0}, {"main", 297, 1}};
    struct arena arena;
    struct crash_case crash;
    struct engine_result result;
    struct fault fault = FAULT_INIT;
    struct symbol_store *symbols;
    struct opened_case opened;
    const char *why = NULL;
    const char *const roots[] = {test_source("corpus/symbols")};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1, .cache = "none"};
    arena_init(&arena, 0);
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    REQUIRE(case_read(test_source("corpus/cases/inline_chain.ob2"), &arena, &crash, &fault) ==
            ERR_NONE);
    REQUIRE(opened_case_open(&crash, symbols, &arena, &opened, &fault) == ERR_NONE);
    const struct engine_input in = {.opened = &opened, .symbols = symbols};
    if (!judge_symbolizer.engine.available(&judge_symbolizer.engine, &in, &why))
        SKIP(why);
    REQUIRE(judge_symbolizer.engine.run(&judge_symbolizer.engine, &in, &arena, &result, &fault) ==
            ERR_NONE);
    REQUIRE(result.stack_count == 1 && result.stacks[0].frame_count > COUNT_OF(truth));
    for (uint32_t i = 0; i < COUNT_OF(truth); i++) {
        const struct frame *frame = &result.stacks[0].frames[i];
        test_row(truth[i].function);
        CHECK_STR(frame->function, truth[i].function);
        CHECK_EQ(frame->line, truth[i].line);
        CHECK_EQ(frame->index, truth[i].index);
        CHECK_EQ(frame->inline_depth, i < 4 ? 4 - i : 0);
        CHECK_EQ(frame->found_by == FOUND_INLINED, i < 4);
    }
    opened_case_close(&opened);
    symbol_store_close(symbols);
    arena_free(&arena);
}

/* lldb prints a thread's line, then its frames. */
TEST(the_first_stack_of_a_debugger_counts)
{
    static const struct {
        const char *name, *text, *first;
        enum stack_state state;
        uint32_t count;
    } rows[] = {
        {"one",
         "* thread #1, stop reason = x\n  * frame #0: 0x00401234 a.exe`one + 4\n"
         "    frame #1: 0x00401300 a.exe`two + 8\n",
         "one", STACK_OK, 2},
        {"two",
         "* thread #1\n  * frame #0: 0x00401234 a.exe`one + 4\n"
         "  thread #2\n    frame #0: 0x00401300 a.exe`two + 8\n",
         "one", STACK_OK, 1},
        {"the first is empty", "> 1\n> 2\n  frame #0: 0x00401234 a.exe`one + 4\n", "one", STACK_OK,
         1},
        {"lines that are no frames", "warning: x\n  frame #0: 0x00401234 a.exe`one + 4\n", "one",
         STACK_OK, 1},
        {"none", "error: no thread\n", NULL, STACK_FAILED, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct crash_case crash;
        struct case_file file;
        struct opened_case opened;
        struct engine_result result = {0};
        struct fault fault = FAULT_INIT;
        char text[512];
        test_row(rows[i].name);
        arena_init(&arena, 0);
        make_case("g05-minidump2-x86/minidump2.dmp", &crash, &file);
        REQUIRE(opened_case_open(&crash, NULL, &arena, &opened, &fault) == ERR_NONE);
        const struct engine_input in = {.opened = &opened};
        const struct judge_stage stage = {test_scratch(), "dump.dmp", false};
        const struct judge_work work = {.judge = &judge_lldb,
                                        .in = &in,
                                        .stage = &stage,
                                        .keep = &arena,
                                        .out = &result,
                                        .fault = &fault};
        (void)snprintf(text, sizeof text, "%s", rows[i].text);
        REQUIRE(judge_lldb.read(&work, NULL, text, strlen(text)) == ERR_NONE);
        REQUIRE(result.stack_count == 1);
        CHECK_EQ(result.stacks[0].state, rows[i].state);
        CHECK_EQ(result.stacks[0].frame_count, rows[i].count);
        CHECK_EQ(result.stacks[0].thread_id, 3060); /* of the dump's exception */
        if (rows[i].first != NULL && result.stacks[0].frame_count > 0)
            CHECK_STR(result.stacks[0].frames[0].function, rows[i].first);
        opened_case_close(&opened);
        arena_free(&arena);
    }
}

/* A stage that a pool keeps loses the dump alone. */
TEST(a_stage_is_removed_with_its_files)
{
    static const struct {
        const char *name;
        bool lasts, dump, folder_stays, dump_stays, image_stays;
    } rows[] = {{"of one question", false, true, false, false, false},
                {"of a pool", true, true, true, false, true},
                {"of a pool, for a case without a dump", true, false, true, true, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        char folder[600], dump[620], image[620];
        test_row(rows[i].name);
        (void)snprintf(folder, sizeof folder, "%s/stage%zu", test_scratch(), i);
        (void)snprintf(dump, sizeof dump, "%s/dump.dmp", folder);
        (void)snprintf(image, sizeof image, "%s/a.exe", folder);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        test_write(dump, "MDMP", 4);
        test_write(image, "MZ", 2);
        const struct judge_stage stage = {folder, rows[i].dump ? "dump.dmp" : NULL, rows[i].lasts};
        judge_stage_close(&stage);
        CHECK_EQ(path_is_folder(folder), rows[i].folder_stays);
        CHECK_EQ(path_is_file(dump), rows[i].dump_stays);
        CHECK_EQ(path_is_file(image), rows[i].image_stays);
    }
}

TEST(a_staged_dump_differs_by_the_places_of_images_alone)
{
    struct arena arena;
    struct crash_case crash;
    struct case_file file;
    struct minidump before, after;
    struct file_map maps[2];
    struct fault fault = FAULT_INIT;
    char path[2][512];
    arena_init(&arena, 0);
    make_case("g05-minidump2-x86/minidump2.dmp", &crash, &file);
    const struct judge_stage stage = {test_scratch(), "dump.dmp", false};
    (void)snprintf(path[0], sizeof path[0], "%s/test_app.exe", test_scratch());
    test_write(path[0], "MZ", 2);
    REQUIRE(judge_stage_dump(&stage, "staged.dmp", &arena, &fault) == ERR_NONE);
    (void)snprintf(path[0], sizeof path[0], "%s/dump.dmp", test_scratch());
    (void)snprintf(path[1], sizeof path[1], "%s/staged.dmp", test_scratch());
    REQUIRE(file_map(path[0], &maps[0], &fault) == ERR_NONE);
    REQUIRE(file_map(path[1], &maps[1], &fault) == ERR_NONE);
    REQUIRE(minidump_read(maps[0].data, maps[0].bytes, &arena, &before, &fault) == ERR_NONE);
    REQUIRE(minidump_read(maps[1].data, maps[1].bytes, &arena, &after, &fault) == ERR_NONE);
    REQUIRE(after.module_count == before.module_count && !after.partial);
    for (uint32_t i = 0; i < after.module_count; i++) {
        const char *now = after.modules[i].module.path, *was = before.modules[i].module.path;
        CHECK_STR(after.modules[i].module.name, before.modules[i].module.name);
        if (strcmp(after.modules[i].module.name, "test_app.exe") != 0) {
            CHECK_STR(now, was);
            continue;
        }
        CHECK(now[0] != '\0' && strncmp(now + 1, ":\\", 2) == 0 && strchr(now, '/') == NULL);
    }
    size_t changed = 0;
    for (size_t i = 0; i < maps[0].bytes; i++)
        changed += maps[0].data[i] != maps[1].data[i];
    CHECK(changed > 0 && changed <= 4); /* the offset of a name in one row */
    file_unmap(&maps[0]);
    file_unmap(&maps[1]);
    arena_free(&arena);
}

#define SECOND_ID "FEE28C9252a000"

/* Two images of one name, each with its PDB, as a run lists them. */
TEST(a_second_image_of_a_name_has_a_place_of_its_own)
{
    enum { FIRST, FIRST_PDB, SECOND, SECOND_PDB, AGAIN, FILES };
    static const char *const paths[FILES] = {"one/crash.exe", "one/crash.pdb", "two/crash.exe",
                                             "two/crash.pdb", "three/crash.exe"};
    static const char *const from[FILES] = {
        "victims-ob0.exe/00E38A4E52c000/victims-ob0.exe",
        "victims-ob0.pdb/5F4A361632CB4CEC4C4C44205044422E1/victims-ob0.pdb",
        "victims-ob2.exe/" SECOND_ID "/victims-ob2.exe",
        "victims-ob2.pdb/62F62FFAE0AFDE9E4C4C44205044422E1/victims-ob2.pdb",
        "victims-ob0.exe/00E38A4E52c000/victims-ob0.exe"};
    struct case_file files[FILES];
    const struct crash_case crash = {.folder = test_scratch(), .files = files, .file_count = FILES};
    struct fault fault = FAULT_INIT;
    struct arena arena;
    size_t bytes[FILES];
    arena_init(&arena, 0);
    const struct judge_stage stage = {arena_printf(&arena, "%s/stage", test_scratch()), NULL,
                                      false};
    REQUIRE(folder_make(stage.folder, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < FILES; i++) {
        const char *path = arena_printf(&arena, "%s/%s", test_scratch(), paths[i]);
        uint8_t *data = test_read(
            arena_printf(&arena, "%s/%s", test_source("corpus/symbols"), from[i]), &bytes[i]);
        REQUIRE(folder_make(arena_text(&arena, path, strlen(path) - 10), &fault) == ERR_NONE);
        test_write(path, data, bytes[i]);
        files[i] = (struct case_file){
            .role = i == FIRST_PDB || i == SECOND_PDB ? ROLE_PDB : ROLE_IMAGE, .path = paths[i]};
        (void)snprintf(files[i].sha256, sizeof files[i].sha256, "%.15s", from[i]);
    }
    for (uint32_t i = 0; i < FILES; i++)
        REQUIRE(judge_stage_put(&stage, &crash, i, &arena, &fault) == ERR_NONE);
    const char *own = judge_staged_image(&stage, "crash.exe", SECOND_ID, &arena);
    REQUIRE(own != NULL);
    CHECK_STR(own, SECOND_ID "/crash.exe");
    static const struct {
        const char *name;
        int file;
    } rows[] = {
        {"crash.exe", FIRST},
        {"crash.pdb", FIRST_PDB},
        {SECOND_ID "/crash.exe", SECOND},
        {SECOND_ID "/crash.pdb", SECOND_PDB},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_map map;
        test_row(rows[i].name);
        const char *path = path_join(&arena, stage.folder, rows[i].name);
        REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
        CHECK_EQ(map.bytes, bytes[rows[i].file]);
        file_unmap(&map);
    }
    CHECK_STR(judge_staged_image(&stage, "crash.exe", NULL, &arena), "crash.exe");
    CHECK_STR(judge_staged_image(&stage, "C:\\x\\crash.exe", "0123456789", &arena), "crash.exe");
    CHECK(judge_staged_image(&stage, "none.exe", NULL, &arena) == NULL);
    arena_free(&arena);
}
