/* The file of totals while it is open. */
#ifndef STREAM_TOTALS_FILE_H
#define STREAM_TOTALS_FILE_H

#include <sqlite3.h>

#include "base/text.h"
#include "stream/totals.h"
#include "stream/totals_sums.h"

enum { TOTALS_STATEMENTS = 20 };

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

/* Writes the log into the database, which has none from now on. Nothing is added afterwards. */
bool totals_end_log(struct totals *t);

/* Fills FAULT from the database's last error. */
enum status totals_failed(struct totals *t, struct fault *fault);

#endif
