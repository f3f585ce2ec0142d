/* Names one address, or all threads of a minidump:
 *
 *     name_stack SYMBOLS app.exe 0x1530
 *     name_stack SYMBOLS crash.dmp */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <twinstack.h>

static void print(const struct twinstack_stack *stack)
{
    for (uint32_t i = 0; i < twinstack_frame_count(stack); i++) {
        const char *function = twinstack_function(stack, i);
        const char *file = twinstack_file(stack, i);
        printf("%2" PRIu32 " %s!0x%" PRIx64 " %s%s %s:%" PRIu32 "\n", twinstack_index(stack, i),
               twinstack_module(stack, i) ? twinstack_module(stack, i) : "?",
               twinstack_offset(stack, i), function ? function : "?",
               twinstack_inline_depth(stack, i) > 0 ? " (inlined)" : "", file ? file : "?",
               twinstack_line(stack, i));
    }
}

static enum twinstack_status name_address(struct twinstack_symbols *symbols, char **argv,
                                          struct twinstack_error *error)
{
    const struct twinstack_address address = {
        .size = sizeof address, .module = argv[2], .offset = strtoull(argv[3], NULL, 0)};
    struct twinstack_stack *stack;
    enum twinstack_status status = twinstack_resolve(symbols, &address, 1, &stack, error);
    if (status != TWINSTACK_OK)
        return status;
    print(stack);
    twinstack_stack_free(stack);
    return TWINSTACK_OK;
}

static enum twinstack_status name_dump(struct twinstack_symbols *symbols, const char *path,
                                       struct twinstack_error *error)
{
    struct twinstack_dump *dump;
    enum twinstack_status status = twinstack_dump_open(symbols, path, &dump, error);
    if (status != TWINSTACK_OK)
        return status;
    for (uint32_t i = 0; i < twinstack_thread_count(dump); i++) {
        struct twinstack_stack *stack;
        printf("thread %" PRIu32 "\n", twinstack_thread_id(dump, i));
        if (twinstack_dump_walk(dump, twinstack_thread_id(dump, i), &stack, error) !=
            TWINSTACK_OK) {
            printf("   %s\n", error->text);
            continue;
        }
        print(stack);
        twinstack_stack_free(stack);
    }
    twinstack_dump_close(dump);
    return TWINSTACK_OK;
}

int main(int argc, char **argv)
{
    const char *paths[] = {argc > 2 ? argv[1] : NULL};
    const struct twinstack_options options = {
        .size = sizeof options, .paths = paths, .path_count = 1};
    struct twinstack_symbols *symbols;
    struct twinstack_error error;

    if (argc != 3 && argc != 4)
        return 2;
    enum twinstack_status status = twinstack_open(&options, &symbols, &error);
    if (status == TWINSTACK_OK) {
        status =
            argc == 4 ? name_address(symbols, argv, &error) : name_dump(symbols, argv[2], &error);
        twinstack_close(symbols);
    }
    if (status != TWINSTACK_OK)
        fprintf(stderr, "%s\n", error.text);
    return status == TWINSTACK_OK ? 0 : 3;
}
