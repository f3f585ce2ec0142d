/* One module (object file) of a PDB: its symbol records and its line information.
 *
 * A module's stream: 4-byte signature and symbol records, C11 lines, C13 subsections. Every record
 * is a 2-byte length, a 2-byte kind and data; those that open a scope hold the offset of the record
 * that closes it, so a reader of procedures goes from one to the next without touching the records
 * in between.
 * Source: cvinfo.h of microsoft-pdb; https://llvm.org/docs/PDB/ModiStream.html */
#ifndef FORMAT_PDB_PDB_MODULE_H
#define FORMAT_PDB_PDB_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "format/pdb/pdb.h"

struct pdb_module {
    const struct pdb *pdb;
    uint32_t index;
    const char *name;    /* as the linker knew it: "main.obj", "* Linker *", "Import:X.dll" */
    const char *object;  /* the object file or library it came from */
    const uint8_t *data; /* the whole stream; NULL when it has none or could not be read */
    uint32_t symbol_bytes, c11_bytes, c13_bytes; /* in that order */
    bool is_unreadable; /* it has a stream, of which not even the stated bytes could be read */
};

/* Reads only names and sizes, not the stream. False when there is no such module. */
bool pdb_module_info(const struct pdb *pdb, uint32_t index, struct pdb_module *out);

/* Also reads the stream: in place if it is contiguous, otherwise copied to COPIES. False as above;
 * a module whose stream is absent or damaged has data NULL and sizes 0. */
bool pdb_module_open(const struct pdb *pdb, uint32_t index, struct arena *copies,
                     struct pdb_module *out);

enum pdb_symbol_kind {
    PDB_END = 0x0006,
    PDB_SKIP = 0x0007,
    PDB_PUB32_16T = 0x0203,
    PDB_LPROC32_16T = 0x0204,
    PDB_GPROC32_16T = 0x0205,
    PDB_THUNK32_ST = 0x0206,
    PDB_BLOCK32_ST = 0x0207,
    PDB_WITH32_ST = 0x0208,
    PDB_LABEL32_ST = 0x0209,
    PDB_PUB32_ST = 0x1009,
    PDB_LPROC32_ST = 0x100a,
    PDB_GPROC32_ST = 0x100b,
    PDB_LPROCMIPS_ST = 0x1010,
    PDB_GPROCMIPS_ST = 0x1011,
    PDB_FRAMEPROC = 0x1012,
    PDB_LPROCIA64_ST = 0x1015,
    PDB_GPROCIA64_ST = 0x1016,
    PDB_GMANPROC_ST = 0x101a,
    PDB_LMANPROC_ST = 0x101b,
    PDB_THUNK32 = 0x1102,
    PDB_BLOCK32 = 0x1103,
    PDB_WITH32 = 0x1104,
    PDB_LABEL32 = 0x1105,
    PDB_PUB32 = 0x110e,
    PDB_LPROC32 = 0x110f,
    PDB_GPROC32 = 0x1110,
    PDB_LPROCMIPS = 0x1114,
    PDB_GPROCMIPS = 0x1115,
    PDB_LPROCIA64 = 0x1118,
    PDB_GPROCIA64 = 0x1119,
    PDB_GMANPROC = 0x112a,
    PDB_LMANPROC = 0x112b,
    PDB_TRAMPOLINE = 0x112c,
    PDB_SEPCODE = 0x1132,
    PDB_LOCAL = 0x113e,
    PDB_DEFRANGE_LAST = 0x1145, /* of the kinds that state where a local is */
    PDB_LPROC32_ID = 0x1146,
    PDB_GPROC32_ID = 0x1147,
    PDB_LPROCMIPS_ID = 0x1148,
    PDB_GPROCMIPS_ID = 0x1149,
    PDB_LPROCIA64_ID = 0x114a,
    PDB_GPROCIA64_ID = 0x114b,
    PDB_INLINESITE = 0x114d,
    PDB_INLINESITE_END = 0x114e,
    PDB_PROC_ID_END = 0x114f,
    PDB_LPROC32_DPC = 0x1155,
    PDB_LPROC32_DPC_ID = 0x1156,
    PDB_INLINESITE2 = 0x115d,
    PDB_GPROC32EX = 0x1172,
    PDB_LPROC32EX = 0x1173,
    PDB_GPROC32EX_ID = 0x1174,
    PDB_LPROC32EX_ID = 0x1175,
};

struct pdb_symbol {
    uint32_t soff;     /* of the record in the module's stream */
    uint32_t end_soff; /* of the byte after it */
    uint16_t kind;
    struct byte_view data; /* after the kind */
};

/* These four run for every record of a program, so they are inline.
 *
 * Reads the record at SOFF (4 for the first); false at the end and at a damaged record. */
static inline bool pdb_symbol_at(const struct pdb_module *module, uint32_t soff,
                                 struct pdb_symbol *out)
{
    if (soff < 4 || soff > module->symbol_bytes || module->symbol_bytes - soff < 4)
        return false;
    const uint8_t *at = module->data + soff; /* checked: a view would check each number again */
    const uint32_t bytes = load_u16(at);
    if (bytes < 2 || bytes > module->symbol_bytes - soff - 2)
        return false;
    out->soff = soff;
    out->end_soff = soff + 2 + bytes;
    out->kind = load_u16(at + 2);
    out->data = (struct byte_view){at + 4, bytes - 2};
    return true;
}

/* SOFF, or where the records about locals end that begin there: most records are of these kinds,
 * and a walk that needs none of them skips them in a third of the time. */
static inline uint32_t pdb_symbol_after_locals(const struct pdb_module *module, uint32_t soff)
{
    while (soff < module->symbol_bytes && module->symbol_bytes - soff >= 4) {
        const uint32_t bytes = load_u16(module->data + soff);
        const uint16_t kind = load_u16(module->data + soff + 2);
        if (kind < PDB_LOCAL || kind > PDB_DEFRANGE_LAST || bytes < 2 ||
            bytes > module->symbol_bytes - soff - 2)
            break;
        soff += 2 + bytes;
    }
    return soff;
}

/* Where the records of one module start, but those about locals; UINT32_MAX after the last one.
 * With them, a second walk takes half of the instructions. */
struct pdb_marks {
    uint32_t *at; /* owned, by malloc() */
    uint32_t count, room;
    uint32_t module; /* its index */
};

/* False when records of the module's stream are cut or damaged, so that what follows them, or is
 * inside them, is not found. Fills MARKS, which may be NULL; of a damaged module with none. */
bool pdb_symbols_are_whole(const struct pdb_module *module, struct pdb_marks *marks);

/* Where the next record of the same scope starts: after the closing record if this one opens a
 * scope, else after this one. */
uint32_t pdb_symbol_next(const struct pdb_module *module, const struct pdb_symbol *symbol);

/* True for kinds that open a scope. */
static inline bool pdb_symbol_opens(uint16_t kind)
{
    switch (kind) {
    case PDB_LPROC32_16T:
    case PDB_GPROC32_16T:
    case PDB_THUNK32_ST:
    case PDB_BLOCK32_ST:
    case PDB_WITH32_ST:
    case PDB_LPROC32_ST:
    case PDB_GPROC32_ST:
    case PDB_LPROCMIPS_ST:
    case PDB_GPROCMIPS_ST:
    case PDB_LPROCIA64_ST:
    case PDB_GPROCIA64_ST:
    case PDB_GMANPROC_ST:
    case PDB_LMANPROC_ST:
    case PDB_THUNK32:
    case PDB_BLOCK32:
    case PDB_WITH32:
    case PDB_LPROC32:
    case PDB_GPROC32:
    case PDB_LPROCMIPS:
    case PDB_GPROCMIPS:
    case PDB_LPROCIA64:
    case PDB_GPROCIA64:
    case PDB_GMANPROC:
    case PDB_LMANPROC:
    case PDB_SEPCODE:
    case PDB_LPROC32_ID:
    case PDB_GPROC32_ID:
    case PDB_LPROCMIPS_ID:
    case PDB_GPROCMIPS_ID:
    case PDB_LPROCIA64_ID:
    case PDB_GPROCIA64_ID:
    case PDB_INLINESITE:
    case PDB_LPROC32_DPC:
    case PDB_LPROC32_DPC_ID:
    case PDB_INLINESITE2:
    case PDB_GPROC32EX:
    case PDB_LPROC32EX:
    case PDB_GPROC32EX_ID:
    case PDB_LPROC32EX_ID:
        return true;
    default:
        return false;
    }
}

static inline bool pdb_symbol_closes(uint16_t kind)
{
    return kind == PDB_END || kind == PDB_INLINESITE_END || kind == PDB_PROC_ID_END;
}

/* True for a record of no kind that is known which opens a scope in the one at PARENT_SOFF: all
 * such kinds begin with where the scope around them and their own end are. */
static inline bool pdb_symbol_is_unknown_scope(const struct pdb_module *module,
                                               const struct pdb_symbol *symbol,
                                               uint32_t parent_soff)
{
    struct pdb_symbol end;
    const uint32_t stated = view_u32(symbol->data, 4);
    return symbol->data.bytes >= 8 && view_u32(symbol->data, 0) == parent_soff &&
           stated >= symbol->end_soff && pdb_symbol_at(module, stated, &end) &&
           pdb_symbol_closes(end.kind);
}

enum pdb_code_kind { PDB_CODE_PROCEDURE, PDB_CODE_SEPARATED, PDB_CODE_THUNK, PDB_CODE_TRAMPOLINE };

/* A procedure, a separated part of one, a thunk, or a jump that an incremental link put before
 * every function. */
struct pdb_procedure {
    enum pdb_code_kind kind;
    struct pdb_place start;
    uint32_t bytes;
    struct pdb_place parent; /* of a separated part: the start of its procedure; of a jump: its
                              * target */
    uint32_t soff;           /* of the record in the module's stream */
    uint32_t end_soff;       /* of the record that closes its scope */
    uint32_t type;           /* in TPI, or in IPI when type_is_id; 0: unknown */
    bool type_is_id;
    bool is_managed;  /* type is a token */
    const char *name; /* borrowed; not terminated for old records: see name_bytes */
    uint32_t name_bytes;
};

/* Reads a record as a procedure; false for other kinds and damaged records. */
bool pdb_procedure_read(const struct pdb_module *module, const struct pdb_symbol *symbol,
                        struct pdb_procedure *out);

/* The procedure that contains PLACE, in the contribution's module; of several the one that starts
 * last, and of equal starts the first record. COPIES owns copied data. */
bool pdb_procedure_at(const struct pdb *pdb, struct pdb_place place, struct arena *copies,
                      struct pdb_module *module, struct pdb_procedure *out);

/* S_FRAMEPROC of the procedure that contains RVA of the loaded image. */
struct pdb_frame_proc {
    uint32_t start_rva; /* of the procedure */
    uint32_t code_bytes;
    uint32_t frame_bytes; /* locals and temporaries, without saved registers */
    uint32_t saved_bytes; /* of saved registers */
    uint32_t flags;
};

bool pdb_frame_proc_at(const struct pdb *pdb, uint32_t rva, struct pdb_frame_proc *out);

#endif
