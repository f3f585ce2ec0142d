/* What a million crashes cost by each way: see study/cost.h. */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "report/document.h"
#include "report/words.h"
#include "study/cost.h"

/* The amounts, then what the terms make of them. */

struct question {
    const struct cost *cost;
    const struct cost_terms *terms;
    int row;
};

/* "195", "16.0k", "1.12M": three digits are more than these figures can bear. */
static const char *amount_text(double value, char out[24])
{
    static const char *const units[] = {"", "k", "M", "G"};
    size_t unit = 0;
    for (; unit + 1 < COUNT_OF(units) && value >= 999.5; unit++)
        value /= 1000;
    if (isnan(value))
        (void)snprintf(out, 24, "-");
    else
        (void)snprintf(out, 24, "%.*f%s", decimals_of(value), value, units[unit]);
    return out;
}

static struct sheet_cell measured_cell(const struct cost_amount *amount, struct arena *keep)
{
    char value[24], low[24], high[24];
    if (sample_state(amount->cases, amount->scenarios) != SAMPLE_ENOUGH)
        return cell_text(INK_DIM, sample_few_text(amount->cases, amount->scenarios, keep));
    const double scale = cost_per_million(amount) / amount->one.value;
    return cell_format(keep, INK_TITLE, "%s [%s, %s] (%zu)",
                       amount_text(cost_per_million(amount), value),
                       amount_text(amount->one.low * scale, low),
                       amount_text(amount->one.high * scale, high), amount->cases);
}

static struct sheet_cell made_cell(double value, struct arena *keep)
{
    char text[24];
    return isnan(value) ? cell_text(INK_DIM, "not measured")
                        : cell_format(keep, INK_PLAIN, "%s", amount_text(value, text));
}

static struct sheet_cell lane_cell(const struct question *q, const struct cost_lane *lane,
                                   struct arena *keep)
{
    if (q->row < COST_ROWS)
        return measured_cell(&lane->amounts[q->row], keep);
    if (q->row == COST_UPLOAD)
        return made_cell(cost_upload_s(lane, q->terms), keep);
    if (q->row == COST_PRICE)
        return made_cell(cost_price(lane, q->terms), keep);
    return !lane->is_judged
               ? cell_text(INK_DIM, "not judged")
               : cell_format(keep, INK_PLAIN, "%u of %u", lane->unusable, lane->judged);
}

static struct sheet_cell cost_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct question *q = &((const struct question *)rows)[at];
    if (column > 0)
        return lane_cell(q, &q->cost->lanes[column - 1], keep);
    return cell_text(INK_PLAIN, cost_line_words[q->row].name);
}

static struct sheet_cell step_amount(const struct cost_lane *lane, int step,
                                     const struct cost_terms *terms, struct arena *keep)
{
    const bool total = step == COST_STEPS;
    const double ns =
        total ? cost_total_ns(lane, terms) : cost_step_ns(lane, (enum cost_step)step, terms);
    char text[24];
    return isnan(ns) ? cell_text(INK_DIM, "–")
                     : cell_text(total ? INK_TITLE : INK_PLAIN,
                                 arena_string(keep, duration_text(ns, text)));
}

static struct sheet_cell step_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct question *q = &((const struct question *)rows)[at];
    if (column == 0)
        return cell_text(INK_PLAIN, cost_step_words[q->row].name);
    return step_amount(&q->cost->lanes[column - 1], q->row, q->terms, keep);
}

static void put_steps(struct sheet *s, const struct cost *cost, const struct cost_terms *terms,
                      const struct sheet_column columns[1 + COST_LANES])
{
    struct question rows[COST_STEPS + 1];
    for (int row = 0; row <= COST_STEPS; row++)
        rows[row] = (struct question){cost, terms, row};
    sheet_heading(s, "One crash", ", one step after the other");
    sheet_show(s, columns, 1 + COST_LANES, step_cell, rows, COUNT_OF(rows));
}

/* ---- the same as a line of time ---- */

static struct sheet_cell time_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct cost_lane *lane = ((const struct cost_lane *const *)rows)[at];
    if (column == 0)
        return cell_text(INK_PLAIN, lane->name);
    return step_amount(lane, (int)column - 1, &cost_terms_default, keep);
}

/* Of the two ways alone: the whole has to find room in a report. Returns the rows. */
static size_t put_time_line(struct sheet *s, const struct cost *cost)
{
    static const enum cost_lane_index ways[] = {COST_PLAIN, COST_OFFSET};
    const char *const name =
        arena_printf(s->keep, "one crash, %g Mbit/s", cost_terms_default.of[COST_MBIT_S]);
    const struct sheet_column columns[2 + COST_STEPS] = {
        {name, 0, 0, SHEET_ALWAYS, SHEET_LEFT},
        [1 + COST_STEP_WALK] = {"stack walk", 0, 0, 5, SHEET_RIGHT},
        [1 + COST_STEP_WRITE] = {"written", 7, 0, SHEET_ALWAYS, SHEET_RIGHT},
        [1 + COST_STEP_SEND] = {"upload", 7, 0, SHEET_ALWAYS, SHEET_RIGHT},
        [1 + COST_STEP_OPEN] = {"opening", 7, 0, 4, SHEET_RIGHT},
        [1 + COST_STEP_UNWIND] = {"walking", 7, 0, 3, SHEET_RIGHT},
        [1 + COST_STEP_LOAD] = {"loading", 7, 0, 2, SHEET_RIGHT},
        [1 + COST_STEP_RESOLVE] = {"naming", 7, 0, 6, SHEET_RIGHT},
        [1 + COST_STEP_REST] = {"rest", 7, 0, 1, SHEET_RIGHT},
        [1 + COST_STEPS] = {"all of it", 0, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    const struct cost_lane *lanes[COUNT_OF(ways)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        if (!isnan(cost_total_ns(&cost->lanes[ways[i]], &cost_terms_default)))
            lanes[count++] = &cost->lanes[ways[i]];
    if (count > 0)
        sheet_show(s, columns, COUNT_OF(columns), time_cell, (const void *)lanes, count);
    return count;
}

bool document_time_line(struct sheet *s, const struct run_figures *report, uint32_t most_lines)
{
    struct costs costs;
    struct sheet dry;
    cost_make(report, NULL, &costs);
    sheet_count(&dry, s);
    const bool any = put_time_line(&dry, &costs.of[0]) > 0;
    if (!any || (most_lines != 0 && dry.lines > most_lines))
        return false;
    (void)put_time_line(s, &costs.of[0]);
    return true;
}

/* "--term mbit_s=20 (Mbit/s of a user's uplink), ..." */
static const char *terms_text(const struct cost_terms *terms, struct arena *keep)
{
    const char *text = "";
    for (size_t i = 0; i < COST_TERMS && text != NULL; i++)
        text = arena_printf(keep, "%s%s%s=%g (%s)", text, i > 0 ? ", " : "--term ",
                            cost_term_words[i].name, terms->of[i], cost_term_words[i].means);
    return text != NULL ? text : "";
}

/* The steps of one crash are known of the first processor. */
static void put_cost(struct sheet *s, const struct cost *cost, bool is_first,
                     const struct cost_terms *terms)
{
    struct sheet_column columns[1 + COST_LANES] = {{"", 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    struct question rows[COST_LINES];
    for (int lane = 0; lane < COST_LANES; lane++)
        columns[1 + lane] =
            (struct sheet_column){cost->lanes[lane].name, 12, 0, SHEET_ALWAYS, SHEET_RIGHT};
    for (int row = 0; row < COST_LINES; row++)
        rows[row] = (struct question){cost, terms, row};
    sheet_heading(s, "Cost of a million crashes", "");
    const struct cost_amount *offsets = &cost->lanes[COST_OFFSET].amounts[COST_WARM];
    sheet_textf(s, INK_DIM, "%s, %s%s", cpu_name(cost->arch), cost->where,
                cost->arch == CPU_X86 && offsets->cases == 0
                    ? " · no stacks by offsets: x86 has no tables for rtl"
                    : "");
    sheet_show(s, columns, COUNT_OF(columns), cost_cell, rows, COST_LINES);
    if (is_first)
        put_steps(s, cost, terms, columns);
}

static void put_costs(struct sheet *s, const struct costs *costs, const struct cost_terms *terms)
{
    for (size_t i = 0; i < costs->count; i++)
        put_cost(s, &costs->of[i], i == 0, terms);
    sheet_text(
        s, INK_DIM, 0, 0,
        "A million times the case in the middle [95 %] (cases). The process is stopped until "
        "record or dump is written; one that hangs, until its stack is walked or its dump is "
        "written. Each file is compressed by itself, gzip at level 6, zstd at 3; gzip is what "
        "is sent, zstd what is kept. Unusable: victims that left no stack, or one whose "
        "innermost own frame is wrong. A full dump has all memory: --full-dumps RUN names a "
        "run that wrote such dumps.");
    sheet_text(s, INK_DIM, 0, 0, terms_text(terms, s->keep));
}

enum status report_cost(const struct costs *costs, const struct cost_terms *terms,
                        const struct report_style *style, struct arena *scratch, FILE *out,
                        struct fault *fault)
{
    const struct page page = {out, style->color, style->columns == 0 ? 100 : style->columns, NULL};
    struct sheet s;
    sheet_on_page(&s, &page, scratch);
    put_costs(&s, costs, terms);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}
