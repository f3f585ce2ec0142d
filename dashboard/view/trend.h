/* View: one figure through all runs. */
#ifndef VIEW_TREND_H
#define VIEW_TREND_H

#include "view/view.h"

/* A figure's trend up to run UNTIL (0: the newest), oldest first, and the usual range of its
 * history (quartiles widened by 1.5 times their distance): {points: [{run, started_ns, value,
 * count}], band: {low, high}}. */
enum status view_write_trend(const struct view_input *in, const char *metric, const char *scenario,
                             const char *variant, uint64_t until, uint32_t limit, struct json *out,
                             struct fault *fault);

view_function view_trend;

#endif
