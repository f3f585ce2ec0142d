/* See pe.h.
 *
 *     OFFSET SIZE  DOS header            OFFSET SIZE  file header, after "PE\0\0"
 *          0    2  "MZ"                       0    2  machine
 *         60    4  file offset of "PE\0\0"    2    2  sections
 *                                             4    4  timestamp
 *                                             8    4  COFF symbols' file offset
 *                                            12    4  COFF symbols
 *                                            16    2  bytes of the optional header */
#include "format/pe/pe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

uint16_t pe_machine(enum cpu cpu)
{
    static const uint16_t machines[CPU_COUNT] = {[CPU_X86] = PE_MACHINE_X86,
                                                 [CPU_X64] = PE_MACHINE_X64,
                                                 [CPU_ARM64] = PE_MACHINE_ARM64,
                                                 [CPU_ARM] = PE_MACHINE_ARM};
    return machines[(unsigned)cpu < CPU_COUNT ? cpu : CPU_UNKNOWN];
}

enum cpu pe_cpu(uint32_t machine)
{
    for (int cpu = CPU_X86; cpu < CPU_COUNT; cpu++)
        if (machine == pe_machine((enum cpu)cpu))
            return (enum cpu)cpu;
    return CPU_UNKNOWN;
}

enum { COFF_EXTERNAL = 2, COFF_STATIC = 3, COFF_FUNCTION = 0x20 };
enum { SECTION_BYTES = 40, COFF_SYMBOL_BYTES = 18, DEBUG_ENTRY_BYTES = 28, DEBUG_ENTRIES_MAX = 64 };

static void pe_read_optional(struct bytes *r, struct pe *out)
{
    const uint16_t magic = bytes_u16(r);
    out->is_64 = magic == 0x20b;
    if (magic != 0x10b && magic != 0x20b) {
        fault_set(r->fault, ERR_MALFORMED, r->offset - 2, "PE optional header");
        return;
    }
    bytes_skip(r, out->is_64 ? 22 : 26);
    out->preferred_base_va = out->is_64 ? bytes_u64(r) : bytes_u32(r);
    bytes_skip(r, 24);
    out->image_bytes = bytes_u32(r);
    out->header_bytes = bytes_u32(r);
    bytes_skip(r, out->is_64 ? 44 : 28);
    const uint32_t directories = bytes_u32(r);
    for (uint32_t i = 0; i < directories && i < PE_DIRECTORIES && r->left >= 8; i++) {
        out->directories[i].rva = bytes_u32(r);
        out->directories[i].bytes = bytes_u32(r);
    }
}

enum status pe_open(const void *data, size_t bytes, struct pe *out, struct fault *fault)
{
    struct bytes file = bytes_over(data, bytes, fault);
    memset(out, 0, sizeof *out);
    out->data = data;
    out->bytes = bytes;
    if (bytes < 64 || load_u16(data) != 0x5a4d)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "PE image");
    const uint32_t head_foff = load_u32((const uint8_t *)data + 60);
    struct bytes r = file;
    bytes_skip(&r, head_foff);
    if (bytes_u32(&r) != 0x4550)
        return fault_set(fault, ERR_UNSUPPORTED, head_foff, "PE signature");
    out->machine = bytes_u16(&r);
    out->section_count = bytes_u16(&r);
    out->timestamp = bytes_u32(&r);
    out->coff_symbols_foff = bytes_u32(&r);
    out->coff_symbol_count = bytes_u32(&r);
    const uint16_t optional_bytes = bytes_u16(&r);
    bytes_skip(&r, 2);
    struct bytes optional = bytes_window(&r, 0, optional_bytes);
    pe_read_optional(&optional, out);
    bytes_skip(&r, optional_bytes);
    if (bytes_failed(&r))
        return fault->code;
    out->section_table_foff = (uint32_t)r.offset;
    (void)bytes_count(&r, out->section_count, SECTION_BYTES);
    return fault->code;
}

bool pe_section(const struct pe *pe, uint32_t index, struct pe_section *out)
{
    if (index >= pe->section_count)
        return false;
    const uint8_t *p = pe->data + pe->section_table_foff + (size_t)index * SECTION_BYTES;
    memcpy(out->name, p, 8);
    out->name[8] = '\0';
    out->virtual_bytes = load_u32(p + 8);
    out->rva = load_u32(p + 12);
    out->raw_bytes = load_u32(p + 16);
    out->foff = load_u32(p + 20);
    out->flags = load_u32(p + 36);
    return true;
}

static uint32_t section_span(const struct pe_section *s)
{
    return s->virtual_bytes != 0 ? s->virtual_bytes : s->raw_bytes;
}

bool pe_section_of_rva(const struct pe *pe, uint32_t rva, struct pe_section *out)
{
    const uint8_t *p = pe->data + pe->section_table_foff;
    for (uint32_t i = 0; i < pe->section_count; i++, p += SECTION_BYTES) {
        const uint32_t start_rva = load_u32(p + 12);
        const uint32_t virtual_bytes = load_u32(p + 8);
        if (rva >= start_rva &&
            rva - start_rva < (virtual_bytes != 0 ? virtual_bytes : load_u32(p + 16)))
            return pe_section(pe, i, out);
    }
    return false;
}

/* The COFF string table follows the symbols; its first 4 bytes are its size. */
static const char *coff_string(const struct pe *pe, uint32_t offset)
{
    const uint64_t table =
        (uint64_t)pe->coff_symbols_foff + (uint64_t)pe->coff_symbol_count * COFF_SYMBOL_BYTES;
    if (pe->coff_symbols_foff == 0 || offset < 4 || table + offset >= pe->bytes)
        return NULL;
    const char *text = (const char *)pe->data + table + offset;
    return memchr(text, 0, pe->bytes - (size_t)(table + offset)) != NULL ? text : NULL;
}

/* "/123", or "//AAAAHs" above 9,999,999: six digits of base 64, as LLVM and binutils write them. */
static uint32_t name_offset(const char name[9])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t offset = 0;
    if (name[1] != '/')
        return (uint32_t)strtoul(name + 1, NULL, 10);
    for (size_t i = 2; name[i] != '\0'; i++) {
        const char *digit = strchr(digits, name[i]);
        if (digit == NULL)
            return 0;
        offset = offset * 64 + (uint64_t)(digit - digits);
    }
    return offset <= UINT32_MAX ? (uint32_t)offset : 0;
}

const char *pe_section_name(const struct pe *pe, const struct pe_section *section)
{
    if (section->name[0] != '/')
        return section->name;
    const char *text = coff_string(pe, name_offset(section->name));
    return text != NULL ? text : section->name;
}

bool pe_section_named(const struct pe *pe, const char *name, struct pe_section *out)
{
    for (uint32_t i = 0; pe_section(pe, i, out); i++)
        if (strcmp(pe_section_name(pe, out), name) == 0)
            return true;
    return false;
}

const uint8_t *pe_tail(const struct pe *pe, uint32_t rva, uint32_t *bytes)
{
    struct pe_section s;
    uint64_t foff = 0, left = 0;
    *bytes = 0;
    if (pe_section_of_rva(pe, rva, &s)) {
        const uint32_t into = rva - s.rva;
        const uint32_t span = section_span(&s);
        const uint32_t there = s.raw_bytes < span ? s.raw_bytes : span;
        if (into >= there)
            return NULL;
        foff = (uint64_t)s.foff + into;
        left = there - into;
    } else if (rva < pe->header_bytes) {
        foff = rva;
        left = pe->header_bytes - rva;
    }
    if (left == 0 || foff >= pe->bytes)
        return NULL;
    if (left > pe->bytes - foff)
        left = pe->bytes - foff;
    *bytes = (uint32_t)left;
    return pe->data + foff;
}

const uint8_t *pe_at(const struct pe *pe, uint32_t rva, uint32_t bytes)
{
    uint32_t left;
    const uint8_t *p = pe_tail(pe, rva, &left);
    return p != NULL && bytes <= left ? p : NULL;
}

static const char *string_in(const uint8_t *at, size_t left)
{
    return left != 0 && memchr(at, 0, left) != NULL ? (const char *)at : "";
}

/* RSDS: "RSDS", GUID, age, path.  NB10: "NB10", offset, signature, age, path. */
static bool read_codeview(const uint8_t *p, size_t left, struct pe_codeview *out)
{
    memset(out, 0, sizeof *out);
    if (left >= 24 && memcmp(p, "RSDS", 4) == 0) {
        memcpy(out->guid, p + 4, 16);
        out->age = load_u32(p + 20);
        out->pdb_path = string_in(p + 24, left - 24);
        return true;
    }
    if (left >= 16 && memcmp(p, "NB10", 4) == 0) {
        out->nb10 = true;
        out->signature = load_u32(p + 8);
        out->age = load_u32(p + 12);
        out->pdb_path = string_in(p + 16, left - 16);
        return true;
    }
    return false;
}

bool pe_debug_entry(const struct pe *pe, uint32_t index, struct pe_debug_entry *out)
{
    const struct pe_directory dir = pe->directories[PE_DIR_DEBUG];
    const uint8_t *entry = index < DEBUG_ENTRIES_MAX && index < dir.bytes / DEBUG_ENTRY_BYTES
                               ? pe_at(pe, dir.rva + index * DEBUG_ENTRY_BYTES, DEBUG_ENTRY_BYTES)
                               : NULL;
    if (entry == NULL)
        return false;
    const uint32_t foff = load_u32(entry + 24);
    *out = (struct pe_debug_entry){.timestamp = load_u32(entry + 4),
                                   .minor_version = load_u16(entry + 10),
                                   .type = load_u32(entry + 12),
                                   .rva = load_u32(entry + 20)};
    const uint32_t bytes = load_u32(entry + 16);
    if (foff != 0 && foff < pe->bytes && bytes <= pe->bytes - foff)
        out->data = (struct byte_view){pe->data + foff, bytes};
    else
        out->data = (struct byte_view){pe_at(pe, out->rva, bytes), bytes};
    return true;
}

/* The first or the last record that names a PDB. */
static bool find_codeview(const struct pe *pe, bool first, struct pe_codeview *out)
{
    struct pe_debug_entry entry;
    struct pe_codeview one;
    bool found = false;
    for (uint32_t i = 0; (!found || !first) && pe_debug_entry(pe, i, &entry); i++) {
        if (entry.type != PE_DEBUG_CODEVIEW || entry.data.data == NULL)
            continue;
        const uint8_t *mapped = pe_at(pe, entry.rva, (uint32_t)entry.data.bytes);
        if (!read_codeview(entry.data.data, entry.data.bytes, &one) &&
            (mapped == NULL || !read_codeview(mapped, entry.data.bytes, &one)))
            continue;
        *out = one;
        found = true;
    }
    return found;
}

bool pe_codeview(const struct pe *pe, struct pe_codeview *out)
{
    return find_codeview(pe, false, out);
}

static int compare_symbols(const void *a, const void *b)
{
    const struct pe_symbol *x = a, *y = b;
    if (x->rva != y->rva)
        return x->rva < y->rva ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *string_at(const struct pe *pe, uint32_t rva)
{
    uint32_t left;
    const uint8_t *at = pe_tail(pe, rva, &left);
    return at != NULL && memchr(at, 0, left) != NULL ? (const char *)at : NULL;
}

/* Collects the names by ordinal, so that exports are read in one pass over each table. */
static enum status collect_exports(const struct pe *pe, const uint8_t *head, struct arena *keep,
                                   struct pe_symbol **out, uint32_t *count, struct fault *fault)
{
    const struct pe_directory dir = pe->directories[PE_DIR_EXPORT];
    const uint32_t base = load_u32(head + 16);
    const uint32_t functions = load_u32(head + 20);
    const uint32_t name_count = load_u32(head + 24);
    if (functions > 65536 || name_count > 65536)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "PE export counts");
    const uint8_t *rvas = pe_at(pe, load_u32(head + 28), functions * 4);
    const uint8_t *names = pe_at(pe, load_u32(head + 32), name_count * 4);
    const uint8_t *ordinals = pe_at(pe, load_u32(head + 36), name_count * 2);
    if ((functions != 0 && rvas == NULL) ||
        (name_count != 0 && (names == NULL || ordinals == NULL)))
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PE export tables");
    const char **by_ordinal = ARENA_ARRAY(keep, functions, const char *);
    struct pe_symbol *list = ARENA_ARRAY(keep, (size_t)functions, struct pe_symbol);
    if (by_ordinal == NULL || list == NULL)
        return fault_no_memory(fault, "PE exports");
    for (uint32_t i = 0; i < name_count; i++) {
        const uint16_t ordinal = load_u16(ordinals + 2 * (size_t)i);
        if (ordinal >= functions || by_ordinal[ordinal] != NULL)
            continue;
        by_ordinal[ordinal] = string_at(pe, load_u32(names + 4 * (size_t)i));
        if (by_ordinal[ordinal] == NULL)
            fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "name of a PE export");
    }
    for (uint32_t i = 0; i < functions; i++) {
        const uint32_t rva = load_u32(rvas + 4 * (size_t)i);
        if (rva == 0 || (rva >= dir.rva && rva - dir.rva < dir.bytes))
            continue; /* unused, or a forwarder: its rva points at text in the directory */
        const char *name =
            by_ordinal[i] != NULL ? by_ordinal[i] : arena_printf(keep, "#%u", (unsigned)(base + i));
        if (name == NULL)
            return fault_no_memory(fault, "PE exports");
        list[*count].rva = rva;
        list[*count].name = name;
        *count += 1;
    }
    *out = list;
    return ERR_NONE;
}

enum status pe_exports(const struct pe *pe, struct arena *keep, struct pe_symbol **out,
                       uint32_t *count, struct fault *fault)
{
    *out = NULL;
    *count = 0;
    if (pe->directories[PE_DIR_EXPORT].rva == 0)
        return ERR_NONE;
    const uint8_t *head = pe_at(pe, pe->directories[PE_DIR_EXPORT].rva, 40);
    struct pe_section section;
    if (head == NULL && pe_section_of_rva(pe, pe->directories[PE_DIR_EXPORT].rva, &section) &&
        section.raw_bytes == 0)
        return ERR_NONE; /* a debug file has no bytes of it */
    if (head == NULL)
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PE export directory");
    const enum status status = collect_exports(pe, head, keep, out, count, fault);
    if (status != ERR_NONE)
        return status;
    if (*out != NULL)
        array_sort(*out, *count, sizeof **out, compare_symbols);
    return ERR_NONE;
}

/*     OFFSET SIZE  COFF symbol
 *          0    8  name, or 0 and an offset into the string table
 *          8    4  value: offset in the section
 *         12    2  section, 1-based
 *         14    2  type: 0x20 function
 *         16    1  storage class: 2 external, 3 static
 *         17    1  auxiliary records that follow */
static const char *coff_name(const struct pe *pe, const uint8_t *p, struct arena *keep)
{
    if (load_u32(p) == 0)
        return coff_string(pe, load_u32(p + 4));
    const void *nul = memchr(p, 0, 8);
    return arena_text(keep, (const char *)p, nul ? (size_t)((const uint8_t *)nul - p) : 8);
}

enum status pe_coff_functions(const struct pe *pe, struct arena *keep, struct pe_symbol **out,
                              uint32_t *count, struct fault *fault)
{
    *out = NULL;
    *count = 0;
    if (pe->coff_symbols_foff == 0 || pe->coff_symbol_count == 0)
        return ERR_NONE;
    if (pe->coff_symbols_foff > pe->bytes ||
        pe->coff_symbol_count > (pe->bytes - pe->coff_symbols_foff) / COFF_SYMBOL_BYTES)
        return fault_set(fault, ERR_TRUNCATED, pe->coff_symbols_foff, "COFF symbol table");
    struct pe_symbol *list = ARENA_ARRAY(keep, pe->coff_symbol_count, struct pe_symbol);
    if (list == NULL)
        return fault_no_memory(fault, "COFF symbols");
    const uint8_t *table = pe->data + pe->coff_symbols_foff;
    for (uint32_t i = 0; i < pe->coff_symbol_count; i++) {
        const uint8_t *p = table + (size_t)i * COFF_SYMBOL_BYTES;
        struct pe_section s;
        i += p[17];
        if ((p[16] != COFF_EXTERNAL && p[16] != COFF_STATIC) || load_u16(p + 12) == 0 ||
            !pe_section(pe, load_u16(p + 12) - 1U, &s))
            continue;
        if ((load_u16(p + 14) & 0x30) !=
                COFF_FUNCTION && /* thunks and assembly functions have no type */
            (p[16] != COFF_EXTERNAL || (s.flags & PE_SECTION_EXECUTE) == 0))
            continue;
        const char *name = coff_name(pe, p, keep);
        if (name == NULL) {
            fault_set(fault, ERR_TRUNCATED, pe->coff_symbols_foff, "COFF string table");
            continue;
        }
        list[*count].rva = s.rva + load_u32(p + 8);
        list[*count].name = name;
        *count += 1;
    }
    *out = list;
    if (*count != 0)
        array_sort(list, *count, sizeof *list, compare_symbols);
    return ERR_NONE;
}

static void spell_debug_id(const struct pe *pe, bool first, char out[DEBUG_ID_BYTES])
{
    struct pe_codeview codeview;
    out[0] = '\0';
    if (!find_codeview(pe, first, &codeview))
        return;
    if (codeview.nb10)
        (void)snprintf(out, DEBUG_ID_BYTES, "%08X%x", codeview.signature, codeview.age);
    else
        module_debug_id(codeview.guid, codeview.age, out);
}

void pe_debug_id(const struct pe *pe, char out[DEBUG_ID_BYTES])
{
    spell_debug_id(pe, false, out);
}

void pe_first_debug_id(const struct pe *pe, char out[DEBUG_ID_BYTES])
{
    spell_debug_id(pe, true, out);
}

void pe_code_id(const struct pe *pe, char out[CODE_ID_BYTES])
{
    module_code_id(pe->timestamp, pe->image_bytes, out);
}
