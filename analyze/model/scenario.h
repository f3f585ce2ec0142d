/* A scenario as the victim program describes itself, and which ones the words of -k choose. */
#ifndef MODEL_SCENARIO_H
#define MODEL_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "model/case.h"

/* One scenario in one variant, as the victim program describes itself. */
struct scenario {
    const char *name, *variant;
    enum case_kind kind;
    const char *group;   /* of the scenario list: "A1", ..., "calm"         */
    const char *about;   /* one sentence: what it does to a reporter        */
    const char *program; /* path of victims-<variant>.exe                   */
    enum cpu arch;       /* of the program                                  */
    uint64_t code;       /* expected exception code; 0: none                */
    uint64_t exit_code;  /* expected, full 32 bits                          */
    uint64_t limit_ms;
    uint32_t hooks;        /* expected: a set, see model/hook.h            */
    const char **subjects; /* engines that the capture declares; none: all that are subjects */
    uint32_t subject_count;
    const char *output;      /* everything that a calm program prints; NULL: not stated */
    const char *unsupported; /* why this host cannot show it; NULL: it can  */
};

/* True when WORD is the scenario's kind, its group, or the group's word: hardware (A1), bypass
 * (A2), unwind (A3), threads (A4), hangs (A5), managed (A6). */
bool scenario_has_tag(const struct scenario *scenario, const char *word);

/* True when EXPR selects the scenario.  EXPR: words joined by `and`, `or`, `not` and
 * parentheses; a word is true when it is part of "name.variant", or is one of its tags.
 * NULL selects all.  Fails: ERR_USAGE. */
enum status scenario_select(const char *expr, const struct scenario *scenario, bool *selected,
                            struct fault *fault);

#endif
