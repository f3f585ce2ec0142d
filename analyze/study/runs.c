/* Whole runs and their figures: see runs.h. */
#include "study/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "store/store.h"
#include "study/ratio.h"

void study_end_killed_runs(struct store *store)
{
    struct fault ignored = FAULT_INIT;
    (void)store_end_dead_runs(store, &ignored);
}

enum status study_read_run(struct store *store, const char *word, struct arena *keep,
                           struct stored_run *out, struct fault *fault)
{
    uint64_t id = 0;
    memset(out, 0, sizeof *out);
    if (store_find_run(store, word, &id, fault) != ERR_NONE ||
        store_read_run(store, id, keep, &out->info, fault) != ERR_NONE)
        return fault->code;
    const struct case_query query = {.run_id = id};
    if (store_list_all_cases(store, &query, keep, &out->cases, &out->case_count, fault) == ERR_NONE)
        run_cases_sort(out->cases, out->case_count);
    return fault->code;
}

void study_split_word(const char *word, struct arena *keep, const char **path, const char **run)
{
    const char *colon = strrchr(word, ':');
    *path = word;
    *run = "latest";
    if (path_is_file(word))
        return;
    *path = colon != NULL ? arena_text(keep, word, (size_t)(colon - word)) : NULL;
    *run = colon != NULL ? colon + 1 : word;
    if (*path == NULL || !path_is_file(*path)) {
        *path = NULL;
        *run = word;
    }
}

/* Adds the writer of the run's dumps to its facts: runs of two writers do not measure the same. */
static enum status read_writer(struct store *store, struct arena *keep, struct run_info *info,
                               struct fault *fault)
{
    struct engine_total *engines;
    uint32_t count;
    struct named_version *facts =
        ARENA_ARRAY(keep, (size_t)info->environment_count + 1, struct named_version);
    if (facts == NULL)
        return fault_no_memory(fault, "facts of a run");
    if (store_total_engines(store, info->id, keep, &engines, &count, fault) != ERR_NONE)
        return fault->code;
    if (info->environment_count > 0)
        memcpy(facts, info->environment, info->environment_count * sizeof *facts);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(engines[i].engine, ENGINE_NAME_DUMP) == 0 && engines[i].stacks > 0)
            facts[info->environment_count++] = (struct named_version){
                DIFF_FACT_WRITER,
                engines[i].version != NULL ? engines[i].version : "it gives no name"};
    info->environment = facts;
    return ERR_NONE;
}

enum status study_read_side_of(struct store *store, uint64_t run_id, enum diff_detail detail,
                               struct arena *keep, struct run_side *out, struct fault *fault)
{
    out->symbols = NULL;
    out->symbol_count = 0;
    out->ratio = NULL;
    if (store_read_run(store, run_id, keep, &out->info, fault) != ERR_NONE ||
        (detail != DIFF_VERDICTS && out->info.state != RUN_RUNNING &&
         store_read_symbols(store, run_id, keep, &out->symbols, &out->symbol_count, fault) !=
             ERR_NONE) ||
        (detail != DIFF_VERDICTS && out->info.state != RUN_RUNNING &&
         read_writer(store, keep, &out->info, fault) != ERR_NONE))
        return fault->code;
    return store_read_side(store, &out->info, detail, keep, &out->side, fault);
}

static enum status read_side(struct store *store, uint64_t run_id, enum diff_detail detail,
                             struct arena *keep, struct run_side *out, struct fault *fault)
{
    if (study_read_side_of(store, run_id, detail, keep, out, fault) == ERR_NONE &&
        detail != DIFF_VERDICTS)
        out->ratio = ratio_read(store, &out->info, keep, fault);
    return fault->code;
}

static enum status read_side_named(struct store *store, const char *word, enum diff_detail detail,
                                   struct arena *keep, struct run_side *out, struct fault *fault)
{
    uint64_t id = 0;
    if (store_find_run(store, word, &id, fault) != ERR_NONE)
        return fault->code;
    return read_side(store, id, detail, keep, out, fault);
}

enum status study_read_side(struct store *store, const char *word, enum diff_detail detail,
                            struct arena *keep, struct run_side *out, struct fault *fault)
{
    const char *path, *run;
    study_split_word(word, keep, &path, &run);
    if (path == NULL)
        return read_side_named(store, run, detail, keep, out, fault);
    struct store *other = NULL;
    if (store_open_beside(store, path, &other, fault) == ERR_NONE)
        (void)read_side_named(other, run, detail, keep, out, fault);
    store_close(other);
    return fault->code;
}

enum status study_read_side_before(struct store *store, const char *word,
                                   const struct run_info *now, enum diff_detail detail,
                                   struct arena *keep, struct run_side *out, struct fault *fault)
{
    uint64_t id = 0;
    if (strcmp(word, "baseline") != 0)
        return study_read_side(store, word, detail, keep, out, fault);
    if (store_get_baseline(store, now->branch, now->platform, &id, fault) != ERR_NONE)
        return fault->code;
    return read_side(store, id, detail, keep, out, fault);
}
