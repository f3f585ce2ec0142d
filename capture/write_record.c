/* Writes the record of capture/record.h: sections are built in static memory, appended,
 * and only then is RECORD_H_COMMITTED raised over them. */
#include "capture/cap.h"

#include <winternl.h>

struct buffer {
    uint8_t *at;
    uint32_t used, room;
    uint32_t left_out; /* how often something did not fit */
};

enum { CAPTURES_BYTES = CAP_BUFFER_BYTES - 8 * CAP_CAPTURE_WORDS };

static uint8_t record_memory[CAP_BUFFER_BYTES];
static uint8_t stream_memory[CAP_BUFFER_BYTES];
static uint8_t header[RECORD_HEADER_BYTES];
static struct buffer section = {record_memory, 0, sizeof record_memory, 0};

/* The threads written last; the dump's user stream repeats them. */
static struct cap_thread threads_seen[CAP_THREADS];
static uint32_t threads_seen_count;

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void put64(uint8_t *to, uint64_t value)
{
    put32(to, (uint32_t)value);
    put32(to + 4, (uint32_t)(value >> 32));
}

/* Adds BYTES zeroed bytes at the end; NULL when they do not fit, and the entry is left out. */
static uint8_t *extend(struct buffer *b, uint32_t bytes)
{
    if (bytes > b->room - b->used) {
        b->left_out++;
        return NULL;
    }
    uint8_t *at = b->at + b->used;
    cap_crash_clear(at, bytes);
    b->used += bytes;
    return at;
}

static uint32_t padded(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

/* ---- sections into a buffer ---- */

static uint8_t *section_start(struct buffer *b, uint32_t type)
{
    uint8_t *at = extend(b, RECORD_SECTION_HEADER_BYTES);
    if (at != NULL)
        put32(at + RECORD_S_TYPE, type);
    return at;
}

static void section_end(struct buffer *b, uint8_t *start, uint32_t count)
{
    put32(start + RECORD_S_BYTES, (uint32_t)(b->at + b->used - start));
    put32(start + RECORD_S_COUNT, count);
}

static void build_modules(struct buffer *b)
{
    uint32_t count = 0;
    uint8_t *start = section_start(b, RECORD_SECTION_MODULES);
    if (start == NULL)
        return;
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++) {
        const struct cap_module *m = &cap.modules[i];
        const uint32_t bytes = padded(RECORD_MODULE_BYTES + m->path_bytes + m->pdb_bytes);
        uint8_t *e = extend(b, bytes);
        if (e == NULL)
            break;
        put32(e + RECORD_M_ENTRY_BYTES, bytes);
        put32(e + RECORD_M_TIMESTAMP, m->timestamp);
        put64(e + RECORD_M_BASE, m->base_va);
        put64(e + RECORD_M_IMAGE_BYTES, m->image_bytes);
        put64(e + RECORD_M_LOADED, m->loaded_ns);
        put64(e + RECORD_M_UNLOADED, m->unloaded_ns);
        cap_crash_copy(e + RECORD_M_GUID, m->guid, sizeof m->guid);
        put32(e + RECORD_M_AGE, m->age);
        put32(e + RECORD_M_PATH_BYTES, m->path_bytes | (uint32_t)m->pdb_bytes << 16);
        cap_crash_copy(e + RECORD_MODULE_BYTES, m->path, m->path_bytes);
        cap_crash_copy(e + RECORD_MODULE_BYTES + m->path_bytes, m->pdb, m->pdb_bytes);
        count++;
    }
    section_end(b, start, count);
}

static void build_threads(struct buffer *b)
{
    uint8_t *start = section_start(b, RECORD_SECTION_THREADS);
    uint32_t count = 0;
    if (start == NULL)
        return;
    for (; count < threads_seen_count; count++) {
        const struct cap_thread *t = &threads_seen[count];
        const uint32_t bytes = padded(RECORD_THREAD_BYTES + t->name_bytes);
        uint8_t *e = extend(b, bytes);
        if (e == NULL)
            break;
        put32(e + RECORD_T_ENTRY_BYTES, bytes);
        put32(e + RECORD_T_ID, t->id);
        put32(e + RECORD_T_FLAGS, t->flags);
        put32(e + RECORD_T_NAME_BYTES, t->name_bytes);
        cap_crash_copy(e + RECORD_THREAD_BYTES, t->name, t->name_bytes);
    }
    section_end(b, start, count);
}

static void build_frame(uint8_t *e, const struct cap_frame *frame)
{
    const bool is_return = (frame->flags & RECORD_FRAME_RETURN) != 0;
    const int module = cap_crash_module_at(is_return ? frame->pc_va - 1 : frame->pc_va);
    uint32_t flags = frame->flags;
    uint64_t offset = frame->pc_va;
    if (module >= 0)
        offset -= cap.modules[module].base_va;
    else if (cap_crash_in_code_map(frame->pc_va))
        flags |= RECORD_FRAME_GENERATED;
    if (cap_crash_within(cap.own_code, frame->pc_va))
        flags |= RECORD_FRAME_CAPTURE;
    put32(e + RECORD_F_MODULE, module >= 0 ? (uint32_t)module : RECORD_NO_MODULE);
    put32(e + RECORD_F_FLAGS, flags);
    put64(e + RECORD_F_OFFSET, offset);
}

static void build_stack(struct buffer *b, const struct cap_walk *walk)
{
    const uint32_t count = walk->total < CAP_FRAMES ? walk->total : CAP_FRAMES;
    const uint32_t reason_bytes = walk->reason != NULL ? cap_crash_length(walk->reason) : 0;
    uint8_t *start = section_start(b, RECORD_SECTION_STACK);
    uint8_t *rest = extend(b, RECORD_STACK_BYTES - RECORD_SECTION_HEADER_BYTES);
    uint8_t *frames = extend(b, count * RECORD_FRAME_BYTES);
    uint8_t *reason = extend(b, padded(reason_bytes));
    if (start == NULL || rest == NULL || frames == NULL || reason == NULL)
        return;
    put32(start + RECORD_K_WALKER, walk->walker);
    put32(start + RECORD_K_STATE, walk->state);
    put32(start + RECORD_K_THREAD, walk->thread_id);
    put32(start + RECORD_K_STOP, walk->stop);
    put32(start + RECORD_K_LEFT_OUT, walk->total - count);
    put32(start + RECORD_K_SAMPLE, walk->sample);
    put64(start + RECORD_K_WALK_NS, walk->walk_ns);
    put64(start + RECORD_K_AT_NS, walk->at_ns);
    put32(start + RECORD_K_REASON_BYTES, reason_bytes);
    for (uint32_t i = 0; i < count; i++)
        build_frame(frames + i * RECORD_FRAME_BYTES, &walk->frames[cap_crash_frame_at(walk, i)]);
    if (walk->reason != NULL)
        cap_crash_copy(reason, walk->reason, reason_bytes);
    section_end(b, start, count);
}

static const struct cap_code *code_at(LONG index)
{
    return cap.codes[index].ready ? &cap.codes[index] : NULL;
}

static void build_code_map(struct buffer *b)
{
    uint32_t count = 0;
    uint8_t *start = cap.code_count > 0 ? section_start(b, RECORD_SECTION_CODE_MAP) : NULL;
    for (LONG i = 0; start != NULL && i < cap.code_count && i < CAP_CODE_MAPS; i++) {
        const struct cap_code *code = code_at(i);
        const uint32_t name_bytes = code != NULL ? cap_crash_length(code->name) : 0;
        const uint32_t bytes = padded(RECORD_CODE_MAP_BYTES + name_bytes);
        uint8_t *e = code != NULL ? extend(b, bytes) : NULL;
        if (e == NULL)
            continue;
        put32(e + RECORD_C_ENTRY_BYTES, bytes);
        put32(e + RECORD_C_NAME_BYTES, name_bytes);
        put64(e + RECORD_C_START, code->start_va);
        put64(e + RECORD_C_CODE_BYTES, code->code_bytes);
        cap_crash_copy(e + RECORD_CODE_MAP_BYTES, code->name, name_bytes);
        count++;
    }
    if (start != NULL)
        section_end(b, start, count);
}

static const struct cap_method *method_at(LONG index)
{
    return cap_managed.methods[index].ready ? &cap_managed.methods[index] : NULL;
}

static LONG method_count(void)
{
    return cap_managed.method_count < CAP_METHODS ? cap_managed.method_count : CAP_METHODS;
}

static void build_assemblies(struct buffer *b)
{
    uint32_t count = 0;
    uint8_t *start =
        cap_managed.assembly_count > 0 ? section_start(b, RECORD_SECTION_ASSEMBLIES) : NULL;
    for (LONG i = 0; start != NULL && i < cap_managed.assembly_count && i < CAP_ASSEMBLIES; i++) {
        uint8_t *e = extend(b, RECORD_ASSEMBLY_BYTES);
        if (e == NULL)
            break;
        put32(e + RECORD_A_MODULE, cap_managed.assemblies[i].module >= 0
                                       ? (uint32_t)cap_managed.assemblies[i].module
                                       : RECORD_NO_MODULE);
        cap_crash_copy(e + RECORD_A_MVID, cap_managed.assemblies[i].mvid, 16);
        count++;
    }
    if (start != NULL)
        section_end(b, start, count);
}

static void build_methods(struct buffer *b)
{
    uint32_t count = 0;
    uint8_t *start = method_count() > 0 ? section_start(b, RECORD_SECTION_METHODS) : NULL;
    for (LONG i = 0; start != NULL && i < method_count(); i++) {
        const struct cap_method *method = method_at(i);
        const uint32_t types_at =
            RECORD_METHOD_BYTES + (method != NULL ? method->map_count * RECORD_MAP_BYTES : 0);
        const uint32_t bytes = types_at + (method != NULL ? padded(method->types_bytes) : 0);
        uint8_t *e = method != NULL ? extend(b, bytes) : NULL;
        if (e == NULL)
            continue;
        put32(e + RECORD_D_ENTRY_BYTES, bytes);
        put32(e + RECORD_D_TOKEN, method->token);
        put64(e + RECORD_D_START, method->start_va);
        put64(e + RECORD_D_CODE_BYTES, method->code_bytes);
        put32(e + RECORD_D_ASSEMBLY, method->assembly - 1); /* 0: RECORD_NO_MODULE */
        put32(e + RECORD_D_MAP_COUNT, method->map_count);
        for (uint32_t k = 0; k < method->map_count; k++) {
            const struct capture_il *il = &cap_managed.maps[method->map + k];
            uint8_t *at = e + RECORD_METHOD_BYTES + (size_t)k * RECORD_MAP_BYTES;
            put32(at, il->native_offset);
            put32(at + 4, il->il_offset);
        }
        cap_crash_copy(e + types_at, &cap_managed.types[method->types], method->types_bytes);
        count++;
    }
    if (start != NULL)
        section_end(b, start, count);
}

#if defined(_WIN64)
static uint32_t build_managed_functions(struct buffer *b)
{
    uint32_t count = 0;
    for (LONG i = 0; i < cap_managed.function_count && i < CAP_MANAGED_FUNCTIONS; i++) {
        const struct cap_function *function = &cap_managed.functions[i];
        uint8_t *e = function->base_va != 0 ? extend(b, RECORD_FUNCTION_BYTES) : NULL;
        if (e == NULL)
            continue;
        put64(e + RECORD_N_BASE, function->base_va);
        put32(e + RECORD_N_BEGIN, function->entry.BeginAddress);
        put32(e + RECORD_N_END, function->entry.EndAddress);
        put32(e + RECORD_N_UNWIND, function->entry.UnwindData);
        count++;
    }
    return count;
}
#else
static uint32_t build_managed_functions(struct buffer *b)
{
    (void)b;
    return 0;
}
#endif

static bool has_generated(void)
{
    return cap.code_count > 0 || cap_managed.function_count > 0;
}

static void build_functions(struct buffer *b)
{
    uint8_t *start = has_generated() ? section_start(b, RECORD_SECTION_FUNCTIONS) : NULL;
    uint32_t count = start != NULL ? build_managed_functions(b) : 0;
    for (LONG i = 0; start != NULL && i < cap.code_count && i < CAP_CODE_MAPS; i++) {
        const struct cap_code *code = code_at(i);
        uint8_t *e =
            code != NULL && code->unwind_rva != 0 ? extend(b, RECORD_FUNCTION_BYTES) : NULL;
        if (e == NULL)
            continue;
        put64(e + RECORD_N_BASE, code->base_va);
        put32(e + RECORD_N_BEGIN, code->begin_rva);
        put32(e + RECORD_N_END, code->end_rva);
        put32(e + RECORD_N_UNWIND, code->unwind_rva);
        count++;
    }
    if (start != NULL)
        section_end(b, start, count);
}

/* Returns how many entries were added: one or none. */
static uint32_t add_memory(struct buffer *b, uint64_t va, uint32_t bytes)
{
    const uint32_t used = b->used, entry_bytes = padded(RECORD_MEMORY_BYTES + bytes);
    uint8_t *e = extend(b, entry_bytes);
    /* The program may have freed it; then there are no bytes. */
    if (e == NULL || !cap_crash_copy_guarded(e + RECORD_MEMORY_BYTES, va, bytes)) {
        b->used = used;
        return 0;
    }
    put32(e + RECORD_Y_ENTRY_BYTES, entry_bytes);
    put32(e + RECORD_Y_BYTES, bytes);
    put64(e + RECORD_Y_VA, va);
    return 1;
}

/* UNWIND_INFO: 4 bytes of head, an even number of 2-byte slots, a handler's address. */
static uint32_t add_unwind_info(struct buffer *b, uint64_t base_va, uint32_t unwind_rva)
{
    uint8_t head[4];
    const uint64_t va = base_va + unwind_rva;
    if (unwind_rva == 0 || !cap_crash_copy_guarded(head, va, sizeof head))
        return 0;
    return add_memory(b, va, 4 + ((head[2] + 1u) & ~1u) * 2 + 4);
}

static uint32_t add_managed_memory(struct buffer *b)
{
    uint32_t count = 0;
#if defined(_WIN64)
    for (LONG i = 0; i < cap_managed.function_count && i < CAP_MANAGED_FUNCTIONS; i++)
        count += add_unwind_info(b, cap_managed.functions[i].base_va,
                                 cap_managed.functions[i].entry.UnwindData);
#endif
    for (LONG i = 0; i < method_count(); i++) {
        const struct cap_method *method = method_at(i);
        if (method != NULL)
            count += add_memory(b, method->start_va,
                                method->code_bytes < CAP_CODE_BYTES ? (uint32_t)method->code_bytes
                                                                    : (uint32_t)CAP_CODE_BYTES);
    }
    return count;
}

static void build_code_memory(struct buffer *b)
{
    uint8_t *start = has_generated() ? section_start(b, RECORD_SECTION_MEMORY) : NULL;
    uint32_t count = start != NULL ? add_managed_memory(b) : 0;
    for (LONG i = 0; start != NULL && i < cap.code_count && i < CAP_CODE_MAPS; i++) {
        const struct cap_code *code = code_at(i);
        if (code == NULL)
            continue;
        const uint64_t bytes =
            code->code_bytes < CAP_CODE_BYTES ? code->code_bytes : CAP_CODE_BYTES;
        count += add_memory(b, code->start_va, (uint32_t)bytes) +
                 add_unwind_info(b, code->base_va, code->unwind_rva);
    }
    if (start != NULL)
        section_end(b, start, count);
}

static uint32_t code_left_out(const struct buffer *b)
{
    return b->left_out + (uint32_t)cap_managed.left_out;
}

/* ---- buffers to disk ---- */

/* False: the disk is full, for example. */
static bool write_at(uint64_t offset, const void *from, uint32_t bytes)
{
    OVERLAPPED where = {0};
    DWORD done = 0;
    where.Offset = (DWORD)offset;
    where.OffsetHigh = (DWORD)(offset >> 32);
    return WriteFile(cap.record, from, bytes, &done, &where) && done == bytes;
}

static bool write_header(void)
{
    put64(header + RECORD_H_COMMITTED, cap.record_bytes);
    return write_at(0, header, sizeof header);
}

/* What does not fit on the disk is left out; a later, smaller section may fit. */
static void append(struct buffer *b)
{
    const bool is_first = cap.record_bytes == RECORD_HEADER_BYTES;
    if (b->used != 0 && write_at(cap.record_bytes, b->at, b->used)) {
        cap.record_bytes += b->used;
        if (write_header() && is_first) /* it has content, so it must outlive the process */
            (void)cap_crash_file_keep(cap.record, true);
    }
    b->used = 0;
}

void cap_crash_record_begin(uint32_t kind, uint32_t thread_id, const EXCEPTION_RECORD *exception,
                            uint32_t hooks)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    cap_crash_clear(header, sizeof header);
    cap_crash_copy(header, RECORD_MAGIC, 8);
    put32(header + RECORD_H_VERSION, RECORD_VERSION);
    put32(header + RECORD_H_HEADER_BYTES, RECORD_HEADER_BYTES);
#if defined(_WIN64)
    put32(header + RECORD_H_MACHINE, IMAGE_FILE_MACHINE_AMD64);
#else
    put32(header + RECORD_H_MACHINE, IMAGE_FILE_MACHINE_I386);
#endif
    put32(header + RECORD_H_KIND, kind);
    put32(header + RECORD_H_PROCESS, cap.process_id);
    put32(header + RECORD_H_SUSPECT, thread_id);
    if (exception != NULL) {
        put32(header + RECORD_H_CODE, exception->ExceptionCode);
        put32(header + RECORD_H_FLAGS, exception->ExceptionFlags);
        put64(header + RECORD_H_ADDRESS, (uintptr_t)exception->ExceptionAddress);
        for (DWORD i = 0; i < 2 && i < exception->NumberParameters; i++)
            put64(header + RECORD_H_INFO0 + 8 * i, exception->ExceptionInformation[i]);
    }
    put64(header + RECORD_H_STARTED, (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime);
    put32(header + RECORD_H_POINTER_BYTES, sizeof(void *));
    put32(header + RECORD_H_WRITER, cap.writer);
    put32(header + RECORD_H_HOOKS, hooks);
    if (cap.record_bytes > RECORD_HEADER_BYTES) { /* flushed before: this record replaces it */
        SetFilePointer(cap.record, RECORD_HEADER_BYTES, NULL, FILE_BEGIN);
        SetEndOfFile(cap.record);
    }
    cap.record_bytes = RECORD_HEADER_BYTES;
    (void)write_header();
}

void cap_crash_record_modules(void)
{
    const uint64_t start_ns = cap_crash_now_ns();
    build_modules(&section);
    const uint32_t bytes = section.used;
    const uint64_t built_ns = cap_crash_now_ns();
    append(&section);
    cap_crash_record_timing(RECORD_STAGE_MODULES, 0, built_ns - start_ns, bytes);
}

void cap_crash_record_threads(const struct cap_thread *threads, uint32_t count)
{
    threads_seen_count = count < CAP_THREADS ? count : CAP_THREADS;
    cap_crash_copy(threads_seen, threads, threads_seen_count * sizeof threads[0]);
    build_threads(&section);
    append(&section);
}

void cap_crash_record_stack(const struct cap_walk *walk)
{
    build_stack(&section, walk);
    append(&section);
}

void cap_crash_record_code_map(void)
{
    build_code_map(&section);
    build_assemblies(&section);
    build_methods(&section);
    put32(header + RECORD_H_CODE_LEFT_OUT, code_left_out(&section));
    append(&section);
}

/* In sections of about CAPTURES_BYTES, since a ring may be larger than our memory. */
void cap_crash_record_captures(void)
{
    static uint64_t words[CAP_CAPTURE_WORDS];
    uint64_t cursor = 0, asked = 0, cost_ns = 0, dearest_ns = 0;
    bool more = cap_crash_ring_totals(&asked, &cost_ns, &dearest_ns);
    while (more) {
        uint32_t count = 0, used = 0;
        uint8_t *start = section_start(&section, RECORD_SECTION_CAPTURES);
        (void)extend(&section, RECORD_CAPTURES_BYTES - RECORD_SECTION_HEADER_BYTES);
        put64(start + RECORD_N_ASKED, asked);
        put64(start + RECORD_N_COST, cost_ns);
        put64(start + RECORD_N_DEAREST, dearest_ns);
        while (section.used < CAPTURES_BYTES &&
               (more = (used = cap_crash_ring_read(&cursor, words)) > 0)) {
            cap_crash_copy(extend(&section, used * 8), words, used * 8);
            count++;
        }
        section_end(&section, start, count);
        append(&section);
    }
}

void cap_crash_record_timing(uint32_t stage, uint32_t walker, uint64_t ns, uint64_t bytes)
{
    uint8_t *start = section_start(&section, RECORD_SECTION_TIMING);
    uint8_t *e = extend(&section, RECORD_TIMING_BYTES);
    if (start == NULL || e == NULL)
        return;
    put32(e + RECORD_G_STAGE, stage);
    put32(e + RECORD_G_WALKER, walker);
    put64(e + RECORD_G_NS, ns);
    put64(e + RECORD_G_BYTES, bytes);
    section_end(&section, start, 1);
    append(&section);
}

void cap_crash_record_stops(const struct cap_stops *stops, uint32_t samples,
                            uint32_t left_suspended)
{
    put64(header + RECORD_H_STOP_COPY, stops->copy_ns);
    put64(header + RECORD_H_STOP_RTL, stops->rtl_ns);
    put64(header + RECORD_H_STOP_DUMP, stops->dump_ns);
    put32(header + RECORD_H_SAMPLES, samples);
    put32(header + RECORD_H_LEFT_SUSPENDED, left_suspended);
    (void)write_header();
}

const void *cap_crash_dump_stream(uint32_t *bytes)
{
    struct buffer stream = {stream_memory, 0, sizeof stream_memory, 0};
    uint8_t *copy = extend(&stream, RECORD_HEADER_BYTES);
    cap_crash_copy(copy, header, RECORD_HEADER_BYTES);
    build_threads(&stream);
    build_modules(&stream);
    build_code_map(&stream);
    build_assemblies(&stream);
    build_methods(&stream);
    build_functions(&stream);
    build_code_memory(&stream);
    put32(copy + RECORD_H_CODE_LEFT_OUT, code_left_out(&stream));
    put64(copy + RECORD_H_COMMITTED, stream.used);
    *bytes = stream.used;
    return stream_memory;
}
