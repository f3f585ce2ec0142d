/* See core.h. */
#include "format/minidump/core.h"

enum { TEXT_BYTES_MAX = 0x10000 };

struct bytes minidump_at(const struct minidump *dump, struct minidump_place place,
                         struct fault *fault)
{
    struct bytes r = bytes_over(dump->data, (size_t)dump->data_bytes, fault);
    return bytes_window(&r, place.foff, place.bytes);
}

bool minidump_place_fits(const struct minidump *dump, uint64_t foff, uint64_t bytes)
{
    return foff <= dump->data_bytes && bytes <= dump->data_bytes - foff;
}

struct minidump_place minidump_location(struct minidump_reader *m, struct bytes *r,
                                        const char *what)
{
    struct minidump_place place;
    uint64_t at = r->offset;
    place.bytes = bytes_u32(r);
    place.foff = bytes_u32(r);
    if (place.bytes == 0)
        return (struct minidump_place){0, 0};
    if (!minidump_place_fits(m->out, place.foff, place.bytes)) {
        (void)fault_set_lasting(m->damage, ERR_TRUNCATED, at, what, NULL);
        return (struct minidump_place){0, 0};
    }
    return place;
}

void *minidump_array(struct minidump_reader *m, uint32_t count, size_t size)
{
    void *array = arena_array(m->keep, count == 0 ? 1 : count, size);
    if (array == NULL)
        (void)fault_no_memory(m->damage, "minidump");
    return array;
}

bool minidump_spend_text(struct minidump_reader *m, uint64_t bytes, uint64_t offset)
{
    if (bytes > m->text_budget) {
        (void)fault_set(m->damage, ERR_LIMIT, offset, "minidump text length");
        return false;
    }
    m->text_budget -= bytes;
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

const char *minidump_utf16(struct minidump_reader *m, struct bytes *r, uint64_t bytes)
{
    if (!minidump_spend_text(m, bytes, r->offset))
        return NULL;
    uint64_t offset = r->offset;
    const uint8_t *from = bytes_take(r, bytes);
    if (from == NULL) {
        (void)fault_set(m->damage, ERR_TRUNCATED, offset, "minidump text");
        return NULL;
    }
    uint64_t units = bytes / 2;
    char *text = arena_array(m->keep, (size_t)units + 1, 3);
    if (text == NULL) {
        (void)fault_no_memory(m->damage, "minidump");
        return NULL;
    }
    char *out = text;
    for (uint64_t i = 0; i < units; i++) {
        uint32_t c = load_u16(from + i * 2);
        if (c == 0)
            break;
        uint32_t low = i + 1 < units ? load_u16(from + i * 2 + 2) : 0;
        if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            i++;
        } else if (c >= 0xd800 && c < 0xe000) {
            c = 0xfffd; /* half a surrogate pair: names come from crashing processes */
        }
        out = put_utf8(out, c);
    }
    *out = '\0';
    return text;
}

static bool string_at(struct minidump_reader *m, uint64_t foff, const char *what, struct bytes *out,
                      uint32_t *bytes)
{
    if (foff == 0)
        return false;
    if (!minidump_place_fits(m->out, foff, 4)) {
        (void)fault_set_lasting(m->damage, ERR_TRUNCATED, foff, what, NULL);
        return false;
    }
    *out =
        minidump_at(m->out, (struct minidump_place){foff, m->out->data_bytes - foff}, &m->scratch);
    *bytes = bytes_u32(out);
    if (*bytes > out->left) {
        (void)fault_set_lasting(m->damage, ERR_TRUNCATED, foff, what, NULL);
        return false;
    }
    if (*bytes > TEXT_BYTES_MAX) {
        (void)fault_set(m->damage, ERR_LIMIT, foff, "minidump text length");
        return false;
    }
    return true;
}

const char *minidump_string(struct minidump_reader *m, uint64_t foff, const char *what)
{
    struct bytes r;
    uint32_t bytes;
    return string_at(m, foff, what, &r, &bytes) ? minidump_utf16(m, &r, bytes) : NULL;
}

const char *minidump_utf8(struct minidump_reader *m, uint64_t foff, const char *what)
{
    struct bytes r;
    uint32_t bytes;
    if (!string_at(m, foff, what, &r, &bytes) || !minidump_spend_text(m, bytes, foff))
        return NULL;
    const char *text = arena_text(m->keep, (const char *)r.at, bytes);
    if (text == NULL)
        (void)fault_no_memory(m->damage, "minidump");
    return text;
}

uint32_t minidump_list_count(struct minidump_reader *m, struct bytes *r, size_t size,
                             uint32_t limit, const char *what)
{
    uint32_t count = bytes_u32(r);
    if (r->left == 4 + (uint64_t)count * size)
        bytes_skip(r, 4);
    if (limit != 0 && count > limit) {
        (void)fault_set_lasting(m->damage, ERR_LIMIT, r->offset, what, NULL);
        return 0;
    }
    return bytes_count(r, count, size);
}

/* The header of newer lists: header bytes, entry bytes, number of entries. */
uint32_t minidump_sized_list(struct minidump_reader *m, struct bytes *r, size_t least,
                             uint32_t *entry_bytes, uint32_t limit, const char *what)
{
    struct bytes whole = *r;
    uint32_t header = bytes_u32(r);
    *entry_bytes = bytes_u32(r);
    uint32_t count = bytes_u32(r);
    if (bytes_failed(r))
        return 0;
    if (header < 12 || header > whole.left || *entry_bytes < least) {
        (void)fault_set_lasting(m->damage, ERR_MALFORMED, whole.offset, what, NULL);
        return 0;
    }
    if (count > limit) {
        (void)fault_set_lasting(m->damage, ERR_LIMIT, whole.offset, what, NULL);
        return 0;
    }
    *r = bytes_window(&whole, header, whole.left - header);
    return bytes_count(r, count, *entry_bytes);
}

uint32_t minidump_pointer_bytes(const struct minidump *dump)
{
    switch (dump->system.present ? dump->system.architecture : UINT16_MAX) {
    case 6:      /* IA64 */
    case 9:      /* AMD64 */
    case 12:     /* ARM64 */
    case 0x8002: /* Breakpad's PPC64, */
    case 0x8003: /* older ARM64, */
    case 0x8004: /* MIPS64 and */
    case 0x8006: /* RISCV64 */
        return 8;
    case UINT16_MAX:
        return cpu_pointer_bytes(dump->dump_cpu);
    default:
        return 4;
    }
}

uint64_t minidump_number(const struct minidump *dump, struct bytes *r, uint32_t bytes)
{
    switch (bytes != 0 ? bytes : minidump_pointer_bytes(dump)) {
    case 1:
        return bytes_u8(r);
    case 2:
        return bytes_u16(r);
    case 4:
        return bytes_u32(r);
    default:
        return bytes_u64(r);
    }
}

struct bytes minidump_from(const struct minidump *dump, uint64_t foff, struct fault *fault)
{
    uint64_t left = foff <= dump->data_bytes ? dump->data_bytes - foff : 0;
    return minidump_at(dump, (struct minidump_place){foff, left}, fault);
}
