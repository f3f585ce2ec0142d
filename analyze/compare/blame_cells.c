/* Cells of the alignment table follow the blame: a difference of two columns was marked in the one
 * that is compared with the reference, before it was known which of them is wrong.
 *
 *   row                    dump          offset:rtl    blame: record, so offset:rtl is wrong
 *   0  victims.exe!0x10    interrupted   return        dump "physical" becomes "same", and
 *                                                      offset:rtl "same" becomes "physical" */
#include "compare/blame.h"

#include "base/text.h"
#include "compare/blame_voters.h"

/* The truth contradicts COLUMN in ROW, too. */
static bool is_against_truth(const struct finding *findings, uint32_t count, const char *engine,
                             uint32_t row)
{
    for (uint32_t i = 0; i < count; i++)
        if (findings[i].against_truth && text_equal(findings[i].engine, engine) &&
            findings[i].row <= row && row <= findings[i].row + findings[i].facts.more)
            return true;
    return false;
}

static enum cell_mark seen_from_other(enum cell_mark mark)
{
    if (mark == CELL_MISSING)
        return CELL_EXTRA;
    return mark == CELL_EXTRA ? CELL_MISSING : mark;
}

static void move_cells(const struct table *t, struct thread_result *thread,
                       const struct finding *findings, uint32_t count, const struct finding *f)
{
    const uint32_t from = voters_column(t, f->engine), to = voters_column(t, f->against);
    uint32_t left = 1 + f->facts.more;
    for (uint32_t row = f->row; row < t->row_count && left > 0; row++) {
        struct align_cell *marked = &thread->cells[(size_t)row * t->column_count + from];
        struct align_cell *wrong = &thread->cells[(size_t)row * t->column_count + to];
        if (marked->cause != f->cause || wrong->cause != CAUSE_NONE)
            continue;
        left--;
        wrong->mark = seen_from_other(marked->mark);
        wrong->cause = marked->cause;
        if (is_against_truth(findings, count, f->engine, row))
            continue;
        marked->mark = marked->frame < 0 ? CELL_GAP : CELL_SAME;
        marked->cause = CAUSE_NONE;
    }
}

void blame_findings(const struct compare_input *in, const struct table *t, struct arena *keep,
                    struct thread_result *thread, struct case_result *result, uint32_t first)
{
    const uint32_t count = result->finding_count - first;
    struct finding *findings = count > 0 ? result->findings + first : NULL;
    for (uint32_t i = 0; i < count; i++)
        finding_blame(in, t, keep, &findings[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct finding *f = &findings[i];
        if (f->fails && !f->against_truth && f->blame != BLAME_UNKNOWN &&
            text_equal(f->wrong, f->against))
            move_cells(t, thread, findings, count, f);
    }
}
