/* See made_metadata.h. */
#include "made_metadata.h"

#include <string.h>

#include "test.h"

static void put(struct made_metadata *m, uint64_t value, size_t size)
{
    REQUIRE(m->bytes + size <= MADE_BYTES);
    for (size_t i = 0; i < size; i++)
        m->data[m->bytes++] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
}

static void put_bytes(struct made_metadata *m, const void *data, size_t bytes)
{
    REQUIRE(m->bytes + bytes <= MADE_BYTES);
    memcpy(m->data + m->bytes, data, bytes);
    m->bytes += bytes;
}

void made_begin(struct made_metadata *m)
{
    static const uint8_t root[] = {'B', 'S', 'J', 'B', 1, 0, 1,   0,   0,   0,
                                   0,   0,   4,   0,   0, 0, 'v', '1', '.', '\0'};
    memset(m, 0, sizeof *m);
    memcpy(m->data, root, sizeof root);
    m->header = sizeof root + 4;
    m->bytes = STREAMS_AT;
}

/* The header of the stream NAME, which began at FROM and ends here. */
static void name_stream(struct made_metadata *m, const char *name, size_t from)
{
    const uint32_t head[2] = {(uint32_t)from, (uint32_t)(m->bytes - from)};
    for (size_t i = 0; i < 8; i++)
        m->data[m->header + i] = (uint8_t)(head[i / 4] >> (8 * (i % 4)));
    memcpy(m->data + m->header + 8, name, strlen(name) + 1);
    m->header += 8 + (strlen(name) / 4 + 1) * 4;
    m->data[22]++; /* the count of streams */
    REQUIRE(m->header <= STREAMS_AT);
}

void made_stream(struct made_metadata *m, const char *name, const void *data, size_t bytes)
{
    const size_t from = m->bytes;
    put_bytes(m, data, bytes);
    name_stream(m, name, from);
}

void made_foreign(struct made_metadata *m, const uint32_t counts[TABLE_DOCUMENT])
{
    const size_t from = m->bytes;
    uint64_t present = 0;
    put(m, 0, 24);
    for (int i = 0; i < TABLE_DOCUMENT; i++)
        present |= (uint64_t)(counts[i] != 0) << i;
    put(m, present, 8);
    for (int i = 0; i < TABLE_DOCUMENT; i++)
        if (counts[i] != 0)
            put(m, counts[i], 4);
    name_stream(m, "#Pdb", from);
}

void made_tables(struct made_metadata *m, uint8_t heaps, const struct made_row *rows, size_t count)
{
    const size_t from = m->bytes;
    uint32_t of[METADATA_TABLES] = {0};
    uint64_t valid = 0;

    for (size_t i = 0; i < count; i++)
        of[rows[i].table]++;
    for (int i = 0; i < METADATA_TABLES; i++)
        valid |= (uint64_t)(of[i] != 0) << i;
    put(m, 0, 6);
    put(m, heaps, 1);
    put(m, 1, 1);
    put(m, valid, 8);
    put(m, 0, 8);
    for (int i = 0; i < METADATA_TABLES; i++)
        if (of[i] != 0)
            put(m, of[i], 4);
    put(m, 0, heaps & 0x40 ? 4 : 0); /* data of its own between counts and rows */
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; rows[i].widths[n] != '\0'; n++)
            put(m, rows[i].cells[n], (size_t)(rows[i].widths[n] - '0'));
    name_stream(m, "#~", from);
}

void made_open(const struct made_metadata *m, struct metadata *md)
{
    struct fault fault = FAULT_INIT;
    if (!CHECK_EQ(metadata_open(m->data, m->bytes, md, &fault), ERR_NONE))
        FAIL("%s", fault.what);
    REQUIRE(fault.code == ERR_NONE);
}
