/* See steps.h. */
#include "engine/steps.h"

#include <string.h>

#include "base/walk.h"
#include "format/pe/pe.h"
#include "symbol/breakpad.h"
#include "unwind/tables.h"

enum {
    LINE_BYTES = 16, /* granularity of the image bytes that a packed file keeps */
    WORD_BYTES = 8   /* of the stack bytes of a draft */
};

struct steps_image {
    bool asked, open;
    struct pe pe;
    uint8_t *touched; /* one bit for each line that was read; NULL: none yet */
};

struct steps_session {
    struct file_map map;
    struct fault *fault; /* of the current call */
    struct steps steps;
    struct symbol_store *symbols;
    struct steps_image *images; /* one for each module */
    struct arena *keep;
    struct arena scratch; /* for one walk */
    bool without_pdb;     /* in the current walk */
    uint8_t *stack_read;  /* one bit for each word of the stack that was read; NULL: not noted */
    struct unwind_process process;
};

static const struct module *module_at(void *self, uint64_t va)
{
    const struct steps_session *s = self;
    const struct record *record = &s->steps.record;
    for (uint32_t i = 0; i < record->module_count; i++)
        if (va - record->modules[i].base_va < record->modules[i].image_bytes)
            return &record->modules[i];
    return NULL;
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

static void note_stack(struct steps_session *s, uint64_t va, size_t bytes)
{
    const struct steps *steps = &s->steps;
    if (s->stack_read == NULL || va < steps->step.regs.sp || va >= steps->stack_high_va)
        return;
    const uint64_t from = (va - steps->stack_low_va) / WORD_BYTES;
    const uint64_t last = (va + bytes - 1 - steps->stack_low_va) / WORD_BYTES;
    for (uint64_t word = from; word <= last; word++)
        s->stack_read[word / 8] |= (uint8_t)(1U << word % 8);
}

static bool read_memory(void *self, uint64_t va, void *out, size_t bytes)
{
    struct steps_session *s = self;
    if (steps_read(&s->steps, va, out, bytes)) {
        note_stack(s, va, bytes);
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

/* One claimed stack for one step. */
struct claim {
    const struct step_walk *walk;      /* of a walker, or */
    const struct unwind_stack *unwind; /* ours             */
    uint32_t count;
};

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

static enum walk_outcome judge(struct steps_session *s, const struct claim *claim)
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
    const enum walk_outcome outcome = judge(s, claim);
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

/* ---- a draft of the reference suite ------------------------------------------------------ */

static void write_registers(struct json *j, const struct registers *regs)
{
    json_key(j, "registers");
    json_object(j);
    for (uint32_t i = 0; i < register_count(regs->cpu); i++)
        json_key_hex(j, register_name(regs->cpu, i),
                     register_is_sp(regs->cpu, i) ? regs->sp : regs->r[i]);
    json_key_hex(j, regs->cpu == CPU_X64 ? "rip" : "eip", regs->pc);
    json_object_end(j);
}

/* Runs of words that were read. */
static void write_stack(struct json *j, const struct steps_session *s)
{
    const struct steps *steps = &s->steps;
    const uint64_t words = (steps->stack_high_va - steps->stack_low_va) / WORD_BYTES;
    static const char digits[] = "0123456789abcdef";
    json_key(j, "stack");
    json_array(j);
    for (uint64_t word = 0, end; word < words; word = end + 1) {
        for (end = word; end < words && (s->stack_read[end / 8] >> end % 8 & 1) != 0;)
            end++;
        const size_t bytes = (size_t)(end - word) * WORD_BYTES;
        char *text = bytes > 0 ? arena_alloc(s->keep, bytes * 2 + 1) : NULL;
        for (size_t i = 0; text != NULL && i < bytes; i++) {
            const uint8_t byte = steps->stack[word * WORD_BYTES + i];
            text[2 * i] = digits[byte >> 4];
            text[2 * i + 1] = digits[byte & 15];
        }
        if (bytes == 0)
            continue;
        json_object(j);
        json_key_hex(j, "at", steps->stack_low_va + word * WORD_BYTES);
        json_key_string(j, "bytes", text);
        json_object_end(j);
    }
    json_array_end(j);
}

/* As far as the frames are in MODULE, and their stack pointers are known. */
static void write_truth(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    const uint32_t pointer_bytes = cpu_pointer_bytes(step->regs.cpu);
    json_array(j);
    for (uint32_t i = 0; i <= step->caller_count; i++) {
        const uint64_t sp_va = i == 0 ? step->regs.sp : step->callers[step->caller_count - i].sp_va;
        const uint64_t pc_va = steps_truth_pc(step, i);
        if (sp_va == 0 || module_at(s, pc_va) != module)
            break;
        if (i > 0)
            note_stack(s, sp_va - pointer_bytes, pointer_bytes);
        json_object(j);
        json_key_hex(j, "ip", pc_va);
        json_key_hex(j, "sp", sp_va);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The truth with its witnesses: one alone does not make it certain. */
static void write_known(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    bool agreed[STEPS_WALKS_MAX] = {false}, must = false;
    for (uint32_t i = 0; i < step->walk_count; i++) {
        const struct claim claim = {.walk = &step->walks[i], .count = step->walks[i].frame_count};
        agreed[i] = judge(s, &claim) == WALK_RIGHT;
        must = must || agreed[i];
    }
    json_key(j, "truth");
    json_object(j);
    json_key_string(j, "level", must ? "must" : "may");
    json_key(j, must ? "frames" : "accepted");
    if (!must)
        json_array(j);
    write_truth(j, s, module);
    if (!must)
        json_array_end(j);
    else
        json_key_bool(j, "whole", false);
    json_object_end(j);
    json_key(j, "known_by");
    json_array(j);
    json_string(j, "executed: calls and returns were counted");
    for (uint32_t i = 0; i < step->walk_count; i++)
        if (agreed[i])
            json_string(j, record_walker_name(step->walks[i].walker));
    json_array_end(j);
}

static void write_draft(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    const char *cpu = cpu_name(step->regs.cpu);
    const char *capability = arena_printf(s->keep, "moments.%s", cpu);
    json_object(j);
    json_key_string(j, "kind", "moment");
    json_key_string(j, "processor", cpu);
    json_key_string(j, "capability", capability);
    write_known(j, s, module);
    json_key(j, "given");
    json_object(j);
    write_registers(j, &step->regs);
    write_stack(j, s);
    json_key(j, "modules");
    json_array(j);
    json_object(j);
    json_key_string(j, "path", module->name);
    json_key_hex(j, "base", module->base_va);
    json_key_hex(j, "size", module->image_bytes);
    json_object_end(j);
    json_array_end(j);
    json_object_end(j);
    json_object_end(j);
    json_newline(j);
}

enum status steps_session_draft(struct steps_session *s, uint32_t index, struct json *j,
                                struct fault *fault)
{
    const struct steps *steps = &s->steps;
    struct unwind_stack stack;
    bool found = false;
    s->fault = fault;
    while (!found && steps_next(&s->steps))
        found = steps->step.index == index;
    const struct module *module = found ? module_at(s, steps->step.regs.pc) : NULL;
    if (fault->code == ERR_NONE && !found)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "moment", "no such instruction");
    if (fault->code == ERR_NONE && module == NULL)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "moment",
                              "its instruction is in no module");
    s->stack_read = arena_alloc(
        s->keep, (size_t)((steps->stack_high_va - steps->stack_low_va) / WORD_BYTES / 8 + 2));
    if (s->stack_read == NULL)
        return fault_no_memory(fault, "draft");
    if (fault->code == ERR_NONE && unwind_walk(&s->process, &steps->step.regs, PC_INTERRUPTED,
                                               &s->scratch, &stack, fault) == ERR_NONE)
        write_draft(j, s, module);
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
