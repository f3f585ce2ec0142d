/* One unit of DWARF: its functions, inlined calls and lines; see pe_dwarf.h. */
#include <stdlib.h>
#include <string.h>

#include "format/dwarf/pe_dwarf_parts.h"

uint64_t dwarf_die_base(Dwarf_Die die)
{
    Dwarf_Error error = NULL;
    Dwarf_Addr low = 0;
    return dwarf_lowpc(die, &low, &error) == DW_DLV_OK ? low : 0;
}

/* The number that attribute NAME holds; false when there is none. */
static bool die_number(Dwarf_Die die, Dwarf_Half name, uint64_t *out)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Unsigned value = 0;
    Dwarf_Signed signed_value = 0;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return false;
    bool good = dwarf_formudata(attribute, &value, &error) == DW_DLV_OK;
    if (!good && dwarf_formsdata(attribute, &signed_value, &error) == DW_DLV_OK &&
        signed_value >= 0) {
        value = (Dwarf_Unsigned)signed_value;
        good = true;
    }
    dwarf_dealloc_attribute(attribute);
    *out = value;
    return good;
}

/* DWARF 2 to 4: .debug_ranges. */
static void old_ranges(struct pe_dwarf *dwarf, Dwarf_Die die, Dwarf_Off offset, uint64_t base_va,
                       void (*found)(void *, uint64_t, uint64_t), void *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Ranges *ranges;
    Dwarf_Signed count;
    Dwarf_Unsigned bytes;
    Dwarf_Off real;

    if (dwarf_get_ranges_b(dwarf->debug, offset, die, &real, &ranges, &count, &bytes, &error) !=
        DW_DLV_OK)
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base_va = ranges[i].dwr_addr2;
        else if (ranges[i].dwr_type == DW_RANGES_ENTRY)
            found(context, base_va + ranges[i].dwr_addr1, base_va + ranges[i].dwr_addr2);
    }
    dwarf_ranges_dealloc(dwarf->debug, ranges, count);
}

/* DWARF 5: .debug_rnglists. */
static void new_ranges(Dwarf_Attribute attribute, Dwarf_Half form, Dwarf_Unsigned where,
                       void (*found)(void *, uint64_t, uint64_t), void *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Rnglists_Head head;
    Dwarf_Unsigned count, global;

    if (dwarf_rnglists_get_rle_head(attribute, form, where, &head, &count, &global, &error) !=
        DW_DLV_OK)
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length, kind;
        Dwarf_Unsigned raw1, raw2, low, high;
        Dwarf_Bool unavailable;
        if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw1, &raw2, &unavailable,
                                              &low, &high, &error) != DW_DLV_OK)
            break;
        if (kind == DW_RLE_end_of_list)
            break;
        if (!unavailable && kind != DW_RLE_base_address && kind != DW_RLE_base_addressx)
            found(context, low, high);
    }
    (void)dwarf_dealloc_rnglists_head(head);
}

void dwarf_die_ranges(struct pe_dwarf *dwarf, Dwarf_Die die, uint64_t base_va,
                      void (*found)(void *, uint64_t, uint64_t), void *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Half form, version, offset_size;
    Dwarf_Unsigned where = 0;
    Dwarf_Off offset = 0;

    if (dwarf_attr(die, DW_AT_ranges, &attribute, &error) == DW_DLV_OK) {
        if (dwarf_whatform(attribute, &form, &error) == DW_DLV_OK &&
            dwarf_get_version_of_die(die, &version, &offset_size) == DW_DLV_OK) {
            if (form == DW_FORM_rnglistx) {
                if (dwarf_formudata(attribute, &where, &error) == DW_DLV_OK)
                    new_ranges(attribute, form, where, found, context);
            } else if (dwarf_global_formref(attribute, &offset, &error) == DW_DLV_OK) {
                if (version >= 5)
                    new_ranges(attribute, form, offset, found, context);
                else
                    old_ranges(dwarf, die, offset, base_va, found, context);
            }
        }
        dwarf_dealloc_attribute(attribute);
        return;
    }
    Dwarf_Addr low, high;
    enum Dwarf_Form_Class class;
    if (dwarf_lowpc(die, &low, &error) == DW_DLV_OK &&
        dwarf_highpc_b(die, &high, &form, &class, &error) == DW_DLV_OK)
        found(context, low, class == DW_FORM_CLASS_ADDRESS ? high : low + high);
}

/* The entry that an attribute of DIE refers to; NULL: none.  Owned by the caller. */
static Dwarf_Die die_reference(struct pe_dwarf *dwarf, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Die found = NULL;
    Dwarf_Off offset;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return NULL;
    if (dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK ||
        dwarf_offdie_b(dwarf->debug, offset, 1, &found, &error) != DW_DLV_OK)
        found = NULL;
    dwarf_dealloc_attribute(attribute);
    return found;
}

static char *die_text(Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Error error = NULL;
    char *text = NULL;
    return dwarf_die_text(die, name, &text, &error) == DW_DLV_OK ? text : NULL;
}

/* The linkage name, else the name, of DIE or of what it was made from: abstract origins and
 * specifications, followed a few steps. */
static const char *die_name(struct pe_dwarf *dwarf, Dwarf_Die die)
{
    const char *name = NULL;
    Dwarf_Die at = die;

    for (int step = 0; step < 4 && at != NULL; step++) {
        const char *linkage = die_text(at, DW_AT_linkage_name);
        if (linkage == NULL)
            linkage = die_text(at, DW_AT_MIPS_linkage_name);
        if (linkage != NULL || name == NULL)
            name = linkage != NULL ? linkage : die_text(at, DW_AT_name);
        Dwarf_Die next = NULL;
        if (linkage == NULL && (next = die_reference(dwarf, at, DW_AT_abstract_origin)) == NULL)
            next = die_reference(dwarf, at, DW_AT_specification);
        if (at != die)
            dwarf_dealloc_die(at);
        at = next;
    }
    if (at != NULL && at != die)
        dwarf_dealloc_die(at);
    return arena_string(&dwarf->arena, name);
}

struct scope_target {
    struct pe_dwarf *dwarf;
    struct dwarf_unit *unit;
    struct dwarf_scope scope;
    bool first;
};

static void add_scope(void *context, uint64_t low_va, uint64_t high_va)
{
    struct scope_target *to = context;
    struct dwarf_unit *unit = to->unit;
    const uint64_t base = to->dwarf->pe.preferred_base_va;

    if (low_va < base || high_va <= low_va || high_va - base > UINT32_MAX ||
        unit->scope_count == PE_DWARF_SCOPES_MAX)
        return;
    if (unit->scope_count == unit->scope_room) {
        const uint32_t room = unit->scope_room * 2 + 128;
        struct dwarf_scope *wider = realloc(unit->scopes, room * sizeof *wider);
        if (wider == NULL)
            return;
        unit->scopes = wider;
        unit->scope_room = room;
    }
    to->scope.low = (uint32_t)(low_va - base);
    to->scope.high = (uint32_t)(high_va - base);
    if (to->first)
        to->scope.start = to->scope.low;
    to->first = false;
    unit->scopes[unit->scope_count++] = to->scope;
}

/* Takes DIE in when it is a function or an inlined call; returns the depth of what is in it. */
static uint32_t take_entry(struct pe_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Die die,
                           Dwarf_Half tag, uint32_t depth)
{
    struct scope_target to = {dwarf, unit, {0}, true};
    uint64_t number;

    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
        return depth;
    to.scope.depth = tag == DW_TAG_subprogram ? 0 : depth;
    if (to.scope.depth > PE_DWARF_DEPTH_MAX)
        return depth;
    to.scope.call_file = UINT32_MAX;
    if (die_number(die, DW_AT_call_file, &number) && number < UINT32_MAX)
        to.scope.call_file = (uint32_t)number;
    if (die_number(die, DW_AT_call_line, &number) && number < UINT32_MAX)
        to.scope.call_line = (uint32_t)number;
    const uint32_t before = unit->scope_count;
    dwarf_die_ranges(dwarf, die, unit->base_va, add_scope, &to);
    if (unit->scope_count > before) {
        const char *name = die_name(dwarf, die);
        for (uint32_t i = before; i < unit->scope_count; i++)
            unit->scopes[i].name = name;
    }
    return to.scope.depth + 1;
}

/* Walks the entries below DIE; declarations and types have nothing for us below them. */
static void walk_entries(struct pe_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Die parent,
                         uint32_t depth, uint32_t tree_depth)
{
    Dwarf_Error error = NULL;
    Dwarf_Die die;

    if (tree_depth == PE_DWARF_TREE_DEPTH || dwarf_child(parent, &die, &error) != DW_DLV_OK)
        return;
    for (;;) {
        Dwarf_Half tag = 0;
        Dwarf_Die next;
        (void)dwarf_tag(die, &tag, &error);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
            tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
            tag == DW_TAG_structure_type)
            walk_entries(dwarf, unit, die, take_entry(dwarf, unit, die, tag, depth),
                         tree_depth + 1);
        const bool more = dwarf_siblingof_b(dwarf->debug, die, 1, &next, &error) == DW_DLV_OK;
        dwarf_dealloc_die(die);
        if (!more)
            return;
        die = next;
    }
}

static int compare_rows(const void *left, const void *right)
{
    const struct dwarf_row *a = left;
    const struct dwarf_row *b = right;
    if (a->rva != b->rva)
        return a->rva < b->rva ? -1 : 1;
    if (a->ends != b->ends)
        return a->ends ? -1 : 1; /* an end gives way to what starts there */
    return (a->order > b->order) - (a->order < b->order);
}

/* Folder NUMBER of a line table; "" when there is none.  0 is where the compiler ran, which DWARF 5
 * puts into the table and earlier ones beside it. */
static const char *folder_name(Dwarf_Line_Context table, Dwarf_Unsigned version,
                               Dwarf_Unsigned number)
{
    Dwarf_Error error = NULL;
    Dwarf_Signed count = 0;
    const char *name = NULL;

    if (dwarf_srclines_include_dir_count(table, &count, &error) != DW_DLV_OK)
        return "";
    if (version < 5 && number == 0)
        (void)dwarf_srclines_comp_dir(table, &name, &error);
    else if (number < (Dwarf_Unsigned)count + (version < 5 ? 1 : 0))
        (void)dwarf_srclines_include_dir_data(table, (Dwarf_Signed)number, &name, &error);
    return name != NULL ? name : "";
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] != '\0' && path[1] == ':');
}

/* The file table.  libdwarf's own dwarf_srcfiles() believes folder numbers without a check. */
static void read_files(struct pe_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Line_Context table,
                       Dwarf_Unsigned version)
{
    Dwarf_Error error = NULL;
    Dwarf_Signed first, count, end;

    if (dwarf_srclines_files_indexes(table, &first, &count, &end, &error) != DW_DLV_OK ||
        first < 0 || end < first || end > PE_DWARF_FILES_MAX)
        return;
    unit->files = ARENA_ARRAY(&dwarf->arena, (size_t)end + 1, const char *);
    if (unit->files == NULL)
        return;
    unit->file_count = (uint32_t)end;
    for (Dwarf_Signed i = first; i < end; i++) {
        const char *name = NULL;
        Dwarf_Unsigned folder = 0, time, bytes;
        Dwarf_Form_Data16 *digest;
        if (dwarf_srclines_files_data_b(table, i, &name, &folder, &time, &bytes, &digest, &error) !=
                DW_DLV_OK ||
            name == NULL)
            continue;
        const char *in = is_absolute(name) ? "" : folder_name(table, version, folder);
        unit->files[i] = arena_printf(&dwarf->arena, "%s%s%s", in, *in != '\0' ? "/" : "", name);
    }
}

static void read_rows(struct pe_dwarf *dwarf, struct dwarf_unit *unit, const Dwarf_Line *lines,
                      Dwarf_Signed count)
{
    const uint64_t base = dwarf->pe.preferred_base_va;

    unit->rows = ARENA_ARRAY(&dwarf->arena, (size_t)count, struct dwarf_row);
    for (Dwarf_Signed i = 0; unit->rows != NULL && i < count; i++) {
        Dwarf_Error error = NULL;
        Dwarf_Addr address = 0;
        Dwarf_Unsigned line = 0, file = UINT32_MAX;
        Dwarf_Bool ends = 0;
        (void)dwarf_lineaddr(lines[i], &address, &error);
        (void)dwarf_lineno(lines[i], &line, &error);
        (void)dwarf_lineendsequence(lines[i], &ends, &error);
        (void)dwarf_line_srcfileno(lines[i], &file, &error);
        if (address < base || address - base > UINT32_MAX || line > UINT32_MAX)
            continue;
        unit->rows[unit->row_count++] =
            (struct dwarf_row){.rva = (uint32_t)(address - base),
                               .line = (uint32_t)line,
                               .order = (uint32_t)i,
                               .file = file < unit->file_count ? unit->files[file] : NULL,
                               .ends = ends != 0};
    }
    if (unit->row_count > 0)
        qsort(unit->rows, unit->row_count, sizeof *unit->rows, compare_rows);
}

static void read_lines(struct pe_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Die die)
{
    Dwarf_Error error = NULL;
    Dwarf_Line_Context table;
    Dwarf_Line *lines;
    Dwarf_Signed count;
    Dwarf_Unsigned version;
    Dwarf_Small kind;

    if (dwarf_srclines_b(die, &version, &kind, &table, &error) != DW_DLV_OK)
        return;
    read_files(dwarf, unit, table, version);
    if (dwarf_srclines_from_linecontext(table, &lines, &count, &error) == DW_DLV_OK && count > 0)
        read_rows(dwarf, unit, lines, count);
    dwarf_srclines_dealloc_b(table);
}

void dwarf_read_unit(struct pe_dwarf *dwarf, struct dwarf_unit *unit)
{
    Dwarf_Error error = NULL;
    Dwarf_Die die;

    unit->read = true;
    if (dwarf_offdie_b(dwarf->debug, unit->offset, 1, &die, &error) != DW_DLV_OK)
        return;
    walk_entries(dwarf, unit, die, 0, 0);
    read_lines(dwarf, unit, die);
    dwarf_dealloc_die(die);
}
