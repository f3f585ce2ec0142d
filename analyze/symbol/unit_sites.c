/* The inline sites of one procedure, decoded once; see unit_tables.h.
 *
 * pdb_unit_sites_at() walks one level of sites at a time: among the children of the site chosen
 * last, the row that starts last applies. Here the rows of all children of a site are together,
 * sorted by start, so that one search replaces the walk of a level. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "symbol/unit_tables.h"

/* Above this total size no further procedures are kept. */
#define KNOWN_BYTES_MAX ((size_t)256 << 20)

struct site_row {
    uint32_t start, end;
    uint32_t reach; /* the largest end up to here, within the level */
    uint32_t order; /* of decoding: of equal starts the last one applies */
    uint32_t site;
    uint32_t file;
    int32_t line_delta;
};

struct site_level { /* a site, and the rows of its children */
    uint32_t inlinee;
    uint32_t first_row, row_count;
    uint32_t soff, end; /* where its children are */
};

/* A lookup waits for each cache line that it touches: a row is half a line. */
enum { ROW_ALIGNMENT = 32 };
_Static_assert(sizeof(struct unit_site_row) <= ROW_ALIGNMENT, "a row is half a cache line");

struct unit_sites {
    struct site_level *levels; /* 0: the procedure itself */
    uint32_t *starts;          /* of the rows, apart from them: a search touches little memory */
    struct unit_site_row *rows;
    struct unit_site *sites; /* of the rows, until the caller has named them */
};

struct site_reader {
    const struct pdb_unit *unit;
    uint32_t code_bytes, most_sites, most_rows;
    struct site_level *levels;      /* owned */
    struct site_row *rows;          /* owned */
    struct pdb_inline_row *decoded; /* owned */
    uint32_t level_count, level_room, row_count, row_room, decoded_room;
};

/* Adds a site with its rows. False: out of memory, or there is more than the records can hold,
 * because damaged ones claim each other's. */
static bool add_site(struct site_reader *r, const struct pdb_symbol *symbol, uint32_t end)
{
    const uint8_t *annotations;
    uint32_t inlinee, bytes;

    if (!pdb_inline_site(symbol, &inlinee, &annotations, &bytes))
        return true;
    struct pdb_inline_row *decoded =
        array_reserve(r->decoded, &r->decoded_room, (uint64_t)bytes / 2 + 1, sizeof *decoded);
    if (decoded == NULL)
        return false;
    r->decoded = decoded;
    const uint32_t count =
        pdb_inline_rows(annotations, bytes, UNIT_INLINEE_FILE, r->code_bytes, decoded);
    struct site_row *rows =
        array_reserve(r->rows, &r->row_room, (uint64_t)r->row_count + count, sizeof *rows);
    struct site_level *levels =
        array_reserve(r->levels, &r->level_room, (uint64_t)r->level_count + 1, sizeof *levels);
    r->rows = rows != NULL ? rows : r->rows;
    r->levels = levels != NULL ? levels : r->levels;
    if (rows == NULL || levels == NULL || r->level_count > r->most_sites ||
        r->row_count + (uint64_t)count > r->most_rows)
        return false;
    for (uint32_t i = 0; i < count; i++)
        rows[r->row_count + i] = (struct site_row){.start = decoded[i].start,
                                                   .end = decoded[i].end,
                                                   .order = r->row_count + i,
                                                   .site = r->level_count,
                                                   .file = decoded[i].file,
                                                   .line_delta = decoded[i].line_delta};
    r->row_count += count;
    const uint32_t site_end = load_u32(symbol->data + 4);
    levels[r->level_count++] = (struct site_level){
        .inlinee = inlinee, .soff = symbol->end_soff, .end = site_end < end ? site_end : end};
    return true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct site_row *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Reads the children of a level, in the way of pdb_unit_sites_at(). */
static bool read_level(struct site_reader *r, uint32_t number)
{
    const struct pdb_module *module = &r->unit->module;
    const uint32_t first = r->row_count, end = r->levels[number].end;
    struct pdb_symbol symbol;

    for (uint32_t soff = r->levels[number].soff;
         soff < end && pdb_symbol_at(module, soff, &symbol);) {
        soff = pdb_symbol_next(module, &symbol);
        if (symbol.kind == PDB_BLOCK32 || symbol.kind == PDB_WITH32)
            soff = symbol.end_soff; /* sites may be inside lexical blocks */
        if (!add_site(r, &symbol, end))
            return false;
    }
    struct site_row *rows = r->rows != NULL ? r->rows + first : NULL;
    const uint32_t count = rows != NULL ? r->row_count - first : 0;
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i].reach = i > 0 && rows[i - 1].reach > rows[i].end ? rows[i - 1].reach : rows[i].end;
    r->levels[number].first_row = first;
    r->levels[number].row_count = count;
    return true;
}

static struct unit_sites *keep_sites(const struct site_reader *r, struct arena *keep)
{
    struct unit_sites *sites = ARENA_NEW(keep, struct unit_sites);
    if (sites == NULL)
        return NULL;
    sites->levels = ARENA_ARRAY(keep, r->level_count, struct site_level);
    sites->starts = ARENA_ARRAY(keep, (size_t)r->row_count + 1, uint32_t);
    uint8_t *rows = arena_array(keep, (size_t)r->row_count + 2, sizeof *sites->rows);
    sites->sites = ARENA_ARRAY(keep, (size_t)r->row_count + 1, struct unit_site);
    if (sites->levels == NULL || sites->starts == NULL || rows == NULL || sites->sites == NULL)
        return NULL;
    void *aligned = rows + (0 - (uintptr_t)rows) % ROW_ALIGNMENT;
    sites->rows = aligned;
    memcpy(sites->levels, r->levels, r->level_count * sizeof *sites->levels);
    for (uint32_t i = 0; i < r->row_count; i++) {
        const struct site_row *row = &r->rows[i];
        sites->starts[i] = row->start;
        sites->rows[i] =
            (struct unit_site_row){.end = row->end, .reach = row->reach, .site = row->site};
        sites->sites[i] =
            (struct unit_site){r->levels[row->site].inlinee, row->file, row->line_delta};
    }
    return sites;
}

static struct unit_sites *read_sites(const struct pdb_unit *unit,
                                     const struct pdb_procedure *procedure, struct arena *keep)
{
    enum { SITE_BYTES_MIN = 16 };
    struct site_reader r = {.unit = unit, .code_bytes = procedure->bytes};
    struct unit_sites *sites = NULL;
    struct pdb_symbol symbol;

    if (!pdb_symbol_at(&unit->module, procedure->soff, &symbol) ||
        procedure->end_soff < symbol.end_soff)
        return NULL;
    r.most_sites = (procedure->end_soff - symbol.end_soff) / SITE_BYTES_MIN + 1;
    r.most_rows = (procedure->end_soff - symbol.end_soff) / 2 + r.most_sites;
    r.levels = array_reserve(NULL, &r.level_room, 1, sizeof *r.levels);
    if (r.levels == NULL)
        return NULL;
    r.levels[r.level_count++] =
        (struct site_level){.soff = symbol.end_soff, .end = procedure->end_soff};
    uint32_t next = 0;
    while (next < r.level_count && read_level(&r, next))
        next++;
    if (next == r.level_count)
        sites = keep_sites(&r, keep);
    free(r.levels);
    free(r.rows);
    free(r.decoded);
    return sites;
}

struct unit_procedure *unit_procedure_at(const struct pdb_unit *unit, uint32_t code,
                                         struct arena *keep)
{
    if (unit->tables == NULL || code >= unit->code_count)
        return NULL;
    struct known_procedure *known = unit_tables_known(unit->tables, code);
    if (known->tried || keep->used_bytes >= KNOWN_BYTES_MAX)
        return known->procedure;
    known->tried = true;
    struct unit_procedure *procedure = ARENA_NEW(keep, struct unit_procedure);
    if (procedure == NULL || !pdb_unit_procedure(unit, code, &procedure->procedure))
        return NULL;
    procedure->sites = read_sites(unit, &procedure->procedure, keep);
    known->procedure = procedure;
    return procedure;
}

/* The row of a level that holds OFFSET and starts last; NULL: none. */
static struct unit_site_row *row_at(const struct unit_sites *sites, uint32_t level, uint32_t offset)
{
    const uint32_t first = sites->levels[level].first_row;
    const uint32_t *starts = sites->starts + first;
    struct unit_site_row *rows = sites->rows + first;
    uint32_t low =
        array_upper(starts, sites->levels[level].row_count, sizeof *starts, sizeof *starts, offset);
    for (; low > 0 && rows[low - 1].reach > offset; low--)
        if (rows[low - 1].end > offset)
            return &rows[low - 1];
    return NULL;
}

uint32_t unit_sites_at(const struct unit_sites *sites, uint32_t offset,
                       struct unit_known_site out[LIMIT_INLINE_DEPTH])
{
    uint32_t depth = 0, level = 0;
    struct unit_site_row *row;
    while (depth < LIMIT_INLINE_DEPTH && (row = row_at(sites, level, offset)) != NULL) {
        level = row->site;
        out[depth++] = (struct unit_known_site){row, &sites->sites[row - sites->rows]};
    }
    return depth;
}
