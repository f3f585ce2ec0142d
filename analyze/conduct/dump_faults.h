/* What is wrong by the format in the dumps of cases: faults that our reader tolerates, and that a
 * Windows debugger does not. They decide no verdict. */
#ifndef CONDUCT_DUMP_FAULTS_H
#define CONDUCT_DUMP_FAULTS_H

#include "base/arena.h"
#include "base/fault.h"

struct opened_case; /* engine/opened.h */

struct dump_fault_row {
    const char *rule, *stream;    /* as in format/minidump/lint.h; stream may be NULL */
    const char *effect;           /* what a Windows debugger makes of it              */
    const char *path;             /* the first dump that has it                       */
    uint64_t foff;                /* the first place in it                            */
    const char *text;             /* about that place                                 */
    uint32_t dump_count, counted; /* dumps that have it; the number of the last one   */
};

enum { DUMP_FAULT_ROWS_MAX = 64 };

struct dump_faults {
    struct dump_fault_row rows[DUMP_FAULT_ROWS_MAX]; /* by rule and stream, in the order of their
                                                      * first appearance */
    uint32_t count, dump_count;                      /* dumps that were examined */
};

/* Adds those of the plain and of the cheapest dump of a case. A dump that cannot be read is left
 * out: its case says so. Fails: ERR_MEMORY. */
enum status dump_faults_add(const struct opened_case *c, struct arena *keep,
                            struct dump_faults *out, struct fault *fault);

#endif
