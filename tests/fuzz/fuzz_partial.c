/* Any bytes as a partial result: it is refused, or it can be added up and written again. */
#include <stdlib.h>

#include "compare/signature_tally.h"
#include "fuzz.h"
#include "stream/partial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct signature_tally tally = {.count = 0};
    struct partial partial;
    struct arena keep;
    size_t used = 0;

    arena_init(&keep, (size_t)1 << 26);
    if (partial_read((const char *)data, size, &keep, &partial, &used, &fault) == ERR_NONE) {
        struct text_buffer text = {NULL, 0, 0, false};
        signature_tally_join(&tally, partial.stacks, partial.floor);
        for (uint32_t i = 0; i < partial.count && fault.code == ERR_NONE; i++)
            (void)signature_tally_join_row(&tally, &partial.rows[i], &fault);
        partial_write_columns(&text, &partial);
        free(text.text);
    }
    signature_tally_free(&tally);
    arena_free(&keep);
    return 0;
}
