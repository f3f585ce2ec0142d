/* See lines.h.
 *
 *     C13 subsection: kind, bytes, data, padded to 4.
 *     0xf2 lines: offset, section, flags, bytes of code; then blocks of one file each:
 *          checksum offset, rows, bytes; rows of offset, line:24 end:7 statement:1; columns
 *     0xf4 checksums of files: name in "/names", size, kind, hash, padded to 4
 *     0xf6 lines of inlinees: signature; id, checksum offset, line [, more files]
 *
 *     C11 table: files, sections; offsets of files; ranges; sections
 *          file: sections, 0; offsets of its tables; their ranges; name
 *          table: section, rows; offsets; lines (2 bytes each)
 *     All its offsets count from the start of the C11 bytes.  Names end with NUL where the
 *     module's signature is 4, and start with a length byte where it is older. */
#include "format/pdb/lines.h"

#include <string.h>

enum subsection {
    SUBSECTION_LINES = 0xf2,
    SUBSECTION_CHECKSUMS = 0xf4,
    SUBSECTION_INLINEES = 0xf6,
};

enum {
    LINES_HEADER_BYTES = 12,
    BLOCK_HEADER_BYTES = 12,
    ROW_BYTES = 8,
    COLUMN_BYTES = 4,
    INLINEE_BYTES = 12,
    SIGNATURE_C13 = 4,
    LINE_NONE_STEP_OVER = 0xf00f00,
    LINE_NONE_STEP_INTO = 0xfeefee,
};

static struct byte_view c11_of(const struct pdb_module *module)
{
    const struct byte_view all = {module->data, module->symbol_bytes + module->c11_bytes};
    return view_from(all, module->symbol_bytes);
}

/* The subsection at *NEXT (an offset in C13); moves *NEXT past it. */
static bool next_subsection(const struct pdb_module *module, uint32_t *next, uint32_t *kind,
                            struct byte_view *data)
{
    if (*next > module->c13_bytes || module->c13_bytes - *next < 8)
        return false;
    const struct byte_view rest = {module->data + module->symbol_bytes + module->c11_bytes + *next,
                                   module->c13_bytes - *next};
    const uint32_t bytes = view_u32(rest, 4);
    if (bytes > rest.bytes - 8)
        return false;
    *kind = view_u32(rest, 0);
    *data = (struct byte_view){rest.data + 8, bytes};
    *next += 8 + bytes;
    *next += (4 - (*next & 3)) & 3;
    return true;
}

enum { C11_FILE_TABLE_BYTES = 12 }; /* what a file's record states about each of its tables */

/* Table NUMBER of the file whose record lies at AT; false when there is none or it is damaged. */
static bool c11_table(const struct pdb_module *module, uint32_t at, uint32_t number,
                      struct pdb_line_range *out)
{
    const struct byte_view c11 = c11_of(module), file = view_from(c11, at);
    const uint32_t tables = view_u16(file, 0);
    const uint32_t name_at = at + 4 + C11_FILE_TABLE_BYTES * tables;
    if (number >= tables || name_at >= c11.bytes)
        return false;
    const uint32_t range_at = 4 + 4 * tables + 8 * number;
    const struct byte_view range = view_from(file, range_at);
    const uint32_t first = view_u32(range, 0), last = view_u32(range, 4);
    const uint32_t table = view_u32(file, 4 + 4 * number);
    const struct byte_view rest = view_from(c11, table);
    const uint32_t rows = view_u16(rest, 2);
    if (rest.bytes < 4 || rows > (rest.bytes - 4) / 6 || last < first)
        return false;
    out->start.section = view_u16(rest, 0);
    out->start.offset = first;
    out->bytes = last - first + 1;
    out->at = module->symbol_bytes + table;
    out->table_bytes = 4 + 6 * rows;
    out->c11 = true;
    out->has_columns = false;
    out->c11_file.at = module->symbol_bytes + name_at;
    out->c11_file.in_module = true;
    return true;
}

/* Finds the next valid C11 table. In a well-formed file the tables do not overlap, so there cannot
 * be more of them than fit into the file. */
static bool next_c11(const struct pdb_module *module, struct pdb_line_cursor *cursor,
                     struct pdb_line_range *out)
{
    const struct byte_view c11 = c11_of(module);
    const uint32_t files = view_u16(c11, 0);
    while (cursor->c11_file < files && 8 + 4 * cursor->c11_file <= c11.bytes &&
           cursor->c11_count < c11.bytes / C11_FILE_TABLE_BYTES) {
        const uint32_t at = view_u32(c11, 4 + 4 * cursor->c11_file);
        if (c11_table(module, at, cursor->c11_table, out)) {
            cursor->c11_table++;
            cursor->c11_count++;
            return true;
        }
        cursor->c11_table = 0;
        cursor->c11_file++;
    }
    return false;
}

bool pdb_line_range_next(const struct pdb_module *module, struct pdb_line_cursor *cursor,
                         struct pdb_line_range *out)
{
    uint32_t kind;
    struct byte_view data;
    if (next_c11(module, cursor, out))
        return true;
    while (next_subsection(module, &cursor->c13, &kind, &data)) {
        if (kind != SUBSECTION_LINES || data.bytes < LINES_HEADER_BYTES)
            continue;
        out->start.offset = view_u32(data, 0);
        out->start.section = view_u16(data, 4);
        out->has_columns = (view_u16(data, 6) & 1) != 0;
        out->bytes = view_u32(data, 8);
        out->at = (uint32_t)(data.data - module->data) + LINES_HEADER_BYTES;
        out->table_bytes = (uint32_t)data.bytes - LINES_HEADER_BYTES;
        out->c11 = false;
        out->c11_file = PDB_NO_FILE;
        return true;
    }
    return false;
}

/* The block of rows at the start of REST; false: there is none that is whole. */
static bool block_at(struct byte_view rest, uint32_t row_size, struct byte_view *block,
                     uint32_t *rows)
{
    *rows = view_u32(rest, 4);
    *block = (struct byte_view){rest.data, view_u32(rest, 8)};
    return block->bytes >= BLOCK_HEADER_BYTES && block->bytes <= rest.bytes &&
           *rows <= (block->bytes - BLOCK_HEADER_BYTES) / row_size;
}

static bool blocks_are_whole(struct byte_view data)
{
    if (data.bytes < LINES_HEADER_BYTES)
        return false;
    const uint32_t row_size = ROW_BYTES + ((view_u16(data, 6) & 1) != 0 ? COLUMN_BYTES : 0);
    struct byte_view rest = view_from(data, LINES_HEADER_BYTES), block;
    uint32_t rows;
    while (block_at(rest, row_size, &block, &rows))
        rest = view_from(rest, block.bytes);
    return rest.bytes == 0;
}

static bool inlinees_are_whole(struct byte_view data)
{
    const bool extra_files = view_u32(data, 0) == 1;
    uint64_t at = 4;
    while (at + INLINEE_BYTES <= data.bytes) {
        at += INLINEE_BYTES;
        if (extra_files)
            at += 4 + 4 * (uint64_t)view_u32(data, (uint32_t)at);
    }
    return at == data.bytes;
}

bool pdb_lines_are_whole(const struct pdb_module *module)
{
    uint32_t next = 0, kind;
    struct byte_view data;
    while (next_subsection(module, &next, &kind, &data))
        if ((kind == SUBSECTION_LINES && !blocks_are_whole(data)) ||
            (kind == SUBSECTION_INLINEES && !inlinees_are_whole(data)) ||
            (kind == SUBSECTION_CHECKSUMS && data.bytes > 0 && module->pdb->names_bytes == 0))
            return false;
    return next >= module->c13_bytes;
}

static void c11_rows(const struct pdb_module *module, const struct pdb_line_range *range,
                     pdb_line_fn *each, void *context)
{
    const struct byte_view table = {module->data + range->at, range->table_bytes};
    const uint32_t rows = view_u16(table, 2);
    for (uint32_t i = 0; i < rows; i++) {
        const struct pdb_line_row row = {view_u32(table, 4 + 4 * i),
                                         view_u16(table, 4 + 4 * rows + 2 * i), range->c11_file,
                                         range->at};
        each(context, &row);
    }
}

void pdb_line_rows(const struct pdb_module *module, const struct pdb_line_range *range,
                   const struct pdb_subsections *subsections, pdb_line_fn *each, void *context)
{
    if (range->c11) {
        c11_rows(module, range, each, context);
        return;
    }
    struct byte_view rest = {module->data + range->at, range->table_bytes}, block;
    const uint32_t row_size = ROW_BYTES + (range->has_columns ? COLUMN_BYTES : 0);
    uint32_t rows;
    for (; block_at(rest, row_size, &block, &rows); rest = view_from(rest, block.bytes)) {
        const struct pdb_file file = pdb_checksum_file(subsections, view_u32(block, 0));
        struct pdb_line_row row;
        for (uint32_t i = 0; i < rows; i++) {
            const uint32_t at = BLOCK_HEADER_BYTES + i * ROW_BYTES;
            row.offset = range->start.offset + view_u32(block, at);
            row.line = view_u32(block, at + 4) & 0xffffff;
            row.file = file;
            row.block = (uint32_t)(block.data - module->data);
            if (row.line == LINE_NONE_STEP_OVER || row.line == LINE_NONE_STEP_INTO) {
                row.line = 0;
                row.file = PDB_NO_FILE;
            }
            each(context, &row);
        }
    }
}

const char *pdb_file_name(const struct pdb_module *module, struct pdb_file file,
                          struct arena *copies)
{
    if (!file.in_module)
        return pdb_name(module->pdb, file.at, copies);
    const struct byte_view all = {module->data, module->symbol_bytes + module->c11_bytes};
    const struct byte_view text = view_from(all, file.at);
    if (text.bytes == 0)
        return "";
    const bool ends = module->symbol_bytes >= 4 && view_u32(all, 0) >= SIGNATURE_C13;
    const uint8_t *nul = ends ? memchr(text.data, 0, text.bytes) : NULL;
    const char *name = NULL;
    if (nul != NULL)
        return (const char *)text.data;
    if (!ends && text.data[0] < text.bytes)
        name = arena_text(copies, (const char *)text.data + 1, text.data[0]);
    return name != NULL ? name : "";
}

void pdb_subsections_find(const struct pdb_module *module, struct pdb_subsections *out)
{
    uint32_t next = 0, kind;
    struct byte_view data;
    memset(out, 0, sizeof *out);
    while (next_subsection(module, &next, &kind, &data))
        if (kind == SUBSECTION_CHECKSUMS) {
            out->checksums = data;
            return;
        }
}

struct pdb_file pdb_checksum_file(const struct pdb_subsections *subsections, uint32_t offset)
{
    struct pdb_file out = PDB_NO_FILE;
    if (view_from(subsections->checksums, offset).bytes >= 6)
        out.at = view_u32(subsections->checksums, offset);
    return out;
}

bool pdb_inlinee_next(const struct pdb_module *module, struct pdb_inlinee_cursor *cursor,
                      struct pdb_inlinee *out)
{
    while (cursor->rest.bytes < INLINEE_BYTES) {
        struct byte_view data;
        uint32_t kind;
        if (!next_subsection(module, &cursor->next, &kind, &data))
            return false;
        cursor->extra_files = view_u32(data, 0) == 1;
        cursor->rest = view_from(data, kind == SUBSECTION_INLINEES ? 4 : data.bytes);
    }
    out->id = view_u32(cursor->rest, 0);
    out->file = view_u32(cursor->rest, 4);
    out->line = view_u32(cursor->rest, 8);
    uint64_t size = INLINEE_BYTES;
    if (cursor->extra_files)
        size += 4 + 4 * (uint64_t)view_u32(cursor->rest, INLINEE_BYTES);
    cursor->rest = view_from(cursor->rest, size);
    return true;
}
