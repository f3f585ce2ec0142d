/* Builds the symbol index of arbitrary bytes as an image. Either that fails, or the index gives the
 * answers of the image itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbol/image_names.h"
#include "symbol/symbol_index.h"

enum { PROBES = 256 };

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void compare(struct symbol_object *object, const struct symbol_index *index)
{
    static struct symbol_frame a[SYMBOL_FRAMES_MAX], b[SYMBOL_FRAMES_MAX];
    uint32_t first;
    uint64_t end;

    symbol_index_range(index, &first, &end);
    for (uint64_t i = 0; i < PROBES; i++) {
        const uint32_t rva = (uint32_t)(first + (end - first) * i / PROBES);
        const uint32_t count = symbol_object_lookup(object, rva, a);
        if (symbol_index_lookup(index, rva, b) != count)
            abort();
        for (uint32_t k = 0; k < count; k++)
            if (!same_text(a[k].function, b[k].function) || !same_text(a[k].file, b[k].file) ||
                a[k].line != b[k].line || a[k].distance != b[k].distance || a[k].from != b[k].from)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct file_map map = {.data = data, .bytes = bytes, .modified_ns = 1};
    struct fault fault = FAULT_INIT;
    struct symbol_object *object = NULL;
    struct symbol_index *index = NULL;
    struct object_file file;
    char path[64];

    if (object_file_open(data, bytes, 0, &file, &fault) != ERR_NONE ||
        symbol_object_open(&file, "image", NULL, 0, NAMES_SHORT, &object, &fault) != ERR_NONE)
        return 0;
    struct symbol_index_key key = symbol_index_key(&map, NAMES_SHORT);
    struct code_pieces pieces;
    symbol_object_pieces(object, &pieces);
    key.is_image = true;
    (void)snprintf(path, sizeof path, "/tmp/fuzz_image_index.%ld", (long)getpid());
    if (symbol_index_build_pieces(&pieces, &key, path, NULL, &fault) == ERR_NONE &&
        symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE) {
        compare(object, index);
        symbol_index_close(index);
    }
    (void)remove(path);
    symbol_object_close(object);
    return 0;
}
