/* See lint.h: what the lists hold. */
#include "format/minidump/lint_rules.h"

#include <inttypes.h>

#include "format/minidump/core.h"

enum { MODULE_BYTES = 108, MODULE_NAME = 20, MODULE_CODEVIEW = 76, UNLOADED_NAME = 20 };
enum { THREAD_BYTES = 48, THREAD_CONTEXT = 40, THREAD_NAME_BYTES = 12, SYSTEM_TEXT = 24 };
enum { MEMORY_BYTES = 16, MEMORY64_HEADER = 16 };

/* ---- texts ---- */

/* The MINIDUMP_STRING at FOFF; STATED_FOFF holds that offset. */
static void check_text(struct lint *l, uint32_t stream_type, uint64_t stated_foff, uint64_t foff,
                       const char *what, uint32_t index)
{
    const struct minidump *dump = l->dump;
    if (foff == 0 || !lint_has_room(l))
        return;
    const bool begins = minidump_place_fits(dump, foff, 4);
    const uint64_t bytes = begins ? load_u32(dump->data + foff) : 0;
    if (!begins || !minidump_place_fits(dump, foff + 4, bytes))
        lint_add(l, LINT_TEXT_PAST_END, stream_type, stated_foff,
                 arena_printf(l->keep,
                              "the %s of entry %" PRIu32 " reaches past the end of the "
                              "file",
                              what, index));
    else if (bytes % 2 != 0)
        lint_add(l, LINT_TEXT_ODD, stream_type, foff,
                 arena_printf(l->keep,
                              "the %s of entry %" PRIu32 " has %" PRIu64 " bytes, which is no "
                              "number of UTF-16 units",
                              what, index, bytes));
    else if (!minidump_place_fits(dump, foff + 4 + bytes, 2) ||
             load_u16(dump->data + foff + 4 + bytes) != 0)
        lint_add(l, LINT_TEXT_NOT_TERMINATED, stream_type, foff + 4 + bytes,
                 arena_printf(l->keep, "no zero ends the %s of entry %" PRIu32, what, index));
}

static uint32_t number_at(const struct minidump *dump, uint64_t foff)
{
    return minidump_place_fits(dump, foff, 4) ? load_u32(dump->data + foff) : 0;
}

static void check_unloaded_texts(struct lint *l)
{
    const struct minidump_stream *stream = lint_stream(l->dump, STREAM_UNLOADED_MODULE_LIST);
    if (stream == NULL)
        return;
    const uint64_t header = number_at(l->dump, stream->place.foff);
    const uint64_t entry = number_at(l->dump, stream->place.foff + 4);
    for (uint32_t i = 0; i < l->dump->unloaded_count; i++) {
        const uint64_t at = stream->place.foff + header + i * entry + UNLOADED_NAME;
        check_text(l, stream->type, at, number_at(l->dump, at), "name", i);
    }
}

static void check_thread_names(struct lint *l)
{
    const struct minidump_stream *stream = lint_stream(l->dump, STREAM_THREAD_NAMES);
    if (stream == NULL || stream->place.bytes < 4)
        return;
    const uint64_t fits = (stream->place.bytes - 4) / THREAD_NAME_BYTES;
    const uint64_t stated = number_at(l->dump, stream->place.foff);
    for (uint32_t i = 0; i < fits && i < stated; i++) {
        const uint64_t at = stream->place.foff + 4 + (uint64_t)i * THREAD_NAME_BYTES + 4;
        if (minidump_place_fits(l->dump, at, 8))
            check_text(l, stream->type, at, load_u64(l->dump->data + at), "name", i);
    }
}

/* The engine reads the name of a module twice as long as it is, and a mapped file ends with its
 * last page. */
static void check_name_at_end(struct lint *l, uint64_t foff, uint32_t index)
{
    enum { PAGE = 4096 };
    const struct minidump *dump = l->dump;
    const uint64_t pages_end = (dump->data_bytes + PAGE - 1) / PAGE * PAGE;
    const uint64_t bytes = number_at(dump, foff);
    if (foff != 0 && minidump_place_fits(dump, foff + 4, bytes) &&
        foff + 4 + 2 * bytes > pages_end && lint_has_room(l))
        lint_add(l, LINT_NAME_AT_END, STREAM_MODULE_LIST, foff,
                 arena_printf(l->keep,
                              "the name of entry %" PRIu32 " has %" PRIu64
                              " bytes, the file's last page ends %" PRIu64 " bytes after it",
                              index, bytes, pages_end - (foff + 4 + bytes)));
}

void lint_texts(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const struct minidump_stream *modules = lint_stream(dump, STREAM_MODULE_LIST);
    const struct minidump_stream *system = lint_stream(dump, STREAM_SYSTEM_INFO);
    for (uint32_t i = 0; modules != NULL && i < dump->module_count; i++) {
        const uint64_t at = lint_row(modules, i, MODULE_BYTES) + MODULE_NAME;
        check_text(l, STREAM_MODULE_LIST, at, number_at(dump, at), "name", i);
        check_name_at_end(l, number_at(dump, at), i);
    }
    if (system != NULL && system->place.bytes >= SYSTEM_TEXT + 4) {
        const uint64_t at = system->place.foff + SYSTEM_TEXT;
        check_text(l, STREAM_SYSTEM_INFO, at, number_at(dump, at), "service pack", 0);
    }
    check_unloaded_texts(l);
    check_thread_names(l);
}

/* ---- modules ---- */

static const char *name_of(const struct minidump_module *module)
{
    return module->module.name != NULL && module->module.name[0] != '\0' ? module->module.name
                                                                         : "a module";
}

/* The record of an RSDS or NB10 ends with the PDB's name and a zero. */
static bool is_terminated(const struct minidump *dump, struct minidump_place place)
{
    return place.bytes > 0 && dump->data[place.foff + place.bytes - 1] == 0;
}

static void check_codeview(struct lint *l, const struct minidump_module *module, uint64_t row)
{
    const struct minidump *dump = l->dump;
    const uint64_t at = row + MODULE_CODEVIEW;
    if (number_at(dump, at) == 0)
        lint_add(l, LINT_NO_CODEVIEW, STREAM_MODULE_LIST, at,
                 arena_printf(l->keep, "%s has no CodeView record", name_of(module)));
    else if (module->codeview_place.bytes == 0)
        lint_add(l, LINT_CODEVIEW_DAMAGED, STREAM_MODULE_LIST, at,
                 arena_printf(l->keep, "the CodeView record of %s reaches past the end of the file",
                              name_of(module)));
    else if (module->codeview == NULL)
        lint_add(l, LINT_CODEVIEW_DAMAGED, STREAM_MODULE_LIST, module->codeview_place.foff,
                 arena_printf(l->keep, "the CodeView record of %s is neither RSDS nor NB10",
                              name_of(module)));
    else if (module->build_id == NULL && !is_terminated(dump, module->codeview_place))
        lint_add(l, LINT_CODEVIEW_DAMAGED, STREAM_MODULE_LIST,
                 module->codeview_place.foff + module->codeview_place.bytes,
                 arena_printf(l->keep, "no zero ends the CodeView record of %s", name_of(module)));
}

void lint_modules(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const struct minidump_stream *stream = lint_stream(dump, STREAM_MODULE_LIST);
    struct lint_range *ranges =
        ARENA_ARRAY(l->keep, (size_t)dump->module_count + 1, struct lint_range);
    if (stream == NULL)
        return;
    if (ranges == NULL) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < dump->module_count; i++) {
        const struct minidump_module *module = &dump->modules[i];
        const uint64_t row = lint_row(stream, i, MODULE_BYTES);
        if (lint_has_room(l))
            check_codeview(l, module, row);
        ranges[i] = (struct lint_range){module->module.base_va, module->module.image_bytes, row,
                                        name_of(module)};
    }
    lint_overlaps(l, LINT_MODULES_OVERLAP, STREAM_MODULE_LIST, ranges, dump->module_count);
}

/* ---- memory ---- */

/* Reads the rows of a list of memory as the file has them; the structs have no overlaps. */
static uint32_t read_ranges(const struct minidump *dump, const struct minidump_stream *stream,
                            struct lint_range *ranges, uint64_t room)
{
    const bool wide = stream->type == STREAM_MEMORY64_LIST;
    const uint64_t header = wide ? MEMORY64_HEADER : 4;
    const uint64_t stated = number_at(dump, stream->place.foff);
    uint32_t count = 0;
    for (uint64_t at = stream->place.foff + header; count < stated && count < room;
         at += MEMORY_BYTES, count++) {
        const uint64_t bytes = wide ? load_u64(dump->data + at + 8) : load_u32(dump->data + at + 8);
        ranges[count] = (struct lint_range){load_u64(dump->data + at), bytes, at, "a range"};
    }
    return count;
}

static void check_memory_places(struct lint *l, const struct minidump_stream *stream,
                                const struct lint_range *ranges, uint32_t count)
{
    const struct minidump *dump = l->dump;
    const bool wide = stream->type == STREAM_MEMORY64_LIST;
    uint64_t next = wide ? load_u64(dump->data + stream->place.foff + 8) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t foff = wide ? next : load_u32(dump->data + ranges[i].stated_foff + 12);
        if (!minidump_place_fits(dump, foff, ranges[i].bytes))
            lint_add(l, LINT_MEMORY_PAST_END, stream->type, ranges[i].stated_foff,
                     lint_has_room(l) ? arena_printf(l->keep,
                                                     "the %" PRIu64 " bytes of 0x%" PRIx64
                                                     " reach past the end of the file",
                                                     ranges[i].bytes, ranges[i].start)
                                      : NULL);
        if (next > UINT64_MAX - ranges[i].bytes)
            return;
        next += ranges[i].bytes;
    }
}

void lint_memory(struct lint *l)
{
    static const uint32_t types[] = {STREAM_MEMORY_LIST, STREAM_MEMORY64_LIST};
    const struct minidump *dump = l->dump;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const struct minidump_stream *stream = lint_stream(dump, types[i]);
        const uint64_t header = types[i] == STREAM_MEMORY64_LIST ? MEMORY64_HEADER : 4;
        if (stream == NULL || stream->place.bytes < header)
            continue;
        const uint64_t room = (stream->place.bytes - header) / MEMORY_BYTES;
        struct lint_range *ranges = ARENA_ARRAY(l->keep, (size_t)room + 1, struct lint_range);
        if (ranges == NULL) {
            l->out_of_memory = true;
            return;
        }
        const uint32_t count = read_ranges(dump, stream, ranges, room);
        check_memory_places(l, stream, ranges, count);
        lint_overlaps(l, LINT_MEMORY_OVERLAP, types[i], ranges, count);
    }
}

/* ---- threads ---- */

/* The least bytes of a CONTEXT; 0: not known. */
static uint32_t context_bytes(enum cpu cpu)
{
    switch (cpu) {
    case CPU_X86:
        return 204; /* WOW64_CONTEXT without ExtendedRegisters */
    case CPU_X64:
        return 1232;
    case CPU_ARM64:
        return 912;
    case CPU_ARM:
        return 416;
    default:
        return 0;
    }
}

static bool has_earlier(const struct minidump *dump, uint32_t index)
{
    return minidump_thread_find(dump, dump->threads[index].id) != &dump->threads[index];
}

enum { THREADS_COMPARED = 4096 };

void lint_threads(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const struct minidump_stream *stream = lint_stream(dump, STREAM_THREAD_LIST);
    const uint32_t least = minidump_is_windows(dump) ? context_bytes(dump->dump_cpu) : 0;
    for (uint32_t i = 0; stream != NULL && i < dump->thread_count && lint_has_room(l); i++) {
        const struct minidump_thread *thread = &dump->threads[i];
        const uint64_t row = lint_row(stream, i, THREAD_BYTES);
        if (thread->context.bytes < least)
            lint_add(l, LINT_CONTEXT_SIZE, STREAM_THREAD_LIST, row + THREAD_CONTEXT,
                     arena_printf(l->keep,
                                  "the context of thread %" PRIu32 " has %" PRIu64
                                  " bytes, its processor's has %" PRIu32,
                                  thread->id, thread->context.bytes, least));
        if (i < THREADS_COMPARED && has_earlier(dump, i))
            lint_add(l, LINT_THREAD_TWICE, STREAM_THREAD_LIST, row,
                     arena_printf(l->keep, "thread %" PRIu32 " is listed before", thread->id));
    }
    if (dump->exception.present && dump->thread_count > 0 &&
        minidump_thread_find(dump, dump->exception.thread_id) == NULL)
        lint_add(l, LINT_EXCEPTION_THREAD, STREAM_EXCEPTION,
                 lint_stream(dump, STREAM_EXCEPTION) != NULL
                     ? lint_stream(dump, STREAM_EXCEPTION)->place.foff
                     : 0,
                 arena_printf(l->keep, "the exception is of thread %" PRIu32 ", which no list has",
                              dump->exception.thread_id));
}
