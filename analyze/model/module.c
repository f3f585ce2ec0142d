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

bool module_debug_id_is_none(const char *debug_id)
{
    enum { GUID_DIGITS = 32 };
    return strspn(debug_id, "0") >= GUID_DIGITS;
}

void module_mvid(const uint8_t guid[16], char out[MVID_BYTES])
{
    (void)snprintf(out, MVID_BYTES, "%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X",
                   load_u32(guid), load_u16(guid + 4), load_u16(guid + 6), guid[8], guid[9],
                   guid[10], guid[11], guid[12], guid[13], guid[14], guid[15]);
}

bool module_mvid_parse(const char *text, size_t bytes, char out[MVID_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        uint64_t digit;
        char c = text[i];
        if (c == '-' || c == '{' || c == '}')
            continue;
        if (n == 8 || n == 13 || n == 18 || n == 23)
            out[n++] = '-';
        if (n + 1 >= MVID_BYTES || !text_parse_hex(&c, 1, &digit))
            return false;
        out[n++] = "0123456789ABCDEF"[digit];
    }
    out[n] = '\0';
    return n + 1 == MVID_BYTES;
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
    const bool mvids = a->mvid[0] != '\0' && b->mvid[0] != '\0';

    if (codes && !text_equal_nocase(a->code_id, b->code_id))
        return false;
    if (debugs && !text_equal_nocase(a->debug_id, b->debug_id))
        return false;
    if (mvids && strcmp(a->mvid, b->mvid) != 0)
        return false;
    if (codes || debugs || mvids)
        return true;
    return a->name != NULL && b->name != NULL && text_equal_nocase(a->name, b->name);
}
