/* Reads a minidump: header, directory, and each stream by the table of streams.c. */
#include "format/minidump/minidump.h"

#include "base/text.h"
#include "format/minidump/streams.h"

enum {
    MINIDUMP_MAGIC = 0x504d444d,
    MINIDUMP_VERSION = 0xa793,
    VALUES_MAX = 4 << 20,      /* 32 bytes each; and no more than the file has bytes   */
    TEXT_FILE_BYTES = 1 << 28, /* in larger files the rest is memory, not text */
};

/* Reads the first stream of KIND, if there is one. Its fault is either the reader's own or the
 * damage noted during reading. */
static void read_stream(struct minidump_reader *m, const struct minidump_stream_kind *kind)
{
    struct minidump *out = m->out;
    for (uint32_t i = 0; i < out->stream_count; i++) {
        struct minidump_stream *stream = &out->streams[i];
        if (stream->type != kind->type || stream->fault.code != ERR_NONE)
            continue;
        struct fault fault = FAULT_INIT;
        m->damage = &stream->fault;
        m->stream_name = kind->name;
        m->superseded = false;
        kind->read(m, minidump_at(out, stream->place, &fault));
        stream->json_member = m->superseded ? NULL : kind->json_member;
        if (fault.code != ERR_NONE)
            (void)fault_set_lasting(&stream->fault, fault.code, fault.offset, fault.what, NULL);
        return;
    }
}

/* Files that are called dumps but are not minidumps get their own message. */
static enum status refuse_magic(uint32_t magic, struct fault *fault)
{
    static const struct {
        uint32_t magic;
        const char *hint;
    } known[] = {
        {0x45474150, "this is a dump of the Windows kernel or of all memory, not of a process"},
        {0x4d444d50, "this minidump is big-endian, from a PowerPC Mac; such are not read"},
        {0x464c457f, "this is an ELF core file, not a minidump"},
        {0xfeedfacf, "this is a Mach-O core file, not a minidump"},
        {0x4643534d, "this is a cabinet (.cab): unpack the dump that it holds"},
        {0x04034b50, "this is a zip file: unpack the dump that it holds"},
        {0xfd2fb528, "this file is packed by zstd: unpack it"},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i].magic == magic)
            return fault_set_lasting(fault, ERR_UNSUPPORTED, 0, "minidump signature",
                                     known[i].hint);
    return fault_set_hint(fault, ERR_MALFORMED, 0, "minidump signature",
                          "this is not a minidump (.dmp) file");
}

/* Windows CE dumps (context, system or complete): the same header and directory with other
 * signatures and version numbers, and with their own streams. */
static bool is_ce_magic(uint32_t magic)
{
    return magic == 0x58444543 || magic == 0x53444543 || magic == 0x43444543; /* "CEDX" ... */
}

static enum status read_directory(struct minidump_reader *m, struct bytes whole)
{
    struct minidump *out = m->out;
    struct bytes r = whole;
    uint32_t magic = bytes_u32(&r);
    const bool of_ce = is_ce_magic(magic);
    if (magic != MINIDUMP_MAGIC && !of_ce && !bytes_failed(&r))
        return refuse_magic(magic, r.fault);
    out->version = bytes_u32(&r);
    uint32_t count = bytes_u32(&r), directory = bytes_u32(&r);
    out->checksum = bytes_u32(&r);
    out->timestamp = bytes_u32(&r);
    out->flags = bytes_u64(&r);
    if (bytes_failed(&r))
        return r.fault->code;
    if ((out->version & 0xffff) != MINIDUMP_VERSION && !of_ce)
        return fault_set(r.fault, ERR_MALFORMED, 4, "minidump version");
    if (directory > whole.left)
        return fault_set(r.fault, ERR_TRUNCATED, directory, "minidump directory");
    r = bytes_window(&whole, directory, whole.left - directory);
    count = bytes_count(&r, count, 12);
    if (bytes_failed(&r))
        return r.fault->code;
    out->streams = arena_array(m->keep, count + 1, sizeof(*out->streams));
    if (out->streams == NULL)
        return fault_no_memory(r.fault, "minidump directory");
    out->stream_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_stream *stream = &out->streams[i];
        uint64_t at = r.offset;
        stream->fault = (struct fault)FAULT_INIT;
        stream->type = bytes_u32(&r);
        stream->place.bytes = bytes_u32(&r);
        stream->place.foff = bytes_u32(&r);
        if (stream->type != STREAM_UNUSED &&
            !minidump_place_fits(out, stream->place.foff, stream->place.bytes)) {
            (void)fault_set(&stream->fault, ERR_TRUNCATED, at, "minidump stream past the end");
            stream->place = (struct minidump_place){0, 0};
        }
    }
    return r.fault->code;
}

static bool is_wow64(const struct minidump *dump)
{
    if (dump->dump_cpu != CPU_X64)
        return false;
    for (uint32_t i = 0; i < dump->module_count; i++) {
        const char *name = dump->modules[i].module.name;
        if (name != NULL &&
            (text_equal_nocase(name, "wow64.dll") || text_equal_nocase(name, "wow64cpu.dll")))
            return true;
    }
    return false;
}

/* Adds thread names and roles that only our own user stream has. */
static void take_user_threads(struct minidump *dump)
{
    if (dump->user == NULL)
        return;
    for (uint32_t i = 0; i < dump->thread_count; i++) {
        struct minidump_thread *thread = &dump->threads[i];
        const struct record_thread *known = record_thread_find(dump->user, thread->id);
        if (known == NULL)
            continue;
        if (thread->name == NULL)
            thread->name = known->name;
        thread->role = record_thread_role(dump->user, known);
    }
}

static uint64_t text_budget(uint64_t bytes)
{
    return ((uint64_t)4 << 20) + 2 * (bytes < TEXT_FILE_BYTES ? bytes : TEXT_FILE_BYTES);
}

static enum status sum_faults(struct minidump *dump, struct fault *fault)
{
    for (uint32_t i = 0; i < dump->stream_count; i++) {
        if (dump->streams[i].fault.code == ERR_MEMORY)
            return fault_no_memory(fault, "minidump");
        dump->partial |= dump->streams[i].fault.code != ERR_NONE;
    }
    return ERR_NONE;
}

enum status minidump_read(const void *data, size_t bytes, struct arena *keep, struct minidump *out,
                          struct fault *fault)
{
    *out = (struct minidump){.data = data, .data_bytes = bytes};
    struct minidump_reader m = {
        .out = out, .keep = keep, .scratch = FAULT_INIT, .text_budget = text_budget(bytes)};
    enum status status = read_directory(&m, bytes_over(data, bytes, fault));
    if (status != ERR_NONE)
        return status;
    for (size_t i = 0; i < minidump_stream_kind_count; i++)
        if (minidump_stream_kinds[i].read != NULL)
            read_stream(&m, &minidump_stream_kinds[i]);
    if (minidump_sort_memory(out, keep) != ERR_NONE)
        return fault_no_memory(fault, "minidump");
    take_user_threads(out);
    if (!out->system.present) /* a truncated dump, or a writer that stores only threads */
        out->dump_cpu = minidump_context_cpu(out, out->thread_count > 0 ? out->threads[0].context
                                                                        : out->exception.context);
    out->cpu = is_wow64(out) ? CPU_X86 : out->dump_cpu;
    return sum_faults(out, fault);
}

enum status minidump_read_details(struct minidump *dump, struct arena *keep, struct fault *fault)
{
    struct minidump_reader m = {.out = dump,
                                .keep = keep,
                                .scratch = FAULT_INIT,
                                .text_budget = text_budget(dump->data_bytes),
                                .value_budget = dump->data_bytes};
    if (m.value_budget > VALUES_MAX)
        m.value_budget = VALUES_MAX;
    minidump_detail_streams(&m);
    return sum_faults(dump, fault);
}
