/* Whole databases: import, merge, publish, prune. Import and merge use the public functions for
 * reading and writing, so that it copies exactly what a run would write. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "store/statements.h"

static enum status copy_cases(struct store *to, struct store *from, uint64_t from_run,
                              uint64_t to_run, struct fault *fault)
{
    struct case_query query = {.run_id = from_run, .limit = STORE_PAGE_MAX};
    do {
        struct arena scratch;
        struct case_page page;
        arena_init(&scratch, 0);
        if (store_list_cases(from, &query, &scratch, &page, fault) == ERR_NONE) {
            for (uint32_t i = 0; i < page.count && fault->code == ERR_NONE; i++) {
                struct arena one;
                struct run_case c;
                arena_init(&one, 0);
                if (store_read_case(from, page.cases[i].id, &one, &c, fault) == ERR_NONE)
                    (void)store_put_case(to, to_run, &c, fault);
                arena_free(&one);
            }
            query.after = page.next;
        }
        arena_free(&scratch);
    } while (fault->code == ERR_NONE && query.after != 0);
    return fault->code;
}

static bool has_uuid(struct store *store, const char *uuid, struct fault *fault)
{
    struct query q = query_begin(store, SQL_FIND_RUN_UUID, NULL, fault);
    query_text(&q, uuid);
    const bool found = query_row(&q);
    (void)query_end(&q);
    return found;
}

/* Copies one run unless TO has it; counts it in *COPIED. */
static enum status import_run(struct store *to, struct store *from, uint64_t run_id,
                              uint32_t *copied, struct fault *fault)
{
    struct arena scratch;
    struct run_info run;
    arena_init(&scratch, 0);
    if (database_begin(&to->database, fault) == ERR_NONE) {
        /* asked inside the transaction, since another import may run at the same time */
        if (store_read_run(from, run_id, &scratch, &run, fault) == ERR_NONE &&
            !has_uuid(to, run.uuid, fault)) {
            const enum run_state state = run.state;
            const uint64_t finished_ns = run.finished_ns;
            struct bench_sample *samples = NULL;
            struct bench_case *cases = NULL;
            uint32_t count = 0, case_count = 0;
            if (store_begin_run(to, &run, &scratch, fault) == ERR_NONE &&
                copy_cases(to, from, run_id, run.id, fault) == ERR_NONE &&
                store_read_samples(from, run_id, &scratch, &samples, &count, fault) == ERR_NONE &&
                store_put_samples(to, run.id, samples, count, fault) == ERR_NONE &&
                store_read_bench_cases(from, run_id, &scratch, &cases, &case_count, fault) ==
                    ERR_NONE &&
                store_put_bench_cases(to, run.id, cases, case_count, fault) == ERR_NONE &&
                store_finish_run(to, run.id, state, finished_ns, fault) == ERR_NONE)
                (*copied)++;
        }
        (void)database_end(&to->database, fault->code, fault);
    }
    arena_free(&scratch);
    return fault->code;
}

/* The baselines of FROM where TO has none, now that their runs are there. */
static enum status import_baselines(struct store *to, struct store *from, struct fault *fault)
{
    struct arena texts;
    arena_init(&texts, 0);
    struct query q = query_begin(from, SQL_LIST_BASELINES, &texts, fault);
    while (query_row(&q)) {
        struct query add = query_begin(to, SQL_ADD_BASELINE, NULL, fault);
        query_text(&add, query_get_text(&q));
        query_text(&add, query_get_text(&q));
        query_text(&add, query_get_text(&q));
        (void)query_run(&add);
    }
    (void)query_end(&q);
    arena_free(&texts);
    return fault->code;
}

enum status store_import(struct store *to, struct store *from, uint32_t *copied,
                         struct fault *fault)
{
    struct run_query query = {.oldest_first = true, .limit = STORE_PAGE_MAX};
    *copied = 0;
    do {
        struct arena scratch;
        struct run_page page;
        arena_init(&scratch, 0);
        if (store_list_runs(from, &query, &scratch, &page, fault) == ERR_NONE) {
            for (uint32_t i = 0; i < page.count && fault->code == ERR_NONE; i++)
                (void)import_run(to, from, page.runs[i].id, copied, fault);
            query.after = page.next;
        }
        arena_free(&scratch);
    } while (fault->code == ERR_NONE && query.after != 0);
    return fault->code != ERR_NONE ? fault->code : import_baselines(to, from, fault);
}

enum status store_merge(struct store *to, const struct store_part *parts, uint32_t count,
                        struct run_info *run, struct arena *keep, struct fault *fault)
{
    const uint64_t finished_ns = run->finished_ns;
    if (database_begin(&to->database, fault) != ERR_NONE)
        return fault->code;
    (void)store_begin_run(to, run, keep, fault);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)copy_cases(to, parts[i].from, parts[i].run_id, run->id, fault);
    if (fault->code == ERR_NONE &&
        store_finish_run(to, run->id, RUN_COMPLETE, finished_ns, fault) == ERR_NONE)
        run->state = RUN_COMPLETE;
    return database_end(&to->database, fault->code, fault);
}

static bool is_own_file(const struct store *store, const char *path)
{
    sqlite3 *other = NULL;
    bool same = false;
    if (sqlite3_open_v2(path, &other, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        const char *mine = sqlite3_db_filename(store->database.db, "main");
        const char *theirs = sqlite3_db_filename(other, "main");
        same = mine != NULL && theirs != NULL && strcmp(mine, theirs) == 0;
    }
    (void)sqlite3_close(other);
    return same;
}

static enum status write_copy(struct store *store, const char *path, struct fault *fault)
{
    struct database *d = &store->database, copy;
    struct fault ignored = FAULT_INIT, bad = FAULT_INIT;
    /* query_only also forbids writing another file; the handle itself stays read-only. */
    (void)database_run(d, "PRAGMA query_only=0", &ignored);
    struct query q = query_begin(store, SQL_PUBLISH, NULL, &bad);
    query_text(&q, path);
    (void)query_run(&q);
    if (store->mode != STORE_WRITE)
        (void)database_run(d, "PRAGMA query_only=1", &ignored);
    if (bad.code != ERR_NONE) /* of the copy, not of the database */
        return fault_set_reason(fault, bad.code, "published database", bad.reason, bad.hint);
    /* The copy would keep WAL mode in its header, and a -wal file cannot be made in a read-only
     * folder. */
    if (database_open(&copy, d->kind, path, true, fault) == ERR_NONE)
        (void)database_end_log(&copy, fault);
    database_close(&copy);
    return fault->code;
}

enum status store_publish(struct store *store, const char *path, struct fault *fault)
{
    struct arena scratch;
    struct fault ignored = FAULT_INIT;
    if (path_is_folder(path) || path_is_stream(path) ||
        (path_is_file(path) && is_own_file(store, path))) {
        (void)fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "published database",
                             "name another file: this is a folder, a device, or the database "
                             "itself");
        fault_set_path(fault, path);
        return fault->code;
    }
    arena_init(&scratch, 0);
    const char *real = path_followed(path, &scratch);
    const char *part = real != NULL ? arena_printf(&scratch, "%s.part", real) : NULL;
    if (part == NULL)
        (void)fault_no_memory(fault, "published database");
    else if ((path_is_file(part) && path_remove(part, fault) != ERR_NONE) ||
             write_copy(store, part, fault) != ERR_NONE)
        fault_set_path(fault, path);
    else
        (void)path_rename(part, real, fault);
    if (fault->code != ERR_NONE && part != NULL && path_is_file(part))
        (void)path_remove(part, &ignored);
    arena_free(&scratch);
    return fault->code;
}

enum status store_prune(struct store *store, uint32_t keep_runs, uint32_t *deleted,
                        struct fault *fault)
{
    static const char sweep[] =
        "DELETE FROM site WHERE id NOT IN (SELECT site FROM stack_frame);"
        "DELETE FROM text WHERE id NOT IN (SELECT function FROM site"
        " UNION SELECT file FROM site UNION SELECT compiland FROM site"
        " UNION SELECT note FROM site UNION SELECT module_name FROM site"
        " UNION SELECT shares_text FROM claim WHERE shares_text IS NOT NULL"
        " UNION SELECT evidence_text FROM finding WHERE evidence_text IS NOT NULL"
        " UNION SELECT steps FROM evidence WHERE steps IS NOT NULL"
        " UNION SELECT code_before FROM evidence WHERE code_before IS NOT NULL"
        " UNION SELECT code_after FROM evidence WHERE code_after IS NOT NULL"
        " UNION SELECT function FROM truth_frame WHERE function IS NOT NULL"
        " UNION SELECT file FROM truth_frame WHERE file IS NOT NULL);"
        "DELETE FROM artifact WHERE id NOT IN (SELECT artifact FROM case_artifact);"
        "DELETE FROM module WHERE id NOT IN (SELECT module FROM stack_frame WHERE module IS NOT"
        " NULL);"
        "VACUUM";
    *deleted = 0;
    uint64_t ids[256];
    uint32_t count = 0;
    do {
        count = 0;
        struct query q = query_begin(store, SQL_PRUNE_LIST, NULL, fault);
        query_int(&q, keep_runs);
        while (count < COUNT_OF(ids) && query_row(&q))
            ids[count++] = query_get(&q);
        (void)query_end(&q);
        for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
            if (store_delete_run(store, ids[i], fault) == ERR_NONE)
                (*deleted)++;
    } while (fault->code == ERR_NONE && count == COUNT_OF(ids));
    if (fault->code != ERR_NONE)
        return fault->code;
    return database_run(&store->database, sweep, fault);
}

enum status store_delete_run(struct store *store, uint64_t run_id, struct fault *fault)
{
    struct query q = query_with(store, SQL_DELETE_RUN, run_id, NULL, fault);
    return query_run(&q);
}
