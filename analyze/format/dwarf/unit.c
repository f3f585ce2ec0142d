/* The functions and inlined calls of one unit; see dwarf.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

/* BYTES_PER_SCOPE: of entries, about; fewer of C++ that is all inlined. */
enum { NAME_SLOTS = 1024, BYTES_PER_SCOPE = 32 };

struct known_name { /* of an entry that is the origin of others */
    const struct dwarf_object *object;
    uint64_t offset;
    struct dwarf_name *names;
};

struct reader {
    struct dwarf *dwarf;
    struct dwarf_unit *unit;
    bool lacks_spans, asked;    /* the unit does; a question was answered without */
    struct dwarf_scope *scopes; /* the unit's; parents come first */
    uint32_t scope_count, scope_room;
    struct scope_range *ranges; /* owned */
    uint32_t range_count, range_room;
    bool first; /* of the current scope */
    struct sweep_memory sweep;
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

static const char *short_enough(const char *text)
{
    return text != NULL && memchr(text, 0, DWARF_TEXT_MAX) != NULL ? text : NULL;
}

const char *dwarf_choose_name(struct dwarf_name *name)
{
    const char *linkage = short_enough(name->linkage), *plain = short_enough(name->plain);
    const bool use_plain = linkage == NULL || (plain != NULL && is_decorated_name(linkage, plain));

    name->linkage = use_plain ? plain : linkage;
    name->plain = NULL;
    name->chosen = true;
    return name->linkage;
}

/* The entry that ENTRY is an instance of, or completes. */
static bool find_origin(struct dwarf_context *context, const struct dwarf_entry *entry,
                        struct dwarf_context **to, uint64_t *offset)
{
    return dwarf_reference(context, entry, AT_ABSTRACT_ORIGIN, to, offset) ||
           dwarf_reference(context, entry, AT_SPECIFICATION, to, offset);
}

/* Reads the entry that a reference leads to, and first the bases of its unit. */
static bool read_origin(struct dwarf_context *from, struct dwarf_context *context, uint64_t offset,
                        struct dwarf_entry *out)
{
    const bool good = (context->bases_read || dwarf_context_read(context, out)) &&
                      dwarf_entry_at(context, offset, out);
    from->damaged = from->damaged || !good;
    return good;
}

/* True for the entry of a function that other files see. Where it is inlined somewhere, its
 * abstract entry says so, and not that of its code. */
static bool is_external(const struct dwarf_entry *entry)
{
    if (!entry_has(entry, AT_EXTERNAL))
        return false;
    const struct dwarf_value flag = entry->values[AT_EXTERNAL];
    return flag.bytes == 0 || flag.at[0] != 0;
}

/* The linkage name and the name of ENTRY or of its origin: follows abstract origins and
 * specifications for a few steps, up to one with a linkage name. ENTRY is then lost. */
static struct dwarf_name *entry_names(struct arena *keep, struct dwarf_context *context,
                                      struct dwarf_entry *entry)
{
    struct dwarf_name *out = ARENA_NEW(keep, struct dwarf_name);

    for (int step = 0; out != NULL && step < DWARF_NAME_STEPS; step++) {
        struct dwarf_context *to;
        uint64_t offset;
        if (context->c && is_external(entry))
            out->is_linked_so = true;
        out->linkage = dwarf_text(context, entry, AT_LINKAGE_NAME);
        const bool damaged = context->damaged, linked = out->linkage != NULL;
        const char *plain = dwarf_text(context, entry, AT_NAME);
        if (linked || out->plain == NULL)
            out->plain = plain;
        if (linked)
            context->damaged = damaged; /* that name is not needed */
        if (linked || !find_origin(context, entry, &to, &offset) ||
            !read_origin(context, to, offset, entry))
            break;
        context = to;
    }
    return out;
}

/* The names of ENTRY; those of an origin that several entries share are looked up once. */
static struct dwarf_name *scope_names(struct reader *reader, struct dwarf_context *context,
                                      struct dwarf_entry *entry)
{
    struct dwarf_context *to;
    uint64_t offset;

    if (!dwarf_reference(context, entry, AT_ABSTRACT_ORIGIN, &to, &offset))
        return entry_names(&reader->dwarf->arena, context, entry);
    struct known_name *known = &reader->names[(uint32_t)(offset * 0x9e3779b1u >> 7) % NAME_SLOTS];
    if (known->object != to->object || known->offset != offset) {
        if (!read_origin(context, to, offset, entry))
            return NULL; /* each unit that refers to it is damaged */
        *known =
            (struct known_name){to->object, offset, entry_names(&reader->dwarf->arena, to, entry)};
    }
    return known->names;
}

static void add_range(void *context, uint64_t low_va, uint64_t high_va)
{
    struct reader *reader = context;
    uint32_t low, high;

    if (!dwarf_is_code(reader->dwarf, low_va, high_va, &low, &high) ||
        reader->range_count == DWARF_RANGES_MAX ||
        !ARRAY_ROOM(reader->ranges, reader->range_room, reader->range_count + 1))
        return;
    reader->ranges[reader->range_count++] = (struct scope_range){low, high, reader->scope_count};
    if (reader->first)
        reader->scopes[reader->scope_count].start = low;
    reader->first = false;
}

/* Adds ENTRY as a scope if it is an inlined call or a function that has code. Returns the number +
 * 1 of the scope that contains its child entries. ENTRY is then lost. */
static uint32_t take_entry(struct reader *reader, struct dwarf_entry *entry, uint32_t around)
{
    struct dwarf_context *context = reader->unit->full;
    const bool is_function = entry->is->tag == TAG_SUBPROGRAM;
    uint64_t number;

    if (is_function && !entry_has(entry, AT_RANGES) && !entry_has(entry, AT_LOW_PC))
        return 0;
    if (!ARRAY_ROOM(reader->scopes, reader->scope_room, (uint64_t)reader->scope_count + 1))
        return around;
    struct dwarf_scope *scope = &reader->scopes[reader->scope_count];
    *scope = (struct dwarf_scope){.number = is_function ? 0 : around,
                                  .ada = context->ada || reader->unit->skeleton->ada};
    const uint32_t before = reader->range_count;
    reader->first = true;
    (void)dwarf_ranges(context, entry, add_range, reader);
    if (reader->range_count == before && is_function)
        return 0; /* an inlined call without code of its own may still contain others */
    if (dwarf_number(context, entry, AT_CALL_FILE, &number) && number < UINT32_MAX)
        scope->call_file = dwarf_file_name(reader->unit, (uint32_t)number);
    if (dwarf_number(context, entry, AT_CALL_LINE, &number) && number < UINT32_MAX)
        scope->call_line = (uint32_t)number;
    scope->names = scope_names(reader, context, entry);
    scope->is_linked_so = is_function && scope->names != NULL && scope->names->is_linked_so;
    return ++reader->scope_count;
}

/* Tags of entries that may hold code. */
static const uint64_t with_code =
    UINT64_C(1) << TAG_SUBPROGRAM | UINT64_C(1) << TAG_INLINED_SUBROUTINE |
    UINT64_C(1) << TAG_LEXICAL_BLOCK | UINT64_C(1) << TAG_TRY_BLOCK |
    UINT64_C(1) << TAG_CATCH_BLOCK | UINT64_C(1) << TAG_WITH_STMT | UINT64_C(1) << TAG_NAMESPACE |
    UINT64_C(1) << TAG_MODULE | UINT64_C(1) << TAG_CLASS_TYPE | UINT64_C(1) << TAG_STRUCTURE_TYPE |
    UINT64_C(1) << TAG_UNION_TYPE | UINT64_C(1) << TAG_ENUMERATION_TYPE |
    UINT64_C(1) << TAG_INTERFACE_TYPE;

/* Skips the children of an entry, and theirs; AT is the first. NULL: they are damaged. */
static const uint8_t *skip_children(struct dwarf_context *context, const uint8_t *at)
{
    const uint8_t *end = context->object->sections[DEBUG_INFO].data + context->end;
    struct dwarf_entry entry;

    for (uint32_t depth = 1; depth > 0 && at < end; at = entry.next) {
        bool whole = true;
        if (!dwarf_entry_start(context, at, end, &entry) ||
            (entry.is != NULL && !dwarf_entry_skip(context, &entry, &whole)))
            return NULL;
        if (entry.is == NULL)
            depth--;
        else if (!whole)
            depth++;
    }
    return at;
}

/* Takes an entry that may hold code; *around: the scope that it is in, then that of its children.
 * Returns where these start; NULL: damage. */
static const uint8_t *enter(struct reader *reader, struct dwarf_entry *entry, uint32_t *around)
{
    struct dwarf_context *context = reader->unit->full;
    const uint16_t tag = entry->is->tag;

    if (tag != TAG_SUBPROGRAM && tag != TAG_INLINED_SUBROUTINE)
        return dwarf_entry_skip(context, entry, NULL) ? entry->next : NULL;
    if (!dwarf_entry_values(context, entry))
        return NULL;
    const uint8_t *next = entry->next;
    *around = take_entry(reader, entry, *around);
    return next;
}

/* Walks the entries below ROOT. */
static void walk_entries(struct reader *reader, const struct dwarf_entry *root)
{
    struct dwarf_context *context = reader->unit->full;
    const uint8_t *end = context->object->sections[DEBUG_INFO].data + context->end;
    const uint8_t *at = root->next;
    uint32_t around[DWARF_TREE_DEPTH + 1] = {0}; /* the scope that the entries of a depth are in */
    struct dwarf_entry entry;

    for (uint32_t depth = root->is->has_children; depth > 0 && at != NULL && at < end;) {
        if (!dwarf_entry_start(context, at, end, &entry))
            return;
        if (entry.is == NULL) {
            at = entry.next;
            depth--;
            continue;
        }
        const bool has_children = entry.is->has_children,
                   enters = entry.is->tag < 64 && (with_code >> entry.is->tag & 1) != 0;
        uint32_t inside = around[depth];
        bool whole = false;
        if (enters)
            at = enter(reader, &entry, &inside);
        else
            at = dwarf_entry_skip(context, &entry, &whole) ? entry.next : NULL;
        if (at == NULL || whole || !has_children)
            continue;
        if (enters && depth < DWARF_TREE_DEPTH)
            around[++depth] = inside;
        else
            at = skip_children(context, at);
    }
}

/* The scopes stay where they are from now on. */
static struct dwarf_scope *keep_scopes(struct reader *reader)
{
    struct dwarf_scope *scopes = ARRAY_FIT(reader->scopes, reader->scope_count);

    for (uint32_t i = 0; i < reader->scope_count; i++)
        scopes[i].around = scopes[i].number != 0 ? &scopes[scopes[i].number - 1] : NULL;
    return scopes;
}

static void finish_unit(struct reader *reader)
{
    if (reader->lacks_spans)
        dwarf_make_spans(&reader->sweep, reader->unit, reader->ranges, reader->range_count);
    reader->lacks_spans = false;
}

bool dwarf_first_span(struct dwarf *dwarf, const struct dwarf_unit *unit, uint32_t offset,
                      struct dwarf_span *out, uint64_t *end)
{
    struct reader *reader = dwarf->reader;

    if (reader == NULL || reader->unit != unit || !reader->lacks_spans)
        return false;
    if (reader->asked) {
        finish_unit(reader);
        return false;
    }
    reader->asked = true;
    *out = dwarf_span_at(unit, reader->ranges, reader->range_count, offset, end);
    return true;
}

void dwarf_read_unit(struct dwarf *dwarf, struct dwarf_unit *unit)
{
    struct dwarf_entry root;

    unit->read = true;
    if (unit->skeleton->dwo_id != 0) {
        struct dwarf_context *full = dwarf_find_split(dwarf, unit->skeleton);
        if (full != NULL)
            unit->full = full;
    }
    dwarf_read_lines(dwarf, unit);
    if (dwarf->reader == NULL)
        dwarf->reader = calloc(1, sizeof *dwarf->reader);
    struct reader *reader = dwarf->reader;
    if (reader == NULL)
        return;
    finish_unit(reader);
    reader->dwarf = dwarf;
    reader->unit = unit;
    reader->lacks_spans = true;
    reader->asked = false;
    reader->scopes = NULL;
    reader->scope_count = reader->scope_room = reader->range_count = 0;
    if (dwarf_context_read(unit->full, &root)) {
        const uint64_t about = (unit->full->end - unit->full->offset) / BYTES_PER_SCOPE;
        (void)ARRAY_ROOM(reader->scopes, reader->scope_room, about);
        (void)ARRAY_ROOM(reader->ranges, reader->range_room, about);
        walk_entries(reader, &root);
    }
    unit->scopes = keep_scopes(reader);
}

void dwarf_reader_free(struct reader *reader)
{
    if (reader == NULL)
        return;
    free(reader->ranges);
    free(reader->sweep.starts);
    free(reader->sweep.heap);
    free(reader);
}

void dwarf_unit_functions(struct dwarf *dwarf, struct dwarf_unit *unit, dwarf_range_fn *each,
                          void *context)
{
    const uint64_t base = dwarf->debug->base_va;

    dwarf_read_unit(dwarf, unit);
    if (dwarf->reader != NULL)
        finish_unit(dwarf->reader);
    for (uint32_t i = 0; i + 1 < unit->span_count; i++)
        if (unit->spans[i].scope != 0 || unit->spans[i].line != 0)
            each(context, base + unit->spans[i].start, base + unit->spans[i + 1].start);
}
