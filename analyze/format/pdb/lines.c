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

#include "base/bytes.h"

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

static uint32_t c13_soff(const struct pdb_module *module)
{
    return module->symbol_bytes + module->c11_bytes;
}

/* The subsection at *NEXT (an offset in C13); moves *NEXT past it. */
static bool next_subsection(const struct pdb_module *module, uint32_t *next, uint32_t *kind,
                            const uint8_t **data, uint32_t *bytes)
{
    if (*next > module->c13_bytes || module->c13_bytes - *next < 8)
        return false;
    const uint8_t *at = module->data + c13_soff(module) + *next;
    const uint32_t left = module->c13_bytes - *next - 8;
    *kind = load_u32(at);
    *bytes = load_u32(at + 4);
    *data = at + 8;
    if (*bytes > left)
        return false;
    *next += 8 + *bytes;
    *next += (4 - (*next & 3)) & 3;
    return true;
}

enum { C11_FILE_TABLE_BYTES = 12 }; /* what a file's record states about each of its tables */

/* Table NUMBER of the file whose record lies at AT; false when there is none or it is damaged. */
static bool c11_table(const struct pdb_module *module, uint32_t at, uint32_t number,
                      struct pdb_line_range *out)
{
    const uint32_t bytes = module->c11_bytes;
    const uint8_t *c11 = module->data + module->symbol_bytes;
    if (at > bytes || bytes - at < 4)
        return false;
    const uint32_t tables = load_u16(c11 + at);
    const uint32_t name_at = at + 4 + C11_FILE_TABLE_BYTES * tables;
    if (number >= tables || name_at >= bytes)
        return false;
    const uint8_t *range = c11 + at + 4 + 4 * (size_t)tables + 8 * (size_t)number;
    const uint32_t table = load_u32(c11 + at + 4 + 4 * (size_t)number);
    if (table > bytes || bytes - table < 4)
        return false;
    const uint32_t rows = load_u16(c11 + table + 2);
    if (rows > (bytes - table - 4) / 6 || load_u32(range + 4) < load_u32(range))
        return false;
    out->start.section = load_u16(c11 + table);
    out->start.offset = load_u32(range);
    out->bytes = load_u32(range + 4) - load_u32(range) + 1;
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
    const uint32_t bytes = module->c11_bytes;
    if (bytes < 4)
        return false;
    const uint8_t *c11 = module->data + module->symbol_bytes;
    const uint32_t files = load_u16(c11);
    while (cursor->c11_file < files && 8 + 4 * cursor->c11_file <= bytes &&
           cursor->c11_count < bytes / C11_FILE_TABLE_BYTES) {
        const uint32_t at = load_u32(c11 + 4 + 4 * (size_t)cursor->c11_file);
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
    uint32_t kind, bytes;
    const uint8_t *data;
    if (next_c11(module, cursor, out))
        return true;
    while (next_subsection(module, &cursor->c13, &kind, &data, &bytes)) {
        if (kind != SUBSECTION_LINES || bytes < LINES_HEADER_BYTES)
            continue;
        out->start.offset = load_u32(data);
        out->start.section = load_u16(data + 4);
        out->has_columns = (load_u16(data + 6) & 1) != 0;
        out->bytes = load_u32(data + 8);
        out->at = (uint32_t)(data - module->data) + LINES_HEADER_BYTES;
        out->table_bytes = bytes - LINES_HEADER_BYTES;
        out->c11 = false;
        out->c11_file = PDB_NO_FILE;
        return true;
    }
    return false;
}

static bool blocks_are_whole(const uint8_t *data, uint32_t bytes)
{
    if (bytes < LINES_HEADER_BYTES)
        return false;
    const uint32_t row_size = ROW_BYTES + ((load_u16(data + 6) & 1) != 0 ? COLUMN_BYTES : 0);
    uint32_t at = LINES_HEADER_BYTES;
    while (bytes - at >= BLOCK_HEADER_BYTES) {
        const uint32_t rows = load_u32(data + at + 4), block = load_u32(data + at + 8);
        if (block < BLOCK_HEADER_BYTES || block > bytes - at ||
            rows > (block - BLOCK_HEADER_BYTES) / row_size)
            return false;
        at += block;
    }
    return at == bytes;
}

static bool inlinees_are_whole(const uint8_t *data, uint32_t bytes)
{
    if (bytes < 4)
        return false;
    const bool extra_files = load_u32(data) == 1;
    uint64_t at = 4;
    while (at + INLINEE_BYTES <= bytes) {
        const uint8_t *row = data + at;
        at += INLINEE_BYTES;
        if (extra_files)
            at += at + 4 <= bytes ? 4 + 4 * (uint64_t)load_u32(row + INLINEE_BYTES) : 4;
    }
    return at == bytes;
}

bool pdb_lines_are_whole(const struct pdb_module *module)
{
    uint32_t next = 0, kind, bytes;
    const uint8_t *data;
    while (next_subsection(module, &next, &kind, &data, &bytes))
        if ((kind == SUBSECTION_LINES && !blocks_are_whole(data, bytes)) ||
            (kind == SUBSECTION_INLINEES && !inlinees_are_whole(data, bytes)) ||
            (kind == SUBSECTION_CHECKSUMS && bytes > 0 && module->pdb->names_bytes == 0))
            return false;
    return next >= module->c13_bytes;
}

static void c11_rows(const struct pdb_module *module, const struct pdb_line_range *range,
                     pdb_line_fn *each, void *context)
{
    const uint8_t *table = module->data + range->at;
    const uint32_t rows = load_u16(table + 2);
    for (uint32_t i = 0; i < rows; i++) {
        const struct pdb_line_row row = {load_u32(table + 4 + 4 * (size_t)i),
                                         load_u16(table + 4 + 4 * (size_t)rows + 2 * (size_t)i),
                                         range->c11_file, range->at};
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
    const uint8_t *at = module->data + range->at;
    uint32_t left = range->table_bytes;
    const uint32_t row_size = ROW_BYTES + (range->has_columns ? COLUMN_BYTES : 0);
    while (left >= BLOCK_HEADER_BYTES) {
        const uint32_t rows = load_u32(at + 4), bytes = load_u32(at + 8);
        if (bytes < BLOCK_HEADER_BYTES || bytes > left ||
            rows > (bytes - BLOCK_HEADER_BYTES) / row_size)
            return;
        const struct pdb_file file = pdb_checksum_file(subsections, load_u32(at));
        struct pdb_line_row row;
        for (uint32_t i = 0; i < rows; i++) {
            const uint8_t *p = at + BLOCK_HEADER_BYTES + (size_t)i * ROW_BYTES;
            row.offset = range->start.offset + load_u32(p);
            row.line = load_u32(p + 4) & 0xffffff;
            row.file = file;
            row.block = (uint32_t)(at - module->data);
            if (row.line == LINE_NONE_STEP_OVER || row.line == LINE_NONE_STEP_INTO) {
                row.line = 0;
                row.file = PDB_NO_FILE;
            }
            each(context, &row);
        }
        at += bytes;
        left -= bytes;
    }
}

const char *pdb_file_name(const struct pdb_module *module, struct pdb_file file,
                          struct arena *copies)
{
    if (!file.in_module)
        return pdb_name(module->pdb, file.at, copies);
    const uint32_t end = module->symbol_bytes + module->c11_bytes;
    if (file.at >= end)
        return "";
    const uint8_t *text = module->data + file.at;
    const uint32_t left = end - file.at;
    const bool ends = module->symbol_bytes >= 4 && load_u32(module->data) >= SIGNATURE_C13;
    const uint8_t *nul = ends ? memchr(text, 0, left) : NULL;
    const char *name = NULL;
    if (nul != NULL)
        return (const char *)text;
    if (!ends && text[0] < left)
        name = arena_text(copies, (const char *)text + 1, text[0]);
    return name != NULL ? name : "";
}

void pdb_subsections_find(const struct pdb_module *module, struct pdb_subsections *out)
{
    uint32_t next = 0, kind, bytes;
    const uint8_t *data;
    memset(out, 0, sizeof *out);
    while (next_subsection(module, &next, &kind, &data, &bytes)) {
        if (kind == SUBSECTION_CHECKSUMS) {
            out->checksums = data;
            out->checksum_bytes = bytes;
            return;
        }
    }
}

struct pdb_file pdb_checksum_file(const struct pdb_subsections *subsections, uint32_t offset)
{
    struct pdb_file out = PDB_NO_FILE;
    if (offset < subsections->checksum_bytes && subsections->checksum_bytes - offset >= 6)
        out.at = load_u32(subsections->checksums + offset);
    return out;
}

bool pdb_inlinee_next(const struct pdb_module *module, struct pdb_inlinee_cursor *cursor,
                      struct pdb_inlinee *out)
{
    while (cursor->left < 12) {
        uint32_t kind, bytes;
        if (!next_subsection(module, &cursor->next, &kind, &cursor->at, &bytes))
            return false;
        cursor->left = 0;
        if (kind != SUBSECTION_INLINEES || bytes < 4)
            continue;
        cursor->extra_files = load_u32(cursor->at) == 1;
        cursor->at += 4;
        cursor->left = bytes - 4;
    }
    out->id = load_u32(cursor->at);
    out->file = load_u32(cursor->at + 4);
    out->line = load_u32(cursor->at + 8);
    uint64_t size = 12;
    if (cursor->extra_files && cursor->left >= 16)
        size += 4 + 4 * (uint64_t)load_u32(cursor->at + 12);
    if (size > cursor->left)
        size = cursor->left;
    cursor->at += size;
    cursor->left -= (uint32_t)size;
    return true;
}
