/* Why cases of a run count as wrong, and how many for which reason: what every first screen says.
 */
#ifndef STUDY_TROUBLE_H
#define STUDY_TROUBLE_H

#include "base/arena.h"
#include "model/run.h"

/* Why a case counts as wrong: one trouble per failing case. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_NOT_CAPTURED,    /* neither record nor dump                              */
    TROUBLE_NO_DUMP,         /* the dump way had nothing to read                     */
    TROUBLE_NO_RECORD,       /* the offset way had nothing to read                   */
    TROUBLE_NO_DUMP_STACK,   /* there is a dump, and the dump way has no stack       */
    TROUBLE_NO_OFFSET_STACK, /* there is a record, and the offset way has no stack   */
    TROUBLE_NOT_JUDGED,      /* ERROR: gone, damaged, or the harness failed          */
    TROUBLE_WRONG_STACK,     /* a stack of an engine under test differs from the truth */
    TROUBLE_NOT_AGREED,      /* its engines differ only where the truth is silent      */
    TROUBLE_WRONG_END,       /* another exception, exit code or hook than promised   */
    TROUBLE_FALSE_ALARM,     /* a healthy program was reported as crashed            */
    TROUBLE_FLAKY,           /* repeats differ                                       */
    TROUBLE_UNEXPECTED_PASS, /* right, though accepted as wrong                      */
    TROUBLES
};

const char *trouble_name(enum trouble trouble);   /* "no_dump", ...               */
const char *trouble_phrase(enum trouble trouble); /* after a count: "without a dump" */
bool trouble_parse(const char *name, enum trouble *out);

enum trouble triage_trouble(const struct run_case *c);

/* That of most cases, which WRITTEN takes up; of equal ones the first. TROUBLE_NONE: all that have
 * a case are WRITTEN. */
enum trouble trouble_next(const uint32_t cases[TROUBLES], bool written[TROUBLES]);

/* "134 with a wrong stack, 2 without a dump", in KEEP; "": there is none. NULL: no memory. */
const char *troubles_text(const uint32_t cases[TROUBLES], struct arena *keep);

#endif
