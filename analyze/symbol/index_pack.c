/* From pieces to buckets and blocks: "from here on this scope and line" becomes a row that is read
 * with a few loads from any byte. The layout is in index_layout.h.
 *
 * Pieces are taken in order of address. Those of one bucket of 128 bytes are collected as entries;
 * the first piece after the bucket packs them. The block states the least scope and line, then each
 * entry less those, all as wide as the largest of them needs: entry N is found by counting bits.
 *
 *   0x1000 scope 32 line 10     0x1018 scope 34 line  3     0x1080 scope 35 line 20
 *   0x1010 scope 32 line 12     0x1020 scope 32 line 13     0x1100 nothing is known
 *
 * The bucket at 0x1000 has four entries: scopes from 32, 34 - 32 = 2 in 2 bits; lines from 3,
 * 13 - 3 = 10 in 4 bits. The one at 0x1080 has one entry, so its block is a line and no bits.
 *
 *   at  0  18 00  20 00 00 00        bucket 0x1000: block at 24, scope 32
 *       6  2f 00  23 00 00 00        bucket 0x1080: block at 47, scope 35; twelve zeroes follow
 *      24  03 00 00 82               line 3, 2 bits of a scope, 4 bits of a line
 *      28  00 00 01 01 01 00 00 00   changes at bytes 0x10, 0x18, 0x20; of 64 to 127 none: 8 zeroes
 *      44  1c 29 a0                  0 7, 0 9, 2 0, 0 10: scope and line, 6 bits each
 *      47  14 00 00 00               line 20
 *
 * A bucket in which nothing changes, after another such bucket, has no block of its own: only the
 * 6 bytes that state where the one before it is. */
#include "symbol/index_pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/index_layout.h"

enum {
    GROUP_HEAD_BYTES = GROUP_BUCKETS * INDEX_BUCKET_BYTES,
    /* A group's head and a block; a group is at most four times as long. */
    GROUP_BYTES_MAX = GROUP_HEAD_BYTES + BLOCK_ENTRIES_AT + BUCKET_BYTES * 8,
};

static_assert(GROUP_BUCKETS * GROUP_BYTES_MAX <= UINT16_MAX, "places in a group have 16 bits");

static uint32_t width_of(uint32_t value)
{
    uint32_t bits = 0;
    while (value >> bits != 0)
        bits++;
    return bits;
}

void index_pack_open(struct index_part *part)
{
    const uint32_t count = part->end - part->first;
    part->bucket = part->first;
    part->entry_count = 1;
    part->groups = malloc(((size_t)count / GROUP_BUCKETS + 1) * sizeof *part->groups);
    part->blob_room = 0;
    part->blob = array_reserve(NULL, &part->blob_room, 64 * (uint64_t)count + GROUP_BYTES_MAX, 1);
    part->failed = part->groups == NULL || part->blob == NULL;
}

void index_pack_close(struct index_part *part)
{
    free(part->groups);
    free(part->blob);
}

/* Makes room for one more block, and for the head of its group. */
static bool reserve_block(struct index_part *part)
{
    uint8_t *blob =
        array_reserve(part->blob, &part->blob_room, part->blob_bytes + GROUP_BYTES_MAX, 1);
    part->failed = blob == NULL;
    if (part->failed)
        return false;
    part->blob = blob;
    return true;
}

/* Writes the block of the current bucket; returns its size, and what a bucket states of it. */
static uint32_t put_block(const struct index_part *part, uint8_t *to, uint64_t *bucket)
{
    const struct block_entry *entries = part->entries;
    uint32_t scope = entries[0].scope, line = entries[0].line, scope_last = scope, line_last = line;
    uint64_t changes[BUCKET_BYTES / 64] = {0};
    for (uint32_t i = 1; i < part->entry_count; i++) {
        changes[entries[i].offset / 64] |= 1ULL << entries[i].offset % 64;
        scope = entries[i].scope < scope ? entries[i].scope : scope;
        line = entries[i].line < line ? entries[i].line : line;
        scope_last = entries[i].scope > scope_last ? entries[i].scope : scope_last;
        line_last = entries[i].line > line_last ? entries[i].line : line_last;
    }
    const uint64_t scope_bits = width_of(scope_last - scope),
                   line_bits = width_of(line_last - line);
    *bucket = (uint64_t)scope << 32 | line_bits >> BLOCK_LINE_WIDTH_LOW_BITS
                                                       << (32 + BLOCK_SCOPE_BITS);
    store_u32(to, (uint32_t)(line | scope_bits << BLOCK_LINE_BITS |
                             line_bits << (BLOCK_LINE_BITS + BLOCK_WIDTH_BITS)));
    if (part->entry_count == 1)
        return BLOCK_CHANGES_AT;
    store_u64(to + BLOCK_CHANGES_AT, changes[0]);
    store_u64(to + BLOCK_CHANGES_AT + 8, changes[1]);
    uint64_t pending = 0; /* bits not yet written */
    uint32_t pending_bits = 0;
    uint8_t *at = to + BLOCK_ENTRIES_AT;
    for (uint32_t i = 0; i < part->entry_count; i++) {
        const uint64_t entry = (entries[i].scope - scope) | (uint64_t)(entries[i].line - line)
                                                                << scope_bits;
        pending |= entry << pending_bits;
        pending_bits += (uint32_t)(scope_bits + line_bits);
        store_u64(at, pending);
        at += pending_bits / 8;
        pending >>= pending_bits / 8 * 8;
        pending_bits %= 8;
    }
    return (uint32_t)(at - to) + (pending_bits != 0);
}

/* Packs the current bucket and moves to the next. */
static void close_bucket(struct index_part *part)
{
    const uint32_t number = part->bucket % GROUP_BUCKETS;
    uint64_t *group = &part->groups[(part->bucket - part->first) / GROUP_BUCKETS];
    const bool plain = part->entry_count == 1;
    if (!reserve_block(part))
        return;
    if (number == 0) {
        part->group_at = (uint32_t)part->blob_bytes;
        *group = part->group_at;
        memset(part->blob + part->blob_bytes, 0, GROUP_HEAD_BYTES);
        part->blob_bytes += GROUP_HEAD_BYTES;
    }
    if (number == 0 || !plain || !part->plain) { /* else as the one before */
        part->block_at = (uint32_t)part->blob_bytes;
        part->blob_bytes += put_block(part, part->blob + part->blob_bytes, &part->block_bucket);
    }
    uint8_t *bucket = part->blob + part->group_at + INDEX_BUCKET_BYTES * (size_t)number;
    store_u16(bucket, (uint16_t)(part->block_at - part->group_at));
    store_u32(bucket + 2, (uint32_t)(part->block_bucket >> 32));
    if (*group >> 32 == 0)
        *group |= (part->block_bucket >> 32 & ((1U << BLOCK_SCOPE_BITS) - 1)) << 32;
    part->plain = plain;
    part->entries[0] = (struct block_entry){0, part->scope, part->line};
    part->entry_count = 1;
    part->bucket++;
}

static void change_at(struct index_part *part, uint64_t rva, uint32_t scope, uint32_t line)
{
    const uint64_t from = rva - part->first_rva;
    if (part->failed || rva < part->packed_rva || rva < part->first_rva ||
        from >> BUCKET_SHIFT >= part->end || (scope == part->scope && line == part->line))
        return;
    const uint32_t bucket = (uint32_t)(from >> BUCKET_SHIFT);
    while (part->bucket < bucket && !part->failed)
        close_bucket(part);
    const uint32_t offset = (uint32_t)from & (BUCKET_BYTES - 1);
    if (part->entries[part->entry_count - 1].offset == offset)
        part->entry_count--; /* nothing left */
    part->entries[part->entry_count++] = (struct block_entry){offset, scope, line};
    part->plain = part->plain && offset != 0;
    part->packed_rva = rva;
    part->scope = scope;
    part->line = line;
    part->failed = scope >> BLOCK_SCOPE_BITS != 0 || line >> BLOCK_LINE_BITS != 0;
    part->piece_count++;
}

void index_pack_pieces(struct index_part *part, uint64_t rva, const struct scope_slot *scopes,
                       uint32_t first_slot, const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t scope = piece_scope(pieces[i]);
        rva += piece_step(pieces[i]);
        if (scope != 0)
            change_at(part, rva, first_slot + scopes[scope].name, piece_line(pieces[i]));
        else
            change_at(part, rva, 0, 0);
    }
}

void index_pack_gap(struct index_part *part, uint64_t rva)
{
    change_at(part, rva, 0, 0);
}

void index_pack_end(struct index_part *part)
{
    while (part->bucket < part->end && !part->failed)
        close_bucket(part);
}
