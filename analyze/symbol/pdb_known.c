/* See pdb_known.h.
 *
 * A packed procedure is a header, its pieces sorted by start, and its scopes. All records of a kind
 * have the same size, so that both are found without reading others; each field has as many bytes
 * as its largest value in this procedure needs. A bulk of addresses in a PDB of 400 MB keeps 40 MB
 * this way. */
#include "symbol/pdb_known.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum field {
    PIECE_START, /* bytes after the start of the procedure */
    PIECE_SCOPE,
    PIECE_LINE,
    SCOPE_BACK, /* to the scope it is inlined into; 0: this is the procedure */
    SCOPE_NAME, /* text of the inlined function, less name_base, plus 1; 0: none */
    SCOPE_FILE,
    SCOPE_LINE, /* of the call */
    FIELDS,
};
#define PIECE_FIELDS SCOPE_BACK /* those before it */

struct header {
    const char *name; /* of the procedure */
    uint32_t bytes;   /* of its code */
    uint32_t pieces, name_base;
    uint8_t width[FIELDS]; /* in bytes */
    uint8_t piece_bytes, scope_bytes;
};

/* A field is read and written as four bytes. */
enum { LOAD_SLACK = 4, CODE_BYTES_MAX = 16 << 20 };

/* Of a large PDB all of it is in no cache: a search that waits for each line of it takes a quarter
 * longer. Most procedures have fewer bytes. */
enum { SOON_BYTES = 576 };

void pdb_known_open(const struct pdb *pdb, enum symbol_names names, struct pdb_known *out)
{
    memset(out, 0, sizeof *out);
    out->worker.pdb = pdb;
    out->worker.one_by_one = true;
    pdb_names_open(pdb, names, &out->worker.names);
}

void pdb_known_close(struct pdb_known *known)
{
    index_worker_close(&known->worker);
    free(known->packed.at);
}

void pdb_known_forget(struct pdb_known *known)
{
    free(known->packed.at);
    known->packed = (struct buffer){NULL, 0, 0};
}

bool pdb_known_module(struct pdb_known *known, struct piece_module *module)
{
    struct piece_worker *worker = &known->worker;
    if (!known->is_open && !index_worker_ready(worker->pdb, worker))
        return false;
    known->is_open = true;
    worker->now = *module;
    index_module_sort(worker);
    *module = worker->now;
    memset(&worker->now, 0, sizeof worker->now);
    const bool done = !worker->failed;
    worker->failed = false;
    return done;
}

/* ---- packing ---- */

/* A piece that says the same as the one before it is left out. */
static uint64_t says(struct piece piece)
{
    return piece.packed >> PIECE_STEP_BITS;
}

struct scope_values {
    uint32_t back, name, file, line; /* see enum field */
};

static struct scope_values values_of(const struct scope_slot *scopes, uint32_t number,
                                     uint32_t name_base)
{
    const struct scope_slot *scope = &scopes[number];
    struct scope_values out = {.file = scope->file};
    if (scope->parent == 0)
        return out;
    out.back = number - scope->parent;
    out.name = scope->name != 0 ? scope->name - name_base + 1 : 0;
    out.line = scope->line;
    return out;
}

/* What is written too much, the next value overwrites. */
static uint8_t *put(uint8_t *to, uint32_t value, uint32_t width)
{
    store_u32(to, value);
    return to + width;
}

static uint8_t width_of(uint32_t most)
{
    return (uint8_t)((most != 0) + (most >> 8 != 0) + (most >> 16 != 0) + (most >> 24 != 0));
}

/* The header of what the worker has made of one procedure, but for its name and size. */
static struct header measure(const struct piece_worker *worker)
{
    const struct piece *pieces = worker->pieces.at;
    const struct scope_slot *scopes = worker->scopes.at;
    uint32_t most[FIELDS] = {0}, start = 0, last = 0;
    uint64_t before = UINT64_MAX, any = 0;
    struct header header = {.name_base = UINT32_MAX};
    for (uint32_t i = 0; i < worker->pieces.count; i++) {
        start += piece_step(pieces[i]);
        if (says(pieces[i]) == before)
            continue;
        before = says(pieces[i]);
        any |= pieces[i].packed;
        last = start;
        header.pieces++;
    }
    most[PIECE_START] = last;
    most[PIECE_SCOPE] = piece_scope((struct piece){any});
    most[PIECE_LINE] = piece_line((struct piece){any});
    for (uint32_t i = 1; i < worker->scopes.count; i++)
        if (scopes[i].parent != 0 && scopes[i].name != 0 && scopes[i].name < header.name_base)
            header.name_base = scopes[i].name;
    for (uint32_t i = 1; i < worker->scopes.count; i++) {
        const struct scope_values scope = values_of(scopes, i, header.name_base);
        most[SCOPE_BACK] |= scope.back;
        most[SCOPE_NAME] |= scope.name;
        most[SCOPE_FILE] |= scope.file;
        most[SCOPE_LINE] |= scope.line;
    }
    for (uint32_t i = 0; i < FIELDS; i++) {
        header.width[i] = width_of(most[i]);
        *(i < PIECE_FIELDS ? &header.piece_bytes : &header.scope_bytes) += header.width[i];
    }
    return header;
}

/* Returns the number of what is packed; 0: out of memory. */
static uint32_t pack(struct pdb_known *known, const char *name, uint32_t code_bytes)
{
    struct piece_worker *worker = &known->worker;
    const struct piece *pieces = worker->pieces.at;
    struct header header = measure(worker);
    const uint64_t bytes = sizeof header + (uint64_t)header.pieces * header.piece_bytes +
                           (uint64_t)worker->scopes.count * header.scope_bytes;
    const uint64_t end = known->packed.count + bytes + LOAD_SLACK;
    uint8_t *packed =
        end < UINT32_MAX ? array_reserve(known->packed.at, &known->packed.room, end, 1) : NULL;
    uint32_t start = 0;
    uint64_t before = UINT64_MAX;
    if (packed == NULL)
        return 0;
    known->packed.at = packed;
    header.name = name;
    header.bytes = code_bytes;
    uint8_t *to = packed + known->packed.count;
    memcpy(to, &header, sizeof header);
    to += sizeof header;
    for (uint32_t i = 0; i < worker->pieces.count; i++) {
        start += piece_step(pieces[i]);
        if (says(pieces[i]) == before)
            continue;
        before = says(pieces[i]);
        to = put(to, start, header.width[PIECE_START]);
        to = put(to, piece_scope(pieces[i]), header.width[PIECE_SCOPE]);
        to = put(to, piece_line(pieces[i]), header.width[PIECE_LINE]);
    }
    for (uint32_t i = 1; i < worker->scopes.count; i++) {
        const struct scope_values scope = values_of(worker->scopes.at, i, header.name_base);
        to = put(to, scope.back, header.width[SCOPE_BACK]);
        to = put(to, scope.name, header.width[SCOPE_NAME]);
        to = put(to, scope.file, header.width[SCOPE_FILE]);
        to = put(to, scope.line, header.width[SCOPE_LINE]);
    }
    const uint32_t number = known->packed.count + 1;
    known->packed.count = (uint32_t)(to - packed);
    return number;
}

bool pdb_known_takes(const struct pdb_procedure *procedure)
{
    return procedure->bytes != 0 && procedure->bytes <= CODE_BYTES_MAX &&
           procedure->bytes <= UINT32_MAX - procedure->start.offset &&
           procedure->kind != PDB_CODE_TRAMPOLINE;
}

uint32_t pdb_known_procedure(struct pdb_known *known, struct piece_module *module,
                             const struct pdb_procedure *procedure, const char *name)
{
    struct piece_worker *worker = &known->worker;
    const struct pdb_place zero = {procedure->start.section, 0};
    const uint32_t start = procedure->start.offset;
    index_worker_restart(worker);
    worker->now = *module;
    index_claim(worker, pdb_source_rva(worker->pdb, zero) + start);
    (void)index_procedure(worker, procedure, 0, start, start + procedure->bytes);
    *module = worker->now;
    memset(&worker->now, 0, sizeof worker->now);
    const bool done = !worker->failed && worker->pieces.count != 0;
    worker->failed = false;
    return done ? pack(known, name, procedure->bytes) : 0;
}

/* ---- answers ---- */

static uint32_t field(const uint8_t *at, uint32_t width)
{
    return width != 0 ? load_u32(at) & UINT32_MAX >> (32 - 8 * width) : 0;
}

/* The last piece that starts at or before DISTANCE; the first one starts at 0. */
static const uint8_t *piece_at(const struct header *header, const uint8_t *pieces,
                               uint32_t distance)
{
    uint32_t low = 0, high = header->pieces;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (field(pieces + (size_t)middle * header->piece_bytes, header->width[PIECE_START]) <=
            distance)
            low = middle;
        else
            high = middle;
    }
    return pieces + (size_t)low * header->piece_bytes;
}

uint32_t pdb_known_frames(struct pdb_known *known, uint32_t number, uint32_t distance,
                          struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct piece_worker *worker = &known->worker;
    const uint32_t *files = worker->files.at;
    const struct index_text *texts = worker->texts.at;
    const uint8_t *at = (const uint8_t *)known->packed.at + number - 1;
    struct header h;
    const uint32_t left = known->packed.count - (number - 1);
    will_read(at, left < SOON_BYTES ? left : SOON_BYTES);
    memcpy(&h, at, sizeof h);
    if (distance >= h.bytes)
        return 0;
    at += sizeof h;
    const uint8_t *scopes = at + (size_t)h.pieces * h.piece_bytes;
    at = piece_at(&h, at, distance) + h.width[PIECE_START];
    uint32_t scope = field(at, h.width[PIECE_SCOPE]);
    uint32_t line = field(at + h.width[PIECE_SCOPE], h.width[PIECE_LINE]);
    for (uint32_t count = 0;;) {
        struct symbol_frame *frame = &out[count++];
        at = scopes + (size_t)(scope - 1) * h.scope_bytes;
        const uint32_t back = field(at, h.width[SCOPE_BACK]);
        at += h.width[SCOPE_BACK];
        const uint32_t name = field(at, h.width[SCOPE_NAME]);
        at += h.width[SCOPE_NAME];
        memset(frame, 0, sizeof *frame);
        frame->file = texts[files[field(at, h.width[SCOPE_FILE])]].at;
        frame->line = line;
        if (back == 0) {
            frame->function = h.name;
            return count;
        }
        frame->inlined = true;
        frame->function = name != 0 ? texts[h.name_base + name - 1].at : NULL;
        line = field(at + h.width[SCOPE_FILE], h.width[SCOPE_LINE]);
        scope -= back;
    }
}
