/* See common.h.  A row of a common option has its note in `help`. */
#include "verbs/common.h"

#include <stdio.h>
#include <string.h>

static const struct common {
    const char *name;
    enum option_kind kind;
    const char *argument, *help, *note;
} common[COMMON_COUNT] = {
#define COMMON_ROW(ID, NAME, KIND, ARGUMENT, HELP, NOTE)                                           \
    [COMMON_##ID] = {NAME, KIND, ARGUMENT, HELP, NOTE},
    COMMON_OPTIONS(COMMON_ROW)
#undef COMMON_ROW
};

struct option_row common_row(enum common_id id, void *value, const char *note)
{
    const struct common *is = &common[id];
    return (struct option_row){is->name, is->kind, value, is->argument,
                               note != NULL ? note : is->note};
}

struct option_row common_row_words(enum common_id id, const char *words, void *value,
                                   const char *note)
{
    struct option_row row = common_row(id, value, note);
    row.argument = words;
    return row;
}

struct option_row common_row_list(enum common_id id, struct option_list *value, const char *note)
{
    struct option_row row = common_row(id, value, note);
    row.kind = OPTION_LIST;
    return row;
}

struct common_facts common_facts_of(const struct option_row *row)
{
    for (size_t i = 0; i < COMMON_COUNT; i++)
        if (strcmp(common[i].name, row->name) == 0)
            return (struct common_facts){true, common[i].help, row->help};
    return (struct common_facts){false, row->help, NULL};
}

void common_help(const struct option_row *row, char *text, size_t bytes)
{
    const struct common_facts facts = common_facts_of(row);
    (void)snprintf(text, bytes, "%s%s%s%s", facts.help, facts.note != NULL ? "; " : "",
                   facts.note != NULL ? facts.note : "",
                   row->kind == OPTION_LIST || row->kind == OPTION_COMMAS ? "; may be repeated"
                                                                          : "");
}
