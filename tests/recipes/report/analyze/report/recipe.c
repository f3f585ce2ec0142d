/* An example of a report format: one line per verdict. */
#include "report/report.h"

enum status report_recipe(const struct report_job *job, FILE *out, struct fault *fault)
{
    (void)fault;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (job->report->verdicts[v] > 0)
            (void)fprintf(out, "%s %u\n", verdict_name((enum verdict)v), job->report->verdicts[v]);
    return ERR_NONE;
}
