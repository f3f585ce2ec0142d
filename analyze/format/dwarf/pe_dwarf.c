/* DWARF in PE images through libdwarf; see pe_dwarf.h.
 *
 * libdwarf asks for sections through callbacks; sections count from 1, because it takes number 0
 * for the empty one of ELF.  Opening reads the ranges of every unit and nothing else; a unit's
 * functions and lines are read when the first address falls into it (pe_dwarf_unit.c) and kept. */
#include "format/dwarf/pe_dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/dwarf/pe_dwarf_parts.h"

/* The sections that are asked about here; others are not shown, so that nothing in them can be
 * damaged. */
static bool is_needed(const struct pe_dwarf *dwarf, const char *name)
{
    static const char *const names[] = {".debug_info", ".debug_abbrev",      ".debug_line",
                                        ".debug_str",  ".debug_line_str",    ".debug_ranges",
                                        ".debug_addr", ".debug_str_offsets", ".debug_rnglists"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return strcmp(name, ".debug_rnglists") != 0 || dwarf->rnglists_good;
    return false;
}

/* Checks the headers of .debug_rnglists: length, version 5, address size, no segments, offsets. */
static bool check_rnglists(const struct pe *pe)
{
    struct fault fault = FAULT_INIT;
    struct pe_section section;

    if (!pe_section_named(pe, ".debug_rnglists", &section) || section.foff > pe->bytes ||
        section.raw_bytes > pe->bytes - section.foff)
        return false;
    const uint32_t size =
        section.virtual_bytes < section.raw_bytes ? section.virtual_bytes : section.raw_bytes;
    struct bytes r = bytes_over(pe->data + section.foff, size, &fault);
    while (r.left > 0) {
        const uint32_t length = bytes_u32(&r);
        struct bytes unit = bytes_window(&r, 0, length);
        const uint16_t version = bytes_u16(&unit);
        const uint8_t address_bytes = bytes_u8(&unit);
        const uint8_t segment_bytes = bytes_u8(&unit);
        (void)bytes_count(&unit, bytes_u32(&unit), 4);
        bytes_skip(&r, length);
        if (bytes_failed(&r) || version != 5 || segment_bytes != 0 ||
            address_bytes != (pe->is_64 ? 8 : 4))
            return false;
    }
    return true;
}

static int get_section(void *object, Dwarf_Half index, Dwarf_Obj_Access_Section *out, int *error)
{
    const struct pe_dwarf *dwarf = object;
    struct pe_section section;

    (void)error;
    memset(out, 0, sizeof *out);
    out->name = "";
    if (index == 0)
        return DW_DLV_OK;
    if (!pe_section(&dwarf->pe, index - 1U, &section))
        return DW_DLV_NO_ENTRY;
    const char *name = pe_section_name(&dwarf->pe, &section);
    if (!is_needed(dwarf, name))
        return DW_DLV_OK;
    out->name = name;
    out->size =
        section.virtual_bytes < section.raw_bytes ? section.virtual_bytes : section.raw_bytes;
    return DW_DLV_OK;
}

static int load_section(void *object, Dwarf_Half index, Dwarf_Small **out, int *error)
{
    const struct pe_dwarf *dwarf = object;
    struct pe_section section;

    (void)error;
    if (index == 0 || !pe_section(&dwarf->pe, index - 1U, &section) ||
        section.foff > dwarf->pe.bytes || section.raw_bytes > dwarf->pe.bytes - section.foff)
        return DW_DLV_NO_ENTRY;
    /* libdwarf's type lacks the const that it keeps: without relocations it only reads */
    union {
        const uint8_t *from;
        Dwarf_Small *to;
    } data = {dwarf->pe.data + section.foff};
    *out = data.to;
    return DW_DLV_OK;
}

static Dwarf_Endianness get_byte_order(void *object)
{
    (void)object;
    return DW_OBJECT_LSB;
}

static Dwarf_Small get_length_size(void *object)
{
    (void)object;
    return 4;
}

static Dwarf_Small get_pointer_size(void *object)
{
    const struct pe_dwarf *dwarf = object;
    return dwarf->pe.is_64 ? 8 : 4;
}

static Dwarf_Unsigned get_section_count(void *object)
{
    const struct pe_dwarf *dwarf = object;
    return dwarf->pe.section_count + 1U;
}

static const Dwarf_Obj_Access_Methods methods = {
    get_section,  get_byte_order, get_length_size, get_pointer_size, get_section_count,
    load_section, NULL,
};

static bool add_range(struct pe_dwarf *dwarf, uint64_t low_va, uint64_t high_va, uint32_t unit)
{
    const uint64_t base = dwarf->pe.preferred_base_va;
    if (low_va < base || high_va <= low_va || high_va - base > UINT32_MAX)
        return true; /* code that the linker dropped has ranges at 0 */
    if (dwarf->range_count == dwarf->range_room) {
        const uint32_t room = dwarf->range_room * 2 + 256;
        struct unit_range *wider = realloc(dwarf->ranges, room * sizeof *wider);
        if (wider == NULL)
            return false;
        dwarf->ranges = wider;
        dwarf->range_room = room;
    }
    dwarf->ranges[dwarf->range_count++] =
        (struct unit_range){(uint32_t)(low_va - base), (uint32_t)(high_va - base), unit};
    return true;
}

struct unit_ranges {
    struct pe_dwarf *dwarf;
    uint32_t unit;
    bool enough;
};

static void note_unit_range(void *context, uint64_t low_va, uint64_t high_va)
{
    struct unit_ranges *to = context;
    to->enough = to->enough && add_range(to->dwarf, low_va, high_va, to->unit);
}

static bool add_unit(struct pe_dwarf *dwarf, Dwarf_Die die)
{
    Dwarf_Error error = NULL;
    struct unit_ranges to = {dwarf, dwarf->unit_count, true};
    Dwarf_Off offset;

    if (dwarf_dieoffset(die, &offset, &error) != DW_DLV_OK)
        return true;
    if (dwarf->unit_count == dwarf->unit_room) {
        const uint32_t room = dwarf->unit_room * 2 + 64;
        struct dwarf_unit *wider = realloc(dwarf->units, room * sizeof *wider);
        if (wider == NULL)
            return false;
        dwarf->units = wider;
        dwarf->unit_room = room;
    }
    struct dwarf_unit *unit = &dwarf->units[dwarf->unit_count++];
    memset(unit, 0, sizeof *unit);
    unit->offset = offset;
    unit->base_va = dwarf_die_base(die);
    dwarf_die_ranges(dwarf, die, unit->base_va, note_unit_range, &to);
    return to.enough;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct unit_range *a = left;
    const struct unit_range *b = right;
    return a->low < b->low ? -1 : a->low > b->low;
}

/* Lists every unit with its ranges. */
static enum status list_units(struct pe_dwarf *dwarf, struct fault *fault)
{
    Dwarf_Error error = NULL;
    Dwarf_Unsigned next = 0, length, type_offset;
    Dwarf_Half version, address_size, length_size, extension_size, kind;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature;

    while (dwarf_next_cu_header_d(dwarf->debug, 1, &length, &version, &abbreviations, &address_size,
                                  &length_size, &extension_size, &signature, &type_offset, &next,
                                  &kind, &error) == DW_DLV_OK) {
        Dwarf_Die die;
        if (dwarf->unit_count == PE_DWARF_UNITS_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "DWARF units");
        if (dwarf_siblingof_b(dwarf->debug, NULL, 1, &die, &error) != DW_DLV_OK)
            continue;
        const bool enough = add_unit(dwarf, die);
        dwarf_dealloc_die(die);
        if (!enough)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "DWARF units");
    }
    if (dwarf->range_count > 0)
        qsort(dwarf->ranges, dwarf->range_count, sizeof *dwarf->ranges, compare_ranges);
    return ERR_NONE;
}

enum status pe_dwarf_open(const struct pe *pe, struct pe_dwarf **out, struct fault *fault)
{
    struct pe_section section;
    Dwarf_Error error = NULL;

    *out = NULL;
    if (!pe_section_named(pe, ".debug_info", &section))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "DWARF");
    struct pe_dwarf *dwarf = calloc(1, sizeof *dwarf);
    if (dwarf == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "DWARF");
    arena_init(&dwarf->arena, 0);
    dwarf->pe = *pe;
    dwarf->rnglists_good = check_rnglists(pe);
    dwarf->object = (Dwarf_Obj_Access_Interface){dwarf, &methods};
    if (dwarf_object_init_b(&dwarf->object, NULL, NULL, DW_GROUPNUMBER_ANY, &dwarf->debug,
                            &error) != DW_DLV_OK) {
        dwarf->debug = NULL;
        fault_set(fault, ERR_MALFORMED, section.foff, "DWARF");
    } else {
        (void)list_units(dwarf, fault);
    }
    if (fault->code != ERR_NONE) {
        pe_dwarf_close(dwarf);
        return fault->code;
    }
    *out = dwarf;
    return ERR_NONE;
}

void pe_dwarf_close(struct pe_dwarf *dwarf)
{
    Dwarf_Error error = NULL;
    if (dwarf == NULL)
        return;
    if (dwarf->debug != NULL)
        (void)dwarf_object_finish(dwarf->debug, &error);
    for (uint32_t i = 0; i < dwarf->unit_count; i++)
        free(dwarf->units[i].scopes);
    free(dwarf->units);
    free(dwarf->ranges);
    arena_free(&dwarf->arena);
    free(dwarf);
}

static struct dwarf_unit *find_unit(struct pe_dwarf *dwarf, uint32_t rva)
{
    uint32_t low = 0, high = dwarf->range_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (dwarf->ranges[middle].low <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || dwarf->ranges[low - 1].high <= rva)
        return NULL;
    return &dwarf->units[dwarf->ranges[low - 1].unit];
}

/* The line record that covers RVA; NULL: none. */
static const struct dwarf_row *find_row(const struct dwarf_unit *unit, uint32_t rva)
{
    uint32_t low = 0, high = unit->row_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (unit->rows[middle].rva <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 || unit->rows[low - 1].ends ? NULL : &unit->rows[low - 1];
}

/* The unit that RVA lies in, read; NULL: none. */
static struct dwarf_unit *unit_of(struct pe_dwarf *dwarf, uint32_t rva)
{
    struct dwarf_unit *unit = find_unit(dwarf, rva);
    if (unit != NULL && !unit->read)
        dwarf_read_unit(dwarf, unit);
    return unit;
}

uint32_t pe_dwarf_lines(struct pe_dwarf *dwarf, uint32_t rva, uint32_t *out, uint32_t max)
{
    const struct dwarf_unit *unit = unit_of(dwarf, rva);
    const struct dwarf_row *last = unit != NULL ? find_row(unit, rva) : NULL;
    const struct dwarf_row *row = last;
    uint32_t count = 0;

    if (row == NULL)
        return 0;
    while (row > unit->rows && row[-1].rva == last->rva && !row[-1].ends)
        row--;
    for (; row <= last && count < max; row++)
        out[count++] = row->line;
    return count;
}

static const char *file_name(const struct dwarf_unit *unit, uint32_t number)
{
    return number < unit->file_count ? unit->files[number] : NULL;
}

uint32_t pe_dwarf_lookup(struct pe_dwarf *dwarf, uint32_t rva, struct pe_dwarf_frame *out,
                         uint32_t max)
{
    const struct dwarf_scope *chain[PE_DWARF_DEPTH_MAX + 1] = {NULL};
    struct dwarf_unit *unit = unit_of(dwarf, rva);
    uint32_t deepest = 0, count = 0;

    if (unit == NULL || max == 0)
        return 0;
    for (uint32_t i = 0; i < unit->scope_count; i++) {
        const struct dwarf_scope *scope = &unit->scopes[i];
        if (scope->low > rva || scope->high <= rva || chain[scope->depth] != NULL)
            continue;
        chain[scope->depth] = scope;
        if (scope->depth > deepest)
            deepest = scope->depth;
    }
    if (chain[0] == NULL)
        return 0;
    const struct dwarf_row *row = find_row(unit, rva);
    const char *file = row != NULL ? row->file : NULL;
    uint32_t line = row != NULL ? row->line : 0;
    for (uint32_t depth = deepest + 1; depth-- > 0 && count < max;) {
        const struct dwarf_scope *scope = chain[depth];
        if (scope == NULL)
            continue;
        out[count++] = (struct pe_dwarf_frame){scope->name, file, line, chain[0]->start};
        file = file_name(unit, scope->call_file);
        line = scope->call_line;
    }
    return count;
}
