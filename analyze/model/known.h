/* Known mismatches as structs; compare/known.h says how the file that holds them is written and
 * what they do to a run. */
#ifndef MODEL_KNOWN_H
#define MODEL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"

#define KNOWN_BEYOND                                                                               \
    "beyond what [" /* begins the reason of a case that fails in more than is accepted */

struct known {
    const char *id, *scope, *cause, *reason, *issue, *expires; /* issue: NULL: none */
    const char *pins;   /* how much may be wrong; NULL: any amount */
    const char *frames; /* which frames may differ, one per line; NULL: any; "": none */
    const char *broad;  /* it may cover many scenarios or hold for long; NULL: it may not */
    uint32_t line;
    uint32_t of_build;       /* cases of a build that the scope names */
    uint32_t seen;           /* cases in the scope, whatever their verdict; also, set */
    uint32_t in_scope, hits; /* set by known_apply: cases judged, and cases that needed it */
    uint32_t others;         /* likewise: cases in the scope that fail in another way */
    bool expired;
    bool ungraced; /* not pinned, and that is no longer allowed */
    bool overlong; /* holds for more than KNOWN_DAYS_MAX days from that day */
};

struct known_list {
    struct known *items;
    uint32_t count;
};

/* The content of a new acceptance. */
struct known_words {
    const char *reason, *issue, *expires; /* issue: NULL: none */
    const char *scope;                    /* NULL: only this case */
    bool broad; /* it may cover many scenarios, or hold for more than KNOWN_DAYS_MAX days */
};

#endif
