/* See index_pieces.h. The pieces of a contribution: procedures, and between them the names from
 * publics and the rule of frame_without_procedure() in pdb_lookup.c. */
#include <string.h>

#include "base/array.h"
#include "symbol/index_pieces.h"

/* What names code outside every procedure. */
struct namer {
    uint32_t start_rva; /* 0 with text 0 and no public: code without a name */
    uint32_t text;
    bool is_public, is_jump;
};

struct stretch {
    struct piece_worker *worker;
    uint16_t section;
    uint32_t section_rva, from; /* start: names before it do not apply */
    int64_t code;               /* of unit.codes: the last that started; -1: none */
    uint32_t code_text;
    bool
        is_head; /* before the first contribution: where no public is before it, nothing is known */
};

/* Number of the last public at or before RVA in the list; -1: none. */
static int64_t public_before(const struct public_list *list, uint32_t rva)
{
    const uint32_t low =
        array_upper(list->rvas, list->count, sizeof *list->rvas, sizeof *list->rvas, rva);
    return (int64_t)low - 1;
}

static uint32_t code_text(struct stretch *s)
{
    struct pdb_procedure procedure;
    if (s->code_text == UINT32_MAX)
        s->code_text =
            pdb_unit_procedure(&s->worker->now.unit, (uint32_t)s->code, &procedure)
                ? index_text(s->worker, pdb_names_procedure(&s->worker->names, &s->worker->now.unit,
                                                            &procedure))
                : 0;
    return s->code_text;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The name of code at offset AT; *NEXT: the latest offset at which it changes. */
static struct namer name_at(struct stretch *s, uint32_t at, uint32_t *next)
{
    struct piece_worker *worker = s->worker;
    const struct public_list *list = worker->publics;
    const struct pdb_place place = {s->section, at};
    struct pdb_jump jump;
    if (pdb_jump_at(worker->pdb, place, &jump)) {
        *next = least(*next, jump.start.offset + jump.bytes);
        return (struct namer){.start_rva = s->section_rva + jump.start.offset,
                              .text =
                                  index_text(worker, pdb_names_jump(&worker->names, jump.target)),
                              .is_public = true,
                              .is_jump = true};
    }
    if (worker->pdb->jump_count != 0 && worker->pdb->jumps.section == s->section &&
        worker->pdb->jumps.offset > at)
        *next = least(*next, worker->pdb->jumps.offset);
    const int64_t last = public_before(list, s->section_rva + at);
    struct namer out = {0};
    if (last + 1 < (int64_t)list->count && list->rvas[last + 1] - s->section_rva < *next)
        *next = list->rvas[last + 1] - s->section_rva;
    const bool has_public = last >= 0 && list->rvas[last] >= s->section_rva + s->from;
    const uint32_t code_start = s->code >= 0 ? worker->now.unit.codes[s->code].start.offset : 0;
    if (s->code >= 0 && code_start >= s->from &&
        (!has_public || s->section_rva + code_start >= list->rvas[last])) {
        out.start_rva = s->section_rva + code_start;
        out.text = code_text(s);
    } else if (has_public) {
        struct pdb_public pub;
        out.start_rva = list->rvas[last];
        out.is_public = true;
        if (pdb_public(worker->pdb, list->numbers[last], NULL, &pub))
            out.text = index_public(worker, &pub);
    }
    return out;
}

/* Appends the pieces from AT to END; INSIDE a contribution, with its lines. */
static void add_stretch(struct stretch *s, uint32_t at, uint32_t end, bool inside)
{
    struct piece_worker *worker = s->worker;
    uint32_t row = 0;
    int64_t top = -1;
    worker->lines.count = 0;
    if (inside)
        index_read_lines(worker, s->section, at, end);
    struct event *lines = worker->lines.at;
    for (uint32_t next; at < end && !worker->failed; at = next) {
        next = end;
        const struct namer name = name_at(s, at, &next);
        for (; row < worker->lines.count && lines[row].start <= at; row++) {
            lines[row].below = (uint32_t)top;
            top = row;
        }
        while (top >= 0 && lines[top].end <= at)
            top = lines[top].below == UINT32_MAX ? -1 : (int64_t)lines[top].below;
        if (row < worker->lines.count)
            next = least(next, lines[row].start);
        uint32_t line = 0, file = 0;
        if (top >= 0 && !name.is_jump) {
            next = least(next, lines[top].end);
            line = lines[top].line;
            file = lines[top].file;
        }
        if (s->is_head && !name.is_public) {
            index_piece(worker, s->section_rva + at, 0, 0);
            continue;
        }
        const bool from_code = !name.is_public && name.start_rva != 0;
        uint32_t from = index_pdb_from(worker, name.is_public);
        if (name.is_jump)
            from = name.text != 0 ? (uint32_t)INDEX_FROM_JUMP_PUBLIC : (uint32_t)SYMBOLS_PDB_PUBLIC;
        const uint32_t scope = index_root(
            worker, name.text, file, from, name.start_rva != 0 ? name.start_rva : INDEX_NO_START,
            (inside && !name.is_jump) || from_code ? worker->now.compiland : 0);
        index_piece(worker, s->section_rva + at, scope, line);
    }
}

/* Outside the contributions of a FASTLINK PDB only jumps have names. */
static void add_jumps(struct stretch *s, uint32_t at, uint32_t end)
{
    const struct pdb *pdb = s->worker->pdb;
    for (uint32_t to; at < end && !s->worker->failed; at = to) {
        struct pdb_jump jump;
        const struct pdb_place place = {s->section, at};
        if (pdb_jump_at(pdb, place, &jump)) {
            to = least(end, jump.start.offset + jump.bytes);
            add_stretch(s, at, to, false);
            continue;
        }
        const bool before =
            pdb->jump_count != 0 && pdb->jumps.section == s->section && pdb->jumps.offset > at;
        to = before ? least(end, pdb->jumps.offset) : end;
        index_piece(s->worker, s->section_rva + at, 0, 0);
    }
}

void index_worker_contribution(struct piece_worker *worker, struct pdb_place start, uint32_t end,
                               uint32_t next)
{
    const struct pdb_place zero = {start.section, 0};
    struct stretch s = {
        worker,     start.section, pdb_source_rva(worker->pdb, zero), start.offset, -1,
        UINT32_MAX, false};
    struct span *spans = worker->now.codes.at;
    uint32_t code = index_first_span(&worker->now.codes, start.section, start.offset);
    uint32_t open[64], opened = 0; /* those that apply, the last started on top */
    for (uint32_t at = start.offset, to; at < end && !worker->failed; at = to) {
        for (; code < worker->now.codes.count && spans[code].section == start.section &&
               spans[code].start <= at;
             code++) {
            if (opened == COUNT_OF(open)) /* forget the outermost */
                memmove(open, open + 1, --opened * sizeof open[0]);
            open[opened++] = code;
            s.code = spans[code].number;
            s.code_text = UINT32_MAX;
        }
        while (opened != 0 && spans[open[opened - 1]].end <= at)
            opened--;
        to = end;
        if (code < worker->now.codes.count && spans[code].section == start.section)
            to = least(to, spans[code].start);
        if (opened == 0) {
            add_stretch(&s, at, to, true);
            continue;
        }
        const struct span *span = &spans[open[opened - 1]];
        struct pdb_procedure procedure;
        to = least(to, span->end);
        if (!pdb_unit_procedure(&worker->now.unit, span->number, &procedure)) {
            index_piece(worker, s.section_rva + at, 0, 0);
            continue;
        }
        const uint32_t name =
            index_text(worker, pdb_names_procedure(&worker->names, &worker->now.unit, &procedure));
        (void)index_procedure(worker, &procedure, name, at, to);
        if (s.code == span->number)
            s.code_text = name;
    }
    if (worker->pdb->fastlink) {
        add_jumps(&s, end, next);
        return;
    }
    for (uint32_t at = end, to; at < next && !worker->failed; at = to) {
        for (; code < worker->now.codes.count && spans[code].section == start.section &&
               spans[code].start <= at;
             code++) {
            s.code = spans[code].number;
            s.code_text = UINT32_MAX;
        }
        to = next;
        if (code < worker->now.codes.count && spans[code].section == start.section)
            to = least(to, spans[code].start);
        add_stretch(&s, at, to, false);
    }
}

void index_worker_head(struct piece_worker *worker, struct pdb_place start, uint32_t end)
{
    const struct pdb_place zero = {start.section, 0};
    struct stretch s = {worker,     start.section, pdb_source_rva(worker->pdb, zero), 0, -1,
                        UINT32_MAX, true};
    add_stretch(&s, start.offset, end, false);
}
