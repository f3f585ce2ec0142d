/* See symbol_index_build_object(). Asks symbol_object_at() what applies from an offset on, and
 * continues where that ends: so each piece has the answer of symbol_object_lookup() for all of its
 * bytes. It uses one thread, since only one may use a symbol_object. */
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "symbol/index_pieces.h"
#include "symbol/index_write.h"
#include "symbol/object_parts.h"
#include "symbol/symbol_index.h"

struct object_build {
    struct symbol_object *object;
    struct piece_worker worker;
    const char *last_file; /* the last file that was asked for, and its number */
    uint32_t last_file_number;
    bool damaged;
};

static uint32_t file_number(struct object_build *build, const char *file)
{
    if (file == NULL)
        return 0;
    if (file != build->last_file) {
        build->last_file = file;
        build->last_file_number = index_file_text(&build->worker, file);
    }
    return build->last_file_number;
}

/* The scope of a function of DWARF and the calls inlined into it at OFFSET. */
static uint32_t add_scopes(struct object_build *build, uint32_t offset,
                           const struct object_answer *answer, uint64_t *end)
{
    const struct dwarf_scope *chain[SYMBOL_FRAMES_MAX];
    struct piece_worker *worker = &build->worker;
    uint32_t count = 0;

    for (const struct dwarf_scope *s = answer->scope; s != NULL; s = s->around) {
        if (count == SYMBOL_FRAMES_MAX) { /* the lookup leaves the outer ones out */
            worker->failed = true;
            return 0;
        }
        chain[count++] = s;
    }
    const struct dwarf_scope *function = chain[count - 1];
    const char *name = symbol_object_function(build->object, answer, function, offset, end);
    uint32_t scope =
        index_root(worker, index_constant(worker, name),
                   file_number(build, count > 1 ? chain[count - 2]->call_file : answer->file),
                   SYMBOLS_DWARF, function->start + answer->scope_shift, 0);
    for (uint32_t i = count - 1; i-- > 0;) {
        name = symbol_object_name(build->object, chain[i]);
        scope = index_inlined(worker, scope, index_constant(worker, name),
                              file_number(build, i > 0 ? chain[i - 1]->call_file : answer->file),
                              chain[i]->call_line);
    }
    return scope;
}

/* Appends the piece that starts at OFFSET. Returns where it ends. */
static uint64_t add_piece(struct object_build *build, uint32_t offset)
{
    struct piece_worker *worker = &build->worker;
    struct object_answer answer;
    uint32_t scope = 0;

    symbol_object_at(build->object, offset, &answer);
    uint64_t end = answer.end;
    build->damaged = build->damaged || answer.damaged || answer.lacks_split;
    if (answer.scope != NULL) {
        scope = add_scopes(build, offset, &answer, &end);
    } else if (answer.symbol != NULL || answer.line != 0) {
        const char *name = symbol_object_symbol_name(build->object, answer.symbol);
        scope = index_root(worker, index_constant(worker, name), file_number(build, answer.file),
                           answer.from,
                           answer.symbol != NULL ? answer.symbol->offset : INDEX_NO_START, 0);
    }
    index_piece(worker, offset, scope, scope != 0 ? answer.line : 0);
    return end > offset ? end : (uint64_t)offset + 1;
}

/* The pieces of all code, from *FIRST to *END, which are multiples of a bucket. */
static enum status add_pieces(struct object_build *build, uint32_t *first, uint64_t *end,
                              struct fault *fault)
{
    const struct object_debug *code = &build->object->code;
    if (code->code_count == 0 || code->code[0].start_va < code->base_va)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "code for a symbol index");
    const uint64_t from = code->code[0].start_va - code->base_va;
    const uint64_t to = code->code[code->code_count - 1].end_va - code->base_va;
    if (to <= from || to > UINT32_MAX - BUCKET_BYTES || to - from > LIMIT_INDEX_CODE_BYTES)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code for a symbol index");
    *first = (uint32_t)from >> BUCKET_SHIFT << BUCKET_SHIFT;
    *end = (to + BUCKET_BYTES - 1) >> BUCKET_SHIFT << BUCKET_SHIFT;
    index_claim(&build->worker, *first);
    for (uint64_t at = *first; at < *end && !build->worker.failed && !build->damaged;)
        at = add_piece(build, (uint32_t)at);
    if (build->damaged) /* an index has no room for that: the lookup itself answers, with a note */
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "symbols for an index");
    return build->worker.failed ? fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "symbol index")
                                : ERR_NONE;
}

enum status symbol_index_build_object(struct symbol_object *object,
                                      const struct symbol_index_key *key, const char *path,
                                      struct symbol_index_cost *cost, struct fault *fault)
{
    const uint64_t started = clock_ns();
    struct object_build build = {.object = object};
    struct symbol_index_cost own;
    uint32_t first = 0;
    uint64_t end = 0;

    if (cost == NULL)
        cost = &own;
    memset(cost, 0, sizeof *cost);
    cost->threads = 1;
    if (!index_worker_open_empty(&build.worker))
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    else if (add_pieces(&build, &first, &end, fault) == ERR_NONE)
        (void)index_write_pieces(&build.worker, key, first, end, path, cost, fault);
    index_worker_close(&build.worker);
    cost->build_ns = clock_ns() - started;
    return fault->code;
}
