/* Collecting reports: off unless the server is started with --collect.
 *
 * A sender has a name and a token, in a file of lines `NAME TOKEN [RATE]`. Its reports are limited
 * in size and in rate. An answer of 200 means that the report is stored: by the queue, or by the
 * disk. */
#ifndef INBOX_REPORTS_INBOX_H
#define INBOX_REPORTS_INBOX_H

#include "base/fault.h"
#include "base/json.h"
#include "http/dashboard_options.h"
#include "http/route.h"

struct collector;

/* Fails: ERR_USAGE no senders or no queue; ERR_MALFORMED the file of senders; and as queue_open().
 */
enum status collector_open(const struct dashboard_options *options, struct collector **out,
                           struct fault *fault);
void collector_close(struct collector *collector);

route_handler answer_report;

/* Lines of OpenMetrics, with a NUL at the end, in KEEP; NULL: out of memory. */
char *collector_metrics(struct collector *collector, struct arena *keep);

#endif
