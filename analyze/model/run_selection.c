/* See run_selection.h. */
#include "model/run_selection.h"

#include <string.h>

#include "base/text.h"
#include "model/command_line.h"

bool run_selection_is_all(const struct run_selection *s)
{
    return s->known && s->expr == NULL && s->variants == NULL && s->shard_count <= 1;
}

bool run_selection_same(const struct run_selection *a, const struct run_selection *b)
{
    return a->known && b->known && strcmp(text_or_empty(a->expr), text_or_empty(b->expr)) == 0 &&
           strcmp(text_or_empty(a->variants), text_or_empty(b->variants)) == 0 &&
           a->shard == b->shard && a->shard_count == b->shard_count;
}

bool run_selection_add_variants(const char *list, struct arena *keep, struct run_selection *s)
{
    s->variants = s->variants != NULL ? arena_printf(keep, "%s,%s", s->variants, list) : list;
    return s->variants != NULL;
}

bool run_selection_parse_shard(const char *text, struct run_selection *s)
{
    const size_t at = strcspn(text, "/");
    uint64_t shard = 0, count = 0;
    if (text[at] != '/' || !text_parse_uint(text, at, &shard) ||
        !text_parse_uint(text + at + 1, strlen(text + at + 1), &count) || count > UINT32_MAX ||
        shard < 1 || shard > count)
        return false;
    s->shard = (uint32_t)shard;
    s->shard_count = (uint32_t)count;
    return true;
}

enum status run_selection_of_command(const char *command, struct arena *keep,
                                     struct run_selection *out, struct fault *fault)
{
    struct fault unread = FAULT_INIT;
    char **argv = NULL;
    int argc = 0;
    memset(out, 0, sizeof *out);
    if (command == NULL)
        return ERR_NONE;
    if (command_line_words(command, keep, &argc, &argv, &unread) != ERR_NONE)
        return unread.code == ERR_MEMORY ? (*fault = unread).code : ERR_NONE;
    out->known = true;
    for (int i = 0; i < argc; i++) {
        const char *value = command_line_value("-k", argc, argv, &i);
        if (value != NULL)
            out->expr = value;
        else if ((value = command_line_value("--variant", argc, argv, &i)) != NULL) {
            if (!run_selection_add_variants(value, keep, out))
                return fault_no_memory(fault, "selection of a run");
        } else if ((value = command_line_value("--shard", argc, argv, &i)) != NULL)
            (void)run_selection_parse_shard(value, out);
    }
    return ERR_NONE;
}
