/* See lint_rules.h. */
#include "format/minidump/lint_rules.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/array.h"

static const struct {
    const char *name, *effect;
} rules[LINT_RULE_COUNT] = {
    [LINT_STREAM_PAST_END] = {"stream_past_end", "it does without the stream, or refuses the dump"},
    [LINT_RESERVED_TYPE] =
        {"reserved_type", "it prints \"unknown stream type\" and goes on, or takes it for a stream "
                          "of its own"},
    [LINT_STREAM_TWICE] = {"stream_twice",
                           "it prints \"Ignoring extra stream\" and reads the first"},
    [LINT_LIST_SIZE] = {"list_size",
                        "it prints \"stream size mismatch\" and does without the list"},
    [LINT_STREAM_MISSING] = {"stream_missing", "it refuses the dump"},
    [LINT_PLACES_OVERLAP] = {"places_overlap", "it takes the same bytes for two things"},
    [LINT_TEXT_PAST_END] = {"text_past_end", "it prints \"not present in dump\" and has no name"},
    [LINT_TEXT_NOT_TERMINATED] = {"text_not_terminated",
                                  "it reads on into the bytes that follow, and finds no image of "
                                  "that name"},
    [LINT_TEXT_ODD] = {"text_odd", "it drops the last byte"},
    [LINT_NAME_AT_END] = {"name_at_end",
                          "it reads as many bytes again, prints \"Exception 0xc0000005 while "
                          "accessing file mapping\", and does without this module and all that "
                          "follow"},
    [LINT_NO_CODEVIEW] = {"no_codeview",
                          "it finds the PDB only where it finds the image with this timestamp"},
    [LINT_CODEVIEW_DAMAGED] =
        {"codeview_damaged", "it finds the PDB only where it finds the image with this timestamp"},
    [LINT_MODULES_OVERLAP] = {"modules_overlap",
                              "it maps neither image: no frame in them is named, and stacks end"},
    [LINT_MEMORY_OVERLAP] = {"memory_overlap", "it reads one of them and prints nothing"},
    [LINT_MEMORY_PAST_END] = {"memory_past_end", "it refuses the dump"},
    [LINT_CONTEXT_SIZE] = {"context_size",
                           "it takes the registers that are there; without any it has no stack of "
                           "the thread"},
    [LINT_THREAD_TWICE] = {"thread_twice", "it shows one of them"},
    [LINT_EXCEPTION_THREAD] = {"exception_thread",
                               "it prints \"Unable to find system thread\"; many commands fail"},
};

/* Where the effect depends on the stream. */
static const struct {
    enum lint_rule rule;
    uint32_t stream_type;
    const char *effect;
} by_stream[] = {
    {LINT_LIST_SIZE, STREAM_MODULE_LIST,
     "it prints \"User Mode Mini Dump does not have a module list\": no frame is named"},
    {LINT_LIST_SIZE, STREAM_THREAD_LIST, "it refuses the dump"},
    {LINT_LIST_SIZE, STREAM_MEMORY_LIST,
     "it prints \"stream size mismatch\" and has no memory: stacks end after a frame or two"},
    {LINT_TEXT_NOT_TERMINATED, STREAM_SYSTEM_INFO, "it reads as many bytes as are stated"},
    {LINT_STREAM_PAST_END, STREAM_MODULE_LIST,
     "it prints \"User Mode Mini Dump does not have a module list\": no frame is named"},
    {LINT_STREAM_MISSING, STREAM_MODULE_LIST,
     "it prints \"User Mode Mini Dump does not have a module list\": no frame is named"},
    {LINT_STREAM_MISSING, STREAM_MEMORY_LIST, "it has no memory: stacks end after a frame or two"},
};

static const char *effect_of(enum lint_rule rule, uint32_t stream_type)
{
    for (size_t i = 0; i < COUNT_OF(by_stream); i++)
        if (by_stream[i].rule == rule && by_stream[i].stream_type == stream_type)
            return by_stream[i].effect;
    return rules[rule].effect;
}

bool lint_has_room(struct lint *l)
{
    return !l->out_of_memory && l->out->count < LIMIT_COMPLAINTS;
}

void lint_add(struct lint *l, enum lint_rule rule, uint32_t stream_type, uint64_t foff,
              const char *text)
{
    if (!lint_has_room(l)) {
        l->out->left_out++;
        return;
    }
    if (text == NULL) {
        l->out_of_memory = true;
        return;
    }
    l->out->rows[l->out->count++] = (struct minidump_complaint){
        .rule = rules[rule].name,
        .stream = stream_type != STREAM_UNUSED ? minidump_stream_name(stream_type) : NULL,
        .foff = foff,
        .text = text,
        .effect = effect_of(rule, stream_type)};
}

static int compare_ranges(const void *a, const void *b)
{
    const struct lint_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->stated_foff < y->stated_foff ? -1 : x->stated_foff > y->stated_foff;
}

/* By their starts, which are many and mostly differ; then those of one start. */
static void sort_ranges(struct lint_range *ranges, uint32_t count)
{
    _Static_assert(offsetof(struct lint_range, start) == 0, "sorted by it");
    array_sort_numbers(ranges, count, sizeof *ranges);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && ranges[end].start == ranges[i].start;)
            end++;
        if (end - i > 1)
            array_sort(&ranges[i], end - i, sizeof *ranges, compare_ranges);
    }
}

void lint_overlaps(struct lint *l, enum lint_rule rule, uint32_t stream_type,
                   struct lint_range *ranges, uint32_t count)
{
    const struct lint_range *last = NULL; /* the one that ends last */
    sort_ranges(ranges, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct lint_range *range = &ranges[i];
        if (range->bytes == 0)
            continue;
        if (last != NULL && range->start - last->start < last->bytes)
            lint_add(l, rule, stream_type, range->stated_foff,
                     lint_has_room(l)
                         ? arena_printf(l->keep,
                                        "%s begins at 0x%" PRIx64 ", inside %s, which ends at "
                                        "0x%" PRIx64,
                                        range->name, range->start, last->name,
                                        last->start + last->bytes)
                         : NULL);
        if (last == NULL || range->start - last->start >= last->bytes ||
            range->bytes > last->bytes - (range->start - last->start))
            last = range;
    }
}

const struct minidump_stream *lint_stream(const struct minidump *dump, uint32_t type)
{
    for (uint32_t i = 0; i < dump->stream_count; i++)
        if (dump->streams[i].type == type && dump->streams[i].place.bytes > 0)
            return &dump->streams[i];
    return NULL;
}

uint64_t lint_row(const struct minidump_stream *stream, uint32_t index, uint32_t size)
{
    const uint32_t padding = stream->place.bytes % size == 8 ? 8 : 4;
    return stream->place.foff + padding + (uint64_t)index * size;
}
