/* What the files of the DWARF reader share; no other file includes this.
 *
 *   dwarf.c   units, and the one that an offset lies in
 *   unit_list.c  the list of units of one file
 *   entries.c entries and abbreviations; cursor.h numbers and texts
 *   values.c  attributes: texts, addresses, ranges, also those by way of an index
 *   split.c   units of .dwo files and .dwp packages
 *   unit.c    functions and inlined calls of a unit
 *   lines.c   lines of a unit; line_table.c its files
 *   spans.c   both as one list by address */
#ifndef FORMAT_DWARF_READER_H
#define FORMAT_DWARF_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/array.h"
#include "format/dwarf/dwarf.h"
#include "format/dwarf/entries.h"

enum {
    DWARF_UNITS_MAX = 1 << 20,
    DWARF_FILES_MAX = 1 << 20,
    DWARF_RANGES_MAX = 1 << 22, /* ranges of functions and inlined calls of one unit */
    DWARF_TREE_DEPTH = 256,     /* nesting of entries of any kind */
    DWARF_LIST_MAX = 1 << 20,   /* ranges of one entry */
    DWARF_TEXT_MAX = 1 << 20,   /* bytes of a text */
    DWARF_SHARED = 8,           /* times that the bytes of all lists, or of all lines, are read */
    DWARF_SHARED_LEAST = 4096,  /* bytes that these count at least */
    DWARF_NAME_STEPS = 8,       /* abstract origins and specifications followed to find a name */
};

struct dwarf_object;
struct reader;

/* The code that an entry states: from LOW to HIGH, or number LOW of a table of lists, or the list
 * at LOW of their section. */
struct dwarf_extent {
    enum { EXTENT_UNSTATED, EXTENT_EMPTY, EXTENT_RANGE, EXTENT_INDEX, EXTENT_LIST } kind;
    uint64_t low, high;
};

/* How the values of a unit's attributes are read. */
struct dwarf_context {
    struct dwarf_object *object;
    struct dwarf_object
        *linked; /* has the sections that the linker made: of a split unit the image */
    uint64_t start, offset, end; /* of the unit, its first entry, and what follows the unit */
    uint64_t abbreviations_offset;
    struct dwarf_abbreviations *abbreviations; /* NULL: not read yet */
    struct dwarf_format format;
    uint64_t dwo_id;  /* 0: none */
    uint64_t base_va; /* the base of its range lists */
    uint64_t address_base, string_base, list_base, old_list_base;
    struct dwarf_extent extent; /* of the unit, as its first entry states it */
    uint16_t tag;
    bool bases_read; /* and these two */
    bool ada, c;     /* its language */
    bool damaged;    /* something that was asked of the unit is unreadable */
};

/* Sections that belong together: those of a file, of a .dwo file, of a unit of a package. */
struct dwarf_object {
    struct byte_view sections[DEBUG_SECTIONS];
    bool big_endian, is_split;
    struct abbreviation_tables tables;
    struct dwarf_context *contexts; /* owned, by offset */
    uint32_t context_count, context_room;
    bool is_listed;                    /* they are there */
    struct dwarf_context first;        /* of dwarf_aranges_context() */
    uint64_t list_entries, line_bytes; /* that were read */
    bool lacks_units;                  /* the list of units ends in damage */
    struct dwarf_object *alternate;    /* NULL: none */
};

struct unit_range { /* sorted by low, then by unit */
    uint64_t low;
    uint32_t high, unit;
    uint32_t reach; /* the largest high up to here */
};

/* One range of a scope, in the order of the entries. */
struct scope_range {
    uint32_t low, high, scope;
};

struct dwarf_row {
    uint32_t offset, line;
    uint32_t file;          /* its number, as in a span */
    uint32_t sequence : 31; /* rows of one are ended together */
    uint32_t ends : 1;      /* nothing follows until the next row */
};

/* From START on, up to the next span. */
struct dwarf_span {
    uint32_t start, line;
    uint32_t scope; /* its number + 1; 0: none */
    uint32_t file;  /* a number that the unit does not have: unknown */
};

struct dwarf_unit {
    struct dwarf_context *skeleton; /* has the line table */
    struct dwarf_context *full;     /* has the functions: a different unit in split DWARF */
    bool read;
    struct dwarf_scope *scopes; /* owned */
    struct dwarf_row *rows;     /* owned, sorted; equal offsets in the order of the table */
    uint32_t row_count;
    const char **files; /* owned, by number; the paths are in the arena */
    uint32_t file_count;
    struct dwarf_span *spans; /* owned, sorted */
    uint32_t span_count;
};

struct dwarf_split { /* a unit of split DWARF that was given */
    uint64_t id;
    struct dwarf_object *object; /* NULL: in a package, not opened yet */
    uint64_t offset;             /* of its first entry */
    const struct object_debug *package;
    struct byte_view parts[DEBUG_SECTIONS]; /* of the package */
};

struct dwarf {
    const struct object_debug *debug;
    struct arena arena;
    struct dwarf_object *object, *alternate;
    struct dwarf_object **opened; /* owned: of split units */
    uint32_t opened_count, opened_room;
    struct dwarf_split *splits; /* owned, by id */
    uint32_t split_count, split_room;
    bool is_listed;           /* UNITS and RANGES are there */
    struct dwarf_unit first;  /* that answered the first question, before */
    struct dwarf_unit *units; /* owned */
    uint32_t unit_count, unit_room;
    struct unit_range *ranges; /* owned */
    uint32_t range_count, range_room;
    struct reader *reader;         /* owned: of units; NULL: none was read */
    const struct dwarf_unit *last; /* what dwarf_at() found last, and where it applies */
    uint32_t last_start, last_span;
    uint64_t last_end;
};

/* What is read of each unit at once: of PART_LATER nothing, of PART_ALTERNATE, to which few entries
 * refer, the header; of the others also the first entry. */
enum dwarf_part { PART_OWN, PART_LATER, PART_SPLIT, PART_ALTERNATE };

/* Lists the units of SECTIONS.  NULL: too many, or out of memory. */
struct dwarf_object *dwarf_object_new(const struct byte_view sections[DEBUG_SECTIONS],
                                      const struct object_debug *like, enum dwarf_part part,
                                      struct fault *fault);
void dwarf_object_free(struct dwarf_object *object);

/* Lists the headers of the units of PART_LATER, at the first call. Fails: ERR_LIMIT, ERR_MEMORY. */
enum status dwarf_object_list(struct dwarf_object *object, struct fault *fault);

/* The unit that .debug_aranges states for the code at VA; of several, the one whose range starts
 * last. It is in no list. *end is lowered to the next address where a range starts or ends. NULL:
 * none. */
struct dwarf_context *dwarf_aranges_context(struct dwarf_object *object, uint64_t va,
                                            uint64_t *end);

/* The unit that the entry at OFFSET lies in; NULL: none. */
static inline struct dwarf_context *dwarf_object_context(struct dwarf_object *object,
                                                         uint64_t offset)
{
    struct fault ignored = FAULT_INIT;
    if (!object->is_listed && dwarf_object_list(object, &ignored) != ERR_NONE)
        object->lacks_units = true;
    const uint32_t low = ARRAY_UPPER(object->contexts, object->context_count, offset, offset);
    return low > 0 && offset < object->contexts[low - 1].end ? &object->contexts[low - 1] : NULL;
}

/* Takes from the first entry of a unit how to read the values of its other entries. */
void dwarf_take_root(struct dwarf_context *context, const struct dwarf_entry *root);

/* Reads the first entry for that. */
bool dwarf_context_read(struct dwarf_context *context, struct dwarf_entry *root);

/* Attribute NAME of ENTRY as a number, or a text (borrowed); false or NULL: absent. A name in a
 * section that ends with a NUL is not looked at, so that it may have more than DWARF_TEXT_MAX
 * bytes. */
bool dwarf_number(const struct dwarf_context *context, const struct dwarf_entry *entry,
                  enum dwarf_attribute_name name, uint64_t *out);
const char *dwarf_text(struct dwarf_context *context, const struct dwarf_entry *entry,
                       enum dwarf_attribute_name name);

/* The text that a value is or refers to. NULL: unreadable, or in a file that was not given: then
 * *absent is set. */
const char *dwarf_value_text(struct dwarf_context *context, struct dwarf_value value, bool is_name,
                             bool *absent);

/* The entry that attribute NAME of ENTRY refers to, and the unit that it is in. False: none. */
bool dwarf_reference(struct dwarf_context *context, const struct dwarf_entry *entry,
                     enum dwarf_attribute_name name, struct dwarf_context **to, uint64_t *offset);

/* Calls FOUND for each range of code that ENTRY covers. Returns false when ENTRY states none. */
typedef void dwarf_range_fn(void *context, uint64_t low_va, uint64_t high_va);
bool dwarf_ranges(struct dwarf_context *unit, const struct dwarf_entry *entry,
                  dwarf_range_fn *found, void *context);

bool dwarf_extent_ranges(struct dwarf_context *unit, struct dwarf_extent extent,
                         dwarf_range_fn *found, void *context);

/* The offsets of a range of code; false: it is empty or not code of this image. */
bool dwarf_is_code(const struct dwarf *dwarf, uint64_t low_va, uint64_t high_va, uint32_t *low,
                   uint32_t *high);

/* Lists the units of a .dwo file or .dwp package. */
enum status dwarf_add_splits(struct dwarf *dwarf, const struct object_debug *debug,
                             struct fault *fault);

/* The unit that the skeleton names; NULL: it was not given. */
struct dwarf_context *dwarf_find_split(struct dwarf *dwarf, struct dwarf_context *skeleton);

/* Reads functions, inlined calls and lines; unreadable parts are left out. The spans are made when
 * they are needed: at the second question about the unit, or before the next unit is read. */
void dwarf_read_unit(struct dwarf *dwarf, struct dwarf_unit *unit);

/* What applies at OFFSET if this is the first question about UNIT, which then still lacks spans,
 * and *end lowered to where that may change. False: the unit has spans now. */
bool dwarf_first_span(struct dwarf *dwarf, const struct dwarf_unit *unit, uint32_t offset,
                      struct dwarf_span *out, uint64_t *end);

/* Calls EACH for every range of the unit that has a function or a line. */
void dwarf_unit_functions(struct dwarf *dwarf, struct dwarf_unit *unit, dwarf_range_fn *each,
                          void *context);

void dwarf_read_lines(struct dwarf *dwarf, struct dwarf_unit *unit);

/* NULL: the unit has no file of that number. */
static inline const char *dwarf_file_name(const struct dwarf_unit *unit, uint32_t number)
{
    return number < unit->file_count ? unit->files[number] : NULL;
}

void dwarf_reader_free(struct reader *reader);

struct sweep_memory { /* kept from unit to unit */
    uint64_t *starts; /* owned */
    uint32_t *heap;   /* owned */
    uint32_t start_room, heap_room;
};

/* Makes unit->spans of ranges, in the order of the entries, and rows. */
void dwarf_make_spans(struct sweep_memory *memory, struct dwarf_unit *unit,
                      const struct scope_range *ranges, uint32_t range_count);

/* The span around OFFSET alone, which all of them are looked at for; *end is lowered to where
 * something else starts or ends. */
struct dwarf_span dwarf_span_at(const struct dwarf_unit *unit, const struct scope_range *ranges,
                                uint32_t range_count, uint32_t offset, uint64_t *end);

#endif
