/* See index_pieces.h. The data of a worker: texts, scopes, pieces, and the tables of the current
 * module. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "symbol/index_pieces.h"

enum { INLINEES_LEAST = 64 };
enum { MEMO_SLOTS = 4096, MEMO_SLOTS_FEW = 64 }; /* few: for one procedure at a time */

static bool open_buffers(struct piece_worker *out)
{
    arena_init(&out->keep, 0);
    out->memo_slots = out->one_by_one ? MEMO_SLOTS_FEW : MEMO_SLOTS;
    out->memo = calloc(out->memo_slots, sizeof *out->memo);
    struct index_text *texts = index_more(out, &out->texts, 1, sizeof *texts);
    struct scope_slot *scopes = index_more(out, &out->scopes, 1, sizeof *scopes);
    uint32_t *files = index_more(out, &out->files, 1, sizeof *files);
    out->failed = out->memo == NULL || texts == NULL || scopes == NULL || files == NULL;
    if (out->failed)
        return false;
    memset(texts, 0, sizeof *texts); /* number 0 is none of each */
    memset(scopes, 0, sizeof *scopes);
    *files = 0;
    out->texts.count = 1;
    out->scopes.count = 1;
    out->files.count = 1;
    return true;
}

bool index_worker_open_empty(struct piece_worker *out)
{
    memset(out, 0, sizeof *out);
    arena_init(&out->names.keep, 0);
    return open_buffers(out);
}

void index_worker_restart(struct piece_worker *worker)
{
    worker->pieces.count = 0;
    worker->roots.count = 0;
    worker->scopes.count = 1;
    memset(worker->memo, 0, worker->memo_slots * sizeof *worker->memo);
}

bool index_worker_open(const struct pdb *pdb, enum symbol_names spelling,
                       const struct public_list *publics, struct piece_worker *out)
{
    memset(out, 0, sizeof *out);
    out->publics = publics;
    pdb_names_open(pdb, spelling, &out->names);
    return index_worker_ready(pdb, out);
}

bool index_worker_ready(const struct pdb *pdb, struct piece_worker *out)
{
    out->pdb = pdb;
    pdb_names_index(&out->names);
    if (out->names.ids.all != NULL) { /* as many as there are records */
        out->id_count = out->names.ids.end - out->names.ids.first;
        out->id_texts = calloc((size_t)out->id_count + 1, sizeof *out->id_texts);
    }
    return open_buffers(out);
}

void index_module_free(struct piece_module *module)
{
    free(module->codes.at);
    free(module->ranges.at);
    free(module->inlinees);
}

void index_module_shrink(struct piece_module *module)
{
    free(module->ranges.at);
    free(module->inlinees);
    module->ranges = (struct buffer){NULL, 0, 0};
    module->inlinees = NULL;
    module->inlinee_count = module->inlinee_room = 0;
}

uint64_t index_module_bytes(const struct piece_module *module)
{
    return ((uint64_t)module->codes.room + module->ranges.room) * sizeof(struct span) +
           (uint64_t)module->inlinee_room * sizeof *module->inlinees;
}

void index_worker_close(struct piece_worker *worker)
{
    struct buffer *const buffers[] = {&worker->pieces, &worker->scopes, &worker->roots,
                                      &worker->texts,  &worker->files,  &worker->inlines,
                                      &worker->lines,  &worker->sites,  &worker->rows,
                                      &worker->keys,   &worker->spare};
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        free(buffers[i]->at);
    free(worker->known);
    free(worker->marks.at);
    free(worker->id_texts);
    free(worker->memo);
    index_module_free(&worker->now);
    arena_free(&worker->keep);
    pdb_names_close(&worker->names);
}

static uint32_t text_hash(const char *text)
{
    size_t bytes = strlen(text);
    uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
    for (; bytes >= 8; text += 8, bytes -= 8) {
        hash = (hash ^ load_u64(text)) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; bytes != 0; text++, bytes--)
        hash = hash_byte(hash, (uint8_t)*text);
    return (uint32_t)(hash >> 16 ^ hash >> 40);
}

uint32_t index_text(struct piece_worker *worker, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return 0;
    if (worker->copies_texts &&
        (uintptr_t)text - (uintptr_t)worker->pdb->msf.data < worker->pdb->msf.bytes)
        text = arena_string(&worker->names.keep, text);
    if (text == NULL) {
        worker->failed = true;
        return 0;
    }
    struct index_text *texts =
        index_more(worker, &worker->texts, worker->texts.count + 1, sizeof *texts);
    if (texts == NULL)
        return 0;
    texts[worker->texts.count] = (struct index_text){text, text_hash(text), 0};
    return worker->texts.count++;
}

/* The slot of KEY among the known texts; its key is 0 when it is new. */
static struct known_text *known_text(struct piece_worker *worker, uint64_t key)
{
    if (worker->known_count * 2 >= worker->known_room) {
        const uint32_t room = worker->known_room != 0 ? worker->known_room * 2 : 1024;
        struct known_text *grown = calloc(room, sizeof *grown);
        if (grown == NULL) {
            worker->failed = true;
            return NULL;
        }
        for (uint32_t i = 0; i < worker->known_room; i++) {
            if (worker->known[i].key == 0)
                continue;
            uint32_t at = (uint32_t)((worker->known[i].key * 0x9e3779b97f4a7c15u) >> 32);
            while (grown[at & (room - 1)].key != 0)
                at++;
            grown[at & (room - 1)] = worker->known[i];
        }
        free(worker->known);
        worker->known = grown;
        worker->known_room = room;
    }
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32);
    while (worker->known[at & (worker->known_room - 1)].key != 0 &&
           worker->known[at & (worker->known_room - 1)].key != key)
        at++;
    return &worker->known[at & (worker->known_room - 1)];
}

enum { KNOWN_FILE = 1, KNOWN_MODULE_FILE, KNOWN_PUBLIC, KNOWN_CONSTANT, KNOWN_FILE_TEXT };

static uint32_t add_file(struct piece_worker *worker, const char *name)
{
    uint32_t *files = index_more(worker, &worker->files, worker->files.count + 1, sizeof *files);
    const uint32_t text = index_text(worker, name);
    if (files == NULL || text == 0)
        return 0;
    files[worker->files.count] = text;
    return worker->files.count++;
}

uint32_t index_file(struct piece_worker *worker, struct pdb_file file)
{
    if (file.at == UINT32_MAX)
        return 0;
    const uint64_t key = file.in_module
                             ? (uint64_t)KNOWN_MODULE_FILE << 60 |
                                   (uint64_t)worker->now.unit.module.index << 32 | file.at
                             : (uint64_t)KNOWN_FILE << 60 | file.at;
    struct known_text *slot = known_text(worker, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : 0;
    slot->key = key;
    slot->text = add_file(worker, pdb_names_file(&worker->names, &worker->now.unit, file));
    worker->known_count++;
    return slot->text;
}

uint32_t index_public(struct piece_worker *worker, const struct pdb_public *pub)
{
    const uint64_t key =
        (uint64_t)KNOWN_PUBLIC << 60 | (uint64_t)pub->place.section << 32 | pub->place.offset;
    struct known_text *slot = known_text(worker, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : 0;
    slot->key = key;
    slot->text = index_text(worker, pdb_names_public(&worker->names, pub));
    worker->known_count++;
    return slot->text;
}

uint32_t index_constant(struct piece_worker *worker, const char *text)
{
    const uint64_t key = (uint64_t)KNOWN_CONSTANT << 60 | (uint64_t)(uintptr_t)text;
    struct known_text *slot = text != NULL ? known_text(worker, key) : NULL;
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : 0;
    slot->key = key;
    slot->text = index_text(worker, text);
    worker->known_count++;
    return slot->text;
}

uint32_t index_file_text(struct piece_worker *worker, const char *name)
{
    const uint64_t key =
        (uint64_t)KNOWN_FILE_TEXT << 60 | (hash_text(HASH_START, name) & (UINT64_MAX >> 4));
    struct known_text *slot = known_text(worker, key);
    if (slot == NULL)
        return 0;
    if (slot->key == key) {
        const uint32_t text = ((const uint32_t *)worker->files.at)[slot->text];
        if (strcmp(((const struct index_text *)worker->texts.at)[text].at, name) == 0)
            return slot->text;
        return add_file(worker, name); /* another name with the same hash */
    }
    const uint32_t file = add_file(worker, name);
    if (file != 0) {
        slot->key = key;
        slot->text = file;
        worker->known_count++;
    }
    return file;
}

void index_claim(struct piece_worker *worker, uint32_t start_rva)
{
    worker->piece_rva = start_rva;
}

void index_far_piece(struct piece_worker *worker, uint32_t start_rva, struct piece piece)
{
    uint32_t step = start_rva - worker->piece_rva;
    struct piece *pieces = index_more(
        worker, &worker->pieces, worker->pieces.count + step / PIECE_STEP_MAX + 1, sizeof *pieces);
    if (pieces == NULL)
        return;
    uint64_t last = worker->pieces.count != 0 ? pieces[worker->pieces.count - 1].packed : 0;
    last |= PIECE_STEP_MAX;
    for (; step > PIECE_STEP_MAX; step -= PIECE_STEP_MAX) /* on as before */
        pieces[worker->pieces.count++].packed = last;
    pieces[worker->pieces.count++].packed = piece.packed | step;
    worker->piece_rva = start_rva;
}

static struct scope_memo *memo_of(struct piece_worker *worker, uint32_t parent, uint32_t name,
                                  uint32_t file, uint32_t line)
{
    uint32_t hash = parent * 0x9e3779b1u;
    hash = (hash ^ name) * 0x85ebca6bu;
    hash = (hash ^ file) * 0xc2b2ae35u;
    hash = (hash ^ line) * 0x9e3779b1u;
    return &worker->memo[(hash >> 16) & (worker->memo_slots - 1)];
}

static bool remembers(const struct scope_memo *memo, uint32_t parent, uint32_t name, uint32_t file,
                      uint32_t line)
{
    return memo->slot != 0 && memo->parent == parent && memo->name == name && memo->file == file &&
           memo->line == line;
}

static uint32_t add_scope(struct piece_worker *worker, struct scope_slot scope)
{
    struct scope_slot *scopes =
        index_more(worker, &worker->scopes, worker->scopes.count + 1, sizeof *scopes);
    if (scopes == NULL)
        return 0;
    scopes[worker->scopes.count] = scope;
    return worker->scopes.count++;
}

static_assert((int)SYMBOLS_COUNT <= (int)INDEX_FROM_DAMAGED, "numbers of the index file");

uint32_t index_pdb_from(const struct piece_worker *worker, bool is_public)
{
    if (worker->now.unit.is_damaged)
        return is_public ? INDEX_FROM_DAMAGED_PUBLIC : INDEX_FROM_DAMAGED;
    return is_public ? SYMBOLS_PDB_PUBLIC : SYMBOLS_PDB;
}

uint32_t index_root(struct piece_worker *worker, uint32_t name, uint32_t file, uint32_t from,
                    uint32_t start_rva, uint32_t compiland)
{
    /* Larger than any scope number, so that keys of roots and of inlined scopes never collide. */
    const uint32_t kind = 1U << 31 | from << 24 | (compiland & 0xffffff);
    struct scope_memo *memo = memo_of(worker, kind, name, file, start_rva);
    if (remembers(memo, kind, name, file, start_rva))
        return memo->slot;
    struct scope_root *roots =
        index_more(worker, &worker->roots, worker->roots.count + 1, sizeof *roots);
    if (roots == NULL)
        return 0;
    roots[worker->roots.count] = (struct scope_root){start_rva, compiland, from};
    const struct scope_slot scope = {name, 0, file, worker->roots.count++};
    *memo = (struct scope_memo){kind, name, file, start_rva, add_scope(worker, scope)};
    return memo->slot;
}

uint32_t index_inlined(struct piece_worker *worker, uint32_t parent, uint32_t name, uint32_t file,
                       uint32_t line)
{
    struct scope_memo *memo = memo_of(worker, parent, name, file, line);
    if (!remembers(memo, parent, name, file, line)) {
        const struct scope_slot scope = {name, parent, file, line};
        *memo = (struct scope_memo){parent, name, file, line, add_scope(worker, scope)};
    }
    return memo->slot;
}

/* Inlinees of the module, by id: an open-addressing table, emptied by changing the stamp. */
static struct inlinee_slot *inlinee_slot(struct piece_worker *worker, uint32_t id)
{
    uint32_t at = (id * 0x9e3779b1u) >> 8;
    for (;; at++) {
        struct inlinee_slot *slot = &worker->now.inlinees[at & (worker->now.inlinee_room - 1)];
        if (slot->stamp != worker->now.stamp || slot->id == id)
            return slot;
    }
}

static bool grow_inlinees(struct piece_worker *worker)
{
    const uint32_t room =
        worker->now.inlinee_room != 0 ? worker->now.inlinee_room * 2 : INLINEES_LEAST;
    struct inlinee_slot *old = worker->now.inlinees;
    struct inlinee_slot *grown = calloc(room, sizeof *grown);
    if (grown == NULL) {
        worker->failed = true;
        return false;
    }
    const uint32_t old_room = worker->now.inlinee_room;
    worker->now.inlinees = grown;
    worker->now.inlinee_room = room;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].stamp == worker->now.stamp)
            *inlinee_slot(worker, old[i].id) = old[i];
    free(old);
    return true;
}

struct inlinee_slot *index_inlinee(struct piece_worker *worker, uint32_t id)
{
    if (worker->now.inlinee_count * 2 >= worker->now.inlinee_room && !grow_inlinees(worker))
        return NULL;
    struct inlinee_slot *slot = inlinee_slot(worker, id);
    if (slot->stamp != worker->now.stamp) {
        *slot = (struct inlinee_slot){id, worker->now.stamp, UINT32_MAX, 0, UINT32_MAX};
        worker->now.inlinee_count++;
    }
    return slot;
}

uint32_t index_inlinee_name(struct piece_worker *worker, struct inlinee_slot *slot)
{
    if (slot->name != UINT32_MAX)
        return slot->name;
    const uint32_t id = pdb_names_global_id(&worker->names, &worker->now.unit, slot->id);
    const uint32_t number = id - worker->names.ids.first;
    const bool noted = worker->id_texts != NULL && number < worker->id_count;
    if (noted && worker->id_texts[number] != 0) {
        slot->name = worker->id_texts[number] - 1;
    } else {
        slot->name = index_text(worker, pdb_names_id(&worker->names, id));
        if (noted)
            worker->id_texts[number] = slot->name + 1;
    }
    return slot->name;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->number > y->number ? -1 : x->number < y->number; /* the first record ends on top */
}

static void sort_spans(struct buffer *buffer)
{
    struct span *spans = buffer->at;
    bool sorted = true;
    if (spans == NULL)
        return;
    for (uint32_t i = 1; i < buffer->count && sorted; i++)
        sorted = compare_spans(&spans[i - 1], &spans[i]) < 0;
    if (!sorted)
        qsort(spans, buffer->count, sizeof *spans, compare_spans);
    for (uint32_t i = 0; i < buffer->count; i++) {
        const bool follows = i != 0 && spans[i - 1].section == spans[i].section;
        spans[i].reach =
            follows && spans[i - 1].reach > spans[i].end ? spans[i - 1].reach : spans[i].end;
    }
}

uint32_t index_first_span(const struct buffer *buffer, uint16_t section, uint32_t from)
{
    const struct span *spans = buffer->at;
    uint32_t low = 0, high = buffer->count;
    while (low < high) { /* the first that starts after FROM */
        const uint32_t middle = low + (high - low) / 2;
        if (spans[middle].section < section ||
            (spans[middle].section == section && spans[middle].start <= from))
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && spans[low - 1].section == section && spans[low - 1].reach > from)
        low--;
    return low;
}

static uint32_t end_of(uint32_t start, uint32_t bytes)
{
    return bytes < UINT32_MAX - start ? start + bytes : UINT32_MAX;
}

void index_module_sort(struct piece_worker *worker)
{
    const struct pdb_unit *u = &worker->now.unit;
    worker->now.codes.count = 0;
    worker->now.ranges.count = 0;
    worker->now.inlinee_count = 0;
    worker->now.stamp++;
    struct span *to = index_more(worker, &worker->now.codes, u->code_count, sizeof *to);
    for (uint32_t i = 0; to != NULL && i < u->code_count; i++)
        to[worker->now.codes.count++] = (struct span){
            u->codes[i].start.offset, end_of(u->codes[i].start.offset, u->codes[i].bytes), 0, i,
            u->codes[i].start.section};
    to = index_more(worker, &worker->now.ranges, u->range_count, sizeof *to);
    for (uint32_t i = 0; to != NULL && i < u->range_count; i++)
        to[worker->now.ranges.count++] = (struct span){
            u->ranges[i].start.offset, end_of(u->ranges[i].start.offset, u->ranges[i].bytes), 0, i,
            u->ranges[i].start.section};
    sort_spans(&worker->now.codes);
    sort_spans(&worker->now.ranges);

    struct pdb_inlinee_cursor cursor = {0};
    struct pdb_inlinee inlinee;
    while (pdb_inlinee_next(&u->module, &cursor, &inlinee)) {
        struct inlinee_slot *slot = index_inlinee(worker, inlinee.id);
        if (slot == NULL)
            return;
        if (slot->file != UINT32_MAX || slot->line != 0)
            continue; /* of several records the first one counts */
        slot->file = inlinee.file;
        slot->line = inlinee.line;
    }
}

void index_worker_module(struct piece_worker *worker, uint32_t number)
{
    arena_reset(&worker->keep);
    if (!pdb_unit_open(worker->pdb, number, &worker->keep, &worker->marks, &worker->now.unit)) {
        worker->failed = true;
        return;
    }
    worker->now.compiland = index_text(worker, worker->now.unit.module.name);
    index_module_sort(worker);
}
