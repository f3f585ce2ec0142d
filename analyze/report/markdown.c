/* Markdown for CI summaries and comments: capped, since CI systems drop a summary that is too
 * large. Totals come first and always count everything; lists that do not fit end with how many
 * more there are. */
#include <stdarg.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

enum { DEFAULT_MAX_BYTES = 1000000, TAIL_BYTES = 200 };

/* The bytes that may still be written; lines are written whole or not at all. */
struct sheet {
    FILE *out;
    size_t left;
    struct arena *scratch;
};

static bool put_line(struct sheet *sheet, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    if (bytes + TAIL_BYTES > sheet->left)
        return false;
    (void)fputs(text, sheet->out);
    (void)fputc('\n', sheet->out);
    sheet->left -= bytes;
    return true;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
put_linef(struct sheet *sheet, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return put_line(sheet, text);
}

const char *markdown_text(const char *text, struct arena *keep)
{
    if (text == NULL)
        return "";
    const size_t room = strlen(text) * 6 + 1;
    char *out = arena_alloc(keep, room), *at = out;
    if (out == NULL)
        return "";
    char *end = out + room;
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            at += snprintf(at, (size_t)(end - at), "&lt;");
        else if (c == '&')
            at += snprintf(at, (size_t)(end - at), "&amp;");
        else if (c < 0x20)
            *at++ = ' ';
        else {
            if (strchr("\\`*_{}[]()#|!>~@", c) != NULL)
                *at++ = '\\';
            *at++ = (char)c;
        }
    }
    return out;
}

static const char *cell(struct sheet *sheet, const char *text)
{
    return markdown_text(text, sheet->scratch);
}

static void put_failures(struct sheet *sheet, const struct run_figures *report)
{
    const uint32_t failing = figures_failing(report);
    uint32_t shown = 0;
    if (failing == 0)
        return;
    (void)put_linef(sheet, "\n### Failing: %u", failing);
    (void)put_line(sheet, "| case | verdict | right | why |\n|---|---|---|---|");
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        char name[160];
        if (!run_verdict_fails(c->result.verdict))
            continue;
        if (!put_linef(sheet, "| %s | %s | %s | %.1500s |", cell(sheet, case_name(c, name)),
                       verdict_name(c->result.verdict), cell(sheet, c->result.right),
                       cell(sheet, c->result.reason)))
            break;
        shown++;
    }
    if (shown < failing)
        (void)fprintf(sheet->out, "\n... and %u more failing cases.\n", failing - shown);
}

static const char *percent(uint64_t right, uint64_t total, char out[24])
{
    if (total == 0)
        (void)snprintf(out, 24, "-");
    else
        (void)snprintf(out, 24, "%.1f %%", figures_percent(right, total));
    return out;
}

static void put_engines(struct sheet *sheet, const struct run_figures *report)
{
    (void)put_line(sheet, "\n### Engines against the truth\n"
                          "| engine | exact stacks | precision | recall | inline recall | lines |\n"
                          "|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        char p[24], r[24], n[24], l[24];
        (void)put_linef(sheet, "| %s%s | %u of %u | %s | %s | %s | %s |", cell(sheet, t->engine),
                        t->subject ? " (subject)" : "", t->exact, t->judged,
                        percent(t->right_frames, t->own_frames, p),
                        percent(t->right_frames, t->truth_frames, r),
                        percent(t->inline_right, t->inline_demanded, n),
                        percent(t->lines_right, t->lines_judged, l));
    }
    if (report->left_out > 0)
        (void)put_linef(sheet, "\n%u cases are not in these figures: ERROR, without any stack.",
                        report->left_out);
}

static void put_cases(struct sheet *sheet, const struct run_figures *report)
{
    uint32_t shown = 0;
    (void)put_linef(sheet, "\n<details><summary>All %u cases</summary>\n", report->case_count);
    (void)put_line(sheet, "| case | verdict | findings |\n|---|---|---|");
    for (uint32_t i = 0; i < report->case_count; i++, shown++) {
        const struct run_case *c = &report->cases[i];
        char name[160];
        if (!put_linef(sheet, "| %s | %s | %u |", cell(sheet, case_name(c, name)),
                       verdict_name(c->result.verdict), c->result.finding_count))
            break;
    }
    if (shown < report->case_count)
        (void)fprintf(sheet->out, "\n... and %u more cases.\n", report->case_count - shown);
    (void)fputs("\n</details>\n", sheet->out);
}

enum status report_markdown(const struct run_figures *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault)
{
    struct sheet sheet = {out, max_bytes == 0 ? DEFAULT_MAX_BYTES : max_bytes, scratch};
    const struct way_times ratio = figures_way_times(report, scratch);
    const uint32_t failing = figures_failing(report);
    const bool fails = failing > 0 || report->problem_count > 0;
    uint32_t counts[VERDICT_COUNT] = {0};
    for (uint32_t i = 0; i < report->case_count; i++)
        counts[report->cases[i].result.verdict]++;
    (void)put_linef(&sheet, "## %s twinstack: %s, %u of %u cases fail", fails ? "❌" : "✅",
                    fails ? "FAIL" : "PASS", failing, report->case_count);
    for (uint32_t i = 0; i < report->problem_count; i++)
        (void)put_linef(&sheet, "* **%.1500s**%s", cell(&sheet, report->problems[i]),
                        i + 1 == report->problem_count ? "\n" : "");
    char line[512] = "";
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0)
            (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%u %s",
                           line[0] != 0 ? ", " : "", counts[v], verdict_name((enum verdict)v));
    (void)put_line(&sheet, line);
    if (ratio.cases > 0) {
        const char *foreign = figures_foreign_engine(report);
        char a[24], b[24], c[24], first[64] = "", first_ms[32] = "";
        if (foreign != NULL) {
            (void)snprintf(first, sizeof first, "dump way (%.40s) : ", strchr(foreign, ':') + 1);
            (void)snprintf(first_ms, sizeof first_ms,
                           "%s : ", duration_text(ratio.foreign_ms * 1e6, a));
        }
        (void)put_linef(&sheet,
                        "\n**%sdump way (ours) : offset way = %s%s : %s** (one stack on the back "
                        "end, starting cold; medians of %u cases)",
                        first, first_ms, duration_text(ratio.dump_ms * 1e6, b),
                        duration_text(ratio.offset_ms * 1e6, c), (unsigned)ratio.cases);
    }
    put_failures(&sheet, report);
    put_engines(&sheet, report);
    put_cases(&sheet, report);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}
