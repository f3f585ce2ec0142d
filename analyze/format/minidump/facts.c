/* The streams of a minidump that state facts: exception, system, process, handles.
 *
 *   EXCEPTION (168)          SYSTEM INFO (56)        MISC INFO (24, 44, 232, 832, 1364)
 *   thread id          0     architecture      0     bytes             0
 *   code               8     level, revision   2     flags             4
 *   flags             12     processors        6     process id        8
 *   nested record     16     product type      7     times            12
 *   address           24     version           8     MHz              24
 *   parameter count   32     platform         20     integrity ...    44
 *   parameters        40     service pack     24     time zone        56
 *   context place    160     suite            28     build           232
 *                            CPU              32     debugger build  752
 *                                                    xstate          832
 *                                                    cookie         1360
 */
#include <string.h>

#include "base/limits.h"
#include "format/minidump/parts.h"

enum { XSTATE_CET_U = 11 }; /* number of the XSAVE feature */

void minidump_read_exception(struct minidump_reader *m, struct bytes r)
{
    struct minidump_exception *out = &m->out->exception;
    out->thread_id = bytes_u32(&r);
    bytes_skip(&r, 4);
    out->code = bytes_u32(&r);
    out->flags = bytes_u32(&r);
    out->record_va = bytes_u64(&r);
    out->address_va = bytes_u64(&r);
    out->info_count = bytes_u32(&r);
    bytes_skip(&r, 4);
    for (size_t i = 0; i < 15; i++)
        out->info[i] = bytes_u64(&r);
    if (out->info_count > 15) {
        (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "number of exception parameters");
        out->info_count = 15;
    }
    out->context = minidump_location(m, &r, "context of the exception");
    out->present = !bytes_failed(&r);
}

static enum cpu cpu_of(uint16_t architecture)
{
    switch (architecture) {
    case 0:  /* PROCESSOR_ARCHITECTURE_INTEL */
    case 10: /* IA32_ON_WIN64 */
        return CPU_X86;
    case 9: /* AMD64 */
        return CPU_X64;
    case 12:     /* ARM64 */
    case 0x8003: /* Breakpad's older number for it */
        return CPU_ARM64;
    default:
        return CPU_UNKNOWN;
    }
}

void minidump_read_system(struct minidump_reader *m, struct bytes r)
{
    struct minidump_system *out = &m->out->system;
    out->architecture = bytes_u16(&r);
    out->level = bytes_u16(&r);
    out->revision = bytes_u16(&r);
    out->processors = bytes_u8(&r);
    out->product_type = bytes_u8(&r);
    out->major = bytes_u32(&r);
    out->minor = bytes_u32(&r);
    out->build = bytes_u32(&r);
    out->platform = bytes_u32(&r);
    uint32_t service_pack = bytes_u32(&r);
    out->suite = bytes_u16(&r);
    bytes_skip(&r, 2);
    m->out->dump_cpu = cpu_of(out->architecture);
    if (bytes_failed(&r))
        return;
    out->present = true;
    out->service_pack = minidump_string(m, service_pack, "service pack");
    if (out->service_pack != NULL && out->service_pack[0] == '\0')
        out->service_pack = NULL;
    if (m->out->dump_cpu != CPU_X86 && r.left >= 16) {
        out->processor_features[0] = bytes_u64(&r);
        out->processor_features[1] = bytes_u64(&r);
    } else if (r.left >= 24) {
        memcpy(out->vendor, bytes_take(&r, 12), 12);
        for (size_t i = 0; i < 3; i++)
            out->cpu_features[i] = bytes_u32(&r);
    }
}

void minidump_read_misc(struct minidump_reader *m, struct bytes r)
{
    struct minidump_misc *out = &m->out->misc;
    struct bytes whole = r;
    out->bytes = bytes_u32(&r);
    out->flags = bytes_u32(&r);
    out->process_id = bytes_u32(&r);
    out->create_time = bytes_u32(&r);
    out->user_s = bytes_u32(&r);
    out->kernel_s = bytes_u32(&r);
    out->present = !bytes_failed(&r);
    uint64_t have = out->bytes < whole.left ? out->bytes : whole.left;
    if (have >= 44) {
        out->max_mhz = bytes_u32(&r);
        out->current_mhz = bytes_u32(&r);
        out->limit_mhz = bytes_u32(&r);
        bytes_skip(&r, 8);
    }
    if (have >= 232) {
        out->integrity_level = bytes_u32(&r);
        out->execute_flags = bytes_u32(&r);
        out->protected_process = bytes_u32(&r);
        bytes_skip(&r, 4);
        out->bias_minutes = (int32_t)bytes_u32(&r);
        out->time_zone = minidump_utf16(m, &r, 64);
    }
    if (have >= 832) {
        struct bytes builds = bytes_window(&whole, 232, 600);
        out->build = minidump_utf16(m, &builds, 520);
        out->debugger_build = minidump_utf16(m, &builds, 80);
    }
    if (have >= 1364) {
        struct bytes late = bytes_window(&whole, 840, 524);
        out->xstate_features = bytes_u64(&late);
        bytes_skip(&late, (uint64_t)XSTATE_CET_U * 8);
        out->xstate_cet_offset = bytes_u32(&late);
        bytes_skip(&late, 512 - XSTATE_CET_U * 8 - 4);
        out->process_cookie = bytes_u32(&late);
    }
}

void minidump_read_handles(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    struct bytes whole = r;
    uint32_t header = bytes_u32(&r), entry_bytes = bytes_u32(&r), count = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 16 || header > whole.left || entry_bytes < 32) {
        (void)fault_set(m->damage, ERR_MALFORMED, whole.offset, "handle data header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, entry_bytes);
    out->handles = minidump_array(m, count, sizeof(*out->handles));
    if (out->handles == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_handle *handle = &out->handles[i];
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        handle->handle = bytes_u64(&entry);
        handle->type = minidump_string(m, bytes_u32(&entry), "type of a handle");
        handle->name = minidump_string(m, bytes_u32(&entry), "name of a handle");
        handle->attributes = bytes_u32(&entry);
        handle->access = bytes_u32(&entry);
        handle->handle_count = bytes_u32(&entry);
        handle->pointer_count = bytes_u32(&entry);
    }
    out->handle_count = count;
}

/* Header of 24 bytes and its padding, then for each table: 32 bytes, the system's own descriptor,
 * entries. */
void minidump_read_tables(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    struct bytes whole = r;
    uint32_t header = bytes_u32(&r), descriptor = bytes_u32(&r), native = bytes_u32(&r);
    uint32_t entry_bytes = bytes_u32(&r), count = bytes_u32(&r), head_pad = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 24 || header > whole.left || descriptor < 32 || entry_bytes < 8) {
        (void)fault_set(m->damage, ERR_MALFORMED, whole.offset, "function table header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    bytes_skip(&r, head_pad);
    count = bytes_count(&r, count, descriptor);
    out->tables = minidump_array(m, count, sizeof(*out->tables));
    if (out->tables == NULL)
        return;
    for (uint32_t i = 0; i < count && !bytes_failed(&r); i++) {
        struct minidump_function_table table = {.entry_bytes = entry_bytes};
        struct bytes head = bytes_window(&r, 0, descriptor);
        table.start_va = bytes_u64(&head);
        table.end_va = bytes_u64(&head);
        table.base_va = bytes_u64(&head);
        table.entry_count = bytes_u32(&head);
        uint32_t pad = bytes_u32(&head);
        bytes_skip(&r, descriptor);
        bytes_skip(&r, native);
        table.entry_count = bytes_count(&r, table.entry_count, entry_bytes);
        table.entries.foff = r.offset;
        table.entries.bytes = (uint64_t)table.entry_count * entry_bytes;
        bytes_skip(&r, table.entries.bytes);
        bytes_skip(&r, pad);
        if (!bytes_failed(&r))
            out->tables[out->table_count++] = table;
    }
}

void minidump_read_tokens(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    struct bytes whole = r;
    (void)bytes_u32(&r); /* list bytes: the directory says so too */
    uint32_t count = bytes_u32(&r), header = bytes_u32(&r), head_bytes = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 16 || header > whole.left || head_bytes < 16) {
        (void)fault_set(m->damage, ERR_MALFORMED, whole.offset, "token list header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, head_bytes);
    out->tokens = minidump_array(m, count, sizeof(*out->tokens));
    if (out->tokens == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes head = bytes_window(&r, 0, head_bytes);
        struct minidump_token token;
        token.bytes = bytes_u32(&head);
        token.id = bytes_u32(&head);
        token.handle = bytes_u64(&head);
        if (token.bytes < head_bytes) {
            (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "token bytes");
            return;
        }
        bytes_skip(&r, token.bytes);
        if (bytes_failed(&r))
            return;
        out->tokens[out->token_count++] = token;
    }
}

/* MINIDUMP_SYSTEM_MEMORY_INFO_1: basic information at 4, performance at 116. */
void minidump_read_system_memory(struct minidump_reader *m, struct bytes r)
{
    struct minidump_system_memory *out = &m->out->system_memory;
    bytes_skip(&r, 8);
    out->page_bytes = bytes_u32(&r);
    out->physical_pages = bytes_u32(&r);
    bytes_skip(&r, 116 - 16);
    out->available_pages = bytes_u64(&r);
    out->committed_pages = bytes_u64(&r);
    out->commit_limit_pages = bytes_u64(&r);
    out->present = !bytes_failed(&r);
}

void minidump_read_vm_counters(struct minidump_reader *m, struct bytes r)
{
    struct minidump_vm_counters *out = &m->out->vm_counters;
    out->revision = bytes_u16(&r);
    bytes_skip(&r, 2);
    out->page_faults = bytes_u32(&r);
    out->peak_working_set_bytes = bytes_u64(&r);
    out->working_set_bytes = bytes_u64(&r);
    bytes_skip(&r, 32);
    out->pagefile_bytes = bytes_u64(&r);
    out->peak_pagefile_bytes = bytes_u64(&r);
    if (out->revision >= 2) { /* the second revision put two fields before the last */
        bytes_skip(&r, 8);
        out->virtual_bytes = bytes_u64(&r);
    }
    out->private_bytes = bytes_u64(&r);
    out->present = !bytes_failed(&r);
}

/* Of a dump with both comments the wide one is told: it lost no letters. */
void minidump_read_comment_a(struct minidump_reader *m, struct bytes r)
{
    m->not_told = m->out->comment != NULL;
    if (!m->not_told && minidump_spend_text(m, r.left, r.offset))
        m->out->comment = arena_text(m->keep, (const char *)r.at, r.left);
}

void minidump_read_comment_w(struct minidump_reader *m, struct bytes r)
{
    m->out->comment = minidump_utf16(m, &r, r.left);
}
