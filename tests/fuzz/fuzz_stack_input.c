/* The reader of offset stacks in all their forms: text, JSON, NDJSON, records. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "stacks/stack_input.h"

enum { ITEMS_MAX = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct stack_input *input = NULL;
    struct stack_item item;
    struct json j;
    FILE *stream = tmpfile();

    if (stream == NULL)
        abort();
    (void)fwrite(data, 1, size, stream);
    rewind(stream);
    arena_init(&keep, (size_t)64 << 20);
    if (stack_input_open(stream, "fuzz", &input, &fault) == ERR_NONE) {
        if (size % 2 != 0)
            stack_input_addresses(input);
        for (int i = 0; i < ITEMS_MAX && stack_input_next(input, &keep, &item); i++) {
            if (item.fault.code == ERR_NONE)
                continue;
            json_to_text(&j, false);
            stack_item_write_error(&j, &item);
            free(json_take(&j, NULL));
        }
        stack_input_close(input);
    }
    arena_free(&keep);
    (void)fclose(stream);
    return 0;
}
