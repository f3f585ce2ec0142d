/* DWARF 2 to 5 from any container: address → inline frames, function, file and line. The container
 * readers supply the sections (object.h). Split DWARF (.dwo files and .dwp packages) and the data
 * that dwz moved out of a file are read if the files are given. Type units are not read.
 *
 * Only one thread at a time may use a struct. */
#ifndef FORMAT_DWARF_H
#define FORMAT_DWARF_H

#include <stdint.h>

#include "base/fault.h"
#include "format/object/object.h"

struct dwarf;

enum { DWARF_SPLITS_MAX = 4096 };

/* All borrowed: sections must outlive the struct. */
struct dwarf_input {
    const struct object_debug *debug;
    const struct object_debug *alternate;     /* the file of .gnu_debugaltlink; NULL */
    const struct object_debug *const *splits; /* of .dwo and .dwp files */
    uint32_t split_count;
};

/* Opening reads only the ranges of every unit, and where .debug_aranges can answer the first
 * lookup, not even these before the second. A unit's functions and lines are read on the first
 * lookup in it, and kept. Fails: ERR_ABSENT no DWARF; ERR_MALFORMED; ERR_LIMIT; ERR_MEMORY. */
enum status dwarf_open(const struct dwarf_input *input, struct dwarf **out, struct fault *fault);
void dwarf_close(struct dwarf *dwarf);

/* A function, or a call that was inlined into another scope.  Lives until dwarf_close(). */
struct dwarf_scope {
    const struct dwarf_scope *around; /* NULL: this is a function */
    struct dwarf_name *names;         /* see dwarf_scope_name() */
    const char *call_file;            /* where it was inlined; NULL: unknown */
    uint32_t call_line;
    uint32_t start;    /* offset of its first range */
    uint32_t number;   /* for the reader: AROUND's, counted from 1 */
    bool ada;          /* its unit is of Ada, whose names look like those of C */
    bool is_linked_so; /* a function of C that other files see: if the linker's name were
                        * another, compilers would state it */
};

/* The names of one entry or several. Which is used is known when it is asked for, since their texts
 * lie far apart: then it is in LINKAGE. */
struct dwarf_name {
    const char *linkage, *plain; /* NULL: none; may be too long */
    bool chosen, is_linked_so;   /* the latter of a function of C, as in a scope */
};

/* For dwarf_scope_name() alone. */
const char *dwarf_choose_name(struct dwarf_name *name);

/* The linkage name if there is one, otherwise the plain name; NULL: unknown. */
static inline const char *dwarf_scope_name(const struct dwarf_scope *scope)
{
    struct dwarf_name *name = scope->names;
    if (name == NULL)
        return NULL;
    return name->chosen ? name->linkage : dwarf_choose_name(name);
}

/* What applies from one offset up to END. */
struct dwarf_place {
    const struct dwarf_scope *scope; /* the innermost; NULL: no known function */
    const char *file;                /* NULL: unknown */
    uint32_t line;                   /* 0: unknown */
    uint64_t end;                    /* the first offset at which the answer may differ */
    bool damaged;     /* DWARF that applies here is unreadable: scopes and lines may be missing */
    bool lacks_split; /* the scopes are in a file that is not among the splits */
};

/* Finds what applies at OFFSET from the image's base. */
void dwarf_at(struct dwarf *dwarf, uint32_t offset, struct dwarf_place *out);

/* The lines that the table gives to the address where OFFSET's line starts, in its order: often
 * several, of which dwarf_at() uses the last. Returns their number. */
uint32_t dwarf_lines(struct dwarf *dwarf, uint32_t offset, uint32_t *out, uint32_t max);

#endif
