/* Judges anybody's crash reporter: a folder of dumps beside the stacks that the reporter made of
 * the same crashes. The dump's own walk decides, by the unwind tables of the true images; a list of
 * frames has no vote. */
#ifndef REPORTER_REPORTER_H
#define REPORTER_REPORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "reporter/mechanism.h"

struct pair; /* reporter/pairs.h */
struct pairs;
struct symbol_store; /* symbol/symbol_store.h */

enum reporter_verdict {
    REPORTER_SOUND,
    REPORTER_WRONG,
    REPORTER_NOT_JUDGED,     /* a file is missing, without which the dump's stack is not certain */
    REPORTER_CAPTURE_FAILED, /* a dump, and no stack */
    REPORTER_ALONE,          /* a stack, and no dump */
    REPORTER_UNREADABLE,     /* the dump itself */
    REPORTER_VERDICT_COUNT
};

struct reporter_row {
    const char *name, *dump, *stack; /* paths; NULL: there is none */
    enum reporter_verdict verdict;
    enum reporter_mechanism mechanism;
    const char *words;               /* of this pair; NULL */
    const char *variant;             /* see struct recognised */
    uint32_t first;                  /* the first frame of the stack that shows it */
    uint32_t given, frames, certain; /* frames of the stack; of the dump; those that are certain */
    /* Unexplained: both stacks from the last common frame, a line per frame; else NULL. */
    const char *sides;
};

/* An image or PDB that was not found. */
struct reporter_missing {
    const char *file, *identity;
    bool pdb;
    bool system; /* comes with Windows: only the outermost frames depend on it */
    uint32_t pairs;
};

struct reporter_group {
    enum reporter_mechanism mechanism;
    const char *variant;
    uint32_t count, example; /* a row */
};

struct reporter_result {
    const char *name;
    const char *places; /* where symbols were looked for */
    const struct pairs *pairs;
    struct reporter_row *rows;
    uint32_t row_count;
    uint32_t verdicts[REPORTER_VERDICT_COUNT];
    struct reporter_missing *missing; /* those of Windows last; of each, most pairs first */
    uint32_t missing_count, missing_room;
    struct reporter_group *groups; /* of the wrong rows, most first */
    uint32_t group_count, group_room;
    const char **unused; /* files that were named as symbols and are of no module of any dump */
    uint32_t unused_count;
    uint32_t by_scan; /* sound rows whose outermost frames were not compared */
};

struct reporter_request {
    const char *dumps, *stacks;
    const char *pairs;            /* a table; NULL: by name */
    const char *name;             /* of the reporter; NULL: that of STACKS */
    struct symbol_store *symbols; /* borrowed */
};

/* Judges all pairs, which may be none. An interrupt ends it with the rows so far. Fails: as
 * pairs_find(); ERR_MEMORY. */
enum status reporter_judge(const struct reporter_request *request, struct arena *keep,
                           struct reporter_result *out, struct fault *fault);

/* What row ROW was made of. */
const struct pair *reporter_pair(const struct reporter_result *result, uint32_t row);

/* "frames are missing: frame 2 (walker)": a group of wrong pairs in words; VARIANT may be NULL. In
 * KEEP; NULL: no memory. */
const char *reporter_group_words(enum reporter_mechanism mechanism, const char *variant,
                                 struct arena *keep);

/* The number of pairs with a dump and a stack that could be compared. */
uint32_t reporter_judged(const struct reporter_result *result);

const char *reporter_verdict_name(enum reporter_verdict verdict); /* "sound", "wrong", ... */

void reporter_write_json(const struct reporter_result *result, FILE *out);
void reporter_write_junit(const struct reporter_result *result, FILE *out);

#endif
