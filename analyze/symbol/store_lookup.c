/* One address asked of the files of a module; see symbol_store.h. */
#include <stdlib.h>
#include <string.h>

#include "symbol/store_lookup.h"
#include "symbol/store_managed.h"

/* The file that is asked first. */
static struct source *first_of(const struct symbol_module *sources)
{
    return sources->names != NULL ? sources->names : sources->image;
}

struct source_view store_view(struct symbol_module *sources, uint32_t lookups)
{
    struct source *first = first_of(sources);
    return (struct source_view){sources, first != NULL ? store_index_of(first, lookups) : NULL};
}

static uint32_t ask(struct source *source, const struct symbol_index *index, uint64_t offset,
                    struct symbol_frame *out)
{
    return index != NULL && symbol_index_covers(index, (uint32_t)offset)
               ? symbol_index_lookup(index, (uint32_t)offset, out)
               : source->kind->frames(source, offset, out);
}

uint32_t symbol_lines(struct symbol_module *sources, uint64_t offset, uint32_t *out, uint32_t max)
{
    struct source *source = sources->names;
    if (source == NULL || (source->kind->lines == NULL && sources->image != NULL))
        source = sources->image;
    return source != NULL && source->kind->lines != NULL && offset <= UINT32_MAX
               ? source->kind->lines(source, (uint32_t)offset, out, max)
               : 0;
}

/* True when a file knows the place but gives it no name and no line. */
static bool is_unnamed(const struct symbol_frame *frames, uint32_t count)
{
    return count == 0 || (count == 1 && frames[0].function == NULL && frames[0].line == 0);
}

/* Static functions of objects without CodeView, such as mingw's C runtime, are only in the image's
 * own symbol table. */
static uint32_t lookup_unnamed(struct source *image, uint64_t offset, uint32_t count,
                               struct symbol_frame *out)
{
    const struct symbol_frame place = count > 0 ? out[0] : (struct symbol_frame){0};
    const uint32_t found = ask(image, store_index_of(image, 1), offset, out);
    if (found == 0 && count > 0)
        out[0] = place;
    if (found > 0 && out[found - 1].compiland == NULL)
        out[found - 1].compiland = place.compiland;
    return found > 0 ? found : count;
}

/* A method by its token: its name from the image's metadata, its line from the PDB, which is
 * portable or, with older compilers, native. Functions of C++/CLI are methods of <Module>; the PDB
 * has their own names. */
static uint32_t lookup_method(struct symbol_module *sources, uint64_t key, struct symbol_frame *out)
{
    struct source *names = sources->names;
    struct symbol_frame named;
    const uint32_t count =
        names != NULL && names->kind->method != NULL
            ? names->kind->method(names, (uint32_t)(key >> 32), (uint32_t)key, out)
            : 0;
    if (sources->managed == NULL || store_managed_lookup(sources->managed, key, &named) == 0)
        return count;
    if (count == 0)
        out[0] = named;
    else if (named.function != NULL && strncmp(named.function, "<Module>::", 10) != 0)
        out[0].function = named.function;
    return 1;
}

uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct symbol_module *sources = view->sources;
    struct source *first = first_of(sources);

    if (offset > UINT32_MAX)
        return lookup_method(sources, offset, out);
    uint32_t count = first != NULL ? ask(first, view->index, offset, out) : 0;
    if (sources->image != NULL && sources->image != first && is_unnamed(out, count))
        count = lookup_unnamed(sources->image, offset, count, out);
    struct symbol_frame method;
    if (sources->managed == NULL || (sources->names != NULL && !is_unnamed(out, count)) ||
        store_managed_native(sources->managed, (uint32_t)offset, &method) == 0)
        return count;
    out[0] = method;
    return 1;
}

uint32_t symbol_lookup(struct symbol_module *sources, uint64_t offset,
                       struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    const struct source_view view = store_view(sources, 1);
    return store_view_lookup(&view, offset, out);
}
