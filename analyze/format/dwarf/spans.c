/* Scopes and lines of a unit as one list by address; see dwarf.h.
 *
 * If several scopes cover an address, the last one in the order of the entries applies: a nested
 * scope comes after its parent, and of two overlapping functions the later one overrides the
 * earlier, as in llvm-symbolizer. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/reader.h"

/* The ranges that apply, as a heap: the last in the order of the entries on top. */
struct open_ranges {
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

/* A range opens at its start and closes at its end when it is the one that applies: nothing changes
 * where another one ends. */
struct sweep {
    const struct dwarf_unit *unit;
    const struct scope_range *ranges;
    const uint64_t *starts; /* sorted: where each range starts, and in the low 32 bits its number */
    uint32_t start_count, next_start;
    struct open_ranges open;
    uint32_t next_row;
    const struct dwarf_row *row; /* that applies; NULL: none */
};

/* The next offset where what applies may change. False: there is none. */
static inline bool next_offset(const struct sweep *s, uint32_t *out)
{
    const struct dwarf_unit *unit = s->unit;
    uint64_t least = UINT64_MAX;

    if (s->next_start < s->start_count)
        least = s->starts[s->next_start] >> 32;
    if (s->open.count > 0 && s->ranges[s->open.heap[0]].high < least)
        least = s->ranges[s->open.heap[0]].high;
    if (s->next_row < unit->row_count && unit->rows[s->next_row].offset < least)
        least = unit->rows[s->next_row].offset;
    *out = (uint32_t)least;
    return least <= UINT32_MAX;
}

/* Advances to the row that applies at OFFSET. */
static void sweep_rows(struct sweep *s, uint32_t offset)
{
    const struct dwarf_unit *unit = s->unit;

    for (; s->next_row < unit->row_count && unit->rows[s->next_row].offset <= offset;
         s->next_row++) {
        const struct dwarf_row *row = &unit->rows[s->next_row];
        if (!row->ends)
            s->row = row;
        else if (s->row != NULL && s->row->sequence == row->sequence)
            s->row = NULL; /* the end of another sequence does not end this one */
    }
}

static struct dwarf_span make_span(const struct dwarf_row *row, uint32_t scope, uint32_t offset)
{
    return (struct dwarf_span){
        .start = offset,
        .line = row != NULL ? row->line : 0,
        .file = row != NULL ? row->file : UINT32_MAX,
        .scope = scope,
    };
}

/* Advances to OFFSET and returns what applies there. */
static struct dwarf_span sweep_to(struct sweep *s, uint32_t offset)
{
    for (; s->next_start < s->start_count && s->starts[s->next_start] >> 32 <= offset;
         s->next_start++)
        open_range(&s->open, (uint32_t)s->starts[s->next_start]);
    while (s->open.count > 0 && s->ranges[s->open.heap[0]].high <= offset)
        close_top(&s->open);
    sweep_rows(s, offset);
    return make_span(s->row, s->open.count > 0 ? s->ranges[s->open.heap[0]].scope + 1 : 0, offset);
}

struct dwarf_span dwarf_span_at(const struct dwarf_unit *unit, const struct scope_range *ranges,
                                uint32_t count, uint32_t offset, uint64_t *end)
{
    struct sweep sweep = {.unit = unit};
    uint32_t scope = 0, next;

    sweep_rows(&sweep, offset);
    if (next_offset(&sweep, &next) && next < *end)
        *end = next;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bound = offset < ranges[i].low ? ranges[i].low : ranges[i].high;
        if (bound > offset && ranges[i].low <= offset)
            scope = ranges[i].scope + 1;
        if (bound > offset && bound < *end)
            *end = bound;
    }
    return make_span(sweep.row, scope, offset);
}

static bool same_span(const struct dwarf_span *a, const struct dwarf_span *b)
{
    return a->scope == b->scope && a->line == b->line && a->file == b->file;
}

/* Fills unit->spans, which have room for one at each start, end and row. */
static void find_spans(struct dwarf_unit *unit, struct sweep *sweep)
{
    uint32_t offset, count = 0;

    while (next_offset(sweep, &offset)) {
        unit->spans[count] = sweep_to(sweep, offset);
        if (count == 0 || !same_span(&unit->spans[count - 1], &unit->spans[count]))
            count++;
    }
    unit->span_count = count;
}

void dwarf_make_spans(struct sweep_memory *memory, struct dwarf_unit *unit,
                      const struct scope_range *ranges, uint32_t count)
{
    unit->spans = malloc((2 * (size_t)count + unit->row_count + 1) * sizeof *unit->spans);
    if (unit->spans == NULL || !ARRAY_ROOM(memory->starts, memory->start_room, count) ||
        !ARRAY_ROOM(memory->heap, memory->heap_room, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        memory->starts[i] = (uint64_t)ranges[i].low << 32 | i;
    if (count > 0)
        array_sort_numbers(memory->starts, count, sizeof *memory->starts);
    struct sweep sweep = {.unit = unit,
                          .ranges = ranges,
                          .starts = memory->starts,
                          .start_count = count,
                          .open = {memory->heap, 0}};
    find_spans(unit, &sweep);
    unit->spans = ARRAY_FIT(unit->spans, unit->span_count);
}
