/* A stored run in memory: what report, compare, gate, signatures and regrade start from. */
#ifndef VERBS_STORED_H
#define VERBS_STORED_H

#include "report/report.h"
#include "store/store.h"
#include "verbs/verb.h"

#define STORED_DATABASE "build/twinstack.db"

struct stored_run {
    struct run_info info;
    struct run_case *cases;
    uint32_t case_count;
};

/* The exit code of a fault: of the database itself 4, of what was asked for it 2 or 3. */
int stored_fault(const struct fault *fault, bool database);

/* Opens the database; false after saying why, with *exit_code. */
bool stored_open(const char *path, enum store_mode mode, struct store **out, int *exit_code);

/* Reads run WORD ("latest", id, ...) with all its cases; with all their stacks when WITH_STACKS. */
enum status stored_read(struct store *store, const char *word, bool with_stacks, struct arena *keep,
                        struct stored_run *out, struct fault *fault);

/* As stored_read, where WORD may also name a database file (its latest run) or "FILE:RUN". */
enum status stored_read_any(struct store *store, const char *word, struct arena *keep,
                            struct stored_run *out, struct fault *fault);

/* As stored_read_any for what NOW is held against: "baseline" is that of NOW's branch and platform,
 * else the one for all. */
enum status stored_read_before(struct store *store, const char *word, const struct run_info *now,
                               struct arena *keep, struct stored_run *out, struct fault *fault);

/* Opens PATH for writing ("-": standard output), calls WRITE, closes; whole or not at all. */
typedef enum status stored_write_fn(const void *context, FILE *out, struct fault *fault);
enum status stored_write(const char *path, stored_write_fn *write, const void *context,
                         struct fault *fault);

#endif
