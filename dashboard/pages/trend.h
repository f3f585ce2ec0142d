/* View: one figure through all runs. */
#ifndef PAGES_TREND_H
#define PAGES_TREND_H

#include "pages/view.h"
#include "study/trend.h"

/* A figure's trend as study/trend.h reads it, without the facts of its runs: {points: [{run,
 * started_ns, value, count}], band: {low, high}}. */
enum status view_write_trend(const struct view_input *in, const struct trend_query *query,
                             struct json *out, struct fault *fault);

#endif
