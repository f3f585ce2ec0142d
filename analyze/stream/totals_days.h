/* The days of results, for which the ids of reports are remembered. */
#ifndef STREAM_TOTALS_DAYS_H
#define STREAM_TOTALS_DAYS_H

#include "base/text.h"
#include "stream/totals.h"

/* So many results in a row must be of a day after the next one before it becomes the day. */
enum { TOTALS_LEAP_RESULTS = 64 };

/* Remembers ID, of a result of HOUR (NULL: not known), for TOTALS_DAYS_KEPT days, inside a
 * transaction. *IS_NEW is false if it is known. */
enum status totals_remember(struct totals *totals, const char *id, const char *hour, bool *is_new,
                            struct fault *fault);

/* True when ID is remembered. */
bool totals_has(struct totals *totals, const char *id, struct fault *fault);

/* Sets the day of what is remembered next, t->day, from the HOUR of a result. */
enum status totals_set_day(struct totals *t, const char *hour, struct fault *fault);

#define TOTALS_DAY_S UINT64_C(86400)
/* The day that is DAYS before NOW_S, as a date. */
void totals_days_ago(uint64_t now_s, uint64_t days, char out[TEXT_DATE_BYTES]);
/* Seconds from 1970 to the start of DATE; 0: it begins with no date. */
uint64_t totals_midnight_s(const char *date);
/* The day of a result of HOUR, as seconds: its own, unless that is later than the clock here. */
uint64_t totals_day_of(const char *hour);

#endif
