/* See bench_text.h. */
#include "verbs/bench_text.h"

#include <math.h>
#include <stdio.h>

#include "engine/microsoft.h"
#include "report/sheet.h"
#include "report/words.h"
#include "study/ratio.h"
#include "verbs/terminal.h"

static struct sheet_cell stage_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct bench_row *row = &((const struct bench_row *)rows)[at];
    const char *(*words)(double, char[24]) = row->bytes ? bytes_text : duration_text;
    char low[24], high[24];
    if (column == 0)
        return cell_text(INK_PLAIN, row->name);
    if (column == 5)
        return cell_text(INK_PLAIN,
                         isnan(row->ratio)
                             ? ""
                             : arena_printf(keep, "%.*f", ratio_decimals(row->ratio), row->ratio));
    const struct measurement *m = &row->ways[column > 2];
    if (column % 2 != 0)
        return cell_text(INK_TITLE, arena_string(keep, words(m->value, low)));
    return cell_text(INK_DIM, isnan(m->value) ? ""
                                              : arena_printf(keep, "[%s, %s]", words(m->low, low),
                                                             words(m->high, high)));
}

static void put_stages(struct sheet *s, const char *title, const struct bench_row *stages,
                       uint32_t count)
{
    static const struct sheet_column columns[] = {
        {"", 16, 0, SHEET_ALWAYS, SHEET_LEFT}, {"offset", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"95 %", 21, 0, 1, SHEET_LEFT},        {"dump", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},
        {"95 %", 21, 0, 2, SHEET_LEFT},        {"dump : offset", 0, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    sheet_heading(s, "", title);
    sheet_show(s, columns, 6, stage_cell, stages, count);
}

static const char *sure_text(const struct bench_ratio *r, struct arena *keep)
{
    const int digits = ratio_decimals(r->ratio.value);
    if (r->cases == 0)
        return "no interval: a bench of before stored no cases";
    const char *n =
        arena_printf(keep, "%s, %zu case%s of %zu scenario%s", cpu_name(r->arch), r->cases,
                     r->cases == 1 ? "" : "s", r->scenarios, r->scenarios == 1 ? "" : "s");
    return isnan(r->ratio.low)
               ? arena_printf(keep, "%s: no interval %s", n,
                              r->processes > 1
                                  ? arena_printf(keep, "below %d of them", MEASUREMENT_LEAST)
                                  : "of a single process")
               : arena_printf(keep, "[%.*f, %.*f]  %s, %zu processes", digits, r->ratio.low, digits,
                              r->ratio.high, n, r->processes);
}

static void put_verdict(struct sheet *s, const struct bench_side *side, struct arena *keep)
{
    const size_t count = side->stages[BENCH_STAGES - 1].ways[0].n;
    sheet_textf(s, INK_PLAIN, "today's noise (offset against itself): %.1f %%", side->noise * 100);
    for (uint32_t i = 0; i < side->ratio_count; i++)
        sheet_textf(s, INK_PLAIN, "dump : offset = %.*f : 1  %s",
                    ratio_decimals(side->ratios[i].ratio.value), side->ratios[i].ratio.value,
                    sure_text(&side->ratios[i], keep));
    if (side->dump.change == CHANGE_TOO_FEW)
        sheet_textf(s, INK_PLAIN, "no verdict: %zu samples are too few, %d are needed", count,
                    STATISTICS_MIN_SAMPLES);
    else
        sheet_textf(s, INK_PLAIN,
                    "dump against offset: p %.2g, threshold %.1f %%: the dump way is %s",
                    side->dump.p, side->dump.threshold * 100,
                    side->dump.change == CHANGE_NONE ? "as fast" : change_words(side->dump.change));
    for (int w = 0; w < BENCH_WAYS; w++) {
        const struct change_verdict *then = &side->then[w];
        if (then->change != CHANGE_TOO_FEW)
            sheet_textf(s, INK_PLAIN,
                        "%s against the last bench: %+.1f %%  p %.2g, threshold %.1f "
                        "%%: %s",
                        bench_lane_name((enum bench_lane)w), then->effect * 100, then->p,
                        then->threshold * 100, change_words(then->change));
    }
}

void bench_print(const struct bench_findings *findings, struct arena *keep)
{
    const struct page page = terminal_page();
    struct sheet s;
    sheet_on_page(&s, &page, keep);
    const char *title = arena_printf(keep, "IN THE DYING PROCESS, %s: medians of %u case%s",
                                     cpu_name(findings->capture_arch), findings->captured,
                                     findings->captured == 1 ? "" : "s");
    put_stages(&s, title != NULL ? title : "", findings->capture, BENCH_CAPTURE_STAGES);
    for (uint32_t i = 0; i < findings->side_count; i++) {
        const struct bench_side *side = &findings->sides[i];
        title = arena_printf(keep,
                             "ON THE BACK END, %s, %s; per stack, medians of %zu rounds over %u "
                             "case%s",
                             cpu_name(findings->capture_arch),
                             i == 1 ? "COLD (symbols opened for every stack)"
                                    : "WARM (symbols stay open)",
                             side->stages[BENCH_STAGES - 1].ways[0].n, findings->captured,
                             findings->captured == 1 ? "" : "s");
        put_stages(&s, title != NULL ? title : "", side->stages, BENCH_STAGES);
        put_verdict(&s, side, keep);
    }
}

static struct sheet_cell program_cell(const void *rows, size_t at, size_t column,
                                      struct arena *keep)
{
    const struct bench_programs *programs = rows;
    const struct bench_program *row = &programs->rows[at], *ours = &programs->rows[PROGRAM_OFFSETS];
    const struct measurement *m = column > 2 ? &row->again : &row->process;
    const struct measurement *of = column > 2 ? &ours->again : &ours->process;
    char text[24];
    if (column == 0)
        return cell_text(INK_PLAIN, row->version != NULL
                                        ? arena_printf(keep, "%s (%s)", row->name, row->version)
                                        : row->name);
    if (row->why_not != NULL)
        return cell_text(INK_DIM, "");
    if (column % 2 != 0)
        return cell_text(INK_TITLE, arena_string(keep, duration_text(m->value, text)));
    return cell_text(INK_PLAIN, arena_printf(keep, "%.*f", decimals_of(m->value / of->value),
                                             m->value / of->value));
}

void bench_print_programs(const struct bench_programs *programs, struct arena *keep)
{
    static const struct sheet_column columns[] = {{"", 30, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"new process", 11, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {": offset", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {"same again", 11, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {": offset", 8, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {"", 0, 0, SHEET_ALWAYS, SHEET_LEFT}};
    const struct page page = terminal_page();
    struct sheet s;
    sheet_on_page(&s, &page, keep);
    if (programs == NULL) {
        sheet_textf(&s, INK_DIM, "WinDbg's engine was not timed: %s", microsoft_why_not);
        return;
    }
    const char *title = arena_printf(
        keep,
        "PROGRAMS, medians of %u cases of %s: a process for each crash, and the same again in one",
        programs->case_count, cpu_name(programs->arch));
    sheet_heading(&s, "", title != NULL ? title : "");
    sheet_show(&s, columns, 5, program_cell, programs, BENCH_PROGRAMS);
    for (int i = 0; i < BENCH_PROGRAMS; i++)
        if (programs->rows[i].why_not != NULL)
            sheet_textf(&s, INK_DIM, "%s was not timed: %s", programs->rows[i].name,
                        programs->rows[i].why_not);
}
