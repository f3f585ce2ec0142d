/* Proofs of whose fault a difference is: one of them decides where votes cannot, since the voters
 * repeat the same fault. */
#ifndef COMPARE_BLAME_EVIDENCE_H
#define COMPARE_BLAME_EVIDENCE_H

#include "compare/align.h"

/* The columns, as bits, whose addresses prove that the record names wrong modules in the frames of
 * COLUMN, which takes them from the record; 0: nothing proves it. A dump reads an address from the
 * dead stack and finds the module around it. The record's frame has the same offset, but in another
 * module, so it is another address, which the dump's stack does not have, and another function. */
uint32_t evidence_of_modules(const struct table *t, uint32_t column);

/* True when COLUMN's frame in ROW, or the one into which that was inlined, is a return address that
 * our symbol lookup was asked about itself: one byte earlier, in the call, the same symbols have
 * the truth's function and line, and the column has them nowhere at that address. */
bool evidence_of_late_lookup(const struct compare_input *in, const struct table *t, uint32_t row,
                             uint32_t column);

/* The columns, as bits, that go on in ROW while COLUMN's walk went astray before it: its last frame
 * is at an address that no program can have. 0: it did not, or no other one goes on. */
uint32_t evidence_of_stray_walk(const struct table *t, uint32_t row, uint32_t column);

/* What the first frame of a crash is: a hook without an exception captures its own context, so its
 * pc is a return address.  False: the hooks do not say. */
bool evidence_of_first_kind(const struct crash_case *crash, enum pc_kind *kind);

/* FRAME's note says that its module's file is missing, of another build, or cannot be read. */
bool evidence_states_no_symbols(const struct frame *frame);

/* The first frame of COLUMN in an own module that has no symbols at all: no file was found for it,
 * or the file is damaged or of another build. Of several, the first whose file is there and wrong.
 * NULL: there is none. Such a column cannot say whether a function of the truth is in its stack.
 * *PLACES, in KEEP: where a file was looked for; NULL: unknown. */
const struct frame *evidence_of_no_symbols(const struct compare_input *in, const struct table *t,
                                           uint32_t column, struct arena *keep,
                                           const char **places);

/* True when the record or dump that the engine of CLAIM reads is in the case: where it has no stack
 * for the engine, the file lacks it or is not read. */
bool evidence_of_its_file(const struct crash_case *crash, const struct engine_claim *claim);

/* True when two columns have the same addresses in the same order: no frame is missing, the
 * alignment is wrong. */
bool evidence_of_misalignment(const struct table *t, uint32_t a, uint32_t b);

#endif
