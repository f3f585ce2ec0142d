/* A step by the STACK CFI records of a module's Breakpad file, for all processors: where a module's
 * own unwind data is missing. */
#ifndef UNWIND_SYMBOL_RULES_H
#define UNWIND_SYMBOL_RULES_H

#include "unwind/walker.h"

struct breakpad; /* format/breakpad/breakpad.h */

/* The Breakpad file of the frame's module; NULL: none. */
const struct breakpad *unwind_breakpad_of(const struct unwind_walker *w);

/* Where the frame's unwind data is looked up: one byte before a return address. */
uint64_t unwind_lookup_rva(const struct unwind_walker *w);

/* True when VA is the return address of a call made by the frame's own function, whose range a PDB
 * or Breakpad file gives. */
bool unwind_is_own_call(const struct unwind_walker *w, uint64_t va);

/* Leaves a frame by STACK CFI, else by the call frame information of an ELF image. False: nothing
 * covers the pc, or the rules find no caller; the registers are unchanged then. */
bool unwind_symbol_rules(struct unwind_walker *w);

#endif
