/* The whole run as JSON; README.md here says what each member means. */
#include "report/report.h"
#include "study/run_document.h"

enum status report_end_json(struct json *j, FILE *out, struct fault *fault)
{
    json_newline(j);
    return j->failed || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}

enum status report_json(const struct report_job *job, FILE *out, struct fault *fault)
{
    const struct run_figures *report = job->report;
    struct json j;
    json_to_stream(&j, out, true);
    run_document_write_json(&j, report, job->cost);
    return report_end_json(&j, out, fault);
}
