/* See symbol_index.h and index_layout.h. Every offset read from the file is checked before use, so
 * that at worst a damaged file gives wrong names, which the checksums detect.
 *
 * A lookup goes from the address to a scope and line, and from there outwards through the slots.
 * Of 0x101a, in the index that index_pack.c and index_write.c show:
 *
 *   bucket   0x101a - 0x1000 is 0x1a: bucket 0 of group 0, byte 0x1a of it
 *   block    line 3, scope 32, entries of 2 + 4 bits
 *   entry    bytes 0 to 0x1a have changes at 0x10 and 0x18: entry 2, from bit 12: scope 2, line 0
 *   spot     scope 32 + 2 = 34, line 3 + 0 = 3
 *   slot 34  helper, util.rs, back 2, line 12: the frame helper util.rs:3, inlined
 *   slot 32  main, main.rs, back 0: the frame main main.rs:12, 0x101a - 0x1000 = 26 bytes from
 *            its start
 *
 * The line of a slot is that of its call, so it belongs to the next frame. Each address has its
 * place, so there is no search; and bucket_of() asks for the group, the slots and the names, which
 * are far apart, before it waits for the first of them. */
#include "symbol/symbol_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/prefetch.h"
#include "symbol/index_layout.h"

#define SUM_FACTOR 0x9e3779b97f4a7c15u

struct section {
    const uint8_t *at;
    uint64_t bytes;
};

struct symbol_index {
    struct file_map map;
    struct section sections[INDEX_SECTIONS];
    uint32_t first_rva, bucket_count, slot_count, file_count, omap_count;
    uint32_t group_count, hint_count;
    struct slot_widths widths;
    bool is_image;
};

enum { SUM_BLOCK = sizeof((struct index_summer *)NULL)->pending };

static void sum_block(struct index_summer *summer, const uint8_t *at)
{
    for (int i = 0; i < 4; i++) {
        const uint64_t lane = (summer->lanes[i] ^ load_u64(at + 8 * (size_t)i)) * SUM_FACTOR;
        summer->lanes[i] = lane ^ lane >> 29;
    }
}

void index_sum_add(struct index_summer *summer, const void *data, uint64_t bytes)
{
    const uint8_t *at = data;
    while (bytes != 0) {
        const size_t held = summer->bytes % SUM_BLOCK;
        size_t take = bytes < SUM_BLOCK - held ? (size_t)bytes : SUM_BLOCK - held;
        if (held == 0 && bytes >= SUM_BLOCK) {
            take = (size_t)bytes / SUM_BLOCK * SUM_BLOCK;
            for (size_t i = 0; i < take; i += SUM_BLOCK)
                sum_block(summer, at + i);
        } else {
            memcpy(summer->pending + held, at, take);
            if (held + take == SUM_BLOCK)
                sum_block(summer, summer->pending);
        }
        summer->bytes += take;
        at += take;
        bytes -= take;
    }
}

uint64_t index_sum_end(struct index_summer *summer)
{
    const size_t held = summer->bytes % SUM_BLOCK;
    uint64_t sum = summer->bytes;
    memset(summer->pending + held, 0, SUM_BLOCK - held);
    sum_block(summer, summer->pending);
    for (int i = 0; i < 4; i++) {
        sum = (sum ^ summer->lanes[i]) * SUM_FACTOR;
        sum ^= sum >> 31;
    }
    return sum;
}

uint64_t index_sum(const void *data, uint64_t bytes)
{
    struct index_summer summer = {{0}, 0, {0}};
    index_sum_add(&summer, data, bytes);
    return index_sum_end(&summer);
}

/* False: no writer makes slots like these. */
static bool read_widths(const uint8_t *at, struct slot_widths *out)
{
    *out =
        (struct slot_widths){at[0], at[1], at[2], at[3], (uint32_t)at[0] + at[1] + at[2] + at[3]};
    if (out->bits == SLOT_BITS_MAX)
        return out->back == 8 && out->line == SLOT_LINE_BITS && out->file == SLOT_FILE_BITS;
    return out->bits <= SLOT_BITS_PACKED && out->back >= 1 &&
           out->line >= SLOT_PROCEDURE_FROM_BITS && out->name <= 32 && slots_hold_procedures(out);
}

static enum status read_sections(struct symbol_index *index, struct fault *fault)
{
    const uint8_t *head = index->map.data;
    if (!read_widths(head + HEADER_SLOT_WIDTHS, &index->widths))
        return fault_set(fault, ERR_MALFORMED, HEADER_SLOT_WIDTHS, "symbol index");
    for (int i = 0; i < INDEX_SECTIONS; i++) {
        const uint64_t at = load_u64(head + HEADER_SECTIONS + 16 * (size_t)i);
        const uint64_t bytes = load_u64(head + HEADER_SECTIONS + 16 * (size_t)i + 8);
        const uint64_t room = index->map.bytes - INDEX_SLACK_BYTES;
        if (at > room || bytes > room - at)
            return fault_set(fault, ERR_TRUNCATED, HEADER_SECTIONS + 16 * (uint64_t)i,
                             "symbol index");
        index->sections[i] = (struct section){head + at, bytes};
    }
    index->first_rva = load_u32(head + HEADER_FIRST_RVA);
    index->bucket_count = load_u32(head + HEADER_BUCKETS);
    index->group_count =
        index->bucket_count / GROUP_BUCKETS + (index->bucket_count % GROUP_BUCKETS != 0);
    const uint64_t slots = index->sections[INDEX_SCOPES].bytes * 8 / index->widths.bits;
    index->slot_count = slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
    index->file_count = (uint32_t)(index->sections[INDEX_FILES].bytes / 4);
    index->omap_count = (uint32_t)(index->sections[INDEX_OMAP].bytes / 8);
    index->hint_count = (uint32_t)(index->sections[INDEX_HINTS].bytes / 4);
    const struct section strings = index->sections[INDEX_STRINGS];
    if (load_u32(head + HEADER_BUCKET_BYTES) != BUCKET_BYTES ||
        index->sections[INDEX_GROUPS].bytes / INDEX_GROUP_BYTES < index->group_count ||
        strings.bytes == 0 || strings.at[strings.bytes - 1] != 0)
        return fault_set(fault, ERR_MALFORMED, HEADER_BUCKET_BYTES, "symbol index");
    return ERR_NONE;
}

struct symbol_index_key symbol_index_key(const struct file_map *file, enum symbol_names names)
{
    return (struct symbol_index_key){
        .file_bytes = file->bytes, .file_modified_ns = file->modified_ns, .names = names};
}

static enum status check_header(const struct symbol_index *index,
                                const struct symbol_index_key *key, struct fault *fault)
{
    const uint8_t *head = index->map.data;
    if (index->map.bytes < INDEX_HEADER_BYTES + INDEX_SLACK_BYTES)
        return fault_set(fault, ERR_TRUNCATED, 0, "symbol index");
    if (memcmp(head, INDEX_MAGIC, 8) != 0 ||
        index_sum(head, HEADER_SUM) != load_u64(head + HEADER_SUM))
        return fault_set(fault, ERR_MALFORMED, 0, "symbol index");
    if (load_u32(head + HEADER_VERSION) != (uint32_t)SYMBOL_INDEX_VERSION ||
        load_u32(head + HEADER_NAMES) != (uint32_t)key->names ||
        load_u32(head + HEADER_IS_IMAGE) != (uint32_t)key->is_image ||
        load_u64(head + HEADER_FILE_BYTES) != key->file_bytes ||
        load_u64(head + HEADER_FILE_TIME) != key->file_modified_ns ||
        load_u64(head + HEADER_COMPANIONS) != key->companions)
        return fault_set(fault, ERR_MISMATCH, 0, "symbol index");
    return ERR_NONE;
}

enum status symbol_index_verify(const struct symbol_index *index, struct fault *fault)
{
    const uint8_t *head = index->map.data;
    if (index_sum(head + INDEX_HEADER_BYTES, index->map.bytes - INDEX_HEADER_BYTES) !=
        load_u64(head + HEADER_BODY_SUM))
        return fault_set(fault, ERR_MALFORMED, INDEX_HEADER_BYTES, "symbol index's sum");
    return ERR_NONE;
}

enum status symbol_index_open_key(const char *path, const struct symbol_index_key *key,
                                  struct symbol_index **out, struct fault *fault)
{
    struct symbol_index *index = calloc(1, sizeof *index);
    *out = NULL;
    if (index == NULL)
        return fault_no_memory(fault, "symbol index");
    index->is_image = key->is_image;
    if (file_map(path, &index->map, fault) == ERR_NONE &&
        check_header(index, key, fault) == ERR_NONE && read_sections(index, fault) == ERR_NONE &&
        index->map.bytes <= LIMIT_INDEX_CHECKED_BYTES)
        (void)symbol_index_verify(index, fault);
    if (fault->code == ERR_NONE) {
        *out = index;
        return ERR_NONE;
    }
    fault_set_path(fault, path);
    symbol_index_close(index);
    return fault->code;
}

enum status symbol_index_open(const char *path, const struct file_map *pdb_file,
                              enum symbol_names names, struct symbol_index **out,
                              struct fault *fault)
{
    const struct symbol_index_key key = symbol_index_key(pdb_file, names);
    return symbol_index_open_key(path, &key, out, fault);
}

void symbol_index_close(struct symbol_index *index)
{
    if (index == NULL)
        return;
    file_unmap(&index->map);
    free(index);
}

uint64_t symbol_index_written_ns(const struct symbol_index *index)
{
    return index->map.modified_ns;
}

/* The scope and line of an address. */
struct spot {
    uint32_t rva; /* in the symbols' address space */
    uint32_t scope, line;
};

static bool source_rva(const struct symbol_index *index, uint32_t *rva)
{
    const uint8_t *rows = index->sections[INDEX_OMAP].at;
    uint32_t low = 0, high = index->omap_count;
    if (high == 0)
        return true;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (load_u32(rows + 8 * (size_t)middle) <= *rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || load_u32(rows + 8 * (size_t)low - 4) == 0)
        return false;
    *rva = load_u32(rows + 8 * (size_t)low - 4) + (*rva - load_u32(rows + 8 * (size_t)low - 8));
    return true;
}

/* What a bucket states. */
struct bucket {
    const uint8_t *block; /* NULL: none covers the address */
    uint32_t scope;       /* of the block */
    uint32_t line_bits;   /* upper bits of the width of a line, in place */
};

/* The bucket of NUMBER in the group at AT in the blob. */
static struct bucket read_bucket(const struct symbol_index *index, uint32_t at, uint32_t number)
{
    const struct section blob = index->sections[INDEX_BLOB];
    const uint64_t bucket = load_u64(blob.at + at + INDEX_BUCKET_BYTES * (size_t)number);
    const uint64_t block = at + (bucket & UINT16_MAX);
    const uint32_t upper = (uint32_t)(bucket >> 16);
    return (struct bucket){block < blob.bytes ? blob.at + block : NULL,
                           upper & ((1U << BLOCK_SCOPE_BITS) - 1),
                           upper >> BLOCK_SCOPE_BITS << BLOCK_LINE_WIDTH_LOW_BITS};
}

static inline uint32_t ones(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)((bits * 0x0101010101010101u) >> 56);
}

static inline uint32_t low_bits(uint64_t value, uint32_t count)
{
    return (uint32_t)(value & ((1ULL << count) - 1));
}

/* This avoids a branch, which would be as unpredictable as the address. The slack at the end of the
 * file covers the last entry that a damaged block could name. */
static inline void read_block(const struct symbol_index *index, const struct bucket *bucket,
                              struct spot *spot)
{
    const uint8_t *at = bucket->block;
    const uint32_t offset = (spot->rva - index->first_rva) & (BUCKET_BYTES - 1);
    const uint32_t head = load_u32(at);
    const uint64_t upper = 0 - (uint64_t)(offset / 64), upto = (2ULL << offset % 64) - 1;
    const uint32_t scope_bits = head >> BLOCK_LINE_BITS & ((1U << BLOCK_WIDTH_BITS) - 1);
    const uint32_t line_bits = bucket->line_bits | head >> (BLOCK_LINE_BITS + BLOCK_WIDTH_BITS);
    const uint8_t *changed = at + BLOCK_CHANGES_AT;
    const uint32_t changes =
        ones(load_u64(changed) & (upto | upper)) + ones(load_u64(changed + 8) & upto & upper);
    const uint32_t before = changes * (scope_bits + line_bits);
    const uint64_t entry = load_u64(at + BLOCK_ENTRIES_AT + before / 8) >> before % 8;
    spot->scope = bucket->scope + low_bits(entry, scope_bits);
    spot->line = low_bits(head, BLOCK_LINE_BITS) + low_bits(entry >> scope_bits, line_bits);
}

static const char *string_of(const struct symbol_index *index, uint32_t offset)
{
    const struct section strings = index->sections[INDEX_STRINGS];
    return offset != 0 && offset < strings.bytes ? (const char *)strings.at + offset : NULL;
}

static const char *file_of(const struct symbol_index *index, uint32_t number)
{
    if (number == 0 || number > index->file_count)
        return NULL;
    return string_of(index, load_u32(index->sections[INDEX_FILES].at + 4 * (size_t)(number - 1)));
}

static const uint8_t *slot_at(const struct symbol_index *index, uint32_t scope)
{
    return index->sections[INDEX_SCOPES].at + (uint64_t)scope * index->widths.bits / 8;
}

/* The bits of a slot; above them are some of the next. */
static uint64_t slot_of(const struct symbol_index *index, uint32_t scope)
{
    return load_u64(slot_at(index, scope)) >> (uint64_t)scope * index->widths.bits % 8;
}

/* What a slot states. */
struct slot {
    uint32_t back, line, file, name; /* back 0: a procedure */
    uint32_t from, start, compiland; /* of a procedure */
};

static struct slot read_wide_slot(uint64_t first, uint64_t second)
{
    struct slot out = {.back = first & 0xff, .name = (uint32_t)(first >> 32)};
    if (out.back == SLOT_PROCEDURE) {
        out.from = (uint32_t)first >> 8 & ((1U << SLOT_PROCEDURE_FROM_BITS) - 1);
        out.file = (uint32_t)first >> (8 + SLOT_PROCEDURE_FROM_BITS);
        out.start = (uint32_t)second;
        out.compiland = (uint32_t)(second >> 32);
    } else {
        out.back = (uint32_t)first >> 8;
        out.line = (uint32_t)second;
        out.file = (uint32_t)(second >> 32);
    }
    return out;
}

static struct slot read_slot(const struct symbol_index *index, uint32_t scope)
{
    const struct slot_widths *w = &index->widths;
    const uint64_t bits = slot_of(index, scope);
    struct slot out = {.back = low_bits(bits, w->back)};
    if (w->bits == SLOT_BITS_MAX && (out.back == SLOT_PROCEDURE || out.back == SLOT_WIDE))
        return read_wide_slot(bits, slot_of(index, scope + 1));
    out.line = low_bits(bits >> w->back, w->line);
    out.file = low_bits(bits >> (w->back + w->line), w->file);
    out.name = low_bits(bits >> (w->back + w->line + w->file), w->name);
    if (out.back == SLOT_PROCEDURE) {
        const uint64_t second = slot_of(index, scope + 1);
        const uint32_t low = w->line - SLOT_PROCEDURE_FROM_BITS;
        out.from = low_bits(out.line, SLOT_PROCEDURE_FROM_BITS);
        out.start = (uint32_t)second;
        out.compiland =
            low_bits(out.line >> SLOT_PROCEDURE_FROM_BITS | second >> 32 << low, w->name);
    }
    return out;
}

/* Completes frames with the data of their procedure. */
static void finish(const struct symbol_index *index, uint32_t rva, const struct slot *procedure,
                   struct symbol_frame *out, uint32_t count)
{
    const char *compiland = string_of(index, procedure->compiland);
    const uint64_t distance = procedure->start != INDEX_NO_START ? rva - procedure->start : 0;
    const uint32_t stated = procedure->from;
    const bool damaged = stated == INDEX_FROM_DAMAGED || stated == INDEX_FROM_DAMAGED_PUBLIC;
    const bool jump = stated == INDEX_FROM_JUMP || stated == INDEX_FROM_JUMP_PUBLIC;
    const bool pub = stated == INDEX_FROM_DAMAGED_PUBLIC || stated == INDEX_FROM_JUMP_PUBLIC;
    enum symbols_from from = stated < SYMBOLS_COUNT ? (enum symbols_from)stated : SYMBOLS_NONE;
    if (pub)
        from = SYMBOLS_PDB_PUBLIC;
    else if (damaged || jump)
        from = SYMBOLS_PDB;
    enum frame_note note = jump ? NOTE_LINK_JUMP : NOTE_NONE;
    if (damaged)
        note = NOTE_PDB_PART_DAMAGED;
    for (uint32_t i = 0; i < count; i++) {
        out[i].distance = distance;
        out[i].from = from;
        out[i].compiland = compiland;
        out[i].note = note;
    }
}

/* Expands a spot into frames; 0 when nothing is known, or OUT is too small. */
static uint32_t expand(const struct symbol_index *index, const struct spot *spot,
                       struct symbol_frame *out, uint32_t max)
{
    uint32_t scope = spot->scope, line = spot->line;
    for (uint32_t count = 0; scope != 0 && scope + 1 < index->slot_count && count < max; count++) {
        const struct slot slot = read_slot(index, scope);
        struct symbol_frame *frame = &out[count];
        frame->function = string_of(index, slot.name);
        frame->file = file_of(index, slot.file);
        frame->line = line;
        frame->inlined = slot.back != 0;
        if (slot.back == 0) {
            finish(index, spot->rva, &slot, out, count + 1);
            return count + 1;
        }
        line = slot.line; /* of its call, in the next frame */
        scope = slot.back <= scope ? scope - slot.back : 0;
    }
    return 0;
}

void symbol_index_range(const struct symbol_index *index, uint32_t *first_rva, uint64_t *end_rva)
{
    *first_rva = index->first_rva;
    *end_rva = index->first_rva + ((uint64_t)index->bucket_count << BUCKET_SHIFT);
}

bool symbol_index_covers(const struct symbol_index *index, uint32_t rva)
{
    uint32_t first_rva;
    uint64_t end_rva;
    symbol_index_range(index, &first_rva, &end_rva);
    return !index->is_image || (rva >= first_rva && rva < end_rva);
}

enum {
    CACHE_LINE = 64,
    GROUP_EXPECTED = 5 * CACHE_LINE, /* bytes that a group often takes */
    SLOTS_BEFORE = 2 * CACHE_LINE,   /* bytes of slots before an estimate, and after it */
    SLOTS_AFTER = 2 * CACHE_LINE,
    SLOTS_OF_GROUP_MAX = 256, /* more are not of one group */
    NAMES_BEFORE = 384,       /* bytes before an estimate, and after it, that names often take */
    NAMES_AFTER = 64,
    NAMES_FAR_BYTES = 2 << 20, /* fewer strings are in the processor's cache */
};

static void expect(const uint8_t *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += CACHE_LINE)
        PREFETCH(from + i);
}

/* Loads the names that slots near SCOPE often have. */
static void expect_names(const struct symbol_index *index, uint32_t scope)
{
    const struct section strings = index->sections[INDEX_STRINGS];
    const uint32_t unit = scope / SLOT_UNIT;
    if (strings.bytes < NAMES_FAR_BYTES || unit + 1 >= index->hint_count)
        return;
    const uint8_t *hints = index->sections[INDEX_HINTS].at + 4 * (size_t)unit;
    const uint64_t hint = load_u32(hints), next = load_u32(hints + 4);
    const uint64_t at = hint + (next > hint ? (next - hint) * (scope % SLOT_UNIT) / SLOT_UNIT : 0);
    if (at >= NAMES_BEFORE && at < strings.bytes)
        expect(strings.at + at - NAMES_BEFORE, NAMES_BEFORE + NAMES_AFTER);
}

/* Finds the bucket that covers RVA (in the symbols' address space). The group, the slots and the
 * names are far apart; all of them are asked for before the first is waited for. */
static struct bucket bucket_of(const struct symbol_index *index, uint32_t rva)
{
    const uint32_t offset = rva - index->first_rva, number = offset >> BUCKET_SHIFT;
    const uint32_t group = number / GROUP_BUCKETS;
    if (rva < index->first_rva || number >= index->bucket_count)
        return (struct bucket){NULL, 0, 0};
    const uint8_t *groups = index->sections[INDEX_GROUPS].at + INDEX_GROUP_BYTES * (size_t)group;
    const struct section blob = index->sections[INDEX_BLOB];
    const uint32_t at = load_u32(groups);
    if (at >= blob.bytes)
        return (struct bucket){NULL, 0, 0};
    expect(blob.at + at, GROUP_EXPECTED);
    uint32_t scope = load_u32(groups + 4);
    if (group + 1 < index->group_count) { /* somewhere between this group's and the next one's */
        const uint32_t more = load_u32(groups + INDEX_GROUP_BYTES + 4) - scope;
        if (more < SLOTS_OF_GROUP_MAX)
            scope += more * (offset % GROUP_CODE_BYTES) / GROUP_CODE_BYTES;
    }
    if (scope < index->slot_count) {
        expect(slot_at(index, scope) - (scope >= SLOTS_BEFORE ? SLOTS_BEFORE : 0),
               SLOTS_BEFORE + SLOTS_AFTER);
        expect_names(index, scope);
    }
    return read_bucket(index, at, number % GROUP_BUCKETS);
}

uint32_t symbol_index_lookup(const struct symbol_index *index, uint32_t rva,
                             struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct spot spot = {rva, 0, 0};
    if (!source_rva(index, &spot.rva))
        return 0;
    const struct bucket bucket = bucket_of(index, spot.rva);
    if (bucket.block == NULL)
        return 0;
    read_block(index, &bucket, &spot);
    return expand(index, &spot, out, SYMBOL_FRAMES_MAX);
}
