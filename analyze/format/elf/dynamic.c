/* What the loader needs of an ELF file: it reads segments, never sections. A file whose section
 * table was removed, or leads nowhere, still has the symbols that PT_DYNAMIC points to, and the
 * .eh_frame that PT_GNU_EH_FRAME points to.
 *
 * Source: System V ABI, chapter 5 (program header, dynamic section, hash table);
 * PT_GNU_EH_FRAME: Linux Standard Base 5.0, "Exception Frames";
 * DT_GNU_HASH: https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html. */
#include <string.h>

#include "format/elf/elf_bytes.h"

enum {
    SEGMENT_LOAD = 1,
    SEGMENT_DYNAMIC = 2,
    SEGMENT_EH_FRAME = 0x6474e550,
    DYNAMIC_HASH = 4,
    DYNAMIC_NAMES = 5,
    DYNAMIC_SYMBOLS = 6,
    DYNAMIC_NAMES_BYTES = 10,
    DYNAMIC_GNU_HASH = 0x6ffffef5,
    GNU_HASH_HEAD = 16,
};

struct byte_view elf_loaded_bytes(const struct elf *elf, uint64_t va)
{
    struct elf_segment s;

    for (uint32_t i = 0; va != 0 && elf_segment(elf, i, &s); i++) {
        const uint8_t *at = s.type == SEGMENT_LOAD ? elf_at(elf, s.foff, s.file_bytes) : NULL;
        if (at != NULL && va >= s.va && va - s.va < s.file_bytes)
            return (struct byte_view){at + (va - s.va), (size_t)(s.file_bytes - (va - s.va))};
    }
    return (struct byte_view){NULL, 0};
}

/* DT_HASH has as many chains as there are symbols. */
static uint64_t count_by_hash(const struct elf *elf, struct byte_view hash)
{
    return hash.bytes >= 8 ? elf_number(elf, hash.data + 4, 4) : 0;
}

/* DT_GNU_HASH: buckets, first symbol, words of the filter, shift; the filter; the buckets; the
 * chains. The last symbol is at the end of the chain that begins last. */
static uint64_t count_by_gnu_hash(const struct elf *elf, struct byte_view hash)
{
    if (hash.bytes < GNU_HASH_HEAD)
        return 0;
    const uint64_t buckets = elf_number(elf, hash.data, 4);
    const uint64_t first = elf_number(elf, hash.data + 4, 4);
    const uint64_t filter = elf_number(elf, hash.data + 8, 4) * (elf->is_64 ? 8 : 4);
    const uint64_t buckets_at = GNU_HASH_HEAD + filter, chains_at = buckets_at + buckets * 4;
    uint64_t last = 0;

    if (chains_at > hash.bytes)
        return 0;
    for (uint64_t i = 0; i < buckets; i++) {
        const uint64_t symbol = elf_number(elf, hash.data + buckets_at + i * 4, 4);
        last = symbol > last ? symbol : last;
    }
    if (last < first)
        return first; /* every bucket is empty */
    for (uint64_t at = chains_at + (last - first) * 4; at + 4 <= hash.bytes; at += 4, last++)
        if ((elf_number(elf, hash.data + at, 4) & 1) != 0)
            return last + 1;
    return 0;
}

/* The value of an entry of PT_DYNAMIC; 0: there is none. */
static uint64_t dynamic_value(const struct elf *elf, uint64_t tag)
{
    const uint32_t word = elf->is_64 ? 8 : 4;
    const size_t entry = 2 * (size_t)word;
    struct elf_segment s = {0};
    uint32_t i = 0;

    while (elf_segment(elf, i, &s) && s.type != SEGMENT_DYNAMIC)
        i++;
    const uint8_t *at = s.type == SEGMENT_DYNAMIC ? elf_at(elf, s.foff, s.file_bytes) : NULL;
    for (uint64_t left = s.file_bytes; at != NULL && left >= entry; at += entry, left -= entry) {
        const uint64_t found = elf_number(elf, at, word);
        if (found == tag)
            return elf_number(elf, at + word, word);
        if (found == 0)
            break;
    }
    return 0;
}

bool elf_dynamic_symbols(const struct elf *elf, struct byte_view *rows, struct byte_view *names)
{
    const uint64_t row_bytes = elf->is_64 ? 24 : 16;
    const uint64_t hash = dynamic_value(elf, DYNAMIC_HASH);
    const uint64_t names_bytes = dynamic_value(elf, DYNAMIC_NAMES_BYTES);

    *rows = elf_loaded_bytes(elf, dynamic_value(elf, DYNAMIC_SYMBOLS));
    *names = elf_loaded_bytes(elf, dynamic_value(elf, DYNAMIC_NAMES));
    const uint64_t count =
        hash != 0
            ? count_by_hash(elf, elf_loaded_bytes(elf, hash))
            : count_by_gnu_hash(elf, elf_loaded_bytes(elf, dynamic_value(elf, DYNAMIC_GNU_HASH)));
    if (rows->bytes / row_bytes > count)
        rows->bytes = (size_t)(count * row_bytes);
    if (names->bytes > names_bytes)
        names->bytes = (size_t)names_bytes;
    return rows->bytes > 0 && names->bytes > 0;
}

/* Where .eh_frame is, as the first field of the header AT of VA says; 0: it does not, or in a form
 * that no linker writes. */
static uint64_t frames_va(const struct elf *elf, struct byte_view header, uint64_t va)
{
    enum { VERSION = 1, OF_4_BYTES = 0x3, SIGNED_4_BYTES = 0xb, BY_PLACE = 0x10, BY_HEADER = 0x30 };
    if (header.bytes < 8 || header.data[0] != VERSION)
        return 0;
    const uint32_t value = (uint32_t)elf_number(elf, header.data + 4, 4);
    const uint64_t distance = (uint64_t)(int64_t)(int32_t)value;
    switch (header.data[1]) {
    case OF_4_BYTES:
        return value;
    case BY_PLACE | SIGNED_4_BYTES:
        return va + 4 + distance;
    case BY_HEADER | SIGNED_4_BYTES:
        return va + distance;
    default:
        return 0;
    }
}

bool elf_loaded_frames(const struct elf *elf, uint64_t *va, struct byte_view *out)
{
    struct elf_segment s = {0};
    uint32_t i = 0;
    while (elf_segment(elf, i, &s) && s.type != SEGMENT_EH_FRAME)
        i++;
    if (!elf_segment(elf, i, &s))
        return false;
    *va = frames_va(elf, elf_loaded_bytes(elf, s.va), s.va);
    *out = elf_loaded_bytes(elf, *va);
    for (uint64_t at = 0; out->bytes - at >= 4;) { /* a record without bytes is the last */
        const uint64_t bytes = elf_number(elf, out->data + at, 4);
        if (bytes == 0 || bytes > out->bytes - at - 4) {
            out->bytes = (size_t)at;
            break;
        }
        at += 4 + bytes;
    }
    return out->bytes > 0;
}
