/* The ways from a dead process to the stack of its thread under suspicion, and what each costs on
 * the back end. All ways are timed for the same thread; a cost counts only where the frames are the
 * same, too. Measured by conduct/measure.h. */
#ifndef MODEL_WAY_H
#define MODEL_WAY_H

#include <stdint.h>

#include "base/json.h"

enum case_way {
    WAY_FOREIGN, /* the dump, read by a foreign library */
    WAY_DUMP,    /* the dump, read by our engine        */
    WAY_TUNED,   /* the dump in its cheapest form       */
    WAY_OFFSET,
    WAY_COUNT
};

/* Nanoseconds of wall time; 0: not done or not known. */
struct way_parts {
    uint64_t whole_ns;
    uint64_t open_ns, unwind_ns, load_ns, resolve_ns; /* parts of whole_ns; the rest has no name */
    uint64_t own_ns;          /* whole_ns, if frames of system modules are walked, but not named */
    uint64_t even_ns, odd_ns; /* whole_ns in every other round: the same thing twice, a control */
};

/* As way_parts, but the parts are not kept. */
struct way_first {
    uint64_t whole_ns, even_ns, odd_ns;
};

struct way_cost {
    struct way_parts cold;  /* symbols are opened anew; files are in memory, and indexes of system
                               modules exist */
    struct way_parts warm;  /* symbols were used before */
    struct way_first first; /* as cold, but no index exists yet; of a few cases only */
    uint64_t frames;        /* physical ones; 0: this way gave no stack */
    uint64_t same;          /* 1: they are those of the offset way, or without it of the dump */
};

/* "foreign", "dump", "tuned", "offset". The reverse gives WAY_COUNT for any other text. */
const char *case_way_name(enum case_way way);
enum case_way case_way_parse(const char *text);

/* WAYS has WAY_COUNT rows: an array with one object for each way that gave a stack. */
void way_costs_write_json(struct json *j, const struct way_cost *ways);

#endif
