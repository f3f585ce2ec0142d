/* Which engine caused a difference: a vote of all engines that can see the place. All engines that
 * share the part in question count as one voter. The truth is a voter like any other: it can be
 * wrong.
 *
 *   where a frame lies   each walk is a voter; an engine that takes another's frames votes with it
 *   what it is called    our symbol lookup is one voter, each other program one
 *
 * The reference column has one vote, like any other. Two differences in one crash:
 *
 *   column                 its walk is  its names are  has a thunk's frame  middle() is at line
 *   offset:rtl             its own      our lookup     no                   21
 *   offset:backtrace       as rtl's     our lookup     no                   21
 *   dump                   its own      our lookup     yes                  21
 *   judge:dbghelp          its own      its own        yes                  20
 *   judge:llvm-symbolizer  as rtl's     its own        no                   20
 *   truth                                              of system frames it knows nothing     20
 *
 * The frame: three columns without it are 1 voter, two with it are 2. Both walkers of the process
 * lost it, so the record is to blame, not a walk. The line: three columns with 21 are 1 voter, our
 * lookup; 20 have 3. Two of the losers used the lookup and none of the winners did, so it is to
 * blame, not how one engine asked it. With one voter against one the votes are even: had only rtl
 * and dump been asked, rtl may have lost the frame, or dump may have made it up.
 *
 * What is proved needs no vote (blame_evidence.h), and goes first. */
#include "compare/blame.h"

#include <string.h>

#include "compare/blame_evidence.h"
#include "compare/blame_poll.h"
#include "compare/blame_voters.h"
#include "compare/mismatch.h"

/* The same offset in another module: the module list is wrong, not the walk. */
static bool is_other_module(const struct poll *p, uint32_t loser, uint32_t winners)
{
    const struct frame_key *mine = table_key(p->table, p->row, loser);
    for (uint32_t c = 1; mine != NULL && c < p->table->column_count; c++) {
        const struct frame_key *theirs = table_key(p->table, p->row, c);
        if ((winners >> c & 1) != 0 && theirs != NULL && theirs->module != mine->module &&
            theirs->offset == mine->offset)
            return true;
    }
    return false;
}

/* The part that produced COLUMN's frames. It gets the blame when they are wrong. */
static enum blame blame_of_place(const struct poll *p, uint32_t column, uint32_t losers,
                                 uint32_t winners)
{
    const struct table *t = p->table;
    const enum engine_kind kind = t->columns[column].claim->kind;
    const bool other_module = is_other_module(p, column, winners);
    if (kind == ENGINE_KIND_DUMP)
        return other_module ? BLAME_DUMP_READER : BLAME_WALK;
    if (kind != ENGINE_KIND_OFFSET)
        return BLAME_WALK;
    uint32_t walkers = 0, wrong = 0;
    for (uint32_t c = 1; c < t->column_count; c++)
        if (t->columns[c].claim->kind == ENGINE_KIND_OFFSET && voter_reaches(t, c, p->row)) {
            walkers++;
            wrong += losers >> c & 1;
        }
    return other_module || (walkers > 1 && wrong == walkers) ? BLAME_RECORD : BLAME_WALK;
}

static uint32_t lookups_among(const struct table *t, uint32_t mask)
{
    uint32_t count = 0;
    for (uint32_t c = 1; c < t->column_count; c++)
        count += (mask >> c & 1) != 0 && (voter_parts(t, c) & ENGINE_SHARES_SYMBOLS) != 0;
    return count;
}

/* Two engines that share the lookup but differ used different addresses, so the lookup is not to
 * blame. */
static enum blame blame_of_names(const struct poll *p, uint32_t column, uint32_t losers,
                                 uint32_t winners)
{
    const bool ours = (voter_parts(p->table, column) & ENGINE_SHARES_SYMBOLS) != 0;
    return ours && lookups_among(p->table, losers) > 1 && lookups_among(p->table, winners) == 0
               ? BLAME_SYMBOLS_SHARED
               : BLAME_SYMBOLS;
}

/* True when the frame in question is inline: symbols produced it, or failed to. */
static bool is_inline_row(const struct poll *p, const struct finding *f)
{
    for (uint32_t c = 1; c < p->table->column_count; c++) {
        const struct frame_key *key = table_key(p->table, p->row, c);
        if (key != NULL)
            return key->inline_depth > 0;
    }
    return f->cause == CAUSE_INLINE_ONLY || f->cause == CAUSE_INLINED_BY_JIT;
}

/* A place that COLUMN also has, where another lookup has the truth's frame.  The table does not
 * pair that frame with the truth, because our own lookup does not know to which code it belongs.
 * NULL: none. */
static const struct frame_key *place_of_truth(const struct poll *p, uint32_t column)
{
    const struct table *t = p->table;
    bool is_truths = false;
    for (uint32_t c = 1; c < t->column_count; c++)
        for (uint32_t i = 0;
             voter_of_name(t, c) != voter_of_name(t, column) && i < t->columns[c].count; i++)
            if (poll_says(p, 0, &t->columns[c].stack->frames[i], true) &&
                poll_holds_place(p, column, &t->columns[c].keys[i], &is_truths) && !is_truths)
                return &t->columns[c].keys[i];
    return NULL;
}

/* The truth is alone in its row, but another lookup has its frame elsewhere. */
static bool blame_unpaired(const struct poll *p, struct finding *f, uint32_t column)
{
    const struct frame_key *place = place_of_truth(p, column);
    uint32_t losers = 0, winners = 1;
    for (uint32_t c = 1; place != NULL && c < p->table->column_count; c++) {
        bool is_truths = false;
        if (poll_holds_place(p, c, place, &is_truths))
            *(is_truths ? &winners : &losers) |= 1U << c;
    }
    if (place != NULL)
        poll_settle(p, f, blame_of_names(p, column, losers, winners), column, winners);
    return place != NULL;
}

/* COLUMN's walk ended before a frame that at least two others have: it lost the frame, or what it
 * reads does. */
static void blame_early_end(const struct poll *p, struct finding *f, uint32_t column,
                            uint32_t winners)
{
    const struct column *c = &p->table->columns[column];
    const bool unread = c->stack->stop == STOP_MEMORY || c->stack->stop == STOP_STACK_BOUNDS;
    poll_settle(p, f, c->claim->kind == ENGINE_KIND_DUMP && unread ? BLAME_DUMP_READER : BLAME_WALK,
                column, winners);
}

/* True when COLUMN lacks not only an inlined frame of the row, but also the place into which it was
 * inlined: its walk was never there. */
static bool was_never_there(const struct poll *p, uint32_t column)
{
    bool is_truths = false;
    for (uint32_t c = 1; column != 0 && c < p->table->column_count; c++) {
        const struct frame_key *key = table_key(p->table, p->row, c);
        if (key != NULL && key->inline_depth > 0)
            return !poll_holds_place(p, column, key, &is_truths);
    }
    return false;
}

/* A frame that one side lacks or has at another address. */
static void blame_place(const struct poll *p, struct finding *f, uint32_t column, uint32_t against)
{
    const struct table *t = p->table;
    const bool has = table_key(t, p->row, column) != NULL;
    const uint32_t having = has ? column : against;
    const uint32_t other = having == column ? against : column;
    uint32_t have, lack;
    const bool inlined = is_inline_row(p, f) && !was_never_there(p, has ? against : column);
    poll_place(p, having != 0 ? table_key(t, p->row, having) : NULL, inlined, &have, &lack);
    voter_fn *const voter = inlined ? voter_of_name : voter_of_walk;
    uint32_t for_it = voters_weigh(t, have, voter), against_it = voters_weigh(t, lack, voter);
    if (!inlined && voters_share_record(t, p->row, have, lack))
        for_it = 1;
    if (!inlined && voters_share_record(t, p->row, lack, have))
        against_it = 1;
    /* who says that it could not go on says nothing about what comes then */
    const bool gave_up =
        f->cause == CAUSE_TRUNCATED && against == 0 && !has && !voter_reaches(t, column, p->row);
    if (gave_up && for_it >= against_it) {
        blame_early_end(p, f, voter_of_walk(t, column), have);
        return;
    }
    if (for_it == against_it) {
        poll_settle_even(p, f, have | lack);
        return;
    }
    const uint32_t losers = for_it > against_it ? lack : have;
    const uint32_t winners = for_it > against_it ? have : lack;
    uint32_t loser = for_it > against_it ? other : having;
    if ((losers & 1) != 0 && voters_weigh(t, losers, voter) == 1) {
        if (against == 0 && !has && blame_unpaired(p, f, column))
            return;
        if (winners != 0 && f->cause != CAUSE_TRUNCATED && f->cause != CAUSE_HIJACKED)
            poll_settle(p, f, BLAME_TRUTH, 0, winners);
        return;
    }
    if (f->cause == CAUSE_TRUNCATED && loser != 0 && !voter_reaches(t, loser, p->row) &&
        voters_weigh(t, winners, voter_of_walk) > 1) {
        blame_early_end(p, f, voter_of_walk(t, loser), winners);
        return;
    }
    if ((losers >> loser & 1) == 0 || loser == 0)
        return; /* both columns of the pair are on one side: the vote blames a third one */
    if (!inlined)
        loser = voter_of_walk(t, loser);
    poll_settle(p, f,
                inlined ? blame_of_names(p, loser, losers, winners)
                        : blame_of_place(p, loser, losers, winners),
                loser, winners);
}

static bool places_differ(const struct poll *p, uint32_t column, uint32_t against)
{
    const struct frame_key *a = table_key(p->table, p->row, column);
    for (uint32_t c = 1; a != NULL && c < p->table->column_count; c++) {
        const struct frame_key *b = table_key(p->table, p->row, c);
        if (b != NULL && (c == against || against == 0) && !keys_same_place(a, b))
            return true;
    }
    return false;
}

/* Different names at one address. */
static void blame_called(const struct poll *p, struct finding *f, uint32_t column, uint32_t against)
{
    const struct table *t = p->table;
    const bool with_line = f->level == LEVEL_LINE;
    uint32_t same, other;
    poll_name(p, column, with_line, &same, &other);
    const uint32_t mine = voters_weigh(t, same, voter_of_name),
                   theirs = voters_weigh(t, other, voter_of_name);
    if (against == 0 && mine >= 2 && (other & ~1U) == 0) {
        poll_settle(p, f, BLAME_TRUTH, 0, same);
        return;
    }
    if (mine == theirs && against != 0) {
        poll_settle_even(p, f, same | other);
        return;
    }
    const uint32_t loser = mine > theirs && against != 0 ? against : column;
    const uint32_t losers = loser == column ? same : other;
    const uint32_t winners = loser == column ? other : same;
    poll_settle(p, f, blame_of_names(p, loser, losers, winners), loser, winners);
}

/* A thread that an engine does not have. */
static void blame_absence(const struct poll *p, struct finding *f, uint32_t column)
{
    uint32_t have = 0;
    const struct column *lacks = &p->table->columns[column];
    const bool silent = lacks->claim->skipped ||
                        (lacks->stack != NULL && lacks->stack->state == STACK_NOT_APPLICABLE);
    if (f->cause != CAUSE_NOT_CAPTURED ||
        (silent && !evidence_of_its_file(p->in->crash, lacks->claim)))
        return;
    for (uint32_t c = 1; c < p->table->column_count; c++)
        have |= p->table->columns[c].count > 0 ? 1U << c : 0;
    if (p->table->columns[0].truth != NULL)
        have |= 1U;
    if (have == 0)
        return;
    const bool walked = lacks->stack != NULL && lacks->stack->state == STACK_OK; /* to nowhere */
    if (lacks->claim->kind == ENGINE_KIND_DUMP && !walked)
        poll_settle(p, f, BLAME_DUMP_READER, column, have);
    else
        poll_settle(p, f, lacks->claim->kind == ENGINE_KIND_OFFSET ? BLAME_RECORD : BLAME_WALK,
                    column, have);
}

/* A walk that starts inside the exception handler, according to all walks that do not. */
static void blame_handler(const struct poll *p, struct finding *f, uint32_t column)
{
    uint32_t others = 0;
    for (uint32_t c = 1; c < p->table->column_count; c++)
        if (p->table->columns[c].count > 0 && table_key(p->table, 0, c) == NULL)
            others |= 1U << c;
    poll_settle(p, f, BLAME_WALK, voter_of_walk(p->table, column), others);
}

/* The first physical frame of COLUMN that both it and OTHER, in theirs of the same number, have in
 * a module; NULL: there is none. *AT, *THERE: their places in the columns. A call of address 0 has
 * a first frame in no module. */
static const struct frame *first_in_module(const struct table *t, uint32_t column, uint32_t other,
                                           uint32_t *at, uint32_t *there)
{
    const struct column *c = &t->columns[column], *o = &t->columns[other];
    *there = 0;
    for (*at = 0; column != 0 && other != 0 && *at < c->count; ++*at) {
        const struct frame *mine = &c->stack->frames[*at];
        if (c->keys[*at].inline_depth != 0)
            continue;
        while (*there < o->count &&
               (o->keys[*there].inline_depth != 0 || o->stack->frames[*there].index < mine->index))
            ++*there;
        if (*there == o->count || o->stack->frames[*there].index != mine->index)
            return NULL;
        if (mine->module != NULL && o->stack->frames[*there].module != NULL)
            return mine;
    }
    return NULL;
}

/* Both start at one address of memory, which no walk found, but in different places of modules:
 * they disagree about where the modules were, A by *SHIFT bytes higher if it is one module. Or at
 * one offset, but in different modules: they disagree about which modules. */
static bool modules_differ(const struct table *t, uint32_t a, uint32_t b, int64_t *shift)
{
    uint32_t i = 0, k = 0;
    const struct frame *x = first_in_module(t, a, b, &i, &k);
    if (x == NULL)
        return false;
    const struct frame *y = &t->columns[b].stack->frames[k];
    const struct frame_key *mine = &t->columns[a].keys[i], *theirs = &t->columns[b].keys[k];
    *shift = mine->module == theirs->module ? (int64_t)(theirs->offset - mine->offset) : 0;
    return (x->pc_va != 0 && x->pc_va == y->pc_va && !keys_same_place(mine, theirs)) ||
           (mine->offset == theirs->offset && mine->module != theirs->module);
}

/* How many frames of the truth COLUMN has at their place in the table. */
static uint32_t rows_like_truth(const struct poll *p, uint32_t column)
{
    struct poll at = *p;
    uint32_t count = 0;
    for (at.row = 0; at.row < p->table->row_count; at.row++) {
        const struct frame *frame = table_frame(p->table, at.row, column);
        count += frame != NULL && voters_truth(p->table, at.row) && poll_says(&at, 0, frame, true);
    }
    return count;
}

/* A wrong module list makes wrong names and wrong walks, all with one reason. */
static bool blame_modules(const struct poll *p, struct finding *f, uint32_t column)
{
    const struct table *t = p->table;
    const enum engine_kind kind = column != 0 ? t->columns[column].claim->kind : ENGINE_KIND_OTHER;
    uint32_t winners = 0;
    int64_t shift = 0;
    if (kind != ENGINE_KIND_DUMP && kind != ENGINE_KIND_OFFSET)
        return false;
    const uint32_t own = rows_like_truth(p, column);
    for (uint32_t c = 1; c < t->column_count; c++) {
        int64_t apart = 0;
        if (c == column || !modules_differ(t, column, c, &apart) || rows_like_truth(p, c) <= own)
            continue;
        winners |= 1U << c;
        shift = apart;
    }
    if (winners == 0)
        return false;
    f->facts.input = INPUT_PLACES;
    f->facts.shift = shift;
    poll_settle(p, f, kind == ENGINE_KIND_DUMP ? BLAME_DUMP_READER : BLAME_RECORD, column,
                winners | 1U);
    return true;
}

/* True when COLUMN found no PDB, since it asked for one that the module's image does not name. */
static bool asked_for_other_pdb(const struct table *t, uint32_t column)
{
    const struct column *c = &t->columns[column];
    for (uint32_t i = 0; column != 0 && i < c->count; i++)
        if (c->stack->frames[i].note == NOTE_IMAGE_OTHER_PDB)
            return true;
    return false;
}

/* Wrong identities: those of a dump come from the record's writer, too, so they are the dump
 * reader's fault only where the record has the right ones. */
static bool blame_identities(const struct poll *p, struct finding *f, uint32_t column)
{
    const struct table *t = p->table;
    uint32_t winners = 1U;
    bool recorded = false;
    if (!asked_for_other_pdb(t, column))
        return false;
    for (uint32_t c = 1; c < t->column_count; c++)
        if (!asked_for_other_pdb(t, c))
            winners |= rows_like_truth(p, c) > 0 ? 1U << c : 0;
        else
            recorded = recorded || t->columns[c].claim->kind == ENGINE_KIND_OFFSET;
    poll_settle(p, f, recorded ? BLAME_RECORD : BLAME_DUMP_READER, column, winners);
    return true;
}

/* The engines disagree whether the first pc is a return address. All walkers of the record have it
 * from one place, so votes decide nothing, but the hook does. */
static bool blame_first_kind(const struct poll *p, struct finding *f, uint32_t column,
                             uint32_t against)
{
    const struct frame *mine = table_frame(p->table, p->row, column);
    const struct frame *theirs = against != 0 ? table_frame(p->table, p->row, against) : NULL;
    enum pc_kind wanted;
    if (f->cause != CAUSE_LOOKUP_ADDRESS || mine == NULL || theirs == NULL || mine->index != 0 ||
        theirs->index != 0 || mine->kind == theirs->kind ||
        !evidence_of_first_kind(p->in->crash, &wanted))
        return false;
    const uint32_t loser = mine->kind == wanted ? against : column;
    const enum engine_kind kind = p->table->columns[loser].claim->kind;
    if (kind != ENGINE_KIND_DUMP && kind != ENGINE_KIND_OFFSET)
        return false;
    poll_settle(p, f, kind == ENGINE_KIND_DUMP ? BLAME_DUMP_READER : BLAME_RECORD, loser,
                1U << (loser == column ? against : column));
    return true;
}

/* What one missing or wrong file of symbols hides is no evidence, however many engines share it. */
static bool blame_no_symbols(const struct poll *p, struct finding *f, uint32_t column)
{
    const char *places;
    if ((f->cause != CAUSE_SYMBOLS_MISSING && f->cause != CAUSE_SYMBOLS_MISMATCH) ||
        !f->against_truth ||
        evidence_of_no_symbols(p->in, p->table, column, p->keep, &places) == NULL)
        return false;
    poll_settle(p, f, BLAME_SYMBOLS_SHARED, column, 1U);
    return true;
}

/* A machine frame is what an interruption leaves: the walk that calls the frame after it a return
 * address contradicts itself. */
static bool blame_machine_frame(const struct poll *p, struct finding *f, uint32_t column,
                                uint32_t against)
{
    const uint32_t pair[2] = {column, against};
    for (int i = 0; i < 2 && f->cause == CAUSE_LOOKUP_ADDRESS; i++) {
        const struct frame *frame = pair[i] != 0 ? table_frame(p->table, p->row, pair[i]) : NULL;
        if (frame == NULL || frame->note != NOTE_MACHINE_FRAME || frame->kind != PC_RETURN)
            continue;
        poll_settle(p, f, BLAME_WALK, voter_of_walk(p->table, pair[i]), 1U << pair[1 - i]);
        return true;
    }
    return false;
}

/* A frame that a walk guessed, or lost by guessing, is no evidence against the truth. */
static bool blame_guess(const struct poll *p, struct finding *f)
{
    if (f->cause != CAUSE_FRAME_POINTER || !f->against_truth || f->wrong == NULL ||
        (f->frame_a >= 0 && f->frame_b >= 0))
        return false;
    poll_settle(p, f, BLAME_WALK, voter_of_walk(p->table, voters_column(p->table, f->wrong)), 1U);
    return true;
}

/* What proves the fault by itself needs no votes. */
static bool blame_by_evidence(const struct poll *p, struct finding *f, uint32_t column,
                              uint32_t against)
{
    const uint32_t pair[2] = {column, against};
    uint32_t witnesses = 0, late = 0;
    for (int i = 0; i < 2 && witnesses == 0; i++)
        if ((witnesses = evidence_of_modules(p->table, pair[i])) != 0)
            poll_settle(p, f, BLAME_RECORD, pair[i], witnesses);
        else if ((witnesses = evidence_of_stray_walk(p->table, p->row, pair[i])) != 0)
            poll_settle(p, f, BLAME_WALK, voter_of_walk(p->table, pair[i]), witnesses);
    if (witnesses != 0 || against != 0 || !evidence_of_late_lookup(p->in, p->table, p->row, column))
        return witnesses != 0;
    for (uint32_t c = 1; c < p->table->column_count; c++)
        late += evidence_of_late_lookup(p->in, p->table, p->row, c);
    poll_settle(p, f, late > 1 ? BLAME_SYMBOLS_SHARED : BLAME_SYMBOLS, column, 1U);
    f->facts.part = PART_READER; /* the same symbols have it one byte earlier */
    return true;
}

void finding_blame(const struct compare_input *in, const struct table *table, struct arena *keep,
                   struct finding *f)
{
    const uint32_t column = voters_column(table, f->engine);
    const uint32_t against = f->against_truth ? 0 : voters_column(table, f->against);
    const struct poll p = {in, table, keep, f->row, column, against};
    if (column == 0)
        return;
    if (f->frame_a < 0 && f->frame_b < 0) {
        blame_absence(&p, f, column);
        return;
    }
    if (evidence_of_misalignment(table, column, against) && f->level == LEVEL_PHYSICAL) {
        poll_settle(&p, f, BLAME_ALIGNMENT, 0, 1U << column | 1U << against);
        return;
    }
    const bool gap = f->frame_a < 0 || f->frame_b < 0;
    if (cause_is_innocent(f->cause))
        return;
    if (f->cause == CAUSE_HANDLER_CONTEXT && f->wrong != NULL) {
        /* Names of modules at wrong bases are no frames of a handler. */
        if (!blame_modules(&p, f, column) && !blame_modules(&p, f, against))
            blame_handler(&p, f, voters_column(table, f->wrong));
        return;
    }
    if (blame_no_symbols(&p, f, column) || blame_machine_frame(&p, f, column, against) ||
        blame_guess(&p, f) || blame_first_kind(&p, f, column, against) ||
        blame_identities(&p, f, column) || blame_identities(&p, f, against) ||
        blame_modules(&p, f, column) || blame_modules(&p, f, against) ||
        blame_by_evidence(&p, f, column, against))
        return;
    if (gap || f->level == LEVEL_PHYSICAL || places_differ(&p, column, against))
        blame_place(&p, f, column, against);
    else
        blame_called(&p, f, column, against);
}
