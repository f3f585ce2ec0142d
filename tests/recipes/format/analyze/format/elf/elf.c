/* The header of an ELF file.
 *
 *   OFFSET SIZE
 *        0    4   7f 'E' 'L' 'F'
 *        4    1   class: 1 is 32 bits, 2 is 64
 *        5    1   data: 1 is little-endian
 *       18    2   machine */
#include "format/elf/elf.h"

enum { ELF_MAGIC = 0x464c457f, CLASS_64 = 2, LITTLE_ENDIAN_DATA = 1 };

enum status elf_read_header(struct bytes r, struct elf_header *out)
{
    const uint64_t start = r.offset;
    const uint32_t magic = bytes_u32(&r);
    const uint8_t class = bytes_u8(&r), data = bytes_u8(&r);
    bytes_skip(&r, 12);
    out->machine = bytes_u16(&r);
    if (bytes_failed(&r))
        return r.fault->code;
    out->word_bytes = class == CLASS_64 ? 8 : 4;
    if (magic != ELF_MAGIC || class == 0 || class > CLASS_64)
        return fault_set(r.fault, ERR_MALFORMED, start, "ELF header");
    if (data != LITTLE_ENDIAN_DATA)
        return fault_set(r.fault, ERR_UNSUPPORTED, start + 5, "big-endian ELF");
    return ERR_NONE;
}
