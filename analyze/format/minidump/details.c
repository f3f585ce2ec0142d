/* What streams say beyond the struct that minidump.h has for them: all members of the counters,
 * tokens and generated code's entries themselves, and what writers knew of a handle's object. */
#include "base/limits.h"
#include "format/minidump/parts.h"

/* A transition of the time zone: SYSTEMTIME whose year 0 means every year. */
static const struct minidump_field zone_date[] = {
    {"year", FIELD_UINT, 2},   {"month", FIELD_UINT, 2},      {"day_of_week", FIELD_UINT, 2},
    {"day", FIELD_UINT, 2},    {"hour", FIELD_UINT, 2},       {"minute", FIELD_UINT, 2},
    {"second", FIELD_UINT, 2}, {"millisecond", FIELD_UINT, 2}};

static void tell_zone(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field id[] = {{"id", FIELD_UINT, 4}};
    static const char *const names[] = {"standard", "daylight"};
    minidump_tell_object(t, "time_zone");
    minidump_tell_fields(t, &r, id, COUNT_OF(id));
    bytes_skip(&r, 4);
    for (size_t i = 0; i < 2; i++) {
        static const struct minidump_field bias[] = {{"bias_minutes", FIELD_INT, 4}};
        minidump_tell_object(t, names[i]);
        minidump_tell_text(t, "name", minidump_utf16(t->m, &r, 64));
        minidump_tell_record(t, "from", &r, zone_date, COUNT_OF(zone_date));
        minidump_tell_fields(t, &r, bias, COUNT_OF(bias));
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
}

/* What the process's struct leaves out: of MISC INFO from 36, of its third version from 56, of its
 * fifth from 832 on. */
void minidump_tell_misc(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field idle[] = {{"max_idle_state", FIELD_UINT, 4},
                                                 {"current_idle_state", FIELD_UINT, 4}};
    static const struct minidump_field xstate[] = {{"bytes", FIELD_UINT, 4},
                                                   {"context_bytes", FIELD_UINT, 4},
                                                   {"enabled_features", FIELD_HEX, 8}};
    static const struct minidump_field feature[] = {{"offset", FIELD_UINT, 4},
                                                    {"bytes", FIELD_UINT, 4}};
    const uint32_t stated = t->m->out->misc.bytes;
    const uint64_t have = stated < r.left ? stated : r.left;
    if (have < 44)
        return;
    minidump_tell_object(t, NULL);
    struct bytes part = bytes_window(&r, 36, 8);
    minidump_tell_fields(t, &part, idle, COUNT_OF(idle));
    if (have >= 232)
        tell_zone(t, bytes_window(&r, 56, 176));
    if (have >= 1364) {
        part = bytes_window(&r, 832, 528);
        minidump_tell_object(t, "xstate");
        minidump_tell_fields(t, &part, xstate, COUNT_OF(xstate));
        minidump_tell_array(t, "features");
        for (uint64_t left = t->m->out->misc.xstate_features; left != 0; left >>= 1)
            minidump_tell_record(t, NULL, &part, feature, COUNT_OF(feature));
        minidump_tell_end(t);
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
}

/* MINIDUMP_HANDLE_OBJECT_INFORMATION: next, type, bytes; the bytes differ from system to system. */
static void tell_object_infos(struct minidump_teller *t, uint64_t handle, uint32_t foff)
{
    enum { CHAIN_MAX = 16 };
    static const char *const types[] = {"none",    "thread", "mutant",  "mutant",   "process",
                                        "process", "event",  "section", "semaphore"};
    minidump_tell_object(t, NULL);
    minidump_tell_hex(t, "handle", handle);
    minidump_tell_array(t, "object");
    for (uint32_t i = 0; foff != 0; i++) {
        struct bytes r = minidump_from(t->m->out, foff, t->m->damage);
        const uint64_t at = r.offset;
        foff = bytes_u32(&r);
        uint32_t type = bytes_u32(&r), bytes = bytes_u32(&r);
        struct bytes info = bytes_window(&r, 0, bytes);
        if (bytes_failed(&r))
            break;
        if (i == CHAIN_MAX) {
            (void)fault_set(t->m->damage, ERR_LIMIT, at, "information of a handle's object");
            break;
        }
        minidump_tell_object(t, NULL);
        minidump_tell_uint(t, "type", type);
        minidump_tell_text(t, "name", type < COUNT_OF(types) ? types[type] : NULL);
        minidump_tell_bytes(t, "information", info);
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
    minidump_tell_end(t);
}

void minidump_tell_handle_infos(struct minidump_teller *t, struct bytes r)
{
    const struct bytes whole = r;
    uint32_t header = bytes_u32(&r), entry_bytes = bytes_u32(&r), count = bytes_u32(&r);
    if (entry_bytes < 40 || header > whole.left) /* the first version has none */
        return;
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, entry_bytes);
    bool any = false;
    for (uint32_t i = 0; i < count && !t->full; i++) {
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        uint64_t handle = bytes_u64(&entry);
        bytes_skip(&entry, 24);
        uint32_t foff = bytes_u32(&entry);
        if (foff == 0)
            continue;
        if (!any)
            minidump_tell_array(t, NULL);
        any = true;
        tell_object_infos(t, handle, foff);
    }
    if (any)
        minidump_tell_end(t);
}

/* RUNTIME_FUNCTIONs of 12 bytes (x64) or 8 (arm64: their end stands elsewhere). */
void minidump_tell_tables(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field x64[] = {
        {"begin", FIELD_HEX, 4}, {"end", FIELD_HEX, 4}, {"unwind", FIELD_HEX, 4}};
    static const struct minidump_field arm64[] = {{"begin", FIELD_HEX, 4},
                                                  {"unwind", FIELD_HEX, 4}};
    const struct minidump *dump = t->m->out;
    minidump_tell_array(t, NULL);
    for (uint32_t i = 0; i < dump->table_count; i++) {
        const struct minidump_function_table *table = &dump->tables[i];
        minidump_tell_object(t, NULL);
        minidump_tell_hex(t, "start", table->start_va);
        minidump_tell_array(t, "entries");
        r = minidump_at(dump, table->entries, t->m->damage);
        for (uint32_t k = 0; k < table->entry_count && !t->full; k++) {
            struct bytes entry =
                bytes_window(&r, (uint64_t)k * table->entry_bytes, table->entry_bytes);
            if (table->entry_bytes == 12)
                minidump_tell_record(t, NULL, &entry, x64, COUNT_OF(x64));
            else if (table->entry_bytes == 8)
                minidump_tell_record(t, NULL, &entry, arm64, COUNT_OF(arm64));
            else
                minidump_tell_bytes(t, NULL, entry);
        }
        minidump_tell_end(t);
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
}

/* Behind each token's head stand its bytes, as the system's own query gives them. */
void minidump_tell_tokens(struct minidump_teller *t, struct bytes r)
{
    const struct bytes whole = r;
    bytes_skip(&r, 8);
    uint32_t header = bytes_u32(&r), head_bytes = bytes_u32(&r);
    r = bytes_window(&whole, header, whole.left - header);
    minidump_tell_array(t, NULL);
    for (uint32_t i = 0; i < t->m->out->token_count; i++) {
        struct bytes token = bytes_window(&r, 0, t->m->out->tokens[i].bytes);
        bytes_skip(&r, t->m->out->tokens[i].bytes);
        minidump_tell_object(t, NULL);
        minidump_tell_uint(t, "id", t->m->out->tokens[i].id);
        minidump_tell_bytes(t, "token", bytes_window(&token, head_bytes, token.left - head_bytes));
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
}

static const struct minidump_field memory_performance[] = {
    {"idle_process_time", FIELD_UINT, 8},
    {"io_read_transfer_count", FIELD_UINT, 8},
    {"io_write_transfer_count", FIELD_UINT, 8},
    {"io_other_transfer_count", FIELD_UINT, 8},
    {"io_read_operation_count", FIELD_UINT, 4},
    {"io_write_operation_count", FIELD_UINT, 4},
    {"io_other_operation_count", FIELD_UINT, 4},
    {"available_pages", FIELD_UINT, 4},
    {"committed_pages", FIELD_UINT, 4},
    {"commit_limit", FIELD_UINT, 4},
    {"peak_commitment", FIELD_UINT, 4},
    {"page_fault_count", FIELD_UINT, 4},
    {"copy_on_write_count", FIELD_UINT, 4},
    {"transition_count", FIELD_UINT, 4},
    {"cache_transition_count", FIELD_UINT, 4},
    {"demand_zero_count", FIELD_UINT, 4},
    {"page_read_count", FIELD_UINT, 4},
    {"page_read_io_count", FIELD_UINT, 4},
    {"cache_read_count", FIELD_UINT, 4},
    {"cache_io_count", FIELD_UINT, 4},
    {"dirty_pages_write_count", FIELD_UINT, 4},
    {"dirty_write_io_count", FIELD_UINT, 4},
    {"mapped_pages_write_count", FIELD_UINT, 4},
    {"mapped_write_io_count", FIELD_UINT, 4},
    {"paged_pool_pages", FIELD_UINT, 4},
    {"non_paged_pool_pages", FIELD_UINT, 4},
    {"paged_pool_allocs", FIELD_UINT, 4},
    {"paged_pool_frees", FIELD_UINT, 4},
    {"non_paged_pool_allocs", FIELD_UINT, 4},
    {"non_paged_pool_frees", FIELD_UINT, 4},
    {"free_system_ptes", FIELD_UINT, 4},
    {"resident_system_code_page", FIELD_UINT, 4},
    {"total_system_driver_pages", FIELD_UINT, 4},
    {"total_system_code_pages", FIELD_UINT, 4},
    {"non_paged_pool_lookaside_hits", FIELD_UINT, 4},
    {"paged_pool_lookaside_hits", FIELD_UINT, 4},
    {"available_paged_pool_pages", FIELD_UINT, 4},
    {"resident_system_cache_page", FIELD_UINT, 4},
    {"resident_paged_pool_page", FIELD_UINT, 4},
    {"resident_system_driver_page", FIELD_UINT, 4},
    {"cc_fast_read_no_wait", FIELD_UINT, 4},
    {"cc_fast_read_wait", FIELD_UINT, 4},
    {"cc_fast_read_resource_miss", FIELD_UINT, 4},
    {"cc_fast_read_not_possible", FIELD_UINT, 4},
    {"cc_fast_mdl_read_no_wait", FIELD_UINT, 4},
    {"cc_fast_mdl_read_wait", FIELD_UINT, 4},
    {"cc_fast_mdl_read_resource_miss", FIELD_UINT, 4},
    {"cc_fast_mdl_read_not_possible", FIELD_UINT, 4},
    {"cc_map_data_no_wait", FIELD_UINT, 4},
    {"cc_map_data_wait", FIELD_UINT, 4},
    {"cc_map_data_no_wait_miss", FIELD_UINT, 4},
    {"cc_map_data_wait_miss", FIELD_UINT, 4},
    {"cc_pin_mapped_data_count", FIELD_UINT, 4},
    {"cc_pin_read_no_wait", FIELD_UINT, 4},
    {"cc_pin_read_wait", FIELD_UINT, 4},
    {"cc_pin_read_no_wait_miss", FIELD_UINT, 4},
    {"cc_pin_read_wait_miss", FIELD_UINT, 4},
    {"cc_copy_read_no_wait", FIELD_UINT, 4},
    {"cc_copy_read_wait", FIELD_UINT, 4},
    {"cc_copy_read_no_wait_miss", FIELD_UINT, 4},
    {"cc_copy_read_wait_miss", FIELD_UINT, 4},
    {"cc_mdl_read_no_wait", FIELD_UINT, 4},
    {"cc_mdl_read_wait", FIELD_UINT, 4},
    {"cc_mdl_read_no_wait_miss", FIELD_UINT, 4},
    {"cc_mdl_read_wait_miss", FIELD_UINT, 4},
    {"cc_read_ahead_ios", FIELD_UINT, 4},
    {"cc_lazy_write_ios", FIELD_UINT, 4},
    {"cc_lazy_write_pages", FIELD_UINT, 4},
    {"cc_data_flushes", FIELD_UINT, 4},
    {"cc_data_pages", FIELD_UINT, 4},
    {"context_switches", FIELD_UINT, 4},
    {"first_level_tb_fills", FIELD_UINT, 4},
    {"second_level_tb_fills", FIELD_UINT, 4},
    {"system_calls", FIELD_UINT, 4},
};

void minidump_tell_system_memory(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field head[] = {{"revision", FIELD_UINT, 2},
                                                 {"flags", FIELD_HEX, 2}};
    static const struct minidump_field basic[] = {
        {"timer_resolution", FIELD_UINT, 4},      {"page_bytes", FIELD_UINT, 4},
        {"physical_pages", FIELD_UINT, 4},        {"lowest_physical_page", FIELD_UINT, 4},
        {"highest_physical_page", FIELD_UINT, 4}, {"allocation_granularity", FIELD_UINT, 4},
        {"lowest_user_address", FIELD_HEX, 8},    {"highest_user_address", FIELD_HEX, 8},
        {"active_processors", FIELD_HEX, 8},      {"processors", FIELD_UINT, 4},
    };
    static const struct minidump_field cache[] = {
        {"current_bytes", FIELD_UINT, 8},
        {"peak_bytes", FIELD_UINT, 8},
        {"page_faults", FIELD_UINT, 4},
        {"minimum_working_set", FIELD_UINT, 8},
        {"maximum_working_set", FIELD_UINT, 8},
        {"current_pages_with_transition", FIELD_UINT, 8},
        {"peak_pages_with_transition", FIELD_UINT, 8},
        {"transition_repurposed", FIELD_UINT, 4},
        {"flags", FIELD_HEX, 4},
    };
    static const struct minidump_field commitment[] = {{"available_pages", FIELD_UINT, 8},
                                                       {"committed_pages", FIELD_UINT, 8},
                                                       {"commit_limit_pages", FIELD_UINT, 8},
                                                       {"peak_commitment_pages", FIELD_UINT, 8}};
    static const struct minidump_field dirty[] = {{"cc_total_dirty_pages", FIELD_UINT, 8},
                                                  {"cc_dirty_page_threshold", FIELD_UINT, 8}};
    static const struct minidump_field resident[] = {{"resident_available_pages", FIELD_UINT, 8},
                                                     {"shared_committed_pages", FIELD_UINT, 8}};
    minidump_tell_object(t, NULL);
    minidump_tell_fields(t, &r, head, COUNT_OF(head));
    minidump_tell_record(t, "basic", &r, basic, COUNT_OF(basic));
    minidump_tell_record(t, "file_cache", &r, cache, COUNT_OF(cache));
    minidump_tell_record(t, "commitment", &r, commitment, COUNT_OF(commitment));
    minidump_tell_record(t, "performance", &r, memory_performance, COUNT_OF(memory_performance));
    if (r.left > 0) /* later systems know more */
        minidump_tell_record(t, "dirty", &r, dirty, COUNT_OF(dirty));
    if (r.left > 0)
        minidump_tell_record(t, "resident", &r, resident, COUNT_OF(resident));
    minidump_tell_end(t);
}

void minidump_tell_vm_counters(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field head[] = {{"revision", FIELD_UINT, 2},
                                                 {"flags", FIELD_HEX, 2}};
    static const struct minidump_field usage[] = {
        {"page_faults", FIELD_UINT, 4},         {"peak_working_set_bytes", FIELD_UINT, 8},
        {"working_set_bytes", FIELD_UINT, 8},   {"peak_paged_pool_bytes", FIELD_UINT, 8},
        {"paged_pool_bytes", FIELD_UINT, 8},    {"peak_nonpaged_pool_bytes", FIELD_UINT, 8},
        {"nonpaged_pool_bytes", FIELD_UINT, 8}, {"pagefile_bytes", FIELD_UINT, 8},
        {"peak_pagefile_bytes", FIELD_UINT, 8},
    };
    static const struct minidump_field space[] = {{"peak_virtual_bytes", FIELD_UINT, 8},
                                                  {"virtual_bytes", FIELD_UINT, 8}};
    static const struct minidump_field private_use[] = {{"private_bytes", FIELD_UINT, 8}};
    static const struct minidump_field late[] = {
        {"private_working_set_bytes", FIELD_UINT, 8},
        {"shared_commit_bytes", FIELD_UINT, 8},
        {"job_shared_commit_bytes", FIELD_UINT, 8},
        {"job_private_commit_bytes", FIELD_UINT, 8},
        {"job_peak_private_commit_bytes", FIELD_UINT, 8},
        {"job_private_commit_limit_bytes", FIELD_UINT, 8},
        {"job_total_commit_limit_bytes", FIELD_UINT, 8},
    };
    const bool second = t->m->out->vm_counters.revision >= 2;
    minidump_tell_object(t, NULL);
    minidump_tell_fields(t, &r, head, COUNT_OF(head));
    minidump_tell_fields(t, &r, usage, COUNT_OF(usage));
    if (second)
        minidump_tell_fields(t, &r, space, COUNT_OF(space));
    minidump_tell_fields(t, &r, private_use, COUNT_OF(private_use));
    if (second && r.left > 0)
        minidump_tell_fields(t, &r, late, COUNT_OF(late));
    minidump_tell_end(t);
}
