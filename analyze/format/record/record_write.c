/* Writes a record (capture/record.h) from a stack of offsets: see record.h. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "format/record/record.h"

/* A buffer that is being filled; `at` is the position of the next byte. */
struct writer {
    uint8_t *data;
    size_t at, room;
};

static void put(struct writer *w, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size && w->at < w->room; i++)
        w->data[w->at++] = (uint8_t)(value >> (8 * i));
}

static void put_text(struct writer *w, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(w, (uint8_t)text[i], 1);
}

static void pad(struct writer *w)
{
    while (w->at % 8 != 0 && w->at < w->room)
        put(w, 0, 1);
}

/* The module of a frame as it will be written: the one that is known, or only a name. */
static struct module module_of(const struct frame *frame, const struct record *facts)
{
    struct module module = {.name = frame->module_name, .unloaded_at_ns = MODULE_STILL_LOADED};
    if (frame->module != NULL)
        module = *frame->module;
    for (uint32_t i = 0; i < facts->module_count; i++)
        if (text_equal_nocase(facts->modules[i].name, path_base(frame->module_name)))
            return facts->modules[i];
    return module;
}

/* The 16 bytes of a GUID as Windows prints it, with or without dashes. */
static void parse_guid(const char *text, uint8_t guid[16])
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < 16; i++, text += 2) {
        uint64_t value = 0;
        text += *text == '-';
        if (text_parse_hex(text, 2, &value))
            guid[order[i]] = (uint8_t)value;
    }
}

/* "%08X" of the timestamp first, the size of the image after it; then 32 digits of the GUID as
 * Windows prints it, and the age. */
static void parse_identity(const struct module *module, uint8_t guid[16], uint32_t *age,
                           uint32_t *timestamp, uint64_t *image_bytes)
{
    uint64_t value = 0;
    memset(guid, 0, 16);
    *age = 0;
    *timestamp = 0;
    if (strlen(module->code_id) > 8 && text_parse_hex(module->code_id, 8, &value))
        *timestamp = (uint32_t)value;
    *image_bytes = module->image_bytes;
    if (*image_bytes == 0 && *timestamp != 0 &&
        text_parse_hex(module->code_id + 8, strlen(module->code_id) - 8, &value))
        *image_bytes = value;
    if (strlen(module->debug_id) <= 32)
        return; /* none, or that of an NB10 PDB, for which a record has no field */
    parse_guid(module->debug_id, guid);
    if (text_parse_hex(module->debug_id + 32, strlen(module->debug_id) - 32, &value))
        *age = (uint32_t)value;
}

static void put_module(struct writer *w, const struct module *module)
{
    uint8_t guid[16];
    uint32_t age, timestamp;
    uint64_t image_bytes;
    const size_t start = w->at;
    const char *path = module->path != NULL ? module->path : module->name;
    const char *pdb = module->pdb_name != NULL ? module->pdb_name : "";
    size_t path_bytes = strlen(path), pdb_size = strlen(pdb);
    parse_identity(module, guid, &age, &timestamp, &image_bytes);
    put(w, (RECORD_MODULE_BYTES + path_bytes + pdb_size + 7) & ~(size_t)7, 4);
    put(w, timestamp, 4);
    put(w, module->base_va, 8);
    put(w, image_bytes, 8);
    put(w, 0, 8);
    put(w, RECORD_NEVER, 8);
    for (size_t i = 0; i < 16; i++)
        put(w, guid[i], 1);
    put(w, age, 4);
    put(w, path_bytes, 2);
    put(w, pdb_size, 2);
    w->at = start + RECORD_MODULE_BYTES;
    put_text(w, path, path_bytes);
    put_text(w, pdb, pdb_size);
    pad(w);
}

/* Opens a section; its length is filled in by section_end(). */
static size_t section_begin(struct writer *w, uint32_t type, uint32_t count)
{
    size_t start = w->at;
    put(w, type, 4);
    put(w, 0, 4);
    put(w, count, 4);
    put(w, 0, 4);
    return start;
}

static void section_end(struct writer *w, size_t start)
{
    pad(w);
    size_t end = w->at;
    w->at = start + RECORD_S_BYTES;
    put(w, end - start, 4);
    w->at = end;
}

/* True when two frames of one stack are in one module: of one name, and of one build. */
static bool in_one_module(const struct frame *a, const struct frame *b)
{
    static const struct module none = {0};
    const struct module *x = a->module != NULL ? a->module : &none;
    const struct module *y = b->module != NULL ? b->module : &none;
    return text_equal_nocase(a->module_name, b->module_name) &&
           strcmp(x->code_id, y->code_id) == 0 && strcmp(x->debug_id, y->debug_id) == 0 &&
           strcmp(x->mvid, y->mvid) == 0;
}

static bool is_physical(const struct frame *frame)
{
    return frame->inline_depth == 0;
}

/* Modules in the order of their first frame; INDEX receives each frame's. */
static void put_modules(struct writer *w, const struct stack *stack, const struct record *facts,
                        uint32_t *index)
{
    uint32_t count = 0;
    size_t start = section_begin(w, RECORD_SECTION_MODULES, 0);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        index[i] = RECORD_NO_MODULE;
        if (!is_physical(frame) || frame->module_name == NULL)
            continue;
        for (uint32_t k = 0; k < i && index[i] == RECORD_NO_MODULE; k++)
            if (index[k] != RECORD_NO_MODULE && in_one_module(&stack->frames[k], frame))
                index[i] = index[k];
        if (index[i] != RECORD_NO_MODULE)
            continue;
        struct module module = module_of(frame, facts);
        put_module(w, &module);
        index[i] = count++;
    }
    section_end(w, start);
    size_t end = w->at;
    w->at = start + RECORD_S_COUNT;
    put(w, count, 4);
    w->at = end;
}

/* The MVIDs of the modules that put_modules() wrote. */
static void put_assemblies(struct writer *w, const struct stack *stack, const uint32_t *index)
{
    uint32_t count = 0, written = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        count += index[i] != RECORD_NO_MODULE && stack->frames[i].module != NULL &&
                 stack->frames[i].module->mvid[0] != '\0';
    if (count == 0)
        return;
    const size_t start = section_begin(w, RECORD_SECTION_ASSEMBLIES, 0);
    for (uint32_t i = 0, next = 0; i < stack->frame_count; i++) {
        const struct module *module = stack->frames[i].module;
        uint8_t guid[16];
        if (index[i] != next) /* not the first frame of a module */
            continue;
        next++;
        if (module == NULL || module->mvid[0] == '\0')
            continue;
        parse_guid(module->mvid, guid);
        put(w, index[i], 4);
        put(w, 0, 4);
        for (size_t k = 0; k < 16; k++)
            put(w, guid[k], 1);
        written++;
    }
    section_end(w, start);
    const size_t end = w->at;
    w->at = start + RECORD_S_COUNT;
    put(w, written, 4);
    w->at = end;
}

static void put_stack(struct writer *w, const struct record *facts, const struct stack *stack,
                      uint32_t stop, const uint32_t *index)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        count += is_physical(&stack->frames[i]);
    size_t start = section_begin(w, RECORD_SECTION_STACK, count);
    put(w, RECORD_WALKER_RTL, 4);
    put(w, RECORD_STATE_OK, 4);
    put(w, facts->suspect_id, 4);
    put(w, stop, 4);
    put(w, stack->left_out, 4);
    put(w, 0, 4);
    put(w, stack->walk_ns, 8);
    w->at = start + RECORD_STACK_BYTES;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        if (!is_physical(frame))
            continue;
        put(w, index[i], 4);
        const bool managed = frame->method_token != 0 && index[i] != RECORD_NO_MODULE;
        put(w,
            (frame->kind == PC_RETURN ? RECORD_FRAME_RETURN : 0) |
                (managed ? RECORD_FRAME_METHOD : 0) |
                (uint32_t)RECORD_FOUND_GIVEN << RECORD_FRAME_SHIFT_FOUND,
            4);
        uint64_t place = frame->offset;
        if (managed)
            place |= FRAME_METHOD(frame->method_token);
        else if (index[i] == RECORD_NO_MODULE && frame->pc_va != 0)
            place = frame->pc_va;
        put(w, place, 8);
    }
    section_end(w, start);
}

static void put_header(struct writer *w, const struct record *facts, size_t committed)
{
    w->at = 0;
    put_text(w, RECORD_MAGIC, 8);
    put(w, RECORD_VERSION, 4);
    put(w, RECORD_HEADER_BYTES, 4);
    put(w, facts->machine, 4);
    put(w, facts->kind, 4);
    put(w, facts->process_id, 4);
    put(w, facts->suspect_id, 4);
    put(w, facts->exception_code, 4);
    put(w, facts->exception_flags, 4);
    put(w, facts->exception_va, 8);
    put(w, facts->exception_info[0], 8);
    put(w, facts->exception_info[1], 8);
    w->at = RECORD_H_COMMITTED;
    put(w, committed, 8);
    put(w, facts->pointer_bytes, 4);
    put(w, facts->writer, 4);
    put(w, facts->hooks, 4);
}

enum status record_write(const char *path, const struct record *facts, const struct stack *stack,
                         uint32_t stop, struct arena *keep, struct fault *fault)
{
    struct writer w = {.room = 4096};
    uint32_t *index = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, uint32_t);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        w.room += RECORD_FRAME_BYTES + RECORD_ASSEMBLY_BYTES;
        if (frame->module_name != NULL) { /* at most one module per frame */
            struct module module = module_of(frame, facts);
            w.room += RECORD_MODULE_BYTES + 16 + strlen(module.name) +
                      (module.path != NULL ? strlen(module.path) : 0) +
                      (module.pdb_name != NULL ? strlen(module.pdb_name) : 0);
        }
    }
    w.data = arena_alloc(keep, w.room);
    if (index == NULL || w.data == NULL)
        return fault_no_memory(fault, "record");
    w.at = RECORD_HEADER_BYTES;
    put_modules(&w, stack, facts, index);
    put_stack(&w, facts, stack, stop, index);
    put_assemblies(&w, stack, index);
    size_t end = w.at;
    put_header(&w, facts, end);
    return file_write(path, w.data, end, fault);
}
