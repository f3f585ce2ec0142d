/* Where a run's cases are on disk, and how an interrupted run is resumed.
 *
 * A run that was stopped has three kinds of cases: those that the database has, those that are
 * sealed in its folder and wait to be judged, and those that never ran.  Only the last kind is run
 * when the run is resumed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "conduct/run_session.h"
#include "model/command_line.h"
#include "store/store.h"
#include "study/run_difference.h"

enum { RUN_FOLDERS_KEPT = 10 };

static bool is_stamp(const char *name)
{
    return strlen(name) >= 16 && strspn(name, "0123456789") == 8 && name[8] == 'T';
}

/* Removes old run folders without a name of their own: the newest few are kept for `regrade`; their
 * names sort by time. */
static void prune_runs(const char *folder, struct arena *keep)
{
    const char **names = NULL;
    size_t count = 0, stamped = 0;
    struct fault ignored = FAULT_INIT;

    if (folder_list(folder, keep, &names, &count, &ignored) != ERR_NONE)
        return;
    for (size_t i = 0; i < count; i++)
        stamped += is_stamp(names[i]);
    for (size_t i = 0; i < count && stamped >= RUN_FOLDERS_KEPT; i++) {
        const char *path = path_join(keep, folder, names[i]);
        if (!is_stamp(names[i]) || path == NULL)
            continue;
        (void)path_remove(path, &ignored);
        stamped--;
    }
}

const char *run_parent_of(const char *path, struct arena *keep)
{
    const char *base = path_base(path);
    return base == path ? "." : arena_text(keep, path, (size_t)(base - path));
}

/* The folder is named by the start of the run, which the database keeps, so that a resumed run
 * finds its folder, even if another run started in the same second. */
enum status run_choose_folder(struct run_session *s)
{
    char stamp[32];
    const time_t began = (time_t)(s->info.started_ns / 1000000000U);
    const char *runs = path_join(s->keep, run_parent_of(s->request->db, s->keep), "runs");
    const struct tm *utc = gmtime(&began);

    if (s->request->out != NULL) {
        s->collect.out_folder = s->request->out;
        return ERR_NONE;
    }
    if (runs == NULL || utc == NULL || strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", utc) == 0)
        return fault_no_memory(&s->fault, "folder of the run");
    const char *name =
        arena_printf(s->keep, "%s.%09" PRIu64 "Z", stamp, s->info.started_ns % 1000000000U);
    if (s->request->resume == NULL)
        prune_runs(runs, s->keep);
    s->collect.out_folder = name != NULL ? path_join(s->keep, runs, name) : NULL;
    return s->collect.out_folder != NULL ? ERR_NONE
                                         : fault_no_memory(&s->fault, "folder of the run");
}

/* ---- an interrupted run that is resumed ----------------------------------------------- */

static enum status find_unfinished(struct run_session *s, uint64_t *id)
{
    struct run_page page;
    const struct run_query query = {.label = RUN_LABEL_RUN, .with_running = true};

    if (store_list_runs(s->store, &query, s->keep, &page, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t i = 0; i < page.count; i++)
        if (page.runs[i].state != RUN_COMPLETE) {
            *id = page.runs[i].id;
            if (page.runs[i].state == RUN_INTERRUPTED)
                return ERR_NONE;
            if (store_read_run(s->store, *id, s->keep, &s->info, &s->fault) != ERR_NONE ||
                process_life_of(s->info.process) != PROCESS_ALIVE)
                return s->fault.code;
        }
    return fault_set_hint(&s->fault, ERR_ABSENT, FAULT_NO_OFFSET, "run to resume",
                          "every run in the database is complete, or going on");
}

enum status run_session_find_resumed(struct run_session *s, int *argc, char ***argv)
{
    uint64_t id = 0;
    const char *word = s->request->resume;

    if ((strcmp(word, "last") == 0 ? find_unfinished(s, &id)
                                   : store_find_run(s->store, word, &id, &s->fault)) != ERR_NONE ||
        store_read_run(s->store, id, s->keep, &s->info, &s->fault) != ERR_NONE)
        return s->fault.code;
    if (s->info.state == RUN_COMPLETE || !run_has_run_label(&s->info))
        return fault_set_lasting(&s->fault, ERR_USAGE, FAULT_NO_OFFSET, "run to resume",
                                 s->info.state == RUN_COMPLETE
                                     ? "it is complete, and a complete run is never changed"
                                     : "only what `twinstack run` began can go on");
    if (s->info.state == RUN_RUNNING && process_life_of(s->info.process) == PROCESS_ALIVE)
        return fault_set_hint(&s->fault, ERR_USAGE, FAULT_NO_OFFSET, "run to resume",
                              "it is going on: another twinstack works on it");
    return command_line_words(s->info.command, s->keep, argc, argv, &s->fault);
}

/* All cases of a run must come from the same code on the same machine, or its figures mean nothing.
 */
static enum status demand_same(struct run_session *s, const struct run_info *now,
                               struct diff_fact *changed)
{
    struct run_diff diff;

    if (difference_of_facts(&s->info, now, s->keep, &diff, &s->fault) != ERR_NONE)
        return s->fault.code;
    if (diff.fact_count == 0 && text_equal(s->info.commit, now->commit))
        return ERR_NONE;
    *changed = diff.fact_count > 0 ? diff.facts[0]
                                   : (struct diff_fact){"commit", s->info.commit, now->commit};
    return fault_set_hint(&s->fault, ERR_USAGE, FAULT_NO_OFFSET, "run to resume",
                          "it cannot go on as the same run: begin a new one");
}

/* OUT of a case's folder OUT/cases/NAME. */
static const char *out_of(const char *folder, struct arena *keep)
{
    const char *cases = run_parent_of(folder, keep);
    return cases != NULL ? run_parent_of(arena_text(keep, cases, strlen(cases) - 1), keep) : NULL;
}

enum status run_take_up(struct run_session *s, const struct run_info *now,
                        struct diff_fact *changed)
{
    const struct case_query query = {.run_id = s->info.id};
    struct run_case *stored = NULL;
    uint32_t count = 0;

    if (demand_same(s, now, changed) != ERR_NONE || run_choose_folder(s) != ERR_NONE ||
        store_list_all_cases(s->store, &query, s->keep, &stored, &count, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t i = 0; i < count && s->stored_count < s->case_count; i++) {
        s->cases[s->stored_count++] = stored[i];
        if (stored[i].folder != NULL)
            s->collect.out_folder = out_of(stored[i].folder, s->keep);
    }
    return store_resume_run(s->store, s->info.id, &s->fault);
}

bool run_has_case(const struct run_session *s, const struct scenario *scenario, uint32_t repeat)
{
    for (uint32_t i = 0; i < s->stored_count; i++)
        if (s->cases[i].repeat == repeat && strcmp(s->cases[i].scenario, scenario->name) == 0 &&
            strcmp(s->cases[i].variant, scenario->variant) == 0)
            return true;
    return false;
}
