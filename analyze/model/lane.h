/* A lane of the table of speed (study/speed.h) in one state, for one processor: what `gate --lane`
 * names. */
#ifndef MODEL_LANE_H
#define MODEL_LANE_H

#include <stdbool.h>

#include "base/arena.h"
#include "model/cpu.h"
#include "model/way.h"

enum way_state {
    WAY_FIRST, /* no index of the symbols yet: building it is included */
    WAY_INDEX, /* a new process; the index is on disk */
    WAY_WARM,  /* the same process has used the same symbols before */
    WAY_STATES
};

struct lane {
    enum cpu arch; /* CPU_UNKNOWN: any */
    enum case_way way;
    enum way_state state; /* WAY_STATES: any */
};

/* "offsets", "plain dump", "tuned dump", "foreign"; "no index", "index", "warm". */
const char *lane_way_name(enum case_way way);
const char *lane_state_name(enum way_state state);

/* "x64 plain dump, index", in KEEP; NULL: no memory. */
const char *lane_name(const struct lane *lane, struct arena *keep);

/* "x64 plain dump, index", "plain dump, index", "plain dump". False: TEXT is none of these. */
bool lane_parse(const char *text, struct lane *out);

bool lane_is(const struct lane *asked, const struct lane *lane);

#endif
