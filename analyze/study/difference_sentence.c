/* Says in one sentence what differs between two runs: see run_difference.h. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "study/run_difference.h"

struct sentence {
    char *text; /* of DIFFERENCE_SENTENCE_BYTES */
    size_t bytes;
    uint32_t parts; /* since the last start */
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(struct sentence *s, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const size_t room = DIFFERENCE_SENTENCE_BYTES - s->bytes;
    const int wrote = vsnprintf(s->text + s->bytes, room, format, values);
    va_end(values);
    if (wrote > 0)
        s->bytes += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

static const char *separator(struct sentence *s)
{
    return s->parts++ == 0 ? "" : ", ";
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_cases(struct sentence *s, const struct run_diff *d)
{
    static const struct {
        enum diff_group group;
        const char *one, *many; /* what COUNT cases do */
    } groups[] = {
        {DIFF_NEW, "case fails that did not", "cases fail that did not"},
        {DIFF_FIXED, "case is fixed", "cases are fixed"},
        {DIFF_CHANGED, "case differs for another reason", "cases differ for another reason"},
        {DIFF_ACCEPTED, "case that failed is accepted", "cases that failed are accepted"},
        {DIFF_ADDED, "case is only in the later run", "cases are only in the later run"},
        {DIFF_GONE, "case is gone", "cases are gone"},
    };
    s->parts = 0;
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        const uint32_t count = d->counts[groups[i].group];
        if (count > 0)
            append(s, "%s%" PRIu32 " %s", separator(s), count,
                   count == 1 ? groups[i].one : groups[i].many);
    }
    if (s->parts == 0)
        append(s, "no verdict differs");
    if (d->counts[DIFF_STILL] > 0)
        append(s, " (%" PRIu32 " fail%s as before)", d->counts[DIFF_STILL],
               d->counts[DIFF_STILL] == 1 ? "s" : "");
}

static void add_times(struct sentence *s, const struct run_diff *d)
{
    uint32_t judged = 0;
    s->parts = 0;
    for (uint32_t i = 0; i < d->time_count; i++) {
        const struct diff_time *t = &d->times[i];
        if (!t->subject || t->cases == 0 || t->change.change == CHANGE_TOO_FEW)
            continue;
        judged++;
        if (t->change.change == CHANGE_TOO_NOISY)
            append(s, "%s%s is too noisy to judge", s->parts++ == 0 ? "; " : ", ", t->engine);
        else if (t->change.change != CHANGE_NONE)
            append(s, "%s%s is %.0f %% %s", s->parts++ == 0 ? "; " : ", ", t->engine,
                   100 * fabs(t->change.effect),
                   t->change.change == CHANGE_SLOWER ? "slower" : "faster");
    }
    if (judged == 0)
        append(s, "; too few samples to compare times");
    else if (s->parts == 0)
        append(s, "; no engine under test is slower or faster");
}

static void add_facts(struct sentence *s, const struct run_diff *d)
{
    enum { NAMED = 3 };
    s->parts = 0;
    if (d->fact_count == 0)
        return;
    append(s, "; not the same around them: ");
    for (uint32_t i = 0; i < d->fact_count && i < NAMED; i++)
        append(s, "%s%.40s", separator(s), d->facts[i].name);
    if (d->fact_count > NAMED)
        append(s, " and %" PRIu32 " more fact%s", d->fact_count - NAMED,
               plural(d->fact_count - NAMED));
}

const char *difference_sentence(const struct difference *d, char out[DIFFERENCE_SENTENCE_BYTES])
{
    struct sentence s = {.text = out};
    append(&s, "From run %" PRIu64 " to run %" PRIu64 ": ", d->a->id, d->b->id);
    add_cases(&s, &d->diff);
    add_times(&s, &d->diff);
    add_facts(&s, &d->diff);
    append(&s, ".");
    return out;
}

/* The blame of most cases, over all groups, and of how many; NULL: no engine is blamed. */
static const char *most_blamed(const struct difference *d, uint32_t *cases)
{
    const char *most = NULL;
    *cases = 0;
    for (uint32_t i = 0; i < d->clusters.count; i++)
        for (uint32_t b = 0; b < d->clusters.rows[i].blame_count; b++) {
            const char *blame = d->clusters.rows[i].blames[b].text;
            uint32_t sum = 0;
            for (uint32_t k = 0; k < d->clusters.count; k++)
                for (uint32_t n = 0; n < d->clusters.rows[k].blame_count; n++)
                    if (strcmp(d->clusters.rows[k].blames[n].text, blame) == 0)
                        sum += d->clusters.rows[k].blames[n].cases;
            if (sum > *cases) {
                *cases = sum;
                most = blame;
            }
        }
    return most;
}

/* What a blame means to someone who reads it for the first time; NULL: nothing. */
static const char *meaning_of(const struct finding *f)
{
    static const char *const meanings[BLAME_COUNT] = {
        [BLAME_SYMBOLS_SHARED] = "the symbol lookup that all engines of ours share",
        [BLAME_DUMP_READER] = "what reads the dump's modules, threads and memory",
        [BLAME_RECORD] = "what the capture wrote into the record",
        [BLAME_TRUTH] = "the stack that the test program states for itself",
        [BLAME_ALIGNMENT] = "the comparison itself: no frame differs",
    };
    const enum engine_kind kind = engine_kind_of(f->blame_engine);
    if (f->blame == BLAME_WALK && kind == ENGINE_KIND_DUMP)
        return "our unwinder, which walks the dump";
    if (f->blame == BLAME_WALK && kind == ENGINE_KIND_OFFSET)
        return "the walk inside the dying process";
    return meanings[f->blame];
}

const char *difference_headline(const struct difference *d, struct arena *keep)
{
    uint32_t broke = d->clusters.cases, cases = 0;
    if (d->clusters.count == 0)
        return NULL;
    const struct failure *c = &d->clusters.rows[0]; /* the largest group */
    const char *blame = most_blamed(d, &cases);
    struct finding blamed = {.blame = BLAME_UNKNOWN};
    finding_blame_parse(blame, &blamed);
    if (blamed.blame == BLAME_UNKNOWN || blamed.blame == BLAME_EVEN) {
        blame = NULL;
        cases = c->cases;
    }
    const char *text =
        blame != NULL
            ? arena_printf(keep, "%" PRIu32 " case%s broke. Blame: %s", broke, plural(broke), blame)
            : arena_printf(keep, "%" PRIu32 " case%s broke, no engine to blame: %s", broke,
                           plural(broke), text_or_empty(c->example->reason));
    if (text != NULL && blame != NULL && meaning_of(&blamed) != NULL)
        text = arena_printf(keep, "%s (%s)", text, meaning_of(&blamed));
    if (text != NULL && cases < broke)
        text = arena_printf(keep, "%s, for %" PRIu32 " of them", text, cases);
    if (text != NULL && c->since.good_run != 0 && c->since.failing_commit != NULL &&
        c->since.good_commit != NULL)
        text = arena_printf(keep, "%s. Since commit %.12s; %.12s was good", text,
                            c->since.failing_commit, c->since.good_commit);
    else if (text != NULL && c->since.good_run != 0)
        text = arena_printf(keep, "%s. Since run %" PRIu64 "; run %" PRIu64 "%s was good", text,
                            c->since.failing_run, c->since.good_run,
                            c->since.good_elsewhere ? " of the other database" : "");
    return text != NULL ? arena_printf(keep, "%s.", text) : NULL;
}
