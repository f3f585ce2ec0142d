/* All the names that a PDB gives one piece of code; see symbol_store.h. Identical-code folding
 * merges several functions into one, and a stack shows only one of their names. */
#include <string.h>

#include "format/pdb/pdb.h"
#include "symbol/pdb_names.h"
#include "symbol/pdb_unit.h"
#include "symbol/store_state.h"

struct alias_search {
    const struct pdb *pdb;
    struct pdb_place place; /* start of the function, or target of the jump */
    symbol_name_fn *each;
    void *context;
    struct pdb_names names;
};

/* Where the function around RVA starts; for a jump, where its target starts. */
static bool start_of(const struct pdb *pdb, uint32_t rva, struct pdb_place *out)
{
    struct arena copies;
    struct pdb_module module;
    struct pdb_procedure procedure;
    struct pdb_public pub;
    bool found = false;

    if (!pdb_place_of_rva(pdb, rva, out))
        return false;
    arena_init(&copies, 0);
    if (pdb_procedure_at(pdb, *out, &copies, &module, &procedure)) {
        const bool elsewhere =
            procedure.kind == PDB_CODE_TRAMPOLINE || procedure.kind == PDB_CODE_SEPARATED;
        *out = elsewhere ? procedure.parent : procedure.start;
        found = true;
    } else if (pdb_public_before(pdb, *out, NULL, &pub)) {
        *out = pub.place;
        found = true;
    }
    arena_free(&copies);
    return found;
}

static bool search_publics(struct alias_search *s)
{
    struct arena copies;
    struct pdb_public pub;
    char text[UNDECORATED_BYTES];
    bool found = false;

    arena_init(&copies, 0);
    uint32_t low = 0, high = s->pdb->address_map_count;
    while (low < high) { /* the first public at this address */
        const uint32_t middle = low + (high - low) / 2;
        const bool read = pdb_public(s->pdb, middle, NULL, &pub);
        if (read && (pub.place.section < s->place.section ||
                     (pub.place.section == s->place.section && pub.place.offset < s->place.offset)))
            low = middle + 1;
        else
            high = middle;
    }
    for (; !found && pdb_public(s->pdb, low, &copies, &pub) &&
           pub.place.section == s->place.section && pub.place.offset == s->place.offset;
         low++) {
        const bool x86 = s->pdb->machine == PE_MACHINE_X86;
        const bool readable = undecorate(pub.name, NAMES_SHORT, x86, text, sizeof text) != 0;
        found = s->each(s->context, readable ? text : pub.name);
    }
    arena_free(&copies);
    return found;
}

static bool search_module(struct alias_search *s, const struct pdb_unit *unit)
{
    for (uint32_t i = 0; i < unit->code_count; i++) {
        const struct unit_code *code = &unit->codes[i];
        struct pdb_procedure procedure;
        if (code->start.section != s->place.section || code->start.offset != s->place.offset ||
            !pdb_unit_procedure(unit, i, &procedure))
            continue;
        const char *name = pdb_names_procedure(&s->names, unit, &procedure);
        if (name != NULL && s->each(s->context, name))
            return true;
    }
    return false;
}

bool symbol_each_name(struct symbol_module *sources, uint64_t offset, symbol_name_fn *each,
                      void *context)
{
    struct alias_search s = {.each = each, .context = context};
    struct arena keep;
    struct pdb_unit unit;
    bool found = false;

    if (offset > UINT32_MAX || (s.pdb = source_pdb_of(sources->names)) == NULL ||
        !start_of(s.pdb, (uint32_t)offset, &s.place))
        return false;
    if (search_publics(&s))
        return true;
    pdb_names_open(s.pdb, NAMES_SHORT, &s.names);
    arena_init(&keep, 0);
    for (uint32_t i = 0; !found && i < s.pdb->module_count; i++) {
        arena_reset(&keep);
        found = pdb_unit_open(s.pdb, i, &keep, NULL, &unit) && search_module(&s, &unit);
    }
    arena_free(&keep);
    pdb_names_close(&s.names);
    return found;
}
