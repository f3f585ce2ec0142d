/* See file.h. */
#include "format/object/file.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

enum object_kind object_recognize(const void *data, size_t bytes)
{
    if (elf_recognize(data, bytes))
        return OBJECT_ELF;
    if (macho_recognize(data, bytes))
        return OBJECT_MACHO;
    if (archive_recognize(data, bytes))
        return OBJECT_ARCHIVE;
    return bytes >= 2 && memcmp(data, "MZ", 2) == 0 ? OBJECT_PE : OBJECT_NONE;
}

static enum status open_elf(struct object_file *file, struct fault *fault)
{
    if (elf_open(file->bytes.data, file->bytes.bytes, &file->as.elf, fault) != ERR_NONE)
        return fault->code;
    if (elf_build_id(&file->as.elf, file->id))
        module_build_debug_id(file->id, file->debug_id);
    return ERR_NONE;
}

static enum status open_macho(struct object_file *file, struct fault *fault)
{
    char uuid[MACHO_UUID_BYTES];

    if (macho_open(file->bytes.data, file->bytes.bytes, &file->as.macho, fault) != ERR_NONE)
        return fault->code;
    macho_uuid(&file->as.macho, uuid);
    for (size_t i = 0; i < sizeof uuid; i++)
        file->id[i] = (char)(uuid[i] >= 'A' && uuid[i] <= 'F' ? uuid[i] + ('a' - 'A') : uuid[i]);
    if (uuid[0] != '\0') {
        memcpy(file->debug_id, uuid, 32);
        memcpy(file->debug_id + 32, "0", 2);
    }
    return ERR_NONE;
}

enum status object_file_open(const void *data, size_t bytes, uint32_t slice,
                             struct object_file *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->bytes = (struct byte_view){data, bytes};
    if (object_recognize(data, bytes) == OBJECT_MACHO &&
        !macho_slice(data, bytes, slice, &out->bytes))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "slice of a fat file");
    out->kind = object_recognize(out->bytes.data, out->bytes.bytes);
    switch (out->kind) {
    case OBJECT_ELF:
        return open_elf(out, fault);
    case OBJECT_MACHO:
        return open_macho(out, fault);
    case OBJECT_PE:
        if (pe_open(data, bytes, &out->as.pe, fault) == ERR_NONE)
            pe_debug_id(&out->as.pe, out->debug_id);
        return fault->code;
    case OBJECT_ARCHIVE:
        return ERR_NONE;
    default:
        return fault_set(fault, ERR_UNSUPPORTED, 0, "no PE, ELF or Mach-O file");
    }
}

bool object_file_debug(const struct object_file *file, struct arena *keep, struct object_debug *out,
                       struct fault *fault)
{
    memset(out, 0, sizeof *out);
    switch (file->kind) {
    case OBJECT_ELF:
        return elf_debug(&file->as.elf, keep, out, fault);
    case OBJECT_MACHO:
        return macho_debug(&file->as.macho, keep, out, fault);
    case OBJECT_PE:
        return pe_debug(&file->as.pe, keep, out, fault);
    default:
        return false;
    }
}

static enum status add_coff(const struct pe *pe, struct arena *keep, struct object_symbols *out,
                            struct fault *fault)
{
    struct fault damage = FAULT_INIT;
    struct pe_symbol *symbols;
    uint32_t count;

    const enum status status = pe_coff_functions(pe, keep, &symbols, &count, &damage);
    out->damaged = out->damaged || damage.code != ERR_NONE;
    if (status != ERR_NONE)
        return status == ERR_MEMORY ? fault_set(fault, ERR_MEMORY, 0, "symbols") : ERR_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const struct object_symbol symbol = {.offset = symbols[i].rva, .name = symbols[i].name};
        if (object_symbol_add(out, keep, symbol, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

enum status object_file_symbols(const struct object_file *file, struct arena *keep,
                                struct object_symbols *out, struct fault *fault)
{
    switch (file->kind) {
    case OBJECT_ELF:
        return elf_add_symbols(&file->as.elf, keep, out, fault);
    case OBJECT_MACHO:
        return macho_add_symbols(&file->as.macho, keep, out, fault);
    case OBJECT_PE:
        return add_coff(&file->as.pe, keep, out, fault);
    default:
        return ERR_NONE;
    }
}

/* .gnu_debuglink of a PE image: as of ELF, little-endian. */
static bool pe_link(const struct pe *pe, const char **name, uint32_t *crc)
{
    struct pe_section section;

    if (!pe_section_named(pe, ".gnu_debuglink", &section) || section.foff > pe->bytes ||
        section.raw_bytes > pe->bytes - section.foff)
        return false;
    const uint8_t *at = pe->data + section.foff;
    const uint8_t *end = section.raw_bytes > 0 ? memchr(at, 0, section.raw_bytes) : NULL;
    const size_t place = end != NULL ? ((size_t)(end - at) + 4) / 4 * 4 : 0;
    if (end == NULL || end == at || place + 4 > section.raw_bytes)
        return false;
    *name = (const char *)at;
    *crc = load_u32(at + place);
    return true;
}

bool object_file_link(const struct object_file *file, const char **name, uint32_t *crc)
{
    if (file->kind == OBJECT_ELF)
        return elf_debug_link(&file->as.elf, name, crc);
    return file->kind == OBJECT_PE && pe_link(&file->as.pe, name, crc);
}

enum object_arch object_file_arch(const struct object_file *file)
{
    static const struct {
        enum object_kind kind;
        uint16_t machine;
        enum object_arch arch;
    } rows[] = {
        {OBJECT_ELF, 3, ARCH_X86},
        {OBJECT_ELF, 62, ARCH_X86_64},
        {OBJECT_ELF, 183, ARCH_ARM64},
        {OBJECT_ELF, 40, ARCH_ARM},
        {OBJECT_ELF, 243, ARCH_RISCV},
        {OBJECT_ELF, 21, ARCH_PPC64},
        {OBJECT_ELF, 22, ARCH_S390X},
        {OBJECT_ELF, 8, ARCH_MIPS},
        {OBJECT_PE, PE_MACHINE_X86, ARCH_X86},
        {OBJECT_PE, PE_MACHINE_X64, ARCH_X86_64},
        {OBJECT_PE, PE_MACHINE_ARM64, ARCH_ARM64},
        {OBJECT_PE, PE_MACHINE_ARM, ARCH_ARM},
    };
    if (file->kind == OBJECT_MACHO)
        return macho_arch(&file->as.macho);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (file->kind == rows[i].kind &&
            rows[i].machine ==
                (file->kind == OBJECT_PE ? file->as.pe.machine : file->as.elf.machine))
            return rows[i].arch;
    return file->kind != OBJECT_ARCHIVE ? ARCH_OTHER : ARCH_NONE;
}
