/* See pdb_module.h. */
#include "format/pdb/pdb_module.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/limits.h"

enum {
    RECORD_BYTES_LEAST = 4, /* of a symbol: its length and its kind */
    AHEAD_BYTES_MOST = 4 << 10,
};

/*     OFFSET SIZE  module record in the DBI stream
 *          4   28  its first contribution
 *         34    2  stream, 0xffff: none
 *         36    4  bytes of symbols, with the 4-byte signature
 *         40    4  bytes of C11 lines
 *         44    4  bytes of C13 subsections
 *         64       name, object file */
bool pdb_module_info(const struct pdb *pdb, uint32_t index, struct pdb_module *out)
{
    memset(out, 0, sizeof *out);
    if (index >= pdb->module_count)
        return false;
    const struct byte_view record = view_from(pdb->module_info, pdb->module_at[index]);
    out->pdb = pdb;
    out->index = index;
    out->symbol_bytes = view_u32(record, 36);
    out->c11_bytes = view_u32(record, 40);
    out->c13_bytes = view_u32(record, 44);
    out->name = (const char *)record.data + 64;
    out->object = out->name + strlen(out->name) + 1;
    return true;
}

bool pdb_module_open(const struct pdb *pdb, uint32_t index, struct arena *copies,
                     struct pdb_module *out)
{
    if (!pdb_module_info(pdb, index, out))
        return false;
    const uint16_t number = view_u16(pdb->module_info, pdb->module_at[index] + (size_t)34);
    const uint64_t bytes = (uint64_t)out->symbol_bytes + out->c11_bytes + out->c13_bytes;
    if (number != UINT16_MAX && bytes <= UINT32_MAX) {
        const struct msf_stream stream = msf_stream(&pdb->msf, number);
        out->data = msf_view(&stream, 0, (uint32_t)bytes, copies);
    }
    if (out->data == NULL) {
        out->is_unreadable = number != UINT16_MAX && bytes != 0;
        out->symbol_bytes = 0;
        out->c11_bytes = 0;
        out->c13_bytes = 0;
    }
    return true;
}

/* The record that closes the scope of SYMBOL; false: there is none. GNU ld states how far away it
 * is, in place of where it is, so where the number leads to no such record, the scopes count. */
static bool closing(const struct pdb_module *module, const struct pdb_symbol *symbol,
                    struct pdb_symbol *out)
{
    const uint32_t stated = load_u32(symbol->data.data + 4); /* callers have asked for 8 bytes */
    uint32_t depth = 1; /* its limit keeps the work linear where no scope is closed */
    if (stated >= symbol->end_soff && pdb_symbol_at(module, stated, out) &&
        pdb_symbol_closes(out->kind))
        return true;
    for (uint32_t soff = symbol->end_soff;
         depth < LIMIT_SCOPE_DEPTH && pdb_symbol_at(module, soff, out); soff = out->end_soff) {
        if (pdb_symbol_opens(out->kind) && out->data.bytes >= 8)
            depth++;
        else if (pdb_symbol_closes(out->kind) && --depth == 0)
            return true;
    }
    return false;
}

uint32_t pdb_symbol_next(const struct pdb_module *module, const struct pdb_symbol *symbol)
{
    struct pdb_symbol end;
    return pdb_symbol_opens(symbol->kind) && symbol->data.bytes >= 8 &&
                   closing(module, symbol, &end)
               ? end.end_soff
               : symbol->end_soff;
}

/* Announces what is inside a scope that ends after SOON, up to which that was done before. The end
 * of a scope is read before the rest of it and is in no cache: to wait for it takes a twentieth of
 * 200,000 answers of a PDB of 392 MB. Returns the new SOON. */
static uint32_t read_ahead(const struct pdb_module *module, const struct pdb_symbol *symbol,
                           uint32_t soon)
{
    const uint32_t stated = view_u32(symbol->data, 4);
    if (stated <= soon || stated <= symbol->end_soff || stated >= module->symbol_bytes)
        return soon;
    const uint32_t bytes = stated - symbol->end_soff;
    will_read(symbol->data.data, bytes < AHEAD_BYTES_MOST ? bytes : AHEAD_BYTES_MOST);
    return stated;
}

bool pdb_symbols_are_whole(const struct pdb_module *module, struct pdb_marks *marks)
{
    struct pdb_symbol symbol, end;
    uint32_t soff = 4, count = 0, soon = 0;
    if (marks != NULL)
        marks->count = 0;
    if (module->is_unreadable)
        return false;
    const bool notes = marks != NULL && ARRAY_ROOM(marks->at, marks->room,
                                                   module->symbol_bytes / RECORD_BYTES_LEAST + 1);
    for (; pdb_symbol_at(module, soff, &symbol);
         soff = pdb_symbol_after_locals(module, symbol.end_soff)) {
        if (notes)
            marks->at[count++] = soff;
        if (!pdb_symbol_opens(symbol.kind) || symbol.data.bytes < 8)
            continue;
        soon = read_ahead(module, &symbol, soon);
        if (!closing(module, &symbol, &end))
            return false;
    }
    if (soff < module->symbol_bytes && module->symbol_bytes >= 4)
        return false;
    if (notes) {
        marks->at[count] = UINT32_MAX;
        marks->count = count;
        marks->module = module->index;
    }
    return true;
}

/* Where a kind keeps its fields, counted from the end of the kind; all start with parent, end. Of a
 * field that a kind lacks the size is 0. */
struct procedure_fields {
    uint8_t bytes_at, bytes_size, offset_at, section_at, type_at, type_size, name_at;
};

static const struct procedure_fields native = {.bytes_at = 12,
                                               .bytes_size = 4,
                                               .type_at = 24,
                                               .type_size = 4,
                                               .offset_at = 28,
                                               .section_at = 32,
                                               .name_at = 35};
/* Its flags have two bytes. No header that is public has it; Microsoft's DIA reads it so. */
static const struct procedure_fields native_ex = {.bytes_at = 12,
                                                  .bytes_size = 4,
                                                  .type_at = 24,
                                                  .type_size = 4,
                                                  .offset_at = 28,
                                                  .section_at = 32,
                                                  .name_at = 36};
/* Of Itanium, too. */
static const struct procedure_fields managed = {.bytes_at = 12,
                                                .bytes_size = 4,
                                                .type_at = 24,
                                                .type_size = 4,
                                                .offset_at = 28,
                                                .section_at = 32,
                                                .name_at = 37};
static const struct procedure_fields mips = {.bytes_at = 12,
                                             .bytes_size = 4,
                                             .type_at = 40,
                                             .type_size = 4,
                                             .offset_at = 44,
                                             .section_at = 48,
                                             .name_at = 52};
static const struct procedure_fields native_16t = {.bytes_at = 12,
                                                   .bytes_size = 4,
                                                   .offset_at = 24,
                                                   .section_at = 28,
                                                   .type_at = 30,
                                                   .type_size = 2,
                                                   .name_at = 33};
static const struct procedure_fields thunk = {
    .offset_at = 12, .section_at = 16, .bytes_at = 18, .bytes_size = 2, .name_at = 21};
static const struct procedure_fields separated = {
    .bytes_at = 8, .bytes_size = 4, .offset_at = 16, .section_at = 24, .name_at = 28};

enum {
    TYPE_IS_ID = 1, /* of the IPI stream */
    IS_MANAGED = 2, /* its type is a token of metadata */
    IS_PASCAL = 4,  /* its name has its length before it, and no zero at its end */
};

struct procedure_layout {
    uint16_t kind;
    enum pdb_code_kind code;
    const struct procedure_fields *fields;
    unsigned traits;
};

static const struct procedure_layout layouts[] = {
    {PDB_GPROC32, PDB_CODE_PROCEDURE, &native, 0},
    {PDB_LPROC32, PDB_CODE_PROCEDURE, &native, 0},
    {PDB_GPROC32_ID, PDB_CODE_PROCEDURE, &native, TYPE_IS_ID},
    {PDB_LPROC32_ID, PDB_CODE_PROCEDURE, &native, TYPE_IS_ID},
    {PDB_LPROC32_DPC, PDB_CODE_PROCEDURE, &native, 0},
    {PDB_LPROC32_DPC_ID, PDB_CODE_PROCEDURE, &native, TYPE_IS_ID},
    {PDB_GPROC32EX, PDB_CODE_PROCEDURE, &native_ex, 0},
    {PDB_LPROC32EX, PDB_CODE_PROCEDURE, &native_ex, 0},
    {PDB_GPROC32EX_ID, PDB_CODE_PROCEDURE, &native_ex, TYPE_IS_ID},
    {PDB_LPROC32EX_ID, PDB_CODE_PROCEDURE, &native_ex, TYPE_IS_ID},
    {PDB_THUNK32, PDB_CODE_THUNK, &thunk, 0},
    {PDB_SEPCODE, PDB_CODE_SEPARATED, &separated, 0},
    {PDB_GMANPROC, PDB_CODE_PROCEDURE, &managed, IS_MANAGED},
    {PDB_LMANPROC, PDB_CODE_PROCEDURE, &managed, IS_MANAGED},
    {PDB_GPROCMIPS, PDB_CODE_PROCEDURE, &mips, 0},
    {PDB_LPROCMIPS, PDB_CODE_PROCEDURE, &mips, 0},
    {PDB_GPROCMIPS_ID, PDB_CODE_PROCEDURE, &mips, TYPE_IS_ID},
    {PDB_LPROCMIPS_ID, PDB_CODE_PROCEDURE, &mips, TYPE_IS_ID},
    {PDB_GPROCIA64, PDB_CODE_PROCEDURE, &managed, 0},
    {PDB_LPROCIA64, PDB_CODE_PROCEDURE, &managed, 0},
    {PDB_GPROCIA64_ID, PDB_CODE_PROCEDURE, &managed, TYPE_IS_ID},
    {PDB_LPROCIA64_ID, PDB_CODE_PROCEDURE, &managed, TYPE_IS_ID},
    {PDB_GPROCMIPS_ST, PDB_CODE_PROCEDURE, &mips, IS_PASCAL},
    {PDB_LPROCMIPS_ST, PDB_CODE_PROCEDURE, &mips, IS_PASCAL},
    {PDB_GPROCIA64_ST, PDB_CODE_PROCEDURE, &managed, IS_PASCAL},
    {PDB_LPROCIA64_ST, PDB_CODE_PROCEDURE, &managed, IS_PASCAL},
    {PDB_GPROC32_ST, PDB_CODE_PROCEDURE, &native, IS_PASCAL},
    {PDB_LPROC32_ST, PDB_CODE_PROCEDURE, &native, IS_PASCAL},
    {PDB_GMANPROC_ST, PDB_CODE_PROCEDURE, &managed, IS_MANAGED | IS_PASCAL},
    {PDB_LMANPROC_ST, PDB_CODE_PROCEDURE, &managed, IS_MANAGED | IS_PASCAL},
    {PDB_GPROC32_16T, PDB_CODE_PROCEDURE, &native_16t, IS_PASCAL},
    {PDB_LPROC32_16T, PDB_CODE_PROCEDURE, &native_16t, IS_PASCAL},
    {PDB_THUNK32_ST, PDB_CODE_THUNK, &thunk, IS_PASCAL},
};

static const struct procedure_layout *layout_of(uint16_t kind)
{
    for (size_t i = 0; pdb_symbol_opens(kind) && i < COUNT_OF(layouts); i++)
        if (layouts[i].kind == kind)
            return &layouts[i];
    return NULL;
}

/* Of a record that reaches up to its name AT, which follows all fields: that is asked once for each
 * record. Views would ask for each of six fields, 3 % of what one question to a PDB takes. */
static bool read_name(const struct pdb_symbol *symbol, uint32_t at, bool pascal,
                      struct pdb_procedure *out)
{
    const struct byte_view name = {symbol->data.data + at, symbol->data.bytes - at};
    if (pascal) {
        if (name.bytes == 0 || name.data[0] > name.bytes - 1)
            return false;
        out->name = (const char *)name.data + 1;
        out->name_bytes = name.data[0];
        return true;
    }
    const uint8_t *nul = name.bytes != 0 ? memchr(name.data, 0, name.bytes) : NULL;
    if (nul == NULL)
        return false;
    out->name = (const char *)name.data;
    out->name_bytes = (uint32_t)(nul - name.data);
    return true;
}

/* See read_name(). */
static uint32_t field(const struct pdb_symbol *symbol, uint8_t at, uint8_t size)
{
    if (size == 0)
        return 0;
    return size == 2 ? load_u16(symbol->data.data + at) : load_u32(symbol->data.data + at);
}

/*     OFFSET SIZE  S_TRAMPOLINE, after its kind
 *          0    2  0: of an incremental link
 *          2    2  bytes of code
 *          4    4  offset, offset of the target
 *         12    2  section, section of the target */
static bool read_trampoline(const struct pdb_symbol *symbol, struct pdb_procedure *out)
{
    if (symbol->data.bytes < 16)
        return false;
    memset(out, 0, sizeof *out);
    out->kind = PDB_CODE_TRAMPOLINE;
    out->soff = symbol->soff;
    out->end_soff = symbol->end_soff;
    out->bytes = view_u16(symbol->data, 2);
    out->start.offset = view_u32(symbol->data, 4);
    out->parent.offset = view_u32(symbol->data, 8);
    out->start.section = view_u16(symbol->data, 12);
    out->parent.section = view_u16(symbol->data, 14);
    out->name = "";
    return true;
}

bool pdb_procedure_read(const struct pdb_module *module, const struct pdb_symbol *symbol,
                        struct pdb_procedure *out)
{
    struct pdb_symbol end;
    if (symbol->kind == PDB_TRAMPOLINE)
        return read_trampoline(symbol, out);
    const struct procedure_layout *layout = layout_of(symbol->kind);
    if (layout == NULL || symbol->data.bytes < layout->fields->name_at)
        return false;
    memset(out, 0, sizeof *out);
    out->kind = layout->code;
    out->soff = symbol->soff;
    out->end_soff = closing(module, symbol, &end) ? end.soff : field(symbol, 4, 4);
    const struct procedure_fields *fields = layout->fields;
    out->bytes = field(symbol, fields->bytes_at, fields->bytes_size);
    out->start.offset = field(symbol, fields->offset_at, 4);
    out->start.section = (uint16_t)field(symbol, fields->section_at, 2);
    out->type = field(symbol, fields->type_at, fields->type_size);
    out->type_is_id = (layout->traits & TYPE_IS_ID) != 0;
    out->is_managed = (layout->traits & IS_MANAGED) != 0;
    if (layout->code == PDB_CODE_SEPARATED) {
        out->parent.offset = field(symbol, 20, 4);
        out->parent.section = (uint16_t)field(symbol, 26, 2);
        out->name = "";
        return true;
    }
    return read_name(symbol, fields->name_at, (layout->traits & IS_PASCAL) != 0, out);
}

static bool holds(const struct pdb_procedure *procedure, struct pdb_place place)
{
    return procedure->start.section == place.section && place.offset >= procedure->start.offset &&
           place.offset - procedure->start.offset < procedure->bytes;
}

bool pdb_procedure_at(const struct pdb *pdb, struct pdb_place place, struct arena *copies,
                      struct pdb_module *module, struct pdb_procedure *out)
{
    struct pdb_contribution contribution;
    struct pdb_symbol symbol;
    bool found = false;
    if (!pdb_contribution_at(pdb, place, &contribution) ||
        !pdb_module_open(pdb, contribution.module, copies, module))
        return false;
    for (uint32_t soff = 4; pdb_symbol_at(module, soff, &symbol);
         soff = pdb_symbol_next(module, &symbol)) {
        struct pdb_procedure one;
        if (pdb_procedure_read(module, &symbol, &one) && holds(&one, place) &&
            (!found || one.start.offset > out->start.offset)) {
            *out = one;
            found = true;
        }
    }
    return found;
}

bool pdb_frame_proc_at(const struct pdb *pdb, uint32_t rva, struct pdb_frame_proc *out)
{
    struct arena copies;
    struct pdb_module module;
    struct pdb_procedure procedure;
    struct pdb_place place;
    struct pdb_symbol symbol;
    bool found = false;
    arena_init(&copies, 0);
    if (pdb_place_of_rva(pdb, rva, &place) &&
        pdb_procedure_at(pdb, place, &copies, &module, &procedure) &&
        pdb_symbol_at(&module, procedure.soff, &symbol)) {
        for (uint32_t soff = symbol.end_soff;
             soff < procedure.end_soff && pdb_symbol_at(&module, soff, &symbol) && !found;
             soff = symbol.end_soff) {
            if (symbol.kind != PDB_FRAMEPROC || symbol.data.bytes < 26)
                continue;
            found = pdb_rva_of_place(pdb, procedure.start, &out->start_rva);
            out->code_bytes = procedure.bytes;
            out->frame_bytes = view_u32(symbol.data, 0);
            out->saved_bytes = view_u32(symbol.data, 12);
            out->flags = view_u32(symbol.data, 22);
        }
    }
    arena_free(&copies);
    return found;
}
