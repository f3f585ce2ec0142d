/* The grid of a run: every case in one document.
 *
 * The document has columns instead of a row per case, and numbers that point into lists of names:
 * 10,000 cases are 60 kB on the wire, where rows with the scores of each engine are megabytes.
 * With `after` it has only the cases that came since: what a page of a run in progress asks for. */
#include "pages/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "pages/asked.h"
#include "study/triage.h"

/* Different names in alphabetical order. */
struct names {
    const char **list;
    uint32_t count;
};

typedef const char *name_of_fn(const struct triage_item *item, struct arena *keep);

static const char *scenario_of(const struct triage_item *item, struct arena *keep)
{
    (void)keep;
    return item->scenario;
}

static const char *variant_of(const struct triage_item *item, struct arena *keep)
{
    (void)keep;
    return item->variant;
}

static const char *hook_names(const struct triage_item *item, char out[HOOKS_TEXT_BYTES])
{
    const char *text = hooks_text(item->got_hooks, out);
    return text != NULL ? text : "none";
}

static const char *hooks_of(const struct triage_item *item, struct arena *keep)
{
    char names[HOOKS_TEXT_BYTES];
    return arena_string(keep, hook_names(item, names));
}

struct grid {
    const struct triage_item **items; /* in the order of their ids: the newest is the last */
    uint32_t count;
    struct names scenarios, variants, hooks;
};

static enum status gather(const struct grid *g, name_of_fn *name_of, struct arena *keep,
                          struct names *out, struct fault *fault)
{
    const uint32_t cases = g->count;
    out->count = 0;
    out->list = (const char **)arena_array(keep, (size_t)cases + 1, sizeof *out->list);
    if (out->list == NULL)
        return fault_no_memory(fault, "grid of a run");
    for (uint32_t i = 0; i < cases; i++) {
        out->list[i] = name_of(g->items[i], keep);
        if (out->list[i] == NULL)
            return fault_no_memory(fault, "grid of a run");
    }
    qsort((void *)out->list, cases, sizeof *out->list, text_order);
    for (uint32_t i = 0; i < cases; i++)
        if (out->count == 0 || strcmp(out->list[out->count - 1], out->list[i]) != 0)
            out->list[out->count++] = out->list[i];
    return ERR_NONE;
}

static uint32_t place(const struct names *names, const char *name)
{
    const char **found = (const char **)bsearch((const void *)&name, (const void *)names->list,
                                                names->count, sizeof *names->list, text_order);
    return found != NULL ? (uint32_t)(found - names->list) : 0;
}

static void write_names(struct json *out, const char *key, const struct names *names)
{
    json_key_array(out, key);
    for (uint32_t i = 0; i < names->count; i++)
        json_string(out, names->list[i]);
    json_array_end(out);
}

typedef const char *word_fn(uint32_t number);

static const char *kind_word(uint32_t number)
{
    return case_kind_name((enum case_kind)number);
}

static const char *verdict_word(uint32_t number)
{
    return verdict_name((enum verdict)number);
}

static const char *group_word(uint32_t number)
{
    return triage_group_name((enum triage_group)number);
}

static const char *cause_word(uint32_t number)
{
    return cause_name((enum cause)number);
}

static void write_words(struct json *out, const char *key, uint32_t count, word_fn *word)
{
    json_key_array(out, key);
    for (uint32_t i = 0; i < count; i++)
        word(i) != NULL ? json_string(out, word(i)) : json_null(out);
    json_array_end(out);
}

static void write_engines(struct json *out, const struct run_figures *figures)
{
    json_key_array(out, "engines");
    for (uint32_t i = 0; i < figures->engine_count; i++) {
        json_object(out);
        json_key_string(out, "engine", figures->engines[i].engine);
        json_key_bool(out, "subject", figures->engines[i].subject);
        json_object_end(out);
    }
    json_array_end(out);
}

typedef void column_fn(struct json *out, const struct grid *g, const struct triage_item *item);

static void write_id(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->id);
}

static void write_scenario(struct json *out, const struct grid *g, const struct triage_item *item)
{
    json_uint(out, place(&g->scenarios, item->scenario));
}

static void write_variant(struct json *out, const struct grid *g, const struct triage_item *item)
{
    json_uint(out, place(&g->variants, item->variant));
}

static void write_repeat(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->repeat);
}

static void write_kind(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->kind);
}

static void write_verdict(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->verdict);
}

static void write_group(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->group);
}

static void write_is_new(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->is_new ? 1 : 0);
}

static void write_hooks(struct json *out, const struct grid *g, const struct triage_item *item)
{
    char names[HOOKS_TEXT_BYTES];
    json_uint(out, place(&g->hooks, hook_names(item, names)));
}

static void write_marks(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_string(out, item->marks);
}

static void write_reference_exact(struct json *out, const struct grid *g,
                                  const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->references.exact);
}

static void write_reference_judged(struct json *out, const struct grid *g,
                                   const struct triage_item *item)
{
    (void)g;
    json_uint(out, item->references.judged);
}

static void write_reference_percent(struct json *out, const struct grid *g,
                                    const struct triage_item *item)
{
    const struct case_references r = item->references;
    (void)g;
    r.judged != 0 ? json_number(out, figures_percent(r.exact, r.judged)) : json_null(out);
}

static void write_causes(struct json *out, const struct grid *g, const struct triage_item *item)
{
    (void)g;
    json_array(out);
    for (uint32_t cause = 0; cause < CAUSE_COUNT; cause++)
        if ((item->causes >> cause & 1) != 0)
            json_uint(out, cause);
    json_array_end(out);
}

static const struct {
    const char *key;
    column_fn *write;
} columns[] = {
    {"id", write_id},
    {"scenario", write_scenario},
    {"variant", write_variant},
    {"repeat", write_repeat},
    {"kind", write_kind},
    {"verdict", write_verdict},
    {"group", write_group},
    {"is_new", write_is_new},
    {"hooks", write_hooks},
    {"marks", write_marks},
    {"causes", write_causes},
    {"reference_exact", write_reference_exact},
    {"reference_judged", write_reference_judged},
    {"reference_percent", write_reference_percent},
};

static void write_columns(struct json *out, const struct grid *g)
{
    json_key_object(out, "cases");
    for (size_t column = 0; column < COUNT_OF(columns); column++) {
        json_key_array(out, columns[column].key);
        for (uint32_t i = 0; i < g->count; i++)
            columns[column].write(out, g, g->items[i]);
        json_array_end(out);
    }
    json_object_end(out);
}

static int by_id(const void *a, const void *b)
{
    const uint64_t x = (*(const struct triage_item *const *)a)->id;
    const uint64_t y = (*(const struct triage_item *const *)b)->id;
    return (x > y) - (x < y);
}

/* The cases with ids above AFTER. */
static enum status arrange(const struct triage *t, uint64_t after, struct arena *keep,
                           struct grid *g, struct fault *fault)
{
    g->items =
        (const struct triage_item **)arena_array(keep, (size_t)t->item_count + 1, sizeof *g->items);
    if (g->items == NULL)
        return fault_no_memory(fault, "grid of a run");
    for (uint32_t i = 0; i < t->item_count; i++)
        if (t->items[i].id > after)
            g->items[g->count++] = &t->items[i];
    qsort((void *)g->items, g->count, sizeof *g->items, by_id);
    if (gather(g, scenario_of, keep, &g->scenarios, fault) == ERR_NONE &&
        gather(g, variant_of, keep, &g->variants, fault) == ERR_NONE)
        (void)gather(g, hooks_of, keep, &g->hooks, fault);
    return fault->code;
}

enum status view_grid(const struct view_input *in, struct json *out, struct fault *fault)
{
    const struct triage *t = NULL;
    struct grid g = {.count = 0};
    uint64_t after = 0;
    if (view_get_uint(in, "after", 0, UINT64_MAX, &after, fault) != ERR_NONE ||
        view_get_triage(in, in->query->params[0], &t, fault) != ERR_NONE ||
        arrange(t, after, in->keep, &g, fault) != ERR_NONE)
        return fault->code;
    json_object(out);
    json_key_uint(out, "run", t->run.id);
    json_key_uint(out, "total", t->item_count);
    json_key_string(out, "state", run_state_name(t->run.state));
    write_engines(out, &t->figures);
    write_names(out, "scenarios", &g.scenarios);
    write_names(out, "variants", &g.variants);
    write_names(out, "hooks", &g.hooks);
    write_words(out, "kinds", CASE_KIND_COUNT, kind_word);
    write_words(out, "verdicts", VERDICT_COUNT, verdict_word);
    write_words(out, "groups", TRIAGE_GROUPS, group_word);
    write_words(out, "causes", CAUSE_COUNT, cause_word);
    write_columns(out, &g);
    json_object_end(out);
    return ERR_NONE;
}
