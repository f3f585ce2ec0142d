/* What a dump says about a crash (reporter/facts.h), and what is judged where a file is missing.
 * Addresses are those of corpus/reporter as llvm-objdump-19, llvm-pdbutil-19 and llvm-symbolizer-19
 * print them of app.exe and app.pdb; the other dumps are made here, word by word. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "format/minidump/minidump.h"
#include "minidump_maker.h"
#include "reporter/facts.h"
#include "reporter/reporter.h"
#include "symbol/symbol_store.h"
#include "test.h"

#define APP_VA ((uint64_t)0x7ffc66600000)
#define OTHER_VA ((uint64_t)0x7ff738dc0000) /* plug.dll */

struct opened {
    struct arena keep;
    struct symbol_store *symbols;
    struct crash_facts facts;
};

static struct symbol_store *open_symbols(const char *folder)
{
    const char *roots[] = {folder};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1, .cache = "none"};
    struct symbol_store *symbols = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    return symbols;
}

/* SYMBOLS may be NULL. */
static void open_facts(struct opened *o, const char *dump, const char *symbols, uint32_t thread)
{
    struct fault fault = FAULT_INIT;
    arena_init(&o->keep, 0);
    o->symbols = symbols != NULL ? open_symbols(symbols) : NULL;
    REQUIRE(facts_open(dump, o->symbols, thread, &o->keep, &o->facts, &fault) == ERR_NONE);
}

static void close_facts(struct opened *o)
{
    facts_close(&o->facts);
    if (o->symbols != NULL)
        symbol_store_close(o->symbols);
    arena_free(&o->keep);
}

static void open_crash_04(struct opened *o)
{
    open_facts(o, test_source("corpus/reporter/dumps/crash-04.dmp"),
               test_source("corpus/reporter/symbols"), 0);
}

TEST(an_image_says_where_it_wanted_to_be_and_what_is_code)
{
    static const struct {
        uint64_t rva;
        bool has, is_code;
        uint32_t start_rva, start_foff;
    } rows[] = {
        {0x1000, true, true, 0x1000, 0x400},  {0x1379, true, true, 0x1000, 0x400},
        {0x2010, true, false, 0x2000, 0x800}, {0x4008, true, false, 0x4000, 0xa00},
        {0x8000, false, false, 0, 0},         {0x100001010, false, false, 0, 0},
    };
    struct opened o;
    open_crash_04(&o);
    const struct crash_world *w = &o.facts.world;
    uint64_t base = 0;
    REQUIRE(w->module_count == 2);
    CHECK(w->preferred_base(w->self, w->modules[0], &base));
    CHECK_HEX(base, 0x140000000);
    CHECK(w->preferred_base(w->self, w->modules[1], &base));
    CHECK_HEX(base, 0x180000000);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t start_rva = 0, start_foff = 0;
        char name[32];
        (void)snprintf(name, sizeof name, "0x%llx", (unsigned long long)rows[i].rva);
        test_row(name);
        CHECK_EQ(w->section(w->self, w->modules[0], rows[i].rva, &start_rva, &start_foff),
                 rows[i].has);
        CHECK_HEX(start_rva, rows[i].start_rva);
        CHECK_HEX(start_foff, rows[i].start_foff);
        CHECK_EQ(w->is_code(w->self, APP_VA + rows[i].rva), rows[i].is_code);
    }
    test_row("in no module");
    CHECK(!w->is_code(w->self, 0x10000));
    close_facts(&o);
}

TEST(symbols_name_a_frame_where_it_is_looked_up)
{
    enum { RETURN, INTERRUPTED };
    static const struct {
        const char *what;
        uint64_t offset;
        int kind;
        const char *name;
        enum named_as want;
        uint32_t inlines;
    } rows[] = {
        {"in a function", 0x10e8, RETURN, "level2", NAMED_HERE, 0},
        {"another name", 0x10e8, RETURN, "level3", NAMED_OTHERWISE, 0},
        {"the function itself", 0x1040, INTERRUPTED, "inner", NAMED_HERE, 0},
        {"after one byte of a function", 0x1041, RETURN, "inner", NAMED_HERE, 0},
        {"one that is inlined there", 0x1061, RETURN, "around", NAMED_HERE, 1},
        {"and the one around it", 0x1061, RETURN, "inner", NAMED_HERE, 1},
        {"two are inlined", 0x1071, RETURN, "twice", NAMED_HERE, 2},
        {"two, interrupted", 0x1270, INTERRUPTED, "from_plug", NAMED_HERE, 2},
        {"its first byte returned to", 0x10d0, RETURN, "level2", NAMED_WITHOUT_STEP, 0},
        {"its last byte returned to", 0x1102, RETURN, "level2", NAMED_HERE, 0},
        {"the next one's first byte, interrupted", 0x1110, INTERRUPTED, "level2",
         NAMED_WITHOUT_STEP, 0},
        {"its first byte, interrupted", 0x10d0, INTERRUPTED, "level2", NAMED_HERE, 0},
        {"its second byte, and the one before it", 0x10d1, INTERRUPTED, "level1", NAMED_OTHERWISE,
         0},
        {"the image's first byte", 0, RETURN, "level2", NAMED_UNKNOWN, 0},
        {"the same, interrupted", 0, INTERRUPTED, "level2", NAMED_UNKNOWN, 0},
    };
    struct opened o;
    open_crash_04(&o);
    const struct crash_world *w = &o.facts.world;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct place place = {.module = "app.exe",
                              .image = w->modules[0],
                              .offset = rows[i].offset,
                              .interrupted = rows[i].kind == INTERRUPTED};
        test_row(rows[i].what);
        CHECK_EQ(w->named(w->self, &place, rows[i].name), rows[i].want);
        CHECK_EQ(w->inlines(w->self, &place), rows[i].inlines);
        place.image = NULL;
        CHECK_EQ(w->named(w->self, &place, rows[i].name), NAMED_UNKNOWN);
        CHECK_EQ(w->inlines(w->self, &place), 0);
    }
    close_facts(&o);
}

/* ---- dumps that are made here ------------------------------------------------------------- */

#define STACK_VA ((uint64_t)0x10000)
#define BASE_A ((uint64_t)0x400000) /* of 0x10000 bytes, as the maker writes modules */
#define BASE_B ((uint64_t)0x500000)
#define BASE_GONE ((uint64_t)0x600000)

enum { WORDS = 16, X86 = 0, ARM64 = 12, X64 = 9, NO_FRAME = 99 };

/* Places in a CONTEXT, from winnt.h. */
static const struct processor {
    const char *name;
    uint16_t architecture;
    uint32_t pointer, bytes, flags_at, flags, frame_at, sp_at, pc_at;
} processors[] = {
    {"x86", X86, 4, 716, 0x0, 0x10003, 0xb4, 0xc4, 0xb8},
    {"x64", X64, 8, 1232, 0x30, 0x100003, 0xa0, 0x98, 0xf8},
    {"arm64", ARM64, 8, 912, 0x0, 0x400003, 0xf0, 0x100, 0x108},
};

static void put_field(uint8_t *at, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Three threads, 7, 8 and 9, with the same words of stack; each stops at its own PC. The stack
 * pointer is at word 2, the frame pointer at word FRAME. */
static const char *write_dump(const struct processor *p, const uint64_t *words, uint32_t frame)
{
    static const uint64_t pcs[] = {BASE_A + 0x10, BASE_B + 0x20, BASE_A + 0x30};
    static struct maker m;
    static char path[700];
    uint32_t contexts[3];
    maker_start(&m);
    maker_system_info(&m, p->architecture);
    for (int i = 0; i < 3; i++) {
        uint8_t context[1232] = {0};
        contexts[i] = m.at;
        put_field(context + p->flags_at, p->flags, 4);
        put_field(context + p->frame_at, STACK_VA + (uint64_t)frame * p->pointer, p->pointer);
        put_field(context + p->sp_at, STACK_VA + 2 * (uint64_t)p->pointer, p->pointer);
        put_field(context + p->pc_at, pcs[i], p->pointer);
        for (uint32_t k = 0; k < p->bytes; k++)
            maker_put(&m, context[k], 1);
    }
    const uint32_t stack = m.at;
    for (int i = 0; i < WORDS; i++)
        maker_put(&m, words[i], p->pointer);
    const uint32_t a = maker_text(&m, "a.exe"), b = maker_text(&m, "b.dll"),
                   gone = maker_text(&m, "gone.dll");
    maker_stream_begin(&m, STREAM_MODULE_LIST);
    maker_put(&m, 2, 4);
    maker_module_row(&m, BASE_A, a);
    maker_module_row(&m, BASE_B, b);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_UNLOADED_MODULE_LIST);
    MAKER_PUT(&m, 4, 12, 24, 1);
    MAKER_PUT(&m, 8, BASE_GONE);
    MAKER_PUT(&m, 4, 0x1000, 0, 0, gone);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    maker_put(&m, 3, 4);
    for (uint32_t i = 0; i < 3; i++) {
        MAKER_PUT(&m, 4, 7 + i, 0, 0, 0);
        MAKER_PUT(&m, 8, 0, STACK_VA);
        MAKER_PUT(&m, 4, WORDS * p->pointer, stack, p->bytes, contexts[i]);
    }
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MEMORY_LIST);
    maker_put(&m, 1, 4);
    maker_put(&m, STACK_VA, 8);
    MAKER_PUT(&m, 4, WORDS * p->pointer, stack);
    maker_stream_end(&m);
    maker_finish(&m);
    (void)snprintf(path, sizeof path, "%s/made.dmp", test_scratch());
    test_write(path, m.data, m.at);
    return path;
}

/* "a.exe!10@ b.dll!20 ": '@' marks a place that was interrupted. */
static const char *show(struct places places)
{
    static char text[600];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < places.count && at < sizeof text; i++)
        at += (size_t)snprintf(
            text + at, sizeof text - at, "%s!%llx%s%s ",
            places.at[i].module != NULL ? places.at[i].module : "?",
            (unsigned long long)places.at[i].offset, places.at[i].interrupted ? "@" : "",
            (places.at[i].image != NULL) == (places.at[i].module != NULL) ? "" : "(image)");
    return text;
}

/* Words of the chain: AT(n) is the address of word n. A frame has the next one's address in its
 * first word, and where it returns to in the second. */
#define AT(N) (UINT64_MAX - (N))
static const struct {
    const char *name;
    uint32_t frame;
    uint64_t words[WORDS];
    const char *chain;
} chains[] = {
    {"three frames",
     4,
     {[4] = AT(8), BASE_B + 0x40, [8] = AT(10), BASE_A + 0x50, [10] = 0, 0},
     "a.exe!10@ b.dll!40 a.exe!50 "},
    {"it ends in no module",
     4,
     {[4] = AT(8), BASE_B + 0x40, [8] = AT(10), 0x77, [10] = AT(12), BASE_A + 0x60},
     "a.exe!10@ b.dll!40 "},
    {"it does not grow", 4, {[4] = AT(4), BASE_B + 0x40}, "a.exe!10@ b.dll!40 "},
    {"it goes down", 4, {[2] = AT(8), BASE_A + 0x70, AT(2), BASE_B + 0x40}, "a.exe!10@ b.dll!40 "},
    {"it leaves the stack", 14, {[14] = AT(WORDS), BASE_B + 0x40}, "a.exe!10@ b.dll!40 "},
    {"half a frame", 15, {[15] = AT(4)}, "a.exe!10@ "},
    {"there is none", NO_FRAME, {0}, "a.exe!10@ "},
    {"it returns to 0", 4, {[4] = AT(8), 0, [8] = AT(10), BASE_A + 0x50}, "a.exe!10@ "},
    {"unloaded code", 4, {[4] = AT(8), BASE_GONE + 0x40}, "a.exe!10@ "},
};

static const char *write_chain(const struct processor *p, size_t row)
{
    uint64_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint64_t word = chains[row].words[i], at = UINT64_MAX - word;
        words[i] = at <= WORDS ? STACK_VA + at * p->pointer : word;
    }
    return write_dump(p, words, chains[row].frame);
}

TEST(a_chain_of_frame_pointers_is_followed_as_a_walker_without_tables_would)
{
    for (size_t i = 0; i < COUNT_OF(processors) * COUNT_OF(chains); i++) {
        const struct processor *p = &processors[i % COUNT_OF(processors)];
        const size_t row = i / COUNT_OF(processors);
        struct opened o;
        char name[100];
        (void)snprintf(name, sizeof name, "%s, %s", p->name, chains[row].name);
        test_row(name);
        open_facts(&o, write_chain(p, row), NULL, 7);
        const struct places chain = o.facts.world.chain(o.facts.world.self);
        CHECK_STR(show(chain), chains[row].chain);
        for (uint32_t k = 0; k < chain.count; k++)
            CHECK_HEX(chain.at[k].va, chain.at[k].image->base_va + chain.at[k].offset);
        close_facts(&o);
    }
}

TEST(other_threads_and_all_modules_are_there)
{
    static const struct {
        uint32_t about, index, id;
        const char *first; /* of its stack; NULL: it is the one that the dump is about */
    } rows[] = {
        {7, 0, 7, NULL}, {7, 1, 8, "b.dll!20@ "}, {7, 2, 9, "a.exe!30@ "}, {8, 0, 7, "a.exe!10@ "},
        {8, 1, 8, NULL}, {9, 2, 9, NULL},         {9, 1, 8, "b.dll!20@ "},
    };
    static const uint64_t words[WORDS] = {0};
    const char *path = write_dump(&processors[1], words, NO_FRAME);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct opened o;
        struct places stack;
        uint32_t id = 0;
        char name[32];
        (void)snprintf(name, sizeof name, "%u of %u", rows[i].index, rows[i].about);
        test_row(name);
        open_facts(&o, path, NULL, rows[i].about);
        const struct crash_world *w = &o.facts.world;
        CHECK_EQ(o.facts.thread_id, rows[i].about);
        REQUIRE(w->thread(w->self, rows[i].index, &id, &stack));
        CHECK_EQ(id, rows[i].id);
        CHECK_EQ(stack.count > 0, rows[i].first != NULL);
        if (rows[i].first != NULL) {
            stack.count = stack.count > 0 ? 1 : 0;
            CHECK_STR(show(stack), rows[i].first);
        }
        CHECK(!w->thread(w->self, 3, &id, &stack));
        REQUIRE(w->module_count == 3); /* what was unloaded is last */
        CHECK_STR(w->modules[0]->name, "a.exe");
        CHECK_STR(w->modules[1]->name, "b.dll");
        CHECK_STR(w->modules[2]->name, "gone.dll");
        CHECK_EQ(o.facts.certain, 1); /* without an image only where it stopped */
        CHECK(!o.facts.complete && o.facts.lacking == NULL);
        close_facts(&o);
    }
    struct arena keep;
    struct crash_facts facts;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    test_row("no such thread");
    CHECK_EQ(facts_open(path, NULL, 6, &keep, &facts, &fault), ERR_ABSENT);
    CHECK_STR(fault.path, path);
    arena_free(&keep);
}

TEST(only_the_live_stack_is_searched)
{
    static const struct {
        const char *name;
        uint64_t value;
        uint32_t word; /* WORDS: nowhere */
    } rows[] = {
        {"below the stack pointer", 0x1111, WORDS},
        {"at it", 0x2222, 2},
        {"in between", 0x3333, 7},
        {"the last word", 0x4444, 15},
        {"twice: the inner one", 0x5555, 9},
        {"all bytes", 0x89abcdef, 11},
        {"across two words", 0xcdef0000, WORDS},
        {"not there", 0x6666, WORDS},
    };
    static const uint64_t words[WORDS] = {[1] = 0x1111, 0x2222,     [7] = 0x3333, [9] = 0x5555,
                                          0x5555,       0x89abcdef, [15] = 0x4444};
    for (size_t i = 0; i < COUNT_OF(processors) * COUNT_OF(rows); i++) {
        const struct processor *p = &processors[i % COUNT_OF(processors)];
        const size_t row = i / COUNT_OF(processors);
        struct opened o;
        char name[100];
        (void)snprintf(name, sizeof name, "%s, %s", p->name, rows[row].name);
        test_row(name);
        open_facts(&o, write_dump(p, words, NO_FRAME), NULL, 7);
        CHECK_HEX(o.facts.world.stack_slot(o.facts.world.self, rows[row].value),
                  rows[row].word < WORDS ? STACK_VA + (uint64_t)rows[row].word * p->pointer : 0);
        close_facts(&o);
    }
}

/* ---- what is judged where an image is missing --------------------------------------------- */

/* Where crash-04 has the name of plug.dll, and where its stack has the return addresses of its last
 * two frames; the outermost one is then found by a scan. */
enum { NAME_AT = 0x1bc, RETURN_6_AT = 0x940 };

#define OWN "plug.dll"
#define SYSTEM "dxgi.dll"
#define FRAMES_0_TO_5                                                                              \
    "app.exe+0x1020\napp.exe+0x10e8\napp.exe+0x1136\napp.exe+0x1176\napp.exe+0x11b6\n"             \
    "app.exe+0x11f6\n"

#define LOWER                                                                                      \
    "app.exe+0x1020\napp.exe+0x10e7\napp.exe+0x1135\napp.exe+0x1175\napp.exe+0x11b5\n"             \
    "app.exe+0x11f5\ndxgi.dll+0x100f\n"

static const struct missing {
    const char *name, *module; /* that the stack goes through; NULL: through none */
    const char *stack;
    enum reporter_verdict verdict;
    const char *mechanism;
    uint32_t first, certain;
    const char *words;
    bool by_scan;
} missing[] = {
    {"what is certain", SYSTEM, FRAMES_0_TO_5 "dxgi.dll+0x1010\n", REPORTER_SOUND, "sound", 0, 7,
     NULL, false},
    {"and further frames of Windows", SYSTEM,
     FRAMES_0_TO_5 "dxgi.dll+0x1010\nkernel32.dll+0x10\nntdll.dll+0x20\n", REPORTER_SOUND, "sound",
     0, 7, NULL, true},
    {"and what the scan found", SYSTEM, FRAMES_0_TO_5 "dxgi.dll+0x1010\napp.exe+0x132a\n",
     REPORTER_SOUND, "sound", 0, 7, NULL, true},
    {"and another of the program", SYSTEM, FRAMES_0_TO_5 "dxgi.dll+0x1010\napp.exe+0x1900\n",
     REPORTER_NOT_JUDGED, "sound", 7, 7, "the image of dxgi.dll is missing", false},
    {"one of Windows, then the program", SYSTEM,
     FRAMES_0_TO_5 "dxgi.dll+0x1010\nntdll.dll+0x20\napp.exe+0x1900\n", REPORTER_NOT_JUDGED,
     "sound", 7, 7, "the image of dxgi.dll is missing", false},
    {"a frame that is certain is missing", SYSTEM,
     "app.exe+0x1020\napp.exe+0x10e8\napp.exe+0x1176\napp.exe+0x11b6\napp.exe+0x11f6\n"
     "dxgi.dll+0x1010\nkernel32.dll+0x10\n",
     REPORTER_WRONG, "dropped_frames", 2, 7, "frame 2", false},
    {"it ends before", SYSTEM, "app.exe+0x1020\napp.exe+0x10e8\n", REPORTER_WRONG, "truncated", 2,
     7, "after 2 of", false},
    {"one byte lower, and one of Windows", SYSTEM, LOWER "kernel32.dll+0x10\n", REPORTER_WRONG,
     "lookup_address", 1, 7, NULL, false},
    {"only one of Windows", SYSTEM, "kernel32.dll+0x10\n", REPORTER_WRONG, "unexplained", 0, 7,
     NULL, false},
    {"other frames", SYSTEM, "app.exe+0x1020\napp.exe+0x1900\napp.exe+0x1910\n", REPORTER_WRONG,
     "unexplained", 1, 7, NULL, false},
    {"an image of the program", OWN, FRAMES_0_TO_5 "plug.dll+0x1010\n", REPORTER_NOT_JUDGED,
     "sound", 0, 7, "the image of plug.dll is missing", false},
    {"the same, and wrong", OWN, "app.exe+0x1020\napp.exe+0x1900\n", REPORTER_NOT_JUDGED, "sound",
     1, 7, "the image of plug.dll is missing", false},
    {"in no module", NULL, FRAMES_0_TO_5 "app.exe+0x1900\n", REPORTER_WRONG, "invented_frames", 6,
     7, NULL, false},
    {"in no module, and more", NULL, FRAMES_0_TO_5 "?!0x5000\napp.exe+0x1900\n",
     REPORTER_NOT_JUDGED, "sound", 7, 7, "the dump's own stack is certain up to frame 6 only",
     false},
};

TEST(what_is_certain_is_judged_and_what_follows_is_not)
{
    size_t bytes;
    char symbols[650], dumps[700], path[800];
    struct fault fault = FAULT_INIT;
    (void)snprintf(symbols, sizeof symbols, "%s/symbols", test_scratch());
    REQUIRE(folder_make(symbols, &fault) == ERR_NONE);
    for (const char *const *file = (const char *const[]){"app.exe", "app.pdb", NULL}; *file != NULL;
         file++) {
        (void)snprintf(path, sizeof path, "corpus/reporter/symbols/%s", *file);
        const uint8_t *data = test_read(test_source(path), &bytes);
        (void)snprintf(path, sizeof path, "%s/%s", symbols, *file);
        test_write(path, data, bytes);
    }
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        const struct missing *m = &missing[i];
        struct reporter_result result;
        struct arena keep;
        uint8_t *dump = test_read(test_source("corpus/reporter/dumps/crash-04.dmp"), &bytes);
        test_row(m->name);
        for (size_t k = 0; m->module != NULL && m->module[k] != '\0'; k++)
            put_field(dump + NAME_AT + 2 * k, (uint8_t)m->module[k], 2);
        put_field(dump + RETURN_6_AT, m->module != NULL ? OTHER_VA + 0x1010 : 0x5000, 8);
        (void)snprintf(dumps, sizeof dumps, "%s/%zu", test_scratch(), i);
        REQUIRE(folder_make(dumps, &fault) == ERR_NONE);
        (void)snprintf(path, sizeof path, "%s/a.dmp", dumps);
        test_write(path, dump, bytes);
        (void)snprintf(path, sizeof path, "%s/a.txt", dumps);
        test_write(path, m->stack, strlen(m->stack));
        const struct reporter_request request = {
            .dumps = dumps, .stacks = dumps, .symbols = open_symbols(symbols)};
        arena_init(&keep, 0);
        REQUIRE(reporter_judge(&request, &keep, &result, &fault) == ERR_NONE);
        REQUIRE(result.row_count == 1);
        const struct reporter_row *row = &result.rows[0];
        CHECK_EQ(row->verdict, m->verdict);
        CHECK_STR(mechanism_row(row->mechanism)->name, m->mechanism);
        CHECK_EQ(row->first, m->first);
        CHECK_EQ(row->certain, m->certain);
        CHECK_EQ(result.by_scan, m->by_scan);
        if (m->words != NULL)
            CHECK_HAS(row->words, m->words);
        CHECK_EQ(result.missing_count, m->module != NULL);
        if (m->module != NULL && result.missing_count == 1) {
            CHECK_STR(result.missing[0].file, m->module);
            CHECK_EQ(result.missing[0].system, strcmp(m->module, SYSTEM) == 0);
            CHECK(!result.missing[0].pdb);
        }
        symbol_store_close(request.symbols);
        arena_free(&keep);
    }
}
