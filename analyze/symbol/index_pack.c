/* See index_pack.h. */
#include "symbol/index_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { BUCKET_SHIFT = 6, BLOCK_BYTES_MAX = 16 + (1 << BUCKET_SHIFT) * 12 };

static void store_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void store_u64(uint8_t *to, uint64_t value)
{
    store_u32(to, (uint32_t)value);
    store_u32(to + 4, (uint32_t)(value >> 32));
}

static uint8_t *put_varint(uint8_t *to, uint32_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static uint32_t zigzag(uint32_t from, uint32_t to)
{
    const uint32_t delta = to - from;
    return delta << 1 ^ (delta >> 31 != 0 ? UINT32_MAX : 0);
}

void index_pack_open(struct index_packer *packer, const struct pdb *pdb,
                     const struct piece_worker *workers, uint32_t worker_count)
{
    uint32_t first = UINT32_MAX, base = 0;
    memset(packer, 0, sizeof *packer);
    packer->workers = workers;
    packer->worker_count = worker_count;
    packer->shift = BUCKET_SHIFT;
    for (uint32_t i = 1; i <= pdb->section_count; i++)
        if (pdb_is_code(pdb, (struct pdb_place){(uint16_t)i, 0}) &&
            pdb->sections[i - 1].rva < first)
            first = pdb->sections[i - 1].rva;
    packer->first_rva = first == UINT32_MAX ? 0 : first >> BUCKET_SHIFT << BUCKET_SHIFT;
    packer->slot_base = malloc(worker_count * sizeof *packer->slot_base);
    packer->failed = packer->slot_base == NULL;
    for (uint32_t i = 0; i < worker_count && !packer->failed; i++) {
        packer->slot_base[i] = base; /* each worker's slot 0 stays unused */
        base += workers[i].scopes.count;
    }
    packer->slot_count = base + 1; /* the last may be looked at as if it had a second one */
}

void index_pack_close(struct index_packer *packer)
{
    free(packer->slot_base);
    free(packer->blob);
    free(packer->buckets);
}

/* Writes the block of the bucket in work and goes on to the next. */
static void close_bucket(struct index_packer *packer)
{
    if (packer->blob_room - packer->blob_bytes < BLOCK_BYTES_MAX) {
        const uint64_t room = packer->blob_room != 0 ? packer->blob_room * 2 : 1U << 16;
        uint8_t *grown = room <= UINT32_MAX ? realloc(packer->blob, (size_t)room) : NULL;
        if (grown == NULL) {
            packer->failed = true;
            return;
        }
        packer->blob = grown;
        packer->blob_room = room;
    }
    if (packer->bucket_count + 2 > packer->bucket_room) {
        const uint32_t room = packer->bucket_room != 0 ? packer->bucket_room * 2 : 1024;
        uint32_t *grown = realloc(packer->buckets, room * sizeof *grown);
        if (grown == NULL) {
            packer->failed = true;
            return;
        }
        packer->buckets = grown;
        packer->bucket_room = room;
    }
    uint8_t *const start = packer->blob + packer->blob_bytes;
    uint8_t *to = start;
    uint32_t scope = packer->open_scope, line = packer->open_line;
    store_u32(to, scope);
    to = put_varint(to + 4, line);
    to = put_varint(to, packer->change_count);
    for (uint32_t i = 0; i < packer->change_count; i++) {
        const struct packed_change *change = &packer->changes[i];
        *to++ = (uint8_t)change->offset;
        to = put_varint(to, zigzag(scope, change->scope));
        to = put_varint(to, zigzag(line, change->line));
        scope = change->scope;
        line = change->line;
    }
    packer->buckets[packer->bucket_count++] = (uint32_t)packer->blob_bytes;
    packer->blob_bytes += (uint64_t)(to - start);
    packer->open_scope = scope;
    packer->open_line = line;
    packer->change_count = 0;
    packer->bucket++;
}

static void change_at(struct index_packer *packer, uint32_t rva, uint32_t scope, uint32_t line)
{
    if (packer->failed || rva < packer->first_rva ||
        (scope == packer->scope && line == packer->line))
        return;
    const uint32_t bucket = (rva - packer->first_rva) >> packer->shift;
    while (packer->bucket < bucket && !packer->failed)
        close_bucket(packer);
    const uint32_t offset = (rva - packer->first_rva) & ((1U << packer->shift) - 1);
    packer->scope = scope;
    packer->line = line;
    if (packer->change_count != 0 && packer->changes[packer->change_count - 1].offset == offset)
        packer->change_count--;
    if (offset == 0 && packer->change_count == 0) {
        packer->open_scope = scope;
        packer->open_line = line;
    } else {
        packer->changes[packer->change_count++] = (struct packed_change){offset, scope, line};
    }
    packer->piece_count++;
}

void index_pack_pieces(struct index_packer *packer, uint32_t worker, const struct piece *pieces,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        change_at(packer, pieces[i].start_rva,
                  pieces[i].scope != 0 ? pieces[i].scope + packer->slot_base[worker] : 0,
                  pieces[i].scope != 0 ? pieces[i].line : 0);
}

void index_pack_end(struct index_packer *packer, uint32_t rva)
{
    change_at(packer, rva, 0, 0);
}

/* The string table: equal texts once. */
struct strings {
    uint8_t *at;
    uint64_t bytes, room;
    uint32_t *slots; /* offsets, by the text's hash */
    uint32_t slot_count, used;
    bool failed;
};

static uint32_t text_hash(const char *text, size_t bytes)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
    for (; bytes >= 8; text += 8, bytes -= 8) {
        hash = (hash ^ load_u64(text)) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; bytes != 0; text++, bytes--)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return (uint32_t)(hash >> 16 ^ hash >> 40);
}

static void grow_strings(struct strings *strings, size_t bytes)
{
    if (strings->room - strings->bytes <= bytes) {
        const uint64_t room = (strings->room + bytes) * 2;
        uint8_t *grown = room <= UINT32_MAX ? realloc(strings->at, (size_t)room) : NULL;
        strings->failed = grown == NULL;
        if (strings->failed)
            return;
        strings->at = grown;
        strings->room = room;
    }
    if (strings->used * 2 < strings->slot_count)
        return;
    const uint32_t count = strings->slot_count != 0 ? strings->slot_count * 2 : 4096;
    uint32_t *slots = calloc(count, sizeof *slots);
    strings->failed = slots == NULL;
    if (strings->failed)
        return;
    for (uint32_t i = 0; i < strings->slot_count; i++) {
        if (strings->slots[i] == 0)
            continue;
        const char *text = (const char *)strings->at + strings->slots[i];
        uint32_t at = text_hash(text, strlen(text));
        while (slots[at & (count - 1)] != 0)
            at++;
        slots[at & (count - 1)] = strings->slots[i];
    }
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = count;
}

static uint32_t string_offset(struct strings *strings, const char *text)
{
    const size_t bytes = strlen(text);
    grow_strings(strings, bytes + 1);
    if (strings->failed)
        return 0;
    uint32_t at = text_hash(text, bytes);
    for (;; at++) {
        uint32_t *slot = &strings->slots[at & (strings->slot_count - 1)];
        if (*slot == 0) {
            *slot = (uint32_t)strings->bytes;
            strings->used++;
            memcpy(strings->at + strings->bytes, text, bytes + 1);
            strings->bytes += bytes + 1;
            return *slot;
        }
        if (strcmp((const char *)strings->at + *slot, text) == 0)
            return *slot;
    }
}

/* What the workers' numbers of texts become in the file. */
struct text_map {
    uint32_t *offset; /* string of each text */
    uint32_t *file;   /* number of file + 1; 0: not a file yet */
};

struct image { /* the file in the making */
    uint8_t *at;
    uint64_t bytes;
    uint64_t section_at[INDEX_SECTIONS], section_bytes[INDEX_SECTIONS];
};

struct files {
    uint32_t *strings;
    uint32_t count, room;
    bool failed;
};

static uint32_t file_number(struct files *files, struct text_map *map, uint32_t text)
{
    if (text == 0)
        return 0;
    if (map->file[text] == 0) {
        if (files->count == files->room) {
            const uint32_t room = files->room != 0 ? files->room * 2 : 256;
            uint32_t *grown = realloc(files->strings, room * sizeof *grown);
            files->failed = grown == NULL;
            if (files->failed)
                return 0;
            files->strings = grown;
            files->room = room;
        }
        files->strings[files->count] = map->offset[text];
        map->file[text] = ++files->count;
    }
    return map->file[text]; /* file 0 is none */
}

/* Rewrites a worker's slots in place: numbers of texts become those of the file. */
static void finish_slots(const struct piece_worker *worker, struct text_map *map,
                         struct files *files)
{
    struct scope_slot *slots = worker->scopes.at;
    for (uint32_t i = 1; i < worker->scopes.count; i++) {
        struct scope_slot *slot = &slots[i];
        const uint32_t text = slot->link >> 16 | slot->line >> 24 << 16;
        const uint32_t file = file_number(files, map, text);
        slot->name = map->offset[slot->name];
        slot->link = (slot->link & 0xffff) | (file & 0xffff) << 16;
        slot->line = (slot->line & 0xffffff) | file >> 16 << 24;
        if ((slot->link & 0xffff) == 0) { /* a procedure's second slot */
            i++;
            slots[i].link = map->offset[slots[i].link];
        }
    }
}

static bool map_texts(const struct piece_worker *worker, struct strings *strings,
                      struct text_map *map)
{
    const char *const *texts = worker->texts.at;
    map->offset = malloc(worker->texts.count * sizeof *map->offset);
    map->file = calloc(worker->texts.count, sizeof *map->file);
    if (map->offset == NULL || map->file == NULL)
        return false;
    map->offset[0] = 0;
    for (uint32_t i = 1; i < worker->texts.count; i++)
        map->offset[i] = string_offset(strings, texts[i]);
    return !strings->failed;
}

static bool finish_texts(const struct index_packer *packer, struct strings *strings,
                         struct files *files)
{
    bool good = true;
    grow_strings(strings, 1);
    if (strings->failed)
        return false;
    strings->at[0] = '\0'; /* offset 0 is no string */
    strings->bytes = 1;
    for (uint32_t i = 0; i < packer->worker_count && good; i++) {
        struct text_map map = {NULL, NULL};
        good = map_texts(&packer->workers[i], strings, &map);
        if (good)
            finish_slots(&packer->workers[i], &map, files);
        free(map.offset);
        free(map.file);
        good = good && !files->failed && files->count >> 24 == 0;
    }
    return good;
}

static void put_slots(const struct index_packer *packer, uint8_t *to)
{
    for (uint32_t i = 0; i < packer->worker_count; i++) {
        const struct scope_slot *slots = packer->workers[i].scopes.at;
        for (uint32_t j = 0; j < packer->workers[i].scopes.count; j++, to += INDEX_SLOT_BYTES) {
            store_u32(to, slots[j].name);
            store_u32(to + 4, slots[j].link);
            store_u32(to + 8, slots[j].line);
        }
    }
}

static void put_numbers(const uint32_t *numbers, uint32_t count, uint8_t *to)
{
    for (uint32_t i = 0; i < count; i++)
        store_u32(to + 4 * (size_t)i, numbers[i]);
}

static void put_header(const struct index_packer *packer, const struct pdb *pdb,
                       const struct file_map *pdb_file, enum symbol_names spelling,
                       struct image *image)
{
    uint8_t *head = image->at;
    memcpy(head, INDEX_MAGIC, 8);
    store_u32(head + HEADER_VERSION, INDEX_VERSION);
    store_u32(head + HEADER_NAMES, (uint32_t)spelling);
    store_u64(head + HEADER_PDB_BYTES, pdb_file->bytes);
    store_u64(head + HEADER_PDB_TIME, pdb_file->modified_ns);
    memcpy(head + HEADER_GUID, pdb->guid, 16);
    store_u32(head + HEADER_AGE, pdb->age);
    store_u32(head + HEADER_SHIFT, packer->shift);
    store_u32(head + HEADER_FIRST_RVA, packer->first_rva);
    store_u32(head + HEADER_BUCKETS, packer->bucket_count);
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        store_u64(head + HEADER_SECTIONS + 16 * (size_t)i, image->section_at[i]);
        store_u64(head + HEADER_SECTIONS + 16 * (size_t)i + 8, image->section_bytes[i]);
    }
    store_u64(head + HEADER_BODY_SUM,
              index_sum(head + INDEX_HEADER_BYTES, image->bytes - INDEX_HEADER_BYTES));
    store_u64(head + HEADER_SUM, index_sum(head, HEADER_SUM));
}

static enum status write_image(struct index_packer *packer, const struct pdb *pdb,
                               const struct file_map *pdb_file, enum symbol_names spelling,
                               const struct strings *strings, const struct files *files,
                               const char *path, struct fault *fault)
{
    struct image image = {NULL, INDEX_HEADER_BYTES, {0}, {0}};
    const uint64_t sizes[INDEX_SECTIONS] = {4 * (uint64_t)packer->bucket_count,
                                            packer->blob_bytes,
                                            INDEX_SLOT_BYTES * packer->slot_count,
                                            4 * (uint64_t)files->count,
                                            strings->bytes,
                                            8 * (uint64_t)pdb->omap_to_source.count};
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        image.section_at[i] = image.bytes;
        image.section_bytes[i] = sizes[i];
        image.bytes = (image.bytes + sizes[i] + 63) & ~(uint64_t)63;
    }
    image.bytes += INDEX_SLACK_BYTES;
    image.at = calloc(1, (size_t)image.bytes);
    if (image.at == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    put_numbers(packer->buckets, packer->bucket_count, image.at + image.section_at[INDEX_BUCKETS]);
    if (packer->blob_bytes != 0)
        memcpy(image.at + image.section_at[INDEX_BLOB], packer->blob, (size_t)packer->blob_bytes);
    put_slots(packer, image.at + image.section_at[INDEX_SCOPES]);
    put_numbers(files->strings, files->count, image.at + image.section_at[INDEX_FILES]);
    memcpy(image.at + image.section_at[INDEX_STRINGS], strings->at, (size_t)strings->bytes);
    if (pdb->omap_to_source.count != 0)
        memcpy(image.at + image.section_at[INDEX_OMAP], pdb->omap_to_source.at,
               8 * (size_t)pdb->omap_to_source.count);
    put_header(packer, pdb, pdb_file, spelling, &image);
    packer->file_bytes = image.bytes;
    const enum status status = file_write(path, image.at, (size_t)image.bytes, fault);
    free(image.at);
    return status;
}

enum status index_pack_write(struct index_packer *packer, const struct pdb *pdb,
                             const struct file_map *pdb_file, enum symbol_names spelling,
                             const char *path, struct fault *fault)
{
    struct strings strings = {NULL, 0, 0, NULL, 0, 0, false};
    struct files files = {NULL, 0, 0, false};
    if (!packer->failed)
        close_bucket(packer);
    if (packer->failed || !finish_texts(packer, &strings, &files))
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    else
        (void)write_image(packer, pdb, pdb_file, spelling, &strings, &files, path, fault);
    free(strings.at);
    free(strings.slots);
    free(files.strings);
    return fault->code;
}
