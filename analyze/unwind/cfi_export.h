/* Exports the unwind data of an x64 or arm64 image as STACK CFI records of a Breakpad symbol file.
 */
#ifndef UNWIND_CFI_EXPORT_H
#define UNWIND_CFI_EXPORT_H

#include <stdio.h>

#include "format/pe/pe.h"

/* Prints the records of every function in .pdata. They describe the prologue but not epilogues;
 * functions that begin with a machine frame are left out. Returns how many functions were written;
 * 0 for images of other processors. */
uint32_t unwind_export_cfi(const struct pe *pe, FILE *out);

#endif
