/* The index of a source other than a PDB, from its pieces; see symbol_index_build_pieces(). It uses
 * one thread, since only one may ask some sources. */
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "symbol/index_pieces.h"
#include "symbol/index_write.h"
#include "symbol/pieces.h"
#include "symbol/symbol_index.h"

enum status code_pieces_walk(const struct code_pieces *pieces, uint64_t from, uint64_t to,
                             code_piece_fn *each, void *context, struct fault *fault)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct code_piece piece = {.end = from};

    while (piece.end < to) {
        piece = (struct code_piece){.start = (uint32_t)piece.end, .end = to, .frames = frames};
        if (!pieces->at(pieces->self, &piece))
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code of a symbol file");
        if (piece.end <= piece.start)
            piece.end = (uint64_t)piece.start + 1;
        else if (piece.end > to)
            piece.end = to;
        if (!each(context, &piece))
            break;
    }
    return ERR_NONE;
}

/* The scope that the frames of the last piece made at one depth, and what it was made of. */
struct made_scope {
    const char *function, *file;
    uint32_t line; /* of the call; of the outermost: where it starts */
    enum symbols_from from;
    uint32_t scope;
};

struct build {
    struct piece_worker worker;
    const char *last_file; /* the last file that was asked for, and its number */
    uint32_t last_file_number;
    struct made_scope made[SYMBOL_FRAMES_MAX]; /* the outermost first */
    uint32_t made_count;
    bool partial;
};

static uint32_t file_number(struct build *build, const char *file)
{
    if (file == NULL)
        return 0;
    if (file != build->last_file) {
        build->last_file = file;
        build->last_file_number = index_file_text(&build->worker, file);
    }
    return build->last_file_number;
}

static bool same_scope(const struct made_scope *a, const struct made_scope *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->from == b->from;
}

/* The scope of a piece. Pieces that follow each other have most of their scopes in common. */
static uint32_t scope_of(struct build *build, const struct code_piece *piece)
{
    struct piece_worker *worker = &build->worker;
    const struct symbol_frame *frames = piece->frames;
    uint32_t scope = 0;
    bool same = true;

    for (uint32_t depth = 0; depth < piece->count; depth++) {
        const uint32_t i = piece->count - 1 - depth;
        const bool is_outer = depth == 0;
        const uint32_t start =
            piece->has_start ? piece->start - (uint32_t)frames[i].distance : INDEX_NO_START;
        const struct made_scope now = {.function = frames[i].function,
                                       .file = frames[i].file,
                                       .line = is_outer ? start : frames[i + 1].line,
                                       .from = frames[i].from};
        struct made_scope *made = &build->made[depth];
        same = same && depth < build->made_count && same_scope(made, &now);
        if (!same) {
            const uint32_t name = index_constant(worker, now.function);
            const uint32_t file = file_number(build, now.file);
            *made = now;
            made->scope = is_outer ? index_root(worker, name, file, now.from, start, 0)
                                   : index_inlined(worker, scope, name, file, now.line);
        }
        scope = made->scope;
    }
    build->made_count = piece->count;
    return scope;
}

static bool add_piece(void *context, const struct code_piece *piece)
{
    struct build *build = context;
    struct piece_worker *worker = &build->worker;

    build->partial = build->partial || piece->partial;
    worker->failed = worker->failed || piece->cut;
    const uint32_t scope = scope_of(build, piece);
    index_piece(worker, piece->start, scope, scope != 0 ? piece->frames[0].line : 0);
    return !worker->failed && !build->partial;
}

/* The pieces of all code, from *FIRST to *END, which are multiples of a bucket. */
static enum status add_pieces(struct build *build, const struct code_pieces *pieces,
                              uint32_t *first, uint64_t *end, struct fault *fault)
{
    uint64_t from = 0, to = 0, next, last;

    for (uint32_t i = 0; pieces->range(pieces->self, i, &next, &last); i++) {
        from = i == 0 ? next : from;
        to = last;
    }
    if (to == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "code for a symbol index");
    if (to <= from || to > UINT32_MAX - BUCKET_BYTES || to - from > LIMIT_INDEX_CODE_BYTES)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code for a symbol index");
    *first = (uint32_t)from >> BUCKET_SHIFT << BUCKET_SHIFT;
    *end = (to + BUCKET_BYTES - 1) >> BUCKET_SHIFT << BUCKET_SHIFT;
    index_claim(&build->worker, *first);
    if (code_pieces_walk(pieces, *first, *end, add_piece, build, fault) != ERR_NONE)
        return fault->code;
    if (build->partial) /* an index has no room for that: the lookup itself answers, with a note */
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "symbols for an index");
    return build->worker.failed ? fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "symbol index")
                                : ERR_NONE;
}

enum status symbol_index_build_pieces(const struct code_pieces *pieces,
                                      const struct symbol_index_key *key, const char *path,
                                      struct symbol_index_cost *cost, struct fault *fault)
{
    const uint64_t started = clock_ns();
    struct build build = {.last_file = NULL};
    struct symbol_index_cost own;
    uint32_t first = 0;
    uint64_t end = 0;

    if (cost == NULL)
        cost = &own;
    memset(cost, 0, sizeof *cost);
    cost->threads = 1;
    if (!index_worker_open_empty(&build.worker))
        fault_no_memory(fault, "symbol index");
    else if (add_pieces(&build, pieces, &first, &end, fault) == ERR_NONE)
        (void)index_write_pieces(&build.worker, key, first, end, path, cost, fault);
    index_worker_close(&build.worker);
    cost->build_ns = clock_ns() - started;
    return fault->code;
}
