/* See check_reporter.h. */
#include "verbs/check_reporter.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "base/text.h"
#include "report/sheet.h"
#include "verbs/check_reporter_run.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verb.h"

enum { FIRST_SCREEN_LINES = 38, MISSING_SHOWN_LINES = 14, COUNT_WIDTH = 7 };

/* ---- the first screen --------------------------------------------------------------------- */

static enum ink ink_of(const struct reporter_result *r)
{
    if (r->verdicts[REPORTER_WRONG] + r->verdicts[REPORTER_CAPTURE_FAILED] > 0)
        return INK_BAD;
    return reporter_judged(r) < r->row_count ? INK_WARN : INK_GOOD;
}

static void add_count(struct sheet *s, const char **text, uint32_t count, const char *one,
                      const char *many)
{
    if (count > 0 && *text != NULL)
        *text = arena_printf(s->keep, "%s%s%u %s", *text, **text != '\0' ? ", " : "", count,
                             count == 1 ? one : many);
}

static void put_counts(struct sheet *s, const struct reporter_result *r)
{
    const char *rest = "";
    sheet_textf(s, ink_of(r), "%s: %u of %u judged: %u sound, %u wrong", r->name,
                reporter_judged(r), r->row_count, r->verdicts[REPORTER_SOUND],
                r->verdicts[REPORTER_WRONG]);
    add_count(s, &rest, r->verdicts[REPORTER_NOT_JUDGED], "not judged", "not judged");
    add_count(s, &rest, r->verdicts[REPORTER_CAPTURE_FAILED],
              "capture failed (a dump without a stack)", "captures failed (dumps without a stack)");
    add_count(s, &rest, r->verdicts[REPORTER_ALONE],
              "stack without a dump (nothing to compare with)",
              "stacks without a dump (nothing to compare with)");
    add_count(s, &rest, r->verdicts[REPORTER_UNREADABLE], "dump unreadable", "dumps unreadable");
    if (rest != NULL && *rest != '\0')
        sheet_text(s, INK_PLAIN, 0, 2, rest);
    if (r->by_scan > 0)
        sheet_textf(s, INK_DIM,
                    "of %u sound, the outermost frames were not compared: the dump's own walk is "
                    "not certain there",
                    r->by_scan);
}

static struct sheet_cell missing_cell(const void *rows, size_t row, size_t column,
                                      struct arena *keep)
{
    const struct reporter_missing *m = &((const struct reporter_result *)rows)->missing[row];
    switch (column) {
    case 0:
        return cell_format(keep, INK_PLAIN, "%u", m->pairs);
    case 1:
        return cell_text(INK_PLAIN, m->file);
    case 2:
        return cell_text(INK_PLAIN, m->pdb ? "PDB" : "image");
    case 3:
        return cell_text(INK_DIM, m->identity[0] != '\0' ? m->identity : "not stated");
    default:
        return cell_text(INK_PLAIN, m->system ? "not the outermost frames" : "no");
    }
}

static void put_missing(struct sheet *s, const struct reporter_result *r)
{
    static const struct sheet_column columns[] = {
        {"pairs", 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"file", 0, 40, SHEET_ALWAYS, SHEET_LEFT},
        {"kind", 0, 0, 3, SHEET_LEFT},
        {"identity", 0, 40, 2, SHEET_LEFT},
        {"judged", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
    };
    const uint32_t most = s->most_lines;
    if (r->missing_count == 0)
        return;
    sheet_heading(s, "MISSING", ": files without which a dump's stack is not certain");
    if (most != 0)
        s->most_lines = MISSING_SHOWN_LINES;
    sheet_show(s, columns, COUNT_OF(columns), missing_cell, r, r->missing_count);
    s->most_lines = most;
    const char *places = r->places != NULL && r->places[0] != '\0' ? r->places : "no folder";
    sheet_text(s, INK_DIM, 0, 2, arena_printf(s->keep, "looked for in %s", places));
}

static void put_unused(struct sheet *s, const struct reporter_result *r)
{
    const char *text = "";
    for (uint32_t i = 0; i < r->unused_count && text != NULL; i++)
        text = arena_printf(s->keep, "%s%s%s", text, i > 0 ? ", " : "", r->unused[i]);
    if (r->unused_count > 0)
        sheet_text(s, INK_WARN, 0, 2,
                   arena_printf(s->keep, "of no module in any dump, by name and identity: %s",
                                text_or_empty(text)));
}

static void group_entry(const void *rows, size_t at, struct arena *keep, struct sheet_entry *out)
{
    const struct reporter_result *r = rows;
    const struct reporter_group *group = &r->groups[at];
    const struct mechanism_row *what = mechanism_row(group->mechanism);
    const struct reporter_row *row = &r->rows[group->example];
    *out = (struct sheet_entry){
        .ink = INK_BAD,
        .head = arena_printf(keep, "%5u  ", group->count),
        .text = reporter_group_words(group->mechanism, group->variant, keep),
        .why = arena_printf(keep, "%s; e.g. %s, frame %u", what->advice, row->name, row->first),
        .why_indent = COUNT_WIDTH,
        .most = 1,
        .stands_for = group->count};
}

static void put_groups(struct sheet *s, const struct reporter_result *r)
{
    if (r->group_count == 0)
        return;
    sheet_heading(s, "WRONG", ": pairs by what is wrong, and whose part it is");
    (void)sheet_list(s, group_entry, r, r->group_count, "pair", ", listed by --details");
}

/* ---- a row for each pair ------------------------------------------------------------------ */

static const char *verdict_words(const struct reporter_row *row, struct arena *keep)
{
    switch (row->verdict) {
    case REPORTER_SOUND:
        return row->certain < row->given
                   ? arena_printf(keep, "✓ sound up to frame %u", row->certain - 1)
                   : "✓ sound";
    case REPORTER_WRONG:
        return "✗ wrong";
    case REPORTER_NOT_JUDGED:
        return "? not judged";
    case REPORTER_CAPTURE_FAILED:
        return "✗ capture failed";
    case REPORTER_ALONE:
        return "- nothing to compare with";
    default:
        return "? dump unreadable";
    }
}

static enum ink row_ink(enum reporter_verdict verdict)
{
    if (verdict == REPORTER_SOUND)
        return INK_GOOD;
    return verdict == REPORTER_WRONG || verdict == REPORTER_CAPTURE_FAILED ? INK_BAD : INK_WARN;
}

static void put_row(struct sheet *s, const struct reporter_row *row)
{
    const struct mechanism_row *what = mechanism_row(row->mechanism);
    const char *text = arena_printf(s->keep, "%s  %s", verdict_words(row, s->keep), row->name);
    if (row->verdict == REPORTER_WRONG)
        text = arena_printf(s->keep, "%s, frame %u: %s (%s, %s)", text, row->first, what->words,
                            what->who,
                            row->mechanism == MECHANISM_UNEXPLAINED ? "unexplained" : "proved");
    if (row->words != NULL)
        text = arena_printf(s->keep, "%s: %s", text, row->words);
    sheet_text(s, row_ink(row->verdict), 4, 0, text);
    if (row->sides == NULL)
        return;
    page_cellf(&s->page, INK_DIM, 0, "     %-40s %s", "given", "by the dump");
    page_line(&s->page);
    for (const char *at = row->sides; *at != '\0';) {
        const size_t bytes = strcspn(at, "\n");
        page_cellf(&s->page, INK_PLAIN, 0, "%.*s", (int)bytes, at);
        page_line(&s->page);
        at += bytes + (at[bytes] == '\n');
    }
}

static void put_text(const struct reporter_result *r, bool details, struct arena *keep)
{
    struct sheet s;
    const struct page page = terminal_page();
    sheet_on_page(&s, &page, keep);
    s.most_lines = details ? 0 : FIRST_SCREEN_LINES;
    put_counts(&s, r);
    put_missing(&s, r);
    put_unused(&s, r);
    put_groups(&s, r);
    if (!details) {
        sheet_text(&s, INK_DIM, 0, 1, "a line for each pair: --details; for programs: --json");
        return;
    }
    sheet_heading(&s, "PAIRS", "");
    for (uint32_t i = 0; i < r->row_count; i++)
        put_row(&s, &r->rows[i]);
}

/* ---- the verb ----------------------------------------------------------------------------- */

static int code_of(const struct reporter_result *r)
{
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (r->row_count == 0)
        return EXIT_NOTHING;
    if (r->verdicts[REPORTER_NOT_JUDGED] + r->verdicts[REPORTER_UNREADABLE] > 0)
        return EXIT_INPUT;
    if (r->verdicts[REPORTER_WRONG] + r->verdicts[REPORTER_CAPTURE_FAILED] > 0)
        return EXIT_DIFFERENT;
    return reporter_judged(r) == 0 ? EXIT_NOTHING : EXIT_GOOD;
}

static enum status write_junit(const void *context, FILE *out, struct fault *fault)
{
    reporter_write_junit(context, out);
    return fault->code;
}

int check_reporter(const struct check_reporter_options *options, struct arena *keep)
{
    struct reporter_result result;
    struct fault fault = FAULT_INIT;
    if (reporter_judge(&options->request, keep, &result, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (options->as_json)
        reporter_write_json(&result, stdout);
    else
        put_text(&result, options->details, keep);
    if (options->junit != NULL &&
        stored_write(options->junit, write_junit, &result, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if ((options->db != NULL || options->html != NULL || options->out != NULL) &&
        !process_interrupted()) {
        const int code = check_reporter_run(options, &result, keep);
        if (code != EXIT_GOOD)
            return code;
    }
    return code_of(&result);
}
