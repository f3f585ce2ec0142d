/* See unit_tables.h. */
#include "symbol/unit_tables.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct unit_span {       /* code, or a line table */
    uint64_t start, end; /* section << 32 | offset */
    uint64_t reach;      /* the largest end up to here */
    uint32_t number;
};

struct unit_spans { /* sorted by start; of equal starts the first record is the last */
    struct unit_span *at;
    uint32_t count;
};

struct inlinee_row {
    struct pdb_inlinee inlinee;
    uint32_t number; /* in the file */
};

struct unit_tables {
    struct unit_spans codes, ranges;
    struct inlinee_row *inlinees; /* sorted by id, one for each */
    uint32_t inlinee_count;
    struct known_procedure *procedures; /* by number of the code */
};

static uint64_t key_of(struct pdb_place place)
{
    return (uint64_t)place.section << 32 | place.offset;
}

static void add_span(struct unit_spans *spans, struct pdb_place start, uint32_t bytes,
                     uint32_t number)
{
    const uint64_t from = key_of(start);
    const uint64_t most =
        (uint64_t)UINT32_MAX + 1 - start.offset; /* none reaches into the next section */
    spans->at[spans->count++] =
        (struct unit_span){from, from + (bytes < most ? bytes : most), 0, number};
}

static int compare_spans(const void *left, const void *right)
{
    const struct unit_span *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->number > b->number ? -1 : a->number < b->number;
}

static void sort_spans(struct unit_spans *spans)
{
    if (spans->count > 1)
        qsort(spans->at, spans->count, sizeof *spans->at, compare_spans);
    for (uint32_t i = 0; i < spans->count; i++) {
        const uint64_t before = i > 0 ? spans->at[i - 1].reach : 0;
        spans->at[i].reach = before > spans->at[i].end ? before : spans->at[i].end;
    }
}

/* How many spans start at or before KEY. */
static uint32_t started(const struct unit_spans *spans, uint64_t key)
{
    const uint32_t low = ARRAY_UPPER(spans->at, spans->count, start, key);
    return low;
}

int64_t unit_tables_code_at(const struct unit_tables *tables, struct pdb_place place)
{
    const struct unit_spans *codes = &tables->codes;
    const uint64_t key = key_of(place);
    for (uint32_t i = started(codes, key); i > 0 && codes->at[i - 1].reach > key; i--)
        if (codes->at[i - 1].end > key)
            return codes->at[i - 1].number;
    return -1;
}

bool unit_tables_ranges_at(const struct unit_tables *tables, struct pdb_place place,
                           uint32_t numbers[UNIT_RANGES_MAX], uint32_t *count)
{
    const struct unit_spans *ranges = &tables->ranges;
    const uint64_t key = key_of(place);
    *count = 0;
    for (uint32_t i = started(ranges, key); i > 0 && ranges->at[i - 1].reach > key; i--) {
        const uint32_t number = ranges->at[i - 1].number;
        uint32_t at = *count;
        if (ranges->at[i - 1].end <= key)
            continue;
        if (*count == UNIT_RANGES_MAX)
            return false;
        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
        ++*count;
    }
    return true;
}

static int compare_inlinees(const void *left, const void *right)
{
    const struct inlinee_row *a = left, *b = right;
    if (a->inlinee.id != b->inlinee.id)
        return a->inlinee.id < b->inlinee.id ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

bool unit_tables_inlinee(const struct unit_tables *tables, uint32_t id, struct pdb_inlinee *out)
{
    const uint32_t low = ARRAY_UPPER(tables->inlinees, tables->inlinee_count, inlinee.id, id);
    if (low == 0 || tables->inlinees[low - 1].inlinee.id != id)
        return false;
    *out = tables->inlinees[low - 1].inlinee;
    return true;
}

static bool read_inlinees(const struct pdb_unit *unit, struct unit_tables *tables,
                          struct arena *keep)
{
    struct pdb_inlinee_cursor cursor = {0, NULL, 0, false};
    struct pdb_inlinee one;
    uint32_t count = 0;

    while (pdb_inlinee_next(&unit->module, &cursor, &one))
        count++;
    struct inlinee_row *rows = ARENA_ARRAY(keep, (size_t)count + 1, struct inlinee_row);
    if (rows == NULL)
        return false;
    memset(&cursor, 0, sizeof cursor);
    for (uint32_t i = 0; pdb_inlinee_next(&unit->module, &cursor, &one); i++)
        rows[i] = (struct inlinee_row){one, i};
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_inlinees);
    for (uint32_t i = 0; i < count; i++) { /* of several the first one counts */
        if (tables->inlinee_count == 0 ||
            rows[tables->inlinee_count - 1].inlinee.id != rows[i].inlinee.id)
            rows[tables->inlinee_count++] = rows[i];
    }
    tables->inlinees = rows;
    return true;
}

void pdb_unit_sort(struct pdb_unit *unit, struct arena *keep)
{
    struct unit_tables *tables = ARENA_NEW(keep, struct unit_tables);
    if (tables == NULL)
        return;
    tables->codes.at = ARENA_ARRAY(keep, (size_t)unit->code_count + 1, struct unit_span);
    tables->ranges.at = ARENA_ARRAY(keep, (size_t)unit->range_count + 1, struct unit_span);
    tables->procedures = ARENA_ARRAY(keep, (size_t)unit->code_count + 1, struct known_procedure);
    if (tables->procedures == NULL || tables->codes.at == NULL || tables->ranges.at == NULL ||
        !read_inlinees(unit, tables, keep))
        return;
    for (uint32_t i = 0; i < unit->code_count; i++)
        add_span(&tables->codes, unit->codes[i].start, unit->codes[i].bytes, i);
    for (uint32_t i = 0; i < unit->range_count; i++)
        add_span(&tables->ranges, unit->ranges[i].start, unit->ranges[i].bytes, i);
    sort_spans(&tables->codes);
    sort_spans(&tables->ranges);
    unit->tables = tables;
}

struct known_procedure *unit_tables_known(const struct unit_tables *tables, uint32_t code)
{
    return &tables->procedures[code];
}
