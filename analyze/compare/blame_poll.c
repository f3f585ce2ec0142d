/* See blame_poll.h. */
#include "compare/blame_poll.h"

#include "compare/blame_evidence.h"
#include "compare/blame_voters.h"
#include "compare/same_names.h"

static bool same_name(const struct frame *a, const struct frame *b)
{
    return compare_names(a->function, b->function) || compare_names(b->function, a->function);
}

bool poll_says(const struct poll *p, uint32_t column, const struct frame *want, bool with_line)
{
    const char *root = p->in->crash != NULL ? p->in->crash->own.source_root : NULL;
    const struct truth_frame *truth = table_truth(p->table, p->row);
    const struct frame *frame = table_frame(p->table, p->row, column);
    if (column == 0)
        return truth != NULL && compare_names(truth->function, want->function) &&
               (!with_line ||
                ((truth->line == 0 || truth->line == want->line) &&
                 (truth->file == NULL || compare_files(truth->file, want->file, root, true))));
    return frame != NULL && same_name(frame, want) &&
           (!with_line || (frame->line == want->line && frame->file != NULL && want->file != NULL &&
                           compare_files(frame->file, want->file, root, true)));
}

bool poll_holds_place(const struct poll *p, uint32_t column, const struct frame_key *place,
                      bool *is_truths)
{
    const struct column *c = &p->table->columns[column];
    bool holds = false;
    *is_truths = false;
    for (uint32_t i = 0; i < c->count; i++)
        if (keys_same_place(&c->keys[i], place)) {
            holds = true;
            *is_truths = *is_truths || poll_says(p, 0, &c->stack->frames[i], true);
        }
    return holds;
}

void poll_place(const struct poll *p, const struct frame_key *key, bool inlined, uint32_t *have,
                uint32_t *lack)
{
    const struct table *t = p->table;
    const struct truth_frame *truth = table_truth(t, p->row);
    bool have_says = false, lack_says = false, elsewhere = false;
    *have = *lack = 0;
    for (uint32_t c = 1; c < t->column_count; c++) {
        const struct frame_key *other = table_key(t, p->row, c);
        const char *places;
        bool ignored = false;
        if (!voter_reaches(t, c, p->row) ||
            (other == NULL && c != p->column && c != p->against &&
             voter_ended_early(t, c, p->row)) ||
            (key == NULL && evidence_of_no_symbols(p->in, t, c, p->keep, &places) != NULL) ||
            (inlined && key != NULL && other == NULL && !poll_holds_place(p, c, key, &ignored)))
            continue;
        const bool here = other != NULL && (key == NULL || keys_same_place(other, key));
        const bool is_truths = other != NULL && poll_says(p, 0, table_frame(t, p->row, c), true);
        *(here ? have : lack) |= 1U << c;
        *(here ? &have_says : &lack_says) |= is_truths;
        elsewhere = elsewhere || (other != NULL && !here);
    }
    if (voters_truth(t, p->row)) { /* the truth has no addresses, only names */
        if (!elsewhere || (have_says && !lack_says))
            *have |= 1U;
        else if (lack_says && !have_says)
            *lack |= 1U;
    } else if (t->columns[0].truth != NULL &&
               ((truth != NULL && truth->tail) || (key != NULL && key->own))) {
        *lack |= 1U;
    }
}

void poll_name(const struct poll *p, uint32_t column, bool with_line, uint32_t *same,
               uint32_t *other)
{
    const struct table *t = p->table;
    const struct frame *want = table_frame(t, p->row, column);
    *same = *other = 0;
    for (uint32_t c = 0; c < t->column_count; c++) {
        const struct frame *frame = c == 0 ? NULL : table_frame(t, p->row, c);
        if (want->function == NULL && frame != NULL && frame->function == NULL) {
            *same |= 1U << c; /* they do not know a name either */
            continue;
        }
        if (c == 0 ? !voters_truth(t, p->row)
                   : frame == NULL || frame->function == NULL || (with_line && frame->line == 0))
            continue;
        if (poll_says(p, c, want, with_line))
            *same |= 1U << c;
        else
            *other |= 1U << c;
    }
}

static const char *witnesses_of(const struct poll *p, uint32_t mask)
{
    const char *text = NULL;
    for (uint32_t i = 1; i <= p->table->column_count; i++) {
        const uint32_t c = i % p->table->column_count; /* the truth last */
        if ((mask >> c & 1) == 0)
            continue;
        const char *name = c == 0 ? FINDING_TRUTH : p->table->columns[c].claim->engine;
        text = text == NULL ? name : arena_printf(p->keep, "%s, %s", text, name);
    }
    return text;
}

/* True when a program that reads symbols by itself is among COLUMNS; with NAMED, has the truth's
 * frame in the row. */
static bool other_reader(const struct poll *p, uint32_t columns, bool named)
{
    for (uint32_t c = 1; c < p->table->column_count; c++) {
        const struct frame *frame = table_frame(p->table, p->row, c);
        if ((columns >> c & 1) != 0 && (voter_parts(p->table, c) & ENGINE_SHARES_SYMBOLS) == 0 &&
            (!named || (frame != NULL && poll_says(p, 0, frame, false))))
            return true;
    }
    return false;
}

/* Whether the file of symbols or our reader of it is at fault: another program that reads the same
 * file and contradicts us proves that it is not the file. */
static enum finding_part part_of(const struct poll *p, const struct finding *f, enum blame blame,
                                 uint32_t column, uint32_t witnesses)
{
    const struct table *t = p->table;
    const bool of_file = f->cause == CAUSE_SYMBOLS_MISSING || f->cause == CAUSE_SYMBOLS_MISMATCH;
    if ((blame != BLAME_SYMBOLS && blame != BLAME_SYMBOLS_SHARED) ||
        (voter_parts(t, column) & ENGINE_SHARES_SYMBOLS) == 0)
        return PART_UNSTATED;
    for (uint32_t c = 1; c < t->column_count; c++)
        if ((witnesses >> c & 1) != 0 && (voter_parts(t, c) & ENGINE_SHARES_SYMBOLS) != 0)
            return PART_UNSTATED; /* our reader is right where it is asked rightly */
    if (other_reader(p, of_file ? UINT32_MAX : witnesses, of_file))
        return PART_READER;
    return of_file && f->facts.flaw != NULL ? PART_FILE : PART_UNDECIDED;
}

void poll_settle(const struct poll *p, struct finding *f, enum blame blame, uint32_t column,
                 uint32_t witnesses)
{
    f->blame = blame;
    f->facts.part = part_of(p, f, blame, column, witnesses);
    f->blame_engine = NULL;
    if (blame == BLAME_WALK || blame == BLAME_SYMBOLS)
        f->blame_engine = p->table->columns[column].claim->engine;
    if (blame == BLAME_TRUTH || blame == BLAME_ALIGNMENT)
        f->wrong = NULL;
    else if (blame != BLAME_UNKNOWN && column != 0)
        f->wrong = p->table->columns[column].claim->engine;
    f->witnesses = witnesses_of(p, witnesses);
}

void poll_settle_even(const struct poll *p, struct finding *f, uint32_t voters)
{
    if (f->fails && voters != 0)
        poll_settle(p, f, BLAME_EVEN, 0, voters);
}
