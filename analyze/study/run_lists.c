/* See run_lists.h. */
#include "study/run_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "store/archive.h"

/* ---- what named the frames ------------------------------------------------------------ */

/* Best first: full names and lines, then names alone, then none. */
static const enum symbols_from best_first[] = {
    SYMBOLS_PDB,    SYMBOLS_PPDB,       SYMBOLS_DWARF,           SYMBOLS_BREAKPAD, SYMBOLS_CSV,
    SYMBOLS_JIT,    SYMBOLS_PDB_PUBLIC, SYMBOLS_BREAKPAD_PUBLIC, SYMBOLS_SYMTAB,   SYMBOLS_COFF,
    SYMBOLS_EXPORT, SYMBOLS_NEAREST,    SYMBOLS_MISMATCH,        SYMBOLS_NONE};
_Static_assert(COUNT_OF(best_first) == SYMBOLS_COUNT, "each kind of symbols has its place");

static size_t place_of(enum symbols_from symbols)
{
    size_t at = 0;
    while (at < COUNT_OF(best_first) && best_first[at] != symbols)
        at++;
    return at;
}

static int by_quality(const void *a, const void *b)
{
    const size_t x = place_of(((const struct symbol_row *)a)->symbols);
    const size_t y = place_of(((const struct symbol_row *)b)->symbols);
    return (x > y) - (x < y);
}

static bool is_of(const struct named_module *module, const struct symbol_row *row)
{
    return text_equal(module->module, row->module) && text_equal(module->code_id, row->code_id) &&
           text_equal(module->debug_id, row->debug_id);
}

static bool is_listed(const struct named_module *modules, uint32_t count,
                      const struct symbol_row *row)
{
    uint32_t at = 0;
    while (at < count && !is_of(&modules[at], row))
        at++;
    return at < count;
}

enum status named_modules_make(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                               struct named_module **out, uint32_t *out_count, struct fault *fault)
{
    struct named_module *list = ARENA_ARRAY(keep, (size_t)count + 1, struct named_module);
    struct symbol_row *sources = ARENA_ARRAY(keep, (size_t)count + 1, struct symbol_row);
    uint32_t modules = 0;
    if (list == NULL || sources == NULL)
        return fault_no_memory(fault, "lists of a run");
    for (uint32_t i = 0; i < count; i++) {
        struct named_module m = {.module = rows[i].module,
                                 .code_id = rows[i].code_id,
                                 .debug_id = rows[i].debug_id,
                                 .sources = sources};
        if (is_listed(list, modules, &rows[i]))
            continue;
        for (uint32_t k = i; k < count; k++) {
            if (!is_of(&m, &rows[k]))
                continue;
            m.frames += rows[k].frames;
            m.inlined += rows[k].inlined;
            sources[m.source_count++] = rows[k];
        }
        array_sort(sources, m.source_count, sizeof *sources, by_quality);
        sources += m.source_count;
        list[modules++] = m;
    }
    *out = list;
    *out_count = modules;
    return ERR_NONE;
}

void named_modules_write_json(struct json *j, const struct named_module *modules, uint32_t count)
{
    json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        const struct named_module *m = &modules[i];
        json_object(j);
        json_key_string(j, "module", m->module);
        json_key_string(j, "code_id", m->code_id);
        json_key_string(j, "debug_id", m->debug_id);
        json_key_uint(j, "frames", m->frames);
        json_key_uint(j, "inlined", m->inlined);
        json_key_array(j, "sources");
        for (uint32_t k = 0; k < m->source_count; k++) {
            json_object(j);
            json_key_string(j, "symbols", symbols_from_name(m->sources[k].symbols));
            json_key_uint(j, "frames", m->sources[k].frames);
            json_key_uint(j, "inlined", m->sources[k].inlined);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static int by_frames(const void *a, const void *b)
{
    const struct symbol_row *x = a, *y = b;
    if (x->frames != y->frames)
        return x->frames < y->frames ? 1 : -1;
    const int order = strcmp(x->module, y->module);
    return order != 0 ? order
                      : strcmp(symbols_from_name(x->symbols), symbols_from_name(y->symbols));
}

enum status symbol_rows_sum(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                            struct symbol_row **out, uint32_t *out_count, struct fault *fault)
{
    *out_count = 0;
    *out = ARENA_ARRAY(keep, (size_t)count + 1, struct symbol_row);
    if (*out == NULL)
        return fault_no_memory(fault, "lists of a run");
    for (uint32_t i = 0; i < count; i++) {
        const char *module = rows[i].module != NULL ? rows[i].module : "(no module)";
        uint32_t at = 0;
        while (at < *out_count &&
               (strcmp((*out)[at].module, module) != 0 || (*out)[at].symbols != rows[i].symbols))
            at++;
        if (at == *out_count)
            (*out)[(*out_count)++] =
                (struct symbol_row){.module = module, .symbols = rows[i].symbols};
        (*out)[at].frames += rows[i].frames;
        (*out)[at].inlined += rows[i].inlined;
    }
    array_sort(*out, *out_count, sizeof **out, by_frames);
    return ERR_NONE;
}

/* ---- differences ---------------------------------------------------------------------- */

/* A case with a signature, in one of its groups. */
struct member {
    const struct failure *failure;
    const struct triage_item *item;
};

static int by_item(const void *a, const void *b)
{
    const struct triage_item *x = ((const struct member *)a)->item,
                             *y = ((const struct member *)b)->item;
    const int scenario = strcmp(x->scenario, y->scenario);
    const int variant = scenario != 0 ? scenario : strcmp(x->variant, y->variant);
    return variant != 0 ? variant : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

static int by_group(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const int key = strcmp(x->failure->key, y->failure->key);
    const int signature = key != 0 ? key : strcmp(x->item->signature, y->item->signature);
    return signature != 0 ? signature : by_item(a, b);
}

static int by_cases(const void *a, const void *b)
{
    const struct failure *x = ((const struct case_difference *)a)->failure,
                         *y = ((const struct case_difference *)b)->failure;
    return x->cases != y->cases ? (x->cases < y->cases) - (x->cases > y->cases)
                                : strcmp(x->key, y->key);
}

static int by_signature_cases(const void *a, const void *b)
{
    const struct difference_signature *x = a, *y = b;
    return x->cases != y->cases ? (x->cases < y->cases) - (x->cases > y->cases)
                                : strcmp(x->text, y->text);
}

/* Adds CASES cases with signature TEXT: of all, the most frequent ones stay. */
static void add_signature(struct case_difference *d, const char *text, uint32_t cases)
{
    const struct difference_signature added = {text, cases};
    uint32_t at = d->signature_count;
    if (at == DIFFERENCE_SIGNATURES) {
        d->signatures_left++;
        at--;
        if (by_signature_cases(&added, &d->signatures[at]) > 0)
            return;
    } else
        d->signature_count++;
    d->signatures[at] = added;
    array_sort(d->signatures, d->signature_count, sizeof *d->signatures, by_signature_cases);
}

static bool is_repeat(const struct triage_item *a, const struct triage_item *b)
{
    return strcmp(a->scenario, b->scenario) == 0 && strcmp(a->variant, b->variant) == 0;
}

/* Repeats of a case are one example: the first of them. */
static void add_example(struct case_difference *d, const struct triage_item *item)
{
    struct member last = {NULL, item};
    for (uint32_t i = 0; i < d->example_count; i++) {
        const struct member here = {NULL, d->examples[i]};
        if (is_repeat(last.item, here.item)) {
            d->examples[i] = by_item(&last, &here) < 0 ? last.item : here.item;
            return;
        }
        if (by_item(&last, &here) < 0) {
            d->examples[i] = last.item;
            last = here;
        }
    }
    if (d->example_count < DIFFERENCE_EXAMPLES)
        d->examples[d->example_count++] = last.item;
}

static uint32_t list_members(const struct triage *t, struct member *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->item_count; i++)
        for (int k = 0; k < FAILURES_OF_CASE; k++) {
            const struct triage_item *item = &t->items[i];
            const struct failures *all = triage_failures(t, item);
            if (item->signature != NULL && item->failures[k] != UINT32_MAX)
                out[count++] = (struct member){&all->rows[item->failures[k]], item};
        }
    return count;
}

static enum status group(const struct triage *t, struct arena *keep, struct case_difference **out,
                         uint32_t *groups, struct fault *fault)
{
    struct member *members =
        ARENA_ARRAY(keep, (size_t)FAILURES_OF_CASE * t->item_count + 1, struct member);
    *groups = 0;
    *out = ARENA_ARRAY(keep, (size_t)t->failures.count + t->accepted.count + 1,
                       struct case_difference);
    if (members == NULL || *out == NULL)
        return fault_no_memory(fault, "lists of a run");
    const uint32_t count = list_members(t, members);
    array_sort(members, count, sizeof *members, by_group);
    for (uint32_t i = 0, end; i < count; i = end) {
        const struct member *first = &members[i];
        if (i == 0 || members[i - 1].failure != first->failure)
            (*out)[(*groups)++].failure = first->failure;
        struct case_difference *d = &(*out)[*groups - 1];
        for (end = i; end < count && members[end].failure == first->failure &&
                      strcmp(members[end].item->signature, first->item->signature) == 0;
             end++)
            add_example(d, members[end].item);
        add_signature(d, first->item->signature, end - i);
    }
    array_sort(*out, *groups, sizeof **out, by_cases);
    return ERR_NONE;
}

/* The last complete run with cases before RUN_ID; 0: there is none. */
static enum status find_before(struct store *store, uint64_t run_id, struct arena *keep,
                               uint64_t *out, struct fault *fault)
{
    const struct run_query query = {.after = run_id};
    struct run_page page = {0};
    *out = 0;
    if (store_list_runs(store, &query, keep, &page, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < page.count && *out == 0; i++)
        if (page.runs[i].state == RUN_COMPLETE && page.runs[i].case_count > 0)
            *out = page.runs[i].id;
    return ERR_NONE;
}

/* Adds the groups of cases that are ACCEPTED, or of those that fail. */
static enum status add_before(const struct run_case *cases, uint32_t count, bool accepted,
                              struct arena *keep, struct case_difference *out, uint32_t *groups,
                              struct fault *fault)
{
    struct failures *all = ARENA_NEW(keep, struct failures);
    struct failure_count counted;
    uint32_t numbers[FAILURES_OF_CASE];
    if (all == NULL)
        return fault_no_memory(fault, "lists of a run");
    failures_begin(&counted, keep, all);
    for (uint32_t i = 0; i < count; i++) {
        const struct diff_case c = failures_case(&cases[i]);
        const bool is_of_them =
            accepted ? c.verdict == VERDICT_XFAIL : run_verdict_fails(c.verdict);
        if (c.signature != NULL && is_of_them && !failures_add(&counted, &c, numbers))
            return fault_no_memory(fault, "lists of a run");
    }
    if (failures_end(&counted, NULL, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < all->count; i++)
        out[(*groups)++].failure = &all->rows[i];
    return ERR_NONE;
}

/* The ranks that the groups had in the run before. */
static enum status read_ranks(struct store *store, uint64_t run_id, struct arena *keep,
                              struct case_difference *list, uint32_t count, struct fault *fault)
{
    struct run_case *cases = NULL;
    uint64_t before_id = 0;
    uint32_t case_count = 0, groups = 0;
    if (find_before(store, run_id, keep, &before_id, fault) != ERR_NONE || before_id == 0 ||
        store_read_outcomes(store, before_id, keep, &cases, &case_count, fault) != ERR_NONE)
        return fault->code;
    struct case_difference *before =
        ARENA_ARRAY(keep, (size_t)FAILURES_OF_CASE * case_count + 1, struct case_difference);
    if (before == NULL)
        return fault_no_memory(fault, "lists of a run");
    if (add_before(cases, case_count, false, keep, before, &groups, fault) != ERR_NONE ||
        add_before(cases, case_count, true, keep, before, &groups, fault) != ERR_NONE)
        return fault->code;
    array_sort(before, groups, sizeof *before, by_cases);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < groups && list[i].rank_before == 0; k++)
            if (strcmp(list[i].failure->key, before[k].failure->key) == 0)
                list[i].rank_before = k + 1;
    return ERR_NONE;
}

enum status case_differences_make(struct store *store, const struct triage *triage,
                                  struct arena *keep, struct case_difference **out, uint32_t *count,
                                  struct fault *fault)
{
    struct arena scratch;
    if (group(triage, keep, out, count, fault) != ERR_NONE)
        return fault->code;
    arena_init(&scratch, 0);
    (void)read_ranks(store, triage->run.id, &scratch, *out, *count, fault);
    arena_free(&scratch);
    for (uint32_t i = 0; i < *count && fault->code == ERR_NONE; i++) {
        struct run_case c = {0};
        struct case_difference *d = &(*out)[i];
        if (d->failure->verdict != VERDICT_XFAIL)
            continue;
        (void)triage_read_case(triage, d->examples[0], keep, &c, fault);
        d->known_id = c.known_id;
    }
    return fault->code;
}

/* ---- acceptances ---------------------------------------------------------------------- */

enum status acceptance_hits(struct store *store, uint64_t run_id, const struct known_list *list,
                            struct arena *keep, uint32_t **out, struct fault *fault)
{
    struct run_case *cases = NULL;
    uint32_t count = 0;
    *out = ARENA_ARRAY(keep, (size_t)list->count + 1, uint32_t);
    if (*out == NULL)
        return fault_no_memory(fault, "lists of a run");
    if (list->count == 0)
        return ERR_NONE;
    if (store_read_outcomes(store, run_id, keep, &cases, &count, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < list->count && cases[i].result.verdict == VERDICT_XFAIL; k++)
            (*out)[k] += text_equal(cases[i].known_id, list->items[k].id);
    return ERR_NONE;
}
