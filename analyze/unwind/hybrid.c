/* See hybrid.h. */
#include "unwind/hybrid.h"

#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

enum {
    LOAD_CONFIG_METADATA = 0xc8, /* CHPEMetadataPointer */
    METADATA_MAP = 4,            /* rva, count */
    METADATA_ROWS = 0x40,        /* ExtraRFETable: rva, bytes */
    METADATA_BYTES = 0x48,
    RANGE_BYTES = 8,
    RANGE_TYPE = 3, /* bits of a range's start; 0: arm64, 1: ARM64EC, 2: x64 */
    RANGE_X64 = 2,
    RANGES_MAX = 1 << 20,
};

/* Which register of x64 has x[i] of ARM64EC code, but for lr; NONE: no register that is kept across
 * calls. */
enum { NONE = 0xff };
static const uint8_t ec_register[] = {
    1,    2,    8,    9,    10, 11, NONE, NONE, 0,    NONE, NONE, NONE, NONE, NONE, NONE,
    NONE, NONE, NONE, NONE, 12, 13, 14,   15,   NONE, NONE, 6,    7,    3,    NONE, 5,
};

void hybrid_read(const struct unwind_process *process, const struct module *module,
                 uint32_t load_config_rva, uint64_t preferred_base_va, struct unwind_hybrid *out)
{
    const uint64_t base_va = module->base_va;
    uint8_t raw[METADATA_BYTES];
    uint32_t bytes;
    uint64_t metadata_va;

    *out = (struct unwind_hybrid){0};
    if (load_config_rva == 0 || !unwind_read_u32(process, base_va + load_config_rva, &bytes) ||
        bytes < LOAD_CONFIG_METADATA + sizeof metadata_va ||
        !unwind_read_u64(process, base_va + load_config_rva + LOAD_CONFIG_METADATA, &metadata_va) ||
        metadata_va == 0)
        return;
    if (metadata_va < base_va || metadata_va - base_va >= module->image_bytes)
        metadata_va = metadata_va - preferred_base_va + base_va;
    if (!process->read(process->self, metadata_va, raw, sizeof raw))
        return;
    const uint32_t count = load_u32(raw + METADATA_MAP + 4);
    if (count == 0 || count > RANGES_MAX)
        return;
    *out = (struct unwind_hybrid){.map_rva = load_u32(raw + METADATA_MAP),
                                  .map_count = count,
                                  .pdata_rva = load_u32(raw + METADATA_ROWS),
                                  .pdata_bytes = load_u32(raw + METADATA_ROWS + 4)};
}

/* The type of the range that contains RVA; -1: none does, or the map cannot be read. */
static int range_type(const struct unwind_process *process, const struct unwind_module *facts,
                      uint32_t rva)
{
    const uint64_t map_va = facts->module->base_va + facts->hybrid.map_rva;
    uint32_t low = 0, high = facts->hybrid.map_count;
    uint8_t raw[RANGE_BYTES];

    while (low < high) { /* the first range that starts after RVA */
        const uint32_t middle = low + (high - low) / 2;
        if (!process->read(process->self, map_va + (uint64_t)middle * RANGE_BYTES, raw, sizeof raw))
            return -1;
        if ((load_u32(raw) & ~(uint32_t)RANGE_TYPE) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 ||
        !process->read(process->self, map_va + (uint64_t)(low - 1) * RANGE_BYTES, raw, sizeof raw))
        return -1;
    const uint32_t start = load_u32(raw);
    return rva - (start & ~(uint32_t)RANGE_TYPE) < load_u32(raw + 4) ? (int)(start & RANGE_TYPE)
                                                                     : -1;
}

enum cpu hybrid_cpu(const struct unwind_process *process, const struct unwind_module *facts,
                    uint64_t va)
{
    if (!facts->has_headers)
        return CPU_UNKNOWN;
    const int type = facts->hybrid.map_count > 0
                         ? range_type(process, facts, (uint32_t)(va - facts->module->base_va))
                         : -1;
    if (type >= 0)
        return type == RANGE_X64 ? CPU_X64 : CPU_ARM64;
    switch (facts->entry_bytes) {
    case 12:
        return CPU_X64;
    case 8:
        return CPU_ARM64;
    default:
        return CPU_UNKNOWN;
    }
}

void hybrid_registers_as(struct registers *regs, enum cpu cpu)
{
    const struct registers from = *regs;
    const bool to_arm64 = regs->cpu == CPU_X64 && cpu == CPU_ARM64;

    if (!to_arm64 && !(regs->cpu == CPU_ARM64 && cpu == CPU_X64))
        return;
    regs->cpu = cpu;
    memset(regs->r, 0, sizeof regs->r);
    for (size_t i = 0; i < COUNT_OF(ec_register); i++)
        if (ec_register[i] != NONE)
            regs->r[to_arm64 ? i : ec_register[i]] = from.r[to_arm64 ? ec_register[i] : i];
    if (to_arm64)
        regs->r[REG_ARM64_LR] = from.ec_lr;
}
