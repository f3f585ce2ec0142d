/* DWARF units, and finding the one that covers an offset; see dwarf.h. */
#include "format/dwarf/dwarf.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "format/dwarf/reader.h"

struct range_target {
    struct dwarf *dwarf;
    uint32_t unit;
    bool failed;
};

static void add_unit_range(void *context, uint64_t low_va, uint64_t high_va)
{
    struct range_target *to = context;
    struct dwarf *dwarf = to->dwarf;
    uint32_t low, high;

    if (!dwarf_is_code(dwarf, low_va, high_va, &low, &high))
        return;
    if (ARRAY_ROOM(dwarf->ranges, dwarf->range_room, (uint64_t)dwarf->range_count + 1))
        dwarf->ranges[dwarf->range_count++] = (struct unit_range){low, high, to->unit, 0};
    else
        to->failed = true;
}

static struct dwarf_unit *add_unit(struct dwarf *dwarf, struct dwarf_context *context)
{
    if (!ARRAY_ROOM(dwarf->units, dwarf->unit_room, (uint64_t)dwarf->unit_count + 1))
        return NULL;
    struct dwarf_unit *unit = &dwarf->units[dwarf->unit_count++];
    *unit = (struct dwarf_unit){.skeleton = context, .full = context};
    return unit;
}

/* Lists the unit with its ranges. A unit without ranges is read at once: old compilers stated them
 * only for functions. So is one of DWARF 2, which has no way to state the ranges of code that lies
 * outside the unit's main section. */
static bool list_unit(struct dwarf *dwarf, struct dwarf_context *context)
{
    struct range_target to = {dwarf, dwarf->unit_count, false};
    struct dwarf_entry root;

    if (!context->bases_read && !dwarf_context_read(context, &root)) {
        context->object->lacks_units = true;
        return true;
    }
    if (context->tag != TAG_COMPILE_UNIT && context->tag != TAG_SKELETON_UNIT)
        return true;
    struct dwarf_unit *unit = add_unit(dwarf, context);
    const bool stated =
        unit == NULL || dwarf_extent_ranges(context, context->extent, add_unit_range, &to);
    if (unit != NULL && (!stated || context->format.version == 2))
        dwarf_unit_functions(dwarf, unit, add_unit_range, &to);
    context->object->lacks_units = context->object->lacks_units || context->damaged;
    return unit != NULL && !to.failed;
}

static enum status list_units(struct dwarf *dwarf, struct fault *fault)
{
    dwarf->is_listed = true;
    if (dwarf_object_list(dwarf->object, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < dwarf->object->context_count; i++)
        if (!list_unit(dwarf, &dwarf->object->contexts[i]))
            return fault_no_memory(fault, "DWARF units");
    if (dwarf->range_count > 0)
        array_sort_numbers(dwarf->ranges, dwarf->range_count, sizeof *dwarf->ranges);
    for (uint32_t i = 0; i < dwarf->range_count; i++) {
        struct unit_range *range = &dwarf->ranges[i];
        range->reach = i > 0 && range[-1].reach > range->high ? range[-1].reach : range->high;
    }
    return ERR_NONE;
}

static enum status open_objects(const struct dwarf_input *input, struct dwarf *dwarf,
                                struct fault *fault)
{
    if (input->alternate != NULL) {
        struct fault ignored = FAULT_INIT; /* its contents are then treated as absent */
        dwarf->alternate =
            dwarf_object_new(input->alternate->own, input->alternate, PART_ALTERNATE, &ignored);
    }
    const bool later = input->split_count == 0 && input->debug->own[DEBUG_ARANGES].data != NULL;
    dwarf->object =
        dwarf_object_new(input->debug->own, input->debug, later ? PART_LATER : PART_OWN, fault);
    if (dwarf->object == NULL)
        return fault->code;
    dwarf->object->alternate = dwarf->alternate;
    for (uint32_t i = 0; i < input->split_count && i < DWARF_SPLITS_MAX; i++) {
        struct fault damage = FAULT_INIT;
        (void)dwarf_add_splits(dwarf, input->splits[i], &damage);
    }
    if (dwarf->split_count > 0)
        array_sort_numbers(dwarf->splits, dwarf->split_count, sizeof *dwarf->splits);
    return later ? ERR_NONE : list_units(dwarf, fault);
}

enum status dwarf_open(const struct dwarf_input *input, struct dwarf **out, struct fault *fault)
{
    *out = NULL;
    if (input->debug->own[DEBUG_INFO].data == NULL || input->debug->own[DEBUG_INFO].bytes == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "DWARF");
    struct dwarf *dwarf = calloc(1, sizeof *dwarf);
    if (dwarf == NULL)
        return fault_no_memory(fault, "DWARF");
    arena_init(&dwarf->arena, 0);
    dwarf->debug = input->debug;
    if (open_objects(input, dwarf, fault) != ERR_NONE) {
        dwarf_close(dwarf);
        return fault->code;
    }
    *out = dwarf;
    return ERR_NONE;
}

static void free_unit(struct dwarf_unit *unit)
{
    free(unit->scopes);
    free(unit->rows);
    free(unit->files);
    free(unit->spans);
}

void dwarf_close(struct dwarf *dwarf)
{
    if (dwarf == NULL)
        return;
    for (uint32_t i = 0; i < dwarf->opened_count; i++)
        dwarf_object_free(dwarf->opened[i]);
    dwarf_object_free(dwarf->object);
    dwarf_object_free(dwarf->alternate);
    free(dwarf->opened);
    free_unit(&dwarf->first);
    for (uint32_t i = 0; i < dwarf->unit_count; i++)
        free_unit(&dwarf->units[i]);
    dwarf_reader_free(dwarf->reader);
    free(dwarf->splits);
    free(dwarf->units);
    free(dwarf->ranges);
    arena_free(&dwarf->arena);
    free(dwarf);
}

struct cover {
    uint64_t va;
    bool found;
};

static void find_cover(void *context, uint64_t low_va, uint64_t high_va)
{
    struct cover *cover = context;
    cover->found = cover->found || (cover->va >= low_va && cover->va < high_va);
}

/* The unit that .debug_aranges states for OFFSET if its own entry agrees, read; NULL: there is
 * none, or another question was answered so before. *end: as in unit_at(). */
static struct dwarf_unit *first_unit(struct dwarf *dwarf, uint32_t offset, uint64_t *end)
{
    const struct object_debug *debug = dwarf->debug;
    uint64_t end_va = debug->base_va + UINT32_MAX;
    struct cover cover = {debug->base_va + offset, false};
    struct dwarf_entry root;

    if (dwarf->first.read || (debug->code_count > 0 && !object_is_code(debug, cover.va)))
        return NULL;
    struct dwarf_context *unit = dwarf_aranges_context(dwarf->object, cover.va, &end_va);
    if (unit == NULL || !dwarf_context_read(unit, &root) || unit->tag != TAG_COMPILE_UNIT ||
        unit->format.version == 2 || unit->dwo_id != 0)
        return NULL;
    (void)dwarf_extent_ranges(unit, unit->extent, find_cover, &cover);
    if (!cover.found || end_va <= cover.va)
        return NULL;
    *end = end_va - debug->base_va;
    dwarf->first = (struct dwarf_unit){.skeleton = unit, .full = unit};
    dwarf_read_unit(dwarf, &dwarf->first);
    return &dwarf->first;
}

/* The unit that covers OFFSET, already read; NULL: none. *end: the first offset at which another
 * unit may apply. Of several the one that started last applies. */
static struct dwarf_unit *unit_at(struct dwarf *dwarf, uint32_t offset, uint64_t *end)
{
    struct fault fault = FAULT_INIT;
    struct dwarf_unit *found = dwarf->is_listed ? NULL : first_unit(dwarf, offset, end);

    if (found != NULL)
        return found;
    if (!dwarf->is_listed && list_units(dwarf, &fault) != ERR_NONE)
        dwarf->object->lacks_units = true;
    uint32_t low = ARRAY_UPPER(dwarf->ranges, dwarf->range_count, low, offset);
    *end = low < dwarf->range_count ? dwarf->ranges[low].low : (uint64_t)UINT32_MAX + 1;
    for (; low > 0 && dwarf->ranges[low - 1].reach > offset && found == NULL; low--) {
        if (dwarf->ranges[low - 1].high <= offset)
            continue;
        found = &dwarf->units[dwarf->ranges[low - 1].unit];
        if (dwarf->ranges[low - 1].high < *end)
            *end = dwarf->ranges[low - 1].high;
    }
    if (found != NULL && !found->read)
        dwarf_read_unit(dwarf, found);
    return found;
}

/* The number of spans that start at or before OFFSET. */
static uint32_t spans_before(const struct dwarf *dwarf, const struct dwarf_unit *unit,
                             uint32_t offset)
{
    const uint32_t near = dwarf->last_span;

    if (dwarf->last == unit) /* most questions go through the code from front to back */
        for (uint32_t i = near; i < unit->span_count && i < near + 2; i++)
            if (unit->spans[i].start > offset && i > 0 && unit->spans[i - 1].start <= offset)
                return i;
    return ARRAY_UPPER(unit->spans, unit->span_count, start, offset);
}

/* The span of the unit that covers OFFSET; *end is lowered to where it ends. */
static struct dwarf_span span_at(struct dwarf *dwarf, const struct dwarf_unit *unit,
                                 uint32_t offset, uint64_t *end)
{
    struct dwarf_span first;

    if (dwarf_first_span(dwarf, unit, offset, &first, end))
        return first;
    const uint32_t low = spans_before(dwarf, unit, offset);
    dwarf->last_span = low;
    if (low < unit->span_count && unit->spans[low].start < *end)
        *end = unit->spans[low].start;
    return low > 0 ? unit->spans[low - 1] : (struct dwarf_span){.file = UINT32_MAX};
}

void dwarf_at(struct dwarf *dwarf, uint32_t offset, struct dwarf_place *out)
{
    *out = (struct dwarf_place){.end = dwarf->last_end};
    const bool known = dwarf->last != NULL && offset >= dwarf->last_start && offset < out->end;
    const struct dwarf_unit *unit = known ? dwarf->last : unit_at(dwarf, offset, &out->end);

    if (unit == NULL) {
        out->damaged = dwarf->object->lacks_units;
        return;
    }
    if (!known)
        dwarf->last_start = offset;
    dwarf->last_end = out->end;
    const struct dwarf_span span = span_at(dwarf, unit, offset, &out->end);
    dwarf->last = unit;
    out->damaged = unit->skeleton->damaged || unit->full->damaged;
    out->lacks_split = unit->skeleton->dwo_id != 0 && unit->full == unit->skeleton;
    out->scope = span.scope != 0 ? &unit->scopes[span.scope - 1] : NULL;
    out->file = dwarf_file_name(unit, span.file);
    out->line = span.line;
}

uint32_t dwarf_lines(struct dwarf *dwarf, uint32_t offset, uint32_t *out, uint32_t max)
{
    uint64_t end;
    const struct dwarf_unit *unit = unit_at(dwarf, offset, &end);
    const uint32_t low =
        ARRAY_UPPER(unit->rows, unit != NULL ? unit->row_count : 0, offset, offset);
    uint32_t count = 0;

    if (low == 0 || unit->rows[low - 1].ends)
        return 0;
    const uint32_t last = low - 1;
    uint32_t first = last;
    while (first > 0 && unit->rows[first - 1].offset == unit->rows[last].offset &&
           !unit->rows[first - 1].ends)
        first--;
    for (; first <= last && count < max; first++)
        out[count++] = unit->rows[first].line;
    return count;
}
