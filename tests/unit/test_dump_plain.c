/* A dump of managed code with the code map of its user stream, and as if it had none. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "engine/dump_engine.h"
#include "minidump_maker.h"
#include "record_draft.h"
#include "test.h"

enum {
    THREAD = 7,
    STACK_BYTES = 64,
    UNWIND_RVA = 0x2000,
};

#define ASSEMBLY_VA ((uint64_t)0x180000000)
#define METHOD_VA ((uint64_t)0x20000000)
#define STACK_VA ((uint64_t)0x10000)

/* The user stream: one assembly, and a method of it at METHOD_VA. */
static void make_user(struct draft *d, bool has_methods)
{
    draft_begin(d, THREAD);
    size_t at = section(d, RECORD_SECTION_MODULES, 1);
    put(d, RECORD_MODULE_BYTES + 8, 1);
    put(d, 0, 1);
    put(d, ASSEMBLY_VA, 2);
    put(d, 0x10000, 2);
    put(d, 1, 2);
    put(d, MODULE_STILL_LOADED, 2);
    put(d, 0, 5);
    put(d, 5, 1);
    memcpy(&d->words[d->count], "m.dll", 5);
    d->count += 2;
    end(d, at);
    at = section(d, RECORD_SECTION_ASSEMBLIES, 1);
    put(d, 0, 6);
    end(d, at);
    at = section(d, RECORD_SECTION_METHODS, has_methods ? 1 : 0);
    if (has_methods) {
        put(d, RECORD_METHOD_BYTES + RECORD_MAP_BYTES, 1);
        put(d, 0x06000001, 1);
        put(d, METHOD_VA, 2);
        put(d, 0x1000, 2);
        put(d, 0, 1);
        put(d, 1, 1);
        put(d, 0, 2);
    }
    end(d, at);
    at = section(d, RECORD_SECTION_FUNCTIONS, 1);
    put(d, METHOD_VA, 2);
    put(d, 0, 1);
    put(d, 0x1000, 1);
    put(d, UNWIND_RVA, 1);
    put(d, 0, 1);
    end(d, at);
    at = section(d, RECORD_SECTION_MEMORY, 1);
    put(d, RECORD_MEMORY_BYTES + 8, 1);
    put(d, 8, 1);
    put(d, METHOD_VA + UNWIND_RVA, 2);
    put(d, 0x00020401, 1); /* version 1, a prologue of 4 bytes, 2 codes */
    put(d, 0x32003204, 1); /* at 4: 32 bytes of stack; the same at 0 */
    end(d, at);
    (void)draft_end(d);
}

/* One thread, stopped in the method; it was called from nowhere. USER: its user stream. It lasts
 * until the next one is made. */
static struct file_map make_dump(const uint8_t *user, size_t user_bytes)
{
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t context = maker_context(&m, METHOD_VA + 0x10, STACK_VA);
    const uint32_t stack = m.at;
    for (uint32_t i = 0; i < STACK_BYTES; i += 8)
        maker_put(&m, 0, 8);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    MAKER_PUT(&m, 4, 1, THREAD, 0, 0, 0);
    MAKER_PUT(&m, 8, 0, STACK_VA);
    MAKER_PUT(&m, 4, STACK_BYTES, stack, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(&m);
    maker_stream_begin(&m, RECORD_DUMP_STREAM);
    for (size_t i = 0; i < user_bytes; i++)
        maker_put(&m, user[i], 1);
    maker_stream_end(&m);
    maker_finish(&m);
    return (struct file_map){.data = m.data, .bytes = m.at};
}

static void check_stack(struct dump_session *session, struct arena *keep, bool is_named)
{
    struct stack stack;
    struct fault fault = FAULT_INIT;
    REQUIRE(dump_thread_stack(session, THREAD, NULL, keep, &stack, &fault) == ERR_NONE);
    REQUIRE(stack.frame_count > 0);
    const struct frame *frame = &stack.frames[0];
    CHECK_HEX(frame->pc_va, METHOD_VA + 0x10);
    CHECK_HEX(frame->method_token, is_named ? 0x06000001 : 0);
    CHECK_STR(frame->module_name ? frame->module_name : "", is_named ? "m.dll" : "");
    CHECK_STR(frame_class_name(frame->frame_class) ? frame_class_name(frame->frame_class) : "",
              is_named ? "none" : "generated");
}

/* A damaged map may name nothing or something else; the walk ends, and without it nothing is lost.
 */
static void walk_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct dump_session *session;
    struct fault fault = FAULT_INIT;
    struct stack stack;
    struct arena keep;
    const struct file_map map = make_dump(data, bytes);
    (void)context;

    arena_init(&keep, 16 << 20);
    if (dump_open_map(&map, "damaged.dmp", NULL, &keep, &session, &fault) == ERR_NONE) {
        CHECK(dump_thread_stack(session, THREAD, NULL, &keep, &stack, &fault) != ERR_MEMORY);
        fault_clear(&fault);
        dump_ignore_code_map(session);
        check_stack(session, &keep, false);
        dump_close(session);
    }
    arena_free(&keep);
}

TEST(every_damage_to_the_code_map_ends_the_walk)
{
    static struct draft user;

    test_limit(120);
    make_user(&user, true);
    const uint8_t *data = (const uint8_t *)user.words;
    test_truncations(data, user.count * sizeof user.words[0], walk_damaged, NULL);
    test_flips(data, user.count * sizeof user.words[0], walk_damaged, NULL);
}

TEST(a_dump_is_walked_with_its_code_map_and_without_it)
{
    static const struct {
        const char *name;
        bool has_methods;
    } rows[] = {{"with methods", true}, {"without methods", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct draft user;
        struct case_file file = {.role = ROLE_DUMP, .path = "plain.dmp"};
        const struct crash_case crash = {.folder = test_scratch(), .files = &file, .file_count = 1};
        struct opened_case opened;
        const struct engine_input in = {.opened = &opened};
        struct fault fault = FAULT_INIT;
        const char *why = "?";
        char path[600];
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(path, sizeof path, "%s/plain.dmp", test_scratch());
        make_user(&user, rows[i].has_methods);
        const struct file_map map =
            make_dump((const uint8_t *)user.words, user.count * sizeof user.words[0]);
        test_write(path, map.data, map.bytes);
        /* Where there is no code map, the engine has nothing to show and is not listed. */
        REQUIRE(opened_case_open(&crash, NULL, &keep, &opened, &fault) == ERR_NONE);
        CHECK_EQ(engine_dump_plain.available(&engine_dump_plain, &in, &why), rows[i].has_methods);
        CHECK_STR(why, NULL);
        REQUIRE(opened.dump != NULL);
        CHECK_EQ(dump_has_methods(opened.dump), rows[i].has_methods);
        if (rows[i].has_methods)
            check_stack(opened.dump, &keep, true);
        dump_ignore_code_map(opened.dump);
        check_stack(opened.dump, &keep, false);
        opened_case_close(&opened);
        arena_free(&keep);
    }
}
