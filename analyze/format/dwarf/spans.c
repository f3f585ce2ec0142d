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

/* Sorts by offset, byte by byte from the lowest; equal offsets keep their order. SPARE has as much
 * room. Returns the array that has the result. */
static struct scope_bound *sort_bounds(struct scope_bound *items, struct scope_bound *spare,
                                       uint32_t count)
{
    uint32_t differ = 0;

    for (uint32_t i = 1; i < count; i++)
        differ |= items[i].offset ^ items[0].offset;
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint32_t at[256] = {0}, sum = 0;
        if ((differ >> shift & 0xff) == 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            at[items[i].offset >> shift & 0xff]++;
        for (uint32_t i = 0; i < COUNT_OF(at); i++) {
            const uint32_t here = at[i];
            at[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; i++)
            spare[at[items[i].offset >> shift & 0xff]++] = items[i];
        struct scope_bound *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

struct sweep {
    const struct dwarf_unit *unit;
    const struct scope_range *ranges;
    const struct scope_bound *bounds; /* sorted */
    uint32_t bound_count, next_bound;
    struct open_ranges open;
    uint32_t next_row;
    const struct dwarf_row *row; /* that applies; NULL: none */
};

/* The next offset where something starts or ends. False: there is none. */
static bool next_offset(const struct sweep *s, uint32_t *out)
{
    const struct dwarf_unit *unit = s->unit;
    uint64_t least = UINT64_MAX;

    if (s->next_bound < s->bound_count)
        least = s->bounds[s->next_bound].offset;
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
    for (; s->next_bound < s->bound_count && s->bounds[s->next_bound].offset <= offset;
         s->next_bound++)
        if (s->bounds[s->next_bound].is_low)
            open_range(&s->open, s->bounds[s->next_bound].number);
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

/* Fills unit->spans, which have room for one at each bound and row. */
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
    const uint32_t bounds = 2 * count;
    struct sweep sweep = {.unit = unit, .ranges = ranges, .bound_count = bounds};

    unit->spans = malloc(((size_t)bounds + unit->row_count + 1) * sizeof *unit->spans);
    if (unit->spans == NULL ||
        !ARRAY_ROOM(memory->bounds, memory->bound_room, 2 * (uint64_t)bounds) ||
        !ARRAY_ROOM(memory->heap, memory->heap_room, count))
        return;
    for (size_t i = 0; i < count; i++) {
        memory->bounds[2 * i] = (struct scope_bound){ranges[i].low, (uint32_t)i & INT32_MAX, true};
        memory->bounds[2 * i + 1] =
            (struct scope_bound){ranges[i].high, (uint32_t)i & INT32_MAX, false};
    }
    sweep.bounds = sort_bounds(memory->bounds, memory->bounds + bounds, bounds);
    sweep.open = (struct open_ranges){ranges, memory->heap, 0};
    find_spans(unit, &sweep);
    unit->spans = ARRAY_FIT(unit->spans, unit->span_count);
}
