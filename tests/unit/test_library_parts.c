/* libtwinstack: what is asked of one frame, of one thread of a dump, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/minidump/minidump.h"
#include "library/twinstack.h"
#include "minidump_maker.h"
#include "test.h"

/* Inlined into outer from 0x1000 to 0x1008: inner, of b.c, called in line 3. */
static const char sym[] = "MODULE windows x86_64 0123456789ABCDEF0123456789ABCDEF1 app.pdb\n"
                          "FILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 inner\n"
                          "FUNC 1000 10 0 outer\nINLINE 0 3 0 0 1000 8\n1000 8 7 1\n1008 8 9 0\n"
                          "PUBLIC 2000 0 near\n";

TEST(what_is_known_of_a_frame)
{
    static const struct {
        const char *name;
        uint32_t index, depth;
        enum twinstack_kind kind;
        const char *module;
        uint64_t offset;
        const char *function, *file;
        uint32_t line;
        uint64_t distance;
        const char *source, *found_by, *note;
    } rows[] = {
        {"inlined", 0, 1, TWINSTACK_INTERRUPTED, "app.exe", 0x1004, "inner", "b.c", 7, 4,
         "breakpad", "inlined", NULL},
        {"its caller", 0, 0, TWINSTACK_INTERRUPTED, "app.exe", 0x1004, "outer", "a.c", 3, 4,
         "breakpad", "given", NULL},
        {"a return address", 1, 0, TWINSTACK_RETURN, "app.exe", 0x1009, "outer", "a.c", 9, 8,
         "breakpad", "given", NULL},
        {"the nearest name", 2, 0, TWINSTACK_RETURN, "app.exe", 0x2002, "near", NULL, 0, 1,
         "breakpad-public", "given", NULL},
        {"of another module", 3, 0, TWINSTACK_RETURN, "b.dll", 0x10, NULL, NULL, 0, 0, "none",
         "given", "no symbol file"},
        {"none", 0, 0, TWINSTACK_INTERRUPTED, NULL, 0, NULL, NULL, 0, 0, "none", "context", NULL},
    };
    static const struct twinstack_memory file = {"app.sym", sym, sizeof sym - 1};
    static const char id[] = "0123456789ABCDEF0123456789ABCDEF1";
    static const struct twinstack_address addresses[] = {
        {.size = sizeof addresses[0], .module = "app.exe", .debug_id = id, .offset = 0x1004},
        {.module = "app.exe", .debug_id = id, .offset = 0x1009, .kind = TWINSTACK_RETURN},
        {.module = "app.exe", .debug_id = id, .offset = 0x2002, .kind = TWINSTACK_RETURN},
        {.module = "b.dll", .offset = 0x10, .kind = TWINSTACK_RETURN}};
    const struct twinstack_options options = {
        .size = sizeof options, .memory = &file, .memory_count = 1};
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_stack *stack = NULL;
    struct twinstack_error error;
    char note[400];
    REQUIRE(twinstack_open(&options, &symbols, &error) == TWINSTACK_OK);
    REQUIRE(twinstack_resolve(symbols, addresses, COUNT_OF(addresses), &stack, &error) ==
            TWINSTACK_OK);
    CHECK(twinstack_stop(stack) == NULL);
    CHECK(twinstack_label(stack) == NULL);
    REQUIRE(twinstack_frame_count(stack) == COUNT_OF(rows) - 1);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(twinstack_index(stack, i), rows[i].index);
        CHECK_EQ(twinstack_inline_depth(stack, i), rows[i].depth);
        CHECK_EQ(twinstack_kind(stack, i), rows[i].kind);
        CHECK_STR(twinstack_module(stack, i), rows[i].module);
        CHECK_HEX(twinstack_offset(stack, i), rows[i].offset);
        CHECK_STR(twinstack_function(stack, i), rows[i].function);
        CHECK_STR(twinstack_file(stack, i), rows[i].file);
        CHECK_EQ(twinstack_line(stack, i), rows[i].line);
        CHECK_HEX(twinstack_distance(stack, i), rows[i].distance);
        CHECK_STR(twinstack_source(stack, i), rows[i].source);
        CHECK_STR(twinstack_found_by(stack, i), rows[i].found_by);
        CHECK_STR(twinstack_note(stack, i, note, sizeof note), rows[i].note);
    }
    CHECK(twinstack_note(stack, 4, note, 0) == NULL);
    CHECK_STR(twinstack_note(stack, 4, note, 5), "no s");
    twinstack_stack_free(stack);
    twinstack_close(symbols);
}

/* Threads 7 and 8, of which the second has a name; both are in no module. */
static struct twinstack_dump *open_dump(void)
{
    static struct maker m;
    struct twinstack_dump *dump = NULL;
    struct twinstack_error error;
    char path[600];
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t context = maker_context(&m, 0x1234, 0x8000), name = maker_text(&m, "worker");
    const uint32_t stack = m.at;
    MAKER_PUT(&m, 8, 0, 0);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    maker_put(&m, 2, 4);
    for (uint32_t id = 7; id <= 8; id++) {
        MAKER_PUT(&m, 4, id, 0, 0, 0);
        MAKER_PUT(&m, 8, 0, 0x8000);
        MAKER_PUT(&m, 4, 16, stack, MAKER_CONTEXT_BYTES, context);
    }
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_THREAD_NAMES);
    MAKER_PUT(&m, 4, 1, 8, name, 0);
    maker_stream_end(&m);
    maker_finish(&m);
    (void)snprintf(path, sizeof path, "%s/a.dmp", test_scratch());
    test_write(path, m.data, m.at);
    REQUIRE(twinstack_dump_open(NULL, path, &dump, &error) == TWINSTACK_OK);
    return dump;
}

TEST(threads_of_a_dump_are_asked_by_place_and_walked_by_id)
{
    struct twinstack_dump *dump = open_dump();
    struct twinstack_stack *stack = NULL;
    struct twinstack_error error;
    REQUIRE(twinstack_thread_count(dump) == 2);
    CHECK_EQ(twinstack_thread_id(dump, 0), 7);
    CHECK_EQ(twinstack_thread_id(dump, 1), 8);
    CHECK_EQ(twinstack_thread_id(dump, 2), 0);
    CHECK(twinstack_thread_name(dump, 0) == NULL);
    CHECK_STR(twinstack_thread_name(dump, 1), "worker");
    CHECK(twinstack_thread_name(dump, 2) == NULL);
    CHECK_EQ(twinstack_suspect(dump), 7);
    REQUIRE(twinstack_dump_walk(dump, 8, &stack, &error) == TWINSTACK_OK);
    REQUIRE(twinstack_frame_count(stack) >= 1);
    CHECK_STR(twinstack_found_by(stack, 0), "context");
    CHECK_EQ(twinstack_kind(stack, 0), TWINSTACK_INTERRUPTED);
    CHECK(twinstack_stop(stack) != NULL);
    twinstack_stack_free(stack);
    CHECK_EQ(twinstack_dump_walk(dump, 9, &stack, &error), TWINSTACK_ABSENT);
    CHECK(stack == NULL && error.text[0] != '\0');
    CHECK_EQ(twinstack_dump_damage(dump, &error), TWINSTACK_OK);
    twinstack_dump_close(dump);
    twinstack_dump_close(NULL);
}

TEST(a_part_of_a_dump_that_is_not_there_is_refused)
{
    static const struct {
        const char *name;
        struct twinstack_dump_request request;
        enum twinstack_status want;
        const char *says;
    } rows[] = {
        {"no such part", {.part = (enum twinstack_dump_part)77}, TWINSTACK_USAGE, "part of a dump"},
        {"the last frame", {.part = TWINSTACK_DUMP_FRAME, .frame = 0}, TWINSTACK_OK, ""},
        {"no such frame",
         {.part = TWINSTACK_DUMP_FRAME, .frame = 9},
         TWINSTACK_USAGE,
         "thread 7 has frames 0 to 0"},
        {"one frame more",
         {.part = TWINSTACK_DUMP_FRAME, .frame = 1},
         TWINSTACK_USAGE,
         "thread 7 has frames 0 to 0"},
        {"of the other thread",
         {.part = TWINSTACK_DUMP_FRAME, .frame = 9, .thread_id = 8, .json = 1},
         TWINSTACK_USAGE,
         "thread 8 has frames 0 to "},
        {"of no thread",
         {.part = TWINSTACK_DUMP_FRAME, .thread_id = 9},
         TWINSTACK_ABSENT,
         "thread"},
    };
    struct twinstack_dump *dump = open_dump();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct twinstack_dump_request request = rows[i].request;
        struct twinstack_error error = {.text = ""};
        const char *text = "of an earlier call";
        size_t bytes = 99;
        test_row(rows[i].name);
        request.size = sizeof request;
        CHECK_EQ(twinstack_dump_write(dump, &request, &text, &bytes, &error), rows[i].want);
        CHECK_EQ(text != NULL, rows[i].want == TWINSTACK_OK);
        CHECK_EQ(bytes > 0, rows[i].want == TWINSTACK_OK);
        CHECK_HAS(error.text, rows[i].says);
    }
    twinstack_dump_close(dump);
}

/* Of a kept crash, all frames as JSON: each has its index, and the last one the end of the walk. */
TEST(the_last_frame_of_a_walk_says_why_it_ends)
{
    const char *paths[] = {test_source("corpus/symbols")};
    const struct twinstack_options options = {
        .size = sizeof options, .paths = paths, .path_count = 1};
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_dump *dump = NULL;
    struct twinstack_stack *stack = NULL;
    struct twinstack_error error;
    const struct twinstack_dump_request request = {
        .size = sizeof request, .part = TWINSTACK_DUMP_WALK, .json = 1};
    const char *text = NULL;
    size_t bytes = 0;
    REQUIRE(twinstack_open(&options, &symbols, &error) == TWINSTACK_OK);
    REQUIRE(twinstack_dump_open(symbols, test_source("corpus/cases/null_write.ob2/dump.dmp"), &dump,
                                &error) == TWINSTACK_OK);
    REQUIRE(twinstack_dump_walk(dump, twinstack_suspect(dump), &stack, &error) == TWINSTACK_OK);
    uint32_t frames = 0;
    for (uint32_t i = 0; i < twinstack_frame_count(stack); i++)
        frames += twinstack_inline_depth(stack, i) == 0;
    REQUIRE(frames > 2);
    REQUIRE(twinstack_dump_write(dump, &request, &text, &bytes, &error) == TWINSTACK_OK);
    for (uint32_t i = 0; i < frames; i++) {
        char index[32];
        (void)snprintf(index, sizeof index, "\"index\": %u,", (unsigned)i);
        text = strstr(text, index);
        REQUIRE(text != NULL);
        const char *stop = strstr(text, "\"stop\": ");
        REQUIRE(stop != NULL);
        test_row(index);
        CHECK_EQ(strncmp(stop, "\"stop\": null", strlen("\"stop\": null")) == 0, i + 1 < frames);
    }
    CHECK(strstr(text + 1, "\"index\": ") == NULL);
    twinstack_stack_free(stack);
    twinstack_dump_close(dump);
    twinstack_close(symbols);
}

TEST(statuses_have_words)
{
    static const struct {
        enum twinstack_status status;
        const char *word;
    } rows[] = {{TWINSTACK_OK, "ok"},
                {TWINSTACK_ABSENT, "absent"},
                {TWINSTACK_TRUNCATED, "truncated"},
                {TWINSTACK_TIMEOUT, "timeout"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_STR(twinstack_status_name(rows[i].status), rows[i].word);
    CHECK_HAS(twinstack_version(), ".");
}
