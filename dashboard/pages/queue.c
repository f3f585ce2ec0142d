/* The queue of mismatches: one order for all clients, in pages by key. */
#include "pages/view.h"

#include <string.h>

#include "base/text.h"
#include "pages/asked.h"
#include "pages/rows.h"
#include "study/problem.h"

struct filter {
    const enum triage_group *group; /* NULL: any */
    const enum trouble *trouble;    /* NULL: any */
    struct view_filters of_case;
    const char *search;    /* NULL: any */
    const char *problem;   /* the key of a group of failing or accepted cases; NULL: any */
    const char *signature; /* of its failing findings, whole; NULL: any */
    bool only_new;
    enum triage_group group_given; /* what these point to */
    enum trouble trouble_given;
};

static bool fits(const struct triage *t, const struct triage_item *item, const struct filter *f,
                 struct arena *keep)
{
    const struct view_filters *of = &f->of_case;
    if ((f->problem != NULL && !problem_has(t, item, f->problem)) ||
        (f->signature != NULL && !text_equal(item->signature, f->signature)))
        return false;
    if ((f->group != NULL && item->group != *f->group) ||
        (f->trouble != NULL && item->trouble != *f->trouble) ||
        (of->verdict != NULL && item->verdict != *of->verdict) ||
        (of->kind != CASE_KIND_NONE && item->kind != of->kind) || (f->only_new && !item->is_new) ||
        (of->cause != NULL && (item->causes >> *of->cause & 1) == 0))
        return false;
    return view_name_has(item->scenario, item->variant, item->repeat, f->search, keep);
}

static enum status write_item(const struct triage *t, const struct triage_item *item,
                              struct json *out, struct fault *fault)
{
    struct run_case c;
    struct arena keep;
    arena_init(&keep, 0);
    if (triage_read_case(t, item, &keep, &c, fault) != ERR_NONE) {
        arena_free(&keep);
        return fault->code;
    }
    view_begin_case_line(out, &c);
    json_key_string(out, "group", triage_group_name(item->group));
    json_key_string(out, "trouble", trouble_name(item->trouble));
    json_key_bool(out, "is_new", item->is_new);
    json_key_string(out, "signature", item->signature);
    json_key_array(out, "problems");
    for (int i = 0; i < FAILURES_OF_CASE; i++)
        if (item->failures[i] != UINT32_MAX)
            json_string(out, triage_failures(t, item)->rows[item->failures[i]].key);
    json_array_end(out);
    json_object_end(out);
    arena_free(&keep);
    return ERR_NONE;
}

/* The items that fit, in order. */
struct chosen {
    const struct triage_item **items;
    uint32_t count, groups[TRIAGE_GROUPS];
};

static void write_groups(struct json *out, const struct triage *t, const struct chosen *chosen)
{
    json_key_array(out, "groups");
    for (int g = 0; g < TRIAGE_GROUPS; g++) {
        json_object(out);
        json_key_string(out, "group", triage_group_name((enum triage_group)g));
        json_key_uint(out, "cases", t->groups[g]);
        json_key_uint(out, "fitting", chosen->groups[g]);
        json_object_end(out);
    }
    json_array_end(out);
}

static enum status choose(const struct view_input *in, const struct triage *t,
                          const struct filter *filter, struct chosen *out, struct fault *fault)
{
    *out = (struct chosen){.count = 0};
    out->items = (const struct triage_item **)arena_array(in->keep, (size_t)t->item_count + 1,
                                                          sizeof *out->items);
    if (out->items == NULL)
        return fault_no_memory(fault, "queue of cases");
    for (uint32_t i = 0; i < t->item_count; i++)
        if (fits(t, &t->items[i], filter, in->keep)) {
            out->items[out->count++] = &t->items[i];
            out->groups[t->items[i].group]++;
        }
    return ERR_NONE;
}

/* Where the page begins that holds case AROUND, or that comes after case AFTER.  A case that is not
 * in the list (any more) gives the first page. */
static uint32_t find_start(const struct view_input *in, const struct chosen *list, uint64_t after,
                           uint64_t limit)
{
    const char *around = http_query_get(in->query, "around");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct triage_item *c = list->items[i];
        if (after != 0 && c->id == after)
            return i + 1;
        if (after != 0 || around == NULL)
            continue;
        const char *name = arena_printf(in->keep, "%s.%s", c->scenario, c->variant);
        if (name != NULL && strcmp(name, around) == 0)
            return i - (uint32_t)(i % limit);
    }
    return 0;
}

static enum status write_cases(const struct triage *t, const struct chosen *list, uint32_t start,
                               uint64_t limit, struct json *out, struct fault *fault)
{
    const uint32_t left = list->count - start;
    const uint32_t end = start + (uint32_t)(limit < left ? limit : left);
    json_key_array(out, "cases");
    for (uint32_t i = start; i < end && fault->code == ERR_NONE; i++)
        (void)write_item(t, list->items[i], out, fault);
    json_array_end(out);
    json_key_uint(out, "position", start); /* cases before this page */
    view_write_page(out, list->count, end < list->count && end > 0 ? list->items[end - 1]->id : 0);
    json_key(
        out,
        "previous"); /* `after` of the previous page; 0: the start; null: this is the first page */
    start == 0 ? json_null(out)
               : json_uint(out, start > limit ? list->items[start - limit - 1]->id : 0);
    return fault->code;
}

static enum status read_filter(const struct view_input *in, struct filter *out, struct fault *fault)
{
    const char *group = http_query_get(in->query, "group");
    const char *trouble = http_query_get(in->query, "trouble");
    *out = (struct filter){.search = http_query_get(in->query, "search"),
                           .problem = http_query_get(in->query, "problem"),
                           .signature = http_query_get(in->query, "signature"),
                           .only_new = http_query_get(in->query, "new") != NULL};
    if (view_read_filters(in, &out->of_case, fault) != ERR_NONE)
        return fault->code;
    if (group != NULL && !triage_group_parse(group, &out->group_given))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET,
                              "no group of the queue has this name",
                              "failing, error, flaky, unexpected_pass, unexplained, accepted, "
                              "reference, rest");
    if (trouble != NULL && !trouble_parse(trouble, &out->trouble_given))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET,
                              "no trouble of a case has this name",
                              "none, not_captured, no_dump, no_record, no_dump_stack, "
                              "no_offset_stack, not_judged, wrong_stack, "
                              "not_agreed, wrong_end, false_alarm, flaky, unexpected_pass");
    out->group = group != NULL ? &out->group_given : NULL;
    out->trouble = trouble != NULL ? &out->trouble_given : NULL;
    return ERR_NONE;
}

enum status view_queue(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct filter filter;
    const struct triage *t = NULL;
    struct chosen chosen;
    uint64_t limit = 0, after = 0, scenarios = 0;
    enum status status = read_filter(in, &filter, fault);
    if (status == ERR_NONE)
        status = view_get_limit(in, 200, &limit, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "after", 0, UINT64_MAX, &after, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "scenarios", 0, UINT32_MAX, &scenarios, fault);
    if (status == ERR_NONE)
        status = view_get_triage(in, in->query->params[0], &t, fault);
    if (status == ERR_NONE)
        status = choose(in, t, &filter, &chosen, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_uint(out, "run", t->run.id);
    json_key(out, "wrong");
    triage_write_wrong(out, t);
    write_groups(out, t, &chosen);
    json_key(out, "problem");
    if (problem_write_json(out, t, filter.problem, (uint32_t)scenarios, in->keep, fault) !=
        ERR_NONE)
        return fault->code;
    status = write_cases(t, &chosen, find_start(in, &chosen, after, limit), limit, out, fault);
    json_object_end(out);
    return status;
}
