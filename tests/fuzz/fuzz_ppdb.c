/* Portable PDBs and managed images: lines, documents, sources, names of all methods, compiled code.
 */
#include <string.h>

#include "base/array.h"
#include "format/portable_pdb/managed_image.h"
#include "format/portable_pdb/precompiled.h"
#include "fuzz.h"

enum { ROWS = 64, IL_STEP = 7, IL_STEPS = 16 };

static void read_pdb(const struct byte_view data, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct byte_view source;
    struct ppdb_place place;
    struct ppdb pdb;

    if (ppdb_open(data.data, data.bytes, &pdb, &fault) != ERR_NONE)
        return;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t token = 0x06000000 | row;
        for (uint32_t i = 0; i < IL_STEPS; i++)
            (void)ppdb_place(&pdb, token, i * IL_STEP, &place);
        (void)ppdb_kickoff(&pdb, token);
        (void)ppdb_is_async(&pdb, token);
        (void)ppdb_document(&pdb, row, keep);
        (void)ppdb_source(&pdb, row, keep, &source, &fault);
    }
    (void)ppdb_source_link(&pdb);
}

static void read_code(const struct pe *pe, struct arena *keep)
{
    enum { PLACES = 0x6000, PLACE_STEP = 0x33 };
    struct fault fault = FAULT_INIT;
    struct precompiled_place place;
    struct precompiled code;

    if (precompiled_open(pe, keep, &code, &fault) == ERR_NONE)
        for (uint32_t rva = 0; rva < PLACES; rva += PLACE_STEP)
            (void)precompiled_find(&code, rva, &place);
}

/* With type arguments of the file's last bytes, and with some that many methods have. */
static void name_methods(const struct metadata *md, const uint8_t *data, size_t size,
                         struct arena *keep)
{
    enum { MOST = 80 };
    char last[MOST + 1] = "";
    memcpy(last, data + (size > MOST ? size - MOST : 0), size > MOST ? MOST : size);
    const char *const arguments[] = {NULL, last, "System.Int32;", ";System.Byte",
                                     "A`1<System.Int32>,B;C"};
    for (uint32_t row = 1; row < ROWS; row++)
        for (int names = MANAGED_SHORT; names <= MANAGED_RAW; names++)
            for (size_t i = 0; i < COUNT_OF(arguments); i++)
                (void)managed_instance_name(md, 0x06000000 | row, (enum managed_names)names,
                                            arguments[i], keep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct byte_view embedded;
    char mvid[MVID_BYTES];
    struct metadata md;
    struct arena keep;
    struct pe pe;

    arena_init(&keep, 64 << 20);
    if (ppdb_recognize(data, size)) {
        read_pdb((struct byte_view){data, size}, &keep);
    } else if (pe_open(data, size, &pe, &fault) == ERR_NONE) {
        (void)managed_mvid(&pe, mvid);
        read_code(&pe, &keep);
        if (managed_metadata(&pe, &md, &fault) == ERR_NONE)
            name_methods(&md, data, size, &keep);
        fault_clear(&fault);
        if (managed_embedded_pdb(&pe, &keep, &embedded, &fault) == ERR_NONE)
            read_pdb(embedded, &keep);
    }
    arena_free(&keep);
    return 0;
}
