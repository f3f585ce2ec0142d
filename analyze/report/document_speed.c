/* What a crash costs by each way, and times and sizes in detail: see document.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/document.h"
#include "report/words.h"
#include "study/headline.h"
#include "study/ratio.h"
#include "study/speed.h"
#include "study/timings.h"

/* ---- the headline --------------------------------------------------------------------- */

enum bound { MEDIAN, LEAST, MOST, BOUNDS };

struct bound_row {
    const struct headline_row *row;
    enum bound bound;
};

/* The rows of the crashing process in words: their keys are those of the JSON. */
static const char *step_words(const char *key)
{
    static const char *const words[][2] = {{"walk", "stack walk"},
                                           {"stopped", "process stopped"},
                                           {"write", "file written"},
                                           {"bytes", "size of the file"}};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(key, words[i][0]) == 0)
            return words[i][1];
    return key;
}

/* "file written (13)": with the most cases that any column has. */
static const char *row_name(const struct headline_row *row, struct arena *keep)
{
    const size_t count = headline_row_cases(row);
    if (row->part)
        return arena_printf(keep, "  %s", row->name);
    if (row->group == HEADLINE_DYING)
        return arena_printf(keep, "%s (%zu)", step_words(row->key), count);
    if (row->own)
        return arena_printf(keep, "  no system (%zu)", count);
    return arena_printf(keep, "%s (%zu)", headline_group_name(row->group), count);
}

static struct sheet_cell speed_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    static const char *const names[BOUNDS] = {"", "  least", "  most"};
    const struct bound_row *row = &((const struct bound_row *)rows)[at];
    char text[HEADLINE_TEXT], bound[24];
    if (column == 0)
        return cell_text(row->row->part || row->bound != MEDIAN ? INK_DIM : INK_PLAIN,
                         row->bound == MEDIAN ? row_name(row->row, keep) : names[row->bound]);
    const struct headline_cell *cell = &row->row->cells[column - 1];
    const bool known = cell->state == HEADLINE_MEASURED && !measurement_is_few(&cell->measured);
    if (row->bound == MEDIAN)
        return cell_text(known && !row->row->part ? INK_TITLE : INK_DIM,
                         arena_string(keep, headline_median_text(row->row, cell, text)));
    const double value = row->bound == LEAST ? cell->measured.least : cell->measured.most;
    return cell_text(INK_DIM,
                     known ? arena_string(keep, headline_amount_text(row->row, value, bound)) : "");
}

/* The parts, and what is left without system modules, are for the page of details. */
static bool is_shown(const struct headline_row *row, bool spread)
{
    return (!row->part && !row->own) || (spread && headline_row_is_known(row));
}

static void print_table(struct sheet *s, const struct headline *h, bool spread)
{
    struct sheet_column columns[1 + WAY_COUNT] = {
        {spread ? NULL : "medians (cases)", 22, 0, SHEET_ALWAYS, SHEET_LEFT}};
    struct bound_row rows[HEADLINE_ROWS * BOUNDS];
    size_t count = 0;
    for (int way = 0; way < WAY_COUNT; way++)
        columns[1 + way] = (struct sheet_column){h->columns[way], 13, 0, SHEET_ALWAYS, SHEET_RIGHT};
    for (int r = 0; r < HEADLINE_ROWS; r++) {
        const struct headline_row *row = &h->rows[r];
        const bool bounds = spread && !row->part && headline_row_is_known(row);
        for (int bound = MEDIAN; is_shown(row, spread) && bound < (bounds ? BOUNDS : LEAST);
             bound++)
            rows[count++] = (struct bound_row){row, (enum bound)bound};
    }
    sheet_show(s, columns, 1 + WAY_COUNT, speed_cell, rows, count);
}

/* "1.6 [1.4, 1.8] (85)": with "!" where the way against itself is not 1. */
static struct sheet_cell ratio_cell(const struct speed_row *row, const struct speed_cell *cell,
                                    struct arena *keep)
{
    char text[24];
    if (sample_state(cell->cases, cell->scenarios) != SAMPLE_ENOUGH)
        return cell_text(INK_DIM, sample_few_text(cell->cases, cell->scenarios, keep));
    if (row->lane == SPEED_OFFSET)
        return cell_format(keep, INK_PLAIN, "%s (%zu)%s", duration_text(cell->median_ns, text),
                           cell->cases, cell->drifts ? " !" : "");
    const struct interval *r = &cell->ratio;
    const int digits = ratio_decimals(r->value);
    return cell_format(keep, cell->drifts ? INK_WARN : INK_TITLE, "%.*f [%.*f, %.*f] (%zu)%s",
                       digits, r->value, digits, r->low, digits, r->high, cell->cases,
                       cell->drifts ? " !" : "");
}

static struct sheet_cell lane_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct speed_row *row = &((const struct speed_row *)rows)[at];
    if (column > 0)
        return ratio_cell(row, &row->cells[column - 1], keep);
    return cell_format(keep, INK_PLAIN, "%s %s%s", cpu_name(row->arch), row->name,
                       row->lane == SPEED_OFFSET ? ", time" : " : offsets");
}

/* The cell of the processor with the most cases, where no cell of it has enough; else NULL. */
static const struct speed_cell *few_of(const struct speed *speed, enum cpu arch)
{
    const struct speed_cell *most = NULL;
    for (uint32_t r = 0; r < speed->row_count; r++)
        for (int state = 0; speed->rows[r].arch == arch && state < SPEED_STATES; state++) {
            const struct speed_cell *cell = &speed->rows[r].cells[state];
            if (sample_state(cell->cases, cell->scenarios) == SAMPLE_ENOUGH)
                return NULL;
            most = most == NULL || cell->cases > most->cases ? cell : most;
        }
    return most;
}

/* Takes the rows of such processors out of SPEED: "no ratios of x86: too few (3)"; NULL: none. */
static const char *fold_few(struct speed *speed, struct arena *keep)
{
    const struct speed all = *speed;
    const char *text = NULL;
    speed->row_count = 0;
    for (uint32_t r = 0; r < all.row_count; r++) {
        const enum cpu arch = all.rows[r].arch;
        const struct speed_cell *few = few_of(&all, arch);
        if (few == NULL)
            speed->rows[speed->row_count++] = all.rows[r];
        else if (r == 0 || all.rows[r - 1].arch != arch)
            text = arena_printf(keep, "%s%s%s: %s", text != NULL ? text : "no ratios of ",
                                text != NULL ? ", " : "", cpu_name(arch),
                                sample_few_text(few->cases, few->scenarios, keep));
    }
    return text;
}

/* Which way is faster: see study/speed.h. */
static void print_lanes(struct sheet *s, const struct run_figures *report, uint32_t most_lines)
{
    static const struct sheet_column columns[1 + SPEED_STATES] = {
        {"ratio [95 %] (cases)", 0, 0, SHEET_ALWAYS, SHEET_LEFT},
        {"no index", 12, 0, 1, SHEET_RIGHT}, /* first to go where a page is narrow */
        {"index, new process", 18, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"warm", 12, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    struct sheet_table table = {
        .columns = columns, .count = COUNT_OF(columns), .cell = lane_cell, .thing = "ratio"};
    struct speed speed = *report->speed; /* without what is folded into a line */
    bool drifts = false;
    if (speed.row_count == 0)
        return;
    for (uint32_t r = 0; r < speed.row_count; r++)
        for (int state = 0; state < SPEED_STATES; state++)
            drifts = drifts || speed.rows[r].cells[state].drifts;
    s->most_lines = most_lines != 0 ? most_lines - drifts : 0;
    const char *few = fold_few(&speed, s->keep);
    if (speed.row_count > 0)
        sheet_table(s, &table, speed.rows, speed.row_count);
    sheet_text(s, INK_DIM, 0, 0, few);
    s->most_lines = 0;
    if (drifts)
        sheet_text(s, INK_WARN, 0, 0, ratio_drift_words);
    if (s->markdown)
        sheet_text(s, INK_DIM, 0, 0,
                   "Ratio of medians over the same cases of both ways; the interval is what other "
                   "cases of these kinds and other repeats would give.");
}

/* Lines that MOST_LINES leaves beside the ratio and the whole table of ratios; 0: any number. */
static uint32_t spare_lines(const struct sheet *s, const struct run_figures *report,
                            uint32_t most_lines)
{
    const uint32_t taken = s->lines + 4 + report->speed->row_count; /* a head, signs, what is few */
    if (most_lines == 0)
        return UINT32_MAX;
    return most_lines > taken ? most_lines - taken : 0;
}

/* "dump : offsets 8.7× [7.0, 9.4], noise 14 %, 13 cases (x64, index on disk; bench, run 9)"; where
 * there is room, the answer in words before it, and what its lack of a control means. */
static void print_ratio(struct sheet *s, const struct run_figures *report, uint32_t most_lines)
{
    const struct dump_ratio *ratio = report->ratio;
    const uint32_t spare = spare_lines(s, report, most_lines);
    if (ratio->origin == RATIO_NOT_MEASURED) /* the table below says why */
        return;
    if (spare > 0)
        sheet_text(s, INK_TITLE, 0, 0, ratio_answer(ratio, s->keep));
    sheet_text(s, INK_TITLE, 0, 0, ratio_sentence(ratio, s->keep));
    if (spare > 1 && ratio_note(ratio) != NULL)
        sheet_textf(s, INK_DIM, "%s; `twinstack bench` measures it", ratio_note(ratio));
}

/* The cells themselves have the counts of cases that differ from their row's. */
static bool has_tuned(const struct headline *h)
{
    bool has = false;
    for (int i = 0; i < HEADLINE_ROWS; i++)
        has = has || h->rows[i].cells[WAY_TUNED].measured.n > 0;
    return has;
}

/* "; foreign: dbghelp of Wine 8.0; tuned: no system data" */
static const char *columns_text(const struct headline *h, struct arena *keep)
{
    const char *text =
        arena_printf(keep, "%s%s%s", h->foreign != NULL ? "; foreign: " : "",
                     text_or_empty(h->foreign), has_tuned(h) ? "; tuned: no system data" : "");
    return text_or_empty(text);
}

/* The heading, with the processor where there are several; returns what of NOTE found no room in
 * it, without its semicolon. */
static const char *put_title(struct sheet *s, const struct run_figures *report, bool spread,
                             const char *note)
{
    const struct processors *p = &report->processors;
    const char *writer = arena_printf(s->keep, "%s%s: dumps by %s", p->count > 1 ? ", " : "",
                                      p->count > 1 ? cpu_name(p->of[0]) : "", speed_writer(report));
    const char *title = arena_printf(s->keep, "%s%s", text_or_empty(writer),
                                     spread ? "; medians, spread and parts" : note);
    const bool fits = title != NULL && text_width("Speed") + text_width(title) <= s->page.columns;
    if (!spread && (s->markdown || !fits))
        title = writer;
    sheet_heading(s, "Speed", text_or_empty(title));
    return (!spread && !s->markdown && fits) || note[0] == '\0' ? NULL : note + strlen("; ");
}

/* The least that the ratio and a table of ratios take: steps and sentences leave them. */
enum { RATIO_LINES = 5 };

void document_speed(struct sheet *s, const struct run_figures *report, bool spread,
                    uint32_t most_lines)
{
    const struct headline *h = report->headline;
    if (h->cases == 0)
        return;
    const char *note = put_title(s, report, spread, columns_text(h, s->keep));
    print_table(s, h, spread);
    const bool again = spread && !s->markdown; /* below the table of the top */
    struct sheet dry;
    sheet_count(&dry, s);
    const bool steps =
        !again &&
        document_time_line(&dry, report,
                           most_lines > RATIO_LINES ? most_lines - RATIO_LINES : most_lines);
    const bool room = most_lines == 0 || s->lines + 2 + RATIO_LINES <= most_lines;
    if (!again && !steps && room) /* the steps say the same */
        sheet_text(s, INK_PLAIN, 0, 0, h->dominates);
    if (spread)
        note = arena_printf(s->keep, "medians (cases)%s%s", note != NULL ? "; " : "",
                            text_or_empty(note));
    sheet_text(s, INK_DIM, 0, spread ? 0 : 2, note);
    if (spread)
        sheet_text(s, INK_DIM, 0, 0, h->scope);
    if (steps)
        (void)document_time_line(s, report, 0);
    if (!again) {
        print_ratio(s, report, most_lines);
        print_lanes(s, report, most_lines);
    }
}

/* ---- times ---------------------------------------------------------------------------- */

struct time_row {
    const char *name;
    const struct measurement *of;
    bool bytes;
};

static struct sheet_cell time_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct time_row *row = &((const struct time_row *)rows)[at];
    const double values[] = {row->of->value, row->of->least, row->of->p90, row->of->most};
    char text[24];
    if (column == 0)
        return cell_text(INK_PLAIN, row->name);
    if (column == 1)
        return cell_format(keep, INK_PLAIN, "%zu", row->of->n);
    const double value = values[column - 2];
    return cell_text(
        column == 2 ? INK_TITLE : INK_DIM,
        arena_string(keep, row->bytes ? bytes_text(value, text) : duration_text(value, text)));
}

static void add_time(struct time_row *rows, size_t *count, const char *name,
                     const struct measurement *of, bool bytes)
{
    if (of->n > 0 && name != NULL)
        rows[(*count)++] = (struct time_row){name, of, bytes};
}

static void print_times(struct sheet *s, const char *what, const struct time_row *rows,
                        size_t count)
{
    const struct sheet_column columns[] = {
        {what, 36, 0, SHEET_ALWAYS, SHEET_LEFT},     {"cases", 0, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"median", 9, 0, SHEET_ALWAYS, SHEET_RIGHT}, {"least", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"90 %", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},   {"most", 8, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    sheet_show(s, columns, 6, time_cell, rows, count);
}

static struct sheet_cell slow_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct timings_slow *row = &((const struct timings_slow *)rows)[at];
    char text[160];
    switch (column) {
    case 0:
        return cell_text(INK_PLAIN, arena_string(keep, case_name(row->c, text)));
    case 1:
        return cell_text(INK_PLAIN, row->engine);
    case 2:
        return cell_text(INK_PLAIN, arena_string(keep, duration_text((double)row->ns, text)));
    default:
        return cell_format(keep, INK_DIM, "%u", row->frames);
    }
}

static void print_slowest(struct sheet *s, const struct timings *timings)
{
    static const struct sheet_column columns[] = {{"case", 36, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"engine", 13, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"time", 12, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {"frames", 0, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    if (timings->slow_count == 0)
        return;
    sheet_heading(s, "Slowest ten", " of the engines under test");
    sheet_show(s, columns, 4, slow_cell, timings->slowest, timings->slow_count);
}

/* The times and sizes of one processor's cases. */
static void print_set(struct sheet *s, const struct timings *timings, uint32_t at,
                      struct time_row *rows)
{
    const struct timings_set *set = &timings->sets[at];
    const char *name = arena_printf(s->keep, ", %s", cpu_name(set->arch));
    const char *arch = set->arch != CPU_UNKNOWN ? text_or_empty(name) : "";
    size_t count = 0;
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++)
        add_time(rows, &count, set->capture[i].name, &set->capture[i].measured,
                 set->capture[i].bytes);
    sheet_heading(s, "Timing", arch);
    print_times(s, "in the dying process", rows, count);
    count = 0;
    for (uint32_t i = 0; i < timings->engine_count; i++) {
        const struct timings_engine *engine = &set->engines[i];
        add_time(rows, &count, engine->engine, &engine->total, false);
        /* other walkers have the parts of the subject: the same reader and the same symbols */
        for (size_t p = 0; p < TIMINGS_PARTS; p++)
            if (engine->subject || engine->kind == ENGINE_KIND_JUDGE)
                add_time(rows, &count, arena_printf(s->keep, "  %s", engine->parts[p].name),
                         &engine->parts[p].measured, engine->parts[p].bytes);
    }
    name = arena_printf(s->keep, " on the back end, per stack%s", arch);
    sheet_heading(s, "Timing", text_or_empty(name));
    print_times(s, "engine", rows, count);
}

enum status document_timing(struct sheet *s, const struct run_figures *report, struct fault *fault)
{
    const struct timings *timings = report->timings;
    const size_t room = TIMINGS_CAPTURE + (size_t)timings->engine_count * (1 + TIMINGS_PARTS);
    struct time_row *rows = ARENA_ARRAY(s->keep, room, struct time_row);
    if (rows == NULL)
        return fault_no_memory(fault, "times");
    document_speed(s, report, true, 0);
    for (uint32_t i = 0; i < timings->set_count; i++)
        print_set(s, timings, i, rows);
    print_slowest(s, timings);
    return ERR_NONE;
}
