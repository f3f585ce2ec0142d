/* See clusters.h. */
#include "study/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/store.h"

enum { HISTORIES_MAX = 32 }; /* clusters whose history is read; more are not shown anyway */

static bool is_worse(const struct diff_row *row)
{
    return row->counts && row->b != NULL &&
           (row->group == DIFF_NEW || row->group == DIFF_CHANGED) &&
           run_verdict_fails(row->b->verdict);
}

static bool is_smaller(const struct diff_case *a, const struct diff_case *b)
{
    const int name = strcmp(a->scenario, b->scenario);
    return a->frames != b->frames ? a->frames < b->frames
           : name != 0            ? name < 0
                                  : strcmp(a->variant, b->variant) < 0;
}

static const char *blame_of(const struct finding *f, struct arena *keep)
{
    char text[BLAME_TEXT_BYTES];
    return f == NULL ? "" : arena_string(keep, finding_blame_text(f, text));
}

static bool add_case(struct cluster *clusters, uint32_t *count, const struct diff_case *c,
                     struct arena *keep)
{
    const struct finding *f = c->finding;
    const struct cluster mine = {
        .cause = f != NULL              ? cause_name(f->cause)
                 : c->signature != NULL ? c->signature
                                        : verdict_name(c->verdict),
        .module = f != NULL && f->module != NULL ? f->module : "",
        .blame = blame_of(f, keep),
        .finding = f,
        .example = c,
    };
    uint32_t at = 0;
    if (mine.blame == NULL)
        return false;
    while (at < *count && (strcmp(clusters[at].cause, mine.cause) != 0 ||
                           strcmp(clusters[at].module, mine.module) != 0 ||
                           strcmp(clusters[at].blame, mine.blame) != 0))
        at++;
    if (at == *count)
        clusters[(*count)++] = mine;
    clusters[at].cases++;
    if (is_smaller(c, clusters[at].example))
        clusters[at].example = c;
    return true;
}

static int by_cases(const void *x, const void *y)
{
    const struct cluster *a = x, *b = y;
    if (a->cases != b->cases)
        return a->cases > b->cases ? -1 : 1;
    return a->example == b->example ? 0 : is_smaller(a->example, b->example) ? -1 : 1;
}

/* A run that was read from another database has another number there. */
static bool has_run(struct store *store, const struct run_info *run, struct arena *keep)
{
    struct run_info same;
    struct fault ignored = FAULT_INIT;
    return run->uuid != NULL && run->id != 0 &&
           store_read_run(store, run->id, keep, &same, &ignored) == ERR_NONE && same.uuid != NULL &&
           strcmp(same.uuid, run->uuid) == 0;
}

/* Completes C's history by what the comparison shows: its example was good in run A. APART: one of
 * the runs is of another database. */
static void add_runs(struct cluster *c, const struct run_info *a, const struct run_info *b,
                     bool apart, const struct run_diff *diff)
{
    bool was_good = false;
    for (uint32_t i = 0; i < diff->row_count && !was_good; i++)
        was_good = diff->rows[i].b == c->example && diff->rows[i].a != NULL &&
                   diff->rows[i].group == DIFF_NEW;
    if (!was_good || c->since.good_run != 0)
        return;
    c->since = (struct case_history){.failing_run = b->id,
                                     .failing_commit = b->commit,
                                     .good_run = a->id,
                                     .good_commit = a->commit,
                                     .good_elsewhere = apart};
}

enum status clusters_make(struct store *store, const struct run_info *a, const struct run_info *b,
                          const struct run_diff *diff, struct arena *keep, struct cluster **out,
                          uint32_t *count, struct fault *fault)
{
    *count = 0;
    *out = ARENA_ARRAY(keep, (size_t)diff->row_count + 1, struct cluster);
    if (*out == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "difference of two runs");
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (is_worse(&diff->rows[i]) && !add_case(*out, count, diff->rows[i].b, keep))
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "difference of two runs");
    array_sort(*out, *count, sizeof **out, by_cases);
    const bool known = *count > 0 && has_run(store, b, keep);
    const bool apart = *count > 0 && known != has_run(store, a, keep);
    for (uint32_t i = 0; i < *count; i++) {
        struct cluster *c = &(*out)[i];
        c->reason = c->example->reason != NULL ? c->example->reason : "";
        if (known && i < HISTORIES_MAX &&
            store_read_history(store, c->example, b, keep, &c->since, fault) != ERR_NONE)
            return fault->code;
        add_runs(c, a, b, apart, diff);
    }
    return ERR_NONE;
}

static void write_place(struct json *j, const char *key, uint64_t run, const char *commit)
{
    json_key(j, key);
    if (run == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "run", run);
    json_key_string(j, "commit", commit);
    json_object_end(j);
}

void clusters_write_json(struct json *j, const struct cluster *clusters, uint32_t count)
{
    json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        const struct cluster *c = &clusters[i];
        json_object(j);
        json_key_uint(j, "cases", c->cases);
        json_key_string(j, "cause", c->cause);
        json_key_string(j, "module", *c->module != '\0' ? c->module : NULL);
        json_key_string(j, "blame", *c->blame != '\0' ? c->blame : NULL);
        json_key(j, "example");
        json_object(j);
        json_key_string(j, "scenario", c->example->scenario);
        json_key_string(j, "variant", c->example->variant);
        json_key_string(j, "folder", c->example->folder);
        json_object_end(j);
        json_key_string(j, "reason", c->reason);
        write_place(j, "since", c->since.failing_run, c->since.failing_commit);
        write_place(j, "before", c->since.good_run, c->since.good_commit);
        json_object_end(j);
    }
    json_array_end(j);
}
