/* The header of a TE file.
 *
 *   OFFSET SIZE
 *        0    2   'V' 'Z'
 *        2    2   machine
 *        4    1   sections
 *       16    8   image base (va) */
#include "format/te/te.h"

enum { TE_MAGIC = 0x5a56 };

enum status te_read_header(struct bytes r, struct te_header *out)
{
    const uint64_t start = r.offset;
    const uint16_t magic = bytes_u16(&r);
    out->machine = bytes_u16(&r);
    out->section_count = bytes_u8(&r);
    bytes_skip(&r, 11);
    out->base_va = bytes_u64(&r);
    if (bytes_failed(&r))
        return r.fault->code;
    return magic == TE_MAGIC ? ERR_NONE : fault_set(r.fault, ERR_MALFORMED, start, "TE header");
}
