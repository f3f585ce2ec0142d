/* See pdb_unit.h. */
#include "symbol/pdb_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

static uint32_t walk_codes(const struct pdb_module *module, struct unit_code *out)
{
    struct pdb_symbol symbol;
    struct pdb_procedure procedure;
    uint32_t count = 0;
    for (uint32_t soff = 4; pdb_symbol_at(module, soff, &symbol);
         soff = pdb_symbol_next(module, &symbol)) {
        if (!pdb_procedure_read(module, &symbol, &procedure))
            continue;
        if (out != NULL) {
            out[count].start = procedure.start;
            out[count].bytes = procedure.bytes;
            out[count].soff = procedure.soff;
        }
        count++;
    }
    return count;
}

/* Where a procedure or a line table starts, to find those with equal starts. */
struct start_key {
    uint64_t start; /* section, then offset */
    uint32_t number;
};

static uint64_t start_of(struct pdb_place place)
{
    return (uint64_t)place.section << 32 | place.offset;
}

ARRAY_ORDER_2(compare_starts, struct start_key, start, number)

static void sort_starts(struct start_key *keys, uint32_t count)
{
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_starts);
}

/* How many of the sorted KEYS from AT on have the same start. */
static uint32_t alike(const struct start_key *keys, uint32_t count, uint32_t at)
{
    uint32_t end = at;
    while (end < count && keys[end].start == keys[at].start)
        end++;
    return end - at;
}

static struct start_key *sorted_codes(const struct pdb_unit *unit, struct arena *keep)
{
    struct start_key *keys = ARENA_ARRAY(keep, unit->code_count, struct start_key);
    for (uint32_t i = 0; keys != NULL && i < unit->code_count; i++)
        keys[i] = (struct start_key){start_of(unit->codes[i].start), i};
    if (keys != NULL)
        sort_starts(keys, unit->code_count);
    return keys;
}

static bool same_bytes(const struct pdb_unit *unit, const struct start_key *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (unit->ranges[keys[i].number].bytes != unit->ranges[keys[0].number].bytes)
            return false;
    return true;
}

/* As linkers write it: no two line tables start at one address. */
static bool starts_ascend(const struct pdb_unit *unit)
{
    for (uint32_t i = 1; i < unit->range_count; i++)
        if (start_of(unit->ranges[i - 1].start) >= start_of(unit->ranges[i].start))
            return false;
    return true;
}

/* Folded code: several procedures of one module at one address, each with a line table, in the same
 * order. The first procedure gives the name, so only the first table may give the line. If their
 * numbers differ, tables and procedures cannot be matched. */
static bool drop_folded_lines(struct pdb_unit *unit, struct arena *keep)
{
    struct start_key *codes = NULL, *keys = NULL;
    uint32_t code = 0, left = 0;
    if (starts_ascend(unit))
        return true;
    keys = ARENA_ARRAY(keep, unit->range_count, struct start_key);
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < unit->range_count; i++)
        keys[i] = (struct start_key){start_of(unit->ranges[i].start), i};
    sort_starts(keys, unit->range_count);
    for (uint32_t i = 0, count; i < unit->range_count; i += count) {
        count = alike(keys, unit->range_count, i);
        if (count == 1 || !same_bytes(unit, keys + i, count))
            continue;
        if (codes == NULL && (codes = sorted_codes(unit, keep)) == NULL)
            return false;
        while (code < unit->code_count && codes[code].start < keys[i].start)
            code++;
        if (code == unit->code_count || codes[code].start != keys[i].start ||
            alike(codes, unit->code_count, code) != count)
            continue;
        for (uint32_t k = i + 1; k < i + count; k++)
            unit->ranges[keys[k].number].bytes = 0;
    }
    for (uint32_t i = 0; i < unit->range_count && codes != NULL; i++)
        if (unit->ranges[i].bytes != 0)
            unit->ranges[left++] = unit->ranges[i];
    if (codes != NULL)
        unit->range_count = left;
    return true;
}

bool pdb_unit_open(const struct pdb *pdb, uint32_t index, struct arena *keep,
                   struct pdb_marks *marks, struct pdb_unit *out)
{
    memset(out, 0, sizeof *out);
    if (!pdb_module_open(pdb, index, keep, &out->module))
        return false;
    out->is_damaged =
        !pdb_symbols_are_whole(&out->module, marks) || !pdb_lines_are_whole(&out->module);
    out->code_count = walk_codes(&out->module, NULL);
    out->codes = ARENA_ARRAY(keep, out->code_count, struct unit_code);
    struct pdb_line_range range;
    struct pdb_line_cursor cursor = {0, 0, 0, 0};
    while (pdb_line_range_next(&out->module, &cursor, &range))
        out->range_count++;
    out->ranges = ARENA_ARRAY(keep, out->range_count, struct pdb_line_range);
    if (out->codes == NULL || out->ranges == NULL)
        return false;
    (void)walk_codes(&out->module, out->codes);
    memset(&cursor, 0, sizeof cursor);
    for (uint32_t i = 0; pdb_line_range_next(&out->module, &cursor, &range); i++)
        out->ranges[i] = range;
    pdb_subsections_find(&out->module, &out->subsections);
    return drop_folded_lines(out, keep);
}

int64_t pdb_unit_code_at(const struct pdb_unit *unit, struct pdb_place place)
{
    int64_t found = -1;
    for (uint32_t i = 0; i < unit->code_count; i++) {
        const struct unit_code *code = &unit->codes[i];
        if (code->start.section != place.section ||
            place.offset - code->start.offset >= code->bytes || place.offset < code->start.offset)
            continue;
        if (found < 0 || code->start.offset > unit->codes[found].start.offset)
            found = i;
    }
    return found;
}

int64_t pdb_unit_code_before(const struct pdb_unit *unit, struct pdb_place place)
{
    int64_t found = -1;
    for (uint32_t i = 0; i < unit->code_count; i++) {
        const struct unit_code *code = &unit->codes[i];
        if (code->start.section == place.section && code->start.offset <= place.offset &&
            (found < 0 || code->start.offset > unit->codes[found].start.offset))
            found = i;
    }
    return found;
}

bool pdb_unit_procedure(const struct pdb_unit *unit, uint32_t code, struct pdb_procedure *out)
{
    struct pdb_symbol symbol;
    struct pdb_procedure parent;
    if (code >= unit->code_count ||
        !pdb_symbol_at(&unit->module, unit->codes[code].soff, &symbol) ||
        !pdb_procedure_read(&unit->module, &symbol, out))
        return false;
    if (out->kind != PDB_CODE_SEPARATED)
        return true;
    const int64_t of = pdb_unit_code_at(unit, out->parent);
    if (of < 0 || !pdb_symbol_at(&unit->module, unit->codes[of].soff, &symbol) ||
        !pdb_procedure_read(&unit->module, &symbol, &parent) || parent.kind == PDB_CODE_SEPARATED)
        return true;
    out->name = parent.name;
    out->name_bytes = parent.name_bytes;
    out->type = parent.type;
    out->type_is_id = parent.type_is_id;
    return true;
}

struct line_search {
    uint32_t offset;
    bool found;
    struct pdb_line_row best;
};

/* Of several rows at one offset only the last one has code; but a search for exactly that offset
 * finds the first row of the last block. */
static void line_search_row(void *context, const struct pdb_line_row *row)
{
    struct line_search *search = context;
    const struct pdb_line_row *best = &search->best;
    if (row->offset > search->offset || (search->found && row->offset < best->offset))
        return;
    if (search->found && row->offset == search->offset && row->offset == best->offset &&
        row->block == best->block && best->line != 0)
        return;
    search->found = true;
    search->best = *row;
}

bool pdb_unit_line_at(const struct pdb_unit *unit, struct pdb_place place, struct pdb_line_row *out)
{
    struct line_search search = {place.offset, false, {0, 0, PDB_NO_FILE, 0}};
    for (uint32_t i = 0; i < unit->range_count; i++) {
        const struct pdb_line_range *range = &unit->ranges[i];
        if (range->start.section == place.section && place.offset >= range->start.offset &&
            place.offset - range->start.offset < range->bytes)
            pdb_line_rows(&unit->module, range, &unit->subsections, line_search_row, &search);
    }
    *out = search.best;
    return search.found;
}

struct line_list {
    uint32_t target, start, count, max;
    uint32_t *out;
};

static void line_list_row(void *context, const struct pdb_line_row *row)
{
    struct line_list *list = context;
    if (row->offset > list->target || (list->count > 0 && row->offset < list->start))
        return;
    if (list->count > 0 && row->offset > list->start)
        list->count = 0;
    list->start = row->offset;
    if (list->count < list->max && row->line != 0)
        list->out[list->count++] = row->line;
}

uint32_t pdb_unit_lines_at(const struct pdb_unit *unit, struct pdb_place place, uint32_t *out,
                           uint32_t max)
{
    struct line_list list = {place.offset, 0, 0, max, out};
    for (uint32_t i = 0; i < unit->range_count; i++) {
        const struct pdb_line_range *range = &unit->ranges[i];
        if (range->start.section == place.section && place.offset >= range->start.offset &&
            place.offset - range->start.offset < range->bytes)
            pdb_line_rows(&unit->module, range, &unit->subsections, line_list_row, &list);
    }
    return list.count;
}

/* The row of a site that holds OFFSET: the one that starts last, and of those the last. */
static bool row_at(const struct pdb_inline_row *rows, uint32_t count, uint32_t offset,
                   struct pdb_inline_row *out)
{
    bool found = false;
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        if (rows[i].start <= offset && offset < rows[i].end &&
            (!found || rows[i].start >= out->start)) {
            *out = rows[i];
            found = true;
        }
    }
    return found;
}

uint32_t pdb_unit_sites_at(const struct pdb_unit *unit, const struct pdb_procedure *procedure,
                           uint32_t offset, struct arena *scratch,
                           struct unit_site out[LIMIT_INLINE_DEPTH])
{
    struct pdb_symbol symbol;
    struct pdb_inline_row *rows = NULL;
    uint32_t room_bytes = 0, depth = 0;
    if (!pdb_symbol_at(&unit->module, procedure->soff, &symbol))
        return 0;
    uint32_t soff = symbol.end_soff, end = procedure->end_soff;
    while (depth < LIMIT_INLINE_DEPTH) { /* one level of sites at a time */
        bool found = false;
        uint32_t site_end = end, site_soff = soff;
        struct pdb_inline_row best = {0, 0, 0, 0};
        while (soff < end && pdb_symbol_at(&unit->module, soff, &symbol)) {
            const uint8_t *annotations;
            uint32_t inlinee, bytes;
            struct pdb_inline_row row = {0, 0, 0, 0};
            soff = pdb_symbol_next(&unit->module, &symbol);
            if (symbol.kind == PDB_BLOCK32 || symbol.kind == PDB_WITH32)
                soff = symbol.end_soff; /* sites may be inside lexical blocks */
            if (!pdb_inline_site(&symbol, &inlinee, &annotations, &bytes))
                continue;
            if (bytes > room_bytes) {
                room_bytes = bytes < 512 ? 512 : bytes;
                rows = ARENA_ARRAY(scratch, room_bytes / 2 + 1, struct pdb_inline_row);
                if (rows == NULL)
                    return depth;
            }
            const uint32_t count =
                pdb_inline_rows(annotations, bytes, UNIT_INLINEE_FILE, procedure->bytes, rows);
            if (!row_at(rows, count, offset, &row) || (found && row.start < best.start))
                continue;
            found = true;
            best = row;
            site_soff = symbol.end_soff;
            site_end = view_u32(symbol.data, 4);
            out[depth].inlinee = inlinee;
            out[depth].file = row.file;
            out[depth].line_delta = row.line_delta;
        }
        if (!found)
            break;
        depth++;
        soff = site_soff;
        end = site_end < end ? site_end : end;
    }
    return depth;
}

bool pdb_unit_inlinee(const struct pdb_unit *unit, uint32_t id, struct pdb_inlinee *out)
{
    struct pdb_inlinee_cursor cursor = {0};
    while (pdb_inlinee_next(&unit->module, &cursor, out))
        if (out->id == id) /* of several the first one counts */
            return true;
    return false;
}
