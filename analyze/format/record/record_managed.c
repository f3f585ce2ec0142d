/* A record's code map of managed code: assemblies and the methods that the runtime compiled. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/record/sections.h"

enum { RECORD_MVID_BYTES = 16 };

/* The capture could not read the MVID. */
static bool is_zero(const uint8_t mvid[RECORD_MVID_BYTES])
{
    static const uint8_t zero[RECORD_MVID_BYTES];
    return memcmp(mvid, zero, sizeof zero) == 0;
}

void record_assemblies_read(struct record_section s, struct record *out)
{
    for (uint32_t i = 0; i < s.count; i++) {
        struct record_assembly *assembly = &out->assemblies[out->assembly_count];
        const uint32_t module = bytes_u32(&s.body);
        bytes_skip(&s.body, 4);
        const uint8_t *mvid = bytes_take(&s.body, RECORD_MVID_BYTES);
        if (bytes_failed(&s.body))
            return;
        if (module != RECORD_NO_MODULE && module >= out->module_count) {
            fault_set(s.body.fault, ERR_MALFORMED, s.body.offset, "module of an assembly");
            return;
        }
        struct module *of = module != RECORD_NO_MODULE ? &out->modules[module] : NULL;
        assembly->module = of;
        if (of != NULL && of->mvid[0] == '\0' && !is_zero(mvid))
            module_mvid(mvid, of->mvid);
        out->assembly_count++;
    }
}

ARRAY_ORDER(compare_map, struct record_il, native_offset)

/* False on a fault. */
static bool read_map(struct bytes *entry, uint32_t count, struct arena *keep,
                     struct record_method *out)
{
    out->map_count = bytes_count(entry, count, RECORD_MAP_BYTES);
    struct record_il *map = ARENA_ARRAY(keep, out->map_count, struct record_il);
    if (map == NULL) {
        fault_set(entry->fault, ERR_MEMORY, entry->offset, "map of a method");
        return false;
    }
    for (uint32_t i = 0; i < out->map_count; i++) {
        map[i].native_offset = bytes_u32(entry);
        map[i].il_offset = bytes_u32(entry);
    }
    if (bytes_failed(entry))
        return false;
    if (out->map_count > 1)
        array_sort(map, out->map_count, sizeof *map, compare_map);
    out->map = map;
    return true;
}

void record_methods_read(struct record_section s, struct arena *keep, struct record *out)
{
    struct bytes entry;

    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_METHOD_BYTES, &entry);
         i++) {
        struct record_method *method = &out->methods[out->method_count];
        method->token = bytes_u32(&entry);
        method->start_va = bytes_u64(&entry);
        method->code_bytes = bytes_u64(&entry);
        const uint32_t assembly = bytes_u32(&entry);
        const uint32_t count = bytes_u32(&entry);
        if (!read_map(&entry, count, keep, method) || bytes_failed(&s.body))
            return;
        const char *types = record_take_text(&entry, entry.left, keep); /* ends with zeros */
        if (bytes_failed(&s.body))
            return;
        method->type_arguments = types != NULL && types[0] != '\0' ? types : NULL;
        if (assembly != RECORD_NO_MODULE && assembly >= out->assembly_count) {
            fault_set(s.body.fault, ERR_MALFORMED, s.body.offset, "assembly of a method");
            return;
        }
        method->assembly = assembly != RECORD_NO_MODULE ? &out->assemblies[assembly] : NULL;
        method->order = out->method_count;
        out->method_count++;
    }
}

ARRAY_ORDER_2(compare_methods, struct record_method, start_va, order)

void record_methods_sort(struct record *record)
{
    if (record->method_count > 1)
        array_sort(record->methods, record->method_count, sizeof *record->methods, compare_methods);
}

const struct record_method *record_method_at(const struct record *record, uint64_t va)
{
    const uint32_t low = ARRAY_UPPER(record->methods, record->method_count, start_va, va);
    if (low == 0 || va - record->methods[low - 1].start_va >= record->methods[low - 1].code_bytes)
        return NULL;
    return &record->methods[low - 1];
}

/* The IL offset of native code. Prologue, epilogue and code without a mapping count as what comes
 * before them, at the start of a method as its first instruction. */
static uint32_t il_offset(const struct record_method *method, uint64_t native_offset)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < method->map_count && method->map[i].native_offset <= native_offset;
         i++)
        if (method->map[i].il_offset < RECORD_IL_LAST)
            found = method->map[i].il_offset;
    return found;
}

bool record_name_managed(const struct record *record, struct frame *frame)
{
    const uint64_t lookup_va = frame->pc_va - (frame->kind == PC_RETURN ? 1U : 0U);
    const struct record_method *method = record_method_at(record, lookup_va);
    if (method == NULL || method->assembly == NULL || method->assembly->module == NULL ||
        !FRAME_IS_METHOD(method->token))
        return false;
    frame->frame_class = CLASS_NONE; /* the engine decides by the module */
    frame->module = method->assembly->module;
    frame->module_name = frame->module->name;
    frame->method_token = method->token;
    frame->type_arguments = method->type_arguments;
    frame->offset = il_offset(method, lookup_va - method->start_va);
    if (method->map_count == 0 && frame->note == NOTE_NONE)
        frame->note = NOTE_NO_IL_MAP;
    return true;
}
