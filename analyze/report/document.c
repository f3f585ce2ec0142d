/* The report for people: the answer first, then what fails by mechanism and place, and how right
 * and how fast each way is; then the cases that deviate, causes and hooks. Of a stored run, those
 * find room on one screen or are named: see struct room. With details everything. Markdown has the
 * same parts, and all cases folded away. */
#include "report/document.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/words.h"
#include "study/lanes.h"

enum {
    PROBLEMS_SHOWN = 3,
    REASON_LINES = 3,
    FAILING_LEAST = 16,  /* lines of WHAT FAILS that nothing takes away: two groups, and how many
                            more there are */
    NOT_SHOWN_LEAST = 5, /* likewise of NOT SHOWN HERE: two reasons */
    NOT_SHOWN_ONE = 4,   /* one reason, whatever the rest takes */
    DEFAULT_MAX_BYTES = 1000000
};

static const char below[] = ", listed below";

/* Lines of a terminal for the whole and for its end: what is left out, the command that shows more,
 * and after a failure the verdict again. A green `./run` prints five lines more, and has 41. What
 * was never stored, as `check` shows it, has all parts below the top. */
struct room {
    uint32_t all, end;
};
static const struct room green = {36, 3}, red = {60, 6};

/* ---- verdict -------------------------------------------------------------------------- */

static bool fails(const struct run_figures *report)
{
    return figures_failing(report) > 0 || report->problem_count > 0;
}

/* "13 cases: 12 PASS, 1 FAIL". */
static const char *counts_text(const struct run_figures *report, struct arena *keep)
{
    const char *text =
        arena_printf(keep, "%u case%s:", report->total_cases, report->total_cases == 1 ? "" : "s");
    bool first = true;
    for (int v = 0; v < VERDICT_COUNT && text != NULL; v++)
        if (report->verdicts[v] > 0) {
            text = arena_printf(keep, "%s%s %u %s", text, first ? "" : ",", report->verdicts[v],
                                verdict_name((enum verdict)v));
            first = false;
        }
    if (text != NULL && report->run->state == RUN_INTERRUPTED)
        text = arena_printf(keep, "%s%s interrupted", text, first ? "" : ",");
    return text;
}

/* A run that judged no case has no verdict. */
static void put_no_verdict(struct sheet *s, const struct run_figures *report)
{
    const char *text = text_equal(report->run->label, RUN_LABEL_BENCH)
                           ? "no verdict: a bench times both ways, and judges no case"
                           : "no verdict: no case was judged";
    if (s->markdown)
        sheet_raw(s, "## twinstack: no verdict\n");
    else
        page_cell(&s->page, INK_PLAIN, 7, "-");
    sheet_text(s, INK_PLAIN, s->markdown ? 0 : 7, 0, text);
}

/* The first line of both, and the last one of a terminal. */
static void put_verdict(struct sheet *s, const struct run_figures *report)
{
    const bool bad = fails(report);
    if (!bad && report->total_cases == 0) {
        put_no_verdict(s, report);
        return;
    }
    const char *word = bad ? "FAIL" : "PASS";
    if (s->markdown) {
        const char *good = lanes_not_run(report, s->keep) == NULL ? "✅" : "⚠️";
        const char *sign = bad ? "❌" : good;
        const char *title =
            arena_printf(s->keep, "## %s twinstack: %s, %u of %u cases fail%s\n", sign, word,
                         figures_failing(report), report->total_cases,
                         report->run->state == RUN_INTERRUPTED ? ", interrupted" : "");
        sheet_raw(s, title != NULL ? title : "");
        sheet_text(s, INK_PLAIN, 0, 0, counts_text(report, s->keep));
        return;
    }
    page_cell(&s->page, bad ? INK_BAD : INK_GOOD, 7, word);
    sheet_text(s, INK_PLAIN, 7, 0, counts_text(report, s->keep));
}

/* What a reader would otherwise take for run and right. */
static void put_not_run(struct sheet *s, const struct run_figures *report)
{
    const char *text = lanes_not_run(report, s->keep);
    if (text != NULL)
        sheet_text(s, INK_BAD, 7, REASON_LINES, arena_printf(s->keep, "NOT RUN: %s", text));
}

static void problem_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    (void)keep;
    out->ink = INK_BAD;
    out->head = "✗      ";
    out->text = ((const char *const *)rows)[at];
    out->most = REASON_LINES;
}

static void put_problems(struct sheet *s, const struct run_figures *report)
{
    const uint32_t all = report->problem_count;
    const uint32_t shown = s->markdown || all < PROBLEMS_SHOWN ? all : PROBLEMS_SHOWN;
    (void)sheet_list(s, problem_entry, report->problems, shown, "problem", NULL);
    if (all > shown)
        sheet_textf(s, INK_PLAIN, "       and %u more problems of the run as a whole", all - shown);
}

static void put_run(struct sheet *s, const struct run_info *run)
{
    char when[32];
    const char *parts[] = {run->platform, run->compiler, run->cpu};
    const char *all = NULL;
    const bool plain = run->label == NULL || run_has_run_label(run);
    const char *title = run->id != 0
                            ? arena_printf(s->keep, "twinstack run %" PRIu64 "%s%s", run->id,
                                           plain ? "" : ", ", plain ? "" : run->label)
                            : /* never stored: `check` */
                            arena_printf(s->keep, "twinstack %s", text_or_empty(run->label));
    const char *state = run->state != RUN_COMPLETE ? run_state_name(run->state) : NULL;
    const char *line = arena_printf(
        s->keep, "%s%s%s%s%s%s%s%.12s%s%s", title != NULL ? title : "",
        run->started_ns != 0 ? "  " : "",
        run->started_ns != 0 ? time_text(run->started_ns, when) : "", state != NULL ? "  (" : "",
        state != NULL ? state : "", state != NULL ? ")" : "", run->commit != NULL ? "  " : "",
        run->commit != NULL ? run->commit : "", run->branch != NULL ? " " : "",
        run->branch != NULL ? run->branch : "");
    sheet_text(s, INK_PLAIN, 0, 2, line);
    for (size_t i = 0; i < 3; i++)
        if (parts[i] != NULL)
            all = arena_printf(s->keep, "%s%s%s", all != NULL ? all : "", all != NULL ? " · " : "",
                               parts[i]);
    sheet_text(s, INK_DIM, 0, 2, all);
}

/* Only where builds differ in what runs them. */
static void put_counts(struct sheet *s, const struct run_figures *report)
{
    const char *text = lanes_counts(report, s->keep);
    if (text != NULL && strchr(text, ',') != NULL)
        sheet_text(s, INK_DIM, 0, 2, arena_printf(s->keep, "cases run: %s", text));
}

/* ---- the top -------------------------------------------------------------------------- */

/* What the top left out, so that it is listed below. */
struct cut {
    bool failing, engines;
};

static void put_head(struct sheet *s, const struct run_figures *report)
{
    put_verdict(s, report);
    put_not_run(s, report);
    put_problems(s, report);
    put_run(s, report->run);
    put_counts(s, report);
}

static uint32_t at_most(uint32_t number, uint32_t most)
{
    return number < most ? number : most;
}

/* Lines that each part would take, whole. */
struct needs {
    uint32_t failing, engines, speed /* with both ways */, not_shown;
    bool both; /* ways have a judged case in common */
};

static struct needs measure(const struct sheet *s, const struct run_figures *report,
                            const struct summary *summary)
{
    struct sheet dry;
    struct needs out;
    sheet_count(&dry, s);
    dry.most_lines = 0;
    dry.lines = 0;
    (void)document_failing(&dry, report, &summary->failing, NULL);
    out.failing = dry.lines;
    (void)document_engines(&dry, report, 0);
    out.engines = dry.lines - out.failing;
    out.both = document_accuracy(&dry, report);
    document_speed(&dry, report, false, 0);
    out.speed = dry.lines - out.failing - out.engines;
    document_not_shown(&dry, &summary->not_shown);
    out.not_shown = dry.lines - out.failing - out.engines - out.speed;
    return out;
}

static uint32_t engines_with_stacks(const struct run_figures *report)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->engine_count; i++)
        count += report->engines[i].stacks > 0;
    return count;
}

/* How many rows the table of engines gets: all if that leaves the other parts their least. */
static uint32_t engine_rows(uint32_t left, const struct needs *needs, uint32_t engines)
{
    const uint32_t others =
        at_most(needs->failing, FAILING_LEAST) + at_most(needs->not_shown, NOT_SHOWN_LEAST);
    const uint32_t room = left > others ? left - others : 0;
    if (needs->engines <= room)
        return engines;
    const uint32_t less = needs->engines + 1 - room; /* 1: says how many are left out */
    return less < engines ? engines - less : 1;
}

static struct cut put_top(struct sheet *s, const struct run_figures *report,
                          const struct summary *summary, const struct room *room)
{
    const struct needs needs = measure(s, report, summary);
    const uint32_t used = s->lines + needs.speed, engines = engines_with_stacks(report);
    const uint32_t most = room->all - room->end, left = used < most ? most - used : 0;
    const uint32_t rows = engine_rows(left, &needs, engines);
    uint32_t of_engines = needs.engines;
    if (rows != engines)
        of_engines = needs.both ? 0 : needs.engines - (engines - rows - 1);
    const uint32_t kept = of_engines + at_most(needs.not_shown, NOT_SHOWN_LEAST);
    const uint32_t of_failing = left > kept ? left - kept : 0;
    struct cut cut;
    s->most_lines = s->lines + (of_failing > FAILING_LEAST ? of_failing : FAILING_LEAST);
    cut.failing =
        document_failing(s, report, &summary->failing, report->run->id == 0 ? below : NULL) > 0;
    s->most_lines = 0;
    (void)document_accuracy(s, report);
    cut.engines = needs.both && rows < engines; /* the two that decide are above */
    if (!cut.engines)
        cut.engines = document_engines(s, report, rows) > 0;
    document_speed(s, report, false, most - at_most(needs.not_shown, NOT_SHOWN_ONE));
    s->most_lines = s->lines + NOT_SHOWN_ONE > most ? s->lines + NOT_SHOWN_ONE : most;
    document_not_shown(s, &summary->not_shown);
    s->most_lines = 0;
    return cut;
}

/* ---- the whole ------------------------------------------------------------------------ */

/* After a long report, its last lines are what a terminal shows. LEFT_OUT: parts; "" if none. */
static void put_end(struct sheet *s, const struct run_figures *report,
                    const struct report_style *style, const char *left_out)
{
    const bool long_one = style->details || report->run->id == 0;
    page_line(&s->page);
    if (long_one || fails(report))
        put_verdict(s, report);
    if (long_one)
        return;
    if (left_out[0] != '\0')
        sheet_text(s, INK_DIM, 0, 2, arena_printf(s->keep, "not shown: %s", left_out));
    sheet_textf(s, INK_DIM,
                "`twinstack report %" PRIu64
                "%s%s --details` shows every case and finding, hooks and times",
                report->run->id, style->db != NULL ? " --db " : "",
                style->db != NULL ? style->db : "");
}

/* A part after the top: what it is called when there is no room for it, and how it is written. */
enum rest { REST_ENGINES, REST_GRID, REST_CASES, REST_CAUSES, REST_HOOKS, RESTS };
static const char *const rests[RESTS] = {"all engines", "cases that deviate", "failing cases",
                                         "causes", "hooks"};

static enum status put_rest(struct sheet *s, const struct run_figures *report, enum rest rest,
                            bool details, struct fault *fault)
{
    if (rest == REST_ENGINES)
        (void)document_engines(s, report, DOCUMENT_ALL_AGAIN);
    else if (rest == REST_GRID)
        return document_grid(s, report, details, fault);
    else if (rest == REST_CASES)
        document_failing_cases(s, report);
    else if (rest == REST_CAUSES)
        document_causes(s, report, details || report->run->id == 0);
    else
        document_hooks(s, report, details);
    return fault->code;
}

/* Returns the names of the parts that find no room; NULL: no memory, or FAULT is set. */
static const char *put_rests(struct sheet *s, const struct run_figures *report,
                             const struct report_style *style, const struct room *room,
                             const struct cut *cut, struct fault *fault)
{
    const bool wanted[RESTS] = {[REST_ENGINES] = cut->engines,
                                [REST_GRID] = true,
                                [REST_CASES] = cut->failing || style->details,
                                [REST_CAUSES] = true,
                                [REST_HOOKS] = true};
    const bool limited = report->run->id != 0 && !style->details;
    const char *left_out = "";
    for (int rest = 0; rest < RESTS && left_out != NULL; rest++) {
        struct sheet dry;
        if (!wanted[rest])
            continue;
        if (limited) {
            sheet_count(&dry, s);
            if (put_rest(&dry, report, (enum rest)rest, false, fault) != ERR_NONE)
                return NULL;
            if (dry.lines + room->end > room->all) {
                left_out = arena_printf(s->keep, "%s%s%s", left_out,
                                        left_out[0] != '\0' ? ", " : "", rests[rest]);
                continue;
            }
        }
        if (put_rest(s, report, (enum rest)rest, style->details, fault) != ERR_NONE)
            return NULL;
    }
    if (left_out == NULL)
        (void)fault_no_memory(fault, "report");
    return left_out;
}

static enum status put_details(struct sheet *s, const struct run_figures *report,
                               const struct summary *summary, struct fault *fault)
{
    document_not_shown_names(s, report, &summary->not_shown);
    if (document_findings(s, report, fault) != ERR_NONE ||
        document_timing(s, report, fault) != ERR_NONE)
        return fault->code;
    document_shared(s, report);
    document_symbols(s, report);
    document_managed(s, report);
    document_refused(s, report);
    return fault->code;
}

enum status report_text(const struct run_figures *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault)
{
    const struct page page = {out, style->color, style->columns == 0 ? 100 : style->columns, NULL};
    struct summary summary;
    struct sheet s;
    if (summary_make(report, scratch, &summary, fault) != ERR_NONE)
        return fault->code;
    sheet_on_page(&s, &page, scratch);
    put_head(&s, report);
    if (report->total_cases == 0)
        return ERR_NONE;
    const struct room *room = fails(report) || report->run->id == 0 ? &red : &green;
    const struct cut cut = put_top(&s, report, &summary, room);
    const char *left_out = put_rests(&s, report, style, room, &cut, fault);
    if (left_out == NULL)
        return fault->code;
    if (style->details && put_details(&s, report, &summary, fault) != ERR_NONE)
        return fault->code;
    put_end(&s, report, style, left_out);
    return ERR_NONE;
}

enum status report_markdown(const struct run_figures *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault)
{
    struct summary summary;
    struct sheet s;
    if (summary_make(report, scratch, &summary, fault) != ERR_NONE)
        return fault->code;
    sheet_as_markdown(&s, out, max_bytes == 0 ? DEFAULT_MAX_BYTES : max_bytes, scratch);
    put_head(&s, report);
    if (report->total_cases == 0)
        return ERR_NONE;
    s.most_bytes /= 2; /* the rest is for totals */
    (void)document_failing(&s, report, &summary.failing, NULL);
    s.most_bytes = max_bytes == 0 ? DEFAULT_MAX_BYTES : max_bytes;
    (void)document_accuracy(&s, report);
    (void)document_engines(&s, report, 0);
    document_speed(&s, report, true, 0);
    document_not_shown(&s, &summary.not_shown);
    if (document_grid(&s, report, false, fault) != ERR_NONE)
        return fault->code;
    document_causes(&s, report, false);
    document_hooks(&s, report, false);
    document_managed(&s, report);
    document_refused(&s, report);
    if (document_grid(&s, report, true, fault) != ERR_NONE)
        return fault->code;
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}

enum status report_md(const struct report_job *job, FILE *out, struct fault *fault)
{
    return report_markdown(job->report, 0, job->scratch, out, fault);
}
