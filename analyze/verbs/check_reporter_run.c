/* See check_reporter_run.h. */
#include "verbs/check_reporter_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/process.h"
#include "collect/collect.h"
#include "conduct/run_facts.h"
#include "reporter/pair_case.h"
#include "server/offline_file.h"
#include "study/run_keep.h"
#include "verbs/case_import.h"
#include "verbs/open_store.h"

/* What was missing is a fact of the run: it decides how many pairs could be judged. */
static bool add_missing(const struct reporter_result *result, struct arena *keep,
                        struct run_info *info)
{
    const uint32_t had = info->environment_count;
    struct named_version *facts =
        ARENA_ARRAY(keep, (size_t)had + result->missing_count + 1, struct named_version);
    if (facts == NULL)
        return false;
    for (uint32_t i = 0; i < had; i++)
        facts[i] = info->environment[i];
    for (uint32_t i = 0; i < result->missing_count; i++) {
        const struct reporter_missing *m = &result->missing[i];
        facts[had + i] = (struct named_version){
            .name = arena_printf(keep, "missing %s %s", m->pdb ? "PDB" : "image", m->file),
            .version =
                arena_printf(keep, "%s, of %u %s", m->identity[0] != '\0' ? m->identity : "any",
                             m->pairs, m->pairs == 1 ? "pair" : "pairs")};
        if (facts[had + i].name == NULL || facts[had + i].version == NULL)
            return false;
    }
    info->environment = facts;
    info->environment_count = had + result->missing_count;
    return true;
}

static enum status begin(const struct check_reporter_options *o,
                         const struct reporter_result *result, struct store *store,
                         struct arena *keep, struct run_info *info, struct fault *fault)
{
    const struct collect_options none = {.victims_folder = NULL};
    const char *label = arena_printf(keep, RUN_LABEL_REPORTER "%s", result->name);
    if (label == NULL)
        return fault_no_memory(fault, "run");
    if (run_facts(&none, label, o->argc, o->argv, keep, info, fault) != ERR_NONE)
        return fault->code;
    if (!add_missing(result, keep, info))
        return fault_no_memory(fault, "run");
    return run_keep_begin(store, info, keep, fault);
}

/* Where a fault came from decides the exit code. */
struct keeping {
    struct store *store; /* NULL: no run is made */
    struct run_info info;
    bool in_store;
    uint64_t *folders; /* hashes of the names of those that were made; owned */
    uint32_t folder_count, folder_room;
};

static bool was_used(const struct keeping *k, const char *name)
{
    const uint64_t hash = hash_text(HASH_START, name);
    for (uint32_t i = 0; i < k->folder_count; i++)
        if (k->folders[i] == hash)
            return true;
    return false;
}

static bool remember(struct keeping *k, const char *name)
{
    if (!ARRAY_ROOM(k->folders, k->folder_room, (uint64_t)k->folder_count + 1))
        return false;
    k->folders[k->folder_count++] = hash_text(HASH_START, name);
    return true;
}

/* "a.b" and "a_b" would be one folder: the second gets a number. NULL: out of memory. */
static const char *folder_of(const char *name, struct keeping *k, struct arena *scratch)
{
    const char *plain = case_import_name(name, scratch), *out = plain;
    for (uint32_t number = 2; out != NULL && was_used(k, out); number++)
        out = arena_printf(scratch, "%s-%u", plain, number);
    return out != NULL && remember(k, out) ? out : NULL;
}

static enum status seal(const struct check_reporter_options *o, const struct reporter_row *row,
                        struct pair_case *c, struct keeping *k, struct arena *keep,
                        struct fault *fault)
{
    const struct case_source source = {.dump = c->is_open ? row->dump : NULL,
                                       .given = c->given.frame_count > 0 ? &c->given : NULL,
                                       .out = o->out,
                                       .name = folder_of(row->name, k, keep)};
    if (source.dump == NULL && source.given == NULL)
        return ERR_NONE;
    if (source.name == NULL)
        return fault_no_memory(fault, "case");
    return case_import(&source, keep, &c->run.folder, fault);
}

static enum status keep_pair(const struct check_reporter_options *o,
                             const struct reporter_result *result, uint32_t row, struct keeping *k,
                             struct arena *scratch, struct fault *fault)
{
    struct pair_case c;
    if (pair_case_open(&o->request, result, row, scratch, &c, fault) == ERR_NONE &&
        (o->out == NULL || seal(o, &result->rows[row], &c, k, scratch, fault) == ERR_NONE) &&
        k->store != NULL) {
        (void)run_keep_case(k->store, &k->info, &c.run, fault);
        k->in_store = fault->code != ERR_NONE;
    }
    pair_case_close(&c);
    return fault->code;
}

static enum status keep_pairs(const struct check_reporter_options *o,
                              const struct reporter_result *result, struct keeping *k,
                              struct fault *fault)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < result->row_count && fault->code == ERR_NONE && !process_interrupted();
         i++) {
        log_progress_of(i + 1, result->row_count, "keeping %u/%u  %s", i + 1, result->row_count,
                        result->rows[i].name);
        (void)keep_pair(o, result, i, k, &scratch, fault);
        arena_reset(&scratch);
    }
    log_progress_end();
    arena_free(&scratch);
    return fault->code;
}

static enum status keep_run(const struct check_reporter_options *o,
                            const struct reporter_result *result, struct keeping *k,
                            struct arena *keep, struct fault *fault)
{
    k->in_store = true;
    if (k->store != NULL && begin(o, result, k->store, keep, &k->info, fault) != ERR_NONE)
        return fault->code;
    k->in_store = false;
    if (keep_pairs(o, result, k, fault) != ERR_NONE || k->store == NULL)
        return fault->code;
    k->in_store = true;
    if (run_keep_end(k->store, &k->info, process_interrupted(), fault) == ERR_NONE && o->db != NULL)
        (void)fprintf(stderr, "twinstack: stored as run %" PRIu64 " in %s\n", k->info.id, o->db);
    return fault->code;
}

static enum status write_page(const void *context, FILE *out, struct fault *fault)
{
    const struct keeping *k = context;
    return dashboard_offline_page(k->store, k->info.id, out, fault);
}

/* The file of pages is written from a run; without --db, from one that is gone afterwards. */
static const char *temporary_database(struct arena *keep, const char **folder, struct fault *fault)
{
    *folder = folder_temporary_name("reporter", keep);
    const char *db = *folder != NULL ? path_join(keep, *folder, "run.db") : NULL;
    if (db == NULL)
        (void)fault_no_memory(fault, "run");
    else
        (void)folder_make(*folder, fault);
    return fault->code == ERR_NONE ? db : NULL;
}

int check_reporter_run(const struct check_reporter_options *options,
                       const struct reporter_result *result, struct arena *keep)
{
    struct keeping k = {.store = NULL};
    struct fault fault = FAULT_INIT, ignored = FAULT_INIT;
    int code = EXIT_GOOD;
    const char *folder = NULL, *db = options->db;
    if (db == NULL && options->html != NULL)
        db = temporary_database(keep, &folder, &fault);
    if (fault.code != ERR_NONE)
        return verb_fault(&fault);
    if (db == NULL || stored_open(db, STORE_WRITE, &k.store, &code)) {
        if (keep_run(options, result, &k, keep, &fault) != ERR_NONE)
            code = stored_fault(&fault, k.in_store);
        else if (options->html != NULL &&
                 stored_write(options->html, write_page, &k, &fault) != ERR_NONE)
            code = stored_fault(&fault, false);
        stored_close(k.store);
    }
    if (folder != NULL)
        (void)path_remove(folder, &ignored);
    free(k.folders);
    return code;
}
