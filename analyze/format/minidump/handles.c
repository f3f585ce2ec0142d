/* Handles of a minidump, their objects, and Application Verifier's log of handle operations. */
#include "format/minidump/streams.h"

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

/* MINIDUMP_HANDLE_OBJECT_INFORMATION: next, type, bytes; the bytes differ between Windows
 * versions. */
static void add_object_infos(struct minidump_value_list *list, uint64_t handle, uint32_t foff)
{
    enum { CHAIN_MAX = 16 };
    static const char *const types[] = {"none",    "thread", "mutant",  "mutant",   "process",
                                        "process", "event",  "section", "semaphore"};
    minidump_add_object(list, NULL);
    minidump_add_hex(list, "handle", handle);
    minidump_add_array(list, "object");
    for (uint32_t i = 0; foff != 0; i++) {
        struct bytes r = minidump_from(list->m->out, foff, list->m->damage);
        const uint64_t at = r.offset;
        foff = bytes_u32(&r);
        uint32_t type = bytes_u32(&r), bytes = bytes_u32(&r);
        struct bytes info = bytes_window(&r, 0, bytes);
        if (bytes_failed(&r))
            break;
        if (i == CHAIN_MAX) {
            (void)fault_set(list->m->damage, ERR_LIMIT, at, "information of a handle's object");
            break;
        }
        minidump_add_object(list, NULL);
        minidump_add_uint(list, "type", type);
        minidump_add_text(list, "name", type < COUNT_OF(types) ? types[type] : NULL);
        minidump_add_bytes(list, "information", info);
        minidump_add_end(list);
    }
    minidump_add_end(list);
    minidump_add_end(list);
}

void minidump_detail_handle_infos(struct minidump_value_list *list, struct bytes r)
{
    const struct bytes whole = r;
    uint32_t header = bytes_u32(&r), entry_bytes = bytes_u32(&r), count = bytes_u32(&r);
    if (entry_bytes < 40 || header > whole.left) /* the first version has none */
        return;
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, entry_bytes);
    bool any = false;
    for (uint32_t i = 0; i < count && !list->full; i++) {
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        uint64_t handle = bytes_u64(&entry);
        bytes_skip(&entry, 24);
        uint32_t foff = bytes_u32(&entry);
        if (foff == 0)
            continue;
        if (!any)
            minidump_add_array(list, NULL);
        any = true;
        add_object_infos(list, handle, foff);
    }
    if (any)
        minidump_add_end(list);
}

/* MINIDUMP_HANDLE_OPERATION_LIST, then AVRF_HANDLE_OPERATIONs with the stack of each. */
static void add_handle_operation(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"handle", FIELD_HEX, 8}, {"process_id", FIELD_UINT, 4}, {"thread_id", FIELD_UINT, 4}};
    static const char *const operations[] = {"unused", "open", "close", "bad reference"};
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &r, fields, COUNT_OF(fields));
    uint32_t operation = bytes_u32(&r);
    bytes_skip(&r, 4);
    uint32_t depth = bytes_u32(&r), index = bytes_u32(&r);
    minidump_add_uint(list, "operation", operation);
    minidump_add_text(list, "operation_name",
                      operation < COUNT_OF(operations) ? operations[operation] : NULL);
    minidump_add_uint(list, "trace", index);
    if (depth > r.left / 8) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, r.offset, "depth of a handle's stack");
        depth = (uint32_t)(r.left / 8);
    }
    minidump_add_array(list, "stack");
    for (uint32_t i = 0; i < depth; i++)
        minidump_add_hex(list, NULL, bytes_u64(&r));
    minidump_add_end(list);
    minidump_add_end(list);
}

void minidump_detail_handle_operations(struct minidump_value_list *list, struct bytes r)
{
    const struct bytes whole = r;
    uint32_t header = bytes_u32(&r), entry_bytes = bytes_u32(&r), count = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 16 || header > whole.left || entry_bytes < 32) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, whole.offset, "handle operation header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, entry_bytes);
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < count && !list->full; i++)
        add_handle_operation(list, bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes));
    minidump_add_end(list);
}
