/* Says in one sentence what differs between two runs: see difference.h. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "study/difference.h"

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

/* The cases of all clusters that have the blame of cluster AT. */
static uint32_t cases_of_blame(const struct difference *d, uint32_t at)
{
    uint32_t cases = 0;
    for (uint32_t i = 0; i < d->cluster_count; i++)
        if (strcmp(d->clusters[i].blame, d->clusters[at].blame) == 0)
            cases += d->clusters[i].cases;
    return cases;
}

/* What a blame means to someone who reads it for the first time; NULL: nothing. */
static const char *meaning_of(const struct cluster *c)
{
    static const char *const meanings[BLAME_COUNT] = {
        [BLAME_SYMBOLS_SHARED] = "the symbol lookup that all engines of ours share",
        [BLAME_DUMP_READER] = "what reads the dump's modules, threads and memory",
        [BLAME_RECORD] = "what the capture wrote into the record",
        [BLAME_TRUTH] = "the stack that the test program states for itself",
        [BLAME_ALIGNMENT] = "the comparison itself: no frame differs",
    };
    if (c->finding == NULL)
        return NULL;
    const enum engine_kind kind = engine_kind_of(c->finding->blame_engine);
    if (c->finding->blame == BLAME_WALK && kind == ENGINE_KIND_DUMP)
        return "our unwinder, which walks the dump";
    if (c->finding->blame == BLAME_WALK && kind == ENGINE_KIND_OFFSET)
        return "the walk inside the dying process";
    return meanings[c->finding->blame];
}

const char *difference_headline(const struct difference *d, struct arena *keep)
{
    uint32_t broke = 0, most = 0;
    if (d->cluster_count == 0)
        return NULL;
    for (uint32_t i = 0; i < d->cluster_count; i++) {
        broke += d->clusters[i].cases;
        if (cases_of_blame(d, i) > cases_of_blame(d, most))
            most = i;
    }
    const struct cluster *c = &d->clusters[most];
    const uint32_t cases = cases_of_blame(d, most);
    const bool blamed = c->blame[0] != '\0' && c->finding->blame != BLAME_EVEN;
    const char *text = blamed
                           ? arena_printf(keep, "%" PRIu32 " case%s broke. Blame: %s", broke,
                                          plural(broke), c->blame)
                           : arena_printf(keep, "%" PRIu32 " case%s broke, no engine to blame: %s",
                                          broke, plural(broke), c->reason);
    if (text != NULL && meaning_of(c) != NULL)
        text = arena_printf(keep, "%s (%s)", text, meaning_of(c));
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
