/* The most frequent problems of a run or of streams of stacks: how often each signature was seen,
 * since when, and its earlier rank. */
#ifndef STUDY_SIGNATURES_H
#define STUDY_SIGNATURES_H

#include <stdio.h>

#include "base/json.h"
#include "study/runs.h"

struct signature_list {
    const char *of;                      /* "run 12", or the stream's name */
    const struct signature_count *items; /* most first */
    uint32_t count;
    uint64_t stacks;
    uint64_t bad;   /* of streams: lines that are no stack */
    uint64_t floor; /* the largest count that a missing signature can have; 0: none is missing */
};

struct symbol_store;

struct signature_request {
    const char *rules;  /* a file; NULL: the built-in ones */
    const char *engine; /* whose stacks; NULL: the first subject that has one */
    const char *before; /* what signatures_write_json() wrote earlier; NULL: none */
};

/* The rules that are used when none are given, as a text to edit. */
const char *signatures_default_rules(void);

/* Reads the rules of the file PATH; NULL: the built-in ones. Fails: ERR_ABSENT, ERR_MALFORMED. */
struct signature_rules;
enum status signatures_read_rules(const char *path, struct arena *keep,
                                  struct signature_rules **out, struct fault *fault);

/* Counts run WORD.  Without `before`, ranks before and first sights come from the runs that the
 * database has before it.  *database: the fault is that of the store.
 * Fails: ERR_ABSENT; ERR_MALFORMED rules or `before`. */
enum status signatures_of_run(struct store *store, const char *word,
                              const struct signature_request *request, struct arena *keep,
                              struct signature_list *out, bool *database, struct fault *fault);

/* Counts the stacks of FILES ("-": standard input): resolved ones as `resolve --ndjson` prints
 * them, or offset stacks.  NAME: where a new signature is first seen. */
enum status signatures_of_files(const char *const *files, uint32_t file_count, const char *name,
                                const struct signature_request *request, struct arena *keep,
                                struct signature_list *out, struct fault *fault);

/* How signatures_of_stacks() counts. */
struct signature_counting {
    struct symbol_store *store;
    uint32_t workers;        /* 1 to 64 */
    uint32_t max_signatures; /* memory is bounded by it: see `floor` and `error`; 0: no bound */
    uint32_t distinct_max;   /* for tests; 0: the usual number */
};

/* Resolves and counts the offset stacks of FILES ("-": standard input) in one pass. Fails:
 * ERR_ABSENT, ERR_IO, ERR_MEMORY, ERR_INTERRUPTED. */
enum status signatures_of_stacks(const char *const *files, uint32_t file_count, const char *name,
                                 const struct signature_request *request,
                                 const struct signature_counting *counting, struct arena *keep,
                                 struct signature_list *out, struct fault *fault);

/* Adds up what signatures_write_partial() wrote; neither the order of the files nor how they were
 * grouped matters. MOST: that many signatures at most; 0: all. Fails: as partial_read(). */
enum status signatures_merged(const char *const *files, uint32_t file_count, const char *name,
                              const struct signature_request *request, uint32_t most,
                              struct arena *keep, struct signature_list *out, struct fault *fault);

/* For signatures_merged(), as columns or NDJSON (stream/partial.h). What TOP leaves out raises the
 * floor. False: not written whole. */
bool signatures_write_partial(FILE *stream, const struct signature_list *list, uint64_t top,
                              bool as_json);

/* TOP: the most that are written. */
void signatures_write_json(struct json *j, const struct signature_list *list, uint64_t top);

#endif
