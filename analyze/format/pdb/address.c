/* See pdb.h. Places, rvas, contributions and publics: everything found by searching a table that
 * the linker sorted by address. A damaged, unsorted table gives wrong answers, never a crash. */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/pdb/pdb.h"
#include "format/pdb/pdb_module.h"
#include "format/pe/pe.h"

/* By an rva in the address space of the symbols, which OMAP has translated. */
static bool place_in(const struct pdb *pdb, uint32_t rva, struct pdb_place *out)
{
    for (uint32_t i = 0; i < pdb->section_count; i++) {
        const struct pdb_section *section = &pdb->sections[i];
        if (rva >= section->rva && rva - section->rva < section->virtual_bytes) {
            *out = (struct pdb_place){(uint16_t)(i + 1), rva - section->rva};
            return true;
        }
    }
    return false;
}

/* Rows of two u32, sorted by the first, each of which applies up to the next one; target 0 means
 * that there is no counterpart. */
static bool omap_translate(struct byte_view omap, uint32_t rva, uint32_t *out)
{
    size_t low = 0, high = omap.bytes / OMAP_ROW_BYTES;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view_u32(omap, middle * OMAP_ROW_BYTES) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const struct byte_view row = view_from(omap, (low - 1) * OMAP_ROW_BYTES);
    const uint32_t to = view_u32(row, 4);
    *out = to + (rva - view_u32(row, 0));
    return to != 0;
}

void pdb_take_sections(struct pdb *pdb, const struct pe *image)
{
    struct pe_section section;
    if (!pdb->has_dbi || pdb->section_count > 0)
        return;
    struct pdb_section *out = ARENA_ARRAY(&pdb->arena, image->section_count, struct pdb_section);
    uint32_t count = 0;
    for (; out != NULL && pe_section(image, count, &section); count++)
        out[count] = (struct pdb_section){
            .rva = section.rva,
            .virtual_bytes = section.virtual_bytes != 0 ? section.virtual_bytes : section.raw_bytes,
            .flags = section.flags};
    pdb->sections = pdb->sections_final = out;
    pdb->section_count = pdb->section_final_count = count;
}

bool pdb_place_of_rva(const struct pdb *pdb, uint32_t rva, struct pdb_place *out)
{
    if (pdb->omap_to_source.data != NULL && !omap_translate(pdb->omap_to_source, rva, &rva))
        return false;
    return place_in(pdb, rva, out);
}

uint32_t pdb_source_rva(const struct pdb *pdb, struct pdb_place place)
{
    if (place.section == 0 || place.section > pdb->section_count)
        return 0;
    return pdb->sections[place.section - 1].rva + place.offset;
}

bool pdb_rva_of_place(const struct pdb *pdb, struct pdb_place place, uint32_t *rva)
{
    if (place.section == 0 || place.section > pdb->section_count ||
        place.offset > UINT32_MAX - pdb->sections[place.section - 1].rva)
        return false;
    *rva = pdb_source_rva(pdb, place);
    return pdb->omap_from_source.data == NULL || omap_translate(pdb->omap_from_source, *rva, rva);
}

bool pdb_is_code(const struct pdb *pdb, struct pdb_place place)
{
    return place.section != 0 && place.section <= pdb->section_count &&
           (pdb->sections[place.section - 1].flags & (PE_SECTION_CODE | PE_SECTION_EXECUTE)) != 0;
}

bool pdb_place_after(struct pdb_place a, struct pdb_place b)
{
    return a.section != b.section ? a.section > b.section : a.offset > b.offset;
}

bool pdb_contribution(const struct pdb *pdb, uint32_t index, struct pdb_contribution *out)
{
    uint8_t row[28];
    if (pdb->contributions != NULL) {
        if (index < pdb->contribution_count)
            *out = pdb->contributions[index];
        return index < pdb->contribution_count;
    }
    if (index >= pdb->contribution_count ||
        !msf_copy(&pdb->dbi, pdb->contribution_soff + index * pdb->contribution_bytes_each,
                  sizeof row, row))
        return false;
    out->start.section = load_u16(row);
    out->start.offset = load_u32(row + 4);
    out->bytes = load_u32(row + 8);
    out->flags = load_u32(row + 12);
    out->module = load_u16(row + 16);
    return true;
}

/* The last of the first COUNT contributions that is not empty, if it is in SECTION. */
static bool last_contribution(const struct pdb *pdb, uint32_t count, uint16_t section,
                              struct pdb_contribution *out)
{
    while (count-- > 0) { /* empty contributions share their start with the next one */
        if (!pdb_contribution(pdb, count, out) || out->start.section != section)
            return false;
        if (out->bytes != 0)
            return true;
    }
    return false;
}

bool pdb_contribution_before(const struct pdb *pdb, struct pdb_place place,
                             struct pdb_contribution *out)
{
    uint32_t low = 0, high = pdb->contribution_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!pdb_contribution(pdb, middle, out))
            return false;
        if (pdb_place_after(out->start, place))
            high = middle;
        else
            low = middle + 1;
    }
    return last_contribution(pdb, low, place.section, out);
}

static uint64_t place_key(struct pdb_place place)
{
    return (uint64_t)place.section << 32 | place.offset;
}

uint64_t *pdb_contribution_keys(const struct pdb *pdb, struct arena *keep)
{
    const uint32_t count = pdb->contribution_count;
    uint64_t *keys = ARENA_ARRAY(keep, count, uint64_t);
    struct pdb_contribution one;
    for (uint32_t i = 0; keys != NULL && i < count; i++) {
        if (!pdb_contribution(pdb, i, &one) || (i > 0 && place_key(one.start) < keys[i - 1]))
            return NULL;
        keys[i] = place_key(one.start);
    }
    return keys;
}

bool pdb_contribution_before_by(const struct pdb *pdb, const uint64_t *keys, struct pdb_place place,
                                struct pdb_contribution *out)
{
    const uint32_t count =
        array_upper(keys, pdb->contribution_count, sizeof *keys, sizeof *keys, place_key(place));
    return last_contribution(pdb, count, place.section, out);
}

bool pdb_contribution_at(const struct pdb *pdb, struct pdb_place place,
                         struct pdb_contribution *out)
{
    return pdb_contribution_before(pdb, place, out) &&
           place.offset - out->start.offset < out->bytes;
}

/*     OFFSET SIZE  public symbol, after its kind (S_PUB32)
 *          0    4  flags
 *          4    4  offset
 *          8    2  section
 *         10       name; with a length byte in old records */
static bool public_read(const struct pdb *pdb, uint32_t soff, struct arena *copies,
                        struct pdb_public *out)
{
    uint8_t head[14];
    if (!msf_copy(&pdb->symbol_records, soff, sizeof head, head))
        return false;
    const uint16_t bytes = load_u16(head), kind = load_u16(head + 2);
    const bool is_16t = kind == PDB_PUB32_16T;
    if ((kind != PDB_PUB32 && kind != PDB_PUB32_ST && !is_16t) || bytes < 12)
        return false;
    out->flags = kind == PDB_PUB32 ? load_u32(head + 4) : 0;
    out->place.offset = load_u32(head + (is_16t ? 4 : 8));
    out->place.section = load_u16(head + (is_16t ? 8 : 12));
    out->name = "";
    if (copies == NULL)
        return true;
    const uint32_t name_soff = soff + (is_16t ? 12 : 14);
    if (kind == PDB_PUB32) {
        out->name = msf_string(&pdb->symbol_records, name_soff, copies);
        return true;
    }
    uint8_t length;
    if (!msf_copy(&pdb->symbol_records, name_soff, 1, &length))
        return false;
    const uint8_t *text = msf_view(&pdb->symbol_records, name_soff + 1, length, copies);
    const char *name = text != NULL ? arena_text(copies, (const char *)text, length) : NULL;
    out->name = name != NULL ? name : "";
    return true;
}

bool pdb_public(const struct pdb *pdb, uint32_t index, struct arena *copies, struct pdb_public *out)
{
    uint8_t at[4];
    return index < pdb->address_map_count &&
           msf_copy(&pdb->publics, pdb->address_map_soff + 4 * index, 4, at) &&
           public_read(pdb, load_u32(at), copies, out);
}

/* Of several publics at one place (folded functions), returns the one whose record comes first: the
 * linker sorted the map by address only. */
static bool first_record(const struct pdb *pdb, uint32_t last, struct arena *copies,
                         struct pdb_public *out)
{
    const struct pdb_place place = out->place;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = last + 1; i-- > 0 && pdb_public(pdb, i, NULL, out) &&
                                out->place.section == place.section &&
                                out->place.offset == place.offset;) {
        uint8_t at[4];
        if (msf_copy(&pdb->publics, pdb->address_map_soff + 4 * i, 4, at) && load_u32(at) < best)
            best = load_u32(at);
    }
    return public_read(pdb, best, copies, out);
}

bool pdb_public_before(const struct pdb *pdb, struct pdb_place place, struct arena *copies,
                       struct pdb_public *out)
{
    uint32_t low = 0, high = pdb->address_map_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!pdb_public(pdb, middle, NULL, out))
            return false;
        if (pdb_place_after(out->place, place))
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0 || !pdb_public(pdb, low - 1, NULL, out) || out->place.section != place.section)
        return false;
    return copies == NULL || first_record(pdb, low - 1, copies, out);
}

bool pdb_jump_at(const struct pdb *pdb, struct pdb_place place, struct pdb_jump *out)
{
    uint8_t rva[4];
    if (pdb->jump_count == 0 || place.section != pdb->jumps.section ||
        place.offset < pdb->jumps.offset)
        return false;
    const uint32_t number = (place.offset - pdb->jumps.offset) / pdb->jump_bytes;
    if (number >= pdb->jump_count ||
        !msf_copy(&pdb->publics, pdb->jump_soff + 4 * number, sizeof rva, rva) ||
        !place_in(pdb, load_u32(rva), &out->target))
        return false;
    out->start = pdb->jumps;
    out->start.offset += number * pdb->jump_bytes;
    out->bytes = pdb->jump_bytes;
    return true;
}

bool pdb_rva_before_omap(const struct pdb *pdb, uint32_t rva, uint32_t *out)
{
    *out = rva;
    return pdb->omap_to_source.data == NULL || omap_translate(pdb->omap_to_source, rva, out);
}
