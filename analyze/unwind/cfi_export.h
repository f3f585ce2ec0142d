/* Exports the unwind data of an image as STACK CFI records of a Breakpad symbol file. */
#ifndef UNWIND_CFI_EXPORT_H
#define UNWIND_CFI_EXPORT_H

#include <stdio.h>

#include "format/object/arch.h"
#include "format/object/file.h"
#include "format/pe/pe.h"

/* Prints the records of every function in .pdata (x64, arm64). They describe the prologue but not
 * epilogues; functions that begin with a machine frame, and those of version 3 whose saves have no
 * certain place, are left out. Returns how many functions were written; 0 for images of other
 * processors. */
uint32_t unwind_export_cfi(const struct pe *pe, FILE *out);

/* The same of the call frame information of an ELF or Mach-O image (x86, x64, arm64, arm), and of
 * those functions that a Mach-O image has in its compact table alone (x64, arm64). Functions whose
 * frame needs an expression, and signal frames, are left out. */
uint32_t unwind_export_dwarf(const struct object_file *file, enum object_arch arch, FILE *out);

struct unwind_process; /* unwind/dead_process.h */
/* PROCESS: reads the image by rva. Returns how many functions were written. */
uint32_t unwind_export_arm64(const struct unwind_process *process, const struct pe *pe, FILE *out);

#endif
