/* See scenario.h. */
#include "model/scenario.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/expression.h"

enum { NAME_BYTES = 256 };

bool scenario_has_tag(const struct scenario *s, const char *word)
{
    static const struct {
        const char *word, *group;
    } groups[] = {{"hardware", "A1"}, {"bypass", "A2"}, {"unwind", "A3"},
                  {"threads", "A4"},  {"hangs", "A5"},  {"managed", "A6"}};

    if ((s->kind != CASE_KIND_NONE && s->kind == case_kind_parse(word)) ||
        (s->group != NULL && strcmp(s->group, word) == 0))
        return true;
    for (size_t i = 0; s->group != NULL && i < COUNT_OF(groups); i++)
        if (strcmp(groups[i].word, word) == 0 && strcmp(groups[i].group, s->group) == 0)
            return true;
    return false;
}

static bool word_matches(const void *scenario, const char *word)
{
    const struct scenario *s = scenario;
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof name, "%s.%s", s->name, s->variant);
    return strstr(name, word) != NULL || scenario_has_tag(s, word);
}

enum status scenario_select(const char *expr, const struct scenario *scenario, bool *selected,
                            struct fault *fault)
{
    return expression_of(expr, word_matches, scenario, selected, fault);
}
