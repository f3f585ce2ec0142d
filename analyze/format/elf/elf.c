/* Headers, sections and identity of ELF files; see elf.h.
 *
 * Header (64 bits; 32 bits in brackets):
 * OFFSET SIZE
 *   0   16  magic, class (1: 32, 2: 64), data (1: little, 2: big), version
 *  16    2  type           18  2 machine       20 4 version
 *  24    8  entry [4]      32  8 segment table [28: 4]    40 8 section table [32: 4]
 *  48    4  flags [36]     52  2 header bytes [40]
 *  54    2  segment bytes [42]  56 2 segments [44]
 *  58    2  section bytes [46]  60 2 sections [48]  62 2 section of the names [50] */
#include "format/elf/elf.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "base/bytes.h"
#include "format/elf/elf_bytes.h"

enum {
    SECTION_BYTES_32 = 40,
    SECTION_BYTES_64 = 64,
    SEGMENT_LOAD = 1,
    SEGMENT_NOTE = 4,
    NAMES_EXTENDED = 0xffff, /* SHN_XINDEX */
    SECTION_NOTE = 7,
    NOTE_BUILD_ID = 3,
    SECTIONS_MAX = 1 << 20,
    PAGE = 4096,
};

const uint8_t *elf_at(const struct elf *elf, uint64_t foff, uint64_t bytes)
{
    return foff <= elf->bytes && bytes <= elf->bytes - foff ? elf->data + foff : NULL;
}

bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *out)
{
    const uint32_t word = elf->is_64 ? 8 : 4, size = elf->is_64 ? 56 : 32;
    const uint8_t *at = index < elf->segment_count
                            ? elf_at(elf, elf->segment_foff + (uint64_t)index * size, size)
                            : NULL;
    if (at == NULL)
        return false;
    *out = (struct elf_segment){
        .type = (uint32_t)elf_number(elf, at, 4),
        .flags = (uint32_t)elf_number(elf, at + (elf->is_64 ? 4 : 24), 4),
        .foff = elf_number(elf, at + word, word),
        .va = elf_number(elf, at + 2 * (size_t)word, word),
        .file_bytes = elf_number(elf, at + 4 * (size_t)word, word),
        .bytes = elf_number(elf, at + 5 * (size_t)word, word),
    };
    return true;
}

/* True when the file holds all bytes of at least one loaded segment, and of every other one. */
static bool segments_are_whole(const struct elf *elf)
{
    struct elf_segment s;
    bool loaded = false;

    for (uint32_t i = 0; i < elf->segment_count; i++) {
        if (!elf_segment(elf, i, &s))
            return false;
        if (s.type != SEGMENT_LOAD)
            continue;
        if (elf_at(elf, s.foff, s.file_bytes) == NULL)
            return false;
        loaded = true;
    }
    return loaded;
}

bool elf_recognize(const void *data, size_t bytes)
{
    return bytes >= 4 && memcmp(data, "\177ELF", 4) == 0;
}

/* The header of a section; NULL: there is none. */
static const uint8_t *section_header(const struct elf *elf, uint32_t index)
{
    const uint32_t size = elf->is_64 ? SECTION_BYTES_64 : SECTION_BYTES_32;
    return index < elf->section_count ? elf_at(elf, elf->section_foff + (uint64_t)index * size,
                                               size) /* cannot wrap: checked above */
                                      : NULL;
}

uint64_t elf_section_flags(const struct elf *elf, uint32_t index)
{
    const uint8_t *at = section_header(elf, index);
    return at != NULL ? elf_number(elf, at + 8, elf->is_64 ? 8 : 4) : 0;
}

bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *out)
{
    const uint32_t word = elf->is_64 ? 8 : 4;
    const uint8_t *at = section_header(elf, index);
    struct elf_section names;

    if (at == NULL)
        return false;
    *out = (struct elf_section){
        .name = "",
        .type = (uint32_t)elf_number(elf, at + 4, 4),
        .flags = elf_number(elf, at + 8, word),
        .va = elf_number(elf, at + 8 + word, word),
        .foff = elf_number(elf, at + 8 + 2 * (size_t)word, word),
        .bytes = elf_number(elf, at + 8 + 3 * (size_t)word, word),
        .link = (uint32_t)elf_number(elf, at + 8 + 4 * (size_t)word, 4),
        .align = elf_number(elf, at + 16 + 4 * (size_t)word, word),
        .entry_bytes = elf_number(elf, at + 16 + 5 * (size_t)word, word),
    };
    const uint64_t name = elf_number(elf, at, 4);
    if (index == elf->names_section || elf->names_section == 0 ||
        !elf_section(elf, elf->names_section, &names) || names.type == SECTION_NO_BYTES)
        return true;
    const uint8_t *text = elf_at(elf, names.foff, names.bytes);
    out->name_lost = text == NULL || name >= names.bytes ||
                     memchr(text + name, 0, (size_t)(names.bytes - name)) == NULL;
    if (!out->name_lost)
        out->name = (const char *)text + name;
    return true;
}

bool elf_section_named(const struct elf *elf, const char *name, struct elf_section *out)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (elf_section(elf, i, out) && strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* Section 0 holds the numbers that do not fit into the header. */
static void read_extended(struct elf *elf)
{
    const bool many = elf->section_count == 0 && elf->section_foff != 0;
    const uint32_t names = elf->names_section;
    const bool far = names == NAMES_EXTENDED;
    struct elf_section first;

    if (!many && !far)
        return;
    if (many)
        elf->section_count = 1;
    elf->names_section = UINT32_MAX; /* read section 0 without a name */
    if (!elf_section(elf, 0, &first))
        return;
    if (many)
        elf->section_count = first.bytes < SECTIONS_MAX ? (uint32_t)first.bytes : 0;
    elf->names_section = far ? first.link : names;
}

static void find_base(struct elf *elf)
{
    uint64_t lowest = UINT64_MAX;
    struct elf_segment s;

    for (uint32_t i = 0; elf_segment(elf, i, &s); i++)
        if (s.type == SEGMENT_LOAD && s.va < lowest)
            lowest = s.va;
    elf->base_va = lowest != UINT64_MAX ? lowest & ~(uint64_t)(PAGE - 1) : 0;
}

/* SIZE: where the header has the size of a row. */
static enum status read_section_table(struct elf *elf, const uint8_t *size, struct fault *fault)
{
    const uint64_t row = elf->is_64 ? SECTION_BYTES_64 : SECTION_BYTES_32;

    if (elf->section_foff != 0 && elf_number(elf, size, 2) != row)
        return fault_set(fault, ERR_MALFORMED, (uint64_t)(size - elf->data),
                         "size of an ELF section header");
    if (elf->section_foff > elf->bytes || elf->segment_foff > elf->bytes)
        return fault_set(fault, ERR_TRUNCATED, elf->bytes, "ELF section table");
    read_extended(elf);
    if (elf->section_count > 0 && elf_at(elf, elf->section_foff, elf->section_count * row) == NULL)
        return fault_set(fault, ERR_TRUNCATED, elf->bytes, "ELF section table");
    return ERR_NONE;
}

enum status elf_open(const void *data, size_t bytes, struct elf *out, struct fault *fault)
{
    const uint8_t *head = data;

    memset(out, 0, sizeof *out);
    if (!elf_recognize(data, bytes))
        return fault_set(fault, ERR_UNSUPPORTED, 0, "ELF magic");
    out->data = head;
    out->bytes = bytes;
    if (bytes < 52 || (head[4] == 2 && bytes < 64))
        return fault_set(fault, ERR_TRUNCATED, bytes, "ELF header");
    if ((head[4] != 1 && head[4] != 2) || (head[5] != 1 && head[5] != 2))
        return fault_set(fault, ERR_MALFORMED, 4, "ELF class and byte order");
    out->is_64 = head[4] == 2;
    out->big_endian = head[5] == 2;
    const size_t word = out->is_64 ? 8 : 4, sizes = out->is_64 ? 52 : 40;
    out->type = (uint16_t)elf_number(out, head + 16, 2);
    out->machine = (uint16_t)elf_number(out, head + 18, 2);
    out->segment_foff = elf_number(out, head + 24 + word, (uint32_t)word);
    out->section_foff = elf_number(out, head + 24 + 2 * word, (uint32_t)word);
    out->segment_count = (uint32_t)elf_number(out, head + sizes + 4, 2);
    out->section_count = (uint32_t)elf_number(out, head + sizes + 8, 2);
    out->names_section = (uint32_t)elf_number(out, head + sizes + 10, 2);
    const enum status status = read_section_table(out, head + sizes + 6, fault);
    if (status != ERR_NONE && !segments_are_whole(out))
        return status;
    if (status != ERR_NONE) { /* as the loader, which does not read it */
        *fault = (struct fault)FAULT_INIT;
        out->section_count = 0;
    }
    find_base(out);
    return ERR_NONE;
}

static void write_hex(const uint8_t *at, size_t bytes, char out[ELF_BUILD_ID_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; i < bytes && 2 * i + 2 < ELF_BUILD_ID_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", at[i]);
}

/* A note: sizes of name and description, type, name, description; both padded to 4. */
static bool note_build_id(const struct elf *elf, const uint8_t *at, uint64_t left,
                          char out[ELF_BUILD_ID_BYTES])
{
    while (left >= 12) {
        const uint64_t name = elf_number(elf, at, 4), text = elf_number(elf, at + 4, 4);
        const uint64_t type = elf_number(elf, at + 8, 4);
        const uint64_t start = 12 + (name + 3) / 4 * 4, size = start + (text + 3) / 4 * 4;
        if (start > left || text > left - start)
            return false;
        if (type == NOTE_BUILD_ID && name == 4 && memcmp(at + 12, "GNU", 4) == 0 && text > 0) {
            write_hex(at + start, (size_t)text, out);
            return true;
        }
        if (size > left)
            return false;
        at += size;
        left -= size;
    }
    return false;
}

bool elf_build_id(const struct elf *elf, char out[ELF_BUILD_ID_BYTES])
{
    struct elf_section section;

    out[0] = '\0';
    for (uint32_t i = 0; i < elf->section_count; i++) {
        if (!elf_section(elf, i, &section) || section.type != SECTION_NOTE)
            continue;
        const uint8_t *at = elf_at(elf, section.foff, section.bytes);
        if (at != NULL && note_build_id(elf, at, section.bytes, out))
            return true;
    }
    struct elf_segment segment;
    for (uint32_t i = 0; elf->section_count == 0 && elf_segment(elf, i, &segment); i++) {
        const uint8_t *at = elf_at(elf, segment.foff, segment.file_bytes);
        if (segment.type == SEGMENT_NOTE && at != NULL &&
            note_build_id(elf, at, segment.file_bytes, out))
            return true;
    }
    return false;
}

bool elf_debug_link(const struct elf *elf, const char **name, uint32_t *crc)
{
    struct elf_section section;
    if (!elf_section_named(elf, ".gnu_debuglink", &section))
        return false;
    const uint8_t *at = elf_at(elf, section.foff, section.bytes);
    const uint8_t *end = at != NULL ? memchr(at, 0, (size_t)section.bytes) : NULL;
    if (end == NULL)
        return false;
    const uint64_t place = ((uint64_t)(end - at) + 4) / 4 * 4;
    if (place + 4 > section.bytes)
        return false;
    *name = (const char *)at;
    *crc = (uint32_t)elf_number(elf, at + place, 4);
    return end != at;
}

/*     OFFSET SIZE  .debug_sup of DWARF 5 (7.3.6), as `dwz --dwarf-5` writes it
 *          0    2  version: 5
 *          2    1  1: this is the file that data were moved to
 *          3       name of the other file, ULEB128 bytes of its build id, build id */
static bool supplementary_link(const struct elf *elf, const char **name,
                               char build_id[ELF_BUILD_ID_BYTES])
{
    enum { HEAD_BYTES = 3, VERSION = 5, LENGTH_MAX = 0x7f }; /* of a ULEB128 of one byte */
    struct elf_section section;
    if (!elf_section_named(elf, ".debug_sup", &section) || section.bytes < HEAD_BYTES)
        return false;
    const uint8_t *at = elf_at(elf, section.foff, section.bytes);
    if (at == NULL || elf_number(elf, at, 2) != VERSION || at[2] != 0)
        return false;
    const uint8_t *text = at + HEAD_BYTES;
    const uint8_t *end = memchr(text, 0, (size_t)section.bytes - HEAD_BYTES);
    const uint64_t left = end != NULL ? section.bytes - (uint64_t)(end - at) - 1 : 0;
    if (end == text || left == 0 || end[1] > LENGTH_MAX || end[1] > left - 1)
        return false;
    *name = (const char *)text;
    write_hex(end + 2, end[1], build_id);
    return true;
}

bool elf_alternate_link(const struct elf *elf, const char **name, char build_id[ELF_BUILD_ID_BYTES])
{
    struct elf_section section;
    if (supplementary_link(elf, name, build_id))
        return true;
    if (!elf_section_named(elf, ".gnu_debugaltlink", &section))
        return false;
    const uint8_t *at = elf_at(elf, section.foff, section.bytes);
    const uint8_t *end = at != NULL ? memchr(at, 0, (size_t)section.bytes) : NULL;
    if (end == NULL || end == at)
        return false;
    *name = (const char *)at;
    write_hex(end + 1, (size_t)(section.bytes - (uint64_t)(end - at) - 1), build_id);
    return true;
}

uint32_t elf_debug_link_crc(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uLong crc = crc32(0, NULL, 0);
    while (bytes > 0) {
        const uInt step = bytes < (1U << 30) ? (uInt)bytes : 1U << 30;
        crc = crc32(crc, at, step);
        at += step;
        bytes -= step;
    }
    return (uint32_t)crc;
}
