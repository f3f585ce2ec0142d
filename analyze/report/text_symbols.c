/* What named the frames of a run: module by module, and the kind of symbols. */
#include <inttypes.h>

#include "report/text.h"
#include "study/run_lists.h"

void text_print_symbols(const struct page *page, const struct run_figures *report,
                        struct arena *scratch)
{
    struct symbol_row *rows = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;
    if (symbol_rows_sum(report->symbols, report->symbol_count, scratch, &rows, &count, &fault) !=
            ERR_NONE ||
        count == 0)
        return;
    page_title(page, "WHAT NAMED THE FRAMES, by module and source");
    for (uint32_t i = 0; i < count; i++) {
        const bool unnamed = rows[i].symbols == SYMBOLS_NONE;
        page_cell(page, INK_PLAIN, 34, rows[i].module);
        page_cell(page, unnamed ? INK_WARN : INK_PLAIN, 14, symbols_from_name(rows[i].symbols));
        page_cellf(page, INK_PLAIN, -9, "%" PRIu64, rows[i].frames);
        if (rows[i].inlined > 0)
            page_cellf(page, INK_DIM, 0, ", %" PRIu64 " inlined", rows[i].inlined);
        page_line(page);
    }
}
