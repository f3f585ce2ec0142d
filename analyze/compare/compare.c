/* Judges a case: builds a table for each thread, marks every cell, and turns each difference
 * into a finding with a cause.  The rules are in compare.h, alignment in align.c, causes in
 * cause.c, figures in engine_score.c, the verdict in verdict.c. */
#include "compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "compare/blame.h"
#include "compare/cause.h"
#include "compare/cause_managed.h"
#include "compare/engine_score.h"
#include "compare/verdict.h"

/* Findings of rows that follow each other, between the same two columns and with the same cause,
 * are merged: a stack that stops early lacks many frames for one reason. */
struct streak {
    int32_t finding; /* -1: none */
    enum cell_mark mark;
};

struct judge {
    const struct compare_input *in;
    struct arena *keep, scratch;
    struct module_list modules;
    struct case_result *out;
    uint32_t finding_room;
    struct streak streak;
    struct fault *fault;
};

static enum status out_of_memory(struct judge *j)
{
    return fault_no_memory(j->fault, "comparing a case");
}

static const char *root_of(const struct compare_input *in)
{
    return in->crash != NULL ? in->crash->own.source_root : NULL;
}

/* ---- findings ------------------------------------------------------------------------- */

static struct finding *finding_add(struct judge *j)
{
    struct case_result *out = j->out;
    if (!ARENA_ROOM(j->keep, out->findings, j->finding_room, out->finding_count + 1))
        return NULL;
    return &out->findings[out->finding_count++];
}

static void streak_end(struct judge *j)
{
    struct finding *f = j->streak.finding < 0 ? NULL : &j->out->findings[j->streak.finding];
    const uint32_t more = f != NULL ? f->facts.more : 0;
    const char *longer = more == 0 ? NULL
                                   : arena_printf(j->keep, "%s; and %u more frame%s", f->evidence,
                                                  more, more == 1 ? "" : "s");
    if (longer != NULL)
        f->evidence = longer;
    j->streak.finding = -1;
}

/* A row that is not judged may be another finding's, since finding_places() counts on from the
 * first; not one that only engines have which are not under test, and walk on through data. */
static enum status not_judged(struct judge *j, const struct table *t, uint32_t row, uint32_t column)
{
    bool ends = table_truth(t, row) != NULL;
    for (uint32_t other = 1; !ends && other < t->column_count; other++)
        ends = t->columns[other].claim->subject && table_key(t, row, other) != NULL;
    if (ends && t->columns[column].claim->subject)
        streak_end(j);
    return ERR_NONE;
}

static bool streak_goes_on(struct judge *j, const struct explanation *why, enum cell_mark mark,
                           enum finding_level level)
{
    struct finding *f = j->streak.finding < 0 ? NULL : &j->out->findings[j->streak.finding];
    const bool goes_on =
        f != NULL && j->streak.mark == mark && f->cause == why->cause && f->level == level;
    if (goes_on)
        f->facts.more++;
    return goes_on;
}

static const char *column_name(const struct table *table, uint32_t column)
{
    return column == 0 ? FINDING_TRUTH : table->columns[column].claim->engine;
}

/* Explains a difference, marks its cell and adds the finding. */
static enum status differs(struct judge *j, const struct table *table, struct thread_result *thread,
                           uint32_t row, uint32_t column, uint32_t against, enum cell_mark mark,
                           enum finding_level level)
{
    const struct difference d = {j->in, table, row, column, against, mark};
    struct explanation why = {.cause = CAUSE_NONE};
    if (difference_explain(&d, j->keep, &why, j->fault) != ERR_NONE)
        return j->fault->code;
    struct align_cell *cell = &thread->cells[(size_t)row * table->column_count + column];
    if (mark > cell->mark || cell->mark == CELL_UNJUDGED || cell->cause == CAUSE_NONE) {
        cell->mark = mark;
        cell->cause = why.cause;
    }
    if (streak_goes_on(j, &why, mark, level))
        return ERR_NONE;
    streak_end(j);
    struct finding *f = finding_add(j);
    if (f == NULL)
        return out_of_memory(j);
    f->level = level;
    f->cause = why.cause;
    f->engine = column_name(table, column);
    f->against = column_name(table, against);
    f->against_truth = against == 0;
    f->wrong = why.blame == 0 ? NULL : column_name(table, why.blame);
    f->frame_a = table->cells[(size_t)row * table->column_count + column];
    f->frame_b = table->cells[(size_t)row * table->column_count + against];
    f->thread_id = thread->thread_id;
    f->row = row;
    f->fails = table->columns[column].claim->subject &&
               (uint32_t)level + j->in->levels_ignored <= LEVEL_LINE &&
               !difference_is_excused(&d, why.cause);
    f->evidence = why.evidence;
    f->facts = why.facts;
    f->module = arena_string(j->keep, rule_module(&d)); /* symbols are closed before reports */
    f->function = arena_string(j->keep, rule_function(&d));
    j->streak.finding = (int32_t)j->out->finding_count - 1;
    j->streak.mark = mark;
    return ERR_NONE;
}

static void cell_agrees(struct thread_result *thread, uint32_t row, uint32_t column)
{
    struct align_cell *cell = &thread->cells[(size_t)row * thread->column_count + column];
    if (cell->mark == CELL_UNJUDGED || cell->mark == CELL_GAP)
        cell->mark = CELL_SAME;
}

/* ---- against the truth ---------------------------------------------------------------- */

static enum status judge_truth_row(struct judge *j, const struct table *t,
                                   struct thread_result *thread, uint32_t row, uint32_t column)
{
    const struct truth_frame *truth = table_truth(t, row);
    const struct frame *frame = table_frame(t, row, column);
    const struct frame_key *key = table_key(t, row, column);
    struct align_cell *cell = &thread->cells[(size_t)row * t->column_count + column];

    if (truth == NULL || truth->gap != TRUTH_GAP_NONE)
        return frame == NULL || !key->own
                   ? not_judged(j, t, row, column)
                   : differs(j, t, thread, row, column, 0, CELL_EXTRA, LEVEL_FUNCTION);
    if (truth->tail) {
        if (frame != NULL)
            return differs(j, t, thread, row, column, 0, CELL_EXTRA, LEVEL_FUNCTION);
        if (is_managed_gap(&(struct difference){j->in, t, row, column, 0, CELL_MISSING}, j->keep))
            return differs(j, t, thread, row, column, 0, CELL_MISSING, LEVEL_FUNCTION);
        cell->cause = CAUSE_TAIL_CALL;
        return ERR_NONE;
    }
    if (frame == NULL)
        return differs(j, t, thread, row, column, 0, CELL_MISSING, LEVEL_FUNCTION);
    if (!compare_names(truth->function, frame->function))
        return differs(j, t, thread, row, column, 0, CELL_FUNCTION, LEVEL_FUNCTION);
    if ((truth->file != NULL &&
         !compare_files(truth->file, frame->file, root_of(j->in),
                        claim_prints_base_names(t->columns[column].claim))) ||
        (truth->line != 0 && truth->line != frame->line))
        return differs(j, t, thread, row, column, 0, CELL_LINE, LEVEL_LINE);
    cell_agrees(thread, row, column);
    streak_end(j);
    return ERR_NONE;
}

static enum status judge_truth(struct judge *j, const struct table *t, struct thread_result *thread)
{
    for (uint32_t column = 1; column < t->column_count; column++) {
        if (t->columns[column].count == 0)
            continue;
        j->streak.finding = -1;
        for (uint32_t row = 0; row < t->row_count; row++)
            if (judge_truth_row(j, t, thread, row, column) != ERR_NONE)
                return j->fault->code;
        streak_end(j);
    }
    return ERR_NONE;
}

/* ---- against the reference ------------------------------------------------------------ */

/* The last row in which COLUMN has a frame. */
static uint32_t last_row(const struct table *t, uint32_t column)
{
    uint32_t row = t->row_count;
    while (row > 0 && table_key(t, row - 1, column) == NULL)
        row--;
    return row == 0 ? 0 : row - 1;
}

/* Names and lines of frames that the truth does not judge. */
static enum status judge_names(struct judge *j, const struct table *t, struct thread_result *thread,
                               uint32_t row, uint32_t column)
{
    const struct frame *a = table_frame(t, row, column);
    const struct frame *b = table_frame(t, row, t->reference);
    if (t->columns[0].truth != NULL && (table_key(t, row, column)->own || table_truth(t, row)))
        return ERR_NONE;
    if (a->function == NULL && b->function == NULL)
        return ERR_NONE;
    if (!compare_names(a->function, b->function) && !compare_names(b->function, a->function))
        return differs(j, t, thread, row, column, t->reference, CELL_FUNCTION, LEVEL_FUNCTION);
    if (a->line != 0 && b->line != 0 && a->file != NULL && b->file != NULL &&
        (a->line != b->line || !compare_files(a->file, b->file, root_of(j->in),
                                              claim_prints_base_names(t->columns[column].claim))))
        return differs(j, t, thread, row, column, t->reference, CELL_LINE, LEVEL_LINE);
    return ERR_NONE;
}

static enum status judge_pair_row(struct judge *j, const struct table *t,
                                  struct thread_result *thread, uint32_t row, uint32_t column)
{
    const struct frame_key *a = table_key(t, row, column);
    const struct frame_key *b = table_key(t, row, t->reference);
    if (a == NULL && b == NULL)
        return not_judged(j, t, row, column);
    if (a == NULL || b == NULL) {
        const bool physical = (a != NULL ? a : b)->inline_depth == 0;
        if (!physical && t->columns[0].truth != NULL &&
            (table_truth(t, row) != NULL || (a != NULL ? a : b)->own))
            return not_judged(j, t, row, column); /* but by the truth */
        return differs(j, t, thread, row, column, t->reference,
                       a == NULL ? CELL_MISSING : CELL_EXTRA,
                       physical ? LEVEL_PHYSICAL : LEVEL_FUNCTION);
    }
    const struct frame *mine = table_frame(t, row, column);
    const struct frame *theirs = table_frame(t, row, t->reference);
    if (!keys_same_place(a, b) || mine->kind != theirs->kind)
        return differs(j, t, thread, row, column, t->reference, CELL_PHYSICAL, LEVEL_PHYSICAL);
    const uint32_t findings = j->out->finding_count;
    if (judge_names(j, t, thread, row, column) != ERR_NONE)
        return j->fault->code;
    if (j->out->finding_count == findings) {
        cell_agrees(thread, row, column);
        cell_agrees(thread, row, t->reference);
        streak_end(j);
    }
    return ERR_NONE;
}

static enum status judge_reference(struct judge *j, const struct table *t,
                                   struct thread_result *thread)
{
    for (uint32_t column = 1; column < t->column_count; column++) {
        if (column == t->reference || t->columns[column].count == 0)
            continue;
        /* Rows after the place where a stack reported its stop do not fail the case. */
        const uint32_t end_a = last_row(t, column), end_b = last_row(t, t->reference);
        const bool a_stopped = !stop_is_end(t->columns[column].stack->stop);
        const bool b_stopped = !stop_is_end(t->columns[t->reference].stack->stop);
        j->streak.finding = -1;
        for (uint32_t row = 0; row < t->row_count; row++) {
            const bool after_stop = (row > end_b && b_stopped) || (row > end_a && a_stopped);
            const uint32_t findings = j->out->finding_count;
            if (judge_pair_row(j, t, thread, row, column) != ERR_NONE)
                return j->fault->code;
            if (after_stop)
                for (uint32_t f = findings; f < j->out->finding_count; f++)
                    j->out->findings[f].fails = false;
        }
        streak_end(j);
    }
    return ERR_NONE;
}

/* ---- threads -------------------------------------------------------------------------- */

static const struct truth_thread *truth_of(const struct truth *truth, uint32_t id, bool suspect)
{
    for (uint32_t i = 0; truth != NULL && i < truth->thread_count; i++)
        if (id != 0 && truth->threads[i].id == id)
            return &truth->threads[i];
    for (uint32_t i = 0; suspect && truth != NULL && i < truth->thread_count; i++)
        if (truth->threads[i].role == THREAD_ROLE_SUSPECT)
            return &truth->threads[i];
    return suspect && truth != NULL && truth->thread_count == 1 ? &truth->threads[0] : NULL;
}

/* Adds the threads of claim C, or of the truth when C is past the claims: only the suspects or all
 * threads. */
static void list_threads_of(const struct compare_input *in, uint32_t c, bool suspects_only,
                            uint32_t *ids, uint32_t *count)
{
    const bool claimed = c < in->claim_count;
    const uint32_t of_truth = in->truth != NULL ? in->truth->thread_count : 0;
    const uint32_t stacks = claimed ? in->claims[c].stack_count : of_truth;
    for (uint32_t s = 0; s < stacks; s++) {
        const uint32_t id = claimed ? in->claims[c].stacks[s].thread_id : in->truth->threads[s].id;
        const enum thread_role role =
            claimed ? in->claims[c].stacks[s].role : in->truth->threads[s].role;
        bool known = id == 0 || (suspects_only && role != THREAD_ROLE_SUSPECT);
        for (uint32_t k = 0; k < *count && !known; k++)
            known = ids[k] == id;
        if (!known)
            ids[(*count)++] = id;
    }
}

/* The thread ids of all stacks and of the truth, the crashed thread first.  Thread 0 is the crashed
 * thread of stacks that name none.  It becomes a thread of its own only if no stack says which
 * thread crashed. */
static enum status list_threads(struct judge *j, uint32_t **ids, uint32_t *count)
{
    const struct compare_input *in = j->in;
    size_t room = 1 + (in->truth != NULL ? in->truth->thread_count : 0);
    for (uint32_t c = 0; c < in->claim_count; c++)
        room += in->claims[c].stack_count;
    *ids = ARENA_ARRAY(&j->scratch, room, uint32_t);
    if (*ids == NULL)
        return out_of_memory(j);
    *count = 0;
    for (uint32_t c = 0; c <= in->claim_count; c++)
        list_threads_of(in, c, true, *ids, count);
    if (*count == 0 && room > 1)
        (*ids)[(*count)++] = 0;
    for (uint32_t c = 0; c <= in->claim_count; c++)
        list_threads_of(in, c, false, *ids, count);
    return ERR_NONE;
}

static bool stack_is_of(const struct stack *stack, uint32_t id, bool suspect)
{
    return stack->thread_id == id || (stack->thread_id == 0 && suspect);
}

/* Picks one stack of the thread for each claim. For a thread that was sampled more than once,
 * pick_samples() then chooses the most similar pair. */
static enum status pick_stacks(struct judge *j, struct table *t, uint32_t id, bool suspect)
{
    for (uint32_t c = 1; c < t->column_count; c++) {
        const struct engine_claim *claim = &j->in->claims[c - 1];
        t->columns[c].claim = claim;
        for (uint32_t s = 0; s < claim->stack_count; s++) {
            const struct stack *stack = &claim->stacks[s];
            if (!stack_is_of(stack, id, suspect))
                continue;
            if (t->columns[c].stack == NULL ||
                (t->columns[c].stack->state != STACK_OK && stack->state == STACK_OK))
                t->columns[c].stack = stack;
        }
        const struct stack *stack = t->columns[c].stack;
        if (stack != NULL && stack->state == STACK_OK &&
            (t->reference == 0 || (claim->subject && !t->columns[t->reference].claim->subject)))
            t->reference = c;
    }
    return ERR_NONE;
}

/* How similar two stacks are. */
static enum status stacks_similarity(struct judge *j, const struct stack *a, const struct stack *b,
                                     uint64_t *out)
{
    struct arena work;
    arena_init(&work, 0);
    struct column x = {.stack = a}, y = {.stack = b};
    *out = 0;
    if (column_prepare(&x, j->in->crash, &j->modules, &j->scratch, j->fault) == ERR_NONE &&
        column_prepare(&y, j->in->crash, &j->modules, &j->scratch, j->fault) == ERR_NONE)
        (void)column_similarity(&x, &y, &work, out, j->fault);
    arena_free(&work);
    return j->fault->code;
}

/* Among the samples of COLUMN and of the reference, picks the most similar pair. */
static enum status pick_samples(struct judge *j, struct table *t, uint32_t id, bool suspect)
{
    bool moved = false; /* the first column that can do so chooses the reference's sample, once */
    for (uint32_t c = 1; c < t->column_count; c++) {
        if (t->reference == 0 || c == t->reference || t->columns[c].stack == NULL ||
            t->columns[c].stack->state != STACK_OK)
            continue;
        const struct engine_claim *mine = t->columns[c].claim;
        const struct engine_claim *theirs = t->columns[t->reference].claim;
        const struct stack *best_a = t->columns[c].stack;
        const struct stack *best_b = t->columns[t->reference].stack;
        uint64_t best = 0;
        for (uint32_t a = 0; a < mine->stack_count; a++)
            for (uint32_t b = 0; b < theirs->stack_count; b++) {
                const struct stack *x = &mine->stacks[a], *y = &theirs->stacks[b];
                if (!stack_is_of(x, id, suspect) || !stack_is_of(y, id, suspect) ||
                    x->state != STACK_OK || y->state != STACK_OK || (moved && y != best_b))
                    continue;
                uint64_t near = 0;
                if (stacks_similarity(j, x, y, &near) != ERR_NONE)
                    return j->fault->code;
                if (near > best) {
                    best = near;
                    best_a = x;
                    best_b = y;
                }
            }
        t->columns[c].stack = best_a;
        t->columns[t->reference].stack = best_b;
        moved = true;
    }
    return ERR_NONE;
}

static uint32_t stacks_of(const struct engine_claim *claim, uint32_t id, bool suspect)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < claim->stack_count; s++)
        count += stack_is_of(&claim->stacks[s], id, suspect) && claim->stacks[s].state == STACK_OK;
    return count;
}

static enum status thread_lay_out(struct judge *j, const struct table *t,
                                  struct thread_result *thread)
{
    const uint32_t columns = t->column_count;
    thread->column_count = columns;
    thread->row_count = t->row_count;
    thread->reference = t->reference;
    thread->truth = t->columns[0].truth;
    thread->stacks = ARENA_ARRAY(j->keep, (size_t)columns, const struct stack *);
    thread->cells = ARENA_ARRAY(j->keep, (size_t)t->row_count * columns + 1, struct align_cell);
    if (thread->stacks == NULL || thread->cells == NULL)
        return out_of_memory(j);
    for (uint32_t c = 1; c < columns; c++) {
        const struct stack *stack = t->columns[c].stack;
        thread->stacks[c - 1] = stack;
        if (stack != NULL && thread->name == NULL)
            thread->name = stack->thread_name;
        if (stack != NULL && thread->role == THREAD_ROLE_NONE) {
            thread->role = stack->role;
            thread->role_word = stack->role_word;
        }
    }
    if (thread->role == THREAD_ROLE_NONE && thread->truth != NULL) {
        thread->role = thread->truth->role;
        thread->role_word = thread->truth->role_word;
    }
    for (size_t i = 0; i < (size_t)t->row_count * columns; i++) {
        thread->cells[i].frame = t->cells[i];
        thread->cells[i].mark = t->cells[i] < 0 ? CELL_GAP : CELL_UNJUDGED;
    }
    return ERR_NONE;
}

/* Not every walker can walk from outside the process, as a watcher does. A walker that is missing
 * from a record written only by the watcher is therefore excused. */
static bool is_beyond_watcher(const struct crash_case *crash, const struct stack *stack)
{
    return stack != NULL && stack->state == STACK_NOT_APPLICABLE && crash != NULL &&
           crash->got.hooks == HOOK_BIT(CASE_HOOK_WATCHER);
}

/* x86 has no unwind tables, so a walker that needs them is excused. */
static bool is_without_tables(const struct stack *stack)
{
    return stack != NULL && stack->state == STACK_NOT_APPLICABLE && stack->stop == STOP_NO_TABLES;
}

/* An imported case has only a dump or only a stack; the missing one is excused. */
static bool was_never_given(const struct crash_case *crash, const struct column *column)
{
    const bool absent = column->claim->skipped ||
                        (column->stack != NULL && column->stack->state == STACK_NOT_APPLICABLE);
    return absent && crash != NULL && crash->got.hooks == HOOK_BIT(CASE_HOOK_IMPORT);
}

/* A walk of the runtime's own that it refused is said even though no exhibit must have a stack. */
static bool was_refused(const struct stack *stack)
{
    return stack != NULL && stack->state != STACK_OK && stack->stop == STOP_SNAPSHOT_REFUSED;
}

/* Adds a finding for a subject that has no stack for a thread where it must have one. */
static enum status note_absent(struct judge *j, const struct table *t, struct thread_result *thread,
                               uint32_t column)
{
    const struct engine_claim *claim = t->columns[column].claim;
    const struct stack *stack = t->columns[column].stack;
    struct finding *f = finding_add(j);
    if (f == NULL)
        return out_of_memory(j);
    const char *why =
        stack != NULL && stack->stop != STOP_NONE ? stack_stop_text(stack) : claim->why;
    const bool refused = was_refused(stack);
    const bool excused =
        refused || is_beyond_watcher(j->in->crash, stack) || is_without_tables(stack);
    f->level = LEVEL_PHYSICAL;
    f->cause = excused ? CAUSE_UNSUPPORTED_HERE : CAUSE_NOT_CAPTURED;
    if (refused)
        f->cause = CAUSE_SNAPSHOT_REFUSED;
    f->engine = claim->engine;
    f->against_truth = t->columns[0].truth != NULL;
    f->against = column_name(t, f->against_truth ? 0 : t->reference);
    f->wrong = excused ? NULL : claim->engine;
    f->frame_a = f->frame_b = -1;
    f->thread_id = thread->thread_id;
    f->fails = claim->subject && !excused;
    f->evidence = why != NULL ? why : "there is no stack for this thread";
    return ERR_NONE;
}

/* If nothing was captured, the verdict states it once instead of one finding for each missing
 * stack. */
static bool something_captured(const struct compare_input *in)
{
    return in->crash == NULL || case_is_captured(in->crash);
}

static enum status judge_thread(struct judge *j, uint32_t id, bool suspect,
                                struct thread_result *thread)
{
    struct table t = {.column_count = j->in->claim_count + 1, .last_block = &(struct row_block){0}};
    t.columns = ARENA_ARRAY(&j->scratch, t.column_count, struct column);
    if (t.columns == NULL)
        return out_of_memory(j);
    thread->thread_id = id;
    t.columns[0].truth = truth_of(j->in->truth, id, suspect);
    if (pick_stacks(j, &t, id, suspect) != ERR_NONE)
        return j->fault->code;
    bool samples = false;
    for (uint32_t c = 0; c < j->in->claim_count; c++)
        samples = samples || stacks_of(&j->in->claims[c], id, suspect) > 1;
    if (samples && pick_samples(j, &t, id, suspect) != ERR_NONE)
        return j->fault->code;
    for (uint32_t c = 0; c < t.column_count; c++)
        if (column_prepare(&t.columns[c], j->in->crash, &j->modules, &j->scratch, j->fault) !=
            ERR_NONE)
            return j->fault->code;
    if (table_build(&t, root_of(j->in), &j->scratch, j->fault) != ERR_NONE ||
        thread_lay_out(j, &t, thread) != ERR_NONE)
        return j->fault->code;

    if (thread->role == THREAD_ROLE_CAPTURE)
        return ERR_NONE; /* the thread that takes the stacks keeps moving while they are taken */
    const bool hang = j->in->crash != NULL && j->in->crash->kind == CASE_KIND_HANG;
    const bool demanded =
        something_captured(j->in) && (suspect || (hang && t.columns[0].truth != NULL));
    const uint32_t first = j->out->finding_count;
    for (uint32_t c = 1; c < t.column_count && demanded; c++)
        if (t.columns[c].count == 0 &&
            (t.columns[c].claim->subject || was_refused(t.columns[c].stack)) &&
            (t.reference != 0 || t.columns[0].truth != NULL) &&
            !was_never_given(j->in->crash, &t.columns[c]) &&
            note_absent(j, &t, thread, c) != ERR_NONE)
            return j->fault->code;
    if (t.columns[0].truth != NULL && judge_truth(j, &t, thread) != ERR_NONE)
        return j->fault->code;
    if (t.reference != 0 && judge_reference(j, &t, thread) != ERR_NONE)
        return j->fault->code;
    blame_findings(j->in, &t, j->keep, thread, j->out, first);
    return ERR_NONE;
}

static enum status judge_threads(struct judge *j)
{
    uint32_t *ids = NULL, count = 0;
    if (list_threads(j, &ids, &count) != ERR_NONE)
        return j->fault->code;
    j->out->threads = ARENA_ARRAY(j->keep, (size_t)count + 1, struct thread_result);
    if (j->out->threads == NULL)
        return out_of_memory(j);
    for (uint32_t i = 0; i < count; i++) {
        if (judge_thread(j, ids[i], i == 0, &j->out->threads[i]) != ERR_NONE)
            return j->fault->code;
        j->out->thread_count++;
    }
    return ERR_NONE;
}

enum status compare_case(const struct compare_input *in, struct arena *keep,
                         struct case_result *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (in->claim_count > CLAIMS_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines in one comparison");
    struct judge j = {.in = in, .keep = keep, .out = out, .fault = fault};
    j.streak.finding = -1;
    arena_init(&j.scratch, 0);
    enum status status = judge_threads(&j);
    if (status == ERR_NONE) {
        out->scores = ARENA_ARRAY(keep, (size_t)in->claim_count + 1, struct engine_score);
        if (out->scores == NULL)
            status = out_of_memory(&j);
    }
    for (uint32_t c = 0; c < in->claim_count && status == ERR_NONE; c++) {
        score_claim(in, out, c, &out->scores[c]);
        out->score_count++;
    }
    if (status == ERR_NONE)
        status = judge_verdict(in, keep, out, fault);
    arena_free(&j.scratch);
    return status;
}
