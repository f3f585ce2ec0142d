/* Fuzzes the readers of rust-minidump's and Breakpad's output. */
#include "fuzz.h"
#include "stacks/claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct stack *stacks;
    uint32_t count;
    struct fault fault = FAULT_INIT;
    arena_init(&arena, (size_t)64 << 20);
    (void)stack_claims_read((const char *)data, size, &arena, &stacks, &count, &fault);
    arena_free(&arena);
    return 0;
}
