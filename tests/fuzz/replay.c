/* A plain main() for a fuzz target: runs every file named on the command line (a folder: every file
 * in it) once, so that every find of a fuzzer is replayed in each test run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/files.h"
#include "fuzz.h"

static unsigned tried;

static int try_file(const char *path)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    if (file_map(path, &map, &fault) != ERR_NONE) {
        char text[700];
        fault_describe(&fault, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return 1;
    }
    /* An exact heap copy, so that a sanitizer detects a read of one byte too many. */
    uint8_t *copy = malloc(map.bytes ? map.bytes : 1);
    if (copy) {
        memcpy(copy, map.data, map.bytes);
        tried++;
        (void)LLVMFuzzerTestOneInput(copy, map.bytes);
    }
    free(copy);
    size_t unread = copy ? 0 : map.bytes;
    file_unmap(&map);
    return unread ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    int failed = 0;

    arena_init(&keep, 0);
    for (int i = 1; i < argc; i++) {
        const char **names = NULL;
        size_t count = 0;
        if (!path_is_folder(argv[i])) {
            failed |= try_file(argv[i]);
            continue;
        }
        if (folder_list(argv[i], &keep, &names, &count, &fault) != ERR_NONE)
            failed = 1;
        for (size_t n = 0; n < count; n++)
            failed |= try_file(path_join(&keep, argv[i], names[n]));
    }
    arena_free(&keep);
    printf("tally %d %d 0\n", !failed && tried > 0, failed);
    return failed;
}
