/* Mach-O images, objects and dSYM files, thin and fat, little-endian, 32 and 64 bits: sections,
 * identity, symbols, and the debug map that the linker leaves in place of debug information.
 *
 * All data is borrowed from the file's memory, which must outlive the struct, or is in the arena
 * KEEP passed to a function.
 *
 * Source: https://github.com/apple-oss-distributions/xnu/tree/main/EXTERNAL_HEADERS/mach-o. */
#ifndef FORMAT_MACHO_H
#define FORMAT_MACHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/object/arch.h"
#include "format/object/object.h"

enum { MACHO_UUID_BYTES = 33 }; /* upper-case hexadecimal and NUL */

struct macho {
    const uint8_t *data; /* borrowed: the slice */
    size_t bytes;
    bool is_64;
    uint32_t cpu, cpu_subtype, type;
    uint32_t command_count, command_bytes;
    uint64_t base_va; /* of the mach header, where __TEXT begins; 0 for an object */
    bool has_uuid;
    uint8_t uuid[16];
    uint32_t symbols_foff, symbol_count, names_foff, names_bytes;
    uint32_t starts_foff, starts_bytes; /* LC_FUNCTION_STARTS */
};

struct macho_section {
    char name[17], segment[17];
    uint64_t va, bytes;
    uint32_t foff, relocations_foff, relocation_count, flags;
};

/* True for thin and for fat files. */
bool macho_recognize(const void *data, size_t bytes);

/* Slice INDEX of a fat file; a thin file is its own slice 0. False: there is none, or it is not
 * inside the file. The slice may be something other than a Mach-O file, such as an archive. */
bool macho_slice(const void *data, size_t bytes, uint32_t index, struct byte_view *out);

/* Opens one slice. Fails: ERR_UNSUPPORTED not a Mach-O file, or a big-endian one; ERR_TRUNCATED;
 * ERR_MALFORMED. */
enum status macho_open(const void *data, size_t bytes, struct macho *out, struct fault *fault);

enum object_arch macho_arch(const struct macho *macho);

/* "" when there is no LC_UUID. */
void macho_uuid(const struct macho *macho, char out[MACHO_UUID_BYTES]);

/* The section of INDEX, counted from 0 through all segments; false when there is none. */
bool macho_section(const struct macho *macho, uint32_t index, struct macho_section *out);

/* Adds the functions of LC_SYMTAB, without their leading underscores. They end where the next one
 * starts. A damaged table ends at the damage. Fails: ERR_MEMORY, ERR_LIMIT. */
enum status macho_add_symbols(const struct macho *macho, struct arena *keep,
                              struct object_symbols *out, struct fault *fault);

/* Where functions start (offsets from the base), as LC_FUNCTION_STARTS lists them; *count 0: the
 * file does not state them. Fails: ERR_MEMORY. */
enum status macho_function_starts(const struct macho *macho, struct arena *keep, uint32_t **out,
                                  uint32_t *count, struct fault *fault);

/* Sections of debug information (relocated, when the file is an object) and ranges of code. True
 * when there is a __debug_info. A section that cannot be unpacked is treated as absent, and *fault
 * says why. */
bool macho_debug(const struct macho *macho, struct arena *keep, struct object_debug *out,
                 struct fault *fault);

/* One function of the debug map. */
struct macho_mapped {
    const char *object;     /* path of the object file: "/b/x.o" or "/b/lib.a(x.o)" */
    const char *name;       /* the linker's, as in the object file's symbol table */
    uint32_t offset, bytes; /* in the image */
};

/* Reads the debug map.  An image without one has 0.  Fails: ERR_MEMORY. */
enum status macho_debug_map(const struct macho *macho, struct arena *keep,
                            struct macho_mapped **out, uint32_t *count, struct fault *fault);

/* The address of the symbol NAME in an object file; false: it does not define it. */
struct macho_name {
    const char *name;
    uint64_t va;
};

/* The symbols that an object defines, sorted by name.  Fails: ERR_MEMORY. */
enum status macho_names(const struct macho *macho, struct arena *keep, struct macho_name **out,
                        uint32_t *count, struct fault *fault);

/* Archives ("!<arch>"), with BSD or GNU names. */
bool archive_recognize(const void *data, size_t bytes);

/* Reads the member at *AT (0: the first) and moves *AT to the next one. False: there are no
 * more. */
struct archive_member {
    char name[256];
    struct byte_view data;
};
bool archive_next(const void *data, size_t bytes, uint64_t *at, struct archive_member *out);

#endif
