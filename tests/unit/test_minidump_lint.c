/* Faults of a dump by the format: one good dump, and one fault per row put into it. */
#include <stdio.h>
#include <string.h>

#include "format/minidump/lint.h"
#include "minidump_maker.h"
#include "short_memory.h"
#include "test.h"

enum { CONTEXT_BYTES = 1232, DIRECTORY = 32 };
enum { AT_SYSTEM, AT_MODULES, AT_THREADS, AT_NAMES, AT_UNLOADED, AT_MEMORY, AT_EXCEPTION };

/* Where the parts of the good dump are. */
struct good {
    struct maker m;
    uint32_t name, codeview, context, stack;
};

static uint32_t stream_at(const struct good *g, int stream)
{
    return g->m.rows[stream][2];
}

static void put_module(struct good *g, uint64_t base_va)
{
    maker_module_row(&g->m, base_va, g->name);
    const uint32_t end = g->m.at;
    g->m.at = end - 108 + 76;
    MAKER_PUT(&g->m, 4, 30, g->codeview);
    g->m.at = end;
}

/* Two modules, one thread with 16 bytes of stack in two ranges, one unloaded module. */
static void make_good(struct good *g)
{
    struct maker *m = &g->m;
    maker_start(m);
    const uint32_t pack = maker_text(m, "");
    g->name = maker_text(m, "C:\\a.exe");
    g->codeview = m->at;
    maker_put(m, 0x53445352, 4);
    m->at += 20;
    memcpy(m->data + m->at, "a.pdb", 6);
    m->at += 6;
    g->context = m->at;
    m->at += CONTEXT_BYTES;
    g->stack = m->at;
    m->at += 16;
    maker_system_info(m, 9);
    memcpy(m->data + m->rows[AT_SYSTEM][2] + 24, &pack, 4);
    maker_stream_begin(m, STREAM_MODULE_LIST);
    maker_put(m, 2, 4);
    put_module(g, 0x140000000);
    put_module(g, 0x150000000);
    maker_stream_end(m);
    maker_stream_begin(m, STREAM_THREAD_LIST);
    MAKER_PUT(m, 4, 1, 42, 0, 0, 0, 0, 0, 0x8000, 0, 16, g->stack, CONTEXT_BYTES, g->context);
    maker_stream_end(m);
    maker_stream_begin(m, STREAM_THREAD_NAMES);
    MAKER_PUT(m, 4, 1, 42, g->name, 0);
    maker_stream_end(m);
    maker_stream_begin(m, STREAM_UNLOADED_MODULE_LIST);
    MAKER_PUT(m, 4, 12, 24, 1, 0x60000000, 1, 0x10000, 0, 7, g->name);
    maker_stream_end(m);
    maker_stream_begin(m, STREAM_MEMORY_LIST);
    MAKER_PUT(m, 4, 2, 0x8000, 0, 8, g->stack, 0x8008, 0, 8, g->stack + 8);
    maker_stream_end(m);
    maker_stream_begin(m, STREAM_EXCEPTION);
    MAKER_PUT(m, 4, 42, 0, 0xc0000005);
    m->at += 144;
    MAKER_PUT(m, 4, 1, CONTEXT_BYTES, g->context);
    m->at += 4;
    maker_stream_end(m);
    maker_finish(m);
}

/* What a row changes: 4 bytes at AT of a stream (or of the file), or of the directory's row. */
enum where { IN_STREAM, IN_FILE, IN_ENTRY };

static const struct {
    const char *name;
    enum where where;
    int stream;
    uint32_t at, value;
    const char *rule; /* "": none */
    const char *stream_name, *text;
    uint32_t count;
} rows[] = {
    {"good", IN_FILE, 0, 20, 7, "", NULL, "", 0},
    {"fewer modules than bytes", IN_STREAM, AT_MODULES, 0, 1, "list_size", "ModuleList",
     "the directory states 220 bytes, the list's 1 entries take 112", 1},
    {"fewer bytes than modules", IN_ENTRY, AT_MODULES, 4, 4 + 108, "list_size", "ModuleList",
     "the directory states 112 bytes, the list's 2 entries take 220", 1},
    {"more threads than bytes", IN_STREAM, AT_THREADS, 0, 9, "list_size", "ThreadList", "9 entries",
     1},
    {"more names than bytes", IN_STREAM, AT_NAMES, 0, 2, "list_size", "ThreadNames", "2 entries",
     1},
    {"fewer ranges than bytes", IN_STREAM, AT_MEMORY, 0, 1, "list_size", "MemoryList", "1 entries",
     1},
    {"entries of no size", IN_STREAM, AT_UNLOADED, 4, 0, "list_size", "UnloadedModuleList",
     "sizes that cannot be", 1},
    {"more unloaded modules than bytes", IN_STREAM, AT_UNLOADED, 8, 3, "list_size",
     "UnloadedModuleList", "3 entries", 1},
    {"type of Wine", IN_ENTRY, AT_NAMES, 0, 0xfff0, "reserved_type", "WineElfModules", "0xfff0", 1},
    {"type 1", IN_ENTRY, AT_NAMES, 0, 1, "reserved_type", "Reserved0", "0x1 ", 1},
    {"type 25", IN_ENTRY, AT_NAMES, 0, 25, "reserved_type", NULL, "0x19", 1},
    {"type of a user", IN_ENTRY, AT_NAMES, 0, 0x10000, "", NULL, "", 0},
    {"unused", IN_ENTRY, AT_NAMES, 0, 0, "", NULL, "", 0},
    {"past the end", IN_ENTRY, AT_NAMES, 8, 0x7fffffff, "stream_past_end", "ThreadNames",
     "16 bytes at 0x7fffffff", 1},
    {"a second list of threads", IN_ENTRY, AT_NAMES, 0, STREAM_THREAD_LIST, "stream_twice",
     "ThreadList", "type 0x3", 1},
    {"no system", IN_ENTRY, AT_SYSTEM, 0, 0, "stream_missing", "SystemInfo", "processor", 1},
    {"no modules", IN_ENTRY, AT_MODULES, 0, 0, "stream_missing", "ModuleList", "modules", 1},
    {"no threads", IN_ENTRY, AT_THREADS, 0, 0, "stream_missing", "ThreadList", "threads", 1},
    {"no memory", IN_ENTRY, AT_MEMORY, 0, 0, "stream_missing", "MemoryList", "memory", 1},
    {"two streams at one place", IN_ENTRY, AT_NAMES, 8, 0, "places_overlap", NULL,
     "ThreadNames begins at 0x0", 1},
    {"name past the end", IN_STREAM, AT_MODULES, 4 + 20, 0x7ffffff0, "text_past_end", "ModuleList",
     "name of entry 0", 1},
    {"thread name past the end", IN_STREAM, AT_NAMES, 8, 0x7ffffff0, "text_past_end", "ThreadNames",
     "name of entry 0", 1},
    {"unloaded name past the end", IN_STREAM, AT_UNLOADED, 12 + 20, 0x7ffffff0, "text_past_end",
     "UnloadedModuleList", "name of entry 0", 1},
    {"no service pack", IN_STREAM, AT_SYSTEM, 24, 0, "", NULL, "", 0},
    {"service pack past the end", IN_STREAM, AT_SYSTEM, 24, 0x7ffffff0, "text_past_end",
     "SystemInfo", "service pack", 1},
    {"no CodeView record", IN_STREAM, AT_MODULES, 4 + 76, 0, "no_codeview", "ModuleList", "a.exe",
     1},
    {"CodeView record past the end", IN_STREAM, AT_MODULES, 4 + 80, 0x7ffffff0, "codeview_damaged",
     "ModuleList", "past the end", 1},
    {"CodeView record without a zero", IN_STREAM, AT_MODULES, 4 + 76, 29, "codeview_damaged",
     "ModuleList", "no zero ends", 1},
    {"module inside a module", IN_STREAM, AT_MODULES, 4 + 108, 0x40008000, "modules_overlap",
     "ModuleList", "a.exe begins at 0x140008000, inside a.exe", 1},
    {"modules beside each other", IN_STREAM, AT_MODULES, 4 + 108, 0x40010000, "", NULL, "", 0},
    {"module over module", IN_STREAM, AT_MODULES, 4 + 8, 0x10000001, "modules_overlap",
     "ModuleList", "a.exe begins at 0x150000000, inside a.exe", 1},
    {"range over range", IN_STREAM, AT_MEMORY, 4 + 8, 9, "memory_overlap", "MemoryList",
     "begins at 0x8008", 1},
    {"range past the end", IN_STREAM, AT_MEMORY, 4 + 12, 0x7ffffff0, "memory_past_end",
     "MemoryList", "0x8000", 1},
    {"short context", IN_STREAM, AT_THREADS, 4 + 40, 716, "context_size", "ThreadList",
     "thread 42 has 716 bytes, its processor's has 1232", 1},
    {"exception of no thread", IN_STREAM, AT_EXCEPTION, 0, 43, "exception_thread", "Exception",
     "thread 43", 1},
};

static uint32_t count_rule(const struct minidump_complaints *found, const char *rule,
                           const struct minidump_complaint **first)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->count; i++)
        if (strcmp(found->rows[i].rule, rule) == 0 && count++ == 0)
            *first = &found->rows[i];
    return count;
}

TEST(each_fault_is_reported_with_its_place_and_effect)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct good g;
        struct arena arena;
        struct minidump dump;
        struct minidump_complaints found;
        const struct minidump_complaint *first = NULL;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        make_good(&g);
        uint32_t at = rows[i].at;
        at += rows[i].where == IN_STREAM  ? stream_at(&g, rows[i].stream)
              : rows[i].where == IN_ENTRY ? DIRECTORY + 12 * (uint32_t)rows[i].stream
                                          : 0;
        const uint32_t end = g.m.at;
        g.m.at = at;
        maker_put(&g.m, rows[i].value, 4);
        g.m.at = end;
        arena_init(&arena, 0);
        REQUIRE(minidump_read(g.m.data, g.m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
        CHECK_EQ(count_rule(&found, rows[i].rule, &first), rows[i].count);
        if (rows[i].count == 0)
            CHECK_EQ(found.count, 0);
        if (first != NULL) {
            CHECK_STR(first->stream, rows[i].stream_name);
            CHECK_HAS(first->text, rows[i].text);
            CHECK(first->effect[0] != '\0' && first->foff <= g.m.at);
        }
        arena_free(&arena);
    }
}

/* Odd lengths and missing zeros of a text, wherever it is used. */
TEST(texts_that_are_not_texts)
{
    static const struct {
        const char *name, *rule;
        uint32_t at, value;
    } texts[] = {
        {"odd", "text_odd", 0, 15},
        {"zero missing", "text_not_terminated", 4 + 16, 'x'},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        static struct good g;
        struct arena arena;
        struct minidump dump;
        struct minidump_complaints found;
        const struct minidump_complaint *first = NULL;
        struct fault fault = FAULT_INIT;
        test_row(texts[i].name);
        make_good(&g);
        g.m.data[g.name + texts[i].at] = (uint8_t)texts[i].value;
        arena_init(&arena, 0);
        REQUIRE(minidump_read(g.m.data, g.m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
        CHECK_EQ(count_rule(&found, texts[i].rule, &first), 4); /* 2 modules, unloaded, thread */
        CHECK_EQ(found.count, 4);
        arena_free(&arena);
    }
}

/* The size of CONTEXT of winnt.h for each processor; of x86 without what only it has at the end. */
TEST(a_context_is_as_long_as_its_processor_has_it)
{
    static const struct {
        uint16_t architecture;
        uint32_t bytes, count;
    } contexts[] = {{0, 204, 0},  {0, 203, 1}, {9, 1232, 0}, {9, 1231, 1}, {12, 912, 0},
                    {12, 911, 1}, {5, 416, 0}, {5, 415, 1},  {6, 16, 0}};
    for (size_t i = 0; i < COUNT_OF(contexts); i++) {
        static struct good g;
        struct arena arena;
        struct minidump dump;
        struct minidump_complaints found;
        const struct minidump_complaint *first = NULL;
        struct fault fault = FAULT_INIT;
        char name[32];
        (void)snprintf(name, sizeof name, "%u of %u", (unsigned)contexts[i].bytes,
                       (unsigned)contexts[i].architecture);
        test_row(name);
        make_good(&g);
        memcpy(g.m.data + stream_at(&g, AT_SYSTEM), &contexts[i].architecture, 2);
        memcpy(g.m.data + stream_at(&g, AT_THREADS) + 4 + 40, &contexts[i].bytes, 4);
        arena_init(&arena, 0);
        REQUIRE(minidump_read(g.m.data, g.m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
        CHECK_EQ(count_rule(&found, "context_size", &first), contexts[i].count);
        arena_free(&arena);
    }
}

/* A thread that is listed twice, and a CodeView record of no known kind in both modules. */
TEST(threads_and_records_that_are_not_as_they_should_be)
{
    static struct good g;
    struct arena arena;
    struct minidump dump;
    struct minidump_complaints found;
    const struct minidump_complaint *thread = NULL, *record = NULL;
    struct fault fault = FAULT_INIT;
    make_good(&g);
    memcpy(g.m.data + g.codeview, "RSDX", 4);
    const uint32_t list = g.m.at;
    maker_put(&g.m, 3, 4);
    for (uint32_t id = 42; id < 45; id++)
        MAKER_PUT(&g.m, 4, id == 44 ? 42 : id, 0, 0, 0, 0, 0, 0x8000, 0, 16, g.stack, CONTEXT_BYTES,
                  g.context);
    const uint32_t end = g.m.at;
    g.m.at = DIRECTORY + 12 * AT_THREADS + 4;
    MAKER_PUT(&g.m, 4, end - list, list);
    arena_init(&arena, 0);
    REQUIRE(minidump_read(g.m.data, end, &arena, &dump, &fault) == ERR_NONE);
    REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
    if (CHECK_EQ(count_rule(&found, "thread_twice", &thread), 1)) {
        CHECK_STR(thread->stream, "ThreadList");
        CHECK_HAS(thread->text, "thread 42");
        CHECK_EQ(thread->foff, list + 4 + 2 * 48);
    }
    if (CHECK_EQ(count_rule(&found, "codeview_damaged", &record), 2)) {
        CHECK_HAS(record->text, "neither RSDS nor NB10");
        CHECK_EQ(record->foff, g.codeview);
    }
    arena_free(&arena);
}

static enum status list_faults(struct arena *keep, void *context, struct fault *fault)
{
    struct minidump_complaints found;
    return minidump_lint(context, keep, &found, fault);
}

/* Of a dump with a fault in most of its streams. */
TEST(memory_that_runs_out_while_faults_are_listed)
{
    static struct good g;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    make_good(&g);
    memcpy(g.m.data + g.codeview, "RSDX", 4);
    const uint32_t one = 1, nine = 9;
    memcpy(g.m.data + stream_at(&g, AT_MODULES), &one, 4);
    memcpy(g.m.data + stream_at(&g, AT_MEMORY) + 4 + 8, &nine, 4);
    memcpy(g.m.data + stream_at(&g, AT_EXCEPTION), &one, 4);
    arena_init(&arena, 0);
    REQUIRE(minidump_read(g.m.data, g.m.at, &arena, &dump, &fault) == ERR_NONE);
    short_memory(list_faults, &dump);
    arena_free(&arena);
}

/* A debugger reads the name of a module twice as long as it is: that may be past the last page. */
TEST(names_of_modules_at_the_end_of_the_last_page)
{
    enum { PAGE = 4096, NAME_BYTES = 16 };
    static const struct {
        const char *name;
        uint32_t left, cut; /* bytes after the name's zero in the page, and in none of the file */
        uint32_t want;
    } ends[] = {
        {"at the end", 0, 0, 2},
        {"two bytes too few", NAME_BYTES - 4, 0, 2},
        {"as many as are read", NAME_BYTES - 2, 0, 0},
        {"as many, and the file ends before", NAME_BYTES - 2, NAME_BYTES - 2, 0},
        {"too few, and the file ends before", NAME_BYTES - 4, NAME_BYTES - 4, 2},
    };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        static struct good g;
        struct arena arena;
        struct minidump dump;
        struct minidump_complaints found;
        const struct minidump_complaint *first = NULL;
        struct fault fault = FAULT_INIT;
        test_row(ends[i].name);
        make_good(&g);
        const uint32_t pages_end = (g.m.at + 2 * PAGE) / PAGE * PAGE;
        g.m.at = pages_end - ends[i].left - NAME_BYTES - 6;
        const uint32_t name = maker_text(&g.m, "C:\\a.exe");
        for (uint32_t k = 0; k < 2; k++)
            memcpy(g.m.data + stream_at(&g, AT_MODULES) + 4 + 108 * k + 20, &name, 4);
        arena_init(&arena, 0);
        REQUIRE(minidump_read(g.m.data, pages_end - ends[i].cut, &arena, &dump, &fault) ==
                ERR_NONE);
        REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
        CHECK_EQ(count_rule(&found, "name_at_end", &first), ends[i].want);
        CHECK_EQ(found.count, ends[i].want);
        if (first != NULL)
            CHECK_EQ(first->foff, name);
        arena_free(&arena);
    }
}

/* A range is compared with the one that ends last, not with the one before it. */
TEST(ranges_inside_a_range_are_all_reported)
{
    static const struct {
        const char *name;
        uint64_t starts[4], bytes[4]; /* in any order */
        uint32_t count;
    } ranges[] = {
        {"side by side", {0x100, 0x110, 0x120, 0x130}, {16, 16, 16, 16}, 0},
        {"two inside the first", {0x100, 0x108, 0x118, 0x200}, {32, 8, 8, 8}, 2},
        {"one begins where it ends", {0x100, 0x108, 0x120, 0x128}, {32, 8, 8, 8}, 1},
        {"one reaches beyond", {0x100, 0x110, 0x128, 0x140}, {32, 32, 8, 8}, 2},
        {"in another order", {0x128, 0x140, 0x100, 0x110}, {8, 8, 32, 32}, 2},
        {"a chain", {0x100, 0x10f, 0x11e, 0x12d}, {16, 16, 16, 16}, 3},
        {"the same twice", {0x100, 0x100, 0x200, 0x200}, {8, 8, 8, 8}, 2},
        {"empty ones are nowhere", {0x100, 0x104, 0x108, 0x200}, {8, 0, 0, 0}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        static struct maker m;
        struct arena arena;
        struct minidump dump;
        struct minidump_complaints found;
        const struct minidump_complaint *first = NULL;
        struct fault fault = FAULT_INIT;
        test_row(ranges[i].name);
        maker_start(&m);
        maker_system_info(&m, 9);
        maker_stream_begin(&m, STREAM_MEMORY_LIST);
        maker_put(&m, 4, 4);
        for (size_t k = 0; k < 4; k++) {
            maker_put(&m, ranges[i].starts[k], 8);
            MAKER_PUT(&m, 4, ranges[i].bytes[k], 64);
        }
        maker_stream_end(&m);
        maker_finish(&m);
        arena_init(&arena, 0);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
        CHECK_EQ(count_rule(&found, "memory_overlap", &first), ranges[i].count);
        arena_free(&arena);
    }
}

TEST(as_many_faults_as_a_limit_are_kept)
{
    enum { RANGES = 5000, BYTES = 32 + 12 + 4 + RANGES * 16 };
    static uint8_t data[BYTES];
    struct arena arena;
    struct minidump dump;
    struct minidump_complaints found;
    struct fault fault = FAULT_INIT;
    static struct maker m;
    memset(&m, 0, sizeof m);
    MAKER_PUT(&m, 4, 0x504d444d, 0xa793, 1, 32, 0, 0, 0, 0, STREAM_MEMORY_LIST, 4 + RANGES * 16, 44,
              RANGES);
    memcpy(data, m.data, m.at);
    for (uint32_t i = 0; i < RANGES; i++) /* each at address 0x1000 */
        memcpy(data + m.at + 16 * (size_t)i, "\0\x10\0\0\0\0\0\0\x8\0\0\0\0\0\0\0", 16);
    arena_init(&arena, 0);
    REQUIRE(minidump_read(data, sizeof data, &arena, &dump, &fault) == ERR_NONE);
    REQUIRE(minidump_lint(&dump, &arena, &found, &fault) == ERR_NONE);
    CHECK_EQ(found.count, LIMIT_COMPLAINTS);
    CHECK_EQ(found.count + found.left_out, RANGES - 1 + 3); /* and 3 streams are missing */
    arena_free(&arena);
}
