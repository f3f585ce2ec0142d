/* Which hook saw each crash, expected and seen, in the terminal report. Cases with one pattern
 * share a row; where expected and seen differ each scenario has its own. */
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "report/words.h"

enum {
    DOORS_MAX = 16,
    COUNT_COLUMNS = 6,
    NAME_LEAST = 14,
    NAME_BYTES = 160,
    MORE_BYTES = 16,
    UNKNOWN_COLUMNS = 10
};

/* The known hooks in the order in which a crash passes them; heads on two lines. */
static const struct {
    const char *name, *above, *below;
    int width; /* including the blank after it */
} known_doors[] = {
    {"vectored", "vec-", "tored", 6}, {"unhandled", "un-", "handled", 8},
    {"sigabrt", "sig-", "abrt", 5},   {"invalid_parameter", "invalid", "param.", 8},
    {"pure_call", "pure", "call", 5}, {"terminate", "termi-", "nate", 7},
    {"watcher", "", "watcher", 8},    {"heartbeat", "heart-", "beat", 7},
};
enum { KNOWN_DOORS = sizeof known_doors / sizeof known_doors[0] };

struct door {
    const char *name, *above, *below;
    int width;
    uint32_t promised, seen;
};

enum mark { MARK_NONE, MARK_KEPT, MARK_MISSED, MARK_EXTRA };

struct door_row {
    uint8_t marks[DOORS_MAX];
    const struct run_case *first;
    const char *last; /* its newest scenario */
    uint32_t cases, scenarios;
    bool differs;
};

struct matrix {
    struct door doors[DOORS_MAX];
    uint32_t door_count, shown;
    struct door_row *rows;
    uint32_t row_count;
    int name;
};

/* ---- what the cases say --------------------------------------------------------------- */

/* NAME is one of LIST, which is comma separated. */
static bool has_door(const char *list, const char *name)
{
    const size_t length = strlen(name);
    while (list != NULL && *list != '\0') {
        const size_t part = strcspn(list, ",");
        if (part == length && memcmp(list, name, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

/* The other kinds of cases have no hook to see, or cannot have one. */
static bool is_told(const struct run_case *c)
{
    const bool calm = c->kind == CASE_KIND_CALM;
    return c->result.verdict != VERDICT_UNSUPPORTED && c->result.verdict != VERDICT_ERROR &&
           !(calm && c->expected_doors == NULL && c->got_doors == NULL);
}

static void add_door(struct matrix *m, const char *name)
{
    struct door *door = &m->doors[m->door_count];
    for (uint32_t i = 0; i < m->door_count; i++)
        if (strcmp(m->doors[i].name, name) == 0)
            return;
    if (m->door_count == DOORS_MAX)
        return;
    *door = (struct door){.name = name, .above = "", .below = name, .width = UNKNOWN_COLUMNS};
    for (int k = 0; k < KNOWN_DOORS; k++)
        if (strcmp(known_doors[k].name, name) == 0) {
            door->above = known_doors[k].above;
            door->below = known_doors[k].below;
            door->width = known_doors[k].width;
        }
    m->door_count++;
}

static void add_doors(struct matrix *m, const char *list, struct arena *scratch)
{
    while (list != NULL && *list != '\0') {
        const size_t part = strcspn(list, ",");
        const char *name = arena_text(scratch, list, part);
        if (name != NULL && part > 0)
            add_door(m, name);
        list += part + (list[part] == ',');
    }
}

static void find_doors(struct matrix *m, const struct run_figures *report, struct arena *scratch)
{
    for (int k = 0; k < KNOWN_DOORS; k++)
        for (uint32_t i = 0; i < report->case_count; i++)
            if (is_told(&report->cases[i]) &&
                (has_door(report->cases[i].expected_doors, known_doors[k].name) ||
                 has_door(report->cases[i].got_doors, known_doors[k].name))) {
                add_door(m, known_doors[k].name);
                break;
            }
    for (uint32_t i = 0; i < report->case_count; i++)
        if (is_told(&report->cases[i])) {
            add_doors(m, report->cases[i].expected_doors, scratch);
            add_doors(m, report->cases[i].got_doors, scratch);
        }
}

static void add_case(struct matrix *m, const struct run_case *c, bool each_scenario)
{
    struct door_row row = {.first = c, .last = c->scenario, .cases = 1, .scenarios = 1};
    for (uint32_t d = 0; d < m->door_count; d++) {
        struct door *door = &m->doors[d];
        const bool promised = has_door(c->expected_doors, door->name);
        const bool seen = has_door(c->got_doors, door->name);
        door->promised += promised;
        door->seen += seen;
        row.marks[d] = promised ? (seen ? MARK_KEPT : MARK_MISSED) : seen ? MARK_EXTRA : MARK_NONE;
        row.differs = row.differs || promised != seen;
    }
    for (uint32_t i = m->row_count; i-- > 0;) { /* cases of one scenario are neighbours */
        struct door_row *old = &m->rows[i];
        const bool same_scenario = strcmp(old->last, c->scenario) == 0;
        if (memcmp(old->marks, row.marks, sizeof row.marks) != 0 ||
            ((each_scenario || row.differs) && !same_scenario))
            continue;
        old->cases++;
        old->scenarios += !same_scenario;
        old->last = c->scenario;
        return;
    }
    m->rows[m->row_count++] = row;
}

/* ---- the page ------------------------------------------------------------------------- */

/* Rows that differ first, then by hooks; those that no hook saw last. */
static int compare_rows(const void *a, const void *b)
{
    const struct door_row *x = a, *y = b;
    const int by_marks = memcmp(y->marks, x->marks, sizeof x->marks);
    if (x->differs != y->differs)
        return x->differs ? -1 : 1;
    return by_marks != 0 ? by_marks : strcmp(x->first->scenario, y->first->scenario);
}

/* The scenarios of the row: the first ones, and " +N" for N more. */
static const char *row_name(const struct door_row *row, char out[NAME_BYTES], char more[MORE_BYTES])
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
    for (m->shown = 0; m->shown < m->door_count && m->doors[m->shown].width <= left; m->shown++)
        left -= m->doors[m->shown].width;
    for (uint32_t i = 0; i < m->row_count; i++) {
        const int need = (int)(text_width(row_name(&m->rows[i], name, more)) + strlen(more)) + 1;
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
            page_cell(page, INK_DIM, d + 1 < m->shown ? m->doors[d].width : 0,
                      line == 0 ? m->doors[d].above : m->doors[d].below);
        page_line(page);
    }
}

static void print_row(const struct page *page, const struct matrix *m, const struct door_row *row)
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
        page_cell(page, inks[row->marks[d]], d + 1 < m->shown ? m->doors[d].width : 0,
                  glyphs[row->marks[d]]);
    page_line(page);
}

static void print_sums(const struct page *page, const struct matrix *m)
{
    bool differ = false;
    for (uint32_t d = 0; d < m->door_count; d++)
        differ = differ || m->doors[d].promised != m->doors[d].seen;
    for (int line = differ ? 0 : 1; line < 2; line++) {
        page_cell(page, INK_DIM, m->name + COUNT_COLUMNS, line == 0 ? "promised" : "seen");
        for (uint32_t d = 0; d < m->shown; d++)
            page_cellf(page, INK_DIM, d + 1 < m->shown ? m->doors[d].width : 0, "%u",
                       line == 0 ? m->doors[d].promised : m->doors[d].seen);
        page_line(page);
    }
}

static void print_left_out(const struct page *page, const struct matrix *m, struct arena *scratch)
{
    const char *names = "";
    for (uint32_t d = m->shown; d < m->door_count && names != NULL; d++)
        names = arena_printf(scratch, "%s%s%s", names, d > m->shown ? ", " : "", m->doors[d].name);
    const char *text = arena_printf(scratch, "not shown, since the page is too narrow: %s", names);
    if (m->shown < m->door_count)
        page_wrap(page, INK_DIM, 0, text != NULL ? text : "");
}

void text_print_doors(const struct page *page, const struct run_figures *report, bool details,
                      struct arena *scratch)
{
    struct matrix m = {.rows = ARENA_ARRAY(scratch, (size_t)report->case_count, struct door_row)};
    find_doors(&m, report, scratch);
    if (m.rows == NULL || m.door_count == 0)
        return;
    for (uint32_t i = 0; i < report->case_count; i++)
        if (is_told(&report->cases[i]))
            add_case(&m, &report->cases[i], details);
    measure(&m, page);
    page_title(page, "HOOKS: which hook saw each crash, expected and measured");
    print_heads(page, &m);
    qsort(m.rows, m.row_count, sizeof *m.rows, compare_rows);
    for (uint32_t i = 0; i < m.row_count; i++)
        print_row(page, &m, &m.rows[i]);
    print_sums(page, &m);
    page_wrap(
        page, INK_DIM, 0,
        "✓ as expected · ✗ expected, not seen · + seen, not expected · only dots: no hook was to "
        "see it, and none did · +9 after a name: 9 more scenarios of that kind");
    print_left_out(page, &m, scratch);
}
