/* ELF images: what is needed to recognise one.
 * Spec: https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html */
#ifndef FORMAT_ELF_ELF_H
#define FORMAT_ELF_ELF_H

#include "base/bytes.h"

struct elf_header {
    uint8_t word_bytes; /* 4 or 8          */
    uint16_t machine;   /* EM_*: 62 is x64 */
};

/* Reads the header of a little-endian ELF file.  Fails: ERR_MALFORMED, ERR_UNSUPPORTED
 * (big-endian), ERR_TRUNCATED. */
enum status elf_read_header(struct bytes r, struct elf_header *out);

#endif
