/* See judging.h. */
#include "conduct/judging.h"

#include <string.h>

#include "base/files.h"
#include "collect/collect.h"
#include "symbol/symbol_store.h"

/* The folders whose symbols are searched, the first of them as they were named, and what their
 * paths are without links and "..". */
struct roots {
    const char **named, **real;
    uint32_t count;
};

/* Adds a folder that exists, once: `--symbols` often names that of the case. */
static void add_root(const char *root, struct arena *keep, struct roots *roots)
{
    if (root == NULL || !path_is_folder(root))
        return;
    for (uint32_t i = 0; i < roots->count; i++)
        if (strcmp(roots->named[i], root) == 0)
            return;
    const char *real = path_absolute(root, keep);
    for (uint32_t i = 0; real != NULL && i < roots->count; i++) {
        if (roots->real[i] == NULL)
            roots->real[i] = path_absolute(roots->named[i], keep);
        if (roots->real[i] != NULL && strcmp(roots->real[i], real) == 0)
            return;
    }
    roots->real[roots->count] = real;
    roots->named[roots->count++] = root;
}

/* FOLDER without its last two parts, and "symbols": the same text for cases of
 * one run. */
static const char *shared_store(const char *folder, struct arena *keep)
{
    size_t length = strlen(folder);

    for (int part = 0; part < 2; part++) {
        while (length > 0 && folder[length - 1] == '/')
            length--;
        while (length > 0 && folder[length - 1] != '/')
            length--;
    }
    if (length == 0) /* too short to shorten: "CASE" or "cases/CASE" */
        return arena_printf(keep, "%s/../../symbols", folder);
    return arena_printf(keep, "%.*ssymbols", (int)length, folder);
}

/* The folders that hold the symbols of a sealed case: the run's shared store,
 * the case itself. */
static void add_roots(const struct crash_case *crash, struct arena *keep, struct roots *roots)
{
    bool shared = false, inside = false;

    for (uint32_t i = 0; i < crash->file_count; i++) {
        const struct case_file *file = &crash->files[i];
        if (file->role != ROLE_IMAGE && file->role != ROLE_PDB)
            continue;
        if (strncmp(file->path, "../", 3) == 0)
            shared = true;
        else
            inside = true;
    }
    if (shared)
        add_root(shared_store(crash->folder, keep), keep, roots);
    if (inside)
        add_root(crash->folder, keep, roots);
}

enum status judging_open(const struct judging_needs *needs, struct arena *keep, struct judging *out,
                         struct fault *fault)
{
    enum { OF_A_CASE = 2 };
    const size_t most = (size_t)needs->case_count * OF_A_CASE + needs->symbol_count + 2;
    struct roots roots = {.named = ARENA_ARRAY(keep, most, const char *),
                          .real = ARENA_ARRAY(keep, most, const char *)};
    struct symbol_store_options options = {.roots = roots.named,
                                           .names = NAMES_SHORT,
                                           .system = true,
                                           .indexing = INDEXING_IMAGES,
                                           .cache = needs->cache};
    *out = (struct judging){.windows = NULL};
    if (roots.named == NULL || roots.real == NULL)
        return fault_no_memory(fault, "symbols");
    if (needs->store != NULL)
        roots.named[roots.count++] = needs->store;
    for (uint32_t i = 0; i < needs->symbol_count; i++)
        roots.named[roots.count++] = needs->symbols[i];
    for (uint32_t i = 0; i < needs->case_count; i++)
        if (needs->cases[i].folder != NULL)
            add_roots(&needs->cases[i], keep, &roots);
    options.root_count = roots.count;
    if (needs->fetch != NULL)
        options.fetch = *needs->fetch;
    return symbol_store_open(&options, &out->analysis.symbols, fault);
}

enum status judging_open_windows(struct judging *j, const struct collect_options *options,
                                 struct fault *fault)
{
    if (collect_session_open(options, &j->windows, fault) != ERR_NONE)
        return fault->code;
    j->analysis.launcher = collect_session_launcher(j->windows);
    j->analysis.judge_folder = options->victims_folder;
    return ERR_NONE;
}

void judging_close(struct judging *j)
{
    collect_session_close(j->windows);
    symbol_store_close(j->analysis.symbols);
    *j = (struct judging){.windows = NULL};
}
