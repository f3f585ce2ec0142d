/* See bytes.h. */
#include "base/bytes.h"

#include <string.h>

struct bytes bytes_over(const void *memory, size_t size, struct fault *fault)
{
    struct bytes r = {memory, size, 0, fault};
    return r;
}

struct bytes bytes_window(const struct bytes *whole, uint64_t start, uint64_t size)
{
    struct bytes r = {whole->at, 0, whole->offset, whole->fault};
    if (bytes_failed(whole))
        return r;
    if (start > whole->left || size > whole->left - start) {
        fault_set(whole->fault, ERR_TRUNCATED, whole->offset + start, "range inside the file");
        return r;
    }
    r.at = whole->at + start;
    r.left = (size_t)size;
    r.offset = whole->offset + start;
    return r;
}

bool bytes_failed(const struct bytes *r)
{
    return r->fault->code != ERR_NONE;
}

const uint8_t *bytes_take(struct bytes *r, uint64_t size)
{
    if (bytes_failed(r))
        return NULL;
    if (size > r->left) {
        fault_set(r->fault, ERR_TRUNCATED, r->offset, "structure");
        return NULL;
    }
    const uint8_t *taken = r->at;
    r->at += size;
    r->left -= (size_t)size;
    r->offset += size;
    return taken;
}

void bytes_skip(struct bytes *r, uint64_t size)
{
    (void)bytes_take(r, size);
}

uint8_t bytes_u8(struct bytes *r)
{
    const uint8_t *p = bytes_take(r, 1);
    return p ? p[0] : 0;
}

uint16_t bytes_u16(struct bytes *r)
{
    const uint8_t *p = bytes_take(r, 2);
    return p ? load_u16(p) : 0;
}

uint32_t bytes_u32(struct bytes *r)
{
    const uint8_t *p = bytes_take(r, 4);
    return p ? load_u32(p) : 0;
}

uint64_t bytes_u64(struct bytes *r)
{
    const uint8_t *p = bytes_take(r, 8);
    return p ? load_u64(p) : 0;
}

const char *bytes_cstring(struct bytes *r)
{
    if (bytes_failed(r))
        return "";
    const void *nul = r->left > 0 ? memchr(r->at, 0, r->left) : NULL;
    if (nul == NULL) {
        fault_set(r->fault, ERR_TRUNCATED, r->offset, "terminated string");
        return "";
    }
    const char *text = (const char *)r->at;
    bytes_skip(r, (uint64_t)((const uint8_t *)nul - r->at) + 1);
    return text;
}

uint32_t bytes_count(struct bytes *r, uint32_t count, size_t size)
{
    if (bytes_failed(r))
        return 0;
    if (size != 0 && count > r->left / size) {
        fault_set(r->fault, ERR_TRUNCATED, r->offset, "counted records");
        return 0;
    }
    return count;
}
