/* STACK CFI records of an ELF or Mach-O image, from `.eh_frame`, `__eh_frame` or `.debug_frame`,
 * and
 * `__unwind_info`; see cfi_export.h. The psABIs' numbers of registers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/cfi.h"
#include "unwind/cfi_export.h"
#include "unwind/compact.h"

enum { COMMON_BYTES_MAX = 256 }; /* instructions that each function of an object file starts with */

/* The processor's names, by the numbers of DWARF. */
struct machine {
    enum object_arch arch;
    const char *const *names;
    uint32_t count, word_bytes;
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
    {ARCH_X86, x86_names, COUNT_OF(x86_names), 4},
    {ARCH_X86_64, x64_names, COUNT_OF(x64_names), 8},
    {ARCH_X86_64H, x64_names, COUNT_OF(x64_names), 8},
    {ARCH_ARM64, arm64_names, COUNT_OF(arm64_names), 8},
    {ARCH_ARM64E, arm64_names, COUNT_OF(arm64_names), 8},
    {ARCH_ARM, arm_names, COUNT_OF(arm_names), 4},
};

struct export
{
    const struct machine *machine;
    struct cfi_section section;
    uint64_t base_va;
    FILE *out;
    struct arena scratch;
    uint32_t *begins_rva; /* of the functions that were written, in scratch */
    uint32_t written, room;
};

/* One function. */
struct function {
    const struct export *to;
    const struct cfi_entry *entry;
    struct cfi_row written;
    bool print, has_written, failed;
};

static const char *name_of(const struct function *f, uint64_t number)
{
    return number < f->to->machine->count ? f->to->machine->names[number] : NULL;
}

static void print_rule(const struct function *f, const char *name, const char *own,
                       const struct cfi_rule *rule)
{
    FILE *out = f->to->out;
    const char *other = rule->kind == CFI_REGISTER ? name_of(f, (uint64_t)rule->n) : own;
    if (rule->kind == CFI_AT)
        (void)fprintf(out, " %s: .cfa %" PRId64 " + ^", name, rule->n);
    else if (rule->kind == CFI_VALUE)
        (void)fprintf(out, " %s: .cfa %" PRId64 " +", name, rule->n);
    else if (rule->kind == CFI_UNDEFINED)
        (void)fprintf(out, " %s: 0", name);
    else if (other != NULL)
        (void)fprintf(out, " %s: %s", name, other);
}

static bool same_rule(const struct cfi_rule *a, const struct cfi_rule *b)
{
    return a->kind == b->kind && a->n == b->n;
}

static bool same_cfa(const struct cfi_row *a, const struct cfi_row *b)
{
    return a->cfa_register == b->cfa_register && a->cfa_offset == b->cfa_offset;
}

static bool same_row(const struct cfi_row *a, const struct cfi_row *b)
{
    for (uint32_t i = 0; i < CFI_REGISTERS; i++)
        if (!same_rule(&a->rules[i], &b->rules[i]))
            return false;
    return same_cfa(a, b);
}

/* The values of registers that need an expression are not described. */
static struct cfi_row without_blocks(const struct cfi_row *row)
{
    struct cfi_row out = *row;
    for (uint32_t i = 0; i < CFI_REGISTERS; i++)
        if (out.rules[i].kind == CFI_AT_BLOCK || out.rules[i].kind == CFI_VALUE_BLOCK)
            out.rules[i] = (struct cfi_rule){.kind = CFI_UNDEFINED};
    return out;
}

/* Prints what has changed since the last record; the first one with the return address. */
static void print_row(struct function *f, uint64_t va, const struct cfi_row *row)
{
    const uint32_t ra = f->entry->return_register;
    const uint64_t rva = va - f->to->base_va;
    FILE *out = f->to->out;
    const char *cfa = name_of(f, row->cfa_register);
    if ((f->has_written && same_row(row, &f->written)) || cfa == NULL || va >= f->entry->end_va)
        return;
    if (f->has_written)
        (void)fprintf(out, "STACK CFI %" PRIx64, rva);
    else
        (void)fprintf(out, "STACK CFI INIT %" PRIx64 " %" PRIx64, rva, f->entry->end_va - va);
    if (!f->has_written || !same_cfa(row, &f->written))
        (void)fprintf(out, " .cfa: %s %" PRId64 " +", cfa, row->cfa_offset);
    if (!f->has_written || !same_rule(&row->rules[ra], &f->written.rules[ra]))
        print_rule(f, ".ra", name_of(f, ra), &row->rules[ra]);
    for (uint32_t i = 0; i < f->to->machine->count; i++)
        if (i != ra && row->rules[i].kind != CFI_UNDEFINED &&
            !same_rule(&row->rules[i], &f->written.rules[i]))
            print_rule(f, name_of(f, i), name_of(f, i), &row->rules[i]);
    (void)fputc('\n', out);
    f->written = *row;
    f->has_written = true;
}

/* An expression of the CFA, as in procedure linkage tables, cannot be written. */
static void take_row(void *context, uint64_t va, const struct cfi_row *row)
{
    struct function *f = context;
    const struct cfi_row plain = without_blocks(row);
    f->failed = f->failed || row->cfa_block != NULL || row->cfa_register == CFI_NO_REGISTER;
    if (f->print)
        print_row(f, va, &plain);
}

/* Runs the instructions: first without printing, so that nothing is printed of a function whose
 * rules cannot be written. */
static bool export_function(const struct export *to, const struct cfi_entry *entry)
{
    if (entry->interrupts || entry->return_register >= to->machine->count ||
        entry->initial.left > COMMON_BYTES_MAX)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        struct function f = {.to = to, .entry = entry, .print = pass == 1};
        if (!cfi_each_row(entry, take_row, &f) || f.failed)
            return false;
    }
    return true;
}

static uint32_t export_section(struct export *to)
{
    struct cfi_common last = {0};
    struct cfi_entry entry;
    uint64_t at = 0;
    for (;;) {
        struct fault fault = FAULT_INIT;
        bool is_function;
        if (!cfi_next(&to->section, &at, &last, &fault, &is_function, &entry))
            return to->written;
        if (!is_function || entry.begin_va < to->base_va ||
            entry.end_va - entry.begin_va >= UINT32_MAX ||
            entry.begin_va - to->base_va >= UINT32_MAX || !export_function(to, &entry))
            continue;
        if (!ARENA_ROOM(&to->scratch, to->begins_rva, to->room, (uint64_t)to->written + 1))
            return to->written;
        to->begins_rva[to->written++] = (uint32_t)(entry.begin_va - to->base_va);
    }
}

static uint32_t export_elf(const struct elf *elf, struct export *to)
{
    static const char *const names[] = {".eh_frame", ".debug_frame"};
    uint32_t written = 0;
    for (size_t i = 0; i < COUNT_OF(names) && written == 0; i++) {
        struct fault fault = FAULT_INIT;
        struct elf_section section;
        struct byte_view bytes;
        if (!elf_section_named(elf, names[i], &section) ||
            elf_section_bytes(elf, &section, &to->scratch, &bytes, &fault) != ERR_NONE)
            continue;
        to->section.data = bytes.data;
        to->section.bytes = bytes.bytes;
        to->section.va = section.va;
        to->base_va = elf->base_va;
        to->section.debug = i == 1;
        written = export_section(to);
    }
    struct byte_view loaded;
    if (elf->section_count == 0 && elf_loaded_frames(elf, &to->section.va, &loaded)) {
        to->section.data = loaded.data;
        to->section.bytes = loaded.bytes;
        to->section.debug = false;
        to->base_va = elf->base_va;
        written = export_section(to);
    }
    return written;
}

static int compare_begins(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

struct compact_export {
    struct export *to;
    struct compact table;
    uint32_t known; /* functions with call frame information, which says more */
};

/* The rules at each instruction of arm64; of x64, whose instructions have no known size, at the
 * start and where the prologue has run. */
static void export_compact(void *context, uint32_t begin_rva, uint32_t end_rva)
{
    enum { X64_PC = 16, X64_RSP = 7, ARM64_LR = 30, CODE_MAX = 1 << 22 };
    const struct compact_export *c = context;
    const bool is_arm64 = c->table.is_arm64;
    const uint32_t end = end_rva - begin_rva < CODE_MAX ? end_rva : begin_rva + CODE_MAX;
    const struct cfi_entry entry = {.begin_va = c->to->base_va + begin_rva,
                                    .end_va = c->to->base_va + end_rva,
                                    .return_register = is_arm64 ? ARM64_LR : X64_PC};
    struct function f = {.to = c->to, .entry = &entry};
    if (c->known > 0 &&
        bsearch(&begin_rva, c->to->begins_rva, c->known, sizeof begin_rva, compare_begins) != NULL)
        return;
    for (uint32_t rva = begin_rva; rva < end; rva += is_arm64 ? 4 : 1) {
        uint32_t begin, stop;
        struct cfi_row row = {0};
        const enum compact_answer answer = compact_find(&c->table, rva, &begin, &stop, &row);
        const bool is_call =
            row.cfa_register == X64_RSP && row.cfa_offset == 8; /* or a byte like ret */
        if (answer == COMPACT_DWARF || rva >= c->table.macho->bytes)
            break;
        if (answer == COMPACT_ROW && (is_arm64 || rva == begin_rva || !is_call))
            print_row(&f, c->to->base_va + rva, &row);
        if (!is_arm64 && (rva - begin_rva > COMPACT_PROLOGUE_BYTES_MAX ||
                          (answer == COMPACT_ROW && row.cfa_register != X64_RSP)))
            break;
    }
    c->to->written += f.has_written;
}

static void export_macho(const struct object_file *file, struct export *to)
{
    const struct macho *macho = &file->as.macho;
    struct macho_section section;
    to->base_va = macho->base_va;
    for (uint32_t i = 0; macho_section(macho, i, &section); i++) {
        if (strcmp(section.name, "__eh_frame") != 0 || section.foff > file->bytes.bytes ||
            section.bytes > file->bytes.bytes - section.foff)
            continue;
        to->section.data = file->bytes.data + section.foff;
        to->section.bytes = (size_t)section.bytes;
        to->section.va = section.va;
        (void)export_section(to);
        break;
    }
    struct compact_export compact = {.to = to, .known = to->written};
    array_sort(to->begins_rva, to->written, sizeof *to->begins_rva, compare_begins);
    if (compact_open(macho, &compact.table))
        compact_each(&compact.table, export_compact, &compact);
}

uint32_t unwind_export_dwarf(const struct object_file *file, enum object_arch arch, FILE *out)
{
    struct export to = {.out = out};
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (machines[i].arch == arch)
            to.machine = &machines[i];
    if (to.machine == NULL)
        return 0;
    to.section.word_bytes = (uint8_t)to.machine->word_bytes;
    arena_init(&to.scratch, 0);
    if (file->kind == OBJECT_ELF && !file->as.elf.big_endian)
        (void)export_elf(&file->as.elf, &to);
    else if (file->kind == OBJECT_MACHO)
        export_macho(file, &to);
    arena_free(&to.scratch);
    return to.written;
}
