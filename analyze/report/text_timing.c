/* Times and sizes in the terminal report: see text.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/text.h"
#include "report/words.h"

enum { SLOWEST = 10 };

struct timed_part {
    const char *name;
    size_t offset; /* in struct case_timing or struct engine_cost */
    bool bytes;
};

static const struct timed_part measures[] = {
    {"walk (rtl)", offsetof(struct case_timing, walk_ns), false},
    {"stopped, until the stack is copied", offsetof(struct case_timing, stop_copy_ns), false},
    {"stopped, until the last frame", offsetof(struct case_timing, stop_walk_ns), false},
    {"stopped, until the end of the dump", offsetof(struct case_timing, stop_dump_ns), false},
    {"record written", offsetof(struct case_timing, record_write_ns), false},
    {"dump written", offsetof(struct case_timing, dump_write_ns), false},
    {"dump written, tuned", offsetof(struct case_timing, dump_tuned_ns), false},
    {"bytes of a record", offsetof(struct case_timing, record_bytes), true},
    {"bytes of a dump", offsetof(struct case_timing, dump_bytes), true},
    {"one capture on demand", offsetof(struct case_timing, capture_now_ns), false},
    {"hang found, after its time limit", offsetof(struct case_timing, hang_late_ns), false},
    {"bytes of a dump, tuned", offsetof(struct case_timing, dump_tuned_bytes), true},
};

static uint64_t timing_number(const struct run_case *c, const void *context)
{
    const struct timed_part *m = context;
    uint64_t value = 0;
    if (m->bytes || !c->timing.crowded)
        memcpy(&value, (const char *)&c->timing + m->offset, sizeof value);
    return value;
}

/* The parts of an engine's cost; shown below its total where they are known. */
static const struct timed_part parts[] = {
    {"opening", offsetof(struct engine_cost, open_ns), false},
    {"walking", offsetof(struct engine_cost, unwind_ns), false},
    {"loading symbols", offsetof(struct engine_cost, load_ns), false},
    {"naming", offsetof(struct engine_cost, resolve_ns), false},
    {"all, cold", offsetof(struct engine_cost, cold_ns), false},
    {"peak memory", offsetof(struct engine_cost, peak_bytes), true},
};

struct engine_part {
    const char *engine;
    const struct timed_part *measure;
};

static uint64_t part_number(const struct run_case *c, const void *context)
{
    const struct engine_part *p = context;
    uint64_t value = 0;
    if (case_is_timed(c, p->engine))
        memcpy(&value, (const char *)&case_claim(c, p->engine)->cost + p->measure->offset,
               sizeof value);
    return value;
}

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

struct slow {
    const struct run_case *c;
    const char *engine;
    uint64_t ns;
};

static int slowest_first(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void print_slowest(const struct page *page, const struct run_figures *report,
                          struct slow *rows)
{
    size_t count = 0;
    for (uint32_t i = 0; i < report->case_count; i++)
        for (uint32_t e = 0; e < report->engine_count; e++) {
            const uint64_t ns = case_total_ns(&report->cases[i], report->engines[e].engine);
            if (ns > 0 && report->engines[e].subject)
                rows[count++] = (struct slow){&report->cases[i], report->engines[e].engine, ns};
        }
    if (count == 0)
        return;
    array_sort(rows, count, sizeof *rows, slowest_first);
    page_title(page, "SLOWEST TEN of the engines under test");
    for (size_t i = 0; i < count && i < SLOWEST; i++) {
        char name[160], text[24];
        const struct engine_score *s = case_score(rows[i].c, rows[i].engine);
        page_cell(page, INK_PLAIN, NAME_COLUMNS, case_name(rows[i].c, name));
        page_cell(page, INK_PLAIN, 14, rows[i].engine);
        page_cell(page, INK_PLAIN, -13, duration_text((double)rows[i].ns, text));
        page_cellf(page, INK_DIM, -15, "%u frames", s != NULL ? s->frames : 0);
        page_line(page);
    }
}

enum status text_print_timing(const struct page *page, const struct run_figures *report,
                              struct arena *scratch, struct fault *fault)
{
    double *numbers = ARENA_ARRAY(scratch, (size_t)report->case_count + 1, double);
    struct slow *rows =
        ARENA_ARRAY(scratch, (size_t)report->case_count * CLAIMS_MAX + 1, struct slow);
    struct spread spread;
    if (numbers == NULL || rows == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "times of a run");
    text_print_headline_spread(page, report, scratch);
    page_title(page, "TIMING");
    print_heads(page, "in the dying process");
    for (size_t i = 0; i < COUNT_OF(measures); i++) {
        spread = figures_spread(report, timing_number, &measures[i], numbers);
        print_row(page, measures[i].name, &spread, measures[i].bytes);
    }
    page_line(page);
    print_heads(page, "on the back end, per stack");
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const char *engine = report->engines[i].engine;
        char name[64];
        (void)snprintf(name, sizeof name, "%.50s", engine);
        spread = figures_spread(report, case_total_ns, engine, numbers);
        print_row(page, name, &spread, false);
        /* other walkers have the parts of the subject: the same reader and the same symbols */
        const bool has_parts =
            report->engines[i].subject || report->engines[i].kind == ENGINE_KIND_JUDGE;
        for (size_t k = 0; has_parts && k < COUNT_OF(parts); k++) {
            const struct engine_part part = {engine, &parts[k]};
            (void)snprintf(name, sizeof name, "  %s", parts[k].name);
            spread = figures_spread(report, part_number, &part, numbers);
            print_row(page, name, &spread, parts[k].bytes);
        }
    }
    print_slowest(page, report, rows);
    return ERR_NONE;
}
