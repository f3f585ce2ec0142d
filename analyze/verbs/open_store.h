/* What verbs over stored runs have in common: opening the database, its faults, report files. */
#ifndef VERBS_OPEN_STORE_H
#define VERBS_OPEN_STORE_H

#include "report/report.h"
#include "study/acceptance.h"
#include "study/runs.h"
#include "verbs/verb.h"

#define STORED_DATABASE "build/twinstack.db"

/* The exit code of a fault: 4 if the database cannot be used, 2 or 3 if only the request is wrong.
 */
int stored_fault(const struct fault *fault, bool database);

/* Opens the database. On failure logs the fault, sets *exit_code and returns false. */
bool stored_open(const char *path, enum store_mode mode, struct store **out, int *exit_code);

/* The mode for a verb that changes runs of database PATH: STORE_WRITE would make one that is
 * missing, so then it is STORE_READ, which fails. */
enum store_mode stored_to_change(const char *path);

/* Closes it, after what pages show of its newest run was written where it is not there
 * (pages/shown.h), if it was opened for writing. NULL: nothing. */
void stored_close(struct store *store);

/* Opens database DB for a verb whose only word is a run; *word is that run, or "latest".  On
 * failure reports it, sets *exit_code and returns false. */
bool stored_open_for(const struct verb *self, const struct option_list *words, const char *db,
                     enum store_mode mode, struct store **out, const char **word, int *exit_code);

/* The exit code that a run's verdicts and problems decide. */
int stored_verdicts_exit(const struct run_figures *figures);

/* Logs each expired or unneeded acceptance as an error. */
void stored_log_problems(const struct acceptance *acceptance);

/* Opens PATH for writing ("-": standard output), calls WRITE, closes; whole or not at all. */
typedef enum status stored_write_fn(const void *context, FILE *out, struct fault *fault);
enum status stored_write(const char *path, stored_write_fn *write, const void *context,
                         struct fault *fault);

/* CI systems that show a summary give the name of its file in the environment; NULL: none. */
const char *stored_summary_path(void);

/* Appends the Markdown to that file, if there is one. */
void stored_append_summary(const struct run_figures *report, struct arena *scratch);

#endif
