/* Times and sizes in the terminal report: see text.h. */
#include "report/text.h"
#include "report/words.h"
#include "study/timings.h"

static const char *amount(double value, bool bytes, char out[24])
{
    return bytes ? bytes_text(value, out) : duration_text(value, out);
}

/* Names are at most 36 wide; on a narrow page the number columns shrink. */
enum { NAME_COLUMNS = 37, COUNT_COLUMNS = 6 };

static int number_columns(const struct page *page)
{
    const int room = ((int)page->columns - NAME_COLUMNS - COUNT_COLUMNS) / 4;
    return room < 9 ? 9 : room > 13 ? 13 : room;
}

static void print_row(const struct page *page, const char *name, const struct spread *of,
                      bool bytes)
{
    const int width = number_columns(page);
    char text[24];
    if (of->count == 0)
        return;
    page_cell(page, INK_PLAIN, NAME_COLUMNS, name);
    page_cellf(page, INK_PLAIN, -COUNT_COLUMNS, "%zu", of->count);
    page_cell(page, INK_TITLE, -width, amount(of->median, bytes, text));
    page_cell(page, INK_DIM, -width, amount(of->least, bytes, text));
    page_cell(page, INK_DIM, -width, amount(of->p90, bytes, text));
    page_cell(page, INK_DIM, -width, amount(of->most, bytes, text));
    page_line(page);
}

static void print_heads(const struct page *page, const char *what)
{
    static const char *const heads[] = {"median", "least", "90 %", "most"};
    page_cell(page, INK_DIM, NAME_COLUMNS, what);
    page_cell(page, INK_DIM, -COUNT_COLUMNS, "cases");
    for (size_t i = 0; i < 4; i++)
        page_cell(page, INK_DIM, -number_columns(page), heads[i]);
    page_line(page);
}

static void print_slowest(const struct page *page, const struct timings *timings)
{
    if (timings->slow_count == 0)
        return;
    page_title(page, "SLOWEST TEN of the engines under test");
    for (uint32_t i = 0; i < timings->slow_count; i++) {
        const struct timings_slow *row = &timings->slowest[i];
        char name[160], text[24];
        page_cell(page, INK_PLAIN, NAME_COLUMNS, case_name(row->c, name));
        page_cell(page, INK_PLAIN, 14, row->engine);
        page_cell(page, INK_PLAIN, -13, duration_text((double)row->ns, text));
        page_cellf(page, INK_DIM, -15, "%u frames", row->frames);
        page_line(page);
    }
}

static void print_engine(const struct page *page, const struct timings_engine *engine)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%.50s", engine->engine);
    print_row(page, name, &engine->total, false);
    /* other walkers have the parts of the subject: the same reader and the same symbols */
    if (!engine->subject && engine->kind != ENGINE_KIND_JUDGE)
        return;
    for (size_t i = 0; i < TIMINGS_PARTS; i++) {
        const struct timings_row *part = &engine->parts[i];
        (void)snprintf(name, sizeof name, "  %s", part->name);
        print_row(page, name, &part->spread, part->bytes);
    }
}

enum status text_print_timing(const struct page *page, const struct run_figures *report,
                              struct arena *scratch, struct fault *fault)
{
    struct timings timings;
    if (timings_make(report, scratch, &timings, fault) != ERR_NONE)
        return fault->code;
    text_print_headline_spread(page, report, scratch);
    page_title(page, "TIMING");
    print_heads(page, "in the dying process");
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++)
        print_row(page, timings.capture[i].name, &timings.capture[i].spread,
                  timings.capture[i].bytes);
    page_line(page);
    print_heads(page, "on the back end, per stack");
    for (uint32_t i = 0; i < timings.engine_count; i++)
        print_engine(page, &timings.engines[i]);
    print_slowest(page, &timings);
    return ERR_NONE;
}
