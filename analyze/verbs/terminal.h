/* The width of standard output, and whether it shows colours. */
#ifndef VERBS_TERMINAL_H
#define VERBS_TERMINAL_H

#include "report/page.h"
#include "report/report.h"

/* A terminal's own width (100 columns elsewhere), and its colours unless $NO_COLOR is set or it is
 * a dumb one. */
struct page terminal_page(void);
struct report_style terminal_style(void); /* the same for a whole report */

#endif
