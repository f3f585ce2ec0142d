/* See pdb_lookup.h and, for the rules, symbol/README.md. */
#include "symbol/pdb_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "symbol/pdb_known.h"

/* Managed code in a native PDB: C++/CLI, and what compilers wrote before portable PDBs. */
struct pdb_method {
    uint32_t token, module, code; /* of pdb_unit_procedure() */
};

enum {
    /* Bytes of a module's stream for each question about it: packing it costs what so many
     * questions cost. In bulk, when each module was met several times, more of them will come. */
    PACK_BYTES = 16 << 10,
    PACK_BYTES_BULK = 64 << 10,
    PACK_AFTER = 4,            /* questions at least */
    BULK_QUESTIONS = 6,        /* for each module of the PDB */
    BULK_QUESTIONS_LARGE = 2,  /* of a large file, of which each question may read a part again */
    KEPT_BYTES_MAX = 96 << 20, /* above it all modules that were read are forgotten */
    EXPECTED_QUESTIONS = 5,    /* for each module: each is packed at its first question */
    KEYS_AFTER = 256,          /* questions, and one for so many contributions: */
    KEYS_CONTRIBUTIONS = 16,   /* a table of their starts costs that many searches */
    READS_EACH = 4, /* of modules of a large file, until one looks how much of it is mapped */
    MEMORY_BYTES_MAX = 96 << 20, /* above it, with what is kept, that is given back */
};

#define LARGE_FILE_BYTES ((size_t)96 << 20)

/* What each answer of a packed module needs comes first: of a large PDB it is in no cache. */
struct module_read {
    uint32_t *numbers; /* of pdb_known_frames(), for each of own.codes; 0: ask the unit; NULL: not
                        * packed */
    uint32_t *starts;  /* of own.codes, just before their numbers, if they are of one section and
                        * none reaches into another; NULL: search own.codes */
    const char *compiland;
    uint32_t count;   /* of own.codes */
    uint32_t uses;    /* questions */
    uint16_t section; /* of STARTS */
    bool is_damaged;
    bool tried; /* to pack it */
    struct piece_module own;
};

struct pdb_lookup {
    const struct pdb *pdb;
    const struct file_map *map; /* NULL: its memory stays */
    struct pdb_known known;
    struct arena keep, scratch;
    struct arena hot; /* what each answer of a packed module reads first: close together */
    struct module_read **modules; /* by number; NULL: not read yet */
    size_t kept_most;
    uint64_t table_bytes; /* of their buffers */
    uint32_t reads;       /* of modules */
    uint64_t questions, expected;
    bool has_forgotten;      /* what was packed: not all of the PDB can be kept */
    uint64_t *contributions; /* see pdb_contribution_keys(); in LASTING; NULL: not made */
    bool contributions_tried;
    struct pdb_method *methods; /* by token; in LASTING */
    struct arena lasting;       /* what is never forgotten */
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
    lookup->kept_most = KEPT_BYTES_MAX;
    pdb_known_open(pdb, names, &lookup->known);
    arena_init(&lookup->keep, 0);
    arena_init(&lookup->scratch, 0);
    arena_init(&lookup->hot, 0);
    arena_init(&lookup->lasting, 0);
    lookup->modules = calloc((size_t)pdb->module_count + 1, sizeof(struct module_read *));
    if (lookup->modules == NULL) {
        pdb_lookup_close(lookup);
        return fault_no_memory(fault, "PDB lookup");
    }
    *out = lookup;
    return ERR_NONE;
}

static void close_modules(struct pdb_lookup *lookup)
{
    for (uint32_t i = 0; lookup->modules != NULL && i < lookup->pdb->module_count; i++) {
        if (lookup->modules[i] != NULL)
            index_module_free(&lookup->modules[i]->own);
        lookup->modules[i] = NULL;
    }
}

void pdb_lookup_close(struct pdb_lookup *lookup)
{
    if (lookup == NULL)
        return;
    close_modules(lookup);
    pdb_known_close(&lookup->known);
    arena_free(&lookup->keep);
    arena_free(&lookup->scratch);
    arena_free(&lookup->hot);
    arena_free(&lookup->lasting);
    free(lookup->modules);
    free(lookup);
}

void pdb_lookup_bound(struct pdb_lookup *lookup, const struct file_map *map, size_t kept_bytes)
{
    lookup->kept_most = kept_bytes != 0 ? kept_bytes : KEPT_BYTES_MAX;
    if (map->data == lookup->pdb->msf.data && map->bytes > LARGE_FILE_BYTES)
        lookup->map = map;
}

static uint64_t kept_bytes(const struct pdb_lookup *lookup)
{
    return lookup->keep.used_bytes + lookup->hot.used_bytes + lookup->table_bytes +
           lookup->known.packed.count;
}

void pdb_lookup_expect(struct pdb_lookup *lookup, uint64_t questions)
{
    lookup->expected = questions;
}

/* Called where records of a module are read. The system maps between 64 KiB and 2 MiB for each page
 * that is read, so what is mapped is asked and not counted. */
static void count_read(struct pdb_lookup *lookup)
{
    if (lookup->map == NULL || ++lookup->reads % READS_EACH != 0)
        return;
    const uint64_t mapped_bytes = memory_mapped_bytes();
    if (mapped_bytes == 0 || mapped_bytes + kept_bytes(lookup) > MEMORY_BYTES_MAX)
        file_release(lookup->map, 0, lookup->map->bytes);
}

/* Forgets all modules when they hold too much; called between two questions. */
static void limit_kept(struct pdb_lookup *lookup)
{
    if (kept_bytes(lookup) <= lookup->kept_most)
        return;
    lookup->has_forgotten = true;
    close_modules(lookup);
    pdb_known_forget(&lookup->known);
    arena_free(&lookup->keep);
    arena_free(&lookup->hot);
    lookup->table_bytes = 0;
}

/* The name of a procedure; of a large file a copy, because the system would have to map the module
 * again where its name is printed. */
static const char *name_of(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                           const struct pdb_procedure *procedure)
{
    struct pdb_names *names = &lookup->known.worker.names;
    const char *name = pdb_names_procedure(names, unit, procedure);
    return name == procedure->name && lookup->map != NULL ? arena_string(&names->keep, name) : name;
}

static uint32_t pack_code(struct pdb_lookup *lookup, struct module_read *module, uint32_t code)
{
    const struct pdb_unit *unit = &module->own.unit;
    struct pdb_procedure procedure;
    return pdb_unit_procedure(unit, code, &procedure) && pdb_known_takes(&procedure)
               ? pdb_known_procedure(&lookup->known, &module->own, &procedure,
                                     name_of(lookup, unit, &procedure))
               : 0;
}

/* True if a search in the starts of a module's codes alone finds the one of a place. */
static bool starts_suffice(const struct buffer *codes)
{
    const struct span *spans = codes->at;
    for (uint32_t i = 1; i < codes->count; i++)
        if (spans[i].section != spans[0].section || spans[i - 1].end > spans[i].start)
            return false;
    return codes->count != 0;
}

/* Packs all procedures of a module: a module of a large file is read once more for it, and its
 * memory can be given back. */
static void pack_module(struct pdb_lookup *lookup, struct module_read *module)
{
    module->tried = true;
    if (!pdb_known_module(&lookup->known, &module->own))
        return;
    const uint32_t count = module->own.codes.count;
    const struct span *spans = module->own.codes.at;
    uint32_t *starts = ARENA_ARRAY(&lookup->hot, 2 * (size_t)count + 1, uint32_t);
    if (starts == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        starts[i] = spans[i].start;
        starts[count + i] = pack_code(lookup, module, spans[i].number);
    }
    if (starts_suffice(&module->own.codes)) {
        module->section = spans[0].section;
        module->starts = starts;
    }
    index_module_shrink(&module->own);
    lookup->table_bytes += index_module_bytes(&module->own);
    module->count = count;
    module->numbers = starts + count;
}

/* True while each module is packed at its first question. */
static bool packs_at_once(const struct pdb_lookup *lookup)
{
    const uint64_t modules = lookup->pdb->module_count;
    return !lookup->has_forgotten && lookup->expected >= modules * EXPECTED_QUESTIONS &&
           lookup->expected != 0;
}

static bool packing_pays(const struct pdb_lookup *lookup, const struct module_read *module)
{
    const struct pdb_module *read = &module->own.unit.module;
    const uint64_t bytes = (uint64_t)read->symbol_bytes + read->c13_bytes;
    const uint64_t some = lookup->map != NULL ? BULK_QUESTIONS_LARGE : BULK_QUESTIONS;
    const uint64_t modules = lookup->pdb->module_count;
    if (packs_at_once(lookup))
        return true;
    return module->uses >= PACK_AFTER &&
           (uint64_t)module->uses *
                   (lookup->questions >= modules * some ? PACK_BYTES_BULK : PACK_BYTES) >=
               bytes;
}

static struct module_read *module_of(struct pdb_lookup *lookup, uint32_t number)
{
    if (number >= lookup->pdb->module_count)
        return NULL;
    struct module_read *module = lookup->modules[number];
    if (module == NULL) {
        module = ARENA_NEW(&lookup->hot, struct module_read);
        struct pdb_marks *marks = packs_at_once(lookup) ? &lookup->known.worker.marks : NULL;
        if (module == NULL ||
            !pdb_unit_open(lookup->pdb, number, &lookup->keep, marks, &module->own.unit))
            return NULL;
        lookup->modules[number] = module;
        module->compiland = module->own.unit.module.name;
        module->is_damaged = module->own.unit.is_damaged;
    }
    if (module->numbers == NULL)
        count_read(lookup);
    module->uses++;
    if (module->numbers == NULL && !module->tried && packing_pays(lookup, module))
        pack_module(lookup, module);
    return module;
}

static const struct pdb_unit *unit_of(struct pdb_lookup *lookup, uint32_t number)
{
    const struct module_read *module = module_of(lookup, number);
    return module != NULL ? &module->own.unit : NULL;
}

/* As pdb_unit_code_at(), of a packed module: an index of own.codes. Where their starts suffice,
 * what is there may have ended before PLACE. */
static int64_t known_at(const struct module_read *module, struct pdb_place place)
{
    const struct buffer *codes = &module->own.codes;
    const struct span *spans = codes->at;
    int64_t found = -1;
    if (module->starts != NULL) {
        if (place.section != module->section)
            return -1;
        will_read(module->starts, 2 * (size_t)module->count * sizeof *module->starts);
        return (int64_t)array_upper(module->starts, module->count, sizeof *module->starts,
                                    sizeof *module->starts, place.offset) -
               1;
    }
    for (uint32_t i = index_first_span(codes, place.section, place.offset);
         i < codes->count && spans[i].section == place.section && spans[i].start <= place.offset;
         i++)
        if (spans[i].end > place.offset)
            found = i; /* sorted: the last one counts */
    return found;
}

static void set_line(struct pdb_lookup *lookup, const struct pdb_unit *unit, struct pdb_place place,
                     struct symbol_frame *frame)
{
    struct pdb_line_row row;
    if (!pdb_unit_line_at(unit, place, &row))
        return;
    frame->line = row.line;
    frame->file = pdb_names_file(&lookup->known.worker.names, unit, row.file);
}

static void set_inlined(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                        const struct unit_site *site, struct symbol_frame *frame)
{
    struct pdb_inlinee inlinee;
    frame->inlined = true;
    frame->function = pdb_names_inlinee(&lookup->known.worker.names, unit, site->inlinee);
    if (!pdb_unit_inlinee(unit, site->inlinee, &inlinee))
        return;
    const uint32_t file = site->file == UNIT_INLINEE_FILE ? inlinee.file : site->file;
    frame->line = pdb_line_sane(inlinee.line + (uint32_t)site->line_delta);
    frame->file = pdb_names_file(&lookup->known.worker.names, unit,
                                 pdb_checksum_file(&unit->subsections, file));
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

/* Fills lines, files and inlined functions. Returns the number of inlined functions. */
static uint32_t set_places(struct pdb_lookup *lookup, const struct pdb_unit *unit,
                           const struct pdb_procedure *procedure, struct pdb_place place,
                           struct symbol_frame *out)
{
    const uint32_t distance = place.offset - procedure->start.offset;
    const uint32_t depth = set_sites(lookup, unit, procedure, distance, out);
    memset(&out[depth], 0, sizeof out[depth]);
    set_line(lookup, unit, place, &out[depth]);
    return depth;
}

/* What all DEPTH + 1 frames have in common. */
static void complete(const struct module_read *module, uint32_t distance, uint32_t depth,
                     struct symbol_frame *out)
{
    for (uint32_t i = 0; i <= depth; i++) {
        out[i].distance = distance;
        out[i].from = SYMBOLS_PDB;
        out[i].compiland = module->compiland;
        out[i].note = module->is_damaged ? NOTE_PDB_PART_DAMAGED : NOTE_NONE;
    }
}

static uint32_t frames_in_procedure(struct pdb_lookup *lookup, const struct module_read *module,
                                    uint32_t code, struct pdb_place place, struct symbol_frame *out)
{
    const struct pdb_unit *unit = &module->own.unit;
    struct pdb_procedure procedure;
    if (!pdb_unit_procedure(unit, code, &procedure))
        return 0;
    const uint32_t depth = set_places(lookup, unit, &procedure, place, out);
    out[depth].function = name_of(lookup, unit, &procedure);
    complete(module, place.offset - unit->codes[code].start.offset, depth, out);
    if (procedure.kind == PDB_CODE_TRAMPOLINE && !unit->is_damaged && out[depth].function != NULL)
        out[depth].note = NOTE_LINK_JUMP;
    return depth + 1;
}

/* The frames of code AT of a packed module; 0: it has ended before PLACE. */
static uint32_t frames_in_known(struct pdb_lookup *lookup, const struct module_read *module,
                                int64_t at, struct pdb_place place, struct symbol_frame *out)
{
    const struct span *span = (const struct span *)module->own.codes.at + at;
    if (module->numbers[at] == 0)
        return place.offset < span->end
                   ? frames_in_procedure(lookup, module, span->number, place, out)
                   : 0;
    const uint32_t start = module->starts != NULL ? module->starts[at] : span->start;
    const uint32_t distance = place.offset - start;
    const uint32_t count = pdb_known_frames(&lookup->known, module->numbers[at], distance, out);
    if (count != 0)
        complete(module, distance, count - 1, out);
    return count;
}

/* The frames of a code of MODULE that contains PLACE; false: there is none. */
static bool frames_in_module(struct pdb_lookup *lookup, const struct module_read *module,
                             struct pdb_place place, struct symbol_frame *out, uint32_t *count)
{
    if (module->numbers != NULL) {
        const int64_t at = known_at(module, place);
        *count = at >= 0 ? frames_in_known(lookup, module, at, place, out) : 0;
        return *count != 0;
    }
    const int64_t code = pdb_unit_code_at(&module->own.unit, place);
    if (code >= 0)
        *count = frames_in_procedure(lookup, module, (uint32_t)code, place, out);
    return code >= 0;
}

/* A jump of an incremental link that no record of a module describes. */
static uint32_t frame_of_jump(struct pdb_lookup *lookup, const struct pdb_jump *jump,
                              struct pdb_place place, struct symbol_frame *out)
{
    memset(out, 0, sizeof *out);
    out->function = pdb_names_jump(&lookup->known.worker.names, jump->target);
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
    count_read(lookup);
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
        out->function = name_of(lookup, unit, &procedure);
        out->distance = place.offset - procedure.start.offset;
    } else if (has_public) {
        out->function = pdb_names_public(&lookup->known.worker.names, &pub);
        out->distance = place.offset - pub.place.offset;
    }
    if (inside && unit != NULL)
        set_line(lookup, unit, place, out);
    return contribution != NULL || has_public ? 1 : 0;
}

static bool contribution_before(struct pdb_lookup *lookup, struct pdb_place place,
                                struct pdb_contribution *out)
{
    if (!lookup->contributions_tried &&
        lookup->questions >= KEYS_AFTER + lookup->pdb->contribution_count / KEYS_CONTRIBUTIONS) {
        lookup->contributions_tried = true;
        lookup->contributions = pdb_contribution_keys(lookup->pdb, &lookup->lasting);
    }
    return lookup->contributions != NULL
               ? pdb_contribution_before_by(lookup->pdb, lookup->contributions, place, out)
               : pdb_contribution_before(lookup->pdb, place, out);
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
    limit_kept(lookup);
    lookup->questions++;
    const bool after = contribution_before(lookup, place, &contribution);
    const bool inside = after && place.offset - contribution.start.offset < contribution.bytes;
    if (inside) {
        const struct module_read *module = module_of(lookup, contribution.module);
        uint32_t count;
        if (module != NULL && frames_in_module(lookup, module, place, out, &count))
            return count;
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

ARRAY_ORDER(by_token, struct pdb_method, token)

/* Notes the methods of all modules, once; a module is kept only when one of its methods is asked
 * about. */
static void read_methods(struct pdb_lookup *lookup)
{
    uint32_t room = 0;
    struct pdb_procedure procedure;
    for (uint32_t m = 0; m < lookup->pdb->module_count; m++) {
        struct pdb_unit unit;
        arena_reset(&lookup->scratch);
        if (!pdb_unit_open(lookup->pdb, m, &lookup->scratch, NULL, &unit))
            continue;
        for (uint32_t i = 0; i < unit.code_count; i++) {
            if (!pdb_unit_procedure(&unit, i, &procedure) || !procedure.is_managed ||
                procedure.kind != PDB_CODE_PROCEDURE)
                continue;
            if (!ARENA_ROOM(&lookup->lasting, lookup->methods, room,
                            (uint64_t)lookup->method_count + 1))
                return;
            lookup->methods[lookup->method_count++] = (struct pdb_method){procedure.type, m, i};
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
    out->function = name_of(lookup, unit, &procedure);
    if (il < procedure.bytes) {
        const struct pdb_place place = {.offset = procedure.start.offset + il,
                                        .section = procedure.start.section};
        set_line(lookup, unit, place, out);
    }
    return 1;
}
