/* twinstack signatures: the head problems of a run: which trouble how often, since when. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "compare/signature.h"
#include "verbs/stored.h"
#include "verbs/verbs.h"

enum { EARLIER_RUNS = 20 };

struct signature_options {
    const char *db, *rules, *engine;
    uint64_t top;
    bool as_json, show_rules;
};

struct bundle {
    const char *text, *example;        /* example: a case's name */
    uint32_t count, rank, rank_before; /* rank_before 0: was not there */
    uint64_t first_run;
    uint64_t first_ns;
};

struct tally {
    struct bundle *items;
    uint32_t count, room, stacks;
};

struct session {
    const struct signature_options *o;
    struct arena *keep;
    struct store *store;
    struct signature_rules *rules;
    struct fault fault;
};

static struct bundle *bundle_of(struct tally *tally, const char *text)
{
    for (uint32_t i = 0; i < tally->count; i++)
        if (strcmp(tally->items[i].text, text) == 0)
            return &tally->items[i];
    return NULL;
}

static int most_first(const void *x, const void *y)
{
    const struct bundle *a = x, *b = y;
    const int order = (a->count < b->count) - (a->count > b->count);
    return order != 0 ? order : strcmp(a->text, b->text);
}

static bool add_stack(struct session *s, struct tally *tally, const struct run_case *c,
                      const struct stack *stack)
{
    const char *text = signature_of(s->rules, stack, s->keep);
    if (text == NULL)
        return false;
    tally->stacks++;
    struct bundle *known = bundle_of(tally, text);
    if (known != NULL) {
        known->count++;
        return true;
    }
    if (tally->count == tally->room) {
        const uint32_t room = tally->room == 0 ? 64 : tally->room * 2;
        struct bundle *grown = ARENA_ARRAY(s->keep, room, struct bundle);
        if (grown == NULL)
            return false;
        if (tally->count > 0)
            memcpy(grown, tally->items, tally->count * sizeof *grown);
        tally->items = grown;
        tally->room = room;
    }
    struct bundle *b = &tally->items[tally->count++];
    b->text = arena_string(s->keep, text);
    b->example = arena_printf(s->keep, "%s.%s", c->scenario, c->variant);
    b->count = 1;
    return b->text != NULL && b->example != NULL;
}

static bool is_engine(const struct session *s, const struct engine_claim *claim)
{
    return s->o->engine != NULL ? strcmp(claim->engine, s->o->engine) == 0 : claim->subject;
}

/* The suspect's stack of each case, by the first engine that gives one. */
static enum status count_run(struct session *s, uint64_t run_id, struct tally *tally)
{
    struct case_query query = {.run_id = run_id, .limit = STORE_PAGE_MAX};
    do {
        struct arena scratch;
        struct case_page page;
        arena_init(&scratch, 0);
        if (store_list_cases(s->store, &query, &scratch, &page, &s->fault) == ERR_NONE)
            query.after = page.next;
        for (uint32_t i = 0; s->fault.code == ERR_NONE && i < page.count; i++) {
            struct arena one;
            struct run_case c;
            arena_init(&one, 0);
            (void)store_read_case(s->store, page.cases[i].id, &one, &c, &s->fault);
            for (uint32_t k = 0; s->fault.code == ERR_NONE && k < c.claim_count; k++) {
                const struct engine_claim *claim = &c.claims[k];
                if (!is_engine(s, claim) || claim->stack_count == 0 ||
                    claim->stacks[0].state != STACK_OK || claim->stacks[0].frame_count == 0)
                    continue;
                if (!add_stack(s, tally, &c, &claim->stacks[0]))
                    (void)fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "signatures");
                break;
            }
            arena_free(&one);
        }
        arena_free(&scratch);
    } while (s->fault.code == ERR_NONE && query.after != 0);
    if (tally->count > 0)
        qsort(tally->items, tally->count, sizeof *tally->items, most_first);
    for (uint32_t i = 0; i < tally->count; i++)
        tally->items[i].rank = i + 1;
    return s->fault.code;
}

/* First seen, and the rank in the run before, out of the last runs before this one. */
static enum status look_back(struct session *s, const struct run_info *run, struct tally *tally)
{
    struct run_page page;
    const struct run_query query = {.after = run->id, .limit = EARLIER_RUNS};
    bool is_previous = true;
    for (uint32_t i = 0; i < tally->count; i++) {
        tally->items[i].first_run = run->id;
        tally->items[i].first_ns = run->started_ns;
    }
    if (store_list_runs(s->store, &query, s->keep, &page, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t r = 0; r < page.count; r++) {
        struct tally earlier = {NULL, 0, 0, 0};
        if (page.runs[r].case_count == 0)
            continue;
        if (count_run(s, page.runs[r].id, &earlier) != ERR_NONE)
            return s->fault.code;
        for (uint32_t i = 0; i < tally->count; i++) {
            const struct bundle *then = bundle_of(&earlier, tally->items[i].text);
            if (then == NULL)
                continue;
            tally->items[i].first_run = page.runs[r].id;
            tally->items[i].first_ns = page.runs[r].started_ns;
            if (is_previous)
                tally->items[i].rank_before = then->rank;
        }
        is_previous = false;
    }
    return ERR_NONE;
}

static void print_text(const struct session *s, const struct run_info *run,
                       const struct tally *tally)
{
    (void)printf("head problems of run %" PRIu64 ": %u stacks, %u signatures\n\n"
                 " rank  count      %%  change  first run  signature\n",
                 run->id, tally->stacks, tally->count);
    for (uint32_t i = 0; i < tally->count && i < s->o->top; i++) {
        const struct bundle *b = &tally->items[i];
        char change[16] = "new";
        if (b->rank_before == b->rank)
            (void)snprintf(change, sizeof change, "=");
        else if (b->rank_before != 0)
            (void)snprintf(change, sizeof change, "%+d", (int)b->rank_before - (int)b->rank);
        (void)printf("%5u %6u %5.1f %% %6s %10" PRIu64 "  %s\n", b->rank, b->count,
                     100.0 * b->count / tally->stacks, change, b->first_run, b->text);
    }
    if (tally->count > s->o->top)
        (void)printf("... and %" PRIu64 " more\n", tally->count - s->o->top);
}

static void print_json(const struct session *s, const struct run_info *run,
                       const struct tally *tally)
{
    struct json j;
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_uint(&j, "run", run->id);
    json_key_uint(&j, "stacks", tally->stacks);
    json_key_uint(&j, "total", tally->count);
    json_key(&j, "signatures");
    json_array(&j);
    for (uint32_t i = 0; i < tally->count && i < s->o->top; i++) {
        const struct bundle *b = &tally->items[i];
        json_object(&j);
        json_key_uint(&j, "rank", b->rank);
        json_key(&j, "rank_before");
        b->rank_before != 0 ? json_uint(&j, b->rank_before) : json_null(&j);
        json_key_uint(&j, "count", b->count);
        json_key_number(&j, "share", (double)b->count / tally->stacks);
        json_key_uint(&j, "first_run", b->first_run);
        json_key_uint(&j, "first_seen_ns", b->first_ns);
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

static int signatures(struct session *s, const char *word)
{
    struct run_info run;
    struct tally tally = {NULL, 0, 0, 0};
    uint64_t id = 0;
    int code = EXIT_GOOD;
    if (read_rules(s) != ERR_NONE)
        return verb_fault(&s->fault);
    if (!stored_open(s->o->db, STORE_READ, &s->store, &code))
        return code;
    if (store_find_run(s->store, word, &id, &s->fault) != ERR_NONE ||
        store_read_run(s->store, id, s->keep, &run, &s->fault) != ERR_NONE ||
        count_run(s, id, &tally) != ERR_NONE || look_back(s, &run, &tally) != ERR_NONE)
        return stored_fault(&s->fault, s->fault.code != ERR_ABSENT);
    if (tally.stacks == 0)
        return EXIT_NOTHING;
    if (s->o->as_json)
        print_json(s, &run, &tally);
    else
        print_text(s, &run, &tally);
    return EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct signature_options o = {.db = STORED_DATABASE, .top = 20};
    const struct option_row rows[] = {
        {"--rules", OPTION_STRING, &o.rules, "FILE", "rules in place of the built-in ones"},
        {"--show-rules", OPTION_FLAG, &o.show_rules, NULL, "print the built-in rules, to edit"},
        {"--engine", OPTION_STRING, &o.engine, "NAME", "whose stacks (default the subjects')"},
        {"--top", OPTION_UINT, &o.top, "N", "so many (default 20)"},
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
        if (rest.count > 1)
            code = verb_usage_error(self, "one run at a time: '%s'", rest.items[1]);
        else if (o.show_rules)
            (void)fputs(signature_default_rules, stdout);
        else
            code = signatures(&s, rest.count > 0 ? rest.items[0] : "latest");
        store_close(s.store);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_signatures = {
    .name = "signatures",
    .summary = "the head problems of a run: stacks cleaned, grouped, counted",
    .usage = "[RUN]",
    .details =
        "Rules are lines of a text; the first that matches a frame decides:\n\n"
        "  skip class system        this class says nothing (own, capture, runtime, system)\n"
        "  skip function memcpy*    nor do these\n"
        "  skip module ucrtbase.dll\n"
        "  join function *assert*   goes into the signature, and so does the next frame\n"
        "  keep module ntdll.dll    goes in, whatever later rules say\n"
        "  depth 3                  so many frames a signature\n\n"
        "example:\n  twinstack signatures --show-rules > rules.txt\n"
        "  twinstack signatures latest --rules rules.txt --top 10",
    .exits = "  0  told\n  2  usage\n  3  the rules are damaged, or there is no such run\n"
             "  4  database not usable\n  5  the run has no stack",
    .run = run,
};
