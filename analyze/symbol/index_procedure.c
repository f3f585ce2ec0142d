/* See index_pieces.h. Merges a procedure's lines and inline sites into pieces, in address order.
 *
 * An event applies from its start to its end; of several that apply, the one that started last is
 * chosen. So at each level the open events form a stack, linked by `below`. Level d has the rows of
 * sites nested d deep. Only rows whose site is a child of the site chosen at level d - 1 can be
 * chosen. A piece ends where the next event starts or a chosen one ends. */
#include <string.h>

#include "base/bytes.h"
#include "symbol/index_pieces.h"

enum { PLACES_MAX = 4096 };
#define NO_EVENT UINT32_MAX
#define NO_SITE UINT32_MAX

static uint64_t *keys_of(struct piece_worker *worker, struct buffer *buffer, uint32_t count)
{
    return index_more(worker, buffer, count, sizeof(uint64_t));
}

/* Merges the runs [0, a) and [a, n) of FROM into TO. */
static void merge_runs(const uint64_t *from, uint32_t a, uint32_t n, uint64_t *to)
{
    uint32_t i = 0, j = a, k = 0;
    while (i < a && j < n)
        to[k++] = from[i] <= from[j] ? from[i++] : from[j++];
    while (i < a)
        to[k++] = from[i++];
    while (j < n)
        to[k++] = from[j++];
}

/* Sorts keys by merging runs that are already sorted, as the rows of one site or table are. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, uint32_t count)
{
    for (;;) {
        uint32_t at = 0, runs = 0;
        while (at < count) {
            uint32_t a = at + 1;
            while (a < count && keys[a - 1] <= keys[a])
                a++;
            uint32_t b = a;
            if (b < count) {
                b++;
                while (b < count && keys[b - 1] <= keys[b])
                    b++;
            }
            if (runs == 0 && a == count)
                return keys;
            merge_runs(keys + at, a - at, b - at, spare + at);
            runs++;
            at = b;
        }
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
}

/* The order of events by start, stable, in a list of numbers; NULL: out of memory. */
static const uint64_t *order_of(struct piece_worker *worker, const struct event *events,
                                uint32_t count)
{
    uint64_t *keys = keys_of(worker, &worker->keys, count);
    uint64_t *spare = keys_of(worker, &worker->spare, count);
    if (keys == NULL || spare == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)events[i].start << 32 | i;
    return sort_keys(keys, spare, count);
}

/* The events of a procedure start at few places, close to each other: a list of events for each
 * place, and a bit for each list that is not empty, take less time than sorting. FROM: the first
 * place; SPAN: how many there are. */
static void place_events(const struct event *events, uint32_t count, uint32_t from, uint32_t span,
                         uint32_t *lists, struct event *out)
{
    uint64_t used[PLACES_MAX / 64];
    const uint32_t words = span / 64 + 1;
    uint32_t *next = lists + span;
    memset(lists, 0, span * sizeof *lists);
    memset(used, 0, words * sizeof *used);
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t place = events[i].start - from;
        next[i] = lists[place];
        lists[place] = i + 1;
        used[place / 64] |= 1ULL << place % 64;
    }
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t left = used[i]; left != 0; left &= left - 1)
            for (uint32_t at = lists[64 * i + low_zeroes(left)]; at != 0; at = next[at - 1])
                *out++ = events[at - 1];
}

/* Sorts events by start; the sort is stable. */
static void index_sort_events(struct piece_worker *worker, struct buffer *buffer)
{
    struct event *events = buffer->at;
    const uint32_t count = buffer->count;
    uint32_t from = UINT32_MAX, last = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        sorted = sorted && (i == 0 || events[i - 1].start <= events[i].start);
        from = events[i].start < from ? events[i].start : from;
        last = events[i].start > last ? events[i].start : last;
    }
    if (sorted)
        return;
    struct event *both = index_more(worker, buffer, 2 * count, sizeof *both);
    if (both == NULL)
        return;
    if (last - from < PLACES_MAX - 1) {
        const uint32_t span = last - from + 1;
        uint32_t *lists = index_more(worker, &worker->keys, span + count, sizeof(uint64_t));
        if (lists == NULL)
            return;
        memcpy(both + count, both, count * sizeof *both);
        place_events(both + count, count, from, span, lists, both);
        return;
    }
    const uint64_t *order = order_of(worker, both, count);
    if (order == NULL)
        return;
    memcpy(both + count, both, count * sizeof *both);
    for (uint32_t i = 0; i < count; i++)
        both[i] = both[count + (uint32_t)order[i]];
}

struct line_reader {
    struct piece_worker *worker;
    uint32_t end; /* of the table */
    uint32_t file_at, file;
};

static void read_line(void *context, const struct pdb_line_row *row)
{
    struct line_reader *reader = context;
    struct piece_worker *worker = reader->worker;
    if (row->offset >= reader->end)
        return;
    if (row->file.at != reader->file_at) {
        reader->file_at = row->file.at;
        reader->file = index_file(worker, row->file);
    }
    struct event *events =
        index_more(worker, &worker->lines, worker->lines.count + 1, sizeof *events);
    if (events == NULL)
        return;
    events[worker->lines.count++] =
        (struct event){row->offset, reader->end, row->line, reader->file, {.block = row->block}, 0};
}

/* Rows that share their start: at that byte, the first row with a line of the last block counts,
 * and only from the next byte on the last row. See pdb_unit_line_at(). */
static void part_equal_starts(struct event *lines, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && lines[end].start == lines[i].start;)
            end++;
        uint32_t first = end - 1;
        while (first > i && lines[first - 1].block == lines[end - 1].block)
            first--;
        while (first < end - 1 && lines[first].line == 0)
            first++;
        if (first == end - 1 ||
            (lines[first].line == lines[end - 1].line && lines[first].file == lines[end - 1].file))
            continue;
        lines[end - 2].line = lines[first].line;
        lines[end - 2].file = lines[first].file;
        lines[end - 1].start++;
    }
}

void index_read_lines(struct piece_worker *worker, uint16_t section, uint32_t from, uint32_t end)
{
    const struct span *spans = worker->now.ranges.at;
    worker->lines.count = 0;
    /* Tables that share an address are used in file order. They are few, so search for the next
     * number each time. */
    const uint32_t first = index_first_span(&worker->now.ranges, section, from);
    uint32_t last = first;
    while (last < worker->now.ranges.count && spans[last].section == section &&
           spans[last].start < end)
        last++;
    for (int64_t done = -1;;) {
        const struct span *next = NULL;
        for (uint32_t i = first; i < last; i++)
            if (spans[i].end > from && spans[i].number > done &&
                (next == NULL || spans[i].number < next->number))
                next = &spans[i];
        if (next == NULL)
            break;
        struct line_reader reader = {worker, next->end, UINT32_MAX, 0};
        pdb_line_rows(&worker->now.unit.module, &worker->now.unit.ranges[next->number],
                      &worker->now.unit.subsections, read_line, &reader);
        done = next->number;
    }
    index_sort_events(worker, &worker->lines);
    part_equal_starts(worker->lines.at, worker->lines.count);
}

/* The file that was asked for last: most sites of a procedure are of one. */
struct last_file {
    uint32_t at, file;
};

/* Adds a site and its rows as events; offsets become those of the section. */
static bool add_site(struct piece_worker *worker, const struct pdb_procedure *procedure,
                     const struct pdb_symbol *symbol, uint32_t parent, struct last_file *last)
{
    const uint8_t *annotations;
    uint32_t id, bytes;
    struct inline_site *sites =
        index_more(worker, &worker->sites, worker->sites.count + 1, sizeof *sites);
    if (sites == NULL)
        return false;
    struct inline_site *site = &sites[worker->sites.count++];
    site->parent = parent;
    site->depth = parent == NO_SITE ? 0 : sites[parent].depth + 1;
    site->name = 0;
    if (!pdb_inline_site(symbol, &id, &annotations, &bytes) || site->depth >= LIMIT_INLINE_DEPTH)
        return true;
    struct pdb_inline_row *rows = index_more(worker, &worker->rows, bytes / 2 + 1, sizeof *rows);
    struct inlinee_slot *inlinee = index_inlinee(worker, id);
    if (rows == NULL || inlinee == NULL)
        return false;
    const uint32_t count =
        pdb_inline_rows(annotations, bytes, UNIT_INLINEE_FILE, procedure->bytes, rows);
    struct event *events =
        index_more(worker, &worker->inlines, worker->inlines.count + count, sizeof *events);
    if (events == NULL)
        return false;
    if (count != 0)
        site->name = index_inlinee_name(worker, inlinee);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t own = rows[i].file == UNIT_INLINEE_FILE ? inlinee->file : rows[i].file;
        uint32_t line = 0, file = 0;
        if (inlinee->file != UINT32_MAX) {
            line = pdb_line_sane(inlinee->line + (uint32_t)rows[i].line_delta);
            if (own != last->at)
                *last = (struct last_file){
                    own, index_file(worker, pdb_checksum_file(&worker->now.unit.subsections, own))};
            file = last->file;
        }
        if (rows[i].start >= procedure->bytes)
            continue;
        const uint32_t base = procedure->start.offset;
        const uint32_t end = rows[i].end < procedure->bytes ? rows[i].end : procedure->bytes;
        events[worker->inlines.count++] = (struct event){
            base + rows[i].start, base + end, line, file, {worker->sites.count - 1}, 0};
    }
    return true;
}

/* The mark of the record at SOFF of the current module; NULL: it has none. */
static const uint32_t *mark_of(const struct piece_worker *worker, uint32_t soff)
{
    const struct pdb_marks *marks = &worker->marks;
    if (marks->module != worker->now.unit.module.index || marks->count == 0)
        return NULL;
    const uint32_t after =
        array_upper(marks->at, marks->count, sizeof *marks->at, sizeof *marks->at, soff);
    return after != 0 && marks->at[after - 1] == soff ? &marks->at[after - 1] : NULL;
}

/* Where the record after the locals at SOFF starts; moves *MARK, which may be NULL. */
static uint32_t next_record(const struct pdb_module *module, const uint32_t **mark, uint32_t soff)
{
    return *mark != NULL ? *++*mark : pdb_symbol_after_locals(module, soff);
}

/* Walks the records of a procedure and adds its sites, in the order of the file. */
static void read_sites(struct piece_worker *worker, const struct pdb_procedure *procedure)
{
    struct {
        uint32_t around, soff;
    } open[LIMIT_SCOPE_DEPTH]; /* at each level of scopes, the site and the scope around it */
    uint32_t depth = 0, around = NO_SITE, scope = procedure->soff;
    struct last_file last = {UINT32_MAX - 1, 0};
    struct pdb_symbol symbol;
    worker->sites.count = 0;
    worker->inlines.count = 0;
    if (!pdb_symbol_at(&worker->now.unit.module, procedure->soff, &symbol))
        return;
    const struct pdb_module *module = &worker->now.unit.module;
    const uint32_t *mark = mark_of(worker, procedure->soff);
    for (uint32_t soff = next_record(module, &mark, symbol.end_soff);
         soff < procedure->end_soff && pdb_symbol_at(module, soff, &symbol);
         soff = next_record(module, &mark, symbol.end_soff)) {
        if (pdb_symbol_closes(symbol.kind)) {
            if (depth == 0)
                return;
            around = open[--depth].around;
            scope = open[depth].soff;
        } else if (pdb_symbol_opens(symbol.kind) ||
                   pdb_symbol_is_unknown_scope(module, &symbol, scope)) {
            if (depth == LIMIT_SCOPE_DEPTH)
                return;
            open[depth].around = around;
            open[depth++].soff = scope;
            scope = symbol.soff;
            if (symbol.kind != PDB_INLINESITE && symbol.kind != PDB_INLINESITE2)
                continue;
            if (!add_site(worker, procedure, &symbol, around, &last))
                return;
            around = worker->sites.count - 1;
        }
    }
    index_sort_events(worker, &worker->inlines);
}

struct level {
    uint32_t top;              /* its last open event */
    const struct event *event; /* the one chosen last; NULL: none yet */
    uint32_t parent, line;     /* the scope and line that enclosed it */
    uint32_t scope;            /* the scope that was made for it */
};

struct sweep {
    struct piece_worker *worker;
    uint32_t next_line, next_inline; /* events not yet open */
    uint32_t line_top;
    uint32_t level_count; /* that ever had an event */
    struct level levels[LIMIT_INLINE_DEPTH];
};

static void open_events(struct sweep *sweep, uint32_t at)
{
    struct piece_worker *worker = sweep->worker;
    struct event *lines = worker->lines.at;
    struct event *inlines = worker->inlines.at;
    while (sweep->next_line < worker->lines.count && lines[sweep->next_line].start <= at) {
        lines[sweep->next_line].below = sweep->line_top;
        sweep->line_top = sweep->next_line++;
    }
    while (sweep->next_inline < worker->inlines.count && inlines[sweep->next_inline].start <= at) {
        struct event *event = &inlines[sweep->next_inline];
        const uint32_t depth = ((const struct inline_site *)worker->sites.at)[event->site].depth;
        while (sweep->level_count <= depth)
            sweep->levels[sweep->level_count++] = (struct level){NO_EVENT, NULL, 0, 0, 0};
        event->below = sweep->levels[depth].top;
        sweep->levels[depth].top = sweep->next_inline++;
    }
}

/* The open event of a level that started last and is a child of PARENT. */
static const struct event *choose(const struct sweep *sweep, struct level *level, uint32_t parent,
                                  uint32_t at)
{
    const struct event *events = sweep->worker->inlines.at;
    const struct inline_site *sites = sweep->worker->sites.at;
    while (level->top != NO_EVENT && events[level->top].end <= at)
        level->top = events[level->top].below;
    for (uint32_t i = level->top; i != NO_EVENT; i = events[i].below)
        if (events[i].end > at && sites[events[i].site].parent == parent)
            return &events[i];
    return NULL;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Nests the chosen events of all levels in SCOPE, which is at *LINE of its procedure. Returns the
 * innermost scope, its line in *LINE, and in *NEXT the latest offset at which it ends. */
static uint32_t nest(struct sweep *sweep, uint32_t scope, uint32_t at, uint32_t *line,
                     uint32_t *next)
{
    const struct inline_site *sites = sweep->worker->sites.at;
    uint32_t parent = NO_SITE;
    for (uint32_t i = 0; i < sweep->level_count; i++) {
        struct level *level = &sweep->levels[i];
        const struct event *event = choose(sweep, level, parent, at);
        if (event == NULL)
            break;
        if (event != level->event || scope != level->parent || *line != level->line) {
            level->event = event;
            level->parent = scope;
            level->line = *line;
            level->scope =
                index_inlined(sweep->worker, scope, sites[event->site].name, event->file, *line);
        }
        scope = level->scope;
        *line = event->line;
        parent = event->site;
        *next = least(*next, event->end);
    }
    return scope;
}

uint32_t index_procedure(struct piece_worker *worker, const struct pdb_procedure *procedure,
                         uint32_t name, uint32_t from, uint32_t end)
{
    struct sweep sweep;
    sweep.worker = worker;
    sweep.next_line = 0;
    sweep.next_inline = 0;
    sweep.line_top = NO_EVENT;
    sweep.level_count = 0;
    read_sites(worker, procedure);
    index_read_lines(worker, procedure->start.section, from, end);
    const struct event *lines = worker->lines.at;
    const struct event *inlines = worker->inlines.at;
    const struct pdb_place zero = {procedure->start.section, 0};
    const uint32_t section_rva = pdb_source_rva(worker->pdb, zero);
    uint32_t root = 0, root_file = 0;
    for (uint32_t at = from, next; at < end && !worker->failed; at = next) {
        open_events(&sweep, at);
        while (sweep.line_top != NO_EVENT && lines[sweep.line_top].end <= at)
            sweep.line_top = lines[sweep.line_top].below;
        next = end;
        uint32_t line = 0, file = 0; /* a line 0 may have a file: see pdb_line_row */
        if (sweep.line_top != NO_EVENT) {
            const struct event *event = &lines[sweep.line_top];
            line = event->line;
            file = event->file;
            next = least(next, event->end);
        }
        if (sweep.next_line < worker->lines.count)
            next = least(next, lines[sweep.next_line].start);
        if (sweep.next_inline < worker->inlines.count)
            next = least(next, inlines[sweep.next_inline].start);
        if (root == 0 || file != root_file)
            root = index_root(worker, name, file,
                              procedure->kind == PDB_CODE_TRAMPOLINE && name != 0 &&
                                      !worker->now.unit.is_damaged
                                  ? INDEX_FROM_JUMP
                                  : index_pdb_from(worker, false),
                              section_rva + procedure->start.offset, worker->now.compiland);
        root_file = file;
        const uint32_t scope = nest(&sweep, root, at, &line, &next);
        index_piece(worker, section_rva + at, scope, line);
    }
    return root;
}
