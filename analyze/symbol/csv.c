/* Reads, queries and writes symbol tables as text; see csv.h. */
#include "symbol/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/text.h"

/* The most bytes that a public can name. A public states its start but not its end, which is the
 * next row; this limit keeps the last public of a section from naming megabytes. */
enum { CSV_PUBLIC_BYTES = 4096 };

/* How many rows before the address a lookup visits. It bounds the time spent on a table with one
 * giant row over a million small ones. */
enum { CSV_BACK_ROWS = 1 << 16 };

static const struct {
    const char *tag;
    enum csv_kind kind;
} tags[] = {
    {"SymTagFunction", CSV_FUNCTION},   {"SymTagThunk", CSV_FUNCTION},
    {"SymTagPublicSymbol", CSV_PUBLIC}, {"SymTagLine", CSV_LINE},
    {"SymTagInlineSite", CSV_INLINE},
};

/* Text between two places, end exclusive. */
struct span {
    const char *at, *end;
};

static size_t span_bytes(struct span s)
{
    return (size_t)(s.end - s.at);
}

static struct span span_unquote(struct span s)
{
    if (span_bytes(s) >= 2 && s.at[0] == '"' && s.end[-1] == '"') {
        s.at++;
        s.end--;
    }
    return s;
}

/* Removes a field without commas from the front. */
static bool take_front(struct span *row, struct span *field)
{
    const char *comma = memchr(row->at, ',', span_bytes(*row));
    if (comma == NULL)
        return false;
    *field = span_unquote((struct span){row->at, comma});
    row->at = comma + 1;
    return true;
}

/* Removes a field from the end: a quoted one reaches back to its opening quote. */
static bool take_back(struct span *row, struct span *field)
{
    const char *at = row->end;
    const bool quoted = at > row->at && at[-1] == '"';
    for (at = quoted ? at - 1 : at; at > row->at; at--)
        if (quoted ? at[-1] == '"' && at - 1 > row->at && at[-2] == ',' : at[-1] == ',')
            break;
    if (at == row->at)
        return false;
    if (quoted)
        at--;
    *field = span_unquote((struct span){at, row->end});
    row->end = at - 1;
    return row->end >= row->at;
}

static bool span_uint(struct span s, uint64_t *out)
{
    return text_parse_uint(s.at, span_bytes(s), out);
}

/* True for a row to keep; false and *bad set for a malformed one. */
static bool parse_row(struct span row, uint64_t base, struct csv_row *out, struct span *name,
                      struct span *file, bool *bad)
{
    struct span address, size, tag, field;
    uint64_t va, bytes, line, depth = 0;
    size_t i = 0;

    *bad = true;
    if (!take_front(&row, &address) || !take_front(&row, &size) || !take_front(&row, &tag) ||
        !text_parse_hex(address.at, span_bytes(address), &va) || !span_uint(size, &bytes))
        return false;
    while (i < COUNT_OF(tags) && (strlen(tags[i].tag) != span_bytes(tag) ||
                                  memcmp(tags[i].tag, tag.at, span_bytes(tag)) != 0))
        i++;
    if (i == COUNT_OF(tags)) {
        *bad = false;
        return false;
    }
    const enum csv_kind kind = tags[i].kind;
    if ((kind == CSV_LINE || kind == CSV_INLINE) &&
        (!take_back(&row, &field) || !span_uint(field, &depth) || depth > LIMIT_INLINE_DEPTH))
        return false;
    if (!take_back(&row, &field) || !span_uint(field, &line) || line > UINT32_MAX)
        return false;
    if (!take_back(&row, file) || span_bytes(row) == 0 || va < base || va - base > UINT32_MAX ||
        bytes > UINT32_MAX - (va - base))
        return false;
    *name = span_unquote(row);
    *bad = false;
    *out = (struct csv_row){.rva = (uint32_t)(va - base),
                            .end_rva = (uint32_t)(va - base + bytes),
                            .line = (uint32_t)line,
                            .depth = (uint16_t)depth,
                            .kind = (uint16_t)kind};
    return span_bytes(*name) > 0;
}

/* A total order, so that the same file always gives the same table. */
static int compare_rows(const void *left, const void *right)
{
    const struct csv_row *a = left;
    const struct csv_row *b = right;
    if (a->rva != b->rva)
        return a->rva < b->rva ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void finish_table(struct csv_table *table)
{
    uint32_t reach = 0;

    array_sort(table->rows, table->count, sizeof *table->rows, compare_rows);
    for (uint32_t i = 0; i < table->count; i++) {
        struct csv_row *row = &table->rows[i];
        if (row->end_rva == row->rva) {
            uint32_t next = i + 1;
            while (next < table->count && table->rows[next].rva == row->rva)
                next++;
            uint32_t end = row->rva <= UINT32_MAX - CSV_PUBLIC_BYTES ? row->rva + CSV_PUBLIC_BYTES
                                                                     : UINT32_MAX;
            if (next < table->count && table->rows[next].rva < end)
                end = table->rows[next].rva;
            row->end_rva = end;
        }
        if (row->end_rva > reach)
            reach = row->end_rva;
        table->reach[i] = reach;
    }
}

static struct span next_line(const char **at, const char *end)
{
    const char *start = *at;
    const char *stop = memchr(start, '\n', (size_t)(end - start));
    *at = stop != NULL ? stop + 1 : end;
    if (stop == NULL)
        stop = end;
    if (stop > start && stop[-1] == '\r')
        stop--;
    return (struct span){start, stop};
}

static bool same_text(const char *known, struct span s)
{
    return known != NULL && strlen(known) == span_bytes(s) &&
           memcmp(known, s.at, span_bytes(s)) == 0;
}

/* Reads the rows of [AT, END) into the table, which has room for them. */
static enum status read_rows(const char *at, const char *end, uint64_t base, struct arena *keep,
                             struct csv_table *out, struct fault *fault)
{
    const char *const start = at;
    const char *last_file = NULL;

    while (at < end) {
        const uint64_t foff = (uint64_t)(at - start);
        const struct span line = next_line(&at, end);
        struct csv_row *row = &out->rows[out->count];
        struct span name, file;
        bool bad;

        if (span_bytes(line) == 0)
            continue;
        if (!parse_row(line, base, row, &name, &file, &bad)) {
            if (bad && out->bad_rows++ == 0)
                out->first_bad_foff = foff;
            continue;
        }
        row->name = arena_text(keep, name.at, span_bytes(name));
        if (span_bytes(file) > 0 && !same_text("?", file)) {
            if (!same_text(last_file, file))
                last_file = arena_text(keep, file.at, span_bytes(file));
            row->file = last_file;
            if (row->file == NULL)
                return fault_set(fault, ERR_MEMORY, foff, "symbol table");
        }
        if (row->name == NULL)
            return fault_set(fault, ERR_MEMORY, foff, "symbol table");
        out->has_ranges = out->has_ranges || row->kind == CSV_LINE;
        row->order = out->count++;
    }
    return ERR_NONE;
}

enum status csv_read(const struct file_map *map, uint64_t base, struct arena *keep,
                     struct csv_table *out, struct fault *fault)
{
    const char *at = (const char *)map->data;
    const char *end = at + map->bytes;
    size_t lines = 1;

    memset(out, 0, sizeof *out);
    if (map->bytes >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    for (const char *p = at; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        lines++;
    if (lines > UINT32_MAX)
        return fault_set(fault, ERR_LIMIT, 0, "rows of a symbol table");
    out->rows = ARENA_ARRAY(keep, lines, struct csv_row);
    out->reach = ARENA_ARRAY(keep, lines, uint32_t);
    if (out->rows == NULL || out->reach == NULL)
        return fault_set(fault, ERR_MEMORY, 0, "symbol table");
    if (read_rows(at, end, base, keep, out, fault) != ERR_NONE)
        return fault->code;
    if (out->count == 0)
        return fault_set_hint(
            fault, ERR_MALFORMED, out->first_bad_foff, "symbol table",
            "no row of the form \"hex\",size,\"SymTagFunction\",\"name\",\"file\",line"
            " above the base (see --csv-base)");
    finish_table(out);
    return ERR_NONE;
}

/* The last row that starts at or before RVA; count when there is none. */
static uint32_t last_at_or_before(const struct csv_table *table, uint32_t rva)
{
    const uint32_t low = ARRAY_UPPER(table->rows, table->count, rva, rva);
    return low == 0 ? table->count : low - 1;
}

/* What a lookup has found so far, searching back from the address. */
struct found_rows {
    const struct csv_row *function, *public_symbol, *line;
    const struct csv_row *inlined[LIMIT_INLINE_DEPTH + 1];
    uint32_t depth;
};

static void note_row(struct found_rows *found, const struct csv_row *row)
{
    switch ((enum csv_kind)row->kind) {
    case CSV_FUNCTION:
        /* if one address has several names (folded code), the table's first */
        if (found->function == NULL || found->function->rva == row->rva)
            found->function = row;
        break;
    case CSV_PUBLIC:
        if (found->public_symbol == NULL || found->public_symbol->rva == row->rva)
            found->public_symbol = row;
        break;
    case CSV_LINE:
        if (found->line == NULL)
            found->line = row;
        break;
    case CSV_INLINE:
        if (found->inlined[row->depth] == NULL)
            found->inlined[row->depth] = row;
        if (row->depth > found->depth)
            found->depth = row->depth;
        break;
    }
}

static void find_rows(const struct csv_table *table, uint32_t rva, struct found_rows *found)
{
    uint32_t i = last_at_or_before(table, rva);
    if (i == table->count)
        return;
    for (uint32_t left = CSV_BACK_ROWS; left > 0 && table->reach[i] > rva; left--, i--) {
        const struct csv_row *row = &table->rows[i];
        /* no row before the function can belong to the address */
        if (found->function != NULL && row->rva < found->function->rva)
            break;
        if (row->end_rva > rva)
            note_row(found, row);
        if (i == 0)
            break;
    }
}

uint32_t csv_lookup(const struct csv_table *table, uint64_t rva, struct csv_frame *out,
                    uint32_t max)
{
    struct found_rows found;
    uint32_t count = 0;

    if (rva > UINT32_MAX || max == 0)
        return 0;
    memset(&found, 0, sizeof found);
    find_rows(table, (uint32_t)rva, &found);
    const struct csv_row *function = found.function ? found.function : found.public_symbol;
    if (function == NULL)
        return 0;
    for (uint32_t depth = found.depth; depth > 0 && count + 1 < max; depth--) {
        const struct csv_row *row = found.inlined[depth];
        if (row != NULL && row->rva >= function->rva)
            out[count++] =
                (struct csv_frame){row->name, row->file, row->line, function->rva, (uint16_t)depth};
    }
    /* A function's row states the line of its definition, not the line of the frame: without ranges
     * the file is known but the line is not. */
    const bool own_line = found.line != NULL && found.line->rva >= function->rva;
    const char *file = table->has_ranges ? NULL : function->file;
    out[count++] = (struct csv_frame){
        .name = function->name,
        .file = own_line ? found.line->file : file,
        .line = own_line ? found.line->line : 0,
        .rva = function->rva,
    };
    return count;
}

void csv_write(FILE *out, uint64_t address, uint32_t size, enum csv_kind kind, const char *name,
               const char *file, uint32_t line, uint32_t depth)
{
    static const char *const words[] = {
        [CSV_FUNCTION] = "SymTagFunction",
        [CSV_PUBLIC] = "SymTagPublicSymbol",
        [CSV_LINE] = "SymTagLine",
        [CSV_INLINE] = "SymTagInlineSite",
    };
    (void)fprintf(out, "\"%" PRIx64 "\",%" PRIu32 ",\"%s\",\"%s\",\"%s\",%" PRIu32, address, size,
                  words[kind], name, file != NULL ? file : "?", line);
    if (kind == CSV_LINE || kind == CSV_INLINE)
        (void)fprintf(out, ",%" PRIu32, depth);
    (void)fputc('\n', out);
}
