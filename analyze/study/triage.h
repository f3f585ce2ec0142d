/* What is wrong with a run, in words and counts, and in which order to look at its cases: the one
 * answer for the first screen, the queue of mismatches and the page of a case. */
#ifndef STUDY_TRIAGE_H
#define STUDY_TRIAGE_H

#include "study/failures.h"
#include "study/runs.h"
#include "study/trouble.h"

/* Groups of failing cases that are listed; the others are counted. */
enum { PROBLEMS_MOST = 20 };

/* The groups of the queue, in the order in which they should be looked at. */
enum triage_group {
    TRIAGE_FAILING, /* those that are new since the baseline come first */
    TRIAGE_ERROR,
    TRIAGE_FLAKY,
    TRIAGE_UNEXPECTED_PASS,
    TRIAGE_UNEXPLAINED, /* does not fail; a difference has no known cause   */
    TRIAGE_ACCEPTED,
    TRIAGE_REFERENCE, /* only reference engines differ, for known reasons */
    TRIAGE_REST,      /* nothing to look at                               */
    TRIAGE_GROUPS
};

const char *triage_group_name(enum triage_group group);
bool triage_group_parse(const char *name, enum triage_group *out);

/* How an engine did on a case, in one letter. */
enum triage_mark {
    TRIAGE_NO_STACK = '-',
    TRIAGE_FAILED = 'f',
    TRIAGE_UNJUDGED = 'u', /* there is nothing to compare it with */
    TRIAGE_EXACT = 'x',
    TRIAGE_APART = 'a', /* exact, but case_is_apart() */
    TRIAGE_WRONG = 'w',
};

/* What lists show of every case; the case itself stays in the database. */
struct triage_item {
    uint64_t id; /* in the store */
    const char *scenario, *variant, *reason;
    const char *signature; /* of its failing findings; NULL: none */
    const char *marks;     /* by the engines of `figures`: enum triage_mark */
    uint64_t causes;       /* of its findings: bits by enum cause */
    struct case_references references;
    uint32_t repeat, got_hooks;
    enum case_kind kind;
    enum verdict verdict;
    enum triage_group group;
    enum trouble trouble;
    uint32_t failures[FAILURES_OF_CASE]; /* rows of triage_failures(); UINT32_MAX: none */
    bool is_new;                         /* fails, and did not in the baseline */
};

/* A figure with what it leaves out. */
struct triage_share {
    const char *name;
    uint64_t right, total, left_out;
    const char *of, *left_out_why; /* what is counted; why some are not; NULL: none is left out */
};

struct triage {
    struct run_info run;
    struct run_figures figures;
    uint64_t baseline;         /* 0: there is none, or it is this run */
    struct triage_item *items; /* all cases, in the queue's order */
    uint32_t item_count;
    uint32_t wrong, fresh; /* cases that fail; of them, new since the baseline */
    uint32_t troubles[TROUBLES], groups[TRIAGE_GROUPS];
    struct failures failures; /* the cases that fail, by mechanism and place */
    struct failures accepted; /* the accepted ones, likewise */
};

/* Triages run WORD, whose cases stay in STORE; STORE stays open while OUT is used. Fails: as
 * figures_read. */
enum status triage_make(struct store *store, const char *word, struct arena *keep,
                        struct triage *out, struct fault *fault);

/* Of the two sets of groups the one that ITEM is in, or would be in. */
const struct failures *triage_failures(const struct triage *triage, const struct triage_item *item);

/* The case of ITEM with scores and findings, in KEEP. Fails: as the database. */
enum status triage_read_case(const struct triage *triage, const struct triage_item *item,
                             struct arena *keep, struct run_case *out, struct fault *fault);

/* The verdict of a case in one sentence for readers who know neither scenario nor engine; in KEEP.
 * NULL when out of memory. */
const char *triage_sentence(const struct run_case *c, struct arena *keep);

/* {"total", "new", "baseline", "groups": [{trouble, text, cases}], "problems":
 * failures_write_json(), "problems_left"}: most cases first. */
void triage_write_wrong(struct json *j, const struct triage *triage);

/* [{name, right, total, left_out, of, left_out_why}]: what was captured, and how many judged stacks
 * of each engine under test are exact. */
void triage_write_shares(struct json *j, const struct triage *triage);

#endif
