/* The unwind table of 32-bit arm ELF images; see exidx.h. */
#include "unwind/exidx.h"

#include <string.h>

enum {
    ROW_BYTES = 8,
    CANNOT_UNWIND = 1,
    REGISTERS = 16,
    SP = 13,
    LR = 14,
    PC = 15,
    CODE_BYTES_MAX = 3 + 4 * 255,
};

/* The virtual stack pointer, as a register and a distance, and where registers were popped from. */
struct frame {
    const uint8_t *code;
    uint32_t left;
    uint32_t base;
    int64_t offset;
    int64_t slots[REGISTERS];
    uint32_t popped; /* a bit for each register */
};

bool exidx_open(const struct elf *elf, struct arena *keep, struct exidx *out)
{
    struct fault fault = FAULT_INIT, damage = FAULT_INIT;
    struct elf_section section;
    *out = (struct exidx){0};
    if (elf->is_64 || elf->big_endian || !elf_section_named(elf, ".ARM.exidx", &section) ||
        elf_section_bytes(elf, &section, keep, &out->index, &fault) != ERR_NONE)
        return false;
    out->index_va = section.va;
    if (!elf_section_named(elf, ".ARM.extab", &section) ||
        elf_section_bytes(elf, &section, keep, &out->table, &damage) != ERR_NONE)
        out->table = (struct byte_view){0};
    else
        out->table_va = section.va;
    return true;
}

/* An address stated as a 31-bit distance from the word itself. */
static uint64_t address(uint64_t va, uint32_t word)
{
    return (uint32_t)(va + (word & 0x7fffffff) + ((word & 0x40000000) != 0 ? 0x80000000u : 0));
}

static uint64_t function_va(const struct exidx *x, size_t row)
{
    return address(x->index_va + row * ROW_BYTES, load_u32(x->index.data + row * ROW_BYTES));
}

/* The instructions of a function in order, unpacked from words, whose first byte is the highest.
 * SKIP: bytes of the first word that are none. */
static uint32_t unpack(const uint8_t *words, uint32_t count, uint32_t skip, uint8_t *out)
{
    uint32_t bytes = 0;
    for (uint32_t i = skip; i < count * 4; i++)
        out[bytes++] = words[i / 4 * 4 + (3 - i % 4)];
    return bytes;
}

static uint32_t read_code(const struct exidx *x, size_t row, uint8_t *out)
{
    const uint8_t *word = x->index.data + row * ROW_BYTES + 4;
    const uint32_t first = load_u32(word);
    if ((first & 0x80000000) != 0)
        return (first & 0x0f000000) == 0 ? unpack(word, 1, 1, out) : 0;
    const uint64_t at = address(x->index_va + row * ROW_BYTES + 4, first) - x->table_va;
    if (at >= x->table.bytes || x->table.bytes - at < 8)
        return at < x->table.bytes && x->table.bytes - at >= 4 &&
                       (load_u32(x->table.data + at) & 0xff000000) == 0x80000000
                   ? unpack(x->table.data + at, 1, 1, out)
                   : 0;
    /* a generic routine's address, then data in the form that C++'s has; or a routine by number */
    const uint8_t *entry = x->table.data + at;
    uint64_t left = (x->table.bytes - at) / 4;
    const uint32_t head = load_u32(entry);
    uint32_t more, skip;
    if ((head & 0x80000000) == 0) {
        entry += 4;
        left--;
        more = entry[3];
        skip = 1;
    } else {
        const uint32_t routine = (head >> 24) & 0xf;
        if (routine > 2)
            return 0;
        more = routine == 0 ? 0 : (head >> 16) & 0xff;
        skip = routine == 0 ? 1 : 2;
    }
    return more < left ? unpack(entry, more + 1, skip, out) : 0;
}

static uint8_t next_code(struct frame *f)
{
    if (f->left == 0)
        return 0xb0; /* finish */
    f->left--;
    return *f->code++;
}

static void pop(struct frame *f, uint32_t mask)
{
    for (uint32_t i = 0; i < REGISTERS; i++)
        if ((mask & 1u << i) != 0) {
            f->slots[i] = f->offset;
            f->offset += 4;
        }
    f->popped |= mask;
}

/* Registers of floating point and vectors are not kept: only their room is skipped. */
static bool skip_vectors(struct frame *f, uint8_t code)
{
    if (code == 0xb3 || code == 0xc8 || code == 0xc9 || code == 0xc6)
        f->offset += (int64_t)(next_code(f) % 16 + 1) * 8 + (code == 0xb3 ? 4 : 0);
    else if (code == 0xc7)
        for (uint8_t mask = next_code(f); mask != 0; mask = (uint8_t)(mask & (mask - 1)))
            f->offset += 4;
    else if (code >= 0xb8 && code <= 0xbf)
        f->offset += (int64_t)(code % 8 + 1) * 8 + 4;
    else if ((code >= 0xd0 && code <= 0xd7) || (code >= 0xc0 && code <= 0xc5))
        f->offset += (int64_t)(code % 8 + 1) * 8;
    else
        return false;
    return true;
}

static bool add_large(struct frame *f)
{
    uint32_t value = 0, shift = 0;
    uint8_t byte;
    do {
        if (f->left == 0 || shift > 21)
            return false;
        byte = next_code(f);
        value |= (uint32_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0);
    f->offset += 0x204 + (int64_t)value * 4;
    return true;
}

/* One instruction. False: it is not one, or refuses to unwind. */
static bool step(struct frame *f, uint8_t code)
{
    if (code < 0x80) {
        const int32_t bytes = (code & 0x3f) * 4 + 4;
        f->offset += code < 0x40 ? bytes : -bytes;
    } else if (code < 0x90) {
        const uint32_t mask = ((uint32_t)(code & 0xf) << 8 | next_code(f)) << 4;
        if (mask == 0 || (mask & 1u << SP) != 0)
            return false;
        pop(f, mask);
    } else if (code < 0xa0) { /* from a frame pointer: nothing may be known of the old base */
        if (code == 0x9d || code == 0x9f || f->popped != 0)
            return false;
        f->base = code & 0xf;
        f->offset = 0;
    } else if (code < 0xb0) {
        pop(f, ((2u << (code & 7)) - 1) << 4 | (code >= 0xa8 ? 1u << LR : 0));
    } else if (code == 0xb1) {
        const uint8_t mask = next_code(f);
        if (mask == 0 || mask > 0xf)
            return false;
        pop(f, mask);
    } else if (code == 0xb2) {
        return add_large(f);
    } else if (code == 0xb4) { /* the code that authenticates the return address */
        f->offset += 4;
    } else {
        return skip_vectors(f, code);
    }
    return true;
}

static void write_row(const struct frame *f, struct cfi_row *out)
{
    *out = (struct cfi_row){.cfa_register = f->base, .cfa_offset = f->offset};
    for (uint32_t i = 0; i < PC; i++)
        if ((f->popped & 1u << i) != 0)
            out->rules[i] = (struct cfi_rule){.kind = CFI_AT, .n = f->slots[i] - f->offset};
    if ((f->popped & 1u << PC) != 0)
        out->rules[LR] = (struct cfi_rule){.kind = CFI_AT, .n = f->slots[PC] - f->offset};
}

bool exidx_find(const struct exidx *x, uint64_t va, uint64_t *begin_va, uint64_t *end_va,
                struct cfi_row *out)
{
    uint8_t code[CODE_BYTES_MAX + 1];
    const size_t count = x->index.bytes / ROW_BYTES;
    size_t low = 0, high = count;
    while (low < high) { /* the first row that starts after VA */
        const size_t middle = low + (high - low) / 2;
        if (function_va(x, middle) <= va)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *begin_va = function_va(x, low - 1);
    *end_va = low < count ? function_va(x, low) : va + 1;
    struct frame f = {.code = code, .base = SP};
    if (va != *begin_va) { /* there, nothing has been pushed yet */
        if (load_u32(x->index.data + (low - 1) * ROW_BYTES + 4) == CANNOT_UNWIND)
            return false;
        f.left = read_code(x, low - 1, code);
        if (f.left == 0)
            return false;
        for (uint8_t byte = next_code(&f); byte != 0xb0; byte = next_code(&f))
            if (!step(&f, byte))
                return false;
    }
    write_row(&f, out);
    return true;
}
