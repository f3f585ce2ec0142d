/* Generated code whose unwind data is in the dump alone: rows of a FunctionTable stream, each with
 * another size of frame, so that the caller's address says which row was used. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "engine/dump_engine.h"
#include "engine/dump_evidence.h"
#include "minidump_maker.h"
#include "symbol/symbol_store.h"
#include "test.h"

enum {
    THREAD = 7,
    WORDS = 16, /* of the stack */
    CODE_BYTES = 0x400,
    RETURN_RVA = 0x380, /* after a call */
    UNWIND_RVA = 0x400, /* one UNWIND_INFO of 8 bytes for each row */
};
#define BASE_VA ((uint64_t)0x20000000)
#define STACK_VA ((uint64_t)0x10000)

/* RUNTIME_FUNCTION: begin, end, unwind data; and the bytes of stack that its function takes. */
static const struct {
    uint32_t begin, end, bytes;
} functions[] = {{0x000, 0x100, 8}, {0x100, 0x200, 24}, {0x300, 0x400, 40}};

/* The word K of the stack: a return address in the third function. */
static uint64_t word(uint32_t k)
{
    return BASE_VA + RETURN_RVA + k;
}

/* ENTRY_BYTES: of a row, which may have more than the three numbers. SHIFT: of the memory that the
 * table is for. */
static void write_dump(const char *path, uint64_t pc_va, uint32_t entry_bytes, uint32_t shift)
{
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t context = maker_context(&m, pc_va, STACK_VA);
    const uint32_t stack = m.at;
    for (uint32_t i = 0; i < WORDS; i++)
        maker_put(&m, word(i), 8);
    const uint32_t code = m.at;
    for (uint32_t i = 0; i < CODE_BYTES; i++)
        maker_put(&m, i == RETURN_RVA - 5 ? 0xE8 : 0x10 | (i & 15), 1); /* call; none is a ret */
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        maker_put(&m, 0x00010401, 4); /* version 1, a prologue of 4 bytes, one code */
        maker_put(&m, 0x0204 | (functions[i].bytes / 8 - 1) << 12, 4); /* UWOP_ALLOC_SMALL at 4 */
    }
    const uint32_t code_bytes = m.at - code;
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    MAKER_PUT(&m, 4, 1, THREAD, 0, 0, 0);
    MAKER_PUT(&m, 8, 0, STACK_VA);
    MAKER_PUT(&m, 4, WORDS * 8, stack, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MEMORY_LIST);
    maker_put(&m, 2, 4);
    maker_put(&m, STACK_VA, 8);
    MAKER_PUT(&m, 4, WORDS * 8, stack);
    maker_put(&m, BASE_VA, 8);
    MAKER_PUT(&m, 4, code_bytes, code);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_FUNCTION_TABLE);
    MAKER_PUT(&m, 4, 24, 32, 0, entry_bytes, 1, 0);
    MAKER_PUT(&m, 8, BASE_VA + shift, BASE_VA + 0x400, BASE_VA);
    MAKER_PUT(&m, 4, COUNT_OF(functions), 0);
    for (uint32_t i = 0; i < COUNT_OF(functions); i++) {
        MAKER_PUT(&m, 4, functions[i].begin, functions[i].end, UNWIND_RVA + i * 8);
        for (uint32_t k = 12; k < entry_bytes; k += 4)
            maker_put(&m, 0xFFFFFFFF, 4);
    }
    maker_stream_end(&m);
    maker_finish(&m);
    test_write(path, m.data, m.at);
}

TEST(the_row_of_the_address_says_where_the_caller_is)
{
    static const struct {
        const char *name;
        uint32_t pc, entry_bytes, shift;
        uint32_t bytes; /* of the frame */
    } rows[] = {
        {"in the first function", 0x10, 12, 0, 8},
        {"its last byte", 0xff, 12, 0, 8},
        {"in the second one", 0x110, 12, 0, 24},
        {"its first byte, before its prologue", 0x100, 12, 0, 0},
        {"the last byte of its prologue", 0x103, 12, 0, 0},
        {"after its prologue", 0x104, 12, 0, 24},
        {"its last byte is its own", 0x1ff, 12, 0, 24},
        {"between functions: a leaf", 0x200, 12, 0, 0},
        {"just before the third one", 0x2ff, 12, 0, 0},
        {"in the third one", 0x310, 12, 0, 40},
        {"its last byte too", 0x3ff, 12, 0, 40},
        {"rows of 16 bytes", 0x110, 16, 0, 24},
        {"the third of them", 0x310, 16, 0, 40},
        {"the table begins later", 0x110, 12, 0x111, 0},
        {"and just here", 0x110, 12, 0x110, 24},
    };
    char path[600];
    (void)snprintf(path, sizeof path, "%s/tables.dmp", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dump_session *session;
        struct fault fault = FAULT_INIT;
        struct stack stack;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        write_dump(path, BASE_VA + rows[i].pc, rows[i].entry_bytes, rows[i].shift);
        REQUIRE(dump_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
        REQUIRE(dump_thread_stack(session, THREAD, NULL, &keep, &stack, &fault) == ERR_NONE);
        REQUIRE(stack.frame_count > 1);
        CHECK_HEX(stack.frames[0].pc_va, BASE_VA + rows[i].pc);
        CHECK_HEX(stack.frames[1].pc_va, word(rows[i].bytes / 8));
        dump_close(session);
        arena_free(&keep);
    }
}

static void put_module(struct maker *m, uint64_t base_va, uint32_t bytes, uint32_t name)
{
    const uint32_t row = m->at;
    maker_module_row(m, base_va, name);
    const uint32_t end = m->at;
    m->at = row + 8; /* SizeOfImage */
    maker_put(m, bytes, 4);
    m->at = end;
}

/* Modules in no order, one inside another, and one that was unloaded. */
static void write_modules(const char *path, uint64_t pc_va)
{
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t small = maker_text(&m, "C:\\small.dll"), large = maker_text(&m, "C:\\large.dll"),
                   high = maker_text(&m, "C:\\high.dll"), old = maker_text(&m, "C:\\old.dll"),
                   older = maker_text(&m, "C:\\older.dll");
    const uint32_t context = maker_context(&m, pc_va, STACK_VA);
    const uint32_t stack = m.at;
    MAKER_PUT(&m, 8, 0, 0);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    MAKER_PUT(&m, 4, 1, THREAD, 0, 0, 0);
    MAKER_PUT(&m, 8, 0, STACK_VA);
    MAKER_PUT(&m, 4, 16, stack, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MODULE_LIST);
    maker_put(&m, 3, 4);
    put_module(&m, 0x90000000, 0x10000, high);
    put_module(&m, 0x50020000, 0x10000, small);
    put_module(&m, 0x50010000, 0x40000, large);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_UNLOADED_MODULE_LIST);
    MAKER_PUT(&m, 4, 12, 24, 2);
    MAKER_PUT(&m, 4, 0x50040000, 0, 0x20000, 0, 7, old); /* large.dll is at its place now, too */
    MAKER_PUT(&m, 4, 0x50060000, 0, 0x1000, 0, 7, older);
    maker_stream_end(&m);
    maker_finish(&m);
    test_write(path, m.data, m.at);
}

TEST(an_address_is_in_the_module_that_holds_it)
{
    static const struct {
        const char *name;
        uint64_t pc_va;
        const char *module;
        uint64_t offset; /* of no module: the address itself */
        enum module_state state;
    } rows[] = {
        {"in the last one of the list", 0x50010010, "large.dll", 0x10, MODULE_STATE_LOADED},
        {"its first byte", 0x50010000, "large.dll", 0, MODULE_STATE_LOADED},
        {"before it", 0x5000ffff, NULL, 0x5000ffff, MODULE_STATE_LOADED},
        {"inside another one", 0x50020010, "small.dll", 0x10, MODULE_STATE_LOADED},
        {"its last byte", 0x5002ffff, "small.dll", 0xffff, MODULE_STATE_LOADED},
        {"after the inner one", 0x50030000, "large.dll", 0x20000, MODULE_STATE_LOADED},
        {"the last byte of all", 0x5004ffff, "large.dll", 0x3ffff, MODULE_STATE_LOADED},
        {"where one was before", 0x50050000, "old.dll", 0x10000, MODULE_STATE_UNLOADED},
        {"the second that was unloaded", 0x50060fff, "older.dll", 0xfff, MODULE_STATE_UNLOADED},
        {"after them", 0x50061000, NULL, 0x50061000, MODULE_STATE_LOADED},
        {"in the first one of the list", 0x90000001, "high.dll", 1, MODULE_STATE_LOADED},
        {"after all", 0x90010000, NULL, 0x90010000, MODULE_STATE_LOADED},
    };
    char path[600];
    (void)snprintf(path, sizeof path, "%s/modules.dmp", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dump_session *session;
        struct fault fault = FAULT_INIT;
        struct stack stack;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        write_modules(path, rows[i].pc_va);
        REQUIRE(dump_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
        REQUIRE(dump_thread_stack(session, THREAD, NULL, &keep, &stack, &fault) == ERR_NONE);
        REQUIRE(stack.frame_count > 0);
        CHECK_STR(stack.frames[0].module_name, rows[i].module);
        CHECK_HEX(stack.frames[0].offset, rows[i].offset);
        CHECK_EQ(stack.frames[0].module_state, rows[i].state);
        dump_close(session);
        arena_free(&keep);
    }
}

/* What a page shows about a frame, in numbers of the dead process. */
TEST(a_frame_has_the_evidence_of_its_caller)
{
    struct dump_session *session;
    struct fault fault = FAULT_INIT;
    struct stack stack;
    struct arena keep;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/tables.dmp", test_scratch());
    arena_init(&keep, 0);
    write_dump(path, BASE_VA + 0x118, 12, 0);
    REQUIRE(dump_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
    REQUIRE(dump_thread_stack(session, THREAD, NULL, &keep, &stack, &fault) == ERR_NONE);
    REQUIRE(dump_add_evidence(session, &keep, &stack, &fault) == ERR_NONE);
    REQUIRE(stack.evidence_count > 1);
    const struct frame_evidence *e = &stack.evidence[0];
    CHECK_EQ(e->index, 0);
    CHECK_EQ(stack.evidence[1].index, 1);
    CHECK_HEX(e->sp_va, STACK_VA);
    CHECK_STR(e->where, "body");
    CHECK_HEX(e->function_begin_rva, 0x100);
    CHECK_HEX(e->function_end_rva, 0x200);
    CHECK_HEX(e->unwind_data_va, BASE_VA + UNWIND_RVA + 8);
    CHECK_HEX(e->return_slot_va, STACK_VA + 24);
    CHECK_HEX(e->caller_sp_va, STACK_VA + 32);
    CHECK(!e->code_aligned); /* the function is in no module, so its begin has no address here */
    CHECK_STR(e->code_before, "18191a1b1c1d1e1f1011121314151617");
    CHECK_STR(e->code_after, "18191a1b1c1d1e1f101112131415161718191a1b1c1d1e1f1011121314151617");
    dump_close(session);
    arena_free(&keep);
}

/* The function at 0x14d0 to 0x14ed of victims-ob2.exe, of which frame 3 has run 22 bytes;
 * bounds and bytes by a few lines of Python from the image's .pdata. */
TEST(code_before_a_frame_begins_with_its_function)
{
    const char *roots[] = {test_source("corpus/symbols")};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1, .cache = "none"};
    const char *path = test_source("corpus/cases/null_write.ob2/dump.dmp");
    struct symbol_store *symbols = NULL;
    struct dump_session *session;
    struct fault fault = FAULT_INIT;
    struct stack stack;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    REQUIRE(dump_open(path, symbols, &keep, &session, &fault) == ERR_NONE);
    REQUIRE(dump_thread_stack(session, dump_minidump(session)->exception.thread_id, symbols, &keep,
                              &stack, &fault) == ERR_NONE);
    REQUIRE(dump_add_evidence(session, &keep, &stack, &fault) == ERR_NONE);
    REQUIRE(stack.evidence_count > 3);
    const struct frame_evidence *e = &stack.evidence[3];
    CHECK_EQ(e->index, 3);
    CHECK_HEX(e->function_begin_rva, 0x14d0);
    CHECK_HEX(e->function_end_rva, 0x14ed);
    CHECK(e->code_aligned);
    CHECK_STR(e->code_before, "4883ec28488b05657b0100c70000000000e89afcffff");
    CHECK_STR(e->code_after, "90904883c428c3"); /* to the end of the function */
    dump_close(session);
    symbol_store_close(symbols);
    arena_free(&keep);
}

/* An image of x64 whose map of code says that 0x600 is ARM64EC and 0x700 x64, as in
 * test_unwind_hybrid.c. */
enum { EC_CODE = 0x600, X64_CODE = 0x700, IMAGE_BYTES = 0x800 };

static void write_hybrid(const char *path, uint64_t pc_va)
{
    static const struct {
        uint32_t at;
        uint64_t value;
        uint32_t bytes;
    } fields[] = {
        {0, 0x5a4d, 2},
        {60, 0x80, 4},
        {0x80, 0x4550, 4},
        {0x84, 0x8664, 2},
        {0x86, 1, 2},
        {0x94, 0xf0, 2},
        {0x98, 0x20b, 2},
        {0xb0, BASE_VA, 8},
        {0x98 + 112 + 80, 0x200, 4},
        {0x190, 0x200, 4},
        {0x194, EC_CODE, 4},
        {0x1ac, 0x60000020, 4}, /* .text */
        {0x200, 0x140, 4},
        {0x200 + 0xc8, BASE_VA + 0x350, 8}, /* metadata */
        {0x350, 1, 4},
        {0x354, 0x3a0, 4},
        {0x358, 2, 4},
        {0x3a0, EC_CODE | 1, 4},
        {0x3a4, 0x100, 4},
        {0x3a8, X64_CODE | 2, 4},
        {0x3ac, 0x100, 4},
    };
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t name = maker_text(&m, "C:\\hybrid.dll");
    const uint32_t context = maker_context(&m, pc_va, STACK_VA);
    const uint32_t stack = m.at;
    MAKER_PUT(&m, 8, 0, 0);
    const uint32_t image = m.at;
    for (uint32_t i = 0; i < IMAGE_BYTES; i++)
        maker_put(&m, i < EC_CODE ? 0 : 0x90, 1);
    const uint32_t end = m.at;
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        m.at = image + fields[i].at;
        maker_put(&m, fields[i].value, fields[i].bytes);
    }
    m.at = end;
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    MAKER_PUT(&m, 4, 1, THREAD, 0, 0, 0);
    MAKER_PUT(&m, 8, 0, STACK_VA);
    MAKER_PUT(&m, 4, 16, stack, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MODULE_LIST);
    maker_put(&m, 1, 4);
    put_module(&m, BASE_VA, IMAGE_BYTES, name);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MEMORY_LIST);
    maker_put(&m, 2, 4);
    maker_put(&m, STACK_VA, 8);
    MAKER_PUT(&m, 4, 16, stack);
    maker_put(&m, BASE_VA, 8);
    MAKER_PUT(&m, 4, IMAGE_BYTES, image);
    maker_stream_end(&m);
    maker_finish(&m);
    test_write(path, m.data, m.at);
}

/* Readers take the bytes as code of the dump's processor. */
TEST(code_of_another_processor_is_left_out)
{
    static const struct {
        const char *name;
        uint32_t pc;
        const char *after;
    } rows[] = {
        {"ARM64EC in a dump of x64", EC_CODE + 0x10, NULL},
        {"its last byte", EC_CODE + 0xff, NULL},
        {"x64 of the same image", X64_CODE + 0xfc, "90909090"},
    };
    char path[600];
    (void)snprintf(path, sizeof path, "%s/hybrid.dmp", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dump_session *session;
        struct fault fault = FAULT_INIT;
        struct stack stack;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        write_hybrid(path, BASE_VA + rows[i].pc);
        REQUIRE(dump_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
        REQUIRE(dump_thread_stack(session, THREAD, NULL, &keep, &stack, &fault) == ERR_NONE);
        REQUIRE(dump_add_evidence(session, &keep, &stack, &fault) == ERR_NONE);
        REQUIRE(stack.evidence_count > 0);
        CHECK_HEX(stack.evidence[0].sp_va, STACK_VA);
        CHECK_STR(stack.evidence[0].code_after, rows[i].after);
        CHECK_EQ(stack.evidence[0].code_before != NULL, rows[i].after != NULL);
        dump_close(session);
        arena_free(&keep);
    }
}
