/* The record reader against records built word by word: sound, cut, unfinished, damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/record/record.h"
#include "short_memory.h"
#include "test.h"

/* A growing record; offsets are patched where the format needs them. */
struct draft {
    uint8_t bytes[8192];
    size_t size;
};

static void put(struct draft *d, uint64_t value, size_t bytes)
{
    REQUIRE(d->size + bytes <= sizeof d->bytes);
    for (size_t i = 0; i < bytes; i++)
        d->bytes[d->size++] = (uint8_t)(value >> 8 * i);
}

static void put_text(struct draft *d, const char *text)
{
    for (; *text != '\0'; text++)
        put(d, (uint8_t)*text, 1);
}

static void patch(struct draft *d, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        d->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void align(struct draft *d)
{
    while (d->size % 8 != 0)
        put(d, 0, 1);
}

static size_t section_begin(struct draft *d, uint32_t type, uint32_t count)
{
    const size_t at = d->size;
    put(d, type, 4);
    put(d, 0, 4);
    put(d, count, 4);
    put(d, 0, 4);
    return at;
}

static void section_end(struct draft *d, size_t at)
{
    align(d);
    patch(d, at + RECORD_S_BYTES, d->size - at, 4);
    patch(d, RECORD_H_COMMITTED, d->size, 8);
}

static void header(struct draft *d)
{
    memset(d, 0, sizeof *d);
    memcpy(d->bytes, RECORD_MAGIC, 8);
    d->size = RECORD_HEADER_BYTES;
    patch(d, RECORD_H_VERSION, RECORD_VERSION, 4);
    patch(d, RECORD_H_HEADER_BYTES, RECORD_HEADER_BYTES, 4);
    patch(d, RECORD_H_MACHINE, 0x8664, 4);
    patch(d, RECORD_H_KIND, RECORD_KIND_HANG, 4);
    patch(d, RECORD_H_PROCESS, 32, 4);
    patch(d, RECORD_H_SUSPECT, 36, 4);
    patch(d, RECORD_H_CODE, 0xC0000005, 4);
    patch(d, RECORD_H_FLAGS, 1, 4);
    patch(d, RECORD_H_ADDRESS, 0x140001234, 8);
    patch(d, RECORD_H_INFO0, 1, 8);
    patch(d, RECORD_H_INFO1, 0xDEAD, 8);
    patch(d, RECORD_H_STARTED, 133000000000000000, 8);
    patch(d, RECORD_H_POINTER_BYTES, 8, 4);
    patch(d, RECORD_H_WRITER, RECORD_WRITER_WATCHER, 4);
    patch(d, RECORD_H_HOOKS, RECORD_HOOK_HEARTBEAT, 4);
    patch(d, RECORD_H_STOP_COPY, 9000, 8);
    patch(d, RECORD_H_STOP_RTL, 21000, 8);
    patch(d, RECORD_H_STOP_DUMP, 700000000, 8);
    patch(d, RECORD_H_SAMPLES, 5, 4);
}

static void module(struct draft *d, uint64_t base, const char *path, const char *pdb)
{
    const size_t at = d->size;
    put(d, 0, 4);
    put(d, 0x5F5E1000, 4);
    put(d, base, 8);
    put(d, 0x9000, 8);
    put(d, 0, 8);
    put(d, RECORD_NEVER, 8);
    for (int i = 0; i < 16; i++)
        put(d, (uint64_t)(pdb[0] != '\0' ? i + 1 : 0), 1);
    put(d, 10, 4);
    put(d, strlen(path), 2);
    put(d, strlen(pdb), 2);
    put_text(d, path);
    put_text(d, pdb);
    align(d);
    patch(d, at, d->size - at, 4);
}

static void frame(struct draft *d, uint32_t index, uint32_t flags, uint64_t offset)
{
    put(d, index, 4);
    put(d, flags, 4);
    put(d, offset, 8);
}

static void modules(struct draft *d)
{
    const size_t at = section_begin(d, RECORD_SECTION_MODULES, 2);
    module(d, 0x140000000, "Z:\\bin\\victims-ob2.exe", "out\\victims-ob2.pdb");
    module(d, 0x7B000000, "C:\\windows\\system32\\ntdll.dll", "");
    section_end(d, at);
}

static void threads(struct draft *d)
{
    const size_t section = section_begin(d, RECORD_SECTION_THREADS, 2);
    put(d, 24, 4);
    put(d, 36, 4);
    put(d, RECORD_THREAD_MAIN, 4);
    put(d, 6, 4);
    put_text(d, "worker");
    align(d);
    put(d, 16, 4);
    put(d, 40, 4);
    put(d, RECORD_THREAD_CAPTURE, 4);
    put(d, 0, 4);
    section_end(d, section);
}

static void stack(struct draft *d)
{
    const size_t at = section_begin(d, RECORD_SECTION_STACK, 4);
    put(d, RECORD_WALKER_RTL, 4);
    put(d, RECORD_STATE_OK, 4);
    put(d, 36, 4);
    put(d, RECORD_STOP_END, 4);
    put(d, 7, 4);
    put(d, 2, 4);
    put(d, 1200, 8);
    put(d, 99, 8);
    put(d, 3, 4);
    put(d, 5, 4);
    frame(d, 1, 0, 0x1234);
    frame(d, RECORD_NO_MODULE,
          RECORD_FRAME_RETURN | RECORD_FRAME_GENERATED |
              RECORD_FOUND_UNWIND << RECORD_FRAME_SHIFT_FOUND,
          0x20010);
    frame(d, 0, RECORD_FRAME_RETURN | RECORD_FOUND_LEAF << RECORD_FRAME_SHIFT_FOUND, 0x1016);
    frame(d, RECORD_NO_MODULE, RECORD_FRAME_RETURN, 0x20000); /* 0x1ffff is not generated code */
    put_text(d, "why");
    put_text(d, "label");
    section_end(d, at);
}

static void timings(struct draft *d)
{
    const size_t at = section_begin(d, RECORD_SECTION_TIMING, 2);
    put(d, RECORD_STAGE_WALK, 4);
    put(d, RECORD_WALKER_DBGHELP, 4);
    put(d, 25900000, 8);
    put(d, 0, 8);
    put(d, RECORD_STAGE_DUMP_WRITE, 4);
    put(d, 0, 4);
    put(d, 650000000, 8);
    put(d, 150000, 8);
    section_end(d, at);
}

static void code_map(struct draft *d)
{
    const size_t at = section_begin(d, RECORD_SECTION_CODE_MAP, 2);
    put(d, 32, 4);
    put(d, 4, 4);
    put(d, 0x30000, 8);
    put(d, 0x10, 8);
    put_text(d, "late");
    align(d);
    put(d, 32, 4);
    put(d, 5, 4);
    put(d, 0x20000, 8);
    put(d, 0x20, 8);
    put_text(d, "adder");
    section_end(d, at);
}

/* Unwind data of the first range of generated code, and the bytes of both ranges. */
static void generated(struct draft *d)
{
    static const uint32_t function[] = {0x20000, 0, 0, 0x20, 0x100, 0};
    static const uint32_t memory[] = {32, 12, 0x20100, 0,       0x89ABCDEF, 0x01234567, 0x50,
                                      0,  24, 1,       0x20000, 0,          0xC3,       0};
    size_t at = section_begin(d, RECORD_SECTION_FUNCTIONS, 1);
    for (size_t i = 0; i < COUNT_OF(function); i++)
        put(d, function[i], 4);
    section_end(d, at);
    at = section_begin(d, RECORD_SECTION_MEMORY, 2);
    for (size_t i = 0; i < COUNT_OF(memory); i++)
        put(d, memory[i], 4);
    section_end(d, at);
}

/* Every kind of section, and among them one that only a newer capture writes. */
static void full(struct draft *d)
{
    header(d);
    modules(d);
    stack(d);
    const size_t at = section_begin(d, 77, 0xFFFFFFFF);
    put(d, 0x1122334455667788, 8);
    section_end(d, at);
    threads(d);
    timings(d);
    code_map(d);
    generated(d);
}

static enum status read_draft(const uint8_t *data, size_t bytes, struct arena *keep,
                              struct record *out, struct fault *fault)
{
    const struct fault fresh = FAULT_INIT;
    *fault = fresh;
    arena_init(keep, 0);
    return record_read(bytes_over(data, bytes, fault), keep, out);
}

TEST(every_field_of_a_full_record)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;

    full(&d);
    REQUIRE(read_draft(d.bytes, d.size, &keep, &r, &fault) == ERR_NONE);
    CHECK(!r.partial);
    CHECK_EQ(r.uncommitted_bytes, 0);
    CHECK_EQ(r.machine, 0x8664);
    CHECK_EQ(r.kind, RECORD_KIND_HANG);
    CHECK_EQ(r.process_id, 32);
    CHECK_EQ(r.suspect_id, 36);
    CHECK_HEX(r.exception_code, 0xC0000005);
    CHECK_HEX(r.exception_va, 0x140001234);
    CHECK_HEX(r.exception_info[1], 0xDEAD);
    CHECK_EQ(r.pointer_bytes, 8);
    CHECK_EQ(r.writer, RECORD_WRITER_WATCHER);
    CHECK_EQ(r.hooks, RECORD_HOOK_HEARTBEAT);
    CHECK_EQ(r.stop_copy_ns, 9000);
    CHECK_EQ(r.stop_rtl_ns, 21000);
    CHECK_EQ(r.stop_dump_ns, 700000000);
    CHECK_EQ(r.sample_count, 5);

    REQUIRE(r.module_count == 2);
    CHECK_STR(r.modules[0].name, "victims-ob2.exe");
    CHECK_STR(r.modules[0].path, "Z:\\bin\\victims-ob2.exe");
    CHECK_STR(r.modules[0].pdb_name, "victims-ob2.pdb");
    CHECK_STR(r.modules[0].code_id, "5F5E10009000");
    CHECK_STR(r.modules[0].debug_id, "0403020106050807090A0B0C0D0E0F10a");
    CHECK(r.modules[1].pdb_name == NULL);
    CHECK_STR(r.modules[1].debug_id, "");
    CHECK_EQ(r.modules[1].index, 1);
    CHECK(r.modules[1].unloaded_at_ns == MODULE_STILL_LOADED);

    REQUIRE(r.thread_count == 2);
    CHECK_STR(r.threads[0].name, "worker");
    CHECK_EQ(record_thread_role(&r, &r.threads[0]), THREAD_ROLE_SUSPECT);
    CHECK(r.threads[1].name == NULL);
    CHECK_EQ(record_thread_role(&r, &r.threads[1]), THREAD_ROLE_CAPTURE);

    const struct record_timing *timing = record_timing_find(&r, RECORD_STAGE_DUMP_WRITE, 0);
    REQUIRE(timing != NULL);
    CHECK_EQ(timing->bytes, 150000);
    CHECK(record_timing_find(&r, RECORD_STAGE_WALK, RECORD_WALKER_RTL) == NULL);
    CHECK(record_timing_find(&r, RECORD_STAGE_WALK, RECORD_WALKER_DBGHELP) != NULL);
    arena_free(&keep);
}

TEST(every_field_of_a_stack)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;

    full(&d);
    REQUIRE(read_draft(d.bytes, d.size, &keep, &r, &fault) == ERR_NONE);
    CHECK(record_stack_find(&r, RECORD_WALKER_RTL, 36) == NULL);
    REQUIRE(r.stack_count > 0);
    const struct record_stack *s = &r.stacks[0];
    CHECK_EQ(s->sample, 2);
    REQUIRE(s->frame_count == 4);
    CHECK_EQ(s->left_out, 7);
    CHECK_EQ(s->walk_ns, 1200);
    CHECK_EQ(s->at_ns, 99);
    CHECK_STR(s->reason, "why");
    CHECK_STR(s->label, "label");
    CHECK_EQ(s->frames[0].kind, PC_INTERRUPTED);
    CHECK_EQ(s->frames[0].found_by, FOUND_CONTEXT);
    CHECK_STR(s->frames[0].module_name, "ntdll.dll");
    CHECK_HEX(s->frames[0].pc_va, 0x7B001234);
    CHECK_EQ(s->frames[1].kind, PC_RETURN);
    CHECK_EQ(s->frames[1].found_by, FOUND_UNWIND);
    CHECK(s->frames[1].module == NULL);
    CHECK_STR(s->frames[1].function, "adder");
    CHECK_EQ(s->frames[1].symbol_distance, 0x10);
    CHECK_EQ(s->frames[1].symbols, SYMBOLS_JIT);
    CHECK_EQ(s->frames[2].found_by, FOUND_LEAF);
    CHECK_HEX(s->frames[2].offset, 0x1016);
    CHECK_EQ(s->frames[2].index, 2);
    CHECK(s->frames[3].function == NULL);
    arena_free(&keep);
}

static const struct {
    const char *name;
    size_t at;
    uint64_t value;
    size_t bytes;
    enum status want;
} damages[] = {
    {"magic", 0, 'X', 1, ERR_MALFORMED},
    {"version 0", RECORD_H_VERSION, 0, 4, ERR_MALFORMED},
    {"newer version", RECORD_H_VERSION, RECORD_VERSION + 1, 4, ERR_UNSUPPORTED},
    {"header shorter than a header", RECORD_H_HEADER_BYTES, 64, 4, ERR_MALFORMED},
    {"odd header size", RECORD_H_HEADER_BYTES, 129, 4, ERR_MALFORMED},
    {"nothing committed", RECORD_H_COMMITTED, 0, 8, ERR_TRUNCATED},
    {"committed inside the header", RECORD_H_COMMITTED, 100, 8, ERR_MALFORMED},
    {"committed past the file", RECORD_H_COMMITTED, 1 << 20, 8, ERR_TRUNCATED},
    {"committed inside a section", RECORD_H_COMMITTED, 200, 8, ERR_TRUNCATED},
    {"section of 0 bytes would loop", 128 + RECORD_S_BYTES, 0, 4, ERR_MALFORMED},
    {"odd section", 128 + RECORD_S_BYTES, 17, 4, ERR_MALFORMED},
    {"section past the end", 128 + RECORD_S_BYTES, 1 << 24, 4, ERR_TRUNCATED},
    {"count that bytes cannot hold", 128 + RECORD_S_COUNT, 0x10000000, 4, ERR_TRUNCATED},
    {"module entry of 0 bytes", 144, 0, 4, ERR_MALFORMED},
    {"module path past its entry", 144 + RECORD_M_PATH_BYTES, 0xFFFF, 2, ERR_TRUNCATED},
    {"image over 4 GiB", 144 + RECORD_M_IMAGE_BYTES + 4, 1, 4, ERR_MALFORMED},
};

TEST(generated_code_by_address)
{
    static const struct {
        uint64_t va;
        const char *code; /* NULL: none */
        bool has_function;
    } rows[] = {{0x1FFFF, NULL, false}, {0x20000, "adder", true}, {0x2001F, "adder", true},
                {0x20020, NULL, false}, {0x30004, "late", false}, {0x30010, NULL, false}};
    uint8_t bytes[12];
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;

    full(&d);
    REQUIRE(read_draft(d.bytes, d.size, &keep, &r, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct record_code *code = record_code_at(&r, rows[i].va);
        CHECK_STR(code != NULL ? code->name : NULL, rows[i].code);
        const struct record_function *function = record_function_at(&r, rows[i].va);
        CHECK_EQ(function != NULL && function->unwind_rva == 0x100, rows[i].has_function);
    }
    CHECK(record_memory_read(&r, 0x20100, bytes, 12) && bytes[0] == 0xEF && bytes[8] == 0x50);
    CHECK(!record_memory_read(&r, 0x20000, bytes, 2) &&
          !record_memory_read(&r, 0x20101, bytes, 12));
    CHECK(!record_memory_read(&r, UINT64_MAX, bytes, 8));
    arena_free(&keep);
}

TEST(damage_is_said_and_nothing_behind_it_believed)
{
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        struct draft d;
        struct arena keep;
        struct record r;
        struct fault fault;
        test_row(damages[i].name);
        full(&d);
        patch(&d, damages[i].at, damages[i].value, damages[i].bytes);
        CHECK_EQ(read_draft(d.bytes, d.size, &keep, &r, &fault), damages[i].want);
        CHECK(r.partial);
        CHECK(fault.what != NULL);
        arena_free(&keep);
    }
}

/* Damage in the second section leaves the first section readable. */
TEST(what_stands_before_the_damage_is_kept)
{
    static const struct {
        const char *name;
        size_t field; /* from the stack section's start */
        uint64_t value;
        size_t bytes;
        enum status want;
    } rows[] = {
        {"frame's module", 64, 2, 4, ERR_MALFORMED},
        {"how it was found", 64 + RECORD_F_FLAGS, 0xF00, 4, ERR_MALFORMED},
        {"reason past the section", RECORD_K_REASON_BYTES, 4096, 4, ERR_TRUNCATED},
        {"more frames than bytes", RECORD_S_COUNT, 7, 4, ERR_TRUNCATED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct draft d;
        struct arena keep;
        struct record r;
        struct fault fault;
        test_row(rows[i].name);
        header(&d);
        modules(&d);
        const size_t at = d.size;
        stack(&d);
        timings(&d);
        patch(&d, at + rows[i].field, rows[i].value, rows[i].bytes);
        CHECK_EQ(read_draft(d.bytes, d.size, &keep, &r, &fault), rows[i].want);
        CHECK(r.partial);
        CHECK_EQ(r.module_count, 2);
        CHECK_EQ(r.stack_count, 0);
        CHECK_EQ(r.timing_count, 0);
        CHECK(fault.offset >= at);
        arena_free(&keep);
    }
}

TEST(an_unfinished_section_is_news_not_damage)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;

    header(&d);
    modules(&d);
    stack(&d);
    const size_t whole = d.size;
    timings(&d);
    patch(&d, RECORD_H_COMMITTED, whole, 8); /* the process died before it raised this number */
    CHECK_EQ(read_draft(d.bytes, d.size - 20, &keep, &r, &fault), ERR_NONE);
    CHECK(!r.partial);
    CHECK_EQ(r.uncommitted_bytes, d.size - 20 - whole);
    CHECK_EQ(r.stack_count, 1);
    CHECK_EQ(r.timing_count, 0);
    arena_free(&keep);
}

TEST(a_cut_file_keeps_its_whole_sections)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;

    header(&d);
    modules(&d);
    stack(&d);
    const size_t whole = d.size;
    timings(&d);
    CHECK_EQ(read_draft(d.bytes, whole + 8, &keep, &r, &fault), ERR_TRUNCATED);
    CHECK(r.partial);
    CHECK_EQ(r.stack_count, 1);
    CHECK_EQ(r.timing_count, 0);
    arena_free(&keep);
}

TEST(an_empty_record_says_so)
{
    struct arena keep;
    struct record r;
    struct fault fault = FAULT_INIT;
    char path[4096], text[1024];

    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/record.rec", test_scratch());
    test_write(path, "", 0);
    CHECK_EQ(record_read_file(path, &keep, &r, &fault), ERR_TRUNCATED);
    fault_describe(&fault, text, sizeof text);
    CHECK_HAS(text, "record.rec: record: there are no bytes");
    CHECK_HAS(text, "the capture wrote nothing");
    arena_free(&keep);
}

TEST(a_user_stream_needs_no_committed_length)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault = FAULT_INIT;
    header(&d);
    threads(&d);
    const size_t at = section_begin(&d, RECORD_SECTION_MODULES, 1);
    module(&d, 0x180000000, "", ""); /* its name is unknown */
    section_end(&d, at);
    patch(&d, RECORD_H_COMMITTED, 0, 8);
    arena_init(&keep, 0);
    CHECK_EQ(record_read_stream(bytes_over(d.bytes, d.size, &fault), &keep, &r), ERR_NONE);
    REQUIRE(r.module_count == 1 && r.thread_count == 2);
    CHECK_STR(r.modules[0].name, "");
    arena_free(&keep);
}

static enum status read_drafted(struct arena *keep, void *context, struct fault *fault)
{
    const struct draft *d = context;
    struct record r;
    return record_read(bytes_over(d->bytes, d->size, fault), keep, &r);
}

TEST(memory_that_runs_out_is_a_fault)
{
    struct draft d;

    full(&d);
    short_memory(read_drafted, &d);
}

static void try_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct arena keep;
    struct record r;
    struct fault fault = FAULT_INIT;
    (void)context;

    arena_init(&keep, 1 << 20);
    const enum status got = record_read(bytes_over(data, bytes, &fault), &keep, &r);
    CHECK(got != ERR_MEMORY); /* 1 MiB is plenty for a record of 1 KiB */
    CHECK_EQ(r.partial, got != ERR_NONE);
    struct json j;
    json_to_text(&j, false);
    record_write_json(&j, &r);
    char *text = json_take(&j, NULL);
    CHECK(text != NULL);
    free(text);
    arena_free(&keep);
}

TEST(every_truncation)
{
    struct draft d;
    full(&d);
    test_truncations(d.bytes, d.size, try_damaged, NULL);
}

TEST(every_flipped_byte)
{
    struct draft d;
    full(&d);
    test_flips(d.bytes, d.size, try_damaged, NULL);
}

TEST(json_form)
{
    struct draft d;
    struct arena keep;
    struct record r;
    struct fault fault;
    struct json j;

    full(&d);
    REQUIRE(read_draft(d.bytes, d.size, &keep, &r, &fault) == ERR_NONE);
    json_to_text(&j, false);
    record_write_json(&j, &r);
    char *text = json_take(&j, NULL);
    REQUIRE(text != NULL);
    CHECK_HAS(text, "{\"schema_version\":1,\"modules\":[{\"index\":0,\"name\":\"victims-ob2.exe\","
                    "\"code_id\":\"5F5E10009000\","
                    "\"debug_id\":\"0403020106050807090A0B0C0D0E0F10a\",\"base\":\"0x140000000\","
                    "\"size\":36864,\"loaded_at\":0,\"unloaded_at\":null}");
    CHECK_HAS(text, "\"role\":\"suspect\",\"stacks\":[{\"walker\":\"rtl\",\"state\":\"ok\"");
    CHECK_HAS(text, "{\"module\":1,\"offset\":\"0x1234\",\"kind\":\"interrupted\",\"gap\":null}");
    CHECK_HAS(text, "{\"module\":null,\"address\":\"0x20010\",\"kind\":\"return\",\"gap\":null}");
    free(text);
    arena_free(&keep);
}
