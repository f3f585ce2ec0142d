/* Which hook saw each crash, expected and seen: study/hooks.h as a table. */
#include <string.h>

#include "base/text.h"
#include "report/document.h"
#include "report/words.h"
#include "study/hooks.h"

enum { FIXED = 3 };

static const char *const heads[CASE_HOOK_COUNT] = {
    [CASE_HOOK_VECTORED] = "vectored",    [CASE_HOOK_UNHANDLED] = "unhandled",
    [CASE_HOOK_SIGABRT] = "SIGABRT",      [CASE_HOOK_INVALID_PARAMETER] = "invalid\nargument",
    [CASE_HOOK_PURE_CALL] = "pure\ncall", [CASE_HOOK_TERMINATE] = "terminate",
    [CASE_HOOK_WATCHER] = "watcher",      [CASE_HOOK_HEARTBEAT] = "heartbeat",
    [CASE_HOOK_IMPORT] = "import",        [CASE_HOOK_OTHER] = "other",
};

/* The sums are rows after the others: one where both are equal. */
static struct sheet_cell sum_cell(const struct hook_matrix *m, bool seen, size_t column,
                                  struct arena *keep)
{
    if (column == 0)
        return cell_text(INK_DIM, seen ? "seen" : "promised");
    if (column < FIXED)
        return cell_text(INK_DIM, "");
    const size_t d = column - FIXED;
    return cell_format(keep, INK_DIM, "%u", seen ? m->hooks[d].seen : m->hooks[d].expected);
}

static bool sums_differ(const struct hook_matrix *m)
{
    for (uint32_t d = 0; d < m->hook_count; d++)
        if (m->hooks[d].expected != m->hooks[d].seen)
            return true;
    return false;
}

static const char *const glyphs[] = {"·", "✓", "✗", "+"};
enum { GLYPHS = sizeof glyphs / sizeof glyphs[0] };

static struct sheet_cell hook_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    static const enum ink inks[] = {INK_DIM, INK_GOOD, INK_BAD, INK_WARN};
    const struct hook_matrix *m = rows;
    char name[160];
    if (at >= m->row_count)
        return sum_cell(m, at > m->row_count || !sums_differ(m), column, keep);
    const struct hook_row *row = &m->rows[at];
    const enum ink ink = row->differs ? INK_BAD : INK_PLAIN;
    switch (column) {
    case 0:
        return cell_text(ink, row->cases == 1 ? arena_string(keep, case_name(row->first, name))
                                              : row->first->scenario);
    case 1:
        return cell_text(ink,
                         row->scenarios > 1 ? arena_printf(keep, "+%u", row->scenarios - 1) : "");
    case 2:
        return cell_format(keep, INK_PLAIN, "%u", row->cases);
    default:
        return cell_text(inks[row->marks[column - FIXED]], glyphs[row->marks[column - FIXED]]);
    }
}

/* The signs that are there, in words. */
static const char *legend(const struct hook_matrix *m, struct arena *keep)
{
    static const char *const words[GLYPHS] = {"neither expected nor seen", "as expected",
                                              "expected, not seen", "seen, not expected"};
    bool there[GLYPHS] = {false};
    uint32_t more = 0;
    const char *text = NULL;
    for (uint32_t r = 0; r < m->row_count; r++) {
        for (uint32_t d = 0; d < m->hook_count; d++)
            there[m->rows[r].marks[d]] = true;
        more = more > 0 || m->rows[r].scenarios < 2 ? more : m->rows[r].scenarios - 1;
    }
    for (size_t g = 0; g < GLYPHS; g++)
        if (there[g])
            text = arena_printf(keep, "%s%s%s %s", text != NULL ? text : "",
                                text != NULL ? " · " : "", glyphs[g], words[g]);
    if (more > 0)
        text = arena_printf(keep, "%s · +%u after a name: %u more scenario%s of that kind",
                            text_or_empty(text), more, more, more == 1 ? "" : "s");
    return text;
}

void document_hooks(struct sheet *s, const struct run_figures *report, bool details)
{
    struct sheet_column columns[FIXED + CASE_HOOK_COUNT] = {
        {"scenario", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
        {NULL, 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"cases", 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    const struct hook_matrix *m = report->hooks;
    struct hook_matrix all;
    struct fault fault = FAULT_INIT;
    struct sheet_table table = {.columns = columns, .cell = hook_cell};
    if (details && hooks_of_scenarios(report, s->keep, &all, &fault) == ERR_NONE)
        m = &all;
    if (fault.code != ERR_NONE || m->hook_count == 0)
        return;
    for (uint32_t d = 0; d < m->hook_count; d++)
        columns[FIXED + d] = (struct sheet_column){heads[m->hooks[d].hook], 0, 0,
                                                   CASE_HOOK_COUNT - (int)d, SHEET_LEFT};
    table.count = FIXED + m->hook_count;
    sheet_heading(s, "Hooks", ": which hook saw each crash, expected and measured");
    sheet_table(s, &table, m, (size_t)m->row_count + (sums_differ(m) ? 2 : 1));
    sheet_text(s, INK_DIM, 0, 0, legend(m, s->keep));
}
