/* Which hook saw each crash, expected and seen, in the terminal report: study/hooks.h as a page. */
#include <string.h>

#include "base/array.h"
#include "report/text.h"
#include "report/words.h"
#include "study/hooks.h"

enum { COUNT_COLUMNS = 6, NAME_LEAST = 14, NAME_BYTES = 160, MORE_BYTES = 16 };

/* Heads on two lines. */
struct head {
    const char *above, *below;
    int width; /* including the blank after it */
};

static const struct head heads[CASE_HOOK_COUNT] = {
    [CASE_HOOK_VECTORED] = {"vec-", "tored", 6},
    [CASE_HOOK_UNHANDLED] = {"un-", "handled", 8},
    [CASE_HOOK_SIGABRT] = {"sig-", "abrt", 5},
    [CASE_HOOK_INVALID_PARAMETER] = {"invalid", "param.", 8},
    [CASE_HOOK_PURE_CALL] = {"pure", "call", 5},
    [CASE_HOOK_TERMINATE] = {"termi-", "nate", 7},
    [CASE_HOOK_WATCHER] = {"", "watcher", 8},
    [CASE_HOOK_HEARTBEAT] = {"heart-", "beat", 7},
    [CASE_HOOK_IMPORT] = {"", "import", 7},
    [CASE_HOOK_OTHER] = {"", "other", 6},
};

struct matrix {
    struct hook_matrix is;
    struct head heads[CASE_HOOK_COUNT];
    uint32_t shown;
    int name;
};

/* The scenarios of the row: the first ones, and " +N" for N more. */
static const char *row_name(const struct hook_row *row, char out[NAME_BYTES], char more[MORE_BYTES])
{
    more[0] = '\0';
    if (row->scenarios > 1)
        (void)snprintf(more, MORE_BYTES, " +%u", row->scenarios - 1);
    return row->cases == 1 ? case_name(row->first, out) : row->first->scenario;
}

/* As many hooks as fit beside the names. */
static void measure(struct matrix *m, const struct page *page)
{
    char name[NAME_BYTES], more[MORE_BYTES];
    int widest = NAME_LEAST;
    int left = (int)page->columns - COUNT_COLUMNS - NAME_LEAST;
    for (m->shown = 0; m->shown < m->is.hook_count && m->heads[m->shown].width <= left; m->shown++)
        left -= m->heads[m->shown].width;
    for (uint32_t i = 0; i < m->is.row_count; i++) {
        const int need = (int)(text_width(row_name(&m->is.rows[i], name, more)) + strlen(more)) + 1;
        widest = need > widest ? need : widest;
    }
    m->name = widest < NAME_LEAST + left ? widest : NAME_LEAST + left;
}

static void print_heads(const struct page *page, const struct matrix *m)
{
    for (int line = 0; line < 2; line++) {
        page_cell(page, INK_DIM, m->name, line == 0 ? "" : "scenario");
        page_cell(page, INK_DIM, m->shown > 0 ? COUNT_COLUMNS : 0, line == 0 ? "" : "cases");
        for (uint32_t d = 0; d < m->shown; d++)
            page_cell(page, INK_DIM, d + 1 < m->shown ? m->heads[d].width : 0,
                      line == 0 ? m->heads[d].above : m->heads[d].below);
        page_line(page);
    }
}

static void print_row(const struct page *page, const struct matrix *m, const struct hook_row *row)
{
    static const char *const glyphs[] = {"·", "✓", "✗", "+"};
    static const enum ink inks[] = {INK_DIM, INK_GOOD, INK_BAD, INK_WARN};
    const enum ink ink = row->differs ? INK_BAD : INK_PLAIN;
    char name[NAME_BYTES], more[MORE_BYTES];
    const char *shown = row_name(row, name, more);
    page_cell(page, ink, m->name - (int)strlen(more) - 1, shown);
    page_cell(page, ink, (int)strlen(more) + 1, more);
    page_cellf(page, INK_PLAIN, COUNT_COLUMNS, "%u", row->cases);
    for (uint32_t d = 0; d < m->shown; d++)
        page_cell(page, inks[row->marks[d]], d + 1 < m->shown ? m->heads[d].width : 0,
                  glyphs[row->marks[d]]);
    page_line(page);
}

static void print_sums(const struct page *page, const struct matrix *m)
{
    bool differ = false;
    for (uint32_t d = 0; d < m->is.hook_count; d++)
        differ = differ || m->is.hooks[d].expected != m->is.hooks[d].seen;
    for (int line = differ ? 0 : 1; line < 2; line++) {
        page_cell(page, INK_DIM, m->name + COUNT_COLUMNS, line == 0 ? "promised" : "seen");
        for (uint32_t d = 0; d < m->shown; d++)
            page_cellf(page, INK_DIM, d + 1 < m->shown ? m->heads[d].width : 0, "%u",
                       line == 0 ? m->is.hooks[d].expected : m->is.hooks[d].seen);
        page_line(page);
    }
}

static void print_left_out(const struct page *page, const struct matrix *m, struct arena *scratch)
{
    const char *names = "";
    for (uint32_t d = m->shown; d < m->is.hook_count && names != NULL; d++)
        names = arena_printf(scratch, "%s%s%s", names, d > m->shown ? ", " : "",
                             case_hook_name(m->is.hooks[d].hook));
    const char *text = arena_printf(scratch, "not shown, since the page is too narrow: %s", names);
    if (m->shown < m->is.hook_count)
        page_wrap(page, INK_DIM, 0, text != NULL ? text : "");
}

void text_print_doors(const struct page *page, const struct run_figures *report, bool details,
                      struct arena *scratch)
{
    struct matrix m = {.shown = 0};
    struct fault fault = FAULT_INIT;
    if (hooks_make(report, details, scratch, &m.is, &fault) != ERR_NONE || m.is.hook_count == 0)
        return;
    for (uint32_t d = 0; d < m.is.hook_count; d++)
        m.heads[d] = heads[m.is.hooks[d].hook];
    measure(&m, page);
    page_title(page, "HOOKS: which hook saw each crash, expected and measured");
    print_heads(page, &m);
    for (uint32_t i = 0; i < m.is.row_count; i++)
        print_row(page, &m, &m.is.rows[i]);
    print_sums(page, &m);
    page_wrap(
        page, INK_DIM, 0,
        "✓ as expected · ✗ expected, not seen · + seen, not expected · only dots: no hook was to "
        "see it, and none did · +9 after a name: 9 more scenarios of that kind");
    print_left_out(page, &m, scratch);
}
