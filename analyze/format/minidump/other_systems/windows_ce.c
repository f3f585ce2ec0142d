/* Windows CE's streams (DwCeDump.h), reported as values.
 * Source: https://learn.microsoft.com/previous-versions/windows/embedded/ms939618(v=msdn.10)
 *
 *   ELEMENT LIST (16)             FIELD INFO (16)      CALL STACK LIST (8)  CALL STACK (16)
 *   header, field bytes    0, 2   id              0    header bytes     0   process, thread  0, 4
 *   fields                    4   bytes           4    entry bytes      2   frame bytes         8
 *   elements                  8   label offset    8    entries          4   frames             10
 *   elements' offset         12   format offset  12                         frames' offset     12
 *
 * Modules, processes, threads and contexts are element lists: rows whose columns the dump itself
 * describes by one field information each, after the header. */
#include <string.h>

#include "format/minidump/streams.h"

/* The head of a structure that states its own size in its first two bytes; later versions are
 * longer.  R moves past it. */
static struct bytes sized_head(struct bytes *r, uint32_t least)
{
    struct bytes peek = *r, none = {r->at, 0, r->offset, r->fault};
    uint32_t bytes = bytes_u16(&peek);
    if (bytes_failed(&peek))
        return none;
    if (bytes < least) {
        (void)fault_set(r->fault, ERR_MALFORMED, r->offset, "size of a Windows CE structure");
        return none;
    }
    struct bytes head = bytes_window(r, 0, bytes);
    bytes_skip(r, bytes);
    return head;
}

void minidump_detail_ce_system(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {NULL, FIELD_SKIP, 2},
        {"architecture", FIELD_UINT, 2},
        {"processors", FIELD_UINT, 4},
        {"processor_type", FIELD_UINT, 4},
        {"level", FIELD_UINT, 2},
        {"revision", FIELD_UINT, 2},
        {"family", FIELD_HEX, 4},
        {"major", FIELD_UINT, 4},
        {"minor", FIELD_UINT, 4},
        {"build", FIELD_UINT, 4},
        {"platform", FIELD_UINT, 4},
        {"locale", FIELD_HEX, 4},
        {"oem", FIELD_STRING, 4},
        {"support_flags", FIELD_HEX, 4},
        {"machine", FIELD_HEX, 2},
        {NULL, FIELD_SKIP, 2},
        {"platform_type", FIELD_STRING, 4},
    };
    static const struct minidump_field version[] = {{"major", FIELD_UINT, 4},
                                                    {"minor", FIELD_UINT, 4}};
    static const struct minidump_field late[] = {{"instruction_set", FIELD_HEX, 4}};
    struct bytes head = sized_head(&r, 64);
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &head, fields, COUNT_OF(fields));
    uint32_t count = bytes_u32(&head), versions_foff = bytes_u32(&head);
    minidump_add_array(list, "platform_versions");
    if (count > 0 && !bytes_failed(&head)) {
        struct bytes versions = minidump_from(list->m->out, versions_foff, list->m->damage);
        count = bytes_count(&versions, count, 8);
        for (uint32_t i = 0; i < count && !list->full; i++)
            minidump_add_record(list, NULL, &versions, version, COUNT_OF(version));
    }
    minidump_add_end(list);
    if (head.left >= 4)
        minidump_add_fields(list, &head, late, COUNT_OF(late));
    minidump_add_end(list);
}

struct ce_column {
    uint32_t bytes;
    bool is_text; /* an offset of a text */
};

/* One cell: a number if it has the size of one, otherwise its bytes. */
static void add_cell(struct minidump_value_list *list, struct bytes *r,
                     const struct ce_column *column)
{
    struct bytes cell = bytes_window(r, 0, column->bytes);
    bytes_skip(r, column->bytes);
    if (column->is_text && column->bytes == 4)
        minidump_add_text(list, NULL,
                          minidump_string(list->m, bytes_u32(&cell), "Windows CE text"));
    else if (column->bytes == 1 || column->bytes == 2 || column->bytes == 4 || column->bytes == 8)
        minidump_add_hex(list, NULL, minidump_number(list->m->out, &cell, column->bytes));
    else
        minidump_add_bytes(list, NULL, cell);
}

static const struct ce_column *add_columns(struct minidump_value_list *list, struct bytes r,
                                           uint32_t count, uint32_t info_bytes, uint64_t *row)
{
    struct ce_column *columns = minidump_array(list->m, count, sizeof(*columns));
    *row = 0;
    minidump_add_array(list, "fields");
    for (uint32_t i = 0; columns != NULL && i < count && !list->full; i++) {
        struct bytes info = bytes_window(&r, (uint64_t)i * info_bytes, info_bytes);
        uint32_t id = bytes_u32(&info);
        columns[i].bytes = bytes_u32(&info);
        const char *label = minidump_string(list->m, bytes_u32(&info), "Windows CE label");
        const char *format = minidump_string(list->m, bytes_u32(&info), "Windows CE format");
        columns[i].is_text = format != NULL && strcmp(format, "%s") == 0;
        *row += columns[i].bytes;
        minidump_add_object(list, NULL);
        minidump_add_hex(list, "id", id);
        minidump_add_uint(list, "bytes", columns[i].bytes);
        minidump_add_text(list, "label", label);
        minidump_add_text(list, "format", format);
        minidump_add_end(list);
    }
    minidump_add_end(list);
    return columns;
}

void minidump_detail_ce_elements(struct minidump_value_list *list, struct bytes r)
{
    struct bytes head = sized_head(&r, 16);
    bytes_skip(&head, 2);
    uint32_t info_bytes = bytes_u16(&head), fields = bytes_u32(&head);
    uint32_t elements = bytes_u32(&head), foff = bytes_u32(&head);
    if (bytes_failed(&head))
        return;
    if (info_bytes < 16) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, head.offset, "size of a Windows CE field");
        return;
    }
    uint64_t row;
    fields = bytes_count(&r, fields, info_bytes);
    minidump_add_object(list, NULL);
    const struct ce_column *columns = add_columns(list, r, fields, info_bytes, &row);
    minidump_add_array(list, "elements");
    if (columns != NULL && row > 0 && elements > 0 && !bytes_failed(&r)) {
        struct bytes rows = minidump_from(list->m->out, foff, list->m->damage);
        elements = bytes_count(&rows, elements, (size_t)row);
        for (uint32_t i = 0; i < elements && !list->full; i++) {
            minidump_add_array(list, NULL);
            for (uint32_t k = 0; k < fields && !list->full; k++)
                add_cell(list, &rows, &columns[k]);
            minidump_add_end(list);
        }
    }
    minidump_add_end(list);
    minidump_add_end(list);
}

/* Its own head, an exception record, then the context as an element list. */
void minidump_detail_ce_exception(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"flags", FIELD_HEX, 2},
        {"current_process_id", FIELD_HEX, 4},
        {"thread_id", FIELD_HEX, 4},
        {"owner_process_id", FIELD_HEX, 4},
        {"capture_current_process_id", FIELD_HEX, 4},
        {"capture_thread_id", FIELD_HEX, 4},
        {"capture_owner_process_id", FIELD_HEX, 4},
    };
    static const struct minidump_field record[] = {{"code", FIELD_HEX, 4},
                                                   {"exception_flags", FIELD_HEX, 4},
                                                   {"record", FIELD_HEX, 4},
                                                   {"address", FIELD_HEX, 4}};
    enum { RECORD_BYTES = 20, PARAMETERS_MAX = 15 };
    struct bytes head = sized_head(&r, 32);
    bytes_skip(&head, 2);
    uint32_t exception_bytes = bytes_u16(&head);
    bytes_skip(&head, 2);
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &head, fields, COUNT_OF(fields));
    struct bytes exception = bytes_window(&r, 0, exception_bytes);
    bytes_skip(&r, exception_bytes);
    minidump_add_fields(list, &exception, record, COUNT_OF(record));
    uint32_t count = bytes_u32(&exception);
    if (count > PARAMETERS_MAX || count > exception.left / 4) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, exception.offset,
                        "number of exception parameters");
        count = 0;
    }
    minidump_add_array(list, "information");
    for (uint32_t i = 0; i < count; i++)
        minidump_add_hex(list, NULL, bytes_u32(&exception));
    minidump_add_end(list);
    minidump_add_array(list, "context");
    if (r.left > 0 && !bytes_failed(&r))
        minidump_detail_ce_elements(list, r);
    minidump_add_end(list);
    minidump_add_end(list);
}

/* A list's head: how many entries of how many bytes follow. */
static uint32_t list_head(struct minidump_value_list *list, struct bytes *r, uint32_t least,
                          uint32_t *entry_bytes)
{
    struct bytes head = sized_head(r, 8);
    bytes_skip(&head, 2);
    *entry_bytes = bytes_u16(&head);
    uint32_t count = bytes_u32(&head);
    if (bytes_failed(&head))
        return 0;
    if (*entry_bytes < least) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, head.offset, "size of a Windows CE entry");
        return 0;
    }
    return bytes_count(r, count, *entry_bytes);
}

static void add_call_stack(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field ids[] = {{"process_id", FIELD_HEX, 4},
                                                {"thread_id", FIELD_HEX, 4}};
    static const struct minidump_field frame[] = {{"return_address", FIELD_HEX, 4},
                                                  {"frame", FIELD_HEX, 4},
                                                  {"process_id", FIELD_HEX, 4},
                                                  {"flags", FIELD_HEX, 4},
                                                  {"p0", FIELD_HEX, 4},
                                                  {"p1", FIELD_HEX, 4},
                                                  {"p2", FIELD_HEX, 4},
                                                  {"p3", FIELD_HEX, 4}};
    minidump_add_object(list, NULL);
    minidump_add_fields(list, &r, ids, COUNT_OF(ids));
    uint32_t frame_bytes = bytes_u16(&r), count = bytes_u16(&r), foff = bytes_u32(&r);
    minidump_add_array(list, "frames");
    if (count > 0 && !bytes_failed(&r)) {
        struct bytes frames = minidump_from(list->m->out, foff, list->m->damage);
        if (frame_bytes < 32)
            (void)fault_set(list->m->damage, ERR_MALFORMED, r.offset, "size of a Windows CE frame");
        count = frame_bytes < 32 ? 0 : bytes_count(&frames, count, frame_bytes);
        for (uint32_t i = 0; i < count && !list->full; i++) {
            struct bytes one = bytes_window(&frames, (uint64_t)i * frame_bytes, frame_bytes);
            minidump_add_record(list, NULL, &one, frame, COUNT_OF(frame));
        }
    }
    minidump_add_end(list);
    minidump_add_end(list);
}

void minidump_detail_ce_stacks(struct minidump_value_list *list, struct bytes r)
{
    uint32_t entry_bytes, count = list_head(list, &r, 16, &entry_bytes);
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < count && !list->full; i++)
        add_call_stack(list, bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes));
    minidump_add_end(list);
}

void minidump_detail_ce_memory(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"start", FIELD_HEX, 8}, {"bytes", FIELD_UINT, 4}, {"offset", FIELD_HEX, 4}};
    uint32_t entry_bytes, count = list_head(list, &r, 16, &entry_bytes);
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < count && !list->full; i++) {
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        minidump_add_record(list, NULL, &entry, fields, COUNT_OF(fields));
    }
    minidump_add_end(list);
}

void minidump_detail_ce_bucket(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {NULL, FIELD_SKIP, 4},
        {"event_type", FIELD_STRING, 4},
        {"debug_build", FIELD_UINT, 4},
        {"application", FIELD_STRING, 4},
        {"application_timestamp", FIELD_HEX, 4},
        {"application_version_high", FIELD_HEX, 4},
        {"application_version_low", FIELD_HEX, 4},
        {"module", FIELD_STRING, 4},
        {"module_timestamp", FIELD_HEX, 4},
        {"module_version_high", FIELD_HEX, 4},
        {"module_version_low", FIELD_HEX, 4},
        {"offset", FIELD_HEX, 4},
        {"owner", FIELD_STRING, 4},
        {"owner_timestamp", FIELD_HEX, 4},
        {"owner_version_high", FIELD_HEX, 4},
        {"owner_version_low", FIELD_HEX, 4},
    };
    struct bytes head = sized_head(&r, 64);
    minidump_add_record(list, NULL, &head, fields, COUNT_OF(fields));
}
