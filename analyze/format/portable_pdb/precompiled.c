/* See precompiled.h.
 *
 *   HEADER                    SECTION, 12 bytes each     FUNCTION of x64      of others
 *   "RTR\0"             0     type                0      begin rva     0      begin rva     0
 *   major version 2     4     rva                 4      end rva       4      unwind data   4
 *   minor version 2     6     bytes               8      unwind data   8
 *   flags               8
 *   sections           12
 *
 * A hash table has buckets of (byte of the hash, distance of the entry). */
#include "format/portable_pdb/precompiled.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/portable_pdb/precompiled_read.h"

enum {
    CLR_HEADER_BYTES = 72,
    CLR_NATIVE_HEADER = 64, /* rva and bytes of the header of compiled code */
    SIGNATURE = 0x00525452,
    HEADER_BYTES = 16,
    SECTION_BYTES = 12,
    SECTIONS_MAX = 256,
    VERSION_PACKED_DEBUG = 16,
    COLD_BYTES = 8,
    METHODS_MAX = 0xFFFFFF, /* rows of a table */
};

enum section_type {
    SECTION_FUNCTIONS = 102,
    SECTION_METHODS = 103,
    SECTION_DEBUG = 105,
    SECTION_THUNKS = 106,
    SECTION_INSTANCES = 109,
    SECTION_COMPONENTS = 115, /* of a composite image */
    SECTION_OWNER = 116,      /* the composite image that has the code of this one */
    SECTION_COLD = 120,
};

struct entries {
    struct precompiled_entry *at; /* in KEEP */
    uint32_t count, room;
    struct arena *keep;
};

/* A table at RVA; it has no section if the file does not hold it. */
static bool open_section(const struct pe *pe, uint32_t rva, struct precompiled_array *out)
{
    struct pe_section section;
    uint32_t left;
    *out = (struct precompiled_array){.section = NULL};
    if (rva == 0 || !pe_section_of_rva(pe, rva, &section))
        return false;
    out->section = pe_tail(pe, section.rva, &left);
    out->bytes = out->section != NULL ? left : 0;
    out->base = rva - section.rva;
    return out->base < out->bytes;
}

static bool open_array(const struct pe *pe, uint32_t rva, struct precompiled_array *out)
{
    uint32_t head = 0;
    if (!open_section(pe, rva, out) || !precompiled_number(out, &out->base, &head)) {
        out->section = NULL;
        return false;
    }
    out->count = head >> 2;
    const uint32_t bytes = 1u << (head & 3);
    out->index_bytes = (uint8_t)(bytes < 4 ? bytes : 4);
    return true;
}

/* The row of functions that an entry at AT states; what its code needs before it runs follows. */
static bool take_function(const struct precompiled_array *in, uint32_t at, uint32_t *out)
{
    uint32_t value;
    if (!precompiled_number(in, &at, &value))
        return false;
    *out = (value & 1) != 0 ? value >> 2 : value >> 1;
    return true;
}

static bool add_entry(struct entries *entries, uint32_t function, uint32_t token)
{
    struct precompiled_entry *wider =
        arena_reserve(entries->keep, entries->at, &entries->room, (uint64_t)entries->count + 1,
                      sizeof *entries->at);
    if (wider == NULL)
        return false;
    entries->at = wider;
    entries->at[entries->count++] = (struct precompiled_entry){function, token};
    return true;
}

static bool add_methods(const struct pe *pe, uint32_t rva, uint32_t functions,
                        struct entries *entries)
{
    struct precompiled_array methods;
    uint32_t at, function;
    if (!open_array(pe, rva, &methods))
        return true;
    for (uint32_t i = 0; i < methods.count && i < METHODS_MAX; i++)
        if (precompiled_array_at(&methods, i, &at) && take_function(&methods, at, &function) &&
            function < functions && !add_entry(entries, function, PRECOMPILED_TOKEN | (i + 1)))
            return false;
    return true;
}

/* The entry that a bucket names at *AT, which moves on. */
static bool take_instance(const struct precompiled_array *table, uint32_t *at, uint32_t *function,
                          uint32_t *token)
{
    const uint32_t from = *at + 1; /* after a byte of the hash */
    int32_t distance;
    *at = from;
    if (!precompiled_signed(table, at, &distance))
        return false;
    const int64_t place = (int64_t)from + distance;
    if (place < 0 || place >= table->bytes)
        return false;
    struct metadata_bytes blob = {table->section + place, table->bytes - (uint32_t)place};
    return precompiled_method_signature(&blob, token) &&
           take_function(table, table->bytes - blob.bytes, function);
}

/* Code of instances of generic methods, and of methods of generic types: a hash table. */
static bool add_instances(const struct pe *pe, uint32_t rva, uint32_t functions,
                          struct entries *entries)
{
    struct precompiled_array table;
    uint32_t function, token;
    if (!open_section(pe, rva, &table))
        return true;
    const uint8_t head = table.section[table.base++];
    const uint32_t width = 1u << (head & 3), buckets = 1u << (head >> 2 & 31);
    table.index_bytes = (uint8_t)(width < 4 ? width : 4);
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        uint32_t at, end;
        if (!precompiled_index(&table, table.base, bucket, &at) ||
            !precompiled_index(&table, table.base, bucket + 1, &end) ||
            end > table.bytes - table.base)
            return true; /* damaged: the methods that were read remain */
        at += table.base;
        end += table.base;
        while (at < end)
            if (!take_instance(&table, &at, &function, &token))
                break;
            else if (function < functions && !add_entry(entries, function, token))
                return false;
    }
    return true;
}

ARRAY_ORDER(by_function, struct precompiled_entry, function)

struct section {
    uint32_t rva, bytes;
};

static struct section section_of(const uint8_t *sections, uint32_t count, enum section_type type)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *row = sections + (size_t)i * SECTION_BYTES;
        if (load_u32(row) == (uint32_t)type)
            return (struct section){load_u32(row + 4), load_u32(row + 8)};
    }
    return (struct section){0, 0};
}

/* The header of compiled code; NULL: there is none. */
static const uint8_t *header_of(const struct pe *pe)
{
    const uint8_t *clr = pe_at(pe, pe->directories[PE_DIR_CLR].rva, CLR_HEADER_BYTES);
    if (pe->directories[PE_DIR_CLR].rva == 0 || clr == NULL)
        return NULL;
    const uint32_t rva = load_u32(clr + CLR_NATIVE_HEADER);
    const uint8_t *header = rva != 0 ? pe_at(pe, rva, HEADER_BYTES) : NULL;
    return header != NULL && load_u32(header) == SIGNATURE ? header : NULL;
}

/* Images that are compiled for other systems state a machine that Windows does not know. */
static bool is_x64(uint16_t machine)
{
    enum { OF_LINUX = 0x7B79, OF_MACOS = 0x4644 };
    return machine == PE_MACHINE_X64 || (machine ^ OF_LINUX) == PE_MACHINE_X64 ||
           (machine ^ OF_MACOS) == PE_MACHINE_X64;
}

static void open_functions(const struct pe *pe, struct section functions, struct precompiled *out)
{
    out->states_ends = is_x64(pe->machine);
    out->function_bytes = out->states_ends ? 12 : 8;
    out->functions = pe_at(pe, functions.rva, functions.bytes);
    out->function_count = out->functions != NULL ? functions.bytes / out->function_bytes : 0;
}

enum status precompiled_open(const struct pe *pe, struct arena *keep, struct precompiled *out,
                             struct fault *fault)
{
    struct entries entries = {.keep = keep};
    const uint8_t *header = header_of(pe);
    *out = (struct precompiled){.functions = NULL};
    if (header == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "compiled code");
    const uint32_t count = load_u32(header + 12);
    uint32_t left;
    const uint8_t *sections = header + HEADER_BYTES;
    (void)pe_tail(
        pe,
        load_u32(pe_at(pe, pe->directories[PE_DIR_CLR].rva, CLR_HEADER_BYTES) + CLR_NATIVE_HEADER),
        &left);
    if (count > SECTIONS_MAX || (left - HEADER_BYTES) / SECTION_BYTES < count)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "sections of compiled code");
    if (section_of(sections, count, SECTION_COMPONENTS).rva != 0 ||
        section_of(sections, count, SECTION_OWNER).rva != 0)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "composite compiled code");
    open_functions(pe, section_of(sections, count, SECTION_FUNCTIONS), out);
    if (out->function_count == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "functions of compiled code");
    if (!add_methods(pe, section_of(sections, count, SECTION_METHODS).rva, out->function_count,
                     &entries) ||
        !add_instances(pe, section_of(sections, count, SECTION_INSTANCES).rva, out->function_count,
                       &entries))
        return fault_no_memory(fault, "methods of compiled code");
    if (entries.count > 1)
        qsort(entries.at, entries.count, sizeof *entries.at, by_function);
    out->entries = entries.at;
    out->entry_count = entries.count;
    const struct section thunks = section_of(sections, count, SECTION_THUNKS);
    out->thunks_rva = thunks.rva;
    out->thunks_bytes = thunks.bytes;
    const struct section cold = section_of(sections, count, SECTION_COLD);
    out->cold = cold.rva != 0 ? pe_at(pe, cold.rva, cold.bytes) : NULL;
    out->cold_count = out->cold != NULL ? cold.bytes / COLD_BYTES : 0;
    (void)open_array(pe, section_of(sections, count, SECTION_DEBUG).rva, &out->debug);
    out->packed_debug = load_u16(header + 4) >= VERSION_PACKED_DEBUG;
    return ERR_NONE;
}

static uint32_t begin_of(const struct precompiled *code, uint32_t function)
{
    return load_u32(code->functions + (size_t)function * code->function_bytes);
}

/* How many of COUNT rows, which ascend, begin with a number up to VALUE. */
static uint32_t rows_up_to(const uint8_t *rows, uint32_t count, uint32_t row_bytes, uint32_t value)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (load_u32(rows + (size_t)middle * row_bytes) <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row of the function at RVA; false: none. */
static bool function_at(const struct precompiled *code, uint32_t rva, uint32_t *out)
{
    const uint32_t low =
        rows_up_to(code->functions, code->function_count, code->function_bytes, rva);
    if (low == 0 || rva - code->thunks_rva < code->thunks_bytes)
        return false;
    *out = low - 1;
    return !code->states_ends ||
           rva < load_u32(code->functions + (size_t)(low - 1) * code->function_bytes + 4);
}

/* The function that a cold part belongs to; FUNCTION itself if it is none. */
static uint32_t hot_of(const struct precompiled *code, uint32_t function)
{
    const uint32_t rows = rows_up_to(code->cold, code->cold_count, COLD_BYTES, function);
    return rows > 0 ? load_u32(code->cold + (size_t)(rows - 1) * COLD_BYTES + 4) : function;
}

bool precompiled_find(const struct precompiled *code, uint32_t rva, struct precompiled_place *out)
{
    uint32_t function, low = 0, high = code->entry_count;
    if (!function_at(code, rva, &function))
        return false;
    const uint32_t hot = hot_of(code, function);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (code->entries[middle].function <= hot)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || code->entries[low - 1].token == 0)
        return false;
    const struct precompiled_entry *entry = &code->entries[low - 1];
    out->token = entry->token;
    out->begin_rva = begin_of(code, entry->function);
    uint32_t at;
    out->il = hot == function && precompiled_array_at(&code->debug, entry->function, &at)
                  ? precompiled_il(code, at, rva - out->begin_rva)
                  : UINT32_MAX;
    return true;
}
