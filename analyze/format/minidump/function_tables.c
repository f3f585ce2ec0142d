/* Function tables of a minidump: unwind data that generated code registered while it ran. */
#include "format/minidump/streams.h"

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

/* RUNTIME_FUNCTIONs of 12 bytes (x64) or 8 (arm64, whose end is elsewhere). */
void minidump_detail_tables(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field x64[] = {
        {"begin", FIELD_HEX, 4}, {"end", FIELD_HEX, 4}, {"unwind", FIELD_HEX, 4}};
    static const struct minidump_field arm64[] = {{"begin", FIELD_HEX, 4},
                                                  {"unwind", FIELD_HEX, 4}};
    const struct minidump *dump = list->m->out;
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < dump->table_count; i++) {
        const struct minidump_function_table *table = &dump->tables[i];
        minidump_add_object(list, NULL);
        minidump_add_hex(list, "start", table->start_va);
        minidump_add_array(list, "entries");
        r = minidump_at(dump, table->entries, list->m->damage);
        for (uint32_t k = 0; k < table->entry_count && !list->full; k++) {
            struct bytes entry =
                bytes_window(&r, (uint64_t)k * table->entry_bytes, table->entry_bytes);
            if (table->entry_bytes == 12)
                minidump_add_record(list, NULL, &entry, x64, COUNT_OF(x64));
            else if (table->entry_bytes == 8)
                minidump_add_record(list, NULL, &entry, arm64, COUNT_OF(arm64));
            else
                minidump_add_bytes(list, NULL, entry);
        }
        minidump_add_end(list);
        minidump_add_end(list);
    }
    minidump_add_end(list);
}
