/* STACK CFI records of an ELF or Mach-O image, from `.eh_frame`, `__eh_frame` or `.debug_frame`;
 * see cfi_export.h.
 *
 * Sources: DWARF 5, 6.4 (call frame information); Linux Standard Base Core, 10.6 (`.eh_frame`); the
 * psABIs' numbers of registers. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "unwind/cfi_export.h"
#include "unwind/x86_cfi_table.h"

enum {
    REGISTERS = 33,
    NO_REGISTER = 0xff,
    COMMON_BYTES_MAX = 256, /* instructions that each function of an object file starts with */
};

/* The processor's names, by the numbers of DWARF. */
struct machine {
    enum object_arch arch;
    const char *const *names;
    uint32_t count, return_register, word_bytes;
};

static const char *const x86_names[] = {"$eax", "$ecx", "$edx", "$ebx", "$esp",
                                        "$ebp", "$esi", "$edi", "$eip"};
static const char *const x64_names[] = {"$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi",
                                        "$rbp", "$rsp", "$r8",  "$r9",  "$r10", "$r11",
                                        "$r12", "$r13", "$r14", "$r15", "$rip"};
static const char *const arm64_names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                          "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                          "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                          "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

static const char *const arm_names[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
                                        "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};

static const struct machine machines[] = {
    {ARCH_X86, x86_names, COUNT_OF(x86_names), 8, 4},
    {ARCH_X86_64, x64_names, COUNT_OF(x64_names), 16, 8},
    {ARCH_X86_64H, x64_names, COUNT_OF(x64_names), 16, 8},
    {ARCH_ARM64, arm64_names, COUNT_OF(arm64_names), 30, 8},
    {ARCH_ARM64E, arm64_names, COUNT_OF(arm64_names), 30, 8},
    {ARCH_ARM, arm_names, COUNT_OF(arm_names), 14, 4},
};

enum rule_kind { RULE_SAME, RULE_UNDEFINED, RULE_AT, RULE_VALUE, RULE_REGISTER };

/* Without padding, so that rows can be compared by their bytes. */
struct rule {
    int64_t kind, n; /* from the CFA; of RULE_REGISTER its number */
};

struct row {
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct rule rules[REGISTERS];
};

/* The common part (CIE) of functions. */
struct common {
    uint64_t at; /* its offset; UINT64_MAX: not read yet */
    bool good, augmented;
    uint8_t encoding;
    uint64_t code_align;
    int64_t data_align;
    uint32_t return_register;
    struct bytes instructions;
};

struct section {
    const struct machine *machine;
    const uint8_t *data;
    size_t bytes;
    uint64_t va, base_va;
    bool debug; /* .debug_frame */
    FILE *out;
};

/* The run of one function's instructions. */
struct run {
    const struct section *section;
    const struct common *common;
    struct row row, initial, written, saved[CFI_SAVED_MAX];
    uint32_t saved_count;
    uint64_t at_va, end_va;
    bool has_written, failed;
};

static const char *name_of(const struct run *r, uint64_t number)
{
    return number < r->section->machine->count ? r->section->machine->names[number] : NULL;
}

static void print_rule(const struct run *r, const char *name, const char *own, struct rule rule)
{
    FILE *out = r->section->out;
    const char *other = rule.kind == RULE_REGISTER ? name_of(r, (uint64_t)rule.n) : own;
    if (rule.kind == RULE_AT)
        (void)fprintf(out, " %s: .cfa %" PRId64 " + ^", name, rule.n);
    else if (rule.kind == RULE_VALUE)
        (void)fprintf(out, " %s: .cfa %" PRId64 " +", name, rule.n);
    else if (rule.kind == RULE_UNDEFINED)
        (void)fprintf(out, " %s: 0", name);
    else if (other != NULL)
        (void)fprintf(out, " %s: %s", name, other);
}

static bool same_rule(struct rule a, struct rule b)
{
    return a.kind == b.kind && a.n == b.n;
}

/* Prints what has changed since the last record; the first one with the return address. */
static void print_row(struct run *r)
{
    const uint32_t ra = r->common->return_register;
    const uint64_t rva = r->at_va - r->section->base_va;
    FILE *out = r->section->out;
    const char *cfa = name_of(r, r->row.cfa_register);
    if (r->has_written && memcmp(&r->row, &r->written, sizeof r->row) == 0)
        return;
    if (cfa == NULL || r->at_va >= r->end_va)
        return;
    if (r->has_written)
        (void)fprintf(out, "STACK CFI %" PRIx64, rva);
    else
        (void)fprintf(out, "STACK CFI INIT %" PRIx64 " %" PRIx64, rva, r->end_va - r->at_va);
    if (!r->has_written || r->row.cfa_register != r->written.cfa_register ||
        r->row.cfa_offset != r->written.cfa_offset)
        (void)fprintf(out, " .cfa: %s %" PRId64 " +", cfa, r->row.cfa_offset);
    if (!r->has_written || !same_rule(r->row.rules[ra], r->written.rules[ra]))
        print_rule(r, ".ra", name_of(r, ra), r->row.rules[ra]);
    for (uint32_t i = 0; i < r->section->machine->count; i++)
        if (i != ra && r->row.rules[i].kind != RULE_UNDEFINED &&
            !same_rule(r->row.rules[i], r->written.rules[i]))
            print_rule(r, name_of(r, i), name_of(r, i), r->row.rules[i]);
    (void)fputc('\n', out);
    r->written = r->row;
    r->has_written = true;
}

static void set_rule(struct run *r, uint64_t number, enum rule_kind kind, int64_t n)
{
    if (number < REGISTERS)
        r->row.rules[number] = (struct rule){kind, n};
}

static int64_t scaled(const struct run *r, int64_t n)
{
    return (int64_t)((uint64_t)n * (uint64_t)r->common->data_align);
}

static void advance(struct run *r, uint64_t units, bool print)
{
    if (print)
        print_row(r);
    r->at_va += units * r->common->code_align;
}

static bool define_cfa(struct run *r, uint8_t op, struct bytes *b)
{
    if (op == 0x0c || op == 0x12 || op == 0x0d) { /* def_cfa, def_cfa_sf, def_cfa_register */
        const uint64_t number = cfi_unsigned(b);
        r->row.cfa_register = number < REGISTERS ? number : NO_REGISTER;
    }
    if (op == 0x0c || op == 0x0e) /* def_cfa, def_cfa_offset */
        r->row.cfa_offset = (int64_t)cfi_unsigned(b);
    else if (op == 0x12 || op == 0x13) /* with signed, scaled offsets */
        r->row.cfa_offset = scaled(r, cfi_signed(b));
    return op >= 0x0c && op <= 0x13 && op != 0x0f && op != 0x10 && op != 0x11;
}

static bool define_register(struct run *r, uint8_t op, struct bytes *b)
{
    if (op != 0x05 && op != 0x06 && op != 0x07 && op != 0x08 && op != 0x09 && op != 0x11 &&
        op != 0x14 && op != 0x15)
        return false;
    const uint64_t number = cfi_unsigned(b);
    switch (op) {
    case 0x05: /* offset_extended */
        set_rule(r, number, RULE_AT, scaled(r, (int64_t)cfi_unsigned(b)));
        break;
    case 0x06: /* restore_extended */
        if (number < REGISTERS)
            r->row.rules[number] = r->initial.rules[number];
        break;
    case 0x07:
        set_rule(r, number, RULE_UNDEFINED, 0);
        break;
    case 0x08:
        set_rule(r, number, RULE_SAME, 0);
        break;
    case 0x09:
        set_rule(r, number, RULE_REGISTER, (int64_t)cfi_unsigned(b));
        break;
    case 0x11: /* offset_extended_sf */
        set_rule(r, number, RULE_AT, scaled(r, cfi_signed(b)));
        break;
    case 0x14: /* val_offset */
        set_rule(r, number, RULE_VALUE, scaled(r, (int64_t)cfi_unsigned(b)));
        break;
    default: /* val_offset_sf */
        set_rule(r, number, RULE_VALUE, scaled(r, cfi_signed(b)));
    }
    return true;
}

static void run_other(struct run *r, uint8_t op, struct bytes *b, bool print)
{
    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* AARCH64_negate_ra_state: readers strip the signature of a return address */
        break;
    case 0x01: /* set_loc */
        r->failed = true;
        break;
    case 0x02: /* advance_loc1, 2, 4 */
        advance(r, bytes_u8(b), print);
        break;
    case 0x03:
        advance(r, bytes_u16(b), print);
        break;
    case 0x04:
        advance(r, bytes_u32(b), print);
        break;
    case 0x0a: /* remember_state */
        r->failed |= r->saved_count == CFI_SAVED_MAX;
        if (!r->failed)
            r->saved[r->saved_count++] = r->row;
        break;
    case 0x0b: /* restore_state */
        r->failed |= r->saved_count == 0;
        if (!r->failed)
            r->row = r->saved[--r->saved_count];
        break;
    case 0x10: /* expressions of registers: their values are not described */
    case 0x16: {
        set_rule(r, cfi_unsigned(b), RULE_UNDEFINED, 0);
        bytes_skip(b, cfi_unsigned(b));
        break;
    }
    case 0x2e: /* GNU_args_size */
        (void)cfi_unsigned(b);
        break;
    default: /* 0x0f, an expression of the CFA, as in procedure linkage tables, included */
        if (!define_cfa(r, op, b) && !define_register(r, op, b))
            r->failed = true;
    }
}

static void run(struct run *r, struct bytes b, bool print)
{
    while (b.left > 0 && !r->failed && !bytes_failed(&b)) {
        const uint8_t byte = bytes_u8(&b), low = byte & 0x3f;
        if (byte >> 6 == 1)
            advance(r, low, print);
        else if (byte >> 6 == 2)
            set_rule(r, low, RULE_AT, scaled(r, (int64_t)cfi_unsigned(&b)));
        else if (byte >> 6 == 3 && low < REGISTERS)
            r->row.rules[low] = r->initial.rules[low];
        else
            run_other(r, byte, &b, print);
    }
    r->failed |= bytes_failed(&b);
}

/* An address or size in ENCODING; relative ones count from where they are. */
static uint64_t read_encoded(const struct section *s, struct bytes *b, uint8_t encoding)
{
    const uint64_t here = (encoding & 0x70) == 0x10 ? s->va + b->offset : 0;
    switch (encoding & 0x0f) {
    case 0x00:
        return here + (s->machine->word_bytes == 8 ? bytes_u64(b) : bytes_u32(b));
    case 0x02:
        return here + bytes_u16(b);
    case 0x03:
        return here + bytes_u32(b);
    case 0x0a:
        return here + (uint64_t)(int64_t)(int16_t)bytes_u16(b);
    case 0x0b:
        return here + (uint64_t)(int64_t)(int32_t)bytes_u32(b);
    default:
        return here + bytes_u64(b);
    }
}

static bool read_augmentation(const struct section *s, struct bytes *b, const char *letters,
                              struct common *out)
{
    out->augmented = letters[0] == 'z';
    if (!out->augmented)
        return letters[0] == '\0';
    const uint64_t bytes = cfi_unsigned(b);
    struct bytes data = bytes_window(b, 0, bytes);
    bytes_skip(b, bytes);
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R')
            out->encoding = bytes_u8(&data);
        else if (*letter == 'P')
            (void)read_encoded(s, &data, bytes_u8(&data));
        else if (*letter == 'L')
            (void)bytes_u8(&data);
        else if (*letter == 'S')
            return false; /* a signal frame: its caller did not call */
    }
    return !bytes_failed(b) && (out->encoding & 0x80) == 0;
}

/* The record at AT: its contents after the length; *next is where the following one starts. */
static bool open_record(const struct section *s, uint64_t at, struct fault *fault,
                        struct bytes *out, uint64_t *next)
{
    struct bytes whole = bytes_over(s->data, s->bytes, fault);
    bytes_skip(&whole, at);
    uint64_t length = bytes_u32(&whole);
    if (length == UINT32_MAX)
        length = bytes_u64(&whole);
    if (bytes_failed(&whole) || length > whole.left)
        return false;
    *next = whole.offset + length;
    *out = bytes_window(&whole, 0, length);
    return true;
}

static bool read_common(const struct section *s, uint64_t at, struct fault *fault,
                        struct common *out)
{
    struct bytes b;
    uint64_t next;
    *out = (struct common){.at = at};
    if (!open_record(s, at, fault, &b, &next) || bytes_u32(&b) != (s->debug ? UINT32_MAX : 0))
        return false;
    const uint8_t version = bytes_u8(&b);
    const char *letters = bytes_cstring(&b);
    if (version == 4)
        bytes_skip(&b, 2); /* sizes of addresses and of segment selectors */
    out->code_align = cfi_unsigned(&b);
    out->data_align = cfi_signed(&b);
    const uint64_t ra = version == 1 ? bytes_u8(&b) : cfi_unsigned(&b);
    out->return_register = ra < REGISTERS ? (uint32_t)ra : 0;
    if ((version != 1 && version != 3 && version != 4) || ra >= s->machine->count ||
        !read_augmentation(s, &b, letters, out))
        return false;
    out->instructions = b;
    return !bytes_failed(&b) && b.left <= COMMON_BYTES_MAX;
}

/* Runs the instructions: first without printing, so that nothing is printed of a function whose
 * rules cannot be written. */
static bool export_function(const struct section *s, const struct common *common, struct bytes b,
                            uint64_t begin_va, uint64_t end_va)
{
    for (int pass = 0; pass < 2; pass++) {
        struct run r = {.section = s, .common = common, .at_va = begin_va, .end_va = end_va};
        struct fault fault = FAULT_INIT;
        struct bytes initial = common->instructions, own = b;
        r.row.cfa_register = NO_REGISTER;
        initial.fault = own.fault = &fault;
        run(&r, initial, false);
        r.initial = r.row;
        run(&r, own, pass == 1);
        if (r.failed || r.initial.cfa_register == NO_REGISTER)
            return false;
        if (pass == 1)
            print_row(&r);
    }
    return true;
}

static uint32_t export_section(const struct section *s)
{
    struct common common = {.at = UINT64_MAX};
    uint32_t written = 0;
    uint64_t next;
    for (uint64_t at = 0; at + 8 <= s->bytes; at = next) {
        struct fault fault = FAULT_INIT;
        struct bytes b;
        if (!open_record(s, at, &fault, &b, &next))
            break;
        const uint64_t id_at = b.offset, id = bytes_u32(&b);
        if (bytes_failed(&b) || id == (s->debug ? UINT32_MAX : 0) || (!s->debug && id > id_at))
            continue; /* the common part of others, or the end of an object file's records */
        const uint64_t common_at = s->debug ? id : id_at - id;
        if (common.at != common_at)
            common.good = read_common(s, common_at, &fault, &common);
        if (!common.good)
            continue;
        const uint64_t begin_va = read_encoded(s, &b, common.encoding);
        const uint64_t bytes = read_encoded(s, &b, common.encoding & 0x0f);
        if (common.augmented)
            bytes_skip(&b, cfi_unsigned(&b));
        if (!bytes_failed(&b) && bytes != 0 && begin_va >= s->base_va && bytes < UINT32_MAX &&
            begin_va - s->base_va < UINT32_MAX)
            written += export_function(s, &common, b, begin_va, begin_va + bytes);
    }
    return written;
}

static uint32_t export_elf(const struct elf *elf, struct section *s, struct arena *scratch)
{
    static const char *const names[] = {".eh_frame", ".debug_frame"};
    uint32_t written = 0;
    for (size_t i = 0; i < COUNT_OF(names) && written == 0; i++) {
        struct fault fault = FAULT_INIT;
        struct elf_section section;
        struct object_bytes bytes;
        if (!elf_section_named(elf, names[i], &section) ||
            elf_section_bytes(elf, &section, scratch, &bytes, &fault) != ERR_NONE)
            continue;
        s->data = bytes.data;
        s->bytes = bytes.bytes;
        s->va = section.va;
        s->base_va = elf->base_va;
        s->debug = i == 1;
        written = export_section(s);
    }
    return written;
}

static uint32_t export_macho(const struct object_file *file, struct section *s)
{
    const struct macho *macho = &file->as.macho;
    struct macho_section section;
    for (uint32_t i = 0; macho_section(macho, i, &section); i++) {
        if (strcmp(section.name, "__eh_frame") != 0 || section.foff > file->bytes.bytes ||
            section.bytes > file->bytes.bytes - section.foff)
            continue;
        s->data = file->bytes.data + section.foff;
        s->bytes = (size_t)section.bytes;
        s->va = section.va;
        s->base_va = macho->base_va;
        return export_section(s);
    }
    return 0;
}

uint32_t unwind_export_dwarf(const struct object_file *file, enum object_arch arch, FILE *out)
{
    struct section s = {.out = out};
    struct arena scratch;
    uint32_t written = 0;
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (machines[i].arch == arch)
            s.machine = &machines[i];
    if (s.machine == NULL)
        return 0;
    arena_init(&scratch, 0);
    if (file->kind == OBJECT_ELF && !file->as.elf.big_endian)
        written = export_elf(&file->as.elf, &s, &scratch);
    else if (file->kind == OBJECT_MACHO)
        written = export_macho(file, &s);
    arena_free(&scratch);
    return written;
}
