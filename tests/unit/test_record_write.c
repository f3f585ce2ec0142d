/* The record that the analyser writes for a stack that another program gave, byte by byte as
 * capture/record.h lays it out, and read again; and the bounds of recorded steps. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "format/record/record.h"
#include "format/record/record_steps.h"
#include "test.h"

enum { MODULES_AT = RECORD_HEADER_BYTES, ROWS_AT = MODULES_AT + 16 };

static uint64_t number(const uint8_t *data, size_t at, size_t bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | data[at + bytes];
    return value;
}

/* A row of the modules: what is written of one. */
static const struct {
    const char *name;
    struct module module;
    uint64_t base_va, image_bytes;
    uint32_t timestamp, age;
    const char *guid, *path, *pdb; /* the bytes as they are in the file, hexadecimal */
} rows[] = {
    {"all of it",
     {.name = "a.exe",
      .path = "C:\\x\\a.exe",
      .pdb_name = "a.pdb",
      .code_id = "5AB380779000",
      .debug_id = "3249D99D0C4049318610F4E4FB0B6936a",
      .base_va = 0x140000000,
      .image_bytes = 0x9001},
     0x140000000,
     0x9001,
     0x5AB38077,
     10,
     "9dd94932",
     "C:\\x\\a.exe",
     "a.pdb"},
    {"the size of the image from its code id",
     {.name = "b.dll", .code_id = "000000011A2000", .debug_id = ""},
     0,
     0x1A2000,
     1,
     0,
     "00000000",
     "b.dll",
     ""},
    {"a timestamp alone", {.name = "c", .code_id = "5AB38077"}, 0, 0, 0, 0, "00000000", "c", ""},
    {"an age of eight digits",
     {.name = "d", .debug_id = "3249D99D0C4049318610F4E4FB0B6936fffffffe"},
     0,
     0,
     0,
     0xFFFFFFFE,
     "9dd94932",
     "d",
     ""},
    {"an NB10 PDB", {.name = "e", .debug_id = "3249D99D1"}, 0, 0, 0, 0, "00000000", "e", ""},
};

TEST(modules_are_written_with_what_is_known_of_them)
{
    static const uint8_t guid[16] = {0x9D, 0xD9, 0x49, 0x32, 0x40, 0x0C, 0x31, 0x49,
                                     0x86, 0x10, 0xF4, 0xE4, 0xFB, 0x0B, 0x69, 0x36};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct frame frame = {.module = &rows[i].module,
                              .module_name = rows[i].module.name,
                              .offset = 0x1234,
                              .kind = PC_INTERRUPTED};
        const struct stack stack = {.frames = &frame, .frame_count = 1};
        const struct record facts = {.machine = 0x8664};
        struct fault fault = FAULT_INIT;
        struct record again;
        struct arena keep;
        char path[600];
        size_t bytes;
        arena_init(&keep, 0);
        (void)snprintf(path, sizeof path, "%s/record", test_scratch());
        test_row(rows[i].name);
        REQUIRE(record_write(path, &facts, &stack, RECORD_STOP_WALKER, &keep, &fault) == ERR_NONE);
        const uint8_t *data = test_read(path, &bytes);
        const size_t texts = strlen(rows[i].path) + strlen(rows[i].pdb);
        CHECK_EQ(number(data, MODULES_AT + RECORD_S_TYPE, 4), RECORD_SECTION_MODULES);
        CHECK_EQ(number(data, MODULES_AT + RECORD_S_COUNT, 4), 1);
        CHECK_EQ(number(data, MODULES_AT + RECORD_S_BYTES, 4), 16 + 64 + (texts + 7) / 8 * 8);
        CHECK_EQ(number(data, ROWS_AT, 4), 64 + (texts + 7) / 8 * 8);
        CHECK_HEX(number(data, ROWS_AT + 4, 4), rows[i].timestamp);
        CHECK_HEX(number(data, ROWS_AT + 8, 8), rows[i].base_va);
        CHECK_HEX(number(data, ROWS_AT + 16, 8), rows[i].image_bytes);
        CHECK_HEX(number(data, ROWS_AT + 24, 8), 0);
        CHECK_HEX(number(data, ROWS_AT + 32, 8), RECORD_NEVER);
        for (size_t k = 0; k < 16; k++)
            CHECK_HEX(data[ROWS_AT + 40 + k], rows[i].guid[0] == '9' ? guid[k] : 0);
        CHECK_HEX(number(data, ROWS_AT + 56, 4), rows[i].age);
        CHECK_EQ(number(data, ROWS_AT + 60, 2), strlen(rows[i].path));
        CHECK_EQ(number(data, ROWS_AT + 62, 2), strlen(rows[i].pdb));
        CHECK_MEM(data + ROWS_AT + 64, rows[i].path, strlen(rows[i].path));
        CHECK_MEM(data + ROWS_AT + 64 + strlen(rows[i].path), rows[i].pdb, strlen(rows[i].pdb));
        CHECK_EQ(record_read_file(path, &keep, &again, &fault), ERR_NONE);
        CHECK_EQ(again.uncommitted_bytes, 0);
        arena_free(&keep);
    }
}

TEST(what_is_written_is_read_again)
{
    static const struct module a = {.name = "a.exe", .code_id = "000000019000"};
    static const struct module other = {.name = "A.EXE", .code_id = "000000029000"};
    static const struct module managed = {.name = "m.dll",
                                          .mvid = "3249D99D-0C40-4931-8610-F4E4FB0B6936"};
    static struct module known = {
        .name = "k.dll", .path = "D:\\k.dll", .code_id = "000000038000", .base_va = 0x7000000};
    struct frame frames[] = {
        {.module = &a, .module_name = "a.exe", .offset = 0x10, .kind = PC_INTERRUPTED},
        {.module = &a, .module_name = "A.exe", .offset = 0x20, .kind = PC_RETURN},
        {.module = &a, .module_name = "a.exe", .offset = 0x20, .inline_depth = 1},
        {.module = &other, .module_name = "a.exe", .offset = 0x30, .kind = PC_RETURN},
        {.module_name = "x/K.DLL", .offset = 0x40, .kind = PC_RETURN},
        {.pc_va = 0x99, .offset = 0x98, .kind = PC_RETURN},
        {.offset = 0x97, .kind = PC_RETURN},
        {.module = &managed,
         .module_name = "m.dll",
         .offset = 0x12,
         .method_token = 0x06000034,
         .kind = PC_RETURN},
    };
    static const struct {
        const char *name;
        uint64_t offset, pc_va;
        uint32_t token, module; /* its place in the record */
        enum pc_kind kind;
    } want[] = {
        {"the first", 0x10, 0, 0, 0, PC_INTERRUPTED},
        {"of the same module, in other letters", 0x20, 0, 0, 0, PC_RETURN},
        {"of one name and another build", 0x30, 0, 0, 1, PC_RETURN},
        {"of a module that the facts know", 0x40, 0x7000040, 0, 2, PC_RETURN},
        {"of no module, by its address", 0x99, 0x99, 0, RECORD_NO_MODULE, PC_RETURN},
        {"of no module, by its offset", 0x97, 0x97, 0, RECORD_NO_MODULE, PC_RETURN},
        {"in managed code", 0x12, 0, 0x06000034, 3, PC_RETURN},
    };
    const struct record facts = {.machine = 0x8664,
                                 .kind = RECORD_KIND_HANG,
                                 .process_id = 0x11,
                                 .suspect_id = 0x12,
                                 .exception_code = 0xC0000005,
                                 .exception_flags = 1,
                                 .exception_va = 0x1400012340,
                                 .exception_info = {1, 0xDEAD0000BEEF},
                                 .pointer_bytes = 8,
                                 .writer = RECORD_WRITER_WATCHER,
                                 .hooks = RECORD_HOOK_WATCHER,
                                 .modules = &known,
                                 .module_count = 1};
    const struct stack stack = {
        .frames = frames, .frame_count = COUNT_OF(frames), .left_out = 5, .walk_ns = 1200};
    struct fault fault = FAULT_INIT;
    struct record got;
    struct arena keep;
    char path[600];

    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/record", test_scratch());
    REQUIRE(record_write(path, &facts, &stack, RECORD_STOP_LIMIT, &keep, &fault) == ERR_NONE);
    REQUIRE(record_read_file(path, &keep, &got, &fault) == ERR_NONE);
    CHECK(!got.partial);
    CHECK_EQ(got.uncommitted_bytes, 0);
    CHECK_HEX(got.machine, 0x8664);
    CHECK_EQ(got.kind, RECORD_KIND_HANG);
    CHECK_HEX(got.process_id, 0x11);
    CHECK_HEX(got.suspect_id, 0x12);
    CHECK_HEX(got.exception_code, 0xC0000005);
    CHECK_HEX(got.exception_flags, 1);
    CHECK_HEX(got.exception_va, 0x1400012340);
    CHECK_HEX(got.exception_info[0], 1);
    CHECK_HEX(got.exception_info[1], 0xDEAD0000BEEF);
    CHECK_EQ(got.pointer_bytes, 8);
    CHECK_EQ(got.writer, RECORD_WRITER_WATCHER);
    CHECK_EQ(got.hooks, RECORD_HOOK_WATCHER);
    REQUIRE(got.module_count == 4);
    CHECK_STR(got.modules[2].path, "D:\\k.dll");
    CHECK_STR(got.modules[2].code_id, "000000038000");
    CHECK_STR(got.modules[3].mvid, managed.mvid);
    CHECK_STR(got.modules[0].mvid, "");
    REQUIRE(got.stack_count == 1);
    CHECK_EQ(got.stacks[0].walker, RECORD_WALKER_RTL);
    CHECK_EQ(got.stacks[0].state, RECORD_STATE_OK);
    CHECK_EQ(got.stacks[0].stop, RECORD_STOP_LIMIT);
    CHECK_HEX(got.stacks[0].thread_id, 0x12);
    CHECK_EQ(got.stacks[0].left_out, 5);
    CHECK_EQ(got.stacks[0].walk_ns, 1200);
    REQUIRE(got.stacks[0].frame_count == COUNT_OF(want));
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        const struct frame *f = &got.stacks[0].frames[i];
        test_row(want[i].name);
        CHECK_HEX(f->offset, want[i].offset);
        CHECK_EQ(f->kind, want[i].kind);
        CHECK_EQ(f->found_by, FOUND_GIVEN);
        CHECK_HEX(f->method_token, want[i].token);
        CHECK_EQ(f->module != NULL ? f->module->index : RECORD_NO_MODULE, want[i].module);
        if (want[i].pc_va != 0)
            CHECK_HEX(f->pc_va, want[i].pc_va);
    }
    arena_free(&keep);
}

/* ---- steps ---------------------------------------------------------------------------- */

struct draft {
    uint8_t data[12288];
    size_t bytes;
};

static void put(struct draft *d, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        d->data[d->bytes++] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
}

static void put_at(struct draft *d, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        d->data[at + i] = (uint8_t)(value >> (8 * i));
}

enum { LOW = 0x1000, HIGH = 0x1040 };

/* A record with two steps. The first sets rip, rsp and rax, writes WORDS words of 7 at VA, and has
 * a caller and a walk of WALKER; the second moves rip only, and keeps KEPT callers. */
static void make_steps(struct draft *d, uint64_t va, uint32_t words, bool as_truth, uint32_t kept)
{
    memset(d, 0, sizeof *d);
    memcpy(d->data, RECORD_MAGIC, 8);
    put_at(d, RECORD_H_VERSION, RECORD_VERSION, 4);
    put_at(d, RECORD_H_HEADER_BYTES, RECORD_HEADER_BYTES, 4);
    put_at(d, RECORD_H_MACHINE, 0x8664, 4);
    put_at(d, RECORD_H_KIND, RECORD_KIND_STEPS, 4);
    put_at(d, RECORD_H_POINTER_BYTES, 8, 4);
    d->bytes = RECORD_HEADER_BYTES;
    put(d, RECORD_SECTION_STEPS, 4);
    put(d, 0, 4);
    put(d, 2, 4);
    put(d, 0, 4);
    put(d, LOW, 8);
    put(d, HIGH, 8);
    const size_t first = d->bytes;
    put(d, 0, 4);
    put(d, 1 << 16 | 1 << 4 | 1, 4);
    put(d, 0, 2);
    put(d, 1, 2);
    put(d, 1, 2);
    put(d, 1, 2);
    put(d, 0xAAAA, 8);   /* rax */
    put(d, LOW + 16, 8); /* rsp */
    put(d, 0x401000, 8);
    put(d, 0x402000, 8); /* a caller */
    put(d, LOW + 32, 8);
    put(d, va, 8);
    put(d, words, 4);
    put(d, 0, 4);
    for (uint32_t i = 0; i < words; i++)
        put(d, 7, 8);
    put(d, 4, 1); /* a walker, its state, its stop */
    put(d, RECORD_STATE_OK, 1);
    put(d, RECORD_STOP_END, 1);
    put(d, as_truth ? RECORD_WALK_AS_TRUTH : 0, 1);
    put(d, as_truth ? 0 : 1, 4);
    if (!as_truth)
        put(d, 0x403000, 8);
    put_at(d, first, d->bytes - first, 4);
    const size_t second = d->bytes;
    put(d, 0, 4);
    put(d, 1 << 16, 4);
    put(d, kept, 2);
    put(d, 0, 6);
    put(d, 0x401005, 8);
    put_at(d, second, d->bytes - second, 4);
    put_at(d, RECORD_HEADER_BYTES + RECORD_S_BYTES, d->bytes - RECORD_HEADER_BYTES, 4);
    put_at(d, RECORD_H_COMMITTED, d->bytes, 8);
}

TEST(steps_change_what_they_say)
{
    for (int as_truth = 0; as_truth <= 1; as_truth++) {
        struct fault fault = FAULT_INIT;
        struct steps steps;
        struct arena keep;
        uint64_t word = 0;
        struct draft d;
        arena_init(&keep, 0);
        make_steps(&d, HIGH - 16, 2, as_truth, 1);
        REQUIRE(steps_open(bytes_over(d.data, d.bytes, &fault), &keep, &steps) == ERR_NONE);
        REQUIRE(steps_next(&steps));
        const struct step *step = &steps.step;
        CHECK_EQ(step->index, 0);
        CHECK_HEX(step->regs.pc, 0x401000);
        CHECK_HEX(step->regs.sp, LOW + 16);
        CHECK_HEX(step->regs.r[0], 0xAAAA);
        REQUIRE(step->caller_count == 1);
        CHECK_HEX(steps_truth_pc(step, 0), 0x401000);
        CHECK_HEX(steps_truth_pc(step, 1), 0x402000);
        REQUIRE(step->walk_count == 1);
        CHECK_EQ(step->walks[0].walker, 4);
        CHECK_EQ(step->walks[0].as_truth, as_truth);
        CHECK_EQ(step->walks[0].frame_count, as_truth ? 2 : 1);
        CHECK_HEX(steps_walk_pc(step, &step->walks[0], 0), as_truth ? 0x401000 : 0x403000);
        CHECK(steps_read(&steps, HIGH - 8, &word, 8));
        CHECK_EQ(word, 7);
        CHECK(steps_read(&steps, HIGH - 24, &word, 8));
        CHECK_EQ(word, 0);
        CHECK(!steps_read(&steps, HIGH - 4, &word, 8));
        CHECK(!steps_read(&steps, LOW + 8, &word, 8)); /* below the stack pointer */
        CHECK(steps_read(&steps, LOW + 16, &word, 8));
        REQUIRE(steps_next(&steps));
        CHECK_EQ(step->index, 1);
        CHECK_HEX(step->regs.pc, 0x401005);
        CHECK_HEX(step->regs.r[0], 0xAAAA);
        CHECK_EQ(step->caller_count, 1);
        CHECK_EQ(step->walk_count, 0);
        CHECK(!steps_next(&steps));
        CHECK_EQ(fault.code, ERR_NONE);
        arena_free(&keep);
    }
}

TEST(steps_stay_within_their_stack)
{
    static const struct {
        const char *name;
        uint64_t va;
        uint32_t words, kept;
        int steps; /* that are read */
    } cases[] = {
        {"the whole stack", LOW, 8, 0, 2},
        {"one word too many", LOW, 9, 0, 0},
        {"the last word", HIGH - 8, 1, 0, 2},
        {"no word at the end", HIGH, 0, 0, 2},
        {"no word after the end", HIGH + 8, 0, 0, 0},
        {"before the stack", LOW - 8, 1, 0, 0},
        {"between two words", LOW + 4, 1, 0, 0},
        {"more callers kept than there are", LOW, 1, 2, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = FAULT_INIT;
        struct steps steps;
        struct arena keep;
        struct draft d;
        int read = 0;
        arena_init(&keep, 0);
        make_steps(&d, cases[i].va, cases[i].words, true, cases[i].kept);
        test_row(cases[i].name);
        REQUIRE(steps_open(bytes_over(d.data, d.bytes, &fault), &keep, &steps) == ERR_NONE);
        while (steps_next(&steps))
            read++;
        CHECK_EQ(read, cases[i].steps);
        CHECK_EQ(fault.code, cases[i].steps == 2 ? ERR_NONE : ERR_MALFORMED);
        arena_free(&keep);
    }
}

/* ---- captures on demand --------------------------------------------------------------- */

enum { RETURNS = RECORD_FRAME_RETURN | RECORD_FOUND_LEAF << RECORD_FRAME_SHIFT_FOUND };

/* FRAMES, each of them WORD, captured at AT_NS. */
static void put_frames(struct draft *d, uint32_t thread, uint64_t at_ns, uint32_t frames,
                       uint64_t word, const char *label)
{
    const size_t from = d->bytes, label_bytes = strlen(label);
    put(d, 0, 4);
    put(d, thread, 4);
    put(d, at_ns, 8);
    put(d, 1200, 4);
    put(d, 3, 4);
    put(d, frames, 2);
    put(d, label_bytes, 2);
    put(d, RECORD_STOP_LIMIT, 4);
    for (uint32_t i = 0; i < frames; i++)
        put(d, word, 8);
    for (size_t i = 0; i < label_bytes; i++)
        put(d, (uint8_t)label[i], 1);
    while (d->bytes % 8 != 0)
        put(d, 0, 1);
    put_at(d, from, d->bytes - from, 4);
}

static void put_capture(struct draft *d, uint32_t thread, uint64_t at_ns, uint64_t va,
                        uint64_t flags, const char *label)
{
    put_frames(d, thread, at_ns, 1, va | flags << RECORD_N_VA_BITS, label);
}

/* A module of 0x100 bytes at 0x1000, loaded and unloaded at these times. */
static void put_module(struct draft *d, uint64_t loaded, uint64_t unloaded, char name)
{
    put(d, 72, 4);
    put(d, 0, 4);
    put(d, 0x1000, 8);
    put(d, 0x100, 8);
    put(d, loaded, 8);
    put(d, unloaded, 8);
    put(d, 0, 20);
    put(d, 1, 2);
    put(d, 0, 2);
    put(d, (uint8_t)name, 8);
}

TEST(captures_have_the_modules_of_their_time)
{
    static const struct {
        const char *name;
        uint64_t at_ns, va, flags;
        char module; /* 0: none */
        enum pc_kind kind;
        enum found_by found;
    } cases[] = {
        {"while a was loaded", 100, 0x1010, RETURNS, 'a', PC_RETURN, FOUND_LEAF},
        {"at the end of a", 199, 0x1010, 0, 'a', PC_INTERRUPTED, FOUND_CONTEXT},
        {"when b came", 200, 0x1010, 0, 'b', PC_INTERRUPTED, FOUND_CONTEXT},
        {"before both: the last that was there", 50, 0x1010, 0, 'b', PC_INTERRUPTED, FOUND_CONTEXT},
        {"the last byte", 100, 0x10ff, 0, 'a', PC_INTERRUPTED, FOUND_CONTEXT},
        {"after it", 100, 0x1100, 0, 0, PC_INTERRUPTED, FOUND_CONTEXT},
        {"a return address after it", 100, 0x1100, RETURNS, 'a', PC_RETURN, FOUND_LEAF},
        {"a return address at the start", 100, 0x1000, RETURNS, 0, PC_RETURN, FOUND_LEAF},
        {"the largest address", 100, 0xFFFFFFFFFFFF, 0, 0, PC_INTERRUPTED, FOUND_CONTEXT},
        {"found in a way of later versions", 100, 0x1010, (uint64_t)15 << RECORD_FRAME_SHIFT_FOUND,
         'a', PC_INTERRUPTED, FOUND_GIVEN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = FAULT_INIT;
        struct record_stack stack;
        struct record record;
        struct arena keep;
        struct draft d;
        arena_init(&keep, 0);
        make_steps(&d, LOW, 1, true, 0);
        d.bytes = RECORD_HEADER_BYTES;
        put(&d, RECORD_SECTION_MODULES, 4);
        put(&d, 16 + 2 * 72, 4);
        put(&d, 2, 8);
        put_module(&d, 100, 200, 'a');
        put_module(&d, 200, RECORD_NEVER, 'b');
        const size_t from = d.bytes;
        put(&d, RECORD_SECTION_CAPTURES, 4);
        put(&d, 0, 4);
        put(&d, 3, 8);
        put(&d, 70, 8);
        put(&d, 71, 8);
        put(&d, 72, 8);
        put_capture(&d, 9, 1000, 0, 0, "late");
        put_capture(&d, 8, cases[i].at_ns, cases[i].va, cases[i].flags, "now");
        put_capture(&d, 7, cases[i].at_ns, 0, 0, "");
        put_at(&d, from + RECORD_S_BYTES, d.bytes - from, 4);
        put_at(&d, RECORD_H_COMMITTED, d.bytes, 8);
        test_row(cases[i].name);
        REQUIRE(record_read(bytes_over(d.data, d.bytes, &fault), &keep, &record) == ERR_NONE);
        CHECK_EQ(record.captures_asked, 70);
        CHECK_EQ(record.captures_cost_ns, 71);
        CHECK_EQ(record.captures_dearest_ns, 72);
        REQUIRE(record.capture_count == 3);
        CHECK_EQ(record.captures[0].thread_id, 7); /* by time, then by thread */
        CHECK_EQ(record.captures[2].thread_id, 9);
        REQUIRE(record_capture_stack(&record, 1, &keep, &stack, &fault) == ERR_NONE);
        CHECK_EQ(stack.walker, RECORD_WALKER_RTL);
        CHECK_EQ(stack.thread_id, 8);
        CHECK_EQ(stack.at_ns, cases[i].at_ns);
        CHECK_EQ(stack.walk_ns, 1200);
        CHECK_EQ(stack.left_out, 3);
        CHECK_EQ(stack.stop, RECORD_STOP_LIMIT);
        CHECK_STR(stack.label, "now");
        REQUIRE(stack.frame_count == 1);
        const struct frame *f = &stack.frames[0];
        CHECK_HEX(f->pc_va, cases[i].va);
        CHECK_HEX(f->offset, cases[i].module != 0 ? cases[i].va - 0x1000 : cases[i].va);
        CHECK_EQ(f->module != NULL ? f->module->name[0] : 0, cases[i].module);
        CHECK_EQ(f->kind, cases[i].kind);
        CHECK_EQ(f->found_by, cases[i].found);
        arena_free(&keep);
    }
}

TEST(a_capture_has_as_many_frames_as_any_stack)
{
    for (uint32_t frames = LIMIT_FRAMES - 1; frames <= LIMIT_FRAMES + 1; frames++) {
        struct fault fault = FAULT_INIT;
        struct record_stack stack;
        struct record record;
        struct arena keep;
        struct draft d;
        arena_init(&keep, 0);
        make_steps(&d, LOW, 1, true, 0);
        d.bytes = RECORD_HEADER_BYTES;
        put(&d, RECORD_SECTION_CAPTURES, 4);
        put(&d, 0, 4);
        put(&d, 1, 8);
        put(&d, 0, 24);
        put_frames(&d, 9, 1000, frames, 0x1010, "");
        put_at(&d, RECORD_HEADER_BYTES + RECORD_S_BYTES, d.bytes - RECORD_HEADER_BYTES, 4);
        put_at(&d, RECORD_H_COMMITTED, d.bytes, 8);
        const bool good =
            record_read(bytes_over(d.data, d.bytes, &fault), &keep, &record) == ERR_NONE &&
            record_capture_stack(&record, 0, &keep, &stack, &fault) == ERR_NONE;
        CHECK_EQ(good, frames <= LIMIT_FRAMES);
        CHECK_EQ(fault.code, frames <= LIMIT_FRAMES ? ERR_NONE : ERR_LIMIT);
        if (good)
            CHECK_EQ(stack.frame_count, frames);
        arena_free(&keep);
    }
}

/* ---- which stack is the crash --------------------------------------------------------- */

TEST(the_crash_is_the_best_stack_of_the_suspect)
{
    static const struct {
        const char *name;
        struct {
            uint32_t walker, thread, state, frames, sample;
        } stacks[4];
        int want; /* -1: none */
    } cases[] = {
        {"no stack of the suspect", {{RECORD_WALKER_RTL, 2, RECORD_STATE_OK, 1, 0}}, -1},
        {"rtl before dbghelp, in whatever order",
         {{RECORD_WALKER_DBGHELP, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_RTL, 1, RECORD_STATE_OK, 1, 0}},
         1},
        {"frame pointers where rtl does not apply",
         {{RECORD_WALKER_RTL, 1, RECORD_STATE_NOT_APPLICABLE, 0, 0},
          {RECORD_WALKER_BACKTRACE, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_DBGHELP_OWN, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_FRAME_POINTER, 1, RECORD_STATE_OK, 1, 0}},
         3},
        {"its own session of dbghelp before the shared one",
         {{RECORD_WALKER_BACKTRACE, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_DBGHELP, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_DBGHELP_OWN, 1, RECORD_STATE_OK, 1, 0}},
         2},
        {"an empty stack of rtl is none",
         {{RECORD_WALKER_RTL, 1, RECORD_STATE_OK, 0, 0},
          {RECORD_WALKER_DBGHELP, 1, RECORD_STATE_OK, 1, 0}},
         1},
        {"of another thread",
         {{RECORD_WALKER_RTL, 2, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_DBGHELP, 1, RECORD_STATE_OK, 1, 0}},
         1},
        {"of another sample",
         {{RECORD_WALKER_RTL, 1, RECORD_STATE_OK, 1, 1},
          {RECORD_WALKER_DBGHELP, 1, RECORD_STATE_OK, 1, 0}},
         1},
        {"of equals the first",
         {{RECORD_WALKER_RTL, 1, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_RTL, 1, RECORD_STATE_OK, 1, 0}},
         0},
        {"none has frames: the suspect's first",
         {{RECORD_WALKER_RTL, 2, RECORD_STATE_OK, 1, 0},
          {RECORD_WALKER_DBGHELP, 1, RECORD_STATE_FAULTED, 0, 0},
          {RECORD_WALKER_RTL, 1, RECORD_STATE_BLOCKED, 0, 0}},
         1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct record_stack stacks[4] = {{0}};
        struct record record = {.suspect_id = 1, .stacks = stacks};
        for (; record.stack_count < 4 && cases[i].stacks[record.stack_count].walker != 0;
             record.stack_count++)
            stacks[record.stack_count] =
                (struct record_stack){.walker = cases[i].stacks[record.stack_count].walker,
                                      .thread_id = cases[i].stacks[record.stack_count].thread,
                                      .state = cases[i].stacks[record.stack_count].state,
                                      .frame_count = cases[i].stacks[record.stack_count].frames,
                                      .sample = cases[i].stacks[record.stack_count].sample};
        const struct record_stack *got = record_crash_stack(&record);
        test_row(cases[i].name);
        CHECK_EQ(got != NULL ? got - stacks : -1, cases[i].want);
    }
}
