/* See index_pack.h. */
#include "symbol/index_pack.h"

#include <stdlib.h>

#include "symbol/index_layout.h"

enum { BLOCK_BYTES_MAX = 8 + CHANGES_MAX * (2 + 10) };

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

void index_pack_open(struct index_part *part)
{
    const uint32_t count = part->end - part->first;
    part->bucket = part->first;
    part->blob_room = 32 * (uint64_t)count + BLOCK_BYTES_MAX;
    part->buckets = malloc(((size_t)count + 1) * sizeof *part->buckets);
    part->blob = malloc((size_t)part->blob_room);
    part->failed = part->buckets == NULL || part->blob == NULL;
}

void index_pack_close(struct index_part *part)
{
    free(part->buckets);
    free(part->blob);
}

static bool grow_blob(struct index_part *part)
{
    const uint64_t room = part->blob_room * 2;
    uint8_t *grown = room <= UINT32_MAX ? realloc(part->blob, (size_t)room) : NULL;
    part->failed = grown == NULL;
    if (part->failed)
        return false;
    part->blob = grown;
    part->blob_room = room;
    return true;
}

static uint8_t *put_changes(const struct index_part *part, uint8_t *to)
{
    uint32_t scope = part->open_scope, line = part->open_line;
    uint8_t *wide = to + 2 * (size_t)part->change_count;
    for (uint32_t i = 0; i < part->change_count; i++) {
        const struct packed_change *change = &part->changes[i];
        uint32_t scope_delta = zigzag(scope, change->scope);
        uint32_t line_delta = zigzag(line, change->line);
        if (scope_delta >= CHANGE_SCOPE_WIDE) {
            wide = put_varint(wide, scope_delta);
            scope_delta = CHANGE_SCOPE_WIDE;
        }
        if (line_delta >= CHANGE_LINE_WIDE) {
            wide = put_varint(wide, line_delta);
            line_delta = CHANGE_LINE_WIDE;
        }
        store_u16(to, (uint16_t)(change->offset << CHANGE_OFFSET_SHIFT |
                                 scope_delta << CHANGE_SCOPE_SHIFT | line_delta));
        to += 2;
        scope = change->scope;
        line = change->line;
    }
    return wide;
}

/* Writes the block of the bucket in work and goes on to the next. */
static void close_bucket(struct index_part *part)
{
    const bool plain = part->change_count == 0;
    if (part->blob_room - part->blob_bytes < BLOCK_BYTES_MAX && !grow_blob(part))
        return;
    if (plain && part->plain) { /* as the one before */
        part->buckets[part->bucket - part->first] = part->buckets[part->bucket - part->first - 1];
    } else {
        uint8_t *const block = part->blob + part->blob_bytes;
        store_u32(block, part->open_scope);
        store_u32(block + 4, part->open_line | part->change_count << 24);
        part->buckets[part->bucket - part->first] = (uint32_t)part->blob_bytes;
        part->blob_bytes = (uint64_t)(put_changes(part, block + 8) - part->blob);
    }
    part->plain = plain;
    part->open_scope = part->scope;
    part->open_line = part->line;
    part->change_count = 0;
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
    part->packed_rva = rva;
    part->scope = scope;
    part->line = line;
    if (part->change_count != 0 && part->changes[part->change_count - 1].offset == offset)
        part->change_count--;
    if (offset == 0) {
        part->plain = false;
        part->open_scope = scope;
        part->open_line = line;
    } else {
        part->changes[part->change_count++] = (struct packed_change){offset, scope, line};
    }
    part->piece_count++;
}

void index_pack_pieces(struct index_part *part, const struct scope_slot *scopes,
                       const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        change_at(part, pieces[i].start_rva, scopes[pieces[i].scope].name,
                  pieces[i].scope != 0 ? pieces[i].line : 0);
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
