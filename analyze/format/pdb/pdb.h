/* PDB files: the contents of the streams that describe the whole program.
 *
 * pdb_open() reads headers and lists only. Afterwards the struct never changes, so any number of
 * threads may read it; anything that a function has to copy or build goes to the caller's arena.
 * Modules (object files) and their contents: pdb_module.h. Types and ids: types.h.
 *
 * Addresses. Symbols use section:offset. An rva is a location in the loaded image. A program that
 * was rearranged after linking has OMAP tables: its symbols refer to the image before that, and
 * pdb_place_of_rva() and pdb_rva_of_place() translate through these tables.
 *
 * Source: https://llvm.org/docs/PDB/ and github.com/microsoft/microsoft-pdb (facts only). */
#ifndef FORMAT_PDB_H
#define FORMAT_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "format/pdb/msf.h"
#include "model/module.h"

struct pdb_section {
    uint32_t rva, virtual_bytes, flags; /* flags: IMAGE_SCN_... */
};

/* section:offset; sections count from 1, and 0 means none. */
struct pdb_place {
    uint16_t section;
    uint32_t offset;
};

/* True when A is after B: in a later section, or in the same one at a larger offset. */
bool pdb_place_after(struct pdb_place a, struct pdb_place b);

/* A range of the image that one module contributed. */
struct pdb_contribution {
    struct pdb_place start;
    uint32_t bytes;
    uint16_t module; /* index of the module */
    uint32_t flags;  /* of the COFF section it came from */
};

enum { OMAP_ROW_BYTES = 8 };

struct pdb {
    struct msf msf;
    struct arena arena; /* owned */

    uint8_t guid[16];
    uint32_t age;       /* of the DBI stream: the age stored in images; see pdb.c */
    uint32_t info_age;  /* of the information stream */
    uint32_t signature; /* a timestamp; identity of NB10 images */
    bool nb10;          /* no GUID in the file */
    uint16_t machine;   /* enum pe_machine; 0: not stated */
    bool has_dbi, stripped, fastlink;

    struct pdb_section *sections; /* of the address space that symbols use */
    uint32_t section_count;
    struct pdb_section *sections_final; /* of the image; the same without OMAP */
    uint32_t section_final_count;
    struct byte_view omap_to_source;   /* rows: rva, previous rva; 0: none */
    struct byte_view omap_from_source; /* rows: previous rva, rva */

    struct msf_stream dbi;
    struct byte_view module_info; /* records of the modules */
    uint32_t *module_at;          /* offset in module_info of each module's record */
    uint32_t module_count;
    uint32_t contribution_soff, contribution_count, contribution_bytes_each;
    struct pdb_contribution
        *contributions; /* made from procedures, or sorted; NULL: as in the file */

    struct msf_stream symbol_records; /* that publics and globals point into */
    struct msf_stream publics;
    uint32_t address_map_soff, address_map_count; /* publics sorted by address */
    struct pdb_place jumps;                       /* of an incremental link: the first one */
    uint32_t jump_soff, jump_count, jump_bytes;   /* the rva of each one's target; bytes of each */
    struct msf_stream names;                      /* "/names" */
    uint32_t names_soff, names_bytes;             /* its string buffer */
    uint16_t fpo_stream, frame_data_stream;       /* 0xffff: none */
};

/* True when DATA starts like any known form of PDB, readable or not. */
bool pdb_recognize(const void *data, size_t bytes);

/* DATA must outlive the struct.  Fails: as msf_open; ERR_UNSUPPORTED a version before 1995.
 * A PDB without a DBI stream (types only) opens, with has_dbi false. */
enum status pdb_open(const void *data, size_t bytes, struct pdb *out, struct fault *fault);

/* pdb_open() in two steps, for a caller that may need only the identity: the first leaves modules,
 * contributions, sections and publics empty, and the second, called at most once, reads them. It
 * fails with ERR_TRUNCATED or ERR_MEMORY; then only pdb_close() may follow. */
enum status pdb_open_headers(const void *data, size_t bytes, struct pdb *out, struct fault *fault);
enum status pdb_open_lists(struct pdb *pdb, struct fault *fault);
void pdb_close(struct pdb *pdb);

/* Places the code of a file without section headers, as cv2pdb writes, by those of its image; other
 * files keep their own. */
struct pe;
void pdb_take_sections(struct pdb *pdb, const struct pe *image);

/* debug_id as model/module.h spells it: GUID or signature, then age. */
void pdb_debug_id(const struct pdb *pdb, char out[DEBUG_ID_BYTES]);

/* Through OMAP where there is one.  False when RVA lies in no section, or in code that was
 * inserted after linking. */
bool pdb_place_of_rva(const struct pdb *pdb, uint32_t rva, struct pdb_place *out);

/* The inverse. False when the place was removed or does not exist. */
bool pdb_rva_of_place(const struct pdb *pdb, struct pdb_place place, uint32_t *rva);

uint32_t pdb_source_rva(const struct pdb *pdb, struct pdb_place place);

/* Translates an rva of the image to the one that it had before OMAP moved the code; the same rva
 * where nothing moved.  False when OMAP has no such code. */
bool pdb_rva_before_omap(const struct pdb *pdb, uint32_t rva, uint32_t *out);

/* True when PLACE lies in a section that can be executed. */
bool pdb_is_code(const struct pdb *pdb, struct pdb_place place);

/* The contribution that contains PLACE; false when none does. */
bool pdb_contribution_at(const struct pdb *pdb, struct pdb_place place,
                         struct pdb_contribution *out);
/* The last contribution of PLACE's section that starts at or before it, and is not empty. */
bool pdb_contribution_before(const struct pdb *pdb, struct pdb_place place,
                             struct pdb_contribution *out);

/* For many questions: the starts of all contributions, to search in place of their records; NULL:
 * they are out of order or damaged, or out of memory. Then the same question, by them. */
uint64_t *pdb_contribution_keys(const struct pdb *pdb, struct arena *keep);
bool pdb_contribution_before_by(const struct pdb *pdb, const uint64_t *keys, struct pdb_place place,
                                struct pdb_contribution *out);

/* Makes contributions from the procedures of a file that has none; sorts those that are not in
 * order. pdb_open() calls them. */
void pdb_make_contributions(struct pdb *pdb);
void pdb_order_contributions(struct pdb *pdb);
/* By number, in the order of the file (sorted by address). */
bool pdb_contribution(const struct pdb *pdb, uint32_t index, struct pdb_contribution *out);

/* A string of "/names" by its offset; "" when there is none.  COPIES: see msf_string. */
const char *pdb_name(const struct pdb *pdb, uint32_t offset, struct arena *copies);

/* SourceLink document NUMBER, as JSON: "sourcelink" is 0, "sourcelink$1" 1 and so on without gaps.
 * NULL: there is none, or it is too large.  In place or in COPIES.
 * Source: NativeSymbolModule.cs in github.com/microsoft/perfview (facts only). */
const char *pdb_source_link(const struct pdb *pdb, uint32_t number, struct arena *copies,
                            uint32_t *bytes);

/* A public symbol: the linker's name for a place. */
struct pdb_public {
    struct pdb_place place;
    uint32_t flags;   /* 1 code, 2 function, 4 managed, 8 MSIL */
    const char *name; /* decorated; borrowed or in COPIES */
};

/* The last public at or before PLACE in its section (of several at one place the first record of
 * the file); false when there is none.  COPIES NULL: the name is not read. */
bool pdb_public_before(const struct pdb *pdb, struct pdb_place place, struct arena *copies,
                       struct pdb_public *out);

/* A jump that an incremental link put before a function: calls go through it. */
struct pdb_jump {
    struct pdb_place start, target;
    uint32_t bytes;
};

/* The jump that contains PLACE, by the table in the stream of publics. It also has those without a
 * record in a module, or with one that does not state its target (link.exe 8 for x64). */
bool pdb_jump_at(const struct pdb *pdb, struct pdb_place place, struct pdb_jump *out);

/* Public number INDEX in the order of addresses (address_map_count of them).  COPIES NULL: the
 * name is not read. */
bool pdb_public(const struct pdb *pdb, uint32_t index, struct arena *copies,
                struct pdb_public *out);

/* x86 frame data (the "new FPO"): how to find the caller's frame.
 * Source: DIA's IDiaFrameData; FRAMEDATA in microsoft-pdb's cvinfo.h. */
struct pdb_frame_data {
    uint32_t start_rva; /* in the address space of the symbols, see pdb.h's head */
    uint32_t code_bytes, locals_bytes, params_bytes, stack_max_bytes;
    uint16_t prolog_bytes, saved_bytes;
    uint32_t flags;      /* 1 SEH, 2 C++ EH, 4 function start */
    const char *program; /* postfix program, e.g. "$T0 $ebp = $eip $T0 4 + ^ = ..."; "" */
};

/* The record of INDEX; false when there is none. */
bool pdb_frame_data(const struct pdb *pdb, uint32_t index, struct arena *copies,
                    struct pdb_frame_data *out);

/* The record of the function's start for the function that holds RVA (of the loaded image), without
 * its program; false when there is none. */
bool pdb_frame_function_at(const struct pdb *pdb, uint32_t rva, struct pdb_frame_data *out);

/* The narrowest record that covers RVA (of the loaded image); false when none does. */
bool pdb_frame_data_at(const struct pdb *pdb, uint32_t rva, struct arena *copies,
                       struct pdb_frame_data *out);

/* Old FPO_DATA. */
struct pdb_fpo {
    uint32_t start_rva, code_bytes;
    uint32_t locals_bytes, params_bytes;
    uint8_t prolog_bytes;
    uint8_t saved_registers; /* count */
    bool has_seh, uses_ebp;
    uint8_t frame_type; /* 0 FPO, 1 trap, 2 TSS, 3 standard (ebp) frame */
};

/* The record of INDEX, in the address space of the symbols; false when there is none. */
bool pdb_fpo(const struct pdb *pdb, uint32_t index, struct pdb_fpo *out);
bool pdb_fpo_at(const struct pdb *pdb, uint32_t rva, struct pdb_fpo *out);

#endif
