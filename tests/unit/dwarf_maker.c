/* See dwarf_maker.h. */
#include "dwarf_maker.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

const struct made formats[FORMATS] = {
    {.version = 2, .address_bytes = 8},
    {.version = 3, .address_bytes = 8, .wide = true},
    {.version = 4, .address_bytes = 4, .big = true},
    {.version = 4, .address_bytes = 8},
    {.version = 5, .address_bytes = 8},
    {.version = 5, .address_bytes = 8, .wide = true, .big = true},
};

void put_fixed(struct part *to, uint64_t value, size_t bytes, bool big)
{
    REQUIRE(to->bytes + bytes <= PART_MAX);
    for (size_t i = 0; i < bytes; i++) {
        const size_t place = big ? bytes - 1 - i : i;
        to->data[to->bytes++] = place < sizeof value ? (uint8_t)(value >> 8 * place) : 0;
    }
}

void put_unsigned(struct part *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_fixed(to, (value & 0x7f) | 0x80, 1, false);
    put_fixed(to, value, 1, false);
}

void put_text(struct part *to, const char *text)
{
    for (size_t i = 0; i <= strlen(text); i++)
        put_fixed(to, (uint8_t)text[i], 1, false);
}

void number(struct made *m, uint64_t value, size_t bytes)
{
    put_fixed(&m->info, value, bytes, m->big);
}

uint32_t here(const struct made *m)
{
    return (uint32_t)(m->info.bytes - m->start);
}

void shape(struct made *m, uint64_t code, uint64_t tag, bool children, const uint64_t *pairs)
{
    put_unsigned(&m->abbrev, code);
    put_unsigned(&m->abbrev, tag);
    put_fixed(&m->abbrev, children, 1, false);
    for (; pairs[0] != 0; pairs += 2) {
        put_unsigned(&m->abbrev, pairs[0]);
        put_unsigned(&m->abbrev, pairs[1]);
    }
    put_fixed(&m->abbrev, 0, 2, false);
}

void start_unit(struct made *m)
{
    static const uint64_t pairs[] = {LOW, ADDR, HIGH, ADDR, 0};
    const uint32_t offset_bytes = m->wide ? 8 : 4;

    m->start = m->info.bytes;
    if (m->wide)
        number(m, UINT32_MAX, 4);
    number(m, 0, offset_bytes);
    number(m, m->version, 2);
    if (m->version >= 5) {
        number(m, m->kind != 0 ? m->kind : 1, 1);
        number(m, m->address_bytes, 1);
    }
    number(m, m->abbrev.bytes, offset_bytes);
    if (m->kind != 0)
        number(m, 7, 8); /* its signature, and the offset of the type */
    if (m->kind == TYPE)
        number(m, 7, offset_bytes);
    if (m->version < 5)
        number(m, m->address_bytes, 1);
    shape(m, 1, m->kind == TYPE ? TYPE_UNIT : UNIT, true, pairs);
    put_unsigned(&m->info, 1);
    number(m, BASE, m->address_bytes);
    number(m, BASE + 0x1000, m->address_bytes);
}

void end_unit(struct made *m)
{
    const size_t head = m->wide ? 12 : 4, end = m->info.bytes + 1;

    number(m, 0, 1); /* of the children */
    put_fixed(&m->abbrev, 0, 1, false);
    m->info.bytes = m->start + (m->wide ? 4 : 0);
    number(m, end - m->start - head, m->wide ? 8 : 4);
    m->info.bytes = end;
}

void code_range(struct made *m)
{
    number(m, BASE + AT, m->address_bytes);
    number(m, BASE + AT + 0x10, m->address_bytes);
}

static const uint8_t texts[] = "\0\0\0\0here\0there";
static const uint8_t numbers[] = {0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4,
                                  0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4};

struct object_debug sections_of(const struct made *m)
{
    struct object_debug debug = {
        .base_va = BASE, .address_bytes = m->address_bytes, .big_endian = m->big};
    debug.own[DEBUG_INFO] = (struct byte_view){m->info.data, m->info.bytes};
    debug.own[DEBUG_ABBREV] = (struct byte_view){m->abbrev.data, m->abbrev.bytes};
    debug.own[DEBUG_STR] = debug.own[DEBUG_LINE_STR] = (struct byte_view){texts, sizeof texts};
    debug.own[DEBUG_STR_OFFSETS] = (struct byte_view){numbers, sizeof numbers};
    return debug;
}

struct answer ask_at(const struct object_debug *debug, const struct object_debug *alternate,
                     uint32_t offset)
{
    const struct dwarf_input input = {.debug = debug, .alternate = alternate};
    struct answer out = {.name = "-"};
    struct fault fault = FAULT_INIT;
    struct dwarf_place place, again;
    struct dwarf *dwarf;

    if (dwarf_open(&input, &dwarf, &fault) != ERR_NONE)
        return out;
    dwarf_at(dwarf, offset, &place);
    dwarf_at(dwarf, offset, &again); /* from the second question on, the unit has a list of spans */
    CHECK(again.scope == place.scope);
    CHECK_EQ(again.line, place.line);
    CHECK_EQ(again.damaged, place.damaged);
    out.opened = true;
    out.damaged = place.damaged;
    for (const struct dwarf_scope *s = place.scope; s != NULL; s = s->around)
        out.depth++;
    const char *name = place.scope != NULL ? dwarf_scope_name(place.scope) : NULL;
    if (name != NULL)
        (void)snprintf(out.name, sizeof out.name, "%s", name);
    out.call_line = place.scope != NULL ? place.scope->call_line : 0;
    dwarf_close(dwarf);
    return out;
}

struct answer ask(const struct object_debug *debug, const struct object_debug *alternate)
{
    return ask_at(debug, alternate, AT);
}

struct made *begin(const struct made *like)
{
    struct made *m = test_copy(like, sizeof *like);
    start_unit(m);
    return m;
}
