/* See selection.h. */
#include "study/selection.h"

#include <string.h>

#include "base/text.h"
#include "collect/collect.h"
#include "study/run_facts.h"

const char *selection_value(const char *name, int argc, char *const *argv, int *i)
{
    const size_t length = strlen(name);
    if (argv[*i] == NULL || strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return argv[*i][length] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

/* "I/N": the verb that took the run has refused any other form. */
static void read_shard(const char *text, struct selection *out)
{
    const size_t at = strcspn(text, "/");
    uint64_t shard = 0, count = 0;
    if (text[at] == '/' && text_parse_uint(text, at, &shard) &&
        text_parse_uint(text + at + 1, strlen(text + at + 1), &count) && count <= UINT32_MAX &&
        shard >= 1 && shard <= count) {
        out->shard = (uint32_t)shard;
        out->shard_count = (uint32_t)count;
    }
}

enum status selection_read(const struct run_info *run, struct arena *keep, struct selection *out,
                           struct fault *fault)
{
    struct fault unread = FAULT_INIT;
    char **argv = NULL;
    int argc = 0;
    memset(out, 0, sizeof *out);
    if (!run_has_run_label(run) || run->command == NULL)
        return ERR_NONE;
    if (run_facts_words(run->command, keep, &argc, &argv, &unread) != ERR_NONE) {
        if (unread.code == ERR_MEMORY)
            *fault = unread;
        return fault->code;
    }
    for (int i = 0; argv != NULL && i < argc; i++) {
        const char *value = selection_value("-k", argc, argv, &i);
        if (value != NULL)
            out->expr = value;
        else if ((value = selection_value("--variant", argc, argv, &i)) != NULL)
            out->variants = value;
        else if ((value = selection_value("--shard", argc, argv, &i)) != NULL)
            read_shard(value, out);
    }
    return ERR_NONE;
}

static bool list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

enum status selection_matches(const char *expr, const struct diff_case *c, bool *selected,
                              struct fault *fault)
{
    const struct scenario scenario = {.name = c->scenario, .variant = c->variant, .kind = c->kind};
    *selected = false;
    return collect_select(expr, &scenario, selected, fault);
}

bool selection_takes(const struct selection *s, const struct diff_case *c)
{
    struct fault ignored = FAULT_INIT;
    bool selected = true;
    if (s->shard_count > 0 || (s->variants != NULL && !list_has(s->variants, c->variant)))
        return false;
    return s->expr == NULL ||
           (selection_matches(s->expr, c, &selected, &ignored) == ERR_NONE && selected);
}

enum status selection_apply(const struct run_info *a, const struct run_info *b, struct arena *keep,
                            struct run_diff *diff, struct fault *fault)
{
    struct selection now;
    if (selection_read(b, keep, &now, fault) != ERR_NONE)
        return fault->code;
    if (a->command != NULL && b->command != NULL && strcmp(a->command, b->command) == 0)
        return ERR_NONE;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct diff_row *row = &diff->rows[i];
        if (row->group != DIFF_GONE || selection_takes(&now, row->a))
            continue;
        row->group = DIFF_NOT_SELECTED;
        diff->counts[DIFF_GONE] -= row->counts;
        diff->counts[DIFF_NOT_SELECTED] += row->counts;
    }
    return ERR_NONE;
}
