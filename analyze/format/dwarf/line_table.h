/* A line table of .debug_line, versions 2 to 5: its files, and the rows that its program makes.
 *
 * This is own code because libdwarf of 2021 starts a version 5 program with file 0 instead of 1
 * (and so names the wrong file), does not check folder numbers, and invents texts when the file of
 * an alternate link is missing. Source: DWARF 5, 6.2. */
#ifndef FORMAT_DWARF_LINE_TABLE_H
#define FORMAT_DWARF_LINE_TABLE_H

#include "format/dwarf/parts.h"

/* Where a table is read; offsets count from the start of .debug_line. */
struct line_cursor {
    struct object_bytes bytes;
    uint64_t at, end;
    bool big_endian, failed; /* failed: all later numbers are 0 */
};

struct line_table {
    struct dwarf_context *unit;
    struct line_cursor program; /* what follows the header */
    uint16_t version;
    uint8_t address_bytes, offset_bytes;
    uint8_t least_step, operations, line_range, first_special;
    int8_t line_base;
    const uint8_t *operand_counts; /* of opcodes 1 to first_special - 1 */
    const char **files;            /* in KEEP, by number */
    uint32_t file_count;
};

uint64_t line_fixed(struct line_cursor *c, uint32_t bytes);
uint64_t line_unsigned(struct line_cursor *c); /* LEB128 */
int64_t line_signed(struct line_cursor *c);

/* Reads the header at OFFSET. FOLDER is where the compiler ran; "" unknown. False: there is no
 * valid header. Files after a damaged one are left out. */
bool line_table_open(struct dwarf_context *unit, uint64_t offset, const char *folder,
                     struct arena *keep, struct line_table *out);

#endif
