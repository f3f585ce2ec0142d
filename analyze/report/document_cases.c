/* Cases in the report: which fail and why, what was not shown, causes, findings. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/document.h"
#include "report/words.h"
#include "study/failures_words.h"

enum { NAMES_SHOWN = 4, ALIKE_SHOWN = 3 /* findings of a case that differ only in their place */ };

/* ---- failing -------------------------------------------------------------------------- */

struct groups_of {
    const struct run_figures *report;
    const struct case_groups *groups;
};

/* TEXT, which is NULL or begins, and one part more: "LABELPART", if there is a PART. */
static const char *add_part(const char *text, const char *label, const char *part,
                            struct arena *keep)
{
    if (text_or_empty(part)[0] == '\0')
        return text;
    return arena_printf(keep, "%s%s%s%s", text_or_empty(text), text != NULL ? " · " : "", label,
                        part);
}

/* "blame: walk of dump (9) · since run 5 (c0ffee123456), run 4 was good · in fiber.ob2 only dump is
 * right"; NULL: all unknown. */
static const char *note_of(const struct failure *f, const char *right, struct arena *keep)
{
    const char *note = add_part(NULL, "blame: ", failure_blames_text(f, keep), keep);
    note = add_part(note, "since ", failure_since_text(&f->since, keep), keep);
    note = add_part(note, "file: ", f->file, keep);
    return add_part(note, "", right, keep);
}

/* The example's reason, and which cases fail. What has no room is what is last: of few cases these
 * are named first. */
static const char *why_of(const struct run_figures *report, const struct case_group *group,
                          struct arena *keep)
{
    const char *names = text_or_empty(summary_names(report, group, NAMES_SHOWN, keep));
    char name[160];
    if (group->count <= NAMES_SHOWN)
        return arena_printf(keep, "%s: %s", names, group->reason);
    return arena_printf(keep, "e.g. %s: %s; cases: %s", case_name(group->example, name),
                        group->reason, names);
}

static void failing_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct groups_of *of = rows;
    const struct case_group *group = &of->groups->rows[at];
    const struct run_case *example = group->example;
    out->ink = INK_BAD;
    out->head = arena_printf(keep, "%s %s  %u case%s: ", verdict_glyph(example->result.verdict),
                             verdict_name(example->result.verdict), group->count,
                             group->count == 1 ? "" : "s");
    out->text = group->failure->sentence;
    out->most = 3;
    out->why_most = 2;
    out->why = why_of(of->report, group, keep);
    out->note = note_of(group->failure, summary_right(example, keep), keep);
    out->command = of->report->run->id != 0 ? summary_command(example, keep) : NULL;
    out->stands_for = group->count;
}

size_t document_failing(struct sheet *s, const struct run_figures *report,
                        const struct case_groups *failing, const char *elsewhere)
{
    const struct groups_of of = {report, failing};
    uint32_t shared = 0; /* each case in both of its problems */
    for (uint32_t i = 0; i < failing->count; i++)
        shared += failing->rows[i].failure->shared;
    if (failing->cases == 0)
        return 0;
    sheet_heading(s, "What fails",
                  arena_printf(s->keep, ", and why: %u problem%s%s", failing->count,
                               failing->count == 1 ? "" : "s",
                               failures_shared_text(failing->count, shared / 2, s->keep)));
    sheet_text(s, INK_PLAIN, 0, 2, troubles_text(report->troubles, s->keep));
    return sheet_list(s, failing_entry, &of, failing->count, "case", elsewhere);
}

static void case_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct run_case *c = ((const struct run_case *const *)rows)[at];
    char name[160];
    out->ink = INK_BAD;
    out->head = arena_printf(keep, "%s %s  ", verdict_glyph(c->result.verdict), case_name(c, name));
    out->text = c->result.reason;
    out->note = summary_right(c, keep);
}

void document_failing_cases(struct sheet *s, const struct run_figures *report)
{
    const struct run_case **rows =
        ARENA_ARRAY(s->keep, (size_t)report->case_count + 1, const struct run_case *);
    size_t count = 0;
    for (uint32_t i = 0; rows != NULL && i < report->case_count; i++)
        if (run_verdict_fails(report->cases[i].result.verdict))
            rows[count++] = &report->cases[i];
    if (count == 0)
        return;
    sheet_heading(s, "Failing cases", "");
    (void)sheet_list(s, case_entry, rows, count, "case", NULL);
}

/* ---- not shown ------------------------------------------------------------------------ */

static struct sheet_cell reason_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct case_group *group = &((const struct case_group *)rows)[at];
    if (column == 1)
        return cell_text(INK_DIM, group->reason);
    return cell_format(keep, INK_PLAIN, "%u case%s", group->count, group->count == 1 ? " " : "s");
}

static uint32_t cases_of_group(const void *rows, size_t row)
{
    return ((const struct case_group *)rows)[row].count;
}

void document_not_shown(struct sheet *s, const struct case_groups *groups)
{
    static const struct sheet_column columns[] = {{NULL, 9, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {NULL, 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    struct sheet_table table = {.columns = columns,
                                .count = 2,
                                .cell = reason_cell,
                                .thing = "case",
                                .stands_for = cases_of_group};
    if (groups->cases == 0)
        return;
    sheet_heading(s, "Not shown here", " (UNSUPPORTED: counted, never passed)");
    sheet_table(s, &table, groups->rows, groups->count);
}

static void not_shown_entry(const void *rows, size_t at, struct arena *keep,
                            struct sheet_entry *out)
{
    const struct groups_of *of = rows;
    out->head = "⊘ ";
    out->text = of->groups->rows[at].reason;
    out->note = summary_names(of->report, &of->groups->rows[at], UINT32_MAX, keep);
}

void document_not_shown_names(struct sheet *s, const struct run_figures *report,
                              const struct case_groups *groups)
{
    const struct groups_of of = {report, groups};
    if (groups->count == 0)
        return;
    sheet_heading(s, "Not shown here", ", with names");
    (void)sheet_list(s, not_shown_entry, &of, groups->count, "reason", NULL);
}

/* ---- causes --------------------------------------------------------------------------- */

static struct sheet_cell cause_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct cause_total *sum = ((const struct cause_total *const *)rows)[at];
    char name[160];
    if (column == 0)
        return cell_text(sum->failing > 0 ? INK_BAD : INK_PLAIN, cause_name(sum->example->cause));
    if (column == 1)
        return cell_format(keep, INK_PLAIN, "%u in %u case%s, %u failing", sum->findings,
                           sum->cases, sum->cases == 1 ? "" : "s", sum->failing);
    return cell_format(keep, INK_DIM, "%s, %s: %s", case_name(sum->where, name),
                       sum->example->engine, text_or_empty(sum->example->evidence));
}

/* "18 causes in cases that do not fail: optimised tail 12, end of stack 3": by their findings. */
static const char *harmless_text(const struct cause_total *totals, struct arena *keep)
{
    const char *names = NULL;
    uint32_t count = 0;
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (totals[c].findings > 0 && totals[c].failing == 0) {
            names = arena_printf(keep, "%s%s%s %u", names != NULL ? names : "",
                                 names != NULL ? ", " : "", cause_name(totals[c].example->cause),
                                 totals[c].findings);
            count++;
        }
    if (count == 0)
        return NULL;
    return arena_printf(keep, "%u cause%s in cases that do not fail, with findings: %s", count,
                        count == 1 ? "" : "s", text_or_empty(names));
}

void document_causes(struct sheet *s, const struct run_figures *report, bool all)
{
    static const struct sheet_column columns[] = {{NULL, 17, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"findings", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"for example", 0, 0, SHEET_ALWAYS, SHEET_WRAP}};
    const struct cause_total *totals = report->sums->causes, *rows[CAUSE_COUNT];
    size_t count = 0;
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (totals[c].findings > 0 && (all || totals[c].failing > 0))
            rows[count++] = &totals[c];
    sheet_heading(s, "Where stacks differ", ", by cause");
    if (report->sums->findings == 0)
        sheet_text(s, INK_GOOD, 0, 0, "nowhere: every stack agrees");
    if (count > 0)
        sheet_show(s, columns, 3, cause_cell, rows, count);
    if (!all)
        sheet_text(s, INK_DIM, 0, 0, harmless_text(totals, s->keep));
}

static void refused_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct refused_snapshot *refused = &((const struct refused_snapshot *)rows)[at];
    char name[160];
    out->head =
        arena_printf(keep, "%s, %s: ", case_name(refused->where, name), refused->finding->engine);
    out->text = refused->finding->evidence;
}

void document_refused(struct sheet *s, const struct run_figures *report)
{
    const struct refused_snapshot *refused = report->sums->refused;
    const uint32_t count = report->sums->refused_count;
    const uint32_t shown = count < REFUSED_SHOWN ? count : REFUSED_SHOWN;
    if (count == 0)
        return;
    sheet_heading(s, "Snapshots that the .NET runtime refused", "");
    (void)sheet_list(s, refused_entry, refused, shown, "snapshot", NULL);
    if (count > shown)
        sheet_textf(s, INK_DIM, "and %u more", count - shown);
    for (uint32_t i = 0; i < report->engine_count; i++)
        if (strcmp(report->engines[i].engine, refused[shown - 1].finding->engine) == 0 &&
            report->engines[i].shares != NULL)
            sheet_textf(s, INK_DIM, "%s: %s", report->engines[i].engine, report->engines[i].shares);
}

/* ---- findings ------------------------------------------------------------------------- */

/* True when two findings of a case say the same; with EVIDENCE, about the same place. */
static bool is_alike(const struct finding *a, const struct finding *b, bool evidence)
{
    return a->cause == b->cause && a->level == b->level && a->blame == b->blame &&
           a->fails == b->fails && strcmp(a->engine, b->engine) == 0 &&
           text_equal(a->against, b->against) && text_equal(a->wrong, b->wrong) &&
           text_equal(a->witnesses, b->witnesses) &&
           (!evidence || text_equal(a->evidence, b->evidence));
}

/* Findings from FROM on that are like the first one there. */
static uint32_t count_alike(const struct case_result *r, uint32_t from, bool evidence)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < r->finding_count; i++)
        count += is_alike(&r->findings[from], &r->findings[i], evidence);
    return count;
}

static bool was_met(const struct case_result *r, uint32_t at, bool evidence)
{
    for (uint32_t i = 0; i < at; i++)
        if (is_alike(&r->findings[i], &r->findings[at], evidence))
            return true;
    return false;
}

struct finding_of {
    const struct run_case *c;
    const struct finding *finding;
    uint32_t times;
};

static void finding_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct finding_of *of = &((const struct finding_of *)rows)[at];
    const struct finding *f = of->finding;
    char name[160], blame[BLAME_TEXT_BYTES];
    const bool blamed = f->blame != BLAME_UNKNOWN && (f->blame != BLAME_EVEN || f->wrong == NULL);
    const char *what = f->wrong != NULL ? ", wrong: " : "";
    if (blamed)
        what = ", blame: ";
    out->ink = f->fails ? INK_BAD : INK_PLAIN;
    out->head = arena_printf(keep, "%s  ", case_name(of->c, name));
    out->text =
        arena_printf(keep, "%s against %s, %s level: %s%s%s%s%s", f->engine, f->against,
                     finding_level_name(f->level), cause_name(f->cause), what,
                     blamed ? finding_blame_text(f, blame) : text_or_empty(f->wrong),
                     f->witnesses != NULL ? ", according to " : "", text_or_empty(f->witnesses));
    out->note = of->times > 1
                    ? arena_printf(keep, "%s (%u times)", text_or_empty(f->evidence), of->times)
                    : f->evidence;
}

/* A deep recursion has the same finding hundreds of times: it is printed once, with its count, and
 * of findings that differ only in their place the first few. */
static void print_findings(struct sheet *s, const struct run_case *c)
{
    const struct case_result *r = &c->result;
    for (uint32_t first = 0; first < r->finding_count; first++) {
        struct finding_of shown[ALIKE_SHOWN];
        uint32_t count = 0, counted = 0;
        if (was_met(r, first, false))
            continue;
        for (uint32_t f = first; f < r->finding_count && count < ALIKE_SHOWN; f++) {
            if (!is_alike(&r->findings[first], &r->findings[f], false) || was_met(r, f, true))
                continue;
            shown[count] = (struct finding_of){c, &r->findings[f], count_alike(r, f, true)};
            counted += shown[count++].times;
        }
        (void)sheet_list(s, finding_entry, shown, count, "finding", NULL);
        const uint32_t all = count_alike(r, first, false);
        if (all > counted)
            sheet_textf(s, INK_DIM, "  and %u more findings like %s", all - counted,
                        count == 1 ? "this one" : "these");
    }
}

enum status document_findings(struct sheet *s, const struct run_figures *report,
                              struct fault *fault)
{
    struct arena own, *const keep = s->keep;
    struct case_window w;
    arena_init(&own, 0);
    s->keep = &own;
    sheet_heading(s, "Every finding", "");
    case_window_open(&w, report, CASE_FINDINGS, fault);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        if (c != NULL)
            print_findings(s, c);
        arena_reset(&own);
    }
    case_window_close(&w);
    s->keep = keep;
    arena_free(&own);
    return fault->code;
}
