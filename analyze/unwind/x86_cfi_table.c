/* Which function has which call frame information; see x86_cfi_table.h. */
#include "unwind/x86_cfi_table.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    CFI_BYTES_MAX = 1 << 26,
    ENTRY_BYTES_MIN = 12,
    AUGMENTATION_MAX = 8,
    /* encodings of addresses: the low four bits are the form, the next three the base */
    FORM_ABSOLUTE = 0x00,
    FORM_U32 = 0x03,
    FORM_S32 = 0x0b,
    FROM_NOTHING = 0x00,
    FROM_HERE = 0x10,
};

struct row {
    uint32_t begin_rva, end_rva, at;
};

struct cfi_table {
    const uint8_t *data;
    uint32_t bytes;
    uint32_t section_rva, image_bytes;
    uint64_t base_va;
    uint32_t preferred_base_va;
    struct row *rows; /* sorted by begin_rva */
    uint32_t row_count;
};

/* Reads seven bits per byte, the lowest first. *bits: how many bits there were; *top: the highest
 * of them. */
static uint64_t read_groups(struct bytes *r, uint32_t *bits, bool *top)
{
    uint64_t value = 0;
    uint8_t byte;
    *bits = 0;
    do {
        byte = bytes_u8(r);
        if (*bits < 64)
            value |= (uint64_t)(byte & 0x7f) << *bits;
        *bits += 7;
    } while ((byte & 0x80) != 0);
    *top = (byte & 0x40) != 0;
    return value;
}

uint64_t cfi_unsigned(struct bytes *r)
{
    uint32_t bits;
    bool top;
    return read_groups(r, &bits, &top);
}

int64_t cfi_signed(struct bytes *r)
{
    uint32_t bits;
    bool top;
    uint64_t value = read_groups(r, &bits, &top);
    if (top && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

bool cfi_begins_at(const struct unwind_process *process, uint64_t va, uint32_t bytes)
{
    uint8_t head[10];
    if (bytes < sizeof(head) || !process->read(process->self, va, head, sizeof(head)))
        return false;
    uint32_t length = load_u32(head);
    return length >= ENTRY_BYTES_MIN - 4 && length <= bytes - 4 && load_u32(head + 4) == 0 &&
           (head[8] == 1 || head[8] == 3) && head[9] == 'z';
}

/* The common part (CIE) of an entry. */
struct kind {
    struct cfi_entry entry;
    uint32_t at; /* its offset; all functions of one object file share one */
    uint8_t address_encoding;
    bool augmented, known;
};

static void skip_encoded(struct bytes *r, uint8_t encoding)
{
    static const uint8_t sizes[] = {4, 0, 2, 4, 8, 0, 0, 0, 4, 0, 2, 4, 8};
    uint8_t form = encoding & 0x0f;
    if (form == 1 || form == 9)
        (void)cfi_unsigned(r);
    else if (encoding != 0xff && form < sizeof(sizes))
        bytes_skip(r, sizes[form]);
}

/* "zPLR" and the like: the letters' data follow in the same order. */
static bool read_augmentation(struct bytes *r, const char *letters, struct kind *out)
{
    out->augmented = letters[0] == 'z';
    if (!out->augmented)
        return letters[0] == '\0';
    uint64_t bytes = cfi_unsigned(r);
    struct bytes data = bytes_window(r, 0, bytes);
    bytes_skip(r, bytes);
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R')
            out->address_encoding = bytes_u8(&data);
        else if (*letter == 'P')
            skip_encoded(&data, bytes_u8(&data));
        else if (*letter == 'L')
            (void)bytes_u8(&data);
        else if (*letter == 'S')
            out->entry.interrupts = true;
        else if (*letter != 'B')
            break; /* unknown letter: only the whole augmentation data, whose length is known, can
                      be skipped */
    }
    return !bytes_failed(r);
}

/* The record at AT, past its first two words: returns its length and sets *ID. */
static bool open_record(const struct cfi_table *table, uint32_t at, struct fault *fault,
                        struct bytes *out, uint32_t *id)
{
    struct bytes whole = bytes_over(table->data, table->bytes, fault);
    bytes_skip(&whole, at);
    uint32_t length = bytes_u32(&whole);
    *out = bytes_window(&whole, 0, length);
    *id = bytes_u32(out);
    return !bytes_failed(&whole);
}

static bool read_kind(const struct cfi_table *table, uint32_t at, struct fault *fault,
                      struct kind *out)
{
    struct bytes r;
    uint32_t id;
    *out = (struct kind){0};
    if (!open_record(table, at, fault, &r, &id) || id != 0)
        return false;
    uint8_t version = bytes_u8(&r);
    const char *letters = bytes_cstring(&r);
    if (bytes_failed(&r) || (version != 1 && version != 3) || strlen(letters) > AUGMENTATION_MAX)
        return false;
    out->entry.code_align = (uint32_t)cfi_unsigned(&r);
    out->entry.data_align = (int32_t)cfi_signed(&r);
    out->entry.pc_register = version == 1 ? bytes_u8(&r) : (uint32_t)cfi_unsigned(&r);
    if (!read_augmentation(&r, letters, out))
        return false;
    out->entry.initial = r;
    return true;
}

/* Converts an address to an rva. Absolute addresses are relocated when they were read from memory,
 * and count from the preferred base when they come from the file. */
static bool read_rva(const struct cfi_table *table, struct bytes *r, uint8_t encoding,
                     uint32_t *out)
{
    uint32_t from = table->section_rva + (uint32_t)r->offset, value = bytes_u32(r);
    uint8_t form = encoding & 0x0f;
    if (form != FORM_ABSOLUTE && form != FORM_U32 && form != FORM_S32)
        return false;
    if ((encoding & 0xf0) == FROM_HERE) {
        *out = from + value;
        return true;
    }
    *out = value - (uint32_t)table->base_va;
    if (*out >= table->image_bytes)
        *out = value - table->preferred_base_va;
    return (encoding & 0xf0) == FROM_NOTHING;
}

/* KIND: that of the previous entry, or zeros; it is read again if this entry has another one. */
static bool read_entry(const struct cfi_table *table, uint32_t at, struct kind *kind,
                       struct fault *fault, struct cfi_entry *out)
{
    struct bytes r;
    uint32_t back;
    if (!open_record(table, at, fault, &r, &back) || back == 0 || back > at + 4)
        return false;
    if (!kind->known || kind->at != at + 4 - back) {
        kind->known = read_kind(table, at + 4 - back, fault, kind);
        kind->at = at + 4 - back;
        if (!kind->known)
            return false;
    }
    *out = kind->entry;
    out->initial.fault = fault;
    if (!read_rva(table, &r, kind->address_encoding, &out->begin_rva))
        return false;
    uint32_t bytes = bytes_u32(&r);
    if (kind->augmented)
        bytes_skip(&r, cfi_unsigned(&r));
    if (bytes_failed(&r) || bytes == 0 || bytes > UINT32_MAX - out->begin_rva)
        return false;
    out->end_rva = out->begin_rva + bytes;
    out->entry_va = table->base_va + table->section_rva + at;
    out->own = r;
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->begin_rva != y->begin_rva)
        return x->begin_rva < y->begin_rva ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* True when there is a record of a function at AT. *next: where the next one starts; false at
 * the end, in damage, and at the 64-bit form that x86 has no use for. */
static bool next_record(const struct cfi_table *table, uint32_t at, bool *is_function,
                        uint32_t *next)
{
    if (table->bytes - at < ENTRY_BYTES_MIN)
        return false;
    uint32_t length = load_u32(table->data + at);
    if (length > table->bytes - at - 4)
        return false;
    *is_function = length >= ENTRY_BYTES_MIN - 4 && load_u32(table->data + at + 4) != 0;
    *next =
        at + 4 + length; /* a length of 0 ends the records of one object file; others may follow */
    return true;
}

static bool list_rows(struct cfi_table *table, struct arena *keep)
{
    struct kind kind = {0};
    uint32_t at, next, count = 0;
    bool is_function;
    for (at = 0; next_record(table, at, &is_function, &next); at = next)
        count += is_function;
    table->rows = ARENA_ARRAY(keep, count, struct row);
    if (table->rows == NULL)
        return false;
    for (at = 0; next_record(table, at, &is_function, &next); at = next) {
        struct fault fault = FAULT_INIT;
        struct cfi_entry entry;
        if (is_function && read_entry(table, at, &kind, &fault, &entry))
            table->rows[table->row_count++] = (struct row){entry.begin_rva, entry.end_rva, at};
    }
    array_sort(table->rows, table->row_count, sizeof(*table->rows), by_begin);
    return true;
}

struct cfi_table *cfi_read(const struct unwind_process *process, uint64_t section_va,
                           uint32_t bytes, uint64_t base_va, uint32_t preferred_base_va,
                           struct arena *keep)
{
    uint8_t last;
    if (bytes == 0 || bytes > CFI_BYTES_MAX ||
        !process->read(process->self, section_va + bytes - 1, &last, 1))
        return NULL; /* never reserve memory because a header says so */
    struct cfi_table *table = ARENA_NEW(keep, struct cfi_table);
    uint8_t *data = arena_alloc(keep, bytes);
    if (table == NULL || data == NULL || !process->read(process->self, section_va, data, bytes))
        return NULL;
    *table = (struct cfi_table){.data = data,
                                .bytes = bytes,
                                .section_rva = (uint32_t)(section_va - base_va),
                                .base_va = base_va,
                                .preferred_base_va = preferred_base_va};
    const struct module *module = process->module_at(process->self, section_va);
    table->image_bytes = module != NULL ? (uint32_t)module->image_bytes : 0;
    return list_rows(table, keep) ? table : NULL;
}

bool cfi_find(const struct cfi_table *table, uint32_t rva, struct fault *fault,
              struct cfi_entry *out)
{
    const uint32_t low = ARRAY_UPPER(table->rows, table->row_count, begin_rva, rva);
    struct kind kind = {0};
    return low > 0 && rva < table->rows[low - 1].end_rva &&
           read_entry(table, table->rows[low - 1].at, &kind, fault, out);
}
