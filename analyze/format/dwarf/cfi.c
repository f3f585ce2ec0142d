/* See cfi.h. */
#include "format/dwarf/cfi.h"

#include <string.h>

#include "base/array.h"
#include "format/dwarf/cursor.h"

enum {
    AUGMENTATION_MAX = 8,
    /* encodings of addresses: the low four bits are the form, the next three the base */
    FORM_WORD = 0x00,
    FORM_U16 = 0x02,
    FORM_U32 = 0x03,
    FORM_U64 = 0x04,
    FORM_S16 = 0x0a,
    FORM_S32 = 0x0b,
    FORM_S64 = 0x0c,
    FROM_NOTHING = 0x00,
    FROM_HERE = 0x10,
};

static struct dwarf_cursor cursor_of(const struct bytes *r)
{
    return (struct dwarf_cursor){r->at, r->at + r->left, false, bytes_failed(r)};
}

/* Skips what was read by a cursor; more than there is if that failed. */
static void skip_to(struct bytes *r, const struct dwarf_cursor *c)
{
    bytes_skip(r, c->failed ? (uint64_t)r->left + 1 : (uint64_t)(c->at - r->at));
}

uint64_t cfi_unsigned(struct bytes *r)
{
    struct dwarf_cursor c = cursor_of(r);
    const uint64_t value = cursor_unsigned(&c);
    skip_to(r, &c);
    return value;
}

int64_t cfi_signed(struct bytes *r)
{
    struct dwarf_cursor c = cursor_of(r);
    const int64_t value = cursor_signed(&c);
    skip_to(r, &c);
    return value;
}

/* ---- entries ---- */

/* An address or a size. *good is cleared at an encoding that no compiler uses for them. */
static uint64_t read_encoded(const struct cfi_section *s, struct bytes *r, uint8_t encoding,
                             bool *good)
{
    const uint64_t here = (encoding & 0xf0) == FROM_HERE ? s->va + r->offset : 0;
    uint64_t value = 0;

    *good = *good && ((encoding & 0xf0) == FROM_HERE || (encoding & 0xf0) == FROM_NOTHING);
    switch (encoding & 0x0f) {
    case FORM_WORD:
        value = s->word_bytes == 8 ? bytes_u64(r) : bytes_u32(r);
        break;
    case FORM_U16:
        value = bytes_u16(r);
        break;
    case FORM_U32:
        value = bytes_u32(r);
        break;
    case FORM_S16:
        value = (uint64_t)(int64_t)(int16_t)bytes_u16(r);
        break;
    case FORM_S32:
        value = (uint64_t)(int64_t)(int32_t)bytes_u32(r);
        break;
    case FORM_U64:
    case FORM_S64:
        value = bytes_u64(r);
        break;
    default:
        *good = false;
    }
    return s->word_bytes == 8 ? here + value : (uint32_t)(here + value);
}

/* The address of the language's handler, which walks have no use for. */
static void skip_encoded(const struct cfi_section *s, struct bytes *r, uint8_t encoding)
{
    bool ignored = true;
    const uint8_t form = encoding & 0x0f;
    if (form == 1 || form == 9)
        (void)cfi_unsigned(r);
    else if (encoding != 0xff)
        (void)read_encoded(s, r, form, &ignored);
}

/* "zPLR" and the like: the letters' data follow in the same order. */
static bool read_augmentation(const struct cfi_section *s, struct bytes *r, const char *letters,
                              struct cfi_common *out)
{
    out->augmented = letters[0] == 'z';
    if (!out->augmented)
        return letters[0] == '\0';
    uint64_t bytes = cfi_unsigned(r);
    struct bytes data = bytes_window(r, 0, bytes);
    bytes_skip(r, bytes);
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R')
            out->encoding = bytes_u8(&data);
        else if (*letter == 'P')
            skip_encoded(s, &data, bytes_u8(&data));
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

/* A record past its length and id. */
struct record {
    struct bytes r;
    uint64_t id, id_at, next;
    bool is_common;
};

/* A length of 0 ends the records of one object file; others may follow. */
static bool open_record(const struct cfi_section *s, uint64_t at, struct fault *fault,
                        struct record *out)
{
    struct bytes whole = bytes_over(s->data, s->bytes, fault);
    bytes_skip(&whole, at);
    uint64_t length = bytes_u32(&whole);
    const bool wide = length == UINT32_MAX;
    if (wide)
        length = bytes_u64(&whole);
    if (bytes_failed(&whole) || length > whole.left)
        return false;
    *out = (struct record){.id_at = whole.offset, .next = whole.offset + length};
    out->r = bytes_window(&whole, 0, length);
    if (length == 0)
        return true;
    const bool wide_id = wide && s->debug;
    out->id = wide_id ? bytes_u64(&out->r) : bytes_u32(&out->r);
    const uint64_t highest = wide_id ? UINT64_MAX : UINT32_MAX;
    out->is_common = out->id == (s->debug ? highest : 0);
    return !bytes_failed(&out->r);
}

static bool read_common(const struct cfi_section *s, uint64_t at, struct fault *fault,
                        struct cfi_common *out)
{
    struct record record;
    *out = (struct cfi_common){.offset = at};
    if (!open_record(s, at, fault, &record) || !record.is_common)
        return false;
    struct bytes *r = &record.r;
    const uint8_t version = bytes_u8(r);
    const char *letters = bytes_cstring(r);
    if (bytes_failed(r) || (version != 1 && version != 3 && version != 4) ||
        strlen(letters) > AUGMENTATION_MAX)
        return false;
    if (version == 4)
        bytes_skip(r, 2); /* sizes of addresses and of segment selectors */
    out->entry.code_align = cfi_unsigned(r);
    out->entry.data_align = cfi_signed(r);
    const uint64_t number = version == 1 ? bytes_u8(r) : cfi_unsigned(r);
    out->entry.return_register = number < CFI_REGISTERS ? (uint32_t)number : CFI_NO_REGISTER;
    if (!read_augmentation(s, r, letters, out))
        return false;
    out->entry.initial = *r;
    return true;
}

/* LAST is read again if this entry has another common part. */
static bool read_entry(const struct cfi_section *s, const struct record *record,
                       struct cfi_common *last, struct fault *fault, struct cfi_entry *out)
{
    struct bytes r = record->r;
    bool good = true;

    if (!s->debug && record->id > record->id_at)
        return false;
    const uint64_t common_at = s->debug ? record->id : record->id_at - record->id;
    if (!last->known || last->offset != common_at) {
        last->known = read_common(s, common_at, fault, last);
        if (!last->known)
            return false;
    }
    *out = last->entry;
    out->initial.fault = fault;
    out->begin_va = read_encoded(s, &r, last->encoding, &good);
    const uint64_t bytes = read_encoded(s, &r, last->encoding & 0x0f, &good);
    if (last->augmented)
        bytes_skip(&r, cfi_unsigned(&r));
    if (!good || bytes_failed(&r) || bytes == 0 || bytes > UINT64_MAX - out->begin_va)
        return false;
    out->end_va = out->begin_va + bytes;
    out->own = r;
    return true;
}

bool cfi_next(const struct cfi_section *section, uint64_t *at, struct cfi_common *last,
              struct fault *fault, bool *is_function, struct cfi_entry *out)
{
    struct record record;

    *is_function = false;
    if (*at >= section->bytes || section->bytes - *at < 4 ||
        !open_record(section, *at, fault, &record))
        return false;
    const bool is_entry = record.next > record.id_at && !record.is_common;
    *is_function = is_entry && read_entry(section, &record, last, fault, out);
    out->offset = *at;
    *at = record.next;
    return true;
}

/* ---- rows ---- */

struct machine {
    const struct cfi_entry *entry;
    struct cfi_row row, initial, saved[CFI_SAVED_MAX];
    uint32_t saved_count;
    uint64_t at_va, target_va; /* stops at the first row after the target */
    cfi_row_fn *each;          /* NULL: none */
    void *context;
    bool unknown; /* an instruction that this reader does not know */
};

static const uint8_t *take_block(struct bytes *r, uint32_t *bytes)
{
    uint64_t size = cfi_unsigned(r);
    *bytes = size <= UINT32_MAX ? (uint32_t)size : 0;
    return bytes_take(r, size);
}

static void set_rule(struct machine *m, uint64_t number, struct cfi_rule rule)
{
    if (number < CFI_REGISTERS)
        m->row.rules[number] = rule;
}

static int64_t scaled(const struct machine *m, int64_t factored)
{
    return (int64_t)((uint64_t)factored * (uint64_t)m->entry->data_align);
}

static void restore(struct machine *m, uint64_t number)
{
    if (number < CFI_REGISTERS)
        m->row.rules[number] = m->initial.rules[number];
}

static uint64_t read_register(struct bytes *r)
{
    const uint64_t number = cfi_unsigned(r);
    return number < CFI_REGISTERS ? number : CFI_NO_REGISTER;
}

/* Runs an instruction that defines the CFA. False: not one of those. */
static bool define_cfa(struct machine *m, uint8_t op, struct bytes *r)
{
    struct cfi_row *row = &m->row;
    switch (op) {
    case 0x0c: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        row->cfa_register = read_register(r);
        row->cfa_offset = op == 0x0c ? (int64_t)cfi_unsigned(r) : scaled(m, cfi_signed(r));
        break;
    case 0x0d: /* def_cfa_register */
        row->cfa_register = read_register(r);
        break;
    case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int64_t)cfi_unsigned(r);
        break;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = scaled(m, cfi_signed(r));
        break;
    case 0x0f: /* def_cfa_expression */
        row->cfa_block = take_block(r, &row->cfa_block_bytes);
        return true;
    default:
        return false;
    }
    row->cfa_block = NULL;
    return true;
}

/* Runs an instruction that defines where a register is saved. False: not one of those. */
static bool define_register(struct machine *m, uint8_t op, struct bytes *r)
{
    static const enum cfi_kind kinds[] = {
        [0x05] = CFI_AT,       [0x07] = CFI_UNDEFINED, [0x08] = CFI_SAME,
        [0x09] = CFI_REGISTER, [0x10] = CFI_AT_BLOCK,  [0x11] = CFI_AT,
        [0x14] = CFI_VALUE,    [0x15] = CFI_VALUE,     [0x16] = CFI_VALUE_BLOCK};
    if (op == 0x2f) { /* GNU_negative_offset_extended */
        const uint64_t number = cfi_unsigned(r);
        set_rule(m, number,
                 (struct cfi_rule){.kind = CFI_AT, .n = scaled(m, -(int64_t)cfi_unsigned(r))});
        return true;
    }
    if (op >= COUNT_OF(kinds) || (kinds[op] == CFI_SAME && op != 0x08))
        return false;
    struct cfi_rule rule = {.kind = kinds[op]};
    const uint64_t number = cfi_unsigned(r);
    if (op == 0x05 || op == 0x14)
        rule.n = scaled(m, (int64_t)cfi_unsigned(r));
    else if (op == 0x11 || op == 0x15)
        rule.n = scaled(m, cfi_signed(r));
    else if (op == 0x09)
        rule.n = (int64_t)cfi_unsigned(r);
    else if (op == 0x10 || op == 0x16)
        rule.block = take_block(r, &rule.block_bytes);
    set_rule(m, number, rule);
    return true;
}

static void advance(struct machine *m, uint64_t units)
{
    if (m->each != NULL)
        m->each(m->context, m->at_va, &m->row);
    m->at_va += units * m->entry->code_align;
}

static void run_other(struct machine *m, uint8_t op, struct bytes *r)
{
    switch (op) {
    case 0x00: /* nop */
    case 0x2c: /* AARCH64_negate_ra_state_with_pc */
    case 0x2d: /* AARCH64_negate_ra_state: walks strip the signature of a return address */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
        advance(m, bytes_u8(r));
        break;
    case 0x03:
        advance(m, bytes_u16(r));
        break;
    case 0x04:
        advance(m, bytes_u32(r));
        break;
    case 0x06: /* restore_extended */
        restore(m, cfi_unsigned(r));
        break;
    case 0x0a: /* remember_state */
        if (m->saved_count < CFI_SAVED_MAX)
            m->saved[m->saved_count++] = m->row;
        else
            m->unknown = true;
        break;
    case 0x0b: /* restore_state */
        if (m->saved_count > 0)
            m->row = m->saved[--m->saved_count];
        else
            m->unknown = true;
        break;
    case 0x2e: /* GNU_args_size: used only for exceptions */
        (void)cfi_unsigned(r);
        break;
    default:
        if (!define_cfa(m, op, r) && !define_register(m, op, r))
            m->unknown = true;
    }
}

/* Runs instructions up to the target.  False: damaged or not understood. */
static bool run_instructions(struct machine *m, struct bytes r)
{
    while (r.left > 0 && !m->unknown && !bytes_failed(&r)) {
        const uint8_t byte = bytes_u8(&r), low = byte & 0x3f;
        switch (byte >> 6) {
        case 1: /* advance_loc */
            advance(m, low);
            break;
        case 2: /* offset */
            set_rule(m, low,
                     (struct cfi_rule){.kind = CFI_AT, .n = scaled(m, (int64_t)cfi_unsigned(&r))});
            break;
        case 3: /* restore */
            restore(m, low);
            break;
        default:
            run_other(m, byte, &r);
        }
        if (m->at_va > m->target_va)
            break;
    }
    return !m->unknown && !bytes_failed(&r);
}

static bool run_entry(struct machine *m)
{
    cfi_row_fn *each = m->each;
    m->row.cfa_register = CFI_NO_REGISTER;
    m->at_va = m->entry->begin_va;
    m->each = NULL;
    if (!run_instructions(m, m->entry->initial))
        return false;
    m->initial = m->row;
    m->each = each;
    return run_instructions(m, m->entry->own);
}

bool cfi_row_at(const struct cfi_entry *entry, uint64_t va, struct cfi_row *out)
{
    struct machine m = {.entry = entry, .target_va = va};
    const bool good = run_entry(&m);
    *out = m.row;
    return good;
}

bool cfi_each_row(const struct cfi_entry *entry, cfi_row_fn *each, void *context)
{
    struct machine m = {.entry = entry, .target_va = UINT64_MAX, .each = each, .context = context};
    const bool good = run_entry(&m);
    if (good)
        each(context, m.at_va, &m.row);
    return good;
}
