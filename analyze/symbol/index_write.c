/* The tables of a symbol index and its file: from scopes, files and texts to bytes. The layout is
 * in index_layout.h, the steps are in index_write.h.
 *
 * Slots are written with 64 bits first, since only when all workers are done is it known how wide a
 * field has to be; index_tables_narrow() then closes the gaps. main() in main.rs with helper()
 * of util.rs inlined at its line 12, and worker() in main.rs become
 *
 *   strings  offset 1 main, 6 main.rs, 14 helper, 21 util.rs, 29 worker; 36 bytes
 *   files    06 00 00 00, 15 00 00 00: main.rs is file 1, util.rs is file 2
 *   widths   back 2 (2 slots from helper to main), file 2, name 5 (29); the line would need 4, and
 *            gets 23: a slot also has to hold a start of 32 bits. Together 32 bits.
 *   slots    32  0c 00 00 0a   main: back 0, from 3 (DWARF), file 1, name 1
 *            33  00 10 00 00         it starts at 0x1000
 *            34  32 00 00 74   helper: back 2, line 12, file 2, name 14
 *            35  0c 00 00 ea   worker: back 0, from 3, file 1, name 29
 *            36  80 10 00 00         it starts at 0x1080
 *
 * 0x74000032 is 2 | 12 << 2 | 2 << 25 | 14 << 27. Slots 0 to 31 are zeroes, so that scope 0 is
 * none; with zeroes up to 63 a worker's slots end at a byte and at a hint. 32 more follow. */
#include "symbol/index_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/prefetch.h"
#include "symbol/index_layout.h"

void index_tables_open(struct index_tables *tables, const struct piece_worker *workers,
                       uint32_t worker_count)
{
    memset(tables, 0, sizeof *tables);
    tables->workers = workers;
    tables->count = worker_count;
}

void index_tables_close(struct index_tables *tables)
{
    for (uint32_t i = 0; i < tables->count; i++) {
        free(tables->shares[i].slots.at);
        free(tables->strings[i].at);
        free(tables->slots[i].at);
        free(tables->slots[i].hints);
    }
    free(tables->files);
}

/* By the upper bits: the lower ones choose the slot in the table of the share. */
static uint32_t share_of(const struct index_tables *tables, const struct index_text *text)
{
    return (uint32_t)((uint64_t)text->hash * tables->count >> 32);
}

enum { TEXT_WORKER_SHIFT = 28 }; /* of the number of a text among those of all workers */

static_assert(INDEX_SHARES_MAX <= 1 << (32 - TEXT_WORKER_SHIFT), "workers fit");

static uint32_t text_number(uint32_t worker, uint32_t text)
{
    return worker << TEXT_WORKER_SHIFT | text;
}

static const struct index_text *text_of(const struct index_tables *tables, uint32_t number)
{
    const struct index_text *texts = tables->workers[number >> TEXT_WORKER_SHIFT].texts.at;
    return &texts[number & ((1U << TEXT_WORKER_SHIFT) - 1)];
}

/* Gives TEXT, whose number is NUMBER, the number of the first text that is equal. */
static bool find_equal(const struct index_tables *tables, struct index_share *share,
                       struct index_text *text, uint32_t number)
{
    uint32_t at = text->hash;
    struct slot *slot;
    if (!slots_reserve(&share->slots, 4096))
        return false;
    while ((slot = slots_next(&share->slots, text->hash, &at))->row != 0)
        if (strcmp(text_of(tables, slot->row)->at, text->at) == 0) {
            text->offset = slot->row;
            return true;
        }
    text->offset = number;
    slots_take(&share->slots, slot, text->hash, number);
    return true;
}

/* Prefetches a text that is needed soon. */
static void expect_text(const struct index_share *share, const struct index_text *text)
{
    PREFETCH(text->at);
    if (share->slots.count != 0)
        PREFETCH(&share->slots.at[text->hash & (share->slots.count - 1)]);
}

void index_tables_equal(struct index_tables *tables, uint32_t number)
{
    enum { AHEAD = 16 };
    struct index_share *share = &tables->shares[number];
    for (uint32_t i = 0; i < tables->count; i++) {
        struct index_text *texts = tables->workers[i].texts.at;
        const uint32_t count = tables->workers[i].texts.count;
        share->failed = share->failed || count >> TEXT_WORKER_SHIFT != 0;
        for (uint32_t j = 1; j < count && !share->failed; j++) {
            if (count - j > AHEAD && share_of(tables, &texts[j + AHEAD]) == number)
                expect_text(share, &texts[j + AHEAD]);
            if (share_of(tables, &texts[j]) == number)
                share->failed = !find_equal(tables, share, &texts[j], text_number(i, j));
        }
    }
}

static bool append(struct index_strings *strings, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    uint8_t *at = array_reserve(strings->at, &strings->room, strings->bytes + bytes, 1);
    if (at == NULL)
        return false;
    strings->at = at;
    memcpy(strings->at + strings->bytes, text, bytes);
    strings->bytes += bytes;
    return true;
}

void index_tables_strings(struct index_tables *tables, uint32_t worker)
{
    struct index_strings *strings = &tables->strings[worker];
    struct index_text *texts = tables->workers[worker].texts.at;
    const uint32_t count = tables->workers[worker].texts.count;
    for (uint32_t i = 0; i < tables->count; i++)
        strings->failed = strings->failed || tables->shares[i].failed;
    if (worker == 0 && !strings->failed) /* offset 0 is no string */
        strings->failed = !append(strings, "");
    for (uint32_t j = 1; j < count && !strings->failed; j++) {
        texts[j].hash = texts[j].offset;
        if (texts[j].hash != text_number(worker, j))
            continue;
        texts[j].offset = (uint32_t)strings->bytes;
        strings->failed = !append(strings, texts[j].at);
    }
}

/* The offset of a worker's text among all strings. */
static uint64_t string_at(const struct index_tables *tables, const struct piece_worker *worker,
                          uint32_t number)
{
    if (number == 0)
        return 0;
    const uint32_t first = ((const struct index_text *)worker->texts.at)[number].hash;
    return tables->strings[first >> TEXT_WORKER_SHIFT].first + text_of(tables, first)->offset;
}

bool index_tables_files(struct index_tables *tables)
{
    uint64_t strings = 0, files = 0;
    for (uint32_t i = 0; i < tables->count; i++) {
        tables->strings[i].first = strings;
        strings += tables->strings[i].bytes;
        tables->slots[i].first_file = (uint32_t)files + 1;
        files += tables->workers[i].files.count - 1;
        if (tables->strings[i].failed || strings > UINT32_MAX ||
            files >> SLOT_PROCEDURE_FILE_BITS != 0)
            return false;
    }
    tables->files = malloc(((size_t)files + 1) * sizeof *tables->files);
    for (uint32_t i = 0; tables->files != NULL && i < tables->count; i++) {
        const struct piece_worker *worker = &tables->workers[i];
        for (uint32_t j = 1; j < worker->files.count; j++)
            store_u32((uint8_t *)&tables->files[tables->file_count++],
                      (uint32_t)string_at(tables, worker, ((uint32_t *)worker->files.at)[j]));
    }
    return tables->files != NULL;
}

static void put_slot(struct index_slots *slots, uint64_t slot)
{
    store_u64(slots->at + INDEX_SLOT_BYTES * (size_t)slots->count++, slot);
}

static void put_inlined(struct index_slots *slots, uint64_t back, uint64_t name, uint64_t file,
                        uint64_t line)
{
    if (back < SLOT_WIDE && line >> SLOT_LINE_BITS == 0 && file >> SLOT_FILE_BITS == 0 &&
        name >> SLOT_NAME_BITS == 0) {
        put_slot(slots, back | line << 8 | file << 24 | name << 38);
        return;
    }
    slots->wide = true;
    slots->failed = slots->failed || back >> SLOT_WIDE_BACK_BITS != 0;
    put_slot(slots, SLOT_WIDE | back << 8 | name << 32);
    put_slot(slots, line | file << 32);
}

static void note_most(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

static void put_hint(struct index_slots *slots, uint32_t *hinted)
{
    store_u32((uint8_t *)&slots->hints[(*hinted)++], (uint32_t)slots->name_max);
}

void index_tables_scopes(struct index_tables *tables, uint32_t number)
{
    const struct piece_worker *worker = &tables->workers[number];
    struct index_slots *slots = &tables->slots[number];
    struct scope_slot *scopes = worker->scopes.at;
    const struct scope_root *roots = worker->roots.at;
    uint32_t hinted = 0;
    slots->at = malloc(((size_t)worker->scopes.count * 2 + SLOT_UNIT) * INDEX_SLOT_BYTES);
    slots->hints =
        malloc(((size_t)worker->scopes.count * 2 / SLOT_UNIT + 1) * sizeof *slots->hints);
    slots->failed = slots->at == NULL || slots->hints == NULL;
    for (uint32_t i = 1; !slots->failed && i < worker->scopes.count; i++) {
        struct scope_slot *scope = &scopes[i];
        const uint64_t name = string_at(tables, worker, scope->name);
        const uint64_t file = scope->file != 0 ? slots->first_file + scope->file - 1 : 0;
        scope->name = slots->count;
        while (hinted * SLOT_UNIT <= slots->count)
            put_hint(slots, &hinted);
        note_most(&slots->file_max, file);
        note_most(&slots->name_max, name);
        if (scope->parent != 0) {
            const uint64_t back = slots->count - scopes[scope->parent].name;
            note_most(&slots->back_max, back);
            note_most(&slots->line_max, scope->line);
            put_inlined(slots, back, name, file, scope->line);
            continue;
        }
        const struct scope_root *root = &roots[scope->line];
        const uint64_t compiland = string_at(tables, worker, root->compiland);
        note_most(&slots->name_max, compiland);
        put_slot(slots, SLOT_PROCEDURE | (uint64_t)root->from << 8 |
                            file << (8 + SLOT_PROCEDURE_FROM_BITS) | name << 32);
        put_slot(slots, root->start_rva | compiland << 32);
    }
    while (!slots->failed && hinted * SLOT_UNIT <= slots->count)
        put_hint(slots, &hinted);
}

/* As wide as the largest values need; 64 bits where they would need too many. */
static struct slot_widths choose_widths(const struct index_tables *tables)
{
    struct slot_widths w = {1, SLOT_PROCEDURE_FROM_BITS, 1, 1, 0};
    bool wide = false;
    for (uint32_t i = 0; i < tables->count; i++) {
        const struct index_slots *slots = &tables->slots[i];
        wide = wide || slots->wide;
        for (; slots->back_max >> w.back != 0; w.back++)
            continue;
        for (; slots->line_max >> w.line != 0; w.line++)
            continue;
        for (; slots->file_max >> w.file != 0; w.file++)
            continue;
        for (; slots->name_max >> w.name != 0; w.name++)
            continue;
    }
    while (!slots_hold_procedures(&w))
        w.line++;
    w.bits = w.back + w.line + w.file + w.name;
    if (!wide && w.bits <= SLOT_BITS_PACKED)
        return w;
    return (struct slot_widths){8, SLOT_LINE_BITS, SLOT_FILE_BITS, SLOT_NAME_BITS, SLOT_BITS_MAX};
}

bool index_tables_number(struct index_tables *tables)
{
    uint64_t slots = SLOT_UNIT; /* slot 0 is none */
    for (uint32_t i = 0; i < tables->count; i++) {
        struct index_slots *own = &tables->slots[i];
        own->used = own->count;
        /* each worker's begin at a byte and at a hint */
        while (!own->failed && own->count % SLOT_UNIT != 0)
            put_slot(own, 0);
        own->first = (uint32_t)slots;
        slots += own->count;
        if (own->failed || slots > UINT32_MAX - SLOT_UNIT)
            return false;
    }
    tables->slot_count = (uint32_t)slots + SLOT_UNIT; /* the last may be read as if it were two */
    tables->widths = choose_widths(tables);
    return true;
}

void index_tables_narrow(struct index_tables *tables, uint32_t number)
{
    const struct slot_widths w = tables->widths;
    const struct index_slots *slots = &tables->slots[number];
    const uint32_t low = w.line - SLOT_PROCEDURE_FROM_BITS; /* bits of the compiland by the line */
    uint8_t *to = slots->at;
    uint64_t pending = 0; /* bits not yet written */
    uint32_t pending_bits = 0;
    bool second = false; /* of a procedure */
    if (w.bits == SLOT_BITS_MAX)
        return;
    for (uint32_t i = 0; i < slots->count; i++) {
        const uint64_t slot = load_u64(slots->at + INDEX_SLOT_BYTES * (size_t)i);
        uint64_t line = slot >> 8 & 0xffff, file = slot >> 24 & ((1U << SLOT_FILE_BITS) - 1),
                 name = slot >> 38, packed;
        if (second) {
            packed = (slot & UINT32_MAX) | slot >> (32 + low) << 32;
            second = false;
        } else {
            if ((slot & 0xff) == SLOT_PROCEDURE && i < slots->used) {
                const uint64_t next = load_u64(slots->at + INDEX_SLOT_BYTES * ((size_t)i + 1));
                line = (slot >> 8 & ((1U << SLOT_PROCEDURE_FROM_BITS) - 1)) |
                       (next >> 32 & ((1U << low) - 1)) << SLOT_PROCEDURE_FROM_BITS;
                file = (slot & UINT32_MAX) >> (8 + SLOT_PROCEDURE_FROM_BITS);
                name = slot >> 32;
                second = true;
            }
            packed = (slot & 0xff) | line << w.back | file << (w.back + w.line) |
                     name << (w.back + w.line + w.file);
        }
        pending |= packed << pending_bits;
        pending_bits += w.bits;
        store_u64(to, pending);
        to += pending_bits / 8;
        pending = pending_bits < 64 ? pending >> pending_bits / 8 * 8 : 0;
        pending_bits %= 8;
    }
}

enum { FILE_PARTS_MAX = 5 * INDEX_SHARES_MAX + 4 * INDEX_SECTIONS };

struct image { /* the file being written */
    uint8_t head[INDEX_HEADER_BYTES];
    struct file_part parts[FILE_PARTS_MAX];
    uint32_t part_count;
    uint64_t bytes;
    struct index_summer sum;
};

static const uint8_t zeroes[INDEX_SLACK_BYTES];

static void add_part(struct image *image, const void *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    image->parts[image->part_count++] = (struct file_part){.data = data, .bytes = (size_t)bytes};
    image->bytes += bytes;
    index_sum_add(&image->sum, data, bytes);
}

/* Ends the section that began at offset FROM. */
static void end_section(struct image *image, enum index_section section, uint64_t from)
{
    uint8_t *at = image->head + HEADER_SECTIONS + 16 * (size_t)section;
    store_u64(at, from);
    store_u64(at + 8, image->bytes - from);
    add_part(image, zeroes, (64 - image->bytes % 64) % 64);
}

static void add_blocks(struct image *image, struct index_part *parts, uint32_t count)
{
    uint32_t before = 0; /* each part's groups count from its own blob */
    uint64_t from = image->bytes;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t groups = (parts[i].end - parts[i].first + GROUP_BUCKETS - 1) / GROUP_BUCKETS;
        for (uint32_t j = 0; j < groups; j++)
            store_u64((uint8_t *)&parts[i].groups[j], parts[i].groups[j] + before);
        before += (uint32_t)parts[i].blob_bytes;
        add_part(image, parts[i].groups, INDEX_GROUP_BYTES * (uint64_t)groups);
    }
    end_section(image, INDEX_GROUPS, from);
    from = image->bytes;
    for (uint32_t i = 0; i < count; i++)
        add_part(image, parts[i].blob, parts[i].blob_bytes);
    end_section(image, INDEX_BLOB, from);
}

static void add_tables(struct image *image, const struct index_tables *tables)
{
    uint64_t from = image->bytes;
    const uint64_t unit = (uint64_t)tables->widths.bits * SLOT_UNIT / 8; /* bytes */
    add_part(image, zeroes, unit);
    for (uint32_t i = 0; i < tables->count; i++)
        add_part(image, tables->slots[i].at, unit * (tables->slots[i].count / SLOT_UNIT));
    add_part(image, zeroes, unit);
    end_section(image, INDEX_SCOPES, from);
    from = image->bytes;
    add_part(image, tables->files, 4 * (uint64_t)tables->file_count);
    end_section(image, INDEX_FILES, from);
    from = image->bytes;
    for (uint32_t i = 0; i < tables->count; i++)
        add_part(image, tables->strings[i].at, tables->strings[i].bytes);
    end_section(image, INDEX_STRINGS, from);
}

static void add_hints(struct image *image, const struct index_tables *tables)
{
    const uint64_t from = image->bytes;
    add_part(image, zeroes, 4); /* of the first and the last SLOT_UNIT, which have no names */
    for (uint32_t i = 0; i < tables->count; i++)
        add_part(image, tables->slots[i].hints, 4 * (uint64_t)(tables->slots[i].count / SLOT_UNIT));
    add_part(image, zeroes, 4);
    end_section(image, INDEX_HINTS, from);
}

static void put_header(const struct index_source *source, const struct slot_widths *widths,
                       const struct index_part *parts, uint32_t part_count, struct image *image)
{
    uint8_t *head = image->head;
    store_u32(head + HEADER_SLOT_WIDTHS,
              widths->back | widths->line << 8 | widths->file << 16 | widths->name << 24);
    memcpy(head, INDEX_MAGIC, 8);
    store_u32(head + HEADER_VERSION, SYMBOL_INDEX_VERSION);
    store_u32(head + HEADER_NAMES, (uint32_t)source->key.names);
    store_u64(head + HEADER_FILE_BYTES, source->key.file_bytes);
    store_u64(head + HEADER_FILE_TIME, source->key.file_modified_ns);
    store_u64(head + HEADER_COMPANIONS, source->key.companions);
    store_u32(head + HEADER_IS_IMAGE, source->key.is_image);
    memcpy(head + HEADER_GUID, source->guid, 16);
    store_u32(head + HEADER_AGE, source->age);
    store_u32(head + HEADER_BUCKET_BYTES, BUCKET_BYTES);
    store_u32(head + HEADER_FIRST_RVA, parts[0].first_rva);
    store_u32(head + HEADER_BUCKETS, parts[part_count - 1].end);
    store_u64(head + HEADER_BODY_SUM, index_sum_end(&image->sum));
    store_u64(head + HEADER_SUM, index_sum(head, HEADER_SUM));
}

enum status index_write(const struct index_source *source, const struct index_tables *tables,
                        struct index_part *parts, uint32_t part_count, const char *path,
                        uint64_t *file_bytes, struct fault *fault)
{
    struct image image;
    uint64_t blob = 0;
    for (uint32_t i = 0; i < part_count; i++)
        blob += parts[i].blob_bytes;
    if (blob > UINT32_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "symbol index");
    memset(&image, 0, sizeof image);
    image.parts[image.part_count++] =
        (struct file_part){.data = image.head, .bytes = sizeof image.head};
    image.bytes = sizeof image.head;
    add_blocks(&image, parts, part_count);
    add_tables(&image, tables);
    const uint64_t from = image.bytes;
    add_part(&image, source->omap.data, source->omap.bytes);
    end_section(&image, INDEX_OMAP, from);
    add_hints(&image, tables);
    add_part(&image, zeroes, sizeof zeroes);
    put_header(source, &tables->widths, parts, part_count, &image);
    *file_bytes = image.bytes;
    return file_write_parts(path, image.parts, image.part_count, fault);
}

enum status index_write_pieces(const struct piece_worker *worker,
                               const struct symbol_index_key *key, uint32_t first, uint64_t end,
                               const char *path, struct symbol_index_cost *cost,
                               struct fault *fault)
{
    const struct index_source source = {.key = *key};
    struct index_tables tables;
    struct index_part part = {.first_rva = first, .end = (uint32_t)((end - first) >> BUCKET_SHIFT)};

    index_tables_open(&tables, worker, 1);
    index_pack_open(&part);
    index_tables_equal(&tables, 0);
    index_tables_strings(&tables, 0);
    bool good = index_tables_files(&tables);
    if (good)
        index_tables_scopes(&tables, 0);
    good = good && index_tables_number(&tables) && !part.failed;
    if (good) {
        index_tables_narrow(&tables, 0);
        index_pack_pieces(&part, first, worker->scopes.at, tables.slots[0].first, worker->pieces.at,
                          worker->pieces.count);
        index_pack_end(&part);
    }
    cost->ranges = part.piece_count;
    cost->nodes = tables.slot_count;
    if (!good || part.failed)
        fault_no_memory(fault, "symbol index");
    else
        (void)index_write(&source, &tables, &part, 1, path, &cost->index_bytes, fault);
    index_pack_close(&part);
    index_tables_close(&tables);
    return fault->code;
}
