/* Section contributions of a PDB that has none, made from the procedures of all its modules; and
 * those of a PDB that are not in the order of their places. */
#include <stdlib.h>

#include "base/array.h"
#include "format/pdb/pdb_module.h"

static int compare_contributions(const void *left, const void *right)
{
    const struct pdb_contribution *a = left;
    const struct pdb_contribution *b = right;
    const int after = pdb_place_after(a->start, b->start) - pdb_place_after(b->start, a->start);
    return after != 0 ? after : (a->module > b->module) - (a->module < b->module);
}

/* Adds the procedures of all modules to the list; without a list, only counts them. */
static uint32_t list_procedures(struct pdb *pdb, struct pdb_contribution *list, uint32_t room)
{
    struct arena copies;
    struct pdb_module module;
    uint32_t count = 0;
    arena_init(&copies, 2 * pdb->msf.bytes);
    for (uint32_t i = 0; i <= UINT16_MAX && pdb_module_open(pdb, i, &copies, &module); i++) {
        struct pdb_symbol symbol;
        struct pdb_procedure one;
        for (uint32_t soff = 4; pdb_symbol_at(&module, soff, &symbol);
             soff = pdb_symbol_next(&module, &symbol)) {
            if (!pdb_procedure_read(&module, &symbol, &one) || one.bytes == 0)
                continue;
            if (count < room)
                list[count] = (struct pdb_contribution){one.start, one.bytes, (uint16_t)i, 0};
            count++;
        }
        arena_reset(&copies);
    }
    arena_free(&copies);
    return count;
}

void pdb_make_contributions(struct pdb *pdb)
{
    const uint32_t count = list_procedures(pdb, NULL, 0);
    struct pdb_contribution *list = ARENA_ARRAY(&pdb->arena, count, struct pdb_contribution);
    uint32_t kept = 0;
    if (list == NULL || count == 0 || list_procedures(pdb, list, count) != count)
        return;
    array_sort(list, count, sizeof *list, compare_contributions);
    for (uint32_t i = 0; i < count; i++) /* of folded functions the first module's is used */
        if (kept == 0 || pdb_place_after(list[i].start, list[kept - 1].start))
            list[kept++] = list[i];
    pdb->contributions = list;
    pdb->contribution_count = kept;
}

/* Whether the first contributions ascend: GNU ld has them object by object. A look at all would
 * read much of a large file. */
static bool seem_ordered(const struct pdb *pdb)
{
    enum { LOOKED_AT = 256 };
    struct pdb_contribution one, before;
    for (uint32_t i = 0; i < LOOKED_AT && pdb_contribution(pdb, i, &one); i++, before = one)
        if (i > 0 && pdb_place_after(before.start, one.start))
            return false;
    return true;
}

void pdb_order_contributions(struct pdb *pdb)
{
    if (seem_ordered(pdb))
        return;
    const uint32_t count = pdb->contribution_count;
    struct pdb_contribution *list = ARENA_ARRAY(&pdb->arena, count, struct pdb_contribution);
    for (uint32_t i = 0; list != NULL && i < count; i++)
        if (!pdb_contribution(pdb, i, &list[i]))
            return;
    if (list == NULL)
        return;
    array_sort(list, count, sizeof *list, compare_contributions);
    pdb->contributions = list;
}
