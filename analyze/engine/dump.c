/* Opens a dump for walking: its memory, backed by the images of its modules, each found by the
 * authoritative identity. The `dump` engine works on top of it. */
#include "engine/dump.h"

#include <stdlib.h>
#include <string.h>

#include "format/pe/pe.h"
#include "symbol/breakpad_export.h"
#include "symbol/symbol_store.h"
#include "unwind/tables.h"

enum { OVERLAPS_MAX = 4 }; /* most modules that may overlap in a damaged or foreign list */

/* A module's image, requested from the store at most once. */
struct image_slot {
    bool asked, open;
    struct pe pe;
};

struct dump_session {
    struct file_map map;
    bool owns_map;
    struct minidump dump;
    struct symbol_store *symbols; /* borrowed; NULL */
    struct module *modules;       /* index = position                      */
    struct image_slot *images;    /* one per module */
    uint32_t *by_base;            /* positions, sorted by base             */
    uint32_t module_count;
    bool overlaps;                       /* a module extends past the next one's base */
    bool no_code_map;                    /* the user stream names and unwinds no generated code */
    bool start_damaged, modules_damaged; /* streams that say how a thread stopped, or modules */
    uint32_t last; /* position in by_base of the last answer: walks stay near it */
    struct unwind_process process;
};

static bool still_loaded(const struct module *module)
{
    return module->unloaded_at_ns == MODULE_STILL_LOADED;
}

/* The loaded modules of the user stream, then those of the dump's own list whose base is not among
 * them. If the dump has our stream, identities come from that stream alone. */
static enum status gather_modules(struct dump_session *s, struct arena *keep, struct fault *fault)
{
    const struct minidump *dump = &s->dump;
    const struct record *user = dump->user;
    uint32_t most = dump->module_count + (user != NULL ? user->module_count : 0);
    s->modules = ARENA_ARRAY(keep, most + 1, struct module);
    s->images = ARENA_ARRAY(keep, most + 1, struct image_slot);
    s->by_base = ARENA_ARRAY(keep, most + 1, uint32_t);
    if (s->modules == NULL || s->images == NULL || s->by_base == NULL)
        return fault_no_memory(fault, "modules of a dump");
    for (uint32_t i = 0; user != NULL && i < user->module_count; i++)
        if (still_loaded(&user->modules[i]))
            s->modules[s->module_count++] = user->modules[i];
    uint32_t known = s->module_count;
    for (uint32_t i = 0; i < dump->module_count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < known && !again; k++)
            again = s->modules[k].base_va == dump->modules[i].module.base_va;
        if (!again)
            s->modules[s->module_count++] = dump->modules[i].module;
    }
    for (uint32_t i = 0; i < s->module_count; i++)
        s->modules[i].index = i;
    return ERR_NONE;
}

/* True when the dump has a stream of TYPE that is not all readable. */
static bool is_damaged(const struct minidump *dump, uint32_t type)
{
    for (uint32_t i = 0; i < dump->stream_count; i++)
        if (dump->streams[i].type == type && dump->streams[i].fault.code != ERR_NONE)
            return true;
    return false;
}

/* Notes what frames depend on, so that they can say that it is damaged. */
static void note_damage(struct dump_session *s)
{
    const struct minidump *dump = &s->dump;
    const bool user = is_damaged(dump, RECORD_DUMP_STREAM);
    s->start_damaged = user || is_damaged(dump, STREAM_EXCEPTION);
    s->modules_damaged = user || is_damaged(dump, STREAM_MODULE_LIST) ||
                         is_damaged(dump, STREAM_UNLOADED_MODULE_LIST);
}

static bool module_holds(const struct dump_session *s, uint32_t place, uint64_t va)
{
    const struct module *module = &s->modules[s->by_base[place]];
    return va >= module->base_va && va - module->base_va < module->image_bytes;
}

/* Insertion sort: the lists are short and almost sorted. */
static void sort_modules(struct dump_session *s)
{
    for (uint32_t i = 0; i < s->module_count; i++) {
        uint32_t at = i;
        while (at > 0 && s->modules[s->by_base[at - 1]].base_va > s->modules[i].base_va) {
            s->by_base[at] = s->by_base[at - 1];
            at--;
        }
        s->by_base[at] = i;
    }
    for (uint32_t i = 1; i < s->module_count; i++)
        s->overlaps |= module_holds(s, i - 1, s->modules[s->by_base[i]].base_va);
}

static const struct module *module_at(void *self, uint64_t va)
{
    struct dump_session *s = self;
    if (!s->overlaps && s->last < s->module_count && module_holds(s, s->last, va))
        return &s->modules[s->by_base[s->last]];
    uint32_t low = 0, high = s->module_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->modules[s->by_base[middle]].base_va <= va)
            low = middle + 1;
        else
            high = middle;
    }
    /* The module with the nearest base below; where modules overlap, one with a lower base may be
     * right. */
    const uint32_t reach = s->overlaps ? OVERLAPS_MAX : 1;
    for (uint32_t back = 0; back < reach && low > back; back++) {
        if (!module_holds(s, low - 1 - back, va))
            continue;
        s->last = low - 1 - back;
        return &s->modules[s->by_base[s->last]];
    }
    return NULL;
}

static const struct pe *image_of(struct dump_session *s, const struct module *module)
{
    struct image_slot *slot = &s->images[module->index];
    if (!slot->asked) {
        slot->asked = true;
        const struct file_map *map =
            s->symbols != NULL ? symbol_store_image(s->symbols, module) : NULL;
        struct fault ignored = FAULT_INIT;
        slot->open = map != NULL && pe_open(map->data, map->bytes, &slot->pe, &ignored) == ERR_NONE;
    }
    return slot->open ? &slot->pe : NULL;
}

/* Reads the dump's memory, else the image: real dumps leave code out. */
static bool read_memory(void *self, uint64_t va, void *out, size_t bytes)
{
    struct dump_session *s = self;
    if (minidump_memory_read(&s->dump, va, out, bytes) ||
        (s->dump.user != NULL && !s->no_code_map &&
         record_memory_read(s->dump.user, va, out, bytes)))
        return true;
    const struct module *module = module_at(s, va);
    const struct pe *pe = module != NULL ? image_of(s, module) : NULL;
    uint64_t rva = module != NULL ? va - module->base_va : 0;
    if (pe == NULL || rva > UINT32_MAX || bytes > UINT32_MAX)
        return false;
    const uint8_t *from = pe_at(pe, (uint32_t)rva, (uint32_t)bytes);
    if (from == NULL)
        return false;
    memcpy(out, from, bytes);
    return true;
}

static struct pdb *pdb_of(void *self, const struct module *module)
{
    struct dump_session *s = self;
    return s->symbols != NULL ? symbol_store_pdb(s->symbols, module) : NULL;
}

static const struct breakpad *breakpad_of(void *self, const struct module *module)
{
    struct dump_session *s = self;
    return s->symbols != NULL ? symbol_store_breakpad(s->symbols, module) : NULL;
}

/* The image of a module of another system. */
static bool object_of(void *self, const struct module *module, struct byte_view *out)
{
    struct dump_session *s = self;
    return s->symbols != NULL && symbol_store_object(s->symbols, module, out);
}

/* RUNTIME_FUNCTION rows of generated code, as the FunctionTable stream has them: sorted, as
 * Windows requires. */
static bool table_entry(const struct dump_session *s, uint64_t va, struct unwind_entry *out)
{
    for (uint32_t i = 0; i < s->dump.table_count; i++) {
        const struct minidump_function_table *table = &s->dump.tables[i];
        if (va < table->start_va || va >= table->end_va || table->entry_bytes < 12)
            continue;
        const uint8_t *rows = s->dump.data + table->entries.foff;
        uint32_t low = 0, high = table->entry_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (load_u32(rows + (size_t)middle * table->entry_bytes) <= va - table->base_va)
                low = middle + 1;
            else
                high = middle;
        }
        const uint8_t *row = rows + (size_t)(low > 0 ? low - 1 : 0) * table->entry_bytes;
        if (low == 0 || va - table->base_va >= load_u32(row + 4))
            continue;
        *out = (struct unwind_entry){table->base_va, load_u32(row), load_u32(row + 4),
                                     load_u32(row + 8)};
        return true;
    }
    return false;
}

/* Generated code, found by the dump's own tables, else by what the program registered. */
static bool generated_entry(void *self, uint64_t va, struct unwind_entry *out)
{
    const struct dump_session *s = self;
    const struct record *user = s->no_code_map ? NULL : s->dump.user;
    if (table_entry(s, va, out))
        return true;
    const struct record_function *function = user != NULL ? record_function_at(user, va) : NULL;
    if (function != NULL) {
        *out = (struct unwind_entry){function->base_va, function->begin_rva, function->end_rva,
                                     function->unwind_rva};
        return true;
    }
    const struct record_code *code = user != NULL ? record_code_at(user, va) : NULL;
    if (code != NULL)
        *out = (struct unwind_entry){code->start_va, 0, (uint32_t)code->code_bytes, 0};
    return code != NULL;
}

static enum status open_session(struct dump_session *s, struct symbol_store *symbols,
                                struct arena *keep, struct fault *fault)
{
    s->symbols = symbols;
    s->process = (struct unwind_process){.self = s,
                                         .read = read_memory,
                                         .module_at = module_at,
                                         .pdb = pdb_of,
                                         .breakpad = breakpad_of,
                                         .object = object_of,
                                         .tables = unwind_tables_new(keep)};
    if (s->process.tables == NULL)
        return fault_no_memory(fault, "dump");
    if (minidump_read(s->map.data, s->map.bytes, keep, &s->dump, fault) != ERR_NONE ||
        gather_modules(s, keep, fault) != ERR_NONE)
        return fault->code;
    s->process.chains_frames = !minidump_is_windows(&s->dump);
    if (s->dump.table_count > 0 ||
        (s->dump.user != NULL && s->dump.user->code_count + s->dump.user->function_count > 0))
        s->process.generated = generated_entry;
    s->process.runs_managed = dump_has_methods(s);
    sort_modules(s);
    note_damage(s);
    return ERR_NONE;
}

enum status dump_open_map(const struct file_map *map, const char *path,
                          struct symbol_store *symbols, struct arena *keep,
                          struct dump_session **out, struct fault *fault)
{
    struct dump_session *s = ARENA_NEW(keep, struct dump_session);
    *out = NULL;
    if (s == NULL)
        return fault_no_memory(fault, "dump");
    s->map = *map;
    if (open_session(s, symbols, keep, fault) == ERR_NONE)
        *out = s;
    fault_set_path(fault, path);
    return fault->code;
}

enum status dump_open(const char *path, struct symbol_store *symbols, struct arena *keep,
                      struct dump_session **out, struct fault *fault)
{
    struct file_map map;
    *out = NULL;
    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    (void)dump_open_map(&map, path, symbols, keep, out, fault);
    if (*out != NULL)
        (*out)->owns_map = true;
    else
        file_unmap(&map);
    return fault->code;
}

bool dump_has_methods(const struct dump_session *session)
{
    return session->dump.user != NULL && session->dump.user->method_count > 0;
}

void dump_ignore_code_map(struct dump_session *session)
{
    session->no_code_map = true;
}

void dump_close(struct dump_session *session)
{
    if (session != NULL && session->owns_map)
        file_unmap(&session->map);
}

enum status dump_tell(struct dump_session *session, struct arena *keep, struct fault *fault)
{
    return minidump_read_details(&session->dump, keep, fault);
}

const struct minidump *dump_minidump(const struct dump_session *session)
{
    return &session->dump;
}

const struct unwind_process *dump_process(const struct dump_session *session)
{
    return &session->process;
}

const struct module *dump_modules(const struct dump_session *session, uint32_t *count)
{
    *count = session->module_count;
    return session->modules;
}

uint32_t dump_suspect(const struct dump_session *session, const char **why)
{
    return minidump_suspect(&session->dump, why);
}

/* There was no exception (abort, a capture on demand): RtlCaptureContext made the context, so its
 * pc is the return address of that call. */
static bool is_captured(const struct record *user)
{
    return user != NULL && user->kind != RECORD_KIND_HANG &&
           (user->hooks & RECORD_HOOKS_FAULT) == 0;
}

/* The registers to walk a thread from.  Wine's MiniDumpWriteDump, called by a helper thread,
 * gives that helper the exception's context: such a row of the thread list is ignored. */
enum status dump_registers(const struct dump_session *session, uint32_t thread_id,
                           struct registers *out, enum pc_kind *kind, struct fault *fault)
{
    const struct minidump *dump = &session->dump;
    const struct minidump_thread *thread = minidump_thread_find(dump, thread_id);
    bool crashed = dump->exception.present && dump->exception.thread_id == thread_id, wow64;
    struct registers exception;
    struct fault ignored = FAULT_INIT;
    bool known = minidump_exception_registers(dump, &exception, &wow64, &ignored) == ERR_NONE;
    *kind = PC_INTERRUPTED;
    if (crashed && known) {
        *out = exception;
        if (is_captured(dump->user))
            *kind = PC_RETURN;
        return ERR_NONE;
    }
    if (thread == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "thread in the thread list");
    enum status status = minidump_thread_registers(dump, thread, out, &wow64, fault);
    if (status == ERR_NONE && known && out->pc == exception.pc && out->sp == exception.sp)
        return fault_set(fault, ERR_MISMATCH, FAULT_NO_OFFSET,
                         "context of this thread is the crashed thread's");
    return status;
}

enum status dump_walk(struct dump_session *session, uint32_t thread_id, struct arena *keep,
                      struct unwind_stack *out, struct fault *fault)
{
    struct registers regs;
    enum pc_kind kind;
    *out = (struct unwind_stack){.stop = STOP_NO_REGISTERS};
    enum status status = dump_registers(session, thread_id, &regs, &kind, fault);
    return status == ERR_NONE ? unwind_walk(&session->process, &regs, kind, keep, out, fault)
                              : status;
}

static bool holds(const struct module *module, uint64_t va)
{
    return va >= module->base_va && va - module->base_va < module->image_bytes;
}

/* The module that was loaded at VA before it was unloaded, the last of several; NULL: none. The
 * user stream comes first: it has the PDBs of unloaded modules, and Wine writes no list of unloaded
 * modules. */
static const struct module *unloaded_at(const struct dump_session *s, uint64_t va)
{
    const struct minidump *dump = &s->dump;
    const struct module *last = NULL;
    for (uint32_t i = 0; dump->user != NULL && i < dump->user->module_count; i++) {
        const struct module *module = &dump->user->modules[i];
        if (!still_loaded(module) && holds(module, va) &&
            (last == NULL || module->unloaded_at_ns >= last->unloaded_at_ns))
            last = module;
    }
    for (uint32_t i = 0; last == NULL && i < dump->unloaded_count; i++)
        if (holds(&dump->unloaded[i].module, va))
            last = &dump->unloaded[i].module;
    return last;
}

static void fill_frame(struct dump_session *s, const struct unwind_frame *from, uint32_t index,
                       struct frame *out)
{
    *out = (struct frame){.index = index,
                          .kind = from->kind,
                          .found_by = from->found_by,
                          .frame_class = CLASS_NONE,
                          .identity = IDENTITY_UNCHECKED,
                          .pc_va = from->pc_va,
                          .module = from->module,
                          .offset = from->pc_va,
                          .note = from->note};
    if (from->module == NULL) {
        out->module = unloaded_at(s, from->pc_va);
        if (out->module != NULL) {
            out->module_state = MODULE_STATE_UNLOADED;
            out->note = NOTE_MODULE_UNLOADED;
        }
    }
    if (out->module == NULL && s->dump.user != NULL && !s->no_code_map)
        record_name_generated(s->dump.user, out);
    if (s->no_code_map && out->module == NULL)
        out->frame_class = CLASS_GENERATED;
    if (out->module != NULL) {
        out->module_name = out->module->name;
        if (out->method_token == 0)
            out->offset = from->pc_va - out->module->base_va;
        if (out->module->debug_id[0] != '\0')
            out->identity = IDENTITY_CHECKED;
    }
    if (out->note == NOTE_NONE && index == 0 && s->start_damaged)
        out->note = NOTE_START_DAMAGED;
    if (out->note == NOTE_NONE && out->module == NULL && s->modules_damaged)
        out->note = NOTE_MODULES_DAMAGED;
}

enum status dump_stack(struct dump_session *session, uint32_t thread_id,
                       const struct unwind_stack *walk, struct arena *keep, struct stack *out,
                       struct fault *fault)
{
    const struct minidump_thread *thread = minidump_thread_find(&session->dump, thread_id);
    const char *why;
    *out = (struct stack){.thread_id = thread_id, .stop = walk->stop};
    out->thread_name = thread != NULL ? thread->name : NULL;
    out->role = thread != NULL ? thread->role : THREAD_ROLE_NONE;
    if (thread_id == dump_suspect(session, &why))
        out->role = THREAD_ROLE_SUSPECT;
    out->frames = ARENA_ARRAY(keep, walk->frame_count + 1, struct frame);
    if (out->frames == NULL)
        return fault_no_memory(fault, "frames");
    for (uint32_t i = 0; i < walk->frame_count; i++)
        fill_frame(session, &walk->frames[i], i, &out->frames[i]);
    out->frame_count = walk->frame_count;
    out->left_out = walk->left_out;
    return ERR_NONE;
}
