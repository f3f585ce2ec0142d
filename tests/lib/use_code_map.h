/* The capture's code map and its writer of records, in a world of a few functions of Windows. */
#ifndef TESTS_USE_CODE_MAP_H
#define TESTS_USE_CODE_MAP_H

#include "capture/cap.h"

/* Forgets what was registered. There is one module, which holds no code. */
void code_map_reset(void);

/* The user stream of a dump: RECORD_DUMP_STREAM. */
const uint8_t *code_map_stream(uint32_t *bytes);

/* What a record's file would hold; at most CAP_BUFFER_BYTES of it. */
const uint8_t *code_map_record(uint32_t *bytes);

#endif
