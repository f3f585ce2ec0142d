/* The head problems: the totals of all reports, which a reducer keeps. */
#ifndef INBOX_PROBLEMS_H
#define INBOX_PROBLEMS_H

#include "base/arena.h"
#include "http/route.h"

struct dashboard;

route_handler answer_problems;

/* Lines of OpenMetrics about the totals and the collector, in KEEP; "": there are neither. NULL:
 * out of memory. */
char *problems_metrics(struct dashboard *dashboard, struct arena *keep);

#endif
