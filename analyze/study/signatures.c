/* See signatures.h. */
#include "study/signatures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "compare/signature_tally.h"
#include "stream/count_files.h"
#include "stream/partial.h"

enum { EARLIER_RUNS = 20 };

enum status signatures_read_rules(const char *path, struct arena *keep,
                                  struct signature_rules **out, struct fault *fault)
{
    char *text = NULL;
    size_t bytes = 0;
    if (path == NULL)
        return signature_read_rules(signature_default_rules, strlen(signature_default_rules), keep,
                                    out, fault);
    if (file_read(path, LIMIT_JSON_BYTES, keep, &text, &bytes, fault) == ERR_NONE)
        (void)signature_read_rules(text, bytes, keep, out, fault);
    fault_set_path(fault, path);
    return fault->code;
}

struct session {
    const struct signature_request *request;
    struct arena *keep;
    struct store *store;
    struct signature_rules *rules;
    struct signature_tally tally;
    struct signature_count *rows; /* of the tally, once it is ranked */
    uint32_t row_count;
    uint64_t floor;
    struct fault *fault;
};

const char *signatures_default_rules(void)
{
    return signature_default_rules;
}

static enum status read_rules(struct session *s)
{
    return signatures_read_rules(s->request->rules, s->keep, &s->rules, s->fault);
}

/* ---- a run ---------------------------------------------------------------------------- */

static bool is_engine(const struct session *s, const struct engine_claim *claim)
{
    return s->request->engine != NULL ? strcmp(claim->engine, s->request->engine) == 0
                                      : claim->subject;
}

/* Counts the crashed thread's stack of a case, from the first engine that has one. */
static enum status count_case(struct session *s, uint64_t case_id, struct signature_tally *tally)
{
    struct arena work;
    struct run_case c;
    arena_init(&work, 0);
    (void)store_read_case(s->store, case_id, &work, &c, s->fault);
    for (uint32_t k = 0; s->fault->code == ERR_NONE && k < c.claim_count; k++) {
        const struct engine_claim *claim = &c.claims[k];
        if (!is_engine(s, claim) || claim->stack_count == 0 || claim->stacks[0].state != STACK_OK ||
            claim->stacks[0].frame_count == 0)
            continue;
        const char *text = signature_of(s->rules, &claim->stacks[0], &work);
        const char *example = arena_printf(&work, "%s.%s", c.scenario, c.variant);
        if (text == NULL)
            (void)fault_no_memory(s->fault, "signatures");
        else
            (void)signature_tally_add(tally, text, 1, example, s->fault);
        break;
    }
    arena_free(&work);
    return s->fault->code;
}

static enum status count_run(struct session *s, uint64_t run_id, struct signature_tally *tally)
{
    struct case_query query = {.run_id = run_id,
                               .limit = STORE_PAGE_MAX,
                               .without_scores = true,
                               .without_findings = true};
    do {
        struct arena scratch;
        struct case_page page;
        arena_init(&scratch, 0);
        if (store_list_cases(s->store, &query, &scratch, &page, s->fault) == ERR_NONE)
            query.after = page.next;
        for (uint32_t i = 0; s->fault->code == ERR_NONE && i < page.count; i++)
            (void)count_case(s, page.cases[i].id, tally);
        arena_free(&scratch);
    } while (s->fault->code == ERR_NONE && query.after != 0);
    return s->fault->code;
}

/* Ranks what was counted. FIRST_SEEN is used where the tally has none. */
static enum status rank(struct session *s, uint32_t most, const char *first_seen)
{
    (void)signature_tally_rank(&s->tally, most, s->keep, &s->rows, &s->row_count, &s->floor,
                               s->fault);
    for (uint32_t i = 0; s->fault->code == ERR_NONE && i < s->row_count; i++)
        if (s->rows[i].first_seen == NULL)
            s->rows[i].first_seen = first_seen;
    return s->fault->code;
}

/* What the earlier run RUN_ID, named NAME, had of the signatures of this one. */
static enum status look_back_to(struct session *s, uint64_t run_id, const char *name,
                                bool is_previous)
{
    struct signature_tally earlier = {.count = 0};
    struct signature_count *rows;
    struct arena work;
    uint32_t count = 0;
    uint64_t floor = 0;
    arena_init(&work, 0);
    if (count_run(s, run_id, &earlier) == ERR_NONE)
        (void)signature_tally_rank(&earlier, 0, &work, &rows, &count, &floor, s->fault);
    for (uint32_t i = 0; s->fault->code == ERR_NONE && i < s->row_count; i++) {
        const uint32_t then = signature_tally_rank_of(&earlier, s->rows[i].text);
        if (then == 0)
            continue;
        s->rows[i].first_seen = name;
        if (is_previous)
            s->rows[i].rank_before = then;
    }
    signature_tally_free(&earlier);
    arena_free(&work);
    return s->fault->code;
}

/* Reads first sights and the rank in the run before from the runs before this one. */
static enum status look_back(struct session *s, uint64_t run_id)
{
    struct run_page page;
    const struct run_query query = {.after = run_id, .limit = EARLIER_RUNS};
    bool is_previous = true;
    if (store_list_runs(s->store, &query, s->keep, &page, s->fault) != ERR_NONE)
        return s->fault->code;
    for (uint32_t r = 0; r < page.count; r++) {
        if (page.runs[r].case_count == 0)
            continue;
        const char *name = arena_printf(s->keep, "run %" PRIu64, page.runs[r].id);
        if (look_back_to(s, page.runs[r].id, name, is_previous) != ERR_NONE)
            return s->fault->code;
        is_previous = false;
    }
    return ERR_NONE;
}

/* What signatures_write_json() wrote earlier, for ranks before and first sights. */
static enum status look_into(struct session *s, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;
    const cJSON *row;
    if (file_read(path, LIMIT_JSON_BYTES, s->keep, &text, &bytes, s->fault) == ERR_NONE &&
        json_parse(text, bytes, &root, s->fault) == ERR_NONE) {
        const cJSON *rows = json_get_array(root, "signatures", s->fault);
        if (rows == NULL)
            (void)fault_set_hint(s->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "earlier signatures",
                                 "--before takes what `twinstack signatures --json` printed");
        cJSON_ArrayForEach(row, rows)
        {
            const char *signature = json_get_string(row, "signature", s->keep, s->fault);
            const char *first = json_get_string(row, "first_seen", s->keep, s->fault);
            const uint32_t at =
                signature != NULL ? signature_tally_rank_of(&s->tally, signature) : 0;
            if (at == 0 || at > s->row_count)
                continue;
            struct signature_count *now = &s->rows[at - 1];
            now->rank_before = (uint32_t)json_get_uint(row, "rank", 0, s->fault);
            now->first_seen = first != NULL ? first : now->first_seen;
        }
    }
    cJSON_Delete(root);
    fault_set_path(s->fault, path);
    return s->fault->code;
}

static enum status hand_over(struct session *s, const char *of, struct signature_list *out)
{
    if (s->request->before != NULL && look_into(s, s->request->before) != ERR_NONE)
        return s->fault->code;
    *out = (struct signature_list){.of = of,
                                   .items = s->rows,
                                   .count = s->row_count,
                                   .stacks = s->tally.stacks,
                                   .floor = s->floor};
    return ERR_NONE;
}

static enum status list_run(struct session *s, const char *word, struct signature_list *out,
                            bool *database)
{
    uint64_t id = 0;
    if (store_find_run(s->store, word, &id, s->fault) != ERR_NONE ||
        count_run(s, id, &s->tally) != ERR_NONE) {
        *database = s->fault->code != ERR_ABSENT;
        return s->fault->code;
    }
    const char *name = arena_printf(s->keep, "run %" PRIu64, id);
    if (rank(s, UINT32_MAX, name) != ERR_NONE)
        return s->fault->code;
    *database = s->request->before == NULL && look_back(s, id) != ERR_NONE;
    return *database ? s->fault->code : hand_over(s, name, out);
}

enum status signatures_of_run(struct store *store, const char *word,
                              const struct signature_request *request, struct arena *keep,
                              struct signature_list *out, bool *database, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .store = store, .fault = fault};
    *database = false;
    if (read_rules(&s) == ERR_NONE)
        (void)list_run(&s, word, out, database);
    signature_tally_free(&s.tally);
    return fault->code;
}

/* ---- streams -------------------------------------------------------------------------- */

enum status signatures_of_files(const char *const *files, uint32_t file_count, const char *name,
                                const struct signature_request *request, struct arena *keep,
                                struct signature_list *out, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .fault = fault};
    uint64_t bad = 0;
    if (read_rules(&s) == ERR_NONE)
        (void)count_named_files(files, file_count, s.rules, &s.tally, &bad, fault);
    if (fault->code == ERR_NONE && rank(&s, UINT32_MAX, name) == ERR_NONE &&
        hand_over(&s, name, out) == ERR_NONE)
        out->bad = bad;
    signature_tally_free(&s.tally);
    return fault->code;
}

enum status signatures_of_stacks(const char *const *files, uint32_t file_count, const char *name,
                                 const struct signature_request *request,
                                 const struct signature_counting *counting, struct arena *keep,
                                 struct signature_list *out, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .fault = fault};
    uint64_t bad = 0;
    s.tally.limit = counting->max_signatures;
    if (read_rules(&s) == ERR_NONE) {
        const struct count_options options = {.store = counting->store,
                                              .rules = s.rules,
                                              .workers = counting->workers,
                                              .distinct_max = counting->distinct_max};
        (void)count_files(files, file_count, &options, &s.tally, &bad, fault);
    }
    if (fault->code == ERR_NONE && rank(&s, UINT32_MAX, name) == ERR_NONE &&
        hand_over(&s, name, out) == ERR_NONE)
        out->bad = bad;
    signature_tally_free(&s.tally);
    return fault->code;
}

/* ---- partial results ------------------------------------------------------------------ */

static enum status merge_partial(struct session *s, const struct partial *partial, uint64_t *bad)
{
    if (s->tally.stacks + partial->stacks > PARTIAL_STACKS_MAX)
        return fault_set(s->fault, ERR_LIMIT, FAULT_NO_OFFSET, "stacks of partial results");
    signature_tally_join(&s->tally, partial->stacks, partial->floor);
    for (uint32_t i = 0; s->fault->code == ERR_NONE && i < partial->count; i++)
        (void)signature_tally_join_row(&s->tally, &partial->rows[i], s->fault);
    *bad += partial->bad;
    return s->fault->code;
}

static enum status merge_file(struct session *s, const char *path, uint64_t *bad)
{
    struct arena work;
    char *text = NULL;
    size_t bytes = 0, used = 0;
    arena_init(&work, 0);
    if (file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, LIMIT_FILE_BYTES, &work, &text,
                  &bytes, s->fault) == ERR_NONE) {
        for (size_t at = 0; s->fault->code == ERR_NONE && (at < bytes || bytes == 0); at += used) {
            struct partial partial;
            if (partial_read(text + at, bytes - at, &work, &partial, &used, s->fault) == ERR_NONE)
                (void)merge_partial(s, &partial, bad);
        }
    }
    fault_set_path(s->fault, path);
    arena_free(&work);
    return s->fault->code;
}

enum status signatures_merged(const char *const *files, uint32_t file_count, const char *name,
                              const struct signature_request *request, uint32_t most,
                              struct arena *keep, struct signature_list *out, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .fault = fault};
    uint64_t bad = 0;
    for (uint32_t i = 0; fault->code == ERR_NONE && i < file_count; i++)
        (void)merge_file(&s, files[i], &bad);
    if (fault->code == ERR_NONE && rank(&s, most != 0 ? most : UINT32_MAX, name) == ERR_NONE &&
        hand_over(&s, name, out) == ERR_NONE)
        out->bad = bad;
    signature_tally_free(&s.tally);
    return fault->code;
}

bool signatures_write_partial(FILE *stream, const struct signature_list *list, uint64_t top,
                              bool as_json)
{
    struct partial partial = {.of = list->of,
                              .stacks = list->stacks,
                              .floor = list->floor,
                              .bad = list->bad,
                              .rows = list->items,
                              .count = list->count};
    struct text_buffer text = {NULL, 0, 0, false};
    if (top < list->count) {
        partial.count = (uint32_t)top;
        if (list->items[top].count > partial.floor)
            partial.floor = list->items[top].count;
    }
    if (as_json)
        partial_write_ndjson(&text, &partial);
    else
        partial_write_columns(&text, &partial);
    const bool whole = !text.failed && fwrite(text.text, 1, text.bytes, stream) == text.bytes;
    free(text.text);
    return whole && fflush(stream) == 0;
}

/* ---- JSON ----------------------------------------------------------------------------- */

void signatures_write_json(struct json *j, const struct signature_list *list, uint64_t top)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_string(j, "of", list->of);
    json_key_uint(j, "stacks", list->stacks);
    json_key_uint(j, "total", list->count);
    json_key_uint(j, "floor", list->floor);
    json_key_array(j, "signatures");
    for (uint32_t i = 0; i < list->count && i < top; i++) {
        const struct signature_count *b = &list->items[i];
        json_object(j);
        json_key_uint(j, "rank", b->rank);
        json_key_uint_known(j, "rank_before", b->rank_before);
        json_key_uint(j, "count", b->count);
        json_key_uint(j, "error", b->error);
        json_key_number(j, "share", (double)b->count / (double)list->stacks);
        json_key_string(j, "first_seen", b->first_seen);
        json_key_string(j, "signature", b->text);
        json_key_string(j, "example", b->example);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
