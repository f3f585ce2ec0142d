/* A symbol file without most of its records: see breakpad_skim().
 *
 * Nine of ten lines are code: a line number, or an inlined call. The first pass skips them and
 * notes where the other records are; the records of a function are read when it is asked about.
 * Until then `name` of a function, public, file or origin points into the file, not terminated. */
#include <string.h>

#include "base/array.h"
#include "format/breakpad/records.h"

enum { RELEASE_BYTES = 8 << 20 }; /* of a file that is passed, at a time */

static bool is_skimmed(struct breakpad_words w)
{
    switch (w.at < w.end ? *w.at : '\0') {
    case 'F': /* FUNC, FILE */
    case 'P': /* PUBLIC */
        return true;
    case 'I': /* INLINE_ORIGIN, and not INLINE */
        return w.end - w.at > 6 && w.at[6] == '_';
    default:
        return false;
    }
}

ARRAY_ORDER(by_function, struct breakpad_function, rva)

ARRAY_ORDER(by_public, struct breakpad_public, rva)

ARRAY_ORDER(by_number, struct breakpad_name, number)

/* All of them are stable: equal ones stay in the order of the file. */
static void sort_skimmed(struct breakpad *file)
{
    array_sort(file->functions, file->function_count, sizeof *file->functions, by_function);
    array_sort(file->publics, file->public_count, sizeof *file->publics, by_public);
    array_sort(file->files, file->file_count, sizeof *file->files, by_number);
    array_sort(file->origins, file->origin_count, sizeof *file->origins, by_number);
}

enum status breakpad_skim(const struct file_map *map, struct breakpad *out, struct fault *fault)
{
    const char *const start = (const char *)map->data;
    const char *at = start, *end = start + map->bytes, *passed = start;
    struct breakpad_words w;
    if (breakpad_read_head(&at, end, out, fault) != ERR_NONE)
        return fault->code;
    out->skimmed = start;
    out->skimmed_end = end;
    while (breakpad_next_line(&at, end, &w)) {
        if (at - passed > RELEASE_BYTES) {
            file_release(map, 0, map->bytes); /* the system maps some of what is passed again */
            passed = at;
        }
        if (is_skimmed(w) && breakpad_read_record(out, w, RECORD_NAME) == PARSED_NO_MEMORY)
            return fault_no_memory(fault, "Breakpad symbol file");
    }
    file_release(map, 0, map->bytes);
    sort_skimmed(out);
    return ERR_NONE;
}

/* ---- what a lookup needs ---- */

struct loader {
    struct breakpad *file;
    breakpad_named_fn *named;
    void *context;
    bool failed;
};

static bool is_loaded(const struct breakpad *file, const char *name)
{
    return (uintptr_t)name - (uintptr_t)file->skimmed >
           (uintptr_t)file->skimmed_end - (uintptr_t)file->skimmed;
}

/* The name at TEXT, up to the end of its line. */
static struct breakpad_words name_at(const struct breakpad *file, const char *text)
{
    struct breakpad_words w = {text, text};
    if (text < file->skimmed_end)
        (void)breakpad_next_line(&text, file->skimmed_end, &w);
    return w;
}

static void load_name(struct loader *l, const char **name, bool is_function)
{
    if (is_loaded(l->file, *name))
        return;
    const struct breakpad_words w = name_at(l->file, *name);
    const char *copy = arena_text(&l->file->names, w.at, (size_t)(w.end - w.at));
    l->failed |= copy == NULL;
    if (copy == NULL)
        return;
    *name = copy;
    if (is_function)
        l->named(l->context, name);
}

/* The name with that number; NULL: none. */
static struct breakpad_name *find(struct breakpad_name *names, uint32_t count, uint32_t number)
{
    const struct breakpad_name *found = breakpad_name_of(names, count, number);
    return found != NULL ? &names[found - names] : NULL;
}

static void load_file(struct loader *l, uint32_t number)
{
    struct breakpad_name *found = find(l->file->files, l->file->file_count, number);
    if (found != NULL)
        load_name(l, &found->name, false);
}

static void load_origin(struct loader *l, uint32_t number)
{
    struct breakpad_name *found = find(l->file->origins, l->file->origin_count, number);
    if (found == NULL)
        return;
    load_name(l, &found->name, true);
    load_file(l, found->file);
}

/* Reads the records of a function, up to the next one. */
static void load_records(struct loader *l, struct breakpad_function *function, const char *at)
{
    struct breakpad *file = l->file;
    struct breakpad_words w;
    function->first_line = file->line_count;
    function->first_inline = file->inline_count;
    file->current = (uint32_t)(function - file->functions);
    while (breakpad_next_line(&at, file->skimmed_end, &w)) {
        if (w.at == w.end || *w.at == '#')
            continue;
        if (*w.at == 'F' && breakpad_starts_function(w))
            break;
        l->failed |= breakpad_read_record(file, w, RECORD_CODE) == PARSED_NO_MEMORY;
    }
    breakpad_sort_lines(file, function);
    for (uint32_t i = 0; i < function->line_count; i++)
        load_file(l, file->lines[function->first_line + i].file);
    for (uint32_t i = 0; i < function->inline_count; i++) {
        const struct breakpad_inline *call = &file->inlines[function->first_inline + i];
        load_origin(l, call->origin);
        load_file(l, call->file);
    }
}

/* Of several publics at one place the first name counts. */
static void load_publics(struct loader *l, struct breakpad_public *publics, uint32_t left)
{
    uint32_t count = 1;
    if (is_loaded(l->file, publics[0].name))
        return;
    while (count < left && publics[count].rva == publics[0].rva)
        count++;
    for (uint32_t i = 0; i < count; i++)
        load_name(l, &publics[i].name, false);
    for (uint32_t i = 1; !l->failed && i < count; i++) {
        if (strcmp(publics[i].name, publics[0].name) < 0) {
            const struct breakpad_public first = publics[i];
            publics[i] = publics[0];
            publics[0] = first;
        }
    }
    if (!l->failed)
        l->named(l->context, &publics[0].name);
}

enum status breakpad_load(struct breakpad *file, uint64_t rva, breakpad_named_fn *named,
                          void *context, struct fault *fault)
{
    struct loader l = {file, named, context, false};
    const struct breakpad_function *before = breakpad_function_before(file, rva);
    const struct breakpad_public *public = breakpad_public_before(file, rva);
    if (before != NULL && rva < before->end) {
        struct breakpad_function *function = &file->functions[before - file->functions];
        const char *text = function->name;
        if (is_loaded(file, text))
            return ERR_NONE;
        if (text < file->skimmed_end) {
            struct breakpad_words w;
            (void)breakpad_next_line(&text, file->skimmed_end, &w);
        }
        load_records(&l, function, text);
        load_name(&l, &function->name, true);
    } else if (public != NULL) {
        const uint32_t number = (uint32_t)(public - file->publics);
        load_publics(&l, &file->publics[number], file->public_count - number);
    }
    return l.failed ? fault_no_memory(fault, "Breakpad symbol file") : ERR_NONE;
}
