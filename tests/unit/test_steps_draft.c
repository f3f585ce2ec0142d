/* Moments of a walk at every instruction as drafts of cases of a suite: engine/steps_score.h. The
 * expected values are the state that the record states, and what a call does: it pushes the return
 * address, so the word below a caller's stack pointer is its address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "engine/steps_score.h"
#include "test.h"

static const char packed_file[] = "corpus/steps/ob2.rec";

enum { INSTRUCTIONS = 1398, CASE_EVERY = 13, RSP = 4, USER_SS = 0x2b };

/* The draft of instruction INDEX of the file PATH as JSON; NULL: FAULT says why. */
static cJSON *draft_of(const char *path, uint32_t index, struct arena *keep, struct fault *fault)
{
    struct steps_session *session;
    struct json j;
    size_t bytes = 0;
    cJSON *root = NULL;
    REQUIRE(steps_session_open(path, NULL, keep, &session, fault) == ERR_NONE);
    json_to_text(&j, false);
    (void)steps_session_draft(session, index, &j, fault);
    char *text = json_take(&j, &bytes);
    steps_session_close(session);
    if (fault->code == ERR_NONE)
        CHECK_EQ(json_parse(text, bytes, &root, fault), ERR_NONE);
    free(text);
    return root;
}

/* The state before instruction INDEX, by the reader of records. */
static void state_of(uint32_t index, struct arena *keep, struct steps *out)
{
    static struct file_map map;
    struct fault fault = FAULT_INIT;
    if (map.data == NULL)
        REQUIRE(file_map(test_source(packed_file), &map, &fault) == ERR_NONE);
    REQUIRE(steps_open(bytes_over(map.data, map.bytes, &fault), keep, out) == ERR_NONE);
    do
        REQUIRE(steps_next(out));
    while (out->step.index != index);
}

static const struct module *module_at(const struct steps *steps, uint64_t va)
{
    for (uint32_t i = 0; i < steps->record.module_count; i++) {
        const struct module *m = &steps->record.modules[i];
        if (va >= m->base_va && va < m->base_va + m->image_bytes)
            return m;
    }
    return NULL;
}

static uint64_t hex(const cJSON *object, const char *key)
{
    struct fault fault = FAULT_INIT;
    const uint64_t value = json_get_hex(object, key, UINT64_MAX, &fault);
    CHECK_EQ(fault.code, ERR_NONE);
    return value;
}

static void check_registers(const cJSON *given, const struct registers *regs)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const cJSON *object = cJSON_GetObjectItem(given, "registers");
    CHECK_EQ(cJSON_GetArraySize(object), COUNT_OF(names) + 1);
    for (uint32_t i = 0; i < COUNT_OF(names); i++)
        CHECK_HEX(hex(object, names[i]), i == RSP ? regs->sp : regs->r[i]);
    CHECK_HEX(hex(object, "rip"), regs->pc);
}

/* The byte of the stack at VA that the draft has; -1: it has none. */
static int stack_byte(const cJSON *given, uint64_t va)
{
    const cJSON *piece;
    cJSON_ArrayForEach(piece, cJSON_GetObjectItem(given, "stack"))
    {
        const char *text = cJSON_GetObjectItem(piece, "bytes")->valuestring;
        const uint64_t into = va - hex(piece, "at");
        unsigned byte = 0;
        if (into < strlen(text) / 2 && sscanf(text + 2 * into, "%2x", &byte) == 1)
            return (int)byte;
    }
    return -1;
}

static uint64_t stack_word(const cJSON *given, uint64_t va)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
        word = word << 8 | (uint64_t)stack_byte(given, va + (uint64_t)i);
    return word;
}

/* Whole words in order, none below the stack pointer, and a gap between two pieces. */
static void check_stack(const cJSON *given, const struct steps *steps)
{
    uint64_t free_from = steps->step.regs.sp & ~UINT64_C(7);
    const cJSON *piece;
    cJSON_ArrayForEach(piece, cJSON_GetObjectItem(given, "stack"))
    {
        const uint64_t at = hex(piece, "at");
        const size_t digits = strlen(cJSON_GetObjectItem(piece, "bytes")->valuestring);
        CHECK(at >= free_from && at % 8 == 0);
        CHECK(digits > 0 && digits % 16 == 0);
        CHECK(at + digits / 2 <= steps->stack_high_va);
        for (uint64_t va = at; va < at + digits / 2; va++)
            CHECK_EQ(stack_byte(given, va), steps->stack[va - steps->stack_low_va]);
        free_from = at + digits / 2 + 8;
    }
}

static void check_frames(const cJSON *root, const cJSON *frames, const struct steps *steps)
{
    const struct step *step = &steps->step;
    const struct module *module = module_at(steps, step->regs.pc);
    const cJSON *given = cJSON_GetObjectItem(root, "given");
    uint32_t count = 1;
    const cJSON *frame = cJSON_GetArrayItem(frames, 0);
    CHECK_HEX(hex(frame, "ip"), step->regs.pc);
    CHECK_HEX(hex(frame, "sp"), step->regs.sp);
    for (; count <= step->caller_count; count++) {
        const struct step_caller *caller = &step->callers[step->caller_count - count];
        if (module_at(steps, caller->pc_va) != module)
            break;
        frame = cJSON_GetArrayItem(frames, (int)count);
        REQUIRE(frame != NULL);
        CHECK_HEX(hex(frame, "ip"), caller->pc_va);
        CHECK_HEX(hex(frame, "sp"), caller->sp_va);
        uint64_t pushed = stack_word(given, caller->sp_va - 8);
        if (pushed == USER_SS) /* an interrupt pushed ss, rsp, flags, cs and rip */
            pushed = stack_word(given, caller->sp_va - 40);
        CHECK_HEX(pushed, caller->pc_va);
    }
    CHECK_EQ(cJSON_GetArraySize(frames), count);
}

static bool is_right(const struct step *step, const struct step_walk *walk)
{
    bool right = walk->frame_count == step->caller_count + 1;
    for (uint32_t i = 0; right && !walk->as_truth && i < walk->frame_count; i++)
        right = load_u64(walk->pcs + (size_t)i * 8) ==
                (i == 0 ? step->regs.pc : step->callers[step->caller_count - i].pc_va);
    return right;
}

/* Returns whether a walker that others wrote confirms the truth. */
static bool check_witnesses(const cJSON *root, const struct step *step)
{
    static const char *const theirs[] = {"rtl", "dbghelp-own", "backtrace"};
    const cJSON *known_by = cJSON_GetObjectItem(root, "known_by");
    int count = 0;
    CHECK_HAS(cJSON_GetArrayItem(known_by, count++)->valuestring, "executed");
    for (uint32_t i = 0; i < step->walk_count; i++) {
        const char *name = record_walker_name(step->walks[i].walker);
        bool independent = false;
        for (size_t k = 0; k < COUNT_OF(theirs); k++)
            independent = independent || strcmp(name, theirs[k]) == 0;
        if (!independent || !is_right(step, &step->walks[i]))
            continue;
        const cJSON *said = cJSON_GetArrayItem(known_by, count++);
        CHECK_STR(said != NULL ? said->valuestring : NULL, name);
    }
    CHECK_EQ(cJSON_GetArraySize(known_by), count);
    return count > 1;
}

TEST(a_draft_is_the_state_its_stack_and_its_witnesses)
{
    uint32_t levels[2] = {0, 0};
    for (uint32_t index = 0; index < INSTRUCTIONS; index += CASE_EVERY) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct steps steps;
        char row[16];
        (void)snprintf(row, sizeof row, "%u", (unsigned)index);
        test_row(row);
        arena_init(&keep, 0);
        state_of(index, &keep, &steps);
        cJSON *root = draft_of(test_source(packed_file), index, &keep, &fault);
        REQUIRE(root != NULL);
        const cJSON *given = cJSON_GetObjectItem(root, "given");
        const cJSON *truth = cJSON_GetObjectItem(root, "truth");
        const cJSON *module = cJSON_GetArrayItem(cJSON_GetObjectItem(given, "modules"), 0);
        const struct module *want = module_at(&steps, steps.step.regs.pc);
        CHECK_STR(json_get_string(root, "kind", &keep, &fault), "moment");
        CHECK_STR(json_get_string(root, "processor", &keep, &fault), "x64");
        CHECK_STR(json_get_string(root, "capability", &keep, &fault), "moments.x64");
        REQUIRE(want != NULL && module != NULL);
        CHECK_STR(json_get_string(module, "path", &keep, &fault), want->name);
        CHECK_HEX(hex(module, "base"), want->base_va);
        CHECK_HEX(hex(module, "size"), want->image_bytes);
        check_registers(given, &steps.step.regs);
        check_stack(given, &steps);
        const bool must = check_witnesses(root, &steps.step);
        levels[must]++;
        CHECK_STR(json_get_string(truth, "level", &keep, &fault), must ? "must" : "may");
        CHECK_EQ(cJSON_IsFalse(cJSON_GetObjectItem(truth, "whole")), must);
        const cJSON *accepted = cJSON_GetObjectItem(truth, "accepted");
        CHECK_EQ(accepted == NULL, must);
        CHECK_EQ(must || cJSON_GetArraySize(accepted) == 1, 1);
        check_frames(root,
                     must ? cJSON_GetObjectItem(truth, "frames") : cJSON_GetArrayItem(accepted, 0),
                     &steps);
        cJSON_Delete(root);
        arena_free(&keep);
    }
    CHECK(levels[true] > 0);
}

/* No register is saved there: the first word that a walk reads is the return address of the first
 * caller, and it is alone. */
TEST(a_draft_has_no_word_that_no_walk_reads)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct steps steps;
    arena_init(&keep, 0);
    state_of(0, &keep, &steps);
    cJSON *root = draft_of(test_source(packed_file), 0, &keep, &fault);
    REQUIRE(root != NULL);
    const cJSON *piece =
        cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "given"), "stack"), 0);
    CHECK_HEX(hex(piece, "at"), steps.step.callers[steps.step.caller_count - 1].sp_va - 8);
    CHECK_EQ(strlen(cJSON_GetObjectItem(piece, "bytes")->valuestring), 16);
    cJSON_Delete(root);
    arena_free(&keep);
}

TEST(what_cannot_be_drafted_is_named)
{
    static const struct {
        const char *name;
        uint32_t index;
        bool without_module;
        enum status want;
        const char *hint;
    } rows[] = {
        {"the first", 0, false, ERR_NONE, NULL},
        {"the last", INSTRUCTIONS - 1, false, ERR_NONE, NULL},
        {"after the last", INSTRUCTIONS, false, ERR_ABSENT, "no such instruction"},
        {"in no module", 0, true, ERR_ABSENT, "its instruction is in no module"},
    };
    size_t bytes;
    char path[1024];
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    (void)snprintf(path, sizeof path, "%s/steps.rec", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        uint8_t *module = data + RECORD_HEADER_BYTES + RECORD_SECTION_HEADER_BYTES;
        for (uint32_t k = load_u32(data + RECORD_HEADER_BYTES + RECORD_S_COUNT);
             rows[i].without_module && k > 0; k--, module += load_u32(module))
            memset(module + RECORD_M_IMAGE_BYTES, 0, 8);
        test_write(path, data, bytes);
        cJSON_Delete(draft_of(path, rows[i].index, &keep, &fault));
        CHECK_EQ(fault.code, rows[i].want);
        if (rows[i].hint != NULL)
            CHECK_STR(fault.hint, rows[i].hint);
        arena_free(&keep);
    }
}

/* A copy of the file, whose second step is in a function that the first one called. */
struct made {
    uint8_t *data, *callers; /* of the first step, outermost first */
    uint8_t *step, *caller;  /* the second step, and the caller that it adds */
    size_t bytes;
    struct steps steps; /* as it is before it is changed */
    struct arena keep;
    struct fault fault;
};

static void make(struct made *m)
{
    static const struct fault none = FAULT_INIT;
    size_t at = RECORD_HEADER_BYTES;
    m->fault = none;
    arena_init(&m->keep, 0);
    m->data = test_read(test_source(packed_file), &m->bytes);
    state_of(1, &m->keep, &m->steps);
    while (load_u32(m->data + at) != RECORD_SECTION_STEPS)
        at += load_u32(m->data + at + RECORD_S_BYTES);
    uint8_t *step = m->data + at + RECORD_STEPS_BYTES;
    for (int i = 0; i < 2; i++) {
        uint8_t *place = step + RECORD_STEP_BYTES;
        for (uint32_t mask = load_u32(step + 4); mask != 0; mask &= mask - 1)
            place += 8;
        if (i == 0)
            m->callers = place;
        m->step = step;
        m->caller = place;
        step += load_u32(step);
    }
    REQUIRE(m->steps.step.caller_count == 3);
    REQUIRE(load_u64(m->callers) == m->steps.step.callers[0].pc_va);
    REQUIRE(load_u64(m->caller) == m->steps.step.callers[2].pc_va);
}

static void put_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The draft of the second step of what was made. */
static cJSON *draft_made(struct made *m)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/steps.rec", test_scratch());
    test_write(path, m->data, m->bytes);
    cJSON *root = draft_of(path, 1, &m->keep, &m->fault);
    REQUIRE(root != NULL);
    return root;
}

/* The record states the bounds of the stack; stack pointers below them are of a damaged file. */
TEST(a_stack_pointer_outside_of_the_stack_reads_nothing)
{
    static const struct {
        const char *name;
        bool caller_too;
        int pieces;
        bool at_the_end;
    } rows[] = {
        {"of the step and of its caller", true, 0, false},
        {"of the step alone", false, 1, false},
        {"at the low end, where the return address is read", false, 2, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct made m;
        test_row(rows[i].name);
        make(&m);
        const struct step_caller *caller = &m.steps.step.callers[2];
        const uint64_t sp_va = rows[i].at_the_end ? m.steps.stack_low_va : 0x1000;
        for (uint8_t *place = m.step + RECORD_STEP_BYTES; place < m.caller; place += 8)
            if (load_u64(place) == m.steps.step.regs.sp)
                put_u64(place, sp_va);
        if (rows[i].caller_too)
            put_u64(m.caller + 8, 0x2000);
        cJSON *root = draft_made(&m);
        const cJSON *given = cJSON_GetObjectItem(root, "given");
        CHECK_HEX(hex(cJSON_GetObjectItem(given, "registers"), "rsp"), sp_va);
        CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(given, "stack")), rows[i].pieces);
        if (rows[i].pieces > 0)
            CHECK_HEX(stack_word(given, caller->sp_va - 8), caller->pc_va);
        CHECK_EQ(stack_byte(given, m.steps.stack_low_va), rows[i].at_the_end ? 0 : -1);
        cJSON_Delete(root);
        arena_free(&m.keep);
    }
}

/* The frames end where the image or what is known of a stack pointer does, or with the last caller.
 */
TEST(the_truth_of_a_draft_has_all_frames_of_its_image)
{
    static const struct {
        const char *name;
        int in_image; /* so many of the three callers, from the inside */
        int without_sp;
        int frames;
    } rows[] = {
        {"one", 1, 9, 2},
        {"two", 2, 9, 3},
        {"all", 3, 9, 4},
        {"the stack pointer of the second is not known", 3, 1, 2},
        {"that of the last one", 3, 2, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct made m;
        test_row(rows[i].name);
        make(&m);
        for (int k = 0; k < 3; k++) {
            uint8_t *place = k == 0 ? m.caller : m.callers + (k == 1 ? 16 : 0);
            put_u64(place, k < rows[i].in_image ? m.steps.step.regs.pc + (uint64_t)k : 0x1000);
            put_u64(place + 8,
                    k == rows[i].without_sp ? 0 : m.steps.step.regs.sp + 8 + (uint64_t)k * 16);
        }
        cJSON *root = draft_made(&m);
        const cJSON *frame, *truth = cJSON_GetObjectItem(root, "truth");
        const cJSON *frames = cJSON_GetObjectItem(truth, "frames");
        int at = 0;
        CHECK_EQ(cJSON_GetArraySize(frames), rows[i].frames);
        cJSON_ArrayForEach(frame, frames)
        {
            const uint64_t into = at > 0 ? (uint64_t)at - 1 : 0;
            CHECK_HEX(hex(frame, "ip"), m.steps.step.regs.pc + into);
            CHECK_HEX(hex(frame, "sp"), m.steps.step.regs.sp + (at > 0 ? 8 + into * 16 : 0));
            at++;
        }
        cJSON_Delete(root);
        arena_free(&m.keep);
    }
}

/* A suite that scores our walkers has no witness that only we have written. */
TEST(a_walker_of_ours_confirms_nothing)
{
    struct made m;
    make(&m);
    uint8_t *place = m.caller + 16;
    for (uint32_t i = load_u16(m.step + 12); i > 0; i--) /* runs of the stack */
        place += 16 + (size_t)load_u32(place + 8) * 8;
    for (uint32_t i = load_u16(m.step + 14); i > 0; i--) {
        place[0] = RECORD_WALKER_FRAME_POINTER;
        place += 8 + ((place[3] & RECORD_WALK_AS_TRUTH) != 0 ? 0 : (size_t)load_u32(place + 4) * 8);
    }
    REQUIRE(place == m.step + load_u32(m.step));
    cJSON *root = draft_made(&m);
    CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(root, "known_by")), 1);
    CHECK_STR(json_get_string(cJSON_GetObjectItem(root, "truth"), "level", &m.keep, &m.fault),
              "may");
    cJSON_Delete(root);
    arena_free(&m.keep);
}
