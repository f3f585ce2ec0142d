/* The PDB reader from the container to logical frames, at addresses spread over the image. */
#include "fuzz.h"
#include "symbol/pdb_lookup.h"
#include "symbol/source_link.h"

enum { PROBES = 64, PROBE_STEP = 0x131 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct pdb pdb;
    struct pdb_lookup *lookup = NULL;
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];

    if (pdb_open(data, size, &pdb, &fault) == ERR_NONE) {
        if (pdb_lookup_open(&pdb, NAMES_FULL, &lookup, &fault) == ERR_NONE) {
            for (uint32_t i = 0; i < PROBES; i++)
                (void)pdb_lookup(lookup, 0x1000 + i * PROBE_STEP, frames);
            pdb_lookup_close(lookup);
        }
        struct arena copies;
        uint32_t bytes = 0;
        arena_init(&copies, 0);
        const char *link = pdb_source_link(&pdb, 0, &copies, &bytes);
        if (link != NULL)
            (void)symbol_source_link(link, bytes, "c:\\src\\a.c", &copies);
        arena_free(&copies);
        pdb_close(&pdb);
    }
    return 0;
}
