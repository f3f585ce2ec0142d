/* The functions and inlined calls of one unit; see dwarf.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/parts.h"

enum { NAME_SLOTS = 1024 };

/* A scope while the unit is read: its parents come earlier. */
struct raw_scope {
    const char *name;
    uint32_t around; /* number + 1; 0: a function */
    uint32_t call_file, call_line;
    uint32_t start;
};

struct known_name { /* of an entry that is the origin of others */
    const struct dwarf_object *object;
    Dwarf_Off offset;
    const char *name;
};

struct reader {
    struct dwarf *dwarf;
    struct dwarf_unit *unit;
    struct raw_scope *scopes; /* owned */
    uint32_t scope_count, scope_room;
    struct scope_range *ranges; /* owned */
    uint32_t range_count, range_room;
    bool first; /* of the current scope */
    struct known_name names[NAME_SLOTS];
};

bool dwarf_is_code(const struct dwarf *dwarf, uint64_t low_va, uint64_t high_va, uint32_t *low,
                   uint32_t *high)
{
    const struct object_debug *debug = dwarf->debug;
    const uint64_t base = debug->base_va;

    if (low_va < base || high_va <= low_va || high_va - base > UINT32_MAX ||
        (debug->code_count > 0 && !object_is_code(debug, low_va)))
        return false; /* code that the linker dropped has ranges at 0 or at the top */
    *low = (uint32_t)(low_va - base);
    *high = (uint32_t)(high_va - base);
    return true;
}

/* The entry that an attribute of DIE refers to, and where its values are read; NULL: none.  Owned
 * by the caller. */
static Dwarf_Die reference(struct dwarf_context *context, Dwarf_Die die, Dwarf_Half name,
                           struct dwarf_context **to)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    struct dwarf_object *object = context->object;
    Dwarf_Die found = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off offset = 0;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return NULL;
    if (dwarf_whatform(attribute, &form, &error) == DW_DLV_OK &&
        (form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8))
        object = object->alternate;
    const bool expected = object != NULL && form != DW_FORM_ref_sig8;
    if (object != NULL && dwarf_global_formref(attribute, &offset, &error) == DW_DLV_OK &&
        (*to = dwarf_object_context(object, offset)) != NULL &&
        dwarf_offdie_b(object->debug, offset, 1, &found, &error) != DW_DLV_OK)
        found = NULL;
    dwarf_dealloc_attribute(attribute);
    context->damaged = context->damaged || (expected && found == NULL);
    return found;
}

/* Reads the bases of a unit that a reference led to. */
static void prepare(struct dwarf_context *context)
{
    Dwarf_Error error = NULL;
    Dwarf_Die die;
    struct dwarf_context *own = dwarf_object_context(context->object, context->offset);

    if (own == NULL || own->bases_read ||
        dwarf_offdie_b(own->object->debug, own->offset, 1, &die, &error) != DW_DLV_OK)
        return;
    dwarf_context_read(own, die);
    dwarf_dealloc_die(die);
}

/* True when LINKAGE is the name NAME with a calling convention of 32-bit Windows around it, as
 * clang
 * ("_f@8", "@f@8") and gcc ("f@8") write it, or with gfortran's underscore ("f_"). */
static bool is_decorated_name(const char *linkage, const char *name)
{
    const size_t bytes = strlen(name);

    if ((linkage[0] == '_' || linkage[0] == '@') && strncmp(linkage + 1, name, bytes) == 0)
        linkage++;
    if (bytes == 0 || strncmp(linkage, name, bytes) != 0)
        return false;
    if (strcmp(linkage + bytes, "_") == 0)
        return true;
    if (linkage[bytes] != '@')
        return false;
    const char *digits = linkage + bytes + strspn(linkage + bytes, "@");
    return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

/* The linkage name of DIE, otherwise its name; *linked: it is the linkage name. */
static const char *own_name(struct dwarf_context *context, Dwarf_Die die, bool *linked)
{
    const char *linkage = dwarf_text(context, die, DW_AT_linkage_name);

    if (linkage == NULL)
        linkage = dwarf_text(context, die, DW_AT_MIPS_linkage_name);
    *linked = linkage != NULL;
    if (linkage != NULL && strchr(linkage, '@') == NULL && linkage[0] != '\0' &&
        linkage[strlen(linkage) - 1] != '_')
        return linkage;
    const char *name = dwarf_text(context, die, DW_AT_name);
    return linkage == NULL || (name != NULL && is_decorated_name(linkage, name)) ? name : linkage;
}

/* The linkage name, otherwise the name, of DIE or of its origin: follows abstract origins and
 * specifications for a few steps. */
static const char *entry_name(struct dwarf_context *context, Dwarf_Die die)
{
    const char *name = NULL;
    Dwarf_Die at = die;

    for (int step = 0; step < DWARF_NAME_STEPS && at != NULL; step++) {
        bool linked = false;
        const char *own = own_name(context, at, &linked);
        if (linked || name == NULL)
            name = own;
        struct dwarf_context *to = context;
        Dwarf_Die next = NULL;
        if (!linked && (next = reference(context, at, DW_AT_abstract_origin, &to)) == NULL)
            next = reference(context, at, DW_AT_specification, &to);
        if (at != die)
            dwarf_dealloc_die(at);
        at = next;
        context = to;
        if (at != NULL)
            prepare(context);
    }
    if (at != NULL && at != die)
        dwarf_dealloc_die(at);
    return name;
}

/* The name of DIE; the name of an origin that several entries share is looked up once. */
static const char *scope_name(struct reader *reader, struct dwarf_context *context, Dwarf_Die die)
{
    Dwarf_Error error = NULL;
    Dwarf_Off offset;
    struct dwarf_context *to = context;
    Dwarf_Die origin = reference(context, die, DW_AT_abstract_origin, &to);

    if (origin == NULL)
        return entry_name(context, die);
    const char *name = NULL;
    if (dwarf_dieoffset(origin, &offset, &error) == DW_DLV_OK) {
        struct known_name *known =
            &reader->names[(uint32_t)(offset * 0x9e3779b1u >> 7) % NAME_SLOTS];
        if (known->object != to->object || known->offset != offset) {
            prepare(to);
            *known = (struct known_name){to->object, offset, entry_name(to, origin)};
        }
        name = known->name;
    }
    dwarf_dealloc_die(origin);
    return name;
}

static void add_range(void *context, uint64_t low_va, uint64_t high_va)
{
    struct reader *reader = context;
    uint32_t low, high;

    if (!dwarf_is_code(reader->dwarf, low_va, high_va, &low, &high) ||
        reader->range_count == DWARF_RANGES_MAX)
        return;
    if (reader->range_count == reader->range_room) {
        struct scope_range *wider = array_reserve(reader->ranges, &reader->range_room,
                                                  (uint64_t)reader->range_room + 1, sizeof *wider);
        if (wider == NULL)
            return;
        reader->ranges = wider;
    }
    reader->ranges[reader->range_count++] = (struct scope_range){low, high, reader->scope_count};
    if (reader->first)
        reader->scopes[reader->scope_count].start = low;
    reader->first = false;
}

static bool room_for_scope(struct reader *reader)
{
    if (reader->scope_count < reader->scope_room)
        return true;
    struct raw_scope *wider = array_reserve(reader->scopes, &reader->scope_room,
                                            (uint64_t)reader->scope_room + 1, sizeof *wider);
    if (wider == NULL)
        return false;
    reader->scopes = wider;
    return true;
}

/* Adds DIE as a scope if it is an inlined call or a function that has code. Returns the number + 1
 * of the scope that contains its child entries. */
static uint32_t take_entry(struct reader *reader, Dwarf_Die die, Dwarf_Half tag, uint32_t around)
{
    struct dwarf_context *context = reader->unit->full;
    uint64_t number;

    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
        return around;
    if (!room_for_scope(reader))
        return around;
    struct raw_scope *scope = &reader->scopes[reader->scope_count];
    *scope = (struct raw_scope){.call_file = UINT32_MAX};
    const uint32_t before = reader->range_count;
    reader->first = true;
    (void)dwarf_ranges(context, die, add_range, reader);
    if (reader->range_count == before && tag == DW_TAG_subprogram)
        return 0; /* an inlined call without code of its own may still contain others */
    scope->around = tag == DW_TAG_subprogram ? 0 : around;
    if (dwarf_number(die, DW_AT_call_file, &number) && number < UINT32_MAX)
        scope->call_file = (uint32_t)number;
    if (dwarf_number(die, DW_AT_call_line, &number) && number < UINT32_MAX)
        scope->call_line = (uint32_t)number;
    scope->name = scope_name(reader, context, die);
    return ++reader->scope_count;
}

static bool may_hold_code(Dwarf_Half tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return true;
    default:
        return false;
    }
}

/* Walks the entries below PARENT; AROUND is the number + 1 of the scope that contains them. */
static void walk_entries(struct reader *reader, Dwarf_Die parent, uint32_t around, uint32_t depth)
{
    Dwarf_Debug debug = reader->unit->full->object->debug;
    Dwarf_Error error = NULL;
    Dwarf_Die die;

    int status = depth < DWARF_TREE_DEPTH ? dwarf_child(parent, &die, &error) : DW_DLV_NO_ENTRY;
    while (status == DW_DLV_OK) {
        Dwarf_Half tag = 0;
        Dwarf_Die next;
        if (dwarf_tag(die, &tag, &error) != DW_DLV_OK)
            reader->unit->full->damaged = true;
        if (may_hold_code(tag))
            walk_entries(reader, die, take_entry(reader, die, tag, around), depth + 1);
        status = dwarf_siblingof_b(debug, die, 1, &next, &error);
        dwarf_dealloc_die(die);
        die = next;
    }
    if (status == DW_DLV_ERROR)
        reader->unit->full->damaged = true;
}

static const char *file_name(const struct dwarf_unit *unit, uint32_t number)
{
    return number < unit->file_count ? unit->files[number] : NULL;
}

/* Copies the scopes into the arena, where their addresses stay. */
static struct dwarf_scope *keep_scopes(struct reader *reader)
{
    struct arena *arena = &reader->dwarf->arena;
    struct dwarf_scope *scopes =
        ARENA_ARRAY(arena, (size_t)reader->scope_count + 1, struct dwarf_scope);

    for (uint32_t i = 0; scopes != NULL && i < reader->scope_count; i++) {
        const struct raw_scope *raw = &reader->scopes[i];
        scopes[i] = (struct dwarf_scope){
            .around = raw->around != 0 ? &scopes[raw->around - 1] : NULL,
            .name = raw->name,
            .call_file = file_name(reader->unit, raw->call_file),
            .call_line = raw->call_line,
            .start = raw->start,
            .ada = reader->unit->full->ada || reader->unit->skeleton->ada,
        };
    }
    return scopes;
}

static void walk_unit(struct reader *reader)
{
    Dwarf_Error error = NULL;
    Dwarf_Die die;
    struct dwarf_context *context = reader->unit->full;

    if (dwarf_offdie_b(context->object->debug, context->offset, 1, &die, &error) != DW_DLV_OK) {
        context->damaged = true;
        return;
    }
    walk_entries(reader, die, 0, 0);
    dwarf_dealloc_die(die);
}

void dwarf_read_unit(struct dwarf *dwarf, struct dwarf_unit *unit)
{
    struct reader *reader = calloc(1, sizeof *reader);

    unit->read = true;
    if (unit->skeleton->dwo_id != 0) {
        struct dwarf_context *full = dwarf_find_split(dwarf, unit->skeleton);
        if (full != NULL)
            unit->full = full;
    }
    dwarf_read_lines(dwarf, unit);
    if (reader == NULL)
        return;
    reader->dwarf = dwarf;
    reader->unit = unit;
    walk_unit(reader);
    unit->scopes = keep_scopes(reader);
    if (unit->scopes != NULL)
        dwarf_make_spans(dwarf, unit, reader->ranges, reader->range_count);
    free(reader->scopes);
    free(reader->ranges);
    free(reader);
}

void dwarf_unit_functions(struct dwarf *dwarf, struct dwarf_unit *unit, dwarf_range_fn *each,
                          void *context)
{
    const uint64_t base = dwarf->debug->base_va;

    if (!unit->read)
        dwarf_read_unit(dwarf, unit);
    for (uint32_t i = 0; i + 1 < unit->span_count; i++)
        if (unit->spans[i].scope != NULL || unit->spans[i].line != 0)
            each(context, base + unit->spans[i].start, base + unit->spans[i + 1].start);
}
