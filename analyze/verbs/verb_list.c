/* twinstack list: the scenarios, their variants, and what this host can show. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process.h"
#include "verbs/common.h"
#include "verbs/harness.h"
#include "verbs/verbs.h"

struct list_options {
    struct harness harness;
    const char *expr, *tag;
    bool as_json;
};

/* A tag list is an expression of words joined by "or". */
static bool is_chosen(const struct list_options *o, const struct scenario *s)
{
    const char *tags = o->tag;
    struct fault fault = FAULT_INIT;
    bool selected = true;

    if (scenario_select(o->expr, s, &selected, &fault) != ERR_NONE || !selected)
        return false;
    while (tags != NULL && *tags != '\0') {
        const size_t length = strcspn(tags, ",");
        char tag[32];
        (void)snprintf(tag, sizeof tag, "%.*s", (int)length, tags);
        if (scenario_has_tag(s, tag))
            return true;
        tags += length + (tags[length] != '\0');
    }
    return o->tag == NULL;
}

static void print_json(const struct list_options *o, const struct scenario *list, uint32_t count)
{
    struct json j;

    json_print_list(&j, "scenarios");
    for (uint32_t i = 0; i < count; i++) {
        const struct scenario *s = &list[i];
        if (!is_chosen(o, s))
            continue;
        json_object(&j);
        json_key_string(&j, "name", s->name);
        json_key_string(&j, "variant", s->variant);
        json_key_string(&j, "kind", case_kind_name(s->kind));
        json_key_string(&j, "group", s->group);
        json_key_string(&j, "about", s->about);
        json_key(&j, "code");
        json_hex_wide(&j, s->code, 8);
        json_key(&j, "exit_code");
        json_hex_wide(&j, s->exit_code, 8);
        hooks_write(&j, s->hooks);
        json_key_bool(&j, "supported", s->unsupported == NULL);
        json_key_string(&j, "reason", s->unsupported);
        json_object_end(&j);
    }
    json_print_list_end(&j);
}

static bool is_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Each reason once, with its variants unless those are ALL of them. */
static void print_unsupported(const struct list_options *o, const struct scenario *s,
                              uint32_t count, const char *all)
{
    for (uint32_t i = 0; i < count; i++) {
        char variants[256] = "";
        bool said = s[i].unsupported == NULL || !is_chosen(o, &s[i]);
        for (uint32_t k = 0; k < i && !said; k++)
            said = is_same(s[k].unsupported, s[i].unsupported) && is_chosen(o, &s[k]);
        for (uint32_t k = i; k < count && !said; k++) {
            const size_t used = strlen(variants);
            if (is_same(s[k].unsupported, s[i].unsupported) && is_chosen(o, &s[k]))
                (void)snprintf(variants + used, sizeof variants - used, "%s%s", used > 0 ? "," : "",
                               s[k].variant);
        }
        if (!said)
            (void)printf("    UNSUPPORTED here%s%s: %s\n", strcmp(variants, all) ? ", " : "",
                         strcmp(variants, all) ? variants : "", s[i].unsupported);
    }
}

/* The list is sorted by name, so the variants of one scenario are neighbours. */
static void print_text(const struct list_options *o, const struct scenario *list, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        char variants[256] = "";
        const struct scenario *s = &list[i];
        const uint32_t first = i;
        bool any = false;
        for (; i < count && strcmp(list[i].name, s->name) == 0; i++) {
            const size_t used = strlen(variants);
            if (!is_chosen(o, &list[i]))
                continue;
            any = true;
            (void)snprintf(variants + used, sizeof variants - used, "%s%s", used > 0 ? "," : "",
                           list[i].variant);
        }
        if (!any)
            continue;
        (void)printf("%-26s %-6s %-5s %s\n", s->name, case_kind_name(s->kind),
                     s->group != NULL ? s->group : "", variants);
        (void)printf("    %s\n", s->about != NULL ? s->about : "");
        print_unsupported(o, &list[first], i - first, variants);
    }
}

static int list_scenarios(const struct verb *self, void *given, const struct option_list *words,
                          struct arena *keep)
{
    struct list_options *o = given;
    struct collect_options options;
    struct scenario *list = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t count = 0, chosen = 0;

    if (!verb_takes_no_words(self, words))
        return EXIT_USAGE;
    process_catch_interrupts();
    memset(&options, 0, sizeof options);
    if (!harness_options(&o->harness, &options))
        return verb_usage_error(self, "--launcher has too many words");
    if (collect_list(&options, keep, &list, &count, &fault) != ERR_NONE)
        return verb_fault(&fault);
    for (uint32_t i = 0; i < count; i++) {
        bool selected;
        if (scenario_select(o->expr, &list[i], &selected, &fault) != ERR_NONE)
            return verb_fault(&fault);
        chosen += is_chosen(o, &list[i]);
    }
    if (o->as_json)
        print_json(o, list, count);
    else
        print_text(o, list, count);
    if (chosen == 0)
        log_error("nothing matches");
    return chosen > 0 ? EXIT_GOOD : EXIT_NOTHING;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct list_options o;
    const struct option_row rows[] = {
        OPTION(ONLY, &o.expr),
        {"--tag", OPTION_STRING, &o.tag, "TAGS",
         "only these kinds or groups: crash,hang,bypass,A3"},
        OPTION(JSON, &o.as_json),
        HARNESS_ROWS(o.harness),
    };

    memset(&o, 0, sizeof o);
    harness_init(&o.harness);
    return verb_main(self, rows, COUNT_OF(rows), list_scenarios, &o, argc, argv);
}

const struct verb verb_list = {
    .name = "list",
    .summary = "list scenarios and variants, and what this host can run",
    .usage = "[-k EXPR] [--tag TAGS] [--json]",
    .details =
        "Kinds are crash, hang and calm; groups are hardware (A1), bypass (A2), unwind (A3),\n"
        "threads (A4), hangs (A5) and managed (A6).\n\n"
        "examples:\n"
        "  twinstack list --tag hang,bypass\n"
        "  twinstack list -k 'inline and ob2' --json",
    .exits = "  0  listed\n  2  usage\n  3  no victims, or they do not run here\n"
             "  5  nothing matches",
    .run = run,
};
