/* What named the frames of a run, and right stacks of managed code: see document.h. */
#include <inttypes.h>

#include "model/managed_samples.h"
#include "report/document.h"
#include "study/run_lists.h"

static struct sheet_cell symbol_cell(const void *rows, size_t at, size_t column, struct arena *keep)
{
    const struct symbol_row *row = &((const struct symbol_row *)rows)[at];
    switch (column) {
    case 0:
        return cell_text(INK_PLAIN, row->module);
    case 1:
        return cell_text(row->symbols == SYMBOLS_NONE ? INK_WARN : INK_PLAIN,
                         symbols_from_name(row->symbols));
    case 2:
        return cell_format(keep, INK_PLAIN, "%" PRIu64, row->frames);
    default:
        return cell_text(INK_DIM,
                         row->inlined > 0 ? arena_printf(keep, "%" PRIu64, row->inlined) : "");
    }
}

void document_symbols(struct sheet *s, const struct run_figures *report)
{
    static const struct sheet_column columns[] = {{"module", 33, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"source", 13, 0, SHEET_ALWAYS, SHEET_LEFT},
                                                  {"frames", 9, 0, SHEET_ALWAYS, SHEET_RIGHT},
                                                  {"inlined", 0, 0, SHEET_ALWAYS, SHEET_RIGHT}};
    struct symbol_row *rows = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;
    if (symbol_rows_sum(report->symbols, report->symbol_count, s->keep, &rows, &count, &fault) !=
            ERR_NONE ||
        count == 0)
        return;
    sheet_heading(s, "What named the frames", ", by module and source");
    sheet_show(s, columns, 4, symbol_cell, rows, count);
}

static struct sheet_cell managed_cell(const void *rows, size_t at, size_t column,
                                      struct arena *keep)
{
    const struct managed_phase *phase = &((const struct managed_phase *)rows)[at];
    char text[MANAGED_CELL_BYTES];
    if (column == 0)
        return cell_text(INK_PLAIN, phase->name);
    const struct managed_count *c = &phase->modes[column - 1];
    enum ink ink = c->right < c->samples ? INK_WARN : INK_PLAIN;
    if (c->ends[MANAGED_WRONG] > 0 || c->ends[MANAGED_BLOCKED] > 0)
        ink = INK_BAD;
    return cell_text(ink, arena_string(keep, managed_cell_text(c, text)));
}

void document_managed(struct sheet *s, const struct run_figures *report)
{
    struct sheet_column columns[1 + MANAGED_MODES] = {{NULL, 20, 0, SHEET_ALWAYS, SHEET_LEFT}};
    struct managed_phase phases[MANAGED_PHASES_MAX];
    const uint32_t count = managed_phases_read(report->run, phases);
    const char *missing = managed_missing(report->run);
    if (count == 0 && missing == NULL)
        return;
    sheet_heading(s, "Right stacks of managed code", count > 0 ? ", while the stopped thread" : "");
    if (count == 0) {
        sheet_text(s, INK_DIM, 0, 0, missing);
        return;
    }
    for (int mode = 0; mode < MANAGED_MODES; mode++) {
        const char *name = managed_mode_name((enum managed_mode)mode);
        const uint32_t samples = phases[0].modes[mode].samples;
        const char *head =
            samples > 0 ? arena_printf(s->keep, "%s of %u", name, (unsigned)samples) : name;
        columns[1 + mode] = (struct sheet_column){head, 13, 0, SHEET_ALWAYS, SHEET_LEFT};
    }
    sheet_show(s, columns, 1 + MANAGED_MODES, managed_cell, phases, count);
    sheet_textf(s, INK_DIM, "r refused, h hijacked, e ended early, w wrong, b blocked%s%s",
                phases[0].measured != NULL ? "; measured " : "",
                phases[0].measured != NULL ? phases[0].measured : "");
}
