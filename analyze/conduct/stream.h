/* Work of the stream that needs what other rooms compute. */
#ifndef CONDUCT_STREAM_H
#define CONDUCT_STREAM_H

#include "stream/work.h"

#define STREAM_TOTALS "build/totals.db"

struct shadow_judging;

/* work_run() with the rules of the file RULES (NULL: the built-in ones). JUDGING: how sampled
 * reports are judged, without its rules; NULL: none is. Fails: as the rules or work_run(). */
enum status stream_work(struct work_options *options, const char *rules,
                        struct shadow_judging *judging, struct work_figures *figures,
                        struct fault *fault);

#endif
