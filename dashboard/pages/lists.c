/* The short lists: hooks, signatures, known differences, symbols. */
#include "pages/view.h"

#include "pages/asked.h"
#include "pages/rows.h"
#include "study/acceptance.h"
#include "study/hooks.h"
#include "study/run_document.h"
#include "study/run_lists.h"
#include <inttypes.h>

enum { KNOWN_HITS_MAX = 200 };

/* Of all cases, whatever the rows leave out: each hook that was expected or saw a crash, and how
 * many cases differ. */
static void write_hooks(struct json *out, const struct hook_outcome *rows, uint32_t count)
{
    uint32_t differing = 0;
    for (uint32_t i = 0; i < count; i++)
        differing += rows[i].expected != rows[i].got;
    json_key_uint(out, "total", count);
    json_key_uint(out, "differing", differing);
    json_key_array(out, "hooks");
    for (int hook = 0; hook < CASE_HOOK_COUNT; hook++) {
        uint32_t named = 0, seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            seen += (rows[i].got >> hook) & 1U;
            named += ((rows[i].got | rows[i].expected) >> hook) & 1U;
        }
        if (named == 0)
            continue;
        json_object(out);
        json_key_string(out, "hook", case_hook_name((enum case_hook)hook));
        json_key_uint(out, "seen", seen);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_hook_row(struct json *out, const struct hook_outcome *row)
{
    char names[HOOKS_TEXT_BYTES];
    json_object(out);
    json_key_string(out, "scenario", row->scenario);
    json_key_string(out, "variant", row->variant);
    json_key_uint(out, "repeat", row->repeat);
    json_key_string(out, "expected", hooks_text(row->expected, names));
    json_key_string(out, "got", hooks_text(row->got, names));
    json_key_bool(out, "differs", row->expected != row->got);
    json_object_end(out);
}

enum status view_hooks(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0, limit = UINT64_MAX, after = 0, differs = 0;
    struct hook_outcome *rows = NULL;
    const char *search = http_query_get(in->query, "search");
    uint32_t count = 0, fitting = 0;
    if (view_find_run(in, http_query_get(in->query, "run"), &run_id, fault) != ERR_NONE ||
        view_get_limit(in, UINT64_MAX, &limit, fault) != ERR_NONE ||
        view_get_uint(in, "after", 0, UINT32_MAX, &after, fault) != ERR_NONE ||
        view_get_uint(in, "differs", 0, 1, &differs, fault) != ERR_NONE ||
        store_read_hooks(in->store, run_id, in->keep, &rows, &count, fault) != ERR_NONE)
        return fault->code;
    hook_outcomes_reduce(rows, count);
    json_object(out);
    json_key_uint(out, "run", run_id);
    write_hooks(out, rows, count);
    json_key_array(out, "rows");
    for (uint32_t i = 0; i < count; i++) {
        if ((differs != 0 && rows[i].expected == rows[i].got) ||
            !view_name_has(rows[i].scenario, rows[i].variant, rows[i].repeat, search, in->keep))
            continue;
        if (fitting >= after && fitting - after < limit)
            write_hook_row(out, &rows[i]);
        fitting++;
    }
    json_array_end(out);
    json_key_uint(out, "fitting", fitting);
    json_object_end(out);
    return ERR_NONE;
}

enum status view_symbols(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct symbol_row *rows = NULL;
    struct named_module *modules = NULL;
    uint32_t count = 0, module_count = 0;
    if (view_find_run(in, http_query_get(in->query, "run"), &run_id, fault) != ERR_NONE ||
        store_read_symbols(in->store, run_id, in->keep, &rows, &count, fault) != ERR_NONE ||
        named_modules_make(rows, count, in->keep, &modules, &module_count, fault) != ERR_NONE)
        return fault->code;
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key(out, "modules");
    named_modules_write_json(out, modules, module_count);
    json_key_array(out, "rows");
    for (uint32_t i = 0; i < count; i++)
        symbol_row_write_json(out, &rows[i]);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}

static void write_difference(struct json *out, const struct case_difference *d, uint32_t rank)
{
    json_object(out);
    json_key_uint(out, "rank", rank);
    json_key_uint_known(out, "rank_before", d->rank_before);
    json_key_uint_known(out, "first_run", d->failure->since.failing_run);
    json_key_string(out, "signature", d->signatures[0].text);
    json_key_string(out, "known_id", d->known_id);
    failure_write_members(out, d->failure);
    json_key_array(out, "signatures");
    for (uint32_t i = 0; i < d->signature_count; i++) {
        json_object(out);
        json_key_string(out, "signature", d->signatures[i].text);
        json_key_uint(out, "cases", d->signatures[i].cases);
        json_object_end(out);
    }
    json_array_end(out);
    json_key_uint(out, "signatures_left", d->signatures_left);
    json_key_array(out, "examples");
    for (uint32_t i = 0; i < d->example_count; i++) {
        json_object(out);
        json_key_string(out, "scenario", d->examples[i]->scenario);
        json_key_string(out, "variant", d->examples[i]->variant);
        json_key_uint(out, "repeat", d->examples[i]->repeat);
        json_key_string(out, "verdict", verdict_name(d->examples[i]->verdict));
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
}

enum status view_signatures(const struct view_input *in, struct json *out, struct fault *fault)
{
    const struct triage *triage = NULL;
    struct case_difference *list = NULL;
    uint64_t run_id = 0;
    uint32_t count = 0;
    const char *word = NULL;
    if (view_find_run(in, http_query_get(in->query, "run"), &run_id, fault) != ERR_NONE)
        return fault->code;
    if ((word = arena_printf(in->keep, "%" PRIu64, run_id)) == NULL)
        return fault_no_memory(fault, "lists of a run");
    if (view_get_triage(in, word, &triage, fault) != ERR_NONE ||
        case_differences_make(in->store, triage, in->keep, &list, &count, fault) != ERR_NONE)
        return fault->code;
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key_uint(out, "total", count);
    json_key_array(out, "signatures");
    for (uint32_t i = 0; i < count && i < STORE_PAGE_MAX; i++)
        write_difference(out, &list[i], i + 1);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}

static void write_items(struct json *out, const struct known_list *list, const uint32_t *hits)
{
    char today[16];
    acceptance_today(today);
    json_key_array(out, "items");
    for (uint32_t i = 0; i < list->count; i++) {
        json_object(out);
        acceptance_write_json(out, &list->items[i], today);
        json_key_uint(out, "hits", hits[i]);
        json_object_end(out);
    }
    json_array_end(out);
}

/* The list as it is in its file, and as the newest run (or the requested one) used it.  People edit
 * the file, so one that cannot be parsed is shown with its error. */
enum status view_known(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct run_info run = {0};
    struct acceptance accepted = {0};
    struct case_page page = {0};
    struct fault damage = FAULT_INIT;
    uint32_t *hits = NULL;
    char said[512] = "";
    const char *word = http_query_get(in->query, "run");
    enum status status = view_find_run(in, word, &run_id, fault);
    if (status == ERR_ABSENT && word == NULL)
        fault_clear(fault);
    else if (status == ERR_NONE)
        status = store_read_run(in->store, run_id, in->keep, &run, fault);
    const enum verdict accepted_ones = VERDICT_XFAIL;
    struct case_query query = {
        .run_id = run_id, .verdict = &accepted_ones, .limit = KNOWN_HITS_MAX};
    if (status == ERR_NONE)
        (void)store_list_cases(in->store, &query, in->keep, &page, fault);
    if (fault->code != ERR_NONE)
        return fault->code;
    const char *text = in->known_text != NULL ? in->known_text : run.known_text;
    if (acceptance_parse(text, in->keep, &accepted, &damage) != ERR_NONE) {
        fault_describe(&damage, said, sizeof said);
        accepted.list.count = 0;
    }
    if (acceptance_hits(in->store, run_id, &accepted.list, in->keep, &hits, fault) != ERR_NONE)
        return fault->code;
    json_object(out);
    json_key_string(out, "text", in->known_text);
    json_key_uint_known(out, "run", run_id);
    json_key_string(out, "used", run.known_text);
    json_key_string(out, "damage", said[0] != '\0' ? said : NULL);
    write_items(out, &accepted.list, hits);
    json_key_uint(out, "hits_total", page.total);
    json_key_array(out, "hits");
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}
