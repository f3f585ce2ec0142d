/* Files of symbols in memory, unpacked where they are in a cabinet; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "format/cab/cab.h"
#include "symbol/store.h"

/* The largest PDB to unpack from a cabinet. */
#define STORE_UNPACKED_BYTES ((size_t)1 << 30)

enum status symbol_file_map(const char *path, struct file_map *map, bool *unpacked,
                            struct fault *fault)
{
    uint8_t *data;
    size_t bytes;

    *unpacked = false;
    if (file_map(path, map, fault) != ERR_NONE || map->bytes < 4 ||
        memcmp(map->data, "MSCF", 4) != 0)
        return fault->code;
    const uint64_t modified_ns = map->modified_ns;
    if (cab_unpack(map->data, map->bytes, STORE_UNPACKED_BYTES, &data, &bytes, fault) != ERR_NONE) {
        file_unmap(map);
        fault_set_path(fault, path);
        return fault->code;
    }
    file_unmap(map);
    *map = (struct file_map){.data = data, .bytes = bytes, .modified_ns = modified_ns};
    *unpacked = true;
    return ERR_NONE;
}

void symbol_file_unmap(struct file_map *map, bool unpacked)
{
    if (unpacked) {
        /* owned: cab_unpack() allocated it, and file_map's view of it is read-only */
        union {
            const uint8_t *view;
            void *memory;
        } data = {map->data};
        free(data.memory);
    } else {
        file_unmap(map);
    }
}

const char *symbol_file_expected(const void *data, size_t bytes)
{
    static const uint8_t zstandard[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};
    if (bytes >= sizeof zstandard && memcmp(data, zstandard, sizeof zstandard) == 0)
        return "it is compressed with zstd: unpack it first (`zstd -d`)";
    if (bytes >= sizeof gzip && memcmp(data, gzip, sizeof gzip) == 0)
        return "it is compressed with gzip: unpack it first (`gzip -d`)";
    return "expected a PDB, a PE, ELF or Mach-O file, or a Breakpad .sym file";
}
