/* Counts the stacks in any bytes. */
#include <string.h>

#include "compare/signature_tally.h"
#include "fuzz.h"
#include "stacks/stack_raw.h"
#include "stream/count.h"
#include "symbol/symbol_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbol_store *store;
    struct fault fault = FAULT_INIT;
    struct signature_tally tally = {.limit = 4};
    struct signature_rules *rules = NULL;
    struct stack_input *input = NULL;
    struct count_result result = {0};
    struct arena keep;
    const struct symbol_store_options none = {.cache = "none"};

    arena_init(&keep, (size_t)1 << 26);
    if (store == NULL && symbol_store_open(&none, &store, &fault) != ERR_NONE)
        return 0;
    struct count_options options = {
        .store = store, .workers = 1, .distinct_max = 3, .example_is_stack = true};
    if (signature_read_rules(signature_default_rules, strlen(signature_default_rules), &keep,
                             &rules, &fault) == ERR_NONE &&
        stack_input_open_bytes((const char *)data, size, &input, &fault) == ERR_NONE) {
        options.rules = rules;
        (void)count_stacks(&options, input, &tally, &result, &fault);
    }
    stack_input_close(input);
    signature_tally_free(&tally);
    arena_free(&keep);
    return 0;
}
