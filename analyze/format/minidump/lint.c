/* See lint.h: header, directory and the sizes of lists. lint_contents.c has what the lists hold. */
#include "format/minidump/lint_rules.h"

#include <inttypes.h>

#include "format/minidump/core.h"

enum { HEADER_BYTES = 32, ENTRY_BYTES = 12, LAST_RESERVED = 0xffff };

/* ---- directory ---- */

/* The types up to LAST_RESERVED that minidumpapiset.h defines. */
static bool is_published(uint32_t type)
{
    return (type >= STREAM_THREAD_LIST && type <= STREAM_THREAD_NAMES) ||
           (type >= 0x8000 && type <= 0x800c);
}

static bool is_repeated(const struct minidump *dump, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (dump->streams[i].type == dump->streams[index].type)
            return true;
    return false;
}

/* More entries than this are not compared with each other. */
enum { ENTRIES_COMPARED = 4096 };

static void check_entry(struct lint *l, uint32_t index, uint64_t foff)
{
    const struct minidump *dump = l->dump;
    const uint32_t type = dump->streams[index].type;
    const uint32_t bytes = load_u32(dump->data + foff + 4), at = load_u32(dump->data + foff + 8);
    if (type == STREAM_UNUSED)
        return;
    if (!minidump_place_fits(dump, at, bytes))
        lint_add(l, LINT_STREAM_PAST_END, type, foff,
                 arena_printf(l->keep,
                              "the directory states %" PRIu32 " bytes at 0x%" PRIx32
                              ", the file ends at 0x%" PRIx64,
                              bytes, at, dump->data_bytes));
    if (type <= LAST_RESERVED && !is_published(type))
        lint_add(l, LINT_RESERVED_TYPE, type, foff,
                 arena_printf(l->keep,
                              "stream type 0x%" PRIx32 " is reserved for Microsoft; types of "
                              "others begin at 0x10000",
                              type));
    if (index < ENTRIES_COMPARED && is_repeated(dump, index))
        lint_add(
            l, LINT_STREAM_TWICE, type, foff,
            arena_printf(l->keep, "a stream of type 0x%" PRIx32 " comes before this one", type));
}

static void check_directory(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const uint64_t directory = load_u32(dump->data + 12);
    for (uint32_t i = 0; i < dump->stream_count && lint_has_room(l); i++)
        check_entry(l, i, directory + (uint64_t)i * ENTRY_BYTES);
}

static void check_places(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const uint64_t directory = load_u32(dump->data + 12);
    struct lint_range *ranges =
        ARENA_ARRAY(l->keep, (size_t)dump->stream_count + 2, struct lint_range);
    uint32_t count = 0;
    if (ranges == NULL) {
        l->out_of_memory = true;
        return;
    }
    ranges[count++] = (struct lint_range){0, HEADER_BYTES, 0, "the header"};
    ranges[count++] = (struct lint_range){directory, (uint64_t)dump->stream_count * ENTRY_BYTES, 12,
                                          "the directory"};
    for (uint32_t i = 0; i < dump->stream_count; i++) {
        const struct minidump_stream *stream = &dump->streams[i];
        const char *name = minidump_stream_name(stream->type);
        if (stream->type != STREAM_UNUSED && stream->place.bytes > 0)
            ranges[count++] = (struct lint_range){stream->place.foff, stream->place.bytes,
                                                  directory + (uint64_t)i * ENTRY_BYTES,
                                                  name != NULL ? name : "a stream"};
    }
    lint_overlaps(l, LINT_PLACES_OVERLAP, STREAM_UNUSED, ranges, count);
}

/* ---- sizes of lists ---- */

/* How a list states its count: after a number, or in a header that also states its own size and the
 * size of an entry. */
enum list_form { LIST_COUNT_32, LIST_COUNT_64, LIST_SIZED_32, LIST_SIZED_64 };

static const struct {
    uint32_t type;
    enum list_form form;
    uint32_t header, entry; /* bytes; of the sized ones the least */
} lists[] = {
    {STREAM_MODULE_LIST, LIST_COUNT_32, 4, 108},
    {STREAM_THREAD_LIST, LIST_COUNT_32, 4, 48},
    {STREAM_THREAD_EX_LIST, LIST_COUNT_32, 4, 64},
    {STREAM_MEMORY_LIST, LIST_COUNT_32, 4, 16},
    {STREAM_THREAD_NAMES, LIST_COUNT_32, 4, 12},
    {STREAM_MEMORY64_LIST, LIST_COUNT_64, 16, 16},
    {STREAM_UNLOADED_MODULE_LIST, LIST_SIZED_32, 12, 24},
    {STREAM_THREAD_INFO_LIST, LIST_SIZED_32, 12, 64},
    {STREAM_HANDLE_DATA, LIST_SIZED_32, 16, 32},
    {STREAM_HANDLE_OPERATION_LIST, LIST_SIZED_32, 16, 8},
    {STREAM_MEMORY_INFO_LIST, LIST_SIZED_64, 16, 48},
};

/* The bytes that the list's own count makes; false: its header is cut short or states sizes that
 * cannot be. */
static bool wanted_bytes(const struct minidump *dump, const struct minidump_stream *stream,
                         size_t list, uint64_t *entries, uint64_t *bytes)
{
    struct fault fault = FAULT_INIT;
    struct bytes r = minidump_at(dump, stream->place, &fault);
    uint64_t header = lists[list].header, entry = lists[list].entry;
    if (lists[list].form == LIST_SIZED_32 || lists[list].form == LIST_SIZED_64) {
        header = bytes_u32(&r);
        entry = bytes_u32(&r);
    }
    *entries = lists[list].form == LIST_COUNT_64 || lists[list].form == LIST_SIZED_64
                   ? bytes_u64(&r)
                   : bytes_u32(&r);
    if (bytes_failed(&r) || header < lists[list].header || entry < lists[list].entry ||
        *entries > UINT32_MAX)
        return false;
    *bytes = header + *entries * entry;
    return true;
}

static void check_list(struct lint *l, const struct minidump_stream *stream, size_t list,
                       uint64_t foff)
{
    uint64_t entries = 0, bytes = 0;
    if (!wanted_bytes(l->dump, stream, list, &entries, &bytes))
        lint_add(l, LINT_LIST_SIZE, stream->type, stream->place.foff,
                 arena_printf(l->keep, "the list's header states sizes that cannot be"));
    else if (bytes != stream->place.bytes)
        lint_add(l, LINT_LIST_SIZE, stream->type, foff,
                 arena_printf(l->keep,
                              "the directory states %" PRIu64 " bytes, the list's %" PRIu64
                              " entries take %" PRIu64,
                              stream->place.bytes, entries, bytes));
}

static void check_lists(struct lint *l)
{
    const struct minidump *dump = l->dump;
    const uint64_t directory = load_u32(dump->data + 12);
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (uint32_t i = 0; i < dump->stream_count && lint_has_room(l); i++) {
            const struct minidump_stream *stream = &dump->streams[i];
            if (stream->type == lists[k].type && stream->place.bytes > 0)
                check_list(l, stream, k, directory + (uint64_t)i * ENTRY_BYTES + 4);
        }
}

static void check_missing(struct lint *l)
{
    static const struct {
        uint32_t type, or_type;
        const char *text;
    } needed[] = {
        {STREAM_SYSTEM_INFO, 0, "no stream states the processor and the system"},
        {STREAM_THREAD_LIST, STREAM_THREAD_EX_LIST, "no stream lists the threads"},
        {STREAM_MODULE_LIST, 0, "no stream lists the modules"},
        {STREAM_MEMORY_LIST, STREAM_MEMORY64_LIST, "no stream holds memory: there is no stack"},
    };
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (lint_stream(l->dump, needed[i].type) == NULL &&
            (needed[i].or_type == 0 || lint_stream(l->dump, needed[i].or_type) == NULL))
            lint_add(l, LINT_STREAM_MISSING, needed[i].type, 12, needed[i].text);
}

/* ---- all ---- */

enum status minidump_lint(const struct minidump *dump, struct arena *keep,
                          struct minidump_complaints *out, struct fault *fault)
{
    struct lint l = {.dump = dump, .keep = keep, .out = out};
    *out = (struct minidump_complaints){0};
    out->rows = ARENA_ARRAY(keep, LIMIT_COMPLAINTS, struct minidump_complaint);
    if (out->rows == NULL)
        return fault_no_memory(fault, "faults of a dump");
    check_directory(&l);
    check_lists(&l);
    check_missing(&l);
    check_places(&l);
    lint_texts(&l);
    lint_modules(&l);
    lint_memory(&l);
    lint_threads(&l);
    return l.out_of_memory ? fault_no_memory(fault, "faults of a dump") : ERR_NONE;
}

void minidump_lint_write_json(struct json *j, const struct minidump_complaints *complaints)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_uint(j, "left_out", complaints->left_out);
    json_key_array(j, "faults");
    for (uint32_t i = 0; i < complaints->count; i++) {
        const struct minidump_complaint *row = &complaints->rows[i];
        json_object(j);
        json_key_string(j, "rule", row->rule);
        json_key_string(j, "stream", row->stream);
        json_key_hex(j, "offset", row->foff);
        json_key_string(j, "text", row->text);
        json_key_string(j, "windows_debugger", row->effect);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
