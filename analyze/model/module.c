/* Module identities: see module.h. */
#include "model/module.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"

void module_code_id(uint32_t timestamp, uint32_t image_bytes, char out[CODE_ID_BYTES])
{
    (void)snprintf(out, CODE_ID_BYTES, "%08X%x", timestamp, image_bytes);
}

/* A GUID prints its first three fields as numbers, so they are byte-swapped in files. */
void module_debug_id(const uint8_t guid[16], uint32_t age, char out[DEBUG_ID_BYTES])
{
    (void)snprintf(out, DEBUG_ID_BYTES, "%08X%04X%04X%02X%02X%02X%02X%02X%02X%02X%02X%x",
                   load_u32(guid), load_u16(guid + 4), load_u16(guid + 6), guid[8], guid[9],
                   guid[10], guid[11], guid[12], guid[13], guid[14], guid[15], age);
}

void module_build_debug_id(const char *build_id, char out[DEBUG_ID_BYTES])
{
    uint8_t guid[16] = {0};
    const size_t digits = strlen(build_id);

    for (size_t i = 0; i < 16 && 2 * i + 1 < digits; i++) {
        for (size_t k = 0; k < 2; k++) {
            const char c = build_id[2 * i + k];
            guid[i] = (uint8_t)(guid[i] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
        }
    }
    module_debug_id(guid, 0, out);
}

bool module_same(const struct module *a, const struct module *b)
{
    const bool codes = a->code_id[0] != '\0' && b->code_id[0] != '\0';
    const bool debugs = a->debug_id[0] != '\0' && b->debug_id[0] != '\0';

    if (codes && !text_equal_nocase(a->code_id, b->code_id))
        return false;
    if (debugs && !text_equal_nocase(a->debug_id, b->debug_id))
        return false;
    if (codes || debugs)
        return true;
    return a->name != NULL && b->name != NULL && text_equal_nocase(a->name, b->name);
}
