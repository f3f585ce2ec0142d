/* See resolve_symbols.h. */
#include "verbs/resolve_symbols.h"

#include <string.h>

#include "base/files.h"

/* WORD is "FILE" or "MODULE=FILE". */
static enum twinstack_status bind(struct twinstack_symbols *symbols, const char *word, bool csv,
                                  uint64_t base, struct twinstack_error *error)
{
    const char *equals = strchr(word, '=');
    char name[256];

    if (equals != NULL && !path_is_file(word) && (size_t)(equals - word) < sizeof name) {
        memcpy(name, word, (size_t)(equals - word));
        name[equals - word] = '\0';
        word = equals + 1;
    } else {
        equals = NULL;
    }
    const char *bound = equals != NULL ? name : NULL;
    return csv ? twinstack_bind_csv(symbols, bound, word, base, error)
               : twinstack_bind_pdb(symbols, bound, word, error);
}

enum twinstack_status resolve_symbols_open(const struct resolve_symbols *o,
                                           struct twinstack_options *options,
                                           struct twinstack_symbols **out,
                                           struct twinstack_error *error)
{
    options->paths = o->roots.items;
    options->path_count = o->roots.count;
    options->arch = o->arch;
    options->cache = o->cache;
    options->system = 1;
    fetch_options_fill(options, &o->fetch);
    enum twinstack_status status = twinstack_open(options, out, error);
    if (status == TWINSTACK_OK && twinstack_path_fault(*out, error) != TWINSTACK_OK)
        fetch_options_warn(error->text);
    for (uint32_t i = 0; status == TWINSTACK_OK && i < o->pdbs.count; i++)
        status = bind(*out, o->pdbs.items[i], false, 0, error);
    for (uint32_t i = 0; status == TWINSTACK_OK && i < o->csvs.count; i++)
        status = bind(*out, o->csvs.items[i], true, o->csv_base, error);
    return status;
}
