/* twinstack signatures: the head problems of a run or a stream: which trouble how often, since
 * when, and how that changed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "compare/signature_tally.h"
#include "verbs/resolved_input.h"
#include "verbs/stored.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

enum { EARLIER_RUNS = 20, TOP_DEFAULT = 20 };

struct signature_options {
    const char *db, *rules, *engine, *before, *name;
    uint64_t top;
    bool as_json, show_rules;
};

struct session {
    const struct signature_options *o;
    struct arena *keep;
    struct store *store;
    struct signature_rules *rules;
    struct signature_tally tally;
    struct fault fault;
};

static enum status add_stack(struct session *s, struct signature_tally *tally, const char *example,
                             const struct stack *stack, struct arena *work)
{
    const char *text = signature_of(s->rules, stack, work);
    if (text == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "signatures");
    return signature_tally_add(tally, text, example, s->keep, &s->fault);
}

/* ---- a run ---------------------------------------------------------------------------- */

static bool is_engine(const struct session *s, const struct engine_claim *claim)
{
    return s->o->engine != NULL ? strcmp(claim->engine, s->o->engine) == 0 : claim->subject;
}

/* The suspect's stack of a case, by the first engine that gives one. */
static enum status count_case(struct session *s, uint64_t case_id, struct signature_tally *tally)
{
    struct arena work;
    struct run_case c;
    arena_init(&work, 0);
    (void)store_read_case(s->store, case_id, &work, &c, &s->fault);
    for (uint32_t k = 0; s->fault.code == ERR_NONE && k < c.claim_count; k++) {
        const struct engine_claim *claim = &c.claims[k];
        if (!is_engine(s, claim) || claim->stack_count == 0 || claim->stacks[0].state != STACK_OK ||
            claim->stacks[0].frame_count == 0)
            continue;
        (void)add_stack(s, tally, arena_printf(&work, "%s.%s", c.scenario, c.variant),
                        &claim->stacks[0], &work);
        break;
    }
    arena_free(&work);
    return s->fault.code;
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
        if (store_list_cases(s->store, &query, &scratch, &page, &s->fault) == ERR_NONE)
            query.after = page.next;
        for (uint32_t i = 0; s->fault.code == ERR_NONE && i < page.count; i++)
            (void)count_case(s, page.cases[i].id, tally);
        arena_free(&scratch);
    } while (s->fault.code == ERR_NONE && query.after != 0);
    signature_tally_rank(tally);
    return s->fault.code;
}

static void set_first_seen(struct session *s, const char *name)
{
    for (uint32_t i = 0; i < s->tally.count; i++)
        s->tally.items[i].first_seen = name;
}

/* First seen, and the rank in the run before, out of the last runs before this one. */
static enum status look_back(struct session *s, uint64_t run_id)
{
    struct run_page page;
    const struct run_query query = {.after = run_id, .limit = EARLIER_RUNS};
    bool is_previous = true;
    if (store_list_runs(s->store, &query, s->keep, &page, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t r = 0; r < page.count; r++) {
        struct signature_tally earlier = {.count = 0};
        if (page.runs[r].case_count == 0)
            continue;
        const char *name = arena_printf(s->keep, "run %" PRIu64, page.runs[r].id);
        if (count_run(s, page.runs[r].id, &earlier) != ERR_NONE)
            return s->fault.code;
        for (uint32_t i = 0; i < s->tally.count; i++) {
            const struct signature_count *then =
                signature_tally_find(&earlier, s->tally.items[i].text);
            if (then == NULL)
                continue;
            s->tally.items[i].first_seen = name;
            if (is_previous)
                s->tally.items[i].rank_before = then->rank;
        }
        is_previous = false;
    }
    return ERR_NONE;
}

/* ---- a stream ------------------------------------------------------------------------- */

static bool take_stack(void *context, const struct stack *stack, const char *label, uint64_t number)
{
    struct session *s = context;
    char where[64];
    struct arena work;
    arena_init(&work, 0);
    (void)snprintf(where, sizeof where, "stack %" PRIu64, number);
    (void)add_stack(s, &s->tally, label != NULL ? label : where, stack, &work);
    arena_free(&work);
    return s->fault.code == ERR_NONE;
}

static enum status count_stream(struct session *s, const struct option_list *files)
{
    uint64_t bad = 0;
    for (uint32_t i = 0; i < files->count; i++)
        if (resolved_input_read(files->items[i], take_stack, s, &bad, &s->fault) != ERR_NONE)
            return s->fault.code;
    if (bad > 0)
        log_warn("left out: %" PRIu64 " line%s no stack", bad, bad == 1 ? " is" : "s are");
    signature_tally_rank(&s->tally);
    set_first_seen(s, s->o->name);
    return ERR_NONE;
}

/* --before: what this verb printed with --json before, for ranks then and first sights. */
static enum status look_into(struct session *s, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;
    const cJSON *row;
    if (file_read(path, LIMIT_JSON_BYTES, s->keep, &text, &bytes, &s->fault) == ERR_NONE &&
        json_parse(text, bytes, &root, &s->fault) == ERR_NONE) {
        const cJSON *rows = json_get_array(root, "signatures", &s->fault);
        if (rows == NULL)
            (void)fault_set_hint(&s->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "earlier signatures",
                                 "--before takes what `twinstack signatures --json` printed");
        cJSON_ArrayForEach(row, rows)
        {
            const char *signature = json_get_string(row, "signature", s->keep, &s->fault);
            const char *first = json_get_string(row, "first_seen", s->keep, &s->fault);
            struct signature_count *now =
                signature != NULL ? signature_tally_find(&s->tally, signature) : NULL;
            if (now == NULL)
                continue;
            now->rank_before = (uint32_t)json_get_uint(row, "rank", 0, &s->fault);
            now->first_seen = first != NULL ? first : now->first_seen;
        }
    }
    cJSON_Delete(root);
    fault_set_path(&s->fault, path);
    return s->fault.code;
}

/* ---- telling -------------------------------------------------------------------------- */

static void print_text(const struct session *s, const char *of)
{
    const struct page page = terminal_page();
    const struct signature_tally *tally = &s->tally;
    int wide = (int)strlen("first seen");
    for (uint32_t i = 0; i < tally->count && i < s->o->top; i++)
        if ((int)text_width(tally->items[i].first_seen) > wide)
            wide = (int)text_width(tally->items[i].first_seen);
    (void)printf("head problems of %s: %" PRIu64 " stacks, %u signatures\n\n"
                 " rank  count        %%  change  %-*s  signature\n",
                 of, tally->stacks, tally->count, wide, "first seen");
    for (uint32_t i = 0; i < tally->count && i < s->o->top; i++) {
        const struct signature_count *b = &tally->items[i];
        char change[16] = "new";
        if (b->rank_before == b->rank)
            (void)snprintf(change, sizeof change, "=");
        else if (b->rank_before != 0)
            (void)snprintf(change, sizeof change, "%+d", (int)b->rank_before - (int)b->rank);
        (void)printf("%5u %6" PRIu64 " %6.1f %%  %6s  ", b->rank, b->count,
                     100.0 * (double)b->count / (double)tally->stacks, change);
        page_cell(&page, INK_PLAIN, wide, b->first_seen);
        (void)fputs("  ", stdout);
        page_cell(&page, INK_PLAIN, 0, b->text);
        page_line(&page);
    }
    if (tally->count > s->o->top)
        (void)printf("... and %" PRIu64 " more signatures\n", tally->count - s->o->top);
}

static void print_json(const struct session *s, const char *of)
{
    const struct signature_tally *tally = &s->tally;
    struct json j;
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "of", of);
    json_key_uint(&j, "stacks", tally->stacks);
    json_key_uint(&j, "total", tally->count);
    json_key(&j, "signatures");
    json_array(&j);
    for (uint32_t i = 0; i < tally->count && i < s->o->top; i++) {
        const struct signature_count *b = &tally->items[i];
        json_object(&j);
        json_key_uint(&j, "rank", b->rank);
        json_key(&j, "rank_before");
        b->rank_before != 0 ? json_uint(&j, b->rank_before) : json_null(&j);
        json_key_uint(&j, "count", b->count);
        json_key_number(&j, "share", (double)b->count / (double)tally->stacks);
        json_key_string(&j, "first_seen", b->first_seen);
        json_key_string(&j, "signature", b->text);
        json_key_string(&j, "example", b->example);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
}

static enum status read_rules(struct session *s)
{
    char *text = NULL;
    size_t bytes = 0;
    if (s->o->rules == NULL)
        return signature_read_rules(signature_default_rules, strlen(signature_default_rules),
                                    s->keep, &s->rules, &s->fault);
    if (file_read(s->o->rules, LIMIT_JSON_BYTES, s->keep, &text, &bytes, &s->fault) == ERR_NONE)
        (void)signature_read_rules(text, bytes, s->keep, &s->rules, &s->fault);
    fault_set_path(&s->fault, s->o->rules);
    return s->fault.code;
}

static int tell(struct session *s, const char *of)
{
    if (s->o->before != NULL && look_into(s, s->o->before) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->tally.stacks == 0) {
        log_error("%s holds no stack", of);
        return EXIT_NOTHING;
    }
    if (s->o->as_json)
        print_json(s, of);
    else
        print_text(s, of);
    return EXIT_GOOD;
}

static int signatures_of_run(struct session *s, const char *word)
{
    uint64_t id = 0;
    int code = EXIT_GOOD;
    if (!stored_open(s->o->db, STORE_READ, &s->store, &code))
        return code;
    if (store_find_run(s->store, word, &id, &s->fault) != ERR_NONE ||
        count_run(s, id, &s->tally) != ERR_NONE)
        return stored_fault(&s->fault, s->fault.code != ERR_ABSENT);
    const char *name = arena_printf(s->keep, "run %" PRIu64, id);
    set_first_seen(s, name);
    if (s->o->before == NULL && look_back(s, id) != ERR_NONE)
        return stored_fault(&s->fault, true);
    return tell(s, name);
}

/* Files and "-" are streams; one word that is neither is a run. */
static int signatures(const struct verb *self, struct session *s, const struct option_list *rest)
{
    uint32_t files = 0;
    for (uint32_t i = 0; i < rest->count; i++)
        files += strcmp(rest->items[i], "-") == 0 || path_is_file(rest->items[i]);
    if (read_rules(s) != ERR_NONE)
        return verb_fault(&s->fault);
    if (files == 0 && rest->count <= 1)
        return signatures_of_run(s, rest->count > 0 ? rest->items[0] : "latest");
    if (files < rest->count)
        return verb_usage_error(self, "one run, or files that exist and - for standard input");
    if (count_stream(s, rest) != ERR_NONE)
        return verb_fault(&s->fault);
    return tell(s, s->o->name);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct signature_options o = {.db = STORED_DATABASE, .name = "stream", .top = UINT64_MAX};
    const struct option_row rows[] = {
        {"--rules", OPTION_STRING, &o.rules, "FILE", "rules in place of the built-in ones"},
        {"--show-rules", OPTION_FLAG, &o.show_rules, NULL, "print the built-in rules, to edit"},
        {"--engine", OPTION_STRING, &o.engine, "NAME", "whose stacks (default the subjects')"},
        {"--name", OPTION_STRING, &o.name, "TEXT",
         "of a stream: where a new signature is first seen"},
        {"--before", OPTION_STRING, &o.before, "FILE",
         "what this printed with --json then: change of rank, first seen"},
        {"--top", OPTION_UINT, &o.top, "N", "so many (default 20, with --json all)"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "one JSON document"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        struct session s = {.o = &o, .keep = &keep};
        s.fault.offset = FAULT_NO_OFFSET;
        if (o.top == UINT64_MAX && !o.as_json)
            o.top = TOP_DEFAULT;
        if (o.show_rules)
            (void)fputs(signature_default_rules, stdout);
        else
            code = signatures(self, &s, &rest);
        store_close(s.store);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_signatures = {
    .name = "signatures",
    .summary = "the head problems of a run or a stream: stacks cleaned, grouped, counted",
    .usage = "[RUN | FILE...|-]",
    .details =
        "A stream is what `twinstack resolve --ndjson` prints, or bare offset stacks.  Ranks "
        "before "
        "and\nfirst sights come from the earlier runs of the database, or from --before.\n\n"
        "Rules are lines of a text; the first that matches a frame decides:\n\n"
        "  skip class system        this class says nothing (own, capture, runtime, system)\n"
        "  skip function memcpy*    nor do these\n"
        "  skip module ucrtbase.dll\n"
        "  join function *assert*   goes into the signature, and so does the next frame\n"
        "  keep module ntdll.dll    goes in, whatever later rules say\n"
        "  depth 3                  so many frames a signature\n\n"
        "example:\n  twinstack signatures --show-rules > rules.txt\n"
        "  twinstack signatures latest --rules rules.txt --top 10\n"
        "  twinstack resolve --symbols symbols --ndjson today.txt |\n"
        "    twinstack signatures - --name today --before yesterday.json --json > today.json",
    .exits = "  0  told\n  2  usage\n  3  rules or stacks cannot be read, or there is no such run\n"
             "  4  database not usable\n  5  there is no stack",
    .run = run,
};
