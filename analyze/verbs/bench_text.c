/* See bench_text.h. */
#include "verbs/bench_text.h"

#include <math.h>
#include <stdio.h>

#include "report/words.h"

/* "1.2 ms [1.1 ms, 1.4 ms]", padded to the start of the next column. */
static void print_amount(const struct interval *m, bool bytes)
{
    char value[24], low[24], high[24], text[96];
    const char *(*words)(double, char[24]) = bytes ? bytes_text : duration_text;
    if (isnan(m->value)) {
        (void)printf("%10s %-23s", "-", "");
        return;
    }
    (void)snprintf(text, sizeof text, "[%s, %s]", words(m->low, low), words(m->high, high));
    const char *median = words(m->value, value);
    /* printf counts bytes: µ is two of them, and one column. */
    int more = 0, wide = 0;
    for (const char *at = median; *at != 0; at++)
        more += ((unsigned char)*at & 0xC0) == 0x80;
    for (const char *at = text; *at != 0; at++)
        wide += ((unsigned char)*at & 0xC0) == 0x80;
    (void)printf("%*s %-*s", 10 + more, median, 23 + wide, text);
}

static void print_stages(const char *title, const struct bench_row *stages, uint32_t count)
{
    (void)printf("\n%s\n  %-16s %10s %-23s%10s %-23sdump : offset\n", title, "", "offset", "95 %",
                 "dump", "95 %");
    for (uint32_t i = 0; i < count; i++) {
        const struct interval *offset = &stages[i].ways[0].median;
        const struct interval *dump = &stages[i].ways[1].median;
        (void)printf("  %-16s ", stages[i].name);
        print_amount(offset, stages[i].bytes);
        print_amount(dump, stages[i].bytes);
        if (!isnan(stages[i].ratio))
            (void)printf("%9.2f", stages[i].ratio);
        (void)putchar('\n');
    }
}

static void print_verdict(const struct bench_side *side)
{
    const size_t count = side->stages[BENCH_STAGES - 1].ways[0].count;
    (void)printf("  today's noise (offset against itself): %.1f %%\n", side->noise * 100);
    if (side->dump.change == CHANGE_TOO_FEW)
        (void)printf("  no verdict: %zu samples are too few, %d are needed\n", count,
                     STATISTICS_MIN_SAMPLES);
    else
        (void)printf("  dump : offset = %.2f : 1  [%.2f, %.2f]  p %.2g, threshold %.1f %%: "
                     "the dump way is %s\n",
                     side->ratio.value, side->ratio.low, side->ratio.high, side->dump.p,
                     side->dump.threshold * 100,
                     side->dump.change == CHANGE_NONE ? "as fast"
                                                      : change_words(side->dump.change));
    for (int w = 0; w < BENCH_WAYS; w++) {
        const struct change_verdict *then = &side->then[w];
        if (then->change != CHANGE_TOO_FEW)
            (void)printf("  %s against the last bench: %+.1f %%  p %.2g, threshold %.1f %%: %s\n",
                         bench_lane_name((enum bench_lane)w), then->effect * 100, then->p,
                         then->threshold * 100, change_words(then->change));
    }
}

void bench_print(const struct bench_findings *findings)
{
    char title[128];
    (void)snprintf(title, sizeof title, "IN THE DYING PROCESS, medians of %u cases",
                   findings->case_count);
    print_stages(title, findings->capture, BENCH_CAPTURE_STAGES);
    for (uint32_t i = 0; i < findings->side_count; i++) {
        const struct bench_side *side = &findings->sides[i];
        (void)snprintf(title, sizeof title,
                       "ON THE BACK END, %s; per stack, medians of %zu rounds over %u cases",
                       i == 1 ? "COLD (symbols opened for every stack)"
                              : "WARM (symbols stay open)",
                       side->stages[BENCH_STAGES - 1].ways[0].count, findings->case_count);
        print_stages(title, side->stages, BENCH_STAGES);
        print_verdict(side);
    }
}
