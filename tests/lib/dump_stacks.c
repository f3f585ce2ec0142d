/* The stacks of many dumps in one process, for tests that make a dump per row: a start of the
 * program takes longer than a walk.
 *
 *     dump_stacks SYMBOLS... <PATHS
 *
 * Each line of the standard input is the path of a minidump. For each, one line goes to the
 * standard output: the document of `dump --stacks --json` without its line ends, or the fault as
 * {"fault": "..."}. */
#include <stdio.h>
#include <string.h>

#include "library/twinstack.h"

enum { PATH_BYTES = 4096 };

static void print_fault(const struct twinstack_error *error)
{
    fputs("{\"fault\": \"", stdout);
    for (const char *at = error->text; *at != '\0'; at++)
        putchar(*at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '?' : *at);
    puts("\"}");
}

static void print_stacks(struct twinstack_symbols *symbols, const char *path)
{
    const struct twinstack_dump_request request = {
        .size = sizeof request, .part = TWINSTACK_DUMP_STACKS, .json = 1};
    struct twinstack_dump *dump = NULL;
    struct twinstack_error error;
    const char *text = NULL;
    size_t bytes = 0;
    if (twinstack_dump_open(symbols, path, &dump, &error) != TWINSTACK_OK) {
        print_fault(&error);
        return;
    }
    if (twinstack_dump_write(dump, &request, &text, &bytes, &error) != TWINSTACK_OK) {
        print_fault(&error);
    } else {
        for (size_t i = 0; i < bytes; i++)
            if (text[i] != '\n')
                putchar(text[i]);
        putchar('\n');
    }
    twinstack_dump_close(dump);
}

int main(int argc, char **argv)
{
    const struct twinstack_options options = {.size = sizeof options,
                                              .paths = (const char *const *)(argv + 1),
                                              .path_count = (uint32_t)argc - 1};
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_error error;
    char path[PATH_BYTES];
    if (twinstack_open(&options, &symbols, &error) != TWINSTACK_OK) {
        fprintf(stderr, "dump_stacks: %s\n", error.text);
        return 1;
    }
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        print_stacks(symbols, path);
    }
    twinstack_close(symbols);
    return 0;
}
