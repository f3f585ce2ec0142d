/* What named the frames of a run: module by module, and the kind of symbols. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "report/text.h"

/* A module with one kind of symbols; builds of the same module are added up. */
struct named {
    const char *module;
    enum symbols_from source;
    uint64_t frames, inlined;
};

static int by_frames(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->frames != y->frames)
        return x->frames < y->frames ? 1 : -1;
    const int order = strcmp(x->module, y->module);
    return order != 0 ? order : strcmp(symbols_from_name(x->source), symbols_from_name(y->source));
}

static uint32_t add_up(const struct run_figures *report, struct named *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->symbol_count; i++) {
        const struct symbol_row *row = &report->symbols[i];
        const char *module = row->module != NULL ? row->module : "(no module)";
        uint32_t at = 0;
        while (at < count &&
               (strcmp(out[at].module, module) != 0 || out[at].source != row->symbols))
            at++;
        if (at == count)
            out[count++] = (struct named){.module = module, .source = row->symbols};
        out[at].frames += row->frames;
        out[at].inlined += row->inlined;
    }
    return count;
}

void text_print_symbols(const struct page *page, const struct run_figures *report,
                        struct arena *scratch)
{
    struct named *rows = ARENA_ARRAY(scratch, (size_t)report->symbol_count + 1, struct named);
    const uint32_t count = rows != NULL ? add_up(report, rows) : 0;
    if (count == 0)
        return;
    array_sort(rows, count, sizeof *rows, by_frames);
    page_title(page, "WHAT NAMED THE FRAMES, by module and source");
    for (uint32_t i = 0; i < count; i++) {
        const bool unnamed = rows[i].source == SYMBOLS_NONE;
        page_cell(page, INK_PLAIN, 34, rows[i].module);
        page_cell(page, unnamed ? INK_WARN : INK_PLAIN, 14, symbols_from_name(rows[i].source));
        page_cellf(page, INK_PLAIN, -9, "%" PRIu64, rows[i].frames);
        if (rows[i].inlined > 0)
            page_cellf(page, INK_DIM, 0, ", %" PRIu64 " inlined", rows[i].inlined);
        page_line(page);
    }
}
