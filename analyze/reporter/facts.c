/* See facts.h. */
#include "reporter/facts.h"

#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/limits.h"
#include "compare/same_names.h"
#include "engine/dump.h"
#include "format/pe/pe.h"
#include "symbol/symbol_store.h"
#include "unwind/dead_process.h"

/* ---- the stack ---------------------------------------------------------------------------- */

static struct places places_of(const struct stack *stack, struct arena *keep)
{
    struct place *at = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, struct place);
    if (at == NULL)
        return (struct places){NULL, 0};
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        at[i] = (struct place){.module = frame->module_name,
                               .image = frame->module,
                               .offset = frame->offset,
                               .va = frame->pc_va,
                               .interrupted = frame->kind == PC_INTERRUPTED};
    }
    return (struct places){at, stack->frame_count};
}

static enum status walk(struct dump_session *session, uint32_t thread, struct arena *keep,
                        struct stack *out, struct fault *fault)
{
    struct unwind_stack walked;
    *out = (struct stack){.frame_count = 0};
    if (dump_walk(session, thread, keep, &walked, fault) != ERR_NONE)
        return fault->code;
    return dump_stack(session, thread, &walked, keep, out, fault);
}

static bool is_certain(const struct frame *frame)
{
    return frame->found_by == FOUND_CONTEXT || frame->found_by == FOUND_UNWIND ||
           frame->found_by == FOUND_LEAF || frame->found_by == FOUND_CFI;
}

/* Sets how far the walk is certain, and which file it lacks after that. */
static void weigh(struct crash_facts *f, const struct stack *stack, enum cpu cpu)
{
    const bool ended = stack->stop == STOP_END || stack->stop == STOP_RETURN_ZERO;
    while (f->certain < stack->frame_count && is_certain(&stack->frames[f->certain]))
        f->certain++;
    f->complete = f->certain == stack->frame_count && ended && stack->left_out == 0;
    if (f->complete || f->certain == 0)
        return;
    const struct frame *last = &stack->frames[f->certain - 1];
    if (last->module == NULL || last->module_state == MODULE_STATE_UNLOADED || f->symbols == NULL)
        return;
    const bool image = symbol_store_image(f->symbols, last->module) != NULL;
    if (image && (cpu != CPU_X86 || symbol_store_pdb(f->symbols, last->module) != NULL))
        return;
    f->lacking = last->module;
    f->lacks_pdb = image;
}

/* ---- answers ------------------------------------------------------------------------------ */

static bool open_image(const struct crash_facts *f, const struct module *module, struct pe *out)
{
    struct fault ignored = FAULT_INIT;
    const struct file_map *map = f->symbols != NULL ? symbol_store_image(f->symbols, module) : NULL;
    return map != NULL && pe_open(map->data, map->bytes, out, &ignored) == ERR_NONE;
}

static bool preferred_base(void *self, const struct module *module, uint64_t *out)
{
    struct pe pe;
    if (!open_image(self, module, &pe))
        return false;
    *out = pe.preferred_base_va;
    return true;
}

static bool section(void *self, const struct module *module, uint64_t rva, uint32_t *start_rva,
                    uint32_t *start_foff)
{
    struct pe pe;
    struct pe_section found;
    if (rva > UINT32_MAX || !open_image(self, module, &pe) ||
        !pe_section_of_rva(&pe, (uint32_t)rva, &found))
        return false;
    *start_rva = found.rva;
    *start_foff = found.foff;
    return true;
}

static bool is_code(void *self, uint64_t va)
{
    const struct crash_facts *f = self;
    const struct unwind_process *process = dump_process(f->session);
    const struct module *module = process->module_at(process->self, va);
    struct pe pe;
    struct pe_section found;
    if (module == NULL)
        return false;
    if (!open_image(f, module, &pe))
        return true;
    return pe_section_of_rva(&pe, (uint32_t)(va - module->base_va), &found) &&
           (found.flags & (PE_SECTION_CODE | PE_SECTION_EXECUTE)) != 0;
}

/* Only the live stack: what is below its top belongs to calls that ended, and to the handler. */
static uint64_t stack_slot(void *self, uint64_t va)
{
    const struct crash_facts *f = self;
    const struct minidump *dump = dump_minidump(f->session);
    const uint32_t step = cpu_pointer_bytes(dump->cpu);
    const uint64_t start = (f->sp_va + step - 1) / step * step;
    uint64_t bytes = 0;
    const uint8_t *at = minidump_memory_at(dump, start, &bytes);
    for (uint64_t i = 0; at != NULL && i + step <= bytes; i += step) {
        uint64_t value = 0;
        for (uint32_t b = 0; b < step; b++)
            value |= (uint64_t)at[i + b] << (8 * b);
        if (value == va)
            return start + i;
    }
    return 0;
}

static uint64_t lookup_offset(const struct place *frame)
{
    return frame->offset - (frame->interrupted || frame->offset == 0 ? 0 : 1);
}

static uint32_t inlines(void *self, const struct place *frame)
{
    const struct crash_facts *f = self;
    struct symbol_frame found[SYMBOL_FRAMES_MAX];
    if (f->symbols == NULL || frame->image == NULL)
        return 0;
    const uint32_t count =
        symbol_lookup(symbol_store_module(f->symbols, frame->image), lookup_offset(frame), found);
    return count > 0 ? count - 1 : 0;
}

static bool is_name(void *context, const char *name)
{
    const char *wanted = context;
    return compare_names(wanted, name) || compare_names(name, wanted);
}

/* Whether the symbols name OFFSET so; *SURE: they name it at all, by a record of the function. */
static bool names_offset(struct symbol_module *sources, uint64_t offset, const char *name,
                         bool *sure)
{
    struct symbol_frame found[SYMBOL_FRAMES_MAX];
    union {
        const char *in;
        void *out;
    } wanted = {name};
    const uint32_t count = symbol_lookup(sources, offset, found);
    *sure = false;
    for (uint32_t i = 0; i < count; i++) {
        if (found[i].function == NULL)
            continue;
        *sure |= found[i].from == SYMBOLS_PDB || found[i].from == SYMBOLS_DWARF ||
                 found[i].from == SYMBOLS_BREAKPAD || found[i].from == SYMBOLS_PPDB;
        if (is_name(wanted.out, found[i].function))
            return true;
    }
    return symbol_each_name(sources, offset, is_name, wanted.out);
}

static enum named_as named(void *self, const struct place *frame, const char *name)
{
    const struct crash_facts *f = self;
    bool sure, ignored;
    if (f->symbols == NULL || frame->image == NULL)
        return NAMED_UNKNOWN;
    struct symbol_module *sources = symbol_store_module(f->symbols, frame->image);
    if (names_offset(sources, lookup_offset(frame), name, &sure))
        return NAMED_HERE;
    const uint64_t other =
        frame->interrupted && frame->offset > 0 ? frame->offset - 1 : frame->offset;
    if (names_offset(sources, other, name, &ignored))
        return NAMED_WITHOUT_STEP;
    return sure ? NAMED_OTHERWISE : NAMED_UNKNOWN;
}

/* ---- the chain of frame pointers ---------------------------------------------------------- */

static uint32_t frame_pointer_of(enum cpu cpu)
{
    if (cpu == CPU_ARM64)
        return REG_ARM64_FP;
    return cpu == CPU_X64 ? REG_X64_RBP : REG_X86_EBP;
}

static bool read_pointer(const struct crash_facts *f, uint64_t va, uint64_t *out)
{
    const struct minidump *dump = dump_minidump(f->session);
    uint32_t narrow;
    if (cpu_pointer_bytes(dump->cpu) == 8)
        return minidump_memory_read(dump, va, out, sizeof *out);
    if (!minidump_memory_read(dump, va, &narrow, sizeof narrow))
        return false;
    *out = narrow;
    return true;
}

static struct places chain(void *self)
{
    struct crash_facts *f = self;
    const struct unwind_process *process = dump_process(f->session);
    const enum cpu cpu = dump_minidump(f->session)->cpu;
    const uint32_t step = cpu_pointer_bytes(cpu);
    struct registers registers;
    enum pc_kind kind;
    struct fault ignored = FAULT_INIT;
    struct place *at = ARENA_ARRAY(f->keep, LIMIT_FRAMES, struct place);
    if (at == NULL || cpu == CPU_ARM ||
        dump_registers(f->session, f->thread_id, &registers, &kind, &ignored) != ERR_NONE)
        return (struct places){NULL, 0};
    uint64_t pc = registers.pc, frame = registers.r[frame_pointer_of(cpu)], next = 0;
    uint32_t count = 0;
    while (count < LIMIT_FRAMES) {
        const struct module *module = process->module_at(process->self, pc);
        if (module == NULL && count > 0)
            break;
        at[count] = (struct place){.module = module != NULL ? module->name : NULL,
                                   .image = module,
                                   .offset = module != NULL ? pc - module->base_va : pc,
                                   .va = pc,
                                   .interrupted = count == 0 && kind == PC_INTERRUPTED};
        count++;
        if (!read_pointer(f, frame + step, &pc) || !read_pointer(f, frame, &next) || pc == 0)
            break;
        if (next <= frame) /* the last one */
            next = UINT64_MAX - 16;
        frame = next;
    }
    return (struct places){at, count};
}

static bool thread(void *self, uint32_t index, uint32_t *id, struct places *out)
{
    struct crash_facts *f = self;
    const struct minidump *dump = dump_minidump(f->session);
    struct fault ignored = FAULT_INIT;
    struct stack stack;
    if (index >= dump->thread_count)
        return false;
    *id = dump->threads[index].id;
    *out = (struct places){NULL, 0};
    if (*id != f->thread_id && walk(f->session, *id, f->keep, &stack, &ignored) == ERR_NONE)
        *out = places_of(&stack, f->keep);
    return true;
}

/* Loaded modules first, so that an unloaded one explains only what they do not. */
static bool list_modules(struct crash_facts *f)
{
    const struct minidump *dump = dump_minidump(f->session);
    uint32_t count;
    const struct module *loaded = dump_modules(f->session, &count);
    const struct module **all =
        ARENA_ARRAY(f->keep, (size_t)count + dump->unloaded_count + 1, const struct module *);
    if (all == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        all[f->world.module_count++] = &loaded[i];
    for (uint32_t i = 0; i < dump->unloaded_count; i++)
        all[f->world.module_count++] = &dump->unloaded[i].module;
    f->world.modules = all;
    return true;
}

static enum status fill(struct crash_facts *f, uint32_t thread_id, struct fault *fault)
{
    struct registers registers;
    enum pc_kind kind;
    const char *why;
    f->thread_id = thread_id != 0 ? thread_id : dump_suspect(f->session, &why);
    f->world = (struct crash_world){.self = f,
                                    .preferred_base = preferred_base,
                                    .section = section,
                                    .is_code = is_code,
                                    .stack_slot = stack_slot,
                                    .inlines = inlines,
                                    .named = named,
                                    .chain = chain,
                                    .thread = thread};
    if (dump_registers(f->session, f->thread_id, &registers, &kind, fault) != ERR_NONE ||
        walk(f->session, f->thread_id, f->keep, &f->stack, fault) != ERR_NONE)
        return fault->code;
    f->sp_va = registers.sp;
    f->truth = places_of(&f->stack, f->keep);
    if (f->truth.at == NULL || !list_modules(f))
        return fault_no_memory(fault, "facts of a dump");
    weigh(f, &f->stack, dump_minidump(f->session)->cpu);
    return ERR_NONE;
}

enum status facts_open(const char *path, struct symbol_store *symbols, uint32_t thread_id,
                       struct arena *keep, struct crash_facts *out, struct fault *fault)
{
    *out = (struct crash_facts){.keep = keep, .symbols = symbols};
    if (dump_open(path, symbols, keep, &out->session, fault) != ERR_NONE)
        return fault->code;
    if (fill(out, thread_id, fault) != ERR_NONE) {
        fault_set_path(fault, path);
        facts_close(out);
    }
    return fault->code;
}

void facts_close(struct crash_facts *facts)
{
    dump_close(facts->session);
    facts->session = NULL;
}
