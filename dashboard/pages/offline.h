/* The data of the offline page. */
#ifndef PAGES_OFFLINE_H
#define PAGES_OFFLINE_H

#include "pages/view.h"
#include <stdint.h>

/* Limits of one offline file: the cases listed; the cases with stacks and history, failing ones
 * first; the packed bytes after which no further case is added; the runs listed; the runs compared
 * with this one. */
enum {
    OFFLINE_CASES_MAX = 10000,
    OFFLINE_STACKS_MAX = 2000,
    OFFLINE_BYTES_MAX = 32 << 20,
    OFFLINE_RUNS_MAX = 200,
    OFFLINE_TREND_RUNS = 100,  /* as pages/trend.js asks for */
    OFFLINE_COMPARED_MAX = 20, /* the baseline and the previous run are extra */
};

/* A document that is not a view, such as the list of routes: JSON, or text. */
struct view_extra {
    const char *path, *text;
    size_t bytes;
};

struct view_offline {
    uint64_t run_id;
    const struct view_extra *extras;
    uint32_t extra_count;
};

/* Writes {"offline": what there is, path: document, ...} for web_offline_page(): the run, its
 * cases, its pages, and the runs around it, each document packed by view_pack().
 * The same store gives the same bytes.  Fails: ERR_ABSENT no such run; ERR_MEMORY; as the store. */
enum status view_write_offline(struct store *store, const struct view_offline *asked,
                               struct json *out, struct fault *fault);

#endif
