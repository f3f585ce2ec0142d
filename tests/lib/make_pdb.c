/* See make_pdb.h. */
#include "make_pdb.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum {
    STREAM_INFO = 1,
    STREAM_TYPES,
    STREAM_DBI,
    STREAM_IDS,
    STREAM_MODULE, /* one per module from here on */
    STREAM_SECTIONS = STREAM_MODULE + MAKE_MODULES,
    STREAM_PUBLICS,
    STREAM_RECORDS,
    STREAM_NAMES,
    STREAM_OMAP_TO,
    STREAM_OMAP_FROM,
    STREAM_SOURCE_LINK, /* MAKE_SOURCE_LINKS of them */
    STREAMS = STREAM_SOURCE_LINK + MAKE_SOURCE_LINKS,
};

void bag_put(struct bag *bag, const void *bytes, uint32_t count)
{
    if (bag->room - bag->bytes < count) {
        bag->room = (bag->room + count) * 2 + 256;
        bag->at = realloc(bag->at, bag->room);
        REQUIRE(bag->at != NULL);
    }
    if (count > 0) /* BYTES may be NULL when COUNT is 0 */
        memcpy(bag->at + bag->bytes, bytes, count);
    bag->bytes += count;
}

static void put_number(struct bag *bag, uint32_t value, uint32_t count)
{
    uint8_t bytes[4];
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    bag_put(bag, bytes, count);
}

void bag_u8(struct bag *bag, uint32_t value)
{
    put_number(bag, value, 1);
}

void bag_u16(struct bag *bag, uint32_t value)
{
    put_number(bag, value, 2);
}

void bag_u32(struct bag *bag, uint32_t value)
{
    put_number(bag, value, 4);
}

void bag_text(struct bag *bag, const char *text)
{
    bag_put(bag, text, (uint32_t)strlen(text) + 1);
}

void bag_pascal(struct bag *bag, const char *text)
{
    bag_u8(bag, (uint32_t)strlen(text));
    bag_put(bag, text, (uint32_t)strlen(text));
}

void bag_align(struct bag *bag)
{
    while ((bag->bytes & 3) != 0)
        bag_u8(bag, 0);
}

void bag_patch_u32(struct bag *bag, uint32_t at, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++)
        bag->at[at + i] = (uint8_t)(value >> 8 * i);
}

void make_pdb_start(struct make_pdb *m)
{
    memset(m, 0, sizeof *m);
    m->block_bytes = 4096;
    for (uint32_t i = 0; i < MAKE_MODULES; i++)
        bag_u32(&m->symbols[i], 4);
    bag_u8(&m->names, 0);
}

void make_pdb_free(struct make_pdb *m)
{
    struct bag *bags[] = {
        &m->symbols[0], &m->symbols[1],    &m->c11[0], &m->c11[1],         &m->c13[0],
        &m->c13[1],     &m->ids,           &m->names,  &m->publics,        &m->public_map,
        &m->jumps,      &m->contributions, &m->file,   &m->omap_to_source, &m->omap_from_source};
    for (size_t i = 0; i < COUNT_OF(bags); i++)
        free(bags[i]->at);
    memset(m, 0, sizeof *m);
}

void make_contribution(struct make_pdb *m, uint32_t module, uint32_t offset, uint32_t bytes)
{
    struct bag *bag = &m->contributions;
    bag_u32(bag, 1); /* section */
    bag_u32(bag, offset);
    bag_u32(bag, bytes);
    bag_u32(bag, 0x60000020);
    bag_u32(bag, module);
    bag_u32(bag, 0);
    bag_u32(bag, 0);
}

void make_public(struct make_pdb *m, uint32_t offset, const char *name)
{
    const uint32_t at = m->publics.bytes;
    bag_u32(&m->public_map, at);
    bag_u16(&m->publics, 0);
    bag_u16(&m->publics, 0x110e);
    bag_u32(&m->publics, 2);
    bag_u32(&m->publics, offset);
    bag_u16(&m->publics, 1);
    bag_text(&m->publics, name);
    bag_align(&m->publics);
    const uint32_t bytes = m->publics.bytes - at - 2;
    m->publics.at[at] = (uint8_t)bytes;
    m->publics.at[at + 1] = (uint8_t)(bytes >> 8);
}

uint32_t make_name(struct make_pdb *m, const char *name)
{
    const uint32_t at = m->names.bytes;
    bag_text(&m->names, name);
    return at;
}

uint32_t make_record(struct make_pdb *m, uint32_t module, uint32_t kind)
{
    const uint32_t at = m->symbols[module].bytes;
    bag_u16(&m->symbols[module], 0);
    bag_u16(&m->symbols[module], kind);
    return at;
}

void make_record_end(struct make_pdb *m, uint32_t module, uint32_t record)
{
    struct bag *bag = &m->symbols[module];
    bag_align(bag);
    const uint32_t bytes = bag->bytes - record - 2;
    bag->at[record] = (uint8_t)bytes;
    bag->at[record + 1] = (uint8_t)(bytes >> 8);
}

/* The head of a procedure's record, by kind; see layouts in format/pdb/pdb_module.c. */
static void put_procedure(struct bag *bag, uint32_t kind, uint32_t offset, uint32_t bytes,
                          const char *name)
{
    const bool thunk = kind == 0x1102 || kind == 0x0206;
    const bool short_types = kind == 0x0204 || kind == 0x0205;
    const bool managed = kind == 0x112a || kind == 0x112b || kind == 0x101a || kind == 0x101b;
    const bool wide_flags = kind >= 0x1172 && kind <= 0x1175;
    const bool mips = kind == 0x1010 || kind == 0x1011 || kind == 0x1114 || kind == 0x1115 ||
                      kind == 0x1148 || kind == 0x1149;
    const bool itanium = kind == 0x1015 || kind == 0x1016 || kind == 0x1118 || kind == 0x1119 ||
                         kind == 0x114a || kind == 0x114b;
    const bool pascal = kind < 0x1100;
    bag_u32(bag, 0); /* parent */
    bag_u32(bag, 0); /* end: patched */
    bag_u32(bag, 0); /* next */
    if (thunk) {
        bag_u32(bag, offset);
        bag_u16(bag, 1);
        bag_u16(bag, bytes);
        bag_u8(bag, 0);
    } else {
        bag_u32(bag, bytes);
        bag_u32(bag, 0); /* prolog's end */
        bag_u32(bag, bytes);
        for (int i = 0; mips && i < 4; i++)
            bag_u32(bag, 0x71); /* masks and offsets of saved registers */
        if (!short_types)
            bag_u32(bag, 0); /* type */
        bag_u32(bag, offset);
        bag_u16(bag, 1);
        if (short_types)
            bag_u16(bag, 0);
        bag_u8(bag, 0);
        if (wide_flags || mips)
            bag_u8(bag, 'x');
        if (managed || itanium)
            bag_u16(bag, 0);
    }
    if (pascal)
        bag_pascal(bag, name);
    else
        bag_text(bag, name);
}

uint32_t make_procedure(struct make_pdb *m, uint32_t module, uint32_t kind, uint32_t offset,
                        uint32_t bytes, const char *name)
{
    const uint32_t record = make_record(m, module, kind);
    put_procedure(&m->symbols[module], kind, offset, bytes, name);
    make_record_end(m, module, record);
    return record;
}

void make_scope_end(struct make_pdb *m, uint32_t module, uint32_t record, uint32_t kind)
{
    const uint32_t end = make_record(m, module, kind);
    make_record_end(m, module, end);
    bag_patch_u32(&m->symbols[module], record + 8, end);
}

void make_checksum(struct make_pdb *m, uint32_t module, const char *file)
{
    struct bag *bag = &m->c13[module];
    bag_u32(bag, 0xf4);
    bag_u32(bag, 8);
    bag_u32(bag, make_name(m, file));
    bag_u32(bag, 0); /* no hash */
}

void make_lines(struct make_pdb *m, uint32_t module, uint32_t offset, uint32_t bytes, uint32_t file,
                const uint32_t (*rows)[2], uint32_t row_count)
{
    struct bag *bag = &m->c13[module];
    bag_u32(bag, 0xf2);
    bag_u32(bag, 12 + 12 + 8 * row_count);
    bag_u32(bag, offset);
    bag_u16(bag, 1);
    bag_u16(bag, 0);
    bag_u32(bag, bytes);
    bag_u32(bag, file);
    bag_u32(bag, row_count);
    bag_u32(bag, 12 + 8 * row_count);
    for (uint32_t i = 0; i < row_count; i++) {
        bag_u32(bag, rows[i][0]);
        bag_u32(bag, rows[i][1] | 0x80000000);
    }
}

static void put_info(const struct make_pdb *m, struct bag *out)
{
    bag_u32(out, 20000404);
    bag_u32(out, 0);
    bag_u32(out, 1); /* age */
    for (uint32_t i = 0; i < 16; i++)
        bag_u8(out, i);
    struct bag names = {NULL, 0, 0}, pairs = {NULL, 0, 0};
    bag_text(&names, "/names");
    if (!m->without_names) {
        bag_u32(&pairs, 0);
        bag_u32(&pairs, STREAM_NAMES);
    }
    for (uint32_t i = 0; i < MAKE_SOURCE_LINKS; i++) {
        if (m->source_links[i].stream == NULL)
            continue;
        bag_u32(&pairs, names.bytes);
        bag_u32(&pairs, STREAM_SOURCE_LINK + i);
        bag_text(&names, m->source_links[i].stream);
    }
    bag_u32(out, names.bytes);
    bag_put(out, names.at, names.bytes);
    bag_u32(out, pairs.bytes / 8);
    bag_u32(out, 1);
    bag_u32(out, 1); /* present */
    bag_u32(out, 1);
    bag_u32(out, 0); /* deleted */
    bag_put(out, pairs.at, pairs.bytes);
    bag_u32(out, 0);
    free(names.at);
    free(pairs.at);
}

static void put_types(struct bag *out, const struct bag *records, uint32_t count)
{
    bag_u32(out, 20040203);
    bag_u32(out, 56);
    bag_u32(out, 0x1000);
    bag_u32(out, 0x1000 + count);
    bag_u32(out, records != NULL ? records->bytes : 0);
    bag_u32(out, 0xffffffff); /* no hashes */
    for (uint32_t i = 0; i < 8; i++)
        bag_u32(out, 0);
    if (records != NULL)
        bag_put(out, records->at, records->bytes);
}

static void put_module(const struct make_pdb *m, uint32_t i, struct bag *out)
{
    static const char *const names[] = {"one.obj", "two.obj"};
    for (uint32_t k = 0; k < 34; k++)
        bag_u8(out, 0);
    bag_u16(out, STREAM_MODULE + i);
    bag_u32(out, m->symbols[i].bytes);
    bag_u32(out, m->c11[i].bytes);
    bag_u32(out, m->c13[i].bytes);
    for (uint32_t k = 0; k < 16; k++)
        bag_u8(out, 0);
    bag_text(out, names[i]);
    bag_text(out, names[i]);
    bag_align(out);
}

static void put_dbi(const struct make_pdb *m, struct bag *out)
{
    struct bag modules = {NULL, 0, 0};
    for (uint32_t i = 0; i < MAKE_MODULES; i++)
        put_module(m, i, &modules);
    const uint32_t contributions = m->without_contributions ? 0 : 4 + m->contributions.bytes;
    const uint32_t head[] = {0xffffffff,
                             19990903,
                             1,
                             0xffff,
                             STREAM_PUBLICS,
                             STREAM_RECORDS,
                             modules.bytes,
                             contributions,
                             0,
                             0,
                             0,
                             0,
                             22,
                             0,
                             0x86640000,
                             0};
    for (size_t i = 0; i < COUNT_OF(head); i++)
        bag_u32(out, head[i]);
    bag_put(out, modules.at, modules.bytes);
    free(modules.at);
    if (!m->without_contributions) {
        bag_u32(out, 0xf12eba2d);
        bag_put(out, m->contributions.at, m->contributions.bytes);
    }
    for (uint32_t i = 0; i < 11; i++) {
        const bool there =
            (i == 3 && m->omap_to_source.bytes != 0) ||
            (i == 4 && m->omap_from_source.bytes != 0) ||
            (!m->without_sections && (i == 5 || (i == 10 && m->omap_to_source.bytes != 0)));
        const uint32_t stream = i == 3   ? STREAM_OMAP_TO
                                : i == 4 ? STREAM_OMAP_FROM
                                         : STREAM_SECTIONS;
        bag_u16(out, there ? stream : 0xffff);
    }
}

static void put_section(struct bag *out)
{
    bag_put(out, ".text\0\0\0", 8);
    bag_u32(out, MAKE_CODE_BYTES);
    bag_u32(out, MAKE_CODE_RVA);
    bag_u32(out, MAKE_CODE_BYTES);
    for (uint32_t i = 0; i < 4; i++)
        bag_u32(out, 0);
    bag_u32(out, 0x60000020);
}

static void put_streams(const struct make_pdb *m, struct bag *streams)
{
    put_info(m, &streams[STREAM_INFO]);
    put_types(&streams[STREAM_TYPES], NULL, 0);
    put_types(&streams[STREAM_IDS], &m->ids, m->id_count);
    put_dbi(m, &streams[STREAM_DBI]);
    for (uint32_t i = 0; i < MAKE_MODULES; i++) {
        struct bag *out = &streams[STREAM_MODULE + i];
        bag_put(out, m->symbols[i].at, m->symbols[i].bytes);
        if (m->c11[i].bytes != 0)
            bag_put(out, m->c11[i].at, m->c11[i].bytes);
        if (m->c13[i].bytes != 0)
            bag_put(out, m->c13[i].at, m->c13[i].bytes);
    }
    for (uint32_t i = 0; i <= m->more_sections; i++)
        put_section(&streams[STREAM_SECTIONS]);
    bag_u32(&streams[STREAM_PUBLICS], 0);
    bag_u32(&streams[STREAM_PUBLICS], m->public_map.bytes);
    bag_u32(&streams[STREAM_PUBLICS], m->jumps.bytes / 4);
    bag_u32(&streams[STREAM_PUBLICS], m->jump_bytes);
    bag_u32(&streams[STREAM_PUBLICS], 1); /* the section of the first one */
    bag_u32(&streams[STREAM_PUBLICS], m->jumps_offset);
    bag_u32(&streams[STREAM_PUBLICS], 0);
    if (m->publics.bytes != 0) {
        bag_put(&streams[STREAM_PUBLICS], m->public_map.at, m->public_map.bytes);
        bag_put(&streams[STREAM_RECORDS], m->publics.at, m->publics.bytes);
    }
    if (m->jumps.bytes != 0)
        bag_put(&streams[STREAM_PUBLICS], m->jumps.at, m->jumps.bytes);
    bag_u32(&streams[STREAM_NAMES], 0xeffeeffe);
    bag_u32(&streams[STREAM_NAMES], 1);
    bag_u32(&streams[STREAM_NAMES], m->names.bytes);
    bag_put(&streams[STREAM_NAMES], m->names.at, m->names.bytes);
    for (uint32_t i = 0; i < MAKE_SOURCE_LINKS; i++)
        if (m->source_links[i].json != NULL)
            bag_put(&streams[STREAM_SOURCE_LINK + i], m->source_links[i].json,
                    (uint32_t)strlen(m->source_links[i].json));
    if (m->omap_to_source.bytes != 0)
        bag_put(&streams[STREAM_OMAP_TO], m->omap_to_source.at, m->omap_to_source.bytes);
    if (m->omap_from_source.bytes != 0)
        bag_put(&streams[STREAM_OMAP_FROM], m->omap_from_source.at, m->omap_from_source.bytes);
}

/* Appends BAG in whole blocks and notes their numbers. */
static void put_blocks(struct make_pdb *m, const struct bag *bag, struct bag *list)
{
    for (uint32_t at = 0; at < bag->bytes; at += m->block_bytes) {
        const uint32_t left = bag->bytes - at;
        bag_u32(list, m->file.bytes / m->block_bytes);
        bag_put(&m->file, bag->at + at, left < m->block_bytes ? left : m->block_bytes);
        while (m->file.bytes % m->block_bytes != 0)
            bag_u8(&m->file, 0);
    }
}

const uint8_t *make_pdb_file(struct make_pdb *m, size_t *bytes)
{
    struct bag streams[STREAMS] = {{NULL, 0, 0}};
    struct bag lists = {NULL, 0, 0}, directory = {NULL, 0, 0}, map = {NULL, 0, 0};
    m->file.bytes = 0;
    for (uint32_t i = 0; i < 3 * m->block_bytes; i++) /* superblock and two free maps */
        bag_u8(&m->file, 0);
    put_streams(m, streams);
    bag_u32(&directory, STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++) {
        bag_u32(&directory, streams[i].bytes);
        put_blocks(m, &streams[i], &lists);
        free(streams[i].at);
    }
    bag_put(&directory, lists.at, lists.bytes);
    lists.bytes = 0;
    put_blocks(m, &directory, &lists);
    put_blocks(m, &lists, &map);
    memcpy(m->file.at, "Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0", 32);
    bag_patch_u32(&m->file, 32, m->block_bytes);
    bag_patch_u32(&m->file, 36, 1);
    bag_patch_u32(&m->file, 40, m->file.bytes / m->block_bytes);
    bag_patch_u32(&m->file, 44, directory.bytes);
    memcpy(m->file.at + 52, map.at, map.bytes);
    free(lists.at);
    free(directory.at);
    free(map.at);
    *bytes = m->file.bytes;
    return m->file.at;
}
