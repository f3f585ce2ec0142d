/* Which cases a run was asked to capture: a fact of the run, stored with it. */
#ifndef MODEL_RUN_SELECTION_H
#define MODEL_RUN_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

struct run_selection {
    bool known; /* false: the run's maker did not state it, and the rest is unset */
    const char *expr, *variants; /* of -k and --variant; NULL: all */
    uint32_t shard, shard_count; /* of --shard I/N; 0: not a part */
};

/* True when the run was asked for every case. */
bool run_selection_is_all(const struct run_selection *s);

/* True when A and B name the same cases. */
bool run_selection_same(const struct run_selection *a, const struct run_selection *b);

/* LIST, "ob0,ob2", is selected, too: an option that is given twice names both. In KEEP; LIST is
 * borrowed. False: out of memory. */
bool run_selection_add_variants(const char *list, struct arena *keep, struct run_selection *s);

/* "2/5": the second of five parts.  False, and S does not change: TEXT has another form. */
bool run_selection_parse_shard(const char *text, struct run_selection *s);

/* The selection of a run whose database stores only its command line; not known if that cannot be
 * read.  OUT lives in KEEP.  Fails: ERR_MEMORY. */
enum status run_selection_of_command(const char *command, struct arena *keep,
                                     struct run_selection *out, struct fault *fault);

#endif
