/* The file of totals while it is open. */
#ifndef STREAM_TOTALS_FILE_H
#define STREAM_TOTALS_FILE_H

#include "base/text.h"
#include "database/query.h"
#include "stream/totals.h"
#include "stream/totals_sums.h"

enum { TOTALS_VERSION = 4, TOTALS_WITH_SHADOW = 2 };

enum totals_statement {
    TOTALS_READ_DAY,
    TOTALS_FORGET_REPORTS,
    TOTALS_FORGET_SLICES,
    TOTALS_FOLD_TALLY,
    TOTALS_DROP_TALLY,
    TOTALS_FOLD_TOTAL,
    TOTALS_DROP_TOTAL,
    TOTALS_HAS_REPORT,
    TOTALS_ADD_REPORT,
    TOTALS_ADD_TOTAL,
    TOTALS_ADD_SIGNATURE,
    TOTALS_ADD_TALLY,
    TOTALS_ADD_SLICE,
    TOTALS_COUNT_SLICES,
    TOTALS_READ_SLICES,
    TOTALS_DELETE_SLICES,
    TOTALS_READ_ALL,
    TOTALS_READ_HOURS,
    TOTALS_READ_ALL_VERSIONS,
    TOTALS_READ_NEW,
    TOTALS_READ_TOP,
    TOTALS_READ_RANK,
    TOTALS_READ_VERSIONS,
    TOTALS_READ_BY_VERSION,
    TOTALS_READ_TREND,
    TOTALS_READ_AGREEMENT,
    TOTALS_ADD_SHADOW,
    TOTALS_DELETE_ENGINES,
    TOTALS_DELETE_SHADOWS,
    TOTALS_ADD_ENGINE,
    TOTALS_READ_VERDICTS,
    TOTALS_READ_ENGINES,
    TOTALS_READ_MEDIAN,
    TOTALS_READ_ENGINE_HOURS,
    TOTALS_READ_CAUSES,
    TOTALS_ATTACH,
    TOTALS_COUNT_SAME,
    TOTALS_STATEMENTS
};

/* Before the id of a report: the id of its shadow comparison among the remembered ones. No id of a
 * report has this character. */
#define TOTALS_SHADOW_ID "shadow/"
/* Before the id of a group of which a report has been counted by itself. */
#define TOTALS_SPLIT_ID "split/"

extern const struct database_kind totals_kind; /* totals_sql.c */

struct totals {
    struct database database;
    char day[TEXT_DATE_BYTES]; /* of the newest id; "": there is none, or it is only read */
    uint32_t leaps;            /* results in a row that were of a day after the next one */
    uint64_t leap_s;           /* the earliest of their days */
    struct totals_sums sums;   /* of the transaction, not yet written */
    bool has_shadow;           /* false: a file of version 1, which is only read */
};

#endif
