/* The native code that an image of .NET has beside its IL (ReadyToRun): of which method an address
 * is, and of which IL. In most .NET programs most frames are in such code, since the framework's
 * images are published with it.
 *
 * Source:
 * https://github.com/dotnet/runtime/blob/main/docs/design/coreclr/botr/readytorun-format.md; debug
 * information, which changed with version 16 (.NET 10): RestoreBoundaries() in that runtime. */
#ifndef FORMAT_PRECOMPILED_H
#define FORMAT_PRECOMPILED_H

#include "format/pe/pe.h"

/* A table that is indexed by numbers of methods or functions; offsets are from the start of the
 * section of the file that holds it. */
struct precompiled_array {
    const uint8_t *section; /* borrowed; NULL: the image has no such table */
    uint32_t bytes;         /* of the section */
    uint32_t base, count;
    uint8_t index_bytes;
};

/* The main function of a method or of an instance of a generic one. Its funclets follow it. */
struct precompiled_entry {
    uint32_t function; /* its row of the table of functions */
    uint32_t token;    /* of table MethodDef; 0: a method that this image does not define */
};

struct precompiled {
    const uint8_t *functions; /* borrowed */
    uint32_t function_count, function_bytes;
    bool states_ends;                        /* rows state where a function ends */
    uint32_t thunks_rva, thunks_bytes;       /* code of the linker, of no method */
    const uint8_t *cold;                     /* pairs of rows: a cold part and its function; NULL */
    uint32_t cold_count;                     /* pairs */
    const struct precompiled_entry *entries; /* ascending by function */
    uint32_t entry_count;
    struct precompiled_array debug;
    bool packed_debug; /* version 16 or later */
};

/* Indexes the code of an image; what is in KEEP must outlive *OUT, as must the image. Fails:
 * ERR_ABSENT no such code; ERR_UNSUPPORTED a composite image, whose metadata are in other files;
 * ERR_TRUNCATED; ERR_MALFORMED; ERR_MEMORY. */
enum status precompiled_open(const struct pe *pe, struct arena *keep, struct precompiled *out,
                             struct fault *fault);

/* Above this, there is no IL at an address: code that the compiler added. */
#define PRECOMPILED_IL_LAST 0xFFFFFF00u

struct precompiled_place {
    uint32_t token, begin_rva; /* of the method, whose funclets come after its body */
    uint32_t il;               /* offset in its IL, or above PRECOMPILED_IL_LAST */
};

/* The method whose code is at RVA; false: none of this image. */
bool precompiled_find(const struct precompiled *code, uint32_t rva, struct precompiled_place *out);

#endif
