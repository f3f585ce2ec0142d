/* See minidump_maker.h. */
#include "minidump_maker.h"

#include <string.h>

#include "format/minidump/minidump.h"

void maker_put(struct maker *m, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        m->data[m->at++] = (uint8_t)(value >> (8 * i));
}

void maker_put_all(struct maker *m, uint32_t bytes, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        maker_put(m, values[i], bytes);
}

void maker_start(struct maker *m)
{
    memset(m, 0, sizeof(*m));
    m->at = 32 + 16 * 12;
}

void maker_stream_begin(struct maker *m, uint32_t type)
{
    m->rows[m->streams][0] = type;
    m->rows[m->streams][2] = m->at;
}

void maker_stream_end(struct maker *m)
{
    m->rows[m->streams][1] = m->at - m->rows[m->streams][2];
    m->streams++;
}

void maker_finish(struct maker *m)
{
    uint32_t end = m->at;
    m->at = 0;
    maker_put(m, 0x504d444d, 4);
    maker_put(m, 0xa793, 4);
    maker_put(m, m->streams, 4);
    maker_put(m, 32, 4);
    m->at = 32;
    for (uint32_t i = 0; i < m->streams; i++)
        for (int k = 0; k < 3; k++)
            maker_put(m, m->rows[i][k], 4);
    m->at = end;
}

void maker_system_info(struct maker *m, uint16_t architecture)
{
    maker_stream_begin(m, STREAM_SYSTEM_INFO);
    maker_put(m, architecture, 2);
    m->at += 54;
    maker_stream_end(m);
}

uint32_t maker_text(struct maker *m, const char *ascii)
{
    uint32_t foff = m->at;
    maker_put(m, strlen(ascii) * 2, 4);
    for (; *ascii != '\0'; ascii++)
        maker_put(m, (uint8_t)*ascii, 2);
    maker_put(m, 0, 2);
    return foff;
}

void maker_module_row(struct maker *m, uint64_t base_va, uint32_t name_foff)
{
    maker_put(m, base_va, 8);
    maker_put(m, 0x10000, 4);
    maker_put(m, 0, 4);
    maker_put(m, 0x12345678, 4);
    maker_put(m, name_foff, 4);
    m->at += 84;
}

uint32_t maker_context(struct maker *m, uint64_t rip, uint64_t rsp)
{
    enum { FLAGS = 0x30, RSP = 0x98, RIP = 0xF8 };
    const uint32_t foff = m->at;
    for (uint32_t i = 0; i < MAKER_CONTEXT_BYTES; i += 8)
        maker_put(m, i == FLAGS ? 0x100003 : i == RSP ? rsp : i == RIP ? rip : 0, 8);
    return foff;
}
