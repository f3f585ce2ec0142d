/* Images with code of two processors: ARM64EC and ARM64X.
 *
 * A process of x64 on an arm64 machine runs x64 code in an emulator and ARM64EC code as it is, on
 * one stack. Its CONTEXTs have the x64 layout, with arm64's registers in places of x64's. An image
 * says in its CHPE metadata which ranges are of which processor, and has .pdata for both. In such
 * an image the exception directory belongs to the processor of the header, the metadata's table to
 * the other.
 *
 * Source: IMAGE_LOAD_CONFIG_DIRECTORY64, IMAGE_ARM64EC_METADATA, IMAGE_CHPE_RANGE_ENTRY and
 * ARM64EC_NT_CONTEXT in winnt.h; https://learn.microsoft.com/windows/arm/arm64ec-abi. */
#ifndef UNWIND_HYBRID_H
#define UNWIND_HYBRID_H

#include "unwind/tables.h"

/* Reads the metadata of an image from its load configuration at LOAD_CONFIG_RVA; without any, *out
 * is empty. PREFERRED_BASE_VA: addresses in a file, which are not relocated, count from it. */
void hybrid_read(const struct unwind_process *process, const struct module *module,
                 uint32_t load_config_rva, uint64_t preferred_base_va, struct unwind_hybrid *out);

/* The processor of the code at VA in a module; CPU_UNKNOWN: the headers do not say. */
enum cpu hybrid_cpu(const struct unwind_process *process, const struct unwind_module *facts,
                    uint64_t va);

/* Rewrites the registers of x64 for the ARM64EC code that CPU names, or back; other processors stay
 * as they are. */
void hybrid_registers_as(struct registers *regs, enum cpu cpu);

#endif
