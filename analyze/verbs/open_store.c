/* Stored runs for verbs: see open_store.h. */
#include "verbs/open_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "pages/shown.h"
#include "study/runs.h"

int stored_fault(const struct fault *fault, bool database)
{
    if (!database)
        return verb_fault(fault);
    log_fault(fault);
    return fault->code == ERR_USAGE ? EXIT_USAGE : EXIT_DATABASE;
}

bool stored_open(const char *path, enum store_mode mode, struct store **out, int *exit_code)
{
    struct fault fault = FAULT_INIT;
    if (store_open(path, mode == STORE_READ ? STORE_READ_OLD : mode, out, &fault) == ERR_NONE) {
        store_set_program(*out, shown_program);
        return true;
    }
    *exit_code = stored_fault(&fault, true);
    return false;
}

enum store_mode stored_to_change(const char *path)
{
    return path_is_file(path) ? STORE_WRITE : STORE_READ;
}

void stored_close(struct store *store)
{
    if (!process_interrupted() && store != NULL) {
        study_end_killed_runs(store);
        shown_write(store);
    }
    store_close(store);
}

bool stored_open_for(const struct verb *self, const struct option_list *words, const char *db,
                     enum store_mode mode, struct store **out, const char **word, int *exit_code)
{
    if (words->count > 1) {
        *exit_code = verb_usage_error(self, "one run at a time: '%s'", words->items[1]);
        return false;
    }
    *word = words->count > 0 ? words->items[0] : "latest";
    return stored_open(db, mode, out, exit_code);
}

int stored_verdicts_exit(const struct run_figures *figures)
{
    const uint32_t *count = figures->run->verdicts;
    bool failed = figures->problem_count > 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        failed = failed || (count[v] > 0 && run_verdict_fails((enum verdict)v));
    if (count[VERDICT_ERROR] > 0)
        return EXIT_INPUT;
    return failed ? EXIT_DIFFERENT : EXIT_GOOD;
}

void stored_log_problems(const struct acceptance *acceptance)
{
    for (uint32_t i = 0; i < acceptance->problem_count; i++)
        log_error("%s: %s", acceptance->path, acceptance->problems[i]);
}

enum status stored_write(const char *path, stored_write_fn *write, const void *context,
                         struct fault *fault)
{
    if (strcmp(path, "-") == 0)
        return write(context, stdout, fault);
    FILE *stream = tmpfile();
    if (stream == NULL)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    if (write(context, stream, fault) == ERR_NONE)
        (void)file_write_stream(path, stream, fault);
    (void)fclose(stream);
    return fault->code;
}

const char *stored_summary_path(void)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    return path != NULL && path[0] != 0 ? path : NULL;
}

void stored_append_summary(const struct run_figures *report, struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    const char *path = stored_summary_path();
    FILE *out = path != NULL ? fopen(path, "ab") : NULL;
    if (out == NULL) {
        if (path != NULL)
            log_warn("what=step_summary path=%s cannot be appended to", path);
        return;
    }
    (void)report_markdown(report, 0, scratch, out, &fault);
    (void)fclose(out);
}
