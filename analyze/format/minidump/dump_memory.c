/* The crashed process's memory in a minidump, and its map of regions.
 *
 *   MEMORY DESCRIPTOR (16)
 *   start va               0
 *   size, place in file    8
 *
 * In a Memory64 list the bytes of all ranges follow each other from one file offset on, so its
 * descriptors have a size of 8 bytes in place of size and place. */
#include <string.h>

#include "base/array.h"
#include "format/minidump/streams.h"

/* Makes room for COUNT ranges after those already read. */
static bool grow_memory(struct minidump_reader *m, uint32_t count)
{
    struct minidump *out = m->out;
    if (count > UINT32_MAX - out->memory_count) {
        (void)fault_set(m->damage, ERR_LIMIT, FAULT_NO_OFFSET, "number of memory ranges");
        return false;
    }
    struct minidump_memory *all = minidump_array(m, out->memory_count + count, sizeof(*all));
    if (all == NULL)
        return false;
    if (out->memory_count > 0)
        memcpy(all, out->memory, out->memory_count * sizeof(*all));
    out->memory = all;
    return true;
}

void minidump_read_memory(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t count = minidump_list_count(m, &r, 16, 0, "number of memory ranges");
    if (!grow_memory(m, count))
        return;
    const uint64_t foff = r.offset, data_bytes = out->data_bytes;
    const uint8_t *rows = bytes_take(&r, (uint64_t)count * 16);
    struct minidump_memory *to = out->memory + out->memory_count;
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        const uint8_t *row = rows + (size_t)i * 16;
        const struct minidump_place place = {load_u32(row + 12), load_u32(row + 8)};
        if (place.bytes > 0 && place.foff + place.bytes > data_bytes)
            (void)fault_set_lasting(m->damage, ERR_TRUNCATED, foff + (uint64_t)i * 16 + 8,
                                    "memory range", NULL);
        else if (place.bytes > 0)
            *to++ = (struct minidump_memory){load_u64(row), place};
    }
    out->memory_count = (uint32_t)(to - out->memory);
    out->memory_listed += count;
}

void minidump_read_memory64(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint64_t listed = bytes_u64(&r), foff = bytes_u64(&r);
    if (listed > UINT32_MAX) {
        (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "number of memory ranges");
        return;
    }
    uint32_t count = bytes_count(&r, (uint32_t)listed, 16);
    if (!grow_memory(m, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = r.offset, start_va = bytes_u64(&r), bytes = bytes_u64(&r);
        uint64_t left = foff <= out->data_bytes ? out->data_bytes - foff : 0;
        uint64_t have = bytes < left ? bytes : left;
        if (have > 0)
            out->memory[out->memory_count++] = (struct minidump_memory){start_va, {foff, have}};
        if (have < bytes) { /* the file is truncated: the part of the range that is present is still
                               used */
            (void)fault_set(m->damage, ERR_TRUNCATED, at, "bytes of a memory range");
            break;
        }
        foff += bytes;
    }
    out->memory_listed += count;
}

void minidump_read_regions(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t entry_bytes;
    struct bytes whole = r;
    uint32_t count = minidump_sized_list(m, &r, 48, &entry_bytes, 1u << 20, "memory regions");
    if (count == 0 || load_u32(whole.at) < 16)
        return;
    out->regions = minidump_array(m, count, sizeof(*out->regions));
    if (out->regions == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_region *region = &out->regions[i];
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        region->base_va = bytes_u64(&entry);
        region->allocation_base_va = bytes_u64(&entry);
        region->allocation_protection = bytes_u32(&entry);
        bytes_skip(&entry, 4);
        region->bytes = bytes_u64(&entry);
        region->state = bytes_u32(&entry);
        region->protection = bytes_u32(&entry);
        region->type = bytes_u32(&entry);
    }
    out->region_count = count;
}

/* True when X sorts before Y: by address, then the longer one, then the earlier in the file. */
static bool goes_before(const struct minidump_memory *x, const struct minidump_memory *y)
{
    if (x->start_va != y->start_va)
        return x->start_va < y->start_va;
    if (x->place.bytes != y->place.bytes)
        return x->place.bytes > y->place.bytes;
    return x->place.foff < y->place.foff;
}

/* Where the sorted run that starts at FROM ends. */
static uint32_t run_end(const struct minidump_memory *rows, uint32_t from, uint32_t count)
{
    uint32_t end = from + (from < count);
    while (end < count && !goes_before(&rows[end], &rows[end - 1]))
        end++;
    return end;
}

/* Where in a sorted run, from AT to END, the ranges begin that go after RANGE. */
static uint32_t first_after(const struct minidump_memory *rows, uint32_t at, uint32_t end,
                            const struct minidump_memory *range)
{
    uint32_t step = 1;
    for (; step <= end - at && !goes_before(range, &rows[at + step - 1]); step *= 2)
        at += step;
    for (; step > 0; step /= 2)
        if (step <= end - at && !goes_before(range, &rows[at + step - 1]))
            at += step;
    return at;
}

enum { RUNS_AT_ONCE = 16 };

/* The run whose next range goes first, of COUNT of which none is at its end. */
static uint32_t first_run(const struct minidump_memory *rows, const uint32_t *at, uint32_t count,
                          uint32_t without)
{
    uint32_t first = without == 0 ? 1 : 0;
    for (uint32_t run = first + 1; run < count; run++)
        if (run != without && goes_before(&rows[at[run]], &rows[at[first]]))
            first = run;
    return first;
}

/* Merges the COUNT runs that begin at AT and stop at STOP. Usually many ranges of one run lie
 * before the next range of any other. */
static void merge_runs(const struct minidump_memory *from, struct minidump_memory *to, uint32_t *at,
                       uint32_t *stop, uint32_t count)
{
    while (count > 0) {
        const uint32_t run = first_run(from, at, count, count);
        uint32_t next = stop[run];
        if (count > 1)
            next = first_after(from, at[run], next, &from[at[first_run(from, at, count, run)]]);
        memcpy(to, from + at[run], (next - at[run]) * sizeof *to);
        to += next - at[run];
        at[run] = next;
        if (next == stop[run]) {
            at[run] = at[--count];
            stop[run] = stop[count];
        }
    }
}

/* Merges the first runs of FROM, then the next ones, into TO; ENDS is where each ends. Returns the
 * number of runs after the merge. */
static uint32_t merge_all(const struct minidump_memory *from, struct minidump_memory *to,
                          uint32_t *ends, uint32_t runs)
{
    uint32_t merged = 0, start = 0;
    for (uint32_t run = 0; run < runs;) {
        uint32_t at[RUNS_AT_ONCE], stop[RUNS_AT_ONCE], count = 0;
        const uint32_t first = start;
        for (; run < runs && count < RUNS_AT_ONCE; start = ends[run++]) {
            at[count] = start;
            stop[count++] = ends[run];
        }
        merge_runs(from, to + first, at, stop, count);
        ends[merged++] = start;
    }
    return merged;
}

/* Writers list thousands of ranges in a few sorted runs (stacks, memory that registers point to,
 * one area after the other), so existing runs are merged. */
static enum status sort_ranges(struct minidump *dump, struct arena *keep)
{
    const uint32_t count = dump->memory_count;
    uint32_t runs = 0, room = 0, *ends = NULL;
    for (uint32_t end = run_end(dump->memory, 0, count); runs == 0 || ends[runs - 1] < count;
         end = run_end(dump->memory, end, count)) {
        if (runs == 0 && end == count)
            return ERR_NONE;
        if (!ARENA_ROOM(keep, ends, room, (uint64_t)runs + 1))
            return ERR_MEMORY;
        ends[runs++] = end;
    }
    struct minidump_memory *from = dump->memory;
    struct minidump_memory *other = ARENA_ARRAY(keep, count, struct minidump_memory);
    if (other == NULL)
        return ERR_MEMORY;
    while (runs > 1) {
        runs = merge_all(from, other, ends, runs);
        struct minidump_memory *swap = from;
        from = other;
        other = swap;
    }
    dump->memory = from;
    return ERR_NONE;
}

/* Sorts the ranges and cuts them where they overlap. */
static enum status put_in_order(struct minidump *dump, struct arena *keep)
{
    if (dump->memory_count == 0)
        return ERR_NONE;
    if (sort_ranges(dump, keep) != ERR_NONE)
        return ERR_MEMORY;
    struct minidump_memory *const rows = dump->memory;
    const uint32_t count = dump->memory_count;
    uint32_t kept = 0;
    uint64_t covered_end = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_memory range = rows[i];
        if (range.place.bytes > UINT64_MAX - range.start_va)
            range.place.bytes = UINT64_MAX - range.start_va; /* the address space ends */
        if (range.start_va < covered_end) {
            uint64_t cut = covered_end - range.start_va;
            if (cut >= range.place.bytes)
                continue;
            range.start_va += cut;
            range.place.foff += cut;
            range.place.bytes -= cut;
        }
        if (range.place.bytes == 0)
            continue;
        covered_end = range.start_va + range.place.bytes;
        rows[kept++] = range;
    }
    dump->memory_count = kept;
    return ERR_NONE;
}

static bool is_listed(const struct minidump *dump, const struct minidump_thread *thread)
{
    const uint64_t bytes = thread->stack.bytes;
    uint64_t left;
    return bytes == 0 || bytes > UINT64_MAX - thread->stack_start_va ||
           (minidump_memory_at(dump, thread->stack_start_va, &left) != NULL &&
            minidump_memory_at(dump, thread->stack_start_va + bytes - 1, &left) != NULL);
}

/* A stack is in both lists, but for dumps whose list of memory is absent, cut or damaged. */
static enum status add_stacks(struct minidump *dump, struct arena *keep)
{
    uint32_t missing = 0, kept = dump->memory_count;
    for (uint32_t i = 0; i < dump->thread_count; i++)
        missing += !is_listed(dump, &dump->threads[i]);
    if (missing == 0)
        return ERR_NONE;
    struct minidump_memory *all = ARENA_ARRAY(keep, (size_t)kept + missing, struct minidump_memory);
    if (all == NULL)
        return ERR_MEMORY;
    if (kept > 0)
        memcpy(all, dump->memory, kept * sizeof(*all));
    for (uint32_t i = 0; i < dump->thread_count; i++)
        if (!is_listed(dump, &dump->threads[i]))
            all[kept++] =
                (struct minidump_memory){dump->threads[i].stack_start_va, dump->threads[i].stack};
    dump->memory = all;
    dump->memory_count = kept;
    return put_in_order(dump, keep);
}

enum status minidump_sort_memory(struct minidump *dump, struct arena *keep)
{
    const enum status status = put_in_order(dump, keep);
    return status == ERR_NONE ? add_stacks(dump, keep) : status;
}

const uint8_t *minidump_memory_at(const struct minidump *dump, uint64_t va, uint64_t *bytes)
{
    const uint32_t low = ARRAY_UPPER(dump->memory, dump->memory_count, start_va, va);
    if (low == 0)
        return NULL;
    const struct minidump_memory *range = &dump->memory[low - 1];
    uint64_t into = va - range->start_va;
    if (into >= range->place.bytes)
        return NULL;
    *bytes = range->place.bytes - into;
    return dump->data + range->place.foff + into;
}

bool minidump_memory_read(const struct minidump *dump, uint64_t va, void *out, size_t bytes)
{
    uint8_t *to = out;
    while (bytes > 0) {
        uint64_t have;
        const uint8_t *from = minidump_memory_at(dump, va, &have);
        if (from == NULL)
            return false;
        size_t take = have < bytes ? (size_t)have : bytes;
        memcpy(to, from, take);
        to += take;
        va += take;
        bytes -= take;
    }
    return true;
}
