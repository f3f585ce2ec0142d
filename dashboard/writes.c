/* What the pages may write, and only with --allow-write and the token: the baseline.
 *
 * Accepted differences are a file that is reviewed like code; the pages show the command
 * that adds one and do not write it. */
#include <string.h>

#include "base/json.h"
#include "dashboard/parts.h"
#include "dashboard/routes.h"

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
    if (fault->code != ERR_NONE ||
        store_open(x->dashboard->options.database, STORE_WRITE, &store, fault) != ERR_NONE)
        return fault->code;
    (void)store_set_baseline(store, *run_id, branch, platform, fault);
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
    return answer_data(x, 200, data, strlen(data), NULL);
}
