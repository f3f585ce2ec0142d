/* Memory that runs out at each request in turn. */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include "base/arena.h"
#include "base/fault.h"
#include "test.h"

typedef enum status short_memory_fn(struct arena *keep, void *context, struct fault *fault);

/* Calls FN with an arena that fails at the first request, then at the second, and so on, until no
 * request fails: up to then FN gives ERR_MEMORY, and at last ERR_NONE. */
static inline void short_memory(short_memory_fn *fn, void *context)
{
    enum { REQUESTS_MAX = 2000 };
    bool whole = false;
    for (uint64_t n = 1; !whole && n < REQUESTS_MAX; n++) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        keep.fail_after = n;
        const enum status got = fn(&keep, context, &fault);
        whole = keep.fail_after != 0;
        if (got != (whole ? ERR_NONE : ERR_MEMORY))
            FAIL("at request %u: %d", (unsigned)n, (int)got);
        arena_free(&keep);
    }
    CHECK(whole);
}

#endif
