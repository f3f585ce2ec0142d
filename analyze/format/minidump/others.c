/* Streams of other systems and tools: Linux's auxiliary vector and loader (Breakpad), macOS's crash
 * information (Mozilla), Wine's ELF images, and Application Verifier's log of handles.
 *
 *   DSO DEBUG  32 64 bit   LINK MAP  32 64 bit   MAC CRASH INFO (172)   RECORD
 *   version         0  0   address    0  0       stream type       0    stream type      0
 *   map offset      4  4   name       4  8       records           4    version          8
 *   maps            8  8   ld         8 16       start of texts    8    thread      4:  16
 *   brk            12 16             12 24       20 locations     12    dialog mode 4:  24
 *   loader's base  16 24                                                abort cause 5:  32
 *   dynamic        20 32   Behind DSO DEBUG stands the dynamic          texts       4:  start,
 *                  24 40   section: pairs of tag and value.             each with its NUL
 */
#include "format/minidump/parts.h"

static const char *auxv_name(uint64_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {
        {0, "AT_NULL"},
        {1, "AT_IGNORE"},
        {2, "AT_EXECFD"},
        {3, "AT_PHDR"},
        {4, "AT_PHENT"},
        {5, "AT_PHNUM"},
        {6, "AT_PAGESZ"},
        {7, "AT_BASE"},
        {8, "AT_FLAGS"},
        {9, "AT_ENTRY"},
        {10, "AT_NOTELF"},
        {11, "AT_UID"},
        {12, "AT_EUID"},
        {13, "AT_GID"},
        {14, "AT_EGID"},
        {15, "AT_PLATFORM"},
        {16, "AT_HWCAP"},
        {17, "AT_CLKTCK"},
        {18, "AT_FPUCW"},
        {19, "AT_DCACHEBSIZE"},
        {20, "AT_ICACHEBSIZE"},
        {21, "AT_UCACHEBSIZE"},
        {22, "AT_IGNOREPPC"},
        {23, "AT_SECURE"},
        {24, "AT_BASE_PLATFORM"},
        {25, "AT_RANDOM"},
        {26, "AT_HWCAP2"},
        {27, "AT_RSEQ_FEATURE_SIZE"},
        {28, "AT_RSEQ_ALIGN"},
        {29, "AT_HWCAP3"},
        {30, "AT_HWCAP4"},
        {31, "AT_EXECFN"},
        {32, "AT_SYSINFO"},
        {33, "AT_SYSINFO_EHDR"},
        {34, "AT_L1I_CACHESHAPE"},
        {35, "AT_L1D_CACHESHAPE"},
        {36, "AT_L2_CACHESHAPE"},
        {37, "AT_L3_CACHESHAPE"},
        {40, "AT_L1I_CACHESIZE"},
        {41, "AT_L1I_CACHEGEOMETRY"},
        {42, "AT_L1D_CACHESIZE"},
        {43, "AT_L1D_CACHEGEOMETRY"},
        {44, "AT_L2_CACHESIZE"},
        {45, "AT_L2_CACHEGEOMETRY"},
        {46, "AT_L3_CACHESIZE"},
        {47, "AT_L3_CACHEGEOMETRY"},
        {51, "AT_MINSIGSTKSZ"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].type == type)
            return names[i].name;
    return NULL;
}

void minidump_tell_auxv(struct minidump_teller *t, struct bytes r)
{
    minidump_tell_array(t, NULL);
    while (r.left > 0 && !t->full) {
        uint64_t type = minidump_number(t->m->out, &r, 0);
        uint64_t value = minidump_number(t->m->out, &r, 0);
        if (bytes_failed(&r))
            break;
        minidump_tell_object(t, NULL);
        minidump_tell_uint(t, "type", type);
        minidump_tell_text(t, "name", auxv_name(type));
        minidump_tell_hex(t, "value", value);
        minidump_tell_end(t);
    }
    minidump_tell_end(t);
}

/* Breakpad's writers let the compiler align the 64-bit members, others (minidump-writer) pack them.
 * Which of the two, the stream's size tells: behind the head stand whole entries of 16 bytes. */
void minidump_tell_dso(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field head[] = {
        {"brk", FIELD_HEX, 0}, {"loader_base", FIELD_HEX, 0}, {"dynamic", FIELD_HEX, 0}};
    static const struct minidump_field entry[] = {{"tag", FIELD_HEX, 0}, {"value", FIELD_HEX, 0}};
    const uint32_t pointer = minidump_pointer_bytes(t->m->out);
    const uint8_t gap = pointer == 8 && r.left % 16 != 36 % 16 ? 4 : 0;
    const struct minidump_field map[] = {{"address", FIELD_HEX, 0},
                                         {"name", FIELD_STRING, 4},
                                         {NULL, FIELD_SKIP, gap},
                                         {"dynamic", FIELD_HEX, 0}};
    uint32_t version = bytes_u32(&r), map_foff = bytes_u32(&r), count = bytes_u32(&r);
    bytes_skip(&r, gap);
    minidump_tell_object(t, NULL);
    minidump_tell_uint(t, "version", version);
    minidump_tell_fields(t, &r, head, COUNT_OF(head));
    minidump_tell_array(t, "link_map");
    if (count > 0 && !bytes_failed(&r)) { /* of its own fault: what follows here may be sound */
        struct bytes maps = minidump_from(t->m->out, map_foff, t->m->damage);
        count = bytes_count(&maps, count, 4 + gap + 2 * (size_t)pointer);
        for (uint32_t i = 0; i < count && !t->full; i++)
            minidump_tell_record(t, NULL, &maps, map, COUNT_OF(map));
    }
    minidump_tell_end(t);
    minidump_tell_array(t, "dynamic_section");
    while (r.left > 0 && !bytes_failed(&r) && !t->full)
        minidump_tell_record(t, NULL, &r, entry, COUNT_OF(entry));
    minidump_tell_end(t);
    minidump_tell_end(t);
}

static void tell_mac_record(struct minidump_teller *t, struct bytes r, uint32_t texts_at)
{
    static const struct minidump_field fields[] = {{"thread", FIELD_HEX, 8},
                                                   {"dialog_mode", FIELD_HEX, 8}};
    static const struct minidump_field late[] = {{"abort_cause", FIELD_HEX, 8}};
    static const char *const texts[] = {"module_path", "message", "signature", "backtrace",
                                        "message2"};
    struct bytes whole = r;
    bytes_skip(&r, 8);
    uint64_t version = bytes_u64(&r);
    minidump_tell_object(t, NULL);
    minidump_tell_uint(t, "version", version);
    if (version >= 4)
        minidump_tell_fields(t, &r, fields, COUNT_OF(fields));
    if (version >= 5)
        minidump_tell_fields(t, &r, late, COUNT_OF(late));
    bytes_skip(&whole, texts_at);
    for (size_t i = 0; version >= 4 && i < COUNT_OF(texts); i++) {
        const char *text = bytes_cstring(&whole);
        if (bytes_failed(&whole))
            break;
        minidump_tell_text(t, texts[i], text);
    }
    minidump_tell_end(t);
}

void minidump_tell_mac_crash(struct minidump_teller *t, struct bytes r)
{
    enum { RECORDS_MAX = 20 };
    const uint64_t at = r.offset;
    bytes_skip(&r, 4);
    uint32_t count = bytes_u32(&r), texts_at = bytes_u32(&r);
    minidump_tell_array(t, NULL);
    if (count > RECORDS_MAX) {
        (void)fault_set(t->m->damage, ERR_MALFORMED, at, "number of macOS crash records");
        count = RECORDS_MAX;
    }
    for (uint32_t i = 0; i < count && !bytes_failed(&r); i++) {
        struct minidump_place place = minidump_location(t->m, &r, "macOS crash record");
        struct fault fault = FAULT_INIT; /* a damaged record costs no other */
        if (place.bytes > 0)
            tell_mac_record(t, minidump_at(t->m->out, place, &fault), texts_at);
        if (fault.code != ERR_NONE)
            (void)fault_set(t->m->damage, fault.code, fault.offset, "macOS crash record");
    }
    minidump_tell_end(t);
}

void minidump_tell_mac_boot(struct minidump_teller *t, struct bytes r)
{
    bytes_skip(&r, 4);
    uint64_t foff = bytes_u64(&r);
    minidump_tell_object(t, NULL);
    minidump_tell_text(t, "boot_args", minidump_string(t->m, foff, "boot arguments"));
    minidump_tell_end(t);
}

/* A second MINIDUMP_MODULE_LIST: images that Windows knows nothing of. */
void minidump_tell_wine_modules(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"base", FIELD_HEX, 8},      {"size", FIELD_HEX, 4},    {"checksum", FIELD_HEX, 4},
        {"timestamp", FIELD_HEX, 4}, {"path", FIELD_STRING, 4}, {NULL, FIELD_SKIP, 84}};
    uint32_t count = bytes_count(&r, bytes_u32(&r), 108);
    minidump_tell_array(t, NULL);
    for (uint32_t i = 0; i < count && !t->full; i++)
        minidump_tell_record(t, NULL, &r, fields, COUNT_OF(fields));
    minidump_tell_end(t);
}

/* MINIDUMP_HANDLE_OPERATION_LIST, then AVRF_HANDLE_OPERATIONs with the stack of each. */
static void tell_handle_operation(struct minidump_teller *t, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"handle", FIELD_HEX, 8}, {"process_id", FIELD_UINT, 4}, {"thread_id", FIELD_UINT, 4}};
    static const char *const operations[] = {"unused", "open", "close", "bad reference"};
    minidump_tell_object(t, NULL);
    minidump_tell_fields(t, &r, fields, COUNT_OF(fields));
    uint32_t operation = bytes_u32(&r);
    bytes_skip(&r, 4);
    uint32_t depth = bytes_u32(&r), index = bytes_u32(&r);
    minidump_tell_uint(t, "operation", operation);
    minidump_tell_text(t, "operation_name",
                       operation < COUNT_OF(operations) ? operations[operation] : NULL);
    minidump_tell_uint(t, "trace", index);
    if (depth > r.left / 8) {
        (void)fault_set(t->m->damage, ERR_MALFORMED, r.offset, "depth of a handle's stack");
        depth = (uint32_t)(r.left / 8);
    }
    minidump_tell_array(t, "stack");
    for (uint32_t i = 0; i < depth; i++)
        minidump_tell_hex(t, NULL, bytes_u64(&r));
    minidump_tell_end(t);
    minidump_tell_end(t);
}

void minidump_tell_handle_operations(struct minidump_teller *t, struct bytes r)
{
    const struct bytes whole = r;
    uint32_t header = bytes_u32(&r), entry_bytes = bytes_u32(&r), count = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 16 || header > whole.left || entry_bytes < 32) {
        (void)fault_set(t->m->damage, ERR_MALFORMED, whole.offset, "handle operation header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, entry_bytes);
    minidump_tell_array(t, NULL);
    for (uint32_t i = 0; i < count && !t->full; i++)
        tell_handle_operation(t, bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes));
    minidump_tell_end(t);
}
