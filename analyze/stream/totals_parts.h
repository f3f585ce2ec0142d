/* What the files of the totals share; no other file includes this. */
#ifndef STREAM_TOTALS_PARTS_H
#define STREAM_TOTALS_PARTS_H

#include <sqlite3.h>

#include "base/text.h"
#include "stream/totals.h"
#include "stream/totals_sums.h"

enum { TOTALS_STATEMENTS = 20 };

/* So many results in a row must be of a day after the next one before it becomes the day. */
enum { TOTALS_LEAP_RESULTS = 64 };

/* Before the id of a report: the id of its shadow comparison among the remembered ones. No id of a
 * report has this character. */
#define TOTALS_SHADOW_ID "shadow/"
/* Before the id of a group of which a report has been counted by itself. */
#define TOTALS_SPLIT_ID "split/"

struct totals {
    sqlite3 *db;
    sqlite3_stmt *statements[TOTALS_STATEMENTS];
    char *file;
    char day[TEXT_DATE_BYTES]; /* of the newest id; "": there is none, or it is only read */
    uint32_t leaps;            /* results in a row that were of a day after the next one */
    uint64_t leap_s;           /* the earliest of their days */
    struct totals_sums sums;   /* of the transaction, not yet written */
    bool has_shadow;           /* false: a file of version 1, which is only read */
};

/* Remembers ID, of a result of HOUR (NULL: not known), for TOTALS_DAYS_KEPT days, inside a
 * transaction. *IS_NEW is false if it is known. */
enum status totals_remember(struct totals *totals, const char *id, const char *hour, bool *is_new,
                            struct fault *fault);

/* Sets the day of what is remembered next, t->day, from the HOUR of a result. */
enum status totals_set_day(struct totals *t, const char *hour, struct fault *fault);

#define TOTALS_DAY_S UINT64_C(86400)
/* The day that is DAYS before NOW_S, as a date. */
void totals_days_ago(uint64_t now_s, uint64_t days, char out[TEXT_DATE_BYTES]);
/* Seconds from 1970 to the start of DATE; 0: it begins with no date. */
uint64_t totals_midnight_s(const char *date);
/* The day of a result of HOUR, as seconds: its own, unless that is later than the clock here. */
uint64_t totals_day_of(const char *hour);

/* Writes the log into the database, which has none from now on. Nothing is added afterwards. */
bool totals_end_log(struct totals *t);

/* Fills FAULT from the database's last error. */
enum status totals_failed(struct totals *t, struct fault *fault);

#endif
