/* See symbol_files.h. */
#include "verbs/symbol_files.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "verbs/verb.h"

enum { FOLDER_DEPTH = 8 };

/* The name of a packed file's contents: the last letter of its own name is '_'. */
static const char *unpacked_name(const char *name, struct arena *keep)
{
    static const char ends[][6] = {".pd_b", ".ex_e", ".dl_l", ".sy_s"};
    const size_t bytes = strlen(name);
    for (size_t i = 0; bytes > 4 && i < COUNT_OF(ends); i++)
        if (strncmp(name + bytes - 4, ends[i], 4) == 0)
            return arena_printf(keep, "%.*s%c", (int)(bytes - 1), name, ends[i][4]);
    return name;
}

static int visit_open(struct symbol_file *file, symbol_file_fn *visit, void *context)
{
    const struct source *source = &file->source;
    file->name = path_base(file->path);
    source->kind->store_as(&source->id, source->keep, &file->place);
    if (source->unpacked && file->place.name == source->id.name)
        file->place.name = unpacked_name(file->name, source->keep);
    return file->place.name != NULL && file->place.key != NULL && file->place.as != NULL
               ? visit(context, file)
               : EXIT_INPUT;
}

/* A file of no known kind, and one that only belongs to others, is passed over unless it is NAMED.
 */
static int visit_file(const char *path, bool named, symbol_file_fn *visit, void *context)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct symbol_file file = {.path = path, .source = {.path = path, .keep = &keep}};
    int code = EXIT_GOOD;

    arena_init(&keep, 0);
    const bool open =
        source_open(&file.source, &fault) == ERR_NONE; /* NAME is set once it is mapped */
    if (open && file.source.id.word != NULL) {
        code = visit_open(&file, visit, context);
    } else if (!open && (file.source.kind != NULL || file.source.id.name == NULL)) {
        code = verb_fault(&fault);
    } else if (named) {
        if (open)
            (void)source_refuse(file.source.map.data, file.source.map.bytes, &fault);
        log_error("path=%s: %s", path, fault.hint);
        code = EXIT_INPUT;
    }
    if (open)
        source_close(&file.source);
    arena_free(&keep);
    return code;
}

/* Visits PATH, or all files below it.  Returns the first exit code that is not 0. */
static int visit_path(const char *path, bool named, int depth, symbol_file_fn *visit, void *context)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    const char **names;
    size_t count;
    int code = EXIT_GOOD;

    if (!path_is_folder(path))
        return visit_file(path, named, visit, context);
    if (depth == 0)
        return EXIT_GOOD;
    arena_init(&scratch, 0);
    if (folder_list(path, &scratch, &names, &count, &fault) != ERR_NONE) {
        code = verb_fault(&fault);
    } else {
        for (size_t i = 0; i < count; i++) {
            const char *below = path_join(&scratch, path, names[i]);
            const int one =
                below != NULL ? visit_path(below, false, depth - 1, visit, context) : EXIT_INPUT;
            code = code == EXIT_GOOD ? one : code;
        }
    }
    arena_free(&scratch);
    return code;
}

int symbol_files_visit(const struct option_list *paths, symbol_file_fn *visit, void *context)
{
    int code = EXIT_GOOD;
    for (uint32_t i = 0; i < paths->count; i++) {
        const int one = visit_path(paths->items[i], true, FOLDER_DEPTH, visit, context);
        code = code == EXIT_GOOD ? one : code;
    }
    return code;
}
