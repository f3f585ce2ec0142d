/* The capture's code map and its writer of records, in a world of a few functions of Windows. */
#ifndef TESTS_USE_CODE_MAP_H
#define TESTS_USE_CODE_MAP_H

#include "capture/cap.h"

/* The last image that an assembly gave to the list of modules; base_va 0: none did. */
extern struct code_map_flat {
    uint64_t base_va;
    uint32_t path_units;
} code_map_flat;

/* Forgets what was registered. There is one module, which holds no code. */
void code_map_reset(void);

/* The user stream of a dump: RECORD_DUMP_STREAM. */
const uint8_t *code_map_stream(uint32_t *bytes);

/* What was written since code_map_reset(). */
const uint8_t *code_map_written(uint32_t *bytes);

/* What a record's file would hold; at most CAP_BUFFER_BYTES of it. */
const uint8_t *code_map_record(uint32_t *bytes);

#endif
