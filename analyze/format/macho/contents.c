/* Contents of Mach-O files: symbols, the debug map, sections of debug information; see macho.h.
 *
 * A symbol is 16 bytes (12 with 32 bits): u32 name, u8 type, u8 section, u16 description, u64 [u32]
 * value. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/macho/macho.h"

enum {
    SYMBOL_STAB = 0xe0,
    SYMBOL_TYPE = 0x0e,
    SYMBOL_EXTERNAL = 0x01,
    SYMBOL_SECTION = 0x0e,
    STAB_FUNCTION = 0x24, /* N_FUN: a name and where it starts, then an empty one and its size */
    STAB_OBJECT = 0x66,   /* N_OSO */
    SECTION_CODE = (int)0x80000000, /* S_ATTR_PURE_INSTRUCTIONS */
    SECTION_SOME_CODE = 0x400,
    SECTION_ZERO_FILL = 1,
    SECTIONS_MAX = 255,
    RELOCATION_UNSIGNED = 0,
    RELOCATION_SUBTRACTOR_X64 = 5,
    RELOCATION_SUBTRACTOR_ARM64 = 1,
    CPU_X64 = 0x01000007,
    TYPE_OBJECT = 1,
    TYPE_DSYM = 10,
};

struct symbol {
    const char *name;
    uint8_t type, section;
    uint64_t value;
};

/* Reads symbol NUMBER; false: it or its name is outside the file. */
static bool symbol_at(const struct macho *macho, uint32_t number, struct symbol *out)
{
    const uint32_t size = macho->is_64 ? 16 : 12;
    const uint64_t foff = macho->symbols_foff + (uint64_t)number * size;
    if (number >= macho->symbol_count || foff > macho->bytes || macho->bytes - foff < size)
        return false;
    const uint8_t *at = macho->data + foff;
    const uint32_t name = load_u32(at);
    if (name >= macho->names_bytes || macho->names_foff > macho->bytes ||
        macho->names_bytes > macho->bytes - macho->names_foff)
        return false;
    const char *text = (const char *)macho->data + macho->names_foff + name;
    if (memchr(text, 0, macho->names_bytes - name) == NULL)
        return false;
    *out = (struct symbol){text, at[4], at[5], macho->is_64 ? load_u64(at + 8) : load_u32(at + 8)};
    return true;
}

static bool is_code(const struct macho_section *section)
{
    return ((section->flags & (uint32_t)SECTION_CODE) != 0 ||
            (section->flags & SECTION_SOME_CODE) != 0) &&
           (section->flags & 0xff) != SECTION_ZERO_FILL;
}

/* The sections by number; 0 means none. */
struct sections {
    struct macho_section at[SECTIONS_MAX + 1];
    uint32_t count;
};

/* Old versions of dsymutil state 0 as the size of every section that has no bytes in the dSYM.
 * Their addresses are right, so each section ends where the next one starts. */
static void restore_sizes(struct sections *sections)
{
    for (uint32_t i = 1; i <= sections->count; i++)
        if (is_code(&sections->at[i]) && sections->at[i].bytes > 0)
            return;
    for (uint32_t i = 1; i <= sections->count; i++) {
        struct macho_section *section = &sections->at[i];
        uint64_t end_va = UINT64_MAX;
        for (uint32_t k = 1; k <= sections->count; k++)
            if (sections->at[k].va > section->va && sections->at[k].va < end_va)
                end_va = sections->at[k].va;
        if (is_code(section) && end_va != UINT64_MAX)
            section->bytes = end_va - section->va;
    }
}

static struct sections *read_sections(const struct macho *macho, struct arena *keep)
{
    struct sections *out = ARENA_NEW(keep, struct sections);
    while (out != NULL && out->count < SECTIONS_MAX &&
           macho_section(macho, out->count, &out->at[out->count + 1]))
        out->count++;
    if (out != NULL && macho->type == TYPE_DSYM)
        restore_sizes(out);
    return out;
}

enum status macho_add_symbols(const struct macho *macho, struct arena *keep,
                              struct object_symbols *out, struct fault *fault)
{
    const struct sections *sections = read_sections(macho, keep);
    struct symbol s;

    if (sections == NULL)
        return fault_no_memory(fault, "symbol table");
    for (uint32_t i = 0; i < macho->symbol_count; i++) {
        if (!symbol_at(macho, i, &s)) {
            out->damaged = true;
            break;
        }
        if ((s.type & SYMBOL_STAB) != 0 || (s.type & SYMBOL_TYPE) != SYMBOL_SECTION ||
            s.section == 0 || s.section > sections->count)
            continue;
        const struct macho_section *in = &sections->at[s.section];
        const bool is_header = s.value == macho->base_va && macho->type != TYPE_OBJECT;
        if ((!is_header && (!is_code(in) || s.value < in->va || s.value - in->va >= in->bytes)) ||
            s.value < macho->base_va || s.value - macho->base_va > UINT32_MAX ||
            strncmp(s.name, "ltmp", 4) == 0 || s.name[0] == '\0')
            continue;
        const struct object_symbol symbol = {.offset = (uint32_t)(s.value - macho->base_va),
                                             .name = s.name + (s.name[0] == '_'),
                                             .global = (s.type & SYMBOL_EXTERNAL) != 0};
        if (object_symbol_add(out, keep, symbol, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

enum status macho_function_starts(const struct macho *macho, struct arena *keep, uint32_t **out,
                                  uint32_t *count, struct fault *fault)
{
    uint64_t offset = 0;

    *out = NULL;
    *count = 0;
    if (macho->starts_foff > macho->bytes ||
        macho->starts_bytes > macho->bytes - macho->starts_foff)
        return ERR_NONE;
    const uint8_t *at = macho->data + macho->starts_foff, *end = at + macho->starts_bytes;
    uint32_t *starts = ARENA_ARRAY(keep, (size_t)macho->starts_bytes + 1, uint32_t);
    if (starts == NULL)
        return fault_no_memory(fault, "function starts");
    while (at < end && *at != 0) {
        uint64_t step = 0;
        unsigned shift = 0;
        for (bool more = true; more && at < end; at++) {
            step |= shift < 64 ? (uint64_t)(*at & 0x7f) << shift : 0;
            shift += 7;
            more = (*at & 0x80) != 0;
        }
        offset += step;
        if (offset > UINT32_MAX)
            break;
        starts[(*count)++] = (uint32_t)offset;
    }
    *out = starts;
    return ERR_NONE;
}

enum status macho_debug_map(const struct macho *macho, struct arena *keep,
                            struct macho_mapped **out, uint32_t *count, struct fault *fault)
{
    const char *object = NULL, *name = NULL;
    uint64_t start = 0;
    uint32_t room = 0;
    struct symbol s;

    *out = NULL;
    *count = 0;
    for (uint32_t i = 0; i < macho->symbol_count && symbol_at(macho, i, &s); i++)
        room += s.type == STAB_FUNCTION && s.name[0] == '\0';
    struct macho_mapped *mapped = ARENA_ARRAY(keep, (size_t)room + 1, struct macho_mapped);
    if (mapped == NULL)
        return fault_no_memory(fault, "debug map");
    for (uint32_t i = 0; i < macho->symbol_count && symbol_at(macho, i, &s); i++) {
        if (s.type == STAB_OBJECT) {
            object = s.name[0] != '\0' ? s.name : NULL;
        } else if (s.type == STAB_FUNCTION && s.name[0] != '\0') {
            name = s.name;
            start = s.value;
        } else if (s.type == STAB_FUNCTION && name != NULL) {
            if (object != NULL && start >= macho->base_va && start - macho->base_va <= UINT32_MAX &&
                s.value > 0 && s.value <= UINT32_MAX - (start - macho->base_va))
                mapped[(*count)++] = (struct macho_mapped){
                    object, name, (uint32_t)(start - macho->base_va), (uint32_t)s.value};
            name = NULL;
        }
    }
    *out = mapped;
    return ERR_NONE;
}

ARRAY_ORDER_TEXT(compare_names, struct macho_name, name)

enum status macho_names(const struct macho *macho, struct arena *keep, struct macho_name **out,
                        uint32_t *count, struct fault *fault)
{
    struct symbol s;
    uint32_t room = 0;

    *out = NULL;
    *count = 0;
    while (room < macho->symbol_count && symbol_at(macho, room, &s))
        room++;
    struct macho_name *names = ARENA_ARRAY(keep, (size_t)room + 1, struct macho_name);
    if (names == NULL)
        return fault_no_memory(fault, "symbol table");
    for (uint32_t i = 0; i < room && symbol_at(macho, i, &s); i++)
        if ((s.type & SYMBOL_STAB) == 0 && (s.type & SYMBOL_TYPE) == SYMBOL_SECTION)
            names[(*count)++] = (struct macho_name){s.name, s.value};
    if (*count > 0)
        array_sort(names, *count, sizeof *names, compare_names);
    *out = names;
    return ERR_NONE;
}

/* Adds to the number of 4 or 8 bytes at AT. */
static void add_at(uint8_t *at, uint32_t bytes, uint64_t value)
{
    const uint64_t sum = (bytes == 8 ? load_u64(at) : load_u32(at)) + value;
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(sum >> 8 * i);
}

/* Relocates a section of an object. A relocation is u32 offset, u24 symbol or section, u1 relative,
 * u2 logarithm of the bytes, u1 symbol, u4 type. If it names a section, the data already holds the
 * address; if it names a symbol, the data holds only the addend. */
static struct byte_view relocate(const struct macho *macho, const struct macho_section *section,
                                 struct byte_view data, struct arena *keep)
{
    const int subtractor =
        macho->cpu == CPU_X64 ? RELOCATION_SUBTRACTOR_X64 : RELOCATION_SUBTRACTOR_ARM64;
    uint8_t *copy = NULL;

    if (section->relocations_foff > macho->bytes)
        return data;
    const size_t room = (macho->bytes - section->relocations_foff) / 8;
    for (size_t i = 0; i < section->relocation_count && i < room; i++) {
        const uint8_t *row = macho->data + section->relocations_foff + 8 * i;
        const uint32_t place = load_u32(row), word = load_u32(row + 4);
        const uint32_t bytes = 1U << (word >> 25 & 3);
        const int type = (int)(word >> 28);
        struct symbol s;
        if ((word >> 27 & 1) == 0 || (type != RELOCATION_UNSIGNED && type != subtractor) ||
            bytes < 4 || place > data.bytes || data.bytes - place < bytes ||
            !symbol_at(macho, word & 0xffffff, &s))
            continue;
        if (copy == NULL && (copy = arena_alloc(keep, data.bytes)) != NULL)
            memcpy(copy, data.data, data.bytes);
        if (copy == NULL)
            return (struct byte_view){NULL, 0};
        add_at(copy + place, bytes, type == subtractor ? 0 - s.value : s.value);
    }
    return copy != NULL ? (struct byte_view){copy, data.bytes} : data;
}

static void read_debug_section(const struct macho *macho, const struct macho_section *section,
                               struct arena *keep, struct byte_view *slot, struct fault *fault)
{
    if (section->foff > macho->bytes || section->bytes > macho->bytes - section->foff) {
        fault_set(fault, ERR_TRUNCATED, section->foff, "Mach-O section");
        return;
    }
    struct byte_view data = {macho->data + section->foff, (size_t)section->bytes};
    if (strncmp(section->name, "__zdebug_", 9) == 0) { /* "ZLIB", u64 size, big-endian */
        uint64_t bytes = 0;
        for (size_t i = 4; i < 12 && data.bytes >= 12; i++)
            bytes = bytes << 8 | data.data[i];
        const struct byte_view packed = {data.data + 12, data.bytes - 12};
        if (data.bytes < 12 || memcmp(data.data, "ZLIB", 4) != 0)
            fault_set(fault, ERR_MALFORMED, section->foff, "header of a packed section");
        else
            (void)object_unpack(PACKED_ZLIB, packed, bytes, keep, slot, fault);
        return;
    }
    if (macho->type == TYPE_OBJECT)
        data = relocate(macho, section, data, keep);
    *slot = data;
}

ARRAY_ORDER(compare_ranges, struct object_range, start_va)

bool macho_debug(const struct macho *macho, struct arena *keep, struct object_debug *out,
                 struct fault *fault)
{
    const struct sections *sections = read_sections(macho, keep);
    struct object_range *code =
        sections != NULL ? ARENA_ARRAY(keep, (size_t)sections->count + 1, struct object_range)
                         : NULL;

    memset(out, 0, sizeof *out);
    out->base_va = macho->base_va;
    out->address_bytes = macho->is_64 ? 8 : 4;
    if (code == NULL)
        return false;
    for (uint32_t i = 1; i <= sections->count; i++) {
        const struct macho_section *section = &sections->at[i];
        if (is_code(section) && section->bytes > 0 && section->bytes <= UINT64_MAX - section->va)
            code[out->code_count++] =
                (struct object_range){section->va, section->va + section->bytes};
        struct byte_view *slot =
            strcmp(section->segment, "__DWARF") == 0 ? object_debug_slot(out, section->name) : NULL;
        if (slot != NULL && slot->data == NULL)
            read_debug_section(macho, section, keep, slot, fault);
    }
    if (out->code_count > 0)
        array_sort(code, out->code_count, sizeof *code, compare_ranges);
    out->code = code;
    return out->own[DEBUG_INFO].data != NULL;
}
