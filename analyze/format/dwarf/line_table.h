/* A line table of .debug_line, versions 2 to 5: its files, and the rows that its program makes.
 * Source: DWARF 5, 6.2. */
#ifndef FORMAT_DWARF_LINE_TABLE_H
#define FORMAT_DWARF_LINE_TABLE_H

#include "format/dwarf/reader.h"

struct line_table {
    struct dwarf_context *unit;
    struct dwarf_cursor program; /* what follows the header */
    uint64_t bytes;              /* of all of it */
    struct dwarf_format format;
    uint8_t least_step, operations, line_range, first_special;
    int8_t line_base;
    const uint8_t *operand_counts; /* of opcodes 1 to first_special - 1 */
    const char **files;            /* owned, by number; the paths are in KEEP */
    uint32_t file_count;
};

/* Reads the header at OFFSET. FOLDER is where the compiler ran; "" unknown. False: there is no
 * valid header. Files after a damaged one are left out. */
bool line_table_open(struct dwarf_context *unit, uint64_t offset, const char *folder,
                     struct arena *keep, struct line_table *out);

#endif
