/* What requests of views name: runs, cases, numbers. */
#include "pages/asked.h"

#include <inttypes.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "pages/summed.h"

enum status view_find_run(const struct view_input *in, const char *word, uint64_t *run_id,
                          struct fault *fault)
{
    return store_find_run(in->store, word != NULL ? word : "latest", run_id, fault);
}

enum status view_get_triage(const struct view_input *in, const char *word,
                            const struct triage **out, struct fault *fault)
{
    uint64_t run_id = 0;
    *out = NULL;
    if (store_find_run(in->store, word, &run_id, fault) != ERR_NONE)
        return fault->code;
    if (in->triage != NULL && in->triage->run.id == run_id)
        *out = in->triage;
    else if (in->loan != NULL)
        (void)summed_borrow(in->loan, in->store, run_id, in->keep, out, fault);
    if (*out != NULL || fault->code != ERR_NONE)
        return fault->code;
    struct triage *made = ARENA_NEW(in->keep, struct triage);
    *out = made;
    return made != NULL ? triage_make(in->store, word, in->keep, made, fault)
                        : fault_no_memory(fault, "queue of cases");
}

enum status view_read_figures(const struct view_input *in, uint64_t run_id, struct run_figures *out,
                              struct fault *fault)
{
    const struct triage *triage = NULL;
    const char *word = arena_printf(in->keep, "%" PRIu64, run_id);
    if (word == NULL)
        return fault_no_memory(fault, "figures of a run");
    if (view_get_triage(in, word, &triage, fault) != ERR_NONE || triage == NULL)
        return fault->code;
    *out = triage->figures;
    return ERR_NONE;
}

enum status view_get_uint(const struct view_input *in, const char *name, uint64_t fallback,
                          uint64_t max, uint64_t *out, struct fault *fault)
{
    const char *text = http_query_get(in->query, name);
    *out = fallback;
    if (text == NULL)
        return ERR_NONE;
    if (!text_parse_uint(text, strlen(text), out) || *out > max)
        return fault_set_lasting(fault, ERR_USAGE, FAULT_NO_OFFSET,
                                 "a number in the query is none, or too large", name);
    return ERR_NONE;
}

enum status view_get_limit(const struct view_input *in, uint64_t fallback, uint64_t *out,
                           struct fault *fault)
{
    enum status status = view_get_uint(in, "limit", fallback, STORE_PAGE_MAX, out, fault);
    if (status == ERR_NONE && *out == 0)
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "a limit of 0 asks for nothing");
    return status;
}

static bool is_listed(const char *list, const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, ", ")) {
        const size_t word = strcspn(at, ", ");
        if (word == size && memcmp(at, name, size) == 0)
            return true;
        at += word;
    }
    return false;
}

enum status view_check_names(const struct http_query *query, const char *allowed,
                             struct fault *fault)
{
    for (uint32_t i = 0; i < query->pair_count; i++) {
        if (!is_listed(allowed, query->pairs[i].name))
            return fault_set_lasting(fault, ERR_USAGE, FAULT_NO_OFFSET,
                                     "a name in the query that nothing here reads",
                                     allowed != NULL ? allowed : "this address takes no query");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(query->pairs[i].name, query->pairs[k].name) == 0)
                return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET,
                                 "the same name twice in the query");
    }
    return ERR_NONE;
}

enum status view_read_filters(const struct view_input *in, struct view_filters *out,
                              struct fault *fault)
{
    *out = (struct view_filters){.kind = CASE_KIND_NONE};
    const char *word = http_query_get(in->query, "verdict");
    if (word != NULL) {
        if (!verdict_parse(word, &out->verdict_given))
            return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "no verdict has this name",
                                  "PASS, FAIL, XFAIL, XPASS, FLAKY, ERROR, UNSUPPORTED, "
                                  "NOT-CAPTURED-AS-EXPECTED");
        out->verdict = &out->verdict_given;
    }
    word = http_query_get(in->query, "kind");
    out->kind = case_kind_parse(word);
    if (word != NULL && out->kind == CASE_KIND_NONE)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "no kind of case has this name",
                              "crash, hang, calm, stacks");
    word = http_query_get(in->query, "cause");
    if (word != NULL) {
        if (!cause_parse(word, &out->cause_given))
            return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "no cause has this name",
                                  "/api/v1/runs/latest lists the causes of a run");
        out->cause = &out->cause_given;
    }
    return ERR_NONE;
}

const char *view_dump_path(const struct run_case *c, struct arena *keep)
{
    const char *path = c->folder != NULL ? path_join(keep, c->folder, "dump.dmp") : NULL;
    return path != NULL && path_is_file(path) ? path : NULL;
}

void view_write_page(struct json *out, uint64_t total, uint64_t next)
{
    json_key_uint(out, "total", total);
    json_key_uint_known(out, "next", next);
}

static enum status split_case(const struct view_input *in, const char *name, const char **scenario,
                              const char **variant, struct fault *fault)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name || dot[1] == '\0')
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case",
                              "a case is called SCENARIO.VARIANT");
    *scenario = arena_text(in->keep, name, (size_t)(dot - name));
    *variant = dot + 1;
    return *scenario != NULL ? ERR_NONE : fault_no_memory(fault, "case");
}

enum status view_read_case(const struct view_input *in, struct run_case *out, struct fault *fault)
{
    uint64_t run_id = 0, case_id = 0, repeat = 0;
    const char *scenario = NULL, *variant = NULL;
    enum status status = view_find_run(in, in->query->params[0], &run_id, fault);
    if (status == ERR_NONE)
        status = split_case(in, in->query->params[1], &scenario, &variant, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "repeat", 0, UINT32_MAX, &repeat, fault);
    if (status == ERR_NONE)
        status = store_find_case(in->store, run_id, scenario, variant, (uint32_t)repeat, &case_id,
                                 fault);
    return status == ERR_NONE ? store_read_case(in->store, case_id, in->keep, out, fault) : status;
}
