/* The short lists: hooks, signatures, known differences, symbols. */
#include "view/lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/acceptance.h"
#include "study/run_document.h"
#include "view/input.h"
#include "view/rows.h"

/* The frame of a list that is of one run. */
static void begin_rows(struct json *out, uint64_t run_id)
{
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key(out, "rows");
    json_array(out);
}

static void end_rows(struct json *out)
{
    json_array_end(out);
    json_object_end(out);
}

enum status view_doors(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct hook_outcome *rows = NULL;
    char names[HOOKS_TEXT_BYTES];
    uint32_t count = 0;
    enum status status = view_find_run(in, view_query_get(in->query, "run"), &run_id, fault);
    if (status == ERR_NONE)
        status = store_read_hooks(in->store, run_id, in->keep, &rows, &count, fault);
    if (status != ERR_NONE)
        return status;
    begin_rows(out, run_id);
    for (uint32_t i = 0; i < count; i++) {
        json_object(out);
        json_key_string(out, "scenario", rows[i].scenario);
        json_key_string(out, "variant", rows[i].variant);
        json_key_string(out, "expected", hooks_text(rows[i].expected, names));
        json_key_string(out, "got", hooks_text(rows[i].got, names));
        json_key_bool(out, "differs", rows[i].expected != rows[i].got);
        json_object_end(out);
    }
    end_rows(out);
    return ERR_NONE;
}

enum status view_symbols(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct symbol_row *rows = NULL;
    uint32_t count = 0;
    enum status status = view_find_run(in, view_query_get(in->query, "run"), &run_id, fault);
    if (status == ERR_NONE)
        status = store_read_symbols(in->store, run_id, in->keep, &rows, &count, fault);
    if (status != ERR_NONE)
        return status;
    begin_rows(out, run_id);
    for (uint32_t i = 0; i < count; i++)
        symbol_row_write_json(out, &rows[i]);
    end_rows(out);
    return ERR_NONE;
}

static int by_signature(const void *a, const void *b)
{
    return strcmp(((const struct run_case *)a)->result.signature,
                  ((const struct run_case *)b)->result.signature);
}

struct bundle {
    const struct run_case *first;
    uint32_t cases;
};

struct signature_past {
    struct signature_row *rows;
    uint32_t count;
};

static int is_signature(const void *text, const void *row)
{
    return strcmp(text, ((const struct signature_row *)row)->signature);
}

static int by_size(const void *a, const void *b)
{
    const struct bundle *left = a, *right = b;
    if (left->cases != right->cases)
        return left->cases < right->cases ? 1 : -1;
    return by_signature(left->first, right->first);
}

static void write_past(struct json *out, const char *signature, const struct signature_past *past)
{
    const struct signature_row *row = past->count == 0 ? NULL
                                                       : bsearch(signature, past->rows, past->count,
                                                                 sizeof *past->rows, is_signature);
    json_key(out, "rank_before");
    row != NULL && row->rank_before != 0 ? json_uint(out, row->rank_before) : json_null(out);
    json_key(out, "first_run");
    row != NULL ? json_uint(out, row->first_run_id)
                : json_null(out); /* the run was stored between two reads */
}

static void write_bundle(struct json *out, const struct bundle *b,
                         const struct signature_past *past, uint32_t rank)
{
    json_object(out);
    json_key_uint(out, "rank", rank);
    write_past(out, b->first->result.signature, past);
    json_key_string(out, "signature", b->first->result.signature);
    json_key_uint(out, "cases", b->cases);
    json_key_string(out, "verdict", verdict_name(b->first->result.verdict));
    json_key_string(out, "reason", b->first->result.reason);
    json_key_string(out, "known_id", b->first->known_id);
    json_key(out, "examples");
    json_array(out);
    for (uint32_t i = 0; i < b->cases && i < 5; i++) {
        json_object(out);
        json_key_string(out, "scenario", b->first[i].scenario);
        json_key_string(out, "variant", b->first[i].variant);
        json_key_string(out, "verdict", verdict_name(b->first[i].result.verdict));
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
}

enum status view_signatures(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t run_id = 0;
    struct run_case *cases = NULL;
    struct signature_past past = {NULL, 0};
    uint32_t count = 0, kept = 0, bundles = 0;
    enum status status = view_find_run(in, view_query_get(in->query, "run"), &run_id, fault);
    if (status == ERR_NONE)
        status = store_read_outcomes(in->store, run_id, false, in->keep, &cases, &count, fault);
    if (status == ERR_NONE)
        status = store_read_signatures(in->store, run_id, in->keep, &past.rows, &past.count, fault);
    if (status != ERR_NONE)
        return status;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].result.signature != NULL)
            cases[kept++] = cases[i];
    array_sort(cases, kept, sizeof *cases, by_signature);
    struct bundle *list = ARENA_ARRAY(in->keep, (size_t)kept + 1, struct bundle);
    if (list == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "signatures");
    for (uint32_t i = 0; i < kept; i++) {
        if (i == 0 || by_signature(&cases[i - 1], &cases[i]) != 0)
            list[bundles++].first = &cases[i];
        list[bundles - 1].cases++;
    }
    array_sort(list, bundles, sizeof *list, by_size);
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key_uint(out, "total", bundles);
    json_key(out, "signatures");
    json_array(out);
    for (uint32_t i = 0; i < bundles && i < STORE_PAGE_MAX; i++)
        write_bundle(out, &list[i], &past, i + 1);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}

static void write_item(struct json *out, const struct known *k, const char *today,
                       const struct case_page *hits)
{
    uint32_t cases = 0;
    for (uint32_t i = 0; i < hits->count; i++)
        cases += hits->cases[i].known_id != NULL && strcmp(hits->cases[i].known_id, k->id) == 0;
    json_object(out);
    acceptance_write_json(out, k, today);
    json_key_uint(out, "hits", cases);
    json_object_end(out);
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
    char today[16], said[512] = "";
    const char *word = view_query_get(in->query, "run");
    enum status status = view_find_run(in, word, &run_id, fault);
    if (status == ERR_ABSENT && word == NULL)
        fault_clear(fault);
    else if (status == ERR_NONE)
        status = store_read_run(in->store, run_id, in->keep, &run, fault);
    const enum verdict accepted_ones = VERDICT_XFAIL;
    struct case_query query = {.run_id = run_id, .verdict = &accepted_ones, .limit = 200};
    if (status == ERR_NONE)
        (void)store_list_cases(in->store, &query, in->keep, &page, fault);
    if (fault->code != ERR_NONE)
        return fault->code;
    const char *text = in->known_text != NULL ? in->known_text : run.known_text;
    if (acceptance_parse(text, in->keep, &accepted, &damage) != ERR_NONE) {
        fault_describe(&damage, said, sizeof said);
        accepted.list.count = 0;
    }
    acceptance_today(today);
    json_object(out);
    json_key_string(out, "text", in->known_text);
    json_key(out, "run");
    run_id != 0 ? json_uint(out, run_id) : json_null(out);
    json_key_string(out, "used", run.known_text);
    json_key_string(out, "damage", said[0] != '\0' ? said : NULL);
    json_key(out, "items");
    json_array(out);
    for (uint32_t i = 0; i < accepted.list.count; i++)
        write_item(out, &accepted.list.items[i], today, &page);
    json_array_end(out);
    json_key(out, "hits");
    json_array(out);
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}
