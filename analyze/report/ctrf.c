/* CTRF, the common test report format: https://ctrf.io */
#include "report/report.h"
#include "report/words.h"

enum ctrf_status {
    CTRF_PASSED,
    CTRF_FAILED,
    CTRF_PENDING,
    CTRF_SKIPPED,
    CTRF_OTHER,
    CTRF_STATUS_COUNT
};

static const char *const status_names[CTRF_STATUS_COUNT] = {"passed", "failed", "pending",
                                                            "skipped", "other"};

static enum ctrf_status status_of(enum verdict v)
{
    switch (v) {
    case VERDICT_PASS:
    case VERDICT_NOT_CAPTURED_AS_EXPECTED:
        return CTRF_PASSED;
    case VERDICT_XFAIL:
    case VERDICT_UNSUPPORTED:
        return CTRF_SKIPPED;
    default:
        return CTRF_FAILED;
    }
}

/* The problems that fail the run as a whole, as one test. */
static void write_problem(struct json *j, const char *problem)
{
    json_object(j);
    json_key_string(j, "name", "the run as a whole");
    json_key_string(j, "status", status_names[CTRF_FAILED]);
    json_key_uint(j, "duration", 0);
    json_key_string(j, "message", problem);
    json_object_end(j);
}

static void write_test(struct json *j, const struct run_case *c)
{
    char name[160];
    json_object(j);
    json_key_string(j, "name", case_name(c, name));
    json_key_string(j, "status", status_names[status_of(c->result.verdict)]);
    json_key_uint(j, "duration", c->wall_ms);
    json_key_array(j, "suite");
    json_string(j, c->kind != CASE_KIND_NONE ? case_kind_name(c->kind) : "case");
    json_string(j, c->variant);
    json_array_end(j);
    json_key_string(j, "message", c->result.reason != NULL ? c->result.reason : "");
    json_key_string(j, "rawStatus", verdict_name(c->result.verdict));
    json_key_bool(j, "flaky", c->result.verdict == VERDICT_FLAKY);
    json_key_object(j, "extra");
    json_key_string(j, "right", c->result.right);
    json_key_string(j, "signature", c->result.signature);
    json_object_end(j);
    json_object_end(j);
}

static void write_summary(struct json *j, const struct run_figures *report, struct case_window *w,
                          struct fault *fault)
{
    const struct run_info *run = report->run;
    uint32_t counts[CTRF_STATUS_COUNT] = {[CTRF_FAILED] = report->problem_count};
    for (uint32_t i = 0; i < w->count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(w, i, fault);
        if (c != NULL)
            counts[status_of(c->result.verdict)]++;
    }
    json_key_object(j, "summary");
    json_key_uint(j, "tests", (uint64_t)w->count + report->problem_count);
    for (int i = 0; i < CTRF_STATUS_COUNT; i++)
        json_key_uint(j, status_names[i], counts[i]);
    json_key_uint(j, "start", run->started_ns / 1000000);
    json_key_uint(j, "stop",
                  (run->finished_ns != 0 ? run->finished_ns : run->started_ns) / 1000000);
    json_object_end(j);
}

static void write_tests(struct json *j, const struct run_figures *report, struct case_window *w,
                        struct fault *fault)
{
    json_key_array(j, "tests");
    for (uint32_t i = 0; i < w->count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(w, i, fault);
        if (c != NULL)
            write_test(j, c);
    }
    for (uint32_t i = 0; i < report->problem_count; i++)
        write_problem(j, report->problems[i]);
    json_array_end(j);
}

enum status report_ctrf(const struct report_job *job, FILE *out, struct fault *fault)
{
    const struct run_figures *report = job->report;
    const struct run_info *run = report->run;
    struct case_window w;
    struct json j;
    case_window_open(&w, report, 0, fault);
    json_to_stream(&j, out, true);
    json_object(&j);
    json_key_string(&j, "reportFormat", "CTRF");
    json_key_string(&j, "specVersion", "0.0.0");
    json_key_object(&j, "results");
    json_key_object(&j, "tool");
    json_key_string(&j, "name", "twinstack");
    if (run->tool_count > 0 && run->tools[0].version != NULL)
        json_key_string(&j, "version", run->tools[0].version);
    json_object_end(&j);
    write_summary(&j, report, &w, fault);
    write_tests(&j, report, &w, fault);
    case_window_close(&w);
    json_key_object(&j, "environment");
    json_key_string(&j, "appName", "twinstack");
    if (run->commit != NULL)
        json_key_string(&j, "commit", run->commit);
    if (run->branch != NULL)
        json_key_string(&j, "branchName", run->branch);
    if (run->platform != NULL)
        json_key_string(&j, "osPlatform", run->platform);
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    return fault->code == ERR_NONE ? report_end_json(&j, out, fault) : fault->code;
}
