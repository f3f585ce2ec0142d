/* See merge.h. */
#include "study/merge.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/command_line.h"
#include "store/store.h"

struct part {
    const char *word;
    struct store *own; /* opened for it; NULL: a run of the target database */
    struct run_info info;
};

static enum status refuse(enum status code, const char *word, const char *hint, struct fault *fault)
{
    (void)fault_set_lasting(fault, code, FAULT_NO_OFFSET, "part of a run", hint);
    fault_set_path(fault, word != NULL ? word : "");
    return fault->code;
}

static enum status open_part(struct store *to, const char *word, struct arena *keep,
                             struct part *out, struct fault *fault)
{
    const char *path, *run;
    uint64_t id = 0;
    out->word = word;
    study_split_word(word, keep, &path, &run);
    if (path != NULL && store_open(path, STORE_READ_OLD, &out->own, fault) != ERR_NONE)
        return fault->code;
    struct store *store = out->own != NULL ? out->own : to;
    if (store_find_run(store, run, &id, fault) != ERR_NONE ||
        store_read_run(store, id, keep, &out->info, fault) != ERR_NONE)
        return fault->code;
    if (out->info.selection.shard_count == 0)
        return refuse(ERR_USAGE, word, "it was not taken with --shard", fault);
    if (out->info.state != RUN_COMPLETE)
        return refuse(ERR_USAGE, word, "it is not complete", fault);
    return ERR_NONE;
}

/* What keeps A and B from being parts of one run; NULL: nothing. */
static const char *obstacle_of(const struct part *a, const struct part *b)
{
    const struct {
        const char *hint, *a, *b;
    } rows[] = {{"their commits differ", a->info.commit, b->info.commit},
                {"their branches differ", a->info.branch, b->info.branch},
                {"their platforms differ", a->info.platform, b->info.platform},
                {"their compilers differ", a->info.compiler, b->info.compiler},
                {"their compiler flags differ", a->info.flags, b->info.flags},
                {"their lists of acceptances differ", a->info.known_text, b->info.known_text},
                {"their -k differ", a->info.selection.expr, b->info.selection.expr},
                {"their --variant differ", a->info.selection.variants, b->info.selection.variants}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(text_or_empty(rows[i].a), text_or_empty(rows[i].b)) != 0)
            return rows[i].hint;
    if (a->info.selection.shard_count != b->info.selection.shard_count)
        return "their numbers of parts differ";
    return a->info.selection.shard == b->info.selection.shard ? "both are the same part" : NULL;
}

/* Checks that every part is there once and all ran under the same conditions. */
static enum status check_parts(const struct part *parts, uint32_t count, struct arena *keep,
                               struct fault *fault)
{
    const uint32_t wanted = parts[0].info.selection.shard_count;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const char *obstacle = obstacle_of(&parts[k], &parts[i]);
            if (obstacle != NULL)
                return refuse(ERR_USAGE,
                              arena_printf(keep, "%s and %s", parts[k].word, parts[i].word),
                              obstacle, fault);
        }
    for (uint32_t shard = 1; shard <= wanted; shard++) {
        bool found = false;
        for (uint32_t i = 0; i < count && !found; i++)
            found = parts[i].info.selection.shard == shard;
        if (!found)
            return refuse(ERR_ABSENT, arena_printf(keep, "part %u of %u", shard, wanted),
                          "it is missing", fault);
    }
    return ERR_NONE;
}

/* The command line of a part without its --shard. */
static const char *command_of_all(const char *command, struct arena *keep, struct fault *fault)
{
    int argc = 0, count = 0;
    char **argv = NULL;
    if (command_line_words(command, keep, &argc, &argv, fault) != ERR_NONE)
        return NULL;
    for (int i = 0; i < argc; i++) {
        int next = i;
        if (command_line_value("--shard", argc, argv, &next) != NULL)
            i = next;
        else
            argv[count++] = argv[i];
    }
    return command_line_join(count, argv, RUN_LABEL_RUN, keep);
}

static enum status write_run(struct store *to, const struct part *parts, uint32_t count,
                             struct arena *keep, struct run_info *out, struct fault *fault)
{
    struct store_part *from = ARENA_ARRAY(keep, count, struct store_part);
    *out = parts[0].info;
    out->id = 0;
    out->uuid = NULL;
    out->selection.shard = out->selection.shard_count = 0;
    out->command = command_of_all(out->command, keep, fault);
    if (from == NULL || out->command == NULL)
        return fault_no_memory(fault, "merged run");
    for (uint32_t i = 0; i < count; i++) {
        const struct run_info *info = &parts[i].info;
        from[i].from = parts[i].own != NULL ? parts[i].own : to;
        from[i].run_id = info->id;
        if (info->started_ns > out->started_ns) /* so that "latest" is this run, not a part */
            out->started_ns = info->started_ns;
        if (info->finished_ns > out->finished_ns)
            out->finished_ns = info->finished_ns;
        if (strcmp(text_or_empty(info->cpu), text_or_empty(out->cpu)) != 0)
            out->cpu = "several kinds";
    }
    return store_merge(to, from, count, out, keep, fault);
}

enum status study_merge(struct store *to, const char *const *words, uint32_t count,
                        struct arena *keep, struct run_info *out, struct fault *fault)
{
    struct part *parts = ARENA_ARRAY(keep, count, struct part);
    if (parts == NULL || count == 0)
        return fault_no_memory(fault, "parts of a run");
    memset(parts, 0, count * sizeof *parts);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)open_part(to, words[i], keep, &parts[i], fault);
    if (fault->code == ERR_NONE && check_parts(parts, count, keep, fault) == ERR_NONE)
        (void)write_run(to, parts, count, keep, out, fault);
    for (uint32_t i = 0; i < count; i++)
        store_close(parts[i].own);
    return fault->code;
}
