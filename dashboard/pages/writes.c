/* What the pages may change, given --allow-write and the token: the baseline, and the file of known
 * mismatches.
 *
 * The file is what decides about acceptances and is reviewed like code.  A change replaces the
 * whole file; the database is not touched. */
#include "pages/writes.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "http/body.h"
#include "http/response.h"
#include "http/state.h"
#include "pages/shown.h"
#include "pages/stores.h"
#include "study/acceptance.h"
#include "study/problem.h"

static enum status set_baseline(struct exchange *x, const char *body, size_t bytes,
                                uint64_t *run_id, struct fault *fault)
{
    cJSON *tree = NULL;
    struct store *store = NULL;
    const char *branch = NULL, *platform = NULL;

    if (json_parse(body, bytes, &tree, fault) != ERR_NONE)
        return fault->code;
    *run_id = json_get_uint(tree, "run", 0, fault);
    branch = json_get_string(tree, "branch", &x->keep, fault);
    platform = json_get_string(tree, "platform", &x->keep, fault);
    cJSON_Delete(tree);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (!path_is_file(x->dashboard->options.database)) /* opening it for writing would make one */
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "run");
    if (store_open(x->dashboard->options.database, STORE_WRITE, &store, fault) != ERR_NONE)
        return fault->code;
    if (store_set_baseline(store, *run_id, branch, platform, fault) == ERR_NONE)
        shown_write(store);
    store_close(store);
    return fault->code;
}

int answer_baseline(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *body = NULL;
    size_t bytes = 0;
    uint64_t run_id = 0;

    if (!exchange_read_body(x, WRITE_MAX_BYTES, &body, &bytes))
        return 400;
    if (set_baseline(x, body, bytes, &run_id, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const char *data = arena_printf(&x->keep, "{\"baseline\":%llu}", (unsigned long long)run_id);
    if (data == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    return answer_data(x, data, strlen(data), NULL);
}

/* ---- known mismatches ----------------------------------------------------------------- */

static enum status read_file(struct exchange *x, struct acceptance *out, struct fault *fault)
{
    const char *path = x->dashboard->options.known_file;
    if (path == NULL)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "known mismatches",
                              "start the server with --known FILE");
    return acceptance_read_or_new(path, &x->keep, out, fault);
}

/* The case {run, case: "SCENARIO.VARIANT", repeat} that a body names. */
static enum status find_case(struct exchange *x, const cJSON *body, struct run_case *out,
                             struct fault *fault)
{
    struct store *store = NULL;
    uint64_t run_id = 0, case_id = 0;
    const uint64_t run = json_get_uint(body, "run", 0, fault);
    const uint64_t repeat = json_get_uint(body, "repeat", 0, fault);
    const char *name = json_get_string(body, "case", &x->keep, fault);
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;
    const char *word = arena_printf(&x->keep, "%llu", (unsigned long long)run);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (dot == NULL || word == NULL)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "case",
                              "a case is called SCENARIO.VARIANT");
    const char *scenario = arena_text(&x->keep, name, (size_t)(dot - name));
    if (scenario == NULL || store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault_no_memory(fault, "case");
    if (store_find_run(store, run != 0 ? word : "latest", &run_id, fault) == ERR_NONE &&
        store_find_case(store, run_id, scenario, dot + 1, (uint32_t)repeat, &case_id, fault) ==
            ERR_NONE)
        (void)store_read_case(store, case_id, &x->keep, out, fault);
    store_pool_give(x->dashboard->stores, store);
    return fault->code;
}

/* The problem {run, problem: its key} that a body names, all cases of it as one acceptance. */
static enum status add_problem(struct exchange *x, const cJSON *body, const char *key,
                               struct acceptance *file, const struct known_words *words,
                               const char **block, struct fault *fault)
{
    struct store *store = NULL;
    struct triage *triage = ARENA_NEW(&x->keep, struct triage);
    uint32_t count = 0;
    const uint64_t run = json_get_uint(body, "run", 0, fault);
    const char *word = arena_printf(&x->keep, "%llu", (unsigned long long)run);
    if (fault->code != ERR_NONE)
        return fault->code;
    if (triage == NULL || word == NULL)
        return fault_no_memory(fault, "problem");
    if (store_pool_take(x->dashboard->stores, &store, fault) != ERR_NONE)
        return fault->code;
    if (triage_make(store, run != 0 ? word : "latest", &x->keep, triage, fault) == ERR_NONE)
        (void)problem_accept(file, triage, key, words, &x->keep, block, &count, fault);
    store_pool_give(x->dashboard->stores, store);
    return fault->code;
}

static enum status add_known(struct exchange *x, const char *body, size_t bytes, const char **block,
                             struct fault *fault)
{
    cJSON *tree = NULL;
    struct acceptance file;
    struct run_case c;
    if (json_parse(body, bytes, &tree, fault) != ERR_NONE)
        return fault->code;
    const char *problem = json_get_string(tree, "problem", &x->keep, fault);
    const struct known_words words = {.reason = json_get_string(tree, "reason", &x->keep, fault),
                                      .issue = json_get_string(tree, "issue", &x->keep, fault),
                                      .expires = json_get_string(tree, "expires", &x->keep, fault),
                                      .broad = json_get_bool(tree, "broad", false, fault)};
    if (fault->code == ERR_NONE && read_file(x, &file, fault) == ERR_NONE &&
        (problem != NULL
             ? add_problem(x, tree, problem, &file, &words, block, fault) == ERR_NONE
             : find_case(x, tree, &c, fault) == ERR_NONE &&
                   acceptance_add(&file, &c, &words, &x->keep, block, fault) == ERR_NONE))
        (void)acceptance_save(&file, fault);
    cJSON_Delete(tree);
    return fault->code;
}

static int answer_block(struct exchange *x, const char *key, const char *value)
{
    struct json j;
    size_t bytes = 0;
    json_to_text(&j, false);
    json_object(&j);
    json_key_string(&j, key, value);
    json_object_end(&j);
    char *text = json_take(&j, &bytes);
    const char *kept = text != NULL ? arena_text(&x->keep, text, bytes) : NULL;
    free(text);
    if (kept == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    return answer_data(x, kept, bytes, NULL);
}

int answer_known_add(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *body = NULL;
    size_t bytes = 0;
    const char *block = NULL;
    if (!exchange_read_body(x, WRITE_MAX_BYTES, &body, &bytes))
        return 400;
    mutex_lock(x->dashboard->write_lock);
    const enum status status = add_known(x, body, bytes, &block, &fault);
    mutex_unlock(x->dashboard->write_lock);
    return status == ERR_NONE ? answer_block(x, "added", block) : answer_fault(x, &fault);
}

static enum status drop_known(struct exchange *x, const char *id, struct fault *fault)
{
    struct acceptance file = {.path = NULL};
    uint32_t found = 0;
    if (read_file(x, &file, fault) != ERR_NONE)
        return fault->code;
    bool *drop = ARENA_ARRAY(&x->keep, (size_t)file.list.count + 1, bool);
    for (uint32_t i = 0; drop != NULL && i < file.list.count; i++) {
        drop[i] = strcmp(file.list.items[i].id, id) == 0;
        found += drop[i];
    }
    if (found == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "acceptance of that id");
    return acceptance_drop(&file, drop, &x->keep, fault) == ERR_NONE ? acceptance_save(&file, fault)
                                                                     : fault->code;
}

int answer_known_drop(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    mutex_lock(x->dashboard->write_lock);
    const enum status status = drop_known(x, x->query.params[0], &fault);
    mutex_unlock(x->dashboard->write_lock);
    return status == ERR_NONE ? answer_block(x, "removed", x->query.params[0])
                              : answer_fault(x, &fault);
}
