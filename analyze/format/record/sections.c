/* See sections.h. */
#include "format/record/sections.h"

bool record_section_next(struct bytes *r, struct record_section *out)
{
    const uint64_t start = r->offset;

    if (r->left == 0 || bytes_failed(r))
        return false;
    out->type = bytes_u32(r);
    const uint32_t section_bytes = bytes_u32(r);
    out->count = bytes_u32(r);
    bytes_skip(r, 4);
    if (bytes_failed(r))
        return false;
    if (section_bytes < RECORD_SECTION_HEADER_BYTES || section_bytes % 8 != 0) {
        fault_set(r->fault, ERR_MALFORMED, start + RECORD_S_BYTES, "section size of the record");
        return false;
    }
    out->body = bytes_window(r, 0, section_bytes - RECORD_SECTION_HEADER_BYTES);
    bytes_skip(r, section_bytes - RECORD_SECTION_HEADER_BYTES);
    return !bytes_failed(r);
}

const char *record_take_text(struct bytes *r, uint64_t size, struct arena *keep)
{
    const uint8_t *at = bytes_take(r, size);
    if (at == NULL || size == 0)
        return NULL;
    const char *text = arena_text(keep, (const char *)at, (size_t)size);
    if (text == NULL)
        fault_set(r->fault, ERR_MEMORY, r->offset, "text of the record");
    return text;
}

bool record_entry_next(struct bytes *r, uint32_t min_bytes, struct bytes *entry)
{
    struct bytes peek = *r;
    const uint32_t entry_bytes = bytes_u32(&peek);

    if (bytes_failed(r))
        return false;
    if (entry_bytes < min_bytes || entry_bytes % 8 != 0) {
        fault_set(r->fault, ERR_MALFORMED, r->offset, "entry size of the record");
        return false;
    }
    *entry = bytes_window(r, 0, entry_bytes);
    bytes_skip(entry, 4);
    bytes_skip(r, entry_bytes);
    return !bytes_failed(r);
}
