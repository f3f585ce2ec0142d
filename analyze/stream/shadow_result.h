/* The shadow comparison: what a sampled report gave whose record and dump were judged like a case
 * without a truth. The result is one line of JSON in the channel of partial results:
 *
 *     {"shadow":1,"id":...,"hour":...,"version":...,"verdict":...,"signature":...,
 *      "engines":[{"engine":...,"against":...,"result":...,"cause":...,"module":...,"ns":...}]}
 *
 * Everything but the id is unchecked: a worker of another version may have written it. */
#ifndef STREAM_SHADOW_RESULT_H
#define STREAM_SHADOW_RESULT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"

enum { SHADOW_ENGINES_MAX = 32 };

enum shadow_result {
    SHADOW_SAME,    /* agrees with `against` wherever both can be compared */
    SHADOW_DIFFERS, /* the first difference has `cause` and `module` */
    SHADOW_FAILED,  /* it has no stack; `cause` gives the reason in words */
    SHADOW_RESULTS
};

struct shadow_engine {
    const char *engine;  /* "dump", "judge:NAME", ...: see engine/engine.h */
    const char *against; /* the engine that it is compared with; NULL: it is the reference */
    enum shadow_result result;
    const char *cause, *module; /* NULL: none */
    uint64_t ns;                /* its time, warm; 0: not measured */
};

struct shadow {
    const char *id;             /* of the report; see queue_id_is_valid() */
    const char *hour, *version; /* as in struct partial */
    const char *verdict;        /* see model/finding.h */
    const char *signature;      /* of the record's stack; NULL: none */
    struct shadow_engine *engines;
    uint32_t count;
};

/* True for a SHARE (0 to 1) of all ids, and always the same for one id. */
bool shadow_is_sampled(const char *id, double share);

const char *shadow_result_name(enum shadow_result result); /* "same", "differs", "failed" */

/* True when TEXT is such a line and not a partial result. */
bool shadow_is_text(const char *text, size_t bytes);

/* The line in KEEP; NULL: out of memory. */
char *shadow_write(const struct shadow *shadow, struct arena *keep, size_t *bytes);

/* Fails: ERR_MALFORMED, ERR_UNSUPPORTED, ERR_LIMIT, ERR_MEMORY. */
enum status shadow_read(const char *text, size_t bytes, struct arena *keep, struct shadow *out,
                        struct fault *fault);

#endif
