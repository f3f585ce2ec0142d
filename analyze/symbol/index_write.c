/* See index_write.h. */
#include "symbol/index_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/index_layout.h"

/* The string table: equal texts once. */
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

static void grow_strings(struct index_strings *strings, size_t bytes)
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

static uint32_t string_offset(struct index_strings *strings, const char *text)
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

void index_tables_open(struct index_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    grow_strings(&tables->strings, 1);
    if (tables->strings.failed)
        return;
    tables->strings.at[0] = '\0'; /* offset 0 is no string */
    tables->strings.bytes = 1;
}

void index_tables_close(struct index_tables *tables)
{
    free(tables->strings.at);
    free(tables->strings.slots);
    free(tables->files);
    free(tables->slots);
}

/* What a worker's numbers of texts become in the file. */
struct text_map {
    uint32_t *offset; /* string of each text */
    uint32_t *file;   /* number of file; 0: not a file yet */
};

static uint32_t file_number(struct index_tables *tables, struct text_map *map, uint32_t text)
{
    if (text == 0 || map->file[text] != 0)
        return map->file[text]; /* file 0 is none */
    if (tables->file_count == tables->file_room) {
        const uint32_t room = tables->file_room != 0 ? tables->file_room * 2 : 256;
        uint32_t *grown = realloc(tables->files, room * sizeof *grown);
        if (grown == NULL) {
            tables->failed = true;
            return 0;
        }
        tables->files = grown;
        tables->file_room = room;
    }
    tables->files[tables->file_count] = map->offset[text];
    map->file[text] = ++tables->file_count;
    tables->failed = tables->failed || tables->file_count >> SLOT_PROCEDURE_FILE_BITS != 0;
    return map->file[text];
}

static void put_slot(struct index_tables *tables, uint64_t slot)
{
    store_u64(tables->slots + INDEX_SLOT_BYTES * (size_t)tables->slot_count++, slot);
}

/* Writes a worker's scopes and leaves their numbers in them. */
static void put_scopes(struct index_tables *tables, const struct piece_worker *worker,
                       struct text_map *map)
{
    struct scope_slot *scopes = worker->scopes.at;
    const struct scope_root *roots = worker->roots.at;
    scopes[0].name = 0;
    for (uint32_t i = 1; i < worker->scopes.count; i++) {
        struct scope_slot *scope = &scopes[i];
        const uint32_t number = tables->slot_count;
        const uint64_t name = map->offset[scope->name];
        const uint64_t file = file_number(tables, map, scope->file);
        scope->name = number;
        if (scope->parent == 0) {
            const struct scope_root *root = &roots[scope->line];
            const uint64_t is_public = root->from == SYMBOLS_PDB_PUBLIC;
            put_slot(tables, SLOT_PROCEDURE | is_public << 8 | file << 9 | name << 32);
            put_slot(tables, root->start_rva | (uint64_t)map->offset[root->compiland] << 32);
            continue;
        }
        const uint64_t back = number - scopes[scope->parent].name, line = scope->line;
        if (back < SLOT_WIDE && line >> SLOT_LINE_BITS == 0 && file >> SLOT_FILE_BITS == 0 &&
            name >> SLOT_NAME_BITS == 0) {
            put_slot(tables, back | line << 8 | file << 24 | name << 38);
            continue;
        }
        tables->failed = tables->failed || back >> SLOT_WIDE_BACK_BITS != 0;
        put_slot(tables, SLOT_WIDE | back << 8 | name << 32);
        put_slot(tables, line | file << 32);
    }
}

static bool put_worker(struct index_tables *tables, const struct piece_worker *worker)
{
    const char *const *texts = worker->texts.at;
    struct text_map map = {malloc(worker->texts.count * sizeof *map.offset),
                           calloc(worker->texts.count, sizeof *map.file)};
    bool good = map.offset != NULL && map.file != NULL;
    if (good) {
        map.offset[0] = 0;
        for (uint32_t i = 1; i < worker->texts.count; i++)
            map.offset[i] = string_offset(&tables->strings, texts[i]);
        good = !tables->strings.failed;
    }
    if (good)
        put_scopes(tables, worker, &map);
    free(map.offset);
    free(map.file);
    return good && !tables->failed;
}

bool index_tables_fill(struct index_tables *tables, const struct piece_worker *workers,
                       uint32_t worker_count)
{
    uint64_t room = 2; /* slot 0 is none, and the last may be looked at as if it were two */
    for (uint32_t i = 0; i < worker_count; i++)
        room += 2 * (uint64_t)workers[i].scopes.count;
    if (tables->strings.failed || room > UINT32_MAX)
        return false;
    tables->slots = malloc((size_t)room * INDEX_SLOT_BYTES);
    if (tables->slots == NULL)
        return false;
    put_slot(tables, 0);
    for (uint32_t i = 0; i < worker_count; i++)
        if (!put_worker(tables, &workers[i]))
            return false;
    put_slot(tables, 0);
    return true;
}

struct image { /* the file in the making */
    uint8_t *at;
    uint64_t bytes;
    uint64_t section_at[INDEX_SECTIONS], section_bytes[INDEX_SECTIONS];
};

static void put_header(const struct index_source *source, const struct index_part *first,
                       uint32_t bucket_count, struct image *image)
{
    uint8_t *head = image->at;
    memcpy(head, INDEX_MAGIC, 8);
    store_u32(head + HEADER_VERSION, INDEX_VERSION);
    store_u32(head + HEADER_NAMES, (uint32_t)source->spelling);
    store_u64(head + HEADER_PDB_BYTES, source->pdb_file->bytes);
    store_u64(head + HEADER_PDB_TIME, source->pdb_file->modified_ns);
    memcpy(head + HEADER_GUID, source->pdb->guid, 16);
    store_u32(head + HEADER_AGE, source->pdb->age);
    store_u32(head + HEADER_BUCKET_BYTES, BUCKET_BYTES);
    store_u32(head + HEADER_FIRST_RVA, first->first_rva);
    store_u32(head + HEADER_BUCKETS, bucket_count);
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        store_u64(head + HEADER_SECTIONS + 16 * (size_t)i, image->section_at[i]);
        store_u64(head + HEADER_SECTIONS + 16 * (size_t)i + 8, image->section_bytes[i]);
    }
    store_u64(head + HEADER_BODY_SUM,
              index_sum(head + INDEX_HEADER_BYTES, image->bytes - INDEX_HEADER_BYTES));
    store_u64(head + HEADER_SUM, index_sum(head, HEADER_SUM));
}

/* Each part's blocks count from its own blob. */
static void put_parts(const struct index_part *parts, uint32_t count, uint8_t *buckets,
                      uint8_t *blob)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < parts[i].end - parts[i].first; j++, buckets += 4)
            store_u32(buckets, parts[i].buckets[j] + before);
        memcpy(blob + before, parts[i].blob, (size_t)parts[i].blob_bytes);
        before += (uint32_t)parts[i].blob_bytes;
    }
}

enum status index_write(const struct index_source *source, const struct index_tables *tables,
                        const struct index_part *parts, uint32_t part_count, const char *path,
                        uint64_t *file_bytes, struct fault *fault)
{
    uint64_t buckets = 0, blob = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        buckets += parts[i].end - parts[i].first;
        blob += parts[i].blob_bytes;
    }
    const struct pdb_table omap = source->pdb->omap_to_source;
    struct image image = {NULL, INDEX_HEADER_BYTES, {0}, {0}};
    const uint64_t sizes[INDEX_SECTIONS] = {4 * buckets,
                                            blob,
                                            INDEX_SLOT_BYTES * (uint64_t)tables->slot_count,
                                            4 * (uint64_t)tables->file_count,
                                            tables->strings.bytes,
                                            8 * (uint64_t)omap.count};
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        image.section_at[i] = image.bytes;
        image.section_bytes[i] = sizes[i];
        image.bytes = (image.bytes + sizes[i] + 63) & ~(uint64_t)63;
    }
    image.bytes += INDEX_SLACK_BYTES;
    image.at = blob <= UINT32_MAX ? calloc(1, (size_t)image.bytes) : NULL;
    if (image.at == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    put_parts(parts, part_count, image.at + image.section_at[INDEX_BUCKETS],
              image.at + image.section_at[INDEX_BLOB]);
    memcpy(image.at + image.section_at[INDEX_SCOPES], tables->slots, (size_t)sizes[INDEX_SCOPES]);
    for (uint32_t i = 0; i < tables->file_count; i++)
        store_u32(image.at + image.section_at[INDEX_FILES] + 4 * (size_t)i, tables->files[i]);
    memcpy(image.at + image.section_at[INDEX_STRINGS], tables->strings.at,
           (size_t)tables->strings.bytes);
    if (omap.count != 0)
        memcpy(image.at + image.section_at[INDEX_OMAP], omap.at, (size_t)sizes[INDEX_OMAP]);
    put_header(source, parts, (uint32_t)buckets, &image);
    *file_bytes = image.bytes;
    const enum status status = file_write(path, image.at, (size_t)image.bytes, fault);
    free(image.at);
    return status;
}
