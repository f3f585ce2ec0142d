/* Counts and exports the contents of a PDB; see export.h.
 *
 * Ranges are found by calling pdb_lookup() at every address where the answer can change: where a
 * line starts and where inlined code starts or ends. So the export always agrees with a lookup. */
#include "symbol/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/csv.h"
#include "symbol/exporter.h"

static bool add_number(uint32_t **list, uint32_t *count, uint32_t *room, uint32_t value)
{
    if (!ARRAY_ROOM(*list, *room, (uint64_t)*count + 1))
        return false;
    (*list)[(*count)++] = value;
    return true;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Calls SITE for each inline site of the procedure. */
static void each_site(const struct pdb_unit *unit, const struct pdb_procedure *procedure,
                      void (*site)(void *context, const uint8_t *annotations, uint32_t bytes),
                      void *context)
{
    struct pdb_symbol symbol;
    for (uint32_t soff = procedure->soff;
         soff < procedure->end_soff && pdb_symbol_at(&unit->module, soff, &symbol);
         soff = symbol.end_soff) {
        uint32_t inlinee, bytes;
        const uint8_t *annotations;
        if (pdb_inline_site(&symbol, &inlinee, &annotations, &bytes))
            site(context, annotations, bytes);
    }
}

static void count_site(void *context, const uint8_t *annotations, uint32_t bytes)
{
    uint64_t *count = context;
    (void)annotations;
    (void)bytes;
    ++*count;
}

enum status symbol_count(const struct pdb *pdb, struct symbol_counts *out, struct fault *fault)
{
    struct arena arena;

    memset(out, 0, sizeof *out);
    arena_init(&arena, 0);
    for (uint32_t m = 0; m < pdb->module_count; m++) {
        struct pdb_unit unit;
        arena_reset(&arena);
        if (!pdb_unit_open(pdb, m, &arena, NULL, &unit)) {
            fault_no_memory(fault, "PDB module");
            break;
        }
        out->modules++;
        out->line_tables += unit.range_count;
        for (uint32_t i = 0; i < unit.code_count; i++) {
            struct pdb_procedure procedure;
            if (!pdb_unit_procedure(&unit, i, &procedure))
                continue;
            if (procedure.kind == PDB_CODE_THUNK)
                out->thunks++;
            else if (procedure.kind == PDB_CODE_PROCEDURE)
                out->procedures++;
            each_site(&unit, &procedure, count_site, &out->inline_sites);
        }
    }
    out->publics = pdb->address_map_count;
    arena_free(&arena);
    return fault->code;
}

struct break_target {
    struct exporter *e;
    const struct pdb_procedure *procedure;
    uint64_t last_row; /* offset of the row before; none: UINT64_MAX */
    bool enough;
};

static void add_break(struct break_target *to, uint64_t distance)
{
    struct exporter *e = to->e;
    if (distance < to->procedure->bytes)
        to->enough = to->enough &&
                     add_number(&e->breaks, &e->break_count, &e->break_room, (uint32_t)distance);
}

static void break_at_line(void *context, const struct pdb_line_row *row)
{
    struct break_target *to = context;
    const uint64_t start = to->procedure->start.offset;
    if (row->offset >= start)
        add_break(to, row->offset - start);
    if (row->offset >= start && row->offset == to->last_row)
        add_break(to, row->offset - start + 1); /* the first row has this byte, the last the rest */
    to->last_row = row->offset;
}

static void break_at_site(void *context, const uint8_t *annotations, uint32_t bytes)
{
    struct break_target *to = context;
    struct pdb_inline_row *rows = calloc((size_t)bytes / 2 + 1, sizeof *rows);
    if (rows == NULL) {
        to->enough = false;
        return;
    }
    const uint32_t count = pdb_inline_rows(annotations, bytes, 0, to->procedure->bytes, rows);
    for (uint32_t i = 0; i < count; i++) {
        add_break(to, rows[i].start);
        add_break(to, rows[i].end);
    }
    free(rows);
}

/* Fills e->breaks, sorted: every offset from the procedure's start where the answer may change. */
static bool find_breaks(struct exporter *e, const struct pdb_unit *unit,
                        const struct pdb_procedure *procedure)
{
    struct break_target to = {e, procedure, UINT64_MAX, true};
    const uint64_t end = (uint64_t)procedure->start.offset + procedure->bytes;

    e->break_count = 0;
    add_break(&to, 0);
    for (uint32_t i = 0; i < unit->range_count; i++) {
        const struct pdb_line_range *range = &unit->ranges[i];
        if (range->start.section != procedure->start.section || range->start.offset >= end ||
            (uint64_t)range->start.offset + range->bytes <= procedure->start.offset)
            continue;
        if (range->start.offset >= procedure->start.offset)
            add_break(&to, range->start.offset - procedure->start.offset);
        add_break(&to, (uint64_t)range->start.offset + range->bytes - procedure->start.offset);
        pdb_line_rows(&unit->module, range, &unit->subsections, break_at_line, &to);
    }
    each_site(unit, procedure, break_at_site, &to);
    if (e->break_count > 0)
        array_sort(e->breaks, e->break_count, sizeof *e->breaks, compare_numbers);
    return to.enough;
}

/* A row that the next segment may still extend. */
struct open_row {
    const char *name, *file;
    uint32_t line, start_rva;
    bool open;
};

static void close_row(struct exporter *e, struct open_row *row, uint32_t depth, uint32_t end_rva)
{
    if (row->open && end_rva > row->start_rva)
        csv_write(e->out, e->how->base + row->start_rva, end_rva - row->start_rva,
                  depth > 0 ? CSV_INLINE : CSV_LINE, row->name, row->file, row->line, depth);
    row->open = false;
}

static void export_ranges(struct exporter *e, const struct pdb_procedure *procedure, uint32_t rva)
{
    static const char unnamed[] = "?";
    struct open_row rows[SYMBOL_FRAMES_MAX];
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    uint32_t deepest = 0;

    rows[0].open = false;
    for (uint32_t i = 0; i < e->break_count; i++) {
        const uint32_t at = rva + e->breaks[i];
        if (i > 0 && e->breaks[i] == e->breaks[i - 1])
            continue;
        const uint32_t count = pdb_lookup(e->lookup, at, frames);
        for (uint32_t depth = 0; depth < count || depth <= deepest; depth++) {
            struct open_row *row = &rows[depth];
            if (depth > deepest) {
                row->open = false;
                deepest = depth;
            }
            if (depth >= count) {
                close_row(e, row, depth, at);
                continue;
            }
            const struct symbol_frame *frame = &frames[count - 1 - depth];
            const char *name = frame->function != NULL ? frame->function : unnamed;
            if (row->open && row->line == frame->line && text_equal(row->name, name) &&
                text_equal(row->file, frame->file))
                continue;
            close_row(e, row, depth, at);
            if (depth > 0 || frame->line != 0)
                *row = (struct open_row){name, frame->file, frame->line, at, true};
        }
    }
    for (uint32_t depth = 0; depth <= deepest; depth++)
        close_row(e, &rows[depth], depth, rva + procedure->bytes);
}

/* If several functions share one address (identical-code folding), a lookup returns one of them. */
static bool is_alias(struct exporter *e, const char *name, uint32_t rva)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count = pdb_lookup(e->lookup, rva, frames);
    return count > 0 && frames[count - 1].function != NULL &&
           strcmp(frames[count - 1].function, name) != 0;
}

/* ALIASES: prints the names that a lookup does not return, otherwise those that it does; a reader
 * uses the first of several names at one address. */
static bool export_unit(struct exporter *e, const struct pdb_unit *unit, bool aliases)
{
    for (uint32_t i = 0; i < unit->code_count; i++) {
        struct pdb_procedure procedure;
        struct pdb_line_row line = {0};
        uint32_t rva;
        if (!pdb_unit_procedure(unit, i, &procedure) || procedure.bytes == 0 ||
            !pdb_rva_of_place(e->pdb, procedure.start, &rva))
            continue;
        const char *name = pdb_names_procedure(&e->names, unit, &procedure);
        if (e->sink != NULL) {
            if (name == NULL || is_alias(e, name, rva))
                continue;
            if (!add_number(&e->starts, &e->start_count, &e->start_room, rva) ||
                !find_breaks(e, unit, &procedure) || !e->add_function(e, &procedure, rva, name))
                return false;
            continue;
        }
        const bool has_line = pdb_unit_line_at(unit, procedure.start, &line) && line.line != 0;
        if (name == NULL || is_alias(e, name, rva) != aliases)
            continue;
        if (!add_number(&e->starts, &e->start_count, &e->start_room, rva))
            return false;
        csv_write(e->out, e->how->base + rva, procedure.bytes, CSV_FUNCTION, name,
                  has_line ? pdb_names_file(&e->names, unit, line.file) : NULL, line.line, 0);
        if (!e->how->inlines || aliases)
            continue;
        if (!find_breaks(e, unit, &procedure))
            return false;
        export_ranges(e, &procedure, rva);
    }
    return true;
}

/* Code that no procedure record describes. */
static bool export_publics(struct exporter *e)
{
    bool good = true;
    if (e->start_count > 0)
        array_sort(e->starts, e->start_count, sizeof *e->starts, compare_numbers);
    for (uint32_t i = 0; i < e->pdb->address_map_count; i++) {
        struct pdb_public pub;
        uint32_t rva;
        if (!pdb_public(e->pdb, i, NULL, &pub) || !pdb_is_code(e->pdb, pub.place) ||
            !pdb_rva_of_place(e->pdb, pub.place, &rva))
            continue;
        if (e->start_count > 0 &&
            bsearch(&rva, e->starts, e->start_count, sizeof rva, compare_numbers) != NULL)
            continue;
        const char *name = pdb_names_public(&e->names, &pub);
        if (name != NULL && e->sink != NULL)
            good = good && e->add_public(e, rva, name);
        else if (name != NULL)
            csv_write(e->out, e->how->base + rva, 0, CSV_PUBLIC, name, NULL, 0, 0);
    }
    return good;
}

enum status export_open(struct exporter *e)
{
    pdb_names_open(e->pdb, e->how->names, &e->names);
    return pdb_lookup_open(e->pdb, e->how->names, &e->lookup, e->fault);
}

void export_close(struct exporter *e)
{
    pdb_names_close(&e->names);
    pdb_lookup_close(e->lookup);
    free(e->starts);
    free(e->breaks);
}

enum status export_all(struct exporter *e)
{
    struct arena arena;
    const uint32_t passes = e->sink != NULL ? 1 : 2;

    arena_init(&arena, 0);
    for (uint32_t pass = 0; pass < passes; pass++) {
        for (uint32_t m = 0; e->fault->code == ERR_NONE && m < e->pdb->module_count; m++) {
            struct pdb_unit unit;
            arena_reset(&arena);
            if (!pdb_unit_open(e->pdb, m, &arena, NULL, &unit) || !export_unit(e, &unit, pass > 0))
                fault_no_memory(e->fault, "PDB module");
        }
    }
    if (e->fault->code == ERR_NONE && !export_publics(e))
        fault_no_memory(e->fault, "publics of a PDB");
    arena_free(&arena);
    return e->fault->code;
}

enum status symbol_export_csv(const struct pdb *pdb, const struct symbol_export *how, FILE *out,
                              struct fault *fault)
{
    struct exporter e = {.pdb = pdb, .how = how, .out = out, .fault = fault};
    if (export_open(&e) == ERR_NONE)
        (void)export_all(&e);
    export_close(&e);
    if (ferror(out) != 0)
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "output");
    return fault->code;
}
