/* See lint_parts.h. */
#include "format/minidump/lint_parts.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct {
    const char *name, *effect;
} rules[LINT_RULE_COUNT] = {
    [LINT_STREAM_PAST_END] = {"stream_past_end", "it refuses the dump"},
    [LINT_RESERVED_TYPE] = {"reserved_type", "it prints \"unknown stream type\" and goes on"},
    [LINT_STREAM_TWICE] = {"stream_twice", "it reads one of them"},
    [LINT_LIST_SIZE] = {"list_size", "it reports that the dump does not have the list"},
    [LINT_STREAM_MISSING] = {"stream_missing", "it refuses the dump"},
    [LINT_PLACES_OVERLAP] = {"places_overlap", "it reads both, and one of them is wrong"},
    [LINT_TEXT_PAST_END] = {"text_past_end", "it shows no name"},
    [LINT_TEXT_NOT_TERMINATED] = {"text_not_terminated", "it reads on, into the bytes that follow"},
    [LINT_TEXT_ODD] = {"text_odd", "it drops the last byte"},
    [LINT_NO_CODEVIEW] = {"no_codeview",
                          "it finds the PDB only where it finds the image with this timestamp"},
    [LINT_CODEVIEW_DAMAGED] = {"codeview_damaged", "it finds no PDB by this record"},
    [LINT_MODULES_OVERLAP] = {"modules_overlap", "it leaves out one of them"},
    [LINT_MEMORY_OVERLAP] = {"memory_overlap", "it reads one of them"},
    [LINT_MEMORY_PAST_END] = {"memory_past_end", "it cannot read this memory"},
    [LINT_CONTEXT_SIZE] = {"context_size", "it has no registers, and no stack, of this thread"},
    [LINT_THREAD_TWICE] = {"thread_twice", "it shows the same thread twice"},
    [LINT_EXCEPTION_THREAD] = {"exception_thread", "it cannot select the crashed thread"},
};

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
        .effect = rules[rule].effect};
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

void lint_overlaps(struct lint *l, enum lint_rule rule, uint32_t stream_type,
                   struct lint_range *ranges, uint32_t count)
{
    const struct lint_range *last = NULL; /* the one that ends last */
    if (count > 1)
        qsort(ranges, count, sizeof *ranges, compare_ranges);
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
