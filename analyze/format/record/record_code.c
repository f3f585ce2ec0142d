/* A record's data about generated code: names, unwind data, and the bytes of both. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/record/sections.h"

void record_codes_read(struct record_section s, struct arena *keep, struct record *out)
{
    struct bytes entry;

    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_CODE_MAP_BYTES, &entry);
         i++) {
        struct record_code *code = &out->codes[out->code_count];
        const uint32_t name_bytes = bytes_u32(&entry);
        code->start_va = bytes_u64(&entry);
        code->code_bytes = bytes_u64(&entry);
        code->name = record_take_text(&entry, name_bytes, keep);
        code->order = out->code_count;
        if (bytes_failed(&s.body))
            return;
        out->code_count++;
    }
}

void record_functions_read(struct record_section s, struct record *out)
{
    for (uint32_t i = 0; i < s.count; i++) {
        struct record_function *function = &out->functions[out->function_count];
        function->base_va = bytes_u64(&s.body);
        function->begin_rva = bytes_u32(&s.body);
        function->end_rva = bytes_u32(&s.body);
        function->unwind_rva = bytes_u32(&s.body);
        bytes_skip(&s.body, 4);
        if (bytes_failed(&s.body))
            return;
        out->function_count++;
    }
}

void record_memory_take(struct record_section s, struct arena *keep, struct record *out)
{
    struct bytes entry;

    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_MEMORY_BYTES, &entry);
         i++) {
        struct record_memory *memory = &out->memory[out->memory_count];
        memory->bytes = bytes_u32(&entry);
        memory->va = bytes_u64(&entry);
        const uint8_t *from = bytes_take(&entry, memory->bytes);
        if (bytes_failed(&s.body))
            return;
        memory->at = (const uint8_t *)arena_text(keep, (const char *)from, memory->bytes);
        if (memory->at == NULL) {
            fault_set(s.body.fault, ERR_MEMORY, s.body.offset, "memory of the record");
            return;
        }
        out->memory_count++;
    }
}

ARRAY_ORDER_2(compare_codes, struct record_code, start_va, order)

ARRAY_ORDER(compare_memory, struct record_memory, va)

void record_code_sort(struct record *record)
{
    if (record->code_count > 1)
        array_sort(record->codes, record->code_count, sizeof *record->codes, compare_codes);
    if (record->memory_count > 1)
        array_sort(record->memory, record->memory_count, sizeof *record->memory, compare_memory);
}

const struct record_code *record_code_at(const struct record *record, uint64_t va)
{
    const uint32_t low = ARRAY_UPPER(record->codes, record->code_count, start_va, va);
    if (low == 0 || va - record->codes[low - 1].start_va >= record->codes[low - 1].code_bytes)
        return NULL;
    return &record->codes[low - 1];
}

const struct record_function *record_function_at(const struct record *record, uint64_t va)
{
    for (uint32_t i = record->function_count; i-- > 0;) { /* what was added last counts */
        const struct record_function *function = &record->functions[i];
        const uint64_t rva = va - function->base_va;
        if (rva >= function->begin_rva && rva < function->end_rva)
            return function;
    }
    return NULL;
}

bool record_memory_read(const struct record *record, uint64_t va, void *out, size_t bytes)
{
    const uint32_t low = ARRAY_UPPER(record->memory, record->memory_count, va, va);
    if (low == 0)
        return false;
    const struct record_memory *memory = &record->memory[low - 1];
    const uint64_t at = va - memory->va;
    if (at > memory->bytes || bytes > memory->bytes - at)
        return false;
    memcpy(out, memory->at + at, bytes);
    return true;
}

void record_name_generated(const struct record *record, struct frame *frame)
{
    if (record_name_managed(record, frame))
        return;
    const uint64_t lookup_va = frame->pc_va - (frame->kind == PC_RETURN ? 1U : 0U);
    const struct record_code *code = record_code_at(record, lookup_va);
    if (code == NULL)
        return;
    frame->frame_class = CLASS_GENERATED;
    frame->symbols = SYMBOLS_JIT;
    frame->module_name = "jit";
    frame->function = code->name;
    frame->symbol_distance = frame->pc_va - code->start_va;
}
