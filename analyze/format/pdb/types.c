/* See types.h. A stream of types: a header, then records of 2 bytes length, 2 bytes kind. Every
 * record has the next index; a sparse table (every 8 KiB or so) gives the offsets of some records;
 * the others are found by stepping from there. */
#include "format/pdb/types.h"

#include <string.h>

#include "base/bytes.h"

enum {
    TYPES_HEADER_BYTES = 56,
    TYPES_VERSION_VC7 = 19990903, /* the first with this header */
    NOTED_STEP = 4,
    NOTED_BACK = 64, /* a row of the sparse table is seldom nearer than so many notes */
};

bool pdb_types_open(const struct pdb *pdb, uint32_t stream, struct pdb_types *out)
{
    uint8_t head[TYPES_HEADER_BYTES];
    memset(out, 0, sizeof *out);
    out->stream = msf_stream(&pdb->msf, stream);
    out->hash = out->stream;
    if (!msf_copy(&out->stream, 0, sizeof head, head) || load_u32(head) < TYPES_VERSION_VC7)
        return false;
    out->records_soff = load_u32(head + 4);
    out->records_bytes = load_u32(head + 16);
    if (out->records_soff > out->stream.bytes ||
        out->records_bytes > out->stream.bytes - out->records_soff)
        return false;
    out->first = load_u32(head + 8);
    out->end = load_u32(head + 12);

    const uint16_t hash = load_u16(head + 20);
    const uint32_t at = load_u32(head + 40), bytes = load_u32(head + 44);
    if (hash != UINT16_MAX) {
        out->hash = msf_stream(&pdb->msf, hash);
        if (at <= out->hash.bytes && bytes <= out->hash.bytes - at) {
            out->offsets_soff = at;
            out->offsets_count = bytes / 8;
        }
    }
    return true;
}

/* Steps from record to record. */
struct types_cursor {
    uint32_t at; /* of a record, in those of the stream */
    uint32_t left;
    const uint8_t *run; /* contiguous bytes of the file from there on: stepping needs no copies */
};

/* Reads the length and the kind of the record at the cursor into HEAD. False: it is damaged. */
static inline bool read_head(const struct pdb_types *types, struct types_cursor *c, uint8_t head[4])
{
    if (c->at > types->records_bytes || types->records_bytes - c->at < 4)
        return false;
    if (c->left < 4)
        c->run = msf_at(&types->stream, types->records_soff + c->at, &c->left);
    if (c->run != NULL && c->left >= 4)
        memcpy(head, c->run, 4);
    else if (!msf_copy(&types->stream, types->records_soff + c->at, 4, head))
        return false;
    const uint32_t bytes = load_u16(head);
    return bytes >= 2 && bytes <= types->records_bytes - c->at - 2;
}

static inline void step_over(struct types_cursor *c, const uint8_t head[4])
{
    const uint32_t step = 2U + load_u16(head);
    c->run = c->left > step ? c->run + step : NULL;
    c->left = c->left > step ? c->left - step : 0;
    c->at += step;
}

void pdb_types_index(struct pdb_types *types, struct arena *keep)
{
    if (types->end <= types->first || types->end - types->first > types->records_bytes / 4)
        return;
    const uint32_t count = types->end - types->first;
    uint32_t *all = ARENA_ARRAY(keep, count, uint32_t);
    struct types_cursor c = {0};
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        uint8_t head[4];
        if (!read_head(types, &c, head))
            return;
        all[i] = c.at;
        step_over(&c, head);
    }
    types->all = all;
}

void pdb_types_note(struct pdb_types *types, struct arena *keep)
{
    if (types->end <= types->first || types->end - types->first > types->records_bytes / 4)
        return;
    const uint32_t count = (types->end - types->first) / NOTED_STEP + 1;
    types->noted = ARENA_ARRAY(keep, count, uint32_t);
}

/* A record at or before INDEX whose offset is known: one that was noted, or the last row of the
 * sparse table; without one, the first record. */
static void nearest(const struct pdb_types *types, uint32_t index, uint32_t *at_index, uint32_t *at)
{
    uint32_t low = 0, high = types->offsets_count;
    uint8_t row[8];
    const uint32_t number = (index - types->first) / NOTED_STEP;
    for (uint32_t i = 0; types->noted != NULL && i < NOTED_BACK && i <= number; i++) {
        if (types->noted[number - i] == 0)
            continue;
        *at_index = types->first + (number - i) * NOTED_STEP;
        *at = types->noted[number - i] - 1;
        return;
    }
    *at_index = types->all != NULL ? index : types->first;
    *at = types->all != NULL ? types->all[index - types->first] : 0;
    if (types->all != NULL)
        return;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!msf_copy(&types->hash, types->offsets_soff + 8 * middle, sizeof row, row))
            return;
        if (load_u32(row) <= index) {
            low = middle + 1;
            *at_index = load_u32(row);
            *at = load_u32(row + 4);
        } else {
            high = middle;
        }
    }
}

bool pdb_type(const struct pdb_types *types, uint32_t index, struct arena *copies,
              struct pdb_type *out)
{
    uint32_t at_index;
    struct types_cursor c = {0};
    uint8_t head[4];
    if (index < types->first || index >= types->end)
        return false;
    nearest(types, index, &at_index, &c.at);
    for (; read_head(types, &c, head); step_over(&c, head), at_index++) {
        const uint32_t bytes = load_u16(head), number = at_index - types->first;
        /* a damaged row may state an index before the first */
        if (types->noted != NULL && at_index >= types->first && number % NOTED_STEP == 0)
            types->noted[number / NOTED_STEP] = c.at + 1;
        if (at_index == index) {
            out->kind = load_u16(head + 2);
            out->data = (struct byte_view){
                msf_view(&types->stream, types->records_soff + c.at + 4, bytes - 2, copies),
                bytes - 2};
            return out->data.data != NULL;
        }
    }
    return false;
}
