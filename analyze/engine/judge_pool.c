/* See judge_pool.h. */
#include "engine/judge_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"

enum { JUDGES_MAX = 8, SETS_MAX = 64, COLD_EVERY = 32, COLD_LAST = 2 * COLD_EVERY };

struct pooled_judge {
    const char *program; /* the words of its command line; NULL: the slot is free */
    struct process *process;
};

struct pooled_set {
    const char *key, *name; /* the hashes of its files; its folder inside the pool's */
};

struct asked {
    const char *judge; /* NULL: the row is free */
    uint32_t questions;
};

struct judge_pool {
    struct arena keep;
    const char *folder;
    struct pooled_judge judges[JUDGES_MAX];
    struct pooled_set sets[SETS_MAX];
    uint32_t set_count, sets_made;
    struct named_version versions[JUDGES_MAX];
    uint32_t version_count;
    struct asked asked[JUDGES_MAX];
};

enum status judge_pool_open(const char *folder, struct judge_pool **out, struct fault *fault)
{
    *out = NULL;
    if (path_remove(folder, fault) != ERR_NONE || folder_make(folder, fault) != ERR_NONE)
        return fault->code;
    struct judge_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return fault_no_memory(fault, "judges");
    arena_init(&pool->keep, 0);
    pool->folder = arena_string(&pool->keep, folder);
    *out = pool;
    if (pool->folder == NULL) {
        judge_pool_close(pool);
        *out = NULL;
        return fault_no_memory(fault, "judges");
    }
    return ERR_NONE;
}

void judge_pool_close(struct judge_pool *pool)
{
    struct fault ignored = FAULT_INIT;

    if (pool == NULL)
        return;
    for (size_t i = 0; i < JUDGES_MAX; i++)
        process_close(pool->judges[i].process);
    if (pool->folder != NULL)
        (void)path_remove(pool->folder, &ignored);
    arena_free(&pool->keep);
    free(pool);
}

const char *judge_pool_folder(const struct judge_pool *pool)
{
    return pool->folder;
}

/* ---- folders ---------------------------------------------------------------------------- */

static bool is_staged_role(enum case_role role)
{
    return role == ROLE_IMAGE || role == ROLE_PDB;
}

const char *judge_pool_key(const struct crash_case *crash, struct arena *keep)
{
    const char *key = "";
    for (uint32_t i = 0; i < crash->file_count && key != NULL; i++)
        if (is_staged_role(crash->files[i].role))
            key = arena_printf(keep, "%s%s %s\n", key, crash->files[i].sha256,
                               path_base(crash->files[i].path));
    return key;
}

static enum status fill_set(const struct judge_stage *stage, const struct crash_case *crash,
                            struct arena *keep, struct fault *fault)
{
    enum status status = folder_make(stage->folder, fault);
    for (uint32_t i = 0; i < crash->file_count && status == ERR_NONE; i++)
        if (is_staged_role(crash->files[i].role))
            status = judge_stage_put(stage, crash, i, keep, fault);
    return status;
}

/* The folder for the case's files, made when no case had the same ones.  If there are too many, it
 * replaces the oldest. */
static enum status find_set(struct judge_pool *pool, const struct crash_case *crash,
                            struct arena *keep, struct judge_stage *out, struct fault *fault)
{
    const char *key = judge_pool_key(crash, keep);
    for (uint32_t i = 0; key != NULL && i < pool->set_count; i++)
        if (strcmp(pool->sets[i].key, key) == 0) {
            out->folder = path_join(keep, pool->folder, pool->sets[i].name);
            return out->folder != NULL ? ERR_NONE : fault_no_memory(fault, "staging folder");
        }
    const struct pooled_set made = {arena_string(&pool->keep, key),
                                    arena_printf(&pool->keep, "%u", (unsigned)++pool->sets_made)};
    out->folder = made.name != NULL ? path_join(keep, pool->folder, made.name) : NULL;
    if (key == NULL || made.key == NULL || out->folder == NULL)
        return fault_no_memory(fault, "staging folder");
    if (fill_set(out, crash, keep, fault) != ERR_NONE)
        return fault->code;
    struct pooled_set *slot = &pool->sets[(pool->sets_made - 1) % SETS_MAX];
    if (pool->set_count == SETS_MAX) {
        const char *old = path_join(keep, pool->folder, slot->name);
        struct fault ignored = FAULT_INIT;
        if (old != NULL)
            (void)path_remove(old, &ignored);
    } else {
        pool->set_count++;
    }
    *slot = made;
    return ERR_NONE;
}

enum status judge_pool_stage(struct judge_pool *pool, const struct crash_case *crash,
                             struct arena *keep, struct judge_stage *out, struct fault *fault)
{
    const struct case_file *dump = case_file(crash, ROLE_DUMP);

    out->lasts = true;
    out->dump = NULL;
    if (find_set(pool, crash, keep, out, fault) != ERR_NONE || dump == NULL)
        return fault->code;
    out->dump = path_base(dump->path);
    return judge_stage_put(out, crash, (uint32_t)(dump - crash->files), keep, fault);
}

/* ---- programs --------------------------------------------------------------------------- */

static const char *words_of(const char *const *argv, struct arena *keep)
{
    const char *words = "";
    for (; *argv != NULL && words != NULL; argv++)
        words = arena_printf(keep, "%s%s\n", words, *argv);
    return words;
}

static struct pooled_judge *slot_of(struct judge_pool *pool, const char *const *argv)
{
    const char *words = words_of(argv, &pool->keep);
    for (size_t i = 0; words != NULL && i < JUDGES_MAX; i++) {
        struct pooled_judge *slot = &pool->judges[i];
        if (slot->program == NULL)
            slot->program = words;
        if (strcmp(slot->program, words) == 0)
            return slot;
    }
    return NULL;
}

static enum status start(const struct judge_pool *pool, struct pooled_judge *judge,
                         const char *const *argv, struct fault *fault)
{
    const struct process_request request = {.argv = argv, .folder = pool->folder};
    return process_open(&request, &judge->process, fault);
}

static enum status ask(struct pooled_judge *judge, const char *question, uint32_t lines,
                       struct arena *keep, char **answer, struct fault *fault)
{
    if (process_ask(judge->process, question, lines, JUDGE_LIMIT_MS, keep, answer, fault) !=
        ERR_NONE) {
        process_close(judge->process);
        judge->process = NULL;
    }
    return fault->code;
}

enum status judge_pool_ask(struct judge_pool *pool, const char *const *argv, const char *question,
                           uint32_t lines, struct arena *keep, char **answer,
                           struct engine_result *out, struct fault *fault)
{
    const uint64_t start_ns = clock_ns();
    struct pooled_judge *judge = slot_of(pool, argv);

    if (judge == NULL)
        return fault_no_memory(fault, "judges");
    out->warm = judge->process != NULL;
    if (!out->warm && start(pool, judge, argv, fault) != ERR_NONE)
        return fault->code;
    (void)ask(judge, question, lines, keep, answer, fault);
    if (fault->code == ERR_IO && out->warm) { /* an earlier question may have crashed it */
        fault_clear(fault);
        out->warm = false;
        if (start(pool, judge, argv, fault) == ERR_NONE)
            (void)ask(judge, question, lines, keep, answer, fault);
    }
    out->cost.total_ns = clock_ns() - start_ns;
    if (fault->code == ERR_TIMEOUT)
        out->why =
            arena_printf(keep, "its program did not answer within %d s", JUDGE_LIMIT_MS / 1000);
    else if (fault->code == ERR_IO)
        out->why = "its program ended before it answered";
    return fault->code;
}

bool judge_pool_takes_sample(struct judge_pool *pool, const char *judge)
{
    for (size_t i = 0; i < JUDGES_MAX; i++) {
        struct asked *row = &pool->asked[i];
        if (row->judge != NULL && strcmp(row->judge, judge) != 0)
            continue;
        row->judge = judge;
        const uint32_t n = row->questions++;
        return n != 0 && n <= COLD_LAST && n % COLD_EVERY == 0;
    }
    return false;
}

const char *judge_pool_version(const struct judge_pool *pool, const char *program)
{
    for (uint32_t i = 0; i < pool->version_count; i++)
        if (strcmp(pool->versions[i].name, program) == 0)
            return pool->versions[i].version;
    return NULL;
}

void judge_pool_set_version(struct judge_pool *pool, const char *program, const char *version)
{
    const struct named_version row = {arena_string(&pool->keep, program),
                                      arena_string(&pool->keep, version)};
    if (pool->version_count < JUDGES_MAX && row.name != NULL && row.version != NULL)
        pool->versions[pool->version_count++] = row;
}
