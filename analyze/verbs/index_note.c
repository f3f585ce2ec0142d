/* See index_note.h. */
#include "verbs/index_note.h"

#include <inttypes.h>

#include "base/log.h"
#include "report/words.h"
#include "symbol/symbol_store.h"

void index_note(uint32_t count, uint64_t ns)
{
    char time[24];

    if (count > 0)
        log_note("%" PRIu32 " symbol index%s built in %s and kept (`twinstack cache list`)", count,
                 count == 1 ? "" : "es", duration_text((double)ns, time));
}

void index_note_of(struct symbol_store *store)
{
    struct symbol_store_built built = {0, 0};

    if (store != NULL)
        symbol_store_built(store, &built);
    index_note(built.indexes, built.ns);
}

void unused_note(const char *files)
{
    if (files != NULL)
        log_warn("named as symbols, and used for no module: %s", files);
}
