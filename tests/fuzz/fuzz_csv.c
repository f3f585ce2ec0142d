/* The reader of exported symbol tables, and lookups at its rows and between them. */
#include "fuzz.h"
#include "symbol/csv.h"

enum { FRAMES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct csv_table table;
    struct csv_frame frames[FRAMES];
    const struct file_map map = {.data = data, .bytes = size};

    arena_init(&keep, (size_t)64 << 20);
    if (csv_read(&map, CSV_BASE_DEFAULT, &keep, &table, &fault) == ERR_NONE)
        for (uint32_t i = 0; i < table.count && i < 1000; i++) {
            (void)csv_lookup(&table, table.rows[i].rva, frames, FRAMES);
            (void)csv_lookup(&table, table.rows[i].end_rva, frames, FRAMES);
        }
    arena_free(&keep);
    return 0;
}
