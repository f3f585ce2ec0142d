/* JUnit XML, as CI systems read it: one suite per variant, one test per case. Verdicts that JUnit
 * does not know (XFAIL, UNSUPPORTED) are skips with the verdict in the message. */
#include <string.h>

#include "report/report.h"
#include "report/words.h"

/* Characters that XML 1.0 cannot hold become '?'. */
static void put_escaped(FILE *out, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        switch (*text) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\n':
            (void)fputs("&#10;", out);
            break;
        default:
            (void)fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
        }
}

static void attribute(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, " %s=\"", name);
    put_escaped(out, value);
    (void)fputc('"', out);
}

static bool is_skip(enum verdict v)
{
    return v == VERDICT_XFAIL || v == VERDICT_UNSUPPORTED;
}

static void put_findings(FILE *out, const struct run_case *c)
{
    for (uint32_t i = 0; i < c->result.finding_count; i++) {
        const struct finding *f = &c->result.findings[i];
        if (!f->fails)
            continue;
        put_escaped(out, f->engine);
        (void)fprintf(out, " against ");
        put_escaped(out, f->against);
        (void)fprintf(out, ", %s: ", cause_name(f->cause));
        put_escaped(out, f->evidence);
        char blame[BLAME_TEXT_BYTES];
        if (f->blame != BLAME_UNKNOWN) {
            (void)fputs("; blame: ", out);
            put_escaped(out, finding_blame_text(f, blame));
        }
        (void)fputs("&#10;", out);
    }
}

static void put_case(FILE *out, const struct run_case *c)
{
    char name[160];
    const enum verdict v = c->result.verdict;
    (void)fputs("    <testcase", out);
    attribute(out, "classname", c->kind != CASE_KIND_NONE ? case_kind_name(c->kind) : "case");
    attribute(out, "name", case_name(c, name));
    (void)fprintf(out, " time=\"%.3f\"", (double)c->wall_ms / 1000);
    if (!run_verdict_fails(v) && !is_skip(v)) {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fputs(">\n      ", out);
    const char *element = is_skip(v) ? "skipped" : v == VERDICT_ERROR ? "error" : "failure";
    char message[512];
    (void)snprintf(message, sizeof message, "%s: %.400s", verdict_name(v),
                   c->result.reason != NULL ? c->result.reason : "");
    (void)fprintf(out, "<%s", element);
    attribute(out, "message", message);
    attribute(out, "type", verdict_name(v));
    if (is_skip(v)) {
        (void)fputs("/>\n", out);
    } else {
        (void)fputc('>', out);
        put_findings(out, c);
        (void)fprintf(out, "</%s>\n", element);
    }
    (void)fputs("    </testcase>\n", out);
}

struct counts {
    uint32_t tests, failures, errors, skipped;
    double seconds;
};

static struct counts count_variant(const struct run_figures *report, const char *variant)
{
    struct counts n = {0, 0, 0, 0, 0};
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        if (variant != NULL && strcmp(c->variant, variant) != 0)
            continue;
        n.tests++;
        n.errors += c->result.verdict == VERDICT_ERROR;
        n.failures += run_verdict_fails(c->result.verdict) && c->result.verdict != VERDICT_ERROR;
        n.skipped += is_skip(c->result.verdict);
        n.seconds += (double)c->wall_ms / 1000;
    }
    return n;
}

static void put_counts(FILE *out, struct counts n)
{
    (void)fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\"",
                  n.tests, n.failures, n.errors, n.skipped, n.seconds);
}

static bool is_first_of_variant(const struct run_figures *report, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (strcmp(report->cases[i].variant, report->cases[at].variant) == 0)
            return false;
    return true;
}

/* The problems that fail the run as a whole, as one suite. */
static void put_problems(FILE *out, const struct run_figures *report)
{
    const uint32_t count = report->problem_count;
    if (count == 0)
        return;
    (void)fputs("  <testsuite name=\"run\"", out);
    put_counts(out, (struct counts){count, count, 0, 0, 0});
    (void)fputs(">\n", out);
    for (uint32_t i = 0; i < count; i++) {
        (void)fputs("    <testcase classname=\"run\" name=\"the run as a whole\" time=\"0\">\n"
                    "      <failure",
                    out);
        attribute(out, "message", report->problems[i]);
        (void)fputs(" type=\"FAIL\"/>\n    </testcase>\n", out);
    }
    (void)fputs("  </testsuite>\n", out);
}

enum status report_junit(const struct run_figures *report, FILE *out, struct fault *fault)
{
    char when[32];
    (void)time_text(report->run->started_ns, when);
    when[strcspn(when, "Z")] = 0; /* the schema has no zone */
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"twinstack\"", out);
    struct counts all = count_variant(report, NULL);
    all.tests += report->problem_count;
    all.failures += report->problem_count;
    put_counts(out, all);
    (void)fputs(">\n", out);
    for (uint32_t i = 0; i < report->case_count; i++) {
        const char *variant = report->cases[i].variant;
        if (!is_first_of_variant(report, i))
            continue;
        (void)fputs("  <testsuite", out);
        attribute(out, "name", variant);
        put_counts(out, count_variant(report, variant));
        attribute(out, "timestamp", when);
        (void)fputs(">\n", out);
        for (uint32_t k = i; k < report->case_count; k++)
            if (strcmp(report->cases[k].variant, variant) == 0)
                put_case(out, &report->cases[k]);
        (void)fputs("  </testsuite>\n", out);
    }
    put_problems(out, report);
    (void)fputs("</testsuites>\n", out);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}
