/* Replays the walk at every instruction from a file that holds the walks of Wine's walkers and the
 * truth. Our unwinder must be right at every instruction, stack pointers included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "engine/steps_score.h"
#include "test.h"

static const char packed_file[] = "corpus/steps/ob2.rec";

enum { INSTRUCTIONS = 1398, DRAFTS = 1397, DRAFT_EVERY = 97 };

static enum status judge(const char *path, struct steps_verdict *out)
{
    struct arena keep;
    struct steps_session *session;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    *out = (struct steps_verdict){0};
    if (steps_session_open(path, NULL, &keep, &session, &fault) == ERR_NONE) {
        (void)steps_session_judge(session, out, &fault);
        steps_session_close(session);
    }
    arena_free(&keep); /* also frees the lists of misses: only numbers are checked */
    return fault.code;
}

static const struct steps_tally *tally_of(const struct steps_verdict *verdict, const char *walker)
{
    for (uint32_t i = 0; i < verdict->tally_count; i++)
        if (strcmp(verdict->tallies[i].walker, walker) == 0)
            return &verdict->tallies[i];
    return NULL;
}

TEST(ours_is_right_at_every_instruction)
{
    struct steps_verdict verdict;
    CHECK_EQ(judge(test_source(packed_file), &verdict), ERR_NONE);
    CHECK_EQ(verdict.steps, INSTRUCTIONS);
    REQUIRE(verdict.tally_count > 0);
    CHECK_STR(verdict.tallies[0].walker, "ours");
    CHECK_EQ(verdict.tallies[0].right, INSTRUCTIONS);
    CHECK(!verdict.tallies[0].missed);
}

/* The system's unwinders lose tail calls and interrupt returns; frame pointers lose nearly all. */
TEST(the_walkers_are_counted_as_they_were)
{
    static const struct {
        const char *walker;
        uint32_t right, early, wrong;
    } rows[] = {
        {"rtl", 1388, 5, 5},
        {"dbghelp-own", 1388, 8, 2},
        {"backtrace", 1383, 5, 10},
        {"framepointer", 0, 1373, 25},
    };
    struct steps_verdict verdict;
    CHECK_EQ(judge(test_source(packed_file), &verdict), ERR_NONE);
    CHECK_EQ(verdict.tally_count, COUNT_OF(rows) + 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].walker);
        const struct steps_tally *tally = tally_of(&verdict, rows[i].walker);
        REQUIRE(tally != NULL);
        CHECK_EQ(tally->right, rows[i].right);
        CHECK_EQ(tally->early, rows[i].early);
        CHECK_EQ(tally->wrong, rows[i].wrong);
        CHECK(tally->missed && tally->first_is_wrong);
    }
}

/* Where the file's first section of TYPE starts. */
static size_t section_at(const uint8_t *data, size_t bytes, uint32_t type)
{
    size_t at = RECORD_HEADER_BYTES;
    while (at + RECORD_SECTION_HEADER_BYTES <= bytes && load_u32(data + at) != type)
        at += load_u32(data + at + RECORD_S_BYTES);
    REQUIRE(at + RECORD_SECTION_HEADER_BYTES <= bytes);
    return at;
}

static struct steps_tally ours(const uint8_t *data, size_t bytes)
{
    char path[1024];
    struct steps_verdict verdict;
    REQUIRE(snprintf(path, sizeof path, "%s/steps.rec", test_scratch()) < (int)sizeof path);
    test_write(path, data, bytes);
    CHECK_EQ(judge(path, &verdict), ERR_NONE);
    CHECK_EQ(verdict.steps, INSTRUCTIONS);
    return verdict.tallies[0];
}

static uint32_t ours_right(const uint8_t *data, size_t bytes)
{
    return ours(data, bytes).right;
}

/* The last entry of the last section of steps. */
static uint8_t *last_step(uint8_t *data, size_t bytes)
{
    uint8_t *last = NULL;
    for (size_t at = RECORD_HEADER_BYTES; at + RECORD_SECTION_HEADER_BYTES <= bytes;
         at += load_u32(data + at + RECORD_S_BYTES)) {
        uint8_t *entry = data + at + RECORD_STEPS_BYTES;
        if (load_u32(data + at) != RECORD_SECTION_STEPS)
            continue;
        for (uint32_t i = load_u32(data + at + RECORD_S_COUNT); i > 0; i--) {
            last = entry;
            entry += load_u32(entry);
        }
    }
    REQUIRE(last != NULL);
    return last;
}

/* The verdict must change when the data that it is based on is removed or changed. */
TEST(the_verdict_can_be_wrong)
{
    size_t bytes;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    const size_t steps = section_at(data, bytes, RECORD_SECTION_STEPS);
    const size_t memory = section_at(data, bytes, RECORD_SECTION_MEMORY);
    CHECK_EQ(ours_right(data, bytes), INSTRUCTIONS);

    test_row("unwind data missing");
    data[memory] = 0xee; /* an unknown section is skipped */
    CHECK(ours_right(data, bytes) < INSTRUCTIONS / 2);
    data[memory] = RECORD_SECTION_MEMORY;

    test_row("a caller's address in the truth");
    const size_t first = steps + RECORD_STEPS_BYTES;
    uint32_t registers = 0;
    for (uint32_t mask = load_u32(data + first + 4); mask != 0; mask &= mask - 1)
        registers++;
    uint8_t *caller = data + first + RECORD_STEP_BYTES + (size_t)registers * 8;
    caller[0] ^= 1; /* the thread's start, which is a caller in every step */
    CHECK_EQ(ours_right(data, bytes), 0);
    caller[0] ^= 1;

    test_row("a caller's stack pointer in the truth");
    REQUIRE(load_u16(data + first + 10) == 2);
    caller[16 + 8] ^= 8;
    CHECK_EQ(ours_right(data, bytes), 0);
}

/* Callers that the truth lacks are as wrong as other callers. */
TEST(a_walk_that_is_longer_than_the_truth_is_wrong)
{
    enum { CALLERS_KEPT = 8 };
    size_t bytes;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    uint8_t *kept = last_step(data, bytes) + CALLERS_KEPT;
    REQUIRE(load_u16(kept) > 0);
    kept[0] = kept[1] = 0;
    const struct steps_tally tally = ours(data, bytes);
    CHECK_EQ(tally.right, INSTRUCTIONS - 1);
    CHECK_EQ(tally.early, 0);
    CHECK_EQ(tally.wrong, 1);
}

/* engine/steps_score.h: the first wrong step, else the first that ended early, with both lists. */
TEST(the_first_miss_is_kept_with_truth_and_claim)
{
    enum { CALLERS_KEPT = 8 };
    size_t bytes;
    char path[1024];
    struct arena keep;
    struct steps_session *session;
    struct steps_verdict verdict;
    struct fault fault = FAULT_INIT;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    uint8_t *kept = last_step(data, bytes) + CALLERS_KEPT;
    kept[0] = kept[1] = 0; /* a step without callers */
    (void)snprintf(path, sizeof path, "%s/steps.rec", test_scratch());
    test_write(path, data, bytes);
    arena_init(&keep, 0);
    REQUIRE(steps_session_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
    REQUIRE(steps_session_judge(session, &verdict, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < verdict.tally_count; i++) {
        const struct steps_tally *tally = &verdict.tallies[i];
        const struct steps_miss *miss = &tally->first;
        test_row(tally->walker);
        REQUIRE(tally->missed && tally->first_is_wrong && miss->module != NULL);
        CHECK(miss->pc_va - miss->module->base_va < miss->module->image_bytes);
        CHECK(miss->truth_count > 0 && miss->claim_count > 0);
        CHECK_HEX(miss->truth[0], miss->pc_va);
        uint32_t same = 0;
        while (same < miss->truth_count && same < miss->claim_count &&
               miss->truth[same] == miss->claim[same])
            same++;
        CHECK(same < miss->claim_count); /* something in it is not the truth */
        CHECK(miss->code_bytes <= STEPS_CODE_BYTES);
    }
    const struct steps_miss *ours_missed = &verdict.tallies[0].first;
    test_row("ours");
    CHECK_EQ(ours_missed->truth_count, 1);
    CHECK(ours_missed->claim_count > 1);
    CHECK_HEX(ours_missed->claim[0], ours_missed->pc_va);
    steps_session_close(session);
    arena_free(&keep);
}

/* A module holds the addresses below its end, so the pc of a miss is in it by one byte or not. */
TEST(a_miss_after_the_end_of_a_module_is_in_none)
{
    static const char walker[] = "rtl";
    size_t bytes;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    uint8_t *module = data + RECORD_HEADER_BYTES + RECORD_SECTION_HEADER_BYTES; /* the first */
    struct steps_verdict verdict;
    char path[1024];
    REQUIRE(judge(test_source(packed_file), &verdict) == ERR_NONE);
    const uint64_t pc_va = tally_of(&verdict, walker)->first.pc_va;
    const uint64_t into = pc_va - load_u64(module + RECORD_M_BASE);
    REQUIRE(into < load_u64(module + RECORD_M_IMAGE_BYTES));
    (void)snprintf(path, sizeof path, "%s/steps.rec", test_scratch());
    for (uint64_t more = 0; more < 2; more++) {
        struct steps_session *session;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        for (int i = 0; i < 8; i++)
            module[RECORD_M_IMAGE_BYTES + i] = (uint8_t)((into + more) >> (8 * i));
        test_write(path, data, bytes);
        arena_init(&keep, 0);
        REQUIRE(steps_session_open(path, NULL, &keep, &session, &fault) == ERR_NONE);
        REQUIRE(steps_session_judge(session, &verdict, &fault) == ERR_NONE);
        const struct steps_miss *miss = &tally_of(&verdict, walker)->first;
        CHECK_HEX(miss->pc_va, pc_va);
        CHECK_EQ(miss->module != NULL, more == 1);
        steps_session_close(session);
        arena_free(&keep);
    }
}

/* Without images nothing is added but a section of memory without entries. */
TEST(a_packed_file_is_the_old_one_and_a_section_of_memory)
{
    size_t bytes, packed_bytes;
    char path[1024];
    struct arena keep;
    struct steps_session *session;
    struct steps_verdict verdict;
    struct fault fault = FAULT_INIT;
    const uint8_t *data = test_read(test_source(packed_file), &bytes);
    (void)snprintf(path, sizeof path, "%s/packed.rec", test_scratch());
    arena_init(&keep, 0);
    REQUIRE(steps_session_open(test_source(packed_file), NULL, &keep, &session, &fault) ==
            ERR_NONE);
    REQUIRE(steps_session_judge(session, &verdict, &fault) == ERR_NONE);
    CHECK_EQ(steps_session_pack(session, path, &fault), ERR_NONE);
    steps_session_close(session);
    arena_free(&keep);
    const uint8_t *packed = test_read(path, &packed_bytes);
    REQUIRE(packed_bytes == bytes + RECORD_SECTION_HEADER_BYTES);
    CHECK_MEM(packed, data, RECORD_H_COMMITTED);
    CHECK_EQ(load_u64(packed + RECORD_H_COMMITTED), packed_bytes);
    CHECK_MEM(packed + RECORD_H_COMMITTED + 8, data + RECORD_H_COMMITTED + 8,
              bytes - RECORD_H_COMMITTED - 8);
    CHECK_EQ(load_u32(packed + bytes + RECORD_S_TYPE), RECORD_SECTION_MEMORY);
    CHECK_EQ(load_u32(packed + bytes + RECORD_S_BYTES), RECORD_SECTION_HEADER_BYTES);
    CHECK_EQ(load_u32(packed + bytes + RECORD_S_COUNT), 0);
    CHECK_EQ(judge(path, &verdict), ERR_NONE);
    CHECK_EQ(verdict.tallies[0].right, INSTRUCTIONS);
}

/* ---- images ----------------------------------------------------------------------------- */

enum {
    IMAGE_BYTES_MAX = 1 << 20,
    IMAGE_ALIGN = 1 << 20,
    HEADER_BYTES = 0x1000,
    OPTIONAL_AT = 24,
    SECTION_ROW_BYTES = 40,
    LINE_BYTES = 16
};

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Where an image has the byte at RVA, by the table of sections that its header has (Microsoft's PE
 * format). */
static uint32_t place_in_image(const uint8_t *image, uint32_t rva)
{
    const uint8_t *head = image + load_u32(image + 60);
    const uint8_t *row = head + OPTIONAL_AT + load_u16(head + 20);
    for (uint32_t i = load_u16(head + 6); i > 0 && rva >= HEADER_BYTES;
         i--, row += SECTION_ROW_BYTES)
        if (rva - load_u32(row + 12) < load_u32(row + 16))
            return rva - load_u32(row + 12) + load_u32(row + 20);
    return rva;
}

/* The file of MODULE, as far as RECORD has its bytes, in FOLDER. */
static void write_image(const struct record *record, const struct module *module,
                        const char *folder)
{
    static uint8_t image[IMAGE_BYTES_MAX];
    char path[1024];
    bool any = false;
    memset(image, 0, sizeof image);
    for (uint32_t i = 0; i < record->memory_count; i++) {
        const struct record_memory *memory = &record->memory[i];
        const uint64_t rva = memory->va - module->base_va;
        if (rva >= module->image_bytes)
            continue;
        const uint32_t at = place_in_image(image, (uint32_t)rva);
        REQUIRE(at + memory->bytes <= sizeof image);
        memcpy(image + at, memory->at, memory->bytes);
        any = true;
    }
    if (!any)
        return;
    uint8_t *optional = image + load_u32(image + 60) + OPTIONAL_AT; /* fields that no walk reads */
    put_u32(optional + 56, (uint32_t)module->image_bytes);
    put_u32(optional + 60, HEADER_BYTES);
    put_u32(optional + 108, 16);
    (void)snprintf(path, sizeof path, "%s/%s", folder, module->name);
    test_write(path, image, sizeof image);
}

static const uint8_t *line_in(const struct record *record, uint64_t va)
{
    for (uint32_t i = 0; i < record->memory_count; i++)
        if (va - record->memory[i].va < record->memory[i].bytes)
            return record->memory[i].at + (va - record->memory[i].va);
    return NULL;
}

/* How many lines of WANT are in HAVE, and are the same there. */
static uint32_t packed_lines(const struct record *want, const struct record *have)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < want->memory_count; i++)
        for (uint32_t at = 0; at < want->memory[i].bytes; at += LINE_BYTES) {
            const uint8_t *line = line_in(have, want->memory[i].va + at);
            count += line != NULL && memcmp(line, want->memory[i].at + at, LINE_BYTES) == 0;
        }
    return count;
}

/* A walk reads the same bytes from images as from the packed file, which has the lines of Wine's
 * images, and packing keeps these alone: in the order of addresses, and besides only headers. */
TEST(what_is_read_of_images_is_packed)
{
    char walked[1024], packed[1024];
    const char *roots[] = {test_scratch()};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1};
    struct symbol_store *store = NULL;
    struct steps_session *session;
    struct steps_verdict verdict;
    struct fault fault = FAULT_INIT;
    struct record before, after;
    struct arena keep;
    size_t bytes;
    arena_init(&keep, 0);
    (void)snprintf(walked, sizeof walked, "%s/walked.rec", test_scratch());
    (void)snprintf(packed, sizeof packed, "%s/packed.rec", test_scratch());
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    REQUIRE(record_read(bytes_over(data, bytes, &fault), &keep, &before) == ERR_NONE);
    for (uint32_t i = 0; i < before.module_count; i++)
        write_image(&before, &before.modules[i], test_scratch());
    data[section_at(data, bytes, RECORD_SECTION_MEMORY)] = 0xee; /* an unknown section is skipped */
    test_write(walked, data, bytes);

    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    REQUIRE(steps_session_open(walked, store, &keep, &session, &fault) == ERR_NONE);
    REQUIRE(steps_session_judge(session, &verdict, &fault) == ERR_NONE);
    CHECK_EQ(verdict.tallies[0].right, INSTRUCTIONS);
    REQUIRE(steps_session_pack(session, packed, &fault) == ERR_NONE);
    steps_session_close(session);
    symbol_store_close(store);

    REQUIRE(judge(packed, &verdict) == ERR_NONE);
    CHECK_EQ(verdict.tallies[0].right, INSTRUCTIONS);
    const uint8_t *again = test_read(packed, &bytes);
    REQUIRE(record_read(bytes_over(again, bytes, &fault), &keep, &after) == ERR_NONE);
    CHECK(!after.partial);
    CHECK_EQ(packed_lines(&before, &after), packed_lines(&before, &before));
    for (uint32_t i = 0; i < after.memory_count; i++) {
        const struct record_memory *memory = &after.memory[i];
        CHECK_EQ(memory->va % LINE_BYTES, 0);
        CHECK_EQ(memory->bytes % LINE_BYTES, 0);
        CHECK(i == 0 || memory->va > memory[-1].va + memory[-1].bytes); /* one entry for a run */
        for (uint32_t line = 0; line < memory->bytes; line += LINE_BYTES)
            CHECK((memory->va + line) % IMAGE_ALIGN < HEADER_BYTES ||
                  line_in(&before, memory->va + line) != NULL);
    }
    arena_free(&keep);
}

static enum status compare_draft(void *context, const struct steps_draft *draft,
                                 struct fault *fault)
{
    uint32_t *count = context;
    struct steps_session *session;
    struct arena keep;
    struct json j;
    if ((*count)++ % DRAFT_EVERY != 0)
        return ERR_NONE;
    arena_init(&keep, 0);
    REQUIRE(steps_session_open(test_source(packed_file), NULL, &keep, &session, fault) == ERR_NONE);
    json_to_text(&j, false);
    CHECK_EQ(steps_session_draft(session, draft->step, &j, fault), ERR_NONE);
    char *alone = json_take(&j, NULL);
    CHECK_STR(draft->json, alone);
    CHECK_STR(draft->module->name, "steps-ob2.exe");
    CHECK(draft->function == NULL); /* there is no PDB */
    free(alone);
    steps_session_close(session);
    arena_free(&keep);
    return fault->code;
}

static enum status refuse_second(void *context, const struct steps_draft *draft,
                                 struct fault *fault)
{
    uint32_t *count = context;
    (void)draft;
    return ++*count == 2 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "second") : ERR_NONE;
}

/* What one pass over all moments writes of a moment is what it alone is: nothing of an earlier one
 * is left in it. A failure of the caller ends the pass. */
TEST(all_drafts_are_those_of_each_moment)
{
    enum { CALLERS_KEPT = 8 };
    static const struct {
        const char *name, *image; /* whose file the symbols have */
        steps_draft_fn *each;
        enum status want;
        uint32_t calls;
        struct steps_drafts out;
        bool last_alone; /* the last step has no callers */
    } rows[] = {
        {"the program",
         "steps-ob2.exe",
         compare_draft,
         ERR_NONE,
         DRAFTS,
         {INSTRUCTIONS, 0, INSTRUCTIONS - DRAFTS},
         false},
        {"a step without callers",
         "steps-ob2.exe",
         compare_draft,
         ERR_NONE,
         DRAFTS - 1,
         {INSTRUCTIONS, 0, INSTRUCTIONS - DRAFTS + 1},
         true},
        {"another image",
         "ntdll.dll",
         compare_draft,
         ERR_NONE,
         0,
         {INSTRUCTIONS, INSTRUCTIONS, 0},
         false},
        {"the second is refused", "steps-ob2.exe", refuse_second, ERR_IO, 2, {0, 0, 0}, false},
    };
    size_t bytes;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    uint8_t *kept = last_step(data, bytes) + CALLERS_KEPT;
    const uint8_t callers = kept[0];
    REQUIRE(callers > 0 && kept[1] == 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char folder[600], path[700];
        const char *roots[] = {folder};
        const struct symbol_store_options options = {.roots = roots, .root_count = 1};
        struct symbol_store *store = NULL;
        struct steps_session *session;
        struct steps_drafts out;
        struct fault fault = FAULT_INIT;
        struct record record;
        struct arena keep;
        uint32_t calls = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(folder, sizeof folder, "%s/%zu", test_scratch(), i);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        REQUIRE(record_read(bytes_over(data, bytes, &fault), &keep, &record) == ERR_NONE);
        for (uint32_t k = 0; k < record.module_count; k++)
            if (strcmp(record.modules[k].name, rows[i].image) == 0)
                write_image(&record, &record.modules[k], folder);
        kept[0] = rows[i].last_alone ? 0 : callers;
        (void)snprintf(path, sizeof path, "%s/walk", folder);
        test_write(path, data, bytes);
        REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
        REQUIRE(steps_session_open(path, store, &keep, &session, &fault) == ERR_NONE);
        CHECK_EQ(steps_session_drafts(session, rows[i].each, &calls, &out, &fault), rows[i].want);
        CHECK_EQ(calls, rows[i].calls);
        if (rows[i].want == ERR_NONE) {
            CHECK_EQ(out.steps, rows[i].out.steps);
            CHECK_EQ(out.elsewhere, rows[i].out.elsewhere);
            CHECK_EQ(out.outermost, rows[i].out.outermost);
        }
        steps_session_close(session);
        symbol_store_close(store);
        arena_free(&keep);
    }
}

/* CONTEXT: a uint32_t that counts the steps read. */
static void read_all(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct steps steps;
    arena_init(&keep, (size_t)64 << 20);
    if (steps_open(bytes_over(data, bytes, &fault), &keep, &steps) == ERR_NONE)
        while (steps_next(&steps)) {
            uint8_t word[8];
            ++*(uint32_t *)context;
            (void)steps_read(&steps, steps.step.regs.sp, word, sizeof word);
            for (uint32_t i = 0; i < steps.step.walk_count; i++)
                for (uint32_t k = 0; k < steps.step.walks[i].frame_count; k++)
                    (void)steps_walk_pc(&steps.step, &steps.step.walks[i], k);
        }
    arena_free(&keep);
}

/* A file of 40 steps: the header, the modules and the start of the first section of steps. */
TEST(damage_is_no_crash)
{
    enum { SHORT_STEPS = 40, SHORT_STACK_BYTES = 1 << 16 };
    size_t bytes;
    uint8_t *data = test_read(test_source(packed_file), &bytes);
    const size_t steps = section_at(data, bytes, RECORD_SECTION_STEPS);
    size_t end = steps + RECORD_STEPS_BYTES;
    for (int i = 0; i < SHORT_STEPS; i++)
        end += load_u32(data + end);
    for (int i = 0; i < 4; i++) {
        data[steps + RECORD_S_BYTES + (size_t)i] = (uint8_t)((end - steps) >> (8 * i));
        data[steps + RECORD_S_COUNT + (size_t)i] = (uint8_t)(i == 0 ? SHORT_STEPS : 0);
    }
    for (int i = 0; i < 8; i++)
        data[RECORD_H_COMMITTED + i] = (uint8_t)((uint64_t)end >> (8 * i));
    const uint64_t low_va = load_u64(data + steps + RECORD_P_STACK_HIGH) - SHORT_STACK_BYTES;
    for (int i = 0; i < 8; i++) /* a short stack: each pass would allocate 1 or 4 MB */
        data[steps + RECORD_P_STACK_LOW + (size_t)i] = (uint8_t)(low_va >> (8 * i));
    uint32_t steps_read = 0;
    read_all(data, end, &steps_read);
    CHECK_EQ(steps_read, SHORT_STEPS);
    test_limit(240);
    test_truncations(data, end, read_all, &steps_read);
    test_flips(data, end, read_all, &steps_read);
}
