/* Known mismatches for verbs: see acceptance.h. */
#include "verbs/acceptance.h"

#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"

enum status acceptance_read(const char *path, struct arena *keep, struct acceptance *out,
                            struct fault *fault)
{
    char *text = NULL;
    memset(out, 0, sizeof *out);
    if (path == NULL && !path_is_file(ACCEPTANCE_FILE))
        return ERR_NONE;
    out->path = path != NULL ? path : ACCEPTANCE_FILE;
    if (file_read(out->path, LIMIT_JSON_BYTES, keep, &text, &out->bytes, fault) == ERR_NONE)
        (void)known_parse(text, out->bytes, keep, &out->list, fault);
    out->text = text;
    fault_set_path(fault, out->path);
    return fault->code;
}

enum status acceptance_parse(const char *text, struct arena *keep, struct acceptance *out,
                             struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->text = text;
    out->path = ACCEPTANCE_FILE;
    out->bytes = text != NULL ? strlen(text) : 0;
    return text == NULL ? ERR_NONE : known_parse(text, out->bytes, keep, &out->list, fault);
}

enum status acceptance_apply(struct acceptance *acceptance, struct store *store,
                             struct run_case *cases, uint32_t count, bool whole, struct arena *keep,
                             struct fault *fault)
{
    char today[16];
    bool *changed = ARENA_ARRAY(keep, (size_t)count + 1, bool);
    if (changed == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "known mismatches");
    known_today(today);
    if (known_apply(&acceptance->list, cases, count, today, keep, changed, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && store != NULL; i++)
        if (changed[i] &&
            store_set_verdict(store, cases[i].id, cases[i].result.verdict, cases[i].result.reason,
                              cases[i].known_id, fault) != ERR_NONE)
            return fault->code;
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        const char *problem = known_problem(&acceptance->list.items[i], whole, keep);
        if (problem == NULL)
            continue;
        log_error("%s: %s", acceptance->path, problem);
        acceptance->problems++;
    }
    return ERR_NONE;
}
