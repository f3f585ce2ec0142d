/* Real dumps walked and named, compared with published results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/dump_engine.h"
#include "stacks/claims.h"
#include "stacks/rust.h"
#include "symbol/symbol_store.h"
#include "test.h"

struct opened {
    struct arena arena;
    struct symbol_store *symbols;
    struct dump_session *session;
};

/* ROOTS: files or folders of the fixtures, NULL-ended. */
static void open_dump(const char *name, const char *const *roots, struct opened *out)
{
    struct symbol_store_options options = {.names = NAMES_SHORT};
    struct fault fault = FAULT_INIT;
    const char *paths[4];
    arena_init(&out->arena, 0);
    for (uint32_t i = 0; roots[i] != NULL; i++)
        paths[options.root_count++] = test_fixture(roots[i]);
    options.roots = paths;
    REQUIRE(symbol_store_open(&options, &out->symbols, &fault) == ERR_NONE);
    REQUIRE(dump_open(test_fixture(name), out->symbols, &out->arena, &out->session, &fault) ==
            ERR_NONE);
}

static void close_dump(struct opened *o)
{
    dump_close(o->session);
    symbol_store_close(o->symbols);
    arena_free(&o->arena);
}

static void thread_stack(struct opened *o, uint32_t thread_id, struct stack *out)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(dump_thread_stack(o->session, thread_id, o->symbols, &o->arena, out, &fault) ==
            ERR_NONE);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *member = cJSON_GetObjectItem(object, key);
    return cJSON_IsString(member) ? member->valuestring : NULL;
}

static uint32_t line_of(const cJSON *object)
{
    const cJSON *member = cJSON_GetObjectItem(object, "line");
    return cJSON_IsNumber(member) ? (uint32_t)member->valuedouble : 0;
}

/* Compares names. Some tools print an empty argument list, which is ignored. */
static void check_name(const char *got, const char *want)
{
    char name[256];
    (void)snprintf(name, sizeof(name), "%s", want);
    char *open = strrchr(name, '(');
    if (open != NULL && open[1] == ')')
        *open = '\0';
    CHECK_STR(got, name);
}

static void check_logical(const struct frame *frame, const cJSON *want)
{
    if (text_of(want, "function") == NULL)
        return;
    check_name(frame->function, text_of(want, "function"));
    CHECK(frame->file != NULL && text_equal_nocase(frame->file, text_of(want, "file")));
    CHECK_EQ(frame->line, line_of(want));
}

/* Compares a stack with a *.stack.json: {frames: [{module, rva, inline: [...], ...}]}. */
static void check_stack_json(const struct stack *stack, const char *name)
{
    size_t bytes;
    struct fault fault = FAULT_INIT;
    cJSON *root;
    const cJSON *row, *inner;
    uint32_t at = 0;
    char *text = (char *)test_read(test_fixture(name), &bytes);
    REQUIRE(json_parse(text, bytes, &root, &fault) == ERR_NONE);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(root, "frames"))
    {
        cJSON_ArrayForEach(inner, cJSON_GetObjectItem(row, "inline"))
        {
            REQUIRE(at < stack->frame_count);
            CHECK(stack->frames[at].inline_depth > 0);
            check_logical(&stack->frames[at++], inner);
        }
        REQUIRE(at < stack->frame_count);
        const struct frame *frame = &stack->frames[at++];
        CHECK_EQ(frame->inline_depth, 0);
        CHECK_STR(frame->module_name, text_of(row, "module"));
        CHECK_HEX(frame->offset, strtoull(text_of(row, "rva"), NULL, 16));
        check_logical(frame, row);
    }
    CHECK_EQ(stack->frame_count, at);
    cJSON_Delete(root);
}

TEST(x86_frame_programs_of_a_pdb_give_the_published_stack)
{
    static const char *const roots[] = {"g01-crash-x86/crash.exe", "g01-crash-x86/crash.pdb", NULL};
    static const enum found_by found[] = {FOUND_CONTEXT, FOUND_UNWIND, FOUND_UNWIND,
                                          FOUND_FRAME_POINTER, FOUND_FRAME_POINTER};
    struct opened o;
    struct stack stack;
    uint32_t physical = 0;
    open_dump("g01-crash-x86/windows.dmp", roots, &o);
    thread_stack(&o, 1636, &stack);
    check_stack_json(&stack, "g01-crash-x86/windows_dmp.stack.json");
    for (uint32_t i = 0; i < stack.frame_count; i++)
        if (stack.frames[i].inline_depth == 0 && physical < COUNT_OF(found))
            CHECK_STR(found_by_name(stack.frames[i].found_by), found_by_name(found[physical++]));
    CHECK_EQ(stack.stop, STOP_END);
    /* Thread-pool workers stopped at the `ret 14h` of a system call. The dump holds the code at the
     * pc, which shows where the caller is. The published walks use frame pointers alone and miss
     * it. */
    for (uint32_t thread = 3580; thread != 0; thread = thread == 3580 ? 2600 : 0) {
        static const uint64_t want[] = {0x7016c, 0x36a11, 0x162c4, 0x60f79, 0x60f44};
        thread_stack(&o, thread, &stack);
        CHECK_EQ(stack.frame_count, COUNT_OF(want));
        for (uint32_t i = 0; i < stack.frame_count; i++)
            CHECK_HEX(stack.frames[i].offset, want[i]);
    }
    close_dump(&o);
}

TEST(x64_without_the_image_is_walked_by_frame_sizes)
{
    static const char *const roots[] = {"g13-sigsegv-x64/sigsegv.pdb", NULL};
    struct opened o;
    struct stack stack;
    open_dump("g13-sigsegv-x64/sigsegv.dmp", roots, &o);
    thread_stack(&o, 10860, &stack);
    check_stack_json(&stack, "g13-sigsegv-x64/sigsegv.stack.json");
    REQUIRE(stack.frame_count == 6);
    CHECK_STR(found_by_name(stack.frames[1].found_by), "frame_size");
    CHECK_STR(found_by_name(stack.frames[5].found_by), "scan");
    close_dump(&o);
}

/* The published file without its four header lines. */
static char *snapshot(const char *name)
{
    size_t bytes;
    char *text = (char *)test_read(test_fixture(name), &bytes);
    char *start = text;
    for (int i = 0; i < 4; i++)
        start = strchr(start, '\n') + 1;
    return start;
}

/* The JSON as the verb writes it: all threads in order. The thread that wrote the dump is not
 * walked. */
static char *stackwalk_json(struct opened *o)
{
    const struct minidump *dump = dump_minidump(o->session);
    struct stack stacks[8];
    struct registers regs;
    struct fault fault = FAULT_INIT;
    enum pc_kind kind;
    struct json j;
    REQUIRE(dump->thread_count <= COUNT_OF(stacks));
    for (uint32_t i = 0; i < dump->thread_count; i++) {
        thread_stack(o, dump->threads[i].id, &stacks[i]);
        if (dump->threads[i].id == dump->breakpad.dump_thread_id)
            stacks[i].frame_count = 0;
    }
    CHECK_EQ(dump_registers(o->session, dump->threads[0].id, &regs, &kind, &fault), ERR_NONE);
    json_to_text(&j, true);
    rust_write(&j, dump, stacks, dump->thread_count, 0, &regs);
    json_newline(&j);
    return json_take(&j, NULL);
}

TEST(stackwalk_json_is_rust_minidumps_to_the_letter)
{
    static const char *const roots[] = {NULL};
    struct opened o;
    open_dump("g05-minidump2-x86/minidump2.dmp", roots, &o);
    char *text = stackwalk_json(&o), *got = text;
    char *want = snapshot("g05-minidump2-x86/test_minidump_stackwalk__json-pretty.snap");
    for (unsigned line = 1; *got != '\0' && *want != '\0'; line++) {
        size_t a = strcspn(got, "\n"), b = strcspn(want, "\n");
        if (a != b || memcmp(got, want, a) != 0) {
            FAIL("line %u is '%.*s', not '%.*s'", line, (int)a, got, (int)b, want);
            break;
        }
        got += a + 1;
        want += b + 1;
    }
    free(text);
    close_dump(&o);
}

TEST(foreign_stacks_are_read_back)
{
    static const struct {
        const char *name;
        bool rust;
    } rows[] = {{"g05-minidump2-x86/test_minidump_stackwalk__json-pretty-symbols.snap", true},
                {"g05-minidump2-x86/minidump2.stackwalk.machine_readable.out", false}};
    static const struct {
        const char *module, *function;
        uint32_t line;
        uint64_t offset;
    } want[] = {{"test_app.exe", "`anonymous namespace'::CrashFunction", 58, 0x429e},
                {"test_app.exe", "main", 65, 0x4200},
                {"test_app.exe", "__tmainCRTStartup", 327, 0x53ec}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct stack *stacks;
        uint32_t count;
        size_t bytes;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        char *text = rows[i].rust ? snapshot(rows[i].name)
                                  : (char *)test_read(test_fixture(rows[i].name), &bytes);
        if (rows[i].rust)
            bytes = strlen(text);
        REQUIRE(stack_claims_read(text, bytes, &arena, &stacks, &count, &fault) == ERR_NONE);
        REQUIRE(count >= 1);
        CHECK_EQ(stacks[0].role, THREAD_ROLE_SUSPECT);
        REQUIRE(stacks[0].frame_count == 4);
        for (size_t k = 0; k < COUNT_OF(want); k++) {
            CHECK_STR(stacks[0].frames[k].module_name, want[k].module);
            CHECK_STR(stacks[0].frames[k].function, want[k].function);
            CHECK_EQ(stacks[0].frames[k].line, want[k].line);
            CHECK_EQ(stacks[0].frames[k].kind, k == 0 ? PC_INTERRUPTED : PC_RETURN);
            if (rows[i].rust)
                CHECK_HEX(stacks[0].frames[k].offset, want[k].offset);
        }
        arena_free(&arena);
    }
}

TEST(our_stackwalk_json_reads_back_as_itself)
{
    static const char *const roots[] = {"g01-crash-x86/crash.exe", "g01-crash-x86/crash.pdb", NULL};
    struct opened o;
    struct stack stack, *back;
    struct fault fault = FAULT_INIT;
    uint32_t count;
    open_dump("g01-crash-x86/windows.dmp", roots, &o);
    thread_stack(&o, 1636, &stack);
    char *text = stackwalk_json(&o);
    REQUIRE(stack_claims_read(text, strlen(text), &o.arena, &back, &count, &fault) == ERR_NONE);
    CHECK_EQ(count, 4);
    REQUIRE(back[0].frame_count == stack.frame_count);
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        CHECK_STR(back[0].frames[i].function, stack.frames[i].function);
        CHECK_HEX(back[0].frames[i].offset, stack.frames[i].offset);
        CHECK_EQ(back[0].frames[i].inline_depth, stack.frames[i].inline_depth);
        CHECK_EQ(back[0].frames[i].line, stack.frames[i].line);
    }
    free(text);
    close_dump(&o);
}

TEST(dumps_without_symbols_are_walked_to_their_end)
{
    static const struct {
        const char *name;
        uint32_t thread, frames, left_out;
        enum found_by second;
    } rows[] = {
        {"g15-dumps/null_write_av.dmp", 5408, 6, 0, FOUND_FRAME_POINTER},
        {"g15-dumps/ascii_read_av.dmp", 4204, 6, 0, FOUND_FRAME_POINTER},
        {"g15-dumps/exec_av_on_stack.dmp", 6920, 5, 0, FOUND_LEAF}, /* the pc is in no module */
        {"g15-dumps/thread_name_list.dmp", 10976, 4, 0, FOUND_FRAME_POINTER},
        {"g05-minidump2-x86/minidump2.dmp", 3060, 4, 0, FOUND_FRAME_POINTER},
    };
    static const char *const roots[] = {NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct opened o;
        struct stack stack;
        const char *why;
        test_row(rows[i].name);
        open_dump(rows[i].name, roots, &o);
        CHECK_EQ(dump_suspect(o.session, &why), rows[i].thread);
        CHECK_STR(why, "exception stream");
        thread_stack(&o, rows[i].thread, &stack);
        CHECK_EQ(stack.frame_count, rows[i].frames);
        CHECK_STR(found_by_name(stack.frames[1].found_by), found_by_name(rows[i].second));
        CHECK_EQ(stack.stop, STOP_END);
        close_dump(&o);
    }
}

TEST(a_stack_overflow_is_walked_from_end_to_end)
{
    static const char *const roots[] = {NULL};
    struct opened o;
    struct stack stack;
    open_dump("g15-dumps/stack_exhaustion.dmp", roots, &o);
    thread_stack(&o, 5744, &stack);
    REQUIRE(stack.frame_count == 246); /* each frame has 4 KB */
    CHECK_STR(stack.frames[245].module_name, "ntdll.dll");
    CHECK_EQ(stack.stop, STOP_END);
    close_dump(&o);
}

static void walk_damaged(const uint8_t *data, size_t bytes, void *context)
{
    const struct file_map map = {.data = data, .bytes = bytes};
    struct arena arena;
    struct fault fault = FAULT_INIT;
    struct dump_session *session;
    (void)context;
    arena_init(&arena, (size_t)64 << 20);
    if (dump_open_map(&map, "damaged.dmp", NULL, &arena, &session, &fault) == ERR_NONE) {
        for (uint32_t i = 0; i < dump_minidump(session)->thread_count; i++) {
            struct stack stack;
            (void)dump_thread_stack(session, dump_minidump(session)->threads[i].id, NULL, &arena,
                                    &stack, &fault);
        }
        dump_close(session);
    }
    arena_free(&arena);
}

TEST(damaged_dumps_are_walked_without_harm)
{
    size_t bytes;
    test_limit(600);
    uint8_t *data = test_read(test_fixture("g05-minidump2-x86/minidump2.dmp"), &bytes);
    test_truncations(data, bytes, walk_damaged, NULL);
    test_flips(data, bytes, walk_damaged, NULL);
}
