/* A step by call frame information, for all processors. */
#ifndef UNWIND_CFI_STEP_H
#define UNWIND_CFI_STEP_H

#include "unwind/cfi_table.h"
#include "unwind/walker.h"

/* Leaves a frame by the rules at its pc. False: they find no caller, and the registers are
 * unchanged. */
bool unwind_cfi_apply(struct unwind_walker *w, const struct cfi_place *place);

/* Leaves a frame by the call frame information in the file of its image. False: there is none, or
 * as above. */
bool unwind_image_rules(struct unwind_walker *w);

#endif
