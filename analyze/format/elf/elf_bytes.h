/* What the files of the ELF reader share; no other file includes this. */
#ifndef FORMAT_ELF_ELF_BYTES_H
#define FORMAT_ELF_ELF_BYTES_H

#include "format/elf/elf.h"

enum { SECTION_NO_BYTES = 8 }; /* SHT_NOBITS */

/* A number in the file's byte order. */
static inline uint64_t elf_number(const struct elf *elf, const uint8_t *at, uint32_t bytes)
{
    return load_number(at, bytes, elf->big_endian);
}

/* BYTES bytes of the file; NULL when the file is too short. */
const uint8_t *elf_at(const struct elf *elf, uint64_t foff, uint64_t bytes);

struct elf_segment {
    uint32_t type, flags;
    uint64_t foff, va, file_bytes, bytes; /* bytes: in memory */
};

/* The segment of INDEX; false when there is none. */
bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *out);

/* All bytes of the file from VA to the end of its segment; without any when VA is in none. */
struct byte_view elf_loaded_bytes(const struct elf *elf, uint64_t va);

/* The symbols that the loader uses, row 0 included, and the bytes of their names. False: there are
 * none, or they are not in the file. */
bool elf_dynamic_symbols(const struct elf *elf, struct byte_view *rows, struct byte_view *names);

/* The flags of section INDEX, without a look at its name; 0: there is none. */
uint64_t elf_section_flags(const struct elf *elf, uint32_t index);

#endif
