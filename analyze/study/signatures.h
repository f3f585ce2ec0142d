/* The most frequent problems of a run or of streams of stacks: how often each signature was seen,
 * since when, and its earlier rank. */
#ifndef STUDY_SIGNATURES_H
#define STUDY_SIGNATURES_H

#include "base/json.h"
#include "study/runs.h"

struct signature_list {
    const char *of;                      /* "run 12", or the stream's name */
    const struct signature_count *items; /* most first */
    uint32_t count;
    uint64_t stacks;
    uint64_t bad; /* of streams: lines that are no stack */
};

struct signature_request {
    const char *rules;  /* a file; NULL: the built-in ones */
    const char *engine; /* whose stacks; NULL: the first subject that has one */
    const char *before; /* what signatures_write_json() wrote earlier; NULL: none */
};

/* The rules that are used when none are given, as a text to edit. */
const char *signatures_default_rules(void);

/* Counts run WORD.  Without `before`, ranks before and first sights come from the runs that the
 * database has before it.  *database: the standing fault is the store's.
 * Fails: ERR_ABSENT; ERR_MALFORMED rules or `before`. */
enum status signatures_of_run(struct store *store, const char *word,
                              const struct signature_request *request, struct arena *keep,
                              struct signature_list *out, bool *database, struct fault *fault);

/* Counts the stacks of FILES ("-": standard input): resolved ones as `resolve --ndjson` prints
 * them, or offset stacks.  NAME: where a new signature is first seen. */
enum status signatures_of_files(const char *const *files, uint32_t file_count, const char *name,
                                const struct signature_request *request, struct arena *keep,
                                struct signature_list *out, struct fault *fault);

/* TOP: so many at most. */
void signatures_write_json(struct json *j, const struct signature_list *list, uint64_t top);

#endif
