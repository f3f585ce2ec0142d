/* See dump_scrub.h. The result starts as zeros, and what is needed is copied into it. */
#include "engine/dump_scrub.h"

#include <string.h>

#include "base/array.h"
#include "engine/dump.h"
#include "symbol/symbol_store.h"

enum {
    HEADER_BYTES = 32,
    DIRECTORY_ENTRY_BYTES = 12,
    CODEVIEW_NAME_RSDS = 24, /* where the name begins: after magic, GUID and age */
    CODEVIEW_NAME_NB10 = 16, /* after magic, offset, signature and age */
    CODEVIEW_MAGIC_BYTES = 4,
    FILES_PER_MODULE = 2
};

/* A range of memory in a list: lists may overlap, and each copy is kept. */
struct range {
    uint64_t start_va, foff, bytes;
};

struct scrubbing {
    const struct scrub_request *request;
    struct dump_session *dump;
    const struct minidump *mini;
    struct symbol_store *symbols; /* NULL: none */
    uint8_t *to;
    struct range *ranges;
    uint32_t range_count;
    const struct module *modules;
    uint32_t module_count;
    bool *named;                       /* by module: a true frame is in it */
    uint64_t beyond_va, beyond_end_va; /* the part of the stack that is not of a true frame */
    struct scrubbed *out;
    struct arena *keep;
    struct fault *fault;
};

static void keep_place(struct scrubbing *s, uint64_t foff, uint64_t bytes)
{
    const uint64_t all = s->mini->data_bytes;
    if (foff >= all)
        return;
    memcpy(s->to + foff, s->mini->data + foff, (size_t)(bytes < all - foff ? bytes : all - foff));
}

static void keep_memory(struct scrubbing *s, uint64_t va, uint64_t bytes)
{
    const uint64_t end_va = va + bytes;
    for (uint32_t i = 0; i < s->range_count; i++) {
        const struct range *range = &s->ranges[i];
        const uint64_t from = va > range->start_va ? va : range->start_va;
        const uint64_t range_end = range->start_va + range->bytes;
        const uint64_t end = end_va < range_end ? end_va : range_end;
        if (from < end)
            keep_place(s, range->foff + (from - range->start_va), end - from);
    }
}

/* ---- lists of memory -------------------------------------------------------------------- */

static enum status add_range(struct scrubbing *s, uint32_t *room, struct range range)
{
    if (range.bytes > UINT64_MAX - range.start_va)
        return ERR_NONE;
    struct range *wider =
        arena_reserve(s->keep, s->ranges, room, (uint64_t)s->range_count + 1, sizeof range);
    if (wider == NULL)
        return fault_no_memory(s->fault, "dump");
    s->ranges = wider;
    s->ranges[s->range_count++] = range;
    return ERR_NONE;
}

static void read_list(struct scrubbing *s, struct bytes r, uint32_t *room)
{
    const uint32_t listed = bytes_u32(&r);
    if (r.left == 4 + (uint64_t)listed * 16)
        bytes_skip(&r, 4);
    const uint32_t count = bytes_count(&r, listed, 16);
    for (uint32_t i = 0; i < count && s->fault->code == ERR_NONE; i++) {
        const uint64_t start_va = bytes_u64(&r);
        const uint32_t bytes = bytes_u32(&r);
        (void)add_range(s, room, (struct range){start_va, bytes_u32(&r), bytes});
    }
}

static void read_list64(struct scrubbing *s, struct bytes r, uint32_t *room)
{
    const uint64_t listed = bytes_u64(&r);
    uint64_t foff = bytes_u64(&r);
    const uint32_t count = listed <= UINT32_MAX ? bytes_count(&r, (uint32_t)listed, 16) : 0;
    for (uint32_t i = 0; i < count && s->fault->code == ERR_NONE; i++) {
        const uint64_t start_va = bytes_u64(&r), bytes = bytes_u64(&r);
        if (bytes > s->mini->data_bytes || foff > s->mini->data_bytes)
            break;
        (void)add_range(s, room, (struct range){start_va, foff, bytes});
        foff += bytes;
    }
}

/* Those of all lists, in any order. What is damaged there ends its list, as for other readers. */
static enum status gather_ranges(struct scrubbing *s)
{
    const struct minidump *mini = s->mini;
    uint32_t room = 0;
    for (uint32_t i = 0; i < mini->stream_count; i++) {
        const struct minidump_stream *stream = &mini->streams[i];
        struct fault damage = FAULT_INIT;
        const struct bytes whole = bytes_over(mini->data, (size_t)mini->data_bytes, &damage);
        const struct bytes r = bytes_window(&whole, stream->place.foff, stream->place.bytes);
        if (stream->type == STREAM_MEMORY_LIST)
            read_list(s, r, &room);
        else if (stream->type == STREAM_MEMORY64_LIST)
            read_list64(s, r, &room);
    }
    for (uint32_t i = 0; i < mini->thread_count && s->fault->code == ERR_NONE; i++) {
        const struct minidump_thread *thread = &mini->threads[i];
        if (thread->stack.bytes > 0)
            (void)add_range(
                s, &room,
                (struct range){thread->stack_start_va, thread->stack.foff, thread->stack.bytes});
    }
    return s->fault->code;
}

/* ---- the walk --------------------------------------------------------------------------- */

static const struct module *module_of(struct scrubbing *s, uint64_t va)
{
    const struct unwind_process *p = dump_process(s->dump);
    return p->module_at(p->self, va);
}

static bool read_and_keep(void *self, uint64_t va, void *out, size_t bytes)
{
    struct scrubbing *s = self;
    const struct unwind_process *p = dump_process(s->dump);
    if (!p->read(p->self, va, out, bytes))
        return false;
    if ((va < s->beyond_va || va >= s->beyond_end_va) && module_of(s, va) == NULL)
        keep_memory(s, va, bytes);
    return true;
}

static const struct module *module_at(void *self, uint64_t va)
{
    return module_of(self, va);
}

static struct pdb *pdb_of(void *self, const struct module *module)
{
    const struct unwind_process *p = dump_process(((struct scrubbing *)self)->dump);
    return p->pdb != NULL ? p->pdb(p->self, module) : NULL;
}

static bool generated_at(void *self, uint64_t va, struct unwind_entry *out)
{
    const struct unwind_process *p = dump_process(((struct scrubbing *)self)->dump);
    return p->generated(p->self, va, out);
}

/* Our walk has the frames, and ends there if they are all. */
static bool is_walk(const struct unwind_stack *stack, const struct scrub_walk *walk, bool whole)
{
    if (stack->frame_count < walk->count || (whole && stack->frame_count != walk->count))
        return false;
    for (uint32_t i = 0; i < walk->count; i++)
        if (stack->frames[i].pc_va != walk->frames[i].pc_va ||
            stack->frames[i].sp_va != walk->frames[i].sp_va)
            return false;
    return true;
}

/* Walks the thread in DUMP; *SAME: as one of its true walks, or there is none. */
static enum status walk(struct dump_session *dump, const struct unwind_process *process,
                        const struct scrub_thread *thread, struct arena *keep, bool *same,
                        struct fault *fault)
{
    struct unwind_stack stack;
    struct registers regs;
    enum pc_kind kind;
    *same = thread->walk_count == 0;
    if (dump_registers(dump, thread->id, &regs, &kind, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < thread->walk_count; i++)
        if (thread->walks[i].frames[0].pc_va != regs.pc ||
            thread->walks[i].frames[0].sp_va != regs.sp)
            return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "truth",
                                  "its first frame is not where the thread is");
    if (unwind_walk(process, &regs, kind, keep, &stack, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < thread->walk_count && !*same; i++)
        *same = is_walk(&stack, &thread->walks[i], thread->whole);
    return ERR_NONE;
}

/* The stack that holds VA, up to its end. */
static uint64_t stack_end(const struct scrubbing *s, uint64_t va)
{
    uint64_t end_va = va;
    for (uint32_t i = 0; i < s->range_count; i++) {
        const struct range *range = &s->ranges[i];
        if (va >= range->start_va && va - range->start_va < range->bytes &&
            range->start_va + range->bytes > end_va)
            end_va = range->start_va + range->bytes;
    }
    return end_va;
}

/* What each true walk needs whatever ours reads: its return addresses. Returns the end of the last
 * frame. */
static uint64_t keep_returns(struct scrubbing *s, const struct scrub_thread *thread)
{
    const bool is_pushed = s->mini->cpu == CPU_X86 || s->mini->cpu == CPU_X64;
    const uint32_t word = cpu_pointer_bytes(s->mini->cpu);
    uint64_t end_va = 0;
    for (uint32_t i = 0; i < thread->walk_count; i++)
        for (uint32_t k = 0; k < thread->walks[i].count; k++) {
            const uint64_t sp_va = thread->walks[i].frames[k].sp_va;
            if (k > 0 && is_pushed)
                keep_memory(s, sp_va - word, word);
            end_va = sp_va > end_va ? sp_va : end_va;
        }
    return end_va;
}

static enum status keep_thread(struct scrubbing *s, const struct scrub_thread *thread)
{
    const struct unwind_process *inner = dump_process(s->dump);
    struct unwind_process process = *inner;
    const uint64_t end_va = keep_returns(s, thread);
    bool same = false;
    process.self = s;
    process.read = read_and_keep;
    process.module_at = module_at;
    process.pdb = pdb_of;
    process.breakpad = NULL; /* the suite has images and PDBs */
    process.object = NULL;
    process.generated = inner->generated != NULL ? generated_at : NULL;
    s->beyond_va = end_va;
    s->beyond_end_va = thread->walk_count > 0 && !thread->whole ? stack_end(s, end_va) : 0;
    if (walk(s->dump, &process, thread, s->keep, &same, s->fault) != ERR_NONE || same)
        return s->fault->code;
    const uint64_t from_va = thread->walks[0].frames[0].sp_va;
    keep_memory(s, from_va, (thread->whole ? stack_end(s, from_va) : end_va) - from_va);
    s->out->kept_stacks++;
    return ERR_NONE;
}

/* ---- modules ---------------------------------------------------------------------------- */

static const char *first_file(const struct scrubbing *s, const char *place, const char *name)
{
    const char *path = path_join(s->keep, s->request->symbols, place);
    if (path == NULL || path_is_file(path))
        return path;
    path = path_join(s->keep, s->request->symbols, name);
    return path == NULL || path_is_file(path) ? path : NULL;
}

static void add_file(struct scrubbing *s, struct scrub_file *files, const char *name,
                     const char *id)
{
    const char *place = arena_printf(s->keep, "%s/%s/%s", name, id, name);
    const char *from = place != NULL ? first_file(s, place, name) : NULL;
    if (from != NULL)
        files[s->out->file_count++] = (struct scrub_file){from, place};
}

/* The image of a module that has a true frame, and its PDB where that describes frames. */
static enum status take_module(struct scrubbing *s, const struct module *module,
                               struct scrub_file *files)
{
    const uint32_t before = s->out->file_count;
    uint64_t bytes;
    if (s->symbols == NULL && minidump_memory_at(s->mini, module->base_va, &bytes) != NULL)
        return ERR_NONE;
    if (s->symbols != NULL && symbol_store_image(s->symbols, module) != NULL)
        add_file(s, files, module->name, module->code_id);
    if (s->out->file_count == before) {
        (void)fault_set_hint(s->fault, ERR_ABSENT, FAULT_NO_OFFSET, "image of a frame",
                             "it is needed in the folder of symbols, or in the dump's memory");
        fault_set_path(s->fault, module->name);
        return s->fault->code;
    }
    if (s->mini->cpu == CPU_X86 && module->pdb_name != NULL && module->debug_id[0] != 0 &&
        symbol_store_pdb(s->symbols, module) != NULL)
        add_file(s, files, module->pdb_name, module->debug_id);
    return ERR_NONE;
}

static enum status note_frames(struct scrubbing *s, const struct scrub_walk *walk)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct module *module = module_of(s, walk->frames[i].pc_va);
        if (module == NULL)
            return fault_set_hint(s->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "truth",
                                  "a frame is in no module of the dump");
        s->named[module->index] = true;
    }
    return ERR_NONE;
}

static enum status take_modules(struct scrubbing *s)
{
    s->modules = dump_modules(s->dump, &s->module_count);
    s->named = ARENA_ARRAY(s->keep, (size_t)s->module_count + 1, bool);
    struct scrub_file *files =
        ARENA_ARRAY(s->keep, (size_t)s->module_count * FILES_PER_MODULE + 1, struct scrub_file);
    if (s->named == NULL || files == NULL)
        return fault_no_memory(s->fault, "dump");
    for (uint32_t i = 0; i < s->request->thread_count; i++)
        for (uint32_t k = 0; k < s->request->threads[i].walk_count; k++)
            if (note_frames(s, &s->request->threads[i].walks[k]) != ERR_NONE)
                return s->fault->code;
    for (uint32_t i = 0; i < s->module_count; i++) {
        if (!s->named[i])
            continue;
        if (take_module(s, &s->modules[i], files) != ERR_NONE)
            return s->fault->code;
        keep_memory(s, s->modules[i].base_va, s->modules[i].image_bytes);
    }
    s->out->files = files;
    return ERR_NONE;
}

/* ---- texts ------------------------------------------------------------------------------ */

static bool is_between(uint32_t c)
{
    return c == '\\' || c == '/' || c == ':' || c == '.' || c == 0;
}

/* Copies a text of COUNT units of UNIT_BYTES; its folders, or all of it, become "x". */
static void keep_text(struct scrubbing *s, uint64_t foff, uint64_t count, uint32_t unit_bytes,
                      bool named)
{
    uint64_t name = 0, length = count;
    for (uint64_t i = 0; i < length; i++) {
        const uint8_t *unit = s->mini->data + foff + i * unit_bytes;
        const uint32_t c = unit_bytes == 2 ? load_u16(unit) : *unit;
        if (c == 0)
            length = i; /* what follows the end is no part of it */
        else if (c == '\\' || c == '/')
            name = i + 1;
    }
    keep_place(s, foff, length * unit_bytes);
    for (uint64_t i = 0; i < (named ? name : length); i++) {
        uint8_t *unit = s->to + foff + i * unit_bytes;
        if (is_between(unit_bytes == 2 ? load_u16(unit) : *unit))
            continue;
        unit[0] = 'x';
        unit[unit_bytes - 1] = unit_bytes == 2 ? 0 : 'x';
    }
}

static void keep_string(struct scrubbing *s, uint64_t foff, bool named)
{
    const uint64_t all = s->mini->data_bytes;
    if (foff == 0 || foff > all || all - foff < 4)
        return;
    const uint32_t bytes = load_u32(s->mini->data + foff);
    if (bytes > all - foff - 4)
        return;
    keep_place(s, foff, 4);
    keep_text(s, foff + 4, bytes / 2, 2, named);
}

/* A module without a frame keeps no identity. */
static void keep_codeview(struct scrubbing *s, const struct minidump_module *module, bool named)
{
    const struct minidump_place place = module->codeview_place;
    uint64_t name = 0;
    if (module->codeview != NULL)
        name = strcmp(module->codeview, "RSDS") == 0 ? CODEVIEW_NAME_RSDS : CODEVIEW_NAME_NB10;
    if (name == 0 || name > place.bytes)
        return;
    keep_place(s, place.foff, named ? name : CODEVIEW_MAGIC_BYTES);
    keep_text(s, place.foff + name, place.bytes - name, 1, named);
}

static void keep_names(struct scrubbing *s)
{
    const struct minidump *mini = s->mini;
    for (uint32_t i = 0; i < mini->module_count; i++) {
        const struct module *module = module_of(s, mini->modules[i].module.base_va);
        const bool named = module != NULL && s->named[module->index];
        keep_string(s, mini->modules[i].name_foff, named);
        keep_codeview(s, &mini->modules[i], named);
    }
    for (uint32_t i = 0; i < mini->unloaded_count; i++)
        keep_string(s, mini->unloaded[i].name_foff, false);
}

/* ---- streams ---------------------------------------------------------------------------- */

/* Those that say what a walker gets. */
static bool is_needed(uint32_t type)
{
    static const uint32_t types[] = {
        STREAM_THREAD_LIST,   STREAM_THREAD_EX_LIST,   STREAM_MODULE_LIST,
        STREAM_MEMORY_LIST,   STREAM_MEMORY64_LIST,    STREAM_UNLOADED_MODULE_LIST,
        STREAM_EXCEPTION,     STREAM_SYSTEM_INFO,      STREAM_FUNCTION_TABLE,
        STREAM_BREAKPAD_INFO, STREAM_MEMORY_INFO_LIST,
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i] == type)
            return true;
    return false;
}

static void keep_streams(struct scrubbing *s)
{
    enum { DIRECTORY_FOFF = 12, SERVICE_PACK_FOFF = 24 };
    const struct minidump *mini = s->mini;
    const uint64_t directory = load_u32(mini->data + DIRECTORY_FOFF);
    keep_place(s, 0, HEADER_BYTES);
    keep_place(s, directory, (uint64_t)mini->stream_count * DIRECTORY_ENTRY_BYTES);
    for (uint32_t i = 0; i < mini->stream_count; i++) {
        const struct minidump_stream *stream = &mini->streams[i];
        if (is_needed(stream->type))
            keep_place(s, stream->place.foff, stream->place.bytes);
        else
            memset(s->to + directory + (uint64_t)i * DIRECTORY_ENTRY_BYTES, 0, 4);
        if (stream->type == STREAM_SYSTEM_INFO && stream->place.bytes >= SERVICE_PACK_FOFF + 4)
            keep_string(s, load_u32(mini->data + stream->place.foff + SERVICE_PACK_FOFF), true);
    }
}

/* A context up to its floating point; of a thread whose walk is not needed only the flags. */
static void keep_context(struct scrubbing *s, struct minidump_place place, bool needed)
{
    static const struct {
        enum cpu cpu;
        struct {
            uint32_t from, end;
        } integers[2], flags;
    } rows[] = {
        {CPU_X86, {{0x00, 0x1c}, {0x8c, 0xcc}}, {0x00, 0x04}},
        {CPU_X64, {{0x30, 0x100}, {0, 0}}, {0x30, 0x34}},
        {CPU_ARM64, {{0x00, 0x110}, {0, 0}}, {0x00, 0x04}},
        {CPU_ARM, {{0x00, 0x48}, {0, 0}}, {0x00, 0x04}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].cpu != s->mini->dump_cpu || place.bytes < 4)
            continue;
        for (size_t k = 0; k < COUNT_OF(rows[i].integers); k++) {
            const uint32_t from = needed ? rows[i].integers[k].from : rows[i].flags.from;
            const uint32_t end = needed ? rows[i].integers[k].end : rows[i].flags.end;
            if (from < place.bytes)
                keep_place(s, place.foff + from, (end < place.bytes ? end : place.bytes) - from);
        }
    }
}

static bool is_asked(const struct scrub_request *request, uint32_t id)
{
    for (uint32_t i = 0; i < request->thread_count; i++)
        if (request->threads[i].id == id)
            return true;
    return false;
}

static void keep_contexts(struct scrubbing *s)
{
    const struct minidump *mini = s->mini;
    for (uint32_t i = 0; i < mini->thread_count; i++)
        keep_context(s, mini->threads[i].context, is_asked(s->request, mini->threads[i].id));
    if (mini->exception.present)
        keep_context(s, mini->exception.context, is_asked(s->request, mini->exception.thread_id));
}

/* ---- the whole -------------------------------------------------------------------------- */

/* The result must give each walk that the dump gave. */
static enum status check(struct scrubbing *s, const bool *same)
{
    const struct file_map map = {.data = s->to, .bytes = (size_t)s->mini->data_bytes};
    struct dump_session *again = NULL;
    if (dump_open_map(&map, s->request->dump, s->symbols, s->keep, &again, s->fault) != ERR_NONE)
        return s->fault->code;
    for (uint32_t i = 0; i < s->request->thread_count && s->fault->code == ERR_NONE; i++) {
        bool now = false;
        if (walk(again, dump_process(again), &s->request->threads[i], s->keep, &now, s->fault) ==
                ERR_NONE &&
            same[i] && !now)
            (void)fault_set_hint(s->fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "dump",
                                 "its walk depends on more than can be kept");
    }
    dump_close(again);
    return s->fault->code;
}

static enum status scrub(struct scrubbing *s)
{
    const struct scrub_request *request = s->request;
    bool *same = ARENA_ARRAY(s->keep, (size_t)request->thread_count + 1, bool);
    s->to = arena_alloc(s->keep, (size_t)s->mini->data_bytes + 1);
    if (s->to == NULL || same == NULL)
        return fault_no_memory(s->fault, "dump");
    if (s->mini->cpu != s->mini->dump_cpu)
        return fault_set_hint(s->fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "dump",
                              "its threads are of 32 bits and their contexts of 64");
    dump_ignore_code_map(s->dump);
    if (gather_ranges(s) != ERR_NONE || take_modules(s) != ERR_NONE)
        return s->fault->code;
    keep_streams(s);
    keep_names(s);
    keep_contexts(s);
    for (uint32_t i = 0; i < request->thread_count; i++) {
        const uint32_t before = s->out->kept_stacks;
        if (keep_thread(s, &request->threads[i]) != ERR_NONE)
            return s->fault->code;
        same[i] = s->out->kept_stacks == before;
    }
    s->out->data = s->to;
    s->out->bytes = (size_t)s->mini->data_bytes;
    return check(s, same);
}

enum status dump_scrub(const struct scrub_request *request, struct arena *keep,
                       struct scrubbed *out, struct fault *fault)
{
    struct scrubbing s = {.request = request, .out = out, .keep = keep, .fault = fault};
    const struct symbol_store_options options = {.roots = &request->symbols, .root_count = 1};
    *out = (struct scrubbed){0};
    if (request->symbols != NULL && symbol_store_open(&options, &s.symbols, fault) != ERR_NONE)
        return fault->code;
    if (dump_open(request->dump, s.symbols, keep, &s.dump, fault) == ERR_NONE) {
        s.mini = dump_minidump(s.dump);
        (void)scrub(&s);
        if (fault->code != ERR_NONE)
            fault_set_path(fault, request->dump);
        dump_close(s.dump);
    }
    symbol_store_close(s.symbols);
    return fault->code;
}
