/* The unwind table of macOS and iOS images; see compact.h. */
#include "unwind/compact.h"

#include <string.h>

enum {
    HEADER_BYTES = 28,
    INDEX_ROW_BYTES = 12,
    PAGE_REGULAR = 2,
    PAGE_COMPRESSED = 3,
    MODE_MASK = 0x0f000000,
    X64_RBP = 6,
    X64_RSP = 7,
    X64_PC = 16,
    ARM64_FP = 29,
    ARM64_LR = 30,
    ARM64_SP = 31,
};

#define NO_START 0x80000000u /* the code begins within a function */

enum x64_mode {
    X64_FRAME = 1 << 24,
    X64_STACK = 2 << 24,
    X64_STACK_LARGE = 3 << 24,
    X64_DWARF = 4 << 24
};
enum arm64_mode { ARM64_STACK = 2 << 24, ARM64_DWARF = 3 << 24, ARM64_FRAME = 4 << 24 };

/* Registers of x86-64 by their numbers in a word, as DWARF numbers them. */
static const uint8_t x64_registers[8] = {0, 3, 12, 13, 14, 15, X64_RBP, 0};

bool compact_open(const struct macho *macho, struct compact *out)
{
    struct macho_section section;
    const enum object_arch arch = macho_arch(macho);
    if (arch != ARCH_X86_64 && arch != ARCH_ARM64)
        return false;
    for (uint32_t i = 0; macho_section(macho, i, &section); i++) {
        if (strcmp(section.name, "__unwind_info") != 0 || section.bytes < HEADER_BYTES ||
            section.foff > macho->bytes || section.bytes > macho->bytes - section.foff)
            continue;
        *out = (struct compact){
            macho, {macho->data + section.foff, (size_t)section.bytes}, arch == ARCH_ARM64};
        return load_u32(out->info.data) == 1;
    }
    return false;
}

/* False: outside the section. */
static bool word_at(const struct compact *c, uint64_t at, uint32_t *out)
{
    if (at > c->info.bytes - sizeof *out)
        return false;
    *out = load_u32(c->info.data + at);
    return true;
}

/* BYTES of the image; NULL: the file does not have them. __TEXT starts with the file. */
static const uint8_t *code_at(const struct compact *c, uint32_t rva, uint32_t bytes)
{
    return rva <= c->macho->bytes && bytes <= c->macho->bytes - rva ? c->macho->data + rva : NULL;
}

/* Of rows of STRIDE bytes at FROM, sorted by the address in their low BITS, the last at or before
 * WANT. False: there is none, or they are damaged. */
static bool last_row(const struct compact *c, uint64_t from, uint32_t count, uint32_t stride,
                     uint32_t mask, uint32_t want, uint32_t *out)
{
    uint32_t low = 0, high = count, word;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!word_at(c, from + (uint64_t)middle * stride, &word))
            return false;
        if ((word & mask) <= want)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low - 1;
    return low > 0;
}

struct found {
    uint32_t begin_rva, end_rva, word;
};

/* A page of whole words: {address, word}. */
static bool read_regular(const struct compact *c, uint64_t page, uint32_t rva, struct found *out)
{
    uint32_t head, row;
    if (!word_at(c, page + 4, &head))
        return false;
    const uint64_t rows = page + (head & 0xffff);
    if (!last_row(c, rows, head >> 16, 8, UINT32_MAX, rva, &row) ||
        !word_at(c, rows + (uint64_t)row * 8, &out->begin_rva) ||
        !word_at(c, rows + (uint64_t)row * 8 + 4, &out->word))
        return false;
    if (row + 1 < head >> 16)
        (void)word_at(c, rows + (uint64_t)(row + 1) * 8, &out->end_rva);
    return true;
}

/* A page whose rows hold the number of a word in their high byte, and a distance from BASE. */
static bool read_compressed(const struct compact *c, uint64_t page, uint32_t base, uint32_t rva,
                            struct found *out)
{
    uint32_t head, words, row, entry, next, common_at, common_count;
    if (!word_at(c, page + 4, &head) || !word_at(c, page + 8, &words) ||
        !word_at(c, 4, &common_at) || !word_at(c, 8, &common_count))
        return false;
    const uint64_t rows = page + (head & 0xffff);
    if (!last_row(c, rows, head >> 16, 4, 0xffffff, rva - base, &row) ||
        !word_at(c, rows + (uint64_t)row * 4, &entry))
        return false;
    out->begin_rva = base + (entry & 0xffffff);
    if (row + 1 < head >> 16 && word_at(c, rows + (uint64_t)(row + 1) * 4, &next))
        out->end_rva = base + (next & 0xffffff);
    const uint32_t number = entry >> 24;
    if (number < common_count)
        return word_at(c, common_at + (uint64_t)number * 4, &out->word);
    return number - common_count < words >> 16 &&
           word_at(c, page + (words & 0xffff) + (uint64_t)(number - common_count) * 4, &out->word);
}

static bool find_word(const struct compact *c, uint32_t rva, struct found *out)
{
    uint32_t index_at, index_count, row, base, next, page, kind;
    if (!word_at(c, 20, &index_at) || !word_at(c, 24, &index_count) || index_count == 0 ||
        !last_row(c, index_at, index_count - 1, INDEX_ROW_BYTES, UINT32_MAX, rva, &row))
        return false;
    const uint64_t at = index_at + (uint64_t)row * INDEX_ROW_BYTES;
    if (!word_at(c, at, &base) || !word_at(c, at + 4, &page) ||
        !word_at(c, at + INDEX_ROW_BYTES, &next) || page == 0 || rva >= next ||
        !word_at(c, page, &kind))
        return false;
    out->end_rva = next;
    if (kind == PAGE_REGULAR)
        return read_regular(c, page, rva, out);
    return kind == PAGE_COMPRESSED && read_compressed(c, page, base, rva, out);
}

static void save(struct cfi_row *out, uint32_t number, int64_t n)
{
    out->rules[number] = (struct cfi_rule){.kind = CFI_AT, .n = n};
}

/* The rules of x86-64 for the CFA and the return address, and for rbp where it is the frame's. */
static void x64_row(struct cfi_row *out, uint64_t cfa_register, int64_t cfa_offset)
{
    *out = (struct cfi_row){.cfa_register = cfa_register, .cfa_offset = cfa_offset};
    save(out, X64_PC, -8);
    if (cfa_register == X64_RBP)
        save(out, X64_RBP, -16);
}

/* The registers that a function without a frame pointer saved, from the highest address down; the
 * word holds their order as the number of a permutation. */
static bool x64_saved(uint32_t word, struct cfi_row *out)
{
    const uint32_t count = (word >> 10) & 7;
    uint32_t number = word & 0x3ff, digits[6], order[6], used = 0;
    static const uint32_t factors[7][6] = {
        {0}, {1}, {5, 1}, {20, 4, 1}, {60, 12, 3, 1}, {120, 24, 6, 2, 1}, {120, 24, 6, 2, 1, 0}};
    if (count > 6)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        digits[i] = factors[count][i] != 0 ? number / factors[count][i] : 0;
        number -= digits[i] * factors[count][i];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seen = 0, candidate = 1;
        for (; candidate < 7; candidate++)
            if ((used & 1u << candidate) == 0 && seen++ == digits[i])
                break;
        if (candidate == 7)
            return false;
        used |= 1u << candidate;
        order[i] = candidate;
    }
    for (uint32_t i = 0; i < count; i++)
        save(out, x64_registers[order[i]], -8 * (int64_t)(count - i) - 8);
    return true;
}

static bool x64_frame(uint32_t word, struct cfi_row *out)
{
    const int64_t from = -16 - 8 * (int64_t)((word >> 16) & 0xff);
    x64_row(out, X64_RBP, 16);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t number = (word >> i * 3) & 7;
        if (number > 5)
            return false;
        if (number != 0)
            save(out, x64_registers[number], from + 8 * (int64_t)i);
    }
    return true;
}

static bool holds(const uint8_t *code, uint32_t bytes, const char *want, uint32_t want_bytes)
{
    for (uint32_t i = 0; i + want_bytes <= bytes; i++)
        if (memcmp(code + i, want, want_bytes) == 0)
            return true;
    return false;
}

static enum compact_answer x64_find(const struct compact *c, const struct found *f, uint32_t rva,
                                    struct cfi_row *out)
{
    const uint32_t into = rva - f->begin_rva, mode = f->word & MODE_MASK;
    const uint8_t *start = code_at(c, f->begin_rva, into + 1);
    uint32_t bytes = (f->word >> 16) & 0xff;
    if (mode == X64_DWARF)
        return COMPACT_DWARF;
    if (start == NULL || f->word == 0)
        return COMPACT_NONE;
    if ((into == 0 && (f->word & NO_START) == 0) || start[into] == 0xc3) { /* ret */
        x64_row(out, X64_RSP, 8);
        return COMPACT_ROW;
    }
    if (mode == X64_FRAME) {
        if (into <= COMPACT_PROLOGUE_BYTES_MAX &&
            !holds(start, into, "\x48\x89\xe5", 3)) { /* mov rbp, rsp */
            if (into != 1 || start[0] != 0x55)
                return COMPACT_NONE;
            x64_row(out, X64_RSP, 16); /* after push rbp */
            save(out, X64_RBP, -16);
            return COMPACT_ROW;
        }
        return x64_frame(f->word, out) ? COMPACT_ROW : COMPACT_NONE;
    }
    if (mode == X64_STACK_LARGE) { /* the size is in the instruction that makes the room */
        const uint8_t *size = code_at(c, f->begin_rva + bytes, 4);
        if (size == NULL || load_u32(size) > INT32_MAX)
            return COMPACT_NONE;
        x64_row(out, X64_RSP, load_u32(size) + (int64_t)((f->word >> 13) & 7) * 8);
    } else if (mode == X64_STACK) {
        x64_row(out, X64_RSP, (int64_t)bytes * 8);
    } else {
        return COMPACT_NONE;
    }
    return x64_saved(f->word, out) ? COMPACT_ROW : COMPACT_NONE;
}

/* True when an instruction before INTO sets the frame pointer: add x29, sp, #n. */
static bool arm64_sets_frame(const uint8_t *start, uint32_t into)
{
    for (uint32_t i = 0; i + 4 <= into; i += 4)
        if ((load_u32(start + i) & 0xffc003ff) == 0x910003fd)
            return true;
    return false;
}

static enum compact_answer arm64_find(const struct compact *c, const struct found *f, uint32_t rva,
                                      struct cfi_row *out)
{
    const uint32_t into = rva - f->begin_rva, mode = f->word & MODE_MASK;
    const uint8_t *start = code_at(c, f->begin_rva, into + 4);
    if (mode == ARM64_DWARF)
        return COMPACT_DWARF;
    if (start == NULL || f->word == 0 || (mode != ARM64_FRAME && mode != ARM64_STACK))
        return COMPACT_NONE;
    const uint32_t code = into % 4 == 0 ? load_u32(start + into) : 0;
    *out = (struct cfi_row){.cfa_register = ARM64_SP};
    if ((into == 0 && (f->word & NO_START) == 0) || code == 0xd65f03c0 || code == 0xd65f0bff ||
        code == 0xd65f0fff)
        return COMPACT_ROW; /* ret, retaa, retab */
    int64_t at = 0;         /* of the pair that was saved last, from the CFA */
    if (mode == ARM64_FRAME) {
        if (into <= COMPACT_PROLOGUE_BYTES_MAX && !arm64_sets_frame(start, into))
            return COMPACT_NONE;
        out->cfa_register = ARM64_FP;
        out->cfa_offset = 16;
        save(out, ARM64_FP, -16);
        save(out, ARM64_LR, -8);
        at = -16;
    } else {
        out->cfa_offset = ((f->word >> 12) & 0xfff) * (int64_t)16;
    }
    for (uint32_t i = 0; i < 5; i++)
        if ((f->word & 1u << i) != 0) {
            save(out, 19 + 2 * i, at - 8);
            save(out, 20 + 2 * i, at - 16);
            at -= 16;
        }
    return COMPACT_ROW;
}

enum compact_answer compact_find(const struct compact *c, uint32_t rva, uint32_t *begin_rva,
                                 uint32_t *end_rva, struct cfi_row *out)
{
    struct found found = {0};
    if (!find_word(c, rva, &found) || found.begin_rva > rva)
        return COMPACT_NONE;
    *begin_rva = found.begin_rva;
    *end_rva = found.end_rva;
    return c->is_arm64 ? arm64_find(c, &found, rva, out) : x64_find(c, &found, rva, out);
}

void compact_each(const struct compact *c, compact_visit_fn *visit, void *context)
{
    uint32_t index_at, index_count, base, next, rva = 0, last_rva = 0;
    if (!word_at(c, 20, &index_at) || !word_at(c, 24, &index_count))
        return;
    for (uint32_t row = 0; row + 1 < index_count; row++) {
        const uint64_t at = index_at + (uint64_t)row * INDEX_ROW_BYTES;
        if (!word_at(c, at, &base) || !word_at(c, at + INDEX_ROW_BYTES, &next))
            return;
        struct found found = {0};
        for (rva = rva < base ? base : rva; rva < next; rva = found.end_rva) {
            found = (struct found){0};
            if (!find_word(c, rva, &found) || found.end_rva <= rva || found.begin_rva > rva)
                break;
            if (found.begin_rva >= last_rva) /* rows of a damaged table may overlap */
                visit(context, found.begin_rva, found.end_rva);
            last_rva = found.end_rva;
        }
    }
}
