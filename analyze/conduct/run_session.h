/* A run from its first victim to its last verdict: capture, analyse, judge, store; and resuming an
 * interrupted run.
 *
 * A run that was stopped has three kinds of cases: those that the database has, those that are
 * sealed in its folder and wait to be judged, and those that never ran.  Only the last kind is run
 * when the run is resumed. */
#ifndef CONDUCT_RUN_SESSION_H
#define CONDUCT_RUN_SESSION_H

#include "collect/collect.h"
#include "study/acceptance.h"
#include "study/runs.h"
#include "symbol/symbol_store.h"

/* The request.  Texts are borrowed for the whole session. */
struct run_request {
    struct run_selection selection;    /* which scenarios */
    uint32_t repeat;                   /* how often each scenario runs                    */
    uint64_t seed;                     /* of the order; 0: by name                        */
    const char *db, *out;              /* out NULL: a folder of its own beside the database */
    const char *known;                 /* as acceptance_read                              */
    const struct fetch_options *fetch; /* of symbol servers; NULL: the usual ones */
    const char *const *symbols;        /* more symbols, e.g. a symbol share               */
    uint32_t symbol_count;
    const char *cache;  /* see symbol_store_options */
    const char *resume; /* a run, or "last"; NULL: a new run                         */
    bool no_judges, keep_failed_only;
};

/* Called as the run goes, by several threads, but never two at a time; any may be NULL. */
struct run_progress {
    void *context;
    /* A victim ended: number TAKEN of TO_TAKE. */
    void (*captured)(void *context, const struct collected *done, uint32_t taken, uint32_t to_take);
    /* C has its verdict and is stored: number NUMBER of COUNT. */
    void (*judged)(void *context, const struct run_case *c, uint32_t number, uint32_t count);
};

/* With TWINSTACK_CROWDED in the environment every case is marked as crowded: ./run sets it while it
 * still builds. */
struct run_session {
    const struct run_request *request;
    struct run_progress progress;
    struct arena *keep;
    struct arena beside; /* as KEEP, of a second thread; freed when the session is closed */
    struct collect_options collect; /* filled by the caller but for out_folder and tools */
    struct scenario *scenarios;     /* the chosen ones */
    uint32_t scenario_count;
    struct collected *collected; /* while victims run */
    struct pipeline *pipeline;
    struct run_case *cases;
    uint32_t case_count;
    uint32_t stored_count; /* of cases: those that the resumed run had */
    uint32_t taken, to_take;
    struct run_info info;
    struct store *store;
    struct acceptance known;
    bool time_limit;      /* a victim could not be ended in time */
    bool database_failed; /* the fault is the store's            */
    struct fault fault;
};

/* Each function fails with S->fault, and sets database_failed if the store failed. */

/* Opens the database, for writing; marks runs of dead processes as interrupted. */
enum status run_session_open(struct run_session *s);

/* Finds the run that REQUEST->resume names ("last": the newest that is not complete), reads it and
 * its command line's words (after the verb's name) into S.  Fails: ERR_ABSENT; ERR_USAGE it is
 * complete, or was no `run`. */
enum status run_session_find_resumed(struct run_session *s, int *argc, char ***argv);

/* Asks the victims for their scenarios and chooses; scenario_count 0: nothing matches. */
enum status run_session_choose(struct run_session *s);

/* Captures, judges and stores all cases and ends the run, complete or interrupted; an interrupt is
 * not a fault: see info.state. ARGV is the command line, kept with the run. Fails: ERR_USAGE a
 * resumed run began under other conditions: see `changed`. */
enum status run_session_run(struct run_session *s, int argc, char *const *argv,
                            struct diff_fact *changed);

/* Removes the folders of the cases that passed, when the request asks for it. */
void run_session_drop_passed(struct run_session *s);

/* Also ends every program that the run started. */
void run_session_close(struct run_session *s);

/* ---- between the files of this session ------------------------------------------------ */

/* Captures the victims' crashes and judges them at the same time, until all are judged or the user
 * stops it.  A verdict is stored as soon as it is known. */
enum status run_take_and_judge(struct run_session *s);

/* Ends what run_take_and_judge() started: Wine's servers and the judges that keep running.  This
 * takes a while, and nothing that depends on the verdicts has to wait for it. */
void run_end_programs(struct run_session *s);

/* Chooses where the cases go: `out`, or a folder beside the database that is named by the time at
 * which the run began. */
enum status run_choose_folder(struct run_session *s);

/* Reads the cases that the run has already, and where the others are.  Fails: ERR_USAGE the
 * environment is not that of its start; *changed is the first fact that differs. */
enum status run_take_up(struct run_session *s, const struct run_info *now,
                        struct diff_fact *changed);

/* True when the run already has that case. */
bool run_has_case(const struct run_session *s, const struct scenario *scenario, uint32_t repeat);

/* The folder that holds PATH. */
const char *run_parent_of(const char *path, struct arena *keep);

#endif
