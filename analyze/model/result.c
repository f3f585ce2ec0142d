/* Words and cells of results, and their JSON: see result.h and run.h. */
#include "model/result.h"

#include <string.h>

static const char *const mark_names[CELL_MARK_COUNT] = {
    [CELL_GAP] = "gap",           [CELL_SAME] = "same",         [CELL_LINE] = "line",
    [CELL_FUNCTION] = "function", [CELL_PHYSICAL] = "physical", [CELL_MISSING] = "missing",
    [CELL_EXTRA] = "extra",       [CELL_UNJUDGED] = "unjudged",
};

static const char *const kind_names[ENGINE_KIND_COUNT] = {
    [ENGINE_KIND_OTHER] = "other",
    [ENGINE_KIND_OFFSET] = "offset",
    [ENGINE_KIND_DUMP] = "dump",
    [ENGINE_KIND_JUDGE] = "judge",
};

const struct engine_vote_row engine_votes[ENGINE_VOTES] = {
    [VOTE_LOOKUP] = {"symbol lookup", "all that use ours", "one voter about names and lines",
                     ENGINE_SHARES_SYMBOLS},
    [VOTE_SYMBOL_FILE] = {"symbol files", "those that have none for a module of the program",
                          "no vote about names and lines", 0},
    [VOTE_UNWINDER] = {"unwinder", "those of one walk, and those that use the system's",
                       "one voter about where frames lie",
                       ENGINE_SHARES_SYSTEM_UNWINDER | ENGINE_SHARES_RECORD_FRAMES |
                           ENGINE_SHARES_DUMP_WALK},
    [VOTE_RECORD] = {"writer of the record",
                     "all walkers of the process, and who takes their frames",
                     "one voter where all of them contradict the truth and no other engine agrees",
                     ENGINE_SHARES_RECORD_FRAMES},
};

const char *const engine_dump_readers[] = {"judge:dbghelp-microsoft",
                                           "judge:dbghelp",
                                           "judge:winedbg",
                                           "judge:lldb",
                                           "judge:dbgeng",
                                           NULL};

bool engine_reads_dump(const char *engine)
{
    for (size_t i = 0; engine_dump_readers[i] != NULL; i++)
        if (strcmp(engine_dump_readers[i], engine) == 0)
            return true;
    return false;
}

const char *engine_kind_name(enum engine_kind kind)
{
    return kind_names[kind];
}

enum engine_kind engine_kind_of(const char *engine)
{
    const size_t length = engine != NULL ? strcspn(engine, ":") : 0;
    for (int i = ENGINE_KIND_OFFSET; i < ENGINE_KIND_COUNT; i++)
        if (strlen(kind_names[i]) == length && strncmp(kind_names[i], engine, length) == 0)
            return (enum engine_kind)i;
    return ENGINE_KIND_OTHER;
}

const char *cell_mark_name(enum cell_mark mark)
{
    return mark_names[mark];
}

const struct align_cell *thread_result_cell(const struct thread_result *thread, uint32_t row,
                                            uint32_t column)
{
    return &thread->cells[(size_t)row * thread->column_count + column];
}

bool verdict_parse(const char *name, enum verdict *out)
{
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (strcmp(verdict_name((enum verdict)i), name) == 0) {
            *out = (enum verdict)i;
            return true;
        }
    return false;
}

bool cause_parse(const char *name, enum cause *out)
{
    for (int i = 0; i < CAUSE_COUNT; i++)
        if (strcmp(cause_name((enum cause)i), name) == 0) {
            *out = (enum cause)i;
            return true;
        }
    return false;
}

uint32_t engine_claim_parts(const struct engine_claim *claim)
{
    const bool ours = claim->kind == ENGINE_KIND_OFFSET || claim->kind == ENGINE_KIND_DUMP;
    if (claim->parts != 0)
        return claim->parts;
    return ours ? ENGINE_SHARES_SYMBOLS : 0;
}
