/* Why two stacks differ: a table of rules, the most specific first. Each rule looks at one
 * difference and either gives its evidence or passes. No rule guesses: a difference that no rule
 * can prove is CAUSE_UNEXPLAINED.
 *
 * A difference is a row in which a column disagrees with the column it is compared with. Adjacent
 * rows that disagree too form its block: a cause is often found in a neighbour (the frame that an
 * unwinder could not step over), so rules may look at the whole block. */
#include "compare/cause.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/cause_managed.h"
#include "compare/cause_names.h"
#include "compare/cause_shape.h"
#include "compare/cause_step.h"
#include "compare/same_names.h"

static rule_fn *const rules[] = {
    because_stray_step,      because_own_symbols,      because_scan,
    because_handler_context, because_recursion_elided, because_tail_call,
    because_module_unloaded, because_hijacked,         because_inlined_by_jit,
    because_no_token,        because_generated_code,   because_symbols_mismatch,
    because_symbols_missing, because_export_only,      because_lookup_address,
    because_folded,          because_line_table,       because_inline_only,
    because_truncated,       because_frame_pointer,    because_beyond_truth,
};

static const char *unexplained_line(const struct difference *d, struct arena *keep)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    uint32_t line = 0;
    const char *file = NULL;
    if (other != NULL) {
        line = other->line;
        file = other->file;
    } else if (truth != NULL) {
        line = truth->line;
        file = truth->file;
    }
    const char *root = d->in->crash != NULL ? d->in->crash->own.source_root : NULL;
    if (file != NULL && !compare_files(file, own->file, root,
                                       claim_prints_base_names(d->table->columns[d->column].claim)))
        return arena_printf(keep, "file differs: %s:%" PRIu32 " in %s / %s:%" PRIu32 " in %s",
                            own->file != NULL ? own->file : "no file", own->line,
                            rule_engine(d, d->column), file, line, rule_engine(d, d->against));
    return arena_printf(keep, "%s is at line %" PRIu32 " in %s and at line %" PRIu32 " in %s",
                        rule_name(own->function), own->line, rule_engine(d, d->column), line,
                        rule_engine(d, d->against));
}

/* One side has no frame. TRUTH: what the other side has there if it is the truth; else NULL. */
static const char *unexplained_gap(const struct difference *d, const struct truth_frame *truth,
                                   struct arena *keep)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    const struct frame *have = own != NULL ? own : other;
    const char *mine = rule_engine(d, d->column), *theirs = rule_engine(d, d->against);
    if (have == NULL)
        return arena_printf(keep, "%s is in %s and not in %s",
                            truth != NULL ? rule_name(truth->function) : "a frame", theirs, mine);
    return arena_printf(keep, "%s at %s is in %s and not in %s", rule_name(have->function),
                        rule_where(have, keep), have == own ? mine : theirs,
                        have == own ? theirs : mine);
}

/* Describes an unexplained difference as precisely as possible. */
static const char *unexplained(const struct difference *d, struct arena *keep)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    const char *mine = rule_engine(d, d->column), *theirs = rule_engine(d, d->against);
    if (d->mark == CELL_LINE && own != NULL)
        return unexplained_line(d, keep);
    if (own == NULL || (other == NULL && truth == NULL))
        return unexplained_gap(d, truth, keep);
    const char *name = rule_name(own->function);
    if (other != NULL && strcmp(name, rule_name(other->function)) == 0)
        return arena_printf(keep, "%s is at %s in %s and at %s in %s", name, rule_where(own, keep),
                            mine, rule_where(other, keep), theirs);
    if (other == NULL && truth->tail && strcmp(name, rule_name(truth->function)) == 0)
        return arena_printf(keep, "%s has a frame at %s in %s and, according to %s, none is left",
                            name, rule_where(own, keep), mine, theirs);
    return arena_printf(keep, "%s is %s in %s and %s in %s", rule_where(own, keep), name, mine,
                        rule_name(other != NULL ? other->function : truth->function), theirs);
}

enum status difference_explain(const struct difference *d, struct arena *keep,
                               struct explanation *out, struct fault *fault)
{
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(rules) && !found; i++)
        found = rules[i](d, keep, out);
    const char *step =
        !found || out->cause == CAUSE_TRUNCATED ? rule_parting(d, keep, &out->facts.left_by) : NULL;
    if (found && step != NULL) /* which may be why it ended */
        out->evidence = arena_printf(keep, "%s; %s", out->evidence, step);
    if (!found) {
        const char *what = unexplained(d, keep);
        (void)rule_explain(out, step != NULL ? CAUSE_WRONG_STEP : CAUSE_UNEXPLAINED,
                           d->against == 0 ? d->column : 0,
                           step != NULL ? arena_printf(keep, "%s: %s", step, text_or_empty(what))
                                        : what);
    }
    if (out->evidence == NULL)
        return fault_no_memory(fault, "evidence");
    return ERR_NONE;
}

bool difference_is_excused(const struct difference *d, enum cause cause)
{
    const struct truth_frame *truth = table_truth(d->table, d->row);
    if (d->against == 0 && d->mark == CELL_MISSING && truth != NULL && truth->tail)
        return true; /* the truth says that no frame is left of it */
    if (d->against == 0)
        return cause_is_innocent(cause);
    if (cause == CAUSE_UNEXPLAINED || cause == CAUSE_WRONG_STEP)
        return false;
    return d->mark != CELL_PHYSICAL ||
           (cause != CAUSE_LOOKUP_ADDRESS && cause != CAUSE_GENERATED_CODE &&
            cause != CAUSE_NO_TOKEN && cause != CAUSE_HANDLER_CONTEXT);
}
