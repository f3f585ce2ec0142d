/* Contents of ELF sections: unpacking, symbols, debug information; see elf.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/elf/elf_bytes.h"

enum {
    FLAG_ALLOCATED = 2,
    FLAG_CODE = 4,
    FLAG_PACKED = 0x800,
    PACKED_BY_ZLIB = 1,
    PACKED_BY_ZSTD = 2,
    TYPE_SYMTAB = 2,
    TYPE_DYNSYM = 11,
    SYMBOL_NOTYPE = 0,
    SYMBOL_FUNCTION = 2,
    SYMBOL_IFUNC = 10,
    SYMBOL_RESERVED = 0xff00, /* from here on these are not section numbers, except 0xffff */
    MACHINE_PPC64 = 21,
    MACHINE_ARM = 40,
    SEGMENT_LOAD = 1,
    SEGMENT_CODE = 1,
};

/* SHF_COMPRESSED: u32 kind, [64 bits: u32 0], size, alignment, and then the packed bytes. */
static enum status unpack_section(const struct elf *elf, struct byte_view packed,
                                  struct arena *keep, struct byte_view *out, struct fault *fault)
{
    const uint32_t word = elf->is_64 ? 8 : 4;
    const size_t head = elf->is_64 ? 24 : 12;

    if (packed.bytes < head)
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "header of a packed section");
    const uint64_t kind = elf_number(elf, packed.data, 4);
    const uint64_t bytes = elf_number(elf, packed.data + word, word);
    const struct byte_view data = {packed.data + head, packed.bytes - head};
    if (kind != PACKED_BY_ZLIB && kind != PACKED_BY_ZSTD)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "packing of an ELF section");
    return object_unpack(kind == PACKED_BY_ZLIB ? PACKED_ZLIB : PACKED_ZSTD, data, bytes, keep, out,
                         fault);
}

enum status elf_section_bytes(const struct elf *elf, const struct elf_section *section,
                              struct arena *keep, struct byte_view *out, struct fault *fault)
{
    *out = (struct byte_view){NULL, 0};
    if (section->type == SECTION_NO_BYTES || section->bytes == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "bytes of an ELF section");
    const uint8_t *at = elf_at(elf, section->foff, section->bytes);
    if (at == NULL)
        return fault_set(fault, ERR_TRUNCATED, section->foff, "ELF section");
    const struct byte_view data = {at, (size_t)section->bytes};
    if ((section->flags & FLAG_PACKED) != 0)
        return unpack_section(elf, data, keep, out, fault);
    if (strncmp(section->name, ".zdebug_", 8) == 0) { /* "ZLIB", u64 size, big-endian */
        uint64_t bytes = 0;
        if (data.bytes < 12 || memcmp(at, "ZLIB", 4) != 0)
            return fault_set(fault, ERR_MALFORMED, section->foff, "header of a packed section");
        for (int i = 4; i < 12; i++)
            bytes = bytes << 8 | at[i];
        const struct byte_view packed = {at + 12, data.bytes - 12};
        return object_unpack(PACKED_ZLIB, packed, bytes, keep, out, fault);
    }
    *out = data;
    return ERR_NONE;
}

enum status elf_mini_image(const struct elf *elf, struct arena *keep, struct byte_view *out,
                           struct fault *fault)
{
    struct elf_section section;
    struct byte_view packed;

    if (!elf_section_named(elf, ".gnu_debugdata", &section))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, ".gnu_debugdata");
    if (elf_section_bytes(elf, &section, keep, &packed, fault) != ERR_NONE)
        return fault->code;
    return object_unpack(PACKED_XZ, packed, 0, keep, out, fault);
}

/* True for the assembler's mapping symbols for code and data ("$x", "$d.1", of RISC-V also
 * "$xrv64i2p1") and its local labels (".L1"; "$L1" on MIPS, "$C$L1" on TI's processors). Swift's
 * names begin with "$s" or "$S". */
static bool is_mark(const char *name)
{
    if (name[0] != '$')
        return strncmp(name, ".L", 2) == 0 || name[0] == '\0';
    return name[1] == 'L' || strncmp(name, "$C$", 3) == 0 || strncmp(name, "$xrv", 4) == 0 ||
           (name[1] != '\0' && strchr("abdfmptx", name[1]) != NULL &&
            (name[2] == '\0' || name[2] == '.'));
}

static bool is_in_code_segment(const struct elf *elf, uint64_t va)
{
    struct elf_segment s;
    for (uint32_t i = 0; elf_segment(elf, i, &s); i++)
        if (s.type == SEGMENT_LOAD && (s.flags & SEGMENT_CODE) != 0 && va >= s.va &&
            va - s.va < s.bytes)
            return true;
    return false;
}

/* Without a table of sections the segments say what is code. */
static bool is_in_code(const struct elf *elf, uint64_t place, uint64_t va)
{
    if (place == UINT16_MAX)
        return true;
    return elf->section_count > 0 ? (elf_section_flags(elf, (uint32_t)place) & FLAG_CODE) != 0
                                  : is_in_code_segment(elf, va);
}

/* The symbol of a function of 64-bit PowerPC may be of its descriptor in .opd, which begins with
 * the address of its code. Source: 64-bit PowerPC ELF ABI Supplement 1.9, "Function Descriptors".
 * False: it is not. */
static bool follow_descriptor(const struct elf *elf, uint64_t place, uint64_t *va)
{
    struct elf_section section;
    if (elf->machine != MACHINE_PPC64 || !elf->is_64 ||
        (elf->section_count > 0 &&
         (!elf_section(elf, (uint32_t)place, &section) || section.type == SECTION_NO_BYTES)))
        return false;
    const struct byte_view descriptor = elf_loaded_bytes(elf, *va);
    if (descriptor.bytes < 8)
        return false;
    *va = elf_number(elf, descriptor.data, 8);
    return is_in_code_segment(elf, *va);
}

/* One row of a symbol table: 24 bytes {u32 name, u8 info, u8 other, u16 section, u64 value, u64
 * bytes}, or 16 {u32 name, u32 value, u32 bytes, u8 info, u8 other, u16 section}. */
static bool read_symbol(const struct elf *elf, const uint8_t *row, struct byte_view names,
                        struct object_symbol *out)
{
    const bool wide = elf->is_64;
    const uint64_t name = elf_number(elf, row, 4);
    const uint8_t info = row[wide ? 4 : 12];
    const uint64_t place = elf_number(elf, row + (wide ? 6 : 14), 2);
    uint64_t va = elf_number(elf, row + (wide ? 8 : 4), wide ? 8 : 4);
    const uint64_t bytes = elf_number(elf, row + (wide ? 16 : 8), wide ? 8 : 4);
    const int type = info & 15;

    if (type != SYMBOL_FUNCTION && type != SYMBOL_IFUNC && type != SYMBOL_NOTYPE)
        return false;
    if (elf->machine == MACHINE_ARM && type == SYMBOL_FUNCTION)
        va &= ~(uint64_t)1; /* Thumb */
    if (place == 0 || (place >= SYMBOL_RESERVED && place != UINT16_MAX) || name >= names.bytes ||
        memchr(names.data + name, 0, (size_t)(names.bytes - name)) == NULL)
        return false;
    if (!is_in_code(elf, place, va) &&
        (type != SYMBOL_FUNCTION || !follow_descriptor(elf, place, &va)))
        return false;
    if (va < elf->base_va || va - elf->base_va > UINT32_MAX ||
        is_mark((const char *)names.data + name))
        return false;
    *out = (struct object_symbol){.offset = (uint32_t)(va - elf->base_va),
                                  .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : 0,
                                  .name = (const char *)names.data + name,
                                  .global = info >> 4 != 0};
    return true;
}

/* The bytes of a table of symbols and of its names. *damaged: they are unreadable. */
static bool table_bytes(const struct elf *elf, const struct elf_section *table, struct arena *keep,
                        struct byte_view *rows, struct byte_view *names, bool *damaged)
{
    struct fault damage = FAULT_INIT;
    struct elf_section names_section;

    if (elf_section(elf, table->link, &names_section) &&
        elf_section_bytes(elf, table, keep, rows, &damage) == ERR_NONE &&
        elf_section_bytes(elf, &names_section, keep, names, &damage) == ERR_NONE)
        return true;
    *damaged = *damaged || damage.code != ERR_ABSENT; /* debug files hold no bytes */
    return false;
}

static bool is_table(const struct elf *elf, uint32_t index, struct elf_section *out)
{
    return elf_section(elf, index, out) && (out->type == TYPE_SYMTAB || out->type == TYPE_DYNSYM);
}

bool elf_symbols_are_whole(const struct elf *elf, struct arena *keep)
{
    struct elf_section table;
    struct byte_view rows, names;
    bool damaged = false;

    for (uint32_t i = 0; i < elf->section_count; i++)
        if (is_table(elf, i, &table))
            (void)table_bytes(elf, &table, keep, &rows, &names, &damaged);
    return !damaged;
}

static enum status add_rows(const struct elf *elf, struct byte_view rows, struct byte_view names,
                            struct arena *keep, struct object_symbols *out, struct fault *fault)
{
    const uint64_t size = elf->is_64 ? 24 : 16;

    for (uint64_t i = 1; i < rows.bytes / size; i++) {
        struct object_symbol symbol;
        if (read_symbol(elf, rows.data + i * size, names, &symbol) &&
            object_symbol_add(out, keep, symbol, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

enum status elf_add_symbols(const struct elf *elf, struct arena *keep, struct object_symbols *out,
                            struct fault *fault)
{
    struct byte_view rows, names;

    if (elf->section_count == 0 && elf_dynamic_symbols(elf, &rows, &names))
        return add_rows(elf, rows, names, keep, out, fault);
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct elf_section section;
        if (is_table(elf, i, &section) &&
            table_bytes(elf, &section, keep, &rows, &names, &out->damaged) &&
            add_rows(elf, rows, names, keep, out, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

ARRAY_ORDER(compare_ranges, struct object_range, start_va)

/* Code is in executable sections or, without section headers, in executable segments. */
static void find_code(const struct elf *elf, struct arena *keep, struct object_debug *out)
{
    const uint32_t room = elf->section_count + elf->segment_count;
    struct object_range *ranges = ARENA_ARRAY(keep, (size_t)room + 1, struct object_range);
    uint32_t count = 0;

    for (uint32_t i = 0; ranges != NULL && i < elf->section_count; i++) {
        struct elf_section s;
        if (elf_section(elf, i, &s) && (s.flags & FLAG_CODE) != 0 &&
            (s.flags & FLAG_ALLOCATED) != 0 && s.bytes <= UINT64_MAX - s.va && s.bytes > 0)
            ranges[count++] = (struct object_range){s.va, s.va + s.bytes};
    }
    struct elf_segment s;
    for (uint32_t i = 0; ranges != NULL && elf->section_count == 0 && elf_segment(elf, i, &s); i++)
        if (s.type == SEGMENT_LOAD && (s.flags & SEGMENT_CODE) != 0 && s.bytes > 0 &&
            s.bytes <= UINT64_MAX - s.va)
            ranges[count++] = (struct object_range){s.va, s.va + s.bytes};
    if (count > 0)
        array_sort(ranges, count, sizeof *ranges, compare_ranges);
    out->code = ranges;
    out->code_count = count;
}

bool elf_debug(const struct elf *elf, struct arena *keep, struct object_debug *out,
               struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->base_va = elf->base_va;
    out->address_bytes = elf->is_64 ? 8 : 4;
    out->big_endian = elf->big_endian;
    find_code(elf, keep, out);
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct fault damage = FAULT_INIT;
        struct elf_section section = {.name = ""};
        struct byte_view *slot =
            elf_section(elf, i, &section) ? object_debug_slot(out, section.name) : NULL;
        if (slot == NULL && section.name_lost)
            fault_set(fault, ERR_TRUNCATED, section.foff, "names of sections");
        if (slot == NULL || slot->data != NULL)
            continue;
        if (elf_section_bytes(elf, &section, keep, slot, &damage) != ERR_NONE &&
            damage.code != ERR_ABSENT)
            fault_set_lasting(fault, damage.code, section.foff, damage.what, NULL);
    }
    return out->own[DEBUG_INFO].data != NULL || out->split[DEBUG_INFO].data != NULL;
}
