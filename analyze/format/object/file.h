/* An image, object or debug file of any container, recognised by its content. */
#ifndef FORMAT_OBJECT_FILE_H
#define FORMAT_OBJECT_FILE_H

#include "format/elf/elf.h"
#include "format/macho/macho.h"
#include "format/object/object.h"
#include "format/pe/pe.h"

enum object_kind {
    OBJECT_NONE, /* not a kind that is read here */
    OBJECT_PE,
    OBJECT_ELF,
    OBJECT_MACHO,
    OBJECT_ARCHIVE,
};

struct object_file {
    enum object_kind kind;
    struct byte_view bytes;     /* borrowed; of a fat file the slice */
    const struct file_map *map; /* borrowed: the file that the bytes are of; NULL: unknown */
    union {
        struct pe pe;
        struct elf elf;
        struct macho macho;
    } as;
    char id[ELF_BUILD_ID_BYTES];   /* build id or UUID in lower-case hexadecimal; "" none */
    char debug_id[DEBUG_ID_BYTES]; /* as in model/module.h; "" none */
};

/* Detects the kind of file by its first bytes. */
enum object_kind object_recognize(const void *data, size_t bytes);

/* Opens slice SLICE of a fat Mach-O file, or any other file (its only slice is 0). Fails:
 * ERR_ABSENT there is no such slice; ERR_UNSUPPORTED; ERR_TRUNCATED; ERR_MALFORMED. */
enum status object_file_open(const void *data, size_t bytes, uint32_t slice,
                             struct object_file *out, struct fault *fault);

/* As elf_debug(); false for archives. */
bool object_file_debug(const struct object_file *file, struct arena *keep, struct object_debug *out,
                       struct fault *fault);

/* Adds the functions of the file's symbol tables, not those of a PE image's export table.
 * Fails: ERR_MEMORY, ERR_LIMIT. */
enum status object_file_symbols(const struct object_file *file, struct arena *keep,
                                struct object_symbols *out, struct fault *fault);

/* .gnu_debuglink of ELF and PE; false: there is none. */
bool object_file_link(const struct object_file *file, const char **name, uint32_t *crc);

/* ARCH_NONE for archives. */
enum object_arch object_file_arch(const struct object_file *file);

#endif
