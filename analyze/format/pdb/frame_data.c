/* See pdb.h.  How x86 frames are laid out: frame data of the compiler, and the older FPO records.
 */
#include "base/bytes.h"
#include "format/pdb/pdb.h"

/*     OFFSET SIZE  FRAMEDATA                OFFSET SIZE  FPO_DATA
 *          0    4  rva                           0    4  rva
 *          4    4  bytes of code                 4    4  bytes of code
 *          8    4  bytes of locals               8    4  locals, in 4 bytes
 *         12    4  bytes of parameters          12    2  parameters, in 4 bytes
 *         16    4  most bytes of stack          14    1  bytes of prolog
 *         20    4  program, in "/names"         15    1  saved registers:3, SEH:1, ebp:1, 0:1,
 *         24    2  bytes of prolog                       frame type:2
 *         26    2  bytes of saved registers
 *         28    4  flags */
enum { FRAME_DATA_BYTES = 32, FPO_BYTES = 16, FRAME_DATA_STEPS = 64, FLAG_FUNCTION_START = 4 };

/* The last row at or before RVA that covers it: later rows describe a smaller rest of the
 * same procedure.  Returns -1 when none does. */
static int64_t covering_row(const struct msf_stream *stream, uint32_t row_bytes, uint32_t rva)
{
    const uint32_t count = stream->bytes / row_bytes;
    uint32_t low = 0, high = count;
    uint8_t head[8];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (!msf_copy(stream, middle * row_bytes, sizeof head, head))
            return -1;
        if (load_u32(head) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low, steps = 0; i-- > 0 && steps < FRAME_DATA_STEPS; steps++) {
        if (!msf_copy(stream, i * row_bytes, sizeof head, head))
            return -1;
        if (rva - load_u32(head) < load_u32(head + 4))
            return i;
    }
    return -1;
}

/* Without the program, whose place in "/names" goes to PROGRAM. */
static bool read_frame_data(const struct pdb *pdb, uint32_t index, uint32_t *program,
                            struct pdb_frame_data *out)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, pdb->frame_data_stream);
    uint8_t row[FRAME_DATA_BYTES];
    if (pdb->frame_data_stream == UINT16_MAX || index > UINT32_MAX / FRAME_DATA_BYTES ||
        !msf_copy(&stream, index * FRAME_DATA_BYTES, sizeof row, row))
        return false;
    *out = (struct pdb_frame_data){.start_rva = load_u32(row),
                                   .code_bytes = load_u32(row + 4),
                                   .locals_bytes = load_u32(row + 8),
                                   .params_bytes = load_u32(row + 12),
                                   .stack_max_bytes = load_u32(row + 16),
                                   .prolog_bytes = load_u16(row + 24),
                                   .saved_bytes = load_u16(row + 26),
                                   .flags = load_u32(row + 28)};
    *program = load_u32(row + 20);
    return true;
}

bool pdb_frame_data(const struct pdb *pdb, uint32_t index, struct arena *copies,
                    struct pdb_frame_data *out)
{
    uint32_t program = 0;
    if (!read_frame_data(pdb, index, &program, out))
        return false;
    out->program = pdb_name(pdb, program, copies);
    return true;
}

bool pdb_frame_function_at(const struct pdb *pdb, uint32_t rva, struct pdb_frame_data *out)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, pdb->frame_data_stream);
    uint32_t ignored;
    if (pdb->frame_data_stream == UINT16_MAX || !pdb_rva_before_omap(pdb, rva, &rva))
        return false;
    int64_t index = covering_row(&stream, FRAME_DATA_BYTES, rva);
    for (int steps = 0; index >= 0 && steps < FRAME_DATA_STEPS; index--, steps++)
        if (read_frame_data(pdb, (uint32_t)index, &ignored, out) &&
            (out->flags & FLAG_FUNCTION_START) != 0)
            return rva - out->start_rva < out->code_bytes;
    return false;
}

bool pdb_frame_data_at(const struct pdb *pdb, uint32_t rva, struct arena *copies,
                       struct pdb_frame_data *out)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, pdb->frame_data_stream);
    if (pdb->frame_data_stream == UINT16_MAX || !pdb_rva_before_omap(pdb, rva, &rva))
        return false;
    const int64_t index = covering_row(&stream, FRAME_DATA_BYTES, rva);
    return index >= 0 && pdb_frame_data(pdb, (uint32_t)index, copies, out);
}

bool pdb_fpo(const struct pdb *pdb, uint32_t index, struct pdb_fpo *out)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, pdb->fpo_stream);
    uint8_t row[FPO_BYTES];
    if (pdb->fpo_stream == UINT16_MAX || index > UINT32_MAX / FPO_BYTES ||
        !msf_copy(&stream, index * FPO_BYTES, sizeof row, row))
        return false;
    out->start_rva = load_u32(row);
    out->code_bytes = load_u32(row + 4);
    out->locals_bytes = load_u32(row + 8) * 4;
    out->params_bytes = load_u16(row + 12) * 4U;
    out->prolog_bytes = row[14];
    out->saved_registers = row[15] & 7;
    out->has_seh = (row[15] >> 3 & 1) != 0;
    out->uses_ebp = (row[15] >> 4 & 1) != 0;
    out->frame_type = row[15] >> 6;
    return true;
}

bool pdb_fpo_at(const struct pdb *pdb, uint32_t rva, struct pdb_fpo *out)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, pdb->fpo_stream);
    if (pdb->fpo_stream == UINT16_MAX || !pdb_rva_before_omap(pdb, rva, &rva))
        return false;
    const int64_t index = covering_row(&stream, FPO_BYTES, rva);
    return index >= 0 && pdb_fpo(pdb, (uint32_t)index, out);
}
