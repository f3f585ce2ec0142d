/* See pdb_lookup.h and, for the rules, symbol/README.md. */
#include "symbol/pdb_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/pdb_names.h"
#include "symbol/pdb_unit.h"
#include "symbol/unit_tables.h"

/* Managed code in a native PDB: C++/CLI, and what compilers wrote before portable PDBs. */
struct pdb_method {
    uint32_t token, module, code; /* of pdb_unit_procedure() */
};

enum { SORT_AFTER = 8 }; /* lookups in one module, until then the tables cost more than they save */

struct pdb_lookup {
    const struct pdb *pdb;
    struct pdb_names names;
    struct arena keep, scratch;
    struct pdb_unit **units;    /* by module index; NULL: not read yet */
    struct pdb_method *methods; /* by token */
    uint32_t method_count;
    bool methods_read;
};

enum status pdb_lookup_open(const struct pdb *pdb, enum symbol_names names, struct pdb_lookup **out,
                            struct fault *fault)
{
    struct pdb_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL)
        return fault_no_memory(fault, "PDB lookup");
    lookup->pdb = pdb;
    pdb_names_open(pdb, names, &lookup->names);
    arena_init(&lookup->keep, 0);
    arena_init(&lookup->scratch, 0);
    lookup->units = ARENA_ARRAY(&lookup->keep, (size_t)pdb->module_count + 1, struct pdb_unit *);
    if (lookup->units == NULL) {
        pdb_lookup_close(lookup);
        return fault_no_memory(fault, "PDB lookup");
    }
    *out = lookup;
    return ERR_NONE;
}

void pdb_lookup_close(struct pdb_lookup *lookup)
{
    if (lookup == NULL)
        return;
    pdb_names_close(&lookup->names);
    arena_free(&lookup->keep);
    arena_free(&lookup->scratch);
    free(lookup);
}

static const struct pdb_unit *unit_of(struct pdb_lookup *lookup, uint32_t module)
{
    if (module >= lookup->pdb->module_count)
        return NULL;
    if (lookup->units[module] == NULL) {
        struct pdb_unit *unit = ARENA_NEW(&lookup->keep, struct pdb_unit);
        if (unit == NULL || !pdb_unit_open(lookup->pdb, module, &lookup->keep, unit))
            return NULL;
        lookup->units[module] = unit;
    }
    if (++lookup->units[module]->uses == SORT_AFTER)
        pdb_unit_sort(lookup->units[module], &lookup->keep);
    return lookup->units[module];
}

static void set_line(struct pdb_lookup *lookup, const struct pdb_unit *unit, struct pdb_place place,
                     struct symbol_frame *frame)
{
    struct pdb_line_row row;
    if (!pdb_unit_line_at(unit, place, &row))
        return;
    frame->line = row.line;
    frame->file = pdb_names_file(&lookup->names, unit, row.file);
}

static void set_inlined(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                        const struct unit_site *site, struct symbol_frame *frame)
{
    struct pdb_inlinee inlinee;
    frame->inlined = true;
    frame->function = pdb_names_inlinee(&lookup->names, unit, site->inlinee);
    if (!pdb_unit_inlinee(unit, site->inlinee, &inlinee))
        return;
    const uint32_t file = site->file == UNIT_INLINEE_FILE ? inlinee.file : site->file;
    frame->line = pdb_line_sane(inlinee.line + (uint32_t)site->line_delta);
    frame->file = pdb_names_file(&lookup->names, unit, pdb_checksum_file(&unit->subsections, file));
}

/* The frames of the inline sites around DISTANCE, for a procedure that was asked about before.
 * Returns how many. */
static uint32_t set_known_sites(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                                const struct unit_sites *sites, uint32_t distance,
                                struct symbol_frame *out)
{
    struct unit_known_site known[LIMIT_INLINE_DEPTH];
    const uint32_t depth = unit_sites_at(sites, distance, known);
    for (uint32_t i = 0; i < depth; i++) {
        struct unit_site_row *from = known[depth - 1 - i].row;
        memset(&out[i], 0, sizeof out[i]);
        if (from->function == NULL) { /* not named yet, or without a name */
            set_inlined(lookup, unit, known[depth - 1 - i].site, &out[i]);
            from->function = out[i].function;
            from->file = out[i].file;
            from->line = out[i].line;
        }
        out[i].inlined = true;
        out[i].function = from->function;
        out[i].file = from->file;
        out[i].line = from->line;
    }
    return depth;
}

static uint32_t set_sites(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                          const struct pdb_procedure *procedure, uint32_t distance,
                          struct symbol_frame *out)
{
    struct unit_site sites[LIMIT_INLINE_DEPTH];
    const uint32_t depth = pdb_unit_sites_at(unit, procedure, distance, &lookup->scratch, sites);
    memset(out, 0, depth * sizeof *out);
    for (uint32_t i = 0; i < depth; i++)
        set_inlined(lookup, unit, &sites[depth - 1 - i], &out[i]);
    return depth;
}

static uint32_t frames_in_procedure(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                                    uint32_t code, struct pdb_place place, struct symbol_frame *out)
{
    struct unit_procedure *known = unit_procedure_at(unit, code, &lookup->keep);
    struct pdb_procedure procedure;
    if (known != NULL)
        procedure = known->procedure;
    else if (!pdb_unit_procedure(unit, code, &procedure))
        return 0;
    const uint32_t distance = place.offset - procedure.start.offset;
    const uint32_t depth = known != NULL && known->sites != NULL
                               ? set_known_sites(lookup, unit, known->sites, distance, out)
                               : set_sites(lookup, unit, &procedure, distance, out);
    memset(&out[depth], 0, sizeof out[depth]);
    for (uint32_t i = 0; i <= depth; i++) {
        out[i].distance = distance;
        out[i].from = SYMBOLS_PDB;
        out[i].compiland = unit->module.name;
        out[i].note = unit->is_damaged ? NOTE_PDB_PART_DAMAGED : NOTE_NONE;
    }
    if (known == NULL || !known->named)
        out[depth].function = pdb_names_procedure(&lookup->names, unit, &procedure);
    else
        out[depth].function = known->name;
    if (procedure.kind == PDB_CODE_TRAMPOLINE && !unit->is_damaged && out[depth].function != NULL)
        out[depth].note = NOTE_LINK_JUMP;
    if (known != NULL) {
        known->named = true;
        known->name = out[depth].function;
    }
    set_line(lookup, unit, place, &out[depth]);
    return depth + 1;
}

/* A jump of an incremental link that no record of a module describes. */
static uint32_t frame_of_jump(struct pdb_lookup *lookup, const struct pdb_jump *jump,
                              struct pdb_place place, struct symbol_frame *out)
{
    memset(out, 0, sizeof *out);
    out->function = pdb_names_jump(&lookup->names, jump->target);
    out->distance = place.offset - jump->start.offset;
    out->from = SYMBOLS_PDB_PUBLIC;
    out->note = out->function != NULL ? NOTE_LINK_JUMP : NOTE_NONE;
    return 1;
}

/* No procedure contains PLACE. The name is that of the last procedure or public that starts before
 * it, in its contribution or the one before: after a procedure this is padding, after a public it
 * may be code without a procedure. Names from before that contribution do not apply. */
static uint32_t frame_without_procedure(struct pdb_lookup *lookup,
                                        const struct pdb_contribution *contribution,
                                        struct pdb_place place, struct symbol_frame *out)
{
    const bool inside =
        contribution != NULL && place.offset - contribution->start.offset < contribution->bytes;
    const uint32_t from = contribution != NULL ? contribution->start.offset : 0;
    const struct pdb_unit *unit =
        contribution != NULL ? unit_of(lookup, contribution->module) : NULL;
    struct pdb_public pub;
    struct pdb_procedure procedure;
    const bool has_public =
        pdb_public_before(lookup->pdb, place, NULL, &pub) && pub.place.offset >= from;
    const int64_t code = unit != NULL ? pdb_unit_code_before(unit, place) : -1;
    const bool has_code = code >= 0 && unit->codes[code].start.offset >= from &&
                          pdb_unit_procedure(unit, (uint32_t)code, &procedure) &&
                          (!has_public || procedure.start.offset >= pub.place.offset);
    memset(out, 0, sizeof *out);
    out->from = has_public && !has_code ? SYMBOLS_PDB_PUBLIC : SYMBOLS_PDB;
    out->compiland = unit != NULL && (inside || has_code) ? unit->module.name : NULL;
    out->note = unit != NULL && unit->is_damaged ? NOTE_PDB_PART_DAMAGED : NOTE_NONE;
    if (has_code) {
        out->function = pdb_names_procedure(&lookup->names, unit, &procedure);
        out->distance = place.offset - procedure.start.offset;
    } else if (has_public) {
        out->function = pdb_names_public(&lookup->names, &pub);
        out->distance = place.offset - pub.place.offset;
    }
    if (inside && unit != NULL)
        set_line(lookup, unit, place, out);
    return contribution != NULL || has_public ? 1 : 0;
}

uint32_t pdb_lookup(struct pdb_lookup *lookup, uint32_t rva,
                    struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct pdb_place place;
    struct pdb_contribution contribution;
    struct pdb_jump jump;
    if (!pdb_place_of_rva(lookup->pdb, rva, &place) || !pdb_is_code(lookup->pdb, place))
        return 0;
    arena_reset(&lookup->scratch);
    const bool after = pdb_contribution_before(lookup->pdb, place, &contribution);
    const bool inside = after && place.offset - contribution.start.offset < contribution.bytes;
    if (inside) {
        const struct pdb_unit *unit = unit_of(lookup, contribution.module);
        const int64_t code = unit != NULL ? pdb_unit_code_at(unit, place) : -1;
        if (code >= 0)
            return frames_in_procedure(lookup, unit, (uint32_t)code, place, out);
    }
    if (pdb_jump_at(lookup->pdb, place, &jump))
        return frame_of_jump(lookup, &jump, place, out);
    if (after && !inside && lookup->pdb->fastlink)
        return 0; /* there are only publics, which do not state where code ends */
    return frame_without_procedure(lookup, after ? &contribution : NULL, place, out);
}

uint32_t pdb_lookup_lines(struct pdb_lookup *lookup, uint32_t rva, uint32_t *out, uint32_t max)
{
    struct pdb_place place;
    struct pdb_contribution contribution;
    if (!pdb_place_of_rva(lookup->pdb, rva, &place) ||
        !pdb_contribution_at(lookup->pdb, place, &contribution))
        return 0;
    const struct pdb_unit *unit = unit_of(lookup, contribution.module);
    return unit != NULL ? pdb_unit_lines_at(unit, place, out, max) : 0;
}

/* ---- methods ---- */

static int by_token(const void *a, const void *b)
{
    const struct pdb_method *left = a, *right = b;
    return (left->token > right->token) - (left->token < right->token);
}

/* Notes the methods of all modules, once; a module is kept only when one of its methods is asked
 * about. */
static void read_methods(struct pdb_lookup *lookup)
{
    uint32_t room = 0;
    struct pdb_procedure procedure;
    for (uint32_t m = 0; m < lookup->pdb->module_count; m++) {
        struct pdb_unit unit;
        arena_reset(&lookup->scratch);
        if (!pdb_unit_open(lookup->pdb, m, &lookup->scratch, &unit))
            continue;
        for (uint32_t i = 0; i < unit.code_count; i++) {
            if (!pdb_unit_procedure(&unit, i, &procedure) || !procedure.is_managed ||
                procedure.kind != PDB_CODE_PROCEDURE)
                continue;
            struct pdb_method *grown =
                arena_reserve(&lookup->keep, lookup->methods, &room,
                              (uint64_t)lookup->method_count + 1, sizeof *grown);
            if (grown == NULL)
                return;
            lookup->methods = grown;
            grown[lookup->method_count++] = (struct pdb_method){procedure.type, m, i};
        }
    }
    if (lookup->method_count > 0)
        qsort(lookup->methods, lookup->method_count, sizeof *lookup->methods, by_token);
}

uint32_t pdb_lookup_method(struct pdb_lookup *lookup, uint32_t token, uint32_t il,
                           struct symbol_frame *out)
{
    const struct pdb_method wanted = {.token = token};
    struct pdb_procedure procedure;
    if (!lookup->methods_read)
        read_methods(lookup);
    lookup->methods_read = true;
    const struct pdb_method *found =
        lookup->method_count == 0
            ? NULL
            : bsearch(&wanted, lookup->methods, lookup->method_count, sizeof wanted, by_token);
    const struct pdb_unit *unit = found != NULL ? unit_of(lookup, found->module) : NULL;
    arena_reset(&lookup->scratch);
    if (unit == NULL || !pdb_unit_procedure(unit, found->code, &procedure))
        return 0;
    memset(out, 0, sizeof *out);
    out->distance = il;
    out->from = SYMBOLS_PDB;
    out->compiland = unit->module.name;
    out->note = unit->is_damaged ? NOTE_PDB_PART_DAMAGED : NOTE_NONE;
    out->function = pdb_names_procedure(&lookup->names, unit, &procedure);
    if (il < procedure.bytes) {
        const struct pdb_place place = {.offset = procedure.start.offset + il,
                                        .section = procedure.start.section};
        set_line(lookup, unit, place, out);
    }
    return 1;
}
