/* Scopes and lines of a unit as one list by address; see dwarf.h.
 *
 * If several scopes cover an address, the last one in the order of the entries applies: a nested
 * scope comes after its parent, and of two overlapping functions the later one overrides the
 * earlier, as in llvm-symbolizer. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/parts.h"

/* The ranges that apply, as a heap: the last in the order of the entries on top. */
struct open_ranges {
    const struct scope_range *ranges;
    uint32_t *heap;
    uint32_t count;
};

static void open_range(struct open_ranges *open, uint32_t number)
{
    uint32_t at = open->count++;
    while (at > 0 && open->heap[(at - 1) / 2] < number) {
        open->heap[at] = open->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    open->heap[at] = number;
}

static void close_top(struct open_ranges *open)
{
    const uint32_t last = open->heap[--open->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < open->count && open->heap[child + 1] > open->heap[child])
            child++;
        if (child >= open->count || open->heap[child] <= last)
            break;
        open->heap[at] = open->heap[child];
        at = child;
    }
    open->heap[at] = last;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

struct by_low {
    uint32_t low, number;
};

static int compare_lows(const void *left, const void *right)
{
    const struct by_low *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

struct sweep {
    struct dwarf_unit *unit;
    const struct scope_range *ranges;
    struct by_low *lows;
    uint32_t range_count, next_range;
    struct open_ranges open;
    uint32_t next_row;
    const struct dwarf_row *row; /* that applies; NULL: none */
};

/* Advances to OFFSET and returns what applies there. */
static struct dwarf_span sweep_to(struct sweep *s, uint32_t offset)
{
    const struct dwarf_unit *unit = s->unit;

    for (; s->next_range < s->range_count && s->lows[s->next_range].low <= offset; s->next_range++)
        open_range(&s->open, s->lows[s->next_range].number);
    while (s->open.count > 0 && s->ranges[s->open.heap[0]].high <= offset)
        close_top(&s->open);
    for (; s->next_row < unit->row_count && unit->rows[s->next_row].offset <= offset;
         s->next_row++) {
        const struct dwarf_row *row = &unit->rows[s->next_row];
        if (!row->ends)
            s->row = row;
        else if (s->row != NULL && s->row->sequence == row->sequence)
            s->row = NULL; /* the end of another sequence does not end this one */
    }
    return (struct dwarf_span){
        .start = offset,
        .line = s->row != NULL ? s->row->line : 0,
        .file = s->row != NULL ? s->row->file : NULL,
        .scope = s->open.count > 0 ? &unit->scopes[s->ranges[s->open.heap[0]].scope] : NULL,
    };
}

/* Every offset where something starts or ends, sorted, without duplicates. Owned by the caller. */
static uint32_t *find_bounds(const struct dwarf_unit *unit, const struct scope_range *ranges,
                             uint32_t range_count, uint32_t *count)
{
    const size_t room = 2 * (size_t)range_count + unit->row_count;
    uint32_t *bounds = malloc((room + 1) * sizeof *bounds);
    uint32_t n = 0, kept = 0;

    *count = 0;
    if (bounds == NULL || room > UINT32_MAX)
        return bounds;
    for (uint32_t i = 0; i < range_count; i++) {
        bounds[n++] = ranges[i].low;
        bounds[n++] = ranges[i].high;
    }
    for (uint32_t i = 0; i < unit->row_count; i++)
        bounds[n++] = unit->rows[i].offset;
    array_sort(bounds, n, sizeof *bounds, compare_numbers);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || bounds[i] != bounds[kept - 1])
            bounds[kept++] = bounds[i];
    *count = kept;
    return bounds;
}

static bool same_span(const struct dwarf_span *a, const struct dwarf_span *b)
{
    return a->scope == b->scope && a->line == b->line && a->file == b->file;
}

void dwarf_make_spans(struct dwarf *dwarf, struct dwarf_unit *unit,
                      const struct scope_range *ranges, uint32_t range_count)
{
    struct sweep sweep = {.unit = unit, .ranges = ranges, .range_count = range_count};
    uint32_t count;
    uint32_t *bounds = find_bounds(unit, ranges, range_count, &count);

    sweep.lows = malloc(((size_t)range_count + 1) * sizeof *sweep.lows);
    sweep.open = (struct open_ranges){ranges, malloc(((size_t)range_count + 1) * 4), 0};
    unit->spans = ARENA_ARRAY(&dwarf->arena, (size_t)count + 1, struct dwarf_span);
    if (bounds != NULL && sweep.lows != NULL && sweep.open.heap != NULL && unit->spans != NULL) {
        for (uint32_t i = 0; i < range_count; i++)
            sweep.lows[i] = (struct by_low){ranges[i].low, i};
        array_sort(sweep.lows, range_count, sizeof *sweep.lows, compare_lows);
        for (uint32_t i = 0; i < count; i++) {
            const struct dwarf_span span = sweep_to(&sweep, bounds[i]);
            if (unit->span_count == 0 || !same_span(&unit->spans[unit->span_count - 1], &span))
                unit->spans[unit->span_count++] = span;
        }
    }
    free(bounds);
    free(sweep.lows);
    free(sweep.open.heap);
}
