/* See use_object.h. */
#include "use_object.h"

#include "format/dwarf/dwarf.h"
#include "format/object/file.h"

enum { ASKED = 64, SLICES = 4 };

static void use_dwarf(const struct object_debug *debug)
{
    const struct object_debug *const splits[] = {debug};
    const struct dwarf_input input = {
        .debug = debug, .alternate = debug, .splits = splits, .split_count = 1};
    struct fault fault = FAULT_INIT;
    struct dwarf *dwarf;

    if (dwarf_open(&input, &dwarf, &fault) != ERR_NONE)
        return;
    for (uint32_t i = 0; i < debug->code_count && i < ASKED; i++) {
        uint64_t offset = debug->code[i].start_va - debug->base_va;
        for (uint32_t k = 0; k < ASKED && offset <= UINT32_MAX; k++) {
            struct dwarf_place place;
            uint32_t lines[4];
            dwarf_at(dwarf, (uint32_t)offset, &place);
            (void)dwarf_lines(dwarf, (uint32_t)offset, lines, 4);
            if (place.end <= offset)
                break;
            offset = place.end;
        }
    }
    dwarf_close(dwarf);
}

static void use_elf(const struct elf *elf, struct arena *keep)
{
    char id[ELF_BUILD_ID_BYTES];
    struct fault fault = FAULT_INIT;
    struct byte_view mini;
    const char *name;

    (void)elf_alternate_link(elf, &name, id);
    (void)elf_mini_image(elf, keep, &mini, &fault);
}

static void use_macho(const struct macho *macho, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct macho_mapped *mapped;
    struct macho_name *names;
    uint32_t *starts, count;

    (void)macho_function_starts(macho, keep, &starts, &count, &fault);
    (void)macho_debug_map(macho, keep, &mapped, &count, &fault);
    (void)macho_names(macho, keep, &names, &count, &fault);
}

static void use_file(const struct object_file *file)
{
    struct object_symbols symbols = {0};
    struct fault fault = FAULT_INIT, ignored = FAULT_INIT;
    struct object_debug debug;
    struct archive_member member;
    struct arena keep;
    const char *name;
    uint32_t crc;
    uint64_t at = 0;

    arena_init(&keep, (size_t)256 << 20);
    if (object_file_debug(file, &keep, &debug, &fault))
        use_dwarf(&debug);
    (void)object_file_symbols(file, &keep, &symbols, &ignored);
    object_symbols_sort(&symbols);
    (void)object_symbol_before(&symbols, 0x1000);
    (void)object_file_link(file, &name, &crc);
    (void)object_file_arch(file);
    if (file->kind == OBJECT_ELF)
        use_elf(&file->as.elf, &keep);
    if (file->kind == OBJECT_MACHO)
        use_macho(&file->as.macho, &keep);
    while (file->kind == OBJECT_ARCHIVE &&
           archive_next(file->bytes.data, file->bytes.bytes, &at, &member))
        continue;
    arena_free(&keep);
}

void use_object(const void *data, size_t bytes)
{
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        struct fault fault = FAULT_INIT;
        struct object_file file;
        if (object_file_open(data, bytes, slice, &file, &fault) != ERR_NONE)
            return;
        use_file(&file);
        if (file.kind != OBJECT_MACHO)
            return;
    }
}
