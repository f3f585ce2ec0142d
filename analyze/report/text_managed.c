/* Right stacks of managed code in the terminal report: see text.h. */
#include "model/managed_samples.h"
#include "report/text.h"

enum { PHASE_COLUMNS = 21 };

/* Together with the phase, no more than 80 columns; the last one is not padded. */
static const int mode_columns[MANAGED_MODES] = {14, 16, 14, 0};

void text_print_managed(const struct page *page, const struct run_figures *report)
{
    struct managed_phase phases[MANAGED_PHASES_MAX];
    const uint32_t count = managed_phases_read(report->run, phases);
    const char *missing = managed_missing(report->run);
    if (count == 0 && missing != NULL) {
        page_title(page, "RIGHT STACKS OF MANAGED CODE");
        page_wrap(page, INK_DIM, 0, missing);
    }
    if (count == 0)
        return;
    page_title(page, "RIGHT STACKS OF MANAGED CODE, while the stopped thread");
    page_cell(page, INK_DIM, PHASE_COLUMNS, "");
    for (int mode = 0; mode < MANAGED_MODES; mode++) {
        const char *name = managed_mode_name((enum managed_mode)mode);
        const uint32_t samples = phases[0].modes[mode].samples;
        if (samples > 0)
            page_cellf(page, INK_DIM, mode_columns[mode], "%s of %u", name, (unsigned)samples);
        else
            page_cell(page, INK_DIM, mode_columns[mode], name);
    }
    page_line(page);
    for (uint32_t i = 0; i < count; i++) {
        page_cell(page, INK_PLAIN, PHASE_COLUMNS, phases[i].name);
        for (int mode = 0; mode < MANAGED_MODES; mode++) {
            const struct managed_count *c = &phases[i].modes[mode];
            char text[MANAGED_CELL_BYTES];
            const bool bad = c->ends[MANAGED_WRONG] > 0 || c->ends[MANAGED_BLOCKED] > 0;
            page_cell(page,
                      bad                     ? INK_BAD
                      : c->right < c->samples ? INK_WARN
                                              : INK_PLAIN,
                      mode_columns[mode], managed_cell_text(c, text));
        }
        page_line(page);
    }
    page_cellf(page, INK_DIM, 0, "r refused, h hijacked, e ended early, w wrong, b blocked%s%s",
               phases[0].measured != NULL ? "; measured " : "",
               phases[0].measured != NULL ? phases[0].measured : "");
    page_line(page);
}
