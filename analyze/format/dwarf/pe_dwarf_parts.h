/* What the two files of pe_dwarf share; nobody else includes this. */
#ifndef FORMAT_PE_DWARF_PARTS_H
#define FORMAT_PE_DWARF_PARTS_H

#include <stdbool.h>

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

#include "base/arena.h"
#include "format/pe/pe.h"

enum {
    PE_DWARF_UNITS_MAX = 1 << 20,
    PE_DWARF_FILES_MAX = 1 << 20,
    PE_DWARF_DEPTH_MAX = 64,       /* nested inlined calls; deeper ones are left out */
    PE_DWARF_SCOPES_MAX = 1 << 22, /* ranges of functions and inlined calls of one unit */
    PE_DWARF_TREE_DEPTH = 256,     /* nesting of entries of any kind */
};

struct unit_range {
    uint32_t low, high, unit;
};

/* One range of a function (depth 0) or of an inlined call. */
struct dwarf_scope {
    uint32_t low, high;
    uint32_t start; /* of the function's or call's first range */
    uint32_t depth;
    uint32_t call_file, call_line; /* where it was inlined from; file number as in files */
    const char *name;              /* NULL: unknown */
};

struct dwarf_row {
    uint32_t rva, line;
    uint32_t order; /* in the table: of several rows for one address the last one counts */
    const char *file;
    bool ends; /* nothing follows until the next row */
};

struct dwarf_unit {
    Dwarf_Off offset; /* of its DIE */
    uint64_t base_va; /* what its range lists count from */
    bool read;
    struct dwarf_scope *scopes; /* owned, malloc */
    uint32_t scope_count, scope_room;
    struct dwarf_row *rows; /* in the arena, sorted */
    uint32_t row_count;
    const char **files; /* in the arena, by number */
    uint32_t file_count;
};

struct pe_dwarf {
    struct pe pe; /* a copy; its bytes are borrowed */
    Dwarf_Obj_Access_Interface object;
    bool rnglists_good; /* headers checked: libdwarf frees twice what it dislikes there */
    Dwarf_Debug debug;
    struct arena arena;
    struct dwarf_unit *units; /* owned */
    uint32_t unit_count, unit_room;
    struct unit_range *ranges; /* owned, sorted by low */
    uint32_t range_count, range_room;
};

/* DW_AT_low_pc; 0 when there is none. */
uint64_t dwarf_die_base(Dwarf_Die die);

/* Calls FOUND for each range of code that DIE covers. */
void dwarf_die_ranges(struct pe_dwarf *dwarf, Dwarf_Die die, uint64_t base_va,
                      void (*found)(void *context, uint64_t low_va, uint64_t high_va),
                      void *context);

/* Reads functions, inlined calls and lines; what cannot be read is left out. */
void dwarf_read_unit(struct pe_dwarf *dwarf, struct dwarf_unit *unit);

#endif
