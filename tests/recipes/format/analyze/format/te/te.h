/* TE images (terse executables of firmware): what is needed to recognise one.
 * Spec: https://uefi.org/specs/PI/1.8/V1_TE_Image.html */
#ifndef FORMAT_TE_TE_H
#define FORMAT_TE_TE_H

#include "base/bytes.h"

struct te_header {
    uint16_t machine; /* as in PE: 0x8664 is x64 */
    uint8_t section_count;
    uint64_t base_va;
};

/* Reads the header of a TE file.  Fails: ERR_MALFORMED, ERR_TRUNCATED. */
enum status te_read_header(struct bytes r, struct te_header *out);

#endif
