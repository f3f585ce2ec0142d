/* Streams about macOS processes, as Mozilla writes them: crash information, boot arguments.
 *
 *   MAC CRASH INFO (172)   RECORD
 *   stream type       0    stream type      0
 *   records           4    version          8
 *   start of texts    8    thread      4:  16
 *   20 locations     12    dialog mode 4:  24
 *                          abort cause 5:  32
 *                          texts       4:  start, each with its NUL
 */
#include "format/minidump/streams.h"

static void add_mac_record(struct minidump_value_list *list, struct bytes r, uint32_t texts_at)
{
    static const struct minidump_field fields[] = {{"thread", FIELD_HEX, 8},
                                                   {"dialog_mode", FIELD_HEX, 8}};
    static const struct minidump_field late[] = {{"abort_cause", FIELD_HEX, 8}};
    static const char *const texts[] = {"module_path", "message", "signature", "backtrace",
                                        "message2"};
    struct bytes whole = r;
    bytes_skip(&r, 8);
    uint64_t version = bytes_u64(&r);
    minidump_add_object(list, NULL);
    minidump_add_uint(list, "version", version);
    if (version >= 4)
        minidump_add_fields(list, &r, fields, COUNT_OF(fields));
    if (version >= 5)
        minidump_add_fields(list, &r, late, COUNT_OF(late));
    bytes_skip(&whole, texts_at);
    for (size_t i = 0; version >= 4 && i < COUNT_OF(texts); i++) {
        const char *text = bytes_cstring(&whole);
        if (bytes_failed(&whole))
            break;
        minidump_add_text(list, texts[i], text);
    }
    minidump_add_end(list);
}

void minidump_detail_mac_crash(struct minidump_value_list *list, struct bytes r)
{
    enum { RECORDS_MAX = 20 };
    const uint64_t at = r.offset;
    bytes_skip(&r, 4);
    uint32_t count = bytes_u32(&r), texts_at = bytes_u32(&r);
    minidump_add_array(list, NULL);
    if (count > RECORDS_MAX) {
        (void)fault_set(list->m->damage, ERR_MALFORMED, at, "number of macOS crash records");
        count = RECORDS_MAX;
    }
    for (uint32_t i = 0; i < count && !bytes_failed(&r); i++) {
        struct minidump_place place = minidump_location(list->m, &r, "macOS crash record");
        struct fault fault = FAULT_INIT; /* a damaged record does not affect the others */
        if (place.bytes > 0)
            add_mac_record(list, minidump_at(list->m->out, place, &fault), texts_at);
        if (fault.code != ERR_NONE)
            (void)fault_set(list->m->damage, fault.code, fault.offset, "macOS crash record");
    }
    minidump_add_end(list);
}

void minidump_detail_mac_boot(struct minidump_value_list *list, struct bytes r)
{
    bytes_skip(&r, 4);
    uint64_t foff = bytes_u64(&r);
    minidump_add_object(list, NULL);
    minidump_add_text(list, "boot_args", minidump_string(list->m, foff, "boot arguments"));
    minidump_add_end(list);
}
