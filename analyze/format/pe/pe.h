/* PE images, read from file bytes: sections, data directories, identity, exports, the COFF
 * symbol table.  Everything is borrowed from the file's memory, which must outlive the struct.
 *
 * Source: Microsoft PE format, https://learn.microsoft.com/windows/win32/debug/pe-format. */
#ifndef FORMAT_PE_H
#define FORMAT_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "format/object/object.h"
#include "model/cpu.h"
#include "model/module.h"

enum pe_machine {
    PE_MACHINE_X86 = 0x014c,
    PE_MACHINE_X64 = 0x8664,
    PE_MACHINE_ARM64 = 0xaa64,
    PE_MACHINE_ARM = 0x01c4,
};

/* CPU_UNKNOWN and 0: none that this program can walk. */
enum cpu pe_cpu(uint32_t machine);
uint16_t pe_machine(enum cpu cpu);

enum pe_directory_index {
    PE_DIR_EXPORT = 0,
    PE_DIR_EXCEPTION = 3, /* .pdata: RUNTIME_FUNCTION rows */
    PE_DIR_DEBUG = 6,
    PE_DIR_CLR = 14,
    PE_DIRECTORIES = 16,
};

enum { PE_SECTION_CODE = 0x00000020, PE_SECTION_EXECUTE = 0x20000000 };

struct pe_directory {
    uint32_t rva, bytes;
};

struct pe_section {
    char name[9]; /* as in the header; pe_section_name() resolves mingw's "/123" */
    uint32_t rva, virtual_bytes;
    uint32_t foff, raw_bytes;
    uint32_t flags;
};

struct pe {
    const uint8_t *data; /* borrowed: the whole file */
    size_t bytes;
    uint16_t machine;
    bool is_64; /* PE32+ */
    uint32_t timestamp, image_bytes;
    uint64_t preferred_base_va;
    uint32_t header_bytes; /* file bytes that are mapped at rva 0 */
    uint32_t section_count;
    uint32_t section_table_foff;
    uint32_t coff_symbols_foff, coff_symbol_count;
    struct pe_directory directories[PE_DIRECTORIES];
};

/* Fails: ERR_UNSUPPORTED not a PE file; ERR_TRUNCATED; ERR_MALFORMED. */
enum status pe_open(const void *data, size_t bytes, struct pe *out, struct fault *fault);

/* The section of INDEX (0-based); false when there is none. */
bool pe_section(const struct pe *pe, uint32_t index, struct pe_section *out);

/* The section that contains RVA; false when none does. */
bool pe_section_of_rva(const struct pe *pe, uint32_t rva, struct pe_section *out);

/* The section by its name, long names of mingw included ("/4" → ".debug_info"). */
bool pe_section_named(const struct pe *pe, const char *name, struct pe_section *out);

/* The section's full name (borrowed from the struct or the file's string table). */
const char *pe_section_name(const struct pe *pe, const struct pe_section *section);

/* BYTES file-backed bytes at RVA, borrowed; NULL when any of them is not in the file. */
const uint8_t *pe_at(const struct pe *pe, uint32_t rva, uint32_t bytes);

/* All file-backed bytes from RVA to the end of its section; NULL and *bytes 0 when there are
 * none. */
const uint8_t *pe_tail(const struct pe *pe, uint32_t rva, uint32_t *bytes);

enum pe_debug_type { PE_DEBUG_CODEVIEW = 2, PE_DEBUG_EMBEDDED_PDB = 17 };

struct pe_debug_entry {
    uint32_t type, timestamp;
    uint16_t minor_version;
    uint32_t rva;          /* of the data in the loaded image; 0: it is not mapped */
    struct byte_view data; /* borrowed; its data is NULL when it lies outside the file */
};

/* Entry INDEX of the debug directory; false: there is none, or it is one of more than 64. */
bool pe_debug_entry(const struct pe *pe, uint32_t index, struct pe_debug_entry *out);

/* The PDB's identity in the debug directory. */
struct pe_codeview {
    uint8_t guid[16];   /* as in the file; zero for NB10          */
    uint32_t signature; /* NB10's timestamp; 0 for RSDS           */
    uint32_t age;
    bool nb10;
    const char *pdb_path; /* borrowed */
};

/* Of several records the last that can be read, as debuggers use it: native images of .NET name
 * "app.ni.pdb" first and the PDB of their compiler last. False when the image names no PDB.
 * Source: https://github.com/dotnet/symreader-converter/pull/104. */
bool pe_codeview(const struct pe *pe, struct pe_codeview *out);

/* debug_id and code_id as model/module.h spells them; "" when unknown. */
void pe_debug_id(const struct pe *pe, char out[DEBUG_ID_BYTES]);
/* The same of the first record, which writers of dumps may state instead. */
void pe_first_debug_id(const struct pe *pe, char out[DEBUG_ID_BYTES]);
void pe_code_id(const struct pe *pe, char out[CODE_ID_BYTES]);

struct pe_symbol {
    uint32_t rva;
    const char *name; /* borrowed, or in KEEP */
};

/* Exported functions and data in the image (no forwarders), sorted by rva; exports without a name
 * are named "#N". So are those whose names are cut off: then FAULT is set, although the status is
 * ERR_NONE. An image without exports has 0. Fails: ERR_TRUNCATED, ERR_MALFORMED, ERR_LIMIT,
 * ERR_MEMORY. */
enum status pe_exports(const struct pe *pe, struct arena *keep, struct pe_symbol **out,
                       uint32_t *count, struct fault *fault);

/* Functions of the COFF symbol table (mingw), sorted by rva. Functions whose names are cut off are
 * left out: then FAULT is set, although the status is ERR_NONE. Fails as pe_exports. */
enum status pe_coff_functions(const struct pe *pe, struct arena *keep, struct pe_symbol **out,
                              uint32_t *count, struct fault *fault);

/* Finds the DWARF sections and the ranges of code. True when there is a .debug_info. A section that
 * cannot be unpacked is treated as absent, and *fault says why. */
bool pe_debug(const struct pe *pe, struct arena *keep, struct object_debug *out,
              struct fault *fault);

#endif
