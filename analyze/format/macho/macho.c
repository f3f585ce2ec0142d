/* Headers, load commands and sections of Mach-O files; see macho.h.
 *
 * Header: u32 magic, cpu, subtype, type, commands, bytes of commands, flags, [64 bits: u32 0].
 * LC_SEGMENT_64: u32 command, bytes, char name[16], u64 va, bytes, foff, file bytes, u32 maximal
 * and initial protection, sections, flags; then sections of 80 bytes: char name[16], segment[16],
 * u64 va, bytes, u32 foff, alignment, relocations' foff and count, flags, 3 reserved.
 * LC_SEGMENT has u32 for u64 and sections of 68 bytes with 2 reserved. */
#include "format/macho/macho.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

#define MAGIC_32 0xfeedfaceu
#define MAGIC_64 0xfeedfacfu
#define MAGIC_32_BIG 0xcefaedfeu
#define MAGIC_64_BIG 0xcffaedfeu
#define MAGIC_FAT 0xcafebabeu
#define MAGIC_FAT_64 0xcafebabfu

enum {
    COMMAND_SEGMENT = 0x1,
    COMMAND_SYMTAB = 0x2,
    COMMAND_SEGMENT_64 = 0x19,
    COMMAND_UUID = 0x1b,
    COMMAND_FUNCTION_STARTS = 0x26,
    SLICES_MAX = 32, /* the magic of fat files is also that of Java classes: version 45 and up */
    TYPE_OBJECT = 1,
};

static uint32_t big_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_thin(const uint8_t *data, size_t bytes)
{
    const uint32_t magic = bytes >= 4 ? load_u32(data) : 0;
    return magic == MAGIC_32 || magic == MAGIC_64 || magic == MAGIC_32_BIG || magic == MAGIC_64_BIG;
}

/* The number of slices; 0: not a fat file. */
static uint32_t slice_count(const uint8_t *data, size_t bytes)
{
    if (bytes < 8 || (big_u32(data) != MAGIC_FAT && big_u32(data) != MAGIC_FAT_64))
        return 0;
    const uint32_t count = big_u32(data + 4);
    return count <= SLICES_MAX ? count : 0;
}

bool macho_recognize(const void *data, size_t bytes)
{
    return is_thin(data, bytes) || slice_count(data, bytes) > 0;
}

bool macho_slice(const void *data, size_t bytes, uint32_t index, struct byte_view *out)
{
    const uint8_t *at = data;
    const uint32_t count = slice_count(at, bytes);

    if (count == 0) {
        *out = (struct byte_view){at, bytes};
        return index == 0;
    }
    const bool wide = big_u32(at) == MAGIC_FAT_64;
    const size_t size = wide ? 32 : 20, row = 8 + index * size;
    if (index >= count || row + size > bytes)
        return false;
    const uint64_t foff = wide ? (uint64_t)big_u32(at + row + 8) << 32 | big_u32(at + row + 12)
                               : big_u32(at + row + 8);
    const uint64_t length = wide ? (uint64_t)big_u32(at + row + 16) << 32 | big_u32(at + row + 20)
                                 : big_u32(at + row + 12);
    if (foff > bytes || length > bytes - foff)
        return false;
    *out = (struct byte_view){at + foff, (size_t)length};
    return true;
}

/* Load command NUMBER; NULL: there is none.  *bytes is its size, at least 8. */
static const uint8_t *command_at(const struct macho *macho, uint32_t *place, uint32_t *bytes)
{
    const uint32_t head = macho->is_64 ? 32 : 28;
    if (*place > macho->command_bytes || macho->command_bytes - *place < 8)
        return NULL;
    const uint8_t *at = macho->data + head + *place;
    *bytes = load_u32(at + 4);
    if (*bytes < 8 || *bytes > macho->command_bytes - *place)
        return NULL;
    *place += *bytes;
    return at;
}

static void read_command(struct macho *macho, const uint8_t *at, uint32_t bytes)
{
    const uint32_t command = load_u32(at);
    const uint32_t least = macho->is_64 ? 72 : 56;

    if ((command == COMMAND_SEGMENT_64 || command == COMMAND_SEGMENT) && bytes >= least) {
        if (strncmp((const char *)at + 8, "__TEXT", 16) == 0)
            macho->base_va = macho->is_64 ? load_u64(at + 24) : load_u32(at + 24);
    } else if (command == COMMAND_UUID && bytes >= 24) {
        macho->has_uuid = true;
        memcpy(macho->uuid, at + 8, 16);
    } else if (command == COMMAND_SYMTAB && bytes >= 24) {
        macho->symbols_foff = load_u32(at + 8);
        macho->symbol_count = load_u32(at + 12);
        macho->names_foff = load_u32(at + 16);
        macho->names_bytes = load_u32(at + 20);
    } else if (command == COMMAND_FUNCTION_STARTS && bytes >= 16) {
        macho->starts_foff = load_u32(at + 8);
        macho->starts_bytes = load_u32(at + 12);
    }
}

enum status macho_open(const void *data, size_t bytes, struct macho *out, struct fault *fault)
{
    const uint8_t *head = data;

    memset(out, 0, sizeof *out);
    if (!is_thin(head, bytes))
        return fault_set(fault, ERR_UNSUPPORTED, 0, "Mach-O magic");
    if (load_u32(head) == MAGIC_32_BIG || load_u32(head) == MAGIC_64_BIG)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "big-endian Mach-O");
    out->data = head;
    out->bytes = bytes;
    out->is_64 = load_u32(head) == MAGIC_64;
    const uint32_t head_bytes = out->is_64 ? 32 : 28;
    if (bytes < head_bytes)
        return fault_set(fault, ERR_TRUNCATED, bytes, "Mach-O header");
    out->cpu = load_u32(head + 4);
    out->cpu_subtype = load_u32(head + 8) & 0xffffff;
    out->type = load_u32(head + 12);
    out->command_count = load_u32(head + 16);
    out->command_bytes = load_u32(head + 20);
    if (out->command_bytes > bytes - head_bytes)
        return fault_set(fault, ERR_TRUNCATED, bytes, "Mach-O load commands");
    uint32_t place = 0;
    for (uint32_t i = 0; i < out->command_count; i++) {
        const uint32_t start = place;
        uint32_t command_bytes;
        const uint8_t *at = command_at(out, &place, &command_bytes);
        if (at == NULL)
            return fault_set(fault, ERR_MALFORMED, head_bytes + start, "Mach-O load command");
        read_command(out, at, command_bytes);
    }
    if (out->type == TYPE_OBJECT)
        out->base_va = 0;
    return ERR_NONE;
}

enum object_arch macho_arch(const struct macho *macho)
{
    static const struct {
        uint32_t cpu, subtype;
        enum object_arch arch;
    } rows[] = {
        {0x01000007, 8, ARCH_X86_64H},
        {0x01000007, UINT32_MAX, ARCH_X86_64},
        {0x0100000c, 2, ARCH_ARM64E},
        {0x0100000c, UINT32_MAX, ARCH_ARM64},
        {0x0200000c, UINT32_MAX, ARCH_ARM64_32},
        {7, UINT32_MAX, ARCH_I386},
        {12, 9, ARCH_ARMV7},
        {12, 11, ARCH_ARMV7S},
        {12, 12, ARCH_ARMV7K},
        {12, UINT32_MAX, ARCH_ARM},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].cpu == macho->cpu &&
            (rows[i].subtype == UINT32_MAX || rows[i].subtype == macho->cpu_subtype))
            return rows[i].arch;
    return ARCH_OTHER;
}

void macho_uuid(const struct macho *macho, char out[MACHO_UUID_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; macho->has_uuid && i < 16; i++)
        (void)snprintf(out + 2 * i, 3, "%02X", macho->uuid[i]);
}

static void read_section(const struct macho *macho, const uint8_t *at, struct macho_section *out)
{
    const bool wide = macho->is_64;
    const uint8_t *rest = at + (wide ? 48 : 40);

    memset(out, 0, sizeof *out);
    memcpy(out->name, at, 16);
    memcpy(out->segment, at + 16, 16);
    out->va = wide ? load_u64(at + 32) : load_u32(at + 32);
    out->bytes = wide ? load_u64(at + 40) : load_u32(at + 36);
    out->foff = load_u32(rest);
    out->relocations_foff = load_u32(rest + 8);
    out->relocation_count = load_u32(rest + 12);
    out->flags = load_u32(rest + 16);
}

bool macho_section(const struct macho *macho, uint32_t index, struct macho_section *out)
{
    const uint32_t head = macho->is_64 ? 72 : 56, size = macho->is_64 ? 80 : 68;
    uint32_t place = 0;

    for (uint32_t i = 0; i < macho->command_count; i++) {
        uint32_t bytes;
        const uint8_t *at = command_at(macho, &place, &bytes);
        if (at == NULL)
            return false;
        if (load_u32(at) != (macho->is_64 ? COMMAND_SEGMENT_64 : COMMAND_SEGMENT) || bytes < head)
            continue;
        const uint32_t room = (bytes - head) / size, stated = load_u32(at + head - 8);
        const uint32_t count = stated < room ? stated : room;
        if (index < count) {
            read_section(macho, at + head + (size_t)index * size, out);
            return true;
        }
        index -= count;
    }
    return false;
}

bool archive_recognize(const void *data, size_t bytes)
{
    return bytes >= 8 && memcmp(data, "!<arch>\n", 8) == 0;
}

static uint64_t decimal(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && at[i] >= '0' && at[i] <= '9'; i++)
        value = value * 10 + (at[i] - '0');
    return value;
}

/* Copies a name that ends at a NUL, at '/' and a newline, or at the end of its field. */
static void copy_name(const uint8_t *at, size_t bytes, char out[256])
{
    size_t n = 0;
    while (n < bytes && n < 255 && at[n] != '\0' && at[n] != '\n')
        n++;
    memcpy(out, at, n);
    while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == '/'))
        n--;
    out[n] = '\0';
}

/* A member's head: name[16], time[12], owner[6], group[6], mode[8], bytes[10], "`\n". */
bool archive_next(const void *data, size_t bytes, uint64_t *at, struct archive_member *out)
{
    const uint8_t *all = data;

    if (*at == 0)
        *at = archive_recognize(data, bytes) ? 8 : bytes;
    if (*at > bytes || bytes - *at < 60 || memcmp(all + *at + 58, "`\n", 2) != 0)
        return false;
    const uint8_t *head = all + *at;
    const uint64_t size = decimal(head + 48, 10), left = bytes - *at - 60;
    if (size > left)
        return false;
    out->data = (struct byte_view){head + 60, (size_t)size};
    *at += 60 + size + (size & 1);
    if (memcmp(head, "#1/", 3) == 0) { /* BSD: the name precedes the bytes */
        const uint64_t length = decimal(head + 3, 13);
        if (length > size)
            return false;
        copy_name(head + 60, (size_t)length, out->name);
        out->data = (struct byte_view){head + 60 + length, (size_t)(size - length)};
    } else {
        copy_name(head, 16, out->name);
    }
    return true;
}
