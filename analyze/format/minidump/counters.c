/* Memory counters of a minidump: those of the whole system, those of the process. */
#include "format/minidump/streams.h"

/* Both are shown from their details below; here only whether what is always shown of them is there:
 * MINIDUMP_SYSTEM_MEMORY_INFO_1 up to the limit of commitment, MINIDUMP_PROCESS_VM_COUNTERS. */
void minidump_read_system_memory(struct minidump_reader *m, struct bytes r)
{
    (void)m;
    bytes_skip(&r, 140);
}

void minidump_read_vm_counters(struct minidump_reader *m, struct bytes r)
{
    (void)m;
    const uint16_t revision = bytes_u16(&r);
    bytes_skip(&r, revision >= 2 ? 94 : 78); /* the second put two fields before the last */
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

void minidump_detail_system_memory(struct minidump_value_list *list, struct bytes r)
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
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &r, head, COUNT_OF(head));
    minidump_add_record(list, "basic", &r, basic, COUNT_OF(basic));
    minidump_add_record(list, "file_cache", &r, cache, COUNT_OF(cache));
    minidump_add_record(list, "commitment", &r, commitment, COUNT_OF(commitment));
    minidump_add_record(list, "performance", &r, memory_performance, COUNT_OF(memory_performance));
    if (r.left > 0) /* later systems know more */
        minidump_add_record(list, "dirty", &r, dirty, COUNT_OF(dirty));
    if (r.left > 0)
        minidump_add_record(list, "resident", &r, resident, COUNT_OF(resident));
    minidump_add_end(list);
}

void minidump_detail_vm_counters(struct minidump_value_list *list, struct bytes r)
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
    struct bytes start = r;
    const bool second = bytes_u16(&start) >= 2;
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &r, head, COUNT_OF(head));
    minidump_add_fields(list, &r, usage, COUNT_OF(usage));
    if (second)
        minidump_add_fields(list, &r, space, COUNT_OF(space));
    minidump_add_fields(list, &r, private_use, COUNT_OF(private_use));
    if (second && r.left > 0)
        minidump_add_fields(list, &r, late, COUNT_OF(late));
    minidump_add_end(list);
}
