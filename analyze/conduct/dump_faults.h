/* What is wrong by the format in the dumps of cases: faults that our reader tolerates, and that a
 * Windows debugger does not. They decide no verdict. */
#ifndef CONDUCT_DUMP_FAULTS_H
#define CONDUCT_DUMP_FAULTS_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/case.h"

struct dump_fault_row {
    const char *rule, *stream;    /* as in format/minidump/lint.h; stream may be NULL */
    const char *effect;           /* what a Windows debugger makes of it              */
    const char *path;             /* the first dump that has it                       */
    uint64_t foff;                /* the first place in it                            */
    const char *text;             /* about that place                                 */
    uint32_t dump_count, counted; /* dumps that have it; the number of the last one   */
};

struct dump_faults {
    struct dump_fault_row *rows; /* by rule and stream, in the order of their first appearance */
    uint32_t count, dump_count;  /* dumps that were examined */
};

/* Examines the plain and the cheapest dump of each case. A dump that cannot be read is left out:
 * its case says so. Fails: ERR_MEMORY. */
enum status dump_faults_find(const struct crash_case *cases, uint32_t case_count,
                             struct arena *keep, struct dump_faults *out, struct fault *fault);

#endif
