/* A PDB, or an image without one, as a Breakpad symbol file; see breakpad_export.h. */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "symbol/breakpad_export.h"
#include "symbol/exporter.h"
#include "symbol/symbol_object.h"

enum { FUNCTION_FRAME_DATA = 4, FRAME_DATA_MAX = 1 << 22 };

static bool add_function(struct exporter *e, const struct pdb_procedure *procedure, uint32_t rva,
                         const char *name)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];

    breakpad_function_begin(e->sink);
    for (uint32_t i = 0; i < e->break_count; i++)
        if (i == 0 || e->breaks[i] != e->breaks[i - 1])
            breakpad_segment(e->sink, frames, pdb_lookup(e->lookup, rva + e->breaks[i], frames),
                             rva + e->breaks[i]);
    breakpad_function_end(e->sink, rva, procedure->bytes, name);
    return !breakpad_failed(e->sink);
}

static bool add_public(struct exporter *e, uint32_t rva, const char *name)
{
    breakpad_public(e->sink, rva, name);
    return !breakpad_failed(e->sink);
}

/* STACK WIN type rva code prologue epilogue parameters saved locals stack has_program program */
static void add_frame_data(struct breakpad_writer *w, const struct pdb *pdb)
{
    struct arena copies;
    struct pdb_frame_data data;
    if (pdb->omap_to_source.data != NULL)
        return; /* these records use addresses from before the image was rearranged */
    arena_init(&copies, 0);
    for (uint32_t i = 0; i < FRAME_DATA_MAX && pdb_frame_data(pdb, i, &copies, &data); i++) {
        if (data.program[0] == '\0' || data.code_bytes == 0)
            continue;
        breakpad_put(w, "STACK WIN %d %" PRIx32 " %" PRIx32 " %x 0 %" PRIx32 " %x %" PRIx32,
                     FUNCTION_FRAME_DATA, data.start_rva, data.code_bytes, data.prolog_bytes,
                     data.params_bytes, data.saved_bytes, data.locals_bytes);
        breakpad_put(w, " %" PRIx32 " 1 ", data.stack_max_bytes);
        breakpad_text(w, data.program);
        breakpad_text(w, "\n");
        arena_reset(&copies);
    }
    arena_free(&copies);
}

/* The same of older compilers. Records of frames that ebp points to say nothing that Breakpad does
 * not assume anyway. */
static void add_fpo_data(struct breakpad_writer *w, const struct pdb *pdb)
{
    struct pdb_fpo fpo;
    if (pdb->omap_to_source.data != NULL)
        return;
    for (uint32_t i = 0; i < FRAME_DATA_MAX && pdb_fpo(pdb, i, &fpo); i++)
        if (fpo.code_bytes != 0 && fpo.frame_type == 0)
            breakpad_put(
                w, "STACK WIN 0 %" PRIx32 " %" PRIx32 " %x 0 %" PRIx32 " %x %" PRIx32 " 0 0 %d\n",
                fpo.start_rva, fpo.code_bytes, fpo.prolog_bytes, fpo.params_bytes,
                fpo.saved_registers * 4u, fpo.locals_bytes, fpo.uses_ebp);
}

static const char *machine_name(uint16_t machine)
{
    switch (machine) {
    case PE_MACHINE_X64:
        return "x86_64";
    case PE_MACHINE_X86:
        return "x86";
    case PE_MACHINE_ARM64:
        return "arm64";
    case PE_MACHINE_ARM:
        return "arm";
    default:
        return "unknown";
    }
}

static void print(const struct breakpad_writer *w, const struct pdb *pdb,
                  const struct symbol_export_head *head, FILE *out)
{
    char id[DEBUG_ID_BYTES];
    pdb_debug_id(pdb, id);
    const struct breakpad_head words = {.os = "windows",
                                        .arch = machine_name(pdb->machine),
                                        .id = id,
                                        .name = head->pdb_name,
                                        .code_id = head->image_name != NULL ? head->code_id : NULL,
                                        .image_name = head->image_name};
    breakpad_writer_print(w, &words, out);
}

enum status symbol_export_breakpad(const struct pdb *pdb, const struct symbol_export *how,
                                   const struct symbol_export_head *head, FILE *out,
                                   struct fault *fault)
{
    struct breakpad_writer *writer = breakpad_writer_new();
    struct exporter e = {.pdb = pdb,
                         .how = how,
                         .out = out,
                         .fault = fault,
                         .sink = writer,
                         .add_function = add_function,
                         .add_public = add_public};

    if (writer == NULL)
        return fault_no_memory(fault, "Breakpad symbols");
    if (export_open(&e) == ERR_NONE && export_all(&e) == ERR_NONE) {
        add_frame_data(writer, pdb);
        add_fpo_data(writer, pdb);
        if (breakpad_failed(writer))
            fault_no_memory(fault, "Breakpad symbols");
        else
            print(writer, pdb, head, out);
    }
    export_close(&e); /* the printed texts had to live until here */
    if (ferror(out) != 0)
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "output");
    breakpad_writer_close(writer);
    return fault->code;
}

/* ---- an image without a PDB ---- */

/* The function that is being written. */
struct object_export {
    struct breakpad_writer *writer;
    const char *name;    /* NULL: none is open */
    uint32_t start, end; /* END stays: symbols before it say nothing new */
    uint64_t last_public;
};

static void close_function(struct object_export *e)
{
    if (e->name != NULL && e->end > e->start)
        breakpad_function_end(e->writer, e->start, e->end - e->start, e->name);
    e->name = NULL;
}

/* Code of the function that is open, of another one, or after a symbol. */
static bool add_piece(void *context, const struct code_piece *piece)
{
    struct object_export *e = context;
    const struct symbol_frame *outer = piece->count > 0 ? &piece->frames[piece->count - 1] : NULL;
    const char *name = outer != NULL ? outer->function : NULL;
    const bool function = name != NULL && outer->from == SYMBOLS_DWARF;
    const bool starts = function && outer->distance == 0;

    if (e->name != NULL && (!function || starts || strcmp(e->name, name) != 0))
        close_function(e);
    if (function) {
        if (e->name == NULL) {
            e->name = name;
            e->start = e->end = piece->start;
            breakpad_function_begin(e->writer);
        }
        breakpad_segment(e->writer, piece->frames, piece->count, piece->start);
        e->end = piece->end < UINT32_MAX ? (uint32_t)piece->end : UINT32_MAX;
    } else if (name != NULL && piece->start - outer->distance >= e->end &&
               e->last_public != piece->start - outer->distance) {
        e->last_public = piece->start - outer->distance;
        breakpad_public(e->writer, (uint32_t)e->last_public, name);
    }
    return !breakpad_failed(e->writer);
}

static enum status add_pieces(struct breakpad_writer *w, struct symbol_object *object,
                              struct fault *fault)
{
    struct object_export e = {.writer = w, .last_public = UINT64_MAX};
    struct code_pieces pieces;
    uint64_t from, to;

    symbol_object_pieces(object, &pieces);
    for (uint32_t i = 0; fault->code == ERR_NONE && pieces.range(object, i, &from, &to); i++) {
        if (to > UINT32_MAX || to - from > LIMIT_INDEX_CODE_BYTES)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code of an image");
        (void)code_pieces_walk(&pieces, from, to, add_piece, &e, fault);
        close_function(&e);
    }
    return breakpad_failed(w) ? fault_no_memory(fault, "Breakpad symbols") : fault->code;
}

/* Breakpad has its own word for 32-bit x86 and one for all 64-bit ARM. */
static const char *arch_name(enum object_arch arch)
{
    const char *name = object_arch_name(arch);
    switch (arch) {
    case ARCH_I386:
        return "x86";
    case ARCH_ARM64E:
        return "arm64";
    case ARCH_X86_64H:
        return "x86_64";
    default:
        return name != NULL ? name : "unknown";
    }
}

static const char *os_name(enum object_kind kind)
{
    if (kind == OBJECT_PE)
        return "windows";
    return kind == OBJECT_MACHO ? "mac" : "Linux";
}

enum status symbol_export_object(struct symbol_object *object, enum object_arch arch,
                                 const char *name, FILE *out, struct fault *fault)
{
    static const char unknown[] = "000000000000000000000000000000000";
    const struct object_file *file = &object->image;
    struct breakpad_writer *writer = breakpad_writer_new();
    char code_id[CODE_ID_BYTES];
    struct breakpad_head head = {.os = os_name(file->kind),
                                 .arch = arch_name(arch),
                                 .id = file->debug_id[0] != '\0' ? file->debug_id : unknown,
                                 .name = name};

    if (writer == NULL)
        return fault_no_memory(fault, "Breakpad symbols");
    if (file->kind == OBJECT_PE) {
        pe_code_id(&file->as.pe, code_id);
        head.code_id = code_id;
        head.image_name = name;
    } else if (file->id[0] != '\0') {
        head.code_id = file->id;
    }
    if (add_pieces(writer, object, fault) == ERR_NONE)
        breakpad_writer_print(writer, &head, out);
    breakpad_writer_close(writer);
    if (ferror(out) != 0)
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "output");
    return fault->code;
}
