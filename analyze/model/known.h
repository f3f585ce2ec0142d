/* Known mismatches as structs; compare/known.h says how the file that holds them is written and
 * what they do to a run. */
#ifndef MODEL_KNOWN_H
#define MODEL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"

struct known {
    const char *id, *scope, *cause, *reason, *issue, *expires; /* issue: NULL: none */
    const char *pins; /* NULL: unpinned, whatever differs for the cause is accepted */
    uint32_t line;
    uint32_t seen;           /* cases of the scope, whatever their verdict; and, filled with it */
    uint32_t in_scope, hits; /* by known_apply: those that were judged, and that needed it      */
    bool expired;
};

struct known_list {
    struct known *items;
    uint32_t count;
};

/* What a new acceptance says. */
struct known_words {
    const char *reason, *issue, *expires; /* issue: NULL: none */
    const char *scope;                    /* NULL: this case alone */
};

#endif
