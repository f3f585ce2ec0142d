/* The record reader: see record.h; layout in capture/record.h.
 *
 * Two passes. The first walks the section headers and counts, so that every array is allocated once
 * and a count larger than the bytes allow is rejected. The second reads the sections: MODULES
 * first, wherever they are, because frames refer to them. A fault inside a section ends the reading
 * there; everything before it is kept. */
#include "format/record/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "format/record/sections.h"

struct reading {
    struct bytes body; /* the whole sections, from the first section's header */
    struct arena *keep;
    struct record *out;
    struct fault *fault;
};

static bool all_zero(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static enum status read_header(struct bytes *r, struct record *out, uint64_t *first,
                               uint64_t *committed)
{
    const uint64_t start = r->offset;

    if (r->left == 0)
        return fault_set_hint(r->fault, ERR_TRUNCATED, start, "record: there are no bytes",
                              "the capture wrote nothing");
    const uint8_t *magic = bytes_take(r, 8);
    if (magic != NULL && memcmp(magic, RECORD_MAGIC, 8) != 0)
        return fault_set_hint(r->fault, ERR_MALFORMED, start, "record magic",
                              "not a record of the capture");
    const uint32_t version = bytes_u32(r);
    const uint32_t header_bytes = bytes_u32(r);
    out->machine = bytes_u32(r);
    out->kind = bytes_u32(r);
    out->process_id = bytes_u32(r);
    out->suspect_id = bytes_u32(r);
    out->exception_code = bytes_u32(r);
    out->exception_flags = bytes_u32(r);
    out->exception_va = bytes_u64(r);
    out->exception_info[0] = bytes_u64(r);
    out->exception_info[1] = bytes_u64(r);
    bytes_skip(r, 8); /* when it started */
    *committed = bytes_u64(r);
    out->pointer_bytes = bytes_u32(r);
    out->writer = bytes_u32(r);
    out->hooks = bytes_u32(r);
    out->code_left_out = bytes_u32(r);
    out->stop_rtl_ns = bytes_u64(r);
    out->stop_dump_ns = bytes_u64(r);
    out->sample_count = bytes_u32(r);
    out->left_suspended = bytes_u32(r);
    out->stop_copy_ns = bytes_u64(r);
    bytes_skip(r, start + RECORD_HEADER_BYTES - r->offset);
    if (bytes_failed(r))
        return r->fault->code;

    if (version > RECORD_VERSION)
        return fault_set_hint(r->fault, ERR_UNSUPPORTED, start + RECORD_H_VERSION, "record version",
                              "it was written by a newer capture");
    if (version == 0)
        return fault_set(r->fault, ERR_MALFORMED, start + RECORD_H_VERSION, "record version");
    if (header_bytes < RECORD_HEADER_BYTES || header_bytes % 8 != 0)
        return fault_set(r->fault, ERR_MALFORMED, start + RECORD_H_HEADER_BYTES,
                         "record header size");
    if (*committed != 0 && *committed < header_bytes)
        return fault_set(r->fault, ERR_MALFORMED, start + RECORD_H_COMMITTED,
                         "committed bytes of the record");
    *first = header_bytes;
    return ERR_NONE;
}

/* The smallest entry of a counted section; 0: not counted. */
static size_t entry_min_bytes(uint32_t type)
{
    switch (type) {
    case RECORD_SECTION_MODULES:
        return RECORD_MODULE_BYTES;
    case RECORD_SECTION_THREADS:
        return RECORD_THREAD_BYTES;
    case RECORD_SECTION_STACK:
        return RECORD_FRAME_BYTES;
    case RECORD_SECTION_TIMING:
        return RECORD_TIMING_BYTES;
    case RECORD_SECTION_CODE_MAP:
        return RECORD_CODE_MAP_BYTES;
    case RECORD_SECTION_FUNCTIONS:
        return RECORD_FUNCTION_BYTES;
    case RECORD_SECTION_MEMORY:
        return RECORD_MEMORY_BYTES;
    case RECORD_SECTION_CAPTURES:
        return RECORD_CAPTURE_BYTES;
    case RECORD_SECTION_ASSEMBLIES:
        return RECORD_ASSEMBLY_BYTES;
    case RECORD_SECTION_METHODS:
        return RECORD_METHOD_BYTES;
    default:
        return 0;
    }
}

struct totals {
    uint64_t modules, threads, stacks, timings, codes, captures, functions, memory;
    uint64_t assemblies, methods;
};

/* First pass.  Leaves in *WHOLE_BYTES how many bytes of the body are whole sections. */
static void count_sections(struct bytes r, struct totals *total, uint64_t *whole_bytes)
{
    const uint64_t start = r.offset;
    struct record_section s;

    *whole_bytes = 0;
    while (record_section_next(&r, &s)) {
        const size_t entry_bytes = entry_min_bytes(s.type);
        if (entry_bytes != 0 && bytes_count(&s.body, s.count, entry_bytes) != s.count)
            return;
        total->modules += s.type == RECORD_SECTION_MODULES ? s.count : 0;
        total->threads += s.type == RECORD_SECTION_THREADS ? s.count : 0;
        total->stacks += s.type == RECORD_SECTION_STACK;
        total->timings += s.type == RECORD_SECTION_TIMING ? s.count : 0;
        total->codes += s.type == RECORD_SECTION_CODE_MAP ? s.count : 0;
        total->captures += s.type == RECORD_SECTION_CAPTURES ? s.count : 0;
        total->functions += s.type == RECORD_SECTION_FUNCTIONS ? s.count : 0;
        total->memory += s.type == RECORD_SECTION_MEMORY ? s.count : 0;
        total->assemblies += s.type == RECORD_SECTION_ASSEMBLIES ? s.count : 0;
        total->methods += s.type == RECORD_SECTION_METHODS ? s.count : 0;
        if (total->modules > LIMIT_MODULES || total->threads > LIMIT_THREADS) {
            fault_set(r.fault, ERR_LIMIT, s.body.offset, "modules or threads of the record");
            return;
        }
        *whole_bytes = r.offset - start;
    }
}

static void read_module(struct bytes r, struct arena *keep, struct module *out)
{
    const uint32_t timestamp = bytes_u32(&r);
    out->base_va = bytes_u64(&r);
    out->image_bytes = bytes_u64(&r);
    out->loaded_at_ns = bytes_u64(&r);
    out->unloaded_at_ns = bytes_u64(&r);
    const uint8_t *guid = bytes_take(&r, 16);
    const uint32_t age = bytes_u32(&r);
    const uint16_t path_bytes = bytes_u16(&r);
    const uint16_t pdb_bytes = bytes_u16(&r);
    const char *path = record_take_text(&r, path_bytes, keep);
    const char *pdb = record_take_text(&r, pdb_bytes, keep);

    if (bytes_failed(&r))
        return;
    if (out->image_bytes > UINT32_MAX) {
        fault_set(r.fault, ERR_MALFORMED, r.offset, "image size of a module");
        return;
    }
    out->path = path;
    out->name = path != NULL ? path_base(path) : ""; /* the capture did not know it */
    out->pdb_name = pdb != NULL ? path_base(pdb) : NULL;
    if (timestamp != 0 || out->image_bytes != 0)
        module_code_id(timestamp, (uint32_t)out->image_bytes, out->code_id);
    if (guid != NULL && !all_zero(guid, 16))
        module_debug_id(guid, age, out->debug_id);
}

static void read_modules(struct record_section s, struct reading *reading)
{
    struct record *out = reading->out;
    struct bytes entry;

    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_MODULE_BYTES, &entry);
         i++) {
        struct module *module = &out->modules[out->module_count];
        read_module(entry, reading->keep, module);
        if (bytes_failed(&s.body))
            return;
        module->index = out->module_count++;
    }
}

static void read_threads(struct record_section s, struct reading *reading)
{
    struct record *out = reading->out;
    struct bytes entry;

    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_THREAD_BYTES, &entry);
         i++) {
        struct record_thread *thread = &out->threads[out->thread_count];
        thread->id = bytes_u32(&entry);
        thread->flags = bytes_u32(&entry);
        const uint32_t name_bytes = bytes_u32(&entry);
        thread->name = record_take_text(&entry, name_bytes, reading->keep);
        if (bytes_failed(&s.body))
            return;
        out->thread_count++;
    }
}

static void read_frame(struct bytes *r, const struct record *record, uint32_t index,
                       struct frame *out)
{
    const uint64_t start = r->offset;
    const uint32_t module = bytes_u32(r);
    const uint32_t flags = bytes_u32(r);
    const uint32_t found = flags >> RECORD_FRAME_SHIFT_FOUND & 15U;

    out->index = index;
    out->offset = bytes_u64(r);
    out->kind = (flags & RECORD_FRAME_RETURN) != 0 ? PC_RETURN : PC_INTERRUPTED;
    if ((flags & RECORD_FRAME_GENERATED) != 0)
        out->frame_class = CLASS_GENERATED;
    else if ((flags & RECORD_FRAME_CAPTURE) != 0)
        out->frame_class = CLASS_CAPTURE;
    out->identity = IDENTITY_UNCHECKED;
    if (found > RECORD_FOUND_GIVEN) {
        fault_set(r->fault, ERR_MALFORMED, start + RECORD_F_FLAGS, "how a frame was found");
        return;
    }
    out->found_by = (enum found_by)found; /* both enums have the same order */
    if (module == RECORD_NO_MODULE) {
        out->pc_va = out->offset;
        return;
    }
    if (module >= record->module_count) {
        fault_set(r->fault, ERR_MALFORMED, start + RECORD_F_MODULE, "module of a frame");
        return;
    }
    out->module = &record->modules[module];
    out->module_name = out->module->name;
    if ((flags & RECORD_FRAME_METHOD) != 0) {
        out->method_token = (uint32_t)(out->offset >> 32);
        out->offset &= UINT32_MAX;
        if (!FRAME_IS_METHOD(out->method_token))
            fault_set(r->fault, ERR_MALFORMED, start + RECORD_F_OFFSET, "method of a frame");
        return;
    }
    out->pc_va = out->module->base_va + out->offset;
}

static void read_stack(struct record_section s, struct reading *reading)
{
    struct record *out = reading->out;
    struct record_stack *stack = &out->stacks[out->stack_count];
    struct bytes *r = &s.body;

    stack->walker = bytes_u32(r);
    stack->state = bytes_u32(r);
    stack->thread_id = bytes_u32(r);
    stack->stop = bytes_u32(r);
    stack->left_out = bytes_u32(r);
    stack->sample = bytes_u32(r);
    stack->walk_ns = bytes_u64(r);
    stack->at_ns = bytes_u64(r);
    const uint32_t reason_bytes = bytes_u32(r);
    const uint32_t label_bytes = bytes_u32(r);
    if (s.count > LIMIT_FRAMES) {
        fault_set(r->fault, ERR_LIMIT, r->offset, "frames of one stack of the record");
        return;
    }
    stack->frame_count = bytes_count(r, s.count, RECORD_FRAME_BYTES);
    stack->frames = ARENA_ARRAY(reading->keep, stack->frame_count, struct frame);
    if (stack->frames == NULL) {
        fault_set(r->fault, ERR_MEMORY, r->offset, "stack of the record");
        return;
    }
    for (uint32_t i = 0; i < stack->frame_count && !bytes_failed(r); i++)
        read_frame(r, out, i, &stack->frames[i]);
    stack->reason = record_take_text(r, reason_bytes, reading->keep);
    stack->label = record_take_text(r, label_bytes, reading->keep);
    if (!bytes_failed(r))
        out->stack_count++;
}

static void read_timings(struct record_section s, struct reading *reading)
{
    struct record *out = reading->out;

    for (uint32_t i = 0; i < s.count; i++) {
        struct record_timing *timing = &out->timings[out->timing_count];
        timing->stage = bytes_u32(&s.body);
        timing->walker = bytes_u32(&s.body);
        timing->ns = bytes_u64(&s.body);
        timing->bytes = bytes_u64(&s.body);
        if (bytes_failed(&s.body))
            return;
        out->timing_count++;
    }
}

/* Second pass over the whole sections: those of MODULES, or all others. */
static void read_sections(struct reading *reading, bool modules)
{
    struct bytes r = reading->body;
    struct record_section s;

    while (record_section_next(&r, &s)) {
        if ((s.type == RECORD_SECTION_MODULES) != modules)
            continue;
        switch (s.type) {
        case RECORD_SECTION_MODULES:
            read_modules(s, reading);
            break;
        case RECORD_SECTION_THREADS:
            read_threads(s, reading);
            break;
        case RECORD_SECTION_STACK:
            read_stack(s, reading);
            break;
        case RECORD_SECTION_TIMING:
            read_timings(s, reading);
            break;
        case RECORD_SECTION_CODE_MAP:
            record_codes_read(s, reading->keep, reading->out);
            break;
        case RECORD_SECTION_FUNCTIONS:
            record_functions_read(s, reading->out);
            break;
        case RECORD_SECTION_MEMORY:
            record_memory_take(s, reading->keep, reading->out);
            break;
        case RECORD_SECTION_ASSEMBLIES:
            record_assemblies_read(s, reading->out);
            break;
        case RECORD_SECTION_METHODS:
            record_methods_read(s, reading->keep, reading->out);
            break;
        case RECORD_SECTION_CAPTURES:
            record_captures_read(s, reading->keep, reading->out);
            break;
        default: /* of a newer capture: skipped by its length */
            break;
        }
    }
}

static bool allocate(struct reading *reading, const struct totals *total)
{
    struct record *out = reading->out;
    struct arena *keep = reading->keep;

    out->modules = ARENA_ARRAY(keep, (size_t)total->modules, struct module);
    out->threads = ARENA_ARRAY(keep, (size_t)total->threads, struct record_thread);
    out->stacks = ARENA_ARRAY(keep, (size_t)total->stacks, struct record_stack);
    out->timings = ARENA_ARRAY(keep, (size_t)total->timings, struct record_timing);
    out->codes = ARENA_ARRAY(keep, (size_t)total->codes, struct record_code);
    out->captures = ARENA_ARRAY(keep, (size_t)total->captures, struct record_capture);
    out->functions = ARENA_ARRAY(keep, (size_t)total->functions, struct record_function);
    out->memory = ARENA_ARRAY(keep, (size_t)total->memory, struct record_memory);
    out->assemblies = ARENA_ARRAY(keep, (size_t)total->assemblies, struct record_assembly);
    out->methods = ARENA_ARRAY(keep, (size_t)total->methods, struct record_method);
    return out->modules != NULL && out->threads != NULL && out->stacks != NULL &&
           out->timings != NULL && out->codes != NULL && out->captures != NULL &&
           out->functions != NULL && out->memory != NULL && out->assemblies != NULL &&
           out->methods != NULL;
}

/* Reads the sections in R. The fault reported is the first in the file: damage inside a section
 * comes before the point where the walk over the sections ended. */
static void read_body(struct bytes r, struct arena *keep, struct record *out)
{
    struct fault shape = FAULT_INIT, inner = FAULT_INIT;
    struct totals total = {0};
    uint64_t whole_bytes = 0;
    struct bytes walk = r;

    walk.fault = &shape;
    count_sections(walk, &total, &whole_bytes);
    walk = r;
    walk.fault = &inner;
    struct reading reading = {bytes_window(&walk, 0, whole_bytes), keep, out, &inner};
    if (!allocate(&reading, &total)) {
        fault_set(r.fault, ERR_MEMORY, r.offset, "record");
        return;
    }
    read_sections(&reading, true);
    read_sections(&reading, false);
    record_captures_sort(out);
    record_code_sort(out);
    record_methods_sort(out);
    for (uint32_t i = 0; i < out->stack_count && out->code_count + out->method_count > 0; i++)
        for (uint32_t k = 0; k < out->stacks[i].frame_count; k++)
            if (out->stacks[i].frames[k].module == NULL)
                record_name_generated(out, &out->stacks[i].frames[k]);
    const struct fault *first = inner.code != ERR_NONE ? &inner : &shape;
    if (first->code != ERR_NONE)
        fault_set_lasting(r.fault, first->code, first->offset, first->what, first->hint);
}

/* A committed length of 0 (user streams) means WHOLE_BYTES. */
static enum status read_all(struct bytes r, bool is_stream, struct arena *keep, struct record *out)
{
    const struct bytes whole = r;
    uint64_t first = 0, committed = 0;

    memset(out, 0, sizeof *out);
    if (read_header(&r, out, &first, &committed) != ERR_NONE) {
        memset(out, 0, sizeof *out);
        out->partial = true;
        return r.fault->code;
    }
    if (committed == 0 && is_stream)
        committed = whole.left;
    if (committed == 0) {
        out->partial = true;
        return fault_set_hint(r.fault, ERR_TRUNCATED, whole.offset + RECORD_H_COMMITTED,
                              "record without a committed section",
                              "the process died before the capture finished one");
    }
    const bool cut = committed > whole.left;
    const uint64_t end = cut ? whole.left : committed;
    out->uncommitted_bytes = whole.left - end;
    if (first <= end)
        read_body(bytes_window(&whole, first, end - first), keep, out);
    if (cut)
        fault_set_hint(r.fault, ERR_TRUNCATED, whole.offset + whole.left, "record",
                       "the file ends before the length that the capture committed");
    out->partial = r.fault->code != ERR_NONE;
    return r.fault->code;
}

enum status record_read(struct bytes r, struct arena *keep, struct record *out)
{
    return read_all(r, false, keep, out);
}

enum status record_read_stream(struct bytes r, struct arena *keep, struct record *out)
{
    return read_all(r, true, keep, out);
}

enum status record_read_file(const char *path, struct arena *keep, struct record *out,
                             struct fault *fault)
{
    struct file_map map;

    memset(out, 0, sizeof *out);
    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    (void)record_read(bytes_over(map.data, map.bytes, fault), keep, out);
    fault_set_path(fault, path);
    file_unmap(&map);
    return fault->code;
}

const struct record_thread *record_thread_find(const struct record *record, uint32_t thread_id)
{
    for (uint32_t i = 0; i < record->thread_count; i++)
        if (record->threads[i].id == thread_id)
            return &record->threads[i];
    return NULL;
}

const struct record_stack *record_stack_find(const struct record *record, uint32_t walker,
                                             uint32_t thread_id)
{
    for (uint32_t i = 0; i < record->stack_count; i++) {
        const struct record_stack *stack = &record->stacks[i];
        if (stack->walker == walker && stack->thread_id == thread_id && stack->sample == 0)
            return stack;
    }
    return NULL;
}

const struct record_timing *record_timing_find(const struct record *record, uint32_t stage,
                                               uint32_t walker)
{
    for (uint32_t i = 0; i < record->timing_count; i++) {
        const struct record_timing *timing = &record->timings[i];
        if (timing->stage == stage && (walker == 0 || timing->walker == walker))
            return timing;
    }
    return NULL;
}

enum thread_role record_thread_role(const struct record *record, const struct record_thread *thread)
{
    if (thread->id == record->suspect_id || (thread->flags & RECORD_THREAD_SUSPECT) != 0)
        return THREAD_ROLE_SUSPECT;
    if ((thread->flags & RECORD_THREAD_CAPTURE) != 0)
        return THREAD_ROLE_CAPTURE;
    return (thread->flags & RECORD_THREAD_MAIN) != 0 ? THREAD_ROLE_MAIN : THREAD_ROLE_OTHER;
}
