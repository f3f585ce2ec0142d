/* Builds the symbol index of arbitrary bytes as a PDB. Either that fails, or the index can be
 * queried at any address. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "symbol/symbol_index.h"

enum { PROBES = 64, PROBE_STEP = 0x131 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct file_map map = {.data = data, .bytes = size, .modified_ns = 1};
    struct symbol_index *index = NULL;
    struct pdb pdb;
    char path[64];

    if (pdb_open(data, size, &pdb, &fault) != ERR_NONE)
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/fuzz_symbol_index.%ld", (long)getpid());
    if (symbol_index_build(&pdb, &map, NAMES_SHORT, 1 + size % 2, path, NULL, &fault) == ERR_NONE &&
        symbol_index_open(path, &map, NAMES_SHORT, &index, &fault) == ERR_NONE) {
        for (uint32_t i = 0; i < PROBES; i++)
            (void)symbol_index_lookup(index, 0x1000 + i * PROBE_STEP, frames);
        symbol_index_close(index);
    }
    (void)remove(path);
    pdb_close(&pdb);
    return 0;
}
