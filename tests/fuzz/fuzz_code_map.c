/* The capture's code map, whatever a program registers: what is written is read whole, and reading
 * it damaged does no harm. */
#include <stdlib.h>
#include <string.h>

#include "format/record/record.h"
#include "fuzz.h"
#include "use_code_map.h"

enum { MAP_MOST = 64, TEXT_MOST = 80 };

static uint64_t take_number(const uint8_t **at, size_t *left, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && *left > 0; i++, (*left)--)
        value = value << 8 | *(*at)++;
    return value;
}

/* Most starts and sizes are near each other, some anywhere. */
static void register_one(const uint8_t **at, size_t *left)
{
    static struct capture_il map[MAP_MOST];
    char name[TEXT_MOST] = "";
    const uint64_t kind = take_number(at, left, 1);
    const bool is_near = (kind & 4) == 0;
    const uint64_t start = take_number(at, left, is_near ? 3 : 8),
                   bytes = take_number(at, left, is_near ? 1 : 8);
    if ((kind & 3) == 0) {
        (void)capture_register_assembly(L"a", NULL, (const uint8_t *)"0123456789abcdef");
        return;
    }
    if ((kind & 3) == 1) {
        for (uint64_t i = 0, count = take_number(at, left, 1) % (TEXT_MOST - 1); i < count; i++)
            name[i] = (char)take_number(at, left, 1);
        (void)capture_register_code(name, (const void *)(uintptr_t)start, bytes);
        return;
    }
    struct capture_method method = {.size = sizeof method,
                                    .token = (uint32_t)take_number(at, left, 4),
                                    .assembly = (uint32_t)take_number(at, left, is_near ? 1 : 4),
                                    .map = map,
                                    .map_count = (uint32_t)take_number(at, left, 1) % MAP_MOST,
                                    .start = (const void *)(uintptr_t)start,
                                    .bytes = bytes,
                                    .type_arguments = (kind & 8) != 0 ? name : NULL};
    for (uint64_t i = 0, count = kind >> 4; (kind & 8) != 0 && i < count; i++)
        name[i] = (char)take_number(at, left, 1);
    for (uint32_t i = 0; i < method.map_count; i++)
        map[i] = (struct capture_il){(uint32_t)take_number(at, left, 1),
                                     (uint32_t)take_number(at, left, 4)};
    (void)capture_register_method(&method);
}

static enum status read_stream(const uint8_t *data, size_t bytes)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct record r;
    struct json j;
    arena_init(&keep, (size_t)64 << 20);
    const enum status status = record_read_stream(bytes_over(data, bytes, &fault), &keep, &r);
    for (uint64_t va = 0x10000; va < 0x20000; va += 0x111) {
        struct frame frame = {.kind = va & 1 ? PC_RETURN : PC_INTERRUPTED, .pc_va = va};
        uint8_t code[8];
        record_name_generated(&r, &frame);
        (void)record_function_at(&r, va);
        (void)record_memory_read(&r, va, code, sizeof code);
    }
    json_to_text(&j, false);
    record_write_json(&j, &r);
    free(json_take(&j, NULL));
    arena_free(&keep);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t faults = size > 0 ? data[0] % 16 : 0;
    size_t left = size;
    uint32_t bytes = 0;
    code_map_reset();
    (void)take_number(&data, &left, 1);
    const uint8_t *places = data;
    size_t places_left = left;
    while (left > 0)
        register_one(&data, &left);
    const uint8_t *written = code_map_stream(&bytes);
    if (read_stream(written, bytes) != ERR_NONE)
        abort();
    uint8_t *damaged = malloc(bytes);
    if (damaged == NULL)
        return 0;
    memcpy(damaged, written, bytes);
    for (size_t i = 0; i < faults; i++)
        damaged[take_number(&places, &places_left, 2) % bytes] =
            (uint8_t)take_number(&places, &places_left, 1);
    (void)read_stream(damaged, bytes);
    free(damaged);
    return 0;
}
