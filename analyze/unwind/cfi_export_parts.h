/* What the exports of unwind data share; only cfi_export*.c include this. */
#ifndef UNWIND_CFI_EXPORT_PARTS_H
#define UNWIND_CFI_EXPORT_PARTS_H

#include "unwind/cfi_export.h"
#include "unwind/process.h"

/* PROCESS: reads the image by rva. Returns how many functions were written. */
uint32_t unwind_export_arm64(const struct unwind_process *process, const struct pe *pe, FILE *out);

#endif
