/* See symbol_index_build_breakpad(). Between two places where a record of the file starts or ends,
 * breakpad_lookup() has one answer, so each piece has it for all of its bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/thread.h"
#include "symbol/index_pieces.h"
#include "symbol/index_write.h"
#include "symbol/symbol_index.h"

enum {
    /* Code per record. Real files have less than 100 bytes; a few records far apart would make a
     * large index of a small file. */
    CODE_PER_BOUND = 16384,
    WORK_MAX = 1 << 30, /* inlined calls that all lookups together may look at */
};

struct bounds {
    uint64_t *at; /* owned */
    uint32_t count;
};

static int compare_bounds(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool find_bounds(const struct breakpad *file, struct bounds *out)
{
    const uint64_t room =
        2 * ((uint64_t)file->function_count + file->line_count + file->inline_count) +
        file->public_count;
    uint32_t n = 0, kept = 0;

    out->at = room < UINT32_MAX ? malloc((size_t)(room + 1) * sizeof *out->at) : NULL;
    if (out->at == NULL)
        return false;
    for (uint32_t i = 0; i < file->function_count; i++) {
        out->at[n++] = file->functions[i].rva;
        out->at[n++] = file->functions[i].end;
    }
    for (uint32_t i = 0; i < file->line_count; i++) {
        out->at[n++] = file->lines[i].rva;
        out->at[n++] = file->lines[i].end;
    }
    for (uint32_t i = 0; i < file->inline_count; i++) {
        out->at[n++] = file->inlines[i].rva;
        out->at[n++] = file->inlines[i].end;
    }
    for (uint32_t i = 0; i < file->public_count; i++)
        out->at[n++] = file->publics[i].rva;
    array_sort(out->at, n, sizeof *out->at, compare_bounds);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || out->at[i] != out->at[kept - 1])
            out->at[kept++] = out->at[i];
    out->count = kept;
    return true;
}

static uint32_t file_number(struct piece_worker *worker, const char *file)
{
    return file != NULL ? index_file_text(worker, file) : 0;
}

static void add_piece(struct piece_worker *worker, const struct breakpad *file, uint32_t rva)
{
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    const uint32_t count = breakpad_lookup(file, rva, frames);
    uint32_t scope = 0;

    if (count > 0) {
        const struct breakpad_frame *outer = &frames[count - 1];
        scope = index_root(worker, index_constant(worker, outer->name),
                           file_number(worker, outer->file),
                           outer->is_public ? SYMBOLS_BREAKPAD_PUBLIC : SYMBOLS_BREAKPAD,
                           rva - (uint32_t)outer->distance, 0);
    }
    for (uint32_t i = count; i-- > 1;)
        scope = index_inlined(worker, scope, index_constant(worker, frames[i - 1].name),
                              file_number(worker, frames[i - 1].file), frames[i].line);
    index_piece(worker, rva, scope, scope != 0 ? frames[0].line : 0);
}

/* The pieces of all code, from *FIRST to *END, which are multiples of a bucket. */
static enum status add_pieces(struct piece_worker *worker, const struct breakpad *file,
                              const struct bounds *bounds, uint32_t *first, uint64_t *end,
                              struct fault *fault)
{
    uint64_t work = 0;

    if (bounds->count == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "code for a symbol index");
    const uint64_t from = bounds->at[0], to = bounds->at[bounds->count - 1] + 1;
    if (to > UINT32_MAX - BUCKET_BYTES || to - from > LIMIT_INDEX_CODE_BYTES ||
        (to - from) / CODE_PER_BOUND > bounds->count)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code for a symbol index");
    *first = (uint32_t)from >> BUCKET_SHIFT << BUCKET_SHIFT;
    *end = (to + BUCKET_BYTES - 1) >> BUCKET_SHIFT << BUCKET_SHIFT;
    index_claim(worker, *first);
    index_piece(worker, *first, 0, 0);
    for (uint32_t i = 0; i < bounds->count && work < WORK_MAX && !worker->failed; i++) {
        work += breakpad_inlines_around(file, bounds->at[i]);
        add_piece(worker, file, (uint32_t)bounds->at[i]);
    }
    return worker->failed || work >= WORK_MAX
               ? fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "symbol index")
               : ERR_NONE;
}

enum status symbol_index_build_breakpad(const struct breakpad *file,
                                        const struct symbol_index_key *key, const char *path,
                                        struct symbol_index_cost *cost, struct fault *fault)
{
    const uint64_t started = clock_ns();
    struct piece_worker worker;
    struct symbol_index_cost own;
    struct bounds bounds;
    uint32_t first = 0;
    uint64_t end = 0;

    if (cost == NULL)
        cost = &own;
    memset(cost, 0, sizeof *cost);
    cost->threads = 1;
    const bool opened = index_worker_open_empty(&worker);
    if (!find_bounds(file, &bounds) || !opened)
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    else if (add_pieces(&worker, file, &bounds, &first, &end, fault) == ERR_NONE)
        (void)index_write_pieces(&worker, key, first, end, path, cost, fault);
    free(bounds.at);
    index_worker_close(&worker);
    cost->build_ns = clock_ns() - started;
    return fault->code;
}
