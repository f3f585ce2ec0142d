/* A run: many cases captured and judged together, and the environment they ran in. Verbs pass runs
 * to the store in this form, and the store passes them to reports and the dashboard. */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text_pool.h"
#include "model/cpu.h"
#include "model/fields.h"
#include "model/result.h"
#include "model/run_selection.h"
#include "model/way.h"

/* What happened in the dying process. */
struct case_timing {
    CASE_TIMING_FIELDS(FIELD_MEMBER)
};

/* A small file of a case, stored by content: "case", "truth", "record", and each "source" that the
 * truth or an own frame names. */
enum artifact_role {
    ARTIFACT_NONE,
    ARTIFACT_CASE,
    ARTIFACT_TRUTH,
    ARTIFACT_RECORD,
    ARTIFACT_SOURCE,
    ARTIFACT_SOURCE_LINK, /* the data is a URL: where SourceLink says that the source NAME is */
    ARTIFACT_ROLE_COUNT
};

struct case_artifact {
    enum artifact_role role;
    const char *name; /* path as in the case; for a source as frames spell it, '/' separated */
    char sha256[65];
    const void *data;
    size_t bytes;
};

/* One case of a run. In lists `claims`, `artifacts` and `result.threads` are empty; the result's
 * verdict, reason, signature, scores and findings are always set. */
struct run_case {
    uint64_t id; /* in the store; 0: not stored yet */
    uint64_t run_id;
    const char *scenario, *variant;
    enum cpu arch;
    enum case_kind kind;
    uint32_t repeat;                    /* 0-based */
    const char *folder;                 /* path of the sealed case; NULL: none */
    const char *case_sha256;            /* hash of case.json, as in `seal`; NULL */
    uint32_t expected_hooks, got_hooks; /* sets, see model/hook.h */
    uint64_t expected_code, got_code, expected_exit_code, got_exit_code;
    uint64_t wall_ms;
    struct case_timing timing;
    const char *record_contradiction; /* not stored: how the record contradicts itself; NULL: not */
    struct engine_claim *claims;
    uint32_t claim_count;
    struct way_cost *ways;     /* WAY_COUNT rows; NULL: not measured, or read without scores */
    const struct truth *truth; /* NULL: none */
    struct case_result result;
    const char *known_id; /* the acceptance that made it XFAIL; NULL */
    struct case_artifact *artifacts;
    uint32_t artifact_count;
};

/* How far a run is, as the process that writes it last stored it. Times are nanoseconds since 1970.
 */
struct run_pace {
    uint32_t total;    /* cases that the run will have; 0: not known               */
    uint32_t captured; /* cases whose victim has ended, or that need no victim      */
    uint32_t had;      /* cases judged before: by the process that was interrupted */
    uint64_t since_ns; /* when this process began to take victims                  */
    uint64_t at_ns;    /* the last change                                          */
};

enum run_state { RUN_RUNNING, RUN_COMPLETE, RUN_INTERRUPTED, RUN_STATE_COUNT };

/* The label of the runs that `twinstack run` makes. */
#define RUN_LABEL_RUN "run"
/* That of the runs of `bench`. */
#define RUN_LABEL_BENCH "bench"
/* That of the runs of `check --dumps`, before the reporter's name. Such a run has no truth: what a
 * reporter is judged by is the dump of the same crash. */
#define RUN_LABEL_REPORTER "reporter "

struct run_info {
    uint64_t id;
    const char *uuid; /* identical for this run in every database */
    enum run_state state;
    const char *label;                /* "run", "check", "regrade of 3", "bench", ... */
    uint64_t started_ns, finished_ns; /* since 1970, UTC; 0: not yet */
    const char *commit, *branch;      /* commit of the code under test; NULL: unknown */
    const char *platform;             /* "linux x86-64, wine 8.0"      */
    const char *compiler, *flags, *cpu;
    const char *command; /* the command line                    */
    struct run_selection selection;
    struct named_version *tools; /* twinstack itself first              */
    uint32_t tool_count;
    struct named_version *environment; /* other facts that may influence results */
    uint32_t environment_count;
    uint32_t case_count;
    uint32_t verdicts[VERDICT_COUNT]; /* true totals, never filtered */
    struct run_pace pace;
    const char *known_text; /* the acceptances that this run used; NULL: none */
    const char *process;    /* process that writes it: see base/process.h; NULL:
                             * unknown */
};

/* "case", "truth", "record", "source", "source_link"; NULL for none.  The reverse: none for any
 * other text. */
const char *artifact_role_name(enum artifact_role role);
enum artifact_role artifact_role_parse(const char *text);

/* True for what `twinstack run` made, and no bench, check or regrade. */
bool run_has_run_label(const struct run_info *run);
bool run_is_of_reporter(const struct run_info *run);

const char *run_state_name(enum run_state state); /* "running", "complete", "interrupted" */
bool run_state_parse(const char *name, enum run_state *out);

/* The verdicts' part of the exit code: true when no verdict fails the run. */
bool run_verdict_fails(enum verdict verdict);

/* A record or a dump of C is expected: it can be shown here, and is no calm program. One is there.
 */
bool run_case_is_to_capture(const struct run_case *c);
bool run_case_is_captured(const struct run_case *c);

/* Sorts cases by repeat, then name: cases are stored in the order in which their verdicts were
 * known. */
void run_cases_sort(struct run_case *cases, uint32_t count);

/* Totals per engine over the cases of a run, in order of first appearance. */
struct engine_total {
    const char *engine, *shares, *version;
    enum engine_kind kind;
    bool subject;
    uint32_t cases, stacks, skipped;
    ENGINE_SCORE_FIELDS(FIELD_SUM_MEMBER)
    const char *skip_reason; /* the first one; NULL */
};

/* Adds up scores case by case. The rows and their texts live in the arena of the start; cases need
 * not stay. Fails: ERR_MEMORY; ERR_LIMIT more than CLAIMS_MAX engines. */
struct engine_totals {
    struct engine_total *rows;
    struct engine_versions *versions; /* of each row */
    uint32_t count;
    struct text_pool texts;
};
enum status run_totals_begin(struct engine_totals *totals, struct arena *keep, struct fault *fault);
enum status run_totals_add(struct engine_totals *totals, const struct run_case *c,
                           struct fault *fault);

/* Adds up the scores of CASES.  Fails: as run_totals_add(). */
enum status run_total_engines(const struct run_case *cases, uint32_t count, struct arena *keep,
                              struct engine_total **out, uint32_t *out_count, struct fault *fault);

/* The documented JSON forms; see report/README.md. */
void run_info_write_json(struct json *j, const struct run_info *run);
void run_case_write_json(struct json *j, const struct run_case *c);
void finding_write_json(struct json *j, const struct finding *finding);
void engine_score_write_json(struct json *j, const struct engine_score *score);
/* The members that come from ENGINE_SCORE_FIELDS, into an object that is open. */
void engine_total_write_sums(struct json *j, const struct engine_total *total);

#endif
