/* JUnit XML, as CI systems read it: one suite per variant, one test per case. Verdicts that JUnit
 * does not know (XFAIL, UNSUPPORTED) are skips with the verdict in the message. */
#include <string.h>

#include "base/xml.h"
#include "report/report.h"
#include "report/words.h"

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
        xml_text(out, f->engine);
        (void)fprintf(out, " against ");
        xml_text(out, f->against);
        (void)fprintf(out, ", %s: ", cause_name(f->cause));
        xml_text(out, f->evidence);
        char blame[BLAME_TEXT_BYTES];
        if (f->blame != BLAME_UNKNOWN) {
            (void)fputs("; blame: ", out);
            xml_text(out, finding_blame_text(f, blame));
        }
        (void)fputs("&#10;", out);
    }
}

static void put_case(FILE *out, const struct run_case *c)
{
    char name[160];
    const enum verdict v = c->result.verdict;
    (void)fputs("    <testcase", out);
    xml_attribute(out, "classname", c->kind != CASE_KIND_NONE ? case_kind_name(c->kind) : "case");
    xml_attribute(out, "name", case_name(c, name));
    (void)fprintf(out, " time=\"%.3f\"", (double)c->wall_ms / 1000);
    if (!run_verdict_fails(v) && !is_skip(v)) {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fputs(">\n      ", out);
    const char *element = v == VERDICT_ERROR ? "error" : "failure";
    if (is_skip(v))
        element = "skipped";
    char message[512];
    (void)snprintf(message, sizeof message, "%s: %.400s", verdict_name(v),
                   c->result.reason != NULL ? c->result.reason : "");
    (void)fprintf(out, "<%s", element);
    xml_attribute(out, "message", message);
    xml_attribute(out, "type", verdict_name(v));
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

static void count_case(struct counts *n, const struct run_case *c)
{
    n->tests++;
    n->errors += c->result.verdict == VERDICT_ERROR;
    n->failures += run_verdict_fails(c->result.verdict) && c->result.verdict != VERDICT_ERROR;
    n->skipped += is_skip(c->result.verdict);
    n->seconds += (double)c->wall_ms / 1000;
}

/* One suite; its cases are in the order of the run. */
struct suite {
    const char *variant;
    struct counts counts;
};

struct suites {
    struct suite *rows;
    uint32_t count, room;
    uint32_t *of_case; /* the suite of each case */
    struct counts all;
    struct arena keep;
};

static struct suite *suite_of(struct suites *s, const char *variant)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->rows[i].variant, variant) == 0)
            return &s->rows[i];
    const char *name = arena_string(&s->keep, variant);
    if (!ARENA_ROOM(&s->keep, s->rows, s->room, (uint64_t)s->count + 1) || name == NULL)
        return NULL;
    s->rows[s->count].variant = name;
    return &s->rows[s->count++];
}

static enum status find_suites(struct case_window *w, struct suites *out, struct fault *fault)
{
    out->of_case = ARENA_ARRAY(&out->keep, (size_t)w->count + 1, uint32_t);
    for (uint32_t i = 0; i < w->count; i++) {
        const struct run_case *c = case_window_get(w, i, fault);
        struct suite *suite = c != NULL && out->of_case != NULL ? suite_of(out, c->variant) : NULL;
        if (suite == NULL)
            return fault->code != ERR_NONE ? fault->code
                                           : fault_no_memory(fault, "suites of a run");
        out->of_case[i] = (uint32_t)(suite - out->rows);
        count_case(&suite->counts, c);
        count_case(&out->all, c);
    }
    return ERR_NONE;
}

static void put_counts(FILE *out, struct counts n)
{
    (void)fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\"",
                  n.tests, n.failures, n.errors, n.skipped, n.seconds);
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
        xml_attribute(out, "message", report->problems[i]);
        (void)fputs(" type=\"FAIL\"/>\n    </testcase>\n", out);
    }
    (void)fputs("  </testsuite>\n", out);
}

static void put_suite(FILE *out, struct case_window *w, const struct suites *suites, uint32_t at,
                      const char *when, struct fault *fault)
{
    (void)fputs("  <testsuite", out);
    xml_attribute(out, "name", suites->rows[at].variant);
    put_counts(out, suites->rows[at].counts);
    xml_attribute(out, "timestamp", when);
    (void)fputs(">\n", out);
    for (uint32_t i = 0; i < w->count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = suites->of_case[i] == at ? case_window_get(w, i, fault) : NULL;
        if (c != NULL)
            put_case(out, c);
    }
    (void)fputs("  </testsuite>\n", out);
}

static void put_suites(FILE *out, struct case_window *w, const struct suites *suites,
                       const struct run_figures *report, struct fault *fault)
{
    struct counts all = suites->all;
    char when[32];
    (void)time_text(report->run->started_ns, when);
    when[strcspn(when, "Z")] = 0; /* the schema has no zone */
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"twinstack\"", out);
    all.tests += report->problem_count;
    all.failures += report->problem_count;
    put_counts(out, all);
    (void)fputs(">\n", out);
    for (uint32_t i = 0; i < suites->count; i++)
        put_suite(out, w, suites, i, when, fault);
    put_problems(out, report);
    (void)fputs("</testsuites>\n", out);
}

enum status report_junit(const struct report_job *job, FILE *out, struct fault *fault)
{
    const struct run_figures *report = job->report;
    struct suites suites = {.count = 0};
    struct case_window w;
    arena_init(&suites.keep, 0);
    case_window_open(&w, report, 0, fault);
    if (fault->code == ERR_NONE && find_suites(&w, &suites, fault) == ERR_NONE) {
        w.parts = CASE_FINDINGS;
        put_suites(out, &w, &suites, report, fault);
    }
    case_window_close(&w);
    arena_free(&suites.keep);
    if (fault->code == ERR_NONE && ferror(out) != 0)
        (void)fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report");
    return fault->code;
}
