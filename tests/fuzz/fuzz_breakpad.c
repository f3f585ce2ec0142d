/* The reader of Breakpad symbol files, queried at addresses spread over the file. The index must
 * give the same answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/breakpad/breakpad.h"
#include "fuzz.h"
#include "symbol/breakpad_export.h"
#include "symbol/symbol_index.h"

enum { PROBES = 64, PROBE_STEP = 0x131 };

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void compare(const struct breakpad *file, const struct symbol_index *index)
{
    struct breakpad_frame a[BREAKPAD_FRAMES_MAX];
    static struct symbol_frame b[SYMBOL_FRAMES_MAX];
    uint32_t first;
    uint64_t end;

    symbol_index_range(index, &first, &end);
    for (uint32_t i = 0; i < PROBES; i++) {
        const uint32_t rva = (uint32_t)(first + (end - first) * i / PROBES);
        const uint32_t count = breakpad_lookup(file, rva, a);
        if (symbol_index_lookup(index, rva, b) != count)
            abort();
        for (uint32_t k = 0; k < count; k++)
            if (!same_text(a[k].name, b[k].function) || !same_text(a[k].file, b[k].file) ||
                a[k].line != b[k].line || a[k].distance != b[k].distance)
                abort();
    }
}

static void compare_index(const struct breakpad *file)
{
    const struct symbol_index_key key = {.file_bytes = 1, .is_image = true};
    struct fault fault = FAULT_INIT;
    struct code_pieces pieces;
    struct symbol_index *index;
    char path[64];

    (void)snprintf(path, sizeof path, "/tmp/fuzz_breakpad.%ld", (long)getpid());
    if (breakpad_pieces(file, &pieces, &fault) == ERR_NONE &&
        symbol_index_build_pieces(&pieces, &key, path, NULL, &fault) == ERR_NONE &&
        symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE) {
        compare(file, index);
        symbol_index_close(index);
    }
    if (pieces.close != NULL)
        pieces.close(pieces.self);
    (void)remove(path);
}

static void keep_name(void *context, const char **name)
{
    (void)context;
    (void)name;
}

/* A skimmed file must give the same answers. */
static void compare_skimmed(const struct breakpad *file, const uint8_t *data, size_t size)
{
    const struct file_map map = {.data = data, .bytes = size};
    struct breakpad_frame a[BREAKPAD_FRAMES_MAX], b[BREAKPAD_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct breakpad skimmed;

    if (breakpad_skim(&map, &skimmed, &fault) != ERR_NONE)
        abort();
    for (uint32_t i = 0; i < PROBES; i++) {
        const uint32_t rva = 0x1000 + i * PROBE_STEP % 0x400;
        const uint32_t count = breakpad_lookup(file, rva, a);
        if (breakpad_load(&skimmed, rva, keep_name, NULL, &fault) != ERR_NONE ||
            breakpad_lookup(&skimmed, rva, b) != count)
            abort();
        for (uint32_t k = 0; k < count; k++)
            if (!same_text(a[k].name, b[k].name) || !same_text(a[k].file, b[k].file) ||
                a[k].line != b[k].line || a[k].distance != b[k].distance)
                abort();
    }
    breakpad_close(&skimmed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct breakpad file;
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];

    if (breakpad_read(data, size, &file, &fault) == ERR_NONE) {
        for (uint32_t i = 0; i < PROBES; i++) {
            struct breakpad_rules rules;
            struct breakpad_win win;
            (void)breakpad_lookup(&file, 0x1000 + i * PROBE_STEP, frames);
            (void)breakpad_cfi_at(&file, 0x1000 + i * PROBE_STEP, &rules);
            (void)breakpad_win_at(&file, 0x1000 + i * PROBE_STEP, &win);
        }
        compare_skimmed(&file, data, size);
        compare_index(&file);
    }
    breakpad_close(&file);
    return 0;
}
