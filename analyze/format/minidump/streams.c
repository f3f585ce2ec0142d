/* The table of all kinds of streams, and the streams that no reader has a struct for.
 *
 * Numbers: MINIDUMP_STREAM_TYPE of Microsoft's minidumpapiset.h, Windows CE's among them; then
 * Wine's dbghelp, Crashpad's minidump_extensions.h, Breakpad's minidump_format.h, and Mozilla's, as
 * rust-minidump's minidump-common has them. Rows without a reader or a function for details are
 * shown as bytes, like all streams that are not in this table: those that have no published layout,
 * and Windows CE's, of which no dump was ever seen. */
#include "format/minidump/streams.h"
#include "base/text.h"

const struct minidump_stream_kind minidump_stream_kinds[] = {
    {STREAM_UNUSED, "Unused", NULL, NULL, NULL},
    {1, "Reserved0", NULL, NULL, NULL},
    {2, "Reserved1", NULL, NULL, NULL},
    {STREAM_SYSTEM_INFO, "SystemInfo", "system", minidump_read_system, NULL},
    {STREAM_MISC_INFO, "MiscInfo", "process", minidump_read_misc, minidump_detail_misc},
    {STREAM_MODULE_LIST, "ModuleList", "modules", minidump_read_modules, NULL},
    {STREAM_UNLOADED_MODULE_LIST, "UnloadedModuleList", "unloaded_modules", minidump_read_unloaded,
     NULL},
    {STREAM_THREAD_LIST, "ThreadList", "threads", minidump_read_threads, NULL},
    {STREAM_THREAD_EX_LIST, "ThreadExList", "threads", minidump_read_threads_ex, NULL},
    {STREAM_THREAD_NAMES, "ThreadNames", "threads", minidump_read_thread_names, NULL},
    {STREAM_THREAD_INFO_LIST, "ThreadInfoList", "threads", minidump_read_thread_infos, NULL},
    {STREAM_MEMORY_LIST, "MemoryList", "memory", minidump_read_memory, NULL},
    {STREAM_MEMORY64_LIST, "Memory64List", "memory", minidump_read_memory64, NULL},
    {STREAM_MEMORY_INFO_LIST, "MemoryInfoList", "memory_regions", minidump_read_regions, NULL},
    {STREAM_EXCEPTION, "Exception", "exception", minidump_read_exception, NULL},
    {STREAM_HANDLE_DATA, "HandleData", "handles", minidump_read_handles,
     minidump_detail_handle_infos},
    {STREAM_HANDLE_OPERATION_LIST, "HandleOperationList", NULL, NULL,
     minidump_detail_handle_operations},
    {STREAM_FUNCTION_TABLE, "FunctionTable", "function_tables", minidump_read_tables,
     minidump_detail_tables},
    {STREAM_TOKEN, "Token", "tokens", minidump_read_tokens, minidump_detail_tokens},
    {STREAM_SYSTEM_MEMORY_INFO, "SystemMemoryInfo", "system_memory", minidump_read_system_memory,
     minidump_detail_system_memory},
    {STREAM_PROCESS_VM_COUNTERS, "ProcessVmCounters", "vm_counters", minidump_read_vm_counters,
     minidump_detail_vm_counters},
    {STREAM_COMMENT_W, "CommentW", "comment", minidump_read_comment_w, NULL},
    {STREAM_COMMENT_A, "CommentA", "comment", minidump_read_comment_a, NULL},
    {STREAM_JAVASCRIPT_DATA, "JavaScriptData", NULL, NULL, NULL},
    {STREAM_IPT_TRACE, "IptTrace", NULL, NULL, NULL},
    {0x8000, "ceNull", NULL, NULL, NULL},
    {0x8001, "ceSystemInfo", NULL, NULL, NULL},
    {0x8002, "ceException", NULL, NULL, NULL},
    {0x8003, "ceModuleList", NULL, NULL, NULL},
    {0x8004, "ceProcessList", NULL, NULL, NULL},
    {0x8005, "ceThreadList", NULL, NULL, NULL},
    {0x8006, "ceThreadContextList", NULL, NULL, NULL},
    {0x8007, "ceThreadCallStackList", NULL, NULL, NULL},
    {0x8008, "ceMemoryVirtualList", NULL, NULL, NULL},
    {0x8009, "ceMemoryPhysicalList", NULL, NULL, NULL},
    {0x800a, "ceBucketParameters", NULL, NULL, NULL},
    {0x800b, "ceProcessModuleMap", NULL, NULL, NULL},
    {0x800c, "ceDiagnosisList", NULL, NULL, NULL},
    {STREAM_WINE_ELF_MODULES, "WineElfModules", NULL, NULL, minidump_detail_wine_modules},
    {STREAM_BREAKPAD_INFO, "BreakpadInfo", "breakpad", minidump_read_breakpad, NULL},
    {STREAM_ASSERTION_INFO, "AssertionInfo", "breakpad", minidump_read_assertion, NULL},
    {STREAM_CRASHPAD_INFO, "CrashpadInfo", "crashpad", minidump_read_crashpad, NULL},
    {STREAM_LINUX_CPU_INFO, "LinuxCpuInfo", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_STATUS, "LinuxProcStatus", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_LSB_RELEASE, "LinuxLsbRelease", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_CMD_LINE, "LinuxCmdLine", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_ENVIRON, "LinuxEnviron", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_AUXV, "LinuxAuxv", NULL, NULL, minidump_detail_auxv},
    {STREAM_LINUX_MAPS, "LinuxMaps", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_DSO_DEBUG, "LinuxDsoDebug", NULL, NULL, minidump_detail_dso},
    {STREAM_LINUX_STAT, "LinuxProcStat", "texts", minidump_read_text, NULL},
    {STREAM_LINUX_UPTIME, "LinuxProcUptime", "texts", minidump_read_text, NULL},
    {0x4767000d, "LinuxProcFd", NULL, NULL, NULL},
    {STREAM_LINUX_LIMITS, "MozLinuxLimits", "texts", minidump_read_text, NULL},
    {STREAM_MAC_CRASH_INFO, "MozMacosCrashInfo", NULL, NULL, minidump_detail_mac_crash},
    {STREAM_MAC_BOOT_ARGS, "MozMacosBootargs", NULL, NULL, minidump_detail_mac_boot},
    {STREAM_SOFT_ERRORS, "MozSoftErrors", "texts", minidump_read_text, NULL},
    {STREAM_SENTRY_STACKS, "SentryStackTraces", NULL, NULL, minidump_detail_sentry_stacks},
    {0x4b6b0002, "StabilityReport", NULL, NULL, NULL},
    {RECORD_DUMP_STREAM, "TwinstackInfo", "capture", minidump_read_user, NULL},
};

const size_t minidump_stream_kind_count = COUNT_OF(minidump_stream_kinds);

const char *minidump_stream_name(uint32_t type)
{
    for (size_t i = 0; i < minidump_stream_kind_count; i++)
        if (minidump_stream_kinds[i].type == type)
            return minidump_stream_kinds[i].name;
    return NULL;
}

static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

/* Charges BYTES to the text budget. Even examining a stream is charged, because many streams may
 * share one place. */
static bool spend(struct minidump_reader *m, uint64_t bytes)
{
    const bool enough = bytes <= m->text_budget;
    m->text_budget -= enough ? bytes : m->text_budget;
    return enough;
}

/* True when COUNT characters followed by REST are text. Some writers store an entire fixed buffer,
 * with leftovers after the text. */
static bool is_text(struct minidump_reader *m, uint64_t count, const uint8_t *rest,
                    uint64_t rest_bytes)
{
    enum { SURELY_TEXT = 16 };
    if (count == 0 || count >= SURELY_TEXT)
        return count > 0;
    if (!spend(m, rest_bytes))
        return false;
    for (uint64_t i = 0; i < rest_bytes; i++)
        if (rest[i] != 0)
            return false;
    return true;
}

/* UTF-8 up to a zero or the end. */
static bool read_utf8(struct minidump_reader *m, struct minidump_stream *stream)
{
    const uint8_t *at = m->out->data + stream->place.foff;
    const uint64_t all = stream->place.bytes;
    uint64_t bytes = 0;
    for (; bytes < all && at[bytes] != 0; bytes++)
        if (!is_printable(at[bytes]) || m->text_budget < bytes)
            break;
    if (!spend(m, bytes) || (bytes < all && at[bytes] != 0) ||
        !is_text(m, bytes, at + bytes, all - bytes))
        return false;
    const char *text = arena_text(m->keep, (const char *)at, (size_t)bytes);
    for (const char *c = text; c != NULL && *c != '\0';) {
        size_t length = text_utf8_length((const unsigned char *)c);
        if (length == 0)
            return false;
        c += length;
    }
    stream->text = text;
    stream->text_bytes = bytes;
    return text != NULL;
}

/* UTF-16 with characters below 0x600, or with a byte order mark; characters above that cannot be
 * distinguished from numbers. */
static bool read_utf16(struct minidump_reader *m, struct minidump_stream *stream)
{
    struct bytes r = minidump_at(m->out, stream->place, &m->scratch);
    const bool marked = r.left >= 2 && load_u16(r.at) == 0xfeff;
    const uint64_t all = r.left / 2;
    uint64_t units = marked;
    for (; units < all && load_u16(r.at + units * 2) != 0; units++) {
        uint32_t c = load_u16(r.at + units * 2);
        if (!is_printable(c) || (!marked && c >= 0x600) || m->text_budget < units * 2)
            break;
    }
    if (!spend(m, units * 2) || (units < all && load_u16(r.at + units * 2) != 0) ||
        !is_text(m, units - marked, r.at + units * 2, r.left - units * 2))
        return false;
    stream->text_bytes = units * 2;
    if (marked)
        bytes_skip(&r, 2);
    stream->text = minidump_utf16(m, &r, (units - marked) * 2);
    return stream->text != NULL;
}

static void read_detail(struct minidump_reader *m, const struct minidump_stream_kind *kind,
                        struct minidump_stream *stream)
{
    struct minidump_value_list list = {.m = m};
    struct fault fault = FAULT_INIT;
    m->damage = &stream->fault;
    kind->detail(&list, minidump_at(m->out, stream->place, &fault));
    if (fault.code != ERR_NONE)
        (void)fault_set_lasting(&stream->fault, fault.code, fault.offset, fault.what, NULL);
    stream->values = list.values;
    stream->value_count = list.count;
}

void minidump_detail_streams(struct minidump_reader *m)
{
    struct minidump *out = m->out;
    for (size_t k = 0; k < minidump_stream_kind_count; k++) {
        const struct minidump_stream_kind *kind = &minidump_stream_kinds[k];
        for (uint32_t i = 0; kind->detail != NULL && i < out->stream_count; i++) {
            struct minidump_stream *stream = &out->streams[i];
            if (stream->type != kind->type || stream->fault.code != ERR_NONE ||
                stream->place.bytes == 0 || (kind->read != NULL && stream->json_member == NULL))
                continue;
            read_detail(m, kind, stream);
            break;
        }
    }
    for (uint32_t i = 0; i < out->stream_count; i++) {
        struct minidump_stream *stream = &out->streams[i];
        if (stream->type == STREAM_UNUSED || stream->place.bytes == 0 ||
            stream->json_member != NULL || stream->value_count > 0)
            continue;
        struct fault ignored = FAULT_INIT; /* text above the limits is shown as bytes */
        m->damage = &ignored;
        if (!read_utf8(m, stream))
            (void)read_utf16(m, stream);
    }
}
