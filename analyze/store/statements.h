/* The statements of this room: how a query works is in database/query.h. */
#ifndef STORE_STATEMENTS_H
#define STORE_STATEMENTS_H

#include "database/query.h"
#include "store/store.h"

enum sql {
    SQL_ADD_RUN,
    SQL_ADD_RUN_NOTE,
    SQL_ADD_VERDICT,
    SQL_PUT_PACE,
    SQL_FINISH_RUN,
    SQL_RUN_STATE,
    SQL_SET_STATE,
    SQL_ADD_CASE,
    SQL_ADD_CLAIM,
    SQL_ADD_WAY,
    SQL_ADD_THREAD,
    SQL_ADD_TRUTH_THREAD,
    SQL_ADD_TRUTH_FRAME,
    SQL_ADD_STACK,
    SQL_ADD_FRAME,
    SQL_ADD_SITE,
    SQL_FIND_SITE,
    SQL_ADD_GAP,
    SQL_ADD_FINDING,
    SQL_ADD_EVIDENCE,
    SQL_ADD_ARTIFACT,
    SQL_FIND_ARTIFACT,
    SQL_ADD_CASE_ARTIFACT,
    SQL_SUM_ENGINES,
    SQL_SUM_CAUSES,
    SQL_SUM_SYMBOLS,
    SQL_SUM_FIGURES,
    SQL_COUNT_CAPTURES,
    SQL_FORGET_MEDIANS,
    SQL_SUM_MEDIANS,
    SQL_RUNS_WITHOUT_SUMS,
    SQL_ADD_TEXT,
    SQL_READ_TEXT,
    SQL_FIND_TEXT,
    SQL_ADD_MODULE,
    SQL_FIND_MODULE,
    SQL_CASE_VERDICT,
    SQL_SET_VERDICT,
    SQL_DELETE_RUN,
    SQL_LIST_RUNS,
    SQL_LIST_RUNS_UP,
    SQL_COUNT_RUNS,
    SQL_READ_RUN,
    SQL_READ_RUN_NOTES,
    SQL_RUNNING_PROCESSES,
    SQL_READ_RUN_VERDICTS,
    SQL_READ_PACE,
    SQL_FIND_RUN_UUID,
    SQL_FIND_RUN_LATEST,
    SQL_FIND_RUN_NAMED,
    SQL_LIST_CASE_IDS,
    SQL_LIST_CASES,
    SQL_LIST_CASES_DOWN,
    SQL_COUNT_CASES,
    SQL_READ_CASE,
    SQL_READ_CLAIMS,
    SQL_READ_WAYS,
    SQL_READ_FINDINGS,
    SQL_READ_THREADS,
    SQL_READ_TRUTH_THREADS,
    SQL_READ_TRUTH_FRAMES,
    SQL_READ_STACKS,
    SQL_READ_FRAMES,
    SQL_READ_GAPS,
    SQL_READ_EVIDENCE,
    SQL_READ_CASE_ARTIFACTS,
    SQL_READ_ARTIFACT,
    SQL_READ_OUTCOMES,
    SQL_READ_VERDICTS,
    SQL_READ_SIDE,
    SQL_READ_SIDE_TIMES,
    SQL_READ_SIDE_STACKS,
    SQL_READ_HISTORY,
    SQL_FIND_CASE,
    SQL_READ_ENGINES,
    SQL_COUNT_ENGINES,
    SQL_READ_CAUSES,
    SQL_COUNT_CAUSES,
    SQL_READ_HOOKS,
    SQL_READ_SYMBOLS,
    SQL_COUNT_SYMBOLS,
    SQL_TREND_RUN_SCORES,
    SQL_TREND_RUN_CASES,
    SQL_TREND_RUN_COST,
    SQL_TREND_RUN_MEDIAN,
    SQL_TREND_SCORES,
    SQL_TREND_CASES,
    SQL_TREND_COST,
    SQL_TREND_MEDIAN,
    SQL_LIST_BRANCHES,
    SQL_LIST_PLATFORMS,
    SQL_SET_BASELINE,
    SQL_CLEAR_BASELINE,
    SQL_GET_BASELINE,
    SQL_LIST_BASELINES,
    SQL_ADD_BASELINE,
    SQL_ADD_SAMPLE,
    SQL_READ_SAMPLES,
    SQL_ADD_BENCH_CASE,
    SQL_READ_BENCH_CASES,
    SQL_PRUNE_LIST,
    SQL_PUBLISH,
    SQL_COUNT_CHANGES,
    SQL_HAS_SHOWN,
    SQL_READ_SHOWN,
    SQL_READ_BASIS,
    SQL_READ_BASELINES,
    SQL_CLEAR_SHOWN,
    SQL_CLEAR_NOW_SHOWN,
    SQL_ADD_SHOWN,
    SQL_COUNT
};

extern const char *const store_sql[SQL_COUNT];
/* The statements that upgrade a database from version i to i + 1, ended by NULL. */
extern const char *const *const store_migrations[STORE_SCHEMA_VERSION];

struct store {
    struct database database;
    enum store_mode mode;
    const char *program; /* borrowed; NULL: none is named */
};

struct query query_begin(struct store *store, enum sql sql, struct arena *keep,
                         struct fault *fault);
/* The same, with ID as the first value: what is read or written of one run, case or stack. */
struct query query_with(struct store *store, enum sql sql, uint64_t id, struct arena *keep,
                        struct fault *fault);

/* What pages show beside a case (keep.c): evidence of a stack, files of a case. */
void store_put_evidence(struct store *store, uint64_t stack_id, const struct stack *stack,
                        struct fault *fault);
void store_put_artifacts(struct store *store, uint64_t case_id, const struct run_case *c,
                         struct fault *fault);
void store_read_evidence(struct store *store, uint64_t stack_id, struct stack *stack,
                         struct arena *keep, struct fault *fault);

/* Binds two values: BYTES of DATA compressed at LEVEL of zlib, and their number, where that is
 * shorter; else as they are, and NULL. The other reads these two columns, into the query's arena
 * and with a NUL at the end; NULL: what is there cannot be what was stored, and that is the fault.
 */
void store_bind_packed(struct query *q, const void *data, size_t bytes, int level);
char *store_get_packed(struct query *q, size_t *bytes);

/* The last columns of a finding; of older versions, from its evidence, which is read before. */
void store_read_facts(struct query *q, struct finding *f);

/* One finding of DECIDING_FINDING, which has two, in KEEP; NULL: the case has none, or out of
 * memory. */
struct finding *store_read_deciding(struct query *q, struct arena *keep);

/* The rows of the cases numbered FIRST to LAST, of a statement that says BETWEEN. */
struct query store_begin_range(struct store *store, enum sql sql, uint64_t first, uint64_t last,
                               struct arena *keep, struct fault *fault);

/* Cases whose ids are set, in the order of these; COUNT at least 1. What is read of them is in
 * KEEP; TEXTS: where equal texts are one; NULL: each is copied. */
struct case_set {
    struct store *store;
    struct run_case *const *cases;
    uint32_t count;
    struct arena *keep;
    struct text_pool *texts;
    struct fault *fault;
};
/* Rows from the first to the last case of SET, whose first column is the case; and the case of SET
 * that a row of case ID belongs to, NULL: none. Rows come in the order of the cases, so *AT, which
 * begins as 0, only grows. */
struct query store_begin_set(const struct case_set *set, enum sql sql);
struct run_case *store_case_of(const struct case_set *set, uint64_t id, uint32_t *at);

/* Parts of cases (read_parts.c, read_ways.c). A head is one row of CASE_COLUMNS. */
void store_read_head(struct query *q, struct run_case *c);
void store_read_cost(struct query *q, struct engine_cost *c);
enum stack_state store_stack_state(uint64_t number);
void store_read_scores(const struct case_set *set);
void store_read_ways(const struct case_set *set);
void store_read_findings(const struct case_set *set);

/* Fails unless the run is still being written (write_run.c). Fails: ERR_ABSENT, ERR_USAGE. */
enum status store_demand_running(struct store *store, uint64_t run_id, struct fault *fault);

/* Adds CHANGE to the run's count of a verdict. */
enum status store_count_verdict(struct store *store, uint64_t run_id, const char *verdict,
                                int64_t change, struct fault *fault);

/* Adds median(x) to the functions of DB; returns a code of SQLite (median.c). */
int store_add_median(sqlite3 *db);

/* Adds up a run that has ended (run_sums.c); and, after an upgrade, all runs without sums. */
enum status store_sum_run(struct store *store, uint64_t run_id, struct fault *fault);
enum status store_sum_missing(struct store *store, struct fault *fault);

/* Makes room for one more element in an arena's growing array. */
bool store_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t size,
                struct arena *keep, struct fault *fault);

/* The id of a text, added when new; 0 for NULL. */
uint64_t store_text_id(struct store *store, const char *text, struct fault *fault);

/* The runs of which store_end_dead_runs() would say so, in rising order; at most KILLED_RUNS_MAX.
 */
enum { KILLED_RUNS_MAX = 64 };
struct killed_runs {
    uint64_t ids[KILLED_RUNS_MAX];
    uint32_t count;
};
enum status store_find_killed_runs(struct store *store, struct killed_runs *out,
                                   struct fault *fault);

/* Zeros where none is stored. */
void store_read_pace(struct store *store, uint64_t run_id, struct run_pace *out,
                     struct fault *fault);

#endif
