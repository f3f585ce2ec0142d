/* Prints the unwind rules at every address of an image's functions, once by its compact table
 * (`.ARM.exidx`, `__unwind_info`) and once by its call frame information, for
 * tests/e2e/test_unwind_tables.py: unwind_rows FILE [FILE]. Of Mach-O images, which have one or the
 * other, the second file has the call frame information of the same code. A line: address, table,
 * CFA, saved registers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "format/object/file.h"
#include "unwind/compact.h"
#include "unwind/exidx.h"

static void print_row(uint64_t rva, const char *table, const struct cfi_row *row)
{
    (void)printf("%#" PRIx64 " %s %" PRIu64 "%+" PRId64, rva, table, row->cfa_register,
                 row->cfa_offset);
    for (uint32_t i = 0; i < CFI_REGISTERS; i++)
        if (row->rules[i].kind == CFI_AT)
            (void)printf(" %u:%" PRId64, (unsigned)i, row->rules[i].n);
    (void)puts("");
}

static bool find_section(const struct object_file *file, struct cfi_section *out,
                         struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    if (file->kind == OBJECT_ELF) {
        struct elf_section section;
        struct byte_view bytes;
        if (!elf_section_named(&file->as.elf, ".debug_frame", &section) ||
            elf_section_bytes(&file->as.elf, &section, keep, &bytes, &fault) != ERR_NONE)
            return false;
        *out = (struct cfi_section){bytes.data, bytes.bytes, section.va, 4, true};
        return true;
    }
    struct macho_section section;
    for (uint32_t i = 0; macho_section(&file->as.macho, i, &section); i++)
        if (strcmp(section.name, "__eh_frame") == 0) {
            *out = (struct cfi_section){file->bytes.data + section.foff, (size_t)section.bytes,
                                        section.va, 8, false};
            return true;
        }
    return false;
}

struct tables {
    struct exidx exidx;
    struct compact compact;
    bool is_elf;
    uint64_t base_va, shift; /* what an address of the second file is higher by */
};

static uint64_t text_va(const struct object_file *file)
{
    struct macho_section section;
    for (uint32_t i = 0; file->kind == OBJECT_MACHO && macho_section(&file->as.macho, i, &section);
         i++)
        if (strcmp(section.name, "__text") == 0)
            return section.va;
    return 0;
}

/* The row of the compact table; false: it has none there. */

static bool compact_row(const struct tables *t, uint64_t va, struct cfi_row *out)
{
    uint64_t begin_va, end_va;
    uint32_t begin, end;
    return t->is_elf ? exidx_find(&t->exidx, va, &begin_va, &end_va, out)
                     : compact_find(&t->compact, (uint32_t)(va - t->base_va), &begin, &end, out) ==
                           COMPACT_ROW;
}

static void print_functions(const struct tables *t, const struct cfi_section *section)
{
    struct cfi_common last = {0};
    struct cfi_entry entry;
    uint64_t at = 0;
    bool is_function;
    for (;;) {
        struct fault fault = FAULT_INIT;
        if (!cfi_next(section, &at, &last, &fault, &is_function, &entry))
            return;
        for (uint64_t va = entry.begin_va; is_function && va < entry.end_va; va++) {
            struct cfi_row row;
            if (cfi_row_at(&entry, va, &row))
                print_row(va - t->shift - t->base_va, "cfi", &row);
            if (compact_row(t, va - t->shift, &row))
                print_row(va - t->shift - t->base_va, "table", &row);
        }
    }
}

int main(int argc, char **argv)
{
    struct fault fault = FAULT_INIT;
    struct file_map map[2];
    struct object_file file[2];
    struct cfi_section section;
    struct tables t = {0};
    struct arena keep;

    arena_init(&keep, 0);
    for (int i = 0; i < 2; i++)
        if (argc < 2 || file_map(argv[i + 1 < argc ? i + 1 : 1], &map[i], &fault) != ERR_NONE ||
            object_file_open(map[i].data, map[i].bytes, 0, &file[i], &fault) != ERR_NONE)
            return 1;
    t.is_elf = file[0].kind == OBJECT_ELF;
    t.base_va = t.is_elf ? file[0].as.elf.base_va : file[0].as.macho.base_va;
    t.shift = text_va(&file[1]) - text_va(&file[0]);
    if (!find_section(&file[1], &section, &keep) ||
        !(t.is_elf ? exidx_open(&file[0].as.elf, &keep, &t.exidx)
                   : compact_open(&file[0].as.macho, &t.compact)))
        return 1;
    print_functions(&t, &section);
    arena_free(&keep);
    for (int i = 0; i < 2; i++)
        file_unmap(&map[i]);
    return 0;
}
