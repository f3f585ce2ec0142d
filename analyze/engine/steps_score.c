/* See steps_score.h. */
#include "engine/steps_score.h"

#include <string.h>

#include "engine/steps_session.h"
#include "symbol/breakpad_export.h"
#include "unwind/tables.h"

enum { LINE_BYTES = 16 }; /* granularity of the image bytes that a packed file keeps */

const struct module *steps_module_at(const struct steps_session *s, uint64_t va)
{
    const struct record *record = &s->steps.record;
    for (uint32_t i = 0; i < record->module_count; i++)
        if (va - record->modules[i].base_va < record->modules[i].image_bytes)
            return &record->modules[i];
    return NULL;
}

static const struct module *module_at(void *self, uint64_t va)
{
    return steps_module_at(self, va);
}

static struct steps_image *image_of(struct steps_session *s, const struct module *module)
{
    struct steps_image *image = &s->images[module->index];
    if (!image->asked) {
        struct fault ignored = FAULT_INIT;
        const struct file_map *map =
            s->symbols != NULL ? symbol_store_image(s->symbols, module) : NULL;
        image->asked = true;
        image->open =
            map != NULL && pe_open(map->data, map->bytes, &image->pe, &ignored) == ERR_NONE;
        if (image->open)
            image->touched =
                arena_alloc(s->keep, (size_t)(module->image_bytes / LINE_BYTES / 8 + 1));
    }
    return image->open ? image : NULL;
}

void steps_note_stack(struct steps_session *s, uint64_t va, size_t bytes)
{
    const struct steps *steps = &s->steps;
    if (s->stack_read == NULL || va < steps->step.regs.sp || va < steps->stack_low_va ||
        va >= steps->stack_high_va)
        return;
    const uint64_t from = (va - steps->stack_low_va) / STEPS_WORD_BYTES;
    const uint64_t last = (va + bytes - 1 - steps->stack_low_va) / STEPS_WORD_BYTES;
    for (uint64_t word = from; word <= last; word++)
        s->stack_read[word / 8] |= (uint8_t)(1U << word % 8);
}

static bool read_memory(void *self, uint64_t va, void *out, size_t bytes)
{
    struct steps_session *s = self;
    if (steps_read(&s->steps, va, out, bytes)) {
        steps_note_stack(s, va, bytes);
        return true;
    }
    const struct module *module = module_at(s, va);
    struct steps_image *image = module != NULL ? image_of(s, module) : NULL;
    const uint64_t rva = module != NULL ? va - module->base_va : 0;
    if (image == NULL || rva > UINT32_MAX || bytes > UINT32_MAX)
        return false;
    const uint8_t *from = pe_at(&image->pe, (uint32_t)rva, (uint32_t)bytes);
    if (from == NULL)
        return false;
    for (uint64_t line = rva / LINE_BYTES;
         image->touched != NULL && line * LINE_BYTES < rva + bytes; line++)
        image->touched[line / 8] |= (uint8_t)(1U << line % 8);
    memcpy(out, from, bytes);
    return true;
}

static struct pdb *pdb_of(void *self, const struct module *module)
{
    const struct steps_session *s = self;
    return s->symbols != NULL && !s->without_pdb ? symbol_store_pdb(s->symbols, module) : NULL;
}

static const struct breakpad *breakpad_of(void *self, const struct module *module)
{
    const struct steps_session *s = self;
    return s->symbols != NULL && !s->without_pdb ? symbol_store_breakpad(s->symbols, module) : NULL;
}

enum status steps_session_open(const char *path, struct symbol_store *symbols, struct arena *keep,
                               struct steps_session **out, struct fault *fault)
{
    struct steps_session *s = ARENA_NEW(keep, struct steps_session);
    *out = NULL;
    if (s == NULL)
        return fault_no_memory(fault, "steps");
    if (file_map(path, &s->map, fault) != ERR_NONE)
        return fault->code;
    s->fault = fault;
    s->symbols = symbols;
    s->keep = keep;
    arena_init(&s->scratch, 0);
    s->process = (struct unwind_process){.self = s,
                                         .read = read_memory,
                                         .module_at = module_at,
                                         .pdb = pdb_of,
                                         .breakpad = breakpad_of,
                                         .tables = unwind_tables_new(keep)};
    (void)steps_open(bytes_over(s->map.data, s->map.bytes, fault), keep, &s->steps);
    s->images = ARENA_ARRAY(keep, (size_t)s->steps.record.module_count + 1, struct steps_image);
    if (s->images == NULL || s->process.tables == NULL)
        fault_no_memory(fault, "steps");
    if (fault->code != ERR_NONE) {
        fault_set_path(fault, path);
        steps_session_close(s);
        return fault->code;
    }
    *out = s;
    return ERR_NONE;
}

void steps_session_close(struct steps_session *session)
{
    if (session == NULL)
        return;
    arena_free(&session->scratch);
    file_unmap(&session->map);
}

/* ---- judging -------------------------------------------------------------------------- */

static uint64_t claim_pc(const struct step *step, const struct claim *claim, uint32_t index)
{
    return claim->unwind != NULL ? claim->unwind->frames[index].pc_va
                                 : steps_walk_pc(step, claim->walk, index);
}

/* The place of the return address: of a caller on x64 it follows from its stack pointer, and on x86
 * it does not where the callee removes its arguments. */
static bool slot_agrees(const struct step *step, const struct claim *claim, uint32_t index)
{
    const uint64_t sp_va = step->callers[step->caller_count - index].sp_va;
    const uint64_t slot_va = claim->unwind->frames[index - 1].return_slot_va;
    if (sp_va == 0)
        return true;
    return step->regs.cpu == CPU_X86 ? slot_va + sizeof(uint32_t) == sp_va
                                     : sp_va == claim->unwind->frames[index].sp_va;
}

/* One claim beside its step. */
struct beside {
    const struct step *step;
    const struct claim *claim;
};

static enum walk_match match(const void *self, uint32_t index)
{
    const struct beside *b = self;
    if (claim_pc(b->step, b->claim, index) != steps_truth_pc(b->step, index))
        return WALK_OTHER;
    if (b->claim->unwind == NULL || index == 0 || slot_agrees(b->step, b->claim, index))
        return WALK_SAME;
    return WALK_OTHER;
}

/* A walk may note what lies past the thread's start and is no code of a module: 32-bit Wine leaves
 * a word of no meaning there. */
static uint32_t frames_of(struct steps_session *s, const struct claim *claim)
{
    const struct step *step = &s->steps.step;
    uint32_t count = claim->count;
    while (step->regs.cpu == CPU_X86 && count > step->caller_count + 1 &&
           module_at(s, claim_pc(step, claim, count - 1)) == NULL)
        count--;
    return count;
}

enum walk_outcome steps_outcome(struct steps_session *s, const struct claim *claim)
{
    const struct step *step = &s->steps.step;
    const struct beside beside = {step, claim};
    const struct walk_pair pair = {.truth_count = step->caller_count + 1,
                                   .claim_count = frames_of(s, claim),
                                   .match = match,
                                   .self = &beside};
    return walk_compare(&pair, NULL);
}

static void keep_miss(struct steps_session *s, const struct claim *claim, struct steps_miss *out)
{
    const struct step *step = &s->steps.step;
    *out = (struct steps_miss){.step = step->index, .pc_va = step->regs.pc};
    out->module = module_at(s, step->regs.pc);
    for (out->code_bytes = STEPS_CODE_BYTES; out->code_bytes > 0; out->code_bytes--)
        if (read_memory(s, step->regs.pc, out->code, out->code_bytes))
            break;
    out->truth = ARENA_ARRAY(s->keep, (size_t)step->caller_count + 1, uint64_t);
    out->claim = ARENA_ARRAY(s->keep, (size_t)claim->count + 1, uint64_t);
    if (out->truth == NULL || out->claim == NULL) {
        fault_no_memory(s->fault, "steps");
        return;
    }
    for (uint32_t i = 0; i <= step->caller_count; i++)
        out->truth[out->truth_count++] = steps_truth_pc(step, i);
    for (uint32_t i = 0; i < claim->count; i++)
        out->claim[out->claim_count++] = claim_pc(step, claim, i);
}

static void count_answer(struct steps_session *s, const struct claim *claim,
                         struct steps_tally *tally)
{
    const enum walk_outcome outcome = steps_outcome(s, claim);
    tally->right += outcome == WALK_RIGHT;
    tally->early += outcome == WALK_EARLY;
    tally->wrong += outcome == WALK_WRONG;
    const bool worse = outcome == WALK_WRONG && !tally->first_is_wrong;
    if (outcome == WALK_RIGHT || (tally->missed && !worse))
        return;
    tally->missed = true;
    tally->first_is_wrong = outcome == WALK_WRONG;
    keep_miss(s, claim, &tally->first);
}

static struct steps_tally *tally_of(struct steps_verdict *verdict, const char *walker)
{
    for (uint32_t i = 0; i < verdict->tally_count; i++)
        if (strcmp(verdict->tallies[i].walker, walker) == 0)
            return &verdict->tallies[i];
    if (verdict->tally_count == STEPS_TALLIES_MAX)
        return NULL;
    struct steps_tally *tally = &verdict->tallies[verdict->tally_count++];
    tally->walker = walker;
    return tally;
}

static void judge_ours(struct steps_session *s, bool without_pdb, struct steps_tally *tally)
{
    struct unwind_stack stack;
    s->without_pdb = without_pdb;
    arena_reset(&s->scratch);
    if (unwind_walk(&s->process, &s->steps.step.regs, PC_INTERRUPTED, &s->scratch, &stack,
                    s->fault) != ERR_NONE)
        return;
    const struct claim claim = {.unwind = &stack, .count = stack.frame_count};
    count_answer(s, &claim, tally);
}

enum status steps_session_judge(struct steps_session *s, struct steps_verdict *out,
                                struct fault *fault)
{
    *out = (struct steps_verdict){.cpu = s->steps.step.regs.cpu};
    s->fault = fault;
    while (steps_next(&s->steps) && fault->code == ERR_NONE) {
        const struct step *step = &s->steps.step;
        judge_ours(s, false, tally_of(out, "ours"));
        if (step->regs.cpu == CPU_X86)
            judge_ours(s, true, tally_of(out, "ours-no-pdb"));
        for (uint32_t i = 0; i < step->walk_count; i++) {
            const struct claim claim = {.walk = &step->walks[i],
                                        .count = step->walks[i].frame_count};
            struct steps_tally *tally = tally_of(out, record_walker_name(step->walks[i].walker));
            if (tally != NULL)
                count_answer(s, &claim, tally);
        }
        out->steps++;
    }
    return fault->code;
}

/* ---- packing -------------------------------------------------------------------------- */

struct packing {
    uint8_t *at; /* the new file's end; NULL while bytes are counted */
    size_t bytes;
    uint32_t entries;
};

static void put(struct packing *p, const void *from, size_t bytes)
{
    if (p->at != NULL)
        memcpy(p->at + p->bytes, from, bytes);
    p->bytes += bytes;
}

static void put_number(struct packing *p, uint64_t value, size_t bytes)
{
    uint8_t raw[8];
    for (size_t i = 0; i < bytes; i++)
        raw[i] = (uint8_t)(value >> (8 * i));
    put(p, raw, bytes);
}

/* Runs of touched lines as MEMORY entries. */
static void put_image(struct packing *p, const struct module *module,
                      const struct steps_image *image)
{
    const uint64_t lines = module->image_bytes / LINE_BYTES;
    for (uint64_t line = 0; line < lines; line++) {
        if ((image->touched[line / 8] >> line % 8 & 1) == 0)
            continue;
        uint64_t end = line + 1;
        while (end < lines && (image->touched[end / 8] >> end % 8 & 1) != 0)
            end++;
        uint32_t bytes = (uint32_t)(end - line) * LINE_BYTES;
        const uint32_t rva = (uint32_t)(line * LINE_BYTES);
        const uint8_t *from = pe_at(&image->pe, rva, bytes);
        for (; from == NULL && bytes > 1; from = pe_at(&image->pe, rva, bytes))
            bytes--; /* the last line extends past the section's end */
        line = end - 1;
        if (from == NULL)
            continue;
        const uint32_t padded = (bytes + 7) & ~7U;
        put_number(p, RECORD_MEMORY_BYTES + padded, 4);
        put_number(p, bytes, 4);
        put_number(p, module->base_va + rva, 8);
        put(p, from, bytes);
        put_number(p, 0, padded - bytes);
        p->entries++;
    }
}

static void put_section(struct steps_session *s, struct packing *p)
{
    const struct record *record = &s->steps.record;
    for (uint32_t i = 0; i < record->module_count; i++)
        if (s->images[i].open && s->images[i].touched != NULL)
            put_image(p, &record->modules[i], &s->images[i]);
}

enum status steps_session_pack(struct steps_session *s, const char *path, struct fault *fault)
{
    struct packing p = {0};
    const size_t old = s->map.bytes - (size_t)s->steps.record.uncommitted_bytes;

    put_section(s, &p);
    const size_t section_bytes = RECORD_SECTION_HEADER_BYTES + p.bytes;
    const uint32_t entries = p.entries;
    p.at = arena_alloc(s->keep, old + section_bytes);
    if (p.at == NULL || section_bytes > UINT32_MAX)
        return fault_no_memory(fault, "packed steps");
    p.bytes = 0;
    put(&p, s->map.data, old);
    put_number(&p, RECORD_SECTION_MEMORY, 4);
    put_number(&p, section_bytes, 4);
    put_number(&p, entries, 4);
    put_number(&p, 0, 4);
    put_section(s, &p);
    const size_t whole = p.bytes;
    p.bytes = RECORD_H_COMMITTED;
    put_number(&p, whole, 8);
    return file_write(path, p.at, whole, fault);
}
