/* Streams about Linux processes, as Breakpad writes them: files of /proc and /etc, the auxiliary
 * vector, and the dynamic loader's list of images.
 *
 *   DSO DEBUG  32 64 bit   LINK MAP  32 64 bit
 *   version         0  0   address    0  0
 *   map offset      4  4   name       4  8
 *   maps            8  8   ld         8 16
 *   brk            12 16             12 24
 *   loader's base  16 24
 *   dynamic        20 32   The dynamic section follows DSO DEBUG:
 *                  24 40   pairs of tag and value.
 */
#include "format/minidump/streams.h"

/* Complete files of /proc and /etc; zeros separate the words of a command line. */
void minidump_read_text(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    size_t bytes = r.left;
    if (bytes == 0)
        return;
    if (!minidump_spend_text(m, bytes, r.offset))
        return;
    while (bytes > 0 && (r.at[bytes - 1] == 0 || r.at[bytes - 1] == '\n'))
        bytes--;
    char *text = arena_text(m->keep, (const char *)r.at, bytes);
    if (out->texts == NULL)
        out->texts = minidump_array(m, out->stream_count, sizeof(*out->texts));
    if (text == NULL || out->texts == NULL) {
        (void)fault_no_memory(m->damage, "minidump");
        return;
    }
    for (size_t k = 0; k < bytes; k++)
        if (text[k] == 0)
            text[k] = '\n';
    out->texts[out->text_count++] = (struct minidump_text){m->stream_name, text, 1};
}

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

void minidump_detail_auxv(struct minidump_value_list *list, struct bytes r)
{
    minidump_add_array(list, NULL);
    while (r.left > 0 && !list->full) {
        uint64_t type = minidump_number(list->m->out, &r, 0);
        uint64_t value = minidump_number(list->m->out, &r, 0);
        if (bytes_failed(&r))
            break;
        minidump_add_object(list, NULL);
        minidump_add_uint(list, "type", type);
        minidump_add_text(list, "name", auxv_name(type));
        minidump_add_hex(list, "value", value);
        minidump_add_end(list);
    }
    minidump_add_end(list);
}

/* Breakpad's writers let the compiler align the 64-bit members; others (minidump-writer) pack them.
 * The stream's size shows which: whole entries of 16 bytes follow the head. */
void minidump_detail_dso(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field head[] = {
        {"brk", FIELD_HEX, 0}, {"loader_base", FIELD_HEX, 0}, {"dynamic", FIELD_HEX, 0}};
    static const struct minidump_field entry[] = {{"tag", FIELD_HEX, 0}, {"value", FIELD_HEX, 0}};
    const uint32_t pointer = minidump_pointer_bytes(list->m->out);
    const uint8_t gap = pointer == 8 && r.left % 16 != 36 % 16 ? 4 : 0;
    const struct minidump_field map[] = {{"address", FIELD_HEX, 0},
                                         {"name", FIELD_STRING, 4},
                                         {NULL, FIELD_SKIP, gap},
                                         {"dynamic", FIELD_HEX, 0}};
    uint32_t version = bytes_u32(&r), map_foff = bytes_u32(&r), count = bytes_u32(&r);
    bytes_skip(&r, gap);
    minidump_add_object(list, NULL);
    minidump_add_uint(list, "version", version);
    minidump_add_fields(list, &r, head, COUNT_OF(head));
    minidump_add_array(list, "link_map");
    if (count > 0 &&
        !bytes_failed(&r)) { /* with its own fault: the data that follows here may be valid */
        struct bytes maps = minidump_from(list->m->out, map_foff, list->m->damage);
        count = bytes_count(&maps, count, 4 + gap + 2 * (size_t)pointer);
        for (uint32_t i = 0; i < count && !list->full; i++)
            minidump_add_record(list, NULL, &maps, map, COUNT_OF(map));
    }
    minidump_add_end(list);
    minidump_add_array(list, "dynamic_section");
    while (r.left > 0 && !bytes_failed(&r) && !list->full)
        minidump_add_record(list, NULL, &r, entry, COUNT_OF(entry));
    minidump_add_end(list);
    minidump_add_end(list);
}
