/* A PDB as a Breakpad symbol file; see export.h. */
#include <inttypes.h>
#include <string.h>

#include "format/pe/pe.h"
#include "symbol/breakpad_writer.h"
#include "symbol/export_parts.h"

enum { FUNCTION_FRAME_DATA = 4, FRAME_DATA_MAX = 1 << 22 };

static bool add_function(struct exporter *e, const struct pdb_procedure *procedure, uint32_t rva,
                         const char *name)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];

    breakpad_function_begin(e->breakpad);
    for (uint32_t i = 0; i < e->break_count; i++)
        if (i == 0 || e->breaks[i] != e->breaks[i - 1])
            breakpad_segment(e->breakpad, frames, pdb_lookup(e->lookup, rva + e->breaks[i], frames),
                             rva + e->breaks[i]);
    breakpad_function_end(e->breakpad, rva, procedure->bytes, name);
    return !breakpad_failed(e->breakpad);
}

static bool add_public(struct breakpad_writer *w, uint32_t rva, const char *name)
{
    breakpad_public(w, rva, name);
    return !breakpad_failed(w);
}

/* STACK WIN type rva code prologue epilogue parameters saved locals stack has_program program */
static void add_frame_data(struct breakpad_writer *w, const struct pdb *pdb)
{
    struct arena copies;
    struct pdb_frame_data data;
    if (pdb->omap_to_source.at != NULL)
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
    if (pdb->omap_to_source.at != NULL)
        return;
    for (uint32_t i = 0; i < FRAME_DATA_MAX && pdb_fpo(pdb, i, &fpo); i++)
        if (fpo.code_bytes != 0 && fpo.frame_type == 0)
            breakpad_put(
                w, "STACK WIN 0 %" PRIx32 " %" PRIx32 " %x 0 %" PRIx32 " %x %" PRIx32 " 0 0 %d\n",
                fpo.start_rva, fpo.code_bytes, fpo.prolog_bytes, fpo.params_bytes,
                fpo.saved_registers * 4u, fpo.locals_bytes, fpo.uses_ebp);
}

static const char *arch_name(uint16_t machine)
{
    return machine == PE_MACHINE_X64     ? "x86_64"
           : machine == PE_MACHINE_X86   ? "x86"
           : machine == PE_MACHINE_ARM64 ? "arm64"
           : machine == PE_MACHINE_ARM   ? "arm"
                                         : "unknown";
}

static void print(const struct breakpad_writer *w, const struct pdb *pdb,
                  const struct symbol_export_head *head, FILE *out)
{
    char id[DEBUG_ID_BYTES];
    pdb_debug_id(pdb, id);
    const struct breakpad_head words = {.os = "windows",
                                        .arch = arch_name(pdb->machine),
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
                         .breakpad = writer,
                         .add_function = add_function,
                         .add_public = add_public};

    if (writer == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "Breakpad symbols");
    if (export_open(&e) == ERR_NONE && export_all(&e) == ERR_NONE) {
        add_frame_data(writer, pdb);
        add_fpo_data(writer, pdb);
        if (breakpad_failed(writer))
            fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "Breakpad symbols");
        else
            print(writer, pdb, head, out);
    }
    export_close(&e); /* the printed texts had to live until here */
    if (ferror(out) != 0)
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "output");
    breakpad_writer_close(writer);
    return fault->code;
}
