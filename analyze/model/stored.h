/* Queries about stored runs and the rows that answer them. `store` answers them, `study` passes the
 * answers on, reports and pages show them. All texts live in the arena that was passed with the
 * query. */
#ifndef MODEL_STORED_H
#define MODEL_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_pool.h"
#include "model/bench.h"
#include "model/metric.h"
#include "model/run.h"

enum store_mode {
    STORE_READ,     /* must exist; cannot be written through this handle */
    STORE_READ_OLD, /* likewise; an older version is read through an upgraded copy in memory */
    STORE_WRITE,    /* created when missing, upgraded when older */
};

enum {
    STORE_PAGE_DEFAULT = 50, /* rows of a page unless asked otherwise */
    STORE_PAGE_MAX = 1000,   /* most rows of one page  */
};

struct run_query {
    const char *branch, *platform, *label; /* NULL: any                                 */
    bool with_running;                     /* include runs that have not ended */
    bool oldest_first;
    uint64_t after; /* the last page's `next`; 0: from the start */
    uint32_t limit; /* 0: 50                                     */
};

struct run_page {
    struct run_info *runs; /* tools and environment are empty: read the run to get them */
    uint32_t count;
    uint64_t total; /* matching the filter, on all pages */
    uint64_t next;  /* 0: this was the last page        */
};

struct case_query {
    uint64_t run_id;                       /* 0: any finished run */
    const char *scenario, *variant;        /* exact; NULL: any       */
    enum case_kind kind;                   /* CASE_KIND_NONE: any    */
    const enum verdict *verdict;           /* NULL: any              */
    const enum cause *cause;               /* NULL: any              */
    const char *search;                    /* part of "scenario.variant"; NULL: any */
    bool newest_first;                     /* by descending id: a scenario's history */
    bool without_scores, without_findings; /* faster, for lists that do not show them */
    struct text_pool *texts; /* shared by all pages of a list; NULL: one for each page */
    uint64_t after;
    uint32_t limit; /* 0: 50 */
};

/* What is read of a case besides its head. */
enum case_part {
    CASE_SCORES = 1,   /* claims without stacks, and scores */
    CASE_FINDINGS = 2, /* what differs */
    CASE_STACKS = 4,   /* everything */
};

struct case_page {
    struct run_case *cases; /* without claims, truth and threads; with scores and findings */
    uint32_t count;
    uint64_t total, next;
};

/* How often a cause occurred in a run. */
struct cause_count {
    enum cause cause;
    uint64_t findings, cases, subject_findings;
};

/* Which hooks were expected to see a case's crash, and which did. */
struct hook_outcome {
    uint64_t case_id;
    const char *scenario, *variant;
    uint32_t repeat;
    uint32_t expected, got; /* sets, see model/hook.h */
    enum verdict verdict;
    enum case_kind kind;
};

/* How often a signature occurred in a run or stream. */
struct signature_count {
    const char *text, *example; /* example: where it first occurred in this tally */
    const char *first_seen;     /* the run or stream in which it first occurred ever */
    uint64_t count;
    uint64_t error;             /* the true count is between count - error and count */
    uint32_t rank, rank_before; /* 1: most frequent; rank_before 0: did not occur */
};

/* A module that a run's frames name, and where the names of its functions came from. */
struct symbol_row {
    const char *module, *code_id, *debug_id;
    enum symbols_from symbols;
    uint64_t frames, inlined;
};

/* A figure of finished runs. */
struct trend_query {
    enum metric metric;
    const char *scenario, *variant; /* both NULL: of whole runs                           */
    const char *branch, *platform;  /* NULL: any                                          */
    uint64_t until;                 /* no run with a larger number; 0: no such limit      */
    uint32_t limit;                 /* the newest so many; 0: 50; at most STORE_PAGE_MAX  */
};

/* A figure of one run. */
struct trend_point {
    uint64_t run_id, started_ns;
    const char *commit, *branch, *platform; /* NULL: unknown */
    uint32_t cases;                         /* of the run */
    enum cpu arch;                          /* of the cases that it is of; CPU_UNKNOWN: of all */
    double value;                           /* NaN: the run has no such figure */
    uint64_t count;                         /* number of samples or frames it is based on */
    uint64_t bench; /* the run that measured it, of METRIC_SPEED_RATIO; 0: the run itself */
};

#endif
