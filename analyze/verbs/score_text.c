/* See score_text.h. */
#include "verbs/score_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "suite/suite_case.h"

enum { SHOWN = 5, CHANGES_SHOWN = 20 };

static void print_head(const struct suite *suite, const struct score *score, struct arena *keep)
{
    const char *const *can = score->name.can;
    (void)printf("%s %s, suite %s: %" PRIu32 " cases in %.1f s\n", score->name.name,
                 score->name.version, suite->edition, suite->count, (double)score->wall_ns / 1e9);
    for (; can != NULL && *can != NULL; can++) {
        const char *sum = result_sum(suite, score, *can, keep);
        (void)printf("%s: %s\n", *can, sum != NULL ? sum : "no case here");
    }
    if (suite->not_asked > 0)
        (void)printf("not asked: %" PRIu32 " cases of other kinds\n", suite->not_asked);
}

static void print_titles(const char *capability, int width)
{
    (void)printf("\n%-*s", width, capability);
    for (int k = 0; k < SUITE_OUTCOMES; k++)
        (void)printf(" %11s", suite_outcome_name((enum suite_outcome)k));
    (void)printf("\n");
}

/* A table per capability that the contestant has: the head says enough of the others. */
static void print_rows(const struct contestant_name *name, const struct result_row *rows,
                       uint32_t count)
{
    const char *shown = NULL;
    int width = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *position = rows[i].position;
        const int wide =
            (int)(strlen(rows[i].shape) + (position != NULL ? strlen(position) + 1 : 0));
        const int title = (int)strlen(rows[i].capability);
        width = wide > width ? wide : width;
        width = title > width ? title : width;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *position = rows[i].position;
        if (!contestant_can(name, rows[i].capability))
            continue;
        if (shown == NULL || strcmp(shown, rows[i].capability) != 0)
            print_titles(rows[i].capability, width);
        shown = rows[i].capability;
        const int used = printf("%s%s%s", rows[i].shape, position != NULL ? " " : "",
                                position != NULL ? position : "");
        (void)printf("%*s", width - used, "");
        for (int k = 0; k < SUITE_OUTCOMES; k++)
            if (rows[i].counts[k] > 0)
                (void)printf(" %11" PRIu32, rows[i].counts[k]);
            else
                (void)printf(" %11s", k == SUITE_RIGHT ? "0" : "-");
        (void)printf("\n");
    }
}

static void print_logical(const char *who, const struct suite_walk *walk)
{
    if (walk->count == 0)
        (void)printf("  %-9s nothing\n", who);
    for (uint32_t i = 0; i < walk->count && i < 8; i++) {
        const struct suite_frame *f = &walk->frames[i];
        (void)printf("  %-9s %s %s:%" PRIu32 "%s\n", i == 0 ? who : "",
                     f->function.count > 0 ? f->function.names[0] : "?",
                     f->file.count > 0 ? f->file.names[0] : "?", f->line,
                     f->inlined == SUITE_INLINED ? " inlined" : "");
    }
}

static void print_walk(enum suite_kind kind, const char *who, const struct suite_walk *walk,
                       bool with_sp)
{
    if (kind == SUITE_ADDRESS) {
        print_logical(who, walk);
        return;
    }
    (void)printf("  %-9s", who);
    for (uint32_t i = 0; i < walk->count && i < 8; i++)
        if (with_sp && walk->frames[i].sp != SUITE_NO_SP)
            (void)printf(" %" PRIx64 " sp %" PRIx64, walk->frames[i].ip, walk->frames[i].sp);
        else
            (void)printf(" %" PRIx64, walk->frames[i].ip);
    const char *end = walk->count == 0 ? " nothing" : "";
    (void)printf("%s\n", walk->count > 8 ? " ..." : end);
}

/* Whether only the stack pointers show what is wrong. */
static bool is_about_sp(const struct suite_case *c, const struct suite_answer *answer)
{
    const uint32_t at = answer->first;
    if (answer->outcome != SUITE_WRONG || c->kind == SUITE_ADDRESS || c->walk_count == 0)
        return false;
    const struct suite_walk *truth = &c->walks[0], *said = &answer->walk;
    return at < truth->count && at < said->count && truth->frames[at].ip == said->frames[at].ip;
}

static void print_case(const struct suite_case *c, const struct suite_answer *answer,
                       const struct score_style *style)
{
    const bool with_sp = is_about_sp(c, answer);
    (void)printf("\n%s  %s\n", suite_outcome_name(answer->outcome), c->id);
    (void)printf("  %-9s %s%s%s\n", "rule", c->rule, c->rule_url != NULL ? ", " : "",
                 text_or_empty(c->rule_url));
    if (answer->words != NULL)
        (void)printf("  %-9s %s\n", "because", answer->words);
    for (uint32_t i = 0; i < c->walk_count; i++)
        print_walk(c->kind, i == 0 ? "truth" : "or", &c->walks[i], with_sp);
    if (answer->outcome == SUITE_EARLY || answer->outcome == SUITE_WRONG)
        print_walk(c->kind, "answer", &answer->walk, with_sp);
    (void)printf("  %-9s twinstack score --cmd '%s'%s%s -k %s --details\n", "again", style->command,
                 style->folder != NULL ? " --suite " : "", text_or_empty(style->folder), c->id);
}

static bool is_shown(const struct suite *suite, const struct score *score, uint32_t at,
                     bool details)
{
    const enum suite_outcome outcome = score->answers[at].outcome;
    if (outcome == SUITE_RIGHT || (outcome == SUITE_UNSUPPORTED && !details))
        return false;
    for (uint32_t i = 0; !details && i < at; i++)
        if (score->answers[i].outcome == outcome &&
            strcmp(suite->cases[i].shape, suite->cases[at].shape) == 0 &&
            strcmp(suite->cases[i].position, suite->cases[at].position) == 0)
            return false; /* the first of its kind is shown */
    return true;
}

enum status score_text(const struct suite *suite, const struct score *score,
                       const struct score_style *style, struct arena *keep, struct fault *fault)
{
    struct result_row *rows = NULL;
    uint32_t count = 0, shown = 0, more = 0;
    print_head(suite, score, keep);
    if (result_rows(suite, score, style->details, keep, &rows, &count, fault) != ERR_NONE)
        return fault->code;
    print_rows(&score->name, rows, count);
    for (uint32_t i = 0; i < suite->count; i++) {
        if (!is_shown(suite, score, i, style->details))
            continue;
        if (style->details || shown < SHOWN) {
            print_case(&suite->cases[i], &score->answers[i], style);
            shown++;
        } else {
            more++;
        }
    }
    if (more > 0)
        (void)printf("\nand %" PRIu32 " more shapes and positions: --details\n", more);
    return ERR_NONE;
}

static void print_changes(const char *word, const struct result_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < CHANGES_SHOWN; i++)
        (void)printf("%s  %s: %s, was %s\n", word, changes[i].of->id,
                     suite_outcome_name(changes[i].now), suite_outcome_name(changes[i].before));
    if (count > CHANGES_SHOWN)
        (void)printf("%s  and %" PRIu32 " more\n", word, count - CHANGES_SHOWN);
}

void score_text_difference(const struct result_difference *difference)
{
    (void)printf("\nagainst version %s: %" PRIu32 " worse, %" PRIu32 " better of %" PRIu32
                 " cases that both have\n",
                 text_or_empty(difference->version), difference->worse_count,
                 difference->better_count, difference->compared);
    print_changes("worse", difference->worse, difference->worse_count);
    print_changes("better", difference->better, difference->better_count);
}
