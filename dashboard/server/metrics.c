/* Metrics: the figures of the newest run, and those of collected reports. */
#include "server/metrics.h"

#include <string.h>

#include "http/response.h"
#include "inbox/problems.h"
#include "pages/api.h"

int answer_metrics(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    const char *more = problems_metrics(x->dashboard, &x->keep);
    const bool has_run =
        exchange_figures(x, figures_metrics, "/metrics", &text, &bytes, &fault) == ERR_NONE;
    if (!has_run && (more == NULL || more[0] == '\0'))
        return answer_fault(x, &fault);
    if (more != NULL && more[0] != '\0') { /* the last line of a document is "# EOF" */
        static const char last[] = "# EOF\n";
        const size_t head = has_run && bytes >= sizeof last - 1 ? bytes - (sizeof last - 1) : 0;
        text = arena_printf(&x->keep, "%.*s%s%s", (int)head, has_run ? text : "", more, last);
        if (text == NULL)
            return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
        bytes = strlen(text);
    }
    return answer_text(x, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8", text,
                       bytes);
}
