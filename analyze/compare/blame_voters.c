/* See blame_voters.h. */
#include "compare/blame_voters.h"

#include <string.h>

#include "compare/mismatch.h"

uint32_t voter_parts(const struct table *t, uint32_t column)
{
    return column == 0 ? 0 : engine_claim_parts(t->columns[column].claim);
}

static bool shares(const struct table *t, uint32_t column, enum engine_vote vote)
{
    return (voter_parts(t, column) & engine_votes[vote].shares) != 0;
}

uint32_t voter_of_walk(const struct table *t, uint32_t column)
{
    const uint32_t parts = voter_parts(t, column);
    if (!shares(t, column, VOTE_UNWINDER))
        return column;
    const bool of_dump = (parts & ENGINE_SHARES_DUMP_WALK) != 0;
    const enum engine_kind kind = of_dump ? ENGINE_KIND_DUMP : ENGINE_KIND_OFFSET;
    for (uint32_t c = 1; c < t->column_count && c != column; c++)
        if (((of_dump || (parts & ENGINE_SHARES_RECORD_FRAMES) != 0) &&
             t->columns[c].claim->kind == kind && t->columns[c].count > 0) ||
            (parts & voter_parts(t, c) & ENGINE_SHARES_SYSTEM_UNWINDER) != 0)
            return c;
    return column;
}

uint32_t voter_of_name(const struct table *t, uint32_t column)
{
    if (!shares(t, column, VOTE_LOOKUP))
        return column;
    for (uint32_t c = 1; c < t->column_count; c++)
        if (shares(t, c, VOTE_LOOKUP))
            return c;
    return column;
}

uint32_t voters_weigh(const struct table *t, uint32_t mask, voter_fn *voter)
{
    uint32_t voters = 0, weight = 0;
    for (uint32_t c = 0; c < t->column_count; c++)
        if ((mask >> c & 1) != 0)
            voters |= 1U << voter(t, c);
    for (; voters != 0; voters &= voters - 1)
        weight++;
    return weight;
}

/* True when COLUMN votes on ROW: it has a frame there, or its stack continues after the row or
 * ended well. */
bool voter_reaches(const struct table *t, uint32_t column, uint32_t row)
{
    const struct column *c = &t->columns[column];
    if (column == 0 || c->stack == NULL || c->count == 0)
        return false;
    if (stop_is_end(c->stack->stop))
        return true;
    for (uint32_t r = row; r < t->row_count; r++)
        if (table_key(t, r, column) != NULL)
            return true;
    return false;
}

bool voters_truth(const struct table *t, uint32_t row)
{
    const struct truth_frame *truth = table_truth(t, row);
    return truth != NULL && truth->gap == TRUTH_GAP_NONE && !truth->tail;
}

bool voter_ended_early(const struct table *t, uint32_t column, uint32_t row)
{
    for (uint32_t r = row; r < t->row_count; r++)
        if (table_key(t, r, column) != NULL)
            return false;
    for (uint32_t r = row; r-- > 0 && table_key(t, r, column) == NULL;)
        if (voters_truth(t, r))
            return true;
    return false;
}

bool voters_share_record(const struct table *t, uint32_t row, uint32_t mask, uint32_t others)
{
    uint32_t walkers = 0;
    if ((others & 1) == 0)
        return false;
    for (uint32_t c = 1; c < t->column_count; c++) {
        const bool of_record =
            t->columns[c].claim->kind == ENGINE_KIND_OFFSET || shares(t, c, VOTE_RECORD);
        if (!of_record && (mask >> c & 1) != 0)
            return false; /* an engine that reads no record says the same */
        if (of_record && (others >> c & 1) != 0)
            return false;
        walkers += of_record && voter_reaches(t, c, row) && (mask >> c & 1) != 0;
    }
    return walkers > 1;
}

uint32_t voters_column(const struct table *t, const char *engine)
{
    for (uint32_t c = 1; c < t->column_count; c++)
        if (strcmp(t->columns[c].claim->engine, engine) == 0)
            return c;
    return 0;
}
